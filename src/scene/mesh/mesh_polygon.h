// Cutting a polygon in space into triangles, without new vertices.
#ifndef TAUT_SCENE_MESH_POLYGON_H
#define TAUT_SCENE_MESH_POLYGON_H

#include "base/vec3.h"

#include <stddef.h>
#include <stdint.h>

struct polygon_corner {
    uint32_t vertex;
    vec3 position;
    double u, v; // filled by polygon_cut: its place in the polygon's mean plane
};

enum polygon_result {
    POLYGON_CUT,
    POLYGON_FLAT,     // no area, so no plane and no side
    POLYGON_CROSSED,  // its outline crosses or touches itself
    POLYGON_TOO_LARGE // more than POLYGON_CONCAVE_MAX corners and not convex
};

// Ear clipping takes n^3 steps at worst, so larger polygons must be convex.
enum { POLYGON_CONCAVE_MAX = 1000 };

// Cuts a polygon of 3 or more corners into count - 2 triangles that go round as it does: a fan
// from the first corner where it is strictly convex in its mean plane (Newell's normal), otherwise
// by clipping ears. `corners` is used up.
enum polygon_result polygon_cut(struct polygon_corner *corners, size_t count,
                                uint32_t (*triangles)[3]);

#endif
