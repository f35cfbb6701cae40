// The kernels of an instruction set, behind one table that is chosen when the solver is created.
// Each is written once, in the header *_body.h of its module, in the vocabulary of simd/wide.h;
// table.h compiles all of them for one instruction set. This header declares what kernels of
// several modules share; modules include it, and it includes none of them. No other thread writes
// to the nodes that a kernel receives. Results are the same bits on every instruction set. Numeric.
#ifndef TAUT_KERNELS_KERNELS_H
#define TAUT_KERNELS_KERNELS_H

#include "simd/isa.h"
#include "state/system.h"

// Defined by the modules of the kernels.
struct barrier;
struct candidate_block;
struct candidate_boxes;
struct candidate_codes;
struct candidate_pair;
struct constraint_row;
struct elements_body;
struct listed_pair;
struct line_bundle;
struct pass_range;
struct strain_limits;
struct sweep_pass;
struct tangent_grid;
struct tangent_product;

struct reals {
    real *x, *y, *z;
};

// The operation on nodes whose forces are complete: the forces are stored, or the nodes move.
// Velocity Verlet moves them from the velocities half a step earlier to those half a step later.
enum sweep_finish {
    SWEEP_FORCES,
    SWEEP_HALF_KICK, // they are stored, and complete the velocities of velocity Verlet
    SWEEP_EXPLICIT_EULER,
    SWEEP_SYMPLECTIC_EULER,
    SWEEP_VELOCITY_VERLET,
    SWEEP_VERLET,         // x0 is the position before; velocities are backward differences
    SWEEP_MIDPOINT_FIRST, // stages of Runge-Kutta methods
    SWEEP_MIDPOINT_LAST,
    SWEEP_RK4_FIRST,
    SWEEP_RK4_SECOND,
    SWEEP_RK4_THIRD,
    SWEEP_RK4_LAST
};

// Whether nodes move from the state at the start of the step, x0 and v0. The first stage writes the
// state of the second one in place of x0 and v0, and the last stage that at the end of the step, so
// that neither copies any: the integrator then swaps x and v with x0 and v0.
static inline bool finish_is_stage(enum sweep_finish finish)
{
    return finish >= SWEEP_MIDPOINT_FIRST;
}

static inline bool finish_is_first_stage(enum sweep_finish finish)
{
    return finish == SWEEP_MIDPOINT_FIRST || finish == SWEEP_RK4_FIRST;
}

static inline bool finish_is_last_stage(enum sweep_finish finish)
{
    return finish == SWEEP_MIDPOINT_LAST || finish == SWEEP_RK4_LAST;
}

// Whether the powers of an evaluation with this finish may be measured: the energy budget samples
// them at the start of a step. Kernels for the other stages are not compiled with powers.
static inline bool finish_may_measure(enum sweep_finish finish)
{
    return !finish_is_stage(finish) || finish_is_first_stage(finish);
}

// Whether the forces are stored, and nodes stay where they are.
static inline bool finish_stores_forces(enum sweep_finish finish)
{
    return finish == SWEEP_FORCES || finish == SWEEP_HALF_KICK;
}

// Sums of the energy budget while forces are computed (forces/energy_budget.c), in double. Each
// lane sums fixed positions of nodes or springs within the kernel's range, so the sums are the same
// bits on every instruction set.
enum { POWER_LANES = 16 };

// A kernel adds at most POWER_FLUSH positions to `partial`, and then adds `partial` to `lanes`.
enum { POWER_FLUSH = 8 * POWER_LANES };

struct power_sums {
    _Alignas(64) double lanes[POWER_COLUMNS][POWER_LANES];
    _Alignas(64) real partial[POWER_COLUMNS][POWER_LANES];
    bool drives; // kinematic nodes move, so the last two columns are needed
};

static inline void power_sums_start(const struct system *system, struct power_sums *sums)
{
    *sums = (struct power_sums){
        .drives = system->topology->motion_count + system->kinematic_targets.count > 0};
}

// Stores the sums of a part of an evaluation (system->powers).
static inline void power_sums_store(const struct power_sums *sums, double *powers)
{
    for (int column = 0; column < POWER_COLUMNS; column++)
        for (int lane = 0; lane < POWER_LANES; lane++)
            powers[column] += sums->lanes[column][lane];
}

// Nodes whose forces are complete once `own` and `reactions` (either may be NULL), gravity and drag
// have been added. `loaded`: the force arrays contain other forces already; `clears`: they must be
// 0 after the nodes have moved.
struct finish_range {
    int64_t first;
    long count;
    struct reals own, reactions;
    bool loaded, clears;
    struct power_sums *powers; // NULL: not measured
};

// The wind of one evaluation.
struct wind_now {
    real wx, wy, wz; // m/s, gusts included
    enum wind_law law;
    real factor; // c of laws node and face; density * drag / 2 of law quadratic
    bool relative;
};

// Kinetic energy, gravitational potential energy (J), and the sum of all coordinates, which is
// finite only if all of them are.
struct node_sums {
    double kinetic, gravity, coordinates;
};

