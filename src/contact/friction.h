// Coulomb friction with memory on penalty colliders (Cundall and Strack 1979; docs/numerics.md).
//
// A contact is a node and a surface of a collider. It remembers an anchor: the point of the surface
// at which its tangential spring is not stretched. The stretch is the part along the surface of the
// offset of the node from the anchor, and the force along the surface
//
//   F = - (k_t stretch + c_t v_t), returned to the cone |F| <= mu N
//
// with k_t the normal stiffness, c_t a fraction of the critical damping of the node on that spring,
// N the normal force and mu the static coefficient, or the kinetic one while the contact slides.
// Forces only read the memory, so that all stages of a step see the same anchor and the exact
// offset from it. friction_update changes it once, at the end of a step. An anchor that is not
// changed does not drift: a contact that holds, holds for ever.
//
// The systems of an implicit step do not have that force but what is assumed of each contact
// (implicit_friction.c). Numeric.
#ifndef TAUT_CONTACT_FRICTION_H
#define TAUT_CONTACT_FRICTION_H

#include "contact/contact.h"
#include "state/reading.h"

// Flags of a contact; 0: none.
enum { FRICTION_TOUCHES = 1, FRICTION_SLIDES = 2, FRICTION_FAR_WALL = 4 };

// c_t over the critical damping, 2 sqrt(k_t m).
static const double FRICTION_DAMPING = 0.1;

static inline double friction_stiffness(const struct scene_collider *collider)
{
    return collider->stiffness;
}

// c_t, N s/m; 0 for nodes with a prescribed motion.
static inline double friction_damping(const struct system *system,
                                      const struct scene_collider *collider, size_t node)
{
    const double inverse = (double)system->constants->inverse_mass[node];
    return inverse > 0 ? 2 * FRICTION_DAMPING * sqrt(friction_stiffness(collider) / inverse) : 0;
}

// ---- Contact of surfaces (surface_friction.h, shape_contact.h), of barriers of stiffness k
//
// The stiffness of the tangential spring over k, of which the normal stiffness is at most 4; its
// damper over the critical one of the lightest free node on that spring; and that along the normal
// over the critical one of the lightest free node on the barrier:
//
//   c_n = 2 zeta sqrt(m psi''), of psi'' up to k
//
// as of granular media (LAMMPS, `damping tsuji`), where it makes the restitution of an impact that
// of its masses and not of its speed. Without it nothing takes what falls down a slope gains. Up to
// k, because what a weight presses is hardly stiffer, while the critical step has to allow for the
// greatest c_n at all contacts.
static const double SURFACE_FRICTION_STIFFNESS = 2, SURFACE_FRICTION_DAMPING = 0.025;
static const double SURFACE_NORMAL_DAMPING = 0.1;

// c_t, and c_n at most, N s/m; 0 if no node is free.
static inline double surface_tangential_damping(double barrier_stiffness, double mass)
{
    const double stiffness = SURFACE_FRICTION_STIFFNESS * barrier_stiffness;
    return isfinite(mass) ? 2 * SURFACE_FRICTION_DAMPING * sqrt(stiffness * mass) : 0;
}

static inline double surface_normal_damping(double barrier_stiffness, double mass)
{
    return isfinite(mass) ? 2 * SURFACE_NORMAL_DAMPING * sqrt(barrier_stiffness * mass) : 0;
}

// Its square, without a root.
static inline double surface_normal_damping_square(double barrier_stiffness, double mass)
{
    const double factor = 2 * SURFACE_NORMAL_DAMPING;
    return isfinite(mass) ? factor * factor * barrier_stiffness * mass : 0;
}

// The force of the damper, N, beside that of the barrier, with which it does not pull; `square`:
// of c_n at most; `curvature`: psi'' over k; `approach`: m/s, below 0 of what comes nearer.
static inline double surface_damper_force(double square, double curvature, double normal_force,
                                          double approach)
{
    const double part = curvature > 0 ? curvature < 1 ? curvature : 1 : 0;
    const double force = -sqrt(square * part) * approach;
    return force < -normal_force ? -normal_force : force;
}

// s: with Verlet's methods forces at t have the velocities w = v - h a / 2 of half a step before.
// The work of a damper in a step is h c w.v, whose sum over steps is that of h v^2 with c at this
// time after t; the sum of its forces, c w, is that of v with c at twice that time after it.
static inline double surface_damper_lead(const struct system *system)
{
    const enum integrator integrator = system->settings.integrator;
    const bool lags = integrator == INTEGRATOR_VERLET || integrator == INTEGRATOR_VELOCITY_VERLET;
    return lags ? system->settings.dt / 4 : 0;
}

// ---- The memory

