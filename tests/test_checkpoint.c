// Checkpoints: a run that is restored from one continues to the bit, whatever it remembers, on
// other threads and instruction sets; and nothing that is no whole checkpoint of the scene is
// restored.
#include "checkpoint_fixture.h"
#include "samples.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "output/file.h"
#include "output/run_checkpoint.h"

static taut_status restore_bytes(const taut_scene *scene, const void *bytes, size_t count,
                                 taut_error *error)
{
    taut_solver *solver = (taut_solver *)&solver; // to see that it is set
    taut_status status = taut_solver_restore_memory(scene, bytes, count, NULL, &solver, error);
    if (status != TAUT_OK)
        assert_null(solver);
    taut_solver_destroy(solver);
    return status;
}

// ---- Comparing

// A run of `steps` and `more` steps, and one that is saved and restored between them. Another one,
// of another number of threads and another instruction set, continues from the same checkpoint.
static void assert_continues(const taut_scene *scene, uint64_t steps, uint64_t more,
                             const char *what)
{
    const enum isa best = best_isa();
    taut_solver *whole = create(scene, 1, best);
    advance(whole, steps);
    struct saved middle = save(whole);
    advance(whole, more);
    const uint64_t hash = taut_solver_hash(whole);
    struct saved end = save_and_end(whole);
    for (int k = 0; k < 2; k++) {
        taut_solver *second = restore(scene, middle, k ? 1 : 2, k ? best : ISA_BASE);
        struct saved again = save(second);
        assert_same_saved(middle, again, what);
        taut_bytes_release(again.bytes);
        assert_int_equal(taut_solver_step_count(second), steps);
        advance(second, more);
        if (taut_solver_hash(second) != hash)
            fail_msg("%s: another hash", what);
        again = save_and_end(second);
        assert_same_saved(end, again, what);
        taut_bytes_release(again.bytes);
    }
    taut_bytes_release(middle.bytes);
    taut_bytes_release(end.bytes);
}

// ---- Scenes

static void test_shipped_scenes(void **state)
{
    (void)state;
    static const char folder[] = TAUT_TEST_SOURCE "/scenes";
    DIR *listing = opendir(folder);
    assert_non_null(listing);
    int count = 0;
    for (struct dirent *entry; (entry = readdir(listing));) {
        const char *ending = strrchr(entry->d_name, '.');
        if (!ending || strcmp(ending, ".yaml") != 0)
            continue;
        char *path = text_format("%s/%s", folder, entry->d_name);
        taut_error error = {0};
        taut_scene *scene;
        assert_non_null(path);
        assert_int_equal(taut_scene_load(path, NULL, &scene, &error), TAUT_OK);
        taut_solver *solver = create(scene, 1, best_isa());
        const double springs = (double)taut_solver_spring_count(solver);
        taut_solver_destroy(solver);
        const uint64_t steps = (uint64_t)fmin(700, fmax(3, 2e6 / (springs + 1)));
        assert_continues(scene, steps, steps - steps / 3, entry->d_name);
        taut_scene_destroy(scene);
        free(path);
        count++;
    }
    closedir(listing);
    assert_true(count >= 28);
}

static void test_every_integrator(void **state)
{
    (void)state;
    for (int i = 0; i < INTEGRATOR_COUNT; i++)
        for (size_t s = 0; s < sample_count; s++) {
            const char *name = integrator_name((enum integrator)i);
            const char *precision = precision_number(s + (size_t)i);
            char *what = text_format("%s with %s", samples[s].name, name);
            taut_scene *scene =
                scene_of("precision: %s\nsimulation: {integrator: %s, dt: 0.0005, steps: 1}\n%s",
                         precision, name, samples[s].text);
            assert_continues(scene, 17, 23, what);
            taut_scene_destroy(scene);
            free(what);
        }
}

static const char *const project =
    ", {type: room, min: [-0.7,-3,-3], max: [9,3,3], response: project, keep: 0.9,\n"
    " restitution: 0.5, friction: 0.2}";

static taut_scene *busy_scene(int number, int integrator, const char *dt)
{
    char *more = text_format("%s%s", number & 2 ? ", keep_velocity: 0.999" : "",
                             strcmp(dt, "auto") == 0 ? ", duration: 2" : ", steps: 1");
    taut_scene *scene =
        scene_of(busy_text, precision_number((size_t)number),
                 integrator_name((enum integrator)integrator), dt, more, number & 4 ? project : "");
    free(more);
    return scene;
}

static void test_busy_scene(void **state)
{
    (void)state;
    for (int i = 0; i < INTEGRATOR_COUNT; i++)
        for (int number = 0; number < 12; number++)
            for (uint64_t steps = 0; steps < 20; steps += 13) {
                char *what = text_format("number %d with %s, from step %d", number,
                                         integrator_name((enum integrator)i), (int)steps);
                taut_scene *scene = busy_scene(number, i, "0.0005");
                assert_continues(scene, steps, 32, what);
                taut_scene_destroy(scene);
                free(what);
            }
}

// ---- Reading

// Steps in calls of random lengths, with a reading of the energies and the budget after each. The
// run continues from a checkpoint after one of them.
static taut_solver *advance_reading(const taut_scene *scene, uint64_t steps, uint64_t seed)
{
    const enum isa best = best_isa();
    taut_solver *solver = create(scene, 1, best);
    const uint64_t middle = (uint64_t)(fabs(next_random(&seed)) * (double)steps);
    bool restored = false;
    for (uint64_t done = 0; done < steps;) {
        const uint64_t call = 1 + (uint64_t)(fabs(next_random(&seed)) * 6);
        const uint64_t count = call < steps - done ? call : steps - done;
        work_of(solver);
        if (!restored && done >= middle) {
            struct saved saved = save_and_end(solver);
            solver = restore(scene, saved, 2, best);
            taut_bytes_release(saved.bytes);
            restored = true;
        }
        advance(solver, count);
        done += count;
    }
    return solver;
}

// A run is the same, to the last bit of the budget, however its steps are divided among calls,
// whether or not it is read between them, and wherever it is continued.
static void assert_unread(const taut_scene *scene, uint64_t steps, uint64_t seed, const char *what)
{
    taut_solver *whole = create(scene, 1, best_isa());
    advance(whole, steps);
    struct saved end = save_and_end(whole);
    struct saved again = save_and_end(advance_reading(scene, steps, seed));
    assert_same_saved(end, again, what);
    taut_bytes_release(again.bytes);
    taut_bytes_release(end.bytes);
}

