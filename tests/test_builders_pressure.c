// Requirements of pressure on a body.
#include "builders_fixture.h"

static void test_pressure_needs_an_inside(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_begin(&fixture);
    struct scene_body *lattice = fixture_lattice(&fixture, 4, 4, 1);
    lattice->pressure = fixture_pressure();
    fixture_refuse(&fixture, NULL, pressure_mark,
                   "pressure needs a closed body, and a lattice has an inside only with 2 nodes or "
                   "more along every axis: 'jelly' is a lattice");
    lattice->shape.lattice.nodes_z = 2;
    const struct body *body = fixture_build(&fixture);
    assert_true(body->pressure.present);
    assert_true(body->pressure.amount == 10.0);
    fixture_reset(&fixture);

    fixture_begin(&fixture);
    struct scene_body *cloth = fixture_cloth(&fixture, 3, 3);
    cloth->pressure = fixture_pressure();
    fixture_refuse(&fixture, NULL, pressure_mark,
                   "pressure needs a closed body, with an inside: 'flag' is a cloth");
}

static void test_volume_too_small_for_a_number(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_begin(&fixture);
    struct scene_body *lattice = fixture_lattice(&fixture, 2, 2, 2);
    lattice->shape.lattice.origin = vec3_make(0, 0, 0);
    lattice->shape.lattice.spacing = 1e-120;
    lattice->pressure = fixture_pressure();
    fixture_refuse(&fixture, NULL, pressure_mark,
                   "pressure needs a volume above 0: 'jelly' encloses 0");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pressure_needs_an_inside),
        cmocka_unit_test(test_volume_too_small_for_a_number),
    };
    return cmocka_run_group_tests_name("builders_pressure", tests, NULL, NULL);
}
