// Which pairs of blocks are near each other, which of their candidates are listed, and when both are
// found again.
//
// Lists have all pairs of blocks up to the reach of the barrier and a skin, and are complete until two
// surfaces may have moved relative to each other by more than that. This is measured between tiles:
// a sheet or a rope is cut into tiles, other bodies are one tile. A tile has the nodes of all its
// edges and triangles, so that tiles overlap, and what each edge or triangle moves is bounded by
// what one tile moves. So neither the common motion of bodies nor that of the parts of a cloth uses
// up the skin, and tiles that were far from each other may move by their distance.
//
// A list all of whose pairs are so far out of reach that none can be within it before lists are made
// again sleeps: it costs nothing until then. The distances of its pairs limit what their tiles may move.
//
// A pair of blocks knows how far apart its candidates are at least, and subtracts what its blocks move
// relative to each other. When that does not keep it out of reach any more, its candidates are found,
// with a skin of its own; those that are not listed then are at least so far apart, and the same pair
// is not searched again before they may be within reach (the dual pair lists of GROMACS: Pall et al.
// 2020). Pairs keep this when the lists of pairs are made again.
#include "contact/flat_sheets.h"
#include "contact/surface_shares.h"
#include "contact/surface_tangent.h"

#include <assert.h>
#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/sort.h"
#include "ranks/ranks.h"
#include "state/reading.h"

// The skin of a tile, in units of half the thickness of its body: the faster tiles move relative to
// each other, the wider. Wider lists last for more steps, and cost more in each: with 1 instead of
// 1/4 a step of a folding cloth takes twice as long. Beyond the upper limit a run has diverged.
static const double SKIN_MIN = 0.25, SKIN_MAX = 512;

// ---- Tiles

// Cells of a tile along an axis at least, tiles of a body along an axis and of all bodies at most:
// every step looks at all pairs of tiles.
enum { TILE_CELLS = 24, TILES_ALONG = 17, TILES = 320 };

// The nodes along both axes of a body that is cut into tiles; false if it is one tile.
static bool tiled_nodes(const struct topology *topology, size_t b, uint64_t nodes[2])
{
    if (b >= topology->body_count)
        return false;
    const struct topology_body *body = &topology->bodies[b];
    if (body->is_sheet) {
        nodes[0] = body->grid[0];
        nodes[1] = body->grid[1];
        return true;
    }
    nodes[0] = body->node_count;
    nodes[1] = 1;
    return body->type == BODY_ROPE && body->grid[0] > 0 && !body->is_cut_grid;
}

static uint64_t tiles_along(uint64_t nodes, uint64_t most)
{
    return nodes <= 2 * TILE_CELLS ? 1 : min_u64((nodes - 1) / TILE_CELLS, most);
}

static uint64_t count_tiles(const struct surface_contact *it, const struct topology *topology,
                            uint64_t most)
{
    uint64_t count = 0, nodes[2];
    for (size_t b = 0; b < it->body_count; b++)
        if (it->wanted[b])
            count += tiled_nodes(topology, b, nodes)
                         ? tiles_along(nodes[0], most) * tiles_along(nodes[1], most)
                         : 1;
    return count;
}

// The tiles of a sheet or rope: cells are divided evenly, and the nodes between two tiles are in
// both.
static void add_sheet_tiles(struct surface_contact *it, size_t b, size_t first_node,
                            const uint64_t nodes[2], uint64_t most)
{
    const uint64_t along[2] = {tiles_along(nodes[0], most), tiles_along(nodes[1], most)};
    for (uint64_t y = 0; y < along[1]; y++)
        for (uint64_t x = 0; x < along[0]; x++) {
            const uint64_t at[2] = {x, y};
            uint64_t first[2], count[2];
            for (int axis = 0; axis < 2; axis++) {
                first[axis] = (nodes[axis] - 1) * at[axis] / along[axis];
                count[axis] = (nodes[axis] - 1) * (at[axis] + 1) / along[axis] - first[axis] + 1;
            }
            it->tile_parts[it->tile_part_count++] =
                (struct tile_part){it->tile_count,
                                   {(size_t)(first_node + first[1] * nodes[0] + first[0]),
                                    (size_t)count[1], (size_t)count[0], (size_t)nodes[0]}};
            it->tile_bodies[it->tile_count++] = (uint32_t)b;
        }
}

// A body that is one tile, in parts of SUM_CHUNK nodes, which different workers look at.
static void add_whole_tile(struct surface_contact *it, size_t b, struct range nodes)
{
    for (size_t at = nodes.first; at < nodes.end; at += SUM_CHUNK) {
        const size_t count = nodes.end - at < SUM_CHUNK ? nodes.end - at : SUM_CHUNK;
        it->tile_parts[it->tile_part_count++] =
            (struct tile_part){it->tile_count, {at, 1, count, count}};
    }
    it->tile_bodies[it->tile_count++] = (uint32_t)b;
}

// The tiles of a block of a body, whose tiles are those from `first` on.
static struct block_tiles find_block_tiles(const struct surface_contact *it,
                                           const struct surface_block *block, size_t first_part,
                                           bool tiled)
{
    struct block_tiles found = {.count = 1};
    const struct tile_part *parts = it->tile_parts + first_part;
    found.tiles[0] = (uint16_t)parts->tile;
    if (!tiled)
        return found;
    // The part of the grid with the nodes of the block.
    const size_t stride = parts->nodes.stride, first_node = parts->nodes.first;
    size_t least[2] = {SIZE_MAX, SIZE_MAX}, most[2] = {0, 0};
    for (uint32_t i = 0; i < block->nodes; i++) {
        const size_t node = it->surfaces.nodes[block->first_node + i] - first_node;
        const size_t at[2] = {node % stride, node / stride};
        for (int axis = 0; axis < 2; axis++) {
            least[axis] = at[axis] < least[axis] ? at[axis] : least[axis];
            most[axis] = at[axis] > most[axis] ? at[axis] : most[axis];
        }
    }
    found.count = 0;
    for (size_t p = first_part; p < it->tile_part_count; p++) {
        const struct tile_part *part = &it->tile_parts[p];
        if (it->tile_bodies[part->tile] != block->body)
            break;
        const size_t x = (part->nodes.first - first_node) % stride,
                     y = (part->nodes.first - first_node) / stride;
        if (x > most[0] || x + part->nodes.count - 1 < least[0] || y > most[1] ||
            y + part->nodes.rows - 1 < least[1])
            continue;
        if (found.count == BLOCK_TILES)
            return (struct block_tiles){.count = 0};
        found.tiles[found.count++] = (uint16_t)part->tile;
    }
    return found;
}

static void set_block_tiles(struct surface_contact *it, const struct topology *topology)
{
    size_t part = 0;
    for (size_t b = 0; b < it->surfaces.block_count; b++) {
        const struct surface_block *block = &it->surfaces.blocks[b];
        uint64_t nodes[2];
        while (it->tile_bodies[it->tile_parts[part].tile] != block->body)
            part++;
        it->block_tiles[b] =
            find_block_tiles(it, block, part, tiled_nodes(topology, block->body, nodes));
    }
}

#define ALLOCATE(array, count) ((array) = memory_allocate(allocator, (count), sizeof *(array)))

enum { LANES = 16 };

static bool allocate_pairs(struct surface_contact *it, const taut_allocator *allocator)
{
    bool done = true;
    it->tile_stride = (it->tile_capacity + LANES - 1) / LANES * LANES;
    for (int axis = 0; axis < 3; axis++)
        done = done && ALLOCATE(it->moved_least[axis], it->tile_stride) &&
               ALLOCATE(it->moved_most[axis], it->tile_stride);
    return done && ALLOCATE(it->tightness, it->tile_capacity * it->tile_stride);
}

