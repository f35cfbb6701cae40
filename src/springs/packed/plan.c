// Packs springs into sliced ELLPACK (plan.h): the springs of each node from both ends, the columns
// of each chunk, tiles of chunks with their halos.
#include "springs/packed/plan.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/sort.h"
#include "springs/packed/plan_node_springs.h"
#include "springs/plan.h"

// ---- The columns of one chunk of nodes

// The nodes of a chunk, and its first column, group and so on.
struct chunk_start {
    uint64_t first_node;
    uint32_t node_count;
    size_t column, group, overflow, alternatives, mixed;
    uint32_t ring_body; // as in struct packed_tile
    uint8_t ring;       // columns that follow rings
};

struct tile_builder;

// The arrays that grow while chunks are packed: those of tiles that are kept, and of chunks that
// are in no tile yet. `ends` are node numbers until their tile is made.
struct packing {
    const struct topology *topology;
    const struct plan *plan;
    struct tile_builder *builder;
    const struct packed_choice *choice;
    taut_status status; // of lists that had to be loaded
    taut_error *error;
    size_t open;                 // the first chunk that is in no tile yet
    struct node_springs springs; // of the present chunk and around; reordered as chunks are packed
    struct packed_column *columns;
    size_t column_count, column_capacity;
    uint32_t (*slot_springs)[PACKED_LANES];
    size_t slot_capacity;
    uint32_t (*ends)[PACKED_LANES];
    size_t group_count, group_capacity;
    struct packed_alternatives *alternatives;
    size_t alternatives_count, alternatives_capacity;
    uint32_t (*lane_materials)[PACKED_LANES];
    size_t mixed_count, mixed_capacity;
    struct packed_overflow *overflow;
    uint32_t *overflow_springs;
    size_t overflow_count, overflow_capacity, overflow_spring_capacity;
    struct ring_walk walk;      // the rings of the body that is being packed
    uint32_t ring_body;         // 1 + that body, or 0: it has no rings
    struct chunk_start *chunks; // and an end marker when all are packed
    size_t sell_chunk_count, sell_chunk_capacity;
};

// The smallest number of lanes for which a column of one step pays off, and for which a gathered
// column does, which costs more.
enum { STEP_LANES_MIN = 8, GATHER_LANES_MIN = 3 };

// A tile of one chunk and its halo must not exceed PACKED_LOCAL_MAX nodes.
enum { GATHER_ROWS_MAX = PACKED_LOCAL_MAX / PACKED_LANES - 1 };

// The springs of a chunk's lanes while they are assigned to columns: springs[lane][next ..] are not
// assigned yet, and springs[lane][0 .. left - 1] are left for gathered columns.
struct lane_springs {
    uint64_t first; // node
    uint32_t count; // nodes
    struct node_spring *springs[PACKED_LANES];
    size_t total[PACKED_LANES], next[PACKED_LANES], left[PACKED_LANES];
};

static bool grow(void *array, size_t *capacity, size_t count, size_t size)
{
    return array_reserve((void **)array, capacity, count + 1, size);
}

// Appends a column without springs. Lanes without a spring are marked by their rest length; the
// other end of such a lane is its own node.
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
                     const struct node_spring *spring)
{
    column->lanes |= (uint16_t)(1u << lane);
    p->slot_springs[column - p->columns][lane] = spring->index;
}

static const struct node_spring *next_of(const struct lane_springs *d, uint32_t lane)
{
    return d->next[lane] < d->total[lane] ? &d->springs[lane][d->next[lane]] : NULL;
}

static int64_t step_of(const struct lane_springs *d, uint32_t lane,
                       const struct node_spring *spring)
{
    return (int64_t)spring->other - (int64_t)(d->first + lane);
}

