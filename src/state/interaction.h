// What people do to a system while it runs, by no scene: it holds from one step to the next.
#ifndef TAUT_STATE_INTERACTION_H
#define TAUT_STATE_INTERACTION_H

#include "scene/scene.h"

// A held node that goes with a velocity from where it is; its motion in the scene, if it has one,
// counts no more.
struct kinematic_target {
    uint32_t node;
    vec3 position; // m, at the start of the step
    vec3 velocity; // m/s
};

struct kinematic_targets {
    struct kinematic_target *items;
    size_t count, capacity;
};

// A spring without rest length from a free node to where the mouse is, with damping
// (integrate/mouse_spring.h).
struct mouse_spring {
    bool pulls;
    bool chosen; // stiffness and damping are ours
    uint32_t node;
    vec3 target;               // m
    double stiffness, damping; // N/m, N s/m
    vec3 start;                // m, where the node was at the start of the step
    vec3 force;                // N, of the last step
};

#endif
