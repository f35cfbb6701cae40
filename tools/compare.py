#!/usr/bin/python3 -B
"""Compares two benchmark results, or two builds run alternately.

    compare.py BEFORE.json AFTER.json         results of taut-bench --json, or of any other
                                              program of Google Benchmark
    compare.py --builds BEFORE AFTER [-- OPTIONS OF taut-bench]
                                              two `taut-bench` programs, one run each a round

For each benchmark in both: the ratio AFTER / BEFORE of the median speeds (above 1 is faster), that
of the best ones, and whether the difference can be chance. The test is that of Mann and Whitney
(Wilcoxon's rank sum) on the repetitions: two-sided, exact up to EXACT_MAX of them (mid ranks for
ties), beyond that with the normal approximation corrected for ties. With many benchmarks some
differences would be significant by chance, so the p values are Holm's, corrected for their number.

The test knows the noise within a run, but not changes between two runs an hour apart: a machine
that was busy during one of them shows as a change. With --builds both sides see the same
disturbances; its repetitions are whole runs, each represented by its best repetition of a
benchmark.

Exit status: 0; 1 if --fail-below is given and a benchmark is below it and significantly slower, or
is missing from AFTER; 2 for wrong usage or files.
"""
import argparse
import json
import math
import statistics
import subprocess
import sys

from benchmark_results import BadInput, Benchmarks, script

EXACT_MAX = 60
SIGNIFICANCE = 0.05


# ---- Reading


def lines_of(result, name):
    """{name of a benchmark: its rates in 1/s, one per repetition}"""
    if isinstance(result, dict) and "results" in result and "benchmarks" not in result:
        raise BadInput(f"{name}: a result of the former `taut bench`; convert it by "
                       "benchmark_results.py convert")
    try:
        return {line: [1e3 / time for time in row.milliseconds]
                for line, row in Benchmarks({"context": {}, **result}).rows.items()}
    except (KeyError, TypeError, ValueError, AttributeError, ZeroDivisionError) as error:
        raise BadInput(f"{name}: not a result of Google Benchmark "
                       f"({type(error).__name__}: {error})") from error


def read(path):
    try:
        with open(path, encoding="utf-8") as file:
            result = json.load(file)
    except (OSError, ValueError) as error:
        raise BadInput(f"{path}: {error}") from error
    return lines_of(result, path)


def run_builds(builds, rounds, options):
    """[{name: speeds}] of the two programs. The order alternates from round to round, so that
    neither always follows the other."""
    sides = [{}, {}]
    for number in range(rounds):
        for side in (0, 1) if number % 2 == 0 else (1, 0):
            command = [builds[side], "--json", *options]
            print(f"round {number + 1} of {rounds}: {' '.join(command)}", file=sys.stderr)
            try:
                printed = subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout
                lines = lines_of(json.loads(printed), builds[side])
            except (OSError, ValueError, subprocess.CalledProcessError) as error:
                raise BadInput(f"{builds[side]}: {error}") from error
            for name, speeds in lines.items():
                sides[side].setdefault(name, []).append(max(speeds))
    return sides


# ---- The test


def doubled_ranks(values):
    """Twice the mid rank of each value, as integers; and the sizes of groups of equal values."""
    order = sorted(range(len(values)), key=values.__getitem__)
    ranks, ties, first = [0] * len(values), [], 0
    while first < len(order):
        end = first
        while end < len(order) and values[order[end]] == values[order[first]]:
            end += 1
        for index in order[first:end]:
            ranks[index] = first + 1 + end  # (first + 1) + end, twice their mean
        ties.append(end - first)
        first = end
    return ranks, ties


def exact_p(ranks, count):
    """The fraction of all choices of `count` ranks whose sum is at least as extreme as that of the
    first ones."""
    ways = [{} for _ in range(count + 1)]  # ways[k][s]: choices of k ranks with sum s
    ways[0][0] = 1
    for rank in ranks:
        for chosen in range(count, 0, -1):
            target = ways[chosen]
            for total, number in ways[chosen - 1].items():
                target[total + rank] = target.get(total + rank, 0) + number
    seen = sum(ranks[:count])
    below = sum(number for total, number in ways[count].items() if total <= seen)
    above = sum(number for total, number in ways[count].items() if total >= seen)
    return min(1.0, 2 * min(below, above) / math.comb(len(ranks), count))


