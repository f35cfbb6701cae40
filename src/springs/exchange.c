// Exchanges between ranks (exchange.h). A rank's needs follow from its part of the plan; it tells
// the owners at the start, so that no rank has to know the parts of all others.
#include "springs/exchange.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/sort.h"
#include "ranks/ranks.h"
#include "springs/around.h"
#include "springs/node_lists.h"
#include "springs/part_springs.h"
#include "springs/part_sums.h"
#include "springs/shares.h"
#include "springs/springs.h"

_Static_assert((int)PART_NODES == (int)CONTACT_BLOCK, "rest nodes complete blocks of contacts");

struct exchange {
    const struct plan_parts *parts;
    struct plan_part part;
    struct node_lists halo, boxes, rest;
    bool only_part;                // ranks hold only their parts
    part_sums_needs sums;          // what else chunks have
    struct node_lists ends;        // then: the nodes of part_sums_want
    struct node_lists springs;     // and its springs
    struct around *reach;          // and what is known for bounds, once they have been found
    bool masses_known;             // of all nodes
    double (*kept)[POWER_COLUMNS]; // of KEPT_POWERS evaluations, power_count parts each
    size_t power_count;
    double tile_powers[KEPT_POWERS][POWER_COLUMNS]; // their sums of tiles, if added in groups
    uint64_t *power_cuts; // rank r measures the parts of tiles [power_cuts[r], [r + 1])
    uint64_t *group_cuts; // scratch of add_groups_of_ranks, as the next two
    double *group_sums;
    size_t group_capacity;
    double total[SUM_WIDTH]; // of sum_over_nodes
    double other_powers[KEPT_POWERS][SUM_WIDTH];
    struct evaluation evaluations[KEPT_POWERS];
    bool lags[KEPT_POWERS];
    int kept_count;
    uint64_t *packed_cuts;  // rank r has the first nodes of packed tiles [packed_cuts[r], [r + 1])
    bool any;               // the result of exchange_any
    real *all;              // with contact: the fields of all nodes, rank after rank
    bool all_known;         // all nodes are those of their owners (exchange_all_nodes)
    unsigned char *wanted;  // by node: this rank wants it (exchange_want)
    struct node_lists some; // these, if `wants_some`
    bool wants_some, some_known;
    double *ends_of_boxes; // scratch of exchange_motion
    size_t ends_capacity;
};

enum {
    TAG_HALO = 1,
    TAG_BOXES,
    TAG_REST,
    TAG_ENDS,
    TAG_REACH,
    TAG_SPRINGS,
    TAG_SPRINGS_AT,
    TAG_SOME,
};

// ---- What is known of a node

// The fields that a list exchanges are positions and velocities, from which forces are computed; if
// `whole`, also their low parts in precision mixed, forces, and the normals of wind.
static void add_fields(struct node_fields *fields, real *x, real *y, real *z)
{
    if (!x)
        return;
    fields->arrays[fields->count++] = x;
    fields->arrays[fields->count++] = y;
    fields->arrays[fields->count++] = z;
}

// Whether lengths at nodes of the halo are found with all digits: those of springs that may break
// or yield, and of triangles.
static bool measures_halo(const struct system *system)
{
    const struct topology *topology = system->topology;
    return topology->any_breaks || topology->any_yields || topology->triangle_count > 0;
}

// Positions and velocities, with or without their low parts.
static struct node_fields moving_fields(const struct state *s, bool low)
{
    struct node_fields fields = {.count = 0};
    add_fields(&fields, s->x, s->y, s->z);
    add_fields(&fields, s->vx, s->vy, s->vz);
    if (low) {
        add_fields(&fields, s->x_low, s->y_low, s->z_low);
        add_fields(&fields, s->vx_low, s->vy_low, s->vz_low);
    }
    return fields;
}

static struct node_fields fields_of(const struct system *system, bool whole)
{
    const struct state *s = system->state;
    struct node_fields fields = moving_fields(s, whole || measures_halo(system));
    if (whole) {
        add_fields(&fields, s->fx, s->fy, s->fz);
        add_fields(&fields, s->nx, s->ny, s->nz);
    }
    return fields;
}

// ---- What is sent to whom

static bool find_wants(const struct system *system, struct exchange *exchange)
{
    const struct plan_part *part = &exchange->part;
    bool found = REAL_NAME(node_lists_begin)(&exchange->halo) &&
                 REAL_NAME(node_lists_begin)(&exchange->boxes) &&
                 REAL_NAME(node_lists_begin)(&exchange->rest) &&
                 REAL_NAME(node_lists_begin)(&exchange->ends) &&
                 REAL_NAME(node_lists_begin)(&exchange->springs);
    for (size_t i = 0; found && i < part->halo_count; i++)
        found = REAL_NAME(node_lists_want)(&exchange->halo, exchange->parts, part->halo[i]);
    for (size_t i = 0; found && i < part->box_count; i++)
        found = REAL_NAME(node_lists_want_pair)(
            &exchange->boxes, plan_part_of_tile(system->plan, exchange->parts, part->boxes[i].tile),
            part->boxes[i].tile, part->boxes[i].which);
    if (found && exchange->only_part)
        found = REAL_NAME(part_sums_want)(system, exchange->parts, part, exchange->sums,
                                          &exchange->ends, &exchange->springs);
    return found &&
           REAL_NAME(node_lists_want)(&exchange->rest, exchange->parts, part->rest_before) &&
           REAL_NAME(node_lists_want)(&exchange->rest, exchange->parts, part->rest);
}

static void fill_masses_of(const struct system *system, uint64_t first, uint64_t count)
{
    const struct range nodes = {(size_t)first, (size_t)(first + count)};
    REAL_NAME(constants_fill_nodes)(system->constants, system->topology, nodes);
}

