// The energy table, in double, over fixed chunks added in order.
#include "forces/forces.h"
#include "state/reading.h"
#include "state/sums.h"

enum node_energy { NODE_KINETIC, NODE_GRAVITY, NODE_CONTACT };

static void add_contact_energy(const struct system *system, const struct scene_collider *collider,
                               size_t node, const struct contact *contact, void *energy)
{
    (void)system, (void)node;
    *(double *)energy += 0.5 * collider->stiffness * contact->depth * contact->depth;
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

static double elastic_of(const struct system *system, size_t i)
{
    if (spring_is_broken(system, i))
        return 0;
    return spring_energy(spring_material(system, i), vec3_length(spring_vector(system, i)),
                         (double)spring_rest_length(system, i));
}

// Springs first .. first + count - 1 of a grid, which are linear and whole. Lengths come before the
// sum, since one addition must wait for the other, but square roots need not.
static void add_elastic_of_run(const struct system *system, const struct spring_run *run,
                               double *sum)
{
    enum { PART = 256 };
    const struct state *s = system->state;
    const struct spring_constants *material = &system->constants->material[run->material];
    double rest = (double)(real)run->rest_length, half = 0.5 * (double)material->stiffness;
    double energy[PART];
    for (uint64_t first = 0; first < run->count; first += PART) {
        size_t a = (size_t)(run->a + first), b = (size_t)(run->b + first);
        size_t count = run->count - first < PART ? (size_t)(run->count - first) : PART;
        for (size_t i = 0; i < count; i++) {
            double dx = (double)s->x[a + i] - (double)s->x[b + i];
            double dy = (double)s->y[a + i] - (double)s->y[b + i];
            double dz = (double)s->z[a + i] - (double)s->z[b + i];
            double stretch = sqrt(dx * dx + dy * dy + dz * dz) - rest;
            energy[i] = half * stretch * stretch;
        }
        for (size_t i = 0; i < count; i++)
            *sum += energy[i];
    }
}

// The same of springs that may be slack or broken, or have yielded.
static void add_elastic_one_by_one(const struct system *system, const struct spring_run *run,
                                   const struct run_memory *memory, double *sum)
{
    const struct spring_constants *material = &system->constants->material[run->material];
    for (size_t i = 0; i < (size_t)run->count; i++) {
        if (run_is_broken(memory, i))
            continue;
        vec3 d = vec3_subtract(node_position(system->state, run->a + i),
                               node_position(system->state, run->b + i));
        *sum += spring_energy(material, vec3_length(d), (double)run_rest_length(memory, run, i));
    }
}

// Springs first .. end - 1 of a body.
static void add_elastic_of_grid(const struct system *system, const struct plan_grid *grid,
                                uint64_t first, uint64_t end, double *sum)
{
    while (first < end) {
        struct spring_run run = topology_run(system->topology, first, end);
        struct run_memory memory = run_memory(system, grid, &run);
        if (grid->remembers || system->constants->material[run.material].law != LAW_LINEAR)
            add_elastic_one_by_one(system, &run, &memory, sum);
        else
            add_elastic_of_run(system, &run, sum);
        first += run.count;
    }
}

// The springs of the blocks come first, in the plan's order, and then those of one grid after the
// other, in the builder's.
static void sum_springs(const struct system *system, const void *unused, struct range range,
                        double sums[SUM_WIDTH])
{
    (void)unused;
    const struct plan *plan = system->plan;
    uint64_t begin = plan->springs.element_count;
    for (size_t i = range.first; i < range.end && i < begin; i++)
        sums[0] += elastic_of(system, i);
    for (size_t g = 0; g < plan->grid_count; g++) {
        const struct topology_body *body = &system->topology->bodies[plan->grids[g].body];
        uint64_t end = begin + body->spring_count;
        uint64_t first = range.first > begin ? range.first : begin;
        uint64_t last = range.end < end ? range.end : end;
        if (first < last)
            add_elastic_of_grid(system, &plan->grids[g], body->first_spring + (first - begin),
                                body->first_spring + (last - begin), &sums[0]);
        begin = end;
    }
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
    double nodes[SUM_WIDTH], springs[SUM_WIDTH];
    REAL_NAME(sum_over_chunks)
    (system, (size_t)system->state->nodes, sum_nodes, &moment.time, nodes, worker);
    REAL_NAME(sum_over_chunks)
    (system, (size_t)system->topology->spring_count, sum_springs, NULL, springs, worker);
    REAL_NAME(volumes_measure)(system, moment.time, false, worker);
    if (worker->index == 0) {
        energy->kinetic = nodes[NODE_KINETIC];
        energy->gravity = nodes[NODE_GRAVITY];
        energy->contact = nodes[NODE_CONTACT];
        energy->elastic = springs[0];
        energy->gas = sum_gas(system, moment);
        energy->total =
            energy->kinetic + energy->elastic + energy->gravity + energy->gas + energy->contact;
    }
    worker_barrier(worker);
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
    REAL_NAME(sum_over_chunks)
    (system, (size_t)system->state->nodes, sum_kinetic, NULL, total, worker);
    return total[0];
}
