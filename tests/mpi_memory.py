"""The memory of ranks: what they hold, what is estimated, and what a machine has for all of them."""
import json
import math
import os
import random
import re
import shutil
import subprocess

from mpi_fixture import (compare_peaks, complaints, expect, FOLDER, JELLY, launcher, LIMIT, peaks,
                         QUICK, Skipped, start, TAUT, write)

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
    # And of a scene without grids.
    ball = write("ball.yaml", """simulation: {dt: 1.0e-4, steps: 2}
bodies: [{name: ball, type: sphere, radius: 0.1, subdivisions: 3, node_mass: 1.0e-3, spring: {stiffness: 10}}]
""")
    each = [json.loads(start(ranks, "run", ball, "--no-output", "--quiet", "--threads", "1", "--json").stdout)["bytes"]
            for ranks in (0, 2)]
    expect(0.3 * each[0] < each[1] < 1.5 * each[0], str(each))
    # For wind, whose damping limits dt, a rank has only the data that act on its nodes.
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
    # With xpbd every rank has the whole scene, with implicit integrators and a lattice only its part.
    for integrator in ("xpbd", "implicit_euler"):
        path_of = lattice(120, f", integrator: {integrator}")
        found = json.loads(start(0, "info", path_of, "--ranks", "3", "--threads", "1", "--json").stdout)
        each = {part["memory_bytes"] for part in found["ranks"]}
        if integrator == "xpbd":
            expect(len(each) == 1 and min(each) > 0.8 * found["bytes"], str(found["ranks"]))
        else:
            expect(0.25 * found["bytes"] < max(each) < 0.5 * found["bytes"], f"{each} of {found['bytes']}")
            found = start(3, "run", path_of, "--no-output", "--quiet", "--threads", "1",
                          environment={"TAUT_MEMORY_LIMIT": str(int(1.1 * max(each) + 20e6))})
            expect(found.returncode == 0, found.stderr)
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


def case_a_rank_has_memory_for_its_part_beside_small_bodies():
    if QUICK:
        raise Skipped("sanitizers take memory of their own")
    ball = ("  - {name: ball, type: sphere, center: [0, 3, 0], radius: 0.2, subdivisions: 4, mass: 0.3, "
            "spring: {stiffness: 50}}\n")
    for gas in ("", ", pressure: {amount: 3}"):
        compare_peaks("5.0e-5", 2, 100, ["--output", "rows", "--force"], beside=ball.replace("}}", "}" + gas + "}"))


def case_a_rank_has_memory_for_its_part_of_a_large_sphere():
    if QUICK:
        raise Skipped("sanitizers take memory of their own")
    path = write("large-sphere.yaml", "simulation: {dt: auto, steps: 2}\nenvironment: {gravity: [0, -9.81, 0]}\n"
                 "precision: double\nbodies:\n  - {name: ball, type: sphere, center: [0, 3, 0], radius: 1, "
                 "subdivisions: 8, mass: 1, spring: {stiffness: 5}}\noutput: {every_steps: 2}\n")
    one, four = (max(peaks(ranks, "run", path, "--output", "rows", "--force")) for ranks in (1, 4))
    expect(four < 0.535 * one, f"{four:.0f} of {one:.0f} MiB")  # most of it for lists, which are whole


def case_a_rank_has_memory_for_its_part_of_a_large_skin():
    if QUICK:
        raise Skipped("sanitizers take memory of their own")
    path = write("large-skin.yaml", "simulation: {dt: 1.0e-5, steps: 2}\nenvironment: {gravity: [0, -9.81, 0]}\n"
                 "precision: double\nbodies:\n  - {name: ball, type: sphere, center: [0, 3, 0], radius: 1, "
                 "subdivisions: 8, elastic: {young: 1.0e+5, poisson: 0.3, density: 1000, thickness: 0.01}}\n"
                 "output: {every_steps: 2}\n")
    one, four = (max(peaks(ranks, "run", path, "--no-output")) for ranks in (1, 4))
    expect(four < 0.37 * one, f"{four:.0f} of {one:.0f} MiB")  # a sixth of it for lists, which are whole


def case_a_rank_has_memory_for_its_part_of_a_large_flat_mesh():
    """Of the matrix of its bending."""
    if QUICK:
        raise Skipped("sanitizers take memory of their own")
    side = 600
    squares = [j * side + i + 1 for j in range(side - 1) for i in range(side - 1)]
    write("film.obj", "".join(f"v {i / side:.6g} {j / side:.6g} 0\n" for j in range(side) for i in range(side)) +
          "".join(f"f {a} {a + 1} {a + side}\nf {a + 1} {a + side + 1} {a + side}\n" for a in squares))
    path = write("film.yaml", "simulation: {dt: 1.0e-6, steps: 2}\nprecision: double\nbodies:\n"
                 "  - {name: film, type: mesh, file: film.obj, damping_ratio: 0.05,\n"
                 "     elastic: {young: 1.0e+5, poisson: 0.3, density: 1000, thickness: 0.01}}\n")
    one, four = (max(peaks(ranks, "run", path, "--no-output")) for ranks in (1, 4))
    expect(one < 300, f"{one:.0f} MiB")  # 465 if all rows were made at once
    expect(four < 0.7 * one, f"{four:.0f} of {one:.0f} MiB")


