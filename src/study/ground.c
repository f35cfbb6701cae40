// What comes before every measurement: the scene's critical step, how long runs may be, whether
// anything moves by itself, and how much energy it turns over.
#include <stdlib.h>

#include "base/memory.h"
#include "study/lab.h"

// Shares of the budget. There are two reference runs at most.
static const double FOR_A_REFERENCE = 0.1, FOR_THE_SHORTEST = 0.3;
static const double FOR_LIMITS = 0.3, FOR_DRIFTS = 0.25, FOR_ACCURACY = 0.2;

// Of the window's units, a run for limits makes so many steps at least; the parts of a unit that
// the reference run steps by, where it can afford them and where it cannot.
enum { LEAST_UNITS = 150, FINE_PARTS = 16, COARSE_PARTS = 4 };

// Runs that finding a limit takes, about.
enum { RUNS_FOR_A_LIMIT = 14, LOOKS_FOR_A_LIMIT = 64 };
static const double LARGE_STEPS = 0.3; // of the steps, where most runs are at many units (limit.c)

double predicted_step(enum integrator integrator, const struct critical_step *critical)
{
    double sharp = critical->sharp_dt[integrator];
    double dt = sharp > 0 ? sharp : critical->dt[integrator];
    return dt > 0 ? dt : NAN;
}

// The scene as it is, but for precision and account.
static taut_status open_as_given(const struct lab *lab, taut_solver **result, taut_error *error)
{
    taut_scene scene = *lab->scene;
    scene.precision = PRECISION_DOUBLE;
    scene.output.work = false;
    struct solver_options options = {
        .config = {.threads = 1, .kernel = lab->options->kernel, .isa = lab->options->isa}};
    options.config.no_pin = 1;
    options.tolerant = true;
    return solver_create(&scene, &options, result, error);
}

// The diagonal of the box around all nodes, m.
static taut_status measure_extent(const taut_solver *solver, double *extent, taut_error *error)
{
    size_t nodes = (size_t)taut_solver_node_count(solver);
    double *places = memory_allocate(NULL, 3 * nodes, sizeof *places);
    if (!places)
        return fail_memory(error, "the positions of the nodes");
    solver->functions->read_nodes(solver->system, 0, nodes, places, NULL, NULL);
    double square = 0;
    for (size_t axis = 0; axis < 3; axis++) {
        double least = INFINITY, most = -INFINITY;
        for (size_t i = 0; i < nodes; i++) {
            least = fmin(least, places[3 * i + axis]);
            most = fmax(most, places[3 * i + axis]);
        }
        square += (most - least) * (most - least);
    }
    memory_release(NULL, places, 3 * nodes, sizeof *places);
    *extent = sqrt(square);
    return TAUT_OK;
}

static double total_mass(const taut_solver *solver)
{
    double mass = 0;
    for (size_t b = 0; b < solver->topology->body_count; b++)
        mass += solver->topology->bodies[b].mass;
    return mass;
}

// Random velocities that move nodes by a ten millionth of the scene's size: small against every
// spring, and large against what a double rounds.
static const double KICK = 1e-7;

static bool takes_energy(const struct scene_collider *it)
{
    return it->response == RESPONSE_PROJECT || it->friction != 0 || it->absorption != 0 ||
           vec3_length(it->velocity) > 0;
}

// Whether energy can neither come nor go: then it is known without a reference run.
static bool is_conservative(const taut_scene *scene, const taut_solver *solver)
{
    const struct topology *topology = solver->topology;
    if (scene->environment.air_drag != 0 || scene->environment.wind.present ||
        scene->simulation.keep_velocity != 1 || topology->any_breaks || topology->any_yields ||
        topology->motion_count > 0)
        return false;
    for (size_t i = 0; i < topology->material_count; i++)
        if (topology->materials[i].damping != 0)
            return false;
    for (size_t b = 0; b < scene->body_count; b++)
        if (scene->bodies[b].pressure.present && scene->bodies[b].pressure.inflate < 1)
            return false;
    for (size_t c = 0; c < scene->collider_count; c++)
        if (takes_energy(&scene->colliders[c]))
            return false;
    return true;
}

