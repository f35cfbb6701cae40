// The tabs that change the scene: "Physics" (environment, springs, gas, losses, obstacles), "Body"
// (size and nodes of each body, spheres) and "Solver". Their sliders are fields (fields.h); keys
// that cannot change alone are sent to the player as a whole mapping or list in YAML.
#include "view/fields.h"

extern "C" {
#include "base/text.h"
#include "scene/reader.h"
#include "scene/text/document.h"
}

using namespace widgets;

// ---- Springs: the stiffness of each kind, and below it the other keys of its material

// Where the scene has the material of a kind of springs.
enum material_source {
    SOURCE_KIND,   // bodies.N.springs.KIND
    SOURCE_SPRING, // bodies.N.spring: one for all kinds
    SOURCE_BODY    // keys of the body itself: likewise
};

static const struct dom_node *body_node(const taut_scene *scene, size_t number)
{
    const struct dom_pair *bodies =
        scene->document ? dom_find(scene->document->root.node, "bodies") : nullptr;
    if (!bodies || bodies->value.node->kind != DOM_LIST || number >= bodies->value.node->count)
        return nullptr;
    const struct dom_node *node = bodies->value.node->items[number].node;
    return node->kind == DOM_MAPPING ? node : nullptr;
}

// The text of a scalar key of a body in the scene file; NULL if it is missing or not a scalar.
static const char *body_scalar(const taut_scene *scene, size_t number, const char *key)
{
    const struct dom_node *node = body_node(scene, number);
    const struct dom_pair *pair = node ? dom_find(node, key) : nullptr;
    return pair && pair->value.node->kind == DOM_SCALAR ? pair->value.node->text : nullptr;
}

static enum material_source source_of(const taut_scene *scene, size_t number, const char *kind)
{
    const struct dom_node *node = body_node(scene, number);
    const struct dom_pair *springs = node ? dom_find(node, "springs") : nullptr;
    if (springs && springs->value.node->kind == DOM_MAPPING && kind &&
        dom_find(springs->value.node, kind))
        return SOURCE_KIND;
    return node && dom_find(node, "spring") ? SOURCE_SPRING : SOURCE_BODY;
}

// A material as YAML.
static char *material_text(const struct material *material)
{
    char stiffness[64] = "", rest[64] = "", breaks[64] = "", yields[64] = "";
    if (material->law != LAW_RIGID)
        snprintf(stiffness, sizeof stiffness, "stiffness: %.9g, ", material->stiffness);
    if (material->has_rest_length)
        snprintf(rest, sizeof rest, ", rest_length: %.9g", material->rest_length);
    if (isfinite(material->break_at))
        snprintf(breaks, sizeof breaks, ", break_at: %.9g", material->break_at);
    if (isfinite(material->yield_at))
        snprintf(yields, sizeof yields, ", yield_at: %.9g", material->yield_at);
    return text_format(
        "{%sdamping: %.9g, damping_law: %s, law: %s%s%s%s}", stiffness, material->damping,
        fields_key(&schema_material, "damping_law")->names[material->damping_law],
        fields_key(&schema_material, "law")->names[material->law], rest, breaks, yields);
}

// All springs of a body as YAML for `bodies.N.springs`: the kinds in `kinds` (one bit each) with
// their materials; a kind that the body lacks gets the material of the first kind that it has. NULL
// if memory is short; the caller frees it.
static char *materials_text(const struct scene_body *body, unsigned kinds)
{
    const struct material *spare = &body->common;
    for (int i = SPRING_KINDS_MAX - 1; i >= 0; i--)
        if (body->kinds[i].present)
            spare = &body->kinds[i].material;
    char *all = text_format("{");
    for (size_t i = 0; all && i < SPRING_KINDS_MAX && spring_kind_name(body->type, i); i++) {
        if (!(kinds & 1U << i))
            continue;
        char *one = material_text(body->kinds[i].present ? &body->kinds[i].material : spare);
        char *longer = one ? text_format("%s%s%s: %s", all, all[1] ? ", " : "",
                                         spring_kind_name(body->type, i), one)
                           : nullptr;
        free(one);
        free(all);
        all = longer;
    }
    char *closed = all ? text_format("%s}", all) : nullptr;
    free(all);
    return closed;
}

struct material_field {
    const char *shown; // beside the slider of the stiffness
    enum material_source source;
    char path[FIELD_PATH_SIZE]; // before ".stiffness"
};

