// The object under the pointer, and the springs and faces that a cut on the screen crosses. Pure
// functions of subject, frame and camera, tested without a window; interaction.c uses them for the
// mouse.
#ifndef TAUT_VIEW_PICK_H
#define TAUT_VIEW_PICK_H

#include "base/status.h"
#include "picture/camera.h"
#include "picture/subject.h"

// ---- Picking

enum pick_kind { PICK_NOTHING, PICK_COLLIDER, PICK_NODE };

struct pick {
    enum pick_kind kind;
    size_t collider; // PICK_COLLIDER: a sphere or a mesh
    uint64_t node;   // PICK_NODE: number over all bodies
    vec3 point;      // on the surface of the collider, or the position of a node, m
    double depth;    // of the point along the line of sight, m
};

// The object nearest to the eye at a pixel: a sphere or mesh collider or a node. On a face, the
// result is the corner nearest to the pointer, elsewhere the nearest node within `reach` pixels.
struct pick pick_at(const struct subject *subject, const struct frame *frame,
                    const struct camera *camera, double x, double y, double reach);

// The intersection of the line of sight through a pixel with the plane through `point` with that
// normal; false if the line is nearly parallel to the plane.
bool pick_on_plane(const struct camera *camera, double x, double y, vec3 point, vec3 normal,
                   vec3 *position);

// The point of the line through `point` along the unit vector `direction` that appears nearest to a
// pixel; false if the line is seen nearly end on.
bool pick_on_line(const struct camera *camera, double x, double y, vec3 point, vec3 direction,
                  vec3 *position);

// ---- Cuts: the springs and faces that the pointer's path crosses. The path is given segment by
// segment, each against the positions of nodes at that time.

// A zeroed struct is a stroke that has not begun.
struct stroke {
    uint8_t *springs, *faces; // per spring and face of the subject; 1: crossed
    uint64_t spring_count, face_count, node_count;
    float *seen;       // each node's position on the screen, 2 numbers; NAN behind the eye
    double *path;      // the pointer's positions so far, 2 numbers each
    size_t path_count; // of positions
    size_t path_capacity;
};

taut_status stroke_begin(struct stroke *stroke, const struct subject *subject, double x, double y,
                         taut_error *error);

// Continues the stroke to a pixel; marks what the segment from the last position crosses. False if
// memory is short.
bool stroke_to(struct stroke *stroke, const struct subject *subject, const struct frame *frame,
               const struct camera *camera, double x, double y);

// The numbers of the marked elements; the caller frees the list. NULL (and *count 0) if there are
// none, or if memory is short.
uint32_t *stroke_marked(const uint8_t *marks, uint64_t mark_count, size_t *count);

void stroke_end(struct stroke *stroke);

#endif
