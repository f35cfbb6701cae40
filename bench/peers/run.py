#!/usr/bin/python3
"""Compares taut with LAMMPS and Bullet on the same springs, in alternation.

    run.py BUILD [--json FILE] [--scenes LIST] [--rounds N] [--threads N] [--check-only]

BUILD is a build folder with bench/taut_peer in it; ./dev bench --peers makes one and installs the
packages of the other programs. The networks are those of taut's undamped benchmark scenes, written
by taut_peer.

taut and LAMMPS both take steps of velocity Verlet without damping; LAMMPS in double precision (its
Intel style in single), taut in single and in double. Each row says so.

Each program reads its network once. Then they alternate, round by round, with equal numbers of
steps (Bullet with a tenth of them, since it is slower), so that a disturbance affects all of them.
A program that waits for its turn must not run: MPI's ranks spin while they wait, so they are
stopped. Set-up is not measured.

LAMMPS runs with its fastest settings for this problem: no pair forces, no neighbour list that is
rebuilt, atoms sorted in space at the start, no evaluation of energies; Newton's third law is off on
one rank (there is nothing to send back) and on on several. The OpenMP and Intel styles run if its
build has them. Bullet makes one soft body of the network, with one position iteration per step.

First the script checks that LAMMPS and taut compute the same: on a small network of each kind both
make CHECK_STEPS steps of velocity Verlet in double precision. Bullet's links are constraints: other
physics, at the same cost or less.
"""
import argparse
import json
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(1, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tools"))
from benchmark_results import script, write_json  # noqa: E402

# (name here, scene of taut-bench, springs; 0: the default number)
SCENES = [("cloth", "cloth-undamped", 0), ("jelly26", "jelly26-undamped", 0),
          ("jelly52", "jelly52-undamped", 0), ("cloth-large", "cloth-undamped", 12600000),
          ("ball", "ball-undamped", 0), ("shuffled", "shuffled-undamped", 0)]
CHECK_SPRINGS, CHECK_STEPS, TOLERANCE = 20000, 100, 1e-9
TURN_SECONDS = 0.3  # of the slower of taut and LAMMPS
MPI = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}

LAMMPS_INPUT = """\
units lj
atom_style bond
atom_modify map array sort 1 {bin:.17g}
boundary f f f
newton {newton}
pair_style none
comm_modify cutoff {cutoff:.17g}
bond_style harmonic
special_bonds lj/coul 0 1 1
neighbor 0 bin
neigh_modify every 1000000000 delay 1000000000 check no
read_data {data}
group free type 1
timestep {dt:.17g}
fix move free nve
fix weight free gravity 9.81 vector 0 -1 0
thermo 0
thermo_modify lost ignore norm no
run 0
"""


class Failure(Exception):
    """An error that ends the comparison, with its message."""


def children(pid):
    """All descendants of a process."""
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", encoding="utf-8", errors="replace") as file:
                    parent = int(file.read().rpartition(")")[2].split()[1])
            except (OSError, ValueError, IndexError):
                continue
            if parent == pid:
                found += [int(name), *children(int(name))]
    return found


class Side:
    """A program that reads requests from its standard input."""

    share = 1.0  # of the steps of a turn
    integrator, damping, precision = "velocity_verlet", "none", "double"

    def __init__(self, name, threads, command, env=None):
        self.name, self.threads = name, threads
        # pylint: disable-next=consider-using-with
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True, env={**os.environ, **(env or {})})

    def send(self, text):
        try:
            self.process.stdin.write(text)
            self.process.stdin.flush()
        except OSError as error:
            raise Failure(f"{self.name}: {error}") from error

    def line(self):
        line = self.process.stdout.readline()
        if not line:
            raise Failure(f"{self.name} ended early")
        return line

    def turn(self, steps):
        """The seconds that this number of steps took."""
        self.send(f"{self.threads} {steps}\n")
        return float(self.line())

    def end(self):
        self.process.stdin.close()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()


class Lammps(Side):
    """LAMMPS, interactively. It buffers its output to a pipe, hence stdbuf."""

    def __init__(self, name, ranks, threads, network, options=()):
        command = ["stdbuf", "-oL", "lmp", "-log", "none", "-nocite", *options]
        if ranks > 1:
            command = ["mpirun", "-np", str(ranks), "--bind-to", "core", *command]
        super().__init__(name, max(ranks, threads), command,
                         {**MPI, "OMP_NUM_THREADS": str(threads)})
        self.spins = ranks > 1
        self.send(LAMMPS_INPUT.format(newton="on" if ranks > 1 else "off", **network))
        self.loop_time()
        self.sleep()

    def loop_time(self):
        while True:
            line = self.line()
            if line.startswith("ERROR"):
                raise Failure(f"{self.name}: {line.strip()}")
            found = re.match(r"Loop time of (\S+)", line)
            if found:
                return float(found.group(1))

    def send_signal(self, signal_number):
        for pid in children(self.process.pid) if self.spins else []:
            try:
                os.kill(pid, signal_number)
            except ProcessLookupError:
                pass

    def sleep(self):
        self.send_signal(signal.SIGSTOP)

    def turn(self, steps):
        self.send_signal(signal.SIGCONT)
        self.send(f"run {steps} pre no post no\n")
        seconds = self.loop_time()
        self.sleep()
        return seconds

    def end(self):
        self.send_signal(signal.SIGCONT)
        super().end()


