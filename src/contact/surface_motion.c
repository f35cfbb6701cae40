// How far tiles of surfaces have moved, and whether lists last (surface_motion.h).
//
// A sheet or a rope is cut into tiles, other bodies are one tile. A tile has the nodes of all its
// edges and triangles, so that tiles overlap, and what each edge or triangle moves is bounded by
// what one tile moves. So neither the common motion of bodies nor that of the parts of a cloth uses
// up the skin, and tiles that were far from each other may move by their distance.
#include "contact/surface_motion.h"
#include "contact/surface_rollback.h"
#include "contact/surface_shares.h"

#include <assert.h>

#include "base/memory.h"
#include "base/sort.h"

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

bool REAL_NAME(surface_motion_is_bounded)(const struct system *system)
{
    const struct settings *settings = &system->settings;
    return velocities_move_nodes(settings) && !plan_is_reference(system->plan) &&
           system->topology->motion_count == 0 && !settings->projects &&
           !system->mouse_spring.pulls && system->kinematic_targets.count == 0 &&
           !system->surface_contact->colliders_move && !system->surface_contact->relaxes;
}

bool REAL_NAME(surface_tiles_make)(struct system *system)
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
        !ALLOCATE(it->moved_in_step, it->tile_capacity) ||
        !ALLOCATE(it->moved_to_start, it->tile_capacity) || !allocate_pairs(it, allocator))
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
    if (REAL_NAME(surface_motion_is_bounded)(system))
        system->motion = &it->motion;
    return true;
}

#define RELEASE(array, count) memory_release(allocator, (array), (count), sizeof *(array))

void REAL_NAME(surface_tiles_free)(struct system *system)
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
    RELEASE(it->moved_to_start, it->tile_capacity);
    RELEASE(it->moved_in_step, it->tile_capacity);
    RELEASE(it->moved, it->tile_capacity);
    RELEASE(it->bounds, it->tile_capacity);
    RELEASE(it->part_speeds, it->tile_part_capacity);
    RELEASE(it->part_boxes, it->tile_part_capacity);
    RELEASE(it->tile_parts, it->tile_part_capacity);
    RELEASE(it->tile_bodies, it->tile_capacity);
}

uint64_t REAL_NAME(surface_tiles_bytes)(const struct surface_contact *it)
{
    return it->tile_capacity * (sizeof *it->tile_bodies + 4 * sizeof *it->moved) +
           (it->tile_capacity + 6) * it->tile_stride * sizeof *it->tightness +
           it->tile_part_capacity *
               (sizeof *it->tile_parts + sizeof *it->part_boxes + sizeof *it->part_speeds) +
           REAL_NAME(motion_bytes)(&it->motion);
}

// ---- Displacements since the lists were made

// Unites the boxes of the parts of each tile.
static void gather_boxes(const struct surface_contact *it, struct displacements *tiles)
{
    for (size_t t = 0; t < it->tile_count; t++)
        tiles[t] = no_displacements();
    for (size_t i = 0; i < it->tile_part_count; i++) {
        displacements_include(&tiles[it->tile_parts[i].tile], it->part_boxes[i].least);
        displacements_include(&tiles[it->tile_parts[i].tile], it->part_boxes[i].most);
    }
}

// The box of a part. On several ranks each has a box of its own nodes of the part, and all have
// mesh colliders.
static struct displacements box_of_part(const struct system *system, const real *const to[3],
                                        const real *const from[3], const struct node_rows *part)
{
    const struct broad_phase *broad = system->surface_contact->broad;
    struct node_rows own[3];
    struct displacements box = no_displacements();
    if (!surface_shares(system) || part->first >= (size_t)system->topology->node_count)
        return displacements_of(broad, to, from, part);
    const int count = rows_within(part, system->own_nodes, own);
    for (int i = 0; i < count; i++) {
        if (own[i].count == 0)
            continue;
        const struct displacements some = displacements_of(broad, to, from, &own[i]);
        for (int axis = 0; axis < 3; axis++) { // also of nothing but numbers that are none
            box.least[axis] =
                some.least[axis] < box.least[axis] ? some.least[axis] : box.least[axis];
            box.most[axis] = some.most[axis] > box.most[axis] ? some.most[axis] : box.most[axis];
        }
    }
    return box;
}

