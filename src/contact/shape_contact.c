// Contact of the surfaces of bodies with planes, spheres and rooms (shape_contact.h): what touches,
// the forces, their energy, and friction with the memory of contacts of nodes (friction.h). The
// motion of a step is cut in shape_limit.c.
//
// A block of surfaces that a sphere may touch gets a slot with the forces on its nodes, and every
// node receives what the blocks around it have for it, in the order of the blocks. So the bits do
// not depend on the number of threads. All in double.
#include "contact/shape_contact.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "contact/culling.h"
#include "contact/friction.h"
#include "contact/surface_tangent.h"
#include "state/reading.h"

// ---- Nearest points

vec3 REAL_NAME(nearest_of_edge)(vec3 point, const vec3 ends[2], double weights[2])
{
    const vec3 along = vec3_subtract(ends[1], ends[0]), to = vec3_subtract(point, ends[0]);
    const double square = vec3_dot(along, along);
    const double part = square > 0 ? vec3_dot(along, to) / square : 0;
    const double second = part < 0 ? 0 : part > 1 ? 1 : part;
    weights[0] = 1 - second;
    weights[1] = second;
    return vec3_subtract(vec3_scale(second, along), to);
}

vec3 REAL_NAME(nearest_of_triangle)(vec3 point, const vec3 p[3], double weights[3])
{
    const vec3 u = vec3_subtract(p[1], p[0]), v = vec3_subtract(p[2], p[0]);
    const vec3 normal = vec3_cross(u, v), to = vec3_subtract(point, p[0]);
    const double square = vec3_dot(normal, normal);
    const double by_u = vec3_dot(vec3_cross(to, v), normal),
                 by_v = vec3_dot(vec3_cross(u, to), normal);
    if (square > 0 && by_u >= 0 && by_v >= 0 && by_u + by_v <= square) {
        weights[1] = by_u / square;
        weights[2] = by_v / square;
        weights[0] = 1 - weights[1] - weights[2];
        return vec3_scale(-vec3_dot(to, normal) / square, normal);
    }
    vec3 nearest = {HUGE_VAL, HUGE_VAL, HUGE_VAL};
    double least = HUGE_VAL;
    for (int i = 0; i < 3; i++) {
        const int next = (i + 1) % 3;
        double parts[2];
        const vec3 offset =
            REAL_NAME(nearest_of_edge)(point, (const vec3[2]){p[i], p[next]}, parts);
        if (!(vec3_dot(offset, offset) < least))
            continue;
        least = vec3_dot(offset, offset);
        nearest = offset;
        weights[i] = parts[0];
        weights[next] = parts[1];
        weights[(i + 2) % 3] = 0;
    }
    return nearest;
}

// ---- What touches

// Contacts of the nodes of a chunk.
static void visit_chunk(struct system *system, size_t number, touch_visitor *visit, void *context)
{
    const struct shape_contact *shapes = system->surface_contact->shapes;
    const struct shape_chunk *chunk = &shapes->chunks[number];
    const struct block_box *box = &shapes->boxes[number];
    const struct barrier barrier = shape_barrier(system, chunk->body);
    const double reach = (double)barrier.reach;
    for (size_t c = 0; c < shapes->count && shapes->near[number]; c++) {
        const struct surface surface = surface_at(system, shapes->colliders[c], shapes->time);
        const bool sphere = surface.it->type == COLLIDER_SPHERE;
        uint64_t near[BLOCK_WORDS];
        if ((sphere && !shapes->bare[chunk->body]) ||
            !REAL_NAME(surface_is_near_box)(&surface, box, reach) ||
            !REAL_NAME(find_near)(system, &surface, box, reach, chunk->nodes, near))
            continue;
        struct shape_touch touch = {
            .collider = shapes->colliders[c], .body = chunk->body, .of_node = true};
        for (int word = 0; word < BLOCK_WORDS; word++)
            for (uint64_t left = near[word]; left != 0; left &= left - 1) {
                struct contact contacts[6];
                touch.node = chunk->nodes.first + 64 * (size_t)word + (size_t)lowest_bit(left);
                const vec3 p = node_position(system->state, touch.node);
                const int count = surface_contacts(&surface, p, reach, contacts);
                for (int i = 0; i < count; i++) {
                    touch.wall = contacts[i].wall;
                    touch.normal = contacts[i].normal;
                    touch.surface_velocity = contacts[i].surface_velocity;
                    touch.point = sphere ? vec3_subtract(p, surface.centre) : p;
                    touch.distance = -contacts[i].depth;
                    touch.normal_force = (double)barrier_force(&barrier, (real)touch.distance);
                    if (touch.normal_force > 0)
                        visit(system, &touch, context);
                }
            }
    }
}

static const struct shape_slot *slot_of(const struct shape_contact *shapes, size_t blocks,
                                        size_t sphere, size_t block)
{
    const uint32_t slot = shapes->slot_of[sphere * blocks + block];
    return slot > 0 ? &shapes->slots[slot - 1] : NULL;
}

// The force of a sphere on a node, whose location in its own block is given.
static vec3 force_on_node(const struct surface_contact *it, size_t sphere, size_t node,
                          uint32_t location)
{
    const struct shape_contact *shapes = it->shapes;
    const size_t blocks = it->surfaces.block_count;
    vec3 sum = {0, 0, 0};
    const struct shape_slot *slot = slot_of(shapes, blocks, sphere, block_of_location(location));
    if (slot) {
        const double *f = slot->forces[local_of_location(location)];
        sum = vec3_make(f[0], f[1], f[2]);
    }
    for (uint32_t h = it->halo_start[node]; h < it->halo_start[node + 1]; h++) {
        slot = slot_of(shapes, blocks, sphere, block_of_location(it->halo[h]));
        if (!slot)
            continue;
        const double *f = slot->forces[local_of_location(it->halo[h])];
        sum = vec3_add(sum, vec3_make(f[0], f[1], f[2]));
    }
    return sum;
}

// The contact of a node with a sphere; false if there is none.
static bool touch_of_node(const struct system *system, const struct surface *sphere, size_t k,
                          size_t node, struct shape_touch *touch)
{
    const struct surface_contact *it = system->surface_contact;
    const uint32_t location = it->own_location[node];
    const vec3 force = force_on_node(it, k, node, location);
    const double size = vec3_length(force);
    if (!(size > 0))
        return false;
    *touch = (struct shape_touch){
        .collider = it->shapes->spheres[k],
        .body = it->surfaces.blocks[block_of_location(location)].body,
        .node = node,
        .normal = vec3_scale(1 / size, force),
        .surface_velocity = sphere->velocity,
        .point = vec3_subtract(node_position(system->state, node), sphere->centre),
        .normal_force = size,
    };
    return true;
}

