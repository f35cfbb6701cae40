#!/usr/bin/python3 -B
"""tools/performance.py and tools/benchmark_results.py on the committed results and on made-up ones:
the tables have a line for every result, goals are evaluated correctly, pictures are valid XML with
every scene in them and are recognised as stale when a number changes, and results of earlier
programs are converted."""
import contextlib
import copy
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
RESULTS = os.path.join(ROOT, "bench/results/oxide-virtual-turin-like-processor_v4")
SVG = "{http://www.w3.org/2000/svg}"

sys.path.insert(0, os.path.join(ROOT, "tools"))
import benchmark_results  # pylint: disable=wrong-import-position
import performance  # pylint: disable=wrong-import-position


def texts(path):
    root = xml.etree.ElementTree.parse(path).getroot()
    return [text.text for text in root.iter(SVG + "text")]


def load(name):
    with open(os.path.join(RESULTS, name + ".json"), encoding="utf-8") as file:
        return json.load(file)


def write(folder, name, result):
    with open(os.path.join(folder, name + ".json"), "w", encoding="utf-8") as file:
        json.dump(result, file)


def row(name, milliseconds, **counters):
    return {"run_name": name + "/manual_time", "run_type": "iteration", "time_unit": "ms",
            "real_time": milliseconds, **counters}


def sizes():
    rows = [row(f"step/{scene}/symplectic_euler/single/v4/threads:{threads}/springs:{springs}",
                1e-5 * springs / threads, springs=springs - 3,
                **{"spring_updates/s": threads * 1e8}) for scene in performance.SIZES
            for threads in (1, 2) for springs in (10000, 100000, 1000000)]
    rows += [row("volume/ball/symplectic_euler/single/v4/threads:1/springs:1000000", 1.0,
                 springs=1966080, **{"GB/s": 20.0}),
             row("bandwidth/read/threads:1", 1.0, **{"GB/s": 22.0})]
    return {"context": {}, "benchmarks": rows}


def document(folder):
    path = os.path.join(folder, "doc.md")
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"before\n{performance.BEGIN}\nold\n{performance.END}\nafter\n")
    return path


def quiet(*words):
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        return performance.main(list(words)), printed.getvalue()


def everything_is_shown(folder):
    """Every number is shown: if it changes, its table or picture is stale."""
    steps = load("steps")
    write(folder, "steps", steps)
    write(folder, "sizes", sizes())
    path = document(folder)
    assert quiet("--check", folder, path, folder)[0] == 1
    assert quiet(folder, path, folder)[0] == 0
    assert quiet("--check", folder, path, folder) == (0, "")
    drawn = texts(os.path.join(folder, "sizes.svg"))
    assert all(scene in drawn for scene in performance.SIZES), drawn
    threads, roofline = (texts(os.path.join(folder, name)) for name in
                         ("threads.svg", "roofline.svg"))
    names = {line["run_name"] for line in steps["benchmarks"]}
    for scene in {name.split("/")[1] for name in names if name.startswith("step/")}:
        assert scene in threads, (scene, threads)
        assert scene in roofline or scene in performance.UNCOUNTED, (scene, roofline)
    with open(path, encoding="utf-8") as file:
        text = file.read()
    assert text.startswith("before\n") and text.endswith("after\n") and "old" not in text
    table = text[text.index("### Speeds"):text.index("### ", text.index("### Speeds") + 1)]
    assert table.count(" | grid |") + table.count(" | packed |") + table.count(" | reference |") \
        == len([n for n in names if n.startswith("step/") and "energy_budget" not in n])
    # Drawing again gives the same bytes.
    with open(os.path.join(folder, "sizes.svg"), encoding="utf-8") as file:
        svg = file.read()
    assert quiet(folder, path, folder)[0] == 0
    with open(os.path.join(folder, "sizes.svg"), encoding="utf-8") as file:
        assert file.read() == svg

    changed = sizes()
    changed["benchmarks"][0]["spring_updates/s"] *= 1.5
    write(folder, "sizes", changed)
    code, printed = quiet("--check", folder, path, folder)
    assert code == 1 and "sizes.svg" in printed and "threads.svg" not in printed, printed
    for line in steps["benchmarks"]:
        if line["run_name"].startswith("step/cloth/symplectic_euler/single/v4/threads:2"):
            line["spring_updates/s"] *= 1.5
    write(folder, "steps", steps)
    code, printed = quiet("--check", folder, path, folder)
    assert code == 1 and all(name in printed for name in ("doc.md", "threads.svg", "roofline.svg"))