// Fills the masses of the nodes of others with which this rank computes and sums.
static void fill_masses(const struct system *system, const struct exchange *exchange)
{
    const struct plan_part *part = &exchange->part;
    const struct node_lists *ends = &exchange->ends;
    const struct plan_nodes others[] = {part->rest_before, part->rest};
    for (size_t i = 0; i < part->halo_count + sizeof others / sizeof *others; i++) {
        const struct plan_nodes nodes =
            i < part->halo_count ? part->halo[i] : others[i - part->halo_count];
        fill_masses_of(system, nodes.first, nodes.count);
    }
    for (int r = 0; r < ranks_count(); r++)
        for (size_t i = 0; i < ends->received_counts[r]; i++)
            fill_masses_of(system, ends->received[r][i][0], ends->received[r][i][1]);
}

// Finds which packed tiles each rank has: a tile belongs to the rank with its first node.
static bool find_packed_cuts(const struct system *system, struct exchange *exchange)
{
    const struct plan_packed *packed = &system->plan->packed;
    const int count = ranks_count();
    exchange->packed_cuts = calloc((size_t)count + 1, sizeof *exchange->packed_cuts);
    uint64_t tile = 0;
    for (int r = 0; exchange->packed_cuts && r <= count; r++) {
        while (tile < packed->tile_count &&
               packed->tiles[tile].first_node < exchange->parts->cuts[r])
            tile++;
        exchange->packed_cuts[r] = tile;
    }
    return exchange->packed_cuts;
}

// Finds power_cuts, for the two parts of each tile. Collective.
static void share_power_cuts(struct exchange *exchange)
{
    uint64_t *const cuts = exchange->power_cuts;
    ranks_share(2 * exchange->part.end_tile, cuts + 1);
    for (int r = 0; r < ranks_count(); r++) // a rank without tiles has none after those before it
        cuts[r + 1] = max_u64(cuts[r], cuts[r + 1]);
}

taut_status REAL_NAME(exchange_make)(const struct system *system, const struct plan_parts *parts,
                                     bool only_part, exchange_needs needs, part_sums_needs sums,
                                     struct exchange **result, taut_error *error)
{
    *result = NULL;
    struct exchange *exchange = calloc(1, sizeof *exchange);
    bool sound = exchange;
    if (sound) {
        exchange->parts = parts;
        exchange->only_part = only_part;
        exchange->sums = sums;
        exchange->masses_known = !only_part;
        exchange->power_count = system->power_parts.count;
        exchange->kept = calloc(KEPT_POWERS * exchange->power_count + 1, sizeof *exchange->kept);
        if (system->surface_contact) {
            const size_t nodes = (size_t)system->state->nodes;
            exchange->all =
                calloc(nodes * moving_fields(system->state, true).count + 1, sizeof *exchange->all);
            exchange->wanted = calloc(nodes + 1, sizeof *exchange->wanted);
        }
        exchange->power_cuts = calloc((size_t)ranks_count() + 1, sizeof *exchange->power_cuts);
        exchange->group_cuts = calloc((size_t)ranks_count() + 1, sizeof *exchange->group_cuts);
        sound = exchange->kept && exchange->power_cuts && exchange->group_cuts &&
                ((exchange->all && exchange->wanted) || !system->surface_contact) &&
                find_packed_cuts(system, exchange) &&
                plan_part_make(system->topology, system->plan, parts, ranks_number(),
                               &exchange->part, error) == TAUT_OK &&
                needs(system, &exchange->part);
        if (sound)
            plan_part_tidy(&exchange->part);
        sound = sound && find_wants(system, exchange);
    }
    bool made = ranks_all(sound) && sound;
    if (made) {
        struct node_lists *const lists[] = {&exchange->halo, &exchange->boxes, &exchange->rest,
                                            &exchange->ends};
        // Nodes of the halo may move while they are under way, where it is not needed before.
        const unsigned both = RANKS_PLACED_INCOMING | RANKS_PLACED_OUTGOING;
        const int tags[] = {TAG_HALO, TAG_BOXES, TAG_REST, TAG_ENDS};
        const size_t fields[] = {fields_of(system, false).count, 3, fields_of(system, true).count,
                                 3};
        for (size_t i = 0; sound && i < sizeof lists / sizeof lists[0]; i++)
            sound = REAL_NAME(node_lists_swap)(lists[i]);
        for (size_t i = 0; sound && i < sizeof lists / sizeof lists[0]; i++)
            sound = REAL_NAME(node_lists_connect)(
                lists[i], lists[i] == &exchange->boxes ? system->plan : NULL, fields[i], tags[i],
                lists[i] == &exchange->halo && !exchange_halo_is_early(system)
                    ? RANKS_PLACED_INCOMING
                    : both);
        sound = sound && REAL_NAME(node_lists_swap)(&exchange->springs) &&
                REAL_NAME(part_springs_connect)(system, &exchange->springs, TAG_SPRINGS);
        made = ranks_all(sound) && sound;
    }
    if (!made) {
        REAL_NAME(exchange_free)(exchange);
        return fail_memory(error, "the messages of ranks");
    }
    share_power_cuts(exchange);
    if (only_part) {
        fill_masses(system, exchange);
        REAL_NAME(part_springs_start)(system, &exchange->part);
    }
    *result = exchange;
    return TAUT_OK;
}

void REAL_NAME(exchange_free)(struct exchange *exchange)
{
    if (!exchange)
        return;
    plan_part_free(&exchange->part);
    free(exchange->kept);
    free(exchange->power_cuts);
    free(exchange->group_cuts);
    free(exchange->group_sums);
    free(exchange->packed_cuts);
    free(exchange->all);
    free(exchange->wanted);
    free(exchange->ends_of_boxes);
    REAL_NAME(node_lists_free)(&exchange->some);
    REAL_NAME(node_lists_free)(&exchange->halo);
    REAL_NAME(node_lists_free)(&exchange->boxes);
    REAL_NAME(node_lists_free)(&exchange->rest);
    REAL_NAME(node_lists_free)(&exchange->ends);
    REAL_NAME(node_lists_free)(&exchange->springs);
    if (exchange->reach) {
        REAL_NAME(node_lists_free)(&exchange->reach->nodes);
        REAL_NAME(node_lists_free)(&exchange->reach->springs);
        REAL_NAME(node_lists_free)(&exchange->reach->weighted);
    }
    free(exchange->reach);
    free(exchange);
}

const struct plan_part *REAL_NAME(exchange_part)(const struct exchange *exchange)
{
    return &exchange->part;
}

