// Which pairs of blocks are near each other, and which of their candidates are listed.
//
// Lists have all pairs of blocks up to the reach of the barrier and a skin, and are complete until
// two surfaces may have moved relative to each other by more than that (surface_motion.c).
//
// A list all of whose pairs are so far out of reach that none can be within it before lists are
// made again sleeps: it costs nothing until then. The distances of its pairs limit what their tiles
// may move.
//
// A pair of blocks knows how far apart its candidates are at least, and subtracts what its blocks
// move relative to each other. When that does not keep it out of reach any more, its candidates are
// found, with a skin of its own; those that are not listed then are at least so far apart, and the
// same pair is not searched again before they may be within reach (the dual pair lists of GROMACS:
// Pall et al. 2020). Pairs keep this when the lists of pairs are made again.
#include "contact/surface_motion.h"
#include "contact/surface_shares.h"
#include "contact/surface_tangent.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "ranks/ranks.h"
#include "state/reading.h"

// ---- Lists

void REAL_NAME(surface_lists_begin)(struct surface_contact *it)
{
    it->lists_due = true;
    it->skin = SKIN_MIN;
    it->skin_power = it->awake_power = 2;
    it->skin_wide = SKIN_MAX;
}

// With which power of the reach and the skin a number of pairs grows: the mean of the power so far
// and that of the last change of the skin, `wider` in logarithms.
static double power_of(double power, double now, double before, double wider, double most)
{
    const double found = log((now + 1) / (before + 1)) / wider;
    return (power + fmin(fmax(found, 0), most)) / 2;
}

// The wider the skin, the more pairs of blocks lists have, and the longer they last. Making them
// costs as much as evaluating 100 candidates for each block, and 6 for each pair: m. They last for
// n steps, or n + 2 but for the allowance in surface_lists_check, in proportion to the skin s; the
// number of pairs grows as (1.5 + s)^k, k as the last two skins have it. What a step does with each
// pair that does not sleep costs as much as evaluating 10 candidates. Their number has a power a of
// its own, which is much greater where a wider skin wakes lists; and in it are candidates that have
// been measured to let lists sleep, of which there are more and more before that. With u the cost
// of these in n steps, (m + u) / n is least where
//     e c - m (n + 2) / n + u f = 0,    e = k s / (1.5 + s),    f = a s / (1.5 + s),
// with c the cost of the pairs in m. Counts, not times: lists are the same in every run.
static const double STEP_OF_PAIR = 10;

static void adapt_skin(struct surface_contact *it)
{
    const double factor = 1.25;
    const double pairs = 6 * (double)it->all_pairs;
    const double making = 100 * (double)it->surfaces.block_count + pairs;
    const double steps = (double)it->steps_listed;
    if (it->overshot || it->steps_listed == 0)
        return;
    const double awake = (double)it->pairs + (double)it->measured / (STEP_OF_PAIR * steps);
    const double used = STEP_OF_PAIR * steps * awake;
    const double wider = log((1.5 + it->skin_listed) / (1.5 + it->skin_before));
    if (it->steps_before > 0 && fabs(wider) > 0.02) {
        it->skin_power =
            power_of(it->skin_power, (double)it->all_pairs, it->pairs_before, wider, 3);
        it->awake_power = power_of(it->awake_power, awake, it->awake_before, wider, 8);
    }
    const double slope = it->skin / (1.5 + it->skin), cost = (making + used) / steps;
    const double e = slope * it->skin_power, f = slope * it->awake_power;
    const bool narrows = e * pairs - making * (steps + STEPS_AHEAD) / steps + used * f > 0;
    it->skin_before = it->skin_listed;
    it->pairs_before = (double)it->all_pairs;
    it->awake_before = awake;
    it->steps_before = steps;
    it->making_before = making;
    it->cost_before = cost;
    if (narrows) {
        it->skin_wide = it->skin;
        it->cost_wide = cost;
        it->skin = fmax(SKIN_MIN, it->skin / factor);
        return;
    }
    // What was too wide is not tried again at once.
    const double next = fmin(SKIN_MAX, it->skin * factor);
    if (next < 0.999 * it->skin_wide || it->cost_wide < cost)
        it->skin = next;
    else
        it->cost_wide *= 0.95;
}

// ---- The start

