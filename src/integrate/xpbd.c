// Extended position-based dynamics with small steps (springs/constraint.h): a step is divided into
// substeps; in each, the external forces change the velocities, then springs are solved one after
// another as constraints on the velocities, then nodes move:
//
//   v += h a_external(x, v);  springs and contacts change v, `iterations` times;  x += h v
//
// At convergence this is an implicit Euler step in the springs, stable at any stiffness, which
// damps modes that are too fast for h. With small substeps one iteration suffices, and more
// substeps are better than more iterations. The unknowns are velocities, not positions as in the
// papers: for small h, differences of positions would have few digits in single precision. Rigid
// springs receive the impulses that they need; they have no energy, and their force is not
// reported.
//
// Contacts with penalty colliders are constraints of the same kind, of compliance 1/k, and
// unilateral: their force is the one at the end of the substep (solve_contact). Air drag is
// implicit too.
#include <string.h>

#include "contact/constraints.h"
#include "contact/contact.h"
#include "contact/friction.h"
#include "integrate/mouse_spring.h"
#include "integrate/integrate.h"
#include "state/reading.h"

// ---- Drag, of the air and of bodies in proportion to their masses
//
// Drag is explicit, v -= h c v / m, as long as a = h c / m is at most 1, so that it never reverses
// the velocity. If drag is stronger, the part with a = 1 is explicit, and the rest divides the
// velocity by 1 + (a - 1) after the constraints have been solved. The terminal speed of a fall is
// therefore m g / c at every h, and springs that support a node at rest carry all of its weight,
// which they would not if all drag acted before them.

// The explicit part of the drag, kg/s; `factor` is h / m.
static real explicit_drag(real drag, real factor)
{
    return factor * drag > 1 ? 1 / factor : drag;
}

// The drag of a node, kg/s.
static real node_drag(const struct system *system, const struct node_masses *masses, size_t node)
{
    return (real)drag_in(masses, system->topology->environment.air_drag, node);
}

static bool any_strong_drag(const struct system *system, double step, const struct worker *worker)
{
    const real h = (real)step;
    struct range share = node_share(system, worker);
    struct node_masses masses = {.end = share.first};
    for (size_t i = share.first; i < share.end; i++) {
        if (i == masses.end)
            masses = topology_masses(system->topology, i, share.end);
        if (h * system->constants->inverse_mass[i] * node_drag(system, &masses, i) > 1)
            return true;
    }
    return false;
}

// Adds the drag in proportion to masses, which the air does not have, and removes the implicit part
// of all drag from the forces.
static void limit_drag(struct system *system, double step, const struct worker *worker)
{
    struct state *s = system->state;
    const real air = (real)system->topology->environment.air_drag, h = (real)step;
    struct range share = node_share(system, worker);
    struct node_masses masses = {.end = share.first};
    for (size_t i = share.first; i < share.end; i++) {
        if (i == masses.end)
            masses = topology_masses(system->topology, i, share.end);
        const real drag = node_drag(system, &masses, i);
        real rest = air - explicit_drag(drag, h * system->constants->inverse_mass[i]);
        s->fx[i] += rest * s->vx[i];
        s->fy[i] += rest * s->vy[i];
        s->fz[i] += rest * s->vz[i];
    }
}

static void apply_strong_drag(struct system *system, double step, const struct worker *worker)
{
    struct state *s = system->state;
    const struct split_vectors v = state_velocities(s);
    const real h = (real)step;
    struct range share = node_share(system, worker);
    struct node_masses masses = {.end = share.first};
    for (size_t i = share.first; i < share.end; i++) {
        if (i == masses.end)
            masses = topology_masses(system->topology, i, share.end);
        real factor = h * system->constants->inverse_mass[i];
        const real drag = node_drag(system, &masses, i);
        const real more = factor * (drag - explicit_drag(drag, factor)), slower = 1 + more;
        if (v.low.x) {
            const real lost = more / slower;
            split_add(v, i, -lost * s->vx[i], -lost * s->vy[i], -lost * s->vz[i]);
            continue;
        }
        s->vx[i] /= slower;
        s->vy[i] /= slower;
        s->vz[i] /= slower;
    }
}

