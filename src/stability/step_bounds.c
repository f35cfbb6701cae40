// The smallest step that the blocks of any node allow (step_bounds.h), computed for many nodes at a
// time.
#include "stability/step_bounds.h"

#include "springs/exchange.h"
#include "stability/spectral_bound.h"

// The smallest step so far. If nodes have equal steps, the one with the lowest builder's number
// counts.
struct least {
    double dt[STEP_FORMS_MAX];
    uint64_t outside; // builder's number of the node of dt[0]
};

// Whether a node allows more than this h: limit m I - s h^2 K - d h C is positive definite, by its
// leading minors.
static inline int allows(const real (*k)[BOUND_NODES], const real (*c)[BOUND_NODES], size_t i,
                         real of_k, real of_c, real of_mass)
{
    const real xx = of_mass - of_k * k[0][i] - of_c * c[0][i];
    const real yy = of_mass - of_k * k[1][i] - of_c * c[1][i];
    const real zz = of_mass - of_k * k[2][i] - of_c * c[2][i];
    const real xy = of_k * k[3][i] + of_c * c[3][i];
    const real xz = of_k * k[4][i] + of_c * c[4][i];
    const real yz = of_k * k[5][i] + of_c * c[5][i];
    const real second = xx * yy - xy * xy;
    const real third = second * zz - xx * yz * yz - yy * xz * xz - 2 * xy * xz * yz;
    return (xx > 0) & (second > 0) & (third > 0);
}

// The matrix that a form uses as stiffness.
static const real (*stiffness_of(const struct step_form *form,
                                 const struct bound_blocks *blocks))[BOUND_NODES]
{
    return form->negative ? blocks->negative : blocks->stiffness;
}

static bool any_negative(const struct step_bounds *bounds)
{
    for (int f = 0; f < bounds->count; f++)
        if (bounds->forms[f].negative)
            return true;
    return false;
}

// The factors of K, of C and of the limit in the test of a step. With a negative slack the tested
// step is slightly longer than the smallest so far, so that round-off does not matter.
struct probe {
    real of_k, of_c, of_mass;
};

static struct probe probe_of(const struct step_form *form, double h)
{
    return (struct probe){(real)(form->stiffness * h * h), (real)(form->damping * h),
                          (real)form->limit};
}

// The inverse mass of a node, 1/kg, divided by the part that friction leaves of its limits, which
// is the same.
static double inverse_with_friction(const struct step_bounds *bounds, double inverse)
{
    const double rate = bounds->friction * inverse * bounds->friction_step;
    return rate > 0 ? inverse * 2 / (1 + exp(-rate)) : inverse;
}

static bool all_allow(const struct step_bounds *bounds, const struct least *least,
                      const struct bound_blocks *blocks, size_t i, real inverse)
{
    for (int f = 0; f < bounds->count; f++) {
        if (!isfinite(least->dt[f]))
            return false;
        struct probe probe = probe_of(&bounds->forms[f], least->dt[f] * (1 - bounds->slack));
        if (!allows(stiffness_of(&bounds->forms[f], blocks), blocks->damping, i,
                    probe.of_k * inverse, probe.of_c * inverse, probe.of_mass))
            return false;
    }
    return true;
}

// The same for all nodes of a block: 1 for those that all forms allow.
static void find_allowed(const struct system *system, const struct step_bounds *bounds,
                         const struct least *least, const struct bound_blocks *blocks,
                         real *restrict allowed)
{
    const real *inverse = system->constants->inverse_mass + blocks->first;
    real raised[BOUND_NODES];
    for (size_t i = 0; i < blocks->count && bounds->friction > 0; i++)
        raised[i] = (real)inverse_with_friction(bounds, (double)inverse[i]);
    if (bounds->friction > 0)
        inverse = raised;
    const real(*restrict c)[BOUND_NODES] = blocks->damping;
    for (size_t i = 0; i < blocks->count; i++)
        allowed[i] = 1;
    for (int f = 0; f < bounds->count; f++) {
        bool known = isfinite(least->dt[f]);
        const real(*restrict k)[BOUND_NODES] = stiffness_of(&bounds->forms[f], blocks);
        struct probe probe =
            probe_of(&bounds->forms[f], known ? least->dt[f] * (1 - bounds->slack) : 0);
        for (size_t i = 0; i < blocks->count; i++) {
            int fits =
                allows(k, c, i, probe.of_k * inverse[i], probe.of_c * inverse[i], probe.of_mass);
            allowed[i] = (fits & known) ? allowed[i] : 0;
        }
    }
}

