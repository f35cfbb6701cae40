#!/usr/bin/python3 -B
"""The comparison of materials with closed forms (docs/validation.md).

    test_validation.py TAUT

First the closed forms of tools/validation.py themselves, against figures of another program and of
textbooks; then what it does with errors that exceed their limit, orders that are too low, a page
with other figures, a body that still moves, and a program that fails; then its quick cases. With
TAUT_TEST_QUICK only the cases that take less than a second run.
"""
import contextlib
import io
import math
import os
import sys
import tempfile

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
sys.path.insert(0, os.path.join(ROOT, "tools"))
import validation  # pylint: disable=wrong-import-position
from benchmark_results import BadInput  # pylint: disable=wrong-import-position


def near(found, expected, tolerance):
    assert abs(found - expected) <= tolerance, f"{found} is not {expected}"


def test_closed_forms():
    # Solved as a boundary value problem by another program.
    for ratio, drop, chord in ((1, 0.123471, 7.1003), (2, 0.640631, 41.4873),
                               (3, 0.863552, 66.9588), (2.00035, 0.640713, 41.5)):
        found = validation.drop_and_chord(validation.elastica(ratio))
        near(found[0], drop, 1e-4 if ratio == 2.00035 else 1e-6)
        near(found[1], chord, 1e-4)
    # A short strip is a beam: q L^4 / 8 B.
    near(validation.drop_and_chord(validation.elastica(0.1))[0], 1e-3 / 8, 1e-9)

    euler, sag = validation.timoshenko_sag(1e8, 0.25, 1000, 0.8, 0.08)
    near(euler, 9.4176e-3, 1e-8)
    near(sag, 9.5102e-3, 1e-7)
    found = validation.timoshenko_frequencies(1e6, 0.25, 1000, 0.8, 0.08, 3)
    for frequency, expected in zip(found, (0.633725, 3.804747, 10.028859)):
        near(frequency / expected, 1, 1e-6)
    # A slender bar has Euler's frequencies.
    found = validation.timoshenko_frequencies(1e6, 0.25, 1000, 8, 0.008, 2)
    for frequency, root in zip(found, (1.8751041, 4.6940911)):
        near(frequency * 2 * math.pi / (root ** 2 * math.sqrt(1e3 * 0.008 ** 2 / 12) / 64), 1, 1e-4)

    near(validation.diagonal_stiffness(205, 1014, 10, 53), 162.346, 1e-3)
    # For a solid sheet it is E t in all directions: here 1.
    near(validation.diagonal_stiffness(9 / 8, 9 / 8, 3 / 8, 3 / 8), 1, 1e-12)


    near(validation.hertz_force(0.05, 2e-3, 1e5, 0.25), 2.8444, 1e-4)
    # On the surface it sinks by (1 - nu^2) F / (pi E r), and moves towards the force by
    # (1 + nu) (1 - 2 nu) F / (2 pi E r).
    x, y, z = validation.half_space_displacement(3, 1e5, 0.25, (-0.03, 0, 0.04))
    near(y, -(1 - 0.25 ** 2) * 3 / (math.pi * 1e5 * 0.05), 1e-15)
    inwards = 1.25 * 0.5 * 3 / (2 * math.pi * 1e5 * 0.05)
    near(x, 0.6 * inwards, 1e-15)
    near(z, -0.8 * inwards, 1e-15)
    # Below the force: (1 + nu) (3 - 2 nu) F / (2 pi E depth).
    x, y, z = validation.half_space_displacement(3, 1e5, 0.25, (0, -0.05, 0))
    near(y, -1.25 * 2.5 * 3 / (2 * math.pi * 1e5 * 0.05), 1e-15)
    assert x == z == 0


def test_a_round_cloth_and_its_shadow():
    # Two triangles on each other and one beside them, of 0.5 cm2 each.
    points = [(0, 0), (0.01, 0), (0, 0.01), (0.01, 0.01)]
    near(validation.shadow_area(points, [(0, 1, 2), (1, 0, 2)]), 0.5e-4, 3e-6)
    near(validation.shadow_area(points, [(0, 1, 2), (1, 3, 2)]), 1e-4, 1e-9)
    ring = math.pi * (validation.CLOTH ** 2 - validation.CLAMP ** 2)
    for spacing, least in ((0.01, 0.97), (0.005, 0.99)):
        points, triangles = validation.round_cloth(spacing)
        covered = validation.shadow_area(points, triangles) - math.pi * validation.CLAMP ** 2
        assert least < covered / ring < 1, covered / ring
        on_clamp = [p for p in points if abs(math.hypot(*p) - validation.CLAMP) < 1e-12]
        assert len(on_clamp) > 2 * validation.CLAMP / spacing


