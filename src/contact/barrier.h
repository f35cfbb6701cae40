// The forces of one contact between surfaces on its four nodes, one contact at a time. Numeric; the
// same operations in the same order as the kernel of barrier_body.h.
#ifndef TAUT_CONTACT_BARRIER_H
#define TAUT_CONTACT_BARRIER_H

#include "contact/distance.h"
#include "contact/surfaces.h"

// Coordinates or forces of the nodes of a block, by axis.
typedef real block_reals[3][SURFACE_NODES];

// The four nodes of a candidate, of two edges or of a node and a triangle: where they are, and the
// forces on the nodes of their blocks.
struct contact_nodes {
    struct point at[4];
    block_reals *forces[4];
    int local[4];
};

static inline void add_force(const struct contact_nodes *nodes, int i, real weight,
                             struct point force)
{
    block_reals *forces = nodes->forces[i];
    const int node = nodes->local[i];
    (*forces)[0][node] += weight * force.x;
    (*forces)[1][node] += weight * force.y;
    (*forces)[2][node] += weight * force.z;
}

// The force of the weight of two edges, which changes as they turn: -psi dm/dx.
static inline void add_turning_force(const struct contact_nodes *nodes, real factor)
{
    const struct point *p = nodes->at;
    const struct point d = point_difference(p[1], p[0]), e = point_difference(p[3], p[2]);
    const real dd = point_dot(d, d), ee = point_dot(e, e), de = point_dot(d, e);
    if (!(dd > 0 && ee > 0))
        return;
    // The square of the sine is 1 - (d.e)^2 / (d.d e.e); factor is -psi times the slope of m.
    const real common = 2 * de / (dd * ee) * factor, by_d = common * de / dd,
               by_e = common * de / ee;
    const struct point on_d = {by_d * d.x - common * e.x, by_d * d.y - common * e.y,
                               by_d * d.z - common * e.z};
    const struct point on_e = {by_e * e.x - common * d.x, by_e * e.y - common * d.y,
                               by_e * e.z - common * d.z};
    add_force(nodes, 0, -1, on_d);
    add_force(nodes, 1, 1, on_d);
    add_force(nodes, 2, -1, on_e);
    add_force(nodes, 3, 1, on_e);
}

// Of points that are `closest`, with `parallel` as in distance.h. Returns whether they touch.
static inline bool add_barrier_force(const struct contact_nodes *nodes,
                                     const struct closest *closest, real parallel,
                                     const struct barrier *barrier)
{
    if (!(closest->square < barrier->reach * barrier->reach) || closest->square == 0)
        return false;
    real slope = 0;
    const real weight = parallel < EDGES_PARALLEL ? edges_weight(parallel, &slope) : 1;
    const real distance = real_sqrt(closest->square);
    const real scale = weight * barrier_force(barrier, distance) / distance;
    const struct point force = {scale * closest->apart.x, scale * closest->apart.y,
                                scale * closest->apart.z};
    for (int i = 0; i < 4; i++)
        add_force(nodes, i, closest->weights[i], force);
    if (slope > 0)
        add_turning_force(nodes, -barrier_energy(barrier, distance) * slope);
    return true;
}

#endif
