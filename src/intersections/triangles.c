// Two triangles by orientations of their corners alone (triangles.h). No point of the intersection
// is ever computed, so nothing is rounded.
//
// Triangles in two planes: both planes meet in a line. A triangle with corners strictly on both
// sides of the other's plane meets that line in a segment, which lies inside it but for its ends.
// There are points inside both if and only if the two segments overlap by more than a point, which
// is decided by the order of their ends along the line (Guigue and Devillers, "Fast and robust
// triangle-triangle overlap test using orientation predicates", 2003).
#include "intersections/triangles.h"

#include <stddef.h>

#include "intersections/predicates.h"

// Two coordinates in which a triangle has an area, and the sign of that area.
struct projection {
    int u, v;
    int sign; // 0: the triangle is degenerate
};

static struct projection project(const double a[3], const double b[3], const double c[3])
{
    struct projection projection = {0};
    for (int axis = 0; axis < 3; axis++) {
        projection.u = axis;
        projection.v = (axis + 1) % 3;
        projection.sign = orientation_2d(a, b, c, projection.u, projection.v);
        if (projection.sign != 0)
            break;
    }
    return projection;
}

bool triangle_is_degenerate(const double a[3], const double b[3], const double c[3])
{
    return project(a, b, c).sign == 0;
}

static bool is_same(const double a[3], const double b[3])
{
    return a[0] == b[0] && a[1] == b[1] && a[2] == b[2];
}

// ---- In one plane

// The orientation of three points of the plane, 1 if they turn as the projected triangle does.
static int turn(const double a[3], const double b[3], const double c[3],
                const struct projection *plane)
{
    return plane->sign * orientation_2d(a, b, c, plane->u, plane->v);
}

// Whether a point lies in a triangle, its edges and corners included.
static bool contains(const double *const t[3], const double p[3], const struct projection *plane)
{
    return turn(t[0], t[1], p, plane) >= 0 && turn(t[1], t[2], p, plane) >= 0 &&
           turn(t[2], t[0], p, plane) >= 0;
}

// Whether two segments meet that do not lie on one line.
static bool segments_meet(const double p[3], const double q[3], const double a[3],
                          const double b[3], const struct projection *plane)
{
    const int at_a = turn(p, q, a, plane), at_b = turn(p, q, b, plane);
    const int at_p = turn(a, b, p, plane), at_q = turn(a, b, q, plane);
    return at_a * at_b <= 0 && at_p * at_q <= 0 && (at_a != 0 || at_b != 0);
}

// Whether the segment p q has a point in the triangle other than the common corner (NULL: none).
// The projection is that of the triangle.
static bool segment_meets_in_plane(const double p[3], const double q[3], const double *const t[3],
                                   const double *common, const struct projection *plane)
{
    if (common && is_same(q, common)) {
        const double *other = p;
        p = q;
        q = other;
    }
    if (common && is_same(p, common)) { // it leaves the corner into the triangle, or along an edge
        int corner = 0;
        while (!is_same(t[corner], common))
            corner++;
        return turn(p, t[(corner + 1) % 3], q, plane) >= 0 &&
               turn(p, q, t[(corner + 2) % 3], plane) >= 0;
    }
    if (contains(t, p, plane) || contains(t, q, plane))
        return true;
    for (int i = 0; i < 3; i++)
        if (segments_meet(p, q, t[i], t[(i + 1) % 3], plane))
            return true;
    return false;
}

// Whether the line of an edge of t separates the interiors.
static bool edge_separates(const double *const t[3], const double *const u[3],
                           const struct projection *plane_of_t)
{
    for (int i = 0; i < 3; i++) {
        const double *a = t[i], *b = t[(i + 1) % 3];
        if (turn(a, b, u[0], plane_of_t) <= 0 && turn(a, b, u[1], plane_of_t) <= 0 &&
            turn(a, b, u[2], plane_of_t) <= 0)
            return true;
    }
    return false;
}

// ---- In two planes

// Whether the segment p q has a point in the triangle other than the common corner (NULL: none).
static bool segment_meets(const double p[3], const double q[3], const double *const t[3],
                          const double *common)
{
    const int at_p = orientation_3d(t[0], t[1], t[2], p);
    const int at_q = orientation_3d(t[0], t[1], t[2], q);
    if (at_p * at_q > 0)
        return false;
    if (at_p == 0 && at_q == 0) {
        const struct projection plane = project(t[0], t[1], t[2]);
        return segment_meets_in_plane(p, q, t, common, &plane);
    }
    if (common && ((at_p == 0 && is_same(p, common)) || (at_q == 0 && is_same(q, common))))
        return false; // the corner is its only point in the plane
    int positive = 0, negative = 0;
    for (int i = 0; i < 3; i++) {
        const int side = orientation_3d(p, q, t[i], t[(i + 1) % 3]);
        positive += side > 0;
        negative += side < 0;
    }
    return positive == 0 || negative == 0;
}

static bool any_edge_meets(const double *const t[3], const double *const u[3], const double *common)
{
    for (int i = 0; i < 3; i++)
        if (segment_meets(t[i], t[(i + 1) % 3], u, common) ||
            segment_meets(u[i], u[(i + 1) % 3], t, common))
            return true;
    return false;
}

// The sides of a plane on which the corners of a triangle lie.
struct sides {
    int at[3];
    bool above, below; // some corner
};

