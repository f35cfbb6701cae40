// All scenes of scenes/: the same bits for every number of threads and every instruction set, in
// every run, with output and without; close to the plain reference.
#include "scene_runs.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

enum { SCENES_MAX = 100 };

static char *names[SCENES_MAX];
static size_t name_count;

// Enough steps for small scenes to get moving, few enough for large ones to be quick.
static uint64_t steps_for(const taut_solver *solver)
{
    if (integrator_is_implicit(solver_integrator(solver))) // a step takes a thousand products or
                                                           // more
        return quick() ? 2 : 4;
    uint64_t updates = quick() ? 200000 : 2000000;
    uint64_t steps = updates / (taut_solver_spring_count(solver) + 1), most = quick() ? 40 : 250;
    return steps < 3 ? 3 : steps < most ? steps : most;
}

// With fewer nodes where the scene is one for a machine of its own.
static taut_solver *open_scene(const char *scene, bool work, const struct solver_options *options)
{
    const char *changes[3] = {NULL, NULL, NULL};
    size_t count = 0;
    if (work)
        changes[count++] = "output.work=true";
    if (strcmp(scene, "cloth-drop-large") == 0)
        changes[count++] = "bodies.cloth.nodes=[100,100]";
    return scene_open(scene, changes, options);
}

static taut_solver *open_with(const char *scene, int threads, enum taut_kernel kernel)
{
    struct solver_options options = {.config = {.threads = threads, .kernel = kernel}};
    return open_scene(scene, false, &options);
}

static uint64_t hash_of_run(const char *scene, int threads, taut_isa isa)
{
    struct solver_options options = {.config = {.threads = threads, .isa = isa}};
    taut_solver *solver = open_scene(scene, false, &options);
    assert_int_equal(taut_solver_threads(solver), threads);
    advance(solver, steps_for(solver));
    uint64_t hash = taut_solver_hash(solver);
    taut_solver_destroy(solver);
    return hash;
}

static void test_same_bits_for_every_number_of_threads(void **context)
{
    const char *scene = *context;
    static const int threads[] = {2, 3, 4, 5, 6, 7, 8};
    uint64_t one = hash_of_run(scene, 1, TAUT_ISA_AUTO);
    for (size_t i = 0; i < sizeof threads / sizeof threads[0]; i++)
        assert_int_equal(hash_of_run(scene, threads[i], TAUT_ISA_AUTO), one);
}

static void test_same_bits_on_every_instruction_set(void **context)
{
    const char *scene = *context;
    uint64_t base = hash_of_run(scene, 1, TAUT_ISA_BASE);
    for (int isa = ISA_BASE + 1; isa < ISA_COUNT; isa++)
        if (isa_available((enum isa)isa))
            assert_int_equal(hash_of_run(scene, 1, (taut_isa)(TAUT_ISA_BASE + isa)), base);
    assert_int_equal(hash_of_run(scene, 1, TAUT_ISA_AUTO), base);
}

// A second run in uneven numbers of steps, with every evaluation that output can request, including
// the energy budget.
static void test_same_bits_with_output(void **context)
{
    const char *scene = *context;
    taut_solver *plain = open_with(scene, 2, TAUT_KERNEL_AUTO);
    taut_solver *watched = open_scene(scene, true, NULL);
    uint64_t start = taut_solver_hash(plain), steps = steps_for(plain);
    assert_int_equal(taut_solver_hash(watched), start);
    advance(plain, steps);
    assert_true(taut_solver_hash(plain) != start); // something moves
    const unsigned all = FRAME_NODES | FRAME_FORCES | FRAME_SPRINGS | FRAME_ENERGY;
    struct frame view;
    assert_int_equal(solver_make_frame(watched, all, &view, NULL), TAUT_OK);
    for (uint64_t done = 0, batch = 1; done < steps; done += batch, batch = batch % 7 + 2) {
        solver_read_frame(watched, all, &view);
        assert_true(isfinite(view.energy.total));
        batch = batch < steps - done ? batch : steps - done;
        advance(watched, batch);
    }
    assert_int_equal(taut_solver_hash(watched), taut_solver_hash(plain));
    frame_free(&view);
    taut_solver_destroy(plain);
    taut_solver_destroy(watched);
}

