// The built-in scenes of taut-bench and the model of memory traffic, at small sizes. The program
// itself is tested by test_taut_bench.py.
#include "test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/model.h"
#include "bench/scenes.h"
#include "physics.h"
#include "scene/reader.h"
#include "solver/internals.h"

static const struct scene_override in_precision[] = {
    [PRECISION_SINGLE] = {.text = "precision=single"},
    [PRECISION_DOUBLE] = {.text = "precision=double"},
    [PRECISION_MIXED] = {.text = "precision=mixed"},
};

static void scenes_are_found_by_name(void **state)
{
    (void)state;
    assert_ptr_equal(bench_scene_find("rope"), &bench_scenes[0]);
    assert_ptr_equal(bench_scene_find("holes-undamped"), &bench_scenes[BENCH_SCENES - 1]);
    assert_null(bench_scene_find("cloht"));
}

// Every scene of the benchmark runs: small, in every precision, and long enough for a check for
// divergence.
static void every_scene_runs_at_a_small_size(void **state)
{
    (void)state;
    enum { STEPS = 48 };
    for (int s = 0; s < BENCH_SCENES; s++) {
        for (int precision = PRECISION_SINGLE; precision <= PRECISION_MIXED; precision++) {
            taut_error error = {0};
            taut_scene *scene =
                bench_scene_make(&bench_scenes[s], 4000, &in_precision[precision], 1, &error);
            assert_non_null(scene);
            taut_solver *solver;
            assert_int_equal(taut_solver_create(scene, NULL, &solver, &error), TAUT_OK);
            scene_free(scene);
            double springs = (double)taut_solver_spring_count(solver);
            assert_true(springs > 1000 && springs < 8000);
            struct critical_step critical;
            assert_int_equal(solver_critical_step(solver, &critical, &error), TAUT_OK);
            assert_true(taut_solver_dt(solver) < critical.dt[solver_integrator(solver)]);
            if (taut_solver_step(solver, STEPS, &error) != TAUT_OK)
                fail_msg("%s: %s", bench_scenes[s].name, error.text);
            taut_solver_destroy(solver);
        }
    }
}

static taut_solver *modelled(const char *name, uint64_t springs, enum precision precision,
                             taut_kernel kernel)
{
    taut_error error = {0};
    taut_scene *scene =
        bench_scene_make(bench_scene_find(name), springs, &in_precision[precision], 1, &error);
    assert_non_null(scene);
    struct solver_options options = {.config = {.threads = 1, .kernel = kernel}};
    taut_solver *solver;
    assert_int_equal(solver_create(scene, &options, &solver, &error), TAUT_OK);
    scene_free(scene);
    return solver;
}

static double bytes_a_node(const char *name, uint64_t springs, enum precision precision,
                           taut_kernel kernel)
{
    taut_solver *solver = modelled(name, springs, precision, kernel);
    double bytes = bench_model_bytes(solver) / (double)taut_solver_node_count(solver);
    taut_solver_destroy(solver);
    return bytes;
}

// On a grid of one tile: positions and velocities read and written, and an inverse mass. A network
// also reads its list of masses. Wind reads some values, and changes the forces in addition.
static void the_model_counts_what_a_grid_moves(void **state)
{
    (void)state;
    static const char *const scenes[] = {"rope", "cloth", "cloth-undamped", "jelly26", "jelly52"};
    for (size_t s = 0; s < sizeof scenes / sizeof *scenes; s++) {
        double single = bytes_a_node(scenes[s], 4000, PRECISION_SINGLE, TAUT_KERNEL_AUTO);
        double twice = bytes_a_node(scenes[s], 4000, PRECISION_DOUBLE, TAUT_KERNEL_AUTO);
        double mixed = bytes_a_node(scenes[s], 4000, PRECISION_MIXED, TAUT_KERNEL_AUTO);
        assert_near(single, 13 * 4, 1e-9);
        assert_near(mixed, (13 + 12) * 4, 1e-9); // low parts, read and written
        assert_near(twice, 13 * 8, 1e-9);
    }
    assert_near(bytes_a_node("network", 4000, PRECISION_SINGLE, TAUT_KERNEL_AUTO), 14 * 4, 1e-9);
    assert_near(bytes_a_node("cloth-wind", 4000, PRECISION_SINGLE, TAUT_KERNEL_AUTO),
                (13 + 3 + 3 + 1 + 6 + 6) * 4, 1e-9);
    // A cloth of 16 tiles, each but the first with two rows that wait: their sums and the reactions
    // on them, and the state again; without damping only the positions.
    taut_solver *damped = modelled("cloth", 1560000, PRECISION_SINGLE, TAUT_KERNEL_AUTO);
    taut_solver *undamped = modelled("cloth-undamped", 1560000, PRECISION_SINGLE, TAUT_KERNEL_AUTO);
    uint64_t nodes = taut_solver_node_count(damped);
    uint64_t tiles = solver_plan(damped)->grids[0].tiling.tiles_y;
    assert_true(tiles > 4);
    double waiting = 2 * 500 * (double)(tiles - 1);
    assert_near(bench_model_bytes(damped), 4 * (13 * (double)nodes + 18 * waiting), 1);
    assert_near(bench_model_bytes(undamped), 4 * (13 * (double)nodes + 15 * waiting), 1);
    taut_solver_destroy(damped);
    taut_solver_destroy(undamped);
}