static taut_status survey(struct lab *lab, double *kick_energy, taut_error *error)
{
    struct study *study = lab->study;
    taut_solver *solver;
    taut_status status = open_as_given(lab, &solver, error);
    if (status == TAUT_OK)
        status = solver_sharp_step(solver, &study->critical, error);
    if (status == TAUT_OK && !study->critical.known)
        status = fail(error, TAUT_ERROR_SCENE,
                      "nothing oscillates: no spring is at a free node, and every step is stable");
    double extent = 0;
    if (status == TAUT_OK)
        status = measure_extent(solver, &extent, error);
    if (status == TAUT_OK) {
        study->nodes = taut_solver_node_count(solver);
        study->springs = taut_solver_spring_count(solver);
        study->faces = taut_solver_face_count(solver);
        study->scene_dt = taut_solver_dt(solver);
        study->scene_integrator = solver->integrator;
        study->duration = study->scene_dt * (double)taut_solver_steps_planned(solver);
        study->sharp = study->critical.sharp_omega > 0;
        study->omega = study->sharp ? study->critical.sharp_omega : study->critical.omega;
        study->unit = predicted_step(INTEGRATOR_SYMPLECTIC_EULER, &study->critical);
        lab->conservative = is_conservative(lab->scene, solver);
        lab->kick = KICK * fmax(extent, 1e-30) * study->omega;
        *kick_energy = 0.5 * total_mass(solver) * lab->kick * lab->kick;
    }
    taut_solver_destroy(solver);
    return status;
}

// Steps of one unit for which `factor` times as many, by every integrator, fit the seconds. Those
// that solve equations in a step take `share` of them.
static double affordable(const struct lab *lab, double seconds, double runs, double factor,
                         double share, double looks)
{
    double fixed = 0, each = 0;
    for (size_t i = 0; i < lab->study->integrator_count; i++) {
        enum integrator integrator = lab->study->integrators[i];
        double none = reckon_run(lab, integrator, 0, looks);
        double taken = integrator > INTEGRATOR_RK4 ? share * factor : factor;
        fixed += runs * none;
        each += taken * (reckon_run(lab, integrator, 1, looks) - none);
    }
    return (seconds - fixed) / each;
}

static double between(double least, double value, double most)
{
    return fmax(least, fmin(value, most));
}

static void set_window(struct lab *lab, double units)
{
    struct study *study = lab->study;
    lab->limit_steps = (uint64_t)units;
    study->window = (double)lab->limit_steps * study->unit;
    study->shortened = study->window < 0.999 * study->duration;
}

// Units of a reference run that fit the seconds.
static double affordable_reference(const struct lab *lab, double seconds)
{
    double none = reckon_run(lab, INTEGRATOR_RK4, 0, STUDY_SAMPLES);
    double unit = reckon_run(lab, INTEGRATOR_RK4, COARSE_PARTS, STUDY_SAMPLES) - none;
    return (seconds - none) / unit;
}

// A thousand steps show growth of one part in some thousand; more are of use only where a scene's
// motion takes longer to come to what matters.
static void choose_windows(struct lab *lab)
{
    enum { ENOUGH = 1000, MOST = 20000 };
    struct study *study = lab->study;
    double budget = lab->options->budget;
    double threads = fmin(lab->options->threads, (double)study->integrator_count);
    double scene = study->duration / study->unit, wanted = between(ENOUGH, scene, MOST);
    double limits = affordable(lab, FOR_LIMITS * budget * threads, RUNS_FOR_A_LIMIT,
                               RUNS_FOR_A_LIMIT, LARGE_STEPS, LOOKS_FOR_A_LIMIT);
    double drifts =
        affordable(lab, FOR_DRIFTS * budget * threads, STUDY_DRIFT_STEPS, 18.75, 1, STUDY_SAMPLES);
    double reference = affordable_reference(lab, FOR_A_REFERENCE * budget);
    set_window(lab, between(LEAST_UNITS, fmin(reference, fmin(limits, drifts)), wanted));
}

// Twice a unit, a unit, half of it, ...
static void choose_levels(struct lab *lab)
{
    enum { LEAST = 4, MOST = 11, FEW_UNITS = 4, MANY_UNITS = 64 };
    struct study *study = lab->study;
    double scene = study->duration / study->unit;
    bool linear = study->at_rest || study->closed_form;
    double units = linear ? FEW_UNITS : between(FEW_UNITS, scene, MANY_UNITS);
    double seconds = FOR_ACCURACY * lab->options->budget * (double)lab->options->threads;
    int levels = MOST;
    while (levels > LEAST) {
        double finest = units * pow(2, levels - 2);
        double reference = reckon_run(lab, INTEGRATOR_RK4, 4 * finest, 0);
        if (affordable(lab, seconds - reference, levels, 2, 1, 0) >= finest)
            break;
        levels--;
    }
    lab->accuracy_levels = levels;
    study->accuracy_time = units * study->unit;
}

