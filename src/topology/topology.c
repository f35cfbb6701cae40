// Compiles bodies into the topology, and looks up the body of a node and the ends of a spring.
#include "topology/topology.h"

#include <string.h>

#include "base/memory.h"
#include "base/sort.h"
#include "scene/collider_pose.h"

// ---- Making

// All arrays with their lengths, listed once: allocation, release and byte count follow this list.
#define TOPOLOGY_ARRAYS(X)                                                                         \
    X(bodies, body_count)                                                                          \
    X(builder_nodes, renumbered_count)                                                             \
    X(internal_nodes, renumbered_count)                                                            \
    X(built, built_count)                                                                          \
    X(masses, mass_count)                                                                          \
    X(kinematic, kinematic_count)                                                                  \
    X(directions, direction_count)                                                                 \
    X(springs, listed_count)                                                                       \
    X(spring_material, mixed_count)                                                                \
    X(rest_double, double_count)                                                                   \
    X(rest_single, single_count)                                                                   \
    X(builder_springs, sorted_count)                                                               \
    X(faces, listed_face_count)                                                                    \
    X(membrane_nodes, membrane_node_count)                                                         \
    X(moduli, moduli_count)                                                                        \
    X(materials, material_count)                                                                   \
    X(motions, motion_count)                                                                       \
    X(drive_pieces, drive_piece_count)                                                             \
    X(colliders, collider_count)                                                                   \
    X(mesh_colliders, mesh_collider_count)                                                         \
    X(collider_points, collider_node_count)                                                        \
    X(collider_faces, collider_face_count)                                                         \
    X(keyframes, keyframe_count)                                                                   \
    X(keyframe_speeds, keyframe_count)                                                             \
    X(gusts, environment.wind.gust_count)

// Whether all springs that a body lists have the same material, which is then *material.
static bool lists_one_material(const struct body *body, size_t *material)
{
    uint64_t found = 0; // springs seen so far
    for (size_t kind = 0; kind < SPRING_KINDS_MAX; kind++) {
        for (uint64_t i = body->kind_start[kind]; i < body->kind_start[kind + 1]; i++) {
            size_t own = body->spring_materials ? body->spring_materials[i] : kind;
            if (found == 0)
                *material = own;
            if (own != *material)
                return false;
            found++;
        }
    }
    return true;
}

// The same for all bodies.
static void find_one_material(struct topology *topology, const struct bodies *bodies)
{
    size_t first_material = 0, own = 0;
    int listing = 0; // bodies that list springs
    bool one = true;
    for (size_t i = 0; i < bodies->count && one; i++) {
        const struct body *body = &bodies->items[i];
        if (!body->direction_count && body->spring_count > 0) {
            one = lists_one_material(body, &own) && ++listing == 1;
            topology->one_material = (uint32_t)(first_material + own);
        }
        first_material += body->material_count;
    }
    topology->mixed_count = one ? 0 : topology->listed_count;
}

static void count_all(struct topology *topology, const taut_scene *scene,
                      const struct bodies *bodies)
{
    bool any_sorted = false;
    uint64_t end_renumbered = 0;
    topology->body_count = bodies->count;
    topology->collider_count = scene->collider_count;
    topology->environment = scene->environment;
    topology->has_contact = scene->contact.present;

    for (size_t i = 0; i < bodies->count; i++) {
        const struct body *body = &bodies->items[i];
        const bool renumbered = body->node_order || body->is_shed; // or may be, when built again
        if (renumbered && end_renumbered == 0)
            topology->first_renumbered = topology->node_count;
        topology->node_count += body->node_count;
        end_renumbered = renumbered ? topology->node_count : end_renumbered;
        topology->built_count += topology->has_contact ? body->node_count : 0;
        topology->mass_count += body->masses ? body->node_count : 0;
        for (uint64_t node = 0; node < body->node_count; node++)
            topology->kinematic_count += body->kinematic[node];
        topology->spring_count += body->spring_count;
        topology->direction_count += body->direction_count;
        topology->listed_count += body->direction_count ? 0 : body->spring_count;
        topology->face_count += body->face_count;
        topology->listed_face_count += body->is_sheet ? 0 : body->face_count;
        if (elements_are_membrane(&body->elements)) {
            topology->triangle_count += body->face_count;
            topology->membrane_node_count += body->node_count;
        }
        topology->moduli_count += body_has_moduli(&scene->bodies[i]);
        topology->material_count += body->material_count;
        topology->motion_count += body->motion_count;
        any_sorted |= body->spring_order || body->is_shed;
        for (size_t m = 0; m < body->motion_count; m++)
            topology->drive_piece_count += body->motions[m].piece_count;
    }

    topology->mesh_collider_count = bodies->collider_count;
    for (size_t i = 0; i < bodies->collider_count; i++) {
        const struct collider_mesh *mesh = &bodies->colliders[i];
        topology->collider_node_count += mesh->node_count;
        topology->collider_face_count += mesh->face_count;
        topology->keyframe_count += scene->colliders[mesh->collider].motion.keyframe_count;
    }
    topology->built_count += topology->has_contact ? topology->collider_node_count : 0;

    find_one_material(topology, bodies);
    bool single = scene->precision != PRECISION_DOUBLE;
    topology->single_count = single ? topology->listed_count : 0;
    topology->double_count = single ? 0 : topology->listed_count;

    topology->renumbered_count = end_renumbered - topology->first_renumbered;
    if (any_sorted)
        topology->sorted_count = topology->listed_count;
}