static struct sides sides_of(const double *const plane[3], const double *const t[3])
{
    struct sides sides = {.above = false};
    for (int i = 0; i < 3; i++) {
        // A corner of both is in the plane; most pairs of a surface share one.
        const bool common =
            is_same(t[i], plane[0]) || is_same(t[i], plane[1]) || is_same(t[i], plane[2]);
        sides.at[i] = common ? 0 : orientation_3d(plane[0], plane[1], plane[2], t[i]);
        sides.above |= sides.at[i] > 0;
        sides.below |= sides.at[i] < 0;
    }
    return sides;
}

// The corner that is strictly on one side of the plane while no other is: there are corners
// strictly on both sides.
static int lone_corner(const struct sides *sides)
{
    for (int i = 0; i < 3; i++) {
        const int next = sides->at[(i + 1) % 3], last = sides->at[(i + 2) % 3];
        if (sides->at[i] != 0 && sides->at[i] * next <= 0 && sides->at[i] * last <= 0)
            return i;
    }
    return 0; // not reached
}

// Whether the segments in which both triangles meet the line of both planes overlap by more than a
// point. The edges from the lone corners p and q end the segments at X1, X2 and Y1, Y2. The
// orientation of p, a corner at the other end of its edge, q and a corner at the other end of its
// is that of Yj - Xi along the line, or its opposite for all of them: moved along its edge to the
// line, the other corner only scales the determinant by a positive factor. The segments overlap
// if some Yj lies above some Xi and some other below.
static enum triangle_relation compare_segments(const double *const t[3], const struct sides *of_t,
                                               const double *const u[3], const struct sides *of_u,
                                               bool *apart)
{
    const int i = lone_corner(of_t), j = lone_corner(of_u);
    int positive = 0, negative = 0;
    for (int first = 1; first <= 2; first++)
        for (int second = 1; second <= 2; second++) {
            const int order = orientation_3d(t[i], t[(i + first) % 3], u[j], u[(j + second) % 3]);
            positive += order > 0;
            negative += order < 0;
        }
    *apart = positive == 4 || negative == 4;
    return positive > 0 && negative > 0 ? TRIANGLES_CROSSING : TRIANGLES_APART;
}

// ---- Both

// The number of common corners. *common is the last one; other_t and other_u are the sums of the
// numbers of the others, which is the number of the other one if two are common.
static int common_corners(const double *const t[3], const double *const u[3], const double **common,
                          int *other_t, int *other_u)
{
    int count = 0;
    *other_t = *other_u = 3;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            if (is_same(t[i], u[j])) {
                count++;
                *common = t[i];
                *other_t -= i;
                *other_u -= j;
            }
    return count;
}

static enum triangle_relation relate_in_plane(const double *const t[3], const double *const u[3],
                                              const double *common)
{
    const struct projection plane_of_t = project(t[0], t[1], t[2]);
    const struct projection plane_of_u = project(u[0], u[1], u[2]);
    if (!edge_separates(t, u, &plane_of_t) && !edge_separates(u, t, &plane_of_u))
        return TRIANGLES_OVERLAPPING;
    for (int i = 0; i < 3; i++)
        if (segment_meets_in_plane(t[i], t[(i + 1) % 3], u, common, &plane_of_u) ||
            segment_meets_in_plane(u[i], u[(i + 1) % 3], t, common, &plane_of_t))
            return TRIANGLES_TOUCHING;
    return TRIANGLES_APART;
}

// Triangles with a common edge, beside which other_t and other_u are their corners: they have only
// the edge in common, unless one lies folded onto the other.
static enum triangle_relation relate_at_edge(const double *const t[3], int other_t,
                                             const double *const u[3], int other_u)
{
    if (orientation_3d(t[0], t[1], t[2], u[other_u]) != 0)
        return TRIANGLES_APART;
    const struct projection plane = project(t[0], t[1], t[2]);
    const double *a = t[(other_t + 1) % 3], *b = t[(other_t + 2) % 3];
    return turn(a, b, u[other_u], &plane) > 0 ? TRIANGLES_OVERLAPPING : TRIANGLES_APART;
}

enum triangle_relation triangles_relate(const double *const t[3], const double *const u[3])
{
    const double *common = NULL;
    int other_t, other_u;
    const int corners = common_corners(t, u, &common, &other_t, &other_u);
    if (corners == 3)
        return TRIANGLES_OVERLAPPING;
    if (corners == 2)
        return relate_at_edge(t, other_t, u, other_u);

    // In most cases one lies on one side of the other's plane.
    const struct sides of_u = sides_of(t, u);
    const int zeros_of_u = (of_u.at[0] == 0) + (of_u.at[1] == 0) + (of_u.at[2] == 0);
    if (of_u.above != of_u.below && zeros_of_u == corners)
        return TRIANGLES_APART;
    if (!of_u.above && !of_u.below)
        return relate_in_plane(t, u, common);
    const struct sides of_t = sides_of(u, t);
    const int zeros_of_t = (of_t.at[0] == 0) + (of_t.at[1] == 0) + (of_t.at[2] == 0);
    if (of_t.above != of_t.below && zeros_of_t == corners)
        return TRIANGLES_APART;

    if (of_u.above && of_u.below && of_t.above && of_t.below) {
        bool apart;
        const enum triangle_relation relation = compare_segments(t, &of_t, u, &of_u, &apart);
        // With a common corner both segments begin there: they overlap, or share only that.
        if (relation == TRIANGLES_CROSSING || apart || corners == 1)
            return relation;
    }
    return any_edge_meets(t, u, common) ? TRIANGLES_TOUCHING : TRIANGLES_APART;
}
