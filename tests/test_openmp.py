#!/usr/bin/python3
"""taut and OpenMP's environment: OMP_NUM_THREADS, OMP_THREAD_LIMIT, OMP_PLACES and OMP_PROC_BIND.

    test_openmp.py TAUT

Exit status: 0; 1 with an error message; 77 if the build uses POSIX threads.
"""
import json
import os
import subprocess
import sys
import time

SCENE = """
simulation: {dt: 0.0001, steps: 1000000}
environment: {gravity: [0, -9.81, 0]}
bodies:
  - {name: cloth, type: cloth, u: [1, 0, 0], v: [0, 0, 1], nodes: [200, 200], mass: 1,
     springs: {structural: {stiffness: 400}, shear: {stiffness: 400}}, pins: [left]}
output: {work: false}
"""


def environment(variables):
    """The environment of this process, with OpenMP's variables replaced."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("OMP_")}
    return {**kept, **variables}


def threads(taut, scene, variables, *options):
    """The number of threads in the output of `taut info`."""
    done = subprocess.run([taut, "info", "--json", *options, scene], env=environment(variables),
                          capture_output=True, text=True, timeout=60, check=True)
    return json.loads(done.stdout)["threads"]


def masks(taut, scene, variables, wanted):
    """The affinity masks of the threads of a run. Threads are bound some time after they start, so
    they have ten seconds to match `wanted`. The thread sanitizer has a thread of its own, the first
    that is started, which is left out."""
    count = len(wanted)
    with open(taut, "rb") as file:
        own = 1 if b"__tsan_init" in file.read() else 0
    process = subprocess.Popen([taut, "run", "--no-output", "--quiet", "--threads", str(count), scene],
                               env=environment(variables), stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE)
    folder = f"/proc/{process.pid}/task"
    found, complete, deadline = {}, None, time.monotonic() + 60
    try:
        while process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.05)
            if complete and sorted(found.values(), key=sorted) == wanted:
                if time.monotonic() > complete + 0.3:
                    break
            found = {}
            tasks = sorted(os.listdir(folder), key=lambda task: (int(task) != process.pid, int(task)))
            for task in tasks[:1] + tasks[1 + own:]:
                try:
                    found[task] = frozenset(os.sched_getaffinity(int(task)))
                except OSError:  # the thread has just ended
                    pass
            if not complete and len(found) >= count:
                complete = time.monotonic()
                deadline = complete + 10
    finally:
        process.kill()
        process.wait()
    return sorted(found.values(), key=sorted)


def main():
    """Runs all checks."""
    taut = sys.argv[1]
    version = subprocess.run([taut, "--version"], capture_output=True, text=True, check=True).stdout
    if "threads: OpenMP" not in version:
        print("skipped: this build creates POSIX threads")
        return 77
    out = os.path.join(os.path.dirname(os.path.abspath(taut)), "tests", "out")
    os.makedirs(out, exist_ok=True)
    scene = os.path.join(out, "openmp.yaml")
    with open(scene, "w", encoding="utf-8") as file:
        file.write(SCENE)
    flag = os.path.join(os.path.dirname(__file__), "..", "scenes", "flag.yaml")
    wrong = []

    def expect(what, seen, wanted):
        if seen != wanted:
            wrong.append(f"{what}: {seen} instead of {wanted}")

    expect("OMP_NUM_THREADS=3", threads(taut, scene, {"OMP_NUM_THREADS": "3"}), 3)
    expect("it counts for small scenes too", threads(taut, flag, {"OMP_NUM_THREADS": "2"}), 2)
    expect("a small scene without it", threads(taut, flag, {}), 1)
    expect("--threads overrides it",
           threads(taut, scene, {"OMP_NUM_THREADS": "3"}, "--threads", "1"), 1)
    expect("OMP_THREAD_LIMIT limits --threads",
           threads(taut, scene, {"OMP_THREAD_LIMIT": "2"}, "--threads", "3"), 2)
    expect("OMP_THREAD_LIMIT limits the default",
           threads(taut, scene, {"OMP_THREAD_LIMIT": "1"}), 1)
    hashes = {variables: subprocess.run(
        [taut, "run", "--no-output", "--quiet", "--hash", "--steps", "20", scene],
        env=environment(dict([variables] if variables else [])), capture_output=True, text=True,
        timeout=120, check=True).stdout
        for variables in [None, ("OMP_NUM_THREADS", "1"), ("OMP_NUM_THREADS", "4"),
                          ("OMP_THREAD_LIMIT", "1"), ("OMP_PROC_BIND", "true"),
                          ("OMP_WAIT_POLICY", "passive")]}
    expect("hashes", len(set(hashes.values())), 1)

    allowed = sorted(os.sched_getaffinity(0))
    if len(allowed) < 2:
        print("one processor: binding was not tried")
    else:
        pair = [frozenset([allowed[0]]), frozenset([allowed[1]])]
        places = f"{{{allowed[0]}}},{{{allowed[1]}}}"
        expect("OMP_PLACES and OMP_PROC_BIND",
               masks(taut, scene, {"OMP_PLACES": places, "OMP_PROC_BIND": "close"}, pair), pair)
        expect("OMP_PLACES backwards, OMP_PROC_BIND=true",
               masks(taut, scene, {"OMP_PLACES": ",".join(reversed(places.split(","))),
                                   "OMP_PROC_BIND": "true"}, pair), pair)
        # The binding of the calling thread does not reduce the detected machine.
        expect("threads with OMP_PROC_BIND=true",
               threads(taut, scene, {"OMP_PROC_BIND": "true"}), threads(taut, scene, {}))
        both = [frozenset(allowed)] * 2
        expect("without binding", masks(taut, scene, {}, both), both)
    for line in wrong:
        print(line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
