#!/usr/bin/env bash
# Draws the figures of docs/choosing.md again: studies scenes with the given program (default
# build/release/taut) and copies the figures that the page shows. It takes three minutes and needs
# an idle machine: measurements that exceed the budget of a study are missing.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
taut=${1:-build/release/taut}
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

# study SCENE FIGURE...
study() {
    local scene=$1
    shift
    "$taut" stability "scenes/$scene.yaml" --quiet --budget 50 --output "$out/$scene"
    for figure in "$@"; do
        cp "$out/$scene/$figure.svg" "docs/figures/study-$scene-$figure.svg"
        echo "docs/figures/study-$scene-$figure.svg"
    done
}

study rope map limits
study pendulums energy drift
study oscillators convergence work_precision
