// Projection of nodes onto colliders (response: project; docs/numerics.md): impacts, sliding
// friction, and what they need of the start of a step. Most nodes touch nothing, or the same
// surfaces as before; a vector kernel (touch_body.h) projects those side by side. Numeric.
#include <string.h>

#include "base/sort.h"
#include "contact/constraints.h"
#include "contact/culling.h"
#include "springs/shares.h"
#include "state/reading.h"

// The arguments of the projection at the end of a step.
struct projection {
    struct system *system;
    double time, step; // s: the end of the step, and its length
};

// A surface near a block, and the flags of the state of the nodes that touch it.
struct near_surface {
    struct surface surface;
    uint8_t *touching; // of all nodes
    uint64_t near[BLOCK_WORDS];
};

// A node during its projection.
struct projected {
    vec3 position, velocity;
    vec3 free_position, free_velocity;     // before any collider changed them
    const struct constrained_node *solved; // the contacts of the implicit step; NULL: none
    double mass;
    double taken, driven; // J: taken by friction, and added by moving surfaces
};

// In precision mixed, the distance by which rounding of a step's motion, which is computed in
// single precision, can lift a sliding node off a surface.
static double increment_slack(const struct projection *it, const struct projected *moving)
{
    if (!state_is_mixed(it->system->state))
        return 0;
    return 4 * (double)REAL_EPSILON * it->step * vec3_length(moving->free_velocity);
}

// The acceleration of a node along a normal during the completed step, m/s2; by gravity alone if
// the velocity at the start of the step is not known.
static double acceleration_along(const struct projection *it, size_t node, vec3 normal,
                                 const struct projected *moving)
{
    const struct system *system = it->system;
    const struct state *s = system->state;
    if (!s->start_known || !s->start_known[node / CONTACT_BLOCK])
        return vec3_dot(system->topology->environment.gravity, normal);
    vec3 start =
        vec3_make((double)s->start_vx[node], (double)s->start_vy[node], (double)s->start_vz[node]);
    return vec3_dot(vec3_subtract(moving->free_velocity, start), normal) / it->step;
}

// How much earlier than the positions the velocities are valid (at the middle of their step), s;
// negative: later. For integrators that move nodes with the new velocity, x += h v, an energy that
// is exact to order h^2 needs v + h a / 2.
static double velocity_lag(const struct projection *it)
{
    switch (it->system->settings.integrator) {
    case INTEGRATOR_SYMPLECTIC_EULER:
    case INTEGRATOR_IMPLICIT_EULER:
    case INTEGRATOR_XPBD:
        return it->step / 2;
    case INTEGRATOR_EXPLICIT_EULER:
        return -it->step / 2;
    default:
        return 0;
    }
}

// The speed with which a node leaves after an impact at `speed`. It has travelled `depth` since it
// passed the surface, and the forces of the step have done the work m a depth on it; a bounce that
// ignored that work would gain the energy of lifting the node to the surface. The force of springs
// changes over that depth by about h v times their stiffness, which is not known here; the node
// leaves slower by the fraction h^2 k / m, so that the bounce does not gain from it.
static double bounce_speed(const struct projection *it, size_t node, const struct contact *contact,
                           const struct projected *moving, double speed, double restitution)
{
    const double lag = velocity_lag(it), ratio = it->system->settings.position_ratio;
    const double outward = acceleration_along(it, node, contact->normal, moving);
    const double now = fmax(0, speed - lag * outward);
    const double square = now * now + 2 * outward / ratio * fmax(0, contact->depth);
    const double safe =
        fmax(0, 1 - it->step * it->step * (double)it->system->state->spring_rate[node]);
    if (safe == 0) // `outward` is due to springs, and is not an acceleration in free flight
        return 0;
    return fmax(0, restitution * safe * sqrt(fmax(0, square)) - lag * outward);
}

// The velocity along a normal that rounding of a node's coordinates can cause in a step, m/s. For a
// node that slides, each step is rounded in the same direction, so it is lifted off a surface until
// gravity has given it twice this speed.
static double rounding_speed(const struct projection *it, vec3 normal, vec3 position)
{
    const double size =
        fabs(normal.x * position.x) + fabs(normal.y * position.y) + fabs(normal.z * position.z);
    const double epsilon = state_epsilon(it->system->state);
    return 0.5 * epsilon * size / (it->system->settings.position_ratio * it->step);
}

