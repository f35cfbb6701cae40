// Networks listed in the scene file.
#include "builders_fixture.h"

#include <stdio.h>

static const vec3 built[3] = {{0, 0, 0}, {1, 0, 0}, {1, 2, 0}};

// Lists that tests change: three nodes, three springs of two materials.
struct lists {
    vec3 positions[3], velocities[3];
    double masses[3];
    uint32_t springs[3][2], spring_materials[3];
    mark marks[3];
    struct material materials[2];
};

static struct scene_body *add_listed(struct fixture *fixture, struct lists *lists)
{
    *lists = (struct lists){.masses = {1, 2, 3},
                            .velocities = {{0, 0, 0}, {0, 1, 0}, {0, 0, 5}},
                            .springs = {{0, 1}, {2, 1}, {0, 2}},
                            .spring_materials = {0, 1, 0},
                            .marks = {{21, 3}, {22, 3}, {23, 3}},
                            .materials = {fixture_material(5), fixture_material(7)}};
    memcpy(lists->positions, built, sizeof built);
    struct scene_body *given = fixture_add(fixture, BODY_NETWORK, "truss");
    given->shape.network = (struct scene_network){.positions = lists->positions,
                                                  .velocities = lists->velocities,
                                                  .masses = lists->masses,
                                                  .node_count = 3,
                                                  .springs = lists->springs,
                                                  .spring_materials = lists->spring_materials,
                                                  .spring_marks = lists->marks,
                                                  .spring_count = 3,
                                                  .materials = lists->materials,
                                                  .material_count = 2};
    return given;
}

static void test_listed(void **state)
{
    (void)state;
    struct fixture fixture;
    struct lists lists;
    fixture_begin(&fixture);
    struct scene_body *given = add_listed(&fixture, &lists);
    struct selector pin = fixture_node(2);
    given->pins = &pin;
    given->pin_count = 1;
    given->translate = vec3_make(10, 0, 0);
    const struct body *body = fixture_build(&fixture);
    lists = (struct lists){0}; // the body has copies
    assert_int_equal(body->node_count, 3);
    assert_position(body, 2, 11, 2, 0);
    assert_velocity(body, 1, 0, 1, 0);
    assert_velocity(body, 2, 0, 0, 0); // pinned
    assert_true(body->masses[0] == 1 && body->masses[1] == 2 && body->masses[2] == 3);
    // As listed, with the ends not exchanged.
    assert_int_equal(body->springs[1][0], 2);
    assert_int_equal(body->springs[1][1], 1);
    assert_int_equal(kind_count(body, 0), 3);
    assert_int_equal(body->material_count, 2);
    assert_true(body->materials[body->spring_materials[1]].stiffness == 7.0);
    assert_true(body->materials[body->spring_materials[2]].stiffness == 5.0);
    assert_null(body->rest_lengths);
    assert_int_equal(body->face_count, 0);
    fixture_reset(&fixture);
}

static void test_listed_without_masses_and_velocities(void **state)
{
    (void)state;
    struct fixture fixture;
    struct lists lists;
    fixture_begin(&fixture);
    struct scene_body *given = add_listed(&fixture, &lists);
    given->shape.network.masses = NULL;
    given->shape.network.velocities = NULL;
    given->mass = 6;
    given->velocity = vec3_make(0, 0, 1);
    const struct body *body = fixture_build(&fixture);
    assert_true(body->masses[1] == 2.0);
    assert_velocity(body, 1, 0, 0, 1);
    fixture_reset(&fixture);
}

static void test_listed_without_springs(void **state)
{
    (void)state;
    struct fixture fixture;
    struct lists lists;
    fixture_begin(&fixture);
    struct scene_body *given = add_listed(&fixture, &lists);
    given->shape.network.spring_count = 0;
    given->shape.network.material_count = 0;
    const struct body *body = fixture_build(&fixture);
    assert_int_equal(body->node_count, 3);
    assert_int_equal(body->spring_count, 0);
    fixture_reset(&fixture);
}

static void test_listed_refusals(void **state)
{
    (void)state;
    struct fixture fixture;
    struct lists lists;
    fixture_begin(&fixture);
    struct scene_body *given = add_listed(&fixture, &lists);
    lists.springs[1][0] = 3;
    fixture_refuse(&fixture, NULL, (mark){22, 3}, "there is no node 3: the nodes are 0 to 2");
    lists.springs[1][0] = 1;
    fixture_refuse(&fixture, NULL, (mark){22, 3},
                   "a spring joins two different nodes, not 1 with itself");
    lists.springs[1][0] = 2;
    lists.springs[2][0] = 1;
    fixture_refuse(&fixture, NULL, (mark){23, 3},
                   "nodes 1 and 2 have a spring already, in line 22");
    lists.springs[2][0] = 0;
    lists.masses[1] = -2;
    fixture_refuse(&fixture, NULL, body_mark,
                   "node 1 of body 'truss' has mass -2; it must be above 0");
    lists.masses[1] = 2;
    given->velocity = vec3_make(0, 0, 1);
    fixture_refuse(&fixture, NULL, body_mark,
                   "body 'truss' has 'velocity', but its nodes have velocities of their own");
    given->velocity = vec3_make(0, 0, 0);
    given->shape.network.node_count = given->shape.network.spring_count = 0;
    fixture_refuse(&fixture, NULL, body_mark, "network 'truss' has no nodes");
}

// A spring between nodes at the same position has a rest length of 0 as built, to which limits
// would be relative.
static void test_limits_of_springs_without_length(void **state)
{
    (void)state;
    static const char *const keys[] = {"break_at", "yield_at"};
    for (size_t i = 0; i < 2; i++) {
        struct fixture fixture;
        struct lists lists;
        char expected[300];
        fixture_begin(&fixture);
        struct scene_body *given = add_listed(&fixture, &lists);
        struct material *material = &lists.materials[1];
        *(i == 0 ? &material->break_at : &material->yield_at) = 1.5;
        fixture_build(&fixture); // the ends of spring 1 are apart
        fixture_reset(&fixture);
        lists.positions[2] = lists.positions[1];
        given->rotate = vec3_make(10, 20, 30);
        snprintf(expected, sizeof expected,
                 "nodes 2 and 1 of body 'truss' are at the same place, so that the rest length of "
                 "the spring between them is 0, and '%s' is exceeded at once; move one of them, "
                 "leave out '%s', or give a 'rest_length' above 0",
                 keys[i], keys[i]);
        fixture_refuse(&fixture, NULL, (mark){22, 3}, expected);
        material->law = LAW_COMPRESSION_ONLY; // slack at any length
        fixture_build(&fixture);
        fixture_reset(&fixture);
        material->law = LAW_LINEAR;
        material->has_rest_length = true;
        material->rest_length = 0.5;
        fixture_build(&fixture);
        fixture_reset(&fixture);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_listed),
        cmocka_unit_test(test_listed_without_masses_and_velocities),
        cmocka_unit_test(test_listed_without_springs),
        cmocka_unit_test(test_listed_refusals),
        cmocka_unit_test(test_limits_of_springs_without_length),
    };
    return cmocka_run_group_tests_name("builders_network", tests, NULL, NULL);
}
