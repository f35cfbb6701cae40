// Builds bodies from a scene: first each type's builder, then what all types have in common:
// position, masses, velocities, materials, pins, drives, the checks of a surface. Also has the
// functions that builders share: errors, arrays, placement.
#include "scene/build/build.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/task.h"
#include "parallel/quota.h"

// ---- Errors and arrays

taut_status build_refuse(struct build *build, mark at, const char *format, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    scene_report(build->scene, build->diagnostics, at, "%s", text);
    return TAUT_ERROR_SCENE;
}

void build_warn(struct build *build, mark at, const char *format, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    scene_warn(build->scene, build->diagnostics, at, "%s", text);
}

taut_status build_no_memory(struct build *build)
{
    return fail(build->error, TAUT_ERROR_MEMORY, "out of memory for body '%s'", build->given->name);
}

taut_status build_file_status(struct build *build)
{
    return build->diagnostics->failure == TAUT_ERROR_MEMORY ? build_no_memory(build)
                                                            : TAUT_ERROR_SCENE;
}

bool node_product(uint64_t a, uint64_t b, uint64_t c, uint64_t *product)
{
    // Each factor and the first product fit into 32 bits, so no product overflows.
    if (a > BODY_NODES_MAX || b > BODY_NODES_MAX || c > BODY_NODES_MAX)
        return false;
    if (a * b > BODY_NODES_MAX || a * b * c > BODY_NODES_MAX)
        return false;
    *product = a * b * c;
    return true;
}

// Whether nodes of this type may have their own velocities and masses.
static bool has_own_nodes(enum body_type type)
{
    return type == BODY_NETWORK || type == BODY_OSCILLATOR || type == BODY_PENDULUM;
}

// Whether the velocities of its nodes differ, but for kinematic ones at rest.
static bool has_own_velocities(const struct scene_body *given)
{
    return has_own_nodes(given->type) || given->drive_count > 0;
}

static bool has_formula(enum body_type type)
{
    return type == BODY_ROPE || type == BODY_CLOTH || type == BODY_LATTICE;
}

// Whether positions need a list, which those of a rope, cloth or lattice do only where its springs
// do: such a body may be renumbered.
static bool has_own_positions(enum body_type type, size_t directions)
{
    return directions == 0 || !has_formula(type);
}

// Whether masses need a list: where nodes may differ in mass, and that follows from no formula
// (body_mass).
static bool has_own_masses(const struct scene_body *given, size_t directions)
{
    return has_own_nodes(given->type) ||
           (body_has_moduli(given) && has_own_positions(given->type, directions));
}

static bool allocate_arrays(const struct scene_body *given, struct body *body)
{
    uint64_t n = body->node_count;
    const bool own_masses = has_own_masses(given, body->direction_count);
    const bool own_positions = has_own_positions(given->type, body->direction_count);
    if (own_positions && !body->positions)
        body->positions = memory_allocate(NULL, 3 * n, sizeof *body->positions);
    if (has_own_velocities(given))
        body->velocities = memory_allocate(NULL, 3 * n, sizeof *body->velocities);
    if (own_masses)
        body->masses = memory_allocate(NULL, n, sizeof *body->masses);
    body->kinematic = memory_allocate(NULL, n, sizeof *body->kinematic);
    if (body->direction_count == 0)
        body->springs = memory_allocate(NULL, body->spring_count, sizeof *body->springs);
    else
        body->directions = memory_allocate(NULL, body->direction_count, sizeof *body->directions);
    if (!body->is_sheet && !body->faces)
        body->faces = memory_allocate(NULL, body->face_count * (uint64_t)body->face_arity,
                                      sizeof *body->faces);
    return (body->positions || !own_positions) &&
           (body->velocities || !has_own_velocities(given)) && (body->masses || !own_masses) &&
           body->kinematic && (body->springs || body->directions) &&
           (body->faces || body->is_sheet);
}