// The lanes whose next springs come first by material and step, as bits; 0 if no springs are left.
// The springs of each lane are sorted in this way, so all springs with the same material and step
// are found together.
static uint32_t first_direction_of(const struct lane_springs *d, uint32_t *material, int64_t *step)
{
    uint32_t lanes = 0;
    for (uint32_t lane = 0; lane < d->count; lane++) {
        const struct node_spring *spring = next_of(d, lane);
        if (!spring)
            continue;
        int64_t own = step_of(d, lane, spring);
        if (lanes && spring->material == *material && own == *step) {
            lanes |= 1u << lane;
        } else if (!lanes || spring->material < *material ||
                   (spring->material == *material && own < *step)) {
            *material = spring->material;
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

// Adds columns of one step where enough lanes have it. All other springs are moved to the front of
// each lane's list.
static bool add_step_columns(struct packing *p, struct lane_springs *d)
{
    uint32_t material = 0, lanes;
    int64_t step = 0;
    while ((lanes = first_direction_of(d, &material, &step)) != 0) {
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
            struct node_spring spring = d->springs[lane][d->next[lane]++];
            if (column)
                set_lane(p, column, lane, &spring);
            else
                d->springs[lane][d->left[lane]++] = spring;
        }
    }
    return true;
}

// Sets the materials of the lanes of a column that has several.
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

// Adds a gathered column of spring number `row` of those that are left in each lane.
static bool add_gathered_column(struct packing *p, const struct lane_springs *d, size_t row)
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
        const struct node_spring *spring = &d->springs[lane][row];
        ends[lane] = spring->other;
        materials[lane] = spring->material;
        mixed |= column->lanes && column->material != spring->material;
        column->material = spring->material;
        set_lane(p, column, lane, spring);
    }
    column->group = (uint32_t)p->group_count++;
    return !mixed || set_mixed(p, column, materials);
}

static bool add_overflow(struct packing *p, uint64_t node, const struct node_spring *spring)
{
    if (!grow(&p->overflow, &p->overflow_capacity, p->overflow_count, sizeof *p->overflow) ||
        !grow(&p->overflow_springs, &p->overflow_spring_capacity, p->overflow_count,
              sizeof *p->overflow_springs))
        return false;
    p->overflow[p->overflow_count] =
        (struct packed_overflow){(uint32_t)node, spring->other, spring->material};
    p->overflow_springs[p->overflow_count++] = spring->index;
    return true;
}

// Adds gathered columns while enough lanes have springs; the others become overflow springs.
static bool add_gathered_columns(struct packing *p, const struct lane_springs *d)
{
    const size_t rows_max = GATHER_ROWS_MAX - p->chunks[p->sell_chunk_count].ring;
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
            if (!add_overflow(p, d->first + lane, &d->springs[lane][i]))
                return false;
    return true;
}

// ---- Columns that follow vertex rings

// The rings of a chunk's nodes, extended to one length.
struct ring_columns {
    int length;
    uint32_t nodes[PACKED_RING_MAX][PACKED_LANES];
};

static int64_t ring_step(const struct lane_springs *d, const struct ring_columns *rings,
                         uint32_t lane, int position)
{
    return (int64_t)rings->nodes[position][lane] - (int64_t)(d->first + lane);
}

// The number of neighbours in a lane's ring, without its extension.
static int ring_count(const struct ring_columns *rings, uint32_t lane, int length)
{
    while (length > 1 && rings->nodes[length - 1][lane] == rings->nodes[0][lane])
        length--;
    return length;
}

// A ring may start at any neighbour. Rotates it so that most of its steps equal those of the
// chunk's first lane: columns with one step need no gathering.
static void rotate_ring(const struct lane_springs *d, struct ring_columns *rings, uint32_t lane,
                        int count)
{
    int best = 0, best_equal = -1;
    for (int offset = 0; offset < count; offset++) {
        int equal = 0;
        for (int position = 0; position < count; position++)
            equal += ring_step(d, rings, lane, (position + offset) % count) ==
                     ring_step(d, rings, 0, position);
        if (equal > best_equal) {
            best = offset;
            best_equal = equal;
        }
    }
    uint32_t rotated[PACKED_RING_MAX] = {0};
    for (int position = 0; position < count; position++)
        rotated[position] = rings->nodes[(position + best) % count][lane];
    for (int position = 0; position < rings->length; position++)
        rings->nodes[position][lane] = rotated[position < count ? position : 0];
}

// A chunk is a group of rings (faces/plan.h).
_Static_assert((int)RING_GROUP == (int)PACKED_LANES, "a chunk has the rings of one group");

static void read_rings(struct packing *p, const struct lane_springs *d, struct ring_columns *rings)
{
    uint32_t group[PACKED_RING_MAX * RING_GROUP];
    rings->length = ring_walk_next(&p->walk, group);
    for (int position = 0; position < rings->length; position++)
        for (uint32_t lane = 0; lane < PACKED_LANES; lane++)
            rings->nodes[position][lane] =
                lane < d->count ? group[position * RING_GROUP + (int)lane] : (uint32_t)d->first;
    for (uint32_t lane = 1; lane < d->count; lane++)
        rotate_ring(d, rings, lane, ring_count(rings, lane, rings->length));
}

