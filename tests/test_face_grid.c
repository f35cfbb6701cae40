// Faces of cloths on grids: found where they are regular and nowhere else, and verified by the
// plan's checker; the wind on them equals that of the plain loops over faces, with the same bits on
// every instruction set and number of threads.
#include "physics.h"
#include "solver/internals.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const laws[] = {"law: node, coefficient: 1.7", "law: face, coefficient: 1.7",
                                   "law: quadratic, density: 1.3, drag: 0.9"};

#define CLOTH                                                                                      \
    "{name: c, type: cloth, u: [%g,0.1,0], v: [0,0.8,0.2], nodes: [%d,%d], node_mass: 1, pins: "   \
    "[left],\n  springs: {structural: {stiffness: 30}}}"

#define OTHER                                                                                      \
    "{name: d, type: cloth, u: [%g,0,0], v: [0,0,0.5], nodes: [%d,%d], node_mass: 1, stiffness: "  \
    "3}"

static taut_solver *cloth_of(int nu, int nv, const char *law, bool relative,
                             const struct solver_options *options)
{
    return solver_from(scene_of(HEADER("symplectic_euler", "0.001") "environment: {wind: "
                                                                    "{velocity: [3,1,-2], %s, "
                                                                    "relative: %s}}\n"
                                                                    "bodies: [" CLOTH "]\n",
                                law, relative ? "true" : "false", 0.1 * nu, nu, nv),
                       options);
}

static void expect_grid(const char *body, bool expected)
{
    taut_solver *solver =
        solver_of(HEADER("symplectic_euler", "0.001") "environment: {wind: {velocity: [1,0,0]}}\n"
                                                      "bodies:\n  - {name: b, %s}\n",
                  body);
    assert_int_equal(plan_check(solver_topology(solver), solver_plan(solver), NULL), TAUT_OK);
    assert_int_equal(plan_face_grid_of_body(solver_plan(solver), 0) != NULL, expected);
    assert_true(solver_plan(solver)->faces.element_count ==
                (expected ? 0 : taut_solver_face_count(solver)));
    taut_solver_destroy(solver);
}

static void test_cloths_are_grids_of_faces(void **state)
{
    (void)state;
    expect_grid("type: cloth, u: [1,0,0], v: [0,1,0], nodes: [4,2], mass: 1, stiffness: 5", true);
    expect_grid("type: cloth, u: [1,0,0], v: [0,1,0], nodes: [3,9], mass: 1, stiffness: 5", false);
    // Springs that are not on a grid do not affect the faces.
    expect_grid("type: cloth, u: [1,0,0], v: [0,1,0], nodes: [9,7], mass: 1, stiffness: 5,\n"
                "     break_at: 2",
                true);
    expect_grid("type: lattice, nodes: [5,4,1], spacing: 0.1, mass: 1, stiffness: 9", false);
    expect_grid("type: lattice, nodes: [5,4,3], spacing: 0.1, mass: 1, stiffness: 9", false);
    expect_grid("type: sphere, center: [0,0,0], radius: 1, subdivisions: 1, mass: 1, stiffness: 9",
                false);
    expect_grid("type: ring, center: [0,0,0], radius: 1, nodes: 9, mass: 1, stiffness: 9", false);
}

// Two triangles per cell, found by arithmetic; the checker finds a grid that is not the cloth's.
static void test_faces_of_a_sheet(void **state)
{
    (void)state;
    taut_solver *solver = cloth_of(7, 5, laws[1], true, NULL);
    struct topology *topology = solver_topology_for_tests(solver);
    struct plan_face_grid grid;
    assert_true(face_grid_find(topology, 0, &grid));
    assert_int_equal(topology->listed_face_count, 0);
    for (uint32_t j = 0, face = 0; j < 4; j++)
        for (uint32_t i = 0; i < 6; i++, face += 2) {
            const uint32_t a = 7 * j + i, c = a + 7;
            const uint32_t expected[2][3] = {{a, a + 1, c + 1}, {a, c + 1, c}};
            for (uint32_t half = 0; half < 2; half++) {
                struct face it = topology_face(topology, face + half);
                assert_memory_equal(it.nodes, expected[half], sizeof it.nodes);
            }
        }
    assert_int_equal(plan_check(topology, solver_plan(solver), NULL), TAUT_OK);
    solver_plan_for_tests(solver)->face_grids[0].ny--;
    assert_int_not_equal(plan_check(topology, solver_plan(solver), NULL), TAUT_OK);
    taut_solver_destroy(solver);
}

