// Bodies of one mass: oscillator and pendulum with every model.
#include "builders_fixture.h"

static const vec3 down = {0, -9.81, 0};

static struct scene_body *add_oscillator(struct fixture *fixture, enum oscillator_model model)
{
    struct scene_body *given = fixture_add(fixture, BODY_OSCILLATOR, "mass");
    given->shape.oscillator = (struct scene_oscillator){
        .model = model, .anchor = {1, 2, 3}, .axis = {0, -2, 0}, .amplitude = 0.1, .phase = 30};
    given->mass = 2;
    fixture_kind(given, 0, 50);
    given->kinds[0].material.has_rest_length = true;
    given->kinds[0].material.rest_length = 0.8;
    given->kinds[0].material.damping = 4;
    return given;
}

static struct scene_body *add_pendulum(struct fixture *fixture, enum pendulum_model model)
{
    struct scene_body *given = fixture_add(fixture, BODY_PENDULUM, "bob");
    given->shape.pendulum = (struct scene_pendulum){
        .model = model, .pivot = {1, 2, 3}, .direction = {2, 5, 0}, .length = 0.5, .angle = 60};
    given->mass = 2;
    fixture_kind(given, 0, 50);
    return given;
}

// ---- Oscillator

static void test_oscillator_on_a_spring(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_begin(&fixture);
    fixture.scene.environment.gravity = down;
    add_oscillator(&fixture, OSCILLATOR_SPRING);
    const struct body *body = fixture_build(&fixture);
    // About the equilibrium m g / k below the rest length; omega = 5, decay = 1.
    double equilibrium = 0.8 + 2 * 9.81 / 50;
    double displacement = 0.1 * cos(PI / 6);
    double speed = -0.1 * (cos(PI / 6) + sqrt(24) * sin(PI / 6));
    assert_int_equal(fixture.diagnostics.count, 0);
    assert_int_equal(body->node_count, 2);
    assert_int_equal(body->spring_count, 1);
    assert_int_equal(body->motion_count, 0);
    assert_int_equal(body->kinematic[0], 1);
    assert_int_equal(body->kinematic[1], 0);
    assert_true(body->masses[1] == 2.0);
    assert_position(body, 0, 1, 2, 3);
    assert_position(body, 1, 1, 2 - equilibrium - displacement, 3);
    assert_velocity(body, 0, 0, 0, 0);
    assert_velocity(body, 1, 0, -speed, 0);
    assert_true(body->materials[0].has_rest_length);
    assert_true(body->materials[0].rest_length == 0.8);
    fixture_reset(&fixture);
}

static void test_oscillator_in_closed_form(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_begin(&fixture);
    fixture.scene.environment.gravity = down;
    fixture.scene.environment.air_drag = 1; // acts like damping
    add_oscillator(&fixture, OSCILLATOR_CLOSED_FORM)->kinds[0].material.damping = 3;
    const struct body *body = fixture_build(&fixture);
    double equilibrium = 0.8 + 2 * 9.81 / 50;
    assert_int_equal(body->spring_count, 0);
    assert_int_equal(body->kinematic[1], 1);
    assert_int_equal(body->motion_count, 1);
    const struct motion *motion = &body->motions[0];
    assert_int_equal(motion->type, MOTION_OSCILLATOR);
    assert_int_equal(motion->node, 1);
    assert_near(motion->origin.y, 2 - equilibrium, 1e-15);
    assert_near(motion->axis.y, -1, 0);
    assert_near(motion->amplitude, 0.1, 0);
    assert_near(motion->phase, PI / 6, 1e-15);
    assert_near(motion->omega, 5, 1e-15);
    assert_near(motion->decay, 1, 1e-15);
    // Both models begin at the same position with the same velocity.
    assert_position(body, 1, 1, 2 - equilibrium - 0.1 * cos(PI / 6), 3);
    assert_velocity(body, 1, 0, 0.1 * (cos(PI / 6) + sqrt(24) * sin(PI / 6)), 0);
    fixture_reset(&fixture);
}

static void test_oscillator_is_placed_before_gravity_pulls(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_begin(&fixture);
    fixture.scene.environment.gravity = down;
    struct scene_body *given = add_oscillator(&fixture, OSCILLATOR_CLOSED_FORM);
    given->rotate = vec3_make(0, 0, 180); // the axis now points up
    given->translate = vec3_make(1, 2, -3);
    const struct body *body = fixture_build(&fixture);
    assert_position(body, 0, 0, 0, 0);
    assert_near(body->motions[0].axis.y, 1, 0);
    assert_near(body->motions[0].origin.y, 0.8 - 2 * 9.81 / 50, 1e-15);
    fixture_reset(&fixture);
}

