// Constants that change during a run (set.c): the following steps equal, bit by bit, those of a
// solver that was created with the constant and continues from the state; for every integrator,
// storage format and precision. Rejected values change nothing.
#include "samples.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum { STEPS = 9 }; // between two checks, so that a change falls between them

typedef taut_status setter(taut_solver *solver, taut_error *error);

struct setting {
    const char *name;
    setter *set;
    const char *overrides[4]; // the equivalent --set, ended by NULL
};

static void show_finding(void *context, const char *message)
{
    (void)context;
    print_error("%s", message);
}

static taut_scene *scene_with(const char *text, const char *const *overrides)
{
    taut_scene_options options;
    taut_scene *scene = NULL;
    taut_error error = {0};
    taut_scene_options_default(&options);
    options.overrides = overrides;
    options.on_message = show_finding;
    while (overrides[options.override_count])
        options.override_count++;
    if (taut_scene_parse(text, strlen(text), "settings", &options, &scene, &error) != TAUT_OK)
        fail_msg("%s: %s", overrides[0], error.text);
    return scene;
}

static void do_set(taut_solver *solver, const struct setting *setting)
{
    taut_error error = {0};
    if (setting->set(solver, &error) != TAUT_OK)
        fail_msg("%s: %s", setting->name, error.text);
}

// Runs a scene, changes it, and compares it with a solver made from the changed scene; also with
// another number of threads, which must not matter.
static void assert_like_created(const char *text, const struct setting *setting,
                                const struct solver_options *options, const char *what)
{
    static const char *const none[] = {NULL};
    taut_error error = {0};
    struct solver_options three = *options;
    if (options->config.kernel != TAUT_KERNEL_REFERENCE)
        three.config.threads = 3;
    taut_solver *changed = solver_from(scene_with(text, none), options);
    taut_solver *unchanged = solver_from(scene_with(text, none), options);
    taut_solver *created = solver_from(scene_with(text, setting->overrides), &three);
    advance(changed, STEPS);
    advance(unchanged, STEPS);
    if (solver_restore_from(created, changed, NULL, NULL, &error) != TAUT_OK)
        fail_msg("%s, %s: %s", what, setting->name, error.text);
    uint64_t before = taut_solver_hash(changed);
    do_set(changed, setting);
    assert_true(taut_solver_hash(changed) == before);
    assert_same_bits(energy_of(changed).total, energy_of(created).total);
    for (int part = 0; part < 2; part++) {
        advance(changed, STEPS);
        advance(created, STEPS);
        advance(unchanged, STEPS);
        if (taut_solver_hash(changed) != taut_solver_hash(created))
            fail_msg("%s, %s: not as if it had been created so", what, setting->name);
    }
    assert_int_equal(taut_solver_step_count(changed), 3 * STEPS);
    assert_same_bits(taut_solver_time(changed), taut_solver_time(created));
    assert_same_bits(taut_solver_dt(changed), taut_solver_dt(created));
    assert_int_equal(taut_solver_steps_planned(changed), taut_solver_steps_planned(created));
    if (taut_solver_hash(changed) == taut_solver_hash(unchanged))
        fail_msg("%s, %s: changes nothing", what, setting->name);
    struct critical_step a, b;
    assert_int_equal(solver_critical_step(changed, &a, &error), TAUT_OK);
    assert_int_equal(solver_critical_step(created, &b, &error), TAUT_OK);
    assert_same_bits(a.bound, b.bound);
    assert_same_bits(a.dt[solver_integrator(changed)], b.dt[solver_integrator(created)]);
    taut_solver_destroy(changed);
    taut_solver_destroy(unchanged);
    taut_solver_destroy(created);
}

// ---- The setters

static taut_status set_stiffness(taut_solver *solver, taut_error *error)
{
    return taut_solver_set_stiffness(solver, 0, 0, 83.7, error);
}

static taut_status set_damping(taut_solver *solver, taut_error *error)
{
    return taut_solver_set_damping(solver, 0, 0, 0.031, error);
}

static taut_status set_no_damping(taut_solver *solver, taut_error *error)
{
    for (size_t m = 0; m < taut_solver_material_count(solver, 0); m++)
        if (taut_solver_set_damping(solver, 0, m, 0, error) != TAUT_OK)
            return error->code;
    return TAUT_OK;
}

static taut_status set_second(taut_solver *solver, taut_error *error)
{
    taut_status status = taut_solver_set_damping(solver, 0, 1, 0.05, error);
    return status == TAUT_OK ? taut_solver_set_stiffness(solver, 0, 1, 31, error) : status;
}

static taut_status set_mass(taut_solver *solver, taut_error *error)
{
    return taut_solver_set_node_mass(solver, 0, 0.0123, error);
}

static taut_status set_gravity(taut_solver *solver, taut_error *error)
{
    return taut_solver_set_gravity(solver, (double[3]){1.5, -3, 0.25}, error);
}

static taut_status set_drag(taut_solver *solver, taut_error *error)
{
    return taut_solver_set_air_drag(solver, 0.013, error);
}

static taut_status set_wind(taut_solver *solver, taut_error *error)
{
    taut_wind wind;
    taut_status status = taut_solver_get_wind(solver, &wind, error);
    wind.velocity[0] = -2;
    wind.velocity[2] = 7;
    return status == TAUT_OK ? taut_solver_set_wind(solver, &wind, error) : status;
}

static taut_status set_gas(taut_solver *solver, taut_error *error)
{
    taut_gas gas;
    taut_status status = taut_solver_get_gas(solver, 0, &gas, error);
    gas.amount = 17;
    gas.inflate = 0.4;
    return status == TAUT_OK ? taut_solver_set_gas(solver, 0, &gas, error) : status;
}

static taut_status set_contact(taut_solver *solver, taut_error *error)
{
    taut_contact contact;
    taut_status status = taut_solver_get_contact(solver, 0, &contact, error);
    contact.friction = 0.3;
    contact.stiffness = 80;
    contact.absorption = 0.04;
    return status == TAUT_OK ? taut_solver_set_contact(solver, 0, &contact, error) : status;
}

static taut_status set_bounce(taut_solver *solver, taut_error *error)
{
    taut_contact contact;
    taut_status status = taut_solver_get_contact(solver, 0, &contact, error);
    contact.restitution = 0.7;
    contact.keep = 0.6;
    contact.friction = 0.1;
    return status == TAUT_OK ? taut_solver_set_contact(solver, 0, &contact, error) : status;
}

static taut_status set_dt(taut_solver *solver, taut_error *error)
{
    return taut_solver_set_dt(solver, 0.00035, error);
}

// Another stiffness and Poisson's ratio of the first body, or the same with another damping.
static taut_status set_solid(taut_solver *solver, double poisson, taut_error *error)
{
    taut_elastic elastic;
    taut_status status = taut_solver_get_elastic(solver, 0, &elastic, error);
    elastic.young *= 0.6875; // exact
    elastic.poisson = poisson;
    return status == TAUT_OK ? taut_solver_set_elastic(solver, 0, &elastic, error) : status;
}

static taut_status set_softer(taut_solver *solver, taut_error *error)
{
    return set_solid(solver, 0.25, error);
}

static taut_status set_slender(taut_solver *solver, taut_error *error)
{
    return set_solid(solver, 0.125, error);
}

static taut_status set_solid_damping(taut_solver *solver, taut_material_damping damping,
                                     taut_error *error)
{
    taut_elastic elastic;
    taut_status status = taut_solver_get_elastic(solver, 0, &elastic, error);
    elastic.damping = damping;
    return status == TAUT_OK ? taut_solver_set_elastic(solver, 0, &elastic, error) : status;
}

