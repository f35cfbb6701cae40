#!/usr/bin/python3 -B
"""Compares bodies of materials in SI units (docs/materials.md) with closed forms.

    validation.py TAUT [--quick] [--only LIST] [--check] [--write]

TAUT is the program. Each case is run at several resolutions, in double precision and from scenes in
a temporary folder, and a table shows what was expected, what was found and the order at which the
error falls. --quick runs the coarse ones, in some 15 s of processor time.
--only runs some of the groups: cantilevers, bars, frequencies, stretch, sheets, shells, hertz,
drape. --check also compares what was found with docs/validation.md: a test of the project does so
with --quick.

--write renews docs/validation.md between its marks, and the figures docs/figures/validation-*.svg
(matplotlib; Debian: python3-matplotlib); it runs all cases, in some minutes.

Bodies come to rest in explicit steps with air drag near the critical damping of their lowest mode:
the elements of bending are linear and cheap, whereas Newton's method on thin sheets needs hundreds
of linear systems. A run whose nodes still move is an error.

Exit status: 0; 1 if an error exceeds its limit or the page shows other figures; 2 for wrong usage
or a run that failed.
"""
import argparse
import csv
import json
import math
import os
import subprocess
import sys
import tempfile

from benchmark_results import BadInput, expecting, script, write
from performance import COLOURS, draw_svg, read_document

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
DOCUMENT = os.path.join(ROOT, "docs", "validation.md")
FIGURES = os.path.join(ROOT, "docs", "figures")
BEGIN, END = "<!-- cases: begin -->", "<!-- cases: end -->"
G = 9.81


# ---- Closed forms


def elastica(r, steps=400):
    """A horizontal strip of length 1 under its own weight, clamped at one end, of bending length
    1 / r: points (x, -y) from the clamp to the end.

    theta'' = -r^3 t cos(theta), with t from the free end, theta'(0) = 0 and theta(1) = 0: shooting
    by Runge and Kutta's method, with theta, theta' and the integrals of sine and cosine."""
    def rate(t, y):
        return y[1], -r ** 3 * t * math.cos(y[0]), math.sin(y[0]), math.cos(y[0])

    def integrate(angle):
        states, h = [(angle, 0.0, 0.0, 0.0)], 1 / steps
        for i in range(steps):
            y = states[-1]
            k1 = rate(i * h, y)
            k2 = rate((i + 0.5) * h, [a + h / 2 * b for a, b in zip(y, k1)])
            k3 = rate((i + 0.5) * h, [a + h / 2 * b for a, b in zip(y, k2)])
            k4 = rate((i + 1) * h, [a + h * b for a, b in zip(y, k3)])
            states.append([a + h / 6 * (b + 2 * c + 2 * d + e)
                           for a, b, c, d, e in zip(y, k1, k2, k3, k4)])
        return states

    states = integrate(bisect(lambda angle: integrate(angle)[-1][0], 0.0, math.pi / 2))
    clamp = states[-1]
    return [(clamp[3] - y[3], clamp[2] - y[2]) for y in reversed(states)]


def drop_and_chord(points):
    """The drop of the end, and the angle of the chord to it in degrees."""
    x, drop = points[-1]
    return drop, math.degrees(math.atan2(drop, x))


def bisect(function, low, high, rounds=46):
    """A root of a function that is negative at `low` and positive at `high`."""
    for _ in range(rounds):
        middle = (low + high) / 2
        low, high = (low, middle) if function(middle) > 0 else (middle, high)
    return (low + high) / 2


def shear_coefficient(poisson):
    """Of a square section, G. R. Cowper, The shear coefficient in Timoshenko's beam theory, Journal
    of Applied Mechanics 33 (1966)."""
    return 10 * (1 + poisson) / (12 + 11 * poisson)


def timoshenko_sag(young, poisson, density, length, side):
    """The sag of a clamped square bar under its own weight: Euler's, and Timoshenko's, which adds
    the shear deformation."""
    bending = 12 * density * G * length ** 4 / (8 * young * side ** 2)
    shear = density * G * length ** 2 / (2 * shear_coefficient(poisson) * young) * 2 * (1 + poisson)
    return bending, bending + shear


def timoshenko_frequencies(young, poisson, density, length, side, count):
    """The lowest frequencies of bending of a clamped square bar, with shear and rotary inertia:
    roots of the determinant of the conditions at both ends (Timoshenko 1921; Huang 1961)."""
    area, inertia = side ** 2, side ** 4 / 12
    shear = shear_coefficient(poisson) * area * young / (2 * (1 + poisson))

    def determinant(omega):
        # w'' and psi' of exp(k x): k^4 + (p + q) k^2 + p q - s = 0
        p, q = density * area * omega ** 2 / shear, density * omega ** 2 / young
        s = density * area * omega ** 2 / (young * inertia)
        root = math.sqrt((p - q) ** 2 / 4 + s)
        a, b = math.sqrt(root - (p + q) / 2), math.sqrt(root + (p + q) / 2)
        # w = cosh(a x): psi = ca sinh(a x); w = cos(b x): psi = -cb sin(b x)
        ca, cb = (a * a + p) / a, (b * b - p) / b
        ch, sh = math.cosh(a * length), math.sinh(a * length)
        co, si = math.cos(b * length), math.sin(b * length)
        # w = A (ch - co) + B (sh - ca/cb si), which is clamped at 0: psi' and w' - psi at the end.
        m11, m12 = ca * a * ch + cb * b * co, ca * a * sh + ca * b * si
        m21 = (a - ca) * sh + (b - cb) * si
        m22 = (a - ca) * ch - ca / cb * (b - cb) * co
        return m11 * m22 - m12 * m21

    # A fiftieth of the lowest frequency of Euler's beam is less than the distance of two roots.
    found, step = [], 0.07 * math.sqrt(young * inertia / (density * area)) / length ** 2
    omega = step
    while len(found) < count:
        below, above = determinant(omega), determinant(omega + step)
        if below * above < 0:
            sign = 1 if above > 0 else -1
            found.append(bisect(lambda w, sign=sign: sign * determinant(w), omega,  # in Hz
                                omega + step) / (2 * math.pi))
        omega += step
    return found


def diagonal_stiffness(c11, c22, c12, c66):
    """Force per width over strain of a strip along the diagonal: 4/(S11 + 2 S12 + S22 + S66)."""
    determinant = c11 * c22 - c12 ** 2
    return 4 / ((c11 + c22 - 2 * c12) / determinant + 1 / c66)


# ---- Runs


