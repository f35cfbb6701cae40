#!/usr/bin/python3 -B
"""tools/taut_report, its parts and as `taut stability` runs it: numbers, ticks and text; studies
without data; figures and page that are complete, reproducible and suitable for dark pages; and the
result on a full disk or for an invalid study.

usage: test_report.py TAUT
"""
import copy
import itertools
import json
import math
import os
import re
import resource
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as tree

ROOT = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
TOOL = os.path.join(ROOT, "tools", "taut_report")
sys.path.insert(0, TOOL)
try:
    import figures
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)
import labels
import page
import study
import svg

SVG = "{http://www.w3.org/2000/svg}"
HTML = "{http://www.w3.org/1999/xhtml}"
HREF = "{http://www.w3.org/1999/xlink}href"
NAMES = ["limits", "map", "energy", "drift", "work_precision", "convergence", "frequency"]
TITLE = "A <mass> & a \"spring\"  ]]> for $5$"


# ---- Text and axes

def numbers_read_as_people_write_them():
    for value, digits, wanted in (
            (0.0035831, 3, "0.00358"), (3.58e-5, 3, "3.58·10⁻⁵"), (1e-5, 3, "10⁻⁵"),
            (-1e-5, 3, "−10⁻⁵"), (123456, 3, "123456"), (1.5e6, 3, "1.5·10⁶"), (0, 3, "0"),
            (-0.25, 3, "−0.25"), (1, 4, "1"), (99.96, 3, "100"), (math.nan, 3, "none"),
            (math.inf, 3, "none"), (1e300, 2, "10³⁰⁰"), (2e-7, 1, "2·10⁻⁷"), (12.345, 6, "12.345"),
            (3e7, 6, "3·10⁷"), (0.1 + 0.2, 6, "0.3")):
        assert labels.number(value, digits) == wanted, (labels.number(value, digits), wanted)
    assert labels.fixed(1, 2) == "1.00" and labels.fixed(-0.5, 1) == "−0.5"
    assert labels.fixed(1e20, 2) == "10²⁰"


def text_is_fit_for_xml():
    assert page.text('a<b> & "c" ω\t|') == "a&lt;b&gt; &amp; &quot;c&quot; ω\t|"
    assert labels.clean("\x01|\ud800|\uffff|\U0001f600|\x7f|\x0b") == "�|�|�|\U0001f600|\x7f|�"
    assert labels.shortened("ω" * 20, 10) == "ω" * 9 + "…"
    assert labels.shortened("short", 10) == "short"


def ticks_are_round_numbers():
    for logarithmic, low, high, most, wanted in (
            (False, 0, 1, 6, "0 0.2 0.4 0.6 0.8 1"), (False, 0, 10, 6, "0 2 4 6 8 10"),
            (False, 0, 3e7, 4, "0 10⁷ 2·10⁷ 3·10⁷"), (True, 2, 3, 6, "2 2.2 2.4 2.6 2.8 3"),
            (True, 0.004, 0.3, 8, "0.005 0.01 0.02 0.05 0.1 0.2"),
            (True, 0.004, 0.3, 4, "0.01 0.1"),
            (True, 0.5, 2000, 8, "1 10 100 1000"), (True, 0.5, 2e5, 8, "10⁰ 10¹ 10² 10³ 10⁴ 10⁵"),
            (True, 1e-12, 10, 8, "10⁻¹² 10⁻¹⁰ 10⁻⁸ 10⁻⁶ 10⁻⁴ 10⁻² 10⁰")):
        ticks, _ = figures.chosen_ticks((low, high), logarithmic, most)
        found = " ".join(figures.tick_labels(ticks))
        assert found == wanted, (found, wanted)


def every_axis_has_ticks():
    """For any values there are ticks, hardly more than requested, in order, on the axis."""
    for i in range(0, 4000, 7):
        logarithmic = i % 2 == 0
        low, factor = 10 ** (-20 + 0.01 * i), 1 + 10 ** (-3 + i % 41 * 0.5)
        high = low * factor
        if not logarithmic and i % 3 == 0:
            low = -low
        ends = figures.limits((low, high), logarithmic, 0.05)
        assert ends[0] < low < high < ends[1]
        for most in range(3, 13, 3):
            ticks, minor = figures.chosen_ticks(ends, logarithmic, most)
            room = 1e-6 * (ends[1] - ends[0])
            for values in (ticks, minor):
                assert all(a < b for a, b in zip(values, values[1:]))
                assert all(ends[0] - room <= value <= ends[1] + room for value in values)
            assert 1 <= len(ticks) <= most + 2, (ends, logarithmic, most, ticks)
            assert not set(ticks) & set(minor)