static taut_status set_ratio(taut_solver *solver, taut_error *error)
{
    return set_solid_damping(solver, (taut_material_damping){.ratio = 0.0625}, error);
}

static taut_status set_rayleigh(taut_solver *solver, taut_error *error)
{
    return set_solid_damping(solver, (taut_material_damping){.stiffness = 0.000244140625}, error);
}

static taut_status set_undamped(taut_solver *solver, taut_error *error)
{
    return set_solid_damping(solver, (taut_material_damping){.ratio = 0}, error);
}

// Softer springs along u, an area that softens them, and another bending in each direction.
static taut_status set_cloth(taut_solver *solver, taut_error *error)
{
    taut_fabric fabric;
    taut_status status = taut_solver_get_fabric(solver, 0, &fabric, error);
    fabric.warp = 30;
    fabric.coupling = 2;
    fabric.bending[0] = 4e-5;
    fabric.bending[1] = 0;
    fabric.twist = 3e-5;
    fabric.damping = (taut_material_damping){.ratio = 0.03125};
    return status == TAUT_OK ? taut_solver_set_fabric(solver, 0, &fabric, error) : status;
}

// Without an area: only one that is stiff enough would be one.
static taut_status set_no_area(taut_solver *solver, taut_error *error)
{
    taut_fabric fabric;
    taut_status status = taut_solver_get_fabric(solver, 0, &fabric, error);
    fabric.coupling = fabric.shear;
    return status == TAUT_OK ? taut_solver_set_fabric(solver, 0, &fabric, error) : status;
}

#define GRAVITY                                                                                    \
    {                                                                                              \
        "gravity", set_gravity,                                                                    \
        {                                                                                          \
            "environment.gravity=[1.5, -3, 0.25]"                                                  \
        }                                                                                          \
    }
#define DRAG                                                                                       \
    {                                                                                              \
        "drag", set_drag,                                                                          \
        {                                                                                          \
            "environment.air_drag=0.013"                                                           \
        }                                                                                          \
    }
#define WIND                                                                                       \
    {                                                                                              \
        "wind", set_wind,                                                                          \
        {                                                                                          \
            "environment.wind.velocity=[-2,1,7]"                                                   \
        }                                                                                          \
    }
#define MASS                                                                                       \
    {                                                                                              \
        "mass", set_mass,                                                                          \
        {                                                                                          \
            "bodies.b.node_mass=0.0123"                                                            \
        }                                                                                          \
    }
#define DT                                                                                         \
    {                                                                                              \
        "dt", set_dt,                                                                              \
        {                                                                                          \
            "simulation.dt=0.00035"                                                                \
        }                                                                                          \
    }

struct case_of_scene {
    const char *name, *text; // of a scene, after `precision` and `simulation`
    struct setting settings[10];
};

#define ENVIRONMENT(law)                                                                           \
    "environment: {gravity: [0.2,-9.81,0.1], air_drag: 0.002, wind: {velocity: [4,1,2], law: " law \
    "}}\n"

