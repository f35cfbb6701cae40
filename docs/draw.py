#!/usr/bin/env python3
"""Draws frames of a run side by side into a PNG. Needs python3 and numpy.

    docs/draw.py PICTURE.png RUN_FOLDER [options]

RUN_FOLDER is a run's output with `pc2: true`: every body's BODY.obj and BODY.pc2, and
energy.csv for the times. Bodies with triangles are shaded, others are drawn as springs and nodes.
Parallel projection, y up.

  --times 0,1,2.5      the frames nearest to these times, in seconds (default: first, middle, last)
  --view AZIMUTH,TILT  where the eye is, in degrees: 0,0 looks along -z; (default 25,15)
  --box X,Y,Z,X,Y,Z    what must be in the picture (default: all nodes of the frames drawn)
  --size W,H           of each frame, in pixels (default 300,300)
  --floor Y            draw a floor there
  --sphere X,Y,Z,R[,VX,VY,VZ]   draw a sphere, which moves; may be repeated
  --wire               draw the springs of shaded bodies too
  --cut RATIO          leave out springs longer than RATIO times their first length: broken ones
  --columns N          frames in a row (default: all)
"""

import argparse
import csv
import glob
import os
import struct
import sys
import zlib

import numpy as np

SMOOTH = 3  # the picture is drawn so many times larger, then averaged
COLOURS = [(214, 90, 70), (70, 130, 200), (90, 170, 90), (225, 165, 60), (150, 100, 190),
           (60, 170, 175)]
LIGHT = np.array([-0.35, 0.75, 0.56])
FONT = {  # 3 x 5 pixels, a row a digit, in octal
    "0": "75557", "1": "26227", "2": "71747", "3": "71717", "4": "55711", "5": "74717",
    "6": "74757", "7": "71122", "8": "75757", "9": "75717", ".": "00002", "s": "03636",
    " ": "00000", "-": "00700",
}


class Body:
    """A rest mesh and its point cache."""

    def __init__(self, path):
        self.name = os.path.basename(path)[:-4]
        faces, lines = [], []
        with open(path, encoding="utf-8") as file:
            for line in file:
                words = line.split()
                if words and words[0] == "f":
                    faces.append([int(w.split("/")[0]) - 1 for w in words[1:4]])
                elif words and words[0] == "l":
                    lines.append([int(w) - 1 for w in words[1:3]])
        self.faces = np.array(faces, dtype=int).reshape(-1, 3)
        self.lines = np.array(lines, dtype=int).reshape(-1, 2)
        with open(path[:-4] + ".pc2", "rb") as file:
            data = file.read()
        magic, _, points, _, _, samples = struct.unpack_from("<12siiffi", data)
        if magic != b"POINTCACHE2\0":
            sys.exit(f"{path[:-4]}.pc2: not a point cache")
        values = np.frombuffer(data, "<f4", samples * points * 3, 32)
        self.frames = values.reshape(samples, points, 3)

    def edges(self):
        if len(self.lines):
            return self.lines
        pairs = np.sort(np.concatenate([self.faces[:, [0, 1]], self.faces[:, [1, 2]],
                                        self.faces[:, [2, 0]]]), axis=1)
        return np.unique(pairs, axis=0)


