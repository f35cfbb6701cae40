// Divides a plan into parts (plan_parts.h). Everything follows from the topology and the plan, so
// that each rank finds the same parts, and one process can find those of any number of ranks.
#include "springs/plan_parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/sort.h"
#include "parallel/team.h"

// ---- Where parts may end

// The work of the nodes before `node`, by nodes and springs.
static double work_before(const struct topology *topology, uint64_t node)
{
    double work = 0;
    for (size_t b = 0; b < topology->body_count; b++) {
        const struct topology_body *body = &topology->bodies[b];
        if (node <= body->first_node || body->node_count == 0)
            continue;
        const double part = (double)min_u64(node - body->first_node, body->node_count);
        work += part * (1 + (double)body->spring_count / (double)body->node_count);
    }
    return work;
}

struct cut_points {
    uint64_t *items;
    size_t count, capacity;
};

static bool add_cut_point(struct cut_points *points, uint64_t node)
{
    if (!array_reserve((void **)&points->items, &points->capacity, points->count + 1,
                       sizeof *points->items))
        return false;
    points->items[points->count++] = node;
    return true;
}

// The first node of a tile, or of the layer of tiles that begins with it.
static uint64_t tile_first_node(const struct plan_grid *grid, const struct plan_tile *tile)
{
    const struct plan_tiling *tiling = &grid->tiling;
    return grid->first_node + (tile->k0 * tiling->ny + tile->j0) * tiling->nx;
}

static bool add_grid_cut_points(const struct plan_grid *grid, struct cut_points *points)
{
    const struct plan_tiling *tiling = &grid->tiling;
    const uint64_t tiles = tiling_tile_count(tiling);
    for (uint64_t t = 0; t < tiles; t += plan_tiles_together(tiling)) {
        const struct plan_tile tile = tiling_tile(tiling, t);
        if (!add_cut_point(points, tile_first_node(grid, &tile)))
            return false;
    }
    return true;
}

bool plan_parts_whole(const struct topology *topology, const struct plan *plan, int count)
{
    const uint64_t most =
        max_u64(topology->node_count / 16, topology->node_count / (4 * (uint64_t)count));
    bool whole = true;
    for (size_t i = 0; i < plan->off_grid_count && whole; i++)
        whole = plan->off_grid[i].count <= most;
    return whole;
}

// All nodes at which a part may begin, ascending.
static bool find_cut_points(const struct topology *topology, const struct plan *plan, int count,
                            struct cut_points *points)
{
    const bool whole = plan_parts_whole(topology, plan, count);
    size_t g = 0, i = 0;
    while (g < plan->grid_count || i < plan->off_grid_count) {
        const bool is_grid =
            i == plan->off_grid_count ||
            (g < plan->grid_count && plan->grids[g].first_node < plan->off_grid[i].first);
        if (is_grid && !add_grid_cut_points(&plan->grids[g], points))
            return false;
        const uint64_t step = whole ? plan->off_grid[i].count : PART_NODES;
        for (uint64_t at = 0; !is_grid && at < plan->off_grid[i].count; at += step)
            if (!add_cut_point(points, plan->off_grid[i].first + at))
                return false;
        g += is_grid;
        i += !is_grid;
    }
    return true;
}

// The cut point nearest to a share of the work, from number `from` on.
static size_t nearest_cut_point(const struct topology *topology, const struct cut_points *points,
                                size_t from, double work)
{
    size_t low = from, high = points->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (work_before(topology, points->items[middle]) < work)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == points->count || low == from)
        return low;
    const double after = work_before(topology, points->items[low]) - work;
    return work - work_before(topology, points->items[low - 1]) < after ? low - 1 : low;
}

taut_status plan_parts_make(const struct topology *topology, const struct plan *plan, int count,
                            struct plan_parts **result, taut_error *error)
{
    *result = NULL;
    struct cut_points points = {0};
    struct plan_parts *parts = calloc(1, sizeof *parts);
    if (parts) {
        parts->count = count;
        parts->cuts = calloc((size_t)count + 1, sizeof *parts->cuts);
        parts->chunk_cuts = calloc((size_t)count + 1, sizeof *parts->chunk_cuts);
        parts->block_cuts = calloc((size_t)count + 1, sizeof *parts->block_cuts);
    }
    if (!parts || !parts->cuts || !parts->chunk_cuts || !parts->block_cuts ||
        !find_cut_points(topology, plan, count, &points)) {
        plan_parts_free(parts);
        free(points.items);
        return fail_memory(error, "the parts of ranks");
    }
    const double all = work_before(topology, topology->node_count);
    size_t at = 0;
    for (int p = 1; p < count; p++) {
        at = nearest_cut_point(topology, &points, at, all * p / count);
        parts->cuts[p] = at < points.count ? points.items[at] : topology->node_count;
    }
    parts->cuts[count] = topology->node_count;
    for (int p = 1; p <= count; p++) {
        parts->chunk_cuts[p] = chunk_count((size_t)parts->cuts[p]);
        parts->block_cuts[p] = (parts->cuts[p] + PART_NODES - 1) / PART_NODES;
    }
    free(points.items);
    *result = parts;
    return TAUT_OK;
}

