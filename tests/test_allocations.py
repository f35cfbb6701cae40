#!/usr/bin/python3
"""Lets allocations of `taut run` and `taut resume` fail, one after the other, and looks at what is left.

    test_allocations.py TAUT LIBRARY FOLDER [--every]

LIBRARY is fail_allocation.c, preloaded. A small run with all output and checkpoints, and one with
contact, whose lists grow within steps, are made once for each allocation that fails alone and once for
each from which all fail, and runs that were interrupted are continued in the same way. Each must end by itself, with a message if it has failed, and with the right
files if not; whatever it has left is then continued by `taut resume` or, where that says so, replaced
by `taut run --force`, and must become the folder of an undisturbed run.

Without --every a sample of the allocations fails; with TAUT_TEST_QUICK set a smaller one. Exit code 0:
all is well; 77: skipped. Where it is interrupted it says what it has done so far; exit code 130.
"""
import argparse
import os
import shutil
import signal
import subprocess
import sys

from test_faults import contents

REPOSITORY = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SCENES = {"small": """simulation: {dt: 0.001, steps: 40, integrator: verlet}
environment: {gravity: [0, -9.81, 0], air_drag: 0.001}
bodies:
  - {name: rope, type: rope, from: [0, 0, 0], to: [1, 0, 0], nodes: 12,
     node_mass: 0.05, spring: {stiffness: 1000, damping: 0.1}, pins: [first]}
  - {name: ball, type: sphere, radius: 0.4, subdivisions: 1, mass: 0.3,
     spring: {stiffness: 400, damping: 0.1}, pressure: {amount: 3}}
output:
  every_steps: 20
  vtp: true
  pc2: true
  probes: [{body: rope, node: last, every_steps: 7}]
  checkpoint: {every: 0.01}
""", "contact": """simulation: {dt: 0.0005, steps: 40, integrator: velocity_verlet}
environment: {gravity: [0, -9.81, 0], air_drag: 0.001}
contact: {thickness: 0.02, friction_coefficient: 0.3, existing: relax}
bodies:
  - {name: rope, type: rope, from: [0, 0.1, 0], to: [1, 0.1, 0], nodes: 12, velocity: [0, -3, 0],
     node_mass: 0.05, spring: {stiffness: 1000, damping: 0.1}, contact: {thickness: 0.03}}
  - {name: cloth, type: cloth, origin: [0, 0, -0.3], u: [1, 0, 0], v: [0, 0, 0.6], nodes: [11, 7],
     fabric: denim, velocity: [0, 1, 0]}
  - {name: cube, type: lattice, origin: [0.3, 0.2, 0], nodes: [3, 3, 3], spacing: 0.1, mass: 0.2,
     spring: {stiffness: 400, damping: 0.1}, velocity: [0, -4, 0]}
colliders:
  - {type: plane, point: [0, -0.1, 0], normal: [0, 1, 0], response: contact,
     friction_coefficient: 0.4}
  - {type: sphere, center: [0.5, -0.6, 0], radius: 0.52, response: contact}
  - {type: mesh, file: """ + REPOSITORY + """/scenes/meshes/cube.asc, scale: 0.1,
     translate: [0.8, -0.08, 0], friction_coefficient: 0.5, motion: {velocity: [0, 1, 0]}}
output:
  every_steps: 20
  vtp: true
  probes: [{body: rope, node: last, every_steps: 7}]
  checkpoint: {every: 0.005}
"""}


