// Writes the fields of a checkpoint (checkpoint.h) where ranks hold only their parts. Each rank
// makes the chunks that begin at its nodes, with what these remember of contacts, or with springs
// that it counts, and puts them where one process would have written them; rank 0, which writes
// everything else (checkpoint_archive.c), announces which field is next, and where it begins.
//
// A chunk is stored as it is or compressed, so where the next one begins is known only when all
// before it have been tried: each rank first finds the sizes of its chunks, which takes little
// where zstd gives up, and then writes them. So no rank keeps more than a chunk.
#include "solver/checkpoint_parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/sort.h"
#include "ranks/ranks.h"
#include "solver/checkpoint.h"
#include "solver/private.h"
#include "springs/plan_parts.h"

struct checkpoint_part {
    const taut_solver *solver;
    const struct checkpoint_sink *sink;
    struct archive_writer writer;
    uint64_t at;            // where the writer is
    unsigned char *numbers; // of a chunk
    unsigned char *rest;    // those of other ranks in the last chunk
    uint64_t *bytes;        // of a field, by rank
};

// An order of rank 0 to the others: a field, or that there are no more.
struct order {
    struct checkpoint_field_chunks field;
    uint64_t at;
    bool ends;
};

static bool put(void *context, const void *bytes, size_t count)
{
    struct checkpoint_part *it = context;
    const bool has_put = it->sink->put(it->sink->context, it->at, bytes, count);
    it->at += count;
    return has_put;
}

void checkpoint_part_free(struct checkpoint_part *part)
{
    if (!part)
        return;
    archive_end_part(&part->writer);
    memory_release(NULL, part->numbers, ARCHIVE_CHUNK, 1);
    memory_release(NULL, part->rest, ARCHIVE_CHUNK, 1);
    free(part->bytes);
    free(part);
}

taut_status checkpoint_part_make(const taut_solver *solver, const struct checkpoint_sink *sink,
                                 struct checkpoint_part **result, taut_error *error)
{
    struct checkpoint_part *part = *result = calloc(1, sizeof *part);
    taut_error failure = {0};
    taut_status status = TAUT_OK;
    if (part) {
        part->solver = solver;
        part->sink = sink;
        part->numbers = memory_allocate(NULL, ARCHIVE_CHUNK, 1);
        part->rest = memory_allocate(NULL, ARCHIVE_CHUNK, 1);
        part->bytes = calloc((size_t)ranks_count(), sizeof *part->bytes);
        status = archive_write_part(&part->writer, put, part, &failure);
    }
    if (!part || !part->numbers || !part->rest || !part->bytes)
        status = fail_memory(&failure, "a checkpoint");
    status = ranks_agree(status, &failure);
    if (status == TAUT_OK)
        return TAUT_OK;
    checkpoint_part_free(part);
    *result = NULL;
    if (error)
        *error = failure;
    return status;
}

// The chunks [first, end) of a field that begin at the nodes of a rank, of `nodes` nodes each.
struct chunks {
    uint64_t first, end, nodes, all;
};

static struct chunks chunks_of(const struct checkpoint_part *it,
                               const struct checkpoint_field_chunks *field, struct range own)
{
    const uint64_t nodes = field->most / field->width;
    return (struct chunks){(own.first + nodes - 1) / nodes, (own.end + nodes - 1) / nodes, nodes,
                           it->solver->topology->node_count};
}

