#!/usr/bin/python3
"""taut view in use: a sphere is dragged into a jelly, a bowl with what lies in it, the end of a rope
is moved by keys, a cloth is cut, a slider changes the wind. Each effect is checked twice: in the
window's report of the simulation, and in the picture on the screen.

usage: test_view.py TAUT [NAME...]"""
import os
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from view_fixture import Window, log, run_tests  # noqa: E402

SCENES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../scenes")

# Pinned at its upper edge; nothing is below it.
CLOTH = """
simulation: {integrator: symplectic_euler, dt: 0.001, duration: 1000}
environment: {gravity: [0, -9.81, 0], air_drag: 0.01, wind: {velocity: [0, 0, 0], coefficient: 2}}
bodies:
  - {name: sheet, type: cloth, origin: [0, 2, 0], u: [1.5, 0, 0], v: [0, -1, 0], nodes: [25, 17],
     mass: 0.5, springs: {structural: {stiffness: 500, damping: 0.1},
     shear: {stiffness: 200, damping: 0.1}}, pins: [top]}
"""


def lengths(report):
    return [high - low for low, high in zip(report["low"], report["high"])]


def drag_a_sphere_into_the_jelly(screen, taut, folder):
    window = Window(screen, taut, os.path.join(SCENES, "jelly-spheres.yaml"),
                    "--set", "environment.gravity=[0,0,0]")
    window.until(lambda now: now["time"] > 0.2, "it plays")
    before = window.now()
    seen = screen.picture()
    sphere = before["spheres"][0]
    start, goal = sphere["centre"]["seen"], before["middle"]["seen"]
    window.drag(start, [0.8 * (to - at) for at, to in zip(start, goal)])
    after = window.until(
        lambda now: max(abs(a - b) for a, b in zip(lengths(now), lengths(before))) > 0.02,
        "the sphere dents the jelly")
    moved = after["spheres"][0]["centre"]["at"]
    assert moved[1] > sphere["centre"]["at"][1] + 0.2, moved
    assert abs(moved[2] - sphere["centre"]["at"][2]) < 1e-6, "the left button moves in x and y only"
    share = screen.picture().changed(seen, before["picture"])
    assert share > 0.02, f"of the picture only {share} changed"
    window.close()


def drag_the_bowl_with_what_is_in_it(screen, taut, folder):
    window = Window(screen, taut, os.path.join(SCENES, "bowl.yaml"), "--set",
                    "bodies.lower.nodes=[4,4,4]", "--set", "bodies.upper.nodes=[4,4,4]",
                    "--set", "colliders.0.motion={velocity: [0, 0, 0]}")
    before = window.until(lambda now: now["time"] > 0.6, "the jellies lie in the bowl")
    seen = screen.picture()
    start = before["meshes"][0]["point"]
    low, high = before["low"], before["high"]
    window.drag(start["seen"], [60, 0])
    after = window.until(lambda now: now["meshes"][0]["point"]["at"][0] > start["at"][0] + 0.02,
                         "the bowl follows the pointer")
    window.until(lambda now: now["low"][0] > low[0] + 0.01 and now["high"][0] > high[0] + 0.01,
                 "the bowl takes the jellies along")
    moved = after["meshes"][0]["point"]["at"]
    assert abs(moved[2] - start["at"][2]) < 1e-6, "the left button moves in x and y only"
    share = screen.picture().changed(seen, before["picture"])
    assert share > 0.01, f"of the picture only {share} changed"
    window.close()


def lead_the_rope_by_keys(screen, taut, folder):
    window = Window(screen, taut, os.path.join(SCENES, "rope.yaml"))
    window.until(lambda now: now["time"] > 0.1, "it plays")
    before = window.now()["driven"]["at"]
    seen = screen.picture()
    box = window.now()["picture"]
    middle = (int(box[0] + box[2] / 2), int(box[1] + box[3] / 2))
    for key, axis, sign in (("Left", 0, -1), ("Home", 1, 1), ("Up", 2, -1), ("Right", 0, 1),
                            ("End", 1, -1), ("Down", 2, 1)):
        at = window.now()["driven"]["at"]
        screen.do("mousemove", *middle, "keydown", key)
        to = window.until(lambda now: sign * (now["driven"]["at"][axis] - at[axis]) > 0.2,
                          f"{key} moves the rope's end")["driven"]["at"]
        screen.do("keyup", key)
        others = [i for i in range(3) if i != axis]
        assert all(abs(to[i] - at[i]) < 1e-6 for i in others), (key, at, to)
        if key == "Left":
            share = screen.picture().changed(seen, box)
            assert share > 0.0005, f"of the picture only {share} changed"
    time.sleep(0.5)
    resting = window.until(lambda now: now["time"] > 0, "a report")["driven"]["at"]
    time.sleep(0.5)
    assert window.now()["driven"]["at"] == resting, "it moves after the key went up"
    assert resting != before
    window.close()


