#include "stability/majorant_crowds.h"

#include "base/memory.h"
#include "state/reading.h"

// More of all pairs than this have a spring: with fewer there is nothing to gain.
static const double CROWDED = 0.5;

static bool may_be_crowd(const struct system *system, size_t index)
{
    const struct topology_body *body = &system->topology->bodies[index];
    double nodes = (double)body->node_count, springs = (double)body->spring_count;
    return nodes > 3 && springs > CROWDED * nodes * (nodes - 1) / 2 &&
           !plan_grid_of_body(system->plan, index);
}

static struct crowd begin(const struct system *system, const struct topology_body *body)
{
    size_t first = (size_t)body->first_node, end = first + (size_t)body->node_count;
    struct crowd crowd = {.nodes = {first, end}, .stiffness = REAL_HUGE, .damping = REAL_HUGE};
    for (size_t i = first; i < end; i++)
        crowd.free += system->constants->inverse_mass[i] != 0;
    return crowd;
}

// Marks the pair of a spring's ends; false if another spring has it.
static bool take_spring(const struct system *system, size_t spring, struct crowd *crowd,
                        uint8_t *pairs)
{
    const uint32_t *ends = system->constants->spring_nodes[spring];
    size_t first = crowd->nodes.first, count = crowd->nodes.end - first;
    size_t low = (ends[0] < ends[1] ? ends[0] : ends[1]) - first;
    size_t high = (ends[0] < ends[1] ? ends[1] : ends[0]) - first;
    uint8_t *pair = &pairs[low * count + high];
    const struct spring_constants *material = spring_material(system, spring);
    bool alone = !*pair;
    *pair = 1;
    crowd->stiffness =
        material->stiffness < crowd->stiffness ? material->stiffness : crowd->stiffness;
    crowd->damping = material->damping < crowd->damping ? material->damping : crowd->damping;
    return alone;
}

static taut_status try_body(const struct system *system, const struct topology_body *body,
                            struct crowds *crowds, taut_error *error)
{
    struct crowd crowd = begin(system, body);
    size_t count = crowd.nodes.end - crowd.nodes.first;
    uint8_t *pairs = memory_allocate(system->allocator, count * count, 1);
    if (!pairs)
        return fail_memory(error, "the critical step");
    bool single = true;
    uint64_t springs = 0;
    for (size_t i = 0; single && i < (size_t)system->constants->springs; i++) {
        size_t end = system->constants->spring_nodes[i][0];
        if (end < crowd.nodes.first || end >= crowd.nodes.end)
            continue;
        single = take_spring(system, i, &crowd, pairs);
        springs++;
    }
    memory_release(system->allocator, pairs, count * count, 1);
    if (single && springs == body->spring_count)
        crowds->list[crowds->count++] = crowd;
    return TAUT_OK;
}

taut_status REAL_NAME(crowds_find)(const struct system *system, struct crowds *crowds,
                                   taut_error *error)
{
    const struct topology *topology = system->topology;
    *crowds = (struct crowds){.used = false};
    crowds->list = memory_allocate(system->allocator, topology->body_count, sizeof *crowds->list);
    if (!crowds->list)
        return fail_memory(error, "the critical step");
    taut_status status = TAUT_OK;
    for (size_t b = 0; status == TAUT_OK && b < topology->body_count; b++)
        if (may_be_crowd(system, b))
            status = try_body(system, &topology->bodies[b], crowds, error);
    return status;
}

void REAL_NAME(crowds_free)(const struct system *system, struct crowds *crowds)
{
    memory_release(system->allocator, crowds->list, system->topology->body_count,
                   sizeof *crowds->list);
}
