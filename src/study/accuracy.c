// Measures the cost of accuracy, and the order of convergence from the same runs. Each integrator
// runs to the same time with steps that are halved repeatedly; the error is the distance from the
// closed form, or from an rk4 run with a quarter of the smallest step.
#include <stdlib.h>

#include "base/memory.h"
#include "study/setup.h"

struct reference {
    size_t nodes;
    double *start, *end; // positions, 3 per node
    double moved;        // root mean square displacement weighted by mass, m
    double rounding;     // relative rounding error of a run, divided by the root of its steps
    double *solver;      // [integrator]: relative error left by the implicit solves; 0: none
};

static size_t first_of(const struct setup *setup, size_t integrator)
{
    return integrator * (size_t)setup->accuracy_levels;
}

// The kick is stronger than for limits, so that differences of positions stay well above rounding.
static const double STRONGER = 1000;

static struct variant at_start(const struct setup *setup, enum integrator integrator, double dt)
{
    struct variant variant = variant_of(integrator, dt);
    variant.kick = setup->study->at_rest ? STRONGER * setup->kick : 0;
    return variant;
}

static void read_positions(const taut_solver *solver, double *positions)
{
    solver_read_nodes(solver, 0, taut_solver_node_count(solver), positions, NULL, NULL);
}

// Root mean square distance between two sets of positions, weighted by mass, without kinematic
// nodes.
static double distance(const taut_solver *solver, const double *a, const double *b)
{
    const struct topology *topology = solver_topology(solver);
    double squares = 0, mass = 0;
    for (size_t i = 0; i < (size_t)topology->node_count; i++) {
        size_t node = (size_t)topology_internal_node(topology, i);
        if (topology_is_kinematic(topology, node))
            continue;
        double m = topology_mass(topology, node);
        mass += m;
        for (size_t axis = 0; axis < 3; axis++)
            squares +=
                m * (a[3 * i + axis] - b[3 * i + axis]) * (a[3 * i + axis] - b[3 * i + axis]);
    }
    return sqrt(squares / mass);
}

static taut_status run_to_end(struct setup *setup, const struct variant *variant, uint64_t steps,
                              taut_solver **solver, bool *sound, taut_error *error)
{
    *sound = false;
    taut_status status = variant_open(setup, variant, solver, error);
    // Steps are done in parts, so that a study can be stopped.
    for (uint64_t done = 0; status == TAUT_OK && done < steps && !part_has_ended(setup);) {
        uint64_t piece = steps - done < 4096 ? steps - done : 4096;
        status = solver_advance(*solver, piece, error);
        done += piece;
        *sound = status == TAUT_OK && done == steps;
    }
    return status;
}

static taut_status run_reference_solution(struct setup *setup, struct reference *reference,
                                          taut_error *error)
{
    struct study *study = setup->study;
    uint64_t finest = study->accuracies[setup->accuracy_levels - 1].steps;
    study->reference_dt = study->accuracy_time / (double)(4 * finest);
    struct variant variant = at_start(setup, INTEGRATOR_RK4, study->reference_dt);
    taut_solver *solver;
    bool sound;
    taut_status status = run_to_end(setup, &variant, 4 * finest, &solver, &sound, error);
    if (status == TAUT_OK && sound) {
        read_positions(solver, reference->end);
        reference->moved = distance(solver, reference->start, reference->end);
    }
    taut_solver_destroy(solver);
    return status;
}