// ---- Nodes

void REAL_NAME(exchange_halo_start)(struct system *system, const struct worker *worker)
{
    worker_barrier(worker); // all nodes have moved
    if (worker->index == 0) {
        const struct node_fields fields = fields_of(system, false);
        REAL_NAME(node_lists_send)(&system->exchange->halo, &fields);
    }
    stage_end(&system->clock, STAGE_RANKS, worker);
}

void REAL_NAME(exchange_halo_end)(struct system *system, const struct worker *worker)
{
    if (worker->index == 0) {
        const struct node_fields fields = fields_of(system, false);
        REAL_NAME(node_lists_receive)(&system->exchange->halo, &fields);
    }
    stage_end(&system->clock, STAGE_RANKS, worker);
}

bool REAL_NAME(exchange_has_part)(const struct system *system)
{
    return system->exchange && system->exchange->only_part;
}

static void send_and_receive(const struct node_lists *lists, const struct node_fields *fields)
{
    REAL_NAME(node_lists_send)(lists, fields);
    REAL_NAME(node_lists_receive)(lists, fields);
}

static void exchange_three(const struct node_lists *lists, real *x, real *y, real *z)
{
    struct node_fields fields = {.count = 0};
    add_fields(&fields, x, y, z);
    if (x)
        send_and_receive(lists, &fields);
}

// Messages have a fixed number of arrays: low parts, which the halo does not have in steps, follow
// in another round.
void REAL_NAME(exchange_ends)(struct system *system, bool velocities, const struct worker *worker)
{
    const struct exchange *it = system->exchange;
    const struct state *s = system->state;
    worker_barrier(worker); // all nodes have moved
    if (worker->index == 0) {
        const struct node_fields moving = fields_of(system, false);
        send_and_receive(&it->halo, &moving);
        exchange_three(&it->ends, s->x, s->y, s->z);
        exchange_three(&it->ends, s->x_low, s->y_low, s->z_low);
        if (velocities) {
            exchange_three(&it->ends, s->vx, s->vy, s->vz);
            exchange_three(&it->ends, s->vx_low, s->vy_low, s->vz_low);
        }
        REAL_NAME(part_springs_swap)(system, &it->springs);
        if (s->x_low && !measures_halo(system)) {
            struct node_fields all = {.count = 0};
            add_fields(&all, s->x_low, s->y_low, s->z_low);
            // Other low parts fill the message: those of velocities or of previous positions.
            if (s->vx_low)
                add_fields(&all, s->vx_low, s->vy_low, s->vz_low);
            else
                add_fields(&all, s->x0_low, s->y0_low, s->z0_low);
            send_and_receive(&it->halo, &all);
        }
    }
    stage_end(&system->clock, STAGE_RANKS, worker);
}

bool REAL_NAME(exchange_divides)(const struct system *system, size_t body)
{
    return plan_body_is_divided(system->topology, system->plan, system->exchange->parts, body);
}

struct range REAL_NAME(exchange_bounds_nodes)(const struct system *system, size_t body)
{
    const struct topology_body *it = &system->topology->bodies[body];
    const struct range own = system->own_nodes, chunks = REAL_NAME(exchange_chunk_nodes)(system);
    const struct range whole = {(size_t)it->first_node, (size_t)(it->first_node + it->node_count)};
    if (!REAL_NAME(exchange_divides)(system, body))
        return body_has_nodes(it, own) || body_has_nodes(it, chunks)
                   ? whole
                   : (struct range){whole.first, whole.first};
    const struct range both = {
        own.first, chunks.first < chunks.end && chunks.end > own.end ? chunks.end : own.end};
    return body_nodes_within(it, own.first < own.end ? both : own);
}

static bool connect_nodes(struct node_lists *lists, size_t fields)
{
    return REAL_NAME(node_lists_swap)(lists) &&
           REAL_NAME(node_lists_connect)(lists, NULL, fields, TAG_REACH,
                                         RANKS_PLACED_INCOMING | RANKS_PLACED_OUTGOING);
}

// Makes the messages of what has been found, with so many numbers for each node. Ends all ranks
// without memory.
static void connect_around(const struct system *system, bool found, struct around *around,
                           size_t fields, size_t weights)
{
    if (!found || !connect_nodes(&around->nodes, fields) ||
        (weights > 0 && !connect_nodes(&around->weighted, weights)))
        ranks_abort(1, "out of memory for the nodes around the part of a rank");
    if (around_has_springs(system) &&
        (!REAL_NAME(node_lists_swap)(&around->springs) ||
         !REAL_NAME(part_springs_connect)(system, &around->springs, TAG_SPRINGS_AT)))
        ranks_abort(1, "out of memory for the springs around the part of a rank");
}

// Gets these fields of the nodes, the weights, and the states of the springs.
static void get_around(const struct system *system, const struct around *around,
                       const struct node_fields *fields, const struct node_fields *weights)
{
    send_and_receive(&around->nodes, fields);
    if (weights->count > 0)
        send_and_receive(&around->weighted, weights);
    if (around_has_springs(system))
        REAL_NAME(part_springs_swap)(system, &around->springs);
}

static void free_around(struct around *around)
{
    REAL_NAME(node_lists_free)(&around->nodes);
    REAL_NAME(node_lists_free)(&around->springs);
    REAL_NAME(node_lists_free)(&around->weighted);
}

// Called once: the lists follow from the scene alone.
static void make_reach(const struct system *system, struct exchange *it, size_t fields,
                       size_t weights)
{
    it->reach = calloc(1, sizeof *it->reach);
    const bool found =
        it->reach && REAL_NAME(around_find_reach)(system, it->parts, &it->part, it->reach);
    connect_around(system, found, it->reach, fields, weights);
}

static void fill_masses_around(const struct system *system, const struct around *around)
{
    const struct node_lists *nodes = &around->nodes;
    for (int r = 0; r < ranks_count(); r++)
        for (size_t i = 0; i < nodes->received_counts[r]; i++)
            fill_masses_of(system, nodes->received[r][i][0], nodes->received[r][i][1]);
}

