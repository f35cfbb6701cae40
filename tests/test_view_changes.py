#!/usr/bin/python3
"""No change of a scene in `taut view` is lost: the effects of every slider, box and list of the
panels, and of spheres moved and scaled by the mouse, are still there after a reset and in the saved
scene; the saved scene equals the scene with these changes, letter by letter, and runs to the same
hash.

usage: test_view_changes.py TAUT [NAME...]"""
import os
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from view_fixture import Window, log, run_tests  # noqa: E402

SCENES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../scenes")
# Tall enough to show all panels without scrolling.
SCREEN, SIZE = (1280, 2000), (1100, 1900)
SCENE_KEYS = ("environment", "bodies", "simulation", "colliders", "", "spheres")

# Widgets that are not sliders, by the last part of their path.
COUNTS = {"nodes": ["7", "6", "5"], "subdivisions": ["2"], "substeps": ["7"], "iterations": ["3"],
          "newton": ["2"]}
BOOLEANS = ("relative", "blocks_drives", "line_search", "dt_auto")
NAMES = ("law", "damping_law", "precision", "volume", "response", "links", "model", "shells")
LEFT_OUT = ("integrator",)  # it changes which other widgets there are


def path_of(change):
    return change.split("=", 1)[0]


def is_set(changes, path):
    return any(path_of(change) == path for change in changes)


def first_widget(report, name):
    """A widget by the last part of its name, for titles."""
    return next(key for key in report["widgets"] if key.split(".")[-1] == name)


def settled(window, what="all is done"):
    return window.until(lambda now: now["pending"] == 0, what)


def spheres_at_rest(window):
    """The spheres, once no event of a drag moves them any more: a busy machine handles the last
    events after the button was released."""
    spheres, same = settled(window)["spheres"], 0
    while same < 4:
        now = settled(window, "the drag has ended")["spheres"]
        same = same + 1 if now == spheres else 0
        spheres = now
    return spheres


def press(screen, x, y):
    screen.do("mousemove", int(x), int(y))
    time.sleep(0.15)
    screen.do("mousedown", 1)
    time.sleep(0.15)
    screen.do("mouseup", 1)
    time.sleep(0.15)


def slide(screen, box, values):
    """Drags to two fifths of the slider, or of the first of several side by side."""
    x, y, width, height = box
    begin, end = x + 0.2 * width / values, x + 0.4 * width / values
    screen.do("mousemove", int(begin), int(y + height / 2))
    time.sleep(0.1)
    screen.do("mousedown", 1)
    time.sleep(0.1)
    screen.do("mousemove", int(end), int(y + height / 2))
    time.sleep(0.15)
    screen.do("mouseup", 1)
    time.sleep(0.1)


def enter(screen, box, texts):
    """Enters a count, or several side by side; the box includes the label."""
    x, y, _, height = box
    width = 200
    for i in range(len(texts)):
        press(screen, x + width * (i + 0.3) / len(texts), y + height / 2)
        screen.do("mousemove", int(x + width * (i + 0.3) / len(texts)), int(y + height / 2),
                  "click", "--repeat", 2, "--delay", 80, 1)
        time.sleep(0.15)
        screen.do("key", "ctrl+a")
        screen.do("type", "--delay", 60, texts[i])
        screen.do("key", "Return")
        time.sleep(0.25)


def choose(screen, box, item):
    """Chooses an item of a list that opens below its box."""
    x, y, width, height = box
    press(screen, x + 30, y + height / 2)
    time.sleep(0.2)
    press(screen, x + 30, y + height + 15 + 19 * item)


def change(window, name, report):
    """Changes the value of a widget. If its key changes together with others, waits until the scene
    has the value, since later changes would hide whether it arrived."""
    screen = window.screen
    box, before = report["widgets"][name], report["changes"]
    key = name.split(".")[-1]
    if key in NAMES:
        for item in (1, 0):
            choose(screen, box, item)
            window.now()
            if settled(window)["changes"] != before:
                return
    elif key in COUNTS:
        arity = {"jelly": 3, "flag": 2}.get(name.split(".")[1], 1) if key == "nodes" else 1
        enter(screen, box, COUNTS[key][:arity])
    elif key in BOOLEANS:
        press(screen, box[0] + 8, box[1] + box[3] / 2)
    else:
        slide(screen, box, 3)
    if any(name.startswith(path_of(change) + ".") for change in settled(window)["changes"]):
        window.until(lambda now: now["changes"] != before and now["pending"] == 0,
                     "the scene does not change by " + name, 20)


