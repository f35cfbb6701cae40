// Solvers without some of a scene's springs and faces: the rest moves as if the cut ones had never
// been there, whatever kernel it had; torn parts fall; and a run continues through a cut.
#include "samples.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "solver/internals.h"
#include "solver/solver.h"
#include "springs/plan.h"

static struct solver_cuts cuts_of(const taut_solver *whole)
{
    struct solver_cuts cuts = {.spring_count = taut_solver_spring_count(whole),
                               .face_count = taut_solver_face_count(whole)};
    cuts.springs = calloc((size_t)cuts.spring_count + 1, 1);
    cuts.faces = calloc((size_t)cuts.face_count + 1, 1);
    assert_non_null(cuts.springs);
    assert_non_null(cuts.faces);
    return cuts;
}

static void cuts_free(struct solver_cuts *cuts)
{
    free(cuts->springs);
    free(cuts->faces);
}

static taut_solver *cut_solver(taut_scene *scene, const struct solver_cuts *cuts,
                               const struct solver_options *options)
{
    struct solver_options one = {.config = {.threads = 1}};
    taut_solver *solver;
    taut_error error = {0};
    if (solver_create_cut(scene, options ? options : &one, cuts, &solver, &error) != TAUT_OK)
        fail_msg("%s", error.text);
    taut_scene_destroy(scene);
    return solver;
}

static taut_scene *scene_of_sample(const struct sample *sample, const char *more)
{
    return scene_of("precision: double\nsimulation: {dt: 0.0002, steps: 1}\n%s%s", sample->text,
                    more);
}

// The forces of cut springs are missing from the forces: the spring forces of the whole scene are
// the sum of those without the first half and those without the second half of the springs.
static void test_forces_are_those_of_the_rest(void **state)
{
    (void)state;
    for (size_t s = 0; s < sample_count; s++) {
        if (strcmp(samples[s].name, "rope_all") == 0) // its springs are not stretched
            continue;
        taut_solver *whole = solver_from(scene_of_sample(&samples[s], ""), NULL);
        struct solver_cuts none = cuts_of(whole), all = cuts_of(whole);
        struct solver_cuts even = cuts_of(whole), odd = cuts_of(whole);
        for (uint64_t i = 0; i < none.spring_count; i++) {
            all.springs[i] = 1;
            even.springs[i] = i % 2 == 0;
            odd.springs[i] = i % 2 != 0;
        }
        const struct solver_cuts *cuts[] = {&none, &all, &even, &odd};
        double *forces[4], *positions = all_positions(whole), most = 0;
        uint64_t count = taut_solver_node_count(whole);
        for (int k = 0; k < 4; k++) {
            taut_solver *solver = cut_solver(scene_of_sample(&samples[s], ""), cuts[k], NULL);
            for (uint64_t node = 0; node < count; node++) { // no spring is at its rest length any
                                                            // more
                double wave = 0.01 * sin(3.0 * (double)node);
                put(solver, node,
                    vec3_make(positions[3 * node] + wave, positions[3 * node + 1] - wave,
                              positions[3 * node + 2] + 2 * wave));
            }
            forces[k] = all_forces(solver);
            taut_solver_destroy(solver);
        }
        for (uint64_t i = 0; i < 3 * count; i++)
            most = fmax(most, fabs(forces[0][i]));
        for (uint64_t i = 0; i < 3 * count; i++)
            assert_near(forces[2][i] + forces[3][i] - forces[1][i], forces[0][i], 1e-9 * most);
        for (int k = 0; k < 4; k++)
            free(forces[k]);
        free(positions);
        cuts_free(&none);
        cuts_free(&all);
        cuts_free(&even);
        cuts_free(&odd);
        taut_solver_destroy(whole);
    }
}

