// The data that the measurements of a study share: the scene and its reference run, and runs of
// variants of the scene (runs.c). Private to study/ and its tests.
#ifndef TAUT_STUDY_SETUP_H
#define TAUT_STUDY_SETUP_H

#include <math.h>
#include <stdatomic.h>

#include "study/study.h"

// The scale of energies: the energy that a run exchanges within a time, found by a fine reference
// run.
struct energy_scale {
    double available; // J
    double time;      // s; the work of a force that continues may grow as the square of it
};

// States along the reference run from which runs with perturbations start (growth.c). Each group
// covers its interval without gaps.
enum { STUDY_BASE_GROUP = 8, STUDY_BASE_UNITS = 8, STUDY_BASES = 16 * STUDY_BASE_GROUP };

struct bases {
    size_t wanted;               // in ascending order of their steps
    uint64_t steps[STUDY_BASES]; // of the run that they are taken from
    size_t count;                // taken so far
    struct solver_checkpoint *states[STUDY_BASES];
};

// How far perturbations of the reference run grow: logarithms, of amplitudes.
struct growth {
    double paths[STUDY_BASES + 1]; // from the first base until the end of each segment
    double rest, rest_time;        // about the state of rest, and in how long, s
};

struct setup {
    const taut_scene *scene;
    const struct study_options *options;
    struct study *study;
    double deadline;     // of the present part, clock_seconds
    atomic_bool late;    // the present part is over its time
    atomic_bool stopped; // by the caller
    double kick;         // m/s, of small random velocities that excite every mode
    bool conservative;   // energy can neither come nor go
    struct energy_scale scale;
    double *reference;    // energies of the reference run at STUDY_SAMPLES + 1 times of the window
    uint64_t limit_steps; // of a run for limits
    struct bases bases;
    struct growth growth;      // of the reference run's own perturbations
    double perturbation;       // m, of the nodes
    double base_bytes;         // of one of the bases
    bool comes_to_rest;        // the reference run comes to rest, or was at rest from the start
    double reference_fraction; // of the step that was estimated to be small enough for it
    int accuracy_levels;       // of steps, each half of the one before
    uint64_t map_steps;        // of the runs of the map at one unit
};

enum { STUDY_SAMPLES = 128, STUDY_DRIFT_STEPS = 4 };

// The scene, changed: its integrator, its step, its springs, its start.
struct variant {
    enum integrator integrator;
    double dt;
    double stiffness, damping; // factors of all springs
    double relaxation;         // s: so many times the stiffness is added to the damping
    double kick;               // m/s
    double nudge;              // m, of random displacements of the free nodes
    double tolerance;          // of implicit solves; the scene's own if that is smaller
    bool formula;              // oscillators move by their closed form
};

// The tolerance of implicit solves in a study, so that orders and energies are those of the method
// and not of a solver with the scene's tolerance of 1e-4.
#define STUDY_TOLERANCE 1e-12

struct variant variant_of(enum integrator integrator, double dt);

// A solver of the variant with one thread. Per-step operations (keep_velocity, inflate) act at the
// rate that they have at the scene's own step.
taut_status variant_open(const struct setup *setup, const struct variant *variant,
                         taut_solver **result, taut_error *error);

// Whether to end the present part early: on request, or because its share of the budget is spent.
bool part_has_ended(struct setup *setup);

// Grants the present part so many seconds from now, though its share may be spent.
void part_extend(struct setup *setup, double seconds);

// One case of many: writes its results into a slot of its own in the context.
typedef taut_status (*case_function)(struct setup *setup, void *context, size_t index,
                                     taut_error *error);

// Runs the cases on as many threads as the options specify. Of several failures that of the first
// case is reported. Cases that had not started when the part ended are omitted.
taut_status run_cases(struct setup *setup, size_t count, case_function function, void *context,
                      taut_error *error);

// A run with samples of its energy in between.
struct trace {
    uint64_t steps;                   // to do
    size_t samples;                   // samples after the one at the start, at most STUDY_SAMPLES
    const struct energy_scale *scale; // NULL: only values that are not finite are unstable
    struct bases *bases;              // to take states for; may be NULL
    // Found:
    enum study_verdict verdict;
    size_t count;        // samples that were finite, the one at the start included
    uint64_t done;       // steps
    double kinetic_max;  // J
    double kinetic_late; // J, the most in the last quarter
    double early;        // the most energy gained in the first steps, in what is available
    double energies[STUDY_SAMPLES + 1]; // J
    double seconds;                     // wall time of the steps
};

// Unstable: the mean gain over the last quarter of the run exceeds twice the available energy and
// three times the gain of the first steps; or the gain exceeds 10^4 times the available energy at
// any time; or a value is not finite.
taut_status trace_run(struct setup *setup, taut_solver *solver, struct trace *trace,
                      taut_error *error);

// The same for a variant, for which it creates a solver.
taut_status trace_variant(struct setup *setup, const struct variant *variant, struct trace *trace,
                          taut_error *error);

void bases_free(struct bases *bases);

// The growth of perturbations at a clearly smaller step; dt is 0 where it is not known.
struct path_baseline {
    double dt, excess;
};

// Follows a small perturbation of the reference run with an integrator and a step: whether it grows
// beyond what the same perturbation does in the reference run, and at a smaller step; undecided
// where the run is too short to show it. The baseline is reused from one step to the next. `steps`
// is increased by the steps done.
taut_status growth_judge(struct setup *setup, enum integrator integrator, double dt,
                         struct path_baseline *baseline, enum study_verdict *verdict,
                         uint64_t *steps, taut_error *error);

// The logarithm of what a step with the run's integrator makes of the perturbation of a state of
// rest that grows most (multipliers.c); NAN where that is not to be had: in large scenes, and where
// a step is not linear. masses: by builder number, 0: not free. `steps` is increased by the steps
// done.
taut_status multipliers_growth(const struct setup *setup, taut_solver *run,
                               const struct solver_checkpoint *base, const double *masses,
                               double *growth, uint64_t *steps, taut_error *error);

// Follows the perturbation of the reference run itself, the baseline of all others.
taut_status growth_of_reference(struct setup *setup, taut_error *error);

// The estimated duration of a run in seconds, the same on every machine, which converts budgets to
// steps.
double estimated_seconds(const struct setup *setup, enum integrator integrator, double steps,
                         double samples);

// The parts of a study, in their order (study.c).
taut_status study_reference(struct setup *setup, taut_error *error);
taut_status study_limits(struct setup *setup, taut_error *error);
taut_status study_drifts(struct setup *setup, taut_error *error);
taut_status study_accuracies(struct setup *setup, taut_error *error);
taut_status study_frequencies(struct setup *setup, taut_error *error);
taut_status study_oscillations(struct setup *setup, taut_error *error);
taut_status study_maps(struct setup *setup, taut_error *error);

// The predicted largest stable step, s; INFINITY where all are stable, NAN where none is known to
// be.
double predicted_step(enum integrator integrator, const struct critical_step *critical);

#endif
