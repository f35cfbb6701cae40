// Reads frames that vtp.h wrote, and nothing else: compressed ones, and those of earlier versions,
// which are not. What a head says must fit the file to the byte; a block is never larger than those
// that are written, whatever it claims.
#ifndef TAUT_OUTPUT_VTP_READER_H
#define TAUT_OUTPUT_VTP_READER_H

#include "base/status.h"
#include "output/scan.h"

// Where the values of an array are.
struct vtp_array {
    bool present;
    uint64_t offset; // of its bytes in the file, from its header on
    uint64_t bytes;  // of its values
    uint64_t block;  // of them in a compressed block
};

struct vtp_frame {
    struct scan scan;
    char *path;
    bool single, compressed;
    double time;                          // s
    uint64_t points, verts, lines, polys; // nodes, single nodes, springs, triangles
    // A body: whether its springs are there; NULL: all springs are.
    uint8_t *body_springs;
    uint64_t body_count;
    struct vtp_array positions, strains, broken;
};

// Opens a frame and reads its head. vtp_frame_close after success.
taut_status vtp_frame_open(const char *path, struct vtp_frame *frame, taut_error *error);

// The same of a stream that can seek, which belongs to the frame afterwards (also after a failure).
taut_status vtp_frame_take(FILE *file, const char *path, struct vtp_frame *frame,
                           taut_error *error);

// 3 a node.
taut_status vtp_frame_positions(struct vtp_frame *frame, float *positions, taut_error *error);

// Of the springs that are there, `lines` of them: what each is strained by, and 1 where it has
// broken.
taut_status vtp_frame_springs(struct vtp_frame *frame, float *strains, uint8_t *broken,
                              taut_error *error);

void vtp_frame_close(struct vtp_frame *frame);

#endif