static void kick(struct system *system, double step, const struct worker *worker)
{
    const struct state *s = system->state;
    const struct split_vectors v = state_velocities(s);
    const real h = (real)step;
    struct range share = node_share(system, worker);
    const bool mixed = state_is_mixed(s);
    for (size_t i = share.first; mixed && i < share.end; i++) {
        real factor = h * system->constants->inverse_mass[i];
        split_add(v, i, factor * s->fx[i], factor * s->fy[i], factor * s->fz[i]);
    }
    for (size_t i = share.first; !mixed && i < share.end; i++) {
        real factor = h * system->constants->inverse_mass[i];
        split_add(split_high(v), i, factor * s->fx[i], factor * s->fy[i], factor * s->fz[i]);
    }
    stage_end(&system->clock, STAGE_INTEGRATE, worker);
}

// The same if gravity and the drag of the air are the only external forces, without the force
// arrays.
static void fall(struct system *system, double step, const struct worker *worker)
{
    const struct state *s = system->state;
    const struct split_vectors v = state_velocities(s);
    const struct scene_environment *around = &system->topology->environment;
    const real h = (real)step, drag = (real)around->air_drag;
    const real gx = (real)around->gravity.x, gy = (real)around->gravity.y;
    const real gz = (real)around->gravity.z;
    const bool mixed = state_is_mixed(s);
    struct range share = node_share(system, worker);
    for (size_t i = share.first; i < share.end;) {
        struct node_masses masses = topology_masses(system->topology, i, share.end);
        for (; mixed && i < masses.end; i++) {
            real mass = (real)mass_in(&masses, i), factor = h * system->constants->inverse_mass[i];
            real slows = explicit_drag(drag, factor);
            split_add(v, i, factor * (mass * gx - slows * s->vx[i]),
                      factor * (mass * gy - slows * s->vy[i]),
                      factor * (mass * gz - slows * s->vz[i]));
        }
        for (; i < masses.end; i++) {
            real mass = (real)mass_in(&masses, i), factor = h * system->constants->inverse_mass[i];
            real slows = explicit_drag(drag, factor);
            split_add(split_high(v), i, factor * (mass * gx - slows * s->vx[i]),
                      factor * (mass * gy - slows * s->vy[i]),
                      factor * (mass * gz - slows * s->vz[i]));
        }
    }
    stage_end(&system->clock, STAGE_INTEGRATE, worker);
}

static void drift(struct system *system, double step, const struct worker *worker)
{
    const struct state *s = system->state;
    const struct split_vectors x = state_positions(s);
    const real h = (real)step;
    struct range share = node_share(system, worker);
    const bool mixed = state_is_mixed(s);
    for (size_t i = share.first; mixed && i < share.end; i++)
        split_add(x, i, h * s->vx[i], h * s->vy[i], h * s->vz[i]);
    for (size_t i = share.first; !mixed && i < share.end; i++)
        split_add(split_high(x), i, h * s->vx[i], h * s->vy[i], h * s->vz[i]);
    stage_end(&system->clock, STAGE_INTEGRATE, worker);
}

// A contact with Coulomb friction (contact/friction.h): the change of the velocity `sliding` along
// the surface, if that normal to it changes by `normal_change` (m/s). The force of spring and
// damper is the one at the end of the substep too, and limited by the impulse of the normal force.
// `stretch`: m, the stretch that the spring would have there. A contact that begins has slid for
// all of the substep.
static vec3 solve_friction(const struct system *system, const struct scene_collider *collider,
                           size_t node, const struct contact *contact, double h, vec3 stretch,
                           vec3 sliding, double normal_change)
{
    const double per_force = (double)system->constants->inverse_mass[node] * h;
    const double stiffness = friction_stiffness(collider),
                 damping = friction_damping(system, collider, node);
    const vec3 force = vec3_add(vec3_scale(stiffness, stretch), vec3_scale(damping, sliding));
    const vec3 change = vec3_scale(-per_force / (1 + per_force * (h * stiffness + damping)), force);
    const double size = vec3_length(change);
    const double most =
        fmax(0, normal_change) * friction_coefficient(system, collider, node, contact);
    return size > most ? vec3_scale(most / size, change) : change;
}

