// What the measurements of a study share: runs of variants of the scene, the yardstick that their
// energies are judged by, and the crew that makes many of them side by side.
#ifndef TAUT_STUDY_LAB_H
#define TAUT_STUDY_LAB_H

#include <math.h>
#include <stdatomic.h>

#include "study/study.h"

// What energies are measured against: available is what a run may well turn over in that time,
// found by a fine reference run.
struct yardstick {
    double available; // J
    double time;      // s; a force that goes on pushing may do more work later, as the square of it
};

struct lab {
    const taut_scene *scene;
    const struct study_options *options;
    struct study *study;
    double deadline;     // of the present part, clock_seconds
    atomic_bool late;    // the present part is over its time
    atomic_bool stopped; // by the caller
    double kick;         // m/s, of small random velocities that excite every mode
    bool conservative;   // energy can neither come nor go
    struct yardstick yardstick;
    double *reference;    // energies of the reference run at STUDY_SAMPLES + 1 times of the window
    uint64_t limit_steps; // of a run for limits
    int accuracy_levels;  // of steps, each half of the one before
    uint64_t map_steps;   // of the runs of the map at one unit
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

// What implicit solves leave in a study: orders and energies are to be those of the method, not of
// a solver that is content with the scene's 1e-4.
#define STUDY_TOLERANCE 1e-12

struct variant variant_of(enum integrator integrator, double dt);

// A solver of the variant with one thread. What integrators do once a step whatever its length
// (keep_velocity, inflate) is done at the rate that it has at the scene's own step.
taut_status variant_open(const struct lab *lab, const struct variant *variant, taut_solver **result,
                         taut_error *error);

// Whether to end the present part early: asked to, or its share of the budget is spent.
bool lab_ends(struct lab *lab);

// Gives the present part so many seconds from now, though its share may be spent.
void lab_grant(struct lab *lab, double seconds);

// One case of many: writes its results into a place of its own in the context.
typedef taut_status (*case_function)(struct lab *lab, void *context, size_t index,
                                     taut_error *error);

// Does the cases on as many threads as the options say. Of several failures the first case's is
// told. Cases that had not begun when the part ended are left out.
taut_status lab_cases(struct lab *lab, size_t count, case_function function, void *context,
                      taut_error *error);

// A run with looks at its energy in between.
struct trace {
    uint64_t steps;                    // to do
    size_t samples;                    // looks after the one at the start, at most STUDY_SAMPLES
    const struct yardstick *yardstick; // NULL: only values that are not finite are unstable
    // Found:
    enum study_verdict verdict;
    size_t count;       // looks that were finite, the one at the start included
    uint64_t done;      // steps
    double kinetic_max; // J
    double early;       // the most energy gained in the first steps, in what is available
    double energies[STUDY_SAMPLES + 1]; // J
    double seconds;                     // wall time of the steps
};

// Unstable: over the last quarter of the run it has gained twice what is available, and three times
// what it had gained in its first steps; or 10^4 times what is available at any time; or a value is
// not finite.
taut_status trace_run(struct lab *lab, taut_solver *solver, struct trace *trace, taut_error *error);

// The same of a variant, which is opened for it.
taut_status trace_variant(struct lab *lab, const struct variant *variant, struct trace *trace,
                          taut_error *error);

// Seconds that a run is reckoned to take on any machine: budgets become steps by it.
double reckon_run(const struct lab *lab, enum integrator integrator, double steps, double looks);

// The parts of a study, in their order (study.c).
taut_status study_ground(struct lab *lab, taut_error *error);
taut_status study_limits(struct lab *lab, taut_error *error);
taut_status study_drifts(struct lab *lab, taut_error *error);
taut_status study_accuracies(struct lab *lab, taut_error *error);
taut_status study_frequencies(struct lab *lab, taut_error *error);
taut_status study_oscillations(struct lab *lab, taut_error *error);
taut_status study_maps(struct lab *lab, taut_error *error);

// The predicted largest stable step, s; INFINITY where all are stable, NAN where none is known to
// be.
double predicted_step(enum integrator integrator, const struct critical_step *critical);

#endif
