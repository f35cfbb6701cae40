// taut info: what a scene is made of, how it is computed, what it takes, and which steps are
// stable.
#include "cli/info.h"

#include <stdlib.h>

#include "cli/terminal.h"
#include "solver_memory.h"

bool info_has_explicit_forces(const struct info *info, enum integrator integrator)
{
    const struct topology *topology = info->solver->topology;
    const struct scene_wind *wind = &topology->environment.wind;
    if (integrator != INTEGRATOR_XPBD)
        return false;
    bool explicit_forces = wind->present && wind->relative && topology->face_count > 0;
    for (size_t b = 0; b < topology->body_count; b++)
        explicit_forces |= topology->bodies[b].pressure.present;
    return explicit_forces;
}

static taut_status gather(struct info *info, taut_error *error)
{
    info->bytes = solver_bytes(info->solver);
    info->plans = body_plans_make(info->solver);
    if (!info->plans)
        return fail_memory(error, "the plan of each body");
    taut_status status = solver_sharp_step(info->solver, &info->critical, error);
    if (status == TAUT_OK && info->critical.omega > 0)
        info->critical_body = topology_body_of_node(info->solver->topology, info->critical.node);
    return status;
}

static double memory_beside_info(const struct options *options, const taut_scene *scene)
{
    (void)options;
    struct memory_estimate estimate;
    memory_estimate_make(scene, NULL, &estimate);
    return estimate.sharp;
}

static int show_info(const struct options *options)
{
    struct session session;
    int code = session_open(options, memory_beside_info, &session);
    if (code != EXIT_CODE_DONE) {
        session_close(&session);
        return code;
    }
    struct info info = {.options = options, .scene = session.scene, .solver = session.solver};
    taut_error error = {0};
    taut_status status = gather(&info, &error);
    if (status != TAUT_OK)
        complain("%s: %s", options->scene, error.text);
    else if (options->json)
        info_print_json(&info);
    else if (!options->quiet)
        info_print_table(&info);
    free(info.plans);
    session_close(&session);
    return output_finish(exit_code_of(status));
}

const struct command info_command = {
    .name = "info",
    .does = "Tells what a scene is made of, how it is computed, and which steps are stable",
    .operand = "SCENE",
    .kind = COMMAND_READS,
    .run = show_info,
};
