// The state: the arrays of a run, its hash, its constants in the plan's order; and every failed
// allocation is noticed. Compiled for double.
#include "samples.h"

#include <stdlib.h>

#include "base/hash.h"
#include "solver/internals.h"
#include "state/system.h"

static struct state *state_of(const taut_solver *solver)
{
    return solver_system(solver)->state;
}

// Arrays exist if the integrator and the scene need them, and only then.
static void test_arrays_by_need(void **unused)
{
    (void)unused;
    static const char *const integrators[] = {"symplectic_euler", "verlet", "midpoint", "rk4"};
    for (int i = 0; i < 4; i++) {
        taut_solver *solver = sample_solver(&samples[3], "double", integrators[i], NULL);
        const struct state *s = state_of(solver);
        assert_int_equal(s->x0 != NULL, i > 0);
        assert_int_equal(s->vx0 != NULL, i > 1);
        assert_int_equal(s->svx != NULL, i > 2);
        assert_null(s->nx);
        assert_non_null(s->broken);
        assert_non_null(s->rest_length);
        taut_solver_destroy(solver);
    }
    taut_solver *solver = sample_solver(&samples[2], "double", "symplectic_euler", NULL);
    assert_non_null(state_of(solver)->nx);
    assert_null(state_of(solver)->broken);
    assert_null(state_of(solver)->rest_length);
    taut_solver_destroy(solver);
}

// XXH64 over x, y, z, vx, vy, vz of each node in builder order, as they are stored.
static void test_hash(void **unused)
{
    (void)unused;
    taut_solver *solver = sample_solver(&samples[9], "double", "rk4", NULL);
    advance(solver, 5);
    struct hash hash;
    hash_begin(&hash);
    for (uint64_t i = 0; i < taut_solver_node_count(solver); i++) {
        vec3 x = position_of(solver, i), v = velocity_of(solver, i);
        double values[6] = {x.x, x.y, x.z, v.x, v.y, v.z};
        hash_add(&hash, values, sizeof values);
    }
    assert_true(taut_solver_hash(solver) == hash_end(&hash));
    uint64_t before = taut_solver_hash(solver);
    put(solver, 3, vec3_make(1, 2, 3.0000000000000004));
    assert_true(taut_solver_hash(solver) != before);
    taut_solver_destroy(solver);
}

static void test_constants_in_plan_order(void **unused)
{
    (void)unused;
    struct solver_options options = {.config = {.threads = 1},
                                     .plan = {.tile_nodes = 16, .no_grids = true}};
    taut_solver *solver = sample_solver(&samples[7], "double", "symplectic_euler", &options);
    const struct constants *constants = solver_system(solver)->constants;
    const struct topology *topology = solver_topology(solver);
    assert_int_equal(constants->springs, topology->spring_count);
    for (uint64_t i = 0; i < constants->springs; i++) {
        struct spring_run spring =
            topology_spring(topology, plan_element(&solver_plan(solver)->springs, i));
        assert_int_equal(constants->spring_nodes[i][0], spring.a);
        assert_int_equal(constants->spring_nodes[i][1], spring.b);
        assert_same_bits(built_rest_length(constants, i), spring.rest_length);
        assert_int_equal(spring_material_number(constants, i), spring.material);
    }
    for (uint64_t i = 0; i < constants->nodes; i++)
        assert_same_bits(constants->inverse_mass[i],
                         topology_is_kinematic(topology, i) ? 0 : 1 / topology_mass(topology, i));
    taut_solver_destroy(solver);
}

// A frame has arrays for the fields that it was made for; requesting more fields is harmless.
static void test_frames_by_need(void **unused)
{
    (void)unused;
    taut_solver *solver = sample_solver(&samples[3], "double", "symplectic_euler", NULL);
    const struct topology *topology = solver_topology(solver);
    struct frame view;
    assert_int_equal(solver_make_frame(solver, FRAME_ENERGY, &view, NULL), TAUT_OK);
    assert_null(view.positions);
    assert_null(view.strains);
    assert_null(view.springs);
    solver_read_frame(solver, FRAME_NODES | FRAME_FORCES | FRAME_SPRINGS | FRAME_ENERGY, &view);
    assert_same_bits(view.energy.total, energy_of(solver).total);
    frame_free(&view);
    assert_int_equal(solver_make_frame(solver, FRAME_LISTS | FRAME_NODES, &view, NULL), TAUT_OK);
    assert_null(view.forces);
    for (uint64_t s = 0; s < topology->spring_count; s++) {
        struct spring_run spring = topology_spring(topology, s);
        assert_int_equal(view.bodies[0].springs[s][0], spring.a);
        assert_int_equal(view.bodies[0].springs[s][1], spring.b);
    }
    solver_read_frame(solver, FRAME_NODES, &view);
    assert_same_bits(view.positions[3 * 50 + 1], position_of(solver, 50).y);
    frame_free(&view);
    taut_solver_destroy(solver);
}