// An approach is an impact if the node did not touch the surface before, approaches at a slope of
// more than 1 : 1000, and is faster than a node that slid along the surface, left it by some
// rounding errors and returns. Such a node returns with the velocity that gravity adds in two
// steps, exactly so with explicit Euler, and with twice the speed of rounding; the limit lies
// between two and three steps.
static bool is_impact(const struct projection *it, const struct contact *contact, vec3 position,
                      vec3 relative, double speed)
{
    const double steps = 2.5, roundings = 3;
    double fall = fabs(vec3_dot(it->system->topology->environment.gravity, contact->normal));
    vec3 along = vec3_add(relative, vec3_scale(speed, contact->normal));
    return speed > steps * fall * it->step +
                       roundings * rounding_speed(it, contact->normal, position) &&
           speed > 1e-3 * vec3_length(along);
}

static double kinetic(double mass, vec3 velocity)
{
    return 0.5 * mass * vec3_dot(velocity, velocity);
}

// Whether a node that touched the surface before, is within rounding of it, and approaches it at
// this speed is put on it. A node that slides is rounded in the same direction in every step, which
// lifts it off the surface until gravity has given it the speed of that; meanwhile no friction
// would act. This takes the energy of lifting it, which rounding has added. Without friction
// nothing depends on it.
static bool settles(const struct scene_collider *collider, double speed)
{
    return collider->friction != 0 && speed > 0;
}

// The sliding friction of a step: dv/dt = -c v / m along the surface.
static vec3 slide(const struct projection *it, const struct scene_collider *collider, vec3 normal,
                  vec3 relative, struct projected *moving)
{
    if (collider->friction == 0)
        return relative;
    vec3 across = vec3_scale(vec3_dot(relative, normal), normal);
    double factor = exp(-collider->friction * it->step / moving->mass);
    vec3 after = vec3_add(across, vec3_scale(factor, vec3_subtract(relative, across)));
    moving->taken += kinetic(moving->mass, relative) - kinetic(moving->mass, after);
    return after;
}

static bool is_solved(const struct projection *it, const struct surface *surface, int wall,
                      const struct projected *moving)
{
    const size_t collider = (size_t)(surface->it - it->system->topology->colliders);
    for (int k = 0; moving->solved && k < moving->solved->count; k++)
        if (moving->solved->collider[k] == collider && moving->solved->wall[k] == wall)
            return true;
    return false;
}

// The depth of a position behind one wall of a collider.
static double depth_in(const struct surface *surface, int wall, vec3 position)
{
    struct contact contacts[6];
    int count = surface_contacts(surface, position, HUGE_VAL, contacts);
    for (int i = 0; i < count; i++)
        if (contacts[i].wall == wall)
            return contacts[i].depth;
    return 0;
}

// The rounding error of a node's coordinates in an implicit step, m. With low parts it is one of
// the motion within the step.
static double solved_rounding(const struct projection *it, const struct projected *moving)
{
    const double motion = it->step * vec3_length(moving->free_velocity);
    const double position = vec3_length(moving->free_position);
    return 16 * ((double)REAL_EPSILON * motion + state_epsilon(it->system->state) * position);
}

// Ends a contact of the implicit step. The node is on the surface up to rounding, or outside a
// sphere along which it moved. The motion without the contact shows whether this is an impact, and
// with which velocity the node leaves. A node outside stays there, because moving it would strain
// springs more; it falls back in the next step.
static bool collide_solved(const struct projection *it, const struct surface *surface,
                           const struct contact *contact, bool touched, size_t node, vec3 *relative,
                           double *out, struct projected *moving)
{
    const vec3 free = vec3_subtract(moving->free_velocity, surface->velocity);
    const double speed = -vec3_dot(free, contact->normal);
    const bool impact =
        speed > 0 && !touched && is_impact(it, contact, moving->position, free, speed);
    if (impact && surface->it->restitution > 0) {
        struct contact passed = *contact;
        passed.depth = depth_in(surface, contact->wall, moving->free_position);
        *out = bounce_speed(it, node, &passed, moving, speed, surface->it->restitution);
    }
    const double now = vec3_dot(*relative, contact->normal);
    *relative = vec3_add(*relative, vec3_scale(*out - now, contact->normal));
    if (contact->depth > -solved_rounding(it, moving))
        moving->position = vec3_add(moving->position, vec3_scale(contact->depth, contact->normal));
    return impact;
}

