// Triangle meshes from files: 3D Studio ASCII (.asc), Wavefront OBJ, PLY (ASCII and binary), STL
// (ASCII and binary). Strict: what is not understood is an error at FILE:LINE, never a guess.
#ifndef TAUT_SCENE_MESH_H
#define TAUT_SCENE_MESH_H

#include "base/diagnostics.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mesh {
    uint64_t vertex_count;
    double *vertices; // 3 a vertex
    uint64_t triangle_count;
    uint32_t *triangles;      // 3 vertex numbers each
    uint64_t unused_vertices; // left out of `vertices`
    uint64_t merged_vertices; // duplicates of an STL file, merged
};

// Reads by the file name's ending. Polygons are triangulated, vertices that no face uses are left
// out and counted, equal STL vertices are one. False with the reason in `diagnostics`.
bool mesh_read(const char *path, struct mesh *mesh, struct diagnostics *diagnostics);

struct mesh_report {
    uint64_t open_edges;            // edges with one face
    uint64_t non_manifold_edges;    // edges with three or more
    uint64_t non_manifold_vertices; // whose faces are not one fan
    uint64_t flipped_triangles;     // turned so that neighbours agree and normals point outward
    bool orientable;
    bool closed;         // no open edge, manifold, orientable, volume > 0 once oriented
    uint64_t components; // parts joined by edges with two faces
};

// Inspects the surface and fixes its orientation in place: neighbours agree and, where a component
// is closed, its normals point outward (a cavity is a component like any other). False without
// memory.
bool mesh_inspect_and_orient(struct mesh *mesh, struct mesh_report *report);

void mesh_free(struct mesh *mesh);

#endif
