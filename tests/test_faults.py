#!/usr/bin/python3
"""Kills runs and continues them: every finished folder is compared, byte by byte, with that of a run
that was never interrupted.

    test_faults.py TAUT FOLDER [--kills N] [--seed S]

Six scenes, which between them have everything that a run remembers: springs that break, springs that
yield, gas that is pumped in, an implicit integrator, xpbd, and dt: auto; with drives, gusts, drag,
colliders of both responses, a closed-form pendulum, and all output at rates of its own. Each run is
killed (SIGKILL) at a random moment, and continued by `taut resume` with another number of threads and
another instruction set; two in five of these are killed again.

With TAUT_TEST_QUICK set it kills 6 times. Exit code 0: all folders are alike; 77: skipped. Where it
is interrupted (SIGINT, SIGTERM) it says what it has done so far, and its exit code is 130.
"""
import argparse
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time

CLOTH = """{name: cloth, type: cloth, origin: [0, 2, 0], u: [1, 0, 0], v: [0, -0.2, 1],
     nodes: [%d, %d], mass: 0.3, pins: [%s],
     springs: {structural: {stiffness: %g, damping: 0.02%s}, shear: {stiffness: 20, damping: 0.01}}}"""
ROPE = """{name: rope, type: rope, from: [0, 0, 0], to: [1, 0, 0], nodes: 30, node_mass: 0.01,
     spring: {stiffness: 900, damping: 0.05%s}, pins: [first],
     drives: [{node: last, velocity: [[0.1, [0.2, 0.1, 0]], [0.3, [0, -0.3, 0]]]}]}"""
BALL = """{name: ball, type: sphere, center: [0, 1.2, 0], radius: 0.4, subdivisions: 3, mass: 0.3,
     spring: {stiffness: 400, damping: 0.1}, pressure: {amount: 3, gamma: 1.4, inflate: 0.5}}"""
PENDULUM = """{name: bob, type: pendulum, pivot: [3, 0, 0], length: 1, angle: 40, mass: 1,
     model: equation}"""
AIR = """  gravity: [0, -9.81, 0]
  air_drag: 0.002
  wind: {velocity: [1, 0, 2], law: quadratic, drag: 0.4,
         gusts: [{amplitude: [0.5, 0, 0.3], period: 0.3}]}"""
FLOOR = "[{type: plane, point: [0, -0.2, 0], normal: [0, 1, 0], stiffness: 800, friction: 0.3}]"
PROJECT = """[{type: sphere, center: [0.4, 1.2, 0.4], radius: 0.3, response: project, keep: 0.5,
     velocity: [0.05, 0, 0]}]"""


def scene(integrator, dt, duration, bodies, colliders="[]", more="", every="every: %g" % 0.013):
    return ("simulation: {integrator: %s, dt: %s, duration: %g%s}\nenvironment:\n%s\nbodies:\n%s\n"
            "colliders: %s\noutput:\n  %s\n  vtp: true\n  pc2: true\n"
            "  probes: [{body: %s, node: last}, {body: %s, node: 3, every_steps: 7}]\n") % (
                integrator, dt, duration, more, AIR, "".join("  - %s\n" % body for body in bodies),
                colliders, every, *(re.match(r"{name: (\w+)", bodies[0]).group(1),) * 2)


SCENES = {
    "breaking": scene("verlet", 0.0002, 0.4,
                      [CLOTH % (24, 30, "left, right", 60, ", break_at: 1.03"),
                       ROPE % ", break_at: 1.05"], FLOOR, every="every: 0.0171"),
    "yielding": scene("velocity_verlet", 0.0002, 0.4,
                      [CLOTH % (24, 26, "top", 60, ", yield_at: 1.01"), ROPE % ", yield_at: 1.02",
                       PENDULUM], FLOOR, every="every_steps: 61"),
    "gas": scene("symplectic_euler", 0.0002, 0.6, [BALL, ROPE % ""], FLOOR, every="every: 0.02"),
    "implicit": scene("bdf2", 0.004, 0.6, [CLOTH % (24, 24, "top", 90, ""), ROPE % ""], PROJECT,
                      every="every: 0.02"),
    "xpbd": scene("xpbd", 0.004, 1.2, [CLOTH % (50, 50, "corners", 200, ""), PENDULUM], PROJECT,
                  ", substeps: 6, iterations: 2", "every: 0.031\n  checkpoint: {every: 0.25}"),
    "auto": scene("symplectic_euler", "auto", 0.6, [BALL, CLOTH % (30, 30, "top", 60, "")], FLOOR,
                  every="every: 0.0137"),
}


