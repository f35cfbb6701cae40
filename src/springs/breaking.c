// Breaking and yielding of springs. Each decision reads the two ends of one spring and changes that
// spring alone, so the result depends neither on threads nor on order. On grids a kernel first
// finds the springs that are strained beyond a limit, usually few, and only these are evaluated one
// by one. The limits are in law.h.
#include "springs/springs.h"

#include <stdlib.h>
#include <string.h>

#include "ranks/ranks.h"
#include "springs/exchange.h"
#include "springs/part_springs.h"

#include "state/reading.h"

// One spring: its index in the state's arrays, its ends, material and rest length as built.
struct spring {
    size_t state_index;
    size_t a, b;
    const struct spring_constants *material;
    real built; // m, rest length
};

// When springs break or yield: `elapsed`, the part of the step that has passed at the evaluation,
// and the work of drives in the last step beyond their powers, J, a sum.
struct occasion {
    double elapsed;
    double *driven;
};

// Breaking or yielding: applies it to a spring and returns the energy lost; whether a material is
// subject to it; and the strain limits within which no spring changes.
struct change {
    double (*apply)(struct system *system, const struct spring *spring,
                    const struct occasion *occasion);
    bool (*applies_to)(const struct spring_constants *material);
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

// The distance by which the ends of a spring move apart in a step, m, as far as their motion is
// prescribed and as far as it is not. Independent of the order of the ends.
struct parting {
    double prescribed, integrated;
};

static struct parting parting_of(const struct system *system, const struct spring *spring,
                                 double length)
{
    const struct state *s = system->state;
    const real *inverse_mass = system->constants->inverse_mass;
    if (!(length > 0))
        return (struct parting){0, 0};
    const vec3 apart = vec3_subtract(node_position(s, spring->a), node_position(s, spring->b));
    const double scale = system->settings.position_step / length;
    const double of_a = scale * vec3_dot(apart, node_velocity(s, spring->a));
    const double of_b = -scale * vec3_dot(apart, node_velocity(s, spring->b));
    const bool a_moved = inverse_mass[spring->a] == 0, b_moved = inverse_mass[spring->b] == 0;
    return (struct parting){(a_moved ? of_a : 0) + (b_moved ? of_b : 0),
                            (a_moved ? 0 : of_a) + (b_moved ? 0 : of_b)};
}

// The energy that is lost when a spring breaks is that at its present length. The nodes have not
// done some of the work that has brought it there, force times displacement, and some has not been
// counted, since a step has its forces and its powers at few times. Both are these parts of the
// force times the displacement of a whole step, prescribed and not, and without them the energy
// budget has an error of order 1.
//
// The budget integrates the power of drives by trapezoids. If a spring breaks before the sample at
// the end of a step, half of the power is missing there. If it breaks within a step, after the part
// c of it, c is needed and a half is there; constraints of xpbd break after the sample at the
// start.
//
// Verlet integrators have already lost the force for the half kick at the end of the step. When a
// stage at h/2 or h breaks the spring, midpoint needs 1/2 and has none; rk4 needs 1/2 and 1 and has
// the weights of the stages before it, 1/6 and 5/6. bdf2 has the force for half a step too long: a
// jump of the acceleration enters its velocity by 2/3, 8/9, 26/27 ... of h. Errors of order 1 of
// the others are those of their steps.
struct parting_missed {
    double prescribed, integrated;
};

static struct parting_missed missed_before_breaking(enum integrator integrator, double elapsed)
{
    const bool within = elapsed > 0.25, late = elapsed > 0.75;
    const double passed = within || integrator == INTEGRATOR_XPBD ? elapsed : 1;
    struct parting_missed missed = {passed - 0.5, 0};
    if (integrator == INTEGRATOR_VERLET || integrator == INTEGRATOR_VELOCITY_VERLET ||
        (integrator == INTEGRATOR_MIDPOINT && within))
        missed.integrated = 0.5;
    else if (integrator == INTEGRATOR_RK4 && within)
        missed.integrated = late ? 1.0 / 6 : 1.0 / 3;
    else if (integrator == INTEGRATOR_BDF2)
        missed.integrated = -0.5;
    return missed;
}

// Breaks the spring if it is beyond its limits; returns the elastic energy that is lost.
static double break_one(struct system *system, const struct spring *spring,
                        const struct occasion *occasion)
{
    struct state *s = system->state;
    if (s->broken[spring->state_index])
        return 0;
    const struct strain_limits limits = break_limits(spring->material);
    real length = current_length(system, spring);
    if (!(length > limits.high * spring->built))
        return 0;
    s->broken[spring->state_index] = 1;
    const double rest = (double)present_rest_length(system, spring);
    const double lost = spring_energy(spring->material, (double)length, rest);
    if (!(lost > 0)) // slack
        return lost;
    const struct parting parted = parting_of(system, spring, (double)length);
    const enum integrator integrator = system->settings.integrator;
    const bool as_built = s->step == 0 && occasion->elapsed == 0 && integrator != INTEGRATOR_XPBD;
    if (as_built || !(parted.prescribed + parted.integrated > 0)) // no step has brought it there
        return lost;
    const struct parting_missed missed = missed_before_breaking(integrator, occasion->elapsed);
    const double force = (double)spring->material->stiffness * ((double)length - rest);
    return lost -
           force * (missed.prescribed * parted.prescribed + missed.integrated * parted.integrated);
}

// How much of an increment of the force while a spring is stretched is in the mean force with which
// an integrator moves its ends before it yields; it yields at the start of the next step. Euler's
// explicit methods and Verlet's have only forces after yielding, Runge-Kutta methods and the
// implicit midpoint rule the mean of the path, implicit Euler and bdf2 the force at its end, and
// xpbd that at the end of each substep.
static double part_before_yielding(const struct settings *settings)
{
    switch (settings->integrator) {
    case INTEGRATOR_MIDPOINT:
    case INTEGRATOR_RK4:
    case INTEGRATOR_IMPLICIT_MIDPOINT:
        return 0.5;
    case INTEGRATOR_IMPLICIT_EULER:
    case INTEGRATOR_BDF2:
        return 1;
    case INTEGRATOR_XPBD:
        return 0.5 + 0.5 / settings->substeps;
    default:
        return 0;
    }
}

// The work that takes a yielding spring from one rest length to another, J, as the integrator does
// it, which moves the ends apart by the displacement D = L - L0 limit and then moves the rest
// length by d = D / limit. The elastic energy falls by the work of the mean of the path, which is
// exact for the middle case above. The forces after yielding are k d less than those before it at
// the end of each step, so that the mean force of the other methods, at both ends of the step, is k
// d / 2 less or more than the mean of the path, and their work is k d D / 2 less or more. Over many
// steps this is an error of order 1 of the energy budget.
//
// A node whose motion is prescribed has the same mean force, but the budget integrates the power of
// its drive from forces after yielding at both ends of the step: it lacks the part of k d that the
// mean force has, times the displacement of the node along the spring. A bar that a drive stretches
// beyond its limit had an error of order 1 without it, the whole of `driven`.
//
// Only what the nodes have moved by in the last step counts as D: a spring that was beyond its
// limit already, as at the start of a run, loses its elastic energy without any motion.
static double yield_work(const struct system *system, const struct spring *spring, double length,
                         double rest, double moved, double *driven)
{
    const struct spring_constants *material = spring->material;
    const real *inverse_mass = system->constants->inverse_mass;
    const double fallen =
        spring_energy(material, length, rest) - spring_energy(material, length, moved);
    const double part = part_before_yielding(&system->settings);
    const bool is_driven = inverse_mass[spring->a] == 0 || inverse_mass[spring->b] == 0;
    if ((part == 0.5 && !is_driven) || !(length > 0))
        return fallen;
    const struct parting parted = parting_of(system, spring, length);
    const double ratio = length / moved; // 1 + or - yield_at
    const double displaced =
        fmin(fabs(length - ratio * rest), fabs(parted.prescribed + parted.integrated));
    const double taken = (double)material->stiffness * displaced / ratio; // k d
    if (is_driven)
        *driven += part * (moved > rest ? taken : -taken) * parted.prescribed;
    return fallen + (part - 0.5) * taken * displaced;
}

// Moves the rest length so that the elastic strain is at the limit again. Returns the energy that
// this takes.
static double yield_one(struct system *system, const struct spring *spring,
                        const struct occasion *occasion)
{
    struct state *s = system->state;
    if (spring_is_broken(system, spring->state_index))
        return 0;
    const struct strain_limits limits = yield_limits(spring->material);
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
    return yield_work(system, spring, (double)length, (double)rest, (double)moved,
                      occasion->driven);
}

// Updates the rest lengths that the kernel of packed springs reads for the i-th fragile spring; -1
// means broken.
static void update_slots(const struct system *system, size_t i)
{
    const struct plan *plan = system->plan;
    uint32_t spring = plan->fragile[i];
    bool broken = spring_is_broken(system, spring);
    for (int end = 0; end < 2; end++)
        if (plan->fragile_slots[i][end] != PLAN_NO_SLOT)
            system->state->slot_rest[plan->fragile_slots[i][end]] =
                broken ? -1 : spring_rest_length(system, spring);
}

void REAL_NAME(springs_refresh)(const struct system *system)
{
    for (size_t i = 0; system->plan->packs && i < (size_t)system->plan->fragile_count; i++)
        update_slots(system, i);
}

static double change_listed(struct system *system, const struct change *change,
                            uint32_t state_index, const struct occasion *occasion)
{
    const struct constants *constants = system->constants;
    const struct spring spring = {state_index, constants->spring_nodes[state_index][0],
                                  constants->spring_nodes[state_index][1],
                                  spring_material(system, state_index),
                                  built_rest_length(constants, state_index)};
    return change->applies_to(spring.material) ? change->apply(system, &spring, occasion) : 0;
}

// Changes consecutive springs of a grid, 64 at a time.
static void change_run(struct system *system, const struct change *change,
                       const struct plan_grid *grid, const struct spring_run *run,
                       const struct occasion *occasion, double *losses)
{
    enum { AT_ONCE = 64 };
    const struct topology_body *body = &system->topology->bodies[grid->body];
    const uint64_t state_index = grid->first_state_index + (run->first - body->first_spring);
    struct spring spring = {.material = &system->constants->material[run->material],
                            .built = (real)run->rest_length};
    if (!change->applies_to(spring.material))
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
                *losses += change->apply(system, &spring, occasion);
        }
    }
}