static void test_oscillator_defaults(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_begin(&fixture);
    struct scene_body *given = add_oscillator(&fixture, OSCILLATOR_SPRING);
    given->kinds[0].present = false; // only the common keys of the body
    given->common = fixture_material(8);
    given->shape.oscillator.phase = 0;
    const struct body *body = fixture_build(&fixture);
    assert_true(body->materials[0].stiffness == 8.0);
    assert_true(body->materials[0].rest_length == 1.0);
    assert_position(body, 1, 1, 2 - 1.1, 3);
    assert_velocity(body, 1, 0, 0, 0);
    fixture_reset(&fixture);
}

static void test_over_damped_oscillator(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_begin(&fixture);
    struct scene_body *given = add_oscillator(&fixture, OSCILLATOR_CLOSED_FORM);
    given->kinds[0].material.damping = 24; // decay 6 above omega 5
    fixture_refuse(&fixture, NULL, body_mark,
                   "oscillator 'mass' is over-damped (damping / 2m = 6 1/s, sqrt(k/m) = 5 1/s): "
                   "the closed form is that of an oscillation; use model: spring");
    given->shape.oscillator.model = OSCILLATOR_SPRING;
    const struct body *body = fixture_build(&fixture);
    // A e^(-6 t) cosh(sqrt(11) t) has the slope -6 A at t = 0.
    assert_velocity(body, 1, 0, 0.6 * cos(PI / 6), 0);
    fixture_reset(&fixture);
}

static void test_oscillator_refusals(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_begin(&fixture);
    struct scene_body *given = add_oscillator(&fixture, OSCILLATOR_CLOSED_FORM);
    struct material *material = &given->kinds[0].material;
    material->law = LAW_TENSION_ONLY;
    static const char nonlinear[] = "oscillator 'mass': the closed form is that of a linear spring "
                                    "that neither breaks nor yields; use model: spring";
    fixture_refuse(&fixture, NULL, body_mark, nonlinear);
    material->law = LAW_LINEAR;
    material->break_at = 2;
    fixture_refuse(&fixture, NULL, body_mark, nonlinear);
    material->break_at = INFINITY;
    given->velocity = vec3_make(1, 0, 0);
    fixture_refuse(&fixture, NULL, body_mark,
                   "body 'mass' has 'velocity', but its nodes have velocities of their own");
    material->stiffness = 0;
    fixture_refuse(&fixture, NULL, body_mark, "oscillator 'mass' needs a stiffness above 0");
    given->shape.oscillator.axis = vec3_make(0, 0, 0);
    fixture_refuse(&fixture, NULL, body_mark, "oscillator 'mass' needs an axis that is not 0");
}

static void test_closed_form_can_be_neither_pinned_nor_driven(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_begin(&fixture);
    struct scene_body *given = add_oscillator(&fixture, OSCILLATOR_CLOSED_FORM);
    struct selector pin = fixture_node(1);
    given->pins = &pin;
    given->pin_count = 1;
    fixture_refuse(&fixture, NULL, selector_mark,
                   "node 1 of 'mass' has a prescribed motion and cannot be pinned");
    given->pin_count = 0;
    struct drive_piece piece = {.start = 0, .velocity = {1, 0, 0}};
    struct scene_drive drive = {.node = fixture_node(1), .pieces = &piece, .piece_count = 1};
    given->drives = &drive;
    given->drive_count = 1;
    fixture_refuse(&fixture, NULL, selector_mark,
                   "the nodes of 'mass' have a prescribed motion and cannot be driven");
}

static void test_oscillator_warnings(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_begin(&fixture);
    struct scene_body *given = add_oscillator(&fixture, OSCILLATOR_SPRING);
    fixture.scene.environment.gravity = vec3_make(1, 0, 0);
    fixture_build(&fixture);
    fixture_assert_warning(&fixture, body_mark,
                           "gravity pulls across the axis of oscillator 'mass', so that it will "
                           "swing too");
    fixture_reset(&fixture);
    fixture.scene.environment.gravity = vec3_make(0, 0, 0);
    given->shape.oscillator.amplitude = 0.9;
    fixture_build(&fixture);
    fixture_assert_warning(&fixture, body_mark,
                           "the mass of oscillator 'mass' reaches its anchor: amplitude 0.9 m, 0.8 "
                           "m between anchor and equilibrium");
    fixture_reset(&fixture);
}

// ---- Pendulum

