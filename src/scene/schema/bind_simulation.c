// Binds all sections except bodies and materials: simulation, environment, colliders, the initial
// state and output.
#include "scene/schema/binder.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// Whether it is neither a number nor inf or nan.
static bool is_word(const struct dom_node *node)
{
    return node->kind == DOM_SCALAR && isalpha((unsigned char)node->text[0]) &&
           isfinite(strtod(node->text, NULL));
}

// A positive number, or true for the word auto.
static bool number_or_auto(struct binder *binder, const struct dom_pair *pair, double *number)
{
    static const struct value_range positive = RANGE_POSITIVE;
    static const char *const words[] = {"auto"};
    const struct dom_node *node = pair->value.node;
    if (!is_word(node)) {
        value_number(binder, &pair->value, pair->key, &positive, number);
        return false;
    }
    if (strcmp(node->text, "auto") == 0)
        return true;
    bind_report(binder, pair->value.at, nearest_name(node->text, words, 1),
                "'%s' must be a number or auto, not '%s'", pair->key, show_text(node->text).text);
    return false;
}

// ---- Simulation

static void bind_dt(struct binder *binder, const struct bound *bound)
{
    struct scene_simulation *simulation = &binder->scene->simulation;
    const struct dom_pair *dt = bound_find(bound, "dt");
    if (!dt)
        return;
    simulation->dt_at = dt->value.at;
    simulation->dt_auto = number_or_auto(binder, dt, &simulation->dt);
    if (simulation->dt_auto)
        return;
    bound_refuse_unless(binder, bound, "safety", "dt", "is only for 'dt: auto'");
}

static void check_step_count(struct binder *binder, const struct bound *bound)
{
    const struct scene_simulation *simulation = &binder->scene->simulation;
    const struct dom_pair *duration = bound_find(bound, "duration");
    if (!simulation->has_duration || simulation->dt_auto || simulation->dt <= 0)
        return;
    if (simulation->duration / simulation->dt > STEPS_MAX)
        bind_report(binder, duration->value.at, NULL,
                    "'duration' takes %.3g steps of dt; at most %g are possible",
                    simulation->duration / simulation->dt, STEPS_MAX);
}

static void bind_implicit(struct binder *binder, const struct bound *simulation)
{
    struct scene_implicit *implicit = &binder->scene->simulation.implicit;
    const struct dom_pair *given = bound_find(simulation, "implicit");
    struct schema_part part = {&schema_implicit, implicit, false};
    struct bound bound;
    bind_defaults(&schema_implicit, implicit);
    if (!given ||
        !bind_mapping(binder, &given->value, schema_implicit.what, &part, 1, false, &bound))
        return;
    if (bound_is_valid(simulation, "integrator") &&
        !integrator_is_implicit(binder->scene->simulation.integrator))
        bound_refuse_unless(
            binder, simulation, "implicit", "integrator",
            "is only for the integrators implicit_euler, implicit_midpoint and bdf2");
}

// Checks keys that belong to one integrator, and features that an integrator does not support.
static void check_integrator(struct binder *binder, const struct bound *bound)
{
    const struct scene_simulation *simulation = &binder->scene->simulation;
    binder->integrator_known = bound_is_valid(bound, "integrator");
    if (!binder->integrator_known)
        return;
    if (simulation->integrator != INTEGRATOR_SYMPLECTIC_EULER)
        bound_refuse_unless(binder, bound, "position_step", "integrator",
                            "is only for the integrator symplectic_euler");
    if (simulation->integrator != INTEGRATOR_XPBD) {
        bound_refuse_unless(binder, bound, "substeps", "integrator",
                            "is only for the integrator xpbd");
        bound_refuse_unless(binder, bound, "iterations", "integrator",
                            "is only for the integrator xpbd");
    } else if (simulation->dt_auto) {
        bind_report(binder, simulation->dt_at, NULL,
                    "'dt: auto' needs a critical step, and xpbd has none; give dt in seconds");
    }
}