def panel_widgets(report):
    """The widgets of the scene, sliders first: boxes and lists may change which others there are.
    """
    names = [name for name in report["widgets"]
             if "." in name and name.split(".")[0] in SCENE_KEYS and name.split(".")[-1] not in
             LEFT_OUT and not name.split(".")[-1].isdigit() and name != "spheres.number"]
    boxes = [name for name in names if name.split(".")[-1] in NAMES + BOOLEANS]
    return [name for name in names if name not in boxes] + boxes


def open_branches(window, report):
    for name in reversed(list(report["widgets"])):
        parts = name.split(".")
        if parts[0] == "more" or (parts[0] == "colliders" and parts[-1].isdigit()):
            x, y, _, height = report["widgets"][name]
            press(window.screen, x + 6, y + height / 2)
    time.sleep(0.3)
    return window.now()


def change_all_of_a_tab(window, tab):
    window.click(first_widget(window.now(), tab))
    window.now()
    report = open_branches(window, window.now())
    names = panel_widgets(report)
    for name in names:
        now = window.now()
        assert now["message"] == "", now["message"]
        if name in now["widgets"]:
            change(window, name, now)
    return names


def save_scene(window, path):
    """Saves by keyboard and dialogue. Text typed there must have no other effect."""
    window.screen.do("key", "--clearmodifiers", "ctrl+s")
    window.until(lambda now: "dialogue.path" in now["widgets"], "the dialogue opens")
    window.now()  # then typed text goes there
    window.screen.do("type", "--delay", 60, path)
    time.sleep(0.3)
    window.screen.do("key", "Return")
    now = window.until(lambda now: "dialogue.path" not in now["widgets"], "the dialogue closes")
    assert os.path.exists(path), "the scene was not saved: " + now["notice"]


