// The energy table compared with the energy budget, up to the order of the integrator and the h^2
// error of the trapezoidal rule:
// E(t) - E(0) = wind + drives + inflation - damping - drag - friction - keep - breaking.
#include "physics.h"

#include <math.h>
#include <stdio.h>

static double balance(struct work_done work)
{
    return work.wind + work.drives + work.inflation - work.damping - work.drag - work.friction -
           work.keep - work.projection - work.breaking;
}

// The parts of a scene after `simulation`, and the values that depend on dt: keep_velocity = 1 -
// keep_rate dt, and inflate = inflate_rate dt, which is then the one number that the text has a
// format field for.
struct scene_case {
    const char *body;
    double keep_rate, inflate_rate;
};

static taut_solver *solver_of_case(const struct scene_case *it, const char *integrator, double dt)
{
    char body[2000];
    int length = snprintf(body, sizeof body, it->body, it->inflate_rate * dt);
    assert_true(length > 0 && (size_t)length < sizeof body);
    return solver_of("precision: double\nsimulation: {integrator: %s, dt: " NUM
                     ", keep_velocity: " NUM ", steps: 1}\n%s",
                     integrator, dt, 1 - it->keep_rate * dt, body);
}

struct budget {
    double imbalance; // relative to the greatest work, change of energy or kinetic energy
    struct work_done work;
};

static const double TIME = 0.5; // s

static struct budget run_budget(const struct scene_case *it, const char *integrator, uint64_t steps)
{
    taut_solver *solver = solver_of_case(it, integrator, TIME / (double)steps);
    double start = energy_of(solver).total;
    advance(solver, steps);
    taut_energy end = energy_of(solver);
    double change = end.total - start, scale = fmax(fabs(change), end.kinetic);
    struct budget budget = {.work = work_of(solver)};
    const struct work_done *w = &budget.work;
    const double parts[] = {w->wind,     w->drives, w->inflation,  w->damping, w->drag,
                            w->friction, w->keep,   w->projection, w->breaking};
    for (int i = 0; i < 9; i++)
        scale = fmax(scale, fabs(parts[i]));
    budget.imbalance = fabs(change - balance(*w)) / scale;
    taut_solver_destroy(solver);
    return budget;
}

// The imbalance is at most `most` at 1000 steps, and falls with dt at least by that order.
static void assert_balance(const char *body, const char *integrator, double most, double order)
{
    const struct scene_case it = {.body = body};
    double coarse = run_budget(&it, integrator, 1000).imbalance;
    double fine = run_budget(&it, integrator, 2000).imbalance;
    if (!(coarse <= most))
        fail_msg("%s: an imbalance of %g, more than %g, in\n%s", integrator, coarse, most, body);
    double slope = order_between(coarse, fine);
    if (!(slope >= order - 0.1))
        fail_msg("%s: order %g, not %g, in\n%s", integrator, slope, order, body);
}

static const char *const all[] = {"explicit_euler",  "symplectic_euler", "verlet",
                                  "velocity_verlet", "midpoint",         "rk4"};

static const char *const damped =
    "environment: {gravity: [0,-9.81,0], air_drag: 0.05}\n"
    "bodies: [{name: c, type: cloth, origin: [0,0,0], u: [1,0,0], v: [0,0,1], nodes: [6,6],\n"
    "  mass: 0.5, pins: [{box: [[-0.01,-1,-0.01],[0.01,1,0.01]]}], springs: {structural:\n"
    "  {stiffness: 80, damping: 0.1}, shear: {stiffness: 40, damping: 0.1, damping_law: full}}}]\n";

// In both Verlet methods damping and drag use velocities of the middle of the last step: order 1.
// The trapezoidal rule reduces rk4's order 4 to 2.
static void test_damping_and_drag(void **state)
{
    (void)state;
    static const double orders[] = {1, 1, 1, 1, 2, 2},
                        most[] = {3e-3, 4e-4, 5e-4, 5e-4, 4e-6, 1e-7};
    for (int i = 0; i < 6; i++) {
        assert_balance(damped, all[i], most[i], orders[i]);
        struct budget budget = run_budget(&(struct scene_case){damped, 0, 0}, all[i], 1000);
        assert_true(budget.work.damping > 0.1 && budget.work.drag > 0.1);
    }
}

