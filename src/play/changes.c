// The differences between a scene file and the running simulation: PATH=VALUE changes, the
// constants among them, and lists of cut springs and faces. Two scenes are compared field by field,
// which shows whether only constants changed, and which setters of taut.h to call. The order of
// requests, and the choice between setting a constant and building another simulation, are left to
// player_actions.c.
#include "play/changes.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "scene/moduli.h"
#include "scene/reader.h"
#include "scene/text/document.h"
#include "solver/solver.h"

// ---- Changes of the file

void changes_free(struct changes *changes)
{
    for (size_t i = 0; i < changes->count; i++)
        free(changes->texts[i]);
    free(changes->texts);
    *changes = (struct changes){0};
}

// Takes ownership of `text`; false if memory for the list is short, or if `text` is NULL.
static bool add(struct changes *changes, char *text)
{
    void *texts = changes->texts;
    bool reserved =
        text && array_reserve(&texts, &changes->capacity, changes->count + 1, sizeof(char *));
    changes->texts = texts;
    if (reserved)
        changes->texts[changes->count++] = text;
    else
        free(text);
    return reserved;
}

bool changes_copy(const struct changes *from, struct changes *to)
{
    *to = (struct changes){0};
    for (size_t i = 0; i < from->count; i++)
        if (!add(to, strdup(from->texts[i]))) {
            changes_free(to);
            return false;
        }
    return true;
}

// Whether `text` sets the key `path` (of that length) or a part of it.
static bool is_within(const char *text, const char *path, size_t length)
{
    return strncmp(text, path, length) == 0 && (text[length] == '=' || text[length] == '.');
}

bool changes_set(struct changes *changes, const char *text)
{
    size_t kept = 0, length = strcspn(text, "=");
    for (size_t i = 0; i < changes->count; i++) {
        if (is_within(changes->texts[i], text, length))
            free(changes->texts[i]);
        else
            changes->texts[kept++] = changes->texts[i];
    }
    changes->count = kept;
    return add(changes, strdup(text));
}

// `text` NULL: reads the file at `path`.
static taut_scene *read_scene(const struct changes *changes, const struct source *text,
                              const char *path, struct diagnostics *diagnostics)
{
    struct scene_override *overrides = calloc(changes->count + 1, sizeof *overrides);
    if (!overrides) {
        diagnostics_fail(diagnostics, TAUT_ERROR_MEMORY, path, "out of memory");
        return NULL;
    }
    for (size_t i = 0; i < changes->count; i++)
        overrides[i] = (struct scene_override){.text = changes->texts[i], .wins = true};
    taut_scene *scene = text ? scene_read_text(text->text, text->length, path, overrides,
                                               changes->count, diagnostics)
                             : scene_read_file(path, overrides, changes->count, diagnostics);
    free(overrides);
    return scene;
}

taut_scene *changes_read(const struct changes *changes, const char *path,
                         struct diagnostics *diagnostics)
{
    return read_scene(changes, NULL, path, diagnostics);
}

taut_scene *changes_read_again(const struct changes *changes, const taut_scene *scene,
                               struct diagnostics *diagnostics)
{
    return read_scene(changes, &scene->document->source, scene->file, diagnostics);
}

taut_status changes_fail(const struct diagnostics *diagnostics, taut_error *error)
{
    for (size_t i = 0; i < diagnostics->count; i++) {
        const struct diagnostic *item = &diagnostics->items[i];
        if (item->level != DIAGNOSTIC_ERROR)
            continue;
        taut_status status = diagnostics_status(diagnostics);
        return item->hint ? fail(error, status, "%s; did you mean '%s'?", item->text, item->hint)
                          : fail(error, status, "%s", item->text);
    }
    return fail_memory(error, "the scene");
}

size_t changes_text_length(const taut_scene *scene)
{
    return scene->document->source.length;
}

// ---- Constants, by path

// The text after `prefix`, or NULL if the text does not begin with it.
static const char *after_prefix(const char *text, const char *prefix)
{
    size_t length = strlen(prefix);
    return strncmp(text, prefix, length) == 0 ? text + length : NULL;
}

// Whether the first part of a path, up to a dot or to the value, is one of these keys, a list ended
// by NULL.
static bool is_one_of(const char *path, const char *const *keys)
{
    size_t length = strcspn(path, ".=");
    for (; *keys; keys++)
        if (strlen(*keys) == length && strncmp(path, *keys, length) == 0)
            return true;
    return false;
}

