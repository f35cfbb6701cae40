"""Ranks that hold only their parts of a scene write what one process writes, frames in pieces included."""
import json
import os
import re
import shutil
import subprocess
import sys

import merge_vtp
from mpi_fixture import (assert_one_hash, compare_folders, complaints, ELASTIC, expect, EXPLICIT,
                         FOLDER, FRAGILE, gas_beside, hash_of, JELLY, large, LIMIT, many, parts, peaks,
                         piece_names, QUICK, same_files, SHAPES, SHORT, Skipped, small, SOURCE,
                         start, tearing, write)

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


def case_many_bodies_on_no_grid_are_shared_by_ranks():
    """Bodies of which none is large, with grids between them and without any."""
    for i, integrator in enumerate(EXPLICIT):
        path = many("many.yaml", integrator, SHORT.get(integrator, 2e-5), grids=i % 2 == 1)
        precision, ranks = ("single", "mixed", "double")[(i + i // 3) % 3], (3, 2, 4)[i % 3]
        same_files(path, "--precision", precision, ranks=ranks)
        expect(len(piece_names(f"folder-{ranks}")) == 4 * ranks, f"{integrator}: {piece_names(f'folder-{ranks}')}")
    for grids in (False, True):
        assert_one_hash(many("many.yaml", grids=grids), all_ranks=(2, 5))
    windy_air = ", wind: {velocity: [0, 2, 1], coefficient: 0.3}"
    for arguments in ({"wind": windy_air, "integrator": "verlet"}, {"more": ", keep_velocity: 0.999"},
                      {"plane": "response: project, restitution: 0.5, friction: 0.001"},
                      {"plane": "stiffness: 40, friction_coefficient: 0.3", "integrator": "velocity_verlet"}):
        for grids in (False, True):
            same_files(many("many.yaml", grids=grids, **arguments), ranks=2 + grids)
            expect(piece_names(f"folder-{2 + grids}"), f"{arguments}: not in parts")
    # One body that is large, and divided.
    path = many("many-large.yaml")
    with open(os.path.join(FOLDER, path), encoding="utf-8") as file:
        text = file.read()
    write(path, text.replace("colliders:", "  - {name: large, type: sphere, center: [0, 3, 0], radius: 1, subdivisions: 5, "
                             "mass: 1, spring: {stiffness: 50}}\ncolliders:"))
    same_files(path, ranks=3)
    expect(piece_names("folder-3"), "not in parts")


def points_of(piece):
    with open(os.path.join(FOLDER, piece), "rb") as file:
        return int(re.search(rb'NumberOfPoints="([0-9]+)"', file.read(4096)).group(1))


def case_large_bodies_on_no_grid_are_divided():
    """Bodies of which every rank has some nodes, whose order in files is not that of ranks."""
    cloth = ("  - {name: cloth, type: cloth, nodes: [70, 90], origin: [3, 0.1, 0], u: [1, 0, 0], v: [0, 0, 1], mass: 1, "
             "spring: {stiffness: 300, damping: 0.001}, pins: [left]}\n")
    for i, integrator in enumerate(EXPLICIT):
        path = large("large.yaml", integrator, SHORT.get(integrator, 2e-5), beside=cloth if i % 2 else "")
        precision, ranks = ("single", "mixed", "double")[i % 3], (3, 2, 4)[(i + i // 3) % 3]
        same_files(path, "--precision", precision, ranks=ranks)
        pieces = piece_names(f"folder-{ranks}")
        expect(len(pieces) == 4 * ranks, str(pieces))
        most = max(points_of(os.path.join(f"folder-{ranks}", piece)) for piece in pieces)
        expect(most < 21000 * (1 / ranks + 0.25), f"{most} points of {ranks} pieces")
    assert_one_hash(path, all_ranks=(2, 5))
    windy = ", wind: {velocity: [0, 2, 1], coefficient: 0.3"
    for arguments in ({"wind": windy + "}", "integrator": "verlet"}, {"wind": windy + ", law: node}"},
                      {"plane": "response: project, restitution: 0.5, friction: 0.001", "more": ", keep_velocity: 0.999"},
                      {"plane": "stiffness: 40, friction_coefficient: 0.3", "integrator": "velocity_verlet"},
                      {"gas": ", pressure: {amount: 3, gamma: 1.4, inflate: 0.001}"},
                      {"gas": ", pressure: {amount: 3, volume: box}", "wind": windy + "}", "beside": cloth}):
        same_files(large("large.yaml", **arguments), ranks=3)
        expect(piece_names("folder-3"), f"{arguments}: not in parts")
    states = []
    for ranks in (0, 3):
        found = start(ranks, "run", path, "--no-output", "--quiet", "--state", f"state-{ranks}.csv")
        expect(found.returncode == 0, found.stderr)
        with open(os.path.join(FOLDER, f"state-{ranks}.csv"), "rb") as file:
            states.append(file.read())
    expect(states[0] == states[1], "other states")


def case_large_bodies_break_and_yield():
    """Chunks of their springs are evaluated by several ranks, and frames and checkpoints have what one counts."""
    for kind, law, integrator, precision, ranks in (
            ("breaks", ", break_at: 1.0005", "symplectic_euler", "mixed", 2),
            ("yields", ", yield_at: 0.0005", "rk4", "double", 4),
            ("both", ", break_at: 1.002, yield_at: 0.0005", "velocity_verlet", "single", 3)):
        path = large("large-torn.yaml", integrator, law=law, steps=160, every=40)
        extra = ("--set", "output.checkpoint.every=1.6e-3", "--precision", precision)
        same_files(path, *extra, ranks=ranks)
        expect(piece_names(f"folder-{ranks}"), f"{kind}: not in parts")
        broken = [json.loads(start(count, "run", path, "--no-output", "--quiet", "--json", *extra[2:]).stdout)
                  ["broken_springs"] for count in (0, ranks)]
        expect(broken[0] == broken[1] and (broken[0] > 0 or kind == "yields"), str(broken))
        for again in (0, 3):
            shutil.rmtree(os.path.join(FOLDER, "kept"), ignore_errors=True)
            shutil.copytree(os.path.join(FOLDER, f"folder-{ranks}"), os.path.join(FOLDER, "kept"))
            found = start(again, "resume", "kept", "--steps", "176", "--quiet", "--hash")
            expect(found.returncode == 0, found.stderr)
            expect(found.stdout.strip() == hash_of(0, path, "--steps", "176", *extra[2:]), f"{kind} {again}")


WALLS = """  - {name: skin, type: sphere, center: [3, 0.22, 1], radius: 0.2, subdivisions: 5, velocity: [0, -2, 1], pins: [0],
     elastic: {young: 1.0e+5, poisson: 0.4, density: 1000, thickness: 0.01}, damping_ratio: 0.02,
     pressure: {amount: 3, inflate: 0.1}}
  - {name: film, type: mesh, file: shuffled.obj, translate: [4, 0, 0], velocity: [0, -1, 2], pins: [9, 77],
     elastic: {young: 1.0e+5, poisson: 0.3, density: 1000, thickness: 0.01}, damping_ratio: 0.02}
  - {name: bead, type: sphere, center: [5, 0.22, 1], radius: 0.2, subdivisions: 3, velocity: [0, -2, 1],
     elastic: {young: 1.0e+5, poisson: 0.3, density: 1000, thickness: 0.01}}
"""


def case_walls_of_a_solid_are_divided():
    """Triangles, bending of flat sheets and folds of curved ones, of which each rank has some nodes: energies, powers
    by kernels and by loops, bounds, frames and checkpoints."""
    for integrator, precision, ranks, arguments in (
            ("symplectic_euler", "single", 3, {}), ("verlet", "mixed", 2, {}), ("rk4", "double", 4, {}),
            ("velocity_verlet", "mixed", 3, {"more": ", keep_velocity: 0.999"}),
            ("symplectic_euler", "single", 5, {"wind": ", wind: {velocity: [0, 2, 1], coefficient: 0.3}"}),
            ("velocity_verlet", "double", 3, {"dt": "auto"}), ("symplectic_euler", "mixed", 2, {"dt": "auto"})):
        path = large("walls.yaml", integrator, beside=WALLS, **arguments)
        extra = ("--precision", precision)
        same_files(path, *extra, "--set", f"output.checkpoint.every={1e-3 if 'dt' in arguments else 3.2e-4}", ranks=ranks)
        expect(len(piece_names(f"folder-{ranks}")) == 4 * ranks, f"{integrator}: frames are whole")
    for again in (3, 0):  # of the last scene
        shutil.rmtree(os.path.join(FOLDER, "kept"), ignore_errors=True)
        shutil.copytree(os.path.join(FOLDER, "folder-2"), os.path.join(FOLDER, "kept"))
        found = start(again, "resume", "kept", "--steps", "60", "--quiet", "--hash")
        expect(found.returncode == 0, found.stderr)
        expect(found.stdout.strip() == hash_of(0, path, *extra, "--steps", "60"), found.stdout)
    assert_one_hash(large("walls.yaml", beside=WALLS), all_ranks=(2, 5))


def case_elements_of_other_ranks_are_made_for_eigenvalues():
    """A rank has triangles and folds of its part alone; rank 0 makes the others where dt is beyond the bound, and
    where it says why a run has diverged. Then it goes on with steps."""
    skin = "elastic: {young: 1.0e+5, poisson: 0.3, density: 1000, thickness: 0.01}, damping_ratio: 0.02"
    large("large.yaml")  # writes the mesh
    for dt, steps, precision, ranks in ((1e-5, 4, "double", 3), (4.5e-4, 8, "double", 2), (6e-4, 4, "mixed", 4),
                                        (6e-4, 400, "single", 2)):
        path = write("skin.yaml", f"""simulation: {{dt: {dt}, steps: {steps}}}
precision: {precision}
environment: {{gravity: [0, -9.81, 0]}}
bodies:
  - {{name: skin, type: sphere, center: [0, 1, 0], radius: 0.4, subdivisions: 5, velocity: [0, 3, 0], pins: [5], {skin}}}
  - {{name: film, type: mesh, file: shuffled.obj, translate: [4, 0, 0], velocity: [0, -1, 2], pins: [9, 77], {skin}}}
output: {{every_steps: 4}}
""")
        one, several = (start(count, "run", path, "--no-output", "--hash", "--threads", "1") for count in (0, ranks))
        expect(one.returncode == several.returncode == (1 if steps == 400 else 0), f"{one.stderr} {several.stderr}")
        both = [[line for line in it.stderr.splitlines() if "warning: " in line] for it in (one, several)]
        expect(both[0] == both[1] and bool(both[0]) == (dt > 5e-4), f"{dt}: {one.stderr} {several.stderr}")
        expect(one.stdout.split()[-1:] == several.stdout.split()[-1:], f"{dt}: {one.stdout} {several.stdout}")
        found = [[line for line in complaints(it.stderr) if "diverged" in line] for it in (one, several)]
        expect(found[0] == found[1] and len(found[0]) == (steps == 400), f"{found[0]} {found[1]}")


def case_large_bodies_follow_the_same_bound():
    """dt: auto, of which each rank knows the weights of some nodes, in turn; also where springs have broken, and
    where a run is continued. Nearly all pairs of one body are joined."""
    gas = ", pressure: {amount: 3, gamma: 1.4, inflate: 0.001}"
    windy = ", wind: {velocity: [0, 2, 1], coefficient: 0.3, relative: true}"
    for ranks, arguments in ((3, {}), (2, {"integrator": "velocity_verlet", "wind": windy}), (4, {"gas": gas}),
                             (3, {"law": ", break_at: 1.01", "gas": gas, "wind": windy})):
        path = large("large-auto.yaml", dt="auto", **arguments)
        same_files(path, "--set", "output.checkpoint.every=1.0e-3", ranks=ranks)
        expect(piece_names(f"folder-{ranks}"), f"{arguments}: not in parts")
    for again in (2, 0):
        shutil.rmtree(os.path.join(FOLDER, "kept"), ignore_errors=True)
        shutil.copytree(os.path.join(FOLDER, "folder-3"), os.path.join(FOLDER, "kept"))
        found = start(again, "resume", "kept", "--steps", "60", "--quiet", "--hash")
        expect(found.returncode == 0, found.stderr)
        expect(found.stdout.strip() == hash_of(0, path, "--steps", "60"), found.stdout)
    nodes = 1100
    write("dense.nodes.csv", "x,y,z,mass\n" + "".join(f"{i % 10},{i // 10 % 10},{i // 100},{0.01 * (1 + i % 2)}\n"
                                                     for i in range(nodes)))
    write("dense.springs.csv", "a,b,stiffness\n" + "".join(f"{a},{b},0.05\n" for a in range(nodes)
                                                          for b in range(a + 1, nodes) if (a * b + b) % 5 > 1))
    dense = write("dense.yaml", "simulation: {dt: auto, steps: 20}\nbodies:\n  - {name: dense, type: network, "
                  "nodes_file: dense.nodes.csv, springs_file: dense.springs.csv, pins: [0, 7]}\n"
                  "output: {every_steps: 20}\n")
    same_files(dense, ranks=2)
    same_files(dense, "--set", "simulation.integrator=velocity_verlet", "--precision", "double", ranks=3)


def case_many_bodies_break_and_yield():
    """States of springs of several bodies are in chunks of several ranks."""
    for kind, integrator, precision, ranks, grids in (("breaks", "symplectic_euler", "mixed", 2, False),
                                                      ("yields", "rk4", "double", 4, True),
                                                      ("both", "velocity_verlet", "single", 3, False),
                                                      ("both", "verlet", "mixed", 3, True)):
        law = {"breaks": ", break_at: 1.2", "yields": ", yield_at: 0.1", "both": ", break_at: 1.2, yield_at: 0.08"}
        path = many("many-torn.yaml", integrator, grids=grids, law=", rest_length: 0.025" + law[kind])
        same_files(path, "--precision", precision, ranks=ranks)
        expect(piece_names(f"folder-{ranks}"), f"{kind}: not in parts")
        broken = [json.loads(start(count, "run", path, "--no-output", "--quiet", "--json").stdout)["broken_springs"]
                  for count in (0, ranks)]
        expect(broken[0] == broken[1] and (broken[0] > 0 or kind == "yields"), str(broken))


def case_many_bodies_follow_the_same_bound():
    """dt: auto, of which each rank knows the weights of its own bodies; at the start, and after 4,096 steps."""
    windy_air = ", wind: {velocity: [0, 2, 1], coefficient: 0.3}"
    law = ", break_at: 1.02, yield_at: 0.002"
    for ranks, arguments in ((3, {"grids": True}), (2, {"integrator": "velocity_verlet", "wind": windy_air}),
                             (4, {"law": law, "grids": True})):
        same_files(many("many-auto.yaml", dt="auto", slack=True, **arguments), ranks=ranks)
        expect(piece_names(f"folder-{ranks}"), f"{arguments}: not in parts")
    if QUICK:
        return
    path = many("many-auto.yaml", dt="auto", law=law, slack=True)
    found = [start(ranks, "run", path, "--no-output", "--json", "--hash", "--threads", "1", "--steps", str(steps))
             for ranks, steps in ((0, 4100), (2, 4100), (2, 1))]
    expect(found[0].returncode == found[1].returncode == 0, found[1].stderr)
    one, two, first = (json.loads(run.stdout) for run in found)
    expect(one["hash"] == two["hash"] and one["dt"] == two["dt"] != first["dt"],
           f"{one['hash']}, {two['hash']}, {first['dt']}, {two['dt']}")


def case_many_bodies_warn_of_steps_like_one_process():
    """Of a dt beyond the bound rank 0 finds eigenvalues, for which it packs the springs of all ranks' bodies."""
    law = ", rest_length: 0.025, break_at: 1.2, yield_at: 0.1"
    for dt, ranks, arguments in ((3e-4, 3, {"grids": True}), (1.2e-3, 2, {"law": law}), (1.5e-3, 3, {})):
        path = many("many.yaml", dt=dt, steps=4, every=2, **arguments)
        one, several = (start(count, "run", path, "--no-output", "--hash", "--threads", "1") for count in (0, ranks))
        expect(warnings_of(one) == warnings_of(several), f"{dt}: {one.stderr} {several.stderr}")
        expect(bool(warnings_of(one)) == (dt > 5e-4), f"{dt}: {one.stderr}")
        expect(one.stdout.split()[-1:] == several.stdout.split()[-1:], f"{dt}: {one.stdout} {several.stdout}")


def balls(name, dt, stiffest, more="", steps=48):
    """Balls and hulls of a file, of which each rank has some, and the stiffest is one of the last."""
    strip = [(i, i + 1, i + 2) if i % 2 == 0 else (i + 1, i, i + 2) for i in range(598)]
    write("strip.obj", "".join(f"v {0.01 * (i // 2)} {0.01 * (i % 2)} {0.002 * (i % 7)}\n" for i in range(600)) +
          "".join(f"f {a + 1} {b + 1} {c + 1}\n" for a, b, c in strip))
    text = f"simulation: {{dt: {dt}, steps: {steps}}}\nenvironment: {{gravity: [0, -9.81, 0]}}\nbodies:\n"
    for i in range(12):
        stiffness = stiffest if i == 10 else 50
        shape = (f"type: mesh, file: strip.obj, translate: [0, 1, {i}]" if i % 4 == 3 else
                 f"type: sphere, center: [0, 0.3, {i}], radius: 0.2, subdivisions: 4, velocity: [0, -2, 0]")
        text += (f"  - {{name: ball{i}, {shape}, mass: 0.3, spring: {{stiffness: {stiffness}, "
                 f"damping: 0.0005}}{more if i % 2 == 0 else ''}}}\n")
    return write(name, text + "colliders:\n  - {type: plane, point: [0, 0.1, 0], stiffness: 40}\noutput: "
                 "{every_steps: 16, pc2: true, vtp: {springs: true}, checkpoint: {every: " + str(16 * dt) + "}}\n")


def case_lists_of_bodies_of_other_ranks_come_when_they_are_read():
    """A rank has no lists of the bodies of others, not even while it plans: those that it needs for packing are built
    again; rank 0 gets them for eigenvalues, and for the point cache's .obj; messages name nodes of any rank."""
    for more, precision in (("", "single"), (", pressure: {amount: 3}", "mixed")):
        path = balls("balls.yaml", 1e-4, 60, more)
        for ranks in (2, 4):
            same_files(path, "--precision", precision, ranks=ranks)
    path = balls("balls-warn.yaml", 7e-4, 3000, steps=2)
    one, several = (start(count, "run", path, "--no-output", "--hash", "--threads", "1") for count in (0, 3))
    expect(warnings_of(one) and warnings_of(one) == warnings_of(several) and "ball10" in one.stderr,
           f"{one.stderr} {several.stderr}")
    expect(one.stdout.split()[-1:] == several.stdout.split()[-1:], f"{one.stdout} {several.stdout}")
    path = balls("balls-diverge.yaml", 3e-3, 3000, steps=400)
    one, several = (start(count, "run", path, "--no-output", "--threads", "1") for count in (0, 3))
    expect(one.returncode == several.returncode == 1, f"{one.stderr} {several.stderr}")
    found = [[line for line in complaints(it.stderr) if "diverged" in line] for it in (one, several)]
    expect(found[0] == found[1] and "the stiffest spring there" in found[0][0], f"{found[0]} {found[1]}")


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


# No rows or columns of these sheets are solved as lines. The second begins within a chunk of sums, and the
# block and the last sheet have parts that begin in a chunk of the rank before.
SYSTEMS = """
simulation: {{integrator: {integrator}, dt: 1.0e-3, steps: 6, implicit: {{newton: {newton}}}}}
environment: {{gravity: [0.5, -9.81, 0], air_drag: 1.0e-5}}
bodies:
  - {{name: net, type: cloth, nodes: [61, 103], origin: [0, 0, 0], u: [0.6, 0, 0], v: [0, 0.3, 1], mass: 1, pins: [left],
     springs: {{structural: {{stiffness: 300, damping: 0.01}}, shear: {{stiffness: 280}}, bend: {{stiffness: 90}}}},
     velocity: [0, 1, 2]}}
  - {{name: block, type: lattice, nodes: [12, 11, 90], spacing: 0.02, origin: [2, 0.02, 0], mass: 2, shells: 2,
     velocity: [0.3, -2, 0], springs: {{k1: {{stiffness: 300, damping: 0.01}}, k2: {{stiffness: 100}}, kb1: {{stiffness: 40}}}}}}
  - {{name: driven, type: cloth, nodes: [77, 130], origin: [4, 0.3, 0], u: [0.7, 0, 0], v: [0, 0.5, 1], mass: 1,
     spring: {{stiffness: 200, damping: 0.02, damping_law: full, law: tension_only}},
     drives: [{{nodes: [left], velocity: [[0, [0.2, 1, 0]], [2.0e-3, [0, -1, 0.3]]]}}]}}
output: {{every: 2.0e-3, checkpoint: {{every: 2.0e-3}}, probes: [{{body: block, node: 500, every_steps: 1}}]}}
"""
SYSTEMS_FLOOR = """colliders:
  - {type: plane, stiffness: 300, friction: 0.05, absorption: 0.1}
"""


def case_parts_solve_linear_systems_with_the_same_bytes():
    """Implicit integrators, whose rows are those of chunks of nodes and not those of the parts."""
    for integrator in ("implicit_euler", "implicit_midpoint", "bdf2"):
        for newton, precision, ranks in ((1, "single", 2), (1, "mixed", 5), (3, "double", 3)):
            floor = SYSTEMS_FLOOR if integrator != "implicit_midpoint" else ""
            path = write("systems.yaml", SYSTEMS.format(integrator=integrator, newton=newton) + floor)
            kept = same_files(path, "--precision", precision, ranks=ranks)
            expect(any(name.startswith("checkpoint_") for name in kept), str(kept.keys()))
            shutil.rmtree(os.path.join(FOLDER, "kept"), ignore_errors=True)
            shutil.copytree(os.path.join(FOLDER, f"folder-{ranks}"), os.path.join(FOLDER, "kept"))
            again = start(4, "resume", "kept", "--steps", "9", "--quiet", "--hash")
            expect(again.returncode == 0, again.stderr)
            expect(again.stdout.strip() == hash_of(0, path, "--precision", precision, "--steps", "9"), again.stdout)
        same_files(path, "--set", "output.work=false", "--set", "output.pc2=true", ranks=8)
        for law in ("law: quadratic, density: 1.2, drag: 1", "law: face, coefficient: 0.02",
                    "coefficient: 0.02, relative: false", "law: node, coefficient: 0.02"):
            same_files(path, "--set", f"environment.wind={{velocity: [3, 1, 2], {law}}}")


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


def case_parts_follow_faces_that_grow():
    """dt: auto, where faces of soft springs grow in the wind: every 16 steps all ranks look for one that may limit
    dt, of a cloth of which each has rows, and of a sphere that is cut."""
    springs = "mass: 0.5, stiffness: 0.05"
    elastic = "elastic: {young: 400, poisson: 0.3, thickness: 1.0e-4, density: 900}"
    for integrator, law, ball in (("symplectic_euler", "face", springs), ("rk4", "quadratic", elastic),
                                  ("velocity_verlet", "quadratic", springs)):
        path = write("growing.yaml", f"""
simulation: {{integrator: {integrator}, dt: auto, steps: 320}}
environment: {{wind: {{velocity: [1, 0, 6], law: {law}}}}}
bodies:
  - {{name: soft, type: cloth, nodes: [60, 150], origin: [0, 0, 0], u: [0.2, 0, 0], v: [0, 0.2, 0], mass: 0.01,
     stiffness: 0.05, pins: [left]}}
  - {{name: ball, type: sphere, center: [1, 0, 0], radius: 0.1, subdivisions: 4, pins: [0], {ball}}}
output: {{every_steps: 160}}
""")
        first, last = (dt_of("run", path, "--no-output", "--steps", steps) for steps in ("1", "320"))
        expect(last < 0.9 * first, f"{integrator}: dt stays, {first} and {last}")
        for ranks in (2, 3):
            same_files(path, ranks=ranks)


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


def case_parts_judge_the_balance_like_one_process():
    """What rounding may leave is measured from springs and elements, of which a rank has a part."""
    path = solids("solids.yaml", "implicit_midpoint", dt="1.0e-4")
    for precision in ("single", "mixed"):
        one, several = (json.loads(start(ranks, "run", path, "--no-output", "--quiet", "--json", "--precision",
                                         precision).stdout)["balance"] for ranks in (0, 3))
        expect(one["allowed"] > 0 and one == several, f"{precision}: {one} and {several}")


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
    # Colliders that project, and colliders with a memory of contacts.
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
    torn, whole = (tearing(f"{name}.yaml", FRAGILE["both"], torn=torn)
                   for name, torn in (("torn", ""), ("whole", None)))
    counts = [json.loads(start(ranks, "run", path, "--no-output", "--quiet", "--json", "--set",
                               "output.work=false").stdout)["broken_springs"]
              for ranks, path in ((0, torn), (3, torn), (0, whole))]
    expect(counts[0] == counts[1] > counts[2] + 5, str(counts))


def case_parts_with_springs_that_break_and_yield_follow_the_same_bound():
    for kind, integrator, ranks, torn in (("breaks", "symplectic_euler", 3, None), ("both", "velocity_verlet", 2, None),
                                          ("both", "symplectic_euler", 3, "")):
        path = tearing("tearing-auto.yaml", FRAGILE[kind], integrator, "auto", speed=6, steps=1100, torn=torn)
        with open(os.path.join(FOLDER, path), encoding="utf-8") as file:
            text = file.read()
        write(path, text.replace("every: 0.002", "every_steps: 550"))
        same_files(path, ranks=ranks)
        expect(piece_names(f"folder-{ranks}"), f"{kind}: frames are whole")
