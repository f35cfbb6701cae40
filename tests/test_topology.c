// Compiling a scene: bodies one after the other in flat arrays, complete, and not renumbered within
// a body.
#include "samples.h"

#include <math.h>

static const char *const two_bodies =
    "precision: double\nsimulation: {dt: 0.001, steps: 1}\n"
    "bodies:\n"
    "  - {name: first, type: ring, center: [0,0,0], radius: 2, nodes: 6, mass: 3, pins: [2],\n"
    "     springs: {edges: {stiffness: 10}}}\n"
    "  - {name: second, type: cloth, origin: [0,0,0], u: [2,0,0], v: [0,1,0], nodes: [3,2],\n"
    "     node_mass: 0.25, velocity: [1,2,3], drives: [{node: last, velocity: [0,0,1]}],\n"
    "     springs: {structural: {stiffness: 20}, shear: {stiffness: 30, rest_length: 0.7,\n"
    "     break_at: 2}}}\n";

static void test_bodies_follow_each_other(void **state)
{
    (void)state;
    taut_solver *solver = solver_of("%s", two_bodies);
    const struct topology *t = solver_topology(solver);
    assert_int_equal(t->body_count, 2);
    assert_string_equal(t->bodies[0].name, "first");
    assert_string_equal(t->bodies[1].name, "second");
    assert_int_equal(t->bodies[1].first_node, 6);
    assert_int_equal(t->bodies[1].first_spring, 6);
    assert_int_equal(t->bodies[1].first_face, 6);
    assert_int_equal(t->node_count, 12);
    assert_int_equal(t->spring_count, 6 + 7 + 4);
    assert_int_equal(t->face_count, 6 + 4);
    for (uint64_t node = 0; node < 12; node++)
        assert_int_equal(topology_body_of_node(t, node), node / 6);
    for (uint64_t s = 0; s < t->spring_count; s++) {
        assert_int_equal(topology_spring(t, s).a / 6, s < 6 ? 0 : 1);
        assert_int_equal(topology_spring(t, s).b / 6, s < 6 ? 0 : 1);
        assert_int_equal(topology_body_of_spring(t, s), s < 6 ? 0 : 1);
    }
    assert_int_equal(t->listed_count, 6); // the ring's; the cloth has directions
    assert_int_equal(t->direction_count, 4);
    assert_near(t->bodies[0].mass, 3, 1e-15);
    assert_near(t->bodies[1].mass, 6 * 0.25, 1e-15);
    taut_solver_destroy(solver);
}

static void test_edges_and_triangles(void **state)
{
    (void)state;
    taut_solver *solver = solver_of("%s", two_bodies);
    const struct topology *t = solver_topology(solver);
    for (uint64_t f = 0; f < 6; f++) {
        assert_int_equal(topology_face(t, f).nodes[0], f);
        assert_int_equal(topology_face(t, f).nodes[1], (f + 1) % 6);
        assert_true(topology_face(t, f).nodes[2] == FACE_EDGE);
    }
    for (uint64_t f = 6; f < 10; f++)
        for (int corner = 0; corner < 3; corner++)
            assert_true(topology_face(t, f).nodes[corner] >= 6 &&
                        topology_face(t, f).nodes[corner] < 12);
    assert_true(t->bodies[0].closed);
    assert_false(t->bodies[1].closed);
    taut_solver_destroy(solver);
}

// Rest lengths: the material's if it has one, otherwise the distance as built; each kind has its
// material.
static void test_rest_lengths_and_materials(void **state)
{
    (void)state;
    taut_solver *solver = solver_of("%s", two_bodies);
    const struct topology *t = solver_topology(solver);
    for (uint64_t s = 0; s < t->spring_count; s++) {
        struct spring_run spring = topology_spring(t, s);
        vec3 d = vec3_subtract(position_of(solver, spring.a), position_of(solver, spring.b));
        const struct material *material = &t->materials[spring.material];
        bool shear = s >= 6 + 7;
        assert_near(material->stiffness, s < 6 ? 10 : shear ? 30 : 20, 0);
        assert_near(spring.rest_length, shear ? 0.7 : vec3_length(d), 1e-15);
    }
    assert_true(t->any_breaks);
    assert_false(t->any_yields);
    taut_solver_destroy(solver);
}

