// Extended position-based dynamics by small steps (kernels/links.h): a step is cut into substeps,
// and in each the forces from outside change the velocities, then springs are solved one after the
// other as constraints of the velocities, then nodes move:
//
//   v += h a_outside(x, v);  springs and contacts change v, `iterations` times over;  x += h v
//
// Springs solved to the end, this is the implicit Euler step in the springs, so it stays stable at
// any stiffness and damps what is too fast for h; once over the springs is enough, and the better
// choice, if substeps are small. The unknowns are velocities, not positions as in the papers: with
// h small, differences of positions would have few digits in single precision. Rigid links get the
// impulses that they need; they have no energy, and their force is not among those that are shown.
//
// Contacts with penalty colliders are constraints of the same kind, of compliance 1/k, and
// unilateral: their force is the one at the end of the substep (solve_contact). Air drag is
// implicit too.
#include "integrate/hand.h"
#include "integrate/integrate.h"
#include "state/reading.h"

// ---- Air drag
//
// It is explicit, v -= h c v / m, as long as a = h c / m is at most 1, so that it only slows the
// node. Of a stronger drag the part with a = 1 is, and the rest divides the velocity by 1 + (a - 1)
// when the constraints have been solved. So a free fall ends at m g / c whatever h, and springs
// that hold a node at rest carry all of its weight, which they would not if all drag came before
// them.

// How much of the drag is explicit, kg/s; `factor` is h / m.
static real explicit_drag(real drag, real factor)
{
    return factor * drag > 1 ? 1 / factor : drag;
}

static bool any_strong_drag(const struct system *system, double step, const struct worker *worker)
{
    const real drag = (real)system->topology->environment.air_drag, h = (real)step;
    struct range share = node_share(system, worker);
    for (size_t i = share.first; drag > 0 && i < share.end; i++)
        if (h * system->constants->inverse_mass[i] * drag > 1)
            return true;
    return false;
}

// Takes the part that is not explicit out of the forces.
static void limit_drag(struct system *system, double step, const struct worker *worker)
{
    struct state *s = system->state;
    const real drag = (real)system->topology->environment.air_drag, h = (real)step;
    struct range share = node_share(system, worker);
    for (size_t i = share.first; i < share.end; i++) {
        real rest = drag - explicit_drag(drag, h * system->constants->inverse_mass[i]);
        s->fx[i] += rest * s->vx[i];
        s->fy[i] += rest * s->vy[i];
        s->fz[i] += rest * s->vz[i];
    }
}

static void apply_strong_drag(struct system *system, double step, const struct worker *worker)
{
    struct state *s = system->state;
    const real drag = (real)system->topology->environment.air_drag, h = (real)step;
    struct range share = node_share(system, worker);
    for (size_t i = share.first; i < share.end; i++) {
        real factor = h * system->constants->inverse_mass[i];
        real slower = 1 + factor * (drag - explicit_drag(drag, factor));
        s->vx[i] /= slower;
        s->vy[i] /= slower;
        s->vz[i] /= slower;
    }
}

static void kick(struct system *system, double step, const struct worker *worker)
{
    struct state *s = system->state;
    const real h = (real)step;
    struct range share = node_share(system, worker);
    for (size_t i = share.first; i < share.end; i++) {
        real factor = h * system->constants->inverse_mass[i];
        s->vx[i] += factor * s->fx[i];
        s->vy[i] += factor * s->fy[i];
        s->vz[i] += factor * s->fz[i];
    }
    stage_end(&system->clock, STAGE_INTEGRATE, worker);
}

// The same where nothing but gravity and drag acts from outside, without a detour by the forces.
static void fall(struct system *system, double step, const struct worker *worker)
{
    struct state *s = system->state;
    const struct scene_environment *around = &system->topology->environment;
    const real h = (real)step, drag = (real)around->air_drag;
    const real gx = (real)around->gravity.x, gy = (real)around->gravity.y;
    const real gz = (real)around->gravity.z;
    struct range share = node_share(system, worker);
    for (size_t i = share.first; i < share.end;) {
        struct node_masses masses = topology_masses(system->topology, i, share.end);
        for (; i < masses.end; i++) {
            real mass = (real)mass_in(&masses, i), factor = h * system->constants->inverse_mass[i];
            real slows = explicit_drag(drag, factor);
            s->vx[i] += factor * (mass * gx - slows * s->vx[i]);
            s->vy[i] += factor * (mass * gy - slows * s->vy[i]);
            s->vz[i] += factor * (mass * gz - slows * s->vz[i]);
        }
    }
    stage_end(&system->clock, STAGE_INTEGRATE, worker);
}