void plan_parts_free(struct plan_parts *parts)
{
    if (!parts)
        return;
    free(parts->cuts);
    free(parts->chunk_cuts);
    free(parts->block_cuts);
    free(parts);
}

int plan_part_of_node(const struct plan_parts *parts, uint64_t node)
{
    return (int)find_interval(parts->cuts, sizeof *parts->cuts, (size_t)parts->count, node);
}

bool plan_body_is_divided(const struct topology *topology, const struct plan *plan,
                          const struct plan_parts *parts, size_t body)
{
    const struct topology_body *it = &topology->bodies[body];
    return it->node_count > 0 && !plan_grid_of_body(plan, body) &&
           plan_part_of_node(parts, it->first_node) !=
               plan_part_of_node(parts, it->first_node + it->node_count - 1);
}

// The grid of a tile; *tile becomes the number of the tile within that grid.
static const struct plan_grid *grid_of_tile(const struct plan *plan, uint64_t *tile)
{
    const size_t grid = find_interval(&plan->grids->tiling.first_tile, sizeof *plan->grids,
                                      plan->grid_count, *tile);
    *tile -= plan->grids[grid].tiling.first_tile;
    return &plan->grids[grid];
}

int plan_part_of_tile(const struct plan *plan, const struct plan_parts *parts, uint64_t tile)
{
    const struct plan_grid *grid = grid_of_tile(plan, &tile);
    const struct plan_tile it = tiling_tile(&grid->tiling, tile);
    return plan_part_of_node(parts, tile_first_node(grid, &it));
}

// ---- What a part computes

static void find_tiles(const struct plan *plan, struct plan_part *part)
{
    part->first_tile = part->end_tile = 0;
    bool found = false;
    for (size_t g = 0; g < plan->grid_count; g++) {
        const struct plan_grid *grid = &plan->grids[g];
        const uint64_t tiles = tiling_tile_count(&grid->tiling);
        for (uint64_t t = 0; t < tiles; t++) {
            const struct plan_tile tile = tiling_tile(&grid->tiling, t);
            const uint64_t node = tile_first_node(grid, &tile);
            if (node < part->first_node || node >= part->end_node)
                continue;
            if (!found)
                part->first_tile = grid->tiling.first_tile + t;
            part->end_tile = grid->tiling.first_tile + t + 1;
            found = true;
        }
    }
}

static void find_packed_tiles(const struct plan *plan, struct plan_part *part)
{
    const struct plan_packed *packed = &plan->packed;
    part->first_computed = part->first_node;
    part->end_computed = part->end_node;
    bool found = false;
    for (uint64_t t = 0; t < packed->tile_count; t++) {
        const struct packed_tile *tile = &packed->tiles[t];
        const uint64_t end = tile->first_node + tile->node_count;
        if (end <= part->first_node || tile->first_node >= part->end_node)
            continue;
        if (!found)
            part->first_packed = t;
        part->end_packed = t + 1;
        found = true;
        part->first_computed = min_u64(part->first_computed, tile->first_node);
        part->end_computed = max_u64(part->end_computed, end);
    }
}

// ---- What a part needs

bool plan_part_need(struct plan_part *part, uint64_t first, uint64_t end)
{
    if (first >= end)
        return true;
    if (first < part->first_node && end > part->first_node)
        return plan_part_need(part, first, part->first_node) &&
               plan_part_need(part, part->first_node, end);
    if (first < part->end_node && end > part->end_node)
        return plan_part_need(part, part->end_node, end);
    if (plan_part_owns(part, first))
        return true;
    if (!array_reserve((void **)&part->halo, &part->halo_capacity, part->halo_count + 1,
                       sizeof *part->halo))
        return false;
    part->halo[part->halo_count++] = (struct plan_nodes){first, end - first};
    return true;
}

