#!/usr/bin/python3 -B
"""taut-bench and `taut bench` on small scenes for short times: tests that the result is complete
and consistent, not the speed. If taut-bench was not built, only the message of `taut bench` is
tested."""
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
# Small caches, so that the arrays of the bandwidth are small.
MACHINE = {"HWLOC_SYNTHETIC": "package:1 l3:1(size=4194304) l2:2(size=1048576) l1d:1(size=32768) "
                              "core:1 pu:1"}
BRIEF = ["--benchmark_min_time=0.002", "--benchmark_min_warmup_time=0", "--benchmark_repetitions=2"]
SMALL = [*BRIEF, "--springs", "4000", "--isa", "base"]
SCENE = """\
simulation: {integrator: rk4, dt: 0.0001, steps: 10}
precision: double
bodies:
  - {name: rope, type: rope, from: [0, 0, 0], to: [1, 0, 0], nodes: 200, node_mass: 0.01,
     pins: [first], spring: {stiffness: 100, damping: 0.01}}
"""


def run(command, expected=0, **environment):
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300,
                          env={**os.environ, **MACHINE, **environment})
    assert done.returncode == expected, (command, done.returncode, done.stdout[-2000:],
                                         done.stderr[-2000:])
    return done


def result(program, *words, **environment):
    return json.loads(run([program, *words, "--json"], **environment).stdout)


def iterations(found):
    return [row for row in found["benchmarks"] if row["run_type"] == "iteration"]


def names(found):
    return sorted({row["run_name"].removesuffix("/manual_time") for row in iterations(found)})


def the_json_holds_every_variant_and_is_consistent(bench):
    found = result(bench, "rope", "--threads", "1,2", "--integrator", "symplectic_euler", *SMALL)
    start = "step/rope/symplectic_euler/single/"
    assert names(found) == [start + "base/threads:1/springs:4000",
                            start + "base/threads:2/springs:4000",
                            start + "reference/threads:1/springs:4000"], names(found)
    rows = iterations(found)
    assert len(rows) == 6 and {row["repetition_index"] for row in rows} == {0, 1}
    for row in rows:
        assert row["springs"] == 3997 and row["nodes"] == 2000
        assert row["spring_updates/s"] > 0 and row["real_time"] > 0 and row["time_unit"] == "ms"
        assert row["label"] == ("reference" if "reference" in row["run_name"] else "grid")
        nodes = row["node_updates/s"] / row["spring_updates/s"] * 3997 / 2000
        assert abs(nodes - 1) < 1e-9, nodes
        # An iteration makes enough steps for a million updates.
        steps = row["spring_updates/s"] * row["real_time"] * 1e-3 / 3997
        assert abs(steps - 251) < 1e-6, steps
        assert row["bytes/spring"] > 4 and row["setup_s"] > 0
        triad = row["GB/s"] / row["share_of_triad"]
        assert 0.1 < triad < 1e4, triad
    # The model: 13 numbers per node and step on a grid of one tile.
    grid = next(row for row in rows if "base/threads:1" in row["run_name"])
    assert abs(grid["GB/s"] * 1e9 / grid["node_updates/s"] - 52) < 1e-6
    aggregates = {row["aggregate_name"] for row in found["benchmarks"]
                  if row["run_type"] == "aggregate"}
    assert aggregates == {"mean", "median", "stddev", "cv", "min", "max"}, aggregates


def the_context_describes_machine_and_build(taut, bench):
    context = result(bench, "rope", "--kernel", "reference", *SMALL)["context"]
    assert context["machine"] and context["machine_cores"] == "2", context
    assert context["machine_l3_bytes"] == "4194304", context
    version = run([taut, "--version"]).stdout
    for key, line in (("taut_version", "taut "), ("taut_commit", "commit: "),
                      ("taut_compiler", "compiler: ")):
        assert f"{line}{context[key]}\n" in version, (key, context[key], version)
    assert context["taut_flags"] in version