static bool velocities_move_nodes(const struct settings *settings)
{
    return settings->integrator == INTEGRATOR_SYMPLECTIC_EULER ||
           settings->integrator == INTEGRATOR_VELOCITY_VERLET;
}

// The time by which they do.
static double moving_step(const struct settings *settings)
{
    return settings->integrator == INTEGRATOR_SYMPLECTIC_EULER ? settings->position_step
                                                               : settings->dt;
}

// Whether a step of this system moves each node by its velocity, and nothing else moves any.
static bool velocities_bound_motion(const struct system *system)
{
    const struct settings *settings = &system->settings;
    return velocities_move_nodes(settings) && !plan_is_reference(system->plan) &&
           system->topology->motion_count == 0 && !settings->projects &&
           !system->mouse_spring.pulls && system->kinematic_targets.count == 0 &&
           !system->surface_contact->colliders_move && !system->surface_contact->relaxes;
}

bool REAL_NAME(surface_lists_make)(struct system *system)
{
    struct surface_contact *it = system->surface_contact;
    const struct topology *topology = system->topology;
    const taut_allocator *allocator = system->allocator;
    uint64_t most = TILES_ALONG, nodes[2];
    size_t parts = 0;
    while (most > 1 && count_tiles(it, topology, most) > TILES)
        most--;
    it->tile_capacity = (size_t)count_tiles(it, topology, most);
    for (size_t b = 0; b < it->body_count; b++) {
        const struct range all = surface_nodes(topology, b);
        parts += it->wanted[b] ? (all.end - all.first + SUM_CHUNK - 1) / SUM_CHUNK : 0;
    }
    it->tile_part_capacity = parts + it->tile_capacity;
    if (!ALLOCATE(it->tile_bodies, it->tile_capacity) ||
        !ALLOCATE(it->tile_parts, it->tile_part_capacity) ||
        !ALLOCATE(it->part_boxes, it->tile_part_capacity) ||
        !ALLOCATE(it->part_speeds, it->tile_part_capacity) ||
        !ALLOCATE(it->moved, it->tile_capacity) || !ALLOCATE(it->bounds, it->tile_capacity) ||
        !allocate_pairs(it, allocator))
        return false;
    for (size_t b = 0; b < it->body_count; b++) {
        if (!it->wanted[b])
            continue;
        const struct range all = surface_nodes(topology, b);
        if (tiled_nodes(topology, b, nodes))
            add_sheet_tiles(it, b, all.first, nodes, most);
        else
            add_whole_tile(it, b, all);
    }
    set_block_tiles(it, topology);
    if (velocities_move_nodes(&system->settings) && !REAL_NAME(flat_sheets_make)(system))
        return false;
    it->motion.parts = it->tile_parts;
    it->motion.part_count = it->tile_part_count;
    if (velocities_bound_motion(system))
        system->motion = &it->motion;
    it->lists_due = true;
    it->skin = SKIN_MIN;
    it->skin_power = it->awake_power = 2;
    it->skin_wide = SKIN_MAX;
    return true;
}

#define RELEASE(array, count) memory_release(allocator, (array), (count), sizeof *(array))

void REAL_NAME(surface_lists_free)(struct system *system)
{
    struct surface_contact *it = system->surface_contact;
    const taut_allocator *allocator = system->allocator;
    RELEASE(it->tightness, it->tile_capacity * it->tile_stride);
    for (int axis = 0; axis < 3; axis++) {
        RELEASE(it->moved_least[axis], it->tile_stride);
        RELEASE(it->moved_most[axis], it->tile_stride);
    }
    REAL_NAME(motion_free)(&it->motion, allocator);
    system->motion = NULL;
    RELEASE(it->moved, it->tile_capacity);
    RELEASE(it->bounds, it->tile_capacity);
    RELEASE(it->part_speeds, it->tile_part_capacity);
    RELEASE(it->part_boxes, it->tile_part_capacity);
    RELEASE(it->tile_parts, it->tile_part_capacity);
    RELEASE(it->tile_bodies, it->tile_capacity);
}

uint64_t REAL_NAME(surface_lists_bytes)(const struct surface_contact *it)
{
    return it->tile_capacity * (sizeof *it->tile_bodies + 2 * sizeof *it->moved) +
           (it->tile_capacity + 6) * it->tile_stride * sizeof *it->tightness +
           it->tile_part_capacity *
               (sizeof *it->tile_parts + sizeof *it->part_boxes + sizeof *it->part_speeds) +
           REAL_NAME(motion_bytes)(&it->motion);
}

// ---- Displacements since the lists were made

// Of all parts of each tile.
static void gather_boxes(struct surface_contact *it)
{
    for (size_t t = 0; t < it->tile_count; t++)
        it->moved[t] = no_displacements();
    for (size_t i = 0; i < it->tile_part_count; i++) {
        displacements_include(&it->moved[it->tile_parts[i].tile], it->part_boxes[i].least);
        displacements_include(&it->moved[it->tile_parts[i].tile], it->part_boxes[i].most);
    }
}

// By tile, of the displacements since the lists were made or since the start of an implicit step, or of
// the positions themselves. The result is complete on worker 0 after the barrier at the end.
enum boxes { BOXES_OF_POSITIONS, BOXES_SINCE_LISTS, BOXES_SINCE_START };

static void find_boxes(struct system *system, enum boxes wanted, const struct worker *worker)
{
    struct surface_contact *it = system->surface_contact;
    const struct state *s = system->state;
    const bool start = wanted == BOXES_SINCE_START;
    const real *const now[3] = {s->x, s->y, s->z};
    const real *const then[3] = {start ? it->old_x : it->list_x, start ? it->old_y : it->list_y,
                                 start ? it->old_z : it->list_z};
    const struct range share = worker_share(worker, it->tile_part_count, 1);
    for (size_t i = share.first; i < share.end; i++) {
        struct node_box box;
        it->broad->kernels->displacement_box(now, wanted == BOXES_OF_POSITIONS ? NULL : then,
                                             &it->tile_parts[i].nodes, &box);
        for (int axis = 0; axis < 3; axis++) {
            it->part_boxes[i].least[axis] = box.least[axis];
            it->part_boxes[i].most[axis] = box.most[axis];
        }
    }
    worker_barrier(worker);
    if (worker->index == 0)
        gather_boxes(it);
}

static double distance_of_boxes(const struct displacements *a, const struct displacements *b)
{
    double square = 0;
    for (int axis = 0; axis < 3; axis++) {
        const double gap = fmax((double)a->least[axis] - (double)b->most[axis],
                                (double)b->least[axis] - (double)a->most[axis]);
        square += gap > 0 ? gap * gap : 0;
    }
    return sqrt(square);
}

// m, of two tiles.
static double thickness_of_tiles(const struct surface_contact *it, size_t a, size_t b)
{
    return thickness_between(it, it->tile_bodies[a], it->tile_bodies[b]);
}

static bool touch_each_other(const struct surface_contact *it, size_t a, size_t b)
{
    return it->enabled[it->tile_bodies[a] * it->body_count + it->tile_bodies[b]];
}