// The velocity of a node after a contact; without the contact it would have `velocity`, and the
// depth `depth` at the end of the substep h. With w the inverse mass and a = (v - v_surface).n, the
// change D along the normal n, which reduces the depth by h D, is that of the penalty force at the
// end:
//
//   D = w h (k (depth - h D) - c_n (a + D)),  the second term only while a + D < 0
//
// and at most depth / h: absorption stops a node at the surface but does not hold it there. The
// velocity along the surface is divided by 1 + w h c_t. Both only remove energy, at every k, c and
// h. `free`: the velocity for which the contact was found.
static vec3 solve_contact(const struct system *system, const struct scene_collider *collider,
                          size_t node, const struct contact *contact, double depth, double h,
                          vec3 free, vec3 velocity)
{
    const double inverse_mass = (double)system->constants->inverse_mass[node];
    const double per_force = inverse_mass * h, stiffness = h * collider->stiffness;
    const double absorption = collider->absorption;
    vec3 relative = vec3_subtract(velocity, contact->surface_velocity);
    double approach = vec3_dot(relative, contact->normal);
    double change = per_force * collider->stiffness * depth / (1 + per_force * stiffness);
    if (approach + change < 0)
        change = per_force * (collider->stiffness * depth - absorption * approach) /
                 (1 + per_force * (stiffness + absorption));
    change = fmin(change, depth / h);
    vec3 sliding = vec3_subtract(relative, vec3_scale(approach, contact->normal));
    vec3 kept = vec3_scale(1 / (1 + per_force * collider->friction), sliding);
    if (collider->coulomb.present) {
        const size_t at = friction_index(system, collider, node, contact->wall);
        const bool begins = !friction_flags(system->state, at, contact->wall);
        const vec3 position = vec3_add(node_position(system->state, node), vec3_scale(h, free));
        vec3 stretch = vec3_scale(h, sliding);
        if (!begins) {
            const vec3 more = friction_along(vec3_subtract(velocity, free), contact->normal);
            stretch = vec3_add(friction_stretch_at(system, collider, node, contact, position),
                               vec3_scale(h, more));
        }
        kept = vec3_add(
            sliding, solve_friction(system, collider, node, contact, h, stretch, sliding, change));
    }
    vec3 along = vec3_scale(approach + change, contact->normal);
    return vec3_add(contact->surface_velocity, vec3_add(kept, along));
}

// The part of a contact's depth that a projecting surface does not correct by a velocity: the depth
// at the start of the substep, which may be that of the scene.
static double depth_at_start(const struct system *system, size_t collider, int wall, double start,
                             vec3 position)
{
    struct contact contacts[6];
    int count = REAL_NAME(collider_contacts)(system, collider, start, position, contacts);
    const double rounding = 16 * state_epsilon(system->state) *
                            (fabs(position.x) + fabs(position.y) + fabs(position.z));
    for (int k = 0; k < count; k++)
        if (contacts[k].wall == wall && contacts[k].depth > rounding)
            return contacts[k].depth;
    return 0;
}

// The same for all contacts of a node with penalty colliders, one after another. In a room there
// may be several at once, and the change by one affects the depth of the next.
static vec3 solve_node(const struct system *system, size_t i, double h, double end, vec3 velocity)
{
    const struct topology *topology = system->topology;
    const vec3 start = node_position(system->state, i);
    struct contact contacts[6];
    for (size_t c = 0; c < topology->collider_count; c++) {
        const struct scene_collider *collider = &topology->colliders[c];
        if (collider->response != RESPONSE_PENALTY)
            continue;
        const vec3 free = velocity;
        vec3 position = vec3_add(start, vec3_scale(h, free));
        int count = REAL_NAME(collider_contacts)(system, c, end, position, contacts);
        for (int k = 0; k < count; k++) {
            vec3 changed = vec3_subtract(velocity, free);
            double depth = contacts[k].depth - h * vec3_dot(changed, contacts[k].normal);
            if (depth > 0)
                velocity =
                    solve_contact(system, collider, i, &contacts[k], depth, h, free, velocity);
        }
    }
    return velocity;
}