static bool allocate_all(struct topology *topology)
{
#define ALLOCATE(name, count)                                                                      \
    topology->name =                                                                               \
        memory_allocate(topology->allocator, (size_t)topology->count, sizeof *topology->name);     \
    if (!topology->name)                                                                           \
        return false;
    TOPOLOGY_ARRAYS(ALLOCATE)
#undef ALLOCATE
    return true;
}

static char *copy_name(const taut_allocator *allocator, const char *name)
{
    size_t size = strlen(name) + 1;
    char *copy = memory_allocate(allocator, size, 1);
    if (copy)
        memcpy(copy, name, size);
    return copy;
}

static void cook_listed(struct topology *topology, const struct topology_body *cooked,
                        const struct body *body, size_t first_material)
{
    for (size_t kind = 0; kind < SPRING_KINDS_MAX; kind++) {
        for (uint64_t i = body->kind_start[kind]; i < body->kind_start[kind + 1]; i++) {
            uint64_t s = cooked->first_listed + i;
            size_t own = body->spring_materials ? body->spring_materials[i] : kind;
            const struct material *material = &body->materials[own];
            topology->springs[s][0] = (uint32_t)(cooked->first_node + body->springs[i][0]);
            topology->springs[s][1] = (uint32_t)(cooked->first_node + body->springs[i][1]);
            if (topology->mixed_count)
                topology->spring_material[s] = (uint32_t)(first_material + own);
            if (topology->sorted_count)
                topology->builder_springs[s] =
                    body->spring_order ? body->spring_order[i] : (uint32_t)i;
            double rest = body->rest_lengths          ? body->rest_lengths[i]
                          : material->has_rest_length ? material->rest_length
                                                      : body_spring_length(body, i);
            if (topology->single_count)
                topology->rest_single[s] = (float)rest;
            else
                topology->rest_double[s] = rest;
        }
    }
}

// Builders place the nodes of a grid evenly, so all springs of a direction have the same length but
// for round-off; the length of the first one is the rest length of all.
static void cook_directions(struct topology *topology, const struct topology_body *cooked,
                            const struct body *body, size_t first_material)
{
    for (size_t d = 0; d < body->direction_count; d++) {
        struct direction direction = body->directions[d];
        const struct material *material = &body->materials[direction.material];
        direction.material += (uint32_t)first_material;
        direction.boundary_material += (uint32_t)first_material;
        direction.rest_length = material->has_rest_length
                                    ? material->rest_length
                                    : body_spring_length(body, direction.first_spring);
        topology->directions[cooked->first_direction + d] = direction;
    }
}

// Builder and internal numbers of a body's nodes, counted over all bodies.
static void cook_numbers(struct topology *topology, uint64_t first_node, const struct body *body)
{
    const uint64_t first = topology->first_renumbered, begin = first_node - first;
    if (first_node < first || begin >= topology->renumbered_count)
        return;
    for (uint64_t i = 0; i < body->node_count; i++) {
        const uint64_t outside = begin + (body->node_order ? body->node_order[i] : i);
        topology->builder_nodes[begin + i] = (uint32_t)(first + outside);
        topology->internal_nodes[outside] = (uint32_t)(first_node + i);
    }
}

static void cook_faces(struct topology *topology, const struct topology_body *cooked,
                       const struct body *body)
{
    for (uint64_t i = 0; !body->is_sheet && i < body->face_count; i++) {
        const uint32_t *nodes = body->faces + i * (size_t)body->face_arity;
        uint32_t *face = topology->faces[cooked->first_listed_face + i];
        for (int corner = 0; corner < 3; corner++)
            face[corner] = corner < body->face_arity
                               ? (uint32_t)(cooked->first_node + nodes[corner])
                               : FACE_EDGE;
    }
}