def axes_show_what_cannot_be_shown_somehow():
    for ends in (None, (0, 0), (5, 5), (1e-300, 1e300), (-3, -3)):
        for logarithmic in (False, True):
            if logarithmic and ends and ends[0] < 0:
                continue  # span() omits these
            low, high = figures.limits(ends, logarithmic, 0.05)
            assert math.isfinite(low) and math.isfinite(high) and low < high
            assert figures.chosen_ticks((low, high), logarithmic, 5)[0]
    assert figures.span([math.nan, math.inf]) is None and figures.span([0, -1], True) is None
    assert figures.span([3, -2, math.nan]) == (-2, 3) and figures.span([3, -2], True) == (3, 3)


# ---- Studies

def row(integrator="rk4", **members):
    return {"integrator": integrator, **members}


def bare_study():
    """A study in which nothing was measured."""
    return {
        "taut_study": 1, "scene": "bare.yaml", "name": "<&>", "title": '"a" < b & c $x$',
        "nodes": 2,
        "springs": 1, "faces": 0, "dt": 0.05, "integrator": "rk4", "duration": 1, "omega": 10,
        "sharp": True, "damping": 0, "unit": 0.1, "window": 1, "shortened": False, "at_rest": False,
        "available": 1, "accuracy_time": 1, "closed_form": True, "reference_dt": None,
        "energy_dt": None, "settings": {"integrators": "all", "map": "none", "budget": 30,
                                        "threads": 1, "kernel": "auto", "isa": "auto"},
        "machine": None, "version": "0", "oscillation": None, "map": None, "complete": False,
        "seconds": 1, "interrupted": None, "resolved_scene": "bodies: []\n",
        "limits": [row(kind="unknown", predicted=1, unconditional=False, measured=None, stable=None,
                       unstable=None, growth=None, runs=0, steps=0)],
        "drift": [row(dt=None, steps=0, verdict="unknown", drift=None, deviation=None)],
        "order": [row(order=None, reason="runs", points=0, floor=None,
                      **{"from": None, "to": None})],
        "work_precision": [row(dt=0.1, steps=1, evaluations=1, seconds=1, error=None)],
        "frequency": [], "energy": [{**row(), "dt": None, "time": [], "energy": []}],
    }


def drawn(figure, data):
    """The elements of a figure, and all its text."""
    root = tree.fromstring(figures.render(figure, study.Study(data)).svg)
    return root, [element.text for element in root.iter(SVG + "text")]


def nothing_measured_is_no_figure():
    nothing = study.Study(bare_study())
    assert [figure.name for figure in figures.FIGURES] == NAMES
    for figure in figures.FIGURES:
        assert not figure.present(nothing), figure.name
    root = tree.fromstring(page.make(nothing, []))
    assert "ended early" in "".join(root.itertext())
    assert "whose limit has not been measured" in "".join(root.itertext())


def a_figure_of_little_is_whole():
    data = bare_study()
    data["limits"] = [{**data["limits"][0], "kind": "beyond", "predicted": None, "stable": 7},
                      {**data["limits"][0], "kind": "grows", "predicted": None,
                       "integrator": "explicit_euler"}]
    assert figures.FIGURES[0].present(study.Study(data))
    _, texts = drawn(figures.FIGURES[0], data)
    assert '<&>: "a" < b & c $x$' in texts, texts
    assert "none found up to 7 s" in texts and "none: energy always grows" in texts
    assert not any("nan" in text or "inf" in text for text in texts)
    # Undecided: between two steps, below or above one, or at all steps.
    for stable, unstable, printed in (
            (0.03, 0.05, "undecided, 0.03 to 0.05 s"), (None, 0.05, "undecided, below 0.05 s"),
            (0.03, None, "undecided, above 0.03 s"), (None, None, "undecided at every step")):
        limit = {**data["limits"][0], "kind": "undecided", "stable": stable, "unstable": unstable}
        shown = {**data, "limits": [limit]}
        _, texts = drawn(figures.FIGURES[0], shown)
        assert printed in texts, texts
        for dt in (0.01, 0.04, 0.06):
            root = tree.fromstring(page.make(study.Study({**shown, "dt": dt}), []))
            whole = "".join(root.itertext())
            assert any(part in whole for part in ("between", "below", "limit is", "nothing grows")), whole
            assert "nan" not in whole, whole
    # One value on each axis, one cell per row, a run that became unstable at once: something is
    # drawn.
    data["drift"] = [row(dt=0.1, steps=1, verdict="stable", drift=-1e-300, deviation=0)]
    data["work_precision"][0]["error"] = 1e-9
    data["frequency"] = [row(dt=0.1, y=1, ratio=1, factor=1, phase=0)]
    data["energy"] = [{**row(), "dt": 0.1, "time": [0, 1], "energy": [0, None]},
                      {"integrator": None, "dt": 0.1, "time": [0, 1], "energy": [0, 0]}]
    data["map"] = {"kind": "damping", "factor_of": "critical", "window": 1, "factors": [0.1, 1],
                   "steps": [0.01, 0.1], "integrators": [
                       row(predicted=[None, 1], verdicts=["stable"] * 3 + ["unstable"],
                           drifts=[-0.7, 0.7, 0.3, None])]}
    data["limits"] = data["limits"][:1]
    for figure in figures.FIGURES:
        assert figure.present(study.Study(data)), figure.name
        drawn(figure, data)
    _, texts = drawn(figures.FIGURES[1], data)
    assert "damping / critical damping" in texts and "more than half lost" in texts
    assert "more gained" in texts and "1 to 50% gained" in texts and "unstable" in texts
    assert "not measured" not in texts and "the scene as it is" not in texts


