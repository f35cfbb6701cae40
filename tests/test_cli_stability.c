// taut stability on small scenes with small budgets: its output and files are complete and
// consistent, and wrong input is rejected. The measured values are checked by test_study.c.
#include "test.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli_fixture.h"

// Replaces Python by a script that writes something to each file of the report, so that no figures
// are drawn; test_report.py tests these.
static const char DRAWS[] =
    "#!/bin/sh\n"
    "for word; do case $word in *=*) echo drawn > /proc/$$/fd/${word##*=};; esac; done\n";

static void use_python(const char *script)
{
    fixture_write("python", script);
    assert_int_equal(system("chmod +x python"), 0); // NOLINT(cert-env33-c)
    assert_int_equal(setenv("TAUT_PYTHON", "./python", 1), 0);
}

static void enter(const char *name)
{
    cli_enter(name);
    use_python(DRAWS);
    fixture_write("spring.yaml",
                  "title: A mass on a spring\n"
                  "simulation: {integrator: verlet, dt: 0.01, duration: 2}\n"
                  "bodies: [{name: o, type: oscillator, anchor: [0, 0, 0], axis: [1, 0, 0],\n"
                  "  mass: 1, stiffness: 100, amplitude: 0.001}]\n");
}

// A rope that breaks at once leaves nothing that could grow, and there is no limit to print.
static void what_breaks_is_said_without_numbers(void **state)
{
    (void)state;
    enter("cli_stability_broken");
    fixture_write("rope.yaml",
                  "simulation: {dt: 0.001, duration: 0.5}\n"
                  "environment: {gravity: [0, -9.81, 0]}\n"
                  "bodies: [{name: r, type: rope, from: [0, 0, 0], to: [1, 0, 0], nodes: 6,\n"
                  "  mass: 1, stiffness: 300, damping: 0.1, break_at: 1.1, pins: [first],\n"
                  "  drives: [{node: last, velocity: [1, 0, 0]}]}]\n");
    struct outcome outcome =
        cli_expect(0, "taut stability rope.yaml --integrators verlet,explicit_euler --map none "
                      "--budget 40");
    assert_null(strstr(outcome.out, "nan"));
    assert_non_null(strstr(outcome.out, "  of 5 springs "));
    assert_non_null(strstr(outcome.out, " broken after "));
    assert_non_null(strstr(outcome.out, ": these are limits of what is left\n"));
    outcome_free(&outcome);
}

static void rigid_springs_have_no_frequency(void **state)
{
    (void)state;
    enter("cli_stability_rigid");
    fixture_write("rope.yaml",
                  "simulation: {integrator: xpbd, dt: 0.001, duration: 0.5}\n"
                  "bodies: [{name: r, type: rope, from: [0, 0, 0], to: [1, 0, 0], nodes: 6,\n"
                  "  mass: 1, law: rigid, pins: [first]}]\n");
    struct outcome outcome = cli_expect(2, "taut stability rope.yaml --budget 4 --map none");
    assert_non_null(strstr(outcome.err, "springs with 'law: rigid' keep their lengths"));
    assert_null(strstr(outcome.err, "no spring is at a free node"));
    outcome_free(&outcome);
}