// The plain loops sweep four times, and read the ends, the material and the rest length of each
// spring, and a ball's faces twice.
static void the_model_counts_what_the_plain_loops_move(void **state)
{
    (void)state;
    taut_solver *cloth = modelled("cloth", 4000, PRECISION_SINGLE, TAUT_KERNEL_REFERENCE);
    double nodes = (double)taut_solver_node_count(cloth);
    double springs = (double)taut_solver_spring_count(cloth);
    assert_near(bench_model_bytes(cloth), (3 + 12 + 9 + 16) * 4 * nodes + 16 * springs, 1);
    taut_solver_destroy(cloth);
    taut_solver *ball = modelled("ball", 2000, PRECISION_DOUBLE, TAUT_KERNEL_REFERENCE);
    nodes = (double)taut_solver_node_count(ball);
    springs = (double)taut_solver_spring_count(ball);
    double faces = (double)taut_solver_face_count(ball);
    assert_near(bench_model_bytes(ball), (40 + 12) * 8 * nodes + 20 * springs + (12 + 16) * faces,
                1);
    taut_solver_destroy(ball);
}

// Packed: two sweeps over the nodes, and each spring from both of its ends. Except for rest lengths
// this is no more than the size of the plan.
static void the_model_counts_what_packed_springs_move(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        double reals; // per node
    } of[] = {{"ball-undamped", 9 + 19}, {"ball-airless", 12 + 19}, {"ball", 12 + 6 + 19}};
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        taut_solver *solver = modelled(of[i].name, 7680, PRECISION_SINGLE, TAUT_KERNEL_AUTO);
        double nodes = 4 * of[i].reals * (double)taut_solver_node_count(solver);
        double springs = bench_model_bytes(solver) - nodes;
        double rests = 4 * (double)solver_plan(solver)->packed.slot_count;
        assert_true(springs >= 2 * 4 * (double)taut_solver_spring_count(solver));
        assert_true(springs > rests && springs <= rests + (double)plan_bytes(solver_plan(solver)));
        taut_solver_destroy(solver);
    }
}

// The shuffled network has the same physics as the network: the same energies after as many steps,
// although sums have other orders.
static void shuffling_changes_the_order_alone(void **state)
{
    (void)state;
    enum { STEPS = 32 };
    double elastic[2];
    uint32_t first[2];
    for (int shuffled = 0; shuffled < 2; shuffled++) {
        struct bench_scene kind = {
            .name = "network", .shape = shuffled ? BENCH_SHUFFLED : BENCH_NETWORK, .damped = true};
        taut_error error = {0};
        taut_scene *scene =
            bench_scene_make(&kind, 4000, &in_precision[PRECISION_DOUBLE], 1, &error);
        assert_non_null(scene);
        scene->bodies[0].pin_count = 0; // shuffling changes which node is number 0
        scene->environment.gravity = vec3_make(0, 0, 0);
        struct scene_network *network = &scene->bodies[0].shape.network;
        first[shuffled] = network->springs[0][0];
        network->materials[0].has_rest_length = true;
        network->materials[0].rest_length = 0.06; // some springs are stretched and some compressed,
                                                  // so it moves
        taut_solver *solver;
        assert_int_equal(taut_solver_create(scene, NULL, &solver, &error), TAUT_OK);
        scene_free(scene);
        assert_int_equal(taut_solver_step(solver, STEPS, &error), TAUT_OK);
        taut_energy energy;
        assert_int_equal(taut_solver_energy(solver, &energy, &error), TAUT_OK);
        assert_true(energy.kinetic > 1e-6);
        elastic[shuffled] = energy.elastic;
        taut_solver_destroy(solver);
    }
    assert_int_not_equal(first[0], first[1]);
    assert_true(fabs(elastic[1] / elastic[0] - 1) < 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scenes_are_found_by_name),
        cmocka_unit_test(every_scene_runs_at_a_small_size),
        cmocka_unit_test(the_model_counts_what_a_grid_moves),
        cmocka_unit_test(the_model_counts_what_the_plain_loops_move),
        cmocka_unit_test(the_model_counts_what_packed_springs_move),
        cmocka_unit_test(shuffling_changes_the_order_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
