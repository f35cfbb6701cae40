// The springs of each node (plan_node_springs.h), sorted as the columns of packed springs take
// them.
#include "springs/packed/plan_node_springs.h"

#include "base/memory.h"
#include "base/sort.h"

// Adds one to the count of each end that is listed, or puts it there.
static void pass_ends(const struct topology *topology, const struct plan *plan,
                      struct node_springs *springs, bool put)
{
    struct spring_run near = {0};
    uint64_t *start = springs->start + 1;
    const uint64_t end = springs->first_spring + springs->spring_count;
    for (uint64_t i = springs->first_spring; i < end; i++) {
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

void node_springs_free(struct node_springs *springs)
{
    if (springs->start)
        memory_release(NULL, springs->start, (size_t)springs->node_count + 1,
                       sizeof *springs->start);
    memory_release(NULL, springs->items, (size_t)springs->item_count, sizeof *springs->items);
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

bool node_springs_find(const struct topology *topology, const struct plan *plan,
                       const struct packed_choice *choice, uint64_t first, uint64_t end,
                       struct node_springs *springs, taut_status *status, taut_error *error)
{
    // Fewer where lists are loaded, which take as much again. Of a large body a rank lists a part
    // of the nodes at a time; all its springs are passed for each, so that these are few.
    const bool is_part = choice->kept && choice->kept->count < topology->node_count;
    const uint64_t at_once = choice->load ? 1 << 17 : 1 << 20, parts = is_part ? 4 : 1;
    if (has_nodes(springs, first, end))
        return true;
    node_springs_free(springs);
    size_t b = topology_body_of_node(topology, first);
    springs->first_node = first;
    springs->first_spring = plan_off_grid_index(plan, topology->bodies[b].first_spring);
    for (uint64_t last = first, of_body = 0;
         b < topology->body_count && !plan_grid_of_body(plan, b) && last >= of_body &&
         (last < end || springs->spring_count < at_once);
         b++) {
        const struct topology_body *body = &topology->bodies[b];
        if (body->springs_absent && choice->load)
            *status = choice->load(choice->context, b, error);
        if (*status != TAUT_OK)
            return false;
        of_body = body->first_node + body->node_count;
        const uint64_t part = last + body->node_count / parts + 1;
        last = body->spring_count > at_once ? min_u64(of_body, max_u64(part, end)) : of_body;
        springs->node_count = last - first;
        springs->spring_count += body->spring_count;
    }
    return node_springs_list(topology, plan, springs);
}
