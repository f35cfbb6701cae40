// Measures the frequency errors of an oscillator as fast as the scene's fastest, and of the scene's
// own oscillation.
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "scene/reader.h"
#include "study/setup.h"

static const double TWO_PI = 2 * 3.14159265358979323846;

// ---- A single oscillator
//
// Frequency, phase and amplitude of an undamped oscillator as fast as the scene's fastest, for each
// integrator. The solution of a linear method satisfies x_(n+1) = 2 r cos(t) x_n - r^2 x_(n-1).
// Fitted to the run, this gives the phase per step t and the amplitude factor per step r, both
// exact up to rounding.

static const double YS[] = {1.6, 1, 0.5, 0.25, 0.125}; // omega dt
enum { Y_COUNT = sizeof YS / sizeof YS[0], FITTED_STEPS = 64 };

// 1 kg at 1 m from its anchor, on a spring of zero rest length.
static taut_scene *oscillator(const struct setup *setup, taut_error *error)
{
    double stiffness = setup->study->omega * setup->study->omega;
    char *text = text_format("precision: double\n"
                             "simulation: {integrator: rk4, dt: 1, steps: 1}\n"
                             "output: {work: false}\n"
                             "bodies: [{name: o, type: network, nodes: [[0,0,0],[1,0,0]],\n"
                             "  node_mass: [1, 1], pins: [0],\n"
                             "  springs: [[0, 1, {stiffness: %.17g, rest_length: 0}]]}]\n",
                             stiffness);
    struct diagnostics findings = {0};
    taut_scene *scene =
        text ? scene_read_text(text, strlen(text), "oscillator", NULL, 0, &findings) : NULL;
    if (!scene)
        fail_memory(error, "an oscillator");
    diagnostics_free(&findings);
    free(text);
    return scene;
}

struct fit {
    double xx, xy, yy, xz, yz; // sums of products of x_n, x_(n-1) and x_(n+1)
};

static void fit_add(struct fit *fit, double before, double now, double after)
{
    fit->xx += now * now;
    fit->xy += now * before;
    fit->yy += before * before;
    fit->xz += now * after;
    fit->yz += before * after;
}

// after = a now + b before: r^2 = -b, cos(t) = a / 2r.
static void fit_read(const struct fit *fit, struct study_frequency *frequency)
{
    double determinant = fit->xx * fit->yy - fit->xy * fit->xy;
    double a = (fit->xz * fit->yy - fit->yz * fit->xy) / determinant;
    double b = (fit->yz * fit->xx - fit->xz * fit->xy) / determinant;
    frequency->factor = sqrt(-b);
    frequency->ratio = acos(a / (2 * frequency->factor)) / frequency->y;
    frequency->phase = TWO_PI * (frequency->ratio - 1);
}

static taut_status run_oscillator(struct setup *setup, const taut_scene *scene,
                                  struct study_frequency *frequency, taut_error *error)
{
    taut_scene copy = *scene;
    copy.simulation.integrator = frequency->integrator;
    copy.simulation.dt = frequency->dt;

    struct solver_options options = {
        .config = {.threads = 1, .kernel = setup->options->kernel, .isa = setup->options->isa},
        .tolerant = true};
    options.config.no_pin = 1;
    taut_solver *solver;
    taut_status status = solver_create(&copy, &options, &solver, error);
    if (status != TAUT_OK)
        return status;

    struct fit fit = {0};
    double x[3] = {NAN, 0, 0}, position[3];
    solver_read_nodes(solver, 1, 1, position, NULL, NULL);
    x[2] = position[0];

    for (int step = 1; step <= FITTED_STEPS && status == TAUT_OK; step++) {
        status = solver_advance(solver, 1, error);
        solver_read_nodes(solver, 1, 1, position, NULL, NULL);
        x[0] = x[1];
        x[1] = x[2];
        x[2] = position[0];
        if (step > 2) // some methods have a different first step
            fit_add(&fit, x[0], x[1], x[2]);
    }

    if (status == TAUT_OK)
        fit_read(&fit, frequency);
    taut_solver_destroy(solver);
    return status;
}

