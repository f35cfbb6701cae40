// The columns of one slice of nodes.
#include "plan/packing.h"

#include <stdlib.h>

#include "base/memory.h"

// A column of one step pays where this many lanes have it: it costs less than half of a gathered
// one. A gathered one pays where this many have a spring left for it.
enum { STEP_LANES_MIN = 8, GATHER_LANES_MIN = 3 };

// So that a tile of one slice and its halo never has more than PACKED_LOCAL_MAX nodes.
enum { GATHER_ROWS_MAX = PACKED_LOCAL_MAX / PACKED_LANES - 1 };

// The halves of a slice's lanes while they are dealt out: each lane's next one, and behind those
// that were left for gathered columns.
struct dealing {
    uint64_t first; // node
    uint32_t count; // nodes
    struct half *halves[PACKED_LANES];
    size_t total[PACKED_LANES], next[PACKED_LANES], left[PACKED_LANES];
};

static bool grow(void *array, size_t *capacity, size_t count, size_t size)
{
    return array_reserve((void **)array, capacity, count + 1, size);
}

// A column without springs. Lanes without one get a rest length that says so; its ends would be the
// lane's own node.
static struct packed_column *add_column(struct packing *p)
{
    if (!grow(&p->columns, &p->column_capacity, p->column_count, sizeof *p->columns) ||
        !grow(&p->slot_springs, &p->slot_capacity, p->column_count, sizeof *p->slot_springs))
        return NULL;
    for (int lane = 0; lane < PACKED_LANES; lane++)
        p->slot_springs[p->column_count][lane] = PACKED_NONE;
    p->columns[p->column_count] = (struct packed_column){.material = PACKED_NONE};
    return &p->columns[p->column_count++];
}

static void set_lane(struct packing *p, struct packed_column *column, uint32_t lane,
                     const struct half *half)
{
    column->lanes |= (uint16_t)(1u << lane);
    p->slot_springs[column - p->columns][lane] = half->place;
}

static const struct half *next_of(const struct dealing *d, uint32_t lane)
{
    return d->next[lane] < d->total[lane] ? &d->halves[lane][d->next[lane]] : NULL;
}

static int64_t step_of(const struct dealing *d, uint32_t lane, const struct half *half)
{
    return (int64_t)half->other - (int64_t)(d->first + lane);
}

// The lanes whose next halves come first by material and step, as bits: as each lane's are in this
// order, all that go one way meet here. 0 when none is left.
static uint32_t first_way(const struct dealing *d, uint32_t *material, int64_t *step)
{
    uint32_t lanes = 0;
    for (uint32_t lane = 0; lane < d->count; lane++) {
        const struct half *half = next_of(d, lane);
        if (!half)
            continue;
        int64_t own = step_of(d, lane, half);
        if (lanes && half->material == *material && own == *step) {
            lanes |= 1u << lane;
        } else if (!lanes || half->material < *material ||
                   (half->material == *material && own < *step)) {
            *material = half->material;
            *step = own;
            lanes = 1u << lane;
        }
    }
    return lanes;
}

static int count_bits(uint32_t bits)
{
    int count = 0;
    for (; bits; bits &= bits - 1)
        count++;
    return count;
}

// Columns of one step take what they can; the rest moves to the front of each lane's halves.
static bool add_step_columns(struct packing *p, struct dealing *d)
{
    uint32_t material = 0, lanes;
    int64_t step = 0;
    while ((lanes = first_way(d, &material, &step)) != 0) {
        struct packed_column *column = NULL;
        if (count_bits(lanes) >= STEP_LANES_MIN && step >= -INT32_MAX && step <= INT32_MAX) {
            column = add_column(p);
            if (!column)
                return false;
            column->step = (int32_t)step;
            column->material = material;
        }
        for (uint32_t lane = 0; lane < d->count; lane++) {
            if (!(lanes >> lane & 1))
                continue;
            struct half half = d->halves[lane][d->next[lane]++];
            if (column)
                set_lane(p, column, lane, &half);
            else
                d->halves[lane][d->left[lane]++] = half;
        }
    }
    return true;
}

// Lane materials of a column that turned out to have several.
static bool set_mixed(struct packing *p, struct packed_column *column,
                      const uint32_t materials[PACKED_LANES])
{
    if (!grow(&p->lane_materials, &p->mixed_capacity, p->mixed_count, sizeof *p->lane_materials))
        return false;
    column->material = PACKED_MIXED;
    column->mixed = (uint32_t)p->mixed_count;
    for (int lane = 0; lane < PACKED_LANES; lane++)
        p->lane_materials[p->mixed_count][lane] = materials[lane];
    p->mixed_count++;
    return true;
}

// The row-th of what was left to each lane.
static bool add_gathered_column(struct packing *p, const struct dealing *d, size_t row)
{
    struct packed_column *column = add_column(p);
    if (!column || !grow(&p->ends, &p->group_capacity, p->group_count, sizeof *p->ends))
        return false;
    uint32_t *ends = p->ends[p->group_count];
    uint32_t materials[PACKED_LANES] = {0};
    bool mixed = false;
    for (uint32_t lane = 0; lane < PACKED_LANES; lane++) {
        ends[lane] = (uint32_t)(d->first + (lane < d->count ? lane : 0));
        if (row >= d->left[lane])
            continue;
        const struct half *half = &d->halves[lane][row];
        ends[lane] = half->other;
        materials[lane] = half->material;
        mixed |= column->lanes && column->material != half->material;
        column->material = half->material;
        set_lane(p, column, lane, half);
    }
    column->group = (uint32_t)p->group_count++;
    return !mixed || set_mixed(p, column, materials);
}

static bool add_late(struct packing *p, uint64_t node, const struct half *half)
{
    if (!grow(&p->late, &p->late_capacity, p->late_count, sizeof *p->late) ||
        !grow(&p->late_springs, &p->late_spring_capacity, p->late_count, sizeof *p->late_springs))
        return false;
    p->late[p->late_count] = (struct packed_late){(uint32_t)node, half->other, half->material};
    p->late_springs[p->late_count++] = half->place;
    return true;
}

static bool add_gathered_columns(struct packing *p, const struct dealing *d)
{
    size_t row = 0;
    for (; row < GATHER_ROWS_MAX; row++) {
        int lanes = 0;
        for (int lane = 0; lane < PACKED_LANES; lane++)
            lanes += row < d->left[lane];
        if (lanes < GATHER_LANES_MIN)
            break;
        if (!add_gathered_column(p, d, row))
            return false;
    }
    for (uint32_t lane = 0; lane < d->count; lane++)
        for (size_t i = row; i < d->left[lane]; i++)
            if (!add_late(p, d->first + lane, &d->halves[lane][i]))
                return false;
    return true;
}

bool pack_slice(struct packing *p, uint64_t first, uint32_t count)
{
    struct dealing d = {.first = first, .count = count};
    for (uint32_t lane = 0; lane < count; lane++) {
        const uint64_t *start = &p->halves->start[first + lane];
        d.halves[lane] = p->halves->items + start[0];
        d.total[lane] = (size_t)(start[1] - start[0]);
    }
    return add_step_columns(p, &d) && add_gathered_columns(p, &d);
}

void packing_free(struct packing *p)
{
    free(p->columns);
    free(p->slot_springs);
    free(p->ends);
    free(p->lane_materials);
    free(p->late);
    free(p->late_springs);
    free(p->slices);
}