// Moves the spring from a lane to `node` to the front of those not assigned yet, and returns it;
// NULL if there is none.
static struct node_spring *move_spring_to_front(const struct lane_springs *d, uint32_t lane,
                                                uint32_t node)
{
    for (size_t i = d->next[lane]; i < d->total[lane]; i++) {
        struct node_spring *spring = &d->springs[lane][i];
        if (spring->other != node)
            continue;
        struct node_spring taken = *spring;
        for (; i > d->next[lane]; i--)
            d->springs[lane][i] = d->springs[lane][i - 1];
        d->springs[lane][i] = taken;
        return &d->springs[lane][i];
    }
    return NULL;
}

// Finds the steps from the lanes to `nodes`: that of the first lane, and alternatives for other
// lanes; false if there are too many.
static bool find_steps(const struct lane_springs *d, const uint32_t *nodes,
                       struct packed_column *column, struct packed_alternatives *alternatives)
{
    for (uint32_t lane = 0; lane < d->count; lane++) {
        int64_t step = (int64_t)nodes[lane] - (int64_t)(d->first + lane);
        if (step == 0 || step < -INT32_MAX || step > INT32_MAX)
            return false;
        if (lane == 0)
            column->step = (int32_t)step;
        if (step == column->step)
            continue;
        uint16_t alternative = 0;
        while (alternative < column->alternative_count && alternatives->step[alternative] != step)
            alternative++;
        if (alternative == PACKED_ALTERNATIVES_MAX)
            return false;
        if (alternative == column->alternative_count)
            alternatives->step[column->alternative_count++] = (int32_t)step;
        alternatives->lanes[alternative] |= 1u << lane;
    }
    return true;
}

// Sets the other ends of a column: by steps if possible, otherwise as a group to be gathered.
static bool set_ends(struct packing *p, const struct lane_springs *d, const uint32_t *nodes,
                     struct packed_column *column)
{
    struct packed_alternatives alternatives = {{0}, {0}};
    if (find_steps(d, nodes, column, &alternatives)) {
        if (column->alternative_count == 0)
            return true;
        if (!grow(&p->alternatives, &p->alternatives_capacity, p->alternatives_count,
                  sizeof *p->alternatives))
            return false;
        column->group = (uint32_t)p->alternatives_count;
        p->alternatives[p->alternatives_count++] = alternatives;
        return true;
    }
    column->step = 0;
    column->alternative_count = 0;
    if (!grow(&p->ends, &p->group_capacity, p->group_count, sizeof *p->ends))
        return false;
    for (int lane = 0; lane < PACKED_LANES; lane++)
        p->ends[p->group_count][lane] = nodes[lane];
    column->group = (uint32_t)p->group_count++;
    return true;
}

static bool add_ring_column(struct packing *p, struct lane_springs *d, const uint32_t *nodes)
{
    struct packed_column *column = add_column(p);
    if (!column || !set_ends(p, d, nodes, column))
        return false;
    uint32_t materials[PACKED_LANES] = {0};
    bool mixed = false;
    for (uint32_t lane = 0; lane < d->count; lane++) {
        const struct node_spring *spring = move_spring_to_front(d, lane, nodes[lane]);
        if (!spring)
            continue;
        materials[lane] = spring->material;
        mixed |= column->lanes && column->material != spring->material;
        column->material = spring->material;
        set_lane(p, column, lane, spring);
        d->next[lane]++;
    }
    if (column->lanes == 0)
        column->material = 0; // arbitrary, since no lane has a spring
    return !mixed || set_mixed(p, column, materials);
}

static bool add_ring_columns(struct packing *p, struct lane_springs *d)
{
    struct ring_columns rings;
    read_rings(p, d, &rings);
    for (int position = 0; position < rings.length; position++)
        if (!add_ring_column(p, d, rings.nodes[position]))
            return false;
    for (uint32_t lane = 0; lane < d->count; lane++) {
        d->springs[lane] += d->next[lane];
        d->total[lane] -= d->next[lane];
        d->next[lane] = 0;
    }
    p->chunks[p->sell_chunk_count].ring = (uint8_t)rings.length;
    return true;
}

