// Finds candidates for contact (broad_phase.h). Numeric.
#include "contact/broad_phase.h"

#include <assert.h>
#include <string.h>

#include "base/interruption.h"
#include "base/memory.h"
#include "contact/candidates.h"
#include "parallel/quota.h"

// ---- Making

static size_t level_boxes(size_t below)
{
    return (below + BROAD_PHASE_FAN - 1) / BROAD_PHASE_FAN;
}

static bool make_level(const struct broad_phase *broad, struct tree_level *level, size_t count)
{
    level->count = count;
    level->capacity = BROAD_PHASE_FAN * level_boxes(count);
    for (int row = 0; row < 6; row++) {
        level->rows[row] =
            memory_allocate(broad->allocator, level->capacity, sizeof *level->rows[row]);
        if (!level->rows[row])
            return false;
        for (size_t i = count; i < level->capacity; i++)
            level->rows[row][i] = (real)NAN; // which meets nothing, not even infinite boxes
    }
    return true;
}

static bool allocate_all(struct broad_phase *broad)
{
    const size_t blocks = broad->surfaces->block_count;
    broad->list_count = (blocks + PAIR_CHUNK - 1) / PAIR_CHUNK;
    broad->lists = memory_allocate(broad->allocator, broad->list_count, sizeof *broad->lists);
    broad->boxes = memory_allocate(broad->allocator, blocks, sizeof *broad->boxes);
    broad->built_boxes = memory_allocate(broad->allocator, blocks, sizeof *broad->built_boxes);
    bool done = broad->lists && broad->boxes && broad->built_boxes;
    for (size_t count = blocks; done && count > 0;
         count = count > BROAD_PHASE_FAN ? level_boxes(count) : 0)
        done = make_level(broad, &broad->levels[broad->level_count++], count);
    return done;
}

bool REAL_NAME(broad_phase_share)(struct broad_phase *broad)
{
    bool done = true;
    for (int l = 0; l < broad->level_count && done; l++)
        done = make_level(broad, &broad->some[l], broad->levels[l].count);
    return done;
}

taut_status REAL_NAME(broad_phase_make)(const struct surfaces *surfaces,
                                        const struct kernels *kernels,
                                        const taut_allocator *allocator,
                                        struct broad_phase **result, taut_error *error)
{
    *result = NULL;
    struct broad_phase *broad = memory_allocate(allocator, 1, sizeof *broad);
    if (!broad)
        return fail_memory(error, "the broad phase of contact");
    broad->surfaces = surfaces;
    broad->kernels = kernels;
    broad->allocator = allocator;
    atomic_flag_clear(&broad->allocating);
    if (!allocate_all(broad)) {
        REAL_NAME(broad_phase_free)(broad);
        return fail_memory(error, "the broad phase of contact");
    }
    *result = broad;
    return TAUT_OK;
}

void REAL_NAME(broad_phase_free)(struct broad_phase *broad)
{
    if (!broad)
        return;
    const size_t blocks = broad->surfaces->block_count;
    const taut_allocator *allocator = broad->allocator;
    for (size_t l = 0; broad->lists && l < broad->list_count; l++) {
        struct pair_list *list = &broad->lists[l];
        memory_release(allocator, list->pairs, list->pair_capacity, sizeof *list->pairs);
    }
    for (int l = 0; l < broad->level_count; l++)
        for (int row = 0; row < 6; row++) {
            memory_release(allocator, broad->levels[l].rows[row], broad->levels[l].capacity,
                           sizeof(real));
            memory_release(allocator, broad->some[l].rows[row], broad->some[l].capacity,
                           sizeof(real));
        }
    memory_release(allocator, broad->lists, broad->list_count, sizeof *broad->lists);
    memory_release(allocator, broad->boxes, blocks, sizeof *broad->boxes);
    memory_release(allocator, broad->built_boxes, blocks, sizeof *broad->built_boxes);
    memory_release(allocator, broad, 1, sizeof *broad);
}