static void the_json_and_the_tables_agree(void **state)
{
    (void)state;
    enter("cli_stability_json");
    struct outcome outcome =
        cli_expect(0, "taut stability spring.yaml --integrators velocity_verlet,rk4 --map damping "
                      "--budget 40 --json --quiet");
    assert_string_equal(outcome.err, "");
    if (!cli_has_python()) {
        outcome_free(&outcome);
        skip();
    }
    cli_assert_json(
        outcome.out,
        "import csv\n"
        "def rows(name):\n"
        "    return list(csv.DictReader(open('out/spring-stability/' + name)))\n"
        "assert d['complete'] and d['interrupted'] is None and d['closed_form']\n"
        "assert d['integrator'] == 'verlet' and d['nodes'] == 2 and d['springs'] == 1\n"
        "assert abs(d['omega'] - 10) < 1e-9 and abs(d['unit'] - 0.2) < 1e-9\n"
        "limits = rows('limits.csv')\n"
        "assert [l['integrator'] for l in limits] == ['velocity_verlet', 'rk4']\n"
        "assert [l['kind'] for l in limits] == ['found', 'found']\n"
        "for a, b in zip(limits, d['limits']):\n"
        "    for key in ('predicted', 'measured', 'stable', 'unstable'):\n"
        "        assert float(a[key]) == b[key]\n"
        "    assert a['growth'] == '' and b['growth'] is None\n"
        "    assert abs(b['measured'] / b['predicted'] - 1) < 1e-3\n"
        "for name, key in (('drift.csv', 'drift'), ('order.csv', 'order'),\n"
        "                  ('work_precision.csv', 'work_precision'),\n"
        "                  ('frequency.csv', 'frequency')):\n"
        "    assert len(rows(name)) == len(d[key]) > 0, name\n"
        "    assert list(rows(name)[0]) == list(d[key][0]), name\n"
        "cells = rows('map.csv')\n"
        "m = d['map']\n"
        "assert m['kind'] == 'damping' and m['factor_of'] == 'critical'\n"
        "assert len(cells) == 2 * len(m['factors']) * len(m['steps'])\n"
        "assert [c['verdict'] for c in cells] == sum((i['verdicts'] for i in m['integrators']), "
        "[])\n"
        "assert {'stable', 'unstable'} == {c['verdict'] for c in cells}\n"
        "energies = rows('energy.csv')\n"
        "assert {e['integrator'] for e in energies} == {'velocity_verlet', 'rk4', 'reference'}\n"
        "assert float(energies[0]['time']) == 0 and float(energies[0]['energy']) == 0\n"
        "import os\n"
        "assert all(os.path.exists(p) for p in d['output'])\n"
        "endings = [p.split('.')[-1] for p in d['output']]\n"
        "assert endings.count('csv') == 8 and endings.count('svg') == 7\n"
        "assert endings.count('html') == 1 and endings.count('png') == 7\n"
        "assert endings.count('json') == 1 and d['error'] is None\n"
        "runs = d['energy']\n"
        "assert [r['integrator'] for r in runs] == ['velocity_verlet', 'rk4', None]\n"
        "rows_of = lambda n: [e for e in energies if e['integrator'] == (n or 'reference')]\n"
        "for r in runs:\n"
        "    assert [float(e['time']) for e in rows_of(r['integrator'])] == r['time']\n"
        "    assert [float(e['energy']) for e in rows_of(r['integrator'])] == r['energy']\n"
        "assert d['settings'] == {'integrators': 'velocity_verlet,rk4', 'map': 'damping',\n"
        "    'budget': 40, 'threads': d['settings']['threads'], 'kernel': 'auto',\n"
        "    'isa': d['settings']['isa']}\n"
        "saved = json.load(open('out/spring-stability/study.json'), parse_constant=never)\n"
        "assert saved.pop('taut_study') == 1\n"
        "assert 'A mass on a spring' in saved.pop('resolved_scene')\n"
        "assert saved == {k: v for k, v in d.items() if k not in ('output', 'error')}\n");
    outcome_free(&outcome);
}

static void the_table_names_integrators_and_limits(void **state)
{
    (void)state;
    enter("cli_stability_table");
    struct outcome outcome = cli_expect(
        0, "taut stability spring.yaml --integrators explicit_euler,symplectic_euler --map none "
           "--budget 40 --output tables");
    assert_contains(outcome.out, "spring: A mass on a spring");
    assert_contains(outcome.out, "Largest stable step");
    assert_contains(outcome.out, "energy grows by e^(");
    assert_contains(outcome.out, "symplectic_euler           0.2 s");
    assert_contains(outcome.out, "against the closed form");
    assert_contains(outcome.out, "tables/limits.csv");
    assert_null(strstr(outcome.out, "rk4 "));
    outcome_free(&outcome);
    assert_int_equal(access("tables/limits.csv", F_OK), 0);
    assert_int_not_equal(access("tables/map.csv", F_OK), 0);
    assert_int_equal(cli_count_lines("tables/limits.csv"), 3);
}