// Adds the columns of chunk number sell_chunk_count, with nodes first .. first + count - 1, count
// <= PACKED_LANES. False if out of memory.
static bool pack_chunk(struct packing *p, uint64_t first, uint32_t count)
{
    struct lane_springs d = {.first = first, .count = count};
    const uint64_t before = p->springs.first_node;
    if (!node_springs_find(p->topology, p->plan, p->choice, first, first + count, &p->springs,
                           &p->status, p->error))
        return false;
    if (p->choice->packed && p->springs.first_node > before)
        p->choice->packed(p->choice->context, p->springs.first_node);
    for (uint32_t lane = 0; lane < count; lane++) {
        const uint64_t node = first + lane - p->springs.first_node;
        const uint64_t start = p->springs.start[node];
        d.springs[lane] = p->springs.items + start;
        d.total[lane] = (size_t)(p->springs.start[node + 1] - start);
    }
    if (p->ring_body != 0 && !add_ring_columns(p, &d))
        return false;
    return add_step_columns(p, &d) && add_gathered_columns(p, &d);
}

static void packing_free(struct packing *p)
{
    free(p->columns);
    free(p->slot_springs);
    free(p->ends);
    free(p->alternatives);
    free(p->lane_materials);
    free(p->overflow);
    free(p->overflow_springs);
    free(p->chunks);
}

// ---- Tiles of chunks, and their halos, which are the nodes that gathered columns read

struct tile_builder {
    struct packing *packing;
    uint32_t tile_nodes;           // of a tile at most
    const struct plan_nodes *kept; // NULL: all
    uint64_t first_kept, end_kept; // tiles
    uint32_t *seen_by;  // for each node, the last attempt at a tile whose columns gather it
    uint32_t *local_of; // for each node, the number of its record in the present tile
    uint32_t attempt;
    uint32_t own_count; // nodes of the tile itself that its columns gather
    struct packed_tile *tiles;
    size_t tile_count, tile_capacity;
    uint32_t *halo;
    size_t halo_count, halo_capacity;
};

static bool in_tile(const struct packed_tile *tile, uint32_t node)
{
    return node >= tile->first_node && node < tile->first_node + tile->node_count;
}

static bool add_to_halo(struct tile_builder *builder, struct packed_tile *tile, uint32_t node)
{
    if (!array_reserve((void **)&builder->halo, &builder->halo_capacity,
                       builder->halo_count + tile->halo_count + 1, sizeof *builder->halo))
        return false;
    builder->halo[builder->halo_count + tile->halo_count++] = node;
    return true;
}

static int compare_nodes(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return a < b ? -1 : a > b;
}

// Makes a tile of chunks [from, to), whose nodes are consecutive. Its halo is at the end of the
// list until the next attempt. False if out of memory.
static bool try_tile(struct tile_builder *builder, size_t from, size_t to)
{
    const struct chunk_start *first = &builder->packing->chunks[from],
                             *end = &builder->packing->chunks[to];
    struct packed_tile *tile = &builder->tiles[builder->tile_count];
    const struct chunk_start *last = end - 1;
    *tile = (struct packed_tile){
        .first_node = first->first_node,
        .node_count = (uint32_t)(last->first_node + last->node_count - first->first_node),
        .first_chunk = from,
        .sell_chunk_count = to - from,
        .first_halo = builder->halo_count,
        .first_overflow = first->overflow,
        .overflow_count = end->overflow - first->overflow,
        .ring_body = first->ring_body,
    };
    builder->attempt++;
    builder->own_count = 0;
    for (size_t group = first->group; group < end->group; group++)
        for (int lane = 0; lane < PACKED_LANES; lane++) {
            uint32_t node = builder->packing->ends[group][lane];
            if (builder->seen_by[node] == builder->attempt)
                continue;
            builder->seen_by[node] = builder->attempt;
            if (in_tile(tile, node))
                builder->own_count++;
            else if (!add_to_halo(builder, tile, node))
                return false;
        }
    return true;
}

// Decides whether all nodes of the tile get records, or whether the few that are gathered join the
// halo, where each costs more. False if out of memory.
static bool choose_records(struct tile_builder *builder, struct packed_tile *tile)
{
    if (builder->own_count > tile->node_count / 2) {
        tile->own_records = tile->node_count;
        return true;
    }
    bool done = true;
    for (uint32_t i = 0; i < tile->node_count && done; i++)
        if (builder->seen_by[tile->first_node + i] == builder->attempt)
            done = add_to_halo(builder, tile, (uint32_t)tile->first_node + i);
    return done;
}

