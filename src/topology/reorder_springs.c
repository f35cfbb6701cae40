// Listed springs in the order of the nodes that they join.
#include <string.h>

#include "base/memory.h"
#include "topology/reorder.h"

// Springs that step back to a lower node than the one before, as a share of all, from which on
// sorting pays.
static const double BACK_MAX = 1.0 / 16;

static uint32_t lower_end(const struct body *body, uint64_t spring)
{
    const uint32_t *ends = body->springs[spring];
    return ends[0] < ends[1] ? ends[0] : ends[1];
}

static bool are_in_order(const struct body *body)
{
    uint64_t back = 0;
    for (uint64_t s = 1; s < body->spring_count; s++)
        back += lower_end(body, s) < lower_end(body, s - 1);
    return (double)back <= BACK_MAX * (double)body->spring_count;
}

// Counts, and then places, the springs of one kind by their lower ends; those of one node stay in
// the order of the builder.
static void sort_kind(const struct body *body, uint64_t first, uint64_t end, uint64_t *start,
                      uint32_t *order)
{
    memset(start, 0, ((size_t)body->node_count + 1) * sizeof *start);
    for (uint64_t s = first; s < end; s++)
        start[lower_end(body, s) + 1]++;
    for (uint64_t node = 0; node < body->node_count; node++)
        start[node + 1] += start[node];
    for (uint64_t s = first; s < end; s++)
        order[first + start[lower_end(body, s)]++] = (uint32_t)s;
}

bool body_sort_springs(struct body *body)
{
    if (body->spring_count > UINT32_MAX || are_in_order(body))
        return true;
    size_t springs = (size_t)body->spring_count, nodes = (size_t)body->node_count;
    uint32_t *order = memory_allocate(NULL, springs, sizeof *order);
    uint64_t *start = memory_allocate(NULL, nodes + 1, sizeof *start);
    bool done = order && start;
    for (size_t kind = 0; done && kind < SPRING_KINDS_MAX; kind++)
        if (body->kind_start[kind] < body->kind_start[kind + 1])
            sort_kind(body, body->kind_start[kind], body->kind_start[kind + 1], start, order);
    memory_release(NULL, start, nodes + 1, sizeof *start);
    done = done && array_permute((void **)&body->springs, sizeof *body->springs, order, springs) &&
           array_permute((void **)&body->spring_materials, sizeof *body->spring_materials, order,
                         springs) &&
           array_permute((void **)&body->rest_lengths, sizeof *body->rest_lengths, order, springs);
    body->spring_order = order;
    return done;
}