// By tile, of displacements, or of positions, if `from` is NULL. Complete on worker 0, which others
// wait for before parts are found again.
static void find_boxes_between(struct system *system, const real *const to[3],
                               const real *const from[3], struct displacements *tiles,
                               const struct worker *worker)
{
    struct surface_contact *it = system->surface_contact;
    const struct range share = worker_share(worker, it->tile_part_count, 1);
    for (size_t i = share.first; i < share.end; i++)
        it->part_boxes[i] = box_of_part(system, to, from, &it->tile_parts[i].nodes);
    worker_barrier(worker);
    if (worker->index == 0) {
        REAL_NAME(surface_shares_boxes)(system, it->part_boxes);
        gather_boxes(it, tiles);
    }
}

// it->moved := those since the lists were made or since the start of an implicit step, or of the
// positions themselves.
enum boxes { BOXES_OF_POSITIONS, BOXES_SINCE_LISTS, BOXES_SINCE_START };

static void find_boxes(struct system *system, enum boxes wanted, const struct worker *worker)
{
    struct surface_contact *it = system->surface_contact;
    const struct state *s = system->state;
    const bool start = wanted == BOXES_SINCE_START;
    const real *const now[3] = {s->x, s->y, s->z};
    const real *const then[3] = {start ? it->old_x : it->list_x, start ? it->old_y : it->list_y,
                                 start ? it->old_z : it->list_z};
    find_boxes_between(system, now, wanted == BOXES_OF_POSITIONS ? NULL : then, it->moved, worker);
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

void REAL_NAME(surface_tiles_place)(struct system *system, const struct worker *worker)
{
    struct surface_contact *it = system->surface_contact;
    find_boxes(system, BOXES_OF_POSITIONS, worker);
    if (worker->index != 0)
        return;
    it->farthest = 0;
    for (size_t t = 0; t < it->tile_count; t++)
        for (int axis = 0; axis < 3; axis++)
            it->farthest = fmax(it->farthest, fmax(fabs((double)it->moved[t].least[axis]),
                                                   fabs((double)it->moved[t].most[axis])));
}

void REAL_NAME(surface_tiles_limit)(struct surface_contact *it)
{
    for (size_t a = 0; a < it->tile_count; a++)
        for (size_t b = a; b < it->tile_count; b++) {
            const double thickness = thickness_of_tiles(it, a, b);
            double margin = it->skin_listed * thickness;
            if (a != b)
                margin = fmax(margin, 0.999 * (distance_of_boxes(&it->moved[a], &it->moved[b]) -
                                               1.5 * thickness));
            const real tightness =
                touch_each_other(it, a, b) ? (real)(1.00001 / (margin * margin)) : 0;
            it->tightness[a * it->tile_stride + b] = tightness;
            it->tightness[b * it->tile_stride + a] = tightness;
        }
    it->tightest = INFINITY;
}

// The greatest displacement of two tiles relative to each other, over that up to which lists are
// complete. Many steps compare all pairs of tiles, so the loop is one that compilers vectorise.
static double greatest_use(struct surface_contact *it, const struct displacements *boxes)
{
    real most[LANES] = {0}, tightest[LANES] = {0};
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
                const real tight = tightness[b + lane], used = square * tight;
                most[lane] = used > most[lane] ? used : most[lane];
                tightest[lane] = tight > tightest[lane] ? tight : tightest[lane];
            }
    }
    for (size_t lane = 1; lane < LANES; lane++) {
        most[0] = most[lane] > most[0] ? most[lane] : most[0];
        tightest[0] = tightest[lane] > tightest[0] ? tightest[lane] : tightest[0];
    }
    it->tightest = (double)tightest[0];
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

