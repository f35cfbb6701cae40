"""The seven figures of a study, drawn by matplotlib.

Sizes are in pixels of 1/96 inch, from the upper left corner. Colours of lines are those of Okabe
and Ito, which are distinguishable with any type of colour vision; lines also differ in dashes and
markers. Each colour has one meaning, so that it can be replaced on dark pages (svg.dark_style).
"""
import io
import logging
import math
from types import SimpleNamespace

import matplotlib
from matplotlib.figure import Figure
from matplotlib.legend_handler import HandlerPatch
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, PathPatch
from matplotlib.path import Path
from matplotlib.ticker import (FixedLocator, FuncFormatter, LogLocator, MaxNLocator,
                               NullFormatter, NullLocator)
from matplotlib.transforms import Bbox

import svg
from labels import clean, fixed, number, scientific, shortened
from study import INTEGRATORS

COLOURS = {  # light, dark
    "paper": ("#ffffff", "#17191c"),
    "ink": ("#1a1a1a", "#ececec"),
    "soft": ("#5c5c5c", "#a8adb3"),
    "frame": ("#8a8a8a", "#7d838a"),
    "grid": ("#dedede", "#34393f"),
    "faint": ("#f0f0f0", "#24282d"),
    "kept": ("#e3eef5", "#1e3442"),
    "lost": ("#9ccae3", "#31617f"),
    "lost_much": ("#4a94c4", "#5fa6d3"),
    "gained": ("#f7dc9a", "#7a6220"),
    "gained_much": ("#e59e00", "#e69f00"),
    "unstable": ("#c64f00", "#b84a00"),
    "unknown": ("#c4c4c4", "#55595e"),
    # matplotlib omits pure black, which could then not be replaced.
    "series": (("#d55e00", "#f07f2c"), ("#0072b2", "#4aa8e0"), ("#56b4e9", "#8fd0f5"),
               ("#009e73", "#1fc795"), ("#e69f00", "#f2b53a"), ("#cc79a7", "#e39cc3"),
               ("#010101", "#f4f4f4")),
}
PAIRS = [pair for name, pair in COLOURS.items() if name != "series"] + list(COLOURS["series"])
STYLE = svg.dark_style(PAIRS)

DOTS = 96  # pixels per inch
POINT = 72 / DOTS  # a pixel in points, matplotlib's unit
PNG_SCALE = 2
WIDTH, HEADING = 860, 56
TEXT, SMALL = 12, 11
TWO_PI = 2 * math.pi

SETTINGS = {
    "font.family": ["DejaVu Sans"],  # part of matplotlib
    "font.size": TEXT * POINT,
    "text.parse_math": False,  # a title may contain dollar signs
    "text.color": COLOURS["ink"][0],
    "axes.labelcolor": COLOURS["ink"][0],
    "axes.titlesize": TEXT * POINT,
    "axes.titleweight": "bold",
    "axes.edgecolor": COLOURS["frame"][0],
    "axes.linewidth": POINT,
    "axes.axisbelow": True,
    "xtick.labelsize": SMALL * POINT,
    "ytick.labelsize": SMALL * POINT,
    "legend.fontsize": SMALL * POINT,
    "svg.fonttype": "none",  # text stays text
    "svg.hashsalt": "taut",  # the same study, the same file
}


def light(name):
    """The colour of that name on light pages."""
    return COLOURS[name][0]


def prepare():
    """Configures matplotlib, whatever the user's own settings are. Raises KeyError if it is older
    than 3.6."""
    logging.getLogger("matplotlib").setLevel(logging.ERROR)
    matplotlib.use("Agg")  # no display
    matplotlib.rcdefaults()
    matplotlib.rcParams.update(SETTINGS)


# ---- Lines and axes