static bool add_box(const struct plan *plan, const struct plan_parts *parts, int number,
                    struct plan_part *part, struct plan_box box)
{
    if (plan_part_of_tile(plan, parts, box.tile) == number || plan_box_nodes(plan, box) == 0)
        return true;
    if (!array_reserve((void **)&part->boxes, &part->box_capacity, part->box_count + 1,
                       sizeof *part->boxes))
        return false;
    part->boxes[part->box_count++] = box;
    return true;
}

// The contributions that the reduction of a tile adds (grid/sweep.c).
static bool add_boxes_of_tile(const struct plan *plan, const struct plan_parts *parts, int number,
                              struct plan_part *part, const struct plan_tiling *tiling,
                              uint64_t tile)
{
    const int64_t ty = (int64_t)(tile % tiling->tiles_y), tz = (int64_t)(tile / tiling->tiles_y);
    const struct {
        int64_t ty, tz;
        uint64_t which;
    } sources[] = {{ty - 1, tz - 1, HALO_ABOVE},
                   {ty, tz - 1, HALO_ABOVE},
                   {ty + 1, tz - 1, HALO_ABOVE},
                   {ty - 1, tz, HALO_AFTER},
                   {ty + 1, tz, HALO_BEFORE}};
    for (size_t s = 0; s < sizeof sources / sizeof sources[0]; s++) {
        const int64_t y = sources[s].ty, z = sources[s].tz;
        if (y < 0 || z < 0 || y >= (int64_t)tiling->tiles_y || z >= (int64_t)tiling->tiles_z)
            continue;
        const uint64_t from = tiling->first_tile + (uint64_t)z * tiling->tiles_y + (uint64_t)y;
        if (!add_box(plan, parts, number, part, (struct plan_box){from, sources[s].which}))
            return false;
    }
    return true;
}

// A kernel computes whole registers, and leaves out springs that would reach over the end of a row.
// The power of such a spring is 0, but its length is in the common denominator of the powers of a
// node, which it rounds. So these nodes, of the next row or of the next body, have to be the same
// on every rank.
enum { OVER_THE_END = 2 };

// The nodes after its tiles that a part reads: rows, or layers of a lattice.
static bool add_grid_needs(const struct topology *topology, const struct plan *plan,
                           const struct plan_parts *parts, int number, const struct plan_grid *grid,
                           struct plan_part *part)
{
    const struct plan_tiling *tiling = &grid->tiling;
    const uint64_t end = grid->first_node + tiling->nx * tiling->ny * tiling->nz;
    const uint64_t first_own = max_u64(part->first_node, grid->first_node);
    const uint64_t end_own = min_u64(part->end_node, end);
    if (first_own >= end_own)
        return true;
    const uint64_t layer = tiling->nz > 1 ? tiling->nx * tiling->ny : tiling->nx;
    const uint64_t reach = tiling->nz > 1 ? tiling->above : tiling->after;
    const uint64_t read = min_u64(end, end_own + reach * layer) + OVER_THE_END;
    bool added = plan_part_need(part, end_own, min_u64(topology->node_count, read));
    for (uint64_t t = max_u64(part->first_tile, tiling->first_tile);
         added && t < min_u64(part->end_tile, tiling->first_tile + tiling_tile_count(tiling)); t++)
        added = add_boxes_of_tile(plan, parts, number, part, tiling, t - tiling->first_tile);
    return added;
}

// Faces read the rows before and after those with nodes of the part. The powers of rows that are
// computed at once belong to the part of the first of them, which computes all.
static bool add_face_needs(const struct plan_face_grid *grid, struct plan_part *part)
{
    const uint64_t nx = grid->nx, end = grid->first_node + nx * grid->ny;
    const uint64_t first_own = max_u64(part->first_node, grid->first_node);
    const uint64_t end_own = min_u64(part->end_node, end);
    if (first_own >= end_own)
        return true;
    const uint64_t batch = plan_face_rows_at_once(grid);
    const uint64_t first_row = (first_own - grid->first_node) / nx;
    const uint64_t last_row = (end_own - 1 - grid->first_node) / nx;
    const uint64_t rows = min_u64(grid->ny, (last_row / batch + 1) * batch + 1);
    const uint64_t before = first_row > 0 ? first_row - 1 : 0;
    return plan_part_need(part, grid->first_node + before * nx, first_own) &&
           plan_part_need(part, end_own, grid->first_node + rows * nx);
}

// Whether all nodes of a body are those of the part.
static bool is_own(const struct plan_part *part, const struct topology_body *body)
{
    return body->first_node >= part->first_node &&
           body->first_node + body->node_count <= part->end_node;
}

