// The tangent of springs in every storage format (forces/tangent.h has the complete tangent): its
// interface, the arguments of the kernels, and the line preconditioner. Numeric.
//
// Every spring is computed at both of its ends, so that every node sums its own row in a fixed
// order and no worker writes to another's nodes. With d the separation of the ends, L its length
// and p the difference of the input vectors, a spring contributes
//
//   across p + (along - across) / L^2 (d.p) d,   across = s k (1 - L0 / L) + c, along = s k + c
//
// where s scales the stiffness and c is the damping in that direction. On grids 1 / L is stored
// from one product to the next, which saves the square root and the division in each.
#ifndef TAUT_SPRINGS_TANGENT_H
#define TAUT_SPRINGS_TANGENT_H

#include <assert.h>

#include "springs/law.h"
#include "state/system.h"

// A vector for each node, in internal numbering.
struct node_vectors {
    real *x, *y, *z;
};

static inline vec3 node_vector(struct node_vectors vectors, size_t node)
{
    return vec3_make((double)vectors.x[node], (double)vectors.y[node], (double)vectors.z[node]);
}

// A vector for each node that may have low parts, as the state's positions and velocities have them
// in precision mixed; those of `low` are NULL where there are none.
struct split_vectors {
    struct node_vectors high, low;
};

static inline struct split_vectors state_positions(const struct state *s)
{
    return (struct split_vectors){{s->x, s->y, s->z}, {s->x_low, s->y_low, s->z_low}};
}

static inline struct split_vectors state_velocities(const struct state *s)
{
    return (struct split_vectors){{s->vx, s->vy, s->vz}, {s->vx_low, s->vy_low, s->vz_low}};
}

static inline struct split_vectors state_previous_positions(const struct state *s)
{
    return (struct split_vectors){{s->x0, s->y0, s->z0}, {s->x0_low, s->y0_low, s->z0_low}};
}

static inline struct split_vectors state_previous_velocities(const struct state *s)
{
    return (struct split_vectors){{s->vx0, s->vy0, s->vz0}, {s->vx0_low, s->vy0_low, s->vz0_low}};
}

// The sum of both parts.
static inline vec3 split_vector(struct split_vectors parts, size_t node)
{
    const vec3 high = node_vector(parts.high, node);
    return parts.low.x ? vec3_add(high, node_vector(parts.low, node)) : high;
}

// The same of positions, which the state counts from its origin.
static inline vec3 split_position(const struct state *s, struct split_vectors parts, size_t node)
{
    const vec3 sum = split_vector(parts, node);
    return parts.low.x ? vec3_add(s->origin, sum) : sum;
}

static inline void split_put(struct split_vectors parts, size_t node, vec3 vector)
{
    real_split(parts.high.x, parts.low.x, node, vector.x);
    real_split(parts.high.y, parts.low.y, node, vector.y);
    real_split(parts.high.z, parts.low.z, node, vector.z);
}

static inline void split_put_position(const struct state *s, struct split_vectors parts,
                                      size_t node, vec3 position)
{
    split_put(parts, node, parts.low.x ? vec3_subtract(position, s->origin) : position);
}

// Copies without low parts, for loops that compilers vectorise only if no branch depends on them.
static inline struct split_vectors split_high(struct split_vectors vectors)
{
    return (struct split_vectors){.high = vectors.high};
}

static inline void split_copy(struct split_vectors to, struct split_vectors from, size_t node)
{
    assert(to.high.x && to.high.y && to.high.z);
    real_copy(to.high.x, to.low.x, from.high.x, from.low.x, node);
    real_copy(to.high.y, to.low.y, from.high.y, from.low.y, node);
    real_copy(to.high.z, to.low.z, from.high.z, from.low.z, node);
}

// to += (x, y, z)
static inline void split_add(struct split_vectors to, size_t node, real x, real y, real z)
{
    real_accumulate(to.high.x, to.low.x, node, x);
    real_accumulate(to.high.y, to.low.y, node, y);
    real_accumulate(to.high.z, to.low.z, node, z);
}

// The difference of vectors; that of near ones has the error of the low parts.
struct split_difference {
    real x, y, z;
};

static inline struct split_difference split_subtract(struct split_vectors a, struct split_vectors b,
                                                     size_t node)
{
    return (struct split_difference){
        real_difference(a.high.x, a.low.x, b.high.x, b.low.x, node),
        real_difference(a.high.y, a.low.y, b.high.y, b.low.y, node),
        real_difference(a.high.z, a.low.z, b.high.z, b.low.z, node),
    };
}

