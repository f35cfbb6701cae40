#!/usr/bin/python3 -B
"""Two ranks in two network namespaces, which a virtual link joins as a network joins two machines.

    namespaces.py TAUT [SCENE.yaml] [--delay US] [--rate MBIT] [--steps N] [--rounds N]
                  [--threads N] [--ping] [--json FILE]

TAUT is a build with MPI (Open MPI). The link is a veth pair; both ends have a queue of tc, by default
netem with a delay of 50 us each way and a rate of 1000 Mbit/s (0: none). Where the kernel has no
netem, the rate alone is set by tbf, and where it has neither the link is not shaped; the first line
of the output says what the link is.

Each rank has its own namespace, host name, and processor, and MPI has only TCP. In each round the
scene runs on one rank with two threads per thread of a rank, on two ranks with shared memory, and on
two ranks over the link. All must have the hash of one process. The times are those of the steps,
without start and set-up. Default scene: a cloth of 1000 x 1000 nodes. --ping measures the link with
bench/ping_pong.c (mpicc) and runs no scene.

It needs root, since only root makes namespaces, and the programs ip and tc (Debian: iproute2),
nsenter, unshare and taskset (util-linux) and mpirun. At the end, and after errors, Ctrl-C and
SIGTERM, all processes in the namespaces are ended, and the namespaces and the link removed.

Exit status: 0; 1 if a hash differs or a run failed; 2 for wrong usage; 77 where it is not possible.
"""
import argparse
import contextlib
import json
import os
import shlex
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

from benchmark_results import BadInput, expecting, parse, script, write_json

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SKIPPED = 77
LIMIT = 600  # s, of one run
PREFIX = "10.213.0."
SCENE = """
simulation: {integrator: symplectic_euler, dt: 0.0001, steps: 100}
environment: {gravity: [0, -9.81, 0]}
bodies:
  - {name: cloth, type: cloth, u: [10, 0, 0], v: [0, 0, 10], nodes: [1000, 1000], mass: 20,
     springs: {structural: {stiffness: 400, damping: 0.001}, shear: {stiffness: 400, damping: 0.001},
               bend: {stiffness: 40, damping: 0.001}}, pins: [left]}
output: {every_steps: 1000000, work: false}
"""


class NotPossible(Exception):
    """Something is missing on this machine; the message says what."""


class Signals:
    """Signals that end a program become one exception, so that everything is removed; while they are
    held, which is while a process is started that nobody could end otherwise, at the release."""

    KINDS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

    def __init__(self):
        self.held, self.came, self.raised = 0, None, False

    def end(self, number, _):
        self.came = self.came or signal.Signals(number).name
        self.check()

    def check(self):
        if self.came and not self.held and not self.raised:
            self.raised = True
            raise KeyboardInterrupt(self.came)

    def hold(self):
        self.held += 1

    def release(self):
        self.held -= 1
        self.check()


SIGNALS = Signals()


def command(*words):
    """Runs a short program, whose failure is an error with its message."""
    SIGNALS.hold()
    try:
        done = subprocess.run(words, text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, start_new_session=True, check=False)
    finally:
        SIGNALS.release()
    if done.returncode != 0:
        raise NotPossible(f"{' '.join(words)}: {done.stderr.strip() or done.returncode}")
    return done.stdout


def output_of(words):
    """The output of a run; it is ended when this is left by an exception."""
    SIGNALS.hold()
    with subprocess.Popen(words, text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, start_new_session=True) as process:
        try:
            SIGNALS.release()
            output, errors = process.communicate(timeout=LIMIT)
        except BaseException:
            process.terminate()  # mpirun ends its ranks first
            try:
                process.wait(timeout=5)
            except subprocess.TimeoutExpired:
                process.kill()
            raise
    if process.returncode != 0:
        raise BadInput(f"{shlex.join(words)}: exit status {process.returncode}\n{errors.strip()}")
    return output


