// The energy balance in the summary of taut run: whether it closes, and which cause is named where
// it does not.
#include "test.h"

#include "cli_fixture.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"

static int enter(void **state)
{
    (void)state;
    cli_enter("cli_balance");
    return 0;
}

// Runs a program on the JSON of balance.yaml with an integrator at dt and at dt / 2, as a list; it
// must succeed.
static void assert_balances(const char *integrator, const char *program)
{
    char *text[2];
    for (int fine = 0; fine < 2; fine++) {
        char *command = text_format("taut run balance.yaml --no-output --quiet --json --set "
                                    "simulation.integrator=%s --set simulation.dt=%s",
                                    integrator, fine ? "0.0002" : "0.0004");
        struct outcome outcome = cli_expect(0, command);
        free(command);
        text[fine] = outcome.out;
        free(outcome.err);
    }
    char *both = text_format("[%s,%s]", text[0], text[1]);
    cli_assert_json(both, program);
    free(both);
    free(text[0]);
    free(text[1]);
}

// The summary reports whether the energy balance closes: the residual is within the error that the
// order of the integrator allows; it falls with dt by that order and is smaller than the work of
// any cause, so a missing cause would show. The summary also states that explicit and implicit
// Euler add and remove energy themselves, in proportion to dt.
static void the_summary_reports_whether_the_balance_closes(void **state)
{
    (void)state;
    if (!cli_has_python())
        skip();
    fixture_write(
        "balance.yaml",
        "precision: double\nsimulation: {dt: 0.0004, duration: 0.8}\n"
        "environment: {gravity: [0,-9.81,0], air_drag: 0.01}\n"
        "bodies: [{name: c, type: cloth, origin: [0,0,0], u: [1,0,0], v: [0,0,1],\n"
        "  nodes: [5,5], mass: 0.5, pins: [corners],\n"
        "  springs: {structural: {stiffness: 100, damping: 0.05}, shear: {stiffness: 50,\n"
        "  damping: 0.05}}}]\n");
    static const struct {
        const char *name;
        int order;
    } integrators[] = {
        {"symplectic_euler", 1}, {"verlet", 1}, {"velocity_verlet", 1},   {"xpbd", 1},
        {"midpoint", 2},         {"rk4", 2},    {"implicit_midpoint", 2}, {"bdf2", 2}};
    for (size_t i = 0; i < sizeof integrators / sizeof integrators[0]; i++) {
        char *program =
            text_format("order = %d\n"
                        "a, b = (each['balance'] for each in d)\n"
                        "least = min(d[1]['work']['damping'], d[1]['work']['drag'])\n"
                        "assert a['order'] == b['order'] == order, b\n"
                        "assert a['verdict'] == b['verdict'] == 'closes', (a, b)\n"
                        "assert a['cause'] is None and b['cause'] is None, (a, b)\n"
                        "assert abs(a['residual']) <= a['allowed'], a\n"
                        "assert 1.9 ** order < a['allowed'] / b['allowed'] < 2.1 ** order, (a, b)\n"
                        "assert b['allowed'] < least / 2, (b, least)\n"
                        "assert abs(b['change'] - b['accounted'] - b['residual']) < 1e-12, b\n",
                        integrators[i].order);
        assert_balances(integrators[i].name, program);
        free(program);
    }
    static const char *const eulers[2][2] = {{"explicit_euler", "growth"},
                                             {"implicit_euler", "numerical damping"}};
    for (int i = 0; i < 2; i++) {
        char *named = text_format("a, b = (each['balance'] for each in d)\n"
                                  "assert '%s' in a['cause'], a\n"
                                  "assert 1.8 < a['residual'] / b['residual'] < 2.2, (a, b)\n",
                                  eulers[i][1]);
        assert_balances(eulers[i][0], named);
        free(named);
    }
}

// Runs a program on the JSON of a scene with an integrator at dt, dt / 2 and dt / 4.
static void assert_over_steps(const char *scene, const char *integrator, double dt, int steps,
                              const char *program)
{
    char *text = text_format("[");
    for (int i = 0; i < 3; i++) {
        char *command = text_format("taut run %s --no-output --quiet --json --steps %d --set "
                                    "simulation.integrator=%s --set simulation.dt=%.17g",
                                    scene, steps << i, integrator, dt / (1 << i));
        struct outcome outcome = cli_expect(0, command);
        char *more = text_format("%s%s%s", text, outcome.out, i < 2 ? "," : "]");
        free(command);
        free(text);
        outcome_free(&outcome);
        text = more;
    }
    cli_assert_json(text, program);
    free(text);
}

