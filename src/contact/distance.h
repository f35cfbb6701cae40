// The closest points of a node and a triangle, and of two edges, and the barrier between them
// (docs/numerics.md, contact of surfaces). Numeric: compiled for float and for double; the same
// operations in the same order everywhere, so that results do not depend on the machine.
#ifndef TAUT_CONTACT_DISTANCE_H
#define TAUT_CONTACT_DISTANCE_H

#include <stdbool.h>

#include "base/real.h"

struct point {
    real x, y, z;
};

static inline struct point point_difference(struct point a, struct point b)
{
    return (struct point){a.x - b.x, a.y - b.y, a.z - b.z};
}

// a + s d
static inline struct point point_along(struct point a, real s, struct point d)
{
    return (struct point){a.x + s * d.x, a.y + s * d.y, a.z + s * d.z};
}

static inline real point_dot(struct point a, struct point b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static inline struct point point_cross(struct point a, struct point b)
{
    return (struct point){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

// Two points of surfaces that are closest to each other: each is a sum of nodes, and `apart`, from
// the second to the first, is the sum of all four with these weights, those of the second negative.
struct closest {
    real weights[4];
    struct point apart; // m
    real square;        // m2, of the distance
};

// a / b within [0, 1]; 0 for a point instead of a line.
static inline real fraction_of(real a, real b)
{
    const real part = b > 0 ? a / b : 0;
    return part < 0 ? 0 : part > 1 ? 1 : part;
}

// The closest points of a node p and a triangle a + v ab + w ac: inside the triangle where p
// projects into it, otherwise on the nearest of its sides.
static inline struct closest closest_on_triangle(struct point p, struct point a, struct point b,
                                                 struct point c)
{
    const struct point ab = point_difference(b, a), ac = point_difference(c, a),
                       bc = point_difference(c, b), ap = point_difference(p, a),
                       bp = point_difference(p, b);
    const real bb = point_dot(ab, ab), cc = point_dot(ac, ac), bc_dot = point_dot(ab, ac);
    const real along_b = point_dot(ab, ap), along_c = point_dot(ac, ap);
    const real determinant = bb * cc - bc_dot * bc_dot;
    real v = cc * along_b - bc_dot * along_c, w = bb * along_c - bc_dot * along_b;
    if (determinant > 0 && v >= 0 && w >= 0 && v + w <= determinant) {
        v /= determinant;
        w /= determinant;
    } else {
        const real on_ab = fraction_of(along_b, bb), on_ac = fraction_of(along_c, cc),
                   on_bc = fraction_of(point_dot(bc, bp), point_dot(bc, bc));
        const struct point from_ab = point_along(ap, -on_ab, ab),
                           from_ac = point_along(ap, -on_ac, ac),
                           from_bc = point_along(bp, -on_bc, bc);
        real least = point_dot(from_ab, from_ab);
        v = on_ab;
        w = 0;
        if (point_dot(from_ac, from_ac) < least) {
            least = point_dot(from_ac, from_ac);
            v = 0;
            w = on_ac;
        }
        if (point_dot(from_bc, from_bc) < least) {
            v = 1 - on_bc;
            w = on_bc;
        }
    }
    const struct point apart = point_along(point_along(ap, -v, ab), -w, ac);
    return (struct closest){{1, v + w - 1, -v, -w}, apart, point_dot(apart, apart)};
}

// The edges p + s d and q + t e, with s known.
static inline void find_other_end(real s, real along_q, real de, real ee, real along_p, real dd,
                                  real *found_s, real *found_t)
{
    // The nearest t to this s, and then the nearest s to that t.
    *found_t = fraction_of(de * s + along_q, ee);
    *found_s = dd > 0 ? fraction_of(de * *found_t - along_p, dd) : s;
}

// The closest points of two edges p + s d and q + t e. `parallel` is the square of the sine of
// their angle: below EDGES_PARALLEL the closest points move along the edges by more than the edges
// turn.
static const real EDGES_PARALLEL = (real)1e-3;

// The weight of the contact of two edges, from 0 of parallel ones to 1: where the closest points
// jump, the contact has no force (Li et al. 2020, the mollifier of incremental potential contact),
// and nodes and triangles keep the surfaces apart. `slope` is its derivative by `parallel`.
static inline real edges_weight(real parallel, real *slope)
{
    const real x = parallel / EDGES_PARALLEL;
    *slope = x < 1 ? (2 - 2 * x) / EDGES_PARALLEL : 0;
    return x < 1 ? x * (2 - x) : 1;
}

static inline struct closest closest_on_edges(struct point p, struct point p1, struct point q,
                                              struct point q1, real *parallel)
{
    const struct point d = point_difference(p1, p), e = point_difference(q1, q),
                       r = point_difference(p, q);
    const real dd = point_dot(d, d), ee = point_dot(e, e), de = point_dot(d, e);
    const real along_p = point_dot(d, r), along_q = point_dot(e, r);
    const real product = dd * ee, determinant = product - de * de;
    real sine = product > 0 ? determinant / product : 0;
    if (sine < 0)
        sine = 0;
    *parallel = sine;
    real s, t;
    // In single precision the determinant of nearly parallel edges is rounding: both ends are
    // tried.
    if (sine > (real)1e-5) {
        find_other_end(fraction_of(de * along_q - along_p * ee, determinant), along_q, de, ee,
                       along_p, dd, &s, &t);
    } else {
        real s1, t1;
        find_other_end(0, along_q, de, ee, along_p, dd, &s, &t);
        find_other_end(1, along_q, de, ee, along_p, dd, &s1, &t1);
        const struct point from = point_along(point_along(r, s, d), -t, e),
                           from1 = point_along(point_along(r, s1, d), -t1, e);
        if (point_dot(from1, from1) < point_dot(from, from)) {
            s = s1;
            t = t1;
        }
    }
    const struct point apart = point_along(point_along(r, s, d), -t, e);
    return (struct closest){{1 - s, s, t - 1, -t}, apart, point_dot(apart, apart)};
}

// ---- The barrier
//
// Between surfaces whose gap g, the distance beyond the thickness, is below g0:
// psi = 2/3 k/g0 (g0 - g)^3, and with the curvature 4 k, which it has at g = 0, for g < 0. So the
// curvature is at most 4 k.

struct barrier {
    real reach;     // m, the thickness and g0: no force beyond
    real depth;     // m, g0
    real stiffness; // N/m, k
};

// N, of a distance below the reach; and its energy, J.
static inline real barrier_force(const struct barrier *barrier, real distance)
{
    const real s = barrier->reach - distance, more = s - barrier->depth;
    if (more > 0)
        return 2 * barrier->stiffness * barrier->depth + 4 * barrier->stiffness * more;
    return 2 * barrier->stiffness / barrier->depth * s * s;
}

static inline real barrier_energy(const struct barrier *barrier, real distance)
{
    const real s = barrier->reach - distance, more = s - barrier->depth, k = barrier->stiffness;
    if (more > 0)
        return (real)(2.0 / 3) * k * barrier->depth * barrier->depth +
               2 * k * barrier->depth * more + 2 * k * more * more;
    return (real)(2.0 / 3) * k / barrier->depth * s * s * s;
}

#endif
