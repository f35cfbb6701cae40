#include "integrate/integrate.h"

struct state_needs REAL_NAME(integrator_needs)(enum integrator integrator,
                                               const struct topology *topology)
{
    const struct scene_wind *wind = &topology->environment.wind;
    bool stages = integrator == INTEGRATOR_MIDPOINT || integrator == INTEGRATOR_RK4;
    return (struct state_needs){
        .base_positions = stages || integrator == INTEGRATOR_VERLET,
        .base_velocities = stages,
        .slopes = integrator == INTEGRATOR_RK4,
        .normals = wind->present && wind->law == WIND_NODE,
    };
}

int REAL_NAME(integrator_evaluations)(enum integrator integrator)
{
    return integrator == INTEGRATOR_RK4 ? 4 : integrator == INTEGRATOR_MIDPOINT ? 2 : 1;
}

struct moment REAL_NAME(moment_now)(const struct system *system)
{
    uint64_t step = system->state->step;
    return (struct moment){(double)step * system->settings.dt, step + 1};
}

void REAL_NAME(integrator_start)(struct system *system, const struct worker *worker)
{
    if (system->settings.integrator == INTEGRATOR_VERLET)
        REAL_NAME(verlet_start)(system, worker);
}

void REAL_NAME(integrator_step)(struct system *system, const struct worker *worker)
{
    stage_clock_start(&system->clock, worker);
    switch (system->settings.integrator) {
    case INTEGRATOR_EXPLICIT_EULER:
        REAL_NAME(explicit_euler)(system, worker);
        break;
    case INTEGRATOR_SYMPLECTIC_EULER:
        REAL_NAME(symplectic_euler)(system, worker);
        break;
    case INTEGRATOR_VERLET:
        REAL_NAME(verlet)(system, worker);
        break;
    case INTEGRATOR_VELOCITY_VERLET:
        REAL_NAME(velocity_verlet)(system, worker);
        break;
    case INTEGRATOR_MIDPOINT:
        REAL_NAME(midpoint)(system, worker);
        break;
    case INTEGRATOR_RK4:
        REAL_NAME(rk4)(system, worker);
        break;
    case INTEGRATOR_COUNT:
        break;
    }
}

// v *= keep_velocity; verlet's memory of the last position follows.
static void keep_velocity(struct system *system, const struct worker *worker)
{
    struct state *s = system->state;
    real keep = (real)system->settings.keep_velocity;
    bool verlet = system->settings.integrator == INTEGRATOR_VERLET;
    struct range share = node_share(system, worker);
    for (size_t i = share.first; i < share.end; i++) {
        if (system->constants->inverse_mass[i] == 0)
            continue;
        s->vx[i] *= keep;
        s->vy[i] *= keep;
        s->vz[i] *= keep;
        if (verlet) {
            s->x0[i] = s->x[i] - keep * (s->x[i] - s->x0[i]);
            s->y0[i] = s->y[i] - keep * (s->y[i] - s->y0[i]);
            s->z0[i] = s->z[i] - keep * (s->z[i] - s->z0[i]);
        }
    }
}

void REAL_NAME(step_finish)(struct system *system, const struct worker *worker)
{
    struct settings settings = system->settings;
    bool changes = settings.projects || settings.keep_velocity != 1;
    double before = 0;
    if (changes && settings.account_work)
        before = REAL_NAME(kinetic_energy)(system, worker);
    if (settings.projects) {
        double end = (double)(system->state->step + 1) * settings.dt;
        REAL_NAME(colliders_project)(system, end, worker);
    }
    if (settings.keep_velocity != 1)
        keep_velocity(system, worker);
    if (changes)
        worker_barrier(worker); // all have read the step's number and written their nodes
    if (changes && settings.account_work) {
        double lost = before - REAL_NAME(kinetic_energy)(system, worker);
        if (worker->index == 0)
            system->work.done[WORK_KEEP] += lost;
    }
    if (worker->index == 0) {
        system->state->step++;
        if (changes)
            system->state->forces_current = false;
    }
    stage_end(&system->clock, STAGE_INTEGRATE, worker);
}
