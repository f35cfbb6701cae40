#include <string.h>

#include "base/memory.h"
#include "study/lab.h"

struct variant variant_of(enum integrator integrator, double dt)
{
    return (struct variant){.integrator = integrator,
                            .dt = dt,
                            .stiffness = 1,
                            .damping = 1,
                            .tolerance = STUDY_TOLERANCE};
}

// A number in [-1, 1) that follows from where it is wanted alone (splitmix64).
static double random_at(uint64_t place)
{
    uint64_t z = (place + 1) * 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    z ^= z >> 31;
    return (double)(z >> 11) * 0x1p-52 - 1;
}

static taut_status kick_body(struct body *body, uint64_t first_node, double speed,
                             taut_error *error)
{
    size_t count = 3 * (size_t)body->node_count;
    if (!body->velocities)
        body->velocities = memory_allocate(NULL, count, sizeof *body->velocities);
    if (!body->velocities)
        return fail_memory(error, "the velocities of the nodes");
    for (size_t i = 0; i < count; i++)
        if (!body->fixed[i / 3])
            body->velocities[i] += speed * random_at(3 * first_node + i);
    return TAUT_OK;
}

static void nudge_body(struct body *body, uint64_t first_node, double distance)
{
    for (size_t i = 0; i < 3 * (size_t)body->node_count; i++)
        if (!body->fixed[i / 3])
            body->positions[i] += distance * random_at(3 * first_node + i);
}

struct change {
    const struct variant *variant;
    double rate; // of what is done once a step: the variant's dt over the scene's
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
        body->pressure.inflate = fmin(1, body->pressure.inflate * change->rate);
        if (variant->kick != 0)
            status = kick_body(body, first_node, variant->kick, error);
        if (variant->nudge != 0)
            nudge_body(body, first_node, variant->nudge);
        first_node += body->node_count;
    }
    return status;
}

// The scene's bodies with their oscillators by formula; the caller frees the array.
static struct scene_body *by_formula(const taut_scene *scene)
{
    struct scene_body *bodies = memory_copy(NULL, scene->bodies, scene->body_count, sizeof *bodies);
    for (size_t b = 0; bodies && b < scene->body_count; b++)
        if (bodies[b].type == BODY_OSCILLATOR)
            bodies[b].shape.oscillator.model = OSCILLATOR_CLOSED_FORM;
    return bodies;
}

// A solve to STUDY_TOLERANCE may take more iterations than the scene allows to its own.
enum { ITERATIONS_LEAST = 20000 };

static void set_simulation(const struct lab *lab, const struct variant *variant, taut_scene *scene)
{
    struct scene_simulation *simulation = &scene->simulation;
    double own = lab->study->scene_dt, rate = variant->dt / own;
    double ratio = simulation->position_step > 0 ? simulation->position_step / own : 0;
    simulation->integrator = variant->integrator;
    simulation->dt = variant->dt;
    simulation->dt_auto = simulation->has_duration = false;
    simulation->steps = 1;
    simulation->keep_velocity = pow(simulation->keep_velocity, rate);
    simulation->implicit.tolerance = fmin(simulation->implicit.tolerance, variant->tolerance);
    if (simulation->implicit.iterations < ITERATIONS_LEAST)
        simulation->implicit.iterations = ITERATIONS_LEAST;
    simulation->position_step =
        variant->integrator == INTEGRATOR_SYMPLECTIC_EULER ? ratio * variant->dt : 0;
    scene->precision = PRECISION_DOUBLE;
    scene->output.work = false;
}

// The scene itself is shared by many threads and never written: what changes is a copy of its top,
// and the bodies once they are built.
taut_status variant_open(const struct lab *lab, const struct variant *variant, taut_solver **result,
                         taut_error *error)
{
    *result = NULL;
    taut_scene scene = *lab->scene;
    struct change change = {variant, variant->dt / lab->study->scene_dt};
    set_simulation(lab, variant, &scene);
    if (variant->formula)
        scene.bodies = by_formula(lab->scene);
    if (!scene.bodies)
        return fail_memory(error, "the bodies of the scene");
    struct solver_options options = {
        .config = {.threads = 1, .kernel = lab->options->kernel, .isa = lab->options->isa},
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