// Where the state has the memory of a contact. Opposite walls of a room share a slot.
static inline size_t friction_index(const struct system *system,
                                    const struct scene_collider *collider, size_t node, int wall)
{
    return (collider->coulomb.first_slot + (size_t)wall / 2) * (size_t)system->state->nodes + node;
}

// The flags of a contact of that wall; 0 if the contact has just begun.
static inline uint8_t friction_flags(const struct state *s, size_t at, int wall)
{
    const uint8_t flags = s->friction_flags[at];
    return (flags & FRICTION_FAR_WALL) == (wall % 2 ? FRICTION_FAR_WALL : 0) ? flags : 0;
}

// The position of a node in a contact: of a sphere from its centre, with which anchors move.
static inline vec3 friction_point_at(const struct system *system,
                                     const struct scene_collider *collider, vec3 position,
                                     const struct contact *contact)
{
    if (collider->type != COLLIDER_SPHERE)
        return position;
    const size_t number = (size_t)(collider - system->topology->colliders);
    return vec3_scale(system->state->collider_radius[number] - contact->depth, contact->normal);
}

static inline vec3 friction_point(const struct system *system,
                                  const struct scene_collider *collider, size_t node,
                                  const struct contact *contact)
{
    return friction_point_at(system, collider, node_position(system->state, node), contact);
}

static inline vec3 friction_along(vec3 v, vec3 normal)
{
    return vec3_subtract(v, vec3_scale(vec3_dot(v, normal), normal));
}

// m, of the tangential spring; 0 in a contact that has just begun. friction_stretch_at: of a node
// that is there.
static inline vec3 friction_stretch_at(const struct system *system,
                                       const struct scene_collider *collider, size_t node,
                                       const struct contact *contact, vec3 position)
{
    const size_t at = friction_index(system, collider, node, contact->wall);
    if (!friction_flags(system->state, at, contact->wall))
        return vec3_make(0, 0, 0);
    const vec3 point = friction_point_at(system, collider, position, contact);
    return friction_along(vec3_subtract(point, system->state->friction_anchor[at]),
                          contact->normal);
}

static inline vec3 friction_stretch(const struct system *system,
                                    const struct scene_collider *collider, size_t node,
                                    const struct contact *contact)
{
    return friction_stretch_at(system, collider, node, contact, node_position(system->state, node));
}

static inline double friction_coefficient(const struct system *system,
                                          const struct scene_collider *collider, size_t node,
                                          const struct contact *contact)
{
    const size_t at = friction_index(system, collider, node, contact->wall);
    const bool slides = friction_flags(system->state, at, contact->wall) & FRICTION_SLIDES;
    return slides ? collider->coulomb.kinetic_coefficient : collider->coulomb.static_coefficient;
}

// N, of the force of a contact.
static inline double friction_limit(const struct system *system,
                                    const struct scene_collider *collider, size_t node,
                                    const struct contact *contact,
                                    const struct contact_motion *motion)
{
    return motion->normal_force * friction_coefficient(system, collider, node, contact);
}

// m, of the stretch that friction_update would leave; before it that of implicit steps and of xpbd
// may be far beyond the cone.
static inline double friction_lasting_stretch(const struct system *system,
                                              const struct scene_collider *collider, size_t node,
                                              const struct contact *contact)
{
    const double reached = vec3_length(friction_stretch(system, collider, node, contact));
    const double stiffness = friction_stiffness(collider);
    const struct contact_motion motion =
        contact_motion(collider, contact, node_velocity(system->state, node));
    if (reached * stiffness <= friction_limit(system, collider, node, contact, &motion))
        return reached;
    return motion.normal_force * collider->coulomb.kinetic_coefficient / stiffness;
}

// Whether the heat of a step is known at its end alone: with implicit integrators and xpbd, whose
// forces act all along a step and have nothing to do with those at its start.
static inline bool friction_acts_by_steps(const struct system *system)
{
    const enum integrator integrator = system->settings.integrator;
    return integrator_is_implicit(integrator) || integrator == INTEGRATOR_XPBD;
}

// J, of one of these: the work of a force that was k `left` all along, less what the spring has
// gained; or of the damper alone, if the contact stuck (`left` is what it reached).
static inline double friction_step_heat(double stiffness, double damping, double before,
                                        double reached, double left, double elapsed)
{
    if (reached > left)
        return stiffness * (left * (reached - before) + (before * before - left * left) / 2);
    return elapsed > 0 ? damping * (reached - before) * (reached - before) / elapsed : 0;
}

// J, the heat of a contact that slides from a stretch to a shorter one at that distance; the force
// is that of the spring at the start of the step, if the contact slid already, and at its end.
//
// For a contact that slid already this is the trapezoid of force and plastic slip. One that held
// first yields at `limit`; then its spring gets shorter, and it slides with the force of the end.
static inline double friction_sliding_heat(double stiffness, double before, bool slid,
                                           double reached, double limit, double left)
{
    if (slid)
        return stiffness * (before + left) / 2 * (reached - left);
    return stiffness * (left * (reached - limit) + (limit + left) / 2 * (limit - left));
}

