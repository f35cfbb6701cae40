// Which elements a rank computes (parts.h).
#include "elements/parts.h"

#include <stdlib.h>

#include "base/sort.h"
#include "ranks/ranks.h"
#include "springs/part_sums.h"

// Whether a rank computes a part, and whether it counts its power.
enum { NOT_COMPUTED, COMPUTED, COUNTED };

// The nodes of a row of a block that lie in [from, to), and of how many rows.
struct rows {
    int64_t from, to; // nodes along x
    int64_t first, end;
};

// The nodes of the part's body in rows [first, end) of layer k.
static struct range nodes_of(const struct elements_body *body, int64_t k, struct rows rows)
{
    const int64_t nx = body->grid[0], row = k * body->grid[1];
    const int64_t first = (row + rows.first) * nx + rows.from;
    const int64_t end = (row + rows.end - 1) * nx + rows.to;
    return (struct range){(size_t)(body->first + first), (size_t)(body->first + end)};
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

// Adds the nodes of a part of one layer of a body on a grid, and those that it reads, one or two
// beyond it in each direction.
static bool need_grid(const struct elements_body *body, int64_t inside, struct plan_part *part,
                      uint8_t *state)
{
    enum { REACH = 2 };
    const bool solid = elements_are_solid(body);
    const int64_t *const grid = body->grid, *const blocks = body->blocks;
    const int64_t layer = inside / (blocks[0] * blocks[1]);
    const int64_t sizes[2] = {solid ? ELEMENT_SOLID_NODES : ELEMENT_SHEET_NODES,
                              solid ? ELEMENT_SOLID_ROWS : ELEMENT_SHEET_ROWS};
    const int64_t first[2] = {inside % blocks[0] * sizes[0],
                              inside / blocks[0] % blocks[1] * sizes[1]};
    const int64_t end[2] = {least(first[0] + sizes[0], grid[0]),
                            least(first[1] + sizes[1], grid[1])};
    const struct range own =
        nodes_of(body, layer, (struct rows){first[0], end[0], first[1], end[1]});
    if (own.first >= part->end_node || own.end <= part->first_node)
        return true;
    *state = plan_part_owns(part, own.first) ? COUNTED : COMPUTED;
    const struct rows read = {most(first[0] - REACH, 0), least(end[0] + REACH, grid[0]),
                              most(first[1] - REACH, 0), least(end[1] + REACH, grid[1])};
    for (int64_t k = most(layer - 1, 0); k < least(layer + 2, grid[2]); k++) {
        const struct range nodes = nodes_of(body, k, read);
        if (!plan_part_need(part, nodes.first, nodes.end))
            return false;
    }
    return true;
}

static bool need_triangles(const struct element_triangles *triangles, struct plan_block block,
                           struct plan_part *part, uint8_t *state)
{
    const struct range span = triangles->spans[block.number];
    if (span.end <= part->first_node || span.first >= part->end_node)
        return true; // it may not be there
    for (uint64_t i = block.first; i < block.first + block.count && *state == NOT_COMPUTED; i++)
        for (int corner = 0; corner < 3; corner++)
            if (plan_part_owns(part, triangles->nodes[i][corner]))
                *state = COMPUTED;
    if (*state == NOT_COMPUTED)
        return true;
    if (plan_part_owns(part, triangles->nodes[block.first][0]))
        *state = COUNTED;
    for (uint64_t i = block.first; i < block.first + block.count; i++)
        for (int corner = 0; corner < 3; corner++) {
            const uint64_t node = triangles->nodes[i][corner];
            if (!plan_part_need(part, node, node + 1))
                return false;
        }
    return true;
}

static bool need_bending(const struct element_bending *bending, size_t chunk,
                         struct plan_part *part, uint8_t *state)
{
    const struct range nodes = bending_chunk(bending, chunk);
    if (nodes.first >= part->end_node || nodes.end <= part->first_node)
        return true;
    *state = plan_part_owns(part, nodes.first) ? COUNTED : COMPUTED;
    if (!plan_part_need(part, nodes.first, nodes.end))
        return false;
    for (size_t i = bending->starts[nodes.first]; i < bending->starts[nodes.end]; i++) {
        const uint64_t node = bending->columns[i];
        if (!plan_part_need(part, node, node + 1))
            return false;
    }
    return true;
}

// Folds pull with the strains of those beside them.
static void choose_folds(const struct element_folds *folds, size_t chunk, struct plan_part *part,
                         uint8_t *state)
{
    const struct range all = folds_of(folds, chunk);
    if (!folds_have(folds, all.first))
        return;
    for (size_t f = all.first; f < all.end && *state == NOT_COMPUTED; f++)
        for (int corner = 0; corner < 4; corner++)
            if (plan_part_owns(part, folds->items[f].nodes[corner]))
                *state = COMPUTED;
    if (*state == NOT_COMPUTED)
        return;
    if (plan_part_owns(part, folds->items[all.first].nodes[0]))
        *state = COUNTED;
    part->folds[chunk] |= FOLDS_PULL;
    for (size_t f = all.first; f < all.end; f++)
        for (int other = 0; other < 4; other++)
            part->folds[folds->items[f].others[other] / FOLD_CHUNK] |= FOLDS_PULL;
}

// Whether this rank sums the chunk of folds (SUM_CHUNK) that begins with this one.
static bool sums_folds(const struct element_folds *folds, size_t first,
                       const struct plan_part *part)
{
    return plan_part_owns(part, folds_first_node(folds, first));
}

static void choose_sums(const struct element_folds *folds, struct plan_part *part)
{
    for (size_t first = 0; first < folds->count; first += SUM_CHUNK) {
        const size_t end = (size_t)min_u64(folds->count, first + SUM_CHUNK);
        for (size_t f = first; sums_folds(folds, first, part) && f < end; f++) {
            part->folds[f / FOLD_CHUNK] |= FOLDS_SUMMED;
            for (int other = 0; other < 4; other++)
                part->folds[folds->items[f].others[other] / FOLD_CHUNK] |= FOLDS_SUMMED;
        }
    }
}

static bool need_folds(const struct element_folds *folds, struct plan_part *part, uint8_t *states)
{
    for (size_t chunk = 0; chunk < folds_chunks(folds); chunk++)
        choose_folds(folds, chunk, part, &states[chunk]);
    choose_sums(folds, part);
    for (size_t f = 0; f < folds->count; f++)
        for (int corner = 0; part->folds[f / FOLD_CHUNK] & FOLDS_PULL && corner < 4; corner++) {
            const uint64_t node = folds->items[f].nodes[corner];
            if (!plan_part_need(part, node, node + 1))
                return false;
        }
    return true;
}

static bool want_triangles(const struct element_triangles *triangles, const struct plan_part *part,
                           void *wanted)
{
    bool want = true;
    for (size_t first = 0; first < triangles->count; first += SUM_CHUNK) {
        const size_t end = (size_t)min_u64(triangles->count, first + SUM_CHUNK);
        const bool sums = plan_part_owns(part, triangles_first_node(triangles, first));
        for (size_t i = first; sums && i < end; i++)
            for (int corner = 0; corner < 3 && want; corner++)
                want = REAL_NAME(part_sums_want_node)(wanted, triangles->nodes[i][corner]);
    }
    return want;
}

static bool want_bending(const struct element_bending *bending, const struct plan_part *part,
                         void *wanted)
{
    bool want = true;
    for (size_t first = 0; first < bending->nodes; first += SUM_CHUNK) {
        const size_t end = (size_t)min_u64(bending->nodes, first + SUM_CHUNK);
        if (!plan_part_owns(part, first))
            continue;
        for (size_t node = first; want && node < end; node++) {
            const bool bends = bending->starts[node] < bending->starts[node + 1];
            want = !bends || REAL_NAME(part_sums_want_node)(wanted, node);
        }
        for (size_t i = bending->starts[first]; want && i < bending->starts[end]; i++)
            want = REAL_NAME(part_sums_want_node)(wanted, bending->columns[i]);
    }
    return want;
}

static bool want_fold(const struct fold *fold, void *wanted)
{
    bool want = true;
    for (int corner = 0; corner < 4 && want; corner++)
        want = REAL_NAME(part_sums_want_node)(wanted, fold->nodes[corner]);
    return want;
}

static bool want_folds(const struct element_folds *folds, const struct plan_part *part,
                       void *wanted)
{
    bool want = true;
    for (size_t first = 0; first < folds->count; first += SUM_CHUNK) {
        const size_t end = (size_t)min_u64(folds->count, first + SUM_CHUNK);
        for (size_t f = first; sums_folds(folds, first, part) && f < end && want; f++) {
            want = want_fold(&folds->items[f], wanted);
            for (int other = 0; other < 4 && want; other++)
                want = want_fold(&folds->items[folds->items[f].others[other]], wanted);
        }
    }
    return want;
}

bool REAL_NAME(elements_sums_need)(const struct system *system, const struct plan_part *part,
                                   void *wanted)
{
    const struct element_set *elements = system->elements;
    return !elements || (want_triangles(&elements->triangles, part, wanted) &&
                         want_bending(&elements->bending, part, wanted) &&
                         want_folds(&elements->bending.folds, part, wanted));
}

bool REAL_NAME(elements_need)(const struct system *system, struct plan_part *part)
{
    const struct element_set *elements = system->elements;
    if (!elements || elements->all_swept)
        return true;
    const struct plan_set *set = &elements->triangles.set;
    const size_t chunks = bending_chunks(&elements->bending);
    part->elements = calloc(element_power_count(elements) + 1, sizeof *part->elements);
    part->folds = calloc(folds_chunks(&elements->bending.folds) + 1, sizeof *part->folds);
    bool done = part->elements && part->folds;
    uint8_t *states = part->elements;
    for (size_t b = 0; done && b < elements->body_count; b++) {
        const struct elements_body *body = &elements->bodies[b];
        const int64_t parts = (int64_t)element_parts_of(body);
        for (int64_t i = 0; done && i < parts && !body->swept; i++)
            done = need_grid(body, i, part, &states[(int64_t)body->first_part + i]);
    }
    states += done ? elements->part_count : 0;
    for (uint32_t b = 0; done && elements->triangles.count > 0 && b < set->block_count; b++)
        done = need_triangles(&elements->triangles, set->blocks[b], part,
                              &states[set->blocks[b].number]);
    states += done ? set->block_count : 0;
    for (size_t chunk = 0; done && chunk < chunks; chunk++)
        done = need_bending(&elements->bending, chunk, part, &states[chunk]);
    return done && need_folds(&elements->bending.folds, part, states + chunks);
}

void REAL_NAME(elements_share_powers)(struct system *system, const struct worker *worker)
{
    const struct element_set *elements = system->elements;
    if (!system->exchange || !elements || elements->all_swept)
        return;
    worker_barrier(worker);
    if (worker->index == 0) {
        const uint8_t *states = REAL_NAME(exchange_part)(system->exchange)->elements;
        const size_t count = element_power_count(elements);
        for (size_t number = 0; number < count; number++)
            if (states[number] != COUNTED)
                elements->powers[number] = 0;
        ranks_add(elements->powers, count);
    }
    stage_end(&system->clock, STAGE_RANKS, worker);
}
