// Measures integrators on a scene, from actual runs of it: stability limit, energy drift, order of
// convergence, cost of accuracy, frequency error, and a map of stable and unstable runs over the
// step and the springs.
//
// All runs use double precision and one thread each, many of them concurrently. The choice of runs
// depends only on the scene and the budget, so that all results except the seconds are the same on
// every machine; measurements are omitted only if the budget is exceeded nevertheless.
#ifndef TAUT_STUDY_STUDY_H
#define TAUT_STUDY_STUDY_H

#include "solver/solver.h"

enum study_map_kind { STUDY_MAP_NONE, STUDY_MAP_STIFFNESS, STUDY_MAP_DAMPING, STUDY_MAP_KINDS };

// "none", "stiffness", "damping"
const char *study_map_name(enum study_map_kind kind);

struct study_options {
    const enum integrator *integrators; // each at most once; NULL: all
    size_t integrator_count;
    enum study_map_kind map;
    double budget;     // approximate wall time, s
    double time_limit; // after which remaining measurements are omitted, in budgets; 0: 1.5
    int threads;       // concurrent cases, at least 1
    taut_kernel kernel;
    taut_isa isa;
    // Called between pieces of work, from several threads: whether to end early. May be NULL.
    bool (*stop)(void *context);
    // Called before each part; done: 0 .. parts - 1. May be NULL.
    void (*progress)(void *context, const char *part, int done, int parts);
    void *context;
};

enum study_verdict {
    STUDY_UNKNOWN, // not measured: the study ended early, or the integrator cannot run the scene
    STUDY_STABLE,
    STUDY_UNSTABLE,  // energy grew beyond what is available, or a value is not finite
    STUDY_UNDECIDED, // only in the search for a limit: the runs are too short to decide
    STUDY_VERDICTS
};

// "unknown", "stable", "unstable", "undecided"
const char *study_verdict_name(enum study_verdict verdict);

enum study_limit_kind {
    STUDY_LIMIT_UNKNOWN,   // not measured, as above
    STUDY_LIMIT_FOUND,     // stable at .stable, unstable at .unstable
    STUDY_LIMIT_GROWS,     // no stable step: energy grew at the smallest step tried, .unstable
    STUDY_LIMIT_BEYOND,    // stable at the largest step tried, .stable
    STUDY_LIMIT_UNDECIDED, // between .stable (NAN: below .unstable) and .unstable
    STUDY_LIMIT_KINDS
};

// "unknown", "found", "grows", "beyond", "undecided"
const char *study_limit_name(enum study_limit_kind kind);

struct study_limit {
    enum integrator integrator;
    double predicted; // s, from the critical step; INFINITY: all are stable; NAN: none is known
    enum study_limit_kind kind;
    double measured; // s, between the two below; NAN unless FOUND
    double stable,
        unstable;  // s, the largest step found stable, the smallest found unstable; or NAN
    double growth; // 1/s, of the energy at .unstable, for GROWS; otherwise NAN
    int runs;
    uint64_t steps; // of all runs
};

// The energy of a run, at the same times as that of the reference.
struct study_drift {
    enum integrator integrator;
    double dt; // s
    uint64_t steps;
    enum study_verdict verdict;
    double drift;     // 1/s: slope of (E - E_reference) / available; NAN unless stable
    double deviation; // largest |E - E_reference| / available; NAN unless stable
};

struct study_point {
    double time, energy; // s; (E - E at the start) / available
};

// Energy over time for every integrator at one step, and for the reference.
struct study_series {
    bool reference;
    enum integrator integrator;
    double dt;
    size_t point_count; // fewer if the run was unstable
    struct study_point *points;
};

// The cost and the final error of a run to study.accuracy_time.
struct study_accuracy {
    enum integrator integrator;
    double dt;
    uint64_t steps, evaluations; // force evaluations
    double seconds;              // wall time of the steps
    double error; // of positions, weighted by mass, relative to the displacement; NAN if unstable
};

// Why the runs of an integrator show no order.
enum study_no_order {
    STUDY_ORDER_FITTED,    // there is an order
    STUDY_ORDER_RUNS,      // fewer than three runs are stable, or the study ended early
    STUDY_ORDER_ROUNDING,  // too few errors are above the rounding error of a run
    STUDY_ORDER_SOLVER,    // or above the error of the implicit solves
    STUDY_ORDER_IRREGULAR, // errors do not fall at a steady rate from step to step
    STUDY_NO_ORDERS
};

