#!/usr/bin/env python3
"""Writes animal.obj: a closed mesh of a plump animal, about 1.2 m long, standing on y = 0.

The shape is the zero surface of a field: ellipsoids and capsules, joined smoothly (a smooth minimum
rounds the seams, so that there are no creases in which a soft body would stick), cut flat under the
feet. Surface nets turn it into quads of similar size; rounds of tangential smoothing and edge flips
make the triangles as even as a mass-spring body likes them. Nothing is random: every run gives the
same file.

    python3 make_animal.py [animal.obj]
"""

import math
import os
import sys

CELL = 0.037  # edge of a grid cell, m; sets the size of the triangles
LOW = (-0.70, -0.12, -0.34)  # of the grid, which must hold the whole animal
HIGH = (0.80, 1.04, 0.34)
ROUNDS = 30  # of smoothing


# ---- The field: negative inside, about the distance in metres


def ellipsoid(point, centre, radii):
    scaled = [(p - c) / r for p, c, r in zip(point, centre, radii)]
    steep = [s / r for s, r in zip(scaled, radii)]
    length = math.sqrt(sum(s * s for s in scaled))
    slope = math.sqrt(sum(s * s for s in steep))
    return length * (length - 1) / slope if slope > 0 else -min(radii)


def capsule(point, start, end, start_radius, end_radius):
    axis = [e - s for s, e in zip(start, end)]
    offset = [p - s for p, s in zip(point, start)]
    along = sum(a * o for a, o in zip(axis, offset)) / sum(a * a for a in axis)
    along = min(1.0, max(0.0, along))
    gap = math.sqrt(sum((o - along * a) ** 2 for o, a in zip(offset, axis)))
    return gap - (start_radius + along * (end_radius - start_radius))


def smooth_minimum(a, b, reach):
    blend = max(reach - abs(a - b), 0.0) / reach
    return min(a, b) - blend * blend * reach / 4


def field(point):
    x, y, z = point
    mirrored = (x, y, abs(z))  # left and right are alike
    value = ellipsoid(point, (0.0, 0.44, 0.0), (0.42, 0.22, 0.235))
    neck = capsule(point, (0.26, 0.50, 0), (0.42, 0.66, 0), 0.15, 0.12)
    head = ellipsoid(point, (0.45, 0.69, 0.0), (0.165, 0.15, 0.16))
    snout = capsule(point, (0.53, 0.65, 0), (0.61, 0.63, 0), 0.09, 0.075)
    ear = capsule(mirrored, (0.39, 0.79, 0.105), (0.33, 0.885, 0.17), 0.07, 0.05)
    front_leg = capsule(mirrored, (0.25, 0.36, 0.135), (0.27, 0.06, 0.15), 0.10, 0.09)
    back_leg = capsule(mirrored, (-0.25, 0.36, 0.135), (-0.27, 0.06, 0.15), 0.105, 0.09)
    tail = capsule(point, (-0.36, 0.53, 0), (-0.54, 0.65, 0), 0.06, 0.048)
    for part, reach in ((neck, 0.08), (head, 0.05), (snout, 0.06), (ear, 0.04), (front_leg, 0.07),
                        (back_leg, 0.07), (tail, 0.06)):
        value = smooth_minimum(value, part, reach)
    return -smooth_minimum(-value, y, 0.04)  # the ground cuts the feet flat


def gradient(point, step=1e-5):
    result = []
    for axis in range(3):
        ahead, behind = list(point), list(point)
        ahead[axis] += step
        behind[axis] -= step
        result.append((field(ahead) - field(behind)) / (2 * step))
    return result


def onto_surface(point):
    """The point moved along the gradient to where the field is zero (two Newton steps)."""
    for _ in range(2):
        slope = gradient(point)
        squared = sum(s * s for s in slope)
        distance = field(point) / squared
        point = [p - distance * s for p, s in zip(point, slope)]
    return point


# ---- Surface nets: a vertex in each cell that the surface crosses, a quad across each such edge


def grid_values():
    counts = [int(math.ceil((high - low) / CELL)) + 1 for low, high in zip(LOW, HIGH)]
    values = {}
    for i in range(counts[0]):
        for j in range(counts[1]):
            for k in range(counts[2]):
                values[i, j, k] = field([low + CELL * n for low, n in zip(LOW, (i, j, k))])
    return counts, values


CORNERS = [(i, j, k) for i in (0, 1) for j in (0, 1) for k in (0, 1)]
EDGES = [(a, b) for a in CORNERS for b in CORNERS
         if a < b and sum(x != y for x, y in zip(a, b)) == 1]


def cell_vertex(cell, values):
    """The mean of the points where the cell's edges cross the surface, or None."""
    crossings = []
    for a, b in EDGES:
        start = values[tuple(c + d for c, d in zip(cell, a))]
        end = values[tuple(c + d for c, d in zip(cell, b))]
        if (start < 0) != (end < 0):
            part = start / (start - end)
            crossings.append([c + p + part * (q - p) for c, p, q in zip(cell, a, b)])
    if not crossings:
        return None
    return [low + CELL * sum(c[axis] for c in crossings) / len(crossings)
            for axis, low in enumerate(LOW)]