// Without faces, wind and gas have nothing to act on.
static void test_faces(void **state)
{
    (void)state;
    static const char *const scene = HEADER(
        "symplectic_euler",
        "0.001") "environment: {wind: {velocity: [3,0,5], law: face}}\n"
                 "bodies: [{name: c, type: cloth, origin: [0,2,0], u: [1,0,0], v: [0,1,0], nodes: "
                 "[7,5],\n"
                 "  mass: 1, stiffness: 10}, {name: b, type: sphere, center: [0,0,0], radius: 1,\n"
                 "  subdivisions: 1, mass: 1, springs: {edges: {stiffness: 100}},\n"
                 "  pressure: {amount: 9}}]\n";
    taut_solver *whole = solver_of("%s", scene);
    struct solver_cuts cuts = cuts_of(whole);
    memset(cuts.faces, 1, (size_t)cuts.face_count);
    taut_solver *none = cut_solver(scene_of("%s", scene), &cuts, NULL);
    assert_int_equal(taut_solver_face_count(none), 0);
    assert_int_equal(taut_solver_spring_count(none), taut_solver_spring_count(whole));
    for (uint64_t node = 0; node < taut_solver_node_count(none); node++)
        assert_near(vec3_length(force_on(none, node)), 0, 1e-9);
    assert_true(vec3_length(force_on(whole, 8)) > 0.01);
    memset(cuts.faces, 0, (size_t)cuts.face_count);
    cuts.faces[0] = cuts.faces[cuts.face_count - 1] = 1; // the first of the cloth, the last of the
                                                         // ball
    taut_solver *one = cut_solver(scene_of("%s", scene), &cuts, NULL);
    assert_true(vec3_length(vec3_subtract(force_on(one, 0), force_on(whole, 0))) > 1e-3);
    assert_vector_near(force_on(one, 15), force_on(whole, 15), 1e-12);
    assert_true(!solver_topology(one)->bodies[1].pressure.present &&
                !solver_topology(one)->bodies[1].closed);
    taut_solver_destroy(whole);
    taut_solver_destroy(none);
    taut_solver_destroy(one);
    cuts_free(&cuts);
}

// A node that has lost all of its springs falls freely, with every integrator and kernel.
static void test_torn_off(void **state)
{
    (void)state;
    static const char *const scene =
        "precision: double\nsimulation: {integrator: %s, dt: 0.001, steps: 1}\n"
        "environment: {gravity: [0,-10,0]}\n"
        "bodies: [{name: c, type: lattice, origin: [0,2,0], nodes: [8,8,8], spacing: 0.1,\n"
        "  mass: 1, springs: {k1: {stiffness: 300}, k2: {stiffness: 300}}, pins: [{box: "
        "[[-1,-1,-1],[0.01,9,9]]}]},\n"
        "  {name: n, type: network, nodes: [[0,0,0],[1,0,0]], node_mass: 1,\n"
        "  springs: [[0,1,{stiffness: 3}]]}]\n";
    for (int i = 0; i < INTEGRATOR_COUNT; i++) {
        const char *name = integrator_name((enum integrator)i);
        if (integrator_limit((enum integrator)i) == 0) // always unstable
            continue;
        taut_solver *whole = solver_of(scene, name);
        struct solver_cuts cuts = cuts_of(whole);
        struct frame lists;
        taut_error error = {0};
        assert_int_equal(solver_make_frame(whole, FRAME_LISTS, &lists, &error), TAUT_OK);
        for (uint64_t s = 0; s < cuts.spring_count - 1; s++)
            cuts.springs[s] = lists.springs[s][0] == 511 || lists.springs[s][1] == 511;
        cuts.springs[cuts.spring_count - 1] = 1;
        struct solver_options two = {.config = {.threads = 2}};
        taut_solver *solver = cut_solver(scene_of(scene, name), &cuts, &two);
        assert_int_equal(taut_solver_spring_count(solver), cuts.spring_count - 7);
        advance(solver, 100);
        for (uint64_t node = 511; node < 514; node++)
            assert_near(velocity_of(solver, node).y, -1, 1e-6);
        assert_true(velocity_of(solver, 507).y > -0.9);
        struct critical_step critical;
        assert_int_equal(solver_critical_step(solver, &critical, &error), TAUT_OK);
        assert_true(critical.known);
        frame_free(&lists);
        taut_solver_destroy(whole);
        taut_solver_destroy(solver);
        cuts_free(&cuts);
    }
}

