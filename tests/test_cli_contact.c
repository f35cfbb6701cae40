// The messages of taut check and taut run about contact that would not do what a scene seems to ask
// for.
#include "test.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli_fixture.h"

static int enter(void **state)
{
    (void)state;
    cli_enter("cli_contact");
    return 0;
}

static void assert_no_warning(const char *command)
{
    struct outcome outcome = cli_expect(0, command);
    assert_null(strstr(outcome.err, "warning"));
    outcome_free(&outcome);
}

// Two sheets of 9 x 9 nodes and a plane, each at so many thicknesses of 0.01 m from the next, and
// more keys of the scene.
static void write_layers(double apart, const char *more)
{
    char text[1200];
    snprintf(text, sizeof text,
             "simulation: {dt: 1e-4, steps: 3}\n"
             "contact: {thickness: 0.01}\n"
             "bodies:\n"
             "  - {name: a, type: cloth, origin: [0, 0, 0], u: [0.4, 0, 0], v: [0, 0, 0.4],\n"
             "     nodes: [9, 9], mass: 0.1, stiffness: 100}\n"
             "  - {name: b, type: cloth, origin: [0, %.9g, 0], u: [0.4, 0, 0], v: [0, 0, 0.4],\n"
             "     nodes: [9, 9], mass: 0.1, stiffness: 100}\n"
             "colliders:\n"
             "  - {type: plane, point: [0, %.9g, 0], response: contact}\n%s",
             0.01 * apart, -0.01 * apart, more);
    fixture_write("layers.yaml", text);
}

// The energy of contact at the start of a run, which has no other, is that which the warnings of
// `scene` name; three digits of it are printed.
static void assert_energy_of_warnings(const char *scene, double least)
{
    char command[200];
    snprintf(command, sizeof command, "taut run --no-output --json %s", scene);
    struct outcome outcome = cli_expect(0, command);
    assert_non_null(strstr(outcome.err, "warning: surfaces are no farther apart"));
    double energy = 0;
    for (const char *at = outcome.err; (at = strstr(at, "on, has ")); at++)
        energy += strtod(at + strlen("on, has "), NULL);
    const double start = strtod(strstr(outcome.out, "\"energy_at_start\"") + 19, NULL);
    assert_true(start > least);
    assert_true(fabs(energy - start) <= 0.01 * start);
    outcome_free(&outcome);
}

// Each edge of ropes side by side, at an angle of 0 to 0.9 degrees, has several contacts.
static void the_energy_of_ropes_side_by_side_is_reported(void **state)
{
    (void)state;
    static const double turns[] = {0, 5e-4, 1.5e-3};
    for (int i = 0; i < 3; i++) {
        char text[700];
        snprintf(text, sizeof text,
                 "precision: double\n"
                 "simulation: {dt: 1e-5, steps: 1}\n"
                 "contact: {thickness: 0.002}\n"
                 "bodies:\n"
                 "  - {name: a, type: rope, from: [0, 0, -0.1], to: [0, 0, 0.1], nodes: 6,\n"
                 "     mass: 0.01, stiffness: 100}\n"
                 "  - {name: b, type: rope, from: [0.0015, 0, -0.1], to: [0.0015, %.9g, 0.1],\n"
                 "     nodes: 6, mass: 0.01, stiffness: 100}\n",
                 2 * turns[i]);
        fixture_write("ropes.yaml", text);
        assert_energy_of_warnings("ropes.yaml", 1e-4);
    }
}

static void what_is_built_one_thickness_apart_is_reported(void **state)
{
    (void)state;
    static const double parts[] = {1, 0.3};
    for (int i = 0; i < 2; i++) {
        write_layers(parts[i], "");
        struct outcome outcome = cli_expect(0, "taut check layers.yaml");
        assert_non_null(strstr(outcome.err, "layers.yaml:2:10: warning: surfaces are no farther "
                                            "apart at the start than their thickness"));
        assert_non_null(strstr(outcome.err, "of body 'a' and the triangle of nodes 0, 1, 10 of "
                                            "body 'b'"));
        assert_non_null(strstr(outcome.err, "build them 0.015 m apart"));
        assert_non_null(strstr(outcome.err, "layers.yaml:9:5: warning: bodies are no farther from "
                                            "colliders with 'response: contact'"));
        assert_non_null(
            strstr(outcome.err, i ? "in 162 places, body 'a'" : "in 81 places, body 'a'"));
        outcome_free(&outcome);
        assert_energy_of_warnings("layers.yaml", 0.01);
    }
    write_layers(1.01, "");
    assert_no_warning("taut check layers.yaml");
}