// Fields that are not read keep their values, and are not marked as valid.
static void test_frames_know_what_is_of_their_time(void **unused)
{
    (void)unused;
    taut_solver *solver = sample_solver(&samples[3], "double", "symplectic_euler", NULL);
    struct frame frame;
    assert_int_equal(solver_make_frame(solver, FRAME_NODES | FRAME_SPRINGS, &frame, NULL), TAUT_OK);
    assert_int_equal(frame.fields, FRAME_BODIES);
    solver_read_frame(solver, FRAME_NODES | FRAME_SPRINGS | FRAME_FORCES, &frame);
    assert_true(frame_has(&frame, FRAME_NODES | FRAME_STRAINS | FRAME_BODIES));
    assert_false(frame.fields & FRAME_FORCES);
    // No spring of this sample breaks.
    assert_int_equal(frame_has(&frame, FRAME_BROKEN), solver_topology(solver)->any_breaks);
    const double before = frame.positions[3 * 50 + 1];
    assert_int_equal(taut_solver_step(solver, 5, NULL), TAUT_OK);
    solver_read_frame(solver, FRAME_VELOCITIES, &frame);
    assert_int_equal(frame.step, 5);
    assert_int_equal(frame.fields, FRAME_BODIES | FRAME_VELOCITIES);
    assert_same_bits(frame.positions[3 * 50 + 1], before);
    solver_read_frame_node(solver, 50, &frame);
    assert_int_equal(frame.fields, FRAME_BODIES);
    assert_same_bits(frame.positions[3 * 50 + 1], position_of(solver, 50).y);
    frame_free(&frame);
    taut_solver_destroy(solver);
}

static void test_copies_of_frames(void **unused)
{
    (void)unused;
    const struct frame_shape shape = {.node_count = 2,
                                      .spring_count = 3,
                                      .body_count = 1,
                                      .collider_count = 1,
                                      .drawn_count = 2,
                                      .drawn_numbers = (const uint32_t[]){0, 2}};
    struct frame from, to;
    const unsigned all = FRAME_NODES | FRAME_SPRINGS | FRAME_DRAWN_SPRINGS | FRAME_COLLIDERS;
    assert_int_equal(frame_make(&shape, all, &from, NULL), TAUT_OK);
    assert_int_equal(
        frame_make(&shape, FRAME_POSITIONS | FRAME_DRAWN_SPRINGS | FRAME_VOLUMES, &to, NULL),
        TAUT_OK);
    assert_int_equal(frame_bytes(&shape, all), (2 * 3 * 2 + 3) * sizeof(double) + 3 +
                                                   2 * sizeof(float) + 2 +
                                                   sizeof(struct frame_collider));
    from.time = 7;
    from.fields = FRAME_POSITIONS | FRAME_SPRINGS;
    from.positions[5] = 1.5;
    from.strains[2] = 0.25;
    from.broken[2] = 1;
    frame_select_drawn_springs(&from);
    assert_true(frame_has(&from, FRAME_DRAWN_SPRINGS));
    to.volumes[0] = 3;
    frame_copy(&from, &to);
    assert_int_equal(to.fields, FRAME_POSITIONS | FRAME_DRAWN_SPRINGS);
    assert_true(to.time == 7 && to.positions[5] == 1.5 && to.positions != from.positions);
    assert_true(to.drawn_strains[1] == 0.25f && to.drawn_broken[1] == 1 &&
                to.drawn_strains[0] == 0);
    assert_true(to.volumes[0] == 3); // `from` does not have it
    assert_null(to.velocities);
    frame_free(&from);
    frame_free(&to);
    assert_null(to.positions);
}

// ---- Allocations that fail