// A scene without any springs works too.
static void test_everything_cut(void **state)
{
    (void)state;
    for (size_t s = 0; s < sample_count; s++) {
        taut_solver *whole = solver_from(scene_of_sample(&samples[s], ""), NULL);
        struct solver_cuts cuts = cuts_of(whole);
        memset(cuts.springs, 1, (size_t)cuts.spring_count);
        memset(cuts.faces, 1, (size_t)cuts.face_count);
        taut_solver *solver = cut_solver(scene_of_sample(&samples[s], ""), &cuts, NULL);
        assert_int_equal(taut_solver_spring_count(solver), 0);
        advance(solver, 20);
        struct critical_step critical;
        taut_error error = {0};
        assert_int_equal(solver_critical_step(solver, &critical, &error), TAUT_OK);
        taut_solver_destroy(whole);
        taut_solver_destroy(solver);
        cuts_free(&cuts);
    }
}

// A cloth that is cut while it tears and yields: springs that both solvers have keep their history.
// The first cut, of nothing, changes only the kernel; the second divides the cloth.
static void test_run_continues_through_cuts(void **state)
{
    (void)state;
    static const char *const scene = HEADER(
        "velocity_verlet",
        "0.0005") "environment: {gravity: [0,-9.81,0]}\n"
                  "bodies: [{name: c, type: cloth, origin: [0,2,0], u: [1,0,0], v: [0,-1,0],\n"
                  "  nodes: [20,20], mass: 1, pins: [top], springs: {structural: {stiffness: 90,\n"
                  "  yield_at: 0.02, break_at: 1.2}, shear: {stiffness: 9}}}]\n";
    taut_solver *whole = solver_of("%s", scene);
    advance(whole, 700);
    uint64_t broken = taut_solver_broken_count(whole);
    assert_true(broken > 0);
    struct solver_cuts cuts = cuts_of(whole);
    struct frame lists;
    taut_error error = {0};
    assert_int_equal(solver_make_frame(whole, FRAME_LISTS | FRAME_SPRINGS, &lists, &error),
                     TAUT_OK);
    solver_read_frame(whole, FRAME_SPRINGS, &lists);
    uint32_t *left = calloc((size_t)cuts.spring_count, sizeof *left);
    assert_non_null(left);
    uint32_t count = 0;
    uint64_t broken_left = 0;
    for (uint64_t s = 0; s < cuts.spring_count; s++) {
        cuts.springs[s] = (lists.springs[s][0] < 200) != (lists.springs[s][1] < 200);
        broken_left += !cuts.springs[s] && lists.broken[s];
        if (!cuts.springs[s])
            left[count++] = (uint32_t)s;
    }
    taut_solver *parted = cut_solver(scene_of("%s", scene), &cuts, NULL);
    assert_int_equal(taut_solver_spring_count(parted), count);
    assert_int_equal(solver_restore_from(parted, whole, NULL, NULL, &error), TAUT_ERROR_ARGUMENT);
    assert_int_equal(solver_restore_from(parted, whole, NULL, left, &error), TAUT_OK);
    assert_int_equal(taut_solver_broken_count(parted), broken_left);
    for (uint32_t i = 0; i < count; i += 7)
        assert_near(rest_length_of(parted, i), rest_length_of(whole, left[i]), 1e-12);
    taut_solver *again = cut_solver(scene_of("%s", scene), &cuts, NULL);
    advance(parted, 50);
    assert_int_equal(solver_restore_from(again, parted, left, left, &error), TAUT_OK);
    advance(parted, 150);
    advance(again, 150);
    assert_true(taut_solver_hash(parted) == taut_solver_hash(again));
    assert_near(velocity_of(parted, 390).y - velocity_of(whole, 390).y, -9.81 * 0.1, 0.5);
    frame_free(&lists);
    free(left);
    cuts_free(&cuts);
    taut_solver_destroy(whole);
    taut_solver_destroy(parted);
    taut_solver_destroy(again);
}

