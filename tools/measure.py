#!/usr/bin/python3 -B
"""Measures the figures of docs/performance.md.

    measure.py all BUILD [--only LIST] [--list]     everything, in about a quarter of an hour
    measure.py steps|scaling TAUT_BENCH FILE
    measure.py sizes TAUT_BENCH FILE [--isa NAME] [--most SPRINGS]
    measure.py neighbour TAUT [OPTIONS] [SCENE.yaml ...]
    measure.py billion TAUT [--side N] [--steps N] [--json FILE]
    measure.py sheets TAUT [--turn DEGREES] [--friction MU] [--threads N] [--isa NAME] [--repeat N]
                           [--json FILE]
    measure.py hashes TAUT SCENE.yaml ... [--steps N] [--threads N] [--isas LIST] [--json FILE]

`all` is called by ./dev bench --renew: BUILD is a build folder with taut, taut-bench and
bench/taut_peer. The machine should be idle otherwise. Results are written to
bench/results/MACHINE_ISA/, each as soon as it is complete; then the tables and pictures are made
from all results there, and the goals are printed. --only repeats some measurements.

`steps` and `sizes` are results of taut-bench: whole steps of all scenes, and over sizes, with the
volume and the bandwidth.

`neighbour` measures the cost of a busy process on one of the cores: one thread alone, all threads
alone, and all threads beside a process that computes all the time, bound to one of the processors,
another one each round. Ratios are taken within a round. Default scenes: a cloth of 1.5 million
springs, a jelly of 3.6 million, a rope of 40,000.

`billion` runs a lattice of 342 x 342 x 342 nodes with 52 neighbours, a billion springs, for a few
steps and reports their speed and the peak memory of the process. It needs 6 GiB of free memory.

`sheets` lets 50 sheets of 70 x 70 nodes, each turned by 9 degrees against the one below, fall on a
cylinder for 0.15 s (some minutes), and measures the next 1/60 s of them, draped, a few times.

`hashes` runs each scene with every number of threads from 1 to N (8) on every instruction set of
this machine, and prints the hash of its state, or the runs with a different hash.

Exit status: 0; 1 if a hash differs or something could not be measured; 2 for wrong usage or a
program without a usable result.
"""
import argparse
import contextlib
import glob
import json
import math
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

from benchmark_results import (BadInput, Benchmarks, compact, expecting, parse, script, write,
                               write_json)

TOOLS = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(TOOLS)


def note(text):
    print(f"measure: {text}", file=sys.stderr, flush=True)


