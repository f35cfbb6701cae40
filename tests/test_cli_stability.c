// taut stability, on small scenes and small budgets: that what it says and writes is whole and
// agrees, and that it refuses what it should. What it measures, test_study.c checks.
#include "test.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli_fixture.h"

static void enter(const char *name)
{
    cli_enter(name);
    fixture_write("spring.yaml",
                  "title: A mass on a spring\n"
                  "simulation: {integrator: verlet, dt: 0.01, duration: 2}\n"
                  "bodies: [{name: o, type: oscillator, anchor: [0, 0, 0], axis: [1, 0, 0],\n"
                  "  mass: 1, stiffness: 100, amplitude: 0.001}]\n");
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
        "assert endings.count('html') == 1 and endings.count('png') in (0, 7)\n");
    outcome_free(&outcome);
}

static void the_table_names_integrators_and_limits(void **state)
{
    (void)state;
    enter("cli_stability_table");
    struct outcome outcome = cli_expect(
        0, "taut stability spring.yaml --integrators explicit_euler,symplectic_euler --map none "
           "--budget 40 --output tables");
    assert_says(outcome.out, "spring: A mass on a spring");
    assert_says(outcome.out, "Largest stable step");
    assert_says(outcome.out, "energy grows by e^(");
    assert_says(outcome.out, "symplectic_euler           0.2 s");
    assert_says(outcome.out, "against the closed form");
    assert_says(outcome.out, "tables/limits.csv");
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
        const char *command, *said;
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
        assert_says(outcome.err, cases[i].said);
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
    assert_says(outcome.err, "'tables/order.csv' is in the way");
    outcome_free(&outcome);
    assert_int_not_equal(access("tables/limits.csv", F_OK), 0);
    // Those of an earlier study are replaced.
    for (int i = 0; i < 2; i++) {
        outcome = cli_expect(0, "taut stability spring.yaml --integrators rk4 --map none "
                                "--budget 10 --output again --quiet");
        assert_string_equal(outcome.out, "");
        outcome_free(&outcome);
    }
    // And a scene in which nothing can be unstable is told so.
    fixture_write("free.yaml", "simulation: {dt: 0.01, steps: 5}\n"
                               "bodies: [{name: n, type: network, nodes: [[0, 0, 0]],\n"
                               "  node_mass: [1], springs: []}]\n");
    outcome = cli_expect(2, "taut stability free.yaml");
    assert_says(outcome.err, "nothing oscillates");
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
    char *said = fixture_read("err.txt", &length), *out = fixture_read("out.txt", &length);
    assert_says(said, "interrupted by SIGINT");
    assert_says(out, "It ended early");
    assert_says(out, "out/sheet-stability/limits.csv");
    free(said);
    free(out);
    assert_true(cli_count_lines("out/sheet-stability/limits.csv") > 1);
}

// Pictures and page, with a title and a folder that XML must be told about, and with programs of
// the test's own in place of those that make PNGs.
static void pictures_and_page_are_whole(void **state)
{
    (void)state;
    if (!cli_has_python())
        skip();
    cli_enter("cli_stability_pictures");
    fixture_write("a&b<c>.yaml",
                  "title: 'A <mass> & a \"spring\"  ]]>'\n"
                  "simulation: {integrator: verlet, dt: 0.01, duration: 2}\n"
                  "bodies: [{name: o, type: oscillator, anchor: [0, 0, 0], axis: [1, 0, 0],\n"
                  "  mass: 1, stiffness: 100, amplitude: 0.001}]\n");
    fixture_write("convert", "#!/bin/sh\nprintf '\\211PNG made'\n");
    // The first of the programs fails, the last makes something.
    struct outcome outcome = cli_expect(
        0, "mkdir bin && mv convert bin && chmod +x bin/convert && ln -s /bin/false "
           "bin/rsvg-convert && (PATH=\"$PWD/bin\"; taut stability 'a&b<c>.yaml' --integrators "
           "symplectic_euler,rk4 --budget 20 --output out --json)");
    cli_assert_json(
        outcome.out,
        "import glob, os, xml.etree.ElementTree as tree\n"
        "names = ['limits', 'map', 'energy', 'drift', 'work_precision', 'convergence',\n"
        "         'frequency']\n"
        "assert [p for p in d['output'] if not p.endswith('.csv')] == [\n"
        "    f'out/{n}.{e}' for n in names for e in ('svg', 'png')] + ['out/report.html']\n"
        "svg = '{http://www.w3.org/2000/svg}'\n"
        "for name in names:\n"
        "    root = tree.parse(f'out/{name}.svg').getroot()\n"
        "    assert root.tag == svg + 'svg', root.tag\n"
        "    texts = [t.text for t in root.iter(svg + 'text')]\n"
        "    assert 'a&b<c>: A <mass> & a \"spring\"  ]]>' in texts, texts\n"
        "    assert not any('nan' in t or 'inf' in t for t in texts), texts\n"
        "    box = [float(v) for v in root.get('viewBox').split()]\n"
        "    for shape in root.iter():\n"
        "        for x in ('x', 'x1', 'x2'):\n"
        "            assert -1 < float(shape.get(x, 0)) < box[2] + 1, shape.attrib\n"
        "        for y in ('y', 'y1', 'y2'):\n"
        "            assert -1 < float(shape.get(y, 0)) < box[3] + 1, shape.attrib\n"
        "        assert not any('nan' in v or 'inf' in v for k, v in shape.attrib.items()\n"
        "                       if k != 'aria-label'), shape.attrib\n"
        "    assert open(f'out/{name}.png', 'rb').read() == b'\\x89PNG made'\n"
        "assert not [n for n in os.listdir('out') if '.tmp' in n]\n"
        "page = tree.parse('out/report.html').getroot()\n"
        "html = '{http://www.w3.org/1999/xhtml}'\n"
        "assert len(list(page.iter(svg + 'svg'))) == 7\n"
        "assert not list(page.iter(html + 'script'))\n"
        "assert not any('src' in e.attrib or 'href' in e.attrib for e in page.iter())\n"
        "assert 'A <mass> & a' in next(page.iter(html + 'pre')).text\n"
        "assert 'stable' in ''.join(page.itertext())\n");
    assert_string_equal(outcome.err, "");
    outcome_free(&outcome);
    // Without any of the programs it says so, once; what there is no map of is taken away.
    outcome = cli_expect(0, "(PATH=/nowhere; taut stability 'a&b<c>.yaml' --integrators rk4 "
                            "--map none --budget 20 --output out)");
    const char *said = strstr(outcome.err, "not there as PNG");
    assert_non_null(said);
    assert_null(strstr(said + 1, "not there as PNG"));
    assert_null(strstr(outcome.out, ".png"));
    assert_says(outcome.out, "out/report.html");
    outcome_free(&outcome);
    assert_int_equal(access("out/limits.svg", F_OK), 0);
    assert_int_not_equal(access("out/limits.png", F_OK), 0);
    assert_int_not_equal(access("out/map.svg", F_OK), 0);
    assert_int_not_equal(access("out/map.png", F_OK), 0);
}