def integrators_look_different(taut):
    styles = {name: figures.stroke(name) for name in study.INTEGRATORS}
    for a, b in itertools.combinations(styles.values(), 2):
        assert a["color"] != b["color"] or (a["linestyle"] != b["linestyle"]
                                            and a["marker"] != b["marker"])
    figures.stroke("one_of_later")  # an unknown name gets a style too
    # The names are taut's, in the same order.
    printed = subprocess.run([taut, "stability", "none.yaml", "--integrators", "none"], check=False,
                          capture_output=True, text=True).stderr
    assert re.findall("^    (.*)$", printed, re.MULTILINE) == list(study.INTEGRATORS), printed


def colours_stand_for_one_thing():
    for side in (0, 1):
        found = [pair[side] for pair in figures.PAIRS]
        # On dark pages the colour for large gains may equal the orange of light pages.
        assert len(set(found)) >= len(found) - side, found
    assert "#000000" not in [pair[0] for pair in figures.PAIRS]


# ---- The report as taut runs it

def run(words, code=0, **options):
    """Runs a command that must end with that code."""
    done = subprocess.run(words, check=False, capture_output=True, text=True, timeout=300,
                          **options)
    assert done.returncode == code, (words, done.returncode, done.stdout, done.stderr)
    return done


def study_spring(taut, folder):
    """A study of a spring, in FOLDER/out, with a title and a name that must be escaped in XML."""
    scene = ("title: '" + TITLE.replace("'", "''") + "'\n"
             "simulation: {integrator: verlet, dt: 0.01, duration: 2}\n"
             "bodies: [{name: o, type: oscillator, anchor: [0, 0, 0], axis: [1, 0, 0],\n"
             "  mass: 1, stiffness: 100, amplitude: 0.001}]\n")
    with open(os.path.join(folder, "a&b<c>.yaml"), "w", encoding="utf-8") as file:
        file.write(scene)
    environment = {name: value for name, value in os.environ.items()
                   if name not in ("DISPLAY", "WAYLAND_DISPLAY")}
    # Whatever the user's own matplotlib settings are.
    with open(os.path.join(folder, "matplotlibrc"), "w", encoding="utf-8") as file:
        file.write("backend: TkAgg\ntext.usetex: True\nfigure.dpi: 10\n")
    return run([taut, "stability", "a&b<c>.yaml", "--integrators", "explicit_euler,verlet,rk4",
                "--budget", "40", "--output", "out", "--json"], cwd=folder, env=environment)


def locations(root):
    """The coordinates of all elements that no clip path limits."""
    clipped = {id(element) for element in root.iter() if "clip-path" in element.attrib}
    hidden = {id(inner) for element in root.iter()
              if element.tag in (SVG + "defs", SVG + "clipPath") or id(element) in clipped
              for inner in element.iter()}
    for element in root.iter():
        if id(element) in hidden:
            continue
        numbers = [float(value) for value in re.findall(r"-?[\d.]+(?:e-?\d+)?",
                                                        element.get("d", ""))]
        yield from zip(numbers[::2], numbers[1::2])
        if element.get("x") is not None:
            yield float(element.get("x")), float(element.get("y"))