void REAL_NAME(surface_blocks_copy)(struct system *system, block_reals *to,
                                    const struct worker *worker)
{
    struct surface_contact *it = system->surface_contact;
    const struct range share = worker_share(worker, it->surfaces.block_count, 1);
    for (size_t b = share.first; b < share.end; b++)
        if (it->listed[b])
            REAL_NAME(surface_block_read)(system, (uint32_t)b, to[b]);
    worker_barrier(worker);
}

void REAL_NAME(surface_steps_find)(const struct system *system, struct range blocks)
{
    struct surface_contact *it = system->surface_contact;
    for (size_t b = blocks.first; b < blocks.end; b++)
        if (it->listed[b])
            it->steps[b] = block_displacements(system, b, it->start[b]);
}

// Projection moves nodes, and implicit steps go on, after steps have been found.
static bool steps_stay_known(const struct system *system)
{
    return system->surface_contact->steps_known && !system->settings.projects &&
           !integrator_is_implicit(system->settings.integrator);
}

void REAL_NAME(surface_steps_know)(struct system *system, const struct worker *worker)
{
    struct surface_contact *it = system->surface_contact;
    if (!steps_stay_known(system))
        REAL_NAME(surface_steps_find)
    (system, worker_share(worker, it->surfaces.block_count, 1));
    worker_barrier(worker);
}

// The distances of a pair after its blocks have moved; rounded down.
static struct surface_pair pair_moved(const struct surface_contact *it, struct surface_pair pair)
{
    const double moved = pair_displacement(it, &pair.pair);
    pair.pair.least = (float)(((double)pair.pair.least - moved) * (1 - 1e-6));
    pair.others = (float)(((double)pair.others - moved) * (1 - 1e-6));
    return pair;
}

static void move_pairs(struct surface_contact *it, size_t index)
{
    struct surface_list *list = &it->lists[index];
    for (size_t p = 0; p < list->pair_count; p++)
        list->pairs[p] = pair_moved(it, list->pairs[p]);
}

// Copies the start of the blocks of this worker: of implicit steps all, else those that are listed.
static void copy_start(struct system *system, const struct worker *worker)
{
    struct surface_contact *it = system->surface_contact;
    const bool all = it->rows != NULL;
    const struct range share = worker_share(worker, it->surfaces.block_count, 1);
    for (size_t b = share.first; b < share.end; b++)
        if (all || it->listed[b])
            REAL_NAME(surface_block_read)(system, (uint32_t)b, it->start[b]);
    memset(it->steps + share.first, 0, (share.end - share.first) * sizeof *it->steps);
    if (all)
        REAL_NAME(surface_positions_keep)(system, worker);
}

static bool any_displacement(const struct displacements *box)
{
    bool any = false;
    for (int axis = 0; axis < 3; axis++)
        any |= box->least[axis] != 0 || box->most[axis] != 0;
    return any;
}

// Whether a node of a listed block has moved since the start, whose displacements are known: not at
// the start of a step at whose end friction has changed its memory, in the same positions. The same
// on every worker. Ends with a barrier.
static bool start_moves(struct system *system, const struct worker *worker)
{
    struct surface_contact *it = system->surface_contact;
    const struct range share = worker_share(worker, it->surfaces.block_count, 1);
    bool moves = false;
    for (size_t b = share.first; b < share.end && !moves; b++)
        moves = it->listed[b] && any_displacement(&it->steps[b]);
    if (moves)
        atomic_store(&it->start_moves, true);
    worker_barrier(worker);
    if (surface_shares(system)) { // other ranks have other lists
        if (worker->index == 0)
            atomic_store(&it->start_moves, ranks_any(atomic_load(&it->start_moves)));
        worker_barrier(worker);
    }
    moves = atomic_load(&it->start_moves);
    worker_barrier(worker);
    if (worker->index == 0)
        atomic_store(&it->start_moves, false);
    return moves;
}

void REAL_NAME(surface_start_move)(struct system *system, const struct worker *worker)
{
    struct surface_contact *it = system->surface_contact;
    const struct range lists = worker_share(worker, it->broad->list_count, 1);
    REAL_NAME(surface_steps_know)(system, worker);
    if (!it->rows && !start_moves(system, worker)) { // implicit steps need all blocks
        worker_barrier(worker);
        return;
    }
    for (size_t i = lists.first; i < lists.end; i++)
        if (!it->lists[i].sleeps)
            move_pairs(it, i);
    worker_barrier(worker);
    copy_start(system, worker);
    worker_barrier(worker);
}

