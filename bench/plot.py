#!/usr/bin/python3 -B
"""Draws the pictures of docs/performance.md from the results in a folder, as SVG.

    plot.py FOLDER PICTURES            e.g. bench/results/amd-epyc_v4 docs/figures
    plot.py --check FOLDER PICTURES    only looks whether they are those of the results: 1 if not

sizes.svg: speed over the number of springs; threads.svg: speed over one thread's; roofline.svg: the
arithmetic that a scene does, beside what the machine's memory and its arithmetic allow.
"""
import math
import os
import sys
from xml.sax.saxutils import escape

from result_files import Kernels, expecting, read, read_taut_bench, script, write

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#8a6d00", "#666666")
SIZES = ("jelly52", "jelly26", "cloth", "rope", "ball", "shuffled")
FONT = 'font-family="sans-serif" font-size="12"'

# Operations of a spring: difference 3, squared length 5, root, stretch and stiffness 2, over the
# length 1, force 3, both ends 6; damping adds velocities 3, along the spring 5, its force 3. Of a
# node: velocity 9, position 6. A root and a division count as one, though they take longer.
SPRING_OPERATIONS, DAMPING_OPERATIONS, NODE_OPERATIONS = 21, 11, 15


class Scale:
    """Numbers to places; logarithmic, or linear."""

    def __init__(self, low, high, first, last, logarithmic=True):
        self.log = math.log10 if logarithmic else float
        self.low, self.high = low, high
        self.first, self.last = first, last
        self.logarithmic = logarithmic

    def __call__(self, value):
        part = (self.log(value) - self.log(self.low)) / (self.log(self.high) - self.log(self.low))
        return self.first + part * (self.last - self.first)

    def ticks(self):
        if not self.logarithmic:
            step = 10 ** math.floor(math.log10(self.high - self.low))
            step = next(s for s in (step / 5, step / 2, step) if (self.high - self.low) / s <= 8)
            return [self.low + i * step for i in range(int((self.high - self.low) / step) + 1)]
        powers = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
        few = math.log10(self.high / self.low) < 2.5
        marks = [m * 10.0 ** p for p in powers for m in ((1, 2, 5) if few else (1,))]
        return [m for m in marks if self.low * 0.999 <= m <= self.high * 1.001]


def number(value):
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= size * 0.9999:
            return f"{value / size:g}{letter}"
    return f"{value:g}"


class Picture:
    def __init__(self, width, height):
        self.width, self.height, self.parts = width, height, []

    def line(self, points, colour, width=1.0, dash=None):
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        dashed = f' stroke-dasharray="{dash}"' if dash else ""
        self.parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" '
                          f'stroke-width="{width}"{dashed}/>')

    def dot(self, x, y, colour, title):
        self.parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{colour}">'
                          f"<title>{escape(title)}</title></circle>")

    def bar(self, x, y, width, height, colour, title):
        self.parts.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" '
                          f'height="{height:.1f}" fill="{colour}"><title>{escape(title)}</title>'
                          "</rect>")

    def text(self, x, y, text, anchor="start", colour="#222222", turn=None):
        turned = f' transform="rotate({turn} {x:.1f} {y:.1f})"' if turn else ""
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}"'
                          f"{turned}>{escape(text)}</text>")

    def axes(self, across, up, title, names):
        """A panel: its frame, its grid and what is on it; `names` of across and up."""
        left, right, bottom, top = across.first, across.last, up.first, up.last
        for value in across.ticks() if names[0] else []:
            self.line([(across(value), bottom), (across(value), top)], "#e4e4e4")
            self.text(across(value), bottom + 16, number(value), "middle")
        for value in up.ticks():
            self.line([(left, up(value)), (right, up(value))], "#e4e4e4")
            self.text(left - 6, up(value) + 4, number(value), "end")
        self.line([(left, top), (left, bottom), (right, bottom)], "#222222")
        self.text((left + right) / 2, top - 10, title, "middle")
        self.text((left + right) / 2, bottom + 34, names[0] or "", "middle")
        self.text(left - 44, (top + bottom) / 2, names[1], "middle", turn=-90)

    def labels(self, items, across, gap=14):
        """Texts beside what they name, moved apart: [(y, text, colour, x of what they name)]."""
        items, places = sorted(items), []
        for item in items:
            places.append(max(item[0], places[-1] + gap if places else -math.inf))
        lowest = self.height - 12
        for i in reversed(range(len(places))):  # back up from the lower edge
            places[i] = min(places[i], lowest)
            lowest = places[i] - gap
        for (y, text, colour, x), place in zip(items, places):
            self.line([(x + 6, y), (across - 3, place)], "#d0d0d0")
            self.text(across, place + 4, text, colour=colour)

    def svg(self):
        return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{self.width}" '
                f'height="{self.height}" viewBox="0 0 {self.width} {self.height}" {FONT}>\n'
                f'<rect width="{self.width}" height="{self.height}" fill="#ffffff"/>\n'
                + "\n".join(self.parts) + "\n</svg>\n")


