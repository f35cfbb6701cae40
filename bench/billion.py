#!/usr/bin/python3 -B
"""A billion springs: a lattice of 342 x 342 x 342 nodes with 52 neighbours, a few steps.

    billion.py TAUT [--side N] [--steps N] [--json FILE]

Prints how many springs there were, how fast they went and the most memory that the process held.
It wants 6 GiB free. Exit status: 0; 2 for wrong usage or a run that fails.
"""
import argparse
import os
import subprocess
import sys
import tempfile

from result_files import BadInput, expecting, parse, script, write_json

SCENE = """\
simulation: {{integrator: symplectic_euler, dt: 0.0002, steps: {steps}}}
environment: {{gravity: [0, -9.81, 0]}}
output: {{every_steps: 1000000, work: false}}
bodies:
  - {{name: jelly, type: lattice, nodes: [{side}, {side}, {side}], spacing: 0.05, node_mass: 0.002,
     shells: 2, pins: [bottom], damping: 0.05,
     springs: {{k1: {{stiffness: 300}}, k2: {{stiffness: 240}}, k3: {{stiffness: 180}},
               kb1: {{stiffness: 60}}, kb2: {{stiffness: 48}}, kb3: {{stiffness: 36}}}}}}
"""
KEPT = ("nodes", "springs", "steps", "threads", "isa", "precision", "setup_seconds",
        "step_seconds", "spring_updates_per_second", "bytes", "peak_rss_bytes", "hash")


@script
def main(words):
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("taut")
    parser.add_argument("--side", type=int, default=342)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--json", metavar="FILE")
    given = parser.parse_args(words)
    with tempfile.TemporaryDirectory() as folder:
        scene = os.path.join(folder, "billion.yaml")
        with open(scene, "w", encoding="ascii") as file:
            file.write(SCENE.format(side=given.side, steps=given.steps))
        try:
            done = subprocess.run([given.taut, "run", scene, "--no-output", "--json", "--quiet"],
                                  capture_output=True, text=True, check=False)
            if done.returncode != 0:
                print(f"billion.py: {done.stderr.strip() or done.returncode}", file=sys.stderr)
                return 2
            result = parse(done.stdout, given.taut)
        except OSError as error:
            raise BadInput(f"{given.taut}: {error}") from error
    with expecting("taut run --json", given.taut):
        text = told(result)
        kept = {key: result[key] for key in KEPT}
    print(text)
    if given.json:
        write_json(given.json, kept)
    return 0


def told(result):
    return (f"{result['springs']:,} springs, {result['nodes']:,} nodes, {result['threads']} threads, "
            f"{result['isa']}: set-up {result['setup_seconds']:.1f} s, {result['steps']} steps "
            f"{result['step_seconds']:.1f} s, {result['spring_updates_per_second'] / 1e6:,.0f} "
            f"million springs/s,\nmost memory held {result['peak_rss_bytes'] / 2 ** 30:.2f} GiB")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