// The end of a step and the start of the next are one sweep in a run of steps, and two between
// single ones; the work is the same to the bit.
static void test_work_of_single_steps(void **state)
{
    (void)state;
    enum { RUN = 50 };
    const struct scene_case it = {.body = damped};
    for (int i = 2; i < 4; i++) {
        taut_solver *run = solver_of_case(&it, all[i], 0.001);
        taut_solver *single = solver_of_case(&it, all[i], 0.001);
        advance(run, RUN);
        for (int step = 0; step < RUN; step++)
            advance(single, 1);
        const struct work_done a = work_of(run), b = work_of(single);
        assert_true(a.damping > 0 && a.damping == b.damping);
        assert_true(a.drag > 0 && a.drag == b.drag);
        taut_solver_destroy(run);
        taut_solver_destroy(single);
    }
}

#define WINDY(law)                                                                                 \
    "environment: {wind: {velocity: [3,1,2], law: " law ", gusts: [{amplitude: [1,1,0],\n"         \
    "  period: 0.3}]}}\n"                                                                          \
    "bodies: [{name: c, type: cloth, origin: [0,0,0], u: [1,0,0], v: [0,0,1], nodes: [6,6],\n"     \
    "  mass: 0.5, pins: [left], springs: {structural: {stiffness: 80}}}]\n"

static void test_wind(void **state)
{
    (void)state;
    static const char *const laws[] = {WINDY("node"), WINDY("face"), WINDY("quadratic")};
    static const double orders[] = {1, 1, 1, 1, 2, 2};
    for (int law = 0; law < 3; law++)
        for (int i = 0; i < 6; i++) {
            // law node takes far more energy through this cloth than the cloth keeps
            double most = (law == 0 ? 20 : 1) * (i == 0   ? 0.011
                                                 : i == 1 ? 7e-3
                                                 : i < 4  ? 1e-3
                                                          : 5e-5);
            assert_balance(laws[law], all[i], most, orders[i]);
            struct budget budget = run_budget(&(struct scene_case){laws[law], 0, 0}, all[i], 500);
            assert_true(budget.work.wind > 0.05);
        }
}

#define DRIVEN(damping)                                                                            \
    "environment: {gravity: [0,-9.81,0]}\n"                                                        \
    "bodies: [{name: r, type: rope, from: [0,0,0], to: [1,0,0], nodes: 8, node_mass: 0.1,\n"       \
    "  spring: {stiffness: 200" damping "}, pins: [last],\n"                                       \
    "  drives: [{node: first, velocity: [[0, [0,1,0]], [0.25, [0.5,0,1]]]}]}]\n"

static const char *const driven = DRIVEN("");
static const char *const driven_damped = DRIVEN(", damping: 0.1");
static const char *const driven_unmeasured = DRIVEN(", damping: 0.1") "output: {work: false}\n";

// Where a drive changes its velocity, at the end of a step, its power jumps: the step before has
// the velocity before, and the balance the order of the integrator.
static void test_drives(void **state)
{
    (void)state;
    static const double orders[] = {1, 1, 2, 2, 2, 2};
    for (int i = 1; i < 6; i++) {
        assert_balance(driven, all[i], 4e-3, orders[i]);
        assert_true(run_budget(&(struct scene_case){driven, 0, 0}, all[i], 500).work.drives > 1);
    }
    for (int i = 0; i < 2; i++)
        assert_near(
            run_budget(&(struct scene_case){driven, 0, 0}, i ? "implicit_midpoint" : "bdf2", 1000)
                .imbalance,
            0, 1e-4);
}

// The state does not depend on the budget's sample there, and the budget not on how the steps are
// divided, nor on whether it is read in between.
static void test_drives_in_single_steps(void **state)
{
    (void)state;
    enum { STEPS = 260 };
    static const char *const integrators[] = {
        "symplectic_euler", "verlet", "velocity_verlet", "rk4", "implicit_euler", "xpbd"};
    const struct scene_case it = {.body = driven_damped}, unmeasured = {.body = driven_unmeasured};
    for (int i = 0; i < 6; i++) {
        taut_solver *run = solver_of_case(&it, integrators[i], 0.001);
        taut_solver *single = solver_of_case(&it, integrators[i], 0.001);
        taut_solver *without = solver_of_case(&unmeasured, integrators[i], 0.001);
        advance(run, STEPS);
        advance(without, STEPS);
        for (int step = 0; step < STEPS; step++) {
            advance(single, 1);
            (void)work_of(single);
        }
        assert_true(taut_solver_hash(run) == taut_solver_hash(without));
        assert_true(taut_solver_hash(run) == taut_solver_hash(single));
        assert_true(work_of(run).drives == work_of(single).drives);
        taut_solver_destroy(run);
        taut_solver_destroy(single);
        taut_solver_destroy(without);
    }
}

