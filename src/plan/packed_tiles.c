// Tiles of slices, and the nodes around each that its gathered columns want.
#include "plan/packing.h"

#include <stdlib.h>

#include "base/memory.h"

struct cutting {
    const struct packing *packing;
    uint64_t node_count;
    uint32_t *seen_by;  // the last attempt at a tile that saw the node
    uint32_t *local_of; // the number of its record there
    uint32_t attempt;
    uint32_t own_count; // nodes of the tile itself that columns gather
    struct packed_tile *tiles;
    size_t tile_count, tile_capacity;
    uint32_t *halo;
    size_t halo_count, halo_capacity;
};

static bool in_tile(const struct packed_tile *tile, uint32_t node)
{
    return node >= tile->first_node && node < tile->first_node + tile->node_count;
}

static bool add_to_halo(struct cutting *cut, struct packed_tile *tile, uint32_t node)
{
    if (!array_reserve((void **)&cut->halo, &cut->halo_capacity,
                       cut->halo_count + tile->halo_count + 1, sizeof *cut->halo))
        return false;
    cut->halo[cut->halo_count + tile->halo_count++] = node;
    return true;
}

static int compare_nodes(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return a < b ? -1 : a > b;
}

// Slices [from, to), which are beside each other, as a tile; its halo stays at the end of the list
// until the next attempt. False without memory.
static bool try_tile(struct cutting *cut, size_t from, size_t to)
{
    const struct slice_start *first = &cut->packing->slices[from], *end = &cut->packing->slices[to];
    struct packed_tile *tile = &cut->tiles[cut->tile_count];
    const struct slice_start *last = end - 1;
    *tile = (struct packed_tile){
        .first_node = first->first_node,
        .node_count = (uint32_t)(last->first_node + last->node_count - first->first_node),
        .first_slice = from,
        .slice_count = to - from,
        .first_halo = cut->halo_count,
        .first_late = first->late,
        .late_count = end->late - first->late,
        .ring_body = first->ring_body,
    };
    cut->attempt++;
    cut->own_count = 0;
    for (size_t group = first->group; group < end->group; group++)
        for (int lane = 0; lane < PACKED_LANES; lane++) {
            uint32_t node = cut->packing->ends[group][lane];
            if (cut->seen_by[node] == cut->attempt)
                continue;
            cut->seen_by[node] = cut->attempt;
            if (in_tile(tile, node))
                cut->own_count++;
            else if (!add_to_halo(cut, tile, node))
                return false;
        }
    return true;
}

// Whether all nodes of the tile get records, or the few that are gathered join the halo, which
// costs more for each of them. False without memory.
static bool choose_records(struct cutting *cut, struct packed_tile *tile)
{
    if (cut->own_count > tile->node_count / 2) {
        tile->own_records = tile->node_count;
        return true;
    }
    bool done = true;
    for (uint32_t i = 0; i < tile->node_count && done; i++)
        if (cut->seen_by[tile->first_node + i] == cut->attempt)
            done = add_to_halo(cut, tile, (uint32_t)tile->first_node + i);
    return done;
}

// The halo by node number, as the state is read best; and the ends by numbers of records.
static void number_ends(struct cutting *cut, const struct packed_tile *tile)
{
    for (uint32_t i = 0; i < tile->own_records; i++)
        cut->local_of[tile->first_node + i] = i;
    if (tile->halo_count > 0) { // else there may be no list yet
        uint32_t *halo = &cut->halo[cut->halo_count];
        qsort(halo, tile->halo_count, sizeof *halo, compare_nodes);
        for (uint32_t i = 0; i < tile->halo_count; i++)
            cut->local_of[halo[i]] = tile->own_records + i;
    }
    const struct slice_start *slices = cut->packing->slices;
    size_t end = slices[tile->first_slice + tile->slice_count].group;
    for (size_t group = slices[tile->first_slice].group; group < end; group++)
        for (int lane = 0; lane < PACKED_LANES; lane++)
            cut->packing->ends[group][lane] = cut->local_of[cut->packing->ends[group][lane]];
}