def normal_p(ranks, ties, count):
    n, total = count, len(ranks)
    m = total - n
    mean = n * (total + 1)  # of the doubled rank sum
    spread = total + 1 - sum(t ** 3 - t for t in ties) / (total * (total - 1))
    deviation = math.sqrt(4 * n * m / 12 * spread)
    if deviation == 0:
        return 1.0
    away = max(0.0, abs(sum(ranks[:count]) - mean) - 1)  # a continuity correction of 1/2, doubled
    return math.erfc(away / deviation / math.sqrt(2))


def mann_whitney(before, after):
    """The two-sided p value for the hypothesis that both samples come from one distribution."""
    ranks, ties = doubled_ranks(before + after)
    if len(ranks) <= EXACT_MAX:
        return exact_p(ranks, len(before))
    return normal_p(ranks, ties, len(before))


def holm(p_values):
    """p values corrected so that the probability of any false finding among all stays the same."""
    corrected, least = [0.0] * len(p_values), 0.0
    for rank, index in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        least = max(least, min(1.0, (len(p_values) - rank) * p_values[index]))
        corrected[index] = least
    return corrected


# ---- Reporting


def compare(before, after):
    """(name, median ratio, best ratio, corrected p) of every benchmark in both."""
    names = [name for name in before if name in after]
    p_values = holm([mann_whitney(before[name], after[name]) for name in names])
    return [(name, statistics.median(after[name]) / statistics.median(before[name]),
             max(after[name]) / max(before[name]), p) for name, p in zip(names, p_values)]


def verdict(ratio, p):
    if p >= SIGNIFICANCE or ratio == 1:
        return "no difference shown"
    return "faster" if ratio > 1 else "slower"


def report(rows, before, after):
    width = max(len(row[0]) for row in rows)
    print(f"{'':{width}}  {'median':>7}  {'best':>7}  {'p (Holm)':>8}")
    for name, ratio, best, p in rows:
        print(f"{name:{width}}  {ratio:6.3f}x  {best:6.3f}x  {p:8.4f}  {verdict(ratio, p)}")
    overall = math.exp(statistics.fmean(math.log(row[1]) for row in rows))
    print(f"{len(rows)} lines; geometric mean of the medians {overall:.3f}x; Mann-Whitney test")
    names = [row[0] for row in rows]
    least = min(2 / math.comb(len(before[n]) + len(after[n]), len(before[n])) for n in names)
    if least * len(rows) >= SIGNIFICANCE:
        print("too few repetitions for so many lines: no difference could have been shown")


def gate(rows, missing, least):
    """The exit status for --fail-below: 0 or 1."""
    failed = [row for row in rows if row[1] < least and verdict(row[1], row[3]) == "slower"]
    unsure = [row for row in rows if row[1] < least and row not in failed]
    for name, ratio, _, _ in failed:
        print(f"FAILED: {name} is {ratio:.3f}x, below {least:g}x")
    for name, ratio, _, _ in unsure:
        print(f"below {least:g}x, but it may be chance: {name}, {ratio:.3f}x")
    for name in missing:
        print(f"FAILED: {name} was not measured afterwards")
    return 1 if failed or missing else 0


def arguments(words):
    own, rest = (words[:words.index("--")], words[words.index("--") + 1:]) if "--" in words \
        else (words, [])
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before")
    parser.add_argument("after")
    parser.add_argument("--builds", action="store_true", help="the two are programs: run them")
    parser.add_argument("--rounds", type=int, default=8, help="runs of each build (default: 8)")
    parser.add_argument("--fail-below", type=float, metavar="RATIO")
    given = parser.parse_args(own)
    if rest and not given.builds:
        parser.error("options of taut-bench need --builds")
    if given.rounds < 2:
        parser.error("--rounds: 2 at the least")
    return given, rest


@script
def main(words):
    given, options = arguments(words)
    if given.builds:
        before, after = run_builds((given.before, given.after), given.rounds, options)
    else:
        before, after = read(given.before), read(given.after)
    rows = compare(before, after)
    if not rows:
        raise BadInput(f"{given.before} and {given.after} have no line in common")
    report(rows, before, after)
    missing = [name for name in before if name not in after]
    added = [name for name in after if name not in before]
    for names, where in ((missing, "before"), (added, "after")):
        if names:
            print(f"only {where}: {', '.join(names)}")
    return 0 if given.fail_below is None else gate(rows, missing, given.fail_below)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
