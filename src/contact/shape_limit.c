// Cuts the motion of a step where a node would pass a plane or the wall of a room, or a triangle or
// an edge a sphere (shape_contact.h), as surface_limit.c does between surfaces; and finds the
// distances of everything from such colliders.
//
// The nodes of a triangle lie beyond the plane through its point that is nearest to the centre of
// the sphere, at right angles to the line to it. As long as they stay beyond a plane with that
// normal which touches the moving sphere, the triangle cannot have passed through it: the distance
// from that plane is linear in time for nodes on straight paths, and the triangle is convex.
//
// All workers look for the nodes and triangles that pass; the first one cuts these, in their order.
#include "contact/shape_contact.h"
#include "contact/surface_carriers.h"

#include <string.h>

#include "contact/culling.h"
#include "contact/friction.h"
#include "contact/surface_rollback.h"
#include "contact/surface_shares.h"
#include "ranks/ranks.h"
#include "state/reading.h"

// A node may use all but this fraction of its distance, and stays this fraction of the thickness
// away; what comes from afar stops at the reach of the barrier, at the latest.
static const double MARGIN = 0.1, LEAST = 0.02, MOST = 1.5;

// What is done with the motion of a step.
struct limit {
    struct system *system;
    double end;               // s, of the step
    bool looks;               // for what passes, and notes it; otherwise what has been noted counts
    bool cuts, along_normals; // it, or only its fraction is found
    bool found, stuck;        // something passes; a node with a prescribed motion does
    double work;              // J, of shapes that move on what has been cut
    double fraction;          // of the step, which a shape that does not move leaves
};

// A shape during the step: where it starts, and how far it moves.
struct shape_motion {
    struct surface start;
    vec3 moved;
    size_t collider;
};

static struct shape_motion shape_motion(const struct limit *limit, size_t collider)
{
    const double start = limit->system->surface_contact->shapes->start_time;
    const struct surface first = surface_at(limit->system, collider, start),
                         last = surface_at(limit->system, collider, limit->end);
    return (struct shape_motion){first, vec3_subtract(last.centre, first.centre), collider};
}

// How far from the shape, m, a node would have to end at most to be cut.
static double zone(const struct system *system, size_t body)
{
    return 1.001 * MOST / 2 * shape_thickness(system, body);
}

// ---- One node

// What is taken of a motion relative to a shape if a part of its approach is: along the normal, and
// of what is left, as far as friction goes, along the surface.
static vec3 taken_along(vec3 relative, vec3 normal, double part, const struct scene_friction *law)
{
    const double approach = -part * vec3_dot(relative, normal);
    const vec3 sliding = friction_along(relative, normal);
    const double stopped = friction_stopped_part(law, approach, vec3_length(sliding));
    return vec3_add(vec3_scale(-approach, normal), vec3_scale(stopped, sliding));
}

// A node, `height` above a shape along the normal at the start of the step; `gap`: of the nearest
// point of its triangle. Returns whether it passes.
static bool limit_node(struct limit *limit, const struct shape_motion *shape, size_t body,
                       size_t node, vec3 normal, double height, double gap)
{
    struct system *system = limit->system;
    struct state *s = system->state;
    const double thickness = shape_thickness(system, body);
    const double keep = fmin(fmax(MARGIN * gap, LEAST * thickness), MOST * thickness);
    const vec3 position = state_position(s, node);
    const vec3 moved = vec3_subtract(position, shape_start(system, node));
    const vec3 relative = vec3_subtract(moved, shape->moved);
    const double approach = -vec3_dot(normal, relative);
    if (!(approach > height - keep / 2 && approach > 0))
        return false;
    if (system->constants->inverse_mass[node] == 0) {
        limit->stuck = true;
        return true;
    }
    limit->found = true;
    const double left = fmax(0, height - keep) / approach;
    if (vec3_dot(shape->moved, shape->moved) == 0)
        limit->fraction = fmin(limit->fraction, left);
    if (!limit->cuts)
        return true;
    const double lost = 1 - left;
    const vec3 velocity = step_velocity(s, node);
    const vec3 speed = vec3_subtract(velocity, shape->start.velocity);
    vec3 back = vec3_scale(lost, relative), slower = vec3_scale(lost, speed);
    if (system->surface_contact->carries && vec3_dot(shape->moved, shape->moved) > 0)
        system->surface_contact->carriers->of[node] = (uint32_t)REAL_NAME(carrier_of_shape)(
            system, shape->collider, shape->moved, shape->start.velocity);
    if (!limit->along_normals)
        count_stopped(system);
    else {
        const struct scene_friction law =
            REAL_NAME(shape_friction_law)(system, shape->collider, body);
        back = taken_along(relative, normal, lost, &law);
        slower = taken_along(speed, normal, lost, &law);
    }
    REAL_NAME(surface_rollback_log)(system, node);
    state_put(s, node, vec3_subtract(position, back));
    put_step_velocity(system, node, vec3_subtract(velocity, slower));
    limit->work -=
        vec3_dot(slower, shape->start.velocity) / (double)system->constants->inverse_mass[node];
    REAL_NAME(surface_rollback_note)(system, node);
    return true;
}