// Uses the closed form instead if the run agrees with it. It does not if the spring is compressed
// beyond its anchor.
static taut_status evaluate_formula(struct setup *setup, struct reference *reference,
                                    taut_error *error)
{
    double *positions = memory_allocate(NULL, 3 * reference->nodes, sizeof *positions);
    if (!positions)
        return fail_memory(error, "the closed form");
    struct variant variant = at_start(setup, INTEGRATOR_RK4, setup->study->accuracy_time);
    variant.formula = true;
    taut_solver *solver;
    taut_status status = variant_open(setup, &variant, &solver, error);
    bool agrees = false;
    if (status == TAUT_ERROR_SCENE)
        status = TAUT_OK; // over-damped: no oscillation
    else if (status == TAUT_OK)
        status = solver_advance(solver, 1, error);
    if (status == TAUT_OK && solver) {
        read_positions(solver, positions);
        double squares = 0, apart = 0; // not distance(): in this variant all nodes are kinematic
        for (size_t i = 0; i < 3 * reference->nodes; i++) {
            squares += (reference->end[i] - reference->start[i]) *
                       (reference->end[i] - reference->start[i]);
            apart += (reference->end[i] - positions[i]) * (reference->end[i] - positions[i]);
        }
        agrees = apart < 1e-12 * squares;
    }
    for (size_t i = 0; agrees && i < 3 * reference->nodes; i++)
        reference->end[i] = positions[i];
    setup->study->closed_form = agrees;
    taut_solver_destroy(solver);
    memory_release(NULL, positions, 3 * reference->nodes, sizeof *positions);
    return status;
}

// The largest coordinate at the beginning and the end of the run, m.
static double largest_coordinate(const struct reference *reference)
{
    double largest = 0;
    for (size_t i = 0; i < 3 * reference->nodes; i++)
        largest = fmax(largest, fmax(fabs(reference->start[i]), fabs(reference->end[i])));
    return largest;
}

// The distance between the final states of two variants at an accuracy level, relative to the
// displacement; NAN if one of them is unstable.
static taut_status compare(struct setup *setup, const struct reference *reference,
                           const struct variant variants[2], uint64_t steps, double *apart,
                           taut_error *error)
{
    double *positions[2];
    taut_status status = TAUT_OK;
    bool sound = true;
    *apart = NAN;
    for (int i = 0; i < 2; i++)
        positions[i] = memory_allocate(NULL, 3 * reference->nodes, sizeof *positions[i]);
    if (!positions[0] || !positions[1])
        status = fail_memory(error, "the positions of the nodes");
    for (int i = 0; i < 2 && status == TAUT_OK && sound; i++) {
        taut_solver *solver;
        status = run_to_end(setup, &variants[i], steps, &solver, &sound, error);
        if (sound)
            read_positions(solver, positions[i]);
        if (sound && i == 1)
            *apart = distance(solver, positions[0], positions[1]) / reference->moved;
        taut_solver_destroy(solver);
        if (status == TAUT_ERROR_DIVERGED || status == TAUT_ERROR_COLLAPSED ||
            status == TAUT_ERROR_SCENE || status == TAUT_ERROR_UNSUPPORTED)
            status = TAUT_OK;
    }
    for (int i = 0; i < 2; i++)
        memory_release(NULL, positions[i], 3 * reference->nodes, sizeof *positions[i]);
    return status;
}

// A level a few above the finest, whose rounding and solver errors represent all levels.
static const struct study_accuracy *sample_level(const struct setup *setup, size_t integrator)
{
    enum { ABOVE = 3 };
    int level = setup->accuracy_levels > ABOVE ? setup->accuracy_levels - 1 - ABOVE : 0;
    return &setup->study->accuracies[first_of(setup, integrator) + (size_t)level];
}

// Every step rounds every coordinate, by a quarter of the last digit on average. By the end, the
// motion amplifies or damps such an error by a factor that is found from two runs with slightly
// different starts. Errors accumulate as in a random walk.
static taut_status find_rounding(struct setup *setup, struct reference *reference,
                                 taut_error *error)
{
    const double displacement = 1e-6, digit = 0x1p-52;
    const struct study_accuracy *level = sample_level(setup, 0);
    struct variant variants[2];
    variants[0] = variants[1] = at_start(setup, INTEGRATOR_RK4, level->dt / 2);
    variants[1].displacement = displacement * reference->moved;
    double apart;
    taut_status status = compare(setup, reference, variants, 2 * level->steps, &apart, error);
    double grown = isfinite(apart) ? apart / displacement : 1;
    reference->rounding = grown * digit / 4 * largest_coordinate(reference) / reference->moved;
    return status;
}