class Trials:
    def __init__(self, taut, library, folder, scene):
        self.taut, self.library, self.folder = os.path.abspath(taut), os.path.abspath(library), folder
        self.failed = self.survived = self.resumed = self.replaced = 0
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        self.scene = scene + ".yaml"
        with open(self.path(self.scene), "w", encoding="utf-8") as file:
            file.write(SCENES[scene])

    def path(self, name):
        return os.path.join(self.folder, name)

    def run(self, arguments, fail_at=None, on=False):
        environment = dict(os.environ, OMP_NUM_THREADS="1")
        if fail_at is not None:
            environment.update(LD_PRELOAD=self.library, FAIL_AT=str(fail_at),
                               FAIL_COUNT=os.path.abspath(self.path("count")))
            if on:
                environment["FAIL_ON"] = "1"
        return subprocess.run([self.taut, *arguments, "--quiet", "--threads", "1"], cwd=self.folder,
                              capture_output=True, text=True, check=False, timeout=60,
                              env=environment)

    def count(self):
        with open(self.path("count"), encoding="ascii") as file:
            return int(file.read())

    def whole(self, done, what):
        if done.returncode != 0:
            raise SystemExit("%s: exit code %d\n%s" % (what, done.returncode, done.stderr))

    def compare(self, name, what):
        found = contents(self.path(name))
        if found != self.expected:
            wrong = [file for file in sorted(set(found) | set(self.expected))
                     if found.get(file) != self.expected.get(file)]
            raise SystemExit("%s: other files than without a failure: %s" % (what, ", ".join(wrong)))

    def prepare(self):
        """The undisturbed run, and one that was interrupted after its second checkpoint."""
        self.start = ["run", self.scene, "--output", "trial", "--state", "trial/end.csv"]
        done = self.run(self.start, 0)
        self.whole(done, "without a failure")
        self.run_count = self.count()
        self.expected = contents(self.path("trial"))
        # As a run killed at its end leaves it: complete in all but the manifest.
        shutil.copytree(self.path("trial"), self.path("interrupted"))
        os.remove(self.path("interrupted/end.csv"))
        manifest = self.path("interrupted/manifest.json")
        with open(manifest, encoding="utf-8") as file:
            text = file.read()
        with open(manifest, "w", encoding="utf-8") as file:
            file.write(text.replace('"complete": true', '"complete": false'))
        self.restart = ["resume", "trial", "--state", "trial/end.csv"]
        self.use_interrupted()
        done = self.run(self.restart, 0)
        self.whole(done, "continued without a failure")
        self.resume_count = self.count()
        self.compare("trial", "continued without a failure")

    def use_interrupted(self):
        shutil.rmtree(self.path("trial"), ignore_errors=True)
        shutil.copytree(self.path("interrupted"), self.path("trial"))

    def finish(self, what):
        if os.path.exists(self.path("trial/manifest.json")):
            done = self.run(["resume", "trial", "--state", "trial/end.csv"])
            if done.returncode == 0:
                self.resumed += 1
                return
            if "--force" not in done.stderr:
                raise SystemExit("%s: cannot be continued\n%s" % (what, done.stderr))
        self.whole(self.run(self.start + ["--force"]), what + ": cannot be replaced")
        self.replaced += 1

    def trial(self, kind, number, on):
        what = "%s, allocation %d%s" % (kind, number, " and all after it" if on else "")
        if kind == "run":
            shutil.rmtree(self.path("trial"), ignore_errors=True)
        else:
            self.use_interrupted()
        try:
            done = self.run(self.start if kind == "run" else self.restart, number, on)
        except subprocess.TimeoutExpired as late:
            raise SystemExit("%s: does not end" % what) from late
        if done.returncode < 0:
            raise SystemExit("%s: ended by %s\n%s" % (
                what, signal.Signals(-done.returncode).name, done.stderr))
        if done.returncode == 0:
            self.survived += 1
        elif not done.stderr.strip():
            raise SystemExit("%s: exit code %d without a message" % (what, done.returncode))
        else:
            self.failed += 1
            self.finish(what)
        self.compare("trial", what)

    def sweep(self, every):
        sample = 8 if os.environ.get("TAUT_TEST_QUICK") else 40
        for kind, count in (("run", self.run_count), ("resume", self.resume_count)):
            stride = 1 if every else max(1, count // sample)
            for on in (False, True):
                numbers = set(range(1 + (stride // 2 if on else 0), count + 1, stride))
                if kind == "resume" and not on:  # the manifest is read by few, which a sample misses
                    numbers |= set(range(1, 25))
                for number in sorted(numbers):
                    self.trial(kind, number, on)

    def report(self):
        return "%s: %d allocations in a run, %d in its continuation; %d trials failed with a message, " \
            "%d ended well; %d were continued and %d begun again, all folders alike" % (
                self.scene, self.run_count, self.resume_count, self.failed, self.survived,
                self.resumed, self.replaced)



def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("taut")
    parser.add_argument("library")
    parser.add_argument("folder")
    parser.add_argument("--every", action="store_true")
    given = parser.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    if not os.path.exists(given.library):
        print("the allocator of this build cannot be replaced")
        return 77
    for scene in SCENES:
        trials = Trials(given.taut, given.library, given.folder, scene)
        trials.prepare()
        try:
            trials.sweep(given.every)
        except KeyboardInterrupt:
            print("interrupted after trials of " + trials.report())
            return 130
        print(trials.report())
        shutil.rmtree(given.folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