// ---- Nodes of chunks

// Returns whether any node passes, or, if they have been noted, has passed.
static bool limit_chunk(struct limit *limit, const struct shape_motion *shape,
                        const struct shape_chunk *chunk)
{
    uint8_t *passing = limit->system->surface_contact->shapes->node_passes;
    bool any = false;
    for (size_t node = chunk->nodes.first; node < chunk->nodes.end; node++) {
        struct contact contacts[6];
        if (!limit->looks && !passing[node])
            continue;
        const int count =
            surface_contacts(&shape->start, shape_start(limit->system, node), HUGE_VAL, contacts);
        bool passes = false;
        for (int i = 0; i < count; i++)
            passes |= limit_node(limit, shape, chunk->body, node, contacts[i].normal,
                                 -contacts[i].depth, -contacts[i].depth);
        if (limit->looks)
            passing[node] |= passes;
        any |= passes;
    }
    return any;
}

static void include_box(struct block_box *box, const struct block_box *other, vec3 moved)
{
    const double *least = other->least, *most = other->most;
    box_include(box, vec3_subtract(vec3_make(least[0], least[1], least[2]), moved));
    box_include(box, vec3_subtract(vec3_make(most[0], most[1], most[2]), moved));
}

// Chunks; whoever looks for what passes finds their boxes at the end of the step.
static void limit_chunks(struct limit *limit, struct range chunks)
{
    struct system *system = limit->system;
    struct shape_contact *shapes = system->surface_contact->shapes;
    for (size_t i = chunks.first; i < chunks.end; i++) {
        const struct shape_chunk *chunk = &shapes->chunks[i];
        if (!limit->looks && !shapes->chunk_passes[i])
            continue;
        if (limit->looks) {
            shapes->boxes[i] = box_of_nodes(system, chunk->nodes);
            shapes->chunk_passes[i] = 0;
            memset(shapes->node_passes + chunk->nodes.first, 0,
                   chunk->nodes.end - chunk->nodes.first);
        }
        for (size_t c = 0; c < shapes->count; c++) {
            const struct shape_motion shape = shape_motion(limit, shapes->colliders[c]);
            const bool sphere = shape.start.it->type == COLLIDER_SPHERE;
            struct block_box box = no_box();
            if (sphere && !shapes->bare[chunk->body])
                continue;
            if (!limit->looks) {
                (void)limit_chunk(limit, &shape, chunk);
                continue;
            }
            include_box(&box, &shapes->boxes[i], shape.moved);
            if (sphere) // which nodes may have passed
                include_box(&box, &shapes->start_boxes[i], vec3_make(0, 0, 0));
            if (REAL_NAME(surface_is_near_box)(&shape.start, &box, zone(system, chunk->body)))
                shapes->chunk_passes[i] |= limit_chunk(limit, &shape, chunk);
        }
    }
}

// ---- Triangles and edges