void bind_simulation(struct binder *binder, const struct dom_value *value)
{
    struct scene_simulation *simulation = &binder->scene->simulation;
    struct schema_part part = {&schema_simulation, simulation, false};
    struct bound bound;
    if (!bind_mapping(binder, value, schema_simulation.what, &part, 1, false, &bound))
        return;
    simulation->at = value->at;
    bind_dt(binder, &bound);
    bound_exclusive(binder, &bound, "duration", "steps", false);
    simulation->has_duration = bound_find(&bound, "duration") && bound_is_valid(&bound, "duration");
    check_step_count(binder, &bound);
    bind_implicit(binder, &bound);
    check_integrator(binder, &bound);
}

// ---- Environment

static void bind_gusts(struct binder *binder, const struct dom_value *value)
{
    struct scene_wind *wind = &binder->scene->environment.wind;
    size_t count;
    if (!value_list(binder, value, "gusts", "gusts", &count) || count == 0)
        return;
    wind->gusts = calloc(count, sizeof *wind->gusts);
    if (!wind->gusts) {
        bind_report_memory(binder);
        return;
    }
    wind->gust_count = count;
    for (size_t i = 0; i < count; i++) {
        struct schema_part part = {&schema_gust, &wind->gusts[i], false};
        struct bound bound;
        bind_mapping(binder, &value->node->items[i], schema_gust.what, &part, 1, false, &bound);
    }
}

static void bind_wind(struct binder *binder, const struct dom_value *value)
{
    struct scene_wind *wind = &binder->scene->environment.wind;
    struct schema_part part = {&schema_wind, wind, false};
    struct bound bound;
    if (!bind_mapping(binder, value, schema_wind.what, &part, 1, false, &bound))
        return;
    wind->present = true;
    if (bound_is_valid(&bound, "law") && wind->law == WIND_QUADRATIC) {
        bound_refuse_unless(binder, &bound, "coefficient", "law",
                            "is only for the laws node and face");
    } else if (bound_is_valid(&bound, "law")) {
        bound_refuse_unless(binder, &bound, "density", "law", "is only for 'law: quadratic'");
        bound_refuse_unless(binder, &bound, "drag", "law", "is only for 'law: quadratic'");
    }
    const struct dom_pair *gusts = bound_find(&bound, "gusts");
    if (gusts)
        bind_gusts(binder, &gusts->value);
}

void bind_environment(struct binder *binder, const struct dom_value *value)
{
    struct schema_part part = {&schema_environment, &binder->scene->environment, false};
    struct bound bound;
    bool mapping = bind_mapping(binder, value, schema_environment.what, &part, 1, false, &bound);
    binder->gravity_known = mapping && bound_is_valid(&bound, "gravity");
    const struct dom_pair *wind = bound_find(&bound, "wind");
    if (wind)
        bind_wind(binder, &wind->value);
}

// ---- Output

static const struct scene_body *bind_body_of(struct binder *binder, const struct dom_value *value,
                                             size_t *index)
{
    const taut_scene *scene = binder->scene;
    const char *name = value_text(binder, value, "body");
    if (!name)
        return NULL;
    const struct scene_body *body = bound_body(binder, name);
    if (body) {
        *index = (size_t)(body - scene->bodies);
        return body;
    }
    if (!binder->names_known)
        return NULL;
    enum { NAMES_MAX = 200 };
    const char *names[NAMES_MAX];
    size_t count = scene->body_count < NAMES_MAX ? scene->body_count : NAMES_MAX;
    for (size_t i = 0; i < count; i++)
        names[i] = scene->bodies[i].name;
    bind_report(binder, value->at, nearest_name(name, names, count), "there is no body '%s'",
                show_text(name).text);
    return NULL;
}

static void bind_probe(struct binder *binder, const struct dom_value *value,
                       struct scene_probe *probe)
{
    struct schema_part part = {&schema_probe, probe, false};
    struct bound bound;
    if (!bind_mapping(binder, value, schema_probe.what, &part, 1, false, &bound))
        return;
    const struct dom_pair *body_name = bound_find(&bound, "body");
    const struct dom_pair *node = bound_find(&bound, "node");
    const struct scene_body *body =
        body_name ? bind_body_of(binder, &body_name->value, &probe->body) : NULL;
    if (node)
        bind_node(binder, &node->value, body, &probe->node);
}