static void crumple(taut_solver *solver)
{
    uint64_t seed = 17, nodes = taut_solver_node_count(solver);
    for (uint64_t i = 0; i < nodes; i++) {
        vec3 by = vec3_make(next_random(&seed), next_random(&seed), next_random(&seed));
        put(solver, i, vec3_add(position_of(solver, i), vec3_scale(0.02, by)));
        by = vec3_make(next_random(&seed), next_random(&seed), next_random(&seed));
        if (!topology_is_kinematic(solver_topology(solver), i))
            put_velocity(solver, i, by);
    }
    put(solver, nodes - 1, position_of(solver, nodes - 2)); // faces without area
    put(solver, 1, position_of(solver, 0));
}

// Both have the forces of springs, from the same kernel.
static void compare_with_plain_faces(int nu, int nv, int law, bool relative, int isa)
{
    struct solver_options plain = {.config = {.kernel = TAUT_KERNEL_REFERENCE}};
    struct solver_options grid = {.config = {.threads = 2, .isa = (taut_isa)(TAUT_ISA_BASE + isa)}};
    taut_solver *a = cloth_of(nu, nv, laws[law], relative, &plain);
    taut_solver *b = cloth_of(nu, nv, laws[law], relative, &grid);
    assert_non_null(plan_face_grid_of_body(solver_plan(b), 0));
    assert_null(plan_face_grid_of_body(solver_plan(a), 0));
    crumple(a);
    crumple(b);
    assert_same_forces(a, b, 1e-12);
    taut_solver_destroy(a);
    taut_solver_destroy(b);
}

// Rows that end in every lane of a register, with each law and both kinds of wind.
static void test_rows_of_every_length(void **state)
{
    (void)state;
    for (int isa = 0; isa < ISA_COUNT; isa++)
        for (int nodes = 4; isa_available((enum isa)isa) && nodes < 36; nodes++)
            for (int law = 0; law < 3; law++)
                compare_with_plain_faces(nodes, 3 + nodes % 3, law, nodes % 2 != 0, isa);
}

// More than one column of a row, more than one round of the ring of rows.
static void test_wide_and_long_cloths(void **state)
{
    (void)state;
    for (int isa = 0; isa < ISA_COUNT; isa++) {
        if (!isa_available((enum isa)isa))
            continue;
        compare_with_plain_faces(1031, 3, isa % 3, true, isa);
        compare_with_plain_faces(512, 4, (isa + 1) % 3, true, isa);
        compare_with_plain_faces(6, 3001, (isa + 2) % 3, true, isa);
    }
}

struct blown {
    const char *precision, *law;
};

static uint64_t hash_of(const void *context, const struct solver_options *options)
{
    const struct blown *blown = context;
    taut_solver *solver =
        solver_from(scene_of("precision: %s\nsimulation: {dt: 0.0001, steps: 1}\n"
                             "environment: {wind: {velocity: [3,1,-2], %s}}\n"
                             "bodies: [" CLOTH ", " OTHER "]\n",
                             blown->precision, blown->law, 104., 1040, 21, 0.5, 5, 4),
                    options);
    advance(solver, 4);
    uint64_t hash = taut_solver_hash(solver);
    taut_solver_destroy(solver);
    return hash;
}

static void test_same_bits_everywhere(void **state)
{
    (void)state;
    for (int law = 0; law < 3; law++) {
        assert_same_hashes(hash_of, &(struct blown){"single", laws[law]});
        assert_same_hashes(hash_of, &(struct blown){"double", laws[law]});
    }
}

