// Pieces of frames (state/frame.h, struct frame_piece). Each rank that holds only its part lists
// the nodes, springs and faces of its piece once, and reads their state for each frame. Bodies are
// on grids then, with the builder's numbers of nodes and springs, or whole in one piece, or
// divided: then the piece lists their own nodes in the order of the plan, and springs in that of
// the builder, in which their strains are added.
#include "solver/private.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/sort.h"
#include "springs/plan_parts.h"

// The progress of listing one body; nodes are numbered over all bodies.
struct listing {
    const struct topology *topology;
    const struct topology_body *body;
    struct frame_piece *piece;
    bool with_lines;     // its springs are lines
    bool divided;        // on no grid, and other ranks have nodes of it, too
    uint64_t first, end; // own nodes
    uint64_t begin;      // the first node of a divided body, otherwise `end`
    uint8_t *reached;    // whether cells reach node begin + i
    size_t reached_count, reached_capacity;
    uint32_t *copies; // how many nodes before begin + i are reached
    size_t first_run; // of the piece's runs, which do not go beyond a body
};

static uint64_t end_of(const struct listing *it)
{
    return it->divided ? it->end : it->end + it->reached_count;
}

// Whether all of its nodes are in the piece. Such a body reaches no others.
static bool is_whole(const struct listing *it)
{
    return it->end - it->first == it->body->node_count;
}

static bool owns(const struct listing *it, uint64_t node)
{
    return node >= it->first && node < it->end;
}

static bool reach(struct listing *it, uint64_t node)
{
    if (owns(it, node))
        return true;
    const size_t number = (size_t)(node - it->begin);
    if (!array_reserve((void **)&it->reached, &it->reached_capacity, number + 1, 1))
        return false;
    while (it->reached_count <= number)
        it->reached[it->reached_count++] = 0;
    it->reached[number] = 1;
    return true;
}

// The springs [*from, *to) of a run that have a node of [first, end) as the end `at` of their first
// one.
static void springs_at(const struct spring_run *run, uint64_t at, uint64_t first, uint64_t end,
                       uint64_t *from, uint64_t *to)
{
    *from = first > at ? min_u64(first - at, run->count) : 0;
    *to = end > at ? min_u64(end - at, run->count) : 0;
}

static bool add_run(const struct listing *it, uint64_t first, uint64_t count)
{
    struct frame_piece *piece = it->piece;
    if (count == 0)
        return true;
    struct frame_run *last =
        piece->run_count > it->first_run ? &piece->runs[piece->run_count - 1] : NULL;
    if (last && last->first + last->count == first) {
        last->count += count;
        return true;
    }
    if (!array_reserve((void **)&piece->runs, &piece->run_capacity, piece->run_count + 1,
                       sizeof *piece->runs))
        return false;
    piece->runs[piece->run_count++] = (struct frame_run){first, count};
    return true;
}

// Makes marks for all nodes of a divided body, any of which may be reached.
static bool mark_begin(struct listing *it)
{
    it->reached = it->divided ? calloc((size_t)it->body->node_count, 1) : NULL;
    it->reached_count = it->reached_capacity = it->reached ? (size_t)it->body->node_count : 0;
    return it->reached || !it->divided;
}

// Marks the nodes of others that the cells of a body reach.
static bool reach_cells(struct listing *it)
{
    const struct topology_body *body = it->body;
    const uint64_t end = body->first_spring + body->spring_count;
    bool reached = true;
    for (uint64_t spring = body->first_spring; it->with_lines && spring < end && reached;) {
        const struct spring_run run = topology_run(it->topology, spring, end);
        const uint64_t lower = min_u64(run.a, run.b), upper = max_u64(run.a, run.b);
        uint64_t from, to;
        springs_at(&run, lower, it->first, it->end, &from, &to);
        for (uint64_t i = from; i < to && reached; i++)
            reached = reach(it, upper + i);
        spring += run.count;
    }
    for (uint64_t i = 0; body->face_arity == 3 && i < body->face_count && reached; i++) {
        const struct face face = topology_body_face(it->topology, body, i);
        for (int corner = 0; owns(it, face_lowest_node(&face)) && corner < 3 && reached; corner++)
            reached = reach(it, face.nodes[corner]);
    }
    return reached;
}