static taut_status measure_frequency(struct setup *setup, void *context, size_t index,
                                     taut_error *error)
{
    struct study_frequency *frequency = &setup->study->frequencies[index];
    taut_status status = run_oscillator(setup, context, frequency, error);
    if (status == TAUT_ERROR_DIVERGED || status == TAUT_ERROR_SCENE ||
        status == TAUT_ERROR_UNSUPPORTED)
        status = TAUT_OK;
    return status;
}

taut_status study_frequencies(struct setup *setup, taut_error *error)
{
    struct study *study = setup->study;
    size_t count = study->integrator_count * Y_COUNT;
    study->frequencies = memory_allocate(NULL, count, sizeof *study->frequencies);
    if (!study->frequencies)
        return fail_memory(error, "the frequencies");
    study->frequency_count = count;

    for (size_t i = 0; i < count; i++) {
        double y = YS[i % Y_COUNT];
        study->frequencies[i] =
            (struct study_frequency){.integrator = study->integrators[i / Y_COUNT],
                                     .dt = y / study->omega,
                                     .y = y,
                                     .ratio = NAN,
                                     .factor = NAN,
                                     .phase = NAN};
    }

    taut_scene *scene = oscillator(setup, error);
    if (!scene)
        return TAUT_ERROR_MEMORY;

    // The integrators have the settings of the scene under study.
    scene->simulation = setup->scene->simulation;
    scene->simulation.dt_auto = scene->simulation.has_duration = false;
    scene->simulation.steps = 1;
    scene->simulation.keep_velocity = 1;
    scene->simulation.position_step = 0;

    taut_status status = run_cases(setup, count, measure_frequency, scene, error);
    scene_free(scene);
    return status;
}

// ---- The scene
//
// The frequency of the scene's own oscillation, if it has one, from the upward crossings of a
// coordinate through its mean.

static const double STEPS[] = {0.8, 0.4, 0.2, 0.1}; // units
enum { STEP_COUNT = sizeof STEPS / sizeof STEPS[0] };
enum { PERIODS_MIN = 3, CROSSINGS_MAX = 4096 };
static const double REFERENCE_STEP = 0.125, SPREAD_MAX = 0.1;

// The coordinate that is observed.
struct signal {
    uint64_t node;
    size_t axis;
    double mean;
};

// The times at which it crosses its mean upwards.
struct crossings {
    size_t count;
    double times[CROSSINGS_MAX];
};

static double value_of(const taut_solver *solver, const struct signal *signal)
{
    double position[3];
    solver_read_nodes(solver, signal->node, 1, position, NULL, NULL);
    return position[signal->axis];
}

