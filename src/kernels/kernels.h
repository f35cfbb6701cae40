// The kernels of an instruction set, behind one table that is chosen when the solver is made. Each
// is written once, in the header *_body.h of its module, in the vocabulary of simd/wide.h; table.h
// compiles all of them for one instruction set. This header has what kernels of several modules
// share; modules include it, and it none of them. A kernel receives nodes that nobody else writes
// meanwhile. Their results are the same bits on every instruction set. Numeric.
#ifndef TAUT_KERNELS_KERNELS_H
#define TAUT_KERNELS_KERNELS_H

#include "simd/isa.h"
#include "state/system.h"

// Of the modules that have the kernels.
struct constraint_row;
struct line_bundle;
struct pass_range;
struct strain_limits;
struct sweep_pass;
struct tangent_grid;
struct tangent_product;

struct reals {
    real *x, *y, *z;
};

// What is done with nodes whose forces are complete: the forces are stored, or the nodes moved, by
// velocity Verlet from the velocities half a step before to those half a step later.
enum sweep_finish {
    SWEEP_FORCES,
    SWEEP_EXPLICIT_EULER,
    SWEEP_SYMPLECTIC_EULER,
    SWEEP_VELOCITY_VERLET
};

// What the energy budget sums while forces are computed (forces/energy_budget.c), in double, in
// lanes by the position of a node, or of a spring, in what a kernel is given: so the sums are the
// same bits on every instruction set.
enum { POWER_LANES = 16 };

// A kernel adds to `partial` for POWER_FLUSH positions at most, and then that to `lanes`.
enum { POWER_FLUSH = 8 * POWER_LANES };

struct power_sums {
    _Alignas(64) double lanes[POWER_COLUMNS][POWER_LANES];
    _Alignas(64) real partial[POWER_COLUMNS][POWER_LANES];
    bool drives; // kinematic nodes move, so that the last two columns are wanted
};

static inline void power_sums_start(const struct system *system, struct power_sums *sums)
{
    *sums = (struct power_sums){
        .drives = system->topology->motion_count + system->kinematic_targets.count > 0};
}

// Of a part of an evaluation (system->powers).
static inline void power_sums_store(const struct power_sums *sums, double *powers)
{
    for (int column = 0; column < POWER_COLUMNS; column++)
        for (int lane = 0; lane < POWER_LANES; lane++)
            powers[column] += sums->lanes[column][lane];
}

// Nodes whose forces are complete when `own` and `reactions` have been added (nothing if NULL), and
// gravity and drag. `loaded`: the forces hold something already; `clears`: they must be 0 after the
// nodes have moved.
struct finish_range {
    int64_t first;
    long count;
    struct reals own, reactions;
    bool loaded, clears;
    struct power_sums *powers; // NULL: not wanted
};

// The wind of one evaluation.
struct wind_now {
    real wx, wy, wz; // m/s, gusts included
    enum wind_law law;
    real factor; // c of laws node and face; density * drag / 2 of law quadratic
    bool relative;
};

// Kinetic energy, potential energy of gravity (J), and the sum of all coordinates, which is a
// number only if all of them are.
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

// The bounding box of some nodes, m; of none, or of none that is a number, least > most.
struct node_box {
    real least[3], most[3];
};

// A collider as the broad phase sees it, with a margin for what its arithmetic rounds off. Nodes
// may touch where n.x < limit (plane, n = a), |x - a|^2 < limit (sphere), or where they are more
// than -limit outside of the box from a to b (room).
struct near_shape {
    enum collider_type type;
    real a[3], b[3];
    real limit;
};

// Nodes of a word (contact/touch_body.h).
enum { TOUCH_NODES = 64 };

// A plane, a wall of a room or a sphere, in double: a surface of a collider as its contacts see it.
struct touch_surface {
    bool curved;
    uint8_t bit;     // which of the collider's surfaces
    vec3 at, normal; // a point of a plane and its normal; the centre of a sphere
    double radius;
    vec3 velocity;                          // the same of all surfaces of a collider
    double stiffness, friction, absorption; // of penalties
};

// What a projection is told of a word of nodes, and what it writes beside the state.
struct touch_word {
    size_t first;
    int count;
    uint64_t except;                      // nodes that are to be left alone
    const struct touch_surface *surfaces; // of one collider, in their order
    int surface_count;
    bool rests;          // a plane without friction: contacts change a node as rest_on_plane does
    const double *slows; // what friction leaves of the speed along the surface; NULL: all
    const double *mass;
    uint8_t *touching;      // of all nodes
    double *taken, *driven; // J, by friction and by moving surfaces
};

struct touch_result {
    uint64_t done, moved; // bits of nodes; what is not done is as it was
};

struct kernels {
    const char *name;

    // ---- Springs on grids (springs/grid/)

