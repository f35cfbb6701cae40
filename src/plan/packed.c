#include "plan/packed.h"

#include "base/memory.h"
#include "base/search.h"
#include "plan/packing.h"

// What the plan keeps, listed once.
#define PACKED_ARRAYS(X)                                                                           \
    X(tiles, tile_count)                                                                           \
    X(slice_columns, slice_count + 1)                                                              \
    X(slice_rings, slice_count)                                                                    \
    X(columns, column_count)                                                                       \
    X(ends, group_count)                                                                           \
    X(turns, turns_count)                                                                          \
    X(lane_materials, mixed_count)                                                                 \
    X(halo, halo_count)                                                                            \
    X(late, late_count)                                                                            \
    X(slot_springs, slot_count)

static bool start_slice(struct packing *p, uint64_t first, uint32_t count)
{
    if (!array_reserve((void **)&p->slices, &p->slice_capacity, p->slice_count + 1,
                       sizeof *p->slices))
        return false;
    p->slices[p->slice_count] = (struct slice_start){
        first, count, p->column_count, p->group_count, p->late_count, p->ring_body, 0};
    return true;
}

// The nodes of bodies that are no grids, of several bodies beside each other as of one.
static bool pack_nodes(struct packing *p, uint64_t first, uint64_t end)
{
    for (; first < end; first += PACKED_LANES) {
        uint32_t count = end - first < PACKED_LANES ? (uint32_t)(end - first) : PACKED_LANES;
        if (!start_slice(p, first, count) || !pack_slice(p, first, count))
            return false;
        p->slice_count++;
    }
    return true;
}

static bool wants_rings(const struct plan *plan, size_t body)
{
    const struct plan_rings *rings = plan_rings_of_body(plan, body);
    return rings && rings_longest(rings) <= PACKED_RING_MAX && plan->springs.element_count > 0 &&
           plan_grid_of_body(plan, body) == NULL;
}

// The same of a body that is to have its rings in columns.
static bool pack_ringed(struct packing *p, const struct plan *plan, size_t index,
                        const struct topology_body *body)
{
    p->walk = (struct ring_walk){.rings = plan_rings_of_body(plan, index)};
    p->ring_body = (uint32_t)index + 1;
    bool done = pack_nodes(p, body->first_node, body->first_node + body->node_count);
    p->ring_body = 0;
    return done;
}

static bool pack_all(const struct topology *topology, const struct plan *plan, struct packing *p)
{
    uint64_t first = 0, end = 0;
    for (size_t b = 0; b < topology->body_count; b++) {
        const struct topology_body *body = &topology->bodies[b];
        bool ringed = wants_rings(plan, b);
        if (ringed || plan_grid_of_body(plan, b) != NULL) {
            if (!pack_nodes(p, first, end) || (ringed && !pack_ringed(p, plan, b, body)))
                return false;
            first = body->first_node + body->node_count;
        }
        end = body->first_node + body->node_count;
    }
    return pack_nodes(p, first, end) && start_slice(p, 0, 0);
}

static bool keep_slots(const struct packing *p, const taut_allocator *allocator,
                       struct plan_packed *packed)
{
    size_t lanes = p->column_count * PACKED_LANES;
    packed->slot_count = lanes + p->late_count;
    packed->slot_springs =
        memory_allocate(allocator, (size_t)packed->slot_count, sizeof *packed->slot_springs);
    if (!packed->slot_springs)
        return false;
    for (size_t slot = 0; slot < lanes; slot++)
        packed->slot_springs[slot] = p->slot_springs[slot / PACKED_LANES][slot % PACKED_LANES];
    for (size_t i = 0; i < p->late_count; i++)
        packed->slot_springs[lanes + i] = p->late_springs[i];
    return true;
}

static bool keep_ends(const struct packing *p, const taut_allocator *allocator,
                      struct plan_packed *packed)
{
    packed->group_count = p->group_count;
    packed->ends = memory_allocate(allocator, p->group_count, sizeof *packed->ends);
    if (!packed->ends)
        return false;
    for (size_t group = 0; group < p->group_count; group++)
        for (int lane = 0; lane < PACKED_LANES; lane++)
            packed->ends[group][lane] = (uint16_t)(PACKED_SCALE * p->ends[group][lane]);
    return true;
}

