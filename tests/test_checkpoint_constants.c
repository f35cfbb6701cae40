// Constants that a program changes during a run are part of its checkpoints: for every setter of
// taut.h, every integrator and every storage format, a run that is restored continues to the bit,
// also when the setter is called again, with the same value or with another one.
#include "checkpoint_fixture.h"
#include "samples.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Bodies whose constants are given one by one, then those with `elastic`, then one with `fabric`.
enum { SPRUNG_BODIES = 4, ELASTIC_BODIES = 3, BODIES = SPRUNG_BODIES + ELASTIC_BODIES + 1 };

// Sets the first value of a setter, or the second one.
typedef taut_status setter(taut_solver *solver, int second, taut_error *error);

static taut_status set_stiffness(taut_solver *solver, int second, taut_error *error)
{
    taut_status status = TAUT_OK;
    for (size_t b = 0; status == TAUT_OK && b < SPRUNG_BODIES; b++)
        status = taut_solver_set_stiffness(solver, b, 0, second ? 43.1 : 61.7, error);
    return status;
}

// Without damping the tiles and kernels are others.
static taut_status set_damping(taut_solver *solver, int second, taut_error *error)
{
    taut_status status = TAUT_OK;
    for (size_t b = 0; status == TAUT_OK && b < SPRUNG_BODIES; b++)
        for (size_t m = 0; status == TAUT_OK && m < taut_solver_material_count(solver, b); m++)
            status = taut_solver_set_damping(solver, b, m, second && m == 0 ? 0.031 : 0, error);
    return status;
}

// Several factors, since rest lengths in single precision are rounded after each.
static taut_status scale_rest_lengths(taut_solver *solver, int second, taut_error *error)
{
    taut_status status = TAUT_OK;
    for (size_t b = 0; status == TAUT_OK && b < taut_solver_body_count(solver); b++)
        for (size_t m = 0; status == TAUT_OK && m < taut_solver_material_count(solver, b); m++)
            for (int i = 0; status == TAUT_OK && i < 3; i++)
                status =
                    taut_solver_scale_rest_lengths(solver, b, m, second ? 0.987 : 1.0123, error);
    return status;
}

static taut_status set_mass(taut_solver *solver, int second, taut_error *error)
{
    taut_status status = TAUT_OK;
    for (size_t b = 0; status == TAUT_OK && b < SPRUNG_BODIES; b++)
        status = taut_solver_set_node_mass(solver, b, second ? 0.017 : 0.0123, error);
    return status;
}

static taut_status set_gravity(taut_solver *solver, int second, taut_error *error)
{
    return taut_solver_set_gravity(solver, (double[3]){1.5, second ? -3 : 2, 0.25}, error);
}

static taut_status set_drag(taut_solver *solver, int second, taut_error *error)
{
    return taut_solver_set_air_drag(solver, second ? 0.013 : 0.037, error);
}

static taut_status set_wind(taut_solver *solver, int second, taut_error *error)
{
    taut_wind wind;
    taut_status status = taut_solver_get_wind(solver, &wind, error);
    wind.velocity[0] = second ? -2 : 5;
    wind.coefficient = second ? 0.9 : 1.3;
    wind.density = second ? 1 : 1.3;
    wind.drag = second ? 0.7 : 1.1;
    return status == TAUT_OK ? taut_solver_set_wind(solver, &wind, error) : status;
}

static taut_status set_elastic(taut_solver *solver, int second, taut_error *error)
{
    taut_status status = TAUT_OK;
    for (size_t b = SPRUNG_BODIES; status == TAUT_OK && b < BODIES - 1; b++) {
        const taut_elastic elastic = {
            .young = second ? 1500 : 3000,
            .poisson = second ? 0.1 : 0.35,
            .damping = {.ratio = second ? 0.03 : 0, .stiffness = second ? 0 : 0.001}};
        status = taut_solver_set_elastic(solver, b, &elastic, error);
    }
    return status;
}

static taut_status set_fabric(taut_solver *solver, int second, taut_error *error)
{
    const taut_fabric fabric = {.warp = second ? 30 : 20,
                                .weft = 40,
                                .coupling = second ? -2 : 11,
                                .shear = 7,
                                .bending = {second ? 1e-4 : 2e-4, 3e-4},
                                .twist = second ? 0 : 1e-4,
                                .damping = {.ratio = second ? 0 : 0.02}};
    return taut_solver_set_fabric(solver, BODIES - 1, &fabric, error);
}

// While gas is pumped in, and then let out.
static taut_status set_gas(taut_solver *solver, int second, taut_error *error)
{
    taut_gas gas;
    taut_status status = taut_solver_get_gas(solver, 0, &gas, error);
    gas.amount = second ? 7 : 90;
    gas.inflate = second ? 0.02 : 0.03;
    gas.atmosphere = second ? 3 : 2;
    gas.gamma = second ? 1 : 1.3;
    return status == TAUT_OK ? taut_solver_set_gas(solver, 0, &gas, error) : status;
}

