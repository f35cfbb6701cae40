// The kernels: inner loops over springs and faces, behind one table that is chosen when the solver
// is made. A kernel gets a run of elements in the plan's order whose nodes nobody else writes
// meanwhile, and adds to the forces of their nodes. Numeric: compiled for float and for double.
#ifndef TAUT_KERNELS_KERNELS_H
#define TAUT_KERNELS_KERNELS_H

#include "kernels/line.h"
#include "kernels/links.h"
#include "kernels/sweep.h"
#include "kernels/tangent.h"
#include "simd/isa.h"
#include "state/system.h"

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
    double kinetic, gravity, place;
};

// A spring of length L is beyond its limits if L > high L0 or L < low L0, where L0 is its present
// rest length or the one it was built with.
struct strain_limits {
    bool of_present;
    real high, low;
};

// `count` <= 64 springs of a grid that remembers, from nodes a + i to b + i; places place + i.
struct grid_strand {
    int64_t a, b;
    uint64_t place;
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

struct kernels {
    const char *name;
    // Elastic and damping forces of springs (physics.md, 3).
    void (*springs)(const struct system *system, const void *unused, struct plan_block block);
    // Springs as links; `pass` is a struct link_pass. They change the velocities of their nodes.
    void (*links)(const struct system *system, const void *pass, struct plan_block block);
    void (*grid_links)(const struct link_row *row);
    // Springs of a tile of packed ones (plan/packed.h); writes to the nodes of the tile alone.
    // Where the tile goes round rings also what ring_tile does, keeping the gradient; elsewhere 0.
    double (*packed)(const struct system *system, size_t tile);
    // Of a tile that goes round rings the same number by itself.
    double (*packed_volume)(const struct system *system, size_t tile);
    // Adds each face's unit normal to nx, ny, nz of its nodes.
    void (*normals)(const struct system *system, const void *unused, struct plan_block block);
    // Wind of laws face and quadratic; `wind` is a struct wind_now.
    void (*wind)(const struct system *system, const void *wind, struct plan_block block);
    // Gas pressure, state->pressure of the face's body, on bodies without rings.
    void (*pressure)(const struct system *system, const void *unused, struct plan_block block);
    // Springs of a range of a grid (sweep.h), and what is done with nodes whose forces are known:
    // gravity and drag are added, and the nodes may be moved.
    void (*grid_pass)(const struct pass_range *range, const struct sweep_pass *pass);
    void (*grid_finish)(const struct system *system, const struct finish_range *range,
                        enum sweep_finish finish);
    // Whole rows of a cloth from springs to motion, with symplectic Euler's method
    // (grid_cloth_body.h). range->offset: nodes of a row; range->other: the reactions on these rows
    // and on those ahead, of which the row after the next one is not set yet; each node has `mass`.
    // loaded: the forces hold something already, and are to be cleared. Else there may be a `wind`
    // of law face to do on the way; range->sum is a ring of wind_ring_length places then, of which
    // the last hold what the faces of the row before give to the first row.
    void (*grid_cloth)(const struct system *system, const struct pass_range *range, real mass,
                       bool loaded, const struct wind_now *wind);
    // state->power of rows [rows.first, rows.end) of a grid, a row being the nx nodes of one (y,
    // z): what the damping takes of the springs to later nodes.
    void (*grid_power)(const struct system *system, const struct grid_constants *grid,
                       struct range rows);
    // Bit i is set where spring i of the strand is whole and beyond its limits. Reads the state of
    // no other spring.
    uint64_t (*grid_beyond)(const struct state *state, const struct grid_strand *strand,
                            const struct strain_limits *limits);
    // Wind of every law on the faces of rows of a cloth; writes to the nodes of these rows alone:
    // their forces and, of law node, their normals nx, ny, nz.
    void (*face_grid)(const struct system *system, const struct wind_now *wind,
                      const struct plan_face_grid *grid, struct range rows);
    // What a wind of law face on the cells between rows `row` and `row` + 1 gives to the latter's
    // nodes, pinned or not.
    void (*face_carry)(const struct system *system, const struct wind_now *wind,
                       const struct plan_face_grid *grid, uint64_t row, struct reals to);
    // sum (x - x of the body's first node) dV/dx over the nodes of a tile, times 6; where it is to
    // be kept, six times the gradient of the volume goes to ax, ay, az of these nodes.
    double (*ring_tile)(const struct system *system, const struct plan_rings *rings, uint64_t tile,
                        bool keep);
    // f += factor a
    void (*ring_push)(const struct system *system, real factor, struct range nodes);
    // Adds the nodes of the range to the sums; their masses are masses[0], ..., or `each` if NULL.
    void (*node_sums)(const struct state *state, struct range range, const double *masses,
                      double each, const double gravity[3], struct node_sums *sums);
    // The box of the nodes' x, y and z, of whatever vectors.
    void (*node_box)(const real *x, const real *y, const real *z, struct range nodes,
                     struct node_box *box);
    // Bit i is set where node first + i may touch; count <= 64.
    uint64_t (*nodes_near)(const struct state *state, size_t first, int count,
                           const struct near_shape *shape);
    // out := the product of these nodes of a grid, counted in it, with the tangent of its springs.
    void (*tangent_grid)(const struct tangent_grid *grid, const struct tangent_product *product,
                         struct range nodes);
    // The same of the nodes of a tile of packed springs.
    void (*tangent_packed)(const struct system *system, const struct tangent_product *product,
                           size_t tile);
    // Lines of nodes that are solved one by one (line.h).
    line_solve line_solve;
};

// Whether more than springs, gravity and drag act on nodes of grids in the present evaluation.
static inline bool sweep_is_loaded(const struct system *system)
{
    return system->sweeps->loaded || contacts_are_found(system);
}

typedef void (*block_kernel)(const struct system *system, const void *argument,
                             struct plan_block block);

// The plain loops: the oracle of every other table, for ever.
extern const struct kernels REAL_NAME(kernels_reference);

// The table for an instruction set that this machine has. Their results are the same bits.
const struct kernels *REAL_NAME(kernels_for)(enum isa isa);

// The grid kernels of each instruction set.
#define DECLARE_GRID_KERNELS(isa)                                                                  \
    void REAL_NAME(grid_pass_##isa)(const struct pass_range *, const struct sweep_pass *);         \
    void REAL_NAME(grid_finish_##isa)(const struct system *, const struct finish_range *,          \
                                      enum sweep_finish);                                          \
    void REAL_NAME(grid_cloth_##isa)(const struct system *, const struct pass_range *, real, bool, \
                                     const struct wind_now *);                                     \
    void REAL_NAME(grid_power_##isa)(const struct system *, const struct grid_constants *,         \
                                     struct range);                                                \
    void REAL_NAME(node_sums_##isa)(const struct state *, struct range, const double *, double,    \
                                    const double[3], struct node_sums *);                          \
    uint64_t REAL_NAME(grid_beyond_##isa)(const struct state *, const struct grid_strand *,        \
                                          const struct strain_limits *);                           \
    void REAL_NAME(node_box_##isa)(const real *, const real *, const real *, struct range,         \
                                   struct node_box *);                                             \
    uint64_t REAL_NAME(nodes_near_##isa)(const struct state *, size_t, int,                        \
                                         const struct near_shape *);                               \
    void REAL_NAME(grid_links_##isa)(const struct link_row *);
DECLARE_GRID_KERNELS(base)
DECLARE_GRID_KERNELS(v3)
DECLARE_GRID_KERNELS(v4)

#define FACE_GRID_ARGUMENTS                                                                        \
    const struct system *, const struct wind_now *, const struct plan_face_grid *, struct range
void REAL_NAME(face_grid_base)(FACE_GRID_ARGUMENTS);
void REAL_NAME(face_grid_v3)(FACE_GRID_ARGUMENTS);
void REAL_NAME(face_grid_v4)(FACE_GRID_ARGUMENTS);
#define FACE_CARRY_ARGUMENTS                                                                       \
    const struct system *, const struct wind_now *, const struct plan_face_grid *, uint64_t,       \
        struct reals
void REAL_NAME(face_carry_base)(FACE_CARRY_ARGUMENTS);
void REAL_NAME(face_carry_v3)(FACE_CARRY_ARGUMENTS);
void REAL_NAME(face_carry_v4)(FACE_CARRY_ARGUMENTS);

#define RING_TILE_ARGUMENTS const struct system *, const struct plan_rings *, uint64_t, bool
double REAL_NAME(ring_tile_base)(RING_TILE_ARGUMENTS);
double REAL_NAME(ring_tile_v3)(RING_TILE_ARGUMENTS);
double REAL_NAME(ring_tile_v4)(RING_TILE_ARGUMENTS);
#define RING_PUSH_ARGUMENTS const struct system *, real, struct range
void REAL_NAME(ring_push_base)(RING_PUSH_ARGUMENTS);
void REAL_NAME(ring_push_v3)(RING_PUSH_ARGUMENTS);
void REAL_NAME(ring_push_v4)(RING_PUSH_ARGUMENTS);

#define TANGENT_GRID_ARGUMENTS                                                                     \
    const struct tangent_grid *, const struct tangent_product *, struct range
void REAL_NAME(tangent_grid_base)(TANGENT_GRID_ARGUMENTS);
void REAL_NAME(tangent_grid_v3)(TANGENT_GRID_ARGUMENTS);
void REAL_NAME(tangent_grid_v4)(TANGENT_GRID_ARGUMENTS);
#define TANGENT_PACKED_ARGUMENTS const struct system *, const struct tangent_product *, size_t
void REAL_NAME(tangent_packed_base)(TANGENT_PACKED_ARGUMENTS);
void REAL_NAME(tangent_packed_v3)(TANGENT_PACKED_ARGUMENTS);
void REAL_NAME(tangent_packed_v4)(TANGENT_PACKED_ARGUMENTS);

#define LINE_ARGUMENTS const struct line_bundle *, const real *const[3], real *const[3], bool
void REAL_NAME(line_solve_base)(LINE_ARGUMENTS);
void REAL_NAME(line_solve_v3)(LINE_ARGUMENTS);
void REAL_NAME(line_solve_v4)(LINE_ARGUMENTS);

// The kernels of packed springs.
double REAL_NAME(packed_base)(const struct system *system, size_t number);
double REAL_NAME(packed_v3)(const struct system *system, size_t number);
double REAL_NAME(packed_v4)(const struct system *system, size_t number);
double REAL_NAME(packed_volume_base)(const struct system *system, size_t number);
double REAL_NAME(packed_volume_v3)(const struct system *system, size_t number);
double REAL_NAME(packed_volume_v4)(const struct system *system, size_t number);

// All springs that are on no grid, packed or in blocks; of each tile of packed ones that goes round
// rings its share in the volume, into chunk_sums. Ends with a barrier.
void REAL_NAME(run_springs)(const struct system *system, const struct worker *worker);

// The plain loop of links.
void REAL_NAME(links_plain)(const struct system *system, const void *argument,
                            struct plan_block block);

// One iteration over all springs as links, in a substep of `step` seconds: blocks, then grids.
void REAL_NAME(run_links)(const struct system *system, double step, bool first,
                          const struct worker *worker);

// Runs a kernel over all blocks of a set: colour after colour, the blocks of a colour shared among
// the workers, then the tail by worker 0. Ends with a barrier.
void REAL_NAME(run_coloured)(const struct system *system, const struct plan_set *set,
                             block_kernel kernel, const void *argument,
                             const struct worker *worker);

#endif