def cut_the_cloth(screen, taut, folder):
    path = os.path.join(folder, "sheet.yaml")
    with open(path, "w", encoding="ascii") as file:
        file.write(CLOTH)
    window = Window(screen, taut, path)
    window.until(lambda now: now["time"] > 0.2, "it plays")
    window.click("playback.play")
    window.until(lambda now: not now["playing"], "it pauses")
    before = window.now()
    assert before["low"][1] > 0.8, before["low"]
    seen = screen.picture()
    left, right = before["first"]["seen"], before["last"]["seen"]
    # Across, in the middle between the upper left and the lower right corner.
    y = (left[1] + right[1]) / 2
    window.drag((left[0] - 40, y), (right[0] - left[0] + 80, 0), keys=["ctrl"])
    window.until(lambda now: now["springs"] < before["springs"], "springs are cut")
    window.click("playback.play")
    after = window.until(lambda now: now["low"][1] < -1, "the lower part falls")
    assert after["springs"] < before["springs"] and after["faces"] < before["faces"], after
    assert after["high"][1] > 1.99, "the upper part stays"
    share = screen.picture().changed(seen, before["picture"])
    assert share > 0.02, f"of the picture only {share} changed"
    window.close()


def change_the_wind_by_a_slider(screen, taut, folder):
    path = os.path.join(folder, "sheet.yaml")
    with open(path, "w", encoding="ascii") as file:
        file.write(CLOTH)
    window = Window(screen, taut, path)
    before = window.until(lambda now: now["time"] > 0.2, "it plays")
    seen = screen.picture()
    x, y, width, height = before["widgets"]["environment.wind.velocity"]
    # Three sliders side by side; the third is z.
    window.drag((x + width * 5 / 6, y + height / 2), (width / 12, 0))
    after = window.until(lambda now: now["wind"][2] > 1 and now["pending"] == 0,
                         "the slider changes the wind")
    assert after["wind"][0] == 0 and after["wind"][1] == 0, after["wind"]
    assert after["time"] > before["time"], "it continues where it was"
    blown = window.until(lambda now: now["high"][2] > before["high"][2] + 0.1, "the cloth is blown")
    share = screen.picture().changed(seen, before["picture"])
    assert share > 0.01, f"of the picture only {share} changed: {blown}"
    window.close()


def keys_and_buttons(screen, taut, folder):
    window = Window(screen, taut, os.path.join(SCENES, "rope.yaml"), "--paused")
    now = window.now()
    assert not now["playing"] and now["time"] == 0, now
    box = now["picture"]
    screen.do("mousemove", int(box[0] + 200), int(box[1] + box[3] - 60))
    screen.do("key", "s")
    window.until(lambda now: now["step"] == 1 and not now["playing"], "S does one step")
    screen.do("key", "space")
    window.until(lambda now: now["playing"] and now["step"] > 10, "Space plays")
    window.click("playback.play")
    paused = window.until(lambda now: not now["playing"], "the button pauses")
    window.click("playback.Reset")
    window.until(lambda now: now["step"] == 0, "the button resets")
    assert paused["step"] > 10
    # A drag on the background turns the camera.
    at = window.now()["driven"]["seen"]
    window.drag((box[0] + 40, box[1] + 60), (150, 0))
    window.until(lambda now: abs(now["driven"]["seen"][0] - at[0]) > 5 or
                 abs(now["driven"]["seen"][1] - at[1]) > 5, "the camera turns")
    window.close()