// Changes springs [first, end), counted over all stateful grids.
static void change_grids(struct system *system, const struct change *change, uint64_t first,
                         uint64_t end, const struct occasion *occasion, double *losses)
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
            change_run(system, change, grid, &run, occasion, losses);
            from += run.count;
        }
    }
}

// Springs are divided into fixed chunks, and the losses of a chunk are summed in the order of its
// springs, so that the sum does not depend on the number of workers.
static void for_all_fragile(struct system *system, const struct change *change, double elapsed,
                            const struct worker *worker)
{
    const struct plan *plan = system->plan;
    const size_t listed = (size_t)plan->fragile_count, count = (size_t)plan_fragile_total(plan);
    const struct plan_part *part =
        system->exchange ? REAL_NAME(exchange_part)(system->exchange) : NULL;
    const struct range share =
        worker_share(worker, part ? part->fragile_count : chunk_count(count), 1);
    for (size_t number = share.first; number < share.end; number++) {
        const size_t chunk = part ? part->fragile[number].number : number;
        struct range range = chunk_range(chunk, count);
        double *losses = &system->fragile_losses[chunk];
        const struct occasion occasion = {elapsed, &system->fragile_drives[chunk]};
        for (size_t i = range.first; i < range.end && i < listed; i++) {
            *losses += change_listed(system, change, plan->fragile[i], &occasion);
            if (plan->packs)
                update_slots(system, i);
        }
        if (range.end > listed)
            change_grids(system, change, range.first > listed ? range.first - listed : 0,
                         range.end - listed, &occasion, losses);
    }
    worker_barrier(worker);
}

