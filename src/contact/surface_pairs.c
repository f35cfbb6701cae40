// Which pairs of blocks the lists of a rank have: those that it evaluates in steps
// (surface_shares.h), so that what is done with pairs and with their blocks is divided, as is the
// search for them.
//
// A cut looks at pairs of any blocks, and all ranks make it alike; and rank 0 measures alone what
// is written. Then the pairs of others are found for the boxes that the broad phase still has,
// those of the positions for which lists were made: what they have moved since then is subtracted
// from their distances. They stay for some steps, since where one step is cut the next one often
// is.
#include "contact/surface_rollback.h"
#include "contact/surface_shares.h"

#include <string.h>

// Steps for which pairs of other ranks stay after they have been needed: finding them costs about
// as much as keeping them for that long.
enum { STEPS_COMPLETE = 16 };

// Whether it is in a list that does not sleep, or will be: NEW.
enum { LISTED = 1, NEW = 2 };

static void list_block(struct surface_contact *it, uint32_t block, unsigned char as)
{
    if (atomic_load_explicit(&it->listed[block], memory_order_relaxed) != LISTED)
        atomic_store_explicit(&it->listed[block], as, memory_order_relaxed);
}

static void list_pairs_as(struct surface_contact *it, const struct pair_list *found)
{
    for (size_t p = 0; p < found->pair_count; p++) {
        list_block(it, found->pairs[p].a, NEW);
        list_block(it, found->pairs[p].b, NEW);
    }
}

// The start of a block that has had none, and how far it has moved from there.
static void place_new(struct system *system, size_t b, enum pairs_start start)
{
    struct surface_contact *it = system->surface_contact;
    const struct surface_block *block = &it->surfaces.blocks[b];
    if (start == START_NOW) {
        REAL_NAME(surface_block_read)(system, (uint32_t)b, it->start[b]);
        memset(&it->steps[b], 0, sizeof it->steps[b]);
        return;
    }
    for (uint32_t i = 0; i < SURFACE_NODES; i++) {
        const uint32_t node = it->surfaces.nodes[block->first_node + (i < block->nodes ? i : 0)];
        const struct point at = REAL_NAME(surface_step_start)(system, node);
        it->start[b][0][i] = at.x;
        it->start[b][1][i] = at.y;
        it->start[b][2][i] = at.z;
    }
    REAL_NAME(surface_steps_find)(system, (struct range){b, b + 1});
}

// How far the start of a block is from the positions for which lists were made.
static struct displacements start_since_lists(const struct surface_contact *it, size_t b)
{
    const struct surface_block *block = &it->surfaces.blocks[b];
    struct displacements found = no_displacements();
    for (uint32_t i = 0; i < block->nodes; i++) {
        const uint32_t node = it->surfaces.nodes[block->first_node + i];
        const struct point at = block_point(it->start[b], (int)i);
        displacements_include(&found,
                              (const real[3]){at.x - it->list_x[node], at.y - it->list_y[node],
                                              at.z - it->list_z[node]});
    }
    return found;
}

// A pair of which nothing is known but the distance of its boxes; rounded down.
static struct surface_pair new_pair(const struct surface_contact *it, const struct block_pair *pair)
{
    const double moved =
        relative_displacement(&it->shares->moved[pair->a], &it->shares->moved[pair->b]);
    struct surface_pair to = {.pair = *pair, .first_code = NO_CODES};
    to.others = to.pair.least = (float)(((double)pair->least - moved) * (1 - 1e-6));
    return to;
}

static bool is_before(const struct block_pair *one, const struct block_pair *other)
{
    return one->a < other->a || (one->a == other->a && one->b < other->b);
}

// Adds what has been found to a list; false without memory.
static bool merge_rest(struct surface_contact *it, size_t index)
{
    const struct pair_list *found = &it->broad->lists[index];
    struct surface_list *list = &it->lists[index];
    if (found->pair_count == 0)
        return true;
    const size_t before = list->pair_count;
    if (!reserve_closely((void **)&list->pairs, &list->pair_capacity, before + found->pair_count,
                         sizeof *list->pairs))
        return false;
    // From the end, so that no pair is written over before it has been moved.
    size_t old = before, next = found->pair_count;
    for (size_t to = before + found->pair_count; next > 0; to--) {
        const struct block_pair *pair = &found->pairs[next - 1];
        if (old > 0 && is_before(pair, &list->pairs[old - 1].pair)) {
            list->pairs[to - 1] = list->pairs[--old];
        } else {
            list->pairs[to - 1] = new_pair(it, pair);
            next--;
        }
    }
    list->pair_count = before + found->pair_count;
    return true;
}

