// See surface_shares.h. Ranks have read the same scene, so that all have the same blocks and lists.
#include "contact/surface_shares.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "ranks/ranks.h"
#include "state/reading.h"

#define ALLOCATE(array, count) ((array) = memory_allocate(allocator, (count), sizeof *(array)))
#define RELEASE(array, count)  memory_release(allocator, (array), (count), sizeof *(array))

// ---- Making

// A block of bodies is needed by every rank that has a node of it. The power of mesh colliders
// takes the forces on all of theirs, which ranks share evenly.
static bool needs_block(const struct system *system, size_t b, struct range own)
{
    const struct surface_contact *it = system->surface_contact;
    const struct surface_block *block = &it->surfaces.blocks[b];
    if (is_of_collider(system->topology, block))
        return system->settings.keep_energy_budget && it->colliders_move &&
               b % (size_t)ranks_count() == (size_t)ranks_number();
    for (uint32_t i = 0; i < block->nodes; i++) {
        const size_t node = it->surfaces.nodes[block->first_node + i];
        if (node >= own.first && node < own.end)
            return true;
    }
    return false;
}

// A list is of the rank with the first node of its first block; those of mesh colliders, which have
// no pairs, of rank 0.
static bool has_list(const struct system *system, size_t list, struct range own)
{
    const struct surface_contact *it = system->surface_contact;
    const struct surface_block *block = &it->surfaces.blocks[list * PAIR_CHUNK];
    const size_t node = it->surfaces.nodes[block->first_node];
    if (node >= (size_t)system->topology->node_count)
        return ranks_number() == 0;
    return node >= own.first && node < own.end;
}

bool REAL_NAME(surface_contact_share)(const struct system *system, struct range own)
{
    struct surface_contact *it = system->surface_contact;
    const taut_allocator *allocator = system->allocator;
    if (!it)
        return true;
    struct surface_shares *shares = it->shares = memory_allocate(allocator, 1, sizeof *shares);
    if (!shares)
        return false;
    shares->list_count = it->broad->list_count;
    shares->block_count = it->surfaces.block_count;
    shares->part_count = it->tile_part_count;
    if (!ALLOCATE(shares->lists, shares->list_count) ||
        !ALLOCATE(shares->blocks, shares->block_count) ||
        !ALLOCATE(shares->sums, 2 * shares->list_count) ||
        !ALLOCATE(shares->powers, shares->block_count) ||
        !ALLOCATE(shares->ends, 6 * shares->part_count) ||
        !ALLOCATE(shares->moved, shares->block_count) || !REAL_NAME(broad_phase_share)(it->broad))
        return false;
    for (size_t i = 0; i < shares->list_count; i++)
        shares->lists[i] = has_list(system, i, own);
    for (size_t b = 0; b < shares->block_count; b++)
        shares->blocks[b] = needs_block(system, b, own);
    return true;
}

void REAL_NAME(surface_shares_free)(struct system *system)
{
    struct surface_shares *shares = system->surface_contact->shares;
    const taut_allocator *allocator = system->allocator;
    if (!shares)
        return;
    RELEASE(shares->lists, shares->list_count);
    RELEASE(shares->blocks, shares->block_count);
    RELEASE(shares->sums, 2 * shares->list_count);
    RELEASE(shares->powers, shares->block_count);
    RELEASE(shares->ends, 6 * shares->part_count);
    RELEASE(shares->moved, shares->block_count);
    RELEASE(shares, 1);
    system->surface_contact->shares = NULL;
}

uint64_t REAL_NAME(surface_shares_bytes)(const struct surface_contact *it)
{
    const struct surface_shares *shares = it->shares;
    return shares ? sizeof *shares + shares->list_count * (2 * sizeof *shares->sums + 1) +
                        shares->block_count * (sizeof *shares->powers + sizeof *shares->moved + 1) +
                        6 * shares->part_count * sizeof *shares->ends
                  : 0;
}

// ---- Nodes

// Whether what a step reads of nodes that are in no list is asked for. Shapes look at all nodes.
static bool may_want_some(const struct surface_contact *it)
{
    return !it->shapes && !it->relaxes;
}

void REAL_NAME(surface_shares_want_all)(struct system *system, uint64_t until)
{
    struct surface_shares *shares = system->surface_contact->shares;
    if (shares)
        shares->lists_differ = true;
    if (!surface_shares(system))
        return;
    shares->whole_until = until > shares->whole_until ? until : shares->whole_until;
    REAL_NAME(exchange_want_all)(system);
}