def figures_and_page_are_whole(taut, folder):
    done = study_spring(taut, folder)
    assert done.stderr == "", done.stderr
    data = json.loads(done.stdout)
    assert [path for path in data["output"] if not path.endswith((".csv", ".json"))] == [
        f"out/{name}.{ending}" for name in NAMES for ending in ("svg", "png")] + [
            "out/report.html"]
    dark = {pair[0] for pair in figures.PAIRS}
    out = os.path.join(folder, "out")
    for name in NAMES:
        root = tree.parse(os.path.join(out, name + ".svg")).getroot()
        assert root.tag == SVG + "svg" and root.get("role") == "img" and root.get("aria-label")
        texts = [text.text for text in root.iter(SVG + "text")]
        assert f"a&b<c>: {TITLE}" in texts, texts
        assert not any(word in text for text in texts for word in ("nan", "inf", "None")), texts
        box = [float(value) for value in root.get("viewBox").split()]
        found = list(locations(root))
        assert len(found) > 10
        assert all(-1 < x < box[2] + 1 and -1 < y < box[3] + 1 for x, y in found), name
        for element in root.iter():
            assert not any("nan" in value or "inf" in value for key, value in element.attrib.items()
                           if key != "aria-label"), element.attrib
            for colour in re.findall("(?:fill|stroke): (#[0-9a-f]+)", element.get("style", "")):
                assert colour in dark, colour
            assert element.get(HREF, "#").startswith("#")
        with open(os.path.join(out, name + ".png"), "rb") as file:
            head = file.read(24)
        assert head[:8] == b"\x89PNG\r\n\x1a\n"
        # Twice the size of the SVG, whose points are 4/3 pixels.
        width = int.from_bytes(head[16:20], "big")
        assert abs(width - 2 * box[2] * 4 / 3) <= 1, (width, box)
    assert sorted(os.listdir(out)) == sorted(
        [os.path.basename(path) for path in data["output"]] + ["manifest.json"])
    the_page_is_whole(os.path.join(out, "report.html"))
    the_manifest_lists_them(out, data["output"])


def the_page_is_whole(path):
    root = tree.parse(path).getroot()
    assert len(list(root.iter(SVG + "svg"))) == 7
    assert not list(root.iter(HTML + "script"))
    assert not any("src" in element.attrib or "href" in element.attrib for element in root.iter())
    ids = [element.get("id") for element in root.iter() if element.get("id")]
    assert len(ids) == len(set(ids)) > 100
    for element in root.iter():
        for used in [element.get(HREF, "")] + re.findall(r"url\((.*?)\)",
                                                         element.get("clip-path", "")):
            assert not used or (used[0] == "#" and used[1:] in ids), used
    text = "".join(root.itertext())
    assert TITLE in next(root.iter(HTML + "h1")).text
    assert "A <mass> & a" in next(root.iter(HTML + "pre")).text
    for part in ("which is stable", "Largest stable step", "explicit_euler", "energy always grows",
                 "ω dt", "evaluations for 10⁻²", "drift, 1/s", "runs at the same time",
                 "prefers-color-scheme: dark"):
        assert part in text, part
    assert [heading.text for heading in root.iter(HTML + "h2")] == [
        figure.title for figure in figures.FIGURES] + ["Settings", "Scene"]
    assert len(list(root.iter(HTML + "table"))) == 5


def the_manifest_lists_them(folder, output):
    with open(os.path.join(folder, "manifest.json"), encoding="utf-8") as file:
        manifest = json.load(file)
    assert manifest["complete"]
    assert [entry["name"] for entry in manifest["files"]] == [os.path.basename(path)
                                                              for path in output]
    for entry in manifest["files"]:
        assert os.path.getsize(os.path.join(folder, entry["name"])) == entry["size"] > 0


def the_same_study_is_the_same_report(folder):
    path = os.path.join(folder, "out", "study.json")
    run([sys.executable, "-B", TOOL, path, "--output", os.path.join(folder, "again")],
        env={**os.environ, "LC_ALL": "C", "TZ": "Asia/Tokyo"})
    for name in sorted(os.listdir(os.path.join(folder, "again"))):
        contents = []
        for where in ("out", "again"):
            with open(os.path.join(folder, where, name), "rb") as file:
                contents.append(file.read())
        assert contents[0] == contents[1], name
        assert b"matplotlib.org" not in contents[0]
    assert len(os.listdir(os.path.join(folder, "again"))) == 15


