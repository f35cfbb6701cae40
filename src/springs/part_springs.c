// Implements part_springs.h. The state of a spring that is sent is its flag, if some springs break,
// and its rest length, if some yield; each piece of a list has all flags first.
#include "springs/part_springs.h"

#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "parallel/team.h"
#include "ranks/ranks.h"
#include "state/state.h"

static bool has_states(const struct system *system)
{
    return system->state->broken || system->state->rest_length;
}

// The number among springs that break or yield of the first of them from an index on.
static uint64_t number_from(const struct plan *plan, uint64_t index)
{
    if (index >= plan_off_grid_springs(plan))
        return plan_fragile_number(plan, index);
    uint64_t low = 0, high = plan_fragile_off_grid(plan);
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (plan_fragile_index(plan, middle) < index)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct range numbers_of_chunk(const struct system *system, size_t chunk)
{
    return chunk_range(chunk, (size_t)plan_fragile_total(system->plan));
}

// The springs of a chunk that are on grids, by their indices in the state's arrays.
static struct range chunk_indices(const struct system *system, size_t chunk)
{
    const struct plan *plan = system->plan;
    const size_t listed = (size_t)plan_fragile_off_grid(plan);
    const size_t before = (size_t)plan_off_grid_springs(plan);
    const struct range range = numbers_of_chunk(system, chunk);
    return (struct range){before + max_u64(range.first, listed) - listed,
                          before + max_u64(range.end, listed) - listed};
}

// A chunk that this rank evaluates, or NULL.
static const struct plan_chunk *find_chunk(const struct plan_part *part, size_t chunk)
{
    if (part->fragile_count == 0)
        return NULL;
    const struct plan_chunk *chunks = part->fragile; // their numbers ascend
    const struct plan_chunk *found =
        &chunks[find_interval(&chunks->number, sizeof *chunks, part->fragile_count, chunk)];
    return found->number == chunk ? found : NULL;
}

static bool evaluates(const struct plan_part *part, size_t chunk)
{
    return find_chunk(part, chunk) != NULL;
}

bool REAL_NAME(part_springs_counts)(const struct system *system, const struct plan_part *part,
                                    uint64_t index)
{
    const struct plan *plan = system->plan;
    const uint64_t number = number_from(plan, index);
    if (number >= plan_fragile_off_grid(plan) || plan_fragile_index(plan, number) != index)
        return false;
    const struct plan_chunk *chunk = find_chunk(part, (size_t)(number / SUM_CHUNK));
    return chunk && chunk->counts;
}

bool REAL_NAME(part_springs_knows)(const struct system *system, const struct plan_part *part,
                                   uint64_t index)
{
    return index < plan_off_grid_springs(system->plan) ||
           evaluates(part, (size_t)(number_from(system->plan, index) / SUM_CHUNK));
}

void REAL_NAME(part_springs_start)(const struct system *system, const struct plan_part *part)
{
    for (size_t i = 0; system->state->rest_length && i < part->fragile_count; i++)
        REAL_NAME(state_start_rest_lengths)
    (system->state, system->topology, system->plan, chunk_indices(system, part->fragile[i].number));
}

// ---- What is wanted

bool REAL_NAME(part_springs_want)(const struct system *system, const struct plan_parts *parts,
                                  const struct plan_part *part, uint64_t index, uint64_t count,
                                  struct node_lists *lists)
{
    const struct plan *plan = system->plan;
    const uint64_t end = number_from(plan, index + count), listed = plan_fragile_off_grid(plan);
    for (uint64_t number = number_from(plan, index); number < end;) {
        const size_t chunk = (size_t)(number / SUM_CHUNK);
        uint64_t last = min_u64(end, numbers_of_chunk(system, chunk).end);
        if (number < listed) // indices of springs on a grid do not follow those before them
            last = min_u64(last, listed);
        if (!evaluates(part, chunk)) {
            const uint64_t first = plan_fragile_index(plan, number);
            const int owner = plan_part_of_fragile(system->topology, plan, parts, chunk);
            if (!REAL_NAME(node_lists_want_pair)(lists, owner, first,
                                                 plan_fragile_index(plan, last - 1) + 1 - first))
                return false;
        }
        number = last;
    }
    return true;
}

// Springs i of a run of `count` that have a node of [first, end) as one of their ends, which is
// node + i.
static struct range springs_at(uint64_t node, uint64_t count, struct range nodes)
{
    const uint64_t from = nodes.first > node ? min_u64(nodes.first - node, count) : 0;
    const uint64_t to = nodes.end > node ? min_u64(nodes.end - node, count) : 0;
    return (struct range){(size_t)from, (size_t)(to > from ? to : from)};
}

// Wants the springs of a run that have either end among the nodes; those with both ends there are
// wanted once.
static bool want_run(const struct system *system, const struct plan_parts *parts,
                     const struct plan_part *part, const struct spring_run *run, uint64_t index,
                     struct range nodes, struct node_lists *lists)
{
    const struct range of_a = springs_at(run->a, run->count, nodes);
    const struct range of_b = springs_at(run->b, run->count, nodes);
    const bool a_first = of_a.first <= of_b.first;
    struct range one = a_first ? of_a : of_b, other = a_first ? of_b : of_a;
    if (other.first < one.end)
        other.first = other.end > one.end ? one.end : other.end;
    return REAL_NAME(part_springs_want)(system, parts, part, index + one.first, one.end - one.first,
                                        lists) &&
           REAL_NAME(part_springs_want)(system, parts, part, index + other.first,
                                        other.end - other.first, lists);
}

bool REAL_NAME(part_springs_want_at)(const struct system *system, const struct plan_parts *parts,
                                     const struct plan_part *part, struct range nodes,
                                     struct node_lists *lists)
{
    const struct topology *topology = system->topology;
    for (size_t b = 0; has_states(system) && b < topology->body_count; b++) {
        const struct topology_body *body = &topology->bodies[b];
        const bool any = max_u64(body->first_node, nodes.first) <
                         min_u64(body->first_node + body->node_count, nodes.end);
        if (any && body->spring_count > 0 && !plan_grid_of_body(system->plan, b) &&
            !plan_body_is_divided(topology, system->plan, parts, b) &&
            !REAL_NAME(part_springs_want)(system, parts, part,
                                          plan_off_grid_index(system->plan, body->first_spring),
                                          body->spring_count, lists))
            return false;
    }
    for (size_t g = 0; has_states(system) && g < system->plan->grid_count; g++) {
        const struct plan_grid *grid = &system->plan->grids[g];
        const struct topology_body *body = &topology->bodies[grid->body];
        const uint64_t end = body->first_spring + body->spring_count;
        const bool any = body->first_node < nodes.end &&
                         body->first_node + body->node_count > nodes.first &&
                         nodes.first < nodes.end;
        for (uint64_t spring = body->first_spring; any && grid->stateful && spring < end;) {
            const struct spring_run run = topology_run(topology, spring, end);
            const uint64_t index = grid->first_state_index + (spring - body->first_spring);
            if (!want_run(system, parts, part, &run, index, nodes, lists))
                return false;
            spring += run.count;
        }
    }
    return true;
}

// ---- Messages

static size_t bytes_of_pairs(const struct system *system, uint64_t (*pairs)[2], size_t count)
{
    const struct state *s = system->state;
    const size_t each =
        (s->broken ? sizeof *s->broken : 0) + (s->rest_length ? sizeof *s->rest_length : 0);
    size_t bytes = 0;
    for (size_t i = 0; i < count; i++)
        bytes += each * (size_t)pairs[i][1];
    return bytes;
}

bool REAL_NAME(part_springs_connect)(const struct system *system, struct node_lists *lists, int tag)
{
    const size_t count = (size_t)ranks_count();
    size_t *sent = calloc(count, sizeof *sent), *received = calloc(count, sizeof *received);
    for (size_t r = 0; sent && received && r < count; r++) {
        sent[r] = bytes_of_pairs(system, lists->sent[r], lists->sent_counts[r]);
        received[r] = bytes_of_pairs(system, lists->received[r], lists->received_counts[r]);
    }
    if (sent && received)
        lists->messages = ranks_messages_make(sent, received, tag, RANKS_BUFFERED);
    free(sent);
    free(received);
    return lists->messages;
}

// Copies the flags and rest lengths of a piece into a message; returns the end of what is there.
static char *put_piece(const struct state *s, const uint64_t piece[2], char *to)
{
    const size_t flags = s->broken ? (size_t)piece[1] * sizeof *s->broken : 0;
    const size_t lengths = s->rest_length ? (size_t)piece[1] * sizeof *s->rest_length : 0;
    if (flags > 0)
        memcpy(to, s->broken + piece[0], flags);
    if (lengths > 0)
        memcpy(to + flags, s->rest_length + piece[0], lengths);
    return to + flags + lengths;
}

// Copies them out of a message.
static const char *take_piece(const struct state *s, const uint64_t piece[2], const char *from)
{
    const size_t flags = s->broken ? (size_t)piece[1] * sizeof *s->broken : 0;
    const size_t lengths = s->rest_length ? (size_t)piece[1] * sizeof *s->rest_length : 0;
    if (flags > 0)
        memcpy(s->broken + piece[0], from, flags);
    if (lengths > 0)
        memcpy(s->rest_length + piece[0], from + flags, lengths);
    return from + flags + lengths;
}

void REAL_NAME(part_springs_swap)(const struct system *system, const struct node_lists *lists)
{
    const struct state *s = system->state;
    if (!has_states(system))
        return;
    for (int r = 0; r < ranks_count(); r++) {
        char *to = lists->sent_counts[r] > 0 ? ranks_outgoing(lists->messages, r) : NULL;
        for (size_t i = 0; i < lists->sent_counts[r]; i++)
            to = put_piece(s, lists->sent[r][i], to);
    }
    ranks_messages_start(lists->messages);
    ranks_messages_wait(lists->messages);
    for (int r = 0; r < ranks_count(); r++) {
        const char *from =
            lists->received_counts[r] > 0 ? ranks_incoming(lists->messages, r) : NULL;
        for (size_t i = 0; i < lists->received_counts[r]; i++)
            from = take_piece(s, lists->received[r][i], from);
    }
}

// ---- Counting

uint64_t REAL_NAME(part_springs_broken)(const struct system *system, const struct plan_part *part)
{
    const uint8_t *broken = system->state->broken;
    double count = 0; // exact
    for (size_t c = 0; broken && c < part->fragile_count; c++) {
        const struct range range = numbers_of_chunk(system, part->fragile[c].number);
        for (size_t i = range.first; part->fragile[c].counts && i < range.end; i++)
            count += broken[plan_fragile_index(system->plan, i)];
    }
    ranks_add(&count, 1);
    return (uint64_t)count;
}
