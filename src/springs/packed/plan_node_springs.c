// The springs of each node (plan_node_springs.h), sorted as the columns of packed springs take
// them.
#include "springs/packed/plan_node_springs.h"

#include <math.h>

#include "base/memory.h"
#include "base/sort.h"

// Counts the ends of springs [first, end) that are listed, or puts them in their positions.
static void pass_some_ends(const struct topology *topology, const struct plan *plan, uint64_t first,
                           uint64_t end, struct node_springs *springs, bool put)
{
    struct spring_run near = {0};
    uint64_t *start = springs->start + 1;
    for (uint64_t i = first; i < end; i++) {
        const struct spring_run spring =
            topology_spring_near(topology, plan_element(&plan->springs, i), &near);
        const uint32_t ends[2] = {spring.a, spring.b};
        for (int side = 0; side < 2; side++) {
            const uint64_t node = ends[side] - springs->first_node; // huge before
            if (node >= springs->node_count)
                continue;
            if (put)
                springs->items[start[node]] =
                    (struct node_spring){spring.material, ends[1 - side], (uint32_t)i};
            start[node]++;
            springs->item_count += !put;
        }
    }
}

static bool spans_are_known(const struct node_springs *springs)
{
    return springs->spans && springs->first_spanned == springs->first_spring &&
           springs->spanned_count == springs->spring_count;
}

// Does this for all springs, except those that are known to have no end here.
static void pass_ends(const struct topology *topology, const struct plan *plan,
                      struct node_springs *springs, bool put)
{
    const uint64_t last = springs->first_spring + springs->spring_count;
    const bool known = spans_are_known(springs);
    for (uint64_t first = springs->first_spring; first < last; first += SPAN_SPRINGS) {
        const struct node_span *span =
            known ? &springs->spans[(first - springs->first_spring) / SPAN_SPRINGS] : NULL;
        if (!span || (span->most >= springs->first_node &&
                      span->least < springs->first_node + springs->node_count))
            pass_some_ends(topology, plan, first, min_u64(first + SPAN_SPRINGS, last), springs,
                           put);
    }
}

static bool comes_after(const struct node_spring *a, const struct node_spring *b)
{
    if (a->material != b->material)
        return a->material > b->material;
    return a->other > b->other;
}

// Shell sort: most nodes have a few springs, but a hub may have a million.
static void sort_node_springs(struct node_spring *items, size_t count)
{
    size_t gap = 1;
    while (gap < count / 3)
        gap = 3 * gap + 1;
    for (; gap > 0; gap /= 3)
        for (size_t i = gap; i < count; i++) {
            struct node_spring moved = items[i];
            size_t j = i;
            for (; j >= gap && comes_after(&items[j - gap], &moved); j -= gap)
                items[j] = items[j - gap];
            items[j] = moved;
        }
}

static void free_lists(struct node_springs *springs)
{
    if (springs->start)
        memory_release(NULL, springs->start, (size_t)springs->node_count + 1,
                       sizeof *springs->start);
    memory_release(NULL, springs->items, (size_t)springs->item_count, sizeof *springs->items);
    springs->start = NULL;
    springs->items = NULL;
    springs->node_count = springs->spring_count = springs->item_count = 0;
}

static size_t span_count(uint64_t springs)
{
    return (size_t)((springs + SPAN_SPRINGS - 1) / SPAN_SPRINGS);
}

static void free_spans(struct node_springs *springs)
{
    memory_release(NULL, springs->spans, span_count(springs->spanned_count),
                   sizeof *springs->spans);
    springs->spans = NULL;
    springs->spanned_count = 0;
}

void node_springs_free(struct node_springs *springs)
{
    free_lists(springs);
    free_spans(springs);
    *springs = (struct node_springs){0};
}