static void copy_positions(const struct body *body, double (*to)[3])
{
    for (uint64_t node = 0; node < body->node_count; node++) {
        const vec3 position = body_position(body, node);
        to[node][0] = position.x;
        to[node][1] = position.y;
        to[node][2] = position.z;
    }
}

// Where the next body's part of each array begins.
struct cursor {
    uint64_t node, kinematic, mass, spring, listed, face, listed_face, triangle, membrane_node;
    size_t direction, material, motion, piece, moduli;
};

static void cook_motions(struct topology *topology, const struct body *body, struct cursor *at)
{
    for (size_t m = 0; m < body->motion_count; m++) {
        struct motion *motion = &topology->motions[at->motion++];
        *motion = body->motions[m];
        motion->node += (uint32_t)at->node;
        if (motion->piece_count)
            memcpy(topology->drive_pieces + at->piece, motion->pieces,
                   motion->piece_count * sizeof *motion->pieces);
        motion->pieces = topology->drive_pieces + at->piece;
        at->piece += motion->piece_count;
    }
}

static struct node_masses masses_of(const struct topology *topology,
                                    const struct topology_body *body, uint64_t node, uint64_t end)
{
    const uint64_t body_end = body->first_node + body->node_count, inside = node - body->first_node;
    struct node_masses masses = {.first = node,
                                 .end = min_u64(end, body_end),
                                 .ends = {UINT64_MAX, UINT64_MAX},
                                 .each = body->node_mass,
                                 .mass_drag = body->mass_drag};
    if (body->cell_mass > 0) {
        const uint64_t *const grid = body->grid, row = inside / grid[0];
        const int sides = is_on_side(row % grid[1], grid[1]) + is_on_side(row / grid[1], grid[2]);
        const uint64_t last = body->first_node + row * grid[0] + grid[0] - 1;
        masses.end = min_u64(end, last + 1);
        masses.each = body->cell_mass * boundary_share(sides);
        if (grid[0] > 1) {
            masses.ends[0] = last + 1 - grid[0];
            masses.ends[1] = last;
            masses.side = body->cell_mass * boundary_share(sides + 1);
        }
    } else if (body->node_mass == 0) {
        masses.listed = topology->masses + body->first_mass + inside;
    }
    return masses;
}

static void cook_nodes(struct topology *topology, struct topology_body *cooked,
                       const struct body *body, struct cursor *at)
{
    for (uint64_t i = 0; i < body->node_count; i++)
        if (body->kinematic[i])
            topology->kinematic[at->kinematic++] = (uint32_t)(cooked->first_node + i);
    for (uint64_t i = 0; body->masses && i < body->node_count; i++)
        topology->masses[cooked->first_mass + i] = body->masses[i];
    if (cooked->node_mass > 0)
        return;
    cooked->mass = 0;
    const uint64_t end = cooked->first_node + cooked->node_count;
    for (uint64_t node = cooked->first_node; node < end;) {
        const struct node_masses masses = masses_of(topology, cooked, node, end);
        for (; node < masses.end; node++)
            cooked->mass += mass_in(&masses, node);
    }
}

// Numbers alone: everything else belongs to the scene.
static struct scene_body *cook_moduli(struct topology *topology, const struct scene_body *given,
                                      struct cursor *at)
{
    if (!body_has_moduli(given))
        return NULL;
    struct scene_body *moduli = &topology->moduli[at->moduli++];
    *moduli = *given;
    moduli->name = NULL;
    moduli->pins = NULL;
    moduli->drives = NULL;
    moduli->pin_count = moduli->drive_count = 0;
    if (moduli->type == BODY_MESH)
        moduli->shape.mesh.path = NULL;
    return moduli;
}

// Frees the lists of a body's springs, before faces take memory in the topology.
static uint64_t release_springs(struct body *body)
{
    uint32_t *const faces = body->faces, *const order = body->node_order;
    body->faces = body->node_order = NULL;
    const uint64_t bytes = body_release_lists(body);
    body->faces = faces;
    body->node_order = order;
    return bytes;
}