// Applies one collider to a node. Returns which of its surfaces the node touches now.
static uint8_t collide_with_surface(const struct projection *it, const struct surface *surface,
                                    uint8_t touched, size_t node, struct projected *moving)
{
    const struct scene_collider *collider = surface->it;
    struct contact contacts[6];
    const double slack = touching_slack(state_epsilon(it->system->state), moving->position) +
                         (surface->it->friction != 0 ? increment_slack(it, moving) : 0);
    int count =
        surface_contacts(surface, moving->position, moving->solved ? HUGE_VAL : slack, contacts);
    uint8_t touches = 0;
    bool hit = false;
    vec3 before = vec3_subtract(moving->velocity, surface->velocity), relative = before;
    vec3 normal_part = {0, 0, 0}; // of the velocity after impacts
    for (int i = 0; i < count; i++) {
        const struct contact *contact = &contacts[i];
        const uint8_t bit = (uint8_t)(1u << contact->wall);
        double speed = -vec3_dot(relative, contact->normal), out = 0;
        bool impact = speed > 0 && !(touched & bit) &&
                      is_impact(it, contact, moving->position, relative, speed);
        const bool solved = is_solved(it, surface, contact->wall, moving);
        if (!solved && !(contact->depth > -slack))
            continue;
        touches |= bit;
        if (solved) {
            impact =
                collide_solved(it, surface, contact, touched & bit, node, &relative, &out, moving);
        } else {
            if (contact->depth > 0 || (touched & bit && settles(collider, speed)))
                moving->position =
                    vec3_add(moving->position, vec3_scale(contact->depth, contact->normal));
            if (impact && collider->restitution > 0)
                out = bounce_speed(it, node, contact, moving, speed, collider->restitution);
            if (speed > 0)
                relative = vec3_add(relative, vec3_scale(speed + out, contact->normal));
        }
        if (impact)
            normal_part = vec3_add(normal_part, vec3_scale(out, contact->normal));
        if (touched & bit)
            relative = slide(it, collider, contact->normal, relative, moving);
        hit |= impact;
    }
    if (hit)
        relative =
            vec3_add(normal_part, vec3_scale(collider->keep, vec3_subtract(relative, normal_part)));
    vec3 kick = vec3_subtract(relative, before);
    moving->velocity = vec3_add(moving->velocity, kick);
    moving->driven += moving->mass * vec3_dot(kick, surface->velocity);
    return touches;
}

// Shifts bdf2's stored step with the node, so that the acceleration implied by it does not change;
// the previous position is shifted according to the change of velocity too.
static void shift_history(struct system *system, size_t i, vec3 position, vec3 velocity)
{
    struct state *s = system->state;
    real h = (real)system->settings.dt;
    vec3 jump = vec3_subtract(node_position(s, i), position);
    vec3 kick = vec3_subtract(node_velocity(s, i), velocity);
    split_add(state_previous_positions(s), i, (real)jump.x - h * (real)kick.x,
              (real)jump.y - h * (real)kick.y, (real)jump.z - h * (real)kick.z);
    split_add(state_previous_velocities(s), i, (real)kick.x, (real)kick.y, (real)kick.z);
}

// Sets verlet's previous position as at its start: x - h v + h^2 a / 2, with the force of the
// previous state.
static void follow_verlet(struct system *system, size_t i)
{
    struct state *s = system->state;
    real h = (real)system->settings.dt;
    real half = h * h * system->constants->inverse_mass[i] / 2;
    real_set_sum(s->x0, s->x0_low, s->x, s->x_low, i, -(h * s->vx[i]), half * s->fx[i]);
    real_set_sum(s->y0, s->y0_low, s->y, s->y_low, i, -(h * s->vy[i]), half * s->fy[i]);
    real_set_sum(s->z0, s->z0_low, s->z, s->z_low, i, -(h * s->vz[i]), half * s->fz[i]);
}

static void put_node(struct system *system, size_t i, const struct projected *moved)
{
    struct state *s = system->state;
    const vec3 position = node_position(s, i), velocity = node_velocity(s, i);
    state_put(s, i, moved->position);
    state_put_velocity(s, i, moved->velocity);
    if (system->settings.integrator == INTEGRATOR_VERLET)
        follow_verlet(system, i);
    if (system->settings.integrator == INTEGRATOR_BDF2)
        shift_history(system, i, position, velocity);
}

static bool same(vec3 a, vec3 b)
{
    return a.x == b.x && a.y == b.y && a.z == b.z;
}