class Canvas:
    """Colours and depths; larger depth is nearer to the eye."""

    def __init__(self, width, height):
        self.width, self.height = width * SMOOTH, height * SMOOTH
        ramp = np.linspace(0, 1, self.height)[:, None, None]
        top, bottom = np.array([236, 241, 248.0]), np.array([252, 252, 252.0])
        sky = top + ramp * (bottom - top)
        self.colour = np.broadcast_to(sky, (self.height, self.width, 3)).copy()
        self.depth = np.full((self.height, self.width), -np.inf)

    def points(self, x, y, depth, colour, radius):
        """Discs: many at once; nearer ones cover farther ones."""
        reach = int(np.ceil(radius))
        side = np.arange(-reach, reach + 1)
        dx, dy = (g.ravel() for g in np.meshgrid(side, side))
        inside = dx * dx + dy * dy <= radius * radius
        px = (np.rint(x)[:, None] + dx[inside]).astype(int).ravel()
        py = (np.rint(y)[:, None] + dy[inside]).astype(int).ravel()
        d = np.repeat(depth, inside.sum())
        c = np.repeat(np.broadcast_to(colour, (len(x), 3)), inside.sum(), axis=0)
        seen = (px >= 0) & (px < self.width) & (py >= 0) & (py < self.height)
        px, py, d, c = px[seen], py[seen], d[seen], c[seen]
        order = np.argsort(d, kind="stable")
        px, py, d, c = px[order], py[order], d[order], c[order]
        front = d > self.depth[py, px]
        px, py, d, c = px[front], py[front], d[front], c[front]
        self.colour[py, px] = c
        self.depth[py, px] = d

    def segments(self, a, b, colour, radius):
        """Lines between screen points a and b (x, y, depth)."""
        if not len(a):
            return
        count = np.ceil(np.hypot(*(b - a)[:, :2].T)).astype(int) + 1
        which = np.repeat(np.arange(len(a)), count)
        step = np.arange(len(which)) - np.repeat(np.cumsum(count) - count, count)
        along = (step / np.maximum(count - 1, 1)[which])[:, None]
        p = a[which] + along * (b - a)[which]
        self.points(p[:, 0], p[:, 1], p[:, 2], colour, radius)

    def triangle(self, p, shade, colour):
        x0, y0 = np.maximum(np.floor(p[:, :2].min(axis=0)).astype(int), 0)
        x1, y1 = np.minimum(np.ceil(p[:, :2].max(axis=0)).astype(int) + 1,
                            (self.width, self.height))
        if x0 >= x1 or y0 >= y1:
            return
        (ax, ay, _), (bx, by, _), (cx, cy, _) = p
        area = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)
        if abs(area) < 1e-9:
            return
        gx, gy = np.arange(x0, x1)[None, :], np.arange(y0, y1)[:, None]
        v = ((gx - ax) * (cy - ay) - (gy - ay) * (cx - ax)) / area
        w = ((bx - ax) * (gy - ay) - (by - ay) * (gx - ax)) / area
        u = 1 - v - w
        depth = u * p[0, 2] + v * p[1, 2] + w * p[2, 2]
        seen = (u >= -1e-6) & (v >= -1e-6) & (w >= -1e-6) & (depth > self.depth[y0:y1, x0:x1])
        light = (u * shade[0] + v * shade[1] + w * shade[2])[seen]
        self.depth[y0:y1, x0:x1][seen] = depth[seen]
        self.colour[y0:y1, x0:x1][seen] = np.clip(light[:, None] * colour, 0, 255)

    def text(self, words, scale):
        x = y = 2 * scale
        for letter in words:
            for row, bits in enumerate(FONT[letter]):
                for column in range(3):
                    if int(bits, 8) >> (2 - column) & 1:
                        self.colour[y + row * scale:y + (row + 1) * scale,
                                    x + column * scale:x + (column + 1) * scale] = 90
            x += 4 * scale

    def small(self):
        shape = (self.height // SMOOTH, SMOOTH, self.width // SMOOTH, SMOOTH, 3)
        return self.colour.reshape(shape).mean(axis=(1, 3)).round().astype(np.uint8)


class Camera:
    """From metres to pixels of the canvas, y down, and depth towards the eye in pixels."""

    def __init__(self, azimuth, tilt, box, canvas):
        a, t = np.radians(azimuth), np.radians(tilt)
        self.right = np.array([np.cos(a), 0, -np.sin(a)])
        self.up = np.array([-np.sin(t) * np.sin(a), np.cos(t), -np.sin(t) * np.cos(a)])
        self.eye = np.array([np.cos(t) * np.sin(a), np.sin(t), np.cos(t) * np.cos(a)])
        corners = np.array([[x, y, z] for x in box[::3] for y in box[1::3] for z in box[2::3]])
        flat = corners @ np.array([self.right, self.up]).T
        low, high = flat.min(axis=0), flat.max(axis=0)
        span = np.maximum(high - low, 1e-9)
        self.scale = 0.92 * min(canvas.width / span[0], canvas.height / span[1])
        self.middle = (low + high) / 2
        self.centre = np.array([canvas.width, canvas.height]) / 2

    def see(self, points):
        x = (points @ self.right - self.middle[0]) * self.scale + self.centre[0]
        y = self.centre[1] - (points @ self.up - self.middle[1]) * self.scale
        return np.stack([x, y, points @ self.eye * self.scale], axis=1)


def shade(normals, eye):
    length = np.linalg.norm(normals, axis=1, keepdims=True)
    n = normals / np.where(length > 0, length, 1)
    n = n * np.where(n @ eye < 0, -1, 1)[:, None]  # cloth has two sides
    return 0.42 + 0.62 * np.clip(n @ (LIGHT / np.linalg.norm(LIGHT)), 0, 1) + 0.1 * (n @ eye)


def draw_surface(canvas, camera, body, points, colour, wire):
    p = points[body.faces]
    normals = np.cross(p[:, 1] - p[:, 0], p[:, 2] - p[:, 0])
    at_nodes = np.zeros_like(points)
    for corner in range(3):
        np.add.at(at_nodes, body.faces[:, corner], normals)
    light = shade(at_nodes, camera.eye)
    screen = camera.see(points)
    flat = shade(normals, camera.eye)  # a body of few faces is meant to have edges
    for index, face in enumerate(body.faces):
        canvas.triangle(screen[face], light[face] if len(body.faces) > 50 else flat[[index] * 3],
                        colour)
    if wire:
        edges = body.edges()
        lifted = screen + np.array([0, 0, 1.5])
        canvas.segments(lifted[edges[:, 0]], lifted[edges[:, 1]], colour * 0.55, 0.6)


def draw_springs(canvas, camera, body, points, colour, cut):
    screen = camera.see(points)
    edges = body.edges()
    first, now = (np.linalg.norm(p[edges[:, 0]] - p[edges[:, 1]], axis=1)
                  for p in (body.frames[0], points))
    edges = edges[now <= cut * first] if np.isfinite(cut) else edges
    canvas.segments(screen[edges[:, 0]], screen[edges[:, 1]], colour * 0.8,
                    2.2 if len(edges) < 400 else 1)
    dot = 9 if len(points) <= 8 else 4 if len(points) < 200 else 0
    if dot:
        canvas.points(screen[:, 0], screen[:, 1], screen[:, 2] + 3, colour * 0.6, dot)


def draw_floor(canvas, camera, height, box):
    reach = max(box[3] - box[0], box[5] - box[2], 1e-3)
    x0, x1 = box[0] - 0.1 * reach, box[3] + 0.1 * reach
    z0, z1 = box[2] - 0.1 * reach, box[5] + 0.1 * reach
    if z1 - z0 < 0.5 * reach:
        z0, z1 = (z0 + z1) / 2 - 0.25 * reach, (z0 + z1) / 2 + 0.25 * reach
    corners = camera.see(np.array([[x0, height, z0], [x1, height, z0], [x1, height, z1],
                                   [x0, height, z1]]))
    colour = np.array([205, 208, 204.0])
    canvas.triangle(corners[[0, 1, 2]], np.ones(3), colour)
    canvas.triangle(corners[[0, 2, 3]], np.ones(3), colour)
    canvas.segments(corners, np.roll(corners, -1, axis=0), np.array([150.0] * 3), 1)


def draw_sphere(canvas, camera, values, time):
    centre = np.array(values[:3]) + time * np.array(values[4:7] if len(values) == 7 else [0, 0, 0])
    x, y, depth = camera.see(centre[None, :])[0]
    radius = values[3] * camera.scale
    gx, gy = np.meshgrid(np.arange(canvas.width) - x, np.arange(canvas.height) - y)
    height = np.sqrt(np.maximum(radius * radius - gx * gx - gy * gy, 0))
    seen = (gx * gx + gy * gy < radius * radius) & (depth + height > canvas.depth)
    normals = (gx[seen, None] * camera.right - gy[seen, None] * camera.up
               + height[seen, None] * camera.eye)
    canvas.depth[seen] = (depth + height)[seen]
    grey = np.array([170, 172, 178.0])
    canvas.colour[seen] = np.clip(shade(normals, camera.eye)[:, None] * grey, 0, 255)


def write_png(path, image):
    height, width, _ = image.shape
    # Filter 2: the difference to the row above.
    rows = b"".join(b"\2" + (row - above).astype(np.uint8).tobytes()
                    for row, above in zip(image, np.concatenate([image[:1] * 0, image[:-1]])))

    def chunk(kind, data):
        check = struct.pack(">I", zlib.crc32(kind + data))
        return struct.pack(">I", len(data)) + kind + data + check

    with open(path, "wb") as file:
        header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
        file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header)
                   + chunk(b"IDAT", zlib.compress(rows, 9)) + chunk(b"IEND", b""))


