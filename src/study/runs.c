// The runs on which measurements are based: solvers of variants of the scene, whose energies are
// sampled and judged, many of them concurrently, each on one thread of a team. The measurements are
// in files of their own.
#include <pthread.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/os.h"
#include "study/setup.h"

// ---- Variants of the scene

struct variant variant_of(enum integrator integrator, double dt)
{
    return (struct variant){.integrator = integrator,
                            .dt = dt,
                            .stiffness = 1,
                            .damping = 1,
                            .tolerance = STUDY_TOLERANCE};
}

static taut_status kick_body(struct body *body, uint64_t first_node, double speed,
                             taut_error *error)
{
    size_t count = 3 * (size_t)body->node_count;
    if (!body_list_velocities(body))
        return fail_memory(error, "the velocities of the nodes");
    for (size_t i = 0; i < count; i++)
        if (!body->kinematic[i / 3])
            body->velocities[i] += speed * random_at(3 * first_node + i);
    return TAUT_OK;
}

static taut_status displace_body(struct body *body, uint64_t first_node, double distance,
                                 taut_error *error)
{
    if (!body_list_positions(body))
        return fail_memory(error, "the positions of the nodes");
    for (size_t i = 0; i < 3 * (size_t)body->node_count; i++)
        if (!body->kinematic[i / 3])
            body->positions[i] += distance * random_at(3 * first_node + i);
    return TAUT_OK;
}

struct change {
    const struct variant *variant;
    double rate; // the variant's dt over the scene's, for quantities that change once per step
};

static taut_status change_bodies(const void *context, struct bodies *bodies, taut_error *error)
{
    const struct change *change = context;
    const struct variant *variant = change->variant;
    taut_status status = TAUT_OK;
    uint64_t first_node = 0;
    for (size_t b = 0; b < bodies->count && status == TAUT_OK; b++) {
        struct body *body = &bodies->items[b];
        for (size_t m = 0; m < body->material_count; m++) {
            struct material *material = &body->materials[m];
            material->stiffness *= variant->stiffness;
            material->damping =
                material->damping * variant->damping + variant->relaxation * material->stiffness;
        }
        // All gas at once has no rate: it would be pumped during the first of the scene's own
        // steps.
        if (body->pressure.inflate < 1)
            body->pressure.inflate = fmin(1, body->pressure.inflate * change->rate);
        if (variant->kick != 0)
            status = kick_body(body, first_node, variant->kick, error);
        if (status == TAUT_OK && variant->displacement != 0)
            status = displace_body(body, first_node, variant->displacement, error);
        first_node += body->node_count;
    }
    return status;
}

// A copy of the scene's bodies with oscillators in closed form; the caller frees it.
static struct scene_body *by_formula(const taut_scene *scene)
{
    struct scene_body *bodies = memory_copy(NULL, scene->bodies, scene->body_count, sizeof *bodies);
    for (size_t b = 0; bodies && b < scene->body_count; b++)
        if (bodies[b].type == BODY_OSCILLATOR)
            bodies[b].shape.oscillator.model = OSCILLATOR_CLOSED_FORM;
    return bodies;
}

// A solve to STUDY_TOLERANCE may take more iterations than the scene allows.
enum { ITERATIONS_MIN = 20000 };

static void set_simulation(const struct setup *setup, const struct variant *variant,
                           taut_scene *scene)
{
    struct scene_simulation *simulation = &scene->simulation;
    double own = setup->study->scene_dt, rate = variant->dt / own;
    double ratio = simulation->position_step > 0 ? simulation->position_step / own : 0;
    simulation->integrator = variant->integrator;
    simulation->dt = variant->dt;
    simulation->dt_auto = simulation->has_duration = false;
    simulation->steps = 1;
    simulation->keep_velocity = pow(simulation->keep_velocity, rate);
    simulation->implicit.tolerance = fmin(simulation->implicit.tolerance, variant->tolerance);
    if (simulation->implicit.iterations < ITERATIONS_MIN)
        simulation->implicit.iterations = ITERATIONS_MIN;
    simulation->position_step =
        variant->integrator == INTEGRATOR_SYMPLECTIC_EULER ? ratio * variant->dt : 0;
    scene->precision = PRECISION_DOUBLE;
    scene->output.work = false;
}

// The scene is shared by many threads and never written: a variant changes a shallow copy of it,
// and the bodies after they are built.
taut_status variant_open(const struct setup *setup, const struct variant *variant,
                         taut_solver **result, taut_error *error)
{
    *result = NULL;
    taut_scene scene = *setup->scene;
    struct change change = {variant, variant->dt / setup->study->scene_dt};
    set_simulation(setup, variant, &scene);
    if (variant->formula)
        scene.bodies = by_formula(setup->scene);
    if (!scene.bodies)
        return fail_memory(error, "the bodies of the scene");
    struct solver_options options = {
        .config = {.threads = 1, .kernel = setup->options->kernel, .isa = setup->options->isa},
        .change = change_bodies,
        .change_context = &change,
        .tolerant = true,
    };
    options.config.no_pin = 1;
    taut_status status = solver_create(&scene, &options, result, error);
    if (variant->formula)
        memory_release(NULL, scene.bodies, scene.body_count, sizeof *scene.bodies);
    return status;
}