// Contacts of the nodes that a block owns with spheres that touch surfaces.
static void visit_block(struct system *system, size_t b, touch_visitor *visit, void *context)
{
    const struct surface_contact *it = system->surface_contact;
    const struct shape_contact *shapes = it->shapes;
    const struct surface_block *block = &it->surfaces.blocks[b];
    if (!shapes->receives[b])
        return;
    for (size_t k = 0; k < shapes->sphere_count; k++) {
        const struct surface surface = surface_at(system, shapes->spheres[k], shapes->time);
        for (uint32_t i = 0; i < block->own_nodes; i++) {
            struct shape_touch touch;
            const size_t node = it->surfaces.nodes[block->first_node + i];
            if (touch_of_node(system, &surface, k, node, &touch))
                visit(system, &touch, context);
        }
    }
}

void REAL_NAME(shape_touches_visit)(struct system *system, struct range chunks, struct range blocks,
                                    touch_visitor *visit, void *context)
{
    for (size_t i = chunks.first; i < chunks.end; i++)
        visit_chunk(system, i, visit, context);
    for (size_t b = blocks.first;
         b < blocks.end && system->surface_contact->shapes->sphere_count > 0; b++)
        visit_block(system, b, visit, context);
}

// Adds up over all contacts. The same on every worker; begins and ends with a barrier.
static void sum_touches(struct system *system, touch_visitor *visit, double total[2],
                        const struct worker *worker)
{
    const struct surface_contact *it = system->surface_contact;
    struct shape_contact *shapes = it->shapes;
    const size_t blocks = shapes->sphere_count > 0 ? it->surfaces.block_count : 0;
    const struct range chunks = worker_share(worker, shapes->chunk_count, 1);
    const struct range share = worker_share(worker, blocks, 1);
    worker_barrier(worker);
    memset(shapes->sums + chunks.first, 0, (chunks.end - chunks.first) * sizeof *shapes->sums);
    memset(shapes->sums + shapes->chunk_count + share.first, 0,
           (share.end - share.first) * sizeof *shapes->sums);
    for (size_t i = chunks.first; i < chunks.end; i++)
        visit_chunk(system, i, visit, shapes->sums[i]);
    for (size_t b = share.first; b < share.end; b++)
        visit_block(system, b, visit, shapes->sums[shapes->chunk_count + b]);
    worker_barrier(worker);
    total[0] = total[1] = 0;
    for (size_t i = 0; i < shapes->chunk_count + blocks; i++) {
        total[0] += shapes->sums[i][0];
        total[1] += shapes->sums[i][1];
    }
    worker_barrier(worker);
}

// ---- Friction of a node

// A flag of contacts that the present update has seen.
enum { FRICTION_SEEN = 128 };

// The coefficients of a body and a shape: the geometric mean if both have their own, otherwise
// those of the one that has them, otherwise those of the scene, which a shape without any has.
struct scene_friction REAL_NAME(shape_friction_law)(const struct system *system, size_t collider,
                                                    size_t body)
{
    const struct scene_collider *it = &system->topology->colliders[collider];
    const struct scene_friction *own = &system->surface_contact->shapes->own[body];
    struct scene_friction law = it->coulomb;
    if (!law.present)
        return (struct scene_friction){0};
    if (!own->present)
        return law;
    if (!it->surface_friction.present)
        return *own;
    law.static_coefficient = sqrt(law.static_coefficient * own->static_coefficient);
    law.kinetic_coefficient = sqrt(law.kinetic_coefficient * own->kinetic_coefficient);
    return law;
}

// The stiffness of the tangential spring over that of the barrier, in implicit steps, whose
// contacts have no damper along their normal. A load presses contacts little, so that their normal
// stiffness is far below its limit of 4: held much more stiffly along the surface than across it,
// bodies that fall on a slope hop on it for longer.
static const double IMPLICIT_STIFFNESS = 0.5;

static double tangential_stiffness(const struct system *system, size_t body)
{
    const bool implicit = integrator_is_implicit(system->settings.integrator);
    return (implicit ? IMPLICIT_STIFFNESS : SURFACE_FRICTION_STIFFNESS) *
           stiffness_of(system, body);
}

static bool has_friction(const struct system *system, size_t collider)
{
    return system->topology->colliders[collider].coulomb.present;
}

struct shape_friction REAL_NAME(shape_friction_of)(const struct system *system,
                                                   const struct shape_touch *touch)
{
    const struct state *s = system->state;
    const struct scene_collider *collider = &system->topology->colliders[touch->collider];
    const double damping =
        surface_tangential_damping(stiffness_of(system, touch->body),
                                   system->surface_contact->shapes->least_mass[touch->body]);
    const size_t at = friction_index(system, collider, touch->node, touch->wall);
    const vec3 relative = vec3_subtract(node_velocity(s, touch->node), touch->surface_velocity);
    const uint8_t flags = friction_flags(s, at, touch->wall);
    vec3 stretch = {0, 0, 0};
    if (flags)
        stretch =
            friction_along(vec3_subtract(touch->point, s->friction_anchor[at]), touch->normal);
    return (struct shape_friction){
        .stiffness = tangential_stiffness(system, touch->body),
        .damping = damping,
        .law = REAL_NAME(shape_friction_law)(system, touch->collider, touch->body),
        .at = at,
        .flags = flags,
        .stretch = stretch,
        .sliding = friction_along(relative, touch->normal),
        .approach = vec3_dot(relative, touch->normal),
    };
}

// The force along the surface; *dissipated: W, by the damper.
static vec3 friction_force(const struct shape_friction *it, double normal_force, double *dissipated)
{
    const bool slides = it->flags & FRICTION_SLIDES;
    const vec3 spring = vec3_scale(it->stiffness, it->stretch);
    const vec3 all = vec3_add(spring, vec3_scale(it->damping, it->sliding));
    const double size = vec3_length(all);
    const double most =
        normal_force * (slides ? it->law.kinetic_coefficient : it->law.static_coefficient);
    const vec3 limited = size > most ? vec3_scale(most / size, all) : all;
    *dissipated = vec3_dot(vec3_subtract(limited, spring), it->sliding);
    return vec3_scale(-1, limited);
}