// The number of a node in the piece, within its body.
static uint32_t number_of(const struct listing *it, uint64_t node)
{
    if (is_whole(it)) // its nodes are in the builder's order
        return (uint32_t)(topology_builder_node(it->topology, node) - it->first);
    if (owns(it, node))
        return (uint32_t)(node - it->first);
    const uint64_t i = node - it->begin; // huge before
    if (i >= it->reached_count || !it->reached[i])
        return FRAME_OUTSIDE;
    return (uint32_t)(it->end - it->first) + it->copies[i];
}

// The builder's number of a spring within its body.
static uint64_t number_in_body(const struct listing *it, uint64_t spring)
{
    return topology_builder_spring(it->topology, spring) - it->body->first_spring;
}

// A spring of a divided body: its number, and the builder's, within the body.
struct numbered {
    uint32_t builder, inside;
};

static int compare_numbered(const void *left, const void *right)
{
    const struct numbered *a = left, *b = right;
    return a->builder < b->builder ? -1 : a->builder > b->builder;
}

static bool has_node(const struct listing *it, uint64_t node)
{
    return owns(it, node) || it->reached[node - it->begin];
}

// Lists the springs of a divided body that have nodes of the piece, in the builder's order.
static bool count_divided(struct listing *it, struct frame_body *counts, uint64_t *lines)
{
    const struct topology_body *body = it->body;
    const uint64_t first = body->first_spring, end = first + body->spring_count;
    struct numbered *springs = NULL;
    size_t count = 0, capacity = 0;
    bool listed = true;
    for (uint64_t spring = first; spring < end && listed;) {
        const struct spring_run run = topology_run(it->topology, spring, end);
        for (uint64_t i = 0; i < run.count && listed; i++) {
            const uint64_t a = run.a + i, b = run.b + i;
            if (!has_node(it, a) && !has_node(it, b))
                continue;
            *lines += it->with_lines && owns(it, min_u64(a, b));
            listed = array_reserve((void **)&springs, &capacity, count + 1, sizeof *springs);
            if (listed)
                springs[count++] = (struct numbered){(uint32_t)number_in_body(it, spring + i),
                                                     (uint32_t)(spring + i - first)};
        }
        spring += run.count;
    }
    if (listed && count > 0)
        qsort(springs, count, sizeof *springs, compare_numbered);
    for (size_t i = 0; i < count && listed; i++)
        listed = add_run(it, first + springs[i].inside, 1);
    free(springs);
    counts->spring_count = count;
    return listed;
}

