// Reads frames that vtp.c wrote, and nothing else: compressed ones, and uncompressed ones of
// earlier versions. Sizes in a header must match the file exactly. A block larger than those that
// vtp.c writes is an error.
#ifndef TAUT_OUTPUT_VTP_READER_H
#define TAUT_OUTPUT_VTP_READER_H

#include "base/status.h"
#include "output/scan.h"

// Where the values of an array are in the file.
struct vtp_array {
    bool present;
    uint64_t offset; // of its header in the file
    uint64_t bytes;  // of its uncompressed values
    uint64_t block;  // uncompressed values in a block
};

struct vtp_frame {
    struct scan scan;
    char *path;
    bool single, compressed;
    double time;                          // s
    uint64_t points, verts, lines, polys; // nodes, single nodes, springs, triangles
    // For each body, whether its springs are in the file; NULL: all are.
    uint8_t *body_springs;
    uint64_t body_count;
    char **names; // of the bodies, not checked: as the bytes in the file
    uint64_t name_count;
    bool wide; // numbers of nodes have 8 bytes
    struct vtp_array positions, strains, broken, node_bodies, cell_bodies, triangles;
    // For a piece (vtp.h): the counts of points, verts, lines and polys of the whole frame.
    bool is_piece;
    uint64_t whole_counts[4];
    struct vtp_array numbers[2]; // enum vtp_numbers
    // A list of pieces has no more arrays, but these pieces.
    bool is_list;
    struct vtp_frame *pieces;
    size_t piece_count;
};

// Opens a frame, also a list of pieces (.pvtp), and reads its header. Call vtp_frame_close after
// success.
taut_status vtp_frame_open(const char *path, struct vtp_frame *frame, taut_error *error);

// The same for a seekable stream, which then belongs to the frame (also after a failure).
taut_status vtp_frame_read_file(FILE *file, const char *path, struct vtp_frame *frame,
                                taut_error *error);

// Reads the numbers in the whole frame, below `limit`, of points or cells of a piece.
enum vtp_numbers { VTP_POINT_NUMBERS, VTP_CELL_NUMBERS };
taut_status vtp_frame_numbers(struct vtp_frame *frame, enum vtp_numbers which, uint64_t first,
                              uint64_t count, uint64_t limit, uint64_t *numbers, taut_error *error);

// Reads positions, 3 per node.
taut_status vtp_frame_positions(struct vtp_frame *frame, float *positions, taut_error *error);

// The same without rounding those of a run in double precision.
taut_status vtp_frame_exact_positions(struct vtp_frame *frame, double *positions,
                                      taut_error *error);

// Reads the strains of the `lines` springs in the file, and 1 for those that have broken.
taut_status vtp_frame_springs(struct vtp_frame *frame, float *strains, uint8_t *broken,
                              taut_error *error);

// Reads the triangles, nodes numbered over all bodies, and the body of each (below name_count).
taut_status vtp_frame_triangles(struct vtp_frame *frame, uint32_t (*triangles)[3], uint32_t *bodies,
                                taut_error *error);

// Reads the body of each node.
taut_status vtp_frame_node_bodies(struct vtp_frame *frame, uint32_t *bodies, taut_error *error);

void vtp_frame_close(struct vtp_frame *frame);

#endif
