#!/usr/bin/python3 -B
"""Writes the figures of docs/performance.md from the results in a folder.

    performance.py FOLDER DOC.md PICTURES           writes the tables between the marks in DOC.md,
                                                    and draws the pictures
    performance.py --check FOLDER DOC.md PICTURES   only looks whether both show FOLDER: 1 if not
    performance.py --goals FOLDER                   prints the goals beside what was measured

FOLDER has the results of one machine, e.g. bench/results/amd-epyc_v4 (benchmark_results.py).
Drawing needs matplotlib (Debian: python3-matplotlib); checking does not: each picture has a digest
of its numbers and of the function that drew them.

sizes.svg: speed over the number of springs; threads.svg: speed relative to one thread;
roofline.svg: the arithmetic of each scene, with the limits set by the machine's memory and
arithmetic.

Of two figures the first is for the best repetitions, the second for the medians; the first decides
whether a goal is reached.
"""
import hashlib
import inspect
import io
import json
import os
import re
import statistics
import sys

from benchmark_results import (BadInput, Peers, expecting, ratio, read, read_benchmarks, read_steps,
                               script, write)

BEGIN, END = "<!-- figures: begin -->", "<!-- figures: end -->"
EULER, VERLET = "symplectic_euler", "velocity_verlet"
GRIDS = ("cloth", "jelly26", "jelly52")


# ---- Goals


class Goal:
    """A figure and its target."""

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


def over_reference(steps):
    for scene, least in (("jelly26", 15), ("jelly52", 15), ("cloth", 13), ("jelly26-undamped", 15),
                         ("jelly52-undamped", 15), ("cloth-undamped", 15), ("ball-airless", 4),
                         ("ball-undamped", 4)):
        above, below = steps.step(scene, steps.isa, 1), steps.step(scene, "reference", 1)
        if above and below:
            yield Goal(f"{scene}, 1 thread ÷ reference", ratio(above, below), least=least)
    for scene, plain in (("shuffled", "network"), ("shuffled-undamped", "network-undamped")):
        above, below = steps.step(scene, steps.isa, 1), steps.step(plain, "reference", 1)
        if above and below:
            yield Goal(f"{scene}, 1 thread ÷ reference on {plain} (the good order)",
                       ratio(above, below), least=4)


def over_others(peers):
    for scene in peers.scenes if peers else []:
        theirs = peers.fastest(scene, "LAMMPS")
        ours = theirs and peers.row(scene, "taut", max(r["threads"] for r in peers.rows(scene)))
        if ours:
            yield Goal(f"{scene}, undamped, {ours['integrator']} in {ours['precision']}, "
                       f"{ours['threads']} threads ÷ {theirs['program']}, "
                       f"{theirs['integrator']} in {theirs['precision']}, at its "
                       f"fastest ({theirs['threads']} ranks or threads)",
                       peers.ratio(ours, theirs),
                       least={"ball": 6, "shuffled": 4}.get(scene, 15))


def counted_threads(threads):
    return f"{threads} thread" + "s" * (threads > 1)


def costs(steps):
    isa = steps.isa
    for what, dear, cheap, most in (
            ("cloth, step with wind ÷ without", "cloth-wind", "cloth", 1.35),
            ("ball, step with gas ÷ without", "ball", "ball-airless", 1.4)):
        for threads in steps.threads:
            above, below = steps.step(cheap, isa, threads), steps.step(dear, isa, threads)
            if above and below:
                yield Goal(f"{what}, {counted_threads(threads)}", ratio(above, below), most=most)
    untouched, without = steps.step("cloth-collider", isa, 1), steps.step("cloth", isa, 1)
    if untouched and without:
        yield Goal("cloth, a collider that nothing touches ÷ none", ratio(untouched, without),
                   least=0.9)
    for integrator in (EULER, VERLET):
        for scene in (*GRIDS, "ball"):
            above = steps.step(scene, isa, 1, integrator=integrator, energy_budget=True)
            below = steps.step(scene, isa, 1, integrator=integrator)
            if above and below:
                yield Goal(f"{scene}, {integrator} with the energy budget ÷ without",
                           ratio(above, below), least=0.87)
    for integrator, least in ((VERLET, 0.92), ("verlet", 0.92), ("explicit_euler", 0.95),
                              ("midpoint", 0.75), ("rk4", 0.75)):
        for scene in (name + ending for ending in ("", "-undamped") for name in (*GRIDS, "ball")):
            above = steps.step(scene, isa, 1, integrator=integrator)
            below = steps.step(scene, isa, 1)
            if above and below:
                yield Goal(f"{scene}, {integrator} ÷ symplectic_euler, per force evaluation",
                           ratio(above, below), least=least)
    for scene in (name + ending for ending in ("", "-undamped") for name in GRIDS):
        above, below = steps.step(scene, isa, 1, "double"), steps.step(scene, isa, 1)
        if above and below:
            yield Goal(f"{scene}, double ÷ single precision", ratio(above, below), least=0.45)


