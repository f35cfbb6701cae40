"""The files of bench/results/MACHINE_ISA/, as goals.py, table.py and plot.py look at them.

taut_bench.json is there always; peers.json, kernels.json, neighbour.json, billion.json and
hashes.json where they were measured (bench/renew.py measures all).
"""
import contextlib
import functools
import json
import os
import statistics
import subprocess
import sys
import tempfile


class BadInput(Exception):
    """A file, a folder or a program that gives no result; the text says which and why."""


def script(main):
    """Decorates main(words) of a script: bad input is one line on standard error and exit status 2,
    not a traceback."""
    name = os.path.basename(main.__code__.co_filename)

    @functools.wraps(main)
    def checked(words):
        try:
            return main(words)
        except (BadInput, OSError, subprocess.CalledProcessError) as error:
            print(f"{name}: {error}", file=sys.stderr)
            return 2
    return checked


@contextlib.contextmanager
def expecting(what, path):
    """Takes an error in what is done with a result for a result that is not of that kind."""
    try:
        yield
    except (ArithmeticError, AttributeError, LookupError, StopIteration, TypeError,
            ValueError) as error:
        raise BadInput(f"{path}: not a result of {what} ({type(error).__name__}: "
                       f"{error})") from error


def parse(text, path):
    try:
        return json.loads(text)
    except ValueError as error:
        raise BadInput(f"{path}: not JSON: {error}") from error


def read(folder, name):
    """The result of that name, or None."""
    path = os.path.join(folder, name + ".json")
    if not os.path.exists(path):
        return None
    with open(path, "rb") as file:
        return parse(file.read(), path)


def read_taut_bench(folder):
    """The result that every folder of results has."""
    if not os.path.isdir(folder):
        raise BadInput(f"{folder}: no folder of results" + (
            ", but a file; give the folder it is in" if os.path.exists(folder) else ""))
    result = read(folder, "taut_bench")
    if result is None:
        raise BadInput(f"{folder}: there is no taut_bench.json in it")
    with expecting("taut bench --json", os.path.join(folder, "taut_bench.json")):
        return TautBench(result)


def write(path, text):
    """Writes a file whole or not at all, by a temporary file beside it that has a name of its own,
    is created exclusively and is never opened through a link (mkstemp). A link at the path leads
    to the file that is replaced; a device or a pipe is written directly."""
    if os.path.exists(path) and not os.path.isfile(path):
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return
    folder = os.path.dirname(path) or "."
    if os.path.islink(path) and os.lstat(path).st_uid not in (os.geteuid(), os.stat(folder).st_uid):
        raise PermissionError(f"{path} is a symbolic link that another user has made")
    path = os.path.realpath(path)
    descriptor, part = tempfile.mkstemp(".tmp", ".taut-", os.path.dirname(path))
    try:
        with open(descriptor, "w", encoding="utf-8") as file:
            mask = os.umask(0)
            os.umask(mask)
            os.fchmod(descriptor, 0o666 & ~mask)  # mkstemp's are for the user alone
            file.write(text)
        os.replace(part, path)
    except BaseException:
        os.unlink(part)
        raise


def write_json(path, result):
    write(path, json.dumps(result, indent=1) + "\n")


class TautBench:
    """A result of `taut bench --json`."""

    def __init__(self, result):
        self.result = result
        self.rows = {}
        for row in result["results"]:
            kind = row["isa"] or "reference"
            if row.get("precision", result["precision"]) != result["precision"]:
                kind += " " + row["precision"]
            self.rows[row["scene"], kind, row["threads"]] = row
        self.threads = [limit["threads"] for limit in result["limits"]]
        self.isas = list(self.limit(1)["single_multiply_add_operations_per_second"])
        self.isa = self.isas[-1]  # the widest
        self.scenes = list(dict.fromkeys(r["scene"] for r in result["results"]))

    def limit(self, threads):
        return next(limit for limit in self.result["limits"] if limit["threads"] == threads)

    def speeds(self, row):
        return self.rows[row]["spring_updates_per_second"]

    def has(self, *rows):
        return all(row in self.rows for row in rows)

    def ratio(self, above, below):
        """(of the best speeds, of the medians) in steps a second, so of any two scenes."""
        def steps(row, kind):
            return self.speeds(row)[kind] / self.rows[row]["springs"]
        return tuple(steps(above, kind) / steps(below, kind) for kind in ("best", "median"))

    def spring_ratio(self, above, below):
        """The same in springs a second."""
        return tuple(self.speeds(above)[kind] / self.speeds(below)[kind]
                     for kind in ("best", "median"))


class Peers:
    """A result of bench/peers/run.py --json."""

    def __init__(self, result):
        self.result = result
        self.scenes = list(dict.fromkeys(r["scene"] for r in result["results"]))

    def rows(self, scene):
        return [row for row in self.result["results"] if row["scene"] == scene]

    def row(self, scene, program, threads):
        return next((row for row in self.rows(scene)
                     if row["program"] == program and row["threads"] == threads), None)

    @staticmethod
    def ratio(above, below):
        """(of the best speeds, the median of that of each round)"""
        over, under = (row["spring_updates_per_second"]["repetitions"] for row in (above, below))
        return max(over) / max(under), statistics.median(a / b for a, b in zip(over, under))

    def fastest(self, scene, name):
        """That program's fastest row, whatever its style and number of threads."""
        rows = [row for row in self.rows(scene) if row["program"].startswith(name)]
        return max(rows, default=None, key=lambda r: r["spring_updates_per_second"]["best"])


class Kernels:
    """A result of Google Benchmark, compacted by bench/sweep.py: the best of each line."""

    def __init__(self, result):
        self.lines = {}
        for row in result["benchmarks"]:
            name = row["run_name"].removesuffix("/manual_time")
            if name not in self.lines or row["real_time"] < self.lines[name]["real_time"]:
                self.lines[name] = row

    def sizes(self, kind, scene, isa, threads):
        """[(springs wanted, row)] by size."""
        found = []
        for name, row in self.lines.items():
            parts = name.split("/")
            if parts[:4] == [kind, scene, isa, f"threads:{threads}"]:
                found.append((int(parts[4]), row))
        return sorted(found, key=lambda pair: pair[0])