void REAL_NAME(exchange_reach)(struct system *system, real *weights, struct range weighted,
                               const struct worker *worker)
{
    const struct state *s = system->state;
    worker_barrier(worker);
    if (worker->index == 0) {
        struct exchange *it = system->exchange;
        struct node_fields fields = {.count = 0}, of_weights = {.count = 0};
        add_fields(&fields, s->x, s->y, s->z);
        add_fields(&fields, s->x_low, s->y_low, s->z_low);
        if (topology_wind_damps(system->topology))
            fields = moving_fields(s, true);
        if (weighted.first < weighted.end) {
            of_weights = (struct node_fields){.first = weighted.first, .count = 1};
            of_weights.arrays[0] = weights;
        }
        if (!it->reach)
            make_reach(system, it, fields.count, of_weights.count);
        fill_masses_around(system, it->reach);
        get_around(system, it->reach, &fields, &of_weights);
    }
    stage_end(&system->clock, STAGE_RANKS, worker);
}

void REAL_NAME(exchange_around)(const struct system *system, const struct exchange *exchange,
                                struct range nodes, const uint64_t *list, uint64_t count)
{
    const struct node_fields fields = fields_of(system, true), none = {.count = 0};
    struct around around;
    const bool found = REAL_NAME(around_find)(system, exchange->parts, &exchange->part, nodes, list,
                                              count, &around);
    connect_around(system, found, &around, fields.count, 0);
    get_around(system, &around, &fields, &none);
    free_around(&around);
}

// Copies the nodes of a rank, array after array, into `all` or out of it.
static void copy_moving(const struct exchange *it, const struct node_fields *fields, int rank,
                        bool out)
{
    const size_t first = (size_t)it->parts->cuts[rank];
    const size_t count = (size_t)it->parts->cuts[rank + 1] - first;
    real *all = it->all + first * fields->count;
    for (size_t f = 0; f < fields->count; f++, all += count) {
        real *nodes = fields->arrays[f] + first;
        memcpy(out ? nodes : all, out ? all : nodes, count * sizeof *all);
    }
}

// Sends all arrays at once: with few nodes a message costs more than its contents.
static void collect_moving(const struct system *system, const struct exchange *it)
{
    const struct node_fields fields = moving_fields(system->state, true);
    copy_moving(it, &fields, ranks_number(), false);
    ranks_collect(it->all, fields.count * sizeof *it->all, it->parts->cuts, true);
    for (int r = 0; r < ranks_count(); r++)
        if (r != ranks_number())
            copy_moving(it, &fields, r, true);
}

void REAL_NAME(exchange_all_nodes)(struct system *system, const struct worker *worker)
{
    struct exchange *it = system->exchange;
    if (!it || it->all_known)
        return;
    worker_barrier(worker); // all nodes have moved, and all workers have looked
    if (worker->index == 0) {
        collect_moving(system, it);
        it->all_known = true;
    }
    stage_end(&system->clock, STAGE_RANKS, worker);
}

void REAL_NAME(exchange_all_known)(struct system *system, bool known)
{
    if (system->exchange)
        system->exchange->all_known = system->exchange->some_known = known;
}

// ---- Some nodes

static struct exchange *exchange_in_steps(const struct system *system)
{
    return system->exchange ? system->exchange : system->paused;
}

unsigned char *REAL_NAME(exchange_wanted)(struct system *system)
{
    return exchange_in_steps(system)->wanted;
}

bool REAL_NAME(exchange_wants_all)(const struct system *system)
{
    return !exchange_in_steps(system)->wants_some;
}

void REAL_NAME(exchange_want_all)(struct system *system)
{
    struct exchange *it = exchange_in_steps(system);
    if (it)
        it->wants_some = false;
}

bool REAL_NAME(exchange_knows_all)(const struct system *system)
{
    return !system->exchange || system->exchange->all_known;
}

void REAL_NAME(exchange_arrays)(struct system *system, real *const arrays[3],
                                const struct worker *worker)
{
    worker_barrier(worker);
    for (int axis = 0; worker->index == 0 && axis < 3; axis++)
        ranks_collect(arrays[axis], sizeof *arrays[axis], exchange_in_steps(system)->parts->cuts,
                      true);
    stage_end(&system->clock, STAGE_RANKS, worker);
}

// Lists the nodes that are wanted from their owners, in few runs: a node that is not wanted costs
// less than another run.
static bool list_wanted(struct exchange *it, size_t nodes)
{
    enum { GAP = 16 };
    struct plan_nodes run = {0, 0};
    bool sound = REAL_NAME(node_lists_begin)(&it->some);
    const struct range own = {(size_t)it->part.first_node, (size_t)it->part.end_node};
    for (size_t i = 0; sound && i < nodes; i++) {
        const bool is_own = i >= own.first && i < own.end;
        if (!is_own && !it->wanted[i])
            continue;
        const uint64_t end = run.first + run.count;
        if (!is_own && run.count > 0 && i < end + GAP) {
            run.count = i + 1 - run.first;
            continue;
        }
        sound = run.count == 0 || REAL_NAME(node_lists_want)(&it->some, it->parts, run);
        run = is_own ? (struct plan_nodes){0, 0} : (struct plan_nodes){i, 1};
        if (is_own)
            i = own.end - 1;
    }
    return sound && (run.count == 0 || REAL_NAME(node_lists_want)(&it->some, it->parts, run));
}

void REAL_NAME(exchange_want)(struct system *system)
{
    struct exchange *it = system->exchange;
    const size_t fields = moving_fields(system->state, true).count;
    if ((uint64_t)system->state->nodes * fields * sizeof(real) > INT32_MAX)
        return; // a message may be longer than MPI takes
    for (size_t i = 0; i < it->part.halo_count; i++)
        memset(it->wanted + it->part.halo[i].first, 1, (size_t)it->part.halo[i].count);
    REAL_NAME(node_lists_free)(&it->some);
    if (!list_wanted(it, (size_t)system->state->nodes) || !REAL_NAME(node_lists_swap)(&it->some) ||
        !REAL_NAME(node_lists_connect)(&it->some, NULL, fields, TAG_SOME,
                                       RANKS_PLACED_INCOMING | RANKS_PLACED_OUTGOING))
        ranks_abort(1, "out of memory for the messages of contact");
    it->wants_some = true;
    it->some_known = it->all_known;
}