// A state that cuts have left at a fiftieth of the thickness, or half of it, is accepted as a
// start; a scene that builds surfaces so close is not.
static void a_state_that_cuts_leave_is_accepted(void **state)
{
    (void)state;
    static const double parts[] = {0.02, 0.01, 0.0055, 0.004};
    for (int i = 0; i < 4; i++) {
        write_layers(1.2, "");
        struct outcome outcome = cli_expect(
            0,
            "taut run --no-output --quiet --set simulation.steps=0 --state built.csv layers.yaml");
        outcome_free(&outcome);
        char command[600];
        snprintf(command, sizeof command,
                 "taut check --set bodies.b.origin='[0, %.9g, 0]' --set colliders.0.point='[0, "
                 "%.9g, 0]' layers.yaml",
                 0.01 * parts[i], -0.01 * parts[i]);
        outcome = cli_expect(2, command);
        assert_non_null(strstr(outcome.err, "a twentieth of their thickness"));
        outcome_free(&outcome);

        FILE *file = fopen("near.csv", "w");
        assert_non_null(file);
        fprintf(file, "body,node,x,y,z,vx,vy,vz\n");
        for (int body = 0; body < 2; body++)
            for (int node = 0; node < 81; node++) {
                const int column = node % 9, row = node / 9;
                fprintf(file, "%s,%d,%.9g,%.9g,%.9g,0,0,0\n", body ? "b" : "a", node, 0.05 * column,
                        body ? 0.01 * parts[i] : 0, 0.05 * row);
            }
        assert_int_equal(fclose(file), 0);
        write_layers(1.2, "initial: near.csv\n");
        snprintf(command, sizeof command,
                 "taut run --no-output --quiet --set colliders.0.point='[0, %.9g, 0]' layers.yaml",
                 -0.01 * parts[i]);
        outcome = cli_expect(parts[i] > 0.005 ? 0 : 2, command);
        if (parts[i] > 0.005)
            assert_null(strstr(outcome.err, "warning"));
        else
            assert_non_null(strstr(outcome.err, "a two-hundredth of their thickness"));
        outcome_free(&outcome);
    }
}

// 3 kg on a cloth, by a barrier too soft for them, so that it is cuts that keep surfaces apart.
static void a_state_that_many_cuts_leave_is_accepted(void **state)
{
    (void)state;
    fixture_write("floor.obj", "v -2 0 -2\nv 2 0 -2\nv -2 0 2\nv 2 0 2\nf 1 3 2\nf 2 3 4\n");
    fixture_write("heavy.yaml",
                  "simulation: {integrator: xpbd, dt: 0.002, substeps: 20, duration: 0.6}\n"
                  "environment: {gravity: [0, -9.81, 0]}\n"
                  "contact: {thickness: 0.006, friction_coefficient: 0.4, stiffness: 5}\n"
                  "bodies:\n"
                  "- {name: a, type: cloth, origin: [4.85, 0.012, -0.15], u: [0.3, 0, 0],\n"
                  "   v: [0, 0, 0.3], nodes: [9, 9], mass: 0.02,\n"
                  "   spring: {stiffness: 60, damping: 0.02}}\n"
                  "- {name: h, type: lattice, origin: [4.9, 0.03, -0.1], nodes: [2, 2, 2],\n"
                  "   spacing: 0.12, mass: 3, spring: {stiffness: 4000, damping: 2},\n"
                  "   velocity: [0.5, -0.5, 0]}\n"
                  "colliders:\n"
                  "- {type: mesh, file: floor.obj, translate: [5, 0, 0]}\n");
    struct outcome outcome = cli_expect(0, "taut run --no-output --state heavy.csv heavy.yaml");
    assert_non_null(strstr(outcome.out, "motion cut in "));
    assert_null(strstr(outcome.out, "surfaces may have passed"));
    outcome_free(&outcome);
    outcome = cli_expect(0, "taut check --set initial=heavy.csv heavy.yaml");
    outcome_free(&outcome);
}

