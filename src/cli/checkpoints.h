// When a run writes checkpoints: every so many seconds of wall time, at simulated times, and before
// it leaves early. They are written from a copy by a thread beside the solver.
#ifndef TAUT_CLI_CHECKPOINTS_H
#define TAUT_CLI_CHECKPOINTS_H

#include <pthread.h>
#include <stdatomic.h>

#include "output/run_checkpoint.h"

struct run;

struct checkpoints {
    bool enabled;
    double every; // s of wall time; 0: none
    double due;   // wall time of the next one
    bool has_step;
    uint64_t step;          // of the last one that was begun,
    double time;            // s, and its simulated time
    bool failing;           // the last one could not be written
    atomic_int signals_max; // after more signals than these, the writing stops
    // The one that is being written.
    bool writing, has_thread;
    pthread_t thread;
    atomic_bool done;
    const struct recording *recording;
    taut_solver *solver;
    char *path;
    struct solver_copy *copy;
    struct run_position position;
    taut_status status;
    taut_error error;
};

// Called after the recording of the run has been opened: decides and prints where checkpoints go.
void checkpoints_begin(struct run *run);

// Call it between batches of steps: begins a checkpoint if one is due, and ends one that has been
// written. Checkpoints do not affect the run; one that cannot be written is reported.
void checkpoints_update(struct run *run);

// Begins a checkpoint of the present state, unless there is one.
void checkpoints_write(struct run *run);

// Ends the one that is being written.
void checkpoints_finish(struct run *run);

// Called on ranks other than 0: takes part in a checkpoint, if rank 0 orders one (solver_serve).
bool checkpoints_answer(const taut_solver *solver, const void *message);

// Writes a checkpoint before the run leaves; a further signal stops it.
void checkpoints_write_last(struct run *run);

#endif
