// Implements part_sums.h: which nodes of others this rank's chunks have, and the sums.
#include "springs/part_sums.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/sort.h"
#include "ranks/ranks.h"
#include "springs/exchange.h"
#include "springs/springs.h"

// ---- The nodes of chunks

// Ranges of nodes of others.
struct wanted {
    const struct plan_part *part;
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

static size_t node_of_spring(const struct system *system, uint64_t spring)
{
    struct spring_walk walk = {system, spring, spring + 1};
    struct spring_view view;
    (void)springs_next(&walk, &view);
    return view.a;
}

static bool want_springs(const struct system *system, struct wanted *wanted)
{
    const uint64_t count = springs_count(system);
    for (uint64_t first = 0; first < count; first += SUM_CHUNK) {
        if (!plan_part_owns(wanted->part, node_of_spring(system, first)))
            continue;
        struct spring_walk walk = {system, first, min_u64(count, first + SUM_CHUNK)};
        struct spring_view view;
        while (springs_next(&walk, &view))
            if (!want(wanted, view.a, view.count) || !want(wanted, view.b, view.count))
                return false;
    }
    return true;
}

// The rank with the lowest node of a face computes it.
static bool owns_face(const struct plan_part *part, const struct face *face)
{
    const uint64_t lowest = min_u64(face->nodes[0], min_u64(face->nodes[1], face->nodes[2]));
    return plan_part_owns(part, lowest); // FACE_EDGE is greater than all
}

// Of closed bodies, whose volumes are measured.
static bool want_faces(const struct system *system, const struct topology_body *body,
                       struct wanted *wanted)
{
    for (uint64_t f = 0; body->closed && f < body->face_count; f++) {
        const struct face face = topology_body_face(system->topology, body, f);
        for (int corner = 0; owns_face(wanted->part, &face) && corner < 3; corner++)
            if (face.nodes[corner] != FACE_EDGE && !want(wanted, face.nodes[corner], 1))
                return false;
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

bool REAL_NAME(part_sums_want)(const struct system *system, const struct plan_parts *parts,
                               const struct plan_part *part, struct node_lists *ends)
{
    const struct topology *topology = system->topology;
    struct wanted wanted = {.part = part};
    bool found = want_springs(system, &wanted);
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

// Some chunks at a time, which all ranks get, so that no rank has memory for those of the whole scene.
double REAL_NAME(sum_springs_of_parts)(struct system *system, chunk_sum sum,
                                       const struct worker *worker)
{
    enum { CHUNKS_AT_ONCE = 4096 };
    const size_t springs = (size_t)springs_count(system), chunks = chunk_count(springs);
    double *values = system->chunk_sums[0];
    struct running_sum total = {.group = sum_group(system, chunks)};
    REAL_NAME(exchange_ends)(system, worker);
    for (size_t first = 0; first < chunks; first += CHUNKS_AT_ONCE) {
        const size_t left = chunks - first, count = left < CHUNKS_AT_ONCE ? left : CHUNKS_AT_ONCE;
        for (size_t i = (size_t)worker->index; i < count; i += (size_t)worker->count) {
            double sums[SUM_WIDTH] = {0};
            if (exchange_owns(system, node_of_spring(system, (first + i) * SUM_CHUNK)))
                sum(system, NULL, chunk_range(first + i, springs), sums);
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

// By worker 0 alone: the same on all ranks.
static double share_origin(const struct system *system, const struct topology_body *body)
{
    double origin = exchange_owns(system, (size_t)body->first_node)
                        ? (double)system->state->x[body->first_node]
                        : 0;
    ranks_add(&origin, 1);
    return origin;
}

double REAL_NAME(sum_faces_of_parts)(struct system *system, const struct topology_body *body,
                                     face_term term, const struct worker *worker)
{
    enum { FACES_AT_ONCE = 8 * SUM_CHUNK };
    const struct plan_part *part = REAL_NAME(exchange_part)(system->exchange);
    double *values = system->chunk_sums[0], chunk = 0;
    struct running_sum total = {.group = sum_group(system, chunk_count((size_t)body->face_count))};
    const size_t most = (size_t)min_u64(FACES_AT_ONCE, SUM_WIDTH * system->chunk_sums_length);
    REAL_NAME(exchange_ends)(system, worker);
    if (worker->index == 0)
        values[0] = share_origin(system, body);
    worker_barrier(worker);
    const double origin = values[0];
    worker_barrier(worker);
    for (uint64_t first = 0; first < body->face_count; first += most) {
        const size_t count = (size_t)min_u64(body->face_count - first, most);
        const struct range share = worker_share(worker, count, 64);
        for (size_t i = share.first; i < share.end; i++) {
            const struct face face = topology_body_face(system->topology, body, first + i);
            values[i] = owns_face(part, &face) ? term(system, body, origin, first + i) : 0;
        }
        worker_barrier(worker);
        if (worker->index == 0)
            ranks_add(values, count);
        worker_barrier(worker);
        for (size_t i = 0; i < count; i++) { // as in one process: chunk by chunk
            chunk += values[i];
            if ((first + i + 1) % SUM_CHUNK == 0 || first + i + 1 == body->face_count) {
                running_sum_add(&total, chunk);
                chunk = 0;
            }
        }
        worker_barrier(worker);
    }
    return running_sum_end(&total);
}
