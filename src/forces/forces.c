#include "forces/forces.h"

// Bodies on grids: rows are handed out to the workers, some at a time.
static void add_grids(const struct system *system, const struct worker *worker)
{
    enum { NODES_AT_ONCE = 4096 };
    for (size_t g = 0; g < (size_t)system->constants->grid_count; g++) {
        const struct grid_constants *grid = &system->constants->grids[g];
        size_t rows = (size_t)(grid->grid->ny * grid->grid->nz);
        size_t batch = NODES_AT_ONCE / (size_t)grid->grid->nx + 1;
        struct range range;
        while (worker_take(worker, rows, batch, &range))
            system->kernels->grid(system, grid, range);
        worker_barrier(worker);
    }
}

static void evaluate(struct system *system, struct moment moment, bool breaking,
                     const struct worker *worker)
{
    REAL_NAME(gravity_drag_start)(system, worker);
    stage_end(&system->clock, STAGE_GRAVITY_DRAG, worker);
    if (breaking)
        REAL_NAME(springs_break)(system, worker);
    add_grids(system, worker);
    REAL_NAME(run_coloured)(system, &system->plan->springs, system->kernels->springs, NULL, worker);
    stage_end(&system->clock, STAGE_SPRINGS, worker);
    REAL_NAME(wind_add)(system, moment, worker);
    stage_end(&system->clock, STAGE_WIND, worker);
    REAL_NAME(pressure_add)(system, moment, worker);
    stage_end(&system->clock, STAGE_PRESSURE, worker);
    REAL_NAME(colliders_add)(system, moment.time, worker);
    stage_end(&system->clock, STAGE_COLLIDERS, worker);
}

void REAL_NAME(forces_evaluate)(struct system *system, struct moment moment,
                                const struct worker *worker)
{
    evaluate(system, moment, true, worker);
}

void REAL_NAME(forces_look)(struct system *system, struct moment moment,
                            const struct worker *worker)
{
    evaluate(system, moment, false, worker);
}

// F = m g - c v (physics.md, 1 and 2; NeHe lesson 40).
void REAL_NAME(gravity_drag_start)(struct system *system, const struct worker *worker)
{
    struct state *s = system->state;
    const real *mass = system->constants->mass;
    vec3 gravity = system->topology->environment.gravity;
    real gx = (real)gravity.x, gy = (real)gravity.y, gz = (real)gravity.z;
    real drag = (real)system->topology->environment.air_drag;
    struct range share = node_share(system, worker);
    for (size_t i = share.first; i < share.end; i++) {
        s->fx[i] = mass[i] * gx - drag * s->vx[i];
        s->fy[i] = mass[i] * gy - drag * s->vy[i];
        s->fz[i] = mass[i] * gz - drag * s->vz[i];
    }
}