def run_taut(command):
    """The output of a run of taut; BadInput if it fails."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        raise BadInput(f"{command[0]}: {error}") from error
    if done.returncode != 0:
        raise BadInput(f"{' '.join(command)}: {done.stderr.strip() or done.returncode}")
    return done.stdout


def run_taut_json(command):
    result = parse(run_taut(command), command[0])
    with expecting("taut run --json", command[0]):
        result["spring_updates_per_second"], result["step_seconds"]  # pylint: disable=pointless-statement
    return result


# ---- Results of taut-bench


def benchmark(program, *words):
    """The result of taut-bench; prints a message for each benchmark that failed."""
    try:
        done = subprocess.run([program, "--json", *words], stdout=subprocess.PIPE, check=False)
    except OSError as error:
        raise BadInput(f"{program}: {error}") from error
    if done.returncode not in (0, 1):
        raise BadInput(f"{program}: exit status {done.returncode}")
    result = parse(done.stdout, program)
    with expecting("taut-bench --json", program):
        failed = {f"{row['run_name']}: {row['error_message']}" for row in result["benchmarks"]
                  if row.get("error_occurred")}
        compact(result)
    for text in sorted(failed):
        note(text)
    return result, failed


def write_benchmarks(path, result, failed):
    write(path, compact(result))
    return int(bool(failed))


def measure_steps(words):
    """All scenes on every instruction set; the scenes for comparison, other integrators and steps
    with the energy budget on the widest only."""
    program, path = words
    isas = isas_of(os.path.join(os.path.dirname(program), "taut"))
    widest, compared = isas[-1], "(cloth|jelly26|jelly52|ball)"
    several = "(rope|cloth|jelly26|jelly52|ball|network|shuffled)(-undamped)?"
    wanted = "|".join((
        rf"[^/]+/symplectic_euler/single/(reference|{widest})/threads:[0-9]+/manual_time$",
        rf"[^/]+/velocity_verlet/single/{widest}/threads:[0-9]+/manual_time$",
        rf"{several}/symplectic_euler/single/[^/]+/threads:[0-9]+/manual_time$",
        rf"(rope|cloth|jelly..)(-undamped)?/symplectic_euler/double/{widest}/threads:1/manual_time$",
        rf"{compared}/(verlet|explicit_euler|midpoint|rk4)/single/{widest}/threads:1/manual_time$",
        rf"{compared}/(symplectic_euler|velocity_verlet)/single/{widest}/threads:[0-9]+/"
        "energy_budget"))
    return write_benchmarks(path, *benchmark(
        program, "--full", "--isa", "all", "--suite", "steps,limits", "--precision",
        "single,double", "--energy-budget", "off,on", "--integrator",
        "symplectic_euler,velocity_verlet,verlet,explicit_euler,midpoint,rk4",
        f"--benchmark_filter=^step/({wanted})|^(bandwidth|peak)/"))


def measure_scaling(words):
    program, path = words
    return write_benchmarks(path, *benchmark(
        program, "cloth", "jelly26", "ball", "shuffled", "--suite", "scaling", "--integrator",
        "symplectic_euler"))


def measure_sizes(words):
    parser = argparse.ArgumentParser(prog="measure.py sizes")
    parser.add_argument("program")
    parser.add_argument("file")
    parser.add_argument("--isa")
    parser.add_argument("--most", type=float, default=1e7)
    given = parser.parse_args(words)
    # 8 subdivisions of a ball, the maximum, have 2 million springs.
    springs = ",".join(str(10 ** n) for n in range(4, 9) if 10 ** n <= given.most)
    largest_ball = "1000000"
    wanted = f"^step/[^b]|^(step|volume)/ball/.*springs:(10000|100000|{largest_ball})/|^bandwidth/"
    return write_benchmarks(given.file, *benchmark(
        given.program, "rope", "cloth", "jelly26", "jelly52", "ball", "shuffled", "--springs",
        springs, "--suite", "steps,stages,limits", "--kernel", "auto", "--integrator",
        "symplectic_euler", *(["--isa", given.isa] if given.isa else []),
        f"--benchmark_filter={wanted}"))


# ---- A busy process beside it

NEIGHBOUR_SCENES = {
    "cloth": """
simulation: {integrator: symplectic_euler, dt: 0.0001, steps: 100}
environment: {gravity: [0, -9.81, 0]}
bodies:
  - {name: cloth, type: cloth, u: [10, 0, 0], v: [0, 0, 10], nodes: [500, 520], mass: 20,
     springs: {structural: {stiffness: 400, damping: 0.001}, shear: {stiffness: 400, damping: 0.001},
               bend: {stiffness: 40, damping: 0.001}}, pins: [left]}
output: {every_steps: 1000000, work: false}
""",
    "jelly": """
simulation: {integrator: symplectic_euler, dt: 0.0005, steps: 100}
environment: {gravity: [0, -9.81, 0]}
bodies:
  - {name: jelly, type: lattice, nodes: [66, 66, 66], spacing: 0.05, mass: 500, shells: 1,
     damping: 0.05, springs: {k1: {stiffness: 300}, k2: {stiffness: 240}, k3: {stiffness: 180}}}
output: {every_steps: 1000000, work: false}
""",
    "rope": """
simulation: {integrator: symplectic_euler, dt: 0.00001, steps: 100}
environment: {gravity: [0, -9.81, 0]}
bodies:
  - {name: rope, type: rope, links: skip, from: [0, 0, 0], to: [100, 0, 0], nodes: 20000, mass: 10,
     spring: {stiffness: 1000, damping: 0.01}, pins: [first]}