def velocity_verlet_budget_and_scaling_have_their_tables(folder):
    """Other integrators and steps with the energy budget are rated against plain steps."""
    steps = load("steps")
    for line in steps["benchmarks"]:
        line["run_name"] = line["run_name"].removesuffix("/manual_time")
    plain = [line for line in steps["benchmarks"] if line["run_name"].split("/")[0] != "step" or
             "/symplectic_euler/" in line["run_name"] and "/energy_budget" not in line["run_name"]]
    steps["benchmarks"] = list(plain)
    for line in plain:
        if not re.fullmatch("step/(cloth/symplectic_euler/single/v4/threads:1|"
                            "ball/symplectic_euler/single/v4/threads:[12])", line["run_name"]):
            continue
        verlet, budget = copy.deepcopy(line), copy.deepcopy(line)
        verlet["run_name"] = line["run_name"].replace("symplectic_euler", "velocity_verlet")
        verlet["spring_updates/s"] *= 0.5
        budget["run_name"] += "/energy_budget"
        budget["spring_updates/s"] *= 0.75
        steps["benchmarks"] += [verlet, budget]
    write(folder, "steps", steps)
    found = {goal.what: goal for goal in performance.goals(folder)}
    goal = found["cloth, velocity_verlet ÷ symplectic_euler, per force evaluation"]
    assert goal.measured() == "0.50 and 0.50" and not goal.reached(), goal.measured()
    assert "jelly26, velocity_verlet ÷ symplectic_euler, per force evaluation" not in found
    goal = found["ball, symplectic_euler with the energy budget ÷ without"]
    assert goal.measured() == "0.75 and 0.75" and not goal.reached(), goal.measured()
    write(folder, "scaling", {"context": {}, "benchmarks": [
        row(f"{kind}/cloth/symplectic_euler/single/v4/threads:4", 1.0, springs=1000,
            speedup=speedup, efficiency=speedup / 4)
        for kind, speedups in (("strong", (3.0, 3.2, 3.1)), ("weak", (3.8, 3.6, 3.7)))
        for speedup in speedups]})
    text = performance.tables(folder)
    assert "| cloth | strong | symplectic_euler | 4 | 1,000 | 3.10 | 0.78 |" in text, text
    assert "| cloth | weak | symplectic_euler | 4 | 1,000 | 3.70 | 0.93 |" in text, text
    assert text.count("velocity_verlet |") == 3, text
    assert text.count("0.75 and 0.75 |") == 3 + 2, text # a table, and the goals on one thread


def goals_know_which_are_reached(folder):
    steps = load("steps")
    fast = copy.deepcopy(steps)
    for line in fast["benchmarks"]:
        if line["run_name"].startswith("step/cloth/symplectic_euler/single/v4/threads:1"):
            line["spring_updates/s"] *= 1000
    write(folder, "sizes", sizes())
    reached = []
    for result in (steps, fast):
        write(folder, "steps", result)
        found = {goal.what: goal for goal in performance.goals(folder)}
        reached.append(found["cloth, 1 thread ÷ reference"].reached())
        share = next(goal for what, goal in found.items() if what.startswith("volume of a ball"))
        assert share.reached() and share.measured() == "0.91", share.measured()
    best = {kernel: max(line["spring_updates/s"] for line in steps["benchmarks"]
                        if re.fullmatch(f"step/cloth/symplectic_euler/single/{kernel}/threads:1(/manual_time)?",
                                        line["run_name"]))
            for kernel in ("v4", "reference")}
    assert reached == [best["v4"] / best["reference"] >= 13, True]
    code, printed = quiet("--goals", folder)
    assert code == 0 and "cloth, 1 thread ÷ reference" in printed