// The error of the trapezoids of the power of a drive, h^2/12 of the change of P', is all that a
// method of order 2 leaves of a smooth motion. The residual would show if any contribution to the
// balance were missing.
static void the_balance_of_a_driven_rope_closes(void **state)
{
    (void)state;
    if (!cli_has_python())
        skip();
    fixture_write("driven.yaml",
                  "precision: double\nsimulation: {dt: 0.0001, steps: 70}\n"
                  "environment: {gravity: [0,-4,0]}\n"
                  "bodies: [{name: r, type: rope, from: [0,0,0], to: [0.9,0,0], nodes: 12,\n"
                  "  mass: 0.4, stiffness: 260, drives: [{node: first, velocity: [0,0.6,0]}]}]\n");
    static const char *const methods[] = {"verlet", "velocity_verlet",   "midpoint",
                                          "rk4",    "implicit_midpoint", "bdf2"};
    for (int i = 0; i < 6; i++) // the tolerance of implicit steps does not fall with dt
        assert_over_steps("driven.yaml", methods[i], 1e-4, 70,
                          "b = [each['balance'] for each in d]\n"
                          "assert all(each['verdict'] == 'closes' for each in b), b\n"
                          "assert d[0]['implicit'] or 2.5 < b[0]['allowed'] / b[1]['allowed'] < "
                          "4.6, b\n"
                          "assert abs(d[0]['work']['drives']) > 100 * b[0]['allowed'], d[0]\n");
}

// No difference extends over a jump of the powers, where a drive changes its velocity: the error
// that the order allows falls with dt after it too, and is much less than the work of the drive.
static void the_balance_after_jumps_of_a_drive_is_judged(void **state)
{
    (void)state;
    if (!cli_has_python())
        skip();
    static const char *const methods[] = {"symplectic_euler", "midpoint", "rk4",
                                          "implicit_midpoint", "velocity_verlet"};
    for (int damped = 0; damped < 2; damped++) {
        char *text = text_format(
            "precision: double\nsimulation: {dt: 0.001, steps: 100}\n"
            "environment: {gravity: [0,-4,0]}\n"
            "bodies: [{name: r, type: rope, from: [0,0,0], to: [0.9,0,0], nodes: 12, mass: 0.4,\n"
            "  stiffness: 260, damping: %s, drives: [{node: first, velocity: [[0,[0,0.6,0]],\n"
            "  [0.02,[0.5,-0.6,0]], [0.05,[0,0,0]]]}]}]\n",
            damped ? "0.05" : "0");
        fixture_write("jumps.yaml", text);
        free(text);
        for (int i = 0; i < 5; i++)
            assert_over_steps(
                "jumps.yaml", methods[i], 1e-3, 100,
                "b = [each['balance'] for each in d]\n"
                "assert all(each['verdict'] == 'closes' for each in b), b\n"
                "assert b[0]['allowed'] / b[2]['allowed'] > 3.4, b\n"
                "assert b[2]['order'] == 1 or b[2]['allowed'] < abs(d[2]['work']['drives']) "
                "/ 20, d[2]\n");
    }
}

static const char *const all_integrators[] = {"symplectic_euler",
                                              "implicit_euler",
                                              "explicit_euler",
                                              "xpbd",
                                              "velocity_verlet",
                                              "verlet",
                                              "midpoint",
                                              "rk4",
                                              "bdf2",
                                              "implicit_midpoint"};
enum { INTEGRATORS = sizeof all_integrators / sizeof all_integrators[0] };

// A node that a drive moves is pulled by a yielding spring with the mean force of a step, of which
// the forces at both ends of the step lack a part. With xpbd and both methods of implicit steps the
// lack was the same.
static void the_balance_of_driven_springs_that_yield_closes(void **state)
{
    (void)state;
    if (!cli_has_python())
        skip();
    fixture_write(
        "yields.yaml",
        "precision: double\nsimulation: {dt: 0.001, steps: 500}\n"
        "bodies: [{name: r, type: rope, from: [0,0,0], to: [1,0,0], nodes: 6, mass: 0.3,\n"
        "  pins: [first], spring: {stiffness: 300, yield_at: 0.02},\n"
        "  drives: [{node: last, velocity: [[0,[0.5,0,0]],[0.25,[-0.5,0,0]]]}]}]\n");
    for (int i = 0; i < INTEGRATORS; i++)
        assert_over_steps("yields.yaml", all_integrators[i], 1e-3, 500,
                          "b = [each['balance'] for each in d]\n"
                          "assert all(each['verdict'] == 'closes' for each in b), b\n"
                          "assert b[0]['order'] == 1 or b[2]['allowed'] < d[2]['work']['breaking'] "
                          "/ 1000, d[2]\n");
}

