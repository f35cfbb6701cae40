// Draws frames of a subject with OpenGL 3.3 core. It needs a current OpenGL context (from canvas.h,
// or of the viewer's window) and does not depend on solvers.
#ifndef TAUT_PICTURE_RENDERER_H
#define TAUT_PICTURE_RENDERER_H

#include "picture/camera.h"
#include "picture/colours.h"
#include "picture/subject.h"

struct render_options {
    unsigned layers; // 0: the default for the subject (renderer_layers_for)
    enum colouring colouring;
    double least, most;   // ends of the colour scale; both 0: those of the frame
    double full_force;    // N, of the longest needles of contacts; 0: chosen for the frame
    bool dark;            // a dark background
    uint64_t springs_max; // draw at most this many, every n-th; 0: chosen by the picture's size
    bool flat_normals;    // on large surfaces: cheaper
    bool caption;         // shows the time, e.g. "t = 1.25 s", in a corner
};

void render_options_default(struct render_options *options);

// The default layers: faces if there are any, springs if there are none (or springs are coloured),
// pins, colliders, wind and ground.
unsigned renderer_layers_for(const struct subject *subject, const struct render_options *options);

struct renderer;

// TAUT_ERROR_UNSUPPORTED if the OpenGL context is too old; the message names its version.
taut_status renderer_make(struct renderer **renderer, taut_error *error);

// Copies the required data of a subject to graphics memory; the subject must live until the next
// one is set.
taut_status renderer_set_subject(struct renderer *renderer, const struct subject *subject,
                                 taut_error *error);

// Draws into a framebuffer object (0: the window's) of the camera's size.
taut_status renderer_draw(struct renderer *renderer, const struct frame *frame,
                          const struct camera *camera, const struct render_options *options,
                          unsigned framebuffer, taut_error *error);

// The colour scale of the last picture, in the unit of its colouring.
void renderer_scale(const struct renderer *renderer, double *least, double *most);

void renderer_free(struct renderer *renderer);

#endif