// ---- The candidates of a pair

// Codes that are not used any more, beside an eighth of those that are.
enum { CODES_UNUSED = 512 };

// Drops what is not used any more; false without memory.
static bool compact_codes(struct surface_list *list)
{
    const size_t most = list->used + list->used / 8 + CODES_UNUSED;
    if (list->code_count <= most)
        return true;
    const size_t capacity = most + CODES_UNUSED + CODES_SLACK;
    uint16_t *codes = malloc(capacity * sizeof *codes);
    if (!codes)
        return false;
    size_t at = 0;
    for (size_t p = 0; p < list->pair_count; p++) {
        struct surface_pair *pair = &list->pairs[p];
        const size_t count = code_space(counts_of(list, pair));
        if (count == 0)
            continue;
        memcpy(codes + at, list->codes + pair->first_code, count * sizeof *codes);
        pair->first_code = (uint32_t)at;
        at += count;
    }
    free(list->codes);
    list->codes = codes;
    list->code_count = at;
    list->code_capacity = capacity;
    return true;
}

// A pair has no candidates any more.
static void drop_codes(struct surface_list *list, struct surface_pair *pair)
{
    list->used -= code_space(counts_of(list, pair));
    pair->first_code = NO_CODES;
}

// How far apart the blocks of a pair are at least in the positions of the start, m, or 0; no better
// bound than `enough` is wanted.
static double separation_of(const struct surface_contact *it, const struct block_pair *pair,
                            double enough)
{
    const uint32_t numbers[2] = {pair->a, pair->b};
    real boxes[2][6];
    struct placed_block blocks[2];
    if (pair->a == pair->b)
        return 0;
    for (int side = 0; side < 2; side++) {
        const real(*x)[SURFACE_NODES] = (const real(*)[SURFACE_NODES])it->start[numbers[side]];
        it->broad->kernels->surface_box(x, boxes[side]);
        blocks[side] = (struct placed_block){x, boxes[side], it->spans[numbers[side]]};
    }
    return REAL_NAME(block_separation)(&blocks[0], &blocks[1], enough);
}

// As for the lists of pairs: finding candidates costs as much as evaluating 400, and 4 for each
// that is found; the number of candidates grows as (1 + s)^3 with the skin s, and with it what has
// been evaluated, and both last for steps in proportion to s.
static void adapt_pair_skin(const struct surface_list *list, struct surface_pair *pair)
{
    const double skin = (double)PAIR_SKINS[pair->skin], e = 3 * skin / (1 + skin);
    const double listed = 4 * (double)code_total(counts_of(list, pair));
    if (e * (listed + EVALUATED_UNIT * (double)pair->evaluated) > 400 + listed)
        pair->skin -= pair->skin > 1;
    else
        pair->skin += pair->skin < PAIR_SKIN_LAST;
    pair->evaluated = 0;
}

bool REAL_NAME(surface_pair_list)(struct surface_contact *it, struct pair_finder *finder,
                                  size_t list, size_t p, double distance)
{
    struct surface_list *to = &it->lists[list];
    struct surface_pair *pair = &to->pairs[p];
    const struct surface_block *blocks = it->surfaces.blocks;
    if ((double)pair->others >= distance)
        return true;
    if (!search_goes_on(0))
        return false;
    const double apart = separation_of(it, &pair->pair, distance);
    if (apart > distance) { // as if they had never been listed
        drop_codes(to, pair);
        pair->skin = 0;
        pair->others = (float)apart;
        pair->pair.least = fmaxf(pair->pair.least, pair->others);
        return true;
    }
    if (pair->skin > 0)
        adapt_pair_skin(to, pair);
    else
        pair->skin = PAIR_SKIN_FIRST;
    drop_codes(to, pair);
    if (!compact_codes(to))
        return false;
    const double reach =
        1.5 * thickness_between(it, blocks[pair->pair.a].body, blocks[pair->pair.b].body);
    const double up_to = distance + (double)PAIR_SKINS[pair->skin] * reach;
    const double least = REAL_NAME(pair_finder_find)(finder, &pair->pair, it->start[pair->pair.a],
                                                     it->start[pair->pair.b], up_to);
    const struct candidate_codes *found = &finder->found;
    const size_t count = code_total(found->counts), space = code_space(found->counts);
    if (to->code_count + space >= NO_CODES ||
        !reserve_closely((void **)&to->codes, &to->code_capacity,
                         to->code_count + space + CODES_SLACK, sizeof *to->codes))
        return false;
    if (count > 0) {
        uint16_t *const words = to->codes + to->code_count;
        memcpy(words, found->counts, sizeof found->counts);
        memcpy(words + HEAD_WORDS, found->codes, count * sizeof *found->codes);
        pair->first_code = (uint32_t)to->code_count;
        put_gap(to, pair, FLT_MAX);
    }
    to->code_count += space;
    to->used += space;
    pair->others = (float)(up_to * (1 - 1e-6));
    pair->pair.least =
        fmaxf(pair->pair.least, (float)fmin(least * (1 - 1e-6), (double)pair->others));
    return true;
}