def test_a_peak_of_the_spectrum():
    values = [3 + math.sin(2 * math.pi * 0.6337 * i / 100) + 0.1 * math.sin(
        2 * math.pi * 3.8 * i / 100) for i in range(1600)]
    near(validation.spectrum_peak(values, 0.01, 0.45, 0.76), 0.6337, 1e-4)
    near(validation.spectrum_peak(values, 0.01, 2.7, 4.6), 3.8, 1e-4)


def test_what_fails():
    group = validation.Group("g", "Strips", "A text.")
    inside = group.add("drop", "20 links", 0.64, 0.641, 0.002, unit="L", scale=1.0)
    assert inside.passed()
    assert not group.add("drop", "40 links", 0.64, 0.643, 0.002, unit="L", scale=1.0).passed()
    assert not group.add("drop", "80 links", 0.64, math.nan, 0.002, unit="L", scale=1.0).passed()
    inside.order, inside.least_order = 1.7, 1.8
    assert not inside.passed()
    unknown = group.add("drape", "10 mm", None, 71.0, 0.1, unit="%")
    assert unknown.passed() and unknown.cells()[2:] == ["", "71 %", "", "", ""]
    assert not group.add("drape", "5 mm", None, math.nan, 0.1, unit="%").passed()
    near(validation.order_of([0.08, 0.04, 0.01]), 2, 1e-12)

    # A page shows the values that were found, up to rounding, or the rows differ.
    group.rows = [group.add("sag", "4 cells", 9.5, 8.888312, 0.1, unit="mm", digits=5)]
    page = validation.tables_text([group])
    assert not list(validation.different_rows([group], page))
    assert list(validation.different_rows([group], page.replace("8.8883", "8.8981")))
    assert list(validation.different_rows([group], page.replace("4 cells", "5 cells")))
    assert list(validation.different_rows([group], ""))


def expect_bad_input(text, action):
    try:
        action()
    except BadInput as error:
        assert text in str(error), error
    else:
        raise AssertionError(f"no error with '{text}'")


def test_runs_that_fail(taut, folder):
    program = validation.Program(taut, folder)
    rope = {"name": "line", "type": "rope", "from": [0, 0, 0], "to": [1, 0, 0], "nodes": 9,
            "pins": ["first"], "elastic": {"young": 1e4, "density": 1e3, "diameter": 0.01}}
    expect_bad_input("still move", lambda: validation.relax(program, rope, 1, 0.08, 1, periods=1))
    expect_bad_input("unknown key", lambda: validation.relax(
        program, {**rope, "stifness": 1}, 1, 0.08, 1))
    expect_bad_input("nowhere", lambda: validation.relax(
        validation.Program(os.path.join(folder, "nowhere"), folder), rope, 1, 0.08, 1))
    # A bending length that is 2% off is found.
    points = validation.cantilever(program, 2.04, 20, "rope")
    expected = validation.drop_and_chord(validation.elastica(2))[0]
    assert not validation.Row("drop", "20 links", expected, validation.drop_and_chord(points)[0],
                              4e-3, scale=1.0).passed()


def main():
    taut = sys.argv[1]
    test_closed_forms()
    test_a_round_cloth_and_its_shadow()
    test_a_peak_of_the_spectrum()
    test_what_fails()
    with tempfile.TemporaryDirectory(prefix="taut-test-validation-") as folder:
        test_runs_that_fail(taut, folder)
    with contextlib.redirect_stderr(io.StringIO()):
        assert validation.main([taut, "--only", "nothing"]) == 2
        assert validation.main([taut, "--quick", "--write"]) == 2
    some = ["--only", "stretch,sheets"] if os.environ.get("TAUT_TEST_QUICK") else []
    return validation.main([taut, "--quick", "--check", *some])


if __name__ == "__main__":
    sys.exit(main())
