#!/usr/bin/python3 -B
"""What a busy neighbour costs: all threads beside one, over one thread alone.

    neighbour.py TAUT [--threads N] [--rounds N] [--seconds S] [--json] [SCENE.yaml ...]
                 [-- OPTIONS OF taut run]

A neighbour is a process that does nothing but compute, held to one of the processors that this
process may use. Each round runs every scene three times, about S seconds each: one thread alone,
all threads alone, all threads with the neighbour on one of the processors, another one each round.
The ratios are taken within a round, so that the machine's weather touches both sides.

Without scenes: a cloth of 1.5 million springs, a jelly of 3.6 million, a rope of 40,000.

Exit status: 0; 2 for wrong usage or a program that gives no result.
"""
import argparse
import contextlib
import json
import os
import statistics
import subprocess
import sys
import tempfile

from result_files import BadInput, expecting, parse, script

SCENES = {
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
def neighbour(processor):
    process = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        os.sched_setaffinity(process.pid, {processor})
        yield
    finally:
        process.kill()
        process.wait()


def speed(taut, scene, threads, steps, options):
    """Spring updates a second of one run."""
    command = [taut, "run", scene, "--json", "--quiet", "--no-output", "--threads", str(threads),
               "--steps", str(steps), *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise BadInput(f"{' '.join(command)}: {done.stderr.strip()}")
    result = parse(done.stdout, taut)
    with expecting("taut run --json", taut):
        return 1.0 * result["spring_updates_per_second"], result["step_seconds"] / steps


def steps_for(taut, scene, seconds, options):
    """As many steps as one thread does in so many seconds."""
    steps = 20
    while True:
        _, each = speed(taut, scene, 1, steps, options)
        if each * steps > 0.1 * seconds:
            return max(1, round(seconds / each))
        steps *= 8


def measure(given, scene, name, processors):
    steps = steps_for(given.taut, scene, given.seconds, given.options)
    many = given.threads or len(processors)
    sides = {"one": [], "many": [], "beside": []}
    for round_number in range(given.rounds):
        def run(side, threads):
            sides[side].append(speed(given.taut, scene, threads, steps, given.options)[0])
        run("one", 1)
        run("many", many)
        with neighbour(processors[round_number % len(processors)]):
            run("beside", many)
    return {"scene": name, "steps": steps, "threads": many, **sides}


def ratio(result, above, below):
    """Of the best speeds, and the median of the ratios of each round."""
    rounds = [a / b for a, b in zip(result[above], result[below])]
    return max(result[above]) / max(result[below]), statistics.median(rounds)


def tell(result):
    print(f"{result['scene']}, {result['threads']} threads, {result['steps']} steps a run")
    for side, text in (("one", "one thread alone"), ("many", "all threads alone"),
                       ("beside", "all threads beside a neighbour")):
        speeds = result[side]
        line = (f"  {text:<32} best {max(speeds) / 1e6:6,.0f}   "
                f"median {statistics.median(speeds) / 1e6:6,.0f}  million springs/s")
        if side != "one":
            best, median = ratio(result, side, "one")
            line += f"   / one alone: {best:.2f} and {median:.2f}"
        print(line, flush=True)


def arguments(words):
    own, options = words, []
    if "--" in words:
        own, options = words[:words.index("--")], words[words.index("--") + 1:]
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("taut")
    parser.add_argument("scenes", nargs="*", help="scene files, or cloth, jelly, rope")
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=0.5)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args(own)
    if given.rounds < 1 or given.threads < 0 or not given.seconds > 0:
        parser.error("rounds, threads and seconds are positive")
    given.options = options
    return given


@script
def main(words):
    given = arguments(words)
    processors = sorted(os.sched_getaffinity(0))
    results = []
    with tempfile.TemporaryDirectory() as folder:
        for name in given.scenes or SCENES:
            scene = name
            if name in SCENES:
                scene = os.path.join(folder, f"{name}.yaml")
                with open(scene, "w", encoding="utf-8") as file:
                    file.write(SCENES[name])
            results.append(measure(given, scene, name, processors))
            if not given.json:
                tell(results[-1])
    if given.json:
        json.dump(results, sys.stdout, indent=1)
        print()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