def over_one_thread(steps, neighbour):
    isa, many = steps.isa, max(steps.threads)
    for scene, least in (("cloth", 1.9), ("jelly26", 1.9), ("jelly52", 1.9), ("ball", 1.9),
                         ("network", 1.9), ("shuffled", 1.9), ("cloth-large", 1.7),
                         ("jelly-large", 1.7)):
        above, below = steps.step(scene, isa, many), steps.step(scene, isa, 1)
        if many > 1 and above and below:
            where = "from memory" if scene.endswith("-large") else "in cache"
            yield Goal(f"{scene}, {many} threads ÷ 1, {where}", ratio(above, below), least=least)
    for row in neighbour or []:
        pairs = [a / b for a, b in zip(row["beside"], row["one"])]
        yield Goal(f"{row['scene']}, {row['threads']} threads beside a busy process ÷ 1 alone",
                   (max(row["beside"]) / max(row["one"]), statistics.median(pairs)), least=0.75)


def memory_and_setup(steps):
    isa = steps.isa
    for scene, most in (("jelly26", 4), ("jelly52", 4), ("cloth", 10), ("ball", 32),
                        ("shuffled", 32)):
        row = steps.step(scene, isa, 1)
        if row:
            yield Goal(f"{scene}, bytes per spring", row.least("bytes/spring"), most=most)
    for scene, most in (("cloth", 20), ("jelly26", 20), ("jelly52", 20), ("ball", 200),
                        ("shuffled", 200)):
        row = steps.step(scene, isa, 1)
        if row:
            # Every instruction set is set up in the same way: takes the least disturbed one.
            setup = min(steps.step(scene, other, 1).least("setup_s") for other in steps.isas
                        if steps.step(scene, other, 1))
            yield Goal(f"{scene}, set-up in steps of 1 thread",
                       setup * row.best("spring_updates/s") / row.best("springs"), most=most)


def of_other_files(steps, sizes, billion, hashes):
    if billion:
        yield Goal(f"{billion['springs'] / 1e9:.2f} billion springs, {billion['steps']} steps",
                   billion["peak_rss_bytes"] / 2 ** 30, most=4, unit=" GiB")
    for threads in steps.threads if sizes else []:
        found = [(springs, row) for scene, _, _, kernel, count, springs, row in
                 sizes.kinds("volume") if (scene, kernel, count) == ("ball", steps.isa, threads)]
        reading = sizes.bandwidth("read", threads) or steps.bandwidth("read", threads)
        if found and reading:
            row = max(found, key=lambda pair: pair[0])[1]
            yield Goal(f"volume of a ball of {row.best('springs'):,.0f} springs, "
                       f"{counted_threads(threads)} ÷ read bandwidth",
                       row.best("GB/s") / reading.best("GB/s"), least=0.8)
    if hashes:
        yield Goal(f"{hashes['scenes']} scenes, each of 1 to {hashes['threads']} threads on "
                   f"{', '.join(hashes['isas'])}: runs with another hash", len(hashes["different"]),
                   most=0)


def goals(folder):
    steps, sizes = read_steps(folder), read_benchmarks(folder, "sizes")
    peers = read(folder, "peers")
    with expecting("tools/measure.py", folder):
        return [*over_reference(steps), *over_others(Peers(peers) if peers else None),
                *costs(steps), *over_one_thread(steps, read(folder, "neighbour")),
                *memory_and_setup(steps),
                *of_other_files(steps, sizes, read(folder, "billion"), read(folder, "hashes"))]