void REAL_NAME(surface_contact_begin)(struct system *system)
{
    struct surface_shares *shares =
        system->surface_contact ? system->surface_contact->shares : NULL;
    if (!shares || REAL_NAME(exchange_wants_all)(system) || !ranks_any(shares->lists_differ))
        return;
    // Where every step is written none is worth while.
    REAL_NAME(surface_shares_want_all)(system, system->state->step + 1);
}

void REAL_NAME(surface_shares_want)(struct system *system, const struct worker *worker)
{
    const struct surface_contact *it = system->surface_contact;
    if (!it->shares || !system->exchange || !REAL_NAME(exchange_wants_all)(system) ||
        !may_want_some(it) || system->state->step < it->shares->whole_until)
        return;
    worker_barrier(worker); // all have looked
    if (worker->index == 0) {
        const size_t nodes = (size_t)system->state->nodes;
        unsigned char *wanted = REAL_NAME(exchange_wanted)(system);
        memset(wanted, 0, nodes);
        for (size_t b = 0; b < it->surfaces.block_count; b++) {
            const struct surface_block *block = &it->surfaces.blocks[b];
            for (uint32_t i = 0; it->listed[b] && i < block->nodes; i++)
                if (it->surfaces.nodes[block->first_node + i] < nodes)
                    wanted[it->surfaces.nodes[block->first_node + i]] = 1;
        }
        REAL_NAME(exchange_want)(system);
        it->shares->lists_differ = false;
    }
    worker_barrier(worker);
}

void REAL_NAME(surface_shares_keep)(struct system *system, const struct worker *worker)
{
    struct surface_shares *shares = system->surface_contact->shares;
    if (shares && worker->index == 0)
        shares->start_known = REAL_NAME(exchange_knows_all)(system);
}

void REAL_NAME(surface_shares_complete)(struct system *system, const struct worker *worker)
{
    struct surface_contact *it = system->surface_contact;
    REAL_NAME(exchange_all_nodes)(system, worker);
    if (!surface_shares(system) || !it->keeps_start || it->shares->start_known)
        return;
    REAL_NAME(exchange_arrays)(system, (real *const[3]){it->old_x, it->old_y, it->old_z}, worker);
    if (worker->index == 0)
        it->shares->start_known = true;
    worker_barrier(worker);
}

void REAL_NAME(surface_shares_boxes)(struct system *system, struct displacements *boxes)
{
    const struct surface_shares *shares = surface_shares(system);
    if (!shares)
        return;
    for (size_t i = 0; i < shares->part_count; i++)
        for (int axis = 0; axis < 3; axis++) {
            shares->ends[6 * i + (size_t)axis] = (double)boxes[i].least[axis];
            shares->ends[6 * i + 3 + (size_t)axis] = -(double)boxes[i].most[axis];
        }
    ranks_least(shares->ends, 6 * shares->part_count);
    for (size_t i = 0; i < shares->part_count; i++)
        for (int axis = 0; axis < 3; axis++) {
            boxes[i].least[axis] = (real)shares->ends[6 * i + (size_t)axis];
            boxes[i].most[axis] = (real)-shares->ends[6 * i + 3 + (size_t)axis];
        }
}

// ---- Numbers

void REAL_NAME(surface_shares_add)(struct system *system, double *by_list,
                                   const struct worker *worker)
{
    const struct surface_shares *shares = surface_shares(system);
    if (!shares)
        return;
    for (size_t i = 0; worker->index == 0 && i < shares->list_count; i++)
        if (!shares->lists[i])
            by_list[i] = 0;
    if (worker->index == 0)
        ranks_add(by_list, shares->list_count);
    worker_barrier(worker);
}

void REAL_NAME(surface_shares_count)(const struct system *system, struct surface_counts *counts)
{
    double sums[2] = {(double)counts->candidates, (double)counts->touching};
    if (!system->surface_contact->shares)
        return;
    ranks_add(sums, 2); // whole numbers, exact in any order
    counts->candidates = (uint64_t)sums[0];
    counts->touching = (uint64_t)sums[1];
}

void REAL_NAME(surface_shares_found)(struct system *system)
{
    struct surface_contact *it = system->surface_contact;
    const struct surface_shares *shares = it->shares;
    if (!shares)
        return;
    for (size_t i = 0; i < shares->list_count; i++)
        shares->sums[i] = shares->lists[i] ? (double)it->lists[i].found : 0;
    ranks_add(shares->sums, shares->list_count);
    for (size_t i = 0; i < shares->list_count; i++)
        it->lists[i].found = (size_t)shares->sums[i];
}

