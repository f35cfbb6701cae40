#!/usr/bin/python3
"""Compares relations of triangles with an oracle in rational numbers.

    test_intersections.py PROGRAM [PAIRS [SEED]]

PROGRAM is tests/relate_triangles.c, which calls triangles_relate. The oracle computes the common
points themselves, with fractions: the segments in which both triangles meet the line of their planes,
or the polygon that is left of one triangle when the other cuts it in their plane. It shares no idea
with the program, which only looks at signs of determinants. Half of the pairs are small whole
numbers, so that corners, edges and planes coincide; the others are slivers, nearly touching pairs
and pairs at sizes from 1e-300 to 1e300.
"""
import random
import struct
import subprocess
import sys
from fractions import Fraction

APART, TOUCHING, OVERLAPPING, CROSSING = "0123"


def minus(a, b):
    return tuple(x - y for x, y in zip(a, b))


def cross(a, b):
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def dot(a, b):
    return sum(x * y for x, y in zip(a, b))


def between(a, b, s):
    return tuple(x + s * (y - x) for x, y in zip(a, b))


def normal_of(t):
    return cross(minus(t[1], t[0]), minus(t[2], t[0]))


def barycentric(t, p):
    """Signs of the coordinates of a point of the plane of a triangle."""
    n = normal_of(t)
    return [dot(n, cross(minus(t[(i + 1) % 3], t[i]), minus(p, t[i]))) for i in range(3)]


def is_inside(t, p):
    return all(x > 0 for x in barycentric(t, p))


def is_common(t, u, p):
    """Whether a point is a common corner or lies on a common edge."""
    shared = [a for a in t if a in u]
    if len(shared) == 3:
        return False
    if len(shared) == 2:
        a, b = shared
        return not any(cross(minus(b, a), minus(p, a))) and 0 <= dot(minus(p, a), minus(b, a)) <= dot(
            minus(b, a), minus(b, a))
    return p in shared


def points_in_plane(t, n, origin):
    """The ends of what a triangle and a plane have in common; both may be the same."""
    at = [dot(n, minus(p, origin)) for p in t]
    found = [p for p, x in zip(t, at) if x == 0]
    for i in range(3):
        a, b = at[i], at[(i + 1) % 3]
        if a * b < 0:
            found.append(between(t[i], t[(i + 1) % 3], a / (a - b)))
    return found


def cut(polygon, a, b, n):
    """The part of a polygon on the left of the line a b."""
    def side(p):
        return dot(n, cross(minus(b, a), minus(p, a)))
    left = []
    for p, q in zip(polygon, polygon[1:] + polygon[:1]):
        if side(p) >= 0:
            left.append(p)
        if side(p) * side(q) < 0:
            left.append(between(p, q, side(p) / (side(p) - side(q))))
    return left


def relate(t, u):
    n, m = normal_of(t), normal_of(u)
    if not any(n) or not any(m):
        return "d"
    if not any(dot(n, minus(p, t[0])) for p in u):
        polygon = list(t)
        for i in range(3):
            polygon = cut(polygon, u[i], u[(i + 1) % 3], m) if polygon else []
        area = [sum(x) for x in zip(*(cross(p, q) for p, q in zip(polygon, polygon[1:] + polygon[:1])))]
        if any(area):
            return OVERLAPPING
        points = polygon
    else:
        direction = cross(n, m)
        if not any(direction):
            return APART
        ends = []
        for found in (points_in_plane(t, m, u[0]), points_in_plane(u, n, t[0])):
            if not found:
                return APART
            along = sorted((dot(direction, p), p) for p in found)
            ends.append((along[0], along[-1]))
        low, high = max(e[0] for e in ends), min(e[1] for e in ends)
        if low[0] > high[0]:
            return APART
        middle = between(low[1], high[1], Fraction(1, 2))
        if is_inside(t, middle) and is_inside(u, middle):
            return CROSSING
        points = [low[1], high[1]]
    points += [between(p, q, Fraction(1, 2)) for p in points for q in points]
    return TOUCHING if any(not is_common(t, u, p) for p in points) else APART