static bool are_lasting(double most, double step)
{
    return most + STEPS_AHEAD * step <= 0.96;
}

// What the velocities of a step show, of tiles and of flat sheets: how much of what they may move
// they have used at most since the lists were made, and in this step.
struct step_bound {
    bool known;
    double used, step;
    double flat_used, flat_step;
};

// Adds what the nodes of each tile may have moved in this step to the bounds of their
// displacements: dt by the box of their velocities, and twice the rounding of a coordinate. Returns
// how much at most that adds to the use of pairs of tiles and of flat sheets.
static struct step_bound extend_bounds(struct system *system)
{
    struct surface_contact *it = system->surface_contact;
    const double dt = moving_step(&system->settings);
    struct displacements all = no_displacements(); // of all tiles
    double rounding = 0;                           // the greatest, m
    memcpy(it->moved_to_start, it->bounds, it->tile_count * sizeof *it->moved_to_start);
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
        if (speeds->least[0] > speeds->most[0]) {
            displacements_include(&all, (const real[3]){0, 0, 0});
            continue;
        }
        for (int axis = 0; axis < 3; axis++) {
            const double least = (double)bound->least[axis], most = (double)bound->most[axis];
            const double slack =
                2 * (double)REAL_EPSILON * (it->farthest + fmax(fabs(least), fabs(most)));
            bound->least[axis] = (real)(least + dt * (double)speeds->least[axis] - slack);
            bound->most[axis] = (real)(most + dt * (double)speeds->most[axis] + slack);
            rounding = fmax(rounding, 2 * slack);
        }
        displacements_include(&all, speeds->least);
        displacements_include(&all, speeds->most);
    }
    for (size_t t = 0; t < it->tile_count; t++) {
        const struct displacements *speeds = &it->moved[t];
        const bool rests = speeds->least[0] > speeds->most[0];
        for (int axis = 0; axis < 3; axis++) {
            it->moved_in_step[t].least[axis] =
                rests ? 0 : (real)(dt * (double)speeds->least[axis] - rounding);
            it->moved_in_step[t].most[axis] =
                rests ? 0 : (real)(dt * (double)speeds->most[axis] + rounding);
        }
    }
    double square = 0; // of how far two tiles may have moved apart
    for (int axis = 0; axis < 3; axis++) {
        const double apart = dt * ((double)all.most[axis] - (double)all.least[axis]) + 2 * rounding;
        square += apart * apart;
    }
    it->moved_in_step_most = sqrt(square);
    it->rounding = rounding;
    it->moved_in_step_known = true;
    return (struct step_bound){
        .known = true,
        .step = 1.00001 * sqrt(it->tightest * square),
        .flat_step = holds_flat(it) ? REAL_NAME(flat_sheets_extend)(it, it->moved, dt) : 0,
    };
}

// Adds a step to what has been used. Only where the sum might not last all pairs of tiles are
// compared, and all windows.
static void bound_uses(struct surface_contact *it, struct step_bound *bound)
{
    bound->used = it->skin_used + bound->step;
    if (!are_lasting(bound->used, bound->step)) {
        bound->used = greatest_use(it, it->bounds);
        bound->step = fmin(bound->step, fmax(bound->used - it->skin_known, 0));
        it->skin_known = bound->used;
    } else {
        // It fills arrays of its own alone.
        // cppcheck-suppress assertWithSideEffect
        assert(bound->used >= 0.9999 * greatest_use(it, it->bounds));
    }
    if (!holds_flat(it))
        return;
    bound->flat_used = it->flat->used + bound->flat_step;
    if (!are_lasting(bound->flat_used, bound->flat_step)) {
        bound->flat_used = fmin(bound->flat_used, REAL_NAME(flat_sheets_use)(it));
        bound->flat_step = fmin(bound->flat_step, fmax(bound->flat_used - it->flat->known, 0));
        it->flat->known = bound->flat_used;
    }
}

