// Wind of three laws (physics.md, 4): node (Matyka 2.19, 2.20), face (Rociek and Rusztowicz),
// quadratic.
#include "forces/forces.h"

static const double pi = 3.14159265358979323846;

struct wind_now REAL_NAME(wind_at)(const struct topology *topology, double time)
{
    const struct scene_wind *wind = &topology->environment.wind;
    if (!wind->present)
        return (struct wind_now){0};
    vec3 w = wind->velocity;
    for (size_t i = 0; i < wind->gust_count; i++) {
        const struct scene_gust *gust = &wind->gusts[i];
        double angle = 2 * pi * time / gust->period + gust->phase * pi / 180;
        w = vec3_add(w, vec3_scale(sin(angle), gust->amplitude));
    }
    double factor =
        wind->law == WIND_QUADRATIC ? 0.5 * wind->density * wind->drag : wind->coefficient;
    return (struct wind_now){(real)w.x, (real)w.y,    (real)w.z,
                             wind->law, (real)factor, wind->relative};
}

void REAL_NAME(node_normals)(struct system *system, const struct worker *worker)
{
    struct state *s = system->state;
    struct range share = node_share(system, worker);
    for (size_t i = share.first; i < share.end; i++)
        s->nx[i] = s->ny[i] = s->nz[i] = 0;
    worker_barrier(worker);
    REAL_NAME(run_coloured)(system, &system->plan->faces, system->kernels->normals, NULL, worker);
    for (size_t i = share.first; i < share.end; i++) {
        real length = real_sqrt(s->nx[i] * s->nx[i] + s->ny[i] * s->ny[i] + s->nz[i] * s->nz[i]);
        if (!(length > 0))
            continue;
        s->nx[i] /= length;
        s->ny[i] /= length;
        s->nz[i] /= length;
    }
    worker_barrier(worker);
}

// F = c ((w - v).n) n
static void add_by_node(struct system *system, const struct wind_now *now,
                        const struct worker *worker)
{
    struct state *s = system->state;
    const real *free_node = system->constants->inverse_mass;
    struct range share = node_share(system, worker);
    for (size_t i = share.first; i < share.end; i++) {
        if (free_node[i] == 0)
            continue;
        real rx = now->wx, ry = now->wy, rz = now->wz;
        if (now->relative) {
            rx -= s->vx[i];
            ry -= s->vy[i];
            rz -= s->vz[i];
        }
        real scale = now->factor * (rx * s->nx[i] + ry * s->ny[i] + rz * s->nz[i]);
        s->fx[i] += scale * s->nx[i];
        s->fy[i] += scale * s->ny[i];
        s->fz[i] += scale * s->nz[i];
    }
}

void REAL_NAME(wind_add)(struct system *system, struct moment moment, const struct worker *worker)
{
    struct wind_now now = REAL_NAME(wind_at)(system->topology, moment.time);
    if (now.factor == 0 || system->topology->face_count == 0)
        return;
    if (now.law == WIND_NODE) {
        REAL_NAME(node_normals)(system, worker);
        add_by_node(system, &now, worker);
        return;
    }
    REAL_NAME(run_coloured)(system, &system->plan->faces, system->kernels->wind, &now, worker);
}