// The greatest displacement of two tiles relative to each other, over that up to which lists are
// complete. Every step compares all pairs of tiles, so the loop is one that compilers vectorise.
static double greatest_use(struct surface_contact *it, const struct displacements *boxes)
{
    real most[LANES] = {0};
    for (size_t b = 0; b < it->tile_count; b++)
        for (int axis = 0; axis < 3; axis++) {
            it->moved_least[axis][b] = boxes[b].least[axis];
            it->moved_most[axis][b] = boxes[b].most[axis];
        }
    for (size_t a = 0; a < it->tile_count; a++) {
        const struct displacements *moved = &boxes[a];
        const real *tightness = it->tightness + a * it->tile_stride;
        for (size_t b = a / LANES * LANES; b < it->tile_stride; b += LANES)
            for (size_t lane = 0; lane < LANES; lane++) {
                real square = 0;
                for (int axis = 0; axis < 3; axis++) {
                    const real one = moved->most[axis] - it->moved_least[axis][b + lane];
                    const real other = it->moved_most[axis][b + lane] - moved->least[axis];
                    const real first = one * one, second = other * other;
                    square += first > second ? first : second;
                }
                const real used = square * tightness[b + lane];
                most[lane] = used > most[lane] ? used : most[lane];
            }
    }
    for (size_t lane = 1; lane < LANES; lane++)
        most[0] = most[lane] > most[0] ? most[lane] : most[0];
    return sqrt((double)most[0]);
}

// The same over half of their thickness.
static double greatest_displacement(const struct surface_contact *it)
{
    double most = 0;
    for (size_t a = 0; a < it->tile_count; a++)
        for (size_t b = a; b < it->tile_count; b++)
            if (touch_each_other(it, a, b))
                most = fmax(most, relative_displacement(&it->moved[a], &it->moved[b]) /
                                      thickness_of_tiles(it, a, b));
    return most;
}

// Lists are made again when the next step might need more than the skin: as if it were as long as so many of
// the last one.
static const double STEPS_AHEAD = 2;

static bool are_lasting(double most, double step)
{
    return most + STEPS_AHEAD * step <= 0.96;
}

// Whether lists rely on sheets that are flat.
static bool holds_flat(const struct surface_contact *it)
{
    return it->flat && it->flat->any;
}

// Adds what the nodes of each tile may have moved in this step to the bounds of their displacements: dt by
// the box of their velocities, and twice the rounding of a coordinate.
static void extend_bounds(struct system *system)
{
    struct surface_contact *it = system->surface_contact;
    const double dt = moving_step(&system->settings);
    for (size_t t = 0; t < it->tile_count; t++)
        it->moved[t] = no_displacements();
    for (size_t i = 0; i < it->tile_part_count; i++) {
        if (it->part_speeds[i].least[0] > it->part_speeds[i].most[0])
            continue; // of a mesh collider at rest, which has no velocities
        displacements_include(&it->moved[it->tile_parts[i].tile], it->part_speeds[i].least);
        displacements_include(&it->moved[it->tile_parts[i].tile], it->part_speeds[i].most);
    }
    for (size_t t = 0; t < it->tile_count; t++) {
        struct displacements *bound = &it->bounds[t];
        const struct displacements *speeds = &it->moved[t];
        for (int axis = 0; axis < 3 && speeds->least[0] <= speeds->most[0]; axis++) {
            const double least = (double)bound->least[axis], most = (double)bound->most[axis];
            const double slack =
                2 * (double)REAL_EPSILON * (it->farthest + fmax(fabs(least), fabs(most)));
            bound->least[axis] = (real)(least + dt * (double)speeds->least[axis] - slack);
            bound->most[axis] = (real)(most + dt * (double)speeds->most[axis] + slack);
        }
    }
    if (holds_flat(it))
        REAL_NAME(flat_sheets_extend)(it, it->moved, dt);
}

// Whether the velocities of this step show that lists last, without the positions of the nodes. What they
// bound is the motion itself, so that no step ends with tiles that have moved farther than lists allow, as
// if displacements had been measured: between two checks tiles may become as fast as they like, because
// this is looked at in every step. Only by worker 0.
static bool bounds_suffice(struct system *system, double *step)
{
    struct surface_contact *it = system->surface_contact;
    *step = 0;
    if (!REAL_NAME(motion_take)(system, it->part_speeds) || !it->bounds_known || it->lists_due ||
        !velocities_bound_motion(system))
        return false;
    extend_bounds(system);
    const double most = greatest_use(it, it->bounds);
    const double flat = holds_flat(it) ? REAL_NAME(flat_sheets_use)(it) : 0;
    const double flat_step = holds_flat(it) ? fmax(flat - it->flat->used, 0) : 0;
    *step = fmax(most - it->skin_used, 0);
    if (!are_lasting(most, *step) || !are_lasting(flat, flat_step))
        return false;
    it->skin_used = most;
    if (holds_flat(it))
        it->flat->used = flat;
    it->lists_due_next = it->overshot = false;
    it->steps_listed++;
    return true;
}

#ifndef NDEBUG
// Whether the bounds contain the displacements.
static bool bounds_hold(const struct surface_contact *it)
{
    for (size_t t = 0; t < it->tile_count; t++)
        for (int axis = 0; axis < 3; axis++)
            if (it->moved[t].least[axis] < it->bounds[t].least[axis] ||
                it->moved[t].most[axis] > it->bounds[t].most[axis])
                return false;
    return true;
}
#endif

bool REAL_NAME(surface_lists_check)(struct system *system, const struct worker *worker)
{
    struct surface_contact *it = system->surface_contact;
    double bound = 0; // of the step, on worker 0
    if (it->motion.wanted) {
        if (worker->index == 0)
            it->measures = !bounds_suffice(system, &bound);
        worker_barrier(worker);
#ifndef NDEBUG
        if (!it->measures) {
            find_boxes(system, BOXES_SINCE_LISTS, worker);
            assert(worker->index != 0 || bounds_hold(it));
            worker_barrier(worker);
        }
#endif
        if (!it->measures)
            return false;
    }
    // Whether sheets were flat on the whole way of the step, and then how flat they are.
    double way = 0;
    if (holds_flat(it)) {
        REAL_NAME(flat_sheets_measure)(system, moving_step(&system->settings), worker);
        worker_barrier(worker);
        if (worker->index == 0)
            way = REAL_NAME(flat_sheets_use)(it);
        worker_barrier(worker);
        REAL_NAME(flat_sheets_measure)(system, 0, worker);
    }
    find_boxes(system, BOXES_SINCE_LISTS, worker);
    if (worker->index == 0) {
        double most = greatest_use(it, it->moved);
        double step = fmax(most - it->skin_used, bound);
        it->skin_used = most;
        it->lists_due_next = it->lists_due || !are_lasting(most, step);
        if (holds_flat(it)) {
            const double flat = REAL_NAME(flat_sheets_use)(it);
            it->lists_due_next |= !are_lasting(flat, fmax(way - it->flat->used, 0));
            it->flat->used = flat;
            most = fmax(most, way);
        }
        it->overshot = most > 1 && isfinite(most);
        if (it->reached) { // lists for that step alone
            it->lists_due_next = true;
            it->skin_least = 0;
            it->reached = false;
        }
        it->motion.wanted = it->bounds_known = velocities_bound_motion(system) && system->motion;
        if (it->bounds_known)
            memcpy(it->bounds, it->moved, it->tile_count * sizeof *it->bounds);
        if (it->overshot) {
            it->skin_least = fmin(SKIN_MAX, 2.3 * greatest_displacement(it)); // distance_of_cuts
            it->skin = fmin(SKIN_MAX, fmin(it->skin_least, 2 * it->skin));
        }
        it->steps_listed++;
    }
    worker_barrier(worker);
    return it->overshot;
}