class Program:
    """taut, and a folder for its scenes and results."""

    def __init__(self, path, folder):
        self.path, self.folder = os.path.abspath(path), folder
        self.written = 0

    def file(self, ending):
        self.written += 1
        return os.path.join(self.folder, f"{self.written}{ending}")

    def call(self, *words):
        try:
            done = subprocess.run([self.path, *words], capture_output=True, text=True, check=False,
                                  cwd=self.folder)
        except OSError as error:
            raise BadInput(f"{self.path}: {error}") from error
        if done.returncode:
            raise BadInput(f"{' '.join(words)} ended with {done.returncode}:\n{done.stderr}")
        return done.stdout

    def scene(self, scene):
        """Writes a scene; JSON is YAML."""
        path = self.file(".yaml")
        write(path, json.dumps({"precision": "double", **scene}))
        return path

    def run(self, scene, *words):
        """The report of a run, and the rows of its final state."""
        path, state = self.scene(scene), self.file(".csv")
        report = self.call("run", path, "--json", "--quiet", "--threads", "1", "--state", state,
                           *words)
        with expecting("taut run", path):
            return json.loads(report), self.table(state)

    @staticmethod
    def table(path):
        with open(path, encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))


def relax(program, body, omega, mass, scale, gravity=(0, -G, 0), initial=None, periods=14,
          nodes=None):
    """Positions of the nodes of a body at rest, and the report. `omega` is about its lowest angular
    frequency, `mass` that of the whole body, and `scale` the length that it moves; `periods` is the
    duration times omega."""
    # All nodes have the same drag, whatever their mass.
    if nodes is None:
        nodes = math.prod(body["nodes"]) if isinstance(body["nodes"], list) else body["nodes"]
    scene = {"simulation": {"integrator": "symplectic_euler", "dt": "auto",
                            "duration": periods / omega},
             "environment": {"gravity": list(gravity), "air_drag": 1.9 * omega * mass / nodes},
             "bodies": [body], "output": {"work": False}}
    if initial:
        scene["initial"] = initial
    report, rows = program.run(scene, "--no-output")
    with expecting("taut run --state", "the final state"):
        x = [tuple(float(row[k]) for k in ("x", "y", "z")) for row in rows]
        speed = max(math.hypot(*(float(row[k]) for k in ("vx", "vy", "vz"))) for row in rows)
    if not speed / omega < 1e-4 * scale:
        raise BadInput(f"{body['name']}: after {report['steps']} steps nodes still move by "
                       f"{speed:.1e} m/s, {speed / omega / scale:.1e} of the scale within 1/omega")
    return x, report


class Row:
    """What was expected and found at one resolution. The limit is that of the error, relative to
    `scale` (default: the expected value). Nothing may be expected: None, and no limit."""

    def __init__(self, case, resolution, expected, found, limit, unit="", scale=None, order=None,
                 digits=6):
        self.case, self.resolution, self.unit, self.digits = case, resolution, unit, digits
        self.expected, self.found, self.limit, self.order = expected, found, limit, order
        self.scale = abs(found if expected is None else expected) if scale is None else scale
        self.error, self.least_order = None, None
        if expected is not None:
            self.error = (found - expected) / self.scale

    def passed(self):
        ordered = None in (self.order, self.least_order) or self.order >= self.least_order
        near = math.isfinite(self.found) if self.error is None else abs(self.error) <= self.limit
        return ordered and near

    def cells(self):
        def number(value):
            return f"{value:.{self.digits}g}{' ' * bool(self.unit)}{self.unit}"

        if self.error is None:
            return [self.case, self.resolution, "", number(self.found), "", "", ""]
        digits = 1 if abs(self.error) >= 0.1 else 2 if abs(self.error) >= 1e-3 else 4
        error = f"{self.error * 100:+.{digits}f}%".replace("-", "−")
        return [self.case, self.resolution, number(self.expected), number(self.found), error,
                f"{self.limit * 100:.3g}%", "" if self.order is None else f"{self.order:.2f}"]


def order_of(errors, ratio=2.0):
    """The order from the last two errors."""
    if len(errors) < 2 or 0 in errors[-2:]:
        return None
    return math.log(abs(errors[-2] / errors[-1])) / math.log(ratio)


class Group:
    """A table of the page, with data for figures."""

    def __init__(self, name, title, text, figure=None):
        self.name, self.title, self.text, self.figure = name, title, text, figure
        self.rows, self.data = [], {}

    def add(self, *words, **options):
        self.rows.append(Row(*words, **options))
        return self.rows[-1]


# ---- Cantilevers of cloth and rope


def cantilever(program, ratio, links, kind="u", poisson=1 / 3):
    """A strip of cloth along u or v, or a rope, of length 1 and bending length 1 / ratio, with two
    rows pinned: points (x, -y) of its middle line from the clamp to the end."""
    # So thin that its weight stretches it by 2e-5, whatever the ratio.
    h, thin = 1 / links, 1 / 60 * ratio ** -1.5
    bending_length = 1 / ratio
    young = 1e7
    pins = [{"box": [[-9, -9, -9], [1e-9, 9, 9]]}]
    if kind == "rope":
        density = young * thin ** 2 / (16 * G * bending_length ** 3)
        body = {"name": "rope", "type": "rope", "from": [-h, 0, 0], "to": [1, 0, 0],
                "nodes": links + 2, "pins": pins,
                "elastic": {"young": young, "density": density, "diameter": thin}}
        mass, stride, first = density * math.pi / 4 * thin ** 2 * (1 + h), 1, 0
    else:
        along, across = [1 + h, 0, 0], [0, 0, 2 * h]
        # From warp to weft, so that normals point up in both cases.
        body = {"name": "strip", "type": "cloth", "origin": [-h, 0, 0], "pins": pins}
        if kind == "v":
            body.update(u=across, v=along, nodes=[3, links + 2])
            stride, first = 3, 1
        else:
            body.update(u=along, v=across, nodes=[links + 2, 3])
            stride, first = 1, links + 2
        if kind == "fabric":
            # Neither the stiffnesses of the sheet nor the weft's matter.
            areal, bending = 0.2, 0.2 * G * bending_length ** 3
            body["fabric"] = {"areal_density": areal, "warp": 1e5, "weft": 3e5, "shear": 5e4,
                              "bending": [bending, 3 * bending]}
        else:
            bending = young * thin ** 3 / (12 * (1 - poisson ** 2))
            areal = bending / (G * bending_length ** 3)
            body["elastic"] = {"young": young, "poisson": poisson, "density": areal / thin,
                               "thickness": thin}
        mass = areal * (1 + h) * 2 * h
    # The lowest frequency of bending, or of a pendulum.
    omega = max(3.5156 * math.sqrt(G * bending_length ** 3), 1.2 * math.sqrt(G))
    x, _ = relax(program, body, omega, mass, 0.1)
    middle = [x[first + stride * i] for i in range(1, links + 2)]
    return [(point[0], -point[1]) for point in middle]


