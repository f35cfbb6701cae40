#!/usr/bin/python3 -B
"""A model of the speed of many ranks (docs/ranks.md, "How it scales").

    rank_model.py [OPTIONS]            tables of weak and strong efficiency from 1 to 100,000 cores
    rank_model.py --docs               the tables of docs/ranks.md
    rank_model.py --check TAUT         compares parts and messages with `taut info --ranks`

    --network NAME     cluster (2 us, 12.5 GB/s), gigabit (50 us, 125 MB/s) or memory (measured)
    --latency S --bandwidth B          of messages, s and bytes/s, instead of those of the network
    --threads N        cores of each rank (1)
    --sums one-level   as if all ranks got the sums of all chunks, however many there are
    --budget           with the energy budget
    --nodes N          per core (weak, 1,000,000)
    --strong N         in all (strong, 1,000,000,000)
    --results FOLDER   of taut-bench, with steps.json
    --json             everything, also the terms of each time

Measured: the time per node and step of a core (taut-bench, scenes cloth-large and jelly-large, all
cores of the machine busy), the speed at which a core reads memory. The network is measured by
`namespaces.py TAUT --ping`, or assumed. Parts, tiles and the bytes of messages follow the same rules
as in the solver (--check). All else is the model:

    step = computing + exposed messages + copies + sums / 16

The efficiency is the time in which one core would compute everything, over cores times the step.
"""
import argparse
import functools
import json
import math
import os
import sys

from benchmark_results import BadInput, expecting, parse, read_steps, script
from measure import run_taut

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
RESULTS = os.path.join(ROOT, "bench", "results", "oxide-virtual-turin-like-processor_v4")
CORES = (1, 10, 100, 1000, 10000, 100000)
# s, bytes/s. The first two are assumed: a network of 100 Gbit/s, and the link of namespaces.py. The
# third is measured: shared memory of two cores, the best times beside other programs.
NETWORKS = {"cluster": (2e-6, 12.5e9), "gigabit": (50e-6, 125e6), "memory": (0.3e-6, 8.4e9)}

REAL = 4  # bytes, single precision
STEPS_PER_CHECK = 16  # DIVERGENCE_STEPS, KEPT_POWERS
SUM_CHUNK, SUM_BYTES = 4096, 8 * 8  # nodes, and SUM_WIDTH numbers
POWER_BYTES = 6 * 8  # of one of the two parts of a tile, in one evaluation: POWER_COLUMNS numbers
SUM_GROUP, SUM_GROUPS = 1024, 24  # sums that are added first, where there are more than so many groups
INT_MAX = 2 ** 31 - 1