// The displacements of nodes in `time` with their present velocities and gravity. By tile, as
// find_boxes.
static void find_expected(struct system *system, double time, const struct worker *worker)
{
    struct surface_contact *it = system->surface_contact;
    const struct state *s = system->state;
    const vec3 gravity = system->topology->environment.gravity;
    const real *const speeds[3] = {s->vx, s->vy, s->vz};
    const double falls[3] = {time * gravity.x, time * gravity.y, time * gravity.z};
    const struct range share = worker_share(worker, it->tile_part_count, 1);
    for (size_t i = share.first; i < share.end; i++) {
        const struct node_rows *part = &it->tile_parts[i].nodes;
        it->part_boxes[i] = no_displacements();
        for (size_t at = 0; at < part->rows * part->count; at++) {
            const size_t node = part->first + at / part->count * part->stride + at % part->count;
            const double free = system->constants->inverse_mass[node] != 0;
            real moved[3];
            for (int axis = 0; axis < 3; axis++)
                moved[axis] = (real)(time * ((double)speeds[axis][node] + free * falls[axis]));
            displacements_include(&it->part_boxes[i], moved);
        }
    }
    worker_barrier(worker);
    if (worker->index == 0)
        gather_boxes(it);
}

// ---- Implicit steps
//
// Their stages are evaluated at guesses, which are as far from the start of the step as a body moves in
// it, and what has passed through each other by then counts as contact. So lists have to be complete for
// the whole way from the start: up to the reach and what a pair of tiles has moved, and for the cutting of
// the step (surface_limit.c) up to twice that and more. Then neither forces nor cuts depend on when lists
// were made. They are made for the present velocities and gravity; where forces move nodes farther than
// that, they are made again, for the start.

// What a pair of tiles that moves so far relative to each other needs beyond the reach, m.
static double room_for(const struct surface_contact *it, size_t a, size_t b, double moved)
{
    const double thickness = thickness_of_tiles(it, a, b);
    return fmax(moved, distance_of_cuts(moved, CUT_LEAST * thickness) - 1.5 * thickness);
}

// What the motion of the step needs of lists, over what they have.
struct step_needs {
    double use;  // at most 1: they suffice
    double skin; // what lists for the start would need, in units of half the thickness
};

// it->bounds: the displacements of tiles since the lists were made until the start; it->moved: those in
// the step.
static struct step_needs needs_of_step(const struct surface_contact *it)
{
    struct step_needs needs = {0, 0};
    for (size_t a = 0; a < it->tile_count; a++)
        for (size_t b = a; b < it->tile_count; b++) {
            if (!touch_each_other(it, a, b))
                continue;
            const double room =
                room_for(it, a, b, relative_displacement(&it->moved[a], &it->moved[b]));
            const double start = relative_displacement(&it->bounds[a], &it->bounds[b]);
            const double tightness = (double)it->tightness[a * it->tile_stride + b];
            needs.use = fmax(needs.use, (start + room) * sqrt(tightness));
            needs.skin = fmax(needs.skin, room / thickness_of_tiles(it, a, b));
        }
    return needs;
}

// What lists for a step have beyond what it needs.
static const double STEP_MARGIN = 1.25;

void REAL_NAME(surface_contact_expect)(struct system *system, double time,
                                       const struct worker *worker)
{
    struct surface_contact *it = system->surface_contact;
    find_boxes(system, BOXES_SINCE_LISTS, worker);
    if (worker->index == 0)
        memcpy(it->bounds, it->moved, it->tile_count * sizeof *it->bounds);
    worker_barrier(worker); // parts have been read
    find_expected(system, time, worker);
    if (worker->index == 0) {
        const struct step_needs needs = needs_of_step(it);
        it->lists_due |= needs.use > 0.96;
        if (it->lists_due)
            it->skin_least = fmin(SKIN_MAX, STEP_MARGIN * needs.skin);
    }
    worker_barrier(worker);
}

static void swap_reals(real **a, real **b)
{
    real *const before = *a;
    *a = *b;
    *b = before;
}

void REAL_NAME(surface_positions_swap)(struct system *system, real *low[3],
                                       const struct worker *worker)
{
    struct surface_contact *it = system->surface_contact;
    struct state *s = system->state;
    worker_barrier(worker);
    if (worker->index == 0) {
        swap_reals(&s->x, &it->old_x);
        swap_reals(&s->y, &it->old_y);
        swap_reals(&s->z, &it->old_z);
        swap_reals(&s->x_low, &low[0]);
        swap_reals(&s->y_low, &low[1]);
        swap_reals(&s->z_low, &low[2]);
    }
    worker_barrier(worker);
}

void REAL_NAME(surface_positions_keep)(struct system *system, const struct worker *worker)
{
    struct surface_contact *it = system->surface_contact;
    const struct range share = surface_node_share(system, worker);
    for (size_t i = share.first; i < share.end; i++) {
        const struct point p = state_point(system->state, i);
        it->old_x[i] = p.x;
        it->old_y[i] = p.y;
        it->old_z[i] = p.z;
    }
}

// Lists for positions that have been kept, which become those of the start.
static void prepare_for_kept(struct system *system, const struct worker *worker)
{
    real *low[3] = {NULL, NULL, NULL}; // what is kept has both parts in one
    REAL_NAME(surface_positions_swap)(system, low, worker);
    REAL_NAME(surface_lists_prepare)(system, worker);
    REAL_NAME(surface_positions_swap)(system, low, worker);
    if (worker->index == 0)
        system->surface_contact->steps_known = false;
    worker_barrier(worker);
}

// The positions before this step, from which each node has moved by its velocity.
static void keep_positions_before(struct system *system, struct range nodes)
{
    struct surface_contact *it = system->surface_contact;
    const double dt = moving_step(&system->settings);
    for (size_t i = nodes.first; i < nodes.end; i++) {
        const struct point now = state_point(system->state, i);
        const vec3 velocity = i < (size_t)system->topology->node_count
                                  ? step_velocity(system->state, i)
                                  : vec3_make(0, 0, 0);
        it->old_x[i] = (real)((double)now.x - dt * velocity.x);
        it->old_y[i] = (real)((double)now.y - dt * velocity.y);
        it->old_z[i] = (real)((double)now.z - dt * velocity.z);
    }
}

void REAL_NAME(surface_lists_widen)(struct system *system, const struct worker *worker)
{
    struct surface_contact *it = system->surface_contact;
    const struct range share = surface_node_share(system, worker);
    const size_t bytes = (share.end - share.first) * sizeof(real);
    memcpy(it->old_x + share.first, it->list_x + share.first, bytes);
    memcpy(it->old_y + share.first, it->list_y + share.first, bytes);
    memcpy(it->old_z + share.first, it->list_z + share.first, bytes);
    if (holds_flat(it) && it->steps_listed > 1) {
        // Flat sheets may have turned by any angle since then: planes are those of the start of this step.
        keep_positions_before(system, share);
        worker_barrier(worker);
        find_boxes(system, BOXES_SINCE_START, worker);
        if (worker->index == 0)
            it->skin_least = fmin(SKIN_MAX, 2.3 * greatest_displacement(it));
    }
    worker_barrier(worker);
    if (worker->index == 0) {
        it->lists_due = true;
        it->start_known = false;
    }
    worker_barrier(worker);
    prepare_for_kept(system, worker);
}

void REAL_NAME(surface_lists_reach)(struct system *system, double time, const struct worker *worker)
{
    struct surface_contact *it = system->surface_contact;
    const double elapsed = time - step_time(system, system->state->step);
    find_boxes(system, BOXES_SINCE_LISTS, worker);
    if (worker->index == 0) {
        const double most = greatest_use(it, it->moved);
        it->lists_due = most > 1 && isfinite(most);
    }
    worker_barrier(worker);
    if (!it->lists_due)
        return;
    find_boxes(system, BOXES_SINCE_START, worker);
    if (worker->index == 0) {
        const double step = system->settings.dt / elapsed * greatest_displacement(it);
        it->skin_least = fmin(SKIN_MAX, 2.3 * step); // distance_of_cuts
        it->start_known = false;
        it->overshot = it->reached = true; // no list sleeps, and the skin of others stays
    }
    worker_barrier(worker);
    prepare_for_kept(system, worker);
}

