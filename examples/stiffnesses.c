// Ten stiffnesses from one saved state: a cloth falls freely for a while, which is simulated once,
// and is then caught by its corner, with ten different stiffnesses, each from the same checkpoint.
// A program that prepares a state at some cost saves that cost for all but the first.
//
//   cc -o stiffnesses stiffnesses.c $(pkg-config --cflags --libs taut) -lm && ./stiffnesses
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <taut.h>

static const char *const cloth =
    "precision: double\n"
    "simulation: {dt: 0.0005, duration: 1}\n"
    "environment: {gravity: [0, -9.81, 0], air_drag: 0.002}\n"
    "bodies:\n"
    "  - {name: cloth, type: cloth, origin: [0, 0, 0], u: [1, 0, 0], v: [0, 0, 1],\n"
    "     nodes: [16, 16], mass: 0.2, pins: [0],\n"
    "     springs: {structural: {stiffness: 100, damping: 0.02}, shear: {stiffness: 20}}}\n";

enum { CORNER = 16 * 16 - 1, TRIES = 10 };

// Continues from the checkpoint with that stiffness (N/m) of the structural springs, for a second;
// the position of the free corner at its end (m).
static taut_status run(const taut_scene *scene, const void *bytes, size_t count, double stiffness,
                       double corner[3], taut_error *error)
{
    static double positions[16 * 16][3];
    taut_solver *solver;
    taut_status status = taut_solver_restore_memory(scene, bytes, count, NULL, &solver, error);
    if (status != TAUT_OK)
        return status;
    status = taut_solver_set_stiffness(solver, 0, 0, stiffness, error);
    if (status == TAUT_OK)
        status = taut_solver_step(solver, 2000, error);
    taut_solver_get_positions(solver, 0, positions[0]);
    memcpy(corner, positions[CORNER], sizeof positions[CORNER]);
    taut_solver_destroy(solver);
    return status;
}

int main(void)
{
    taut_scene *scene = NULL;
    taut_solver *solver = NULL;
    taut_error error = {0};
    void *bytes = NULL;
    size_t count = 0;
    taut_status status = taut_scene_parse(cloth, strlen(cloth), "cloth.yaml", NULL, &scene, &error);
    if (status == TAUT_OK)
        status = taut_solver_create(scene, NULL, &solver, &error);
    if (status == TAUT_OK)
        status = taut_solver_step(solver, 400, &error);
    if (status == TAUT_OK)
        status = taut_solver_save_memory(solver, &bytes, &count, &error);
    if (status == TAUT_OK)
        printf("saved %zu bytes at t = %g s\n", count, taut_solver_time(solver));
    taut_solver_destroy(solver);

    double lowest = INFINITY, first[3] = {0}, again[3] = {0};
    for (int i = 0; i < TRIES && status == TAUT_OK; i++) {
        const double stiffness = 50 + 25 * i;
        double corner[3] = {0};
        status = run(scene, bytes, count, stiffness, corner, &error);
        if (i == 0)
            memcpy(first, corner, sizeof first);
        lowest = fmin(lowest, corner[1]);
        if (status == TAUT_OK)
            printf("%4g N/m: the corner is at %.6f, %.6f, %.6f m\n", stiffness, corner[0],
                   corner[1], corner[2]);
    }
    if (status == TAUT_OK) // the checkpoint is as it was
        status = run(scene, bytes, count, 50, again, &error);
    taut_bytes_release(bytes);
    taut_scene_destroy(scene);
    if (status != TAUT_OK) {
        fprintf(stderr, "%s: %s\n", taut_status_text(status), error.text);
        return 1;
    }
    return lowest < 0 && memcmp(first, again, sizeof first) == 0 ? 0 : 1;
}