def threads_text(threads):
    return f"{threads} thread" + "s" * (threads > 1)


def nice_range(values):
    """Round numbers of 1, 2 and 5 around them."""
    marks = [m * 10.0 ** p for p in range(-3, 16) for m in (1, 2, 5)]
    return (max(m for m in marks if m <= min(values)),
            min(m for m in marks if m >= max(values)))


def sizes_picture(kernels, isa, threads):
    picture = Picture(900, 420)
    found = {count: {scene: [(row["springs"], row["springs/s"]) for _, row in
                             kernels.sizes("step", scene, isa, count)] for scene in SIZES}
             for count in threads}
    points = [p for scenes in found.values() for line in scenes.values() for p in line]
    low, high = nice_range([speed for _, speed in points])
    for place, count in enumerate(threads):
        left = 60 + place * 440
        across = Scale(min(p[0] for p in points) * 0.9, max(p[0] for p in points) * 1.1, left,
                       left + 300)
        up = Scale(low, high, 370, 40)
        picture.axes(across, up, f"{threads_text(count)}, {isa}",
                     ("springs", "spring updates a second"))
        ends = []
        for scene, colour in zip(SIZES, COLOURS):
            line = found[count][scene]
            if line:
                picture.line([(across(x), up(y)) for x, y in line], colour, 2)
                for x, y in line:
                    picture.dot(across(x), up(y), colour, f"{scene}, {x:,.0f} springs: {number(y)}")
                ends.append((up(line[-1][1]), scene, colour, across(line[-1][0])))
        picture.labels(ends, left + 310)
    return picture.svg()


def threads_picture(bench):
    scenes = [s for s in bench.scenes
              if all(bench.has((s, bench.isa, t)) for t in bench.threads)]
    room = 800 / len(scenes)
    width = 0.75 * room / len(bench.threads)
    picture = Picture(900, 460)
    up = Scale(0, max(bench.threads) * 1.1, 340, 40, logarithmic=False)
    across = Scale(0, len(scenes), 60, 60 + 800, logarithmic=False)
    picture.axes(across, up, f"speed over that of one thread, {bench.isa} (bars: best; line: "
                 "median)", (None, "times"))
    for threads in bench.threads:
        picture.line([(60, up(threads)), (860, up(threads))], "#222222", 1, "3 3")
    for place, scene in enumerate(scenes):
        left = across(place) + room * 0.125
        for number_of, threads in enumerate(bench.threads):
            best, median = bench.ratio((scene, bench.isa, threads), (scene, bench.isa, 1))
            x = left + number_of * width
            picture.bar(x, up(best), width * 0.92, up(0) - up(best),
                        COLOURS[number_of % len(COLOURS)],
                        f"{scene}, {threads_text(threads)}: {best:.2f} and {median:.2f}")
            picture.line([(x, up(median)), (x + width * 0.92, up(median))], "#222222", 2)
        picture.text(left + room * 0.45, 356, scene, "end", turn=-40)
    return picture.svg()


# Forces of faces are not counted, so scenes with wind or gas have no place among the operations.
UNCOUNTED = ("cloth-wind", "ball")


def operations(row):
    """(floating-point operations, model bytes) of a step."""
    damped = not row["scene"].endswith("-undamped")
    spring = SPRING_OPERATIONS + (DAMPING_OPERATIONS if damped else 0)
    steps = row["spring_updates_per_second"]["best"] / row["springs"]
    return (spring * row["springs"] + NODE_OPERATIONS * row["nodes"],
            row["model_bytes_per_second"]["best"] / steps)


