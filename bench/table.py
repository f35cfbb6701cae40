#!/usr/bin/python3
"""Writes the figures of docs/performance.md from a result of `taut bench --json`.

    table.py RESULT.json DOC.md            puts them between the marks in DOC.md
    table.py --check RESULT.json DOC.md    only looks whether they are there: 1 if not
"""
import json
import sys

BEGIN, END = "<!-- figures: begin -->", "<!-- figures: end -->"


class Result:
    def __init__(self, result):
        self.result = result
        self.rows = {(r["scene"], r["isa"] or "reference", r["threads"]): r
                     for r in result["results"]}
        self.threads = [limit["threads"] for limit in result["limits"]]
        self.isa = list(self.limit(1)["single_multiply_add_operations_per_second"])[-1]
        self.scenes = list(dict.fromkeys(r["scene"] for r in result["results"]))

    def limit(self, threads):
        return next(limit for limit in self.result["limits"] if limit["threads"] == threads)

    def speed(self, scene, isa, threads, kind="best"):
        return self.rows[scene, isa, threads]["spring_updates_per_second"][kind]

    def ratio(self, above, below):
        """Of the best speeds and of the median ones, as text."""
        return " and ".join(f"{self.speed(*above, kind) / self.speed(*below, kind):.2f}"
                            for kind in ("best", "median"))


def million(value):
    return f"{value / 1e6:,.0f}"


def limits_table(result):
    isas = list(result.limit(1)["single_multiply_add_operations_per_second"])
    head = "| threads | triad, GB/s | " + " | ".join(f"{i}, Gflop/s" for i in isas) + " |"
    lines = [head, "|---:" * (2 + len(isas)) + "|"]
    for threads in result.threads:
        limit = result.limit(threads)
        peaks = limit["single_multiply_add_operations_per_second"]
        lines.append(f"| {threads} | {limit['triad_bytes_per_second']['best'] / 1e9:.1f} | "
                     + " | ".join(f"{peaks[i]['best'] / 1e9:.0f}" for i in isas) + " |")
    return lines


def speeds_table(result):
    lines = ["| scene | springs | kernel | instruction set | threads | best | median | GB/s | "
             "of triad | times the plain loops |", "|---|---:|---|---|---:|---:|---:|---:|---:|---:|"]
    for (scene, isa, threads), row in result.rows.items():
        speeds = row["spring_updates_per_second"]
        lines.append(
            f"| {scene} | {row['springs']:,} | {row['kernel']} | "
            f"{'' if isa == 'reference' else isa} | {threads} | {million(speeds['best'])} | "
            f"{million(speeds['median'])} | {row['model_bytes_per_second']['best'] / 1e9:.1f} | "
            f"{100 * row['share_of_triad']:.0f}% | {row['ratio_to_reference']['median']:.2f} |")
    return lines


def goals(result):
    """(what, measured, goal) of the goals that this result has figures for."""
    isa, plain = result.isa, "reference"
    found = []
    for scene, goal in (("cloth", 9), ("cloth-undamped", 15), ("jelly26", 15),
                        ("jelly26-undamped", 15), ("jelly52", 15), ("jelly52-undamped", 15)):
        found.append((f"{scene}, {isa}, 1 thread ÷ plain loops",
                      result.ratio((scene, isa, 1), (scene, plain, 1)), f"≥ {goal}"))
    found.append((f"shuffled, {isa}, 1 thread ÷ plain loops on network (the good order)",
                  result.ratio(("shuffled", isa, 1), ("network", plain, 1)), "≥ 4"))
    if 2 in result.threads:
        for scene in ("cloth", "jelly26", "jelly52", "network"):
            found.append((f"{scene}, {isa}, 2 threads ÷ 1",
                          result.ratio((scene, isa, 2), (scene, isa, 1)), "≥ 1.9, quiet machine"))
    for scene, goal in (("cloth", 14), ("jelly26", 4), ("shuffled", 32)):
        row = result.rows[scene, isa, 1]
        found.append((f"{scene}, bytes held a spring", f"{row['bytes_per_spring']:.1f}",
                      f"≤ {goal}"))
    for scene, goal in (("cloth", 20), ("jelly26", 20), ("jelly52", 20), ("shuffled", 200)):
        row = result.rows[scene, isa, 1]
        steps = row["setup_seconds"] * result.speed(scene, isa, 1) / row["springs"]
        found.append((f"{scene}, set-up in steps of {isa}, 1 thread", f"{steps:.0f}", f"≤ {goal}"))
    return found


def figures(result):
    machine = result.result["machine"]
    lines = [f"{machine['name']}, {machine['cores']} cores; L2 {machine['l2'] // 1024} KiB, "
             f"L3 {machine['l3'] // 2 ** 20} MiB; {result.result['precision']} precision; "
             f"taut {result.result['version']} ({result.result['commit']}), "
             f"{result.result['compiler']}, `{result.result['flags']}`.", "",
             "### Limits", "", *limits_table(result), "",
             "### Speeds", "", "Million spring updates a second.", "", *speeds_table(result), "",
             "### Beside the goals", "",
             "Ratios are those of the best and of the median speeds.", "",
             "| figure | measured | goal |", "|---|---:|---|"]
    lines += [f"| {what} | {measured} | {goal} |" for what, measured, goal in goals(result)]
    return "\n".join(lines)


def main(words):
    check = words[:1] == ["--check"]
    if len(words) != 2 + check:
        print(__doc__, file=sys.stderr)
        return 2
    with open(words[-2], encoding="utf-8") as file:
        result = Result(json.load(file))
    with open(words[-1], encoding="utf-8") as file:
        text = file.read()
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        print(f"{words[-1]}: the marks {BEGIN} and {END} are not there", file=sys.stderr)
        return 2
    wanted = f"{before}{BEGIN}\n\n{figures(result)}\n\n{END}{after}"
    if check:
        if wanted != text:
            print(f"{words[-1]} does not show {words[-2]}; bench/table.py writes it")
        return int(wanted != text)
    with open(words[-1], "w", encoding="utf-8") as file:
        file.write(wanted)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