// Sorts the halo by node number, the best order for reading the state, and replaces the ends by
// numbers of records.
static void number_ends(struct tile_builder *builder, const struct packed_tile *tile)
{
    for (uint32_t i = 0; i < tile->own_records; i++)
        builder->local_of[tile->first_node + i] = i;
    if (tile->halo_count > 0) { // otherwise the list may be NULL
        uint32_t *halo = &builder->halo[builder->halo_count];
        qsort(halo, tile->halo_count, sizeof *halo, compare_nodes);
        for (uint32_t i = 0; i < tile->halo_count; i++)
            builder->local_of[halo[i]] = tile->own_records + i;
    }
    const struct chunk_start *chunks = builder->packing->chunks;
    size_t end = chunks[tile->first_chunk + tile->sell_chunk_count].group;
    for (size_t group = chunks[tile->first_chunk].group; group < end; group++)
        for (int lane = 0; lane < PACKED_LANES; lane++)
            builder->packing->ends[group][lane] =
                builder->local_of[builder->packing->ends[group][lane]];
}

// The end of the longest sequence of chunks from `from` on whose nodes are consecutive, of at most
// nodes_max nodes but at least one chunk.
static size_t consecutive_chunks_end(const struct packing *packing, size_t from, uint32_t nodes_max)
{
    uint64_t nodes = packing->chunks[from].node_count;
    size_t to = from + 1;
    for (; to < packing->sell_chunk_count; to++) {
        const struct chunk_start *before = &packing->chunks[to - 1], *chunk = &packing->chunks[to];
        nodes += chunk->node_count;
        if (nodes > nodes_max || chunk->ring_body != before->ring_body ||
            before->node_count != PACKED_LANES ||
            chunk->first_node != before->first_node + PACKED_LANES)
            break;
    }
    return to;
}

static bool is_kept(const struct tile_builder *builder, const struct packed_tile *tile)
{
    const struct plan_nodes *kept = builder->kept;
    return !kept || (tile->first_node < kept->first + kept->count &&
                     tile->first_node + tile->node_count > kept->first);
}

// Removes items [first, end) of `count`.
static void remove_items(void *items, size_t size, size_t first, size_t end, size_t count)
{
    char *begin = items;
    if (first < end && end < count)
        memmove(begin + first * size, begin + end * size, (count - end) * size);
}

// Removes the packed data of the open chunks up to `to`, and moves the data after them.
static void drop_chunks(struct packing *p, size_t to)
{
    const struct chunk_start from = p->chunks[p->open], end = p->chunks[to];
    const struct chunk_start gone = {.column = end.column - from.column,
                                     .group = end.group - from.group,
                                     .overflow = end.overflow - from.overflow,
                                     .alternatives = end.alternatives - from.alternatives,
                                     .mixed = end.mixed - from.mixed};
    for (size_t c = end.column; c < p->column_count; c++) {
        struct packed_column *column = &p->columns[c];
        if (column->step == 0)
            column->group -= (uint32_t)gone.group;
        else if (column->alternative_count > 0)
            column->group -= (uint32_t)gone.alternatives;
        if (column->material == PACKED_MIXED)
            column->mixed -= (uint32_t)gone.mixed;
    }
    for (size_t i = to; i <= p->sell_chunk_count; i++) {
        struct chunk_start *chunk = &p->chunks[i];
        chunk->column -= gone.column;
        chunk->group -= gone.group;
        chunk->overflow -= gone.overflow;
        chunk->alternatives -= gone.alternatives;
        chunk->mixed -= gone.mixed;
    }
#define REMOVE(name, at, count) remove_items(p->name, sizeof *p->name, from.at, end.at, p->count);
    REMOVE(columns, column, column_count)
    REMOVE(slot_springs, column, column_count)
    REMOVE(ends, group, group_count)
    REMOVE(overflow, overflow, overflow_count)
    REMOVE(overflow_springs, overflow, overflow_count)
    REMOVE(alternatives, alternatives, alternatives_count)
    REMOVE(lane_materials, mixed, mixed_count)
#undef REMOVE
    p->column_count -= gone.column;
    p->group_count -= gone.group;
    p->overflow_count -= gone.overflow;
    p->alternatives_count -= gone.alternatives;
    p->mixed_count -= gone.mixed;
    remove_items(p->chunks, sizeof *p->chunks, p->open, to, p->sell_chunk_count + 1);
    p->sell_chunk_count -= to - p->open;
}