// Nodes after its own that the last chunk of this rank has come from the ranks after it; those
// before its first chunk go to the rank that has the chunk. A rank may have to wait for all after
// it, each with one small message.
static void complete_chunks(struct checkpoint_part *it, const struct checkpoint_field_chunks *field,
                            struct range own, const struct chunks *chunks)
{
    const size_t bytes = field->width * archive_type_bytes(field->type);
    const uint64_t end = min_u64(chunks->end * chunks->nodes, chunks->all);
    const int rank = ranks_number();
    for (uint64_t node = own.end; chunks->first < chunks->end && node < end;) {
        const int owner = solver_rank_of_node(it->solver, node);
        const uint64_t some = min_u64(solver_nodes_of_rank(it->solver, owner).end, end) - node;
        ranks_pass(it->rest + (node - own.end) * bytes, some * bytes, owner, rank);
        node += some;
    }
    const uint64_t before = min_u64(own.end, chunks->first * chunks->nodes) - own.first;
    if (before == 0)
        return;
    it->solver->functions->checkpoint_gather(it->solver->system, field->field, own.first, before,
                                             it->numbers);
    ranks_pass(it->numbers, before * bytes, rank,
               solver_rank_of_node(it->solver, (chunks->first - 1) * chunks->nodes));
}

// The numbers of a chunk in it->numbers; returns how many.
static uint64_t gather_chunk(struct checkpoint_part *it,
                             const struct checkpoint_field_chunks *field, struct range own,
                             const struct chunks *chunks, uint64_t chunk)
{
    const size_t bytes = field->width * archive_type_bytes(field->type);
    const uint64_t first = chunk * chunks->nodes;
    const uint64_t end = min_u64(first + chunks->nodes, chunks->all);
    const uint64_t mine = min_u64(end, own.end) - first;
    it->solver->functions->checkpoint_gather(it->solver->system, field->field, first, mine,
                                             it->numbers);
    memcpy(it->numbers + mine * bytes, it->rest, (end - first - mine) * bytes);
    return (end - first) * field->width;
}

// ---- Springs and contacts, and nodes of bodies that are divided
//
// One direction of a grid follows the other, and the nodes of one collider those of another, so
// that the chunks of a rank do not follow each other, and any chunk may have springs or nodes of
// several ranks. Likewise all nodes where a body on no grid is divided, as the builder's order of
// its nodes is not that of the plan.

// How many of the nodes of all colliders (slots) from `first` on one rank has, or none need be
// asked for.
static struct plan_spring_piece contacts_piece(const struct checkpoint_part *it, unsigned field,
                                               uint64_t first, uint64_t end)
{
    const struct topology *topology = it->solver->topology;
    const uint64_t node = first % topology->node_count, start = first - node;
    const uint64_t layer_end = min_u64(end, start + topology->node_count);
    if (field == CHECKPOINT_touching &&
        topology->colliders[start / topology->node_count].response != RESPONSE_PROJECT)
        return (struct plan_spring_piece){layer_end - first, PLAN_NO_PART};
    return solver_node_piece(it->solver, node, layer_end - start);
}

static struct plan_spring_piece next_piece(const struct checkpoint_part *it, unsigned field,
                                           uint64_t first, uint64_t end)
{
    if (checkpoint_field_is_of_contacts(field))
        return contacts_piece(it, field, first, end);
    return checkpoint_field_is_of_springs(field) ? solver_spring_piece(it->solver, first, end)
                                                 : solver_node_piece(it->solver, first, end);
}

static int rank_of_builder_node(const struct checkpoint_part *it, uint64_t node)
{
    return solver_rank_of_node(it->solver, topology_internal_node(it->solver->topology, node));
}

// The numbers that are read for scattered nodes: those of a field from `start` on.
struct scattered_field {
    unsigned field;
    uint64_t start;
};

static struct plan_part_range ranks_with_springs(const struct checkpoint_part *it, uint64_t spring)
{
    const taut_solver *solver = it->solver;
    return plan_parts_of_fragile(solver->topology, solver->plan, solver_parts(solver),
                                 topology_body_of_spring(solver->topology, spring));
}

// The rank that makes a chunk: that of its first piece which any has.
static int writer_of_pieces(const struct checkpoint_part *it, unsigned field, uint64_t first,
                            uint64_t end)
{
    while (first < end) {
        const struct plan_spring_piece piece = next_piece(it, field, first, end);
        if (piece.owner >= 0)
            return piece.owner;
        if (piece.owner == PLAN_SEVERAL_PARTS && checkpoint_field_is_of_springs(field))
            return ranks_with_springs(it, first).first;
        if (piece.owner == PLAN_SEVERAL_PARTS)
            return rank_of_builder_node(it, first % it->solver->topology->node_count);
        first += piece.count;
    }
    return 0;
}