// The thickness that a message names is accepted, wherever the body is.
static void a_thickness_that_is_advised_is_accepted(void **state)
{
    (void)state;
    for (int power = 0; power < 26; power++) {
        const double place = 0.9 * pow(1.37, power);
        char text[600];
        snprintf(text, sizeof text,
                 "simulation: {dt: 1e-4, steps: 1}\n"
                 "contact: {thickness: 1e-9}\n"
                 "bodies:\n"
                 "  - {name: a, type: cloth, origin: [%.9g, 0, 0], u: [0.4, 0, 0],\n"
                 "     v: [0, 0, 0.4], nodes: [5, 5], mass: 0.1, stiffness: 1}\n",
                 place);
        fixture_write("far.yaml", text);
        struct outcome outcome = cli_expect(2, "taut check far.yaml");
        const char *advice = strstr(outcome.err, "use at least ");
        assert_non_null(advice);
        char command[200];
        snprintf(command, sizeof command, "taut check --set contact.thickness=%.9g far.yaml",
                 strtod(advice + strlen("use at least "), NULL));
        outcome_free(&outcome);
        outcome = cli_expect(0, command);
        outcome_free(&outcome);
    }
    fixture_write("far.yaml", "simulation: {dt: 1e-4, steps: 1}\n"
                              "contact: {thickness: 0.05}\n"
                              "bodies:\n"
                              "  - {name: a, type: cloth, origin: [1e5, 0, 0], u: [0.4, 0, 0],\n"
                              "     v: [0, 0, 0.4], nodes: [5, 5], mass: 0.1, stiffness: 1}\n");
    struct outcome outcome = cli_expect(2, "taut check far.yaml");
    assert_non_null(strstr(outcome.err, "long on average, is lost in the rounding of coordinates"));
    assert_null(strstr(outcome.err, "use at least"));
    outcome_free(&outcome);
    outcome = cli_expect(0, "taut check --precision double far.yaml");
    outcome_free(&outcome);
}

// Cells of 20 mm have triangles that are 14.1 mm high, which contact does not reach across below a
// thickness of 9.43 mm.
static void a_body_that_may_pass_through_itself_is_reported(void **state)
{
    (void)state;
    fixture_write(
        "folds.yaml",
        "simulation: {dt: 1e-4, steps: 1}\n"
        "contact: {thickness: 0.0095}\n"
        "bodies:\n"
        "  - {name: c, type: cloth, u: [0.5, 0, 0], v: [0, 0.5, 0], nodes: [26, 26],\n"
        "     mass: 0.1, stiffness: 100}\n"
        "  - {name: d, type: cloth, origin: [1, 0, 0], u: [0.5, 0, 0], v: [0, 0.5, 0],\n"
        "     nodes: [26, 26], mass: 0.1, stiffness: 100, contact: {thickness: 0.0094}}\n");
    struct outcome outcome = cli_expect(0, "taut check folds.yaml");
    assert_non_null(strstr(outcome.err,
                           "folds.yaml:2:10: warning: body 'c' may pass through itself "
                           "in narrow folds"));
    assert_non_null(strstr(outcome.err, "1250 of its 1250 triangles are lower"));
    assert_null(strstr(outcome.err, "body 'd'"));
    const char *advice = strstr(outcome.err, "a thickness of at most ");
    assert_non_null(advice);
    const double most = strtod(advice + strlen("a thickness of at most "), NULL);
    assert_true(most >= 0.0093 && most <= 0.0094);
    outcome_free(&outcome);
    char command[200];
    snprintf(command, sizeof command, "taut check --set contact.thickness=%g folds.yaml", most);
    assert_no_warning(command);
    assert_no_warning("taut check --set contact.self=false folds.yaml");
    assert_no_warning("taut check --set contact.pairs='[{bodies: [c, c], enabled: false}]' "
                      "folds.yaml");
}

// Diagonals of two faces of a cube of 40 mm are 23.1 mm apart where these meet at an edge, and
// triangles 28.3 mm high: the former begin at a thickness of 15.4 mm.
static void edges_beside_triangles_count_in_narrow_folds(void **state)
{
    (void)state;
    fixture_write("corners.yaml",
                  "simulation: {dt: 1e-4, steps: 1}\n"
                  "contact: {thickness: 0.0156}\n"
                  "bodies:\n"
                  "  - {name: b, type: lattice, nodes: [4, 2, 3], spacing: 0.04, mass: 1,\n"
                  "     stiffness: 20}\n");
    struct outcome outcome = cli_expect(0, "taut check corners.yaml");
    assert_non_null(strstr(outcome.err, "body 'b' may pass through itself in narrow folds"));
    const char *advice = strstr(outcome.err, "a thickness of at most ");
    assert_non_null(advice);
    const double most = strtod(advice + strlen("a thickness of at most "), NULL);
    assert_true(most >= 0.015 && most <= 0.0154);
    outcome_free(&outcome);
    assert_no_warning("taut check --set contact.thickness=0.0153 corners.yaml");
}