// ---- Runs with samples of their energy

// Near its limit, the energy of a stable run may oscillate: symplectic Euler multiplies that of an
// oscillator by up to 1 / (1 - y / 2), y = omega h, and reverses this. It shows within the first
// steps; an energy that grows later, and stays, is unstable. It need not grow indefinitely: ropes
// and cloths that vibrate have softer modes than those at rest.
static const double GROWTH_AT_ONCE = 1e4, GROWTH_LATE = 2, GROWTH_SINCE_EARLY = 3;
static const double EARLY_MAX =
    400; // more than that is growth, not oscillation, within so few steps
// Steps of the early samples, at irregular intervals so that sampling does not alias an
// oscillation.
static const uint64_t EARLY[] = {1, 2, 3, 5, 8, 13, 21, 32};
enum { EARLY_COUNT = sizeof EARLY / sizeof EARLY[0] };

// The energy gained, relative to the energy available by then.
static double excess(const struct energy_scale *scale, double gained, double time)
{
    double longer = fmax(1, time / scale->time);
    return gained / (scale->available * longer * longer);
}

static enum study_verdict classify(const struct trace *trace, double dt)
{
    if (!trace->scale)
        return STUDY_STABLE;
    size_t late = trace->samples * 3 / 4;
    double sum = 0;
    for (size_t i = late; i <= trace->samples; i++) {
        double time = dt * (double)trace->steps * (double)i / (double)trace->samples;
        sum += excess(trace->scale, trace->energies[i] - trace->energies[0], time);
    }
    double mean = sum / (double)(trace->samples + 1 - late);
    bool grown = mean > fmax(GROWTH_LATE, GROWTH_SINCE_EARLY * fmin(trace->early, EARLY_MAX));
    return grown ? STUDY_UNSTABLE : STUDY_STABLE;
}

// Samples the energy; false if the run has proved unstable.
static bool sample(taut_solver *solver, struct trace *trace, double *energy)
{
    taut_energy now = {0};
    solver_evaluate(solver, false, &now);
    if (!isfinite(now.total) || !isfinite(now.kinetic))
        return false;
    *energy = now.total;
    trace->kinetic_max = fmax(trace->kinetic_max, now.kinetic);
    if (4 * trace->done >= 3 * trace->steps)
        trace->kinetic_late = fmax(trace->kinetic_late, now.kinetic);
    if (!trace->scale || trace->done == 0)
        return true;
    double gained = excess(trace->scale, now.total - trace->energies[0], taut_solver_time(solver));
    if (trace->done <= EARLY[EARLY_COUNT - 1])
        trace->early = fmax(trace->early, gained);
    return gained < GROWTH_AT_ONCE;
}

// The next step, at most `until`, at which something is to be done.
static uint64_t next_stop(const struct trace *trace, uint64_t until)
{
    const struct bases *bases = trace->bases;
    for (int i = EARLY_COUNT - 1; i >= 0; i--)
        if (EARLY[i] > trace->done && EARLY[i] < until)
            until = EARLY[i];
    if (bases && bases->count < bases->wanted && bases->steps[bases->count] < until)
        until = bases->steps[bases->count];
    // In a decaying motion the available energy may exist only for a short time at the start.
    enum { FRACTION = 8 };
    if (!trace->scale && trace->done + trace->done / FRACTION + 1 < until)
        until = trace->done + trace->done / FRACTION + 1;
    return until;
}

static taut_status save_bases(taut_solver *solver, struct trace *trace, taut_error *error)
{
    struct bases *bases = trace->bases;
    taut_status status = TAUT_OK;
    while (status == TAUT_OK && bases && bases->count < bases->wanted &&
           bases->steps[bases->count] <= trace->done) {
        status = solver_save(solver, &bases->states[bases->count], error);
        bases->count += status == TAUT_OK;
    }
    return status;
}

static taut_status advance_to(taut_solver *solver, struct trace *trace, uint64_t until,
                              taut_error *error)
{
    taut_status status = TAUT_OK;
    double unused;
    while (status == TAUT_OK && trace->done < until) {
        status = solver_advance(solver, next_stop(trace, until) - trace->done, error);
        trace->done = taut_solver_step_count(solver);
        if (status == TAUT_OK)
            status = save_bases(solver, trace, error);
        if (status == TAUT_OK && trace->done < until)
            (void)sample(solver, trace, &unused);
    }
    return status;
}

