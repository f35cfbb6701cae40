#!/usr/bin/python3 -B
"""The goals of docs/performance.md beside what was measured.

    goals.py FOLDER     prints them; FOLDER holds results, e.g. bench/results/amd-epyc_v4

Of two figures the first is of the best speeds, the second of the medians; the first decides.
"""
import statistics
import sys

from result_files import Kernels, Peers, expecting, read, read_taut_bench, script

GRIDS = ("cloth", "jelly26", "jelly52")


class Goal:
    """A figure and what it should be."""

    def __init__(self, what, figures, least=None, most=None, unit=""):
        self.what, self.unit = what, unit
        self.figures = figures if isinstance(figures, tuple) else (figures,)
        self.least, self.most = least, most

    def measured(self):
        digits = 0 if self.figures[0] >= 100 else 1 if self.figures[0] >= 20 else 2
        return " and ".join(f"{figure:.{digits}f}" for figure in self.figures) + self.unit

    def wanted(self):
        return f"≥ {self.least:g}{self.unit}" if self.least is not None \
            else f"≤ {self.most:g}{self.unit}"

    def reached(self):
        first = self.figures[0]
        return first >= self.least if self.least is not None else first <= self.most


def over_plain(bench):
    isa = bench.isa
    for scene, least in (("jelly26", 15), ("jelly52", 15), ("cloth", 9), ("jelly26-undamped", 15),
                         ("jelly52-undamped", 15), ("cloth-undamped", 15), ("ball-airless", 4),
                         ("ball-undamped", 4)):
        rows = (scene, isa, 1), (scene, "reference", 1)
        if bench.has(*rows):
            yield Goal(f"{scene}, 1 thread ÷ plain loops", bench.ratio(*rows), least=least)
    for scene, plain in (("shuffled", "network"), ("shuffled-undamped", "network-undamped")):
        rows = (scene, isa, 1), (plain, "reference", 1)
        if bench.has(*rows):
            yield Goal(f"{scene}, 1 thread ÷ plain loops on {plain} (the good order)",
                       bench.spring_ratio(*rows), least=4)


def over_others(peers):
    for scene in peers.scenes if peers else []:
        theirs = peers.fastest(scene, "LAMMPS")
        ours = theirs and peers.row(scene, "taut", max(r["threads"] for r in peers.rows(scene)))
        if ours:
            yield Goal(f"{scene}, undamped, {ours['threads']} threads ÷ {theirs['program']} at its "
                       f"fastest ({theirs['threads']} ranks or threads)",
                       peers.ratio(ours, theirs), least=4 if scene in ("ball", "shuffled") else 15)


def costs(bench):
    isa = bench.isa
    for what, dear, cheap in (("cloth, step with wind ÷ without", "cloth-wind", "cloth"),
                              ("ball, step with gas ÷ without", "ball", "ball-airless")):
        for threads in bench.threads:
            rows = (cheap, isa, threads), (dear, isa, threads)
            if bench.has(*rows):
                yield Goal(f"{what}, {threads} thread{'s' * (threads > 1)}", bench.ratio(*rows),
                           most=1.4)
    for scene in (name + ending for ending in ("", "-undamped") for name in GRIDS):
        rows = (scene, isa + " double", 1), (scene, isa, 1)
        if bench.has(*rows):
            yield Goal(f"{scene}, double ÷ single precision", bench.ratio(*rows), least=0.45)


def over_one_thread(bench, neighbour):
    isa, many = bench.isa, max(bench.threads)
    for scene, least in (("cloth", 1.9), ("jelly26", 1.9), ("jelly52", 1.9), ("ball", 1.9),
                         ("network", 1.9), ("shuffled", 1.9), ("cloth-large", 1.5),
                         ("jelly-large", 1.5)):
        rows = (scene, isa, many), (scene, isa, 1)
        if many > 1 and bench.has(*rows):
            where = "from memory" if scene.endswith("-large") else "in cache"
            yield Goal(f"{scene}, {many} threads ÷ 1, {where}", bench.ratio(*rows), least=least)
    for row in neighbour or []:
        pairs = [a / b for a, b in zip(row["beside"], row["one"])]
        yield Goal(f"{row['scene']}, {row['threads']} threads beside a busy neighbour ÷ 1 alone",
                   (max(row["beside"]) / max(row["one"]), statistics.median(pairs)), least=0.75)


def sizes(bench):
    isa = bench.isa
    for scene, most in (("jelly52", 4), ("cloth", 14), ("ball", 32), ("shuffled", 32)):
        if bench.has((scene, isa, 1)):
            yield Goal(f"{scene}, bytes held a spring",
                       bench.rows[scene, isa, 1]["bytes_per_spring"], most=most)
    for scene, most in (("cloth", 20), ("jelly26", 20), ("jelly52", 20), ("ball", 200),
                        ("shuffled", 200)):
        if bench.has((scene, isa, 1)):
            row = bench.rows[scene, isa, 1]
            # Every instruction set is set up the same way: the least disturbed one.
            setup = min(bench.rows[scene, other, 1]["setup_seconds"] for other in bench.isas
                        if bench.has((scene, other, 1)))
            yield Goal(f"{scene}, set-up in steps of 1 thread",
                       setup * bench.speeds((scene, isa, 1))["best"] / row["springs"], most=most)


def of_other_files(bench, kernels, billion, hashes):
    if billion:
        yield Goal(f"{billion['springs'] / 1e9:.2f} billion springs, {billion['steps']} steps",
                   billion["peak_rss_bytes"] / 2 ** 30, most=6, unit=" GiB")
    for threads in bench.threads if kernels else []:
        found = kernels.sizes("volume", "ball", bench.isa, threads)
        if found:
            triad = max(row["bytes/s"] for _, row in
                        kernels.sizes("bandwidth", "triad", "base", threads))
            yield Goal(f"volume of a ball of {found[-1][1]['springs']:,.0f} springs, {threads} "
                       f"thread{'s' * (threads > 1)} ÷ triad",
                       found[-1][1]["model_bytes/s"] / triad, least=0.8)
    if hashes:
        yield Goal(f"{hashes['scenes']} scenes, each of 1 to {hashes['threads']} threads on "
                   f"{', '.join(hashes['isas'])}: runs with another hash", len(hashes["different"]),
                   most=0)


def goals(folder):
    bench = read_taut_bench(folder)
    peers, kernels = read(folder, "peers"), read(folder, "kernels")
    with expecting("bench/renew.py", folder):
        return [*over_plain(bench), *over_others(Peers(peers) if peers else None), *costs(bench),
                *over_one_thread(bench, read(folder, "neighbour")), *sizes(bench),
                *of_other_files(bench, Kernels(kernels) if kernels else None,
                                read(folder, "billion"), read(folder, "hashes"))]


@script
def main(words):
    if len(words) != 1 or words[0].startswith("-"):
        print(__doc__, file=sys.stderr)
        return 2
    for goal in goals(words[0]):
        print(f"{'  ' if goal.reached() else '! '}{goal.what:<75} {goal.measured():>16}   "
              f"{goal.wanted()}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
