#include "stability/majorant_listed.h"

#include <string.h>

#include "base/memory.h"
#include "forces/block.h"
#include "stability/majorant_crowds.h"
#include "state/reading.h"

enum { LISTED_WIDTH = 2 * BLOCK_WIDTH };

struct listed_majorants {
    struct system *system;
    struct range nodes;
    real *blocks; // of each node a block of K and one of C
    real *amplitudes, *others;
    struct crowds crowds;
};

static struct range loose_range(const struct plan *plan)
{
    struct range range = {0, 0};
    for (size_t i = 0; i < plan->loose_count; i++) {
        const struct plan_nodes *loose = &plan->loose[i];
        size_t first = (size_t)loose->first, end = first + (size_t)loose->count;
        if (range.end == range.first)
            range = (struct range){first, end};
        range.first = first < range.first ? first : range.first;
        range.end = end > range.end ? end : range.end;
    }
    return range;
}

static size_t node_count(const struct listed_majorants *listed)
{
    return listed->nodes.end - listed->nodes.first;
}

taut_status REAL_NAME(listed_majorants_make)(struct system *system,
                                             struct listed_majorants **result, taut_error *error)
{
    *result = NULL;
    const taut_allocator *allocator = system->allocator;
    struct listed_majorants *listed = memory_allocate(allocator, 1, sizeof *listed);
    if (!listed)
        return fail_memory(error, "the critical step");
    listed->system = system;
    listed->nodes = loose_range(system->plan);
    size_t count = node_count(listed);
    listed->blocks = memory_allocate(allocator, LISTED_WIDTH * count, sizeof *listed->blocks);
    listed->amplitudes = memory_allocate(allocator, count, sizeof *listed->amplitudes);
    listed->others = memory_allocate(allocator, count, sizeof *listed->others);
    if (!listed->blocks || !listed->amplitudes || !listed->others) {
        REAL_NAME(listed_majorants_free)(listed);
        return fail_memory(error, "the critical step");
    }
    taut_status status = REAL_NAME(crowds_find)(system, &listed->crowds, error);
    if (status != TAUT_OK) {
        REAL_NAME(listed_majorants_free)(listed);
        return status;
    }
    REAL_NAME(listed_majorants_reset)(listed);
    *result = listed;
    return TAUT_OK;
}

void REAL_NAME(listed_majorants_free)(struct listed_majorants *listed)
{
    if (!listed)
        return;
    const taut_allocator *allocator = listed->system->allocator;
    size_t count = node_count(listed);
    memory_release(allocator, listed->blocks, LISTED_WIDTH * count, sizeof *listed->blocks);
    memory_release(allocator, listed->amplitudes, count, sizeof *listed->amplitudes);
    memory_release(allocator, listed->others, count, sizeof *listed->others);
    REAL_NAME(crowds_free)(listed->system, &listed->crowds);
    memory_release(allocator, listed, 1, sizeof *listed);
}

uint64_t REAL_NAME(listed_majorants_bytes)(const struct listed_majorants *listed)
{
    return sizeof *listed + (LISTED_WIDTH + 2) * node_count(listed) * sizeof(real);
}

struct range REAL_NAME(listed_majorants_range)(const struct listed_majorants *listed)
{
    return listed->nodes;
}

// ---- Amplitudes

real REAL_NAME(listed_majorants_part)(const struct listed_majorants *listed, size_t node,
                                      size_t other)
{
    struct range nodes = listed->nodes;
    if (node < nodes.first || node >= nodes.end || other < nodes.first || other >= nodes.end)
        return 2;
    return 1 + listed->amplitudes[other - nodes.first] / listed->amplitudes[node - nodes.first];
}

void REAL_NAME(listed_majorants_scale)(struct listed_majorants *listed, size_t node, double factor)
{
    size_t i = node - listed->nodes.first;
    listed->others[i] = listed->amplitudes[i] * (real)factor;
}

void REAL_NAME(listed_majorants_swap)(struct listed_majorants *listed)
{
    real *present = listed->amplitudes;
    listed->amplitudes = listed->others;
    listed->others = present;
}

bool REAL_NAME(listed_majorants_has_crowds)(const struct listed_majorants *listed)
{
    return listed->crowds.count > 0;
}

void REAL_NAME(listed_majorants_use_crowds)(struct listed_majorants *listed, bool use)
{
    listed->crowds.used = use;
}