// The force of the damper along the normal, N, at a time, s, after the present one. A contact of N
// = psi' has psi'' = 2 sqrt(2 k N / g0) where the barrier is soft; those of a node with several
// triangles count as one.
static double damper_force(const struct system *system, const struct shape_touch *touch,
                           const struct shape_friction *it, double time)
{
    const struct barrier barrier = shape_barrier(system, touch->body);
    const double depth = (double)barrier.depth, stiffness = (double)barrier.stiffness;
    if (!(it->law.static_coefficient > 0) || integrator_is_implicit(system->settings.integrator))
        return 0;
    const double square = surface_normal_damping_square(
        stiffness, system->surface_contact->shapes->least_mass[touch->body]);
    const double inside = touch->of_node ? (double)barrier.reach - touch->distance
                                         : sqrt(touch->normal_force * depth / (2 * stiffness));
    return surface_damper_force(square, 4 * (inside - time * it->approach) / depth,
                                touch->normal_force, it->approach);
}

static vec3 force_of(const struct system *system, const struct shape_touch *touch)
{
    const vec3 normal = vec3_scale(touch->normal_force, touch->normal);
    double dissipated;
    if (!has_friction(system, touch->collider))
        return normal;
    const struct shape_friction it = REAL_NAME(shape_friction_of)(system, touch);
    const vec3 friction = friction_force(&it, touch->normal_force, &dissipated);
    const double damper = damper_force(system, touch, &it, 0);
    return vec3_add(vec3_scale(touch->normal_force + damper, touch->normal), friction);
}

vec3 REAL_NAME(shape_friction_force)(const struct system *system, const struct shape_touch *touch)
{
    double dissipated;
    if (!has_friction(system, touch->collider))
        return vec3_make(0, 0, 0);
    const struct shape_friction friction = REAL_NAME(shape_friction_of)(system, touch);
    return friction_force(&friction, touch->normal_force, &dissipated);
}

vec3 REAL_NAME(shape_corner_friction)(const struct system *system, size_t sphere, size_t node,
                                      double force)
{
    const struct surface_contact *it = system->surface_contact;
    const struct surface surface =
        surface_at(system, it->shapes->spheres[sphere], it->shapes->time);
    struct shape_touch touch;
    if (!touch_of_node(system, &surface, sphere, node, &touch))
        return vec3_make(0, 0, 0);
    return vec3_scale(force / touch.normal_force, REAL_NAME(shape_friction_force)(system, &touch));
}

// ---- Finding

// The forces of a sphere on a block, and their energy.
static void act_on_block(const struct system *system, struct shape_slot *slot)
{
    const struct surface_contact *it = system->surface_contact;
    const struct shape_contact *shapes = it->shapes;
    const struct surface_block *block = &it->surfaces.blocks[slot->block];
    const struct surface sphere = surface_at(system, shapes->spheres[slot->sphere], shapes->time);
    const struct barrier barrier = shape_barrier(system, block->body);
    vec3 x[SURFACE_NODES];
    for (uint32_t i = 0; i < block->nodes; i++)
        x[i] = node_position(system->state, it->surfaces.nodes[block->first_node + i]);
    memset(slot->forces, 0, sizeof slot->forces);
    slot->energy = 0;
    for (size_t part = 0; part < block_parts(block); part++) {
        int nodes[3];
        double weights[3];
        const int count = part_nodes(&it->surfaces, block, part, nodes);
        const vec3 at[3] = {x[nodes[0]], x[nodes[1]], x[nodes[count - 1]]};
        const vec3 out = nearest_of_part(sphere.centre, at, count, weights);
        const double length = vec3_length(out), distance = length - sphere.radius;
        if (!(distance < (double)barrier.reach) || length == 0)
            continue;
        const double force = (double)barrier_force(&barrier, (real)distance);
        slot->energy += (double)barrier_energy(&barrier, (real)distance);
        for (int i = 0; i < count; i++) {
            const double scale = weights[i] * force / length;
            slot->forces[nodes[i]][0] += scale * out.x;
            slot->forces[nodes[i]][1] += scale * out.y;
            slot->forces[nodes[i]][2] += scale * out.z;
        }
    }
}

// Whether a node of the chunk may touch a shape.
static bool chunk_is_near(const struct system *system, size_t number)
{
    const struct shape_contact *shapes = system->surface_contact->shapes;
    const size_t body = shapes->chunks[number].body;
    const double reach = (double)shape_barrier(system, body).reach;
    for (size_t c = 0; c < shapes->count; c++) {
        const struct surface surface = surface_at(system, shapes->colliders[c], shapes->time);
        if (surface.it->type == COLLIDER_SPHERE && !shapes->bare[body])
            continue;
        if (REAL_NAME(surface_is_near_box)(&surface, &shapes->boxes[number], reach))
            return true;
    }
    return false;
}

static void keep_start(struct system *system, struct range nodes)
{
    struct shape_contact *shapes = system->surface_contact->shapes;
    const struct state *s = system->state;
    const real *const now[3] = {s->x, s->y, s->z}, *const low[3] = {s->x_low, s->y_low, s->z_low};
    const size_t bytes = (nodes.end - nodes.first) * sizeof(real);
    for (int axis = 0; axis < 3; axis++)
        memcpy(shapes->start[axis] + nodes.first, now[axis] + nodes.first, bytes);
    for (int axis = 0; axis < 3 && state_is_mixed(s); axis++)
        memcpy(shapes->start_low[axis] + nodes.first, low[axis] + nodes.first, bytes);
}

static void measure_chunks(struct system *system, bool at_start, const struct worker *worker)
{
    struct shape_contact *shapes = system->surface_contact->shapes;
    const struct range share = worker_share(worker, shapes->chunk_count, 1);
    for (size_t i = share.first; i < share.end; i++) {
        const struct range nodes = shapes->chunks[i].nodes;
        shapes->boxes[i] = box_of_nodes(system, nodes);
        shapes->near[i] = chunk_is_near(system, i);
        if (!at_start)
            continue;
        shapes->start_boxes[i] = shapes->boxes[i];
        keep_start(system, nodes);
    }
}