static taut_status create_with(const taut_scene *scene, struct failing *memory,
                               taut_solver **solver, taut_error *error)
{
    const taut_allocator allocator = {failing_allocate, failing_release, memory};
    taut_config config;
    taut_config_default(&config);
    config.threads = 1;
    config.allocator = &allocator;
    return taut_solver_create(scene, &config, solver, error);
}

// For every n the n-th allocation fails: TAUT_ERROR_MEMORY with a message, no solver, everything
// released.
static void test_every_allocation_may_fail(void **unused)
{
    (void)unused;
    static const char *const integrators[] = {"rk4", "verlet"};
    for (size_t s = 0; s < sample_count; s++)
        for (int i = 0; i < 2; i++) {
            taut_scene *scene =
                scene_of("precision: %s\nsimulation: {integrator: %s, dt: 0.0005, steps: 1}\n%s",
                         i ? "single" : "double", integrators[i], samples[s].text);
            taut_solver *solver = NULL;
            uint64_t n = 0;
            taut_status status = TAUT_ERROR_MEMORY;
            for (; status != TAUT_OK && n < 1000; n++) {
                struct failing memory = {.countdown = n};
                taut_error error = {0};
                status = create_with(scene, &memory, &solver, &error);
                if (status == TAUT_OK) {
                    advance(solver, 2);
                    assert_int_equal(memory.calls, n);
                    taut_solver_destroy(solver);
                } else {
                    assert_int_equal(status, TAUT_ERROR_MEMORY);
                    assert_int_equal(error.code, TAUT_ERROR_MEMORY);
                    assert_true(error.text[0] != 0);
                    assert_null(solver);
                }
                assert_int_equal(memory.held, 0);
                assert_int_equal(memory.bytes, 0);
            }
            assert_true(n > 20 && status == TAUT_OK); // n passed the last allocation
            taut_scene_destroy(scene);
        }
}

// Steps and evaluations of energies allocate no memory.
static void test_steps_allocate_nothing(void **unused)
{
    (void)unused;
    taut_scene *scene = scene_of(HEADER("rk4", "0.0005") "%s", samples[7].text);
    struct failing memory = {.countdown = 1000};
    taut_solver *solver;
    assert_int_equal(create_with(scene, &memory, &solver, NULL), TAUT_OK);
    uint64_t calls = memory.calls;
    memory.countdown = 0;
    advance(solver, 5);
    energy_of(solver);
    assert_int_equal(memory.calls, calls);
    taut_solver_destroy(solver);
    assert_int_equal(memory.held, 0);
    taut_scene_destroy(scene);
}

// The reported times of the stages count every step once: the first steps are all timed; later,
// timed short steps count for the others too. Long steps are all timed.
static void test_clock_counts_every_step(void **unused)
{
    (void)unused;
    const struct worker first = {.index = 0}, second = {.index = 1};
    for (int is_long = 0; is_long < 2; is_long++) {
        struct stage_clock clock = {0};
        double counted = 0;
        uint64_t timed = 0;
        const uint64_t steps = 1000 + 20 * STAGE_STRIDE;
        for (uint64_t step = 0; step < steps; step++) {
            stage_clock_step(&clock, &second); // changes nothing
            stage_clock_step(&clock, &first);
            counted += clock.weight;
            timed += clock.weight > 0;
            clock.step_seconds = is_long ? 1 : 1e-9;
            if (step < 1000)
                assert_true(clock.weight == 1);
        }
        assert_true(counted == (double)steps);
        assert_int_equal(timed, is_long ? steps : 1000 + 20);
        const double before = clock.seconds[STAGE_CHECK];
        stage_count(&clock, STAGE_CHECK, &second);
        assert_true(clock.seconds[STAGE_CHECK] == before);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_arrays_by_need),
        cmocka_unit_test(test_hash),
        cmocka_unit_test(test_constants_in_plan_order),
        cmocka_unit_test(test_frames_by_need),
        cmocka_unit_test(test_frames_know_what_is_of_their_time),
        cmocka_unit_test(test_copies_of_frames),
        cmocka_unit_test(test_every_allocation_may_fail),
        cmocka_unit_test(test_steps_allocate_nothing),
        cmocka_unit_test(test_clock_counts_every_step),
    };
    return cmocka_run_group_tests_name("state", tests, NULL, NULL);
}
