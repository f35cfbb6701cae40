// Springs with a history or a one-sided law on grids: cloths that tear, ropes that yield, lattices
// that only pull or only push. The grid kernel breaks the same springs at the same steps as the
// plain loops, yields them by the same lengths, and computes the same bits on every instruction set
// and for every number of threads.
#include "physics.h"
#include "solver/internals.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Bodies whose springs break, yield or go slack within a hundred steps, and whose parts stay
// together, so that the rounding differences between two orders of sums do not grow.
struct scene {
    const char *name, *body;
    bool breaks, yields;
    int samples; // of its state, STEPS_BETWEEN steps apart
};

static const struct scene scenes[] = {
    {"cloth that tears",
     "{name: b, type: cloth, u: [1, 0, 0], v: [0, 0.9, 0.1], nodes: [21, 19], mass: 1,\n"
     "  pins: [left], velocity: [0, 0, 2], springs: {structural: {stiffness: 200, damping: 0.05,\n"
     "  break_at: 1.04}, shear: {stiffness: 100, break_at: 1.02}, bend: {stiffness: 10}}}",
     true, false, 6},
    {"cloth that yields and slackens",
     "{name: b, type: cloth, u: [1, 0, 0], v: [0, 1, 0], nodes: [37, 9], mass: 1,\n"
     "  pins: [left], velocity: [1, 0, 2], springs: {structural: {stiffness: 200, damping: 0.05,\n"
     "  damping_law: full, yield_at: 0.01}, shear: {stiffness: 100, law: tension_only,\n"
     "  damping: 0.02}, bend: {stiffness: 20, law: compression_only, yield_at: 0.02}}}",
     false, true, 6},
    {"rope that yields and breaks",
     "{name: b, type: rope, from: [0, 0, 0], to: [2, 0, 0], nodes: 83, node_mass: 0.01,\n"
     "  pins: [first, 40], velocity: [1, 3, 0], links: skip, springs: {chain: {stiffness: 300,\n"
     "  damping: 0.05, yield_at: 0.02, break_at: 1.15}, skip: {stiffness: 60, break_at: 1.05}}}",
     true, true, 6},
    {"lattice that only pulls",
     "{name: b, type: lattice, nodes: [9, 7, 6], spacing: 0.1, mass: 2, pins: [left], shells: 2,\n"
     "  velocity: [0.5, 1, 2], law: tension_only, stiffness: 100, damping: 0.05}",
     false, false, 6},
    {"lattice that crumbles",
     "{name: b, type: lattice, nodes: [18, 5, 4], spacing: 0.1, mass: 2, pins: [left],\n"
     "  velocity: [1, 0, 2], shells: 1, damping: 0.05, springs: {k1: {stiffness: 200,\n"
     "  law: compression_only, break_at: 1.2}, k2: {stiffness: 150, damping_law: full,\n"
     "  break_at: 1.03}, k3: {stiffness: 100, yield_at: 0.01, law: tension_only}}}",
     true, true, 6},
    {"lattice with smaller constants on the boundary that crumbles",
     "{name: b, type: lattice, nodes: [11, 9, 8], spacing: 0.1, pins: [left],\n"
     "  elastic: {young: 5.0e+3, density: 10}, damping: 0.05, damping_law: full,\n"
     "  velocity: [1, 0, 2], break_at: 1.03, yield_at: 0.01}",
     true, true, 6},
    {"large cloth that tears",
     "{name: b, type: cloth, u: [2, 0, 0], v: [0, 16, 0], nodes: [41, 330], node_mass: 0.001,\n"
     "  pins: [left], velocity: [2, 0, 10], damping: 0.01, springs: {structural:\n"
     "  {stiffness: 100, break_at: 1.05}, shear: {stiffness: 50, yield_at: 0.02}}}",
     true, true, 2},
    {"large lattice that crumbles",
     "{name: b, type: lattice, nodes: [5, 40, 44], spacing: 0.1, node_mass: 0.002, shells: 1,\n"
     "  velocity: [2, 3, 10], pins: [left], damping: 0.05, springs: {k1: {stiffness: 100,\n"
     "  break_at: 1.1}, k2: {stiffness: 80, law: tension_only}, k3: {stiffness: 50,\n"
     "  yield_at: 0.05}}}",
     true, true, 2},
};

enum { SCENES = sizeof scenes / sizeof *scenes, STEPS_BETWEEN = 20 };