static void test_reading(void **state)
{
    (void)state;
    for (int i = 0; i < INTEGRATOR_COUNT; i++)
        for (int number = 0; number < 12; number++) {
            char *what =
                text_format("read, number %d with %s", number, integrator_name((enum integrator)i));
            taut_scene *scene = busy_scene(number, i, "0.0005");
            assert_unread(scene, 40, (uint64_t)number + 1, what);
            taut_scene_destroy(scene);
            free(what);
        }
}

// A spring whose ends a wall brings together yields to a length of 0, which is not as built: what
// it lost was counted again. On a grid and listed.
static void test_springs_that_yield_to_nothing(void **state)
{
    (void)state;
    static const char *const bodies[] = {
        "type: rope, from: [1.9, 0, 0], to: [2.1, 0, 0], nodes: 5, mass: 0.01, stiffness: 150",
        "type: network, nodes: [[1.9, 0, 0], [2, 0, 0], [2.1, 0, 0]], node_mass: 0.003,\n"
        "  springs: [[0, 1], [1, 2]], stiffness: 150"};
    for (int i = 0; i < 2; i++) {
        taut_scene *scene = scene_of("precision: double\nsimulation: {dt: 1e-4, steps: 20}\n"
                                     "bodies: [{name: b, %s, yield_at: 0.0094}]\n"
                                     "colliders: [{type: room, min: [-2, -1, -2], max: [2, 2, 2],\n"
                                     "  response: project}]\n",
                                     bodies[i]);
        assert_continues(scene, 10, 10, bodies[i]);
        taut_scene_destroy(scene);
    }
}

// Springs that break or yield at the start of a step do so after a reading of the same time.
static void test_reading_before_changes(void **state)
{
    (void)state;
    static const struct {
        const char *name, *dt, *text;
        uint64_t steps;
        bool stiff; // the step is too long for explicit integrators
    } scenes[] = {
        {"a torn lattice in wind on nodes", "0.0005, steps: 1",
         "environment: {gravity: [0,-9.81,0], wind: {velocity: [3,0,1], law: node,\n"
         "  relative: false}}\n"
         "bodies: [{name: j, type: lattice, origin: [0,0,0], nodes: [6,6,6], spacing: 0.1,\n"
         "  node_mass: 0.02, spring: {stiffness: 150, damping: 0.02, law: tension_only,\n"
         "  break_at: 1.05}}]\n",
         760, false},
        {"a ball that yields on a plane", "0.005, steps: 1",
         "environment: {gravity: [0,-9.81,0]}\n"
         "bodies: [{name: b, type: sphere, center: [0,0.8,0], radius: 0.3, subdivisions: 2,\n"
         "  mass: 0.243, spring: {stiffness: 60, damping: 0.02,\n"
         "  yield_at: 0.1}}]\n"
         "colliders: [{type: plane, response: project, restitution: 0.5, keep: 0.9}]\n",
         120, true},
        {"a rope that keeps 0.999", "0.001, steps: 1, keep_velocity: 0.999",
         "environment: {gravity: [0,-9.81,0], air_drag: 0.02, wind: {velocity: [3,0,1]}}\n"
         "bodies: [{name: r, type: rope, from: [0,0,0], to: [1,0,0], nodes: 20, mass: 0.2,\n"
         "  pins: [first], spring: {stiffness: 200, damping: 0.05}}]\n",
         100, false},
    };
    for (size_t s = 0; s < sizeof scenes / sizeof *scenes; s++)
        for (int i = 0; i < INTEGRATOR_COUNT; i++) {
            const char *name = integrator_name((enum integrator)i);
            char *what = text_format("%s with %s", scenes[s].name, name);
            taut_scene *scene = scene_of("simulation: {integrator: %s, dt: %s}\n%s", name,
                                         scenes[s].dt, scenes[s].text);
            const bool fails =
                scenes[s].stiff ? i < INTEGRATOR_IMPLICIT_EULER : i == INTEGRATOR_EXPLICIT_EULER;
            for (uint64_t seed = 1; !fails && seed <= 3; seed++)
                assert_unread(scene, scenes[s].steps, seed, what);
            taut_scene_destroy(scene);
            free(what);
        }
}

// dt is evaluated every 32 to 4,096 steps, and its value since then is part of a checkpoint.
static void test_dt_auto(void **state)
{
    (void)state;
    static const int integrators[] = {INTEGRATOR_SYMPLECTIC_EULER, INTEGRATOR_VERLET,
                                      INTEGRATOR_RK4};
    for (int i = 0; i < 3; i++) {
        taut_scene *gas = busy_scene(4, integrators[i], "auto");
        assert_continues(gas, 1000, 1200, "gas with dt: auto");
        taut_scene_destroy(gas);
        taut_scene *breaking = scene_of(
            "simulation: {integrator: %s, dt: auto, duration: 900}\n"
            "bodies: [{name: o, type: network, nodes: [[-1,0,0],[0,0,0],[1,0,0]],\n"
            "  node_mass: [1, 1, 1], pins: [0, 2], velocities: [[0,0,0],[0,9,0],[0,0,0]],\n"
            "  springs: [[0, 1, {stiffness: 100}], [1, 2, {stiffness: 100, break_at: 1.5}]]}]\n",
            integrator_name((enum integrator)integrators[i]));
        taut_solver *solver = create(breaking, 1, ISA_BASE);
        const double built = taut_solver_dt(solver);
        advance(solver, 1100);
        assert_true(taut_solver_dt(solver) != built);
        struct saved saved = save(solver);
        taut_solver *second = restore(breaking, saved, 1, ISA_BASE);
        assert_int_equal(taut_solver_steps_planned(second), taut_solver_steps_planned(solver));
        taut_bytes_release(saved.bytes);
        taut_solver_destroy(solver);
        taut_solver_destroy(second);
        assert_continues(breaking, 300, 900, "before dt changes");
        assert_continues(breaking, 1100, 1100, "after dt has changed");
        taut_scene_destroy(breaking);
    }
}

