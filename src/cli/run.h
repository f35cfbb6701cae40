// A run from its scene to its results: shared by what steps it (run_loop.c), what writes its files
// (run_output.c) and what tells of it (run_table.c, run_json.c).
#ifndef TAUT_CLI_RUN_H
#define TAUT_CLI_RUN_H

#include "cli/progress.h"
#include "cli/schedule.h"
#include "cli/session.h"
#include "output/recording.h"

struct run {
    const struct options *options;
    const taut_scene *scene;
    taut_solver *solver;
    struct schedule schedule;
    struct progress progress;
    struct moment_view view;
    unsigned frame_wants;        // of a frame: enum moment_want
    struct recording *recording; // NULL: no files
    char *folder;
    char **files; // of the recording, after it is closed; and of --state
    size_t file_count;
    struct snapshot first; // energies at t = 0
    uint64_t energy_step;  // the step that the view's energies are of
    double setup_seconds;  // reading, making
    double output_seconds; // looking and writing
    bool warned;           // of an implicit step that was not solved
    int signal_number;     // that ended the run early; 0: none
    taut_status status;    // what ended it otherwise
    taut_error error;
};

// Steps to the end, or to a signal or a fault, and writes frames and probe rows where they are due.
// run->status and run->signal_number tell how it ended.
void run_steps(struct run *run);

// Opens the run's folder and writes what t = 0 gives. The files stay open. All of these return
// run->status, and set it and the error where it was TAUT_OK.
taut_status run_output_open(struct run *run);

// What a run takes beside its solver (session.h).
double run_output_memory(const struct options *options, const taut_scene *scene);
taut_status run_output_frame(struct run *run);
taut_status run_output_probe(struct run *run);

// Closes everything whole, after a failure too; then energies and volumes of run->view are those of
// the end.
taut_status run_output_close(struct run *run);

// --state: whether the file can be written is looked at before the run; then it is written.
taut_status run_state_try(struct run *run);
taut_status run_state_write(struct run *run);

void run_free(struct run *run);

// True if the run did all its steps, or a signal ended it: then its results are worth a table.
bool run_is_sound(const struct run *run);

double run_spring_rate(const struct run *run); // per second of stepping; NAN if there was none
double run_node_rate(const struct run *run);
uint64_t run_peak_bytes(void); // most memory that this process has held

// Whether the energy balance closes as far as the integrator's order lets it (run_balance.c).
enum balance_verdict { BALANCE_CLOSES, BALANCE_COARSE, BALANCE_OPEN };

struct balance {
    double change, accounted, residual; // J; residual = change - accounted
    double exchanged;                   // J, how much energy changed its form or came and went
    double allowed;                     // J, what of a residual the order explains at this dt
    int order;
    enum balance_verdict verdict;
    const char *cause; // what the residual is due to, or may be; NULL: there is nothing to explain
};

// Wants the energy budget (run->view.snapshot.has_work).
struct balance run_balance(const struct run *run);

const char *balance_verdict_name(enum balance_verdict verdict);

void run_print_table(const struct run *run);
void run_print_json(const struct run *run);

#endif