// One key of a material; true when it was changed.
static bool draw_material_key(struct view *view, const struct material_field *at,
                              const struct schema_key *key, struct material *material)
{
    char path[FIELD_PATH_SIZE];
    field_path(path, "%s.%s", at->path, key->name);
    bool is_stiffness = strcmp(key->name, "stiffness") == 0;
    struct field field = {.path = path,
                          .label = is_stiffness ? at->shown : nullptr,
                          .meaning = key->meaning,
                          .unit = key->unit,
                          .least = key->range.limited ? key->range.min : 0,
                          .most = key->range.limited ? key->range.max : 0,
                          .flags = at->source == SOURCE_BODY ? 0 : FIELD_SENDS_NOTHING};
    void *value = (char *)material + key->offset;
    if (key->type == VALUE_NUMBER)
        return field_numbers(view, field, (double *)value, 1);
    if (key->type == VALUE_NAME)
        return field_name(view, field, key->names, (int *)value);
    return false;
}

// Whether a material has a value for that key.
static bool has_key(const struct material *material, const struct schema_key *key)
{
    if (strcmp(key->name, "stiffness") == 0)
        return material->law != LAW_RIGID;
    if (strcmp(key->name, "rest_length") == 0)
        return material->has_rest_length;
    if (strcmp(key->name, "break_at") == 0)
        return isfinite(material->break_at);
    if (strcmp(key->name, "yield_at") == 0)
        return isfinite(material->yield_at);
    return true;
}

// Draws the slider of the stiffness, or all other fields; sends the material if it was changed.
static void draw_material(struct view *view, const struct material_field *at,
                          const struct material *present, bool stiffness)
{
    struct material material = *present;
    bool changed = false;
    for (size_t i = 0; i < schema_material.count; i++) {
        const struct schema_key *key = &schema_material.keys[i];
        if ((strcmp(key->name, "stiffness") == 0) == stiffness && has_key(present, key))
            changed |= draw_material_key(view, at, key, &material);
    }
    char *text = changed && at->source != SOURCE_BODY ? material_text(&material) : nullptr;
    if (text)
        player_set(view->player, at->path, text);
    free(text);
}

// The materials of a body; several kinds may share one. Returns their number.
static int find_materials(const taut_scene *scene, size_t number, struct material_field *fields,
                          const struct material **materials)
{
    const struct scene_body *body = &scene->bodies[number];
    bool is_network = body->type == BODY_NETWORK, shared = false;
    int count = 0;
    for (size_t i = 0; i < SPRING_KINDS_MAX && spring_kind_name(body->type, i); i++) {
        const char *kind = spring_kind_name(body->type, i);
        enum material_source source = source_of(scene, number, kind);
        if ((!body->kinds[i].present && !is_network) || (source != SOURCE_KIND && shared))
            continue;
        struct material_field *at = &fields[count];
        *at = {};
        at->source = source;
        at->shown = kind;
        if (source == SOURCE_KIND)
            field_path(at->path, "bodies.%s.springs.%s", body->name, kind);
        else
            field_path(at->path, "bodies.%s%s", body->name,
                       source == SOURCE_SPRING ? ".spring" : "");
        if (source != SOURCE_KIND) {
            shared = true;
            at->shown = "stiffness";
        }
        materials[count++] = is_network ? &body->common : &body->kinds[i].material;
    }
    return count;
}

// The sliders of the materials of a body.
static void draw_materials(struct view *view, size_t number)
{
    const taut_scene *scene = player_scene(view->player);
    struct material_field fields[SPRING_KINDS_MAX];
    const struct material *materials[SPRING_KINDS_MAX];
    char title[FIELD_PATH_SIZE];
    int count = find_materials(scene, number, fields, materials);
    for (int i = 0; i < count; i++)
        draw_material(view, &fields[i], materials[i], true);
    field_path(title, "damping, laws, breaking###more.%s", scene->bodies[number].name);
    if (count == 0 || !branch(title))
        return;
    for (int i = 0; i < count; i++) {
        if (count > 1)
            ImGui::TextUnformatted(fields[i].shown);
        draw_material(view, &fields[i], materials[i], false);
    }
    ImGui::TreePop();
}

// ---- The tab "Physics"

static void draw_environment(struct view *view, const taut_scene *scene)
{
    if (section("Gravity and air", true))
        fields_of_table(view, &schema_environment, &scene->environment, "environment", nullptr, 0);
}

// The gusts of a wind as YAML, to be appended to its other keys; empty if there are none.
static char *gusts_text(const struct scene_wind *wind)
{
    char *all = text_format("%s", wind->gust_count > 0 ? ", gusts: [" : "");
    for (size_t i = 0; all && i < wind->gust_count; i++) {
        const struct scene_gust *gust = &wind->gusts[i];
        char *longer =
            text_format("%s%s{amplitude: [%.9g, %.9g, %.9g], period: %.9g, phase: %.9g}%s", all,
                        i > 0 ? ", " : "", gust->amplitude.x, gust->amplitude.y, gust->amplitude.z,
                        gust->period, gust->phase, i + 1 == wind->gust_count ? "]" : "");
        free(all);
        all = longer;
    }
    return all;
}