// Interactions with a run: a mouse spring, nodes that are moved, a sphere elsewhere, another dt.
static void test_interaction(void **state)
{
    (void)state;
    for (int i = 0; i < INTEGRATOR_COUNT; i++) {
        static const double centre[3] = {0.3, 1.1, 0.2}, velocity[3] = {0, -1, 0};
        const struct solver_grab grab = {.body = 1, .node = 57, .target = {4, 2, 1}};
        taut_scene *scene = busy_scene(i & 1 ? 4 : 1, i, "0.0005");
        taut_error error = {0};
        taut_solver *whole = create(scene, 1, ISA_BASE);
        advance(whole, 7);
        assert_int_equal(taut_solver_set_sphere(whole, 1, centre, velocity, &error), TAUT_OK);
        assert_int_equal(solver_grab(whole, &grab, &error), TAUT_OK);
        assert_int_equal(solver_set_kinematic_velocity(whole, 0, 5, velocity, &error), TAUT_OK);
        assert_int_equal(solver_set_kinematic_velocity(whole, 1, 20, centre, &error), TAUT_OK);
        advance(whole, 3);
        assert_int_equal(taut_solver_set_dt(whole, 0.0004, &error), TAUT_OK);
        advance(whole, 3);
        struct saved middle = save(whole);
        taut_solver *second = restore(scene, middle, 2, best_isa());
        advance(whole, 20);
        advance(second, 20);
        assert_same_bits(taut_solver_dt(second), 0.0004);
        struct saved a = save_and_end(whole), b = save_and_end(second);
        assert_same_saved(a, b, integrator_name((enum integrator)i));
        taut_bytes_release(middle.bytes);
        taut_bytes_release(a.bytes);
        taut_bytes_release(b.bytes);
        taut_scene_destroy(scene);
    }
}

// Where the run diverges, and when that is noticed, does not depend on where it was restored.
static void test_divergence(void **state)
{
    (void)state;
    taut_scene *scene = scene_of(
        "simulation: {integrator: explicit_euler, dt: 0.02, steps: 1}\n"
        "bodies: [{name: r, type: rope, from: [0,0,0], to: [1,0,0], nodes: 24, node_mass: 0.1,\n"
        "  pins: [first], velocity: [0,0.1,0], links: chain, spring: {stiffness: 30}}]\n");
    taut_error error = {0}, later = {0};
    taut_solver *whole = create(scene, 1, ISA_BASE);
    struct saved middle = {NULL, 0};
    uint64_t steps = 0;
    while (taut_solver_step(whole, 40, &error) == TAUT_OK && steps++ < 1000) {
        taut_bytes_release(middle.bytes);
        middle = save(whole);
    }
    assert_int_equal(error.code, TAUT_ERROR_DIVERGED);
    taut_solver *second = restore(scene, middle, 1, ISA_BASE);
    assert_int_equal(taut_solver_step(second, 40, &later), TAUT_ERROR_DIVERGED);
    assert_string_equal(error.text, later.text);
    taut_bytes_release(middle.bytes);
    taut_solver_destroy(whole);
    taut_solver_destroy(second);
    taut_scene_destroy(scene);
}

// ---- What is refused

static taut_scene *small_scene(const char *more)
{
    return scene_of("precision: double\nsimulation: {integrator: verlet, dt: 0.0005, steps: 10}\n"
                    "environment: {gravity: [0,-9.81,0]}\n"
                    "bodies: [{name: r, type: rope, from: [0,0,0], to: [1,0,0], nodes: 9,\n"
                    "  node_mass: 0.1, pins: [first], links: chain,\n"
                    "  spring: {stiffness: 100, break_at: 1.5}}]\n%s",
                    more);
}

static struct saved small_checkpoint(const taut_scene *scene)
{
    taut_solver *solver = create(scene, 1, ISA_BASE);
    advance(solver, 5);
    return save_and_end(solver);
}

// Reads a stream to its end, without a scene.
static taut_status read_bytes(const void *bytes, size_t count, taut_error *error)
{
    // NOLINTNEXTLINE(performance-no-int-to-ptr): the bytes are only read
    struct saved left = {(void *)(uintptr_t)bytes, count};
    struct archive_reader reader;
    struct archive_chunk chunk = {.name = "?"};
    taut_status status = archive_open(&reader, feed_reader, &left, "memory", error);
    while (status == TAUT_OK && chunk.name[0])
        status = archive_next(&reader, &chunk, error);
    archive_close(&reader);
    return status;
}

enum { RESTORED = 61 }; // one alteration in so many is restored, and all are read

// Every length.
static void test_truncated(void **state)
{
    (void)state;
    taut_scene *scene = small_scene("");
    struct saved saved = small_checkpoint(scene);
    for (size_t length = 0; length < saved.count; length++) {
        taut_error error = {0};
        unsigned char *bytes = malloc(length + 1); // of that size: sanitizers see reads beyond it
        assert_non_null(bytes);
        memcpy(bytes, saved.bytes, length);
        taut_status status = length % RESTORED == 0 ? restore_bytes(scene, bytes, length, &error)
                                                    : read_bytes(bytes, length, &error);
        if (status != TAUT_ERROR_IO)
            fail_msg("%d of %d bytes: %s", (int)length, (int)saved.count, error.text);
        if (!strstr(error.text, length == 0 ? "no checkpoint" : "cut off"))
            fail_msg("%d bytes: %s", (int)length, error.text);
        free(bytes);
    }
    taut_error error = {0};
    unsigned char *longer = malloc(saved.count + 1);
    assert_non_null(longer);
    memcpy(longer, saved.bytes, saved.count);
    longer[saved.count] = 0;
    assert_int_equal(restore_bytes(scene, longer, saved.count + 1, &error), TAUT_ERROR_IO);
    free(longer);
    assert_int_equal(restore_bytes(scene, saved.bytes, saved.count, &error), TAUT_OK);
    taut_bytes_release(saved.bytes);
    taut_scene_destroy(scene);
}

// Every byte, in one of its bits.
static void test_altered(void **state)
{
    (void)state;
    taut_scene *scene = small_scene("");
    struct saved saved = small_checkpoint(scene);
    unsigned char *bytes = saved.bytes;
    for (size_t i = 0; i < saved.count; i++) {
        taut_error error = {0};
        const int bit = 1 << (i * 5 % 8);
        bytes[i] ^= (unsigned char)bit;
        taut_status status = i % RESTORED == 0 ? restore_bytes(scene, bytes, saved.count, &error)
                                               : read_bytes(bytes, saved.count, &error);
        if (status != TAUT_ERROR_IO)
            fail_msg("byte %d altered: %s", (int)i, status == TAUT_OK ? "accepted" : error.text);
        bytes[i] ^= (unsigned char)bit;
    }
    taut_bytes_release(saved.bytes);
    taut_scene_destroy(scene);
}

static uint64_t hash_of(const void *bytes, size_t count)
{
    struct hash hash;
    hash_begin(&hash);
    hash_add(&hash, bytes, count);
    return hash_end(&hash);
}