// Makes a tile of as many open chunks as possible; one whose records would be too many is halved.
// The chunk after its last one has been started.
static bool make_tile(struct tile_builder *builder)
{
    struct packing *p = builder->packing;
    const size_t from = p->open;
    if (!array_reserve((void **)&builder->tiles, &builder->tile_capacity, builder->tile_count + 1,
                       sizeof *builder->tiles))
        return false;
    size_t to = consecutive_chunks_end(p, from, builder->tile_nodes);
    struct packed_tile *tile = &builder->tiles[builder->tile_count];
    for (;; to = from + (to - from + 1) / 2) {
        if (!try_tile(builder, from, to))
            return false;
        if (tile->node_count + tile->halo_count <= PACKED_LOCAL_MAX || to == from + 1)
            break;
    }
    if (is_kept(builder, tile)) {
        if (!choose_records(builder, tile))
            return false;
        number_ends(builder, tile);
        builder->halo_count += tile->halo_count;
        if (builder->first_kept == builder->end_kept)
            builder->first_kept = builder->tile_count;
        builder->end_kept = builder->tile_count + 1;
        p->open = to;
    } else {
        *tile = (struct packed_tile){.first_node = tile->first_node,
                                     .node_count = tile->node_count,
                                     .ring_body = tile->ring_body};
        drop_chunks(p, to);
    }
    builder->tile_count++;
    return true;
}

// Makes the tiles that are certain before all chunks have been packed: those after which there are
// more chunks.
static bool make_certain_tiles(struct tile_builder *builder)
{
    const struct packing *p = builder->packing;
    while (p->sell_chunk_count - p->open > builder->tile_nodes / PACKED_LANES)
        if (!make_tile(builder))
            return false;
    return true;
}

static bool make_last_tiles(struct tile_builder *builder)
{
    const struct packing *p = builder->packing;
    while (p->open < p->sell_chunk_count)
        if (!make_tile(builder))
            return false;
    return true;
}

static bool store_tiles(const struct tile_builder *builder, const taut_allocator *allocator,
                        struct plan_packed *packed)
{
    packed->tile_count = builder->tile_count;
    packed->first_kept = builder->first_kept;
    packed->end_kept = builder->end_kept;
    packed->halo_count = builder->halo_count;
    packed->tiles =
        memory_copy(allocator, builder->tiles, builder->tile_count, sizeof *packed->tiles);
    packed->halo = memory_copy(allocator, builder->halo, builder->halo_count, sizeof *packed->halo);
    return packed->tiles && packed->halo;
}

// ---- The whole plan of packed springs

// The arrays of the plan, listed once.
#define PACKED_ARRAYS(X)                                                                           \
    X(tiles, tile_count)                                                                           \
    X(chunk_columns, sell_chunk_count + 1)                                                         \
    X(chunk_rings, sell_chunk_count)                                                               \
    X(columns, column_count)                                                                       \
    X(ends, group_count)                                                                           \
    X(alternatives, alternatives_count)                                                            \
    X(lane_materials, mixed_count)                                                                 \
    X(halo, halo_count)                                                                            \
    X(overflow, overflow_count)                                                                    \
    X(slot_springs, slot_count)

static bool start_chunk(struct packing *p, uint64_t first, uint32_t count)
{
    if (!array_reserve((void **)&p->chunks, &p->sell_chunk_capacity, p->sell_chunk_count + 1,
                       sizeof *p->chunks))
        return false;
    p->chunks[p->sell_chunk_count] = (struct chunk_start){
        .first_node = first,
        .node_count = count,
        .column = p->column_count,
        .group = p->group_count,
        .overflow = p->overflow_count,
        .alternatives = p->alternatives_count,
        .mixed = p->mixed_count,
        .ring_body = p->ring_body,
    };
    return true;
}

// Packs nodes first .. end - 1, which may belong to several bodies.
static bool pack_nodes(struct packing *p, uint64_t first, uint64_t end)
{
    for (; first < end; first += PACKED_LANES) {
        uint32_t count = end - first < PACKED_LANES ? (uint32_t)(end - first) : PACKED_LANES;
        if (!start_chunk(p, first, count) || !pack_chunk(p, first, count))
            return false;
        p->sell_chunk_count++;
        // A tile also needs the start of the chunk after it.
        if (!start_chunk(p, 0, 0) || !make_certain_tiles(p->builder))
            return false;
    }
    return true;
}

