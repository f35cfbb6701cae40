// Axes, projections and fitted distances of a camera (camera.h). Drawing is left to renderer.c.
#include "picture/camera.h"

#include <string.h>

static const double PI = 3.14159265358979323846;

// A parallel projection shows what this field of view shows at the distance of the target.
static const double PARALLEL_FIELD = 30.0;

// The fraction of the picture's half height or width that a fitted box covers.
static const double FITTED = 0.88;

// Straight down or up; the axes are defined there too, since `right` follows from the azimuth
// alone.
static const double ELEVATION_MAX = 90.0;

// The limit for the mouse: beyond it a turn about `up` would look like a roll of the picture.
static const double ELEVATION_TURNED = 89.0;

static double radians(double degrees)
{
    return degrees * PI / 180.0;
}

static vec3 unit(vec3 a, vec3 otherwise)
{
    double length = vec3_length(a);
    return length > 0.0 ? vec3_scale(1.0 / length, a) : otherwise;
}

// The horizontal part of `a`.
static vec3 level(vec3 a, vec3 up)
{
    return vec3_subtract(a, vec3_scale(vec3_dot(a, up), up));
}

// Azimuth 0 looks from +z, the direction in which plane scenes are drawn, or from -y if z is up.
static vec3 front_of(vec3 up)
{
    vec3 front = fabs(up.z) < 0.9 ? vec3_make(0, 0, 1) : vec3_make(0, -1, 0);
    return unit(level(front, up), vec3_make(1, 0, 0));
}

// Half the visible height at distance 1.
static double half_height(const struct camera *camera)
{
    return tan(radians(camera->field > 0.0 ? camera->field : PARALLEL_FIELD) / 2.0);
}

static double aspect(const struct camera *camera)
{
    return camera->height > 0 ? (double)camera->width / camera->height : 1.0;
}

void camera_axes(const struct camera *camera, vec3 *right, vec3 *up, vec3 *forward)
{
    vec3 front = front_of(camera->up);
    vec3 side = vec3_cross(camera->up, front);
    double azimuth = radians(camera->azimuth), elevation = radians(camera->elevation);
    vec3 out = vec3_add(vec3_scale(cos(azimuth), front), vec3_scale(sin(azimuth), side));
    *right = vec3_subtract(vec3_scale(cos(azimuth), side), vec3_scale(sin(azimuth), front));
    *forward = vec3_scale(
        -1.0, vec3_add(vec3_scale(cos(elevation), out), vec3_scale(sin(elevation), camera->up)));
    *up = vec3_cross(*right, *forward);
}

vec3 camera_eye(const struct camera *camera)
{
    vec3 right, up, forward;
    camera_axes(camera, &right, &up, &forward);
    return vec3_subtract(camera->target, vec3_scale(camera->distance, forward));
}

static vec3 corner_of(vec3 low, vec3 high, unsigned corner)
{
    return vec3_make(corner & 1 ? high.x : low.x, corner & 2 ? high.y : low.y,
                     corner & 4 ? high.z : low.z);
}

// The distance of the eye at which all corners are in the picture.
static double distance_for(const struct camera *camera, vec3 low, vec3 high)
{
    vec3 right, up, forward;
    camera_axes(camera, &right, &up, &forward);
    double half = FITTED * half_height(camera), farthest = 0.0;
    for (unsigned i = 0; i < 8; i++) {
        vec3 corner = vec3_subtract(corner_of(low, high, i), camera->target);
        double across = fabs(vec3_dot(corner, right)) / (half * aspect(camera));
        double upwards = fabs(vec3_dot(corner, up)) / half;
        double nearer = camera->field > 0.0 ? vec3_dot(corner, forward) : 0.0;
        farthest = fmax(farthest, fmax(across, upwards) - nearer);
    }
    return farthest;
}

// Moves the target so that the box appears in the middle.
static void centre_on(struct camera *camera, vec3 low, vec3 high)
{
    double left = INFINITY, right = -INFINITY, top = INFINITY, bottom = -INFINITY;
    for (unsigned i = 0; i < 8; i++) {
        double x, y, depth;
        if (!camera_project(camera, corner_of(low, high, i), &x, &y, &depth))
            return;
        left = fmin(left, x);
        right = fmax(right, x);
        top = fmin(top, y);
        bottom = fmax(bottom, y);
    }
    camera_pan(camera, camera->width / 2.0 - (left + right) / 2.0,
               camera->height / 2.0 - (top + bottom) / 2.0);
}

struct camera camera_fit(vec3 low, vec3 high, vec3 up, double azimuth, double elevation,
                         double field, int width, int height)
{
    struct camera camera = {.target = vec3_scale(0.5, vec3_add(low, high)),
                            .up = unit(up, vec3_make(0, 1, 0)),
                            .azimuth = azimuth,
                            .elevation = fmin(fmax(elevation, -ELEVATION_MAX), ELEVATION_MAX),
                            .field = field,
                            .width = width,
                            .height = height};
    double size = vec3_length(vec3_subtract(high, low));
    if (size <= 0.0)
        size = 1.0;
    // Centring changes the fitted distance slightly, which changes the centre.
    for (int round = 0; round < 4; round++) {
        camera.distance = fmax(distance_for(&camera, low, high), 0.05 * size);
        centre_on(&camera, low, high);
    }
    camera.distance = fmax(distance_for(&camera, low, high), 0.05 * size);
    return camera;
}

