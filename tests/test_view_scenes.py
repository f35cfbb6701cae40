#!/usr/bin/python3
"""Every scene of scenes/ opens in `taut view`, plays without an error message, and is saved as a
picture; errors are reported: an invalid scene, no display.

usage: test_view_scenes.py TAUT"""
import glob
import json
import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from view_fixture import Screen, skip  # noqa: E402

SCENES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../scenes")

# Large scenes are made smaller.
SMALLER = {"cloth-drop-large": ["bodies.cloth.nodes=[60,60]"],
           "cloth-large": ["bodies.cloth.nodes=[60,61]"],
           "jelly-large": ["bodies.jelly.nodes=[8,8,8]"]}


def view(taut, environment, scene, *options):
    return subprocess.run([taut, "view", scene, "--threads", "1", "--size", "700x480", *options],
                          env=environment, capture_output=True, text=True, timeout=120)


def last_report(taut, environment, path, frames, folder):
    """The window's last report after that many frames, and its picture."""
    name = os.path.splitext(os.path.basename(path))[0]
    report, picture = os.path.join(folder, "report"), os.path.join(folder, name + ".png")
    sets = [word for change in SMALLER.get(name, []) for word in ("--set", change)]
    if os.path.exists(report):
        os.remove(report)  # --report does not write to a file that exists
    done = view(taut, environment, path, "--frames", str(frames), "--report", report,
                "--screenshot", picture, *sets)
    if done.returncode != 0 and ("no window with OpenGL" in done.stderr or
                                 "built without" in done.stderr):
        skip(done.stderr.strip())
    assert done.returncode == 0, f"{name}: {done.stderr}"
    assert "error" not in done.stderr, f"{name}: {done.stderr}"
    with open(report) as file:
        return json.loads(file.read().strip().split("\n")[-1]), picture


def open_all(taut, environment, folder):
    for path in sorted(glob.glob(os.path.join(SCENES, "*.yaml"))):
        # Under sanitizers the first step may take longer than the first frames.
        for frames in (10, 60, 360):
            last, picture = last_report(taut, environment, path, frames, folder)
            if last["time"] > 0:
                break
        name = os.path.basename(path)
        assert not last["failed"] and last["message"] == "", f"{name}: {last['message']}"
        assert last["time"] > 0, f"{name} does not play"
        assert os.path.getsize(picture) > 8000, f"the picture of {name} is empty"


def refuse(taut, environment, folder):
    path = os.path.join(folder, "unsound.yaml")
    with open(path, "w", encoding="ascii") as file:
        file.write("simulation: {dt: 0.001, duration: 1}\nbodies: [{name: a, type: wheel}]\n")
    done = view(taut, environment, path)
    assert done.returncode == 2 and "unsound.yaml:2:" in done.stderr, done.stderr
    nowhere = {name: value for name, value in environment.items()
               if name not in ("DISPLAY", "WAYLAND_DISPLAY")}
    done = view(taut, nowhere, os.path.join(SCENES, "rope.yaml"))
    assert done.returncode == 1 and "no display" in done.stderr, done.stderr
    assert "taut render" in done.stderr, done.stderr


def main():
    screen = Screen()
    try:
        with tempfile.TemporaryDirectory() as folder:
            open_all(sys.argv[1], screen.environment, folder)
            refuse(sys.argv[1], screen.environment, folder)
    finally:
        screen.close()


if len(sys.argv) < 2:
    sys.exit(f"usage: {os.path.basename(__file__)} TAUT")
main()