// keep_velocity multiplies velocities after each step, whose forces at its end had those before;
// the power of a force that depends on a velocity relative to something that moves is known to
// order 1.
static void the_balance_with_keep_velocity_closes(void **state)
{
    (void)state;
    if (!cli_has_python())
        skip();
    static const char *const methods[] = {"midpoint", "rk4", "implicit_midpoint", "bdf2"};
    static const char rope[] = "bodies: [{name: r, type: rope, from: [0,0,0], to: [1,0,0],\n"
                               "  nodes: 6, mass: 0.3, spring: {stiffness: 300, damping: 0.1}, ";
    static const struct {
        const char *around, *more;
        int order;
    } cases[] = {{"air_drag: 0.05", "pins: [first]", 2},
                 {"air_drag: 0", "pins: [first]", 2},
                 {"air_drag: 0.05", "drives: [{node: last, velocity: [0,0.5,0.2]}]", 1}};
    for (int c = 0; c < 3; c++) {
        char *text = text_format(
            "precision: double\nsimulation: {dt: 0.001, steps: 600,\n"
            "  keep_velocity: 0.999}\nenvironment: {gravity: [0,-9.81,0], %s}\n%s%s}]\n",
            cases[c].around, rope, cases[c].more);
        fixture_write("keeps.yaml", text);
        free(text);
        char *program = text_format("b = [each['balance'] for each in d]\n"
                                    "assert all(each['order'] == %d for each in b), b\n"
                                    "assert all(each['verdict'] == 'closes' for each in b), b\n",
                                    cases[c].order);
        for (int i = 0; i < 4; i++)
            assert_over_steps("keeps.yaml", methods[i], 1e-3, 600, program);
        free(program);
    }
}

// A substep of xpbd removes m |v' - v|^2 / 2, which differences of the kinetic energy do not show
// where it does not change, as in a rotation.
static void the_balance_of_stiff_ropes_of_xpbd_closes(void **state)
{
    (void)state;
    if (!cli_has_python())
        skip();
    static const char *const bodies[] = {
        "{name: r, type: network, nodes: [[0,0,0],[1,0,0],[2,0,0]], node_mass: [1,1,1], pins: "
        "[0],\n"
        "  velocities: [[0,0,0],[0,3,0],[0,6,0]], springs: [[0,1,{stiffness: 1e5}],\n"
        "  [1,2,{stiffness: 1e5}]]}",
        "{name: r, type: rope, from: [0,0,0], to: [1,0,0], nodes: 4, mass: 0.3, pins: [first],\n"
        "  spring: {stiffness: 1e6}}"};
    for (int b = 0; b < 2; b++)
        for (int substeps = 1; substeps < 20; substeps *= 4) {
            char *text = text_format("precision: double\nsimulation: {dt: 0.004, steps: 400,\n"
                                     "  substeps: %d}\nenvironment: {gravity: [0,%d,0]}\n"
                                     "bodies: [%s]\n",
                                     substeps, b == 0 ? 0 : -10, bodies[b]);
            fixture_write("rotates.yaml", text);
            free(text);
            assert_over_steps("rotates.yaml", "xpbd", 0.004, 400,
                              "b = [each['balance'] for each in d]\n"
                              "assert all(each['verdict'] != 'open' for each in b), b\n"
                              "assert b[2]['allowed'] < 0.8 * b[0]['allowed'], b\n");
        }
}

// The velocity of a free fall grows by small increments that are rounded alike in many steps: what
// this leaves is not blamed on constraints, which there are none of, or on an integrator that grows
// or damps.
static void rounding_is_named_before_the_integrator(void **state)
{
    (void)state;
    if (!cli_has_python())
        skip();
    fixture_write("falls.yaml",
                  "precision: single\nsimulation: {dt: 0.00005, duration: 1}\n"
                  "environment: {gravity: [0,-9.81,0]}\n"
                  "bodies: [{name: b, type: network, nodes: [[0,3,0],[2,3,1]], node_mass: [1,1],\n"
                  "  springs: [], velocity: [1,0,0]}]\n");
    static const char *const methods[] = {"xpbd", "implicit_midpoint", "midpoint"};
    for (int i = 0; i < 3; i++) {
        char *command =
            text_format("taut run falls.yaml --no-output --quiet --json --set "
                        "simulation.integrator=%s --set simulation.dt=%s --set "
                        "environment.gravity=[0,%s,0]",
                        methods[i], i == 2 ? "0.000002" : "0.00005", i == 2 ? "-0.5" : "-9.81");
        struct outcome outcome = cli_expect(0, command);
        cli_assert_json(
            outcome.out,
            "assert d['balance']['cause'].startswith('probably rounding'), d['balance']");
        outcome_free(&outcome);
        free(command);
    }
}