static void contact_without_surfaces_is_reported(void **state)
{
    (void)state;
    fixture_write("network.yaml",
                  "simulation: {dt: 0.001, steps: 1}\n"
                  "contact: {thickness: 0.01}\n"
                  "bodies:\n"
                  "  - {name: n, type: network, nodes: [[0, 0, 0], [1, 0, 0]], node_mass: 1,\n"
                  "     springs: [[0, 1]], stiffness: 10}\n");
    struct outcome outcome = cli_expect(0, "taut check network.yaml");
    assert_non_null(strstr(outcome.err, "network.yaml:2:10: warning: 'contact' has no effect: no "
                                        "body has a surface"));
    outcome_free(&outcome);
    // Its nodes touch a plane, and no mesh.
    fixture_write("floor.obj", "v 0 -1 0\nv 1 -1 0\nv 0 -1 1\nf 1 3 2\n");
    outcome = cli_expect(0, "taut check network.yaml --set "
                            "'colliders=[{type: mesh, file: floor.obj}]'");
    assert_non_null(strstr(outcome.err, "has no effect"));
    outcome_free(&outcome);
    assert_no_warning("taut check network.yaml --set "
                      "'colliders=[{type: plane, point: [0, -1, 0], response: contact}]'");
    write_layers(2, "");
    assert_no_warning("taut check layers.yaml");
}

// Triangles without an area: three corners on a line, which a reader of meshes has no reason to
// refuse, and two at the same position.
static void meshes_that_do_not_do_what_they_seem_to_are_reported(void **state)
{
    (void)state;
    fixture_write("flat.obj", "v 0 0 0\nv 1 0.1 0.3\nv 0 1 0\nv 0 0 1\nv 0.5 0.05 0.15\nv 0 1 0\n"
                              "f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\nf 1 5 2\nf 2 3 6\n");
    fixture_write("full.obj", "v 0 0 0\nv 1 0.1 0.3\nv 0 1 0\nv 0 0 1\n"
                              "f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n");
    fixture_write("mesh.yaml",
                  "simulation: {dt: 1e-4, steps: 1}\n"
                  "contact: {thickness: 0.01}\n"
                  "bodies:\n"
                  "  - {name: a, type: cloth, origin: [0, -1, 0], u: [0.4, 0, 0],\n"
                  "     v: [0, 0, 0.4], nodes: [9, 9], mass: 0.1, stiffness: 100}\n"
                  "colliders:\n"
                  "  - {type: mesh, file: flat.obj, motion: {keyframes: [[0, [0, 0, 0]]]}}\n");
    struct outcome outcome = cli_expect(0, "taut check mesh.yaml");
    assert_non_null(strstr(outcome.err, "mesh.yaml:7:5: warning: 'flat.obj': 2 triangles have no "
                                        "area"));
    assert_non_null(strstr(outcome.err, "that of nodes 0, 4 and 1, near (0, 0, 0)"));
    assert_non_null(strstr(outcome.err, "mesh.yaml:7:54: warning: one keyframe moves nothing"));
    outcome_free(&outcome);
    assert_no_warning("taut check --set colliders.0.file=full.obj --set "
                      "colliders.0.motion.keyframes='[[0, [0, 0, 0]], [1, [0, 0, 0]]]' "
                      "mesh.yaml");
}