static bool keep_slices(const struct packing *p, const taut_allocator *allocator,
                        struct plan_packed *packed)
{
    packed->slice_count = p->slice_count;
    packed->slice_columns =
        memory_allocate(allocator, p->slice_count + 1, sizeof *packed->slice_columns);
    packed->slice_rings = memory_allocate(allocator, p->slice_count, sizeof *packed->slice_rings);
    if (!packed->slice_columns || !packed->slice_rings)
        return false;
    for (size_t slice = 0; slice <= p->slice_count; slice++)
        packed->slice_columns[slice] = p->slices[slice].column;
    for (size_t slice = 0; slice < p->slice_count; slice++)
        packed->slice_rings[slice] = p->slices[slice].ring;
    return true;
}

static bool keep_columns(const struct packing *p, const taut_allocator *allocator,
                         struct plan_packed *packed)
{
    packed->column_count = p->column_count;
    packed->columns = memory_copy(allocator, p->columns, p->column_count, sizeof *packed->columns);
    packed->mixed_count = p->mixed_count;
    packed->lane_materials =
        memory_copy(allocator, p->lane_materials, p->mixed_count, sizeof *packed->lane_materials);
    packed->late_count = p->late_count;
    packed->late = memory_copy(allocator, p->late, p->late_count, sizeof *packed->late);
    packed->turns_count = p->turns_count;
    packed->turns = memory_copy(allocator, p->turns, p->turns_count, sizeof *packed->turns);
    return packed->columns && packed->turns && packed->lane_materials && packed->late;
}

static uint32_t tile_nodes_of(const struct plan *plan)
{
    uint32_t nodes = (plan->tile_nodes + PACKED_LANES - 1) / PACKED_LANES * PACKED_LANES;
    return nodes < PACKED_TILE_NODES ? nodes : PACKED_TILE_NODES;
}

taut_status packed_make(const struct topology *topology, struct plan *plan, taut_error *error)
{
    struct halves halves;
    struct packing packing = {.halves = &halves};
    struct plan_packed *packed = &plan->packed;
    taut_status status = halves_make(topology, plan, &halves, error);
    if (status == TAUT_OK && !pack_all(topology, plan, &packing))
        status = fail_memory(error, "the plan");
    halves_free(&halves);
    if (status == TAUT_OK)
        status = cut_tiles(topology, &packing, tile_nodes_of(plan), plan->allocator, packed, error);
    if (status == TAUT_OK && !(keep_slots(&packing, plan->allocator, packed) &&
                               keep_ends(&packing, plan->allocator, packed) &&
                               keep_slices(&packing, plan->allocator, packed) &&
                               keep_columns(&packing, plan->allocator, packed)))
        status = fail_memory(error, "the plan");
    packing_free(&packing);
    return status;
}

void packed_forget_slots(const taut_allocator *allocator, struct plan_packed *packed)
{
    memory_release(allocator, packed->slot_springs, (size_t)packed->slot_count,
                   sizeof *packed->slot_springs);
    packed->slot_springs = NULL;
}

void packed_free(const taut_allocator *allocator, struct plan_packed *packed)
{
#define RELEASE(name, count)                                                                       \
    memory_release(allocator, packed->name, (size_t)(packed->count), sizeof *packed->name);
    PACKED_ARRAYS(RELEASE)
#undef RELEASE
    *packed = (struct plan_packed){0};
}

uint64_t packed_bytes(const struct plan_packed *packed)
{
    uint64_t bytes = 0;
#define ADD_BYTES(name, count)                                                                     \
    if (packed->name)                                                                              \
        bytes += (packed->count) * sizeof *packed->name;
    PACKED_ARRAYS(ADD_BYTES)
#undef ADD_BYTES
    return bytes;
}

const struct packed_tile *packed_tile_of_node(const struct plan_packed *packed, uint64_t node)
{
    if (packed->tile_count == 0)
        return NULL;
    const struct packed_tile *tile = &packed->tiles[part_of(
        &packed->tiles->first_node, sizeof *packed->tiles, (size_t)packed->tile_count, node)];
    bool inside = node >= tile->first_node && node < tile->first_node + tile->node_count;
    return inside ? tile : NULL;
}

const struct packed_tile *packed_ring_tiles(const struct plan_packed *packed,
                                            const struct topology *topology, size_t body)
{
    const struct packed_tile *tile = packed_tile_of_node(packed, topology->bodies[body].first_node);
    return tile && tile->ring_body == body + 1 ? tile : NULL;
}
