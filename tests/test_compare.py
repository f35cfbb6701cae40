#!/usr/bin/python3 -B
"""tools/compare.py on made-up results: it finds a real change, reports no change in noise, computes
the p values of textbooks, and fails when it should."""
import contextlib
import io
import json
import os
import random
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../tools"))
import compare  # pylint: disable=wrong-import-position


def taut_result(rows):
    """{(scene, isa, threads): speeds} in the format of `taut-bench --json`."""
    return google_result({f"step/{scene}/symplectic_euler/single/{isa}/threads:{threads}":
                          [1e9 / speed if speed else 0 for speed in speeds]
                          for (scene, isa, threads), speeds in rows.items()})


def google_result(rows):
    """{name: milliseconds} in the format of Google Benchmark, with the aggregates that it adds."""
    benchmarks = [{"name": name, "run_name": name, "run_type": "iteration", "real_time": time,
                   "time_unit": "ms"} for name, times in rows.items() for time in times]
    benchmarks += [{"name": name + "_mean", "run_name": name, "run_type": "aggregate",
                    "real_time": 1e9, "time_unit": "ms"} for name in rows]
    benchmarks.append({"name": "bad", "run_name": "bad", "run_type": "iteration", "real_time": 0,
                       "time_unit": "ms", "error_occurred": True, "error_message": "interrupted"})
    return {"context": {}, "benchmarks": benchmarks}


def run(folder, before, after, *options):
    """(exit status, output)."""
    paths = []
    for name, result in (("before.json", before), ("after.json", after)):
        paths.append(os.path.join(folder, name))
        with open(paths[-1], "w", encoding="utf-8") as file:
            file.write(result if isinstance(result, str) else json.dumps(result))
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        try:
            code = compare.main([*paths, *options])
        except SystemExit as end:  # raised by argparse
            code = end.code
    return code, printed.getvalue()


def noisy(rng, speed, count=11):
    """A speed as measured on a busy machine: mostly close, sometimes much lower."""
    return [speed * (1 - abs(rng.gauss(0, 0.03))) * (0.6 if rng.random() < 0.1 else 1)
            for _ in range(count)]


def scene_rows(rng, factor_of_cloth=1.0, kinds=("base", "v3", "v4")):
    return {(scene, isa, 1): noisy(rng, 1e8 * (factor_of_cloth if scene == "cloth" else 1))
            for scene in ("rope", "cloth", "jelly26") for isa in kinds}


def p_values_are_those_of_the_tables():
    # Complete separation of 3 and 3: 2 / C(6, 3). The critical U of 5 and 5 at 5% is 2.
    assert abs(compare.mann_whitney([1, 2, 3], [4, 5, 6]) - 0.1) < 1e-12
    assert abs(compare.mann_whitney([1, 2, 3, 5, 6], [4, 7, 8, 9, 10]) - 8 / 252) < 1e-12  # U = 2
    assert abs(compare.mann_whitney([1, 2, 3, 5, 7], [4, 6, 8, 9, 10]) - 14 / 252) < 1e-12  # U = 3
    assert compare.mann_whitney([5, 5, 5], [5, 5, 5]) == 1
    # Both methods agree where both are accurate.
    rng = random.Random(3)
    a, b = [rng.gauss(0, 1) for _ in range(28)], [rng.gauss(0.5, 1) for _ in range(28)]
    exact = compare.mann_whitney(a, b)
    ranks, ties = compare.doubled_ranks(a + b)
    assert abs(exact - compare.normal_p(ranks, ties, 28)) < 0.01 * max(exact, 0.1)
    assert compare.holm([0.01, 0.04, 0.03]) == [0.03, 0.06, 0.06]


def a_real_change_is_found(folder):
    rng = random.Random(1)
    before = taut_result(scene_rows(rng))
    code, printed = run(folder, before, taut_result(scene_rows(rng, 0.8)))
    assert code == 0, printed
    lines = printed.splitlines()
    assert all(("cloth" in line) == line.endswith("slower") for line in lines
               if "threads:1 " in line), printed
    assert sum(line.endswith("slower") for line in lines) == 3, printed
    code, printed = run(folder, before, taut_result(scene_rows(rng, 1.3)))
    assert sum(line.endswith("faster") for line in printed.splitlines()) == 3, printed