// The laws have different keys, so the wind is sent as a whole.
static void send_wind(struct view *view, const struct scene_wind *wind)
{
    char factors[128];
    if (wind->law == WIND_QUADRATIC)
        snprintf(factors, sizeof factors, "density: %.9g, drag: %.9g", wind->density, wind->drag);
    else
        snprintf(factors, sizeof factors, "coefficient: %.9g", wind->coefficient);
    char *gusts = gusts_text(wind);
    if (gusts)
        field_send(view, "environment.wind",
                   "{velocity: [%.9g, %.9g, %.9g], law: %s, %s, relative: %s%s}", wind->velocity.x,
                   wind->velocity.y, wind->velocity.z,
                   fields_key(&schema_wind, "law")->names[wind->law], factors,
                   wind->relative ? "true" : "false", gusts);
    free(gusts);
}

static bool draw_wind_number(struct view *view, const char *name, double *value)
{
    const struct schema_key *key = fields_key(&schema_wind, name);
    char path[FIELD_PATH_SIZE];
    field_path(path, "environment.wind.%s", name);
    return field_numbers(view,
                         {.path = path,
                          .meaning = key->meaning,
                          .unit = key->unit,
                          .most = (double)INFINITY,
                          .flags = FIELD_SENDS_NOTHING},
                         value, 1);
}

static bool draw_wind_law(struct view *view, struct scene_wind *wind)
{
    const struct schema_key *law = fields_key(&schema_wind, "law");
    const struct schema_key *relative = fields_key(&schema_wind, "relative");
    int index = (int)wind->law;
    bool changed = field_name(
        view,
        {.path = "environment.wind.law", .meaning = law->meaning, .flags = FIELD_SENDS_NOTHING},
        law->names, &index);
    wind->law = (enum wind_law)index;
    changed |= field_boolean(view,
                             {.path = "environment.wind.relative",
                              .meaning = relative->meaning,
                              .flags = FIELD_SENDS_NOTHING},
                             &wind->relative);
    return changed;
}

// The initial values of the panel if the scene has no wind.
static struct scene_wind default_wind(void)
{
    struct scene_wind wind = {};
    wind.law = WIND_FACE;
    wind.coefficient = 1;
    wind.density = 1.225;
    wind.drag = 1;
    wind.relative = true;
    return wind;
}

static void draw_wind(struct view *view, const taut_scene *scene)
{
    if (!section("Wind", true))
        return;
    struct scene_wind wind = scene->environment.wind;
    if (!wind.present)
        wind = default_wind();
    double velocity[3] = {wind.velocity.x, wind.velocity.y, wind.velocity.z};
    bool changed = field_numbers(view,
                                 {.path = "environment.wind.velocity",
                                  .meaning = "The velocity of the air: x, y and z.",
                                  .unit = "m/s",
                                  .flags = FIELD_SENDS_NOTHING},
                                 velocity, 3);
    wind.velocity = vec3_make(velocity[0], velocity[1], velocity[2]);
    changed |= draw_wind_law(view, &wind);
    if (wind.law == WIND_QUADRATIC) {
        changed |= draw_wind_number(view, "density", &wind.density);
        changed |= draw_wind_number(view, "drag", &wind.drag);
    } else {
        changed |= draw_wind_number(view, "coefficient", &wind.coefficient);
    }
    if (changed)
        send_wind(view, &wind);
}

// The energy loss and the two steps of the program of the jelly's authors.
static void draw_motion(struct view *view, const struct scene_simulation *simulation)
{
    if (!section("Losses and steps", true))
        return;
    struct field field = {.path = "simulation.keep_velocity",
                          .label = "energy loss",
                          .meaning = "The fraction of every velocity that is lost in each step.",
                          .most = 0.1,
                          .flags = FIELD_SENDS_NOTHING};
    double loss = 1 - simulation->keep_velocity;
    if (field_numbers(view, field, &loss, 1))
        field_send(view, field.path, "%.9g", 1 - loss);
    field = {.path = "simulation.dt",
             .label = "accel. step (dt)",
             .meaning = "The step by which accelerations change velocities.",
             .unit = "s",
             .flags = FIELD_LOGARITHMIC};
    double dt = simulation->dt_auto ? view->status.dt : simulation->dt;
    if (!simulation->dt_auto)
        field_numbers(view, field, &dt, 1);
    if (simulation->integrator != INTEGRATOR_SYMPLECTIC_EULER)
        return;
    field.path = "simulation.position_step";
    field.label = "velocity step";
    field.meaning = "The step by which velocities change positions; where it is not dt, the motion "
                    "is slowed or hastened.";
    double step = simulation->position_step > 0 ? simulation->position_step : dt;
    if (!simulation->dt_auto || simulation->position_step > 0)
        field_numbers(view, field, &step, 1);
}

