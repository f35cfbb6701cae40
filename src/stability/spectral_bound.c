// The upper bound on the spectral radius, from three parts: listed springs, with the weights of
// their nodes and with cliques; springs in rows; and their sum at each node, with what faces add
// (face_bound.h). The search for the smallest step is left to step_bounds.c.
#include "stability/spectral_bound.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/sort.h"
#include "contact/contact.h"
#include "contact/friction.h"
#include "contact/surface_contact.h"
#include "elements/elements.h"
#include "forces/forces.h"
#include "integrate/integrate.h"
#include "ranks/ranks.h"
#include "springs/exchange.h"
#include "springs/springs.h"
#include "springs/tangent.h"
#include "stability/face_bound.h"
#include "state/reading.h"

// ---- Cliques
//
// Cliques: bodies in which nearly every node is joined to every other one. Their fastest
// oscillations are half as stiff as the blocks of spectral_bound.h indicate (these are tight for
// chains and lattices, whose neighbours oscillate against each other, which not all nodes of a
// clique can do).
//
// For a body with n free nodes, a positive term c (sum x_i)^2 is added to K for some c. This
// couples a pair of nodes by 2 c p.q, which cancels that much of its spring's -2 k (u.p)(u.q). With
// k = k' + c, and across the spring likewise (or all of it, if it has less than c), the remainder
// of a pair is that of a spring of k', plus 2 p.(c (I - u u'))q + c (u.p)^2 + c (u.q)^2 <= c p^2 +
// c q^2; for a pair without a spring it is 2 c p.q <= c p^2 + c q^2. All springs therefore become
// softer by c, and every node gets n c. The same holds for C. Pairs with two springs would subtract
// c twice: bodies with such pairs do not count as cliques.

struct clique {
    struct range nodes;
    real stiffness, damping; // c, for K and for C
};

struct cliques {
    bool used; // false: their springs use the weights
    size_t count;
    struct clique *list;
};

// The clique of a node, used or not; NULL if it is in none.
static struct clique *find_clique(const struct cliques *cliques, size_t node)
{
    size_t low = 0, high = cliques->count;
    while (low < high) { // sorted by their nodes
        size_t middle = low + (high - low) / 2;
        if (node >= cliques->list[middle].nodes.end)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < cliques->count && node >= cliques->list[low].nodes.first)
        return &cliques->list[low];
    return NULL;
}

// NULL also if cliques are not used.
static const struct clique *clique_of(const struct cliques *cliques, size_t node)
{
    return cliques->used ? find_clique(cliques, node) : NULL;
}

// Whether a body may be a clique. With fewer springs there is no gain.
static bool may_be_clique(const struct system *system, size_t index)
{
    const struct topology_body *body = &system->topology->bodies[index];
    double nodes = (double)body->node_count, springs = (double)body->spring_count;
    return nodes > 3 && joins_most_pairs(nodes, springs);
}

static struct clique begin(const struct topology_body *body)
{
    size_t first = (size_t)body->first_node, end = first + (size_t)body->node_count;
    return (struct clique){.nodes = {first, end}, .stiffness = REAL_HUGE, .damping = REAL_HUGE};
}

// The constants of a clique are the least of its springs.
static void include_spring(const struct system *system, size_t spring, struct clique *clique)
{
    const struct spring_constants *material = spring_material(system, spring);
    clique->stiffness =
        material->stiffness < clique->stiffness ? material->stiffness : clique->stiffness;
    clique->damping = material->damping < clique->damping ? material->damping : clique->damping;
}

// Marks the pair of a spring's ends; false if another spring joins the same pair.
static bool mark_pair(const struct system *system, size_t spring, struct clique *clique,
                      uint8_t *pairs)
{
    const uint32_t *ends = system->constants->spring_nodes[spring];
    size_t first = clique->nodes.first, count = clique->nodes.end - first;
    size_t low = (ends[0] < ends[1] ? ends[0] : ends[1]) - first;
    size_t high = (ends[0] < ends[1] ? ends[1] : ends[0]) - first;
    uint8_t *pair = &pairs[low * count + high];
    bool alone = !*pair;
    *pair = 1;
    include_spring(system, spring, clique);
    return alone;
}

// A body that may be a clique, during the pass over the springs.
struct candidate {
    struct clique clique;
    uint64_t springs, wanted; // found so far; of the body, some of which may be in rows
    size_t first_pair;        // in the marks of all candidates
    bool single;              // no pair has two springs
};

// The candidate to which a spring belongs, or NULL. Candidates are sorted by their nodes.
static struct candidate *candidate_of(struct candidate *candidates, size_t count, size_t node)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (node >= candidates[middle].clique.nodes.end)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && node >= candidates[low].clique.nodes.first ? &candidates[low] : NULL;
}

