// taut bench, on the smallest of its scenes and for moments only: that what it says is whole and
// adds up, not how fast anything is.
#include "test.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/bench_model.h"
#include "cli/bench_scenes.h"
#include "cli_fixture.h"
#include "physics.h"
#include "scene/reader.h"
#include "solver.h"

static void the_json_holds_every_variant_and_adds_up(void **state)
{
    (void)state;
    cli_enter("cli_bench_json");
    struct outcome outcome = cli_expect(
        0, "taut bench --scenes rope --threads 1,2 --isa base --seconds 0.3 --json --quiet");
    assert_string_equal(outcome.err, "");
    if (!cli_has_python()) {
        outcome_free(&outcome);
        skip();
    }
    cli_assert_json(
        outcome.out,
        "rows = d['results']\n"
        "names = [(r['scene'], r['kernel'], r['isa'], r['threads']) for r in rows]\n"
        "assert names == [('rope', 'reference', None, 1), ('rope', 'grid', 'base', 1),\n"
        "                 ('rope', 'grid', 'base', 2)], names\n"
        "assert [l['threads'] for l in d['limits']] == [1, 2]\n"
        "for l in d['limits']:\n"
        "    assert 1e8 < l['triad_bytes_per_second']['best'] < 1e13\n"
        "    peak = l['single_multiply_add_operations_per_second']\n"
        "    assert list(peak) == ['base'] and peak['base']['best'] > 1e7\n"
        "for r in rows:\n"
        "    assert r['nodes'] == 20000 and r['springs'] == 39997\n"
        "    rates = r['spring_updates_per_second']\n"
        "    assert len(rates['repetitions']) == 21 and min(rates['repetitions']) > 0\n"
        "    assert rates['best'] == max(rates['repetitions'])\n"
        "    assert rates['median'] == sorted(rates['repetitions'])[10]\n"
        "    nodes = r['node_updates_per_second']['best']\n"
        "    assert abs(nodes / rates['best'] * 39997 / 20000 - 1) < 1e-9\n"
        "    assert abs(r['bytes_per_spring'] * 39997 / r['bytes'] - 1) < 1e-9\n"
        "    paired = [a / b for a, b in zip(rates['repetitions'],\n"
        "              rows[0]['spring_updates_per_second']['repetitions'])]\n"
        "    assert all(abs(p / q - 1) < 1e-9 for p, q in\n"
        "               zip(paired, r['ratio_to_reference']['repetitions']))\n"
        "assert d['precision'] == 'single' and d['interrupted'] is None\n");
    outcome_free(&outcome);
}

// Its extra scenes are on one instruction set, the widest; those of a group took turns in the same
// rounds; and grids are there in double precision.
static void a_full_run_adds_what_its_scenes_are_compared_with(void **state)
{
    (void)state;
    cli_enter("cli_bench_full");
    struct outcome outcome =
        cli_expect(0, "taut bench --full --scenes rope,ball,ball-airless --threads 1,2 --isa base "
                      "--seconds 0.3 --json --quiet");
    if (!cli_has_python()) {
        outcome_free(&outcome);
        skip();
    }
    cli_assert_json(
        outcome.out,
        "rows = d['results']\n"
        "names = [(r['scene'], r['isa'], r['threads'], r['precision']) for r in rows]\n"
        "assert names == [('rope', None, 1, 'single'), ('rope', 'base', 1, 'single'),\n"
        "                 ('rope', 'base', 2, 'single'), ('rope', 'base', 1, 'double'),\n"
        "                 ('ball', None, 1, 'single'), ('ball', 'base', 1, 'single'),\n"
        "                 ('ball', 'base', 2, 'single'), ('ball-airless', None, 1, 'single'),\n"
        "                 ('ball-airless', 'base', 1, 'single'),\n"
        "                 ('ball-airless', 'base', 2, 'single')], names\n"
        "assert all(len(r['spring_updates_per_second']['repetitions']) == 21 for r in rows)\n"
        "assert rows[3]['bytes'] > rows[1]['bytes']\n"
        "assert rows[3]['ratio_to_reference']['best'] is None\n"
        "assert rows[7]['ratio_to_reference']['best'] == 1\n"
        "for l in d['limits']:\n"
        "    for kind in ('triad', 'update', 'read'):\n"
        "        rates = l[kind + '_bytes_per_second']['repetitions']\n"
        "        assert len(rates) == 3 and 1e8 < min(rates) and max(rates) < 1e13\n");
    outcome_free(&outcome);
}