// *released: grows by the bytes of lists of the body that have been freed.
static bool cook_body(struct topology *topology, size_t index, const struct scene_body *given,
                      struct body *body, struct cursor *at, uint64_t *released)
{
    struct topology_body *cooked = &topology->bodies[index];
    *cooked = (struct topology_body){
        .name = copy_name(topology->allocator, body->name),
        .type = body->type,
        .at = body->at,
        .first_node = at->node,
        .node_count = body->node_count,
        .first_spring = at->spring,
        .spring_count = body->spring_count,
        .first_direction = at->direction,
        .direction_count = body->direction_count,
        .first_listed = at->listed,
        .first_material = at->material,
        .material_count = body->material_count,
        .first_face = at->face,
        .face_count = body->face_count,
        .is_sheet = body->is_sheet,
        .first_listed_face = at->listed_face,
        .face_arity = body->face_arity,
        .closed = body->closed,
        .pressure = body->pressure,
        .grid = {body->grid[0], body->grid[1], body->grid[2]},
        .elements = body->elements,
        .moduli = cook_moduli(topology, given, at),
        .first_triangle = at->triangle,
        .first_membrane_node = at->membrane_node,
        .is_cut_grid = body->is_cut_grid,
        .mass = (double)body->node_count * body->node_mass,
        .node_mass = body->masses || body->cell_mass > 0 ? 0 : body->node_mass,
        .cell_mass = body->masses ? 0 : body->cell_mass,
        .first_mass = at->mass,
        .has_density = body->has_density,
        .mass_drag = body->mass_drag,
    };
    if (!cooked->name)
        return false;
    topology->any_mass_drag |= body->mass_drag > 0;

    memcpy(cooked->kind_start, body->kind_start, sizeof cooked->kind_start);
    cook_nodes(topology, cooked, body, at);
    for (size_t i = 0; i < body->material_count; i++) {
        const struct material *material = &body->materials[i];
        topology->materials[at->material + i] = *material;
        if (material->law == LAW_RIGID) // its force does not depend on its length
            topology->materials[at->material + i].stiffness = 0;
        topology->any_breaks |= isfinite(material->break_at);
        topology->any_yields |= isfinite(material->yield_at);
    }

    if (body->direction_count)
        cook_directions(topology, cooked, body, at->material);
    else if (!body->is_shed)
        cook_listed(topology, cooked, body, at->material);
    *released += release_springs(body);
    cook_numbers(topology, at->node, body);
    if (body->is_shed)
        topology_forget_lists(topology, index, true);
    else
        cook_faces(topology, cooked, body);
    if (elements_are_membrane(&body->elements))
        copy_positions(body, topology->membrane_nodes + cooked->first_membrane_node);
    cook_motions(topology, body, at);

    // The next body begins after this one.
    at->node += body->node_count;
    at->mass += body->masses ? body->node_count : 0;
    at->spring += body->spring_count;
    at->listed += body->direction_count ? 0 : body->spring_count;
    at->direction += body->direction_count;
    at->face += body->face_count;
    at->listed_face += body->is_sheet ? 0 : body->face_count;
    if (elements_are_membrane(&body->elements)) {
        at->triangle += body->face_count;
        at->membrane_node += body->node_count;
    }
    at->material += body->material_count;
    return true;
}

// Copies the meshes of colliders, and where their points are at time 0.
static void cook_colliders(struct topology *topology, const taut_scene *scene,
                           const struct bodies *bodies)
{
    uint64_t node = 0, face = 0;
    size_t keyframe = 0;
    double *speeds = topology->keyframe_speeds;
    for (size_t c = 0; c < scene->collider_count; c++) {
        struct scene_collider *it = &topology->colliders[c];
        struct scene_collider_motion *motion = &it->motion;
        *it = scene->colliders[c];
        it->mesh.path = NULL;
        if (motion->keyframe_count > 0)
            memcpy(topology->keyframes + keyframe, motion->keyframes,
                   motion->keyframe_count * sizeof *motion->keyframes);
        motion->keyframes = motion->keyframe_count > 0 ? topology->keyframes + keyframe : NULL;
        keyframe += motion->keyframe_count;
    }
    for (size_t m = 0; m < bodies->collider_count; m++) {
        const struct collider_mesh *mesh = &bodies->colliders[m];
        struct topology_collider *to = &topology->mesh_colliders[m];
        const struct scene_collider *it = &topology->colliders[mesh->collider];
        const struct collider_pose start = collider_pose_at(it, 0, 0);
        *to = (struct topology_collider){mesh->collider,   topology->node_count + node,
                                         mesh->node_count, face,
                                         mesh->face_count, 0,
                                         {0, speeds}};
        collider_find_speeds(it, mesh->points, mesh->node_count, &to->speeds);
        speeds += it->motion.keyframe_count;
        for (uint64_t i = 0; i < mesh->node_count; i++, node++) {
            const double *p = mesh->points + 3 * i;
            const vec3 point = vec3_make(p[0], p[1], p[2]), at = collider_point(&start, point);
            memcpy(topology->collider_points[node], p, 3 * sizeof *p);
            to->radius = fmax(to->radius, vec3_length(point));
            if (!topology->built_count)
                continue;
            double *built = topology->built[topology->node_count + node];
            built[0] = at.x;
            built[1] = at.y;
            built[2] = at.z;
        }
        for (uint64_t i = 0; i < mesh->face_count; i++, face++)
            for (int corner = 0; corner < 3; corner++)
                topology->collider_faces[face][corner] =
                    (uint32_t)(to->first_node + mesh->faces[3 * i + (uint64_t)corner]);
    }
}

