// Our side of the comparison with others (bench/peers/run.py).
//
//   taut_peer write SCENE SPRINGS PREFIX   writes files for other programs; springs 0: the default
//                                          size
//   taut_peer check SCENE SPRINGS STEPS    prints the positions after STEPS steps of velocity
//                                          Verlet in double precision, one node per line
//   taut_peer serve SCENE SPRINGS PRECISION    for each line "THREADS STEPS" of standard input,
//                                          makes the steps, of velocity Verlet in `single` or
//                                          `double` precision, and prints the seconds they took
//
// SCENE is one of taut-bench's. `write` and `serve` begin with a line: nodes, springs, dt, bytes.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "bench/peers/network.h"
#include "bench/scenes.h"
#include "scene/reader.h"
#include "scene/scene.h"

static taut_status make(const char *name, const char *springs, enum precision precision,
                        bool verlet, taut_solver **solver, taut_error *error)
{
    *solver = NULL;
    const struct bench_scene *kind = bench_scene_find(name);
    if (!kind)
        return fail(error, TAUT_ERROR_ARGUMENT, "there is no scene '%s'", name);
    uint64_t wanted = strtoull(springs, NULL, 10);
    static const struct scene_override in_double = {.text = "precision=double"};
    taut_scene *scene = bench_scene_make(kind, wanted ? wanted : kind->springs, &in_double,
                                         precision == PRECISION_DOUBLE, error);
    if (!scene)
        return error->code;
    if (verlet)
        scene->simulation.integrator = INTEGRATOR_VELOCITY_VERLET;
    struct solver_options options = {.config = {.threads = 1}};
    taut_status status = solver_create(scene, &options, solver, error);
    scene_free(scene);
    return status;
}

static void print_sizes(const taut_solver *solver)
{
    printf("%" PRIu64 " %" PRIu64 " %.17g %" PRIu64 "\n", taut_solver_node_count(solver),
           taut_solver_spring_count(solver), taut_solver_dt(solver), solver_bytes(solver));
    fflush(stdout);
}

static taut_status check(taut_solver *solver, const char *steps, taut_error *error)
{
    taut_status status = taut_solver_step(solver, strtoull(steps, NULL, 10), error);
    if (status != TAUT_OK)
        return status;
    uint64_t count = taut_solver_node_count(solver);
    double *positions = malloc(3 * count * sizeof *positions);
    if (!positions)
        return fail_memory(error, "the positions");
    taut_solver_get_positions(solver, 0, positions);
    for (uint64_t i = 0; i < count; i++)
        printf("%.17g %.17g %.17g\n", positions[3 * i], positions[3 * i + 1], positions[3 * i + 2]);
    free(positions);
    return TAUT_OK;
}

static taut_status serve(taut_solver *solver, taut_error *error)
{
    char line[64];
    print_sizes(solver);
    while (fgets(line, sizeof line, stdin)) {
        char *end;
        unsigned long threads = strtoul(line, &end, 10);
        unsigned long long steps = strtoull(end, NULL, 10);
        if (threads < 1 || threads > 4096)
            return fail(error, TAUT_ERROR_ARGUMENT, "not understood: %s", line);
        taut_status status = solver_set_threads(solver, (int)threads, error);
        double before = solver_step_seconds(solver);
        if (status == TAUT_OK)
            status = solver_advance(solver, steps, error);
        if (status != TAUT_OK)
            return status;
        printf("%.9g\n", solver_step_seconds(solver) - before);
        fflush(stdout);
    }
    return TAUT_OK;
}

int main(int argc, char **argv)
{
    const char *verb = argc > 1 ? argv[1] : "";
    bool writes = strcmp(verb, "write") == 0, checks = strcmp(verb, "check") == 0;
    bool serves = strcmp(verb, "serve") == 0;
    const bool in_single = argc == 5 && strcmp(argv[4], "single") == 0;
    const bool known = argc == 5 && (in_single || strcmp(argv[4], "double") == 0);
    if (argc != 5 || !(writes || checks || (serves && known))) {
        fprintf(stderr, "usage: taut_peer write SCENE SPRINGS PREFIX | check SCENE SPRINGS STEPS | "
                        "serve SCENE SPRINGS single|double\n");
        return 2;
    }
    taut_error error = {0};
    taut_solver *solver;
    taut_status status =
        make(argv[2], argv[3], serves && in_single ? PRECISION_SINGLE : PRECISION_DOUBLE,
             checks || serves, &solver, &error);
    if (status == TAUT_OK && checks)
        status = check(solver, argv[4], &error);
    else if (status == TAUT_OK && serves)
        status = serve(solver, &error);
    if (status == TAUT_OK && writes) {
        print_sizes(solver);
        status = network_write_lammps(solver, argv[4], &error);
        if (status == TAUT_OK)
            status = network_write_binary(solver, argv[4], &error);
    }
    taut_solver_destroy(solver);
    if (status != TAUT_OK)
        fprintf(stderr, "taut_peer: %s\n", error.text);
    return status == TAUT_OK && fflush(stdout) == 0 ? 0 : 1;
}
