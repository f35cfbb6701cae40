// A cut across the picture: which springs and faces it crosses. Pure; the pointer's path is given
// piece by piece, each against where the nodes are at that time.
#ifndef TAUT_VIEW_STROKE_H
#define TAUT_VIEW_STROKE_H

#include "base/status.h"
#include "picture/camera.h"
#include "picture/subject.h"

// A zeroed struct is a stroke that has not begun.
struct stroke {
    uint8_t *springs, *faces; // of the subject: 1: crossed
    uint64_t spring_count, face_count, node_count;
    float *seen;       // where each node is seen, 2 numbers a node; NAN behind the eye
    double *path;      // the pointer's places so far, 2 numbers each
    size_t path_count; // of places
    size_t path_capacity;
};

taut_status stroke_begin(struct stroke *stroke, const struct subject *subject, double x, double y,
                         taut_error *error);

// Goes on to a pixel; marks what the piece from the last place crosses. False without memory.
bool stroke_to(struct stroke *stroke, const struct subject *subject,
               const struct subject_moment *moment, const struct camera *camera, double x,
               double y);

// The numbers that are marked; the caller frees the list. NULL (and *count 0) where there are none
// or no memory.
uint32_t *stroke_marked(const uint8_t *marks, uint64_t mark_count, size_t *count);

void stroke_end(struct stroke *stroke);

#endif