static const char *const moved =
    "environment: {gravity: [0,-9.81,0], air_drag: 0.1}\n"
    "bodies: [{name: p, type: pendulum, model: equation, pivot: [0,2,0], length: 0.8, angle: 60,\n"
    "  direction: [1,0,0], mass: 0.5}, {name: o, type: oscillator, model: closed_form,\n"
    "  anchor: [1,3,2], axis: [0,-1,0], amplitude: 0.2, phase: 40, mass: 0.5, stiffness: 80,\n"
    "  damping: 0.3}]\n";

// The motion of a prescribed pendulum or oscillator does the work of accelerating and lifting it.
static void test_prescribed_motions(void **state)
{
    (void)state;
    for (int i = 0; i < 6; i++)
        assert_balance(moved, all[i], 1e-6, 2);
}

static const char *const bouncing =
    "environment: {gravity: [0,-9.81,0]}\n"
    "bodies: [{name: j, type: lattice, origin: [0,0.05,0], nodes: [3,3,3], spacing: 0.1, mass: 1,\n"
    "  velocity: [2,0,0], springs: {k1: {stiffness: 300}, k2: {stiffness: 300}}}]\n"
    "colliders: [{type: plane, point: [0,0,0], normal: [0,1,0], stiffness: 500, friction: 0.3,\n"
    "  absorption: 0.4}, {type: sphere, center: [1.0,0.1,0.13], radius: 0.3, stiffness: 500,\n"
    "  friction: 0.1, velocity: [-1,0,0]}]\n";

// Friction, absorption and a moving sphere. The force has kinks where contact begins and ends, at
// random times within a step, which limits integrators of higher order.
static void test_contact(void **state)
{
    (void)state;
    for (int i = 1; i < 4; i++)
        assert_balance(bouncing, all[i], 2e-3, 1);
    for (int i = 4; i < 6; i++) {
        struct budget budget = run_budget(&(struct scene_case){bouncing, 0, 0}, all[i], 1000);
        assert_near(budget.imbalance, 0, 1e-3);
        assert_true(budget.work.friction > 1 && budget.work.drives > 1);
    }
}

static const char *const projected =
    "environment: {gravity: [0,-9.81,0]}\n"
    "bodies: [{name: j, type: lattice, origin: [0,0.05,0], nodes: [3,3,3], spacing: 0.1, mass: 1,\n"
    "  velocity: [2,0,0], springs: {k1: {stiffness: 300}, k2: {stiffness: 300}}}]\n"
    "colliders: [{type: plane, point: [0,0,0], normal: [0,1,0], response: project, keep: 0.9}]\n";

// Projection removes velocity and moves nodes against springs; both are in the budget. Symplectic
// Euler's own energy error, O(h) per step of contact, falls slowly.
static void test_projection(void **state)
{
    (void)state;
    static const double most[] = {0, 0.15, 0.02, 5e-3, 3e-3, 2e-6};
    for (int i = 1; i < 6; i++) {
        struct budget budget = run_budget(&(struct scene_case){projected, 0, 0}, all[i], 2000);
        assert_near(budget.imbalance, 0, most[i]);
        assert_true(budget.work.projection > 0.5);
    }
}

// The powers at the end of a step follow from those after keep_velocity: of order 2 with midpoint
// and rk4.
static void test_keep_velocity(void **state)
{
    (void)state;
    const struct scene_case kept = {damped, .keep_rate = 0.8};
    for (int i = 0; i < 6; i++) {
        struct budget coarse = run_budget(&kept, all[i], 1000);
        struct budget fine = run_budget(&kept, all[i], 2000);
        assert_near(coarse.imbalance, 0, 3e-3);
        assert_near(order_between(coarse.imbalance, fine.imbalance), i < 4 ? 1 : 2, 0.1);
        assert_true(coarse.work.keep > 0.1);
    }
}

static const char *const breaking =
    "bodies: [{name: r, type: rope, from: [0,0,0], to: [1,0,0], nodes: 8, node_mass: 0.1,\n"
    "  spring: {stiffness: 200, break_at: 1.3, yield_at: 0.1}, pins: [last],\n"
    "  drives: [{node: first, velocity: [-2,0,0]}]}]\n";