#ifdef TAUT_GUARD_NODES
// Puts the nodes that a rank has not received far away and makes them fast, so that reading them
// changes the results, except in kernels, which read any nodes where they have no springs and
// multiply them by 0.
static void spoil_others(const struct system *system, const struct exchange *it)
{
    const real far = 1000;
    const struct node_fields fields = moving_fields(system->state, true);
    unsigned char *const known = calloc((size_t)system->state->nodes + 1, sizeof *known);
    if (!known)
        ranks_abort(1, "out of memory for the nodes that are known");
    memset(known + it->part.first_node, 1, (size_t)(it->part.end_node - it->part.first_node));
    for (int r = 0; r < ranks_count(); r++)
        for (size_t i = 0; i < it->some.received_counts[r]; i++)
            memset(known + it->some.received[r][i][0], 1, (size_t)it->some.received[r][i][1]);
    for (size_t i = 0; i < (size_t)system->state->nodes; i++)
        for (size_t f = 0; f < fields.count && !known[i]; f++)
            fields.arrays[f][i] = far;
    free(known);
}
#else
static void spoil_others(const struct system *system, const struct exchange *it)
{
    (void)system;
    (void)it;
}
#endif

void REAL_NAME(exchange_wanted_nodes)(struct system *system, const struct worker *worker)
{
    struct exchange *it = system->exchange;
    if (it && !it->wants_some)
        REAL_NAME(exchange_all_nodes)(system, worker);
    if (!it || !it->wants_some || it->some_known || it->all_known)
        return;
    worker_barrier(worker); // all nodes have moved, and all workers have looked
    if (worker->index == 0) {
        const struct node_fields fields = moving_fields(system->state, true);
        send_and_receive(&it->some, &fields);
        spoil_others(system, it);
        it->some_known = true;
    }
    stage_end(&system->clock, STAGE_RANKS, worker);
}

void REAL_NAME(exchange_rest)(struct system *system, const struct worker *worker)
{
    if (!system->exchange)
        return;
    worker_barrier(worker); // all nodes have moved
    if (worker->index == 0) {
        const struct node_fields fields = fields_of(system, true);
        REAL_NAME(node_lists_send)(&system->exchange->rest, &fields);
        REAL_NAME(node_lists_receive)(&system->exchange->rest, &fields);
    }
    stage_end(&system->clock, STAGE_RANKS, worker);
}

void REAL_NAME(exchange_rest_of)(struct system *system, real *const arrays[3],
                                 const struct worker *worker)
{
    if (!system->exchange)
        return;
    worker_barrier(worker); // all have written their nodes
    if (worker->index == 0) {
        struct node_fields fields = {.count = 0};
        add_fields(&fields, arrays[0], arrays[1], arrays[2]);
        REAL_NAME(node_lists_send)(&system->exchange->rest, &fields);
        REAL_NAME(node_lists_receive)(&system->exchange->rest, &fields);
    }
    stage_end(&system->clock, STAGE_RANKS, worker);
}

void REAL_NAME(exchange_proceed)(struct exchange *exchange)
{
    (void)ranks_messages_test(exchange->halo.messages);
    (void)ranks_messages_test(exchange->boxes.messages);
}

// ---- Halo contributions

// Where the contributions of a box are in the sweep, x, y and z.
static void find_box(const struct system *system, const uint64_t pair[2],
                     struct ranks_piece pieces[3])
{
    uint64_t number = pair[0];
    const struct sweep *sweep = REAL_NAME(sweep_of_tile)(system->sweeps, &number);
    const struct plan_tile tile = tiling_tile(&sweep->tiling, number);
    const struct halo_box box = halo_box(&sweep->tiling, &tile, (int)pair[1]);
    const size_t nodes = (size_t)halo_box_nodes(&sweep->tiling, &box);
    for (uint64_t c = 0; c < 3; c++)
        pieces[c] = (struct ranks_piece){tile_halo(sweep, number) + c * sweep->halo_nodes + box.at,
                                         nodes * sizeof(real)};
}

// Copies the contributions of a box to `buffer`; returns its end.
static char *pack_box(const struct system *system, const uint64_t pair[2], char *buffer)
{
    struct ranks_piece pieces[3];
    find_box(system, pair, pieces);
    for (int c = 0; c < 3; buffer += pieces[c++].bytes)
        memcpy(buffer, pieces[c].at, pieces[c].bytes);
    return buffer;
}

// The same from `buffer`.
static const char *unpack_box(const struct system *system, const uint64_t pair[2],
                              const char *buffer)
{
    struct ranks_piece pieces[3];
    find_box(system, pair, pieces);
    for (int c = 0; c < 3; buffer += pieces[c++].bytes)
        memcpy(pieces[c].at, buffer, pieces[c].bytes);
    return buffer;
}

// The boxes to or from a rank, where they are read or written without a buffer.
static void place_boxes(const struct system *system, const struct node_lists *lists, int rank,
                        enum ranks_placed placed)
{
    const bool incoming = placed == RANKS_PLACED_INCOMING;
    uint64_t(*const pairs)[2] = incoming ? lists->received[rank] : lists->sent[rank];
    const size_t count = incoming ? lists->received_counts[rank] : lists->sent_counts[rank];
    for (size_t i = 0; i < count; i++)
        find_box(system, pairs[i], lists->pieces + 3 * i);
    ranks_messages_place(lists->messages, rank, placed, lists->pieces, 3 * count);
}

struct exchange_borders REAL_NAME(exchange_borders)(const struct system *system)
{
    const struct plan_part *part = &system->exchange->part;
    struct exchange_borders borders = {part->end_tile, part->first_tile};
    if (part->first_tile == part->end_tile)
        return borders;
    // The first and the last grid may be divided: all tiles of a lattice's layer are at the border.
    uint64_t tile = part->end_tile - 1;
    const struct plan_tiling *tiling = &REAL_NAME(sweep_of_tile)(system->sweeps, &tile)->tiling;
    if (tile + 1 < tiling_tile_count(tiling))
        borders.first_last = part->end_tile - plan_tiles_together(tiling);
    tile = part->first_tile;
    tiling = &REAL_NAME(sweep_of_tile)(system->sweeps, &tile)->tiling;
    if (tile > 0)
        borders.end_first = part->first_tile + plan_tiles_together(tiling);
    return borders;
}