// The error of the solves of an implicit integrator, from two runs whose tolerances differ by a
// factor of ten, so that most of the difference is the error of the looser one.
static taut_status measure_solver(struct setup *setup, void *context, size_t index,
                                  taut_error *error)
{
    const struct reference *reference = context;
    enum integrator integrator = setup->study->integrators[index];
    if (!integrator_is_implicit(integrator))
        return TAUT_OK;
    const struct study_accuracy *level = sample_level(setup, index);
    struct variant variants[2];
    variants[0] = variants[1] = at_start(setup, integrator, level->dt);
    variants[1].tolerance *= 10;
    return compare(setup, reference, variants, level->steps, &reference->solver[index], error);
}

static taut_status find_reference(struct setup *setup, struct reference *reference,
                                  taut_error *error)
{
    reference->nodes = (size_t)setup->study->nodes;
    reference->start = memory_allocate(NULL, 3 * reference->nodes, sizeof *reference->start);
    reference->end = memory_allocate(NULL, 3 * reference->nodes, sizeof *reference->end);
    reference->solver =
        memory_allocate(NULL, setup->study->integrator_count, sizeof *reference->solver);
    if (!reference->start || !reference->end || !reference->solver)
        return fail_memory(error, "the reference run");
    struct variant variant = at_start(setup, INTEGRATOR_RK4, setup->study->unit);
    taut_solver *solver;
    taut_status status = variant_open(setup, &variant, &solver, error);
    if (status == TAUT_OK)
        read_positions(solver, reference->start);
    taut_solver_destroy(solver);
    if (status == TAUT_OK)
        status = run_reference_solution(setup, reference, error);
    if (status == TAUT_OK && setup->study->closed_form && reference->moved > 0)
        status = evaluate_formula(setup, reference, error);
    if (status == TAUT_OK && reference->moved > 0)
        status = find_rounding(setup, reference, error);
    return status;
}

// The minimum wall time of several repetitions of a short run, whose time depends on other
// processes and the state of the caches as much as on the run itself.
static taut_status time_again(struct setup *setup, const struct variant *variant, uint64_t steps,
                              double *seconds, taut_error *error)
{
    enum { TIMES = 8 };
    const double enough = 0.02; // s, of all repetitions
    taut_status status = TAUT_OK;
    double all = *seconds;
    for (int i = 1; i < TIMES && all < enough && status == TAUT_OK && !part_has_ended(setup); i++) {
        taut_solver *solver;
        bool sound;
        status = run_to_end(setup, variant, steps, &solver, &sound, error);
        if (sound) {
            all += solver_step_seconds(solver);
            *seconds = fmin(*seconds, solver_step_seconds(solver));
        }
        taut_solver_destroy(solver);
    }
    return status;
}

// Cases are ordered from the largest steps of all integrators to the smallest, which take longest,
// so that every integrator has some results if time runs out.
static taut_status measure(struct setup *setup, void *context, size_t index, taut_error *error)
{
    const struct reference *reference = context;
    size_t integrator = index % setup->study->integrator_count;
    size_t level = index / setup->study->integrator_count;
    struct study_accuracy *accuracy =
        &setup->study->accuracies[first_of(setup, integrator) + level];
    struct variant variant = at_start(setup, accuracy->integrator, accuracy->dt);

    double *positions = memory_allocate(NULL, 3 * reference->nodes, sizeof *positions);
    if (!positions)
        return fail_memory(error, "the positions of the nodes");

    taut_solver *solver;
    bool sound;
    taut_status status = run_to_end(setup, &variant, accuracy->steps, &solver, &sound, error);
    if (sound) {
        read_positions(solver, positions);
        double error_now = distance(solver, positions, reference->end) / reference->moved;
        // An error this large has no value for comparisons.
        accuracy->error = error_now < 1e3 ? error_now : NAN;
        accuracy->seconds = solver_step_seconds(solver);
        accuracy->evaluations = accuracy->steps * (uint64_t)solver_force_evaluations(solver);
    }

    // An unstable run has no error to report.
    if (status == TAUT_ERROR_DIVERGED || status == TAUT_ERROR_COLLAPSED ||
        status == TAUT_ERROR_SCENE || status == TAUT_ERROR_UNSUPPORTED)
        status = TAUT_OK;
    taut_solver_destroy(solver);
    memory_release(NULL, positions, 3 * reference->nodes, sizeof *positions);

    if (sound && status == TAUT_OK)
        status = time_again(setup, &variant, accuracy->steps, &accuracy->seconds, error);
    return status;
}