def noise_is_no_change(folder):
    cries = 0
    for seed in range(100):
        rng = random.Random(seed)
        code, printed = run(folder, taut_result(scene_rows(rng)), taut_result(scene_rows(rng)),
                         "--fail-below", "1")
        assert (code == 1) == ("FAILED" in printed), printed
        cries += any(line.endswith(("slower", "faster")) for line in printed.splitlines())
    assert cries <= 9, f"{cries} false alarms in 100 comparisons of the same, 5 are allowed for"


def the_gate_fails_when_it_should(folder):
    rng = random.Random(2)
    before = taut_result(scene_rows(rng))
    slower = taut_result(scene_rows(rng, 0.7))
    assert run(folder, before, slower, "--fail-below", "0.9")[0] == 1
    assert run(folder, before, slower, "--fail-below", "0.5")[0] == 0
    assert run(folder, before, taut_result(scene_rows(rng, 1.3)), "--fail-below", "0.9")[0] == 0
    code, printed = run(folder, before, taut_result(scene_rows(rng, kinds=("base", "v3"))),
                     "--fail-below", "0.5")
    assert code == 1 and "cloth/symplectic_euler/single/v4/threads:1 was not measured" in printed, printed
    few = {("cloth", "v4", 1): [1.0, 1.1]}, {("cloth", "v4", 1): [0.5, 0.6]}
    code, printed = run(folder, taut_result(few[0]), taut_result(few[1]), "--fail-below", "0.9")
    assert code == 0 and "may be chance" in printed and "too few" in printed, printed


def google_results_are_read(folder):
    before = {"springs/10000": [1.0, 1.01, 1.02, 1.03, 1.04, 1.05], "setup": [5, 6, 7, 8, 9, 10]}
    after = {"springs/10000": [0.5, 0.51, 0.52, 0.53, 0.54, 0.55], "setup": [5, 6, 7, 8, 9, 10.5]}
    code, printed = run(folder, google_result(before), google_result(after))
    rows = {line.split()[0]: line for line in printed.splitlines() if "x " in line}
    assert code == 0 and rows["springs/10000"].endswith("faster"), printed
    assert rows["springs/10000"].split()[1:3] == ["1.953x", "2.000x"], printed
    assert rows["setup"].endswith("no difference shown"), printed


def bad_files_are_refused(folder):
    good = taut_result({("cloth", "v4", 1): [1.0, 2.0]})
    for bad in ("{", "[]", '{"benchmarks": 3}', json.dumps(taut_result({("rope", "v4", 1): [1.0]})),
                json.dumps(taut_result({("cloth", "v4", 1): [0.0]}))):
        code, printed = run(folder, good, bad)
        assert code == 2 and "compare.py: " in printed, (bad, code, printed)
    # A file from before taut-bench.
    code, printed = run(folder, good, '{"benchmark": "taut bench", "results": []}')
    assert code == 2 and "benchmark_results.py convert" in printed, printed
    assert run(folder, good, good, "--rounds", "1")[0] == 2
    assert run(folder, good, good, "--", "--full")[0] == 2


def builds_are_run_in_turns(folder):
    log = os.path.join(folder, "log")
    programs = []
    for name, speed in (("slow", 1.0), ("fast", 2.0)):
        programs.append(os.path.join(folder, name))
        result = json.dumps(taut_result({("cloth", "v4", 1): [speed, speed / 2]}))
        with open(programs[-1], "w", encoding="utf-8") as file:
            file.write(f"#!/bin/sh\necho {name} \"$@\" >>'{log}'\ncat <<'E'\n{result}\nE\n")
        os.chmod(programs[-1], 0o755)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(io.StringIO()):
        code = compare.main(["--builds", *programs, "--rounds", "6", "--", "--full", "rope"])
    assert code == 0 and "2.000x" in printed.getvalue() and "faster" in printed.getvalue()
    with open(log, encoding="utf-8") as file:
        calls = file.read().splitlines()
    assert [call.split()[0] for call in calls] == ["slow", "fast", "fast", "slow"] * 3, calls
    assert all(call.split()[1:] == ["--json", "--full", "rope"]
               for call in calls), calls
    with contextlib.redirect_stderr(io.StringIO()):
        assert compare.main(["--builds", programs[0], "/bin/false"]) == 2


def main():
    tests = [a_real_change_is_found, noise_is_no_change, the_gate_fails_when_it_should,
             google_results_are_read, bad_files_are_refused, builds_are_run_in_turns]
    p_values_are_those_of_the_tables()
    for test in tests:
        with tempfile.TemporaryDirectory() as folder:
            test(folder)
    print(f"{len(tests) + 1} checks passed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