// ---- Lists

// How many pairs a block has at least, on average, where frames of blocks pay: blocks of one sheet
// have some ten, and where layers lie on each other at an angle to the axes most of forty are of
// layers that are too far away.
enum { PAIRS_FOR_FRAMES = 16 };

// Without memory for them pairs stay in the lists.
static void want_frames(struct system *system)
{
    struct surface_contact *it = system->surface_contact;
    const size_t blocks = it->surfaces.block_count;
    it->frames_wanted = it->all_pairs > PAIRS_FOR_FRAMES * blocks;
    if (it->frames_wanted && !it->frames)
        it->frames = memory_allocate(system->allocator, blocks, sizeof *it->frames);
    it->frames_wanted &= it->frames != NULL;
}

// The span of a block, once, and its frame, for the positions of the start.
static void place_block(struct surface_contact *it, size_t b)
{
    const real(*x)[SURFACE_NODES] = (const real(*)[SURFACE_NODES])it->start[b];
    if (!it->spans_known)
        it->spans[b] = REAL_NAME(block_span_of)(x);
    if (it->frames_wanted)
        it->frames[b] =
            REAL_NAME(block_frame_of)(&(struct placed_block){x, it->broad->boxes[b], it->spans[b]});
}

// Those of all blocks, or of several ranks those of the pairs that this one has. Ends with a
// barrier where it uses it->listed, in which there is nothing yet.
static void place_blocks(struct surface_contact *it, const struct worker *worker)
{
    const struct range blocks = worker_share(worker, it->surfaces.block_count, 1);
    const struct range lists = worker_share(worker, it->broad->list_count, 1);
    const bool some = it->partial && it->spans_known;
    if (some && !it->frames_wanted)
        return;
    for (size_t i = lists.first; i < lists.end && some; i++) {
        const struct pair_list *found = &it->broad->lists[i];
        for (size_t p = 0; p < found->pair_count; p++) {
            atomic_store_explicit(&it->listed[found->pairs[p].a], 1, memory_order_relaxed);
            atomic_store_explicit(&it->listed[found->pairs[p].b], 1, memory_order_relaxed);
        }
    }
    worker_barrier(worker);
    for (size_t b = blocks.first; b < blocks.end; b++) {
        if (!some || it->listed[b])
            place_block(it, b);
        if (some)
            atomic_store_explicit(&it->listed[b], 0, memory_order_relaxed);
    }
}

