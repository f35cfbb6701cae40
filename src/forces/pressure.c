// Pressure of an ideal gas in closed bodies (physics.md, 5; Matyka 2.21-2.23).
#include "forces/forces.h"

double REAL_NAME(gas_amount)(const struct scene_pressure *pressure, uint64_t gas_step)
{
    double fraction = (double)gas_step * pressure->inflate;
    return fraction < 1 ? fraction * pressure->amount : pressure->amount;
}

// P = nRT / V - P_atm, and with an adiabatic exponent nRT0 V0^(gamma - 1) / V^gamma - P_atm.
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

typedef bool (*gas_choice)(const struct system *system, size_t body);

static bool any_gas(const struct system *system, gas_choice chosen)
{
    for (size_t b = 0; b < system->topology->body_count; b++)
        if (chosen(system, b))
            return true;
    return false;
}

static void find_pressures(struct system *system, struct moment moment, gas_choice chosen)
{
    struct state *s = system->state;
    for (size_t b = 0; b < system->topology->body_count; b++) {
        const struct scene_pressure *gas = &system->topology->bodies[b].pressure;
        if (chosen(system, b) && s->volume[b] > 0)
            s->pressure[b] = REAL_NAME(gas_pressure)(
                gas, REAL_NAME(gas_amount)(gas, moment.gas_step), s->volume[b], s->volume_built[b]);
    }
}

// F = P dV/dp, which is P A n of each of the node's faces by a third.
static void push_rings(struct system *system, size_t body, const struct worker *worker)
{
    const struct topology_body *it = &system->topology->bodies[body];
    struct range share = worker_share(worker, (size_t)it->node_count, 16);
    struct range nodes = {(size_t)it->first_node + share.first, (size_t)it->first_node + share.end};
    system->kernels->ring_push(system, (real)(system->state->pressure[body] / 6), nodes);
}

void REAL_NAME(pressure_add)(struct system *system, struct moment moment,
                             const struct worker *worker)
{
    if (!any_gas(system, gas_acts_alone))
        return;
    REAL_NAME(volumes_measure)(system, moment.time, true, worker);
    if (worker->index == 0)
        find_pressures(system, moment, gas_acts_alone);
    worker_barrier(worker);
    bool by_faces = false;
    for (size_t b = 0; b < system->topology->body_count; b++) {
        if (!gas_acts_alone(system, b))
            continue;
        if (plan_rings_of_body(system->plan, b))
            push_rings(system, b, worker);
        else
            by_faces = true;
    }
    if (by_faces)
        REAL_NAME(run_coloured)
    (system, &system->plan->faces, system->kernels->pressure, NULL, worker);
    stage_end(&system->clock, STAGE_PRESSURE, worker);
}

void REAL_NAME(pressure_after_springs)(struct system *system, struct moment moment,
                                       const struct worker *worker)
{
    if (!any_gas(system, gas_acts_with_springs))
        return;
    if (worker->index == 0) {
        REAL_NAME(volumes_take)(system, moment.time);
        find_pressures(system, moment, gas_acts_with_springs);
    }
    stage_end(&system->clock, STAGE_PRESSURE, worker);
}

void REAL_NAME(pressure_push)(const struct system *system, struct range nodes)
{
    for (size_t b = 0; b < system->topology->body_count; b++) {
        const struct topology_body *body = &system->topology->bodies[b];
        size_t first = (size_t)body->first_node, end = first + (size_t)body->node_count;
        struct range both = {first > nodes.first ? first : nodes.first,
                             end < nodes.end ? end : nodes.end};
        if (both.first < both.end && gas_acts_with_springs(system, b))
            system->kernels->ring_push(system, (real)(system->state->pressure[b] / 6), both);
    }
}
