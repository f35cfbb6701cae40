// The volume that a closed body encloses: the divergence theorem over its faces, or Matyka's
// estimates from the bounding box. In double, over fixed chunks added in order, about a local
// origin.
#include "forces/forces.h"
#include "state/sums.h"

#include <float.h>

static const double pi = 3.14159265358979323846;

// V = sum n_x x_c A (Matyka 2.24), with A n = (b - a) x (c - a) / 2; in a plane S = sum n_x x_mid l
// (2.25), with l n_x = y_b - y_a. x counts from `origin`, a point near the body.
static void divergence_of_faces(const struct system *system, const void *argument,
                                struct range range, double sums[SUM_WIDTH])
{
    const struct topology_body *body = argument;
    double origin =
        (double)system->state->x[topology_node_inside(system->topology, body->first_node)];
    const struct state *s = system->state;
    double sum = 0;
    for (size_t i = range.first; i < range.end; i++) {
        const uint32_t *face = system->topology->faces[body->first_listed_face + i];
        uint32_t a = face[0], b = face[1], c = face[2];
        double xa = (double)s->x[a] - origin, xb = (double)s->x[b] - origin;
        double dy = (double)s->y[b] - (double)s->y[a];
        if (c == FACE_EDGE) {
            sum += dy * (xa + xb) / 2;
            continue;
        }
        double xc = (double)s->x[c] - origin;
        double dz = (double)s->z[b] - (double)s->z[a];
        double ey = (double)s->y[c] - (double)s->y[a], ez = (double)s->z[c] - (double)s->z[a];
        sum += (dy * ez - dz * ey) / 2 * (xa + xb + xc) / 3;
    }
    sums[0] = sum;
}

static double divergence_volume(struct system *system, const struct topology_body *body,
                                const struct worker *worker)
{
    double total[SUM_WIDTH];
    REAL_NAME(sum_over_chunks)
    (system, (size_t)body->face_count, divergence_of_faces, body, total, worker);
    return total[0];
}

// Bodies without gas whose faces are one chunk, of which there may be thousands: each is measured
// by one worker, to the same bits, instead of by all between two barriers.
static bool is_one_chunk(const struct topology_body *body)
{
    return !body->pressure.present && body->face_count <= SUM_CHUNK;
}

static void measure_alone(struct system *system, size_t b)
{
    const struct topology_body *body = &system->topology->bodies[b];
    double sums[SUM_WIDTH] = {0};
    divergence_of_faces(system, body, (struct range){0, (size_t)body->face_count}, sums);
    system->state->volume[b] = 0 + sums[0]; // no -0, as of several chunks
}

static double sum_of_tiles(const struct system *system, struct range tiles)
{
    double sum = 0;
    for (size_t tile = tiles.first; tile < tiles.end; tile++)
        sum += system->chunk_sums[tile][0];
    return sum / 6;
}

// sum (x - origin) dV/dx over the nodes (plan/rings.h), tile after tile.
static double ring_volume(struct system *system, const struct plan_rings *rings, bool keep,
                          const struct worker *worker)
{
    struct range tiles;
    while (worker_take(worker, (size_t)rings->tile_count, 4, &tiles))
        for (size_t tile = tiles.first; tile < tiles.end; tile++)
            system->chunk_sums[tile][0] = system->kernels->ring_tile(system, rings, tile, keep);
    worker_barrier(worker);
    double volume = sum_of_tiles(system, (struct range){0, (size_t)rings->tile_count});
    worker_barrier(worker); // all have read before the next sum writes
    return volume;
}

// The tiles of a body whose rings are columns of its packed springs, as a range.
static struct range packed_rings(const struct system *system, size_t body)
{
    const struct plan_packed *packed = &system->plan->packed;
    const struct packed_tile *first = packed_ring_tiles(packed, system->topology, body);
    if (!first)
        return (struct range){0, 0};
    size_t begin = (size_t)(first - packed->tiles), end = begin;
    while (end < (size_t)packed->tile_count && packed->tiles[end].ring_body == body + 1)
        end++;
    return (struct range){begin, end};
}