# ---- Tables


def million(value):
    return f"{value / 1e6:,.0f}"


def limits_table(steps):
    kinds = [kind for kind in ("triad", "update", "read") if steps.bandwidth(kind, 1)]
    lines = ["| threads | " + " | ".join(f"{kind}, GB/s" for kind in kinds) + " | "
             + " | ".join(f"{isa}, Gflop/s" for isa in steps.isas) + " |",
             "|---:" * (1 + len(kinds) + len(steps.isas)) + "|"]
    for threads in steps.threads:
        cells = [f"{steps.bandwidth(kind, threads).best('GB/s'):.1f}" for kind in kinds]
        cells += [f"{steps.peak(isa, threads).best('Gflop/s'):.0f}" for isa in steps.isas]
        lines.append(f"| {threads} | " + " | ".join(cells) + " |")
    return lines


def speeds_table(steps):
    lines = ["| scene | springs | integrator | kernel | instruction set | threads | best | median | "
             "GB/s | share of triad | ÷ reference |",
             "|---|---:|---|---|---|---:|---:|---:|---:|---:|---:|"]
    for scene, integrator, precision, kernel, threads, springs, row in steps.kinds("step"):
        if springs is not None:
            continue
        reference = steps.step(scene, "reference", 1, precision, integrator) or \
            steps.step(scene, "reference", 1, precision)
        triad = steps.bandwidth("triad", threads)
        moved = row.best("GB/s") if row.has("GB/s") else None
        lines.append(
            f"| {scene} | {row.best('springs'):,.0f} | {integrator} | {row.label} | "
            f"{'' if kernel == 'reference' else kernel}{' double' * (precision == 'double')} | "
            f"{threads} | {million(row.best('spring_updates/s'))} | "
            f"{million(row.median('spring_updates/s'))} | "
            f"{'' if moved is None else format(moved, '.1f')} | "
            f"{'' if None in (moved, triad) else format(moved / triad.best('GB/s'), '.0%')} | "
            f"{format(ratio(row, reference)[1], '.2f') if reference else ''} |")
    return lines


def budget_section(steps):
    lines = ["", "### With the energy budget", "",
             "Steps of `taut run` keep the energy budget unless a scene has "
             "`output: {work: false}`; million spring updates per second, and their ratio to those "
             "of steps without it, of the best and of the median repetitions.", "",
             "| scene | integrator | threads | best | median | ÷ without |",
             "|---|---|---:|---:|---:|---:|"]
    for scene, integrator, precision, kernel, threads, _, row in steps.kinds("step", True):
        without = steps.step(scene, kernel, threads, precision, integrator)
        shares = " and ".join(f"{r:.2f}" for r in ratio(row, without)) if without else ""
        lines.append(f"| {scene} | {integrator} | {threads} | "
                     f"{million(row.best('spring_updates/s'))} | "
                     f"{million(row.median('spring_updates/s'))} | {shares} |")
    return lines if next(steps.kinds("step", True), None) else []


def scaling_section(scaling):
    lines = ["", "### Scaling", "",
             "The speedup is that of spring updates per second over one thread, measured "
             "interleaved, and the efficiency is the speedup over the number of threads "
             "(medians).", "",
             "| scene | scaling | integrator | threads | springs | speedup | efficiency |",
             "|---|---|---|---:|---:|---:|---:|"]
    for kind in ("strong", "weak"):
        for scene, integrator, _, _, threads, _, row in scaling.kinds(kind):
            lines.append(f"| {scene} | {kind} | {integrator} | {threads} | "
                         f"{row.best('springs'):,.0f} | {row.median('speedup'):.2f} | "
                         f"{row.median('efficiency'):.2f} |")
    return lines


