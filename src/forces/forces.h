// All forces of physics.md (in which order: forces.c). Every worker of the team calls these
// functions together; each ends with a barrier. Numeric: compiled for float and for double.
#ifndef TAUT_FORCES_FORCES_H
#define TAUT_FORCES_FORCES_H

#include "kernels/kernels.h"

// fx, fy, fz := all forces of the present x and v. Springs break here. The result may serve the
// next step where the integrator says so.
void REAL_NAME(forces_evaluate)(struct system *system, struct moment moment,
                                const struct worker *worker);

// The same to look at, not to go on from: nothing breaks.
void REAL_NAME(forces_look)(struct system *system, struct moment moment,
                            const struct worker *worker);

// fx, fy, fz := all forces but those of springs and colliders. A worker's own share of the nodes
// (node_share) is ready for it when this returns, without a barrier at the end; the others' need
// not be.
void REAL_NAME(forces_outside)(struct system *system, struct moment moment,
                               const struct worker *worker);

// The same as forces_evaluate, but every node makes its step of Euler's as soon as its force is
// known, and the forces are 0 afterwards. To the bit what forces_evaluate and a loop over the nodes
// would give.
void REAL_NAME(forces_move)(struct system *system, struct moment moment, enum sweep_finish finish,
                            const struct worker *worker);

// Marks springs that are stretched past break_at as broken, for ever.
void REAL_NAME(springs_break)(struct system *system, const struct worker *worker);

// Moves the rest lengths of springs strained past yield_at. Once a step, at its start.
void REAL_NAME(springs_yield)(struct system *system, const struct worker *worker);

// After the state's rest lengths and broken flags were set from outside; one worker alone.
void REAL_NAME(springs_refresh)(struct system *system);

// But for the wind on rows that a sweep that ends like that does itself (sweep_blows).
void REAL_NAME(wind_add)(struct system *system, struct moment moment, enum sweep_finish finish,
                         const struct worker *worker);

// The wind at a time, gusts included; .factor 0 if there is none.
struct wind_now REAL_NAME(wind_at)(const struct topology *topology, double time);

// How gas acts on a body: not at all, by itself (pressure_add), or beside its springs, whose pass
// finds the gradient of the volume on the way (pressure_after_springs).
static inline bool gas_acts_with_springs(const struct system *system, size_t body)
{
    return packed_ring_tiles(&system->plan->packed, system->topology, body) != NULL;
}

static inline bool gas_acts_alone(const struct system *system, size_t body)
{
    return system->topology->bodies[body].pressure.present && !gas_acts_with_springs(system, body);
}

// state->volume of closed bodies (of all, or of those whose gas acts alone), by the body's rule; of
// these also the gradient, which pressure_add goes on with.
// TAUT_ERROR_COLLAPSED in system->fault where gas has no room left.
void REAL_NAME(volumes_measure)(struct system *system, double time, bool only_gas,
                                const struct worker *worker);

// The same of bodies whose gas acts with springs, from what these left; worker 0 alone.
void REAL_NAME(volumes_take)(struct system *system, double time);

void REAL_NAME(pressure_add)(struct system *system, struct moment moment,
                             const struct worker *worker);

// The pressure where gas acts with springs; then pressure_push adds the forces to any nodes.
void REAL_NAME(pressure_after_springs)(struct system *system, struct moment moment,
                                       const struct worker *worker);
void REAL_NAME(pressure_push)(const struct system *system, struct range nodes);

// nRT that is in the body at that count of increments, in J.
double REAL_NAME(gas_amount)(const struct scene_pressure *pressure, uint64_t gas_step);

// P over the atmosphere's, in Pa, of that nRT at a volume; `built` is the volume as built.
double REAL_NAME(gas_pressure)(const struct scene_pressure *gas, double amount, double volume,
                               double built);

// One touch of a node on a collider surface: depth > 0 along the unit normal that points to the
// free side.
struct contact {
    vec3 normal;
    double depth;
    vec3 surface_velocity;
    int wall; // of a room 0 .. 5, else 0
};