def integrators_and_precisions_are_compared(bench):
    found = result(bench, "rope", "--threads", "1", "--kernel", "auto", *SMALL)
    assert [name.split("/")[2] for name in names(found)] == ["symplectic_euler", "velocity_verlet"]
    found = result(bench, "rope", "--threads", "1", "--kernel", "auto", "--integrator",
                   "symplectic_euler,rk4", "--precision", "single,double", *SMALL)
    rows = {tuple(row["run_name"].split("/")[2:4]): row for row in iterations(found)}
    assert len(rows) == 4 and ("rk4", "double") in rows, rows.keys()
    assert (rows["rk4", "double"]["bytes/spring"] > 1.5 * rows["rk4", "single"]["bytes/spring"])
    # A step of rk4 evaluates each force four times; its memory traffic is not modelled.
    rk4 = rows["rk4", "single"]
    assert abs(rk4["spring_updates/s"] / rk4["node_updates/s"] * 2000 / 3997 - 4) < 1e-9, rk4
    assert "GB/s" not in rk4 and "GB/s" in rows["symplectic_euler", "single"]
    found = result(bench, "rope", "--threads", "1", "--kernel", "auto", "--integrator",
                   "symplectic_euler", "--energy-budget", "off,on", *SMALL)
    assert [name.endswith("/energy_budget") for name in names(found)] == [False, True]


def a_scene_file_is_measured(bench, folder):
    path = os.path.join(folder, "my.rope.yaml")
    with open(path, "w", encoding="ascii") as file:
        file.write(SCENE)
    found = result(bench, path, "--threads", "1,2", "--kernel", "auto", "--isa", "base", *BRIEF)
    assert names(found) == [f"step/my/rk4/double/base/threads:{n}" for n in (1, 2)], names(found)
    assert all(row["springs"] == 199 and row["nodes"] == 200 for row in iterations(found))
    found = result(bench, path, "--threads", "1", "--kernel", "reference", "--integrator", "verlet",
                   "--precision", "single", "--set", "bodies.rope.nodes=300", *BRIEF)
    assert names(found) == ["step/my/verlet/single/reference/threads:1"], names(found)
    assert all(row["springs"] == 299 for row in iterations(found))
    # dt: auto, energy and output of a scene are ignored.
    found = result(bench, os.path.join(ROOT, "scenes/rope.yaml"), "--threads", "1", "--kernel",
                   "auto", "--isa", "base", "--set", "simulation.dt=auto", *BRIEF)
    assert len(iterations(found)) == 2 and os.listdir(folder) == ["my.rope.yaml"]


def scaling_has_efficiencies(bench):
    found = result(bench, "rope", "--suite", "scaling", "--integrator", "symplectic_euler",
                   "--threads", "1,2", *SMALL)
    rows = {row["run_name"].split("/")[0] + row["run_name"].split("threads:")[1][0]: row
            for row in iterations(found)}
    assert sorted(rows) == ["strong1", "strong2", "weak1", "weak2"], rows.keys()
    for name, row in rows.items():
        threads = int(name[-1])
        assert abs(row["efficiency"] * threads - row["speedup"]) < 1e-12, row
        assert row["speedup"] == 1 if threads == 1 else 0 < row["speedup"] < 20, row
    assert rows["strong2"]["springs"] == 3997 and rows["weak2"]["springs"] == 7997


def stages_and_limits_are_measured(bench):
    found = result(bench, "ball", "cloth", "--suite", "stages,limits", "--threads", "1", *SMALL,
                   "--benchmark_filter=(base|triad|update|read)/threads")
    kinds = {name.split("/")[0] for name in names(found)}
    assert kinds == {"springs", "tangent", "pressure", "volume", "wind_face", "wind_node", "plan",
                     "setup", "bandwidth", "peak"}, kinds
    for row in iterations(found):
        kind = row["run_name"].split("/")[0]
        assert row["real_time"] > 0
        counter = {"bandwidth": "GB/s", "peak": "Gflop/s", "plan": "springs/s",
                   "setup": "springs/s", "volume": "face_updates/s",
                   "tangent": "spring_products/s"}.get(kind, "spring_updates/s")
        assert row[counter] > 0, row
    bandwidths = [row for row in iterations(found) if row["run_name"].startswith("bandwidth")]
    assert len(bandwidths) == 6 and all(0.1 < row["GB/s"] < 1e4 for row in bandwidths)