// By one worker: whether a sphere is near the box of a body's nodes, in which all its triangles
// are. Returns whether any is.
static bool find_near_bodies(struct system *system)
{
    const struct topology *topology = system->topology;
    struct shape_contact *shapes = system->surface_contact->shapes;
    bool any = false;
    for (size_t b = 0; b < topology->body_count; b++) {
        const double reach = (double)shape_barrier(system, b).reach;
        struct block_box box = no_box();
        for (size_t i = shapes->first_chunk[b]; i < shapes->first_chunk[b + 1]; i++) {
            const double *least = shapes->boxes[i].least, *most = shapes->boxes[i].most;
            box_include(&box, vec3_make(least[0], least[1], least[2]));
            box_include(&box, vec3_make(most[0], most[1], most[2]));
        }
        for (size_t k = 0; k < shapes->sphere_count; k++) {
            const struct surface sphere = surface_at(system, shapes->spheres[k], shapes->time);
            const bool near =
                !shapes->bare[b] && REAL_NAME(surface_is_near_box)(&sphere, &box, reach);
            shapes->body_near[k * topology->body_count + b] = near;
            any |= near;
        }
    }
    return any;
}

static void find_near_blocks(struct system *system, const struct worker *worker)
{
    const struct surface_contact *it = system->surface_contact;
    struct shape_contact *shapes = it->shapes;
    const size_t bodies = system->topology->body_count, blocks = it->surfaces.block_count;
    const struct range share = worker_share(worker, blocks, 1);
    for (size_t b = share.first; b < share.end; b++) {
        const struct surface_block *block = &it->surfaces.blocks[b];
        struct block_box box = no_box();
        bool measured = false;
        for (size_t k = 0; k < shapes->sphere_count; k++) {
            uint8_t *near = &shapes->block_near[k * blocks + b];
            *near = 0;
            if (block->body >= bodies || !shapes->body_near[k * bodies + block->body])
                continue;
            for (uint32_t i = 0; !measured && i < block->nodes; i++)
                box_include(
                    &box, node_position(system->state, it->surfaces.nodes[block->first_node + i]));
            measured = true;
            const struct surface sphere = surface_at(system, shapes->spheres[k], shapes->time);
            *near = REAL_NAME(surface_is_near_box)(
                &sphere, &box, (double)shape_barrier(system, block->body).reach);
        }
    }
}

static void drop_slots(struct surface_contact *it)
{
    struct shape_contact *shapes = it->shapes;
    const size_t blocks = it->surfaces.block_count;
    for (size_t i = 0; i < shapes->slot_count; i++)
        shapes->slot_of[shapes->slots[i].sphere * blocks + shapes->slots[i].block] = 0;
    if (shapes->slot_count > 0)
        memset(shapes->receives, 0, blocks);
    shapes->slot_count = 0;
}

// By one worker, in the order of spheres and blocks. False without memory.
static bool number_slots(struct surface_contact *it)
{
    struct shape_contact *shapes = it->shapes;
    const size_t blocks = it->surfaces.block_count;
    for (size_t i = 0; i < shapes->sphere_count * blocks; i++) {
        if (!shapes->block_near[i])
            continue;
        if (!array_reserve((void **)&shapes->slots, &shapes->slot_capacity, shapes->slot_count + 1,
                           sizeof *shapes->slots))
            return false;
        const size_t b = i % blocks;
        const struct surface_block *block = &it->surfaces.blocks[b];
        struct shape_slot *slot = &shapes->slots[shapes->slot_count++];
        slot->sphere = (uint32_t)(i / blocks);
        slot->block = (uint32_t)b;
        shapes->slot_of[i] = (uint32_t)shapes->slot_count;
        shapes->receives[b] = 1;
        for (uint32_t n = block->own_nodes; n < block->nodes; n++)
            shapes->receives[own_block(it, it->surfaces.nodes[block->first_node + n])] = 1;
    }
    return true;
}

void REAL_NAME(shape_contact_find)(struct system *system, double time, bool at_start,
                                   const struct worker *worker)
{
    struct surface_contact *it = system->surface_contact;
    struct shape_contact *shapes = it->shapes;
    worker_barrier(worker); // all have finished with the last evaluation
    if (worker->index == 0) {
        drop_slots(it);
        shapes->time = time;
        if (at_start)
            shapes->start_time = time;
    }
    worker_barrier(worker);
    measure_chunks(system, at_start, worker);
    worker_barrier(worker);
    if (worker->index == 0)
        shapes->pushes = find_near_bodies(system);
    worker_barrier(worker);
    const bool any = shapes->pushes;
    if (any) {
        find_near_blocks(system, worker);
        worker_barrier(worker);
        if (worker->index == 0 && !number_slots(it)) {
            drop_slots(it);
            REAL_NAME(surface_memory_has_run_out)(system);
        }
        worker_barrier(worker);
        const struct range share = worker_share(worker, shapes->slot_count, 1);
        for (size_t i = share.first; i < share.end; i++)
            act_on_block(system, &shapes->slots[i]);
    }
    worker_barrier(worker);
    if (worker->index == 0)
        shapes->pushes =
            shapes->slot_count > 0 || memchr(shapes->near, 1, shapes->chunk_count) != NULL;
    worker_barrier(worker);
}

// ---- Forces on nodes

static void add_touch(struct system *system, const struct shape_touch *touch, void *unused)
{
    struct state *s = system->state;
    (void)unused;
    if (!exchange_owns(system, touch->node))
        return;
    const vec3 force = force_of(system, touch);
    s->fx[touch->node] += (real)force.x;
    s->fy[touch->node] += (real)force.y;
    s->fz[touch->node] += (real)force.z;
}

void REAL_NAME(shape_contact_add_chunks)(struct system *system, const struct worker *worker)
{
    const struct range share =
        worker_share(worker, system->surface_contact->shapes->chunk_count, 1);
    for (size_t i = share.first; i < share.end; i++)
        visit_chunk(system, i, add_touch, NULL);
    worker_barrier(worker);
}

void REAL_NAME(shape_contact_add_block)(struct system *system, size_t block)
{
    visit_block(system, block, add_touch, NULL);
}

// ---- Energy and power

