// A moment of all bodies as a VTK XML PolyData file (.vtp), for ParaView: appended raw, UInt64
// headers, little endian. File format: VTK, "VTK File Formats", section "XML file formats".
//
// One piece holds all bodies one after the other, each in builder order. Cells, in VTK's order:
//   verts  the nodes of bodies that have neither springs nor triangles (they would not be seen)
//   lines  the springs, two points each
//   polys  the triangles; a plane body's faces are its springs and are not written again
// Point data: velocity (m/s), force (N), body (its place in the list `body_names`). Cell data:
// strain, body, broken (1: this spring has broken). The strain of a triangle is the mean over the
// unbroken springs that meet at its corners, 0 if there are none, so that a surface can be coloured
// by it; the strain of a vert is 0.
#ifndef TAUT_OUTPUT_VTP_H
#define TAUT_OUTPUT_VTP_H

#include "base/status.h"
#include "output/snapshot.h"

// Writes the file, where there is none yet, whole or not at all; floats in a single run, doubles in
// a double one.
taut_status vtp_write(const char *path, const struct snapshot *now, taut_error *error);

#endif