// The energy of a spring is lost when it breaks. The time at which it does so is rounded to dt:
// order 1.
static void test_breaking_and_yielding(void **state)
{
    (void)state;
    for (int i = 1; i < 6; i++) {
        assert_balance(breaking, all[i], 0.02, 1);
        struct budget budget = run_budget(&(struct scene_case){breaking, 0, 0}, all[i], 1000);
        assert_true(budget.work.breaking > 0.05);
    }
}

static const char *const torn[] = {
    "bodies: [{name: n, type: network, nodes: [[0,0,0],[1,0,0],[1,1,0],[1,2,0]], node_mass: 1,\n"
    "  springs: [[0,1,{stiffness: 400, break_at: 1.2113}],[2,3,{stiffness: 1}]], pins: [0,2],\n"
    "  drives: [{node: 1, velocity: [0.5,0,0]}]}]\n",
    "bodies: [{name: r, type: rope, from: [0,0,0], to: [1,0,0], nodes: 6, mass: 0.5,\n"
    "  spring: {stiffness: 400, break_at: 1.17}, pins: [first],\n"
    "  drives: [{node: last, velocity: [0.5,0,0]}]}]\n"};

// A spring that breaks has the work of a step that the forces of the integrator and the trapezoid
// of the drive's power do not have. Between two nodes with a prescribed motion nothing else is
// wrong; with free nodes the error is that of the integrator, also if a stage breaks the spring.
static void test_breaking_under_a_drive(void **state)
{
    (void)state;
    static const struct {
        const char *integrator;
        double most[2]; // of both scenes, in 1000 steps
        double order;   // of the second
    } cases[] = {{"explicit_euler", {1e-9, 0.25}, 1},
                 {"symplectic_euler", {1e-9, 5e-3}, 1},
                 {"verlet", {1e-9, 3e-5}, 2},
                 {"velocity_verlet", {1e-9, 3e-5}, 2},
                 {"midpoint", {1e-6, 4e-4}, 2},
                 {"rk4", {1e-6, 2e-5}, 2},
                 {"implicit_midpoint", {1e-9, 1e-9}, 0},
                 {"bdf2", {1e-9, 5e-4}, 2},
                 {"implicit_euler", {1e-9, 0.1}, 0.8},
                 {"xpbd", {1e-6, 0.012}, 0.9}};
    for (int scene = 0; scene < 2; scene++)
        for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
            for (uint64_t steps = 1000; steps <= 2000; steps += 100) {
                const struct budget budget =
                    run_budget(&(struct scene_case){torn[scene], 0, 0}, cases[i].integrator, steps);
                const double order = scene == 1 ? cases[i].order : 0;
                const double most = cases[i].most[scene] * pow(1000 / (double)steps, order);
                assert_true(budget.work.breaking > 0.1);
                if (!(budget.imbalance <= most))
                    fail_msg("%s, scene %d, %d steps: an imbalance of %g, more than %g",
                             cases[i].integrator, scene, (int)steps, budget.imbalance, most);
            }
}

static const char *const yielding =
    "environment: {gravity: [0,-9.81,0]}\n"
    "bodies: [{name: c, type: cloth, origin: [0,0,0], u: [1,0,0], v: [0,0,1], nodes: [6,6],\n"
    "  mass: 0.5, pins: [left], springs: {structural: {stiffness: 80, yield_at: 0.02},\n"
    "  shear: {stiffness: 40, yield_at: 0.05}}}]\n";

// While springs yield, their work has the order of the integrator, whether its forces are those
// before yielding or after it.
static void test_yielding(void **state)
{
    (void)state;
    static const double orders[] = {1, 1, 2, 2, 2, 2}, most[] = {0, 3e-3, 2e-4, 2e-4, 3e-4, 1e-6};
    for (int i = 1; i < 6; i++) {
        assert_balance(yielding, all[i], most[i], orders[i]);
        struct budget budget = run_budget(&(struct scene_case){yielding, 0, 0}, all[i], 1000);
        assert_true(budget.work.breaking > 0.1);
    }
    static const char *const at_the_end[] = {"implicit_euler", "bdf2", "xpbd"};
    static const double most_at_the_end[] = {0.05, 3e-4, 5e-3};
    for (int i = 0; i < 3; i++)
        assert_near(run_budget(&(struct scene_case){yielding, 0, 0}, at_the_end[i], 1000).imbalance,
                    0, most_at_the_end[i]);
}