// The pressure of a volume that only approximates the enclosed one has no potential energy: the
// verdict does not report that the budget lacks anything.
static void gas_without_potential_is_named(void **state)
{
    (void)state;
    if (!cli_has_python())
        skip();
    fixture_write("gas.yaml",
                  "precision: double\nsimulation: {integrator: rk4, dt: 0.000125, duration: 1}\n"
                  "environment: {gravity: [0,-9.81,0]}\n"
                  "bodies: [{name: b, type: sphere, center: [0,1,0], radius: 0.5, mass: 1,\n"
                  "  subdivisions: 2, springs: {edges: {stiffness: 300}}, velocity: [1,0,0],\n"
                  "  pressure: {amount: 20}}]\n"
                  "colliders: [{type: plane, point: [0,0,0], normal: [0,1,0], stiffness: 2000}]\n");
    struct outcome outcome = cli_expect(0, "taut run gas.yaml --no-output --quiet --json");
    cli_assert_json(outcome.out, "assert d['balance']['verdict'] == 'closes', d['balance']");
    outcome_free(&outcome);
    outcome = cli_expect(0, "taut run gas.yaml --no-output --quiet --json --set "
                            "bodies.0.pressure.volume=box");
    cli_assert_json(outcome.out, "b = d['balance']\n"
                                 "assert b['verdict'] == 'no_potential', b\n"
                                 "assert 'potential' in b['cause'], b");
    outcome_free(&outcome);
    outcome = cli_expect(0, "taut run gas.yaml --no-output --set bodies.0.pressure.volume=box");
    assert_contains(outcome.out, "cannot close: besides the gas");
    outcome_free(&outcome);
}

// With many modes the second differences of the kinetic energy, which is that of all of them,
// cancel; the energy that both Euler methods add or remove does not.
static void the_balance_of_many_modes_closes(void **state)
{
    (void)state;
    if (!cli_has_python())
        skip();
    fixture_write("modes.yaml",
                  "precision: double\nsimulation: {dt: 0.0004, steps: 300}\n"
                  "environment: {gravity: [0,-9.81,0], air_drag: 0.01}\n"
                  "bodies: [{name: l, type: lattice, origin: [0,0,0], nodes: [3,3,3],\n"
                  "  spacing: 0.2, mass: 0.6, pins: [0], velocity: [0.7,-0.4,0.3],\n"
                  "  springs: {k1: {stiffness: 200, damping: 0.02}, k2: {stiffness: 70,\n"
                  "  damping: 0.02}}}]\n");
    for (int i = 0; i < 2; i++)
        assert_over_steps("modes.yaml", i ? "implicit_euler" : "explicit_euler", 4e-4, 300,
                          "b = [each['balance'] for each in d]\n"
                          "assert all(each['verdict'] == 'closes' for each in b), b\n"
                          "assert 1.8 < b[1]['allowed'] / b[2]['allowed'] < 2.2, b\n");
    // The budget of explicit Euler changes no bit of the motion.
    struct outcome with = cli_expect(0, "taut run modes.yaml --no-output --quiet --hash --set "
                                        "simulation.integrator=explicit_euler");
    struct outcome without = cli_expect(0, "taut run modes.yaml --no-output --quiet --hash --set "
                                           "simulation.integrator=explicit_euler --set "
                                           "output.work=false");
    assert_string_equal(with.out, without.out);
    outcome_free(&with);
    outcome_free(&without);
}

// Cuts of implicit steps take energy of bodies that meet, and most of the rest is lost by implicit
// Euler, which the residual shows; a smaller dt leaves little of both.
static void implicit_cuts_take_energy_beside_what_steps_lose(void **state)
{
    (void)state;
    fixture_write("meet.yaml",
                  "precision: double\n"
                  "simulation: {integrator: implicit_midpoint, dt: 0.0002, duration: 0.004}\n"
                  "contact: {thickness: 0.004}\n"
                  "bodies:\n"
                  "  - {name: a, type: sphere, center: [-0.06, 0.01, 0], radius: 0.05,\n"
                  "     subdivisions: 2, mass: 0.1, stiffness: 3000, velocity: [60, 0, 0]}\n"
                  "  - {name: b, type: sphere, center: [0.06, 0, 0], radius: 0.05,\n"
                  "     subdivisions: 2, mass: 0.1, stiffness: 3000, velocity: [-60, 0, 0]}\n");
    struct outcome outcome = cli_expect(0, "taut run meet.yaml --no-output --quiet --json");
    cli_assert_json(
        outcome.out,
        "assert 10 < d['work']['truncation'] < 40 and d['balance']['residual'] < -250, d\n"
        "assert 'implicit_midpoint repeats steps in which surfaces meet' in "
        "d['balance']['cause'], d");
    outcome_free(&outcome);
    outcome = cli_expect(0, "taut run meet.yaml --no-output --quiet --json --set "
                            "simulation.dt=3.125e-6");
    cli_assert_json(outcome.out, "assert abs(d['work']['truncation']) < 0.1, d\n"
                                 "assert abs(d['balance']['residual']) < 10, d");
    outcome_free(&outcome);
}

