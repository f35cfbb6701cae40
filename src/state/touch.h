// What people do to a system while it runs, by no scene: it holds from one step to the next.
#ifndef TAUT_STATE_TOUCH_H
#define TAUT_STATE_TOUCH_H

#include "scene/scene.h"

// A held node that goes with a velocity from where it is; its motion in the scene, if it has one,
// counts no more.
struct lead {
    uint32_t node;
    vec3 position; // m, at the start of the step
    vec3 velocity; // m/s
};

struct leads {
    struct lead *items;
    size_t count, capacity;
};

#endif
