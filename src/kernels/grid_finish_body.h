// What is done with a node of a grid, or of no grid, once the forces of springs on it are known:
// the sums are brought together, gravity and drag added, and the node moved. The body of a kernel
// that is compiled for each instruction set; grid_base.c and the others define TAUT_WIDE_ISA and
// GRID_NAME.
#include "kernels/kernels.h"
#include "simd/wide.h"

// One component of what is finished: x, v and f of nodes, and g.
struct component {
    real *x, *v, *f;
    wide gravity;
};

struct motion_steps {
    wide drag, velocity_step, position_step;
};

// The force so far; `own` and `reactions` may be NULL. Where nothing but springs acts on a node, f
// is not read.
WIDE_INLINE wide force_so_far(const struct component *c, const real *own, const real *reactions,
                              long i, long left, bool loaded)
{
    wide force = wide_set(0);
    if (reactions)
        force = wide_load_first(reactions + i, left);
    if (own)
        force = wide_add(force, wide_load_first(own + i, left));
    return loaded ? wide_add(wide_load_first(c->f + i, left), force) : force;
}

// A register of one component.
struct moving {
    wide x, v, force; // x is not asked for by SWEEP_FORCES
};

WIDE_INLINE void finish_component(const struct component *c, const struct motion_steps *steps,
                                  struct moving now, wide mass, wide inverse_mass, long i,
                                  long left, bool clears, enum sweep_finish finish)
{
    wide force = wide_add(now.force, wide_subtract(wide_multiply(mass, c->gravity),
                                                   wide_multiply(steps->drag, now.v)));
    if (finish == SWEEP_FORCES) {
        wide_store_first(c->f + i, force, left);
        return;
    }
    wide faster =
        wide_add(now.v, wide_multiply(wide_multiply(steps->velocity_step, inverse_mass), force));
    wide moves = finish == SWEEP_SYMPLECTIC_EULER ? faster : now.v;
    wide_store_first(c->v + i, faster, left);
    wide_store_first(c->x + i, wide_add(now.x, wide_multiply(steps->position_step, moves)), left);
    if (clears)
        wide_store_first(c->f + i, wide_set(0), left);
}

struct node_motion {
    struct component components[3];
    struct motion_steps steps;
};

// Of nodes from `first` on.
static inline struct node_motion motion_of(const struct system *system, int64_t first,
                                           enum sweep_finish finish)
{
    const struct state *s = system->state;
    const vec3 g = system->topology->environment.gravity;
    const double position_step =
        finish == SWEEP_SYMPLECTIC_EULER ? system->settings.position_step : system->settings.dt;
    return (struct node_motion){
        {{s->x + first, s->vx + first, s->fx + first, wide_set((real)g.x)},
         {s->y + first, s->vy + first, s->fy + first, wide_set((real)g.y)},
         {s->z + first, s->vz + first, s->fz + first, wide_set((real)g.z)}},
        {wide_set((real)system->topology->environment.air_drag),
         wide_set((real)system->settings.dt), wide_set((real)position_step)},
    };
}

// `masses` of the range's nodes, or NULL where each has `each`.
WIDE_INLINE void finish_nodes(const struct system *system, const struct finish_range *range,
                              const real *masses, real each, bool loaded, bool clears,
                              enum sweep_finish finish)
{
    const struct node_motion motion = motion_of(system, range->first, finish);
    const real *const own[3] = {range->own.x, range->own.y, range->own.z};
    const real *const reactions[3] = {range->reactions.x, range->reactions.y, range->reactions.z};
    const wide one_mass = wide_set(each);
    const real *inverses = system->constants->inverse_mass + range->first;
    const long count = range->count;
    for (long i = 0; i < count; i += WIDE_LANES) {
        long left = count - i;
        wide mass = masses ? wide_load_first(masses + i, left) : one_mass;
        wide inverse = wide_load_first(inverses + i, left);
        for (int c = 0; c < 3; c++) {
            const struct component *it = &motion.components[c];
            struct moving now = {.v = wide_load_first(it->v + i, left),
                                 .force = force_so_far(it, own[c], reactions[c], i, left, loaded)};
            now.x = finish == SWEEP_FORCES ? wide_set(0) : wide_load_first(it->x + i, left);
            finish_component(it, &motion.steps, now, mass, inverse, i, left, clears, finish);
        }
    }
}

static void finish_masses(const struct system *system, const struct finish_range *range,
                          const real *masses, real each, enum sweep_finish finish)
{
    bool loaded = range->loaded, clears = range->clears;
    if (finish == SWEEP_FORCES)
        finish_nodes(system, range, masses, each, loaded, clears, SWEEP_FORCES);
    else if (finish == SWEEP_EXPLICIT_EULER)
        finish_nodes(system, range, masses, each, loaded, clears, SWEEP_EXPLICIT_EULER);
    else if (masses || loaded || clears)
        finish_nodes(system, range, masses, each, loaded, clears, SWEEP_SYMPLECTIC_EULER);
    else
        finish_nodes(system, range, NULL, each, false, false, SWEEP_SYMPLECTIC_EULER);
}

static const struct reals no_reals = {NULL, NULL, NULL};

static struct reals moved(const struct reals *reals, int64_t by)
{
    return reals->x ? (struct reals){reals->x + by, reals->y + by, reals->z + by} : no_reals;
}

// Body by body, where bodies have masses of their own.
void GRID_NAME(grid_finish)(const struct system *system, const struct finish_range *range,
                            enum sweep_finish finish)
{
    const uint64_t first = (uint64_t)range->first, end = first + (uint64_t)range->count;
    for (uint64_t node = first; node < end;) {
        struct node_masses masses = topology_masses(system->topology, node, end);
        const int64_t into = (int64_t)(node - first);
        struct finish_range part = {.first = (int64_t)node,
                                    .count = (long)(masses.end - node),
                                    .own = moved(&range->own, into),
                                    .reactions = moved(&range->reactions, into),
                                    .loaded = range->loaded,
                                    .clears = range->clears};
        const real *listed = masses.listed ? system->constants->mass + node : NULL;
        finish_masses(system, &part, listed, (real)masses.each, finish);
        node = masses.end;
    }
}