double build_bytes(const struct scene_body *given, const struct build_counts *counts)
{
    double springs = 0, doubles = (has_own_positions(given->type, counts->directions) ? 3 : 0) +
                                  (has_own_velocities(given) ? 3 : 0) +
                                  has_own_masses(given, counts->directions);
    for (size_t kind = 0; kind < SPRING_KINDS_MAX; kind++)
        springs += (double)counts->springs[kind];
    double bytes = (double)counts->nodes * (doubles * sizeof(double) + sizeof(uint8_t));
    if (counts->directions == 0)
        bytes += springs * sizeof(uint32_t[2]);
    if (!counts->is_sheet)
        bytes += (double)counts->faces * counts->face_arity * sizeof(uint32_t);
    return bytes;
}

// For smaller bodies, reading the memory limits of the process takes longer than building.
#define BYTES_CHECKED 16e6

taut_status build_allocate(struct build *build, const struct build_counts *counts)
{
    struct body *body = build->body;
    if (counts->nodes > BODY_NODES_MAX)
        return build_refuse(build, build->given->at, "body '%s' has more than %llu nodes",
                            build->given->name, (unsigned long long)BODY_NODES_MAX);
    body->node_count = counts->nodes;
    body->face_count = counts->faces;
    body->face_arity = counts->faces ? counts->face_arity : 0;
    body->is_sheet = counts->is_sheet;
    for (size_t kind = 0; kind < SPRING_KINDS_MAX; kind++)
        body->kind_start[kind + 1] = body->kind_start[kind] + counts->springs[kind];
    body->spring_count = body->kind_start[SPRING_KINDS_MAX];
    body->direction_count = counts->directions;

    double bytes = build_bytes(build->given, counts);
    if (body->positions)
        bytes -= (double)counts->nodes * sizeof(double[3]);
    if (body->faces)
        bytes -= (double)counts->faces * counts->face_arity * sizeof *body->faces;
    struct memory_left left = {INFINITY, MEMORY_UNKNOWN};
    if (bytes > BYTES_CHECKED)
        left = memory_left_to_this_process();
    if (bytes > left.bytes)
        return fail(build->error, TAUT_ERROR_MEMORY,
                    "body '%s' of %llu nodes and %llu springs needs %.3g GiB to build, and this "
                    "process may take %.3g GiB (%s)",
                    build->given->name, (unsigned long long)body->node_count,
                    (unsigned long long)body->spring_count, bytes / 1073741824.0,
                    left.bytes / 1073741824.0, memory_source_text(left.source));
    return allocate_arrays(build->given, body) ? TAUT_OK : build_no_memory(build);
}

// ---- Placement by translate and rotate

vec3 build_position(const struct build *build, vec3 point)
{
    return vec3_add(rotate(&build->rotation, point), build->given->translate);
}

// ---- Bodies

static taut_status (*const builders[BODY_TYPE_COUNT])(struct build *build) = {
    [BODY_ROPE] = build_rope,
    [BODY_CLOTH] = build_cloth,
    [BODY_RING] = build_ring,
    [BODY_QUAD] = build_quad,
    [BODY_SPHERE] = build_sphere,
    [BODY_LATTICE] = build_lattice,
    [BODY_MESH] = build_mesh,
    [BODY_NETWORK] = build_network,
    [BODY_OSCILLATOR] = build_oscillator,
    [BODY_PENDULUM] = build_pendulum};

bool build_is_weighted(const struct scene_body *given)
{
    return body_has_moduli(given) && given->type != BODY_ROPE && !body_is_membrane(given);
}

size_t body_boundary_material(const struct scene_body *given, size_t kind)
{
    return body_kind_count(given) + BOUNDARY_MATERIALS * kind;
}

// Adds the materials of springs on the boundary: their cells are a half and a quarter of those of
// springs inside.
static void set_boundary_materials(struct build *build, size_t kinds)
{
    struct body *body = build->body;
    for (size_t kind = 0; kind < kinds; kind++)
        for (size_t sides = 1; sides <= BOUNDARY_MATERIALS; sides++) {
            struct material material = body->materials[kind];
            material.stiffness *= boundary_share((int)sides);
            material.damping *= boundary_share((int)sides);
            body->materials[body_boundary_material(build->given, kind) + sides - 1] = material;
        }
}

