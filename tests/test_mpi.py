#!/usr/bin/python3
"""Runs `taut` on several ranks by mpirun, and compares it with one process.

usage: test_mpi.py TAUT FOLDER [CASE...]

Prints in cmocka's format, so that run_tests counts the cases. Every mpirun has a time limit; ranks
share this machine's cores (--oversubscribe). Cases are functions case_NAME of the subjects below, and
run in their order there.
"""
import os
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
import mpi_commands  # noqa: E402
import mpi_bits  # noqa: E402
import mpi_parts  # noqa: E402
import mpi_contact  # noqa: E402
import mpi_memory  # noqa: E402
import mpi_resume  # noqa: E402
import mpi_failures  # noqa: E402
from mpi_fixture import FOLDER, Skipped  # noqa: E402

SUBJECTS = [mpi_commands, mpi_bits, mpi_parts, mpi_contact,
            mpi_memory, mpi_resume, mpi_failures]


def main():
    shutil.rmtree(FOLDER, ignore_errors=True)
    os.makedirs(FOLDER)
    cases = [(name[len("case_"):], function) for subject in SUBJECTS
             for name, function in vars(subject).items()
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
