// When the lists of candidates are made again, and how wide they are.
//
// Lists have all candidates up to the reach of the barrier and a skin, and are complete until two
// surfaces may have moved relative to each other by more than that. This is measured between tiles:
// a sheet or a rope is cut into tiles, other bodies are one tile. A tile has the nodes of all its
// edges and triangles, so that tiles overlap, and what each edge or triangle moves is bounded by
// what one tile moves. So neither the common motion of bodies nor that of the parts of a cloth uses
// up the skin, and tiles that were far from each other may move by their distance.
#include "contact/surface_lists.h"
#include "contact/surface_tangent.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/sort.h"
#include "state/reading.h"

// The skin of a tile, in units of half the thickness of its body: the faster tiles move relative to
// each other, the wider. Wider lists last for more steps, and cost more in each: with 1 instead of
// 1/4 a step of a folding cloth takes twice as long. Beyond the upper limit a run has diverged.
static const double SKIN_MIN = 0.25, SKIN_MAX = 512;

// ---- Tiles

// Cells of a tile along an axis at least, tiles of a body along an axis and of all bodies at most:
// every step looks at all pairs of tiles.
enum { TILE_CELLS = 24, TILES_ALONG = 12, TILES = 320 };

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
        !ALLOCATE(it->moved, it->tile_capacity) || !allocate_pairs(it, allocator))
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
    it->lists_due = true;
    it->skin = SKIN_MIN;
    it->skin_power = 2;
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
    RELEASE(it->moved, it->tile_capacity);
    RELEASE(it->part_boxes, it->tile_part_capacity);
    RELEASE(it->tile_parts, it->tile_part_capacity);
    RELEASE(it->tile_bodies, it->tile_capacity);
}

