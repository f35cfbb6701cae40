#include "stability/step_bounds.h"

// The least so far. Of equal steps the node with the lowest builder's number counts.
struct least {
    double dt[STEP_FORMS_MAX];
    uint64_t outside; // of dt[0]
};

struct block {
    double xx, yy, zz, xy, xz, yz;
};

static struct block block_at(const real (*blocks)[MAJORANT_NODES], size_t i)
{
    return (struct block){(double)blocks[0][i], (double)blocks[1][i], (double)blocks[2][i],
                          (double)blocks[3][i], (double)blocks[4][i], (double)blocks[5][i]};
}

// The mean eigenvalue, and how far they are spread around it.
static double mean_and_spread(const struct block *m, double *spread)
{
    double mean = (m->xx + m->yy + m->zz) / 3;
    double off = m->xy * m->xy + m->xz * m->xz + m->yz * m->yz;
    double dx = m->xx - mean, dy = m->yy - mean, dz = m->zz - mean;
    *spread = sqrt((dx * dx + dy * dy + dz * dz + 2 * off) / 6);
    return mean;
}

// No eigenvalue is larger: at most two spreads above the mean.
static double eigenvalue_limit(const struct block *m)
{
    double spread, mean = mean_and_spread(m, &spread);
    return mean + 2 * spread;
}

// The largest eigenvalue, in closed form (Smith 1961: trigonometric solution of the cubic).
static double largest_eigenvalue(const struct block *m)
{
    double spread, mean = mean_and_spread(m, &spread);
    if (spread == 0)
        return mean;
    double a = (m->xx - mean) / spread, b = (m->yy - mean) / spread, c = (m->zz - mean) / spread;
    double d = m->xy / spread, e = m->xz / spread, f = m->yz / spread;
    double half_determinant = (a * (b * c - f * f) - d * (d * c - f * e) + e * (d * f - b * e)) / 2;
    double cosine = fmax(-1, fmin(1, half_determinant));
    return mean + 2 * spread * cos(acos(cosine) / 3);
}

// Most nodes are done with after their limits: only those that may have the least step are looked
// at closely.
static void try_node(const struct system *system, const struct step_bounds *bounds,
                     const struct majorant *blocks, size_t i, struct least *least)
{
    size_t node = blocks->first + i;
    double inverse = (double)system->constants->inverse_mass[node]; // of the mass
    if (inverse == 0)
        return;
    struct block k = block_at(blocks->stiffness, i), c = block_at(blocks->damping, i);
    double k_most = inverse * eigenvalue_limit(&k), c_most = inverse * eigenvalue_limit(&c);
    bool any = false;
    for (int f = 0; f < bounds->count; f++)
        any |= step_of_form(&bounds->forms[f], k_most, c_most) <= least->dt[f];
    if (!any)
        return;
    double square = inverse * largest_eigenvalue(&k);
    double damping = inverse * largest_eigenvalue(&c);
    uint64_t outside = topology_node_outside(system->topology, node);
    for (int f = 0; f < bounds->count; f++) {
        double dt = step_of_form(&bounds->forms[f], square, damping);
        bool less = dt < least->dt[f];
        if (f == 0 && (less || (dt == least->dt[f] && outside < least->outside)))
            least->outside = outside;
        if (less)
            least->dt[f] = dt;
    }
}

// The same for all nodes of a run, coarsely: no eigenvalue is larger than the greatest sum over a
// row. Times the inverse mass, which is 0 of fixed nodes.
static void find_limits(const struct system *system, const struct majorant *blocks,
                        const real (*restrict m)[MAJORANT_NODES], real *restrict limits)
{
    const real *inverse = system->constants->inverse_mass + blocks->first;
    for (size_t i = 0; i < blocks->count; i++) {
        const real xy = real_abs(m[3][i]), xz = real_abs(m[4][i]), yz = real_abs(m[5][i]);
        const real x = m[0][i] + xy + xz, y = m[1][i] + xy + yz, z = m[2][i] + xz + yz;
        const real larger = x > y ? x : y;
        limits[i] = inverse[i] * (larger > z ? larger : z);
    }
}

static bool may_have_least(const struct step_bounds *bounds, const struct least *least, double k,
                           double c)
{
    const double round_off = 1 + 16 * (double)REAL_EPSILON;
    for (int f = 0; f < bounds->count; f++) {
        const struct step_form *form = &bounds->forms[f];
        double h = least->dt[f];
        if (!isfinite(h) ||
            (form->stiffness * h * k + form->damping * c) * h * round_off >= form->limit)
            return true;
    }
    return false;
}

static void try_nodes(const struct majorants *majorants, const struct system *system,
                      const struct step_bounds *bounds, struct range nodes, struct least *least)
{
    for (size_t first = nodes.first; first < nodes.end; first += MAJORANT_NODES) {
        struct majorant blocks;
        real k_limits[MAJORANT_NODES], c_limits[MAJORANT_NODES];
        size_t left = nodes.end - first;
        REAL_NAME(majorants_take)
        (majorants, first, left < MAJORANT_NODES ? left : MAJORANT_NODES, &blocks);
        find_limits(system, &blocks, blocks.stiffness, k_limits);
        find_limits(system, &blocks, blocks.damping, c_limits);
        for (size_t i = 0; i < blocks.count; i++)
            if (may_have_least(bounds, least, (double)k_limits[i], (double)c_limits[i]))
                try_node(system, bounds, &blocks, i, least);
    }
}

// Into a row of the sums' scratch, and from there: chunk after chunk, so that all find the same.
static void put(const struct least *least, int count, double row[SUM_WIDTH])
{
    for (int f = 0; f < count; f++)
        row[f] = least->dt[f];
    row[SUM_WIDTH - 1] = (double)least->outside; // exact: nodes have 32 bits
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
    bounds->node = found ? topology_node_inside(system->topology, outside) : 0;
}

void REAL_NAME(step_bounds_find)(const struct majorants *majorants, struct system *system,
                                 struct step_bounds *bounds, const struct worker *worker)
{
    _Static_assert((int)STEP_FORMS_MAX < (int)SUM_WIDTH, "a row has the steps and a node");
    size_t nodes = (size_t)system->state->nodes, chunks = chunk_count(nodes);
    struct least least = {.outside = UINT32_MAX};
    for (int f = 0; f < bounds->count; f++)
        least.dt[f] = bounds->dt[f];
    struct range share = worker_share(worker, chunks, 1);
    for (size_t chunk = share.first; chunk < share.end; chunk++) {
        try_nodes(majorants, system, bounds, chunk_range(chunk, nodes), &least);
        put(&least, bounds->count, system->chunk_sums[chunk]);
    }
    worker_barrier(worker);
    gather(system, chunks, bounds);
    worker_barrier(worker); // all have read before the next sum writes
}
