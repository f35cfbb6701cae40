// Lines: the rows of ropes and cloths, of which the preconditioner solves each by itself.
//
// What stiff threads resist, they resist along themselves: pull one end, and all of the thread
// follows. By node alone (a 3 x 3 block each) an iteration carries that to the next node and no
// further, so that their number grows with the length of the threads. A whole row, with the springs
// from one node of it to the next, is a matrix of 3 x 3 blocks in three diagonals, which is solved
// at the cost of about a product. Of a cloth P r is the sum of what its rows and its columns make
// of r: each sees the other as fixed springs of its nodes, A less something positive, so that both
// are positive definite, and where threads are stiff along themselves each leaves the other's part
// nearly alone.
//
// With D the blocks of the diagonal and U_p that between nodes p and p + 1 of a line, S_0 = D_0,
// W_p = S_p^-1 U_p and S_(p+1) = D_(p+1) - U_p W_p (Golub and Van Loan, Matrix Computations, 4th
// ed., 4.5.1). All lines of a family (rows, or columns) are independent; eight at a time are solved
// beside each other. Where round-off makes a S_p that is not positive definite the line is cut.
//
// Numeric.
#ifndef TAUT_INTEGRATE_LINES_H
#define TAUT_INTEGRATE_LINES_H

#include "forces/tangent.h"

struct lines;

// What lines are made from: the diagonal blocks of stiffness K + damping C, and M.
struct line_matrix {
    real (*blocks)[6];
    const real *mass; // 0: the node is not integrated
    real stiffness, damping;
};

// *result is NULL where no body has lines worth it.
taut_status REAL_NAME(lines_make)(struct system *system, const struct tangent *tangent,
                                  struct lines **result, taut_error *error);
void REAL_NAME(lines_free)(const struct system *system, struct lines *lines);
uint64_t REAL_NAME(lines_bytes)(const struct lines *lines);

// Whether all nodes are on lines.
bool REAL_NAME(lines_cover)(const struct lines *lines);

// All workers together; both end with a barrier. The second sets z of nodes on lines alone.
void REAL_NAME(lines_update)(struct lines *lines, const struct line_matrix *matrix,
                             const struct worker *worker);
void REAL_NAME(lines_apply)(const struct lines *lines, struct node_vectors r, struct node_vectors z,
                            const struct worker *worker);

#endif
