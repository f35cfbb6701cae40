#!/usr/bin/env python3
"""Reads a checkpoint of taut from its description alone (docs/checkpoints.md) and checks all of it.

Usage: read_checkpoint.py FILE                lists the header and the arrays
       read_checkpoint.py --array NAME FILE   prints an array, an element a line
       read_checkpoint.py --state FILE        prints body,node,x,y,z,vx,vy,vz as CSV; a body is its
                                              number, since a checkpoint has no names
Exit: 0 read, 1 not a whole checkpoint, or a package is missing, 2 wrong usage.
"""

import array
import struct
import sys

try:
    import zstandard
except ImportError:
    zstandard = None
try:
    import xxhash
except ImportError:
    xxhash = None

MAGIC = b"\x89TAUT\r\x1a\n"
HEADER = struct.Struct("<8sIIIIQ16s24sQddQQQQ120xQ")
CHUNK = struct.Struct("<4sBBH40sQQQIIQQ")
TRAILER = struct.Struct("<4sIQQQ")
TYPES = {1: ("u8", "B"), 2: ("u32", "I"), 3: ("u64", "Q"), 4: ("f32", "f"), 5: ("f64", "d")}
CHUNK_MAX = 1 << 20
PRECISIONS = {1: "single", 2: "double", 3: "mixed"}
PRIMES = (11400714785074694791, 14029467366897019727, 1609587929392839161, 9650029242287828579,
          2870177450012600261)
MASK = (1 << 64) - 1


class Unsound(Exception):
    """What is wrong with the file."""


def rotated(value, by):
    return (value << by | value >> (64 - by)) & MASK


def mixed(lane, word):
    return rotated((lane + word * PRIMES[1]) & MASK, 31) * PRIMES[0] & MASK


def xxh64(data):
    """XXH64 with seed 0, by the specification; the package xxhash is a thousand times as fast."""
    if xxhash:
        return xxhash.xxh64_intdigest(data)
    words = len(data) // 32 * 4
    if words:
        lanes = [PRIMES[0] + PRIMES[1] & MASK, PRIMES[1], 0, -PRIMES[0] & MASK]
        for at, word in enumerate(struct.unpack_from(f"<{words}Q", data)):
            lanes[at % 4] = mixed(lanes[at % 4], word)
        value = sum(rotated(lane, by) for lane, by in zip(lanes, (1, 7, 12, 18))) & MASK
        for lane in lanes:
            value = ((value ^ mixed(0, lane)) * PRIMES[0] + PRIMES[3]) & MASK
    else:
        value = PRIMES[4]
    value = (value + len(data)) & MASK
    at = words * 8
    while at + 8 <= len(data):
        value ^= mixed(0, struct.unpack_from("<Q", data, at)[0])
        value = (rotated(value, 27) * PRIMES[0] + PRIMES[3]) & MASK
        at += 8
    if at + 4 <= len(data):
        value ^= struct.unpack_from("<I", data, at)[0] * PRIMES[0] & MASK
        value = (rotated(value, 23) * PRIMES[1] + PRIMES[2]) & MASK
        at += 4
    for byte in data[at:]:
        value = rotated(value ^ byte * PRIMES[4] & MASK, 11) * PRIMES[0] & MASK
    value = (value ^ value >> 33) * PRIMES[1] & MASK
    value = (value ^ value >> 29) * PRIMES[2] & MASK
    return value ^ value >> 32


def text(field):
    head, nul, padding = field.partition(b"\0")
    if not nul or padding.strip(b"\0"):
        raise Unsound("a name is not padded with zeros")
    if any(not 0x21 <= byte <= 0x7e for byte in head):
        raise Unsound(f"a name has other bytes than printable ASCII: {head!r}")
    return head.decode("ascii")


class Reader:
    """Gives the bytes of a file in order; counts them."""

    def __init__(self, file):
        self.file = file
        self.bytes = 0

    def take(self, count, what):
        data = self.file.read(count)
        self.bytes += len(data)
        if len(data) < count:
            raise Unsound(f"cut off at byte {self.bytes}, within {what}")
        return data


def read_header(reader):
    data = reader.take(HEADER.size, "the header")
    (magic, version, order, size, precision, digest, program, integrator, step, time, dt, nodes,
     springs, faces, bodies, checksum) = HEADER.unpack(data)
    if magic != MAGIC:
        raise Unsound("no checkpoint of taut")
    if checksum != xxh64(data[:-8]):
        raise Unsound("the checksum of the header is wrong")
    if version != 1 or order != 0x01020304 or size != HEADER.size:
        raise Unsound(f"format {version}; this program reads format 1")
    return {"taut": text(program), "precision": PRECISIONS.get(precision, str(precision)),
            "integrator": text(integrator), "digest": f"{digest:016x}", "step": step, "time": time,
            "dt": dt, "nodes": nodes, "springs": springs, "faces": faces, "bodies": bodies}


