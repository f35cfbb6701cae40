// Gas in closed bodies (docs/numerics.md; Matyka 2.21-2.23): the volume that a body encloses, by
// the divergence theorem over its faces or by Matyka's estimates from the bounding box, in double
// over fixed chunks added in order; and the pressure of an ideal gas on its nodes.
#include <assert.h>
#include <float.h>

#include "base/sort.h"
#include "faces/face.h"
#include "faces/faces.h"
#include "kernels/kernels.h"
#include "ranks/ranks.h"
#include "springs/exchange.h"
#include "springs/part_sums.h"
#include "springs/springs.h"
#include "state/reading.h"

// ---- Volume

static const double pi = 3.14159265358979323846;

// V = sum n_x x_c A (Matyka 2.24), with A n = (b - a) x (c - a) / 2; in a plane S = sum n_x x_mid l
// (2.25), with l n_x = y_b - y_a. x counts from `origin`, a point near the body.
static inline double divergence_of_face(const struct system *system,
                                        const struct topology_body *body, double origin, uint64_t i)
{
    const struct state *s = system->state;
    const uint32_t *face = system->topology->faces[body->first_listed_face + i];
    uint32_t a = face[0], b = face[1], c = face[2];
    double xa = (double)s->x[a] - origin, xb = (double)s->x[b] - origin;
    double dy = (double)s->y[b] - (double)s->y[a];
    if (c == FACE_EDGE)
        return dy * (xa + xb) / 2;
    double xc = (double)s->x[c] - origin;
    double dz = (double)s->z[b] - (double)s->z[a];
    double ey = (double)s->y[c] - (double)s->y[a], ez = (double)s->z[c] - (double)s->z[a];
    return (dy * ez - dz * ey) / 2 * (xa + xb + xc) / 3;
}

