#!/usr/bin/python3
"""Runs `taut` on several ranks by mpirun, and compares it with one process.

usage: test_mpi.py TAUT FOLDER

Prints in cmocka's format, so that run_tests counts the cases. Every mpirun has a time limit; ranks
share this machine's cores (--oversubscribe). Cases are functions case_NAME, run in their order here.
"""
import os
import re
import shutil
import subprocess
import sys

TAUT = os.path.abspath(sys.argv[1])
FOLDER = os.path.abspath(sys.argv[2])
SOURCE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LIMIT = 120  # s, of one command


def start(ranks, *arguments, limit=LIMIT, environment=None):
    """The finished process of `taut ARGUMENTS` on so many ranks; 0: without mpirun."""
    command = [TAUT, *arguments]
    if ranks:
        command = ["mpirun", "--oversubscribe", "--allow-run-as-root", "-n", str(ranks)] + command
    return subprocess.run(command, cwd=FOLDER, timeout=limit, text=True, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          env={**os.environ, **(environment or {})}, check=False)


def complaints(text):
    """The lines of `taut`, without those of mpirun about an exit code."""
    return [line for line in text.splitlines() if line.startswith("taut: ")]


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
    found = subprocess.run(["mpirun", "--oversubscribe", "--allow-run-as-root", "-n", "3",
                            os.path.join(FOLDER, script), "info", "x.yaml"], cwd=FOLDER, text=True,
                           timeout=LIMIT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, check=False)
    expect(found.returncode == 2, str(found.returncode))
    lines = complaints(found.stderr)
    expect(len(lines) == 1 and lines[0].startswith("taut: rank 2 of 3: ") and "none" in lines[0],
           found.stderr)


def case_command_for_one_rank_is_refused():
    found = start(2, "stability", os.path.join(SOURCE, "scenes", "flag.yaml"))
    expect(found.returncode == 2, str(found.returncode))
    expect(len(complaints(found.stderr)) == 1 and "several ranks" in found.stderr, found.stderr)


def main():
    shutil.rmtree(FOLDER, ignore_errors=True)
    os.makedirs(FOLDER)
    cases = [(name[len("case_"):], function) for name, function in globals().items()
             if name.startswith("case_")]
    print(f"[==========] Running {len(cases)} test(s).")
    failed = 0
    for name, function in cases:
        print(f"[ RUN      ] {name}", flush=True)
        try:
            function()
            print(f"[       OK ] {name}", flush=True)
        except (AssertionError, OSError, subprocess.SubprocessError) as error:
            failed += 1
            print(f"{type(error).__name__}: {error}")
            print(f"[  FAILED  ] {name}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