static void cook_built(struct topology *topology, const struct bodies *bodies)
{
    double(*built)[3] = topology->built;
    for (size_t b = 0; b < bodies->count; b++) {
        copy_positions(&bodies->items[b], built);
        built += bodies->items[b].node_count;
    }
}

static bool cook_all(struct topology *topology, const taut_scene *scene, struct bodies *bodies)
{
    enum { BYTES_KEPT = 1 << 24 }; // of lists of bodies that have been freed
    struct cursor at = {0};
    uint64_t bytes = 0;
    for (size_t i = 0; i < bodies->count; i++) {
        if (!cook_body(topology, i, &scene->bodies[i], &bodies->items[i], &at, &bytes))
            return false;
        bytes += body_release_lists(&bodies->items[i]);
        if (bytes > BYTES_KEPT) {
            memory_trim();
            bytes = 0;
        }
    }
    if (topology->built_count)
        cook_built(topology, bodies);
    cook_colliders(topology, scene, bodies);
    struct scene_wind *wind = &topology->environment.wind;
    if (wind->gust_count)
        memcpy(topology->gusts, scene->environment.wind.gusts,
               wind->gust_count * sizeof *topology->gusts);
    wind->gusts = topology->gusts;
    return true;
}

taut_status topology_cook(const taut_scene *scene, struct bodies *bodies,
                          const taut_allocator *allocator, struct topology **result,
                          taut_error *error)
{
    *result = NULL;
    struct topology *topology = memory_allocate(allocator, 1, sizeof *topology);
    if (!topology)
        return fail_memory(error, "the topology");
    topology->allocator = allocator;
    count_all(topology, scene, bodies);
    if (topology->node_count + topology->collider_node_count >= UINT32_MAX) {
        uint64_t nodes = topology->node_count + topology->collider_node_count;
        memory_release(allocator, topology, 1, sizeof *topology);
        return fail(error, TAUT_ERROR_UNSUPPORTED,
                    "%llu nodes in one scene; at most %lu can be numbered",
                    (unsigned long long)nodes, (unsigned long)UINT32_MAX - 1);
    }
    if (!allocate_all(topology) || !cook_all(topology, scene, bodies)) {
        topology_free(topology);
        return fail_memory(error, "the topology");
    }
    *result = topology;
    return TAUT_OK;
}

void topology_free(struct topology *topology)
{
    if (!topology)
        return;
    if (topology->bodies)
        for (size_t i = 0; i < topology->body_count; i++) {
            char *name = topology->bodies[i].name;
            memory_release(topology->allocator, name, name ? strlen(name) + 1 : 0, 1);
        }
#define RELEASE(name, count)                                                                       \
    memory_release(topology->allocator, topology->name, (size_t)topology->count,                   \
                   sizeof *topology->name);
    TOPOLOGY_ARRAYS(RELEASE)
#undef RELEASE
    memory_release(topology->allocator, topology, 1, sizeof *topology);
}

// ---- Lists of bodies of other ranks

// An array of a list that all bodies have a part of.
struct whole_list {
    void *items;
    uint64_t count, first, own; // items, and of the body
    size_t size;
    bool of_faces;
};

static struct whole_list whole_list(const struct topology *topology,
                                    const struct topology_body *body, int list)
{
    const uint64_t springs = body->direction_count ? 0 : body->spring_count;
    const uint64_t faces = body->is_sheet ? 0 : body->face_count, first = body->first_listed;
    const struct whole_list all[TOPOLOGY_LISTS] = {
        {topology->springs, topology->listed_count, first, springs, sizeof *topology->springs,
         false},
        {topology->spring_material, topology->mixed_count, first, springs,
         sizeof *topology->spring_material, false},
        {topology->rest_double, topology->double_count, first, springs,
         sizeof *topology->rest_double, false},
        {topology->rest_single, topology->single_count, first, springs,
         sizeof *topology->rest_single, false},
        {topology->builder_springs, topology->sorted_count, first, springs,
         sizeof *topology->builder_springs, false},
        {topology->faces, topology->listed_face_count, body->first_listed_face, faces,
         sizeof *topology->faces, true}};
    return all[list];
}

struct topology_list topology_list_of(const struct topology *topology, size_t body, int list)
{
    const struct whole_list it = whole_list(topology, &topology->bodies[body], list);
    if (it.count == 0 || it.own == 0)
        return (struct topology_list){NULL, 0};
    return (struct topology_list){(char *)it.items + it.first * it.size,
                                  (size_t)(it.own * it.size)};
}