static void read_field(const taut_solver *solver, const void *context, uint64_t first,
                       uint64_t count, void *to)
{
    const struct scattered_field *it = context;
    solver->functions->checkpoint_gather(solver->system, it->field, it->start + first, count, to);
}

// Gathers the numbers of springs of a divided body. One rank counts each spring, and the numbers of
// the other ranks are 0.
static void gather_divided_springs(struct checkpoint_part *it,
                                   const struct checkpoint_field_chunks *field, uint64_t first,
                                   uint64_t count, int writer, unsigned char *to)
{
    const size_t bytes = (size_t)count * archive_type_bytes(field->type);
    const int rank = ranks_number();
    const struct plan_part_range ranks = ranks_with_springs(it, first);
    for (int r = ranks.first; r <= ranks.last; r++) {
        if (r == rank) {
            memset(it->rest, 0, bytes);
            solver_gather_counted(it->solver, field->field, first, count, it->rest);
        }
        if (r == rank || writer == rank)
            ranks_pass(it->rest, bytes, r, writer);
        for (size_t i = 0; writer == rank && i < bytes; i++)
            to[i] |= it->rest[i];
    }
}

// Gathers a piece of a divided body in `to` of the rank `writer`.
static void gather_divided(struct checkpoint_part *it, const struct checkpoint_field_chunks *field,
                           uint64_t first, uint64_t count, int writer, unsigned char *to)
{
    const uint64_t nodes = it->solver->topology->node_count;
    const uint64_t node = checkpoint_field_is_of_contacts(field->field) ? first % nodes : first;
    const struct scattered_field fields = {field->field, first - node};
    const struct scattered some = {.first = node,
                                   .count = count,
                                   .bytes = field->width * archive_type_bytes(field->type),
                                   .read = read_field,
                                   .context = &fields};
    if (checkpoint_field_is_of_springs(field->field))
        gather_divided_springs(it, field, first, count, writer, to);
    else
        solver_pass_scattered(it->solver, &some, writer, to, it->rest);
}

// Gathers the numbers of springs, contacts or nodes [first, end) in it->numbers of one rank, and
// returns that rank. Each number comes from the rank that counts or has it; it is 0 where no spring
// breaks or yields, or no node can touch.
static int gather_pieces(struct checkpoint_part *it, const struct checkpoint_field_chunks *field,
                         uint64_t first, uint64_t end)
{
    const size_t bytes = field->width * archive_type_bytes(field->type);
    const int writer = writer_of_pieces(it, field->field, first, end), rank = ranks_number();
    if (rank == writer)
        memset(it->numbers, 0, (size_t)(end - first) * bytes);
    for (uint64_t at = first; at < end;) {
        const struct plan_spring_piece piece = next_piece(it, field->field, at, end);
        if (piece.owner == PLAN_SEVERAL_PARTS) {
            gather_divided(it, field, at, piece.count, writer, it->numbers + (at - first) * bytes);
            at += piece.count;
            continue;
        }
        unsigned char *to = rank == writer ? it->numbers + (at - first) * bytes : it->rest;
        if (piece.owner == rank)
            it->solver->functions->checkpoint_gather(it->solver->system, field->field, at,
                                                     piece.count, to);
        if (piece.owner == rank || (piece.owner >= 0 && rank == writer))
            ranks_pass(to, (size_t)piece.count * bytes, piece.owner, writer);
        at += piece.count;
    }
    return writer;
}