static bool is_computed(const struct plan_part *part, uint64_t node)
{
    return node >= part->first_computed && node < part->end_computed;
}

// The other ends of springs on no grid, and the nodes of others in its tiles.
static bool add_loose_needs(const struct topology *topology, const struct plan *plan,
                            struct plan_part *part)
{
    if (!plan_part_need(part, part->first_computed, part->first_node) ||
        !plan_part_need(part, part->end_node, part->end_computed))
        return false;
    for (size_t b = 0; b < topology->body_count; b++) {
        const struct topology_body *body = &topology->bodies[b];
        if (plan_grid_of_body(plan, b) || body->first_node >= part->end_computed ||
            body->first_node + body->node_count <= part->first_computed || is_own(part, body))
            continue;
        const uint64_t end = body->first_spring + body->spring_count;
        for (uint64_t spring = body->first_spring; spring < end;) {
            const struct spring_run run = topology_run(topology, spring, end);
            for (uint64_t i = 0; i < run.count; i++) {
                const uint64_t a = run.a + i, other = run.b + i;
                if (is_computed(part, a) && !plan_part_need(part, other, other + 1))
                    return false;
                if (is_computed(part, other) && !plan_part_need(part, a, a + 1))
                    return false;
            }
            spring += run.count;
        }
    }
    return true;
}

static int compare_nodes(const void *left, const void *right)
{
    const struct plan_nodes *a = left, *b = right;
    return a->first < b->first ? -1 : a->first > b->first;
}

static int compare_boxes(const void *left, const void *right)
{
    const struct plan_box *a = left, *b = right;
    if (a->tile != b->tile)
        return a->tile < b->tile ? -1 : 1;
    return a->which < b->which ? -1 : a->which > b->which;
}

// Adds the nodes that tiles with nodes of the part read.
static bool add_ring_tiles(const struct plan_rings *rings, struct plan_part *part)
{
    for (uint64_t t = 0; t < rings->tile_count; t++) {
        const struct ring_tile *tile = &rings->tiles[t];
        if (!plan_part_has_tile(part, tile))
            continue;
        if (!plan_part_need(part, tile->first_node, tile->first_node + tile->node_count))
            return false;
        for (uint32_t i = 0; i < tile->halo_count; i++) {
            const uint64_t node = rings->halo[tile->first_halo + i];
            if (!plan_part_need(part, node, node + 1))
                return false;
        }
    }
    return true;
}

// Gas: the first nodes of a body, as built and in the plan, from which its volume is measured, and
// the rings of nodes. Other faces on which gas acts are in blocks.
static bool add_gas_needs(const struct topology *topology, const struct plan *plan,
                          struct plan_part *part)
{
    for (size_t b = 0; b < topology->body_count; b++) {
        const struct topology_body *body = &topology->bodies[b];
        if (!body->pressure.present || body->first_node >= part->end_computed ||
            body->first_node + body->node_count <= part->first_computed)
            continue;
        const uint64_t built = topology_internal_node(topology, body->first_node);
        if (!plan_part_need(part, body->first_node, body->first_node + 1) ||
            !plan_part_need(part, built, built + 1))
            return false;
        const struct plan_rings *rings = plan_rings_of_body(plan, b);
        if (!packed_ring_tiles(&plan->packed, topology, b)) {
            if (rings && !add_ring_tiles(rings, part))
                return false;
            continue;
        }
        for (uint64_t f = 0; f < body->face_count; f++) {
            const struct face face = topology_body_face(topology, body, f);
            const bool computed = is_computed(part, face.nodes[0]) ||
                                  is_computed(part, face.nodes[1]) ||
                                  is_computed(part, face.nodes[2]);
            for (int i = 0; computed && i < 3; i++)
                if (!plan_part_need(part, face.nodes[i], (uint64_t)face.nodes[i] + 1))
                    return false;
        }
    }
    return true;
}

static bool add_face_nodes(const struct topology *topology, const struct plan *plan, uint64_t first,
                           uint64_t end, struct plan_part *part)
{
    for (uint64_t i = first; i < end; i++) {
        const struct face face = topology_face(topology, plan_block_face(plan, i));
        for (int corner = 0; corner < 3; corner++)
            if (face.nodes[corner] != FACE_EDGE &&
                !plan_part_need(part, face.nodes[corner], (uint64_t)face.nodes[corner] + 1))
                return false;
    }
    return true;
}