// Where motion is cut (surface_limit.c), what friction takes of a sliding motion, m or m/s: the
// part of it, 1 if the contact holds, by what has been taken of the approach to the surface.
static inline double friction_stopped_part(const struct scene_friction *law, double approach,
                                           double sliding)
{
    if (!(approach > 0 && sliding > 0))
        return 0;
    if (sliding <= law->static_coefficient * approach)
        return 1;
    return fmin(1, law->kinetic_coefficient * approach / sliding);
}

// ---- What the systems of an implicit step assume of a contact

// It sticks, with the force T of its spring and damper however long that is; or it slides along t,
// with the force L t + s (p.T) p, p at right angles to t, which is L T / |T| near a T along t.
enum friction_status { FRICTION_UNKNOWN, FRICTION_ASSUMED_STICKS, FRICTION_ASSUMED_SLIDES };

// The force of friction in the equations of a step so far, N, and that of the last system. Where a
// solution is applied in part, the rest of what was before it remains.
struct friction_action_of_step {
    real before[3], solved[3];
    bool slid; // in the last system
};

static inline void friction_forget_step(struct friction_action_of_step *it)
{
    *it = (struct friction_action_of_step){.slid = false};
}

static inline void friction_next_system(struct friction_action_of_step *it, double applied)
{
    for (int k = 0; k < 3; k++) {
        it->before[k] += (real)applied * (it->solved[k] - it->before[k]);
        it->solved[k] = 0;
    }
    it->slid = false;
}

static inline vec3 friction_force_of_step(const struct friction_action_of_step *it, double applied)
{
    double force[3];
    for (int k = 0; k < 3; k++)
        force[k] =
            (double)it->before[k] + applied * ((double)it->solved[k] - (double)it->before[k]);
    return vec3_make(force[0], force[1], force[2]);
}

// A third of the change of velocities in a step of bdf2 is repeated in the next one, and a third of
// that in the one after, so that the effect of a force comes half a step later on average. So a
// step has half of the last one's force.
static inline bool friction_lags(const struct system *system, struct friction_step step)
{
    return system->settings.integrator == INTEGRATOR_BDF2 && step.g < step.elapsed;
}

// J, of that force along a slip; `before`: N, the size of that of the step before. `ended`: no
// later step has anything of it.
static inline double friction_work_of_step(const struct system *system, vec3 force, double before,
                                           vec3 slip, bool ended, struct friction_step step)
{
    const double size = vec3_length(force), work = vec3_dot(force, slip);
    return friction_lags(system, step) && size > 0
               ? work * ((ended ? 1 : 0.5) + before / (2 * size))
               : work;
}

struct friction_assumption {
    real along[3];     // t
    real limit, turns; // L, N; s
    real normal_force; // N, in the last system that has been solved; below 0: it was in none
    struct friction_action_of_step acted;
};

// The sums of a revision: N2, of the differences of the forces of friction, and of the larger ones;
// N, of the normal forces that push and of those that pull. Contacts do not pull, but a linear
// system does, where a node leaves a contact that it starts in.
enum { FRICTION_SUMS = 4 };

static inline void friction_count_normal(double sums[FRICTION_SUMS], double force)
{
    sums[force < 0 ? 3 : 2] += fabs(force);
}

struct friction_assumptions {
    struct friction_assumption *contacts; // as the memory (friction_index)
    uint8_t *status;
    double (*changes)[FRICTION_SUMS]; // by block of nodes: of the last revision
    double slip_time; // s, since the start of the step: of the stretch of contacts without memory
    bool present;     // forces are those of these assumptions
};

// Makes contacts.friction_assumptions if colliders have friction.
bool REAL_NAME(friction_assumptions_make)(struct system *system);
void REAL_NAME(friction_assumptions_free)(struct system *system);
uint64_t REAL_NAME(friction_assumptions_bytes)(const struct system *system);

// From now on; `trial`: T.
static inline void friction_assume(struct friction_assumptions *all, size_t at, bool slides,
                                   double limit, vec3 trial)
{
    struct friction_assumption *it = &all->contacts[at];
    const double size = vec3_length(trial);
    slides &= size > 0;
    const vec3 along = vec3_scale(slides ? 1 / size : 0, trial);
    all->status[at] = slides ? FRICTION_ASSUMED_SLIDES : FRICTION_ASSUMED_STICKS;
    it->limit = (real)limit;
    it->normal_force = -1;
    it->turns = (real)(slides ? fmin(1, limit / size) : 0);
    it->along[0] = (real)along.x;
    it->along[1] = (real)along.y;
    it->along[2] = (real)along.z;
}

