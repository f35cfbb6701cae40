// The arrays that a run changes, listed once: the list allocates, frees, counts and hashes them.
// Numeric: compiled for float and for double (base/real.h).
#ifndef TAUT_STATE_STATE_H
#define TAUT_STATE_STATE_H

#include "base/real.h"
#include "parallel/team.h"
#include "springs/plan.h"

// X(type, name, length, condition): the array exists where the condition holds, else it is NULL.
// Node arrays are in internal order over all bodies (topology/reorder.h); spring arrays in the
// order of the plan's blocks, and behind them those of grids that remember (plan.h).
#define STATE_ARRAYS(X)                                                                            \
    /* positions (m), velocities (m/s), forces (N) */                                              \
    X(real, x, nodes, true)                                                                        \
    X(real, y, nodes, true)                                                                        \
    X(real, z, nodes, true)                                                                        \
    X(real, vx, nodes, true)                                                                       \
    X(real, vy, nodes, true)                                                                       \
    X(real, vz, nodes, true)                                                                       \
    X(real, fx, nodes, true)                                                                       \
    X(real, fy, nodes, true)                                                                       \
    X(real, fz, nodes, true)                                                                       \
    /* the state at the start of the step (midpoint, rk4) or one step back (verlet, bdf2) */       \
    X(real, x0, nodes, needs.base_positions)                                                       \
    X(real, y0, nodes, needs.base_positions)                                                       \
    X(real, z0, nodes, needs.base_positions)                                                       \
    X(real, vx0, nodes, needs.base_velocities)                                                     \
    X(real, vy0, nodes, needs.base_velocities)                                                     \
    X(real, vz0, nodes, needs.base_velocities)                                                     \
    /* sums of the stages' slopes (rk4) */                                                         \
    X(real, sx, nodes, needs.slopes)                                                               \
    X(real, sy, nodes, needs.slopes)                                                               \
    X(real, sz, nodes, needs.slopes)                                                               \
    X(real, svx, nodes, needs.slopes)                                                              \
    X(real, svy, nodes, needs.slopes)                                                              \
    X(real, svz, nodes, needs.slopes)                                                              \
    /* sums of unit normals of a node's faces (wind law node) */                                   \
    X(real, nx, nodes, needs.normals)                                                              \
    X(real, ny, nodes, needs.normals)                                                              \
    X(real, nz, nodes, needs.normals)                                                              \
    /* six times the gradient of the volume at a node (gas, of bodies with rings), m2 */           \
    X(real, ax, nodes, needs.gradients)                                                            \
    X(real, ay, nodes, needs.gradients)                                                            \
    X(real, az, nodes, needs.gradients)                                                            \
    /* impulses of the substep so far, times h, J s2/m (xpbd with several iterations): those of  \
     * the plan's blocks, then of each grid direction after direction */ \
    X(real, multiplier, links, needs.multipliers)                                                  \
    /* power that the damping of a node's forward springs takes, W (work of damped grids) */       \
    X(real, power, nodes, needs.power)                                                             \
    /* rest lengths that yielding moves (m); springs that broke */                                 \
    X(real, rest_length, springs, topology->any_yields)                                            \
    X(uint8_t, broken, springs, topology->any_breaks)                                              \
    /* rest lengths of packed springs (m), -1 for those that broke, where some may change */       \
    X(real, slot_rest, slots, topology->any_yields || topology->any_breaks)                        \
    /* per body: volume by its pressure's rule (m3), as built and now; gauge pressure (Pa)  \
     */      \
    X(double, volume_built, bodies, true)                                                          \
    X(double, volume, bodies, true)                                                                \
    X(double, pressure, bodies, true)                                                              \
    /* moved nodes: positions at the start of the step (m); pendulums: angle (rad), rate */        \
    X(vec3, motion_position, motions, true)                                                        \
    X(double, motion_angle, motions, true)                                                         \
    X(double, motion_rate, motions, true)                                                          \
    /* sphere colliders: centre and velocity at time collider_since; radius */                     \
    X(vec3, collider_centre, colliders, true)                                                      \
    X(vec3, collider_velocity, colliders, true)                                                    \
    X(double, collider_since, colliders, true)                                                     \
    X(double, collider_radius, colliders, true)                                                    \
    /* colliders that project: which of their surfaces a node touched at the last step's end, \
     * a bit a wall of a room, collider after collider; whether any node of a block did */    \
    X(uint8_t, touching, touches, needs.projections > 0)                                           \
    X(uint8_t, block_touches, contact_blocks, needs.projections > 0)                               \
    /* velocities at the start of the step, in blocks near a surface with restitution (m/s) */     \
    X(real, start_vx, nodes, needs.restitution)                                                    \
    X(real, start_vy, nodes, needs.restitution)                                                    \
    X(real, start_vz, nodes, needs.restitution)                                                    \
    X(uint8_t, start_known, contact_blocks, needs.restitution)                                     \
    /* and the stiffness of the springs at a node along any direction, over its mass (1/s2) */     \
    X(real, spring_rate, nodes, needs.restitution)

