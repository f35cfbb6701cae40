// The scenes that benchmarks run: made here at any size, so that no file is needed and every size
// is the same physics. `taut bench` and bench/ share them.
#ifndef TAUT_CLI_BENCH_SCENES_H
#define TAUT_CLI_BENCH_SCENES_H

#include "scene/scene.h"

enum bench_shape {
    BENCH_ROPE,     // chain and every second node
    BENCH_CLOTH,    // structural, shear and bend: 6 springs a node
    BENCH_JELLY_26, // one shell of neighbours: 13 springs a node
    BENCH_JELLY_52, // two shells: 26 springs a node
    BENCH_BALL,     // an icosphere with gas: 3 springs a node
    BENCH_NETWORK,  // the nodes and springs of BENCH_JELLY_26 as plain lists, in its order
    BENCH_SHUFFLED, // the same, nodes renumbered and springs reordered at random
};

enum bench_trait {
    BENCH_WIND = 1,     // of law face
    BENCH_AIRLESS = 2,  // a ball without its gas
    BENCH_EXTRA = 4,    // measured where --full or its name asks for it, on one instruction set
    BENCH_NO_PLAIN = 8, // not measured on the plain loops: it is compared with others
    BENCH_HOLES = 16,   // a network with a tenth of its springs left out at random
};

struct bench_scene {
    const char *name;
    enum bench_shape shape;
    bool damped;
    uint64_t springs; // about as many; the headline size
    unsigned traits;
    // Neighbours in the table with the same group take turns in the same rounds, so that ratios
    // between them can be paired. NULL: a group of its own.
    const char *group;
};

enum { BENCH_SCENES = 19 };
extern const struct bench_scene bench_scenes[BENCH_SCENES];

// A scene of about `springs` springs (the nearest that the shape can have). NULL with the reason in
// `error`; scene_free after.
taut_scene *bench_scene_make(const struct bench_scene *scene, uint64_t springs,
                             enum precision precision, taut_error *error);

#endif
