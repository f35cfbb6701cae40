// The pieces of frames that several ranks write, each its own (output/vtp.h), where they hold only
// their parts of the scene. Rank 0 orders the others to do what it does: it gives them the name of
// each frame.
#ifndef TAUT_CLI_PIECES_H
#define TAUT_CLI_PIECES_H

#include "output/recording.h"
#include "solver/solver.h"

struct pieces {
    taut_solver *solver;
    struct vtp_options options;
    struct frame whole; // its bodies only
    struct frame frame; // the piece of this rank
    struct vtp_writer *writer;
    int *ranks; // on rank 0: those with a piece
    struct recording_pieces files;
};

// The pieces for frames of these options, on every rank; nothing is allocated.
struct pieces pieces_of(taut_solver *solver, const struct vtp_options *options);

// Called on rank 0: makes the pieces of all ranks, and describes them in pieces->files.
taut_status pieces_make(struct pieces *pieces, taut_error *error);

// Called on the other ranks when rank 0 makes pieces or writes a frame (solver_serve).
void pieces_answer(void *context, const void *message);

void pieces_free(struct pieces *pieces);

#endif
