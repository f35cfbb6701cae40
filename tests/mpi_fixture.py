"""What the cases of several ranks share (test_mpi.py): starting `taut` on ranks, scenes, comparisons."""
import json
import os
import random
import re
import shutil
import subprocess
import sys

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


# dt of the integrators with which no longer step of the stiff rope is stable.
SHORT = {"explicit_euler": 1e-7, "midpoint": 1e-7}
EXPLICIT = ["explicit_euler", "symplectic_euler", "verlet", "velocity_verlet", "midpoint", "rk4"]


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


# Each of these is whole on some rank, one after another or with grids between them; tiles of packed springs and
# chunks of sums have springs of several.
MANY = """
simulation: {{integrator: {integrator}, dt: {dt}, steps: {steps}{more}}}
environment: {{gravity: [0, -9.81, 0], air_drag: 1.0e-6{wind}}}
bodies:
{bodies}colliders:
  - {{type: plane, {plane}}}
output: {{every_steps: {every}, pc2: true, vtp: {{springs: true, forces: true}}, probes: [{{body: body5, node: 7}},
  {{body: body23, node: last}}]}}
"""


def many_bodies(grids, law, slack):
    """Spheres with and without gas and rings of many sizes; `law` of the springs of each third of them."""
    text, tension = "", ", law: tension_only, rest_length: 0.05" if slack else ""
    for i in range(64):
        spring = f"spring: {{stiffness: {50 + i}, damping: 0.001{law if i % 3 == 0 else ''}{tension}}}"
        gas = f", pressure: {{amount: {3 + i % 3}, gamma: 1.4, inflate: 1.0e-3}}" if i % 5 == 1 else ""
        if i % 6 == 3:
            shape = f"type: ring, nodes: {20 + 7 * i}"
        else:
            shape = f"type: sphere, subdivisions: {2 + (i % 5 > 0)}"
        text += (f"  - {{name: body{i}, {shape}, center: [{i % 7}, {0.15 + 0.1 * (i % 5)}, {i // 7}], radius: 0.2, "
                 f"mass: {0.1 + 0.01 * (i % 4)}, velocity: [0, -2, 1], {spring}{gas}}}\n")
        if grids and i % 12 == 5:
            text += (f"  - {{name: cloth{i}, type: cloth, nodes: [{50 + i}, 70], origin: [{i}, 2, 0], u: [1, 0, 0], "
                     "v: [0, 0, 1.2], mass: 1, pins: [corners], "
                     f"spring: {{stiffness: 300, damping: 0.001{law if i == 17 else ''}}}}}\n")
        if grids and i == 30:
            text += ("  - {name: block, type: lattice, nodes: [6, 7, 40], spacing: 0.02, origin: [0, 0.001, 2], "
                     "mass: 0.5, velocity: [0.5, -3, 0], springs: {k1: {stiffness: 50, damping: 0.001}}, "
                     "pressure: {amount: 4, inflate: 0.02}}\n")
    return text


def many(name, integrator="symplectic_euler", dt=2e-5, steps=48, every=16, grids=False, law="", wind="",
         plane="stiffness: 40", more="", slack=False):
    return write(name, MANY.format(integrator=integrator, dt=dt, steps=steps, every=every, wind=wind, plane=plane,
                                   more=more, bodies=many_bodies(grids, law, slack)))


# Large bodies on no grid, of which each rank has some nodes, in another order than the scene has them: a sphere, a
# sheet of triangles whose points are shuffled, a network whose springs reach far, and a ring; and a small one.
LARGE = """
simulation: {{integrator: {integrator}, dt: {dt}, steps: {steps}{more}}}
environment: {{gravity: [0, -9.81, 0], air_drag: 1.0e-6{wind}}}
bodies:
  - {{name: sphere, type: sphere, center: [0, 0.22, 1], radius: 0.2, subdivisions: 5, mass: 0.7, velocity: [0, -2, 1],
     spring: {{stiffness: 80, damping: 0.001{law}}}{gas}}}
  - {{name: small, type: sphere, center: [2, 1, 1], radius: 0.2, subdivisions: 3, mass: 0.3, pins: [3, 77],
     spring: {{stiffness: 50, damping: 0.001{law}}}{gas}}}
  - {{name: sheet, type: mesh, file: shuffled.obj, translate: [1.3, 0, 0], mass: 0.3, velocity: [0, -1, 0],
     springs: {{edges: {{stiffness: 60, damping: 0.001{law}}}, bend: {{stiffness: 4}}}},
     drives: [{{nodes: [5, 700], velocity: [[0, [0.2, 1, 0]], [5.0e-4, [0, -1, 0.3]]]}}]}}
  - {{name: net, type: network, nodes_file: far.nodes.csv, springs_file: far.springs.csv}}
  - {{name: ring, type: ring, center: [0, 0.22, 0], radius: 0.2, nodes: 3000, mass: 0.3,
     spring: {{stiffness: 50, damping: 0.001{law}}}{gas}}}
{beside}colliders:
  - {{type: plane, point: [0, 0.02, 0], {plane}}}
output: {{every_steps: {every}, pc2: true, vtp: {{springs: true, forces: true}}, probes: [{{body: sphere, node: 7}},
  {{body: net, node: last}}]}}
"""


