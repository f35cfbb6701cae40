// Frequency, phase and amplitude of one undamped oscillator as fast as the scene's fastest, run
// with each integrator. What a linear method makes of it goes by x_(n+1) = 2 r cos(t) x_n - r^2
// x_(n-1), which is fitted to the run: t is the phase of a step and r the factor of the amplitude,
// both to rounding.
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "scene/reader.h"
#include "study/lab.h"

static const double YS[] = {1.6, 1, 0.5, 0.25, 0.125}; // omega dt
enum { Y_COUNT = sizeof YS / sizeof YS[0], FITTED_STEPS = 64 };

// 1 kg at 1 m from its anchor, on a spring without length.
static taut_scene *oscillator(const struct lab *lab, taut_error *error)
{
    double stiffness = lab->study->omega * lab->study->omega;
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
    frequency->phase = 2 * 3.14159265358979323846 * (frequency->ratio - 1);
}

static taut_status run_oscillator(struct lab *lab, const taut_scene *scene,
                                  struct study_frequency *frequency, taut_error *error)
{
    taut_scene copy = *scene;
    copy.simulation.integrator = frequency->integrator;
    copy.simulation.dt = frequency->dt;
    struct solver_options options = {
        .config = {.threads = 1, .kernel = lab->options->kernel, .isa = lab->options->isa},
        .tolerant = true};
    options.config.no_pin = 1;
    taut_solver *solver;
    taut_status status = solver_create(&copy, &options, &solver, error);
    if (status != TAUT_OK)
        return status;
    struct fit fit = {0};
    double x[3] = {NAN, 0, 0}, place[3];
    solver->functions->read_nodes(solver->system, 1, 1, place, NULL, NULL);
    x[2] = place[0];
    for (int step = 1; step <= FITTED_STEPS && status == TAUT_OK; step++) {
        status = solver_advance(solver, 1, false, error);
        solver->functions->read_nodes(solver->system, 1, 1, place, NULL, NULL);
        x[0] = x[1];
        x[1] = x[2];
        x[2] = place[0];
        if (step > 2) // the first step of some is another
            fit_add(&fit, x[0], x[1], x[2]);
    }
    if (status == TAUT_OK)
        fit_read(&fit, frequency);
    taut_solver_destroy(solver);
    return status;
}

static taut_status measure_frequency(struct lab *lab, void *context, size_t index,
                                     taut_error *error)
{
    struct study_frequency *frequency = &lab->study->frequencies[index];
    taut_status status = run_oscillator(lab, context, frequency, error);
    if (status == TAUT_ERROR_DIVERGED || status == TAUT_ERROR_SCENE ||
        status == TAUT_ERROR_UNSUPPORTED)
        status = TAUT_OK;
    return status;
}

taut_status study_frequencies(struct lab *lab, taut_error *error)
{
    struct study *study = lab->study;
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
    taut_scene *scene = oscillator(lab, error);
    if (!scene)
        return TAUT_ERROR_MEMORY;
    // The integrators are set up as in the scene that is studied.
    scene->simulation = lab->scene->simulation;
    scene->simulation.dt_auto = scene->simulation.has_duration = false;
    scene->simulation.steps = 1;
    scene->simulation.keep_velocity = 1;
    scene->simulation.position_step = 0;
    taut_status status = lab_cases(lab, count, measure_frequency, scene, error);
    scene_free(scene);
    return status;
}