// Whether the columns of a body follow its rings.
static bool follows_rings(const struct plan *plan, size_t body)
{
    const struct plan_rings *rings = plan_rings_of_body(plan, body);
    return rings && rings_longest(rings) <= PACKED_RING_MAX && plan->springs.element_count > 0 &&
           plan_grid_of_body(plan, body) == NULL;
}

// Packs a body whose columns follow its rings.
static bool pack_body_with_rings(struct packing *p, const struct plan *plan, size_t index,
                                 const struct topology_body *body)
{
    p->walk = (struct ring_walk){.rings = plan_rings_of_body(plan, index)};
    p->ring_body = (uint32_t)index + 1;
    bool done = pack_nodes(p, body->first_node, body->first_node + body->node_count);
    p->ring_body = 0;
    return done;
}

// Packs all bodies on no grid. Bodies with rings start new chunks.
static bool pack_all(const struct topology *topology, const struct plan *plan, struct packing *p)
{
    uint64_t first = 0, end = 0;
    for (size_t b = 0; b < topology->body_count; b++) {
        const struct topology_body *body = &topology->bodies[b];
        bool ringed = follows_rings(plan, b);
        if (ringed || plan_grid_of_body(plan, b) != NULL) {
            if (!pack_nodes(p, first, end) || (ringed && !pack_body_with_rings(p, plan, b, body)))
                return false;
            first = body->first_node + body->node_count;
        }
        end = body->first_node + body->node_count;
    }
    return pack_nodes(p, first, end) && start_chunk(p, 0, 0);
}

// Arrays that have grown are freed as soon as they are stored, so that not all are there twice.
static bool store_slots(struct packing *p, const taut_allocator *allocator,
                        struct plan_packed *packed)
{
    size_t lanes = p->column_count * PACKED_LANES;
    packed->slot_count = lanes + p->overflow_count;
    packed->slot_springs =
        memory_allocate(allocator, (size_t)packed->slot_count, sizeof *packed->slot_springs);
    if (!packed->slot_springs)
        return false;
    for (size_t slot = 0; slot < lanes; slot++)
        packed->slot_springs[slot] = p->slot_springs[slot / PACKED_LANES][slot % PACKED_LANES];
    for (size_t i = 0; i < p->overflow_count; i++)
        packed->slot_springs[lanes + i] = p->overflow_springs[i];
    free(p->slot_springs);
    p->slot_springs = NULL;
    free(p->overflow_springs);
    p->overflow_springs = NULL;
    return true;
}

static bool store_ends(struct packing *p, const taut_allocator *allocator,
                       struct plan_packed *packed)
{
    packed->group_count = p->group_count;
    packed->ends = memory_allocate(allocator, p->group_count, sizeof *packed->ends);
    if (!packed->ends)
        return false;
    for (size_t group = 0; group < p->group_count; group++)
        for (int lane = 0; lane < PACKED_LANES; lane++)
            packed->ends[group][lane] = (uint16_t)(PACKED_SCALE * p->ends[group][lane]);
    free(p->ends);
    p->ends = NULL;
    return true;
}

static bool store_chunks(struct packing *p, const taut_allocator *allocator,
                         struct plan_packed *packed)
{
    packed->sell_chunk_count = p->sell_chunk_count;
    packed->chunk_columns =
        memory_allocate(allocator, p->sell_chunk_count + 1, sizeof *packed->chunk_columns);
    packed->chunk_rings =
        memory_allocate(allocator, p->sell_chunk_count, sizeof *packed->chunk_rings);
    if (!packed->chunk_columns || !packed->chunk_rings)
        return false;
    for (size_t chunk = 0; chunk <= p->sell_chunk_count; chunk++)
        packed->chunk_columns[chunk] = p->chunks[chunk].column;
    for (size_t chunk = 0; chunk < p->sell_chunk_count; chunk++)
        packed->chunk_rings[chunk] = p->chunks[chunk].ring;
    free(p->chunks);
    p->chunks = NULL;
    return true;
}