// Contacts of a point with a collider at a time: at most 1, a room up to 6. Returns their number.
int REAL_NAME(collider_contacts)(const struct system *system, size_t collider, double time,
                                 vec3 position, struct contact contacts[6]);

// What a penalty collider does to a node: k p n - c_t v_t, and - c_n (v.n) n only on the way in
// (NeHe lesson 40); and the power that friction and absorption take.
struct contact_action {
    vec3 force;         // N
    double power_taken; // W
};

static inline struct contact_action contact_action(const struct scene_collider *collider,
                                                   const struct contact *contact, vec3 velocity)
{
    vec3 relative = vec3_subtract(velocity, contact->surface_velocity);
    double approach = vec3_dot(relative, contact->normal);
    vec3 sliding = vec3_subtract(relative, vec3_scale(approach, contact->normal));
    double absorbed = approach < 0 ? collider->absorption * approach : 0;
    double push = collider->stiffness * contact->depth - absorbed;
    return (struct contact_action){
        .force = vec3_subtract(vec3_scale(push, contact->normal),
                               vec3_scale(collider->friction, sliding)),
        .power_taken = collider->friction * vec3_dot(sliding, sliding) + absorbed * approach,
    };
}

// Calls `visit` for each contact of these nodes with penalty colliders. Of one node in the order of
// the colliders.
typedef void contact_visitor(const struct system *system, const struct scene_collider *collider,
                             size_t node, const struct contact *contact, void *context);
void REAL_NAME(contacts_visit)(const struct system *system, double time, struct range nodes,
                               contact_visitor *visit, void *context);

// Bit i: node i of the range, of CONTACT_BLOCK at most, may be less than `slack` away from a
// penalty collider, or inside of it. Returns whether any may.
bool REAL_NAME(contacts_within)(const struct system *system, double time, struct range nodes,
                                double slack, uint64_t near[CONTACT_BLOCK / 64]);

// Finds the blocks of nodes that may touch a penalty collider in this evaluation of the forces:
// contacts.found says whether there are any, and colliders_add visits these alone. Has a barrier
// where there are such colliders.
void REAL_NAME(contacts_find)(struct system *system, double time, const struct worker *worker);

void REAL_NAME(colliders_add)(struct system *system, double time, const struct worker *worker);

// response: project, at the end of a step, or of a substep of xpbd. A node that is
// found inside is put on the surface, and does not go in any more. Where it did not touch before
// this is an impact: it leaves with `restitution` times its speed, and the rest of its velocity is
// multiplied by `keep`. Where it did, friction slows it for the whole step. Without a barrier at
// the end; then contacts has the work done on each block, and whether a node of it has changed.
void REAL_NAME(colliders_project)(struct system *system, double time, const struct worker *worker);

// Whether that may change a node at all; the same on every worker.
bool REAL_NAME(colliders_near)(struct system *system, double time, const struct worker *worker);

// What the projection must know of the start of a step, once all velocities are known.
void REAL_NAME(colliders_remember)(struct system *system, double time, const struct worker *worker);

// What nodes touch at the start of a run.
void REAL_NAME(colliders_start)(struct system *system, double time, const struct worker *worker);

// Energies at the present state in J, into *energy by worker 0. The gas is that of moment.gas_step.
void REAL_NAME(energy_measure)(struct system *system, struct moment moment, taut_energy *energy,
                               const struct worker *worker);

// The kinetic energy alone, the same on every worker.
double REAL_NAME(kinetic_energy)(struct system *system, const struct worker *worker);

// Energy of the gas: -nRT ln(V / V0) + P_atm (V - V0), or its adiabatic work.
double REAL_NAME(gas_energy)(const struct scene_pressure *gas, double amount, double volume,
                             double built);

// Brings the account of work up to this moment; forces must be those of the present state.
void REAL_NAME(work_sample)(struct system *system, struct moment moment,
                            const struct worker *worker);

#endif
