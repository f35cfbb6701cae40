// Elements of bodies on grids beside their springs: bending of ropes and cloths, twist of the cells
// of cloths, one area per cell of a cloth, one volume per cell of a lattice; and the triangles of
// meshes and spheres, which then have no springs (docs/materials.md). All workers call these
// functions together unless stated otherwise. Numeric.
//
// An element has up to eight nodes. Bending and twist have the energy k/2 |c|^2 of a sum c of
// positions with fixed weights: 1, -2, 1 along a line of three nodes, 1, -1, -1, 1 over a cell.
// They are linear in the positions, and rotations change nothing. Area and volume have the energy
// k/2 (M - M0)^2 of one measure M of the cell, from the means of its edges: |e_u x e_v| and
// e_x.(e_y x e_z). A negative k, as of knits and of solids with a Poisson's ratio below 1/4,
// softens springs beside it; it is unstable at large dilations, so that the energy continues
// linearly beyond |M/M0 - 1| = ELEMENT_LINEAR_FROM. A triangle is a piece of an isotropic membrane
// (triangles.c): its energy is a quadratic form of the squared lengths of its edges. Where a mesh
// is flat as built, its bending is linear in the positions (bending.c); where it is not, it is a
// quadratic form of the angles at the edges (folds.c).
#ifndef TAUT_ELEMENTS_ELEMENTS_H
#define TAUT_ELEMENTS_ELEMENTS_H

#include "base/memory.h"
#include "kernels/kernels.h"
#include "springs/tangent.h"

#define ELEMENT_LINEAR_FROM 0.05

enum element_kind {
    ELEMENT_BEND_X, // along x, and
    ELEMENT_BEND_Y, // along y of the grid
    ELEMENT_TWIST,
    ELEMENT_AREA,
    ELEMENT_VOLUME,
    ELEMENT_KINDS, // of bodies on grids
    ELEMENT_TRIANGLE = ELEMENT_KINDS
};

enum { ELEMENT_NODES_MAX = 8 };

// One element. Nodes of cells are in the order of the grid: x first, then y, then z.
struct element {
    enum element_kind kind;
    int count;
    uint32_t nodes[ELEMENT_NODES_MAX]; // over all bodies
    double stiffness, time, rest;      // as in struct element_constants, of this element
    size_t triangle;                   // its index, if it is one; it has constants of its own
};

// The nodes of a rank, and those around which it needs triangles and folds: its own, of its chunks
// of nodes, and of all small bodies with any of these (exchange_bounds_nodes). For a process that
// needs all, both are all nodes.
struct element_nodes {
    struct range own, near;
};

// Allocates the elements of all bodies; system->elements stays NULL if there are none.
taut_status REAL_NAME(elements_make)(struct system *system, struct element_nodes held,
                                     taut_error *error);

// Makes the elements of all nodes, where they have been made for some. Existing elements do not
// change. TAUT_ERROR_MEMORY: nothing has changed.
taut_status REAL_NAME(elements_complete)(struct system *system, taut_error *error);
void REAL_NAME(elements_free)(struct system *system);

// On several ranks with parts: combines the values of all ranks on which their constants depend.
// Collective.
void REAL_NAME(elements_join)(const struct system *system);

// Reads the constants of all elements from the topology again; where ranks hold only their parts,
// elements_join must follow.
void REAL_NAME(elements_refresh)(struct system *system);
uint64_t REAL_NAME(elements_bytes)(const struct system *system);

// Adds the forces to fx, fy, fz. Ends with a barrier. `swept`: also those of cloths whose elements
// springs_sweep computes; `powers`: also measures the power of the damping, for
// elements_measured_power.
void REAL_NAME(elements_add)(struct system *system, bool swept, bool powers,
                             const struct worker *worker);

// The power, W, that elements_add has measured; called by any worker after its barrier.
double REAL_NAME(elements_measured_power)(const struct system *system);

