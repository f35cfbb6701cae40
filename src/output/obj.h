// The rest mesh of a body as a Wavefront OBJ, the mesh that its point cache (pc2.h) moves.
//
// Coordinates are the scene's own. Blender: import with Forward Y and Up Z, its Mesh Cache modifier
// left at Forward +Y and Up +Z, and nothing is turned on either way.
//
// Vertex i + 1 is node i. A body with triangles has its faces (f), one without has its springs (l).
// Blender's importer leaves out vertices that nothing refers to, and the cache would no longer fit:
// so each node that no face touches, such as those inside a lattice, brings one of its springs with
// it (l), and a node without springs is a point (p) where anything else is drawn.
#ifndef TAUT_OUTPUT_OBJ_H
#define TAUT_OUTPUT_OBJ_H

#include "base/status.h"
#include "state/frame.h"

// How every .obj of ours begins.
#define OBJ_OPENING "# taut: rest mesh of body "

// Writes body `number` of the frame to a file: whole, or not at all.
taut_status obj_write(const char *path, const struct frame *frame, size_t number,
                      taut_error *error);

#endif