// `count` <= 64 springs of a stateful grid, from nodes a + i to b + i; indices in the state
// state_index + i.
struct grid_row_springs {
    int64_t a, b;
    uint64_t state_index;
    real built; // rest length
    int count;
};

// The bounding box of nodes, m; least > most if there is none, or none with finite coordinates.
struct node_box {
    real least[3], most[3];
};

// Rows of `count` consecutive nodes, `stride` apart.
struct node_rows {
    size_t first, rows, count, stride;
};

// A collider in the broad phase, with a margin for the rounding of the test. Nodes may touch if n.x
// < limit (plane, n = a), |x - a|^2 < limit (sphere), or if they are more than -limit outside the
// box from a to b (room).
struct near_shape {
    enum collider_type type;
    real a[3], b[3];
    real limit;
};

// Nodes per word (contact/touch_body.h).
enum { TOUCH_NODES = 64 };

// A surface of a collider for its contacts, in double: a plane, a wall of a room or a sphere.
struct touch_surface {
    bool curved;
    uint8_t bit;     // the number of the surface among those of the collider, as a bit
    vec3 at, normal; // a point of a plane and its normal; the centre of a sphere
    double radius;
    vec3 velocity;                          // the same for all surfaces of a collider
    double stiffness, friction, absorption; // for penalty colliders
};

// The input of a projection for a word of nodes, and its output besides the state.
struct touch_word {
    size_t first;
    int count;
    uint64_t except;                      // nodes to skip
    const struct touch_surface *surfaces; // of one collider, in order
    int surface_count;
    bool rests;          // a plane without friction: contacts change nodes as rest_on_plane does
    const double *slows; // factors of friction on the velocity along the surface; NULL: 1
    const double *mass;
    uint8_t *touching;      // of all nodes
    double *taken, *driven; // J, taken by friction and added by moving surfaces
};

struct touch_result {
    uint64_t done, moved; // bits of nodes; nodes that are not done are unchanged
};

struct kernels {
    const char *name;

    // ---- Springs on grids (springs/grid/)

    // Springs of a range of rows (sweep.h).
    void (*grid_pass)(const struct pass_range *range, const struct sweep_pass *pass);
    // The elements of a cloth that start at the nodes of a row (sweep.h), which `rows_after` rows
    // follow, at most two; range->other: the reactions on the next row and the one after it.
    void (*grid_elements)(const struct pass_range *range, int rows_after);
    // Completes nodes whose forces are known, on a grid or not: adds gravity and drag, and may move
    // the nodes.
    void (*grid_finish)(const struct system *system, const struct finish_range *range,
                        enum sweep_finish finish);
    // Whole rows of a cloth from springs to motion (cloth_body.h). range->offset: nodes per row;
    // range->other: the reactions on these rows and on the following ones, of which the row after
    // the next one is not set yet; `masses` of the nodes, or NULL if each has `each`. loaded: the
    // force arrays contain other forces already, and are cleared once nodes have moved. Otherwise a
    // `wind` of law face may be computed together with the springs; range->sum is then a ring of
    // wind_ring_length reals, the last of which contain the contributions of the faces of the
    // previous row to the first row.
    void (*grid_cloth)(const struct system *system, const struct pass_range *range,
                       const real *masses, double each, bool loaded, const struct wind_now *wind,
                       enum sweep_finish finish);
    // state->power of rows [rows.first, rows.end) of a grid, a row being the nx nodes of one (y,
    // z): the power dissipated by the springs to later nodes.
    void (*grid_power)(const struct system *system, const struct plan_grid *grid,
                       struct range rows);
    // Bit i is set if spring i of the row is not broken and beyond its limits. Reads the state of
    // no other spring.
    uint64_t (*grid_overstrained)(const struct state *state, const struct grid_row_springs *springs,
                                  const struct strain_limits *limits);
    // Springs of a row as constraints, which change the velocities of their nodes.
    void (*grid_constraints)(const struct constraint_row *row);
    // out := the product of these nodes of a grid, numbered within it, with the tangent of its
    // springs.
    void (*grid_tangent)(const struct tangent_grid *grid, const struct tangent_product *product,
                         struct range nodes);
    // Sets `to` at the lines' nodes to the solution for `from`, or adds it.
    void (*line_solve)(const struct line_bundle *bundle, const real *const from[3],
                       real *const to[3], bool add);

    // ---- Packed springs (springs/packed/), one tile per call; kernels write only to its nodes

    // Forces. If the tile has rings, also computes the result of ring_volume and keeps the
    // gradient; otherwise returns 0. The power of the damping is added to `powers` unless it is
    // NULL.
    double (*packed_forces)(const struct system *system, size_t tile, double *powers);
    // The same volume of a tile with rings, without forces.
    double (*packed_volume)(const struct system *system, size_t tile);
    // out := the product with the tangent of the springs.
    void (*packed_tangent)(const struct system *system, const struct tangent_product *product,
                           size_t tile);

    // ---- Springs in coloured blocks (springs/listed/)