static const struct case_of_scene cases[] = {
    {"rope",
     ENVIRONMENT("node") "bodies: [{name: b, type: rope, from: [0,0,0], to: [3,1,0], nodes: 300,\n"
                         "  node_mass: 0.002, pins: [first], links: skip, springs: {chain:\n"
                         "  {stiffness: 60, damping: 0.01}, skip: {stiffness: 20, damping: 0.02,\n"
                         "  damping_law: full}}}]\n"
                         "colliders: [{type: plane, point: [0,0.004,0], normal: [0,1,0],\n"
                         "  stiffness: 50, friction: 0.01, absorption: 0.02}]\n",
     {{"stiffness", set_stiffness, {"bodies.b.springs.chain.stiffness=83.7"}},
      {"no damping",
       set_no_damping,
       {"bodies.b.springs.chain.damping=0", "bodies.b.springs.skip.damping=0"}},
      {"second",
       set_second,
       {"bodies.b.springs.skip.stiffness=31", "bodies.b.springs.skip.damping=0.05"}},
      {"contact",
       set_contact,
       {"colliders.0.friction=0.3", "colliders.0.stiffness=80", "colliders.0.absorption=0.04"}},
      MASS,
      GRAVITY,
      DRAG,
      DT}},
    // The kernel of cloths: undamped, then with damped springs in all, in one and in no direction.
    {"cloth",
     ENVIRONMENT("face") "bodies: [{name: b, type: cloth, origin: [0,2,0], u: [1.5,0,0],\n"
                         "  v: [0,-1,0], nodes: [41,23], node_mass: 0.001, pins: [left], springs:\n"
                         "  {structural: {stiffness: 60, damping: 0}, shear: {stiffness: 30,\n"
                         "  damping: 0}, bend: {stiffness: 10, damping: 0}}}]\n",
     {{"stiffness", set_stiffness, {"bodies.b.springs.structural.stiffness=83.7"}},
      {"damping", set_damping, {"bodies.b.springs.structural.damping=0.031"}},
      {"second",
       set_second,
       {"bodies.b.springs.shear.stiffness=31", "bodies.b.springs.shear.damping=0.05"}},
      MASS,
      GRAVITY,
      DRAG,
      WIND,
      DT}},
    {"damped cloth",
     "bodies: [{name: b, type: cloth, origin: [0,2,0], u: [1.5,0,0], v: [0,0,-1],\n"
     "  nodes: [41,23], node_mass: 0.001, pins: [left], velocity: [0,-0.3,0], springs:\n"
     "  {structural: {stiffness: 60, damping: 0.01}, shear: {stiffness: 30, damping: 0.02},\n"
     "  bend: {stiffness: 10, damping: 0.01, break_at: 1.4}}}]\n"
     "colliders: [{type: plane, point: [0,1.999,0], normal: [0,1,0], response: project}]\n",
     {{"no damping",
       set_no_damping,
       {"bodies.b.springs.structural.damping=0", "bodies.b.springs.shear.damping=0",
        "bodies.b.springs.bend.damping=0"}},
      {"second",
       set_second,
       {"bodies.b.springs.shear.stiffness=31", "bodies.b.springs.shear.damping=0.05"}},
      {"bounce",
       set_bounce,
       {"colliders.0.restitution=0.7", "colliders.0.keep=0.6", "colliders.0.friction=0.1"}},
      GRAVITY,
      MASS}},
    {"ring",
     ENVIRONMENT("quadratic") "bodies: [{name: b, type: ring, center: [0,1,0], radius: 1,\n"
                              "  nodes: 400, node_mass: 0.01, springs: {edges: {stiffness: 400,\n"
                              "  damping: 0.05}}, pressure: {amount: 5, inflate: 0.05}}]\n",
     {{"stiffness", set_stiffness, {"bodies.b.springs.edges.stiffness=83.7"}},
      {"no damping", set_no_damping, {"bodies.b.springs.edges.damping=0"}},
      {"gas", set_gas, {"bodies.b.pressure.amount=17", "bodies.b.pressure.inflate=0.4"}},
      MASS,
      WIND,
      GRAVITY,
      DT}},
    // Packed springs with rings, some of which yield, without damping at first.
    {"sphere",
     ENVIRONMENT("quadratic") "bodies: [{name: b, type: sphere, center: [0,1.1,0], radius: 1,\n"
                              "  subdivisions: 3, node_mass: 0.003, springs: {edges:\n"
                              "  {stiffness: 100, yield_at: 0.01}, bend: {stiffness: 10}},\n"
                              "  pressure: {amount: 60, inflate: 0.1, gamma: 1.4}}]\n"
                              "colliders: [{type: plane, point: [0,0.2,0], normal: [0,1,0],\n"
                              "  stiffness: 100}, {type: sphere, center: [1,1,0], radius: 0.3,\n"
                              "  stiffness: 50, velocity: [-1,0,0]}]\n",
     {{"stiffness", set_stiffness, {"bodies.b.springs.edges.stiffness=83.7"}},
      {"damping", set_damping, {"bodies.b.springs.edges.damping=0.031"}},
      {"second",
       set_second,
       {"bodies.b.springs.bend.stiffness=31", "bodies.b.springs.bend.damping=0.05"}},
      {"gas", set_gas, {"bodies.b.pressure.amount=17", "bodies.b.pressure.inflate=0.4"}},
      {"contact",
       set_contact,
       {"colliders.0.friction=0.3", "colliders.0.stiffness=80", "colliders.0.absorption=0.04"}},
      MASS,
      GRAVITY,
      DRAG,
      WIND}},
    {"lattice",
     ENVIRONMENT("face") "bodies: [{name: b, type: lattice, origin: [0,0.003,0], nodes: [9,8,7],\n"
                         "  spacing: 0.1, node_mass: 0.01, shells: 2, damping: 0.02,\n"
                         "  velocity: [0,-1,0], springs: {k1: {stiffness: 200, damping: 0.02},\n"
                         "  k2: {stiffness: 100}, k3: {stiffness: 80},\n"
                         "  kb1: {stiffness: 30}, kb2: {stiffness: 20}, kb3: {stiffness: 10}}}]\n"
                         "colliders: [{type: room, min: [-1,0,-1], max: [0.78,5,5],\n"
                         "  response: project, keep: 0.8}]\n",
     {{"stiffness", set_stiffness, {"bodies.b.springs.k1.stiffness=83.7"}},
      {"bounce",
       set_bounce,
       {"colliders.0.restitution=0.7", "colliders.0.keep=0.6", "colliders.0.friction=0.1"}},
      MASS,
      GRAVITY,
      DT}},
    // Springs and elements of a material, with every kind of damping, with weights on the boundary.
    {"elastic rope",
     ENVIRONMENT("node") "bodies: [{name: b, type: rope, from: [0,0,0], to: [1,0.5,0], nodes: 60,\n"
                         "  elastic: {young: 1e5, density: 900, diameter: 0.01}, pins: [0, 1],\n"
                         "  damping_ratio: 0.02}]\n",
     {{"softer", set_softer, {"bodies.b.elastic.young=68750"}},
      {"ratio", set_ratio, {"bodies.b.damping_ratio=0.0625"}},
      {"undamped", set_undamped, {"bodies.b.damping_ratio=0"}},
      GRAVITY}},
    {"elastic cloth",
     ENVIRONMENT("face") "bodies: [{name: b, type: cloth, origin: [0,2,0], u: [1.5,0,0],\n"
                         "  v: [0,-0.5,0.1], nodes: [33,12], elastic: {young: 1e4, density: 200,\n"
                         "  thickness: 0.001}, pins: [left]}]\n",
     {{"softer", set_softer, {"bodies.b.elastic.young=6875", "bodies.b.elastic.poisson=0.25"}},
      {"ratio", set_ratio, {"bodies.b.damping_ratio=0.0625"}},
      {"rayleigh", set_rayleigh, {"bodies.b.rayleigh={stiffness: 0.000244140625}"}},
      WIND}},
    {"fabric",
     "bodies: [{name: b, type: cloth, origin: [0,2,0], u: [1.5,0,0], v: [0,0,-0.5],\n"
     "  nodes: [33,12], pins: [left], velocity: [0,-0.3,0], damping_ratio: 0.01,\n"
     "  fabric: {areal_density: 0.2, warp: 50, weft: 40, coupling: 9, shear: 5,\n"
     "  bending: [2e-5, 1e-5]}}]\n"
     "colliders: [{type: plane, point: [0,1.999,0], normal: [0,1,0], response: project}]\n",
     {{"cloth",
       set_cloth,
       {"bodies.b.fabric={areal_density: 0.2, warp: 30, weft: 40, coupling: 2, shear: 5, bending: "
        "[4e-5, 0], twist: 3e-5}",
        "bodies.b.damping_ratio=0.03125"}},
      {"no area", set_no_area, {"bodies.b.fabric.coupling=5"}},
      GRAVITY}},
    {"elastic lattice",
     ENVIRONMENT("face") "bodies: [{name: b, type: lattice, origin: [0,0.003,0], nodes: [6,5,5],\n"
                         "  spacing: 0.1, elastic: {young: 2e4, poisson: 0.4, density: 100},\n"
                         "  damping_ratio: 0.03125, velocity: [0,-1,0]}]\n"
                         "colliders: [{type: room, min: [-1,0,-1], max: [0.78,5,5],\n"
                         "  response: project, keep: 0.8}]\n",
     {{"slender", set_slender, {"bodies.b.elastic.young=13750", "bodies.b.elastic.poisson=0.125"}},
      {"ratio", set_ratio, {"bodies.b.damping_ratio=0.0625"}},
      {"undamped", set_undamped, {"bodies.b.damping_ratio=0"}},
      GRAVITY}},
    {"elastic sphere",
     ENVIRONMENT("quadratic") "bodies: [{name: b, type: sphere, center: [0,1.1,0], radius: 1,\n"
                              "  subdivisions: 2, elastic: {young: 5e4, poisson: 0.375,\n"
                              "  density: 300, thickness: 0.002}, damping_ratio: 0.03125,\n"
                              "  pressure: {amount: 60, inflate: 0.1, gamma: 1.4}}]\n",
     {{"slender", set_slender, {"bodies.b.elastic.young=34375", "bodies.b.elastic.poisson=0.125"}},
      {"ratio", set_ratio, {"bodies.b.damping_ratio=0.0625"}},
      {"undamped", set_undamped, {"bodies.b.damping_ratio=0"}},
      {"gas", set_gas, {"bodies.b.pressure.amount=17", "bodies.b.pressure.inflate=0.4"}},
      GRAVITY}},
    {"elastic mesh",
     ENVIRONMENT(
         "face") "bodies: [{name: b, type: mesh, file: '" TAUT_TEST_SOURCE
                 "/tests/data/meshes/sheet.obj',\n"
                 "  elastic: {young: 5e4, poisson: 0.375, density: 300, thickness: 0.004},\n"
                 "  damping_ratio: 0.03125, pins: [0, 1]}]\n",
     {{"slender", set_slender, {"bodies.b.elastic.young=34375", "bodies.b.elastic.poisson=0.125"}},
      {"ratio", set_ratio, {"bodies.b.damping_ratio=0.0625"}},
      {"undamped", set_undamped, {"bodies.b.damping_ratio=0"}},
      GRAVITY}},
};

static void assert_case(const struct case_of_scene *it, const char *precision,
                        enum integrator integrator, const struct solver_options *options,
                        const char *kernel)
{
    const char *name = integrator_name(integrator);
    char *text = text_format("precision: %s\nsimulation: {integrator: %s, dt: 0.0005,\n"
                             "  duration: 0.3, iterations: 2}\n%s",
                             precision, name, it->text);
    char *xpbd = text;
    if (integrator != INTEGRATOR_XPBD)
        xpbd =
            text_format("precision: %s\nsimulation: {integrator: %s, dt: 0.0005, duration: 0.3}\n"
                        "%s",
                        precision, name, it->text);
    char *what = text_format("%s, %s, %s, %s", it->name, precision, name, kernel);
    for (const struct setting *setting = it->settings; setting->set; setting++)
        assert_like_created(xpbd, setting, options, what);
    if (xpbd != text)
        free(xpbd);
    free(text);
    free(what);
}

