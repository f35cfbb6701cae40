// Wind, with three laws (docs/numerics.md): node (Matyka 2.19, 2.20), face (Rociek and Rusztowicz),
// quadratic. Faces in blocks are computed here, those of cloths on grids by the kernels of
// wind_body.h.
#include "base/sort.h"
#include "faces/face.h"
#include "faces/faces.h"
#include "kernels/kernels.h"
#include "springs/exchange.h"
#include "springs/springs.h"

struct wind_now REAL_NAME(wind_at)(const struct topology *topology, double time)
{
    const struct scene_wind *wind = &topology->environment.wind;
    if (!wind->present)
        return (struct wind_now){0};
    vec3 w = scene_wind_at(wind, time);
    double factor =
        wind->law == WIND_QUADRATIC ? 0.5 * wind->density * wind->drag : wind->coefficient;
    return (struct wind_now){(real)w.x, (real)w.y,    (real)w.z,
                             wind->law, (real)factor, wind->relative};
}

// ---- Faces in blocks

// Adds each face's unit normal to nx, ny, nz of its nodes.
static void add_normals(const struct system *system, const void *unused, struct plan_block block)
{
    (void)unused;
    struct state *s = system->state;
    if (!exchange_computes_faces(system, block))
        return;
    for (uint64_t i = block.first; i < block.first + block.count; i++) {
        struct face_shape face = face_shape(s, system->constants->face_nodes[i]);
        if (!(face.area > 0))
            continue;
        for (int corner = 0; corner < face.corners; corner++) {
            uint32_t node = face.nodes[corner];
            s->nx[node] += face.sx / face.area;
            s->ny[node] += face.sy / face.area;
            s->nz[node] += face.sz / face.area;
        }
    }
}

struct relative_wind {
    real x, y, z;
};

// The wind minus the mean velocity of the corners. The differences are taken before the mean, so
// that a face that moves with the wind has exactly no force.
static struct relative_wind relative_wind(const struct state *s, const struct wind_now *now,
                                          const struct face_shape *face, real share)
{
    if (!now->relative)
        return (struct relative_wind){now->wx, now->wy, now->wz};
    struct relative_wind sum = {0, 0, 0};
    for (int corner = 0; corner < face->corners; corner++) {
        uint32_t node = face->nodes[corner];
        sum.x += now->wx - s->vx[node];
        sum.y += now->wy - s->vy[node];
        sum.z += now->wz - s->vz[node];
    }
    return (struct relative_wind){sum.x * share, sum.y * share, sum.z * share};
}

// F = c A (r.n) n (face) or rho C_d / 2 A |r.n| (r.n) n (quadratic), with r the wind relative to
// the mean velocity of the corners. Each corner gets an equal share; pinned corners are skipped.
static void add_wind(const struct system *system, const void *argument, struct plan_block block)
{
    const struct wind_now *now = argument;
    struct state *s = system->state;
    const real *free_node = system->constants->inverse_mass;
    if (!exchange_computes_faces(system, block))
        return;
    for (uint64_t i = block.first; i < block.first + block.count; i++) {
        struct face_shape face = face_shape(s, system->constants->face_nodes[i]);
        if (!(face.area > 0))
            continue;
        real share = (real)1 / (real)face.corners;
        struct relative_wind r = relative_wind(s, now, &face, share);
        real normal_speed = (r.x * face.sx + r.y * face.sy + r.z * face.sz) / face.area;
        real scale = now->factor * normal_speed * share; // times A n = (sx, sy, sz)
        if (now->law == WIND_QUADRATIC)
            scale *= real_abs(normal_speed);
        for (int corner = 0; corner < face.corners; corner++) {
            uint32_t node = face.nodes[corner];
            if (free_node[node] == 0)
                continue;
            s->fx[node] += scale * face.sx;
            s->fy[node] += scale * face.sy;
            s->fz[node] += scale * face.sz;
        }
    }
}