// Elements before and after every array, so that vectors at the edge of a grid may load beyond it.
enum { STATE_GUARD = 64 };

// Large blocks begin at the beginning of a page. If the arrays in them did so as well, node i of
// all of them would want the same few lines of the first level of the cache; so each begins some
// lines after the one before, as do arrays that are used beside them.
enum { STATE_OFFSETS = 12, STATE_OFFSET_FORCES = 6, STATE_OFFSET_SUMS = 9 };

#define STATE_OFFSET_BYTES 320
#define STATE_OFFSET(slot, type)                                                                   \
    (STATE_GUARD + (size_t)((slot) % STATE_OFFSETS) * (STATE_OFFSET_BYTES / sizeof(type)))

static inline size_t state_offset(int slot)
{
    return STATE_OFFSET(slot, real);
}

struct state_needs {
    bool base_positions, base_velocities, slopes, normals, power, gradients, multipliers;
    bool restitution;   // some collider that projects has it
    size_t projections; // colliders that project
};

// Nodes of a block, the unit in which nodes are tested for contacts.
enum { CONTACT_BLOCK = 1024 };

struct state {
    const taut_allocator *allocator;
    uint64_t nodes, springs, links, slots, bodies, motions, colliders;
    uint64_t touches, contact_blocks;
    uint64_t step;         // steps done
    uint64_t memory_from;  // the step from which on bdf2 remembers the one before it
    bool forces_current;   // fx, fy, fz belong to x and v (and may serve the next step)
    bool forces_zero;      // fx, fy, fz are 0 at nodes of no grid, and
    bool grid_forces_zero; // at those of grids
#define DECLARE(type, name, length, condition) type *name;
    STATE_ARRAYS(DECLARE)
#undef DECLARE
};

// Every worker of the team fills its own share of the nodes, so that it finds them near to it;
// `team` may be NULL.
taut_status REAL_NAME(state_make)(const struct topology *topology, const struct plan *plan,
                                  const struct bodies *bodies, struct state_needs needs,
                                  struct team *team, const taut_allocator *allocator,
                                  struct state **result, taut_error *error);

// Makes the arrays that restitution needs, where they are not there yet; false without memory.
bool REAL_NAME(state_add_restitution)(struct state *state, const struct topology *topology);

void REAL_NAME(state_free)(struct state *state);

// Bytes of the state of a topology and a plan, of which only the counts are looked at.
uint64_t REAL_NAME(state_bytes_of)(const struct topology *topology, const struct plan *plan,
                                   struct state_needs needs);

// Bytes held.
uint64_t REAL_NAME(state_bytes)(const struct state *state);

// The hash of positions and velocities: x, y, z, vx, vy, vz of each node in builder order.
uint64_t REAL_NAME(state_hash)(const struct state *state, const struct topology *topology);

#endif