// m, up to which distance at the start candidates have to be looked at of which two nodes may have
// moved so far relative to each other in the step (surface_limit.c).
static double distance_cut(const struct surface_contact *it, double motion, double thickness)
{
    return distance_of_cuts(motion + 2 * it->rounding, CUT_LEAST * thickness);
}

// m, of two bodies.
static double least_thickness(const struct surface_contact *it)
{
    double least = INFINITY;
    for (size_t b = 0; b < it->body_count; b++)
        if (it->wanted[b])
            least = fmin(least, 2 * it->half_thickness[b]);
    return least;
}

// Whether no two tiles move so far in the step, as far as that is known, that what is beyond the
// reach of forces might be cut.
static bool is_slow(const struct surface_contact *it)
{
    return distance_cut(it, it->moved_in_step_most, greatest_thickness(it)) <=
           1.5 * least_thickness(it);
}

// Whether lists have all candidates that the cut of the step might look at. Lists of the reach of
// forces have those of slow tiles.
static bool skins_cover_step(const struct surface_contact *it)
{
    if (is_slow(it))
        return true;
    for (size_t a = 0; a < it->tile_count; a++)
        for (size_t b = a; b < it->tile_count; b++) {
            const double thickness = thickness_of_tiles(it, a, b), reach = 1.5 * thickness;
            if (!touch_each_other(it, a, b))
                continue;
            const double distance = distance_cut(
                it, relative_displacement(&it->moved_in_step[a], &it->moved_in_step[b]), thickness);
            if (distance <= reach)
                continue;
            const double tightness = (double)it->tightness[a * it->tile_stride + b];
            const double margin =
                relative_displacement(&it->moved_to_start[a], &it->moved_to_start[b]) + distance -
                reach;
            if (tightness == 0 || margin * sqrt(tightness) > 0.999) // 0: of a sheet that is flat
                return false;
        }
    return true;
}

// By worker 0, after it->moved_in_step have changed.
static void find_moved_in_step_most(struct surface_contact *it)
{
    struct displacements all = no_displacements();
    for (size_t t = 0; t < it->tile_count; t++) {
        displacements_include(&all, it->moved_in_step[t].least);
        displacements_include(&all, it->moved_in_step[t].most);
    }
    it->moved_in_step_most = relative_displacement(&all, &all);
    it->moved_in_step_known = true;
}

// How far each tile moves in the step, exactly, from the starts of nodes; and since lists were made
// until then. Ends with a barrier.
static void find_moved_in_step(struct system *system, const real *const start[3],
                               const struct worker *worker)
{
    struct surface_contact *it = system->surface_contact;
    const struct state *s = system->state;
    const real *const now[3] = {s->x, s->y, s->z}, *const listed[3] = {it->list_x, it->list_y,
                                                                       it->list_z};
    find_boxes_between(system, start, listed, it->moved_to_start, worker);
    worker_barrier(worker);
    find_boxes_between(system, now, start, it->moved_in_step, worker);
    if (worker->index == 0)
        find_moved_in_step_most(it);
    worker_barrier(worker);
}

// The greatest relative motion of two tiles, over half their thickness.
static double greatest_relative_motion(const struct surface_contact *it)
{
    double most = 0;
    for (size_t a = 0; a < it->tile_count; a++)
        for (size_t b = a; b < it->tile_count; b++)
            if (touch_each_other(it, a, b))
                most =
                    fmax(most, relative_displacement(&it->moved_in_step[a], &it->moved_in_step[b]) /
                                   thickness_of_tiles(it, a, b));
    return most;
}

// The skin of lists for the start that suffice for the cut, whatever they were before.
static double skin_of_step(const struct surface_contact *it)
{
    return fmin(SKIN_MAX, fmax(SKIN_MIN, 2.3 * greatest_relative_motion(it))); // distance_of_cuts
}