// Visits all springs that are listed once, however many candidates there are: those of cliques are
// on every rank.
static void try_springs(const struct system *system, struct candidate *candidates, size_t count,
                        uint8_t *pairs)
{
    struct plan_nodes run = {0, 0};
    while (plan_next_listed(system->topology, system->plan, &run))
        for (size_t i = (size_t)run.first; i < (size_t)(run.first + run.count); i++) {
            size_t end = system->constants->spring_nodes[i][0];
            struct candidate *candidate = candidate_of(candidates, count, end);
            if (!candidate || !candidate->single)
                continue;
            candidate->single =
                mark_pair(system, i, &candidate->clique, pairs + candidate->first_pair);
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
        if (!may_be_clique(system, b))
            continue;
        candidates[count++] = (struct candidate){.clique = begin(body),
                                                 .wanted = body->spring_count,
                                                 .first_pair = *pair_count,
                                                 .single = true};
        *pair_count += (size_t)body->node_count * (size_t)body->node_count;
    }
    return count;
}

static taut_status find_cliques(const struct system *system, struct cliques *cliques,
                                taut_error *error)
{
    size_t bodies = system->topology->body_count, pair_count = 0;
    *cliques = (struct cliques){.used = false};
    cliques->list = memory_allocate(system->allocator, bodies, sizeof *cliques->list);
    struct candidate *candidates = memory_allocate(system->allocator, bodies, sizeof *candidates);
    size_t count = candidates ? list_candidates(system, candidates, &pair_count) : 0;
    uint8_t *pairs = memory_allocate(system->allocator, pair_count, 1);
    bool done = cliques->list && candidates && pairs;
    if (done && count > 0)
        try_springs(system, candidates, count, pairs);
    for (size_t i = 0; done && i < count; i++)
        if (candidates[i].single && candidates[i].springs == candidates[i].wanted)
            cliques->list[cliques->count++] = candidates[i].clique;
    memory_release(system->allocator, pairs, pair_count, 1);
    memory_release(system->allocator, candidates, bodies, sizeof *candidates);
    return done ? TAUT_OK : fail_memory(error, "the critical step");
}

// Called after constants have changed.
static void refresh_cliques(const struct system *system, struct cliques *cliques)
{
    for (size_t i = 0; i < cliques->count; i++)
        cliques->list[i].stiffness = cliques->list[i].damping = REAL_HUGE;
    struct plan_nodes run = {0, 0};
    while (cliques->count > 0 && plan_next_listed(system->topology, system->plan, &run))
        for (size_t i = (size_t)run.first; i < (size_t)(run.first + run.count); i++) {
            struct clique *clique = find_clique(cliques, system->constants->spring_nodes[i][0]);
            if (clique)
                include_spring(system, i, clique);
        }
}

static void free_cliques(const struct system *system, struct cliques *cliques)
{
    memory_release(system->allocator, cliques->list, system->topology->body_count,
                   sizeof *cliques->list);
}

// ---- Listed springs

enum { LISTED_WIDTH = 3 * BLOCK_WIDTH };

// The nodes of bodies on no grid that follow each other, and their springs, by their indices in the
// constants. A body that is divided among ranks has some nodes and all springs here.
struct listed_run {
    struct range nodes, springs;
};

struct listed_bound {
    struct system *system;
    struct range nodes; // from the first to the last; arrays have memory for those of the runs only
    // The runs of this rank (exchange_bounds_nodes), or all; capacity: the number of bodies.
    struct listed_run *runs;
    size_t run_count;
    real *blocks;                 // for each node a block of K, one of C and one of -K
    real *weights, *next_weights; // 0: 1
    struct cliques cliques;
};

static size_t node_count(const struct listed_bound *listed)
{
    return listed->nodes.end - listed->nodes.first;
}

// Called by one worker at an update. Each rank that holds only its part has some of the bodies, or
// some of their nodes.
static void find_runs(struct listed_bound *listed)
{
    const struct system *system = listed->system;
    const struct topology *topology = system->topology;
    const bool parts = REAL_NAME(exchange_has_part)(system);
    size_t spring = 0;
    listed->run_count = 0;
    for (size_t b = 0; b < topology->body_count; b++) {
        const struct topology_body *body = &topology->bodies[b];
        const size_t first = (size_t)body->first_node, end = first + (size_t)body->node_count;
        if (plan_grid_of_body(system->plan, b))
            continue;
        const struct range springs = {spring, spring + (size_t)body->spring_count};
        const struct range nodes =
            parts ? REAL_NAME(exchange_bounds_nodes)(system, b) : (struct range){first, end};
        spring = springs.end;
        if (parts && nodes.first == nodes.end)
            continue;
        struct listed_run *last =
            listed->run_count > 0 ? &listed->runs[listed->run_count - 1] : NULL;
        if (last && last->nodes.end == nodes.first && last->springs.end == springs.first) {
            last->nodes.end = nodes.end;
            last->springs.end = springs.end;
        } else {
            listed->runs[listed->run_count++] = (struct listed_run){nodes, springs};
        }
    }
}

static void reset_weights(struct listed_bound *listed)
{
    find_runs(listed);
    for (size_t r = 0; r < listed->run_count; r++) {
        const struct range nodes = listed->runs[r].nodes;
        memset(listed->weights + (nodes.first - listed->nodes.first), 0,
               (nodes.end - nodes.first) * sizeof *listed->weights);
    }
}