static void test_pendulum_on_a_spring(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_begin(&fixture);
    fixture.scene.environment.gravity = down;
    add_pendulum(&fixture, PENDULUM_SPRING);
    const struct body *body = fixture_build(&fixture);
    // Only the component of (2, 5, 0) perpendicular to gravity counts: +x.
    assert_int_equal(body->spring_count, 1);
    assert_int_equal(body->motion_count, 0);
    assert_int_equal(body->kinematic[0], 1);
    assert_int_equal(body->kinematic[1], 0);
    assert_position(body, 0, 1, 2, 3);
    assert_position(body, 1, 1 + 0.5 * sqrt(0.75), 1.75, 3);
    assert_velocity(body, 1, 0, 0, 0);
    assert_near(spring_length(body, 0), 0.5, 1e-15);
    fixture_reset(&fixture);
}

static void test_pendulum_by_its_equation_and_its_closed_form(void **state)
{
    (void)state;
    static const enum pendulum_model models[] = {PENDULUM_EQUATION, PENDULUM_SMALL_ANGLE};
    static const enum motion_type types[] = {MOTION_PENDULUM, MOTION_SMALL_ANGLE};
    for (int i = 0; i < 2; i++) {
        struct fixture fixture;
        fixture_begin(&fixture);
        fixture.scene.environment.gravity = vec3_make(0, 0, 4.5); // the up direction is arbitrary
        struct scene_body *given = add_pendulum(&fixture, models[i]);
        given->rotate = vec3_make(0, 0, 90); // direction (-5, 2, 0), pivot (-2, 1, 3)
        const struct body *body = fixture_build(&fixture);
        const struct motion *motion = &body->motions[0];
        double across = 1 / sqrt(29);
        assert_int_equal(body->spring_count, 0);
        assert_int_equal(body->motion_count, 1);
        assert_int_equal(motion->type, types[i]);
        assert_int_equal(motion->node, 1);
        assert_near(motion->origin.x, -2, 1e-15);
        assert_near(motion->down.z, 1, 0);
        assert_near(motion->axis.x, -5 * across, 1e-15);
        assert_near(motion->axis.y, 2 * across, 1e-15);
        assert_near(motion->amplitude, PI / 3, 1e-15);
        assert_near(motion->omega, 3, 1e-15);
        assert_near(motion->length, 0.5, 0);
        assert_int_equal(body->kinematic[1], 1);
        double out = 0.5 * sqrt(0.75);
        assert_position(body, 1, -2 - 5 * across * out, 1 + 2 * across * out, 3.25);
        fixture_reset(&fixture);
    }
}

static void test_pendulum_refusals(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_begin(&fixture);
    struct scene_body *given = add_pendulum(&fixture, PENDULUM_SPRING);
    fixture_refuse(&fixture, NULL, body_mark, "pendulum 'bob' needs gravity");
    fixture.scene.environment.gravity = down;
    given->shape.pendulum.direction = vec3_make(0, 3, 0);
    fixture_refuse(&fixture, NULL, body_mark,
                   "pendulum 'bob' needs a direction that is not along gravity");
    given->kinds[0].material.stiffness = 0;
    fixture_refuse(&fixture, NULL, body_mark,
                   "pendulum 'bob' on a spring needs a stiffness above 0");
    given->shape.pendulum.length = 0;
    fixture_refuse(&fixture, NULL, body_mark, "pendulum 'bob' needs a length above 0");
    given->shape.pendulum = (struct scene_pendulum){
        .model = PENDULUM_EQUATION, .direction = {1, 0, 0}, .length = 1, .angle = 10};
    given->velocity = vec3_make(1, 0, 0);
    fixture_refuse(&fixture, NULL, body_mark,
                   "body 'bob' has 'velocity', but its nodes have velocities of their own");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_oscillator_on_a_spring),
        cmocka_unit_test(test_oscillator_in_closed_form),
        cmocka_unit_test(test_oscillator_is_placed_before_gravity_pulls),
        cmocka_unit_test(test_oscillator_defaults),
        cmocka_unit_test(test_over_damped_oscillator),
        cmocka_unit_test(test_oscillator_refusals),
        cmocka_unit_test(test_closed_form_can_be_neither_pinned_nor_driven),
        cmocka_unit_test(test_oscillator_warnings),
        cmocka_unit_test(test_pendulum_on_a_spring),
        cmocka_unit_test(test_pendulum_by_its_equation_and_its_closed_form),
        cmocka_unit_test(test_pendulum_refusals),
    };
    return cmocka_run_group_tests_name("builders_oscillator", tests, NULL, NULL);
}