    // Springs of a range of rows (sweep.h).
    void (*grid_pass)(const struct pass_range *range, const struct sweep_pass *pass);
    // What is done with nodes whose forces are known, on a grid or not: gravity and drag are added,
    // and the nodes may be moved.
    void (*grid_finish)(const struct system *system, const struct finish_range *range,
                        enum sweep_finish finish);
    // Whole rows of a cloth from springs to motion (cloth_body.h). range->offset: nodes of a row;
    // range->other: the reactions on these rows and on those ahead, of which the row after the next
    // one is not set yet; `masses` of the nodes, or NULL where each has `each`. loaded: the forces
    // hold something already, and are to be cleared once nodes have moved. Else there may be a
    // `wind` of law face to be computed with the springs; range->sum then is a ring of
    // wind_ring_length reals, of which the last hold what the faces of the row before give to the
    // first row.
    void (*grid_cloth)(const struct system *system, const struct pass_range *range,
                       const real *masses, double each, bool loaded, const struct wind_now *wind,
                       enum sweep_finish finish);
    // state->power of rows [rows.first, rows.end) of a grid, a row being the nx nodes of one (y,
    // z): what the damping takes of the springs to later nodes.
    void (*grid_power)(const struct system *system, const struct plan_grid *grid,
                       struct range rows);
    // Bit i is set where spring i of the row is whole and beyond its limits. Reads the state of no
    // other spring.
    uint64_t (*grid_overstrained)(const struct state *state, const struct grid_row_springs *springs,
                                  const struct strain_limits *limits);
    // Springs of a row as constraints, which change the velocities of their nodes.
    void (*grid_constraints)(const struct constraint_row *row);
    // out := the product of these nodes of a grid, counted in it, with the tangent of its springs.
    void (*grid_tangent)(const struct tangent_grid *grid, const struct tangent_product *product,
                         struct range nodes);
    // Sets `to` of the lines' nodes to what solves `from`, or adds it.
    void (*line_solve)(const struct line_bundle *bundle, const real *const from[3],
                       real *const to[3], bool add);

    // ---- Packed springs (springs/packed/), a tile at a time; all write to its nodes alone

    // Forces. Where the tile has rings also what ring_volume does, keeping the gradient; else 0.
    // powers: to which that of the damping is added, or NULL.
    double (*packed_forces)(const struct system *system, size_t tile, double *powers);
    // Of a tile with rings the same number by itself.
    double (*packed_volume)(const struct system *system, size_t tile);
    // out := the product with the tangent of the springs.
    void (*packed_tangent)(const struct system *system, const struct tangent_product *product,
                           size_t tile);

    // ---- Springs in coloured blocks (springs/listed/)

    // Forces of the springs of a block whose nodes nobody else writes meanwhile.
    void (*coloured_forces)(const struct system *system, const void *unused,
                            struct plan_block block);

    // ---- Faces (faces/)

    // Wind of every law on the faces of rows of a cloth; writes to the nodes of these rows alone:
    // their forces and, of law node, their normals nx, ny, nz.
    // powers: to which the wind's is added, or NULL.
    void (*wind_grid)(const struct system *system, const struct wind_now *wind,
                      const struct plan_face_grid *grid, struct range rows,
                      struct power_sums *powers);
    // What a wind of law face on the cells between rows `row` and `row` + 1 gives to the latter's
    // nodes, pinned or not.
    void (*wind_row_above)(const struct system *system, const struct wind_now *wind,
                           const struct plan_face_grid *grid, uint64_t row, struct reals to);
    // sum (x - x of the body's first node) dV/dx over the nodes of a tile, times 6; where it is to
    // be kept, six times the gradient of the volume goes to ax, ay, az of these nodes.
    double (*ring_volume)(const struct system *system, const struct plan_rings *rings,
                          uint64_t tile, bool keep);
    // f += factor a
    void (*gas_force)(const struct system *system, real factor, struct range nodes);

    // ---- Nodes

    // Adds the nodes of the range to the sums; their masses are masses[0], ..., or `each` if NULL.
    void (*node_sums)(const struct state *state, struct range range, const double *masses,
                      double each, const double gravity[3], struct node_sums *sums);
    // The box of the nodes' x, y and z, of whatever vectors.
    void (*node_box)(const real *x, const real *y, const real *z, struct range nodes,
                     struct node_box *box);
    // Bit i is set where node first + i may touch; count <= 64.
    uint64_t (*nodes_near)(const struct state *state, size_t first, int count,
                           const struct near_shape *shape);
    // Adds the penalty forces of a surface on nodes whose coordinates are numbers; count <=
    // TOUCH_NODES. NULL: contact by contact alone.
    void (*touch_forces)(struct state *state, size_t first, int count,
                         const struct touch_surface *surface);
    // Projects the nodes that touch no surface of the collider that they did not touch before.
    // NULL: contact by contact alone.
    struct touch_result (*touch_project)(struct state *state, const real *inverse_mass,
                                         const struct touch_word *word);
    bool touch_rests; // whether this is faster than node by node also where word->rests
};

// The plain loops that every other kernel is tested against. Of this table only the kernels of
// nodes are set: a reference plan has no grids, no packed springs and no rings.
extern const struct kernels REAL_NAME(kernels_reference);

// The table for an instruction set that this machine has.
const struct kernels *REAL_NAME(kernels_for)(enum isa isa);

#endif