// Faces in blocks: the blocks with nodes of the part, whose contributions to a node are added in
// one order. The part with the first node of a chunk of sums measures that chunk.
static bool add_block_needs(const struct topology *topology, const struct plan *plan,
                            struct plan_part *part)
{
    const struct plan_set *set = &plan->faces;
    if (set->element_count == 0)
        return true;
    part->face_blocks = calloc(set->block_count, sizeof *part->face_blocks);
    if (!part->face_blocks)
        return false;
    for (uint32_t b = 0; b < set->block_count; b++) {
        const struct plan_block *block = &set->blocks[b];
        bool computes = false;
        for (uint64_t i = block->first; i < block->first + block->count && !computes; i++) {
            const struct face face = topology_face(topology, plan_block_face(plan, i));
            computes = plan_part_owns(part, face.nodes[0]) || plan_part_owns(part, face.nodes[1]) ||
                       (face.nodes[2] != FACE_EDGE && plan_part_owns(part, face.nodes[2]));
        }
        part->face_blocks[block->number] = computes;
        if (computes &&
            !add_face_nodes(topology, plan, block->first, block->first + block->count, part))
            return false;
    }
    for (uint64_t first = 0; first < set->element_count; first += SUM_CHUNK) {
        const uint64_t end = min_u64(first + SUM_CHUNK, set->element_count);
        const struct face face = topology_face(topology, plan_block_face(plan, first));
        if (plan_part_owns(part, face.nodes[0]) &&
            !add_face_nodes(topology, plan, first, end, part))
            return false;
    }
    return true;
}

struct spring_run plan_fragile_run(const struct topology *topology, const struct plan *plan,
                                   uint64_t at, uint64_t end)
{
    if (at < plan->fragile_count) {
        struct spring_run run =
            topology_spring(topology, plan_element(&plan->springs, plan->fragile[at]));
        run.count = 1;
        return run;
    }
    const uint64_t index = plan->springs.element_count + (at - plan->fragile_count);
    size_t g = 0;
    for (;; g++) {
        const struct plan_grid *grid = &plan->grids[g];
        if (grid->stateful && index >= grid->first_state_index &&
            index < grid->first_state_index + topology->bodies[grid->body].spring_count)
            break;
    }
    const struct topology_body *body = &topology->bodies[plan->grids[g].body];
    const uint64_t inside = index - plan->grids[g].first_state_index;
    const uint64_t last = min_u64(body->spring_count, inside + (end - at));
    return topology_run(topology, body->first_spring + inside, body->first_spring + last);
}

int plan_part_of_fragile(const struct topology *topology, const struct plan *plan,
                         const struct plan_parts *parts, size_t chunk)
{
    const uint64_t first = (uint64_t)chunk * SUM_CHUNK;
    return plan_part_of_node(parts, plan_fragile_run(topology, plan, first, first + 1).a);
}