uint64_t REAL_NAME(broad_phase_bytes)(const struct broad_phase *broad)
{
    uint64_t bytes = sizeof *broad;
    for (size_t l = 0; l < broad->list_count; l++) {
        const struct pair_list *list = &broad->lists[l];
        bytes += sizeof *list + list->pair_capacity * sizeof *list->pairs;
    }
    for (int l = 0; l < broad->level_count; l++)
        bytes += 6 * (broad->levels[l].capacity + broad->some[l].capacity) * sizeof(real);
    return bytes +
           broad->surfaces->block_count * (sizeof *broad->boxes + sizeof *broad->built_boxes);
}

// ---- Boxes

static struct range block_share(const struct broad_phase *broad, const struct worker *worker)
{
    return worker_share(worker, broad->surfaces->block_count, PAIR_CHUNK);
}

static void copy_positions(const real *x, const real *low, const uint32_t *nodes, int count,
                           real *to)
{
    assert(count > 0);
    if (low)
        for (int i = 0; i < count; i++)
            to[i] = x[nodes[i]] + low[nodes[i]];
    else
        for (int i = 0; i < count; i++)
            to[i] = x[nodes[i]];
    for (int i = count; i < SURFACE_NODES; i++)
        to[i] = to[0];
}

void REAL_NAME(broad_phase_refit)(struct broad_phase *broad, const struct state *state,
                                  block_reals *positions, const struct worker *worker)
{
    const struct surfaces *surfaces = broad->surfaces;
    const real *const x[3] = {state->x, state->y, state->z};
    const real *const low[3] = {state->x_low, state->y_low, state->z_low};
    const struct range share = block_share(broad, worker);
    for (size_t b = share.first; b < share.end; b++) {
        const struct surface_block *block = &surfaces->blocks[b];
        block_reals unkept;
        real(*const to)[SURFACE_NODES] = positions ? positions[b] : unkept;
        for (int axis = 0; axis < 3; axis++)
            copy_positions(x[axis], low[axis], surfaces->nodes + block->first_node, block->nodes,
                           to[axis]);
        broad->kernels->surface_box((const real(*)[SURFACE_NODES])to, broad->boxes[b]);
    }
    worker_barrier(worker);
}

static real least_of(real a, real b)
{
    return a < b ? a : b;
}

static real most_of(real a, real b)
{
    return a > b ? a : b;
}

// The largest absolute coordinate.
static double box_size(const real box[6])
{
    real size = 0;
    for (int i = 0; i < 6; i++)
        size = most_of(size, real_abs(box[i]));
    return (double)size;
}

// Level 0 of the tree for a share of the blocks.
static void set_leaves(struct broad_phase *broad, const struct broad_phase_rules *rules,
                       struct range share)
{
    const double epsilon = (double)REAL_EPSILON;
    for (size_t b = share.first; b < share.end; b++) {
        const double radius = rules->radius[broad->surfaces->blocks[b].body];
        const real *box = broad->boxes[b];
        const double grow = radius * (1 + 8 * epsilon) + 4 * epsilon * box_size(box);
        for (int row = 0; row < 6; row++) {
            const double at = row < 3 ? (double)box[row] - grow : (double)box[row] + grow;
            broad->levels[0].rows[row][b] = (real)at;
            if (rules->blocks) // a box that contains nothing, and adds nothing to those above
                broad->some[0].rows[row][b] = rules->blocks[b] ? (real)at
                                              : row < 3        ? (real)INFINITY
                                                               : (real)-INFINITY;
        }
    }
}

static void set_levels_above(struct tree_level *levels, int level_count)
{
    for (int l = 1; l < level_count; l++)
        for (int row = 0; row < 6; row++) {
            const real *below = levels[l - 1].rows[row];
            real *to = levels[l].rows[row];
            for (size_t i = 0; i < levels[l].count; i++, below += BROAD_PHASE_FAN) {
                real end = below[0];
                for (int child = 1; child < BROAD_PHASE_FAN; child++)
                    end = row < 3 ? least_of(below[child], end) : most_of(below[child], end);
                to[i] = end;
            }
        }
}