static void free_listed(struct listed_bound *listed)
{
    if (!listed)
        return;
    const taut_allocator *allocator = listed->system->allocator;
    size_t count = node_count(listed);
    memory_release(allocator, listed->blocks, LISTED_WIDTH * count, sizeof *listed->blocks);
    memory_release(allocator, listed->weights, count, sizeof *listed->weights);
    memory_release(allocator, listed->next_weights, count, sizeof *listed->next_weights);
    memory_release(allocator, listed->runs, listed->system->topology->body_count,
                   sizeof *listed->runs);
    free_cliques(listed->system, &listed->cliques);
    memory_release(allocator, listed, 1, sizeof *listed);
}

static taut_status make_listed(struct system *system, struct listed_bound **result,
                               taut_error *error)
{
    *result = NULL;
    const taut_allocator *allocator = system->allocator;
    struct listed_bound *listed = memory_allocate(allocator, 1, sizeof *listed);
    if (!listed)
        return fail_memory(error, "the critical step");
    listed->system = system;
    listed->nodes = REAL_NAME(springs_outside_rows)(system);
    size_t count = node_count(listed);
    listed->blocks = memory_allocate(allocator, LISTED_WIDTH * count, sizeof *listed->blocks);
    listed->weights = memory_allocate(allocator, count, sizeof *listed->weights);
    listed->next_weights = memory_allocate(allocator, count, sizeof *listed->next_weights);
    listed->runs = memory_allocate(allocator, system->topology->body_count, sizeof *listed->runs);
    if (!listed->blocks || !listed->weights || !listed->next_weights || !listed->runs) {
        free_listed(listed);
        return fail_memory(error, "the critical step");
    }
    taut_status status = find_cliques(system, &listed->cliques, error);
    if (status != TAUT_OK) {
        free_listed(listed);
        return status;
    }
    *result = listed;
    return TAUT_OK;
}

static uint64_t listed_bytes(const struct listed_bound *listed)
{
    return sizeof *listed + (LISTED_WIDTH + 2) * node_count(listed) * sizeof(real);
}

// ---- Weights

static struct bound_weights weights_of(const struct listed_bound *listed)
{
    return (struct bound_weights){listed->nodes, listed->weights};
}

static real weight_of(const struct listed_bound *listed, size_t node)
{
    const struct bound_weights weights = weights_of(listed);
    return bound_weight(&weights, node);
}

// Sets the next weight of a node to `factor` times its present one. A swap, by one worker, makes
// the next weights the present ones; another swap restores the previous ones.
static void scale_weight(struct listed_bound *listed, size_t node, double factor)
{
    listed->next_weights[node - listed->nodes.first] = weight_of(listed, node) * (real)factor;
}

static void swap_weights(struct listed_bound *listed)
{
    real *present = listed->weights;
    listed->weights = listed->next_weights;
    listed->next_weights = present;
}

// ---- Springs

static real *block_of(const struct listed_bound *listed, size_t node)
{
    return listed->blocks + LISTED_WIDTH * (node - listed->nodes.first);
}

// The direction of a spring, its stiffness and damping along it and across, and how far its
// stiffness across is below 0.
struct spring_sides {
    real u[3], k, k_across, c, c_across, negative_part;
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
    sides.negative_part =
        directed && stretch < 0 && material->law != LAW_TENSION_ONLY ? -stretch * k : 0;
    return sides;
}

static real less(real value, real by)
{
    return value > by ? value - by : 0;
}

static void soften(struct spring_sides *sides, const struct clique *clique)
{
    sides->k = less(sides->k, clique->stiffness);
    sides->k_across = less(sides->k_across, clique->stiffness);
    sides->c = less(sides->c, clique->damping);
    sides->c_across = less(sides->c_across, clique->damping);
}

// Adds a spring at those of its ends that are among `nodes`.
static void add_spring(const struct listed_bound *listed, size_t spring, struct range nodes)
{
    const struct system *system = listed->system;
    const uint32_t *ends = system->constants->spring_nodes[spring];
    const bool has[2] = {range_has(nodes, ends[0]), range_has(nodes, ends[1])};
    if (!has[0] && !has[1])
        return;
    const real *is_free = system->constants->inverse_mass;
    const struct bound_weights weights = weights_of(listed);
    const struct clique *clique = clique_of(&listed->cliques, ends[0]);
    struct spring_sides it = sides_of(system, spring, ends[0], ends[1]);
    if (clique && is_free[ends[0]] != 0 && is_free[ends[1]] != 0)
        soften(&it, clique);
    for (int end = 0; end < 2; end++) {
        const uint32_t node = ends[end], other = ends[1 - end];
        if (!has[end])
            continue;
        const real factor = is_free[other] != 0 ? bound_share(&weights, node, other) : 1;
        real *block = block_of(listed, node);
        block_add(block, it.u[0], it.u[1], it.u[2], factor * it.k, factor * it.k_across);
        if (it.c > 0)
            block_add(block + BLOCK_WIDTH, it.u[0], it.u[1], it.u[2], factor * it.c,
                      factor * it.c_across);
        if (it.negative_part > 0)
            block_add(block + 2 * BLOCK_WIDTH, it.u[0], it.u[1], it.u[2], 0,
                      factor * it.negative_part);
    }
}

