// Implements part_sums.h: which nodes of others this rank's chunks have, and the sums.
#include "springs/part_sums.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/sort.h"
#include "ranks/ranks.h"
#include "springs/exchange.h"
#include "springs/part_springs.h"
#include "springs/springs.h"

// ---- The nodes of chunks

// Ranges of nodes of others, and springs.
struct wanted {
    const struct plan_parts *parts;
    const struct plan_part *part;
    struct node_lists *springs;
    struct plan_nodes *items;
    size_t count, capacity;
};

static bool want(struct wanted *wanted, uint64_t first, uint64_t count)
{
    const struct plan_part *part = wanted->part;
    if (first >= part->first_node && first + count <= part->end_node)
        return true;
    if (!array_reserve((void **)&wanted->items, &wanted->capacity, wanted->count + 1,
                       sizeof *wanted->items))
        return false;
    wanted->items[wanted->count++] = (struct plan_nodes){first, count};
    return true;
}

// The first node of a spring that is the first of a chunk: some springs on no grid are not listed
// on every rank.
static size_t node_of_spring(const struct system *system, uint64_t spring)
{
    if (spring < system->plan->springs.element_count && system->plan->chunk_nodes)
        return system->plan->chunk_nodes[spring / SUM_CHUNK];
    struct spring_walk walk = {system, spring, spring + 1};
    struct spring_view view;
    return springs_next(&walk, &view) ? view.a : 0;
}

// Wants the nodes of this rank's chunks of springs [first, end), in the order of springs_walk.
static bool want_springs(const struct system *system, uint64_t first, uint64_t end,
                         struct wanted *wanted)
{
    for (; first < end; first += SUM_CHUNK) {
        if (!plan_part_owns(wanted->part, node_of_spring(system, first)))
            continue;
        struct spring_walk walk = {system, first, min_u64(end, first + SUM_CHUNK)};
        struct spring_view view;
        while (springs_next(&walk, &view))
            if (!want(wanted, view.a, view.count) || !want(wanted, view.b, view.count) ||
                ((view.broken || view.rest_length) &&
                 !REAL_NAME(part_springs_want)(system, wanted->parts, wanted->part,
                                               view.state_index, view.count, wanted->springs)))
                return false;
    }
    return true;
}

// The rank with the lowest node of a face computes it.
static bool owns_face(const struct plan_part *part, const struct face *face)
{
    return plan_part_owns(part, face_lowest_node(face));
}

// Wants the corners of the faces of a closed body, whose volume is measured.
static bool want_faces(const struct system *system, const struct topology_body *body,
                       struct wanted *wanted)
{
    bool any = false;
    for (uint64_t f = 0; body->closed && f < body->face_count; f++) {
        const struct face face = topology_body_face(system->topology, body, f);
        any |= owns_face(wanted->part, &face);
        for (int corner = 0; owns_face(wanted->part, &face) && corner < 3; corner++)
            if (face.nodes[corner] != FACE_EDGE && !want(wanted, face.nodes[corner], 1))
                return false;
    }
    return !any || want(wanted, topology_internal_node(system->topology, body->first_node), 1);
}

// The nodes of a grid's chunks that begin at nodes [own.first, own.end).
static struct range chunks_within(const struct plan_grid *grid, struct range own)
{
    const size_t begin = (size_t)grid->first_node;
    const size_t count = (size_t)(grid->nx * grid->ny * grid->nz);
    const size_t from = own.first > begin ? own.first - begin : 0;
    const size_t to = own.end > begin ? own.end - begin : 0;
    const size_t first = chunk_count(from) * SUM_CHUNK, end = chunk_count(to) * SUM_CHUNK;
    return (struct range){begin + (first < count ? first : count),
                          begin + (end < count ? end : count)};
}

