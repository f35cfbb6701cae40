// The state of a run: the arrays that it changes (arrays.h), with counts and flags. Numeric:
// compiled for float and for double (base/real.h).
#ifndef TAUT_STATE_STATE_H
#define TAUT_STATE_STATE_H

#include "base/hash.h"
#include "base/real.h"
#include "base/vec3.h"
#include "parallel/team.h"
#include "springs/plan.h"
#include "state/arrays.h"
#include "state/records.h"

// Elements before and after every array, so that vectors at the edge of a grid may load beyond its
// ends.
enum { STATE_GUARD = 64 };

// Large blocks begin at the start of a page. If their arrays did so too, node i of all of them
// would compete for the same few lines of the first-level cache. Each array therefore begins some
// lines after the previous one, as do other arrays that are used with them.
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
    bool restitution;   // some projecting collider has restitution
    size_t projections; // projecting colliders
    size_t frictions;   // slots of the memory of friction of each node
    // precision mixed
    bool low_positions, low_velocities, low_previous, low_previous_velocities;
};

// Nodes per block, the unit in which nodes are tested for contacts.
enum { CONTACT_BLOCK = 1024 };

struct state {
    const taut_allocator *allocator;
    // The nodes of mesh colliders follow those of bodies: arrays of `nodes` have space for them,
    // but only contact of surfaces knows them, and uses their positions and velocities, which it
    // sets.
    uint64_t collider_nodes;
    uint64_t nodes, springs, multipliers, slots, bodies, motions, colliders;
    uint64_t touches, frictions, contact_blocks;
    uint64_t step;                // steps done
    uint64_t previous_state_from; // the step from which on bdf2 has a valid previous state
    bool forces_current; // fx, fy, fz are the forces at x and v (and may be used by the next step)
    // Verlet integrators, within a run of steps: v lacks the half kick by the forces at x, which
    // the sweep of the next step adds (integrate/verlet.c).
    bool half_kick_due;
    bool energy_current;   // the energy that an implicit step found at its end is that of x and v
    bool forces_zero;      // fx, fy, fz are 0 at nodes on no grid, and
    bool grid_forces_zero; // at nodes of grids
    // Precision mixed: m, subtracted from all coordinates in the arrays; otherwise 0. A multiple of
    // a power of 2 of the size of the scene (docs/numerics.md).
    vec3 origin;
#define DECLARE(type, name, length, condition, kept) type *name;
    STATE_ARRAYS(DECLARE)
#undef DECLARE
};

// Whether positions have low parts; never in double precision.
static inline bool state_is_mixed(const struct state *state)
{
    return sizeof(real) == sizeof(float) && state->x_low;
}

// The relative rounding error of coordinates; with low parts, the product of those of both parts.
static inline double state_epsilon(const struct state *state)
{
    const double epsilon = (double)REAL_EPSILON;
    return state_is_mixed(state) ? epsilon * epsilon : epsilon;
}

static inline vec3 state_position(const struct state *s, size_t node)
{
    const double x = (double)s->x[node], y = (double)s->y[node], z = (double)s->z[node];
    if (!state_is_mixed(s))
        return vec3_make(x, y, z);
    return vec3_make(s->origin.x + (x + (double)s->x_low[node]),
                     s->origin.y + (y + (double)s->y_low[node]),
                     s->origin.z + (z + (double)s->z_low[node]));
}

static inline void state_put(struct state *s, size_t node, vec3 position)
{
    real_split(s->x, s->x_low, node, position.x - s->origin.x);
    real_split(s->y, s->y_low, node, position.y - s->origin.y);
    real_split(s->z, s->z_low, node, position.z - s->origin.z);
}

static inline void state_put_velocity(struct state *s, size_t node, vec3 velocity)
{
    real_split(s->vx, s->vx_low, node, velocity.x);
    real_split(s->vy, s->vy_low, node, velocity.y);
    real_split(s->vz, s->vz_low, node, velocity.z);
}

// Every worker of the team initialises its own share of the nodes, so that their memory is near to
// it; `team` may be NULL. Arrays have the length of the scene, but positions and velocities have
// memory for the known nodes only, and other arrays for those that are stepped, until others are
// written. Where not all nodes are known, springs of grids that break or yield have no rest lengths
// and no memory yet (springs/part_springs.h).
taut_status REAL_NAME(state_make)(const struct topology *topology, const struct plan *plan,
                                  const struct bodies *bodies, struct state_needs needs,
                                  struct state_share share, struct team *team,
                                  const taut_allocator *allocator, struct state **result,
                                  taut_error *error);

// The rest lengths as built of springs [springs.first, springs.end) of the state's arrays, where
// these exist.
void REAL_NAME(state_start_rest_lengths)(struct state *state, const struct topology *topology,
                                         const struct plan *plan, struct range springs);

// Makes everything by slot again, of a plan whose slots have changed, with the rest lengths as
// built; false without memory.
bool REAL_NAME(state_repack)(struct state *state, const struct topology *topology,
                             const struct plan *plan);

// Allocates the arrays that restitution needs, unless they exist; false without memory.
bool REAL_NAME(state_add_restitution)(struct state *state, const struct topology *topology);

void REAL_NAME(state_free)(struct state *state);

// Bytes of the state for a plan with these counts; only the counts of the topology are read.
uint64_t REAL_NAME(state_bytes_of)(const struct topology *topology,
                                   const struct plan_counts *counts, struct state_needs needs);

// Allocated bytes.
uint64_t REAL_NAME(state_bytes)(const struct state *state);

// The hash of positions and velocities: x, y, z, vx, vy, vz of each node in builder order. It may
// be formed piece by piece, by the builder numbers of nodes, from node 0 on: state_hash_begin, and
// then either of them, or the bytes of each node (state_hash_bytes) that state_hash_read has read.
void REAL_NAME(state_hash_begin)(const struct state *state, struct hash *hash);
void REAL_NAME(state_hash_add)(const struct state *state, const struct topology *topology,
                               uint64_t first, uint64_t count, struct hash *hash);
size_t REAL_NAME(state_hash_bytes)(const struct state *state);
void REAL_NAME(state_hash_read)(const struct state *state, const struct topology *topology,
                                uint64_t first, uint64_t count, void *to);
uint64_t REAL_NAME(state_hash)(const struct state *state, const struct topology *topology);

#endif
