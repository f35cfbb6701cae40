// A run from its scene to its results: run.c performs it, run_report.c prints its summary.
#ifndef TAUT_CLI_RUN_H
#define TAUT_CLI_RUN_H

#include "cli/checkpoints.h"
#include "cli/pieces.h"
#include "cli/progress.h"
#include "cli/schedule.h"
#include "cli/session.h"
#include "output/manifest.h"
#include "output/recording.h"

// The state of a run that `taut resume` has found in its folder.
struct resumption {
    struct manifest manifest;     // reopened; the run takes it over
    const char *checkpoint;       // name of the file; NULL: the run begins again
    struct run_position position; // of the checkpoint
    bool prolongs;                // steps or duration differ from those of scene.yaml
};

struct run {
    const struct options *options;
    const taut_scene *scene;
    taut_solver *solver;
    struct schedule schedule;
    struct progress progress;
    struct frame frame;
    unsigned frame_fields;       // of every frame: enum frame_field
    struct recording *recording; // NULL: no files
    bool in_pieces;              // each of several ranks writes its piece of a frame:
    struct pieces pieces;
    char *folder;
    char **files; // of the recording, after it is closed, and of --state
    size_t file_count;
    taut_energy first_energy; // at t = 0
    uint64_t energy_step;     // the step of the frame's energies
    uint64_t first_step;      // at which this process began
    uint64_t last_frame;      // the step of the last frame
    uint32_t due;             // output of the present step: enum run_due
    struct checkpoints checkpoints;
    double checkpoint_time;         // s, simulated, of the last one; negative: none
    struct resumption *resumption;  // NULL: a run of its own
    char *state;                    // path of the final state; NULL: none
    double setup_seconds;           // for reading and building
    double output_seconds;          // for evaluating and writing
    bool warned;                    // about an implicit step that was not solved
    struct dt_exceeded dt_exceeded; // at the end
    double resolved; // s, likewise: longer implicit steps may not resolve the fastest vibration;
                     // 0: not known
    struct contact_excess contact_excess; // likewise, if the balance shows little
    int signal_number;                    // the signal that ended the run early; 0: none
    taut_status status;                   // the failure that ended the run otherwise
    taut_error error;
};

// Whether the run completed all its steps or was ended by a signal; only then the results are worth
// a table.
bool run_is_sound(const struct run *run);

// The name of the final state's file in the run's folder, or its absolute path; the caller frees
// it. NULL without memory.
char *run_state_name(const struct run *run);

// Runs a scene, or continues a run; returns the exit code.
int run_or_resume(const struct options *options, struct resumption *resumption);

// Whether the energy balance is known, and does not close or is too coarse to judge.
bool run_balance_shows_little(const struct run *run);

void run_print_table(const struct run *run);
void run_print_json(const struct run *run);

#endif
