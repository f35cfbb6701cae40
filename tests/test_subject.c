// Subjects of a solver (picture/subject.h): their nodes, springs and faces by number, and their
// frames.
#include "physics.h"

#include <string.h>

#include "picture/subject.h"

// A cloth, whose springs follow from its grid; a ring in the same plane; and a network, whose nodes
// may be renumbered internally. One spring breaks at once.
static const char scene_text[] =
    "precision: double\n"
    "simulation: {integrator: symplectic_euler, dt: 0.001, steps: 10}\n"
    "environment: {gravity: [0, 0, -9.81], wind: {velocity: [1, 2, 3], law: quadratic,\n"
    "  gusts: [{amplitude: [1, 0, 0], period: 4, phase: 0}]}}\n"
    "bodies:\n"
    "  - {name: cloth, type: cloth, origin: [0, 0, 0], u: [1, 0, 0], v: [0, 0.5, 0], nodes: [9, "
    "6],\n"
    "     mass: 1, pins: [left], springs: {structural: {stiffness: 100}, bend: {stiffness: 7}}}\n"
    "  - {name: hoop, type: ring, center: [3, 0, 0], radius: 1, nodes: 12, mass: 1,\n"
    "     springs: {edges: {stiffness: 50}}}\n"
    "  - name: net\n"
    "    type: network\n"
    "    nodes: [[5, 0, 0], [6, 0, 0], [6, 1, 0], [5, 1, 0]]\n"
    "    node_mass: 0.5\n"
    "    drives: [{node: 3, velocity: [[0, [0, 1, 0]]]}]\n"
    "    stiffness: 10\n"
    "    springs: [[0, 1], [2, 1], [3, 2, {rest_length: 0.5, break_at: 1.5}], [0, 3]]\n"
    "colliders:\n"
    "  - {type: plane, point: [0, 0, -5], normal: [0, 0, 1], stiffness: 100}\n"
    "  - {type: sphere, center: [0, 0, -3], radius: 0.5, velocity: [0, 0, 2], stiffness: 100}\n";

static struct subject subject_of(const taut_solver *solver, uint64_t springs_max)
{
    struct subject subject;
    taut_error error = {0};
    struct subject_options options = {springs_max};
    if (subject_make(solver, &options, &subject, &error) != TAUT_OK)
        fail_msg("%s", error.text);
    return subject;
}

static struct frame frame_of(const struct subject *subject)
{
    struct frame frame;
    taut_error error = {0};
    if (subject_make_frame(subject, SUBJECT_STRAINS, &frame, &error) != TAUT_OK)
        fail_msg("%s", error.text);
    return frame;
}

static struct frame view_of(taut_solver *solver)
{
    struct frame view;
    taut_error error = {0};
    unsigned all = FRAME_NODES | FRAME_SPRINGS | FRAME_LISTS;
    if (solver_make_frame(solver, all, &view, &error) != TAUT_OK)
        fail_msg("%s", error.text);
    solver_read_frame(solver, all, &view);
    return view;
}

static void test_springs_and_faces_are_those_of_the_bodies(void **state)
{
    (void)state;
    taut_solver *solver = solver_of(scene_text);
    struct subject subject = subject_of(solver, UINT64_MAX);
    struct frame view = view_of(solver);
    assert_int_equal(subject.spring_count, view.shape.spring_count);
    assert_null(subject.number_count ? subject.spring_numbers : NULL);
    for (size_t b = 0; b < subject.body_count; b++) {
        const struct subject_body *body = &subject.bodies[b];
        const struct frame_body *same = &view.bodies[b];
        assert_string_equal(body->name, same->name);
        for (uint64_t i = 0; i < body->spring_count; i++)
            for (int end = 0; end < 2; end++)
                assert_int_equal(subject.springs[body->first_spring + i][end],
                                 body->first_node + same->springs[i][end]);
        for (uint64_t i = 0; i < body->face_count; i++)
            for (int c = 0; c < 3; c++) {
                int corner = c < body->face_arity ? c : 1;
                uint64_t at = i * (uint64_t)body->face_arity + (uint64_t)corner;
                assert_int_equal(subject.faces[body->first_face + i][c],
                                 body->first_node + same->faces[at]);
            }
    }
    assert_int_equal(subject.bodies[0].face_arity, 3);
    assert_int_equal(subject.bodies[1].face_arity, 2);
    frame_free(&view);
    subject_free(&subject);
    taut_solver_destroy(solver);
}