// The pairs of a list of the broad phase, with what is known of those that were in the list before.
// Distances of new ones are those of the present state; `moves`: and so is the start, and pairs are
// left out that are farther apart than boxes show. `pairs` is scratch.
static bool take_pairs(struct surface_contact *it, size_t index, bool moves,
                       struct surface_pair **pairs, size_t *capacity)
{
    const struct pair_list *found = &it->broad->lists[index];
    const struct surface_block *blocks = it->surfaces.blocks;
    struct surface_list *list = &it->lists[index];
    size_t old = 0, count = 0;
    if (!reserve_closely((void **)pairs, capacity, found->pair_count, sizeof **pairs))
        return false;
    if (!it->start_known)
        list->pair_count = list->code_count = 0;
    list->used = 0;
    for (size_t p = 0; p < found->pair_count; p++) {
        const struct block_pair *pair = &found->pairs[p];
        struct surface_pair *to = &(*pairs)[count];
        while (old < list->pair_count &&
               (list->pairs[old].pair.a < pair->a ||
                (list->pairs[old].pair.a == pair->a && list->pairs[old].pair.b < pair->b)))
            old++;
        *to = (struct surface_pair){.pair = *pair, .others = pair->least, .first_code = NO_CODES};
        const bool known = old < list->pair_count && list->pairs[old].pair.a == pair->a &&
                           list->pairs[old].pair.b == pair->b;
        if (known)
            *to = list->pairs[old];
        else if (!moves)
            *to = pair_moved(it, *to);
        if (moves) {
            const double reach = 1.0001 * (1.5 + it->skin_listed) *
                                 thickness_between(it, blocks[pair->a].body, blocks[pair->b].body);
            if (it->frames_wanted && pair->a != pair->b && to->first_code == NO_CODES) {
                const float apart =
                    (float)REAL_NAME(frame_separation)(&it->frames[pair->a], &it->frames[pair->b]);
                to->pair.least = fmaxf(to->pair.least, apart);
                to->others = fmaxf(to->others, apart);
            }
            if ((double)to->pair.least > reach)
                continue;
        }
        count++;
        list->used += code_space(counts_of(list, to));
        atomic_store_explicit(&it->listed[pair->a], 1, memory_order_relaxed);
        atomic_store_explicit(&it->listed[pair->b], 1, memory_order_relaxed);
    }
    list->pair_count = 0;
    if (!reserve_anew((void **)&list->pairs, &list->pair_capacity, count, sizeof **pairs))
        return false;
    if (count > 0)
        memcpy(list->pairs, *pairs, count * sizeof **pairs);
    list->pair_count = count;
    list->found = found->pair_count;
    list->sleeps = false;
    list->measured = 0;
    REAL_NAME(broad_phase_forget)(it->broad, index);
    return compact_codes(list);
}

void REAL_NAME(surface_memory_has_run_out)(struct system *system)
{
    struct surface_contact *it = system->surface_contact;
    for (size_t i = 0; i < it->broad->list_count; i++)
        it->lists[i].pair_count = it->lists[i].passing_count = 0;
    it->pairs = it->all_pairs = 0;
    it->pushes = false;
    if (it->rows)
        it->rows->count = 0;
    const bool interrupted = interruption_is_due();
    if (it->shares) // the others wait for what this rank has not
        ranks_abort(1, interrupted ? "interrupted within a step that takes too long to be finished"
                                   : "out of memory for contact");
    if (system->fault.code != TAUT_OK)
        return;
    system->fault = (struct fault){
        .code = TAUT_ERROR_MEMORY, .step = system->state->step, .interrupted = interrupted};
}

// What the pairs of all lists know, of the present state, before lists are made again.
static void move_all_pairs(struct system *system, const struct worker *worker)
{
    struct surface_contact *it = system->surface_contact;
    const struct range blocks = worker_share(worker, it->surfaces.block_count, 1);
    const struct range lists = worker_share(worker, it->broad->list_count, 1);
    bool any = false;
    for (size_t i = 0; i < it->broad->list_count; i++)
        any |= it->lists[i].sleeps;
    REAL_NAME(surface_steps_know)(system, worker);
    for (size_t i = lists.first; i < lists.end; i++)
        if (!it->lists[i].sleeps)
            move_pairs(it, i);
    worker_barrier(worker);
    if (!any)
        return;
    for (size_t b = blocks.first; b < blocks.end; b++)
        it->steps[b] = displacements_since(system, b, it->list_x, it->list_y, it->list_z);
    worker_barrier(worker);
    for (size_t i = lists.first; i < lists.end; i++)
        if (it->lists[i].sleeps)
            move_pairs(it, i);
    worker_barrier(worker);
}