// Returns the bytes of the field in the file. All ranks look at all chunks in the same order.
static uint64_t write_pieces(struct checkpoint_part *it,
                             const struct checkpoint_field_chunks *field, uint64_t at)
{
    enum { CHUNKS_AT_ONCE = 512 };
    const unsigned width = field->width;
    const uint64_t all = field->total / width, most = field->most / width;
    const uint64_t begin = at, group = CHUNKS_AT_ONCE * most;
    for (uint64_t start = 0; start < all; start += group) {
        double bytes[CHUNKS_AT_ONCE] = {0}; // exact
        const uint64_t stop = min_u64(all, start + group);
        size_t chunk = 0;
        for (uint64_t first = start; first < stop; first += most, chunk++) {
            const uint64_t end = min_u64(all, first + most);
            if (gather_pieces(it, field, first, end) == ranks_number())
                bytes[chunk] = (double)archive_chunk_bytes(&it->writer, field->type, it->numbers,
                                                           width * (end - first));
        }
        ranks_add(bytes, chunk);
        chunk = 0;
        for (uint64_t first = start; first < stop; first += most, chunk++) {
            const uint64_t end = min_u64(all, first + most);
            it->at = at;
            if (gather_pieces(it, field, first, end) == ranks_number())
                archive_write(&it->writer, field->name, field->type, field->total, width * first,
                              it->numbers, width * (end - first));
            at += (uint64_t)bytes[chunk];
        }
    }
    return at - begin;
}

// ---- Any field

static bool has_divided_bodies(const struct checkpoint_part *it)
{
    const taut_solver *solver = it->solver;
    bool any = false;
    for (size_t b = 0; b < solver->topology->body_count && !any; b++)
        any = plan_body_is_divided(solver->topology, solver->plan, solver_parts(solver), b);
    return any;
}

// Returns the bytes of the field in the file.
static uint64_t write_field(struct checkpoint_part *it, const struct checkpoint_field_chunks *field,
                            uint64_t at)
{
    if (checkpoint_field_is_of_springs(field->field) ||
        checkpoint_field_is_of_contacts(field->field) || has_divided_bodies(it))
        return write_pieces(it, field, at);
    const struct range own = solver_part_nodes(it->solver);
    const struct chunks chunks = chunks_of(it, field, own);
    uint64_t bytes = 0, all = 0;
    complete_chunks(it, field, own, &chunks);
    for (uint64_t c = chunks.first; c < chunks.end; c++) {
        const uint64_t count = gather_chunk(it, field, own, &chunks, c);
        bytes += archive_chunk_bytes(&it->writer, field->type, it->numbers, count);
    }
    ranks_share(bytes, it->bytes);
    it->at = at;
    for (int r = 0; r < ranks_count(); r++) {
        it->at += r < ranks_number() ? it->bytes[r] : 0;
        all += it->bytes[r];
    }
    for (uint64_t c = chunks.first; c < chunks.end; c++) {
        const uint64_t count = gather_chunk(it, field, own, &chunks, c);
        archive_write(&it->writer, field->name, field->type, field->total,
                      c * chunks.nodes * field->width, it->numbers, count);
    }
    return all;
}

uint64_t checkpoint_part_write(struct checkpoint_part *part,
                               const struct checkpoint_field_chunks *field, uint64_t at)
{
    struct order order = {.field = *field, .at = at};
    ranks_broadcast(&order, sizeof order);
    return write_field(part, field, at);
}

void checkpoint_part_end(struct checkpoint_part *part)
{
    struct order order = {.ends = true};
    ranks_broadcast(&order, sizeof order);
    checkpoint_part_free(part);
}

taut_status solver_join_checkpoint(const taut_solver *solver, const struct checkpoint_sink *sink,
                                   taut_error *error)
{
    struct checkpoint_part *part;
    const taut_status status = checkpoint_part_make(solver, sink, &part, error);
    struct order order = {.ends = status != TAUT_OK};
    while (!order.ends) {
        ranks_broadcast(&order, sizeof order);
        if (!order.ends)
            (void)write_field(part, &order.field, order.at);
    }
    checkpoint_part_free(part);
    return status;
}