void REAL_NAME(surface_lists_cover)(struct system *system, const struct worker *worker)
{
    struct surface_contact *it = system->surface_contact;
    find_boxes(system, BOXES_SINCE_START, worker);
    if (worker->index == 0) {
        const struct step_needs needs = needs_of_step(it);
        // Not of a run that has diverged, for which no lists are wide enough.
        it->lists_due = needs.use > 0.999 && needs.skin <= SKIN_MAX;
        if (it->lists_due)
            it->skin_least = fmin(SKIN_MAX, STEP_MARGIN * needs.skin);
    }
    worker_barrier(worker);
    if (it->lists_due)
        prepare_for_kept(system, worker);
}

// ---- Lists

// Up to which displacement relative to each other of two tiles lists are complete: their skin, or how
// far they are from each other beyond what the lists have found.
static void find_tightness(struct surface_contact *it)
{
    for (size_t a = 0; a < it->tile_count; a++)
        for (size_t b = a; b < it->tile_count; b++) {
            const double thickness = thickness_of_tiles(it, a, b);
            double room = it->skin_listed * thickness;
            if (a != b)
                room = fmax(room, 0.999 * (distance_of_boxes(&it->moved[a], &it->moved[b]) -
                                           1.5 * thickness));
            const real tightness = touch_each_other(it, a, b) ? (real)(1.00001 / (room * room)) : 0;
            it->tightness[a * it->tile_stride + b] = tightness;
            it->tightness[b * it->tile_stride + a] = tightness;
        }
}

// With which power of the reach and the skin a number of pairs grows: the mean of the power so far and
// that of the last change of the skin, `wider` in logarithms.
static double power_of(double power, double now, double before, double wider, double most)
{
    const double found = log((now + 1) / (before + 1)) / wider;
    return (power + fmin(fmax(found, 0), most)) / 2;
}

// The wider the skin, the more pairs of blocks lists have, and the longer they last. Making them costs
// as much as evaluating 100 candidates for each block, and 6 for each pair: m. They last for n steps, or
// n + 2 but for the allowance in surface_lists_check, in proportion to the skin s; the number of pairs
// grows as (1.5 + s)^k, k as the last two skins have it. What a step does with each pair that does not
// sleep costs as much as evaluating 10 candidates. Their number has a power a of its own, which is much
// greater where a wider skin wakes lists; and in it are candidates that have been measured to let lists
// sleep, of which there are more and more before that. With u the cost of these in n steps, (m + u) / n is
// least where
//     e c - m (n + 2) / n + u f = 0,    e = k s / (1.5 + s),    f = a s / (1.5 + s),
// with c the cost of the pairs in m. Counts, not times: lists are the same in every run.
static const double STEP_OF_PAIR = 10;

static void adapt_skin(struct surface_contact *it)
{
    const double factor = 1.25;
    const double pairs = 6 * (double)it->all_pairs;
    const double making = 100 * (double)it->surfaces.block_count + pairs;
    const double steps = (double)it->steps_listed;
    if (it->overshot || it->steps_listed == 0)
        return;
    const double awake = (double)it->pairs + (double)it->measured / (STEP_OF_PAIR * steps);
    const double used = STEP_OF_PAIR * steps * awake;
    const double wider = log((1.5 + it->skin_listed) / (1.5 + it->skin_before));
    if (it->steps_before > 0 && fabs(wider) > 0.02) {
        it->skin_power =
            power_of(it->skin_power, (double)it->all_pairs, it->pairs_before, wider, 3);
        it->awake_power = power_of(it->awake_power, awake, it->awake_before, wider, 8);
    }
    const double slope = it->skin / (1.5 + it->skin), cost = (making + used) / steps;
    const double e = slope * it->skin_power, f = slope * it->awake_power;
    const bool narrows = e * pairs - making * (steps + STEPS_AHEAD) / steps + used * f > 0;
    it->skin_before = it->skin_listed;
    it->pairs_before = (double)it->all_pairs;
    it->awake_before = awake;
    it->steps_before = steps;
    it->making_before = making;
    it->cost_before = cost;
    if (narrows) {
        it->skin_wide = it->skin;
        it->cost_wide = cost;
        it->skin = fmax(SKIN_MIN, it->skin / factor);
        return;
    }
    // What was too wide is not tried again at once.
    const double next = fmin(SKIN_MAX, it->skin * factor);
    if (next < 0.999 * it->skin_wide || it->cost_wide < cost)
        it->skin = next;
    else
        it->cost_wide *= 0.95;
}

// ---- The start

void REAL_NAME(surface_blocks_copy)(struct system *system, block_reals *to,
                                    const struct worker *worker)
{
    struct surface_contact *it = system->surface_contact;
    const struct range share = worker_share(worker, it->surfaces.block_count, 1);
    for (size_t b = share.first; b < share.end; b++)
        if (it->listed[b])
            REAL_NAME(surface_block_read)(system, (uint32_t)b, to[b]);
    worker_barrier(worker);
}

void REAL_NAME(surface_steps_find)(const struct system *system, struct range blocks)
{
    struct surface_contact *it = system->surface_contact;
    for (size_t b = blocks.first; b < blocks.end; b++)
        if (it->listed[b])
            it->steps[b] = block_displacements(system, b, it->start[b]);
}

// Projection moves nodes, and implicit steps go on, after steps have been found.
static bool steps_stay_known(const struct system *system)
{
    return system->surface_contact->steps_known && !system->settings.projects &&
           !integrator_is_implicit(system->settings.integrator);
}

void REAL_NAME(surface_steps_know)(struct system *system, const struct worker *worker)
{
    struct surface_contact *it = system->surface_contact;
    if (!steps_stay_known(system))
        REAL_NAME(surface_steps_find)
    (system, worker_share(worker, it->surfaces.block_count, 1));
    worker_barrier(worker);
}

// The distances of a pair after its blocks have moved; rounded down.
static struct surface_pair pair_moved(const struct surface_contact *it, struct surface_pair pair)
{
    const double moved = pair_displacement(it, &pair.pair);
    pair.pair.least = (float)(((double)pair.pair.least - moved) * (1 - 1e-6));
    pair.others = (float)(((double)pair.others - moved) * (1 - 1e-6));
    return pair;
}

static void move_pairs(struct surface_contact *it, size_t index)
{
    struct surface_list *list = &it->lists[index];
    for (size_t p = 0; p < list->pair_count; p++)
        list->pairs[p] = pair_moved(it, list->pairs[p]);
}

// Copies the start of the blocks of this worker: of implicit steps all, else those that are listed.
static void copy_start(struct system *system, const struct worker *worker)
{
    struct surface_contact *it = system->surface_contact;
    const bool all = it->rows != NULL;
    const struct range share = worker_share(worker, it->surfaces.block_count, 1);
    for (size_t b = share.first; b < share.end; b++)
        if (all || it->listed[b])
            REAL_NAME(surface_block_read)(system, (uint32_t)b, it->start[b]);
    memset(it->steps + share.first, 0, (share.end - share.first) * sizeof *it->steps);
    if (all)
        REAL_NAME(surface_positions_keep)(system, worker);
}

static bool any_displacement(const struct displacements *box)
{
    bool any = false;
    for (int axis = 0; axis < 3; axis++)
        any |= box->least[axis] != 0 || box->most[axis] != 0;
    return any;
}

