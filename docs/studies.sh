#!/usr/bin/env bash
# Makes the pictures of docs/choosing.md again: studies scenes with the program given (default
# build/release/taut) and keeps the pictures that the page shows. Takes three minutes, and wants a
# quiet machine: what a study does not get done in its time is missing.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
taut=${1:-build/release/taut}
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

# study SCENE PICTURE...
study() {
    local scene=$1
    shift
    "$taut" stability "scenes/$scene.yaml" --quiet --budget 50 --output "$out/$scene"
    for picture in "$@"; do
        cp "$out/$scene/$picture.svg" "docs/figures/study-$scene-$picture.svg"
        echo "docs/figures/study-$scene-$picture.svg"
    done
}

study rope map limits
study pendulums energy drift
study oscillators convergence work_precision