static void draw_mass(struct view *view, const taut_scene *scene, size_t number)
{
    const struct scene_body *body = &scene->bodies[number];
    const char *key = body->mass_per_node ? "node_mass" : "mass";
    if (!body_scalar(scene, number, key))
        return; // a list, or a column of a file
    char path[FIELD_PATH_SIZE];
    field_path(path, "bodies.%s.%s", body->name, key);
    double mass = body->mass_per_node ? body->node_mass : body->mass;
    struct field field = {.path = path,
                          .meaning = body->mass_per_node ? "The mass of each node."
                                                         : "The mass of the whole body.",
                          .unit = "kg",
                          .flags = FIELD_LOGARITHMIC};
    field_numbers(view, field, &mass, 1);
}

// Single numbers cannot be set for a body with only the name of a material: the first change gives
// it a mapping of the name and the number.
static void draw_named(struct view *view, const struct schema_table *table, const void *record,
                       const char *prefix, const char *const *keys, const char *name)
{
    for (; *keys; keys++) {
        const struct schema_key *key = **keys ? fields_key(table, *keys) : nullptr;
        char path[FIELD_PATH_SIZE];
        if (!key)
            continue;
        const int count = key->type == VALUE_PAIR ? 2 : 1;
        double values[2] = {0, 0};
        memcpy(values, (const char *)record + key->offset, (size_t)count * sizeof *values);
        field_path(path, "%s.%s", prefix, key->name);
        const struct field field = {.path = path,
                                    .meaning = key->meaning,
                                    .unit = key->unit,
                                    .least = key->range.limited ? key->range.min : 0,
                                    .most = key->range.limited ? key->range.max : 0,
                                    .flags = FIELD_SENDS_NOTHING};
        if (!field_numbers(view, field, values, count))
            continue;
        if (count > 1)
            field_send(view, prefix, "{material: %s, %s: [%.9g, %.9g]}", name, key->name, values[0],
                       values[1]);
        else
            field_send(view, prefix, "{material: %s, %s: %.9g}", name, key->name, values[0]);
    }
}

// The keys of a material that setters change in the running solver, ended by NULL; "" are none.
struct moduli_keys {
    const char *names[8];
};

static struct moduli_keys keys_of(const struct scene_body *body)
{
    if (body->fabric.present)
        return {{"warp", "weft", "shear", "coupling", "bending", "twist", nullptr}};
    return {{"young", body->type == BODY_ROPE ? "" : "poisson", nullptr}};
}

// The moduli from which the constants of springs and elements follow, and below them those from
// which masses follow, which need another solver.
static void draw_moduli(struct view *view, const taut_scene *scene, size_t number)
{
    const struct scene_body *body = &scene->bodies[number];
    const bool is_fabric = body->fabric.present;
    const char *key = is_fabric ? "fabric" : "elastic";
    const struct schema_table *table = is_fabric ? &schema_fabric : &schema_elastic;
    const void *record = is_fabric ? (const void *)&body->fabric : (const void *)&body->elastic;
    const struct moduli_keys keys = keys_of(body);
    const struct dom_node *node = body_node(scene, number);
    const struct dom_pair *given = node ? dom_find(node, key) : nullptr;
    char path[FIELD_PATH_SIZE];
    field_path(path, "bodies.%s.%s", body->name, key);
    if (!given)
        return;
    if (given->value.node->kind != DOM_MAPPING) {
        draw_named(view, table, record, path, keys.names, given->value.node->text);
        return;
    }
    const char *const others[] = {"density",
                                  "areal_density",
                                  "thickness",
                                  "diameter",
                                  body->type == BODY_ROPE ? "poisson" : "",
                                  nullptr};
    fields_of_table(view, table, record, path, others, 0);
    const bool has_thickness = is_fabric ? body->fabric.thickness > 0 : body->elastic.thickness > 0;
    const char *left_out[12] = {has_thickness ? "" : "thickness",
                                body->type == BODY_ROPE ? "" : "diameter", "poisson"};
    for (int i = 0; keys.names[i]; i++)
        left_out[3 + i] = keys.names[i];
    fields_of_table(view, table, record, path, left_out, FIELD_ON_RELEASE);
}