// A spring that is built beyond its limit yields without motion, at the first evaluation: Verlet's,
// at the start of the run, comes before the energy at the start is measured.
static void test_yielding_as_built(void **state)
{
    (void)state;
    static const char *const built =
        "bodies: [{name: r, type: network, nodes: [[0,0,0],[1,0,0]], pins: [0],\n"
        "  node_mass: [1,1], springs: [[0,1,{stiffness: 100, yield_at: 0.05,\n"
        "  rest_length: 0.6}]]}]\n";
    for (int i = 1; i < 6; i++) {
        struct budget budget = run_budget(&(struct scene_case){built, 0, 0}, all[i], 1000);
        assert_near(budget.imbalance, 0, i == 1 ? 1e-3 : 1e-5);
        assert_true((budget.work.breaking > 7) == (i != 2));
    }
}

static const char *const pumped =
    "bodies: [{name: b, type: sphere, center: [0,0,0], radius: 1, subdivisions: 1, mass: 1,\n"
    "  springs: {edges: {stiffness: 200}}, pressure: {amount: 60, atmosphere: 5, gamma: 1.4,\n"
    "  inflate: " NUM "}}]\n";

static const char *const isothermal =
    "bodies: [{name: b, type: sphere, center: [0,0,0], radius: 1, subdivisions: 1, mass: 1,\n"
    "  springs: {edges: {stiffness: 200}}, pressure: {amount: 60}}]\n";

static void test_gas(void **state)
{
    (void)state;
    static const double pumping[] = {0, 0.9, 1.9, 1.9, 2, 2};
    const struct scene_case with_pump = {pumped, .inflate_rate = 8};
    for (int i = 1; i < 6; i++) {
        assert_balance(isothermal, all[i], 0.06, i == 1 ? 1 : 2);
        struct budget coarse = run_budget(&with_pump, all[i], 1000);
        struct budget fine = run_budget(&with_pump, all[i], 2000);
        assert_near(coarse.imbalance, 0, 0.012);
        assert_true(order_between(coarse.imbalance, fine.imbalance) >= pumping[i]);
        assert_true(fabs(coarse.work.inflation) > 0.1);
    }
}

// Bodies that are pumped up in every step while drives move some of their nodes: a step ends with
// the gas that it has had, so that the work of drives is of order 2 although pressures jump between
// steps.
static void test_drives_of_pumped_bodies(void **state)
{
    (void)state;
    static const char *const integrators[] = {"verlet", "midpoint", "rk4", "implicit_midpoint"};
    static const char *const bodies[] = {
        "bodies: [{name: q, type: quad, u: [1,0,0], v: [0,1,0], mass: 0.8, stiffness: 541,\n"
        "  drives: [{node: 2, velocity: [0.3,0.1,0]}], pressure: {amount: 2.56,\n"
        "  inflate: " NUM "}}]\n",
        "bodies: [{name: s, type: sphere, radius: 1, subdivisions: 2, mass: 4, stiffness: 100,\n"
        "  drives: [{node: 2, velocity: [0.6,0.2,0]}, {node: 40, velocity: [0,0.4,0]}],\n"
        "  pressure: {amount: 8, gamma: 1.4, atmosphere: 1, inflate: " NUM "}}]\n",
        "bodies: [{name: l, type: lattice, origin: [0,0,0], nodes: [4,4,4], spacing: 0.3,\n"
        "  mass: 4, stiffness: 100, drives: [{node: 0, velocity: [0.6,0.2,0]}],\n"
        "  pressure: {amount: 1, inflate: " NUM "}}]\n"};
    for (size_t body = 0; body < 3; body++)
        for (size_t i = 0; i < 4; i++) {
            const struct scene_case it = {bodies[body], .inflate_rate = 1.9};
            const struct budget coarse = run_budget(&it, integrators[i], 1000);
            const struct budget fine = run_budget(&it, integrators[i], 2000);
            const double order = order_between(coarse.imbalance, fine.imbalance);
            if (!(coarse.imbalance < 1e-4 && order >= 1.9))
                fail_msg("%s: an imbalance of %g, order %g, in\n%s", integrators[i],
                         coarse.imbalance, order, bodies[body]);
        }
}

