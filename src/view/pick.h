// What is under the pointer. Pure functions of what is drawn; nothing here knows of windows.
#ifndef TAUT_VIEW_PICK_H
#define TAUT_VIEW_PICK_H

#include "picture/camera.h"
#include "picture/subject.h"

enum pick_kind { PICK_NOTHING, PICK_SPHERE, PICK_NODE };

struct pick {
    enum pick_kind kind;
    size_t sphere; // of PICK_SPHERE: number of the collider
    uint64_t node; // of PICK_NODE: over all bodies
    vec3 point;    // where it was touched (a sphere), or where it is (a node), m
    double depth;  // of the point along the line of sight, m
};

// What is nearest to the eye at a pixel: a sphere collider, or a node. On a face that is the corner
// nearest to the pointer, elsewhere the node nearest to it within `reach` pixels.
struct pick pick_at(const struct subject *subject, const struct subject_moment *moment,
                    const struct camera *camera, double x, double y, double reach);

// Where the line of sight through a pixel meets the plane through `point` with that normal; false
// where it runs nearly along it.
bool pick_on_plane(const struct camera *camera, double x, double y, vec3 point, vec3 normal,
                   vec3 *place);

// The point of the line through `point` along the unit vector `direction` that is seen nearest to a
// pixel; false where the line is seen nearly end on.
bool pick_on_line(const struct camera *camera, double x, double y, vec3 point, vec3 direction,
                  vec3 *place);

#endif
