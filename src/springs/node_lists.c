// The lists of nodes that ranks send each other (node_lists.h).
#include "springs/node_lists.h"

#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "ranks/ranks.h"

bool REAL_NAME(node_lists_begin)(struct node_lists *lists)
{
    const size_t count = (size_t)ranks_count();
    lists->sent = calloc(count, sizeof *lists->sent);
    lists->received = calloc(count, sizeof *lists->received);
    lists->sent_counts = calloc(count, sizeof *lists->sent_counts);
    lists->received_counts = calloc(count, sizeof *lists->received_counts);
    return lists->sent && lists->received && lists->sent_counts && lists->received_counts;
}

void REAL_NAME(node_lists_free)(struct node_lists *lists)
{
    for (int r = 0; r < ranks_count(); r++) {
        if (lists->sent)
            free(lists->sent[r]);
        if (lists->received)
            free(lists->received[r]);
    }
    free(lists->sent);
    free(lists->received);
    free(lists->sent_counts);
    free(lists->received_counts);
    free(lists->pieces);
    ranks_messages_free(lists->messages);
    *lists = (struct node_lists){0};
}

// The lists grow by doubling.
bool REAL_NAME(node_lists_want_pair)(struct node_lists *lists, int rank, uint64_t first,
                                     uint64_t second)
{
    const size_t count = lists->received_counts[rank];
    if ((count & (count - 1)) == 0) { // 0, or a power of two: full
        void *grown =
            realloc(lists->received[rank], (count == 0 ? 1 : 2 * count) * sizeof **lists->received);
        if (!grown)
            return false;
        lists->received[rank] = grown;
    }
    lists->received[rank][count][0] = first;
    lists->received[rank][count][1] = second;
    lists->received_counts[rank]++;
    return true;
}

bool REAL_NAME(node_lists_want)(struct node_lists *lists, const struct plan_parts *parts,
                                struct plan_nodes nodes)
{
    const uint64_t end = nodes.first + nodes.count;
    for (uint64_t node = nodes.first; node < end;) {
        const int owner = plan_part_of_node(parts, node);
        const uint64_t last = min_u64(end, parts->cuts[owner + 1]);
        if (!REAL_NAME(node_lists_want_pair)(lists, owner, node, last - node))
            return false;
        node = last;
    }
    return true;
}

bool REAL_NAME(node_lists_swap)(struct node_lists *lists)
{
    const size_t count = (size_t)ranks_count();
    uint64_t **wanted = calloc(count, sizeof *wanted), **asked = calloc(count, sizeof *asked);
    size_t *counts = calloc(count, sizeof *counts), *asked_counts = calloc(count, sizeof *counts);
    if (!wanted || !asked || !counts || !asked_counts)
        ranks_abort(1, "out of memory for the lists of ranks");
    for (size_t r = 0; r < count; r++) {
        wanted[r] = (uint64_t *)lists->received[r];
        counts[r] = 2 * lists->received_counts[r];
    }
    const bool swapped = ranks_swap_lists(wanted, counts, asked, asked_counts);
    for (size_t r = 0; r < count; r++) {
        lists->sent[r] = (uint64_t(*)[2])asked[r];
        lists->sent_counts[r] = swapped ? asked_counts[r] / 2 : 0;
    }
    free(wanted);
    free(asked);
    free(counts);
    free(asked_counts);
    return swapped;
}

static uint64_t nodes_of_pairs(uint64_t (*pairs)[2], size_t count, const struct plan *boxes)
{
    uint64_t nodes = 0;
    for (size_t i = 0; i < count; i++)
        nodes += boxes ? plan_box_nodes(boxes, (struct plan_box){pairs[i][0], pairs[i][1]})
                       : pairs[i][1];
    return nodes;
}