// The smallest relative error that a run can have, whatever the method.
static double floor_of(const struct reference *reference, size_t integrator, uint64_t steps)
{
    double solver = reference->solver[integrator];
    return fmax(reference->rounding * sqrt((double)steps), isfinite(solver) ? solver : 0);
}

// The slope at the smallest suitable steps: three steps, each half of the one before, whose errors
// are well above the floor of rounding and the solver, and fall at the same rate from one to the
// next. Otherwise the errors are not yet asymptotic, or they are noise.
static struct study_order fit_order(const struct setup *setup, size_t integrator,
                                    const struct reference *reference)
{
    const double above = 10, steady = 0.06, least = 0.5;
    const struct study *study = setup->study;
    const struct study_accuracy *runs = &study->accuracies[first_of(setup, integrator)];
    struct study_order order = {.integrator = study->integrators[integrator],
                                .reason = STUDY_ORDER_RUNS,
                                .order = NAN,
                                .floor = NAN};

    for (int level = setup->accuracy_levels - 3; level >= 0; level--) {
        const struct study_accuracy *it = &runs[level]; // and the two finer ones
        if (!(it[0].error < 0.5) || !isfinite(it[1].error) || !isfinite(it[2].error))
            continue;

        double floor = floor_of(reference, integrator, it[2].steps);
        if (!(fmin(it[0].error, fmin(it[1].error, it[2].error)) > above * floor)) {
            order.reason = floor > reference->rounding * sqrt((double)it[2].steps)
                               ? STUDY_ORDER_SOLVER
                               : STUDY_ORDER_ROUNDING;
            continue;
        }

        double coarse = log2(it[0].error / it[1].error), fine = log2(it[1].error / it[2].error);
        if (!(fabs(coarse - fine) <= steady) || !(fmin(coarse, fine) >= least)) {
            order.reason = STUDY_ORDER_IRREGULAR;
            continue;
        }

        order.reason = STUDY_ORDER_FITTED;
        order.order = (coarse + fine) / 2; // the least squares of three such points
        order.floor = floor;
        order.points = 3;
        order.from = it[2].dt;
        order.to = it[0].dt;
        break;
    }
    return order;
}

static taut_status list_runs(struct setup *setup, taut_error *error)
{
    struct study *study = setup->study;
    size_t count = study->integrator_count * (size_t)setup->accuracy_levels;
    study->accuracies = memory_allocate(NULL, count, sizeof *study->accuracies);
    if (!study->accuracies)
        return fail_memory(error, "the runs for accuracy");
    study->accuracy_count = count;
    for (size_t i = 0; i < count; i++) {
        struct study_accuracy *accuracy = &study->accuracies[i];
        int level = (int)(i % (size_t)setup->accuracy_levels);
        double coarsest = ceil(study->accuracy_time / study->unit / 2 - 1e-9);
        accuracy->integrator = study->integrators[i / (size_t)setup->accuracy_levels];
        accuracy->steps = (uint64_t)ldexp(fmax(1, coarsest), level);
        accuracy->dt = study->accuracy_time / (double)accuracy->steps;
        accuracy->error = accuracy->seconds = NAN;
    }
    return TAUT_OK;
}

taut_status study_accuracies(struct setup *setup, taut_error *error)
{
    struct study *study = setup->study;
    struct reference reference = {.moved = 0};
    taut_status status = list_runs(setup, error);
    if (status == TAUT_OK)
        status = find_reference(setup, &reference, error);
    if (status == TAUT_OK && reference.moved > 0)
        status = run_cases(setup, study->accuracy_count, measure, &reference, error);
    if (status == TAUT_OK && reference.moved > 0)
        status = run_cases(setup, study->integrator_count, measure_solver, &reference, error);
    for (size_t i = 0; status == TAUT_OK && i < study->integrator_count; i++)
        study->orders[i] = fit_order(setup, i, &reference);
    memory_release(NULL, reference.start, 3 * reference.nodes, sizeof *reference.start);
    memory_release(NULL, reference.end, 3 * reference.nodes, sizeof *reference.end);
    memory_release(NULL, reference.solver, study->integrator_count, sizeof *reference.solver);
    return status;
}