void REAL_NAME(surface_shares_sleep)(struct system *system)
{
    struct surface_contact *it = system->surface_contact;
    const struct surface_shares *shares = it->shares;
    if (!shares)
        return;
    for (size_t i = 0; i < shares->list_count; i++) {
        shares->sums[2 * i] = shares->lists[i] && it->lists[i].sleeps ? 1 : 0;
        shares->sums[2 * i + 1] = shares->lists[i] ? (double)it->lists[i].measured : 0;
    }
    ranks_add(shares->sums, 2 * shares->list_count);
    for (size_t i = 0; i < shares->list_count; i++) {
        it->lists[i].sleeps = shares->sums[2 * i] > 0;
        it->lists[i].measured = (size_t)shares->sums[2 * i + 1];
    }
}

void REAL_NAME(surface_shares_tightness)(struct system *system)
{
    enum { AT_ONCE = 512 };
    struct surface_contact *it = system->surface_contact;
    const size_t count = it->tile_count * it->tile_stride;
    double some[AT_ONCE];
    for (size_t first = 0; it->shares && first < count; first += AT_ONCE) {
        const size_t now = count - first < AT_ONCE ? count - first : AT_ONCE;
        for (size_t i = 0; i < now; i++)
            some[i] = -(double)it->tightness[first + i];
        ranks_least(some, now);
        for (size_t i = 0; i < now; i++)
            it->tightness[first + i] = (real)-some[i];
    }
}

void REAL_NAME(surface_shares_pushes)(struct system *system)
{
    struct surface_contact *it = system->surface_contact;
    if (surface_shares(system))
        it->pushes = ranks_any(it->pushes);
}

void REAL_NAME(surface_shares_collider_power)(struct system *system)
{
    struct surface_contact *it = system->surface_contact;
    struct surface_shares *shares = it->shares;
    if (!shares)
        return;
    shares->power_known = surface_shares(system) != NULL;
    if (!shares->power_known || !system->settings.keep_energy_budget || !it->colliders_move)
        return;
    for (size_t b = 0; b < shares->block_count; b++)
        shares->powers[b] = shares->blocks[b] && it->touched[b] &&
                                    is_of_collider(system->topology, &it->surfaces.blocks[b])
                                ? REAL_NAME(mesh_collider_block_power)(system, b)
                                : 0;
    ranks_add(shares->powers, shares->block_count);
    shares->collider_power = 0;
    for (size_t b = 0; b < shares->block_count; b++)
        shares->collider_power += shares->powers[b];
}

// ---- What has no fixed size

// Where the bytes of each rank begin, of which this one has so many; and space for all of them.
struct parcel {
    uint64_t *cuts;
    unsigned char *data;
};

static struct parcel make_parcel(uint64_t bytes)
{
    const size_t ranks = (size_t)ranks_count();
    struct parcel parcel = {calloc(ranks + 1, sizeof *parcel.cuts), NULL};
    if (parcel.cuts) {
        ranks_share(bytes, parcel.cuts + 1);
        for (size_t r = 0; r < ranks; r++)
            parcel.cuts[r + 1] += parcel.cuts[r];
        parcel.data = malloc((size_t)parcel.cuts[ranks] + 1);
    }
    if (!parcel.data)
        ranks_abort(1, "out of memory for contact");
    return parcel;
}

static void free_parcel(struct parcel *parcel)
{
    free(parcel->cuts);
    free(parcel->data);
}

// The index of a pair of blocks in its list, or SIZE_MAX.
static size_t find_pair(const struct surface_list *list, uint32_t a, uint32_t b)
{
    size_t first = 0, end = list->pair_count;
    while (first < end) {
        const size_t middle = first + (end - first) / 2;
        const struct block_pair *pair = &list->pairs[middle].pair;
        if (pair->a == a && pair->b == b)
            return middle;
        if (pair->a < a || (pair->a == a && pair->b < b))
            first = middle + 1;
        else
            end = middle;
    }
    return SIZE_MAX;
}

bool REAL_NAME(surface_shares_pass)(struct system *system)
{
    struct surface_contact *it = system->surface_contact;
    const struct surface_shares *shares = surface_shares(system);
    bool any = false;
    for (size_t i = 0; shares && i < shares->list_count; i++)
        any |= it->lists[i].passing_count > 0;
    return shares && ranks_any(any);
}

