// The packing proves itself: each node's springs, found again in its columns, are those it has.
#include <stdlib.h>

#include "base/memory.h"
#include "plan/packing.h"

struct check {
    const struct plan *plan;
    const struct plan_packed *packed;
    struct halves halves;
    struct half *found; // of one node
    size_t found_count, found_capacity;
    uint64_t next_node; // that no tile has come to
};

static taut_status no_sense(uint64_t node, const char *what, taut_error *error)
{
    return fail(error, TAUT_ERROR_ARGUMENT, "plan: packed springs of node %llu: %s",
                (unsigned long long)node, what);
}

static bool add_found(struct check *check, uint32_t material, uint64_t other, uint64_t slot)
{
    if (!array_reserve((void **)&check->found, &check->found_capacity, check->found_count + 1,
                       sizeof *check->found))
        return false;
    const uint32_t *slots = check->packed->slot_springs;
    check->found[check->found_count++] =
        (struct half){material, (uint32_t)other, slots ? slots[slot] : 0};
    return true;
}

// The node at the other end of a lane of a gathered column; UINT64_MAX where there is none.
static uint64_t gathered_end(const struct plan_packed *packed, const struct packed_tile *tile,
                             const struct packed_column *column, int lane)
{
    if (column->group >= packed->group_count)
        return UINT64_MAX;
    uint32_t local = packed->ends[column->group][lane] / PACKED_SCALE;
    if (local < tile->own_records)
        return tile->first_node + local;
    return local - tile->own_records < tile->halo_count
               ? packed->halo[tile->first_halo + local - tile->own_records]
               : UINT64_MAX;
}

static uint64_t end_of(const struct plan_packed *packed, const struct packed_tile *tile,
                       const struct packed_column *column, int lane, uint64_t node)
{
    if (column->step == 0)
        return gathered_end(packed, tile, column, lane);
    int64_t step = column->step;
    if (column->turn_count > PACKED_TURNS_MAX ||
        (column->turn_count > 0 && column->group >= packed->turns_count))
        return UINT64_MAX;
    for (int turn = 0; turn < column->turn_count; turn++)
        if (packed->turns[column->group].lanes[turn] >> lane & 1)
            step = packed->turns[column->group].step[turn];
    return node + (uint64_t)step;
}

// What the columns of a slice hold for one lane.
static bool find_in_columns(struct check *check, const struct packed_tile *tile, uint64_t slice,
                            int lane, uint64_t node)
{
    const struct plan_packed *packed = check->packed;
    for (uint64_t c = packed->slice_columns[slice]; c < packed->slice_columns[slice + 1]; c++) {
        const struct packed_column *column = &packed->columns[c];
        if (!(column->lanes >> lane & 1))
            continue;
        uint64_t other = end_of(packed, tile, column, lane, node);
        uint32_t material = column->material == PACKED_MIXED
                                ? packed->lane_materials[column->mixed][lane]
                                : column->material;
        if (!add_found(check, material, other, c * PACKED_LANES + (uint64_t)lane))
            return false;
    }
    return true;
}

static bool find_late(struct check *check, const struct packed_tile *tile, uint64_t node)
{
    for (uint64_t i = tile->first_late; i < tile->first_late + tile->late_count; i++) {
        const struct packed_late *late = &check->packed->late[i];
        uint64_t slot = check->packed->column_count * PACKED_LANES + i;
        if (late->node == node && !add_found(check, late->material, late->other, slot))
            return false;
    }
    return true;
}

static int compare_halves(const void *left, const void *right)
{
    const struct half *a = left, *b = right;
    if (a->material != b->material)
        return a->material < b->material ? -1 : 1;
    return a->other < b->other ? -1 : a->other > b->other;
}

static taut_status compare_node(struct check *check, uint64_t node, taut_error *error)
{
    const struct half *truth = check->halves.items + check->halves.start[node];
    size_t count = (size_t)(check->halves.start[node + 1] - check->halves.start[node]);
    if (check->found_count != count)
        return no_sense(node, "their number is wrong", error);
    if (count)
        qsort(check->found, count, sizeof *check->found, compare_halves);
    for (size_t i = 0; i < count; i++) {
        if (compare_halves(&check->found[i], &truth[i]) != 0)
            return no_sense(node, "one goes elsewhere, or has another material", error);
        if (check->packed->slot_springs && check->found[i].place != truth[i].place)
            return no_sense(node, "one stands for another", error);
    }
    return TAUT_OK;
}