// A worker's share of the nodes of a body whose faces are in blocks; empty for other bodies. Where
// ranks hold only their parts, each has its own nodes: forces that are added to others are not
// used.
static struct range blocked_share(const struct system *system, size_t body,
                                  const struct worker *worker)
{
    const struct topology_body *it = &system->topology->bodies[body];
    if (it->face_count == 0 || plan_face_grid_of_body(system->plan, body))
        return (struct range){0, 0};
    size_t first = (size_t)it->first_node, end = first + (size_t)it->node_count;
    if (REAL_NAME(exchange_has_part)(system)) {
        end = min_u64(end, system->own_nodes.end);
        first = min_u64(end, max_u64(first, system->own_nodes.first));
    }
    struct range share = worker_share(worker, end - first, 16);
    return (struct range){first + share.first, first + share.end};
}

static void clear_normals(struct state *s, struct range share)
{
    for (size_t i = share.first; i < share.end; i++)
        s->nx[i] = s->ny[i] = s->nz[i] = 0;
}

// Normalises the sums of unit normals; 0 remains 0.
static void normalise(struct state *s, struct range share)
{
    for (size_t i = share.first; i < share.end; i++) {
        real length = real_sqrt(s->nx[i] * s->nx[i] + s->ny[i] * s->ny[i] + s->nz[i] * s->nz[i]);
        if (!(length > 0))
            continue;
        s->nx[i] /= length;
        s->ny[i] /= length;
        s->nz[i] /= length;
    }
}