def stroke(integrator):
    """The line style of an integrator, the same in all figures and reports. Lines that often
    coincide (those of the symplectic integrators) differ in their dashes."""
    index = (INTEGRATORS.index(integrator) if integrator in INTEGRATORS
             else len(INTEGRATORS) + sum(integrator.encode()) % 32)
    round_, colour = divmod(index, len(COLOURS["series"]))
    dashes = ((0, ()), (0, (5, 2.2)), (0, (1.8, 1.8)), (0, (6.5, 2.2, 1.8, 2.2)))
    dash = dashes[((0, 0, 1, 2, 0, 0, 0)[colour] + 3 * round_) % 4]
    return {"color": COLOURS["series"][colour][0], "linewidth": 2 * POINT, "linestyle": dash,
            "marker": "os^DvP"[index % 6], "markersize": 8 * POINT,
            "markeredgewidth": 1.6 * POINT, "markeredgecolor": COLOURS["series"][colour][0],
            "markerfacecolor": light("paper") if round_ % 2 == 0
            else COLOURS["series"][colour][0]}


def span(values, positive=False):
    """The least and the greatest finite value (above 0 if `positive`); None if there are none."""
    found = [value for value in values if math.isfinite(value) and (value > 0 or not positive)]
    return (min(found), max(found)) if found else None


def limits(values, logarithmic, margin):
    """The ends of an axis that shows a span with a margin, a fraction of its length, on both sides;
    a suitable range for an empty span or a single value."""
    low, high = values or ((0.1, 10) if logarithmic else (0, 1))
    least = 1e-250 if logarithmic else -1e250  # beyond, the margin would overflow
    low, high = (min(max(value, least), 1e250) for value in (low, high))
    if logarithmic:
        low, high = math.log10(low), math.log10(high)
    size = max(abs(low), abs(high))
    if not high - low > 1e-9 * size:
        around = 0.5 if logarithmic else 0.1 * size or 1
        low, high = low - around, high + around
    more = margin * (high - low)
    low, high = low - more, high + more
    return (10 ** low, 10 ** high) if logarithmic else (low, high)


def set_axis(panel, name, ends, logarithmic, labels=True):
    """Sets the "x" or "y" axis of a panel: scale and ends, ticks at round numbers, grid lines."""
    axis = getattr(panel, name + "axis")
    # Lines are interrupted where a logarithm is undefined.
    options = {"nonpositive": "mask"} if logarithmic else {}
    getattr(panel, f"set_{name}scale")("log" if logarithmic else "linear", **options)
    getattr(panel, f"set_{name}lim")(ends)
    spacing = {"x": 56, "y": 34}[name]  # pixels of a number and the gap after it
    ticks, minor = chosen_ticks(ends, logarithmic, max(2, int(panel.pixels[name] / spacing)))
    axis.set_major_locator(FixedLocator(ticks))
    axis.set_minor_locator(FixedLocator(minor))
    axis.set_minor_formatter(NullFormatter())
    texts = dict(zip(ticks, tick_labels(ticks))) if labels else {}
    axis.set_major_formatter(FuncFormatter(lambda value, _: texts.get(value, "")))
    panel.tick_params(which="both", left=False, bottom=False, length=0, pad=5 * POINT,
                      labelcolor=light("soft"))
    axis.grid(True, which="major", color=light("grid"), linewidth=POINT)
    axis.grid(True, which="minor", color=light("faint"), linewidth=POINT)