// Kind k has material k. A kind that is not built gets a material that cannot break.
static taut_status set_materials(struct build *build)
{
    const struct scene_body *given = build->given;
    struct body *body = build->body;
    if (given->type == BODY_NETWORK)
        return TAUT_OK;
    const size_t kinds = body_kind_count(given);
    const bool weighted = build_is_weighted(given);
    const size_t materials = weighted ? body_boundary_material(given, kinds) : kinds;
    body->materials = memory_allocate(NULL, materials, sizeof *body->materials);
    if (!body->materials)
        return build_no_memory(build);
    body->material_count = materials;
    bool single = given->type == BODY_OSCILLATOR || given->type == BODY_PENDULUM;
    for (size_t kind = 0; kind < kinds; kind++) {
        if (given->kinds[kind].present)
            body->materials[kind] = given->kinds[kind].material;
        else if (single)
            body->materials[kind] = given->common;
        else
            body->materials[kind] = (struct material){.break_at = INFINITY, .yield_at = INFINITY};
    }
    if (weighted)
        set_boundary_materials(build, kinds);
    return TAUT_OK;
}

static taut_status check_mass(struct build *build, uint64_t node, double mass)
{
    const char *reason = precision_lacks(build->scene->precision, mass, true);
    if (!(mass > 0.0))
        return build_refuse(build, build->given->at,
                            "node %" PRIu64 " of body '%s' has mass %g; it must be above 0", node,
                            build->body->name, mass);
    if (!reason)
        return TAUT_OK;
    return build_refuse(build, build->given->at,
                        "node %" PRIu64 " of body '%s' has mass %g, which %s", node,
                        build->body->name, mass, reason);
}

static void set_masses(struct build *build)
{
    const struct scene_body *given = build->given;
    struct body *body = build->body;
    if (build->has_masses)
        return;
    double mass = given->mass_per_node ? given->node_mass : given->mass / (double)body->node_count;
    body->node_mass = mass;
    for (uint64_t node = 0; body->masses && node < body->node_count; node++)
        body->masses[node] = mass;
}

// Reports a vector of a node that has a component out of range.
static taut_status check_vector(struct build *build, const char *what, uint64_t node, vec3 vector)
{
    const double numbers[3] = {vector.x, vector.y, vector.z};
    for (int axis = 0; axis < 3; axis++) {
        const char *reason = precision_lacks(build->scene->precision, numbers[axis], false);
        if (reason)
            return build_refuse(build, build->given->at,
                                "node %" PRIu64 " of body '%s' has a %s of %g, which %s", node,
                                build->body->name, what, numbers[axis], reason);
    }
    return TAUT_OK;
}

static taut_status set_velocities(struct build *build)
{
    const struct scene_body *given = build->given;
    struct body *body = build->body;
    body->velocity = given->velocity;
    if (!build->has_velocities) {
        // Where only driven nodes move, all others take no memory.
        const double components[3] = {given->velocity.x, given->velocity.y, given->velocity.z};
        const bool rests = are_plus_zero(components);
        const size_t bytes = 3 * (size_t)body->node_count * sizeof *body->velocities;
        if (body->velocities && rests)
            memory_sparse(body->velocities, bytes, 0, bytes);
        for (uint64_t node = 0; body->velocities && !rests && node < body->node_count; node++)
            vec3_store(body->velocities, node, given->velocity);
        return TAUT_OK;
    }
    if (vec3_length(given->velocity) > 0.0)
        return build_refuse(build, given->at,
                            "body '%s' has 'velocity', but its nodes have velocities of their own",
                            given->name);
    taut_status status = TAUT_OK;
    for (uint64_t node = 0; status == TAUT_OK && node < body->node_count; node++)
        status = check_vector(build, "velocity", node, body_velocity(body, node));
    return status;
}

struct body_face body_face(const struct body *body, uint64_t face)
{
    struct body_face result = {{0}};
    if (body->is_sheet) {
        struct sheet_face cell = sheet_face(body->grid[0], face);
        for (int corner = 0; corner < 3; corner++)
            result.nodes[corner] = (uint32_t)cell.nodes[corner];
        return result;
    }
    for (int corner = 0; corner < body->face_arity; corner++)
        result.nodes[corner] = body->faces[face * (uint64_t)body->face_arity + (uint64_t)corner];
    return result;
}