def check_machine(taut):
    if os.geteuid() != 0:
        raise NotPossible("only root may make network namespaces")
    programs = ("ip", "tc", "nsenter", "unshare", "taskset", "mpirun")
    missing = [name for name in programs if not shutil.which(name)]
    if missing:
        raise NotPossible(f"not installed: {', '.join(missing)} (Debian: iproute2 has ip and tc, "
                          "openmpi-bin mpirun)")
    if "Open MPI" not in command("mpirun", "--version"):
        raise NotPossible("mpirun is not that of Open MPI, whose options are used here")
    if "ranks: Open MPI" not in command(taut, "--version"):
        raise NotPossible(f"{taut} is not built with Open MPI: configure it with -DTAUT_MPI=ON")


class Link:
    """Two namespaces, joined by a veth pair with a queue at each end."""

    def __init__(self, delay, rate):
        self.delay, self.rate = delay, rate  # us, Mbit/s
        self.names = [f"taut-{os.getpid()}-{end}" for end in range(2)]
        self.queues = []

    def make(self):
        for name in self.names:
            command("ip", "netns", "add", name)
        # Both ends begin in their namespaces: nothing of them is ever seen outside.
        command("ip", "link", "add", "veth0", "netns", self.names[0], "type", "veth", "peer", "name",
                "veth1", "netns", self.names[1])
        for end, name in enumerate(self.names):
            command("ip", "-n", name, "address", "add", f"{PREFIX}{end + 1}/24", "dev", f"veth{end}")
            for device in ("lo", f"veth{end}"):
                command("ip", "-n", name, "link", "set", device, "up")
        self.shape()

    def shape(self):
        netem = ["netem", "limit", "100000", *(["delay", f"{self.delay:g}us"] if self.delay else []),
                 *(["rate", f"{self.rate:g}mbit"] if self.rate else [])]
        tbf = ["tbf", "rate", f"{self.rate:g}mbit", "burst", "128kb", "latency", "50ms"]
        wanted = [netem] if self.delay or self.rate else []
        if self.rate:
            wanted.append(tbf)
        for queue in wanted:
            try:
                for end, name in enumerate(self.names):
                    command("tc", "-n", name, "qdisc", "add", "dev", f"veth{end}", "root", *queue)
                self.queues = queue
                return
            except NotPossible as error:
                print(f"namespaces: this kernel has no {queue[0]}: {error}", file=sys.stderr)

    def describe(self):
        kind = self.queues[0] if self.queues else None
        parts = {"netem": [f"delay {self.delay:g} us"] * bool(self.delay) +
                          [f"rate {self.rate:g} Mbit/s"] * bool(self.rate) + ["by netem"],
                 "tbf": [f"rate {self.rate:g} Mbit/s by tbf", "no delay"],
                 None: ["not shaped"]}[kind]
        return "veth pair, " + ", ".join(parts)

    def enter(self, end, processor):
        """Words before a command that runs in a namespace, with a host name of its own: Open MPI
        takes ranks with the same name to be on one machine."""
        pinned = ["taskset", "-c", str(processor)] if processor is not None else []
        return [*pinned, "nsenter", f"--net=/run/netns/{self.names[end]}", "unshare", "--uts", "sh",
                "-c", f'hostname {self.names[end]}; exec "$@"', "sh"]

    def processes(self):
        found = []
        for name in self.names:
            listed = subprocess.run(["ip", "netns", "pids", name], text=True, stdout=subprocess.PIPE,
                                    stderr=subprocess.DEVNULL, check=False).stdout
            found += [int(pid) for pid in listed.split()]
        return found

    def remove(self):
        for how in (signal.SIGTERM, signal.SIGKILL):
            until = time.monotonic() + 3
            while self.processes() and time.monotonic() < until:
                for pid in self.processes():
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(pid, how)
                time.sleep(0.1)
        for name in self.names:  # and with them the link
            subprocess.run(["ip", "netns", "del", name], stderr=subprocess.DEVNULL, check=False)