typedef void change_memory(const taut_allocator *allocator, void *block, size_t bytes, size_t first,
                           size_t end);

static void change_list(const struct topology *topology, const struct topology_body *body, int list,
                        change_memory *change)
{
    const struct whole_list it = whole_list(topology, body, list);
    if (it.count > 0 && it.own > 0)
        change(topology->allocator, it.items, (size_t)(it.count * it.size),
               (size_t)(it.first * it.size), (size_t)((it.first + it.own) * it.size));
}

void topology_forget_lists(struct topology *topology, size_t body, bool faces)
{
    struct topology_body *it = &topology->bodies[body];
    const bool springs = it->direction_count == 0 && !it->springs_absent;
    faces &= !it->is_sheet && !it->faces_absent;
    for (int list = 0; list < TOPOLOGY_LISTS; list++)
        if (whole_list(topology, it, list).of_faces ? faces : springs)
            change_list(topology, it, list, memory_forget);
    it->springs_absent |= springs;
    it->faces_absent |= faces;
}

void topology_recall_lists(struct topology *topology, size_t body)
{
    struct topology_body *it = &topology->bodies[body];
    for (int list = 0; list < TOPOLOGY_LISTS; list++)
        if (whole_list(topology, it, list).of_faces ? it->faces_absent : it->springs_absent)
            change_list(topology, it, list, memory_recall);
    it->springs_absent = it->faces_absent = false;
}

static size_t membrane_bytes(const struct topology *topology, uint64_t nodes)
{
    return (size_t)nodes * sizeof *topology->membrane_nodes;
}

uint64_t topology_membrane_index(const struct topology *topology, uint64_t node)
{
    uint64_t index = 0;
    for (size_t b = 0; b < topology->body_count && topology->bodies[b].first_node < node; b++) {
        const struct topology_body *body = &topology->bodies[b];
        if (elements_are_membrane(&body->elements))
            index = body->first_membrane_node + min_u64(node - body->first_node, body->node_count);
    }
    return index;
}

void topology_forget_membranes(struct topology *topology, uint64_t first, uint64_t end)
{
    const size_t bytes = membrane_bytes(topology, topology->membrane_node_count);
    const uint64_t kept = topology_membrane_index(topology, first);
    const uint64_t kept_end = max_u64(kept, topology_membrane_index(topology, end));
    memory_forget(topology->allocator, topology->membrane_nodes, bytes, 0,
                  membrane_bytes(topology, kept));
    memory_forget(topology->allocator, topology->membrane_nodes, bytes,
                  membrane_bytes(topology, kept_end), bytes);
}

void topology_recall_membranes(struct topology *topology)
{
    const size_t bytes = membrane_bytes(topology, topology->membrane_node_count);
    memory_recall(topology->allocator, topology->membrane_nodes, bytes, 0, bytes);
}

void topology_cook_lists(struct topology *topology, size_t body, const struct body *built)
{
    const struct topology_body *it = &topology->bodies[body];
    topology_recall_lists(topology, body);
    cook_listed(topology, it, built, it->first_material);
    cook_numbers(topology, it->first_node, built);
    cook_faces(topology, it, built);
}

uint32_t topology_absent_material(const struct topology_body *body, uint64_t spring)
{
    size_t kind = 0;
    while (kind + 1 < SPRING_KINDS_MAX && spring >= body->kind_start[kind + 1])
        kind++;
    return (uint32_t)(body->first_material + kind);
}

uint64_t topology_bytes(const struct topology *topology)
{
    uint64_t bytes = sizeof *topology;
#define ADD_BYTES(name, count) bytes += (uint64_t)topology->count * sizeof *topology->name;
    TOPOLOGY_ARRAYS(ADD_BYTES)
#undef ADD_BYTES
    for (size_t b = 0; b < topology->body_count; b++)
        for (int list = 0; list < TOPOLOGY_LISTS; list++) {
            const struct topology_body *body = &topology->bodies[b];
            const struct whole_list it = whole_list(topology, body, list);
            if ((it.of_faces ? body->faces_absent : body->springs_absent) && it.count > 0)
                bytes -= it.own * it.size;
        }
    return bytes;
}

// ---- Lookup

size_t topology_body_of_node(const struct topology *topology, uint64_t node)
{
    return find_interval(&topology->bodies->first_node, sizeof *topology->bodies,
                         topology->body_count, node);
}