def chosen_ticks(ends, logarithmic, most):
    """Round numbers with labels, at most about `most`, and round numbers without."""
    low, high = ends
    tolerance = 1e-9 * (high - low)
    decades = math.log10(high / low) if logarithmic else 0
    if decades < 0.8:
        values = MaxNLocator(nbins=max(most - 1, 1), steps=[1, 2, 5, 10]).tick_values(low, high)
        return [value for value in values if low - tolerance <= value <= high + tolerance], []
    if decades < 2.2:
        values = LogLocator(subs=(1, 2, 5), numticks=2 * most).tick_values(low, high)
        values = [value for value in values if low * (1 - 1e-9) <= value <= high * (1 + 1e-9)]
        if 2 <= len(values) <= most:
            return values, []
    powers = range(math.ceil(math.log10(low) - 1e-9), math.floor(math.log10(high) + 1e-9) + 1)
    stride = -(-len(powers) // most)
    ticks = [10.0 ** power for power in powers if power % stride == 0]
    minor = []
    if stride > 1:
        minor = [10.0 ** power for power in powers if power % stride]
    elif len(powers) <= 6:
        minor = [part * 10.0 ** power for power in range(powers[0] - 1, powers[-1] + 1)
                 for part in range(2, 10) if low <= part * 10.0 ** power <= high]
    return ticks, minor


def tick_labels(ticks):
    """The labels of an axis: powers of ten for wide ranges, in one format for all."""
    powers = all(value > 0 and value == float(f"{value:.0e}") and f"{value:e}"[0] == "1"
                 for value in ticks)
    if ticks and powers and (ticks[0] < 1e-3 or ticks[-1] > 1e4):
        return [scientific(value, 1) for value in ticks]
    return [number(value, 6) for value in ticks]


class Sheet:
    """A figure being drawn: a heading, and panels below."""

    def __init__(self, height):
        self.height = height
        self.figure = Figure(figsize=(WIDTH / DOTS, height / DOTS), dpi=DOTS)

    def panel(self, left, top, right, bottom):
        """Axes at a position; their size is in .pixels."""
        panel = self.figure.add_axes([left / WIDTH, 1 - bottom / self.height,
                                      (right - left) / WIDTH, (bottom - top) / self.height])
        panel.pixels = {"x": right - left, "y": bottom - top}
        return panel

    def text(self, x, y, text, **options):
        """Text whose baseline begins at (x, y)."""
        options.setdefault("fontsize", TEXT * POINT)
        return self.figure.text(x / WIDTH, 1 - y / self.height, text, **options)

    def legend(self, x, y, handles, **options):
        """Handles one below the other, with labels beside them."""
        options = {"loc": "upper left", "frameon": False, "borderaxespad": 0, "borderpad": 0,
                   "handlelength": 2.7, "handletextpad": 0.7, "labelspacing": 0.62, **options}
        return self.figure.legend(handles=handles,
                                  bbox_to_anchor=(x / WIDTH, 1 - y / self.height), **options)


def line(label, style, marked):
    """A handle of a legend."""
    style = dict(style)
    if not marked:
        style["marker"] = None
    return Line2D([], [], label=label, **style)


REFERENCE = {"color": light("frame"), "linewidth": 5 * POINT}


# ---- Largest stable step

class Upright(HandlerPatch):
    """A vertical stroke in the legend, as in the panel."""

    def create_artists(self, _, original, left, descent, width, height, __, transform):
        stroke_ = Line2D([left + width / 2] * 2, [-descent - 0.4 * height, 1.3 * height - descent],
                         transform=transform)
        stroke_.update_from(original)
        return [stroke_]


def has_limits(study):
    """Whether there is data to draw; likewise for each figure."""
    return any(row.kind != "unknown" for row in study.limits)


def limit_text(row):
    """The text of a row of the figure."""
    if row.kind == "grows":
        return "none: energy always grows"
    if row.kind == "beyond":
        return f"none found up to {number(row.stable, 3)} s"
    if row.kind == "undecided":
        ends = (row.stable, row.unstable)
        if not math.isfinite(ends[1]):
            return (f"undecided, above {number(ends[0], 3)} s" if math.isfinite(ends[0])
                    else "undecided at every step")
        return ("undecided, " + (f"{number(ends[0], 3)} to " if math.isfinite(ends[0]) else "below ")
                + f"{number(ends[1], 3)} s")
    if row.kind != "found":
        return "not measured"
    text = f"{number(row.measured, 4)} s"
    if math.isfinite(row.predicted):
        text += f", {number(row.measured / row.predicted, 4)} of predicted"
    return text


def draw_limits(study):
    """Bars: stable on the left and unstable on the right, one row per integrator."""
    row_height, names, right = 30, 160, 570
    top = HEADING + 8
    bottom = top + row_height * len(study.limits)
    sheet = Sheet(bottom + 84)
    panel = sheet.panel(names, top, right, bottom)
    steps = [study.unit / 3, study.unit * 3, study.dt]
    for row in study.limits:
        steps += [row.predicted, row.measured]
        if row.kind == "undecided":
            steps += [row.stable, row.unstable]
    ends = limits(span(steps, positive=True), True, 0.05)
    set_axis(panel, "x", ends, True)
    set_axis(panel, "y", (0, len(study.limits)), False, labels=False)
    panel.yaxis.set_major_locator(NullLocator())
    panel.invert_yaxis()
    panel.set_xlabel("time step dt (s)", labelpad=8)
    for i, row in enumerate(study.limits):
        edge = {"found": row.measured, "beyond": ends[1]}.get(row.kind, ends[0])
        rest = "unknown" if row.kind == "unknown" else "unstable"
        parts = [(ends[0], edge, "lost"), (edge, ends[1], rest)]
        if row.kind == "undecided":
            low = row.stable if math.isfinite(row.stable) else ends[0]
            high = row.unstable if math.isfinite(row.unstable) else ends[1]
            parts = [(ends[0], low, "lost"), (low, high, "unknown"), (high, ends[1], "unstable")]
        for begin, end, colour in parts:
            if end > begin:
                panel.barh(i + 0.5, end - begin, 0.6, begin, color=light(colour), linewidth=0)
        if math.isfinite(row.predicted):
            for colour, width in (("paper", 5), ("ink", 2.5)):
                panel.plot([row.predicted] * 2, [i + 0.07, i + 0.93], color=light(colour),
                           linewidth=width * POINT, solid_capstyle="butt", zorder=3)
        y = top + row_height * (i + 0.5) + 4
        sheet.text(names - 10, y, row.integrator, ha="right")
        sheet.text(right + 12, y, limit_text(row), fontsize=SMALL * POINT)
    if study.dt > 0:
        panel.axvline(study.dt, color=light("ink"), linewidth=1.5 * POINT, dashes=(3, 2), zorder=4)

    strokes = [Line2D([], [], color=light("ink"), linewidth=2.5 * POINT, label="predicted limit"),
               Line2D([], [], color=light("ink"), linewidth=1.5 * POINT, dashes=(3, 2),
                      label="the scene's own dt")]
    sheet.legend(names, bottom + 54,
                 [Patch(color=light("lost"), linewidth=0, label="stable"),
                  Patch(color=light("unstable"), linewidth=0, label="unstable"), *strokes],
                 ncol=4, handlelength=1.6, columnspacing=1.6,
                 handler_map={handle: Upright() for handle in strokes})
    return sheet


# ---- Stability map

# The fraction of the available energy that a run may lose or gain within the map's time and still
# count as unchanged; and the fraction that counts as much.
KEPT, MUCH = 0.01, 0.5

MAP_COLOURS = (("lost_much", "more than half lost"), ("lost", "1 to 50% lost"),
               ("kept", "kept within 1%"), ("gained", "1 to 50% gained"),
               ("gained_much", "more gained"), ("unstable", "unstable"),
               ("unknown", "not measured"))


def has_map(study):
    return study.map is not None and any(verdict != "unknown"
                                         for rows in study.map.integrators.values()
                                         for verdict in rows.verdicts)


def cell_colour(study, verdict, drift):
    """The name of the colour of a cell."""
    if verdict != "stable":
        return "unstable" if verdict == "unstable" else "unknown"
    change = drift * study.map.window
    if not abs(change) > KEPT:
        return "kept"
    if change < 0:
        return "lost_much" if change < -MUCH else "lost"
    return "gained_much" if change > MUCH else "gained"


def edges(values):
    """The borders between cells: halfway on the logarithmic axis."""
    inner = [math.sqrt(a * b) for a, b in zip(values, values[1:])]
    return [values[0] ** 2 / inner[0], *inner, values[-1] ** 2 / inner[-1]]


def draw_cells(panel, study, rows, across, up):
    """Draws the cells of a panel, those of one colour as one path. Returns the colours that occur.
    """
    columns = len(study.map.steps)
    shapes = {}
    for row in range(len(study.map.factors)):
        cells = slice(row * columns, (row + 1) * columns)
        colours = [cell_colour(study, *cell)
                   for cell in zip(rows.verdicts[cells], rows.drifts[cells])]
        begin = 0
        for end in range(1, columns + 1):
            if end < columns and colours[end] == colours[begin]:
                continue
            left, right, low, high = across[begin], across[end], up[row], up[row + 1]
            shapes.setdefault(colours[begin], []).extend(
                [(left, low), (right, low), (right, high), (left, high), (left, low)])
            begin = end
    codes = [Path.MOVETO, Path.LINETO, Path.LINETO, Path.LINETO, Path.CLOSEPOLY]
    for colour, points in shapes.items():
        # With edges, so that no seams show between neighbours.
        panel.add_patch(PathPatch(Path(points, codes * (len(points) // 5)), color=light(colour),
                                  linewidth=0.4 * POINT, zorder=1.5))
    return set(shapes)


def draw_map(study):
    """A panel for each integrator, a cell for each run."""
    left, gap_across, gap_up, height, most = 78, 26, 62, 190, 3
    count = len(study.integrators)
    columns = min(count, most)
    rows = -(-count // columns)
    top = HEADING + 26
    bottom = top + rows * (height + gap_up)
    width = min((WIDTH - left - 20 - gap_across * (columns - 1)) / columns, 400)
    sheet = Sheet(bottom + 100)
    across, up = edges(study.map.steps), edges(study.map.factors)
    shows_scene = study.map.factor_of == "scene" and across[0] <= study.dt <= across[-1]
    name = "stiffness" if study.map.kind == "stiffness" else "damping"
    name += " / the scene's" if study.map.factor_of == "scene" else " / critical damping"
    occurring = set()
    for i, integrator in enumerate(study.integrators):
        x = left + (i % columns) * (width + gap_across)
        y = top + (i // columns) * (height + gap_up)
        panel = sheet.panel(x, y, x + width, y + height)
        set_axis(panel, "x", (across[0], across[-1]), True)
        set_axis(panel, "y", (up[0], up[-1]), True, labels=i % columns == 0)
        panel.minorticks_off()
        panel.grid(False)  # cells cover the grid
        panel.set_title(integrator, pad=7)
        if i + columns >= count:
            panel.set_xlabel("time step dt (s)", labelpad=6)
        if i % columns == 0:
            panel.set_ylabel(name)
            panel.yaxis.set_label_coords(-52 / panel.pixels["x"], 0.5)
        cells = study.map.integrators[integrator]
        occurring |= draw_cells(panel, study, cells, across, up)
        for colour, thick in (("paper", 5), ("ink", 2)):
            panel.plot(cells.predicted, study.map.factors, color=light(colour),
                       linewidth=thick * POINT)
        if shows_scene:
            panel.plot([study.dt], [1], "D", color=light("ink"), markersize=7 * POINT)

    # The legend
    handles = [Line2D([], [], color=light("ink"), linewidth=2 * POINT, label="predicted limit")]
    if shows_scene:
        handles.append(Line2D([], [], marker="D", linestyle="", color=light("ink"),
                              markersize=7 * POINT, label="the scene as it is"))
    sheet.legend(left, bottom - 4, handles, ncol=2, handlelength=1.6, columnspacing=1.6)
    sheet.text(left, bottom + 32, "Energy of stable runs, after "
               f"{number(study.map.window, 3)} s, in parts of what the scene turns over:")
    patches = [Patch(facecolor=light(colour), edgecolor=light("frame"), linewidth=POINT,
                     label=label) for colour, label in MAP_COLOURS if colour in occurring]
    sheet.legend(left, bottom + 44, patches, ncol=4, handlelength=1.6, columnspacing=1.6)
    return sheet


# ---- Energy over time

def has_energies(study):
    return any(len(series.time) > 1 for series in study.energy)


def distance(series, reference):
    """The energies, or their distance from those of the reference run."""
    if reference is None:
        return series.energy
    return [abs(a - b) for a, b in zip(series.energy, reference.energy)]


def energies_to_show(study, reference):
    """The range of stable runs, extended so that other runs are seen to leave it."""
    values, leaving = [], False
    for series in study.energy:
        if study.verdict(series) == "stable":
            values += distance(series, reference)
        else:
            leaving = leaving or len(series.time) > 1
    found = span(values, positive=reference is not None)
    if reference is not None and found:  # smaller differences of energies are rounding
        found = max(found[0], found[1] * 1e-9), found[1]
    if not leaving:
        return found
    if not found:
        return (1e-4, 10) if reference is not None else (0, 2)
    low, high = found
    return low, high * 10 if reference is not None else high + 0.4 * max(high - low, 0.05)


def draw_energy_lines(panel, study, reference):
    """Draws the reference first, below the others."""
    for series in sorted(study.energy, key=lambda it: it.integrator is not None):
        if series.integrator is None and reference is not None:
            continue
        style = dict(REFERENCE) if series.integrator is None else stroke(series.integrator)
        style["marker"] = None
        if series.integrator is not None:
            style["linewidth"] = 1.6 * POINT
        energies = distance(series, reference)
        panel.plot(series.time[:len(energies)], energies, **style)


def draw_energy(study):
    """The upper panel shows the energy gained, the lower one the distance from the reference run.
    """
    left, right, legend, height, gap = 82, 606, 622, 230, 50
    reference = study.reference()
    top = HEADING + 24
    bottom = top + height
    sheet = Sheet(bottom + 54 + (height + gap - 10 if reference else 0))
    times = limits((0, study.window), False, 0)
    panel = sheet.panel(left, top, right, bottom)
    set_axis(panel, "x", times, False)
    set_axis(panel, "y", limits(energies_to_show(study, None), False, 0.05), False)
    panel.set_title("energy gained / what is available", pad=7)
    draw_energy_lines(panel, study, None)
    handles = []
    for series in study.energy:
        if not series.time:
            continue
        unstable = ", unstable" if study.verdict(series) == "unstable" else ""
        handles.append(line("reference", REFERENCE, False) if series.integrator is None
                       else line(series.integrator + unstable, stroke(series.integrator), False))
    note = Line2D([], [], linestyle="", label=f"at dt = {number(study.energy_dt, 3)} s")
    sheet.legend(legend, top, [*handles, note])
    if reference:
        top, bottom = bottom + gap, bottom + gap + height
        panel = sheet.panel(left, top, right, bottom)
        set_axis(panel, "x", times, False)
        set_axis(panel, "y", limits(energies_to_show(study, reference), True, 0.05), True)
        panel.set_title("distance from the reference / what is available", pad=7)
        draw_energy_lines(panel, study, reference)
    panel.set_xlabel("time (s)", labelpad=8)
    return sheet


# ---- Energy drift

def has_drifts(study):
    return any(row.verdict == "stable" and row.drift != 0 for row in study.drift)


def draw_drift(study):
    """Drift of the energy over the step."""
    left, right, legend, height = 82, 606, 622, 330
    top = HEADING + 10
    bottom = top + height
    sheet = Sheet(bottom + 54)
    panel = sheet.panel(left, top, right, bottom)
    set_axis(panel, "x", limits(span([row.dt for row in study.drift], True), True, 0.06), True)
    set_axis(panel, "y", limits(span([abs(row.drift) for row in study.drift], True), True, 0.06),
             True)
    panel.set_xlabel("time step dt (s)", labelpad=8)
    panel.set_ylabel("drift / what is available (1/s)")
    panel.yaxis.set_label_coords(-54 / panel.pixels["x"], 0.5)
    handles = []
    for integrator in study.integrators:
        rows = study.of(study.drift, integrator)
        style = stroke(integrator)
        panel.plot([row.dt for row in rows], [abs(row.drift) for row in rows],
                   **{**style, "marker": None})
        for sign, fill in ((1, style["color"]), (-1, light("paper"))):
            some = [row for row in rows if row.drift * sign > 0]
            panel.plot([row.dt for row in some], [abs(row.drift) for row in some],
                       **{**style, "linestyle": "", "markerfacecolor": fill})
        if any(abs(row.drift) > 0 for row in rows):
            handles.append(line(integrator, style, True))
    notes = [Line2D([], [], linestyle="", marker="o", markersize=8 * POINT, label=label,
                    markeredgecolor=light("soft"), markerfacecolor=light(fill))
             for label, fill in (("filled marks: gains energy", "soft"),
                                 ("hollow marks: loses energy", "paper"))]
    sheet.legend(legend, top, handles + notes)
    return sheet


# ---- Work and precision, and convergence

ERROR = "error of positions / how far they moved"

# Errors of several times the extent of the motion only show that all accuracy is lost.
ERROR_MAX = 10


def has_accuracies(study):
    return any(row.error > 0 for row in study.work_precision)


def draw_errors(panel, study, cost, labels=True):
    """Errors over a member of the rows."""
    rows = [row for row in study.work_precision if row.error > 0]
    set_axis(panel, "x", limits(span([getattr(row, cost) for row in rows], True), True, 0.05),
             True)
    set_axis(panel, "y", limits(span([min(row.error, ERROR_MAX) for row in rows], True), True,
                                 0.05), True, labels)
    for integrator in study.integrators:
        own = study.of(study.work_precision, integrator)
        panel.plot([getattr(row, cost) for row in own], [row.error for row in own],
                   **stroke(integrator))
    if labels:
        panel.set_ylabel(ERROR)
        panel.yaxis.set_label_coords(-54 / panel.pixels["x"], 0.5)


def error_legend(study, orders):
    """Handles of the integrators with errors, and what the errors are relative to."""
    handles = []
    for integrator, row in zip(study.integrators, study.order):
        if not any(own.error > 0 for own in study.of(study.work_precision, integrator)):
            continue
        label = integrator
        if orders:
            label += f": {fixed(row.order, 2)}" if math.isfinite(row.order) else ": no signal"
        handles.append(line(label, stroke(integrator), True))
    against = "the closed form" if study.closed_form else "an rk4 run of small steps"
    notes = (f"after {number(study.accuracy_time, 3)} s, against", against)
    return handles + [Line2D([], [], linestyle="", label=note) for note in notes]


def draw_convergence(study):
    """Errors over the step."""
    left, right, legend, height = 82, 594, 610, 350
    top = HEADING + 10
    bottom = top + height
    sheet = Sheet(bottom + 54)
    panel = sheet.panel(left, top, right, bottom)
    draw_errors(panel, study, "dt")
    panel.set_xlabel("time step dt (s)", labelpad=8)
    sheet.text(legend, top + 8, "observed order", fontweight="bold")
    sheet.legend(legend, top + 22, error_legend(study, True))
    return sheet


def draw_work_precision(study):
    """Errors over evaluations, and over seconds."""
    top = HEADING + 10
    bottom = top + 350
    sheet = Sheet(bottom + 54)
    panel = sheet.panel(82, top, 334, bottom)
    draw_errors(panel, study, "evaluations")
    panel.set_xlabel("evaluations of forces", labelpad=8)
    panel = sheet.panel(356, top, 608, bottom)
    draw_errors(panel, study, "seconds", labels=False)
    panel.set_xlabel("wall time (s)", labelpad=8)
    sheet.legend(624, top, error_legend(study, False))
    return sheet


# ---- Frequency and amplitude

def has_frequencies(study):
    return any(math.isfinite(row.ratio) for row in study.frequency)


def draw_frequency(study):
    """The frequency of one oscillator with each integrator, and its amplitude after a period."""
    top = HEADING + 24
    bottom = top + 300
    sheet = Sheet(bottom + 54)
    parts = ((82, 334, "frequency error (%)", lambda row: 100 * abs(row.ratio - 1)),
             (384, 636, "amplitude left after a period",
              lambda row: row.factor ** (TWO_PI / row.y)))
    for left, right, title, measure in parts:
        panel = sheet.panel(left, top, right, bottom)
        rows = {name: study.of(study.frequency, name) for name in study.integrators}
        values = {name: [measure(row) for row in own] for name, own in rows.items()}
        set_axis(panel, "x", limits(span([row.y for row in study.frequency], True), True, 0.06),
                 True)
        set_axis(panel, "y", limits(span([value for own in values.values() for value in own],
                                          True), True, 0.06), True)
        panel.set_title(title, pad=7)
        panel.set_xlabel("ω dt", labelpad=8)
        for name, own in rows.items():
            panel.plot([row.y for row in own], values[name], **stroke(name))
    sheet.legend(652, top, [line(name, stroke(name), True) for name in study.integrators
                            if any(math.isfinite(row.ratio)
                                   for row in study.of(study.frequency, name))])
    return sheet


# ---- All figures

def _figure(name, title, shows, present, draw):
    return SimpleNamespace(name=name, title=title, shows=shows, present=present, draw=draw)


FIGURES = (
    _figure("limits", "Largest stable step",
            "How large a step may be before the energy grows, found by bisection on real runs. The "
            "upright strokes are what is predicted from the scene's fastest oscillation.",
            has_limits, draw_limits),
    _figure("map", "Stability map",
            "Each cell is a run. What is stable is shaded by how its energy changes; the line is "
            "the predicted limit.", has_map, draw_map),
    _figure("energy", "Energy over time",
            "Above, the energy gained since the start; below, how far it is from that of the "
            "reference run. Lines that leave the panel are of runs that became unstable.",
            has_energies, draw_energy),
    _figure("drift", "Energy drift",
            "How fast the energy strays from that of the reference run. Where a line ends to the "
            "right, larger steps are unstable.", has_drifts, draw_drift),
    _figure("work_precision", "Work and precision",
            "What it costs to come within an error: the lower left is best. Seconds are of one "
            "thread of this machine.", has_accuracies, draw_work_precision),
    _figure("convergence", "Convergence",
            "How the error falls with the step. The order is the slope at the smallest steps that "
            "show one, above rounding and what implicit solves leave.",
            has_accuracies, draw_convergence),
    _figure("frequency", "Frequency and amplitude",
            "What becomes of one undamped oscillator as fast as the scene's fastest: how far its "
            "frequency is off, and what is left of its amplitude after a period.",
            has_frequencies, draw_frequency),
)


def _save(sheet, kind, **options):
    out = io.BytesIO()
    metadata = {"Software": None} if kind == "png" else dict.fromkeys(
        ("Creator", "Date", "Format", "Type"))
    sheet.figure.savefig(out, format=kind, metadata=metadata, facecolor=light("paper"), **options)
    return out.getvalue()


def render(figure, study):
    """A figure as an SVG file, as PNG, and as a part of the page, without the heading, which the
    page has itself: .svg, .png (bytes), .part (text)."""
    sheet = figure.draw(study)
    part = _save(sheet, "svg", bbox_inches=Bbox(
        [[0, 0], [WIDTH / DOTS, (sheet.height - HEADING + 8) / DOTS]])).decode()
    subtitle = study.name + (f": {study.title}" if study.title else "")
    sheet.text(20, 26, figure.title, fontsize=17 * POINT, fontweight="bold")
    sheet.text(20, 45, shortened(clean(subtitle), 112), color=light("soft"))
    return SimpleNamespace(
        svg=svg.as_file(_save(sheet, "svg").decode(), figure.title, STYLE).encode(),
        png=_save(sheet, "png", dpi=DOTS * PNG_SCALE),
        part=svg.in_page(part, figure.title, figure.name))
