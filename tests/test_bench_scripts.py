#!/usr/bin/python3 -B
"""The scripts of bench/ that measure, on programs that only pretend: hashes.py finds the run that
differs, billion.py keeps what is asked for, sweep.py what is whole, and renew.py replaces a result
by a whole one only; result_files.py writes through no link of somebody else's."""
import concurrent.futures
import contextlib
import io
import json
import os
import subprocess
import sys
import tempfile

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
sys.path.insert(0, os.path.join(ROOT, "bench"))
import billion  # pylint: disable=wrong-import-position
import hashes  # pylint: disable=wrong-import-position
import renew  # pylint: disable=wrong-import-position
import result_files  # pylint: disable=wrong-import-position
import sweep  # pylint: disable=wrong-import-position
import table  # pylint: disable=wrong-import-position

MASK = os.umask(0)
os.umask(MASK)

# Three threads on v3 have bits of their own.
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


def said_by(function, *words):
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        code = function(list(words))
    return code, said.getvalue()


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def another_hash_is_found(taut, out):
    code, said = said_by(hashes.main, taut, "a.yaml", "b.yaml", "--threads", "2", "--json", out)
    assert code == 0 and said.count("00000000000900d0") == 2, said
    assert load(out) == {"scenes": 2, "steps": 20, "threads": 2, "isas": ["base", "v3"],
                         "different": []}
    code, said = said_by(hashes.main, taut, "a.yaml", "--threads", "4", "--json", out)
    assert code == 1 and "a.yaml, v3, 3 threads: 0000000000000bad" in said, said
    assert len(load(out)["different"]) == 1
    assert said_by(hashes.main, "/nonexistent", "a.yaml")[0] == 2


def a_billion_is_told(taut, out, result):
    code, said = said_by(billion.main, taut, "--json", out)
    assert code == 0 and "2.50 GiB" in said and "1,030,600,548 springs" in said, said
    assert load(out) == {key: result[key] for key in billion.KEPT}
    assert said_by(billion.main, "false")[0] == 2


def a_sweep_is_made_small():
    result = {"context": {"date": "now", "num_cpus": 2, "executable": "x"}, "benchmarks": [
        {"run_name": "step/cloth/v4/threads:1/10000", "run_type": "iteration",
         "real_time": 1.23456789, "time_unit": "ms", "springs": 9876.0, "cpu_time": 5.0},
        {"run_name": "step/cloth/v4/threads:1/10000", "run_type": "aggregate", "real_time": 1.0},
        {"run_name": "bad", "run_type": "iteration", "error_occurred": True,
         "error_message": "no memory"}]}
    small = json.loads(sweep.compact(result))
    assert small["benchmarks"] == [{"run_name": "step/cloth/v4/threads:1/10000",
                                    "run_type": "iteration", "real_time": 1.2346,
                                    "time_unit": "ms", "springs": 9876}]
    assert small["context"] == {"date": "now", "num_cpus": 2}
    assert sweep.failures(result) == ["bad: no memory"]


def only_whole_results_replace(folder):
    path = os.path.join(folder, "thing.json")
    writes = ["sh", "-c", "printf '{\"a\": 1}' >\"$0\"", "{file}"]
    cases = [(["echo", '{"a": 0}'], True, True, 0), (["echo", "{"], True, False, 0),
             (["false"], True, False, 0), (["/bin/sh", "-c", "echo '{\"a\": 7}'; exit 1"], True,
                                           False, 0), (writes, False, True, 1)]
    for command, prints, whole, kept in cases:
        with contextlib.redirect_stderr(io.StringIO()):
            assert renew.measure(folder, "thing", command, prints) == whole, command
        assert load(path) == {"a": kept}, command
        assert os.listdir(folder) == ["thing.json"]


def run_script(name, *words):
    done = subprocess.run([sys.executable, "-B", os.path.join(ROOT, name), *words],
                          capture_output=True, text=True, check=False, timeout=60)
    return done.returncode, done.stderr