// The index of a contact in the node's list, to which it is added if it is deep; -1: neither.
static int listed(struct constrained_node *it, size_t collider, const struct contact *contact,
                  double depth)
{
    for (int k = 0; k < it->count; k++)
        if (it->collider[k] == collider && it->wall[k] == contact->wall)
            return k;
    if (!(depth > 0) || it->count == NODE_CONSTRAINTS)
        return -1;
    const int k = it->count++;
    it->collider[k] = (uint32_t)collider;
    it->wall[k] = (uint8_t)contact->wall;
    it->given[k] = 0;
    return k;
}

// A projecting collider has no compliance: the node ends on its surface, as long as the accumulated
// change of velocity (`given`, m/s) pushes it outwards. Returns the change in this iteration.
static double solve_projecting(const struct system *system, size_t i, size_t c, double h,
                               double end, vec3 *velocity)
{
    struct constrained_node *it = &system->contacts.constraints->nodes[i];
    const vec3 start = node_position(system->state, i), before = *velocity;
    const vec3 position = vec3_add(start, vec3_scale(h, before));
    struct contact contacts[6];
    double changed = 0;
    int count = REAL_NAME(collider_contacts_within)(system, c, end, position, HUGE_VAL, contacts);
    for (int n = 0; n < count; n++) {
        const vec3 normal = contacts[n].normal;
        const vec3 moved = vec3_scale(h, vec3_subtract(*velocity, before));
        double depth = contacts[n].depth - vec3_dot(moved, normal);
        if (depth > 0)
            depth -= depth_at_start(system, c, contacts[n].wall, end - h, start);
        const int k = listed(it, c, &contacts[n], depth);
        if (k < 0)
            continue;
        const double change = fmax(depth / h, -it->given[k]);
        *velocity = vec3_add(*velocity, vec3_scale(change, normal));
        it->given[k] += change;
        it->normal[k] = normal;
        changed += fabs(change);
    }
    return changed;
}

// The same for all projecting colliders. With several, the node is projected alternately until the
// change is a thousandth of the first one.
static vec3 project_node(const struct system *system, size_t i, double h, double end, vec3 velocity)
{
    enum { PASSES = 16 };
    const struct topology *topology = system->topology;
    const struct constrained_node *it = &system->contacts.constraints->nodes[i];
    double first = 0;
    for (int pass = 0; pass < PASSES; pass++) {
        double changed = 0;
        for (size_t c = 0; c < topology->collider_count; c++)
            if (topology->colliders[c].response == RESPONSE_PROJECT)
                changed += solve_projecting(system, i, c, h, end, &velocity);
        first = pass == 0 ? changed : first;
        if (it->count < 2 || changed <= 1e-3 * first)
            break;
    }
    return velocity;
}

static bool records_changes(const struct system *system)
{
    return system->settings.penalises &&
           (system->settings.iterations > 1 || system->contacts.constraints);
}

// Stores the motion of the node without projecting colliders, for the projection.
static void store_free(const struct system *system, size_t i, double h, vec3 free)
{
    struct contact_constraints *all = system->contacts.constraints;
    const vec3 position = vec3_add(node_position(system->state, i), vec3_scale(h, free));
    split_put_position(system->state, all->free_position, i, position);
    split_put(all->free_velocity, i, free);
}

// An iteration removes the change of velocity by the penalty colliders in the previous one, which
// is stored in the force arrays, and computes it anew: the converged result does not depend on the
// number of iterations.
static void solve_penalties_of(struct system *system, size_t i, double h, double end, bool first)
{
    struct state *s = system->state;
    vec3 given = first ? vec3_make(0, 0, 0) : node_force(s, i), before = node_velocity(s, i);
    vec3 free = vec3_subtract(before, given);
    vec3 change = vec3_subtract(solve_node(system, i, h, end, free), free);
    if (records_changes(system)) {
        s->fx[i] = (real)change.x;
        s->fy[i] = (real)change.y;
        s->fz[i] = (real)change.z;
    }
    if (change.x == given.x && change.y == given.y && change.z == given.z)
        return;
    state_put_velocity(s, i, vec3_add(free, change));
}