def numbers(text):
    return [float(word) for word in text.split(",")]


def arguments():
    parser = argparse.ArgumentParser(description="Draws frames of a run side by side into a PNG.")
    parser.add_argument("picture")
    parser.add_argument("folder")
    parser.add_argument("--times", type=numbers)
    parser.add_argument("--view", type=numbers, default=[25, 15])
    parser.add_argument("--box", type=numbers)
    parser.add_argument("--size", type=numbers, default=[300, 300])
    parser.add_argument("--floor", type=float)
    parser.add_argument("--sphere", type=numbers, action="append", default=[])
    parser.add_argument("--wire", action="store_true")
    parser.add_argument("--cut", type=float, default=np.inf)
    parser.add_argument("--columns", type=int)
    return parser.parse_args()


def main():
    options = arguments()
    bodies = [Body(path) for path in sorted(glob.glob(os.path.join(options.folder, "*.obj")))]
    if not bodies:
        sys.exit(f"{options.folder}: no .obj with .pc2 in it; does the scene say `pc2: true`?")
    with open(os.path.join(options.folder, "energy.csv"), encoding="utf-8") as file:
        times = np.array([float(row["time"]) for row in csv.DictReader(file)])
    times = times[:min(len(body.frames) for body in bodies)]
    wanted = options.times or [times[0], times[-1] / 2, times[-1]]
    frames = [int(np.argmin(np.abs(times - t))) for t in wanted]
    everything = np.concatenate([body.frames[f] for body in bodies for f in frames])
    box = options.box or [*everything.min(axis=0), *everything.max(axis=0)]
    width, height = (int(v) for v in options.size)
    panels = []
    for frame in frames:
        canvas = Canvas(width, height)
        camera = Camera(*options.view, box, canvas)
        if options.floor is not None:
            draw_floor(canvas, camera, options.floor, box)
        for values in options.sphere:
            draw_sphere(canvas, camera, values, times[frame])
        for index, body in enumerate(bodies):
            points = body.frames[frame].astype(float)
            colour = np.array(COLOURS[index % len(COLOURS)], float)
            if len(body.faces):
                draw_surface(canvas, camera, body, points, colour, options.wire)
            else:
                draw_springs(canvas, camera, body, points, colour, options.cut)
        canvas.text(f"{times[frame]:.2f} s", 2 * SMOOTH)
        panels.append(canvas.small())
    columns = options.columns or len(panels)
    while len(panels) % columns:
        panels.append(np.full_like(panels[0], 255))
    rows = [np.concatenate(panels[i:i + columns], axis=1) for i in range(0, len(panels), columns)]
    write_png(options.picture, np.concatenate(rows))


main()