// The damping of a material, by the key that the scene has.
static void draw_moduli_damping(struct view *view, const taut_scene *scene, size_t number)
{
    const struct scene_body *body = &scene->bodies[number];
    const struct dom_node *node = body_node(scene, number);
    const bool rayleigh = node && dom_find(node, "rayleigh");
    const bool constant = node && dom_find(node, "damping");
    char path[FIELD_PATH_SIZE];
    double value = rayleigh   ? body->rayleigh_stiffness
                   : constant ? body->common.damping
                              : body->damping_ratio;
    struct field field = {.path = path,
                          .meaning = "The damping of each spring and element as a fraction of its "
                                     "critical damping.",
                          .most = (double)INFINITY};
    field_path(path, "bodies.%s.%s", body->name,
               rayleigh   ? "rayleigh.stiffness"
               : constant ? "damping"
                          : "damping_ratio");
    if (rayleigh) {
        field.label = "damping / stiffness";
        field.meaning = fields_key(&schema_rayleigh, "stiffness")->meaning;
        field.unit = "s";
    } else if (constant) {
        field.meaning = "The damping of springs inside.";
        field.unit = "N s/m";
    }
    field_numbers(view, field, &value, 1);
}

static void draw_body(struct view *view, const taut_scene *scene, size_t number, bool open)
{
    const struct scene_body *body = &scene->bodies[number];
    char title[FIELD_PATH_SIZE];
    field_path(title, "%s (%s)###physics.%s", body->name, body_type_name(body->type), body->name);
    if (!section(title, open))
        return;
    draw_mass(view, scene, number);
    if (body_has_moduli(body)) {
        draw_moduli(view, scene, number);
        draw_moduli_damping(view, scene, number);
    } else {
        draw_materials(view, number);
    }
    if (body->pressure.present) {
        char path[FIELD_PATH_SIZE];
        field_path(path, "bodies.%s.pressure", body->name);
        fields_of_table(view, &schema_pressure, &body->pressure, path, nullptr, 0);
    }
}

// One slider for both coefficients if the scene gives one number, otherwise one for each.
static void draw_friction(struct view *view, const struct scene_friction *friction,
                          const char *collider)
{
    char path[FIELD_PATH_SIZE];
    double of_static = friction->static_coefficient, of_kinetic = friction->kinetic_coefficient;
    const bool same = of_static == of_kinetic;
    field_path(path, "%s.friction_coefficient", collider);
    struct field field = {.path = path,
                          .label = same ? "friction coefficient" : "static friction",
                          .meaning = "Coulomb friction: the largest force along the surface over "
                                     "the normal force.",
                          .most = 2,
                          .flags = FIELD_SENDS_NOTHING};
    if (field_numbers(view, field, &of_static, 1)) {
        if (same)
            field_send(view, path, "%.9g", of_static);
        else
            field_send(view, path, "{static: %.9g, kinetic: %.9g}", of_static,
                       fmin(of_static, of_kinetic));
    }
    if (same)
        return;
    char key[FIELD_PATH_SIZE];
    field_path(key, "%s.kinetic", path);
    field.path = key;
    field.label = "kinetic friction";
    field.meaning = "Coulomb friction of a contact that slides.";
    if (field_numbers(view, field, &of_kinetic, 1))
        field_send(view, path, "{static: %.9g, kinetic: %.9g}", fmax(of_static, of_kinetic),
                   of_kinetic);
}

static void draw_collider(struct view *view, const struct scene_collider *collider, size_t number)
{
    static const char *const of_projection[] = {"response", "stiffness", "absorption", "keep",
                                                nullptr};
    static const char *const of_penalty[] = {"response", "restitution", "keep", nullptr};
    static const char *const of_coulomb[] = {"response", "restitution", "keep", "friction",
                                             nullptr};
    char path[FIELD_PATH_SIZE];
    bool projects = collider->response == RESPONSE_PROJECT;
    field_path(path, "colliders.%zu", number);
    fields_of_table(view, &schema_response, collider, path,
                    projects                    ? of_projection
                    : collider->coulomb.present ? of_coulomb
                                                : of_penalty,
                    0);
    if (collider->coulomb.present)
        draw_friction(view, &collider->coulomb, path);
    if (!projects)
        return;
    char key[FIELD_PATH_SIZE];
    field_path(key, "%s.keep", path);
    double loss = 1 - collider->keep;
    struct field field = {.path = key,
                          .label = "energy loss",
                          .meaning =
                              "Collision energy loss: the fraction of its velocity along the "
                              "surface that a node loses at an impact.",
                          .most = 1,
                          .flags = FIELD_SENDS_NOTHING};
    if (field_numbers(view, field, &loss, 1))
        field_send(view, key, "%.9g", 1 - loss);
}

// Only the friction of a plane, sphere or room that acts on surfaces can change.
static void draw_surface_collider(struct view *view, const struct scene_collider *collider,
                                  size_t number)
{
    char path[FIELD_PATH_SIZE];
    field_path(path, "colliders.%zu", number);
    ImGui::TextUnformatted("response: contact");
    if (collider->surface_friction.present)
        draw_friction(view, &collider->coulomb, path);
}