// If the balance does not close, the summary reports this and names the cause, numerical damping;
// or it reports that the steps are too coarse to judge.
static void the_summary_names_what_is_missing(void **state)
{
    (void)state;
    fixture_write("damps.yaml",
                  "precision: double\nsimulation: {integrator: implicit_euler, dt: 0.02,\n"
                  "  duration: 5}\n"
                  "bodies: [{name: b, type: network, nodes: [[0,0,0],[1.2,0,0]], pins: [0],\n"
                  "  node_mass: [1,1], springs: [[0,1,{stiffness: 100, rest_length: 1}]]}]\n");
    struct outcome outcome = cli_expect(0, "taut run damps.yaml --no-output");
    assert_contains(outcome.out, "too coarse to judge: order 1 leaves up to");
    assert_contains(outcome.out, "cause: the numerical damping of implicit_euler");
    outcome_free(&outcome);
    outcome = cli_expect(0, "taut run damps.yaml --no-output --set simulation.dt=0.0001");
    assert_contains(outcome.out, "closes: order 1 leaves up to");
    outcome_free(&outcome);
    outcome = cli_expect(0, "taut run damps.yaml --no-output --set "
                            "simulation.integrator=symplectic_euler --set simulation.dt=0.001 "
                            "--set simulation.position_step=0.0005");
    assert_contains(outcome.out, "cause: position_step, which is not dt");
    outcome_free(&outcome);
}

// A gas ball whose fastest vibrations turn by 35 radians in a step: of the equations one linear
// system leaves as much as of the vibrations that it does not resolve.
static void the_summary_names_steps_that_are_not_resolved(void **state)
{
    (void)state;
    fixture_write(
        "stiff.yaml",
        "precision: double\n"
        "simulation: {integrator: implicit_midpoint, keep_velocity: 0.99, dt: 0.016,\n"
        "  duration: 0.384}\n"
        "environment: {gravity: [0,-9.81,0], wind: {velocity: [3,1,0.5], law: quadratic,\n"
        "  relative: false, gusts: [{amplitude: [1,0,1], period: 0.2}]}}\n"
        "colliders: [{type: plane, point: [0,-0.1,0], response: penalty, stiffness: 4133,\n"
        "  absorption: 0.0447, friction_coefficient: 0.4}]\n"
        "bodies: [{name: a, type: sphere, center: [0,0.45,0], radius: 0.1, subdivisions: 1,\n"
        "  node_mass: 0.00121, stiffness: 4133, damping: 0.04472, damping_law: full,\n"
        "  drives: [{node: first, velocity: [-0.64,0.25,0.3]}], velocity: [-0.75,-0.18,0.06],\n"
        "  rotate: [10,20,30], pressure: {amount: 41.3, atmosphere: 2070}}]\n");
    struct outcome outcome = cli_expect(0, "taut run stiff.yaml --no-output");
    assert_contains(outcome.out,
                    "cause: probably dt, which does not resolve the fastest vibrations, "
                    "with one linear system a step: 'newton' above 1");
    outcome_free(&outcome);
    outcome = cli_expect(0, "taut run stiff.yaml --no-output --set simulation.implicit.newton=20");
    assert_contains(outcome.out,
                    "cause: probably dt, which does not resolve the fastest vibrations\n");
    outcome_free(&outcome);
    outcome = cli_expect(0, "taut run stiff.yaml --no-output --set simulation.implicit.newton=20 "
                            "--set simulation.dt=0.002");
    assert_contains(outcome.out, " closes: order ");
    outcome_free(&outcome);
}