// The force of spring and damper, which is opposite to the contact's as long as it sticks.
struct friction_trial {
    vec3 force;
    double stiffness, damping; // of it, N/m and N s/m
};

static inline struct friction_trial friction_trial(const struct system *system,
                                                   const struct scene_collider *collider,
                                                   size_t node, const struct contact *contact,
                                                   vec3 sliding)
{
    const size_t at = friction_index(system, collider, node, contact->wall);
    const double stiffness = friction_stiffness(collider);
    struct friction_trial trial = {.damping = friction_damping(system, collider, node)};
    if (friction_flags(system->state, at, contact->wall)) {
        trial.stiffness = stiffness;
        trial.force = vec3_scale(stiffness, friction_stretch(system, collider, node, contact));
    } else {
        trial.damping += stiffness * system->contacts.friction_assumptions->slip_time;
    }
    trial.force = vec3_add(trial.force, vec3_scale(trial.damping, sliding));
    return trial;
}

// The force on the node if that of spring and damper is `trial`.
static inline vec3 friction_assumed(const struct friction_assumptions *all, size_t at, vec3 normal,
                                    vec3 trial)
{
    const struct friction_assumption *it = &all->contacts[at];
    if (all->status[at] == FRICTION_UNKNOWN)
        return vec3_make(0, 0, 0);
    if (all->status[at] == FRICTION_ASSUMED_STICKS)
        return vec3_scale(-1, trial);
    const vec3 along = {(double)it->along[0], (double)it->along[1], (double)it->along[2]};
    const vec3 across = vec3_cross(normal, along);
    return vec3_add(vec3_scale(-(double)it->limit, along),
                    vec3_scale(-(double)it->turns * vec3_dot(across, trial), across));
}

// What the solution of a system shows of a contact: `trial` is T after it, and `normal_force`, N,
// has been found in it. A contact sticks that stays within the limit, or whose sliding would have
// turned round. Adds to sums, N2, what that changes of its force, and the force, if the node may
// move.
static inline void friction_assume_again(struct friction_assumptions *all, size_t at, vec3 normal,
                                         vec3 trial, double limit, double normal_force, bool moves,
                                         double sums[FRICTION_SUMS])
{
    const real *along = all->contacts[at].along;
    const bool slid = all->status[at] == FRICTION_ASSUMED_SLIDES;
    const bool turned =
        slid &&
        trial.x * (double)along[0] + trial.y * (double)along[1] + trial.z * (double)along[2] < 0;
    const vec3 before = friction_assumed(all, at, normal, trial);
    struct friction_action_of_step *acted = &all->contacts[at].acted;
    acted->slid = slid;
    acted->solved[0] = (real)before.x;
    acted->solved[1] = (real)before.y;
    acted->solved[2] = (real)before.z;
    friction_assume(all, at, vec3_length(trial) > limit && !turned, limit, trial);
    all->contacts[at].normal_force = (real)normal_force;
    if (!moves)
        return;
    const vec3 now = friction_assumed(all, at, normal, trial);
    const vec3 change = vec3_subtract(now, before);
    sums[0] += vec3_dot(change, change);
    sums[1] += fmax(vec3_dot(before, before), vec3_dot(now, now));
}

// ---- The force

struct friction_action {
    vec3 force;
    double power_dissipated; // W, by the damper; the rest is measured by friction_update
};

static inline struct friction_action friction_action(const struct system *system,
                                                     const struct scene_collider *collider,
                                                     size_t node, const struct contact *contact,
                                                     const struct contact_motion *motion)
{
    const struct friction_assumptions *assumed = system->contacts.friction_assumptions;
    const vec3 spring =
        vec3_scale(friction_stiffness(collider), friction_stretch(system, collider, node, contact));
    if (assumed && assumed->present) {
        const struct friction_trial trial =
            friction_trial(system, collider, node, contact, motion->sliding);
        const vec3 force =
            friction_assumed(assumed, friction_index(system, collider, node, contact->wall),
                             contact->normal, trial.force);
        return (struct friction_action){force, 0};
    }
    const vec3 damper = vec3_scale(friction_damping(system, collider, node), motion->sliding);
    const vec3 all = vec3_add(spring, damper);
    const double size = vec3_length(all);
    const double most = friction_limit(system, collider, node, contact, motion);
    const vec3 limited = size > most ? vec3_scale(most / size, all) : all;
    return (struct friction_action){
        .force = vec3_scale(-1, limited),
        .power_dissipated = friction_acts_by_steps(system)
                                ? 0
                                : vec3_dot(vec3_subtract(limited, spring), motion->sliding),
    };
}

#endif
