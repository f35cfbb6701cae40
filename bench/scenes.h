// The scenes that taut-bench and the comparison with other programs (bench/peers) measure. They are
// built in memory at any size, so that no files are needed and every size has the same physics.
// Scene files are read by subject.c.
#ifndef TAUT_BENCH_SCENES_H
#define TAUT_BENCH_SCENES_H

#include "scene/reader.h"

enum bench_shape {
    BENCH_ROPE,     // chain and every second node
    BENCH_CLOTH,    // structural, shear and bend: 6 springs per node
    BENCH_JELLY_26, // one shell of neighbours: 13 springs per node
    BENCH_JELLY_52, // two shells: 26 springs per node
    BENCH_BALL,     // an icosphere with gas: 3 springs per node
    BENCH_NETWORK,  // the nodes and springs of BENCH_JELLY_26 as plain lists, in its order
    BENCH_SHUFFLED, // the same, nodes renumbered and springs reordered at random
    BENCH_LAYERS,   // ten cloths on top of each other, with contact
};

enum bench_trait {
    BENCH_WIND = 1,      // law: face
    BENCH_AIRLESS = 2,   // a ball without its gas
    BENCH_EXTRA = 4,     // measured only with --full or by name
    BENCH_NO_PLAIN = 8,  // not measured on the reference kernel, but compared with other scenes
    BENCH_HOLES = 16,    // a network with a tenth of its springs left out at random
    BENCH_COLLIDER = 32, // a sphere collider without contacts
    BENCH_CONTACT = 64,  // contact of surfaces
};

struct bench_scene {
    const char *name;
    enum bench_shape shape;
    bool damped;
    uint64_t springs; // the headline size, approximately
    unsigned traits;
};

enum { BENCH_SCENES = 22 };
extern const struct bench_scene bench_scenes[BENCH_SCENES];

// The scene of that name; NULL if there is none.
const struct bench_scene *bench_scene_find(const char *name);

// A scene of about `springs` springs (the nearest number that the shape allows), with overrides as
// for --set. NULL after an error, with the reason in `error`; scene_free must follow.
taut_scene *bench_scene_make(const struct bench_scene *scene, uint64_t springs,
                             const struct scene_override *overrides, size_t override_count,
                             taut_error *error);

#endif
