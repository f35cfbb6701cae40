// The body of broad_phase_fixture_f32.c and _f64.c, which define TAUT_REAL_BITS.
#include "broad_phase_fixture.h"

#include <stdlib.h>

#include "base/hash.h"
#include "contact/barrier.h"
#include "contact/broad_phase.h"
#include "contact/candidates.h"
#include "contact/separation.h"
#include "springs/motion.h"

struct team_work {
    struct broad_phase *broad;
    struct state *state;
    const struct broad_phase_rules *rules;
    int workers;
    bool found[64];         // by each worker
    block_reals *positions; // by block
    const struct kernels *kernels;
};

static void work(void *context, const struct worker *worker)
{
    struct team_work *team = context;
    if (worker->index == 0)
        team->workers = worker->count;
    REAL_NAME(broad_phase_refit)(team->broad, team->state, NULL, worker);
    team->found[worker->index] = REAL_NAME(broad_phase_find)(team->broad, team->rules, worker);
}

// The nodes of all blocks; the first one is repeated beyond the last.
static void read_positions(struct team_work *team, const struct state *state)
{
    const struct surfaces *surfaces = team->broad->surfaces;
    for (size_t b = 0; b < surfaces->block_count; b++)
        for (uint32_t i = 0; i < SURFACE_NODES; i++) {
            const struct surface_block *block = &surfaces->blocks[b];
            const uint32_t node = surfaces->nodes[block->first_node + (i < block->nodes ? i : 0)];
            team->positions[b][0][i] = state->x[node] + real_low(state->x_low, node);
            team->positions[b][1][i] = state->y[node] + real_low(state->y_low, node);
            team->positions[b][2][i] = state->z[node] + real_low(state->z_low, node);
        }
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
    read_positions(team, &state);
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

// A pair with its candidates.
struct pair_candidates {
    uint32_t a, b;
    const uint16_t *codes, *counts;
    double least, box; // m: distances that none is below, of candidates and of blocks
};

// The number of the first triangle or edge of a block over all blocks.
static uint32_t first_part(const struct surfaces *surfaces, const struct surface_block *block,
                           bool triangles)
{
    uint32_t first = 0;
    for (const struct surface_block *b = surfaces->blocks; b < block; b++)
        first += triangles ? b->triangles : b->edges;
    return first;
}

static struct candidate candidate_of(const struct surfaces *surfaces,
                                     const struct pair_candidates *pair, int group, uint16_t code)
{
    const struct surface_block *a = &surfaces->blocks[group == 1 ? pair->b : pair->a];
    const struct surface_block *b = &surfaces->blocks[group == 1 ? pair->a : pair->b];
    if (group == 2) {
        assert_true(code >> 6 < a->edges && (code & 63) < b->edges);
        return (struct candidate){EDGE_EDGE, first_part(surfaces, a, false) + (uint32_t)(code >> 6),
                                  first_part(surfaces, b, false) + (uint32_t)(code & 63)};
    }
    assert_true(code >> 5 < a->own_nodes && (code & 31) < b->triangles);
    return (struct candidate){POINT_TRIANGLE,
                              surfaces->nodes[a->first_node + (uint32_t)(code >> 5)],
                              first_part(surfaces, b, true) + (uint32_t)(code & 31)};
}

static struct point node_at(const struct team_work *team, uint32_t block, int node)
{
    const real(*x)[SURFACE_NODES] = (const real(*)[SURFACE_NODES])team->positions[block];
    return (struct point){x[0][node], x[1][node], x[2][node]};
}

// The nodes of a candidate, and the forces on those of the first and second block of its pair.
static struct contact_nodes nodes_of_code(const struct team_work *team,
                                          const struct pair_candidates *pair, int group,
                                          uint16_t code, block_reals *on[2])
{
    const struct surfaces *surfaces = team->broad->surfaces;
    const int sides[2] = {group == 1, group != 1};
    const uint32_t blocks[2] = {sides[0] ? pair->b : pair->a, sides[1] ? pair->b : pair->a};
    const struct surface_block *one = &surfaces->blocks[blocks[0]],
                               *other = &surfaces->blocks[blocks[1]];
    const int split = group == 2 ? 2 : 1;
    struct contact_nodes nodes;
    const struct block_corners *first = corners_of(surfaces, one),
                               *second = corners_of(surfaces, other);
    for (int i = 0; i < 4; i++) {
        const int which = i >= split;
        nodes.local[i] = group != 2 && !which ? code >> 5
                         : group != 2         ? second->triangles[i - split][code & 31]
                         : which              ? second->edges[i - split][code & 63]
                                              : first->edges[i][code >> 6];
        nodes.at[i] = node_at(team, blocks[which], nodes.local[i]);
        nodes.forces[i] = on[sides[which]];
    }
    return nodes;
}

static struct closest closest_of(const struct contact_nodes *nodes, int group, real *parallel)
{
    const struct point *p = nodes->at;
    *parallel = 1;
    if (group < 2)
        return closest_on_triangle(p[0], p[1], p[2], p[3]);
    return closest_on_edges(p[0], p[1], p[2], p[3], parallel);
}

// The square of the distance of a candidate, by one candidate at a time.
static double square_of(const struct team_work *team, const struct pair_candidates *pair, int group,
                        uint16_t code)
{
    block_reals *none[2] = {NULL, NULL};
    const struct contact_nodes nodes = nodes_of_code(team, pair, group, code, none);
    real parallel;
    return (double)closest_of(&nodes, group, &parallel).square;
}

// Where a kernel hands out those that touch: by then their forces, found again one candidate at a
// time, have been added, and no others.
struct handed_out {
    const struct team_work *team;
    const struct pair_candidates *pair;
    const struct barrier *barrier;
    bool bare;
    block_reals *wanted[2], *found[2];
    size_t count;
    uint32_t next_key; // the least that may follow
};

static void check_equal_forces(const struct handed_out *it)
{
    for (int block = 0; block < 2; block++)
        for (int axis = 0; axis < 3; axis++)
            for (int node = 0; node < SURFACE_NODES; node++)
                assert_true((*it->found[block])[axis][node] == (*it->wanted[block])[axis][node]);
}

// One candidate at a time: its forces, which are added, what kernels hand out of it, and the square
// of its least distance, m2. Returns whether it touches.
static bool add_candidate(const struct contact_nodes *nodes, int group, bool bare,
                          const struct barrier *barrier, struct touching_candidate *contact,
                          real *least)
{
    if (bare && group == 2) {
        const struct edge_contacts contacts = find_edge_contacts(nodes->at);
        const struct edges_together one = edges_in_one(&contacts, barrier);
        *contact = (struct touching_candidate){
            0, {one.parts[0], one.parts[1]}, one.apart, one.square, one.weight, one.energy};
        *least = contacts.least;
        return add_edges_force(nodes, &contacts, barrier);
    }
    real parallel, slope = 0, weight = 1;
    const struct closest closest = closest_of(nodes, group, &parallel);
    if (parallel < EDGES_PARALLEL)
        weight = edges_weight(parallel, &slope);
    *least = closest.square;
    *contact = (struct touching_candidate){
        0,
        {group < 2 ? -closest.weights[2] : closest.weights[1], -closest.weights[3]},
        closest.apart,
        closest.square,
        weight,
        weight};
    if (!(closest.square < barrier->reach * barrier->reach) || closest.square == 0)
        return false;
    const real distance = real_sqrt(closest.square);
    const real scale = weight * barrier_force(barrier, distance) / distance;
    const struct point force = {scale * closest.apart.x, scale * closest.apart.y,
                                scale * closest.apart.z};
    for (int i = 0; i < 4; i++)
        add_force(nodes, i, closest.weights[i], force);
    if (slope > 0)
        add_turning_force(nodes, -barrier_energy(barrier, distance) * slope);
    return true;
}

static void check_handed_out(void *context, const struct touching_candidate *items, int count)
{
    struct handed_out *it = context;
    for (int i = 0; i < count; i++) {
        const int group = (int)(items[i].key >> 16);
        const struct contact_nodes nodes =
            nodes_of_code(it->team, it->pair, group, (uint16_t)items[i].key, it->wanted);
        assert_true(items[i].key >= it->next_key);
        it->next_key = items[i].key + 1;
        struct touching_candidate wanted;
        real square;
        assert_true(add_candidate(&nodes, group, it->bare, it->barrier, &wanted, &square));
        assert_true(items[i].parts[0] == wanted.parts[0] && items[i].parts[1] == wanted.parts[1]);
        assert_true(items[i].apart.x == wanted.apart.x && items[i].apart.y == wanted.apart.y &&
                    items[i].apart.z == wanted.apart.z);
        assert_true(items[i].square == wanted.square && items[i].weight == wanted.weight);
        assert_true(items[i].energy == wanted.energy);
    }
    check_equal_forces(it);
    (*it->found[0])[0][0] += 1; // a force such as that of friction
    (*it->wanted[0])[0][0] += 1;
    it->count += (size_t)count;
}

static void check_handing_out(const struct team_work *team, const struct listed_pair *listed,
                              const struct pair_candidates *pair, const struct barrier *barrier,
                              size_t count)
{
    block_reals wanted[2] = {{{0}}}, found[2] = {{{0}}};
    const int last = pair->a != pair->b;
    struct handed_out all = {
        .team = team,
        .pair = pair,
        .barrier = barrier,
        .bare = listed->bare,
        .wanted = {&wanted[0], &wanted[last]},
        .found = {&found[0], &found[last]},
    };
    struct touching_candidates touching = {.take = check_handed_out, .context = &all};
    struct listed_pair these = *listed;
    real least;
    these.touching = &touching;
    (void)team->broad->kernels->barrier_forces(&these, barrier, found[0], found[last], &least);
    assert_int_equal(all.count, count);
    check_equal_forces(&all);
}

// Forces of kernels are those of one candidate at a time, to the bit.
static void check_forces(const struct team_work *team, const struct listed_pair *listed,
                         const struct pair_candidates *pair, double square)
{
    const real reach = (real)sqrt(square);
    const struct barrier barrier = {reach, reach / 3, 10};
    block_reals wanted[2] = {{{0}}}, found[2] = {{{0}}};
    const int last = pair->a != pair->b;
    block_reals *on[2] = {&wanted[0], &wanted[last]};
    size_t touching = 0;
    real least = REAL_HUGE;
    for (int group = 0, i = 0; group < 3; group++)
        for (int k = 0; k < pair->counts[group]; k++, i++) {
            const struct contact_nodes nodes =
                nodes_of_code(team, pair, group, listed->codes[i], on);
            struct touching_candidate contact;
            real square_of_it;
            touching +=
                add_candidate(&nodes, group, listed->bare, &barrier, &contact, &square_of_it);
            least = square_of_it < least ? square_of_it : least;
        }
    real least_found;
    uint32_t pushed, nodes = 0;
    struct listed_pair these = *listed;
    these.pushed = &pushed;
    assert_int_equal(
        team->broad->kernels->barrier_forces(&these, &barrier, found[0], found[last], &least_found),
        touching > 0);
    assert_true(least_found <= least || (these.marks && touching == 0));
    for (int block = 0; block <= last; block++)
        for (int axis = 0; axis < 3; axis++)
            for (int node = 0; node < SURFACE_NODES; node++) {
                nodes |= (uint32_t)(block == last && wanted[block][axis][node] != 0) << node;
                if (found[block][axis][node] != wanted[block][axis][node])
                    fail_msg("a force of %.9g instead of %.9g", (double)found[block][axis][node],
                             (double)wanted[block][axis][node]);
            }
    assert_int_equal(pushed, nodes);
    check_handing_out(team, listed, pair, &barrier, touching);
}

// The candidates that kernels have chosen; `extra` is farther than the limit, which may happen
// where the distance of slivers, found for one at a time, is too large.
struct choice {
    size_t kept, extra;
    size_t between;      // pairs for which check_mark has been called
    size_t pairs, rough; // lists have much less than the least distance of the latter
};

static double square_from_edge(const double p[3], const double a[3], const double b[3])
{
    double along = 0, whole = 0, square = 0;
    for (int axis = 0; axis < 3; axis++) {
        along += (p[axis] - a[axis]) * (b[axis] - a[axis]);
        whole += (b[axis] - a[axis]) * (b[axis] - a[axis]);
    }
    const double part = whole > 0 ? fmin(1, fmax(0, along / whole)) : 0;
    for (int axis = 0; axis < 3; axis++) {
        const double d = p[axis] - a[axis] - part * (b[axis] - a[axis]);
        square += d * d;
    }
    return square;
}

// The square of the distance of edges p0 p1 and p2 p3 in double: at an end of one of them, or
// between the lines. Lines that are parallel but for rounding have no nearest points.
static double square_of_edges(const double p[4][3])
{
    double dd = 0, ee = 0, de = 0, dr = 0, er = 0, square = 0;
    for (int axis = 0; axis < 3; axis++) {
        const double d = p[1][axis] - p[0][axis], e = p[3][axis] - p[2][axis],
                     r = p[0][axis] - p[2][axis];
        dd += d * d;
        ee += e * e;
        de += d * e;
        dr += d * r;
        er += e * r;
    }
    const double ends =
        fmin(fmin(square_from_edge(p[0], p[2], p[3]), square_from_edge(p[1], p[2], p[3])),
             fmin(square_from_edge(p[2], p[0], p[1]), square_from_edge(p[3], p[0], p[1])));
    const double whole = dd * ee - de * de, s = (de * er - ee * dr) / whole,
                 t = (dd * er - de * dr) / whole;
    if (!(whole > 1e-9 * dd * ee && s > 0 && s < 1 && t > 0 && t < 1))
        return ends;
    for (int axis = 0; axis < 3; axis++) {
        const double apart =
            p[0][axis] + s * (p[1][axis] - p[0][axis]) - p[2][axis] - t * (p[3][axis] - p[2][axis]);
        square += apart * apart;
    }
    return fmin(ends, square);
}

// That of nearly parallel edges, and how much it changes along them, m2: they turn by their sine
// over half of their length. False: others.
static bool parallel_square(const struct team_work *team, const struct pair_candidates *pair,
                            int group, uint16_t code, double *square, double *change)
{
    block_reals *none[2] = {NULL, NULL};
    const struct contact_nodes nodes = nodes_of_code(team, pair, group, code, none);
    const struct point *p = nodes.at;
    double at[4][3], lengths = 0;
    real parallel = 1;
    if (group == 2)
        (void)closest_on_edges(p[0], p[1], p[2], p[3], &parallel);
    for (int i = 0; i < 4; i++) {
        at[i][0] = (double)p[i].x;
        at[i][1] = (double)p[i].y;
        at[i][2] = (double)p[i].z;
    }
    for (int axis = 0; axis < 3; axis++)
        lengths += pow(at[1][axis] - at[0][axis], 2) + pow(at[3][axis] - at[2][axis], 2);
    *square = square_of_edges((const double(*)[3])at);
    *change = (double)EDGES_PARALLEL * lengths / 4;
    return !(parallel >= EDGES_PARALLEL);
}

static struct separations separations_of(const struct team_work *team, uint32_t a, uint32_t b)
{
    const uint32_t numbers[2] = {a, b};
    struct placed_block blocks[2];
    struct block_frame frames[2];
    real boxes[2][6];
    for (int side = 0; side < 2; side++) {
        const real(*x)[SURFACE_NODES] =
            (const real(*)[SURFACE_NODES])team->positions[numbers[side]];
        team->kernels->surface_box(x, boxes[side]);
        blocks[side] = (struct placed_block){x, boxes[side], REAL_NAME(block_span_of)(x)};
        frames[side] = REAL_NAME(block_frame_of)(&blocks[side]);
    }
    return (struct separations){
        REAL_NAME(block_separation)(&blocks[0], &blocks[1], HUGE_VAL),
        REAL_NAME(frame_separation)(&frames[0], &frames[1]),
    };
}

struct separations REAL_NAME(separations)(double distance)
{
    block_reals positions[2] = {{{0}}};
    const struct team_work team = {.positions = positions,
                                   .kernels = REAL_NAME(kernels_for)(ISA_BASE)};
    const double part = sqrt(0.5), cell = 0.007; // m; turned by 45 degrees about z
    for (int block = 0; block < 2; block++)
        for (int i = 0; i < SURFACE_NODES; i++) {
            const int node = i < 25 ? i : 0;
            const int row = node / 5;
            const double u = (node % 5 + 3 * block) * cell, v = row * cell, w = block * distance;
            positions[block][0][i] = (real)(part * (u - w));
            positions[block][1][i] = (real)(part * (u + w));
            positions[block][2][i] = (real)v;
        }
    return separations_of(&team, 0, 1);
}

// No direction separates blocks by more than the distance of their candidates.
static void check_separations(const struct team_work *team, const struct pair_candidates *pair,
                              double distance)
{
    if (pair->a == pair->b)
        return;
    const struct separations found = separations_of(team, pair->a, pair->b);
    if (found.by_nodes > distance || found.by_frames > distance)
        fail_msg("blocks that are %g and %g apart, with a distance of %g", found.by_nodes,
                 found.by_frames, distance);
}

// Edges that are nearer than the points that are found for them are marked up to their true
// distance: number i of the candidates, of edges.
static void check_mark(const struct team_work *team, const struct listed_pair *pair, int i,
                       double square)
{
    struct listed_pair listed = *pair;
    const struct barrier none = {0, 0, 0};
    block_reals unused = {{0}};
    real least;
    listed.square = (real)square;
    (void)team->broad->kernels->barrier_forces(&listed, &none, unused, unused, &least);
    const int k = i - pair->counts[0] - pair->counts[1];
    const uint16_t *word =
        listed.near + mark_words(pair->counts[0]) + mark_words(pair->counts[1]) + k / MARK_BITS;
    if (!(*word >> k % MARK_BITS & 1))
        fail_msg("edges with a smaller square than %g are not near", square);
}

// The candidates of a pair nearer than about the mean of their distances, in their order, and the
// least distance of all, as the kernel of forces finds them and as the list has it.
static void check_nearer(const struct team_work *team, const struct pair_candidates *pair,
                         struct choice *choice, struct hash *hash)
{
    const uint16_t *codes = pair->codes;
    const int count = pair->counts[0] + pair->counts[1] + pair->counts[2];
    double *squares = calloc((size_t)count + 1, sizeof *squares), least = HUGE_VAL, mean = 0;
    const size_t words =
        mark_words(pair->counts[0]) + mark_words(pair->counts[1]) + mark_words(pair->counts[2]);
    uint16_t *near = calloc(words + 1, sizeof *near);
    assert_non_null(squares);
    assert_non_null(near);
    for (int group = 0, i = 0; group < 3; group++)
        for (int k = 0; k < pair->counts[group]; k++, i++) {
            squares[i] = square_of(team, pair, group, codes[i]);
            least = fmin(least, squares[i]);
            mean += squares[i] / count;
        }
    const struct listed_pair listed = {
        .x_a = (const real(*)[SURFACE_NODES])team->positions[pair->a],
        .x_b = (const real(*)[SURFACE_NODES])team->positions[pair->b],
        .a = corners_of(team->broad->surfaces, &team->broad->surfaces->blocks[pair->a]),
        .b = corners_of(team->broad->surfaces, &team->broad->surfaces->blocks[pair->b]),
        .codes = codes,
        .counts = pair->counts,
        .bare = team->broad->surfaces->blocks[pair->a].triangles == 0 &&
                team->broad->surfaces->blocks[pair->b].triangles == 0,
        .near = near,
        .square = (real)mean,
    };
    if (!isfinite(mean)) {
        free(near);
        free(squares);
        return;
    }
    check_forces(team, &listed, pair, mean);
    const double rounded = 1e-4 * (mean + least);
    if (pair->least * pair->least > least + rounded)
        fail_msg("least distance %g instead of %g", pair->least, sqrt(least));
    if (pair->box * pair->box > least + rounded)
        fail_msg("blocks that are %g apart, with a distance of %g", pair->box, sqrt(least));
    check_separations(team, pair, sqrt(least + rounded));
    choice->pairs++;
    choice->rough += pair->least < 0.9 * sqrt(least);
    const uint16_t *word = near;
    int farthest =
        -1; // of nearly parallel edges, those for which the points are farthest from the closest
    double most = 1.001, true_square = 0;
    for (int group = 0, i = 0; group < 3; group++) {
        for (int k = 0; k < pair->counts[group]; k++, i++) {
            const bool is_kept = word[k / MARK_BITS] >> k % MARK_BITS & 1;
            double square, change;
            const bool parallel = parallel_square(team, pair, group, codes[i], &square, &change);
            if (parallel && squares[i] > most * square) {
                most = squares[i] / square;
                farthest = i;
                true_square = square;
            }
            if (!is_kept && (parallel ? square : squares[i]) < mean - rounded)
                fail_msg("a candidate of group %d with the square %g, of %g", group, squares[i],
                         mean);
            choice->kept += is_kept;
            choice->extra +=
                is_kept &&
                squares[i] - (parallel ? 2 * sqrt(change * squares[i]) : 0) > mean + rounded;
        }
        word += mark_words(pair->counts[group]);
    }
    hash_add(hash, &pair->least, sizeof pair->least);
    hash_add(hash, near, words * sizeof *near);
    struct listed_pair marked = listed;
    marked.near = NULL;
    marked.marks = near;
    check_forces(team, &marked, pair, mean - rounded);
    if (farthest >= 0)
        check_mark(team, &listed, farthest, (squares[farthest] + true_square) / 2);
    choice->between += farthest >= 0;
    free(near);
    free(squares);
}

static void read_pair(const struct team_work *team, const struct pair_candidates *pair,
                      struct search_result *result, struct choice *choice, struct hash *hash)
{
    const size_t count = (size_t)pair->counts[0] + pair->counts[1] + pair->counts[2];
    const uint16_t *code = pair->codes;
    assert_true(pair->a != pair->b || pair->counts[1] == 0);
    if (count == 0)
        return;
    result->items = realloc(result->items, (result->count + count) * sizeof *result->items);
    assert_non_null(result->items);
    for (int group = 0; group < 3; group++)
        for (int i = 0; i < pair->counts[group]; i++, code++) {
            assert_true(i == 0 || code[-1] < *code);
            assert_true(group < 2 || pair->a != pair->b || (*code & 63) > *code >> 6);
            result->items[result->count++] =
                candidate_of(team->broad->surfaces, pair, group, *code);
        }
    hash_add(hash, &pair->a, sizeof pair->a);
    hash_add(hash, &pair->b, sizeof pair->b);
    hash_add(hash, pair->counts, 3 * sizeof *pair->counts);
    hash_add(hash, pair->codes, count * sizeof *pair->codes);
    check_nearer(team, pair, choice, hash);
}

static void read_lists(const struct team_work *team, struct search_result *result)
{
    const struct broad_phase *broad = team->broad;
    const struct surface_block *blocks = broad->surfaces->blocks;
    struct hash hash;
    struct choice choice = {0};
    struct pair_finder *finder = malloc(sizeof *finder);
    assert_non_null(finder);
    REAL_NAME(pair_finder_begin)(finder, team->broad, team->rules);
    hash_begin(&hash);
    for (size_t l = 0; l < broad->list_count; l++) {
        const struct pair_list *list = &broad->lists[l];
        for (size_t p = 0; p < list->pair_count; p++) {
            const struct block_pair *pair = &list->pairs[p];
            assert_int_equal(pair->a / PAIR_CHUNK, l);
            assert_true(pair->a <= pair->b && pair->b < broad->surfaces->block_count);
            assert_true(p == 0 || pair[-1].a < pair->a ||
                        (pair[-1].a == pair->a && pair[-1].b < pair->b));
            const double reach = team->rules->radius[blocks[pair->a].body] +
                                 team->rules->radius[blocks[pair->b].body];
            const double least = REAL_NAME(pair_finder_find)(finder, pair, team->positions[pair->a],
                                                             team->positions[pair->b], reach);
            const struct pair_candidates candidates = {pair->a,
                                                       pair->b,
                                                       finder->found.codes,
                                                       finder->found.counts,
                                                       least,
                                                       (double)pair->least};
            hash_add(&hash, &pair->least, sizeof pair->least);
            read_pair(team, &candidates, result, &choice, &hash);
        }
    }
    free(finder);
    assert_true(choice.extra <= choice.kept / 10);
#if TAUT_REAL_BITS == 64 // in single precision small reaches are lost in the margins for rounding
    assert_true(choice.rough <= choice.pairs / 2);
#endif
    result->hash = hash_end(&hash);
    result->between = choice.between;
    if (result->count > 0)
        qsort(result->items, result->count, sizeof *result->items, compare_candidates);
}

// Lists that have been taken leave no memory, and are made again by the next search.
static void forget_lists(const struct team_work *team)
{
    struct broad_phase *broad = team->broad;
    uint64_t bytes = REAL_NAME(broad_phase_bytes)(broad);
    for (size_t l = 0; l < broad->list_count; l++) {
        bytes -= broad->lists[l].pair_capacity * sizeof *broad->lists[l].pairs;
        REAL_NAME(broad_phase_forget)(broad, l);
        assert_int_equal(broad->lists[l].pair_count, 0);
    }
    assert_int_equal(REAL_NAME(broad_phase_bytes)(broad), bytes);
}

// A list has exactly those pairs of another that rules name, or exactly the others, in its order.
static void check_part(const struct pair_list *list, const struct pair_list *all,
                       const struct broad_phase_rules *rules, size_t number, bool named)
{
    size_t found = 0;
    for (size_t p = 0; p < all->pair_count; p++) {
        const struct block_pair *pair = &all->pairs[p];
        if ((rules->lists[number] || rules->blocks[pair->a] || rules->blocks[pair->b]) != named)
            continue;
        assert_true(found < list->pair_count);
        const struct block_pair *other = &list->pairs[found++];
        assert_true(other->a == pair->a && other->b == pair->b && other->least == pair->least);
    }
    assert_int_equal(found, list->pair_count);
}

// Searches again with rules that name some lists and blocks, and for the rest; compares both with
// the lists that there are, of all pairs, and makes these again. False without memory.
static bool check_named(struct team_work *team, const struct search *search)
{
    struct broad_phase *broad = team->broad;
    const size_t lists = broad->list_count, blocks = search->surfaces->block_count;
    const struct broad_phase_rules *const rules = team->rules;
    struct broad_phase_rules some = *rules;
    struct pair_list *all = calloc(lists + 1, sizeof *all);
    bool *named = calloc(lists + blocks + 1, sizeof *named);
    assert_non_null(all);
    assert_non_null(named);
    for (size_t l = 0; l < lists; l++) {
        const size_t count = broad->lists[l].pair_count;
        all[l] = broad->lists[l];
        all[l].pairs = malloc((count + 1) * sizeof *all[l].pairs);
        assert_non_null(all[l].pairs);
        if (count > 0)
            memcpy(all[l].pairs, broad->lists[l].pairs, count * sizeof *all[l].pairs);
        named[l] = l % 3 == 1;
    }
    for (size_t b = 0; b < blocks; b++) // runs of blocks, as ranks have
        named[lists + b] = b / 5 % 4 == 2;
    some.lists = named;
    some.blocks = named + lists;
    bool done = REAL_NAME(broad_phase_share)(broad);
    team->rules = &some;
    done = done && run(team, search, 1);
    for (size_t l = 0; l < lists && done; l++) {
        check_part(&broad->lists[l], &all[l], &some, l, true);
        if (some.lists[l])
            continue;
        done = REAL_NAME(broad_phase_find_rest)(broad, &some, l);
        if (done)
            check_part(&broad->lists[l], &all[l], &some, l, false);
    }
    team->rules = rules;
    done = done && run(team, search, 1);
    for (size_t l = 0; l < lists; l++)
        free(all[l].pairs);
    free(all);
    free(named);
    return done;
}

struct search_result REAL_NAME(search)(const struct search *search)
{
    const struct broad_phase_rules rules = {.bodies = search->bodies,
                                            .radius = search->radius,
                                            .enabled = search->enabled,
                                            .apart = search->apart,
                                            .built = search->built};
    struct team_work team = {.rules = &rules, .kernels = REAL_NAME(kernels_for)(search->isa)};
    struct search_result result = {.found = false};
    taut_error error = {0};
    if (REAL_NAME(broad_phase_make)(search->surfaces, team.kernels, search->allocator, &team.broad,
                                    &error) != TAUT_OK) {
        assert_int_equal(error.code, TAUT_ERROR_MEMORY);
        return result;
    }
    team.positions = calloc(search->surfaces->block_count + 1, sizeof *team.positions);
    assert_non_null(team.positions);
    (void)run(&team, search, 0.7);
    forget_lists(&team);
    result.found = run(&team, search, 1) && check_named(&team, search);
    result.bytes = REAL_NAME(broad_phase_bytes)(team.broad);
    if (result.found)
        read_lists(&team, &result);
    REAL_NAME(broad_phase_free)(team.broad);
    free(team.positions);
    return result;
}

void REAL_NAME(count_rows)(size_t first, size_t rows, size_t count, size_t stride, struct range own,
                           uint8_t *counts)
{
    const struct node_rows part = {first, rows, count, stride};
    struct node_rows found[3];
    const int items = rows_within(&part, own, found);
    assert_in_range(items, 0, 3);
    for (int i = 0; i < items; i++)
        for (size_t row = 0; row < found[i].rows; row++)
            for (size_t k = 0; k < found[i].count; k++)
                counts[found[i].first + row * found[i].stride + k]++;
}