struct spring_ends body_spring(const struct body *body, uint64_t spring)
{
    if (body->springs)
        return (struct spring_ends){body->springs[spring][0], body->springs[spring][1]};
    const struct direction *direction =
        direction_of_spring(body->directions, body->direction_count, spring);
    uint64_t left;
    uint64_t lower = direction_lower(direction, spring - direction->first_spring, &left);
    return (struct spring_ends){(uint32_t)lower, (uint32_t)(lower + (uint64_t)direction->offset)};
}

double body_spring_length(const struct body *body, uint64_t spring)
{
    struct spring_ends ends = body_spring(body, spring);
    return vec3_length(vec3_subtract(body_position(body, ends.a), body_position(body, ends.b)));
}

// Rest lengths missing in a table are the distances as built.
static void set_rest_lengths(struct body *body)
{
    for (uint64_t s = 0; body->rest_lengths && s < body->spring_count; s++)
        if (isnan(body->rest_lengths[s]))
            body->rest_lengths[s] = body_spring_length(body, s);
}

static bool has_limits(const struct body *body)
{
    bool any = false;
    for (size_t m = 0; m < body->material_count; m++)
        any |= material_limit_of_nothing(&body->materials[m], 0) != NULL;
    return any;
}

// Limits are relative to the rest length, which is 0 as built where nodes are at the same position.
// Lengths that are given have been checked where they are read.
static taut_status check_limits(struct build *build)
{
    const struct body *body = build->body;
    if (!body->springs || !has_limits(body))
        return TAUT_OK;
    taut_status status = TAUT_OK;
    for (size_t kind = 0; kind < SPRING_KINDS_MAX; kind++)
        for (uint64_t s = body->kind_start[kind]; s < body->kind_start[kind + 1]; s++) {
            const struct material *material =
                &body->materials[body->spring_materials ? body->spring_materials[s] : kind];
            if (body->rest_lengths ? body->rest_lengths[s] > 0 : material->has_rest_length)
                continue;
            const char *limit = material_limit_of_nothing(material, body_spring_length(body, s));
            const struct spring_ends ends = body_spring(body, s);
            if (limit)
                status = build_refuse(
                    build, build_spring_mark(build, s),
                    "nodes %" PRIu32 " and %" PRIu32 " of body '%s' are at the same place, so that "
                    "the rest length of the spring between them is 0, and '%s' is exceeded at "
                    "once; move one of them, leave out '%s', or give a 'rest_length' above 0",
                    ends.a, ends.b, body->name, limit, limit);
        }
    return status;
}

// Moves the nodes to their positions. Products of valid numbers may still overflow or underflow.
static taut_status place_nodes(struct build *build)
{
    struct body *body = build->body;
    const bool differ = body->masses || body->cell_mass > 0;
    body->formula.rotation = build->rotation;
    body->formula.translate = build->given->translate;
    for (uint64_t node = 0; node < body->node_count; node++) {
        if (task_ends(node))
            return build_no_memory(build);
        const vec3 p = has_formula(body->type) ? body_formula_position(body, node)
                       : build->placed         ? body_position(body, node)
                                               : build_position(build, body_position(body, node));
        if (body->positions)
            vec3_store(body->positions, node, p);
        if (!isfinite(p.x) || !isfinite(p.y) || !isfinite(p.z))
            return build_refuse(build, build->given->at,
                                "node %" PRIu64 " of body '%s' has no finite position", node,
                                body->name);
        if (check_vector(build, "coordinate", node, p) != TAUT_OK)
            return TAUT_ERROR_SCENE;
        if (differ && check_mass(build, node, body_mass(body, node)) != TAUT_OK)
            return TAUT_ERROR_SCENE;
    }
    return differ || body->node_count == 0 ? TAUT_OK : check_mass(build, 0, body->node_mass);
}