// The offset of a chunk's header; the stream has one of that name.
static size_t find_chunk(struct saved saved, const char *name)
{
    for (size_t i = 256; i + 96 <= saved.count; i += 8)
        if (memcmp((unsigned char *)saved.bytes + i, "CHNK", 4) == 0 &&
            strcmp((const char *)saved.bytes + i + 8, name) == 0)
            return i;
    fail_msg("no chunk '%s'", name);
    return 0;
}

// Makes the checksums of an altered chunk right again, as somebody malicious would.
static void seal_chunk(unsigned char *chunk)
{
    uint32_t stored;
    memcpy(&stored, chunk + 76, sizeof stored);
    uint64_t hash = hash_of(chunk + 96, stored);
    memcpy(chunk + 80, &hash, sizeof hash);
    hash = hash_of(chunk, 88);
    memcpy(chunk + 88, &hash, sizeof hash);
}

// With checksums that are right again.
static void test_made_up(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        size_t offset; // in the header of the chunk
        uint64_t value;
        size_t bytes;
        const char *reason;
    } cases[] = {
        {"positions", 48, UINT64_MAX, 8, "length"},  {"positions", 48, 1 << 20, 8, "length"},
        {"positions", 48, 26, 8, "content"},         {"positions", 56, 1, 8, "content"},
        {"positions", 56, UINT64_MAX, 8, "content"}, {"positions", 64, UINT64_MAX, 8, "content"},
        {"positions", 64, 0, 8, "content"},          {"positions", 72, UINT32_MAX, 4, "content"},
        {"positions", 72, 8, 4, "content"},          {"positions", 76, UINT32_MAX, 4, "content"},
        {"positions", 76, 0, 4, "content"},          {"positions", 4, 0, 1, "content"},
        {"positions", 4, 6, 1, "content"},           {"positions", 4, 3, 1, "type"},
        {"positions", 5, 9, 1, "content"},           {"positions", 5, 1, 1, "content"},
        {"forces_current", 5, 1, 1, "content"},      {"positions", 8, 'q', 1, "expected"},
        {"positions", 8, 0, 1, "content"},           {"forces_current", 4, 1, 1, NULL},
        {"positions", 12, 0x1b, 1, "content"},       {"positions", 12, ' ', 1, "content"},
        {"positions", 12, 0xc3, 1, "content"},       {"positions", 12, 0x7f, 1, "content"},
        {"positions", 46, 'x', 1, "content"},        {"positions", 47, 'x', 1, "content"},
    };
    taut_scene *scene = small_scene("");
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        struct saved saved = small_checkpoint(scene);
        unsigned char *chunk = (unsigned char *)saved.bytes + find_chunk(saved, cases[c].name);
        taut_error error = {0};
        memcpy(chunk + cases[c].offset, &cases[c].value, cases[c].bytes);
        const uint64_t hash = hash_of(chunk, 88);
        memcpy(chunk + 88, &hash, sizeof hash);
        taut_status status = restore_bytes(scene, saved.bytes, saved.count, &error);
        if (!cases[c].reason ? status != TAUT_OK
                             : status != TAUT_ERROR_IO || !strstr(error.text, cases[c].reason))
            fail_msg("case %d: %s", (int)c, error.text);
        for (const char *at = error.text; *at; at++) // no terminal does anything but print it
            assert_in_range((unsigned char)*at, ' ', '~');
        taut_bytes_release(saved.bytes);
    }
    static const struct {
        const char *name;
        unsigned char value[8];
        size_t bytes;
    } numbers[] = {
        {"forces_current", {2}, 1},
        {"broken", {7}, 1},
        {"mouse_spring.node", {9}, 4},
        {"body_nodes", {8}, 8},
        {"dt.since_step", {6}, 8},
        {"dt.position_ratio", {0, 0, 0, 0, 0, 0, 0xf0, 0x7f}, 8},
        {"divergence.explained_peak", {1, 0, 0, 0, 0, 0, 0xf0, 0x7f}, 8},
        {"budget.kinetic", {0, 0, 0, 0, 0, 0, 0xf0, 0xff}, 8},
        {"budget.differences_present", {3}, 4},
    };
    for (size_t c = 0; c < sizeof numbers / sizeof numbers[0]; c++) {
        struct saved saved = small_checkpoint(scene);
        unsigned char *chunk = (unsigned char *)saved.bytes + find_chunk(saved, numbers[c].name);
        taut_error error = {0};
        memcpy(chunk + 96, numbers[c].value, numbers[c].bytes);
        seal_chunk(chunk);
        if (restore_bytes(scene, saved.bytes, saved.count, &error) != TAUT_ERROR_IO ||
            !strstr(error.text, "checksum is right"))
            fail_msg("%s: %s", numbers[c].name, error.text);
        taut_bytes_release(saved.bytes);
    }
    // The error names the array and the index.
    const double nan[] = {1, 2, NAN};
    struct saved target = small_checkpoint(scene);
    unsigned char *chunk =
        (unsigned char *)target.bytes + find_chunk(target, "mouse_spring.target");
    taut_error error = {0};
    memcpy(chunk + 96, nan, sizeof nan);
    chunk[5] = 0;
    uint32_t stored;
    memcpy(&stored, chunk + 76, sizeof stored);
    assert_int_equal(stored, sizeof nan); // it is too short to be compressed
    seal_chunk(chunk);
    assert_int_equal(restore_bytes(scene, target.bytes, target.count, &error), TAUT_ERROR_IO);
    assert_non_null(strstr(error.text, "'mouse_spring.target' has a number that is not finite at "
                                       "index 2, though its checksum is right"));
    taut_bytes_release(target.bytes);
    taut_scene_destroy(scene);
}

// Where the weights of the bound that dt: auto follows lie in a checkpoint of a scene of that
// kernel; 0: it has none.
static size_t find_weights(taut_scene *scene, taut_kernel kernel, struct saved *saved)
{
    const taut_config config = {.threads = 1, .kernel = kernel};
    taut_solver *solver = create_with(scene, &config);
    advance(solver, 5);
    *saved = save_and_end(solver);
    const unsigned char *bytes = saved->bytes;
    for (size_t i = 256; i + 96 <= saved->count; i += 8)
        if (memcmp(bytes + i, "CHNK\4", 5) == 0 &&
            strcmp((const char *)bytes + i + 8, "bound_weights") == 0)
            return i;
    return 0;
}

