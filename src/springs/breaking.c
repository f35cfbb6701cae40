// Breaking and yielding. Each decision reads the two ends of one spring and writes to that spring
// alone, so the result depends neither on threads nor on order. On grids a kernel finds the springs
// that are strained beyond a limit, usually few, and only these are decided one by one. The limits
// are in law.h.
#include "springs/springs.h"

#include "state/reading.h"

// One spring: its index in the state's arrays, and what it was built with.
struct spring {
    size_t state_index;
    size_t a, b;
    const struct spring_constants *material;
    real built; // m, rest length
};

// What may happen to a spring, and how far it may be strained before it does.
struct change {
    double (*happen)(struct system *system, const struct spring *spring);
    bool (*can)(const struct spring_constants *material);
    // No spring within these changes; -1 and INFINITY where there is no limit.
    struct strain_limits (*limits)(const struct spring_constants *material);
};

static real current_length(const struct system *system, const struct spring *spring)
{
    const struct state *s = system->state;
    real dx = s->x[spring->a] - s->x[spring->b];
    real dy = s->y[spring->a] - s->y[spring->b];
    real dz = s->z[spring->a] - s->z[spring->b];
    return real_sqrt(dx * dx + dy * dy + dz * dz);
}

static real present_rest_length(const struct system *system, const struct spring *spring)
{
    const real *moved = system->state->rest_length;
    return moved ? moved[spring->state_index] : spring->built;
}

// Breaks the spring if it is beyond its limits; returns the energy that goes with it.
static double break_one(struct system *system, const struct spring *spring)
{
    struct state *s = system->state;
    if (s->broken[spring->state_index])
        return 0;
    const struct strain_limits limits = break_limits(spring->material);
    real length = current_length(system, spring);
    if (!(length > limits.high * spring->built))
        return 0;
    s->broken[spring->state_index] = 1;
    return spring_energy(spring->material, (double)length,
                         (double)present_rest_length(system, spring));
}

// Moves the rest length so that the elastic strain is at the limit again. Returns the energy that
// this takes.
static double yield_one(struct system *system, const struct spring *spring)
{
    struct state *s = system->state;
    const struct spring_constants *material = spring->material;
    if (spring_is_broken(system, spring->state_index))
        return 0;
    const struct strain_limits limits = yield_limits(material);
    real length = current_length(system, spring);
    real rest = s->rest_length[spring->state_index];
    real moved = rest;
    if (length > rest * limits.high)
        moved = length / limits.high;
    else if (length < rest * limits.low)
        moved = length / limits.low;
    if (moved == rest)
        return 0;
    s->rest_length[spring->state_index] = moved;
    return spring_energy(material, (double)length, (double)rest) -
           spring_energy(material, (double)length, (double)moved);
}

// What the kernel of packed springs reads of the i-th fragile spring.
static void update_slots(struct system *system, size_t i)
{
    const struct plan *plan = system->plan;
    uint32_t spring = plan->fragile[i];
    bool broken = spring_is_broken(system, spring);
    for (int end = 0; end < 2; end++)
        system->state->slot_rest[plan->fragile_slots[i][end]] =
            broken ? -1 : spring_rest_length(system, spring);
}

void REAL_NAME(springs_refresh)(struct system *system)
{
    for (size_t i = 0; system->plan->packs && i < (size_t)system->plan->fragile_count; i++)
        update_slots(system, i);
}

static double change_listed(struct system *system, const struct change *change,
                            uint32_t state_index)
{
    const struct constants *constants = system->constants;
    const struct spring spring = {state_index, constants->spring_nodes[state_index][0],
                                  constants->spring_nodes[state_index][1],
                                  spring_material(system, state_index),
                                  built_rest_length(constants, state_index)};
    return change->can(spring.material) ? change->happen(system, &spring) : 0;
}