static void wrong_usage_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *command, *message;
    } cases[] = {
        {"taut stability", "which scene?"},
        {"taut stability spring.yaml other.yaml", "one scene at a time"},
        {"taut stability spring.yaml --integrators verlet,rk5", "    rk4"},
        {"taut stability spring.yaml --integrators rk4,rk4", "each once"},
        {"taut stability spring.yaml --integrators ''", "each once"},
        {"taut stability spring.yaml --map mass", "stiffness, damping or none, not 'mass'"},
        {"taut stability spring.yaml --budget 0", "--budget takes seconds above 0"},
        {"taut stability spring.yaml --precision single", "--precision"},
        {"taut stability absent.yaml", "absent.yaml"},
        {"taut run spring.yaml --map none", "--map"},
    };
    enter("cli_stability_usage");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct outcome outcome = cli_expect(2, cases[i].command);
        assert_contains(outcome.err, cases[i].message);
        assert_string_equal(outcome.out, "");
        outcome_free(&outcome);
    }
    assert_int_not_equal(access("out", F_OK), 0);
}

static void files_of_others_are_left_alone(void **state)
{
    (void)state;
    enter("cli_stability_files");
    assert_int_equal(system("mkdir -p tables && echo mine > tables/order.csv"), 0); // NOLINT
    struct outcome outcome =
        cli_expect(1, "taut stability spring.yaml --integrators rk4 --map none --output tables");
    assert_contains(outcome.err, "'tables/order.csv' exists");
    outcome_free(&outcome);
    assert_int_not_equal(access("tables/limits.csv", F_OK), 0);
    // The files of an earlier study are replaced.
    for (int i = 0; i < 2; i++) {
        outcome = cli_expect(0, "taut stability spring.yaml --integrators rk4 --map none "
                                "--budget 10 --output again --quiet");
        assert_string_equal(outcome.out, "");
        outcome_free(&outcome);
    }
    // A scene in which nothing can become unstable gets a message.
    fixture_write("free.yaml", "simulation: {dt: 0.01, steps: 5}\n"
                               "bodies: [{name: n, type: network, nodes: [[0, 0, 0]],\n"
                               "  node_mass: [1], springs: []}]\n");
    outcome = cli_expect(2, "taut stability free.yaml");
    assert_contains(outcome.err, "nothing oscillates");
    outcome_free(&outcome);
}

static void an_interruption_ends_it_with_what_was_measured(void **state)
{
    (void)state;
    enter("cli_stability_interrupted");
    fixture_write("sheet.yaml",
                  "simulation: {dt: 0.001, duration: 100}\n"
                  "environment: {gravity: [0, -9.81, 0]}\n"
                  "bodies: [{name: c, type: cloth, u: [1, 0, 0], v: [0, 0, 1], nodes: [60, 60],\n"
                  "  mass: 0.3, pins: [left], springs: {structural: {stiffness: 100}}}]\n");
    pid_t process =
        cli_start((const char *const[]){"stability", "sheet.yaml", "--budget", "500", NULL});
    assert_true(cli_wait_for_file(process, "out/sheet-stability"));
    assert_int_equal(kill(process, SIGINT), 0);
    assert_int_equal(cli_wait(process), 1);
    size_t length;
    char *message = fixture_read("err.txt", &length), *out = fixture_read("out.txt", &length);
    assert_contains(message, "interrupted by SIGINT");
    assert_contains(out, "It ended early");
    assert_contains(out, "out/sheet-stability/limits.csv");
    assert_contains(out, "out/sheet-stability/report.html"); // with the parts that exist
    free(message);
    free(out);
    assert_true(cli_count_lines("out/sheet-stability/limits.csv") > 1);
}

static void pictures_of_others_are_left_alone(void **state)
{
    (void)state;
    enter("cli_stability_others");
    static const char *const names[] = {"energy.svg", "report.html", "map.png", "study.json"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        assert_int_equal(system("rm -rf mine; mkdir mine"), 0); // NOLINT
        fixture_write(fixture_path("mine", names[i]), "mine\n");
        struct outcome outcome =
            cli_expect(1, "taut stability spring.yaml --integrators rk4 --map none --output mine");
        assert_contains(outcome.err, names[i]);
        assert_contains(outcome.err, "exists and was not written by taut");
        outcome_free(&outcome);
        assert_int_equal(cli_count_lines(fixture_path("mine", names[i])), 1);
        assert_int_equal(fixture_count("mine"), 1);
    }
}

