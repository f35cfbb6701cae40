#!/usr/bin/python3 -B
"""Measures everything that docs/performance.md shows, and writes it there. About ten minutes.

    renew.py BUILD [--only LIST] [--list]

BUILD is a build folder with taut, bench/taut_benchmarks and bench/taut_peer; ./dev bench --renew
makes it and calls this. Let the machine do nothing else meanwhile. Results go to
bench/results/MACHINE_ISA/, each as soon as it is whole; then the tables and pictures are made from
all that are there, and the goals are printed. --only measures some of them again.
"""
import argparse
import glob
import json
import os
import re
import subprocess
import sys
import tempfile
import time

from result_files import TautBench, expecting, parse, script

BENCH = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(BENCH)


def commands(build):
    """(name, what it is, command, whether it prints its result instead of writing {file})"""
    taut = os.path.join(build, "taut")
    scenes = sorted(glob.glob(os.path.join(ROOT, "scenes/*.yaml")))

    def script(name, *words):
        return [sys.executable, "-B", os.path.join(BENCH, name), *words]
    return [
        ("taut_bench", "every scene: speeds, limits, bytes, set-up (4 minutes)",
         [taut, "bench", "--full", "--json"], True),
        ("kernels", "speed over sizes, the volume beside the triad (1 minute)",
         script("sweep.py", os.path.join(build, "bench/taut_benchmarks"), "{file}"), False),
        ("peers", "LAMMPS and Bullet on the same springs (3 minutes)",
         script("peers/run.py", build, "--json", "{file}"), False),
        ("neighbour", "a busy neighbour (1 minute)",
         script("neighbour.py", taut, "--json"), True),
        ("billion", "a billion springs (1 minute)",
         script("billion.py", taut, "--json", "{file}"), False),
        ("hashes", "the same bits for every thread count and instruction set (1 minute)",
         script("hashes.py", taut, *scenes, "--json", "{file}"), False),
    ]


def say(text):
    print(f"renew: {text}", file=sys.stderr, flush=True)


def folder_of(taut):
    """bench/results/MACHINE_ISA of this machine, from the shortest of measurements."""
    said = subprocess.run([taut, "bench", "--scenes", "rope", "--threads", "1", "--seconds", "0.1",
                           "--json", "--quiet"], stdout=subprocess.PIPE, check=True).stdout
    result = parse(said, taut)
    with expecting("taut bench --json", taut):
        machine = re.sub(r"[^a-z0-9]+", "-", result["machine"]["name"].lower()).strip("-")
        return os.path.join(BENCH, "results", f"{machine}_{TautBench(result).isa}")


def measure(folder, name, command, prints):
    """Whether the result is there and whole; an old one stays where it is not."""
    # Programs get a name to write to in a folder that nobody else can write to.
    with tempfile.TemporaryDirectory(dir=folder, prefix=".taut-") as private:
        return measure_to(os.path.join(private, name + ".json"), folder, name, command, prints)


def measure_to(part, folder, name, command, prints):
    path = os.path.join(folder, name + ".json")
    begin = time.monotonic()
    command = [part if word == "{file}" else word for word in command]
    with open(part if prints else os.devnull, "w", encoding="utf-8") as file:
        try:
            code = subprocess.run(command, stdout=file if prints else None, check=False).returncode
        except OSError as error:
            say(f"{name}: {error}")
            code = 2
    try:
        with open(part, encoding="utf-8") as file:
            json.load(file)
    except (OSError, ValueError):
        code = code or 2
    if code == 1 and not prints:
        say(f"{name} has something to complain about: see above")
        code = 0
    seconds = time.monotonic() - begin
    if code == 0:
        os.replace(part, path)
        say(f"{os.path.relpath(path, ROOT)} is renewed, after {seconds:.0f} s")
    else:
        say(f"{name} failed ({code}) after {seconds:.0f} s; what was there stays")
    return code == 0


def show(folder):
    for words in (["table.py", folder, os.path.join(ROOT, "docs/performance.md")],
                  ["plot.py", folder, os.path.join(ROOT, "docs/figures")],
                  ["goals.py", folder]):
        subprocess.run([sys.executable, "-B", os.path.join(BENCH, words[0]), *words[1:]],
                       check=True)


@script
def main(words):
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--only", type=lambda text: text.split(","), metavar="LIST")
    parser.add_argument("--list", action="store_true", help="say what there is to measure, only")
    given = parser.parse_args(words)
    wanted = commands(given.build)
    names = [name for name, *_ in wanted]
    if given.only and set(given.only) - set(names):
        parser.error("--only takes some of " + ", ".join(names))
    wanted = [one for one in wanted if not given.only or one[0] in given.only]
    if given.list:
        for name, what, command, _ in wanted:
            print(f"{name:12}{what}\n            {' '.join(command)}")
        return 0
    folder = folder_of(os.path.join(given.build, "taut"))
    os.makedirs(folder, exist_ok=True)
    failed = []
    for number, (name, what, command, prints) in enumerate(wanted):
        say(f"{number + 1} of {len(wanted)}, {name}: {what}")
        if not measure(folder, name, command, prints):
            failed.append(name)
    show(folder)
    if failed:
        say("not renewed: " + ", ".join(failed))
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