// The most frequent case: a node that touched a plane before and still does, with no other surface
// near. The results are the same bits as those of project_node. Returns false in all other cases.
static bool rest_on_plane(const struct projection *it, const struct near_surface *near, size_t node,
                          bool *moved)
{
    struct system *system = it->system;
    struct state *s = system->state;
    const struct scene_collider *plane = near->surface.it;
    if (plane->type != COLLIDER_PLANE || plane->friction != 0 || !near->touching[node])
        return false;
    const vec3 position = node_position(s, node), velocity = node_velocity(s, node);
    const double x = position.x, y = position.y, z = position.z;
    const double vx = velocity.x, vy = velocity.y, vz = velocity.z;
    const double nx = plane->normal.x, ny = plane->normal.y, nz = plane->normal.z;
    const double depth =
        -((x - plane->point.x) * nx + (y - plane->point.y) * ny + (z - plane->point.z) * nz);
    const double speed = -(vx * nx + vy * ny + vz * nz);
    const double lift = depth > 0 ? depth : 0, stop = speed > 0 ? speed : 0;
    if (!(depth > -touching_slack(state_epsilon(s), position)))
        return false;
    *moved = lift > 0 || stop > 0;
    if (!*moved)
        return true;
    const struct projected moving = {
        .position = {x + lift * nx, y + lift * ny, z + lift * nz},
        .velocity = {vx + ((vx + stop * nx) - vx), vy + ((vy + stop * ny) - vy),
                     vz + ((vz + stop * nz) - vz)},
    };
    put_node(system, node, &moving);
    return true;
}

static void load_free(const struct state *s, const struct contact_constraints *all, size_t i,
                      struct projected *moving)
{
    moving->solved = &all->nodes[i];
    moving->free_position = split_position(s, all->free_position, i);
    moving->free_velocity = split_vector(all->free_velocity, i);
    moving->driven = all->work[i][1];
}

// Returns whether the node has changed.
static bool project_node(const struct projection *it, struct near_surface *near, int count,
                         size_t node, double mass, double work[3])
{
    struct system *system = it->system;
    const struct state *s = system->state;
    const struct contact_constraints *all = system->contacts.constraints;
    const bool solved = all && all->present && all->nodes[node].count > 0;
    bool moved;
    if (count == 1 && !solved && rest_on_plane(it, near, node, &moved))
        return moved;
    const vec3 position = node_position(s, node), velocity = node_velocity(s, node);
    struct projected moving = {.position = position,
                               .velocity = velocity,
                               .free_position = position,
                               .free_velocity = velocity,
                               .mass = mass};
    if (solved)
        load_free(s, all, node, &moving);
    for (int n = 0; n < count; n++) {
        uint8_t *touching = &near[n].touching[node];
        *touching = collide_with_surface(it, &near[n].surface, *touching, node, &moving);
    }
    work[0] += moving.taken;
    work[1] += moving.driven;
    work[2] += solved ? all->work[node][0] : 0;
    if (same(moving.position, position) && same(moving.velocity, velocity))
        return false;
    put_node(system, node, &moving);
    return true;
}

// The maximum number of surfaces near a block that are processed together; any others follow.
enum { SURFACES_AT_ONCE = 16 };

// Finds the projecting colliders, starting at *collider, that nodes of the block may touch, and
// advances *collider beyond them. For the colliders that are skipped, the nodes of the block no
// longer touch.
static int find_surfaces(const struct projection *it, struct range nodes,
                         const struct block_box *box, double slack, bool touched, size_t *collider,
                         size_t *number, struct near_surface near[SURFACES_AT_ONCE])
{
    const struct system *system = it->system;
    int count = 0;
    for (; *collider < system->topology->collider_count && count < SURFACES_AT_ONCE; ++*collider) {
        if (system->topology->colliders[*collider].response != RESPONSE_PROJECT)
            continue;
        uint8_t *touching = system->state->touching + system->state->nodes * (*number)++;
        struct near_surface *found = &near[count];
        found->surface = surface_at(system, *collider, it->time);
        found->touching = touching;
        if (REAL_NAME(surface_is_near_box)(&found->surface, box, slack) &&
            REAL_NAME(find_near)(system, &found->surface, box, slack, nodes, found->near))
            count++;
        else if (touched)
            memset(touching + nodes.first, 0, nodes.end - nodes.first);
    }
    return count;
}