@contextlib.contextmanager
def link_between(delay, rate):
    link = Link(delay, rate)
    before = [signal.signal(kind, SIGNALS.end) for kind in Signals.KINDS]
    try:
        link.make()
        yield link
    finally:
        SIGNALS.hold()
        link.remove()
        for kind, handler in zip(Signals.KINDS, before):
            signal.signal(kind, handler)
        SIGNALS.release()


MPIRUN = ["mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "-n", "2"]


class Runs:
    """Runs on one process, and on two ranks in either way."""

    def __init__(self, link, folder, processors):
        self.link = link
        two = len(processors) > 1
        self.enter = [link.enter(end, processors[end] if two else None) for end in range(2)]
        # What Open MPI uses in the place of ssh: its arguments are a host and words for a shell.
        self.agent = os.path.join(folder, "agent")
        with open(self.agent, "w", encoding="ascii") as file:
            file.write(f'#!/bin/sh\nshift\nexec {shlex.join(self.enter[1])} sh -c "$*"\n')
        os.chmod(self.agent, 0o755)
        # Each rank on the processor that it also has in its namespace.
        self.pinned = []
        if two:
            self.pinned = ["sh", "-c", 'test "$OMPI_COMM_WORLD_RANK" = 0 && p={} || p={}\nexec '
                           'taskset -c $p "$@"'.format(*processors[:2]), "sh"]

    def over_link(self, words):
        network = f"{PREFIX}0/24"
        return output_of([
            *self.enter[0], *MPIRUN, "--host", f"{PREFIX}1:1,{PREFIX}2:1", "--map-by", "node",
            "--mca", "plm_rsh_agent", self.agent, "--mca", "pml", "ob1", "--mca", "btl", "tcp,self",
            "--mca", "btl_tcp_if_include", network, "--mca", "oob_tcp_if_include", network, *words])

    def in_memory(self, words):
        return output_of([*MPIRUN, "--mca", "pml", "ob1", "--mca", "btl", "vader,self",
                          *self.pinned, *words])


def run_scene(given, runs, scene):
    def words(threads):
        return [given.taut, "run", scene, "--no-output", "--quiet", "--json", "--threads",
                str(threads), *(["--steps", str(given.steps)] if given.steps else [])]
    sides = {"one": lambda: output_of(words(2 * given.threads)),
             "memory": lambda: runs.in_memory(words(given.threads)),
             "link": lambda: runs.over_link(words(given.threads))}
    result = {"link": runs.link.describe(), "scene": given.scene or "cloth of 1000 x 1000 nodes",
              "threads": given.threads, "seconds": {side: [] for side in sides}, "hashes": []}
    for _ in range(given.rounds):
        for side, run in sides.items():
            found = parse(run(), given.taut)
            with expecting("taut run --json", given.taut):
                if side == "link" and found["hosts"] != 2:
                    raise BadInput(f"the ranks found {found['hosts']} machines instead of 2")
                result["steps"] = found["steps"]
                result["seconds"][side].append(found["step_seconds"])
                result["hashes"].append(found["hash"])
    parts = parse(output_of([given.taut, "info", scene, "--ranks", "2", "--json"]), given.taut)
    with expecting("taut info --ranks --json", given.taut):
        result["received_bytes"] = [part["received_bytes"] for part in parts["ranks"]]
    return result


def hidden_share(result, delay, rate):
    """The share of the time of messages that computing hides: what ranks with shared memory do not
    take longer, in units of what the link takes for the messages of a step; 1 where runs over the link
    take no longer than with shared memory. None without a rate."""
    if not rate:
        return None
    each = 2 * delay * 1e-6 + max(result["received_bytes"]) * 8 / (rate * 1e6)
    times = result["seconds"]
    exposed = (min(times["link"]) - min(times["memory"])) / result["steps"]
    return 1 - min(1, max(0, exposed / each))


def print_result(result):
    texts = {"one": f"1 rank x {2 * result['threads']} threads",
             "memory": f"2 ranks x {result['threads']}, shared memory",
             "link": f"2 ranks x {result['threads']}, over the link"}
    one = result["seconds"]["one"]
    print(f"scene: {result['scene']}, {result['steps']} steps; received in each evaluation: "
          f"{' and '.join(f'{n:,}' for n in result['received_bytes'])} bytes")
    for side, text in texts.items():
        times = result["seconds"][side]
        rates = [a / b for a, b in zip(one, times)]
        print(f"  {text:<28} best {min(times):8.3f} s   median {statistics.median(times):8.3f} s" +
              (f"   speed / one rank: {min(one) / min(times):.2f} (best), "
               f"{statistics.median(rates):.2f} (median)" if side != "one" else ""))
    if result["hidden_share"] is not None:
        print(f"  messages hidden behind computing: {result['hidden_share']:.2f} of their time")
    print("hashes: " + ("equal, " + result["hashes"][0] if result["equal"]
                        else "DIFFERENT: " + " ".join(sorted(set(result["hashes"])))))


def ping(runs, folder):
    if not shutil.which("mpicc"):
        raise NotPossible("not installed: mpicc (Debian: libopenmpi-dev)")
    program = os.path.join(folder, "ping_pong")
    command("mpicc", "-O2", os.path.join(ROOT, "bench", "ping_pong.c"), "-o", program)
    result = {}
    for way, run in (("memory", runs.in_memory), ("link", runs.over_link)):
        rows = parse(run([program]), program)
        with expecting("ping_pong", program):
            large = rows[-1]
            result[way] = {"latency": rows[0]["least"], "latency_median": rows[0]["median"],
                           "bandwidth": large["bytes"] / large["least"],
                           "bandwidth_median": large["bytes"] / large["median"], "rows": rows}
        print(f"  {way:<7} latency {rows[0]['least'] * 1e6:8.2f} us (median "
              f"{rows[0]['median'] * 1e6:.2f}), bandwidth {result[way]['bandwidth'] * 1e-6:8,.0f} "
              f"MB/s (median {result[way]['bandwidth_median'] * 1e-6:,.0f})")
    return result


def run_all(given):
    check_machine(given.taut)
    with tempfile.TemporaryDirectory() as folder, link_between(given.delay, given.rate) as link:
        print(f"link: {link.describe()}", flush=True)
        runs = Runs(link, folder, sorted(os.sched_getaffinity(0)))
        if given.ping:
            result = {"link": link.describe(), **ping(runs, folder)}
            equal = True
        else:
            scene = os.path.abspath(given.scene) if given.scene else os.path.join(folder, "cloth.yaml")
            if not given.scene:
                with open(scene, "w", encoding="ascii") as file:
                    file.write(SCENE)
            result = run_scene(given, runs, scene)
            queue = link.queues[0] if link.queues else None
            result["hidden_share"] = hidden_share(result, given.delay if queue == "netem" else 0,
                                                  given.rate if queue else 0)
            result["equal"] = equal = len(set(result["hashes"])) == 1
            print_result(result)
    if given.json:
        write_json(given.json, result)
    return 0 if equal else 1


@script
def main(words):
    parser = argparse.ArgumentParser(prog="namespaces.py", usage=__doc__.split("\n\n")[1].strip())
    parser.add_argument("taut", type=os.path.abspath)
    parser.add_argument("scene", nargs="?")
    parser.add_argument("--delay", type=float, default=50, help="us, each way")
    parser.add_argument("--rate", type=float, default=1000, help="Mbit/s")
    parser.add_argument("--steps", type=int, default=0)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1, help="of each rank")
    parser.add_argument("--ping", action="store_true")
    parser.add_argument("--json", metavar="FILE")
    given = parser.parse_args(words)
    if given.delay < 0 or given.rate < 0 or given.steps < 0 or min(given.rounds, given.threads) < 1:
        parser.error("delay, rate and steps are not negative, rounds and threads positive")
    try:
        return run_all(given)
    except NotPossible as error:
        print(f"namespaces: not possible here: {error}", file=sys.stderr)
        return SKIPPED
    except KeyboardInterrupt as error:
        print(f"namespaces: ended by {error or 'SIGINT'}; everything is removed", file=sys.stderr)
        return 1
    except BadInput as error:
        print(f"namespaces: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
