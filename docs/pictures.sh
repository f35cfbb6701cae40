#!/usr/bin/env bash
# Renders the pictures of the scenes again (./dev pictures): docs/pictures.sh [--output DIR] TAUT
# [NAME...], each of scenes/NAME.yaml into DIR/NAME.png (docs/pictures without --output).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
out=docs/pictures
if [[ ${1:-} == --output ]]; then
    out=$2
    shift 2
fi
taut=$1
shift
wanted=" $* "

# picture NAME OPTION...: renders one picture, if it was requested.
picture() {
    local name=$1
    shift
    [[ $wanted == '  ' || $wanted == *" $name "* ]] || return 0
    "$taut" render "scenes/$name.yaml" --quiet --size 640x400 --output "$out/$name.png" "$@"
    echo "$out/$name.png"
}

strip() {
    local name=$1 columns=$2 size=$3 times=$4
    shift 4
    picture "$name" --columns "$columns" --size "$size" --time "$times" "$@"
}

strip animal 4 220x220 0,0.4,0.6,1.4
strip ball-floor 4 220x220 0,0.44,4,4.6
strip ball-rubber 4 220x220 0,0.3,0.36,0.6
strip bar-vibrates 3 290x160 0,0.79,1.58 --hide legend
strip bungee 5 170x320 0,1.6,3.2,5,7.2
# An hour of computing and a gigabyte of memory: only if it is named. Its film is that of
#     taut render out/cloth-drop-large --output cloth-drop-large.mp4 --camera 30,20 --hide nodes --hide springs
[[ $wanted != *" cloth-drop-large "* ]] ||
    strip cloth-drop-large 3 320x240 0.625,1,2.5 --camera 30,20 --hide nodes --hide springs
picture cloth-large --set simulation.steps=3000 --colour tension
picture cloth-links --camera 12,14
strip cloth-spun 3 290x240 0.7,1.2,3 --hide nodes
strip cloth-stiff 3 290x240 0.3,0.8,5 --camera 70,12
strip cube-soft 4 220x200 0,0.5,0.9,6
strip flag 3 290x220 0.8,2.4,3.6 --zoom 0.9 --hide legend
strip bowl 3 290x240 0,1,2 --hide nodes
strip card-house 3 290x240 0,0.48,0.8 --camera 20,12 --hide nodes
strip cloth-pegs 3 290x240 0,0.3,1.5 --camera 25,4 --zoom 1.3 --hide nodes
strip curtain 3 290x240 0,0.4,1.5 --hide nodes
strip cloth-twisted 3 290x240 0.8,1.8,3.2 --hide nodes
strip cloth-animal 3 290x240 0,0.3,1.6 --hide nodes
strip knot 3 290x200 0,0.5,1.5 --camera 20,25 --zoom 1.6 --hide nodes
strip funnel 3 290x240 0,0.2,0.4 --camera 30,38 --hide nodes
picture gelatine --hide nodes
strip jellies-pile 3 290x240 0,0.3,2 --hide nodes
picture jelly-large --set simulation.steps=400 --colour strain
strip jelly-spheres 3 290x240 0,0.48,0.64,0.8,1.2,4 --camera 150,25
strip jelly-wind 4 200x240 0,0.8,1.6,3 --zoom 0.9 --hide legend
strip oscillators 4 220x200 0,0.3,0.8,9.4
strip pendulum-double 4 220x220 0,1.5,3,6 --camera 25,18
strip pendulums 4 220x160 0,0.5,1,8 --camera 32,18
strip quads 4 220x160 0,0.4,0.8,6
strip ring 4 220x200 0,4,6,40
strip ring-pressure 4 220x200 0,4,8,40
strip rope 4 220x180 0,0.8,1.6,15
strip rope-coils 3 290x240 0.3,0.8,1.5 --hide nodes
strip rope-breaks 3 290x260 0,1.9,2.2 --colour tension --range 0,30 --hide nodes
strip rope-links 4 200x240 0,0.4,1,8 --camera 25,12
strip rope-nylon 3 290x240 0,0.5,10 --hide nodes
strip rope-rigid 4 200x240 0,0.5,1,2
strip rope-swung 4 220x220 0.8,1.6,2.4,10
picture scarf --camera 0,8
strip sheets-ball 3 290x240 0.2,0.5,1 --hide nodes --hide springs
strip shock-absorber 5 170x220 0,0.5,0.7,1.2,10
picture sheet-wind-strong --colour strain --range 0,20
picture sheet-wind-weak --colour strain --range 0,20
strip spring-yields 3 290x220 0,5,15 --colour strain
picture strips --hide nodes
strip tablecloth 3 290x240 0,0.3,2 --hide nodes
strip tablecloth-round 3 290x240 0.2,0.4,2 --camera 30,12 --hide nodes
picture wheel --colour tension --hide nodes