// Whether the velocities of this step show that lists last, without the positions of the nodes.
// What they bound is the motion itself, so that no step ends with tiles that have moved farther
// than lists allow, as if displacements had been measured: between two checks tiles may become as
// fast as they like, because this is looked at in every step. Only by worker 0.
static bool bounds_suffice(struct system *system, struct step_bound *bound)
{
    struct surface_contact *it = system->surface_contact;
    *bound = (struct step_bound){0};
    if (!REAL_NAME(motion_take)(system, it->part_speeds) || !it->bounds_known || it->lists_due ||
        !REAL_NAME(surface_motion_is_bounded)(system))
        return false;
    *bound = extend_bounds(system);
    bound_uses(it, bound);
    if (!are_lasting(bound->used, bound->step) ||
        !are_lasting(bound->flat_used, bound->flat_step) || !skins_cover_step(it))
        return false;
    it->skin_used = bound->used;
    if (holds_flat(it))
        it->flat->used = bound->flat_used;
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

// What a step that is so long uses of the flatness of sheets, on every worker. Ends with
// a barrier.
static double flatness_used_by_step(struct system *system, double step, const struct worker *worker)
{
    REAL_NAME(flat_sheets_measure)(system, step, worker);
    worker_barrier(worker);
    const double used = REAL_NAME(flat_sheets_use)(system->surface_contact);
    worker_barrier(worker);
    return used;
}

// How flat sheets are, and in `bound`, on worker 0, whether they were so throughout the
// step, where that does not follow from velocities.
static void measure_flat_sheets(struct system *system, struct step_bound *bound,
                                const struct worker *worker)
{
    struct surface_contact *it = system->surface_contact;
    if (worker->index == 0)
        it->flat->step_known = bound->known && bound->flat_used <= 1;
    worker_barrier(worker);
    if (!it->flat->step_known) {
        const double used = flatness_used_by_step(system, moving_step(&system->settings), worker);
        if (worker->index == 0) {
            bound->flat_used = used;
            bound->flat_step = fmax(used - it->flat->used, 0);
        }
    }
    REAL_NAME(flat_sheets_measure)(system, 0, worker);
}

// Twice the rounding of the coordinates of nodes that have moved by it->moved since lists were
// made, m.
static double rounding_of(const struct surface_contact *it)
{
    double moved = 0;
    for (size_t t = 0; t < it->tile_count; t++)
        for (int axis = 0; axis < 3; axis++)
            moved = fmax(moved, fmax(fabs((double)it->moved[t].least[axis]),
                                     fabs((double)it->moved[t].most[axis])));
    return 4 * (double)REAL_EPSILON * (it->farthest + moved);
}

// Bounds of the motion of tiles, by what they had moved since lists were made until the start of
// the step.
static void bound_ways(const struct system *system)
{
    struct surface_contact *it = system->surface_contact;
    it->moved_in_step_known = it->bounds_before && !it->displaced;
    if (!it->moved_in_step_known)
        return;
    memcpy(it->moved_to_start, it->bounds, it->tile_count * sizeof *it->moved_to_start);
    for (size_t t = 0; t < it->tile_count; t++)
        for (int axis = 0; axis < 3; axis++) {
            it->moved_in_step[t].least[axis] = it->moved[t].least[axis] - it->bounds[t].most[axis];
            it->moved_in_step[t].most[axis] = it->moved[t].most[axis] - it->bounds[t].least[axis];
        }
    find_moved_in_step_most(it);
}

bool REAL_NAME(surface_positions_allocate)(struct system *system)
{
    struct surface_contact *it = system->surface_contact;
    const size_t nodes = all_surface_nodes(system->topology);
    real **const old[3] = {&it->old_x, &it->old_y, &it->old_z};
    bool done = true;
    it->old_wanted = system->state->step;
    for (int axis = 0; axis < 3; axis++) {
        if (!*old[axis])
            *old[axis] = memory_allocate(system->allocator, nodes, sizeof **old[axis]);
        done &= *old[axis] != NULL;
    }
    return done;
}

// By all workers together; false on each of them without memory, and the run ends. Begins and ends
// with a barrier.
static bool have_old_positions(struct system *system, const struct worker *worker)
{
    const struct surface_contact *it = system->surface_contact;
    worker_barrier(worker);
    if (worker->index == 0 && !REAL_NAME(surface_positions_allocate)(system))
        REAL_NAME(surface_memory_has_run_out)(system);
    worker_barrier(worker);
    return it->old_x && it->old_y && it->old_z;
}

// The first steps of a run often need wider lists.
enum { STEPS_KEPT = 64 };

void REAL_NAME(surface_positions_release)(struct system *system)
{
    struct surface_contact *it = system->surface_contact;
    const size_t nodes = all_surface_nodes(system->topology);
    real **const old[3] = {&it->old_x, &it->old_y, &it->old_z};
    if (it->keeps_start || it->rows || it->starts[0] ||
        system->state->step < it->old_wanted + STEPS_KEPT)
        return;
    for (int axis = 0; axis < 3; axis++) {
        memory_release(system->allocator, *old[axis], nodes, sizeof **old[axis]);
        *old[axis] = NULL;
    }
}

// Exactly, from the starts of all nodes.
static void measure_step(struct system *system, const struct worker *worker)
{
    struct surface_contact *it = system->surface_contact;
    if (!have_old_positions(system, worker))
        return;
    real *const old[3] = {it->old_x, it->old_y, it->old_z};
    if (it->lifts || !it->keeps_start)
        REAL_NAME(surface_step_starts)(system, old, worker);
    worker_barrier(worker);
    find_moved_in_step(system, (const real *const *)old, worker);
}

bool REAL_NAME(surface_motion_may_fly)(const struct system *system)
{
    const struct surface_contact *it = system->surface_contact;
    return it->moved_in_step_known && isfinite(it->moved_in_step_most) &&
           it->moved_in_step_most > FAR_MOTION * least_thickness(it);
}

bool REAL_NAME(surface_motion_flies)(struct system *system, const struct worker *worker)
{
    struct surface_contact *it = system->surface_contact;
    measure_step(system, worker);
    if (worker->index == 0)
        it->flies = it->old_x && greatest_relative_motion(it) > FAR_MOTION;
    worker_barrier(worker);
    return it->flies;
}

// it->moved are those at the start of the next step.
static void keep_bounds(struct surface_contact *it)
{
    memcpy(it->bounds, it->moved, it->tile_count * sizeof *it->bounds);
    it->bounds_before = true;
    it->displaced = false;
}

bool REAL_NAME(surface_lists_check)(struct system *system, const struct worker *worker)
{
    struct surface_contact *it = system->surface_contact;
    struct step_bound bound = {0}; // on worker 0
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
    if (holds_flat(it)) {
        REAL_NAME(exchange_all_nodes)
        (system, worker); // of rows of different ranks beside each other
        measure_flat_sheets(system, &bound, worker);
    }
    find_boxes(system, BOXES_SINCE_LISTS, worker);
    if (worker->index == 0) {
        it->rounding = rounding_of(it);
        if (!bound.known)
            bound_ways(system);
        it->moved_in_step_wanted = !it->rows && (!it->moved_in_step_known || !skins_cover_step(it));
    }
    worker_barrier(worker);
    if (it->moved_in_step_wanted)
        measure_step(system, worker);
    if (worker->index == 0) {
        double most = greatest_use(it, it->moved);
        const double step = bound.known ? bound.step : fmax(most - it->skin_used, 0);
        const bool covers = !it->moved_in_step_wanted || !isfinite(it->moved_in_step_most) ||
                            (greatest_use(it, it->moved_to_start) <= 1 && skins_cover_step(it));
        it->skin_used = it->skin_known = most;
        it->lists_due_next = it->lists_due || !are_lasting(most, step);
        if (holds_flat(it)) {
            it->flat->used = it->flat->known = REAL_NAME(flat_sheets_use)(it);
            it->lists_due_next |= !are_lasting(it->flat->used, bound.flat_step);
            most = fmax(most, bound.flat_used);
        }
        it->overshot = (most > 1 || !covers) && isfinite(most);
        if (it->reached) { // lists for that step alone
            it->lists_due_next = true;
            it->skin_least = 0;
            it->reached = false;
        }
        it->motion.wanted = it->bounds_known =
            REAL_NAME(surface_motion_is_bounded)(system) && system->motion;
        if (!it->rows)
            keep_bounds(it);
        if (it->overshot)
            it->skin = fmin(SKIN_MAX, fmin(2.3 * greatest_displacement(it), 2 * it->skin));
        it->steps_listed++;
    }
    worker_barrier(worker);
    return it->overshot;
}

void REAL_NAME(surface_lists_check_start)(struct system *system, const struct worker *worker)
{
    struct surface_contact *it = system->surface_contact;
    find_boxes(system, BOXES_SINCE_LISTS, worker);
    if (worker->index == 0) {
        const double most = greatest_use(it, it->moved);
        it->lists_due = most > 0.96 && isfinite(most);
        keep_bounds(it);
    }
    worker_barrier(worker);
}

bool REAL_NAME(surface_lists_check_cut)(struct system *system, const struct worker *worker)
{
    struct surface_contact *it = system->surface_contact;
    double flat = 0;
    worker_barrier(worker); // all have finished with the boxes
    if (holds_flat(it)) {
        flat = flatness_used_by_step(system, it->step_length, worker);
        REAL_NAME(flat_sheets_measure)(system, 0, worker);
    }
    find_boxes(system, BOXES_SINCE_LISTS, worker);
    if (worker->index == 0) {
        const double most = fmax(flat, greatest_use(it, it->moved));
        find_moved_in_step_most(it);
        it->narrow = (most > 1 || !skins_cover_step(it)) && isfinite(most) &&
                     isfinite(it->moved_in_step_most);
    }
    worker_barrier(worker);
    return it->narrow;
}

void REAL_NAME(surface_motion_in_step)(struct system *system, const struct worker *worker)
{
    struct surface_contact *it = system->surface_contact;
    find_moved_in_step(system, (const real *const *)it->starts, worker);
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
        gather_boxes(it, it->moved);
}

// ---- Implicit steps
//
// Their stages are evaluated at guesses, which are as far from the start of the step as a body
// moves in it, and what has passed through each other by then counts as contact. So lists have to
// be complete for all of the motion from the start: up to the reach and what a pair of tiles has
// moved, and for the cutting of the step (surface_limit.c) up to twice that and more. Then neither
// forces nor cuts depend on when lists were made. They are made for the present velocities and
// gravity; where forces move nodes farther than that, they are made again, for the start.

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

// it->bounds: the displacements of tiles since the lists were made until the start; it->moved:
// those in the step.
static struct step_needs needs_of_step(const struct surface_contact *it)
{
    struct step_needs needs = {0, 0};
    for (size_t a = 0; a < it->tile_count; a++)
        for (size_t b = a; b < it->tile_count; b++) {
            if (!touch_each_other(it, a, b))
                continue;
            const double margin =
                room_for(it, a, b, relative_displacement(&it->moved[a], &it->moved[b]));
            const double start = relative_displacement(&it->bounds[a], &it->bounds[b]);
            const double tightness = (double)it->tightness[a * it->tile_stride + b];
            needs.use = fmax(needs.use, (start + margin) * sqrt(tightness));
            needs.skin = fmax(needs.skin, margin / thickness_of_tiles(it, a, b));
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

void REAL_NAME(surface_lists_widen)(struct system *system, bool most, const struct worker *worker)
{
    struct surface_contact *it = system->surface_contact;
    REAL_NAME(surface_shares_complete)(system, worker);
    if (!have_old_positions(system, worker))
        return;
    real *const old[3] = {it->old_x, it->old_y, it->old_z};
    if (it->being_cut || it->lifts || !it->keeps_start)
        REAL_NAME(surface_step_starts)(system, old, worker);
    worker_barrier(worker);
    if (!it->being_cut)
        find_moved_in_step(system, (const real *const *)old, worker);
    if (worker->index == 0) {
        it->skin_least = most ? SKIN_MAX : skin_of_step(it);
        it->lists_due = it->overshot = true;
        it->start_known &= it->rows != NULL; // which is that of an implicit step already
    }
    worker_barrier(worker);
    prepare_for_kept(system, worker);
}

// Whether two tiles may have moved relative to each other by more than FAR_MOTION thicknesses in
// the part `elapsed` of a step, by it->moved and what they had moved when it began.
static bool stage_may_fly(const struct surface_contact *it, double elapsed)
{
    struct displacements all = no_displacements();
    if (!it->bounds_before || it->displaced)
        return true;
    for (size_t t = 0; t < it->tile_count; t++)
        for (int axis = 0; axis < 3; axis++) {
            const real least = it->moved[t].least[axis] - it->bounds[t].most[axis],
                       most = it->moved[t].most[axis] - it->bounds[t].least[axis];
            all.least[axis] = least < all.least[axis] ? least : all.least[axis];
            all.most[axis] = most > all.most[axis] ? most : all.most[axis];
        }
    return relative_displacement(&all, &all) > elapsed * FAR_MOTION * least_thickness(it);
}

// Whether the run has certainly diverged at a stage in which nodes fly: as is asked at the end of a
// step before it is cut. By the motion from the start, as this must not depend on when lists were
// made. The same on every worker.
static bool stage_is_lost(struct system *system, double elapsed, const struct worker *worker)
{
    struct surface_contact *it = system->surface_contact;
    if (!it->stage_flies || !system->is_hopeless || !system->is_hopeless(system, worker))
        return false;
    find_boxes(system, BOXES_SINCE_START, worker);
    if (worker->index == 0)
        it->gives_up = greatest_displacement(it) > elapsed * FAR_MOTION;
    worker_barrier(worker);
    return it->gives_up;
}

void REAL_NAME(surface_lists_reach)(struct system *system, double time, const struct worker *worker)
{
    struct surface_contact *it = system->surface_contact;
    const double elapsed = time - step_time(system, system->state->step);
    find_boxes(system, BOXES_SINCE_LISTS, worker);
    if (worker->index == 0) {
        const double most = greatest_use(it, it->moved);
        it->lists_due = most > 1 && isfinite(most);
        it->stage_flies = stage_may_fly(it, elapsed / system->settings.dt);
    }
    worker_barrier(worker);
    if (stage_is_lost(system, elapsed / system->settings.dt, worker) || !it->lists_due)
        return;
    find_boxes(system, BOXES_SINCE_START, worker);
    if (worker->index == 0) {
        const double step = system->settings.dt / elapsed * greatest_displacement(it);
        it->skin_least = fmin(SKIN_MAX, fmax(SKIN_MIN, 2.3 * step)); // distance_of_cuts
        it->start_known = false;
        it->overshot = it->reached = true; // no list sleeps, and the skin of others stays
    }
    REAL_NAME(surface_shares_complete)(system, worker);
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

void REAL_NAME(surface_lists_hold)(struct system *system, const struct worker *worker)
{
    const struct surface_contact *it = system->surface_contact;
    REAL_NAME(surface_lists_prepare)(system, worker);
    if (it->rows && it->start_known)
        REAL_NAME(surface_lists_cover)(system, worker);
    REAL_NAME(surface_steps_know)(system, worker);
}
