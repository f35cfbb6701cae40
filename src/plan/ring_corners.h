// The corners of a body's triangles, sorted by the node they are at: what rings are made from, and
// checked against.
#ifndef TAUT_PLAN_RING_CORNERS_H
#define TAUT_PLAN_RING_CORNERS_H

#include "topology/topology.h"

// A triangle (node, from, to).
struct ring_corner {
    uint32_t from, to;
};

// Node i of the body has the corners items[starts[i]] .. items[starts[i + 1] - 1], in the order of
// the faces.
struct ring_corners {
    uint64_t node_count, corner_count;
    uint64_t *starts; // node_count + 1
    struct ring_corner *items;
};

// Of a body of triangles. What was allocated is to be freed also after a failure.
taut_status ring_corners_make(const struct topology *topology, const struct topology_body *body,
                              struct ring_corners *corners, taut_error *error);

void ring_corners_free(struct ring_corners *corners);

#endif
