#!/usr/bin/env python3
"""Writes table.obj, globe.obj and funnel.obj: surfaces of revolution about the y axis, one layer of
triangles each, with their outlines (radius, height) below.

Table: a disc of 0.7 m across with a rim that is rounded by 15 mm. Globe: a ball of 0.3 m across.
Funnel: a cone from 0.6 m across to a spout of 0.17 m.
"""
import math
import os


def arc(centre, radius, start, end, pieces):
    """Points of a circle between two angles from the y axis, in degrees."""
    angles = [math.radians(start + (end - start) * i / pieces) for i in range(pieces + 1)]
    return [(centre[0] + radius * math.sin(a), centre[1] + radius * math.cos(a)) for a in angles]


def line(start, end, pieces):
    return [tuple(a + (b - a) * i / pieces for a, b in zip(start, end)) for i in range(pieces + 1)]


def revolve(outline, sectors):
    """Vertices and triangles; a point of radius 0 is a single vertex. Normals point to the left of
    the outline's direction where its radius grows: up."""
    vertices, rings, faces = [], [], []
    for radius, height in outline:
        count = 1 if radius < 1e-9 else sectors
        rings.append([len(vertices) + i + 1 for i in range(count)])
        for i in range(count):
            angle = 2 * math.pi * i / sectors
            vertices.append((radius * math.cos(angle), height, radius * math.sin(angle)))
    for inner, outer in zip(rings, rings[1:]):
        for i in range(sectors):
            a, b = inner[i % len(inner)], inner[(i + 1) % len(inner)]
            c, d = outer[i % len(outer)], outer[(i + 1) % len(outer)]
            if c != d:
                faces.append((a, d, c))
            if a != b:
                faces.append((a, b, d))
    return vertices, faces


MESHES = {
    "table": (line((0, 0), (0.335, 0), 8)[:-1] + arc((0.335, -0.015), 0.015, 0, 180, 4) +
              [(0.29, -0.03)], 48),
    "globe": (arc((0, 0), 0.15, 0, 180, 14), 28),
    "funnel": (line((0.085, -0.12), (0.085, 0), 4)[:-1] + line((0.085, 0), (0.3, 0.24), 9), 36),
}


def main():
    for name, (outline, sectors) in MESHES.items():
        vertices, faces = revolve(outline, sectors)
        path = os.path.join(os.path.dirname(os.path.abspath(__file__)), name + ".obj")
        with open(path, "w", encoding="ascii") as out:
            out.write("# A %s, %d vertices, %d triangles; made by make_round.py\n"
                      % (name, len(vertices), len(faces)))
            out.writelines("v %.5f %.5f %.5f\n" % vertex for vertex in vertices)
            out.writelines("f %d %d %d\n" % face for face in faces)


if __name__ == "__main__":
    main()
