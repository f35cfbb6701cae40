#include <string.h>

#include "base/memory.h"
#include "topology/reorder.h"

static uint64_t degree_of(const struct neighbours *n, uint32_t node)
{
    return n->start[node + 1] - n->start[node];
}

// Visits what can be reached from `first`, level by level, after what is visited already; order has
// the nodes from `placed` on. Returns how many they are then; *last_level is where the last level
// begins.
static uint64_t visit(const struct neighbours *n, uint32_t first, uint64_t placed, uint8_t *seen,
                      uint32_t *order, uint64_t *last_level)
{
    uint64_t next = placed, level_end = placed + 1;
    *last_level = placed;
    order[placed++] = first;
    seen[first] = 1;
    while (next < placed) {
        if (next == level_end) {
            *last_level = next;
            level_end = placed;
        }
        uint32_t node = order[next++];
        for (uint64_t i = n->start[node]; i < n->start[node + 1]; i++) {
            uint32_t neighbour = n->items[i];
            if (!seen[neighbour]) {
                seen[neighbour] = 1;
                order[placed++] = neighbour;
            }
        }
    }
    return placed;
}

// A node at the rim of what can be reached from `first`: of the fewest neighbours in the last
// level, looked for twice (George and Liu 1979).
static uint32_t find_rim(const struct neighbours *n, uint32_t first, uint64_t placed, uint8_t *seen,
                         uint32_t *order)
{
    for (int round = 0; round < 2; round++) {
        uint64_t last_level, end = visit(n, first, placed, seen, order, &last_level);
        first = order[last_level];
        for (uint64_t i = last_level; i < end; i++)
            if (degree_of(n, order[i]) < degree_of(n, first))
                first = order[i];
        for (uint64_t i = placed; i < end; i++)
            seen[order[i]] = 0;
    }
    return first;
}

bool graph_order(const struct neighbours *n, uint64_t node_count, uint32_t *order)
{
    uint8_t *seen = memory_allocate(NULL, (size_t)node_count, 1);
    if (!seen)
        return false;
    uint64_t placed = 0, last_level;
    for (uint32_t node = 0; node < node_count; node++)
        if (!seen[node])
            placed =
                visit(n, find_rim(n, node, placed, seen, order), placed, seen, order, &last_level);
    memory_release(NULL, seen, (size_t)node_count, 1);
    for (uint64_t i = 0; i < node_count / 2; i++) {
        uint32_t held = order[i];
        order[i] = order[node_count - 1 - i];
        order[node_count - 1 - i] = held;
    }
    return true;
}
