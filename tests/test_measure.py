#!/usr/bin/python3 -B
"""The measuring tools, with mock programs: measure.py finds the run that differs, keeps requested
and complete results, and replaces a result only by a complete one; benchmark_results.py does not
write through links of other users; bad input causes one line and exit status 2."""
import concurrent.futures
import contextlib
import io
import json
import math
import os
import subprocess
import sys
import tempfile

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
sys.path.insert(0, os.path.join(ROOT, "tools"))
import benchmark_results  # pylint: disable=wrong-import-position
import measure  # pylint: disable=wrong-import-position
import performance  # pylint: disable=wrong-import-position

MASK = os.umask(0)
os.umask(MASK)

# Three threads on v3 give different bits.
TAUT = """#!/bin/sh
case $* in
*--version*) echo 'instruction sets: base (SSE2), v3 (AVX2)';;
*--hash*'--threads 3 --isa v3') echo 0000000000000bad;;
*--hash*) echo 00000000000900d0;;
*'--json --quiet') echo '{result}';;
*) exit 1;;
esac
"""


def program(folder, name, text):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8", errors="surrogateescape") as file:
        file.write(text)
    os.chmod(path, 0o755)
    return path


def output_of(function, *words):
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        code = function(list(words))
    return code, printed.getvalue()


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def another_hash_is_found(taut, out):
    code, printed = output_of(measure.main, "hashes", taut, "a.yaml", "b.yaml", "--threads", "2",
                              "--json", out)
    assert code == 0 and printed.count("00000000000900d0") == 2, printed
    assert load(out) == {"scenes": 2, "steps": 20, "threads": 2, "isas": ["base", "v3"],
                         "different": []}
    code, printed = output_of(measure.main, "hashes", taut, "a.yaml", "--threads", "4", "--json", out)
    assert code == 1 and "a.yaml, v3, 3 threads: 0000000000000bad" in printed, printed
    assert len(load(out)["different"]) == 1
    assert output_of(measure.main, "hashes", "/nonexistent", "a.yaml")[0] == 2


def a_billion_is_written_as_one(taut, out, result):
    code, printed = output_of(measure.main, "billion", taut, "--json", out)
    assert code == 0 and "2.50 GiB" in printed and "1,030,600,548 springs" in printed, printed
    assert load(out) == {key: result[key] for key in measure.BILLION_KEPT}
    assert output_of(measure.main, "billion", "false")[0] == 2


def draped_sheets_are_measured(taut, out, result):
    code, printed = output_of(measure.main, "sheets", taut, "--repeat", "2", "--json", out)
    assert code == 0 and "steps 1.0 s" in printed, printed
    assert "contact 0 bytes a triangle" in printed, printed
    found = load(out)
    assert found["step_seconds"] == [1, 1] and found["hash"] == result["hash"], found
    assert output_of(measure.main, "sheets", "false")[0] == 2
    # As many triangles as the sheets and the tube have, all of the tube's nodes in use.
    points, corners = [], []
    measure.write_cylinder(out, 0.1, 0.7, 12, 3)
    with open(out, encoding="ascii") as file:
        for line in file:
            numbers = [float(word) for word in line.split()[1:]]
            (points if line[0] == "v" else corners).append(numbers)
    assert len(points) == 48 and len(corners) == 72
    assert {corner for triangle in corners for corner in triangle} == set(range(1, 49))
    assert all(abs(math.hypot(x, z) - 0.1) < 1e-9 and abs(y) <= 0.35 for x, y, z in points)
    assert measure.sheets_scene(9, 0.1, "", "a.csv").count("type: cloth") == 50


RESULT = {"context": {"date": "now", "num_cpus": 2, "executable": "x", "machine": "A  B (C)",
                      "taut_version": "1"}, "benchmarks": [
    {"run_name": "peak/v3/threads:1/manual_time", "run_type": "iteration", "real_time": 1.0,
     "time_unit": "ms", "Gflop/s": 9.0},
    {"run_name": "step/cloth/verlet/single/v3/threads:1/manual_time", "run_type": "iteration",
     "real_time": 1.23456789, "time_unit": "ms", "springs": 9876.0, "cpu_time": 5.0},
    {"run_name": "step/cloth/verlet/single/v3/threads:1/manual_time", "run_type": "aggregate",
     "real_time": 1.0},
    {"run_name": "bad", "run_type": "iteration", "error_occurred": True,
     "error_message": "no memory"}]}