// The key of a body that a path sets, or NULL. Body names may contain dots; numbers are accepted
// too.
static const char *body_key(const taut_scene *scene, const char *path)
{
    for (size_t b = 0; b < scene->body_count; b++) {
        const char *rest = after_prefix(path, scene->bodies[b].name);
        if (rest && *rest == '.')
            return rest + 1;
    }
    char *end;
    unsigned long long number = strtoull(path, &end, 10);
    return end > path && *end == '.' && number < scene->body_count ? end + 1 : NULL;
}

bool constants_may_have(const taut_scene *scene, const char *text)
{
    static const char *const of_environment[] = {"gravity", "air_drag", "wind", NULL};
    static const char *const of_simulation[] = {"dt", NULL};
    static const char *const of_body[] = {"mass",   "node_mass", "stiffness",     "damping",
                                          "spring", "springs",   "pressure",      "elastic",
                                          "fabric", "rayleigh",  "damping_ratio", NULL};
    const char *path = after_prefix(text, "environment.");
    if (path)
        return is_one_of(path, of_environment);
    path = after_prefix(text, "simulation.");
    if (path)
        return is_one_of(path, of_simulation);
    path = after_prefix(text, "colliders.");
    if (path)
        return path[strcspn(path, ".=")] == '.'; // a key of one of them
    path = after_prefix(text, "bodies.");
    const char *key = path ? body_key(scene, path) : NULL;
    return key && is_one_of(key, of_body);
}

// ---- Comparing two scenes

static bool same_vector(vec3 a, vec3 b)
{
    return a.x == b.x && a.y == b.y && a.z == b.z;
}

// Compares all but stiffness and damping.
static bool same_material(const struct material *a, const struct material *b)
{
    return a->law == b->law && a->damping_law == b->damping_law &&
           a->has_rest_length == b->has_rest_length && a->rest_length == b->rest_length &&
           a->break_at == b->break_at && a->yield_at == b->yield_at;
}

static bool same_lists(const struct scene_network *a, const struct scene_network *b)
{
    if (a->spring_count != b->spring_count || a->material_count != b->material_count ||
        a->node_count != b->node_count || a->nodes_path || b->nodes_path)
        return false;
    size_t springs = (size_t)a->spring_count;
    if (springs > 0 && (memcmp(a->springs, b->springs, springs * sizeof *a->springs) != 0 ||
                        memcmp(a->spring_materials, b->spring_materials,
                               springs * sizeof *a->spring_materials) != 0))
        return false;
    for (size_t m = 0; m < a->material_count; m++)
        if (!same_material(&a->materials[m], &b->materials[m]))
            return false;
    return true;
}

// The mass of each node; 0: the masses differ, or come from a file.
static double node_mass(const struct scene_body *body, uint64_t nodes)
{
    const struct scene_network *network = &body->shape.network;
    if (body->type == BODY_NETWORK) {
        for (uint64_t i = 1; network->masses && i < network->node_count; i++)
            if (network->masses[i] != network->masses[0])
                return 0;
        return network->masses && network->node_count > 0 ? network->masses[0] : 0;
    }
    bool pair = body->type == BODY_OSCILLATOR || body->type == BODY_PENDULUM;
    if (body->mass_per_node)
        return body->node_mass;
    return pair ? body->mass : body->mass / (double)nodes;
}

static bool same_masses(const struct scene_body *a, const struct scene_body *b)
{
    const struct scene_network *one = &a->shape.network, *other = &b->shape.network;
    if (a->type != BODY_NETWORK || node_mass(b, 1) > 0)
        return true; // the same, or constants
    return one->node_count == other->node_count && one->masses && other->masses &&
           memcmp(one->masses, other->masses, (size_t)one->node_count * sizeof *one->masses) == 0;
}

// Whether two bodies with moduli agree in what setters do not write: densities and lengths, from
// which masses follow, and whether there are elements at all.
static bool same_moduli(const struct scene_body *a, const struct scene_body *b)
{
    return a->elastic.present == b->elastic.present && a->fabric.present == b->fabric.present &&
           (!body_has_moduli(a) || body_cell_mass(a) == body_cell_mass(b)) &&
           a->elastic.thickness == b->elastic.thickness &&
           a->elastic.diameter == b->elastic.diameter &&
           (scene_elements_exist(&a->elements) || !scene_elements_exist(&b->elements)) &&
           a->rayleigh_mass == b->rayleigh_mass;
}