def bad_input_is_one_line(folder):
    """A file, folder or program that is not there, is empty, or holds something else: no traceback,
    but a message and exit status 2."""
    def file(name, text):
        os.makedirs(os.path.dirname(os.path.join(folder, name)), exist_ok=True)
        return program(folder, name, text)
    empty = os.path.join(folder, "empty")
    os.mkdir(empty)
    nowhere, text = os.path.join(folder, "nowhere"), file("text", "no JSON")
    folders = [nowhere, empty, text]
    for number, content in enumerate(("{", "", "[]", "{}", "7", '"text"', '{"results": 3}',
                                      '{"results": [], "limits": []}', "\udcff")):
        name = f"wrong{number}/taut_bench.json"
        folders.append(os.path.dirname(file(name, content)))
    with open(os.path.join(ROOT, "bench/results/amd-epyc_v4/taut_bench.json"),
              encoding="utf-8") as source:
        sound = source.read()
    for name in ("kernels", "peers", "neighbour", "billion", "hashes"):
        file(f"other_{name}/taut_bench.json", sound)
        folders.append(os.path.dirname(file(f"other_{name}/{name}.json", '{"benchmarks": 1}')))
    marked = file("marked.md", table.BEGIN + "\n" + table.END + "\n")
    junk, mute = (program(folder, name, f"#!/bin/sh\n{line}\n") for name, line in
                  (("junk", "echo junk"), ("mute", "echo '{}'")))
    cases = [(f"bench/{name}", *words) for path in folders for name, *words in
             (("plot.py", "--check", path, empty), ("goals.py", path), ("table.py", path, marked))
             if name != "plot.py" or "other_" not in path or path.endswith("kernels")]
    cases += [("bench/plot.py", os.path.join(ROOT, "bench/results/amd-epyc_v4"),
               os.path.join(text, "out")),
              ("bench/table.py", empty, nowhere), ("bench/table.py", empty, junk),
              ("bench/table.py", empty, file("bytes.md", "\udcff")),
              ("bench/compare.py", nowhere, text), ("bench/compare.py", text, text),
              ("bench/compare.py", file("list.json", "[]"), text),
              ("tests/run_tests", empty, "no_such_test"), ("tests/run_tests", text)]
    for bad in (nowhere, text, junk, mute, empty):
        cases += [("bench/billion.py", bad), ("bench/hashes.py", bad, "a.yaml"),
                  ("bench/neighbour.py", bad, "cloth"), ("bench/renew.py", bad),
                  ("bench/sweep.py", bad, os.path.join(folder, "out.json")),
                  ("bench/compare.py", "--builds", bad, bad)]
    cases += [(name,) for name in ("bench/billion.py", "bench/compare.py", "bench/goals.py",
                                   "bench/hashes.py", "bench/neighbour.py", "bench/peers/run.py",
                                   "bench/plot.py", "bench/renew.py", "bench/sweep.py",
                                   "bench/table.py", "tests/run_tests", "tests/read_pc2.py")]
    with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
        for case, (code, said) in zip(cases, pool.map(lambda case: run_script(*case), cases)):
            assert code == 2 and said.strip() and "Traceback" not in said, (case, code, said)
    for name in ("read_pc2.py", "read_vtp.py"):
        code, said = run_script(f"tests/{name}", nowhere)
        assert code in (1, 77) and "Traceback" not in said, (name, said)


def only_the_file_itself_is_written(folder):
    """Neither what a link leads to that is called as a temporary file could be, nor such a file."""
    path, part, victim = (os.path.join(folder, name) for name in ("a.json", "a.json.tmp", "victim"))
    program(folder, "victim", "mine")
    os.symlink("victim", part)
    result_files.write_json(path, {"a": 1})
    assert load(path) == {"a": 1}
    assert os.stat(path).st_mode & 0o777 == 0o666 & ~MASK
    with contextlib.suppress(TypeError):
        result_files.write_json(path, {"a": object()})
        assert False
    with open(victim, encoding="utf-8") as file:
        assert file.read() == "mine"
    assert os.path.islink(part) and load(path) == {"a": 1}
    assert sorted(os.listdir(folder)) == ["a.json", "a.json.tmp", "victim"]
    os.symlink("a.json", os.path.join(folder, "link"))
    result_files.write(os.path.join(folder, "link"), "2")
    assert load(path) == 2 and os.path.islink(os.path.join(folder, "link"))


def main():
    result = {key: 1 for key in billion.KEPT}
    result.update(springs=1030600548, peak_rss_bytes=2.5 * 2 ** 30, isa="v4", more=2)
    with tempfile.TemporaryDirectory() as folder:
        taut = program(folder, "taut", TAUT.replace("{result}", json.dumps(result)))
        out = os.path.join(folder, "out.json")
        another_hash_is_found(taut, out)
        a_billion_is_told(taut, out, result)
    a_sweep_is_made_small()
    with tempfile.TemporaryDirectory() as folder:
        only_whole_results_replace(folder)
    with tempfile.TemporaryDirectory() as folder:
        only_the_file_itself_is_written(folder)
    with tempfile.TemporaryDirectory() as folder:
        bad_input_is_one_line(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
