// Data that the parts of the renderer share while a picture is drawn: the box, the camera and the
// uniform block of all shaders, and the tables in graphics memory. Private to renderer.c and the
// parts that it calls (surfaces, springs, solids, legend); others include renderer.h.
#ifndef TAUT_PICTURE_CONTEXT_H
#define TAUT_PICTURE_CONTEXT_H

#include "picture/gl.h"
#include "picture/renderer.h"
#include "picture/values.h"

// The uniform block `frame` of shaders/common.glsl, std140.
struct frame_block {
    float world_to_clip[16], world_to_shadow[16];
    float eye[4], forward[4], right[4], top[4], light[4], up[4];
    float viewport[4], sky[4], floor_tint[4], scene[4], pixel[4];
};

// One picture: subject, frame, camera and options.
struct render_context {
    const struct subject *subject;
    const struct frame *frame;
    const struct camera *camera;
    const struct render_options *options;
    unsigned layers, framebuffer;
    vec3 low, high;                 // the box of everything drawn except the ground
    double size;                    // its diagonal, m
    double reach;                   // metres that the picture's height covers at the target
    vec3 casters_low, casters_high; // the box of everything that casts shadows; not rooms
    struct frame_block block;
};

// ---- Tables in graphics memory: positions of nodes, ends, kinds and values of springs

struct tables {
    struct gl_table positions; // 3 numbers per node; also a buffer of vertices
    struct gl_table ends;      // 2 nodes per spring
    struct gl_table kinds;     // one per spring
    struct gl_table values;    // one per spring
    GLuint maps;               // a texture with one row per colour map
};

// Binds the tables to their units, and sets the scale of the values in the current program.
void tables_bind(const struct tables *tables, const struct values *values, GLuint program);

#endif