static taut_status set_contact(taut_solver *solver, int second, taut_error *error)
{
    taut_status status = TAUT_OK;
    for (size_t c = 0; status == TAUT_OK && c < 3; c++) {
        taut_contact contact;
        status = taut_solver_get_contact(solver, c, &contact, error);
        contact.friction = 0.3;
        if (contact.stiffness > 0) { // response: penalty
            contact.stiffness = second ? 80 : 120;
            contact.absorption = 0.04;
        } else {
            contact.restitution = second ? 0.7 : 0.4;
            contact.keep = 0.6;
        }
        if (status == TAUT_OK)
            status = taut_solver_set_contact(solver, c, &contact, error);
    }
    return status;
}

static taut_status set_dt(taut_solver *solver, int second, taut_error *error)
{
    return taut_solver_set_dt(solver, second ? 0.00035 : 0.0004, error);
}

static taut_status set_sphere(taut_solver *solver, int second, taut_error *error)
{
    const double centre[3] = {0.9, second ? 1 : 0.8, 0.3}, velocity[3] = {-3, second ? 1 : 2, 0};
    return taut_solver_set_sphere(solver, 1, centre, velocity, error);
}

static taut_status set_sphere_target(taut_solver *solver, int second, taut_error *error)
{
    const double target[3] = {0.7, second ? 1 : 1.2, 0.3};
    return taut_solver_set_sphere_target(solver, 1, target, 0.02, error);
}

static taut_status set_mesh(taut_solver *solver, int second, taut_error *error)
{
    const double translate[3] = {50, second ? 1 : 2, 0}, velocity[3] = {0.5, second ? 2 : 1, -1};
    return taut_solver_set_mesh(solver, 3, translate, velocity, error);
}

static taut_status set_mesh_target(taut_solver *solver, int second, taut_error *error)
{
    const double target[3] = {50, second ? 3 : 4, 0.1};
    return taut_solver_set_mesh_target(solver, 3, target, 0.02, error);
}

static taut_status set_all(taut_solver *solver, int second, taut_error *error);

static const struct {
    const char *name;
    setter *set;
    bool accumulates; // the same call once more changes the run
} setters[] = {
    {"stiffness", set_stiffness, false},
    {"damping", set_damping, false},
    {"rest lengths", scale_rest_lengths, true},
    {"elastic", set_elastic, false},
    {"fabric", set_fabric, false},
    {"mass", set_mass, false},
    {"gravity", set_gravity, false},
    {"air drag", set_drag, false},
    {"wind", set_wind, false},
    {"gas", set_gas, false},
    {"contact", set_contact, false},
    {"dt", set_dt, false},
    {"sphere", set_sphere, true},
    {"sphere target", set_sphere_target, true},
    {"mesh", set_mesh, true},
    {"mesh target", set_mesh_target, true},
    {"all of them", set_all, true},
};
enum { SETTERS = sizeof setters / sizeof *setters };

static taut_status set_all(taut_solver *solver, int second, taut_error *error)
{
    taut_status status = TAUT_OK;
    for (int i = 0; status == TAUT_OK && i < SETTERS - 1; i++)
        status = setters[i].set(solver, second, error);
    return status;
}

static void do_set(taut_solver *solver, int number, int second, const char *what)
{
    taut_error error = {0};
    if (setters[number].set(solver, second, &error) != TAUT_OK)
        fail_msg("%s: %s", what, error.text);
}

// Every setter of taut.h is in the list above.
static void test_all_setters_are_here(void **state)
{
    (void)state;
    FILE *header = fopen(TAUT_TEST_SOURCE "/src/taut.h", "r");
    char line[256];
    int found = 0;
    assert_non_null(header);
    while (fgets(line, sizeof line, header))
        found += strstr(line, "TAUT_API taut_status ") &&
                 (strstr(line, "taut_solver_set_") || strstr(line, "taut_solver_scale_"));
    fclose(header);
    assert_int_equal(found, SETTERS - 1);
}

