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
    const size_t rows_max = GATHER_ROWS_MAX - p->slices[p->slice_count].ring;
    size_t row = 0;
    for (; row < rows_max; row++) {
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

// ---- Rings

// The rings of a slice, filled up to one length.
struct slice_rings {
    int length;
    uint32_t nodes[PACKED_RING_MAX][PACKED_LANES];
};

static int64_t ring_step(const struct dealing *d, const struct slice_rings *rings, uint32_t lane,
                         int place)
{
    return (int64_t)rings->nodes[place][lane] - (int64_t)(d->first + lane);
}

// Neighbours of a lane before its ring begins anew.
static int ring_count(const struct slice_rings *rings, uint32_t lane, int length)
{
    while (length > 1 && rings->nodes[length - 1][lane] == rings->nodes[0][lane])
        length--;
    return length;
}

// A ring may begin anywhere. Where most of its steps are those of the slice's first lane, columns
// have one step and are not gathered.
static void turn_ring(const struct dealing *d, struct slice_rings *rings, uint32_t lane, int count)
{
    int best = 0, best_equal = -1;
    for (int turn = 0; turn < count; turn++) {
        int equal = 0;
        for (int place = 0; place < count; place++)
            equal +=
                ring_step(d, rings, lane, (place + turn) % count) == ring_step(d, rings, 0, place);
        if (equal > best_equal) {
            best = turn;
            best_equal = equal;
        }
    }
    uint32_t turned[PACKED_RING_MAX] = {0};
    for (int place = 0; place < count; place++)
        turned[place] = rings->nodes[(place + best) % count][lane];
    for (int place = 0; place < rings->length; place++)
        rings->nodes[place][lane] = turned[place < count ? place : 0];
}

static void read_rings(struct packing *p, const struct dealing *d, struct slice_rings *rings)
{
    uint32_t group[PACKED_RING_MAX * RING_GROUP];
    int lengths[PACKED_LANES] = {0};
    rings->length = 0;
    for (uint32_t first = 0; first < d->count; first += RING_GROUP) {
        int length = ring_walk_next(&p->walk, group);
        for (uint32_t lane = 0; lane < RING_GROUP; lane++) {
            lengths[first + lane] = length;
            for (int place = 0; place < length; place++)
                rings->nodes[place][first + lane] = group[place * RING_GROUP + (int)lane];
        }
        rings->length = length > rings->length ? length : rings->length;
    }
    for (uint32_t lane = 0; lane < PACKED_LANES; lane++)
        for (int place = lane < d->count ? lengths[lane] : 0; place < rings->length; place++)
            rings->nodes[place][lane] = place > 0 ? rings->nodes[0][lane] : (uint32_t)d->first;
    for (uint32_t lane = 1; lane < d->count; lane++)
        turn_ring(d, rings, lane, ring_count(rings, lane, rings->length));
}

// The half of a lane that goes to a node, taken from what is left of them; NULL without.
static struct half *take_half(const struct dealing *d, uint32_t lane, uint32_t node)
{
    for (size_t i = d->next[lane]; i < d->total[lane]; i++) {
        struct half *half = &d->halves[lane][i];
        if (half->other != node)
            continue;
        struct half taken = *half;
        for (; i > d->next[lane]; i--)
            d->halves[lane][i] = d->halves[lane][i - 1];
        d->halves[lane][i] = taken;
        return &d->halves[lane][i];
    }
    return NULL;
}

// The steps by which the lanes reach their nodes, the first lane's and the turns; false if these
// are too many.
static bool find_steps(const struct dealing *d, const uint32_t *nodes, struct packed_column *column,
                       struct packed_turns *turns)
{
    for (uint32_t lane = 0; lane < d->count; lane++) {
        int64_t step = (int64_t)nodes[lane] - (int64_t)(d->first + lane);
        if (step == 0 || step < -INT32_MAX || step > INT32_MAX)
            return false;
        if (lane == 0)
            column->step = (int32_t)step;
        if (step == column->step)
            continue;
        uint16_t turn = 0;
        while (turn < column->turn_count && turns->step[turn] != step)
            turn++;
        if (turn == PACKED_TURNS_MAX)
            return false;
        if (turn == column->turn_count)
            turns->step[column->turn_count++] = (int32_t)step;
        turns->lanes[turn] |= 1u << lane;
    }
    return true;
}

static bool set_ends(struct packing *p, const struct dealing *d, const uint32_t *nodes,
                     struct packed_column *column)
{
    struct packed_turns turns = {{0}, {0}};
    if (find_steps(d, nodes, column, &turns)) {
        if (column->turn_count == 0)
            return true;
        if (!grow(&p->turns, &p->turns_capacity, p->turns_count, sizeof *p->turns))
            return false;
        column->group = (uint32_t)p->turns_count;
        p->turns[p->turns_count++] = turns;
        return true;
    }
    column->step = 0;
    column->turn_count = 0;
    if (!grow(&p->ends, &p->group_capacity, p->group_count, sizeof *p->ends))
        return false;
    for (int lane = 0; lane < PACKED_LANES; lane++)
        p->ends[p->group_count][lane] = nodes[lane];
    column->group = (uint32_t)p->group_count++;
    return true;
}

static bool add_ring_column(struct packing *p, struct dealing *d, const uint32_t *nodes)
{
    struct packed_column *column = add_column(p);
    if (!column || !set_ends(p, d, nodes, column))
        return false;
    uint32_t materials[PACKED_LANES] = {0};
    bool mixed = false;
    for (uint32_t lane = 0; lane < d->count; lane++) {
        const struct half *half = take_half(d, lane, nodes[lane]);
        if (!half)
            continue;
        materials[lane] = half->material;
        mixed |= column->lanes && column->material != half->material;
        column->material = half->material;
        set_lane(p, column, lane, half);
        d->next[lane]++;
    }
    if (column->lanes == 0)
        column->material = 0; // whichever: no lane has a spring
    return !mixed || set_mixed(p, column, materials);
}

static bool add_ring_columns(struct packing *p, struct dealing *d)
{
    struct slice_rings rings;
    read_rings(p, d, &rings);
    for (int place = 0; place < rings.length; place++)
        if (!add_ring_column(p, d, rings.nodes[place]))
            return false;
    for (uint32_t lane = 0; lane < d->count; lane++) {
        d->halves[lane] += d->next[lane];
        d->total[lane] -= d->next[lane];
        d->next[lane] = 0;
    }
    p->slices[p->slice_count].ring = (uint8_t)rings.length;
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
    if (p->ring_body != 0 && !add_ring_columns(p, &d))
        return false;
    return add_step_columns(p, &d) && add_gathered_columns(p, &d);
}

void packing_free(struct packing *p)
{
    free(p->columns);
    free(p->slot_springs);
    free(p->ends);
    free(p->turns);
    free(p->lane_materials);
    free(p->late);
    free(p->late_springs);
    free(p->slices);
}
