// The frequency of the scene's own oscillation, where it has one: how often a coordinate rises
// through its mean.
#include "base/memory.h"
#include "study/lab.h"

static const double STEPS[] = {0.8, 0.4, 0.2, 0.1}; // units
enum { STEP_COUNT = sizeof STEPS / sizeof STEPS[0] };
enum { PERIODS_LEAST = 3, CROSSINGS_MAX = 4096 };
static const double REFERENCE_STEP = 0.125, SPREAD_MOST = 0.1;

// What is followed.
struct signal {
    uint64_t node;
    size_t axis;
    double mean;
};

// Where it rises through its mean.
struct crossings {
    size_t count;
    double times[CROSSINGS_MAX];
};

static double value_of(const taut_solver *solver, const struct signal *signal)
{
    double place[3];
    solver->functions->read_nodes(solver->system, signal->node, 1, place, NULL, NULL);
    return place[signal->axis];
}

static taut_status follow(struct lab *lab, const struct variant *variant,
                          const struct signal *signal, struct crossings *found, taut_error *error)
{
    taut_solver *solver;
    found->count = 0;
    taut_status status = variant_open(lab, variant, &solver, error);
    if (status != TAUT_OK)
        return status;
    uint64_t steps = (uint64_t)(lab->study->window / variant->dt);
    double before = value_of(solver, signal) - signal->mean;
    for (uint64_t step = 1; step <= steps && found->count < CROSSINGS_MAX; step++) {
        if (step % 1024 == 0 && lab_ends(lab))
            break;
        status = solver_advance(solver, 1, false, error);
        double now = value_of(solver, signal) - signal->mean;
        if (status != TAUT_OK || !isfinite(now))
            break;
        if (before < 0 && now >= 0)
            found->times[found->count++] = variant->dt * ((double)step - now / (now - before));
        before = now;
    }
    taut_solver_destroy(solver);
    return status;
}

// The first probe's node, or the first that is free.
static uint64_t choose_node(const struct lab *lab, const taut_solver *solver)
{
    const struct scene_output *output = &lab->scene->output;
    const struct topology *topology = solver->topology;
    if (output->probe_count > 0) {
        const struct scene_probe *probe = &output->probes[0];
        const struct topology_body *body = &topology->bodies[probe->body];
        uint64_t own = probe->node.type == SELECT_NODE   ? probe->node.node
                       : probe->node.type == SELECT_LAST ? body->node_count - 1
                                                         : 0;
        uint64_t node = body->first_node + own;
        if (own < body->node_count &&
            !topology_is_fixed(topology, topology_node_inside(topology, node)))
            return node;
    }
    uint64_t node = 0;
    while (node + 1 < topology->node_count &&
           topology_is_fixed(topology, topology_node_inside(topology, node)))
        node++;
    return node;
}

// The mean of the coordinate that varies most, of a first reference run.
static taut_status choose_signal(struct lab *lab, const struct variant *variant,
                                 struct signal *signal, taut_error *error)
{
    taut_solver *solver;
    taut_status status = variant_open(lab, variant, &solver, error);
    if (status != TAUT_OK)
        return status;
    signal->node = choose_node(lab, solver);
    enum { LOOKS = 1024 };
    uint64_t steps = (uint64_t)(lab->study->window / variant->dt), done = 0;
    double first[3], place[3], sums[3] = {0}, squares[3] = {0};
    solver->functions->read_nodes(solver->system, signal->node, 1, first, NULL, NULL);
    for (int look = 1; look <= LOOKS && status == TAUT_OK && !lab_ends(lab); look++) {
        uint64_t until = steps * (uint64_t)look / LOOKS;
        status = solver_advance(solver, until - done, false, error);
        done = until;
        solver->functions->read_nodes(solver->system, signal->node, 1, place, NULL, NULL);
        for (size_t axis = 0; axis < 3; axis++) {
            sums[axis] += (place[axis] - first[axis]) / LOOKS;
            squares[axis] += (place[axis] - first[axis]) * (place[axis] - first[axis]) / LOOKS;
        }
    }
    signal->axis = 0;
    for (size_t axis = 1; axis < 3; axis++)
        if (squares[axis] - sums[axis] * sums[axis] >
            squares[signal->axis] - sums[signal->axis] * sums[signal->axis])
            signal->axis = axis;
    signal->mean = first[signal->axis] + sums[signal->axis];
    taut_solver_destroy(solver);
    return status;
}