void REAL_NAME(listed_majorants_reset)(struct listed_majorants *listed)
{
    for (size_t i = 0; i < node_count(listed); i++)
        listed->amplitudes[i] = 1;
}

// ---- Springs

static real *block_of(const struct listed_majorants *listed, size_t node)
{
    return listed->blocks + LISTED_WIDTH * (node - listed->nodes.first);
}

// Of a spring its direction, and its stiffness and damping along it and across.
struct spring_sides {
    real u[3], k, k_across, c, c_across;
};

static struct spring_sides sides_of(const struct system *system, size_t spring, size_t a, size_t b)
{
    const struct state *s = system->state;
    const struct spring_constants *material = spring_material(system, spring);
    const real n[3] = {s->x[a] - s->x[b], s->y[a] - s->y[b], s->z[a] - s->z[b]};
    const real length = real_sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    const bool directed = length > 0 && length <= REAL_HUGE;
    const real inverse = directed ? 1 / length : 0, k = material->stiffness;
    const real stretch = 1 - spring_rest_length(system, spring) * inverse;
    struct spring_sides sides = {.k = k, .c = material->damping};
    for (int axis = 0; axis < 3; axis++)
        sides.u[axis] = directed ? n[axis] * inverse : 0;
    sides.k_across = directed ? (stretch > 0 ? stretch * k : 0) : k;
    sides.c_across = material->damping_law == DAMPING_FULL || !directed ? sides.c : 0;
    return sides;
}

static real less(real value, real by)
{
    return value > by ? value - by : 0;
}

static void soften(struct spring_sides *sides, const struct crowd *crowd)
{
    sides->k = less(sides->k, crowd->stiffness);
    sides->k_across = less(sides->k_across, crowd->stiffness);
    sides->c = less(sides->c, crowd->damping);
    sides->c_across = less(sides->c_across, crowd->damping);
}

static void add_spring(const struct listed_majorants *listed, size_t spring)
{
    const struct system *system = listed->system;
    const uint32_t *ends = system->constants->spring_nodes[spring];
    const real *is_free = system->constants->inverse_mass;
    const real *amplitude = listed->amplitudes - listed->nodes.first;
    const struct crowd *crowd = crowd_of(&listed->crowds, ends[0]);
    struct spring_sides it = sides_of(system, spring, ends[0], ends[1]);
    if (crowd && is_free[ends[0]] != 0 && is_free[ends[1]] != 0)
        soften(&it, crowd);
    for (int end = 0; end < 2; end++) {
        const uint32_t node = ends[end], other = ends[1 - end];
        const real weight = is_free[other] != 0 ? 1 + amplitude[other] / amplitude[node] : 1;
        real *block = block_of(listed, node);
        block_add(block, it.u[0], it.u[1], it.u[2], weight * it.k, weight * it.k_across);
        if (it.c > 0)
            block_add(block + BLOCK_WIDTH, it.u[0], it.u[1], it.u[2], weight * it.c,
                      weight * it.c_across);
    }
}

static void add_crowd(const struct listed_majorants *listed, const struct crowd *crowd)
{
    for (size_t node = crowd->nodes.first; node < crowd->nodes.end; node++)
        for (int element = 0; element < 3; element++) {
            real *block = block_of(listed, node);
            block[element] += (real)crowd->free * crowd->stiffness;
            block[BLOCK_WIDTH + element] += (real)crowd->free * crowd->damping;
        }
}

void REAL_NAME(listed_majorants_update)(struct listed_majorants *listed)
{
    const struct system *system = listed->system;
    memset(listed->blocks, 0, LISTED_WIDTH * node_count(listed) * sizeof *listed->blocks);
    for (size_t i = 0; i < (size_t)system->constants->springs; i++)
        if (!spring_is_broken(system, i))
            add_spring(listed, i);
    for (size_t i = 0; listed->crowds.used && i < listed->crowds.count; i++)
        add_crowd(listed, &listed->crowds.list[i]);
}

void REAL_NAME(listed_majorants_add)(const struct listed_majorants *listed, size_t first,
                                     size_t end, struct majorant *blocks)
{
    for (size_t node = first; node < end; node++) {
        const real *block = block_of(listed, node);
        for (int element = 0; element < BLOCK_WIDTH; element++) {
            blocks->stiffness[element][node - blocks->first] += block[element];
            blocks->damping[element][node - blocks->first] += block[BLOCK_WIDTH + element];
        }
    }
}
