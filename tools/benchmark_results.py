#!/usr/bin/python3 -B
"""Benchmark results, which the other tools read and write.

    benchmark_results.py convert OLD.json NEW.json

converts a result of the former `taut bench --json`, or of the former taut_benchmarks, into the form
of taut-bench --json, with the present names and counters. Each turn of the old result becomes a
repetition, whose time is that of one step.

The folder bench/results/MACHINE_ISA/ has the results of one machine: always steps.json (taut-bench:
steps of all scenes, and the limits of the machine); sizes.json (steps and the volume over sizes),
scaling.json, peers.json, neighbour.json, billion.json and hashes.json if they were measured.
tools/measure.py measures all of them.
"""
import contextlib
import functools
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile

MILLISECONDS = {"ns": 1e-6, "us": 1e-3, "ms": 1.0, "s": 1e3}
# The fields of a repetition that are kept: the others are constant, or follow from these.
KEPT = ("run_name", "real_time", "time_unit", "label", "springs", "nodes", "spring_updates/s",
        "face_updates/s", "GB/s", "Gflop/s", "bytes/spring", "setup_s", "speedup", "efficiency")


class BadInput(Exception):
    """A file, a folder or a program without a usable result; the message says which and why."""


def script(main):
    """Decorates main(words) of a script: bad input causes one line on standard error and exit
    status 2, not a traceback."""
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
    """Reports errors in the use of a result as "not a result of this kind"."""
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


def write(path, text):
    """Writes a file as a whole or not at all, through a temporary file beside it that has a unique
    name, is created exclusively and is never opened through a link (mkstemp). If the path is a
    link, the file that it leads to is replaced; a device or a pipe is written directly."""
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
            os.fchmod(descriptor, 0o666 & ~mask)  # files of mkstemp are readable by the user alone
            file.write(text)
        os.replace(part, path)
    except BaseException:
        os.unlink(part)
        raise


def write_json(path, result):
    write(path, json.dumps(result, indent=1) + "\n")


class Row:
    """The repetitions of one benchmark."""

    def __init__(self):
        self.milliseconds, self.repetitions = [], []

    def add(self, repetition):
        time = float(repetition["real_time"]) * MILLISECONDS[repetition["time_unit"]]
        if not (time > 0 and math.isfinite(time)):
            raise ValueError(f"{repetition['run_name']}: a time is not above 0")
        self.milliseconds.append(time)
        self.repetitions.append(repetition)

    @property
    def label(self):
        return self.repetitions[0].get("label", "")

    def has(self, counter):
        return counter in self.repetitions[0]

    def all(self, counter):
        return [float(repetition[counter]) for repetition in self.repetitions]

    def best(self, counter):
        """The maximum: for rates, and other values for which more is better."""
        return max(self.all(counter))

    def least(self, counter):
        return min(self.all(counter))

    def median(self, counter):
        return statistics.median(self.all(counter))


class Benchmarks:
    """A result of taut-bench --json: {name: Row}, in the order of the file."""

    def __init__(self, result):
        self.context = result["context"]
        self.rows = {}
        for repetition in result["benchmarks"]:
            if repetition.get("run_type", "iteration") == "iteration" \
                    and not repetition.get("error_occurred"):
                name = repetition.get("run_name") or repetition["name"]
                self.rows.setdefault(name.removesuffix("/manual_time"), Row()).add(repetition)

    def kinds(self, kind, energy_budget=False):
        """(scene, integrator, precision, kernel, threads, springs or None, row) of the benchmarks
        named KIND/SCENE/INTEGRATOR/PRECISION/KERNEL/threads:N, with or without energy_budget,
        in one process."""
        for name, row in self.rows.items():
            parts = name.split("/")
            if ("energy_budget" in parts) != energy_budget or parts[-1].startswith("ranks:"):
                continue
            parts = [part for part in parts if part != "energy_budget"]
            if parts[0] == kind and 6 <= len(parts) <= 7:
                springs = int(parts[6].removeprefix("springs:")) if len(parts) == 7 else None
                yield (*parts[1:5], int(parts[5].removeprefix("threads:")), springs, row)

    def step(self, scene, kernel, threads, precision="single", integrator="symplectic_euler",
             energy_budget=False):
        """The row of whole steps of a scene of default size, or None."""
        return self.rows.get(f"step/{scene}/{integrator}/{precision}/{kernel}/threads:{threads}"
                             + "/energy_budget" * energy_budget)

    def bandwidth(self, kind, threads):
        return self.rows.get(f"bandwidth/{kind}/threads:{threads}")

    def peak(self, isa, threads):
        return self.rows.get(f"peak/{isa}/threads:{threads}")

    @property
    def threads(self):
        return sorted({int(name.split("threads:")[1]) for name in self.rows
                       if name.startswith("peak/")})

    @property
    def isas(self):
        """The instruction sets, from the narrowest to the widest."""
        measured = {name.split("/")[1] for name in self.rows if name.startswith("peak/")}
        return [isa for isa in ("base", "v3", "v4") if isa in measured]

    @property
    def isa(self):
        return self.isas[-1]

    @property
    def scenes(self):
        return list(dict.fromkeys(scene for scene, *_ in self.kinds("step")))


