// Reads frames that vtp_write wrote, and nothing else: a file that differs in one letter of its
// head is refused.
#ifndef TAUT_OUTPUT_VTP_READER_H
#define TAUT_OUTPUT_VTP_READER_H

#include "base/status.h"
#include "output/scan.h"

struct vtp_frame {
    struct scan scan;
    char *path;
    bool single;
    double time;                          // s
    uint64_t points, verts, lines, polys; // nodes, single nodes, springs, triangles
    uint64_t positions, strains, broken;  // where the values begin in the file
};

// Opens a frame and reads its head. vtp_frame_close after success.
taut_status vtp_frame_open(const char *path, struct vtp_frame *frame, taut_error *error);

// The same of a stream that can seek, which belongs to the frame afterwards (also after a failure).
taut_status vtp_frame_take(FILE *file, const char *path, struct vtp_frame *frame,
                           taut_error *error);

// 3 a node.
taut_status vtp_frame_positions(struct vtp_frame *frame, float *positions, taut_error *error);

// Of the springs: what each is strained by, and 1 where it has broken.
taut_status vtp_frame_springs(struct vtp_frame *frame, float *strains, uint8_t *broken,
                              taut_error *error);

void vtp_frame_close(struct vtp_frame *frame);

#endif