    // Forces of the springs of a block, to whose nodes no other thread writes.
    void (*coloured_forces)(const struct system *system, const void *unused,
                            struct plan_block block);

    // ---- Faces (faces/)

    // Wind of every law on the faces of rows of a cloth. Writes only to the nodes of these rows:
    // their forces and, for law node, their normals nx, ny, nz. The power of the wind is added to
    // `powers` unless it is NULL.
    void (*wind_grid)(const struct system *system, const struct wind_now *wind,
                      const struct plan_face_grid *grid, struct range rows,
                      struct power_sums *powers);
    // The forces of a wind of law face on the cells between rows `row` and `row` + 1 that act on
    // the nodes of the latter, pinned or not.
    void (*wind_row_above)(const struct system *system, const struct wind_now *wind,
                           const struct plan_face_grid *grid, uint64_t row, struct reals to);
    // sum (x - x of the body's first node) dV/dx over the nodes of a tile, times 6. If `keep`, six
    // times the gradient of the volume is written to ax, ay, az of these nodes.
    double (*ring_volume)(const struct system *system, const struct plan_rings *rings,
                          uint64_t tile, bool keep);
    // f += factor a
    void (*gas_force)(const struct system *system, real factor, struct range nodes);

    // ---- Elements (elements/)

    // Adds the forces of the elements of a body to a block of its nodes: those of ropes and cloths,
    // and those of lattices, of which only these layers of the block are computed. The power of the
    // damping of elements whose first node (centre, for bending) is in the block is returned, or 0
    // if it is not wanted; for lattices it is added to `powers`, one for each of the layers (NULL:
    // not wanted). NULL: elements are computed one by one.
    double (*element_sheet)(const struct system *system, const struct elements_body *body,
                            const int64_t block[3], bool power);
    void (*element_solid)(const struct system *system, const struct elements_body *body,
                          const int64_t block[3], struct range layers, double *powers);
    // Adds the forces of a range of triangles of membranes; returns the power of their damping, or
    // 0 if it is not wanted. No other worker may add to their nodes.
    double (*element_triangles)(const struct system *system, struct range triangles, bool power);

    // Folds of the range: their strains, and the rates of these if wanted; then their forces, with
    // the power of the damping if wanted.
    void (*fold_strains)(const struct system *system, struct range folds, bool rates);
    double (*fold_forces)(const struct system *system, struct range folds, bool power);

    // ---- Nodes

    // Adds the nodes of the range to the sums; their masses are masses[0], ..., or `each` if NULL.
    void (*node_sums)(const struct state *state, struct range range, const double *masses,
                      double each, const double gravity[3], struct node_sums *sums);
    // The bounding box of the nodes.
    void (*node_box)(const real *x, const real *y, const real *z, struct range nodes,
                     struct node_box *box);
    // The box of to - from at the nodes of these rows, or of `to` if `from` is NULL.
    void (*displacement_box)(const real *const to[3], const real *const from[3],
                             const struct node_rows *rows, struct node_box *box);
    // Bit i is set if node first + i may touch; count <= 64.
    uint64_t (*nodes_near)(const struct state *state, size_t first, int count,
                           const struct near_shape *shape);
    // Adds the penalty forces of a surface on nodes with finite coordinates; count <= TOUCH_NODES.
    // NULL: contacts are computed one by one.
    void (*touch_forces)(struct state *state, size_t first, int count,
                         const struct touch_surface *surface);
    // Projects the nodes that touch only surfaces of the collider that they touched before. NULL:
    // contacts are computed one by one.
    struct touch_result (*touch_project)(struct state *state, const real *inverse_mass,
                                         const struct touch_word *word);
    bool touch_rests; // whether this is faster than one by one if word->rests

    // ---- Surfaces (contact/candidates.h)

    // The box of 32 nodes: least x, y, z, most x, y, z.
    void (*surface_box)(const real (*x)[32], real box[6]);
    // The boxes of the triangles and edges of a block.
    void (*candidate_boxes)(const struct candidate_block *block, struct candidate_boxes *boxes);
    // Bits of the first `count` <= 64 boxes, in six rows of whole registers, that meet a box.
    uint64_t (*boxes_meeting)(const real *const rows[6], int count, const real box[6]);
    // The candidates of a pair of blocks.
    void (*candidates)(const struct candidate_pair *pair, struct candidate_codes *result);
    // Adds the forces of the candidates that touch to those on the nodes of both blocks (which may
    // be the same block). Returns whether any touch; *least: the square of the least distance of
    // those that are evaluated.
    bool (*barrier_forces)(const struct listed_pair *pair, const struct barrier *barrier,
                           real (*on_a)[32], real (*on_b)[32], real *least);
};

// The plain loops with which every other kernel is compared. Only the kernels of nodes are set in
// this table: a reference plan has no grids, no packed springs and no rings.
extern const struct kernels REAL_NAME(kernels_reference);

// The table of an instruction set that this machine supports.
const struct kernels *REAL_NAME(kernels_for)(enum isa isa);

#endif
