// Springs that break or yield. Each decision reads the two ends of one spring and writes to that
// spring alone, so the result cannot depend on threads or order.
#include "forces/forces.h"
#include "state/reading.h"

static real current_length(const struct system *system, uint32_t spring)
{
    const struct state *s = system->state;
    const uint32_t *ends = system->constants->spring_nodes[spring];
    real dx = s->x[ends[0]] - s->x[ends[1]];
    real dy = s->y[ends[0]] - s->y[ends[1]];
    real dz = s->z[ends[0]] - s->z[ends[1]];
    return real_sqrt(dx * dx + dy * dy + dz * dz);
}

// Breaks the spring if it is stretched beyond break_at times the length it was built with; returns
// the energy that goes with it.
static double break_one(struct system *system, uint32_t spring)
{
    struct state *s = system->state;
    const struct spring_constants *material = spring_material(system, spring);
    if (!isfinite(material->break_at) || s->broken[spring])
        return 0;
    real length = current_length(system, spring);
    if (!(length > material->break_at * system->constants->rest_length[spring]))
        return 0;
    s->broken[spring] = 1;
    real rest = spring_rest_length(system, spring);
    return spring_energy(material, (double)length, (double)rest);
}

// Moves the rest length so that the elastic strain (L - L0) / L0 is yield_at again; a spring whose
// law is slack on that side carries no stress there and does not yield. Returns the energy that
// this takes.
static double yield_one(struct system *system, uint32_t spring)
{
    struct state *s = system->state;
    const struct spring_constants *material = spring_material(system, spring);
    if (!isfinite(material->yield_at) || spring_is_broken(system, spring))
        return 0;
    real length = current_length(system, spring);
    real rest = s->rest_length[spring];
    real moved = rest;
    if (length > rest * (1 + material->yield_at) && material->law != LAW_COMPRESSION_ONLY)
        moved = length / (1 + material->yield_at);
    else if (material->yield_at < 1 && length < rest * (1 - material->yield_at) &&
             material->law != LAW_TENSION_ONLY)
        moved = length / (1 - material->yield_at);
    if (moved == rest)
        return 0;
    s->rest_length[spring] = moved;
    return spring_energy(material, (double)length, (double)rest) -
           spring_energy(material, (double)length, (double)moved);
}

// What the kernel of packed springs reads of the i-th fragile spring.
static void renew_slots(struct system *system, size_t i)
{
    const struct plan *plan = system->plan;
    uint32_t spring = plan->fragile[i];
    bool broken = spring_is_broken(system, spring);
    for (int end = 0; end < 2; end++)
        system->state->slot_rest[plan->fragile_slots[i][end]] =
            broken ? -1 : spring_rest_length(system, spring);
}

static void for_all_fragile(struct system *system, double (*change)(struct system *, uint32_t),
                            const struct worker *worker)
{
    const struct plan *plan = system->plan;
    size_t count = (size_t)plan->fragile_count;
    struct range chunks = worker_share(worker, chunk_count(count), 1);
    for (size_t chunk = chunks.first; chunk < chunks.end; chunk++) {
        struct range range = chunk_range(chunk, count);
        for (size_t i = range.first; i < range.end; i++) {
            system->fragile_losses[chunk] += change(system, plan->fragile[i]);
            if (plan->packs)
                renew_slots(system, i);
        }
    }
    worker_barrier(worker);
}

void REAL_NAME(springs_break)(struct system *system, const struct worker *worker)
{
    if (system->topology->any_breaks)
        for_all_fragile(system, break_one, worker);
}

void REAL_NAME(springs_yield)(struct system *system, const struct worker *worker)
{
    if (system->topology->any_yields)
        for_all_fragile(system, yield_one, worker);
}
