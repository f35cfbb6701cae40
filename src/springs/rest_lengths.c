// Scales the rest lengths of a material (solver/set.c) in the constants and in the state: as built
// and as changed by yielding, for listed springs, grids and the slots of packed springs. The copies
// in the topology (set.c) and in the plan (plan_find_rest_lengths) follow afterwards.
#include "springs/springs.h"

struct scaling {
    struct system *system;
    uint32_t material;
    double factor;
};

// Scales a rest length that yielding may have changed; the rest length as built changes from
// `before` to `after`.
static void scale_yielded(real *rest, real before, real after)
{
    if (*rest == before || before == 0)
        *rest = after;
    else if (after != before)
        *rest = (real)((double)*rest / (double)before * (double)after);
}

static void scale_listed(const struct scaling *it)
{
    struct constants *constants = it->system->constants;
    real *yielded = it->system->state->rest_length;
    struct spring_run near = {0};
    for (uint64_t i = 0; i < constants->springs; i++) {
        const uint32_t element = plan_element(&it->system->plan->springs, i);
        struct spring_run spring = topology_spring_near(it->system->topology, element, &near);
        if (spring.material != it->material)
            continue;
        const real before = (real)spring.rest_length;
        const real after = (real)(spring.rest_length * it->factor);
        if (yielded)
            scale_yielded(&yielded[i], before, after);
        if (constants->rests > 0)
            constants->rest_length[i] = after;
    }
}

// Springs of grids have individual rest lengths only if they can yield.
static void scale_grid(const struct scaling *it, const struct plan_grid *grid)
{
    const struct topology *topology = it->system->topology;
    const struct topology_body *body = &topology->bodies[grid->body];
    real *yielded = it->system->state->rest_length;
    uint64_t end = body->first_spring + body->spring_count;
    if (!yielded || !grid->stateful)
        return;
    for (uint64_t first = body->first_spring; first < end;) {
        struct spring_run run = topology_run(topology, first, end);
        uint64_t state_index = grid->first_state_index + (first - body->first_spring);
        for (uint64_t i = 0; run.material == it->material && i < run.count; i++)
            scale_yielded(&yielded[state_index + i], (real)run.rest_length,
                          (real)(run.rest_length * it->factor));
        first += run.count;
    }
}

// Slots do not name their springs. The value of a slot is the rest length of a listed spring, or
// that of a direction rounded to `real`; the latter is recomputed from the direction, so that it is
// rounded once.
static real scaled_slot(const struct scaling *it, real before)
{
    const struct topology *topology = it->system->topology;
    for (size_t d = 0; d < topology->direction_count; d++) {
        const struct direction *direction = &topology->directions[d];
        if (direction_has_material(direction, it->material) &&
            (real)direction->rest_length == before)
            return (real)(direction->rest_length * it->factor);
    }
    return (real)((double)before * it->factor);
}

static void scale_slots(const struct scaling *it, real *slots)
{
    const struct plan_packed *packed = &it->system->plan->packed;
    if (!slots)
        return;
    for (uint64_t c = 0; c < packed->column_count; c++) {
        const struct packed_column *column = &packed->columns[c];
        for (int lane = 0; lane < PACKED_LANES; lane++) {
            real *slot = &slots[c * PACKED_LANES + (uint64_t)lane];
            uint32_t material = column->material != PACKED_MIXED
                                    ? column->material
                                    : packed->lane_materials[column->mixed][lane];
            if (*slot >= 0 && (column->lanes >> lane & 1) && material == it->material)
                *slot = scaled_slot(it, *slot);
        }
    }
    for (uint64_t i = 0; i < packed->overflow_count; i++) {
        real *slot = &slots[packed->column_count * PACKED_LANES + i];
        if (*slot >= 0 && packed->overflow[i].material == it->material)
            *slot = scaled_slot(it, *slot);
    }
}

void REAL_NAME(springs_scale_rest_lengths)(struct system *system, uint32_t material, double factor)
{
    const struct scaling scaling = {system, material, factor};
    scale_listed(&scaling);
    for (size_t g = 0; g < system->plan->grid_count; g++)
        scale_grid(&scaling, &system->plan->grids[g]);
    if (system->constants->slots > 0)
        scale_slots(&scaling, system->constants->slot_rest);
    scale_slots(&scaling, system->state->slot_rest);
    REAL_NAME(springs_refresh)(system); // restores slots of springs that yielded or broke
}