// A cut body whose springs and elements follow from moduli: a run continues through the cut, and
// another material applies to the rest of both.
static void test_materials_change_after_a_cut(void **state)
{
    (void)state;
    static const char *const scene = HEADER(
        "velocity_verlet",
        "0.0001") "environment: {gravity: [0,-9.81,0]}\n"
                  "bodies: [{name: c, type: cloth, origin: [0,2,0], u: [1,0,0], v: [0,-1,0],\n"
                  "  nodes: [20,20], pins: [top], velocity: [0,0,1], damping_ratio: 0.03125,\n"
                  "  elastic: {young: %d, poisson: 0.4375, density: 200, thickness: 0.002}},\n"
                  "  {name: l, type: lattice, nodes: [9,5,6], spacing: 0.1, pins: [left],\n"
                  "  elastic: {young: %d, poisson: 0.125, density: 100}}]\n";
    taut_solver *whole = solver_of(scene, 20000, 50000);
    struct solver_cuts cuts = cuts_of(whole);
    uint32_t *left = calloc((size_t)cuts.spring_count, sizeof *left);
    assert_non_null(left);
    uint32_t count = 0;
    for (uint64_t s = 0; s < cuts.spring_count; s++) {
        cuts.springs[s] = s % 23 == 4;
        if (!cuts.springs[s])
            left[count++] = (uint32_t)s;
    }
    taut_error error = {0};
    advance(whole, 50);
    taut_solver *cut = cut_solver(scene_of(scene, 20000, 50000), &cuts, NULL);
    assert_int_equal(solver_restore_from(cut, whole, NULL, left, &error), TAUT_OK);
    assert_true(energy_of(cut).elastic < energy_of(whole).elastic);
    advance(cut, 50);

    taut_solver *created = cut_solver(scene_of(scene, 10000, 70000), &cuts, NULL);
    assert_int_equal(solver_restore_from(created, cut, left, left, &error), TAUT_OK);
    for (size_t body = 0; body < 2; body++) {
        taut_elastic elastic;
        assert_int_equal(taut_solver_get_elastic(cut, body, &elastic, &error), TAUT_OK);
        elastic.young = body == 0 ? 10000 : 70000;
        assert_int_equal(taut_solver_set_elastic(cut, body, &elastic, &error), TAUT_OK);
    }
    advance(cut, 50);
    advance(created, 50);
    assert_true(taut_solver_hash(cut) == taut_solver_hash(created));
    free(left);
    cuts_free(&cuts);
    taut_solver_destroy(whole);
    taut_solver_destroy(cut);
    taut_solver_destroy(created);
}

// ---- Bodies on a grid keep their kernel

// Springs between nodes [low, high) and other nodes, and every 97th spring.
static bool is_cut_here(const uint32_t *ends, uint64_t spring, uint32_t low, uint32_t high)
{
    const bool first = ends[0] >= low && ends[0] < high, second = ends[1] >= low && ends[1] < high;
    return first != second || spring % 97 == 5;
}

// A body from which nodes [low, high) are separated, and in which some other springs are cut.
struct cut_grid {
    const char *name, *body;
    uint32_t low, high;
};

