// A mesh while it is being read: vertices and polygons as the file lists them, each corner with its
// place in the file, so that what only shows at the end (a vertex that never comes) can still be
// told where it stands.
#ifndef TAUT_SCENE_MESH_DRAFT_H
#define TAUT_SCENE_MESH_DRAFT_H

#include "scene/mesh/mesh.h"
#include "scene/mesh/mesh_text.h"

// One less than 32 bits hold: the greatest number is kept free for "none".
#define MESH_VERTICES_MAX (UINT32_MAX - 1)

struct corner {
    uint64_t vertex; // counted from 0
    const char *at;  // its place in the text; NULL in a binary file
};

struct mesh_draft {
    double *vertices; // 3 a vertex
    size_t vertex_count, vertex_capacity;
    struct corner *corners; // polygon p has corners [polygon_ends[p - 1], polygon_ends[p])
    size_t corner_count, corner_capacity;
    size_t *polygon_ends;
    size_t polygon_count, polygon_capacity;
    uint64_t first_number; // what the file calls its first vertex: 0, or 1 in OBJ
    uint64_t merged_vertices;
};

// Adds a vertex; false without memory or with too many vertices (which it complains about).
bool draft_vertex(struct mesh_draft *draft, struct mesh_text *text, const double position[3]);

// Adds a corner to the polygon in hand; draft_polygon ends it, draft_abandon forgets it.
bool draft_corner(struct mesh_draft *draft, struct mesh_text *text, uint64_t vertex,
                  const char *at);
bool draft_polygon(struct mesh_draft *draft, struct mesh_text *text);
void draft_abandon(struct mesh_draft *draft);

// Checks all corners, cuts polygons into triangles and leaves out unused vertices. `mesh` must be
// zeroed; on failure, which is in the diagnostics, it may hold arrays for mesh_free.
bool draft_finish(const struct mesh_draft *draft, struct mesh_text *text, struct mesh *mesh);

void draft_free(struct mesh_draft *draft);

#endif