static taut_solver *open_scene(const struct scene *scene, const char *precision,
                               const struct solver_options *options)
{
    return solver_from(scene_of("precision: %s\nsimulation: {dt: 0.0005, steps: 1}\n"
                                "environment: {gravity: [0, -9.81, 0.5], air_drag: 0.001}\n"
                                "bodies:\n  - %s\n",
                                precision, scene->body),
                       options);
}

static taut_solver *open_grid(const struct scene *scene, const char *precision, int isa,
                              int threads)
{
    struct solver_options options = {
        .config = {.threads = threads, .isa = (taut_isa)(TAUT_ISA_BASE + isa)}};
    taut_solver *solver = open_scene(scene, precision, &options);
    taut_error error = {0};
    if (plan_check(solver_topology(solver), solver_plan(solver), &error) != TAUT_OK)
        fail_msg("%s: %s", scene->name, error.text);
    if (strcmp(solver_body_kernel(solver, 0), "grid") != 0)
        fail_msg("%s is not computed as a grid", scene->name);
    return solver;
}

static taut_solver *open_reference(const struct scene *scene, const char *precision)
{
    struct solver_options options = {.config = {.kernel = TAUT_KERNEL_REFERENCE}};
    return open_scene(scene, precision, &options);
}

// Strains and broken flags of all springs in builder order.
struct springs {
    double *strains;
    uint8_t *broken;
};

static struct springs springs_of(const taut_solver *solver)
{
    size_t count = (size_t)taut_solver_spring_count(solver);
    struct springs springs = {calloc(count, sizeof(double)), calloc(count, 1)};
    assert_non_null(springs.strains);
    assert_non_null(springs.broken);
    solver_read_springs(solver, springs.strains, springs.broken);
    return springs;
}

static void springs_free(struct springs springs)
{
    free(springs.strains);
    free(springs.broken);
}

static void compare_springs(const struct scene *scene, const taut_solver *grid,
                            const taut_solver *reference, int sample)
{
    struct springs a = springs_of(grid), b = springs_of(reference);
    for (uint64_t i = 0; i < taut_solver_spring_count(grid); i++) {
        if (a.broken[i] != b.broken[i])
            fail_msg("%s: spring %d is %sbroken after %d steps", scene->name, (int)i,
                     a.broken[i] ? "" : "not ", (sample + 1) * STEPS_BETWEEN);
        // Strains refer to the present rest length, so this compares the yielding.
        assert_near(a.strains[i], b.strains[i], 1e-9);
    }
    springs_free(a);
    springs_free(b);
}

static void test_same_breaks_and_rest_lengths_as_plain_loops(void **state)
{
    (void)state;
    for (int s = 0; s < SCENES; s++) {
        taut_solver *grid = open_grid(&scenes[s], "double", ISA_BASE, 2);
        taut_solver *reference = open_reference(&scenes[s], "double");
        for (int sample = 0; sample < scenes[s].samples; sample++) {
            advance(grid, STEPS_BETWEEN);
            advance(reference, STEPS_BETWEEN);
            compare_springs(&scenes[s], grid, reference, sample);
        }
        uint64_t springs = taut_solver_spring_count(grid), broken = taut_solver_broken_count(grid);
        assert_true(scenes[s].breaks ? broken > 5 && broken < springs / 2 : broken == 0);
        double yielded = 0;
        for (uint64_t i = 0; scenes[s].yields && i < springs; i++)
            yielded = fmax(yielded, fabs(rest_length_of(grid, i) -
                                         topology_spring(solver_topology(grid), i).rest_length));
        assert_true(scenes[s].yields == (yielded > 1e-4));
        taut_solver_destroy(grid);
        taut_solver_destroy(reference);
    }
}

// Energies and the energy budget, losses by breaking and yielding included.
static void test_same_energies_and_work(void **state)
{
    (void)state;
    for (int s = 0; s < SCENES; s++) {
        taut_solver *grid = open_grid(&scenes[s], "double", ISA_BASE, 2);
        taut_solver *reference = open_reference(&scenes[s], "double");
        advance(grid, (uint64_t)scenes[s].samples * STEPS_BETWEEN);
        advance(reference, (uint64_t)scenes[s].samples * STEPS_BETWEEN);
        taut_energy a = energy_of(grid), b = energy_of(reference);
        assert_near(a.total, b.total, 1e-9 * (fabs(b.kinetic) + fabs(b.elastic)));
        assert_near(a.elastic, b.elastic, 1e-9 * b.elastic);
        struct work_done c = work_of(grid), d = work_of(reference);
        assert_near(c.damping, d.damping, 1e-9 * d.damping);
        assert_near(c.breaking, d.breaking, 1e-9 * d.breaking);
        assert_true((d.breaking > 0) == (scenes[s].breaks || scenes[s].yields));
        taut_solver_destroy(grid);
        taut_solver_destroy(reference);
    }
}

