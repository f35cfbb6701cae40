// Sweeps of grids, cut into tiles along y and z, with bodies on either side: they agree with the
// plain loops for every node; the same bits on every instruction set and number of threads, and
// whether nodes move in the sweep or in a loop of their own.
#include "samples.h"
#include "solver/internals.h"
#include "state/system.h"

#include <stdlib.h>

// Bodies with several tiles along y, along z, along both; rows shorter than a register and rows
// longer than a chunk; every kind of pass; other bodies before and after in memory.
static const struct {
    const char *body;
    bool tiles_y, tiles_z;
} shapes[] = {
    {"type: rope, from: [0,0,0], to: [4,0,0], nodes: 9001, node_mass: 1, links: skip, "
     "springs: {chain: {stiffness: 5, damping: 0.3}, skip: {stiffness: 3}}, pins: [first]",
     true, false},
    {"type: cloth, u: [4,0,0], v: [0,9,0], nodes: [41,330], node_mass: 1, stiffness: 6, "
     "damping: 0.1, pins: [left]",
     true, false},
    {"type: cloth, u: [4,0,0], v: [0,9,0], nodes: [4,2100], node_mass: 1, stiffness: 6, "
     "damping_law: full, damping: 0.1, pins: [left]",
     true, false},
    {"type: cloth, u: [9,0,0], v: [0,4,0], nodes: [1300,34], node_mass: 1, "
     "springs: {shear: {stiffness: 6, damping: 0.2}}, pins: [top]",
     true, false},
    {"type: cloth, u: [9,0,0], v: [0,4,0], nodes: [130,64], node_mass: 1, springs: {structural: "
     "{stiffness: 6, damping: 0.2, damping_law: full}, bend: {stiffness: 2, damping: 0.1}}, "
     "pins: [top]",
     true, false},
    {"type: cloth, u: [6,0,0], v: [0,12.9,0], nodes: [61,130], fabric: {areal_density: 100, warp: "
     "9, "
     "weft: 8, coupling: 4, shear: 3, bending: 0.01}, damping_ratio: 0.1, pins: [bottom, 61, 64]",
     true, false},
    {"type: lattice, nodes: [5,40,44], spacing: 0.1, node_mass: 1, stiffness: 9, damping: 0.2, "
     "shells: 1",
     false, true},
    {"type: lattice, nodes: [67,34,35], spacing: 0.1, node_mass: 1, stiffness: 9, damping: 0.2, "
     "shells: 2",
     false, true},
    {"type: lattice, nodes: [90,93,3], spacing: 0.1, node_mass: 1, stiffness: 9, damping: 0.2, "
     "shells: 1",
     true, false},
    {"type: lattice, nodes: [9,3700,9], spacing: 0.1, node_mass: 1, shells: 1, "
     "springs: {k1: {stiffness: 9}, k3: {stiffness: 4, damping: 0.3}}",
     true, true},
};

enum { SHAPES = sizeof shapes / sizeof shapes[0] };

#define BESIDE                                                                                     \
    "{name: %s, type: rope, from: [0,2,0], to: [1,2,0], nodes: 21, node_mass: 1, stiffness: 5}"

static taut_solver *scene_by(const char *integrator, const char *wind, int shape,
                             const char *precision, bool work, const struct solver_options *options)
{
    return solver_from(scene_of("precision: %s\n"
                                "simulation: {integrator: %s, dt: 0.001, steps: 9}\n"
                                "environment: {gravity: [0.1,-9.81,0.3], air_drag: 0.2%s}\n"
                                "output: {work: %s}\n"
                                "bodies:\n  - " BESIDE "\n  - {name: b, %s}\n  - " BESIDE "\n",
                                precision, integrator, wind, work ? "true" : "false", "before",
                                shapes[shape].body, "after"),
                       options);
}

static taut_solver *scene_with(int shape, const char *precision, bool work,
                               const struct solver_options *options)
{
    return scene_by("symplectic_euler", "", shape, precision, work, options);
}

