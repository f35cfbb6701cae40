// Vectors of all nodes by groups of eight. Numeric.
#ifndef TAUT_INTEGRATE_GROUPS_H
#define TAUT_INTEGRATE_GROUPS_H

#include <string.h>

#include "forces/tangent.h"

// All loops process nodes in groups of eight: the eight partial sums of every eighth node are
// independent, and are added in one order whatever the register width.
enum { LANES = 8 };

// The 3 x 3 blocks of a group of nodes: xx, yy, zz, xy, xz, yz.
union block_group {
    real nodes[LANES][6];
    real entries[6][LANES];
};

static inline size_t groups_of(uint64_t nodes)
{
    return ((size_t)nodes + LANES - 1) / LANES;
}

static inline size_t group_end(struct range range)
{
    return groups_of(range.end);
}

// A worker's share of the groups of these nodes, which begin with a group.
static inline struct range group_share(struct range nodes, const struct worker *worker)
{
    const size_t first = nodes.first / LANES;
    const size_t end = nodes.first < nodes.end ? group_end(nodes) : first;
    const struct range share = worker_share(worker, end - first, 2);
    return (struct range){first + share.first, first + share.end};
}

static inline double add_lanes(double lanes[LANES])
{
    for (size_t apart = LANES / 2; apart > 0; apart /= 2)
        for (size_t i = 0; i < apart; i++)
            lanes[i] += lanes[i + apart];
    return lanes[0];
}

// P r of a group.
static inline void precondition(const union block_group *group, const real r[3][LANES],
                                real z[3][LANES])
{
    const real(*b)[LANES] = group->entries;
    for (size_t i = 0; i < LANES; i++)
        z[0][i] = b[0][i] * r[0][i] + b[3][i] * r[1][i] + b[4][i] * r[2][i];
    for (size_t i = 0; i < LANES; i++)
        z[1][i] = b[3][i] * r[0][i] + b[1][i] * r[1][i] + b[5][i] * r[2][i];
    for (size_t i = 0; i < LANES; i++)
        z[2][i] = b[4][i] * r[0][i] + b[5][i] * r[1][i] + b[2][i] * r[2][i];
}

// The vectors of a group.
struct group {
    real v[3][LANES];
};

static inline struct group load(const struct node_vectors *from, size_t g)
{
    struct group group = {{{0}}};
    memcpy(group.v[0], from->x + g * LANES, sizeof group.v[0]);
    memcpy(group.v[1], from->y + g * LANES, sizeof group.v[1]);
    memcpy(group.v[2], from->z + g * LANES, sizeof group.v[2]);
    return group;
}

static inline void store(const struct node_vectors *to, size_t g, const struct group *group)
{
    memcpy(to->x + g * LANES, group->v[0], sizeof group->v[0]);
    memcpy(to->y + g * LANES, group->v[1], sizeof group->v[1]);
    memcpy(to->z + g * LANES, group->v[2], sizeof group->v[2]);
}

// y + a x
static inline struct group add_scaled(struct group y, real a, const struct group *x)
{
    for (size_t c = 0; c < 3; c++)
        for (size_t i = 0; i < LANES; i++)
            y.v[c][i] += a * x->v[c][i];
    return y;
}

static inline void add_products(double lanes[LANES], const struct group *a, const struct group *b)
{
    for (size_t c = 0; c < 3; c++)
        for (size_t i = 0; i < LANES; i++)
            lanes[i] += (double)a->v[c][i] * (double)b->v[c][i];
}

#endif
