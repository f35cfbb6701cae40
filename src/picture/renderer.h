// Draws frames of a subject with OpenGL 3.3 core. It needs a current OpenGL context (canvas.h makes
// one without a window; the viewer's window has another) and knows nothing of solvers.
#ifndef TAUT_PICTURE_RENDERER_H
#define TAUT_PICTURE_RENDERER_H

#include "picture/camera.h"
#include "picture/colours.h"
#include "picture/subject.h"

struct render_options {
    unsigned layers; // 0: what suits the subject (renderer_layers_for)
    enum colouring colouring;
    double least, most;    // ends of the colour scale; both 0: those of the frame
    bool dark;             // a dark background
    uint64_t springs_most; // draw at most this many, every n-th; 0: chosen by the picture's size
    bool flat_normals;     // of large surfaces: cheaper
    bool caption;          // with time, e.g. "t = 1.25 s", in a corner
};

void render_options_default(struct render_options *options);

// Faces where there are any, springs where there are none (or they are coloured), pins, colliders,
// wind and ground.
unsigned renderer_layers_for(const struct subject *subject, const struct render_options *options);

struct renderer;

// TAUT_ERROR_UNSUPPORTED where the OpenGL context is too old; the message names it.
taut_status renderer_make(struct renderer **renderer, taut_error *error);

// Copies what it needs of a subject to the graphics side; the subject must live until the next one
// is set.
taut_status renderer_set_subject(struct renderer *renderer, const struct subject *subject,
                                 taut_error *error);

// Draws into the given framebuffer object (0: the window's), of the camera's size.
taut_status renderer_draw(struct renderer *renderer, const struct frame *frame,
                          const struct camera *camera, const struct render_options *options,
                          unsigned framebuffer, taut_error *error);

// The colour scale of the last picture, in the unit of its colouring.
void renderer_scale(const struct renderer *renderer, double *least, double *most);

void renderer_free(struct renderer *renderer);

#endif
