// A frame of all bodies as a VTK XML PolyData file (.vtp) for ParaView: appended data in blocks
// compressed by zlib (vtkZLibDataCompressor), UInt64 headers, little endian. Format: VTK, "VTK File
// Formats", section "XML file formats"; for compressed data, vtkXMLDataParser.
//
// One piece has all bodies one after the other, each in builder order. Cells, in VTK's order:
//   verts  the nodes of bodies that have neither lines nor polys
//   lines  springs, two points each: of bodies without triangles, of those whose springs break or
//          yield, or of all bodies on request
//   polys  triangles; the faces of a plane body are its springs and are not written again
// Point data: velocity (m/s), strain (the mean over the unbroken springs at the node, 0 if there
// are none), body (its index in the list `body_names`), force (N) on request and, if there are
// cloths, TextureCoordinates: 0 to 1 along the edges u and v. Cell data: body and, if there are
// lines, strain and broken (1: this spring has broken). The strain of a triangle is the mean over
// the springs at its corners, that of a vert is 0. `body_springs` states for each body whether its
// springs are in the file. For several ranks see "Pieces" below.
#ifndef TAUT_OUTPUT_VTP_H
#define TAUT_OUTPUT_VTP_H

#include "base/status.h"
#include "state/frame.h"
#include "parallel/team.h"

enum {
    VTP_BLOCK_BYTES = 128 * 1024, // of uncompressed values, at most
};

struct vtp_options {
    bool springs; // of all bodies
    bool forces;
    // Runs a function on several threads; NULL: on the calling thread.
    void (*work)(void *owner, team_function function, void *context);
    void *owner;
};

// Writes frames of the same bodies; constant arrays are compressed once.
struct vtp_writer;

// `options` NULL: neither all springs nor forces, on one thread.
taut_status vtp_writer_make(const struct vtp_options *options, struct vtp_writer **writer,
                            taut_error *error);
void vtp_writer_free(struct vtp_writer *writer);

// Writes a frame to a file that must not exist, completely or not at all; floats in a
// single-precision run, doubles in a double-precision one. The bytes do not depend on the number of
// threads.
taut_status vtp_writer_frame(struct vtp_writer *writer, const char *path, const struct frame *now,
                             taut_error *error);

// Writes a single file.
taut_status vtp_write(const char *path, const struct frame *now, const struct vtp_options *options,
                      taut_error *error);

// ---- Pieces
//
// A frame with `piece` (state/frame.h) is written as one of several .vtp files, whose list is a
// .pvtp file (PPolyData). They have the same arrays with the same values as a file of the whole
// frame, of the points and cells of the piece, and in addition: point data GlobalPointIds and cell
// data GlobalCellIds, the numbers in that file; vtkGhostType, 1: a point that another piece has as
// its own; and `whole_counts`, the numbers of points, verts, lines and polys of that file.

#define VTP_PIECES_HEADER                                                                          \
    "<?xml version=\"1.0\"?>\n<VTKFile type=\"PPolyData\" version=\"1.0\" "                        \
    "byte_order=\"LittleEndian\" header_type=\"UInt64\" "                                          \
    "compressor=\"vtkZLibDataCompressor\">\n  <PPolyData GhostLevel=\"0\">\n"

// How the name of the piece of a rank ends, after that of the frame.
enum { VTP_PIECE_ENDING = 32 };
void vtp_piece_ending(int rank, char ending[VTP_PIECE_ENDING]);

// Writes the list of pieces to a file that must not exist, completely or not at all. `piece`: any
// of them; `names`: of the files, in the same folder.
taut_status vtp_write_pieces(const char *path, const struct frame *piece,
                             const struct vtp_options *options, const char *const *names,
                             size_t count, taut_error *error);

// Whether the springs of a body are in the file.
bool vtp_has_lines(const struct vtp_options *options, const struct frame_body *body);

// Whether a body has triangles that show it.
bool vtp_has_triangles(const struct frame_body *body);

#endif
