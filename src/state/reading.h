// One node or one spring of the state, read in double: for energies, work, limits and output. Hot
// loops read the arrays themselves. Springs are those of the plan's blocks, in its order; those of
// grids are read run by run (topology_run) instead. Numeric.
#ifndef TAUT_STATE_READING_H
#define TAUT_STATE_READING_H

#include "state/system.h"

static inline vec3 node_position(const struct state *s, size_t node)
{
    return vec3_make((double)s->x[node], (double)s->y[node], (double)s->z[node]);
}

static inline vec3 node_velocity(const struct state *s, size_t node)
{
    return vec3_make((double)s->vx[node], (double)s->vy[node], (double)s->vz[node]);
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

// d = x_a - x_b
static inline vec3 spring_vector(const struct system *system, size_t spring)
{
    const uint32_t *ends = system->constants->spring_nodes[spring];
    return vec3_subtract(node_position(system->state, ends[0]),
                         node_position(system->state, ends[1]));
}

// The present rest length, which yielding moves.
static inline real spring_rest_length(const struct system *system, size_t spring)
{
    const real *moved = system->state->rest_length;
    return moved ? moved[spring] : built_rest_length(system->constants, spring);
}

// What changes of the springs of a grid's run: NULL where nothing does.
struct run_memory {
    const uint8_t *broken;
    const real *rest_length;
};

static inline struct run_memory
run_memory(const struct system *system, const struct plan_grid *grid, const struct spring_run *run)
{
    const struct state *s = system->state;
    if (!grid->remembers)
        return (struct run_memory){NULL, NULL};
    uint64_t place =
        grid->first_place + (run->first - system->topology->bodies[grid->body].first_spring);
    return (struct run_memory){s->broken ? s->broken + place : NULL,
                               s->rest_length ? s->rest_length + place : NULL};
}

static inline bool run_is_broken(const struct run_memory *memory, size_t i)
{
    return memory->broken && memory->broken[i];
}

static inline real run_rest_length(const struct run_memory *memory, const struct spring_run *run,
                                   size_t i)
{
    return memory->rest_length ? memory->rest_length[i] : (real)run->rest_length;
}

// Whether the law gives no force at this length.
static inline bool spring_is_slack(const struct spring_constants *material, double length,
                                   double rest)
{
    return (material->law == LAW_TENSION_ONLY && length <= rest) ||
           (material->law == LAW_COMPRESSION_ONLY && length >= rest);
}

// k (L - L0)^2 / 2, and 0 where the law is slack.
static inline double spring_energy(const struct spring_constants *material, double length,
                                   double rest)
{
    double stretch = length - rest;
    if (spring_is_slack(material, length, rest))
        return 0;
    return 0.5 * (double)material->stiffness * stretch * stretch;
}

#endif
