// A checkpoint of a run: the state of its solver (solver/solver.h), and the position of its output,
// as one block of arrays that begin with ARCHIVE_OUTPUT (docs/checkpoints.md). Reading checks the
// whole file, so that a damaged one is found before anything is done with it.
#ifndef TAUT_OUTPUT_RUN_CHECKPOINT_H
#define TAUT_OUTPUT_RUN_CHECKPOINT_H

#include "output/recording.h"
#include "solver/solver.h"

// Output that is due at the step of the checkpoint and has not been written.
enum run_due { DUE_FRAME = 1, DUE_PROBE = 2 };

struct run_position {
    struct recording_position files;
    // Frames are due every frame_steps steps; 0: every frame_seconds, and the next is frame_number.
    uint64_t frame_steps, frame_number;
    double frame_seconds;
    uint64_t last_frame; // step of the last frame
    uint32_t due;        // enum run_due
    uint32_t kernel;     // taut_kernel: the bits depend on it
    taut_energy energy_at_start;
    char *state; // --state: a name in the folder of the run, or an absolute path; NULL: none
};

void run_position_free(struct run_position *position);

// May stop the writing, which fails when this returns true. May be NULL.
typedef bool run_checkpoint_stop(void *context);

struct run_checkpoint_group;

// Writes a checkpoint of `copy`. Files that it refers to have to be on the disk already. Any thread
// may call it; on several ranks (`group`, otherwise NULL) only the one that steps.
taut_status run_checkpoint_write(const char *path, struct solver_copy *copy,
                                 const struct run_position *position, run_checkpoint_stop *stop,
                                 void *context, const struct run_checkpoint_group *group,
                                 taut_error *error);

// Where ranks hold only their parts, rank 0 has the others write with it: it calls `begin` with a
// text that they pass to run_checkpoint_join, and `end` afterwards. NULL: it writes alone.
struct run_checkpoint_group {
    void (*begin)(void *context, const char *text, size_t bytes);
    void (*end)(void *context);
    void *context;
};
void run_checkpoint_join(const taut_solver *solver, const char *text);

// Reads the position of the output, and checks all of the file. Call run_position_free after
// success.
taut_status run_checkpoint_read(const char *path, struct archive_header *header,
                                struct run_position *position, taut_error *error);

#endif