static bool any_touches(const struct near_surface *near, int count, struct range nodes)
{
    uint8_t any = 0;
    for (int n = 0; n < count; n++)
        for (size_t node = nodes.first; node < nodes.end; node++)
            any |= near[n].touching[node];
    return any != 0;
}

// How far outside their surfaces nodes may be after an implicit step with contacts. One reason is
// rounding: on a surface through 0, the coordinates of a node are far smaller than those with which
// the step computed. Another is that the normals of a sphere turn while a step moves along one of
// them.
static double solved_slack(const struct projection *it, struct range nodes)
{
    const struct contact_constraints *all = it->system->contacts.constraints;
    double rounding = 0, gap = 0;
    for (size_t node = nodes.first; all && all->present && node < nodes.end; node++) {
        const struct constrained_node *solved = &all->nodes[node];
        if (solved->count == 0)
            continue;
        struct projected moving;
        load_free(it->system->state, all, node, &moving);
        rounding = fmax(rounding, solved_rounding(it, &moving));
        for (int k = 0; k < solved->count; k++) {
            const struct surface surface = surface_at(it->system, solved->collider[k], it->time);
            const vec3 position = node_position(it->system->state, node);
            gap = fmax(gap, -depth_in(&surface, solved->wall[k], position));
        }
    }
    const double margin = 1.001;
    return rounding + margin * gap;
}

// The nodes of a word, and the work of surfaces on them.
struct projected_word {
    struct range nodes;
    int number; // index in the block
    double mass[TOUCH_NODES], taken[TOUCH_NODES], driven[TOUCH_NODES];
};

static void clear_touching(const struct near_surface *near, int count, size_t first, uint64_t nodes)
{
    for (uint64_t left = nodes; left != 0; left &= left - 1)
        for (int n = 0; n < count; n++)
            near[n].touching[first + (size_t)lowest_bit(left)] = 0;
}

static void find_friction_speeds(const struct projection *it, const struct scene_collider *collider,
                                 const struct projected_word *word, double slows[TOUCH_NODES])
{
    const int count = (int)(word->nodes.end - word->nodes.first);
    for (int i = 0; i < TOUCH_NODES; i++) {
        if (i > 0 && (i >= count || word->mass[i] == word->mass[i - 1]))
            slows[i] = slows[i - 1];
        else
            slows[i] = exp(-collider->friction * it->step / word->mass[i]);
    }
}

// Projects by a kernel those of `nodes` that touch the same surfaces as before. Returns the
// remaining nodes.
static uint64_t project_touching(const struct projection *it, struct near_surface *near, int count,
                                 int number, uint64_t nodes, const struct block_box *box,
                                 double slack, struct projected_word *word, bool *moved)
{
    struct system *system = it->system;
    const struct surface *surface = &near[number].surface;
    const size_t first = word->nodes.first;
    const struct scene_collider *collider = surface->it;
    const bool rests = count == 1 && collider->type == COLLIDER_PLANE && collider->friction == 0;
    struct touch_surface surfaces[6];
    double slows[TOUCH_NODES], taken[TOUCH_NODES], driven[TOUCH_NODES];
    if (rests && !system->kernels->touch_rests)
        return nodes;
    if (collider->friction != 0)
        find_friction_speeds(it, collider, word, slows);
    const struct touch_word touch = {
        .first = first,
        .count = (int)(word->nodes.end - first),
        .except = count == 1 ? 0 : ~nodes,
        .surfaces = surfaces,
        .surface_count = REAL_NAME(surface_touch_list)(surface, box, slack, surfaces),
        .rests = rests,
        .slows = collider->friction != 0 ? slows : NULL,
        .mass = word->mass,
        .touching = near[number].touching,
        .taken = taken,
        .driven = driven,
    };
    if (touch.surface_count == 0)
        return nodes;
    const struct touch_result result =
        system->kernels->touch_project(system->state, system->constants->inverse_mass, &touch);
    for (int i = 0; i < TOUCH_NODES; i++) {
        word->taken[i] += taken[i];
        word->driven[i] += driven[i];
    }
    const bool verlet = system->settings.integrator == INTEGRATOR_VERLET;
    for (uint64_t left = verlet ? result.moved : 0; left != 0; left &= left - 1)
        follow_verlet(system, first + (size_t)lowest_bit(left));
    for (int n = 0; n < count; n++)
        if (n != number)
            clear_touching(&near[n], 1, first, nodes & result.done);
    *moved |= result.moved != 0;
    return nodes & ~result.done;
}