static taut_status check_tile(struct check *check, const struct packed_tile *tile,
                              taut_error *error)
{
    if (tile->first_node < check->next_node ||
        tile->first_node + tile->node_count > check->halves.node_count ||
        (tile->own_records != 0 && tile->own_records != tile->node_count) ||
        tile->own_records + tile->halo_count > PACKED_LOCAL_MAX)
        return no_sense(tile->first_node, "its tile has wrong nodes", error);
    for (; check->next_node < tile->first_node; check->next_node++)
        if (check->halves.start[check->next_node] != check->halves.start[check->next_node + 1])
            return no_sense(check->next_node, "no tile has it", error);
    taut_status status = TAUT_OK;
    for (uint32_t i = 0; i < tile->node_count && status == TAUT_OK; i++) {
        uint64_t node = check->next_node++;
        check->found_count = 0;
        if (!find_in_columns(check, tile, tile->first_slice + i / PACKED_LANES,
                             (int)(i % PACKED_LANES), node) ||
            !find_late(check, tile, node))
            return fail_memory(error, "checking the plan");
        status = compare_node(check, node, error);
    }
    return status;
}

// The columns that go round the rings of a slice of a tile, the rings as they are after it.
static bool check_slice_rings(const struct plan_packed *packed, const struct packed_tile *tile,
                              uint64_t number, struct ring_walk *walk)
{
    uint64_t done = number * PACKED_LANES, slice = tile->first_slice + number;
    const struct packed_column *columns = &packed->columns[packed->slice_columns[slice]];
    const int length = packed->slice_rings[slice];
    int group_length = 0;
    uint32_t nodes[PACKED_RING_MAX * RING_GROUP], ring[PACKED_RING_MAX] = {0};
    if (length % 2 != 0 || length > PACKED_RING_MAX ||
        packed->slice_columns[slice] + (uint64_t)length > packed->slice_columns[slice + 1])
        return false;
    for (int lane = 0; lane < PACKED_LANES && done + (uint64_t)lane < tile->node_count; lane++) {
        int in_group = lane % RING_GROUP;
        if (in_group == 0)
            group_length = ring_walk_next(walk, nodes);
        int count = group_length;
        // From wherever the columns begin, and all that is behind the last one filled up.
        for (int place = 0; place < length; place++)
            ring[place] = (uint32_t)end_of(packed, tile, &columns[place], lane,
                                           tile->first_node + done + (uint64_t)lane);
        while (count > 1 && nodes[(count - 1) * RING_GROUP + in_group] == nodes[in_group])
            count--;
        int start = 0;
        while (start < count && nodes[start * RING_GROUP + in_group] != ring[0])
            start++;
        for (int place = 0; place < length && count > 0; place++)
            if (ring[place] !=
                nodes[(place < count ? (start + place) % count : start % count) * RING_GROUP +
                      in_group])
                return false;
    }
    return true;
}

// The tiles from `tile` on, which go round the rings of a body.
static taut_status check_body_rings(const struct topology *topology,
                                    const struct plan_packed *packed,
                                    const struct packed_tile *tile, const struct plan_rings *rings,
                                    taut_error *error)
{
    const struct topology_body *body = &topology->bodies[rings->body];
    struct ring_walk walk = {.rings = rings};
    uint64_t end = body->first_node + body->node_count;
    for (uint64_t node = body->first_node; node < end; tile++) {
        if (!rings->found || tile == packed->tiles + packed->tile_count ||
            tile->ring_body != rings->body + 1 || tile->first_node != node)
            return no_sense(node, "no tile goes round its ring", error);
        for (uint64_t slice = 0; slice < tile->slice_count; slice++)
            if (!check_slice_rings(packed, tile, slice, &walk))
                return no_sense(node, "a column leaves a ring", error);
        node += tile->node_count;
    }
    return TAUT_OK;
}

// Rings that were forgotten are made again.
static taut_status check_rings(const struct topology *topology, const struct plan *plan,
                               taut_error *error)
{
    taut_status status = TAUT_OK;
    for (size_t body = 0; body < topology->body_count && status == TAUT_OK; body++) {
        const struct packed_tile *tile = packed_ring_tiles(&plan->packed, topology, body);
        if (!tile)
            continue;
        const struct plan_rings *rings = plan_rings_of_body(plan, body);
        struct plan_rings again = {.body = body};
        if (!rings || !rings->tiles) {
            status = rings_make(topology, body, NULL, &again, error);
            rings = &again;
        }
        if (status == TAUT_OK)
            status = check_body_rings(topology, &plan->packed, tile, rings, error);
        rings_free(NULL, &again);
    }
    return status;
}

taut_status packed_check(const struct topology *topology, const struct plan *plan,
                         taut_error *error)
{
    if (!plan->packs)
        return TAUT_OK;
    struct check check = {.plan = plan, .packed = &plan->packed};
    taut_status status = halves_make(topology, plan, &check.halves, error);
    for (uint64_t t = 0; t < plan->packed.tile_count && status == TAUT_OK; t++)
        status = check_tile(&check, &plan->packed.tiles[t], error);
    for (; status == TAUT_OK && check.next_node < topology->node_count; check.next_node++)
        if (check.halves.start[check.next_node] != check.halves.start[check.next_node + 1])
            status = no_sense(check.next_node, "no tile has it", error);
    halves_free(&check.halves);
    free(check.found);
    return status == TAUT_OK ? check_rings(topology, plan, error) : status;
}