// Runs of every length agree with their single springs, and end at the end of a row, a direction or
// a body.
static void test_runs(void **state)
{
    (void)state;
    for (size_t sample = 0; sample < sample_count; sample++) {
        taut_solver *solver = sample_solver(&samples[sample], "single", "verlet", NULL);
        const struct topology *t = solver_topology(solver);
        struct spring_run near = {0};
        for (uint64_t s = 0; s < t->spring_count;) {
            uint64_t end = s + 1 + s % 7 < t->spring_count ? s + 1 + s % 7 : t->spring_count;
            struct spring_run run = topology_run(t, s, end);
            assert_true(run.first == s && run.count > 0 && s + run.count <= end);
            for (uint64_t i = 0; i < run.count; i++) {
                struct spring_run one = topology_spring(t, s + i);
                struct spring_run same = topology_spring_near(t, s + i, &near);
                assert_true(one.first == same.first && one.count == 1 && same.count == 1);
                assert_true(one.a == same.a && one.b == same.b && one.material == same.material);
                assert_near(one.rest_length, same.rest_length, 0);
                assert_int_equal(one.a, run.a + i);
                assert_int_equal(one.b, run.b + i);
                assert_int_equal(one.material, run.material);
                assert_near(one.rest_length, run.rest_length, 0);
            }
            s += run.count;
        }
        taut_solver_destroy(solver);
    }
}

static void test_pinned_and_kinematic_nodes(void **state)
{
    (void)state;
    taut_solver *solver = solver_of("%s", two_bodies);
    const struct topology *t = solver_topology(solver);
    for (uint64_t node = 0; node < 12; node++)
        assert_int_equal(topology_is_kinematic(t, node), node == 2 || node == 11);
    assert_int_equal(t->motion_count, 1);
    assert_int_equal(t->motions[0].node, 11);
    assert_int_equal(t->drive_piece_count, 1);
    assert_true(t->motions[0].pieces == t->drive_pieces);
    assert_vector_near(velocity_of(solver, 11), vec3_make(0, 0, 1), 0);
    assert_vector_near(velocity_of(solver, 10), vec3_make(1, 2, 3), 0);
    assert_vector_near(velocity_of(solver, 2), vec3_make(0, 0, 0), 0);
    taut_solver_destroy(solver);
}

// The scene may be destroyed once the solver exists: everything was copied.
static void test_scene_may_go(void **state)
{
    (void)state;
    for (size_t s = 0; s < sample_count; s++) {
        taut_solver *solver = sample_solver(&samples[s], "single", "verlet", NULL); // destroys the
                                                                                    // scene
        advance(solver, 3);
        assert_true(topology_bytes(solver_topology(solver)) > sizeof *solver_topology(solver));
        assert_true(solver_bytes(solver) > topology_bytes(solver_topology(solver)));
        taut_solver_destroy(solver);
    }
}

// The public view of bodies: names, counts, positions in builder order.
static void test_bodies_through_the_api(void **state)
{
    (void)state;
    taut_solver *solver = solver_of("%s", two_bodies);
    assert_int_equal(taut_solver_body_count(solver), 2);
    assert_int_equal(taut_solver_find_body(solver, "second"), 1);
    assert_int_equal(taut_solver_find_body(solver, "third"), -1);
    assert_string_equal(taut_solver_body_name(solver, 1), "second");
    assert_int_equal(taut_solver_body_node_count(solver, 1), 6);
    double positions[18], velocities[18];
    taut_solver_get_positions(solver, 1, positions);
    taut_solver_get_velocities(solver, 1, velocities);
    for (int j = 0; j < 2; j++)
        for (int i = 0; i < 3; i++) {
            const double *p = &positions[3 * (3 * j + i)];
            assert_vector_near(vec3_make(p[0], p[1], p[2]), vec3_make(i, j, 0), 1e-15);
        }
    assert_near(velocities[1], 2, 0);
    assert_near(taut_solver_body_volume(solver, 0), 3 * 4 * sin(PI / 3), 1e-12);
    assert_near(taut_solver_body_volume(solver, 1), 0, 0);
    taut_solver_destroy(solver);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bodies_follow_each_other),
        cmocka_unit_test(test_edges_and_triangles),
        cmocka_unit_test(test_rest_lengths_and_materials),
        cmocka_unit_test(test_runs),
        cmocka_unit_test(test_pinned_and_kinematic_nodes),
        cmocka_unit_test(test_scene_may_go),
        cmocka_unit_test(test_bodies_through_the_api),
    };
    return cmocka_run_group_tests_name("topology", tests, NULL, NULL);
}