static taut_status build_body(struct build *build)
{
    const struct scene_body *given = build->given;
    struct body *body = build->body;
    body->type = given->type;
    body->at = given->at;
    body->pressure = given->pressure;
    body->has_density = body_has_moduli(given);
    body->mass_drag = given->rayleigh_mass;
    body->name = strdup(given->name);
    if (!body->name)
        return build_no_memory(build);

    // Materials first: the builder of an oscillator uses them.
    build->rotation = rotation_make(given->rotate);
    taut_status status = set_materials(build);
    if (status == TAUT_OK)
        status = builders[given->type](build);
    if (status == TAUT_OK && task_is_cancelled())
        status = build_no_memory(build);
    if (status != TAUT_OK)
        return status;

    set_masses(build);
    status = place_nodes(build);
    if (status == TAUT_OK) {
        set_rest_lengths(body);
        status = check_limits(build);
    }
    if (status == TAUT_OK)
        status = build_elements(build);
    if (status == TAUT_OK)
        status = set_velocities(build);
    if (status != TAUT_OK)
        return status;

    // Both are checked, so that the errors of both are reported.
    taut_status pinned = pin_and_drive_nodes(build);
    status = check_enclosure(build);
    if (pinned == TAUT_OK && status == TAUT_OK)
        warn_of_wide_cells(build);
    return pinned != TAUT_OK ? pinned : status;
}

taut_status bodies_build(const taut_scene *scene, struct bodies *bodies,
                         struct diagnostics *diagnostics, taut_error *error)
{
    return bodies_build_each(scene, NULL, NULL, bodies, diagnostics, error);
}

taut_status body_build_again(const taut_scene *scene, size_t index, struct body *body,
                             taut_error *error)
{
    struct diagnostics found = {0};
    struct build build = {.scene = scene,
                          .given = &scene->bodies[index],
                          .body = body,
                          .diagnostics = &found,
                          .error = error};
    *body = (struct body){.node_count = 0};
    const taut_status status = build_body(&build);
    if (status == TAUT_ERROR_SCENE)
        fail(error, status, "body '%s' can no longer be built: %s", scene->bodies[index].name,
             found.count > 0 ? found.items[0].text : "its files have changed");
    diagnostics_free(&found);
    return status;
}

taut_status bodies_build_each(const taut_scene *scene, body_built *built, void *context,
                              struct bodies *bodies, struct diagnostics *diagnostics,
                              taut_error *error)
{
    size_t errors_before = diagnostics->error_count;
    *bodies = (struct bodies){0};
    bodies->items = memory_allocate(NULL, scene->body_count, sizeof *bodies->items);
    if (!bodies->items)
        return fail_memory(error, "the bodies");
    bodies->count = scene->body_count;
    taut_status status = TAUT_OK;
    for (size_t i = 0; i < scene->body_count && status != TAUT_ERROR_MEMORY; i++) {
        struct build build = {.scene = scene,
                              .given = &scene->bodies[i],
                              .body = &bodies->items[i],
                              .diagnostics = diagnostics,
                              .error = error};
        taut_status own = build_body(&build);
        status = own != TAUT_OK ? own : status;
        if (status == TAUT_OK && built)
            built(context, i, &bodies->items[i]);
    }
    if (status != TAUT_ERROR_MEMORY) {
        const struct build build = {.scene = scene, .diagnostics = diagnostics, .error = error};
        const taut_status own = build_colliders(&build, bodies);
        status = own != TAUT_OK ? own : status;
    }
    if (status == TAUT_OK && scene->initial)
        return initial_read(scene, bodies, diagnostics, error);
    if (status == TAUT_ERROR_SCENE) {
        size_t errors = diagnostics->error_count - errors_before;
        fail(error, status, "%s: %zu %s in the bodies of the scene", scene->file, errors,
             errors == 1 ? "error" : "errors");
    }
    return status;
}

// Lists a vector of each node, unless there is a list; NULL without memory.
static double *listed(const struct body *body, double *list,
                      vec3 (*vector_of)(const struct body *body, uint64_t node))
{
    if (list)
        return list;
    list = memory_allocate(NULL, 3 * body->node_count, sizeof *list);
    for (uint64_t node = 0; list && node < body->node_count; node++)
        vec3_store(list, node, vector_of(body, node));
    return list;
}

bool body_list_positions(struct body *body)
{
    body->positions = listed(body, body->positions, body_position);
    return body->positions;
}