static void the_table_names_scene_kernel_and_limit(void **state)
{
    (void)state;
    cli_enter("cli_bench_table");
    struct outcome outcome = cli_expect(
        0, "taut bench --scenes rope --kernel reference --precision double --seconds 0.2");
    assert_says(outcome.out, "double precision");
    assert_says(outcome.out, "triad");
    assert_says(outcome.out, "rope: 20,000 nodes, 39,997 springs");
    assert_says(outcome.out, "reference              1");
    assert_null(strstr(outcome.out, "grid  "));
    outcome_free(&outcome);
}

static void wrong_usage_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *command, *said;
    } cases[] = {
        {"taut bench --scenes rope,cloht", "cloth"},
        {"taut bench --scenes rope,rope", "each once"},
        {"taut bench --scenes ''", "parted by commas"},
        {"taut bench --threads 1,,2", "parted by commas, not '1,,2'"},
        {"taut bench --threads 0", "from 1 to 4096"},
        {"taut bench --seconds 0", "seconds above 0"},
        {"taut bench scene.yaml", "'scene.yaml' is one too many"},
        {"taut bench --set a=b", "--set"},
        {"taut bench --isa v9", "there is no instruction set 'v9'"},
        {"taut run --seconds 3 scene.yaml", "--seconds"},
    };
    cli_enter("cli_bench_usage");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct outcome outcome = cli_expect(2, cases[i].command);
        assert_says(outcome.err, cases[i].said);
        assert_string_equal(outcome.out, "");
        outcome_free(&outcome);
    }
}

static void an_interruption_ends_it_with_what_was_measured(void **state)
{
    (void)state;
    cli_enter("cli_bench_interrupted");
    pid_t process = cli_start((const char *const[]){"bench", "--scenes", "rope", "--seconds", "200",
                                                    "--json", "--threads", "1", NULL});
    assert_true(cli_wait_for_file(process, "out.txt"));
    sleep(1); // past the start of the program; whenever it comes, it is obeyed
    assert_int_equal(kill(process, SIGINT), 0);
    assert_int_equal(cli_wait(process), 1);
    size_t length;
    char *said = fixture_read("err.txt", &length), *out = fixture_read("out.txt", &length);
    assert_says(said, "interrupted by SIGINT");
    assert_says(out, "\"interrupted\": \"SIGINT\"");
    free(said);
    free(out);
}

// Every scene of the benchmark runs: small, in both precisions, and far enough for the look for
// divergence.
static void every_scene_runs_at_a_small_size(void **state)
{
    (void)state;
    enum { STEPS = 48 };
    for (int s = 0; s < BENCH_SCENES; s++) {
        for (int precision = PRECISION_SINGLE; precision <= PRECISION_DOUBLE; precision++) {
            taut_error error = {0};
            taut_scene *scene =
                bench_scene_make(&bench_scenes[s], 4000, (enum precision)precision, &error);
            assert_non_null(scene);
            taut_solver *solver;
            assert_int_equal(taut_solver_create(scene, NULL, &solver, &error), TAUT_OK);
            scene_free(scene);
            double springs = (double)taut_solver_spring_count(solver);
            assert_true(springs > 1000 && springs < 8000);
            struct critical_step critical;
            assert_int_equal(solver_critical_step(solver, &critical, &error), TAUT_OK);
            assert_true(taut_solver_dt(solver) < critical.dt[solver->integrator]);
            if (taut_solver_step(solver, STEPS, &error) != TAUT_OK)
                fail_msg("%s: %s", bench_scenes[s].name, error.text);
            taut_solver_destroy(solver);
        }
    }
}

