#!/usr/bin/python3 -B
"""tools/rank_model.py: parts and messages are those of the program, each term of the time follows
its formula, and the tables of docs/ranks.md are those that it prints.

usage: test_rank_model.py TAUT"""
import contextlib
import io
import json
import math
import os
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
sys.path.insert(0, os.path.join(ROOT, "tools"))
import rank_model  # pylint: disable=wrong-import-position
from rank_model import Body, Machine  # pylint: disable=wrong-import-position

FREE = Machine(1e-9, 0, math.inf, math.inf)  # messages cost nothing
CLOTH = Body("cloth", 1000, 64000, **rank_model.CLOTH)
LATTICE = Body("lattice", 200, 200, 400, **rank_model.LATTICE)


def near(a, b):
    assert abs(a - b) <= 1e-12 * max(abs(a), abs(b)), (a, b)


def output_of(*words):
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        code = rank_model.main(list(words))
    return code, printed.getvalue()


def parts_are_those_of_the_program(taut):
    code, printed = output_of("--check", taut)
    assert code == 0 and printed.count("equal") == len(rank_model.CHECKED), printed


def parts_end_at_tiles():
    for body in (CLOTH, LATTICE):
        rows, tiles = body.rows()[:2]
        ends = {t * rows // tiles for t in range(tiles + 1)}
        for ranks in (1, 2, 7, tiles, tiles + 3):
            cuts = rank_model.parts_of(body, ranks)
            assert cuts == sorted(cuts) and cuts[0] == 0 and cuts[-1] == rows, cuts
            assert len(cuts) == ranks + 1 and ends.issuperset(cuts), cuts


def free_messages_leave_the_imbalance():
    near(rank_model.step(CLOTH, FREE, 1)["efficiency"], 1)
    cuts = rank_model.parts_of(CLOTH, 48)
    most = max(end - first for first, end in zip(cuts, cuts[1:]))
    near(rank_model.step(CLOTH, FREE, 48)["efficiency"], CLOTH.ny / (48 * most))
    tiles = LATTICE.rows()[1]
    found = rank_model.step(LATTICE, FREE, 10 * tiles)
    assert found["busy_ranks"] == tiles, found
    assert found["efficiency"] <= 0.1, found


def tiles_inside_hide_messages():
    near(rank_model.exposed(5, 3), 2)
    assert rank_model.exposed(3, 5) == 0
    rows, tiles, nodes, _ = LATTICE.rows()
    each = rows // tiles
    machine = Machine(1e-9, 1e-3, 1e9, math.inf)
    halo = 1e-3 + 24 * (200 * 200 + 2) / 1e9
    contributions = 1e-3 + 12 * 200 * (200 + 2 * LATTICE.tiles()[0]) / 1e9
    # One layer of tiles hides nothing, nine of ten hide half of their time of each.
    _, messages, _ = rank_model.part_seconds(LATTICE, machine, each, tiles)
    near(messages, halo + contributions)
    computing, messages, _ = rank_model.part_seconds(LATTICE, machine, 10 * each, tiles)
    near(computing, 10 * each * nodes * 1e-9)
    near(messages, sum(max(0, m - 0.45 * computing) for m in (halo, contributions)))
    # Two ends that read and write 24 bytes for each node of the halo, 12 for each contribution.
    machine = Machine(1e-9, 0, math.inf, 1e9)
    copies = rank_model.part_seconds(CLOTH, machine, 64, 8)[2]
    near(copies, 4 * (24 * 2002 + 12 * 2000) / 1e9)


def threads_claim_whole_tiles():
    machine = Machine(1e-9, 0, math.inf, math.inf, 4)
    rows, tiles, nodes, _ = CLOTH.rows()
    each = rows // tiles
    computing = rank_model.part_seconds(CLOTH, machine, 5 * each, 2)[0]
    near(computing, 2 * each * nodes * 1e-9)


def sums_take_a_tree_and_all_chunks():
    waits = Machine(1e-9, 1e-6, math.inf, math.inf)
    two, many = (rank_model.sums_seconds(CLOTH, waits, ranks) for ranks in (2, 1024))
    near(many - two, 9e-6)
    assert rank_model.sums_seconds(CLOTH, waits, 1) == 0
    sends = Machine(1e-9, 0, 1e9, math.inf)
    near(rank_model.sums_seconds(CLOTH, sends, 8),
         (4095 * 36 + 64 * CLOTH.nodes / 4096) / 1e9)
    near(rank_model.sums_seconds(CLOTH, sends, 8, budget=True) -
         rank_model.sums_seconds(CLOTH, sends, 8), 2 * 16 * 96 * CLOTH.tiles()[0] / 1e9)


def many_sums_are_added_in_groups():
    waits = Machine(1e-9, 1e-6, math.inf, math.inf)
    sends = Machine(1e-9, 0, 1e9, math.inf)
    huge = Body("cloth", 10 ** 6, 2 * 10 ** 5, **rank_model.CLOTH)
    chunks = math.ceil(huge.nodes / 4096)
    assert chunks > 24 * 1024 >= CLOTH.nodes / 4096
    # A group of chunks is completed by 1,024 / (chunks of a rank) others.
    near(rank_model.sums_seconds(huge, waits, 1024),
         (1 + math.ceil(1024 * 1024 / chunks) + 10) * 1e-6)
    near(rank_model.sums_seconds(huge, sends, 1024),
         (4095 * 36 + 65536 + 64 * math.ceil(chunks / 1024)) / 1e9)
    parts = 2 * huge.tiles()[0]
    assert parts > 24 * 1024
    near(rank_model.sums_seconds(huge, sends, 8, budget=True) -
         rank_model.sums_seconds(huge, sends, 8),
         16 * 48 * (1024 + math.ceil(parts / 1024)) / 1e9)
    # In one level all ranks get all sums: more bytes than an int counts from one after another.
    near(rank_model.sums_seconds(huge, waits, 1024, one_level=True), 1e-6 + 1024 * 10 * 1e-6)


def slower_networks_are_slower():
    found = [json.loads(output_of("--json", "--network", name)[1])["weak"]
             for name in ("cluster", "gigabit")]
    for shape in rank_model.SHAPES:
        for rows in zip(*(tables[shape] for tables in found)):
            times = [row["step"] for row in rows]
            assert times == sorted(times), (shape, rows)


def tables_of_the_page_are_current():
    with open(os.path.join(ROOT, "docs", "ranks.md"), encoding="utf-8") as file:
        page = file.read()
    code, printed = output_of("--docs")
    assert code == 0, printed
    tables = printed.strip().split("\n\n")[1::2]
    assert len(tables) >= 4
    for table in tables:
        assert table in page, f"docs/ranks.md lacks this table of rank_model.py --docs:\n{table}"
    seconds, read_bandwidth = rank_model.measured(rank_model.RESULTS)
    for value in (f"{seconds['square'] * 1e9:.2f} ns", f"{seconds['cube'] * 1e9:.2f} ns",
                  f"{read_bandwidth * 1e-9:.1f} GB/s"):
        assert f" {value} " in page, f"docs/ranks.md lacks the measured {value}"


def bad_input_is_one_line(folder="/nonexistent"):
    for words in (["--threads", "0"], ["--bandwidth", "0"], ["--latency", "-1"],
                  ["--results", folder]):
        code, printed = output_of(*words)
        assert code == 2 and len(printed.splitlines()) == 1, printed


def main():
    parts_are_those_of_the_program(sys.argv[1])
    parts_end_at_tiles()
    free_messages_leave_the_imbalance()
    tiles_inside_hide_messages()
    threads_claim_whole_tiles()
    sums_take_a_tree_and_all_chunks()
    many_sums_are_added_in_groups()
    slower_networks_are_slower()
    tables_of_the_page_are_current()
    bad_input_is_one_line()
    return 0


if __name__ == "__main__":
    sys.exit(main())