// Returns whether the node is stopped by a projecting surface.
static bool solve_contacts_of(struct system *system, size_t i, double h, double end, bool first)
{
    struct state *s = system->state;
    struct contact_constraints *all = system->contacts.constraints;
    if (system->constants->inverse_mass[i] == 0)
        return false;
    if (system->settings.penalises)
        solve_penalties_of(system, i, h, end, first);
    if (!all)
        return false;
    const vec3 before = node_velocity(s, i);
    const vec3 after = project_node(system, i, h, end, before);
    if (all->nodes[i].count == 0)
        return false;
    if (!all->nodes[i].saved)
        store_free(system, i, h, before);
    all->nodes[i].saved = true;
    state_put_velocity(s, i, after);
    return true;
}

// Selects the nodes that may reach a surface within the substep.
static bool find_near(const struct system *system, double end, struct range nodes, double slack,
                      uint64_t near[CONTACT_BLOCK / 64])
{
    uint64_t projecting[CONTACT_BLOCK / 64];
    if (!system->settings.penalises)
        return REAL_NAME(contacts_within)(system, RESPONSE_PROJECT, end, nodes, slack, near);
    bool any = REAL_NAME(contacts_within)(system, RESPONSE_PENALTY, end, nodes, slack, near);
    if (!system->settings.projects ||
        !REAL_NAME(contacts_within)(system, RESPONSE_PROJECT, end, nodes, slack, projecting))
        return any;
    for (int word = 0; word < CONTACT_BLOCK / 64; word++)
        near[word] |= projecting[word];
    return true;
}

// Solves the contacts of a block; returns whether a node is stopped by a projecting surface.
// `listed`: whether a node has contacts with such surfaces already, from the previous substep if
// this is the first iteration.
static bool solve_block(struct system *system, double h, double end, bool first, bool listed,
                        struct range nodes)
{
    struct state *s = system->state;
    struct contact_constraints *all = system->contacts.constraints;
    const bool clears = first && records_changes(system);
    double given = first || !records_changes(system)
                       ? 0
                       : REAL_NAME(contact_greatest_length)(system, s->fx, s->fy, s->fz, nodes);
    double speed = REAL_NAME(contact_greatest_length)(system, s->vx, s->vy, s->vz, nodes) + given;
    uint64_t near[CONTACT_BLOCK / 64];
    bool any = find_near(system, end, nodes, 1.001 * h * speed, near), stops = false;
    if (!any && given == 0 && !clears && !listed)
        return false;
    for (size_t i = nodes.first; i < nodes.end; i++) {
        size_t bit = i - nodes.first;
        bool is_near = near[bit / 64] >> (bit % 64) & 1;
        bool was_near = given != 0 && (s->fx[i] != 0 || s->fy[i] != 0 || s->fz[i] != 0);
        if (first && all) {
            all->nodes[i].count = 0;
            all->nodes[i].saved = false;
        }
        if (is_near || was_near || (all && all->nodes[i].count > 0))
            stops |= solve_contacts_of(system, i, h, end, first);
        else if (clears)
            s->fx[i] = s->fy[i] = s->fz[i] = 0;
    }
    return stops;
}

// Solves contacts at the positions of nodes at the end of the substep. Returns whether any node was
// stopped by a projecting surface, in this iteration or before; the same on every worker.
static bool solve_contacts(struct system *system, double h, double end, bool first,
                           const struct worker *worker)
{
    struct contact_constraints *all = system->contacts.constraints;
    const struct range share = worker_share(worker, system->contacts.blocks, 1);
    for (size_t block = share.first; block < share.end; block++) {
        const bool stops = solve_block(system, h, end, first, all && all->changed[block],
                                       contact_block_nodes(system, block));
        if (all)
            all->changed[block] = stops || (!first && all->changed[block]);
    }
    stage_end(&system->clock, STAGE_COLLIDERS, worker);
    return all && memchr(all->changed, 1, system->contacts.blocks) != NULL;
}

// Removes the contacts whose accumulated impulse is 0.
static void remove_idle(struct constrained_node *it)
{
    int kept = 0;
    for (int k = 0; k < it->count; k++) {
        if (!(it->given[k] > 0))
            continue;
        it->normal[kept] = it->normal[k];
        it->given[kept] = it->given[k];
        it->collider[kept] = it->collider[k];
        it->wall[kept++] = it->wall[k];
    }
    it->count = (uint8_t)kept;
}

