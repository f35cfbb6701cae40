"""What the commands print and measure on several ranks, and ranks over a network."""
import json
import os
import re
import signal
import subprocess

from mpi_fixture import (bench, complaints, expect, FOLDER, hash_of, LIMIT, scene, Skipped, SOURCE,
                         start, TAUT)


def case_version_names_mpi():
    text = start(0, "--version").stdout
    expect(re.search(r"^ranks: \S+.* \d+\.\d+", text, re.MULTILINE), text)


def case_rank_0_alone_prints():
    one = start(0, "check", os.path.join(SOURCE, "scenes", "flag.yaml"))
    three = start(3, "check", os.path.join(SOURCE, "scenes", "flag.yaml"))
    expect(three.returncode == 0, three.stderr)
    expect(three.stdout == one.stdout and one.stdout, three.stdout)
    expect(complaints(three.stderr) == complaints(one.stderr), three.stderr)


def case_summary_names_ranks():
    path = scene("summary.yaml", ["cloth"])
    found = start(2, "run", path, "--no-output", "--threads", "1")
    expect(re.search(r"^  ranks      2 on 1 machine, .*by \S+.* \d+\.\d+", found.stdout, re.MULTILINE),
           found.stdout)
    results = json.loads(start(2, "run", path, "--no-output", "--quiet", "--json").stdout)
    expect(results["ranks"] == 2 and results["hosts"] == 1 and results["mpi"], str(results))


def case_info_shows_parts_without_processes():
    path = scene("parts.yaml", ["cloth"])
    found = json.loads(start(0, "info", path, "--json", "--ranks", "4").stdout)
    expect([part["peers"] for part in found["ranks"]] == [1, 2, 2, 1], str(found["ranks"]))
    expect(sum(part["nodes"] for part in found["ranks"]) == 150 * 160, str(found["ranks"]))
    expect(start(4, "info", path).stdout == start(0, "info", path, "--ranks", "4").stdout, "table")


def namespaces_of_tool():
    listed = subprocess.run(["ip", "netns"], text=True, stdout=subprocess.PIPE, check=False).stdout
    return {line.split()[0] for line in listed.splitlines()}


def case_one_hash_over_a_network():
    """Two ranks in two network namespaces; nothing is left of them, also after a signal."""
    tool = os.path.join(SOURCE, "tools", "namespaces.py")
    path = scene("network.yaml", ["cloth"], steps=32)
    found = subprocess.run([tool, TAUT, path, "--rounds", "1", "--json", "network.json"], cwd=FOLDER,
                           text=True, timeout=LIMIT, stdin=subprocess.DEVNULL,
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    if found.returncode == 77:
        raise Skipped(found.stderr.strip())
    expect(found.returncode == 0, found.stdout + found.stderr)
    with open(os.path.join(FOLDER, "network.json"), encoding="utf-8") as file:
        expect(set(json.load(file)["hashes"]) == {hash_of(0, path)}, found.stdout)

    endless = scene("endless.yaml", ["cloth"], steps=100000000)
    before = namespaces_of_tool()
    with subprocess.Popen([tool, TAUT, endless], cwd=FOLDER, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            expect(process.stdout.readline().startswith("link: "), "it has not begun")
            mine = {name for name in namespaces_of_tool() - before if str(process.pid) in name}
            expect(len(mine) == 2, str(mine))
            process.send_signal(signal.SIGTERM)
            _, errors = process.communicate(timeout=30)
        finally:
            process.kill()
    expect(process.returncode == 1 and "SIGTERM" in errors, errors)
    expect(not mine & namespaces_of_tool(), f"left: {mine}")


def case_steps_are_measured_on_several_ranks():
    """Several benchmarks after each other: a body whose parts all have whole, and one in parts."""
    few = ("--threads", "1", "--json", "--benchmark_repetitions=2", "--benchmark_min_time=0.001",
           "--benchmark_min_warmup_time=0")
    code, result, lines = bench(3, "cloth", "ball", "--springs", "30000", *few)
    expect(code == 0 and not lines, f"{code}: {lines}")
    expect(result["context"]["ranks"] == "3" and "MPI" in result["context"]["mpi"],
           str(result["context"]))
    rows = [row for row in result["benchmarks"] if row["run_type"] == "iteration"]
    names = {row["name"] for row in rows}
    expect(len(rows) == 8 and len(names) == 4, str(names))
    for row in rows:
        expect(re.fullmatch(r"step/(cloth|ball)/\w+/single/\w+/threads:1/springs:30000/ranks:3/"
                            "manual_time", row["name"]), row["name"])
        rate = row["node_updates/s"] / row["spring_updates/s"]
        expect(abs(rate * row["springs"] / row["nodes"] - 1) < 1e-6, str(row))