// Springs of a grid's run, 64 at a time.
static void change_run(struct system *system, const struct change *change,
                       const struct plan_grid *grid, const struct spring_run *run, double *losses)
{
    enum { AT_ONCE = 64 };
    const struct topology_body *body = &system->topology->bodies[grid->body];
    const uint64_t state_index = grid->first_state_index + (run->first - body->first_spring);
    struct spring spring = {.material = &system->constants->material[run->material],
                            .built = (real)run->rest_length};
    if (!change->can(spring.material))
        return;
    struct strain_limits limits = change->limits(spring.material);
    for (uint64_t first = 0; first < run->count; first += AT_ONCE) {
        int count = run->count - first < AT_ONCE ? (int)(run->count - first) : AT_ONCE;
        struct grid_row_springs springs = {(int64_t)(run->a + first), (int64_t)(run->b + first),
                                           state_index + first, spring.built, count};
        uint64_t beyond = system->kernels->grid_overstrained(system->state, &springs, &limits);
        for (size_t i = (size_t)first; beyond != 0; i++, beyond >>= 1) {
            spring.state_index = (size_t)state_index + i;
            spring.a = run->a + i;
            spring.b = run->b + i;
            if (beyond & 1)
                *losses += change->happen(system, &spring);
        }
    }
}

// Springs [first, end) of those of all grids that remember.
static void change_grids(struct system *system, const struct change *change, uint64_t first,
                         uint64_t end, double *losses)
{
    const struct plan *plan = system->plan;
    const uint64_t blocked = plan->springs.element_count;
    for (size_t g = 0; g < plan->grid_count; g++) {
        const struct plan_grid *grid = &plan->grids[g];
        const struct topology_body *body = &system->topology->bodies[grid->body];
        if (!grid->stateful)
            continue;
        uint64_t begin = grid->first_state_index - blocked, stop = begin + body->spring_count;
        uint64_t from = first > begin ? first : begin, to = end < stop ? end : stop;
        while (from < to) {
            struct spring_run run =
                topology_run(system->topology, body->first_spring + (from - begin),
                             body->first_spring + (to - begin));
            change_run(system, change, grid, &run, losses);
            from += run.count;
        }
    }
}

// The losses of a chunk are added up in the order of its springs.
static void for_all_fragile(struct system *system, const struct change *change,
                            const struct worker *worker)
{
    const struct plan *plan = system->plan;
    const size_t listed = (size_t)plan->fragile_count, count = (size_t)plan_fragile_total(plan);
    struct range chunks = worker_share(worker, chunk_count(count), 1);
    for (size_t chunk = chunks.first; chunk < chunks.end; chunk++) {
        struct range range = chunk_range(chunk, count);
        double *losses = &system->fragile_losses[chunk];
        for (size_t i = range.first; i < range.end && i < listed; i++) {
            *losses += change_listed(system, change, plan->fragile[i]);
            if (plan->packs)
                update_slots(system, i);
        }
        if (range.end > listed)
            change_grids(system, change, range.first > listed ? range.first - listed : 0,
                         range.end - listed, losses);
    }
    worker_barrier(worker);
}

void REAL_NAME(springs_break)(struct system *system, const struct worker *worker)
{
    static const struct change breaking = {break_one, spring_can_break, break_limits};
    if (system->topology->any_breaks)
        for_all_fragile(system, &breaking, worker);
}

void REAL_NAME(springs_yield)(struct system *system, const struct worker *worker)
{
    static const struct change yielding = {yield_one, spring_can_yield, yield_limits};
    if (system->topology->any_yields)
        for_all_fragile(system, &yielding, worker);
}

uint64_t REAL_NAME(springs_broken_count)(const struct system *system)
{
    const struct plan *plan = system->plan;
    uint64_t count = 0;
    if (!system->state->broken)
        return 0;
    for (uint64_t i = 0; i < plan->fragile_count; i++)
        count += system->state->broken[plan->fragile[i]];
    for (uint64_t i = plan->springs.element_count; i < plan->state_spring_count; i++)
        count += system->state->broken[i];
    return count;
}