// The energy of all elements, J, and the power that their damping dissipates now, W; every worker
// receives the same values. Ends with a barrier.
double REAL_NAME(elements_energy)(struct system *system, const struct worker *worker);
double REAL_NAME(elements_power)(struct system *system, const struct worker *worker);

// ---- The tangent (forces/tangent.h): the stiffness K = -dF/dx of kind TANGENT_EXACT is complete;
// that of kind TANGENT_DEFINITE is k g g' of cells, with g the gradient of M, where k is positive,
// and that of triangles without the compressive part of their tensions.

// out += (stiffness K + damping C) in, for these rows; others are then undefined. Ends with a
// barrier.
void REAL_NAME(elements_tangent_add)(const struct system *system, struct range rows,
                                     enum tangent_kind kind, real stiffness, real damping,
                                     struct node_vectors in, struct node_vectors out,
                                     const struct worker *worker);

// Adds the diagonal 3 x 3 blocks of the same matrix, but only k g g' of cells. Ends with a barrier.
void REAL_NAME(elements_tangent_blocks)(const struct system *system, enum tangent_kind kind,
                                        real stiffness, real damping, real (*blocks)[6],
                                        const struct worker *worker);

// ---- Upper bounds (stability/spectral_bound.h): block-diagonal matrices that are nowhere smaller
// than K, C and -K of the elements, at the present positions.
//
// For a linear element |sum w_j x_j|^2 <= (sum |w_l|) sum |w_j| |x_j|^2; for a cell likewise
// (sum g_j.x_j)^2 <= (sum |g_l|) sum |g_j| (u_j.x_j)^2 with u_j = g_j / |g_j|. The curvature of M
// enters with the force p = dE/dM: an area changes by at most 2 |d e_u| |d e_v| <= |d e_u|^2 +
// |d e_v|^2 of the second order within its plane, and by (|e_v| |d e_u| + |e_u| |d e_v|)^2 / A by
// its rotation; a volume by 2 (|e_x| |d e_y| |d e_z| + ...). The strain of a triangle is a sum over
// its corners, in proportion to the lengths L of the opposite edges, so that the block of corner j
// counts sum L_l / L_j times.
struct element_bound {
    uint32_t node;
    double stiffness[6], damping[6], negative[6]; // xx, yy, zz, xy, xz, yz
};

typedef void (*element_bound_callback)(void *context, const struct element_bound *bound);

// Visits the contributions of all elements that have nodes in the range. Called by any worker
// alone.
void REAL_NAME(elements_visit_bounds)(const struct system *system, struct range nodes,
                                      element_bound_callback visit, void *context);

// The trace of K of all elements, N/m, at the present positions: without the part of tensions and
// of negative stiffnesses. Every worker receives the same value, for which the positions of all
// nodes are needed, or, on ranks with parts, those of their own nodes. Ends with a barrier.
double REAL_NAME(elements_trace)(struct system *system, const struct worker *worker);

// The smallest and the largest ratio of damping to stiffness, s, of any element in any state;
// `pressed`: K may be negative. lower is INFINITY without elements.
struct element_ratios {
    double lower, upper;
    bool pressed;
};
struct element_ratios REAL_NAME(elements_ratios)(const struct system *system);

// ---- Within this module

// Functions of type element_node (springs/part_sums.h): for the first triangle of a chunk, and for
// a node itself.
size_t REAL_NAME(element_node_of_triangle)(const struct system *system, const void *unused,
                                           size_t triangle);
size_t REAL_NAME(element_node_itself)(const struct system *system, const void *unused, size_t node);

// block += factor g g'
static inline void block_add_square(double block[6], vec3 g, double factor)
{
    block[0] += factor * g.x * g.x;
    block[1] += factor * g.y * g.y;
    block[2] += factor * g.z * g.z;
    block[3] += factor * g.x * g.y;
    block[4] += factor * g.x * g.z;
    block[5] += factor * g.y * g.z;
}