bool REAL_NAME(shape_bodies_find)(struct system *system, double end)
{
    const struct limit limit = {.system = system, .end = end};
    struct shape_contact *shapes = system->surface_contact->shapes;
    const size_t bodies = system->topology->body_count;
    bool any = false;
    for (size_t k = 0; k < shapes->sphere_count; k++) {
        const struct shape_motion sphere = shape_motion(&limit, shapes->spheres[k]);
        for (size_t b = 0; b < bodies; b++) {
            struct block_box box = no_box();
            for (size_t i = shapes->first_chunk[b]; i < shapes->first_chunk[b + 1]; i++) {
                include_box(&box, &shapes->start_boxes[i], vec3_make(0, 0, 0));
                include_box(&box, &shapes->boxes[i], sphere.moved);
            }
            const double reach = (double)shape_barrier(system, b).reach;
            const bool near =
                !shapes->bare[b] && REAL_NAME(surface_is_near_box)(&sphere.start, &box, reach);
            shapes->body_near[k * bodies + b] = near;
            any |= near;
        }
    }
    return any;
}

// Returns whether a node of it passes.
static bool limit_part(struct limit *limit, const struct shape_motion *sphere, size_t body,
                       const uint32_t *nodes, int count)
{
    const struct system *system = limit->system;
    const vec3 centre = sphere->start.centre;
    vec3 at[3];
    double weights[3], most = 0;
    for (int i = 0; i < count; i++) {
        at[i] = shape_start(system, nodes[i]);
        const vec3 moved = vec3_subtract(state_position(system->state, nodes[i]), at[i]);
        most = fmax(most, vec3_length(vec3_subtract(moved, sphere->moved)));
    }
    const vec3 out = nearest_of_part(centre, at, count, weights);
    const double distance = vec3_length(out), gap = distance - sphere->start.radius;
    if (distance == 0 || gap - most > zone(system, body))
        return false;
    const vec3 normal = vec3_scale(1 / distance, out);
    bool passes = false;
    for (int i = 0; i < count; i++)
        passes |=
            limit_node(limit, sphere, body, nodes[i], normal,
                       vec3_dot(normal, vec3_subtract(at[i], centre)) - sphere->start.radius, gap);
    return passes;
}

// Those of a block that have been noted, or all of it; returns those that pass.
static uint64_t limit_parts(struct limit *limit, const struct shape_motion *sphere,
                            const struct surface_block *block, uint64_t noted)
{
    const struct surface_contact *it = limit->system->surface_contact;
    const uint32_t *entries = it->surfaces.nodes + block->first_node;
    uint64_t passing = 0;
    for (size_t part = 0; part < block_parts(block); part++) {
        int local[3];
        if (!limit->looks && !(noted >> part & 1))
            continue;
        const int count = part_nodes(&it->surfaces, block, part, local);
        const uint32_t nodes[3] = {entries[local[0]], entries[local[1]], entries[local[count - 1]]};
        if (limit_part(limit, sphere, block->body, nodes, count))
            passing |= UINT64_C(1) << part;
    }
    return passing;
}

// Whether a sphere may be near what the step of a block sweeps.
static bool block_may_pass(const struct system *system, const struct shape_motion *sphere,
                           const struct surface_block *block)
{
    const uint32_t *entries = system->surface_contact->surfaces.nodes + block->first_node;
    struct block_box box = no_box();
    for (uint32_t i = 0; i < block->nodes; i++) {
        box_include(&box, shape_start(system, entries[i]));
        box_include(&box, vec3_subtract(state_position(system->state, entries[i]), sphere->moved));
    }
    return REAL_NAME(surface_is_near_box)(&sphere->start, &box, zone(system, block->body));
}

// Those that have been noted.
static void cut_parts(struct limit *limit, const struct shape_motion *sphere, size_t block,
                      uint64_t noted)
{
    struct surface_contact *it = limit->system->surface_contact;
    const bool stuck = limit->stuck;
    if (noted == 0)
        return;
    limit->stuck = false;
    (void)limit_parts(limit, sphere, &it->surfaces.blocks[block], noted);
    if (limit->stuck) // so that it is looked at again
        it->changed[block] |= CHANGED_NOW;
    limit->stuck |= stuck;
}

// Which blocks are looked at: also those in which no node has been moved since that was done; those
// of the lists that are this rank's, or the rest (surface_shares.h).
enum block_choice { BLOCKS_MOVED, BLOCKS_ALL, BLOCKS_OWN, BLOCKS_REST };