// The order of sums differs, so both differ by rounding, which does not grow much in a few hundred
// steps of a stable scene.
static void test_reference_is_near(void **context)
{
    const char *scene = *context;
    taut_solver *fast = open_with(scene, 2, TAUT_KERNEL_AUTO);
    taut_solver *reference = open_with(scene, 1, TAUT_KERNEL_REFERENCE);
    assert_string_equal(solver_kernel_name(reference), "reference");
    assert_true(strcmp(solver_kernel_name(fast), "reference") != 0);
    uint64_t steps = steps_for(fast);
    advance(fast, steps);
    advance(reference, steps);
    double *a = all_positions(fast), *b = all_positions(reference), size = 0, apart = 0;
    for (uint64_t i = 0; i < 3 * taut_solver_node_count(fast); i++) {
        assert_true(isfinite(a[i]) && isfinite(b[i]));
        size = fmax(size, fabs(b[i]));
        apart = fmax(apart, fabs(a[i] - b[i]));
    }
    double tolerance = solver_precision(fast) == PRECISION_DOUBLE ? 1e-11 : 2e-4;
    if (integrator_is_implicit(solver_integrator(fast))) // each leaves a residual of its equations
                                                         // up to the tolerance
        tolerance = 1e-3;
    assert_near(apart, 0, tolerance * size);
    free(a);
    free(b);
    taut_solver_destroy(fast);
    taut_solver_destroy(reference);
}

// Requirements on every scene: a title, a step well below the critical one, and a first line that
// describes it.
static void test_scene_is_sound(void **context)
{
    const char *scene = *context;
    taut_solver *solver = open_scene(scene, false, NULL);
    struct critical_step critical;
    assert_int_equal(solver_critical_step(solver, &critical, NULL), TAUT_OK);
    bool limited = isfinite(integrator_limit(solver_integrator(solver)));
    // A spring is named; rigid constraints have no stiffness, and membranes no springs.
    assert_true(critical.known || !limited || taut_solver_spring_count(solver) == 0);
    double limit = critical.dt[solver_integrator(solver)];
    if (limited &&
        taut_solver_dt(solver) >= 0.93 * limit) { // contacts count as if all were touched
        assert_int_equal(solver_computed_steps(solver, &critical, NULL), TAUT_OK);
        limit = critical.computed_dt[solver_integrator(solver)];
    }
    assert_true(!limited || taut_solver_dt(solver) < 0.93 * limit);
    taut_solver_destroy(solver);
    char *path = text_format("%s/scenes/%s.yaml", TAUT_TEST_SOURCE, scene);
    assert_non_null(path);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    char line[200];
    bool titled = false;
    assert_non_null(fgets(line, sizeof line, file));
    assert_true(strncmp(line, "# ", 2) == 0);
    while (fgets(line, sizeof line, file))
        titled |= strncmp(line, "title: ", 7) == 0;
    assert_true(titled);
    fclose(file);
    free(path);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool list_scenes(void)
{
    DIR *folder = opendir(TAUT_TEST_SOURCE "/scenes");
    if (!folder)
        return false;
    for (struct dirent *entry = readdir(folder); entry; entry = readdir(folder)) {
        size_t length = strlen(entry->d_name);
        if (length <= 5 || strcmp(entry->d_name + length - 5, ".yaml") != 0)
            continue;
        if (name_count == SCENES_MAX)
            return false;
        names[name_count] = text_format("%.*s", (int)length - 5, entry->d_name);
        if (!names[name_count++])
            return false;
    }
    closedir(folder);
    qsort(names, name_count, sizeof names[0], by_name);
    return name_count > 0;
}

int main(void)
{
    static const struct {
        const char *what;
        CMUnitTestFunction function;
    } checks[] = {
        {"is sound", test_scene_is_sound},
        {"same bits for every number of threads", test_same_bits_for_every_number_of_threads},
        {"same bits on every instruction set", test_same_bits_on_every_instruction_set},
        {"same bits with output", test_same_bits_with_output},
        {"reference is near", test_reference_is_near}};
    enum { CHECKS = sizeof checks / sizeof checks[0] };
    static struct CMUnitTest tests[SCENES_MAX * CHECKS];
    if (!list_scenes()) {
        print_error("cannot list the scenes of " TAUT_TEST_SOURCE "\n");
        return 1;
    }
    size_t count = 0;
    for (size_t scene = 0; scene < name_count; scene++)
        for (size_t check = 0; check < CHECKS; check++) {
            char *name = text_format("%s: %s", names[scene], checks[check].what);
            if (!name)
                return 1;
            tests[count++] =
                (struct CMUnitTest){name, checks[check].function, NULL, NULL, names[scene]};
        }
    return _cmocka_run_group_tests("scenes", tests, count, NULL, NULL);
}
