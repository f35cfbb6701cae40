// Checks packed springs (plan.h): the springs of each node, found again in its columns, are those
// of the topology.
#include "springs/packed/plan.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "springs/packed/plan_node_springs.h"
#include "springs/plan.h"

struct check {
    const struct plan *plan;
    const struct plan_packed *packed;
    struct node_springs springs;
    struct node_spring *found; // the springs of one node
    size_t found_count, found_capacity;
    uint64_t next_node; // the first node that no tile has had yet
};

static taut_status inconsistent(uint64_t node, const char *what, taut_error *error)
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
        (struct node_spring){material, (uint32_t)other, slots ? slots[slot] : 0};
    return true;
}

// The node at the other end of a lane of a gathered column; UINT64_MAX if the record does not
// exist.
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
    if (column->alternative_count > PACKED_ALTERNATIVES_MAX ||
        (column->alternative_count > 0 && column->group >= packed->alternatives_count))
        return UINT64_MAX;
    for (int alternative = 0; alternative < column->alternative_count; alternative++)
        if (packed->alternatives[column->group].lanes[alternative] >> lane & 1)
            step = packed->alternatives[column->group].step[alternative];
    return node + (uint64_t)step;
}

// Adds the springs in one lane of the columns of a chunk.
static bool find_in_columns(struct check *check, const struct packed_tile *tile, uint64_t chunk,
                            int lane, uint64_t node)
{
    const struct plan_packed *packed = check->packed;
    for (uint64_t c = packed->chunk_columns[chunk]; c < packed->chunk_columns[chunk + 1]; c++) {
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

static bool find_overflow(struct check *check, const struct packed_tile *tile, uint64_t node)
{
    for (uint64_t i = tile->first_overflow; i < tile->first_overflow + tile->overflow_count; i++) {
        const struct packed_overflow *overflow = &check->packed->overflow[i];
        uint64_t slot = check->packed->column_count * PACKED_LANES + i;
        if (overflow->node == node && !add_found(check, overflow->material, overflow->other, slot))
            return false;
    }
    return true;
}

static int compare_node_springs(const void *left, const void *right)
{
    const struct node_spring *a = left, *b = right;
    if (a->material != b->material)
        return a->material < b->material ? -1 : 1;
    return a->other < b->other ? -1 : a->other > b->other;
}

static taut_status compare_node(struct check *check, uint64_t node, taut_error *error)
{
    const struct node_spring *truth = check->springs.items + check->springs.start[node];
    size_t count = (size_t)(check->springs.start[node + 1] - check->springs.start[node]);
    if (check->found_count != count)
        return inconsistent(node, "their number is wrong", error);
    if (count)
        qsort(check->found, count, sizeof *check->found, compare_node_springs);
    for (size_t i = 0; i < count; i++) {
        if (compare_node_springs(&check->found[i], &truth[i]) != 0)
            return inconsistent(node, "one goes elsewhere, or has another material", error);
        if (check->packed->slot_springs && check->found[i].index != truth[i].index)
            return inconsistent(node, "one is stored in place of another", error);
    }
    return TAUT_OK;
}

static taut_status check_tile(struct check *check, const struct packed_tile *tile,
                              taut_error *error)
{
    if (tile->first_node < check->next_node ||
        tile->first_node + tile->node_count > check->springs.node_count ||
        (tile->own_records != 0 && tile->own_records != tile->node_count) ||
        tile->own_records + tile->halo_count > PACKED_LOCAL_MAX)
        return inconsistent(tile->first_node, "its tile has wrong nodes", error);
    for (; check->next_node < tile->first_node; check->next_node++)
        if (check->springs.start[check->next_node] != check->springs.start[check->next_node + 1])
            return inconsistent(check->next_node, "no tile has it", error);
    taut_status status = TAUT_OK;
    for (uint32_t i = 0; i < tile->node_count && status == TAUT_OK; i++) {
        uint64_t node = check->next_node++;
        check->found_count = 0;
        if (!find_in_columns(check, tile, tile->first_chunk + i / PACKED_LANES,
                             (int)(i % PACKED_LANES), node) ||
            !find_overflow(check, tile, node))
            return fail_memory(error, "checking the plan");
        status = compare_node(check, node, error);
    }
    return status;
}

// Whether the columns of a chunk follow the rings of its nodes; `walk` returns these.
static bool check_chunk_rings(const struct plan_packed *packed, const struct packed_tile *tile,
                              uint64_t number, struct ring_walk *walk)
{
    uint64_t done = number * PACKED_LANES, chunk = tile->first_chunk + number;
    const struct packed_column *columns = &packed->columns[packed->chunk_columns[chunk]];
    const int length = packed->chunk_rings[chunk];
    uint32_t nodes[PACKED_RING_MAX * RING_GROUP], ring[PACKED_RING_MAX] = {0};
    if (length % 2 != 0 || length > PACKED_RING_MAX ||
        packed->chunk_columns[chunk] + (uint64_t)length > packed->chunk_columns[chunk + 1])
        return false;
    const int group_length = ring_walk_next(walk, nodes);
    for (int lane = 0; lane < PACKED_LANES && done + (uint64_t)lane < tile->node_count; lane++) {
        int count = group_length;
        // A column may start anywhere in the ring, and positions after its end repeat the first.
        for (int position = 0; position < length; position++)
            ring[position] = (uint32_t)end_of(packed, tile, &columns[position], lane,
                                              tile->first_node + done + (uint64_t)lane);
        while (count > 1 && nodes[(count - 1) * RING_GROUP + lane] == nodes[lane])
            count--;
        int start = 0;
        while (start < count && nodes[start * RING_GROUP + lane] != ring[0])
            start++;
        for (int position = 0; position < length && count > 0; position++) {
            int rotated = position < count ? (start + position) % count : start % count;
            if (ring[position] != nodes[rotated * RING_GROUP + lane])
                return false;
        }
    }
    return true;
}

// Checks the tiles of a body, from `tile` on, whose columns follow its rings.
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
            return inconsistent(node, "no tile goes round its ring", error);
        uint32_t nodes[PACKED_RING_MAX * RING_GROUP];
        for (uint64_t chunk = 0; chunk < tile->sell_chunk_count; chunk++)
            if (!check_chunk_rings(packed, tile, chunk, &walk))
                return inconsistent(node, "a column leaves a ring", error);
        for (uint32_t at = 0; tile->sell_chunk_count == 0 && at < tile->node_count;
             at += RING_GROUP)
            (void)ring_walk_next(&walk, nodes); // skips a tile that is not kept
        node += tile->node_count;
    }
    return TAUT_OK;
}

// Checks all columns that follow rings. Rings that have been freed are made again.
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
    struct check check = {.plan = plan,
                          .packed = &plan->packed,
                          .springs = {.node_count = topology->node_count,
                                      .spring_count = plan->springs.element_count}};
    taut_status status = TAUT_OK;
    if (!node_springs_list(topology, plan, &check.springs))
        status = fail_memory(error, "checking the plan");
    for (uint64_t t = 0; t < plan->packed.tile_count && status == TAUT_OK; t++) {
        const struct packed_tile *tile = &plan->packed.tiles[t];
        if (t >= plan->packed.first_kept && t < plan->packed.end_kept)
            status = check_tile(&check, tile, error);
        else
            check.next_node = tile->first_node + tile->node_count;
    }
    for (; status == TAUT_OK && check.next_node < topology->node_count; check.next_node++)
        if (check.springs.start[check.next_node] != check.springs.start[check.next_node + 1])
            status = inconsistent(check.next_node, "no tile has it", error);
    node_springs_free(&check.springs);
    free(check.found);
    return status == TAUT_OK ? check_rings(topology, plan, error) : status;
}