static void sum_energy(struct system *system, const struct shape_touch *touch, void *context)
{
    double *sums = context;
    const struct barrier barrier = shape_barrier(system, touch->body);
    if (touch->of_node)
        sums[0] += (double)barrier_energy(&barrier, (real)touch->distance);
    if (!has_friction(system, touch->collider))
        return;
    const struct shape_friction friction = REAL_NAME(shape_friction_of)(system, touch);
    double square = vec3_dot(friction.stretch, friction.stretch);
    // What the memory will keep: before it has changed, implicit steps are beyond the cone.
    if (integrator_is_implicit(system->settings.integrator)) {
        const bool slides = friction.flags & FRICTION_SLIDES;
        const double most = touch->normal_force / friction.stiffness; // m, for mu = 1
        const double kept = most * friction.law.kinetic_coefficient,
                     limit = slides ? kept : most * friction.law.static_coefficient;
        if (square > limit * limit)
            square = kept * kept;
    }
    sums[0] += friction.stiffness / 2 * square;
}

double REAL_NAME(shape_contact_energy)(struct system *system, double time,
                                       const struct worker *worker)
{
    struct surface_contact *it = system->surface_contact;
    if (!it || !it->shapes)
        return 0;
    REAL_NAME(shape_contact_find)(system, time, false, worker);
    double total[2];
    sum_touches(system, sum_energy, total, worker);
    for (size_t i = 0; i < it->shapes->slot_count; i++)
        total[0] += it->shapes->slots[i].energy;
    worker_barrier(worker);
    return total[0];
}

static void sum_power(struct system *system, const struct shape_touch *touch, void *context)
{
    double *sums = context, dissipated = 0;
    vec3 force = vec3_scale(touch->normal_force, touch->normal);
    if (has_friction(system, touch->collider)) {
        const struct shape_friction it = REAL_NAME(shape_friction_of)(system, touch);
        const double lead = surface_damper_lead(system);
        force = vec3_add(force, friction_force(&it, touch->normal_force, &dissipated));
        // Its force, which is c w, not c v, and its power, c w.v.
        const double acts = damper_force(system, touch, &it, 2 * lead),
                     takes = lead > 0 ? damper_force(system, touch, &it, lead) : acts;
        force = vec3_add(force, vec3_scale(acts, touch->normal));
        dissipated -= takes * it.approach;
    }
    sums[0] += vec3_dot(force, touch->surface_velocity);
    sums[1] += integrator_is_implicit(system->settings.integrator) ? 0 : dissipated;
}

static void sum_normal_power(struct system *system, const struct shape_touch *touch, void *context)
{
    double *sums = context;
    const vec3 force = vec3_scale(touch->normal_force, touch->normal);
    if (system->constants->inverse_mass[touch->node] != 0)
        sums[0] += vec3_dot(force, node_velocity(system->state, touch->node));
    sums[1] += vec3_dot(force, touch->surface_velocity);
}

void REAL_NAME(shape_contact_normal_powers)(struct system *system, double powers[2],
                                            const struct worker *worker)
{
    const struct surface_contact *it = system->surface_contact;
    powers[0] = powers[1] = 0;
    if (it->shapes && it->shapes->pushes)
        sum_touches(system, sum_normal_power, powers, worker);
}

struct shape_powers REAL_NAME(shape_contact_powers)(struct system *system,
                                                    const struct worker *worker)
{
    struct surface_contact *it = system->surface_contact;
    if (!it || !it->shapes || !it->shapes->pushes || it->paused ||
        (it->rows && it->rows->present)) // then rows have them
        return (struct shape_powers){0, 0};
    double total[2];
    sum_touches(system, sum_power, total, worker);
    return (struct shape_powers){total[0], total[1]};
}

// ---- The memory of friction

// The stretch with which a contact begins: it has been within reach for at most the step.
static vec3 first_stretch(const struct system *system, const struct shape_friction *it,
                          const struct shape_touch *touch, double longest)
{
    const struct barrier barrier = shape_barrier(system, touch->body);
    const double k = (double)barrier.stiffness, depth = (double)barrier.depth;
    const double soft = 2 * k * depth, force = touch->normal_force;
    const double within =
        force < soft ? sqrt(force * depth / (2 * k)) : depth + (force - soft) / (4 * k);
    if (!(it->approach < 0))
        return vec3_make(0, 0, 0);
    return vec3_scale(fmin(longest, within / -it->approach), it->sliding);
}

// As in friction.c: in an implicit step that of its last system.
static double acting_normal_force(const struct system *system, size_t at,
                                  const struct shape_touch *touch)
{
    const struct friction_assumptions *assumed = system->contacts.friction_assumptions;
    if (!assumed)
        return touch->normal_force;
    return assumed->status[at] == FRICTION_UNKNOWN
               ? 0
               : fmax(0, (double)assumed->contacts[at].normal_force);
}

// Along a surface, of a node in an implicit step; near a sphere this is not the change of the
// stretch.
static vec3 motion_in_step(const struct system *system, size_t collider, size_t node)
{
    const struct shape_contact *shapes = system->surface_contact->shapes;
    const vec3 motion =
        vec3_subtract(node_position(system->state, node), shape_start(system, node));
    if (system->topology->colliders[collider].type != COLLIDER_SPHERE)
        return motion;
    const vec3 start = surface_at(system, collider, shapes->start_time).centre,
               now = surface_at(system, collider, shapes->time).centre;
    return vec3_subtract(motion, vec3_subtract(now, start));
}

// J, what the force of friction in the equations of an implicit step has taken of a node. It is not
// what the memory has at the end of the step: the last system may have assumed something else.
static double taken_in_step(const struct system *system, size_t collider, size_t node, size_t at,
                            double stiffness, bool ended)
{
    const struct friction_step step = system->surface_contact->shapes->step;
    const struct friction_assumptions *all = system->contacts.friction_assumptions;
    const struct friction_assumption *it = &all->contacts[at];
    const double before = stiffness * system->state->friction_stretch[at];
    const vec3 force = friction_force_of_step(&it->acted, step.applied),
               slip = motion_in_step(system, collider, node);
    const vec3 along = {(double)it->along[0], (double)it->along[1], (double)it->along[2]};
    if (vec3_dot(force, force) > 0)
        return -friction_work_of_step(system, force, before, slip, ended, step);
    const bool has_slid = all->status[at] == FRICTION_ASSUMED_SLIDES; // and has ended
    return friction_lags(system, step) && has_slid ? before / 2 * vec3_dot(along, slip) : 0;
}