// Lists the runs of springs that have nodes between the first and the last of the piece, and counts
// lines, faces and nodes. *springs: those of all runs.
static bool count_body(struct listing *it, struct frame_body *counts, uint64_t *lines)
{
    const struct topology_body *body = it->body;
    const uint64_t end = body->first_spring + body->spring_count, last = end_of(it);
    *lines = 0;
    it->first_run = it->piece->run_count;
    if (is_whole(it)) {
        counts->node_count = body->node_count;
        counts->spring_count = body->spring_count;
        counts->face_count = body->face_arity == 3 ? body->face_count : 0;
        *lines = it->with_lines ? body->spring_count : 0;
        return add_run(it, body->first_spring, body->spring_count);
    }
    const bool divided = it->divided && it->first < it->end;
    if (divided && !count_divided(it, counts, lines))
        return false;
    for (uint64_t spring = body->first_spring; it->first < it->end && !divided && spring < end;) {
        const struct spring_run run = topology_run(it->topology, spring, end);
        const uint64_t lower = min_u64(run.a, run.b), upper = max_u64(run.a, run.b);
        uint64_t from, to, from_upper, to_upper;
        springs_at(&run, lower, it->first, it->end, &from, &to);
        *lines += it->with_lines ? to - from : 0;
        springs_at(&run, lower, it->first, last, &from, &to);
        springs_at(&run, upper, it->first, last, &from_upper, &to_upper);
        // Those at the upper end come first.
        if (to_upper > from_upper && to > from && to_upper >= from) {
            from = from_upper;
        } else {
            if (!add_run(it, spring + from_upper, to_upper - from_upper))
                return false;
            counts->spring_count += to_upper - from_upper;
        }
        if (to > from && !add_run(it, spring + from, to - from))
            return false;
        counts->spring_count += to > from ? to - from : 0;
        spring += run.count;
    }
    for (uint64_t i = 0; body->face_arity == 3 && i < body->face_count; i++) {
        const struct face face = topology_body_face(it->topology, body, i);
        counts->face_count += owns(it, face_lowest_node(&face));
    }
    counts->node_count = it->end - it->first;
    for (size_t i = 0; i < it->reached_count; i++)
        counts->node_count += it->reached[i];
    return true;
}

// Fills the lists of the body, for which there is memory now. *run: the first of its runs, up to
// `end_run`, and then of those of the next body.
static void fill_body(const struct listing *it, struct frame *frame, size_t number, size_t *run,
                      size_t end_run)
{
    struct frame_piece *piece = it->piece;
    const struct frame_body *to = &frame->bodies[number];
    const struct topology_body *body = it->body;
    const bool whole = is_whole(it);
    const uint64_t first_spring = to->first_spring;
    uint64_t node = to->first_node, spring = first_spring;
    uint64_t line = piece->bodies[number].first_line, face = piece->bodies[number].first_face;
    for (uint64_t i = it->first; i < it->end; i++)
        piece->nodes[node++] = whole ? i : topology_builder_node(it->topology, i);
    for (size_t i = 0; i < it->reached_count; i++)
        if (it->reached[i])
            piece->nodes[node++] = topology_builder_node(it->topology, it->begin + i);

    for (; *run < end_run; ++*run) {
        const uint64_t end = piece->runs[*run].first + piece->runs[*run].count;
        for (uint64_t s = piece->runs[*run].first; s < end;) {
            const struct spring_run these = topology_run(it->topology, s, end);
            for (uint64_t i = 0; i < these.count; i++, spring++) {
                const uint64_t a = these.a + i, b = these.b + i;
                const uint64_t to_spring =
                    whole ? first_spring + number_in_body(it, s + i) : spring;
                frame->springs[to_spring][0] = number_of(it, a);
                frame->springs[to_spring][1] = number_of(it, b);
                if (it->with_lines && !whole && owns(it, min_u64(a, b)))
                    piece->lines[line++] =
                        (struct frame_line_number){spring, number_in_body(it, s + i)};
            }
            s += these.count;
        }
    }
    for (uint64_t i = 0; whole && it->with_lines && i < body->spring_count; i++)
        piece->lines[line++] = (struct frame_line_number){first_spring + i, i};

    for (uint64_t i = 0; body->face_arity == 3 && i < body->face_count; i++) {
        const struct face at = topology_body_face(it->topology, body, i);
        if (!owns(it, min_u64(at.nodes[0], min_u64(at.nodes[1], at.nodes[2]))))
            continue;
        for (int corner = 0; corner < 3; corner++)
            frame->faces[3 * face + (uint64_t)corner] = number_of(it, at.nodes[corner]);
        piece->faces[face++] = i;
    }
}

