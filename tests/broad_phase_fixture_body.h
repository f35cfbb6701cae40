// The body of broad_phase_fixture_f32.c and _f64.c, which define TAUT_REAL_BITS.
#include "broad_phase_fixture.h"

#include <stdlib.h>

#include "base/hash.h"
#include "contact/broad_phase.h"

struct team_work {
    struct broad_phase *broad;
    struct state *state;
    const struct broad_phase_rules *rules;
    int workers;
    bool found[64]; // by each worker
};

static void work(void *context, const struct worker *worker)
{
    struct team_work *team = context;
    if (worker->index == 0)
        team->workers = worker->count;
    REAL_NAME(broad_phase_refit)(team->broad, team->state, worker);
    team->found[worker->index] = REAL_NAME(broad_phase_find)(team->broad, team->rules, worker);
}

// Positions of a state without anything else; `part` moves all nodes towards the origin.
static struct state make_state(const struct search *search, double part)
{
    const size_t nodes = (size_t)search->nodes;
    struct state state = {.nodes = search->nodes};
    real **arrays[6] = {&state.x, &state.y, &state.z, &state.x_low, &state.y_low, &state.z_low};
    for (int i = 0; i < (search->mixed ? 6 : 3); i++) {
        *arrays[i] = calloc(nodes, sizeof(real));
        assert_non_null(*arrays[i]);
    }
    for (size_t node = 0; node < nodes; node++)
        for (int axis = 0; axis < 3; axis++)
            real_split(*arrays[axis], *arrays[axis + 3], node,
                       part * search->positions[node][axis]);
    return state;
}

static void free_state(struct state *state)
{
    real *arrays[6] = {state->x, state->y, state->z, state->x_low, state->y_low, state->z_low};
    for (int i = 0; i < 6; i++)
        free(arrays[i]);
}

static bool run(struct team_work *team, const struct search *search, double part)
{
    struct state state = make_state(search, part);
    team->state = &state;
    team_run(search->threads, work, team);
    free_state(&state);
    for (int i = 1; i < team->workers; i++)
        assert_int_equal(team->found[i], team->found[0]);
    return team->found[0];
}

static int compare_candidates(const void *first, const void *second)
{
    const struct candidate *a = first, *b = second;
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    if (a->a != b->a)
        return a->a < b->a ? -1 : 1;
    return a->b < b->b ? -1 : a->b > b->b;
}

static struct candidate candidate_of(const struct surfaces *surfaces, const struct block_pair *pair,
                                     int group, uint16_t code)
{
    const struct surface_block *a = &surfaces->blocks[group == 1 ? pair->b : pair->a];
    const struct surface_block *b = &surfaces->blocks[group == 1 ? pair->a : pair->b];
    if (group == 2) {
        assert_true(code >> 6 < a->edges && (code & 63) < b->edges);
        return (struct candidate){EDGE_EDGE, a->first_edge + (uint32_t)(code >> 6),
                                  b->first_edge + (uint32_t)(code & 63)};
    }
    assert_true(code >> 5 < a->own_nodes && (code & 31) < b->triangles);
    return (struct candidate){POINT_TRIANGLE,
                              surfaces->nodes[a->first_node + (uint32_t)(code >> 5)],
                              b->first_triangle + (uint32_t)(code & 31)};
}

static void read_lists(const struct broad_phase *broad, struct search_result *result)
{
    struct hash hash;
    size_t capacity = 0;
    hash_begin(&hash);
    for (size_t l = 0; l < broad->list_count; l++)
        capacity += broad->lists[l].code_count;
    result->items = calloc(capacity + 1, sizeof *result->items);
    assert_non_null(result->items);
    for (size_t l = 0; l < broad->list_count; l++) {
        const struct pair_list *list = &broad->lists[l];
        size_t at = 0;
        for (size_t p = 0; p < list->pair_count; p++) {
            const struct block_pair *pair = &list->pairs[p];
            assert_int_equal(pair->a / PAIR_CHUNK, l);
            assert_true(pair->a <= pair->b && pair->b < broad->surfaces->block_count);
            assert_true(p == 0 || pair[-1].a < pair->a ||
                        (pair[-1].a == pair->a && pair[-1].b < pair->b));
            assert_true(pair->a != pair->b || pair->counts[1] == 0);
            assert_int_equal(pair->first_code, at);
            for (int group = 0; group < 3; group++)
                for (int i = 0; i < pair->counts[group]; i++, at++) {
                    const uint16_t code = list->codes[at];
                    assert_true(i == 0 || list->codes[at - 1] < code);
                    assert_true(group < 2 || pair->a != pair->b || (code & 63) > code >> 6);
                    result->items[result->count++] =
                        candidate_of(broad->surfaces, pair, group, code);
                }
            hash_add(&hash, &pair->a, sizeof pair->a);
            hash_add(&hash, &pair->b, sizeof pair->b);
            hash_add(&hash, pair->counts, sizeof pair->counts);
        }
        assert_int_equal(at, list->code_count);
        hash_add(&hash, list->codes, list->code_count * sizeof *list->codes);
    }
    result->hash = hash_end(&hash);
    if (result->count > 0)
        qsort(result->items, result->count, sizeof *result->items, compare_candidates);
}

struct search_result REAL_NAME(search)(const struct search *search)
{
    const struct broad_phase_rules rules = {.bodies = search->bodies,
                                            .radius = search->radius,
                                            .enabled = search->enabled,
                                            .apart = search->apart,
                                            .built = search->built};
    struct team_work team = {.rules = &rules};
    struct search_result result = {.found = false};
    taut_error error = {0};
    if (REAL_NAME(broad_phase_make)(search->surfaces, REAL_NAME(kernels_for)(search->isa),
                                    search->allocator, &team.broad, &error) != TAUT_OK) {
        assert_int_equal(error.code, TAUT_ERROR_MEMORY);
        return result;
    }
    (void)run(&team, search, 0.7);
    result.found = run(&team, search, 1);
    result.bytes = REAL_NAME(broad_phase_bytes)(team.broad);
    if (result.found)
        read_lists(team.broad, &result);
    REAL_NAME(broad_phase_free)(team.broad);
    return result;
}