static bool is_chosen(const struct surface_contact *it, size_t block, enum block_choice choice)
{
    if (choice == BLOCKS_MOVED)
        return it->changed[block] & CHANGED_BEFORE;
    return choice == BLOCKS_ALL || it->shares->lists[block / PAIR_CHUNK] == (choice == BLOCKS_OWN);
}

static void limit_blocks(struct limit *limit, struct range blocks, enum block_choice choice)
{
    const struct system *system = limit->system;
    const struct surface_contact *it = system->surface_contact;
    struct shape_contact *shapes = it->shapes;
    const size_t bodies = system->topology->body_count;
    for (size_t k = 0; k < shapes->sphere_count; k++) {
        const struct shape_motion sphere = shape_motion(limit, shapes->spheres[k]);
        for (size_t b = blocks.first; b < blocks.end; b++) {
            const struct surface_block *block = &it->surfaces.blocks[b];
            uint64_t *passing = &shapes->part_passes[k * it->surfaces.block_count + b];
            if (!limit->looks) {
                cut_parts(limit, &sphere, b, *passing);
                continue;
            }
            if (choice == BLOCKS_REST && !is_chosen(it, b, choice))
                continue;
            *passing = 0;
            if (is_chosen(it, b, choice) && block->body < bodies &&
                shapes->body_near[k * bodies + block->body] &&
                block_may_pass(system, &sphere, block))
                *passing = limit_parts(limit, &sphere, block, 0);
        }
    }
}

// ---- A step

void REAL_NAME(shape_contact_look)(struct system *system, bool all, const struct worker *worker)
{
    const struct surface_contact *it = system->surface_contact;
    struct shape_contact *shapes = it->shapes;
    struct limit limit = {.system = system, .end = shapes->end_time, .looks = true};
    limit_chunks(&limit, worker_share(worker, shapes->chunk_count, 1));
    worker_barrier(worker);
    if (worker->index == 0)
        (void)REAL_NAME(shape_bodies_find)(system, shapes->end_time);
    worker_barrier(worker);
    const struct range blocks = worker_share(worker, it->surfaces.block_count, 1);
    const bool shared = all && surface_shares(system);
    limit_blocks(&limit, blocks, shared ? BLOCKS_OWN : all ? BLOCKS_ALL : BLOCKS_MOVED);
    if (limit.found || limit.stuck)
        atomic_store(&shapes->passes, true);
    worker_barrier(worker);
    if (!shared)
        return;
    // Where nothing passes on any rank, none looks at the blocks of others.
    if (worker->index == 0)
        atomic_store(&shapes->passes, ranks_any(atomic_load(&shapes->passes)));
    worker_barrier(worker);
    if (!atomic_load(&shapes->passes))
        return;
    limit_blocks(&limit, blocks, BLOCKS_REST);
    worker_barrier(worker);
}

bool REAL_NAME(shape_contact_passes)(struct system *system, double end, const struct worker *worker)
{
    struct shape_contact *shapes = system->surface_contact->shapes;
    worker_barrier(worker); // all have finished with the boxes
    if (worker->index == 0)
        atomic_store(&shapes->passes, false);
    if (worker->index == 0)
        shapes->end_time = end;
    worker_barrier(worker);
    REAL_NAME(shape_contact_look)(system, true, worker);
    return atomic_load(&shapes->passes);
}

bool REAL_NAME(shape_contact_cut)(struct system *system, bool along_normals, bool *stuck)
{
    const struct surface_contact *it = system->surface_contact;
    struct limit limit = {
        .system = system,
        .end = it->shapes->end_time,
        .cuts = true,
        .along_normals = along_normals,
    };
    limit_chunks(&limit, (struct range){0, it->shapes->chunk_count});
    limit_blocks(&limit, (struct range){0, it->surfaces.block_count}, BLOCKS_ALL);
    *stuck |= limit.stuck;
    system->surface_contact->cut_work += limit.work;
    return limit.found;
}

