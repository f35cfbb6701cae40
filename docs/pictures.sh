#!/usr/bin/env bash
# Makes docs/pictures again: runs the scenes with the program given (default build/release/taut) and
# draws their frames. PYTHON names a python3 with numpy (default python3).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
taut=${1:-build/release/taut}
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

# picture SCENE [DRAW OPTIONS...]
picture() {
    local scene=$1
    shift
    "$taut" run "scenes/$scene.yaml" --quiet --output "$out/$scene" --set output.vtp=false
    "${PYTHON:-python3}" docs/draw.py "docs/pictures/$scene.png" "$out/$scene" "$@"
    echo "docs/pictures/$scene.png"
}

picture flag --times 0.8,1.6,2.4,3.6 --columns 4 --size 210,150 --view 20,10 \
    --box=0,1.3,-0.3,1.6,2.75,0.3
picture animal --times 0,0.32,0.4,0.6,1.4,3 --columns 6 --size 150,150 --view 25,8 --floor 0 \
    --box=-0.9,0,-0.4,0.9,1.5,0.4
picture jelly-spheres --times 0,0.32,0.48,0.64,1.2,4 --columns 3 --size 280,210 --view 20,20 \
    --floor 0 --sphere=-0.45,0.35,0,0.35 --sphere=0.35,0.3,0.25,0.3 --sphere=0.4,0.2,-0.4,0.2 \
    --box=-1.2,0,-1.2,1.2,1.6,1.2
picture ball-floor --times 0,0.44,0.8,3.6,4,4.6 --columns 6 --size 150,150 --view 15,10 --wire \
    --floor 0 --sphere=-8,1.2,0.1,0.4,2,0,0 --box=-0.8,0,-0.6,0.8,1.7,0.6
picture cloth-stiff --times 0.2,0.5,0.8,1.2,2,5 --columns 3 --size 300,240 --view 30,15 \
    --sphere=0,-0.75,0.5,0.38
picture cloth-links --times 0.24,6 --columns 1 --size 560,180 --view 20,15
picture rope-swung --times 0.8,1.6,2.4,3.2,4,10 --columns 6 --size 150,150 --view 0,0 --floor -1.5