// Adds a clique to its nodes among `nodes`.
static void add_clique(const struct listed_bound *listed, const struct clique *clique,
                       struct range nodes)
{
    uint64_t free = 0; // nodes
    for (size_t node = clique->nodes.first; node < clique->nodes.end; node++)
        free += listed->system->constants->inverse_mass[node] != 0;
    const size_t end = (size_t)min_u64(clique->nodes.end, nodes.end);
    for (size_t node = (size_t)max_u64(clique->nodes.first, nodes.first); node < end; node++)
        for (int element = 0; element < 3; element++) {
            real *block = block_of(listed, node);
            block[element] += (real)free * clique->stiffness;
            block[BLOCK_WIDTH + element] += (real)free * clique->damping;
        }
}

// The first run that ends after a node.
static size_t run_from(const struct listed_bound *listed, size_t node)
{
    size_t low = 0, high = listed->run_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (node >= listed->runs[middle].nodes.end)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// Updates to the present state, by one worker.
static void update_listed(struct listed_bound *listed)
{
    const struct system *system = listed->system;
    find_runs(listed);
    for (size_t r = 0; r < listed->run_count; r++) {
        const struct range nodes = listed->runs[r].nodes;
        memset(block_of(listed, nodes.first), 0,
               LISTED_WIDTH * (nodes.end - nodes.first) * sizeof *listed->blocks);
    }
    // All springs may be in any order; where there are only some of the nodes they have that of
    // their bodies.
    const bool parts = REAL_NAME(exchange_has_part)(system);
    for (size_t r = 0; r < listed->run_count; r++) {
        const struct range nodes = parts ? listed->runs[r].nodes : listed->nodes;
        for (size_t i = listed->runs[r].springs.first; i < listed->runs[r].springs.end; i++)
            if (!spring_is_broken(system, i))
                add_spring(listed, i, nodes);
    }
    for (size_t i = 0; listed->cliques.used && i < listed->cliques.count; i++) {
        const struct clique *clique = &listed->cliques.list[i];
        const size_t r = run_from(listed, clique->nodes.first);
        if (r < listed->run_count && listed->runs[r].nodes.first < clique->nodes.end)
            add_clique(listed, clique, listed->runs[r].nodes);
    }
}

static void add_listed(const struct listed_bound *listed, bool negative,
                       struct bound_blocks *blocks)
{
    const size_t end = blocks->first + blocks->count;
    for (size_t node = blocks->first, r = run_from(listed, node); node < end; node++) {
        if (r < listed->run_count && node >= listed->runs[r].nodes.end)
            r++;
        if (r == listed->run_count || listed->runs[r].nodes.first >= end)
            break;
        node = (size_t)max_u64(node, listed->runs[r].nodes.first);
        const real *block = block_of(listed, node);
        for (int element = 0; element < BLOCK_WIDTH; element++) {
            blocks->stiffness[element][node - blocks->first] += block[element];
            blocks->damping[element][node - blocks->first] += block[BLOCK_WIDTH + element];
        }
        for (int element = 0; negative && element < BLOCK_WIDTH; element++)
            blocks->negative[element][node - blocks->first] += block[2 * BLOCK_WIDTH + element];
    }
}

// ---- The bound

struct spectral_bound {
    struct system *system;
    struct listed_bound *listed; // springs in no rows
    struct face_bound *faces;    // NULL: nothing acts through faces
    real around_stiffness[BLOCK_WIDTH], around_damping[BLOCK_WIDTH]; // drag, colliders
};

// ---- Springs in rows: contiguous nodes, contiguous partners

// For each spring its direction, how often it counts, and the fraction of its stiffness across it.
struct parts {
    real nx[BOUND_NODES], ny[BOUND_NODES], nz[BOUND_NODES];
    real weight[BOUND_NODES], across[BOUND_NODES], undirected[BOUND_NODES];
};

// On the boundary of a weighted grid (scene/direction.h) the masses fall faster than the constants
// of the springs inwards, and the nodes at corners would set the bound. A spring contributes at
// most (1 + t) k n n' at one end and (1 + 1/t) k n n' at the other, for every t > 0; t < 1 at the
// end that lies on more sides. With 0.72 for each side the largest eigenvalue of a block, of which
// t = 1 makes 20 k/m, is 15.6 k/m for lattices of 2 and 5 cells of thickness and 18.4 k/m for one
// cell; with 0.8 and 0.65 it is 16.7 and 15.3 to 17.7 k/m for the former.
static real end_weight(const struct spring_row *springs)
{
    static const real per_side = (real)0.72;
    real t = 1;
    for (int side = 0; side < springs->outward; side++)
        t *= per_side;
    for (int side = springs->outward; side < 0; side++)
        t /= per_side;
    return 1 + t;
}

// A spring without a direction (zero length, or a diverged run) counts in all directions. Compilers
// vectorise plain loops, so rare cases have loops of their own.
static void find_parts(const struct system *system, const struct spring_row *springs,
                       struct parts *restrict parts)
{
    const struct state *s = system->state;
    const size_t first = springs->first, count = springs->count;
    const int64_t apart = springs->apart;
    const real *x = s->x + first, *y = s->y + first, *z = s->z + first;
    const real *ox = x + apart, *oy = y + apart, *oz = z + apart;
    const real *other_free = system->constants->inverse_mass + (int64_t)first + apart;
    const real rest = springs->built, both = end_weight(springs);
    for (size_t i = 0; i < count; i++) {
        const real dx = x[i] - ox[i], dy = y[i] - oy[i], dz = z[i] - oz[i];
        const real length = real_sqrt(dx * dx + dy * dy + dz * dz);
        const real inverse = 1 / length;
        const real stretch = 1 - rest * inverse, across = stretch > 0 ? stretch : 0;
        const real ux = dx * inverse, uy = dy * inverse, uz = dz * inverse;
        const int directed = (length > 0) & (length <= REAL_HUGE);
        parts->nx[i] = directed ? ux : 0;
        parts->ny[i] = directed ? uy : 0;
        parts->nz[i] = directed ? uz : 0;
        parts->undirected[i] = directed ? 0 : (real)1;
        parts->across[i] = directed ? across : 1;
        parts->weight[i] = other_free[i] != 0 ? both : (real)1;
    }
    for (size_t i = 0; springs->rest_length && i < count; i++) {
        const real dx = x[i] - ox[i], dy = y[i] - oy[i], dz = z[i] - oz[i];
        const real length = real_sqrt(dx * dx + dy * dy + dz * dz);
        if (parts->undirected[i] == 0)
            parts->across[i] =
                length > springs->rest_length[i] ? 1 - springs->rest_length[i] / length : 0;
    }
    for (size_t i = 0; springs->broken && i < count; i++)
        if (springs->broken[i])
            parts->weight[i] = 0;
}

// blocks += weight k (n n' + across (I - n n'))
static void add_blocks(const struct parts *restrict parts, const real *restrict across, real k,
                       size_t count, real (*restrict blocks)[BOUND_NODES], size_t at)
{
    for (size_t i = 0; i < count; i++) {
        const real all = parts->weight[i] * k, around = all * across[i], more = all - around;
        const real nx = parts->nx[i], ny = parts->ny[i], nz = parts->nz[i];
        blocks[0][at + i] += around + more * nx * nx;
        blocks[1][at + i] += around + more * ny * ny;
        blocks[2][at + i] += around + more * nz * nz;
        blocks[3][at + i] += more * nx * ny;
        blocks[4][at + i] += more * nx * nz;
        blocks[5][at + i] += more * ny * nz;
    }
}

// The contribution of compressed springs to -K: weight k (L0/L - 1) (I - n n').
static void add_negative(const struct system *system, const struct spring_row *springs,
                         const struct parts *restrict parts, real (*restrict blocks)[BOUND_NODES],
                         size_t at)
{
    const struct state *s = system->state;
    const size_t first = springs->first, count = springs->count;
    const int64_t apart = springs->apart;
    const real *x = s->x + first, *y = s->y + first, *z = s->z + first;
    const real *ox = x + apart, *oy = y + apart, *oz = z + apart;
    for (size_t i = 0; i < count; i++) {
        const real dx = x[i] - ox[i], dy = y[i] - oy[i], dz = z[i] - oz[i];
        const real length = real_sqrt(dx * dx + dy * dy + dz * dz);
        const real rest = springs->rest_length ? springs->rest_length[i] : springs->built;
        const bool pressed = parts->undirected[i] == 0 && length < rest;
        const real negative_part = pressed ? rest / length - 1 : 0;
        const real around = parts->weight[i] * springs->material->stiffness * negative_part;
        const real nx = parts->nx[i], ny = parts->ny[i], nz = parts->nz[i];
        blocks[0][at + i] += around - around * nx * nx;
        blocks[1][at + i] += around - around * ny * ny;
        blocks[2][at + i] += around - around * nz * nz;
        blocks[3][at + i] -= around * nx * ny;
        blocks[4][at + i] -= around * nx * nz;
        blocks[5][at + i] -= around * ny * nz;
    }
}

// The destination of the springs in rows.
struct row_target {
    const struct system *system;
    struct bound_blocks *blocks;
    bool negative; // whether -K is requested
};

static void add_row(void *context, const struct spring_row *row)
{
    const struct row_target *target = context;
    struct bound_blocks *blocks = target->blocks;
    const size_t at = row->first - blocks->first, count = row->count;
    const struct spring_constants *material = row->material;
    struct parts parts;
    find_parts(target->system, row, &parts);
    add_blocks(&parts, parts.across, material->stiffness, count, blocks->stiffness, at);
    if (target->negative && material->law != LAW_TENSION_ONLY)
        add_negative(target->system, row, &parts, blocks->negative, at);
    if (material->damping == 0)
        return;
    for (size_t i = 0; material->damping_law == DAMPING_FULL && i < count; i++)
        parts.undirected[i] = 1;
    add_blocks(&parts, parts.undirected, material->damping, count, blocks->damping, at);
}

// ---- Elements

static void add_element(void *context, const struct element_bound *element)
{
    const struct row_target *target = context;
    struct bound_blocks *blocks = target->blocks;
    const size_t at = element->node - blocks->first;
    for (int e = 0; e < BLOCK_WIDTH; e++) {
        blocks->stiffness[e][at] += (real)element->stiffness[e];
        blocks->damping[e][at] += (real)element->damping[e];
        if (target->negative)
            blocks->negative[e][at] += (real)element->negative[e];
    }
}

// ---- Contributions to every node

static void add_around(real block[BLOCK_WIDTH], vec3 n, double along, double across)
{
    double more = along - across;
    block[0] += (real)(across + more * n.x * n.x);
    block[1] += (real)(across + more * n.y * n.y);
    block[2] += (real)(across + more * n.z * n.z);
    block[3] += (real)(more * n.x * n.y);
    block[4] += (real)(more * n.x * n.z);
    block[5] += (real)(more * n.y * n.z);
}

// A sphere and a room may exert a force along any direction, and three walls of a room at once in
// its corner.
static void find_around(struct spectral_bound *bound)
{
    const struct topology *topology = bound->system->topology;
    const vec3 any = {0, 0, 0};
    double drag = topology->environment.air_drag;
    memset(bound->around_stiffness, 0, sizeof bound->around_stiffness);
    memset(bound->around_damping, 0, sizeof bound->around_damping);
    add_around(bound->around_damping, any, drag, drag);
    for (size_t c = 0; c < topology->collider_count; c++) {
        const struct scene_collider *it = &topology->colliders[c];
        if (it->response != RESPONSE_PENALTY)
            continue;
        bool plane = it->type == COLLIDER_PLANE;
        const double holds = it->coulomb.present ? friction_stiffness(it) : 0;
        const double stiffness =
            it->type == COLLIDER_ROOM ? it->stiffness + 2 * holds : fmax(it->stiffness, holds);
        double most = it->type == COLLIDER_ROOM ? it->absorption + 2 * it->friction
                                                : fmax(it->absorption, it->friction);
        add_around(bound->around_stiffness, plane ? it->normal : any,
                   plane ? it->stiffness : stiffness, plane ? holds : stiffness);
        add_around(bound->around_damping, plane ? it->normal : any, plane ? it->absorption : most,
                   plane ? it->friction : most);
    }
}

// Adds the dampers of Coulomb friction, which depend on the mass of the node.
static void add_friction_damping(const struct system *system, struct bound_blocks *blocks)
{
    const struct topology *topology = system->topology;
    for (size_t c = 0; c < topology->collider_count; c++) {
        const struct scene_collider *it = &topology->colliders[c];
        if (!it->coulomb.present)
            continue;
        const vec3 any = {0, 0, 0};
        const bool plane = it->type == COLLIDER_PLANE;
        for (size_t i = 0; i < blocks->count; i++) {
            const double each = friction_damping(system, it, blocks->first + i);
            const double all = it->type == COLLIDER_ROOM ? 2 * each : each;
            real block[BLOCK_WIDTH] = {0};
            add_around(block, plane ? it->normal : any, plane ? 0 : all, all);
            for (int element = 0; element < BLOCK_WIDTH; element++)
                blocks->damping[element][i] += block[element];
        }
    }
}

// Adds the curvature of the spheres that exert a force on a node now.
static void add_spheres(const struct system *system, struct bound_blocks *blocks)
{
    const struct topology *topology = system->topology;
    const double time = REAL_NAME(evaluation_now)(system).time;
    for (size_t c = 0; c < topology->collider_count; c++) {
        const struct scene_collider *it = &topology->colliders[c];
        if (it->response != RESPONSE_PENALTY || it->type != COLLIDER_SPHERE)
            continue;
        for (size_t i = 0; i < blocks->count; i++) {
            struct contact contacts[6];
            if (REAL_NAME(collider_contacts)(system, c, time,
                                             node_position(system->state, blocks->first + i),
                                             contacts) == 0)
                continue;
            double from_centre = system->state->collider_radius[c] - contacts[0].depth;
            double across = from_centre > 0 ? it->stiffness * contacts[0].depth / from_centre : 0;
            for (int element = 0; element < 3; element++)
                blocks->negative[element][i] += (real)across;
        }
    }
}

// ---- The sum

taut_status REAL_NAME(spectral_bound_make)(struct system *system, struct spectral_bound **result,
                                           taut_error *error)
{
    *result = NULL;
    struct spectral_bound *bound = memory_allocate(system->allocator, 1, sizeof *bound);
    if (!bound)
        return fail_memory(error, "the critical step");
    bound->system = system;
    taut_status status = make_listed(system, &bound->listed, error);
    if (status == TAUT_OK)
        status = REAL_NAME(face_bound_make)(system, &bound->faces, error);
    if (status != TAUT_OK) {
        REAL_NAME(spectral_bound_free)(bound);
        return status;
    }
    find_around(bound);
    *result = bound;
    return TAUT_OK;
}

void REAL_NAME(spectral_bound_refresh)(struct spectral_bound *bound)
{
    find_around(bound);
    refresh_cliques(bound->listed->system, &bound->listed->cliques);
}

void REAL_NAME(spectral_bound_free)(struct spectral_bound *bound)
{
    if (!bound)
        return;
    const taut_allocator *allocator = bound->system->allocator;
    REAL_NAME(face_bound_free)(bound->faces);
    free_listed(bound->listed);
    memory_release(allocator, bound, 1, sizeof *bound);
}

uint64_t REAL_NAME(spectral_bound_bytes)(const struct spectral_bound *bound)
{
    return sizeof *bound + listed_bytes(bound->listed) + REAL_NAME(face_bound_bytes)(bound->faces);
}

void REAL_NAME(spectral_bound_reach)(struct spectral_bound *bound, const struct worker *worker)
{
    if (REAL_NAME(exchange_has_part)(bound->system))
        REAL_NAME(exchange_reach)
    (bound->system, bound->listed->weights, bound->listed->nodes, worker);
}

void REAL_NAME(spectral_bound_update)(struct spectral_bound *bound, const struct worker *worker)
{
    worker_barrier(worker); // all have finished with the last update
    REAL_NAME(spectral_bound_reach)(bound, worker);
    if (worker->index == 0) {
        update_listed(bound->listed);
        if (bound->faces)
            REAL_NAME(face_bound_update)(bound->faces, weights_of(bound->listed));
    }
    worker_barrier(worker);
}

// 1/s, the trace of all dampers of Coulomb friction over the mass of a node.
static double friction_rate(const struct system *system, double mass)
{
    double sum = 0;
    for (size_t c = 0; c < system->topology->collider_count; c++) {
        const struct scene_collider *it = &system->topology->colliders[c];
        if (it->coulomb.present)
            sum += (it->type == COLLIDER_ROOM ? 6 : 3) * 2 * FRICTION_DAMPING *
                   sqrt(friction_stiffness(it) / mass);
    }
    return sum;
}

// The trace of each block, which bounds its eigenvalues.
bool REAL_NAME(spectral_bound_rough)(const struct spectral_bound *bound, double *stiffness,
                                     double *damping)
{
    const struct system *system = bound->system;
    *stiffness = *damping = 0;
    struct range listed = bound->listed->nodes;
    if (listed.end > listed.first || bound->faces || system->elements || system->surface_contact)
        return false;
    double k_around = 0, c_around = 0;
    for (int element = 0; element < 3; element++) { // the trace: blocks are nowhere negative
        k_around += (double)bound->around_stiffness[element];
        c_around += (double)bound->around_damping[element];
    }
    for (size_t b = 0; b < system->topology->body_count; b++) {
        const struct topology_body *body = &system->topology->bodies[b];
        if (body->node_mass == 0) // masses are listed, and any of them may be the smallest
            return false;
        double k = k_around, c = c_around;
        const struct spring_constants *material;
        for (int kind = 0; (material = REAL_NAME(springs_row_material)(system, b, kind)); kind++) {
            k += 4 * (double)material->stiffness; // two springs, each twice
            c += 4 * (double)material->damping;
        }
        *stiffness = fmax(*stiffness, k / body->node_mass);
        *damping = fmax(*damping, c / body->node_mass + 3 * body->mass_drag +
                                      friction_rate(system, body->node_mass));
    }
    return true;
}

// Adds the drag of bodies in proportion to their masses.
static void add_mass_drag(const struct system *system, struct bound_blocks *blocks)
{
    const size_t end = blocks->first + blocks->count;
    for (size_t node = blocks->first; node < end;) {
        const struct node_masses masses = topology_masses(system->topology, node, end);
        for (; node < masses.end && masses.mass_drag > 0; node++)
            for (int element = 0; element < 3; element++)
                blocks->damping[element][node - blocks->first] += (real)drag_in(&masses, 0, node);
        node = (size_t)masses.end;
    }
}

// Adds the contact of surfaces, along any direction.
static void add_surface_contact(const struct system *system, struct bound_blocks *blocks)
{
    const struct topology *topology = system->topology;
    for (size_t b = 0; b < topology->body_count; b++) {
        const struct topology_body *body = &topology->bodies[b];
        const double stiffness = REAL_NAME(surface_contact_bound)(system, b),
                     damping = REAL_NAME(surface_contact_damping)(system, b);
        const size_t begin = (size_t)body->first_node, end = begin + (size_t)body->node_count;
        for (size_t i = 0; i < blocks->count; i++)
            if (blocks->first + i >= begin && blocks->first + i < end) {
                const struct node_load more =
                    REAL_NAME(surface_load_excess)(system, blocks->first + i);
                for (int element = 0; element < 3; element++) {
                    blocks->stiffness[element][i] += (real)(stiffness + more.stiffness);
                    blocks->damping[element][i] += (real)(damping + more.damping);
                }
            }
    }
}

void REAL_NAME(spectral_bound_blocks)(const struct spectral_bound *bound, size_t first,
                                      size_t count, bool negative, struct bound_blocks *blocks)
{
    const struct system *system = bound->system;
    blocks->first = first;
    blocks->count = count;
    for (int element = 0; element < BLOCK_WIDTH; element++)
        for (size_t i = 0; i < count; i++) {
            blocks->stiffness[element][i] = bound->around_stiffness[element];
            blocks->damping[element][i] = bound->around_damping[element];
        }
    if (system->topology->any_mass_drag)
        add_mass_drag(system, blocks);
    if (system->surface_contact)
        add_surface_contact(system, blocks);
    add_friction_damping(system, blocks);
    for (int element = 0; negative && element < BLOCK_WIDTH; element++)
        memset(blocks->negative[element], 0, count * sizeof(real));
    struct row_target target = {system, blocks, negative};
    REAL_NAME(springs_visit_rows)(system, (struct range){first, first + count}, add_row, &target);
    if (system->elements) {
        struct row_target elements = {system, blocks, negative};
        REAL_NAME(elements_visit_bounds)
        (system, (struct range){first, first + count}, add_element, &elements);
    }
    add_listed(bound->listed, negative, blocks);
    if (bound->faces)
        REAL_NAME(face_bound_add)(bound->faces, negative, blocks);
    if (negative)
        add_spheres(system, blocks);
}

// ---- Weights

// The step that a node alone allows, from its blocks of K and C and its mass.
static double own_step(const struct spectral_bound *bound, const struct bound_blocks *blocks,
                       size_t i, const struct step_form *form)
{
    double inverse = (double)bound->system->constants->inverse_mass[blocks->first + i];
    struct block k = block_at(blocks->stiffness, i), c = block_at(blocks->damping, i);
    return step_of_form(form, inverse * block_largest(&k), inverse * block_largest(&c));
}

void REAL_NAME(spectral_bound_reweight)(struct spectral_bound *bound, const struct step_form *form,
                                        double least, const struct worker *worker)
{
    const double floor = 1e-3;
    struct bound_blocks blocks;
    for (size_t r = 0; r < bound->listed->run_count; r++) {
        const struct range all = bound->listed->runs[r].nodes;
        const struct range share = worker_share(worker, all.end - all.first, 1);
        for (size_t first = all.first + share.first; first < all.first + share.end;) {
            size_t left = all.first + share.end - first;
            size_t count = left < BOUND_NODES ? left : BOUND_NODES;
            REAL_NAME(spectral_bound_blocks)(bound, first, count, false, &blocks);
            for (size_t i = 0; i < count; i++) {
                double own = own_step(bound, &blocks, i, form);
                scale_weight(bound->listed, first + i, fmax(floor, least / own));
            }
            first += count;
        }
    }
    worker_barrier(worker);
    if (worker->index == 0)
        swap_weights(bound->listed);
    REAL_NAME(spectral_bound_update)(bound, worker);
}

void REAL_NAME(spectral_bound_restore_weights)(struct spectral_bound *bound, bool all,
                                               const struct worker *worker)
{
    worker_barrier(worker);
    if (worker->index == 0 && all)
        reset_weights(bound->listed);
    else if (worker->index == 0)
        swap_weights(bound->listed);
    REAL_NAME(spectral_bound_update)(bound, worker);
}

bool REAL_NAME(spectral_bound_has_weights)(const struct spectral_bound *bound)
{
    return node_count(bound->listed) > 0;
}

real REAL_NAME(spectral_bound_weight)(const struct spectral_bound *bound, size_t node)
{
    return weight_of(bound->listed, node);
}

void REAL_NAME(spectral_bound_set_weight)(struct spectral_bound *bound, size_t node, real weight)
{
    struct listed_bound *listed = bound->listed;
    if (range_has(listed->nodes, node))
        listed->weights[node - listed->nodes.first] = weight;
}

void REAL_NAME(spectral_bound_collect_weights)(struct spectral_bound *bound, const uint64_t *cuts)
{
    struct listed_bound *listed = bound->listed;
    const int count = ranks_count();
    uint64_t *own = calloc((size_t)count + 1, sizeof *own);
    if (!own)
        ranks_abort(1, "out of memory for the weights of the bound");
    for (int r = 0; r <= count; r++)
        own[r] =
            min_u64(max_u64(cuts[r], listed->nodes.first), listed->nodes.end) - listed->nodes.first;
    ranks_collect(listed->weights, sizeof *listed->weights, own, false);
    free(own);
}

bool REAL_NAME(spectral_bound_uses_cliques)(const struct spectral_bound *bound)
{
    return bound->listed->cliques.used && bound->listed->cliques.count > 0;
}

void REAL_NAME(spectral_bound_set_cliques)(struct spectral_bound *bound, bool use)
{
    bound->listed->cliques.used = use;
}

bool REAL_NAME(spectral_bound_use_cliques)(struct spectral_bound *bound, bool use,
                                           const struct worker *worker)
{
    worker_barrier(worker);
    const bool any = bound->listed->cliques.count > 0;
    if (worker->index == 0)
        bound->listed->cliques.used = use;
    if (any)
        REAL_NAME(spectral_bound_update)(bound, worker);
    return any;
}