// Wants the chunks of a grid's nodes, with the nodes that follow as far as `reach`.
static bool want_grid(const struct plan_grid *grid, uint64_t reach, struct wanted *wanted)
{
    const uint64_t end_node = grid->first_node + grid->nx * grid->ny * grid->nz;
    const struct range own = {(size_t)wanted->part->first_node, (size_t)wanted->part->end_node};
    const struct range nodes = chunks_within(grid, own);
    const uint64_t end = min_u64(end_node, nodes.end + reach);
    return nodes.first == nodes.end || want(wanted, nodes.first, end - nodes.first);
}

// Wants the nodes of elements, whose energies are summed by their first nodes.
static bool want_elements(const struct system *system, struct wanted *wanted)
{
    for (size_t g = 0; g < system->plan->grid_count; g++) {
        const struct plan_grid *grid = &system->plan->grids[g];
        const struct topology_body *body = &system->topology->bodies[grid->body];
        if (body->elements.present && !want_grid(grid, elements_reach(body), wanted))
            return false;
    }
    return true;
}

// Wants the nodes for the power of the damping. It is found for springs on no grid, one after
// another, and then grid by grid: by nodes, each with the springs that begin there, or by springs,
// where these are not alike.
static bool want_damping(const struct system *system, struct wanted *wanted)
{
    uint64_t first = system->constants->springs;
    if (!want_springs(system, 0, first, wanted))
        return false;
    for (size_t g = 0; g < system->plan->grid_count; g++) {
        const struct plan_grid *grid = &system->plan->grids[g];
        const uint64_t springs = system->topology->bodies[grid->body].spring_count;
        uint64_t reach = 0;
        for (int d = 0; d < grid->direction_count; d++)
            reach = max_u64(reach, (uint64_t)grid->directions[d].offset);
        if (!want_grid(grid, reach, wanted) ||
            !want_springs(system, first, first + springs, wanted))
            return false;
        first += springs;
    }
    return true;
}

// Wants the corners of a face that is summed in chunks. This rank sums the chunks whose first face
// has its first node here: `own`, for the present chunk.
static bool want_face(struct wanted *wanted, const struct face *face, uint64_t number, bool *own)
{
    if (number % SUM_CHUNK == 0)
        *own = plan_part_owns(wanted->part, face->nodes[0]);
    for (int corner = 0; *own && corner < 3; corner++)
        if (face->nodes[corner] != FACE_EDGE && !want(wanted, face->nodes[corner], 1))
            return false;
    return true;
}

// Wants the corners of the faces in blocks, and then of those of cloths, one after another
// (faces/faces.h).
static bool want_windy_faces(const struct system *system, struct wanted *wanted)
{
    const struct plan *plan = system->plan;
    uint64_t number = 0;
    bool own = false;
    for (; number < plan->faces.element_count; number++) {
        const uint32_t *nodes = system->constants->face_nodes[number];
        const struct face face = {{nodes[0], nodes[1], nodes[2]}};
        if (!want_face(wanted, &face, number, &own))
            return false;
    }
    for (size_t g = 0; g < plan->face_grid_count; g++) {
        const struct topology_body *body = &system->topology->bodies[plan->face_grids[g].body];
        for (uint64_t f = 0; f < body->face_count;) {
            const struct face face = topology_body_face(system->topology, body, f);
            if (!want_face(wanted, &face, number, &own))
                return false;
            const uint64_t rest = SUM_CHUNK - number % SUM_CHUNK;
            const uint64_t next = own ? 1 : min_u64(rest, body->face_count - f);
            number += next;
            f += next;
        }
    }
    return true;
}

static int compare_nodes(const void *left, const void *right)
{
    const struct plan_nodes *a = left, *b = right;
    return a->first < b->first ? -1 : a->first > b->first;
}

// Adds nodes [first, end), except those of the part and of its halo, which ascends.
static bool add_ends(const struct plan_parts *parts, const struct plan_part *part, uint64_t first,
                     uint64_t end, struct node_lists *ends)
{
    size_t next = 0;
    while (first < end) {
        while (next < part->halo_count && part->halo[next].first + part->halo[next].count <= first)
            next++;
        const struct plan_nodes *halo = next < part->halo_count ? &part->halo[next] : NULL;
        uint64_t last = end;
        if (plan_part_owns(part, first)) {
            first = min_u64(end, part->end_node);
            continue;
        }
        if (halo && halo->first <= first) {
            first = min_u64(end, halo->first + halo->count);
            continue;
        }
        if (halo)
            last = min_u64(last, halo->first);
        if (part->first_node < part->end_node && first < part->first_node)
            last = min_u64(last, part->first_node);
        if (!REAL_NAME(node_lists_want)(ends, parts, (struct plan_nodes){first, last - first}))
            return false;
        first = last;
    }
    return true;
}

