#!/usr/bin/python3
"""Runs `taut` on several ranks by mpirun, and compares it with one process.

usage: test_mpi.py TAUT FOLDER [CASE...]

Prints in cmocka's format, so that run_tests counts the cases. Every mpirun has a time limit; ranks
share this machine's cores (--oversubscribe). Cases are functions case_NAME, run in their order here.
"""
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time

import merge_vtp

TAUT = os.path.abspath(sys.argv[1])
FOLDER = os.path.abspath(sys.argv[2])
SOURCE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
os.environ.pop("TAUT_MEMORY_LIMIT", None)  # cases set their own
QUICK = bool(os.environ.get("TAUT_TEST_QUICK"))  # under sanitizers: fewer ranks and threads
LIMIT = 1200 if QUICK else 120  # s, of one command


def launcher(ranks, *options):
    """The words before a program that start it on so many ranks."""
    return ["mpirun", *options, "--oversubscribe", "--allow-run-as-root", "-n", str(ranks)]


def start(ranks, *arguments, limit=LIMIT, environment=None):
    """The finished process of `taut ARGUMENTS` on so many ranks; 0: without mpirun."""
    command = [TAUT, *arguments]
    if ranks:
        command = launcher(ranks) + command
    return subprocess.run(command, cwd=FOLDER, timeout=limit, text=True, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          env={**os.environ, **(environment or {})}, check=False)


def complaints(text):
    """The lines of `taut`, without those of mpirun about an exit code."""
    return [line for line in text.splitlines() if line.startswith("taut: ")]


class Skipped(Exception):
    """Not possible on this machine; the message says why."""


def expect(condition, what):
    if not condition:
        raise AssertionError(what)


def write(name, text):
    with open(os.path.join(FOLDER, name), "w", encoding="utf-8") as file:
        file.write(text)
    return name


def case_version_names_mpi():
    text = start(0, "--version").stdout
    expect(re.search(r"^ranks: \S+.* \d+\.\d+", text, re.MULTILINE), text)


def case_rank_0_alone_prints():
    one = start(0, "check", os.path.join(SOURCE, "scenes", "flag.yaml"))
    three = start(3, "check", os.path.join(SOURCE, "scenes", "flag.yaml"))
    expect(three.returncode == 0, three.stderr)
    expect(three.stdout == one.stdout and one.stdout, three.stdout)
    expect(complaints(three.stderr) == complaints(one.stderr), three.stderr)


def case_wrong_option_is_one_message():
    found = start(3, "run", "--thread", "1", "x.yaml")
    expect(found.returncode == 2, str(found.returncode))
    expect(len(complaints(found.stderr)) == 1, found.stderr)


def case_failure_of_one_rank_is_one_message():
    """An instruction set that only rank 2 has not."""
    script = write("lame.sh", '#!/bin/sh\n[ "$OMPI_COMM_WORLD_RANK" = 2 ] && export TAUT_ISA=none\n'
                              f'exec "{TAUT}" "$@"\n')
    os.chmod(os.path.join(FOLDER, script), 0o755)
    found = subprocess.run([*launcher(3),
                            os.path.join(FOLDER, script), "info", "x.yaml"], cwd=FOLDER, text=True,
                           timeout=LIMIT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, check=False)
    expect(found.returncode == 2, str(found.returncode))
    lines = complaints(found.stderr)
    expect(len(lines) == 1 and lines[0].startswith("taut: rank 2 of 3: ") and "none" in lines[0],
           found.stderr)


def case_different_commands_are_one_message():
    found = subprocess.run([*launcher(1), TAUT, "run",
                            "x.yaml", ":", "-n", "1", TAUT, "check", "x.yaml"], cwd=FOLDER, text=True,
                           timeout=LIMIT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, check=False)
    expect(found.returncode == 2, str(found.returncode))
    expect(complaints(found.stderr) == ["taut: run: rank 1 of 2 was started with another command"],
           found.stderr)


SHAPES = {
    "cloth": "type: cloth, nodes: [150, 160], origin: [0, 0, 0], u: [1, 0, 0], v: [0, 0, 1], "
             "pins: [corners], spring: {stiffness: 500, damping: 0.01}",
    "cloth_full": "type: cloth, nodes: [70, 300], origin: [0, 0, 0], u: [1, 0, 0], v: [0, 0, 1], "
                  "pins: [corners], spring: {stiffness: 500, damping: 0.002, damping_law: full}",
    "lattice": "type: lattice, nodes: [16, 17, 90], spacing: 0.02, pins: [top], "
               "springs: {k1: {stiffness: 400, damping: 0.01}, k2: {stiffness: 100}}",
    "rope": "type: rope, from: [0, 0, 0], to: [9, 0, 0], nodes: 20000, links: skip, "
            "pins: [first, last], spring: {stiffness: 30000, damping: 0.1}",
    "ball": "type: sphere, center: [0, 0, 0], radius: 1, subdivisions: 5, "
            "spring: {stiffness: 300, damping: 0.01}",
}


def scene(name, bodies, integrator="symplectic_euler", dt=2e-5, steps=48, extra=""):
    """Several bodies of SHAPES; the energy budget is kept, and rows are written."""
    text = (f"simulation: {{integrator: {integrator}, dt: {dt}, steps: {steps}}}\n"
            "environment: {gravity: [0, -9.81, 0], air_drag: 1.0e-6}\nbodies:\n")
    for body in bodies:
        text += f"  - {{name: {body}, {SHAPES[body]}, mass: 1}}\n"
    return write(name, text + f"output: {{every: {16 * dt}, pc2: true, vtp: {{forces: true}}}}\n{extra}")


def hash_of(ranks, *arguments):
    found = start(ranks, "run", *arguments, "--hash", "--quiet", "--no-output")
    expect(found.returncode == 0, found.stderr)
    return found.stdout.strip()


