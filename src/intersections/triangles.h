// How two triangles in space lie to each other, decided exactly. Only positions matter: corners at
// the same position are common corners, whether they are one node or two (a seam).
#ifndef TAUT_INTERSECTIONS_TRIANGLES_H
#define TAUT_INTERSECTIONS_TRIANGLES_H

#include <stdbool.h>

// The interior of a triangle is the triangle without its edges and corners.
enum triangle_relation {
    TRIANGLES_APART,       // no common point, except for common corners and a common edge
    TRIANGLES_TOUCHING,    // other common points, none of which is inside both
    TRIANGLES_OVERLAPPING, // in one plane, with a common area
    TRIANGLES_CROSSING,    // in two planes, with points that are inside both
};

// Whether the corners lie on a line.
bool triangle_is_degenerate(const double a[3], const double b[3], const double c[3]);

// The corners of two triangles, neither of which is degenerate, with finite coordinates. The order
// of the triangles and of their corners does not matter.
enum triangle_relation triangles_relate(const double *const t[3], const double *const u[3]);

#endif