static inline void block_add_around(double block[6], double more)
{
    for (int element = 0; element < 3; element++)
        block[element] += more;
}

// block += factor (g h' + h g')
static inline void block_add_symmetric(double block[6], vec3 g, vec3 h, double factor)
{
    block[0] += 2 * factor * g.x * h.x;
    block[1] += 2 * factor * g.y * h.y;
    block[2] += 2 * factor * g.z * h.z;
    block[3] += factor * (g.x * h.y + g.y * h.x);
    block[4] += factor * (g.x * h.z + g.z * h.x);
    block[5] += factor * (g.y * h.z + g.z * h.y);
}

struct even_columns {
    int64_t from, to;
};

// The elements of one body, and units of work. Rows of lines have `weights` for their nodes: 1, 1/2
// along a side of the cloth, which has half the width of a cell, 2 at a clamp (a pinned node with
// one pinned and one free neighbour on its line: its line is free from that node on, not half a
// cell later), and 0 where a line has no centre.
struct elements_body {
    size_t body;     // its number in the topology
    int64_t first;   // node
    int64_t grid[3]; // nodes along x, y, z
    struct element_constants constants[ELEMENT_KINDS];
    bool damped;
    bool swept;    // springs_sweep computes its elements
    real *weights; // `weight_count` numbers, and a guard that a register may read; NULL of lattices
    size_t weight_count;
    size_t *rows[2]; // of lines along x and y: for each row of nodes where its weights begin
    struct even_columns *even[2]; // and the longest run of columns with weight 1
    // For a grid with cut springs, otherwise NULL: 1 for the first node of a cell that is whole,
    // else 0. Lines that are not have the weight 0.
    real *cells;
    uint64_t first_block; // among all bodies
    uint64_t first_part;  // likewise
    uint64_t first_group; // of slabs, among all bodies (elements_scatter)
    int64_t blocks[3];    // blocks of nodes along each axis, the unit of work of the kernels
};

// Blocks of ropes and cloths, and the layers of nodes of blocks of lattices, are parts: the power
// of each is one sum, and several ranks divide the elements by parts (parts.h), so that a rank
// computes no more layers of a lattice than it has.
static inline size_t element_part(const struct elements_body *body, int64_t block_x,
                                  int64_t block_y, int64_t layer)
{
    return (size_t)body->first_part +
           (size_t)((layer * body->blocks[1] + block_y) * body->blocks[0] + block_x);
}

static inline size_t element_parts_of(const struct elements_body *body)
{
    return (size_t)(body->blocks[0] * body->blocks[1] * body->grid[2]);
}

// The nodes of a block at most: along x, y and z.
enum { ELEMENT_SHEET_NODES = 256, ELEMENT_SHEET_ROWS = 32 };
enum { ELEMENT_SOLID_NODES = 64, ELEMENT_SOLID_ROWS = 16, ELEMENT_SOLID_LAYERS = 16 };

// The triangles of all bodies that are membranes, in the order of their coloured blocks. Edge i is
// opposite corner i, from corner i + 1 to corner i + 2 (modulo 3).
enum triangle_column {
    TRIANGLE_SQUARE,     // three: L^2, m2
    TRIANGLE_WEIGHT = 3, // three: cot(a) sqrt(C / 16 A)
    TRIANGLE_SHEAR = 6,  // G / 16 A
    TRIANGLE_TIME,       // s, the damping as a multiple of the stiffness
    TRIANGLE_COLUMNS
};

struct element_triangles {
    size_t count;
    bool damped;
    struct plan_set set;
    uint32_t (*nodes)[3];
    real *numbers;       // TRIANGLE_COLUMNS columns of `count`
    struct range *spans; // of each block: its lowest node, and the one after its highest
    // On ranks with parts, nodes and numbers are those of blocks with a triangle that is near, and
    // of the chunks of sums that the rank adds; the spans of other blocks are {0, 0}.
    uint32_t *chunk_nodes; // the first node of the first triangle of each chunk of sums
    size_t kept_count;     // how many triangles are there
};