static void drift(struct system *system, double step, const struct worker *worker)
{
    struct state *s = system->state;
    const real h = (real)step;
    struct range share = node_share(system, worker);
    for (size_t i = share.first; i < share.end; i++) {
        s->x[i] += h * s->vx[i];
        s->y[i] += h * s->vy[i];
        s->z[i] += h * s->vz[i];
    }
    stage_end(&system->clock, STAGE_INTEGRATE, worker);
}

// The velocity that a contact leaves a node with, which it would have left with `velocity` at a
// depth `depth` at the end of the substep h. With w the inverse mass and a = (v - v_surface).n, the
// change D along the normal n, which lessens the depth by h D, is that of the penalty force at the
// end:
//
//   D = w h (k (depth - h D) - c_n (a + D)),  the second term only while a + D < 0
//
// and at most depth / h: absorption stops a node at the surface but does not hold it there. What is
// along the surface is divided by 1 + w h c_t. Both take energy from any motion, at every k, c and
// h.
static vec3 solve_contact(const struct scene_collider *collider, const struct contact *contact,
                          double depth, double inverse_mass, double h, vec3 velocity)
{
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
    vec3 along = vec3_scale(approach + change, contact->normal);
    return vec3_add(contact->surface_velocity, vec3_add(kept, along));
}

// The same of all contacts of a node, one after the other. A room has several at once; what one
// changes counts in the depth of the next.
static vec3 solve_node(const struct system *system, size_t i, double h, double end, vec3 velocity)
{
    const struct topology *topology = system->topology;
    const vec3 start = node_position(system->state, i);
    const double inverse_mass = (double)system->constants->inverse_mass[i];
    struct contact contacts[6];
    for (size_t c = 0; c < topology->collider_count; c++) {
        const struct scene_collider *collider = &topology->colliders[c];
        if (collider->response != RESPONSE_PENALTY)
            continue;
        const vec3 free = velocity;
        vec3 place = vec3_add(start, vec3_scale(h, free));
        int count = REAL_NAME(collider_contacts)(system, c, end, place, contacts);
        for (int k = 0; k < count; k++) {
            vec3 changed = vec3_subtract(velocity, free);
            double depth = contacts[k].depth - h * vec3_dot(changed, contacts[k].normal);
            if (depth > 0)
                velocity = solve_contact(collider, &contacts[k], depth, inverse_mass, h, velocity);
        }
    }
    return velocity;
}

// An iteration takes back what the contacts of the node gave it in the one before, which stands
// where the forces were, and gives what they would without: so the result of many iterations does
// not depend on their number.
static void solve_contacts_of(struct system *system, size_t i, double h, double end, bool first)
{
    struct state *s = system->state;
    if (system->constants->inverse_mass[i] == 0)
        return;
    vec3 given = first ? vec3_make(0, 0, 0) : node_force(s, i), before = node_velocity(s, i);
    vec3 free = vec3_subtract(before, given);
    vec3 change = vec3_subtract(solve_node(system, i, h, end, free), free);
    if (system->settings.iterations > 1) {
        s->fx[i] = (real)change.x;
        s->fy[i] = (real)change.y;
        s->fz[i] = (real)change.z;
    }
    if (change.x == given.x && change.y == given.y && change.z == given.z)
        return;
    s->vx[i] = (real)(free.x + change.x);
    s->vy[i] = (real)(free.y + change.y);
    s->vz[i] = (real)(free.z + change.z);
}

// No vector of these nodes is longer.
static double greatest_length(const struct system *system, const real *x, const real *y,
                              const real *z, struct range nodes)
{
    struct node_box box;
    system->kernels->node_box(x, y, z, nodes, &box);
    double square = 0;
    for (int axis = 0; axis < 3; axis++) {
        double size = fmax(fabs((double)box.least[axis]), fabs((double)box.most[axis]));
        square += size * size;
    }
    return sqrt(square);
}