// A cell of four nodes that lies on a pinned sheet, with steps that springs allow, and contacts do
// not: it vibrates, and dampers take the energy of it.
static void the_summary_names_contacts_that_dt_does_not_allow_for(void **state)
{
    (void)state;
    fixture_write("pressed.yaml",
                  "precision: double\n"
                  "simulation: {integrator: symplectic_euler, dt: 0.02, duration: 10}\n"
                  "environment: {gravity: [0, -9.81, 0]}\n"
                  "contact: {thickness: 0.02, stiffness: 100, friction_coefficient: 0.3}\n"
                  "bodies:\n"
                  "- {name: low, type: cloth, origin: [-2, 0, -2], u: [4, 0, 0], v: [0, 0, 4],\n"
                  "   nodes: [2, 2], mass: 1, spring: {stiffness: 1}, pins: [left, right]}\n"
                  "- {name: top, type: cloth, origin: [0.9, 0.03, -0.3], u: [0.1, 0, 0],\n"
                  "   v: [0, 0, 0.1], nodes: [2, 2], mass: 0.04, spring: {stiffness: 1}}\n");
    struct outcome outcome = cli_expect(0, "taut run pressed.yaml --no-output");
    assert_contains(outcome.out, "does not close");
    assert_contains(outcome.out, "cause: probably contacts of surfaces: at node ");
    assert_contains(outcome.out, " of body 'top' they are 1.");
    outcome_free(&outcome);
    char *text[2];
    for (int threads = 1; threads <= 2; threads++) {
        char *command =
            text_format("taut run pressed.yaml --no-output --quiet --json --threads %d", threads);
        outcome = cli_expect(0, command);
        free(command);
        text[threads - 1] = outcome.out;
        free(outcome.err);
    }
    char *both = text_format("[%s,%s]", text[0], text[1]);
    cli_assert_json(both, "a, b = (each['contact_exceeds'] for each in d)\n"
                          "assert a == b and a['body'] == 'top' and 1.1 < a['times'] < 2, a\n"
                          "assert 0.01 < a['critical_step'] < 0.02, a\n"
                          "assert 'contacts of surfaces' in d[0]['balance']['cause'], d[0]");
    free(both);
    free(text[0]);
    free(text[1]);
    outcome = cli_expect(0, "taut run pressed.yaml --no-output --quiet --json --set "
                            "simulation.dt=0.005");
    cli_assert_json(outcome.out, "assert d['contact_exceeds'] is None, d\n"
                                 "assert abs(d['balance']['residual']) < 1e-4, d['balance']\n"
                                 "assert d['balance']['cause'] is None, d['balance']");
    outcome_free(&outcome);
}

// At a terminal speed the kinetic energy is the same at the start of every step, since friction on
// a surface that projects, or keep_velocity, removes the energy that forces supply; the
// integrator's error within a step is of its order all the same.
static void the_balance_at_a_terminal_speed_closes(void **state)
{
    (void)state;
    static const char *const slowed[] = {"duration: 3}\ncolliders: [{type: plane, normal: [3,1,0], "
                                         "response: project, friction: 10}]\n",
                                         "duration: 3, keep_velocity: 0.99}\n"};
    for (int s = 0; s < 2; s++) {
        char *text = text_format("precision: double\nsimulation: {dt: 0.001, %s"
                                 "environment: {gravity: [0,-9.81,0]}\n"
                                 "bodies: [{name: b, type: network, nodes: [[0,0,0]],\n"
                                 "  node_mass: [1], springs: []}]\n",
                                 slowed[s]);
        fixture_write("slowed.yaml", text);
        free(text);
        for (size_t i = 0; i < INTEGRATORS; i++) {
            char *command = text_format("taut run slowed.yaml --no-output --set "
                                        "simulation.integrator=%s",
                                        all_integrators[i]);
            struct outcome outcome = cli_expect(0, command);
            assert_contains(outcome.out, " closes: order ");
            outcome_free(&outcome);
            free(command);
        }
    }
}

// Effects that lower the order of a balance, and errors of rounding, count in the verdict: a wind
// on nodes is not in the tangent, so that one linear system a step leaves an error of order 1; and
// Verlet makes velocities of rounded positions.
static void the_balance_knows_order_and_rounding(void **state)
{
    (void)state;
    fixture_write("windy.yaml",
                  "precision: double\nsimulation: {dt: 0.00025, duration: 1}\n"
                  "environment: {gravity: [0,-9.81,0],\n"
                  "  wind: {velocity: [4,0,1], law: node, coefficient: 0.8}}\n"
                  "bodies: [{name: c, type: cloth, origin: [0,0,0], u: [1,0,0], v: [0,-1,0],\n"
                  "  nodes: [6,6], mass: 0.5, spring: {stiffness: 200, damping: 0.02},\n"
                  "  pins: [top]}]\n");
    for (int i = 0; i < 2; i++)
        for (int newton = 1; newton < 4; newton += 2) {
            char *command = text_format("taut run windy.yaml --no-output --set "
                                        "simulation.integrator=%s --set "
                                        "simulation.implicit.newton=%d",
                                        i ? "bdf2" : "implicit_midpoint", newton);
            struct outcome outcome = cli_expect(0, command);
            assert_contains(outcome.out, newton == 1 ? " closes: order 1 " : " closes: order 2 ");
            outcome_free(&outcome);
            free(command);
        }
    fixture_write("falls.yaml", "precision: double\n"
                                "simulation: {integrator: verlet, dt: 0.0001, duration: 1}\n"
                                "environment: {gravity: [0,-9.81,0]}\n"
                                "bodies: [{name: b, type: network, nodes: [[0,0,0]],\n"
                                "  node_mass: [1], velocities: [[3,0,0]], springs: []}]\n");
    struct outcome outcome = cli_expect(0, "taut run falls.yaml --no-output");
    assert_contains(outcome.out, " closes: order 2 ");
    outcome_free(&outcome);
}