static void shake(taut_solver *solver)
{
    uint64_t seed = 7;
    for (uint64_t i = 0; i < taut_solver_node_count(solver); i++) {
        vec3 by = {next_random(&seed), next_random(&seed), next_random(&seed)};
        put(solver, i, vec3_add(position_of(solver, i), vec3_scale(0.02, by)));
        vec3 velocity = {next_random(&seed), next_random(&seed), next_random(&seed)};
        if (!topology_is_kinematic(solver_topology(solver), i))
            put_velocity(solver, i, velocity);
    }
}

static void test_forces_are_those_of_plain_loops(void **state)
{
    (void)state;
    for (int shape = 0; shape < SHAPES; shape++) {
        struct solver_options plain = {.config = {.kernel = TAUT_KERNEL_REFERENCE}};
        taut_solver *a = scene_with(shape, "double", true, &plain);
        taut_solver *b = scene_with(shape, "double", true, NULL);
        const struct plan_grid *grid = plan_grid_of_body(solver_plan(b), 1);
        assert_non_null(grid);
        assert_int_equal(grid->tiling.tiles_y > 1, shapes[shape].tiles_y);
        assert_int_equal(grid->tiling.tiles_z > 1, shapes[shape].tiles_z);
        assert_int_equal(plan_check(solver_topology(b), solver_plan(b), NULL), TAUT_OK);
        shake(a);
        shake(b);
        assert_same_forces(a, b, 1e-12);
        taut_solver_destroy(a);
        taut_solver_destroy(b);
    }
}

struct swept {
    int shape;
    const char *precision;
};

// With and without the energy budget, whose powers the kernels measure.
static uint64_t hash_of(const void *context, const struct solver_options *options)
{
    const struct swept *swept = context;
    bool work = options->config.threads % 2 == 0;
    taut_solver *solver = scene_with(swept->shape, swept->precision, work, options);
    advance(solver, 5);
    uint64_t hash = taut_solver_hash(solver);
    taut_solver_destroy(solver);
    return hash;
}

static void test_same_bits_everywhere(void **state)
{
    (void)state;
    for (int shape = 0; shape < SHAPES; shape++) {
        assert_same_hashes(hash_of, &(struct swept){shape, "single"});
        assert_same_hashes(hash_of, &(struct swept){shape, "double"});
    }
}

// Within a run of steps some integrators combine the end of one step and the start of the next in
// one sweep; between single steps they do not. Both must give the same bits.
static void test_steps_in_one_run_give_those_alone(void **state)
{
    (void)state;
    enum { RUN = 4, WINDS = 3, LARGEST = 6 };
    static const char *const integrators[] = {"explicit_euler", "verlet", "velocity_verlet",
                                              "midpoint", "rk4"};
    static const char *const winds[WINDS] = {
        "", ", wind: {velocity: [3,1,2], law: face, coefficient: 2}",
        ", wind: {velocity: [3,1,2], law: face, coefficient: 2, relative: false}"};
    for (size_t i = 0; i < sizeof integrators / sizeof integrators[0]; i++)
        for (int shape = 0; shape < (i < 3 ? SHAPES : LARGEST); shape++)
            for (int wind = 0; wind < (shape == 1 || shape == 4 ? WINDS : 1); wind++) {
                const char *precision = (shape + wind) % 2 ? "single" : "double";
                struct solver_options options = {
                    .config = {.threads = 1, .isa = TAUT_ISA_BASE, .kernel = TAUT_KERNEL_AUTO}};
                taut_solver *alone =
                    scene_by(integrators[i], winds[wind], shape, precision, true, &options);
                for (int step = 0; step < RUN; step++)
                    advance(alone, 1);
                for (int isa = 0; isa < ISA_COUNT && isa_available((enum isa)isa); isa++) {
                    options.config.isa = (taut_isa)(TAUT_ISA_BASE + isa);
                    options.config.threads = 1 + isa;
                    taut_solver *run =
                        scene_by(integrators[i], winds[wind], shape, precision, isa == 1, &options);
                    advance(run, RUN);
                    if (taut_solver_hash(run) != taut_solver_hash(alone))
                        fail_msg("%s, shape %d, wind %d: %s gives another hash", integrators[i],
                                 shape, wind, isa_name((enum isa)isa));
                    taut_solver_destroy(run);
                }
                taut_solver_destroy(alone);
            }
}

// A state of all nodes, or its slope: positions and velocities, or velocities and accelerations.
struct phase {
    double *x, *v;
};