def far_network(nodes=2500):
    """Points in a cube with springs to some that are near, and to some anywhere."""
    points = random.Random(5)
    at = [[points.random(), 0.05 + points.random(), 2 + points.random()] for _ in range(nodes)]
    by_x = sorted(range(nodes), key=lambda i: at[i])
    pairs = {(by_x[i], by_x[min(nodes - 1, i + points.randint(1, 1200 if points.random() < 0.05 else 30))])
             for i in range(nodes - 1) for _ in range(3)}
    write("far.nodes.csv", "x,y,z,mass\n" + "".join(f"{x:.6f},{y:.6f},{z:.6f},{1e-4 * (1 + i % 3):.4g}\n"
                                                   for i, (x, y, z) in enumerate(at)))
    write("far.springs.csv", "a,b,stiffness,damping\n" + "".join(f"{a},{b},{2 + a % 5},1.0e-4\n"
                                                                for a, b in sorted(pairs, key=lambda p: p[1] % 77)))


def large(name, integrator="symplectic_euler", dt=2e-5, steps=48, every=16, law="", wind="", gas="", beside="",
          plane="stiffness: 40", more=""):
    order = list(range(60 * 70))
    random.Random(3).shuffle(order)
    grid_mesh("sheet.obj", 60, 70, lambda i, j: (0.01 * i, 0.05 + 0.02 * ((i // 7) % 2), 0.01 * j))
    with open(os.path.join(FOLDER, "sheet.obj"), encoding="utf-8") as file:
        lines = file.read().splitlines()
    points = [line for line in lines if line.startswith("v")]
    shuffled = [None] * len(points)
    for i, point in enumerate(points):
        shuffled[order[i]] = point
    faces = [" ".join(["f", *(str(order[int(corner) - 1] + 1) for corner in line.split()[1:])])
             for line in lines if line.startswith("f")]
    write("shuffled.obj", "\n".join(shuffled + faces) + "\n")
    far_network()
    return write(name, LARGE.format(integrator=integrator, dt=dt, steps=steps, every=every, law=law, wind=wind,
                                    gas=gas, beside=beside, plane=plane, more=more))


def piece_names(folder):
    return sorted(name for name in os.listdir(os.path.join(FOLDER, folder))
                  if re.search("_[0-9]{6}_[0-9]{4}.vtp$", name))


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


def compare_peaks(dt, steps, wide, arguments, more="", after="", beside="", law="", wind="", gas="",
                  whole=0):
    """What the nodes of a lattice take, beside what a process takes without them; `whole`: MiB that every rank has."""
    springs = "mass: 1, springs: {k1: {stiffness: 10, damping: 1.0e-4" + law + "}, k2: {stiffness: 5}}" + gas
    few, many = (write(f"lattice-{layers}.yaml",
                       JELLY.format(dt=dt, steps=steps, wide=wide, layers=layers, more=more, wind=wind,
                                    law=springs).replace("output:", beside + "output:") + after)
                 for layers in (12, 288))
    one = peaks(1, "run", many, *arguments)[0] - peaks(1, "run", few, *arguments)[0]
    for ranks in (2, 3):
        base = max(peaks(ranks, "run", few, *arguments))
        most = max(peaks(ranks, "run", many, *arguments)) - base
        expect(most < 1.3 * one / ranks + whole,
               f"{ranks} ranks: {most:.1f} of {one:.1f} MiB, {dt} {more} {arguments}")


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
    """Bodies whose nodes do not fill blocks and chunks, so that ranks share some of these."""
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


def start_apart(*arguments):
    """The finished process of `taut ARGUMENTS` on two ranks, each in a folder of its own, r0 and r1."""
    script = write("in-own.sh", '#!/bin/sh\ncd "r$OMPI_COMM_WORLD_RANK" && exec "$@"\n')
    os.chmod(os.path.join(FOLDER, script), 0o755)
    return subprocess.run([*launcher(2, "-q"), "./" + script, TAUT, *arguments, "--threads", "1",
                           "--quiet", "--hash"], cwd=FOLDER, timeout=LIMIT, text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, check=False)


def launched(body, more="", steps=40, velocity="[0, 0, 0]"):
    return (f"simulation: {{dt: 2e-5, steps: {steps}}}\nbodies:\n"
            f"  - {{name: {body}, {SHAPES[body]}, mass: 1, velocity: {velocity}}}\n{more}")
