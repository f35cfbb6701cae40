// rank_sums GROUP STEPS SCENE: runs a scene on the ranks that mpirun has started, or as one
// process, with sums in two levels from 24 x GROUP chunks on, and prints the exact values of all
// sums (test_mpi.py compares them). GROUP is SUM_GROUP in `taut`, so that it takes 100 million
// nodes there.
#include <stdio.h>
#include <stdlib.h>

#include "ranks/ranks.h"
#include "scene/reader.h"
#include "solver/internals.h"
#include "solver/solver.h"
#include "state/system.h"
#include "taut.h"

static void show_message(void *context, const char *message)
{
    (void)context;
    fprintf(stderr, "%s\n", message);
}

static void print_sums(taut_solver *solver)
{
    taut_energy energy;
    taut_error error = {0};
    if (taut_solver_energy(solver, &energy, &error) != TAUT_OK)
        ranks_abort(1, error.text);
    const struct energy_budget *budget = solver_energy_budget(solver);
    printf("hash %016llx\nkinetic %a\nelastic %a\ngravity %a\n",
           (unsigned long long)taut_solver_hash(solver), energy.kinetic, energy.elastic,
           energy.gravity);
    for (size_t body = 0; body < taut_solver_body_count(solver); body++)
        printf("volume %zu %a\n", body, taut_solver_body_volume(solver, body));
    for (int cause = 0; budget && cause < WORK_CAUSES; cause++)
        printf("work %d %a\n", cause, budget->done[cause]);
}

int main(int count, char **arguments)
{
    if (count != 4)
        return 2;
    taut_error error = {0};
    taut_scene_options scene_options;
    taut_scene_options_default(&scene_options);
    scene_options.on_message = show_message;
    struct solver_options options = {.shares = true};
    taut_config_default(&options.config);
    options.config.threads = 2;
    taut_scene *scene = NULL;
    taut_solver *solver = NULL;
    taut_status status = ranks_begin(&error);
    if (status == TAUT_OK)
        status = taut_scene_load(arguments[3], &scene_options, &scene, &error);
    if (status == TAUT_OK)
        status = solver_create(scene, &options, &solver, &error);
    if (status == TAUT_OK) {
        solver_system(solver)->sum_group = strtoul(arguments[1], NULL, 10);
        status = solver_share(solver, scene, &options, &error);
    }
    if (status == TAUT_OK && ranks_number() > 0)
        solver_serve(solver, NULL, NULL);
    if (status == TAUT_OK && ranks_number() == 0)
        status = taut_solver_step(solver, strtoul(arguments[2], NULL, 10), &error);
    if (status != TAUT_OK)
        ranks_abort(1, error.text);
    if (ranks_number() == 0)
        print_sums(solver);
    taut_solver_destroy(solver);
    taut_scene_destroy(scene);
    ranks_end();
    return 0;
}