static const struct cut_grid cut_grids[] = {
    {"cloth",
     "{name: b, type: cloth, origin: [0,2,0], u: [1.5,0,0], v: [0,-1,0], nodes: [45,80], mass: "
     "0.9,\n"
     "  pins: [top], springs: {structural: {stiffness: 60, damping: 0.01}, shear: {stiffness: 30,\n"
     "  damping: 0.01}, bend: {stiffness: 10, damping: 0.01}}}",
     1000, 1020},
    {"slack cloth",
     "{name: b, type: cloth, origin: [0,2,0], u: [1.5,0,0], v: [0,-1,0], nodes: [33,25], mass: "
     "0.9,\n"
     "  pins: [top], springs: {structural: {stiffness: 60, law: tension_only}, shear: {stiffness: "
     "30,\n"
     "  damping: 0.01, damping_law: full}}}",
     0, 100},
    {"lattice",
     "{name: b, type: lattice, origin: [0,0.02,0], nodes: [17,16,15], spacing: 0.1, mass: 5,\n"
     "  shells: 2, damping: 0.02, velocity: [0,-1,0], pins: [{box: [[-1,-1,-1],[0.01,9,9]]}],\n"
     "  springs: {k1: {stiffness: 200}, k2: {stiffness: 100}, k3: {stiffness: 80},\n"
     "  kb1: {stiffness: 30}, kb2: {stiffness: 20}, kb3: {stiffness: 10}}}",
     1500, 1700},
    {"rope",
     "{name: b, type: rope, from: [0,0,0], to: [3,1,0], nodes: 5000, node_mass: 0.002,\n"
     "  pins: [first], links: skip, springs: {chain: {stiffness: 60, damping: 0.01},\n"
     "  skip: {stiffness: 20, damping: 0.02}}}",
     2048, 2300},
};

static taut_scene *scene_of_cut_grid(const struct cut_grid *grid, const char *integrator,
                                     const char *environment)
{
    return scene_of("precision: double\nsimulation: {integrator: %s, dt: 0.0005, steps: 1}\n"
                    "environment: {gravity: [0.2,-9.81,0.1]%s}\nbodies: [%s]\n",
                    integrator, environment, grid->body);
}

static struct solver_cuts cuts_of_grid(const struct cut_grid *grid, taut_solver *whole)
{
    struct solver_cuts cuts = cuts_of(whole);
    struct frame lists;
    taut_error error = {0};
    assert_int_equal(solver_make_frame(whole, FRAME_LISTS, &lists, &error), TAUT_OK);
    for (uint64_t s = 0; s < cuts.spring_count; s++)
        cuts.springs[s] = is_cut_here(lists.springs[s], s, grid->low, grid->high);
    frame_free(&lists);
    return cuts;
}

static void assert_close(double a, double b, double relative)
{
    assert_near(a, b, relative * fabs(b));
}

// Implicit steps are compared to the tolerance of their linear systems. Fused steps of velocity
// Verlet measure the damping at another time within the step than the plain loops, also of whole
// bodies (2.6% here).
static void assert_like_reference(taut_solver *solver, taut_solver *reference, const char *name,
                                  bool implicit, bool fused_verlet)
{
    const double tolerance = implicit ? 1e-6 : 1e-9, relative = implicit ? 1e-3 : 1e-9;
    const uint64_t count = 3 * taut_solver_node_count(solver);
    double *found = all_positions(solver), *expected = all_positions(reference);
    for (uint64_t i = 0; i < count; i++)
        if (!(fabs(found[i] - expected[i]) < tolerance))
            fail_msg("%s: coordinate %llu is %g, not %g", name, (unsigned long long)i, found[i],
                     expected[i]);
    free(found);
    free(expected);
    const taut_energy energy = energy_of(solver), wanted = energy_of(reference);
    assert_close(energy.elastic, wanted.elastic, relative);
    assert_close(energy.total, wanted.total, relative);
    const struct work_done work = work_of(solver), due = work_of(reference);
    assert_close(work.damping, due.damping, fused_verlet ? 0.05 : relative);
    assert_close(work.wind, due.wind, fused_verlet ? 0.05 : relative);
}

