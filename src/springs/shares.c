// The work that ranks share in steps that all of them compute (shares.h).
#include "springs/shares.h"

#include <stdlib.h>

#include "base/sort.h"
#include "faces/plan.h"
#include "ranks/ranks.h"
#include "springs/node_lists.h"

struct shares {
    struct plan_parts parts;        // rank r has the rows of nodes [cuts[r], cuts[r + 1])
    const struct plan_parts *nodes; // and holds these nodes; NULL: all
    struct node_lists halo;         // nodes of others that its rows read
    struct node_lists own;          // its nodes whose rows others have; with `nodes`, as the next
    struct node_lists around;       // nodes of others that belong to its rows or are read by them
    bool everything;                // they may read any node
    bool any;                       // the result of shares_any
};

// These differ from the tags of exchange.c, which a rank that holds only its part uses too.
enum { TAG_ROWS = 20, TAG_READ, TAG_RETURNED, TAG_OWN, TAG_AROUND };

struct shared_nodes {
    const struct plan_parts *parts;
    struct node_lists read, returned;
};

// ---- The nodes that rows read

// How far from a node of a grid its row reaches, by springs and, two nodes in a row, two rows and
// one layer, by elements.
static uint64_t reach_of(const struct topology_body *body, const struct plan_grid *grid)
{
    const uint64_t rows = grid->ny > 1 ? 2 * grid->nx : 0;
    uint64_t reach =
        body->elements.present ? 2 + rows + (grid->nz > 1 ? grid->nx * grid->ny : 0) : 0;
    for (int d = 0; d < grid->direction_count; d++)
        reach = max_u64(reach, (uint64_t)grid->directions[d].offset);
    return reach;
}

// Adds the nodes at the other ends of springs, and those of elements of grids.
static bool add_spring_needs(const struct system *system, struct plan_part *part)
{
    const struct topology *topology = system->topology;
    for (size_t b = 0; b < topology->body_count; b++) {
        const struct topology_body *body = &topology->bodies[b];
        const struct plan_grid *grid = plan_grid_of_body(system->plan, b);
        const uint64_t end_node = body->first_node + body->node_count;
        if (body->first_node >= part->end_node || end_node <= part->first_node)
            continue;
        if (grid) {
            const uint64_t reach = reach_of(body, grid);
            const uint64_t before = part->first_node > reach ? part->first_node - reach : 0;
            if (!plan_part_need(part, max_u64(before, body->first_node), part->first_node) ||
                !plan_part_need(part, part->end_node, min_u64(part->end_node + reach, end_node)))
                return false;
            continue;
        }
        const uint64_t end = body->first_spring + body->spring_count;
        for (uint64_t spring = body->first_spring; spring < end;) {
            const struct spring_run run = topology_run(topology, spring, end);
            for (uint64_t i = 0; i < run.count; i++)
                if ((plan_part_owns(part, run.a + i) &&
                     !plan_part_need(part, run.b + i, run.b + i + 1)) ||
                    (plan_part_owns(part, run.b + i) &&
                     !plan_part_need(part, run.a + i, run.a + i + 1)))
                    return false;
            spring += run.count;
        }
    }
    return true;
}

// Adds the other corners of faces on which wind acts.
static bool add_face_needs(const struct topology *topology, struct plan_part *part)
{
    for (size_t b = 0; topology->environment.wind.present && b < topology->body_count; b++) {
        const struct topology_body *body = &topology->bodies[b];
        for (uint64_t f = 0; f < body->face_count; f++) {
            const struct face face = topology_body_face(topology, body, f);
            const int corners = face.nodes[2] == FACE_EDGE ? 2 : 3;
            bool owns = false;
            for (int corner = 0; corner < corners; corner++)
                owns |= plan_part_owns(part, face.nodes[corner]);
            for (int corner = 0; owns && corner < corners; corner++)
                if (!plan_part_need(part, face.nodes[corner], (uint64_t)face.nodes[corner] + 1))
                    return false;
        }
    }
    return true;
}

// ---- Making

// Wants nodes from their owners by `parts`, except nodes [known[0], known[1]).
static bool want_others(struct node_lists *lists, const struct plan_parts *parts,
                        struct plan_nodes nodes, const uint64_t known[2])
{
    const uint64_t end = nodes.first + nodes.count;
    const uint64_t sides[2][2] = {{nodes.first, min_u64(end, known[0])},
                                  {max_u64(nodes.first, known[1]), end}};
    for (int side = 0; side < 2; side++) {
        const uint64_t *it = sides[side];
        if (it[0] < it[1] &&
            !REAL_NAME(node_lists_want)(lists, parts, (struct plan_nodes){it[0], it[1] - it[0]}))
            return false;
    }
    return true;
}