static void draw_colliders(struct view *view, const taut_scene *scene)
{
    if (scene->collider_count == 0 || !section("Collisions", true))
        return;
    for (size_t i = 0; i < scene->collider_count; i++) {
        char title[FIELD_PATH_SIZE];
        if (scene->colliders[i].type == COLLIDER_MESH) // nothing of it can be changed
            continue;
        field_path(title, "%s###colliders.%zu", collider_type_names[scene->colliders[i].type], i);
        if (branch(title)) {
            if (scene->colliders[i].response == RESPONSE_CONTACT)
                draw_surface_collider(view, &scene->colliders[i], i);
            else
                draw_collider(view, &scene->colliders[i], i);
            ImGui::TreePop();
        }
    }
}

void panel_physics(struct view *view)
{
    enum { BODIES_OPEN = 2 };
    const taut_scene *scene = player_scene(view->player);
    draw_environment(view, scene);
    draw_wind(view, scene);
    for (size_t i = 0; i < scene->body_count; i++)
        draw_body(view, scene, i, i < BODIES_OPEN);
    draw_motion(view, &scene->simulation);
    draw_colliders(view, scene);
}

// ---- Spheres: their number and size

enum { SPHERES_MAX = 8 };

static int sphere_count(const taut_scene *scene)
{
    int count = 0;
    for (size_t i = 0; i < scene->collider_count; i++)
        count += scene->colliders[i].type == COLLIDER_SPHERE;
    return count;
}

// The list of colliders as YAML.

// The keys that a new sphere copies from the last one: all but position, size and velocity.
static char *response_text(const struct dom_node *last)
{
    enum { KEYS_MAX = 32 };
    static const char *const own[] = {"type", "center", "radius", "velocity"};
    struct dom_pair pairs[KEYS_MAX];
    struct dom_node response = {};
    response.kind = DOM_MAPPING;
    response.pairs = pairs;
    if (!last)
        return text_format("response: project, keep: 0.9");
    for (size_t i = 0; i < last->count && response.count < KEYS_MAX; i++) {
        bool taken = true;
        for (size_t k = 0; k < sizeof own / sizeof own[0]; k++)
            taken &= strcmp(last->pairs[i].key, own[k]) != 0;
        if (taken)
            pairs[response.count++] = last->pairs[i];
    }
    char *text = scene_value_yaml(&response);
    char *bare = text ? text_format("%.*s", (int)strlen(text) - 2, text + 1) : nullptr;
    free(text);
    return bare;
}

// A new sphere: beside the bodies as built, with the contact keys of the last one; nullptr if
// memory is short.
static char *new_sphere_text(const struct view *view, const taut_scene *scene,
                             const struct dom_node *last)
{
    const struct subject *subject = player_subject(view->player);
    vec3 low = vec3_make(subject->low[0], subject->low[1], subject->low[2]);
    vec3 high = vec3_make(subject->high[0], subject->high[1], subject->high[2]);
    double across = fmax(high.x - low.x, high.z - low.z);
    double angle = 2.399963 * sphere_count(scene); // the golden angle keeps them apart
    double radius = fmax(0.18 * across, 1e-3);
    vec3 centre = vec3_make((low.x + high.x) / 2 + 0.75 * across * cos(angle), low.y - 0.5 * across,
                            (low.z + high.z) / 2 + 0.75 * across * sin(angle));
    for (size_t i = 0; i < scene->collider_count; i++)
        if (scene->colliders[i].type == COLLIDER_ROOM)
            centre.y = fmax(centre.y, scene->colliders[i].min.y + radius);
    char *response = response_text(last);
    char *text = response ? text_format("{type: sphere, center: [%.9g, %.9g, %.9g], radius: %.9g, "
                                        "%s}",
                                        centre.x, centre.y, centre.z, radius, response)
                          : nullptr;
    free(response);
    return text;
}

// Appends `more` to a text, and takes ownership of both; nullptr if memory is short or one of them
// is nullptr.
static char *append(char *text, char *more)
{
    char *longer = text && more ? text_format("%s%s%s", text, text[1] ? ", " : "", more) : nullptr;
    free(text);
    free(more);
    return longer;
}

// The list of colliders with `count` spheres: new ones are added at the end, the last ones are
// removed first. The others stay as they are in the scene, at the positions that the mouse has
// given them.
static char *list_text(const struct view *view, int count)
{
    const taut_scene *scene = player_scene(view->player);
    const struct dom_pair *list = dom_find(scene->document->root.node, "colliders");
    const struct dom_node *last = nullptr;
    int spheres = 0;
    char *all = text_format("[");
    for (size_t i = 0; i < scene->collider_count; i++) {
        const struct dom_node *node = list->value.node->items[i].node;
        bool is_sphere = scene->colliders[i].type == COLLIDER_SPHERE;
        if (is_sphere && ++spheres > count)
            continue;
        last = is_sphere ? node : last;
        all = append(all, scene_value_yaml(node));
    }
    if (spheres < count)
        all = append(all, new_sphere_text(view, scene, last));
    char *closed = all ? text_format("%s]", all) : nullptr;
    free(all);
    return closed;
}

