// Triangle meshes from files: 3D Studio ASCII (.asc), Wavefront OBJ, PLY (ASCII and binary), STL
// (ASCII and binary). Reading is strict: anything not understood is an error at FILE:LINE.
#ifndef TAUT_SCENE_MESH_H
#define TAUT_SCENE_MESH_H

#include "base/diagnostics.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The half-edges of a mesh are numbered by 32 bits.
#define MESH_TRIANGLES_MAX (UINT32_MAX / 3)

struct mesh {
    uint64_t vertex_count;
    double *vertices; // 3 coordinates per vertex
    uint64_t triangle_count;
    uint32_t *triangles;      // 3 vertex numbers each
    uint64_t unused_vertices; // not in `vertices`
    uint64_t merged_vertices; // duplicates in an STL file, merged
};

// Whether the name of a file ends as one of the formats that can be read.
bool mesh_has_known_ending(const char *path);

// Reads a file in the format of its suffix. Polygons are triangulated, vertices without a face are
// dropped and counted, and equal STL vertices are merged. False with the reason in `diagnostics`.
bool mesh_read(const char *path, struct mesh *mesh, struct diagnostics *diagnostics);

struct mesh_report {
    uint64_t open_edges;            // edges with one face
    uint64_t non_manifold_edges;    // edges with three or more
    uint64_t non_manifold_vertices; // vertices whose faces do not form a single fan
    uint64_t repeated_triangles;    // with the same vertices as another one, which counts once
    uint64_t repeated_first[2];     // the first of these, after the one that it repeats
    uint64_t flipped_triangles;     // reversed so that neighbours agree and normals point outward
    bool orientable;
    bool closed;         // no open edges, manifold, orientable, volume > 0 once oriented
    uint64_t components; // parts connected by edges with two faces
    uint64_t cavities;   // closed components within an odd number of others
};

// Inspects the surface and fixes its orientation in place: neighbours agree and, in a closed
// component, normals point outward; those of one that lies within an odd number of others point
// into the cavity that it encloses. False if memory runs out.
bool mesh_inspect_and_orient(struct mesh *mesh, struct mesh_report *report);

void mesh_free(struct mesh *mesh);

#endif