// In precision mixed a scene far from the origin is judged as one near it: its coordinates count
// from its own middle, and heights are as in double. A body at rest closes, and names no integrator
// as the cause of rounding.
static void the_balance_of_mixed_precision_is_judged_near_the_origin(void **state)
{
    (void)state;
    if (!cli_has_python())
        skip();
    static const char *const integrators[] = {"velocity_verlet", "implicit_midpoint", "bdf2",
                                              "xpbd"};
    char *text = text_format("[");
    for (int i = 0; i < 2 * 4; i++) {
        const int far = i % 2;
        char *scene = text_format(
            "precision: mixed\nsimulation: {integrator: %s, dt: 0.0001, steps: 3000}\n"
            "environment: {gravity: [0,-9.81,0]}\n"
            "bodies: [{name: r, type: rope, from: [%d,%d,0], to: [%d.9,%d,0], nodes: 12,\n"
            "  mass: 0.4, stiffness: 260, pins: [first]}]\n",
            integrators[i / 2], far * 12000, far * 12000, far * 12000, far * 12000);
        fixture_write("mixed.yaml", scene);
        free(scene);
        struct outcome outcome = cli_expect(0, "taut run mixed.yaml --no-output --quiet --json");
        char *more = text_format("%s%s%s", text, outcome.out, i == 7 ? "]" : ",");
        free(text);
        outcome_free(&outcome);
        text = more;
    }
    cli_assert_json(text, "balances = [each['balance'] for each in d]\n"
                          "for near, far in zip(balances[::2], balances[1::2]):\n"
                          "    assert near['verdict'] == far['verdict'] == 'closes', (near, far)\n"
                          "    assert far['allowed'] < 2 * near['allowed'], (near, far)\n"
                          "    assert far['allowed'] < far['exchanged'] / 1000, far\n");
    free(text);
    fixture_write("rests.yaml", "simulation: {dt: 0.0001, steps: 1000}\n"
                                "bodies: [{name: b, type: rope, from: [0,3,0], to: [1,3.3,0.1],\n"
                                "  nodes: 11, mass: 1, stiffness: 1000}]\n");
    for (int i = 0; i < INTEGRATORS; i++) {
        char *command = text_format("taut run rests.yaml --no-output --set "
                                    "simulation.integrator=%s",
                                    all_integrators[i]);
        struct outcome outcome = cli_expect(0, command);
        assert_contains(outcome.out, " closes: order ");
        if (strstr(outcome.out, "cause: the "))
            fail_msg("%s:\n%s", command, outcome.out);
        outcome_free(&outcome);
        free(command);
    }
}

// Rounding strains elements as it does springs, which spheres of a material have none of. Without
// them, balances of bodies at rest did not close.
static void the_balance_of_elements_at_rest_closes(void **state)
{
    (void)state;
    if (!cli_has_python())
        skip();
    static const char *const bodies[] = {
        "{name: s, type: sphere, center: [0,1,0], radius: 0.3, subdivisions: 2,\n"
        "  elastic: {material: rubber, thickness: 0.002}}",
        "{name: c, type: cloth, origin: [1,1,1], u: [0.02,0,0], v: [0,0,0.02], nodes: [21,21],\n"
        "  fabric: blanket}",
    };
    static const char *const integrators[] = {"implicit_euler", "implicit_midpoint", "bdf2"};
    for (int i = 0; i < 2 * 3 * 2; i++)
        for (int steps = 0; steps < 2; steps++) {
            char *scene =
                text_format("precision: %s\nsimulation: {integrator: %s, dt: %s, steps: 100}\n"
                            "bodies: [%s]\n",
                            i % 2 ? "mixed" : "single", integrators[i / 2 % 3],
                            steps ? "1e-5" : "1e-3", bodies[i / 6]);
            fixture_write("elements.yaml", scene);
            free(scene);
            struct outcome outcome =
                cli_expect(0, "taut run elements.yaml --no-output --quiet --json");
            cli_assert_json(outcome.out, "b = d['balance']\n"
                                         "assert b['verdict'] == 'closes', (d['integrator'], b)\n"
                                         "assert abs(b['residual']) <= b['allowed'], b\n");
            outcome_free(&outcome);
        }
}

