// Reads one node or one spring of the state in double, for energies, work, limits and output; hot
// loops read the arrays themselves. Springs are those of the plan's blocks, in its order;
// springs_walk (springs/springs.h) visits all springs. Also sums over elements. Numeric.
#ifndef TAUT_STATE_READING_H
#define TAUT_STATE_READING_H

#include <string.h>

#include "state/system.h"

static inline vec3 node_position(const struct state *s, size_t node)
{
    return state_position(s, node);
}

static inline vec3 node_velocity(const struct state *s, size_t node)
{
    const double x = (double)s->vx[node], y = (double)s->vy[node], z = (double)s->vz[node];
    if (sizeof(real) != sizeof(float) || !s->vx_low)
        return vec3_make(x, y, z);
    return vec3_make(x + (double)s->vx_low[node], y + (double)s->vy_low[node],
                     z + (double)s->vz_low[node]);
}

static inline vec3 node_force(const struct state *s, size_t node)
{
    return vec3_make((double)s->fx[node], (double)s->fy[node], (double)s->fz[node]);
}

static inline const struct spring_constants *spring_material(const struct system *system,
                                                             size_t spring)
{
    return &system->constants->material[spring_material_number(system->constants, spring)];
}

static inline bool spring_is_broken(const struct system *system, size_t spring)
{
    return system->state->broken && system->state->broken[spring];
}

// The present rest length, which changes when the spring yields.
static inline real spring_rest_length(const struct system *system, size_t spring)
{
    const real *moved = system->state->rest_length;
    return moved ? moved[spring] : built_rest_length(system->constants, spring);
}

// ---- Sums
//
// Their bits do not depend on the number of threads: they are formed over fixed chunks of SUM_CHUNK
// elements, in double, and the chunks are added in order, many of them in two levels. Every sum of
// the program over elements is computed here.

// How many of so many sums are added first, before the results are added: all, if they are few.
static inline size_t sum_group(const struct system *system, size_t count)
{
    return count > SUM_GROUPS * system->sum_group ? system->sum_group : count;
}

// total[column] := the sum of rows[row * width + column], of one group of rows after another.
static inline void add_in_groups(const double *rows, size_t width, size_t count, size_t group,
                                 double *total)
{
    memset(total, 0, width * sizeof *total);
    for (size_t first = 0; first < count; first += group)
        for (size_t column = 0; column < width; column++) {
            const size_t end = count - first < group ? count : first + group;
            double sum = 0;
            for (size_t row = first; row < end; row++)
                sum += rows[row * width + column];
            total[column] += sum;
        }
}

// Adds the elements of one chunk to `sums`, which are initially 0, one column per quantity.
typedef void (*chunk_sum)(const struct system *system, const void *argument, struct range range,
                          double sums[SUM_WIDTH]);

// The sums of these chunks of `count` elements, in system->chunk_sums. All workers call it
// together; it ends with a barrier.
void REAL_NAME(sum_chunks)(struct system *system, struct range chunks, size_t count, chunk_sum sum,
                           const void *argument, const struct worker *worker);

// Those of all chunks, which ranks that compute the same share among them.
void REAL_NAME(sum_all_chunks)(struct system *system, size_t count, chunk_sum sum,
                               const void *argument, const struct worker *worker);

// Adds the sums of chunks 0 .. chunks - 1 in this order (add_in_groups). Every worker receives all
// totals; ends with a barrier.
void REAL_NAME(add_chunk_sums)(const struct system *system, size_t chunks, double total[SUM_WIDTH],
                               const struct worker *worker);

// Sums elements 0 .. count - 1: both of these.
void REAL_NAME(sum_over_chunks)(struct system *system, size_t count, chunk_sum sum,
                                const void *argument, double total[SUM_WIDTH],
                                const struct worker *worker);

// The contribution of consecutive nodes to a volume (faces/plan.h): sum (x - origin) a, in eight
// partial sums whatever the instruction set, so that they can be kept in vectors.
static inline double volume_partial_sum(const real *x, const real *ax, uint32_t count,
                                        double origin)
{
    enum { PARTS = 8 };
    double parts[PARTS] = {0};
    uint32_t whole = count / PARTS * PARTS;
    for (uint32_t i = 0; i < whole; i += PARTS)
        for (uint32_t part = 0; part < PARTS; part++)
            parts[part] += ((double)x[i + part] - origin) * (double)ax[i + part];
    for (uint32_t i = whole; i < count; i++)
        parts[i - whole] += ((double)x[i] - origin) * (double)ax[i];
    double sum = 0;
    for (int part = 0; part < PARTS; part++)
        sum += parts[part];
    return sum;
}

#endif
