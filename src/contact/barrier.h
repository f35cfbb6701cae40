// The forces of contacts between two edges without triangles on their four nodes. Numeric.
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

// ---- Edges without triangles
//
// Nothing else acts on these where they are nearly parallel, and the weight m of their closest
// points goes to 0. There each of the four ends counts with (1 - m) / 2 against the other edge, so
// that a node between two edges counts once. Each distance is that of closest points, and the
// energy
//
//     m psi(d of the edges) + (1 - m) / 2 sum of psi(d of an end)
//
// has no jump, nor has its gradient, which is the force: that of each contact, and one that turns
// the edges, as m changes with their angle.

enum { EDGE_CONTACTS = 5 };

struct edge_contacts {
    struct closest closest[EDGE_CONTACTS]; // of the edges, then of the ends
    real weights[EDGE_CONTACTS];
    int count;
    real least;         // m2, the square of the least distance
    real slope;         // dm / d sine^2; 0 of edges that are not nearly parallel
    struct point along; // of both, if they are: of length 1
    struct point edges[2];
};

static inline struct closest between_edges(const struct point at[4], real s, real t)
{
    const struct point d = point_difference(at[1], at[0]), e = point_difference(at[3], at[2]),
                       r = point_difference(at[0], at[2]);
    const struct point apart = point_along(point_along(r, s, d), -t, e);
    return (struct closest){{1 - s, s, t - 1, -t}, apart, point_dot(apart, apart)};
}

static inline struct edge_contacts find_edge_contacts(const struct point at[4])
{
    real parallel;
    struct edge_contacts it = {.count = 1, .weights = {1}};
    it.closest[0] = closest_on_edges(at[0], at[1], at[2], at[3], &parallel);
    it.least = it.closest[0].square;
    if (!(parallel < EDGES_PARALLEL))
        return it;
    const struct point d = point_difference(at[1], at[0]), e = point_difference(at[3], at[2]);
    const real dd = point_dot(d, d), ee = point_dot(e, e);
    const real along_d = dd > 0 ? 1 / real_sqrt(dd) : 0,
               along_e = ee > 0 ? (point_dot(d, e) < 0 ? -1 : 1) / real_sqrt(ee) : 0;
    const struct point both =
        point_along(point_along((struct point){0, 0, 0}, along_d, d), along_e, e);
    const real size = real_sqrt(point_dot(both, both));
    it.along = point_along((struct point){0, 0, 0}, size > 0 ? 1 / size : 0, both);
    it.edges[0] = d;
    it.edges[1] = e;
    it.count = EDGE_CONTACTS;
    it.weights[0] = edges_weight(parallel, &it.slope);
    for (int i = 0; i < 4; i++) {
        const bool first = i < 2;
        const real end = i % 2 == 0 ? 0 : 1;
        const real part = first ? fraction_of(point_dot(e, point_difference(at[i], at[2])), ee)
                                : fraction_of(point_dot(d, point_difference(at[i], at[0])), dd);
        it.closest[1 + i] = between_edges(at, first ? end : part, first ? part : end);
        it.weights[1 + i] = (1 - it.weights[0]) / 2;
        it.least = it.closest[1 + i].square < it.least ? it.closest[1 + i].square : it.least;
    }
    return it;
}

// The closest points of the edges.
static inline struct closest nearest_of(const struct edge_contacts *it)
{
    int i = 0;
    while (it->closest[i].square > it->least)
        i++;
    return it->closest[i];
}

static inline bool edges_touch(const struct closest *closest, const struct barrier *barrier)
{
    return closest->square < barrier->reach * barrier->reach && closest->square > 0;
}

// J, by how much more energy the closest points of the edges have than their ends.
static inline real edges_beyond_ends(const struct edge_contacts *it, const struct barrier *barrier)
{
    real sum = 0;
    for (int i = 0; i < it->count; i++)
        if (edges_touch(&it->closest[i], barrier))
            sum += (i == 0 ? 1 : (real)-0.5) *
                   barrier_energy(barrier, real_sqrt(it->closest[i].square));
    return sum;
}

