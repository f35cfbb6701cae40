// Reads frames that several ranks wrote, each its piece (vtp.h, "Pieces"), as one frame: the list
// of pieces (.pvtp), and the values of all pieces in the order of the whole frame. vtp_reader.h
// uses this for frames that are such lists. Pieces that do not make up a whole frame are an error.
#ifndef TAUT_OUTPUT_VTP_PIECES_H
#define TAUT_OUTPUT_VTP_PIECES_H

#include "output/vtp_reader.h"

// The names of the files of pieces, in the folder of the list.
struct vtp_piece_names {
    char **items;
    size_t count, capacity;
};

taut_status vtp_piece_names_read(const char *path, struct vtp_piece_names *names,
                                 taut_error *error);
void vtp_piece_names_free(struct vtp_piece_names *names);

// As in vtp_reader.h.
taut_status vtp_pieces_open(const char *path, struct vtp_frame *frame, taut_error *error);
taut_status vtp_pieces_positions(struct vtp_frame *frame, float *rounded, double *exact,
                                 taut_error *error);
taut_status vtp_pieces_springs(struct vtp_frame *frame, float *strains, uint8_t *broken,
                               taut_error *error);
taut_status vtp_pieces_triangles(struct vtp_frame *frame, uint32_t (*triangles)[3],
                                 uint32_t *bodies, taut_error *error);
taut_status vtp_pieces_node_bodies(struct vtp_frame *frame, uint32_t *bodies, taut_error *error);
void vtp_pieces_close(struct vtp_frame *frame);

#endif