// Returns whether a node has changed. `touched`: whether any node of the block touched anything
// before; otherwise no byte of `touching` is set.
static bool project_word(const struct projection *it, struct near_surface *near, int count,
                         const struct block_box *box, double slack, bool touched,
                         struct projected_word *word, double work[3])
{
    struct system *system = it->system;
    const struct contact_constraints *all = system->contacts.constraints;
    const size_t first = word->nodes.first, nodes = word->nodes.end - first;
    uint64_t any = 0, several = 0;
    bool moved = false;
    for (int n = 0; n < count; n++) {
        several |= any & near[n].near[word->number];
        any |= near[n].near[word->number];
    }
    for (int n = 0; n < count && touched && any == 0; n++)
        memset(near[n].touching + first, 0, nodes);
    if (any == 0)
        return false;

    for (size_t i = 0; i < TOUCH_NODES; i++)
        word->mass[i] = word->taken[i] = word->driven[i] = 0;
    for (size_t node = first; node < word->nodes.end;) {
        const struct node_masses masses = topology_masses(system->topology, node, word->nodes.end);
        for (; node < masses.end; node++)
            word->mass[node - first] = mass_in(&masses, node);
    }

    uint64_t left = any;
    const bool side_by_side = touched && system->kernels->touch_project && !(all && all->present) &&
                              system->settings.integrator != INTEGRATOR_BDF2 &&
                              !state_is_mixed(system->state);
    for (int n = 0; n < count && side_by_side; n++) {
        const uint64_t own = near[n].near[word->number] & ~several;
        if (bit_count(own) >= TOUCH_MIN)
            left =
                (left & ~own) | project_touching(it, near, count, n, own, box, slack, word, &moved);
    }
    for (; left != 0; left &= left - 1) {
        const int i = lowest_bit(left);
        const size_t node = first + (size_t)i;
        double of_node[3] = {0, 0, 0};
        if (system->constants->inverse_mass[node] == 0) {
            clear_touching(near, count, first, touched ? left & -left : 0);
            continue;
        }
        moved |= project_node(it, near, count, node, word->mass[i], of_node);
        word->taken[i] += of_node[0];
        word->driven[i] += of_node[1];
        work[2] += of_node[2];
    }
    const uint64_t last = nodes < 64 ? (UINT64_C(1) << nodes) - 1 : ~UINT64_C(0);
    clear_touching(near, count, first, touched ? ~any & last : 0);
    for (size_t i = 0; i < nodes; i++) {
        work[0] += word->taken[i];
        work[1] += word->driven[i];
    }
    return moved;
}

static bool knows_contacts(const struct system *system)
{
    return system->contacts.constraints && system->contacts.constraints->present;
}

// Whether the projection of a block would change nothing, not even its touching flags, as shown by
// its clear box: then it is complete.
static bool pass_block(const struct projection *it, size_t block, const struct node_box *found)
{
    struct system *system = it->system;
    struct contacts *all = &system->contacts;
    if (system->state->block_touches[block] || knows_contacts(system) ||
        !is_clear(&all->clear[block][RESPONSE_PROJECT], found, 0))
        return false;
    double *work = all->work[block];
    work[0] = work[1] = work[2] = 0;
    all->moved[block] = 0;
    all->boxes_known[block] = 0;
    return true;
}

static void project_block(const struct projection *it, size_t block)
{
    struct system *system = it->system;
    const struct state *s = system->state;
    const struct range nodes = contact_block_nodes(system, block);
    const struct node_box found = find_node_box(system, nodes);
    if (pass_block(it, block, &found))
        return;
    const struct block_box box = block_box_of_nodes(system, &found);
    const bool touched = s->block_touches[block];
    const double slack = block_slack(&box) + solved_slack(it, nodes);
    struct near_surface near[SURFACES_AT_ONCE];
    size_t collider = 0, number = 0;
    bool touches = false, moved = false, any = false;
    double *work = system->contacts.work[block];
    work[0] = work[1] = work[2] = 0;
    while (collider < system->topology->collider_count) {
        int count = find_surfaces(it, nodes, &box, slack, touched, &collider, &number, near);
        for (int i = 0; i < BLOCK_WORDS && count > 0; i++) {
            struct projected_word word;
            word.nodes = word_nodes(nodes, i);
            word.number = i;
            moved |= project_word(it, near, count, &box, slack, touched, &word, work);
        }
        touches |= any_touches(near, count, nodes);
        any |= count > 0;
    }
    if (!any)
        REAL_NAME(make_clear)
    (system, RESPONSE_PROJECT, it->time, &box, &system->contacts.clear[block][RESPONSE_PROJECT]);
    s->block_touches[block] = touches;
    system->contacts.moved[block] = moved;
    system->contacts.boxes[block] = box;
    system->contacts.boxes_known[block] = 1;
}