def what_is_no_study_is_reported(folder):
    path = os.path.join(folder, "wrong.json")
    whole = bare_study()
    lacking = copy.deepcopy(whole)
    del lacking["limits"]
    cut = json.dumps(whole)[:200]
    for text, printed in ((None, "No such file or directory"), (cut, "it is no JSON"),
                       ("[]", "not a study.json that this version"),
                       (json.dumps({**whole, "taut_study": 2}), "not a study.json"),
                       (json.dumps(lacking), "it is incomplete: KeyError 'limits'"),
                       (json.dumps({**whole, "limits": 3}), "it is incomplete")):
        if text is not None:
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        done = run([sys.executable, "-B", TOOL, path, "--output", os.path.join(folder, "none")], 1)
        assert printed in done.stderr and done.stderr.count("\n") == 1, done.stderr
        assert not os.path.exists(os.path.join(folder, "none"))
    for words in ([], [path], [path, "limits.svg"], [path, "--output"]):
        run([sys.executable, "-B", TOOL, *words], 2)


def limited():
    """Called in a child: no file may exceed 30 kB, as on a full disk."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (30000, 30000))


def a_full_disk_is_reported(taut, folder):
    study_json = os.path.join(folder, "out", "study.json")
    half = os.path.join(folder, "half")
    done = run([sys.executable, "-B", TOOL, study_json, "--output", half], 1, preexec_fn=limited)
    assert re.fullmatch(r"taut_report: cannot write '\w+\.(svg|png)': File too large\n",
                        done.stderr), done.stderr
    assert all(os.path.getsize(os.path.join(half, name)) < 30000 and ".tmp" not in name
               for name in os.listdir(half))
    # As taut runs it: the report appears as a whole or not at all; the data is there in any case.
    python = os.path.join(folder, "python")
    with open(python, "w", encoding="utf-8") as file:
        file.write(f'#!/bin/sh\nulimit -f 50\nexec {sys.executable} "$@"\n')
    os.chmod(python, 0o755)
    done = run([taut, "stability", "a&b<c>.yaml", "--integrators", "rk4", "--budget", "5",
                "--output", "full"], 1, cwd=folder, env={**os.environ, "TAUT_PYTHON": python})
    assert "the report was not made: taut_report: cannot write '" in done.stderr, done.stderr
    assert "File too large" in done.stderr and "Largest stable step" in done.stdout
    names = os.listdir(os.path.join(folder, "full"))
    assert "study.json" in names and "limits.csv" in names and "manifest.json" in names
    assert all(name.endswith((".csv", ".json")) for name in names), names


def a_missing_package_is_named(taut, folder):
    python = os.path.join(folder, "python")
    with open(python, "w", encoding="utf-8") as file:  # without the package folders
        file.write(f'#!/bin/sh\nexec {sys.executable} -I -S "$@"\n')
    os.chmod(python, 0o755)
    done = run([taut, "stability", "a&b<c>.yaml", "--integrators", "rk4", "--map", "none",
                "--budget", "5", "--output", "lacking"], 1, cwd=folder,
               env={**os.environ, "TAUT_PYTHON": python})
    assert ("the package python3-matplotlib is missing (taut_report: No module named "
            "'matplotlib')") in done.stderr, done.stderr
    assert os.path.exists(os.path.join(folder, "lacking", "study.json"))
    # If the python3 of PATH lacks it, the system's is used.
    os.rename(python, os.path.join(folder, "python3"))
    if subprocess.run(["/usr/bin/python3", "-c", "import matplotlib"], check=False,
                      capture_output=True).returncode == 0:
        run([taut, "stability", "a&b<c>.yaml", "--integrators", "rk4", "--map", "none", "--budget",
             "5", "--output", "lacking"], cwd=folder,
            env={**os.environ, "PATH": folder + ":" + os.environ["PATH"]})
        assert os.path.exists(os.path.join(folder, "lacking", "report.html"))


def main(taut):
    figures.prepare()
    numbers_read_as_people_write_them()
    text_is_fit_for_xml()
    ticks_are_round_numbers()
    every_axis_has_ticks()
    axes_show_what_cannot_be_shown_somehow()
    nothing_measured_is_no_figure()
    a_figure_of_little_is_whole()
    integrators_look_different(taut)
    colours_stand_for_one_thing()
    with tempfile.TemporaryDirectory() as folder:
        figures_and_page_are_whole(taut, folder)
        the_same_study_is_the_same_report(folder)
        what_is_no_study_is_reported(folder)
        a_full_disk_is_reported(taut, folder)
        a_missing_package_is_named(taut, folder)
    return 0


if __name__ == "__main__":
    sys.exit(main(os.path.realpath(sys.argv[1])))
