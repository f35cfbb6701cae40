// What the parts of the renderer share while one moment is drawn.
#ifndef TAUT_PICTURE_FRAME_H
#define TAUT_PICTURE_FRAME_H

#include "picture/gl.h"
#include "picture/renderer.h"

// The uniform block `frame` of shaders/common.glsl, std140.
struct frame_block {
    float world_to_clip[16], world_to_shadow[16];
    float eye[4], forward[4], right[4], top[4], light[4], up[4];
    float viewport[4], sky[4], floor_tint[4], scene[4], pixel[4];
};

struct frame {
    const struct subject *subject;
    const struct subject_moment *moment;
    const struct camera *camera;
    const struct render_options *options;
    unsigned layers, framebuffer;
    vec3 low, high; // the box of what is drawn, ground aside
    double size;    // its diagonal, m
    double reach;   // metres that the picture\'s height covers where the camera looks
    vec3 casters_low, casters_high; // the box of what casts shadows: rooms aside
    struct frame_block block;
};

// Finds the box of a moment, where the light stands and what the block holds.
void frame_begin(struct frame *frame, const struct subject *subject,
                 const struct subject_moment *moment, const struct camera *camera,
                 const struct render_options *options, unsigned framebuffer);

#endif