bool node_springs_list(const struct topology *topology, const struct plan *plan,
                       struct node_springs *springs)
{
    springs->start = memory_allocate(NULL, (size_t)springs->node_count + 1, sizeof *springs->start);
    if (!springs->start)
        return false;
    pass_ends(topology, plan, springs, false);
    springs->items = memory_allocate(NULL, (size_t)springs->item_count, sizeof *springs->items);
    if (!springs->items)
        return false;
    counting_sort_starts(springs->start, springs->node_count);
    pass_ends(topology, plan, springs, true);
    for (uint64_t node = 0; node < springs->node_count; node++)
        sort_node_springs(springs->items + springs->start[node],
                          (size_t)(springs->start[node + 1] - springs->start[node]));
    return true;
}

static bool has_nodes(const struct node_springs *springs, uint64_t first, uint64_t end)
{
    return springs->start && first >= springs->first_node &&
           end <= springs->first_node + springs->node_count;
}

// False without memory.
static bool know_spans(const struct topology *topology, const struct plan *plan,
                       struct node_springs *springs)
{
    struct spring_run near = {0};
    if (spans_are_known(springs))
        return true;
    free_spans(springs);
    springs->spans =
        memory_allocate(NULL, span_count(springs->spring_count), sizeof *springs->spans);
    if (!springs->spans)
        return false;
    springs->first_spanned = springs->first_spring;
    springs->spanned_count = springs->spring_count;
    for (uint64_t i = 0; i < springs->spanned_count; i++) {
        const struct spring_run spring = topology_spring_near(
            topology, plan_element(&plan->springs, springs->first_spanned + i), &near);
        struct node_span *span = &springs->spans[i / SPAN_SPRINGS];
        if (i % SPAN_SPRINGS == 0)
            *span = (struct node_span){UINT32_MAX, 0};
        span->least = (uint32_t)min_u64(span->least, min_u64(spring.a, spring.b));
        span->most = (uint32_t)max_u64(span->most, max_u64(spring.a, spring.b));
    }
    return true;
}

enum { AT_ONCE = 1 << 18 };

// How many nodes of a large body are listed at a time: with about AT_ONCE springs, but so many
// that a spring is passed some four times in all at most, however far those of one span reach.
static uint64_t nodes_at_once(const struct topology_body *body, const struct node_springs *springs)
{
    const double parts_spanned = 3;
    const size_t spans = span_count(springs->spanned_count);
    double reach = 0;
    for (size_t i = 0; i < spans; i++)
        reach += (double)springs->spans[i].most - (double)springs->spans[i].least;
    const double part = (double)body->node_count * AT_ONCE / (double)body->spring_count;
    return (uint64_t)fmax(part, reach / (double)spans / parts_spanned) + 1;
}

bool node_springs_find(const struct topology *topology, const struct plan *plan,
                       const struct packed_choice *choice, uint64_t first, uint64_t end,
                       struct node_springs *springs, taut_status *status, taut_error *error)
{
    if (has_nodes(springs, first, end))
        return true;
    free_lists(springs);
    size_t b = topology_body_of_node(topology, first);
    springs->first_node = first;
    springs->first_spring = plan_off_grid_index(plan, topology->bodies[b].first_spring);
    for (uint64_t last = first, of_body = 0;
         b < topology->body_count && !plan_grid_of_body(plan, b) && last >= of_body &&
         (last < end || springs->spring_count < AT_ONCE);
         b++) {
        const struct topology_body *body = &topology->bodies[b];
        if (body->springs_absent && choice->load)
            *status = choice->load(choice->context, b, error);
        if (*status != TAUT_OK)
            return false;
        of_body = body->first_node + body->node_count;
        springs->spring_count += body->spring_count;
        if (body->spring_count > AT_ONCE) {
            if (!know_spans(topology, plan, springs))
                return false;
            const uint64_t part = last + nodes_at_once(body, springs);
            last = min_u64(of_body, max_u64(part, end));
        } else {
            last = of_body;
        }
        springs->node_count = last - first;
    }
    return node_springs_list(topology, plan, springs);
}
