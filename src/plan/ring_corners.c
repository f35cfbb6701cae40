#include "plan/ring_corners.h"

#include "base/memory.h"

taut_status ring_corners_make(const struct topology *topology, const struct topology_body *body,
                              struct ring_corners *corners, taut_error *error)
{
    *corners =
        (struct ring_corners){.node_count = body->node_count, .corner_count = 3 * body->face_count};
    size_t starts = (size_t)body->node_count + 1;
    corners->starts = memory_allocate(NULL, starts, sizeof *corners->starts);
    corners->items = memory_allocate(NULL, (size_t)corners->corner_count, sizeof *corners->items);
    if (!corners->starts || !corners->items)
        return fail_memory(error, "the plan");
    const uint32_t *nodes = &topology->faces[body->first_listed_face][0];
    for (uint64_t i = 0; i < corners->corner_count; i++)
        corners->starts[nodes[i] - body->first_node + 1]++;
    for (uint64_t i = 0; i < body->node_count; i++)
        corners->starts[i + 1] += corners->starts[i];
    for (uint64_t face = 0; face < body->face_count; face++)
        for (int corner = 0; corner < 3; corner++) {
            const uint32_t *of_face = &nodes[3 * face];
            uint64_t place = corners->starts[of_face[corner] - body->first_node]++;
            corners->items[place] =
                (struct ring_corner){of_face[(corner + 1) % 3], of_face[(corner + 2) % 3]};
        }
    for (uint64_t i = body->node_count; i > 0; i--)
        corners->starts[i] = corners->starts[i - 1];
    corners->starts[0] = 0;
    return TAUT_OK;
}

void ring_corners_free(struct ring_corners *corners)
{
    memory_release(NULL, corners->starts, (size_t)corners->node_count + 1, sizeof *corners->starts);
    memory_release(NULL, corners->items, (size_t)corners->corner_count, sizeof *corners->items);
}
