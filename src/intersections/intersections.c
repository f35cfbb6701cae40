// Finds pairs of triangles whose boxes meet, and compares them exactly (triangles.h).
//
// Boxes are sorted along a Morton curve, and a tree of FAN boxes per box lies above them, without
// pointers: box i of a level contains boxes FAN i to FAN i + FAN - 1 of the level below. Every box
// looks for those after it in the order, so that each pair is found once. Boxes have floats:
// rounding keeps the order of numbers, so boxes that meet still do, and no pair is lost.
#include "intersections/intersections.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/sort.h"
#include "intersections/triangles.h"
#include "parallel/team.h"

enum {
    FAN = 8,
    LEVELS_MAX = 12,         // 8^11 is more than 2^32
    BATCH = 256,             // triangles that a worker claims
    THREAD_TRIANGLES = 4096, // triangles for each thread, at least
    DIGIT_BITS = 11,         // of the sort
    CODE_BITS = 21,          // of each axis
};

struct box {
    float low[3], high[3];
};

// The results of one worker.
struct tally {
    struct intersections found;
    size_t body_capacity, pair_capacity;
    bool failed; // out of memory
};

struct search {
    const struct intersection_surface *surface;
    const struct intersection_options *options;
    uint32_t *order; // triangles with an area, along the curve
    uint64_t count;  // of them
    struct box *boxes;
    uint64_t box_count;
    uint64_t first[LEVELS_MAX], end[LEVELS_MAX]; // boxes of each level
    int levels;
    struct tally *tallies; // one per worker
};

const char *intersection_kind_name(enum intersection_kind kind)
{
    static const char *const names[] = {"crossing", "overlapping", "touching"};
    return names[kind];
}

// ---- Boxes

static void corners_of(const struct intersection_surface *surface, uint32_t triangle,
                       const double *corners[3])
{
    for (int i = 0; i < 3; i++)
        corners[i] = surface->positions + 3 * (size_t)surface->triangles[triangle][i];
}

static struct box box_of(const struct intersection_surface *surface, uint32_t triangle)
{
    struct box box;
    const double *corners[3];
    corners_of(surface, triangle, corners);
    for (int axis = 0; axis < 3; axis++) {
        const double a = corners[0][axis], b = corners[1][axis], c = corners[2][axis];
        const double low = a < b ? a : b, high = a > b ? a : b;
        box.low[axis] = (float)(low < c ? low : c);
        box.high[axis] = (float)(high > c ? high : c);
    }
    return box;
}

static bool boxes_meet(const struct box *a, const struct box *b)
{
    return a->low[0] <= b->high[0] && b->low[0] <= a->high[0] && a->low[1] <= b->high[1] &&
           b->low[1] <= a->high[1] && a->low[2] <= b->high[2] && b->low[2] <= a->high[2];
}

// ---- The order along the curve

struct item {
    uint64_t code;
    uint32_t triangle;
};

// The lowest CODE_BITS bits, with two zeros between every two of them.
static uint64_t spread(uint64_t bits)
{
    bits = (bits | bits << 32) & 0x001f00000000ffff;
    bits = (bits | bits << 16) & 0x001f0000ff0000ff;
    bits = (bits | bits << 8) & 0x100f00f00f00f00f;
    bits = (bits | bits << 4) & 0x10c30c30c30c30c3;
    return (bits | bits << 2) & 0x1249249249249249;
}

// The box of all nodes, halved, so that no difference overflows.
struct extent {
    double low[3], scale[3];
};

static struct extent extent_of(const struct intersection_surface *surface)
{
    struct extent extent;
    double low[3] = {DBL_MAX, DBL_MAX, DBL_MAX}, high[3] = {-DBL_MAX, -DBL_MAX, -DBL_MAX};
    for (uint64_t i = 0; i < surface->triangle_count; i++) {
        const double *corner = surface->positions + 3 * (size_t)surface->triangles[i][0];
        for (int axis = 0; axis < 3; axis++) {
            low[axis] = corner[axis] < low[axis] ? corner[axis] : low[axis];
            high[axis] = corner[axis] > high[axis] ? corner[axis] : high[axis];
        }
    }
    // One scale for all axes: cubes of the curve are cubes in space.
    double size = 0;
    for (int axis = 0; axis < 3; axis++)
        size = fmax(size, high[axis] / 2 - low[axis] / 2);
    for (int axis = 0; axis < 3; axis++) {
        extent.low[axis] = low[axis] / 2;
        extent.scale[axis] = size > 0 ? (double)((1 << CODE_BITS) - 1) / size : 0;
    }
    return extent;
}

