// The energy table, in double, over fixed chunks added in order.
#include "forces/forces.h"
#include "state/reading.h"

enum node_energy { NODE_KINETIC, NODE_GRAVITY, NODE_CONTACT };

static double contact_energy(const struct system *system, double time, vec3 position)
{
    double energy = 0;
    for (size_t c = 0; c < system->topology->collider_count; c++) {
        const struct scene_collider *collider = &system->topology->colliders[c];
        if (collider->response != RESPONSE_PENALTY)
            continue;
        struct contact contacts[6];
        int count = REAL_NAME(collider_contacts)(system, c, time, position, contacts);
        for (int i = 0; i < count; i++)
            energy += 0.5 * collider->stiffness * contacts[i].depth * contacts[i].depth;
    }
    return energy;
}

static double kinetic_of(const struct system *system, size_t i)
{
    vec3 v = node_velocity(system->state, i);
    return 0.5 * system->topology->mass[i] * vec3_dot(v, v);
}

static void sum_nodes(struct system *system, double time, size_t chunk)
{
    const struct state *s = system->state;
    vec3 gravity = system->topology->environment.gravity;
    double *sums = system->chunk_sums[chunk];
    sums[NODE_KINETIC] = sums[NODE_GRAVITY] = sums[NODE_CONTACT] = 0;
    struct range range = chunk_range(chunk, (size_t)s->nodes);
    for (size_t i = range.first; i < range.end; i++) {
        vec3 position = node_position(s, i);
        sums[NODE_KINETIC] += kinetic_of(system, i);
        sums[NODE_GRAVITY] -= system->topology->mass[i] * vec3_dot(gravity, position);
        sums[NODE_CONTACT] += contact_energy(system, time, position);
    }
}

static double elastic_of(const struct system *system, size_t i)
{
    if (spring_is_broken(system, i))
        return 0;
    return spring_energy(spring_material(system, i), vec3_length(spring_vector(system, i)),
                         (double)spring_rest_length(system, i));
}

static void sum_springs(struct system *system, size_t chunk)
{
    struct range range = chunk_range(chunk, (size_t)system->constants->springs);
    double sum = 0;
    for (size_t i = range.first; i < range.end; i++)
        sum += elastic_of(system, i);
    system->chunk_sums[chunk][0] = sum;
}

static double sum_gas(const struct system *system, struct moment moment)
{
    const struct state *s = system->state;
    double energy = 0;
    for (size_t b = 0; b < system->topology->body_count; b++) {
        const struct scene_pressure *gas = &system->topology->bodies[b].pressure;
        if (gas->present && s->volume[b] > 0)
            energy += REAL_NAME(gas_energy)(gas, REAL_NAME(gas_amount)(gas, moment.gas_step),
                                            s->volume[b], s->volume_built[b]);
    }
    return energy;
}

void REAL_NAME(energy_measure)(struct system *system, struct moment moment, taut_energy *energy,
                               const struct worker *worker)
{
    double sums[SUM_WIDTH];
    size_t chunks = chunk_count((size_t)system->state->nodes);
    struct range share = worker_share(worker, chunks, 1);
    for (size_t chunk = share.first; chunk < share.end; chunk++)
        sum_nodes(system, moment.time, chunk);
    worker_barrier(worker);
    if (worker->index == 0) {
        sum_chunks(system, chunks, sums);
        energy->kinetic = sums[NODE_KINETIC];
        energy->gravity = sums[NODE_GRAVITY];
        energy->contact = sums[NODE_CONTACT];
    }
    worker_barrier(worker);
    chunks = chunk_count((size_t)system->constants->springs);
    share = worker_share(worker, chunks, 1);
    for (size_t chunk = share.first; chunk < share.end; chunk++)
        sum_springs(system, chunk);
    worker_barrier(worker);
    if (worker->index == 0) {
        sum_chunks(system, chunks, sums);
        energy->elastic = sums[0];
    }
    worker_barrier(worker); // the sums have been read before the volumes write theirs
    REAL_NAME(volumes_measure)(system, moment.time, false, worker);
    if (worker->index == 0) {
        energy->gas = sum_gas(system, moment);
        energy->total =
            energy->kinetic + energy->elastic + energy->gravity + energy->gas + energy->contact;
    }
    worker_barrier(worker);
}

double REAL_NAME(kinetic_energy)(struct system *system, const struct worker *worker)
{
    size_t chunks = chunk_count((size_t)system->state->nodes);
    struct range share = worker_share(worker, chunks, 1);
    for (size_t chunk = share.first; chunk < share.end; chunk++) {
        struct range range = chunk_range(chunk, (size_t)system->state->nodes);
        double sum = 0;
        for (size_t i = range.first; i < range.end; i++)
            sum += kinetic_of(system, i);
        system->chunk_sums[chunk][0] = sum;
    }
    worker_barrier(worker);
    double kinetic = 0;
    for (size_t chunk = 0; chunk < chunks; chunk++)
        kinetic += system->chunk_sums[chunk][0];
    worker_barrier(worker);
    return kinetic;
}