// The area, and the cotangent of the angle at a corner, of a triangle with these squared lengths of
// the edges opposite its corners (Heron).
static inline double triangle_area(const double squares[3])
{
    double heron = -(squares[0] * squares[0] + squares[1] * squares[1] + squares[2] * squares[2]);
    for (int i = 0; i < 3; i++)
        heron += 2 * squares[i] * squares[(i + 1) % 3];
    return sqrt(heron) / 4;
}

static inline double triangle_cotangent(const double squares[3], double area, int corner)
{
    return (squares[0] + squares[1] + squares[2] - 2 * squares[corner]) / (4 * area);
}

// The rank with this node sums the chunk of triangles that begins with this one.
static inline size_t triangles_first_node(const struct element_triangles *triangles, size_t first)
{
    return triangles->chunk_nodes[first / SUM_CHUNK];
}

// The nodes of all triangles of the topology, body by body.
void REAL_NAME(triangles_list)(const struct topology *topology, uint32_t (*nodes)[3]);

static inline bool elements_held_are_all(struct element_nodes held, const struct topology *topology)
{
    return held.near.first == 0 && held.near.end == topology->node_count;
}

taut_status REAL_NAME(triangles_make)(const struct system *system, struct element_nodes held,
                                      struct element_triangles *triangles, taut_error *error);
void REAL_NAME(triangles_refresh)(const struct topology *topology, struct element_nodes held,
                                  struct element_triangles *triangles);
void REAL_NAME(triangles_free)(const struct system *system, struct element_triangles *triangles);
uint64_t REAL_NAME(triangles_bytes)(const struct element_triangles *triangles);

// The lists of the elements that ranks need around some nodes have the length of the scene, but
// take memory for these only: no huge pages beyond them.
static inline void elements_sparse_outside(void *block, size_t count, size_t size,
                                           struct range used)
{
    memory_sparse(block, count * size, 0, used.first * size);
    memory_sparse(block, count * size, used.end * size, count * size);
}

// A fold: an edge from a to b between two triangles, which are not flat as built, or whose
// neighbours are not. Its strain f = 2 l sin((theta - theta0) / 2) is the length l of the edge as
// built times the change of the dihedral angle; the energy of all folds is B f'Qf / 2 with a
// symmetric matrix Q, in whose row a fold has a number of its own, `own`, and one for each of the
// other edges of its two triangles, `couplings`.
enum { FOLD_CHUNK = 256 };

struct fold {
    uint32_t nodes[4];  // a, b, c, d: c is beyond the edge to the left of it, d to the right
    uint32_t others[4]; // folds; itself where there is none
    real own, couplings[4];
    real length, cosine, sine; // l; of theta0, which is positive on ridges (seen along the normals)
};

struct element_folds {
    size_t count;
    uint8_t *kept;       // for each chunk: whether its folds are kept
    size_t kept_count;   // the number of folds in these chunks
    struct fold *items;  // ascending by their lower node
    struct range *spans; // of each chunk: its lowest node, and the one after its highest; {0, 0} of
                         // those that are not there
    size_t *starts;      // nodes + 1: the folds of each node that is near, of others 0,
    uint32_t *entries;   // as 4 times the fold and its corner there
    size_t entry_count;
    double *diagonals; // of each node that is near, N/m for B = 1 N m: the trace of its block of K
                       // as built
    // For the present pass over all folds: strains, their rates (or changes), and three vectors,
    // see folds.c.
    real *strains, *rates;
    real (*vectors)[9];
};

// The bending of membranes (bending.c): a symmetric matrix Q over the nodes, whose rows add up to
// 0, for a bending stiffness of 1 N m; B_i is that of the body of node i. The energy is B x'Qx / 2
// of each component of the positions, the force on node i the sum of -B_i Q_ij (x_j - x_i), and its
// damping time_i times that of the velocities.
enum { BENDING_CHUNK = 1024 }; // nodes