def assert_one_hash(path, *arguments, all_ranks=(1, 2, 3, 4, 5, 8)):
    one = hash_of(0, path, "--threads", "1", *arguments)
    expect(re.fullmatch("[0-9a-f]{16}", one), one)
    for ranks in all_ranks[len(all_ranks) // 2:][:1] if QUICK else all_ranks:
        for threads in ("2",) if QUICK else ("1", "2"):
            found = hash_of(ranks, path, "--threads", threads, *arguments)
            expect(found == one, f"{path}: {ranks} ranks, {threads} threads: {found}, not {one}")


def case_one_hash_of_cloth():
    assert_one_hash(scene("cloth.yaml", ["cloth"]))


def case_one_hash_of_cloth_with_full_damping():
    assert_one_hash(scene("full.yaml", ["cloth_full"]), all_ranks=(3, 5))


def case_one_hash_of_lattice():
    assert_one_hash(scene("lattice.yaml", ["lattice"]))


def case_one_hash_of_rope():
    assert_one_hash(scene("rope.yaml", ["rope"]))


def case_one_hash_of_sphere():
    assert_one_hash(scene("ball.yaml", ["ball"]))


def case_one_hash_of_all_with_velocity_verlet():
    assert_one_hash(scene("verlet.yaml", list(SHAPES), "velocity_verlet"), all_ranks=(2, 3, 5, 8))


def case_one_hash_in_every_precision():
    path = scene("precision.yaml", ["cloth", "ball"])
    for precision in ("mixed", "double"):
        for integrator in ("symplectic_euler", "velocity_verlet"):
            assert_one_hash(path, "--precision", precision, "--set",
                            f"simulation.integrator={integrator}", all_ranks=(2, 5))


# dt of the integrators with which no longer step of the stiff rope is stable.
SHORT = {"explicit_euler": 1e-7, "midpoint": 1e-7}
EXPLICIT = ["explicit_euler", "symplectic_euler", "verlet", "velocity_verlet", "midpoint", "rk4"]


def case_one_hash_of_every_explicit_integrator():
    path = scene("explicit.yaml", list(SHAPES))
    short = scene("short.yaml", list(SHAPES), dt=1e-7)
    assert_one_hash(path, "--set", "simulation.integrator=rk4", all_ranks=(3, 4, 8))
    for integrator in ("explicit_euler", "verlet", "midpoint", "rk4"):
        chosen = (short if integrator in SHORT else path, "--set",
                  f"simulation.integrator={integrator}")
        assert_one_hash(*chosen, all_ranks=(2, 5))
        for precision in ("mixed", "double"):
            assert_one_hash(*chosen, "--precision", precision, all_ranks=(3,))


def windy(name, law, integrator="symplectic_euler", work="true"):
    text = (f"simulation: {{integrator: {integrator}, dt: 2.0e-5, steps: 48}}\n"
            "environment:\n  gravity: [0, -9.81, 0]\n  wind: {velocity: [3, 1, 2], law: "
            f"{law}, " + ("density: 1.2, drag: 1" if law == "quadratic" else "coefficient: 0.02") +
            f"}}\nbodies:\n  - {{name: cloth, {SHAPES['cloth']}, mass: 1}}\n"
            f"  - {{name: flag, {SHAPES['cloth_full']}, mass: 1}}\n"
            f"output: {{every: 3.2e-4, work: {work}}}\n")
    return write(name, text)


def case_one_hash_with_wind():
    for law in ("face", "quadratic", "node"):
        assert_one_hash(windy(f"wind-{law}.yaml", law), all_ranks=(2, 3, 5))
    for integrator in ("verlet", "velocity_verlet", "midpoint", "rk4"):
        assert_one_hash(windy(f"wind-{integrator}.yaml", "face", integrator), all_ranks=(3,))
    assert_one_hash(windy("wind-packed.yaml", "face"), "--kernel", "packed", all_ranks=(3,))


def case_energy_budget_with_wind_has_the_same_bytes():
    for law in ("face", "quadratic"):
        for integrator in EXPLICIT if law == "face" else ("verlet", "rk4"):
            path = windy(f"budget-{law}.yaml", law, integrator)
            one = same_files(path)
            expect(b"wind" in one["energy.csv"], law)


# Springs that are alike and others that are slack, sheets, a rope and a block; `keep` of verlet takes loops
# in every step.
LOOPS = """
simulation: {{integrator: {integrator}, dt: 2.0e-5, steps: 48{more}}}
precision: {precision}
environment: {{gravity: [0, -9.81, 0], air_drag: 1.0e-6{wind}}}
bodies:
  - {{name: net, type: cloth, nodes: [60, 171], origin: [0, 0, 0], u: [1, 0, 0], v: [0, 0, 2.8], mass: 1, pins: [left],
     spring: {{law: tension_only, stiffness: 40, damping: 0.001, rest_length: 0.0165}}, velocity: [0, 1, 2]}}
  - {{name: plain, type: cloth, nodes: [53, 190], origin: [2, 0, 0], u: [1, 0, 0], v: [0, 0.5, 4], mass: 1,
     spring: {{stiffness: 40, damping: 0.002, damping_law: full}}, velocity: [0, 2, 1],
     drives: [{{nodes: [left], velocity: [[0, [0.2, 1, 0]], [5.0e-4, [0, -1, 0.3]]]}}]}}
{block}  - {{name: rope, type: rope, from: [0, 1, 0], to: [5, 1, 0], nodes: 9000, mass: 1, pins: [first, last],
     spring: {{stiffness: 100, damping: 0.01}}}}
colliders:
  - {{type: plane, stiffness: 20, friction: 0.01}}
output: {{every: 3.2e-4}}
"""


def case_energy_budget_of_parts_by_loops_has_the_same_bytes():
    """Ranks that hold their parts of a scene measure powers together where no kernel does."""
    def loops(integrator, precision="single", wind="", more=""):
        block = "" if wind else BLOCK.replace("damping: 0.001", "damping: 0.01")
        return write("loops.yaml", LOOPS.format(integrator=integrator, precision=precision, more=more,
                                                wind=wind and f", wind: {{velocity: [3, 1, 2], {wind}}}",
                                                block=block))

    keep, node = ", keep_velocity: 0.999", "law: node, coefficient: 0.02"
    for path, ranks in ((loops("verlet"), 2),
                        (loops("verlet", "mixed", more=keep), 3),
                        (loops("velocity_verlet", "double", more=keep), 4),
                        (loops("velocity_verlet", "mixed", "law: quadratic, density: 1.2, drag: 1"), 3),
                        (loops("verlet", "single", "coefficient: 0.02"), 5),
                        (loops("verlet", "single", node), 2),
                        (loops("velocity_verlet", "mixed", node, keep), 4)):
        rows = same_files(path, ranks=ranks)["energy.csv"]
        expect(rows.count(b"\n") == 5, rows.decode())


def case_energy_budget_beside_another_body_has_the_same_bytes():
    """Over the end of a grid kernels read nodes of the next body, here of another rank; their lengths
    are in the common denominator of powers."""
    for kind in ("type: cloth, u: [1, 0, 0], v: [0, 0, 1], nodes: [60, 190]",
                 "type: lattice, nodes: [30, 30, 13], spacing: 0.02, shells: 1"):
        path = write("beside.yaml", f"""
simulation: {{dt: 5.0e-5, steps: 64}}
environment: {{gravity: [0, -9.81, 0]}}
bodies:
  - {{name: grid, {kind}, mass: 0.5, stiffness: 75, damping: 0.0015, pins: [5]}}
  - {{name: rope, type: rope, from: [0, 1, 0], to: [3, 1, 0], nodes: 9000, mass: 1, stiffness: 300}}
output: {{every_steps: 16}}
""")
        for ranks in (2, 4, 5):
            same_files(path, ranks=ranks)


def case_energy_budget_in_passes_has_the_same_bytes():
    """Velocities that change at the end of steps, and drives that jump, take loops over all springs."""
    driven = write("driven.yaml", f"""
simulation: {{dt: 2.0e-5, steps: 48}}
environment: {{gravity: [0, -9.81, 0]}}
bodies:
  - {{name: cloth, {SHAPES["cloth"].replace("corners", "left")}, mass: 1,
     drives: [{{nodes: [right], velocity: [[0, [0, 2, 0]], [4.0e-4, [1, 0, 0]], [5.03e-4, [0, 0, 3]]]}}]}}
  - {{name: ball, {SHAPES["ball"]}, mass: 1}}
output: {{every: 3.2e-4, pc2: true}}
""")
    for integrator in EXPLICIT:
        same_files(driven, "--set", f"simulation.integrator={integrator}")
        same_files(driven, "--set", f"simulation.integrator={integrator}",
                   "--set", "simulation.keep_velocity=0.999")


def case_dt_auto_follows_the_same_bound():
    """Springs that are slack as built become taut, and dt shrinks."""
    for integrator in ("symplectic_euler", "verlet", "velocity_verlet"):
        path = write(f"auto-{integrator}.yaml", f"""
simulation: {{integrator: {integrator}, dt: auto, duration: 0.6}}
environment: {{gravity: [0, -9.81, 0]}}
bodies:
  - {{name: net, type: cloth, nodes: [60, 70], origin: [0, 0, 0], u: [1, 0, 0], v: [0, 0, 1],
     mass: 0.5, pins: [corners],
     spring: {{law: tension_only, stiffness: 20, damping: 0.001, rest_length: 0.03}}}}
output: {{every: 0.1}}
""")
        built = json.loads(start(0, "info", path, "--json").stdout)["dt"]
        one = json.loads(start(0, "run", path, "--no-output", "--quiet", "--json").stdout)
        expect(one["dt"] < 0.95 * built, f"dt stays: {built}, {one['dt']}")
        for ranks in (2, 3):
            found = json.loads(start(ranks, "run", path, "--no-output", "--quiet", "--json").stdout)
            for key in ("hash", "steps", "dt", "energy"):
                expect(found[key] == one[key], f"{key}: {found[key]}, not {one[key]}")


def case_more_ranks_than_tiles():
    assert_one_hash(write("small.yaml", "simulation: {dt: 0.001, steps: 40}\nbodies:\n"
                          "  - {name: net, type: cloth, nodes: [9, 9], origin: [0, 0, 0], "
                          "u: [1, 0, 0], v: [0, 0, 1], mass: 1, spring: {stiffness: 10}, "
                          "pins: [corners]}\n"), all_ranks=(2, 4))


def case_more_ranks_than_tiles_with_colliders():
    """Parts without nodes have no contacts, and those of others nothing that is out of date."""
    for extra in ("stiffness: 30, friction_coefficient: 0.3", "response: project, restitution: 0.4"):
        path = write("small-falls.yaml", f"""
simulation: {{dt: 0.001, steps: 160}}
environment: {{gravity: [0, -9.81, 0]}}
bodies:
  - {{name: net, type: cloth, nodes: [9, 9], origin: [0, 0.05, 0], u: [1, 0.2, 0], v: [0, 0, 1], mass: 1,
     spring: {{stiffness: 10}}}}
colliders:
  - {{type: plane, point: [0, 0, 0], {extra}}}
""")
        assert_one_hash(path, all_ranks=(2, 4))


def sums_of(ranks, group, path, steps):
    """What rank_sums prints, whose sums are in two levels from 24 x group chunks on."""
    command = [os.path.join(os.path.dirname(TAUT), "tests", "rank_sums"), str(group), str(steps), path]
    if ranks:
        command = launcher(ranks) + command
    found = subprocess.run(command, cwd=FOLDER, timeout=LIMIT, text=True, stdin=subprocess.DEVNULL,
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    expect(found.returncode == 0, found.stderr)
    return found.stdout.splitlines()


def case_sums_in_two_levels_have_one_order():
    """As those of more than 100 million nodes: energies, volumes, works, and the hash."""
    sheets = "".join(
        f"  - {{name: sheet{x}, type: cloth, origin: [{x}, 2, 0], u: [4, 0, 0], v: [0, 0, 3], nodes: "
        "[400, 300], pins: [top], mass: 1, springs: {structural: {stiffness: 100, damping: 0.01}, "
        "shear: {stiffness: 50}, bend: {stiffness: 2}}}\n" for x in (0, 5))
    path = write("two_levels.yaml",
                 "simulation: {integrator: symplectic_euler, dt: 1e-4, steps: 64}\n"
                 "environment: {gravity: [0, -9.81, 0], air_drag: 1.0e-5}\n"
                 f"bodies:\n{sheets}"
                 "  - {name: jelly, type: lattice, origin: [0, 0, 0], spacing: 0.02, "
                 "nodes: [48, 44, 50], mass: 1, "
                 "springs: {k1: {stiffness: 400, damping: 0.01}, k2: {stiffness: 100}}}\n")
    one = sums_of(0, 3, path, 50)
    expect(len(one) > 10 and one[0].startswith("hash "), str(one))
    for ranks in (2, 3, 5, 8):
        found = sums_of(ranks, 3, path, 50)
        expect(found == one, f"{ranks} ranks: {found}, not {one}")
    single = sums_of(0, 1024, path, 50)
    others = {a.split()[0] for a, b in zip(single, one) if a != b}
    expect({"elastic", "gravity", "kinetic"}.issubset(others), "sums in one level have other last bits")
    expect("hash" not in others, f"the hash is that of sums in one level: {others}")
    found = sums_of(3, 1024, path, 50)
    expect(found == single, f"one level: {found}, not {single}")


def files_of(folder):
    found = {}
    for name in sorted(os.listdir(os.path.join(FOLDER, folder))):
        with open(os.path.join(FOLDER, folder, name), "rb") as file:
            found[name] = file.read()
    found.pop("manifest.json")  # has times
    return found


def whole_names(folder):
    """The names of the files of `folder` if its frames were whole; .pvtp for .vtp and no pieces."""
    names = os.listdir(os.path.join(FOLDER, folder))
    lists = [name[:-len(".pvtp")] for name in names if name.endswith(".pvtp")]
    return {name[:-len(".pvtp")] + ".vtp" if name.endswith(".pvtp") else name for name in names
            if not any(re.fullmatch(re.escape(one) + "_[0-9]{4}.vtp", name) for one in lists)}


def compare_folders(one, several, what):
    """All files of one process and of several ranks, except manifest.json; whether some frame is in
    pieces, which have to have the same values."""
    content, pieces = files_of(several), False
    expect(whole_names(one) == whole_names(several), f"{what}: {sorted(content)}")
    for name, expected in files_of(one).items():
        found = content.get(name)
        if name.endswith(".vtp") and found is None:
            paths = [os.path.join(FOLDER, folder, at)
                     for folder, at in ((one, name), (several, name[:-len(".vtp")] + ".pvtp"))]
            try:
                differs, pieces = merge_vtp.differences(*paths), True
            except merge_vtp.Wrong as error:
                differs = str(error)
            expect(not differs, f"{what}: {name}: {differs}")
            continue
        if name.endswith(".pvd"):
            for listed in re.findall(rb'file="(.*?)"', found):
                expect(listed.decode() in content, f"{what}: no {listed}")
            found = found.replace(b".pvtp", b".vtp")
        expect(found == expected, f"{what}: {name} differs")
    return pieces


def same_files(path, *arguments, ranks=3):
    """Runs a scene on one process and on several ranks, and compares all files; those of the former."""
    found = {}
    for count in (0, ranks):
        folder = f"folder-{count}"
        shutil.rmtree(os.path.join(FOLDER, folder), ignore_errors=True)
        run = start(count, "run", path, "--output", folder, "--quiet", "--threads", "2", *arguments)
        expect(run.returncode == 0, f"{path} {arguments}: {run.stderr}")
        found[count] = files_of(folder)
    compare_folders("folder-0", f"folder-{ranks}", f"{path} {arguments}")
    return found[0]


def case_output_has_the_same_bytes():
    for integrator in EXPLICIT:
        path = scene("output.yaml", list(SHAPES), integrator, dt=SHORT.get(integrator, 2e-5))
        expect(len(same_files(path)) > 5, "too few files")


# Bodies on grids, of which every rank holds its part: nodes that move, a floor, and a closed lattice.
PARTS = """
simulation: {{integrator: {integrator}, dt: {dt}, steps: 48}}
environment: {{gravity: [0, -9.81, 0], air_drag: 1.0e-6{wind}}}
bodies:
  - {{name: cloth, type: cloth, nodes: [150, 160], origin: [3, 0, 0], u: [1, 0, 0], v: [0, 0, 1], mass: 1,
     spring: {{stiffness: 500, damping: 0.001}},
     drives: [{{nodes: [left], velocity: [[0, [0.2, 1, 0]], [5.0e-4, [0, -1, 0.3]]]}}]}}
  - {{name: net, type: lattice, nodes: [13, 14, 83], spacing: 0.02, origin: [0, 0.001, 0], mass: 0.5,
     shells: 2, velocity: [0.5, -3, 0], springs: {{k1: {{stiffness: 50, damping: 0.001}},
     kb1: {{stiffness: 20}}}}}}
  - {{name: rope, type: rope, from: [0, 1, 0], to: [9, 1, 0], nodes: 20000, links: skip, mass: 1,
     pins: [first, last], spring: {{stiffness: 30000, damping: 0.1}}}}
colliders:
  - {{type: plane, stiffness: 40, friction_coefficient: 0.3}}
output: {{every: {every}, probes: [{{body: cloth, node: 12000}}, {{body: rope, node: last}}]}}
"""


def parts(name, integrator="symplectic_euler", dt=2e-5, wind=""):
    return write(name, PARTS.format(integrator=integrator, dt=dt, every=16 * dt, wind=wind))


def case_parts_have_the_same_rows():
    """Energies, probes and hashes where no rank has all nodes."""
    for integrator in EXPLICIT:
        path = parts("parts.yaml", integrator, SHORT.get(integrator, 2e-5))
        for precision, ranks in (("single", 3), ("mixed", 2), ("double", 5)):
            rows = same_files(path, "--precision", precision, ranks=ranks)["energy.csv"]
            expect(rows.count(b"\n") == 5, rows.decode())
        assert_one_hash(path, all_ranks=(2, 4))
    for arguments in (("--set", "output.pc2=true"),
                      ("--set", "output.pc2=true", "--precision", "mixed", "--set", "output.vtp=true")):
        files = same_files(parts("parts.yaml"), *arguments)
        expect({"net.obj", "net.pc2", "rope.obj"} <= files.keys(), str(files.keys()))
    windy_parts = parts("parts.yaml", wind=", wind: {velocity: [0, 2, 1], coefficient: 0.3}")
    same_files(windy_parts, ranks=4)


# Springs that are slack as built become taut, and dt shrinks; of sheets, a block and a rope.
TAUTENS = """
simulation: {{integrator: {integrator}, dt: auto, safety: 0.9, duration: {duration}}}
environment: {{gravity: [0, -9.81, 0], air_drag: 1.0e-6{wind}}}
bodies:
  - {{name: net, type: cloth, nodes: [60, 170], origin: [0, 0, 0], u: [1, 0, 0], v: [0, 0, 2.8], mass: 1, {held},
     spring: {{law: tension_only, stiffness: 40, damping: 0.001, rest_length: 0.03}}}}
  - {{name: plain, type: cloth, nodes: [50, 90], origin: [2, 0, 0], u: [1, 0, 0], v: [0, 0, 2], mass: 1,
     springs: {{structural: {{stiffness: 40}}}}, pins: [left], velocity: [0, 2, 1]}}
{block}  - {{name: rope, type: rope, from: [0, 1, 0], to: [5, 1, 0], nodes: 3000, mass: 1, pins: [first, last],
     spring: {{stiffness: 100, damping: 0.01}}}}
colliders:
  - {{type: plane, stiffness: 20, friction: 0.01}}
output: {{every: {every}, work: {work}, pc2: true, vtp: {{springs: true}}, checkpoint: {{every: {every}}}}}
"""


BLOCK = """  - {name: block, type: lattice, nodes: [9, 10, 70], spacing: 0.02, origin: [4, 0.3, 0], mass: 0.5,
     springs: {k1: {stiffness: 30, damping: 0.001}, k2: {stiffness: 5}}}
"""


def tautens(name, integrator="symplectic_euler", duration=0.6, held="pins: [corners]", wind="", work="true"):
    return write(name, TAUTENS.format(integrator=integrator, duration=duration, every=duration / 3, held=held,
                                      wind=wind, work=work, block=BLOCK))


def dt_of(*arguments, ranks=0):
    found = start(ranks, *arguments, "--json")
    expect(found.returncode == 0, found.stderr)
    return json.loads(found.stdout)["dt"]


def case_parts_follow_the_same_bound():
    """dt: auto where no rank has all nodes: at the start and later."""
    driven = "pins: [left], drives: [{nodes: [right], velocity: [[0, [6, 1, 0]], [0.3, [0.1, -1, 0.5]]]}]"
    windy_air = ", wind: {velocity: [0, 2, 1], law: quadratic, density: 1.2, drag: 1}"
    for path, ranks, arguments in (
            (tautens("follow.yaml"), 3, ()),
            (tautens("follow-driven.yaml", "velocity_verlet", held=driven), 2, ("--precision", "mixed")),
            (tautens("follow-verlet.yaml", "verlet", held=driven), 2, ("--precision", "double"))):
        same_files(path, *arguments, ranks=ranks)
        expect(piece_names(f"folder-{ranks}"), f"{path}: frames are whole")
        first = dt_of("run", path, *arguments, "--no-output", "--steps", "1", ranks=ranks)
        last = dt_of("run", path, *arguments, "--no-output")
        expect(last < 0.95 * first, f"{path}: dt stays, {first} and {last}")
    found = start(3, "resume", "folder-2", "--duration", "0.65", "--quiet", "--hash")  # of the last scene
    expect(found.returncode == 0, found.stderr)
    expect(found.stdout.strip() == hash_of(0, path, *arguments, "--set", "simulation.duration=0.65"),
           f"continued: {found.stdout}")
    # Steps from the bound of the start alone.
    for path, arguments in ((tautens("start.yaml", duration=0.01), ("--precision", "mixed")),
                            (tautens("start-rk4.yaml", "rk4", duration=0.01), ()),
                            (tautens("start-wind.yaml", duration=0.01, wind=windy_air), ())):
        assert_one_hash(path, *arguments, all_ranks=(2, 3, 4))


def case_parts_refuse_dt_auto_like_one_process():
    path = tautens("refused.yaml", "explicit_euler")
    said = [start(ranks, "run", path, "--no-output", "--quiet") for ranks in (0, 3)]
    expect(said[0].returncode != 0 and said[1].returncode == said[0].returncode, said[1].stderr)
    lines = [[line for line in found.stderr.splitlines() if "dt: auto" in line] for found in said]
    expect(lines[0] == lines[1] and lines[0], f"{said[0].stderr}\n{said[1].stderr}")


# Small bodies on no grid beside grids, each whole on one rank: spheres whose nodes and springs have other
# numbers for ranks than in the scene, a network, rings, and a rope of too few nodes for a grid.
SMALL = """
simulation: {{integrator: {integrator}, dt: {dt}, steps: 48{more}}}
environment: {{gravity: [0, -9.81, 0], air_drag: 1.0e-6{wind}}}
bodies:
  - {{name: cloth, type: cloth, nodes: [150, 160], origin: [3, 0, 0], u: [1, 0, 0], v: [0, 0, 1], mass: 1,
     spring: {{stiffness: 500, damping: 0.001}}, pins: [left]}}
{balls}  - {{name: net, type: network, nodes: [[0, 0.1, 0], [0.1, 0.1, 0], [0.1, 0.2, 0], [0.3, 0.01, 0.1]],
     node_mass: 0.01, springs: [[0, 1], [1, 2], [2, 0], [2, 3]], stiffness: 50, damping: 0.01,
     velocity: [0, -4, 0]}}
  - {{name: few, type: rope, from: [1, 0.1, 0], to: [1, 0.2, 0], nodes: 3, mass: 0.01, pins: [last],
     spring: {{stiffness: 30, damping: 0.001}}, velocity: [1, 0, 2]}}
  - {{name: rope, type: rope, from: [0, 1, 0], to: [9, 1, 0], nodes: 20000, links: skip, mass: 1,
     pins: [first, last], spring: {{stiffness: 30000, damping: 0.1}}}}
{block}colliders:
  - {{type: plane, {plane}}}
output: {{every: {every}, pc2: true, vtp: {{springs: true, forces: true}}, probes: [{{body: net, node: 2,
  every_steps: 5}}, {{body: few, node: last}}]}}
"""

# Faces of these are in blocks in wind.
FACED = ("""  - {name: ball, type: sphere, center: [0, 0.22, 1], radius: 0.2, subdivisions: 3, mass: 0.3,
     velocity: [0, -2, 1], spring: {stiffness: 50, damping: 0.001}}
  - {name: ball2, type: sphere, center: [2, 1, 1], radius: 0.2, subdivisions: 4, mass: 0.3, pins: [3, 77],
     spring: {stiffness: 50, damping: 0.001}}
""", """  - {name: block, type: lattice, nodes: [13, 14, 83], spacing: 0.02, origin: [0, 0.001, 2], mass: 0.5,
     shells: 2, velocity: [0.5, -3, 0], springs: {k1: {stiffness: 50, damping: 0.001}, kb1: {stiffness: 20}}}
""")


def small(name, integrator="symplectic_euler", dt=2e-5, wind="", plane="stiffness: 40", more=""):
    balls, block = FACED
    return write(name, SMALL.format(integrator=integrator, dt=dt, every=16 * dt, wind=wind, plane=plane, more=more,
                                    balls=balls, block=block))


def case_small_bodies_are_whole_beside_parts_of_grids():
    for i, integrator in enumerate(EXPLICIT):
        path = small("beside.yaml", integrator, SHORT.get(integrator, 2e-5))
        precision, ranks = ("single", "mixed", "double")[i % 3], (3, 2, 4)[(i + i // 3) % 3]
        same_files(path, "--precision", precision, ranks=ranks)
        expect(len(piece_names(f"folder-{ranks}")) == 4 * ranks, f"{piece_names(f'folder-{ranks}')}")
    assert_one_hash(path, all_ranks=(2, 5))
    for arguments in ({"wind": ", wind: {velocity: [0, 2, 1], coefficient: 0.3}"},
                      {"plane": "response: project, restitution: 0.5, friction: 0.001"},
                      {"plane": "stiffness: 40, friction_coefficient: 0.3"}, {"more": ", keep_velocity: 0.999"}):
        same_files(small("beside.yaml", **arguments), ranks=3)
        expect(piece_names("folder-3"), f"{arguments}: not in parts")
    same_files(small("beside.yaml"), "--set", "output.work=false", ranks=4)


def case_parts_with_wind_on_hulls_have_the_same_bytes():
    """Wind on the faces of lattices and of small bodies on no grid, which are in blocks."""
    for i, (law, integrator) in enumerate((
            ("face", "explicit_euler"), ("quadratic", "symplectic_euler"), ("node", "verlet"),
            ("face", "velocity_verlet"), ("node", "midpoint"), ("quadratic", "rk4"), ("node", "symplectic_euler"),
            ("quadratic", "verlet"))):
        wind = (", wind: {velocity: [0, 20, 10], law: " + law + ", " +
                ("density: 1.2, drag: 1}" if law == "quadratic" else "coefficient: 0.3}"))
        path = small("hulls.yaml", integrator, SHORT.get(integrator, 2e-5), wind=wind)
        precision, ranks = ("single", "mixed", "double")[(i + i // 3) % 3], (3, 2, 4)[i % 3]
        same_files(path, "--precision", precision, ranks=ranks)
        expect(len(piece_names(f"folder-{ranks}")) == 4 * ranks, f"{law}: frames are whole")
    assert_one_hash(path, all_ranks=(2, 5))
    # The bound of the step, and budgets that take loops over faces.
    for path in (tautens("hulls-auto.yaml", duration=0.3, wind=", wind: {velocity: [0, 2, 1], coefficient: 0.3}"),
                 small("hulls.yaml", "velocity_verlet", wind=wind, more=", keep_velocity: 0.999")):
        same_files(path, ranks=3)
        expect(piece_names("folder-3"), f"{path}: frames are whole")


def case_parts_with_wind_on_hulls_are_continued():
    path = small("hulls-kept.yaml", "verlet", wind=", wind: {velocity: [0, 20, 10], coefficient: 0.3, law: node}")
    for ranks, folder in ((0, "whole"), (3, "kept")):
        shutil.rmtree(os.path.join(FOLDER, folder), ignore_errors=True)
        found = start(ranks, "run", path, "--quiet", "--output", folder, "--precision", "mixed", "--set",
                      "output.vtp=false", "--set", "output.checkpoint.every=3.2e-4")
        expect(found.returncode == 0, found.stderr)
    compare_folders("whole", "kept", "3 ranks")
    for ranks, folder in ((0, "whole"), (2, "kept")):
        found = start(ranks, "resume", folder, "--steps", "80", "--quiet")
        expect(found.returncode == 0, found.stderr)
    compare_folders("whole", "kept", "3 and 2 ranks")


def case_small_bodies_beside_grids_are_continued():
    """From a checkpoint of ranks with their parts, on other numbers of ranks."""
    path = small("beside.yaml", "verlet")
    for first, again in ((3, 2), (2, 0), (0, 4)):
        for ranks, folder in ((0, "whole"), (first, "kept")):
            shutil.rmtree(os.path.join(FOLDER, folder), ignore_errors=True)
            found = start(ranks, "run", path, "--quiet", "--output", folder, "--set", "output.vtp=false",
                          "--set", "output.checkpoint.every=3.2e-4")
            expect(found.returncode == 0, found.stderr)
        compare_folders("whole", "kept", f"{first} ranks")
        found = start(again, "resume", "kept", "--steps", "100", "--quiet", "--hash")
        expect(found.returncode == 0, found.stderr)
        expect(found.stdout.strip() == hash_of(0, path, "--steps", "100"), f"{first}, {again}: {found.stdout}")


def piece_names(folder):
    return sorted(name for name in os.listdir(os.path.join(FOLDER, folder))
                  if re.search("_[0-9]{6}_[0-9]{4}.vtp$", name))


def case_frames_in_pieces_have_the_values_of_whole_ones():
    path = parts("pieces.yaml")
    for ranks, arguments in ((2, ("--set", "output.vtp={}")),
                             (3, ("--set", "output.vtp={springs: true, forces: true}")),
                             (4, ("--set", "output.vtp={forces: true}", "--precision", "double")),
                             (5, ("--set", "output.vtp={springs: true}", "--precision", "mixed"))):
        same_files(path, *arguments, ranks=ranks)
        expect(len(piece_names(f"folder-{ranks}")) == 4 * ranks, str(piece_names(f"folder-{ranks}")))
        for command in (("render", "--time", "0.00064", "--quiet", "--output", "picture.png"),
                        ("check-intersections", "--json")):
            made = []
            for folder in ("folder-0", f"folder-{ranks}"):
                found = start(0, command[0], folder, *command[1:])
                expect(found.returncode == 0, found.stderr)
                made.append(re.sub('"(seconds|scene)".*', "", found.stdout))
                if command[0] == "render":
                    with open(os.path.join(FOLDER, "picture.png"), "rb") as file:
                        made.append(file.read())
            expect(made[:len(made) // 2] == made[len(made) // 2:], f"{command} of {ranks} ranks")
        one, several = (start(0, "check-intersections", f"{folder}/pieces_000003.{ending}", "--json")
                        for folder, ending in (("folder-0", "vtp"), (f"folder-{ranks}", "pvtp")))
        expect(re.sub('"(seconds|scene)".*', "", several.stdout) ==
               re.sub('"(seconds|scene)".*', "", one.stdout) and one.stdout, several.stderr)
    # More ranks than tiles: some have no piece.
    few = write("few-tiles.yaml", f"""
simulation: {{dt: 2.0e-5, steps: 2}}
bodies:
  - {{name: cloth, {SHAPES["cloth"].replace("150, 160", "40, 110")}, mass: 1}}
  - {{name: bob, type: rope, from: [0, 1, 0], to: [0, 2, 0], nodes: 5, mass: 1, spring: {{stiffness: 5}}}}
output: {{every_steps: 1, vtp: true}}
""")
    same_files(few, ranks=5)
    expect(0 < len(piece_names("folder-5")) < 15, str(piece_names("folder-5")))


def case_vtk_reads_frames_in_pieces():
    path = parts("pieces.yaml")
    shutil.rmtree(os.path.join(FOLDER, "vtk"), ignore_errors=True)
    found = start(3, "run", path, "--set", "output.vtp={springs: true}", "--output", "vtk", "--quiet")
    expect(found.returncode == 0, found.stderr)
    reader = [sys.executable, os.path.join(SOURCE, "tests", "read_vtp.py")]
    read = subprocess.run([*reader, os.path.join(FOLDER, "vtk", "pieces.pvd")], check=False, text=True,
                          timeout=LIMIT, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if read.returncode == 77:
        raise Skipped(read.stdout)
    expect(read.returncode == 0, read.stderr + read.stdout)
    lines = read.stdout.splitlines()
    expect(len(lines) == 4, read.stdout)
    for number, line in enumerate(lines):
        frame = merge_vtp.merged(os.path.join(FOLDER, "vtk", f"pieces_{number:06}.pvtp"))
        cells = len(frame["cells"])
        expect(line.endswith(f" {cells} cells") and f"pieces_{number:06}.pvtp: time" in line, line)


def case_run_with_frames_in_pieces_is_continued():
    """Frames that were written before stay as they are; those that follow have a piece of each of the ranks
    that continue the run."""
    path = parts("pieces.yaml").replace(".yaml", "")
    extra = ("--set", "output.vtp={forces: true}", "--set", "output.pc2=true",
             "--set", "output.checkpoint.every=6.4e-4")
    one = start(0, "run", f"{path}.yaml", *extra, "--steps", "80", "--output", "folder-0", "--force",
                "--quiet")
    expect(one.returncode == 0, one.stderr)
    for first, then, last in ((4, 2, 0), (3, 0, 5)):
        shutil.rmtree(os.path.join(FOLDER, "kept"), ignore_errors=True)
        for ranks, steps in ((first, 0), (then, 64), (last, 80)):
            command = ("resume", "kept", "--steps", str(steps)) if steps else (
                "run", f"{path}.yaml", *extra, "--output", "kept")
            found = start(ranks, *command, "--quiet")
            expect(found.returncode == 0, found.stderr)
        names = os.listdir(os.path.join(FOLDER, "kept"))
        expect(sum(name.endswith(".pvtp") for name in names) == 4 + (then > 1) + (last > 1), str(names))
        expect(len(piece_names("kept")) == 4 * first + then + last, str(names))
        # The scene and the last checkpoint are those of the run that was prolonged.
        for name in ("scene.yaml", *(name for name in names if name.startswith("checkpoint"))):
            os.remove(os.path.join(FOLDER, "kept", name))
        for name in os.listdir(os.path.join(FOLDER, "folder-0")):
            if name.startswith("checkpoint") or name == "scene.yaml":
                os.remove(os.path.join(FOLDER, "folder-0", name))
        expect(compare_folders("folder-0", "kept", f"{first}, {then}, {last}"), "no pieces")

    # A run that is killed within its frames; a piece that is lost or changed; --force.
    long = parts("long-pieces.yaml")
    extra = ("--set", "output.vtp=true", "--set", "output.every_steps=4", "--set", "simulation.steps=120",
             "--set", "output.checkpoint.every=1.0e-4", "--quiet")
    for again in (2, 0):
        there = os.path.join(FOLDER, "cut")
        shutil.rmtree(there, ignore_errors=True)
        command = [*launcher(3), TAUT, "run", long,
                   "--output", "cut", *extra]
        with subprocess.Popen(command, cwd=FOLDER, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL) as process:
            until = time.monotonic() + LIMIT
            while process.poll() is None and time.monotonic() < until:
                if os.path.isdir(there) and len(os.listdir(there)) > 40:
                    process.send_signal(signal.SIGKILL)
                    break
                time.sleep(0.005)
            process.wait(timeout=LIMIT)
        time.sleep(1)  # the ranks end after mpirun
        whole = sorted(name for name in os.listdir(there) if name.endswith(".pvtp"))
        for lost in (piece_names("cut")[1], whole[0]):
            os.rename(os.path.join(there, lost), os.path.join(FOLDER, lost))
            found = start(again, "resume", "cut", "--quiet")
            expect(found.returncode != 0 and len(complaints(found.stderr)) == 1 and
                   f"'cut/{lost}' is missing: restore the file" in found.stderr, found.stderr)
            os.rename(os.path.join(FOLDER, lost), os.path.join(there, lost))
        found = start(again, "resume", "cut", "--quiet")
        expect(found.returncode == 0, found.stderr)
        left = sorted(name for name in os.listdir(there) if name.endswith(".pvtp"))
        before = sum(name.endswith("_0002.vtp") for name in piece_names("cut"))
        expect(0 < before <= len(whole) and left[:before] == whole[:before], f"{left} of {whole}")
        expect(len(left) == (31 if again else before), f"{left} of {whole}")
        expect(len(piece_names("cut")) == 3 * before + again * (len(left) - before), str(piece_names("cut")))
        with open(os.path.join(there, "manifest.json"), encoding="utf-8") as file:
            listed = {item["name"] for item in json.load(file)["files"]}
        expect(listed | {"manifest.json"} == set(os.listdir(there)), str(listed))
        shutil.rmtree(os.path.join(FOLDER, "rest"), ignore_errors=True)
        one = start(0, "run", long, "--output", "rest", *extra)
        expect(one.returncode == 0, one.stderr)
        expect(compare_folders("rest", "cut", "cut"), "no pieces")
    found = start(0, "run", parts("small.yaml"), "--output", "cut", "--force", "--quiet")
    expect(found.returncode == 0 and not piece_names("cut"), f"{found.stderr} {os.listdir(there)}")


LATTICE = """simulation: {{dt: 5.0e-5, steps: 2{more}}}
bodies:
  - {{name: jelly, type: lattice, nodes: [100, 100, {layers}], spacing: 0.01, mass: 1,
     springs: {{k1: {{stiffness: 10}}, k2: {{stiffness: 5}}}}}}
output: {{every_steps: 2}}
"""


def lattice(layers, more=""):
    return write(f"lattice-{layers}.yaml", LATTICE.format(layers=layers, more=more))


def estimate_of(path):
    """What one process is estimated to need before a run, bytes."""
    found = start(0, "run", path, "--no-output", "--threads", "1", environment={"TAUT_MEMORY_LIMIT": "17M"})
    return float(re.search(r"needs about (\S+) GiB", found.stderr).group(1)) * 2 ** 30


def case_memory_is_that_of_the_part_of_a_rank():
    """The estimate of each rank, the check against the limit, and `bytes` of the results."""
    path = lattice(120)
    limit = {"TAUT_MEMORY_LIMIT": "24M"}
    arguments = ("run", path, "--no-output", "--quiet", "--threads", "1", "--json")
    for ranks in (0, 2):
        found = start(ranks, *arguments, environment=limit)
        expect(found.returncode == 1 and len(complaints(found.stderr)) == 1 and
               "TAUT_MEMORY_LIMIT" in found.stderr, found.stderr)
    four = start(4, *arguments, environment=limit)
    expect(four.returncode == 0, four.stderr)
    found = json.loads(start(0, "info", path, "--ranks", "4", "--threads", "1", "--json").stdout)
    estimates = [part["memory_bytes"] for part in found["ranks"]]
    largest, whole = max(estimates), found["bytes"]
    expect(whole / 4 < largest < 0.4 * whole, f"{estimates} of {whole}")
    bytes_of_rank = json.loads(four.stdout)["bytes"]
    expect(0.6 * largest < bytes_of_rank < 0.35 * whole, f"{bytes_of_rank} of {largest}, {whole}")
    # Of wind, whose damping limits dt, a rank has what acts on its nodes.
    sheet = """simulation: {dt: 1.0e-5, steps: 2}
environment: {wind: {velocity: [1, 0, 0], coefficient: 0.1RELATIVE}}
bodies:
  - {name: sheet, type: cloth, nodes: [500, 800], u: [1, 0, 0], v: [0, 1.6, 0], mass: 1, spring: {stiffness: 10}}
"""
    least = {}
    for relative in ("true", "false"):
        found = json.loads(start(0, "info", write("sheet.yaml", sheet.replace("RELATIVE", f", relative: {relative}")),
                                 "--ranks", "4", "--threads", "1", "--json").stdout)
        least[relative] = max(part["memory_bytes"] for part in found["ranks"])
    expect(least["true"] - least["false"] < 0.3 * 128 * 500 * 800, str(least))
    # With implicit integrators every rank has the whole scene.
    found = json.loads(start(0, "info", lattice(8, ", integrator: implicit_euler"), "--ranks", "3", "--threads",
                             "1", "--json").stdout)
    each = {part["memory_bytes"] for part in found["ranks"]}
    expect(len(each) == 1 and min(each) > 0.8 * found["bytes"], str(found["ranks"]))
    if QUICK:
        return  # sanitizers take memory of their own
    base = max(peaks(4, "run", lattice(5), "--no-output"))
    most = (max(peaks(4, "run", path, "--no-output")) - base) * 2 ** 20
    expect(0.82 * most < largest < 1.2 * most, f"{estimates}, measured {most}")


def case_ranks_of_a_machine_share_its_memory():
    """A machine on which one of them would find enough."""
    path = lattice(80, ", integrator: xpbd")
    left = int(1.5 * estimate_of(path) / 1024)
    write("meminfo", f"MemTotal: {2 * left} kB\nMemFree: {left} kB\nMemAvailable: {left} kB\nSwapFree: 0 kB\n")
    if subprocess.run(["unshare", "-m", "mount", "--bind", "meminfo", "/proc/meminfo"], cwd=FOLDER,
                      check=False, stderr=subprocess.DEVNULL).returncode != 0:
        raise Skipped("this machine allows no mounts of a process's own")
    limited = ["unshare", "-m", "sh", "-c", 'mount --bind meminfo /proc/meminfo && exec "$@"', "sh"]
    for ranks in (1, 2):
        found = subprocess.run([*limited, *launcher(ranks, "-q"), TAUT, "run", path, "--no-output", "--quiet",
                                "--threads", "1"], cwd=FOLDER, timeout=LIMIT, text=True,
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               check=False)
        if ranks == 1:
            expect(found.returncode == 0, found.stderr)
        else:
            lines = complaints(found.stderr)
            expect(found.returncode == 1 and len(lines) == 1 and "the 2 ranks of this machine may take" in
                   lines[0], f"{found.returncode}: {found.stderr}")


def case_estimate_of_memory_counts_the_part_of_a_rank():
    path = write("large.yaml", """simulation: {dt: 5.0e-5, steps: 2}
bodies:
  - {name: jelly, type: lattice, nodes: [80, 80, 120], spacing: 0.01, mass: 1,
     springs: {k1: {stiffness: 10}, k2: {stiffness: 5}}}
output: {every_steps: 2, vtp: true, pc2: true}
""")
    limit = {"TAUT_MEMORY_LIMIT": "120M"}
    arguments = ("run", path, "--output", "large", "--force", "--quiet", "--threads", "1")
    one = start(0, *arguments, environment=limit)
    expect(one.returncode != 0 and "TAUT_MEMORY_LIMIT" in one.stderr, one.stderr)
    four = start(4, *arguments, environment=limit)
    expect(four.returncode == 0, four.stderr)


def case_piece_that_cannot_be_written_is_one_message():
    """A limit for files as if the disk of one rank was full; afterwards nothing has the name of a frame
    that is not whole."""
    path = parts("pieces.yaml")
    # Number 2 has the larger limit in its second case, so that it fails at a later frame.
    for rank, limit in ((1, 100), (0, 100), (2, 550)):
        shutil.rmtree(os.path.join(FOLDER, "full"), ignore_errors=True)
        script = write("full.sh", f'#!/bin/sh\n[ "$OMPI_COMM_WORLD_RANK" = {rank} ] && ulimit -f {limit}\n'
                                  f'exec "{TAUT}" "$@"\n')
        os.chmod(os.path.join(FOLDER, script), 0o755)
        found = subprocess.run(
            [*launcher(3), os.path.join(FOLDER, script),
             "run", path, "--set", "output.vtp=true", "--output", "full", "--quiet", "--threads", "1"],
            cwd=FOLDER, text=True, timeout=LIMIT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, check=False)
        expect(found.returncode != 0, "it was written")
        said = [line for line in complaints(found.stderr) if "continue it" not in line and
                "are complete" not in line and "begin it again" not in line]
        expect(len(said) == 1 and f"_{rank:04}.vtp'" in said[0], found.stderr)
        names = os.listdir(os.path.join(FOLDER, "full")) if os.path.isdir(
            os.path.join(FOLDER, "full")) else []
        lists = [name for name in names if name.endswith(".pvtp")]
        expect(len(piece_names("full") if names else []) == 3 * len(lists), str(names))
        for name in lists:
            merge_vtp.merged(os.path.join(FOLDER, "full", name))


def case_wrong_list_of_pieces_is_one_message():
    path = parts("pieces.yaml")
    shutil.rmtree(os.path.join(FOLDER, "wrong"), ignore_errors=True)
    found = start(3, "run", path, "--set", "output.vtp=true", "--output", "wrong", "--quiet")
    expect(found.returncode == 0, found.stderr)
    with open(os.path.join(FOLDER, "wrong", "pieces_000002.pvtp"), encoding="utf-8") as file:
        good = file.read()
    piece = '    <Piece Source="pieces_000002_0001.vtp"/>\n'
    expect(piece in good, good)
    for wrong, message in ((good.replace(piece, ""), "do not make up a frame"),
                           (good.replace(piece, 2 * piece), "do not make up a frame"),
                           (good.replace("000002_0001", "000001_0001"), "not a piece of the same frame"),
                           (good.replace("000002_0001", "000009_0001"), "cannot read"),
                           (good.replace('="pieces_000002_0001', '="../pieces_000002_0001'), "not a list"),
                           (good[:-30], "not a list"), (good + " ", "not a list"), ("", "not a list")):
        write("wrong/pieces_000002.pvtp", wrong)
        for command in (("check-intersections", "wrong/pieces_000002.pvtp"),
                        ("render", "wrong", "--time", "0.00064", "--output", "picture.png")):
            found = start(0, *command)
            expect(found.returncode != 0 and len(complaints(found.stderr)) == 1 and
                   message in found.stderr, f"{command} {message}: {found.stderr}")


def warnings_of(found):
    expect(found.returncode == 0, found.stderr)
    return [line for line in found.stderr.splitlines() if "warning: " in line]


def case_parts_warn_of_steps_like_one_process():
    """Bounds of nodes are found by all ranks, eigenvalues by rank 0 alone, a rough bound by each."""
    count = 0
    for dt in (1e-5, 2.4e-5, 5e-5):
        path = parts("parts.yaml", dt=dt)
        found = {ranks: start(ranks, "run", path, "--steps", "1", "--no-output") for ranks in (0, 2, 5)}
        for ranks in (2, 5):
            expect(warnings_of(found[ranks]) == warnings_of(found[0]),
                   f"{dt}, {ranks} ranks: {found[ranks].stderr}")
            strict = start(ranks, "run", path, "--steps", "1", "--no-output", "--strict")
            alone = start(0, "run", path, "--steps", "1", "--no-output", "--strict")
            expect(strict.returncode == alone.returncode, f"{dt}: {strict.returncode} {strict.stderr}")
        count += len(warnings_of(found[0]))
    expect(count > 0, "no scene warned")


def case_parts_write_states_and_checkpoints():
    """With friction what nodes remember is collected, without it nothing is."""
    smooth = ("--set", "colliders.0={type: plane, stiffness: 40}")
    for integrator in ("symplectic_euler", "verlet"):
        path = parts("parts.yaml", integrator)
        for arguments in (smooth, (*smooth, "--precision", "mixed"), ()):
            states = []
            for ranks in (0, 3):
                found = start(ranks, "run", path, *arguments, "--quiet", "--no-output", "--state",
                              f"state-{ranks}.csv")
                expect(found.returncode == 0, found.stderr)
                with open(os.path.join(FOLDER, f"state-{ranks}.csv"), "rb") as file:
                    states.append(file.read())
            expect(states[0] == states[1] and states[0], f"{arguments}: states differ")
            kept = same_files(path, *arguments, "--set", "output.checkpoint.every=3.2e-4", ranks=4)
            expect(any(name.startswith("checkpoint_") for name in kept), str(kept.keys()))
            shutil.rmtree(os.path.join(FOLDER, "kept"), ignore_errors=True)
            shutil.copytree(os.path.join(FOLDER, "folder-4"), os.path.join(FOLDER, "kept"))
            again = start(2, "resume", "kept", "--steps", "60", "--quiet", "--hash")
            expect(again.returncode == 0, again.stderr)
            expect(again.stdout.strip() == hash_of(0, path, *arguments, "--steps", "60"), again.stdout)


def case_forces_and_powers_are_complete():
    """What is read after something else has collected all nodes, and what only ranks with a part sum."""
    cloth = """
  - {name: cloth, type: cloth, u: [0.6, 0, 0], v: [0, 0, 1.7], nodes: [60, 170], mass: 0.3,
     spring: {stiffness: 200, damping: 0.05}, velocity: [0, -1, 0], pins: [left]SUFFIX}"""
    friction = """
colliders:
  - {type: plane, point: [0, 0.0001, 0], stiffness: 50, friction_coefficient: 0.3}"""
    scenes = (
        # dt is too long, so that it is checked with all nodes at the start.
        ("rk4, dt: 2.0e-4, steps: 2", cloth.replace("SUFFIX", ""), "",
         "{every_steps: 1, vtp: {forces: true}}"),
        # The last frame is not a regular one, and follows a checkpoint.
        ("symplectic_euler, dt: 1.0e-5, steps: 3", cloth.replace("SUFFIX", ""), friction,
         "{every_steps: 2, vtp: {forces: true}, checkpoint: {every: 3.0e-5}}"),
        # Forces that are not those of the present state.
        ("velocity_verlet, dt: 1.0e-4, steps: 20, keep_velocity: 0.99",
         cloth.replace("SUFFIX", ", break_at: 3"), "",
         "{work: false, checkpoint: {every: 1.0e-4}}"),
        # Velocities with low parts, at nodes of others.
        ("symplectic_euler, dt: 1.0e-4, steps: 5", """
  - {name: block, type: lattice, nodes: [5, 16, 60], spacing: 0.01, node_mass: 0.0005,
     spring: {stiffness: 40}}""", """
precision: mixed
environment: {wind: {velocity: [30, 10, 2]}}""", "{every_steps: 5}"),
    )
    for integrator, bodies, more, output in scenes:
        path = write("complete.yaml", f"simulation: {{integrator: {integrator}}}\n"
                                      f"bodies:{bodies}{more}\noutput: {output}\n")
        for ranks in (2, 3):
            same_files(path, ranks=ranks)


# Runs a command, and writes how much memory it had at most, KiB, into a file for each rank.
PEAK = """import os, resource, subprocess, sys
code = subprocess.run(sys.argv[2:]).returncode
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
with open(sys.argv[1] + os.environ.get("OMPI_COMM_WORLD_RANK", "0"), "w") as file:
    file.write(str(peak))
sys.exit(code)
"""


def peaks(ranks, *arguments):
    """The peak of the memory of each rank, MiB."""
    write("peak.py", PEAK)
    command = launcher(ranks) if ranks > 1 else []
    command += [sys.executable, "peak.py", "peak-", TAUT, *arguments, "--threads", "1"]
    found = subprocess.run(command, cwd=FOLDER, timeout=LIMIT, stdin=subprocess.DEVNULL, text=True,
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    expect(found.returncode == 0, found.stderr)
    every = []
    for rank in range(ranks):
        with open(os.path.join(FOLDER, f"peak-{rank}"), encoding="utf-8") as file:
            every.append(int(file.read()) / 1024)
    return every


# Without gravity rounding alone moves nodes, which looks like a divergence: all nodes are collected then.
JELLY = """simulation: {{dt: {dt}, steps: {steps}{more}}}
environment: {{gravity: [0, -9.81, 0]{wind}}}
bodies:
  - {{name: jelly, type: lattice, nodes: [{wide}, {wide}, {layers}], spacing: 0.01, pins: [top], {law}}}
output: {{every_steps: {steps}}}
"""


def compare_peaks(dt, steps, wide, arguments, more="", after="", beside="", law="", wind="", gas=""):
    """What the nodes of a lattice take, beside what a process takes without them."""
    springs = "mass: 1, springs: {k1: {stiffness: 10, damping: 1.0e-4" + law + "}, k2: {stiffness: 5}}" + gas
    few, many = (write(f"lattice-{layers}.yaml",
                       JELLY.format(dt=dt, steps=steps, wide=wide, layers=layers, more=more, wind=wind,
                                    law=springs).replace("output:", beside + "output:") + after)
                 for layers in (12, 288))
    one = peaks(1, "run", many, *arguments)[0] - peaks(1, "run", few, *arguments)[0]
    for ranks in (2, 3):
        base = max(peaks(ranks, "run", few, *arguments))
        most = max(peaks(ranks, "run", many, *arguments)) - base
        expect(most < 1.3 * one / ranks,
               f"{ranks} ranks: {most:.1f} of {one:.1f} MiB, {dt} {more} {arguments}")


def case_a_rank_has_memory_for_its_part():
    if QUICK:
        raise Skipped("sanitizers take memory of their own")
    rows = ["--output", "rows", "--force"]
    for arguments in (["--no-output"], rows, ["--no-output", "--json"],
                      [*rows, "--set", "output.vtp={forces: true}"], [*rows, "--set", "output.pc2=true"]):
        compare_peaks("5.0e-5", 2, 100, arguments)
    compare_peaks("auto", 2, 100, rows)
    # The bound is found again after 512 steps.
    compare_peaks("auto", 514, 64, ["--no-output"])


def case_small_bodies_follow_the_same_bound():
    """dt: auto, whose bound the small bodies have weights for, which a checkpoint keeps; the last scene is
    continued on another number of ranks."""
    ball = ("  - {name: ball, type: sphere, center: [1, 3, 1], radius: 0.2, subdivisions: 2, mass: 0.02, "
            "pins: [3, 4], spring: {law: tension_only, stiffness: 30, damping: 0.0001, rest_length: 0.12}}\n"
            "  - {name: star, type: network, nodes: [[0, 3, 0], [0.1, 3, 0], [0, 3.1, 0], [0, 3, 0.1]], "
            "node_mass: 0.0001, springs: [[0, 1], [0, 2], [0, 3]], stiffness: 5}\n")
    for integrator, ranks in (("symplectic_euler", 3), ("verlet", 2)):
        path = tautens("follow-small.yaml", integrator, duration=0.3)
        with open(os.path.join(FOLDER, path), encoding="utf-8") as file:
            text = file.read()
        write(path, text.replace("colliders:", ball + "colliders:"))
        same_files(path, ranks=ranks)
        expect(piece_names(f"folder-{ranks}"), f"{path}: frames are whole")
    for again in (3, 0):
        shutil.rmtree(os.path.join(FOLDER, "kept"), ignore_errors=True)
        shutil.copytree(os.path.join(FOLDER, "folder-2"), os.path.join(FOLDER, "kept"))
        found = start(again, "resume", "kept", "--duration", "0.33", "--quiet", "--hash")
        expect(found.returncode == 0, found.stderr)
        expect(found.stdout.strip() == hash_of(0, path, "--set", "simulation.duration=0.33"), found.stdout)


def case_a_rank_has_memory_for_its_part_beside_small_bodies():
    if QUICK:
        raise Skipped("sanitizers take memory of their own")
    ball = ("  - {name: ball, type: sphere, center: [0, 3, 0], radius: 0.2, subdivisions: 4, mass: 0.3, "
            "spring: {stiffness: 50}}\n")
    for gas in ("", ", pressure: {amount: 3}"):
        compare_peaks("5.0e-5", 2, 100, ["--output", "rows", "--force"], beside=ball.replace("}}", "}" + gas + "}"))


def case_a_rank_has_memory_for_its_part_of_a_lattice_with_gas():
    if QUICK:
        raise Skipped("sanitizers take memory of their own")
    for volume in ("divergence", "box"):
        compare_peaks("5.0e-5", 2, 64, ["--output", "rows", "--force"],
                      gas=", pressure: {amount: 5, volume: " + volume + "}")


def case_driven_nodes_alone_have_velocities_of_their_own():
    """While bodies are built, on every rank."""
    if QUICK:
        raise Skipped("sanitizers take memory of their own")
    still = JELLY.format(dt="5.0e-5", steps=2, wide=100, layers=200, more="", wind="",
                         law="mass: 1, springs: {k1: {stiffness: 10, damping: 1.0e-4}}")
    driven = still.replace("pins: [top]", "pins: [top], drives: [{node: 0, velocity: [0, 0.1, 0]}]")
    for ranks in (1, 3):
        one, other = (max(peaks(ranks, "run", write("driven.yaml", text), "--no-output")) for text in (still, driven))
        expect(other < one + 10, f"{ranks} ranks: {other:.1f} instead of {one:.1f} MiB")  # 46 for all nodes


def case_a_rank_has_memory_for_its_part_in_wind():
    if QUICK:
        raise Skipped("sanitizers take memory of their own")
    for law in ("face", "node"):
        compare_peaks("5.0e-5", 2, 64, ["--output", "rows", "--force"],
                      wind=", wind: {velocity: [3, 0, 1], coefficient: 0.1, law: " + law + "}")


def case_a_rank_has_memory_for_its_part_of_springs_that_break_and_yield():
    if QUICK:
        raise Skipped("sanitizers take memory of their own")
    law = ", break_at: 1.5, yield_at: 0.4"
    rows = ["--output", "rows", "--force"]
    for arguments in (["--no-output"], [*rows, "--set", "output.checkpoint.every=5.0e-5"]):
        compare_peaks("5.0e-5", 2, 64, arguments, law=law)
    compare_peaks("auto", 2, 64, rows, law=law)


def case_a_rank_measures_powers_with_its_part():
    """Budgets that take loops, at the start and in every step."""
    if QUICK:
        raise Skipped("sanitizers take memory of their own")
    compare_peaks("5.0e-5", 2, 100, ["--output", "rows", "--force"], ", integrator: verlet")
    compare_peaks("5.0e-5", 2, 100, ["--no-output"],
                  ", integrator: velocity_verlet, keep_velocity: 0.999")


COLLIDERS = {
    # A cloth falls on a ball that moves, beside a body that slides on the floor, in a room.
    "viscous": "  - {type: plane, point: [0, 0.012, 0], stiffness: 40, friction: 0.01, absorption: 0.02}\n"
               "  - {type: sphere, center: [0.4, -0.3, 0.5], radius: 0.31, velocity: [0.2, 1, 0], "
               "stiffness: 60, friction: 0.02}\n"
               "  - {type: room, min: [-0.4, -0.4, -0.4], max: [1.2, 2, 0.99], stiffness: 30}\n",
    "coulomb": "  - {type: plane, point: [0, 0.012, 0], normal: [0.1, 1, 0], stiffness: 40, "
               "friction_coefficient: {static: 0.4, kinetic: 0.3}}\n"
               "  - {type: sphere, center: [0.4, -0.3, 0.5], radius: 0.31, velocity: [0.2, 1, 0], "
               "stiffness: 60, friction_coefficient: 0.2}\n"
               "  - {type: room, min: [-0.4, -0.4, -0.4], max: [1.2, 2, 0.99], stiffness: 30, "
               "friction_coefficient: 0.1}\n",
    "project": "  - {type: plane, point: [0, 0.012, 0], response: project, friction: 0.001}\n"
               "  - {type: sphere, center: [0.4, -0.3, 0.5], radius: 0.31, velocity: [0.2, 1, 0], "
               "response: project, keep: 0.9}\n",
    "bounces": "  - {type: plane, point: [0, 0.012, 0], response: project, restitution: 0.7}\n"
               "  - {type: sphere, center: [0.4, -0.3, 0.5], radius: 0.31, velocity: [0.2, 1, 0], "
               "stiffness: 60, friction_coefficient: 0.2}\n",
}


BALL = """  - {name: ball, type: sphere, center: [0.8, 0.22, 0.4], radius: 0.2, subdivisions: 4, mass: 0.3,
     velocity: [0, -2, 1], spring: {stiffness: 50, damping: 0.001}}
"""


def falling(name, colliders, steps=64, dt=2e-4, ball=BALL, more=""):
    """Bodies whose nodes do not fill blocks and chunks, so that ranks share some of these. Without the
    ball ranks hold only their parts."""
    return write(name, f"""
simulation: {{dt: {dt}, steps: {steps}}}
environment: {{gravity: [0, -9.81, 0], air_drag: 1.0e-6}}
bodies:
  - {{name: cloth, type: cloth, nodes: [123, 150], origin: [0, 0.02, 0], u: [1, 0, 0], v: [0, 0, 1],
     velocity: [0, -1, 0.3], mass: 1, spring: {{stiffness: 50, damping: 0.001}}}}
  - {{name: net, type: lattice, nodes: [9, 9, 37], spacing: 0.02, origin: [0.2, 0.03, 0.1], mass: 0.5,
     velocity: [0.5, -3, 0], springs: {{k1: {{stiffness: 50, damping: 0.001}}}}}}
{ball}colliders:
{COLLIDERS[colliders]}output: {{every: {16 * dt}, pc2: true{more}}}
""")


def case_one_hash_with_colliders():
    for kind in COLLIDERS:
        path = falling(f"{kind}.yaml", kind)
        assert_one_hash(path, all_ranks=(2, 3, 5))
        assert_one_hash(path, "--precision", "mixed", all_ranks=(3,))
        assert_one_hash(path, "--precision", "double", all_ranks=(4,))
        assert_one_hash(path, "--set", "output.work=false", all_ranks=(8,))


def case_output_with_colliders_has_the_same_bytes():
    for kind in COLLIDERS:
        path = falling(f"{kind}.yaml", kind)
        for integrator in EXPLICIT:
            rows = same_files(path, "--set", f"simulation.integrator={integrator}")["energy.csv"]
            expect(rows.count(b"\n") == 6, rows.decode())
        same_files(path, "--set", "simulation.keep_velocity=0.999", "--precision", "mixed", ranks=5)


def case_checkpoint_with_colliders_is_continued():
    for kind in COLLIDERS:
        path = falling(f"{kind}.yaml", kind)
        shutil.rmtree(os.path.join(FOLDER, "kept"), ignore_errors=True)
        found = start(3, "run", path, "--output", "kept", "--quiet", "--set",
                      "output.checkpoint.every=0.0064")
        expect(found.returncode == 0, found.stderr)
        again = start(0, "resume", "kept", "--steps", "96", "--quiet", "--hash")
        expect(again.returncode == 0, again.stderr)
        expect(again.stdout.strip() == hash_of(0, path, "--steps", "96"), again.stdout)


def case_parts_project_like_one_process():
    """Ranks that hold only their parts; of blocks with nodes of several each keeps what these touch."""
    for kind in ("project", "bounces"):
        path = falling(f"parts-{kind}.yaml", kind, ball="", more=", vtp: {forces: true}, "
                                                                "checkpoint: {every: 0.0064}")
        for ranks, precision in zip((2, 3, 4, 8), ("single", "mixed", "double", "single")):
            same_files(path, "--precision", precision, ranks=ranks)
            expect(piece_names(f"folder-{ranks}"), f"{kind}: frames are whole")
        for ranks, integrator in zip((2, 3, 5, 4, 3), EXPLICIT):
            same_files(path, "--set", f"simulation.integrator={integrator}", ranks=ranks)
        same_files(path, "--set", "output.work=false", ranks=5)
        with open(os.path.join(FOLDER, path), encoding="utf-8") as file:
            follows = re.sub("dt: .*?, steps: [0-9]+", "dt: auto, duration: 0.01", file.read())
        same_files(write("parts-auto.yaml", follows), ranks=3)
        again = start(3, "resume", "folder-8", "--steps", "96", "--quiet", "--hash")
        expect(again.returncode == 0, again.stderr)
        expect(again.stdout.strip() == hash_of(0, path, "--steps", "96"), again.stdout)
    if QUICK:
        return
    compare_peaks("5.0e-5", 66, 64, ["--output", "rows", "--force"],
                  after="colliders: [{type: plane, normal: [0, 0, 1], point: [0, 0, 0.001], response: project, "
                        "restitution: 0.5, friction: 0.001}]\n")


TOUCHING = {
    # A ball and a net fall onto a cloth, and slide on it; the pressed sheet is folded onto itself.
    "bodies": ("cloth", "ball", "net"),
    "self": ("fold",),
    "all": ("cloth", "ball", "net", "fold", "rope"),
}

TOUCHED = {
    "none": "[]",
    "mesh": "\n  - {type: mesh, file: floor.obj, translate: [0, -0.005, 0], friction_coefficient: 0.3}",
    "moving": "\n  - {type: mesh, file: floor.obj, translate: [0, -0.006, 0], friction_coefficient: 0.3, "
              "motion: {keyframes: [[0, [0, 0, 0], [0, 0, 0]], [0.02, [0, 0.01, 0], [0, 5, 0]]]}}"
              "\n  - {type: mesh, file: floor.obj, translate: [0, 0.25, 0], motion: {velocity: [0.3, -0.1, 0]}}",
    "shapes": "\n  - {type: plane, point: [0, -0.005, 0], response: contact, friction_coefficient: 0.4}"
              "\n  - {type: sphere, center: [0.5, -0.3, 0.5], radius: 0.296, velocity: [0, 0.5, 0], response: contact}",
    "penalty": "\n  - {type: plane, point: [0, 0.002, 0], stiffness: 40, friction_coefficient: 0.4}"
               "\n  - {type: mesh, file: floor.obj, translate: [0, -0.006, 0]}",
    "project": "\n  - {type: plane, point: [0, -0.002, 0], response: project, friction: 0.001}"
               "\n  - {type: mesh, file: floor.obj, translate: [0, -0.006, 0]}",
}


def grid_mesh(name, columns, rows, point):
    """A triangulated sheet, whose points are a function of column and row."""
    corners = [point(i, j) for j in range(rows) for i in range(columns)]
    write(name, "".join(f"v {x} {y} {z}\n" for x, y, z in corners) +
          "".join(f"f {a} {a + columns} {a + 1}\nf {a + 1} {a + columns} {a + columns + 1}\n"
                  for j in range(rows - 1) for a in range(j * columns + 1, (j + 1) * columns)))


def fold_point(column, row, cell=0.02, radius=0.004, length=34):
    """Of a sheet of 2 `length` rows that is folded: the upper half lies above the lower one."""
    if row < length:
        return (cell * column, 0, cell * row)
    return (cell * column, 2 * radius, cell * (2 * length - 1 - row))


def touching(name, bodies, colliders="none", speed=0.5, steps=48, dt=1e-4, stiffness=2):
    """Surfaces that touch from the start, and more of them in every step; or, if they are fast, whose
    motion is cut."""
    grid_mesh("fold.obj", 40, 68, fold_point)
    grid_mesh("floor.obj", 8, 9, lambda i, j: (0.3 * i - 0.6, 0.001 * (i % 2), 0.3 * j - 0.6))
    shapes = {
        "cloth": "type: cloth, nodes: [50, 170], origin: [0, 0, 0], u: [1, 0, 0], v: [0, 0, 1], mass: 0.2, "
                 "pins: [corners], spring: {stiffness: 50, damping: 0.001}",
        "ball": "type: sphere, center: [0.4, 0.1055, 0.4], radius: 0.1, subdivisions: 4, mass: 0.3, "
                f"velocity: [0.3, {-speed}, 0.2], spring: {{stiffness: 100, damping: 0.001}}, "
                "pressure: {amount: 0.5, inflate: 0.02}",
        "net": "type: lattice, nodes: [9, 9, 37], spacing: 0.02, origin: [0.6, 0.0055, 0.1], mass: 0.5, "
               f"velocity: [0, {-speed}, 0.5], springs: {{k1: {{stiffness: 100, damping: 0.001}}}}",
        "fold": f"type: mesh, file: fold.obj, translate: [1.3, 0, 0], mass: 0.2, velocity: [0, {-speed}, 0], "
                f"pins: {list(range(40 * 34))}, spring: {{stiffness: 50, damping: 0.001}}",
        "rope": f"type: rope, from: [-0.1, 0.0055, 0.95], to: [1.1, 0.0055, 0.96], nodes: 150, mass: 0.05, "
                f"velocity: [0, {-speed}, 0], spring: {{stiffness: 500, damping: 0.001}}",
    }
    return write(name, f"""
simulation: {{dt: {dt}, steps: {steps}}}
environment: {{gravity: [0, -9.81, 0], air_drag: 1.0e-6}}
contact: {{thickness: 0.005, stiffness: {stiffness}, friction_coefficient: 0.4}}
bodies:
""" + "".join(f"  - {{name: {body}, {shapes[body]}}}\n" for body in bodies) + f"""
colliders: {TOUCHED[colliders]}
output: {{every: {16 * dt}, pc2: true, vtp: {{forces: true}}}}
""")


def contact_of(path, *arguments, ranks=0):
    """What a run prints of contact at its end: the same on any number of ranks, lists of candidates too."""
    found = start(ranks, "run", path, "--no-output", "--quiet", "--json", *arguments)
    expect(found.returncode == 0, found.stderr)
    return json.loads(found.stdout)["surface_contact"]


def case_one_hash_with_contact():
    for kind, bodies in TOUCHING.items():
        path = touching(f"touching-{kind}.yaml", bodies)
        found = contact_of(path)
        expect(found["touching"] > 50, f"{path}: {found}")
        expect(contact_of(path, "--threads", "1", ranks=3) == found, f"{path}: other than {found}")
        assert_one_hash(path, all_ranks=(2, 3, 5) if kind == "all" else (3,))
    for precision in ("mixed", "double"):
        assert_one_hash(path, "--precision", precision, all_ranks=(3,))
    assert_one_hash(path, "--kernel", "packed", "--set", "output.work=false", all_ranks=(3,))


def case_one_hash_with_motion_that_is_cut():
    """Also in steps that are longer than lists of candidates reach."""
    for speed, steps in ((6, 16), (40, 8)):
        path = touching("cut.yaml", ("cloth", "ball", "rope"), "moving", speed, steps)
        found = contact_of(path)
        expect(found["cut_steps"] > 3, f"{path}: {found}")
        expect(contact_of(path, "--threads", "1", ranks=2) == found, f"{path}: other than {found}")
        assert_one_hash(path, all_ranks=(2, 3))
        assert_one_hash(path, "--precision", "mixed", "--set", "output.work=false", all_ranks=(3,))


def case_output_with_contact_has_the_same_bytes():
    for colliders in TOUCHED:
        path = touching(f"touched-{colliders}.yaml", TOUCHING["all"], colliders)
        rows = same_files(path)["energy.csv"]
        expect(rows.count(b"\n") == 5, rows.decode())
    for integrator in EXPLICIT:
        same_files(path, "--set", f"simulation.integrator={integrator}")
    same_files(path, "--set", "simulation.keep_velocity=0.999", "--precision", "mixed", ranks=2)
    for integrator in ("symplectic_euler", "velocity_verlet"):
        same_files(touching("fast.yaml", ("cloth", "ball", "rope"), "moving", 6, 16), "--precision", "mixed",
                   "--set", f"simulation.integrator={integrator}")


RUBBING = """\
simulation: {dt: 0.0002, steps: 40}
environment: {gravity: [0, -9.81, 0]}
contact: {thickness: 0.003, friction_coefficient: 0.3}
bodies:
  - {name: a, type: cloth, origin: [-0.4, 1, -0.4], u: [0.8, 0, 0], v: [0, 0, 0.3], nodes: [160, 60],
     mass: 0.2, stiffness: 80, damping: 0.005, pins: [left, right]}
  - {name: r, type: rope, from: [0, 1.01, -0.4], to: [0, 1.02, 0], nodes: 40, mass: 0.02, stiffness: 200,
     velocity: [0, -1, 0]}
output: {every_steps: 1}
"""


def case_heat_of_friction_between_surfaces_has_the_same_bytes():
    """It belongs to steps, and is added to the work of dampers that is measured between them."""
    write("rubbing.yaml", RUBBING)
    for integrator in ("symplectic_euler", "midpoint", "rk4"):
        rows = same_files("rubbing.yaml", "--set", f"simulation.integrator={integrator}", ranks=2)["energy.csv"]
        lines = rows.decode().splitlines()
        column = lines[0].split(",").index("work_friction")
        expect(float(lines[-1].split(",")[column]) != 0, "no friction")


def case_contact_beside_other_forces_has_the_same_bytes():
    path = touching("windy.yaml", TOUCHING["all"], "mesh")
    with open(os.path.join(FOLDER, path), encoding="utf-8") as file:
        text = file.read()
    write(path, text.replace("air_drag: 1.0e-6", "air_drag: 1.0e-6, wind: {velocity: [1, -2, 0.5]}")
          .replace("damping: 0.001}", "damping: 0.001, break_at: 1.01}"))
    expect(json.loads(start(0, "run", path, "--no-output", "--quiet", "--json").stdout)["broken_springs"] > 3,
           "no springs break")
    same_files(path)
    write(path, text.replace("dt: 0.0001, steps: 48", "dt: auto, steps: 200"))
    same_files(path)
    write(path, text.replace("nodes: [50, 170]", "nodes: [90, 90]")
          .replace("mass: 0.2, pins: [corners], spring: {stiffness: 50, damping: 0.001}",
                   "pins: [corners], drives: [{nodes: [40], velocity: [0, 5, 1]}], damping_ratio: 0.02, "
                   "elastic: {young: 1.0e+4, poisson: 0.2, density: 300, thickness: 0.002}"))
    same_files(path)


def case_checkpoint_with_contact_is_continued():
    """Friction of surfaces remembers what it was."""
    for colliders, integrator in (("moving", "symplectic_euler"), ("shapes", "velocity_verlet")):
        path = touching("kept.yaml", TOUCHING["all"], colliders)
        extra = ["--set", f"simulation.integrator={integrator}"]
        wanted = hash_of(0, path, "--steps", "80", *extra)
        for ranks, again in ((3, 0), (0, 3), (2, 3)):
            shutil.rmtree(os.path.join(FOLDER, "kept"), ignore_errors=True)
            found = start(ranks, "run", path, "--output", "kept", "--quiet", *extra, "--set",
                          "output.checkpoint.every=0.0032")
            expect(found.returncode == 0, found.stderr)
            found = start(again, "resume", "kept", "--steps", "80", "--quiet", "--hash")
            expect(found.returncode == 0, found.stderr)
            expect(found.stdout.strip() == wanted, f"{colliders}, {ranks}, {again}: {found.stdout}")


def case_surfaces_that_cross_are_one_message():
    path = touching("crossing.yaml", TOUCHING["all"])
    with open(os.path.join(FOLDER, path), encoding="utf-8") as file:
        text = file.read().replace("center: [0.4, 0.1055, 0.4]", "center: [0.4, 0.05, 0.4]")
    write(path, text)
    one, three = (start(ranks, "run", path, "--no-output", "--quiet") for ranks in (0, 3))
    expect(one.returncode == three.returncode != 0, three.stderr)
    expect(complaints(three.stderr) == complaints(one.stderr) and complaints(one.stderr), three.stderr)
    write(path, text.replace("thickness: 0.005", "thickness: 0.005, existing: relax"))
    assert_one_hash(path, all_ranks=(3,))


GASES = {
    "packed": "type: sphere, center: [0, 0, 0], radius: 0.5, subdivisions: 4, mass: 1, "
              "spring: {stiffness: 50, damping: 0.01}, pressure: {amount: 60, inflate: 0.05, gamma: 1.4}",
    "box": "type: sphere, center: [2, 0, 0], radius: 0.5, subdivisions: 4, mass: 1, "
           "spring: {stiffness: 50}, pressure: {amount: 6, inflate: 0.02, volume: box}",
    "lattice": "type: lattice, nodes: [14, 15, 80], spacing: 0.02, origin: [4, 0, 0], mass: 2, "
               "springs: {k1: {stiffness: 300, damping: 0.01}}, pressure: {amount: 3, inflate: 0.1}",
}


def gassy(name, kinds, extra="environment: {gravity: [0, -9.81, 0]}\n"):
    return write(name, "simulation: {dt: 2.0e-5, steps: 48}\n" + extra + "bodies:\n" + "".join(
        f"  - {{name: {kind}, {GASES[kind]}}}\n" for kind in kinds) +
        "output: {every: 1.6e-4, pc2: true, vtp: true}\n")


def case_one_hash_with_gas():
    assert_one_hash(gassy("gas.yaml", ["packed"]))
    assert_one_hash(gassy("box.yaml", ["box"]), all_ranks=(2, 3))
    assert_one_hash(gassy("gases.yaml", GASES), all_ranks=(2, 3, 5))
    assert_one_hash(gassy("gases.yaml", GASES), "--precision", "mixed", all_ranks=(4,))
    assert_one_hash(gassy("gases.yaml", GASES), "--precision", "double", all_ranks=(3,))
    assert_one_hash(write("ring.yaml", """
simulation: {dt: 2.0e-4, steps: 48}
bodies:
  - {name: ring, type: ring, center: [0, 0, 0], radius: 1, nodes: 5000, mass: 1,
     spring: {stiffness: 4000, damping: 0.1}, pressure: {amount: 50, inflate: 0.1}}
"""), all_ranks=(3,))


def case_output_with_gas_has_the_same_bytes():
    for integrator in EXPLICIT:
        same_files(gassy("gases.yaml", GASES), "--set", f"simulation.integrator={integrator}")
    same_files(gassy("box.yaml", ["box"]))


# Volumes of packed springs, of edges, of faces and rings on grids, and of bounding boxes.
GAS_BESIDE = """
simulation: {{integrator: {integrator}, dt: {dt}, steps: {steps}}}
environment: {{gravity: [0, -9.81, 0], air_drag: 1.0e-6{wind}}}
bodies:
  - {{name: net, type: cloth, nodes: [120, 170], origin: [0, 1, 0], u: [1, 0, 0], v: [0, 0, 2.8], mass: 1,
     pins: [corners], spring: {{stiffness: 20, damping: 0.001}}}}
  - {{name: mat, type: lattice, nodes: [60, 2, 70], spacing: 0.02, origin: [0, 0.001, 0], mass: 1,
     springs: {{k1: {{stiffness: 50, damping: 0.001}}}}, pressure: {{amount: 2, inflate: 0.1{mat}}}}}
  - {{name: ball, type: sphere, center: [0, 0.5, 1], radius: 0.2, subdivisions: 4, mass: 0.3, pins: [3, 77],
     spring: {{stiffness: 50, damping: 0.001}}, pressure: {{amount: {ball}, gamma: 1.4, inflate: 0.05}}}}
  - {{name: egg, type: sphere, center: [1, 0.5, 1], radius: 0.2, subdivisions: 2, mass: 0.3,
     spring: {{stiffness: 50}}, pressure: {{amount: 4, volume: ellipsoid}}}}
  - {{name: ring, type: ring, center: [2, 0.5, 1], radius: 0.2, nodes: 200, mass: 0.3,
     spring: {{stiffness: 50, damping: 0.001}}, pressure: {{amount: 4, atmosphere: 10}}}}
  - {{name: block, type: lattice, nodes: [13, 14, 83], spacing: 0.02, origin: [0, 0.001, 2], mass: 0.5,
     shells: 2, velocity: [0.5, -3, 0], springs: {{k1: {{stiffness: 50, damping: 0.001}}, kb1: {{stiffness: 20}}}},
     pressure: {{amount: {block}, inflate: 0.1{volume}}}}}
colliders:
  - {{type: plane, stiffness: 40}}
output: {{every: {every}, pc2: true, vtp: {{forces: true}}}}
"""


def gas_beside(name, integrator="symplectic_euler", dt=2e-5, steps=48, wind="", mat="", volume="", ball=4, block=3):
    return write(name, GAS_BESIDE.format(integrator=integrator, dt=dt, steps=steps, every=16 * dt, wind=wind, mat=mat,
                                         volume=volume, ball=ball, block=block))


def case_parts_with_gas_have_the_same_bytes():
    windy = {"wind": ", wind: {velocity: [0, 2, 1], coefficient: 0.3}"}
    for integrator, precision, ranks, more in (
            ("symplectic_euler", "single", 3, {}), ("verlet", "mixed", 2, {"volume": ", volume: box"}),
            ("velocity_verlet", "double", 4, {"mat": ", volume: sphere"}), ("rk4", "single", 5, windy),
            ("midpoint", "mixed", 3, {"dt": 1e-7})):
        found = same_files(gas_beside("gas-beside.yaml", integrator, **more), "--precision", precision, ranks=ranks)
        expect(b"volume_block" in found["energy.csv"], str(found.keys()))
        expect(piece_names(f"folder-{ranks}"), f"{integrator}: frames are whole")
    assert_one_hash(gas_beside("gas-beside.yaml"), all_ranks=(2, 5))
    same_files(gas_beside("gas-beside.yaml"), "--set", "output.work=false", ranks=3)


def case_parts_with_gas_follow_the_same_bound():
    """dt: auto, which is set by a lattice of which ranks have parts; the last scene is continued on other numbers
    of ranks."""
    for integrator, ranks in (("symplectic_euler", 3), ("velocity_verlet", 2)):
        path = write("gas-auto.yaml", f"""
simulation: {{integrator: {integrator}, dt: auto, duration: 0.33}}
environment: {{gravity: [0, -9.81, 0], air_drag: 1.0e-6}}
bodies:
  - {{name: mat, type: lattice, nodes: [12, 2, 60], spacing: 0.02, origin: [0, 0.001, 0], mass: 1,
     springs: {{k1: {{stiffness: 50, damping: 0.001}}}}, pressure: {{amount: 2, inflate: 2.0e-4}}}}
  - {{name: ball, type: sphere, center: [0, 0.5, 1], radius: 0.2, subdivisions: 2, mass: 0.1, pins: [3, 77],
     spring: {{stiffness: 50, damping: 0.001}}, pressure: {{amount: 4, gamma: 1.4, inflate: 0.001}}}}
  - {{name: block, type: lattice, nodes: [6, 6, 90], spacing: 0.02, origin: [0, 0.001, 2], mass: 0.05,
     springs: {{k1: {{stiffness: 50, damping: 0.001}}}}, pressure: {{amount: 4000, inflate: 2.0e-4}}}}
output: {{every: 0.11, vtp: true, checkpoint: {{every: 0.11}}}}
""")
        rows = same_files(path, ranks=ranks)["energy.csv"].splitlines()
        expect(piece_names(f"folder-{ranks}"), "frames are whole")
        steps, times = zip(*((float(number) for number in row.split(b",")[:2]) for row in (*rows[1:3], *rows[-2:])))
        first, last = ((times[i + 1] - times[i]) / (steps[i + 1] - steps[i]) for i in (0, 2))
        expect(first / last < 0.99 or last / first < 0.99, f"dt stays: {first}, {last}")
    wanted = hash_of(0, path, "--set", "simulation.duration=0.34")
    for again in (3, 0):
        shutil.rmtree(os.path.join(FOLDER, "kept"), ignore_errors=True)
        shutil.copytree(os.path.join(FOLDER, "folder-2"), os.path.join(FOLDER, "kept"))
        found = start(again, "resume", "kept", "--duration", "0.34", "--quiet", "--hash")
        expect(found.returncode == 0, found.stderr)
        expect(found.stdout.strip() == wanted, found.stdout)


def case_parts_with_gas_are_continued():
    path = gas_beside("gas-kept.yaml", "verlet", mat=", volume: box")
    for ranks, folder in ((0, "whole"), (3, "kept")):
        shutil.rmtree(os.path.join(FOLDER, folder), ignore_errors=True)
        found = start(ranks, "run", path, "--quiet", "--output", folder, "--set", "output.checkpoint.every=3.2e-4")
        expect(found.returncode == 0, found.stderr)
    for ranks, folder in ((0, "whole"), (2, "kept")):
        found = start(ranks, "resume", folder, "--steps", "80", "--quiet")
        expect(found.returncode == 0, found.stderr)
    compare_folders("whole", "kept", "3 and 2 ranks")


def case_parts_say_that_gas_collapses():
    for less in ({"block": "0, atmosphere: 5.0e+5"}, {"ball": "0, atmosphere: 5.0e+4"},
                 {"mat": ", atmosphere: 2.0e+5"}):
        path = gas_beside("gas-collapses.yaml", steps=2000, **less)
        one, three = (start(ranks, "run", path, "--quiet", "--output", f"collapse-{ranks}", "--force")
                      for ranks in (0, 3))
        expect(one.returncode == 1 and "collapsed" in one.stderr, one.stderr)
        expect([line.replace("collapse-3", "collapse-0") for line in complaints(three.stderr)] ==
               complaints(one.stderr), three.stderr)
        compare_folders("collapse-0", "collapse-3", str(less))


def case_one_message_if_gas_collapses():
    path = write("collapse.yaml", """
simulation: {dt: 1.0e-3, steps: 4000}
bodies:
  - {name: ball, type: sphere, center: [0, 0, 0], radius: 0.5, subdivisions: 4, mass: 1,
     spring: {stiffness: 5}, pressure: {amount: 1, atmosphere: 200}}
""")
    for integrator in ("symplectic_euler", "implicit_euler"):
        chosen = ("--no-output", "--quiet", "--set", f"simulation.integrator={integrator}")
        one, three = start(0, "run", path, *chosen), start(3, "run", path, *chosen)
        expect(one.returncode == 1, one.stderr)
        expect(complaints(three.stderr) == complaints(one.stderr), three.stderr)


def case_one_hash_with_wind_on_faces_in_blocks():
    for law in ("face", "quadratic", "node"):
        wind = ("environment:\n  gravity: [0, -9.81, 0]\n  wind: {velocity: [3, 1, 2], law: " + law + ", " +
                ("density: 1.2, drag: 1" if law == "quadratic" else "coefficient: 0.02") + "}\n")
        path = gassy(f"breeze-{law}.yaml", GASES, wind)
        assert_one_hash(path, all_ranks=(2, 3, 5))
        for integrator in EXPLICIT if law == "face" else ("symplectic_euler", "velocity_verlet"):
            same_files(path, "--set", f"simulation.integrator={integrator}")


ELASTIC = {
    "gel": "type: lattice, nodes: [23, 19, 70], spacing: 0.01, origin: [0, 0, 0], pins: [left], velocity: [1, 2, 3], "
           "elastic: {young: 1.0e+4, density: 1000, poisson: 0.45}, damping_ratio: 0.02",
    "rope": "type: rope, from: [0, 1, 0], to: [30, 1, 0], nodes: 3001, pins: [first, last], velocity: [1, 2, 3], "
            "elastic: {young: 1.0e+5, density: 1000, diameter: 0.02}, damping_ratio: 0.02",
    "ball": "type: sphere, center: [2, 0, 0], radius: 0.5, subdivisions: 4, pins: [0], velocity: [1, 2, 3], "
            "elastic: {young: 1.0e+5, poisson: 0.4, density: 1000, thickness: 0.01}, "
            "damping_ratio: 0.02, pressure: {amount: 20, inflate: 0.1}",
    "sheet": "type: mesh, file: sheet.obj, translate: [0, 2, 0], pins: [0], velocity: [0, 1, 2], "
             "elastic: {young: 1.0e+5, poisson: 0.3, density: 1000, thickness: 0.01}, damping_ratio: 0.02",
    "cloth": "type: cloth, nodes: [70, 90], origin: [0, 3, 0], u: [1, 0, 0], v: [0, 0, 1.3], pins: [left], velocity: [1, 2, 3], "
             "elastic: {young: 1.0e+5, poisson: 0.2, density: 1000, thickness: 0.005}, damping_ratio: 0.02",
}


def elastic(name, bodies):
    columns, rows = 50, 70
    write("sheet.obj", "".join(f"v {0.02 * i} {0.001 * (i % 3)} {0.02 * j}\n" for j in range(rows)
                               for i in range(columns)) +
          "".join(f"f {a} {a + columns} {a + 1}\nf {a + 1} {a + columns} {a + columns + 1}\n"
                  for j in range(rows - 1) for a in range(j * columns + 1, (j + 1) * columns)))
    return write(name, "simulation: {dt: 1.0e-5, steps: 48}\n"
                 "environment: {gravity: [0, -9.81, 0]}\nbodies:\n" +
                 "".join(f"  - {{name: {body}, {ELASTIC[body]}}}\n" for body in bodies) +
                 "output: {every: 1.6e-4, pc2: true, vtp: true}\n")


def case_one_hash_with_elements():
    for body in ELASTIC:
        assert_one_hash(elastic(f"elastic-{body}.yaml", [body]), all_ranks=(3, 5))
    path = elastic("elastic.yaml", ELASTIC)
    assert_one_hash(path, all_ranks=(2, 4, 8))
    assert_one_hash(path, "--kernel", "packed", all_ranks=(3,))
    for precision in ("mixed", "double"):
        assert_one_hash(path, "--precision", precision, all_ranks=(3,))


def case_output_with_elements_has_the_same_bytes():
    path = elastic("elastic.yaml", ELASTIC)
    for integrator in EXPLICIT:
        same_files(path, "--set", f"simulation.integrator={integrator}", "--precision",
                   "mixed" if integrator == "rk4" else "single")
    same_files(path, "--kernel", "packed", "--precision", "mixed", ranks=5)


def sheets(name, integrator="symplectic_euler", dt="1.0e-5", steps="steps: 48", every=1.6e-4, wind=""):
    """Cloths of materials, whose elements are computed with their springs: ranks hold their parts."""
    return write(name, f"""
simulation: {{integrator: {integrator}, dt: {dt}, {steps}}}
environment: {{gravity: [0, -9.81, 0], air_drag: 1.0e-6{wind}}}
bodies:
  - {{name: denim, type: cloth, nodes: [71, 130], origin: [0, 0.001, 0], u: [0.5, 0, 0], v: [0, 0.1, 0.9], pins: [left],
     fabric: denim, velocity: [1, -2, 0.5], damping_ratio: 0.02}}
  - {{name: plain, type: cloth, nodes: [40, 101], origin: [2, 0, 0], u: [1, 0, 0], v: [0, 1, 2], mass: 1,
     spring: {{stiffness: 40, damping: 0.002}}}}
  - {{name: film, {ELASTIC["cloth"].replace("[70, 90]", "[70, 190]").replace("1.3]", "2.7]")}}}
  - {{name: rope, type: rope, from: [0, 1, 0], to: [5, 1, 0], nodes: 5000, mass: 1, pins: [first, last],
     spring: {{stiffness: 100, damping: 0.01}}}}
colliders:
  - {{type: plane, stiffness: 20, friction: 0.01}}
output: {{every: {every}, vtp: true, pc2: true, checkpoint: {{every: {every}}}}}
""")


def case_parts_with_elements_have_the_same_rows():
    """Energies, powers, bounds, frames and checkpoints of elements of which no rank has all nodes."""
    for integrator, precision, ranks in (("symplectic_euler", "single", 3), ("verlet", "mixed", 2),
                                         ("rk4", "double", 4), ("velocity_verlet", "mixed", 5)):
        wind = ", wind: {velocity: [0, 2, 1], coefficient: 0.02}" if integrator == "velocity_verlet" else ""
        path = sheets("sheets.yaml", integrator, wind=wind)
        same_files(path, "--precision", precision, ranks=ranks)
        expect(piece_names(f"folder-{ranks}"), "frames are whole")
    found = start(2, "resume", "folder-5", "--steps", "60", "--quiet", "--hash")  # of the last scene
    expect(found.returncode == 0, found.stderr)
    expect(found.stdout.strip() == hash_of(0, path, "--precision", precision, "--steps", "60"), found.stdout)
    follows = sheets("sheets-auto.yaml", dt="auto", steps="safety: 0.9, duration: 2.0e-3", every=1e-3)
    for ranks, arguments in ((2, ()), (3, ("--precision", "mixed", "--set", "simulation.integrator=rk4"))):
        same_files(follows, *arguments, ranks=ranks)
    if QUICK:
        return
    sheet = """simulation: {{dt: 1.0e-6, steps: 2}}
bodies:
  - {{name: sheet, type: cloth, nodes: [1000, {rows}], u: [5, 0, 0], v: [0, 0, {length}], fabric: denim}}
output: {{every_steps: 2}}
"""
    few, many = (write(f"sheet-{rows}.yaml", sheet.format(rows=rows, length=rows / 200))
                 for rows in (30, 2000))
    arguments = ("--output", "rows", "--force")
    one = peaks(1, "run", many, *arguments)[0] - peaks(1, "run", few, *arguments)[0]
    three = max(peaks(3, "run", many, *arguments)) - max(peaks(3, "run", few, *arguments))
    expect(three < 0.6 * one, f"{three:.1f} of {one:.1f} MiB")


def solids(name, integrator="symplectic_euler", dt="1.0e-5", steps="steps: 20", every=1e-4):
    """Lattices and ropes of materials: blocks of their elements belong to several ranks, and a lattice
    hits the floor. Beside them cloths, with elements that are computed with their springs, and without."""
    return write(name, f"""
simulation: {{integrator: {integrator}, dt: {dt}, {steps}}}
environment: {{gravity: [0, -9.81, 0], air_drag: 1.0e-6}}
bodies:
  - {{name: plain, type: cloth, nodes: [40, 101], origin: [2, 0, 0], u: [1, 0, 0], v: [0, 1, 2], mass: 1,
     spring: {{stiffness: 40, damping: 0.002}}}}
  - {{name: bar, type: lattice, nodes: [66, 18, 40], spacing: 0.01, origin: [0, 0.0001, 3], velocity: [0, -2, 1],
     elastic: {{material: gelatine, poisson: 0.4}}, damping_ratio: 0.02}}
  - {{name: gel, {ELASTIC["gel"]}}}
  - {{name: rope, {ELASTIC["rope"].replace("3001", "9001").replace("[30, 1, 0]", "[90, 1, 0]")}}}
  - {{name: film, {ELASTIC["cloth"].replace("[70, 90]", "[70, 190]").replace("1.3]", "2.7]")}}}
colliders:
  - {{type: plane, stiffness: 20, friction: 0.01}}
output: {{every: {every}, vtp: {{forces: true}}, pc2: true, checkpoint: {{every: {every}}}}}
""")


def case_parts_with_solids_have_the_same_rows():
    """The same of elements that are computed in blocks, of which a rank has some layers."""
    for integrator, precision, ranks in (("symplectic_euler", "single", 2), ("verlet", "mixed", 3),
                                         ("symplectic_euler", "mixed", 8), ("rk4", "double", 4),
                                         ("velocity_verlet", "mixed", 5)):
        path = solids("solids.yaml", integrator)
        same_files(path, "--precision", precision, ranks=ranks)
        expect(piece_names(f"folder-{ranks}"), "frames are whole")
    found = start(2, "resume", "folder-5", "--steps", "30", "--quiet", "--hash")  # of the last scene
    expect(found.returncode == 0, found.stderr)
    expect(found.stdout.strip() == hash_of(0, path, "--precision", precision, "--steps", "30"), found.stdout)
    loops = solids("solids-loops.yaml", "velocity_verlet, keep_velocity: 0.999")
    same_files(loops, ranks=3)
    follows = solids("solids-auto.yaml", dt="auto", steps="safety: 0.9, duration: 2.0e-3", every=1e-3)
    for ranks, arguments in ((2, ()), (3, ("--precision", "mixed", "--set", "simulation.integrator=rk4"))):
        same_files(follows, *arguments, ranks=ranks)
    if QUICK:
        return
    law = "elastic: {material: gelatine, poisson: 0.45}, damping_ratio: 0.02"
    few, many = (write(f"solid-{layers}.yaml", JELLY.format(dt="1.0e-5", steps=2, wide=100, layers=layers, more="",
                                                            wind="", law=law)) for layers in (12, 150))
    arguments = ("--output", "rows", "--force")
    one = peaks(1, "run", many, *arguments)[0] - peaks(1, "run", few, *arguments)[0]
    three = max(peaks(3, "run", many, *arguments)) - max(peaks(3, "run", few, *arguments))
    expect(three < 0.5 * one, f"{three:.1f} of {one:.1f} MiB")


def fragile(name, law):
    """Springs of grids and on no grid are stretched beyond their limits while the run goes on."""
    return write(name, f"""
simulation: {{dt: 1.0e-4, steps: 64}}
environment: {{gravity: [0, -9.81, 0]}}
bodies:
  - {{name: cloth, type: cloth, nodes: [123, 150], origin: [0, 0, 0], u: [1, 0, 0], v: [0, 0, 1],
     mass: 1, pins: [left], drives: [{{nodes: [right], velocity: [30, 1, 0]}}],
     spring: {{stiffness: 500, damping: 0.001, {law}}}}}
  - {{name: net, type: lattice, nodes: [9, 9, 61], spacing: 0.02, origin: [0, 2, 0], mass: 0.5,
     velocity: [0, 0, 0], pins: [bottom], drives: [{{nodes: [top], velocity: [0, 20, 5]}}],
     springs: {{k1: {{stiffness: 500, damping: 0.001, {law}}}, k2: {{stiffness: 100}}}}}}
  - {{name: ball, type: sphere, center: [3, 0, 0], radius: 0.2, subdivisions: 5, mass: 0.3,
     spring: {{stiffness: 50, damping: 0.001, {law}}}, pressure: {{amount: 20, inflate: 0.02}}}}
output: {{every: 1.6e-3, pc2: true, vtp: true}}
""")


FRAGILE = {"breaks": "break_at: 1.02", "yields": "yield_at: 0.01", "both": "break_at: 1.05, yield_at: 0.01"}


def case_one_hash_with_springs_that_break_and_yield():
    for kind, law in FRAGILE.items():
        path = fragile(f"{kind}.yaml", law)
        found = json.loads(start(0, "run", path, "--no-output", "--quiet", "--json").stdout)
        expect(kind == "yields" or found["broken_springs"] > 100, str(found["broken_springs"]))
        assert_one_hash(path, all_ranks=(2, 3, 5))
        assert_one_hash(path, "--precision", "mixed", all_ranks=(4,))
        assert_one_hash(path, "--precision", "double", all_ranks=(8,))


def case_output_with_springs_that_break_and_yield_has_the_same_bytes():
    for kind, law in FRAGILE.items():
        path = fragile(f"{kind}.yaml", law)
        for integrator in EXPLICIT:
            same_files(path, "--set", f"simulation.integrator={integrator}")
        same_files(path, "--precision", "mixed", ranks=5)


def case_checkpoint_with_broken_springs_is_continued():
    path = fragile("both.yaml", FRAGILE["both"])
    shutil.rmtree(os.path.join(FOLDER, "kept"), ignore_errors=True)
    found = start(3, "run", path, "--output", "kept", "--quiet", "--set",
                  "output.checkpoint.every=0.0032")
    expect(found.returncode == 0, found.stderr)
    again = start(0, "resume", "kept", "--steps", "96", "--quiet", "--hash")
    expect(again.returncode == 0, again.stderr)
    expect(again.stdout.strip() == hash_of(0, path, "--steps", "96"), again.stdout)


# Springs of grids break or yield, beside a grid and small bodies whose springs do not: numbers of springs
# that change are others than in sums over all springs.
TEARING = """
simulation: {{integrator: {integrator}, dt: {dt}, steps: {steps}{more}}}
environment: {{gravity: [0, -9.81, 0], air_drag: 1.0e-6{wind}}}
bodies:
  - {{name: plain, type: cloth, nodes: [61, 90], origin: [2, 0, 0], u: [1, 0, 0], v: [0, 0, 2], mass: 1,
     springs: {{structural: {{stiffness: 40, damping: 0.001}}}}, pins: [left], velocity: [0, 2, 1]}}
  - {{name: cloth, type: cloth, nodes: [123, 150], origin: [0, 0, 0], u: [1, 0, 0], v: [0, 0, 1],
     mass: 1, pins: [left], drives: [{{nodes: [right], velocity: [{speed}, 1, 0]}}],
     spring: {{stiffness: 500, damping: 0.001, {law}}}}}
{small}  - {{name: net, type: lattice, nodes: [9, 9, 81], spacing: 0.02, origin: [0, 2, 0], mass: 0.5,
     velocity: [0, 0, 0], pins: [bottom], drives: [{{nodes: [top], velocity: [0, {speed}, 5]}}],
     springs: {{k1: {{stiffness: 500, damping: 0.001, {law}}}, k2: {{stiffness: 100}}}}}}
colliders:
  - {{type: plane, point: [0, -0.0004, 0], {plane}}}
output: {{every: {every}, pc2: true, vtp: {{forces: true}}, probes: [{{body: cloth, node: 9000}}]}}
"""

BESIDE_TEARING = """  - {name: few, type: rope, from: [1, 0.1, 0], to: [1, 0.2, 0], nodes: 3, mass: 0.01, pins: [last],
     spring: {stiffness: 30, damping: 0.001}, velocity: [1, 0, 2]}
  - {name: ball, type: sphere, center: [3, 1, 0], radius: 0.2, subdivisions: 2, mass: 0.3,
     spring: {stiffness: 50, damping: 0.001}}
"""


# Springs of small bodies that break and yield too: they come first among those that do.
TORN_TOO = """  - {{name: few, type: rope, from: [1, 0.1, 0], to: [1, 0.2, 0], nodes: 3, mass: 0.01, pins: [last],
     spring: {{stiffness: 30, damping: 0.001, {law}}}, velocity: [1, 0, {speed}]}}
  - {{name: ball, type: sphere, center: [3, 1, 0], radius: 0.2, subdivisions: 3, mass: 0.3, pins: [3, 77],
     spring: {{stiffness: 50, damping: 0.001, {law}}}, velocity: [0, {speed}, 1]{gas}}}
"""


def tearing(name, law, integrator="symplectic_euler", dt=1e-4, speed=30, steps=48, more="", wind="",
            plane="stiffness: 40", torn=None):
    small_bodies = BESIDE_TEARING
    if torn is not None:
        small_bodies = TORN_TOO.format(law=law, speed=speed / 3, gas=torn)
    return write(name, TEARING.format(integrator=integrator, dt=dt, every=16 * dt if dt != "auto" else 0.002,
                                      law=law, speed=speed, steps=steps, more=more, wind=wind, plane=plane,
                                      small=small_bodies))


def case_parts_with_springs_that_break_and_yield_have_the_same_bytes():
    """Rows, frames, probes and hashes where no rank has the states of all springs."""
    for i, integrator in enumerate(EXPLICIT):
        kind = list(FRAGILE)[i % 3]
        dt = SHORT.get(integrator, 1e-4)
        path = tearing("tearing.yaml", FRAGILE[kind], integrator, dt, speed=30 * 1e-4 / dt)
        precision, ranks = ("single", "mixed", "double")[(i + i // 3) % 3], (3, 2, 4)[i % 3]
        same_files(path, "--precision", precision, ranks=ranks)
        expect(len(piece_names(f"folder-{ranks}")) == 4 * ranks, f"{path}: frames are whole")
        if integrator in SHORT or i > 3:
            continue
        one, several = (json.loads(start(count, "run", path, "--no-output", "--quiet", "--json").stdout)
                        for count in (0, ranks))
        expect(one["broken_springs"] == several["broken_springs"], f"{integrator}: {several['broken_springs']}")
        expect(kind == "yields" or one["broken_springs"] > 100, f"{integrator}: {one['broken_springs']}")
        assert_one_hash(path, all_ranks=(5,))
    path = tearing("tearing.yaml", FRAGILE["both"])
    for ranks, arguments in ((2, ("--set", "output.vtp={springs: true}", "--precision", "mixed")),
                             (5, ("--set", "output.work=false"))):
        same_files(path, *arguments, ranks=ranks)
    # Copies of nodes in a piece have springs of chunks that its rank does not evaluate.
    wide = write("tearing-wide.yaml", f"""
simulation: {{dt: 1.0e-4, steps: 24}}
bodies:
  - {{name: cloth, type: cloth, nodes: [1500, 61], origin: [0, 0, 0], u: [30, 0, 0], v: [0, 0, 1.22], mass: 3,
     drives: [{{nodes: [left], velocity: [0, 30, 20]}}],
     spring: {{rest_length: 0.0199, stiffness: 500, damping: 0.001, break_at: 1.1, yield_at: 0.004}}}}
output: {{every_steps: 12, vtp: true, checkpoint: {{every: 1.2e-3}}}}
""")
    same_files(wide, ranks=3)
    # What projects, and what remembers contacts.
    for plane in ("response: project, restitution: 0.5, friction: 0.001", "stiffness: 40, friction_coefficient: 0.3"):
        same_files(tearing("tearing.yaml", FRAGILE["both"], plane=plane), ranks=3)
        expect(piece_names("folder-3"), f"{plane}: frames are whole")
    # Budgets that take loops over springs; wind; dt that follows the bound of the springs that are left.
    same_files(tearing("tearing.yaml", FRAGILE["both"], "velocity_verlet", more=", keep_velocity: 0.999"), ranks=3)
    windy_air = ", wind: {velocity: [0, 2, 1], coefficient: 0.3}"
    same_files(tearing("tearing.yaml", FRAGILE["both"], "verlet", wind=windy_air), ranks=3)
    expect(piece_names("folder-3"), "wind: frames are whole")


def case_small_bodies_break_and_yield_beside_parts():
    """Their states are known to the rank that has them, and to others where these read them."""
    windy_air = ", wind: {velocity: [0, 2, 1], coefficient: 0.3}"
    for kind, integrator, precision, ranks, more in (
            ("breaks", "verlet", "mixed", 2, {}), ("yields", "rk4", "double", 4, {"torn": ", pressure: {amount: 20}"}),
            ("both", "velocity_verlet", "single", 3, {"more": ", keep_velocity: 0.999"}),
            ("both", "symplectic_euler", "mixed", 4, {"wind": windy_air})):
        path = tearing("torn.yaml", FRAGILE[kind], integrator, **{"torn": "", **more})
        same_files(path, "--precision", precision, "--set", "output.vtp={springs: true}", ranks=ranks)
        expect(piece_names(f"folder-{ranks}"), f"{integrator}: frames are whole")
    assert_one_hash(path, all_ranks=(2, 5))
    # The first chunk has springs of small bodies and of a grid, and some of them break.
    torn, whole = (tearing(f"{name}.yaml", FRAGILE["both"], torn=torn) for name, torn in (("torn", ""), ("whole", None)))
    counts = [json.loads(start(ranks, "run", path, "--no-output", "--quiet", "--json", "--set",
                               "output.work=false").stdout)["broken_springs"]
              for ranks, path in ((0, torn), (3, torn), (0, whole))]
    expect(counts[0] == counts[1] > counts[2] + 5, str(counts))


def case_broken_small_bodies_beside_parts_are_continued():
    for kind, integrator, first, again in (("both", "verlet", 3, 2), ("both", "symplectic_euler", 2, 0),
                                           ("breaks", "symplectic_euler", 0, 3)):
        path = tearing("torn-kept.yaml", FRAGILE[kind], integrator, torn="")
        for ranks, folder in ((0, "whole"), (first, "kept")):
            shutil.rmtree(os.path.join(FOLDER, folder), ignore_errors=True)
            found = start(ranks, "run", path, "--quiet", "--output", folder, "--set",
                          "output.checkpoint.every=0.0032")
            expect(found.returncode == 0, found.stderr)
        compare_folders("whole", "kept", f"{kind}, {first} ranks")
        for ranks, folder in ((0, "whole"), (again, "kept")):
            found = start(ranks, "resume", folder, "--steps", "80", "--quiet")
            expect(found.returncode == 0, found.stderr)
        compare_folders("whole", "kept", f"{kind}, {first} and {again} ranks")


def case_parts_with_springs_that_break_and_yield_follow_the_same_bound():
    for kind, integrator, ranks, torn in (("breaks", "symplectic_euler", 3, None), ("both", "velocity_verlet", 2, None),
                                          ("both", "symplectic_euler", 3, "")):
        path = tearing("tearing-auto.yaml", FRAGILE[kind], integrator, "auto", speed=6, steps=1100, torn=torn)
        with open(os.path.join(FOLDER, path), encoding="utf-8") as file:
            text = file.read()
        write(path, text.replace("every: 0.002", "every_steps: 550"))
        same_files(path, ranks=ranks)
        expect(piece_names(f"folder-{ranks}"), f"{kind}: frames are whole")


def case_parts_with_broken_springs_are_continued():
    """From a checkpoint of ranks with their parts, on other numbers of ranks."""
    project = "response: project, friction: 0.001"
    for kind, integrator, precision, first, again, more in (
            ("both", "verlet", "mixed", 3, 2, {}), ("both", "symplectic_euler", "single", 2, 0, {}),
            ("yields", "rk4", "double", 0, 4, {}), ("breaks", "velocity_verlet", "single", 4, 3, {}),
            ("both", "symplectic_euler", "single", 2, 3, {"plane": project})):
        path = tearing("tearing-kept.yaml", FRAGILE[kind], integrator, **more)
        # Without a budget nothing else has what springs have lost from all ranks.
        work = "true" if kind == "both" else "false"
        arguments = ("--precision", precision, "--set", "output.checkpoint.every=0.0032", "--set",
                     f"output.work={work}")
        for ranks, folder in ((0, "whole"), (first, "kept")):
            shutil.rmtree(os.path.join(FOLDER, folder), ignore_errors=True)
            found = start(ranks, "run", path, "--quiet", "--output", folder, *arguments)
            expect(found.returncode == 0, found.stderr)
        compare_folders("whole", "kept", f"{kind}, {first} ranks")
        for ranks, folder in ((0, "whole"), (again, "kept")):
            found = start(ranks, "resume", folder, "--steps", "80", "--quiet")
            expect(found.returncode == 0, found.stderr)
        compare_folders("whole", "kept", f"{kind}, {first} and {again} ranks")


SOLVED = ["implicit_euler", "implicit_midpoint", "bdf2", "xpbd"]

# Bodies in the bounds of COLLIDERS, of every kind of spring and element, one of them driven, with wind
# and gas.
MIXTURE = """
  - {name: cloth, type: cloth, nodes: [83, 110], origin: [0, 0.05, 0], u: [1, 0, 0], v: [0, 0, 0.9],
     mass: 1, velocity: [0, -1, 0.3], spring: {stiffness: 60, damping: 0.001}, pins: [first]}
  - {name: flag, type: cloth, nodes: [60, 40], origin: [0, 0.8, 0], u: [0.5, 0, 0], v: [0, 0.4, 0],
     pins: [left], elastic: {young: 1.0e+5, poisson: 0.2, density: 1000, thickness: 0.005}}
  - {name: net, type: lattice, nodes: [9, 9, 37], spacing: 0.02, origin: [0.2, 0.03, 0.1], mass: 0.5,
     velocity: [0.5, -3, 0], springs: {k1: {stiffness: 50, damping: 0.001}}}
  - {name: ball, type: sphere, center: [0.8, 0.22, 0.4], radius: 0.2, subdivisions: 4, mass: 0.3,
     velocity: [0, -2, 1], spring: {stiffness: 50, damping: 0.001}, pressure: {amount: 4, inflate: 0.1}}
  - {name: rope, type: rope, from: [0, 1, 0], to: [1, 1, 0], nodes: 3001, mass: 0.1, pins: [first],
     spring: {stiffness: 3000}, drives: [{nodes: [last], velocity: [[0, [0, 1, 0]], [0.002, [0, 0, 1]]]}]}
"""


def mixture(name, integrator, colliders, steps=6, dt=5e-4, extra=""):
    return write(name, f"""
simulation: {{integrator: {integrator}, dt: {dt}, steps: {steps}}}
environment: {{gravity: [0, -9.81, 0], air_drag: 1.0e-6,
  wind: {{velocity: [3, 1, 2], law: quadratic, density: 1.2, drag: 1}}}}
bodies:{MIXTURE}colliders:
{COLLIDERS[colliders]}output: {{every: {2 * dt}, pc2: true, vtp: true{extra}}}
""")


def case_output_of_systems_of_equations_has_the_same_bytes():
    """Of all integrators that solve systems, with everything that is in them."""
    for integrator in SOLVED:
        for kind in COLLIDERS if integrator == "implicit_euler" else ("coulomb", "bounces"):
            path = mixture(f"{integrator}-{kind}.yaml", integrator, kind)
            precision = "mixed" if kind == "coulomb" else "double" if kind == "project" else "single"
            same_files(path, "--precision", precision, ranks=2 if kind == "viscous" else 3)


def case_one_hash_of_systems_of_equations():
    for integrator in SOLVED:
        path = scene("solved.yaml", ["cloth", "lattice", "ball"], integrator, dt=1e-3, steps=2)
        assert_one_hash(path, all_ranks=(3,))
        assert_one_hash(path, "--precision", "mixed", "--set", "output.work=false", all_ranks=(2,))
    assert_one_hash(path, "--set", "simulation.integrator=implicit_midpoint", "--kernel", "packed",
                    "--precision", "double", all_ranks=(2,))


def case_one_hash_of_linear_systems_with_wind():
    """Rows read the nodes of faces of others."""
    for law in ("face", "quadratic", "node"):
        assert_one_hash(windy(f"implicit-{law}.yaml", law, "implicit_euler"), "--set",
                        "simulation.dt=1.0e-3", "--steps", "3", all_ranks=(3,))


def case_one_hash_of_stiff_lines():
    """Rows and columns of stiff cloths, of which ranks have parts, are lines of the preconditioner."""
    path = write("lines.yaml", """
simulation: {integrator: implicit_euler, dt: 1.0e-3, steps: 3}
environment: {gravity: [0, -9.81, 0]}
bodies:
  - {name: soft, type: cloth, nodes: [41, 83], origin: [0, 2, 0], u: [1, 0, 0], v: [0, 0, 1], mass: 1,
     spring: {stiffness: 50}, pins: [left]}
  - {name: both, type: cloth, nodes: [123, 150], origin: [0, 0.001, 0], u: [1, 0, 0], v: [0, 0.3, 1], mass: 1,
     pins: [corners], springs: {structural: {stiffness: 5000, damping: 0.1}, shear: {stiffness: 50}}}
  - {name: rows, type: cloth, nodes: [77, 110], origin: [2, 0.001, 0], u: [1, 0.1, 0], v: [0, 0, 1], mass: 1,
     springs: {structural: {stiffness: 5000, damping: 0.1}, weft: {stiffness: 60}, shear: {stiffness: 50}}}
  - {name: columns, type: cloth, nodes: [75, 112], origin: [4, 0.001, 0], u: [1, 0.1, 0], v: [0, 0, 1], mass: 1,
     springs: {structural: {stiffness: 60}, weft: {stiffness: 5000, damping: 0.1}, shear: {stiffness: 50}}}
  - {name: rope, type: rope, from: [0, 1, 0], to: [5, 1, 0], nodes: 9001, mass: 1, pins: [first, last],
     spring: {stiffness: 3000}}
colliders:
  - {type: plane, response: project}
""")
    assert_one_hash(path, all_ranks=(2, 4, 5))
    assert_one_hash(path, "--set", "simulation.integrator=bdf2", "--precision", "mixed", all_ranks=(3,))
    assert_one_hash(path, "--set", "simulation.implicit.newton=3", "--precision", "double", all_ranks=(2,))


def case_one_hash_of_linear_systems_with_elements():
    for bodies, all_ranks in (("gel",), (2, 3)), (("cloth", "rope"), (2,)), (("sheet", "cloth"), (2,)):
        path = elastic("solved-elastic.yaml", bodies)
        assert_one_hash(path, "--set", "simulation.integrator=implicit_euler", "--set",
                        "simulation.dt=1.0e-3", "--steps", "2", all_ranks=all_ranks)


def case_one_hash_with_full_newton():
    for integrator in ("implicit_euler", "implicit_midpoint"):
        path = scene("newton.yaml", ["cloth", "ball"], integrator, dt=4e-3, steps=3)
        assert_one_hash(path, "--set", "simulation.implicit.newton=4", all_ranks=(3,))


def case_checkpoint_of_systems_of_equations_is_continued():
    for integrator in SOLVED:
        path = mixture("solved-kept.yaml", integrator, "coulomb", steps=8, extra=", checkpoint: {every: 0.001}")
        shutil.rmtree(os.path.join(FOLDER, "kept"), ignore_errors=True)
        for first, again in ((3, 0), (0, 2)):
            found = start(first, "run", path, "--output", "kept", "--quiet", "--threads", "2")
            expect(found.returncode == 0, found.stderr)
            found = start(again, "resume", "kept", "--steps", "12", "--quiet", "--hash")
            expect(found.returncode == 0, found.stderr)
            expect(found.stdout.strip() == hash_of(0, path, "--steps", "12"), found.stdout)
            shutil.rmtree(os.path.join(FOLDER, "kept"))


def case_output_of_systems_of_equations_with_contact_has_the_same_bytes():
    for integrator in SOLVED:
        path = write("solved-contact.yaml", f"""
simulation: {{integrator: {integrator}, dt: 1.0e-3, steps: 40}}
environment: {{gravity: [0, -9.81, 0]}}
bodies:
  - {{name: below, type: cloth, nodes: [40, 60], origin: [0, 0, 0], u: [0.4, 0, 0], v: [0, 0, 0.6],
     mass: 0.2, pins: [corners], spring: {{stiffness: 200, damping: 0.01}}}}
  - {{name: above, type: sphere, center: [0.2, 0.11, 0.3], radius: 0.1, subdivisions: 3, mass: 0.2,
     velocity: [0.3, -1, 0], spring: {{stiffness: 200, damping: 0.01}}}}
contact: {{thickness: 0.005, friction_coefficient: 0.3}}
output: {{every_steps: 10, vtp: {{forces: true}}}}
""")
        same_files(path, ranks=2 if integrator == "xpbd" else 3)


def case_summary_names_ranks():
    path = scene("summary.yaml", ["cloth"])
    found = start(2, "run", path, "--no-output", "--threads", "1")
    expect(re.search(r"^  ranks      2 on 1 machine, .*by \S+.* \d+\.\d+", found.stdout, re.MULTILINE),
           found.stdout)
    results = json.loads(start(2, "run", path, "--no-output", "--quiet", "--json").stdout)
    expect(results["ranks"] == 2 and results["hosts"] == 1 and results["mpi"], str(results))


def case_checkpoint_of_ranks_is_continued_by_one_process():
    """A run that is killed after its checkpoint ends as one that was not interrupted."""
    for integrator in ("symplectic_euler", "verlet", "velocity_verlet"):
        path = scene("long.yaml", ["cloth"], integrator, steps=96)
        extra = ["--set", "output.checkpoint.every=0.00064"]
        shutil.rmtree(os.path.join(FOLDER, "kept"), ignore_errors=True)
        found = start(2, "run", path, "--output", "kept", "--quiet", *extra)
        expect(found.returncode == 0, found.stderr)
        again = start(0, "resume", "kept", "--steps", "128", "--quiet", "--hash")
        expect(again.returncode == 0, again.stderr)
        expect(again.stdout.strip() == hash_of(0, path, "--steps", "128"), again.stdout)


def interrupt(path, folder, ranks, how, checkpoints=1):
    """Ends a run by a signal as soon as it has written so many checkpoints."""
    there = os.path.join(FOLDER, folder)
    shutil.rmtree(there, ignore_errors=True)
    command = [TAUT, "run", path, "--output", folder, "--quiet", "--threads", "1"]
    if ranks:
        command = launcher(ranks) + command
    with subprocess.Popen(command, cwd=FOLDER, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL) as process:
        until = time.monotonic() + LIMIT
        while process.poll() is None and time.monotonic() < until:
            if os.path.isdir(there) and sum(
                    name.startswith("checkpoint") for name in os.listdir(there)) >= checkpoints:
                process.send_signal(how)
                break
            time.sleep(0.005)
        expect(process.wait(timeout=LIMIT) != 0, "the run was not interrupted")


def case_interrupted_run_is_continued_on_several_ranks():
    for kind in ("cloth", "coulomb"):
        extra = {"steps": 800, "dt": 2e-5}
        path = falling("long-coulomb.yaml", kind, **extra) if kind in COLLIDERS else scene(
            "long-cloth.yaml", [kind, "ball"], "velocity_verlet", **extra)
        with open(os.path.join(FOLDER, path), encoding="utf-8") as file:
            text = file.read().replace("every: 0.00032", "every: 0.0064, checkpoint: {every: 0.00128}")
        write(path, text)
        shutil.rmtree(os.path.join(FOLDER, "whole"), ignore_errors=True)
        one = start(0, "run", path, "--output", "whole", "--quiet", "--threads", "1")
        expect(one.returncode == 0, one.stderr)
        whole = files_of("whole")
        for ranks, how, again in ((0, signal.SIGKILL, 3), (2, signal.SIGTERM, 4),
                                  (3, signal.SIGTERM, 0), (2, signal.SIGKILL, 2)):
            interrupt(path, "cut", ranks, how)
            found = start(again, "resume", "cut", "--quiet", "--threads", "1")
            expect(found.returncode == 0, found.stderr)
            files = files_of("cut")
            expect(files.keys() == whole.keys(), str(files.keys()))
            for name, content in whole.items():
                expect(files[name] == content, f"{path}: {ranks}, {again}: {name} differs")


def same_folders(one, other, what):
    first, second = files_of(one), files_of(other)
    expect(first.keys() == second.keys(), f"{what}: {first.keys()} {second.keys()}")
    for name, content in first.items():
        expect(second[name] == content, f"{what}: {name} differs")


def long_parts(name, integrator, friction, steps=800):
    """A scene of which ranks hold only their parts, with checkpoints."""
    path = parts(name, integrator)
    with open(os.path.join(FOLDER, path), encoding="utf-8") as file:
        text = file.read()
    text = re.sub(r"steps: \d+", f"steps: {steps}", text).replace(
        "output: {", "output: {checkpoint: {every: 0.00128}, ")
    if not friction:
        text = text.replace(", friction_coefficient: 0.3", "")
    return write(name, text)


def case_ranks_continue_with_their_parts():
    """Of runs that are killed, on any number of ranks before and after."""
    for integrator, friction, precision, all_ranks in (
            ("symplectic_euler", False, "single", ((0, signal.SIGKILL, 3), (4, signal.SIGTERM, 2))),
            ("verlet", True, "mixed", ((2, signal.SIGKILL, 0), (0, signal.SIGTERM, 2))),
            ("velocity_verlet", False, "double", ((3, signal.SIGKILL, 2),))):
        path = long_parts("long-parts.yaml", integrator, friction, steps=224)
        with open(os.path.join(FOLDER, path), "a", encoding="utf-8") as file:
            file.write(f"precision: {precision}\n")
        shutil.rmtree(os.path.join(FOLDER, "whole"), ignore_errors=True)
        one = start(0, "run", path, "--output", "whole", "--quiet", "--threads", "1")
        expect(one.returncode == 0, one.stderr)
        for ranks, how, again in all_ranks:
            interrupt(path, "cut", ranks, how)
            found = start(again, "resume", "cut", "--quiet", "--threads", "1")
            expect(found.returncode == 0, found.stderr)
            same_folders("whole", "cut", f"{integrator}, {ranks}, {again}")


def spoil(path, how):
    with open(path, "r+b") as file:
        size = file.seek(0, os.SEEK_END)
        if how == "cut off":
            file.truncate(size * 2 // 3)
            return
        file.seek(size * 2 // 3)
        byte = file.read(1)
        file.seek(-1, os.SEEK_CUR)
        file.write(bytes([byte[0] ^ 4]))


def case_ranks_take_the_older_checkpoint_together():
    path = long_parts("spoiled.yaml", "symplectic_euler", False, steps=1024)
    shutil.rmtree(os.path.join(FOLDER, "whole"), ignore_errors=True)
    one = start(0, "run", path, "--output", "whole", "--quiet", "--threads", "1")
    expect(one.returncode == 0, one.stderr)
    for how in ("cut off", "altered"):
        interrupt(path, "cut", 3, signal.SIGKILL, 2)
        time.sleep(1)  # the ranks end after mpirun
        kept = sorted(name for name in files_of("cut") if name.startswith("checkpoint"))
        expect(len(kept) == 2, str(kept))
        spoil(os.path.join(FOLDER, "cut", kept[1]), how)
        said = []
        for ranks in (0, 3):
            shutil.rmtree(os.path.join(FOLDER, "copy"), ignore_errors=True)
            shutil.copytree(os.path.join(FOLDER, "cut"), os.path.join(FOLDER, "copy"))
            found = start(ranks, "resume", "copy", "--quiet", "--threads", "1")
            expect(found.returncode == 0, found.stderr)
            same_folders("whole", "copy", f"{how}, {ranks}")
            said.append(complaints(found.stderr))
        expect(said[0] == said[1] and len(said[0]) == 1 and how in said[0][0], str(said))
        # Neither of them.
        spoil(os.path.join(FOLDER, "cut", kept[0]), how)
        one, three = start(0, "resume", "cut"), start(3, "resume", "cut")
        expect(three.returncode == one.returncode != 0, three.stderr)
        expect(complaints(three.stderr) == complaints(one.stderr), three.stderr)


def case_checkpoint_that_one_rank_cannot_read_is_one_message():
    """Rank 1 has another file there, of which a chunk of its own nodes is altered, and then none."""
    path = long_parts("spoiled.yaml", "symplectic_euler", False, steps=128)
    shutil.rmtree(os.path.join(FOLDER, "kept"), ignore_errors=True)
    found = start(2, "run", path, "--output", "kept", "--quiet", "--threads", "1")
    expect(found.returncode == 0, found.stderr)
    script = write("other.sh", '#!/bin/sh\n[ "$OMPI_COMM_WORLD_RANK" = 1 ] || exec "$@"\n'
                               "exec unshare -m sh -c 'mount --bind other kept && exec \"$@\"' sh \"$@\"\n")
    os.chmod(os.path.join(FOLDER, script), 0o755)
    tried = subprocess.run(["unshare", "-m", "true"], check=False, stderr=subprocess.DEVNULL)
    if tried.returncode != 0:
        raise Skipped("this machine allows no mounts of a process's own")
    name = sorted(name for name in files_of("kept") if name.startswith("checkpoint"))[-1]
    for message in ("has been altered", "cannot read"):
        shutil.rmtree(os.path.join(FOLDER, "other"), ignore_errors=True)
        shutil.copytree(os.path.join(FOLDER, "kept"), os.path.join(FOLDER, "other"))
        if message == "cannot read":
            os.remove(os.path.join(FOLDER, "other", name))
        else:
            spoil(os.path.join(FOLDER, "other", name), "altered")
        found = subprocess.run([*launcher(2, "-q"), "./" + script, TAUT, "resume", "kept", "--threads", "1",
                                "--quiet", "--steps", "160"], cwd=FOLDER, timeout=LIMIT, text=True,
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               check=False)
        lines = complaints(found.stderr)
        expect(found.returncode == 1 and len(lines) == 1 and "rank 1 of 2" in lines[0] and
               message in lines[0], f"{found.returncode}: {found.stderr}")


def apart_on_rank_1():
    """The name of a script that runs its arguments, on rank 1 with a file system of its own in `apart`."""
    shutil.rmtree(os.path.join(FOLDER, "apart"), ignore_errors=True)
    os.makedirs(os.path.join(FOLDER, "apart"))
    script = write("apart.sh", '#!/bin/sh\n[ "$OMPI_COMM_WORLD_RANK" = 1 ] || exec "$@"\n'
                               "exec unshare -m sh -c 'mount -t tmpfs none apart && mkdir apart/o && "
                               'exec "$@"\' sh "$@"\n')
    os.chmod(os.path.join(FOLDER, script), 0o755)
    tried = subprocess.run(["unshare", "-m", "true"], check=False, stderr=subprocess.DEVNULL)
    if tried.returncode != 0:
        raise Skipped("this machine allows no mounts of a process's own")
    return script


def case_checkpoint_that_one_rank_cannot_write_is_one_message():
    """A limit for files as if the disk of one rank was full, and a file system of its own of rank 1."""
    path = long_parts("unwritten.yaml", "symplectic_euler", False, steps=96)
    with open(os.path.join(FOLDER, path), "a", encoding="utf-8") as file:
        file.write("precision: mixed\n")  # of positions rank 1 has a chunk, too
    script = write("small.sh", '#!/bin/sh\n[ "$OMPI_COMM_WORLD_RANK" = "$LIMITED" ] && ulimit -f 900\n'
                               'exec "$@"\n')
    os.chmod(os.path.join(FOLDER, script), 0o755)
    for rank in (0, 1):
        shutil.rmtree(os.path.join(FOLDER, "full"), ignore_errors=True)
        found = subprocess.run([*launcher(2, "-q", "-x", f"LIMITED={rank}"), "./" + script, TAUT, "run", path,
                                "--output", "full", "--quiet", "--threads", "1"], cwd=FOLDER, text=True,
                               timeout=LIMIT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, check=False)
        said = [line for line in complaints(found.stderr) if "no checkpoint at step 64" in line]
        expect(len(said) == 1 and "File too large" in said[0], found.stderr)
        names = os.listdir(os.path.join(FOLDER, "full"))
        expect(not any(name.startswith("checkpoint") or name.startswith(".taut") for name in names), str(names))

    script = apart_on_rank_1()
    found = subprocess.run([*launcher(2, "-q"), "./" + script, TAUT, "run", path, "--threads", "1", "--quiet",
                            "--output", "apart/o"], cwd=FOLDER, timeout=LIMIT, text=True,
                           stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, check=False)
    said = [line for line in complaints(found.stderr) if "no checkpoint at step 64" in line]
    expect(len(said) == 1 and "rank 1 does not find" in said[0] and "share" in said[0], found.stderr)


def case_a_resumed_rank_has_memory_for_its_part():
    if QUICK:
        raise Skipped("sanitizers take memory of their own")
    path = lattice(288)
    extra = ("--set", "output.checkpoint.every=5.0e-5")
    for ranks in (1, 2, 3):
        shutil.rmtree(os.path.join(FOLDER, "kept"), ignore_errors=True)
        run = max(peaks(ranks, "run", path, "--output", "kept", "--quiet", *extra))
        again = max(peaks(ranks, "resume", "kept", "--quiet", "--steps", "4"))
        expect(again < 1.1 * run, f"{ranks} ranks: {again:.1f} MiB, a run {run:.1f} MiB")


def case_finished_run_is_prolonged_on_several_ranks():
    path = scene("prolonged.yaml", ["cloth"], "verlet", steps=64)
    for ranks in (0, 3):
        extra = ["--set", "output.checkpoint.every=0.00064"]
        shutil.rmtree(os.path.join(FOLDER, "kept"), ignore_errors=True)
        expect(start(0, "run", path, "--output", "kept", "--quiet", *extra).returncode == 0, path)
        found = start(ranks, "resume", "kept", "--steps", "96", "--quiet", "--hash")
        expect(found.returncode == 0, found.stderr)
        expect(found.stdout.strip() == hash_of(0, path, "--steps", "96"), found.stdout)


def case_resume_of_what_cannot_be_is_one_message():
    one, three = start(0, "resume", "nowhere"), start(3, "resume", "nowhere")
    expect(three.returncode == one.returncode != 0, three.stderr)
    expect(complaints(three.stderr) == complaints(one.stderr), three.stderr)
    path = scene("complete.yaml", ["cloth"])
    expect(start(0, "run", path, "--output", "complete", "--quiet").returncode == 0, path)
    found = start(3, "resume", "complete")
    expect(found.returncode == 0 and "is complete" in found.stderr, found.stderr)


def case_what_is_not_possible_is_refused():
    base = scene("refused.yaml", ["cloth"])
    for key, arguments in {
            "--kernel reference": [base, "--kernel", "reference"],
            "--kernel coloured": [scene("ball.yaml", ["ball"]), "--kernel", "coloured"]}.items():
        found = start(2, "run", *arguments, "--no-output", "--quiet")
        expect(found.returncode == 2, f"{key}: {found.returncode} {found.stderr}")
        lines = complaints(found.stderr)
        expect(len(lines) == 1 and f": {key}: " in lines[0], f"{key}: {found.stderr}")


def case_divergence_is_one_message():
    path = scene("diverges.yaml", ["cloth", "ball"], dt=1e-3, steps=200)
    one = start(0, "run", path, "--no-output", "--quiet")
    three = start(3, "run", path, "--no-output", "--quiet")
    expect(one.returncode == 1 and "diverged" in one.stderr, one.stderr)
    expect(complaints(three.stderr) == complaints(one.stderr), three.stderr)


def case_a_diverged_run_has_the_rows_of_one_process():
    """What is written does not depend on the pauses between steps, which the clock decides: two nodes are
    thrown from wall to wall, and at rest after every second step, beside a rope of all ranks."""
    path = write("thrown.yaml",
                 "precision: double\nsimulation: {integrator: explicit_euler, dt: 0.001, steps: 24}\n"
                 "environment: {gravity: [0, 0, 0]}\nbodies:\n"
                 "  - {name: two, type: rope, from: [-0.5, 0, 0], to: [0.5, 0, 0], nodes: 2, mass: 0.002, "
                 "springs: {chain: {stiffness: 1e9, rest_length: 0.99}}}\n"
                 "  - {name: rope, type: rope, from: [-0.5, 0, 0.5], to: [0.5, 0, 0.5], nodes: 9000, "
                 "mass: 1, springs: {chain: {stiffness: 1}}}\n"
                 "colliders:\n  - {type: room, min: [-1, -1, -1], max: [1, 1, 1], response: project, "
                 "restitution: 0}\n"
                 "output: {every_steps: 2, pc2: true, probes: [{body: two, node: last, every_steps: 2}]}\n")
    one = start(0, "run", path, "--threads", "1", "--quiet", "--output", "thrown-1")
    expect(one.returncode == 1 and "(step 16)" in one.stderr, one.stderr)
    expect(len(files_of("thrown-1")["probes.csv"].splitlines()) == 9, "rows of one process")
    for ranks in (2, 3, 5):
        found = start(ranks, "run", path, "--threads", "1", "--quiet", "--output", f"thrown-{ranks}")
        expect(found.returncode == 1, str(found.returncode))
        expect(complaints(found.stderr)[0] == complaints(one.stderr)[0], found.stderr)
        compare_folders("thrown-1", f"thrown-{ranks}", f"{ranks} ranks")


def case_info_shows_parts_without_processes():
    path = scene("parts.yaml", ["cloth"])
    found = json.loads(start(0, "info", path, "--json", "--ranks", "4").stdout)
    expect([part["peers"] for part in found["ranks"]] == [1, 2, 2, 1], str(found["ranks"]))
    expect(sum(part["nodes"] for part in found["ranks"]) == 150 * 160, str(found["ranks"]))
    expect(start(4, "info", path).stdout == start(0, "info", path, "--ranks", "4").stdout, "table")


def case_killed_rank_ends_all():
    path = scene("killed.yaml", ["cloth"], steps=100000000)
    with subprocess.Popen([*launcher(3), TAUT, "run",
                           path, "--no-output", "--quiet"], cwd=FOLDER, text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE) as process:
        ranks = []
        until = time.monotonic() + 30
        while len(ranks) < 3 and time.monotonic() < until:
            time.sleep(0.3)
            listed = subprocess.run(["ps", "--ppid", str(process.pid), "-o", "pid="], text=True,
                                    stdout=subprocess.PIPE, check=False).stdout.split()
            ranks = [int(pid) for pid in listed]
        time.sleep(1)
        expect(len(ranks) == 3, str(ranks))
        began = time.monotonic()
        os.kill(ranks[-1], signal.SIGKILL)
        try:
            _, errors = process.communicate(timeout=30)
        finally:
            process.kill()
        expect(time.monotonic() - began < 20, "it took too long")
        expect(process.returncode != 0 and "signal 9" in errors, errors)


def namespaces_of_tool():
    listed = subprocess.run(["ip", "netns"], text=True, stdout=subprocess.PIPE, check=False).stdout
    return {line.split()[0] for line in listed.splitlines()}


def case_one_hash_over_a_network():
    """Two ranks in two network namespaces; nothing is left of them, also after a signal."""
    tool = os.path.join(SOURCE, "tools", "namespaces.py")
    path = scene("network.yaml", ["cloth"], steps=32)
    found = subprocess.run([tool, TAUT, path, "--rounds", "1", "--json", "network.json"], cwd=FOLDER,
                           text=True, timeout=LIMIT, stdin=subprocess.DEVNULL,
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    if found.returncode == 77:
        raise Skipped(found.stderr.strip())
    expect(found.returncode == 0, found.stdout + found.stderr)
    with open(os.path.join(FOLDER, "network.json"), encoding="utf-8") as file:
        expect(set(json.load(file)["hashes"]) == {hash_of(0, path)}, found.stdout)

    endless = scene("endless.yaml", ["cloth"], steps=100000000)
    before = namespaces_of_tool()
    with subprocess.Popen([tool, TAUT, endless], cwd=FOLDER, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            expect(process.stdout.readline().startswith("link: "), "it has not begun")
            mine = {name for name in namespaces_of_tool() - before if str(process.pid) in name}
            expect(len(mine) == 2, str(mine))
            process.send_signal(signal.SIGTERM)
            _, errors = process.communicate(timeout=30)
        finally:
            process.kill()
    expect(process.returncode == 1 and "SIGTERM" in errors, errors)
    expect(not mine & namespaces_of_tool(), f"left: {mine}")


def case_command_for_one_rank_is_refused():
    found = start(2, "stability", os.path.join(SOURCE, "scenes", "flag.yaml"))
    expect(found.returncode == 2, str(found.returncode))
    expect(len(complaints(found.stderr)) == 1 and "several ranks" in found.stderr, found.stderr)


def bench(ranks, *arguments):
    """(The exit code, the JSON or None, what taut-bench complains about.)"""
    program = os.path.join(os.path.dirname(TAUT), "taut-bench")
    if not os.path.exists(program):
        raise Skipped("taut-bench is not built: Google Benchmark is missing")
    found = subprocess.run([*launcher(ranks),
                            program, *arguments], cwd=FOLDER, timeout=LIMIT, text=True,
                           stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, check=False)
    lines = [line for line in found.stderr.splitlines() if line.startswith("taut-bench: ")]
    return found.returncode, json.loads(found.stdout) if found.stdout else None, lines


def case_steps_are_measured_on_several_ranks():
    """Several benchmarks after each other: a body whose parts all have whole, and one in parts."""
    few = ("--threads", "1", "--json", "--benchmark_repetitions=2", "--benchmark_min_time=0.001",
           "--benchmark_min_warmup_time=0")
    code, result, lines = bench(3, "cloth", "ball", "--springs", "30000", *few)
    expect(code == 0 and not lines, f"{code}: {lines}")
    expect(result["context"]["ranks"] == "3" and "MPI" in result["context"]["mpi"],
           str(result["context"]))
    rows = [row for row in result["benchmarks"] if row["run_type"] == "iteration"]
    names = {row["name"] for row in rows}
    expect(len(rows) == 8 and len(names) == 4, str(names))
    for row in rows:
        expect(re.fullmatch(r"step/(cloth|ball)/\w+/single/\w+/threads:1/springs:30000/ranks:3/"
                            "manual_time", row["name"]), row["name"])
        rate = row["node_updates/s"] / row["spring_updates/s"]
        expect(abs(rate * row["springs"] / row["nodes"] - 1) < 1e-6, str(row))


def case_benchmarks_that_cannot_be_are_one_message():
    code, _, lines = bench(2, "cloth", "--suite", "scaling")
    expect(code == 2 and len(lines) == 1 and "--suite steps" in lines[0], str(lines))
    code, _, lines = bench(2, "nothing")
    expect(code == 2 and len(lines) == 1 and "'nothing'" in lines[0], str(lines))
    code, result, _ = bench(2, "cloth", "--kernel", "reference", "--json",
                            "--benchmark_repetitions=1")
    expect(code == 1 and all("reference" in row["error_message"] for row in result["benchmarks"]),
           str(result))
    found = start(2, "bench", "cloth", "--suite", "stages")
    expect(found.returncode == 2 and found.stderr.count("--suite steps") == 1, found.stderr)


def case_ranks_that_run_differently_are_one_message():
    """As where a file or an option differs between machines: not a run that never ends."""
    path = scene("differ.yaml", ["cloth"])
    for options in (["--steps", "7"], ["--duration", "0.0005"], ["--set", "output.work=false"]):
        command = ["run", path, "--threads", "1", "--quiet", "--no-output"]
        found = subprocess.run([*launcher(1, "-q"),
                                TAUT, *command, ":", "-n", "1", TAUT, *command, *options],
                               cwd=FOLDER, timeout=LIMIT, text=True, stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        lines = complaints(found.stderr)
        expect(found.returncode != 0 and len(lines) == 1 and "rank 1" in lines[0],
               f"{options}: {found.returncode}, {found.stderr}")


def start_apart(*arguments):
    """The finished process of `taut ARGUMENTS` on two ranks, each in a folder of its own, r0 and r1."""
    script = write("in-own.sh", '#!/bin/sh\ncd "r$OMPI_COMM_WORLD_RANK" && exec "$@"\n')
    os.chmod(os.path.join(FOLDER, script), 0o755)
    return subprocess.run([*launcher(2, "-q"), "./" + script, TAUT, *arguments, "--threads", "1",
                           "--quiet", "--hash"], cwd=FOLDER, timeout=LIMIT, text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, check=False)


def write_apart(name, *texts):
    for rank, text in enumerate(texts):
        os.makedirs(os.path.join(FOLDER, f"r{rank}"), exist_ok=True)
        write(os.path.join(f"r{rank}", name), text)


def launched(body, more="", steps=40, velocity="[0, 0, 0]"):
    return (f"simulation: {{dt: 2e-5, steps: {steps}}}\nbodies:\n"
            f"  - {{name: {body}, {SHAPES[body]}, mass: 1, velocity: {velocity}}}\n{more}")


NET = """simulation: {dt: 1e-4, steps: 10}
bodies:
  - {name: net, type: network, nodes: [[0, 0, 0], [1, 0, 0]], velocities: [[0, 0, 0], [0, 1, 0]],
     node_mass: 1, stiffness: 10, springs: [[0, 1]]}
"""


def case_ranks_that_start_differently_are_one_message():
    """Files that differ in what is no part of the model: velocities, the initial state, the time."""
    def expect_refused(texts, why):
        write_apart("s.yaml", *texts)
        found = start_apart("run", "s.yaml", "--no-output")
        lines = complaints(found.stderr)
        expect(found.returncode == 2 and len(lines) == 1 and not found.stdout and
               lines[0].startswith(f"taut: s.yaml: rank 1 {why} "), f"{found.returncode}: {found}")

    start_of, time = "starts from another state than rank 0", "runs the scene for another time than rank 0,"
    for body in ("cloth", "ball"):  # in parts, and whole on all ranks
        expect_refused((launched(body), launched(body, velocity="[0, 1, 0]")), start_of)
        expect_refused((launched(body, velocity="[0, 1, 0]"), launched(body)), start_of)
    expect_refused((launched("cloth"), launched("cloth", steps=41)), time)
    touching_at_start = launched("cloth", "contact: {thickness: 0.001, existing: refuse}\n", steps=4)
    expect_refused((touching_at_start, touching_at_start.replace("refuse", "relax")), start_of)
    expect_refused((NET, NET.replace("[0, 1, 0]]", "[0, 1.5, 0]]")), start_of)

    for body in ("cloth", "ball"):
        whole = write("whole-start.yaml", launched(body))
        one = start(0, "run", whole, "--no-output", "--quiet", "--state", "state.csv")
        expect(one.returncode == 0, one.stderr)
        with open(os.path.join(FOLDER, "state.csv"), encoding="utf-8") as file:
            state = file.read()
        rows = state.splitlines()
        text = launched(body, "initial: i.csv\n")
        for column in (3, 6):  # a position, a velocity
            fields = rows[8000].split(",")
            fields[column] = str(float(fields[column]) + 0.0001)
            write_apart("i.csv", state, "\n".join([*rows[:8000], ",".join(fields), *rows[8001:]]) + "\n")
            expect_refused((text, text), start_of)
        write_apart("i.csv", state, state)
        expect_refused((text, launched(body)), start_of)
        write_apart("s.yaml", text, text)
        same = start_apart("run", "s.yaml", "--no-output")
        expect(same.returncode == 0, same.stderr)
        expect(same.stdout.strip() == hash_of(0, "r0/s.yaml"), same.stdout)


def case_ranks_resume_whatever_a_run_started_from():
    """Another velocity and 'initial' in the scene of rank 1, neither of which a checkpoint needs."""
    text = launched("ball", "output: {checkpoint: {every: 4e-4}}\n")
    whole = write("whole-start.yaml", text)
    shutil.rmtree(os.path.join(FOLDER, "kept-start"), ignore_errors=True)
    one = start(0, "run", whole, "--output", "kept-start", "--quiet")
    expect(one.returncode == 0, one.stderr)
    for rank in (0, 1):
        folder = os.path.join(FOLDER, f"r{rank}", "kept")
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(os.path.join(FOLDER, "kept-start"), folder)
    write("r1/kept/i.csv", "none\n")
    write("r1/kept/scene.yaml",
          text.replace("velocity: [0, 0, 0]", "velocity: [0, 1, 0]") + "initial: i.csv\n")
    found = start_apart("resume", "kept", "--steps", "60")
    expect(found.returncode == 0, found.stderr)
    expect(found.stdout.strip() == hash_of(0, whole, "--steps", "60"), found.stdout)


def case_ranks_that_resume_differently_are_one_message():
    """Rank 1 has a checkpoint of the same scene and step that went another way, or of another step."""
    for body in ("cloth", "ball"):  # in parts, and whole on all ranks
        text = launched(body, "output: {checkpoint: {every: 4e-4}}\n")
        for name, velocity in (("r0/kept", "[0, 0, 0]"), ("r1/kept", "[0, 1, 0]")):
            shutil.rmtree(os.path.join(FOLDER, name), ignore_errors=True)
            path = write("moving.yaml", text.replace("velocity: [0, 0, 0]", f"velocity: {velocity}"))
            one = start(0, "run", path, "--output", name, "--quiet")
            expect(one.returncode == 0, one.stderr)
        other = os.path.join(FOLDER, "r1", "kept")
        shutil.copy(os.path.join(FOLDER, "r0", "kept", "scene.yaml"), other)

        def expect_refused():
            found = start_apart("resume", "kept", "--steps", "60")
            lines = complaints(found.stderr)
            expect(found.returncode == 2 and len(lines) == 1 and not found.stdout and
                   " rank 1 has another checkpoint of that name than rank 0: " in lines[0],
                   f"{found.returncode}: {found}")

        expect_refused()
        shutil.rmtree(os.path.join(FOLDER, "earlier"), ignore_errors=True)
        one = start(0, "run", "moving.yaml", "--output", "earlier", "--quiet", "--steps", "20")
        expect(one.returncode == 0, one.stderr)
        earlier, newest = (os.path.join(FOLDER, folder, name) for folder in ("earlier", "r1/kept")
                           for name in os.listdir(os.path.join(FOLDER, folder))
                           if name.startswith("checkpoint"))
        shutil.copy(earlier, newest)
        expect_refused()


def case_folder_that_ranks_do_not_share_is_one_message():
    """Rank 1 has a file system of its own there."""
    path = write("own.yaml",
                 "simulation: {dt: 2e-5, steps: 32}\nbodies:\n"
                 "  - {name: a, type: cloth, u: [1, 0, 0], v: [0, 0, 1], nodes: [64, 256], mass: 1, "
                 "springs: {structural: {stiffness: 40}}}\noutput: {every_steps: 16, vtp: true}\n")
    script = apart_on_rank_1()
    found = subprocess.run([*launcher(2, "-q"),
                            "./" + script, TAUT, "run", path, "--threads", "1", "--quiet",
                            "--output", "apart/o"], cwd=FOLDER, timeout=LIMIT, text=True,
                           stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, check=False)
    lines = [line for line in complaints(found.stderr) if "share" in line]
    expect(found.returncode == 1 and len(lines) == 1 and "rank 1" in lines[0],
           f"{found.returncode}: {found.stderr}")


def main():
    shutil.rmtree(FOLDER, ignore_errors=True)
    os.makedirs(FOLDER)
    cases = [(name[len("case_"):], function) for name, function in globals().items()
             if name.startswith("case_") and (not sys.argv[3:] or name[len("case_"):] in sys.argv[3:])]
    print(f"[==========] Running {len(cases)} test(s).")
    failed = 0
    for name, function in cases:
        print(f"[ RUN      ] {name}", flush=True)
        try:
            function()
            print(f"[       OK ] {name}", flush=True)
        except Skipped as error:
            print(error)
            print(f"[  SKIPPED ] {name}", flush=True)
        except (AssertionError, OSError, subprocess.SubprocessError) as error:
            failed += 1
            print(f"{type(error).__name__}: {error}")
            print(f"[  FAILED  ] {name}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
