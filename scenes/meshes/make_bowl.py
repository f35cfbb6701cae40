#!/usr/bin/env python3
"""Writes bowl.obj: a bowl of 0.6 m across and 0.24 m deep with a wavy inside, one layer of triangles.

    y = 0.24 s^2 (3 - s) / 2 + 0.008 s sin(8 pi s) cos(6 phi),   s = radius / 0.3
"""
import math
import os

RADIUS, DEPTH, RINGS, SECTORS = 0.3, 0.24, 12, 48


def height(s, angle):
    return DEPTH * s * s * (3 - s) / 2 + 0.008 * s * math.sin(8 * math.pi * s) * math.cos(6 * angle)


def main():
    lines = ["v 0 0 0"]
    for ring in range(1, RINGS + 1):
        for sector in range(SECTORS):
            s, angle = ring / RINGS, 2 * math.pi * sector / SECTORS
            lines.append("v %.5f %.5f %.5f" % (RADIUS * s * math.cos(angle), height(s, angle),
                                               RADIUS * s * math.sin(angle)))
    for sector in range(SECTORS):
        after = (sector + 1) % SECTORS
        lines.append("f 1 %d %d" % (2 + after, 2 + sector))
        for ring in range(1, RINGS):
            inner, outer = 2 + (ring - 1) * SECTORS, 2 + ring * SECTORS
            lines.append("f %d %d %d" % (inner + sector, inner + after, outer + after))
            lines.append("f %d %d %d" % (inner + sector, outer + after, outer + sector))
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bowl.obj")
    faces = sum(line[0] == "f" for line in lines)
    with open(path, "w", encoding="ascii") as out:
        out.write("# A bowl, %d vertices, %d triangles; made by make_bowl.py\n"
                  % (len(lines) - faces, faces))
        out.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