// Finds what a rank wants that holds nodes [own[0], own[1]); `rows` has its rows and what they
// read.
static bool find_wants_of_part(struct shares *shares, const struct plan_part *rows)
{
    const uint64_t *own = shares->nodes->cuts + ranks_number();
    const uint64_t of_rows[2] = {rows->first_node, rows->end_node};
    bool found = want_others(&shares->own, &shares->parts,
                             (struct plan_nodes){own[0], own[1] - own[0]}, of_rows) &&
                 want_others(&shares->around, shares->nodes,
                             (struct plan_nodes){of_rows[0], of_rows[1] - of_rows[0]}, own);
    for (size_t i = 0; found && i < rows->halo_count; i++)
        found = want_others(&shares->around, shares->nodes, rows->halo[i], own);
    return found;
}

static bool find_wants(const struct system *system, struct shares *shares)
{
    const uint64_t *cuts = shares->parts.cuts + ranks_number();
    struct plan_part part = {.first_node = cuts[0], .end_node = cuts[1]};
    bool found = REAL_NAME(node_lists_begin)(&shares->halo) &&
                 REAL_NAME(node_lists_begin)(&shares->own) &&
                 REAL_NAME(node_lists_begin)(&shares->around);
    if (!shares->everything && cuts[0] < cuts[1])
        found = found && add_spring_needs(system, &part) && add_face_needs(system->topology, &part);
    if (found)
        plan_part_tidy(&part);
    for (size_t i = 0; found && i < part.halo_count; i++)
        found = REAL_NAME(node_lists_want)(&shares->halo, &shares->parts, part.halo[i]);
    if (shares->nodes)
        found = found && find_wants_of_part(shares, &part);
    plan_part_free(&part);
    return found;
}

static bool make(const struct system *system, struct shares *shares)
{
    const size_t count = (size_t)ranks_count(), nodes = (size_t)system->state->nodes;
    shares->parts.count = (int)count;
    shares->parts.cuts = calloc(count + 1, sizeof *shares->parts.cuts);
    if (!shares->parts.cuts)
        return false;
    for (size_t r = 0; r <= count; r++) { // as sum_over_chunks divides them
        const uint64_t chunk =
            shares->nodes ? shares->nodes->chunk_cuts[r] : chunk_count(nodes) * r / count;
        shares->parts.cuts[r] = min_u64(chunk * SUM_CHUNK, nodes);
    }
    // The compression of gas is a sum over the nodes of a body, which no rank has alone, and
    // elements on no grid are not looked through here.
    shares->everything = topology_has_gas(system->topology);
    for (size_t b = 0; b < system->topology->body_count; b++)
        shares->everything |=
            system->topology->bodies[b].elements.present && !plan_grid_of_body(system->plan, b);
    return find_wants(system, shares);
}

static bool connect_lists(struct node_lists *lists, int tag)
{
    return REAL_NAME(node_lists_swap)(lists) &&
           REAL_NAME(node_lists_connect)(lists, NULL, 3, tag, RANKS_BUFFERED);
}

struct shares *REAL_NAME(shares_make)(const struct system *system, const struct plan_parts *parts)
{
    struct shares *shares = calloc(1, sizeof *shares);
    if (shares)
        shares->nodes = parts;
    if (!shares || !make(system, shares) || !connect_lists(&shares->halo, TAG_ROWS) ||
        (parts &&
         (!connect_lists(&shares->own, TAG_OWN) || !connect_lists(&shares->around, TAG_AROUND))))
        ranks_abort(1, "out of memory for the shares of ranks");
    return shares;
}

void REAL_NAME(shares_free)(struct shares *shares)
{
    if (!shares)
        return;
    REAL_NAME(node_lists_free)(&shares->halo);
    REAL_NAME(node_lists_free)(&shares->own);
    REAL_NAME(node_lists_free)(&shares->around);
    free(shares->parts.cuts);
    free(shares);
}

// ---- Rows

struct range REAL_NAME(shares_rows)(const struct system *system)
{
    if (!system->shares)
        return (struct range){0, (size_t)system->state->nodes};
    const uint64_t *cuts = system->shares->parts.cuts + ranks_number();
    return (struct range){(size_t)cuts[0], (size_t)cuts[1]};
}

struct range REAL_NAME(shares_rows_of)(const struct system *system, const struct worker *worker,
                                       size_t grain)
{
    const struct range rows = REAL_NAME(shares_rows)(system);
    const struct range share = worker_share(worker, rows.end - rows.first, grain);
    return (struct range){rows.first + share.first, rows.first + share.end};
}

// A round of messages, after all have written what is sent.
static void swap_vectors(struct system *system, const struct node_lists *lists,
                         struct node_vectors vectors, const struct worker *worker)
{
    stage_end(&system->clock, STAGE_SOLVE, worker);
    if (worker->index == 0) {
        const struct node_fields fields = {{vectors.x, vectors.y, vectors.z}, 3, 0};
        REAL_NAME(node_lists_send)(lists, &fields);
        REAL_NAME(node_lists_receive)(lists, &fields);
    }
    stage_end(&system->clock, STAGE_RANKS, worker);
}

