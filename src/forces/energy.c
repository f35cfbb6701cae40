// Energies of a state by kind, in double, as sums over fixed chunks added in order.
#include "contact/friction.h"
#include "forces/forces.h"
#include "springs/exchange.h"
#include "state/reading.h"

enum node_energy { NODE_KINETIC, NODE_GRAVITY, NODE_CONTACT };

static void add_contact_energy(const struct system *system, const struct scene_collider *collider,
                               size_t node, const struct contact *contact, void *energy)
{
    *(double *)energy += 0.5 * collider->stiffness * contact->depth * contact->depth;
    if (!collider->coulomb.present)
        return;
    // In steps that end before the memory has changed; in others the energy is nearly the same.
    if (friction_acts_by_steps(system)) {
        const double lasting = friction_lasting_stretch(system, collider, node, contact);
        *(double *)energy += 0.5 * friction_stiffness(collider) * lasting * lasting;
        return;
    }
    const vec3 stretch = friction_stretch(system, collider, node, contact);
    *(double *)energy += 0.5 * friction_stiffness(collider) * vec3_dot(stretch, stretch);
}

static double kinetic_of(const struct system *system, size_t i, double mass)
{
    vec3 v = node_velocity(system->state, i);
    return 0.5 * mass * vec3_dot(v, v);
}

static void sum_nodes(const struct system *system, const void *time, struct range range,
                      double sums[SUM_WIDTH])
{
    const struct state *s = system->state;
    vec3 gravity = system->topology->environment.gravity;
    REAL_NAME(contacts_visit)
    (system, *(const double *)time, range, add_contact_energy, &sums[NODE_CONTACT]);
    for (size_t i = range.first; i < range.end;) {
        struct node_masses masses = topology_masses(system->topology, i, range.end);
        for (; i < masses.end; i++) {
            double mass = mass_in(&masses, i);
            vec3 position = node_position(s, i);
            sums[NODE_KINETIC] += kinetic_of(system, i, mass);
            sums[NODE_GRAVITY] -= mass * vec3_dot(gravity, position);
        }
    }
}

static double sum_gas(const struct system *system, struct evaluation evaluation)
{
    const struct state *s = system->state;
    double energy = 0;
    for (size_t b = 0; b < system->topology->body_count; b++) {
        const struct scene_pressure *gas = &system->topology->bodies[b].pressure;
        if (gas->present && s->volume[b] > 0)
            energy +=
                REAL_NAME(gas_energy)(gas, REAL_NAME(gas_amount)(system, b, evaluation.gas_step),
                                      s->volume[b], s->volume_built[b]);
    }
    return energy;
}

void REAL_NAME(energy_measure)(struct system *system, struct evaluation evaluation,
                               taut_energy *energy, const struct worker *worker)
{
    double nodes[SUM_WIDTH];
    REAL_NAME(sum_over_nodes)(system, sum_nodes, &evaluation.time, nodes, worker);
    const double elastic = REAL_NAME(springs_elastic_energy)(system, worker) +
                           REAL_NAME(elements_energy)(system, worker);
    const double surfaces = REAL_NAME(surface_contact_energy)(system, worker) +
                            REAL_NAME(shape_contact_energy)(system, evaluation.time, worker);
    REAL_NAME(volumes_measure)(system, evaluation.time, false, worker);
    if (worker->index == 0) {
        energy->kinetic = nodes[NODE_KINETIC];
        energy->gravity = nodes[NODE_GRAVITY];
        energy->contact = nodes[NODE_CONTACT] + surfaces;
        energy->elastic = elastic;
        energy->gas = sum_gas(system, evaluation);
        energy->total =
            energy->kinetic + energy->elastic + energy->gravity + energy->gas + energy->contact;
    }
    worker_barrier(worker);
}

void REAL_NAME(energy_measure_without_fault)(struct system *system, struct evaluation evaluation,
                                             taut_energy *energy, const struct worker *worker)
{
    const struct fault found = system->fault;
    REAL_NAME(energy_measure)(system, evaluation, energy, worker);
    if (worker->index == 0)
        REAL_NAME(fault_put_back)(system, &found);
}

double REAL_NAME(energy_total)(struct system *system, struct evaluation evaluation,
                               const struct worker *worker)
{
    taut_energy energy = {0};
    REAL_NAME(energy_measure_without_fault)(system, evaluation, &energy, worker);
    return energy.total;
}

static void sum_kinetic(const struct system *system, const void *unused, struct range range,
                        double sums[SUM_WIDTH])
{
    (void)unused;
    for (size_t i = range.first; i < range.end;) {
        struct node_masses masses = topology_masses(system->topology, i, range.end);
        for (; i < masses.end; i++)
            sums[0] += kinetic_of(system, i, mass_in(&masses, i));
    }
}

double REAL_NAME(kinetic_energy)(struct system *system, const struct worker *worker)
{
    double total[SUM_WIDTH];
    REAL_NAME(sum_over_nodes)(system, sum_kinetic, NULL, total, worker);
    return total[0];
}