// Whether a node of a listed block has moved since the start, whose displacements are known: not at the
// start of a step at whose end friction has changed its memory, in the same positions. The same on every
// worker. Ends with a barrier.
static bool start_moves(struct surface_contact *it, const struct worker *worker)
{
    const struct range share = worker_share(worker, it->surfaces.block_count, 1);
    bool moves = false;
    for (size_t b = share.first; b < share.end && !moves; b++)
        moves = it->listed[b] && any_displacement(&it->steps[b]);
    if (moves)
        atomic_store(&it->start_moves, true);
    worker_barrier(worker);
    moves = atomic_load(&it->start_moves);
    worker_barrier(worker);
    if (worker->index == 0)
        atomic_store(&it->start_moves, false);
    return moves;
}

void REAL_NAME(surface_start_move)(struct system *system, const struct worker *worker)
{
    struct surface_contact *it = system->surface_contact;
    const struct range lists = worker_share(worker, it->broad->list_count, 1);
    REAL_NAME(surface_steps_know)(system, worker);
    if (!it->rows && !start_moves(it, worker)) { // implicit steps need all blocks
        worker_barrier(worker);
        return;
    }
    for (size_t i = lists.first; i < lists.end; i++)
        if (!it->lists[i].sleeps)
            move_pairs(it, i);
    worker_barrier(worker);
    copy_start(system, worker);
    worker_barrier(worker);
}

// ---- The candidates of a pair

// Codes that are not used any more, beside a quarter as many as are used.
enum { CODES_UNUSED = 1024 };

// Drops what is not used any more; false without memory.
static bool compact_codes(struct surface_list *list)
{
    if (list->code_count <= list->used + list->used / 4 + CODES_UNUSED)
        return true;
    const size_t capacity = list->used + list->used / 4 + CODES_SLACK;
    uint16_t *codes = malloc(capacity * sizeof *codes);
    if (!codes)
        return false;
    size_t at = 0;
    for (size_t p = 0; p < list->pair_count; p++) {
        struct surface_pair *pair = &list->pairs[p];
        const size_t count = code_room(pair->counts);
        if (count > 0)
            memcpy(codes + at, list->codes + pair->first_code, count * sizeof *codes);
        pair->first_code = (uint32_t)at;
        at += count;
    }
    free(list->codes);
    list->codes = codes;
    list->code_count = at;
    list->code_capacity = capacity;
    return true;
}

// A pair has no candidates any more.
static void drop_codes(struct surface_list *list, struct surface_pair *pair)
{
    list->used -= code_room(pair->counts);
    memset(pair->counts, 0, sizeof pair->counts);
}

// How far apart the blocks of a pair are at least in the positions of the start, m, or 0; no better bound
// than `enough` is wanted.
static double separation_of(const struct surface_contact *it, const struct block_pair *pair,
                            double enough)
{
    const uint32_t numbers[2] = {pair->a, pair->b};
    real boxes[2][6];
    struct placed_block blocks[2];
    if (pair->a == pair->b)
        return 0;
    for (int side = 0; side < 2; side++) {
        const real(*x)[SURFACE_NODES] = (const real(*)[SURFACE_NODES])it->start[numbers[side]];
        it->broad->kernels->surface_box(x, boxes[side]);
        blocks[side] = (struct placed_block){x, boxes[side], it->spans[numbers[side]]};
    }
    return REAL_NAME(block_separation)(&blocks[0], &blocks[1], enough);
}

// As for the lists of pairs: finding candidates costs as much as evaluating 400, and 4 for each that is
// found; the number of candidates grows as (1 + s)^3 with the skin s, and with it what has been
// evaluated, and both last for steps in proportion to s.
static void adapt_pair_skin(struct surface_pair *pair)
{
    const float least = 1.0F / 16, most = 64, factor = 1.5F;
    const double e = 3 * (double)pair->skin / (1 + (double)pair->skin);
    const double listed = 4 * (double)code_total(pair->counts);
    if (e * (listed + EVALUATED_UNIT * (double)pair->evaluated) > 400 + listed)
        pair->skin = fmaxf(least, pair->skin / factor);
    else
        pair->skin = fminf(most, pair->skin * factor);
    pair->evaluated = 0;
}

bool REAL_NAME(surface_pair_list)(struct surface_contact *it, struct pair_finder *finder,
                                  size_t list, size_t p, double distance)
{
    struct surface_list *to = &it->lists[list];
    struct surface_pair *pair = &to->pairs[p];
    const struct surface_block *blocks = it->surfaces.blocks;
    if ((double)pair->others >= distance)
        return true;
    const double apart = separation_of(it, &pair->pair, distance);
    if (apart > distance) { // as if they had never been listed
        drop_codes(to, pair);
        pair->skin = 0;
        pair->others = (float)apart;
        pair->pair.least = fmaxf(pair->pair.least, pair->others);
        return true;
    }
    if (pair->skin > 0)
        adapt_pair_skin(pair);
    else
        pair->skin = 0.5F;
    drop_codes(to, pair);
    if (!compact_codes(to))
        return false;
    const double reach =
        1.5 * thickness_between(it, blocks[pair->pair.a].body, blocks[pair->pair.b].body);
    const double up_to = distance + (double)pair->skin * reach;
    const double least = REAL_NAME(pair_finder_find)(finder, &pair->pair, it->start[pair->pair.a],
                                                     it->start[pair->pair.b], up_to);
    const struct candidate_codes *found = &finder->found;
    const size_t count = code_total(found->counts), room = code_room(found->counts);
    if (to->code_count + room > UINT32_MAX ||
        !reserve_closely((void **)&to->codes, &to->code_capacity,
                         to->code_count + room + CODES_SLACK, sizeof *to->codes))
        return false;
    memcpy(to->codes + to->code_count, found->codes, count * sizeof *found->codes);
    pair->first_code = (uint32_t)to->code_count;
    memcpy(pair->counts, found->counts, sizeof pair->counts);
    if (count > 0)
        put_gap(to, pair, FLT_MAX);
    to->code_count += room;
    to->used += room;
    pair->others = (float)(up_to * (1 - 1e-6));
    pair->pair.least =
        fmaxf(pair->pair.least, (float)fmin(least * (1 - 1e-6), (double)pair->others));
    return true;
}

// ---- Lists

// How many pairs a block has at least, on average, where frames of blocks pay: blocks of one sheet have some
// ten, and where layers lie on each other at an angle to the axes most of forty are of layers that are
// too far away.
enum { PAIRS_FOR_FRAMES = 16 };

// Without memory for them pairs stay in the lists.
static void want_frames(struct system *system)
{
    struct surface_contact *it = system->surface_contact;
    const size_t blocks = it->surfaces.block_count;
    it->frames_wanted = it->all_pairs > PAIRS_FOR_FRAMES * blocks;
    if (it->frames_wanted && !it->frames)
        it->frames = memory_allocate(system->allocator, blocks, sizeof *it->frames);
    it->frames_wanted &= it->frames != NULL;
}

// The span of a block, once, and its frame, for the positions of the start.
static void place_block(struct surface_contact *it, size_t b)
{
    const real(*x)[SURFACE_NODES] = (const real(*)[SURFACE_NODES])it->start[b];
    if (!it->spans_known)
        it->spans[b] = REAL_NAME(block_span_of)(x);
    if (it->frames_wanted)
        it->frames[b] =
            REAL_NAME(block_frame_of)(&(struct placed_block){x, it->broad->boxes[b], it->spans[b]});
}