// Any code is right; only the speed depends on it.
static uint64_t code_of(const struct extent *extent, const double corner[3])
{
    uint64_t code = 0;
    for (int axis = 0; axis < 3; axis++) {
        const double at = (corner[axis] / 2 - extent->low[axis]) * extent->scale[axis];
        const double most = (1 << CODE_BITS) - 1;
        const uint64_t cell = at > 0 ? (uint64_t)(at < most ? at : most) : 0;
        code |= spread(cell) << axis;
    }
    return code;
}

// Sorts by code, digit by digit from the lowest one. Items with the same code stay in order.
static taut_status sort_items(struct item *items, uint64_t count, taut_error *error)
{
    const uint64_t keys = 1 << DIGIT_BITS;
    struct item *from = items, *to = memory_allocate(NULL, count, sizeof *to), *spare = to;
    uint64_t *starts = memory_allocate(NULL, keys + 1, sizeof *starts);
    const bool allocated = to && starts;
    for (int shift = 0; allocated && shift < 3 * CODE_BITS; shift += DIGIT_BITS) {
        memset(starts, 0, (keys + 1) * sizeof *starts);
        for (uint64_t i = 0; i < count; i++)
            starts[(from[i].code >> shift & (keys - 1)) + 1]++;
        counting_sort_starts(starts, keys);
        for (uint64_t i = 0; i < count; i++)
            to[starts[(from[i].code >> shift & (keys - 1)) + 1]++] = from[i];
        struct item *sorted = to;
        to = from;
        from = sorted;
    }
    if (allocated && from != items)
        memcpy(items, from, count * sizeof *items);
    memory_release(NULL, starts, keys + 1, sizeof *starts);
    memory_release(NULL, spare, count, sizeof *spare);
    return allocated ? TAUT_OK : fail_memory(error, "the order of triangles");
}

static taut_status make_order(struct search *search, taut_error *error)
{
    const struct intersection_surface *surface = search->surface;
    const uint64_t all = surface->triangle_count;
    struct item *items = memory_allocate(NULL, all, sizeof *items);
    if (!items)
        return fail_memory(error, "the order of triangles");
    const struct extent extent = extent_of(surface);
    for (uint64_t i = 0; i < all; i++) {
        const double *corners[3];
        corners_of(surface, (uint32_t)i, corners);
        if (!triangle_is_degenerate(corners[0], corners[1], corners[2]))
            items[search->count++] = (struct item){code_of(&extent, corners[0]), (uint32_t)i};
    }
    taut_status status = sort_items(items, search->count, error);
    search->order = memory_allocate(NULL, all, sizeof *search->order);
    if (status == TAUT_OK && !search->order)
        status = fail_memory(error, "the order of triangles");
    for (uint64_t i = 0; status == TAUT_OK && i < search->count; i++)
        search->order[i] = items[i].triangle;
    memory_release(NULL, items, all, sizeof *items);
    return status;
}

// ---- The tree

static taut_status make_tree(struct search *search, taut_error *error)
{
    uint64_t count = search->count;
    for (int level = 0; count > 0 && level < LEVELS_MAX; level++) {
        search->first[level] = search->box_count;
        search->end[level] = search->box_count += count;
        search->levels = level + 1;
        count = count > 1 ? (count + FAN - 1) / FAN : 0;
    }
    search->boxes = memory_allocate(NULL, search->box_count, sizeof *search->boxes);
    if (!search->boxes)
        return fail_memory(error, "the tree of triangles");
    for (uint64_t i = 0; i < search->count; i++)
        search->boxes[i] = box_of(search->surface, search->order[i]);
    for (int level = 1; level < search->levels; level++) {
        const struct box *below = search->boxes + search->first[level - 1];
        const uint64_t below_count = search->end[level - 1] - search->first[level - 1];
        for (uint64_t i = 0; i < below_count; i++) {
            struct box *box = search->boxes + search->first[level] + i / FAN;
            if (i % FAN == 0)
                *box = below[i];
            for (int axis = 0; axis < 3; axis++) {
                box->low[axis] = fminf(box->low[axis], below[i].low[axis]);
                box->high[axis] = fmaxf(box->high[axis], below[i].high[axis]);
            }
        }
    }
    return TAUT_OK;
}

// ---- Tallies

static int compare_pairs(const void *first, const void *second)
{
    const struct intersection_pair *a = first, *b = second;
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    if (a->a != b->a)
        return a->a < b->a ? -1 : 1;
    return a->b < b->b ? -1 : a->b > b->b;
}