uint64_t REAL_NAME(surface_lists_bytes)(const struct surface_contact *it)
{
    return it->tile_capacity * (sizeof *it->tile_bodies + sizeof *it->moved) +
           (it->tile_capacity + 6) * it->tile_stride * sizeof *it->tightness +
           it->tile_part_capacity * (sizeof *it->tile_parts + sizeof *it->part_boxes);
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

// By tile, of the displacements since the lists were made, or of the positions themselves. The
// result is complete on worker 0 after the barrier at the end.
static void find_boxes(struct system *system, bool positions, const struct worker *worker)
{
    struct surface_contact *it = system->surface_contact;
    const struct state *s = system->state;
    const real *const now[3] = {s->x, s->y, s->z}, *const then[3] = {it->list_x, it->list_y,
                                                                     it->list_z};
    const struct range share = worker_share(worker, it->tile_part_count, 1);
    for (size_t i = share.first; i < share.end; i++) {
        struct node_box box;
        it->broad->kernels->displacement_box(now, positions ? NULL : then, &it->tile_parts[i].nodes,
                                             &box);
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
static double greatest_use(struct surface_contact *it)
{
    real most[LANES] = {0};
    for (size_t b = 0; b < it->tile_count; b++)
        for (int axis = 0; axis < 3; axis++) {
            it->moved_least[axis][b] = it->moved[b].least[axis];
            it->moved_most[axis][b] = it->moved[b].most[axis];
        }
    for (size_t a = 0; a < it->tile_count; a++) {
        const struct displacements *moved = &it->moved[a];
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

bool REAL_NAME(surface_lists_check)(struct system *system, const struct worker *worker)
{
    struct surface_contact *it = system->surface_contact;
    find_boxes(system, false, worker);
    if (worker->index == 0) {
        const double most = greatest_use(it);
        // Lists are made again when the next steps might need more than the skin.
        const double step = fmax(most - it->skin_used, 0);
        it->skin_used = most;
        it->lists_due_next = it->lists_due || !(most + 4 * step <= 0.96);
        it->overshot = most > 1 && isfinite(most);
        if (it->overshot)
            it->skin = fmin(SKIN_MAX, fmax(it->skin, 2 * greatest_displacement(it)));
        it->steps_listed++;
    }
    worker_barrier(worker);
    return it->overshot;
}

// Where nodes will be after `time` with their present velocities and gravity, from where they were
// when the lists were made, or from where they are. By tile, as find_boxes.
static void find_expected(struct system *system, double time, bool from_lists,
                          const struct worker *worker)
{
    struct surface_contact *it = system->surface_contact;
    const struct state *s = system->state;
    const vec3 gravity = system->topology->environment.gravity;
    const real *const now[3] = {s->x, s->y, s->z}, *const speeds[3] = {s->vx, s->vy, s->vz};
    const real *const then[3] = {it->list_x, it->list_y, it->list_z};
    const double falls[3] = {time * gravity.x, time * gravity.y, time * gravity.z};
    const struct range share = worker_share(worker, it->tile_part_count, 1);
    for (size_t i = share.first; i < share.end; i++) {
        const struct node_rows *part = &it->tile_parts[i].nodes;
        it->part_boxes[i] = no_displacements();
        for (size_t at = 0; at < part->rows * part->count; at++) {
            const size_t node = part->first + at / part->count * part->stride + at % part->count;
            const double free = system->constants->inverse_mass[node] != 0;
            real moved[3];
            for (int axis = 0; axis < 3; axis++) {
                const double step = time * ((double)speeds[axis][node] + free * falls[axis]);
                const real so_far = from_lists ? now[axis][node] - then[axis][node] : 0;
                moved[axis] = so_far + (real)step;
            }
            displacements_include(&it->part_boxes[i], moved);
        }
    }
    worker_barrier(worker);
    if (worker->index == 0)
        gather_boxes(it);
}

void REAL_NAME(surface_contact_expect)(struct system *system, double time,
                                       const struct worker *worker)
{
    struct surface_contact *it = system->surface_contact;
    const double margin = 1.5;
    find_expected(system, time, true, worker);
    if (worker->index == 0)
        it->lists_due |= greatest_use(it) > 0.96;
    worker_barrier(worker);
    if (!it->lists_due)
        return;
    find_expected(system, time, false, worker);
    if (worker->index == 0)
        it->skin_least = fmin(SKIN_MAX, margin * greatest_displacement(it));
    worker_barrier(worker);
}

// ---- Lists

// Up to which displacement relative to each other of two tiles lists are complete: their skin, or how
// far they are from each other beyond what the lists have found.
static void find_tightness(struct surface_contact *it)
{
    for (size_t a = 0; a < it->tile_count; a++)
        for (size_t b = a; b < it->tile_count; b++) {
            const double thickness = thickness_of_tiles(it, a, b);
            double room = it->skin * thickness;
            if (a != b)
                room = fmax(room, 0.999 * (distance_of_boxes(&it->moved[a], &it->moved[b]) -
                                           1.5 * thickness));
            const real tightness = touch_each_other(it, a, b) ? (real)(1.00001 / (room * room)) : 0;
            it->tightness[a * it->tile_stride + b] = tightness;
            it->tightness[b * it->tile_stride + a] = tightness;
        }
}

// The wider the skin, the more candidates lists have, and the longer they last. Making lists costs as
// much as evaluating 12 candidates for each triangle and edge, and 1.5 for each candidate: m. They last
// for n steps, or n + 4 but for the allowance in surface_lists_check, in proportion to the skin s; the
// number of candidates grows as (1.5 + s)^k, k as the last two skins have it, and of what n steps
// do with them, u, about half. So (m + u) / n is least where
//     m (e c / m - (n + 4) / n) + u e / 2 = 0,    e = k s / (1.5 + s),
// with c the cost of the candidates in m. In every step a listed block costs as much as 40 candidates,
// and a pair of blocks as 5. Counts, not times: lists are the same in every run.
static void adapt_skin(struct surface_contact *it)
{
    const double factor = 1.25;
    const double parts = (double)(it->surfaces.triangle_count + it->surfaces.edge_count);
    const double candidates = 1.5 * (double)it->candidates, making = 12 * parts + candidates;
    const double steps = (double)it->steps_listed;
    if (it->overshot || it->steps_listed == 0)
        return;
    double used = 0;
    for (size_t b = 0; b < it->surfaces.block_count; b++)
        used += 40 * steps * it->listed[b];
    for (size_t i = 0; i < it->broad->list_count; i++)
        used += (double)it->near[i].short_evaluated + (double)it->near[i].evaluated +
                5 * steps * (double)it->broad->lists[i].pair_count;
    const double wider = log((1.5 + it->skin) / (1.5 + it->skin_before));
    if (fabs(wider) > 0.02 && it->candidates > 0 && it->candidates_before > 0) {
        const double found = log((double)it->candidates / (double)it->candidates_before) / wider;
        it->skin_power = (it->skin_power + fmin(fmax(found, 1), 3)) / 2;
    }
    it->skin_before = it->skin;
    it->candidates_before = it->candidates;
    const double e = it->skin_power * it->skin / (1.5 + it->skin), cost = (making + used) / steps;
    const bool narrows = e * candidates - making * (steps + 4) / steps + used * e / 2 > 0;
    if (narrows) {
        it->skin_wide = it->skin;
        it->cost_wide = cost;
        it->skin = fmax(SKIN_MIN, it->skin / factor);
        return;
    }
    // What was too wide is not tried again at once: the first candidates of a flat cloth, with its own
    // neighbours, come at a certain skin and are many.
    const double next = fmin(SKIN_MAX, it->skin * factor);
    if (next < 0.999 * it->skin_wide || it->cost_wide < cost)
        it->skin = next;
    else
        it->cost_wide *= 0.95;
}

// Evaluating all candidates of pairs should cost as much as evaluating those of short lists.
static void adapt_margin(struct short_lists *near)
{
    const float least = 1.0F / 16, most = 8, factor = 1.5F;
    if (near->margin == 0)
        near->margin = 0.5F;
    if (near->evaluated > near->short_evaluated)
        near->margin = fminf(most, near->margin * factor);
    else if (near->evaluated < near->short_evaluated)
        near->margin = fmaxf(least, near->margin / factor);
    near->evaluated = near->short_evaluated = 0;
}

static bool mark_listed(struct surface_contact *it)
{
    memset(it->listed, 0, it->surfaces.block_count);
    it->candidates = 0;
    for (size_t i = 0; i < it->broad->list_count; i++) {
        const struct pair_list *list = &it->broad->lists[i];
        struct short_lists *near = &it->near[i];
        if (!array_reserve((void **)&near->pairs, &near->pair_capacity, list->pair_count,
                           sizeof *near->pairs))
            return false;
        for (size_t p = 0; p < list->pair_count; p++)
            near->pairs[p] = (struct pair_reach){.least = list->pairs[p].least};
        near->code_count = near->used = 0;
        adapt_margin(near);
        it->candidates += list->code_count;
        for (size_t p = 0; p < list->pair_count; p++)
            it->listed[list->pairs[p].a] = it->listed[list->pairs[p].b] = 1;
    }
    return true;
}

void REAL_NAME(surface_memory_has_run_out)(struct system *system)
{
    struct surface_contact *it = system->surface_contact;
    for (size_t i = 0; i < it->broad->list_count; i++)
        it->broad->lists[i].pair_count = 0;
    it->candidates = 0;
    it->pushes = false;
    if (it->rows)
        it->rows->count = 0;
    if (system->fault.code != TAUT_OK)
        return;
    system->fault = (struct fault){.code = TAUT_ERROR_MEMORY, .step = system->state->step};
}

void REAL_NAME(surface_lists_prepare)(struct system *system, const struct worker *worker)
{
    struct surface_contact *it = system->surface_contact;
    const struct state *s = system->state;
    worker_barrier(worker); // all have finished with the lists
    if (!it->lists_due)
        return;
    find_boxes(system, true, worker);
    if (worker->index == 0) {
        adapt_skin(it);
        it->skin = fmax(it->skin, it->skin_least);
        find_tightness(it);
        for (size_t b = 0; b < it->body_count; b++)
            it->radius[b] = (1.5 + it->skin) * it->half_thickness[b];
    }
    const struct range share = surface_node_share(system, worker);
    memcpy(it->list_x + share.first, s->x + share.first, (share.end - share.first) * sizeof(real));
    memcpy(it->list_y + share.first, s->y + share.first, (share.end - share.first) * sizeof(real));
    memcpy(it->list_z + share.first, s->z + share.first, (share.end - share.first) * sizeof(real));
    worker_barrier(worker);
    REAL_NAME(broad_phase_refit)(it->broad, s, worker);
    const bool complete = REAL_NAME(broad_phase_find)(it->broad, &it->rules, worker);
    const struct range blocks = worker_share(worker, it->surfaces.block_count, 1);
    memset(it->steps + blocks.first, 0, (blocks.end - blocks.first) * sizeof *it->steps);
    worker_barrier(worker);
    if (worker->index == 0) {
        if (!complete || !mark_listed(it))
            REAL_NAME(surface_memory_has_run_out)(system);
        // Distances are known in this state, with which implicit steps need not begin.
        it->least_known = it->steps_known = !integrator_is_implicit(system->settings.integrator);
        it->lists_due = false;
        it->steps_listed = 0;
        it->skin_used = 0;
    }
    worker_barrier(worker);
}