enum tangent_kind {
    // K itself: symmetric, but possibly indefinite (compressed springs, gas).
    TANGENT_EXACT,
    // A positive semidefinite part of K: a spring's stiffness across its direction only if
    // positive, only -dP/dV g g' of gas, only k n n' of contacts.
    TANGENT_DEFINITE,
};

// block += along u u' + across (I - u u'). Symmetric 3 x 3 blocks are stored as xx, yy, zz, xy, xz,
// yz.
static inline void block_add(real block[6], real ux, real uy, real uz, real along, real across)
{
    real d = along - across;
    block[0] += across + d * ux * ux;
    block[1] += across + d * uy * uy;
    block[2] += across + d * uz * uz;
    block[3] += d * ux * uy;
    block[4] += d * ux * uz;
    block[5] += d * uy * uz;
}

// A product: the vectors in and out, and the factors of stiffness and damping.
struct tangent_product {
    const real *x, *y, *z; // positions
    const real *in[3];
    real *out[3];
    real stiffness, damping;
    real floor; // 1 - L0 / L is at least this: 0 or -INFINITY
};

// The constants of a direction in the precision of the run, and an entry for each of its springs,
// indexed by the node where the spring starts.
struct tangent_constants {
    real stiffness, rest_length;
    real along, across; // damping
    // 1 / L, REAL_TINY where L = 0, and 0 where there is no spring or it is slack or broken.
    real *inverse;
    real *ratio; // L0 / L if rest lengths can change, otherwise NULL
    // For a weighted direction: the factor of stiffness and damping; NULL if it is 1 everywhere.
    const real *shares;
};

struct tangent_grid {
    const struct plan_grid *grid;
    int64_t first_node, nodes;
    int64_t reach; // the largest offset
    struct tangent_constants constants[DIRECTIONS_MAX];
    real *numbers; // the arrays of the constants; `length` numbers
    // The shares of springs by the axes that they do not move along, with bits 1 for x, 2 for y and
    // 4 for z; NULL where no direction needs them.
    real *shares[8];
    size_t length;
};

// ---- Lines solved together, one in each lane (grid/lines.c)

enum { LINE_LANES = 8 };

// A node of eight lines: S^-1 (xx, yy, zz, xy, xz, yz), the coupling W to the next node (row by
// row), and the result of the forward pass. 0 in lanes without a line.
struct line_node {
    real inverse[6][LINE_LANES], coupling[9][LINE_LANES], forward[3][LINE_LANES];
};

// Up to eight lines; node p of a line is starts[lane] + p * step. Lanes from `count` on repeat the
// first line.
struct line_bundle {
    struct line_node *nodes;
    size_t starts[LINE_LANES];
    size_t count, length, step;
};

// A spring as seen from one of its ends; `state_index` is its index in the state's arrays.
struct spring_end {
    uint32_t other, material;
    uint64_t state_index;
    real rest_length;
};

// The springs at each node: ends[first[node]] .. ends[first[node + 1] - 1].
struct spring_rows {
    uint64_t *first; // length nodes + 1
    struct spring_end *ends;
    uint64_t count;
};

// Nodes per item of a grid or of listed springs: few enough that their data stay in a cache.
enum { TANGENT_ITEM_NODES = 2048 };

// Nodes whose rows are computed together: those of a grid, of a tile of packed springs, or, if both
// are NULL, of listed springs.
struct tangent_item {
    const struct tangent_grid *grid;
    const struct packed_tile *tile;
    struct range nodes;
};

// A spring's block of the matrix: along u u' + across (I - u u').
struct spring_part {
    real ux, uy, uz, along, across;
};

// The block of an unbroken spring; false if it is slack.
static inline bool spring_part_of(const struct state *s, enum tangent_kind kind, size_t a, size_t b,
                                  const struct spring_constants *material, real rest,
                                  real stiffness, real damping, struct spring_part *part)
{
    real dx = s->x[a] - s->x[b], dy = s->y[a] - s->y[b], dz = s->z[a] - s->z[b];
    real square = dx * dx + dy * dy + dz * dz, length = real_sqrt(square);
    if (spring_is_slack(material, (double)length, (double)rest))
        return false;
    real inverse = square > REAL_TINY ? 1 / length : 0;
    real sideways = 1 - rest * inverse;
    if (kind == TANGENT_DEFINITE && !(sideways > 0))
        sideways = 0;
    real elastic = stiffness * material->stiffness, c = damping * material->damping;
    bool full = material->damping_law == DAMPING_FULL;
    *part = (struct spring_part){dx * inverse, dy * inverse, dz * inverse, elastic + c,
                                 elastic * sideways + (full ? c : 0)};
    return true;
}

// The springs of a tangent in all storage formats.
struct spring_tangent {
    struct system *system;
    enum tangent_kind kind;
    struct spring_rows rows;    // of springs in blocks
    struct tangent_grid *grids; // of each grid of the plan
    struct tangent_item *items; // units of work, which workers claim
    size_t item_count;
};