// A third of all combinations, with each case, integrator and kernel among them, is enough for
// sanitizers, under which all of them take a quarter of an hour and more.
static bool is_left_out(size_t combination)
{
    return quick() && combination % 3 != 0;
}

static void test_every_integrator(void **state)
{
    (void)state;
    const struct solver_options options = {.config = {.threads = 1}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
        for (int i = 0; i < INTEGRATOR_COUNT; i++)
            if (!is_left_out(c + (size_t)i))
                assert_case(&cases[c], (c + (size_t)i) % 2 ? "single" : "double",
                            (enum integrator)i, &options, "grids and packed");
}

static void test_every_storage_format(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        struct solver_options options;
    } kernels[] = {
        {"packed", {.config = {.threads = 1}, .plan = {.no_grids = true}}},
        {"small tiles", {.config = {.threads = 1}, .plan = {.no_grids = true, .tile_nodes = 16}}},
        {"listed", {.config = {.threads = 1}, .plan = {.no_grids = true, .no_packing = true}}},
        {"reference", {.config = {.threads = 1, .kernel = TAUT_KERNEL_REFERENCE}}},
        {"coloured", {.config = {.threads = 2, .kernel = TAUT_KERNEL_COLOURED}}},
        {"budget", {.config = {.threads = 1}, .budget = BUDGET_ON}},
        {"base", {.config = {.threads = 1, .isa = TAUT_ISA_BASE}}},
    };
    static const enum integrator integrators[] = {
        INTEGRATOR_SYMPLECTIC_EULER, INTEGRATOR_VELOCITY_VERLET, INTEGRATOR_IMPLICIT_EULER};
    for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++)
        for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
            for (size_t i = 0; i < sizeof integrators / sizeof *integrators; i++)
                if (!is_left_out(c + i + k))
                    assert_case(&cases[c], (c + i + k) % 2 ? "single" : "double", integrators[i],
                                &kernels[k].options, kernels[k].name);
}

// ---- Rest lengths

static const double FACTOR = 1.1875;

// The rest lengths that a solver would be built with, rounded to the precision of storage.
struct longer {
    bool single;
};

static taut_status lengthen(const void *context, struct bodies *bodies, taut_error *error)
{
    const struct longer *it = context;
    struct body *body = &bodies->items[0];
    (void)error;
    if (body->direction_count > 0) {
        body->materials[0].has_rest_length = true;
        body->materials[0].rest_length = 0.03125 * FACTOR;
        return TAUT_OK;
    }
    body->rest_lengths =
        memory_allocate(NULL, (size_t)body->spring_count, sizeof *body->rest_lengths);
    assert_non_null(body->rest_lengths);
    for (uint64_t i = 0; i < body->spring_count; i++) {
        struct spring_ends ends = body_spring(body, i);
        const double *a = body->positions + 3 * (size_t)ends.a;
        const double *b = body->positions + 3 * (size_t)ends.b;
        double rest = vec3_length(vec3_make(a[0] - b[0], a[1] - b[1], a[2] - b[2]));
        bool first = i < body->kind_start[1];
        rest = it->single ? (double)(float)rest : rest;
        body->rest_lengths[i] = first ? rest * FACTOR : rest;
    }
    return TAUT_OK;
}

static void assert_lengthened(const char *text, const char *precision, const char *integrator,
                              const struct solver_options *options)
{
    taut_error error = {0};
    const struct longer longer = {strcmp(precision, "single") == 0};
    struct solver_options lengthening = *options;
    lengthening.change = lengthen;
    lengthening.change_context = &longer;
    taut_solver *changed = solver_from(scene_of(text, precision, integrator), options);
    taut_solver *created = solver_from(scene_of(text, precision, integrator), &lengthening);
    advance(changed, 40);
    assert_int_equal(solver_restore_from(created, changed, NULL, NULL, &error), TAUT_OK);
    assert_int_equal(taut_solver_scale_rest_lengths(changed, 0, 0, FACTOR, &error), TAUT_OK);
    assert_same_bits(energy_of(changed).total, energy_of(created).total);
    advance(changed, 40);
    advance(created, 40);
    if (taut_solver_hash(changed) != taut_solver_hash(created))
        fail_msg("%s, %s: not as if the rest lengths had been built so", precision, integrator);
    taut_solver_destroy(changed);
    taut_solver_destroy(created);
}

static double gas_energy_of(taut_solver *solver)
{
    return energy_of(solver).gas;
}

// While gas is pumped, changes of its rate and of its amount change how it continues, but not the
// present gas: the energy of the gas, which is -nRT ln(V / V0), has no jump larger than a step's.
static void test_pumping_continues(void **state)
{
    (void)state;
    taut_error error = {0};
    taut_solver *solver = solver_of(
        "precision: double\nsimulation: {integrator: symplectic_euler, dt: 0.0001, steps: 1}\n"
        "bodies: [{name: b, type: sphere, center: [0,1.1,0], radius: 1, subdivisions: 2,\n"
        "  node_mass: 0.003, springs: {edges: {stiffness: 100, damping: 0.01}},\n"
        "  pressure: {amount: 60, inflate: 0.0001}}]\n");
    taut_gas gas;
    advance(solver, 2000);
    assert_int_equal(taut_solver_get_gas(solver, 0, &gas, &error), TAUT_OK);
    static const double changes[4][2] = {{60, 0.001}, {600, 0.0001}, {20, 0.0002}, {6, 0.00005}};
    for (int i = 0; i < 4; i++) {
        double before = gas_energy_of(solver);
        taut_solver_step(solver, 1, &error);
        double a_step = fabs(gas_energy_of(solver) - before);
        before = gas_energy_of(solver);
        gas.amount = changes[i][0];
        gas.inflate = changes[i][1];
        assert_int_equal(taut_solver_set_gas(solver, 0, &gas, &error), TAUT_OK);
        assert_near(gas_energy_of(solver), before, 20 * a_step);
        advance(solver, 200);
    }
    taut_solver_destroy(solver);
}

static void test_rest_lengths(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "precision: %s\nsimulation: {integrator: %s, dt: 0.0005, steps: 1}\n"
        "bodies: [{name: b, type: cloth, origin: [0,2,0], u: [1.25,0,0], v: [0,-0.6875,0],\n"
        "  nodes: [41,23], node_mass: 0.001, pins: [left], springs: {structural:\n"
        "  {stiffness: 60, damping: 0.01, yield_at: 0.05}, shear: {stiffness: 30}}}]\n",
        "precision: %s\nsimulation: {integrator: %s, dt: 0.0005, steps: 1}\n"
        "bodies: [{name: b, type: sphere, center: [0,1.1,0], radius: 1, subdivisions: 3,\n"
        "  node_mass: 0.003, springs: {edges: {stiffness: 100, yield_at: 0.01},\n"
        "  bend: {stiffness: 10}}, pressure: {amount: 60, inflate: 0.1}}]\n",
        "precision: %s\nsimulation: {integrator: %s, dt: 0.0005, steps: 1}\n"
        "environment: {gravity: [0,-9.81,0]}\n"
        "bodies: [{name: b, type: sphere, center: [0,1.1,0], radius: 1, subdivisions: 3,\n"
        "  node_mass: 0.003, springs: {edges: {stiffness: 100, damping: 0.01}}}]\n",
    };
    static const char *const integrators[] = {"symplectic_euler", "verlet", "implicit_euler",
                                              "xpbd"};
    static const struct solver_options options[] = {
        {.config = {.threads = 1}},
        {.config = {.threads = 1}, .plan = {.no_grids = true}},
        {.config = {.threads = 1}, .plan = {.no_grids = true, .no_packing = true}},
        {.config = {.threads = 1, .kernel = TAUT_KERNEL_REFERENCE}},
    };
    for (size_t t = 0; t < 3; t++)
        for (size_t i = 0; i < 4; i++)
            for (size_t o = 0; o < 4; o++)
                for (int single = 0; single < 2; single++)
                    assert_lengthened(texts[t], single ? "single" : "double", integrators[i],
                                      &options[o]);
}