def cantilevers(program, quick):
    group = Group("cantilevers", "Strips and ropes under their own weight",
                  "A strip of length L, clamped at one end by two pinned rows, hangs as the "
                  "elastica of its bending length c = (B/(ρ_s g))^⅓, whatever its other "
                  "stiffnesses; errors of drops are relative to L. Sheets of `elastic` have "
                  "thicknesses of L/60 to L/312; `fabric` has other stiffnesses along v and in "
                  "shear.", "validation-cantilevers.svg")
    some, most = ((20,), (10, 20, 40)) if quick else ((20, 40), (10, 20, 40, 80))
    kinds = [("cloth, along u", "u", 1 / 3, (1, 2, 3), most),
             ("cloth, along v", "v", 1 / 3, (2,), some),
             ("cloth, `fabric`", "fabric", None, (2,), some),
             ("cloth, ν = 0", "u", 0.0, (2,), some),
             ("cloth, ν = 0.5", "u", 0.5, (2,), some),
             ("rope", "rope", None, (2,) if quick else (1, 2, 3), some if quick else most)]
    closed = {ratio: drop_and_chord(elastica(ratio)) for ratio in (1, 2, 3)}
    group.data = {"shapes": {}, "curves": {}}
    for name, kind, poisson, ratios, resolutions in kinds:
        for ratio in ratios:
            drop, chord = closed[ratio]
            errors = []
            for links in resolutions:
                points = cantilever(program, ratio, links, kind, poisson)
                found = drop_and_chord(points)
                # Second order from 0.1% of L at 40 links.
                row = group.add(f"{name}, L/c = {ratio}: drop", f"{links} links", drop, found[0],
                                1e-3 * (40 / links) ** 2, unit="L", scale=1.0)
                errors.append(row.error)
                row.order, row.least_order = order_of(errors), 1.8
                group.add(f"{name}, L/c = {ratio}: chord", f"{links} links", chord, found[1],
                          1e-3 * (40 / links) ** 2, unit="°")
            if kind == "u" and poisson:
                group.data["shapes"][ratio] = points
            if len(resolutions) > 2:
                group.data["curves"][f"{name}, L/c = {ratio}"] = [resolutions, errors]
    # ASTM D1388: the overhang, in bending lengths, at which the chord is at 41.5 degrees. Near it
    # the slope of the closed form is as good as that of the strip.
    overhang = bisect(lambda ratio: drop_and_chord(elastica(ratio))[1] - 41.5, 1.9, 2.1, 24)
    slope = (drop_and_chord(elastica(overhang + 0.01))[1] - 41.5) / 0.01
    for links in some:
        chord = drop_and_chord(cantilever(program, overhang, links))[1]
        group.add("ASTM D1388: overhang with the chord at 41.5°", f"{links} links", overhang,
                  overhang + (41.5 - chord) / slope, 1e-3 * (40 / links) ** 2, unit="c")
    return group


# ---- Clamped bars


BAR = {"length": 0.8, "side": 0.08, "density": 1000.0}


def bar(cells, young, poisson):
    spacing = BAR["side"] / cells
    elastic = {"young": young, "density": BAR["density"]}
    if poisson != 0.25:
        elastic["poisson"] = poisson
    return {"name": "bar", "type": "lattice", "nodes": [10 * cells + 1, cells + 1, cells + 1],
            "spacing": spacing, "pins": ["left"], "elastic": elastic}


def section(x, cells, at):
    """The nodes of a bar whose index along it is `at`."""
    return x[at::10 * cells + 1]


def mean(values):
    values = list(values)
    return sum(values) / len(values)


def sag(program, cells, young, poisson):
    x, _ = relax(program, bar(cells, young, poisson), 2 * math.pi * 6.34 * math.sqrt(young / 1e8),
                 BAR["density"] * BAR["length"] * BAR["side"] ** 2, 0.01)
    return BAR["side"] / 2 - mean(point[1] for point in section(x, cells, 10 * cells))


def bars(program, quick):
    group = Group("bars", "Clamped bars under their own weight",
                  "A bar of 0.8 x 0.08 x 0.08 m, E = 10⁸ Pa, ρ = 1000 kg/m³, with one face pinned: "
                  "the mean sag of its end, expected by Timoshenko's beam with Cowper's shear "
                  "coefficient (Euler's, without shear: 9.4176 mm). A pinned face cannot contract "
                  "or warp as that of a beam does, so the solid itself sags less, the more the "
                  "larger ν: the extrapolated values estimate it. Orders follow from "
                  "three resolutions; the extrapolation of the last two supposes order 2.",
                  "validation-bars.svg")
    group.data = {"curves": {}}
    # Of the limit: the part that falls with the square of the cells, and that of the pinned face.
    for poisson, slope, pinned in ((0.25, 1.0, 0.012), (0.0, 1.55, 0.012), (0.3, 0.9, 0.016),
                                   (0.45, 0.9, 0.03)):
        resolutions = [2, 4] if quick else [2, 4, 8, 16] if poisson == 0.25 else [2, 4, 8]
        expected = timoshenko_sag(1e8, poisson, BAR["density"], BAR["length"], BAR["side"])[1]
        found = [sag(program, cells, 1e8, poisson) for cells in resolutions]
        for i, cells in enumerate(resolutions):
            row = group.add(f"ν = {poisson:g}", f"{cells} cells of thickness", 1e3 * expected,
                            1e3 * found[i], pinned + slope / cells ** 2, unit="mm", digits=5)
            if i >= 2:
                row.order = order_of([found[i - 1] - found[i - 2], found[i] - found[i - 1]])
                row.least_order = 1.2
        limit = (4 * found[-1] - found[-2]) / 3
        if not quick:
            group.add(f"ν = {poisson:g}", "extrapolated", 1e3 * expected, 1e3 * limit, pinned,
                      unit="mm", digits=5)
        group.data["curves"][f"ν = {poisson:g}"] = [resolutions,
                                                    [value / limit - 1 for value in found]]
    return group


# ---- Frequencies


def spectrum_peak(values, dt, low, high):
    """The frequency between two others at which the transform with Hann's window is largest."""
    middle = mean(values)
    n = len(values)
    windowed = [(value - middle) * (0.5 - 0.5 * math.cos(2 * math.pi * (i + 0.5) / n))
                for i, value in enumerate(values)]

    def power(frequency):
        # Goertzel's recurrence.
        factor, s1, s2 = 2 * math.cos(2 * math.pi * frequency * dt), 0.0, 0.0
        for value in windowed:
            s1, s2 = value + factor * s1 - s2, s1
        return s1 * s1 + s2 * s2 - factor * s1 * s2

    count = max(8, math.ceil((high - low) * n * dt * 2))
    grid = [low + (high - low) * i / count for i in range(count + 1)]
    best = max(range(1, count), key=lambda i: power(grid[i]))
    low, high = grid[best - 1], grid[best + 1]
    for _ in range(24):  # golden section
        a, b = high - 0.618034 * (high - low), low + 0.618034 * (high - low)
        low, high = (low, b) if power(a) > power(b) else (a, high)
    return (low + high) / 2