// Whether a contact is with a surface that the node did not touch before.
static bool is_new(const struct system *system, size_t i, size_t collider, int wall)
{
    const struct scene_collider *colliders = system->topology->colliders;
    size_t number = 0;
    for (size_t c = 0; c < collider; c++)
        number += colliders[c].response == RESPONSE_PROJECT;
    return !(system->state->touching[number * system->state->nodes + i] >> wall & 1);
}

// The work of projecting surfaces on a node, for the energy budget: that of an impulse with the
// mean of the velocities before, in `removed`, and after. Returns whether it is an impact.
static bool measure_node(const struct system *system, size_t i)
{
    struct contact_constraints *all = system->contacts.constraints;
    const struct state *s = system->state;
    const struct constrained_node *it = &all->nodes[i];
    const vec3 before = {(double)all->removed.x[i], (double)all->removed.y[i],
                         (double)all->removed.z[i]};
    const vec3 mean = vec3_scale(0.5, vec3_add(before, node_velocity(s, i)));
    const double mass = topology_mass(system->topology, i);
    bool impact = false;
    for (int k = 0; k < it->count; k++) {
        const vec3 moves = s->collider_velocity[it->collider[k]];
        all->work[i][0] += mass * it->given[k] * vec3_dot(it->normal[k], mean);
        all->work[i][1] += mass * it->given[k] * vec3_dot(it->normal[k], moves);
        impact |= is_new(system, i, it->collider[k], it->wall[k]);
    }
    return impact;
}

// Bits of contact_constraints.changed of a block: a node is stopped by a projecting surface; by one
// that it did not touch before.
enum { STOPS = 1, IMPACT = 2 };

static void measure_contacts(struct system *system, const struct worker *worker)
{
    struct contact_constraints *all = system->contacts.constraints;
    const struct range share = worker_share(worker, system->contacts.blocks, 1);
    for (size_t block = share.first; block < share.end; block++) {
        const struct range nodes = contact_block_nodes(system, block);
        if (!all->changed[block]) // no node has a contact
            continue;
        for (size_t i = nodes.first; i < nodes.end; i++) {
            all->work[i][0] = all->work[i][1] = 0;
            remove_idle(&all->nodes[i]);
            if (all->nodes[i].count > 0 && measure_node(system, i))
                all->changed[block] |= IMPACT;
        }
    }
    worker_barrier(worker);
    if (worker->index == 0 && system->settings.keep_energy_budget &&
        memchr(all->changed, STOPS | IMPACT, system->contacts.blocks))
        REAL_NAME(work_note_impact)(system);
    worker_barrier(worker);
}

// An iteration propagates the impulse of a projecting surface to a few more nodes, and the
// remainder at the end of the substep is stored in springs, at worst (omega h)^2 times the energy
// of the motion. Where nodes touch such a surface, iterations therefore continue until they change
// velocities by less than these fractions of their norm, and of the velocity that gravity adds in
// a substep, or until the limit of iterations. The first iteration is compared with the previous
// substep: a body at rest needs only one.
enum { CONTACT_ITERATIONS = 400 };
static const double OF_VELOCITY = 1e-3, OF_GRAVITY = 1e-2;

// The mass-weighted squares of the changes of velocity in an iteration (the velocities before it
// are in `impulse`) and of the velocities; and the mass.
static void sum_changes(const struct system *system, const void *unused, struct range range,
                        double sums[SUM_WIDTH])
{
    (void)unused;
    const struct state *s = system->state;
    const struct node_vectors old = system->contacts.constraints->impulse;
    struct node_masses masses = {.end = range.first};
    for (size_t i = range.first; i < range.end; i++) {
        if (i == masses.end)
            masses = topology_masses(system->topology, i, range.end);
        const vec3 v = node_velocity(s, i);
        const vec3 before = {(double)old.x[i], (double)old.y[i], (double)old.z[i]};
        const vec3 change = vec3_subtract(v, before);
        sums[0] += mass_in(&masses, i) * vec3_dot(change, change);
        sums[1] += mass_in(&masses, i) * vec3_dot(v, v);
        sums[2] += mass_in(&masses, i);
        old.x[i] = s->vx[i];
        old.y[i] = s->vy[i];
        old.z[i] = s->vz[i];
    }
}