double REAL_NAME(shape_contact_fraction)(struct system *system)
{
    const struct surface_contact *it = system->surface_contact;
    struct limit limit = {.system = system, .end = it->shapes->end_time, .fraction = 1};
    limit_chunks(&limit, (struct range){0, it->shapes->chunk_count});
    limit_blocks(&limit, (struct range){0, it->surfaces.block_count}, BLOCKS_ALL);
    return limit.fraction;
}

// ---- Distances

static void visit_nodes(const struct system *system, const struct surface *surface, size_t collider,
                        const struct shape_chunk *chunk, shape_visitor *visit, void *context)
{
    const double thickness = shape_thickness(system, chunk->body);
    for (size_t i = chunk->nodes.first; i < chunk->nodes.end; i++) {
        struct contact contacts[6];
        const int count =
            surface_contacts(surface, state_position(system->state, i), HUGE_VAL, contacts);
        for (int c = 0; c < count; c++) {
            const struct shape_nearest part = {.part = -contacts[c].depth / thickness,
                                               .distance = -contacts[c].depth,
                                               .collider = collider,
                                               .body = chunk->body,
                                               .count = 1,
                                               .nodes = {(uint32_t)i}};
            visit(context, &part, contacts[c].normal);
        }
    }
}

static void visit_parts(const struct system *system, const struct surface *sphere, size_t collider,
                        const struct surface_block *block, shape_visitor *visit, void *context)
{
    const struct surfaces *surfaces = &system->surface_contact->surfaces;
    for (size_t i = 0; i < block_parts(block); i++) {
        int local[3];
        double weights[3];
        vec3 at[3];
        struct shape_nearest part = {.collider = collider,
                                     .body = block->body,
                                     .count = part_nodes(surfaces, block, i, local)};
        for (int n = 0; n < part.count; n++) {
            part.nodes[n] = surfaces->nodes[block->first_node + (uint32_t)local[n]];
            at[n] = state_position(system->state, part.nodes[n]);
        }
        const vec3 out = nearest_of_part(sphere->centre, at, part.count, weights);
        const double length = vec3_length(out);
        part.distance = length - sphere->radius;
        part.part = part.distance / shape_thickness(system, block->body);
        visit(context, &part, length > 0 ? vec3_scale(1 / length, out) : out);
    }
}

void REAL_NAME(shape_contact_visit)(const struct system *system, shape_visitor *visit,
                                    void *context)
{
    const struct surface_contact *it = system->surface_contact;
    const struct shape_contact *shapes = it ? it->shapes : NULL;
    const double time = step_time(system, system->state->step);
    for (size_t c = 0; shapes && c < shapes->count; c++) {
        const size_t collider = shapes->colliders[c];
        const struct surface surface = surface_at(system, collider, time);
        const bool sphere = surface.it->type == COLLIDER_SPHERE;
        for (size_t i = 0; i < shapes->chunk_count; i++)
            if (!sphere || shapes->bare[shapes->chunks[i].body])
                visit_nodes(system, &surface, collider, &shapes->chunks[i], visit, context);
        for (size_t b = 0; sphere && b < it->surfaces.block_count; b++)
            if (it->surfaces.blocks[b].body < system->topology->body_count)
                visit_parts(system, &surface, collider, &it->surfaces.blocks[b], visit, context);
    }
}

struct search {
    const struct system *system;
    struct shape_nearest *nearest;
};

static void keep_nearest(void *context, const struct shape_nearest *part, vec3 normal)
{
    const struct search *search = context;
    struct shape_nearest *nearest = search->nearest;
    const struct barrier barrier = shape_barrier(search->system, part->body);
    const uint64_t pressed = nearest->pressed + (part->part <= SURFACES_PRESSED);
    double energy = nearest->energy;
    (void)normal;
    if (part->distance < (double)barrier.reach)
        energy += (double)barrier_energy(&barrier, (real)part->distance);
    if (part->part < nearest->part)
        *nearest = *part;
    nearest->pressed = pressed;
    nearest->energy = energy;
}

struct shape_nearest REAL_NAME(shape_contact_nearest)(const struct system *system)
{
    struct shape_nearest nearest = {.part = INFINITY};
    REAL_NAME(shape_contact_visit)(system, keep_nearest, &(struct search){system, &nearest});
    return nearest;
}