def run(taut, scene, changes, folder):
    """Hash and resolved scene after a run of some steps."""
    words = [word for change in changes for word in ("--set", change)]
    done = subprocess.run([taut, "run", scene, *words, "--set", "simulation.steps=5", "--hash",
                           "--quiet", "--force", "--output", folder],
                          capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    with open(os.path.join(folder, "scene.yaml"), encoding="utf-8") as file:
        return done.stdout, file.read()


def check_saved(window, taut, scene, folder):
    """Checks that changes are there after a reset and in the saved scene; returns them."""
    before = settled(window)
    changes = before["changes"]
    saved = os.path.join(folder, "saved.yaml")
    if os.path.exists(saved):
        os.remove(saved)
    save_scene(window, saved)
    window.click("playback.Reset")
    after = window.until(lambda now: now["pending"] == 0 and
                         (now["time"] < before["time"] or now["time"] == 0), "it resets")
    assert after["changes"] == changes, (changes, after["changes"])
    assert after["message"] == "", after["message"]
    meant = run(taut, scene, changes, os.path.join(folder, "meant"))
    found = run(taut, saved, [], os.path.join(folder, "found"))
    assert meant[1] == found[1], f"saved as\n{found[1]}\nbut meant\n{meant[1]}"
    assert meant[0] == found[0], (meant[0], found[0])
    return changes


ELASTIC = """simulation: {dt: 0.001, duration: 1}
environment: {gravity: [0, -9.81, 0]}
bodies:
  - {name: bar, type: lattice, nodes: [9, 4, 4], spacing: 0.05, pins: [left], damping_ratio: 0.05,
     elastic: {young: 2.0e5, density: 1000}}
"""


# Every value that a slider passes must be one that the network represents.
FABRIC = """simulation: {dt: 0.0001, duration: 1}
environment: {gravity: [0, -9.81, 0]}
bodies:
  - {name: sheet, type: cloth, u: [1, 0, 0], v: [0, -1, 0], nodes: [11, 11], pins: [top],
     fabric: {areal_density: 0.3, warp: 90, weft: 80, shear: 20, coupling: 1, thickness: 0.001}}
  - {name: film, type: cloth, origin: [2, 0, 0], u: [1, 0, 0], v: [0, -1, 0], nodes: [11, 11],
     elastic: {young: 2.0e5, density: 900, thickness: 0.001}, damping_ratio: 0.01}
  - {name: line, type: rope, from: [0, 1, 0], to: [1, 1, 0], nodes: 11, pins: [first],
     elastic: {young: 1.0e6, density: 900, diameter: 0.004}, rayleigh: {stiffness: 0.0001}}
  - {name: named, type: cloth, origin: [4, 0, 0], u: [1, 0, 0], v: [0, -1, 0], nodes: [11, 11],
     fabric: tablecloth}
"""
MADE = {"elastic": ELASTIC, "fabric": FABRIC}


def change_every_slider(screen, taut, folder):
    quick = os.environ.get("TAUT_TEST_QUICK")
    for scene in ("flag",) if quick else ("jelly-spheres", "flag", "ball-floor", *MADE):
        path = os.path.join(SCENES, scene + ".yaml")
        if scene in MADE:
            path = os.path.join(folder, scene + ".yaml")
            with open(path, "w", encoding="ascii") as file:
                file.write(MADE[scene])
        window = Window(screen, taut, path, "--paused", size=SIZE)
        names = []
        # Other corners of a cloth, moved one by one, would not be at right angles.
        for tab in ("Physics",) if scene == "fabric" else ("Physics", "Body", "Solver"):
            names += change_all_of_a_tab(window, tab)
        changes = check_saved(window, taut, path, folder)
        for name in names:
            parts = name.strip(".").replace("dt_auto", "dt").split(".")
            assert any(is_set(changes, ".".join(parts[:i + 1])) for i in range(len(parts))), \
                f"{name} is not among {changes}"
        log(f"{scene}: {len(set(names))} widgets, {len(changes)} changes")
        window.close()


def close_to(a, b):
    return all(abs(one - other) < 1e-5 for one, other in zip(a, b))


def move_and_scale_spheres(screen, taut, folder):
    path = os.path.join(SCENES, "jelly-spheres.yaml")
    window = Window(screen, taut, path, "--set", "environment.gravity=[0,0,0]")
    window.until(lambda now: now["time"] > 0.1, "it plays")
    before = window.now()["spheres"]
    window.drag(before[0]["centre"]["seen"], (-60, 40))
    window.drag(before[1]["centre"]["seen"], (40, 0), keys=["shift"], button=3)
    now = spheres_at_rest(window)
    moved, scaled = now[0]["centre"]["at"], now[1]["radius"]
    assert not close_to(moved, before[0]["centre"]["at"]) and scaled > 1.1 * before[1]["radius"]
    window.screen.do("mousemove", 700, 700)
    changes = check_saved(window, taut, path, folder)
    assert is_set(changes, "colliders.1.center") and is_set(changes, "colliders.2.radius"), changes
    # One more sphere, by the panel, and one less: the others keep their positions.
    window.click(first_widget(window.now(), "Body"))
    x, y, width, height = window.until(lambda now: "spheres.number" in now["widgets"],
                                       "the panel opens")["widgets"]["spheres.number"]
    for at, count in ((130, 4), (105, 3)):  # the buttons for more and less
        press(screen, x + at, y + height / 2)
        now = window.until(lambda now: len(now["spheres"]) == count and now["pending"] == 0,
                           f"there are {count} spheres")
        assert close_to(now["spheres"][0]["centre"]["at"], moved), now["spheres"]
        assert abs(now["spheres"][1]["radius"] - scaled) < 1e-6, now["spheres"]
    check_saved(window, taut, path, folder)
    now = settled(window)
    assert close_to(now["spheres"][0]["centre"]["at"], moved), now["spheres"]
    window.close()


def enter_while_busy(screen, taut, folder):
    """A window that was busy for a while handles its events in order: text typed into one field
    stays there, although the mouse has been pressed elsewhere since."""
    del folder
    window = Window(screen, taut, os.path.join(SCENES, "ball-floor.yaml"), "--paused", size=SIZE)
    window.click(first_widget(window.now(), "Body"))
    field = window.until(lambda now: "bodies.ball.subdivisions" in now["widgets"],
                         "the panel opens")["widgets"]["bodies.ball.subdivisions"]
    for value in ("2", "4"):
        os.kill(window.process.pid, signal.SIGSTOP)
        try:
            enter(screen, field, [value])
            screen.do("mousemove", int(field[0] + 1), int(field[1] + 200), "mousedown", 1)
        finally:
            os.kill(window.process.pid, signal.SIGCONT)
        window.until(lambda now, value=value: now["pending"] == 0 and
                     "bodies.ball.subdivisions=" + value in now["changes"], f"it has {value}", 20)
        screen.do("mouseup", 1)
        assert settled(window)["message"] == "", window.now()["message"]
    window.close()


run_tests([move_and_scale_spheres, enter_while_busy, change_every_slider], SCREEN)
