// A whole frame cut into pieces (pieces_fixture.h).
#include "pieces_fixture.h"

#include <stdlib.h>
#include <string.h>

// The part that is cut out of one body; nodes are numbered within the body of the whole.
struct part {
    const struct frame_body *body;
    uint64_t first, end; // own nodes
    bool reached[CUT_NODES];
    uint32_t numbers[CUT_NODES]; // in the piece
};

static void check_space(uint64_t used, uint64_t space)
{
    if (used >= space)
        abort();
}

static bool owns(const struct part *part, const uint32_t *nodes, int count)
{
    uint32_t lowest = nodes[0];
    for (int i = 1; i < count; i++)
        lowest = nodes[i] < lowest ? nodes[i] : lowest;
    return lowest >= part->first && lowest < part->end;
}

static void reach(struct part *part, const uint32_t *nodes, int count)
{
    for (int i = 0; owns(part, nodes, count) && i < count; i++)
        part->reached[nodes[i]] = true;
}

// Own nodes come first, then copies.
static void cut_nodes(const struct frame *whole, struct part *part, struct cut *cut,
                      struct frame_body *to)
{
    struct frame_piece *piece = &cut->piece;
    for (int copies = 0; copies < 2; copies++)
        for (uint64_t i = 0; i < part->body->node_count; i++) {
            const bool is_own = i >= part->first && i < part->end;
            if (is_own == (copies == 1) || !(is_own || part->reached[i]))
                continue;
            const uint64_t node = part->body->first_node + i, at = piece->node_count++;
            check_space(at, CUT_NODES);
            cut->nodes[at] = node;
            part->numbers[i] = (uint32_t)to->node_count++;
            memcpy(cut->positions[at], whole->positions + 3 * node, sizeof cut->positions[0]);
            memcpy(cut->velocities[at], whole->velocities + 3 * node, sizeof cut->velocities[0]);
            memcpy(cut->forces[at], whole->forces + 3 * node, sizeof cut->forces[0]);
        }
}

// All springs at nodes of the piece; those with their lowest node in the part are its lines.
static void cut_springs(const struct frame *whole, const struct part *part, bool with_lines,
                        struct cut *cut, struct frame_body *to)
{
    const struct frame_body *body = part->body;
    for (uint64_t i = 0; i < body->spring_count; i++) {
        const uint32_t a = part->numbers[body->springs[i][0]];
        const uint32_t b = part->numbers[body->springs[i][1]];
        const uint64_t at = cut->frame.shape.spring_count;
        if (a == FRAME_OUTSIDE && b == FRAME_OUTSIDE)
            continue;
        check_space(at, CUT_SPRINGS);
        cut->springs[at][0] = a;
        cut->springs[at][1] = b;
        cut->strains[at] = whole->strains[body->first_spring + i];
        cut->broken[at] = whole->broken[body->first_spring + i];
        if (with_lines && owns(part, body->springs[i], 2))
            cut->lines[cut->piece.line_count++] = (struct frame_line_number){at, i};
        cut->frame.shape.spring_count++;
        to->spring_count++;
    }
}

static void cut_faces(const struct part *part, struct cut *cut, struct frame_body *to)
{
    const struct frame_body *body = part->body;
    for (uint64_t i = 0; body->face_arity == 3 && i < body->face_count; i++) {
        const uint32_t *nodes = body->faces + 3 * i;
        const uint64_t at = cut->piece.face_count;
        if (!owns(part, nodes, 3))
            continue;
        check_space(at, CUT_FACES);
        for (int corner = 0; corner < 3; corner++)
            cut->faces[at][corner] = part->numbers[nodes[corner]];
        cut->face_numbers[at] = i;
        cut->piece.face_count++;
        to->face_count++;
    }
}

static void cut_body(const struct frame *whole, size_t number, bool with_lines, struct cut *cut)
{
    const struct frame_body *body = &whole->bodies[number];
    struct part part = {.body = body};
    struct frame_piece *piece = &cut->piece;
    for (uint64_t i = 0; i < body->node_count; i++) {
        const uint64_t node = body->first_node + i;
        part.numbers[i] = FRAME_OUTSIDE;
        part.end = node < piece->end_own ? i + 1 : part.end;
        part.first += node < piece->first_own;
    }
    part.end = part.end > part.first ? part.end : part.first;
    for (uint64_t i = 0; with_lines && i < body->spring_count; i++)
        reach(&part, body->springs[i], 2);
    for (uint64_t i = 0; body->face_arity == 3 && i < body->face_count; i++)
        reach(&part, body->faces + 3 * i, 3);

    struct frame_body *to = &cut->bodies[number];
    *to = *body;
    to->first_node = piece->node_count;
    to->first_spring = cut->frame.shape.spring_count;
    to->node_count = to->spring_count = to->face_count = 0;
    to->springs = (const uint32_t(*)[2])cut->springs + to->first_spring;
    to->faces = cut->faces[piece->face_count];
    cut->piece_bodies[number] = (struct frame_piece_body){.first_line = piece->line_count,
                                                          .first_face = piece->face_count,
                                                          .own_nodes = part.end - part.first};
    cut_nodes(whole, &part, cut, to);
    cut_springs(whole, &part, with_lines, cut, to);
    cut_faces(&part, cut, to);
}

void cut_piece(const struct frame *whole, const bool *with_lines, uint64_t first, uint64_t end,
               struct cut *cut)
{
    const size_t bodies = whole->shape.body_count;
    *cut = (struct cut){.frame = {.time = whole->time,
                                  .step = whole->step,
                                  .single = whole->single,
                                  .fields = whole->fields}};
    cut->piece = (struct frame_piece){.whole = whole->bodies,
                                      .body_count = bodies,
                                      .nodes = cut->nodes,
                                      .bodies = cut->piece_bodies,
                                      .lines = cut->lines,
                                      .faces = cut->face_numbers,
                                      .first_own = first,
                                      .end_own = end};
    check_space(bodies, CUT_BODIES + 1);
    for (size_t b = 0; b < bodies; b++)
        cut_body(whole, b, with_lines[b], cut);
    cut->piece_bodies[bodies] = (struct frame_piece_body){.first_line = cut->piece.line_count,
                                                          .first_face = cut->piece.face_count};
    cut->frame.shape.node_count = cut->piece.node_count;
    cut->frame.shape.face_count = cut->piece.face_count;
    cut->frame.shape.body_count = bodies;
    cut->frame.piece = &cut->piece;
    cut->frame.bodies = cut->bodies;
    cut->frame.positions = cut->positions[0];
    cut->frame.velocities = cut->velocities[0];
    cut->frame.forces = cut->forces[0];
    cut->frame.strains = cut->strains;
    cut->frame.broken = cut->broken;
    cut->frame.springs = cut->springs;
    cut->frame.faces = cut->faces[0];
}