// Counts what the piece has of all bodies: their nodes, springs and faces in `bodies`, and its
// shape.
static bool count_all(struct listing *listings, struct frame_body *bodies,
                      struct frame_piece *piece, struct frame_shape *shape)
{
    for (size_t b = 0; b < piece->body_count; b++) {
        struct listing *it = &listings[b];
        uint64_t lines;
        bodies[b].first_node = shape->node_count;
        bodies[b].first_spring = shape->spring_count;
        piece->bodies[b] =
            (struct frame_piece_body){piece->line_count, piece->face_count, it->end - it->first};
        if ((it->first < it->end && !is_whole(it) && !(mark_begin(it) && reach_cells(it))) ||
            !count_body(it, &bodies[b], &lines))
            return false;
        it->copies = calloc(it->reached_count + 1, sizeof *it->copies);
        if (!it->copies)
            return false;
        for (size_t i = 0; i < it->reached_count; i++)
            it->copies[i + 1] = it->copies[i] + it->reached[i];
        shape->node_count += bodies[b].node_count;
        shape->spring_count += bodies[b].spring_count;
        shape->face_count += bodies[b].face_count;
        piece->line_count += lines;
        piece->face_count += bodies[b].face_count;
        piece->end = max_u64(piece->end, it->first < it->end ? end_of(it) : 0);
    }
    piece->bodies[piece->body_count] =
        (struct frame_piece_body){piece->line_count, piece->face_count, 0};
    piece->node_count = shape->node_count;
    return true;
}

static taut_status allocate(struct frame_piece *piece, struct frame_shape *shape, unsigned fields,
                            struct frame *frame, taut_error *error)
{
    taut_status status = frame_make(shape, fields | FRAME_BODIES | FRAME_LISTS, frame, error);
    frame->piece = piece; // which the frame frees from now on
    if (status != TAUT_OK) {
        frame_free(frame);
        return status;
    }
    piece->nodes = memory_allocate(NULL, (size_t)piece->node_count, sizeof *piece->nodes);
    piece->lines = memory_allocate(NULL, (size_t)piece->line_count, sizeof *piece->lines);
    piece->faces = memory_allocate(NULL, (size_t)piece->face_count, sizeof *piece->faces);
    if (piece->nodes && piece->lines && piece->faces)
        return TAUT_OK;
    frame_free(frame);
    return fail_memory(error, "the piece of a frame");
}

static void begin_listings(const taut_solver *solver, const bool *with_lines,
                           struct frame_piece *piece, struct listing *listings)
{
    for (size_t b = 0; b < piece->body_count; b++) {
        const struct topology_body *body = &solver->topology->bodies[b];
        const uint64_t end = body->first_node + body->node_count;
        struct listing *it = &listings[b];
        *it = (struct listing){.topology = solver->topology,
                               .body = body,
                               .piece = piece,
                               .with_lines = with_lines[b],
                               .first = max_u64(body->first_node, piece->first_own),
                               .end = min_u64(end, piece->end_own)};
        it->end = max_u64(it->first, it->end);
        it->divided = plan_body_is_divided(solver->topology, solver->plan, solver_parts(solver), b);
        it->begin = it->divided ? body->first_node : it->end;
    }
}

// A frame with strains also has which springs are broken, if any can be.
static unsigned with_broken(const taut_solver *solver, unsigned fields)
{
    const bool breaks = fields & FRAME_STRAINS && solver->topology->any_breaks;
    return breaks ? fields | FRAME_BROKEN : fields & ~(unsigned)FRAME_BROKEN;
}