def case_a_rank_reads_a_large_network_in_chunks():
    """The files of which take as much as all that is made of them."""
    if QUICK:
        raise Skipped("sanitizers take memory of their own")
    side = 60
    numbers = list(range(side ** 3))
    random.Random(1).shuffle(numbers)

    def node(x, y, z):
        return numbers[(x * side + y) * side + z]

    cells = [(x, y, z) for x in range(side - 1) for y in range(side - 1) for z in range(side - 1)]
    rows = [""] * side ** 3
    for x, y, z in ((x, y, z) for x in range(side) for y in range(side) for z in range(side)):
        rows[node(x, y, z)] = f"{0.01 * x + 0.001 * math.sin(7 * y):.9f},{0.01 * y:.9f},{0.01 * z:.9f},0.001\n"
    write("large.nodes.csv", "x,y,z,mass\n" + "".join(rows))
    steps = ((1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 0), (1, 0, 1), (0, 1, 1), (1, 1, 1))
    write("large.springs.csv", "a,b,stiffness,damping\n" + "".join(
        f"{node(x, y, z)},{node(x + i, y + j, z + k)},200.000000,0.001000\n"
        for x, y, z in cells for i, j, k in steps))
    path = write("large-network.yaml", "simulation: {dt: 1.0e-4, steps: 2}\nbodies:\n  - {name: foam, type: network, "
                 "nodes_file: large.nodes.csv, springs_file: large.springs.csv}\n")
    one, four = (max(peaks(ranks, "run", path, "--no-output")) for ranks in (1, 4))
    expect(one < 92 and four < 90, f"{four:.0f} and {one:.0f} MiB")  # 113 and 104 with the files as a whole


def case_a_rank_has_memory_for_its_part_of_a_lattice_with_gas():
    if QUICK:
        raise Skipped("sanitizers take memory of their own")
    for volume in ("divergence", "box"):
        compare_peaks("5.0e-5", 2, 64, ["--output", "rows", "--force"],
                      gas=", pressure: {amount: 5, volume: " + volume + "}", whole=4)  # lists of faces


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
                      wind=", wind: {velocity: [3, 0, 1], coefficient: 0.1, law: " + law + "}", whole=4)  # lists of faces


def case_a_rank_has_memory_for_its_part_of_springs_that_break_and_yield():
    if QUICK:
        raise Skipped("sanitizers take memory of their own")
    law = ", break_at: 1.5, yield_at: 0.4"
    rows = ["--output", "rows", "--force"]
    for arguments in (["--no-output"], [*rows, "--set", "output.checkpoint.every=5.0e-5"]):
        compare_peaks("5.0e-5", 2, 64, arguments, law=law)
    compare_peaks("auto", 2, 64, rows, law=law)


def case_a_rank_has_memory_for_its_part_of_what_nodes_remember_of_contacts():
    """In checkpoints, too."""
    if QUICK:
        raise Skipped("sanitizers take memory of their own")
    colliders = ("colliders:\n  - {type: plane, point: [0, -1, 0], response: project, restitution: 0.5}\n"
                 "  - {type: sphere, center: [0, -3, 0], radius: 1, stiffness: 60, friction_coefficient: 0.3}\n")
    compare_peaks("5.0e-5", 2, 64, ["--output", "rows", "--force", "--set", "output.checkpoint.every=5.0e-5"],
                  after=colliders)


def case_a_rank_measures_powers_with_its_part():
    """Budgets that take loops, at the start and in every step."""
    if QUICK:
        raise Skipped("sanitizers take memory of their own")
    compare_peaks("5.0e-5", 2, 100, ["--output", "rows", "--force"], ", integrator: verlet")
    compare_peaks("5.0e-5", 2, 100, ["--no-output"],
                  ", integrator: velocity_verlet, keep_velocity: 0.999")


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


def case_gas_in_a_lattice_takes_memory_for_its_surface():
    """The bound of the step has blocks of the nodes with faces, not of those inside."""
    if QUICK:
        raise Skipped("sanitizers take memory of their own")
    law = "mass: 1, springs: {k1: {stiffness: 10, damping: 1.0e-4}}"
    plain, filled = (peaks(1, "run", write("filled.yaml", JELLY.format(
        dt="5.0e-5", steps=2, wide=64, layers=288, more="", wind="", law=law + gas)), "--no-output")[0]
        for gas in ("", ", pressure: {amount: 5}"))
    expect(filled < plain + 40, f"{filled:.1f} instead of {plain:.1f} MiB")  # 144 for all nodes


def case_many_bodies_are_planned_some_at_a_time():
    """Lists of each body are freed when the topology has its, those of springs at nodes are never of all nodes, and a
    rank keeps lists and packed springs of its own bodies."""
    if QUICK:
        raise Skipped("sanitizers take memory of their own")
    path = write("spheres.yaml", "simulation: {dt: 2.0e-5, steps: 2}\nenvironment: {gravity: [0, -9.81, 0]}\nbodies:\n" +
                 "".join(f"  - {{name: s{i}, type: sphere, center: [{i}, 0, 0], radius: 0.2, subdivisions: 6, mass: 0.3, "
                         "spring: {stiffness: 50}}\n" for i in range(40)))
    nodes = 40 * 40962
    base = max(peaks(4, "run", lattice(5), "--no-output"))
    most = (max(peaks(4, "run", path, "--no-output")) - base) * 2 ** 20 / nodes
    expect(most < 105, f"{most:.0f} bytes a node")  # 86, of which a rank has a quarter
