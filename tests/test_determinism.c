// The same bits for every number of threads, from run to run, with and without evaluations in
// between, in one call and step by step.
#include "samples.h"
#include "solver/internals.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const integrators[] = {"explicit_euler",  "symplectic_euler", "verlet",
                                          "velocity_verlet", "midpoint",         "rk4"};

enum { STEPS = 30 };

static uint64_t hash_after(const struct sample *sample, const char *precision,
                           const char *integrator, int threads)
{
    struct solver_options options = {.config = {.threads = threads}, .plan = {.tile_nodes = 32}};
    taut_solver *solver = sample_solver(sample, precision, integrator, &options);
    assert_int_equal(taut_solver_threads(solver), threads);
    advance(solver, STEPS);
    uint64_t hash = taut_solver_hash(solver);
    taut_solver_destroy(solver);
    return hash;
}

static void test_threads(void **state)
{
    (void)state;
    static const int threads[] = {2, 3, 4, 8};
    for (size_t s = 0; s < sample_count; s++) {
        const char *const precisions[] = {s % 2 ? "double" : "single", "mixed"};
        const char *integrator = integrators[s % 6];
        for (int p = 0; p < 2; p++) {
            uint64_t hash = hash_after(&samples[s], precisions[p], integrator, 1);
            for (int t = 0; t < 4; t++)
                if (hash_after(&samples[s], precisions[p], integrator, threads[t]) != hash)
                    fail_msg("%s: %d threads give another hash", samples[s].name, threads[t]);
        }
    }
}

// Grids have kernels of their own for each instruction set.
static void test_instruction_sets(void **state)
{
    (void)state;
    for (size_t s = 0; s < sample_count; s++)
        for (int precision = 0; precision < 3; precision++) {
            static const char *const names[] = {"single", "double", "mixed"};
            const char *name = names[precision];
            uint64_t hash = hash_after(&samples[s], name, "symplectic_euler", 1);
            for (int isa = 0; isa < ISA_COUNT; isa++) {
                if (!isa_available((enum isa)isa))
                    continue;
                struct solver_options options = {
                    .config = {.threads = 2, .isa = (taut_isa)(TAUT_ISA_BASE + isa)},
                    .plan = {.tile_nodes = 32}};
                taut_solver *solver =
                    sample_solver(&samples[s], name, "symplectic_euler", &options);
                assert_int_equal(solver_isa(solver), isa);
                advance(solver, STEPS);
                if (taut_solver_hash(solver) != hash)
                    fail_msg("%s: %s gives another hash", samples[s].name, isa_name((enum isa)isa));
                taut_solver_destroy(solver);
            }
        }
}

static void test_every_integrator(void **state)
{
    (void)state;
    for (int i = 0; i < 6; i++)
        for (size_t s = 6; s < 8; s++)
            for (int mixed = 0; mixed < 2; mixed++) {
                const char *precision = mixed ? "mixed" : "single";
                assert_true(hash_after(&samples[s], precision, integrators[i], 1) ==
                            hash_after(&samples[s], precision, integrators[i], 3));
            }
}

// The others, whose nodes do not move in the kernels of springs; those of xpbd have a variant of
// their own in precision mixed.
static void test_mixed_of_others(void **state)
{
    (void)state;
    static const char *const others[] = {"implicit_euler", "implicit_midpoint", "bdf2", "xpbd"};
    for (int i = 0; i < 4; i++)
        for (size_t s = 0; s < sample_count; s++) {
            const uint64_t hash = hash_after(&samples[s], "mixed", others[i], 1);
            if (hash_after(&samples[s], "mixed", others[i], 3) != hash)
                fail_msg("%s, %s: 3 threads give another hash", samples[s].name, others[i]);
            for (int isa = 0; isa < ISA_COUNT; isa++) {
                if (!isa_available((enum isa)isa))
                    continue;
                struct solver_options options = {
                    .config = {.threads = 2, .isa = (taut_isa)(TAUT_ISA_BASE + isa)},
                    .plan = {.tile_nodes = 32}};
                taut_solver *solver = sample_solver(&samples[s], "mixed", others[i], &options);
                advance(solver, STEPS);
                if (taut_solver_hash(solver) != hash)
                    fail_msg("%s, %s: %s gives another hash", samples[s].name, others[i],
                             isa_name((enum isa)isa));
                taut_solver_destroy(solver);
            }
        }
}

static void test_run_to_run(void **state)
{
    (void)state;
    for (size_t s = 0; s < sample_count; s++)
        assert_true(hash_after(&samples[s], "single", "symplectic_euler", 2) ==
                    hash_after(&samples[s], "single", "symplectic_euler", 2));
}