// Pairs by their blocks: ranks leave out of their lists what they know to be far apart, and none of
// them a pair that passes.
void REAL_NAME(surface_shares_passing)(struct system *system)
{
    struct surface_contact *it = system->surface_contact;
    const struct surface_shares *shares = surface_shares(system);
    uint64_t count = 0;
    for (size_t i = 0; i < shares->list_count; i++)
        count += it->lists[i].passing_count;
    struct parcel all = make_parcel(count * sizeof count);
    const uint64_t first = all.cuts[ranks_number()] / sizeof count,
                   total = all.cuts[ranks_count()] / sizeof count;
    uint64_t *items = (uint64_t *)(void *)all.data, *at = items + first;
    for (size_t i = 0; i < shares->list_count; i++)
        for (size_t p = 0; p < it->lists[i].passing_count; p++) {
            const struct block_pair *pair = &it->lists[i].pairs[it->lists[i].passing[p]].pair;
            *at++ = (uint64_t)pair->a << 32 | pair->b;
        }
    ranks_collect(all.data, 1, all.cuts, true);
    for (uint64_t i = 0; i < total; i++) {
        const uint32_t a = (uint32_t)(items[i] >> 32), b = (uint32_t)items[i];
        struct surface_list *list = &it->lists[a / PAIR_CHUNK];
        const size_t found = find_pair(list, a, b);
        if ((i >= first && i < first + count) || found == SIZE_MAX)
            continue;
        if (!array_reserve((void **)&list->passing, &list->passing_capacity,
                           list->passing_count + 1, sizeof *list->passing))
            ranks_abort(1, "out of memory for contact");
        list->passing[list->passing_count++] = (uint32_t)found;
    }
    free_parcel(&all);
}

// ---- The memory of friction

// A list that has any: its number and its two counts, its pairs, and its records.
static size_t bytes_of_list(const struct friction_list *list)
{
    return 3 * sizeof(uint64_t) + list->pair_count * sizeof *list->pairs +
           list->count * sizeof *list->records;
}

static unsigned char *put_bytes(unsigned char *to, const void *from, size_t bytes)
{
    if (bytes > 0)
        memcpy(to, from, bytes);
    return to + bytes;
}

static const unsigned char *take_bytes(void *to, const unsigned char *from, size_t bytes)
{
    if (bytes > 0)
        memcpy(to, from, bytes);
    return from + bytes;
}

static unsigned char *put_list(unsigned char *to, size_t number, const struct friction_list *list)
{
    const uint64_t head[3] = {number, list->pair_count, list->count};
    to = put_bytes(to, head, sizeof head);
    to = put_bytes(to, list->pairs, list->pair_count * sizeof *list->pairs);
    return put_bytes(to, list->records, list->count * sizeof *list->records);
}

static const unsigned char *take_list(struct surface_friction *friction, const unsigned char *from)
{
    uint64_t head[3];
    from = take_bytes(head, from, sizeof head);
    struct friction_list *list = &friction->lists[head[0]];
    if (!array_reserve((void **)&list->pairs, &list->pair_capacity, (size_t)head[1],
                       sizeof *list->pairs) ||
        !array_reserve((void **)&list->records, &list->capacity, (size_t)head[2],
                       sizeof *list->records))
        ranks_abort(1, "out of memory for contact");
    list->pair_count = (size_t)head[1];
    list->count = (size_t)head[2];
    from = take_bytes(list->pairs, from, list->pair_count * sizeof *list->pairs);
    return take_bytes(list->records, from, list->count * sizeof *list->records);
}

void REAL_NAME(surface_friction_share)(struct system *system)
{
    struct surface_contact *it = system->surface_contact;
    struct surface_friction *friction = it ? it->friction : NULL;
    uint64_t bytes = 0;
    if (!friction || !it->shares)
        return;
    for (size_t i = 0; i < friction->list_count; i++)
        if (list_is_kept(it, i) && friction->lists[i].pair_count > 0)
            bytes += bytes_of_list(&friction->lists[i]);
    struct parcel all = make_parcel(bytes);
    unsigned char *to = all.data + all.cuts[ranks_number()];
    for (size_t i = 0; i < friction->list_count; i++)
        if (list_is_kept(it, i) && friction->lists[i].pair_count > 0)
            to = put_list(to, i, &friction->lists[i]);
        else if (!list_is_kept(it, i))
            friction->lists[i].pair_count = friction->lists[i].count = 0;
    ranks_collect(all.data, 1, all.cuts, true);
    for (int r = 0; r < ranks_count(); r++) {
        const unsigned char *from = all.data + all.cuts[r], *end = all.data + all.cuts[r + 1];
        while (r != ranks_number() && from < end)
            from = take_list(friction, from);
    }
    free_parcel(&all);
}