// The time from one projection to the next, s.
static double projection_step(const struct system *system)
{
    const struct settings *settings = &system->settings;
    return settings->integrator == INTEGRATOR_XPBD ? settings->dt / settings->substeps
                                                   : settings->dt;
}

// The states of a block in contacts.near: its projection is complete; it is not near; it is near.
enum { PASSED, NOT_NEAR, NEAR };

bool REAL_NAME(colliders_near)(struct system *system, double time, bool *passed,
                               const struct worker *worker)
{
    struct contacts *all = &system->contacts;
    const struct projection it = {system, time, projection_step(system)};
    REAL_NAME(exchange_rest)(system, worker);
    struct range share = contact_block_share(system, worker);
    for (size_t block = share.first; block < share.end; block++) {
        const struct range nodes = contact_block_nodes(system, block);
        const struct node_box found = find_node_box(system, nodes);
        all->near[block] = PASSED;
        if (pass_block(&it, block, &found))
            continue;
        const struct block_box box = block_box_of_nodes(system, &found);
        const double slack = block_slack(&box) + solved_slack(&it, nodes);
        struct near_surface near[SURFACES_AT_ONCE];
        size_t collider = 0, number = 0;
        const bool any =
            find_surfaces(&it, nodes, &box, slack, false, &collider, &number, near) > 0;
        all->near[block] = any ? NEAR : NOT_NEAR;
    }
    stage_end(&system->clock, STAGE_WORK, worker);
    if (worker->index == 0)
        REAL_NAME(exchange_blocks)(system, all->near, sizeof *all->near);
    if (system->exchange)
        worker_barrier(worker);
    const size_t blocks = all->blocks;
    const bool near = memchr(all->near, NEAR, blocks) != NULL;
    const bool left = near || memchr(all->near, NOT_NEAR, blocks) != NULL;
    *passed = !REAL_NAME(shares_any)(system, left, worker);
    return REAL_NAME(shares_any)(system, near, worker);
}

void REAL_NAME(colliders_project)(struct system *system, double time, const struct worker *worker)
{
    const struct projection it = {system, time, projection_step(system)};
    REAL_NAME(exchange_rest)(system, worker);
    struct range share = contact_block_share(system, worker);
    for (size_t block = share.first; block < share.end; block++)
        project_block(&it, block);
    if (!system->exchange)
        return;
    worker_barrier(worker);
    if (worker->index == 0) {
        REAL_NAME(exchange_blocks)(system, system->contacts.moved, sizeof *system->contacts.moved);
        REAL_NAME(exchange_blocks)(system, system->contacts.work, sizeof *system->contacts.work);
    }
}

// Stores the velocities at the start of the next step, for blocks that may touch in it: from a
// greater distance, nodes would have to be four times as fast as now. `box`: NULL if the block is
// in its clear box.
static void store_velocities(struct system *system, double time, struct range nodes,
                             const struct block_box *box, size_t block)
{
    const double step = projection_step(system);
    struct state *s = system->state;
    const struct block_box speeds = box_of(system, s->vx, s->vy, s->vz, nodes);
    const double gravity = vec3_length(system->topology->environment.gravity);
    const double slack = 4 * step * (2 * speeds.reach + step * gravity);
    s->start_known[block] = 0;
    if (!box && slack <= system->contacts.clear[block][RESPONSE_PROJECT].slack)
        return;
    struct block_box measured;
    if (!box) {
        measured = box_of_nodes(system, nodes);
        box = &measured;
    }
    for (size_t c = 0; c < system->topology->collider_count && !s->start_known[block]; c++) {
        const struct surface surface = surface_at(system, c, time);
        double moves = 4 * step * vec3_length(surface.velocity);
        s->start_known[block] = surface.it->response == RESPONSE_PROJECT &&
                                surface.it->restitution > 0 &&
                                REAL_NAME(surface_is_near_box)(&surface, box, slack + moves);
    }
    for (size_t i = nodes.first; i < nodes.end && s->start_known[block]; i++) {
        s->start_vx[i] = s->vx[i];
        s->start_vy[i] = s->vy[i];
        s->start_vz[i] = s->vz[i];
    }
}