// One contact with the force of all, about the means of their points: where friction acts. What is
// along the edges is left out of the force, which is 0 where an end meets an end, and the points
// are moved until the offset between them has nothing of it, which would turn with what slides. Its
// energy is 0 where none touches.
struct edges_together {
    real parts[2];
    struct point apart;
    real square, weight, energy;
};

static inline struct edges_together edges_in_one(const struct edge_contacts *it,
                                                 const struct barrier *barrier)
{
    struct edges_together one = {.weight = 0};
    struct point all = {0, 0, 0};
    real sum = 0, energy = 0;
    if (it->count == 1) {
        const struct closest *only = &it->closest[0];
        const real weight = edges_touch(only, barrier) ? 1 : 0;
        return (struct edges_together){
            {only->weights[1], -only->weights[3]}, only->apart, only->square, weight, weight};
    }
    for (int i = 0; i < it->count; i++) {
        const struct closest *closest = &it->closest[i];
        if (!edges_touch(closest, barrier))
            continue;
        const real distance = real_sqrt(closest->square),
                   force = it->weights[i] * barrier_force(barrier, distance);
        all = point_along(all, force / distance, closest->apart);
        one.apart = point_along(one.apart, force, closest->apart);
        one.parts[0] += force * closest->weights[1];
        one.parts[1] -= force * closest->weights[3];
        energy += it->weights[i] * barrier_energy(barrier, distance);
        sum += force;
    }
    const real scale = sum > 0 ? 1 / sum : 0;
    one.apart = (struct point){scale * one.apart.x, scale * one.apart.y, scale * one.apart.z};
    one.parts[0] *= scale;
    one.parts[1] *= scale;
    const real along = point_dot(one.apart, it->along), first = point_dot(it->edges[0], it->along),
               second = point_dot(it->edges[1], it->along);
    const struct point beside = point_along(one.apart, -along, it->along);
    const real least = (real)1e-3 * barrier->reach;
    const bool rubs = point_dot(beside, beside) > least * least && first * second != 0;
    if (rubs) {
        const real s = (real)-0.5 * along / first, t = (real)0.5 * along / second;
        one.apart = point_along(point_along(one.apart, s, it->edges[0]), -t, it->edges[1]);
        one.parts[0] += s;
        one.parts[1] += t;
    }
    all = point_along(all, -point_dot(all, it->along), it->along);
    one.square = point_dot(one.apart, one.apart);
    const real distance = real_sqrt(one.square), unit = barrier_force(barrier, distance),
               unit_energy = barrier_energy(barrier, distance);
    if (!(sum > 0 && one.square > 0 && distance < barrier->reach && unit > 0 && unit_energy > 0))
        return one;
    one.weight = rubs ? real_sqrt(point_dot(all, all)) / unit : 0;
    one.energy = energy / unit_energy;
    return one;
}

// Returns whether some touch.
static inline bool add_edges_force(const struct contact_nodes *nodes,
                                   const struct edge_contacts *it, const struct barrier *barrier)
{
    bool touches = false;
    for (int i = 0; i < it->count; i++) {
        const struct closest *closest = &it->closest[i];
        if (!edges_touch(closest, barrier))
            continue;
        const real distance = real_sqrt(closest->square);
        const real scale = it->weights[i] * barrier_force(barrier, distance) / distance;
        const struct point force = {scale * closest->apart.x, scale * closest->apart.y,
                                    scale * closest->apart.z};
        for (int k = 0; k < 4; k++)
            add_force(nodes, k, closest->weights[k], force);
        touches = true;
    }
    if (touches && it->slope > 0)
        add_turning_force(nodes, -edges_beyond_ends(it, barrier) * it->slope);
    return touches;
}

#endif