def peers_section(peers):
    result = peers.result
    worst = max(check["difference"] for check in result["checks"])
    styles = ", ".join(result["lammps_styles"]) or "none"
    lines = ["", "### Comparison with other programs", "",
             f"LAMMPS {result['lammps']} (accelerated styles in this build: {styles}), Bullet "
             f"{result['bullet']}; undamped; million spring updates per second.",
             "The ratios are that of the best speeds, and the median of the ratios of all rounds.",
             f"After {result['checks'][0]['steps']} steps in double precision taut and LAMMPS "
             f"differed by at most {worst:.0e} of the distance moved.", "",
             "| springs | program | integrator, precision | threads or ranks | best | median | "
             "taut is faster |",
             "|---|---|---|---:|---:|---:|---:|"]
    for scene in peers.scenes:
        for row in peers.rows(scene):
            ours = peers.row(scene, "taut", row["threads"])
            speeds, faster = row["spring_updates_per_second"], ""
            if ours and ours is not row:
                faster = " and ".join(f"{r:.1f}" for r in peers.ratio(ours, row))
            lines.append(f"| {scene}, {row['springs']:,} | {row['program']} | "
                         f"{row['integrator']}, {row['precision']} | {row['threads']} | "
                         f"{million(speeds['best'])} | {million(speeds['median'])} | {faster} |")
    return lines


def goals_section(folder):
    lines = ["", "### Goals", "",
             "Ratios are those of the best and of the median speeds; the first one counts.", "",
             "| figure | measured | goal | reached |", "|---|---:|---|---|"]
    return lines + [f"| {goal.what} | {goal.measured()} | {goal.wanted()} | "
                    f"{'yes' if goal.reached() else '**no**'} |" for goal in goals(folder)]


def tables(folder):
    steps, peers = read_steps(folder), read(folder, "peers")
    scaling, about = read_benchmarks(folder, "scaling"), steps.context
    with expecting("tools/measure.py", folder):
        lines = [f"{about['machine']}, {about['machine_cores']} cores; "
                 f"L2 {int(about['machine_l2_bytes']) // 1024} KiB, "
                 f"L3 {int(about['machine_l3_bytes']) // 2 ** 20} MiB; "
                 f"taut {about['taut_version']} ({about['taut_commit']}), "
                 f"{about['taut_compiler']}, `{about['taut_flags']}`.", "",
                 "### Limits", "", *limits_table(steps), "",
                 "### Speeds", "", "Million spring updates per second; the last column is the ratio "
                 "of the medians.", "", *speeds_table(steps), *budget_section(steps)]
        if scaling:
            lines += scaling_section(scaling)
        if peers:
            lines += peers_section(Peers(peers))
        return "\n".join(lines + goals_section(folder))


# ---- Pictures: their data, which needs no matplotlib, and their drawing

SIZES = ("jelly52", "jelly26", "cloth", "rope", "ball", "shuffled")
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#8a6d00", "#666666")
# Operations per spring: difference 3, squared length 5, root, stretch and stiffness 2, divided by
# the length 1, force 3, both ends 6; damping adds velocities 3, component along the spring 5, its
# force 3. Per node: velocity 9, position 6. A root and a division count as one, though they take
# longer.
SPRING_OPERATIONS, DAMPING_OPERATIONS, NODE_OPERATIONS = 21, 11, 15
# Forces on faces are not counted, so scenes with wind or gas are not in the roofline picture.
UNCOUNTED = ("cloth-wind", "ball")


def sizes_data(sizes, isa, threads):
    """{threads: {scene: [(springs, spring updates per second)]}} for one instruction set."""
    found = {count: {} for count in threads}
    for scene, integrator, precision, kernel, count, springs, row in sizes.kinds("step"):
        if (integrator, precision, kernel) == (EULER, "single", isa) and springs \
                and count in found and scene in SIZES:
            found[count].setdefault(scene, []).append(
                (row.best("springs"), row.best("spring_updates/s")))
    return {"isa": isa, "lines": {str(count): {scene: sorted(scenes[scene]) for scene in SIZES
                                               if scene in scenes}
                                  for count, scenes in found.items()}}


def threads_data(steps):
    """[scene, [(threads, best ratio, median ratio)]]"""
    bars = []
    for scene in steps.scenes:
        rows = [steps.step(scene, steps.isa, threads) for threads in steps.threads]
        if all(rows):
            bars.append([scene, [(threads, *ratio(row, rows[0]))
                                 for threads, row in zip(steps.threads, rows)]])
    return {"isa": steps.isa, "bars": bars}