def surface_net():
    counts, values = grid_values()
    points, number, quads = [], {}, []
    for cell in values:
        if all(n + 1 < count for n, count in zip(cell, counts)):
            point = cell_vertex(cell, values)
            if point:
                number[cell] = len(points)
                points.append(point)
    for node, value in values.items():
        for axis in range(3):
            ahead = tuple(n + (i == axis) for i, n in enumerate(node))
            if ahead not in values or (value < 0) == (values[ahead] < 0):
                continue
            u, v = (axis + 1) % 3, (axis + 2) % 3
            quad = []
            for du, dv in ((-1, -1), (0, -1), (0, 0), (-1, 0)):  # counter-clockwise about the axis
                cell = list(node)
                cell[u] += du
                cell[v] += dv
                quad.append(number[tuple(cell)])
            quads.append(quad if value < 0 else quad[::-1])
    return points, quads


# ---- Triangles, made even


def squared_distance(a, b):
    return sum((p - q) ** 2 for p, q in zip(a, b))


def split(points, quads):
    triangles = []
    for a, b, c, d in quads:
        if squared_distance(points[a], points[c]) <= squared_distance(points[b], points[d]):
            triangles += [[a, b, c], [a, c, d]]
        else:
            triangles += [[a, b, d], [b, c, d]]
    return triangles


def neighbours_of(triangles, count):
    neighbours = [set() for _ in range(count)]
    for triangle in triangles:
        for i in range(3):
            neighbours[triangle[i]].update((triangle[i - 1], triangle[i - 2]))
    return neighbours


def cross(a, b):
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def smooth(points, triangles):
    """Moves each vertex to the middle of the area around it, but only along the surface.

    Large triangles pull more than small ones, which makes them alike.
    """
    weights = [0.0] * len(points)
    sums = [[0.0, 0.0, 0.0] for _ in points]
    for triangle in triangles:
        a, b, c = (points[v] for v in triangle)
        normal = cross([q - p for p, q in zip(a, b)], [q - p for p, q in zip(a, c)])
        area = math.sqrt(sum(n * n for n in normal))
        for vertex in triangle:
            weights[vertex] += area
            for axis in range(3):
                sums[vertex][axis] += area * (a[axis] + b[axis] + c[axis]) / 3
    moved = []
    for point, weight, total in zip(points, weights, sums):
        normal = gradient(point)
        squared = sum(n * n for n in normal)
        pull = [t / weight - p for p, t in zip(point, total)]
        rise = sum(p * n for p, n in zip(pull, normal)) / squared
        moved.append(onto_surface([p + q - rise * n for p, q, n in zip(point, pull, normal)]))
    return moved


def angle_cosine(points, tip, a, b):
    p = [x - y for x, y in zip(points[a], points[tip])]
    q = [x - y for x, y in zip(points[b], points[tip])]
    squared_lengths = sum(x * x for x in p) * sum(y * y for y in q)
    return sum(x * y for x, y in zip(p, q)) / math.sqrt(squared_lengths)


def flip_edges(points, triangles):
    """Turns edges whose opposite angles are together more than a half turn (Delaunay's rule)."""
    neighbours = neighbours_of(triangles, len(points))
    owner = {(t[i - 1], t[i]): n for n, t in enumerate(triangles) for i in range(3)}
    for a, b in sorted(edge for edge in owner if edge[0] < edge[1]):
        if (a, b) not in owner or (b, a) not in owner:
            continue
        left, right = owner[a, b], owner[b, a]
        c = next(v for v in triangles[left] if v not in (a, b))
        d = next(v for v in triangles[right] if v not in (a, b))
        crowded = len(neighbours[a]) <= 4 or len(neighbours[b]) <= 4
        if d in neighbours[c] or crowded:
            continue
        if angle_cosine(points, c, a, b) + angle_cosine(points, d, a, b) > -1e-9:
            continue
        triangles[left], triangles[right] = [c, a, d], [d, b, c]
        del owner[a, b], owner[b, a]
        owner.update({(c, a): left, (a, d): left, (d, c): left,
                      (d, b): right, (b, c): right, (c, d): right})
        neighbours[a].discard(b)
        neighbours[b].discard(a)
        neighbours[c].add(d)
        neighbours[d].add(c)


def make_animal():
    points, quads = surface_net()
    triangles = split(points, quads)
    for _ in range(ROUNDS):
        points = smooth(points, triangles)
        flip_edges(points, triangles)
    ground = min(point[1] for point in points)
    return [[x, y - ground, z] for x, y, z in points], triangles


def write_obj(path, points, triangles):
    with open(path, "w", encoding="ascii", newline="\n") as out:
        out.write("# A plump animal, closed, %d vertices, %d triangles; made by make_animal.py\n"
                  % (len(points), len(triangles)))
        for point in points:
            # + 0.0 turns a rounded -0 into 0
            out.write("v %.5g %.5g %.5g\n" % tuple(round(p, 5) + 0.0 for p in point))
        for a, b, c in triangles:
            out.write("f %d %d %d\n" % (a + 1, b + 1, c + 1))


if __name__ == "__main__":
    here = os.path.dirname(os.path.abspath(__file__))
    path = sys.argv[1] if len(sys.argv) > 1 else os.path.join(here, "animal.obj")
    try:
        write_obj(path, *make_animal())
    except OSError as error:
        sys.exit(f"make_animal.py: {error}")