// A scene whose kernel puts all springs in rows has no weights, and finds them where another kernel
// continues; values that are no weights are refused. The test runs in single precision, so that the
// kinds differ.
static void test_bound_weights(void **state)
{
    (void)state;
    taut_scene *scene =
        scene_of("simulation: {integrator: rk4, dt: auto, duration: 1}\n"
                 "bodies: [{name: c, type: cloth, origin: [0,0,0], u: [1,0,0], v: [0,1,0],\n"
                 "  nodes: [9,8], mass: 1, pins: [left], spring: {stiffness: 100}}]\n");
    struct saved rows, packed;
    assert_int_equal(find_weights(scene, TAUT_KERNEL_GRID, &rows), 0);
    const taut_config other = {.threads = 1, .kernel = TAUT_KERNEL_PACKED};
    taut_solver *solver = restore_with(scene, rows, &other);
    advance(solver, 64);
    assert_true(taut_solver_dt(solver) > 0);
    packed = save_and_end(solver);
    taut_bytes_release(packed.bytes);
    taut_bytes_release(rows.bytes);

    static const float wrong[] = {0, -1};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const size_t at = find_weights(scene, TAUT_KERNEL_PACKED, &packed);
        unsigned char *chunk = (unsigned char *)packed.bytes + at;
        taut_error error = {0};
        assert_true(at > 0);
        assert_int_equal(chunk[5], 0); // not compressed
        memcpy(chunk + 96 + 4 * 17, &wrong[i], sizeof wrong[i]);
        seal_chunk(chunk);
        assert_int_equal(restore_bytes(scene, packed.bytes, packed.count, &error), TAUT_ERROR_IO);
        assert_non_null(strstr(error.text, "'bound_weights' has a weight that is not above 0"));
        taut_bytes_release(packed.bytes);
    }
    taut_scene_destroy(scene);
}

static void test_other_versions(void **state)
{
    (void)state;
    taut_scene *scene = small_scene("");
    struct saved saved = small_checkpoint(scene);
    unsigned char *bytes = saved.bytes;
    const uint32_t format = ARCHIVE_FORMAT + 1;
    taut_error error = {0};
    memcpy(bytes + 8, &format, sizeof format);
    memcpy(bytes + 32, "9.9.9", 6);
    uint64_t hash = hash_of(bytes, 248);
    memcpy(bytes + 248, &hash, sizeof hash);
    assert_int_equal(restore_bytes(scene, bytes, saved.count, &error), TAUT_ERROR_UNSUPPORTED);
    assert_non_null(strstr(error.text, "written by taut 9.9.9"));
    assert_non_null(strstr(error.text, "use a newer taut"));
    taut_bytes_release(saved.bytes);
    assert_int_equal(restore_bytes(scene, "body,node,x,y,z", 15, &error), TAUT_ERROR_IO);
    assert_non_null(strstr(error.text, "no checkpoint"));
    taut_scene_destroy(scene);
}

// Arrays that are equal nearly everywhere are compressed, and others are not.
static void test_compression(void **state)
{
    (void)state;
    enum { STORED, COMPRESSED };
    taut_scene *scene = scene_of(
        "simulation: {integrator: symplectic_euler, dt: 0.0002, steps: 10}\n"
        "bodies: [{name: jelly, type: lattice, nodes: [16,16,16], spacing: 0.1, mass: 0.1,\n"
        "  rotate: [10,20,30], velocity: [0,-1,0], spring: {stiffness: 100, break_at: 1.5}}]\n"
        "colliders: [{type: plane, point: [0,-1,0], normal: [0.1,1,0], stiffness: 100}]\n");
    taut_solver *solver = create(scene, 1, ISA_BASE);
    advance(solver, 8);
    struct saved saved = save_and_end(solver);
    unsigned char *bytes = saved.bytes;
    assert_int_equal(bytes[find_chunk(saved, "broken") + 5], COMPRESSED);
    assert_int_equal(bytes[find_chunk(saved, "positions") + 5], STORED);
    struct saved again = save_and_end(restore(scene, saved, 1, ISA_BASE));
    assert_same_saved(saved, again, "compressed");
    taut_bytes_release(again.bytes);

    // Its content is what its header describes.
    unsigned char *chunk = bytes + find_chunk(saved, "broken");
    taut_error error = {0};
    chunk[5] = STORED;
    uint64_t hash = hash_of(chunk, 88);
    memcpy(chunk + 88, &hash, sizeof hash);
    assert_int_equal(restore_bytes(scene, saved.bytes, saved.count, &error), TAUT_ERROR_IO);
    assert_non_null(strstr(error.text, "the content"));
    chunk[5] = COMPRESSED;
    chunk[96 + 5] ^= 0xff; // of zstd's header
    uint32_t stored;
    memcpy(&stored, chunk + 76, sizeof stored);
    hash = hash_of(chunk + 96, stored);
    memcpy(chunk + 80, &hash, sizeof hash);
    hash = hash_of(chunk, 88);
    memcpy(chunk + 88, &hash, sizeof hash);
    assert_int_equal(restore_bytes(scene, saved.bytes, saved.count, &error), TAUT_ERROR_IO);
    assert_non_null(strstr(error.text, "the compression"));
    taut_bytes_release(saved.bytes);
    taut_scene_destroy(scene);
}

static bool take(void *context, const void *bytes, size_t count)
{
    struct saved *saved = context;
    saved->bytes = realloc(saved->bytes, saved->count + count);
    assert_non_null(saved->bytes);
    memcpy((unsigned char *)saved->bytes + saved->count, bytes, count);
    saved->count += count;
    return true;
}