// The slices after `from` that lie beside it, nodes_max nodes at most, or `from` alone.
static size_t slices_beside(const struct packing *packing, size_t from, uint32_t nodes_max)
{
    uint64_t nodes = packing->slices[from].node_count;
    size_t to = from + 1;
    for (; to < packing->slice_count; to++) {
        const struct slice_start *before = &packing->slices[to - 1], *slice = &packing->slices[to];
        nodes += slice->node_count;
        if (nodes > nodes_max || slice->ring_body != before->ring_body ||
            before->node_count != PACKED_LANES ||
            slice->first_node != before->first_node + PACKED_LANES)
            break;
    }
    return to;
}

static bool cut_all(struct cutting *cut, uint32_t tile_nodes)
{
    for (size_t from = 0, to; from < cut->packing->slice_count; from = to) {
        if (!array_reserve((void **)&cut->tiles, &cut->tile_capacity, cut->tile_count + 1,
                           sizeof *cut->tiles))
            return false;
        to = slices_beside(cut->packing, from, tile_nodes);
        struct packed_tile *tile = &cut->tiles[cut->tile_count];
        for (;; to = from + (to - from + 1) / 2) {
            if (!try_tile(cut, from, to))
                return false;
            if (tile->node_count + tile->halo_count <= PACKED_LOCAL_MAX || to == from + 1)
                break;
        }
        if (!choose_records(cut, tile))
            return false;
        number_ends(cut, tile);
        cut->halo_count += tile->halo_count;
        cut->tile_count++;
    }
    return true;
}

static bool is_damped(const struct topology *topology, const struct packing *p, size_t column)
{
    const struct packed_column *it = &p->columns[column];
    if (it->material != PACKED_MIXED)
        return topology->materials[it->material].damping > 0;
    for (int lane = 0; lane < PACKED_LANES; lane++)
        if ((it->lanes >> lane & 1) &&
            topology->materials[p->lane_materials[it->mixed][lane]].damping > 0)
            return true;
    return false;
}

static void find_damped(const struct topology *topology, struct cutting *cut)
{
    const struct slice_start *slices = cut->packing->slices;
    for (size_t t = 0; t < cut->tile_count; t++) {
        struct packed_tile *tile = &cut->tiles[t];
        size_t end = slices[tile->first_slice + tile->slice_count].column;
        for (size_t c = slices[tile->first_slice].column; c < end && !tile->damped; c++)
            tile->damped = is_damped(topology, cut->packing, c);
    }
}

static bool keep(const struct cutting *cut, const taut_allocator *allocator,
                 struct plan_packed *packed)
{
    packed->tile_count = cut->tile_count;
    packed->halo_count = cut->halo_count;
    packed->tiles = memory_copy(allocator, cut->tiles, cut->tile_count, sizeof *packed->tiles);
    packed->halo = memory_copy(allocator, cut->halo, cut->halo_count, sizeof *packed->halo);
    return packed->tiles && packed->halo;
}

taut_status cut_tiles(const struct topology *topology, const struct packing *packing,
                      uint32_t tile_nodes, const taut_allocator *allocator,
                      struct plan_packed *packed, taut_error *error)
{
    size_t nodes = (size_t)topology->node_count;
    struct cutting cut = {.packing = packing};
    cut.seen_by = memory_allocate(NULL, nodes, sizeof *cut.seen_by);
    cut.local_of = memory_allocate(NULL, nodes, sizeof *cut.local_of);
    bool done = cut.seen_by && cut.local_of && cut_all(&cut, tile_nodes);
    if (done) {
        find_damped(topology, &cut);
        done = keep(&cut, allocator, packed);
    }
    memory_release(NULL, cut.seen_by, nodes, sizeof *cut.seen_by);
    memory_release(NULL, cut.local_of, nodes, sizeof *cut.local_of);
    free(cut.tiles);
    free(cut.halo);
    return done ? TAUT_OK : fail_memory(error, "the plan");
}