static void pictures_of_others_are_left_alone(void **state)
{
    (void)state;
    enter("cli_stability_others");
    static const char *const names[] = {"energy.svg", "report.html", "map.png"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        assert_int_equal(system("rm -rf mine; mkdir mine"), 0); // NOLINT
        fixture_write(fixture_path("mine", names[i]), "mine\n");
        struct outcome outcome =
            cli_expect(1, "taut stability spring.yaml --integrators rk4 --map none --output mine");
        assert_says(outcome.err, names[i]);
        assert_says(outcome.err, "is in the way");
        outcome_free(&outcome);
        assert_int_equal(cli_count_lines(fixture_path("mine", names[i])), 1);
        assert_int_equal(fixture_count("mine"), 1);
    }
}

// A converter that never ends is given up, once, and so are all others; and without memory none is
// begun.
static void a_converter_that_hangs_is_given_up(void **state)
{
    (void)state;
    fixture_write("hung.yaml",
                  "simulation: {integrator: verlet, dt: 0.01, duration: 1}\n"
                  "bodies: [{name: o, type: oscillator, anchor: [0, 0, 0], axis: [1, 0, 0],\n"
                  "  mass: 1, stiffness: 100, amplitude: 0.001}]\n");
    fixture_write("hangs", "#!/bin/sh\nexec /bin/sleep 1000\n");
    struct outcome outcome = cli_expect(
        0, "mkdir hung && mv hangs hung/rsvg-convert && chmod +x hung/rsvg-convert && "
           "(PATH=\"$PWD/hung\"; TAUT_MEMORY_LIMIT=100M taut stability hung.yaml --integrators rk4 "
           "--map none --budget 5 --output hung-out)");
    assert_says(outcome.err, "not there as PNG: there is too little memory");
    outcome_free(&outcome);
    outcome = cli_expect(0, "(PATH=\"$PWD/hung\"; taut stability hung.yaml --integrators rk4 "
                            "--map none --budget 5 --output hung-out)");
    assert_says(outcome.err, "not there as PNG: the program that converts them did not end");
    outcome_free(&outcome);
    outcome = cli_run("ls -A hung-out | grep -v -e svg -e csv -e html -e json");
    assert_string_equal(outcome.out, "");
    outcome_free(&outcome);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_json_and_the_tables_agree),
        cmocka_unit_test(the_table_names_integrators_and_limits),
        cmocka_unit_test(wrong_usage_is_refused),
        cmocka_unit_test(files_of_others_are_left_alone),
        cmocka_unit_test(pictures_and_page_are_whole),
        cmocka_unit_test(pictures_of_others_are_left_alone),
        cmocka_unit_test(an_interruption_ends_it_with_what_was_measured),
        cmocka_unit_test(a_converter_that_hangs_is_given_up),
    };
    return cmocka_run_group_tests_name("cli_stability", tests, NULL, NULL);
}