bool REAL_NAME(node_lists_connect)(struct node_lists *lists, const struct plan *boxes,
                                   size_t numbers, int tag, unsigned placed)
{
    enum { PIECES_MOST = 1024 };
    const size_t count = (size_t)ranks_count(), each = numbers * sizeof(real);
    size_t sent_most = 0, received_most = 0; // pieces
    for (size_t r = 0; r < count; r++) {
        sent_most = (size_t)max_u64(sent_most, numbers * lists->sent_counts[r]);
        received_most = (size_t)max_u64(received_most, numbers * lists->received_counts[r]);
    }
    lists->placed = placed & ((sent_most <= PIECES_MOST ? RANKS_PLACED_OUTGOING : 0) |
                              (received_most <= PIECES_MOST ? RANKS_PLACED_INCOMING : 0));
    lists->pieces = calloc((size_t)max_u64(sent_most, received_most) + 1, sizeof *lists->pieces);
    if (!lists->pieces)
        return false;
    size_t *sent = calloc(count, sizeof *sent), *received = calloc(count, sizeof *received);
    for (size_t r = 0; sent && received && r < count; r++) {
        sent[r] = each * (size_t)nodes_of_pairs(lists->sent[r], lists->sent_counts[r], boxes);
        received[r] =
            each * (size_t)nodes_of_pairs(lists->received[r], lists->received_counts[r], boxes);
    }
    if (sent && received)
        lists->messages = ranks_messages_make(sent, received, tag, lists->placed);
    free(sent);
    free(received);
    return lists->messages;
}

static real *pack(const struct node_fields *fields, const uint64_t nodes[2], real *to)
{
    for (size_t f = 0; f < fields->count; f++, to += nodes[1])
        memcpy(to, fields->arrays[f] + (nodes[0] - fields->first), (size_t)nodes[1] * sizeof *to);
    return to;
}

static const real *unpack(const struct node_fields *fields, const uint64_t nodes[2],
                          const real *from)
{
    for (size_t f = 0; f < fields->count; f++, from += nodes[1])
        memcpy(fields->arrays[f] + (nodes[0] - fields->first), from,
               (size_t)nodes[1] * sizeof *from);
    return from;
}

// Sets the positions of a list's nodes in memory as the pieces of a message, array after array for
// each pair.
static void place(const struct node_lists *lists, const struct node_fields *fields, int rank,
                  enum ranks_placed placed)
{
    const bool incoming = placed == RANKS_PLACED_INCOMING;
    uint64_t(*const pairs)[2] = incoming ? lists->received[rank] : lists->sent[rank];
    const size_t count = incoming ? lists->received_counts[rank] : lists->sent_counts[rank];
    size_t pieces = 0;
    for (size_t i = 0; i < count; i++)
        for (size_t f = 0; f < fields->count; f++)
            lists->pieces[pieces++] =
                (struct ranks_piece){fields->arrays[f] + (pairs[i][0] - fields->first),
                                     (size_t)pairs[i][1] * sizeof(real)};
    ranks_messages_place(lists->messages, rank, placed, lists->pieces, pieces);
}

void REAL_NAME(node_lists_send)(const struct node_lists *lists, const struct node_fields *fields)
{
    for (int r = 0; r < ranks_count(); r++) {
        if (lists->placed & RANKS_PLACED_INCOMING)
            place(lists, fields, r, RANKS_PLACED_INCOMING);
        if (lists->placed & RANKS_PLACED_OUTGOING) {
            place(lists, fields, r, RANKS_PLACED_OUTGOING);
            continue;
        }
        real *to = lists->sent_counts[r] > 0 ? ranks_outgoing(lists->messages, r) : NULL;
        for (size_t i = 0; i < lists->sent_counts[r]; i++)
            to = pack(fields, lists->sent[r][i], to);
    }
    ranks_messages_start(lists->messages);
}

void REAL_NAME(node_lists_receive)(const struct node_lists *lists, const struct node_fields *fields)
{
    ranks_messages_wait(lists->messages);
    for (int r = 0; r < ranks_count() && !(lists->placed & RANKS_PLACED_INCOMING); r++) {
        const real *from =
            lists->received_counts[r] > 0 ? ranks_incoming(lists->messages, r) : NULL;
        for (size_t i = 0; i < lists->received_counts[r]; i++)
            from = unpack(fields, lists->received[r][i], from);
    }
}