//
// Triangles at an edge that is not flat as built bend by folds instead.
struct element_bending {
    size_t nodes;   // all nodes; 0: no membrane bends
    size_t count;   // numbers off the diagonal
    size_t *starts; // nodes + 1; 0 for nodes that are not known
    uint32_t *columns;
    real *values;
    real *stiffness, *times; // B_i, N m, and time_i, s, of those that are known
    struct range known; // those that are near, of chunks with these, and of folds that are kept
    double *least; // of each body, of its nodes that are near: the least mass over diagonal for
                   // B = 1 N m, or INFINITY; of ranks with parts of all nodes (elements_join)
    bool damped;
    struct element_folds folds;
};

taut_status REAL_NAME(bending_make)(const struct system *system, struct element_nodes held,
                                    struct element_bending *bending, taut_error *error);
// Reads the constants of the topology again; bending_join then combines those of ranks with parts.
void REAL_NAME(bending_refresh)(const struct topology *topology, struct element_nodes held,
                                struct element_bending *bending);
void REAL_NAME(bending_join)(const struct topology *topology, struct element_bending *bending);
void REAL_NAME(bending_free)(const struct system *system, struct element_bending *bending);
uint64_t REAL_NAME(bending_bytes)(const struct element_bending *bending);

// Nodes are shared among the workers by chunks.
static inline size_t bending_chunks(const struct element_bending *bending)
{
    return (bending->nodes + BENDING_CHUNK - 1) / BENDING_CHUNK;
}

static inline struct range bending_chunk(const struct element_bending *bending, size_t chunk)
{
    const size_t end = (chunk + 1) * BENDING_CHUNK;
    return (struct range){chunk * BENDING_CHUNK, end < bending->nodes ? end : bending->nodes};
}

// The sum over j of B_i Q_ij (p_j - p_i).
vec3 REAL_NAME(bending_row)(const struct element_bending *bending, size_t node,
                            struct node_vectors p);

struct bending_surface; // surface.h

// Which folds a rank keeps, before they are made: NULL for a process that keeps all.
struct fold_choice {
    size_t count;        // folds of all membranes
    bool bends;          // whether anything bends as a plane
    uint32_t *starts;    // nodes + 1: how many folds have their lower node before each
    size_t chunks;       // space for so many
    struct range *spans; // of each chunk of folds, as in element_folds
    uint8_t *kept;       // as in element_folds
    struct range nodes;  // of the folds that are kept
};

// False without memory; folds_choice_free is needed then, too.
bool REAL_NAME(folds_choose)(const struct topology *topology, const uint8_t *curved, size_t windows,
                             struct element_nodes held, struct fold_choice *choice);
void REAL_NAME(folds_choice_free)(const struct topology *topology, struct fold_choice *choice);

// `surface` is around the nodes of the folds that are kept, and those that are near.
taut_status REAL_NAME(folds_make)(const struct system *system,
                                  const struct bending_surface *surface,
                                  const struct fold_choice *choice, struct element_nodes held,
                                  struct element_folds *folds, taut_error *error);
void REAL_NAME(folds_free)(const struct system *system, struct element_folds *folds);
uint64_t REAL_NAME(folds_bytes)(const struct system *system, const struct element_folds *folds);

static inline size_t folds_chunks(const struct element_folds *folds)
{
    return (folds->count + FOLD_CHUNK - 1) / FOLD_CHUNK;
}

static inline bool folds_have(const struct element_folds *folds, size_t fold)
{
    return folds->kept[fold / FOLD_CHUNK];
}

// The rank with this node sums a chunk of folds that begins with this one; no node, if it is not
// there, since the rank is another one then.
static inline size_t folds_first_node(const struct element_folds *folds, size_t fold)
{
    return folds_have(folds, fold) ? folds->items[fold].nodes[0] : SIZE_MAX;
}