// bdf2 starts with a step of implicit Euler, whose error is of order 1; a run of one or two steps
// has no differences that show its error; and the energies of a body at rest are rounding. None of
// these is a balance that does not close, with any integrator and in either precision.
static void the_balance_of_starts_and_of_rest_closes(void **state)
{
    (void)state;
    static const char *const bodies[] = {
        // A free fall, a rope at rest without forces, and a spring that begins to pull.
        "[{name: b, type: network, nodes: [[1,2,3]], node_mass: [1], springs: []}]\n"
        "environment: {gravity: [0,-9.81,0]}\n",
        "[{name: b, type: rope, from: [0,3,0], to: [1,3.3,0.1], nodes: 11, mass: 1,\n"
        "  stiffness: 1000}]\n",
        "[{name: b, type: network, nodes: [[0,0,0],[1.3,0,0]], pins: [0], node_mass: [1,1],\n"
        "  springs: [[0,1,{stiffness: 100, rest_length: 1}]]}]\n"};
    static const int steps[] = {1, 2, 3, 10, 1000};
    for (int b = 0; b < 3; b++) {
        char *text = text_format("simulation: {dt: 0.0001, steps: 1}\nbodies: %s", bodies[b]);
        fixture_write("starts.yaml", text);
        free(text);
        for (int integrator = 0; integrator < INTEGRATORS; integrator++)
            for (int i = 0; i < (b == 2 ? 8 : 10); i++) {
                char *command = text_format(
                    "taut run starts.yaml --no-output --set simulation.integrator=%s --set "
                    "simulation.steps=%d --set precision=%s",
                    all_integrators[integrator], steps[i / 2], i % 2 ? "double" : "single");
                struct outcome outcome = cli_expect(0, command);
                if (strstr(outcome.out, "does not close"))
                    fail_msg("%s of\n%s\n%s", command, bodies[b], outcome.out);
                // The error of the first step of bdf2 is 3/4 m g^2 h^2.
                if (b == 0 && i == 9)
                    assert_contains(outcome.out, " closes: order ");
                outcome_free(&outcome);
                free(command);
            }
    }
}

// A strip that meets a floor row by row: what an order leaves of the work of the floor's damper
// does not show in the powers of the whole. It falls with dt.
static void the_balance_of_impacts_in_turn_closes(void **state)
{
    (void)state;
    if (!cli_has_python())
        skip();
    fixture_write(
        "impacts.yaml",
        "simulation: {dt: 0.000144, duration: 0.6}\n"
        "environment: {gravity: [0,0,-9.81]}\n"
        "bodies: [{name: c, type: cloth, origin: [0,0,1], u: [4,0,0.12], v: [0,0.03,0],\n"
        "  nodes: [400,4], mass: 0.048,\n"
        "  springs: {structural: {stiffness: 150}, shear: {stiffness: 30}}}]\n"
        "colliders: [{type: plane, normal: [0,0,1], stiffness: 60, absorption: 0.025}]\n");
    char *text[2];
    for (int fine = 0; fine < 2; fine++) {
        char *command = text_format("taut run impacts.yaml --no-output --quiet --json --precision "
                                    "double --set simulation.dt=%s",
                                    fine ? "0.000072" : "0.000144");
        struct outcome outcome = cli_expect(0, command);
        free(command);
        text[fine] = outcome.out;
        free(outcome.err);
    }
    char *both = text_format("[%s,%s]", text[0], text[1]);
    cli_assert_json(both,
                    "a, b = (each['balance'] for each in d)\n"
                    "assert a['verdict'] == b['verdict'] == 'closes', (a, b)\n"
                    "assert 1.8 < a['residual'] / b['residual'] < 2.2, (a, b)\n"
                    "assert 1.2 < a['allowed'] / b['allowed'] < 2.2, (a, b)\n"
                    "assert a['residual'] > 0.02 * d[0]['work']['friction'] > 0, (a, d[0])\n");
    free(both);
    free(text[0]);
    free(text[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_summary_reports_whether_the_balance_closes),
        cmocka_unit_test(the_balance_of_impacts_in_turn_closes),
        cmocka_unit_test(the_balance_of_a_driven_rope_closes),
        cmocka_unit_test(the_balance_after_jumps_of_a_drive_is_judged),
        cmocka_unit_test(the_balance_of_driven_springs_that_yield_closes),
        cmocka_unit_test(the_balance_with_keep_velocity_closes),
        cmocka_unit_test(the_balance_of_stiff_ropes_of_xpbd_closes),
        cmocka_unit_test(rounding_is_named_before_the_integrator),
        cmocka_unit_test(gas_without_potential_is_named),
        cmocka_unit_test(the_balance_of_many_modes_closes),
        cmocka_unit_test(the_summary_names_what_is_missing),
        cmocka_unit_test(the_summary_names_steps_that_are_not_resolved),
        cmocka_unit_test(the_summary_names_contacts_that_dt_does_not_allow_for),
        cmocka_unit_test(implicit_cuts_take_energy_beside_what_steps_lose),
        cmocka_unit_test(the_balance_at_a_terminal_speed_closes),
        cmocka_unit_test(the_balance_knows_order_and_rounding),
        cmocka_unit_test(the_balance_of_mixed_precision_is_judged_near_the_origin),
        cmocka_unit_test(the_balance_of_elements_at_rest_closes),
        cmocka_unit_test(the_balance_of_starts_and_of_rest_closes),
    };
    return cmocka_run_group_tests(tests, enter, NULL);
}