static taut_solver *modelled(const char *name, uint64_t springs, enum precision precision,
                             taut_kernel kernel)
{
    int s = 0;
    while (strcmp(bench_scenes[s].name, name) != 0)
        s++;
    taut_error error = {0};
    taut_scene *scene = bench_scene_make(&bench_scenes[s], springs, precision, &error);
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

// On a grid of one tile: positions and velocities read and written, and an inverse mass. A list of
// masses (a network has one) is one more. Wind changes the forces once more than it reads them.
static void the_model_counts_what_a_grid_moves(void **state)
{
    (void)state;
    static const char *const scenes[] = {"rope", "cloth", "cloth-undamped", "jelly26", "jelly52"};
    for (size_t s = 0; s < sizeof scenes / sizeof *scenes; s++) {
        double single = bytes_a_node(scenes[s], 4000, PRECISION_SINGLE, TAUT_KERNEL_AUTO);
        double twice = bytes_a_node(scenes[s], 4000, PRECISION_DOUBLE, TAUT_KERNEL_AUTO);
        assert_near(single, 13 * 4, 1e-9);
        assert_near(twice, 13 * 8, 1e-9);
    }
    assert_near(bytes_a_node("network", 4000, PRECISION_SINGLE, TAUT_KERNEL_AUTO), 14 * 4, 1e-9);
    assert_near(bytes_a_node("cloth-wind", 4000, PRECISION_SINGLE, TAUT_KERNEL_AUTO),
                (13 + 3 + 3 + 1 + 6 + 6) * 4, 1e-9);
    // A cloth of 16 tiles, each but the first with two rows that wait: their sums and the reactions
    // on them, and the state again, undamped the positions alone.
    taut_solver *damped = modelled("cloth", 1560000, PRECISION_SINGLE, TAUT_KERNEL_AUTO);
    taut_solver *undamped = modelled("cloth-undamped", 1560000, PRECISION_SINGLE, TAUT_KERNEL_AUTO);
    uint64_t nodes = taut_solver_node_count(damped);
    uint64_t tiles = damped->plan->grids[0].tiling.tiles_y;
    assert_true(tiles > 4);
    double waiting = 2 * 500 * (double)(tiles - 1);
    assert_near(bench_model_bytes(damped), 4 * (13 * (double)nodes + 18 * waiting), 1);
    assert_near(bench_model_bytes(undamped), 4 * (13 * (double)nodes + 15 * waiting), 1);
    taut_solver_destroy(damped);
    taut_solver_destroy(undamped);
}

// The plain loops sweep four times, and read the ends, the material and the rest length of each
// spring; a ball's faces twice.
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

// Packed: two sweeps over the nodes, and each spring from both its ends. Beyond its rest lengths
// that takes no more than the plan holds.
static void the_model_counts_what_packed_springs_move(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        double reals; // a node
    } of[] = {{"ball-undamped", 9 + 19}, {"ball-airless", 12 + 19}, {"ball", 12 + 6 + 19}};
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        taut_solver *solver = modelled(of[i].name, 7680, PRECISION_SINGLE, TAUT_KERNEL_AUTO);
        double nodes = 4 * of[i].reals * (double)taut_solver_node_count(solver);
        double springs = bench_model_bytes(solver) - nodes;
        double rests = 4 * (double)solver->plan->packed.slot_count;
        assert_true(springs >= 2 * 4 * (double)taut_solver_spring_count(solver));
        assert_true(springs > rests && springs <= rests + (double)plan_bytes(solver->plan));
        taut_solver_destroy(solver);
    }
}

// The shuffled network is the network: the same energies after as many steps, from other orders.
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
        taut_scene *scene = bench_scene_make(&kind, 4000, PRECISION_DOUBLE, &error);
        assert_non_null(scene);
        scene->bodies[0].pin_count = 0; // node 0 is another one after shuffling
        scene->environment.gravity = vec3_make(0, 0, 0);
        struct scene_network *network = &scene->bodies[0].shape.network;
        first[shuffled] = network->springs[0][0];
        network->materials[0].has_rest_length = true;
        network->materials[0].rest_length = 0.06; // stretched and pressed: it moves
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
        cmocka_unit_test(the_json_holds_every_variant_and_adds_up),
        cmocka_unit_test(a_full_run_adds_what_its_scenes_are_compared_with),
        cmocka_unit_test(the_table_names_scene_kernel_and_limit),
        cmocka_unit_test(wrong_usage_is_refused),
        cmocka_unit_test(an_interruption_ends_it_with_what_was_measured),
        cmocka_unit_test(every_scene_runs_at_a_small_size),
        cmocka_unit_test(the_model_counts_what_a_grid_moves),
        cmocka_unit_test(the_model_counts_what_the_plain_loops_move),
        cmocka_unit_test(the_model_counts_what_packed_springs_move),
        cmocka_unit_test(shuffling_changes_the_order_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
