// The public functions of taut.h that do no work of their own.
#include "solver_live.h"
#include "solver_memory.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "scene/reader.h"

const char *taut_version(void)
{
    return TAUT_VERSION_STRING;
}

void taut_scene_options_default(taut_scene_options *options)
{
    *options = (taut_scene_options){0};
}

static void report(const struct diagnostics *diagnostics, const taut_scene_options *options)
{
    if (!options || !options->on_message)
        return;
    for (size_t i = 0; i < diagnostics->count; i++) {
        char *text = diagnostic_render(&diagnostics->items[i]);
        options->on_message(options->message_context, text ? text : diagnostics->items[i].text);
        free(text);
    }
}

// Builds the bodies once to see that they can be, so that an unsound file fails here and not later.
static taut_status validate(const taut_scene *scene, struct diagnostics *diagnostics,
                            taut_error *error)
{
    struct bodies bodies = {0};
    taut_status status = memory_check_bodies(scene, error);
    if (status == TAUT_OK)
        status = bodies_build(scene, &bodies, diagnostics, error);
    bodies_free(&bodies);
    return status;
}

// The file cannot be read, or memory ran out: the last finding has the reason.
static void fail_file(const struct diagnostics *diagnostics, taut_status status, const char *name,
                      taut_error *error)
{
    if (diagnostics->count > 0)
        fail(error, status, "%.400s: %.600s", name,
             diagnostics->items[diagnostics->count - 1].text);
    else
        fail_memory(error, name);
}

// Either from text, or from the file `name` where text is NULL.
static taut_status load(const char *text, size_t length, const char *name,
                        const taut_scene_options *options, taut_scene **scene, taut_error *error)
{
    *scene = NULL;
    size_t count = options ? options->override_count : 0;
    struct scene_override *overrides = calloc(count + 1, sizeof *overrides);
    if (!overrides)
        return fail_memory(error, "the scene");
    for (size_t i = 0; i < count; i++)
        overrides[i].text = options->overrides[i];
    struct diagnostics diagnostics = {0};
    taut_scene *read = text ? scene_read_text(text, length, name, overrides, count, &diagnostics)
                            : scene_read_file(name, overrides, count, &diagnostics);
    free(overrides);
    taut_status status =
        read ? validate(read, &diagnostics, error) : diagnostics_status(&diagnostics);
    if (status == TAUT_ERROR_SCENE)
        fail(error, status, "%s: %zu error%s", name, diagnostics.error_count,
             diagnostics.error_count == 1 ? "" : "s");
    else if (!read)
        fail_file(&diagnostics, status, name, error);
    report(&diagnostics, options);
    diagnostics_free(&diagnostics);
    if (status != TAUT_OK) {
        scene_free(read);
        return status;
    }
    *scene = read;
    return TAUT_OK;
}

taut_status taut_scene_load(const char *path, const taut_scene_options *options, taut_scene **scene,
                            taut_error *error)
{
    return load(NULL, 0, path, options, scene, error);
}

taut_status taut_scene_parse(const char *text, size_t length, const char *name,
                             const taut_scene_options *options, taut_scene **scene,
                             taut_error *error)
{
    return load(text, length, name, options, scene, error);
}

void taut_scene_destroy(taut_scene *scene)
{
    scene_free(scene);
}

void taut_config_default(taut_config *config)
{
    *config = (taut_config){0};
}

taut_status taut_solver_create(const taut_scene *scene, const taut_config *config,
                               taut_solver **solver, taut_error *error)
{
    struct solver_options options = {0};
    if (config)
        options.config = *config;
    return solver_create(scene, &options, solver, error);
}

taut_status taut_solver_energy(taut_solver *solver, taut_energy *energy, taut_error *error)
{
    (void)error;
    solver_look(solver, false, energy);
    return TAUT_OK;
}

double taut_solver_time(const taut_solver *solver)
{
    return solver_time_of(solver, taut_solver_step_count(solver));
}

double taut_solver_dt(const taut_solver *solver)
{
    return solver->dt;
}

uint64_t taut_solver_step_count(const taut_solver *solver)
{
    return solver->functions->steps(solver->system);
}

uint64_t taut_solver_steps_planned(const taut_solver *solver)
{
    return solver->steps_planned;
}

uint64_t taut_solver_node_count(const taut_solver *solver)
{
    return solver->topology->node_count;
}

uint64_t taut_solver_spring_count(const taut_solver *solver)
{
    return solver->topology->spring_count;
}

uint64_t taut_solver_face_count(const taut_solver *solver)
{
    return solver->topology->face_count;
}

uint64_t taut_solver_broken_count(const taut_solver *solver)
{
    return solver->functions->broken_count(solver->system);
}

int taut_solver_threads(const taut_solver *solver)
{
    return solver->threads;
}

size_t taut_solver_body_count(const taut_solver *solver)
{
    return solver->topology->body_count;
}

ptrdiff_t taut_solver_find_body(const taut_solver *solver, const char *name)
{
    for (size_t b = 0; b < solver->topology->body_count; b++)
        if (strcmp(solver->topology->bodies[b].name, name) == 0)
            return (ptrdiff_t)b;
    return -1;
}

const char *taut_solver_body_name(const taut_solver *solver, size_t body)
{
    return solver->topology->bodies[body].name;
}

uint64_t taut_solver_body_node_count(const taut_solver *solver, size_t body)
{
    return solver->topology->bodies[body].node_count;
}

double taut_solver_body_volume(taut_solver *solver, size_t body)
{
    taut_energy energy; // looking at it measures the volumes too
    taut_solver_energy(solver, &energy, NULL);
    return solver->functions->volume(solver->system, body);
}

void taut_solver_get_positions(const taut_solver *solver, size_t body, double *values)
{
    const struct topology_body *it = &solver->topology->bodies[body];
    solver->functions->read_nodes(solver->system, it->first_node, it->node_count, values, NULL,
                                  NULL);
}

void taut_solver_get_velocities(const taut_solver *solver, size_t body, double *values)
{
    const struct topology_body *it = &solver->topology->bodies[body];
    solver->functions->read_nodes(solver->system, it->first_node, it->node_count, NULL, values,
                                  NULL);
}

taut_status taut_solver_set_sphere(taut_solver *solver, size_t collider, const double centre[3],
                                   const double velocity[3], taut_error *error)
{
    bool known = collider < solver->topology->collider_count;
    double radius = known ? solver->functions->sphere(solver->system, collider).radius : 1;
    return solver_move_sphere(solver, collider, centre, velocity, radius, error);
}

uint64_t taut_solver_hash(const taut_solver *solver)
{
    return solver->functions->hash(solver->system);
}

taut_status taut_solver_critical_step(taut_solver *solver, int want_sharp,
                                      taut_critical_step *result, taut_error *error)
{
    struct critical_step found;
    taut_status status = want_sharp ? solver_own_sharp_step(solver, &found, error)
                                    : solver_critical_step(solver, &found, error);
    *result = (taut_critical_step){
        .bound = found.bound,
        .sharp = found.sharp,
        .dt_bound = found.dt[solver->integrator],
        .dt_sharp = found.sharp_dt[solver->integrator],
        .node = found.node,
    };
    return status;
}