// Without dissipation and with a symplectic integrator the sum stays bounded: over a whole long run
// it deviates no more than over its first tenth, within a fifth of that, and never by much.
static void test_bounded_over_a_long_run(void **state)
{
    (void)state;
    for (int i = 1; i < 4; i++) {
        taut_solver *solver = solver_of(
            "precision: double\nsimulation: {integrator: %s, dt: 0.001, steps: 1}\n"
            "environment: {gravity: [0,-9.81,0]}\noutput: {work: false}\n"
            "bodies: [{name: j, type: lattice, origin: [0,0,0], nodes: [3,3,3], spacing: 0.1,\n"
            "  mass: 1, velocity: [1,0,0.5], pins: [top], springs: {k1: {stiffness: 300}, k2: "
            "{stiffness: 300}},\n"
            "  pressure: {amount: 0.1}}]\n",
            all[i]);
        double start = energy_of(solver).total, early = 0, all_along = 0, kinetic = 0;
        for (int sample = 0; sample < 1000; sample++) {
            advance(solver, quick() ? 10 : 50);
            taut_energy energy = energy_of(solver);
            double astray = fabs(energy.total - start);
            kinetic = fmax(kinetic, energy.kinetic);
            all_along = fmax(all_along, astray);
            if (sample < 100)
                early = all_along;
        }
        assert_true(kinetic > 0.05);
        assert_true(all_along <= 1.6 * early);
        assert_true(all_along <= 0.05 * kinetic);
        taut_solver_destroy(solver);
    }
}

// ---- Steps that are long compared with the motion that they damp

// A rope that vibrates along itself on a plane into which its weight presses it, so that all its
// forces are linear; `omega_dt`: of its fastest mode.
static taut_solver *vibrating_rope(const char *integrator, double omega_dt, double damping,
                                   const char *environment, double friction)
{
    return solver_of(
        HEADER("%s", NUM) "environment: {gravity: [0, -10, 0]%s}\n"
                          "bodies:\n- {name: r, type: rope, from: [0, -1e-4, 0],\n"
                          "   to: [1, -1e-4, 0], nodes: 6, node_mass: 0.01, velocity: [1, 0, 0],\n"
                          "   spring: {stiffness: 1000, damping: " NUM "}, pins: [first]}\n"
                          "colliders:\n- {type: plane, stiffness: 1000, friction: " NUM "}\n",
        integrator, omega_dt / 632, environment, damping, friction);
}

// The midpoint method loses what its forces take in the middle of its steps, and nothing else.
static void test_damping_of_midpoint_steps(void **state)
{
    (void)state;
    static const double steps[] = {0.1, 0.5, 1, 2, 3, 10};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        taut_solver *solver =
            vibrating_rope("implicit_midpoint", steps[i], 0.05, ", air_drag: 0.004", 0.003);
        const double before = energy_of(solver).total;
        advance(solver, 200);
        const struct work_done work = work_of(solver);
        assert_true(work.damping > 5e-4 && work.drag > 1e-4 && work.friction > 1e-4);
        assert_near(energy_of(solver).total - before - balance(work), 0, 1e-9);
        taut_solver_destroy(solver);
    }
}

// Implicit Euler also loses (dv M dv + dx K dx) / 2 in each step, which no cause has. With damping
// that stops nodes at once this is half of their energy.
static void test_damping_of_euler_steps(void **state)
{
    (void)state;
    static const double steps[] = {0.1, 1, 3}, dampings[] = {0.05, 50};
    for (size_t i = 0; i < 6; i++) {
        taut_solver *solver =
            vibrating_rope("implicit_euler", steps[i / 2], dampings[i % 2], ", air_drag: 0.004", 0);
        const double before = energy_of(solver).total;
        double lost = 0;
        for (int step = 0; step < 50; step++) {
            vec3 x[6], v[6];
            for (uint64_t n = 0; n < 6; n++) {
                x[n] = position_of(solver, n);
                v[n] = velocity_of(solver, n);
            }
            advance(solver, 1);
            for (uint64_t n = 1; n < 6; n++) {
                const vec3 kick = vec3_subtract(velocity_of(solver, n), v[n]);
                const double stretch =
                    position_of(solver, n).x - x[n].x - (position_of(solver, n - 1).x - x[n - 1].x);
                lost += 0.01 / 2 * vec3_dot(kick, kick) + 1000.0 / 2 * stretch * stretch;
            }
        }
        const struct work_done work = work_of(solver);
        assert_true(work.damping > 1e-5 && work.damping < 0.025);
        assert_near(energy_of(solver).total - before - balance(work), -lost, 1e-7);
        taut_solver_destroy(solver);
    }
}

