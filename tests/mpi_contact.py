"""Colliders and contact of surfaces on several ranks: the bits of one process."""
import json
import os
import re

from mpi_fixture import (assert_one_hash, COLLIDERS, compare_peaks, complaints, expect, EXPLICIT,
                         falling, FOLDER, hash_of, piece_names, QUICK, same_files, SOLVED, start,
                         TOUCHED, TOUCHING, touching, write)


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


DRAPED = """\
simulation: {dt: 0.0001, steps: 200}
environment: {gravity: [0, -9.81, 0]}
contact: {thickness: 0.003, stiffness: 60, friction_coefficient: 0.2}
bodies:
  - {name: below, type: cloth, origin: [0, 0, 0], u: [0.3, 0, 0], v: [0, 0, 1.6], nodes: [48, 256], mass: 0.2,
     stiffness: 80, damping: 0.005, pins: [corners]}
  - {name: above, type: cloth, origin: [0.01, 0.0042, 0.1], u: [0.3, 0, 0], v: [0, 0, 0.4], nodes: [48, 64],
     mass: 0.1, stiffness: 80, damping: 0.005}
output: {every_steps: 200, work: false}
"""


def case_ranks_receive_the_nodes_that_contact_needs():
    """In most steps: of the parts of a sheet those beside it, and of what lies on it what is near."""
    write("draped.yaml", DRAPED)
    for integrator, evaluations in (("symplectic_euler", 1), ("velocity_verlet", 1), ("rk4", 4)):
        arguments = ("run", "draped.yaml", "--no-output", "--quiet", "--json", "--set",
                     f"simulation.integrator={integrator}")
        alone, found = (json.loads(start(ranks, *arguments).stdout) for ranks in (0, 4))
        expect(found["hash"] == alone["hash"] and found["surface_contact"] == alone["surface_contact"],
               f"{integrator}: other than one process")
        expect(found["surface_contact"]["touching"] > 200, str(found["surface_contact"]))
        expect(alone["received_bytes"] == 0, str(alone["received_bytes"]))
        all_others = found["nodes"] * 3 / 4 * 6 * 4 * evaluations * found["steps"]
        expect(0 < found["received_bytes"] < 0.5 * all_others,
               f"{integrator}: {found['received_bytes']} bytes, {all_others} of all nodes")


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


def case_dt_follows_contacts_alike():
    """More contacts at a node than the bound allows for, found by the rank that has it."""
    path = write("pressed.yaml", """
simulation: {integrator: symplectic_euler, dt: auto, duration: 0.08}
environment: {gravity: [0, -9.81, 0]}
contact: {thickness: 0.012, friction_coefficient: 0.4}
bodies:
  - {name: low, type: cloth, origin: [0, 0.02, 0], u: [0.2, 0, 0], v: [0, 0, 0.2], nodes: [9, 9], mass: 0.01,
     spring: {stiffness: 40, damping: 0.01}}
  - {name: high, type: cloth, origin: [0.007, 0.042, 0.003], u: [0.2, 0, 0], v: [0, 0, 0.2], nodes: [10, 10],
     mass: 0.01, spring: {stiffness: 40, damping: 0.01}}
  - {name: weight, type: lattice, origin: [0.03, 0.065, 0.03], spacing: 0.03, nodes: [6, 2, 6], mass: 1,
     springs: {k1: {stiffness: 5000, damping: 2}}}
colliders:
  - {type: plane, response: contact}
output: {every: 0.02, vtp: true, checkpoint: {every: 0.02}}
""")
    dt = json.loads(start(0, "run", path, "--no-output", "--quiet", "--json").stdout)["dt"]
    expect(dt < 0.0003, f"dt {dt} is that of the scene as built")
    same_files(path)
    same_files(path, "--precision", "double", ranks=4)
    for integrator in ("verlet", "velocity_verlet"):
        same_files(path, "--set", f"simulation.integrator={integrator}", ranks=3)


def case_nodes_that_fly_far_end_a_run_alike():
    """Sheets with several times their stable step, before lists are made that are wide enough."""
    bodies = "".join(f"""
  - {{name: s{i}, type: cloth, nodes: [40, 40], origin: [{0.003 * i}, {0.0075 * i}, 0],
     u: [0.4, 0, 0], v: [0, 0.002, 0.4], mass: 0.05, velocity: [0, {-i}, 0],
     springs: {{structural: {{stiffness: 200}}, shear: {{stiffness: 100}}}}}}""" for i in range(4))
    for integrator, dt in (("symplectic_euler", 0.0025), ("symplectic_euler", 0.0008), ("rk4", 0.0025)):
        path = write("flying.yaml", f"""
simulation: {{integrator: {integrator}, dt: {dt}, steps: 32}}
environment: {{gravity: [0, -9.81, 0]}}
contact: {{thickness: 0.004}}
bodies:{bodies}
""")
        one, three = (start(ranks, "run", path, "--no-output", "--quiet") for ranks in (0, 3))
        expect(one.returncode == three.returncode == 1, three.stderr)
        expect(complaints(three.stderr) == complaints(one.stderr), three.stderr)
        expect("diverged at t = " in one.stderr, one.stderr)


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
