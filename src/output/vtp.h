// A frame of all bodies as a VTK XML PolyData file (.vtp), for ParaView: appended data in blocks
// that zlib has compressed (vtkZLibDataCompressor), UInt64 headers, little endian. File format:
// VTK, "VTK File Formats", section "XML file formats"; of compressed data, vtkXMLDataParser.
//
// One piece holds all bodies one after the other, each in builder order. Cells, in VTK's order:
//   verts  the nodes of bodies of which nothing else would be seen
//   lines  springs, two points each: of bodies that have no triangles, of those whose springs break
//          or yield, or of all where that is asked for
//   polys  the triangles; a plane body's faces are its springs and are not written again
// Point data: velocity (m/s), strain (the mean over the unbroken springs that meet at the node, 0
// if there are none), body (its index in the list `body_names`), force (N) where it is asked for,
// and, where there are cloths, TextureCoordinates: 0 to 1 along the edges u and v. Cell data: body,
// and, where there are lines, strain and broken (1: this spring has broken). The strain of a
// triangle is the mean over the springs at its corners, that of a vert is 0. `body_springs` says
// of each body whether its springs are there.
#ifndef TAUT_OUTPUT_VTP_H
#define TAUT_OUTPUT_VTP_H

#include "base/status.h"
#include "state/frame.h"
#include "parallel/team.h"

enum {
    VTP_BLOCK_BYTES = 128 * 1024, // of values before they are compressed, at most
};

struct vtp_options {
    bool springs; // of all bodies
    bool forces;
    // Runs a function on several threads; NULL: on this one alone.
    void (*work)(void *owner, team_function function, void *context);
    void *owner;
};

// Writes frame after frame of the same bodies; what never changes is compressed once.
struct vtp_writer;

// `options` NULL: neither all springs nor forces, on one thread.
taut_status vtp_writer_make(const struct vtp_options *options, struct vtp_writer **writer,
                            taut_error *error);
void vtp_writer_free(struct vtp_writer *writer);

// Writes the file, where there is none yet, whole or not at all; floats in a single run, doubles in
// a double one. The files do not depend on the number of threads.
taut_status vtp_writer_frame(struct vtp_writer *writer, const char *path, const struct frame *now,
                             taut_error *error);

// One file.
taut_status vtp_write(const char *path, const struct frame *now, const struct vtp_options *options,
                      taut_error *error);

// Whether a body has triangles to show it by.
bool vtp_has_triangles(const struct frame_body *body);

#endif