static void set_count(struct view *view, int count)
{
    char *text = list_text(view, count);
    if (text)
        player_set(view->player, "colliders", text);
    else
        view_notify(view, true, "out of memory for the spheres");
    free(text);
}

static void draw_radius(struct view *view, size_t collider, int number)
{
    const struct frame *frame = player_frame(view->player);
    char path[FIELD_PATH_SIZE], label[FIELD_PATH_SIZE];
    field_path(path, "colliders.%zu.radius", collider);
    field_path(label, "radius of %d", number);
    double radius = (double)frame->colliders[collider].radius;
    struct field field = {.path = path,
                          .label = label,
                          .meaning = "The radius of a sphere; shift and the right button scale it "
                                     "in the picture.",
                          .unit = "m",
                          .flags = FIELD_SENDS_NOTHING | FIELD_LOGARITHMIC};
    if (field_numbers(view, field, &radius, 1) && radius > 0)
        player_scale_sphere(view->player, collider, radius);
}

static void draw_spheres(struct view *view)
{
    const taut_scene *scene = player_scene(view->player);
    const struct subject *subject = player_subject(view->player);
    const struct frame *frame = player_frame(view->player);
    if (!section("Spheres", true))
        return;
    int count = sphere_count(scene);
    int wanted = count;
    bool changed;
    {
        Scope scope("spheres");
        ImGui::SetNextItemWidth(scaled(view, 140));
        changed = integers("number", &wanted, 1);
        tooltip("How many spheres there are that bodies run into; the mouse moves them.");
    }
    if (changed && wanted >= 0 && wanted <= SPHERES_MAX && wanted != count)
        set_count(view, wanted > count ? count + 1 : wanted);
    int number = 0;
    for (size_t i = 0; i < subject->collider_count && frame->colliders; i++)
        if (subject->colliders[i].type == COLLIDER_SPHERE)
            draw_radius(view, i, ++number);
}

// ---- The tab "Body"

// Shells: 1: springs to the 26 neighbours, 2: also to those twice as far. The kinds of springs
// change with it, in an order in which each intermediate scene is valid.
static void set_shells(struct view *view, const struct scene_body *body, int shells)
{
    enum { NEAR = 1 | 2 | 4, FAR = 8 | 16 | 32 };
    char springs[FIELD_PATH_SIZE], key[FIELD_PATH_SIZE];
    field_path(springs, "bodies.%s.springs", body->name);
    field_path(key, "bodies.%s.shells", body->name);
    char *text = materials_text(body, shells == 2 ? NEAR | FAR : NEAR);
    if (!text)
        return;
    if (shells == 2)
        player_set(view->player, key, "2");
    player_set(view->player, springs, text);
    if (shells == 1)
        player_set(view->player, key, "1");
    free(text);
}

static void draw_neighbours(struct view *view, const struct scene_body *body)
{
    static const char *const names[] = {"1: the 26 next ones", "2: twice as far, too", nullptr};
    char path[FIELD_PATH_SIZE];
    field_path(path, "bodies.%s.shells", body->name);
    int index = body->shape.lattice.shells - 1;
    struct field field = {.path = path,
                          .label = "neighbours",
                          .meaning = "How far springs reach in the lattice.",
                          .flags = FIELD_SENDS_NOTHING};
    if (field_name(view, field, names, &index))
        set_shells(view, body, index + 1);
}

static void draw_shape(struct view *view, const struct scene_body *body, bool open)
{
    // Keys that are drawn elsewhere, that cannot change alone, or that belong to another key.
    const char *const left_out[] = {"links", "model", "shells", "file", "damping_ratio", nullptr};
    char title[FIELD_PATH_SIZE], path[FIELD_PATH_SIZE];
    field_path(title, "%s (%s)###body.%s", body->name, body_type_name(body->type), body->name);
    if (!section(title, open))
        return;
    field_path(path, "bodies.%s", body->name);
    fields_of_table(view, &schema_shapes[body->type], body, path, left_out, FIELD_ON_RELEASE);
    if (body->type == BODY_LATTICE && !body->elastic.present)
        draw_neighbours(view, body);
}

static void draw_count(const char *what, uint64_t count)
{
    ImGui::Text("%s: %llu", what, (unsigned long long)count);
}