// Different scenes, precisions and integrators have different hashes: the hash depends on the
// state.
static void test_hash_sees_the_state(void **state)
{
    (void)state;
    uint64_t hash = hash_after(&samples[2], "single", "symplectic_euler", 1);
    assert_true(hash != hash_after(&samples[2], "double", "symplectic_euler", 1));
    assert_true(hash != hash_after(&samples[2], "single", "velocity_verlet", 1));
    assert_true(hash != hash_after(&samples[3], "single", "symplectic_euler", 1));
}

// Energies, forces and volumes may be evaluated any number of times, and the energy budget may be
// kept or not: the bits stay the same.
static void test_evaluations_change_nothing(void **state)
{
    (void)state;
    for (size_t s = 0; s < sample_count; s++) {
        const char *integrator = integrators[s % 6];
        struct solver_options options = {.config = {.threads = 2}, .plan = {.tile_nodes = 32}};
        taut_solver *solver = sample_solver(&samples[s], "single", integrator, &options);
        for (int step = 0; step < STEPS; step++) {
            if (step % 3 == 0)
                energy_of(solver);
            if (step % 5 == 0)
                free(all_forces(solver));
            advance(solver, 1);
        }
        assert_true(taut_solver_hash(solver) == hash_after(&samples[s], "single", integrator, 1));
        taut_solver_destroy(solver);
    }
}

// Within a run of steps Verlet integrators complete velocities only when they are read: between
// single steps, at rows of energies, or at the end. The bits must not depend on it.
static void test_runs_of_steps_change_nothing(void **state)
{
    (void)state;
    static const int pieces[] = {1, 7, STEPS};
    for (int i = 2; i < 4; i++)
        for (size_t s = 0; s < sample_count; s++) {
            const char *precision = precision_number(s + (size_t)i);
            const uint64_t hash = hash_after(&samples[s], precision, integrators[i], 1);
            for (int p = 0; p < 3; p++) {
                taut_scene *scene =
                    scene_of("precision: %s\noutput: {work: %s}\n"
                             "simulation: {integrator: %s, dt: 0.0005, steps: 1}\n"
                             "%s",
                             precision, p == 1 ? "true" : "false", integrators[i], samples[s].text);
                struct solver_options options = {.config = {.threads = 2},
                                                 .plan = {.tile_nodes = 32}};
                taut_solver *solver = solver_from(scene, &options);
                for (int done = 0; done < STEPS; done += pieces[p]) {
                    advance(solver,
                            (uint64_t)(pieces[p] < STEPS - done ? pieces[p] : STEPS - done));
                    energy_of(solver);
                }
                if (taut_solver_hash(solver) != hash)
                    fail_msg("%s, %s: pieces of %d steps give another hash", samples[s].name,
                             integrators[i], pieces[p]);
                taut_solver_destroy(solver);
            }
        }
}

static void test_energy_budget_changes_nothing(void **state)
{
    (void)state;
    for (size_t s = 0; s < sample_count; s++) {
        taut_scene *scene = scene_of("precision: single\noutput: {work: false}\n"
                                     "simulation: {integrator: %s, dt: 0.0005, steps: 1}\n%s",
                                     integrators[s % 6], samples[s].text);
        struct solver_options options = {.config = {.threads = 2}, .plan = {.tile_nodes = 32}};
        taut_solver *solver = solver_from(scene, &options);
        advance(solver, STEPS);
        assert_true(taut_solver_hash(solver) ==
                    hash_after(&samples[s], "single", integrators[s % 6], 1));
        taut_solver_destroy(solver);
    }
}

// With a tail, which one worker computes last.
static void test_tails(void **state)
{
    (void)state;
    uint64_t hashes[4];
    for (int threads = 1; threads <= 4; threads++) {
        struct solver_options options = {.config = {.threads = threads},
                                         .plan = {.tile_nodes = 1, .no_packing = true}};
        taut_solver *solver = star_solver(200, &options);
        const struct plan_set *springs = &solver_plan(solver)->springs;
        assert_true(springs->block_count > springs->colour_start[springs->colour_count]);
        advance(solver, 3 * STEPS);
        hashes[threads - 1] = taut_solver_hash(solver);
        assert_true(hashes[threads - 1] == hashes[0]);
        taut_solver_destroy(solver);
    }
}