// ---- dt: auto, and several changes before a step

static void test_automatic_dt_follows(void **state)
{
    (void)state;
    taut_error error = {0};
    taut_solver *solver =
        solver_of("precision: double\nsimulation: {dt: auto, duration: 2}\n"
                  "bodies: [{name: b, type: rope, from: [0,0,0], to: [3,1,0], nodes: 30,\n"
                  "  node_mass: 0.002, pins: [first], springs: {chain: {stiffness: 60}}}]\n");
    advance(solver, 100);
    double dt = taut_solver_dt(solver), time = taut_solver_time(solver);
    assert_int_equal(taut_solver_set_stiffness(solver, 0, 0, 240, &error), TAUT_OK);
    advance(solver, 1);
    assert_near(taut_solver_dt(solver), dt / 2, 0.02 * dt);
    assert_near(taut_solver_time(solver), time + taut_solver_dt(solver), 1e-12);
    assert_near(solver_planned_time(solver), 2, taut_solver_dt(solver));
    dt = taut_solver_dt(solver);
    assert_int_equal(taut_solver_set_node_mass(solver, 0, 0.008, &error), TAUT_OK);
    advance(solver, 1);
    assert_near(taut_solver_dt(solver), 2 * dt, 0.05 * dt);
    // A duration of more steps than there may be ends with those.
    assert_int_equal(taut_solver_set_dt(solver, 1e-30, &error), TAUT_OK);
    assert_true(taut_solver_steps_planned(solver) ==
                taut_solver_step_count(solver) + UINT64_C(1000000000000000));
    // A dt set by the user stays.
    assert_int_equal(taut_solver_set_dt(solver, 0.0001, &error), TAUT_OK);
    assert_int_equal(taut_solver_set_stiffness(solver, 0, 0, 2.4, &error), TAUT_OK);
    advance(solver, 5000);
    assert_same_bits(taut_solver_dt(solver), 0.0001);
    assert_near(solver_planned_time(solver), 2, 0.0001);
    taut_solver_destroy(solver);
}

// With dt: auto what computes eigenvalues is kept between two calls; a change replaces all of it.
static void test_computed_steps_follow(void **state)
{
    (void)state;
    const char *const text =
        "precision: double\nsimulation: {dt: auto, duration: 2, integrator: rk4}\n"
        "bodies: [{name: b, type: rope, from: [0,0,0], to: [3,1,0], nodes: 300, links: skip,\n"
        "  node_mass: 0.002, pins: [first], springs: {chain: {stiffness: 60, damping: 0.02},\n"
        "  skip: {stiffness: 20, damping: 0.001}}}]\n";
    static const char *const overrides[] = {"bodies.b.springs.chain.stiffness=240", NULL};
    const struct solver_options options = {.config.threads = 1};
    taut_error error = {0};
    taut_critical_step before, after, expected;
    taut_solver *changed = solver_of(text);
    taut_solver *created = solver_from(scene_with(text, overrides), &options);
    assert_int_equal(taut_solver_critical_step(changed, 1, &before, &error), TAUT_OK);
    assert_int_equal(taut_solver_set_stiffness(changed, 0, 0, 240, &error), TAUT_OK);
    assert_int_equal(taut_solver_critical_step(changed, 1, &after, &error), TAUT_OK);
    assert_int_equal(taut_solver_critical_step(created, 1, &expected, &error), TAUT_OK);
    assert_true(after.dt_computed < 0.9 * before.dt_computed);
    assert_same_bits(after.dt_computed, expected.dt_computed);
    assert_same_bits(after.computed, expected.computed);
    taut_solver_destroy(changed);
    taut_solver_destroy(created);
}

static void test_several_at_once(void **state)
{
    (void)state;
    taut_error error = {0};
    for (int i = 0; i < INTEGRATOR_COUNT; i++) {
        taut_solver *first = sample_solver(&samples[0], "double", integrator_name(i), NULL);
        taut_solver *second = sample_solver(&samples[0], "double", integrator_name(i), NULL);
        taut_solver *plain = sample_solver(&samples[0], "double", integrator_name(i), NULL);
        advance(first, STEPS);
        advance(second, STEPS);
        advance(plain, STEPS);
        for (int k = 1; k <= 4; k++) {
            assert_int_equal(taut_solver_set_stiffness(first, 0, 0, 60 + 10 * k, &error), TAUT_OK);
            assert_int_equal(taut_solver_set_air_drag(first, 0.01 * k, &error), TAUT_OK);
        }
        assert_int_equal(taut_solver_set_air_drag(second, 0.04, &error), TAUT_OK);
        assert_int_equal(taut_solver_set_stiffness(second, 0, 0, 100, &error), TAUT_OK);
        advance(first, STEPS);
        advance(second, STEPS);
        assert_true(taut_solver_hash(first) == taut_solver_hash(second));
        // A change that is undone before a step changes nothing.
        assert_int_equal(taut_solver_set_stiffness(plain, 0, 0, 61, &error), TAUT_OK);
        assert_int_equal(taut_solver_set_stiffness(plain, 0, 0, 60, &error), TAUT_OK);
        advance(plain, STEPS);
        taut_solver *whole = sample_solver(&samples[0], "double", integrator_name(i), NULL);
        advance(whole, 2 * STEPS);
        assert_true(taut_solver_hash(plain) == taut_solver_hash(whole));
        taut_solver_destroy(first);
        taut_solver_destroy(second);
        taut_solver_destroy(plain);
        taut_solver_destroy(whole);
    }
}

// ---- Rejected values

static void assert_refused(taut_status status, taut_status expected, const char *message,
                           taut_error *error)
{
    assert_int_equal(status, expected);
    assert_contains(error->text, message);
    *error = (taut_error){0};
}

