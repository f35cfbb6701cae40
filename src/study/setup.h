// The data that the measurements of a study share: the scene, its reference run, and runs of
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
    double time;      // s; the work of a persistent force may grow as the square of it
};

// States along the reference run from which perturbed runs start (growth.c). Each group covers its
// interval without gaps.
enum { STUDY_BASE_GROUP = 8, STUDY_BASE_UNITS = 8, STUDY_BASES = 16 * STUDY_BASE_GROUP };

struct bases {
    size_t wanted;               // number of states wanted
    uint64_t steps[STUDY_BASES]; // their steps in the reference run, ascending
    size_t count;                // stored so far
    struct solver_checkpoint *states[STUDY_BASES];
};

// Growth of perturbations of the reference run: logarithms of amplitudes.
struct growth {
    double paths[STUDY_BASES + 1]; // from the first base to the end of each segment
    double rest, rest_time;        // about the state of rest, and over which time, s
};

struct setup {
    const taut_scene *scene;
    const struct study_options *options;
    struct study *study;
    double deadline;     // of the current part, as clock_seconds
    atomic_bool late;    // the current part has exceeded its time
    atomic_bool stopped; // by the caller
    double kick;         // m/s, of small random velocities that excite every mode
    bool conservative;   // the scene neither gains nor loses energy
    struct energy_scale scale;
    double *reference;    // energies of the reference run at STUDY_SAMPLES + 1 times of the window
    uint64_t limit_steps; // of a run for limits
    struct bases bases;
    struct growth growth;      // of the reference run's own perturbation
    double perturbation;       // m, displacement of the nodes
    double base_bytes;         // of one stored state
    bool comes_to_rest;        // the reference run comes to rest, or was at rest from the start
    double reference_fraction; // of the step estimated for the reference run, after halving
    int accuracy_levels;       // number of steps, each half of the one before
    uint64_t map_steps;        // steps of the map's runs at one unit
};

enum { STUDY_SAMPLES = 128, STUDY_DRIFT_STEPS = 4 };

// A variant of the scene: its integrator, step, springs and initial state.
struct variant {
    enum integrator integrator;
    double dt;
    double stiffness, damping; // factors of all springs
    double relaxation;         // s: times the stiffness, added to the damping
    double kick;               // m/s
    double displacement;       // m, random displacements of the free nodes
    double tolerance;          // of implicit solves; the scene's own if that is smaller
    bool formula;              // oscillators in closed form
};

// The tolerance of implicit solves in a study, so that orders and energies are those of the method,
// not of a solver with the scene's tolerance of 1e-4.
#define STUDY_TOLERANCE 1e-12

struct variant variant_of(enum integrator integrator, double dt);

// Creates a solver of the variant with one thread. Per-step operations (keep_velocity, inflate) act
// at the same rate in time as with the scene's own step.
taut_status variant_open(const struct setup *setup, const struct variant *variant,
                         taut_solver **result, taut_error *error);

// Whether to end the current part early: on request, or because its share of the budget is spent.
bool part_has_ended(struct setup *setup);

// Grants the current part this many seconds from now, even if its share is spent.
void part_extend(struct setup *setup, double seconds);

// One of many cases: writes its results into its own slot in the context.
typedef taut_status (*case_function)(struct setup *setup, void *context, size_t index,
                                     taut_error *error);

// Runs the cases on as many threads as the options specify. The failure of the first case is
// reported if there are several. Cases that had not started when the part ended are omitted.
taut_status run_cases(struct setup *setup, size_t count, case_function function, void *context,
                      taut_error *error);

// A run with samples of its energy.
struct trace {
    uint64_t steps;                   // steps to run
    size_t samples;                   // samples after the one at the start, at most STUDY_SAMPLES
    const struct energy_scale *scale; // NULL: only non-finite values are unstable
    struct bases *bases;              // receives states; may be NULL
    // Results:
    enum study_verdict verdict;
    size_t count;        // finite samples, including the one at the start
    uint64_t done;       // steps done
    uint64_t broken;     // springs at the end
    double kinetic_max;  // J
    double kinetic_late; // J, the largest in the last quarter
    double early;        // the largest energy gained in the first steps, relative to the available
                         // energy
    double energies[STUDY_SAMPLES + 1]; // J
    double seconds;                     // wall time of the steps
};

// Unstable: the mean gain over the last quarter of the run exceeds twice the available energy and
// three times the gain of the first steps; or the gain exceeds 10^4 times the available energy at
// any time; or a value is not finite.
taut_status trace_run(struct setup *setup, taut_solver *solver, struct trace *trace,
                      taut_error *error);

// The same for a variant, including creation of its solver.
taut_status trace_variant(struct setup *setup, const struct variant *variant, struct trace *trace,
                          taut_error *error);

void bases_free(struct bases *bases);

// The growth of perturbations at a clearly smaller step; dt is 0 if it is not known.
struct path_baseline {
    double dt, excess;
};

// Follows a small perturbation of the reference run with an integrator and a step. Unstable if it
// grows beyond the same perturbation in the reference run and at a smaller step; undecided if the
// run is too short to show it. The baseline is reused from one step to the next. `steps` is
// increased by the steps done.
taut_status growth_classify(struct setup *setup, enum integrator integrator, double dt,
                            struct path_baseline *baseline, enum study_verdict *verdict,
                            uint64_t *steps, taut_error *error);

// The logarithm of the largest factor by which a step with the run's integrator multiplies a
// perturbation of a state of rest (multipliers.c); NAN if it is not available: in large scenes, and
// if a step is not linear. masses: by builder number, 0: not free. `steps` is increased by the
// steps done.
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

// The predicted largest stable step, s; INFINITY if all are stable, NAN if none is known to be.
double predicted_step(enum integrator integrator, const struct critical_step *critical);

#endif