// A copy, made by any number of threads, has the bytes that are read from the solver directly. The
// bodies are renumbered, and chunks end within them.
static void test_copies(void **state)
{
    (void)state;
    static const char *const precisions[] = {"single", "double", "mixed"};
    static const char *const integrators[] = {"velocity_verlet", "verlet", "bdf2"};
    for (int p = 0; p < 3; p++)
        for (int i = 0; i < 3; i++) {
            taut_scene *scene = scene_of(
                "precision: %s\nsimulation: {integrator: %s, dt: 0.0002, steps: 10}\n"
                "bodies: [{name: ball, type: sphere, radius: 1, subdivisions: 5, mass: 1,\n"
                "  velocity: [0,-1,0], spring: {stiffness: 100, yield_at: 1.01}},\n"
                "  {name: cloth, type: cloth, origin: [3,0,0], u: [1,0,0], v: [0,0,1],\n"
                "  nodes: [260,270], mass: 1, springs: {structural: {stiffness: 10}}}]\n",
                precisions[p], integrators[i]);
            taut_error error = {0};
            taut_solver *solver = create(scene, 3, ISA_BASE);
            taut_solver *alone = create(scene, 1, ISA_BASE);
            struct solver_copy *copy, *reference;
            struct saved a = {NULL, 0}, b = {NULL, 0};
            advance(solver, 2);
            advance(alone, 2);
            assert_int_equal(solver_copy_make(solver, &copy, &error), TAUT_OK);
            assert_int_equal(solver_copy_refer(alone, &reference, &error), TAUT_OK);
            advance(solver, 1);
            assert_int_equal(solver_copy_write(copy, NULL, 0, take, &a, &error), TAUT_OK);
            assert_int_equal(solver_copy_write(reference, NULL, 0, take, &b, &error), TAUT_OK);
            assert_same_saved(a, b, integrators[i]);
            solver_copy_free(copy);
            solver_copy_free(reference);
            struct saved c = save_and_end(restore(scene, a, 1, ISA_BASE));
            assert_same_saved(a, c, integrators[i]);
            taut_bytes_release(c.bytes);
            free(a.bytes);
            free(b.bytes);
            taut_solver_destroy(solver);
            taut_solver_destroy(alone);
            taut_scene_destroy(scene);
        }
}

// The scene may have another name, duration and output; anything else makes it another one.
static void test_other_scenes(void **state)
{
    (void)state;
    static const char *const text =
        "title: %s\nprecision: %s\nsimulation: {integrator: %s, dt: 0.0005, steps: %s}\n"
        "bodies: [{name: %s, type: rope, from: [0,0,0], to: [1,0,0], nodes: %s, mass: 0.1,\n"
        "  pins: [first], links: chain, spring: {stiffness: %s}}]\noutput: {every: %s}\n";
    static const struct {
        const char *values[8], *reason;
    } cases[] = {
        {{"a", "double", "verlet", "10", "r", "9", "100", "0.01"}, NULL},
        {{"b", "double", "verlet", "99", "q", "9", "100", "0.02"}, NULL},
        {{"a", "single", "verlet", "10", "r", "9", "100", "0.01"}, "double precision"},
        {{"a", "double", "rk4", "10", "r", "9", "100", "0.01"}, "the integrator verlet"},
        {{"a", "double", "verlet", "10", "r", "8", "100", "0.01"}, "of 9 nodes and 8 springs"},
        {{"a", "double", "verlet", "10", "r", "9", "101", "0.01"}, "other constants"},
    };
    struct saved saved = {NULL, 0};
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        const char *const *v = cases[c].values;
        taut_error error = {0};
        taut_scene *scene = scene_of(text, v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7]);
        if (!saved.bytes)
            saved = small_checkpoint(scene);
        taut_status status = restore_bytes(scene, saved.bytes, saved.count, &error);
        assert_int_equal(status, cases[c].reason ? TAUT_ERROR_ARGUMENT : TAUT_OK);
        if (cases[c].reason &&
            (!strstr(error.text, cases[c].reason) || !strstr(error.text, "another scene")))
            fail_msg("%s", error.text);
        taut_scene_destroy(scene);
    }
    taut_bytes_release(saved.bytes);
    taut_scene *without = small_scene("output: {work: false}\n"), *with = small_scene("");
    taut_error error = {0};
    saved = small_checkpoint(without);
    assert_int_equal(restore_bytes(with, saved.bytes, saved.count, &error), TAUT_ERROR_ARGUMENT);
    assert_non_null(strstr(error.text, "work: false"));
    taut_bytes_release(saved.bytes);
    saved = small_checkpoint(with);
    assert_int_equal(restore_bytes(without, saved.bytes, saved.count, &error), TAUT_OK);
    taut_bytes_release(saved.bytes);
    taut_scene_destroy(with);
    taut_scene_destroy(without);
}

// ---- Files

static void test_files(void **state)
{
    (void)state;
    static const char path[] = TAUT_TEST_OUT "/run.checkpoint", nowhere[] = TAUT_TEST_OUT "/no/x";
    assert_true(mkdir(TAUT_TEST_OUT, 0777) == 0 || errno == EEXIST);
    taut_scene *scene = small_scene("");
    taut_solver *solver = create(scene, 1, ISA_BASE), *second;
    taut_error error = {0};
    advance(solver, 5);
    for (int named = 0; named < 2; named++) { // as on file systems without unnamed files, too
        file_name_temporaries(named);
        advance(solver, 5);
        assert_int_equal(taut_solver_save(solver, path, &error), TAUT_OK);
        assert_int_equal(taut_solver_restore(scene, path, NULL, &second, &error), TAUT_OK);
        struct saved a = save(solver), b = save_and_end(second);
        assert_same_saved(a, b, "from a file");
        taut_bytes_release(a.bytes);
        taut_bytes_release(b.bytes);
    }
    file_name_temporaries(false);
    assert_int_equal(taut_solver_save(solver, nowhere, &error), TAUT_ERROR_IO);
    assert_non_null(strstr(error.text, nowhere));
    assert_int_equal(taut_solver_restore(scene, nowhere, NULL, &second, &error), TAUT_ERROR_IO);
    assert_non_null(strstr(error.text, nowhere));
    assert_null(second);
    assert_int_equal(remove(path), 0);
    taut_solver_destroy(solver);
    taut_scene_destroy(scene);
}

// ---- Checkpoints of runs, which also have where the output stands

static struct run_position some_position(double *times, uint64_t *bodies, char *state)
{
    return (struct run_position){
        .files = {.frames = 3,
                  .energy_bytes = 1234,
                  .probe_bytes = 99,
                  .times = times,
                  .volume_bodies = bodies,
                  .volume_count = 1},
        .frame_steps = 0,
        .frame_number = 4,
        .frame_seconds = 0.01,
        .last_frame = 4,
        .due = DUE_PROBE,
        .kernel = TAUT_KERNEL_COLOURED,
        .energy_at_start = {1, 2, 3, 4, 5, 15},
        .state = state,
    };
}

static const char run_path[] = TAUT_TEST_OUT "/checkpoint_000000000000005.taut";

