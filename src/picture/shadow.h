// Shadows: the depths of what the light sees, and how much of it is covered, blurred.
#ifndef TAUT_PICTURE_SHADOW_H
#define TAUT_PICTURE_SHADOW_H

#include "picture/frame.h"

struct shadow {
    GLuint program, vertices;
    GLuint depths, depths_target;
    GLuint covered[2], covered_target[2]; // blurred along one direction, then along both
};

taut_status shadow_make(struct shadow *shadow, taut_error *error);
void shadow_free(struct shadow *shadow);

// Gives a frame its light's view: `world_to_shadow` and how dark shadows are. `seen` is the block
// to draw what casts shadows with.
void shadow_aim(struct frame *frame, struct frame_block *seen);

// What is drawn between the two is what casts shadows.
void shadow_begin(const struct shadow *shadow);
void shadow_end(const struct shadow *shadow);

void shadow_bind(const struct shadow *shadow);

#endif