static void store_block(struct system *system, double time, size_t block)
{
    const struct contacts *all = &system->contacts;
    const struct range nodes = contact_block_nodes(system, block);
    if (all->moved[block]) {
        all->boxes[block] = box_of_nodes(system, nodes);
        all->boxes_known[block] = 1;
    }
    const struct block_box *box = all->boxes_known[block] ? &all->boxes[block] : NULL;
    store_velocities(system, time, nodes, box, block);
}

void REAL_NAME(colliders_store)(struct system *system, double time, const struct worker *worker)
{
    if (!system->state->start_known)
        return;
    REAL_NAME(exchange_rest)(system, worker); // keep_velocity has changed velocities
    struct range share = contact_block_share(system, worker);
    for (size_t block = share.first; block < share.end; block++)
        store_block(system, time, block);
}

// Adds a number to those of nodes [first, first + count) that are in the range.
static void add_within(real *to, struct range nodes, uint64_t first, uint64_t count, real more)
{
    const uint64_t end = min_u64(first + count, nodes.end);
    for (uint64_t node = max_u64(first, nodes.first); node < end; node++)
        to[node] += more;
}

// A third of the stiffness of the springs at a node: its average over directions. Found for the
// nodes of the blocks that this rank computes.
static void find_spring_rates(struct system *system)
{
    const struct topology *topology = system->topology;
    const struct range blocks = contact_blocks(system);
    const struct range nodes = {blocks.first * CONTACT_BLOCK,
                                (size_t)min_u64(blocks.end * CONTACT_BLOCK, topology->node_count)};
    real *rate = system->state->spring_rate;
    for (size_t node = nodes.first; node < nodes.end; node++)
        rate[node] = 0;
    for (uint64_t spring = 0; spring < topology->spring_count;) {
        const struct spring_run run = topology_run(topology, spring, topology->spring_count);
        const real third = (real)(topology->materials[run.material].stiffness / 3);
        add_within(rate, nodes, run.a, run.count, third);
        add_within(rate, nodes, run.b, run.count, third);
        spring += run.count;
    }
    for (size_t node = nodes.first; node < nodes.end; node++)
        rate[node] *= system->constants->inverse_mass[node];
}

// A node that is on or inside a surface, and does not approach it, has had its impact already.
void REAL_NAME(colliders_start)(struct system *system, double time, const struct worker *worker)
{
    struct state *s = system->state;
    if (!s->touching) {
        REAL_NAME(colliders_restart)(system, time, worker);
        return;
    }
    struct range share = contact_block_share(system, worker);
    for (size_t block = share.first; block < share.end; block++) {
        const struct range nodes = contact_block_nodes(system, block);
        uint8_t *touching = s->touching;
        for (size_t c = 0; c < system->topology->collider_count; c++) {
            const struct surface surface = surface_at(system, c, time);
            if (surface.it->response != RESPONSE_PROJECT)
                continue;
            for (size_t i = nodes.first; i < nodes.end; i++) {
                struct contact contacts[6];
                vec3 position = node_position(s, i);
                vec3 relative = vec3_subtract(node_velocity(s, i), surface.velocity);
                int count = surface_contacts(&surface, position,
                                             touching_slack(state_epsilon(s), position), contacts);
                touching[i] = 0;
                for (int k = 0; k < count; k++)
                    if (!(vec3_dot(relative, contacts[k].normal) < 0))
                        touching[i] |= (uint8_t)(1u << contacts[k].wall);
            }
            touching += s->nodes;
        }
    }
    REAL_NAME(colliders_restart)(system, time, worker);
}

void REAL_NAME(colliders_restart)(struct system *system, double time, const struct worker *worker)
{
    struct state *s = system->state;
    if (worker->index == 0)
        REAL_NAME(colliders_changed)(system);
    worker_barrier(worker);
    if (!s->touching)
        return;
    struct range share = contact_block_share(system, worker);
    for (size_t block = share.first; block < share.end; block++) {
        s->block_touches[block] = 1;       // at worst some bytes that are 0 are cleared
        system->contacts.moved[block] = 1; // its box is not known
    }
    REAL_NAME(colliders_store)(system, time, worker);
    if (s->spring_rate && worker->index == 0)
        find_spring_rates(system);
    worker_barrier(worker);
}