// Energies and the budget are sums over fixed chunks, so they have the same bits too.
static void test_energies(void **state)
{
    (void)state;
    for (size_t s = 0; s < sample_count; s++) {
        taut_energy energies[2];
        struct work_done work[2];
        for (int i = 0; i < 2; i++) {
            struct solver_options options = {.config = {.threads = i ? 3 : 1}};
            taut_solver *solver =
                sample_solver(&samples[s], "single", "symplectic_euler", &options);
            advance(solver, STEPS);
            energies[i] = energy_of(solver);
            work[i] = work_of(solver);
            taut_solver_destroy(solver);
        }
        assert_same_bits(energies[0].total, energies[1].total);
        assert_same_bits(energies[0].gas, energies[1].gas);
        assert_same_bits(work[0].damping, work[1].damping);
        assert_same_bits(work[0].wind, work[1].wind);
        assert_same_bits(work[0].breaking, work[1].breaking);
        assert_same_bits(work[0].friction, work[1].friction);
    }
}

// Several chunks of nodes, springs, faces and fragile springs, so that several threads share the
// sums.
static const struct sample large = {
    "large", "environment: {gravity: [0.2,-9.81,0.1], air_drag: 0.0002,\n"
             "  wind: {velocity: [4,1,2], law: face}}\n"
             "bodies: [{name: b, type: sphere, center: [0,0.9,0], radius: 1, subdivisions: 5,\n"
             "  mass: 20, springs: {edges: {stiffness: 100, damping: 0.01, break_at: 1.2,\n"
             "  yield_at: 0.05, rest_length: 0.033}}, pressure: {amount: 60}}]\n"
             "colliders: [{type: plane, point: [0,0,0], normal: [0,1,0], stiffness: 100,\n"
             "  friction: 0.01}, {type: room, min: [-0.95,-5,-5], max: [5,5,5],\n"
             "  response: project, keep: 0.9}]\n"};

static void test_sums_over_several_chunks(void **state)
{
    (void)state;
    struct work_done first = {0};
    uint64_t hash = 0;
    double total = 0;
    for (int threads = 1; threads <= 4; threads++) {
        struct solver_options options = {.config = {.threads = threads}};
        taut_solver *solver = sample_solver(&large, "single", "symplectic_euler", &options);
        assert_true(taut_solver_node_count(solver) > 2 * SUM_CHUNK);
        for (int sample = 0; sample < 4; sample++) {
            advance(solver, 3);
            energy_of(solver);
        }
        struct work_done work = work_of(solver);
        assert_true(work.damping > 0 && work.friction > 0 && work.projection != 0 &&
                    work.breaking > 0);
        assert_true(taut_solver_broken_count(solver) > 0);
        if (threads == 1) {
            first = work;
            hash = taut_solver_hash(solver);
            total = energy_of(solver).total;
        }
        assert_true(taut_solver_hash(solver) == hash);
        assert_same_bits(energy_of(solver).total, total);
        assert_memory_equal(&work, &first, sizeof work);
        taut_solver_destroy(solver);
    }
}

// ---- The powers that kernels measure along with the forces

// Wind in the sweep of a cloth, with a drive; the passes of a sweep with nodes of several masses;
// and springs in a closed mesh. All run with the kernels of the energy budget.
static const struct sample measured[] = {
    {"cloth", "environment: {gravity: [0.2,-9.81,0.1], air_drag: 0.0002,\n"
              "  wind: {velocity: [4,1,2], law: face}}\n"
              "bodies: [{name: b, type: cloth, origin: [0,2,0], u: [1.5,0,0], v: [0,-1.2,0],\n"
              "  nodes: [45,37], mass: 0.9, pins: [corners], damping: 0.02,\n"
              "  springs: {structural: {stiffness: 60}, shear: {stiffness: 30},\n"
              "  bend: {stiffness: 5}}, drives: [{node: 7, velocity: [0.5,1,0]}]}]\n"},
    {"full",
     "environment: {gravity: [0.2,-9.81,0.1], air_drag: 0.0002}\n"
     "bodies: [{name: b, type: lattice, nodes: [21,9,8], spacing: 0.1, mass: 5, shells: 2,\n"
     "  damping: 0.02, damping_law: full, velocity: [0,-1,0], pins: [left],\n"
     "  springs: {k1: {stiffness: 200}, k2: {stiffness: 100}, k3: {stiffness: 80},\n"
     "  kb1: {stiffness: 30}, kb2: {stiffness: 20}, kb3: {stiffness: 10}}},\n"
     "  {name: c, type: rope, from: [0,3,0], to: [3,4,0], nodes: 50, node_mass: 0.002,\n"
     "  pins: [first], spring: {stiffness: 20, damping: 0.01}}]\n"},
    {"masses",
     "environment: {gravity: [0.2,-9.81,0.1], air_drag: 0.0002}\n"
     "bodies: [{name: n, type: network, nodes: [[0,0,0],[1,0,0],[0,1,0],[0,0,1]],\n"
     "  node_mass: [1,2,3,4], stiffness: 100, damping: 0.3, rest_length: 1.1, pins: [1],\n"
     "  springs: [[0,1,{}],[0,2,{}],[3,0,{law: tension_only}],\n"
     "  [2,1,{law: compression_only}],[3,2,{damping_law: full}]]}]\n"},
};
enum { MEASURED = sizeof measured / sizeof *measured };