static struct phase phase_of(const taut_solver *solver, bool slope)
{
    const uint64_t nodes = taut_solver_node_count(solver);
    struct phase phase = {calloc((size_t)nodes * 3, sizeof(double)),
                          calloc((size_t)nodes * 3, sizeof(double))};
    assert_non_null(phase.x);
    assert_non_null(phase.v);
    if (!slope)
        solver_read_nodes(solver, 0, nodes, phase.x, phase.v, NULL);
    return phase;
}

static void phase_free(struct phase *phase)
{
    free(phase->x);
    free(phase->v);
}

// Sets the nodes to start + h (v, F / m), with v and F of their present state, which it adds to
// `sum` with the weight. In the order of the operations of an integrator.
static void next_stage(taut_solver *solver, const struct phase *start, double h, double weight,
                       struct phase *sum)
{
    const uint64_t nodes = taut_solver_node_count(solver);
    const struct constants *constants = solver_system(solver)->constants;
    struct phase now = phase_of(solver, false);
    double *force = all_forces(solver);
    for (uint64_t i = 0; i < nodes; i++) {
        const double inverse =
            constants->inverse_mass[topology_internal_node(solver_topology(solver), i)];
        double x[3], v[3];
        for (uint64_t c = 0; c < 3; c++) {
            const uint64_t at = 3 * i + c;
            x[c] = start->x[at] + h * now.v[at];
            v[c] = start->v[at] + h * inverse * force[at];
            sum->x[at] += weight * now.v[at];
            sum->v[at] += weight * inverse * force[at];
        }
        put(solver, i, vec3_make(x[0], x[1], x[2]));
        put_velocity(solver, i, vec3_make(v[0], v[1], v[2]));
    }
    free(force);
    phase_free(&now);
}

static void step_by_stages(taut_solver *solver, bool rk4, double h)
{
    struct phase start = phase_of(solver, false), sum = phase_of(solver, true);
    next_stage(solver, &start, h / 2, 1, &sum);
    next_stage(solver, &start, rk4 ? h / 2 : h, 2, &sum);
    if (rk4) {
        next_stage(solver, &start, h, 2, &sum);
        next_stage(solver, &start, h, 1, &sum);
    }
    for (uint64_t i = 0; rk4 && i < taut_solver_node_count(solver); i++) {
        double x[3], v[3];
        for (uint64_t c = 0; c < 3; c++) {
            x[c] = start.x[3 * i + c] + h / 6 * sum.x[3 * i + c];
            v[c] = start.v[3 * i + c] + h / 6 * sum.v[3 * i + c];
        }
        put(solver, i, vec3_make(x[0], x[1], x[2]));
        put_velocity(solver, i, vec3_make(v[0], v[1], v[2]));
    }
    phase_free(&start);
    phase_free(&sum);
}

// The stages of midpoint and rk4, in which nodes move in the sweep, give the bits of a step that is
// made here from forces alone.
static void test_stages_are_those_of_their_forces(void **state)
{
    (void)state;
    for (int rk4 = 0; rk4 < 2; rk4++)
        for (int shape = 0; shape < SHAPES; shape++) {
            const struct solver_options options = {
                .config = {.threads = 1 + shape % 2, .kernel = TAUT_KERNEL_AUTO}};
            const char *integrator = rk4 ? "rk4" : "midpoint";
            taut_solver *a = scene_by(integrator, "", shape, "double", shape % 3 == 0, &options);
            taut_solver *b = scene_by(integrator, "", shape, "double", false, &options);
            shake(a);
            shake(b);
            advance(a, 1);
            step_by_stages(b, rk4, 0.001);
            if (taut_solver_hash(a) != taut_solver_hash(b))
                fail_msg("%s, shape %d: a step gives another hash", integrator, shape);
            taut_solver_destroy(a);
            taut_solver_destroy(b);
        }
}

