"""What one rank cannot do, or does differently, ends all of them with one message."""
import os
import shutil
import signal
import subprocess
import time

import merge_vtp
from mpi_fixture import (apart_on_rank_1, bench, complaints, expect, FOLDER, hash_of, launched,
                         launcher, LIMIT, parts, piece_names, scene, SOURCE, start, start_apart,
                         TAUT, write)


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


def case_command_for_one_rank_is_refused():
    found = start(2, "stability", os.path.join(SOURCE, "scenes", "flag.yaml"))
    expect(found.returncode == 2, str(found.returncode))
    expect(len(complaints(found.stderr)) == 1 and "several ranks" in found.stderr, found.stderr)


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


def write_apart(name, *texts):
    for rank, text in enumerate(texts):
        os.makedirs(os.path.join(FOLDER, f"r{rank}"), exist_ok=True)
        write(os.path.join(f"r{rank}", name), text)


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
    for body in ("cloth", "ball"):  # on a grid, and in another order than in files
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