// Up to which displacement relative to each other the blocks of a pair that is so far out of reach,
// m, stay out of it: of all of their tiles.
static void limit_tiles(struct surface_contact *it, const struct block_pair *pair, double space)
{
    const struct block_tiles *a = &it->block_tiles[pair->a], *b = &it->block_tiles[pair->b];
    const real tightness = (real)(1.00001 / (space * space));
    for (int i = 0; i < a->count; i++)
        for (int k = 0; k < b->count; k++) {
            if (holds_flat(it) && it->flat->free[a->tiles[i] * it->flat->tile_count + b->tiles[k]])
                continue;
            real *one = &it->tightness[a->tiles[i] * it->tile_stride + b->tiles[k]];
            real *other = &it->tightness[b->tiles[k] * it->tile_stride + a->tiles[i]];
            *one = *other = tightness > *one ? tightness : *one;
        }
}

// How far a pair is out of reach, m.
static double margin_of(const struct surface_contact *it, const struct surface_pair *pair)
{
    const struct surface_block *blocks = it->surfaces.blocks;
    const double reach =
        1.5 * thickness_between(it, blocks[pair->pair.a].body, blocks[pair->pair.b].body);
    return (double)pair->pair.least - 1.002 * reach;
}

// The part of the skin, or of the one before, that pairs of a list which sleeps have to be out of
// reach at least, so that lists last almost as long as otherwise.
static const double MARGIN_LEAST = 0.5;

// Finds the distance of the nearest listed candidates of a pair again, in the positions of the
// start: what is known of it only falls with every step until they are evaluated.
static void measure_least(struct surface_contact *it, size_t index, size_t p)
{
    struct surface_list *list = &it->lists[index];
    struct surface_pair *pair = &list->pairs[p];
    const struct pair_codes of = listed_codes(list, pair);
    if (code_total(of.counts) == 0)
        return;
    know_least(pair, least_at_start(it, &pair->pair, of, 0, NULL), pair->others);
    list->measured += 2 * code_total(of.counts); // nodes are read first
}

// Whether the tiles of a pair of blocks may move as they like: the sheet is flat there.
static bool is_free(const struct surface_contact *it, const struct block_pair *pair)
{
    const struct block_tiles *a = &it->block_tiles[pair->a], *b = &it->block_tiles[pair->b];
    bool free = holds_flat(it) && a->count > 0 && b->count > 0;
    for (int i = 0; i < a->count && free; i++)
        for (int k = 0; k < b->count; k++)
            free &= it->flat->free[a->tiles[i] * it->flat->tile_count + b->tiles[k]];
    return free;
}

// Whether a list may sleep, for the positions of the start. False also without memory.
static bool may_sleep(struct surface_contact *it, struct pair_finder *finder, size_t index)
{
    const struct surface_list *list = &it->lists[index];
    const struct surface_block *blocks = it->surfaces.blocks;
    if (it->friction && it->friction->lists[index].pair_count > 0)
        return false;
    for (size_t p = 0; p < list->pair_count; p++) {
        const struct surface_pair *pair = &list->pairs[p];
        const double thickness =
            thickness_between(it, blocks[pair->pair.a].body, blocks[pair->pair.b].body);
        if (is_free(it, &pair->pair))
            continue;
        const double needed = MARGIN_LEAST * it->skin_asleep * thickness;
        if (it->block_tiles[pair->pair.a].count == 0 || it->block_tiles[pair->pair.b].count == 0)
            return false;
        if (margin_of(it, pair) < needed &&
            !REAL_NAME(surface_pair_list)(it, finder, index, p, 1.503 * thickness + needed))
            return false;
        if (margin_of(it, pair) < needed)
            measure_least(it, index, p);
        if (margin_of(it, pair) < needed)
            return false;
    }
    return true;
}