# ---- Pairs

def whole(size):
    return [[float(random.randint(0, size)) for _ in range(3)] for _ in range(6)]


def shared(pair, count):
    """The second triangle has corners of the first one."""
    for i in random.sample(range(3), count):
        pair[3 + i] = list(pair[i])
    return pair


def flat(pair):
    """Both in a plane of doubles: z = x + 2 y + 1, with whole numbers."""
    for p in pair:
        p[2] = p[0] + 2 * p[1] + 1
    return pair


def nearly(pair):
    """Coordinates that are off by the last digit."""
    for p in pair:
        for axis in range(3):
            if random.random() < 0.2:
                p[axis] += random.choice([-1, 1]) * 2.0 ** random.randint(-52, -40)
    return pair


def scaled(pair):
    """Each axis at a size of its own."""
    powers = [random.randint(-1000, 1000) for _ in range(3)]
    if random.random() < 0.5:
        powers = [powers[0]] * 3
    return [[x * 2.0 ** e for x, e in zip(p, powers)] for p in pair]


def wild():
    """Coordinates of many sizes, also the smallest and largest doubles."""
    def one():
        kind = random.random()
        if kind < 0.1:
            return 0.0
        if kind < 0.15:
            return random.choice([-1, 1]) * random.choice([5e-324, 1.7e308, 2.0 ** -1022])
        return random.choice([-1, 1]) * random.random() * 10.0 ** random.randint(-30, 30)
    return [[one() for _ in range(3)] for _ in range(6)]


def sliver():
    """A thin triangle across another one, or on its edge."""
    a, b, c = ([random.random() for _ in range(3)] for _ in range(3))
    s = random.random()
    foot = [x + s * (y - x) for x, y in zip(a, b)]
    top = [random.random() for _ in range(3)]
    thin = [x + random.uniform(-1, 1) * 1e-15 for x in foot]
    return [a, b, c, foot, thin, top]


def pairs(count):
    for i in range(count):
        kind = i % 10
        pair = whole(random.choice([1, 2, 3]))
        if kind in (1, 2, 3):
            pair = shared(pair, kind)
        elif kind == 4:
            pair = shared(flat(pair), random.randint(0, 2))
        elif kind == 5:
            pair = nearly(shared(pair, random.randint(0, 1)))
        elif kind == 6:
            pair = scaled(shared(pair, random.randint(0, 2)))
        elif kind == 7:
            pair = wild()
        elif kind == 8:
            pair = sliver()
        elif kind == 9:
            pair = [[random.random() for _ in range(3)] for _ in range(6)]
        yield pair


def main():
    program = sys.argv[1]
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 30000
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 4711
    random.seed(seed)
    tried = list(pairs(count))
    data = b"".join(struct.pack("<18d", *[x for p in pair for x in p]) for pair in tried)
    answers = subprocess.run([program], input=data, stdout=subprocess.PIPE, check=True).stdout.decode()
    if len(answers) != count:
        print(f"{len(answers)} answers for {count} pairs")
        return 1
    wrong, seen = 0, {}
    for pair, answer in zip(tried, answers):
        exact = [tuple(map(Fraction, p)) for p in pair]
        expected = relate(exact[:3], exact[3:])
        seen[expected] = seen.get(expected, 0) + 1
        if answer != expected:
            wrong += 1
            if wrong <= 5:
                print(f"expected {expected}, not {answer}: {pair}")
    print(f"{count} pairs, seed {seed}: "
          f"{', '.join(f'{seen.get(kind, 0)} of {kind}' for kind in '0123d')}; {wrong} wrong")
    # Every relation must have been tried often.
    return 1 if wrong or any(seen.get(kind, 0) < count // 100 for kind in "0123d") else 0


if __name__ == "__main__":
    sys.exit(main())