static bool is_clear(const struct crossings *crossings)
{
    if (crossings->count < PERIODS_LEAST + 1)
        return false;
    double least = INFINITY, most = 0;
    for (size_t i = 1; i < crossings->count; i++) {
        double period = crossings->times[i] - crossings->times[i - 1];
        least = fmin(least, period);
        most = fmax(most, period);
    }
    return most - least < SPREAD_MOST * most;
}

struct followed {
    struct signal signal;
    struct crossings reference;
};

static double mean_period(const struct crossings *crossings, size_t periods)
{
    return (crossings->times[periods] - crossings->times[0]) / (double)periods;
}

static taut_status measure(struct lab *lab, void *context, size_t index, taut_error *error)
{
    const struct followed *followed = context;
    struct study_oscillation *it = &lab->study->oscillations[index];
    struct crossings *found = memory_allocate(NULL, 1, sizeof *found);
    if (!found)
        return fail_memory(error, "the periods of a run");
    struct variant variant = variant_of(it->integrator, it->dt);
    taut_status status = follow(lab, &variant, &followed->signal, found, error);
    // Over as many periods as both have; a run that lost its own has nothing to compare.
    size_t periods =
        (found->count < followed->reference.count ? found->count : followed->reference.count);
    if (status == TAUT_OK && is_clear(found)) {
        it->ratio =
            mean_period(&followed->reference, periods - 1) / mean_period(found, periods - 1);
        it->phase = 2 * 3.14159265358979323846 * (it->ratio - 1);
    }
    memory_release(NULL, found, 1, sizeof *found);
    if (status == TAUT_ERROR_DIVERGED || status == TAUT_ERROR_COLLAPSED ||
        status == TAUT_ERROR_SCENE || status == TAUT_ERROR_UNSUPPORTED)
        status = TAUT_OK;
    return status;
}

static taut_status list_runs(struct study *study, taut_error *error)
{
    size_t count = study->integrator_count * STEP_COUNT;
    study->oscillations = memory_allocate(NULL, count, sizeof *study->oscillations);
    if (!study->oscillations)
        return fail_memory(error, "the frequencies");
    study->oscillation_count = count;
    for (size_t i = 0; i < count; i++)
        study->oscillations[i] =
            (struct study_oscillation){.integrator = study->integrators[i / STEP_COUNT],
                                       .dt = STEPS[i % STEP_COUNT] * study->unit,
                                       .ratio = NAN,
                                       .phase = NAN};
    return TAUT_OK;
}

// One whole pass finds the mean, the next the crossings.
taut_status study_oscillations(struct lab *lab, taut_error *error)
{
    struct study *study = lab->study;
    if (study->at_rest)
        return TAUT_OK;
    struct followed *followed = memory_allocate(NULL, 1, sizeof *followed);
    if (!followed)
        return fail_memory(error, "the periods of a run");
    struct variant variant = variant_of(INTEGRATOR_RK4, REFERENCE_STEP * study->unit);
    taut_status status = choose_signal(lab, &variant, &followed->signal, error);
    if (status == TAUT_OK)
        status = follow(lab, &variant, &followed->signal, &followed->reference, error);
    study->oscillates = status == TAUT_OK && is_clear(&followed->reference);
    if (status == TAUT_ERROR_DIVERGED || status == TAUT_ERROR_COLLAPSED)
        status = TAUT_OK;
    if (study->oscillates) {
        study->oscillating_node = followed->signal.node;
        study->oscillating_axis = (int)followed->signal.axis;
        study->oscillation_omega = 2 * 3.14159265358979323846 /
                                   mean_period(&followed->reference, followed->reference.count - 1);
        status = list_runs(study, error);
        if (status == TAUT_OK)
            status = lab_cases(lab, study->oscillation_count, measure, followed, error);
    }
    memory_release(NULL, followed, 1, sizeof *followed);
    return status;
}