// Finds the lists that sleep, and what the tiles of their pairs may move. Ends with a barrier.
static void let_lists_sleep(struct system *system, const struct worker *worker)
{
    struct surface_contact *it = system->surface_contact;
    const struct range blocks = worker_share(worker, it->surfaces.block_count, 1);
    const struct range lists = worker_share(worker, it->broad->list_count, 1);
    struct pair_finder finder;
    REAL_NAME(pair_finder_begin)(&finder, it->broad, &it->rules);
    for (size_t i = lists.first; i < lists.end; i++)
        if (list_is_kept(it, i))
            it->lists[i].sleeps = it->lists[i].sleeps || may_sleep(it, &finder, i);
    if (it->shares) {
        worker_barrier(worker);
        if (worker->index == 0)
            REAL_NAME(surface_shares_sleep)(system);
    }
    for (size_t b = blocks.first; b < blocks.end; b++)
        atomic_store_explicit(&it->listed[b], 0, memory_order_relaxed);
    worker_barrier(worker);
    for (size_t i = lists.first; i < lists.end; i++)
        for (size_t p = 0; p < it->lists[i].pair_count && !it->lists[i].sleeps; p++) {
            const struct block_pair *pair = &it->lists[i].pairs[p].pair;
            atomic_store_explicit(&it->listed[pair->a], 1, memory_order_relaxed);
            atomic_store_explicit(&it->listed[pair->b], 1, memory_order_relaxed);
        }
    for (size_t i = 0; worker->index == 0 && i < it->broad->list_count; i++)
        for (size_t p = 0;
             p < it->lists[i].pair_count && it->lists[i].sleeps && list_is_kept(it, i); p++)
            if (!is_free(it, &it->lists[i].pairs[p].pair))
                limit_tiles(it, &it->lists[i].pairs[p].pair, margin_of(it, &it->lists[i].pairs[p]));
    if (worker->index == 0)
        REAL_NAME(surface_shares_tightness)(system);
    worker_barrier(worker);
}

static void count_pairs(struct surface_contact *it)
{
    it->pairs = it->all_pairs = it->measured = 0;
    for (size_t i = 0; i < it->broad->list_count; i++) {
        it->all_pairs += it->lists[i].found;
        it->pairs += it->lists[i].sleeps ? 0 : it->lists[i].found;
        it->measured += it->lists[i].measured;
    }
}

// Whether most pairs slept before, and most of these have woken since the skin is wider, which
// costs more than lists last longer. Then that skin was too wide, and lists sleep as before: up to
// a smaller displacement.
static bool wakes_too_many(struct surface_contact *it)
{
    if (!(it->steps_before > 0) || !(it->skin_listed > it->skin_before) ||
        it->skin_listed > it->skin)
        return false;
    count_pairs(it);
    const double steps = it->steps_before * it->skin_listed / it->skin_before;
    const double cost = it->making_before / steps + STEP_OF_PAIR * (double)it->pairs;
    const double slept = it->pairs_before - it->awake_before;
    if (2 * slept < it->pairs_before || 2 * ((double)it->pairs - it->awake_before) < slept ||
        cost <= it->cost_before)
        return false;
    it->skin_wide = it->skin_listed;
    it->cost_wide = cost;
    it->skin = it->skin_asleep = it->skin_before;
    return true;
}

// Whether this is the first of several ranks, which needs all pairs for what it does alone.
static bool leads_alone(const struct system *system)
{
    const struct surface_contact *it = system->surface_contact;
    return it->shares && !surface_shares(system) && ranks_number() == 0;
}

// Has the broad phase find all pairs, or those alone that this rank evaluates: not in a cut, which
// all ranks make alike.
static void want_pairs(struct system *system)
{
    struct surface_contact *it = system->surface_contact;
    it->partial = it->shares && !it->being_cut && !leads_alone(system);
    it->rules.lists = it->partial ? it->shares->lists : NULL;
    it->rules.blocks = it->partial ? it->shares->blocks : NULL;
}

// For how many steps ranks receive all nodes once lists have been made: where they are made again
// in the next one, saying which are wanted is of no use.
static uint64_t steps_of_all(const struct surface_contact *it)
{
    return it->steps_before < 2 ? 1 : 0;
}

// What lists are made with: how far they reach, and which pairs they have. By one worker.
static void plan_lists(struct system *system)
{
    struct surface_contact *it = system->surface_contact;
    adapt_skin(it);
    it->skin_listed = it->skin_asleep =
        it->overshot ? it->skin_least : fmax(it->skin, it->skin_least);
    REAL_NAME(surface_tiles_limit)(it);
    if (it->flat)
        it->flat->any = false;
    if (it->flat && !it->overshot && !it->relaxes && REAL_NAME(surface_motion_is_bounded)(system))
        REAL_NAME(flat_sheets_choose)(it);
    want_frames(system);
    want_pairs(system);
    for (size_t b = 0; b < it->body_count; b++)
        it->radius[b] = (1.5 + it->skin_listed) * it->half_thickness[b];
}