// If the report fails, the rest of the study is complete, printed and written, and no part of the
// report is.
static void a_report_that_fails_costs_nothing_else(void **state)
{
    (void)state;
    static const struct {
        const char *script, *message;
    } cases[] = {
        {"#!/nowhere/python\n", "install the packages python3 and python3-matplotlib"},
        {"#!/bin/sh\necho \"No module named 'matplotlib'\" >&2; exit 3\n",
         "the package python3-matplotlib is missing (No module named 'matplotlib')"},
        {"#!/bin/sh\n"
         "for word; do case $word in *=*) echo half > /proc/$$/fd/${word##*=};; esac; done\n"
         "echo \"cannot write 'map.svg': No space left on device\" >&2; exit 1\n",
         "cannot write 'map.svg': No space left on device"},
        {"#!/bin/sh\nexit 0\n", "the tool wrote no report.html"},
        {"#!/bin/sh\nkill -KILL $$\n", "the tool was killed"},
    };
    enter("cli_stability_report");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        use_python(cases[i].script);
        struct outcome outcome = cli_expect(1, "taut stability spring.yaml --integrators rk4 --map "
                                               "none --budget 5 --output mine");
        assert_contains(outcome.err, "spring.yaml: the report was not made: ");
        assert_contains(outcome.err, cases[i].message);
        assert_contains(outcome.err, "everything else is in 'mine'");
        assert_contains(outcome.out, "Largest stable step");
        assert_contains(outcome.out, "mine/study.json");
        assert_null(strstr(outcome.out, "report.html"));
        outcome_free(&outcome);
        assert_int_equal(cli_count_lines("mine/limits.csv"), 2);
        // limits, drift, order, work_precision, frequency, energy and perhaps oscillation;
        // study.json and manifest.json.
        outcome = cli_expect(0, "ls -A mine | grep -v -e '[.]csv$' -e '[.]json$' | wc -l");
        assert_string_equal(outcome.out, "0\n");
        outcome_free(&outcome);
    }
    // JSON reports it too; and the next study replaces the folder.
    struct outcome outcome =
        cli_expect(1, "taut stability spring.yaml --integrators rk4 --map none "
                      "--budget 5 --output mine --json");
    if (cli_has_python())
        cli_assert_json(outcome.out, "assert d['error'] == 'the tool was killed', d['error']\n"
                                     "assert d['complete'] and d['interrupted'] is None\n");
    outcome_free(&outcome);
    use_python(DRAWS);
    outcome = cli_expect(0, "taut stability spring.yaml --integrators rk4 --map none --budget 5 "
                            "--output mine && grep -q drawn mine/report.html");
    outcome_free(&outcome);
}

// Ctrl-C while the report is drawn: the measured data stays.
static void an_interruption_ends_the_report(void **state)
{
    (void)state;
    enter("cli_stability_drawing");
    use_python("#!/bin/sh\necho half > /proc/$$/fd/${4##*=}\ntouch begun\nexec sleep 1000\n");
    pid_t process = cli_start((const char *const[]){"stability", "spring.yaml", "--integrators",
                                                    "rk4", "--map", "none", "--budget", "5", NULL});
    assert_true(cli_wait_for_file(process, "begun"));
    assert_int_equal(kill(process, SIGINT), 0);
    assert_int_equal(cli_wait(process), 1);
    size_t length;
    char *message = fixture_read("err.txt", &length), *out = fixture_read("out.txt", &length);
    assert_contains(message, "the report was not made: it was interrupted");
    assert_contains(message, "interrupted by SIGINT");
    assert_contains(out, "out/spring-stability/study.json");
    assert_null(strstr(out, "It ended early"));
    free(message);
    free(out);
    assert_int_equal(cli_count_lines("out/spring-stability/limits.csv"), 2);
    assert_int_not_equal(access("out/spring-stability/limits.svg", F_OK), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_breaks_is_said_without_numbers),
        cmocka_unit_test(rigid_springs_have_no_frequency),
        cmocka_unit_test(the_json_and_the_tables_agree),
        cmocka_unit_test(the_table_names_integrators_and_limits),
        cmocka_unit_test(wrong_usage_is_refused),
        cmocka_unit_test(files_of_others_are_left_alone),
        cmocka_unit_test(pictures_of_others_are_left_alone),
        cmocka_unit_test(an_interruption_ends_it_with_what_was_measured),
        cmocka_unit_test(a_report_that_fails_costs_nothing_else),
        cmocka_unit_test(an_interruption_ends_the_report),
    };
    return cmocka_run_group_tests_name("cli_stability", tests, NULL, NULL);
}