bool topology_is_kinematic(const struct topology *topology, uint64_t node)
{
    size_t count = (size_t)topology->kinematic_count;
    size_t index = lower_bound(topology->kinematic, count, node);
    return index < count && topology->kinematic[index] == node;
}

struct node_masses topology_masses(const struct topology *topology, uint64_t node, uint64_t end)
{
    const size_t body = topology_body_of_node(topology, node);
    return masses_of(topology, &topology->bodies[body], node, end);
}

double topology_wind_speed(const struct topology *topology)
{
    const struct scene_wind *wind = &topology->environment.wind;
    double speed = vec3_length(wind->velocity);
    for (size_t i = 0; i < wind->gust_count; i++)
        speed += vec3_length(wind->gusts[i].amplitude);
    return speed;
}

void topology_set_node_mass(struct topology *topology, size_t body, double mass)
{
    struct topology_body *it = &topology->bodies[body];
    const bool lists = it->node_mass == 0 && it->cell_mass == 0;
    it->cell_mass = 0;
    it->node_mass = lists ? 0 : mass;
    it->mass = lists ? 0 : (double)it->node_count * mass;
    for (uint64_t i = 0; lists && i < it->node_count; i++) {
        topology->masses[it->first_mass + i] = mass;
        it->mass += mass;
    }
    it->mass_set = mass;
}

void topology_set_moduli(struct topology *topology, size_t body, const struct scene_body *moduli)
{
    struct topology_body *it = &topology->bodies[body];
    struct material *materials = topology->materials + it->first_material;
    const size_t kinds = body_kind_count(moduli);
    *it->moduli = *moduli;
    for (size_t kind = 0; kind < kinds && kind < it->material_count; kind++) {
        const struct material *given = &moduli->kinds[kind].material;
        const size_t boundary = body_boundary_material(moduli, kind);
        if (!moduli->kinds[kind].present)
            continue;
        materials[kind].stiffness = given->stiffness;
        materials[kind].damping = given->damping;
        for (int sides = 1; it->material_count > kinds && sides <= BOUNDARY_MATERIALS; sides++) {
            struct material *side = &materials[boundary + (size_t)sides - 1];
            side->stiffness = given->stiffness * boundary_share(sides);
            side->damping = given->damping * boundary_share(sides);
        }
    }
    if (it->elements.present) {
        it->elements = body_elements_of(moduli);
        it->elements.present = true;
    }
}

double topology_total_mass(const struct topology *topology)
{
    double mass = 0;
    for (size_t b = 0; b < topology->body_count; b++)
        mass += topology->bodies[b].mass;
    return mass;
}

double topology_least_mass(const struct topology *topology, uint64_t first, uint64_t end)
{
    double least = INFINITY;
    for (uint64_t node = first; node < end;) {
        const struct node_masses masses = topology_masses(topology, node, end);
        const bool same = !masses.listed && masses.ends[0] == UINT64_MAX;
        for (uint64_t i = node; i < (same ? node + 1 : masses.end); i++)
            least = fmin(least, mass_in(&masses, i));
        node = masses.end;
    }
    return least;
}

size_t topology_body_of_spring(const struct topology *topology, uint64_t spring)
{
    return find_interval(&topology->bodies->first_spring, sizeof *topology->bodies,
                         topology->body_count, spring);
}

size_t topology_body_of_face(const struct topology *topology, uint64_t face)
{
    return find_interval(&topology->bodies->first_face, sizeof *topology->bodies,
                         topology->body_count, face);
}

struct face topology_body_face(const struct topology *topology, const struct topology_body *body,
                               uint64_t face)
{
    struct face result;
    if (body->is_sheet) {
        struct sheet_face of_body = sheet_face(body->grid[0], face);
        for (int corner = 0; corner < 3; corner++)
            result.nodes[corner] = (uint32_t)(body->first_node + of_body.nodes[corner]);
    } else if (body->faces_absent) {
        const uint32_t first = (uint32_t)body->first_node;
        result = (struct face){{first, first, body->face_arity == 2 ? FACE_EDGE : first}};
    } else {
        const uint32_t *listed = topology->faces[body->first_listed_face + face];
        for (int corner = 0; corner < 3; corner++)
            result.nodes[corner] = listed[corner];
    }
    return result;
}

struct face topology_face(const struct topology *topology, uint64_t face)
{
    const struct topology_body *body = &topology->bodies[topology_body_of_face(topology, face)];
    return topology_body_face(topology, body, face - body->first_face);
}

const struct topology_body *topology_body_of_triangle(const struct topology *topology,
                                                      uint64_t triangle)
{
    return &topology
                ->bodies[find_interval(&topology->bodies->first_triangle, sizeof *topology->bodies,
                                       topology->body_count, triangle)];
}