def roofline_panel(picture, bench, threads, across, up):
    limit = bench.limit(threads)
    peak = limit["single_multiply_add_operations_per_second"][bench.isa]["best"]
    picture.axes(across, up, f"{threads_text(threads)}, {bench.isa}",
                 ("operations a byte (by the model)", "operations a second"))
    for kind in ("triad", "update"):
        if f"{kind}_bytes_per_second" not in limit:
            continue
        bandwidth = limit[f"{kind}_bytes_per_second"]["best"]
        knee = peak / bandwidth
        picture.line([(across(x), up(min(peak, bandwidth * x)))
                      for x in (max(across.low, up.low / bandwidth), knee, across.high)],
                     "#222222", 1.5, None if kind == "triad" else "4 3")
        picture.text(across.first + 8, up.last + 16 * (1 + (kind == "update")),
                     f"{kind} {bandwidth / 1e9:.0f} GB/s" + " (dashed)" * (kind == "update"))
    picture.text(across.last - 4, up(peak) - 6, f"peak {peak / 1e9:.0f} Gflop/s", "end")
    ends = []
    for place, scene in enumerate(s for s in bench.scenes if s not in UNCOUNTED
                                  and bench.has((s, bench.isa, threads))):
        row = bench.rows[scene, bench.isa, threads]
        flops, moved = operations(row)
        speed = flops * row["spring_updates_per_second"]["best"] / row["springs"]
        colour = COLOURS[place % len(COLOURS)]
        picture.dot(across(flops / moved), up(speed), colour,
                    f"{scene}: {flops / moved:.2f} operations a byte, {number(speed)} a second")
        ends.append((up(speed), scene, colour, across(flops / moved)))
    picture.labels(ends, across.last + 14, gap=12)


def roofline_picture(bench):
    picture = Picture(1080, 440)
    rows = [row for (scene, isa, _), row in bench.rows.items()
            if isa == bench.isa and scene not in UNCOUNTED]
    intensities = [flops / moved for flops, moved in map(operations, rows)]
    peaks = [bench.limit(t)["single_multiply_add_operations_per_second"][bench.isa]["best"]
             for t in bench.threads]
    speeds = [operations(row)[0] * row["spring_updates_per_second"]["best"] / row["springs"]
              for row in rows]
    low, high = nice_range(intensities)
    shown = sorted({bench.threads[0], bench.threads[-1]})
    for place, threads in enumerate(shown):
        left = 60 + place * 540
        across = Scale(low, max(high, 2 * max(intensities)), left, left + 310)
        up = Scale(nice_range(speeds)[0], 2 * max(peaks), 390, 40)
        roofline_panel(picture, bench, threads, across, up)
    return picture.svg()


def pictures(folder):
    """{file name: SVG}"""
    bench, kernels = read_taut_bench(folder), read(folder, "kernels")
    with expecting("taut bench --json", os.path.join(folder, "taut_bench.json")):
        drawn = {"threads.svg": threads_picture(bench), "roofline.svg": roofline_picture(bench)}
    with expecting("bench/sweep.py", os.path.join(folder, "kernels.json")):
        if kernels:
            threads = sorted({bench.threads[0], bench.threads[-1]})
            drawn["sizes.svg"] = sizes_picture(Kernels(kernels), bench.isa, threads)
    return drawn


@script
def main(words):
    check = words[:1] == ["--check"]
    if len(words) != 2 + check or words[-1].startswith("-"):
        print(__doc__, file=sys.stderr)
        return 2
    stale = []
    for name, svg in pictures(words[-2]).items():
        path = os.path.join(words[-1], name)
        if not check:
            os.makedirs(words[-1], exist_ok=True)
            write(path, svg)
            continue
        try:
            with open(path, encoding="utf-8") as file:
                if file.read() != svg:
                    stale.append(path)
        except OSError:
            stale.append(path)
    for path in stale:
        print(f"{path} does not show {words[-2]}; bench/plot.py draws it")
    return int(bool(stale))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