static void test_refusals(void **state)
{
    (void)state;
    const size_t last = sample_count - 1; // oscillators, pendulums and a network
    taut_error e = {0};
    taut_solver *s = sample_solver(&samples[last], "double", "symplectic_euler", NULL);
    advance(s, STEPS);
    uint64_t hash = taut_solver_hash(s);
    assert_refused(taut_solver_set_stiffness(s, 9, 0, 1, &e), TAUT_ERROR_ARGUMENT,
                   "there is no body 9; the scene has ", &e);
    assert_refused(taut_solver_set_stiffness(s, 0, 7, 1, &e), TAUT_ERROR_ARGUMENT,
                   "there is no material 7; body ", &e);
    assert_refused(taut_solver_set_stiffness(s, 0, 0, 0, &e), TAUT_ERROR_ARGUMENT, "above 0", &e);
    assert_refused(taut_solver_set_stiffness(s, 4, 0, -1, &e), TAUT_ERROR_ARGUMENT, "least 0", &e);
    assert_refused(taut_solver_set_damping(s, 4, 0, NAN, &e), TAUT_ERROR_ARGUMENT, "finite", &e);
    assert_refused(taut_solver_set_damping(s, 1, 0, 1, &e), TAUT_ERROR_UNSUPPORTED, "formula", &e);
    assert_refused(taut_solver_set_node_mass(s, 1, 2, &e), TAUT_ERROR_UNSUPPORTED, "formula", &e);
    assert_refused(taut_solver_set_node_mass(s, 0, 0, &e), TAUT_ERROR_ARGUMENT, "above 0", &e);
    assert_refused(taut_solver_scale_rest_lengths(s, 0, 0, 0, &e), TAUT_ERROR_ARGUMENT, "above 0",
                   &e);
    assert_refused(taut_solver_set_gravity(s, (double[3]){0, 1, 0}, &e), TAUT_ERROR_UNSUPPORTED,
                   "formula", &e);
    assert_refused(taut_solver_set_gravity(s, (double[3]){0, INFINITY, 0}, &e), TAUT_ERROR_ARGUMENT,
                   "finite", &e);
    assert_refused(taut_solver_set_air_drag(s, 1, &e), TAUT_ERROR_UNSUPPORTED, "formula", &e);
    assert_refused(taut_solver_set_air_drag(s, -1, &e), TAUT_ERROR_ARGUMENT, "least 0", &e);
    assert_refused(taut_solver_set_dt(s, 0, &e), TAUT_ERROR_ARGUMENT, "above 0", &e);
    assert_refused(taut_solver_set_dt(s, INFINITY, &e), TAUT_ERROR_ARGUMENT,
                   "dt is finite and above 0, not inf s", &e);
    taut_wind wind = {.coefficient = 1};
    taut_gas gas = {.gamma = 1, .inflate = 1};
    taut_contact contact = {.keep = 1};
    assert_refused(taut_solver_set_wind(s, &wind, &e), TAUT_ERROR_UNSUPPORTED, "no wind", &e);
    assert_refused(taut_solver_get_wind(s, &wind, &e), TAUT_ERROR_UNSUPPORTED, "no wind", &e);
    assert_refused(taut_solver_set_gas(s, 0, &gas, &e), TAUT_ERROR_UNSUPPORTED, "no gas", &e);
    assert_refused(taut_solver_set_contact(s, 0, &contact, &e), TAUT_ERROR_ARGUMENT, "collider",
                   &e);
    advance(s, STEPS);
    taut_solver *plain = sample_solver(&samples[last], "double", "symplectic_euler", NULL);
    advance(plain, STEPS);
    assert_true(taut_solver_hash(plain) == hash);
    advance(plain, STEPS);
    assert_true(taut_solver_hash(plain) == taut_solver_hash(s));
    taut_solver_destroy(s);
    taut_solver_destroy(plain);
    // Members of another response.
    s = solver_of(
        "simulation: {dt: 1e-3, steps: 10}\n"
        "bodies: [{name: b, type: rope, from: [0, 1, 0], to: [1, 1, 0], nodes: 4, mass: 1,\n"
        "  stiffness: 10}]\n"
        "colliders: [{type: plane, response: project}]\n");
    assert_int_equal(taut_solver_get_contact(s, 0, &contact, &e), TAUT_OK);
    contact.stiffness = 100;
    assert_refused(taut_solver_set_contact(s, 0, &contact, &e), TAUT_ERROR_ARGUMENT,
                   "collider 0 has 'response: project', which has no 'stiffness': it stays 0", &e);
    contact.stiffness = 0;
    contact.absorption = 0.1;
    assert_refused(taut_solver_set_contact(s, 0, &contact, &e), TAUT_ERROR_ARGUMENT,
                   "which has no 'absorption': it stays 0", &e);
    taut_solver_destroy(s);
    // Ranges of gas, wind and contacts.
    s = sample_solver(&samples[6], "single", "symplectic_euler", NULL);
    assert_int_equal(taut_solver_get_gas(s, 0, &gas, &e), TAUT_OK);
    assert_near(gas.gamma, 1.4, 0);
    gas.gamma = 0.9;
    assert_refused(taut_solver_set_gas(s, 0, &gas, &e), TAUT_ERROR_ARGUMENT,
                   "'gamma' of a gas must be finite and at least 1, not 0.9", &e);
    gas.gamma = 1.4;
    gas.inflate = 2;
    assert_refused(taut_solver_set_gas(s, 0, &gas, &e), TAUT_ERROR_ARGUMENT,
                   "'inflate' of a gas must be above 0 and at most 1, not 2", &e);
    assert_int_equal(taut_solver_get_wind(s, &wind, &e), TAUT_OK);
    wind.density = -1;
    assert_refused(taut_solver_set_wind(s, &wind, &e), TAUT_ERROR_ARGUMENT,
                   "'density' of a wind must be finite and at least 0, not -1", &e);
    wind.density = NAN;
    assert_refused(taut_solver_set_wind(s, &wind, &e), TAUT_ERROR_ARGUMENT, "'density'", &e);
    assert_int_equal(taut_solver_get_contact(s, 0, &contact, &e), TAUT_OK);
    assert_near(contact.stiffness, 100, 0);
    contact.restitution = 1.01;
    assert_refused(taut_solver_set_contact(s, 0, &contact, &e), TAUT_ERROR_ARGUMENT,
                   "'restitution' of a collider must be from 0 to 1, not 1.01", &e);
    contact.restitution = 0.5;
    assert_refused(taut_solver_set_contact(s, 0, &contact, &e), TAUT_ERROR_ARGUMENT,
                   "collider 0 has 'response: penalty', which has no 'restitution': it stays 0",
                   &e);
    contact.restitution = 0;
    contact.keep = 0.5;
    assert_refused(taut_solver_set_contact(s, 0, &contact, &e), TAUT_ERROR_ARGUMENT,
                   "which has no 'keep': it stays 1", &e);
    taut_solver_destroy(s);
}