taut_status REAL_NAME(spring_tangent_make)(struct system *system, struct spring_tangent *tangent,
                                           taut_error *error);
// Reads the constants again after they have changed; the next product needs an update.
void REAL_NAME(spring_tangent_refresh)(struct spring_tangent *tangent);
void REAL_NAME(spring_tangent_free)(struct spring_tangent *tangent);
uint64_t REAL_NAME(spring_tangent_bytes)(const struct spring_tangent *tangent);

// Linearises at the present positions, for the rows of these nodes: each worker does its share. No
// barrier.
void REAL_NAME(spring_tangent_update)(struct spring_tangent *tangent, struct range rows,
                                      const struct worker *worker);

// out := the product of the springs' part of the tangent with `in`, at the item's nodes.
void REAL_NAME(spring_tangent_apply)(const struct spring_tangent *tangent,
                                     const struct tangent_item *item, real stiffness, real damping,
                                     struct node_vectors in, struct node_vectors out);

// Adds the diagonal blocks of the item's nodes.
void REAL_NAME(spring_tangent_blocks)(const struct spring_tangent *tangent,
                                      const struct tangent_item *item, real stiffness, real damping,
                                      real (*blocks)[6]);

// ---- Lines of stiff springs
//
// Ropes, and rows and columns of cloths, whose springs are much stiffer than the other springs at
// their nodes: block-tridiagonal matrices, solved line by line.

struct spring_lines;

// The matrix that lines are factored from: the diagonal blocks of stiffness K + damping C, and M.
struct line_matrix {
    real (*blocks)[6];
    const real *mass; // 0: the node is not integrated
    real stiffness, damping;
};

// *result is NULL if no body has lines that pay off, and after a failure.
taut_status REAL_NAME(spring_lines_make)(const struct spring_tangent *tangent,
                                         struct spring_lines **result, taut_error *error);
void REAL_NAME(spring_lines_free)(struct spring_lines *lines);
uint64_t REAL_NAME(spring_lines_bytes)(const struct spring_lines *lines);

// Whether all nodes are on lines.
bool REAL_NAME(spring_lines_cover)(const struct spring_lines *lines);

// Factors the lines. All workers together; ends with a barrier.
void REAL_NAME(spring_lines_update)(struct spring_lines *lines, const struct line_matrix *matrix,
                                    const struct worker *worker);

// Sets z at nodes on lines only. All workers together; ends with a barrier.
void REAL_NAME(spring_lines_apply)(const struct spring_lines *lines, struct node_vectors r,
                                   struct node_vectors z, const struct worker *worker);

// ---- The functions of each storage format

taut_status REAL_NAME(tangent_listed_make)(struct spring_tangent *tangent, taut_error *error);
void REAL_NAME(tangent_listed_refresh)(struct spring_tangent *tangent);
void REAL_NAME(tangent_listed_free)(struct spring_tangent *tangent);
// out := the product at a range of nodes.
void REAL_NAME(tangent_listed_apply)(const struct spring_tangent *tangent, real stiffness,
                                     real damping, struct node_vectors in, struct node_vectors out,
                                     struct range nodes);
void REAL_NAME(tangent_listed_blocks)(const struct spring_tangent *tangent, real stiffness,
                                      real damping, real (*blocks)[6], struct range nodes);

taut_status REAL_NAME(tangent_grids_make)(struct spring_tangent *tangent, taut_error *error);
void REAL_NAME(tangent_grids_refresh)(struct spring_tangent *tangent);
void REAL_NAME(tangent_grids_free)(struct spring_tangent *tangent);
uint64_t REAL_NAME(tangent_grids_bytes)(const struct spring_tangent *tangent);
void REAL_NAME(tangent_grids_update)(struct spring_tangent *tangent, struct range rows,
                                     const struct worker *worker);
// Adds to `block` the block of the spring of direction d that starts at node `spring` of the grid:
// its part of the diagonal block at either end and, with the opposite sign, of the block between
// the two.
void REAL_NAME(tangent_grid_spring)(const struct spring_tangent *tangent,
                                    const struct tangent_grid *grid, int d, int64_t spring,
                                    real stiffness, real damping, real block[6]);
void REAL_NAME(tangent_grid_blocks)(const struct spring_tangent *tangent,
                                    const struct tangent_grid *grid, real stiffness, real damping,
                                    real (*blocks)[6], struct range nodes);

void REAL_NAME(tangent_packed_blocks)(const struct spring_tangent *tangent,
                                      const struct packed_tile *tile, real stiffness, real damping,
                                      real (*blocks)[6]);

#endif
