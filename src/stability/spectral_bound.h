// An upper bound on the spectral radius of M^-1 K and of M^-1 C, without any iteration.
//
// Block-diagonal matrices of one 3 x 3 block per node that are nowhere smaller than the tangents K
// and C of the forces: x'Kx <= sum x_i' K_i x_i for every x. The largest eigenvalue of any block
// divided by its mass therefore bounds that of M^-1 K. The contributions to the blocks, and why
// they suffice:
//
//   springs    k (n.(p - q))^2 <= (1 + b/a) k (n.p)^2 + (1 + a/b) k (n.q)^2 for any a, b > 0, or
//              once k (n.p)^2 if q is fixed; across n likewise k (1 - L0/L)+; slack springs
//              count, because they may be taut next
//   gas        with g the gradient of the volume, and u_i = g_i / |g_i|,
//              -dP/dV (sum g_i.x_i)^2 <= -dP/dV sum(|g_i|^2 / m_i) sum m_i (u_i.x_i)^2;
//              and P times its derivative, whose block between corners a and b of a face abc is
//              w x / 6 with w = c - (a + b) / 2: twice p.(w x q) <= |w| (b/a p^2 + a/b q^2), with
//              the parts of p and q across w only. The amount is that of the next check of dt (the
//              final one if there is none), at the present volume
//   wind       c A (n.(p + q + r) / 3)^2 <= c A / 3 (p^2 + q^2 + r^2)
//   elements   elements/elements.h
//   drag, and penalty colliders, at every node, as if it touched all of them (in a room the walls
//              of a corner)
//
// A third matrix is nowhere smaller than -K, which matters if motions grow physically: compressed
// springs across their direction, k (L0/L - 1), without those that may be slack now; gas as above;
// and the curvature of a sphere at the nodes that it touches now.
//
// a and b are positive weights of the nodes (Collatz-Wielandt weights). The bound holds for any
// weights, and is smallest if they are the amplitudes of the fastest oscillation (for a matrix of
// numbers instead of blocks this is the theorem of Collatz and Wielandt). They are 1 for springs in
// rows (springs/springs.h), where that is best, and elsewhere until spectral_bound_reweight has
// improved them.
//
// Numeric: compiled for float and for double.
#ifndef TAUT_STABILITY_SPECTRAL_BOUND_H
#define TAUT_STABILITY_SPECTRAL_BOUND_H

#include <math.h>

#include "stability/limits.h"
#include "state/system.h"

// The upper triangle of a symmetric 3 x 3 matrix: xx, yy, zz, xy, xz, yz.
enum { BLOCK_WIDTH = 6, BOUND_NODES = 512 };

// For nodes first .. first + count - 1, the blocks of K and of C, element by element; and those of
// -K, if requested.
struct bound_blocks {
    size_t first, count;
    real stiffness[BLOCK_WIDTH][BOUND_NODES], damping[BLOCK_WIDTH][BOUND_NODES];
    real negative[BLOCK_WIDTH][BOUND_NODES];
};

struct block {
    double xx, yy, zz, xy, xz, yz;
};

static inline struct block block_at(const real (*blocks)[BOUND_NODES], size_t i)
{
    return (struct block){(double)blocks[0][i], (double)blocks[1][i], (double)blocks[2][i],
                          (double)blocks[3][i], (double)blocks[4][i], (double)blocks[5][i]};
}

// The mean eigenvalue, and the spread of the eigenvalues around it.
static inline double mean_and_spread(const struct block *m, double *spread)
{
    double mean = (m->xx + m->yy + m->zz) / 3;
    double off = m->xy * m->xy + m->xz * m->xz + m->yz * m->yz;
    double dx = m->xx - mean, dy = m->yy - mean, dz = m->zz - mean;
    *spread = sqrt((dx * dx + dy * dy + dz * dz + 2 * off) / 6);
    return mean;
}