// The pairs of a list of the broad phase, with what is known of those that were in the list before.
// Distances of new ones are those of the present state; `moves`: and so is the start, and pairs are left out
// that are farther apart than boxes show. `pairs` is scratch.
static bool take_pairs(struct surface_contact *it, size_t index, bool moves,
                       struct surface_pair **pairs, size_t *capacity)
{
    const struct pair_list *found = &it->broad->lists[index];
    const struct surface_block *blocks = it->surfaces.blocks;
    struct surface_list *list = &it->lists[index];
    size_t old = 0, count = 0;
    if (!reserve_closely((void **)pairs, capacity, found->pair_count, sizeof **pairs))
        return false;
    if (!it->start_known)
        list->pair_count = list->code_count = 0;
    list->used = 0;
    for (size_t p = 0; p < found->pair_count; p++) {
        const struct block_pair *pair = &found->pairs[p];
        struct surface_pair *to = &(*pairs)[count];
        while (old < list->pair_count &&
               (list->pairs[old].pair.a < pair->a ||
                (list->pairs[old].pair.a == pair->a && list->pairs[old].pair.b < pair->b)))
            old++;
        *to = (struct surface_pair){.pair = *pair, .others = pair->least};
        const bool known = old < list->pair_count && list->pairs[old].pair.a == pair->a &&
                           list->pairs[old].pair.b == pair->b;
        if (known)
            *to = list->pairs[old];
        else if (!moves)
            *to = pair_moved(it, *to);
        if (moves) {
            const double reach = 1.0001 * (1.5 + it->skin_listed) *
                                 thickness_between(it, blocks[pair->a].body, blocks[pair->b].body);
            if (it->frames_wanted && pair->a != pair->b && code_total(to->counts) == 0) {
                const float apart =
                    (float)REAL_NAME(frame_separation)(&it->frames[pair->a], &it->frames[pair->b]);
                to->pair.least = fmaxf(to->pair.least, apart);
                to->others = fmaxf(to->others, apart);
            }
            if ((double)to->pair.least > reach)
                continue;
        }
        count++;
        list->used += code_room(to->counts);
        atomic_store_explicit(&it->listed[pair->a], 1, memory_order_relaxed);
        atomic_store_explicit(&it->listed[pair->b], 1, memory_order_relaxed);
    }
    if (list->pair_capacity > count + count / 4 + 16) {
        free(list->pairs);
        list->pairs = NULL;
        list->pair_count = list->pair_capacity = 0;
    }
    if (!reserve_closely((void **)&list->pairs, &list->pair_capacity, count, sizeof **pairs))
        return false;
    if (count > 0)
        memcpy(list->pairs, *pairs, count * sizeof **pairs);
    list->pair_count = count;
    list->found = found->pair_count;
    list->sleeps = false;
    list->measured = 0;
    REAL_NAME(broad_phase_forget)(it->broad, index);
    return compact_codes(list);
}

void REAL_NAME(surface_memory_has_run_out)(struct system *system)
{
    struct surface_contact *it = system->surface_contact;
    for (size_t i = 0; i < it->broad->list_count; i++)
        it->lists[i].pair_count = it->lists[i].passing_count = 0;
    it->pairs = it->all_pairs = 0;
    it->pushes = false;
    if (it->rows)
        it->rows->count = 0;
    if (it->shares) // the others wait for what this rank has not
        ranks_abort(1, "out of memory for contact");
    if (system->fault.code != TAUT_OK)
        return;
    system->fault = (struct fault){.code = TAUT_ERROR_MEMORY, .step = system->state->step};
}

// What the pairs of all lists know, of the present state, before lists are made again.
static void move_all_pairs(struct system *system, const struct worker *worker)
{
    struct surface_contact *it = system->surface_contact;
    const struct range blocks = worker_share(worker, it->surfaces.block_count, 1);
    const struct range lists = worker_share(worker, it->broad->list_count, 1);
    bool any = false;
    for (size_t i = 0; i < it->broad->list_count; i++)
        any |= it->lists[i].sleeps;
    REAL_NAME(surface_steps_know)(system, worker);
    for (size_t i = lists.first; i < lists.end; i++)
        if (!it->lists[i].sleeps)
            move_pairs(it, i);
    worker_barrier(worker);
    if (!any)
        return;
    for (size_t b = blocks.first; b < blocks.end; b++)
        it->steps[b] = displacements_since(system, b, it->list_x, it->list_y, it->list_z);
    worker_barrier(worker);
    for (size_t i = lists.first; i < lists.end; i++)
        if (it->lists[i].sleeps)
            move_pairs(it, i);
    worker_barrier(worker);
}

// Up to which displacement relative to each other the blocks of a pair that is so far out of reach, m,
// stay out of it: of all of their tiles.
static void limit_tiles(struct surface_contact *it, const struct block_pair *pair, double room)
{
    const struct block_tiles *a = &it->block_tiles[pair->a], *b = &it->block_tiles[pair->b];
    const real tightness = (real)(1.00001 / (room * room));
    for (int i = 0; i < a->count; i++)
        for (int k = 0; k < b->count; k++) {
            if (holds_flat(it) && it->flat->free[a->tiles[i] * it->flat->tile_count + b->tiles[k]])
                continue;
            real *one = &it->tightness[a->tiles[i] * it->tile_stride + b->tiles[k]];
            real *other = &it->tightness[b->tiles[k] * it->tile_stride + a->tiles[i]];
            *one = *other = tightness > *one ? tightness : *one;
        }
}

// How far a pair is out of reach, m.
static double room_of(const struct surface_contact *it, const struct surface_pair *pair)
{
    const struct surface_block *blocks = it->surfaces.blocks;
    const double reach =
        1.5 * thickness_between(it, blocks[pair->pair.a].body, blocks[pair->pair.b].body);
    return (double)pair->pair.least - 1.002 * reach;
}

// The part of the skin, or of the one before, that pairs of a list which sleeps have to be out of reach at
// least, so that lists last almost as long as otherwise.
static const double ROOM_LEAST = 0.5;

// Finds the distance of the nearest listed candidates of a pair again, in the positions of the start: what
// is known of it only falls with every step until they are evaluated.
static void measure_least(struct surface_contact *it, size_t index, size_t p)
{
    struct surface_list *list = &it->lists[index];
    struct surface_pair *pair = &list->pairs[p];
    const struct pair_codes of = listed_codes(list, pair);
    if (code_total(of.counts) == 0)
        return;
    know_least(pair, least_at_start(it, &pair->pair, of, 0, NULL), pair->others);
    list->measured += 2 * code_total(of.counts); // nodes are read first
}

// Whether the tiles of a pair of blocks may move as they like: the sheet is flat there.
static bool is_free(const struct surface_contact *it, const struct block_pair *pair)
{
    const struct block_tiles *a = &it->block_tiles[pair->a], *b = &it->block_tiles[pair->b];
    bool free = holds_flat(it) && a->count > 0 && b->count > 0;
    for (int i = 0; i < a->count && free; i++)
        for (int k = 0; k < b->count; k++)
            free &= it->flat->free[a->tiles[i] * it->flat->tile_count + b->tiles[k]];
    return free;
}

// Whether a list may sleep, for the positions of the start. False also without memory.
static bool may_sleep(struct surface_contact *it, struct pair_finder *finder, size_t index)
{
    const struct surface_list *list = &it->lists[index];
    const struct surface_block *blocks = it->surfaces.blocks;
    if (it->friction && it->friction->lists[index].pair_count > 0)
        return false;
    for (size_t p = 0; p < list->pair_count; p++) {
        const struct surface_pair *pair = &list->pairs[p];
        const double thickness =
            thickness_between(it, blocks[pair->pair.a].body, blocks[pair->pair.b].body);
        if (is_free(it, &pair->pair))
            continue;
        const double needed = ROOM_LEAST * it->skin_asleep * thickness;
        if (it->block_tiles[pair->pair.a].count == 0 || it->block_tiles[pair->pair.b].count == 0)
            return false;
        if (room_of(it, pair) < needed &&
            !REAL_NAME(surface_pair_list)(it, finder, index, p, 1.503 * thickness + needed))
            return false;
        if (room_of(it, pair) < needed)
            measure_least(it, index, p);
        if (room_of(it, pair) < needed)
            return false;
    }
    return true;
}