static bool same_body(const struct scene_body *a, const struct scene_body *b)
{
    if (a->type != b->type || strcmp(a->name, b->name) != 0 ||
        a->pressure.present != b->pressure.present || a->pressure.volume != b->pressure.volume)
        return false;
    if (!same_moduli(a, b))
        return false;
    if (a->type == BODY_NETWORK)
        return same_masses(a, b) && same_lists(&a->shape.network, &b->shape.network);
    for (size_t kind = 0; kind < SPRING_KINDS_MAX; kind++)
        if (a->kinds[kind].present != b->kinds[kind].present ||
            (a->kinds[kind].present &&
             !same_material(&a->kinds[kind].material, &b->kinds[kind].material)))
            return false;
    return true;
}

static bool same_motion(const struct scene_collider_motion *a,
                        const struct scene_collider_motion *b)
{
    bool same = same_vector(a->velocity, b->velocity) &&
                same_vector(a->angular_velocity, b->angular_velocity) &&
                a->keyframe_count == b->keyframe_count;
    for (size_t i = 0; same && i < a->keyframe_count; i++)
        same = a->keyframes[i].time == b->keyframes[i].time &&
               same_vector(a->keyframes[i].position, b->keyframes[i].position) &&
               same_vector(a->keyframes[i].angles, b->keyframes[i].angles);
    return same;
}

// All of a mesh collider, which has no constants that can be set.
static bool same_mesh(const struct scene_collider *a, const struct scene_collider *b)
{
    if (a->type != COLLIDER_MESH || b->type != COLLIDER_MESH)
        return true;
    return strcmp(a->mesh.path, b->mesh.path) == 0 && a->mesh.scale == b->mesh.scale &&
           same_vector(a->translate, b->translate) && same_vector(a->rotate, b->rotate) &&
           a->sides == b->sides && same_motion(&a->motion, &b->motion) &&
           a->surface_friction.static_coefficient == b->surface_friction.static_coefficient &&
           a->surface_friction.kinetic_coefficient == b->surface_friction.kinetic_coefficient;
}

static bool same_collider(const struct scene_collider *a, const struct scene_collider *b)
{
    return a->type == b->type && a->response == b->response && same_vector(a->point, b->point) &&
           same_vector(a->normal, b->normal) && same_vector(a->centre, b->centre) &&
           same_vector(a->velocity, b->velocity) && a->radius == b->radius &&
           same_vector(a->min, b->min) && same_vector(a->max, b->max) &&
           a->blocks_drives == b->blocks_drives && a->coulomb.present == b->coulomb.present &&
           same_mesh(a, b);
}

// Compares all but velocity and factors.
static bool same_wind(const struct scene_wind *a, const struct scene_wind *b)
{
    if (a->present != b->present || a->law != b->law || a->relative != b->relative ||
        a->gust_count != b->gust_count)
        return false;
    for (size_t g = 0; g < a->gust_count; g++)
        if (!same_vector(a->gusts[g].amplitude, b->gusts[g].amplitude) ||
            a->gusts[g].period != b->gusts[g].period || a->gusts[g].phase != b->gusts[g].phase)
            return false;
    return true;
}

bool constants_are_all(const taut_scene *before, const taut_scene *after)
{
    bool same = before->body_count == after->body_count &&
                before->collider_count == after->collider_count &&
                same_wind(&before->environment.wind, &after->environment.wind) &&
                (before->simulation.dt_auto || !after->simulation.dt_auto);
    for (size_t b = 0; same && b < before->body_count; b++)
        same = same_body(&before->bodies[b], &after->bodies[b]);
    for (size_t c = 0; same && c < before->collider_count; c++)
        same = same_collider(&before->colliders[c], &after->colliders[c]);
    return same;
}

// ---- Setting constants

static taut_status set_material(taut_solver *solver, size_t body, size_t number,
                                const struct material *before, const struct material *after,
                                taut_error *error)
{
    taut_status status = TAUT_OK;
    if (before->stiffness != after->stiffness && after->law != LAW_RIGID)
        status = taut_solver_set_stiffness(solver, body, number, after->stiffness, error);
    if (status == TAUT_OK && before->damping != after->damping)
        status = taut_solver_set_damping(solver, body, number, after->damping, error);
    return status;
}