def old_results_are_converted(folder):
    """Every turn becomes a repetition with the same speed."""
    rates = {"best": 3e8, "median": 2e8, "repetitions": [2e8, 3e8, 1e8]}
    old = {"benchmark": "taut bench", "version": "0.1.0", "commit": "abc", "compiler": "GNU",
           "build": "Release", "flags": "-O3", "precision": "single",
           "machine": {"name": "M", "cores": 2, "logical": 4, "packages": 1, "memory_nodes": 1,
                       "l1": 1, "l2": 2, "l3": 3},
           "limits": [{"threads": 1, "single_multiply_add_operations_per_second": {
               "base": {"repetitions": [5e10]}}, **{
                   f"{kind}_bytes_per_second": {"best": 3e10, "repetitions": [2e10, 3e10]}
                   for kind in ("triad", "update", "read")}}],
           "results": [{"scene": "cloth", "kernel": kernel, "isa": isa, "precision": precision,
                        "threads": 1, "nodes": 100, "springs": 600, "bytes_per_spring": 7.5,
                        "setup_seconds": 0.5, "spring_updates_per_second": rates,
                        "model_bytes_per_second": {"best": 2.4e9}}
                       for kernel, isa, precision in (("reference", None, "single"),
                                                      ("grid", "base", "single"),
                                                      ("grid", "base", "double"))]}
    write(folder, "old", old)
    paths = [os.path.join(folder, name) for name in ("old.json", "new.json")]
    assert benchmark_results.main(["convert", *paths]) == 0
    found = benchmark_results.read_benchmarks(folder, "new")
    assert found.context["machine_logical_processors"] == "4" and found.isa == "base"
    assert found.context["taut_commit"] == "abc" and found.threads == [1]
    assert list(found.rows)[:3] == [f"step/cloth/symplectic_euler/{kind}/threads:1" for kind in
                                    ("single/reference", "single/base", "double/base")]
    step = found.step("cloth", "base", 1, "double")
    assert step.all("spring_updates/s") == [2e8, 3e8, 1e8] and step.label == "grid"
    assert step.milliseconds == [0.003, 0.002, 0.006] and step.best("GB/s") == 2.4
    assert found.bandwidth("update", 1).all("GB/s") == [20, 30]
    assert found.peak("base", 1).best("Gflop/s") == 50
    write(folder, "old", {"context": {"date": "then"}, "benchmarks": [
        {"run_name": "step/rope/v4/threads:2/10000/manual_time", "run_type": "iteration",
         "real_time": 1e6, "time_unit": "ns", "springs": 9997, "springs/s": 8e8,
         "model_bytes/s": 2e10},
        {"run_name": "bandwidth/triad/base/threads:2/0/manual_time", "run_type": "iteration",
         "real_time": 1.0, "time_unit": "ms", "bytes/s": 6e10}]})
    assert benchmark_results.main(["convert", *paths]) == 0
    found = benchmark_results.read_benchmarks(folder, "new")
    (scene, *_, threads, springs, line), = found.kinds("step")
    assert (scene, threads, springs) == ("rope", 2, 10000) and line.best("GB/s") == 20
    assert line.milliseconds == [1] and found.bandwidth("triad", 2).best("GB/s") == 60


def without_matplotlib_it_names_what_to_install(folder):
    path = document(folder)
    program = ("import sys; sys.modules['matplotlib'] = None; "
               f"sys.path.insert(0, {os.path.join(ROOT, 'tools')!r}); import performance; "
               f"sys.exit(performance.main([{RESULTS!r}, {path!r}, {folder!r}]))")
    done = subprocess.run([sys.executable, "-B", "-c", program], capture_output=True, text=True,
                          check=False)
    assert done.returncode == 2 and "python3-matplotlib" in done.stderr, done
    with open(path, encoding="utf-8") as file:
        assert "old" in file.read()
    assert os.listdir(folder) == ["doc.md"]


def main():
    tests = [velocity_verlet_budget_and_scaling_have_their_tables, goals_know_which_are_reached,
             old_results_are_converted, without_matplotlib_it_names_what_to_install]
    try:
        import matplotlib  # pylint: disable=import-outside-toplevel,unused-import
        tests.append(everything_is_shown)
    except ImportError:
        print("no matplotlib: pictures are not tested")
    for test in tests:
        with tempfile.TemporaryDirectory() as folder:
            test(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