void REAL_NAME(shares_collect)(struct system *system, struct node_vectors vectors,
                               const struct worker *worker)
{
    if (!system->shares)
        return;
    if (system->shares->nodes) {
        swap_vectors(system, &system->shares->own, vectors, worker);
        return;
    }
    stage_end(&system->clock, STAGE_SOLVE, worker); // all have written their rows
    real *const arrays[] = {vectors.x, vectors.y, vectors.z};
    for (size_t i = 0; worker->index == 0 && i < sizeof arrays / sizeof arrays[0]; i++)
        ranks_collect(arrays[i], sizeof(real), system->shares->parts.cuts, true);
    stage_end(&system->clock, STAGE_RANKS, worker);
}

void REAL_NAME(shares_collect_read)(struct system *system, struct node_vectors vectors,
                                    const struct worker *worker)
{
    const struct shares *shares = system->shares;
    if (!shares || shares->everything) {
        REAL_NAME(shares_collect)(system, vectors, worker);
        return;
    }
    swap_vectors(system, &shares->halo, vectors, worker);
}

void REAL_NAME(shares_fill)(struct system *system, struct node_vectors vectors,
                            const struct worker *worker)
{
    if (system->shares && system->shares->nodes)
        swap_vectors(system, &system->shares->around, vectors, worker);
}

void REAL_NAME(shares_place)(struct system *system, const struct worker *worker)
{
    const struct state *s = system->state;
    REAL_NAME(shares_fill)(system, (struct node_vectors){s->x, s->y, s->z}, worker);
    if (topology_wind_damps_faces(system->topology))
        REAL_NAME(shares_fill)(system, (struct node_vectors){s->vx, s->vy, s->vz}, worker);
}

// ---- Lines across rows

static _Noreturn void fail_to_list(void)
{
    ranks_abort(1, "out of memory for the lines of ranks");
}

struct shared_nodes *REAL_NAME(shared_nodes_begin)(const struct system *system)
{
    struct shared_nodes *lists = calloc(1, sizeof *lists);
    if (!lists || !REAL_NAME(node_lists_begin)(&lists->read) ||
        !REAL_NAME(node_lists_begin)(&lists->returned))
        fail_to_list();
    lists->parts = &system->shares->parts;
    return lists;
}

void REAL_NAME(shared_nodes_add)(struct shared_nodes *lists, struct plan_nodes nodes, bool computed)
{
    const uint64_t *own = lists->parts->cuts + ranks_number();
    if (!want_others(&lists->read, lists->parts, nodes, own) ||
        (computed && !want_others(&lists->returned, lists->parts, nodes, own)))
        fail_to_list();
}

// Exchanges both directions: results go to the ranks from which they are listed as wanted.
static void turn_round(struct node_lists *lists)
{
    uint64_t(**const pairs)[2] = lists->sent;
    size_t *const counts = lists->sent_counts;
    lists->sent = lists->received;
    lists->sent_counts = lists->received_counts;
    lists->received = pairs;
    lists->received_counts = counts;
}

void REAL_NAME(shared_nodes_connect)(struct shared_nodes *lists)
{
    if (!REAL_NAME(node_lists_swap)(&lists->read) || !REAL_NAME(node_lists_swap)(&lists->returned))
        fail_to_list();
    turn_round(&lists->returned);
    if (!REAL_NAME(node_lists_connect)(&lists->read, NULL, 3, TAG_READ, RANKS_BUFFERED) ||
        !REAL_NAME(node_lists_connect)(&lists->returned, NULL, 3, TAG_RETURNED, RANKS_BUFFERED))
        fail_to_list();
}

void REAL_NAME(shared_nodes_free)(struct shared_nodes *lists)
{
    if (!lists)
        return;
    REAL_NAME(node_lists_free)(&lists->read);
    REAL_NAME(node_lists_free)(&lists->returned);
    free(lists);
}

void REAL_NAME(shared_nodes_read)(struct system *system, const struct shared_nodes *lists,
                                  struct node_vectors vectors, const struct worker *worker)
{
    swap_vectors(system, &lists->read, vectors, worker);
}

void REAL_NAME(shared_nodes_return)(struct system *system, const struct shared_nodes *lists,
                                    struct node_vectors vectors, const struct worker *worker)
{
    swap_vectors(system, &lists->returned, vectors, worker);
}

// ---- Decisions

bool REAL_NAME(agree_on_any)(struct system *system, bool *any, bool mine,
                             const struct worker *worker)
{
    worker_barrier(worker); // all have read the last result
    if (worker->index == 0)
        *any = ranks_any(mine);
    stage_end(&system->clock, STAGE_RANKS, worker);
    return *any;
}

bool REAL_NAME(shares_any)(struct system *system, bool mine, const struct worker *worker)
{
    struct shares *it = system->shares;
    return it ? REAL_NAME(agree_on_any)(system, &it->any, mine, worker) : mine;
}
