#include "scene/mesh/mesh_polygon.h"

#include <stdbool.h>
#include <string.h>

// Areas below this share of the extent squared are taken for round-off.
static const double FLATNESS = 1e-12;

// Newell's normal: the sum of the cross products of neighbours, twice the area in length. Taken
// about the first corner, so that a far-away polygon loses nothing.
static vec3 newell_normal(const struct polygon_corner *corners, size_t count)
{
    vec3 normal = {0, 0, 0};
    for (size_t i = 1; i + 1 < count; ++i) {
        vec3 a = vec3_subtract(corners[i].position, corners[0].position);
        vec3 b = vec3_subtract(corners[i + 1].position, corners[0].position);
        normal = vec3_add(normal, vec3_cross(a, b));
    }
    return normal;
}

static double extent(const struct polygon_corner *corners, size_t count)
{
    double greatest = 0;
    for (size_t i = 1; i < count; ++i) {
        vec3 d = vec3_subtract(corners[i].position, corners[0].position);
        greatest = fmax(greatest, fmax(fabs(d.x), fmax(fabs(d.y), fabs(d.z))));
    }
    return greatest;
}

// Shifts the polygon to its first corner and scales it to size 1, so that neither a far-away nor a
// huge one overflows or loses its small differences. False where it is a point.
static bool normalise(struct polygon_corner *corners, size_t count)
{
    double size = extent(corners, count);
    if (!(size > 0) || !isfinite(size) || !isfinite(1 / size))
        return false;
    vec3 origin = corners[0].position;
    for (size_t i = 0; i < count; ++i)
        corners[i].position = vec3_scale(1 / size, vec3_subtract(corners[i].position, origin));
    return true;
}

// Places the corners in the plane across `normal`, counter-clockwise.
static void project(struct polygon_corner *corners, size_t count, vec3 normal)
{
    // Any direction that is not along the normal: that of its least component.
    double x = fabs(normal.x), y = fabs(normal.y), z = fabs(normal.z);
    vec3 other = x <= y && x <= z ? vec3_make(1, 0, 0)
                 : y <= z         ? vec3_make(0, 1, 0)
                                  : vec3_make(0, 0, 1);
    vec3 u = vec3_cross(other, normal);
    u = vec3_scale(1 / vec3_length(u), u);
    vec3 v = vec3_cross(normal, u);
    v = vec3_scale(1 / vec3_length(v), v);
    for (size_t i = 0; i < count; ++i) {
        corners[i].u = vec3_dot(corners[i].position, u);
        corners[i].v = vec3_dot(corners[i].position, v);
    }
}

// Twice the signed area of a triangle in the plane.
static double turn(const struct polygon_corner *a, const struct polygon_corner *b,
                   const struct polygon_corner *c)
{
    return (b->u - a->u) * (c->v - a->v) - (b->v - a->v) * (c->u - a->u);
}

// All corners turn left and all triangles of the fan go round the same way: a star that winds twice
// round its middle passes the first test but not the second.
static bool is_strictly_convex(const struct polygon_corner *corners, size_t count)
{
    for (size_t i = 0; i < count; ++i)
        if (!(turn(&corners[i], &corners[(i + 1) % count], &corners[(i + 2) % count]) > FLATNESS))
            return false;
    for (size_t i = 1; i + 1 < count; ++i)
        if (!(turn(&corners[0], &corners[i], &corners[i + 1]) > FLATNESS))
            return false;
    return true;
}

static bool same_place(const struct polygon_corner *a, const struct polygon_corner *b)
{
    return a->u == b->u && a->v == b->v;
}

// Whether corner `tip` can be cut off: it turns left, and no other corner lies in the triangle or
// on its rim (on the rim, cutting would leave a triangle without area or an outline that touches).
static bool is_ear(const struct polygon_corner *corners, size_t count, size_t tip)
{
    const struct polygon_corner *a = &corners[(tip + count - 1) % count];
    const struct polygon_corner *b = &corners[tip];
    const struct polygon_corner *c = &corners[(tip + 1) % count];
    if (!(turn(a, b, c) > FLATNESS))
        return false;
    for (size_t i = 0; i < count; ++i) {
        const struct polygon_corner *p = &corners[i];
        if (same_place(p, a) || same_place(p, b) || same_place(p, c))
            continue;
        if (turn(a, b, p) >= -FLATNESS && turn(b, c, p) >= -FLATNESS && turn(c, a, p) >= -FLATNESS)
            return false;
    }
    return true;
}

static void set_triangle(uint32_t triangle[3], const struct polygon_corner *a,
                         const struct polygon_corner *b, const struct polygon_corner *c)
{
    triangle[0] = a->vertex;
    triangle[1] = b->vertex;
    triangle[2] = c->vertex;
}

static enum polygon_result clip_ears(struct polygon_corner *corners, size_t count,
                                     uint32_t (*triangles)[3])
{
    size_t tip = 0;
    while (count > 3) {
        size_t tried = 0;
        while (tried < count && !is_ear(corners, count, tip % count)) {
            ++tip;
            ++tried;
        }
        if (tried == count)
            return POLYGON_CROSSED;
        tip %= count;
        set_triangle(*triangles++, &corners[(tip + count - 1) % count], &corners[tip],
                     &corners[(tip + 1) % count]);
        memmove(corners + tip, corners + tip + 1, (count - tip - 1) * sizeof *corners);
        --count;
    }
    if (!(turn(&corners[0], &corners[1], &corners[2]) > FLATNESS))
        return POLYGON_CROSSED;
    set_triangle(*triangles, &corners[0], &corners[1], &corners[2]);
    return POLYGON_CUT;
}

enum polygon_result polygon_cut(struct polygon_corner *corners, size_t count,
                                uint32_t (*triangles)[3])
{
    if (!normalise(corners, count))
        return POLYGON_FLAT;
    vec3 normal = newell_normal(corners, count);
    double length = vec3_length(normal);
    if (!(length > FLATNESS))
        return POLYGON_FLAT;
    project(corners, count, vec3_scale(1 / length, normal));
    if (!is_strictly_convex(corners, count)) {
        if (count > POLYGON_CONCAVE_MAX)
            return POLYGON_TOO_LARGE;
        return clip_ears(corners, count, triangles);
    }
    for (size_t i = 1; i + 1 < count; ++i)
        set_triangle(triangles[i - 1], &corners[0], &corners[i], &corners[i + 1]);
    return POLYGON_CUT;
}