static void bind_probes(struct binder *binder, const struct dom_value *value)
{
    struct scene_output *output = &binder->scene->output;
    size_t count;
    if (!value_list(binder, value, "probes", "probes", &count) || count == 0)
        return;
    output->probes = calloc(count, sizeof *output->probes);
    if (!output->probes) {
        bind_report_memory(binder);
        return;
    }
    output->probe_count = count;
    for (size_t i = 0; i < count; i++)
        bind_probe(binder, &value->node->items[i], &output->probes[i]);
}

void bind_initial(struct binder *binder, const struct dom_value *value)
{
    binder->scene->initial = bind_file(binder, value, "initial");
    binder->scene->initial_at = value->at;
}

// true, false, or a mapping of details, which means true.
static void bind_vtp(struct binder *binder, const struct dom_value *value)
{
    struct scene_output *output = &binder->scene->output;
    struct schema_part part = {&schema_vtp, output, false};
    struct bound bound;
    if (value->node->kind != DOM_MAPPING)
        (void)value_boolean(binder, value, "vtp",
                            "true, false or a mapping such as {springs: true}", &output->vtp);
    else
        output->vtp = bind_mapping(binder, value, schema_vtp.what, &part, 1, false, &bound);
}

void bind_output(struct binder *binder, const struct dom_value *value)
{
    struct scene_output *output = &binder->scene->output;
    struct schema_part part = {&schema_output, output, false};
    struct bound bound;
    if (!bind_mapping(binder, value, schema_output.what, &part, 1, false, &bound))
        return;
    bound_exclusive(binder, &bound, "every", "every_steps", true);
    output->has_every = bound_find(&bound, "every") || bound_find(&bound, "every_steps");
    const struct dom_pair *vtp = bound_find(&bound, "vtp");
    if (vtp)
        bind_vtp(binder, &vtp->value);
    const struct dom_pair *probes = bound_find(&bound, "probes");
    if (probes)
        bind_probes(binder, &probes->value);
    const struct dom_pair *checkpoint = bound_find(&bound, "checkpoint");
    if (checkpoint) {
        struct schema_part details = {&schema_checkpoint, output, false};
        (void)bind_mapping(binder, &checkpoint->value, schema_checkpoint.what, &details, 1, false,
                           &bound);
    }
}

// ---- Friction

bool bind_coefficients(struct binder *binder, const struct dom_value *value,
                       struct scene_friction *friction)
{
    static const struct value_range range = RANGE_UP_TO(0, FRICTION_MAX);
    struct schema_part part = {&schema_friction, friction, false};
    struct bound bound;
    if (value->node->kind != DOM_MAPPING) {
        double both = 0;
        if (!value_number(binder, value, "friction_coefficient", &range, &both))
            return false;
        *friction = (struct scene_friction){true, both, both, 0};
        return true;
    }
    if (!bind_mapping(binder, value, schema_friction.what, &part, 1, false, &bound) ||
        !bound_is_valid(&bound, "static") || !bound_is_valid(&bound, "kinetic"))
        return false;
    const struct dom_pair *kinetic = bound_find(&bound, "kinetic");
    if (!kinetic || !bound_find(&bound, "static"))
        return false;
    if (friction->static_coefficient < friction->kinetic_coefficient) {
        bind_report(binder, kinetic->value.at, NULL,
                    "'kinetic' must be at most 'static', but it is %g and 'static' is %g",
                    friction->kinetic_coefficient, friction->static_coefficient);
        return false;
    }
    friction->present = true;
    return true;
}

void bind_contact_friction(struct binder *binder, const struct bound *bound,
                           struct scene_friction *friction)
{
    const struct dom_pair *pair = bound_find(bound, "friction_coefficient");
    struct scene_friction given = {.present = false};
    if (!pair || !bind_coefficients(binder, &pair->value, &given))
        return;
    *friction = given;
}

// ---- Contact of surfaces

// Two bodies that are a pair already.
static void refuse_second(struct binder *binder, const struct scene_contact_pair *pair, mark at)
{
    const taut_scene *scene = binder->scene;
    const size_t a = pair->bodies[0], b = pair->bodies[1];
    for (const struct scene_contact_pair *one = scene->contact.pairs; one < pair; one++) {
        const size_t c = one->bodies[0], d = one->bodies[1];
        if ((a != c || b != d) && (a != d || b != c))
            continue;
        bind_report(binder, at, NULL,
                    "'pairs' has the pair of '%s' and '%s' twice: give all its keys in one entry",
                    show_text(scene->bodies[a].name).text, show_text(scene->bodies[b].name).text);
        return;
    }
}