static void set_built_boxes(struct broad_phase *broad, const double (*built)[3], struct range share)
{
    for (size_t b = share.first; b < share.end; b++) {
        const struct surface_block *block = &broad->surfaces->blocks[b];
        const uint32_t *nodes = broad->surfaces->nodes + block->first_node;
        for (int axis = 0; axis < 3; axis++) {
            double least = built[nodes[0]][axis], most = least;
            for (int i = 1; i < block->nodes; i++) {
                least = fmin(least, built[nodes[i]][axis]);
                most = fmax(most, built[nodes[i]][axis]);
            }
            broad->built_boxes[b][axis] = least;
            broad->built_boxes[b][axis + 3] = most;
        }
    }
}

// ---- Lists

// Space for `needed` elements, and for those `expected`; false if memory runs out.
static bool grow(struct broad_phase *broad, void **array, size_t *capacity, size_t used,
                 size_t needed, size_t expected, size_t size)
{
    if (needed <= *capacity)
        return true;
    const size_t wanted = (needed > expected ? needed : expected) + needed / 2;
    if (!memory_may_grow((double)wanted * (double)size))
        return false;
    while (atomic_flag_test_and_set_explicit(&broad->allocating, memory_order_acquire))
        ;
    void *larger = memory_allocate(broad->allocator, wanted, size);
    if (larger) {
        if (used > 0)
            memcpy(larger, *array, used * size);
        memory_release(broad->allocator, *array, *capacity, size);
        *array = larger;
        *capacity = wanted;
    }
    atomic_flag_clear_explicit(&broad->allocating, memory_order_release);
    return larger != NULL;
}

// m, of two boxes.
static double box_distance(const real a[6], const real b[6])
{
    double square = 0;
    for (int axis = 0; axis < 3; axis++) {
        const double first = (double)a[axis] - (double)b[axis + 3],
                     second = (double)b[axis] - (double)a[axis + 3];
        const double gap = first > second ? first : second;
        square += gap > 0 ? gap * gap : 0;
    }
    return sqrt(square);
}

static bool add_pair(struct broad_phase *broad, struct pair_list *list, size_t a, size_t b)
{
    if (!grow(broad, (void **)&list->pairs, &list->pair_capacity, list->pair_count,
              list->pair_count + 1, list->expected, sizeof *list->pairs))
        return false;
    const double least = a == b ? 0 : box_distance(broad->boxes[a], broad->boxes[b]);
    list->pairs[list->pair_count++] =
        (struct block_pair){(uint32_t)a, (uint32_t)b, (float)(least * (1 - 1e-6))};
    return true;
}

// Which blocks those of a list are tested with: those in a tree, of which `blocks` has the value
// `wanted`; NULL: all.
struct partners {
    const struct tree_level *levels;
    const bool *blocks;
    bool wanted;
};