// The largest eigenvalue, in closed form (Smith 1961: trigonometric solution of the cubic).
static inline double block_largest(const struct block *m)
{
    double spread, mean = mean_and_spread(m, &spread);
    if (spread == 0)
        return mean;
    double a = (m->xx - mean) / spread, b = (m->yy - mean) / spread, c = (m->zz - mean) / spread;
    double d = m->xy / spread, e = m->xz / spread, f = m->yz / spread;
    double half_determinant = (a * (b * c - f * f) - d * (d * c - f * e) + e * (d * f - b * e)) / 2;
    double cosine = fmax(-1, fmin(1, half_determinant));
    return mean + 2 * spread * cos(acos(cosine) / 3);
}

// The data from which blocks are computed: for nodes whose springs are in no rows the sums over
// these springs; for all nodes the contributions of faces.
struct spectral_bound;

taut_status REAL_NAME(spectral_bound_make)(struct system *system, struct spectral_bound **result,
                                           taut_error *error);
// Called after constants have changed; the next update uses the new ones.
void REAL_NAME(spectral_bound_refresh)(struct spectral_bound *bound);
void REAL_NAME(spectral_bound_free)(struct spectral_bound *bound);
uint64_t REAL_NAME(spectral_bound_bytes)(const struct spectral_bound *bound);

// Where ranks hold only their parts: gets the nodes of others that the bounds of this rank need.
// All workers of all ranks call it together.
void REAL_NAME(spectral_bound_reach)(struct spectral_bound *bound, const struct worker *worker);

// Updates the data to the present state. Ranks that hold only their parts call it together, each
// for the nodes of its chunks. All workers call it together.
void REAL_NAME(spectral_bound_update)(struct spectral_bound *bound, const struct worker *worker);

// Improves the weights of nodes whose springs are in no rows, by one pass over their blocks: nodes
// that allow a smaller step get larger weights. `least` is the step of the form that all nodes
// allow. Updates to the present state. All workers call it together.
void REAL_NAME(spectral_bound_reweight)(struct spectral_bound *bound, const struct step_form *form,
                                        double least, const struct worker *worker);

// Sets whether cliques (bodies in which nearly every node is joined to every other) are treated as
// such, and updates to the present state. False: there are none. All workers call it together.
bool REAL_NAME(spectral_bound_use_cliques)(struct spectral_bound *bound, bool use,
                                           const struct worker *worker);

// Restores the weights before the last pass, or if `all` the initial ones, and updates to the
// present state. All workers call it together.
void REAL_NAME(spectral_bound_restore_weights)(struct spectral_bound *bound, bool all,
                                               const struct worker *worker);

// What a run remembers of the bound, for checkpoints: whether cliques are treated as such, and the
// weight of each node, 1 where all springs are in rows. Any worker may call these; what is set
// counts from the next update on.
bool REAL_NAME(spectral_bound_has_weights)(const struct spectral_bound *bound);
real REAL_NAME(spectral_bound_weight)(const struct spectral_bound *bound, size_t node);
void REAL_NAME(spectral_bound_set_weight)(struct spectral_bound *bound, size_t node, real weight);
// Collects on rank 0 the weights of nodes [cuts[r], cuts[r + 1]) from each rank r. Collective.
void REAL_NAME(spectral_bound_collect_weights)(struct spectral_bound *bound, const uint64_t *cuts);
bool REAL_NAME(spectral_bound_uses_cliques)(const struct spectral_bound *bound);
void REAL_NAME(spectral_bound_set_cliques)(struct spectral_bound *bound, bool use);

// Upper bounds of the row sums of any node's blocks divided by its mass, from the materials of rows
// alone, without visiting any spring. False unless all springs are in rows and nothing acts through
// faces.
bool REAL_NAME(spectral_bound_rough)(const struct spectral_bound *bound, double *stiffness,
                                     double *damping);

// The blocks of nodes first .. first + count - 1, at most BOUND_NODES. Any worker may call it, for
// any nodes of the last update. `negative`: also those of -K.
void REAL_NAME(spectral_bound_blocks)(const struct spectral_bound *bound, size_t first,
                                      size_t count, bool negative, struct bound_blocks *blocks);

#endif
