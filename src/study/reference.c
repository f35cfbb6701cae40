// Prepares all measurements: the scene's critical step, the duration of runs, whether anything
// moves by itself, and how much energy the scene exchanges.
#include <float.h>
#include <stdlib.h>

#include "base/memory.h"
#include "study/setup.h"

// Fractions of the budget. There are at most two reference runs.
static const double REFERENCE_SHARE = 0.1, SHORTEST_SHARE = 0.3;
static const double LIMITS_SHARE = 0.3, DRIFTS_SHARE = 0.25, ACCURACY_SHARE = 0.2;

// The least number of steps of a run for limits, in units of the window, and the steps per unit of
// the reference run if the budget allows fine steps and if it does not.
enum { UNITS_MIN = 150, FINE_PARTS = 16, COARSE_PARTS = 4 };

// Approximate number of runs for one limit, and their samples.
enum { RUNS_FOR_A_LIMIT = 20, SAMPLES_FOR_A_LIMIT = 64 };
static const double LARGE_STEPS = 0.3; // fraction of the steps, since most runs have steps of many
                                       // units (limit.c)

double predicted_step(enum integrator integrator, const struct critical_step *critical)
{
    double computed = critical->computed_dt[integrator];
    double dt = computed > 0 ? computed : critical->dt[integrator];
    return dt > 0 ? dt : NAN;
}

// Opens the scene unchanged, except for its precision and energy budget.
static taut_status open_unmodified(const struct setup *setup, taut_solver **result,
                                   taut_error *error)
{
    taut_scene scene = *setup->scene;
    scene.precision = PRECISION_DOUBLE;
    scene.output.work = false;
    struct solver_options options = {
        .config = {.threads = 1, .kernel = setup->options->kernel, .isa = setup->options->isa}};
    options.config.no_pin = 1;
    options.tolerant = true;
    return solver_create(&scene, &options, result, error);
}

// The diagonal of the box around all nodes, and their largest coordinate, m.
static taut_status measure_extent(const taut_solver *solver, double *extent, double *farthest,
                                  taut_error *error)
{
    size_t nodes = (size_t)taut_solver_node_count(solver);
    double *positions = memory_allocate(NULL, 3 * nodes, sizeof *positions);
    if (!positions)
        return fail_memory(error, "the positions of the nodes");
    solver_read_nodes(solver, 0, nodes, positions, NULL, NULL);
    double square = 0;
    for (size_t axis = 0; axis < 3; axis++) {
        double least = INFINITY, most = -INFINITY;
        for (size_t i = 0; i < nodes; i++) {
            least = fmin(least, positions[3 * i + axis]);
            most = fmax(most, positions[3 * i + axis]);
        }
        square += (most - least) * (most - least);
        *farthest = fmax(*farthest, fmax(fabs(least), fabs(most)));
    }
    memory_release(NULL, positions, 3 * nodes, sizeof *positions);
    *extent = sqrt(square);
    return TAUT_OK;
}

// The memory of all stored states of the reference run, at most.
static const double BASE_BYTES = 256e6;

// The reference run has come to rest if its last quarter has at most this fraction of the available
// energy.
static const double AT_REST = 1e-6;

// Random velocities that move nodes by a ten-millionth of the scene's size: small compared with
// every spring, and large compared with rounding of doubles.
static const double KICK = 1e-7;
// A perturbation is at least this large compared with the coordinates, so that rounding does not
// affect it.
static const double PERTURBATION_ROUNDINGS = 1e5 * DBL_EPSILON;

static bool dissipates(const struct scene_collider *it)
{
    return it->response == RESPONSE_PROJECT || it->friction != 0 || it->coulomb.present ||
           it->surface_friction.present || it->absorption != 0 || collider_moves(it) ||
           vec3_length(it->velocity) > 0;
}

// Whether the scene conserves energy; if so, the energy is known without a reference run.
static bool is_conservative(const taut_scene *scene, const taut_solver *solver)
{
    const struct topology *topology = solver_topology(solver);
    if (scene->environment.air_drag != 0 || topology->any_mass_drag ||
        scene->environment.wind.present || scene->simulation.keep_velocity != 1 ||
        topology->any_breaks || topology->any_yields || topology->motion_count > 0)
        return false;
    for (size_t i = 0; i < topology->material_count; i++)
        if (topology->materials[i].damping != 0)
            return false;
    for (size_t b = 0; b < scene->body_count; b++)
        if (scene->bodies[b].pressure.present && scene->bodies[b].pressure.inflate < 1)
            return false;
    for (size_t c = 0; c < scene->collider_count; c++)
        if (dissipates(&scene->colliders[c]))
            return false;
    return true;
}