// Sorts the pairs and drops all but the first ones.
static void cut_pairs(struct intersections *found, size_t most)
{
    if (found->pair_count > 1)
        qsort(found->pairs, found->pair_count, sizeof *found->pairs, compare_pairs);
    if (found->pair_count > most)
        found->pair_count = most;
}

static bool add_pair(struct tally *tally, const struct intersection_pair *pair, size_t most)
{
    struct intersections *found = &tally->found;
    if (most == 0)
        return true;
    if (found->pair_count >= 1024 && found->pair_count / 2 >= most)
        cut_pairs(found, most);
    if (!array_reserve((void **)&found->pairs, &tally->pair_capacity, found->pair_count + 1,
                       sizeof *found->pairs))
        return false;
    found->pairs[found->pair_count++] = *pair;
    return true;
}

// The counts of two bodies, which are added if they are new; NULL if memory runs out.
static struct intersection_bodies *find_bodies(struct tally *tally, uint32_t a, uint32_t b)
{
    struct intersections *found = &tally->found;
    size_t low = 0, high = found->body_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const struct intersection_bodies *it = &found->bodies[middle];
        if (it->a < a || (it->a == a && it->b < b))
            low = middle + 1;
        else
            high = middle;
    }
    if (low < found->body_count && found->bodies[low].a == a && found->bodies[low].b == b)
        return &found->bodies[low];
    if (!array_reserve((void **)&found->bodies, &tally->body_capacity, found->body_count + 1,
                       sizeof *found->bodies))
        return NULL;
    memmove(&found->bodies[low + 1], &found->bodies[low],
            (found->body_count - low) * sizeof *found->bodies);
    found->body_count++;
    found->bodies[low] = (struct intersection_bodies){.a = a, .b = b};
    return &found->bodies[low];
}

static bool count_pair(struct tally *tally, const struct search *search,
                       const struct intersection_pair *pair)
{
    const uint32_t *bodies = search->surface->bodies;
    const uint32_t a = bodies[pair->a], b = bodies[pair->b];
    struct intersection_bodies *counts = find_bodies(tally, a < b ? a : b, a < b ? b : a);
    if (!counts)
        return false;
    counts->counts[pair->kind]++;
    tally->found.counts[pair->kind]++;
    return add_pair(tally, pair, search->options->pairs_max);
}

// Adds the results of a worker.
static bool merge(struct tally *sum, const struct intersections *part, size_t pairs_max)
{
    sum->found.compared += part->compared;
    for (int kind = 0; kind < INTERSECTION_KINDS; kind++)
        sum->found.counts[kind] += part->counts[kind];
    for (size_t i = 0; i < part->body_count; i++) {
        struct intersection_bodies *counts = find_bodies(sum, part->bodies[i].a, part->bodies[i].b);
        if (!counts)
            return false;
        for (int kind = 0; kind < INTERSECTION_KINDS; kind++)
            counts->counts[kind] += part->bodies[i].counts[kind];
    }
    for (size_t i = 0; i < part->pair_count; i++)
        if (!add_pair(sum, &part->pairs[i], pairs_max))
            return false;
    return true;
}

// ---- The search

static void compare(const struct search *search, uint32_t first, uint32_t second,
                    struct tally *tally)
{
    const double *t[3], *u[3];
    struct intersection_pair pair = {.a = first < second ? first : second,
                                     .b = first < second ? second : first};
    corners_of(search->surface, pair.a, t);
    corners_of(search->surface, pair.b, u);
    tally->found.compared++;
    switch (triangles_relate(t, u)) {
    case TRIANGLES_APART:
        return;
    case TRIANGLES_TOUCHING:
        pair.kind = INTERSECTION_TOUCHING;
        break;
    case TRIANGLES_OVERLAPPING:
        pair.kind = INTERSECTION_OVERLAPPING;
        break;
    case TRIANGLES_CROSSING:
        pair.kind = INTERSECTION_CROSSING;
        break;
    }
    tally->failed |= !count_pair(tally, search, &pair);
}