def frequencies(program, quick):
    group = Group("frequencies", "Bending frequencies",
                  "The same bar with E = 10⁶ Pa, released from rest in a gravity of 0.01 m/s²; "
                  "peaks in the spectrum of the velocity of its end over 16 s, expected by "
                  "Timoshenko's beam with rotary inertia. Orders are lower than 2 because its "
                  "frequencies, too, differ from those of a solid with a pinned face.")
    expected = timoshenko_frequencies(1e6, 0.25, BAR["density"], BAR["length"], BAR["side"], 3)
    resolutions = [2, 4] if quick else [2, 4, 8]
    errors = [[] for _ in expected]
    for cells in resolutions:
        body = bar(cells, 1e6, 0.25)
        scene = {"simulation": {"integrator": "symplectic_euler", "dt": 1.0, "steps": 1},
                 "environment": {"gravity": [0, -0.01, 0]}, "bodies": [body],
                 "output": {"work": False}}
        path = program.scene(scene)
        with expecting("taut info", path):
            info = json.loads(program.call("info", path, "--json", "--quiet"))
            dt = 0.9 * info["critical_step"]["bound"]
        # Some 40 samples per period of the third frequency.
        stride = max(1, int(1 / (40 * expected[2] * dt)))
        steps = stride * math.ceil(16 / (stride * dt))
        scene["simulation"].update(dt=dt, steps=steps)
        scene["output"].update(every_steps=steps, probes=[
            {"body": "bar", "node": 10 * cells, "every_steps": stride}])
        folder = program.file("")
        program.run(scene, "--output", folder)
        rows = program.table(os.path.join(folder, "probes.csv"))
        with expecting("taut run", folder):
            velocities = [float(row["vy"]) for row in rows]
        for i, frequency in enumerate(expected):
            found = spectrum_peak(velocities, stride * dt, 0.7 * frequency, 1.2 * frequency)
            row = group.add(f"frequency {i + 1}", f"{cells} cells of thickness", frequency, found,
                            0.01 + 0.7 / cells ** 2, unit="Hz")
            errors[i].append(row.error)
            row.order = order_of(errors[i])
    group.data = {"curves": {f"frequency {i + 1}": [resolutions, error]
                             for i, error in enumerate(errors)}}
    return group


# ---- Stretch


def weight_stretch(young, density, length, a, b):
    """How much longer the part from a to b of a hanging bar gets: the integral of the strain
    rho g (L - x) / E."""
    return density * G / young * (length * (b - a) - (b * b - a * a) / 2)