static taut_status follow(struct setup *setup, const struct variant *variant,
                          const struct signal *signal, struct crossings *found, taut_error *error)
{
    taut_solver *solver;
    found->count = 0;
    taut_status status = variant_open(setup, variant, &solver, error);
    if (status != TAUT_OK)
        return status;
    uint64_t steps = (uint64_t)(setup->study->window / variant->dt);
    double before = value_of(solver, signal) - signal->mean;
    for (uint64_t step = 1; step <= steps && found->count < CROSSINGS_MAX; step++) {
        if (step % 1024 == 0 && part_has_ended(setup))
            break;
        status = solver_advance(solver, 1, error);
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

// The node of the first probe, or the first free node.
static uint64_t choose_node(const struct setup *setup, const taut_solver *solver)
{
    const struct scene_output *output = &setup->scene->output;
    const struct topology *topology = solver_topology(solver);
    if (output->probe_count > 0) {
        const struct scene_probe *probe = &output->probes[0];
        const struct topology_body *body = &topology->bodies[probe->body];
        uint64_t own = probe->node.type == SELECT_NODE   ? probe->node.node
                       : probe->node.type == SELECT_LAST ? body->node_count - 1
                                                         : 0;
        uint64_t node = body->first_node + own;
        if (own < body->node_count &&
            !topology_is_kinematic(topology, topology_internal_node(topology, node)))
            return node;
    }
    uint64_t node = 0;
    while (node + 1 < topology->node_count &&
           topology_is_kinematic(topology, topology_internal_node(topology, node)))
        node++;
    return node;
}

// Chooses the coordinate that varies most in a first reference run, with its mean.
static taut_status choose_signal(struct setup *setup, const struct variant *variant,
                                 struct signal *signal, taut_error *error)
{
    taut_solver *solver;
    taut_status status = variant_open(setup, variant, &solver, error);
    if (status != TAUT_OK)
        return status;
    signal->node = choose_node(setup, solver);

    // Sums of the displacement and its square, for each axis.
    enum { SAMPLES = 1024 };
    uint64_t steps = (uint64_t)(setup->study->window / variant->dt), done = 0;
    double first[3], position[3], sums[3] = {0}, squares[3] = {0};
    solver_read_nodes(solver, signal->node, 1, first, NULL, NULL);
    for (int sample = 1; sample <= SAMPLES && status == TAUT_OK && !part_has_ended(setup);
         sample++) {
        uint64_t until = steps * (uint64_t)sample / SAMPLES;
        status = solver_advance(solver, until - done, error);
        done = until;
        solver_read_nodes(solver, signal->node, 1, position, NULL, NULL);
        for (size_t axis = 0; axis < 3; axis++) {
            sums[axis] += (position[axis] - first[axis]) / SAMPLES;
            squares[axis] +=
                (position[axis] - first[axis]) * (position[axis] - first[axis]) / SAMPLES;
        }
    }

    // The axis with the largest variance.
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
    if (crossings->count < PERIODS_MIN + 1)
        return false;
    double least = INFINITY, most = 0;
    for (size_t i = 1; i < crossings->count; i++) {
        double period = crossings->times[i] - crossings->times[i - 1];
        least = fmin(least, period);
        most = fmax(most, period);
    }
    return most - least < SPREAD_MAX * most;
}

struct followed {
    struct signal signal;
    struct crossings reference;
};

static double mean_period(const struct crossings *crossings, size_t periods)
{
    return (crossings->times[periods] - crossings->times[0]) / (double)periods;
}

static taut_status measure(struct setup *setup, void *context, size_t index, taut_error *error)
{
    const struct followed *followed = context;
    struct study_oscillation *it = &setup->study->oscillations[index];
    struct crossings *found = memory_allocate(NULL, 1, sizeof *found);
    if (!found)
        return fail_memory(error, "the periods of a run");
    struct variant variant = variant_of(it->integrator, it->dt);
    taut_status status = follow(setup, &variant, &followed->signal, found, error);
    // Over as many periods as both runs have; an unclear oscillation is not compared.
    size_t periods =
        (found->count < followed->reference.count ? found->count : followed->reference.count);
    if (status == TAUT_OK && is_clear(found)) {
        it->ratio =
            mean_period(&followed->reference, periods - 1) / mean_period(found, periods - 1);
        it->phase = TWO_PI * (it->ratio - 1);
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

// The first reference run finds the mean, the second the crossings.
taut_status study_oscillations(struct setup *setup, taut_error *error)
{
    struct study *study = setup->study;
    if (study->at_rest)
        return TAUT_OK;
    struct followed *followed = memory_allocate(NULL, 1, sizeof *followed);
    if (!followed)
        return fail_memory(error, "the periods of a run");

    struct variant variant = variant_of(INTEGRATOR_RK4, REFERENCE_STEP * study->unit);
    taut_status status = choose_signal(setup, &variant, &followed->signal, error);
    if (status == TAUT_OK)
        status = follow(setup, &variant, &followed->signal, &followed->reference, error);
    study->oscillates = status == TAUT_OK && is_clear(&followed->reference);
    if (status == TAUT_ERROR_DIVERGED || status == TAUT_ERROR_COLLAPSED)
        status = TAUT_OK;

    if (study->oscillates) {
        study->oscillating_node = followed->signal.node;
        study->oscillating_axis = (int)followed->signal.axis;
        study->oscillation_omega =
            TWO_PI / mean_period(&followed->reference, followed->reference.count - 1);
        status = list_runs(study, error);
        if (status == TAUT_OK)
            status = run_cases(setup, study->oscillation_count, measure, followed, error);
    }

    memory_release(NULL, followed, 1, sizeof *followed);
    return status;
}
