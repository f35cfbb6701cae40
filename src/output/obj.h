// The rest mesh of a body as a Wavefront OBJ, which its point cache (pc2.h) moves.
//
// Coordinates are those of the scene. In Blender, import with Forward Y and Up Z and leave the Mesh
// Cache modifier at Forward +Y and Up +Z; then neither rotates the mesh.
//
// Vertex i + 1 is node i. A body with triangles has its faces (f), a body without its springs (l).
// Blender's importer drops vertices that nothing refers to, after which the cache would not fit. So
// for each node without a face, such as those inside a lattice, one of its springs is written (l),
// and a node without springs is a point (p), provided that the body draws anything else.
#ifndef TAUT_OUTPUT_OBJ_H
#define TAUT_OUTPUT_OBJ_H

#include "base/status.h"
#include "state/frame.h"

// The first bytes of every .obj that taut writes.
#define OBJ_HEADER "# taut: rest mesh of body "

// Writes body `number` of the frame to a file, completely or not at all.
taut_status obj_write(const char *path, const struct frame *frame, size_t number,
                      taut_error *error);

#endif