def google_benchmarks_flags_work(bench, folder):
    listed = run([bench, "--benchmark_list_tests", "--full", "--isa", "all"]).stdout.split()
    assert "step/cloth-wind/symplectic_euler/single/base/threads:1/manual_time" in listed
    assert "step/cloth-collider/velocity_verlet/single/base/threads:2/manual_time" in listed
    assert "step/cloth/symplectic_euler/single/reference/threads:1/manual_time" in listed
    assert not any("cloth-large" in name and "reference" in name for name in listed)
    assert "bandwidth/triad/threads:2/manual_time" in listed
    some = run([bench, "--benchmark_list_tests"]).stdout.split()
    assert set(some) < set(listed) and not any("cloth-wind" in name for name in some)
    # The console shows only the median, the file has everything.
    out = os.path.join(folder, "out.csv")
    printed = run([bench, "rope", "--kernel", "reference", "--integrator", "symplectic_euler", *SMALL,
                f"--benchmark_out={out}", "--benchmark_out_format=csv"]).stdout
    lines = [line for line in printed.splitlines() if line.startswith("step/")]
    assert len(lines) == 1 and "manual_time_median" in lines[0], printed
    assert "spring_updates/s=" in lines[0] and "share_of_triad=" in lines[0], printed
    with open(out, encoding="utf-8") as file:
        table = file.read()
    assert '"spring_updates/s"' in table and table.count("\n\"step/rope") == 8, table
    printed = run([bench, "rope", "--kernel", "reference", "--integrator", "symplectic_euler", *SMALL,
                "--verbose"]).stdout
    assert len([line for line in printed.splitlines() if line.startswith("step/")]) == 8, printed
    # taut-bench only sets defaults: the command line and the environment override them.
    found = result(bench, "rope", "--kernel", "reference", "--integrator", "symplectic_euler",
                   "--springs", "1000", "--benchmark_min_time=0.001", BENCHMARK_REPETITIONS="1")
    assert len(found["benchmarks"]) == 1, found


def wrong_usage_is_refused(bench, folder):
    broken = os.path.join(folder, "broken.yaml")
    with open(broken, "w", encoding="ascii") as file:
        file.write(SCENE.replace("stiffness", "stifness"))
    for words, printed in ((["cloht"], "did you mean 'cloth'?"), (["rope", ""], "no scene ''"),
                        (["nowhere.yaml"], "nowhere.yaml"), ([broken], "stifness"),
                        (["--threads", "1,,2"], "separated by commas, not '1,,2'"),
                        (["--threads", "0"], "from 1 to 4096"), (["--threads", "1,1"], "different"),
                        (["--threads", "4000"], "too many for this machine"),
                        (["--suite", "step"], "steps, scaling"), (["--suite", ""], "--suite takes"),
                        (["--isa", "v9"], "base, v3 and v4"), (["--integrator", "rk5"], "--integrator"),
                        (["--precision", "half"], "single, mixed, double"), (["--kernel", "fast"], "auto"),
                        (["--springs", "1.5"], "--springs"), (["--energy-budget", "x"], "off, on"),
                        (["--thread", "1"], "did you mean '--threads'?"),
                        (["--full=1"], "takes no value"),
                        (["--set", "a=b", "rope"], "scene 'rope'"),
                        (["rope", "--benchmark_filter=nothing"], "Failed to match"),
                        (["--benchmark_fliter=x"], "unrecognized command-line flag")):
        small = [] if "--springs" in words else ["--springs", "1000"]
        done = run([bench, *words, *small, *BRIEF], 2)
        assert printed in done.stdout + done.stderr, (words, done.stdout, done.stderr)
        assert "taut-bench: " in done.stderr or "benchmark" in printed + words[-1], (words, done.stderr)
    assert "requires an argument" in run([bench, "--threads"], 2).stderr
    assert "TAUT_ISA" in run([bench, "rope"], 2, TAUT_ISA="v9").stderr
    with open("/dev/full", "w", encoding="ascii") as full:
        done = subprocess.run([bench, "rope", "--kernel", "reference", *SMALL], stdout=full,
                              stderr=subprocess.PIPE, check=False, env={**os.environ, **MACHINE})
    assert done.returncode == 1 and b"cannot write" in done.stderr, done