// The materials of a body, in the order of the solver.
static const struct material *material_of(const struct scene_body *body, size_t number)
{
    const struct scene_network *network = &body->shape.network;
    if (body->type == BODY_NETWORK)
        return number < network->material_count ? &network->materials[number] : NULL;
    return number < SPRING_KINDS_MAX && body->kinds[number].present ? &body->kinds[number].material
                                                                    : NULL;
}

static bool same_damping(const taut_material_damping *a, const taut_material_damping *b)
{
    return a->ratio == b->ratio && a->stiffness == b->stiffness && a->constant == b->constant;
}

static taut_material_damping damping_of(const struct scene_body *body)
{
    return (taut_material_damping){body->damping_ratio, body->rayleigh_stiffness,
                                   body->common.damping};
}

// The moduli of a body with `elastic` or `fabric`.
static taut_status set_moduli(taut_solver *solver, size_t number, const struct scene_body *before,
                              const struct scene_body *after, taut_error *error)
{
    const struct scene_elastic *old = &before->elastic, *solid = &after->elastic;
    const struct scene_fabric *worn = &before->fabric, *fabric = &after->fabric;
    const taut_material_damping old_damping = damping_of(before), damping = damping_of(after);
    if (after->elastic.present) {
        const taut_elastic elastic = {solid->young, solid->poisson, damping};
        if (old->young == solid->young && old->poisson == solid->poisson &&
            same_damping(&old_damping, &damping))
            return TAUT_OK;
        return taut_solver_set_elastic(solver, number, &elastic, error);
    }
    if (worn->warp == fabric->warp && worn->weft == fabric->weft &&
        worn->coupling == fabric->coupling && worn->shear == fabric->shear &&
        worn->bending[0] == fabric->bending[0] && worn->bending[1] == fabric->bending[1] &&
        worn->twist == fabric->twist && same_damping(&old_damping, &damping))
        return TAUT_OK;
    const taut_fabric value = {.warp = fabric->warp,
                               .weft = fabric->weft,
                               .coupling = fabric->coupling,
                               .shear = fabric->shear,
                               .bending = {fabric->bending[0], fabric->bending[1]},
                               .twist = fabric->twist,
                               .damping = damping};
    return taut_solver_set_fabric(solver, number, &value, error);
}

static taut_status set_body(taut_solver *solver, size_t number, const struct scene_body *before,
                            const struct scene_body *after, taut_error *error)
{
    taut_status status = TAUT_OK;
    const bool has_moduli = body_has_moduli(after);
    const uint64_t nodes = taut_solver_body_node_count(solver, number);
    if (has_moduli)
        status = set_moduli(solver, number, before, after, error);
    for (size_t m = 0;
         !has_moduli && status == TAUT_OK && m < taut_solver_material_count(solver, number); m++)
        if (material_of(before, m) && material_of(after, m))
            status = set_material(solver, number, m, material_of(before, m), material_of(after, m),
                                  error);
    const double mass = has_moduli ? 0 : node_mass(after, nodes);
    if (status == TAUT_OK && mass > 0 && mass != node_mass(before, nodes))
        status = taut_solver_set_node_mass(solver, number, mass, error);
    const struct scene_pressure *old = &before->pressure, *gas = &after->pressure;
    bool same = old->amount == gas->amount && old->atmosphere == gas->atmosphere &&
                old->gamma == gas->gamma && old->inflate == gas->inflate;
    if (status == TAUT_OK && gas->present && !same)
        status = taut_solver_set_gas(
            solver, number, &(taut_gas){gas->amount, gas->atmosphere, gas->gamma, gas->inflate},
            error);
    return status;
}

static taut_status set_environment(taut_solver *solver, const struct scene_environment *before,
                                   const struct scene_environment *after, taut_error *error)
{
    taut_status status = TAUT_OK;
    const vec3 g = after->gravity;
    if (!same_vector(before->gravity, g))
        status = taut_solver_set_gravity(solver, (double[3]){g.x, g.y, g.z}, error);
    if (status == TAUT_OK && before->air_drag != after->air_drag)
        status = taut_solver_set_air_drag(solver, after->air_drag, error);
    const struct scene_wind *old = &before->wind, *wind = &after->wind;
    bool same = same_vector(old->velocity, wind->velocity) &&
                old->coefficient == wind->coefficient && old->density == wind->density &&
                old->drag == wind->drag;
    if (status == TAUT_OK && wind->present && !same)
        status = taut_solver_set_wind(
            solver,
            &(taut_wind){.velocity = {wind->velocity.x, wind->velocity.y, wind->velocity.z},
                         .coefficient = wind->coefficient,
                         .density = wind->density,
                         .drag = wind->drag},
            error);
    return status;
}