def read_chunk(reader, head):
    """The array's name and type, its elements and the first of this chunk, the numbers."""
    mark, kind, codec, zero, name, total, first, count, raw, stored, checksum, own = \
        CHUNK.unpack(head)
    if mark != b"CHNK" or own != xxh64(head[:-8]):
        raise Unsound(f"no chunk, or an altered one, before byte {reader.bytes}")
    name = text(name)
    if kind not in TYPES or codec > 1 or zero or raw > CHUNK_MAX or \
            raw != count * struct.calcsize("<" + TYPES[kind][1]) or first + count > total:
        raise Unsound(f"array {name}: a chunk that cannot be")
    what = f"array {name}, elements {first} to {first + count - 1}"
    data = reader.take(stored, what)
    if xxh64(data) != checksum:
        raise Unsound(f"the checksum of {what} is wrong")
    if reader.take(-stored % 8, what).strip(b"\0"):
        raise Unsound(f"the padding of {what} is wrong")
    if codec:
        if not zstandard:
            raise Unsound("it is compressed: install Debian's python3-zstandard")
        data = zstandard.ZstdDecompressor().decompress(data, max_output_size=raw)
    if len(data) != raw:
        raise Unsound(f"{what}: {len(data)} bytes instead of {raw}")
    return name, kind, total, first, data


def read(path):
    """The header, and by name the type and the numbers of each array."""
    arrays = {}
    chunks, last = 0, None
    with open(path, "rb") as file:
        reader = Reader(file)
        header = read_header(reader)
        while True:
            head = reader.take(TRAILER.size, "the trailer")
            if head[:4] == b"TEND":
                break
            head += reader.take(CHUNK.size - TRAILER.size, "a chunk's header")
            name, kind, total, first, data = read_chunk(reader, head)
            if name != last and (first != 0 or name in arrays):
                raise Unsound(f"array {name} does not begin with its first element, or twice")
            numbers = arrays.setdefault(name, (TYPES[kind][0], total, array.array(TYPES[kind][1])))
            if len(numbers[2]) != first or numbers[1] != total:
                raise Unsound(f"array {name} has a gap at element {len(numbers[2])}")
            part = array.array(TYPES[kind][1])
            part.frombytes(data)
            if sys.byteorder != "little":
                part.byteswap()
            numbers[2].extend(part)
            chunks, last = chunks + 1, name
        _, zero, count, size, checksum = TRAILER.unpack(head)
        if checksum != xxh64(head[:-8]) or zero or count != chunks or size != reader.bytes:
            raise Unsound("the trailer is altered")
        if file.read(1):
            raise Unsound("something follows the trailer")
    for name, (_, total, numbers) in arrays.items():
        if len(numbers) != total:
            raise Unsound(f"array {name} ends at element {len(numbers)} of {total}")
    return header, arrays


def print_state(header, arrays):
    digits = 9 if header["precision"] == "single" else 17
    positions, velocities = arrays["positions"][2], arrays["velocities"][2]
    print("body,node,x,y,z,vx,vy,vz")
    at = 0
    for body, nodes in enumerate(arrays["body_nodes"][2]):
        for node in range(nodes):
            row = list(positions[at:at + 3]) + list(velocities[at:at + 3])
            print(f"{body},{node}," + ",".join(f"{value:.{digits}g}" for value in row))
            at += 3


def main(arguments):
    if len(arguments) == 3 and arguments[0] == "--array":
        what, path = arguments[1], arguments[2]
    elif len(arguments) == 2 and arguments[0] == "--state":
        what, path = None, arguments[1]
    elif len(arguments) == 1 and not arguments[0].startswith("-"):
        what, path = "", arguments[0]
    else:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    try:
        header, arrays = read(path)
    except (OSError, Unsound) as error:
        print(f"{path}: {error}", file=sys.stderr)
        return 1
    if what is None:
        print_state(header, arrays)
    elif what:
        if what not in arrays:
            print(f"{path}: no array {what}", file=sys.stderr)
            return 1
        for value in arrays[what][2]:
            print(repr(value))
    else:
        for key, value in header.items():
            print(f"{key}: {value}")
        for name, (kind, total, _) in arrays.items():
            print(f"{name}: {total} {kind}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