def output(command):
    try:
        return subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True,
                              env={**os.environ, **MPI}).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        raise Failure(f"{command[0]}: {error}") from error


def lammps_build():
    """(version, the available accelerated styles: "omp", "intel")."""
    text = output(["lmp", "-h"])
    version = re.search(r"Simulator - (.*)", text)
    packages = re.search(r"Installed packages:\n\n(.*?)\n\n", text, re.DOTALL)
    packages = packages.group(1).split() if packages else []
    styles = [style for style, package in (("omp", ("OPENMP", "USER-OMP")),
                                           ("intel", ("INTEL", "USER-INTEL")))
              if set(package) & set(packages)]
    return version.group(1) if version else "?", styles


def write_network(peer, scene, springs, folder):
    """Writes the network for the other programs; returns the values for LAMMPS' input."""
    prefix = os.path.join(folder, "network")
    nodes, springs, dt, _ = output([peer, "write", scene, str(springs), prefix]).split()
    longest = 0.0
    with open(prefix + ".data", encoding="ascii") as file:
        for line in file:
            words = line.split()
            if words[:1] == ["Atoms"]:
                break
            if len(words) == 3 and words[0].isdigit() and words[1][0].isdigit():
                longest = max(longest, float(words[2]))
    return {"nodes": int(nodes), "springs": int(springs), "dt": float(dt), "bin": 4 * longest,
            "cutoff": 1.5 * longest, "data": prefix + ".data", "binary": prefix + ".bin"}


# ---- The check that both compute the same


def lammps_positions(network, ranks, folder):
    dump = os.path.join(folder, "positions")
    script = os.path.join(folder, "check.in")
    with open(script, "w", encoding="ascii") as file:
        file.write(LAMMPS_INPUT.format(newton="on" if ranks > 1 else "off", **network)
                   + f"run {CHECK_STEPS}\nwrite_dump all custom {dump} id x y z "
                   "modify sort id format float %.17g\n")
    output(["mpirun", "-np", str(ranks), "lmp", "-in", script, "-log", "none", "-nocite"])
    with open(dump, encoding="ascii") as file:
        rows = file.read().split("ITEM: ATOMS id x y z")[1].split("\n")
    return [[float(word) for word in row.split()[1:]] for row in rows if row.split()]


def check(peer, scene, ranks, folder):
    """The largest difference of a coordinate, divided by the largest displacement."""
    network = write_network(peer, scene, CHECK_SPRINGS, folder)
    start, ours = [[[float(word) for word in row.split()] for row in
                    output([peer, "check", scene, str(CHECK_SPRINGS), str(steps)]).splitlines()]
                   for steps in (0, CHECK_STEPS)]
    theirs = lammps_positions(network, ranks, folder)
    if len(ours) != len(theirs):
        raise Failure(f"{scene}: {len(ours)} nodes here, {len(theirs)} there")

    def furthest(some, others):
        return max(abs(x - y) for p, q in zip(some, others) for x, y in zip(p, q))
    return furthest(ours, theirs) / furthest(ours, start)


def checks(peer, ranks, folder, scenes):
    done = []
    kinds = {scene: name for name, scene, _ in reversed(scenes)}  # each once, whatever its sizes
    for scene, name in reversed(kinds.items()):
        for count in sorted({1, ranks}):
            away = check(peer, scene, count, folder)
            done.append({"scene": name, "ranks": count, "steps": CHECK_STEPS, "difference": away})
            print(f"check: {name}, {count} ranks, {CHECK_STEPS} steps: positions differ by "
                  f"{away:.1e} of the way gone", flush=True)
            if not away < TOLERANCE:
                raise Failure(f"{name}: taut and LAMMPS do not compute the same")
    return done


# ---- Speeds


def start_sides(build, scene, springs, network, threads, styles, sides):
    """Adds each side to `sides` as it is started, so that the caller can end those that were
    started."""
    for precision, name in (("single", "taut"), ("double", "taut double")):
        for count in sorted({1, threads}):
            side = Side(name, count, [os.path.join(build, "bench/taut_peer"), "serve", scene,
                                      str(springs), precision])
            side.precision = precision
            sides.append(side)
            side.line()
    for count in sorted({1, threads}):
        sides.append(Lammps("LAMMPS", count, 1, network))
    for style in styles:
        for count in sorted({1, threads}):
            package = ["-pk", "omp", str(count)] if style == "omp" else \
                ["-pk", "intel", "0", "omp", str(count), "mode", "single"]
            side = Lammps(f"LAMMPS {style}", 1, count, network, ["-sf", style, *package])
            side.precision = "single" if style == "intel" else "double"
            sides.append(side)
    bullet = Side("Bullet", 1, [os.path.join(build, "bench/bullet_peer"), network["binary"]])
    bullet.share = 0.1
    bullet.integrator, bullet.precision = "position-based", "single"
    sides.append(bullet)
    bullet.line()