output: {every_steps: 1000000, work: false}
""",
}


@contextlib.contextmanager
def busy_process(processor):
    process = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        os.sched_setaffinity(process.pid, {processor})
        yield
    finally:
        process.kill()
        process.wait()


def speed(taut, scene, threads, steps, options):
    """Spring updates per second of one run, and the seconds per step."""
    result = run_taut_json([taut, "run", scene, "--json", "--quiet", "--no-output", "--threads",
                            str(threads), "--steps", str(steps), *options])
    with expecting("taut run --json", taut):
        return 1.0 * result["spring_updates_per_second"], result["step_seconds"] / steps


def steps_for(taut, scene, seconds, options):
    """The number of steps that one thread makes in that many seconds."""
    steps = 20
    while True:
        _, each = speed(taut, scene, 1, steps, options)
        if each * steps > 0.1 * seconds:
            return max(1, round(seconds / each))
        steps *= 8


def measure_neighbour_scene(given, scene, name, processors):
    steps = steps_for(given.taut, scene, given.seconds, given.options)
    many = given.threads or len(processors)
    sides = {"one": [], "many": [], "beside": []}
    for round_number in range(given.rounds):
        def run(side, threads):
            sides[side].append(speed(given.taut, scene, threads, steps, given.options)[0])
        run("one", 1)
        run("many", many)
        with busy_process(processors[round_number % len(processors)]):
            run("beside", many)
    return {"scene": name, "steps": steps, "threads": many, **sides}


def print_neighbour(result):
    print(f"{result['scene']}, {result['threads']} threads, {result['steps']} steps a run")
    for side, text in (("one", "one thread alone"), ("many", "all threads alone"),
                       ("beside", "all threads beside a busy process")):
        speeds = result[side]
        line = (f"  {text:<34} best {max(speeds) / 1e6:6,.0f}   "
                f"median {statistics.median(speeds) / 1e6:6,.0f}  million springs/s")
        if side != "one":
            pairs = [a / b for a, b in zip(speeds, result["one"])]
            line += (f"   / one alone: {max(speeds) / max(result['one']):.2f} and "
                     f"{statistics.median(pairs):.2f}")
        print(line, flush=True)


def measure_neighbour(words):
    own, options = words, []
    if "--" in words:
        own, options = words[:words.index("--")], words[words.index("--") + 1:]
    parser = argparse.ArgumentParser(prog="measure.py neighbour",
                                     epilog="Options of taut run follow after --.")
    parser.add_argument("taut")
    parser.add_argument("scenes", nargs="*", help="scene files, or cloth, jelly, rope")
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=0.5, help="of each run")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args(own)
    if given.rounds < 1 or given.threads < 0 or not given.seconds > 0:
        parser.error("rounds, threads and seconds are positive")
    given.options = options
    processors, results = sorted(os.sched_getaffinity(0)), []
    with tempfile.TemporaryDirectory() as folder:
        for name in given.scenes or NEIGHBOUR_SCENES:
            scene = name
            if name in NEIGHBOUR_SCENES:
                scene = os.path.join(folder, f"{name}.yaml")
                with open(scene, "w", encoding="utf-8") as file:
                    file.write(NEIGHBOUR_SCENES[name])
            results.append(measure_neighbour_scene(given, scene, name, processors))
            if not given.json:
                print_neighbour(results[-1])
    if given.json:
        json.dump(results, sys.stdout, indent=1)
        print()
    return 0


# ---- A billion springs

BILLION_SCENE = """\
simulation: {{integrator: symplectic_euler, dt: 0.0002, steps: {steps}}}
environment: {{gravity: [0, -9.81, 0]}}
output: {{every_steps: 1000000, work: false}}
bodies:
  - {{name: jelly, type: lattice, nodes: [{side}, {side}, {side}], spacing: 0.05, node_mass: 0.002,
     shells: 2, pins: [bottom], damping: 0.05,
     springs: {{k1: {{stiffness: 300}}, k2: {{stiffness: 240}}, k3: {{stiffness: 180}},
               kb1: {{stiffness: 60}}, kb2: {{stiffness: 48}}, kb3: {{stiffness: 36}}}}}}