// Cloths whose sweep includes the wind: several tiles, waiting rows as long as the ring and
// shorter, a cloth after other nodes.
static const char *const swept[] = {
    "u: [4,0.1,0], v: [0,9,0.4], nodes: [41,330], damping: 0.1",
    "u: [9,0.1,0], v: [0,4,0.4], nodes: [130,64], damping: 0",
    "u: [4,0.1,0], v: [0,4,0.4], nodes: [32,40], damping: 0.1",
    "u: [9,0.1,0], v: [0,3,0.4], nodes: [528,35], damping: 0",
};

enum { SWEPT = sizeof swept / sizeof swept[0] };

struct blown_cloth {
    const char *precision, *cloth;
    bool relative, behind;
};

static taut_solver *blown_cloth(const struct blown_cloth *blown, bool work,
                                const struct solver_options *options)
{
    const char *before = "{name: a, type: rope, from: [0,2,0], to: [1,2,0], nodes: 21, node_mass: "
                         "1, stiffness: 5}, ";
    return solver_from(
        scene_of(
            "precision: %s\n"
            "simulation: {integrator: symplectic_euler, dt: 0.001, steps: 1}\n"
            "environment: {wind: {velocity: [3,1,-2], %s, relative: %s, gusts: [{amplitude: "
            "[1,0,1], period: 0.1}]}}\n"
            "output: {work: %s}\n"
            "bodies: [%s{name: c, type: cloth, node_mass: 1, stiffness: 6, pins: [left], %s}]\n",
            blown->precision, laws[1], blown->relative ? "true" : "false", work ? "true" : "false",
            blown->behind ? before : "", blown->cloth),
        options);
}

// With the energy budget the sweep does not move nodes, and so does not include the wind.
static uint64_t swept_hash(const void *context, const struct solver_options *options)
{
    const struct blown_cloth *blown = context;
    taut_solver *solver = blown_cloth(blown, options->config.threads % 2 == 0, options);
    if (strcmp(blown->precision, "double") == 0)
        crumple(solver);
    advance(solver, 9);
    uint64_t hash = taut_solver_hash(solver);
    taut_solver_destroy(solver);
    return hash;
}

static void test_sweep_does_the_wind(void **state)
{
    (void)state;
    for (int cloth = 0; cloth < SWEPT; cloth++)
        for (int kind = 0; kind < 4; kind++) {
            const char *precision = (cloth + kind) % 2 ? "double" : "single";
            const struct blown_cloth blown = {precision, swept[cloth], kind % 2 != 0, kind >= 2};
            assert_same_hashes(swept_hash, &blown);
        }
}

// Wind in the sweep moves nodes like that of the plain loops.
static void test_swept_wind_is_that_of_plain_faces(void **state)
{
    (void)state;
    struct solver_options plain = {.config = {.kernel = TAUT_KERNEL_REFERENCE}};
    for (int cloth = 0; cloth < SWEPT; cloth++) {
        const struct blown_cloth blown = {"double", swept[cloth], cloth % 2 == 0, true};
        taut_solver *a = blown_cloth(&blown, false, &plain);
        taut_solver *b = blown_cloth(&blown, false, NULL);
        crumple(a);
        crumple(b);
        advance(a, 3);
        advance(b, 3);
        for (uint64_t i = 0; i < taut_solver_node_count(a); i++) {
            vec3 apart = vec3_subtract(position_of(a, i), position_of(b, i));
            assert_near(vec3_length(apart), 0, 1e-12);
        }
        taut_solver_destroy(a);
        taut_solver_destroy(b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cloths_are_grids_of_faces),
        cmocka_unit_test(test_faces_of_a_sheet),
        cmocka_unit_test(test_rows_of_every_length),
        cmocka_unit_test(test_wide_and_long_cloths),
        cmocka_unit_test(test_same_bits_everywhere),
        cmocka_unit_test(test_sweep_does_the_wind),
        cmocka_unit_test(test_swept_wind_is_that_of_plain_faces),
    };
    return cmocka_run_group_tests_name("face_grid", tests, NULL, NULL);
}
