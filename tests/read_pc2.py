"""Reads a .pc2 point cache, implemented from the description of the format, and prints one line per
sample.

Usage: read_pc2.py FILE.pc2
Exit: 0 read, 1 not sound (the file's length must be what its header promises), 2 wrong usage.
"""

import struct
import sys

HEADER = struct.Struct("<12siiffi")


def main(path):
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError as error:
        sys.exit(f"{path}: {error.strerror}")
    if len(data) < HEADER.size:
        sys.exit(f"{path}: no whole header")
    magic, version, points, start, rate, samples = HEADER.unpack_from(data)
    if magic != b"POINTCACHE2\0" or version != 1:
        sys.exit(f"{path}: not a point cache of version 1")
    if len(data) != HEADER.size + samples * points * 12:
        sys.exit(f"{path}: {len(data)} bytes do not hold {samples} samples of {points} points")
    print(f"points {points} start {start:.9g} rate {rate:.9g} samples {samples}")
    for sample in range(samples):
        values = struct.unpack_from(f"<{3 * points}f", data, HEADER.size + sample * points * 12)
        print(" ".join(f"{value:.9g}" for value in values))


if len(sys.argv) != 2:
    print(__doc__.strip(), file=sys.stderr)
    sys.exit(2)
main(sys.argv[1])