def ratio(above, below, counter="spring_updates/s"):
    """(ratio of the best repetitions, ratio of the medians) of two rows."""
    return above.best(counter) / below.best(counter), above.median(counter) / below.median(counter)


def compact(result):
    """The text of a result of Google Benchmark with one line per repetition and numbers of 6
    digits, more than the accuracy of any of them."""
    def short(value):
        if not isinstance(value, float):
            return value
        return int(value) if value.is_integer() else float(f"{value:.6g}")
    rows = [{key: short(row[key]) for key in KEPT if key in row} for row in result["benchmarks"]
            if row.get("run_type", "iteration") == "iteration" and not row.get("error_occurred")]
    # Repetitions are ordered by their index; the order of the file is random.
    rows.sort(key=lambda row: sort_key(row["run_name"]))
    lines = ",\n".join("  " + json.dumps(row) for row in rows)
    context = {key: value for key, value in result["context"].items()
               if key.startswith(("taut_", "machine", "converted")) or key in ("date", "num_cpus")}
    return f'{{"context": {json.dumps(context, indent=1)},\n "benchmarks": [\n{lines}\n]}}\n'


SCENE_ORDER = ("rope", "cloth", "jelly26", "jelly52", "jelly-large", "ball", "network", "shuffled",
               "holes")
KERNEL_ORDER = ("reference", "base", "v3", "v4")
INTEGRATOR_ORDER = ("symplectic_euler", "velocity_verlet", "verlet", "explicit_euler", "midpoint",
                    "rk4")


def sort_key(name):
    """Steps first, then the order of tables: scenes, precision, kernel, threads, size."""
    parts = name.removesuffix("/manual_time").split("/")
    numbers = [int(part.split(":")[1]) if ":" in part else 0 for part in parts]
    if len(parts) < 6:
        return 1, parts[0], numbers
    scene = next((i for i, known in enumerate(SCENE_ORDER) if parts[1].startswith(known)), 99)
    kernel = KERNEL_ORDER.index(parts[4]) if parts[4] in KERNEL_ORDER else 99
    integrator = INTEGRATOR_ORDER.index(parts[2]) if parts[2] in INTEGRATOR_ORDER else 99
    return (0, parts[0] != "step", parts[0], scene, len(parts[1]), parts[1], integrator,
            parts[3] == "double", kernel, numbers)


# ---- Results of earlier programs


def convert(old):
    """The result of `taut bench --json` or of taut_benchmarks in the form of taut-bench --json."""
    if "results" in old:
        return convert_taut_bench(old)
    if "benchmarks" in old:
        return convert_taut_benchmarks(old)
    raise BadInput("neither a result of taut bench nor of taut_benchmarks")


