// Which springs a node has: each spring seen from both of its ends.
#include "plan/packing.h"

#include "base/memory.h"

static void count_halves(const struct topology *topology, const struct plan *plan,
                         struct halves *halves)
{
    struct spring_run near = {0};
    for (uint64_t i = 0; i < plan->springs.element_count; i++) {
        struct spring_run spring =
            topology_spring_near(topology, plan_element(&plan->springs, i), &near);
        halves->start[spring.a + 1]++;
        halves->start[spring.b + 1]++;
    }
    for (uint64_t node = 0; node < halves->node_count; node++)
        halves->start[node + 1] += halves->start[node];
}

// start[node] runs to the end of the node's halves and is put back afterwards.
static void place_halves(const struct topology *topology, const struct plan *plan,
                         struct halves *halves)
{
    struct spring_run near = {0};
    for (uint64_t i = 0; i < plan->springs.element_count; i++) {
        struct spring_run spring =
            topology_spring_near(topology, plan_element(&plan->springs, i), &near);
        uint32_t place = (uint32_t)i;
        halves->items[halves->start[spring.a]++] = (struct half){spring.material, spring.b, place};
        halves->items[halves->start[spring.b]++] = (struct half){spring.material, spring.a, place};
    }
    for (uint64_t node = halves->node_count; node > 0; node--)
        halves->start[node] = halves->start[node - 1];
    halves->start[0] = 0;
}

static bool comes_after(const struct half *a, const struct half *b)
{
    if (a->material != b->material)
        return a->material > b->material;
    return a->other > b->other;
}

// Shell sort: nearly always a few entries, but a hub may have a million.
static void sort_halves(struct half *items, size_t count)
{
    size_t gap = 1;
    while (gap < count / 3)
        gap = 3 * gap + 1;
    for (; gap > 0; gap /= 3)
        for (size_t i = gap; i < count; i++) {
            struct half moved = items[i];
            size_t j = i;
            for (; j >= gap && comes_after(&items[j - gap], &moved); j -= gap)
                items[j] = items[j - gap];
            items[j] = moved;
        }
}

taut_status halves_make(const struct topology *topology, const struct plan *plan,
                        struct halves *halves, taut_error *error)
{
    *halves = (struct halves){.node_count = topology->node_count,
                              .count = 2 * plan->springs.element_count};
    halves->start = memory_allocate(NULL, (size_t)halves->node_count + 1, sizeof *halves->start);
    halves->items = memory_allocate(NULL, (size_t)halves->count, sizeof *halves->items);
    if (!halves->start || !halves->items)
        return fail_memory(error, "the plan");
    count_halves(topology, plan, halves);
    place_halves(topology, plan, halves);
    for (uint64_t node = 0; node < halves->node_count; node++)
        sort_halves(halves->items + halves->start[node],
                    (size_t)(halves->start[node + 1] - halves->start[node]));
    return TAUT_OK;
}

void halves_free(struct halves *halves)
{
    if (halves->start)
        memory_release(NULL, halves->start, (size_t)halves->node_count + 1, sizeof *halves->start);
    memory_release(NULL, halves->items, (size_t)halves->count, sizeof *halves->items);
}