// Finds the lists that sleep, and what the tiles of their pairs may move. Ends with a barrier.
static void let_lists_sleep(struct system *system, const struct worker *worker)
{
    struct surface_contact *it = system->surface_contact;
    const struct range blocks = worker_share(worker, it->surfaces.block_count, 1);
    const struct range lists = worker_share(worker, it->broad->list_count, 1);
    struct pair_finder finder;
    REAL_NAME(pair_finder_begin)(&finder, it->broad, &it->rules);
    for (size_t i = lists.first; i < lists.end; i++)
        if (list_is_kept(it, i))
            it->lists[i].sleeps = it->lists[i].sleeps || may_sleep(it, &finder, i);
    if (it->shares) {
        worker_barrier(worker);
        if (worker->index == 0)
            REAL_NAME(surface_shares_sleep)(system);
    }
    for (size_t b = blocks.first; b < blocks.end; b++)
        atomic_store_explicit(&it->listed[b], 0, memory_order_relaxed);
    worker_barrier(worker);
    for (size_t i = lists.first; i < lists.end; i++)
        for (size_t p = 0; p < it->lists[i].pair_count && !it->lists[i].sleeps; p++) {
            const struct block_pair *pair = &it->lists[i].pairs[p].pair;
            atomic_store_explicit(&it->listed[pair->a], 1, memory_order_relaxed);
            atomic_store_explicit(&it->listed[pair->b], 1, memory_order_relaxed);
        }
    for (size_t i = 0; worker->index == 0 && i < it->broad->list_count; i++)
        for (size_t p = 0;
             p < it->lists[i].pair_count && it->lists[i].sleeps && list_is_kept(it, i); p++)
            if (!is_free(it, &it->lists[i].pairs[p].pair))
                limit_tiles(it, &it->lists[i].pairs[p].pair, room_of(it, &it->lists[i].pairs[p]));
    if (worker->index == 0)
        REAL_NAME(surface_shares_tightness)(system);
    worker_barrier(worker);
}

static void count_pairs(struct surface_contact *it)
{
    it->pairs = it->all_pairs = it->measured = 0;
    for (size_t i = 0; i < it->broad->list_count; i++) {
        it->all_pairs += it->lists[i].found;
        it->pairs += it->lists[i].sleeps ? 0 : it->lists[i].found;
        it->measured += it->lists[i].measured;
    }
}

// Whether most pairs slept before, and most of these have woken since the skin is wider, which costs more
// than lists last longer. Then that skin was too wide, and lists sleep as before: up to a smaller
// displacement.
static bool wakes_too_many(struct surface_contact *it)
{
    if (!(it->steps_before > 0) || !(it->skin_listed > it->skin_before) ||
        it->skin_listed > it->skin)
        return false;
    count_pairs(it);
    const double steps = it->steps_before * it->skin_listed / it->skin_before;
    const double cost = it->making_before / steps + STEP_OF_PAIR * (double)it->pairs;
    const double slept = it->pairs_before - it->awake_before;
    if (2 * slept < it->pairs_before || 2 * ((double)it->pairs - it->awake_before) < slept ||
        cost <= it->cost_before)
        return false;
    it->skin_wide = it->skin_listed;
    it->cost_wide = cost;
    it->skin = it->skin_asleep = it->skin_before;
    return true;
}

void REAL_NAME(surface_lists_prepare)(struct system *system, const struct worker *worker)
{
    struct surface_contact *it = system->surface_contact;
    const struct state *s = system->state;
    worker_barrier(worker); // all have finished with the lists
    const bool ends_flat = holds_flat(it) && !velocities_bound_motion(system);
    if (!it->lists_due && !ends_flat)
        return;
    if (it->flat)
        REAL_NAME(flat_sheets_measure)(system, 0, worker);
    find_boxes(system, BOXES_OF_POSITIONS, worker);
    if (worker->index == 0) {
        it->farthest = 0;
        for (size_t t = 0; t < it->tile_count; t++)
            for (int axis = 0; axis < 3; axis++)
                it->farthest = fmax(it->farthest, fmax(fabs((double)it->moved[t].least[axis]),
                                                       fabs((double)it->moved[t].most[axis])));
        adapt_skin(it);
        it->skin_listed = it->skin_asleep = fmax(it->skin, it->skin_least);
        find_tightness(it);
        if (it->flat)
            it->flat->any = false;
        if (it->flat && !it->overshot && !it->relaxes && velocities_bound_motion(system))
            REAL_NAME(flat_sheets_choose)(it);
        want_frames(system);
        for (size_t b = 0; b < it->body_count; b++)
            it->radius[b] = (1.5 + it->skin_listed) * it->half_thickness[b];
    }
    if (it->start_known && it->rows)
        REAL_NAME(surface_steps_know)(system, worker);
    else if (it->start_known)
        move_all_pairs(system, worker);
    const struct range share = surface_node_share(system, worker);
    memcpy(it->list_x + share.first, s->x + share.first, (share.end - share.first) * sizeof(real));
    memcpy(it->list_y + share.first, s->y + share.first, (share.end - share.first) * sizeof(real));
    memcpy(it->list_z + share.first, s->z + share.first, (share.end - share.first) * sizeof(real));
    worker_barrier(worker);
    // Implicit steps go on from a start that is known.
    const bool moves = !it->start_known || !it->rows;
    REAL_NAME(broad_phase_refit)(it->broad, s, moves ? it->start : NULL, worker);
    const bool complete = REAL_NAME(broad_phase_find)(it->broad, &it->rules, worker);
    const bool sleep = !it->rows && !it->overshot && !it->relaxes;
    const struct range blocks = worker_share(worker, it->surfaces.block_count, 1);
    const struct range lists = worker_share(worker, it->broad->list_count, 1);
    struct surface_pair *spare = NULL;
    size_t spare_capacity = 0;
    for (size_t b = blocks.first; b < blocks.end; b++)
        atomic_store_explicit(&it->listed[b], it->rows != NULL, memory_order_relaxed);
    for (size_t b = blocks.first; b < blocks.end && moves; b++)
        place_block(it, b);
    worker_barrier(worker);
    for (size_t i = lists.first; i < lists.end && complete; i++)
        if (!take_pairs(it, i, moves, &spare, &spare_capacity))
            atomic_store(&it->failed, true);
    free(spare);
    worker_barrier(worker);
    if (moves) // has been copied beside the boxes
        memset(it->steps + blocks.first, 0, (blocks.end - blocks.first) * sizeof *it->steps);
    if (moves && it->rows)
        REAL_NAME(surface_positions_keep)(system, worker);
    worker_barrier(worker);
    if (sleep && complete) {
        let_lists_sleep(system, worker);
        if (worker->index == 0)
            it->sleeps_again = wakes_too_many(it);
        worker_barrier(worker);
        if (it->sleeps_again)
            let_lists_sleep(system, worker);
    }
    if (worker->index == 0) {
        it->start_known = it->spans_known = true;
        count_pairs(it);
        if (atomic_exchange(&it->failed, false) || !complete)
            REAL_NAME(surface_memory_has_run_out)(system);
        it->steps_known = moves;
        it->lists_due = false;
        it->steps_listed = 0;
        it->skin_used = 0;
        memset(it->bounds, 0, it->tile_count * sizeof *it->bounds); // positions are those of lists
    }
    worker_barrier(worker);
}
