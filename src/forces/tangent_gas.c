// Gas in a tangent, as far as it acts on a body as a whole: -dP/dV g g' with g the gradient of the
// volume.
#include "forces/tangent_parts.h"

#include "kernels/face.h"
#include "state/sums.h"

static void update_gas(struct tangent *tangent, struct moment moment)
{
    const struct system *system = tangent->system;
    for (size_t b = 0; b < system->topology->body_count; b++) {
        const struct scene_pressure *gas = &system->topology->bodies[b].pressure;
        double volume = system->state->volume[b];
        if (!gas->present)
            continue;
        tangent->gas[b].pressure = tangent->gas[b].slope = 0;
        if (!(volume > 0))
            continue;
        double amount = REAL_NAME(gas_amount)(gas, moment.gas_step);
        double pressure =
            REAL_NAME(gas_pressure)(gas, amount, volume, system->state->volume_built[b]);
        tangent->gas[b].pressure = (real)pressure;
        tangent->gas[b].slope = (real)(gas->gamma * (pressure + gas->atmosphere) / volume);
    }
}

// dV/dx: of each of a node's faces its share of A n.
static void update_gradients(struct tangent *tangent, struct range nodes)
{
    const struct face_rows *faces = &tangent->faces;
    for (size_t node = nodes.first; node < nodes.end; node++) {
        real x = 0, y = 0, z = 0;
        for (uint64_t i = faces->first[node]; i < faces->first[node + 1]; i++) {
            if (!tangent->gas[faces->body[faces->at[i]]].present)
                continue;
            struct face_shape face = face_shape(tangent->system->state, faces->nodes[faces->at[i]]);
            x += face.sx / (real)face.corners;
            y += face.sy / (real)face.corners;
            z += face.sz / (real)face.corners;
        }
        tangent->gradient.x[node] = x;
        tangent->gradient.y[node] = y;
        tangent->gradient.z[node] = z;
    }
}

void REAL_NAME(tangent_gas_update)(struct tangent *tangent, struct moment moment,
                                   const struct worker *worker)
{
    REAL_NAME(volumes_measure)(tangent->system, moment.time, false, worker);
    if (worker->index == 0)
        update_gas(tangent, moment);
    update_gradients(tangent, node_share(tangent->system, worker));
}

// What the sum over a body's nodes needs to know.
struct squeeze {
    const struct tangent *tangent;
    struct node_vectors in;
    size_t first_node;
};

// In eight parts, so that additions need not wait for each other.
static void sum_squeeze(const struct system *system, const void *argument, struct range range,
                        double sums[SUM_WIDTH])
{
    (void)system;
    enum { PARTS = 8 };
    const struct squeeze *it = argument;
    const struct node_vectors *g = &it->tangent->gradient;
    const size_t first = it->first_node + range.first, count = range.end - range.first;
    const real *gx = g->x + first, *gy = g->y + first, *gz = g->z + first;
    const real *x = it->in.x + first, *y = it->in.y + first, *z = it->in.z + first;
    double parts[PARTS] = {0};
    for (size_t i = 0; i < count / PARTS * PARTS; i += PARTS)
        for (size_t k = 0; k < PARTS; k++)
            parts[k] += (double)gx[i + k] * (double)x[i + k] +
                        (double)gy[i + k] * (double)y[i + k] + (double)gz[i + k] * (double)z[i + k];
    for (size_t i = count / PARTS * PARTS; i < count; i++)
        parts[i % PARTS] += (double)gx[i] * (double)x[i] + (double)gy[i] * (double)y[i] +
                            (double)gz[i] * (double)z[i];
    for (int k = 0; k < PARTS; k++)
        sums[0] += parts[k];
}

void REAL_NAME(tangent_gas_squeeze)(struct tangent *tangent, struct node_vectors in,
                                    const struct worker *worker)
{
    struct system *system = tangent->system;
    if (!tangent->any_gas)
        return;
    for (size_t b = 0; b < system->topology->body_count; b++) {
        const struct topology_body *body = &system->topology->bodies[b];
        if (!tangent->gas[b].present)
            continue;
        struct squeeze squeeze = {tangent, in, (size_t)body->first_node};
        double total[SUM_WIDTH];
        REAL_NAME(sum_over_chunks)
        (system, (size_t)body->node_count, sum_squeeze, &squeeze, total, worker);
        if (worker->index == 0)
            tangent->gas[b].squeeze = (real)total[0];
    }
    worker_barrier(worker);
}

static void add_times(real *restrict to, real by, const real *restrict from, size_t first,
                      size_t end)
{
    for (size_t i = first; i < end; i++)
        to[i] += by * from[i];
}

void REAL_NAME(tangent_gas_apply)(const struct tangent *tangent, real stiffness,
                                  struct node_vectors out, struct range nodes)
{
    const struct topology *topology = tangent->system->topology;
    for (size_t b = 0; tangent->any_gas && b < topology->body_count; b++) {
        const struct tangent_gas *gas = &tangent->gas[b];
        if (!gas->present)
            continue;
        size_t first = (size_t)topology->bodies[b].first_node;
        size_t end = first + (size_t)topology->bodies[b].node_count;
        first = first > nodes.first ? first : nodes.first;
        end = end < nodes.end ? end : nodes.end;
        real by = stiffness * gas->slope * gas->squeeze;
        add_times(out.x, by, tangent->gradient.x, first, end);
        add_times(out.y, by, tangent->gradient.y, first, end);
        add_times(out.z, by, tangent->gradient.z, first, end);
    }
}