// Everything that a setter changes: gas that is being pumped in, springs that yield and break, on
// grids, packed and listed, of materials and masses of their own; elements of every kind; contacts
// of both responses, and a mesh collider, out of reach.
static const char *const setting_text =
    "contact: {self: false, between: false, thickness: 0.0001, stiffness: 50}\n"
    "precision: %s\nsimulation: {integrator: %s, dt: %s, duration: 9}\n"
    "environment: {gravity: [0.3,-9.81,0.1], air_drag: 0.02, wind: {velocity: [3,1,-2],\n"
    "  law: %s, gusts: [{amplitude: [9,0,0], period: 0.02, phase: 40}]}}\n"
    "bodies: [{name: b, type: sphere, center: [0.1,0.9,0.3], radius: 1, subdivisions: 2, mass: 2,\n"
    "  velocity: [1,2,3], springs: {edges: {stiffness: 300, damping: 0.3, yield_at: 0.002},\n"
    "  bend: {stiffness: 20, damping_law: full, damping: 0.1, break_at: 1.005}},\n"
    "  pressure: {amount: 60, inflate: 0.02}, pins: [0, 5],\n"
    "  drives: [{node: 17, velocity: [[0, [0,1,0]], [0.0102, [1,0,0]], [0.0153, [0,0,2]]]}]},\n"
    "  {name: c, type: cloth, origin: [3,0,0], u: [1,0,0], v: [0,1,0], nodes: [20,9], mass: 1,\n"
    "  pins: [left], velocity: [3,0,0], springs: {structural: {stiffness: 50, yield_at: 0.001,\n"
    "  break_at: 1.06}, shear: {stiffness: 20}}},\n"
    "  {name: l, type: lattice, origin: [5,0.1,0], nodes: [6,5,4], spacing: 0.1, mass: 1,\n"
    "  shells: 2, velocity: [0,-2,0], spring: {stiffness: 200, damping: 0.02}},\n"
    "  {name: n, type: network, node_mass: [0.1,0.2,0.3,0.4], velocity: [0,0,1],\n"
    "  nodes: [[8,0.2,0],[9,0.2,0],[9,1,0],[8,1,0.3]], springs: [[0,1,{stiffness: 50}],\n"
    "  [1,2,{stiffness: 40, damping: 0.1}],[2,3,{stiffness: 30, yield_at: 0.001}],\n"
    "  [3,0,{stiffness: 30, law: tension_only}]]},\n"
    "  {name: r, type: rope, from: [0,1,5], to: [1,1.2,5], nodes: 9, pins: [0, 1],\n"
    "  elastic: {young: 2000, density: 100, diameter: 0.05}},\n"
    "  {name: e, type: lattice, origin: [5,0.5,3], nodes: [5,4,6], spacing: 0.1,\n"
    "  velocity: [0,-2,1], elastic: {young: 2000, poisson: 0.3, density: 40}},\n"
    "  {name: s, type: sphere, center: [8,0.9,2], radius: 0.5, subdivisions: 1,\n"
    "  elastic: {young: 2000, poisson: 0.3, density: 100, thickness: 0.01}, damping_ratio: 0.1,\n"
    "  velocity: [1,-2,0]},\n"
    "  {name: f, type: cloth, origin: [3,0,5], u: [1,0,0], v: [0,1,0], nodes: [17,12],\n"
    "  pins: [left], velocity: [1,0,2], fabric: {areal_density: 1, warp: 50, weft: 40,\n"
    "  coupling: 5, shear: 9, bending: [1e-4, 2e-4]}}]\n"
    "colliders: [{type: plane, point: [0,0.2,0], normal: [0,1,0], stiffness: 400, friction: 0.1,\n"
    "  absorption: 1}, {type: sphere, center: [1,1,0.3], radius: 0.5, stiffness: 300,\n"
    "  velocity: [-2,0,0]}, {type: room, min: [-0.7,-3,-3], max: [12,3,3], response: project,\n"
    "  keep: 0.9, friction: 0.2}, {type: mesh, file: '" TAUT_TEST_SOURCE
    "/scenes/meshes/cube.asc',\n"
    "  translate: [50,0,0]}]\n";

// A constant is set, after `before` steps; the run is saved `between` steps later, and goes on
// there and in a solver that was restored; there both may set it again.
struct course {
    uint64_t before, between, after;
    int again; // 0: it is not set again; 1: to the same value, in the solver restored alone; 2: to
               // another one, in both
};