static bool has_changed(struct system *system, double h, const struct worker *worker)
{
    double sums[SUM_WIDTH];
    const double added = h * vec3_length(system->topology->environment.gravity);
    REAL_NAME(sum_over_chunks)
    (system, (size_t)system->state->nodes, sum_changes, NULL, sums, worker);
    return sums[0] >
           OF_VELOCITY * OF_VELOCITY * sums[1] + OF_GRAVITY * OF_GRAVITY * added * added * sums[2];
}

static void solve_constraints(struct system *system, double h, double end,
                              const struct worker *worker)
{
    const bool touches = system->settings.penalises || system->settings.projects;
    bool continues = true, contact = false;
    for (int i = 0; continues; i++) {
        REAL_NAME(constraints_iterate)(system, h, i == 0, worker);
        if (touches) {
            stage_end(&system->clock, STAGE_SPRINGS, worker);
            contact = solve_contacts(system, h, end, i == 0, worker);
        }
        continues = i + 1 < system->settings.iterations;
        if (contact && i + 1 < CONTACT_ITERATIONS)
            continues |= has_changed(system, h, worker);
    }
    if (!touches)
        stage_end(&system->clock, STAGE_SPRINGS, worker);
    // Without a contact there is nothing to measure, and `present` is not read before the barrier
    // after the nodes have moved.
    if (contact)
        measure_contacts(system, worker);
    if (system->contacts.constraints && worker->index == 0)
        system->contacts.constraints->present = contact;
    if (contact)
        worker_barrier(worker);
}

// Velocities at the start of a substep, for measure_contacts and note_kicks.
static void store_velocities(struct system *system, const struct worker *worker)
{
    const struct state *s = system->state;
    struct contact_constraints *all = system->contacts.constraints;
    struct range share = node_share(system, worker);
    if (!system->settings.keep_energy_budget)
        return;
    const struct split_vectors before = state_previous_velocities(s), v = state_velocities(s);
    const bool mixed = state_is_mixed(s);
    for (size_t i = share.first; mixed && i < share.end; i++)
        split_copy(before, v, i);
    for (size_t i = share.first; !mixed && i < share.end; i++)
        split_copy(split_high(before), split_high(v), i);
    for (size_t i = share.first; all && i < share.end; i++) {
        all->removed.x[i] = s->vx[i];
        all->removed.y[i] = s->vy[i];
        all->removed.z[i] = s->vz[i];
    }
}

static void sum_kicks(const struct system *system, const void *unused, struct range range,
                      double sums[SUM_WIDTH])
{
    (void)unused;
    const struct state *s = system->state;
    const struct split_vectors before = state_previous_velocities(s);
    const bool mixed = state_is_mixed(s);
    struct node_masses masses = {.end = range.first};
    for (size_t i = range.first; i < range.end; i++) {
        if (i == masses.end)
            masses = topology_masses(system->topology, i, range.end);
        vec3 kick =
            vec3_make((double)s->vx[i] - (double)s->vx0[i], (double)s->vy[i] - (double)s->vy0[i],
                      (double)s->vz[i] - (double)s->vz0[i]);
        if (mixed)
            kick = vec3_subtract(node_velocity(s, i), split_vector(before, i));
        if (system->constants->inverse_mass[i] != 0)
            sums[0] += mass_in(&masses, i) * vec3_dot(kick, kick);
    }
}

// Counts m |v' - v|^2 of a substep from v to v', as implicit Euler does for a step.
static void note_kicks(struct system *system, const struct worker *worker)
{
    if (!system->settings.keep_energy_budget)
        return;
    double sums[SUM_WIDTH];
    worker_barrier(worker); // all have written their nodes
    REAL_NAME(sum_over_chunks)
    (system, (size_t)system->state->nodes, sum_kicks, NULL, sums, worker);
    if (worker->index == 0 && !system->work.closes)
        system->work.difference_sums[0] += sums[0];
    stage_end(&system->clock, STAGE_WORK, worker);
}