void panel_body(struct view *view)
{
    enum { BODIES_OPEN = 2 };
    const taut_scene *scene = player_scene(view->player);
    const struct subject *subject = player_subject(view->player);
    draw_count("nodes", subject->node_count);
    draw_count("springs", subject->springs_in_all);
    draw_count("faces", subject->face_count);
    draw_spheres(view);
    for (size_t i = 0; i < scene->body_count; i++)
        draw_shape(view, &scene->bodies[i], i < BODIES_OPEN);
}

// ---- The tab "Solver"

static void draw_integrator(struct view *view, const struct scene_simulation *simulation)
{
    int index = (int)simulation->integrator;
    field_name(view, {.path = "simulation.integrator", .meaning = "The rule of a step."},
               integrator_names, &index);
}

static void draw_critical(const struct view *view, const struct scene_simulation *simulation)
{
    const struct player_status *status = &view->status;
    char text[160];
    if (status->critical_dt == (double)INFINITY)
        snprintf(text, sizeof text, "critical step: none, stable at any");
    else if (status->critical_dt > 0)
        snprintf(text, sizeof text, "critical step: %s%.4g s",
                 status->critical_fresh ? "" : "at least ", status->critical_dt);
    else
        snprintf(text, sizeof text, "critical step: not known yet");
    // A step above the bound may still be stable; an automatic dt always stays below it.
    bool exceeded =
        status->critical_fresh && status->critical_dt > 0 && status->dt > status->critical_dt;
    if (exceeded)
        warning(text);
    else
        ImGui::TextUnformatted(text);
    if (exceeded && !simulation->dt_auto)
        warning("The step is larger: the motion grows without bound.");
}

static void draw_step(struct view *view, const struct scene_simulation *simulation)
{
    static const char *const not_automatic[] = {"integrator",    "dt",         "duration",
                                                "steps",         "substeps",   "keep_velocity",
                                                "position_step", "iterations", nullptr};
    bool is_auto = simulation->dt_auto;
    struct field field = {.path = "simulation.dt",
                          .label = "dt",
                          .meaning = "The step.",
                          .unit = "s",
                          .flags = FIELD_LOGARITHMIC};
    {
        Scope scope("simulation");
        if (checkbox("dt: auto##dt_auto", &is_auto)) {
            if (is_auto)
                player_set(view->player, "simulation.dt", "auto");
            else
                field_send(view, "simulation.dt", "%.9g", view->status.dt);
        }
        tooltip("Uses a safe fraction of the critical step, and follows it.");
    }
    double dt = simulation->dt;
    if (!simulation->dt_auto)
        field_numbers(view, field, &dt, 1);
    else
        fields_of_table(view, &schema_simulation, simulation, "simulation", not_automatic, 0);
    draw_critical(view, simulation);
}

static void draw_equations(struct view *view, const struct scene_simulation *simulation)
{
    static const char *const not_of_xpbd[] = {"integrator",    "dt",    "safety",
                                              "duration",      "steps", "keep_velocity",
                                              "position_step", nullptr};
    if (integrator_is_implicit(simulation->integrator))
        fields_of_table(view, &schema_implicit, &simulation->implicit, "simulation.implicit",
                        nullptr, 0);
    if (simulation->integrator == INTEGRATOR_XPBD)
        fields_of_table(view, &schema_simulation, simulation, "simulation", not_of_xpbd, 0);
}

static void draw_threads(struct view *view)
{
    int threads = view->status.threads;
    Scope scope("solver");
    ImGui::SetNextItemWidth(scaled(view, 110));
    if (integers("threads", &threads, 1) && threads >= 1 && threads <= 4096)
        player_threads(view->player, threads);
    tooltip("How many threads the solver has; the picture is drawn by one more.");
}

static void draw_figures(const struct view *view)
{
    const struct player_status *status = &view->status;
    ImGui::Text("step %llu, dt %.4g s", (unsigned long long)status->step, status->dt);
    ImGui::Text("%.4g M springs/s", status->spring_updates_per_second / 1e6);
    ImGui::TextWrapped("kernel: %s", status->kernel ? status->kernel : "none");
    ImGui::Text("instruction set: %s", status->isa ? status->isa : "");
    if (status->broken > 0)
        ImGui::Text("broken springs: %llu", (unsigned long long)status->broken);
    ImGui::TextWrapped("drawn by: %s", window_device(view->window));
}

void panel_solver(struct view *view)
{
    const taut_scene *scene = player_scene(view->player);
    int precision = (int)scene->precision;
    draw_integrator(view, &scene->simulation);
    draw_step(view, &scene->simulation);
    draw_equations(view, &scene->simulation);
    ImGui::Separator();
    field_name(
        view,
        {.path = "precision", .meaning = "The floating-point numbers that are computed with."},
        fields_key(&schema_scene, "precision")->names, &precision);
    draw_threads(view);
    ImGui::Separator();
    draw_figures(view);
}
