// Implements membranes.h.
#include "topology/membranes.h"

#include "base/memory.h"
#include "base/sort.h"

static size_t bytes_of(const struct topology *topology, uint64_t nodes)
{
    return (size_t)nodes * sizeof *topology->membrane_nodes;
}

uint64_t membrane_index(const struct topology *topology, uint64_t node)
{
    uint64_t index = 0;
    for (size_t b = 0; b < topology->body_count && topology->bodies[b].first_node < node; b++) {
        const struct topology_body *body = &topology->bodies[b];
        if (elements_are_membrane(&body->elements))
            index = body->first_membrane_node + min_u64(node - body->first_node, body->node_count);
    }
    return index;
}

void membranes_forget(struct topology *topology, uint64_t first, uint64_t end)
{
    const size_t bytes = bytes_of(topology, topology->membrane_node_count);
    const uint64_t kept = membrane_index(topology, first);
    const uint64_t kept_end = max_u64(kept, membrane_index(topology, end));
    memory_forget(topology->allocator, topology->membrane_nodes, bytes, 0,
                  bytes_of(topology, kept));
    memory_forget(topology->allocator, topology->membrane_nodes, bytes,
                  bytes_of(topology, kept_end), bytes);
}

void membranes_recall(struct topology *topology)
{
    const size_t bytes = bytes_of(topology, topology->membrane_node_count);
    memory_recall(topology->allocator, topology->membrane_nodes, bytes, 0, bytes);
}