// Finds the pairs of block a with itself and later ones, in their order.
static bool find_pairs(struct broad_phase *broad, const struct broad_phase_rules *rules,
                       const struct partners *with, struct pair_list *list, size_t a)
{
    struct {
        size_t first; // of the boxes to test
        int level;
    } stack[BROAD_PHASE_LEVELS * BROAD_PHASE_FAN];
    const struct surface_block *blocks = broad->surfaces->blocks;
    const bool *enabled = rules->enabled + blocks[a].body * rules->bodies;
    int depth = 0;
    real box[6];
    for (int row = 0; row < 6; row++)
        box[row] = broad->levels[0].rows[row][a];
    stack[depth].first = 0;
    stack[depth++].level = broad->level_count - 1;
    while (depth > 0) {
        const int level = stack[--depth].level;
        const size_t first = stack[depth].first;
        const real *rows[6];
        for (int row = 0; row < 6; row++)
            rows[row] = with->levels[level].rows[row] + first;
        uint64_t bits = broad->kernels->boxes_meeting(rows, BROAD_PHASE_FAN, box);
        if (level == 0) {
            for (; bits; bits &= bits - 1) {
                const size_t b = first + (size_t)lowest_bit(bits);
                if (b >= a && enabled[blocks[b].body] &&
                    (!with->blocks || with->blocks[b] == with->wanted) &&
                    !add_pair(broad, list, a, b))
                    return false;
            }
            continue;
        }
        // The last one first, so that the first one is taken next.
        for (int child = BROAD_PHASE_FAN - 1; child >= 0; child--) {
            const size_t number = first + (size_t)child;
            if (!(bits >> child & 1) || (uint64_t)(number + 1) << (4 * level) <= a)
                continue;
            stack[depth].first = number * BROAD_PHASE_FAN;
            stack[depth++].level = level - 1;
        }
    }
    return true;
}

// Which pairs of a list are found: all, those that the rules want, or those that they leave out.
enum list_part { LIST_ALL, LIST_WANTED, LIST_REST };

static bool find_list(struct broad_phase *broad, const struct broad_phase_rules *rules,
                      enum list_part part, size_t index)
{
    const struct partners all = {broad->levels, NULL, false};
    const struct partners some = {.levels = part == LIST_WANTED ? broad->some : broad->levels,
                                  .blocks = rules->blocks,
                                  .wanted = part == LIST_WANTED};
    struct pair_list *list = &broad->lists[index];
    const size_t blocks = broad->surfaces->block_count;
    const size_t next = (index + 1) * PAIR_CHUNK, end = next < blocks ? next : blocks;
    bool done = true;
    list->pair_count = 0;
    for (size_t a = index * PAIR_CHUNK; a < end && done; a++) {
        const bool is_wanted = part != LIST_ALL && rules->blocks[a];
        if (part == LIST_ALL || (part == LIST_WANTED && is_wanted))
            done = find_pairs(broad, rules, &all, list, a);
        else if (!is_wanted)
            done = find_pairs(broad, rules, &some, list, a);
        done = done && !interruption_is_due();
    }
    list->failed = !done;
    return done;
}

bool REAL_NAME(broad_phase_find_rest)(struct broad_phase *broad,
                                      const struct broad_phase_rules *rules, size_t list)
{
    return find_list(broad, rules, LIST_REST, list);
}

bool REAL_NAME(broad_phase_find)(struct broad_phase *broad, const struct broad_phase_rules *rules,
                                 const struct worker *worker)
{
    const size_t blocks = broad->surfaces->block_count;
    if (blocks == 0)
        return true;
    const struct range share = block_share(broad, worker);
    set_leaves(broad, rules, share);
    if (rules->built && rules->built != broad->built_boxes_of)
        set_built_boxes(broad, rules->built, share);
    worker_barrier(worker);
    if (worker->index == 0) {
        set_levels_above(broad->levels, broad->level_count);
        if (rules->blocks)
            set_levels_above(broad->some, broad->level_count);
        if (rules->built)
            broad->built_boxes_of = rules->built;
    }
    worker_barrier(worker);

    struct range range;
    while (worker_claim(worker, broad->list_count, 1, &range))
        for (size_t l = range.first; l < range.end; l++)
            (void)find_list(broad, rules, !rules->lists || rules->lists[l] ? LIST_ALL : LIST_WANTED,
                            l);
    worker_barrier(worker);
    bool found = true;
    for (size_t l = 0; l < broad->list_count; l++)
        found &= !broad->lists[l].failed;
    return found;
}