def a_result_is_made_small(folder):
    """A line for each repetition, steps first; failures are reported."""
    small = json.loads(benchmark_results.compact(RESULT))
    assert small["benchmarks"] == [
        {"run_name": "step/cloth/verlet/single/v3/threads:1/manual_time", "real_time": 1.23457,
         "time_unit": "ms", "springs": 9876},
        {"run_name": "peak/v3/threads:1/manual_time", "real_time": 1, "time_unit": "ms",
         "Gflop/s": 9}]
    assert small["context"] == {"date": "now", "num_cpus": 2, "machine": "A  B (C)",
                                "taut_version": "1"}
    log, out = os.path.join(folder, "log"), os.path.join(folder, "out.json")
    bench = program(folder, "taut-bench", f"#!/bin/sh\necho \"$@\" >>'{log}'\ncat <<'E'\n"
                    f"{json.dumps(RESULT)}\nE\nexit 1\n")
    program(folder, "taut", TAUT)
    for name in ("steps", "scaling", "sizes"):
        code, printed = output_of(measure.main, name, bench, out)
        assert code == 1 and "bad: no memory" in printed and load(out) == small, (name, printed)
    with open(log, encoding="utf-8") as file:
        calls = file.read().splitlines()
    assert all(call.startswith("--json ") for call in calls) and len(calls) == 3
    assert "--isa all" in calls[0] and "velocity_verlet/single/v3" in calls[0], calls[0]
    assert measure.folder_of(bench).endswith("bench/results/a-b-c_v3")


def only_whole_results_replace(folder):
    path = os.path.join(folder, "thing.json")
    writes = ["sh", "-c", "printf '{\"a\": 1}' >\"$0\"", "{file}"]
    cases = [(["echo", '{"a": 0}'], True, True, 0), (["echo", "{"], True, False, 0),
             (["false"], True, False, 0), (["/bin/sh", "-c", "echo '{\"a\": 7}'; exit 1"], True,
                                           False, 0), (writes, False, True, 1)]
    for command, prints, whole, kept in cases:
        with contextlib.redirect_stderr(io.StringIO()):
            assert measure.measure(folder, "thing", command, prints) == whole, command
        assert load(path) == {"a": kept}, command
        assert os.listdir(folder) == ["thing.json"]


def run_script(name, *words):
    done = subprocess.run([sys.executable, "-B", os.path.join(ROOT, name), *words],
                          capture_output=True, text=True, check=False, timeout=60)
    return done.returncode, done.stderr