// Two jellies in each other; the report of a run that is continued is that of the whole one.
static void what_relax_has_moved_is_reported(void **state)
{
    (void)state;
    fixture_write(
        "relaxed.yaml",
        "simulation: {dt: 1e-4, steps: 20}\n"
        "contact: {thickness: 0.005, existing: relax}\n"
        "bodies:\n"
        "  - {name: far, type: lattice, origin: [5, 0, 0], nodes: [3, 3, 3], spacing: 0.03,\n"
        "     mass: 0.3, stiffness: 500}\n"
        "  - {name: a, type: lattice, nodes: [5, 5, 5], spacing: 0.03, mass: 0.3,\n"
        "     stiffness: 500}\n"
        "  - {name: b, type: lattice, origin: [0.06, 0.03, 0.02], nodes: [5, 5, 5],\n"
        "     spacing: 0.03, mass: 0.3, stiffness: 500}\n"
        "output: {every: 0.001, checkpoint: {every: 0.001}}\n");
    struct outcome outcome = cli_expect(0, "taut check relaxed.yaml");
    assert_non_null(strstr(outcome.err, "relaxed.yaml:2:10: note: 'existing: relax' has moved 250 "
                                        "nodes of 2 bodies, by up to 0.0338 m"));
    outcome_free(&outcome);
    outcome = cli_expect(0, "taut run --threads 1 --output parts --steps 10 relaxed.yaml");
    assert_non_null(strstr(outcome.out,
                           "  relaxed    250 nodes of 2 bodies moved before the start, "
                           "by up to 0.0338 m\n"));
    outcome_free(&outcome);
    struct outcome whole =
        cli_expect(0, "taut run --json --quiet --threads 1 --output whole relaxed.yaml");
    outcome = cli_expect(0, "taut resume --json --quiet --threads 1 --steps 20 parts");
    const char *one = strstr(whole.out, "\"relaxed\""), *other = strstr(outcome.out, "\"relaxed\"");
    assert_true(one && other);
    const size_t length = (size_t)(strchr(one, '}') - one);
    assert_memory_equal(one, other, length);
    assert_non_null(strstr(one, "\"nodes\": 250"));
    outcome_free(&outcome);
    outcome_free(&whole);
}