// A list of another rank that does not sleep.
static bool lacks_pairs(const struct surface_contact *it, size_t list)
{
    return !it->shares->lists[list] && !it->lists[list].sleeps;
}

void REAL_NAME(surface_pairs_complete)(struct system *system, enum pairs_start start,
                                       const struct worker *worker)
{
    struct surface_contact *it = system->surface_contact;
    const struct range lists = worker_share(worker, it->broad->list_count, 1);
    const struct range blocks = worker_share(worker, it->surfaces.block_count, 1);
    if (!it->shares)
        return;
    if (worker->index == 0 && (it->partial || start == START_OF_WAY)) {
        const uint64_t step = system->state->step;
        it->shares->complete_until = step + STEPS_COMPLETE;
        REAL_NAME(surface_shares_want_all)(system, step + STEPS_COMPLETE);
    }
    if (!it->partial)
        return;
    for (size_t i = lists.first; i < lists.end; i++)
        if (lacks_pairs(it, i)) {
            if (!REAL_NAME(broad_phase_find_rest)(it->broad, &it->rules, i))
                atomic_store(&it->failed, true);
            list_pairs_as(it, &it->broad->lists[i]);
        }
    worker_barrier(worker);
    for (size_t b = blocks.first; b < blocks.end; b++) {
        if (it->listed[b] == NEW)
            place_new(system, b, start);
        if (it->listed[b])
            it->shares->moved[b] = start_since_lists(it, b);
        list_block(it, (uint32_t)b, it->listed[b] ? LISTED : 0);
    }
    worker_barrier(worker);
    for (size_t i = lists.first; i < lists.end; i++)
        if (lacks_pairs(it, i)) {
            if (!merge_rest(it, i))
                atomic_store(&it->failed, true);
            REAL_NAME(broad_phase_forget)(it->broad, i);
        }
    worker_barrier(worker);
    if (worker->index == 0) {
        it->partial = false;
        if (atomic_exchange(&it->failed, false))
            REAL_NAME(surface_memory_has_run_out)(system);
    }
    worker_barrier(worker);
}

static void leave_pairs(struct surface_contact *it, size_t index)
{
    struct surface_list *list = &it->lists[index];
    size_t count = 0;
    list->used = 0;
    for (size_t p = 0; p < list->pair_count; p++)
        if (pair_is_shared(it->shares, index, &list->pairs[p].pair)) {
            list->used += code_space(counts_of(list, &list->pairs[p]));
            list->pairs[count++] = list->pairs[p];
        }
    list->pair_count = count;
}

void REAL_NAME(surface_pairs_leave)(struct system *system, const struct worker *worker)
{
    struct surface_contact *it = system->surface_contact;
    const struct range lists = worker_share(worker, it->broad->list_count, 1);
    const struct range blocks = worker_share(worker, it->surfaces.block_count, 1);
    if (it->partial || system->state->step < it->shares->complete_until)
        return;
    for (size_t b = blocks.first; b < blocks.end; b++)
        atomic_store_explicit(&it->listed[b], 0, memory_order_relaxed);
    worker_barrier(worker);
    for (size_t i = lists.first; i < lists.end; i++) {
        if (!it->shares->lists[i])
            leave_pairs(it, i);
        for (size_t p = 0; p < it->lists[i].pair_count && !it->lists[i].sleeps; p++) {
            list_block(it, it->lists[i].pairs[p].pair.a, LISTED);
            list_block(it, it->lists[i].pairs[p].pair.b, LISTED);
        }
    }
    worker_barrier(worker);
    if (worker->index == 0) {
        it->partial = true;
        it->rules.lists = it->shares->lists;
        it->rules.blocks = it->shares->blocks;
    }
    worker_barrier(worker);
}