// The same from these columns.
static double packed_volume(struct system *system, struct range all, const struct worker *worker)
{
    struct range tiles;
    while (worker_take(worker, all.end - all.first, 2, &tiles))
        for (size_t tile = all.first + tiles.first; tile < all.first + tiles.end; tile++)
            system->chunk_sums[tile][0] = system->kernels->packed_volume(system, tile);
    worker_barrier(worker);
    double volume = sum_of_tiles(system, all);
    worker_barrier(worker); // all have read before the next sum writes
    return volume;
}

static void extend(double low[3], double high[3], const double point[3])
{
    for (int axis = 0; axis < 3; axis++) {
        if (point[axis] < low[axis])
            low[axis] = point[axis];
        if (point[axis] > high[axis])
            high[axis] = point[axis];
    }
}

// Edges of the bounding box; minimum and maximum do not depend on the order, so worker 0 does it
// alone: the estimates are there to be compared with, not to be fast.
static void bounding_box(const struct system *system, const struct topology_body *body,
                         double edges[3])
{
    const struct state *s = system->state;
    double low[3] = {DBL_MAX, DBL_MAX, DBL_MAX}, high[3] = {-DBL_MAX, -DBL_MAX, -DBL_MAX};
    for (uint64_t i = body->first_node; i < body->first_node + body->node_count; i++)
        extend(low, high, (double[3]){(double)s->x[i], (double)s->y[i], (double)s->z[i]});
    for (int axis = 0; axis < 3; axis++)
        edges[axis] = high[axis] - low[axis];
}

static double box_volume(const struct system *system, const struct topology_body *body,
                         enum volume_rule rule)
{
    double e[3];
    bounding_box(system, body, e);
    if (body->face_arity == 2) {
        double radius = (e[0] + e[1]) / 4;
        return rule == VOLUME_BOX      ? e[0] * e[1]
               : rule == VOLUME_SPHERE ? pi * radius * radius
                                       : pi / 4 * e[0] * e[1];
    }
    double radius = (e[0] + e[1] + e[2]) / 6;
    return rule == VOLUME_BOX      ? e[0] * e[1] * e[2]
           : rule == VOLUME_SPHERE ? 4.0 / 3 * pi * radius * radius * radius
                                   : pi / 6 * e[0] * e[1] * e[2];
}

// The rest of a measurement, by worker 0: a volume by another rule, and a verdict.
static void take_volume(struct system *system, size_t b, double volume, bool exact, double time)
{
    const struct topology_body *body = &system->topology->bodies[b];
    if (!exact)
        volume = box_volume(system, body, body->pressure.volume);
    system->state->volume[b] = volume;
    // A volume that is no number is no collapse: positions have diverged.
    bool collapsed = body->pressure.present && volume <= 0 && isfinite(volume);
    if (collapsed && system->fault.code == TAUT_OK)
        system->fault =
            (struct fault){TAUT_ERROR_COLLAPSED, b, body->first_node, time, system->state->step};
}

static bool is_exact(const struct topology_body *body)
{
    return !body->pressure.present || body->pressure.volume == VOLUME_DIVERGENCE;
}

void REAL_NAME(volumes_measure)(struct system *system, double time, bool only_gas,
                                const struct worker *worker)
{
    for (size_t b = 0; b < system->topology->body_count; b++) {
        const struct topology_body *body = &system->topology->bodies[b];
        if (!body->closed || (only_gas && !gas_acts_alone(system, b)))
            continue;
        if (is_one_chunk(body)) {
            if (b % (size_t)worker->count == (size_t)worker->index)
                measure_alone(system, b);
            continue;
        }
        bool exact = is_exact(body);
        const struct plan_rings *rings = plan_rings_of_body(system->plan, b);
        struct range packed = packed_rings(system, b);
        double volume = 0;
        if (packed.end > 0 && exact)
            volume = packed_volume(system, packed, worker);
        else if (rings && (exact || only_gas))
            volume = ring_volume(system, rings, only_gas, worker);
        else if (exact)
            volume = divergence_volume(system, body, worker);
        if (worker->index == 0)
            take_volume(system, b, volume, exact, time);
    }
    worker_barrier(worker);
}

void REAL_NAME(volumes_take)(struct system *system, double time)
{
    for (size_t b = 0; b < system->topology->body_count; b++) {
        struct range tiles = packed_rings(system, b);
        if (tiles.end > 0)
            take_volume(system, b, sum_of_tiles(system, tiles),
                        is_exact(&system->topology->bodies[b]), time);
    }
}