static uint64_t hash_of_run(const struct scene *scene, const char *precision, int isa, int threads,
                            uint64_t *broken)
{
    taut_solver *solver = open_grid(scene, precision, isa, threads);
    advance(solver, (uint64_t)scene->samples * STEPS_BETWEEN);
    uint64_t hash = taut_solver_hash(solver);
    *broken = taut_solver_broken_count(solver);
    taut_solver_destroy(solver);
    return hash;
}

static void test_same_bits_everywhere(void **state)
{
    (void)state;
    static const char *const precisions[] = {"single", "double"};
    for (int s = 0; s < SCENES; s++)
        for (int p = 0; p < 2; p++) {
            uint64_t broken, same;
            uint64_t hash = hash_of_run(&scenes[s], precisions[p], ISA_BASE, 1, &broken);
            for (int isa = ISA_BASE; isa < ISA_COUNT; isa++)
                for (int threads = 1; isa_available((enum isa)isa) && threads < 5; threads++) {
                    uint64_t other = hash_of_run(&scenes[s], precisions[p], isa, threads, &same);
                    if (other != hash || same != broken)
                        fail_msg("%s, %s: other bits on %s with %d threads", scenes[s].name,
                                 precisions[p], isa_name((enum isa)isa), threads);
                }
        }
}

// Rows that end in every lane of a register, with positive and negative strains and springs of zero
// length: forces, breaking and yielding of one step agree with the plain loops.
static void compare_after_a_step(const char *body, int isa)
{
    struct scene scene = {"a disturbed cloth", body, true, true, 1};
    taut_solver *solvers[2] = {open_grid(&scene, "double", isa, 2),
                               open_reference(&scene, "double")};
    double *forces[2], greatest = 0;
    uint64_t count = taut_solver_node_count(solvers[0]);
    for (int s = 0; s < 2; s++) {
        uint64_t seed = 7;
        for (uint64_t i = 0; i < count; i++) {
            vec3 by = vec3_make(next_random(&seed), next_random(&seed), next_random(&seed));
            put(solvers[s], i, vec3_add(position_of(solvers[s], i), vec3_scale(0.02, by)));
            put_velocity(solvers[s], i, by);
        }
        put(solvers[s], 1, position_of(solvers[s], 0));
        advance(solvers[s], 1);
        forces[s] = all_forces(solvers[s]);
    }
    compare_springs(&scene, solvers[0], solvers[1], 0);
    for (uint64_t i = 0; i < 3 * count; i++)
        greatest = fmax(greatest, fabs(forces[1][i]));
    for (uint64_t i = 0; i < 3 * count; i++)
        assert_near(forces[0][i], forces[1][i], 1e-12 * greatest);
    assert_true(taut_solver_broken_count(solvers[0]) > 0);
    for (int s = 0; s < 2; s++) {
        free(forces[s]);
        taut_solver_destroy(solvers[s]);
    }
}

static void test_rows_of_every_length(void **state)
{
    (void)state;
    static const char *const damping[] = {"0", "0.7", "0.7, damping_law: full"};
    for (int isa = 0; isa < ISA_COUNT; isa++)
        for (int nodes = 4; isa_available((enum isa)isa) && nodes < 36; nodes++) {
            char body[500];
            snprintf(body, sizeof body,
                     "{name: b, type: cloth, u: [%g, 0, 0], v: [0, 0.4, 0], nodes: [%d, 5], "
                     "mass: 1, damping: %s, springs: {structural: {stiffness: 30, break_at: 1.1},"
                     "shear: {stiffness: 20, law: tension_only, yield_at: 0.05, break_at: 1.2},"
                     "bend: {stiffness: 10, law: compression_only, yield_at: 0.01}}}",
                     0.1 * (nodes - 1), nodes, damping[nodes % 3]);
            compare_after_a_step(body, isa);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_breaks_and_rest_lengths_as_plain_loops),
        cmocka_unit_test(test_same_energies_and_work),
        cmocka_unit_test(test_same_bits_everywhere),
        cmocka_unit_test(test_rows_of_every_length),
    };
    return cmocka_run_group_tests_name("grid_fragile", tests, NULL, NULL);
}