def measure(sides, rounds):
    """{side: seconds per step, one value per round}."""
    slowest = 0.0
    for side in sides:  # warm-up: the second turn determines the speed
        if side.share == 1:
            side.turn(2)
            slowest = max(slowest, side.turn(3) / 3)
    steps = max(2, round(TURN_SECONDS / slowest))
    times = {side: [] for side in sides}
    for number in range(rounds):
        for side in sides if number % 2 == 0 else reversed(sides):
            count = max(1, round(side.share * steps))
            times[side].append(side.turn(count) / count)
    return times


def compare(build, scene, given, styles, folder):
    name, kind, springs = scene
    network = write_network(os.path.join(build, "bench/taut_peer"), kind, springs, folder)
    print(f"{name}: {network['nodes']:,} nodes, {network['springs']:,} springs, undamped; "
          "starting ...", file=sys.stderr, flush=True)
    sides, rows = [], []
    try:
        start_sides(build, kind, springs, network, given.threads, styles, sides)
        times = measure(sides, given.rounds)
    finally:
        for side in sides:
            side.end()
    for side, seconds in times.items():
        speeds = [network["springs"] / s for s in seconds]
        rows.append({"scene": name, "nodes": network["nodes"], "springs": network["springs"],
                     "program": side.name, "threads": side.threads,
                     "integrator": side.integrator, "damping": side.damping,
                     "precision": side.precision,
                     "spring_updates_per_second": {"best": max(speeds),
                                                   "median": statistics.median(speeds),
                                                   "repetitions": speeds}})
    report(rows)
    return rows


def report(rows):
    print(f"\n{rows[0]['scene']}: {rows[0]['nodes']:,} nodes, {rows[0]['springs']:,} springs")
    print(f"  {'':14}{'integrator':18}{'precision':10}{'threads':>8}{'best':>10}{'median':>10}"
          "   taut, in single, is faster: best, median")
    for row in rows:
        ours = next(r for r in rows if r["program"] == "taut" and r["threads"] == row["threads"])
        speeds, us = row["spring_updates_per_second"], ours["spring_updates_per_second"]
        paired = statistics.median(a / b for a, b in zip(us["repetitions"], speeds["repetitions"]))
        ratio = "" if ours is row else f"{us['best'] / speeds['best']:8.1f}x{paired:8.1f}x"
        print(f"  {row['program']:14}{row['integrator']:18}{row['precision']:10}"
              f"{row['threads']:>8}{speeds['best'] / 1e6:>8.0f} M"
              f"{speeds['median'] / 1e6:>8.0f} M   {ratio}", flush=True)


def compile_bullet(build):
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bullet_peer.cc")
    flags = output(["pkg-config", "--cflags", "--libs", "bullet"]).split()
    # Bullet is a library; this program has the loop.
    output(["g++", "-O3", "-march=native", "-std=c++17", source, "-o",
            os.path.join(build, "bench/bullet_peer"), *flags])
    return output(["pkg-config", "--modversion", "bullet"]).strip()


def arguments(words):
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--scenes", default=",".join(name for name, _, _ in SCENES))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2, help="of the second figure (default: 2)")
    parser.add_argument("--check-only", action="store_true", help="only that they compute the same")
    given = parser.parse_args(words)
    names = given.scenes.split(",")
    given.scenes = [scene for scene in SCENES if scene[0] in names]
    if len(given.scenes) != len(names) or given.rounds < 1 or given.threads < 1:
        parser.error("--scenes takes some of " + ", ".join(name for name, _, _ in SCENES)
                     + "; --rounds and --threads a number above 0")
    return given


@script
def main(words):
    given = arguments(words)
    for program in ("lmp", "mpirun", "stdbuf", "g++", "pkg-config"):
        if not shutil.which(program):
            print(f"run.py: there is no {program}; ./dev bench --peers installs what is missing",
                  file=sys.stderr)
            return 2
    try:
        version, styles = lammps_build()
        bullet = compile_bullet(given.build)
        print(f"LAMMPS {version}; accelerated styles in its build: {', '.join(styles) or 'none'}; "
              f"Bullet {bullet}", flush=True)
        with tempfile.TemporaryDirectory() as folder:
            peer = os.path.join(given.build, "bench/taut_peer")
            result = {"benchmark": "peers", "lammps": version, "lammps_styles": styles,
                      "bullet": bullet,
                      "checks": checks(peer, given.threads, folder, given.scenes), "results": []}
            for scene in [] if given.check_only else given.scenes:
                result["results"] += compare(given.build, scene, given, styles, folder)
    except Failure as failure:
        print(f"run.py: {failure}", file=sys.stderr)
        return 1
    if given.json:
        write_json(given.json, result)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
