#!/usr/bin/python3
"""bench/peers/run.py with mock programs: it writes the input for LAMMPS, reads its output, stops
waiting ranks, and takes ratios of measurements of the same round."""
import contextlib
import importlib.util
import io
import os
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))

sys.dont_write_bytecode = True
spec = importlib.util.spec_from_file_location("run", os.path.join(HERE, "../bench/peers/run.py"))
run = importlib.util.module_from_spec(spec)
spec.loader.exec_module(run)

NETWORK = {"nodes": 2, "springs": 1, "dt": 1e-4, "bin": 0.4, "cutoff": 0.15, "data": "x.data",
           "binary": "x.bin"}

# Reports N milliseconds for a run of N steps; logs its input.
LMP = """#!/bin/sh
echo "$@" >>'{log}'
while read -r line; do
    echo "$line" >>'{log}'
    case $line in
    run*) set -- $line; echo "Loop time of 0.00$2 on 1 procs for $2 steps with 2 atoms";;
    bad*) echo "ERROR: Unknown command: $line"; exit 1;;
    esac
done
"""


def program(folder, name, text):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="ascii") as file:
        file.write(text)
    os.chmod(path, 0o755)
    return path


def lammps_is_driven(folder):
    log = os.path.join(folder, "log")
    program(folder, "lmp", LMP.format(log=log))
    program(folder, "stdbuf", "#!/bin/sh\nshift\nexec \"$@\"\n")
    side = run.Lammps("LAMMPS", 1, 1, NETWORK)
    assert abs(side.turn(7) - 0.007) < 1e-12
    side.send("bad\n")
    try:
        side.loop_time()
        assert False, "an error of LAMMPS was not seen"
    except run.Failure as failure:
        assert "Unknown command" in str(failure)
    side.end()
    with open(log, encoding="ascii") as file:
        arguments = file.read()
    for wanted in ("read_data x.data", "newton off", "timestep 0.0001", "pair_style none",
                   "run 7 pre no post no"):
        assert wanted in arguments, arguments


def state(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        return file.read().rpartition(")")[2].split()[0]


def stopped(pids):
    """Whether the processes stop; signals take some time."""
    end = time.monotonic() + 10
    while time.monotonic() < end:
        if all(state(pid) == "T" for pid in pids):
            return True
        time.sleep(0.01)
    return False


def waiting_ranks_are_stopped(folder):
    # Like mpirun it passes its input to a process that it starts.
    program(folder, "mpirun", f"#!/bin/sh\nshift 4\nmkfifo '{folder}/pipe'\n"
            f"\"$@\" <'{folder}/pipe' &\ncat >'{folder}/pipe'\nwait\n")
    side = run.Lammps("LAMMPS", 2, 1, NETWORK)
    pids = run.children(side.process.pid)
    assert pids and stopped(pids), [state(pid) for pid in pids]
    assert abs(side.turn(9) - 0.009) < 1e-12
    assert stopped(pids)
    side.end()
    assert side.process.returncode == 0


def a_program_that_ends_early_is_a_failure(folder):
    side = run.Side("early", 1, [program(folder, "early", "#!/bin/sh\nread -r line\n")])
    try:
        side.turn(3)
        assert False, "it was not noticed"
    except run.Failure as failure:
        assert "early" in str(failure)
    side.end()


def ratios_are_of_one_round():
    def row(name, threads, speeds):
        return {"scene": "cloth", "nodes": 2, "springs": 1, "program": name, "threads": threads,
                "integrator": "velocity_verlet", "damping": "none", "precision": "single",
                "spring_updates_per_second": {"best": max(speeds), "median": sorted(speeds)[1],
                                              "repetitions": speeds}}
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        run.report([row("taut", 1, [8e8, 4e8, 9e8]), row("LAMMPS", 1, [1e8, 1e8, 3e8])])
    line = next(line for line in printed.getvalue().splitlines() if "LAMMPS" in line)
    assert line.split()[-2:] == ["3.0x", "4.0x"], line


def our_networks_are_whole(folder, peer):
    """The data file is complete: the counts are right, and every bond has atoms and a type."""
    network = run.write_network(peer, "shuffled-undamped", 3000, folder)
    with open(network["data"], encoding="ascii") as file:
        head, _, rest = file.read().partition("\nMasses\n")
    parts = [part.split("\n\n") for part in rest.split("Atoms # bond")]
    atoms, bonds = parts[1][1].splitlines(), parts[1][3].splitlines()
    kinds = [line for line in parts[0][-2].splitlines() if line]
    assert f"{len(atoms)} atoms" in head and f"{len(bonds)} bonds" in head, head
    assert f"{len(kinds)} bond types" in head
    assert len(atoms) == network["nodes"] and len(bonds) == network["springs"]
    pinned = sum(line.split()[2] == "2" for line in atoms)
    assert 0 < pinned < len(atoms)
    for line in bonds:
        _, kind, a, b = map(int, line.split())
        assert 1 <= kind <= len(kinds) and a != b
        assert 1 <= min(a, b) and max(a, b) <= len(atoms)
    assert os.path.getsize(network["binary"]) == 32 + 25 * len(atoms) + 8 * len(bonds)
    # The cutoff is 1.5 times the longest rest length, 0.05 * sqrt(3).
    assert abs(network["cutoff"] - 1.5 * 0.05 * 3 ** 0.5) < 1e-9, network


def ours_serves(peer):
    used = []
    for precision in ("single", "double"):
        side = run.Side("taut", 2, [peer, "serve", "jelly26-undamped", "4000", precision])
        nodes, springs, dt, size = side.line().split()
        assert int(nodes) > 300 and int(springs) > 3000 and float(dt) == 2e-4
        assert side.turn(3) > 0 and side.turn(2) > 0
        side.end()
        assert side.process.returncode == 0
        used.append(int(size))
    assert used[1] > used[0], used  # bytes of the state


def main(peer):
    if not os.path.isdir("/proc/self"):
        print("this test reads /proc")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        our_networks_are_whole(folder, peer)
    ours_serves(peer)
    path = os.environ["PATH"]
    with tempfile.TemporaryDirectory() as folder:
        os.environ["PATH"] = folder + os.pathsep + path
        lammps_is_driven(folder)
        waiting_ranks_are_stopped(folder)
        a_program_that_ends_early_is_a_failure(folder)
    ratios_are_of_one_round()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]) if len(sys.argv) == 2 else "usage: test_peers.py TAUT_PEER")