def pull_the_cloth(screen, taut, folder):
    path = os.path.join(folder, "sheet.yaml")
    with open(path, "w", encoding="ascii") as file:
        file.write(CLOTH)
    window = Window(screen, taut, path)
    window.until(lambda now: now["time"] > 0.2, "it plays")
    before = window.now()
    at = before["last"]["at"]
    # The lower right corner, upwards by a tenth of the picture; it follows for a good part of this.
    dy = -0.1 * before["picture"][3]
    held = window.drag(before["last"]["seen"], (0, dy),
                       held=lambda now: now["last"]["seen"][1] < before["last"]["seen"][1] + dy / 2)
    assert held["last"]["at"][1] > at[1] + 0.05, (at, held["last"])
    window.until(lambda now: now["last"]["at"][1] < at[1] + 0.03, "it falls back when let go")
    # A pinned corner follows the mouse, and stays where it was released.
    at, seen = before["first"]["at"], before["first"]["seen"]
    window.drag(seen, (30, 30), held=lambda now: now["first"]["at"][0] > at[0] + 0.02)
    # On a busy machine reports after the drag may still be from before its end.
    led, waited = None, 0
    while window.now()["first"]["at"] != led and waited < 20:
        led = window.now()["first"]["at"]
        time.sleep(0.5)
        waited += 1
    assert window.now()["first"]["at"] == led and led[1] < at[1] - 0.02, (at, led)
    window.close()


def show_the_energy_budget(screen, taut, folder):
    window = Window(screen, taut, os.path.join(SCENES, "flag.yaml"))
    before = window.until(lambda now: now["time"] > 0.1, "it plays")
    assert before["budget_since"] is None, "nobody asked for the energy budget"
    window.click("plots.budget")
    kept = window.until(lambda now: now["budget_since"] is not None, "the budget is kept")
    assert kept["budget_since"] >= before["time"], "it begins when it is asked for"
    screen.do("mousemove", 600, 500, "key", "p")
    window.until(lambda now: now["budget_since"] is None, "nothing shows it any more")
    window.close()


def build_beside_and_cancel(screen, taut, folder):
    # So that the estimate does not depend on the machine.
    screen.environment["TAUT_MEMORY_LIMIT"] = "6G"
    window = Window(screen, taut, os.path.join(SCENES, "flag.yaml"))
    del screen.environment["TAUT_MEMORY_LIMIT"]
    window.until(lambda now: now["time"] > 0.1, "it plays")
    window.click("Body")
    nodes = window.now()["nodes"]

    def enter(text):
        x, y, _, height = window.until(lambda now: "bodies.flag.nodes" in now["widgets"],
                                       "the panel opens")["widgets"]["bodies.flag.nodes"]
        screen.do("mousemove", int(x + 30), int(y + height / 2))
        window.handled()
        screen.do("click", "--repeat", 2, "--delay", 80, 1)
        window.handled()
        # The release of ctrl comes with the press of A, so that a slow frame gets both.
        screen.do("keydown", "ctrl")
        window.handled()
        screen.do("keydown", "a", "keyup", "ctrl", "keyup", "a")
        window.handled()
        screen.do("type", "--delay", 60, text)
        window.handled()
        screen.do("key", "Return")

    def ended(now):
        # The message follows the end of the build, perhaps one report later.
        return (not now["building"] and now["pending"] == 0 and
                (now["message"] or now["nodes"] != nodes))

    enter("400000")  # 16 million nodes, which take several seconds
    asked = window.until(lambda now: now["asks"], "it is asked whether that is wanted")
    later = window.until(lambda now: now["time"] > asked["time"] + 0.2, "the present scene continues")
    assert later["asks"] and later["nodes"] == nodes and later["frames"] > asked["frames"], later
    window.click("building.Cancel")
    after = window.until(ended, "it is cancelled")
    assert after["nodes"] == nodes and "cancelled" in after["message"], after["message"]
    enter("400001")
    window.until(lambda now: now["asks"], "it is asked again")
    window.click("building.Build")
    window.until(lambda now: now["building"] and not now["asks"], "it is built")
    window.click("building.Cancel")
    after = window.until(ended, "it is cancelled", 120)
    if after["nodes"] != nodes:  # a busy machine draws frames more slowly than it builds
        assert after["nodes"] == 400001 * 41 and "cancelled" not in after["message"], after
        log("it was built before Cancel was pressed")
        window.close()
        return
    assert "cancelled" in after["message"], after["message"]
    window.until(lambda now: now["time"] > after["time"], "the present scene continues")
    # A scene for which memory is short is rejected at once.
    enter("9999999")
    refused = window.until(lambda now: "needs about" in now["message"], "it is refused")
    assert refused["nodes"] == nodes and not refused["building"], refused
    # A small one is built without confirmation.
    enter("2000")
    window.until(lambda now: now["nodes"] == 2000 * 41, "a cloth of 2000 x 41 nodes")
    window.close()


run_tests([build_beside_and_cancel, show_the_energy_budget, pull_the_cloth,
           drag_a_sphere_into_the_jelly, drag_the_bowl_with_what_is_in_it, lead_the_rope_by_keys,
           cut_the_cloth, change_the_wind_by_a_slider, keys_and_buttons])