// Values that float cannot hold, or whose inverse it cannot hold, change nothing in a run in single
// precision; in double they are valid, except those whose inverse overflows there.
static void test_range_of_precision(void **state)
{
    (void)state;
    static const double down[3] = {0, -1e39, 0}, still[3] = {0, 0, 0};
    taut_error e = {0};
    taut_gas gas;
    taut_wind wind;
    taut_contact contact;
    taut_solver *s = sample_solver(&samples[6], "single", "symplectic_euler", NULL);
    advance(s, STEPS);
    const char *exceeds = "exceeds the range of single", *below = "below the range of single";
    assert_refused(taut_solver_set_stiffness(s, 0, 0, 1e39, &e), TAUT_ERROR_ARGUMENT, exceeds, &e);
    assert_refused(taut_solver_set_stiffness(s, 0, 0, 1e-46, &e), TAUT_ERROR_ARGUMENT, below, &e);
    assert_refused(taut_solver_set_damping(s, 0, 0, 1e-46, &e), TAUT_ERROR_ARGUMENT, below, &e);
    assert_refused(taut_solver_set_node_mass(s, 0, 1e39, &e), TAUT_ERROR_ARGUMENT, exceeds, &e);
    assert_refused(taut_solver_set_node_mass(s, 0, 1e-39, &e), TAUT_ERROR_ARGUMENT, below, &e);
    assert_refused(taut_solver_scale_rest_lengths(s, 0, 0, 1e39, &e), TAUT_ERROR_ARGUMENT, exceeds,
                   &e);
    assert_refused(taut_solver_scale_rest_lengths(s, 0, 0, 2e-38, &e), TAUT_ERROR_ARGUMENT, below,
                   &e);
    assert_refused(taut_solver_set_gravity(s, down, &e), TAUT_ERROR_ARGUMENT, exceeds, &e);
    assert_refused(taut_solver_set_air_drag(s, 1e39, &e), TAUT_ERROR_ARGUMENT, exceeds, &e);
    assert_refused(taut_solver_set_dt(s, 1e-39, &e), TAUT_ERROR_ARGUMENT, below, &e);
    assert_int_equal(taut_solver_get_gas(s, 0, &gas, &e), TAUT_OK);
    gas.amount = 1e39;
    assert_refused(taut_solver_set_gas(s, 0, &gas, &e), TAUT_ERROR_ARGUMENT, exceeds, &e);
    assert_int_equal(taut_solver_get_wind(s, &wind, &e), TAUT_OK);
    wind.velocity[2] = -1e39;
    assert_refused(taut_solver_set_wind(s, &wind, &e), TAUT_ERROR_ARGUMENT, exceeds, &e);
    assert_int_equal(taut_solver_get_contact(s, 0, &contact, &e), TAUT_OK);
    contact.friction = 1e-46;
    assert_refused(taut_solver_set_contact(s, 0, &contact, &e), TAUT_ERROR_ARGUMENT, below, &e);
    taut_solver *plain = sample_solver(&samples[6], "single", "symplectic_euler", NULL);
    advance(s, STEPS);
    advance(plain, 2 * STEPS);
    assert_true(taut_solver_hash(plain) == taut_solver_hash(s));
    // A vector may be rounded to 0.
    assert_int_equal(taut_solver_set_gravity(s, (double[3]){0, 1e-300, 0}, &e), TAUT_OK);
    taut_solver_destroy(s);
    taut_solver_destroy(plain);

    s = sample_solver(&samples[6], "double", "symplectic_euler", NULL);
    assert_int_equal(taut_solver_set_stiffness(s, 0, 0, 1e39, &e), TAUT_OK);
    assert_int_equal(taut_solver_set_node_mass(s, 0, 1e39, &e), TAUT_OK);
    assert_int_equal(taut_solver_set_dt(s, 1e-39, &e), TAUT_OK);
    assert_refused(taut_solver_set_node_mass(s, 0, 1e-310, &e), TAUT_ERROR_ARGUMENT,
                   "below the range of double", &e);
    taut_solver_destroy(s);

    // A sphere.
    taut_scene *scene = scene_with(
        "simulation: {dt: 0.001, steps: 1}\n"
        "bodies: [{name: r, type: rope, from: [0, 0, 0], to: [1, 0, 0], nodes: 3, mass: 1,\n"
        "  stiffness: 1}]\n"
        "colliders: [{type: sphere, center: [0, 9, 0], radius: 1, stiffness: 1}]\n",
        (const char *const[]){NULL});
    s = solver_from(scene, NULL);
    assert_refused(taut_solver_set_sphere(s, 0, down, still, &e), TAUT_ERROR_ARGUMENT, exceeds, &e);
    assert_refused(taut_solver_set_sphere_target(s, 0, still, 1e-39, &e), TAUT_ERROR_ARGUMENT,
                   exceeds, &e);
    assert_refused(taut_solver_set_sphere_target(s, 0, still, INFINITY, &e), TAUT_ERROR_ARGUMENT,
                   "must be finite and above 0, not inf", &e);
    taut_solver_destroy(s);
}

static void test_materials_by_name(void **state)
{
    (void)state;
    taut_solver *s = sample_solver(&samples[2], "double", "symplectic_euler", NULL);
    assert_int_equal(taut_solver_find_material(s, 0, "shear"), 1);
    assert_int_equal(taut_solver_find_material(s, 0, "k1"), -1);
    assert_int_equal(taut_solver_find_material(s, 0, "all"), -1); // it has no spring of that kind
    assert_true(taut_solver_material_count(s, 0) >= 3);
    taut_solver_destroy(s);
    s = sample_solver(&samples[sample_count - 1], "double", "symplectic_euler", NULL);
    assert_int_equal(taut_solver_material_count(s, 4), 3); // a network of three laws
    assert_int_equal(taut_solver_find_material(s, 4, "springs"), -1);

    // There is no such body.
    const size_t bodies[] = {taut_solver_body_count(s), SIZE_MAX};
    for (int i = 0; i < 2; i++) {
        double nothing[3] = {1, 2, 3};
        assert_null(taut_solver_body_name(s, bodies[i]));
        assert_int_equal(taut_solver_body_node_count(s, bodies[i]), 0);
        assert_near(taut_solver_body_volume(s, bodies[i]), 0, 0);
        assert_int_equal(taut_solver_material_count(s, bodies[i]), 0);
        assert_int_equal(taut_solver_find_material(s, bodies[i], "springs"), -1);
        taut_solver_get_positions(s, bodies[i], nothing);
        taut_solver_get_velocities(s, bodies[i], nothing);
        assert_near(nothing[0], 1, 0);
    }
    taut_solver_destroy(s);
}

// ---- Moduli

// The elements of a lattice remain when they are not needed, and then do nothing.
static void test_without_volumes(void **state)
{
    (void)state;
    static const struct setting softer = {
        "softer", set_softer, {"bodies.b.elastic.young=13750", "bodies.b.elastic.poisson=0.25"}};
    const struct solver_options options = {.config = {.threads = 1}};
    for (int i = 0; i < 2; i++) {
        char *text = text_format(
            "precision: %s\nsimulation: {integrator: %s, dt: 0.0005, duration: 0.3}\n"
            "bodies: [{name: b, type: lattice, nodes: [9,8,7], spacing: 0.1, pins: [left],\n"
            "  elastic: {young: 2e4, poisson: 0.4, density: 100}, damping_ratio: 0.03125}]\n",
            i ? "single" : "double", i ? "implicit_euler" : "velocity_verlet");
        assert_like_created(text, &softer, &options, "a lattice without volumes");
        free(text);
    }
}

// One solver after several materials is the same as after the last one.
static void test_moduli_are_what_was_set(void **state)
{
    (void)state;
    taut_error e = {0};
    static const char text[] =
        "precision: double\nsimulation: {dt: 1e-4, steps: 9}\n"
        "bodies: [{name: b, type: cloth, u: [1,0,0], v: [0,1,0], nodes: [9,8], fabric: denim,\n"
        "  rayleigh: {stiffness: 1e-5}}, {name: r, type: rope, from: [0,0,0], to: [1,0,0],\n"
        "  nodes: 9, elastic: {young: 1e6, density: 900, diameter: 0.01}, damping: 0.25}]\n";
    const char *const none[] = {NULL};
    taut_solver *s = solver_from(scene_with(text, none), NULL);
    taut_solver *plain = solver_from(scene_with(text, none), NULL);
    taut_fabric fabric;
    taut_elastic elastic;
    assert_int_equal(taut_solver_get_fabric(s, 0, &fabric, &e), TAUT_OK);
    assert_near(fabric.shear, 53.387184, 1e-6);
    assert_near(fabric.damping.stiffness, 1e-5, 0);
    assert_near(fabric.damping.ratio, 0, 0);
    assert_int_equal(taut_solver_get_elastic(s, 1, &elastic, &e), TAUT_OK);
    assert_near(elastic.young, 1e6, 0);
    assert_near(elastic.damping.constant, 0.25, 0);
    const taut_fabric first = fabric;
    fabric.shear = 20;
    fabric.coupling = -3;
    assert_int_equal(taut_solver_set_fabric(s, 0, &fabric, &e), TAUT_OK);
    const struct topology *topology = solver_topology(s);
    assert_near(topology->bodies[0].elements.area.stiffness, -23 * 7 * 8, 1e-9);
    assert_int_equal(taut_solver_get_fabric(s, 0, &fabric, &e), TAUT_OK);
    assert_near(fabric.shear, 20, 0);
    assert_int_equal(taut_solver_set_fabric(s, 0, &first, &e), TAUT_OK);
    advance(s, STEPS);
    advance(plain, STEPS);
    assert_true(taut_solver_hash(plain) == taut_solver_hash(s));
    taut_solver_destroy(plain);
    taut_solver_destroy(s);
}