void camera_angles_for(const struct subject *subject, double *azimuth, double *elevation)
{
    *azimuth = subject->flat ? 0.0 : 32.0;
    *elevation = subject->flat ? 0.0 : 20.0;
}

void camera_turn(struct camera *camera, double right, double down)
{
    // A drag over the picture's height makes half a turn.
    double degrees = 180.0 / fmax(camera->height, 1);
    camera->azimuth = remainder(camera->azimuth - right * degrees, 360.0);
    camera->elevation =
        fmin(fmax(camera->elevation + down * degrees, -ELEVATION_TURNED), ELEVATION_TURNED);
}

void camera_pan(struct camera *camera, double right, double down)
{
    vec3 across, up, forward;
    camera_axes(camera, &across, &up, &forward);
    double pixel = camera_pixel_size(camera, camera->distance);
    camera->target = vec3_add(
        camera->target, vec3_add(vec3_scale(-right * pixel, across), vec3_scale(down * pixel, up)));
}

void camera_zoom(struct camera *camera, double factor)
{
    if (factor > 0.0)
        camera->distance *= factor;
}

double camera_pixel_size(const struct camera *camera, double depth)
{
    double at = camera->field > 0.0 ? depth : camera->distance;
    return 2.0 * at * half_height(camera) / fmax(camera->height, 1);
}

bool camera_project(const struct camera *camera, vec3 point, double *x, double *y, double *depth)
{
    vec3 right, up, forward;
    camera_axes(camera, &right, &up, &forward);
    vec3 from_eye = vec3_subtract(point, camera_eye(camera));
    *depth = vec3_dot(from_eye, forward);
    if (*depth <= 0.0 && camera->field > 0.0)
        return false;
    double pixel = camera_pixel_size(camera, *depth);
    *x = camera->width / 2.0 + vec3_dot(from_eye, right) / pixel;
    *y = camera->height / 2.0 - vec3_dot(from_eye, up) / pixel;
    return *depth > 0.0;
}

struct camera_ray camera_ray_at(const struct camera *camera, double x, double y)
{
    vec3 right, up, forward;
    camera_axes(camera, &right, &up, &forward);
    double pixel = camera_pixel_size(camera, camera->distance);
    vec3 aside = vec3_add(vec3_scale((x - camera->width / 2.0) * pixel, right),
                          vec3_scale((camera->height / 2.0 - y) * pixel, up));
    vec3 eye = camera_eye(camera);
    if (camera->field <= 0.0)
        return (struct camera_ray){.origin = vec3_add(eye, aside), .direction = forward};
    vec3 at = vec3_add(vec3_scale(camera->distance, forward), aside);
    return (struct camera_ray){.origin = eye, .direction = unit(at, forward)};
}

// The range of depths of a box. Depths below a thousandth of the farthest are cut off, since depths
// have 24 bits.
static void depths_of(const struct camera *camera, vec3 low, vec3 high, double *nearest,
                      double *farthest)
{
    vec3 right, up, forward;
    camera_axes(camera, &right, &up, &forward);
    vec3 eye = camera_eye(camera);
    *nearest = INFINITY;
    *farthest = -INFINITY;
    for (unsigned i = 0; i < 8; i++) {
        double depth = vec3_dot(vec3_subtract(corner_of(low, high, i), eye), forward);
        *nearest = fmin(*nearest, depth);
        *farthest = fmax(*farthest, depth);
    }
    double margin = 0.01 * (*farthest - *nearest) + 1e-4 * camera->distance;
    *nearest -= margin;
    *farthest += margin;
    if (camera->field > 0.0) {
        *farthest = fmax(*farthest, 1e-3 * camera->distance);
        *nearest = fmax(*nearest, 1e-3 * *farthest);
    }
}

void camera_matrices(const struct camera *camera, vec3 low, vec3 high, float view[16],
                     float projection[16])
{
    vec3 right, up, forward;
    camera_axes(camera, &right, &up, &forward);
    vec3 eye = camera_eye(camera);
    const vec3 rows[3] = {right, up, vec3_scale(-1.0, forward)};
    for (int row = 0; row < 3; row++) {
        view[row] = (float)rows[row].x;
        view[4 + row] = (float)rows[row].y;
        view[8 + row] = (float)rows[row].z;
        view[12 + row] = (float)-vec3_dot(rows[row], eye);
        view[4 * row + 3] = 0.0f;
    }
    view[15] = 1.0f;

    double nearest, farthest;
    depths_of(camera, low, high, &nearest, &farthest);
    double half = half_height(camera), across = half * aspect(camera);
    memset(projection, 0, 16 * sizeof projection[0]);
    if (camera->field > 0.0) {
        projection[0] = (float)(1.0 / across);
        projection[5] = (float)(1.0 / half);
        projection[10] = (float)(-(farthest + nearest) / (farthest - nearest));
        projection[11] = -1.0f;
        projection[14] = (float)(-2.0 * farthest * nearest / (farthest - nearest));
    } else {
        projection[0] = (float)(1.0 / (across * camera->distance));
        projection[5] = (float)(1.0 / (half * camera->distance));
        projection[10] = (float)(-2.0 / (farthest - nearest));
        projection[14] = (float)(-(farthest + nearest) / (farthest - nearest));
        projection[15] = 1.0f;
    }
}