bool REAL_NAME(part_sums_want_node)(void *wanted, uint64_t node)
{
    return want(wanted, node, 1);
}

bool REAL_NAME(part_sums_want)(const struct system *system, const struct plan_parts *parts,
                               const struct plan_part *part, part_sums_needs more,
                               struct node_lists *ends, struct node_lists *springs)
{
    const struct topology *topology = system->topology;
    struct wanted wanted = {.parts = parts, .part = part, .springs = springs};
    bool found = want_springs(system, 0, springs_count(system), &wanted) &&
                 want_elements(system, &wanted) && more(system, part, &wanted);
    if (system->settings.keep_energy_budget)
        found = found && want_damping(system, &wanted) &&
                (!topology->environment.wind.present || want_windy_faces(system, &wanted));
    for (size_t b = 0; found && b < topology->body_count; b++)
        found = want_faces(system, &topology->bodies[b], &wanted);
    if (found && wanted.count > 0)
        qsort(wanted.items, wanted.count, sizeof *wanted.items, compare_nodes);
    for (size_t i = 0; found && i < wanted.count;) {
        const uint64_t first = wanted.items[i].first;
        uint64_t end = first;
        for (; i < wanted.count && wanted.items[i].first <= end; i++)
            end = max_u64(end, wanted.items[i].first + wanted.items[i].count);
        found = add_ends(parts, part, first, end, ends);
    }
    free(wanted.items);
    return found;
}

// ---- Sums

// Numbers that come one after another, added as add_in_groups does.
struct running_sum {
    size_t group, count;
    double within, total;
};

static void running_sum_add(struct running_sum *sum, double value)
{
    assert(sum->group > 0); // it is set where a body begins
    sum->within += value;
    if (++sum->count % sum->group == 0) {
        sum->total += sum->within;
        sum->within = 0;
    }
}

static double running_sum_end(const struct running_sum *sum)
{
    return sum->total + sum->within;
}

struct range REAL_NAME(chunk_nodes_of_grid)(const struct system *system,
                                            const struct plan_grid *grid)
{
    return chunks_within(grid, system->own_nodes);
}

// Sums some chunks at a time, which all ranks get, so that no rank needs memory for those of the
// whole scene.
double REAL_NAME(sum_chunks_of_parts)(struct system *system, size_t elements, element_node node,
                                      chunk_sum sum, const void *argument,
                                      const struct worker *worker)
{
    enum { CHUNKS_AT_ONCE = 4096 };
    const size_t chunks = chunk_count(elements);
    double *values = system->chunk_sums[0];
    struct running_sum total = {.group = sum_group(system, chunks)};
    for (size_t first = 0; first < chunks; first += CHUNKS_AT_ONCE) {
        const size_t left = chunks - first, count = left < CHUNKS_AT_ONCE ? left : CHUNKS_AT_ONCE;
        for (size_t i = (size_t)worker->index; i < count; i += (size_t)worker->count) {
            double sums[SUM_WIDTH] = {0};
            if (exchange_owns(system, node(system, argument, (first + i) * SUM_CHUNK)))
                sum(system, argument, chunk_range(first + i, elements), sums);
            values[i] = sums[0];
        }
        worker_barrier(worker);
        if (worker->index == 0)
            ranks_add(values, count);
        worker_barrier(worker);
        for (size_t i = 0; i < count; i++)
            running_sum_add(&total, values[i]);
        worker_barrier(worker); // all have read before the next ones are written
    }
    return running_sum_end(&total);
}

