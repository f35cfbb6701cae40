// What is under the pointer, and what a cut across the picture crosses. Pure functions of what is
// drawn, tested without a window; what the mouse does with it is in interaction.c.
#ifndef TAUT_VIEW_PICK_H
#define TAUT_VIEW_PICK_H

#include "base/status.h"
#include "picture/camera.h"
#include "picture/subject.h"

// ---- Picking

enum pick_kind { PICK_NOTHING, PICK_SPHERE, PICK_NODE };

struct pick {
    enum pick_kind kind;
    size_t sphere; // of PICK_SPHERE: number of the collider
    uint64_t node; // of PICK_NODE: over all bodies
    vec3 point;    // on the surface of a sphere, or the position of a node, m
    double depth;  // of the point along the line of sight, m
};

// The nearest thing to the eye at a pixel: a sphere collider or a node. On a face that is the
// corner nearest to the pointer, elsewhere the node nearest to it within `reach` pixels.
struct pick pick_at(const struct subject *subject, const struct frame *frame,
                    const struct camera *camera, double x, double y, double reach);

// The intersection of the line of sight through a pixel with the plane through `point` with that
// normal; false where the line is nearly parallel to the plane.
bool pick_on_plane(const struct camera *camera, double x, double y, vec3 point, vec3 normal,
                   vec3 *position);

// The point of the line through `point` along the unit vector `direction` that is seen nearest to a
// pixel; false where the line is seen nearly end on.
bool pick_on_line(const struct camera *camera, double x, double y, vec3 point, vec3 direction,
                  vec3 *position);

// ---- Cuts: the springs and faces that the pointer's path crosses. The path is given segment by
// segment, each against the positions of nodes at that time.

// A zeroed struct is a stroke that has not begun.
struct stroke {
    uint8_t *springs, *faces; // of the subject: 1: crossed
    uint64_t spring_count, face_count, node_count;
    float *seen;       // each node's position on the screen, 2 numbers; NAN behind the eye
    double *path;      // the pointer's positions so far, 2 numbers each
    size_t path_count; // of positions
    size_t path_capacity;
};

taut_status stroke_begin(struct stroke *stroke, const struct subject *subject, double x, double y,
                         taut_error *error);

// Continues to a pixel; marks what the segment from the last position crosses. False without
// memory.
bool stroke_to(struct stroke *stroke, const struct subject *subject, const struct frame *frame,
               const struct camera *camera, double x, double y);

// The numbers that are marked; the caller frees the list. NULL (and *count 0) where there are none
// or no memory.
uint32_t *stroke_marked(const uint8_t *marks, uint64_t mark_count, size_t *count);

void stroke_end(struct stroke *stroke);

#endif