taut_status solver_make_piece(const taut_solver *solver, const struct frame_body *whole,
                              const bool *with_lines, unsigned fields, struct frame *frame,
                              taut_error *error)
{
    const size_t count = solver->topology->body_count;
    struct frame_piece *piece = calloc(1, sizeof *piece);
    struct frame_body *bodies = calloc(count + 1, sizeof *bodies);
    struct listing *listings = calloc(count + 1, sizeof *listings);
    struct frame_shape shape = {.body_count = count};
    taut_status status = TAUT_OK;
    bool counted = false;
    *frame = (struct frame){0};
    if (piece && bodies && listings) {
        const struct range own = solver_part_nodes(solver);
        piece->whole = whole;
        piece->body_count = count;
        piece->first_own = own.first;
        piece->end_own = piece->end = own.end;
        piece->bodies = calloc(count + 1, sizeof *piece->bodies);
        begin_listings(solver, with_lines, piece, listings);
        counted = piece->bodies && count_all(listings, bodies, piece, &shape);
    }
    status = counted ? allocate(piece, &shape, with_broken(solver, fields), frame, error)
                     : fail_memory(error, "the piece of a frame");
    size_t run = 0;
    for (size_t b = 0; status == TAUT_OK && b < count; b++) {
        bodies[b].name = whole[b].name;
        bodies[b].sheet[0] = whole[b].sheet[0];
        bodies[b].sheet[1] = whole[b].sheet[1];
        bodies[b].face_arity = whole[b].face_arity;
        bodies[b].springs = (const uint32_t(*)[2])frame->springs + bodies[b].first_spring;
        bodies[b].faces = frame->faces + 3 * piece->bodies[b].first_face;
        frame->bodies[b] = bodies[b];
        fill_body(&listings[b], frame, b, &run,
                  b + 1 < count ? listings[b + 1].first_run : piece->run_count);
    }
    for (size_t b = 0; listings && b < count; b++) {
        free(listings[b].reached);
        free(listings[b].copies);
    }
    if (!counted && piece) {
        free(piece->runs);
        free(piece->bodies);
        free(piece);
    }
    free(listings);
    free(bodies);
    return status;
}

// Strains by the builder's numbers, and which are broken, unless that is NULL. A run of springs
// that are sorted otherwise has all of their body, or one where the body is divided.
static void read_run(const taut_solver *solver, struct frame_run run, double *strains,
                     uint8_t *broken)
{
    const struct topology *topology = solver->topology;
    const struct topology_body *body =
        &topology->bodies[topology_body_of_spring(topology, run.first)];
    const bool sorted =
        topology->sorted_count > 0 && body->direction_count == 0 && run.count == body->spring_count;
    const uint64_t end = run.first + run.count, some = sorted ? 1 : run.count;
    for (uint64_t spring = run.first; spring < end; spring += some) {
        const uint64_t to = sorted ? topology_builder_spring(topology, spring) - run.first : 0;
        solver->functions->read_strains(solver->system, spring, some, strains + to,
                                        broken ? broken + to : NULL);
    }
}

void solver_read_piece(const taut_solver *solver, unsigned fields, struct frame *frame)
{
    const struct frame_piece *piece = frame->piece;
    const struct system_functions *call = solver->functions;
    solver_exchange_around(solver, (struct range){(size_t)piece->first_own, (size_t)piece->end},
                           piece->nodes, piece->node_count);
    for (uint64_t node = 0; node < piece->node_count;) {
        uint64_t end = node + 1;
        while (end < piece->node_count && piece->nodes[end] == piece->nodes[end - 1] + 1)
            end++;
        call->read_nodes(solver->system, piece->nodes[node], end - node,
                         fields & FRAME_POSITIONS ? frame->positions + 3 * node : NULL,
                         fields & FRAME_VELOCITIES ? frame->velocities + 3 * node : NULL,
                         fields & FRAME_FORCES ? frame->forces + 3 * node : NULL);
        node = end;
    }
    fields = with_broken(solver, fields);
    for (uint64_t r = 0, at = 0; fields & FRAME_STRAINS && r < piece->run_count; r++) {
        read_run(solver, piece->runs[r], frame->strains + at,
                 fields & FRAME_BROKEN ? frame->broken + at : NULL);
        at += piece->runs[r].count;
    }
    frame->step = taut_solver_step_count(solver);
    frame->time = taut_solver_time(solver);
    frame->single = solver->precision == PRECISION_SINGLE;
    frame->fields = frame->allocated & (fields | FRAME_BODIES | FRAME_LISTS);
}