void REAL_NAME(broad_phase_forget)(struct broad_phase *broad, size_t list)
{
    struct pair_list *it = &broad->lists[list];
    while (atomic_flag_test_and_set_explicit(&broad->allocating, memory_order_acquire))
        ;
    memory_release(broad->allocator, it->pairs, it->pair_capacity, sizeof *it->pairs);
    atomic_flag_clear_explicit(&broad->allocating, memory_order_release);
    it->expected = it->pair_count + it->pair_count / 8;
    it->pairs = NULL;
    it->pair_count = it->pair_capacity = 0;
}

// ---- The candidates of a pair

static unsigned table_slot(const struct node_table *table, uint32_t node)
{
    unsigned slot = node * UINT32_C(0x9E3779B1) >> (32 - NODE_TABLE_BITS);
    while (table->nodes[slot] != UINT32_MAX && table->nodes[slot] != node)
        slot = (slot + 1) % NODE_TABLE_SIZE;
    return slot;
}

static void table_fill(struct node_table *table, const uint32_t *nodes, int count)
{
    memset(table->nodes, 0xff, sizeof table->nodes);
    for (int i = 0; i < count; i++) {
        const unsigned slot = table_slot(table, nodes[i]);
        table->nodes[slot] = nodes[i];
        table->numbers[slot] = (uint8_t)i;
    }
}

static void set_block(struct pair_finder *finder, int which, size_t number, const block_reals x)
{
    const struct surface_block *block = &finder->broad->surfaces->blocks[number];
    const struct kernels *kernels = finder->broad->kernels;
    finder->number[which] = number;
    kernels->surface_box(x, finder->block_boxes[which]);
    finder->blocks[which] = (struct candidate_block){
        .x = x,
        .corners = corners_of(finder->broad->surfaces, block),
        .own_nodes = block->own_nodes,
        .edges = block->edges,
        .triangles = block->triangles,
        .box = finder->block_boxes[which],
    };
    kernels->candidate_boxes(&finder->blocks[which], &finder->boxes[which]);
}

// Copies built positions relative to the first node of block a.
static void set_built(struct pair_finder *finder, int which)
{
    const struct surfaces *surfaces = finder->broad->surfaces;
    const struct surface_block *block = &surfaces->blocks[finder->number[which]];
    const uint32_t *nodes = surfaces->nodes + block->first_node;
    const double *from =
        finder->rules->built[surfaces->nodes[surfaces->blocks[finder->number[0]].first_node]];
    for (int axis = 0; axis < 3; axis++)
        for (int i = 0; i < block->nodes; i++)
            finder->built[which][axis][i] =
                (real)(finder->rules->built[nodes[i]][axis] - from[axis]);
}

static bool boxes_meet(const real a[6], const real b[6])
{
    bool meets = true;
    for (int axis = 0; axis < 3; axis++)
        meets &= a[axis] <= b[axis + 3] && b[axis] <= a[axis + 3];
    return meets;
}

// Finds the nodes that blocks a and b have in common, which are in both boxes.
static void find_common(struct pair_finder *finder, struct candidate_pair *pair)
{
    const struct surfaces *surfaces = finder->broad->surfaces;
    const struct surface_block *a = &surfaces->blocks[finder->number[0]];
    const struct surface_block *b = &surfaces->blocks[finder->number[1]];
    if (a->body != b->body || !boxes_meet(pair->a->box, pair->b->box))
        return;
    if (!finder->has_table)
        table_fill(&finder->table, surfaces->nodes + a->first_node, a->nodes);
    finder->has_table = true;
    const uint32_t *nodes = surfaces->nodes + b->first_node;
    for (int i = 0; i < b->nodes; i++) {
        const unsigned slot = table_slot(&finder->table, nodes[i]);
        if (finder->table.nodes[slot] == nodes[i]) {
            pair->common_a[pair->common_count] = finder->table.numbers[slot];
            pair->common_b[pair->common_count++] = (uint8_t)i;
        }
    }
}

// Pairs at exactly this distance in a regular shape, but for rounding, are left out with the nearer
// ones.
#define APART_MARGIN 1e-5