static void assert_solid_refused(taut_solver *s, size_t body, taut_elastic elastic,
                                 taut_status expected, const char *message)
{
    taut_error e = {0};
    assert_refused(taut_solver_set_elastic(s, body, &elastic, &e), expected, message, &e);
}

static void assert_fabric_refused(taut_solver *s, taut_fabric fabric, taut_status expected,
                                  const char *message)
{
    taut_error e = {0};
    assert_refused(taut_solver_set_fabric(s, 0, &fabric, &e), expected, message, &e);
}

// Moduli that a scene refuses are refused with the same reasons; nothing changes.
static void test_refused_moduli(void **state)
{
    (void)state;
    static const char text[] =
        "precision: single\nsimulation: {dt: 1e-4, steps: 9}\n"
        "bodies: [{name: b, type: cloth, u: [1,0,0], v: [0,1,0], nodes: [9,11],\n"
        "  velocity: [0.1,0.2,0.3], pins: [left], fabric: denim},\n"
        "  {name: l, type: lattice, nodes: [3,3,3], spacing: 0.1, elastic: {young: 1e4,\n"
        "  density: 900}, pins: [left]},\n"
        "  {name: s, type: sphere, radius: 1, subdivisions: 1, elastic: {young: 1e4, poisson: 0.3, "
        "density: 900,\n"
        "  thickness: 0.01}}, {name: r, type: rope, from: [0,0,0], to: [1,0,0], nodes: 5,\n"
        "  node_mass: 1, stiffness: 5}]\n";
    const char *const none[] = {NULL};
    taut_error e = {0};
    taut_solver *s = solver_from(scene_with(text, none), NULL);
    taut_solver *plain = solver_from(scene_with(text, none), NULL);
    taut_fabric denim;
    taut_elastic solid, wall;
    assert_int_equal(taut_solver_get_fabric(s, 0, &denim, &e), TAUT_OK);
    assert_int_equal(taut_solver_get_elastic(s, 1, &solid, &e), TAUT_OK);
    assert_int_equal(taut_solver_get_elastic(s, 2, &wall, &e), TAUT_OK);

    assert_refused(taut_solver_get_fabric(s, 1, &denim, &e), TAUT_ERROR_UNSUPPORTED,
                   "body 'l' has no 'fabric'", &e);
    assert_refused(taut_solver_get_elastic(s, 0, &solid, &e), TAUT_ERROR_UNSUPPORTED,
                   "body 'b' has no 'elastic'", &e);
    assert_refused(taut_solver_get_elastic(s, 3, &solid, &e), TAUT_ERROR_UNSUPPORTED,
                   "body 'r' has no 'elastic'", &e);
    assert_refused(taut_solver_get_elastic(s, 4, &solid, &e), TAUT_ERROR_ARGUMENT,
                   "there is no body 4", &e);
    assert_refused(taut_solver_set_stiffness(s, 0, 0, 1, &e), TAUT_ERROR_UNSUPPORTED,
                   "follow from its 'fabric': use taut_solver_set_fabric", &e);
    assert_refused(taut_solver_set_damping(s, 1, 0, 1, &e), TAUT_ERROR_UNSUPPORTED,
                   "follow from its 'elastic': use taut_solver_set_elastic", &e);

    taut_fabric cloth = denim;
    cloth.coupling = 500;
    assert_fabric_refused(s, cloth, TAUT_ERROR_ARGUMENT, "such a fabric would stretch by itself");
    cloth.coupling = denim.warp + 1;
    assert_fabric_refused(s, cloth, TAUT_ERROR_ARGUMENT,
                          "springs along u would have a negative stiffness");
    cloth = denim;
    cloth.shear = 1000;
    assert_fabric_refused(s, cloth, TAUT_ERROR_ARGUMENT, "too far from squares; give 'nodes: [");
    cloth.shear = 0;
    assert_fabric_refused(s, cloth, TAUT_ERROR_ARGUMENT,
                          "'shear' of a fabric must be finite and above 0, not 0");
    cloth = denim;
    cloth.coupling = NAN;
    assert_fabric_refused(s, cloth, TAUT_ERROR_ARGUMENT,
                          "'coupling' of a fabric must be finite, not nan");
    cloth = denim;
    cloth.twist = -1;
    assert_fabric_refused(s, cloth, TAUT_ERROR_ARGUMENT, "'twist'");
    cloth = denim;
    cloth.damping = (taut_material_damping){.ratio = 0.1, .stiffness = 1e-4};
    assert_fabric_refused(s, cloth, TAUT_ERROR_ARGUMENT, "has one damping: ratio (0.1), stiffness");
    cloth.damping = (taut_material_damping){.ratio = -0.1};
    assert_fabric_refused(s, cloth, TAUT_ERROR_ARGUMENT, "'damping.ratio' of a fabric");

    taut_elastic other = solid;
    other.poisson = 0.47;
    assert_solid_refused(s, 1, other, TAUT_ERROR_ARGUMENT, "a Poisson's ratio from 0 to 0.45, not");
    other.poisson = 0.6;
    assert_solid_refused(s, 1, other, TAUT_ERROR_ARGUMENT,
                         "'poisson' of an elastic must be from 0");
    other.poisson = 0.3;
    assert_solid_refused(s, 1, other, TAUT_ERROR_UNSUPPORTED, "create another solver");
    other = solid;
    other.young = 1e40;
    assert_solid_refused(s, 1, other, TAUT_ERROR_ARGUMENT, "'elastic' gives springs of 4e+38");
    other.young = 0;
    assert_solid_refused(s, 1, other, TAUT_ERROR_ARGUMENT, "'young'");
    other = wall;
    other.damping.constant = 1;
    assert_solid_refused(s, 2, other, TAUT_ERROR_ARGUMENT, "is for springs; a body with 'elastic'");

    advance(s, STEPS);
    advance(plain, STEPS);
    assert_true(taut_solver_hash(plain) == taut_solver_hash(s));
    taut_solver_destroy(s);
    taut_solver_destroy(plain);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_integrator),     cmocka_unit_test(test_every_storage_format),
        cmocka_unit_test(test_pumping_continues),    cmocka_unit_test(test_rest_lengths),
        cmocka_unit_test(test_automatic_dt_follows), cmocka_unit_test(test_computed_steps_follow),
        cmocka_unit_test(test_several_at_once),      cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_range_of_precision),   cmocka_unit_test(test_materials_by_name),
        cmocka_unit_test(test_without_volumes),      cmocka_unit_test(test_moduli_are_what_was_set),
        cmocka_unit_test(test_refused_moduli),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