static void assert_course(const taut_scene *scene, taut_kernel kernel, int number,
                          struct course course, const char *what)
{
    const taut_config first = {.threads = 1, .kernel = kernel};
    const taut_config then = {
        .threads = kernel == TAUT_KERNEL_REFERENCE ? 1 : 2, .isa = TAUT_ISA_BASE, .kernel = kernel};
    taut_solver *whole = create_with(scene, &first);
    advance(whole, course.before);
    do_set(whole, number, 0, what);
    advance(whole, course.between);
    struct saved middle = save(whole);
    taut_solver *second = restore_with(scene, middle, &then);
    struct saved again = save(second);
    assert_same_saved(middle, again, what);
    if (course.again == 1)
        do_set(second, number, 0, what);
    advance(whole, course.after);
    advance(second, course.after);
    if (taut_solver_hash(whole) != taut_solver_hash(second))
        fail_msg("%s: another hash", what);
    if (course.again == 2) {
        do_set(whole, number, 1, what);
        do_set(second, number, 1, what);
        advance(whole, course.after);
        advance(second, course.after);
    }
    if (taut_solver_dt(whole) != taut_solver_dt(second))
        fail_msg("%s: dt is %.17g, not %.17g", what, taut_solver_dt(second), taut_solver_dt(whole));
    assert_int_equal(taut_solver_steps_planned(whole), taut_solver_steps_planned(second));
    struct critical_step critical[2];
    taut_error error = {0};
    assert_int_equal(solver_critical_step(whole, &critical[0], &error), TAUT_OK);
    assert_int_equal(solver_critical_step(second, &critical[1], &error), TAUT_OK);
    assert_same_bits(critical[0].bound, critical[1].bound);
    taut_bytes_release(again.bytes);
    taut_bytes_release(middle.bytes);
    middle = save_and_end(whole);
    again = save_and_end(second);
    if (course.again != 1) // a setter lets the check of divergence begin again
        assert_same_saved(middle, again, what);
    taut_bytes_release(again.bytes);
    taut_bytes_release(middle.bytes);
}

// The courses of one setter with one integrator.
static void assert_courses(const taut_scene *scene, taut_kernel kernel, int number,
                           const char *what)
{
    static const struct course courses[] = {{7, 0, 9, 2}, {7, 4, 9, 2}, {7, 4, 9, 1}};
    for (size_t c = 0; c < sizeof courses / sizeof *courses; c++)
        if (courses[c].again != 1 || !setters[number].accumulates)
            assert_course(scene, kernel, number, courses[c], what);
}

static taut_scene *setting_scene(size_t number, int integrator, const char *dt)
{
    static const char *const laws[] = {"face", "node", "quadratic"};
    return scene_of(setting_text, precision_number(number),
                    integrator_name((enum integrator)integrator), dt, laws[number % 3]);
}

static void test_every_setter_and_integrator(void **state)
{
    (void)state;
    for (int i = 0; i < INTEGRATOR_COUNT; i++)
        for (int number = 0; number < SETTERS; number++)
            for (size_t k = 0; k < (quick() ? 1 : 2); k++) {
                char *what = text_format("%s with %s, variant %d", setters[number].name,
                                         integrator_name((enum integrator)i), (int)k);
                taut_scene *scene = setting_scene(k + (size_t)(number + i), i, "0.0005");
                assert_courses(scene, TAUT_KERNEL_AUTO, number, what);
                taut_scene_destroy(scene);
                free(what);
            }
}

static void test_every_storage_format(void **state)
{
    (void)state;
    static const taut_kernel kernels[] = {TAUT_KERNEL_REFERENCE, TAUT_KERNEL_PACKED,
                                          TAUT_KERNEL_COLOURED};
    static const int integrators[] = {INTEGRATOR_SYMPLECTIC_EULER, INTEGRATOR_VERLET,
                                      INTEGRATOR_IMPLICIT_EULER};
    for (size_t k = 0; k < 3; k++)
        for (size_t i = 0; i < 3; i++)
            for (int number = 0; number < SETTERS; number++) {
                char *what = text_format("%s with %s and kernel %s", setters[number].name,
                                         integrator_name((enum integrator)integrators[i]),
                                         kernel_choice_name((int)kernels[k]));
                taut_scene *scene = setting_scene(k + i + (size_t)number, integrators[i], "0.0005");
                assert_courses(scene, kernels[k], number, what);
                taut_scene_destroy(scene);
                free(what);
            }
}

// dt: auto follows the constants, by a bound whose weights a run remembers (rk4, whose steps change
// here: they differed in the seventh digit where the weights were found again); it is off once a
// program has set dt.
static void test_automatic_dt(void **state)
{
    (void)state;
    static const int integrators[] = {INTEGRATOR_RK4, INTEGRATOR_SYMPLECTIC_EULER,
                                      INTEGRATOR_VERLET};
    const struct course course = {40, 24, 96, 2};
    for (size_t i = 0; i < (quick() ? 1 : 3); i++)
        for (int number = 0; number < SETTERS; number++) {
            char *what = text_format("%s with %s and dt: auto", setters[number].name,
                                     integrator_name((enum integrator)integrators[i]));
            taut_scene *scene = setting_scene(i, integrators[i], "auto");
            assert_course(scene, TAUT_KERNEL_AUTO, number, course, what);
            taut_scene_destroy(scene);
            free(what);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_setters_are_here),
        cmocka_unit_test(test_every_setter_and_integrator),
        cmocka_unit_test(test_every_storage_format),
        cmocka_unit_test(test_automatic_dt),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