// The motion of nodes that a sphere pushes is cut in the frame of the sphere, so that no momentum
// is lost. A fast one throws a ball into itself, where cuts take some; beside a body of much more
// momentum no line reports that.
static void momentum_that_cuts_take_is_told_where_it_matters(void **state)
{
    (void)state;
    static const char heavy[] =
        "- {name: heavy, type: rope, from: [9,9,9], to: [9,9,8], nodes: 2, mass: 1e5,\n"
        "   stiffness: 1, velocity: [0,0,1]}\n";
    static const struct {
        const char *precision, *more;
        double speed, dt; // m/s, s
        bool told;
    } cases[] = {
        {"double", "", 5, 2e-4, false},
        {"double", "", 30, 1e-4, true},
        {"single", "output: {work: false}\n", 30, 1e-4, true},
        {"double", heavy, 30, 1e-4, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[1200];
        snprintf(text, sizeof text,
                 "precision: %s\nsimulation: {dt: %g, steps: 150}\n"
                 "contact: {thickness: 0.002}\n"
                 "colliders:\n"
                 "- {type: sphere, radius: 0.05, velocity: [0, %g, 0], response: project}\n"
                 "bodies:\n"
                 "- {name: a, type: sphere, radius: 0.05, subdivisions: 2, mass: 0.1,\n"
                 "   stiffness: 100, center: [0, 0.11, 0]}\n%s",
                 cases[i].precision, cases[i].dt, cases[i].speed, cases[i].more);
        fixture_write("momentum.yaml", text);
        struct outcome outcome = cli_expect(0, "taut run --no-output --json momentum.yaml");
        const char *stopped = strstr(outcome.out, "\"stopped_steps\": ");
        assert_non_null(stopped);
        assert_true(strtol(stopped + strlen("\"stopped_steps\": "), NULL, 10) > 0);
        outcome_free(&outcome);
        outcome = cli_expect(0, "taut run --no-output momentum.yaml");
        const char *took = strstr(outcome.out, "took "),
                   *cut = strstr(outcome.out, "motion cut in");
        assert_non_null(cut);
        if (cases[i].told != (took && strtod(took + strlen("took "), NULL) > 0.05) ||
            !took != !cases[i].told)
            fail_msg("case %zu: %s", i, cut);
        assert_true(!took == !strstr(outcome.out, "in every direction"));
        outcome_free(&outcome);
    }
}

// Cuts that hold what plates press together take nothing, and the summary does not say so.
static void what_cuts_hold_is_not_said_to_lose_energy(void **state)
{
    (void)state;
    fixture_write("plate.obj", "v -1 0 -1\nv 1 0 -1\nv 1 0 1\nv -1 0 1\nf 1 3 2\nf 1 4 3\n");
    fixture_write("held.yaml",
                  "precision: double\nsimulation: {dt: auto, duration: 0.8}\n"
                  "contact: {thickness: 0.006}\n"
                  "bodies:\n"
                  "- {name: b, type: lattice, origin: [-0.08, -0.08, -0.08], nodes: [2, 2, 2],\n"
                  "   spacing: 0.16, mass: 0.05, spring: {stiffness: 2000, damping: 0.02}}\n"
                  "colliders:\n"
                  "- {type: mesh, file: plate.obj, translate: [0.013, 0.095, 0.007],\n"
                  "   motion: {keyframes: [[0, [0, 0, 0]], [0.4, [0, -0.06, 0]]]}}\n"
                  "- {type: mesh, file: plate.obj, translate: [0.013, -0.095, 0.007],\n"
                  "   rotate: [180, 0, 0],\n"
                  "   motion: {keyframes: [[0, [0, 0, 0]], [0.4, [0, 0.06, 0]]]}}\n");
    struct outcome outcome = cli_expect(0, "taut run --no-output held.yaml");
    assert_non_null(strstr(outcome.out, "too soft for what presses on it:\n"));
    assert_null(strstr(outcome.out, "takes energy"));
    assert_non_null(strstr(outcome.out, "closes"));
    outcome_free(&outcome);
}

// Sheets that are thrown at each other so fast that all of their triangles come near each other in
// a step: of which a search takes long, and its lists gigabytes.
static void write_thrown_sheets(int speed)
{
    char text[8000];
    int at = snprintf(text, sizeof text,
                      "simulation: {integrator: symplectic_euler, dt: 1e-4, steps: 20}\n"
                      "contact: {thickness: 0.002}\nbodies:\n");
    for (int i = 0; i < 20; i++)
        at += snprintf(text + at, sizeof text - (size_t)at,
                       "- {name: s%d, type: cloth, nodes: [70, 70], origin: [0, 0, %g],\n"
                       "   u: [0.5, 0, 0], v: [0, 0.5, 0], mass: 0.05, stiffness: 20,\n"
                       "   velocity: [%d, %d, 0]}\n",
                       i, 0.004 * i, i % 2 ? speed : -speed, speed * (3 * (i % 5) - 6) / 10);
    fixture_write("thrown.yaml", text);
}

// Before the system would end the process without a message.
static void lists_that_no_memory_is_left_for_are_told(void **state)
{
    (void)state;
    write_thrown_sheets(2000);
    struct outcome outcome =
        cli_expect(1, "TAUT_MEMORY_LIMIT=250M taut run --quiet --no-output thrown.yaml");
    assert_non_null(strstr(outcome.err, "out of memory for contact in step 1: its lists would"));
    assert_non_null(strstr(outcome.err, "GB by TAUT_MEMORY_LIMIT)"));
    outcome_free(&outcome);
}

// A step that takes long is not finished.
static void signals_are_heard_within_a_step(void **state)
{
    (void)state;
    write_thrown_sheets(200);
    const pid_t process = cli_start(
        (const char *const[]){"run", "--quiet", "--output", "thrown", "thrown.yaml", NULL});
    assert_true(cli_wait_for_file(process, "thrown/energy.csv"));
    assert_int_equal(kill(process, SIGTERM), 0);
    assert_int_equal(cli_wait(process), 1);
    size_t length;
    char *err = fixture_read("err.txt", &length);
    assert_non_null(strstr(err, "taut: interrupted by SIGTERM\ntaut: step 1 was given up, and left "
                                "no state"));
    assert_non_null(strstr(err, "begin it again with: taut resume thrown"));
    free(err);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_built_one_thickness_apart_is_reported),
        cmocka_unit_test(the_energy_of_ropes_side_by_side_is_reported),
        cmocka_unit_test(a_state_that_cuts_leave_is_accepted),
        cmocka_unit_test(a_state_that_many_cuts_leave_is_accepted),
        cmocka_unit_test(a_thickness_that_is_advised_is_accepted),
        cmocka_unit_test(a_body_that_may_pass_through_itself_is_reported),
        cmocka_unit_test(edges_beside_triangles_count_in_narrow_folds),
        cmocka_unit_test(contact_without_surfaces_is_reported),
        cmocka_unit_test(meshes_that_do_not_do_what_they_seem_to_are_reported),
        cmocka_unit_test(what_relax_has_moved_is_reported),
        cmocka_unit_test(momentum_that_cuts_take_is_told_where_it_matters),
        cmocka_unit_test(what_cuts_hold_is_not_said_to_lose_energy),
        cmocka_unit_test(lists_that_no_memory_is_left_for_are_told),
        cmocka_unit_test(signals_are_heard_within_a_step),
    };
    return cmocka_run_group_tests(tests, enter, NULL);
}