class Body:
    """A grid of nodes: how far its springs reach in rows before and after and in layers above."""

    def __init__(self, name, nx, ny, nz=1, before=0, after=0, above=0):
        self.name, self.nx, self.ny, self.nz = name, nx, ny, nz
        self.before, self.after, self.above = before, after, above

    @property
    def nodes(self):
        return self.nx * self.ny * self.nz

    def tiles(self):
        """(tiles_y, tiles_z), as choose_tiles (src/springs/grid/plan.c) has them."""
        layer = self.nx * self.ny
        nodes = max(2048, min(layer * self.nz // 16, 32768))
        most_y = max(1, self.ny // max(1, 8 * max(self.before, self.after)))
        if self.nz == 1:
            return max(1, min(layer // nodes, most_y)), 1
        tiles_y = max(1, min(layer // 16384, most_y))
        slab = layer // tiles_y
        tiles_z = max(1, self.nz // max(4 * self.above, nodes // slab, 1))
        if tiles_y * tiles_z < 4 and layer * self.nz > 4 * nodes:
            tiles_y = max(1, min(16 // tiles_z, most_y))
        return tiles_y, tiles_z

    def rows(self):
        """What is cut into parts: the number of rows, of a lattice layers; of tiles along them; of
        nodes in one; of tiles beside each other."""
        tiles_y, tiles_z = self.tiles()
        if self.nz == 1:
            return self.ny, tiles_y, self.nx, 1
        return self.nz, tiles_z, self.nx * self.ny, tiles_y

    def halo_nodes(self):
        """What a part reads of the next one: rows or layers, and 2 nodes over the end of the last
        row, which kernels read (plan_parts.c)."""
        return 2 + (self.after * self.nx if self.nz == 1 else self.above * self.nx * self.ny)

    def contribution_nodes(self):
        """What a part receives from the one before: each tile of a lattice has a box of its own."""
        if self.nz == 1:
            return self.after * self.nx
        return self.above * self.nx * (self.ny + (self.before + self.after) * self.tiles()[0])


def parts_of(body, ranks):
    """The cuts of parts (plan_parts_make): rows, 0 to the last."""
    return cuts_of(*body.rows()[:2], ranks)


@functools.lru_cache(maxsize=None)
def cuts_of(rows, tiles, ranks):
    cuts = [0]
    for p in range(1, ranks):
        target = -(-rows * p // ranks)  # the first whole row from there on
        low = -(-target * tiles // rows)
        if low < tiles and low > 0:
            at, before = low * rows // tiles, (low - 1) * rows // tiles
            if rows * p - before * ranks < at * ranks - rows * p:
                at = before
        else:
            at = low * rows // tiles
        cuts.append(max(at, cuts[-1]))
    return cuts + [rows]


class Machine:
    """Measured and assumed speeds: s and bytes/s."""

    def __init__(self, node_seconds, latency, bandwidth, read_bandwidth, threads=1):
        self.node_seconds, self.latency, self.bandwidth = node_seconds, latency, bandwidth
        self.read_bandwidth, self.threads = read_bandwidth, threads

    def message(self, size):
        return self.latency + size / self.bandwidth if size > 0 else 0.0


def exposed(message, hidden):
    """What remains of the time of a message that is under way while a rank computes."""
    return max(0.0, message - hidden)


def part_seconds(body, machine, part_rows, ranks):
    """(computing, exposed messages, copies) of a part of so many rows in a step."""
    rows, tiles, nodes_in_row, beside = body.rows()
    layers = max(1, round(part_rows * tiles / rows))
    # Threads claim whole tiles.
    count = layers * beside
    turns = math.ceil(count / machine.threads)
    computing = turns / count * part_rows * nodes_in_row * machine.node_seconds
    if ranks == 1:
        return computing, 0.0, 0.0
    # Half of the tiles inside hide the halo, the other half the contributions.
    inside = computing * (layers - 1) / layers
    halo, contributions = (6 * REAL * body.halo_nodes(), 3 * REAL * body.contribution_nodes())
    messages = (exposed(machine.message(halo), inside / 2) +
                exposed(machine.message(contributions), inside / 2))
    copies = 2 * 2 * (halo + contributions) / machine.read_bandwidth  # each end reads and writes
    return computing, messages, copies


def in_groups(rows, size, machine, ranks):
    """The time in which all ranks get the sums of groups of so many rows of so many bytes."""
    senders = min(ranks - 1, math.ceil(SUM_GROUP * ranks / rows))  # that complete a group
    seconds = senders * machine.latency + SUM_GROUP * size / machine.bandwidth
    return seconds + gathered(math.ceil(rows / SUM_GROUP) * size, machine, ranks)


def gathered(size, machine, ranks):
    """The time in which all ranks get so many bytes, each some of them, and read them."""
    # At once, or from one rank after another where bytes are no `int` (ranks_collect).
    times = 1 if size <= INT_MAX else ranks
    return (times * math.ceil(math.log2(ranks)) * machine.latency + size / machine.bandwidth +
            size / machine.read_bandwidth)


def sums_seconds(body, machine, ranks, one_level=False, budget=False):
    """The check for divergence, and the sums of the energy budget: every 16 steps."""
    if ranks == 1:
        return 0.0
    many = math.inf if one_level else SUM_GROUPS * SUM_GROUP
    chunks = math.ceil(body.nodes / SUM_CHUNK)
    seconds = machine.message((SUM_CHUNK - 1) * 9 * REAL)  # the nodes that complete a chunk
    if chunks > many:
        seconds += in_groups(chunks, SUM_BYTES, machine, ranks)
    else:
        seconds += gathered(chunks * SUM_BYTES, machine, ranks)
    if budget:
        parts = 2 * math.prod(body.tiles())
        if parts > many:
            seconds += STEPS_PER_CHECK * in_groups(parts, POWER_BYTES, machine, ranks)
        else:  # all evaluations at once, there and back
            size = STEPS_PER_CHECK * parts * POWER_BYTES
            seconds += 2 * math.ceil(math.log2(ranks)) * machine.latency
            seconds += 2 * size / machine.bandwidth + size / machine.read_bandwidth
    return seconds


def step(body, machine, cores, one_level=False, budget=False):
    """The time of a step and its terms, s, and the efficiency; cores: a multiple of a rank's."""
    ranks = max(1, cores // machine.threads)
    cuts = parts_of(body, ranks)
    sizes = {end - first for first, end in zip(cuts, cuts[1:])}
    worst = max((part_seconds(body, machine, size, ranks) for size in sizes if size), key=sum)
    sums = sums_seconds(body, machine, ranks, one_level, budget) / STEPS_PER_CHECK
    total = sum(worst) + sums
    return {"cores": cores, "ranks": ranks, "busy_ranks": len(set(cuts)) - 1, "nodes": body.nodes,
            "computing": worst[0], "messages": worst[1], "copies": worst[2], "sums": sums,
            "step": total,
            "efficiency": body.nodes * machine.node_seconds / (cores * total)}


# ---- Bodies that grow

CLOTH = {"after": 2}  # with bend springs
LATTICE = {"before": 1, "after": 1, "above": 1}  # one shell of 26 neighbours


def bodies(nodes):
    """The shapes of the tables, of about so many nodes; a strip and a bar have one width."""
    side, edge = round(nodes ** (1 / 2)), round(nodes ** (1 / 3))
    return [Body("strip", 1000, max(1, round(nodes / 1000)), **CLOTH),
            Body("square", side, side, **CLOTH),
            Body("bar", 100, 100, max(1, round(nodes / 10000)), **LATTICE),
            Body("cube", edge, edge, edge, **LATTICE)]


SHAPES = {"strip": "cloth, 1,000 nodes wide", "square": "cloth, square",
          "bar": "lattice, 100 x 100 nodes wide", "cube": "lattice, cube"}
SCENES = {"strip": "cloth-large", "square": "cloth-large", "bar": "jelly-large",
          "cube": "jelly-large"}


def measured(folder):
    """({shape: seconds per node, step and core}, bytes/s that a core reads)."""
    steps = read_steps(folder)
    with expecting("taut-bench with two threads", folder):
        found = {}
        for shape, scene in SCENES.items():
            row = steps.step(scene, steps.isa, 2)
            nodes = row.repetitions[0]["nodes"]
            found[shape] = 2 * min(row.milliseconds) * 1e-3 / nodes
        return found, 1e9 * steps.bandwidth("read", 1).best("GB/s")


def tables(given):
    seconds, read_bandwidth = measured(given.results)
    result = {"latency": given.latency, "bandwidth": given.bandwidth, "threads": given.threads,
              "node_seconds": seconds, "read_bandwidth": read_bandwidth, "sums": given.sums,
              "budget": given.budget, "weak": {}, "strong": {}}
    for kind in ("weak", "strong"):
        for shape in SHAPES:
            result[kind][shape] = []
            for wanted in CORES:
                threads = min(wanted, given.threads)
                cores = round(wanted / threads) * threads  # whole ranks
                machine = Machine(seconds[shape], given.latency, given.bandwidth, read_bandwidth,
                                  threads)
                nodes = given.nodes * cores if kind == "weak" else given.strong
                body = next(body for body in bodies(nodes) if body.name == shape)
                result[kind][shape].append(
                    step(body, machine, cores, given.sums == "one-level", given.budget))
    return result


def cell(row):
    mark = f" ({row['busy_ranks']:,})" if row["busy_ranks"] < row["ranks"] else ""
    return f"{row['efficiency']:.2f}{mark}"


def markdown(result, kind):
    lines = ["| body | " + " | ".join(f"{cores:,}" for cores in CORES) + " |",
             "|---|" + "---|" * len(CORES)]
    for shape, rows in result[kind].items():
        lines.append(f"| {SHAPES[shape]} | " + " | ".join(cell(row) for row in rows) + " |")
    return "\n".join(lines)


def print_tables(given, result):
    rates = ", ".join(f"{name} {result['node_seconds'][shape] * 1e9:.2f} ns"
                      for shape, name in (("square", "cloth"), ("cube", "lattice")))
    print(f"per node and step of a core: {rates}; memory {result['read_bandwidth'] * 1e-9:.1f} GB/s; "
          f"messages {given.latency * 1e6:g} us, {given.bandwidth * 1e-9:g} GB/s; {given.threads} "
          f"cores a rank; sums {given.sums}")
    print("(in brackets: ranks that have nodes, where there are too few tiles)\n")
    for kind, nodes in (("weak", f"{given.nodes:,} nodes a core"),
                        ("strong", f"{given.strong:,} nodes")):
        print(f"{kind} efficiency, {nodes}, by cores:\n\n{markdown(result, kind)}\n")


def docs(parser):
    """[(what, table)] of docs/ranks.md."""
    found = []
    for what, kind, words in (
            ("Weak, cluster", "weak", []),
            ("Weak, cluster, with the energy budget", "weak", ["--budget"]),
            ("Weak, cluster, sums in one level", "weak", ["--sums", "one-level"]),
            ("Weak, cluster, 64 cores a rank", "weak", ["--threads", "64"]),
            ("Weak, gigabit", "weak", ["--network", "gigabit"]),
            ("Strong, cluster", "strong", [])):
        found.append((what, markdown(tables(complete(parser.parse_args(words))), kind)))
    return found


# ---- Comparison with the program

CHECKED = (("cloth", [300, 700], 4), ("cloth", [64, 1000], 9), ("lattice", [24, 20, 90], 5),
           ("lattice", [160, 130, 14], 3))


def check(taut):
    """Compares parts, halo and contributions with those of `taut info --ranks`."""
    failed = 0
    for kind, size, ranks in CHECKED:
        if kind == "cloth":
            body = Body(kind, *size, **CLOTH)
            text = (f"type: cloth, u: [1, 0, 0], v: [0, 0, 1], nodes: {size}, mass: 1, springs: "
                    "{structural: {stiffness: 40}, shear: {stiffness: 40}, bend: {stiffness: 4}}")
        else:
            body = Body(kind, *size, **LATTICE)
            text = (f"type: lattice, nodes: {size}, spacing: 0.05, mass: 500, shells: 1, springs: "
                    "{k1: {stiffness: 300}, k2: {stiffness: 240}, k3: {stiffness: 180}}")
        path = os.path.join(os.environ.get("TMPDIR", "/tmp"), f"rank_model-{os.getpid()}.yaml")
        try:
            with open(path, "x", encoding="ascii") as file:
                file.write("simulation: {dt: 1.0e-5, steps: 1}\nbodies:\n"
                           f"  - {{name: a, {text}}}\n")
            found = parse(run_taut([taut, "info", path, "--ranks", str(ranks), "--json"]), taut)
        finally:
            if os.path.exists(path):
                os.unlink(path)
        cuts, row = parts_of(body, ranks), body.rows()[2]
        mine = [{"nodes": (end - first) * row,
                 "halo_nodes": body.halo_nodes() * (first < end < cuts[-1]),
                 "contribution_nodes": body.contribution_nodes() * (0 < first < end)}
                for first, end in zip(cuts, cuts[1:])]
        with expecting("taut info --ranks --json", taut):
            theirs = [{key: part[key] for key in mine[0]} for part in found["ranks"]]
        same = mine == theirs
        failed += not same
        print(f"{kind} {size}, {ranks} ranks: {'equal' if same else f'{mine}, not {theirs}'}")
    return int(failed > 0)


def make_parser():
    parser = argparse.ArgumentParser(prog="rank_model.py", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--network", choices=list(NETWORKS), default="cluster")
    parser.add_argument("--latency", type=float)
    parser.add_argument("--bandwidth", type=float)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--sums", choices=["present", "one-level"], default="present")
    parser.add_argument("--budget", action="store_true")
    parser.add_argument("--nodes", type=int, default=10 ** 6)
    parser.add_argument("--strong", type=int, default=10 ** 9)
    parser.add_argument("--results", default=RESULTS)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--docs", action="store_true")
    parser.add_argument("--check", metavar="TAUT")
    return parser


def complete(given):
    """The speeds of the network where they are not given."""
    latency, bandwidth = NETWORKS[given.network]
    given.latency = latency if given.latency is None else given.latency
    given.bandwidth = bandwidth if given.bandwidth is None else given.bandwidth
    if min(given.threads, given.nodes, given.strong) < 1 or not given.bandwidth > 0 \
            or given.latency < 0:
        raise BadInput("threads, nodes and bandwidth are positive, latency not negative")
    return given


@script
def main(words):
    parser = make_parser()
    given = complete(parser.parse_args(words))
    if given.check:
        return check(given.check)
    if given.docs:
        print("\n\n".join(f"{what}:\n\n{table}" for what, table in docs(parser)))
        return 0
    result = tables(given)
    if given.json:
        json.dump(result, sys.stdout, indent=1)
        print()
    else:
        print_tables(given, result)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