void REAL_NAME(exchange_contributions_start)(struct system *system, const struct worker *worker)
{
    const struct node_lists *lists = &system->exchange->boxes;
    for (int r = 0; worker->index == 0 && r < ranks_count(); r++) {
        if (lists->placed & RANKS_PLACED_INCOMING)
            place_boxes(system, lists, r, RANKS_PLACED_INCOMING);
        if (lists->placed & RANKS_PLACED_OUTGOING) {
            place_boxes(system, lists, r, RANKS_PLACED_OUTGOING);
            continue;
        }
        char *to = lists->sent_counts[r] > 0 ? ranks_outgoing(lists->messages, r) : NULL;
        for (size_t i = 0; i < lists->sent_counts[r]; i++)
            to = pack_box(system, lists->sent[r][i], to);
    }
    if (worker->index == 0)
        ranks_messages_start(lists->messages);
    stage_end(&system->clock, STAGE_RANKS, worker);
}

void REAL_NAME(exchange_contributions_end)(struct system *system, const struct worker *worker)
{
    const struct node_lists *lists = &system->exchange->boxes;
    const bool copies = !(lists->placed & RANKS_PLACED_INCOMING);
    if (worker->index == 0)
        ranks_messages_wait(lists->messages);
    for (int r = 0; worker->index == 0 && copies && r < ranks_count(); r++) {
        const char *from =
            lists->received_counts[r] > 0 ? ranks_incoming(lists->messages, r) : NULL;
        for (size_t i = 0; i < lists->received_counts[r]; i++)
            from = unpack_box(system, lists->received[r][i], from);
    }
    stage_end(&system->clock, STAGE_RANKS, worker);
}

// ---- Sums

// total := the sum of the rows, of which rank r has [cuts[r], cuts[r + 1]), in the order of
// add_in_groups: a rank adds the groups that begin with its rows, then all ranks add the sums of
// all groups.
static void add_groups_of_ranks(struct exchange *it, double *rows, size_t width,
                                const uint64_t *cuts, size_t group, double *total)
{
    const size_t count = (size_t)cuts[ranks_count()], groups = (count + group - 1) / group;
    if (!array_reserve((void **)&it->group_sums, &it->group_capacity, groups * width,
                       sizeof *it->group_sums))
        ranks_abort(1, "out of memory for sums in groups");
    for (int r = 0; r <= ranks_count(); r++)
        it->group_cuts[r] = (cuts[r] + group - 1) / group;
    ranks_complete_groups(rows, width * sizeof *rows, cuts, group);
    const uint64_t *const own = it->group_cuts + ranks_number();
    for (size_t g = (size_t)own[0]; g < (size_t)own[1]; g++) {
        const size_t first = g * group, some = count - first < group ? count - first : group;
        add_in_groups(rows + first * width, width, some, some, it->group_sums + g * width);
    }
    ranks_collect(it->group_sums, width * sizeof *it->group_sums, it->group_cuts, true);
    add_in_groups(it->group_sums, width, groups, groups, total);
}

// Only the power sums of tiles are added in groups: the other sums with many parts are not those of
// grids.
static size_t group_of_tiles(const struct system *system)
{
    return sum_group(system, system->power_parts.loose - system->power_parts.tiles);
}

static bool adds_tiles_in_groups(const struct system *system)
{
    return group_of_tiles(system) < system->power_parts.loose - system->power_parts.tiles;
}

// Adds the powers of one evaluation over the ranks; tiles[] := the sum of tiles, if added in
// groups.
static void add_powers(struct system *system, double (*powers)[POWER_COLUMNS], double *tiles)
{
    const struct power_parts *parts = &system->power_parts;
    struct exchange *it = system->exchange;
    size_t rest = 0;
    if (adds_tiles_in_groups(system)) {
        add_groups_of_ranks(it, powers[parts->tiles], POWER_COLUMNS, it->power_cuts,
                            group_of_tiles(system), tiles);
        rest = parts->loose;
    }
    ranks_add((double *)(powers + rest), (parts->count - rest) * POWER_COLUMNS);
}

static void move_powers(struct system *system, double (*to)[POWER_COLUMNS], struct range parts)
{
    const size_t bytes = (parts.end - parts.first) * sizeof *to;
    memcpy(to + parts.first, system->powers + parts.first, bytes);
    memset(system->powers + parts.first, 0, bytes);
}

bool REAL_NAME(exchange_keep_powers)(struct system *system, struct evaluation evaluation, bool lags)
{
    struct exchange *it = system->exchange;
    const struct power_parts *parts = &system->power_parts;
    const int number = it->kept_count++;
    double(*const kept)[POWER_COLUMNS] = it->kept + (size_t)number * it->power_count;
    if (adds_tiles_in_groups(system)) {
        const uint64_t *const own = it->power_cuts + ranks_number();
        move_powers(system, kept,
                    (struct range){parts->tiles + (size_t)own[0], parts->tiles + (size_t)own[1]});
        move_powers(system, kept, (struct range){parts->loose, parts->count});
    } else {
        move_powers(system, kept, (struct range){0, parts->count});
    }
    memcpy(it->other_powers[number], system->other_powers, sizeof it->other_powers[number]);
    it->evaluations[number] = evaluation;
    it->lags[number] = lags;
    return it->kept_count == KEPT_POWERS;
}

const double *REAL_NAME(exchange_kept_time)(const struct exchange *exchange)
{
    return exchange->kept_count > 0 ? &exchange->evaluations[exchange->kept_count - 1].time : NULL;
}