// The first of the springs on no grid that break or yield from an index in the state's arrays on.
static uint64_t fragile_from(const struct plan *plan, uint64_t index)
{
    uint64_t low = 0, high = plan->fragile_count;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (plan->fragile[middle] < index)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct plan_part_range plan_parts_of_fragile(const struct topology *topology,
                                             const struct plan *plan,
                                             const struct plan_parts *parts, size_t body)
{
    const struct topology_body *it = &topology->bodies[body];
    const uint64_t index = plan_off_grid_index(plan, it->first_spring);
    const uint64_t first = fragile_from(plan, index);
    const uint64_t end = fragile_from(plan, index + it->spring_count);
    struct plan_part_range range = {parts->count - 1, 0};
    for (uint64_t chunk = first / SUM_CHUNK; first < end && chunk <= (end - 1) / SUM_CHUNK;
         chunk++) {
        const int part = plan_part_of_fragile(topology, plan, parts, (size_t)chunk);
        range.first = part < range.first ? part : range.first;
        range.last = part > range.last ? part : range.last;
    }
    if (first == end)
        range.first = range.last = plan_part_of_node(parts, it->first_node);
    return range;
}

struct plan_spring_piece plan_spring_piece(const struct topology *topology, const struct plan *plan,
                                           const struct plan_parts *parts, uint64_t first,
                                           uint64_t end)
{
    const size_t b = topology_body_of_spring(topology, first);
    const struct topology_body *body = &topology->bodies[b];
    const struct plan_grid *grid = plan_grid_of_body(plan, b);
    const uint64_t count = min_u64(end, body->first_spring + body->spring_count) - first;
    if (!grid && plan_fragile_off_grid(plan) > 0)
        return (struct plan_spring_piece){count, plan_body_is_divided(topology, plan, parts, b)
                                                     ? PLAN_SEVERAL_PARTS
                                                     : plan_part_of_node(parts, body->first_node)};
    if (!grid || !grid->stateful)
        return (struct plan_spring_piece){count, PLAN_NO_PART};
    const uint64_t number =
        plan_fragile_number(plan, grid->first_state_index + (first - body->first_spring));
    uint64_t last = (number / SUM_CHUNK + 1) * SUM_CHUNK;
    const int owner = plan_part_of_fragile(topology, plan, parts, (size_t)(number / SUM_CHUNK));
    while (last < number + count &&
           plan_part_of_fragile(topology, plan, parts, (size_t)(last / SUM_CHUNK)) == owner)
        last += SUM_CHUNK;
    return (struct plan_spring_piece){min_u64(count, last - number), owner};
}

// Whether springs [a, a + count) of nodes have one that is computed.
static bool any_computed(const struct plan_part *part, uint64_t first, uint64_t count)
{
    return first < part->end_computed && first + count > part->first_computed;
}

static bool add_fragile_needs(const struct topology *topology, const struct plan *plan,
                              struct plan_part *part)
{
    const uint64_t count = plan_fragile_total(plan);
    for (uint64_t first = 0; first < count; first += SUM_CHUNK) {
        const uint64_t end = min_u64(first + SUM_CHUNK, count);
        const struct spring_run begin = plan_fragile_run(topology, plan, first, end);
        const bool counts = plan_part_owns(part, begin.a);
        bool needed = counts;
        for (uint64_t at = first; at < end && !needed;) {
            const struct spring_run run = plan_fragile_run(topology, plan, at, end);
            needed = any_computed(part, run.a, run.count) || any_computed(part, run.b, run.count);
            at += run.count;
        }
        if (!needed)
            continue;
        if (!array_reserve((void **)&part->fragile, &part->fragile_capacity,
                           part->fragile_count + 1, sizeof *part->fragile))
            return false;
        part->fragile[part->fragile_count++] =
            (struct plan_chunk){(size_t)(first / SUM_CHUNK), counts};
        for (uint64_t at = first; at < end;) {
            const struct spring_run run = plan_fragile_run(topology, plan, at, end);
            if (!plan_part_need(part, run.a, run.a + run.count) ||
                !plan_part_need(part, run.b, run.b + run.count))
                return false;
            at += run.count;
        }
    }
    return true;
}

// Sorts both lists, and removes duplicates.
void plan_part_tidy(struct plan_part *part)
{
    size_t kept = 0;
    if (part->halo_count > 0)
        qsort(part->halo, part->halo_count, sizeof *part->halo, compare_nodes);
    for (size_t i = 0; i < part->halo_count; i++) {
        struct plan_nodes *last = kept > 0 ? &part->halo[kept - 1] : NULL;
        const uint64_t end = part->halo[i].first + part->halo[i].count;
        if (last && part->halo[i].first <= last->first + last->count)
            last->count = max_u64(last->first + last->count, end) - last->first;
        else
            part->halo[kept++] = part->halo[i];
    }
    part->halo_count = kept;
    if (part->box_count > 0)
        qsort(part->boxes, part->box_count, sizeof *part->boxes, compare_boxes);
    kept = 0;
    for (size_t i = 0; i < part->box_count; i++)
        if (kept == 0 || compare_boxes(&part->boxes[kept - 1], &part->boxes[i]) != 0)
            part->boxes[kept++] = part->boxes[i];
    part->box_count = kept;
}

// The nodes of others that complete its last chunk and, with colliders, its blocks of contacts.
static void find_rest(const struct topology *topology, const struct plan_parts *parts, int number,
                      struct plan_part *part)
{
    const uint64_t nodes = topology->node_count, chunks = parts->chunk_cuts[number + 1];
    const bool touches = topology->collider_count > 0 && part->first_node < part->end_node;
    uint64_t end = part->end_node;
    if (chunks > parts->chunk_cuts[number])
        end = max_u64(end, min_u64(chunks * SUM_CHUNK, nodes));
    part->first_touched = touches ? part->first_node / PART_NODES * PART_NODES : 0;
    part->end_touched = 0;
    if (touches) {
        end = max_u64(end, min_u64(parts->block_cuts[number + 1] * PART_NODES, nodes));
        part->end_touched = end;
        part->rest_before =
            (struct plan_nodes){part->first_touched, part->first_node - part->first_touched};
    }
    part->rest = (struct plan_nodes){part->end_node, end - part->end_node};
}

// `listed`: the topology has the springs of bodies on no grid.
static taut_status make_part(const struct topology *topology, const struct plan *plan,
                             const struct plan_parts *parts, int number, bool listed,
                             struct plan_part *part, taut_error *error)
{
    *part =
        (struct plan_part){.first_node = parts->cuts[number], .end_node = parts->cuts[number + 1]};
    find_tiles(plan, part);
    find_packed_tiles(plan, part);
    find_rest(topology, parts, number, part);
    bool made =
        part->end_touched == 0 || (plan_part_need(part, part->first_touched, part->first_node) &&
                                   plan_part_need(part, part->end_node, part->end_touched));
    for (size_t g = 0; made && g < plan->grid_count; g++)
        made = add_grid_needs(topology, plan, parts, number, &plan->grids[g], part);
    for (size_t g = 0; made && g < plan->face_grid_count; g++)
        made = add_face_needs(&plan->face_grids[g], part);
    if (!made || (listed && !add_loose_needs(topology, plan, part)) ||
        !add_gas_needs(topology, plan, part) || !add_block_needs(topology, plan, part) ||
        !add_fragile_needs(topology, plan, part)) {
        plan_part_free(part);
        return fail_memory(error, "the parts of ranks");
    }
    plan_part_tidy(part);
    return TAUT_OK;
}

taut_status plan_part_make(const struct topology *topology, const struct plan *plan,
                           const struct plan_parts *parts, int number, struct plan_part *part,
                           taut_error *error)
{
    return make_part(topology, plan, parts, number, true, part, error);
}

void plan_part_free(struct plan_part *part)
{
    free(part->halo);
    free(part->boxes);
    free(part->face_blocks);
    free(part->elements);
    free(part->folds);
    free(part->fragile);
    *part = (struct plan_part){0};
}

uint64_t plan_box_nodes(const struct plan *plan, struct plan_box box)
{
    const struct plan_tiling *tiling = &grid_of_tile(plan, &box.tile)->tiling;
    const struct plan_tile tile = tiling_tile(tiling, box.tile);
    const struct halo_box found = halo_box(tiling, &tile, (int)box.which);
    return halo_box_nodes(tiling, &found);
}

// ---- Lists

// The nodes from which a part reads springs: tiles with nodes of its own may begin before them;
// after them chunks of nodes and of springs end that begin with its own.
static struct plan_nodes reach_of(const struct topology *topology, const struct plan *plan,
                                  const struct plan_parts *parts, int number)
{
    const uint64_t first = parts->cuts[number], last = parts->cuts[number + 1];
    const uint64_t before = min_u64(first, PACKED_TILE_NODES);
    uint64_t end = min_u64(topology->node_count, last + SUM_CHUNK), springs = 0;
    if (first == last)
        return (struct plan_nodes){first, 0};
    for (size_t b = topology_body_of_node(topology, last - 1) + 1;
         b < topology->body_count && springs < SUM_CHUNK; b++) {
        const struct topology_body *body = &topology->bodies[b];
        if (body->spring_count > 0 && !plan_grid_of_body(plan, b)) {
            springs += body->spring_count;
            end = max_u64(end, body->first_node + 1);
        }
    }
    return (struct plan_nodes){first - before, end - (first - before)};
}

static bool may_be_forgotten(const struct topology *topology, const struct plan *plan, size_t body)
{
    const struct topology_body *it = &topology->bodies[body];
    const bool own_materials =
        it->type == BODY_NETWORK || it->type == BODY_OSCILLATOR || it->type == BODY_PENDULUM;
    return plan->packs && plan->fragile_count == 0 && it->spring_count > 0 &&
           it->direction_count == 0 && !plan_grid_of_body(plan, body) && !own_materials &&
           !it->elements.present &&
           !joins_most_pairs((double)it->node_count, (double)it->spring_count);
}

bool plan_part_forgets(const struct topology *topology, const struct plan *plan,
                       const struct plan_parts *parts, int number, size_t body)
{
    const struct topology_body *it = &topology->bodies[body];
    const struct plan_nodes reach = reach_of(topology, plan, parts, number);
    return (it->first_node >= reach.first + reach.count ||
            it->first_node + it->node_count <= reach.first) &&
           may_be_forgotten(topology, plan, body);
}

bool plan_forgets_faces(const struct plan *plan)
{
    return plan->faces.element_count == 0;
}

// ---- Counts

// The springs of a grid that begin at nodes [first, end) of the grid, whole rows.
static uint64_t count_grid_springs(const struct plan_grid *grid, uint64_t first, uint64_t end)
{
    uint64_t springs = 0;
    for (int d = 0; d < grid->direction_count; d++) {
        const struct direction *direction = &grid->directions[d];
        const uint64_t count = direction_springs(direction);
        uint64_t left;
        for (uint64_t at = 0; at < count; at += left) {
            const uint64_t lower = direction_lower(direction, at, &left);
            const uint64_t from = max_u64(lower, first), to = min_u64(lower + left, end);
            springs += from < to ? to - from : 0;
        }
    }
    return springs;
}

static uint64_t count_listed_springs(const struct topology *topology,
                                     const struct topology_body *body, const struct plan_part *part)
{
    uint64_t springs = 0;
    const uint64_t end = body->first_spring + body->spring_count;
    for (uint64_t spring = body->first_spring; spring < end;) {
        const struct spring_run run = topology_run(topology, spring, end);
        for (uint64_t i = 0; i < run.count; i++)
            springs += plan_part_owns(part, min_u64(run.a + i, run.b + i));
        spring += run.count;
    }
    return springs;
}

// Whether another part has nodes or contributions that this one needs.
static bool sends_to(const struct plan *plan, const struct plan_parts *parts, int from,
                     const struct plan_part *part)
{
    for (size_t i = 0; i < part->halo_count; i++)
        if (part->halo[i].first < parts->cuts[from + 1] &&
            part->halo[i].first + part->halo[i].count > parts->cuts[from])
            return true;
    for (size_t i = 0; i < part->box_count; i++)
        if (plan_part_of_tile(plan, parts, part->boxes[i].tile) == from)
            return true;
    return false;
}

static struct plan_part_counts count_part(const struct topology *topology, const struct plan *plan,
                                          const struct plan_parts *parts, bool listed,
                                          const struct plan_part *part)
{
    struct plan_part_counts counts = {.first_node = part->first_node,
                                      .nodes = part->end_node - part->first_node};
    for (size_t b = 0; b < topology->body_count; b++) {
        const struct topology_body *body = &topology->bodies[b];
        const struct plan_grid *grid = plan_grid_of_body(plan, b);
        const uint64_t first = max_u64(part->first_node, body->first_node);
        const uint64_t end = min_u64(part->end_node, body->first_node + body->node_count);
        if (first >= end)
            continue;
        counts.off_grid += grid ? 0 : end - first;
        if (grid)
            counts.springs +=
                count_grid_springs(grid, first - body->first_node, end - body->first_node);
        else if (is_own(part, body))
            counts.springs += body->spring_count;
        else if (listed)
            counts.springs += count_listed_springs(topology, body, part);
    }
    for (size_t i = 0; i < part->halo_count; i++)
        counts.halo_nodes += part->halo[i].count;
    for (size_t i = 0; i < part->box_count; i++)
        counts.contribution_nodes += plan_box_nodes(plan, part->boxes[i]);
    for (int p = 0; p < parts->count; p++)
        counts.peers += sends_to(plan, parts, p, part);
    for (uint64_t t = part->first_tile; t < part->end_tile; t++)
        for (uint64_t which = 0; which < HALO_BOXES; which++)
            counts.own_contribution_nodes += plan_box_nodes(plan, (struct plan_box){t, which});
    return counts;
}

struct plan_part_counts plan_part_counts(const struct topology *topology, const struct plan *plan,
                                         const struct plan_parts *parts,
                                         const struct plan_part *part)
{
    return count_part(topology, plan, parts, true, part);
}

taut_status plan_part_expect(const struct topology *topology, const struct expected_grids *expected,
                             int count, int number, struct plan_part_counts *counts,
                             taut_error *error)
{
    const struct plan plan = {.grids = expected->grids,
                              .grid_count = expected->grid_count,
                              .face_grids = expected->face_grids,
                              .face_grid_count = expected->face_grid_count,
                              .off_grid = expected->off_grid,
                              .off_grid_count = expected->off_grid_count};
    struct plan_parts *parts;
    struct plan_part part;
    *counts = (struct plan_part_counts){0};
    taut_status status = plan_parts_make(topology, &plan, count, &parts, error);
    if (status != TAUT_OK)
        return status;
    status = make_part(topology, &plan, parts, number, false, &part, error);
    if (status == TAUT_OK) {
        *counts = count_part(topology, &plan, parts, false, &part);
        plan_part_free(&part);
    }
    plan_parts_free(parts);
    return status;
}