static bool has_rigid_springs(const taut_solver *solver)
{
    const struct topology *topology = solver_topology(solver);
    for (size_t i = 0; i < topology->material_count; i++)
        if (topology->materials[i].law == LAW_RIGID)
            return true;
    return false;
}

static taut_status inspect_scene(struct setup *setup, double *kick_energy, taut_error *error)
{
    struct study *study = setup->study;
    taut_solver *solver;
    taut_status status = open_unmodified(setup, &solver, error);
    if (status == TAUT_OK)
        status = solver_computed_steps(solver, &study->critical, error);
    if (status == TAUT_OK && !study->critical.known)
        status = has_rigid_springs(solver)
                     ? fail(error, TAUT_ERROR_SCENE,
                            "nothing oscillates: springs with 'law: rigid' keep their lengths and "
                            "have no frequency that a step could be compared with")
                     : fail(error, TAUT_ERROR_SCENE,
                            "nothing oscillates: no spring is at a free node, and every step is "
                            "stable");

    double extent = 0, farthest = 0;
    if (status == TAUT_OK)
        status = measure_extent(solver, &extent, &farthest, error);

    if (status == TAUT_OK) {
        study->nodes = taut_solver_node_count(solver);
        study->springs = taut_solver_spring_count(solver);
        study->faces = taut_solver_face_count(solver);
        study->scene_dt = taut_solver_dt(solver);
        study->scene_integrator = solver_integrator(solver);
        study->duration = study->scene_dt * (double)taut_solver_steps_planned(solver);
        study->omega_computed = study->critical.computed_omega > 0;
        study->omega =
            study->omega_computed ? study->critical.computed_omega : study->critical.omega;
        study->unit = predicted_step(INTEGRATOR_SYMPLECTIC_EULER, &study->critical);
        setup->conservative = is_conservative(setup->scene, solver);
        setup->kick = KICK * fmax(extent, 1e-30) * study->omega;
        setup->perturbation = fmax(KICK * fmax(extent, 1e-30), PERTURBATION_ROUNDINGS * farthest);
        setup->base_bytes = solver_checkpoint_bytes(solver);
        *kick_energy =
            0.5 * topology_total_mass(solver_topology(solver)) * setup->kick * setup->kick;
    }
    taut_solver_destroy(solver);
    return status;
}

// The number of steps of one unit for which `factor` times as many, by every integrator, fit into
// the seconds. Integrators that solve equations in a step take only the fraction `share` of them.
static double affordable(const struct setup *setup, double seconds, double runs, double factor,
                         double share, double samples)
{
    double fixed = 0, each = 0;
    for (size_t i = 0; i < setup->study->integrator_count; i++) {
        enum integrator integrator = setup->study->integrators[i];
        double none = estimated_seconds(setup, integrator, 0, samples);
        double taken = integrator > INTEGRATOR_RK4 ? share * factor : factor;
        fixed += runs * none;
        each += taken * (estimated_seconds(setup, integrator, 1, samples) - none);
    }
    return (seconds - fixed) / each;
}

static double between(double least, double value, double most)
{
    return fmax(least, fmin(value, most));
}

static void set_window(struct setup *setup, double units)
{
    struct study *study = setup->study;
    setup->limit_steps = (uint64_t)units;
    study->window = (double)setup->limit_steps * study->unit;
    study->shortened = study->window < 0.999 * study->duration;
}

// The length of a reference run, in units, that fits into the seconds.
static double affordable_reference(const struct setup *setup, double seconds)
{
    double none = estimated_seconds(setup, INTEGRATOR_RK4, 0, STUDY_SAMPLES);
    double unit = estimated_seconds(setup, INTEGRATOR_RK4, COARSE_PARTS, STUDY_SAMPLES) - none;
    return (seconds - none) / unit;
}