// J, in an implicit step: what friction has taken less what its spring has gained; of a contact
// with memory that stuck what its damper has, whose force is at most k `limit`. Near a sphere the
// slip is not the change of the stretch.
static double step_heat(const struct system *system, const struct shape_touch *touch,
                        const struct shape_friction *it, double reached, double left, double limit)
{
    const struct shape_contact *shapes = system->surface_contact->shapes;
    const double before = system->state->friction_stretch[it->at];
    const struct friction_assumption *assumed =
        &system->contacts.friction_assumptions->contacts[it->at];
    if (reached > left || !it->flags || assumed->acted.slid)
        return taken_in_step(system, touch->collider, touch->node, it->at, it->stiffness, false) +
               it->stiffness * (before * before - left * left) / 2;
    const vec3 offset =
        friction_along(motion_in_step(system, touch->collider, touch->node), touch->normal);
    const double length = vec3_length(offset);
    return fmin(it->damping * length / shapes->step.elapsed, it->stiffness * limit) * length;
}

// As in friction.c, with the force of the barrier. Adds the heat, J.
static void update_touch(struct system *system, const struct shape_touch *touch, void *context)
{
    double *sums = context;
    struct state *s = system->state;
    const struct shape_contact *shapes = system->surface_contact->shapes;
    if (!has_friction(system, touch->collider))
        return;
    const struct shape_friction it = REAL_NAME(shape_friction_of)(system, touch);
    const bool slid = it.flags & FRICTION_SLIDES;
    const double most = acting_normal_force(system, it.at, touch) / it.stiffness; // m, for mu = 1
    const double kinetic = most * it.law.kinetic_coefficient;
    const double limit = slid ? kinetic : most * it.law.static_coefficient;
    const vec3 stretch =
        it.flags ? it.stretch : first_stretch(system, &it, touch, shapes->step.first);
    const double reached = vec3_length(stretch);
    bool slides = slid;
    double left = reached, heat = 0;
    if (reached > limit) {
        left = kinetic;
        slides = true;
        heat = friction_sliding_heat(it.stiffness, s->friction_stretch[it.at], slid, reached, limit,
                                     left);
    } else if (slid && vec3_dot(it.sliding, stretch) <= 0) {
        slides = false;
    }
    if (integrator_is_implicit(system->settings.integrator))
        heat = step_heat(system, touch, &it, reached, left, limit);
    sums[0] += heat;
    // The normal of a node near a ball turns while it slides or rolls. What the anchor then has
    // along the new normal is left out at each step, or the spring would lose or gain energy as it
    // turns.
    const bool turns = system->topology->colliders[touch->collider].type == COLLIDER_SPHERE;
    if (!it.flags || reached > limit || turns) {
        const vec3 spring = reached > limit ? vec3_scale(left / reached, stretch) : stretch;
        s->friction_anchor[it.at] = vec3_subtract(touch->point, spring);
    }
    s->friction_stretch[it.at] = left;
    s->friction_flags[it.at] =
        (uint8_t)(FRICTION_SEEN | FRICTION_TOUCHES | (slides ? FRICTION_SLIDES : 0) |
                  (touch->wall % 2 ? FRICTION_FAR_WALL : 0));
}

static void start_touch(struct system *system, const struct shape_touch *touch, void *unused)
{
    struct state *s = system->state;
    (void)unused;
    if (!has_friction(system, touch->collider))
        return;
    const size_t at = friction_index(system, &system->topology->colliders[touch->collider],
                                     touch->node, touch->wall);
    s->friction_anchor[at] = touch->point;
    s->friction_flags[at] =
        (uint8_t)(FRICTION_SEEN | FRICTION_TOUCHES | (touch->wall % 2 ? FRICTION_FAR_WALL : 0));
}

// Contacts that have not been seen have ended, and what their springs had left is lost: J. `acts`:
// friction of an implicit step may have acted on them within it.
static double end_contacts(struct system *system, const struct shape_chunk *chunk, bool acts)
{
    const struct shape_contact *shapes = system->surface_contact->shapes;
    struct state *s = system->state;
    const double stiffness = tangential_stiffness(system, chunk->body);
    double heat = 0;
    for (size_t c = 0; c < shapes->count; c++) {
        const struct scene_collider *collider = &system->topology->colliders[shapes->colliders[c]];
        for (size_t slot = 0; slot < collider_friction_slots(collider); slot++) {
            const size_t first = friction_index(system, collider, 0, 2 * (int)slot);
            for (size_t i = chunk->nodes.first; i < chunk->nodes.end; i++) {
                uint8_t *flags = &s->friction_flags[first + i];
                double *stretch = &s->friction_stretch[first + i];
                if (*flags & FRICTION_SEEN) {
                    *flags &= (uint8_t)~FRICTION_SEEN;
                    continue;
                }
                if (acts)
                    heat +=
                        taken_in_step(system, shapes->colliders[c], i, first + i, stiffness, true);
                if (*flags) {
                    heat += stiffness * *stretch * *stretch / 2;
                    *flags = 0;
                    *stretch = 0;
                }
            }
        }
    }
    return heat;
}

// Changes the memory of all contacts that are there; of the others it is forgotten. Returns the
// heat, the same on every worker, J.
static double visit_memory(struct system *system, double time, touch_visitor *visit, bool acts,
                           const struct worker *worker)
{
    struct shape_contact *shapes = system->surface_contact->shapes;
    double total[2], heat;
    REAL_NAME(shape_contact_find)(system, time, false, worker);
    sum_touches(system, visit, total, worker);
    heat = total[0];
    const struct range share = worker_share(worker, shapes->chunk_count, 1);
    for (size_t i = share.first; i < share.end; i++)
        shapes->sums[i][0] = end_contacts(system, &shapes->chunks[i], acts);
    worker_barrier(worker);
    for (size_t i = 0; i < shapes->chunk_count; i++)
        heat += shapes->sums[i][0];
    worker_barrier(worker);
    return heat;
}

void REAL_NAME(shape_friction_update)(struct system *system, struct friction_step step,
                                      const struct worker *worker)
{
    const struct surface_contact *it = system->surface_contact;
    if (!it || !it->shapes || !it->shapes->has_friction)
        return;
    if (worker->index == 0)
        it->shapes->step = step;
    const bool acts = system->contacts.friction_assumptions != NULL;
    const double heat = visit_memory(system, step.time, update_touch, acts, worker);
    if (worker->index == 0)
        system->work.done[WORK_FRICTION] += heat;
    stage_end(&system->clock, STAGE_COLLIDERS, worker);
}

void REAL_NAME(shape_friction_start)(struct system *system, double time,
                                     const struct worker *worker)
{
    const struct surface_contact *it = system->surface_contact;
    if (it && it->shapes && it->shapes->has_friction)
        (void)visit_memory(system, time, start_touch, false, worker);
}