def a_failing_benchmark_is_reported(bench, folder):
    """A run that diverges: the result and the exit status report it."""
    path = os.path.join(folder, "diverges.yaml")
    with open(path, "w", encoding="ascii") as file:
        file.write(SCENE.replace("dt: 0.0001", "dt: 10"))
    done = run([bench, path, "--threads", "1", "--kernel", "auto", *BRIEF, "--json"], 1)
    rows = json.loads(done.stdout)["benchmarks"]
    assert rows and all(row["error_occurred"] for row in rows), rows
    assert "diverged" in rows[0]["error_message"], rows[0]


def an_interruption_leaves_what_was_measured(bench, folder):
    """An interruption before the first repetition, within it, and after several."""
    out = os.path.join(folder, "out.json")
    for springs, seconds in ((100000, 0.3), (100000, 1), (1000, 1), (1000, 2)):
        with open(out, "wb") as file, subprocess.Popen(
                [bench, "rope", "ball", "--springs", str(springs), "--json",
                 "--benchmark_repetitions=4000", "--benchmark_min_time=0.001"],
                stdout=file, stderr=subprocess.PIPE, env={**os.environ, **MACHINE}) as process:
            time.sleep(seconds)
            process.send_signal(signal.SIGINT)
            printed = process.communicate(timeout=60)[1].decode()
        assert process.returncode == 1 and "interrupted by SIGINT" in printed, (
            springs, seconds, process.returncode, printed)
        with open(out, encoding="utf-8") as file:
            rows = json.load(file)["benchmarks"]
        assert any(row.get("error_message") == "interrupted" for row in rows), rows[:2]


def help_names_what_is_documented(bench):
    with open(os.path.join(ROOT, "docs/cli.md"), encoding="utf-8") as file:
        manual = file.read()
    printed = run([bench, "--help"]).stdout
    options = re.findall(r"^  (--(?!benchmark)[a-z-]+)", printed, re.MULTILINE)
    assert len(options) == 15, options
    for option in options:
        assert f"`{option}" in manual, option
    assert run([bench, "--version"]).stdout.startswith("taut-bench ")
    assert run([bench, "-h"]).stdout == printed


def taut_bench_starts_it(taut, bench, folder):
    assert run([taut, "bench", "--help"]).stdout == run([bench, "--help"]).stdout
    assert run([taut, "help", "bench"]).stdout == run([bench, "--help"]).stdout
    found = json.loads(run([taut, "bench", "rope", "--kernel", "reference", "--integrator",
                            "symplectic_euler", *SMALL, "--json"]).stdout)
    assert len(iterations(found)) == 2
    assert run([taut, "bench", "cloht"], 2).returncode == 2
    # Through a link, from another folder.
    link = os.path.join(folder, "link")
    os.symlink(taut, link)
    assert "taut-bench" in run([link, "bench", "--version"]).stdout


def its_absence_is_explained(taut, folder):
    alone = os.path.join(folder, "taut")
    shutil.copy(taut, alone)
    done = run([alone, "bench", "rope"], 1)
    assert done.stdout == "" and f"there is no {folder}/taut-bench" in done.stderr, done.stderr
    assert "libbenchmark-dev" in done.stderr and "-DTAUT_BENCH=ON" in done.stderr, done.stderr


def main(words):
    taut = os.path.abspath(words[0])
    with tempfile.TemporaryDirectory() as folder:
        its_absence_is_explained(taut, os.path.realpath(folder))
    if len(words) < 2:
        print("taut-bench was not built: no Google Benchmark")
        return 77
    bench = os.path.abspath(words[1])
    the_json_holds_every_variant_and_is_consistent(bench)
    the_context_describes_machine_and_build(taut, bench)
    integrators_and_precisions_are_compared(bench)
    scaling_has_efficiencies(bench)
    stages_and_limits_are_measured(bench)
    help_names_what_is_documented(bench)
    for test in (a_scene_file_is_measured, google_benchmarks_flags_work, wrong_usage_is_refused,
                 a_failing_benchmark_is_reported, an_interruption_leaves_what_was_measured):
        with tempfile.TemporaryDirectory() as folder:
            test(bench, folder)
    with tempfile.TemporaryDirectory() as folder:
        taut_bench_starts_it(taut, bench, folder)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