def bad_input_is_one_line(folder):
    """A file, folder or program that is missing, empty, or of another kind: no traceback, but a
    message and exit status 2."""
    def file(name, text):
        os.makedirs(os.path.dirname(os.path.join(folder, name)), exist_ok=True)
        return program(folder, name, text)
    empty = os.path.join(folder, "empty")
    os.mkdir(empty)
    nowhere, text = os.path.join(folder, "nowhere"), file("text", "no JSON")
    folders = [nowhere, empty, text]
    for number, content in enumerate(("{", "", "[]", "{}", "7", '"text"', '{"benchmarks": 3}',
                                      '{"context": {}, "benchmarks": []}', "\udcff")):
        name = f"wrong{number}/steps.json"
        folders.append(os.path.dirname(file(name, content)))
    with open(os.path.join(ROOT, "bench/results/oxide-virtual-turin-like-processor_v4/steps.json"),
              encoding="utf-8") as source:
        sound = source.read()
    for name in ("sizes", "peers", "neighbour", "billion", "hashes", "scaling"):
        file(f"other_{name}/steps.json", sound)
        folders.append(os.path.dirname(file(f"other_{name}/{name}.json", '{"benchmarks": 1}')))
    marked = file("marked.md", performance.BEGIN + "\n" + performance.END + "\n")
    junk, mute = (program(folder, name, f"#!/bin/sh\n{line}\n") for name, line in
                  (("junk", "echo junk"), ("mute", "echo '{}'")))
    tool = "tools/performance.py"
    cases = [(tool, *words) for path in folders for words in
             (("--check", path, marked, empty), (path, marked, empty))]
    cases += [(tool, "--goals", path) for path in folders if "other_scaling" not in path]
    cases += [(tool, empty, nowhere, empty), (tool, empty, junk, empty),
              (tool, empty, file("bytes.md", "\udcff"), empty),
              ("tools/compare.py", nowhere, text), ("tools/compare.py", text, text),
              ("tools/compare.py", file("list.json", "[]"), text),
              ("tests/run_tests", empty, "no_such_test"), ("tests/run_tests", text)]
    for bad in (nowhere, text, junk, mute, empty):
        out = os.path.join(folder, "out.json")
        cases += [("tools/measure.py", *words) for words in (
            ("billion", bad), ("sheets", bad), ("hashes", bad, "a.yaml"), ("neighbour", bad, "cloth"),
            ("all", bad), ("sizes", bad, out), ("steps", bad, out), ("scaling", bad, out))]
        cases += [("tools/compare.py", "--builds", bad, bad),
                  ("tools/benchmark_results.py", "convert", bad, out)]
    cases += [(name,) for name in ("tools/benchmark_results.py", "tools/compare.py",
                                   "tools/measure.py", "tools/performance.py",
                                   "bench/peers/run.py", "tests/run_tests", "tests/read_pc2.py")]
    cases += [("tools/measure.py", name) for name in measure.MEASUREMENTS]
    with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
        for case, (code, printed) in zip(cases, pool.map(lambda case: run_script(*case), cases)):
            assert code == 2 and printed.strip() and "Traceback" not in printed, (case, code, printed)
    for name in ("read_pc2.py", "read_vtp.py"):
        code, printed = run_script(f"tests/{name}", nowhere)
        assert code in (1, 77) and "Traceback" not in printed, (name, printed)


def only_the_file_itself_is_written(folder):
    """A link, or a file, with a possible name of a temporary file is not written to."""
    path, part, victim = (os.path.join(folder, name) for name in ("a.json", "a.json.tmp", "victim"))
    program(folder, "victim", "mine")
    os.symlink("victim", part)
    benchmark_results.write_json(path, {"a": 1})
    assert load(path) == {"a": 1}
    assert os.stat(path).st_mode & 0o777 == 0o666 & ~MASK
    with contextlib.suppress(TypeError):
        benchmark_results.write_json(path, {"a": object()})
        assert False
    with open(victim, encoding="utf-8") as file:
        assert file.read() == "mine"
    assert os.path.islink(part) and load(path) == {"a": 1}
    assert sorted(os.listdir(folder)) == ["a.json", "a.json.tmp", "victim"]
    os.symlink("a.json", os.path.join(folder, "link"))
    benchmark_results.write(os.path.join(folder, "link"), "2")
    assert load(path) == 2 and os.path.islink(os.path.join(folder, "link"))


def main():
    result = {key: 1 for key in measure.BILLION_KEPT + measure.SHEETS_KEPT}
    result.update(springs=1030600548, peak_rss_bytes=2.5 * 2 ** 30, isa="v4", more=2)
    with tempfile.TemporaryDirectory() as folder:
        taut = program(folder, "taut", TAUT.replace("{result}", json.dumps(result)))
        out = os.path.join(folder, "out.json")
        another_hash_is_found(taut, out)
        a_billion_is_written_as_one(taut, out, result)
        draped_sheets_are_measured(taut, out, result)
    with tempfile.TemporaryDirectory() as folder:
        a_result_is_made_small(folder)
    with tempfile.TemporaryDirectory() as folder:
        only_whole_results_replace(folder)
    with tempfile.TemporaryDirectory() as folder:
        only_the_file_itself_is_written(folder)
    with tempfile.TemporaryDirectory() as folder:
        bad_input_is_one_line(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