// Adds all kept evaluations at once where there are no groups.
int REAL_NAME(exchange_add_powers)(struct system *system)
{
    struct exchange *it = system->exchange;
    const int count = it->kept_count;
    it->kept_count = 0;
    if (count > 0 && !adds_tiles_in_groups(system))
        ranks_add((double *)it->kept, (size_t)count * it->power_count * POWER_COLUMNS);
    for (int i = 0; i < count && adds_tiles_in_groups(system); i++)
        add_powers(system, it->kept + (size_t)i * it->power_count, it->tile_powers[i]);
    return count;
}

const double *REAL_NAME(exchange_add_present_powers)(struct system *system)
{
    struct exchange *it = system->exchange;
    double *const tiles = it->tile_powers[0];
    add_powers(system, system->powers, tiles);
    if (!adds_tiles_in_groups(system))
        return NULL;
    // Clear the sums of this rank, and those that it has received after them.
    const size_t first = (size_t)it->power_cuts[ranks_number()];
    const size_t all = (size_t)it->power_cuts[ranks_count()];
    const size_t end = (size_t)it->power_cuts[ranks_number() + 1] + group_of_tiles(system);
    memset(system->powers + system->power_parts.tiles + first, 0,
           ((end < all ? end : all) - first) * sizeof *system->powers);
    return tiles;
}

struct evaluation REAL_NAME(exchange_take_powers)(struct system *system, int number,
                                                  const double **tiles, bool *lags)
{
    const struct exchange *it = system->exchange;
    const size_t first = adds_tiles_in_groups(system) ? system->power_parts.loose : 0;
    *tiles = first > 0 ? it->tile_powers[number] : NULL;
    memcpy(system->powers + first, it->kept + (size_t)number * it->power_count + first,
           (it->power_count - first) * sizeof *it->kept);
    memcpy(system->other_powers, it->other_powers[number], sizeof system->other_powers);
    *lags = it->lags[number];
    return it->evaluations[number];
}

static struct range own_chunks(const struct exchange *exchange)
{
    const uint64_t *cuts = exchange->parts->chunk_cuts + ranks_number();
    return (struct range){(size_t)cuts[0], (size_t)cuts[1]};
}

struct range REAL_NAME(exchange_chunk_nodes)(const struct system *system)
{
    const size_t nodes = (size_t)system->state->nodes;
    if (!system->exchange)
        return (struct range){0, nodes};
    const struct range chunks = own_chunks(system->exchange);
    return (struct range){(size_t)min_u64((uint64_t)chunks.first * SUM_CHUNK, nodes),
                          (size_t)min_u64((uint64_t)chunks.end * SUM_CHUNK, nodes)};
}

// Called by worker 0 alone.
static void collect_chunk_sums(struct system *system)
{
    ranks_collect(system->chunk_sums, sizeof system->chunk_sums[0],
                  system->exchange->parts->chunk_cuts, true);
}

void REAL_NAME(exchange_chunk_sums)(struct system *system, chunk_sum sum, const void *argument,
                                    const struct worker *worker)
{
    const size_t nodes = (size_t)system->state->nodes;
    if (!system->exchange) {
        REAL_NAME(sum_all_chunks)(system, nodes, sum, argument, worker);
        return;
    }
    REAL_NAME(sum_chunks)
    (system, own_chunks(system->exchange), nodes, sum, argument, worker);
    if (worker->index == 0)
        collect_chunk_sums(system);
    worker_barrier(worker);
}

void REAL_NAME(sum_over_nodes)(struct system *system, chunk_sum sum, const void *argument,
                               double total[SUM_WIDTH], const struct worker *worker)
{
    REAL_NAME(exchange_rest)(system, worker);
    REAL_NAME(sum_over_known_nodes)(system, sum, argument, total, worker);
}

void REAL_NAME(sum_over_known_nodes)(struct system *system, chunk_sum sum, const void *argument,
                                     double total[SUM_WIDTH], const struct worker *worker)
{
    const size_t nodes = (size_t)system->state->nodes;
    if (!system->exchange) {
        REAL_NAME(sum_over_chunks)(system, nodes, sum, argument, total, worker);
        return;
    }
    REAL_NAME(sum_chunks)
    (system, own_chunks(system->exchange), nodes, sum, argument, worker);
    const size_t chunks = chunk_count(nodes), group = sum_group(system, chunks);
    struct exchange *it = system->exchange;
    if (worker->index == 0 && group < chunks)
        add_groups_of_ranks(it, system->chunk_sums[0], SUM_WIDTH, it->parts->chunk_cuts, group,
                            it->total);
    else if (worker->index == 0)
        collect_chunk_sums(system);
    worker_barrier(worker);
    if (group == chunks) {
        REAL_NAME(add_chunk_sums)(system, chunks, total, worker);
        return;
    }
    memcpy(total, it->total, sizeof it->total);
    worker_barrier(worker); // all have read before the next sum writes
}

void REAL_NAME(sum_over_block_faces)(struct system *system, chunk_sum sum, const void *argument,
                                     double total[SUM_WIDTH], const struct worker *worker)
{
    const size_t faces = (size_t)system->constants->faces, chunks = chunk_count(faces);
    if (!system->exchange) {
        REAL_NAME(sum_over_chunks)(system, faces, sum, argument, total, worker);
        return;
    }
    const struct range share = worker_share(worker, chunks, 1);
    for (size_t chunk = share.first; chunk < share.end; chunk++) {
        memset(system->chunk_sums[chunk], 0, sizeof system->chunk_sums[chunk]);
        if (exchange_owns(system, system->constants->face_nodes[chunk * SUM_CHUNK][0]))
            sum(system, argument, chunk_range(chunk, faces), system->chunk_sums[chunk]);
    }
    worker_barrier(worker);
    if (worker->index == 0)
        ranks_add(system->chunk_sums[0], chunks * SUM_WIDTH);
    worker_barrier(worker);
    REAL_NAME(add_chunk_sums)(system, chunks, total, worker);
}

void REAL_NAME(exchange_packed_sums)(struct system *system)
{
    if (system->exchange)
        ranks_collect(system->chunk_sums, sizeof system->chunk_sums[0],
                      system->exchange->packed_cuts, true);
}