// F = c ((w - v).n) n
static void add_node_forces(const struct system *system, const struct wind_now *now,
                            struct range share)
{
    struct state *s = system->state;
    const real *free_node = system->constants->inverse_mass;
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

static void add_by_node(struct system *system, const struct wind_now *now,
                        const struct worker *worker)
{
    size_t bodies = system->topology->body_count;
    for (size_t body = 0; body < bodies; body++)
        clear_normals(system->state, blocked_share(system, body, worker));
    worker_barrier(worker);
    REAL_NAME(run_coloured)(system, &system->plan->faces, add_normals, NULL, worker);
    for (size_t body = 0; body < bodies; body++) {
        struct range share = blocked_share(system, body, worker);
        normalise(system->state, share);
        add_node_forces(system, now, share);
    }
}

static const struct sweep *sweep_of_faces(const struct system *system,
                                          const struct plan_face_grid *faces)
{
    for (size_t g = 0; g < system->sweeps->count; g++)
        if (system->sweeps->items[g].faces == faces)
            return &system->sweeps->items[g];
    return NULL;
}

// Rows of a cloth. The powers, if wanted, are added to a part.
static void add_to_rows(const struct system *system, const struct wind_now *now,
                        const struct plan_face_grid *faces, struct range rows, double *powers)
{
    if (!powers) {
        system->kernels->wind_grid(system, now, faces, rows, NULL);
        return;
    }
    struct power_sums sums;
    power_sums_start(system, &sums);
    system->kernels->wind_grid(system, now, faces, rows, &sums);
    power_sums_store(&sums, powers);
}

// The gaps between tiles that this rank computes: those before its tiles, and the one after the
// last tile of all.
static struct range own_gaps(const struct system *system, const struct sweep *sweep)
{
    const uint64_t first = sweep->tiling.first_tile, tiles = tiling_tile_count(&sweep->tiling);
    if (!system->exchange)
        return (struct range){0, (size_t)tiles + 1};
    const struct plan_part *part = REAL_NAME(exchange_part)(system->exchange);
    const uint64_t from = max_u64(part->first_tile, first);
    const uint64_t to = min_u64(part->end_tile, first + tiles);
    if (from >= to)
        return (struct range){0, 0};
    return (struct range){(size_t)(from - first), (size_t)(to - first + (to == first + tiles))};
}

// The rows at the edges of tiles, which the sweep omits: before the first tile, between tiles, and
// after the last one.
static void add_between(const struct system *system, const struct wind_now *now,
                        const struct sweep *sweep, bool powers, size_t part,
                        const struct worker *worker)
{
    const uint64_t tiles = tiling_tile_count(&sweep->tiling);
    const struct range own = own_gaps(system, sweep);
    struct range gap;
    while (own.first < own.end && worker_claim(worker, own.end - own.first, 1, &gap)) {
        gap.first += own.first;
        struct range rows = {0, (size_t)sweep->tiling.ny};
        if (gap.first > 0)
            rows.first = REAL_NAME(sweep_cloth_rows)(sweep, gap.first - 1).end;
        if (gap.first < tiles)
            rows.end = REAL_NAME(sweep_cloth_rows)(sweep, gap.first).first;
        if (rows.first < rows.end)
            add_to_rows(system, now, sweep->faces, rows,
                        powers_of_part(system, powers, part + gap.first));
    }
}

static size_t parts_of(const struct system *system, const struct plan_face_grid *grid)
{
    const struct sweep *sweep = sweep_of_faces(system, grid);
    const size_t gaps = sweep ? (size_t)tiling_tile_count(&sweep->tiling) + 1 : 0;
    return gaps + (size_t)(grid->ny / plan_face_rows_at_once(grid)) + 1;
}

size_t REAL_NAME(wind_parts)(const struct system *system)
{
    size_t parts = 0;
    for (size_t g = 0; g < system->plan->face_grid_count; g++)
        parts += parts_of(system, &system->plan->face_grids[g]);
    return parts;
}

// The rows of a grid with nodes of this rank.
static struct range own_rows(const struct system *system, const struct plan_face_grid *grid)
{
    const size_t nx = (size_t)grid->nx, begin = (size_t)grid->first_node;
    const size_t end = begin + nx * (size_t)grid->ny;
    if (!system->exchange)
        return (struct range){0, (size_t)grid->ny};
    const size_t first = max_u64(system->own_nodes.first, begin);
    const size_t last = min_u64(system->own_nodes.end, end);
    if (first >= last)
        return (struct range){0, 0};
    return (struct range){(first - begin) / nx, (last - 1 - begin) / nx + 1};
}

// Whether the powers of rows that are computed at once are measured by this rank, which then
// computes all of them: the one with the first node.
static bool measures_rows(const struct system *system, const struct plan_face_grid *grid,
                          struct range rows)
{
    return exchange_owns(system, (size_t)grid->first_node + rows.first * (size_t)grid->nx);
}

// Cloths on grids. Workers claim batches of rows.
static void add_to_grids(const struct system *system, const struct wind_now *now,
                         enum sweep_finish finish, bool powers, const struct worker *worker)
{
    size_t part = system->power_parts.wind;
    for (size_t g = 0; g < system->plan->face_grid_count; g++) {
        const struct plan_face_grid *grid = &system->plan->face_grids[g];
        const struct sweep *sweep = sweep_of_faces(system, grid);
        if (sweep && REAL_NAME(sweep_computes_wind)(system, sweep, now, finish)) {
            add_between(system, now, sweep, powers, part, worker);
            worker_barrier(worker);
            part += parts_of(system, grid);
            continue;
        }
        const size_t batch = (size_t)plan_face_rows_at_once(grid);
        const struct range own = own_rows(system, grid);
        const size_t begin = own.first / batch, batches = (own.end + batch - 1) / batch - begin;
        struct range claimed;
        while (batches > 0 && worker_claim(worker, batches, 1, &claimed)) {
            const size_t number = begin + claimed.first;
            const size_t first = number * batch, end = first + batch;
            struct range rows = {first, end < grid->ny ? end : (size_t)grid->ny};
            const bool measures = powers && measures_rows(system, grid, rows);
            if (!measures)
                rows = (struct range){max_u64(first, own.first), min_u64(rows.end, own.end)};
            add_to_rows(system, now, grid, rows, powers_of_part(system, measures, part + number));
        }
        worker_barrier(worker);
        part += parts_of(system, grid);
    }
}

void REAL_NAME(wind_add)(struct system *system, struct evaluation evaluation,
                         enum sweep_finish finish, const struct worker *worker)
{
    struct wind_now now = REAL_NAME(wind_at)(system->topology, evaluation.time);
    if (now.factor == 0 || system->topology->face_count == 0)
        return;
    add_to_grids(system, &now, finish, evaluation.powers, worker);
    const struct plan_set *faces = &system->plan->faces;
    if (faces->element_count > 0 && now.law == WIND_NODE)
        add_by_node(system, &now, worker);
    else if (faces->element_count > 0)
        REAL_NAME(run_coloured)(system, faces, add_wind, &now, worker);
    stage_end(&system->clock, STAGE_WIND, worker);
}