// A thousand steps show growth of one part in a few thousand. More are useful only if the scene's
// motion takes longer to develop.
static void choose_windows(struct setup *setup)
{
    enum { ENOUGH = 1000, MOST = 20000 };
    struct study *study = setup->study;
    double budget = setup->options->budget;
    double threads = fmin(setup->options->threads, (double)study->integrator_count);
    double scene = study->duration / study->unit, wanted = between(ENOUGH, scene, MOST);
    double limits = affordable(setup, LIMITS_SHARE * budget * threads, RUNS_FOR_A_LIMIT,
                               RUNS_FOR_A_LIMIT, LARGE_STEPS, SAMPLES_FOR_A_LIMIT);
    double drifts = affordable(setup, DRIFTS_SHARE * budget * threads, STUDY_DRIFT_STEPS, 18.75, 1,
                               STUDY_SAMPLES);
    double reference = affordable_reference(setup, REFERENCE_SHARE * budget);
    set_window(setup, between(UNITS_MIN, fmin(reference, fmin(limits, drifts)), wanted));
}

// Steps of two units, one unit, half a unit, ...
static void choose_levels(struct setup *setup)
{
    enum { LEAST = 4, MOST = 11, FEW_UNITS = 4, MANY_UNITS = 64 };
    struct study *study = setup->study;
    double scene = study->duration / study->unit;
    bool linear = study->at_rest || study->closed_form;
    double units = linear ? FEW_UNITS : between(FEW_UNITS, scene, MANY_UNITS);
    double seconds = ACCURACY_SHARE * setup->options->budget * (double)setup->options->threads;
    int levels = MOST;
    while (levels > LEAST) {
        double finest = units * pow(2, levels - 2);
        double reference = estimated_seconds(setup, INTEGRATOR_RK4, 4 * finest, 0);
        if (affordable(setup, seconds - reference, levels, 2, 1, 0) >= finest)
            break;
        levels--;
    }
    setup->accuracy_levels = levels;
    study->accuracy_time = units * study->unit;
}

// Chooses as many states as their memory limit allows, in groups spread over the window.
static void choose_base_steps(struct setup *setup, double dt)
{
    const struct study *study = setup->study;
    struct bases *bases = &setup->bases;
    const size_t units = STUDY_BASE_GROUP * STUDY_BASE_UNITS;
    size_t most = (size_t)fmin((double)STUDY_BASES, BASE_BYTES / setup->base_bytes);
    size_t groups = (size_t)(study->window / study->unit) / units;
    groups = groups < most / STUDY_BASE_GROUP ? groups : most / STUDY_BASE_GROUP;
    groups = groups > 1 ? groups : 1;
    most = most > 1 ? most : 1;
    bases->wanted = groups * STUDY_BASE_GROUP < most ? groups * STUDY_BASE_GROUP : most;
    for (size_t i = 0; i < bases->wanted; i++) {
        const size_t group = i / STUDY_BASE_GROUP;
        double time = study->window * (double)group / (double)groups +
                      (double)(i % STUDY_BASE_GROUP) * STUDY_BASE_UNITS * study->unit;
        bases->steps[i] = (uint64_t)round(time / dt);
    }
}

// The energies of an rk4 run at a small fraction of a unit, or less if that is not stable (gas may
// be pumped in later). At a sixteenth, rk4 loses 3e-6 of the fastest oscillation per unit.
static taut_status run_reference(struct setup *setup, double kick, struct trace *trace,
                                 bool hurried, taut_error *error)
{
    const struct study *study = setup->study;
    double units = study->window / study->unit, parts = FINE_PARTS;
    if (hurried || estimated_seconds(setup, INTEGRATOR_RK4, parts * units, 0) >
                       REFERENCE_SHARE * setup->options->budget)
        parts = COARSE_PARTS;
    double dt = study->window / (STUDY_SAMPLES * ceil(parts * units / STUDY_SAMPLES));

    // Halves the step as long as energies grow.
    taut_status status = TAUT_OK;
    for (int tries = 0; tries < 6 && status == TAUT_OK; tries++) {
        setup->reference_fraction = pow(2, -tries);
        choose_base_steps(setup, dt);
        struct variant variant = variant_of(INTEGRATOR_RK4, dt);
        variant.kick = kick;
        trace->steps = (uint64_t)round(study->window / dt);
        status = trace_variant(setup, &variant, trace, error);
        if (status == TAUT_OK && trace->verdict == STUDY_STABLE)
            return status;
        if (status == TAUT_OK && part_has_ended(setup)) // all later parts depend on it, and end too
            return status;
        dt /= 2;
    }
    if (status == TAUT_OK)
        status = fail(error, TAUT_ERROR_DIVERGED,
                      "no step was found at which rk4 runs the scene: energies grow at %g s too",
                      2 * dt);
    return status;
}

