#include "cli/options_parts.h"

enum {
    RUN = COMMAND_SIMULATES,
    BENCH = COMMAND_MEASURES,
    STUDY = COMMAND_STUDIES,
    RENDER = COMMAND_DRAWS,
    SCENE = COMMAND_READS | RUN | STUDY | RENDER, // every command that is given a scene
    ALL = SCENE | BENCH
};

const struct option_entry option_entries[] = {
    {"scenes", "LIST", KEY_SCENES, BENCH, "only these, e.g. --scenes cloth,jelly26"},
    {"full", NULL, KEY_FULL, BENCH,
     "every scene: also with wind, without gas, larger\nthan the caches; and grids in double "
     "precision"},
    {"threads", "LIST", KEY_THREAD_COUNTS, BENCH,
     "numbers of threads to compare, e.g. --threads\n1,2,4 (default: 1, and the physical cores "
     "that\nthis process may use)"},
    {"seconds", "S", KEY_SECONDS, BENCH,
     "about how long to measure (default: 60, or 150\nwith --full)"},
    {"integrators", "LIST", KEY_INTEGRATORS, STUDY, "only these, e.g. --integrators verlet,rk4"},
    {"map", "NAME", KEY_MAP, STUDY,
     "what the map has beside the step: stiffness,\ndamping, or none (default: stiffness)"},
    {"budget", "S", KEY_BUDGET, STUDY,
     "about how long to measure; of larger scenes runs\nare shortened (default: 30)"},
    {"output", "FILE", KEY_OUTPUT, RENDER,
     "the picture (.png) or film (.mp4, .gif; by ffmpeg)\n(default: out/SCENE-NAME.png)"},
    {"force", NULL, KEY_FORCE, RENDER, "replace that file even if it is something else"},
    {"time", "T[,T...]", KEY_TIME, RENDER,
     "of which time, in s (default: the end); several\nmake a strip, two are where a film begins "
     "and "
     "ends"},
    {"frames", "N", KEY_FRAMES, RENDER, "a strip, or film, of N frames from 0 to the end"},
    {"columns", "N", KEY_COLUMNS, RENDER, "of a strip: frames beside each other"},
    {"fps", "N", KEY_FPS, RENDER,
     "frames a second of a film (default: 30; of a run,\nas many as it has)"},
    {"speed", "X", KEY_SPEED, RENDER, "of a film: simulated seconds a second (default: 1)"},
    {"size", "WxH", KEY_SIZE, RENDER,
     "pixels (default: 1280x720); of a strip, of each\nof its frames (default: 480x360)"},
    {"camera", "A,E[,D]", KEY_CAMERA, RENDER,
     "where the eye is: degrees about the vertical and\nabove the level, metres away (default: all "
     "is seen)"},
    {"look-at", "X,Y,Z", KEY_LOOK_AT, RENDER, "the point in the middle of the picture"},
    {"zoom", "X", KEY_ZOOM, RENDER, "how much larger than fits, e.g. 1.5"},
    {"colour", "NAME", KEY_COLOUR, RENDER, "plain, kind, strain or tension (default: plain)"},
    {"range", "LEAST,MOST", KEY_RANGE, RENDER,
     "ends of the scale of strains or tensions\n(default: those that occur)"},
    {"show", "LIST", KEY_SHOW, RENDER,
     "also: faces, springs, nodes, pins, colliders,\nwind, ground, legend, caption"},
    {"hide", "LIST", KEY_HIDE, RENDER, "leave out, of the same"},
    {"dark", NULL, KEY_DARK, RENDER, "a dark background"},
    {"output", "DIR", KEY_OUTPUT, STUDY,
     "the folder of tables and pictures (default:\nout/SCENE-NAME-stability)"},
    {"output", "DIR", KEY_OUTPUT, RUN, "the folder of the results (default: out/SCENE-NAME)"},
    {"force", NULL, KEY_FORCE, RUN, "replace an earlier run in that folder"},
    {"no-output", NULL, KEY_NO_OUTPUT, RUN, "simulate, and leave no files"},
    {"steps", "N", KEY_STEPS, RUN, "do N steps, whatever the scene says"},
    {"duration", "T", KEY_DURATION, RUN, "simulate T seconds, whatever the scene says"},
    {"state", "FILE", KEY_STATE, RUN, "write the final state to FILE, as CSV"},
    {"hash", NULL, KEY_HASH, RUN, "print the hash of the final state"},
    {"set", "PATH=VALUE", KEY_SET, SCENE,
     "change a key of the scene (repeatable), e.g.\n--set simulation.dt=0.001 or\n"
     "--set bodies.flag.nodes=[500,400]"},
    {"threads", "N", KEY_THREADS, SCENE,
     "threads to use (default: the physical cores that\nthis process may use)"},
    {"no-pin", NULL, KEY_NO_PIN, ALL & ~STUDY,
     "let threads run anywhere, also on machines with\nseveral memory nodes"},
    {"isa", "NAME", KEY_ISA, ALL,
     "instruction set: auto, base, v3 or v4 (default:\nauto, or the environment variable "
     "TAUT_ISA)"},
    {"kernel", "NAME", KEY_KERNEL, ALL,
     "auto, or reference: plain serial loops, the\nbaseline (default: auto)"},
    {"precision", "NAME", KEY_PRECISION, ALL & ~STUDY, "single or double, whatever the scene says"},
    {"strict", NULL, KEY_STRICT, SCENE, "take warnings for errors, e.g. that dt is not stable"},
    {"json", NULL, KEY_JSON, ALL, "print the results as one JSON object"},
    {"quiet", NULL, KEY_QUIET, ALL,
     "no progress and no table: only errors, and what\n--json or --hash ask for"},
    {"help", NULL, KEY_HELP, ALL, "print this and exit"},
    {0},
};

_Static_assert(sizeof option_entries / sizeof option_entries[0] <= OPTION_ENTRIES_MAX + 1,
               "options.c has room for OPTION_ENTRIES_MAX of them");
