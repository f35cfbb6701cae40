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

// A body that may be a crowd, while the springs are gone through.
struct candidate {
    struct crowd crowd;
    uint64_t springs, wanted; // found; of the body
    size_t first_pair;        // in the marks of all candidates
    bool single;              // no pair has two springs
};

// The candidate that a spring belongs to, or NULL. Candidates stand in the order of their nodes.
static struct candidate *candidate_of(struct candidate *candidates, size_t count, size_t node)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (node >= candidates[middle].crowd.nodes.end)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && node >= candidates[low].crowd.nodes.first ? &candidates[low] : NULL;
}

// Goes through all springs once, however many candidates there are.
static void try_springs(const struct system *system, struct candidate *candidates, size_t count,
                        uint8_t *pairs)
{
    for (size_t i = 0; i < (size_t)system->constants->springs; i++) {
        size_t end = system->constants->spring_nodes[i][0];
        struct candidate *candidate = candidate_of(candidates, count, end);
        if (!candidate || !candidate->single)
            continue;
        candidate->single =
            take_spring(system, i, &candidate->crowd, pairs + candidate->first_pair);
        candidate->springs++;
    }
}

static size_t list_candidates(const struct system *system, struct candidate *candidates,
                              size_t *pair_count)
{
    const struct topology *topology = system->topology;
    size_t count = 0;
    *pair_count = 0;
    for (size_t b = 0; b < topology->body_count; b++) {
        const struct topology_body *body = &topology->bodies[b];
        if (!may_be_crowd(system, b))
            continue;
        candidates[count++] = (struct candidate){.crowd = begin(system, body),
                                                 .wanted = body->spring_count,
                                                 .first_pair = *pair_count,
                                                 .single = true};
        *pair_count += (size_t)body->node_count * (size_t)body->node_count;
    }
    return count;
}

taut_status REAL_NAME(crowds_find)(const struct system *system, struct crowds *crowds,
                                   taut_error *error)
{
    size_t bodies = system->topology->body_count, pair_count = 0;
    *crowds = (struct crowds){.used = false};
    crowds->list = memory_allocate(system->allocator, bodies, sizeof *crowds->list);
    struct candidate *candidates = memory_allocate(system->allocator, bodies, sizeof *candidates);
    size_t count = candidates ? list_candidates(system, candidates, &pair_count) : 0;
    uint8_t *pairs = memory_allocate(system->allocator, pair_count, 1);
    bool done = crowds->list && candidates && pairs;
    if (done && count > 0)
        try_springs(system, candidates, count, pairs);
    for (size_t i = 0; done && i < count; i++)
        if (candidates[i].single && candidates[i].springs == candidates[i].wanted)
            crowds->list[crowds->count++] = candidates[i].crowd;
    memory_release(system->allocator, pairs, pair_count, 1);
    memory_release(system->allocator, candidates, bodies, sizeof *candidates);
    return done ? TAUT_OK : fail_memory(error, "the critical step");
}

void REAL_NAME(crowds_free)(const struct system *system, struct crowds *crowds)
{
    memory_release(system->allocator, crowds->list, system->topology->body_count,
                   sizeof *crowds->list);
}