static void test_springs_know_kind_rest_length_and_stiffness(void **state)
{
    (void)state;
    taut_solver *solver = solver_of(scene_text);
    struct subject subject = subject_of(solver, UINT64_MAX);
    uint64_t structural = 8 * 6 + 9 * 5, cloth = subject.bodies[0].spring_count;
    assert_int_equal(cloth, structural + 7 * 6 + 9 * 4);
    for (uint64_t i = 0; i < cloth; i++) {
        bool bends = i >= structural;
        assert_int_equal(subject.kinds[i], bends ? 2 : 0);
        assert_true(subject.stiffnesses[i] == (bends ? 7 : 100));
        double unit = subject.springs[i][1] - subject.springs[i][0] < 9 ? 1.0 / 8 : 0.1;
        assert_float_equal(subject.rest_lengths[i], bends ? 2 * unit : unit, 1e-6);
    }
    uint64_t last = subject.bodies[2].first_spring;
    assert_float_equal(subject.rest_lengths[last + 2], 0.5, 0);
    assert_float_equal(subject.stiffnesses[last + 2], 10, 0);
    subject_free(&subject);
    taut_solver_destroy(solver);
}

static void test_pinned_and_kinematic_nodes_and_the_up_direction(void **state)
{
    (void)state;
    taut_solver *solver = solver_of(scene_text);
    struct subject subject = subject_of(solver, 0);
    uint64_t net = subject.bodies[2].first_node;
    for (uint64_t node = 0; node < subject.node_count; node++) {
        enum pin expected = node < 9 * 6 && node % 9 == 0 ? PIN_FIXED
                            : node == net + 3             ? PIN_KINEMATIC
                                                          : PIN_NONE;
        assert_int_equal(subject.pins[node], expected);
    }
    assert_true(subject.up[0] == 0 && subject.up[1] == 0 && subject.up[2] == 1);
    assert_float_equal(subject.low[0], 0, 1e-6);
    assert_float_equal(subject.high[0], 6, 1e-6);
    assert_false(subject.flat); // gravity is not in the plane
    assert_int_equal(subject.spring_count, 0);
    subject_free(&subject);
    taut_solver_destroy(solver);
}

static void test_a_frame_is_what_output_sees(void **state)
{
    (void)state;
    taut_solver *solver = solver_of(scene_text);
    advance(solver, 10);
    struct subject subject = subject_of(solver, UINT64_MAX);
    struct frame shown = frame_of(&subject);
    solver_read_frame(solver, shown.allocated, &shown);
    struct frame view = view_of(solver);
    const struct frame *frame = &shown;
    assert_int_equal(frame->step, 10);
    for (uint64_t i = 0; i < 3 * subject.node_count; i++)
        assert_true(frame->drawn_positions[i] == (float)view.positions[i]);
    for (uint64_t i = 0; i < subject.spring_count; i++) {
        assert_true(frame->drawn_strains[i] == (float)view.strains[i]);
        assert_int_equal(frame->drawn_broken[i], i == subject.bodies[2].first_spring + 2);
    }
    assert_true(frame->colliders[0].radius == 0);
    assert_float_equal(frame->colliders[1].centre[2], -3 + 2 * 0.01, 1e-6);
    assert_float_equal(frame->colliders[1].radius, 0.5, 0);
    assert_float_equal(frame->wind[0], 1 + sin(2 * PI * 0.01 / 4), 1e-6);
    assert_float_equal(frame->wind[2], 3, 1e-6);
    frame_free(&view);
    frame_free(&shown);
    subject_free(&subject);
    taut_solver_destroy(solver);
}

static void test_a_part_of_the_springs_is_scattered_over_all(void **state)
{
    (void)state;
    taut_solver *solver = solver_of(scene_text);
    advance(solver, 10);
    struct subject all = subject_of(solver, UINT64_MAX), part = subject_of(solver, 60);
    struct frame whole = frame_of(&all), some = frame_of(&part);
    solver_read_frame(solver, whole.allocated, &whole);
    solver_read_frame(solver, some.allocated, &some);
    assert_in_range(part.spring_count, 30, 60);
    assert_int_equal(part.springs_in_all, all.spring_count);
    unsigned rows = 0, columns = 0;
    for (uint64_t i = 0; i < part.spring_count; i++) {
        uint64_t number = part.spring_numbers[i];
        assert_true(i == 0 || number > part.spring_numbers[i - 1]);
        assert_memory_equal(part.springs[i], all.springs[number], sizeof part.springs[i]);
        assert_true(part.rest_lengths[i] == all.rest_lengths[number]);
        assert_int_equal(part.kinds[i], all.kinds[number]);
        assert_true(some.drawn_strains[i] == whole.drawn_strains[number]);
        rows |= 1u << part.springs[i][0] / 9 % 6;
        columns |= 1u << part.springs[i][0] % 9;
    }
    assert_int_equal(rows, 0x3f); // every row of the cloth has springs
    assert_int_equal(columns, 0x1ff);
    frame_free(&whole);
    frame_free(&some);
    subject_free(&all);
    subject_free(&part);
    taut_solver_destroy(solver);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_springs_and_faces_are_those_of_the_bodies),
        cmocka_unit_test(test_springs_know_kind_rest_length_and_stiffness),
        cmocka_unit_test(test_pinned_and_kinematic_nodes_and_the_up_direction),
        cmocka_unit_test(test_a_frame_is_what_output_sees),
        cmocka_unit_test(test_a_part_of_the_springs_is_scattered_over_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