static void bind_contact_pair(struct binder *binder, const struct dom_value *value,
                              struct scene_contact_pair *pair)
{
    struct schema_part part = {&schema_contact_pair, pair, false};
    struct bound bound;
    if (!bind_mapping(binder, value, schema_contact_pair.what, &part, 1, false, &bound))
        return;
    bind_contact_friction(binder, &bound, &pair->friction);
    const struct dom_pair *bodies = bound_find(&bound, "bodies");
    size_t count;
    if (!bodies || !value_list(binder, &bodies->value, "bodies", "bodies", &count))
        return;
    if (count != 2) {
        bind_report(binder, bodies->value.at, NULL, "'bodies' of a pair must be two names, not %zu",
                    count);
        return;
    }
    for (int i = 0; i < 2; i++) {
        const struct dom_value *name = &bodies->value.node->items[i];
        const struct scene_body *body = bind_body_of(binder, name, &pair->bodies[i]);
        if (!body)
            return;
        if (!body_type_has_surface(body->type)) {
            bind_report(binder, name->at, NULL,
                        "'%s' has no surface that could touch anything: bodies of type %s have "
                        "springs and nodes only; leave the pair out",
                        show_text(body->name).text, body_type_name(body->type));
            return;
        }
    }
    refuse_second(binder, pair, bodies->value.at);
    const struct dom_pair *friction = bound_find(&bound, "friction_coefficient");
    if (!pair->enabled && friction)
        bind_report(binder, friction->key_at, NULL,
                    "'friction_coefficient' has no effect on a pair with 'enabled: false', whose "
                    "bodies do not touch: remove one of the two keys");
}

static void bind_contact_stiffness(struct binder *binder, const struct bound *bound)
{
    struct scene_contact *contact = &binder->scene->contact;
    const struct dom_pair *stiffness = bound_find(bound, "stiffness");
    contact->stiffness_auto = !stiffness || number_or_auto(binder, stiffness, &contact->stiffness);
}

void bind_contact(struct binder *binder, const struct dom_value *value)
{
    struct scene_contact *contact = &binder->scene->contact;
    struct schema_part part = {&schema_contact, contact, false};
    struct bound bound;
    if (!bind_mapping(binder, value, schema_contact.what, &part, 1, false, &bound))
        return;
    contact->present = true;
    contact->at = value->at;
    bind_contact_stiffness(binder, &bound);
    bind_contact_friction(binder, &bound, &contact->friction);
    const struct dom_pair *pairs = bound_find(&bound, "pairs");
    size_t count;
    if (!pairs || !value_list(binder, &pairs->value, "pairs", "pairs", &count) || count == 0)
        return;
    contact->pairs = calloc(count, sizeof *contact->pairs);
    if (!contact->pairs) {
        bind_report_memory(binder);
        return;
    }
    contact->pair_count = count;
    for (size_t i = 0; i < count; i++)
        bind_contact_pair(binder, &pairs->value.node->items[i], &contact->pairs[i]);
}

// ---- Colliders

// Checks a plane, sphere or room that acts on surfaces.
static void check_contact_response(struct binder *binder, const struct bound *bound)
{
    bound_refuse_unless(binder, bound, "keep", "response", "is only for 'response: project'");
    bound_refuse_unless(binder, bound, "restitution", "response",
                        "is only for 'response: project'");
    bound_refuse_unless(binder, bound, "friction", "response",
                        "is only for 'response: penalty' and 'response: project'; "
                        "'friction_coefficient' is for 'response: contact'");
}

static void check_response(struct binder *binder, const struct bound *bound,
                           const struct label *name, const struct scene_collider *collider)
{
    if (!bound_is_valid(bound, "response"))
        return;
    if (collider->response == RESPONSE_PENALTY) {
        bound_refuse_unless(binder, bound, "keep", "response", "is only for 'response: project'");
        bound_refuse_unless(binder, bound, "restitution", "response",
                            "is only for 'response: project'");
        if (bound_lacks(bound, "stiffness"))
            bind_report(binder, bound->at, NULL,
                        "'stiffness' is missing in %s, %s: 'response: penalty', the default, needs "
                        "it (N/m)",
                        name->text, bound->what);
        return;
    }
    bound_refuse_unless(binder, bound, "stiffness", "response", "is only for 'response: penalty'");
    bound_refuse_unless(binder, bound, "absorption", "response", "is only for 'response: penalty'");
    if (collider->response == RESPONSE_CONTACT) {
        check_contact_response(binder, bound);
        return;
    }
    bound_refuse_unless(binder, bound, "friction_coefficient", "response",
                        "is only for 'response: penalty' and 'response: contact'; "
                        "'friction' (N s/m) is for 'response: project'");
}