bool body_list_velocities(struct body *body)
{
    body->velocities = listed(body, body->velocities, body_velocity);
    return body->velocities;
}

// Bytes of a list; 0 if there is none.
static uint64_t release_list(void *list, uint64_t count, size_t size)
{
    memory_release(NULL, list, (size_t)count, size);
    return list ? count * size : 0;
}

uint64_t body_release_lists(struct body *body)
{
    const uint64_t springs = body->spring_count;
    const uint64_t corners = body->face_count * (uint64_t)body->face_arity;
    const uint64_t bytes =
        release_list(body->node_order, body->node_count, sizeof *body->node_order) +
        release_list(body->springs, springs, sizeof *body->springs) +
        release_list(body->spring_order, springs, sizeof *body->spring_order) +
        release_list(body->spring_materials, springs, sizeof *body->spring_materials) +
        release_list(body->rest_lengths, springs, sizeof *body->rest_lengths) +
        release_list(body->faces, corners, sizeof *body->faces);
    body->node_order = body->spring_order = body->spring_materials = body->faces = NULL;
    body->springs = NULL;
    body->rest_lengths = NULL;
    return bytes;
}

static void find_box(struct body *body)
{
    for (uint64_t node = 0; node < body->node_count; node++) {
        const vec3 at = body_position(body, node);
        vec3 least = node == 0 ? at : body->least, most = node == 0 ? at : body->most;
        least.x = at.x < least.x ? at.x : least.x;
        least.y = at.y < least.y ? at.y : least.y;
        least.z = at.z < least.z ? at.z : least.z;
        most.x = at.x > most.x ? at.x : most.x;
        most.y = at.y > most.y ? at.y : most.y;
        most.z = at.z > most.z ? at.z : most.z;
        body->least = least;
        body->most = most;
    }
}

// Arrays of nodes but `kinematic`.
static uint64_t release_nodes(struct body *body)
{
    const uint64_t nodes = body->node_count;
    const uint64_t bytes = release_list(body->positions, 3 * nodes, sizeof *body->positions) +
                           release_list(body->initial, 3 * nodes, sizeof *body->initial) +
                           release_list(body->velocities, 3 * nodes, sizeof *body->velocities) +
                           release_list(body->masses, nodes, sizeof *body->masses);
    body->positions = body->initial = body->velocities = body->masses = NULL;
    return bytes;
}

uint64_t body_release_nodes(struct body *body)
{
    find_box(body);
    body->has_no_nodes = true;
    return release_nodes(body);
}

uint64_t body_shed(struct body *body)
{
    const uint64_t bytes = body_release_nodes(body) + body_release_lists(body);
    body->is_shed = true;
    return bytes;
}

// Returns how many bytes its arrays of nodes and lists were.
static uint64_t free_body(struct body *body)
{
    const uint64_t nodes = body->node_count;
    for (size_t i = 0; i < body->motion_count; i++)
        memory_release(NULL, (void *)body->motions[i].pieces, body->motions[i].piece_count,
                       sizeof *body->motions[i].pieces);
    free(body->name);
    memory_release(NULL, body->motions, body->motion_count, sizeof *body->motions);
    memory_release(NULL, body->directions, body->direction_count, sizeof *body->directions);
    memory_release(NULL, body->materials, body->material_count, sizeof *body->materials);
    return body_release_lists(body) + release_nodes(body) +
           release_list(body->kinematic, nodes, sizeof *body->kinematic);
}

void body_free(struct body *body)
{
    (void)free_body(body);
    *body = (struct body){.node_count = 0};
}

void bodies_free(struct bodies *bodies)
{
    enum { BYTES_KEPT = 1 << 24 }; // for smaller bodies it is not worth the time
    uint64_t bytes = 0;
    if (!bodies)
        return;
    for (size_t i = 0; i < bodies->count; i++)
        bytes += free_body(&bodies->items[i]);
    memory_release(NULL, bodies->items, bodies->count, sizeof *bodies->items);
    free_colliders(bodies);
    *bodies = (struct bodies){0};
    if (bytes > BYTES_KEPT)
        memory_trim();
}