// Contacts where nodes are at the end of the substep: only of those nodes that are so near to a
// surface that they may get there.
static void solve_contacts(struct system *system, double h, double end, bool first,
                           const struct worker *worker)
{
    struct state *s = system->state;
    const struct range share = node_share(system, worker);
    const bool clears = first && system->settings.iterations > 1;
    for (size_t begin = share.first; begin < share.end; begin += CONTACT_BLOCK) {
        struct range nodes = {begin, share.end - begin < CONTACT_BLOCK ? share.end
                                                                       : begin + CONTACT_BLOCK};
        double given = first ? 0 : greatest_length(system, s->fx, s->fy, s->fz, nodes);
        double speed = greatest_length(system, s->vx, s->vy, s->vz, nodes) + given;
        uint64_t near[CONTACT_BLOCK / 64];
        bool any = REAL_NAME(contacts_within)(system, end, nodes, 1.001 * h * speed, near);
        if (!any && given == 0 && !clears)
            continue;
        for (size_t i = nodes.first; i < nodes.end; i++) {
            size_t bit = i - nodes.first;
            bool is_near = near[bit / 64] >> (bit % 64) & 1;
            bool was_near = given != 0 && (s->fx[i] != 0 || s->fy[i] != 0 || s->fz[i] != 0);
            if (is_near || was_near)
                solve_contacts_of(system, i, h, end, first);
            else if (clears)
                s->fx[i] = s->fy[i] = s->fz[i] = 0;
        }
    }
    stage_end(&system->clock, STAGE_COLLIDERS, worker);
}

static void solve_constraints(struct system *system, double h, double end,
                              const struct worker *worker)
{
    const bool touches = system->settings.penalises;
    for (int i = 0; i < system->settings.iterations; i++) {
        REAL_NAME(run_links)(system, h, i == 0, worker);
        if (touches) {
            stage_end(&system->clock, STAGE_SPRINGS, worker);
            solve_contacts(system, h, end, i == 0, worker);
        }
    }
    if (!touches)
        stage_end(&system->clock, STAGE_SPRINGS, worker);
}

// `strong_drag` is of the worker's own nodes.
static void substep(struct system *system, struct moment moment, int number, bool strong_drag,
                    const struct worker *worker)
{
    const int count = system->settings.substeps;
    const double dt = system->settings.dt, h = dt / count;
    const double begin = dt * number / count, end = dt * (number + 1) / count;
    const double end_time = moment.time + end;
    moment.time += begin;
    if (system->sweeps->loaded) { // more than gravity and drag may act on nodes
        REAL_NAME(forces_outside)(system, moment, worker);
        if (strong_drag)
            limit_drag(system, h, worker);
        kick(system, h, worker);
    } else {
        fall(system, h, worker);
    }
    REAL_NAME(springs_break)(system, worker);
    REAL_NAME(motions_lead)(system, end, h, worker);
    solve_constraints(system, h, end_time, worker);
    if (strong_drag)
        apply_strong_drag(system, h, worker);
    REAL_NAME(hand_in_substep)
    (system, h, worker); // last: so it has its way, and the springs follow
    drift(system, h, worker);
    if (number + 1 < count)
        REAL_NAME(motions_place)(system, end, worker);
    else
        REAL_NAME(motions_advance)(system, dt, worker);
    if (system->settings.projects) {
        REAL_NAME(project)(system, end_time, worker);
        REAL_NAME(colliders_remember)(system, end_time, worker);
        worker_barrier(worker);
    }
}

// The account of work asks for the forces of the step's start.
static void account(struct system *system, struct moment now, const struct worker *worker)
{
    if (!system->settings.account_work)
        return;
    REAL_NAME(forces_look)(system, now, worker);
    REAL_NAME(work_sample)(system, now, worker);
}

void REAL_NAME(xpbd)(struct system *system, const struct worker *worker)
{
    struct moment now = REAL_NAME(moment_now)(system);
    REAL_NAME(springs_yield)(system, worker);
    account(system, now, worker);
    const int count = system->settings.substeps;
    const bool strong_drag = any_strong_drag(system, system->settings.dt / count, worker);
    for (int number = 0; number < count; number++)
        substep(system, now, number, strong_drag, worker);
}