static void divergence_of_faces(const struct system *system, const void *argument,
                                struct range range, double sums[SUM_WIDTH])
{
    const struct topology_body *body = argument;
    double origin =
        (double)system->state->x[topology_internal_node(system->topology, body->first_node)];
    double sum = 0;
    for (size_t i = range.first; i < range.end; i++)
        sum += divergence_of_face(system, body, origin, i);
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

// Bodies without gas whose faces fit one chunk, of which there may be thousands: each is measured
// by one worker, with the same bits, instead of by all workers between two barriers.
static bool is_one_chunk(const struct topology_body *body)
{
    return !body->pressure.present && body->face_count <= SUM_CHUNK;
}

static void measure_by_one(struct system *system, size_t b)
{
    const struct topology_body *body = &system->topology->bodies[b];
    double sums[SUM_WIDTH] = {0};
    divergence_of_faces(system, body, (struct range){0, (size_t)body->face_count}, sums);
    system->state->volume[b] = 0 + sums[0]; // no -0, as in a sum over several chunks
}

static double sum_of_tiles(const struct system *system, struct range tiles)
{
    double sum = 0;
    for (size_t tile = tiles.first; tile < tiles.end; tile++)
        sum += system->chunk_sums[tile][0];
    return sum / 6;
}

// The tiles with nodes of this rank.
static struct range computed_ring_tiles(const struct system *system, const struct plan_rings *rings)
{
    const size_t count = (size_t)rings->tile_count;
    struct range tiles = {0, count};
    if (!system->exchange)
        return tiles;
    const struct plan_part *part = REAL_NAME(exchange_part)(system->exchange);
    while (tiles.first < count && !plan_part_has_tile(part, &rings->tiles[tiles.first]))
        tiles.first++;
    tiles.end = tiles.first;
    while (tiles.end < count && plan_part_has_tile(part, &rings->tiles[tiles.end]))
        tiles.end++;
    return tiles;
}

// sum (x - origin) dV/dx over the nodes (faces/plan.h), tile by tile.
static double volume_of_rings(struct system *system, const struct plan_rings *rings, bool keep,
                              const struct worker *worker)
{
    const struct range own = computed_ring_tiles(system, rings);
    struct range tiles;
    while (worker_claim(worker, own.end - own.first, 4, &tiles))
        for (size_t tile = own.first + tiles.first; tile < own.first + tiles.end; tile++)
            system->chunk_sums[tile][0] = system->kernels->ring_volume(system, rings, tile, keep);
    worker_barrier(worker);
    if (system->exchange) {
        if (worker->index == 0)
            REAL_NAME(exchange_ring_sums)(system, rings);
        worker_barrier(worker);
    }
    double volume = sum_of_tiles(system, (struct range){0, (size_t)rings->tile_count});
    worker_barrier(worker); // all have read before the next sum writes
    return volume;
}

// The range of tiles of a body whose rings are columns of its packed springs.
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

// The same sum from these columns.
static double volume_of_packed(struct system *system, struct range all, const struct worker *worker)
{
    struct range tiles;
    while (worker_claim(worker, all.end - all.first, 2, &tiles))
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

// The nodes of a body; on several ranks, those of this one.
static struct range nodes_here(const struct system *system, const struct topology_body *body)
{
    const size_t first = (size_t)body->first_node, end = first + (size_t)body->node_count;
    if (!system->exchange)
        return (struct range){first, end};
    const size_t from = max_u64(first, system->own_nodes.first);
    const size_t to = min_u64(end, system->own_nodes.end);
    return (struct range){from, max_u64(from, to)};
}

// Edges of the bounding box. Minimum and maximum do not depend on the order, so worker 0 computes
// them alone: the estimated volumes exist for comparison, not for speed.
static void bounding_box(const struct system *system, const struct topology_body *body,
                         double edges[3])
{
    const struct state *s = system->state;
    const struct range nodes = nodes_here(system, body);
    double low[3] = {DBL_MAX, DBL_MAX, DBL_MAX}, high[3] = {-DBL_MAX, -DBL_MAX, -DBL_MAX};
    for (size_t i = nodes.first; i < nodes.end; i++)
        extend(low, high, (double[3]){(double)s->x[i], (double)s->y[i], (double)s->z[i]});
    if (system->exchange) {
        double ends[6] = {low[0], low[1], low[2], -high[0], -high[1], -high[2]};
        ranks_least(ends, 6);
        for (int axis = 0; axis < 3; axis++) {
            low[axis] = ends[axis];
            high[axis] = -ends[3 + axis];
        }
    }
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

// Completes a measurement, on worker 0: a volume by another rule, and the check for collapse.
static void set_volume(struct system *system, size_t b, double volume, bool exact, double time)
{
    const struct topology_body *body = &system->topology->bodies[b];
    if (!exact)
        volume = box_volume(system, body, body->pressure.volume);
    system->state->volume[b] = volume;
    // A volume that is not finite is not a collapse: positions have diverged.
    bool collapsed = body->pressure.present && volume <= 0 && isfinite(volume);
    if (collapsed && system->fault.code == TAUT_OK)
        system->fault = (struct fault){.code = TAUT_ERROR_COLLAPSED,
                                       .body = b,
                                       .node = body->first_node,
                                       .time = time,
                                       .step = system->state->step,
                                       .volume = volume,
                                       .at_start = time == step_time(system, system->state->step)};
}

static bool any_body(const struct system *system, body_choice chosen)
{
    for (size_t b = 0; b < system->topology->body_count; b++)
        if (chosen(system, b))
            return true;
    return false;
}

static bool is_exact(const struct topology_body *body)
{
    return !body->pressure.present || body->pressure.volume == VOLUME_DIVERGENCE;
}

static bool is_measured(const struct system *system, size_t body, bool only_gas)
{
    return system->topology->bodies[body].closed && !(only_gas && !gas_acts_alone(system, body));
}

// ---- Volumes of several ranks, on all of them

// The bodies whose volumes are sums over their faces.
static bool sums_faces(const struct system *system, size_t body)
{
    return is_measured(system, body, false) && is_exact(&system->topology->bodies[body]) &&
           !plan_rings_of_body(system->plan, body);
}

static bool sums_faces_for_gas(const struct system *system, size_t body)
{
    return is_measured(system, body, true) && sums_faces(system, body);
}

// Volumes of all bodies whose rings are columns of packed springs. A rank sums the tiles that it
// has.
static void measure_packed(struct system *system, const struct worker *worker)
{
    const struct plan_packed *packed = &system->plan->packed;
    const struct plan_part *part = REAL_NAME(exchange_part)(system->exchange);
    const size_t first = (size_t)part->first_packed, end = (size_t)part->end_packed;
    struct range tiles;
    while (worker_claim(worker, end - first, 2, &tiles))
        for (size_t tile = first + tiles.first; tile < first + tiles.end; tile++)
            if (packed->tiles[tile].ring_body > 0)
                system->chunk_sums[tile][0] = system->kernels->packed_volume(system, tile);
    worker_barrier(worker);
    if (worker->index == 0)
        REAL_NAME(exchange_packed_sums)(system);
    for (size_t b = 0; worker->index == 0 && b < system->topology->body_count; b++) {
        const struct range all = packed_rings(system, b);
        if (all.end > 0)
            system->state->volume[b] = sum_of_tiles(system, all);
    }
    worker_barrier(worker);
}

static bool is_closed(const struct system *system, size_t body)
{
    return system->topology->bodies[body].closed;
}

// In steps (`only_gas`) ranks have the halo already.
static void measure_together(struct system *system, double time, bool only_gas,
                             const struct worker *worker)
{
    double *volumes = system->state->volume;
    assert(only_gas || REAL_NAME(exchange_has_part)(system));
    if (!only_gas && any_body(system, is_closed))
        REAL_NAME(exchange_ends)(system, false, worker);
    REAL_NAME(sum_faces_of_parts)
    (system, only_gas ? sums_faces_for_gas : sums_faces, divergence_of_face, volumes, worker);
    if (!only_gas && any_body(system, gas_acts_with_springs))
        measure_packed(system, worker);
    for (size_t b = 0; b < system->topology->body_count; b++) {
        const struct topology_body *body = &system->topology->bodies[b];
        const struct plan_rings *rings = plan_rings_of_body(system->plan, b);
        const bool exact = is_exact(body);
        if (!is_measured(system, b, only_gas))
            continue;
        if (rings && !gas_acts_with_springs(system, b) && (exact || only_gas)) {
            const double volume = volume_of_rings(system, rings, only_gas, worker);
            if (worker->index == 0)
                volumes[b] = volume;
        }
        if (worker->index == 0)
            set_volume(system, b, volumes[b], exact, time);
    }
    worker_barrier(worker);
}

void REAL_NAME(volumes_measure)(struct system *system, double time, bool only_gas,
                                const struct worker *worker)
{
    if (system->exchange) {
        measure_together(system, time, only_gas, worker);
        return;
    }
    for (size_t b = 0; b < system->topology->body_count; b++) {
        const struct topology_body *body = &system->topology->bodies[b];
        if (!is_measured(system, b, only_gas))
            continue;
        if (is_one_chunk(body)) {
            if (b % (size_t)worker->count == (size_t)worker->index)
                measure_by_one(system, b);
            continue;
        }
        bool exact = is_exact(body);
        const struct plan_rings *rings = plan_rings_of_body(system->plan, b);
        struct range packed = packed_rings(system, b);
        double volume = 0;
        if (packed.end > 0 && exact)
            volume = volume_of_packed(system, packed, worker);
        else if (rings && (exact || only_gas))
            volume = volume_of_rings(system, rings, only_gas, worker);
        else if (exact)
            volume = divergence_volume(system, body, worker);
        if (worker->index == 0)
            set_volume(system, b, volume, exact, time);
    }
    worker_barrier(worker);
}

void REAL_NAME(volumes_collect)(struct system *system, double time)
{
    for (size_t b = 0; b < system->topology->body_count; b++) {
        struct range tiles = packed_rings(system, b);
        if (tiles.end > 0)
            set_volume(system, b, sum_of_tiles(system, tiles),
                       is_exact(&system->topology->bodies[b]), time);
    }
}

// ---- Pressure

// The gas after `steps` steps of pumping from `start` to `amount`. A step adds `inflate` of the
// amount; where there is too much, as after the amount was lowered, it lets out `inflate` of that.
static double pumped(const struct scene_pressure *gas, double start, double steps)
{
    const double fraction = steps * gas->inflate;
    if (start > gas->amount)
        return fmax(start - fraction * start, gas->amount);
    return fmin(start + fraction * gas->amount, gas->amount);
}

double REAL_NAME(gas_amount)(const struct system *system, size_t body, uint64_t gas_step)
{
    const struct state *s = system->state;
    return pumped(&system->topology->bodies[body].pressure, s->gas_start[body],
                  fmax(0, (double)gas_step - s->gas_since[body]));
}

void REAL_NAME(gas_continue)(struct system *system, size_t body,
                             const struct scene_pressure *before, double start, double since)
{
    struct state *s = system->state;
    const struct scene_pressure *gas = &system->topology->bodies[body].pressure;
    const bool continues = before->present == gas->present && before->amount == gas->amount &&
                           before->inflate == gas->inflate;
    const double step = (double)s->step;
    s->gas_start[body] = continues         ? start
                         : before->present ? pumped(before, start, fmax(0, step - since))
                                           : 0;
    s->gas_since[body] = continues ? since : step;
}

double REAL_NAME(gas_pumped_at)(const struct system *system)
{
    const struct state *s = system->state;
    double step = 0;
    for (size_t b = 0; b < system->topology->body_count; b++) {
        const struct scene_pressure *gas = &system->topology->bodies[b].pressure;
        const double most = fmax(gas->amount, s->gas_start[b]);
        if (gas->present && most > 0)
            step = fmax(step, s->gas_since[b] +
                                  fabs(gas->amount - s->gas_start[b]) / most / gas->inflate);
    }
    return step;
}

// P = nRT / V - P_atm, or with an adiabatic exponent nRT0 V0^(gamma - 1) / V^gamma - P_atm.
double REAL_NAME(gas_pressure)(const struct scene_pressure *gas, double amount, double volume,
                               double built)
{
    double inside = amount / volume;
    if (gas->gamma != 1)
        inside *= pow(built / volume, gas->gamma - 1);
    return inside - gas->atmosphere;
}

double REAL_NAME(gas_energy)(const struct scene_pressure *gas, double amount, double volume,
                             double built)
{
    double pushed_out = gas->atmosphere * (volume - built);
    if (gas->gamma == 1)
        return -amount * log(volume / built) + pushed_out;
    double work_left = amount / (gas->gamma - 1) * (pow(built / volume, gas->gamma - 1) - 1);
    return work_left + pushed_out;
}

// Gas without a volume has no pressure: the pressure in some earlier evaluation would depend on
// which evaluations were made, such as those of the energy budget.
static void find_pressures(struct system *system, struct evaluation evaluation, body_choice chosen)
{
    struct state *s = system->state;
    for (size_t b = 0; b < system->topology->body_count; b++) {
        const struct scene_pressure *gas = &system->topology->bodies[b].pressure;
        if (!chosen(system, b))
            continue;
        s->pressure[b] = 0;
        if (s->volume[b] > 0)
            s->pressure[b] =
                REAL_NAME(gas_pressure)(gas, REAL_NAME(gas_amount)(system, b, evaluation.gas_step),
                                        s->volume[b], s->volume_built[b]);
    }
}

// F = P A n, an equal share to each corner (Matyka 2.21; in a plane P l n).
static void add_pressure(const struct system *system, const void *unused, struct plan_block block)
{
    (void)unused;
    struct state *s = system->state;
    if (!exchange_computes_faces(system, block))
        return;
    for (uint64_t i = block.first; i < block.first + block.count; i++) {
        uint32_t body = system->constants->face_body[i];
        real p = (real)s->pressure[body];
        if (p == 0 || plan_rings_of_body(system->plan, body))
            continue;
        struct face_shape face = face_shape(s, system->constants->face_nodes[i]);
        real share = p / (real)face.corners;
        for (int corner = 0; corner < face.corners; corner++) {
            uint32_t node = face.nodes[corner];
            s->fx[node] += share * face.sx;
            s->fy[node] += share * face.sy;
            s->fz[node] += share * face.sz;
        }
    }
}

// F = P dV/dp, a third of P A n of each of the node's faces.
static void add_ring_forces(struct system *system, size_t body, const struct worker *worker)
{
    const struct range here = nodes_here(system, &system->topology->bodies[body]);
    const struct range share = worker_share(worker, here.end - here.first, 16);
    const struct range nodes = {here.first + share.first, here.first + share.end};
    system->kernels->gas_force(system, (real)(system->state->pressure[body] / 6), nodes);
}

void REAL_NAME(pressure_add)(struct system *system, struct evaluation evaluation,
                             const struct worker *worker)
{
    if (!any_body(system, gas_acts_alone))
        return;
    REAL_NAME(volumes_measure)(system, evaluation.time, true, worker);
    if (worker->index == 0)
        find_pressures(system, evaluation, gas_acts_alone);
    worker_barrier(worker);
    bool by_faces = false;
    for (size_t b = 0; b < system->topology->body_count; b++) {
        if (!gas_acts_alone(system, b))
            continue;
        if (plan_rings_of_body(system->plan, b))
            add_ring_forces(system, b, worker);
        else
            by_faces = true;
    }
    if (by_faces)
        REAL_NAME(run_coloured)
    (system, &system->plan->faces, add_pressure, NULL, worker);
    stage_end(&system->clock, STAGE_PRESSURE, worker);
}

void REAL_NAME(pressure_after_springs)(struct system *system, struct evaluation evaluation,
                                       const struct worker *worker)
{
    if (!any_body(system, gas_acts_with_springs))
        return;
    if (worker->index == 0) {
        REAL_NAME(exchange_packed_sums)(system);
        REAL_NAME(volumes_collect)(system, evaluation.time);
        find_pressures(system, evaluation, gas_acts_with_springs);
    }
    stage_end(&system->clock, STAGE_PRESSURE, worker);
}

void REAL_NAME(pressure_apply)(const struct system *system, struct range nodes)
{
    for (size_t b = 0; b < system->topology->body_count; b++) {
        const struct topology_body *body = &system->topology->bodies[b];
        size_t first = (size_t)body->first_node, end = first + (size_t)body->node_count;
        struct range both = {first > nodes.first ? first : nodes.first,
                             end < nodes.end ? end : nodes.end};
        if (both.first < both.end && gas_acts_with_springs(system, b))
            system->kernels->gas_force(system, (real)(system->state->pressure[b] / 6), both);
    }
}