// The same for wind that depends on the motion of the cloth.
static void test_wind_of_midpoint_steps(void **state)
{
    (void)state;
    taut_solver *solver = solver_of(
        HEADER("implicit_midpoint",
               "0.02") "environment: {wind: {velocity: [0, 0.1, 0], law: face, coefficient: 3}}\n"
                       "bodies: [{name: c, type: cloth, origin: [0, 0, 0], u: [1, 0, 0],\n"
                       "  v: [0, 0, 1], nodes: [2, 2], mass: 0.04, velocity: [0, 1, 0],\n"
                       "  springs: {structural: {stiffness: 100}}}]\n");
    const double before = energy_of(solver).total;
    advance(solver, 20);
    const struct work_done work = work_of(solver);
    assert_true(work.wind < -0.01);
    assert_near(energy_of(solver).total - before - balance(work), 0, 1e-6);
    taut_solver_destroy(solver);
}

// Each column compared with its formula: m v^2 / 2; k (L - L0)^2 / 2; -m g.x; -nRT ln(V / V0) +
// P_atm (V - V0), which is 0 as built; k p^2 / 2.
static void test_columns(void **state)
{
    (void)state;
    taut_solver *solver = solver_of(HEADER(
        "symplectic_euler",
        "0.001") "environment: {gravity: [1,-10,0]}\n"
                 "bodies: [{name: n, type: network, nodes: [[0,-0.1,0],[3,0,4]], node_mass: [2, "
                 "3],\n"
                 "  velocities: [[1,0,0],[0,2,2]],\n"
                 "  springs: [[0, 1, {stiffness: 100, rest_length: 4}]]},\n"
                 "  {name: g, type: lattice, origin: [50,50,50], nodes: [2,2,2], spacing: 2, mass: "
                 "1e-9,\n"
                 "  springs: {k1: {stiffness: 1}}, pressure: {amount: 5, atmosphere: 0.5}}]\n"
                 "colliders: [{type: plane, point: [0,0,0], normal: [0,1,0], stiffness: 700}]\n");
    taut_energy energy = energy_of(solver);
    double length = sqrt(25 + 0.01);
    assert_near(energy.kinetic, 0.5 * 2 * 1 + 0.5 * 3 * 8, 1e-14);
    assert_near(energy.elastic, 50 * (length - 4) * (length - 4), 1e-13);
    assert_near(energy.gravity, -2 * (-10 * -0.1) - 3 * 3 + 1e-9 * 9 * 51, 1e-13);
    assert_near(energy.contact, 350 * 0.01, 1e-14);
    assert_near(energy.gas, 0, 1e-15);
    assert_near(energy.total,
                energy.kinetic + energy.elastic + energy.gravity + energy.contact + energy.gas, 0);
    for (uint64_t i = 2; i < 10; i++) // twice as wide along x: V = 16
        put(solver, i,
            vec3_make(50 + 2 * (position_of(solver, i).x - 50), position_of(solver, i).y,
                      position_of(solver, i).z));
    assert_near(energy_of(solver).gas, -5 * log(2) + 0.5 * 8, 1e-13);
    taut_solver_destroy(solver);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_damping_and_drag),
        cmocka_unit_test(test_work_of_single_steps),
        cmocka_unit_test(test_wind),
        cmocka_unit_test(test_drives),
        cmocka_unit_test(test_drives_in_single_steps),
        cmocka_unit_test(test_prescribed_motions),
        cmocka_unit_test(test_contact),
        cmocka_unit_test(test_projection),
        cmocka_unit_test(test_keep_velocity),
        cmocka_unit_test(test_breaking_and_yielding),
        cmocka_unit_test(test_breaking_under_a_drive),
        cmocka_unit_test(test_yielding),
        cmocka_unit_test(test_yielding_as_built),
        cmocka_unit_test(test_gas),
        cmocka_unit_test(test_drives_of_pumped_bodies),
        cmocka_unit_test(test_bounded_over_a_long_run),
        cmocka_unit_test(test_damping_of_midpoint_steps),
        cmocka_unit_test(test_damping_of_euler_steps),
        cmocka_unit_test(test_wind_of_midpoint_steps),
        cmocka_unit_test(test_columns),
    };
    return cmocka_run_group_tests_name("energy", tests, NULL, NULL);
}