// "", "runs", "rounding", "solver", "irregular"
const char *study_no_order_name(enum study_no_order reason);

// The same as part of a sentence: "too few stable runs".
const char *study_no_order_text(enum study_no_order reason);

struct study_order {
    enum integrator integrator;
    enum study_no_order reason;
    double order;    // slope of log(error) over log(dt) at the smallest suitable steps; or NAN
    double floor;    // the smallest relative error possible at those steps; NAN: unknown
    int points;      // to which the slope is fitted
    double from, to; // s, range of their steps
};

// An undamped oscillator, run with the integrator: x_n = factor^n cos(ratio omega n dt).
struct study_frequency {
    enum integrator integrator;
    double dt;
    double y;      // omega dt
    double ratio;  // of the frequency to the true one; NAN if it does not oscillate
    double factor; // of the amplitude, per step
    double phase;  // radians, lead after one true period, 2 pi (ratio - 1)
};

// The scene's own oscillation, by the crossings of a node's coordinate through its mean.
struct study_oscillation {
    enum integrator integrator;
    double dt;
    double ratio; // of the frequency to that of the reference run; NAN if it is not clear
    double phase; // radians, lead after one period, 2 pi (ratio - 1)
};

struct study_cell {
    enum study_verdict verdict;
    double drift; // 1/s, of the energy's difference from an rk4 run, relative to the available
                  // energy; NAN unless stable
};

struct study_map {
    enum study_map_kind kind;
    // What a factor multiplies: the scene's own stiffness or damping; if the scene's springs have
    // no damping, the damping that is critical for the fastest oscillation (c = 2 k / omega).
    bool of_critical;
    size_t row_count, column_count; // rows: factors, columns: steps
    double *factors;                // in ascending order
    double *steps;                  // s, in ascending order
    double *predicted;              // s; [integrator][row]; as in struct study_limit
    struct study_cell *cells;       // [integrator][row][column]
};

struct study {
    uint64_t nodes, springs, faces;
    double scene_dt; // s, the scene's own, or the result of dt: auto
    enum integrator scene_integrator;
    struct critical_step critical; // of the scene at t = 0
    double omega;                  // rad/s, on which predictions are based
    bool omega_computed;           // omega is from Lanczos' method, not the guaranteed bound
    double unit; // s, the predicted limit of symplectic Euler, damping included: steps are chosen
                 // in units of it
    double duration;      // s, the scene's own
    double window;        // s, of runs for limits and drift
    double map_window;    // s, of the runs of the map
    double accuracy_time; // s, of runs for order and cost
    bool shortened;       // the window is shorter than the scene, to keep to the budget
    uint64_t broken;      // springs at the end of the reference run
    bool at_rest;         // nothing moves by itself: runs start from small random velocities
    double available;     // J, the reference for energies (docs/numerics.md)
    bool closed_form;     // errors are relative to the closed form, otherwise to the reference run
    double reference_dt;  // s, of the rk4 run for order and cost
    double energy_dt;     // s, of the series
    bool complete;        // false: ended by stop, or by the budget
    double seconds;       // total wall time

    size_t integrator_count;
    enum integrator *integrators;
    struct study_limit *limits; // [integrator]
    size_t drift_count;
    struct study_drift *drifts; // all steps of one integrator, then those of the next, ...
    size_t series_count;
    struct study_series *series;
    size_t accuracy_count;
    struct study_accuracy *accuracies;
    struct study_order *orders; // [integrator]
    size_t frequency_count;
    struct study_frequency *frequencies;
    // Set only if the scene's motion has a clear period.
    bool oscillates;
    uint64_t oscillating_node; // over all bodies
    int oscillating_axis;      // 0, 1, 2
    double oscillation_omega;  // rad/s, of the reference run
    size_t oscillation_count;
    struct study_oscillation *oscillations;
    struct study_map map;
};

// Runs all measurements. *result is set even if the study ended early; missing results are then
// unknown or NAN. Fails if nothing oscillates (TAUT_ERROR_SCENE), if the scene cannot be built, or
// if memory runs out. Call study_free in every case.
taut_status study_make(const taut_scene *scene, const struct study_options *options,
                       struct study **result, taut_error *error);

void study_free(struct study *study);

// The run of an integrator with the fewest evaluations among those with at most this error; NULL:
// none.
const struct study_accuracy *study_cheapest(const struct study *study, enum integrator integrator,
                                            double error);

#endif