// Finds the lists that sleep: again with the skin before, if this one is too wide for that. Ends
// with a barrier.
static void let_far_lists_sleep(struct system *system, const struct worker *worker)
{
    struct surface_contact *it = system->surface_contact;
    let_lists_sleep(system, worker);
    if (worker->index == 0)
        it->sleeps_again = wakes_too_many(it);
    worker_barrier(worker);
    if (it->sleeps_again)
        let_lists_sleep(system, worker);
}

// Lists have been made, from which the motion counts now. By one worker.
static void note_lists(struct system *system, bool complete, bool moves)
{
    struct surface_contact *it = system->surface_contact;
    REAL_NAME(surface_shares_want_all)(system, system->state->step + steps_of_all(it));
    it->start_known = it->spans_known = true;
    count_pairs(it);
    if (atomic_exchange(&it->failed, false) || !complete)
        REAL_NAME(surface_memory_has_run_out)(system);
    it->steps_known = moves;
    it->lists_due = false;
    it->steps_listed = 0;
    it->skin_used = it->skin_known = 0;
    memset(it->bounds, 0, it->tile_count * sizeof *it->bounds); // positions are those of lists
    memset(it->moved_to_start, 0, it->tile_count * sizeof *it->moved_to_start);
    it->bounds_before = true;
    it->displaced = false;
}

void REAL_NAME(surface_lists_prepare)(struct system *system, const struct worker *worker)
{
    struct surface_contact *it = system->surface_contact;
    const struct state *s = system->state;
    worker_barrier(worker); // all have finished with the lists
    if (it->displaced && !it->lists_due && !it->rows)
        REAL_NAME(surface_lists_check_start)(system, worker);
    const bool ends_flat = holds_flat(it) && !REAL_NAME(surface_motion_is_bounded)(system);
    if (!it->lists_due && !ends_flat) {
        if (leads_alone(system))
            REAL_NAME(surface_pairs_complete)(system, START_NOW, worker);
        return;
    }

    REAL_NAME(exchange_all_nodes)(system, worker);
    if (it->flat)
        REAL_NAME(flat_sheets_measure)(system, 0, worker);
    REAL_NAME(surface_tiles_place)(system, worker);
    if (worker->index == 0)
        plan_lists(system);
    if (it->start_known && it->rows)
        REAL_NAME(surface_steps_know)(system, worker);
    else if (it->start_known)
        move_all_pairs(system, worker);
    const struct range share = surface_node_share(system, worker);
    memcpy(it->list_x + share.first, s->x + share.first, (share.end - share.first) * sizeof(real));
    memcpy(it->list_y + share.first, s->y + share.first, (share.end - share.first) * sizeof(real));
    memcpy(it->list_z + share.first, s->z + share.first, (share.end - share.first) * sizeof(real));
    worker_barrier(worker);

    // Implicit steps go on from a start that is known.
    const bool moves = !it->start_known || !it->rows;
    REAL_NAME(broad_phase_refit)(it->broad, s, moves ? it->start : NULL, worker);
    const bool complete = REAL_NAME(broad_phase_find)(it->broad, &it->rules, worker);
    const struct range blocks = worker_share(worker, it->surfaces.block_count, 1);
    const struct range lists = worker_share(worker, it->broad->list_count, 1);
    struct surface_pair *spare = NULL;
    size_t spare_capacity = 0;
    for (size_t b = blocks.first; b < blocks.end; b++)
        atomic_store_explicit(&it->listed[b], it->rows != NULL, memory_order_relaxed);
    worker_barrier(worker);
    if (moves)
        place_blocks(it, worker);
    worker_barrier(worker);
    for (size_t i = lists.first; i < lists.end && complete; i++)
        if (!take_pairs(it, i, moves, &spare, &spare_capacity))
            atomic_store(&it->failed, true);
    free(spare);
    worker_barrier(worker);
    if (worker->index == 0)
        REAL_NAME(surface_shares_found)(system);
    if (moves) // has been copied beside the boxes
        memset(it->steps + blocks.first, 0, (blocks.end - blocks.first) * sizeof *it->steps);
    if (moves && it->rows)
        REAL_NAME(surface_positions_keep)(system, worker);
    worker_barrier(worker);
    if (complete && !it->rows && !it->overshot && !it->relaxes)
        let_far_lists_sleep(system, worker);
    if (worker->index == 0)
        note_lists(system, complete, moves);
    worker_barrier(worker);
}