void REAL_NAME(exchange_ring_sums)(struct system *system, const struct plan_rings *rings)
{
    for (uint64_t tile = 0; tile < rings->tile_count; tile++)
        if (!exchange_owns(system, (size_t)rings->tiles[tile].first_node))
            system->chunk_sums[tile][0] = 0;
    for (uint64_t tile = 0; tile < rings->tile_count; tile++)
        memset(&system->chunk_sums[tile][1], 0, (SUM_WIDTH - 1) * sizeof(double));
    ranks_add(system->chunk_sums[0], (size_t)rings->tile_count * SUM_WIDTH);
}

bool REAL_NAME(exchange_any)(struct system *system, bool mine, const struct worker *worker)
{
    struct exchange *it = system->exchange;
    if (!it) // ranks that compute the same may look at more or fewer nodes
        return REAL_NAME(shares_any)(system, mine, worker);
    return REAL_NAME(agree_on_any)(system, &it->any, mine, worker);
}

// One message has all boxes, and whether each rank has noted all of its nodes.
void REAL_NAME(exchange_motion)(const struct system *system, struct node_box *boxes, size_t count,
                                size_t *moved)
{
    struct exchange *it = system->exchange;
    if (!it)
        return;
    if (!array_reserve((void **)&it->ends_of_boxes, &it->ends_capacity, 6 * count + 1,
                       sizeof *it->ends_of_boxes))
        ranks_abort(1, "out of memory for the motion of surfaces");
    for (size_t i = 0; i < count; i++)
        for (int axis = 0; axis < 3; axis++) {
            it->ends_of_boxes[6 * i + (size_t)axis] = (double)boxes[i].least[axis];
            it->ends_of_boxes[6 * i + 3 + (size_t)axis] = -(double)boxes[i].most[axis];
        }
    const size_t own = (size_t)(it->part.end_node - it->part.first_node);
    it->ends_of_boxes[6 * count] = *moved == own ? 1 : 0;
    ranks_least(it->ends_of_boxes, 6 * count + 1);
    for (size_t i = 0; i < count; i++)
        for (int axis = 0; axis < 3; axis++) {
            boxes[i].least[axis] = (real)it->ends_of_boxes[6 * i + (size_t)axis];
            boxes[i].most[axis] = (real)-it->ends_of_boxes[6 * i + 3 + (size_t)axis];
        }
    *moved = it->ends_of_boxes[6 * count] > 0 ? (size_t)system->state->nodes : 0;
}

void REAL_NAME(exchange_blocks)(const struct system *system, void *data, size_t size)
{
    if (system->exchange)
        ranks_collect(data, size, system->exchange->parts->block_cuts, true);
}

// ---- The whole state

// Collects the memory that nodes have of their contacts with each collider.
static void collect_contacts(const struct state *s, const uint64_t *cuts, bool all)
{
    for (size_t at = 0; s->touching && at < (size_t)s->touches; at += (size_t)s->nodes)
        ranks_collect(s->touching + at, sizeof *s->touching, cuts, all);
    for (size_t at = 0; s->friction_flags && at < (size_t)s->frictions; at += (size_t)s->nodes) {
        ranks_collect(s->friction_anchor + at, sizeof *s->friction_anchor, cuts, all);
        ranks_collect(s->friction_stretch + at, sizeof *s->friction_stretch, cuts, all);
        ranks_collect(s->friction_flags + at, sizeof *s->friction_flags, cuts, all);
    }
}

// Forces are collected if they are those of the present state; those of the last evaluation only if
// `all` need them, or if checkpoints have them.
void REAL_NAME(exchange_collect)(const struct system *system, struct exchange *exchange, bool all)
{
    const struct state *s = system->state;
    const enum integrator integrator = system->settings.integrator;
    const bool keeps_forces =
        integrator == INTEGRATOR_VERLET || integrator == INTEGRATOR_VELOCITY_VERLET;
    if (!exchange->masses_known && (all || ranks_number() == 0)) {
        REAL_NAME(constants_fill_nodes)
        (system->constants, system->topology, (struct range){0, (size_t)s->nodes});
        exchange->masses_known = true;
    }
    struct node_fields fields = moving_fields(s, true);
    add_fields(&fields, s->nx, s->ny, s->nz);
    if (all || s->forces_current || keeps_forces)
        add_fields(&fields, s->fx, s->fy, s->fz);
    for (size_t f = 0; f < fields.count; f++)
        ranks_collect(fields.arrays[f], sizeof(real), exchange->parts->cuts, all);

    fields.count = 0;
    if (integrator == INTEGRATOR_VERLET) {
        add_fields(&fields, s->x0, s->y0, s->z0);
        add_fields(&fields, s->x0_low, s->y0_low, s->z0_low);
    }
    for (size_t f = 0; f < fields.count; f++)
        ranks_collect(fields.arrays[f], sizeof(real), exchange->parts->cuts, all);
    collect_contacts(s, exchange->parts->cuts, all);
    REAL_NAME(springs_share_losses)(system, &exchange->part);
    const bool keeps = all || !exchange->only_part || ranks_number() == 0;
    REAL_NAME(springs_collect)(system, &exchange->part, keeps);
}

void REAL_NAME(exchange_complete)(struct system *system, const struct worker *worker)
{
    worker_barrier(worker);
    if (worker->index == 0)
        REAL_NAME(exchange_collect)(system, system->exchange, true);
    stage_end(&system->clock, STAGE_RANKS, worker);
}

bool REAL_NAME(exchange_pause)(struct system *system, const struct worker *worker)
{
    struct exchange *exchange = system->exchange;
    if (!exchange)
        return false;
    REAL_NAME(exchange_complete)(system, worker);
    if (worker->index == 0) {
        system->paused = exchange;
        system->exchange = NULL;
        system->state->forces_zero = system->state->grid_forces_zero = false;
    }
    worker_barrier(worker);
    return true;
}

void REAL_NAME(exchange_resume)(struct system *system, bool paused, const struct worker *worker)
{
    if (!paused)
        return;
    worker_barrier(worker);
    if (worker->index == 0) {
        system->exchange = system->paused;
        system->paused = NULL;
        system->state->forces_zero = system->state->grid_forces_zero = false;
    }
    worker_barrier(worker);
}