static bool store_columns(struct packing *p, const taut_allocator *allocator,
                          struct plan_packed *packed)
{
    packed->column_count = p->column_count;
    packed->columns = memory_copy(allocator, p->columns, p->column_count, sizeof *packed->columns);
    free(p->columns);
    p->columns = NULL;
    packed->mixed_count = p->mixed_count;
    packed->lane_materials =
        memory_copy(allocator, p->lane_materials, p->mixed_count, sizeof *packed->lane_materials);
    free(p->lane_materials);
    p->lane_materials = NULL;
    packed->overflow_count = p->overflow_count;
    packed->overflow =
        memory_copy(allocator, p->overflow, p->overflow_count, sizeof *packed->overflow);
    packed->alternatives_count = p->alternatives_count;
    packed->alternatives = memory_copy(allocator, p->alternatives, p->alternatives_count,
                                       sizeof *packed->alternatives);
    return packed->columns && packed->alternatives && packed->lane_materials && packed->overflow;
}

static uint32_t tile_nodes_of(const struct plan *plan)
{
    uint32_t nodes = (plan->tile_nodes + PACKED_LANES - 1) / PACKED_LANES * PACKED_LANES;
    return nodes < PACKED_TILE_NODES ? nodes : PACKED_TILE_NODES;
}

// The columns of all bodies on no grid, in tiles; false without memory.
static bool pack_in_tiles(const struct topology *topology, const struct plan *plan,
                          struct packing *packing)
{
    const size_t nodes = (size_t)topology->node_count;
    struct tile_builder *builder = packing->builder;
    builder->seen_by = memory_allocate(NULL, nodes, sizeof *builder->seen_by);
    builder->local_of = memory_allocate(NULL, nodes, sizeof *builder->local_of);
    const bool done = builder->seen_by && builder->local_of && pack_all(topology, plan, packing) &&
                      make_last_tiles(builder);
    memory_release(NULL, builder->seen_by, nodes, sizeof *builder->seen_by);
    memory_release(NULL, builder->local_of, nodes, sizeof *builder->local_of);
    node_springs_free(&packing->springs);
    return done;
}

taut_status packed_make(const struct topology *topology, const struct packed_choice *choice,
                        struct plan *plan, taut_error *error)
{
    struct packing packing = {.topology = topology, .plan = plan, .choice = choice, .error = error};
    struct tile_builder builder = {
        .packing = &packing, .tile_nodes = tile_nodes_of(plan), .kept = choice->kept};
    struct plan_packed *packed = &plan->packed;
    packing.builder = &builder;
    const bool packed_all = pack_in_tiles(topology, plan, &packing);
    if (packed_all && choice->packed)
        choice->packed(choice->context, topology->node_count);
    const bool done = packed_all && store_tiles(&builder, plan->allocator, packed) &&
                      store_slots(&packing, plan->allocator, packed) &&
                      store_ends(&packing, plan->allocator, packed) &&
                      store_chunks(&packing, plan->allocator, packed) &&
                      store_columns(&packing, plan->allocator, packed);
    packing_free(&packing);
    free(builder.tiles);
    free(builder.halo);
    if (packing.status != TAUT_OK)
        return packing.status;
    if (!done)
        return fail_memory(error, "the plan");
    packed_find_damped(topology, packed);
    return TAUT_OK;
}

static bool is_damped(const struct topology *topology, const struct plan_packed *packed,
                      const struct packed_column *column)
{
    if (column->material != PACKED_MIXED)
        return topology->materials[column->material].damping > 0;
    for (int lane = 0; lane < PACKED_LANES; lane++)
        if ((column->lanes >> lane & 1) &&
            topology->materials[packed->lane_materials[column->mixed][lane]].damping > 0)
            return true;
    return false;
}

void packed_find_damped(const struct topology *topology, struct plan_packed *packed)
{
    for (uint64_t t = 0; t < packed->tile_count; t++) {
        struct packed_tile *tile = &packed->tiles[t];
        uint64_t first = packed->chunk_columns[tile->first_chunk];
        uint64_t end = packed->chunk_columns[tile->first_chunk + tile->sell_chunk_count];
        tile->damped = false;
        for (uint64_t c = first; c < end && !tile->damped; c++)
            tile->damped = is_damped(topology, packed, &packed->columns[c]);
    }
}

void packed_release_slot_springs(const taut_allocator *allocator, struct plan_packed *packed)
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
    const struct packed_tile *tile = &packed->tiles[find_interval(
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
