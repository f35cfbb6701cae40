#!/usr/bin/python3 -B
"""That every scene ends in the same bits, whatever computes it.

    hashes.py TAUT SCENE.yaml... [--steps N] [--threads N] [--isas LIST] [--json FILE]

Runs each scene with every number of threads from 1 to N (8) on every instruction set of this
machine, a few steps, and prints the hash of its state, or which runs had another one.

Exit status: 0; 1 where a hash differs; 2 for wrong usage or a run that fails.
"""
import argparse
import json
import os
import re
import subprocess
import sys

from result_files import script, write_json


class Failure(Exception):
    """A run that gives no hash; the text says why."""


def run(command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Failure(f"{' '.join(command)}: {done.stderr.strip()}")
    return done.stdout


def isas_of(taut):
    """Those that --isa takes here."""
    found = []
    for isa in re.findall(r"\b(base|neon|v3|v4)\b", run([taut, "--version"])):
        if isa not in found:
            found.append(isa)
    if not found:
        raise Failure(f"{taut} --version names no instruction set")
    return found


def hash_of(given, scene, isa, threads):
    return run([given.taut, "run", scene, "--no-output", "--quiet", "--hash", "--steps",
                str(given.steps), "--threads", str(threads), "--isa", isa]).strip()


def look(given, scene):
    """The runs of a scene whose hash is not that of the first."""
    first, different = None, []
    for isa in given.isas:
        for threads in range(1, given.threads + 1):
            found = hash_of(given, scene, isa, threads)
            first = first or found
            if found != first:
                different.append(f"{scene}, {isa}, {threads} threads: {found}, not {first}")
    print(f"{os.path.basename(scene):<28} {'differs' if different else first}", flush=True)
    return different


@script
def main(words):
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("taut")
    parser.add_argument("scenes", nargs="+")
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--threads", type=int, default=8)
    parser.add_argument("--isas", type=lambda text: text.split(","))
    parser.add_argument("--json", metavar="FILE")
    given = parser.parse_args(words)
    if given.threads < 1 or given.steps < 1:
        parser.error("--threads and --steps take a number above 0")
    try:
        given.isas = given.isas or isas_of(given.taut)
        different = [text for scene in given.scenes for text in look(given, scene)]
    except (Failure, OSError) as error:
        print(f"hashes.py: {error}", file=sys.stderr)
        return 2
    for text in different:
        print(text)
    if given.json:
        write_json(given.json, {"scenes": len(given.scenes), "steps": given.steps,
                                "threads": given.threads, "isas": given.isas,
                                "different": different})
    return int(bool(different))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
