#!/usr/bin/python3 -B
"""bench/plot.py and bench/goals.py on the committed results and on made-up ones: the pictures are
XML, nothing lies outside of them, every scene is there, and goals are reached as they should."""
import contextlib
import copy
import io
import json
import os
import sys
import tempfile
import xml.etree.ElementTree

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
RESULTS = os.path.join(ROOT, "bench/results/amd-epyc_v4")
SVG = "{http://www.w3.org/2000/svg}"

sys.path.insert(0, os.path.join(ROOT, "bench"))
import goals  # pylint: disable=wrong-import-position
import plot  # pylint: disable=wrong-import-position


def parsed(path):
    """The picture, after a look that all of it is inside."""
    root = xml.etree.ElementTree.parse(path).getroot()
    width, height = float(root.get("width")), float(root.get("height"))
    places = [(float(c.get("cx")), float(c.get("cy"))) for c in root.iter(SVG + "circle")]
    places += [(float(t.get("x")), float(t.get("y"))) for t in root.iter(SVG + "text")]
    for line in root.iter(SVG + "polyline"):
        places += [tuple(map(float, pair.split(","))) for pair in line.get("points").split()]
    assert places and all(0 <= x <= width and 0 <= y <= height for x, y in places), path
    return root


def texts(root):
    return [text.text for text in root.iter(SVG + "text")]


def taut_bench():
    with open(os.path.join(RESULTS, "taut_bench.json"), encoding="utf-8") as file:
        return json.load(file)


def write(folder, name, result):
    with open(os.path.join(folder, name + ".json"), "w", encoding="utf-8") as file:
        json.dump(result, file)


def kernels():
    rows = [{"run_name": f"step/{scene}/v4/threads:{threads}/{springs}/manual_time",
             "real_time": 10 * springs / threads, "time_unit": "ns", "springs": springs - 3,
             "springs/s": threads * 1e8} for scene in plot.SIZES for threads in (1, 2)
            for springs in (10000, 100000, 1000000)]
    rows += [{"run_name": "volume/ball/v4/threads:1/1000000", "real_time": 1.0, "time_unit": "ms",
              "springs": 1966080, "model_bytes/s": 2e10},
             {"run_name": "bandwidth/triad/base/threads:1/0", "real_time": 1.0, "time_unit": "ms",
              "bytes/s": 2.2e10}]
    return {"benchmark": "kernels", "context": {}, "benchmarks": rows}


def the_pictures_show_every_scene(folder):
    bench = taut_bench()
    write(folder, "taut_bench", bench)
    write(folder, "kernels", kernels())
    assert plot.main([folder, folder]) == 0
    assert plot.main(["--check", folder, folder]) == 0
    sizes = parsed(os.path.join(folder, "sizes.svg"))
    assert len(list(sizes.iter(SVG + "circle"))) == 2 * 3 * len(plot.SIZES)
    assert all(texts(sizes).count(scene) == 2 for scene in plot.SIZES), texts(sizes)
    threads = texts(parsed(os.path.join(folder, "threads.svg")))
    roofline = texts(parsed(os.path.join(folder, "roofline.svg")))
    for scene in {row["scene"] for row in bench["results"]}:
        assert scene in threads
        assert scene in roofline or scene in plot.UNCOUNTED
    with open(os.path.join(folder, "sizes.svg"), "a", encoding="utf-8") as file:
        file.write(" ")
    with contextlib.redirect_stdout(io.StringIO()) as said:
        assert plot.main(["--check", folder, folder]) == 1
    assert "sizes.svg" in said.getvalue()


def goals_know_which_are_reached(folder):
    bench = taut_bench()
    fast = copy.deepcopy(bench)
    for row in fast["results"]:
        if row["scene"] == "cloth" and row["isa"] == "v4" and row["threads"] == 1:
            for kind in ("best", "median"):
                row["spring_updates_per_second"][kind] *= 1000
    reached = []
    for result in (bench, fast):
        write(folder, "taut_bench", result)
        found = {goal.what: goal for goal in goals.goals(folder)}
        reached.append(found["cloth, 1 thread ÷ plain loops"].reached())
        share = next(goal for what, goal in found.items() if what.startswith("volume of a ball"))
        assert share.reached() and share.measured() == "0.91", share.measured()
    assert reached[1]
    row = next(r for r in bench["results"] if r["scene"] == "cloth" and not r["isa"])
    best = {isa: next(r for r in bench["results"] if r["scene"] == "cloth" and r["isa"] == isa and
                      r["threads"] == 1)["spring_updates_per_second"]["best"] for isa in ("v4",)}
    assert reached[0] == (best["v4"] / row["spring_updates_per_second"]["best"] >= 9)
    with contextlib.redirect_stdout(io.StringIO()) as said:
        assert goals.main([folder]) == 0
    assert "cloth, 1 thread ÷ plain loops" in said.getvalue()


def main():
    with tempfile.TemporaryDirectory() as folder:
        the_pictures_show_every_scene(folder)
        goals_know_which_are_reached(folder)
        assert plot.main([RESULTS, folder]) == 0
        for name in sorted(plot.pictures(RESULTS)):
            parsed(os.path.join(folder, name))
    return 0


if __name__ == "__main__":
    sys.exit(main())