// The energy exchanged in the run: kinetic energy and external work.
static double turnover(const struct trace *trace)
{
    double gained = 0;
    for (size_t i = 0; i < trace->count; i++)
        gained = fmax(gained, trace->energies[i] - trace->energies[0]);
    return trace->kinetic_max + gained;
}

// Runs over the present window, with random velocities if nothing moves by itself.
static taut_status try_window(struct setup *setup, double kick_energy, struct trace *trace,
                              bool hurried, taut_error *error)
{
    struct study *study = setup->study;
    trace->bases = &setup->bases;
    taut_status status = run_reference(setup, 0, trace, hurried, error);
    study->at_rest =
        status == TAUT_OK && trace->verdict == STUDY_STABLE && turnover(trace) < 0.01 * kick_energy;
    setup->comes_to_rest = study->at_rest || trace->kinetic_late < AT_REST * turnover(trace);
    trace->bases = NULL;
    if (study->at_rest)
        status = run_reference(setup, setup->kick, trace, hurried, error);
    return status;
}

// Nothing can be measured without a reference run: if the machine is slower than estimated, the
// window is shortened.
static taut_status find_energy_scale(struct setup *setup, double kick_energy, taut_error *error)
{
    enum { SHORTER = 4 };
    struct study *study = setup->study;
    struct trace *trace = calloc(1, sizeof *trace);
    if (!trace)
        return fail_memory(error, "the reference run");
    trace->samples = STUDY_SAMPLES;
    taut_status status = try_window(setup, kick_energy, trace, false, error);
    while (status == TAUT_OK && trace->verdict != STUDY_STABLE && !atomic_load(&setup->stopped) &&
           setup->limit_steps > UNITS_MIN) {
        set_window(setup, fmax(UNITS_MIN, (double)setup->limit_steps / SHORTER));
        double share = setup->limit_steps > UNITS_MIN ? REFERENCE_SHARE : SHORTEST_SHARE;
        part_extend(setup, share * setup->options->budget);
        status = try_window(setup, kick_energy, trace, true, error);
    }
    if (status == TAUT_OK && trace->verdict == STUDY_STABLE) {
        study->available = turnover(trace);
        study->broken = trace->broken;
        setup->scale = (struct energy_scale){study->available, study->window};
        for (size_t i = 0; i <= STUDY_SAMPLES; i++)
            setup->reference[i] = trace->energies[setup->conservative ? 0 : i];
    }
    free(trace);
    return status;
}

// Whether all moving bodies are oscillators on a line; then the closed form is the reference.
static bool has_closed_form(const taut_scene *scene)
{
    vec3 gravity = scene->environment.gravity;
    for (size_t b = 0; b < scene->body_count; b++) {
        const struct scene_body *body = &scene->bodies[b];
        const struct material *spring = &body->kinds[0].material;
        vec3 axis = body->shape.oscillator.axis;
        if (body->type != BODY_OSCILLATOR || spring->law != LAW_LINEAR ||
            vec3_length(vec3_cross(gravity, axis)) > 1e-9 * vec3_length(gravity))
            return false;
    }
    return scene->collider_count == 0 && !scene->environment.wind.present;
}

taut_status study_reference(struct setup *setup, taut_error *error)
{
    struct study *study = setup->study;
    double kick_energy = 0;
    taut_status status = inspect_scene(setup, &kick_energy, error);
    if (status != TAUT_OK)
        return status;
    study->available = NAN;
    choose_windows(setup);
    status = find_energy_scale(setup, kick_energy, error);
    if (status == TAUT_OK && !isnan(study->available))
        status = growth_of_reference(setup, error);
    study->closed_form = has_closed_form(setup->scene);
    choose_levels(setup);
    return status;
}