// ---- Bounds

double REAL_NAME(shape_contact_weights)(const struct system *system, size_t body)
{
    const struct surface_contact *it = system->surface_contact;
    return it && it->shapes ? it->shapes->weights[body] : 0;
}

double REAL_NAME(shape_contact_damping)(const struct system *system, size_t body)
{
    const struct surface_contact *it = system->surface_contact;
    if (!it || !it->shapes || !it->shapes->has_friction)
        return 0;
    const double stiffness = stiffness_of(system, body), mass = it->shapes->least_mass[body];
    return it->shapes->springs[body] * fmax(surface_tangential_damping(stiffness, mass),
                                            surface_normal_damping(stiffness, mass));
}

// ---- Making

void REAL_NAME(shape_contact_masses)(struct system *system)
{
    struct shape_contact *shapes = system->surface_contact->shapes;
    for (size_t b = 0; shapes && b < system->topology->body_count; b++) {
        const struct range nodes = surface_nodes(system->topology, b);
        real most = 0; // of the inverse
        for (size_t i = nodes.first; i < nodes.end; i++) {
            const real inverse = system->constants->inverse_mass[i];
            most = inverse > most ? inverse : most;
        }
        shapes->least_mass[b] = most > 0 ? 1 / (double)most : INFINITY;
    }
}

static bool is_shape(const struct scene_collider *collider)
{
    return collider->response == RESPONSE_CONTACT && collider->type != COLLIDER_MESH;
}

// The greatest number of triangles, or of edges of surfaces without triangles, at a node of each
// body; 0 without a surface. False without memory.
static bool count_parts(const struct system *system, double *most)
{
    const struct surface_contact *it = system->surface_contact;
    const size_t nodes = (size_t)system->topology->node_count;
    uint32_t *counts = memory_allocate(NULL, nodes, sizeof *counts);
    if (!counts)
        return false;
    for (size_t b = 0; b < it->surfaces.block_count; b++) {
        const struct surface_block *block = &it->surfaces.blocks[b];
        for (size_t part = 0;
             block->body < system->topology->body_count && part < block_parts(block); part++) {
            int local[3];
            const int count = part_nodes(&it->surfaces, block, part, local);
            for (int i = 0; i < count; i++) {
                const uint32_t node = it->surfaces.nodes[block->first_node + (uint32_t)local[i]];
                most[block->body] = fmax(most[block->body], ++counts[node]);
            }
        }
    }
    memory_release(NULL, counts, nodes, sizeof *counts);
    return true;
}

// A contact of weight w and direction n has the tangent 4 k w w' n n' of its nodes, whose weights
// add up to 1, so it is nowhere greater than blocks 4 k w_i n n' at them: of a sphere one for each
// part at the node, of a plane one. In a corner of a room walls push along each axis, and springs
// of friction of half that stiffness of the other two; dampers along normals are more than twice
// those of friction.
static void find_weights(const struct system *system)
{
    struct shape_contact *shapes = system->surface_contact->shapes;
    for (size_t b = 0; b < system->topology->body_count; b++) {
        const double reach = 3 * shape_thickness(system, b), parts = fmax(1, shapes->weights[b]);
        shapes->bare[b] = shapes->weights[b] == 0;
        shapes->weights[b] = shapes->springs[b] = 0;
        for (size_t c = 0; c < shapes->count; c++) {
            const struct scene_collider *it = &system->topology->colliders[shapes->colliders[c]];
            const vec3 size = vec3_subtract(it->max, it->min);
            const bool is_room = it->type == COLLIDER_ROOM;
            const bool narrow = is_room && fmin(size.x, fmin(size.y, size.z)) < reach;
            const double walls = !is_room ? 1 : (it->coulomb.present ? 2 : 1) * (narrow ? 2 : 1);
            shapes->weights[b] += it->type == COLLIDER_SPHERE ? parts : walls;
            shapes->springs[b] += it->coulomb.present ? walls : 0;
        }
    }
}

#define ALLOCATE(array, count) ((array) = memory_allocate(allocator, (count), sizeof *(array)))
#define RELEASE(array, count)  memory_release(allocator, (array), (count), sizeof *(array))

static size_t count_chunks(const struct topology *topology)
{
    size_t count = 0;
    for (size_t b = 0; b < topology->body_count; b++)
        count += ((size_t)topology->bodies[b].node_count + CONTACT_BLOCK - 1) / CONTACT_BLOCK;
    return count;
}

static void make_chunks(const struct topology *topology, struct shape_contact *shapes)
{
    size_t at = 0;
    for (size_t b = 0; b < topology->body_count; b++) {
        const struct range nodes = surface_nodes(topology, b);
        shapes->first_chunk[b] = at;
        for (size_t i = nodes.first; i < nodes.end; i += CONTACT_BLOCK)
            shapes->chunks[at++] = (struct shape_chunk){
                b, {i, nodes.end - i < CONTACT_BLOCK ? nodes.end : i + CONTACT_BLOCK}};
    }
    shapes->first_chunk[topology->body_count] = at;
}

static bool allocate_start(const struct system *system, struct shape_contact *shapes)
{
    const taut_allocator *allocator = system->allocator;
    const size_t nodes = (size_t)system->topology->node_count;
    bool done = true;
    for (int axis = 0; axis < 3; axis++) {
        done = done && ALLOCATE(shapes->start[axis], nodes);
        if (state_is_mixed(system->state))
            done = done && ALLOCATE(shapes->start_low[axis], nodes);
    }
    return done;
}

static bool allocate(const struct system *system, struct shape_contact *shapes)
{
    const taut_allocator *allocator = system->allocator;
    const struct topology *topology = system->topology;
    const size_t blocks = system->surface_contact->surfaces.block_count;
    const size_t bodies = topology->body_count, spheres = shapes->sphere_count;
    shapes->chunk_count = count_chunks(topology);
    return ALLOCATE(shapes->colliders, shapes->count) && ALLOCATE(shapes->spheres, spheres) &&
           ALLOCATE(shapes->chunks, shapes->chunk_count) &&
           ALLOCATE(shapes->first_chunk, bodies + 1) && ALLOCATE(shapes->bare, bodies) &&
           ALLOCATE(shapes->weights, bodies) && ALLOCATE(shapes->springs, bodies) &&
           ALLOCATE(shapes->least_mass, bodies) && ALLOCATE(shapes->own, bodies) &&
           allocate_start(system, shapes) && ALLOCATE(shapes->start_boxes, shapes->chunk_count) &&
           ALLOCATE(shapes->boxes, shapes->chunk_count) &&
           ALLOCATE(shapes->near, shapes->chunk_count) &&
           ALLOCATE(shapes->chunk_passes, shapes->chunk_count) &&
           ALLOCATE(shapes->node_passes, (size_t)topology->node_count) &&
           ALLOCATE(shapes->part_passes, spheres * blocks) &&
           ALLOCATE(shapes->body_near, spheres * bodies) &&
           ALLOCATE(shapes->block_near, spheres * blocks) &&
           ALLOCATE(shapes->slot_of, spheres * blocks) && ALLOCATE(shapes->receives, blocks) &&
           ALLOCATE(shapes->sums, shapes->chunk_count + blocks);
}