static void bound_node(const struct system *system, const struct step_bounds *bounds,
                       const struct bound_blocks *blocks, size_t i, struct least *least)
{
    size_t node = blocks->first + i;
    const double inverse = // 1/kg
        inverse_with_friction(bounds, (double)system->constants->inverse_mass[node]);
    struct block k = block_at(blocks->stiffness, i), c = block_at(blocks->damping, i);
    double square = inverse * block_largest(&k), damping = inverse * block_largest(&c),
           negative_part = 0;
    if (any_negative(bounds)) {
        struct block negative = block_at(blocks->negative, i);
        negative_part = fmax(0, inverse * block_largest(&negative));
    }
    uint64_t outside = topology_builder_node(system->topology, node);
    for (int f = 0; f < bounds->count; f++) {
        const struct step_form *form = &bounds->forms[f];
        double dt = step_of_form(form, form->negative ? negative_part : square, damping);
        bool less = dt < least->dt[f];
        if (bounds->names) {
            if (dt <= least->dt[f] && outside < least->outside)
                least->outside = outside;
            continue;
        }
        if (f == 0 && (less || (dt == least->dt[f] && outside < least->outside)))
            least->outside = outside;
        if (less)
            least->dt[f] = dt;
    }
}

static void try_nodes(const struct spectral_bound *spectral_bound, const struct system *system,
                      const struct step_bounds *bounds, struct range nodes, struct least *least)
{
    const real *inverse = system->constants->inverse_mass;
    for (size_t first = nodes.first; first < nodes.end; first += BOUND_NODES) {
        struct bound_blocks blocks;
        real allowed[BOUND_NODES];
        size_t left = nodes.end - first;
        REAL_NAME(spectral_bound_blocks)
        (spectral_bound, first, left < BOUND_NODES ? left : BOUND_NODES, any_negative(bounds),
         &blocks);
        find_allowed(system, bounds, least, &blocks, allowed);
        for (size_t i = 0; i < blocks.count; i++)
            if (allowed[i] == 0 && inverse[first + i] != 0 &&
                !all_allow(bounds, least, &blocks, i,
                           (real)inverse_with_friction(bounds, (double)inverse[first + i])))
                bound_node(system, bounds, &blocks, i, least);
    }
}

struct search {
    const struct spectral_bound *spectral_bound;
    const struct step_bounds *bounds;
};

// Finds the least steps of the nodes of one chunk. Each chunk starts anew, so that the result
// depends neither on workers nor on ranks.
static void find_least(const struct system *system, const void *argument, struct range nodes,
                       double row[SUM_WIDTH])
{
    _Static_assert((int)STEP_FORMS_MAX < (int)SUM_WIDTH, "a row has the steps and a node");
    const struct search *search = argument;
    const struct step_bounds *bounds = search->bounds;
    struct least least = {.outside = UINT32_MAX};
    for (int f = 0; f < bounds->count; f++)
        least.dt[f] = bounds->dt[f];
    try_nodes(search->spectral_bound, system, bounds, nodes, &least);
    for (int f = 0; f < bounds->count; f++)
        row[f] = least.dt[f];
    row[SUM_WIDTH - 1] = (double)least.outside; // exact: node numbers have 32 bits
}

static void gather(const struct system *system, size_t chunks, struct step_bounds *bounds)
{
    uint64_t outside = UINT64_MAX;
    for (size_t chunk = 0; chunk < chunks; chunk++) {
        const double *row = system->chunk_sums[chunk];
        uint64_t node = (uint64_t)row[SUM_WIDTH - 1];
        if (row[0] < bounds->dt[0] || (row[0] == bounds->dt[0] && node < outside))
            outside = node;
        for (int f = 0; f < bounds->count; f++)
            bounds->dt[f] = fmin(bounds->dt[f], row[f]);
    }
    bool found = outside < system->state->nodes;
    bounds->node = found ? topology_internal_node(system->topology, outside) : 0;
}

void REAL_NAME(step_bounds_find)(const struct spectral_bound *spectral_bound, struct system *system,
                                 struct step_bounds *bounds, const struct worker *worker)
{
    const struct search search = {spectral_bound, bounds};
    REAL_NAME(exchange_chunk_sums)(system, find_least, &search, worker);
    gather(system, chunk_count((size_t)system->state->nodes), bounds);
    worker_barrier(worker); // all have read before the next sum writes
}
