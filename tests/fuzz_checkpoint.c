// libFuzzer: any alteration of a checkpoint of a small scene. It must be refused with a sentence,
// or restored and stepped. The checksums of altered parts are made right again, since no fuzzer
// finds them; an input whose length is odd keeps them wrong.
#include "taut.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz_checksums.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static taut_scene *scene_of_fuzz(void)
{
    static const char text[] =
        "precision: double\nsimulation: {integrator: verlet, dt: 0.0005, steps: 10}\n"
        "bodies: [{name: r, type: rope, from: [0,0,0], to: [1,0,0], nodes: 5, node_mass: 0.1,\n"
        "  pins: [first], links: chain, spring: {stiffness: 100, break_at: 1.5}}]\n"
        "colliders: [{type: sphere, center: [1,1,0.3], radius: 0.5, stiffness: 300,\n"
        "  velocity: [-2,0,0]}]\n";
    taut_scene *scene = NULL;
    taut_error error = {0};
    if (taut_scene_parse(text, sizeof text - 1, "fuzz.yaml", NULL, &scene, &error) != TAUT_OK)
        abort();
    return scene;
}

static uint8_t *seed(const taut_scene *scene, size_t *size)
{
    taut_solver *solver;
    void *bytes;
    taut_error error = {0};
    if (taut_solver_create(scene, NULL, &solver, &error) != TAUT_OK ||
        taut_solver_step(solver, 3, &error) != TAUT_OK ||
        taut_solver_save_memory(solver, &bytes, size, &error) != TAUT_OK)
        abort();
    taut_solver_destroy(solver);
    return bytes;
}

// The input is applied to a checkpoint: pairs of an offset (2 bytes, little endian) and a byte that
// is written there; so a corpus needs no files of this format, and every input reaches far.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static taut_scene *scene;
    static uint8_t *whole;
    static size_t length;
    if (!scene) {
        scene = scene_of_fuzz();
        whole = seed(scene, &length);
    }
    uint8_t *bytes = malloc(length);
    if (!bytes)
        abort();
    memcpy(bytes, whole, length);
    for (size_t i = 0; i + 3 <= size; i += 3)
        bytes[(data[i] | (size_t)data[i + 1] << 8) % length] = data[i + 2];
    if (size % 2 == 0)
        fix_checksums(bytes, length);
    taut_solver *solver;
    taut_error error = {0};
    const taut_config config = {.threads = 1};
    if (taut_solver_restore_memory(scene, bytes, length, &config, &solver, &error) == TAUT_OK) {
        (void)taut_solver_step(solver, 2, &error);
        taut_solver_destroy(solver);
    } else if (!error.text[0]) {
        abort();
    }
    free(bytes);
    return 0;
}