"""
BILLION_KEPT = ("nodes", "springs", "steps", "threads", "isa", "precision", "setup_seconds",
                "step_seconds", "spring_updates_per_second", "bytes", "peak_rss_bytes", "hash")


def measure_billion(words):
    parser = argparse.ArgumentParser(prog="measure.py billion")
    parser.add_argument("taut")
    parser.add_argument("--side", type=int, default=342)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--json", metavar="FILE")
    given = parser.parse_args(words)
    with tempfile.TemporaryDirectory() as folder:
        scene = os.path.join(folder, "billion.yaml")
        with open(scene, "w", encoding="ascii") as file:
            file.write(BILLION_SCENE.format(side=given.side, steps=given.steps))
        result = run_taut_json([given.taut, "run", scene, "--no-output", "--json", "--quiet"])
    with expecting("taut run --json", given.taut):
        text = (f"{result['springs']:,} springs, {result['nodes']:,} nodes, {result['threads']} "
                f"threads, {result['isa']}: set-up {result['setup_seconds']:.1f} s, "
                f"{result['steps']} steps {result['step_seconds']:.1f} s, "
                f"{result['spring_updates_per_second'] / 1e6:,.0f} million springs/s,\n"
                f"peak memory {result['peak_rss_bytes'] / 2 ** 30:.2f} GiB")
        kept = {key: result[key] for key in BILLION_KEPT}
    print(text)
    if given.json:
        write_json(given.json, kept)
    return 0


# ---- Contact of draped sheets

SHEETS = {"sheets": 50, "nodes": 70, "side": 0.483, "apart": 0.0031, "radius": 0.1, "length": 0.7}
SHEETS_SCENE = """\
simulation: {{integrator: symplectic_euler, dt: auto, duration: {duration}}}
environment: {{gravity: [0, 0, -9.81]}}
output: {{every_steps: 1000000}}
{contact}"""
SHEET = """\
  - {{name: sheet{number}, type: cloth, nodes: [{nodes}, {nodes}], origin: [{low}, {low}, 0],
     u: [{side}, 0, 0], v: [0, {side}, 0], rotate: [0, 0, {turn}], translate: [0, 0, {height}],
     mass: 0.0467,
     springs: {{structural: {{stiffness: 200, damping: 1.0e-4}}, shear: {{stiffness: 100}},
               bend: {{stiffness: 5}}}}}}