def roofline_data(steps):
    panels = []
    for threads in sorted({steps.threads[0], steps.threads[-1]}):
        points = []
        for scene in steps.scenes:
            row = steps.step(scene, steps.isa, threads)
            if not row or scene in UNCOUNTED:
                continue
            per_spring = SPRING_OPERATIONS + (0 if scene.endswith("-undamped")
                                              else DAMPING_OPERATIONS)
            springs, nodes = row.best("springs"), row.best("nodes")
            rate = row.best("spring_updates/s") / springs  # steps per second
            operations = per_spring * springs + NODE_OPERATIONS * nodes
            points.append((scene, operations * rate / (1e9 * row.best("GB/s")), operations * rate))
        panels.append({"threads": threads, "peak": 1e9 * steps.peak(steps.isa, threads).best(
            "Gflop/s"), "points": points, "bandwidths": [
                (kind, 1e9 * steps.bandwidth(kind, threads).best("GB/s"))
                for kind in ("triad", "update") if steps.bandwidth(kind, threads)]})
    return {"isa": steps.isa, "panels": panels}


def draw_sizes(plt, data):
    figure, panels = plt.subplots(1, len(data["lines"]), figsize=(10, 4.4), sharey=True,
                                  squeeze=False)
    for axes, (threads, scenes) in zip(panels[0], data["lines"].items()):
        for scene, colour in zip(SIZES, COLOURS):
            if scene in scenes:
                axes.plot(*zip(*scenes[scene]), "o-", color=colour, markersize=4, label=scene)
        axes.set(xscale="log", yscale="log", xlabel="springs",
                 title=f"{counted_threads(int(threads))}, {data['isa']}")
        axes.grid(True, which="both", color="#e4e4e4")
    panels[0][0].set_ylabel("spring updates per second")
    panels[0][-1].legend(loc="center left", bbox_to_anchor=(1, 0.5), frameon=False)
    return figure


def draw_threads(plt, data):
    figure, axes = plt.subplots(figsize=(10, 4.8))
    width = 0.75 / max(len(bars) for _, bars in data["bars"])
    for slot, (_, bars) in enumerate(data["bars"]):
        for number, (threads, best, median) in enumerate(bars):
            x = slot + (number + 0.5) * width - 0.375
            axes.bar(x, best, 0.92 * width, color=COLOURS[number % len(COLOURS)],
                     label=counted_threads(threads) if slot == 0 else None)
            axes.plot([x - 0.46 * width, x + 0.46 * width], [median, median], color="#222222")
    for threads, *_ in data["bars"][0][1]:
        axes.axhline(threads, color="#222222", linewidth=0.8, linestyle=":")
    axes.set_xticks(range(len(data["bars"])), [scene for scene, _ in data["bars"]], rotation=40,
                    ha="right", rotation_mode="anchor")
    axes.set(ylabel="times one thread", title=f"Speed over that of one thread, {data['isa']} "
             "(bars: best; lines: median)")
    axes.legend(loc="center left", bbox_to_anchor=(1, 0.5), frameon=False)
    return figure


def draw_roofline(plt, data):
    figure, panels = plt.subplots(1, len(data["panels"]), figsize=(12, 5), squeeze=False)
    for axes, panel in zip(panels[0], data["panels"]):
        intensities = [x for _, x, _ in panel["points"]]
        ends = [min(intensities) / 2, 2 * max(intensities)]
        for (kind, bandwidth), style in zip(panel["bandwidths"], ("-", "--")):
            knee = min(max(panel["peak"] / bandwidth, ends[0]), ends[1])
            xs = [ends[0], knee, ends[1]]
            axes.plot(xs, [min(panel["peak"], bandwidth * x) for x in xs], style, color="#222222",
                      label=f"{kind} {bandwidth / 1e9:.0f} GB/s, peak "
                            f"{panel['peak'] / 1e9:.0f} Gflop/s")
        for slot, (scene, x, y) in enumerate(panel["points"]):
            axes.plot([x], [y], "osD^v"[slot % 5], color=COLOURS[slot % len(COLOURS)],
                      label=scene)
        axes.set(xscale="log", yscale="log", xlabel="operations per byte (by the model)",
                 ylabel="operations per second",
                 title=f"{counted_threads(panel['threads'])}, {data['isa']}")
        axes.grid(True, which="both", color="#e4e4e4")
        lines = axes.get_lines()[:len(panel["bandwidths"])]
        points = axes.get_lines()[len(panel["bandwidths"]):]
        axes.legend(handles=lines, loc="upper left", fontsize=7)
    figure.legend(handles=points, loc="center left", bbox_to_anchor=(0.91, 0.5), frameon=False,
                  fontsize=8)
    return figure