def stretch(program, quick):
    group = Group("stretch", "Hanging bars and ropes",
                  "The bar of above hangs from its pinned face: the elongation of its middle half, "
                  "the mean over the section, and the lateral contraction of the section in the "
                  "middle. Both are the material's at every resolution, but for the influence of "
                  "the pinned face. The elongation of a whole rope is ρ g L²/2E.")
    length, density = BAR["length"], BAR["density"]
    young = 1e8
    for poisson, resolutions in ((0.25, [2, 4] if quick else [2, 4, 8]), (0.0, [4]), (0.3, [4]),
                                 (0.45, [4] if quick else [4, 8])):
        for cells in resolutions:
            omega = math.pi / 2 * math.sqrt(young / density) / length
            x, _ = relax(program, bar(cells, young, poisson), omega,
                         density * BAR["side"] ** 2 * length, 1e-5, gravity=(G, 0, 0))
            # Index 5n is the middle, so quarters lie at 5n/2 (n is even).
            low, middle, high = (section(x, cells, at) for at in
                                 (5 * cells // 2, 5 * cells, 15 * cells // 2))
            found = mean(p[0] for p in high) - mean(p[0] for p in low) - length / 2
            expected = weight_stretch(young, density, length, length / 4, 3 * length / 4)
            resolution = f"{cells} cells of thickness"
            group.add(f"bar, ν = {poisson:g}: elongation", resolution, 1e6 * expected, 1e6 * found,
                      0.01, unit="μm", digits=5)
            strain = density * G * length / 2 / young
            sides = [p[1] for p in middle]
            contraction = 1 - (max(sides) - min(sides)) / BAR["side"]
            # Relative to the contraction, or at ν = 0 to the strain.
            group.add(f"bar, ν = {poisson:g}: contraction ÷ strain", resolution, poisson,
                      contraction / strain, 0.02, scale=poisson or 1.0, digits=4)
    for nodes in (2, 5, 33):
        elastic = {"young": young, "density": density, "diameter": 0.01}
        body = {"name": "rope", "type": "rope", "from": [0, 0, 0], "to": [0, -length, 0],
                "nodes": nodes, "pins": ["first"], "elastic": elastic}
        omega = math.sqrt(2 * young / density) / length
        x, _ = relax(program, body, omega,
                     density * math.pi / 4 * 1e-4 * length, 1e-5, periods=40)
        group.add("rope: elongation", f"{nodes} nodes", 1e6 * density * G * length ** 2 / 2 / young,
                  1e6 * (-x[-1][1] - length), 0.001, unit="μm", digits=6)
    return group


# ---- Sheets


def hanging_sheet(program, cells, material, modulus, areal, along):
    """A hanging strip of 1 x 0.25 m: E t of its middle half, and the contraction of the line in the
    middle over the strain there."""
    size = 4 * cells + 1
    body = {"name": "strip", "type": "cloth", **material}
    if along == "u":
        body.update(u=[0, -1, 0], v=[0.25, 0, 0], nodes=[size, cells + 1], pins=["left"])
    else:
        body.update(u=[0.25, 0, 0], v=[0, -1, 0], nodes=[cells + 1, size], pins=["top"])
    x, _ = relax(program, body, math.pi / 2 * math.sqrt(modulus / areal), areal * 0.25, 1e-4)

    def line(at):
        return x[at::size] if along == "u" else x[at * (cells + 1):(at + 1) * (cells + 1)]

    longer = mean(p[1] for p in line(cells)) - mean(p[1] for p in line(3 * cells)) - 0.5
    width = line(2 * cells)[-1][0] - line(2 * cells)[0][0]
    contraction = (1 - width / 0.25) / (areal * G / 2 / modulus)
    return weight_stretch(1.0, areal, 1.0, 0.25, 0.75) / longer, contraction


def strained_energy(program, cells, fabric, strain):
    """Twice the energy of a cloth of 1 x 1 m whose edges are held at a homogeneous strain of a
    millionth of (e11, e22, g12), with free nodes inside, over the square of that millionth."""
    small = 1e-6
    e11, e22, g12 = (small * part for part in strain)
    nodes = [(i, j) for j in range(cells + 1) for i in range(cells + 1)]
    edge = [i in (0, cells) or j in (0, cells) for i, j in nodes]
    start = program.file(".csv")
    lines = ["body,node,x,y,z,vx,vy,vz"]
    for number, (i, j) in enumerate(nodes):
        x, y = i / cells, j / cells
        if edge[number]:
            x, y = x + e11 * x + g12 / 2 * y, y + e22 * y + g12 / 2 * x
        lines.append(f"cloth,{number},{x!r},{y!r},0,0,0,0")
    write(start, "\n".join(lines) + "\n")
    body = {"name": "cloth", "type": "cloth", "u": [1, 0, 0], "v": [0, 1, 0],
            "nodes": [cells + 1, cells + 1], "fabric": fabric,
            "drives": [{"node": number, "velocity": [0, 0, 0]}
                       for number, held in enumerate(edge) if held]}
    omega = math.pi * math.sqrt(fabric["shear"] / fabric["areal_density"])
    _, report = relax(program, body, omega, fabric["areal_density"], small,
                      gravity=(0, 0, 0), initial=start, periods=30)
    with expecting("taut run", "its report"):
        return 2 * report["energy"]["elastic"] / small ** 2


def sheets(program, quick):
    group = Group("sheets", "Strips, shear frames and the diagonal of sheets",
                  "Strips of 1 x 0.25 m hang from an edge along their length; the force per width "
                  "over the strain of their middle half is E t, or C11 − C12²/C22 of a fabric. A "
                  "square whose edges are held at a homogeneous strain has the energy of the "
                  "stiffness against it, with free nodes inside: C66 in a shear frame, and 4/(S11 "
                  "+ 2 S12 + S22 + S66) at the strain of a strip along the diagonal under tension. "
                  "Denim has the rounded constants 205, 1014, 10 and 53 N/m here.")
    denim = {"areal_density": 0.324, "warp": 205.0, "weft": 1014.0, "coupling": 10.0, "shear": 53.0,
             "bending": 64e-6}
    resolutions = [4, 8] if quick else [4, 8, 16]
    # Stiff enough for strains of some 1e-4: the denim is 100 times as stiff.
    for poisson in (0.0, 0.3, 0.5):
        for cells in resolutions:
            material = {"elastic": {"young": 1e7, "poisson": poisson, "density": 1000.0,
                                    "thickness": 0.001}}
            found = hanging_sheet(program, cells, material, 1e4, 1.0, "u")
            group.add(f"sheet, ν = {poisson:g}: E t", f"{cells} cells of width", 1e4, found[0],
                      0.01, unit="N/m")
            group.add(f"sheet, ν = {poisson:g}: contraction ÷ strain", f"{cells} cells of width",
                      poisson, found[1], 0.02, scale=poisson or 1.0, digits=4)
    stiff = {**denim, **{key: 100 * denim[key] for key in ("warp", "weft", "coupling", "shear")}}
    c11, c22, c12, c66 = (denim[key] for key in ("warp", "weft", "coupling", "shear"))
    for along, name, modulus, poisson in (
            ("u", "warp", c11 - c12 ** 2 / c22, c12 / c22),
            ("v", "weft", c22 - c12 ** 2 / c11, c12 / c11)):
        found = hanging_sheet(program, 8, {"fabric": stiff}, 100 * modulus,
                              denim["areal_density"], along)
        group.add(f"denim, strip along the {name}", "8 cells of width", modulus, found[0] / 100,
                  0.01, unit="N/m")
        group.add(f"denim, strip along the {name}: contraction ÷ strain", "8 cells of width",
                  poisson, found[1], 0.02, digits=4)
    for cells in resolutions:
        resolution = f"{cells} x {cells} cells"
        e11, e22, both, e12 = (strained_energy(program, cells, denim, strain) for strain in (
            (1, 0, 0), (0, 1, 0), (1, 1, 0), (0, 0, 1)))
        for name, expected, found in (("held strain along the warp, C11", c11, e11),
                                      ("held strain along the weft, C22", c22, e22),
                                      ("held strain along both, C12", c12, (both - e11 - e22) / 2),
                                      ("shear frame, C66", c66, e12)):
            group.add(f"denim, {name}", resolution, expected, found, 0.01, unit="N/m")
        # A force n per width along the diagonal is N11 = N22 = N12 = n/2; the strain along it is 1.
        closed, determinant = diagonal_stiffness(c11, c22, c12, c66), c11 * c22 - c12 ** 2
        strain = [closed / 2 * part for part in
                  ((c22 - c12) / determinant, (c11 - c12) / determinant, 1 / c66)]
        group.add("denim, tension along the diagonal", resolution, closed,
                  strained_energy(program, cells, denim, strain), 0.01, unit="N/m")
    return group


# ---- Shells


def hanging_ring(program, around, ratio, poisson):
    """How much higher and wider a ring of radius 1 gets that hangs from a line on its inside, and
    the closed forms; `ratio` is that of rho_s g R^3 to B."""
    along, side, thickness, young = 2, 2 * math.sin(math.pi / around), 0.02, 1e6
    path = program.file(".obj")
    lines = [f"v {math.sin(2 * math.pi * i / around)!r} {math.cos(2 * math.pi * i / around)!r} "
             f"{j * side!r}" for j in range(along + 1) for i in range(around)]
    for j in range(along):
        for i in range(around):
            a, b = j * around + i + 1, j * around + (i + 1) % around + 1
            lines += [f"f {a} {b} {b + around}", f"f {a} {b + around} {a + around}"]
    write(path, "\n".join(lines) + "\n")
    bending = young * thickness ** 3 / (12 * (1 - poisson ** 2))
    areal = ratio * bending / G
    body = {"name": "ring", "type": "mesh", "file": path,
            "pins": [j * around for j in range(along + 1)],
            "elastic": {"young": young, "poisson": poisson, "density": areal / thickness,
                        "thickness": thickness}}
    # The frequency of a mass on a spring that sags as much.
    x, _ = relax(program, body, math.sqrt(G / (0.467 * ratio)), areal * 2 * math.pi * side * along,
                 0.5 * ratio, periods=20, nodes=around * (along + 1))
    middle = x[around:2 * around]
    high = middle[0][1] - middle[around // 2][1] - 2
    wide = middle[around // 4][0] - middle[3 * around // 4][0] - 2
    return (high, wide), ((math.pi ** 2 / 4 - 2) * ratio, (math.pi / 2 - 2) * ratio)


def blown_sphere(program, subdivisions, poisson, q):
    """By how much the radius of a shell grows under its gas, and the closed form: the pressure p =
    nRT/V balances the tension N = K (s^2 - 1) / 2 of the stretch s, K = E t / (1 - nu), if p r = 2 N;
    s^4 - s^2 = q, where q = 3 nRT / (4 pi R^2 K)."""
    radius, young, thickness, density = 0.2, 1e6, 0.002, 1000.0
    stretch = young * thickness / (1 - poisson)
    omega = math.sqrt(2 * young / (1 - poisson) / density) / radius
    body = {"name": "shell", "type": "sphere", "radius": radius, "subdivisions": subdivisions,
            "pressure": {"amount": q * 4 * math.pi / 3 * radius ** 2 * stretch, "atmosphere": 0,
                         "gamma": 1, "inflate": 20 / omega},
            "elastic": {"young": young, "poisson": poisson, "density": density,
                        "thickness": thickness}}
    expected = math.sqrt((1 + math.sqrt(1 + 4 * q)) / 2) - 1
    x, _ = relax(program, body, omega, density * thickness * 4 * math.pi * radius ** 2,
                 radius * expected, gravity=(0, 0, 0), periods=40,
                 nodes=10 * 4 ** subdivisions + 2)
    return mean(math.hypot(*point) for point in x) / radius - 1, expected


def shells(program, quick):
    group = Group("shells", "Rings and spheres",
                  "A ring of radius R and thickness R/50, a mesh of squares with one diagonal each, "
                  "hangs from a line of pinned nodes: under its own weight it gets higher by (π²/4 − "
                  "2) ρ_s g R⁴/B and narrower by (2 − π/2) ρ_s g R⁴/B. Its bending is that of "
                  "folds that are bent as built; ρ_s g R³ = B/100, so that it stays nearly round. A "
                  "shell of rubber under gas without an atmosphere grows to the radius s R with s⁴ "
                  "− s² = 3 nRT (1 − ν)/(4π R² E t), by Lamé's p r = 2 N.")
    for poisson, resolutions in ((0.0, [24, 48]), (0.4, [24, 48] if quick else [24, 48, 96])):
        errors = [[], []]
        for around in resolutions:
            found, expected = hanging_ring(program, around, 0.01, poisson)
            for i, name in enumerate(("height", "width")):
                row = group.add(f"ring, ν = {poisson:g}: {name}", f"{around} around",
                                100 * expected[i], 100 * found[i], 0.02 * (48 / around) ** 2,
                                unit="% of R", digits=4)
                errors[i].append(row.error)
                row.order = order_of(errors[i])
    for poisson in (0.0, 0.5):
        errors = []
        for subdivisions in [2, 3] if quick else [2, 3, 4]:
            found, expected = blown_sphere(program, subdivisions, poisson, 0.2)
            row = group.add(f"sphere under gas, ν = {poisson:g}: growth",
                            f"{subdivisions} subdivisions", 100 * expected, 100 * found,
                            0.01 * 4 ** (3 - subdivisions), unit="% of R", digits=4)
            errors.append(row.error)
            row.order, row.least_order = order_of(errors), 1.5
    return group


# ---- Contact


BLOCK = {"young": 1e5, "poisson": 0.25, "density": 1000.0}
BALL, DEPTH = 0.05, 2e-3


def hertz_force(radius, depth, young, poisson):
    """The force on a rigid sphere that is pressed into an elastic half-space."""
    return 4 / 3 * young / (1 - poisson ** 2) * math.sqrt(radius) * depth ** 1.5


def half_space_displacement(force, young, poisson, point):
    """Of the half-space y < 0 under a force at the origin along -y (Boussinesq 1885)."""
    x, y, z = point
    r, distance = math.hypot(x, z), math.hypot(x, y, z)
    factor = force * (1 + poisson) / (2 * math.pi * young)
    across = factor * (-y / distance ** 3 - (1 - 2 * poisson) / (distance * (distance - y)))
    return (across * x, -factor * (y * y / distance ** 3 + 2 * (1 - poisson) / distance),
            across * z)


def pressed_block(program, spacing, half, assumed):
    """The force between a sphere at rest and a block of 2 `half` x `half` x 2 `half` that moves
    against it by DEPTH. Its sides and bottom follow the half-space under the `assumed` force.

    By virtual work: what the energy of the block at rest gains when its sides and bottom, as they
    are, move on from 0.95 to 1.05 of the depth, over that distance."""
    n, layers = round(2 * half / spacing) + 1, round(half / spacing) + 1
    step = 0.05 * DEPTH
    omega = math.pi / half * math.sqrt(0.4 * BLOCK["young"] / BLOCK["density"])
    # Times at which the first motion ends, the second begins and ends, and the run ends.
    moved, second = 6 / omega, 20 / omega
    stopped, end = 20.6 / omega, 34.6 / omega
    drives = []
    for node in range(n * layers * n):
        i, j, k = node % n, node // n % layers, node // (n * layers)
        if i in (0, n - 1) or k in (0, n - 1) or j == 0:
            point = (i * spacing - half, j * spacing - half, k * spacing - half)
            x, y, z = half_space_displacement(assumed, BLOCK["young"], BLOCK["poisson"], point)
            drives.append({"node": node, "velocity": [
                [0, [x / moved, (y + DEPTH - step) / moved, z / moved]], [moved, [0, 0, 0]],
                [second, [0, 2 * step / (stopped - second), 0]], [stopped, [0, 0, 0]]]})
    # So thin and stiff that surfaces stay between 1 and 1.5 thicknesses apart, where the barrier
    # acts: the half is an eightieth of the depth.
    thickness = 0.025 * DEPTH
    drag = 1.5 * omega * BLOCK["density"] * 4 * half ** 3 / (n * layers * n)
    scene = {"simulation": {"integrator": "symplectic_euler", "dt": "auto", "duration": end},
             "environment": {"air_drag": drag},
             "contact": {"thickness": thickness, "self": False, "stiffness": 1000},
             "bodies": [{"name": "block", "type": "lattice", "origin": [-half, -half, -half],
                         "nodes": [n, layers, n], "spacing": spacing, "drives": drives,
                         "elastic": {key: BLOCK[key] for key in ("young", "density")}}],
             "colliders": [{"type": "sphere", "center": [0, BALL, 0], "radius": BALL - thickness,
                            "response": "contact"}],
             "output": {"every": 0.98 * second, "work": False}}
    folder = program.file("")
    program.run(scene, "--output", folder)
    rows = program.table(os.path.join(folder, "energy.csv"))
    with expecting("taut run", folder):
        energies = [float(row["elastic"]) + float(row["contact"]) for row in (rows[1], rows[-1])]
        kinetic = max(float(row["kinetic"]) for row in (rows[1], rows[-1]))
    if not kinetic < 1e-6 * energies[0]:
        raise BadInput(f"block: it still moves, with {kinetic:.1e} J")
    return (energies[1] - energies[0]) / (2 * step)


def force_of_half_space(program, spacing, half):
    """The force at which the sides and bottom of the block move as under that force itself: found
    with one assumed force and none, between which it is nearly linear."""
    held = pressed_block(program, spacing, half, 0)
    assumed = 0.75 * held
    return held * assumed / (assumed + held - pressed_block(program, spacing, half, assumed))


def hertz(program, quick):
    group = Group("hertz", "A sphere pressed into a block",
                  "A rigid sphere of 50 mm radius with `response: contact` is pressed 2 mm into a "
                  "half-space with E = 10⁵ Pa and ν = 1/4: the force is 4/3 E/(1 − ν²) √R d^1.5, "
                  "by Hertz. A block stands for the half-space; its sides and bottom are moved as "
                  "Boussinesq's solution moves them under the force that is found, which does not "
                  "suppose Hertz's. The area of contact has a radius of 10 mm, a fifth of the "
                  "sphere's, which is much for a theory of small strains. Contact "
                  "keeps a distance of 0.05 mm, which is part of the sphere, and begins at 0.075 "
                  "mm. Its stiffness is 1000 N/m; with `stiffness: auto`, which is softer, the "
                  "force was 0.3% too small (cells of 4 mm) and 8% (2.5 mm) at a distance of 0.1 "
                  "mm, and 9% and 16% at 0.2 mm. The extrapolation supposes order 2.")
    expected, found = hertz_force(BALL, DEPTH, BLOCK["young"], BLOCK["poisson"]), {}
    for spacing, half in ((4, 40),) if quick else ((4, 40), (2, 40), (4, 60)):
        force = found[spacing, half] = force_of_half_space(program, 1e-3 * spacing, 1e-3 * half)
        group.add(f"block of {2 * half} x {half} x {2 * half} mm", f"cells of {spacing} mm",
                  expected, force, 0.1, unit="N", digits=5)
    if not quick:
        group.add("block of 80 x 40 x 80 mm", "extrapolated", expected,
                  (4 * found[2, 40] - found[4, 40]) / 3, 0.1, unit="N", digits=5)
    return group


# ---- Drape


CLOTH, CLAMP = 0.15, 0.09  # radii of Cusick's test, m


def round_cloth(spacing):
    """A disc of squares with one diagonal each, whose nodes near the edge and near the clamp are
    moved onto these circles: nodes (x, z) and triangles."""
    n, places, points = int(CLOTH / spacing) + 2, {}, []
    for j in range(-n, n + 1):
        for i in range(-n, n + 1):
            x, z = i * spacing, j * spacing
            r = math.hypot(x, z)
            if r > CLOTH + spacing / 2:
                continue
            for circle in (CLAMP, CLOTH):
                if abs(r - circle) <= spacing / 2:
                    x, z = x * circle / r, z * circle / r
            places[i, j] = len(points)
            points.append((x, z))
    triangles = []
    for i, j in places:
        a, b, c, d = (places.get(at) for at in ((i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1)))
        for triangle in ((a, b, c), (a, c, d)):
            if None in triangle:
                continue
            (ax, az), (bx, bz), (cx, cz) = (points[node] for node in triangle)
            # Slivers at the edge are left out.
            if (bx - ax) * (cz - az) - (bz - az) * (cx - ax) > 0.15 * spacing ** 2:
                triangles.append((triangle[0], triangle[2], triangle[1]))
    used = sorted({node for triangle in triangles for node in triangle})
    number = {node: i for i, node in enumerate(used)}
    return ([points[node] for node in used],
            [tuple(number[node] for node in triangle) for triangle in triangles])


def shadow_area(points, triangles, pixel=0.0005):
    """The area below triangles of points (x, z), by the centres of pixels."""
    dark = set()
    for triangle in triangles:
        (ax, az), (bx, bz), (cx, cz) = ((points[node][0] / pixel, points[node][1] / pixel)
                                        for node in triangle)
        double = (bx - ax) * (cz - az) - (bz - az) * (cx - ax)
        if double == 0:
            continue
        for j in range(math.ceil(min(az, bz, cz) - 0.5), math.floor(max(az, bz, cz) - 0.5) + 1):
            for i in range(math.ceil(min(ax, bx, cx) - 0.5), math.floor(max(ax, bx, cx) - 0.5) + 1):
                x, z = i + 0.5 - ax, j + 0.5 - az
                u = (x * (cz - az) - z * (cx - ax)) / double
                v = ((bx - ax) * z - (bz - az) * x) / double
                if u >= 0 and v >= 0 and u + v <= 1:
                    dark.add((i, j))
    return len(dark) * pixel ** 2


def drape_coefficient(program, fabric, spacing, shears):
    """Of a round sheet with the areal density and bending stiffness of a fabric, and its shear
    stiffness if `shears`, else the geometric mean of warp and weft. Its middle is clamped."""
    path = program.scene({"simulation": {"integrator": "symplectic_euler", "dt": "auto",
                                         "steps": 1},
                          "bodies": [{"name": "cloth", "type": "cloth", "u": [1, 0, 0],
                                      "v": [0, 1, 0], "nodes": [11, 11], "fabric": fabric}]})
    with expecting("taut info", path):
        info = json.loads(program.call("info", path, "--json", "--quiet"))
        constants = info["bodies"][0]["fabric"]
        areal, measured = constants["areal_density"], constants["requested"]
        bending, poisson = measured["bending_u"], 0.3
        stretch_stiffness = 2 * (1 + poisson) * measured["C66"] if shears else (
            math.sqrt(measured["C11"] * measured["C22"]) * (1 - poisson ** 2))
    thickness = math.sqrt(12 * (1 - poisson ** 2) * bending / stretch_stiffness)
    points, triangles = round_cloth(spacing)
    mesh = program.file(".obj")
    write(mesh, "".join(f"v {x!r} 0 {z!r}\n" for x, z in points) +
          "".join(f"f {a + 1} {b + 1} {c + 1}\n" for a, b, c in triangles))
    omega = math.sqrt(G / (CLOTH - CLAMP))
    scene = {"simulation": {"integrator": "symplectic_euler", "dt": "auto", "duration": 2.5},
             "environment": {"gravity": [0, -G, 0],
                             "air_drag": omega * areal * math.pi * CLOTH ** 2 / len(points)},
             "contact": {"thickness": 0.002},
             "bodies": [{"name": "cloth", "type": "mesh", "file": mesh, "damping_ratio": 0.02,
                         "pins": [i for i, point in enumerate(points)
                                  if math.hypot(*point) < CLAMP + 1e-9],
                         "elastic": {"young": stretch_stiffness / thickness, "poisson": poisson,
                                     "density": areal / thickness, "thickness": thickness}}],
             "output": {"work": False}}
    _, rows = program.run(scene, "--no-output")
    with expecting("taut run --state", "the final state"):
        speed = max(math.hypot(*(float(row[k]) for k in ("vx", "vy", "vz"))) for row in rows)
        below = [(float(row["x"]), float(row["z"])) for row in rows]
    if not speed < 1e-3:
        raise BadInput(f"{fabric}: the cloth still moves by {speed:.1e} m/s")
    clamped = math.pi * CLAMP ** 2
    return (shadow_area(below, triangles) - clamped) / (math.pi * CLOTH ** 2 - clamped)


def drape(program, quick):
    group = Group("drape", "Drape of round cloths",
                  "Cusick's drape test: a round cloth of 150 mm radius hangs over a disc of 90 mm "
                  "radius, between which and another one it is clamped; the coefficient is the "
                  "part of the ring that its shadow covers. Bodies of type `cloth` are not round, "
                  "so the cloth is a mesh of an isotropic solid, with the areal density and the "
                  "bending stiffness of the [fabric](materials.md#fabrics), and with its shear "
                  "stiffness (then it stretches more easily than the fabric) or with the mean of "
                  "those of warp and weft (then it shears less easily). It touches itself, and no "
                  "constant is fitted. For denim 70 to 90% are usual, which is shown as 80 ± 10; "
                  "for woven cotton it is 60 to 76, for wool 40 to 70 and for silk 20 to 40, and "
                  "none of these is among the measured fabrics: trousers and interlock have 35 and "
                  "40% of polyester, and rib knit is not woven. Finer cells give more, of denim "
                  "7 and 3 points, so that the other figures are estimates. The mesh covers 98% of "
                  "the ring with cells of 10 mm, and 99.5% with 5 mm.")
    for fabric, spacings in () if quick else (
            ("denim", (10, 5)), ("trousers", (10,)), ("interlock", (10,)), ("rib-knit", (10,)),
            ("ponte-roma", (10,)), ("blanket", (10,))):
        for shears in (True, False):
            for spacing in spacings:
                found = drape_coefficient(program, fabric, 1e-3 * spacing, shears)
                group.add(f"{fabric}, stiffness of {'shear' if shears else 'warp and weft'}",
                          f"cells of {spacing} mm", 80 if fabric == "denim" else None,
                          100 * found, 0.125, unit="%", digits=4)
    return group


GROUPS = {"cantilevers": cantilevers, "bars": bars, "frequencies": frequencies, "stretch": stretch,
          "sheets": sheets, "shells": shells, "hertz": hertz, "drape": drape}
HEAD = ["case", "resolution", "expected", "found", "error", "limit", "order"]


# ---- Output


def print_tables(groups):
    for group in groups:
        print(f"\n{group.title}\n")
        rows = [HEAD] + [row.cells() for row in group.rows]
        widths = [max(len(cells[i]) for cells in rows) for i in range(len(HEAD))]
        for row, cells in zip([None] + group.rows, rows):
            mark = "  " if row is None or row.passed() else "! "
            print(mark + "  ".join(cell.ljust(width) if i < 2 else cell.rjust(width)
                                   for i, (cell, width) in enumerate(zip(cells, widths))).rstrip())


def tables_text(groups):
    """The part of the page between the marks."""
    lines = []
    for group in groups:
        lines += [f"## {group.title}", "", *group.text.replace(". ", ".\n").splitlines(), ""]
        if group.figure:
            lines += [f"![{group.title}](figures/{group.figure})", ""]
        lines += ["| " + " | ".join(HEAD) + " |", "|---|---|---:|---:|---:|---:|---:|"]
        lines += ["| " + " | ".join(row.cells()) + " |" for row in group.rows] + [""]
    return "\n".join(lines).rstrip()


def different_rows(groups, text):
    """Rows that a page does not show as they are; rounding of the page and of other compilers'
    mathematical functions is allowed for."""
    shown, title = {}, None
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("## "):
            title = line[3:]
        elif line.startswith("| ") and len(cells) == len(HEAD) and cells != HEAD:
            shown[title, cells[0], cells[1]] = float(cells[3].split()[0])
    for group in groups:
        for row in group.rows:
            on_page = shown.get((group.title, row.case, row.resolution))
            if on_page is None or not abs(on_page - row.found) <= 2e-4 * row.scale:
                yield row


def draw_cantilevers(plt, data):
    figure, (shapes, curves) = plt.subplots(1, 2, figsize=(11, 4.6))
    for (ratio, closed, points), colour in zip(data["shapes"], COLOURS):
        shapes.plot([x for x, _ in closed], [-y for _, y in closed], color=colour, linewidth=1.2,
                    label=f"L/c = {ratio}")
        shapes.plot([x for x, _ in points], [-y for _, y in points], ".", color=colour,
                    markersize=4)
    shapes.set(aspect="equal", xlabel="x/L", ylabel="y/L",
               title="Shape (lines: elastica; dots: every node)")
    shapes.legend(frameon=False)
    draw_convergence(curves, data["curves"], "links", "error of the drop ÷ L", 1e-2)
    return figure


def draw_bars(plt, data):
    figure, panels = plt.subplots(1, 2, figsize=(11, 4.6))
    draw_convergence(panels[0], data["sag"], "cells of thickness",
                     "sag ÷ extrapolated sag: difference to 1", 0.4)
    draw_convergence(panels[1], data["frequencies"], "cells of thickness",
                     "frequency ÷ Timoshenko's: difference to 1", 0.2)
    return figure


def draw_convergence(axes, curves, unit, quantity, start):
    for slot, (name, (resolutions, errors)) in enumerate(curves.items()):
        errors = [abs(error) for error in errors]
        if name.startswith("rope"):  # on the points of the cloth
            axes.plot(resolutions, errors, "o", color="#222222", fillstyle="none", markersize=8,
                      label=name)
        else:
            axes.plot(resolutions, errors, "osD^"[slot % 4] + "-", color=COLOURS[slot],
                      markersize=4, linewidth=1, label=name)
    ends = [min(r[0] for r, _ in curves.values()), max(r[-1] for r, _ in curves.values())]
    axes.plot(ends, [start, start * (ends[0] / ends[1]) ** 2], color="#222222", linewidth=0.8,
              linestyle=":", label="second order")
    ticks = sorted({n for r, _ in curves.values() for n in r})
    axes.set(xscale="log", yscale="log", xlabel=unit, ylabel=quantity)
    axes.set_xticks(ticks, [str(tick) for tick in ticks])
    axes.minorticks_off()
    axes.grid(True, color="#e4e4e4")
    axes.legend(frameon=False, fontsize=7)


def pictures(groups):
    """{file name: (draw, data)}"""
    found = {group.name: group.data for group in groups}
    shapes = [(ratio, elastica(ratio, 100), points)
              for ratio, points in found["cantilevers"]["shapes"].items()]
    return {"validation-cantilevers.svg": (draw_cantilevers, {
                "shapes": shapes, "curves": found["cantilevers"]["curves"]}),
            "validation-bars.svg": (draw_bars, {"sag": found["bars"]["curves"],
                                                "frequencies": found["frequencies"]["curves"]})}


@script
def main(words):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("taut")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args(words)
    names = options.only.split(",") if options.only else list(GROUPS)
    unknown = [name for name in names if name not in GROUPS]
    if unknown:
        raise BadInput(f"there is no group '{unknown[0]}': {', '.join(GROUPS)}")
    if options.write and (options.quick or options.only):
        raise BadInput("--write needs all cases: neither --quick nor --only")
    before, between, after = read_document(DOCUMENT, BEGIN, END)

    groups = []
    with tempfile.TemporaryDirectory(prefix="taut-validation-") as folder:
        program = Program(options.taut, folder)
        for name in names:
            print(f"validation: {name}", file=sys.stderr, flush=True)
            groups.append(GROUPS[name](program, options.quick))
    print_tables(groups)

    failed = [row for group in groups for row in group.rows if not row.passed()]
    for row in failed:
        print(f"validation: {row.case}, {row.resolution}: error {row.cells()[4]}, limit "
              f"{row.limit * 100:g}%; order {row.order}, at least {row.least_order}",
              file=sys.stderr)
    stale = list(different_rows(groups, between)) if options.check else []
    for row in stale:
        print(f"validation: docs/validation.md has another figure for {row.case}, "
              f"{row.resolution}; ./dev validate --write renews it", file=sys.stderr)
    if options.write:
        svgs = {name: draw_svg(draw, data) for name, (draw, data) in pictures(groups).items()}
        write(DOCUMENT, f"{before}{BEGIN}\n\n{tables_text(groups)}\n\n{END}{after}")
        for name, svg in svgs.items():
            write(os.path.join(FIGURES, name), svg)
    return int(bool(failed or stale))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