taut_status trace_run(struct setup *setup, taut_solver *solver, struct trace *trace,
                      taut_error *error)
{
    trace->verdict = STUDY_UNKNOWN;
    trace->count = 0;
    trace->done = 0;
    trace->kinetic_max = trace->kinetic_late = trace->early = 0;
    if (trace->bases)
        bases_free(trace->bases);

    bool sound = sample(solver, trace, &trace->energies[0]);
    taut_status status = save_bases(solver, trace, error);
    sound = sound && status == TAUT_OK;
    trace->count = 1;

    for (size_t i = 1; i <= trace->samples && sound; i++) {
        if (part_has_ended(setup))
            return TAUT_OK;
        uint64_t until = (uint64_t)round((double)trace->steps * (double)i / (double)trace->samples);
        status = advance_to(solver, trace, until, error);
        trace->energies[i] = NAN;
        sound = status == TAUT_OK && sample(solver, trace, &trace->energies[i]);
        trace->count += isfinite(trace->energies[i]);
    }

    trace->broken = taut_solver_broken_count(solver);
    trace->seconds = solver_step_seconds(solver);
    // An unstable closed surface ends with the collapse of its gas volume.
    if (status == TAUT_ERROR_DIVERGED || status == TAUT_ERROR_COLLAPSED)
        status = TAUT_OK;
    trace->verdict = sound ? classify(trace, taut_solver_dt(solver)) : STUDY_UNSTABLE;
    return status;
}

taut_status trace_variant(struct setup *setup, const struct variant *variant, struct trace *trace,
                          taut_error *error)
{
    taut_solver *solver;
    trace->verdict = STUDY_UNKNOWN;
    taut_status status = variant_open(setup, variant, &solver, error);
    // The unchanged scene has been built before, so this integrator does not support it.
    if (status == TAUT_ERROR_SCENE || status == TAUT_ERROR_UNSUPPORTED)
        return TAUT_OK;
    if (status == TAUT_OK)
        status = trace_run(setup, solver, trace, error);
    taut_solver_destroy(solver);
    return status;
}

// Estimated for one core of an older machine. Integrators beyond the explicit ones solve equations
// in a step.
double estimated_seconds(const struct setup *setup, enum integrator integrator, double steps,
                         double samples)
{
    const struct study *study = setup->study;
    double springs = (double)study->springs, others = (double)(study->nodes + study->faces);
    double evaluations = integrator == INTEGRATOR_RK4        ? 4
                         : integrator == INTEGRATOR_MIDPOINT ? 2
                         : integrator > INTEGRATOR_RK4       ? 10
                                                             : 1;
    double step = 2e-6 + evaluations * (3e-9 * springs + 6e-9 * others);
    double sample = 2e-6 + 1e-8 * (springs + others), opening = 1e-4 + 1e-7 * (springs + others);
    return opening + steps * step + samples * sample;
}

// ---- The time of a part

bool part_has_ended(struct setup *setup)
{
    const struct study_options *options = setup->options;
    if (atomic_load(&setup->late) || atomic_load(&setup->stopped))
        return true;
    if (options->stop && options->stop(options->context))
        atomic_store(&setup->stopped, true);
    if (clock_seconds() > setup->deadline)
        atomic_store(&setup->late, true);
    return atomic_load(&setup->late) || atomic_load(&setup->stopped);
}

void part_extend(struct setup *setup, double seconds)
{
    setup->deadline = clock_seconds() + seconds;
    atomic_store(&setup->late, false);
}

// ---- Many cases, each run by the next free worker

struct case_queue {
    struct setup *setup;
    size_t count;
    case_function function;
    void *context;
    atomic_bool failed;
    pthread_mutex_t mutex; // protects what follows
    size_t failed_case;
    taut_status status;
    taut_error *error;
};

static void note_failure(struct case_queue *queue, size_t index, taut_status status,
                         const taut_error *error)
{
    pthread_mutex_lock(&queue->mutex);
    if (queue->status == TAUT_OK || index < queue->failed_case) {
        queue->status = status;
        queue->failed_case = index;
        if (queue->error)
            *queue->error = *error;
    }
    pthread_mutex_unlock(&queue->mutex);
    atomic_store(&queue->failed, true);
}

static void run_claimed_cases(void *context, const struct worker *worker)
{
    struct case_queue *queue = context;
    struct range range;
    while (worker_claim(worker, queue->count, 1, &range)) {
        if (atomic_load(&queue->failed) || part_has_ended(queue->setup))
            continue;
        taut_error error = {0};
        taut_status status = queue->function(queue->setup, queue->context, range.first, &error);
        if (status != TAUT_OK)
            note_failure(queue, range.first, status, &error);
    }
}

taut_status run_cases(struct setup *setup, size_t count, case_function function, void *context,
                      taut_error *error)
{
    struct case_queue queue = {.setup = setup,
                               .count = count,
                               .function = function,
                               .context = context,
                               .mutex = PTHREAD_MUTEX_INITIALIZER,
                               .error = error};
    size_t threads = (size_t)setup->options->threads;
    team_run((int)(threads < count ? threads : count), run_claimed_cases, &queue);
    pthread_mutex_destroy(&queue.mutex);
    return queue.status;
}