void REAL_NAME(springs_break)(struct system *system, double elapsed, const struct worker *worker)
{
    static const struct change breaking = {break_one, spring_can_break, break_limits};
    if (system->topology->any_breaks)
        for_all_fragile(system, &breaking, elapsed, worker);
}

void REAL_NAME(springs_yield)(struct system *system, const struct worker *worker)
{
    static const struct change yielding = {yield_one, spring_can_yield, yield_limits};
    if (!system->topology->any_yields)
        return;
    if (system->exchange) {
        REAL_NAME(exchange_halo_start)(system, worker);
        REAL_NAME(exchange_halo_end)(system, worker);
    }
    for_all_fragile(system, &yielding, 0, worker);
}

// ---- Several ranks, each of which has the present values of some chunks

static double *allocate_values(size_t count)
{
    double *values = calloc(count + 1, sizeof *values);
    if (!values)
        ranks_abort(1, "out of memory for springs that break or yield");
    return values;
}

void REAL_NAME(springs_share_losses)(const struct system *system, const struct plan_part *part)
{
    const size_t chunks = chunk_count((size_t)plan_fragile_total(system->plan));
    if (chunks == 0)
        return;
    double *values = allocate_values(2 * chunks), *driven = values + chunks;
    for (size_t i = 0; i < part->fragile_count; i++) {
        const struct plan_chunk chunk = part->fragile[i];
        values[chunk.number] = chunk.counts ? system->fragile_losses[chunk.number] : 0;
        driven[chunk.number] = chunk.counts ? system->fragile_drives[chunk.number] : 0;
    }
    ranks_add(values, 2 * chunks);
    memcpy(system->fragile_losses, values, chunks * sizeof *values);
    memcpy(system->fragile_drives, driven, chunks * sizeof *driven);
    free(values);
}