"""
SHEETS_KEPT = ("nodes", "springs", "faces", "steps", "dt", "threads", "isa", "precision", "bytes",
               "hash")


def write_cylinder(path, radius, length, around=80, along=20):
    """An open tube about the y axis, of 2 * around * along triangles."""
    with open(path, "w", encoding="ascii") as file:
        for ring in range(along + 1):
            for point in range(around):
                angle = 2 * math.pi * point / around
                file.write(f"v {radius * math.cos(angle):.9g} {length * (ring / along - 0.5):.9g} "
                           f"{radius * math.sin(angle):.9g}\n")
        for ring in range(along):
            for point in range(around):
                a, b = ring * around + point + 1, ring * around + (point + 1) % around + 1
                file.write(f"f {a} {a + around} {b}\nf {b} {a + around} {b + around}\n")


def sheets_scene(turn, duration, contact, initial=None):
    side = SHEETS["side"]
    text = SHEETS_SCENE.format(duration=duration, contact=contact)
    if initial:
        text += f"initial: {initial}\n"
    return text + "bodies:\n" + "".join(
        SHEET.format(number=number, nodes=SHEETS["nodes"], low=-side / 2, side=side,
                     turn=turn * number, height=SHEETS["radius"] + SHEETS["apart"] * (number + 1))
        for number in range(SHEETS["sheets"]))


def measure_sheets(words):
    parser = argparse.ArgumentParser(prog="measure.py sheets")
    parser.add_argument("taut")
    parser.add_argument("--turn", type=float, default=9)
    parser.add_argument("--friction", type=float)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--isa", default="auto")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--json", metavar="FILE")
    given = parser.parse_args(words)
    if given.threads < 1 or given.repeat < 1:
        parser.error("--threads and --repeat take a number above 0")
    friction = "" if given.friction is None else f", friction_coefficient: {given.friction}"
    contact = (f"contact: {{thickness: 0.002{friction}}}\n"
               "colliders: [{type: mesh, file: cylinder.obj}]\n")
    run = ["--no-output", "--threads", str(given.threads), "--isa", given.isa]
    with tempfile.TemporaryDirectory() as folder:
        def taut(name, *scene, options=()):
            path = os.path.join(folder, name)
            with open(path, "w", encoding="ascii") as file:
                file.write(sheets_scene(*scene))
            return run_taut_json([given.taut, "run", path, *run, *options, "--json", "--quiet"])

        write_cylinder(os.path.join(folder, "cylinder.obj"), SHEETS["radius"], SHEETS["length"])
        taut("fall.yaml", given.turn, 0.15, contact,
             options=("--state", os.path.join(folder, "draped.csv")))
        draped = (given.turn, 1 / 60, contact, "draped.csv")
        results = [taut("draped.yaml", *draped) for _ in range(given.repeat)]
        without = taut("without.yaml", given.turn, 0.001, "", "draped.csv")
    with expecting("taut run --json", given.taut):
        result = results[0]
        seconds = [one["step_seconds"] for one in results]
        kept = {key: result[key] for key in SHEETS_KEPT}
        kept.update(setup_seconds=min(one["setup_seconds"] for one in results),
                    step_seconds=seconds,
                    contact_bytes_per_face=(result["bytes"] - without["bytes"]) / result["faces"])
        print(f"{result['faces']:,} triangles, {result['steps']} steps of {result['dt'] * 1e6:.1f} "
              f"us, {result['threads']} threads, {result['isa']}: set-up {kept['setup_seconds']:.1f}"
              f" s, steps {min(seconds):.1f} s (median {statistics.median(seconds):.1f}),\n"
              f"contact {kept['contact_bytes_per_face']:.0f} bytes a triangle, {result['hash']}")
    if given.json:
        write_json(given.json, kept)
    return 0


# ---- Reproducibility


def isas_of(taut):
    """The values that --isa accepts here, from the narrowest to the widest."""
    found = list(dict.fromkeys(re.findall(r"\b(base|neon|v3|v4)\b", run_taut([taut, "--version"]))))
    if not found:
        raise BadInput(f"{taut} --version names no instruction set")
    return found


def differing_runs(given, scene):
    """The runs of a scene whose hash differs from that of the first."""
    first, different = None, []
    for isa in given.isas:
        for threads in range(1, given.threads + 1):
            found = run_taut([given.taut, "run", scene, "--no-output", "--quiet", "--hash",
                              "--steps", str(given.steps), "--threads", str(threads), "--isa",
                              isa]).strip()
            first = first or found
            if found != first:
                different.append(f"{scene}, {isa}, {threads} threads: {found}, not {first}")
    print(f"{os.path.basename(scene):<28} {'differs' if different else first}", flush=True)
    return different


def measure_hashes(words):
    parser = argparse.ArgumentParser(prog="measure.py hashes")
    parser.add_argument("taut")
    parser.add_argument("scenes", nargs="+")
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--threads", type=int, default=8)
    parser.add_argument("--isas", type=lambda text: text.split(","))
    parser.add_argument("--json", metavar="FILE")
    given = parser.parse_args(words)
    if given.threads < 1 or given.steps < 1:
        parser.error("--threads and --steps take a number above 0")
    given.isas = given.isas or isas_of(given.taut)
    different = [text for scene in given.scenes for text in differing_runs(given, scene)]
    for text in different:
        print(text)
    if given.json:
        write_json(given.json, {"scenes": len(given.scenes), "steps": given.steps,
                                "threads": given.threads, "isas": given.isas,
                                "different": different})
    return int(bool(different))


# ---- Everything


def commands(build):
    """(name, description, command, whether it prints its result instead of writing {file})"""
    taut, bench = os.path.join(build, "taut"), os.path.join(build, "taut-bench")
    scenes = sorted(glob.glob(os.path.join(ROOT, "scenes/*.yaml")))

    def script_command(path, *words):
        return [sys.executable, "-B", os.path.join(ROOT, path), *words]

    def own(*words):
        return script_command("tools/measure.py", *words)
    return [
        ("steps", "every scene: speeds, limits, bytes, set-up (6 minutes)",
         own("steps", bench, "{file}"), False),
        ("sizes", "speed over sizes, the volume beside the triad (2 minutes)",
         own("sizes", bench, "{file}"), False),
        ("scaling", "strong and weak scaling (1 minute)", own("scaling", bench, "{file}"), False),
        ("peers", "LAMMPS and Bullet on the same springs (3 minutes)",
         script_command("bench/peers/run.py", build, "--json", "{file}"), False),
        ("neighbour", "a busy process on one of the cores (1 minute)",
         own("neighbour", taut, "--json"), True),
        ("billion", "a billion springs (1 minute)", own("billion", taut, "--json", "{file}"),
         False),
        ("hashes", "the same bits for every thread count and instruction set (1 minute)",
         own("hashes", taut, *scenes, "--json", "{file}"), False),
    ]


def folder_of(bench):
    """bench/results/MACHINE_ISA of this machine, from a very short measurement."""
    result, _ = benchmark(bench, "--suite", "limits", "--threads", "1", "--isa", "all",
                          "--benchmark_filter=^peak/", "--benchmark_repetitions=1",
                          "--benchmark_min_time=0.01", "--benchmark_min_warmup_time=0")
    with expecting("taut-bench --json", bench):
        found = Benchmarks(result)
        machine = re.sub(r"[^a-z0-9]+", "-", found.context["machine"].lower()).strip("-")
        return os.path.join(ROOT, "bench/results", f"{machine}_{found.isa}")


def measure(folder, name, command, prints):
    """Whether the result exists and is complete; otherwise an old one is kept."""
    # Programs write to a name in a folder that nobody else can write to.
    with tempfile.TemporaryDirectory(dir=folder, prefix=".taut-") as private:
        return measure_to(os.path.join(private, name + ".json"), folder, name, command, prints)


def measure_to(part, folder, name, command, prints):
    path = os.path.join(folder, name + ".json")
    begin = time.monotonic()
    command = [part if word == "{file}" else word for word in command]
    with open(part if prints else os.devnull, "w", encoding="utf-8") as file:
        try:
            code = subprocess.run(command, stdout=file if prints else None, check=False).returncode
        except OSError as error:
            note(f"{name}: {error}")
            code = 2
    try:
        with open(part, encoding="utf-8") as file:
            json.load(file)
    except (OSError, ValueError):
        code = code or 2
    if code == 1 and not prints:
        note(f"{name} has reported something: see above")
        code = 0
    seconds = time.monotonic() - begin
    if code == 0:
        os.replace(part, path)
        note(f"{os.path.relpath(path, ROOT)} is renewed, after {seconds:.0f} s")
    else:
        note(f"{name} failed ({code}) after {seconds:.0f} s; what was there stays")
    return code == 0


def measure_all(words):
    parser = argparse.ArgumentParser(prog="measure.py all")
    parser.add_argument("build")
    parser.add_argument("--only", type=lambda text: text.split(","), metavar="LIST")
    parser.add_argument("--list", action="store_true", help="print what there is to measure, only")
    given = parser.parse_args(words)
    wanted = commands(given.build)
    names = [name for name, *_ in wanted]
    if given.only and set(given.only) - set(names):
        parser.error("--only takes some of " + ", ".join(names))
    wanted = [one for one in wanted if not given.only or one[0] in given.only]
    if given.list:
        for name, what, command, _ in wanted:
            print(f"{name:12}{what}\n            {' '.join(command)}")
        return 0
    folder = folder_of(os.path.join(given.build, "taut-bench"))
    os.makedirs(folder, exist_ok=True)
    failed = []
    for number, (name, what, command, prints) in enumerate(wanted):
        note(f"{number + 1} of {len(wanted)}, {name}: {what}")
        if not measure(folder, name, command, prints):
            failed.append(name)
    performance = [sys.executable, "-B", os.path.join(TOOLS, "performance.py")]
    subprocess.run([*performance, folder, os.path.join(ROOT, "docs/performance.md"),
                    os.path.join(ROOT, "docs/figures")], check=True)
    subprocess.run([*performance, "--goals", folder], check=True)
    if failed:
        note("not renewed: " + ", ".join(failed))
    return int(bool(failed))


MEASUREMENTS = {"all": measure_all, "steps": measure_steps, "sizes": measure_sizes,
                "scaling": measure_scaling, "neighbour": measure_neighbour,
                "billion": measure_billion, "sheets": measure_sheets, "hashes": measure_hashes}


@script
def main(words):
    if words[:1] and words[0] in MEASUREMENTS:
        if words[0] in ("steps", "scaling") and len(words) != 3:
            print(f"measure.py {words[0]}: give TAUT_BENCH and FILE", file=sys.stderr)
            return 2
        return MEASUREMENTS[words[0]](words[1:])
    print(__doc__, file=sys.stderr)
    return 0 if words[:1] in (["--help"], ["-h"]) else 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