// The corners of a triangle as built, and its edges, each opposite one of them.
static void find_triangle(const struct topology *topology, uint64_t triangle, vec3 corners[3],
                          vec3 edges[3])
{
    const struct topology_body *body = topology_body_of_triangle(topology, triangle);
    const uint32_t *nodes = topology_triangle(topology, body, triangle);
    for (int corner = 0; corner < 3; corner++) {
        const uint64_t inside = nodes[corner] - body->first_node;
        const double *p = topology->membrane_nodes[body->first_membrane_node + inside];
        corners[corner] = vec3_make(p[0], p[1], p[2]);
    }
    for (int corner = 0; corner < 3; corner++)
        edges[corner] = vec3_subtract(corners[(corner + 2) % 3], corners[(corner + 1) % 3]);
}

void topology_triangle_squares(const struct topology *topology, uint64_t triangle,
                               double squares[3])
{
    vec3 corners[3], edges[3];
    find_triangle(topology, triangle, corners, edges);
    for (int corner = 0; corner < 3; corner++)
        squares[corner] = vec3_dot(edges[corner], edges[corner]);
}

struct triangle_rest topology_triangle_rest(const struct topology *topology, uint64_t triangle)
{
    struct triangle_rest rest;
    vec3 corners[3], edges[3], sum = {0, 0, 0};
    find_triangle(topology, triangle, corners, edges);
    for (int corner = 0; corner < 3; corner++) {
        sum = vec3_add(sum, corners[corner]);
        rest.squares[corner] = vec3_dot(edges[corner], edges[corner]);
    }
    const vec3 normal = vec3_cross(edges[0], edges[1]);
    rest.normal = vec3_scale(1 / vec3_length(normal), normal);
    rest.centre = vec3_scale(1.0 / 3, sum);
    return rest;
}

uint64_t topology_builder_spring(const struct topology *topology, uint64_t spring)
{
    if (topology->sorted_count == 0)
        return spring;
    const struct topology_body *body = &topology->bodies[topology_body_of_spring(topology, spring)];
    if (body->direction_count || body->springs_absent)
        return spring;
    uint64_t own = spring - body->first_spring;
    return body->first_spring + topology->builder_springs[body->first_listed + own];
}

static struct spring_run listed_spring(const struct topology *topology,
                                       const struct topology_body *body, uint64_t spring)
{
    uint64_t s = body->first_listed + (spring - body->first_spring);
    if (body->springs_absent)
        return (struct spring_run){.first = spring,
                                   .count = 1,
                                   .a = (uint32_t)body->first_node,
                                   .b = (uint32_t)body->first_node,
                                   .material =
                                       topology_absent_material(body, spring - body->first_spring)};
    return (struct spring_run){.first = spring,
                               .count = 1,
                               .a = topology->springs[s][0],
                               .b = topology->springs[s][1],
                               .material = topology_listed_material(topology, s),
                               .rest_length = topology_listed_rest(topology, s)};
}

struct spring_run topology_run(const struct topology *topology, uint64_t spring, uint64_t end)
{
    const struct topology_body *body = &topology->bodies[topology_body_of_spring(topology, spring)];
    if (body->direction_count == 0)
        return listed_spring(topology, body, spring);
    const uint64_t own = spring - body->first_spring;
    const struct direction *direction = direction_of_spring(
        &topology->directions[body->first_direction], body->direction_count, own);
    uint64_t left;
    uint64_t lower = direction_lower(direction, own - direction->first_spring, &left);
    uint32_t material = direction_material(direction, own - direction->first_spring, &left);
    uint64_t a = body->first_node + lower;
    return (struct spring_run){.first = spring,
                               .count = left < end - spring ? left : end - spring,
                               .a = (uint32_t)a,
                               .b = (uint32_t)(a + (uint64_t)direction->offset),
                               .material = material,
                               .rest_length = direction->rest_length};
}

double topology_stiffness(const struct topology *topology, uint64_t first, uint64_t end)
{
    double stiffness = 0;
    for (uint64_t spring = first; spring < end;) {
        const struct spring_run these = topology_run(topology, spring, end);
        stiffness += (double)these.count * topology->materials[these.material].stiffness;
        spring += these.count;
    }
    return stiffness;
}

struct spring_run topology_spring_near(const struct topology *topology, uint64_t spring,
                                       struct spring_run *near)
{
    if (spring < near->first || spring >= near->first + near->count)
        *near = topology_run(topology, spring, topology->spring_count);
    struct spring_run one = *near;
    uint32_t along = (uint32_t)(spring - near->first);
    one.first = spring;
    one.count = 1;
    one.a += along;
    one.b += along;
    return one;
}