// Whether parts of blocks a and b may be too near as built.
static bool is_near_as_built(const struct pair_finder *finder, double apart)
{
    const double *a = finder->broad->built_boxes[finder->number[0]];
    const double *b = finder->broad->built_boxes[finder->number[1]];
    double square = 0;
    for (int axis = 0; axis < 3; axis++) {
        const double gap = fmax(fmax(a[axis] - b[axis + 3], b[axis] - a[axis + 3]), 0);
        square += gap * gap;
    }
    return square <= 1.001 * apart * apart;
}

// The reach and the squares of distances up to which pairs are listed (candidates_body.h).
static void pair_thresholds(const struct pair_finder *finder, double reach,
                            struct candidate_pair *pair)
{
#if TAUT_REAL_BITS == 32
    const double point_margin = 8 * 2.43e-5; // 8 REAL_EPSILON^(2/3)
#else
    const double point_margin = 8 * 3.68e-11;
#endif
    const double epsilon = (double)REAL_EPSILON;
    const double longest =
        (double)most_of(finder->boxes[0].longest, finder->boxes[pair->a != pair->b].longest);
    const double all = longest + 3 * reach;
    const double size = fmax(box_size(pair->a->box), box_size(pair->b->box));
    // Rounding of positions (precision mixed), of boxes, and of the distances.
    const double grown = reach * (1 + 8 * epsilon) + epsilon * (16 * all + 4 * size);
    pair->reach = (real)grown;
    pair->point_square = (real)(grown * grown + point_margin * all * all);
    pair->edge_square = (real)(grown * grown + 0.5 * (double)PARALLEL_SQUARE * all * all);
}

// m; `square` is greater than that of the distance by what `limit` is beyond that of the reach, at
// most.
static double least_distance(real square, real limit, double reach)
{
    return sqrt(fmax(0, (double)square - ((double)limit - reach * reach)));
}

void REAL_NAME(pair_finder_begin)(struct pair_finder *finder, struct broad_phase *broad,
                                  const struct broad_phase_rules *rules)
{
    finder->broad = broad;
    finder->rules = rules;
    finder->number[0] = SIZE_MAX;
}

double REAL_NAME(pair_finder_find)(struct pair_finder *finder, const struct block_pair *pair,
                                   const block_reals x_a, const block_reals x_b, double reach)
{
    const struct broad_phase_rules *rules = finder->rules;
    const struct surface_block *blocks = finder->broad->surfaces->blocks;
    const size_t body = blocks[pair->a].body;
    const int second = pair->a != pair->b;
    if (finder->number[0] != pair->a) {
        set_block(finder, 0, pair->a, x_a);
        finder->has_table = finder->has_built = false;
    }
    if (second)
        set_block(finder, 1, pair->b, x_b);
    else
        finder->number[1] = pair->a;
    struct candidate_pair search = {.a = &finder->blocks[0],
                                    .b = &finder->blocks[second],
                                    .boxes_a = &finder->boxes[0],
                                    .boxes_b = &finder->boxes[second]};
    pair_thresholds(finder, reach, &search);
    find_common(finder, &search);
    const double apart = rules->built && body == blocks[pair->b].body ? rules->apart[body] : 0;
    if (apart > 0 && is_near_as_built(finder, apart)) {
        if (!finder->has_built)
            set_built(finder, 0);
        finder->has_built = true;
        if (second)
            set_built(finder, 1);
        search.built_a = (const real(*)[SURFACE_NODES])finder->built[0];
        search.built_b = (const real(*)[SURFACE_NODES])finder->built[second];
        search.apart_square = (real)(apart * apart * (1 + 2 * APART_MARGIN));
    }
    struct candidate_codes *found = &finder->found;
    finder->broad->kernels->candidates(&search, found);
    return fmin(least_distance(found->point_least, search.point_square, reach),
                least_distance(found->edge_least, search.edge_square, reach));
}