void REAL_NAME(springs_collect)(const struct system *system, const struct plan_part *part,
                                bool keeps)
{
    enum { CHUNKS_AT_ONCE = 64 };
    const struct plan *plan = system->plan;
    const struct state *s = system->state;
    const size_t count = (size_t)plan_fragile_total(plan), chunks = chunk_count(count);
    if (chunks == 0)
        return;
    uint8_t *counts = calloc(chunks, sizeof *counts);
    double *values = allocate_values(2 * CHUNKS_AT_ONCE * SUM_CHUNK);
    if (!counts)
        ranks_abort(1, "out of memory for springs that break or yield");
    for (size_t i = 0; i < part->fragile_count; i++)
        counts[part->fragile[i].number] = part->fragile[i].counts;
    for (size_t first = 0; first < count; first += CHUNKS_AT_ONCE * SUM_CHUNK) {
        const size_t left = count - first;
        const size_t now = left < CHUNKS_AT_ONCE * SUM_CHUNK ? left : CHUNKS_AT_ONCE * SUM_CHUNK;
        for (size_t i = 0; i < now; i++) {
            const size_t index = (size_t)plan_fragile_index(plan, first + i);
            const bool own = counts[(first + i) / SUM_CHUNK];
            values[2 * i] = own && s->broken ? s->broken[index] : 0;
            values[2 * i + 1] = own && s->rest_length ? (double)s->rest_length[index] : 0;
        }
        ranks_add(values, 2 * now);
        for (size_t i = 0; keeps && i < now; i++) {
            const size_t index = (size_t)plan_fragile_index(plan, first + i);
            if (s->broken)
                s->broken[index] = values[2 * i] > 0;
            if (s->rest_length)
                s->rest_length[index] = (real)values[2 * i + 1];
        }
    }
    free(counts);
    free(values);
    REAL_NAME(springs_refresh)(system);
}

uint64_t REAL_NAME(springs_broken_count)(const struct system *system)
{
    const struct plan *plan = system->plan;
    uint64_t count = 0;
    if (REAL_NAME(exchange_has_part)(system))
        return REAL_NAME(part_springs_broken)(system, REAL_NAME(exchange_part)(system->exchange));
    if (!system->state->broken)
        return 0;
    for (uint64_t i = 0; i < plan->fragile_count; i++)
        count += system->state->broken[plan->fragile[i]];
    for (uint64_t i = plan->springs.element_count; i < plan->state_spring_count; i++)
        count += system->state->broken[i];
    return count;
}
