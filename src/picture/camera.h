// The camera of a picture, and the lines of sight through its pixels. Angles are in degrees,
// lengths in metres, pixels from the top left. Needs no OpenGL.
#ifndef TAUT_PICTURE_CAMERA_H
#define TAUT_PICTURE_CAMERA_H

#include "picture/subject.h"

struct camera {
    vec3 target;               // the point at the centre of the picture
    vec3 up;                   // unit
    double azimuth, elevation; // of the eye around the target: about `up`, and above the horizontal
                               // plane
    double distance;           // of the eye from the target
    double field;              // vertical field of view; 0: parallel projection
    int width, height;         // of the picture, pixels
};

// A camera that shows a whole box, seen from (azimuth, elevation).
struct camera camera_fit(vec3 low, vec3 high, vec3 up, double azimuth, double elevation,
                         double field, int width, int height);

// The default angles for a subject: a plane one from the front, others from the side and above.
void camera_angles_for(const struct subject *subject, double *azimuth, double *elevation);

// Turns about the target, for a drag of that many pixels with the left button.
void camera_turn(struct camera *camera, double right, double down);

// Pans in the plane of the screen, so that points at the target's depth follow the pointer.
void camera_pan(struct camera *camera, double right, double down);

// Moves nearer (factor below 1) or farther.
void camera_zoom(struct camera *camera, double factor);

vec3 camera_eye(const struct camera *camera);

// Unit vectors of the picture: to the right, upwards, and from the eye to the target.
void camera_axes(const struct camera *camera, vec3 *right, vec3 *up, vec3 *forward);

// Column-major 4x4 matrices, as OpenGL takes them. The near and far planes enclose a box.
void camera_matrices(const struct camera *camera, vec3 low, vec3 high, float view[16],
                     float projection[16]);

struct camera_ray {
    vec3 origin, direction; // unit
};

// The line of sight through a pixel.
struct camera_ray camera_ray_at(const struct camera *camera, double x, double y);

// The pixel at which a point is seen, and its depth along `forward`; false behind the eye.
bool camera_project(const struct camera *camera, vec3 point, double *x, double *y, double *depth);

// The size of a pixel at that depth, m.
double camera_pixel_size(const struct camera *camera, double depth);

#endif