// `strong_drag` refers to the worker's own nodes.
static void substep(struct system *system, struct evaluation evaluation, int number,
                    bool strong_drag, const struct worker *worker)
{
    const int count = system->settings.substeps;
    const double dt = system->settings.dt, h = dt / count;
    const double begin = dt * number / count, end = dt * (number + 1) / count;
    const double end_time = evaluation.time + end;
    evaluation.time += begin;
    const double begin_time = evaluation.time;
    store_velocities(system, worker);
    REAL_NAME(cut_work_start)(system, worker);
    if (system->surface_contact)
        REAL_NAME(surface_contact_find)(system, evaluation, worker);
    // Other forces than gravity and drag may act on nodes.
    if (system->sweeps->loaded || system->elements || surfaces_push(system)) {
        REAL_NAME(forces_outside)(system, evaluation, worker);
        if (gas_has_collapsed(system)) // found by the first substep
            return;
        if (strong_drag || system->topology->any_mass_drag)
            limit_drag(system, h, worker);
        kick(system, h, worker);
    } else {
        fall(system, h, worker);
    }
    REAL_NAME(springs_break)(system, (double)number / count, worker);
    REAL_NAME(kinematic_set_velocities)(system, end, h, worker);
    solve_constraints(system, h, end_time, worker);
    if (strong_drag)
        apply_strong_drag(system, h, worker);
    REAL_NAME(mouse_spring_substep)
    (system, h, worker); // last, so that the node follows it exactly
    note_kicks(system, worker);
    drift(system, h, worker);
    if (number + 1 < count)
        REAL_NAME(kinematic_set_positions)(system, end, worker);
    else
        REAL_NAME(kinematic_advance)(system, dt, worker);
    if (system->settings.projects) {
        REAL_NAME(cut_work_pushed)(system, worker);
        REAL_NAME(project)(system, end_time, worker);
        if (system->state->start_known) {
            REAL_NAME(colliders_store)(system, end_time, worker);
            worker_barrier(worker);
        }
    }
    evaluation.time = end_time;
    REAL_NAME(limit_motion_until)(system, evaluation, begin_time, h, worker);
    REAL_NAME(friction_update_at)
    (system, (struct friction_step){.time = end_time, .elapsed = h, .first = h}, worker);
}

// Whether a node may reach a projecting surface within the step. The margin is four times its
// present speed and that gained by gravity. The same on every worker.
static bool may_meet_surface(struct system *system, double time, const struct worker *worker)
{
    const struct state *s = system->state;
    struct contacts *contacts = &system->contacts;
    const double dt = system->settings.dt;
    const double gravity = vec3_length(system->topology->environment.gravity);
    const struct range share = worker_share(worker, contacts->blocks, 1);
    for (size_t block = share.first; block < share.end; block++) {
        const struct range nodes = contact_block_nodes(system, block);
        const double speed =
            REAL_NAME(contact_greatest_length)(system, s->vx, s->vy, s->vz, nodes) + dt * gravity;
        uint64_t near[CONTACT_BLOCK / 64];
        contacts->near[block] =
            REAL_NAME(contacts_within)(system, RESPONSE_PROJECT, time, nodes, 4 * dt * speed, near);
    }
    worker_barrier(worker);
    const bool any = memchr(contacts->near, 1, contacts->blocks) != NULL;
    worker_barrier(worker); // all have read it before it is overwritten
    return any;
}

// The energy budget uses the forces at the start of the step.
static void sample_work(struct system *system, struct evaluation now, const struct worker *worker)
{
    if (!system->settings.keep_energy_budget)
        return;
    REAL_NAME(forces_evaluate_without_breaking)(system, now, worker);
    REAL_NAME(work_sample)(system, now, worker);
    if (!REAL_NAME(work_follows_impact)(system, worker) && system->settings.projects &&
        may_meet_surface(system, now.time, worker))
        REAL_NAME(work_note_start)(system, worker);
}

void REAL_NAME(xpbd)(struct system *system, const struct worker *worker)
{
    struct evaluation now = REAL_NAME(evaluation_now)(system);
    REAL_NAME(springs_yield)(system, worker);
    sample_work(system, now, worker);
    if (gas_has_collapsed(system))
        return;
    const int count = system->settings.substeps;
    const bool strong_drag = any_strong_drag(system, system->settings.dt / count, worker);
    for (int number = 0; number < count && !gas_has_collapsed(system); number++)
        substep(system, now, number, strong_drag, worker);
}