// Writes the position with the state after five steps.
static taut_status write_run(const taut_scene *scene, const struct run_position *position)
{
    taut_solver *solver = create(scene, 1, ISA_BASE);
    struct solver_copy *copy;
    taut_error error = {0};
    assert_true(mkdir(TAUT_TEST_OUT, 0777) == 0 || errno == EEXIST);
    advance(solver, 5);
    assert_int_equal(solver_copy_make(solver, &copy, &error), TAUT_OK);
    advance(solver, 5); // the copy is of the state before
    taut_solver_destroy(solver);
    taut_status status = run_checkpoint_write(run_path, copy, position, NULL, NULL, NULL, &error);
    solver_copy_free(copy);
    return status;
}

static taut_status read_run(struct run_position *position, taut_error *error)
{
    struct archive_header header;
    taut_status status = run_checkpoint_read(run_path, &header, position, error);
    if (status == TAUT_OK)
        assert_int_equal(header.step, 5);
    return status;
}

static void test_run_position(void **state)
{
    (void)state;
    double times[] = {0, 0.01, 0.02};
    uint64_t bodies[] = {0};
    char final[] = "final.csv";
    const struct run_position written = some_position(times, bodies, final);
    struct run_position read;
    taut_error error = {0};
    taut_scene *scene = small_scene("");
    assert_int_equal(write_run(scene, &written), TAUT_OK);
    assert_int_equal(read_run(&read, &error), TAUT_OK);
    assert_int_equal(read.files.frames, 3);
    assert_memory_equal(read.files.times, times, sizeof times);
    assert_int_equal(read.files.energy_bytes, 1234);
    assert_int_equal(read.files.probe_bytes, 99);
    assert_int_equal(read.files.volume_count, 1);
    assert_int_equal(read.files.volume_bodies[0], 0);
    assert_int_equal(read.frame_steps, 0);
    assert_int_equal(read.frame_number, 4);
    assert_true(read.frame_seconds == 0.01);
    assert_int_equal(read.last_frame, 4);
    assert_int_equal(read.due, DUE_PROBE);
    assert_int_equal(read.kernel, TAUT_KERNEL_COLOURED);
    assert_memory_equal(&read.energy_at_start, &written.energy_at_start, sizeof(taut_energy));
    assert_string_equal(read.state, final);
    run_position_free(&read);

    // A program can restore it, and gets the state of the copy.
    taut_solver *solver;
    assert_int_equal(taut_solver_restore(scene, run_path, NULL, &solver, &error), TAUT_OK);
    struct saved same = small_checkpoint(scene), restored = save_and_end(solver);
    assert_same_saved(same, restored, "of a run");
    taut_bytes_release(same.bytes);
    taut_bytes_release(restored.bytes);

    // A program's checkpoint has no position.
    solver = create(scene, 1, ISA_BASE);
    assert_int_equal(taut_solver_save(solver, run_path, &error), TAUT_OK);
    taut_solver_destroy(solver);
    assert_int_equal(read_run(&read, &error), TAUT_ERROR_IO);
    assert_non_null(strstr(error.text, "'output.frames' is missing"));
    taut_scene_destroy(scene);
}

// Positions that no run has.
static void test_run_positions_that_cannot_be(void **state)
{
    (void)state;
    double times[] = {0, 0.01, 0.02}, late[] = {0, 0.03, 0.02}, none[] = {0, NAN, 0.02};
    uint64_t bodies[] = {0};
    taut_scene *scene = small_scene("");
    for (int k = 0; k < 8; k++) {
        struct run_position wrong = some_position(times, bodies, NULL), read;
        taut_error error = {0};
        wrong.last_frame = k == 0 ? 6 : wrong.last_frame;
        wrong.due = k == 1 ? 4 : wrong.due;
        wrong.kernel = k == 2 ? 99 : wrong.kernel;
        wrong.frame_seconds = k == 3 ? 0 : k == 4 ? NAN : wrong.frame_seconds;
        wrong.frame_number = k == 5 ? 0 : wrong.frame_number;
        wrong.files.times = k == 6 ? late : k == 7 ? none : times;
        assert_int_equal(write_run(scene, &wrong), TAUT_OK);
        if (read_run(&read, &error) != TAUT_ERROR_IO)
            fail_msg("position %d is accepted", k);
    }
    taut_scene_destroy(scene);
}

static void write_bytes(const void *bytes, size_t count)
{
    FILE *file = fopen(run_path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, count, file), count);
    assert_int_equal(fclose(file), 0);
}

// Every length, and every byte in one of its bits.
static void test_damaged_runs(void **state)
{
    (void)state;
    enum { MOST = 1 << 16 };
    static unsigned char bytes[MOST];
    double times[] = {0, 0.01, 0.02};
    uint64_t bodies[] = {0};
    char final[] = "final.csv";
    const struct run_position position = some_position(times, bodies, final);
    struct run_position read;
    taut_scene *scene = small_scene("");
    assert_int_equal(write_run(scene, &position), TAUT_OK);
    FILE *file = fopen(run_path, "rb");
    assert_non_null(file);
    const size_t count = fread(bytes, 1, MOST, file);
    assert_int_equal(fclose(file), 0);
    assert_true(count > 4096 && count < MOST);
    for (size_t i = 0; i < count; i++) {
        taut_error error = {0};
        write_bytes(bytes, i);
        if (read_run(&read, &error) != TAUT_ERROR_IO)
            fail_msg("%d of %d bytes are accepted", (int)i, (int)count);
        const int bit = 1 << (i * 5 % 8);
        bytes[i] ^= (unsigned char)bit;
        write_bytes(bytes, count);
        if (read_run(&read, &error) != TAUT_ERROR_IO)
            fail_msg("byte %d altered is accepted", (int)i);
        bytes[i] ^= (unsigned char)bit;
    }
    write_bytes(bytes, count);
    taut_error error = {0};
    assert_int_equal(read_run(&read, &error), TAUT_OK);
    run_position_free(&read);
    assert_int_equal(remove(run_path), 0);
    taut_scene_destroy(scene);
}

