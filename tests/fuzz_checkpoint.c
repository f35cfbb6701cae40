// libFuzzer: any alteration of a checkpoint of one of two small scenes (the second bit of the
// input's length decides). It must be refused with a sentence, or restored and stepped. The
// checksums of altered parts are made right again, since no fuzzer finds them; an input whose
// length is odd keeps them wrong.
#include "taut.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz_checksums.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// The second one has a dt that follows the state, and is checked within the steps made here.
static const struct {
    const char *text;
    uint64_t steps;
} scenes[2] = {
    {"precision: double\nsimulation: {integrator: verlet, dt: 0.0005, steps: 10}\n"
     "bodies: [{name: r, type: rope, from: [0,0,0], to: [1,0,0], nodes: 5, node_mass: 0.1,\n"
     "  pins: [first], links: chain, spring: {stiffness: 100, break_at: 1.5}}]\n"
     "colliders: [{type: sphere, center: [1,1,0.3], radius: 0.5, stiffness: 300,\n"
     "  velocity: [-2,0,0]}]\n",
     3},
    {"simulation: {integrator: rk4, dt: auto, duration: 900}\n"
     "bodies: [{name: b, type: sphere, center: [0,0,0], radius: 1, subdivisions: 0, mass: 1,\n"
     "  spring: {stiffness: 100, yield_at: 1.1}, pressure: {amount: 9, inflate: 0.1}}]\n",
     511},
};

struct seed {
    taut_scene *scene;
    uint8_t *bytes;
    size_t length;
};

static struct seed make_seed(int number)
{
    struct seed seed;
    taut_solver *solver;
    void *bytes;
    taut_error error = {0};
    const char *text = scenes[number].text;
    const taut_config config = {.threads = 1};
    if (taut_scene_parse(text, strlen(text), "fuzz.yaml", NULL, &seed.scene, &error) != TAUT_OK ||
        taut_solver_create(seed.scene, &config, &solver, &error) != TAUT_OK ||
        taut_solver_step(solver, scenes[number].steps, &error) != TAUT_OK ||
        taut_solver_save_memory(solver, &bytes, &seed.length, &error) != TAUT_OK)
        abort();
    taut_solver_destroy(solver);
    seed.bytes = bytes;
    return seed;
}

// The input is applied to a checkpoint: pairs of an offset (2 bytes, little endian) and a byte that
// is written there; so a corpus needs no files of this format, and every input reaches far.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct seed seeds[2];
    struct seed *seed = &seeds[size / 2 % 2];
    if (!seed->scene)
        *seed = make_seed((int)(seed - seeds));
    const size_t length = seed->length;
    uint8_t *bytes = malloc(length);
    if (!bytes)
        abort();
    memcpy(bytes, seed->bytes, length);
    for (size_t i = 0; i + 3 <= size; i += 3)
        bytes[(data[i] | (size_t)data[i + 1] << 8) % length] = data[i + 2];
    if (size % 2 == 0)
        fix_checksums(bytes, length);
    taut_solver *solver;
    taut_error error = {0};
    const taut_config config = {.threads = 1};
    if (taut_solver_restore_memory(seed->scene, bytes, length, &config, &solver, &error) ==
        TAUT_OK) {
        (void)taut_solver_step(solver, 2, &error);
        taut_solver_destroy(solver);
    } else if (!error.text[0]) {
        abort();
    }
    free(bytes);
    return 0;
}