// The kernel of a cut body is that of the whole one, and computes the same as the plain loops:
// motion, energies and energy budget, with integrators that use forces alone, fused steps and
// tangents.
static void test_grids_keep_their_kernel(void **state)
{
    (void)state;
    static const char *const integrators[] = {"symplectic_euler", "velocity_verlet", "rk4",
                                              "implicit_euler"};
    static const char *const winds[] = {"", ", wind: {velocity: [3,0,5], law: face}"};
    for (size_t g = 0; g < sizeof cut_grids / sizeof *cut_grids; g++)
        for (size_t k = 0; k < 8; k++) {
            const struct cut_grid *grid = &cut_grids[g];
            const char *integrator = integrators[k % 4], *wind = winds[k / 4];
            taut_solver *whole = solver_from(scene_of_cut_grid(grid, integrator, wind), NULL);
            assert_string_equal(solver_body_kernel(whole, 0), "grid");
            struct solver_cuts cuts = cuts_of_grid(grid, whole);
            struct solver_options plain = {
                .config = {.threads = 1, .kernel = TAUT_KERNEL_REFERENCE}, .budget = BUDGET_ON};
            struct solver_options two = {.config = {.threads = 2}, .budget = BUDGET_ON};
            taut_solver *reference =
                cut_solver(scene_of_cut_grid(grid, integrator, wind), &cuts, &plain);
            taut_solver *solver =
                cut_solver(scene_of_cut_grid(grid, integrator, wind), &cuts, &two);
            assert_string_equal(solver_body_kernel(solver, 0), "grid");
            assert_int_equal(plan_check(solver_topology(solver), solver_plan(solver), NULL),
                             TAUT_OK);
            assert_int_equal(taut_solver_spring_count(solver), taut_solver_spring_count(reference));
            assert_true(taut_solver_spring_count(solver) < taut_solver_spring_count(whole));
            advance(solver, 20);
            advance(reference, 20);
            assert_like_reference(solver, reference, grid->name, k % 4 == 3, k % 4 == 1);

            struct critical_step bound, expected;
            taut_error error = {0};
            assert_int_equal(solver_critical_step(solver, &bound, &error), TAUT_OK);
            assert_int_equal(solver_critical_step(reference, &expected, &error), TAUT_OK);
            assert_true(bound.known && expected.known);
            assert_near(bound.bound, expected.bound, 0.02 * expected.bound);
            cuts_free(&cuts);
            taut_solver_destroy(whole);
            taut_solver_destroy(solver);
            taut_solver_destroy(reference);
        }
}

struct hashed_cut {
    const struct cut_grid *grid;
    const struct solver_cuts *cuts;
};

static uint64_t hash_of_cut(const void *context, const struct solver_options *options)
{
    const struct hashed_cut *it = context;
    taut_solver *solver =
        cut_solver(scene_of_cut_grid(it->grid, "symplectic_euler", ""), it->cuts, options);
    advance(solver, 10);
    const uint64_t hash = taut_solver_hash(solver);
    taut_solver_destroy(solver);
    return hash;
}

static void test_cut_grids_have_one_hash(void **state)
{
    (void)state;
    for (size_t g = 0; g < sizeof cut_grids / sizeof *cut_grids; g++) {
        taut_solver *whole =
            solver_from(scene_of_cut_grid(&cut_grids[g], "symplectic_euler", ""), NULL);
        struct solver_cuts cuts = cuts_of_grid(&cut_grids[g], whole);
        assert_same_hashes(hash_of_cut, &(struct hashed_cut){&cut_grids[g], &cuts});
        cuts_free(&cuts);
        taut_solver_destroy(whole);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forces_are_those_of_the_rest),
        cmocka_unit_test(test_faces),
        cmocka_unit_test(test_torn_off),
        cmocka_unit_test(test_everything_cut),
        cmocka_unit_test(test_run_continues_through_cuts),
        cmocka_unit_test(test_materials_change_after_a_cut),
        cmocka_unit_test(test_grids_keep_their_kernel),
        cmocka_unit_test(test_cut_grids_have_one_hash),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
