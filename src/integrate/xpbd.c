// Extended position-based dynamics by small steps (kernels/links.h): a step is cut into substeps,
// and in each the forces from outside change the velocities, then springs are solved one after the
// other as constraints of the velocities, then nodes move:
//
//   v += h a_outside(x, v);  springs change v, `iterations` times over;  x += h v
//
// Springs solved to the end, this is the implicit Euler step in the springs, so it stays stable at
// any stiffness and damps what is too fast for h; once over the springs is enough, and the better
// choice, if substeps are small. The unknowns are velocities, not positions as in the papers: with
// h small, differences of positions would have few digits in single precision. Rigid links get the
// impulses that they need; they have no energy, and their force is not among those that are shown.
#include "integrate/hand.h"
#include "integrate/integrate.h"

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
            s->vx[i] += factor * (mass * gx - drag * s->vx[i]);
            s->vy[i] += factor * (mass * gy - drag * s->vy[i]);
            s->vz[i] += factor * (mass * gz - drag * s->vz[i]);
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

static void solve_springs(struct system *system, double step, const struct worker *worker)
{
    for (int i = 0; i < system->settings.iterations; i++)
        REAL_NAME(run_links)(system, step, i == 0, worker);
    stage_end(&system->clock, STAGE_SPRINGS, worker);
}

static void substep(struct system *system, struct moment moment, int number,
                    const struct worker *worker)
{
    const int count = system->settings.substeps;
    const double dt = system->settings.dt, h = dt / count;
    const double begin = dt * number / count, end = dt * (number + 1) / count;
    moment.time += begin;
    if (system->sweeps->loaded) { // more than gravity and drag may act on nodes
        REAL_NAME(forces_outside)(system, moment, worker);
        kick(system, h, worker);
    } else {
        fall(system, h, worker);
    }
    REAL_NAME(springs_break)(system, worker);
    REAL_NAME(motions_lead)(system, end, h, worker);
    solve_springs(system, h, worker);
    REAL_NAME(hand_in_substep)
    (system, h, worker); // last: so it has its way, and the springs follow
    drift(system, h, worker);
    if (number + 1 < count)
        REAL_NAME(motions_place)(system, end, worker);
    else
        REAL_NAME(motions_advance)(system, dt, worker);
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
    for (int number = 0; number < system->settings.substeps; number++)
        substep(system, now, number, worker);
}
