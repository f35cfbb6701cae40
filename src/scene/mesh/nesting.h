// Which closed shells of a mesh lie within which.
#ifndef TAUT_SCENE_MESH_NESTING_H
#define TAUT_SCENE_MESH_NESTING_H

#include "scene/mesh/mesh.h"

// A closed component that encloses something.
struct mesh_shell {
    uint64_t first, end; // its triangles, in the list given with it
    double volume;       // above 0
    uint64_t depth;      // how many other shells it lies within
};

// Sets `depth` of all shells, whose triangles are `triangles[first]` to `triangles[end - 1]`. A
// shell lies within another one if none of its vertices is outside of that, and at least one is
// inside: shells that cross do not lie within each other. False if memory runs out.
bool mesh_shells_nest(const struct mesh *mesh, const uint32_t *triangles, struct mesh_shell *shells,
                      uint64_t count);

#endif