// The energies of an rk4 run at a small part of a unit, or less where that is not stable (gas
// may be pumped in later). At a sixteenth rk4 loses 3e-6 of the fastest oscillation in a unit.
static taut_status run_reference(struct lab *lab, double kick, struct trace *trace, bool hurried,
                                 taut_error *error)
{
    const struct study *study = lab->study;
    double units = study->window / study->unit, parts = FINE_PARTS;
    if (hurried ||
        reckon_run(lab, INTEGRATOR_RK4, parts * units, 0) > FOR_A_REFERENCE * lab->options->budget)
        parts = COARSE_PARTS;
    double dt = study->window / (STUDY_SAMPLES * ceil(parts * units / STUDY_SAMPLES));
    taut_status status = TAUT_OK;
    for (int tries = 0; tries < 6 && status == TAUT_OK; tries++, dt /= 2) {
        struct variant variant = variant_of(INTEGRATOR_RK4, dt);
        variant.kick = kick;
        trace->steps = (uint64_t)round(study->window / dt);
        status = trace_variant(lab, &variant, trace, error);
        if (status == TAUT_OK && trace->verdict == STUDY_STABLE)
            return status;
        if (status == TAUT_OK && lab_ends(lab)) // what follows has nothing to go by, and ends too
            return status;
    }
    if (status == TAUT_OK)
        status = fail(error, TAUT_ERROR_DIVERGED,
                      "no step was found at which rk4 runs the scene: energies grow at %g s too",
                      2 * dt);
    return status;
}

// What the run turned over: kinetic energy, and what came from outside.
static double turnover(const struct trace *trace)
{
    double gained = 0;
    for (size_t i = 0; i < trace->count; i++)
        gained = fmax(gained, trace->energies[i] - trace->energies[0]);
    return trace->kinetic_max + gained;
}

// A run of the window that there is; with a kick where nothing moves by itself.
static taut_status try_window(struct lab *lab, double kick_energy, struct trace *trace,
                              bool hurried, taut_error *error)
{
    struct study *study = lab->study;
    taut_status status = run_reference(lab, 0, trace, hurried, error);
    study->at_rest =
        status == TAUT_OK && trace->verdict == STUDY_STABLE && turnover(trace) < 0.01 * kick_energy;
    if (study->at_rest)
        status = run_reference(lab, lab->kick, trace, hurried, error);
    return status;
}

// Nothing can be measured without a reference run: where the machine is too slow for it, whatever
// was reckoned, a shorter window is better than none.
static taut_status find_yardstick(struct lab *lab, double kick_energy, taut_error *error)
{
    enum { SHORTER = 4 };
    struct study *study = lab->study;
    struct trace *trace = calloc(1, sizeof *trace);
    if (!trace)
        return fail_memory(error, "the reference run");
    trace->samples = STUDY_SAMPLES;
    taut_status status = try_window(lab, kick_energy, trace, false, error);
    while (status == TAUT_OK && trace->verdict != STUDY_STABLE && !atomic_load(&lab->stopped) &&
           lab->limit_steps > LEAST_UNITS) {
        set_window(lab, fmax(LEAST_UNITS, (double)lab->limit_steps / SHORTER));
        double share = lab->limit_steps > LEAST_UNITS ? FOR_A_REFERENCE : FOR_THE_SHORTEST;
        lab_grant(lab, share * lab->options->budget);
        status = try_window(lab, kick_energy, trace, true, error);
    }
    if (status == TAUT_OK && trace->verdict == STUDY_STABLE) {
        study->available = turnover(trace);
        lab->yardstick = (struct yardstick){study->available, study->window};
        for (size_t i = 0; i <= STUDY_SAMPLES; i++)
            lab->reference[i] = trace->energies[lab->conservative ? 0 : i];
    }
    free(trace);
    return status;
}

// Whether all that moves are oscillators on a line: then the formula is what runs are held against.
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

taut_status study_ground(struct lab *lab, taut_error *error)
{
    struct study *study = lab->study;
    double kick_energy = 0;
    taut_status status = survey(lab, &kick_energy, error);
    if (status != TAUT_OK)
        return status;
    study->available = NAN;
    choose_windows(lab);
    status = find_yardstick(lab, kick_energy, error);
    study->closed_form = has_closed_form(lab->scene);
    choose_levels(lab);
    return status;
}