// Integrators that evaluate forces at the start of a step.
static const char *const measuring[] = {"explicit_euler", "symplectic_euler", "midpoint", "rk4"};

static const struct sample *measured_sample(size_t s)
{
    return s < sample_count ? &samples[s] : &measured[s - sample_count];
}

static void assert_same_work(const struct work_done *a, const struct work_done *b, const char *name)
{
    // NOLINTNEXTLINE(bugprone-suspicious-memory-comparison): the bits of its numbers
    if (memcmp(a, b, sizeof *a) != 0)
        fail_msg("%s: the energy budget has other bits", name);
}

static struct work_done measured_work(const struct sample *sample, const char *precision,
                                      const char *integrator, const struct solver_options *options,
                                      int interval)
{
    taut_solver *solver = sample_solver(sample, precision, integrator, options);
    for (int step = 0; step < STEPS; step++) {
        advance(solver, 1);
        if (interval && step % interval == 0)
            work_of(solver);
    }
    struct work_done work = work_of(solver);
    taut_solver_destroy(solver);
    return work;
}

// For every number of threads and instruction set, and whether or not the budget is read between
// steps.
static void test_measured_powers(void **state)
{
    (void)state;
    for (size_t s = 0; s < sample_count + MEASURED; s++) {
        const struct sample *sample = measured_sample(s);
        const char *precision = s % 5 == 3 ? "double" : "single", *integrator = measuring[s % 4];
        struct solver_options options = {.config = {.threads = 1, .isa = TAUT_ISA_BASE},
                                         .plan = {.tile_nodes = 32}};
        const struct work_done first = measured_work(sample, precision, integrator, &options, 0);
        for (int isa = 0; isa < ISA_COUNT; isa++)
            for (int threads = 1; isa_available((enum isa)isa) && threads <= 4; threads++) {
                options.config.threads = threads;
                options.config.isa = (taut_isa)(TAUT_ISA_BASE + isa);
                const struct work_done work =
                    measured_work(sample, precision, integrator, &options, threads - 1);
                assert_same_work(&work, &first, sample->name);
            }
    }
}

static void assert_work_near(double a, double b, double scale, const char *name, const char *cause)
{
    if (!(fabs(a - b) <= 1e-9 * (scale + fabs(a))))
        fail_msg("%s: work of %s is %.15g, by loops of its own %.15g", name, cause, a, b);
}

// The kernels measure the same powers as the loops over nodes, springs and faces. In double
// precision, in which the two motions differ by rounding.
static void test_measured_powers_are_right(void **state)
{
    (void)state;
    for (size_t s = 0; s < sample_count + MEASURED; s++) {
        const struct sample *sample = measured_sample(s);
        const char *integrator = measuring[(s + 1) % 4];
        struct solver_options options = {.config = {.threads = 2}, .plan = {.tile_nodes = 32}};
        struct solver_options plain = {.config = {.threads = 1}, .plan = {.reference = true}};
        const struct work_done a = measured_work(sample, "double", integrator, &options, 0);
        const struct work_done b = measured_work(sample, "double", integrator, &plain, 0);
        const double scale = fabs(b.damping) + fabs(b.drag) + fabs(b.wind) + fabs(b.drives);
        assert_work_near(a.damping, b.damping, scale, sample->name, "damping");
        assert_work_near(a.drag, b.drag, scale, sample->name, "drag");
        assert_work_near(a.friction, b.friction, scale, sample->name, "friction");
        assert_work_near(a.wind, b.wind, scale, sample->name, "wind");
        assert_work_near(a.drives, b.drives, scale, sample->name, "drives");
        assert_work_near(a.inflation, b.inflation, scale, sample->name, "inflation");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_instruction_sets),
        cmocka_unit_test(test_every_integrator),
        cmocka_unit_test(test_mixed_of_others),
        cmocka_unit_test(test_run_to_run),
        cmocka_unit_test(test_hash_sees_the_state),
        cmocka_unit_test(test_evaluations_change_nothing),
        cmocka_unit_test(test_runs_of_steps_change_nothing),
        cmocka_unit_test(test_energy_budget_changes_nothing),
        cmocka_unit_test(test_tails),
        cmocka_unit_test(test_energies),
        cmocka_unit_test(test_sums_over_several_chunks),
        cmocka_unit_test(test_measured_powers),
        cmocka_unit_test(test_measured_powers_are_right),
    };
    return cmocka_run_group_tests_name("determinism", tests, NULL, NULL);
}