static void bind_friction(struct binder *binder, const struct bound *bound,
                          const struct scene_collider *collider, struct scene_friction *friction)
{
    struct scene_friction given = {.present = false};
    if (collider->response == RESPONSE_PENALTY)
        bound_exclusive(binder, bound, "friction", "friction_coefficient", true);
    const struct dom_pair *pair = bound_find(bound, "friction_coefficient");
    if (!pair || !bind_coefficients(binder, &pair->value, &given))
        return;
    *friction = given;
}

static void check_room(struct binder *binder, const struct bound *bound,
                       const struct scene_collider *room)
{
    const struct dom_pair *max = bound_find(bound, "max");
    if (!max || !bound_find(bound, "min") || !bound_is_valid(bound, "min") ||
        !bound_is_valid(bound, "max"))
        return;
    const double least[] = {room->min.x, room->min.y, room->min.z};
    const double greatest[] = {room->max.x, room->max.y, room->max.z};
    for (int axis = 0; axis < 3; axis++)
        if (greatest[axis] <= least[axis]) {
            bind_report(binder, max->value.at, NULL,
                        "'max' must be greater than 'min' in each coordinate, but in %c it is %g "
                        "and 'min' is %g",
                        "xyz"[axis], greatest[axis], least[axis]);
            return;
        }
}

// [t, position] or [t, position, angles]. False if it is not one; only its shape is not reported by
// the functions for single values.
static bool bind_keyframe(struct binder *binder, const struct dom_value *value, size_t index,
                          struct scene_keyframe *keyframe)
{
    static const struct value_range range = RANGE_NOT_NEGATIVE;
    const struct label what = item_label(index, "keyframes");
    const struct dom_node *node = value->node;
    if (node->kind != DOM_LIST || node->count < 2 || node->count > 3)
        return bind_report(binder, value->at, NULL,
                           "%s must be [t, [x, y, z], [rx, ry, rz]]: a time in s, how far the mesh "
                           "has moved in m, and how far it has turned in degrees",
                           what.text);
    bool valid =
        value_double(binder, &node->items[0], "the time of a keyframe", &range, &keyframe->time);
    valid &=
        value_vector(binder, &node->items[1], "the position of a keyframe", &keyframe->position);
    if (node->count == 3)
        valid &=
            value_vector(binder, &node->items[2], "the angles of a keyframe", &keyframe->angles);
    return valid;
}

static void bind_keyframes(struct binder *binder, const struct dom_value *value,
                           struct scene_collider_motion *motion)
{
    size_t count;
    if (!value_list(binder, value, "keyframes", "keyframes", &count))
        return;
    if (count == 0) {
        bind_report(binder, value->at, NULL,
                    "'keyframes' must have at least one [t, [x, y, z], [rx, ry, rz]]");
        return;
    }
    motion->keyframes = calloc(count, sizeof *motion->keyframes);
    if (!motion->keyframes) {
        bind_report_memory(binder);
        return;
    }
    motion->keyframe_count = count;
    for (size_t i = 0; i < count; i++) {
        const struct dom_value *item = &value->node->items[i];
        if (!bind_keyframe(binder, item, i, &motion->keyframes[i]))
            return;
        if (i > 0 && !(motion->keyframes[i].time > motion->keyframes[i - 1].time)) {
            bind_report(binder, item->at, NULL,
                        "the times of keyframes must rise, but %g s follows %g s",
                        motion->keyframes[i].time, motion->keyframes[i - 1].time);
            return;
        }
    }
    if (count == 1)
        scene_warn(binder->scene, binder->diagnostics, value->at,
                   "one keyframe moves nothing: the mesh stands still where it has it, at all "
                   "times; give a second one, or only 'translate' and 'rotate'");
}

