#!/usr/bin/python3 -B
"""Whole steps over sizes, the volume, and the bandwidth beside it, as a small result file.

    sweep.py TAUT_BENCHMARKS FILE.json [--isa NAME] [--most SPRINGS]

TAUT_BENCHMARKS is the program that bench/ builds (./dev bench --kernels). What is kept of its
result is what bench/compare.py, goals.py and plot.py read: a line for each repetition.
"""
import argparse
import json
import os
import subprocess
import sys

from result_files import BadInput, expecting, parse, script, write

SCENES = "rope|cloth|jelly26|jelly52|ball|shuffled"
REPETITIONS, MIN_TIME = 3, 0.1
KEPT = ("run_name", "run_type", "real_time", "time_unit", "springs", "springs/s", "bytes/s",
        "model_bytes/s", "faces/s", "bytes/spring")


def compact(result):
    """One line a repetition; numbers of 5 digits, which is more than any of them is good for."""
    def short(value):
        if not isinstance(value, float):
            return value
        return int(value) if value.is_integer() else float(f"{value:.5g}")
    rows = [{key: short(row[key]) for key in KEPT if key in row} for row in result["benchmarks"]
            if row.get("run_type") == "iteration" and not row.get("error_occurred")]
    lines = ",\n".join("  " + json.dumps(row) for row in rows)
    context = {key: result["context"][key] for key in ("date", "num_cpus", "mhz_per_cpu")
               if key in result["context"]}
    return f'{{"benchmark": "kernels", "context": {json.dumps(context)},\n "benchmarks": [\n' \
           f"{lines}\n]}}\n"


def failures(result):
    return [f"{row['run_name']}: {row['error_message']}" for row in result["benchmarks"]
            if row.get("error_occurred")]


def measure(program, isa, most):
    sizes = "|".join(str(10 ** n) for n in range(4, 9) if 10 ** n <= most)
    wanted = (f"^(step/({SCENES})|volume/ball)/{isa}/threads:[0-9]+/({sizes})/|"
              f"^bandwidth/")
    command = [program, f"--benchmark_filter={wanted}", "--benchmark_format=json",
               f"--benchmark_repetitions={REPETITIONS}", f"--benchmark_min_time={MIN_TIME}"]
    environment = {**os.environ, "TAUT_BENCH_LARGE": "1"}
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True, env=environment)
    return parse(done.stdout, program)


@script
def main(words):
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("file")
    parser.add_argument("--isa", default="v4")
    parser.add_argument("--most", type=float, default=1e7)
    given = parser.parse_args(words)
    try:
        result = measure(given.program, given.isa, given.most)
    except (OSError, subprocess.CalledProcessError) as error:
        raise BadInput(f"{given.program}: {error}") from error
    with expecting("Google Benchmark", given.program):
        small, failed = compact(result), failures(result)
    for text in failed:
        print(f"sweep.py: {text}", file=sys.stderr)
    write(given.file, small)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