static taut_status set_collider(taut_solver *solver, size_t number,
                                const struct scene_collider *before,
                                const struct scene_collider *after, taut_error *error)
{
    const struct scene_friction *old = &before->coulomb, *coulomb = &after->coulomb;
    if (before->stiffness == after->stiffness && before->friction == after->friction &&
        before->absorption == after->absorption && before->restitution == after->restitution &&
        before->keep == after->keep && old->static_coefficient == coulomb->static_coefficient &&
        old->kinetic_coefficient == coulomb->kinetic_coefficient)
        return TAUT_OK;
    const taut_contact contact = {after->stiffness,
                                  after->friction,
                                  after->absorption,
                                  after->restitution,
                                  after->keep,
                                  coulomb->static_coefficient,
                                  coulomb->kinetic_coefficient};
    return taut_solver_set_contact(solver, number, &contact, error);
}

static taut_status set_all(taut_solver *solver, const taut_scene *before, const taut_scene *after,
                           taut_error *error)
{
    const struct scene_simulation *old = &before->simulation, *simulation = &after->simulation;
    taut_status status = set_environment(solver, &before->environment, &after->environment, error);
    for (size_t b = 0; status == TAUT_OK && b < after->body_count; b++)
        status = set_body(solver, b, &before->bodies[b], &after->bodies[b], error);
    for (size_t c = 0; status == TAUT_OK && c < after->collider_count; c++)
        status = set_collider(solver, c, &before->colliders[c], &after->colliders[c], error);
    bool same_dt =
        old->dt_auto == simulation->dt_auto && (simulation->dt_auto || old->dt == simulation->dt);
    if (status == TAUT_OK && !same_dt) // last, since dt: auto cannot be restored
        status = taut_solver_set_dt(solver, simulation->dt, error);
    return status;
}

taut_status constants_set(taut_solver *solver, const taut_scene *before, const taut_scene *after,
                          taut_error *error)
{
    taut_status status = set_all(solver, before, after, error);
    taut_error ignored = {0};
    if (status != TAUT_OK) // restores the constants that had been set already
        (void)set_all(solver, after, before, &ignored);
    return status;
}

// ---- Visible constants

bool constants_show(const taut_scene *before, const taut_scene *after)
{
    const vec3 old = before->environment.wind.velocity, wind = after->environment.wind.velocity;
    if (!same_vector(before->environment.gravity, after->environment.gravity) ||
        (old.z != 0) != (wind.z != 0))
        return true;
    for (size_t b = 0; b < after->body_count; b++)
        for (size_t m = 0; material_of(&after->bodies[b], m) || m < SPRING_KINDS_MAX; m++) {
            const struct material *one = material_of(&before->bodies[b], m);
            const struct material *other = material_of(&after->bodies[b], m);
            if (one && other && one->stiffness != other->stiffness)
                return true;
        }
    return false;
}

// ---- Cuts

static void mark_numbers(uint8_t *mask, uint64_t length, const uint32_t *numbers, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (numbers[i] < length)
            mask[numbers[i]] = 1;
}

bool cuts_add(const struct solver_cuts *before, const struct request *stroke,
              struct solver_cuts *cuts)
{
    *cuts = (struct solver_cuts){.spring_count = before->spring_count,
                                 .face_count = before->face_count};
    cuts->springs = calloc((size_t)cuts->spring_count + 1, sizeof *cuts->springs);
    cuts->faces = calloc((size_t)cuts->face_count + 1, sizeof *cuts->faces);
    if (!cuts->springs || !cuts->faces) {
        cuts_free(cuts);
        return false;
    }
    if (before->springs) {
        memcpy(cuts->springs, before->springs, (size_t)cuts->spring_count);
        memcpy(cuts->faces, before->faces, (size_t)cuts->face_count);
    }
    mark_numbers(cuts->springs, cuts->spring_count, stroke->springs, stroke->spring_count);
    mark_numbers(cuts->faces, cuts->face_count, stroke->faces, stroke->face_count);
    return true;
}

void cuts_free(struct solver_cuts *cuts)
{
    free(cuts->springs);
    free(cuts->faces);
    *cuts = (struct solver_cuts){0};
}