// The independent reader finds the same numbers, and the faults.
static void test_reader(void **state)
{
    (void)state;
    static const char path[] = TAUT_TEST_OUT "/reader.checkpoint";
    static const char tool[] = "/usr/bin/python3 '" TAUT_TEST_SOURCE "/tools/read_checkpoint.py'";
    assert_true(mkdir(TAUT_TEST_OUT, 0777) == 0 || errno == EEXIST);
    // in single, double and mixed precision
    for (int number = 0; number < 3; number++) {
        taut_scene *scene = busy_scene(3 + number, INTEGRATOR_BDF2, "0.0005");
        taut_solver *solver = create(scene, 1, ISA_BASE);
        taut_error error = {0};
        advance(solver, 5);
        assert_int_equal(taut_solver_save(solver, path, &error), TAUT_OK);
        char *command = text_format("%s --state '%s'", tool, path), line[512];
        FILE *pipe = popen(command, "r");
        assert_non_null(pipe);
        assert_non_null(fgets(line, sizeof line, pipe));
        assert_string_equal(line, "body,node,x,y,z,vx,vy,vz\n");
        uint64_t over_all = 0;
        for (size_t b = 0; b < taut_solver_body_count(solver); b++)
            for (uint64_t n = 0; n < taut_solver_body_node_count(solver, b); n++, over_all++) {
                unsigned long long body = 0, node = 0;
                double v[6] = {0};
                vec3 x = position_of(solver, over_all), u = velocity_of(solver, over_all);
                const bool is_read = fgets(line, sizeof line, pipe);
                // NOLINTNEXTLINE(cert-err34-c): the numbers are compared below
                if (!is_read || sscanf(line, "%llu,%llu,%lf,%lf,%lf,%lf,%lf,%lf", &body, &node,
                                       &v[0], &v[1], &v[2], &v[3], &v[4], &v[5]) != 8)
                    fail_msg("node %d of body %d: %s", (int)n, (int)b, line);
                const double expected[6] = {x.x, x.y, x.z, u.x, u.y, u.z};
                assert_int_equal(body, b);
                assert_int_equal(node, n);
                for (int i = 0; i < 6; i++)
                    if (number == 0) // in single precision 9 digits identify a number
                        assert_same_bits((double)(float)v[i], expected[i]);
                    else
                        assert_same_bits(v[i], expected[i]);
            }
        assert_null(fgets(line, sizeof line, pipe));
        assert_int_equal(pclose(pipe), 0);
        free(command);
        taut_solver_destroy(solver);
        taut_scene_destroy(scene);
    }
    char *command = text_format("%s '%s' >/dev/null 2>&1", tool, path);
    assert_int_equal(system(command), 0);
    struct stat file;
    assert_int_equal(stat(path, &file), 0);
    assert_int_equal(truncate(path, file.st_size - 1), 0);
    assert_int_equal(system(command), 1 << 8);
    free(command);
    assert_int_equal(remove(path), 0);
}

// ---- The initial state of another scene

// Another integrator, other constants and another precision, but the same nodes.
static void keep_message(void *context, const char *message)
{
    snprintf(context, 2000, "%s", message);
}

static void test_initial(void **state)
{
    (void)state;
    static const char path[] = TAUT_TEST_OUT "/initial.checkpoint";
    static const char *const text =
        "precision: %s\nsimulation: {integrator: %s, dt: 0.0005, steps: 10}\n%s"
        "environment: {gravity: [0,-9.81,0]}\n"
        "bodies: [{name: p, type: quad, origin: [%s,0,3], u: [1,0,0], v: [0,0,1], mass: 1,\n"
        "  springs: {sides: {stiffness: 7}}, pins: [1]},\n"
        "  {name: r, type: rope, from: [0,0,0], to: [1,0,0], nodes: %s, node_mass: 0.1,\n"
        "  links: chain, spring: {stiffness: %s}, velocity: [0,1,0]}]\n";
    assert_true(mkdir(TAUT_TEST_OUT, 0777) == 0 || errno == EEXIST);
    char *initial = text_format("initial: %s\n", path);
    for (int single = 0; single < 2; single++) {
        const char *precision = single ? "single" : "double";
        const char *other = single ? "double" : "single";
        taut_scene *first = scene_of(text, precision, "verlet", "", "0", "9", "100");
        taut_solver *solver = create(first, 1, ISA_BASE);
        taut_error error = {0};
        advance(solver, 7);
        assert_int_equal(taut_solver_save(solver, path, &error), TAUT_OK);
        taut_scene *second = scene_of(text, other, "rk4", initial, "0", "9", "3000");
        taut_solver *begun = create(second, 1, ISA_BASE);
        assert_same_bits(taut_solver_time(begun), 0);
        for (uint64_t node = 0; node < taut_solver_node_count(solver); node++) {
            vec3 a = position_of(solver, node), b = position_of(begun, node);
            vec3 v = velocity_of(solver, node), w = velocity_of(begun, node);
            assert_same_bits((double)(float)a.x, (double)(float)b.x);
            assert_same_bits((double)(float)a.y, (double)(float)b.y);
            assert_same_bits((double)(float)v.y, (double)(float)w.y);
        }
        advance(begun, 10);
        taut_solver_destroy(begun);
        taut_solver_destroy(solver);
        taut_scene_destroy(first);
        taut_scene_destroy(second);
    }
    static const char *const wrong[][3] = {
        {"0", "8", "body 1 has 9 nodes"}, {"1", "9", "is pinned"}, {"0", "9", "cut off"}};
    for (int c = 0; c < 3; c++) {
        taut_scene *scene;
        taut_error error = {0};
        char found[2000] = "";
        taut_scene_options options;
        taut_scene_options_default(&options);
        options.on_message = keep_message;
        options.message_context = found;
        if (c == 2)
            assert_int_equal(truncate(path, 900), 0);
        char *yaml = text_format(text, "double", "rk4", initial, wrong[c][0], wrong[c][1], "100");
        assert_int_equal(taut_scene_parse(yaml, strlen(yaml), "s.yaml", &options, &scene, &error),
                         TAUT_ERROR_SCENE);
        if (!strstr(found, wrong[c][2]))
            fail_msg("%s", found);
        free(yaml);
    }
    free(initial);
    assert_int_equal(remove(path), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shipped_scenes),
        cmocka_unit_test(test_every_integrator),
        cmocka_unit_test(test_busy_scene),
        cmocka_unit_test(test_dt_auto),
        cmocka_unit_test(test_interaction),
        cmocka_unit_test(test_divergence),
        cmocka_unit_test(test_truncated),
        cmocka_unit_test(test_altered),
        cmocka_unit_test(test_made_up),
        cmocka_unit_test(test_bound_weights),
        cmocka_unit_test(test_compression),
        cmocka_unit_test(test_copies),
        cmocka_unit_test(test_other_versions),
        cmocka_unit_test(test_other_scenes),
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_run_position),
        cmocka_unit_test(test_run_positions_that_cannot_be),
        cmocka_unit_test(test_damaged_runs),
        cmocka_unit_test(test_reader),
        cmocka_unit_test(test_initial),
        cmocka_unit_test(test_springs_that_yield_to_nothing),
        cmocka_unit_test(test_reading),
        cmocka_unit_test(test_reading_before_changes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
