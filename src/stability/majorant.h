// Matrices of 3 x 3 blocks, one a node, that are nowhere less than the tangents K and C of the
// forces: x'Kx <= sum x_i' K_i x_i for every x. So the largest eigenvalue of any block over its
// mass bounds that of M^-1 K. What is in them, and why it is enough:
//
//   springs    k (n.(p - q))^2 <= (1 + b/a) k (n.p)^2 + (1 + a/b) k (n.q)^2 for any a, b > 0, or
//              once k (n.p)^2 where q is fixed; across n likewise k (1 - L0/L)+; slack springs
//              count, for they may be taut next
//   gas        with g the gradient of the volume, and u_i = g_i / |g_i|,
//              -dP/dV (sum g_i.x_i)^2 <= -dP/dV sum(|g_i|^2 / m_i) sum m_i (u_i.x_i)^2;
//              and P times its derivative, whose block between corners a and b of a face abc is
//              w x / 6 with w = c - (a + b) / 2: twice p.(w x q) <= |w| (b/a p^2 + a/b q^2), with
//              the parts of p and q across w alone. The amount at
//              the next look at dt (all of it where there is none), at the present volume
//   wind       c A (n.(p + q + r) / 3)^2 <= c A / 3 (p^2 + q^2 + r^2)
//   drag, and penalty colliders, at every node, as if it touched all of them
//
// a and b are numbers of the nodes, their amplitudes: whatever they are, the bound holds, and it is
// least when they are those of the fastest oscillation (for a matrix of numbers instead of blocks
// this is Collatz' and Wielandt's theorem). They are 1 on grids, where that is best, and elsewhere
// until majorants_level has improved them.
//
// Numeric: compiled for float and for double.
#ifndef TAUT_STABILITY_MAJORANT_H
#define TAUT_STABILITY_MAJORANT_H

#include "stability/limits.h"
#include "state/system.h"

// The upper triangle of a symmetric 3 x 3 matrix: xx, yy, zz, xy, xz, yz.
enum { BLOCK_WIDTH = 6, MAJORANT_NODES = 512 };

// Of nodes first .. first + count - 1, the one blocks of K and of C, element by element.
struct majorant {
    size_t first, count;
    real stiffness[BLOCK_WIDTH][MAJORANT_NODES], damping[BLOCK_WIDTH][MAJORANT_NODES];
};

// What blocks are made with: of nodes on no grid the sums of their springs; of all nodes, what acts
// through faces.
struct majorants;

taut_status REAL_NAME(majorants_make)(struct system *system, struct majorants **result,
                                      taut_error *error);
void REAL_NAME(majorants_free)(struct majorants *majorants);
uint64_t REAL_NAME(majorants_bytes)(const struct majorants *majorants);

// Takes the present state. All workers together.
void REAL_NAME(majorants_update)(struct majorants *majorants, const struct worker *worker);

// Better amplitudes for nodes on no grid, from one pass over their blocks: what a node allows less
// of has to swing more. `least` is the step of the form that all allow. Takes the present state
// anew. All workers together.
void REAL_NAME(majorants_level)(struct majorants *majorants, const struct step_form *form,
                                double least, const struct worker *worker);

// Whether crowds (majorant_crowds.h) count as such; takes the present state anew. False: there are
// none. All workers together.
bool REAL_NAME(majorants_use_crowds)(struct majorants *majorants, bool use,
                                     const struct worker *worker);

// Takes back the last pass, or all of them, and takes the present state. All workers together.
void REAL_NAME(majorants_forget)(struct majorants *majorants, bool all,
                                 const struct worker *worker);

// A number that no element of any node's blocks, summed over a row, exceeds over its mass: found
// from the materials of grids alone, without a look at any spring. False where not all springs are
// on grids, or something acts through faces.
bool REAL_NAME(majorants_rough)(const struct majorants *majorants, double *stiffness,
                                double *damping);

// The blocks of nodes first .. first + count - 1, at most MAJORANT_NODES; any worker, any nodes.
void REAL_NAME(majorants_take)(const struct majorants *majorants, size_t first, size_t count,
                               struct majorant *blocks);

#endif