// Those of a chunk.
static inline struct range folds_of(const struct element_folds *folds, size_t chunk)
{
    const size_t first = chunk * FOLD_CHUNK, left = folds->count - first;
    return (struct range){first, first + (left < FOLD_CHUNK ? left : FOLD_CHUNK)};
}

// Measures the strains of all folds, and their derivatives along `along` (NULL: none). Ends with a
// barrier.
void REAL_NAME(folds_measure)(const struct system *system, const struct node_vectors *along,
                              const struct worker *worker);

// The forces of all folds, which folds_force returns then. `powers`: also those of the damping, for
// each chunk. Ends with a barrier.
void REAL_NAME(folds_pull)(const struct system *system, double *powers,
                           const struct worker *worker);

// After folds_measure along `in`: (stiffness K + damping C) in, which folds_force returns then for
// these rows. Ends with a barrier.
void REAL_NAME(folds_multiply)(const struct system *system, struct range rows,
                               enum tangent_kind kind, double stiffness, double damping,
                               struct node_vectors in, const struct worker *worker);

vec3 REAL_NAME(folds_force)(const struct element_folds *folds, size_t node);

// After folds_measure: twice the energy of a fold over B, f'Qf, or that of the rates.
double REAL_NAME(fold_square)(const struct element_folds *folds, size_t fold, bool rates);

// After folds_measure: the diagonal block of a node, of K for B = 1 N m without the moments.
void REAL_NAME(folds_block)(const struct element_folds *folds, size_t node, double block[6]);

// The bounds of folds that have nodes in the range. Called by any worker alone.
void REAL_NAME(folds_visit_bounds)(const struct system *system, struct range nodes,
                                   element_bound_callback visit, void *context);

// B_i Q_ii, and the sum over j of B_i |Q_ij|.
struct bending_sums {
    double diagonal, absolute;
};
struct bending_sums REAL_NAME(bending_row_sums)(const struct element_bending *bending, size_t node);

struct element_set {
    struct element_nodes held; // the nodes for which triangles and folds have been made
    size_t body_count;         // on grids
    struct elements_body *bodies;
    size_t block_count; // of these bodies
    size_t part_count;
    bool all_swept; // springs_sweep computes all elements
    size_t group_count;
    struct element_triangles triangles;
    struct element_bending bending;
    double *powers; // W, of each part, then of each block of triangles, of each chunk of nodes that
                    // bend and of each chunk of folds, of the last elements_add with powers
};

// The largest number of elements that are summed in chunks (state/reading.h): triangles, or folds.
static inline size_t elements_summed(const struct element_set *elements)
{
    const size_t folds = elements ? elements->bending.folds.count : 0;
    const size_t triangles = elements ? elements->triangles.count : 0;
    return folds > triangles ? folds : triangles;
}

// Whether the cell that starts at a node of the body has its elements.
static inline bool element_cell_is_whole(const struct elements_body *body, int64_t node)
{
    return !body->cells || body->cells[node] != 0;
}

static inline bool elements_are_rope(const struct elements_body *body)
{
    return body->grid[1] == 1;
}

// Whether the body is a lattice, whose cells have volumes; others are ropes and cloths.
static inline bool elements_are_solid(const struct elements_body *body)
{
    return body->grid[2] > 1;
}

static inline size_t element_power_count(const struct element_set *elements)
{
    return elements->part_count + elements->triangles.set.block_count +
           bending_chunks(&elements->bending) + folds_chunks(&elements->bending.folds);
}

// The elements whose first node is this one (numbered within the body).
int REAL_NAME(elements_at)(const struct elements_body *body, int64_t node,
                           struct element elements[ELEMENT_KINDS]);

// The weights of the nodes of a linear element.
const signed char *REAL_NAME(element_weights)(enum element_kind kind);

static inline bool element_is_linear(const struct element *element)
{
    return element->kind == ELEMENT_BEND_X || element->kind == ELEMENT_BEND_Y ||
           element->kind == ELEMENT_TWIST;
}

