"""Forces, integrators and energy budgets on several ranks: the bits of one process."""
import json
import os
import subprocess

from mpi_fixture import (assert_one_hash, COLLIDERS, compare_folders, complaints, ELASTIC, expect,
                         EXPLICIT, files_of, FOLDER, FRAGILE, fragile, launcher, LIMIT, mixture,
                         same_files, scene, SHAPES, SHORT, SOLVED, start, TAUT, write)


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


def case_output_has_the_same_bytes():
    for integrator in EXPLICIT:
        path = scene("output.yaml", list(SHAPES), integrator, dt=SHORT.get(integrator, 2e-5))
        expect(len(same_files(path)) > 5, "too few files")


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


def case_one_hash_with_wind_on_faces_in_blocks():
    for law in ("face", "quadratic", "node"):
        wind = ("environment:\n  gravity: [0, -9.81, 0]\n  wind: {velocity: [3, 1, 2], law: " + law + ", " +
                ("density: 1.2, drag: 1" if law == "quadratic" else "coefficient: 0.02") + "}\n")
        path = gassy(f"breeze-{law}.yaml", GASES, wind)
        assert_one_hash(path, all_ranks=(2, 3, 5))
        for integrator in EXPLICIT if law == "face" else ("symplectic_euler", "velocity_verlet"):
            same_files(path, "--set", f"simulation.integrator={integrator}")


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