static size_t first_end(const struct system *system, const void *argument, size_t spring)
{
    return node_of_spring(system, *(const uint64_t *)argument + spring);
}

double REAL_NAME(sum_springs_of_parts)(struct system *system, size_t count, chunk_sum sum,
                                       const uint64_t *first, const struct worker *worker)
{
    return REAL_NAME(sum_chunks_of_parts)(system, count, first_end, sum, first, worker);
}

// A face of the chosen bodies, which are taken one after another.
struct face_cursor {
    size_t body;
    uint64_t face;
};

// Skips bodies that are not chosen; false at the end.
static bool find_face(const struct system *system, body_choice chosen, struct face_cursor *cursor)
{
    const struct topology *topology = system->topology;
    for (; cursor->body < topology->body_count; cursor->body++, cursor->face = 0)
        if (cursor->face < topology->bodies[cursor->body].face_count &&
            chosen(system, cursor->body))
            return true;
    return false;
}

// Sets values[i] to what face `first` + i of a body adds, if this rank computes it, otherwise to 0.
static void find_terms(const struct system *system, const struct face_cursor *first, size_t count,
                       face_term term, double *values, const struct worker *worker)
{
    const struct plan_part *part = REAL_NAME(exchange_part)(system->exchange);
    const struct topology_body *body = &system->topology->bodies[first->body];
    const size_t node = (size_t)topology_internal_node(system->topology, body->first_node);
    const double origin = (double)system->state->x[node];
    const struct range share = worker_share(worker, count, 64);
    for (size_t i = share.first; i < share.end; i++) {
        const struct face face = topology_body_face(system->topology, body, first->face + i);
        values[i] = owns_face(part, &face) ? term(system, body, origin, first->face + i) : 0;
    }
}

// The sum over the faces of a body so far.
struct face_sum {
    struct face_cursor cursor;
    double chunk;
    struct running_sum total;
};

// Adds the terms chunk by chunk, as one process does.
static void add_terms(const struct system *system, body_choice chosen, const double *values,
                      size_t count, struct face_sum *sum, double *sums)
{
    for (size_t at = 0; at < count && find_face(system, chosen, &sum->cursor);) {
        const uint64_t faces = system->topology->bodies[sum->cursor.body].face_count;
        const uint64_t first = sum->cursor.face;
        const uint64_t end = min_u64(faces, (first / SUM_CHUNK + 1) * SUM_CHUNK);
        const size_t some = (size_t)min_u64(end - first, count - at);
        if (first == 0)
            sum->total =
                (struct running_sum){.group = sum_group(system, chunk_count((size_t)faces))};
        for (size_t i = at; i < at + some; i++)
            sum->chunk += values[i];
        at += some;
        sum->cursor.face += some;
        if (sum->cursor.face == end) {
            running_sum_add(&sum->total, sum->chunk);
            sum->chunk = 0;
        }
        if (sum->cursor.face == faces)
            sums[sum->cursor.body] = running_sum_end(&sum->total);
    }
}

void REAL_NAME(sum_faces_of_parts)(struct system *system, body_choice chosen, face_term term,
                                   double *sums, const struct worker *worker)
{
    enum { FACES_AT_ONCE = 8 * SUM_CHUNK };
    const size_t most = (size_t)min_u64(FACES_AT_ONCE, SUM_WIDTH * system->chunk_sums_length);
    double *values = system->chunk_sums[0];
    struct face_cursor cursor = {0, 0};
    struct face_sum sum = {.chunk = 0};
    while (find_face(system, chosen, &cursor)) {
        size_t count = 0;
        while (count < most && find_face(system, chosen, &cursor)) {
            const uint64_t left = system->topology->bodies[cursor.body].face_count - cursor.face;
            const size_t some = (size_t)min_u64(left, most - count);
            find_terms(system, &cursor, some, term, values + count, worker);
            cursor.face += some;
            count += some;
        }
        worker_barrier(worker);
        if (worker->index == 0) {
            ranks_add(values, count);
            add_terms(system, chosen, values, count, &sum, sums);
        }
        worker_barrier(worker);
    }
}