// Compares a triangle with all after it in the order whose boxes meet its own.
static void search_from(const struct search *search, uint64_t index, struct tally *tally)
{
    struct {
        uint64_t number; // in its level
        int level;
    } stack[LEVELS_MAX * FAN];
    int depth = 0;
    const struct box *own = &search->boxes[index];
    stack[depth].number = 0;
    stack[depth++].level = search->levels - 1;
    while (depth > 0) {
        const uint64_t number = stack[--depth].number;
        const int level = stack[depth].level;
        if (level == 0) { // the only triangle, which is the root
            continue;
        }
        const struct box *children = search->boxes + search->first[level - 1];
        const uint64_t count = search->end[level - 1] - search->first[level - 1];
        const uint64_t end = min_u64(FAN * (number + 1), count);
        uint64_t span = 1; // triangles below each child
        for (int i = 1; i < level; i++)
            span *= FAN;
        for (uint64_t child = FAN * number; child < end; child++) {
            if ((child + 1) * span - 1 <= index || !boxes_meet(own, &children[child]))
                continue;
            if (level == 1) {
                compare(search, search->order[index], search->order[child], tally);
            } else {
                stack[depth].number = child;
                stack[depth++].level = level - 1;
            }
        }
    }
}

static void search_all(void *context, const struct worker *worker)
{
    struct search *search = context;
    struct tally *tally = &search->tallies[worker->index];
    struct range range;
    while (worker_claim(worker, (size_t)search->count, BATCH, &range)) {
        if (tally->failed || (search->options->stop && search->options->stop()))
            continue; // the rest is claimed, and left
        for (size_t i = range.first; i < range.end; i++)
            search_from(search, i, tally);
    }
}

static taut_status run_search(struct search *search, struct intersections *found, taut_error *error)
{
    // Threads take longer to start than to compare so few triangles.
    const uint64_t useful = search->count / THREAD_TRIANGLES + 1;
    const int threads = (int)min_u64((uint64_t)search->options->threads, useful);
    const size_t pairs_max = search->options->pairs_max;
    struct tally sum = {.failed = false};
    search->tallies = calloc((size_t)threads, sizeof *search->tallies);
    if (!search->tallies)
        return fail_memory(error, "the counts of intersections");
    team_run(threads, search_all, search);
    for (int i = 0; i < threads; i++) {
        struct tally *tally = &search->tallies[i];
        cut_pairs(&tally->found, pairs_max);
        sum.failed |= tally->failed || !merge(&sum, &tally->found, pairs_max);
        intersections_free(&tally->found);
    }
    free(search->tallies);
    cut_pairs(&sum.found, pairs_max);
    *found = sum.found;
    if (!sum.failed)
        return TAUT_OK;
    intersections_free(found);
    return fail_memory(error, "the counts of intersections");
}

static taut_status check_surface(const struct intersection_surface *surface, taut_error *error)
{
    if (surface->triangle_count > UINT32_MAX)
        return fail(error, TAUT_ERROR_ARGUMENT, "more than 2^32 - 1 triangles");
    for (uint64_t i = 0; i < 3 * surface->node_count; i++)
        if (!isfinite(surface->positions[i]))
            return fail(error, TAUT_ERROR_ARGUMENT,
                        "the position of node %" PRIu64 " is not finite", i / 3);
    for (uint64_t i = 0; i < surface->triangle_count; i++)
        for (int corner = 0; corner < 3; corner++)
            if (surface->triangles[i][corner] >= surface->node_count)
                return fail(error, TAUT_ERROR_ARGUMENT,
                            "triangle %" PRIu64 " has node %" PRIu32 ", and there are %" PRIu64, i,
                            surface->triangles[i][corner], surface->node_count);
    return TAUT_OK;
}

taut_status intersections_find(const struct intersection_surface *surface,
                               const struct intersection_options *options,
                               struct intersections *found, taut_error *error)
{
    struct search search = {.surface = surface, .options = options};
    *found = (struct intersections){.degenerate = 0};
    taut_status status = check_surface(surface, error);
    if (status == TAUT_OK)
        status = make_order(&search, error);
    if (status == TAUT_OK)
        status = make_tree(&search, error);
    if (status == TAUT_OK)
        status = run_search(&search, found, error);
    found->degenerate = surface->triangle_count - search.count;
    memory_release(NULL, search.boxes, search.box_count, sizeof *search.boxes);
    memory_release(NULL, search.order, surface->triangle_count, sizeof *search.order);
    return status;
}

void intersections_free(struct intersections *found)
{
    free(found->bodies);
    free(found->pairs);
    *found = (struct intersections){.degenerate = 0};
}

double intersections_bytes(double triangles)
{
    // Two lists of items while they are sorted; then the order, boxes, and a seventh of them above.
    const double sorting = 2 * sizeof(struct item), tree = sizeof(struct box) * FAN / (FAN - 1.0);
    return triangles * (sizeof(uint32_t) + fmax(sorting, tree));
}