// The measure M of a cell in the present state, its gradients, its derivative by time, and the
// means of its edges.
struct cell {
    double measure, rate;
    vec3 gradient[ELEMENT_NODES_MAX];
    vec3 edges[3];
};

// The mean edge along an axis of a cell of `count` corners with these vectors.
static inline vec3 cell_mean_edge(const vec3 *at, int count, int axis)
{
    vec3 sum = {0, 0, 0};
    for (int corner = 0; corner < count; corner++)
        sum = corner >> axis & 1 ? vec3_add(sum, at[corner]) : vec3_subtract(sum, at[corner]);
    return vec3_scale(2.0 / count, sum);
}

static inline int cell_axes(const struct element *element)
{
    return element->kind == ELEMENT_VOLUME ? 3 : 2;
}

struct cell REAL_NAME(element_cell)(const struct state *state, const struct element *element);

// dE/dM, and whether it still depends on M.
static inline double cell_force(const struct element *element, double measure, bool *linear)
{
    const double limit = ELEMENT_LINEAR_FROM * element->rest;
    const double excess = measure - element->rest;
    *linear = element->stiffness < 0 && fabs(excess) > limit;
    return element->stiffness * (*linear ? copysign(limit, excess) : excess);
}

struct element REAL_NAME(triangle_element)(const struct element_triangles *triangles, size_t index);

// A triangle in the present state: its edges e_i, the excess l^2 - L^2 of their squares and its
// derivative by time.
struct triangle {
    vec3 edges[3];
    double square[3], weights[3], shear, time; // the constants
    double excess[3], rates[3];
};

// `rates`: also computes the rates, which are 0 otherwise.
struct triangle REAL_NAME(element_triangle)(const struct system *system,
                                            const struct element *element, bool rates);

// tensions := dE/dd for the excesses d: the force on the end of edge i is 2 tensions[i] e_i.
static inline void triangle_tensions(const struct triangle *it, const double d[3],
                                     double tensions[3])
{
    const double trace = it->weights[0] * d[0] + it->weights[1] * d[1] + it->weights[2] * d[2];
    const double sum = d[0] + d[1] + d[2];
    for (int i = 0; i < 3; i++)
        tensions[i] = it->weights[i] * trace - it->shear * (sum - 2 * d[i]);
}

// The same with the damping, which acts like an excess of `time` times its derivative.
static inline void triangle_damped_tensions(const struct triangle *it, double tensions[3])
{
    double d[3];
    for (int i = 0; i < 3; i++)
        d[i] = it->excess[i] + it->time * it->rates[i];
    triangle_tensions(it, d, tensions);
}

// A corner is the end of one edge and the start of the next: the sum of `factors` times vectors on
// them, with these signs.
static inline vec3 triangle_corner(int corner, const double factors[3], const vec3 vectors[3])
{
    const int end = (corner + 1) % 3, start = (corner + 2) % 3;
    return vec3_subtract(vec3_scale(factors[end], vectors[end]),
                         vec3_scale(factors[start], vectors[start]));
}

// The products with the tangent of cloths and lattices (products.c). Ends with a barrier.
void REAL_NAME(element_products_add)(const struct system *system, struct range rows,
                                     enum tangent_kind kind, double stiffness, double damping,
                                     struct node_vectors in, struct node_vectors out,
                                     const struct worker *worker);

// Calls `visit` for all elements with nodes in `rows`, and for others (`ropes`: not for those of
// cloths and lattices), so that no two workers reach the same node at the same time, and every node
// is reached in an order that does not depend on the workers. Ends with a barrier.
typedef void (*element_callback)(const struct system *system, void *context,
                                 const struct element *element);
void REAL_NAME(elements_scatter)(const struct system *system, struct range rows, bool ropes,
                                 element_callback visit, void *context,
                                 const struct worker *worker);

#endif