// Kernels do not measure the powers of wind of law `node` on a ball, so that nodes move in plain
// loops if the energy budget is kept, and otherwise in the sweep: both give the same bits.
static void test_motion_in_the_sweep_is_that_of_plain_loops(void **state)
{
    (void)state;
    static const char *const integrators[] = {"explicit_euler", "symplectic_euler", "midpoint",
                                              "rk4"};
    static const char *const precisions[] = {"single", "mixed", "double"};
    // A rope, cloths with their own kernels, a lattice.
    static const int bodies[] = {0, 1, 5, 7};
    enum { INTEGRATORS = 4, PRECISIONS = 3, BODIES = 4 };
    for (int i = 0; i < INTEGRATORS * PRECISIONS * BODIES; i++) {
        const char *integrator = integrators[i % INTEGRATORS];
        const char *precision = precisions[i / INTEGRATORS % PRECISIONS];
        const int shape = bodies[i / INTEGRATORS / PRECISIONS];
        uint64_t hashes[2];
        for (int work = 0; work < 2; work++) {
            const struct solver_options options = {.config = {.threads = 1 + work}};
            taut_solver *solver =
                solver_from(scene_of("precision: %s\n"
                                     "simulation: {integrator: %s, dt: 0.0005, steps: 9}\n"
                                     "environment: {gravity: [0.1,-9.81,0.3], air_drag: 0.2,\n"
                                     "  wind: {velocity: [3,1,2], law: node, coefficient: 2}}\n"
                                     "output: {work: %s}\n"
                                     "bodies:\n  - " BESIDE "\n  - {name: b, %s,\n"
                                     "     drives: [{node: 3, velocity: [0.1,0,0.2]}]}\n"
                                     "  - {name: ball, type: sphere, center: [0,4,0], radius: 1,\n"
                                     "     subdivisions: 3, mass: 2, stiffness: 30, damping: 0.1,\n"
                                     "     pressure: {amount: 20}}\n",
                                     precision, integrator, work ? "true" : "false", "before",
                                     shapes[shape].body),
                            &options);
            assert_null(solver_system(solver)->powers);
            advance(solver, 5);
            hashes[work] = taut_solver_hash(solver);
            taut_solver_destroy(solver);
        }
        if (hashes[0] != hashes[1])
            fail_msg("%s, %s, shape %d: the hashes differ", integrator, precision, shape);
    }
}

// A node that starts at the position of another is not pulled along an undefined direction.
static void test_springs_without_length(void **state)
{
    (void)state;
    taut_solver *solver = scene_with(1, "double", true, NULL);
    for (uint64_t i = 22; i < 22 + 41; i++)
        put(solver, i, position_of(solver, 21));
    double *forces = all_forces(solver);
    for (uint64_t i = 0; i < 3 * taut_solver_node_count(solver); i++)
        assert_near(forces[i], 0, 1e6); // no NaN
    free(forces);
    taut_solver_destroy(solver);
}

// The checker notices tiles that leave rows out and springs that reach too far.
static void test_checker_refuses_bad_tiles(void **state)
{
    (void)state;
    taut_solver *solver = scene_with(6, "double", true, NULL);
    struct plan_tiling *tiling = &solver_plan_for_tests(solver)->grids[1].tiling;
    struct plan_tiling good = *tiling;
    tiling->tiles_y = tiling->ny;
    assert_int_not_equal(plan_check(solver_topology(solver), solver_plan(solver), NULL), TAUT_OK);
    *tiling = good;
    tiling->first_tile++;
    assert_int_not_equal(plan_check(solver_topology(solver), solver_plan(solver), NULL), TAUT_OK);
    *tiling = good;
    tiling->nz--;
    assert_int_not_equal(plan_check(solver_topology(solver), solver_plan(solver), NULL), TAUT_OK);
    *tiling = good;
    assert_int_equal(plan_check(solver_topology(solver), solver_plan(solver), NULL), TAUT_OK);
    taut_solver_destroy(solver);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forces_are_those_of_plain_loops),
        cmocka_unit_test(test_same_bits_everywhere),
        cmocka_unit_test(test_steps_in_one_run_give_those_alone),
        cmocka_unit_test(test_stages_are_those_of_their_forces),
        cmocka_unit_test(test_motion_in_the_sweep_is_that_of_plain_loops),
        cmocka_unit_test(test_springs_without_length),
        cmocka_unit_test(test_checker_refuses_bad_tiles),
    };
    return cmocka_run_group_tests_name("sweep", tests, NULL, NULL);
}