def available(taut):
    """The instruction sets of this machine."""
    text = subprocess.run([taut, "--version"], capture_output=True, text=True, check=True).stdout
    line = re.search("instruction sets: (.*)", text).group(1)
    return re.findall(r"(base|v3|v4|neon) \(", line)


def contents(folder):
    found = {}
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name), "rb") as file:
            found[name] = file.read()
    return found


def differences(found, expected):
    """What is not alike, as text."""
    lines = []
    for name in sorted(set(found) | set(expected)):
        if name not in found or name not in expected:
            lines.append("%s is only in the %s" % (name, "other" if name in expected else "first"))
        elif found[name] != expected[name]:
            at = next((i for i, (a, b) in enumerate(zip(found[name], expected[name])) if a != b),
                      min(len(found[name]), len(expected[name])))
            lines.append("%s differs from byte %d on (%d and %d bytes)" % (
                name, at, len(found[name]), len(expected[name])))
    return lines


class Faults:
    def __init__(self, taut, folder, seed):
        self.taut, self.folder, self.random = os.path.abspath(taut), folder, random.Random(seed)
        self.isas = available(taut)
        self.expected, self.seconds = {}, {}
        self.kills = self.again = self.from_checkpoint = 0
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        for name, text in SCENES.items():
            with open(os.path.join(folder, name + ".yaml"), "w", encoding="utf-8") as file:
                file.write(text)

    def command(self, *arguments):
        return [self.taut, *arguments, "--quiet", "--isa", self.random.choice(self.isas), "--threads",
                str(self.random.choice((1, 2, 3)))]

    def start(self, name):
        return self.command("run", name + ".yaml", "--output", name, "--state", name + "/final.csv",
                            "--checkpoint-every", "0.01")

    def run(self, command):
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise SystemExit("%s: exit code %d\n%s" % (" ".join(command), done.returncode,
                                                       done.stderr))

    def kill(self, command, seconds):
        """Runs it, and kills it after that time; whether it was still there."""
        with subprocess.Popen(command, cwd=self.folder, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE) as process:
            try:
                process.wait(seconds)
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGKILL)
                process.wait()
                self.kills += 1
                return True
            if process.returncode != 0:
                raise SystemExit("%s: exit code %d\n%s" % (" ".join(command), process.returncode,
                                                           process.stderr.read().decode()))
        return False

    def reference(self, name):
        begin = time.monotonic()
        self.run(self.start(name) + ["--threads", "1"])
        self.seconds[name] = time.monotonic() - begin
        path = os.path.join(self.folder, name)
        self.expected[name] = contents(path)
        shutil.rmtree(path)

    def trial(self, name):
        """One run with its kills; the number of them."""
        before, path = self.kills, os.path.join(self.folder, name)
        moment = self.random.uniform(0.01, 1) * self.seconds[name]
        if not self.kill(self.start(name), moment):
            shutil.rmtree(path)
            return 0
        if not os.path.exists(os.path.join(path, "scene.yaml")):  # nothing has begun
            shutil.rmtree(path, ignore_errors=True)
            return 0
        resume = lambda: self.command("resume", name, "--state", name + "/final.csv",
                                      "--checkpoint-every", "0.01")
        self.from_checkpoint += any(".taut" in file for file in os.listdir(path))
        while self.random.random() < 0.4:
            if not self.kill(resume(), self.random.uniform(0.005, 1) * self.seconds[name]):
                break
            self.again += 1
        self.run(resume())
        wrong = differences(contents(path), self.expected[name])
        if wrong:
            raise SystemExit("%s, killed %d times, the first after %.3f s of %.3f:\n  %s" % (
                name, self.kills - before, moment, self.seconds[name], "\n  ".join(wrong)))
        shutil.rmtree(path)
        return self.kills - before


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("taut")
    parser.add_argument("folder")
    parser.add_argument("--kills", type=int,
                        default=6 if os.environ.get("TAUT_TEST_QUICK") else 24)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    faults = Faults(given.taut, given.folder, given.seed)
    names = list(SCENES)
    for name in names:
        faults.reference(name)
    begin, trials = time.monotonic(), 0
    report = lambda: "%d kills of %s, %d of them of continued runs; %d runs continued from a " \
        "checkpoint; all folders alike, %.0f s" % (faults.kills, ", ".join(names), faults.again,
                                                   faults.from_checkpoint, time.monotonic() - begin)
    try:
        while faults.kills < given.kills:
            faults.trial(names[trials % len(names)])
            trials += 1
            if trials > 4 * given.kills + 24:
                raise SystemExit("the runs end before they are killed")
    except KeyboardInterrupt:
        print("interrupted after " + report())
        return 130
    print(report())
    if faults.from_checkpoint < given.kills / 4:
        raise SystemExit("too few of them had a checkpoint for that to show anything")
    shutil.rmtree(given.folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
