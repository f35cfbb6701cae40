#!/usr/bin/python3 -B
"""Writes the figures of docs/performance.md from the results in a folder.

    table.py FOLDER DOC.md            puts them between the marks in DOC.md
    table.py --check FOLDER DOC.md    only looks whether they are there: 1 if not
"""
import sys

from goals import goals
from result_files import BadInput, Peers, expecting, read, read_taut_bench, script, write

BEGIN, END = "<!-- figures: begin -->", "<!-- figures: end -->"


def million(value):
    return f"{value / 1e6:,.0f}"


def rate(value):
    return f"{value / 1e9:.1f}"


def limits_table(bench):
    kinds = [kind for kind in ("triad", "update", "read")
             if f"{kind}_bytes_per_second" in bench.limit(1)]
    lines = ["| threads | " + " | ".join(f"{kind}, GB/s" for kind in kinds) + " | "
             + " | ".join(f"{isa}, Gflop/s" for isa in bench.isas) + " |",
             "|---:" * (1 + len(kinds) + len(bench.isas)) + "|"]
    for threads in bench.threads:
        limit = bench.limit(threads)
        peaks = limit["single_multiply_add_operations_per_second"]
        cells = [rate(limit[f"{kind}_bytes_per_second"]["best"]) for kind in kinds]
        cells += [f"{peaks[isa]['best'] / 1e9:.0f}" for isa in bench.isas]
        lines.append(f"| {threads} | " + " | ".join(cells) + " |")
    return lines


def speeds_table(bench):
    lines = ["| scene | springs | kernel | instruction set | threads | best | median | GB/s | "
             "of triad | times the plain loops |",
             "|---|---:|---|---|---:|---:|---:|---:|---:|---:|"]
    for (scene, isa, threads), row in bench.rows.items():
        speeds, times = row["spring_updates_per_second"], row["ratio_to_reference"]["median"]
        lines.append(
            f"| {scene} | {row['springs']:,} | {row['kernel']} | "
            f"{'' if isa == 'reference' else isa} | {threads} | {million(speeds['best'])} | "
            f"{million(speeds['median'])} | {rate(row['model_bytes_per_second']['best'])} | "
            f"{100 * row['share_of_triad']:.0f}% | "
            f"{'' if times is None else format(times, '.2f')} |")
    return lines


def peers_table(peers):
    lines = ["| springs | program | threads or ranks | best | median | taut is faster |",
             "|---|---|---:|---:|---:|---:|"]
    for scene in peers.scenes:
        for row in peers.rows(scene):
            ours = peers.row(scene, "taut", row["threads"])
            speeds, ratio = row["spring_updates_per_second"], ""
            if ours and ours is not row:
                ratio = " and ".join(f"{r:.1f}" for r in peers.ratio(ours, row))
            lines.append(f"| {scene}, {row['springs']:,} | {row['program']} | {row['threads']} | "
                         f"{million(speeds['best'])} | {million(speeds['median'])} | {ratio} |")
    return lines


def peers_section(peers):
    result = peers.result
    worst = max(check["difference"] for check in result["checks"])
    styles = ", ".join(result["lammps_styles"]) or "none"
    return ["", "### Against others", "",
            f"LAMMPS {result['lammps']} (accelerated styles in this build: {styles}), Bullet "
            f"{result['bullet']}; undamped; million spring updates a second.",
            "How much faster is told by the best speeds and by the median of the rounds.",
            f"After {result['checks'][0]['steps']} steps in double precision taut and LAMMPS "
            f"differed by {worst:.0e} of the way gone at most.", "", *peers_table(peers)]


def goals_section(folder):
    lines = ["", "### Beside the goals", "",
             "Ratios are those of the best and of the median speeds; the first decides.", "",
             "| figure | measured | goal | reached |", "|---|---:|---|---|"]
    return lines + [f"| {goal.what} | {goal.measured()} | {goal.wanted()} | "
                    f"{'yes' if goal.reached() else '**no**'} |" for goal in goals(folder)]


def figures(folder):
    bench, peers = read_taut_bench(folder), read(folder, "peers")
    with expecting("bench/renew.py", folder):
        return "\n".join(results_section(bench, peers) + goals_section(folder))


def results_section(bench, peers):
    result, machine = bench.result, bench.result["machine"]
    lines = [f"{machine['name']}, {machine['cores']} cores; L2 {machine['l2'] // 1024} KiB, "
             f"L3 {machine['l3'] // 2 ** 20} MiB; {result['precision']} precision; "
             f"taut {result['version']} ({result['commit']}), {result['compiler']}, "
             f"`{result['flags']}`.", "",
             "### Limits", "", *limits_table(bench), "",
             "### Speeds", "", "Million spring updates a second.", "", *speeds_table(bench)]
    if peers:
        lines += peers_section(Peers(peers))
    return lines


@script
def main(words):
    check = words[:1] == ["--check"]
    if len(words) != 2 + check:
        print(__doc__, file=sys.stderr)
        return 2
    try:
        with open(words[-1], encoding="utf-8") as file:
            text = file.read()
    except UnicodeDecodeError as error:
        raise BadInput(f"{words[-1]}: not a text: {error}") from error
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        print(f"{words[-1]}: the marks {BEGIN} and {END} are not there", file=sys.stderr)
        return 2
    wanted = f"{before}{BEGIN}\n\n{figures(words[-2])}\n\n{END}{after}"
    if check:
        if wanted != text:
            print(f"{words[-1]} does not show {words[-2]}; bench/table.py writes it")
        return int(wanted != text)
    write(words[-1], wanted)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
