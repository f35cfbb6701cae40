"""Runs of several ranks that are interrupted, continued or prolonged, and their checkpoints."""
import json
import os
import re
import shutil
import signal
import subprocess
import time

from mpi_fixture import (apart_on_rank_1, COLLIDERS, compare_folders, complaints, expect, falling,
                         files_of, FOLDER, FRAGILE, fragile, gas_beside, hash_of, launched,
                         launcher, LIMIT, many, mixture, parts, piece_names, scene, Skipped, small,
                         SOLVED, start, start_apart, TAUT, tearing, TOUCHING, touching, write)


def compare_continued(path, first, again, *arguments):
    """Runs with checkpoints on one process and on `first` ranks write the same, and so do they where they
    are continued, by one process and by `again` ranks; 0: without mpirun."""
    for ranks, folder in ((0, "whole"), (first, "kept")):
        shutil.rmtree(os.path.join(FOLDER, folder), ignore_errors=True)
        found = start(ranks, "run", path, "--quiet", "--output", folder, *arguments)
        expect(found.returncode == 0, found.stderr)
    compare_folders("whole", "kept", f"{path}, {first} ranks")
    for ranks, folder in ((0, "whole"), (again, "kept")):
        found = start(ranks, "resume", folder, "--steps", "80", "--quiet")
        expect(found.returncode == 0, found.stderr)
    compare_folders("whole", "kept", f"{path}, {first} and {again} ranks")


def case_parts_with_wind_on_hulls_are_continued():
    path = small("hulls-kept.yaml", "verlet", wind=", wind: {velocity: [0, 20, 10], coefficient: 0.3, law: node}")
    compare_continued(path, 3, 2, "--precision", "mixed", "--set", "output.vtp=false", "--set",
                      "output.checkpoint.every=3.2e-4")


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


def case_many_bodies_on_no_grid_are_continued():
    """From checkpoints of ranks that each have some of the bodies: states of springs and weights of the bound."""
    law, friction = ", rest_length: 0.025, break_at: 1.2, yield_at: 0.08", "stiffness: 40, friction_coefficient: 0.3"
    for path, first, again, every in (
            (many("many-kept.yaml", "verlet", law=law, grids=True), 3, 2, 3.2e-4),
            (many("many-kept-auto.yaml", dt="auto", law=law), 2, 3, 0.01),
            (many("many-all.yaml", dt="auto", plane=friction), 3, 2, 0.01)):
        compare_continued(path, first, again, "--precision", "mixed", "--set", "output.vtp=false", "--set",
                          f"output.checkpoint.every={every}")


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


def expect_continued(path, every):
    """A run of three ranks, with a checkpoint every so many seconds, is continued by one process."""
    shutil.rmtree(os.path.join(FOLDER, "kept"), ignore_errors=True)
    found = start(3, "run", path, "--output", "kept", "--quiet", "--set",
                  f"output.checkpoint.every={every}")
    expect(found.returncode == 0, found.stderr)
    again = start(0, "resume", "kept", "--steps", "96", "--quiet", "--hash")
    expect(again.returncode == 0, again.stderr)
    expect(again.stdout.strip() == hash_of(0, path, "--steps", "96"), again.stdout)


def case_checkpoint_with_colliders_is_continued():
    for kind in COLLIDERS:
        expect_continued(falling(f"{kind}.yaml", kind), "0.0064")


def case_parts_that_remember_contacts_are_continued():
    """Ranks with their parts: what nodes remember of colliders, of which only some project or have friction."""
    for kind, integrator, precision, first, again in (("coulomb", "verlet", "mixed", 3, 2),
                                                      ("bounces", "symplectic_euler", "single", 4, 0),
                                                      ("project", "rk4", "double", 0, 3)):
        path = falling(f"touched-{kind}.yaml", kind, steps=48, ball="")
        compare_continued(path, first, again, "--precision", precision, "--set",
                          f"simulation.integrator={integrator}", "--set", "output.checkpoint.every=0.0032")


def case_small_bodies_that_remember_contacts_are_continued():
    """Ranks with whole bodies, in blocks of contacts with nodes of others, whose numbers in the file are others."""
    spheres = "".join(f"""  - {{name: s{i}, type: sphere, center: [{i % 8 * 0.25}, 0.105, {i // 8 * 0.25}], radius: 0.1,
     subdivisions: 3, mass: 0.1, stiffness: 30, velocity: [1, -1, 0]}}
""" for i in range(17))
    for response in ("stiffness: 200, friction_coefficient: 0.3", "response: project, restitution: 0.5"):
        path = write("spheres-touch.yaml", f"""
simulation: {{dt: 2.0e-4, steps: 75}}
precision: double
bodies:
{spheres}colliders: [{{type: plane, {response}}}]
output: {{every: 1.0e-3}}
""")
        compare_continued(path, 2, 2, "--set", "output.checkpoint.every=0.002")


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


def case_parts_with_gas_are_continued():
    path = gas_beside("gas-kept.yaml", "verlet", mat=", volume: box")
    compare_continued(path, 3, 2, "--set", "output.checkpoint.every=3.2e-4")


def case_checkpoint_with_broken_springs_is_continued():
    expect_continued(fragile("both.yaml", FRAGILE["both"]), "0.0032")


def case_broken_small_bodies_beside_parts_are_continued():
    for kind, integrator, first, again in (("both", "verlet", 3, 2), ("both", "symplectic_euler", 2, 0),
                                           ("breaks", "symplectic_euler", 0, 3)):
        path = tearing(f"torn-{kind}.yaml", FRAGILE[kind], integrator, torn="")
        compare_continued(path, first, again, "--set", "output.checkpoint.every=0.0032")


def case_parts_with_broken_springs_are_continued():
    """From a checkpoint of ranks with their parts, on other numbers of ranks."""
    project = "response: project, friction: 0.001"
    for kind, integrator, precision, first, again, more in (
            ("both", "verlet", "mixed", 3, 2, {}), ("both", "symplectic_euler", "single", 2, 0, {}),
            ("yields", "rk4", "double", 0, 4, {}), ("breaks", "velocity_verlet", "single", 4, 3, {}),
            ("both", "symplectic_euler", "single", 2, 3, {"plane": project})):
        path = tearing(f"tearing-{kind}.yaml", FRAGILE[kind], integrator, **more)
        # Without a budget nothing else has what springs have lost from all ranks.
        work = "true" if kind == "both" else "false"
        arguments = ("--precision", precision, "--set", "output.checkpoint.every=0.0032", "--set",
                     f"output.work={work}")
        compare_continued(path, first, again, *arguments)


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
        for ranks, how, again in ((0, signal.SIGKILL, 3), (2, signal.SIGTERM, 4),
                                  (3, signal.SIGTERM, 0), (2, signal.SIGKILL, 2)):
            interrupt(path, "cut", ranks, how)
            found = start(again, "resume", "cut", "--quiet", "--threads", "1")
            expect(found.returncode == 0, found.stderr)
            compare_folders("whole", "cut", f"{path}: {ranks}, {again}")


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


def case_ranks_resume_whatever_a_run_started_from():
    """Another velocity and 'initial' in the scene of rank 1, neither of which a checkpoint needs."""
    # With contact ranks have the whole scene, and rank 0 alone writes: here they do not share a folder.
    text = launched("ball", "contact: {thickness: 0.001}\noutput: {checkpoint: {every: 4e-4}}\n")
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
    for body in ("cloth", "ball"):  # on a grid, and in another order than in files
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
