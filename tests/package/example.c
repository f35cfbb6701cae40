// A rope of four masses hangs from a nail until it is at rest. Each spring carries the masses below
// it, so the end has sunk by (m g / k) N (N + 1) / 2.
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <taut.h>

static const char *const rope =
    "precision: double\n"
    "simulation: {dt: 0.001, duration: 12}\n"
    "environment: {gravity: [0, -9.81, 0], air_drag: 0.5}\n"
    "bodies:\n"
    "  - {name: rope, type: rope, from: [0, 0, 0], to: [0, -4, 0], nodes: 5, node_mass: 0.1,\n"
    "     spring: {stiffness: 1000}, pins: [first]}\n";

static void complain(void *context, const char *message)
{
    fputs(message, context);
}

int main(void)
{
    taut_scene *scene = NULL;
    taut_solver *solver = NULL;
    taut_error error = {0};
    taut_scene_options options;
    taut_scene_options_default(&options);
    options.on_message = complain;
    options.message_context = stderr;
    double positions[5][3];
    taut_status status =
        taut_scene_parse(rope, strlen(rope), "rope.yaml", &options, &scene, &error);
    if (status == TAUT_OK)
        status = taut_solver_create(scene, NULL, &solver, &error);
    if (status == TAUT_OK)
        status = taut_solver_step(solver, taut_solver_steps_planned(solver), &error);
    if (status == TAUT_OK)
        taut_solver_get_positions(solver, 0, positions[0]);
    taut_solver_destroy(solver);
    taut_scene_destroy(scene);
    if (status != TAUT_OK) {
        fprintf(stderr, "%s: %s\n", taut_status_text(status), error.text);
        return 1;
    }
    double expected = -4 - 0.1 * 9.81 / 1000 * 4 * 5 / 2;
    printf("taut %s: the end hangs at %.9f m, expected %.9f m\n", taut_version(), positions[4][1],
           expected);
    return fabs(positions[4][1] - expected) < 1e-9 ? 0 : 1;
}