static bool assumes_friction(const struct system *system, const struct shape_contact *shapes)
{
    return shapes->has_friction && integrator_is_implicit(system->settings.integrator);
}

taut_status REAL_NAME(shape_contact_make)(struct system *system, const taut_scene *scene,
                                          taut_error *error)
{
    const struct topology *topology = system->topology;
    size_t count = 0, spheres = 0;
    for (size_t c = 0; c < topology->collider_count; c++) {
        count += is_shape(&topology->colliders[c]);
        spheres +=
            is_shape(&topology->colliders[c]) && topology->colliders[c].type == COLLIDER_SPHERE;
    }
    if (count == 0)
        return TAUT_OK;
    struct shape_contact *shapes = memory_allocate(system->allocator, 1, sizeof *shapes);
    if (!shapes)
        return fail_memory(error, "contact with colliders");
    system->surface_contact->shapes = shapes;
    shapes->count = count;
    shapes->sphere_count = spheres;
    if (!allocate(system, shapes) || !count_parts(system, shapes->weights))
        return fail_memory(error, "contact with colliders");
    count = spheres = 0;
    for (size_t c = 0; c < topology->collider_count; c++) {
        if (!is_shape(&topology->colliders[c]))
            continue;
        shapes->colliders[count++] = c;
        if (topology->colliders[c].type == COLLIDER_SPHERE)
            shapes->spheres[spheres++] = c;
        shapes->has_friction |= topology->colliders[c].coulomb.present;
    }
    const taut_allocator *allocator = system->allocator;
    if (assumes_friction(system, shapes) &&
        (!ALLOCATE(shapes->assumed, SHAPE_LISTS) || !ALLOCATE(shapes->changes, SHAPE_LISTS)))
        return fail_memory(error, "contact with colliders");
    shapes->half_thickness = scene->contact.thickness / 2;
    for (size_t b = 0; b < topology->body_count; b++)
        shapes->own[b] = scene->bodies[b].contact.friction;
    make_chunks(topology, shapes);
    find_weights(system);
    REAL_NAME(shape_contact_masses)(system);
    return TAUT_OK;
}

void REAL_NAME(shape_contact_free)(struct system *system)
{
    struct shape_contact *shapes = system->surface_contact->shapes;
    const taut_allocator *allocator = system->allocator;
    if (!shapes)
        return;
    const size_t blocks = system->surface_contact->surfaces.block_count;
    const size_t bodies = system->topology->body_count, spheres = shapes->sphere_count;
    RELEASE(shapes->colliders, shapes->count);
    RELEASE(shapes->spheres, spheres);
    RELEASE(shapes->chunks, shapes->chunk_count);
    RELEASE(shapes->first_chunk, bodies + 1);
    RELEASE(shapes->bare, bodies);
    RELEASE(shapes->weights, bodies);
    RELEASE(shapes->springs, bodies);
    RELEASE(shapes->least_mass, bodies);
    RELEASE(shapes->own, bodies);
    for (int axis = 0; axis < 3; axis++) {
        RELEASE(shapes->start[axis], (size_t)system->topology->node_count);
        RELEASE(shapes->start_low[axis], (size_t)system->topology->node_count);
    }
    RELEASE(shapes->start_boxes, shapes->chunk_count);
    RELEASE(shapes->boxes, shapes->chunk_count);
    RELEASE(shapes->near, shapes->chunk_count);
    RELEASE(shapes->chunk_passes, shapes->chunk_count);
    RELEASE(shapes->node_passes, (size_t)system->topology->node_count);
    RELEASE(shapes->part_passes, spheres * blocks);
    RELEASE(shapes->body_near, spheres * bodies);
    RELEASE(shapes->block_near, spheres * blocks);
    RELEASE(shapes->slot_of, spheres * blocks);
    RELEASE(shapes->receives, blocks);
    RELEASE(shapes->sums, shapes->chunk_count + blocks);
    for (size_t i = 0; shapes->assumed && i < SHAPE_LISTS; i++)
        free(shapes->assumed[i].items);
    RELEASE(shapes->assumed, SHAPE_LISTS);
    RELEASE(shapes->changes, SHAPE_LISTS);
    free(shapes->slots);
    RELEASE(shapes, 1);
    system->surface_contact->shapes = NULL;
}

uint64_t REAL_NAME(shape_contact_bytes)(const struct system *system)
{
    const struct shape_contact *shapes = system->surface_contact->shapes;
    if (!shapes)
        return 0;
    const uint64_t blocks = system->surface_contact->surfaces.block_count;
    const uint64_t bodies = system->topology->body_count, spheres = shapes->sphere_count;
    uint64_t assumed = 0;
    for (size_t i = 0; shapes->assumed && i < SHAPE_LISTS; i++)
        assumed += sizeof *shapes->assumed + sizeof *shapes->changes +
                   shapes->assumed[i].capacity * sizeof *shapes->assumed[i].items;
    return assumed + sizeof *shapes + (shapes->count + spheres + bodies + 1) * sizeof(size_t) +
           shapes->chunk_count * (sizeof *shapes->chunks + 2 * sizeof *shapes->boxes + 2) +
           bodies * (sizeof(bool) + 3 * sizeof(double) + sizeof *shapes->own + spheres) +
           system->topology->node_count *
               ((state_is_mixed(system->state) ? 6 : 3) * sizeof(real) + 1) +
           blocks * (spheres * (1 + sizeof *shapes->slot_of + sizeof *shapes->part_passes) + 1) +
           (shapes->chunk_count + blocks) * sizeof *shapes->sums +
           shapes->slot_capacity * sizeof *shapes->slots;
}