def convert_taut_bench(old):
    machine, rows = old["machine"], []

    def add(name, times, **counters):
        for number, milliseconds in enumerate(times):
            rows.append({"run_name": name, "real_time": milliseconds, "time_unit": "ms", **{key: value(number) if callable(value) else value
                                               for key, value in counters.items()}})
    for row in old["results"]:
        rates, springs, nodes = (row["spring_updates_per_second"], row["springs"], row["nodes"])
        kernel, threads = row["isa"] or "reference", row["threads"]
        precision = row.get("precision", old["precision"])
        moved = row["model_bytes_per_second"]["best"] / rates["best"] * 1e-9  # GB per spring update
        speeds = rates["repetitions"]
        add(f"step/{row['scene']}/symplectic_euler/{precision}/{kernel}/threads:{threads}",
            [1e3 * springs / speed for speed in speeds], label=row["kernel"], springs=springs,
            nodes=nodes, **{
                "spring_updates/s": lambda n, speeds=speeds: speeds[n],
                "GB/s": lambda n, speeds=speeds, moved=moved: moved * speeds[n],
                "bytes/spring": row["bytes_per_spring"], "setup_s": row["setup_seconds"]})
    for limit in old["limits"]:
        for kind in ("triad", "update", "read"):
            rates = limit[f"{kind}_bytes_per_second"]["repetitions"]
            add(f"bandwidth/{kind}/threads:{limit['threads']}", [1e12 / rate for rate in rates],
                **{"GB/s": lambda n, rates=rates: 1e-9 * rates[n]})
        for isa, peak in limit["single_multiply_add_operations_per_second"].items():
            rates = peak["repetitions"]
            add(f"peak/{isa}/threads:{limit['threads']}", [1e12 / rate for rate in rates],
                **{"Gflop/s": lambda n, rates=rates: 1e-9 * rates[n]})
    context = {"converted_from": "taut bench --json", "machine": machine["name"]}
    for key in ("cores", "logical_processors", "packages", "memory_nodes"):
        context["machine_" + key] = str(machine[key.removesuffix("_processors")])
    for key in ("l1", "l2", "l3"):
        context[f"machine_{key}_bytes"] = str(machine[key])
    for key in ("version", "commit", "compiler", "build", "flags"):
        context["taut_" + key] = old[key]
    return {"context": context, "benchmarks": rows}


RENAMED = {"springs/s": ("spring_updates/s", 1), "nodes/s": ("node_updates/s", 1),
           "faces/s": ("face_updates/s", 1), "bytes/s": ("GB/s", 1e-9),
           "model_bytes/s": ("GB/s", 1e-9)}


def convert_taut_benchmarks(old):
    rows = []
    for row in old["benchmarks"]:
        kind, scene, kernel, threads, springs = row["run_name"].split("/")[:5]
        name = f"bandwidth/triad/{threads}" if kind == "bandwidth" else \
            f"{kind}/{scene}/symplectic_euler/single/{kernel}/{threads}/springs:{springs}"
        new = {"run_name": name}
        for key, value in row.items():
            key, factor = RENAMED.get(key, (key, None))
            new.setdefault(key, value * factor if factor else value)
        rows.append(new)
    return {"context": {"converted_from": "taut_benchmarks", **old["context"]}, "benchmarks": rows}


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
        """(ratio of the best speeds, median of the ratios of each round)"""
        over, under = (row["spring_updates_per_second"]["repetitions"] for row in (above, below))
        return max(over) / max(under), statistics.median(a / b for a, b in zip(over, under))

    def fastest(self, scene, name):
        """The fastest row of that program, with any style and number of threads."""
        rows = [row for row in self.rows(scene) if row["program"].startswith(name)]
        return max(rows, default=None, key=lambda r: r["spring_updates_per_second"]["best"])


def read_benchmarks(folder, name):
    """The result of taut-bench with that name, or None."""
    result = read(folder, name)
    with expecting("taut-bench --json", os.path.join(folder, name + ".json")):
        return Benchmarks(result) if result is not None else None


def read_steps(folder):
    """The result that every folder of results must have."""
    if not os.path.isdir(folder):
        raise BadInput(f"{folder}: no folder of results" + (
            ", but a file; give the folder it is in" if os.path.exists(folder) else ""))
    steps = read_benchmarks(folder, "steps")
    if steps is None:
        raise BadInput(f"{folder}: there is no steps.json in it")
    with expecting("taut-bench --json", os.path.join(folder, "steps.json")):
        steps.context["machine"], steps.isa, steps.scenes  # pylint: disable=pointless-statement
    return steps


@script
def main(words):
    if len(words) != 3 or words[0] != "convert":
        print(__doc__, file=sys.stderr)
        return 2
    with open(words[1], "rb") as file:
        old = parse(file.read(), words[1])
    with expecting("taut bench --json or taut_benchmarks", words[1]):
        text = compact(convert(old))
    write(words[2], text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