def pictures(folder):
    """{file name: (draw, data)}"""
    steps, sizes = read_steps(folder), read_benchmarks(folder, "sizes")
    with expecting("taut-bench --json", os.path.join(folder, "steps.json")):
        drawn = {"threads.svg": (draw_threads, threads_data(steps)),
                 "roofline.svg": (draw_roofline, roofline_data(steps))}
    with expecting("taut-bench --json", os.path.join(folder, "sizes.json")):
        if sizes:
            threads = sorted({steps.threads[0], steps.threads[-1]})
            drawn["sizes.svg"] = draw_sizes, sizes_data(sizes, steps.isa, threads)
    return drawn


def digest(draw, data):
    """A digest of the numbers and of the function that draws them."""
    text = json.dumps(data) + inspect.getsource(draw)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def draw_svg(draw, data):
    try:
        import matplotlib  # pylint: disable=import-outside-toplevel
        matplotlib.use("svg")
        from matplotlib import pyplot as plt  # pylint: disable=import-outside-toplevel
    except ImportError as error:
        raise BadInput("pictures are drawn by matplotlib (Debian: python3-matplotlib): "
                       f"{error}") from error
    # Text stays text, and the same numbers give the same bytes.
    plt.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "taut"})
    figure, text = draw(plt, data), io.StringIO()
    figure.savefig(text, format="svg", bbox_inches="tight",
                   metadata={"Date": None, "Description": "digest " + digest(draw, data)})
    plt.close(figure)
    return re.sub(r"[ \t]+\n", "\n", text.getvalue())


def shows(path, draw, data):
    """Whether the picture shows this data, drawn by this function."""
    try:
        with open(path, encoding="utf-8") as file:
            return "digest " + digest(draw, data) in file.read()
    except (OSError, UnicodeDecodeError):
        return False


# ---- The program


def read_document(path, begin_mark=BEGIN, end_mark=END):
    """(before the tables, the tables, after them)"""
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
    except UnicodeDecodeError as error:
        raise BadInput(f"{path}: not a text: {error}") from error
    before, begin, rest = text.partition(begin_mark)
    between, end, after = rest.partition(end_mark)
    if not begin or not end:
        raise BadInput(f"{path}: the marks {begin_mark} and {end_mark} are not there")
    return before, between, after


@script
def main(words):
    if words[:1] == ["--goals"] and len(words) == 2:
        for goal in goals(words[1]):
            print(f"{'  ' if goal.reached() else '! '}{goal.what:<75} {goal.measured():>16}   "
                  f"{goal.wanted()}")
        return 0
    check = words[:1] == ["--check"]
    if len(words) != 3 + check or words[-1].startswith("-"):
        print(__doc__, file=sys.stderr)
        return 2
    folder, document, drawn_in = words[-3:]
    before, between, after = read_document(document)
    wanted = f"\n\n{tables(folder)}\n\n"
    drawn = pictures(folder)
    if check:
        stale = [document] if between != wanted else []
        stale += [path for name, (draw, data) in drawn.items()
                  if not shows(path := os.path.join(drawn_in, name), draw, data)]
        for path in stale:
            print(f"{path} does not show {folder}; tools/performance.py writes it")
        return int(bool(stale))
    # Everything is computed before anything is written.
    svgs = {name: draw_svg(draw, data) for name, (draw, data) in drawn.items()}
    write(document, before + BEGIN + wanted + END + after)
    os.makedirs(drawn_in, exist_ok=True)
    for name, svg in svgs.items():
        write(os.path.join(drawn_in, name), svg)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