static void bind_collider_motion(struct binder *binder, const struct bound *bound,
                                 struct scene_collider_motion *motion)
{
    const struct dom_pair *pair = bound_find(bound, "motion");
    struct schema_part part = {&schema_collider_motion, motion, false};
    struct bound content;
    if (!pair ||
        !bind_mapping(binder, &pair->value, schema_collider_motion.what, &part, 1, false, &content))
        return;
    bound_exclusive(binder, &content, "velocity", "keyframes", true);
    bound_exclusive(binder, &content, "angular_velocity", "keyframes", true);
    const struct dom_pair *keyframes = bound_find(&content, "keyframes");
    if (keyframes)
        bind_keyframes(binder, &keyframes->value, motion);
}

static void bind_mesh_collider(struct binder *binder, const struct dom_value *value,
                               struct scene_collider *collider)
{
    const struct schema_part parts[] = {{&schema_collider, collider, false},
                                        {&schema_collider_shapes[COLLIDER_MESH], collider, false}};
    struct bound bound;
    bind_mapping(binder, value, schema_collider_shapes[COLLIDER_MESH].what, parts, 2, false,
                 &bound);
    collider->response = RESPONSE_CONTACT;
    bind_mesh(binder, &bound, &collider->mesh);
    bind_collider_motion(binder, &bound, &collider->motion);
    bind_friction(binder, &bound, collider, &collider->surface_friction);
}

static void bind_collider(struct binder *binder, const struct dom_value *value, size_t index,
                          struct scene_collider *collider)
{
    struct schema_part parts[] = {{&schema_collider, collider, false},
                                  {&schema_response, collider, false},
                                  {NULL, collider, false}};
    struct bound bound;
    struct label what = item_label(index, "colliders");
    collider->at = value->at;
    if (!value_mapping(binder, value, what.text))
        return;
    const struct dom_pair *type = dom_find(value->node, "type");
    int given = type ? value_name(binder, &type->value, "type", collider_type_names) : -1;
    if (given < 0) {
        bind_mapping(binder, value, schema_collider.what, parts, 1, true, &bound);
        return;
    }
    collider->type = (enum collider_type)given;
    if (collider->type == COLLIDER_MESH) {
        bind_mesh_collider(binder, value, collider);
        return;
    }
    parts[2].table = &schema_collider_shapes[given];
    bind_mapping(binder, value, schema_collider_shapes[given].what, parts, 3, false, &bound);
    check_response(binder, &bound, &what, collider);
    const bool contact = collider->response == RESPONSE_CONTACT;
    bind_friction(binder, &bound, collider,
                  contact ? &collider->surface_friction : &collider->coulomb);
    if (collider->type == COLLIDER_ROOM)
        check_room(binder, &bound, collider);
}

void bind_colliders(struct binder *binder, const struct dom_value *value)
{
    taut_scene *scene = binder->scene;
    size_t count;
    if (!value_list(binder, value, "colliders", "colliders", &count) || count == 0)
        return;
    scene->colliders = calloc(count, sizeof *scene->colliders);
    if (!scene->colliders) {
        bind_report_memory(binder);
        return;
    }
    scene->collider_count = count;
    for (size_t i = 0; i < count; i++) {
        bind_collider(binder, &value->node->items[i], i, &scene->colliders[i]);
    }
}

// Shapes with `response: contact` have the friction of the scene and of bodies, if they have none
// of their own; so which colliders have a memory of friction is known when all of these are.
void bind_friction_slots(taut_scene *scene)
{
    bool of_bodies = false;
    for (size_t b = 0; b < scene->body_count; b++)
        of_bodies |= scene->bodies[b].contact.friction.present;
    for (size_t c = 0; c < scene->collider_count; c++) {
        struct scene_collider *collider = &scene->colliders[c];
        if (collider->response == RESPONSE_CONTACT && collider->type != COLLIDER_MESH) {
            const struct scene_friction *own = &collider->surface_friction;
            const bool any = own->present || scene->contact.friction.present || of_bodies;
            collider->coulomb = own->present ? *own : scene->contact.friction;
            collider->coulomb.present = any;
        }
        collider->coulomb.first_slot = friction_slots(scene->colliders, c);
    }
}
