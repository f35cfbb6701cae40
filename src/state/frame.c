// Creates, copies and frees frames.
#include "state/frame.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "scene/scene.h"

taut_status frame_make(const struct frame_shape *shape, unsigned fields, struct frame *frame,
                       taut_error *error)
{
    *frame = (struct frame){.shape = *shape, .allocated = fields};
#define ALLOCATE(type, name, length, condition)                                                    \
    if (fields & (condition)) {                                                                    \
        frame->name = memory_allocate(NULL, (size_t)(length), sizeof(type));                       \
        if (!frame->name) {                                                                        \
            frame_free(frame);                                                                     \
            return fail_memory(error, "a frame");                                                  \
        }                                                                                          \
    }
    FRAME_ARRAYS(ALLOCATE)
#undef ALLOCATE
    return TAUT_OK;
}

static void free_piece(struct frame_piece *piece)
{
    if (!piece)
        return;
    memory_release(NULL, piece->nodes, (size_t)piece->node_count, sizeof *piece->nodes);
    memory_release(NULL, piece->lines, (size_t)piece->line_count, sizeof *piece->lines);
    memory_release(NULL, piece->faces, (size_t)piece->face_count, sizeof *piece->faces);
    free(piece->runs);
    free(piece->bodies);
    free(piece);
}

void frame_free(struct frame *frame)
{
    free_piece(frame->piece);
    const struct frame_shape *shape = &frame->shape;
#define RELEASE(type, name, length, condition)                                                     \
    memory_release(NULL, frame->name, (size_t)(length), sizeof(type));
    FRAME_ARRAYS(RELEASE)
#undef RELEASE
    *frame = (struct frame){0};
}

uint64_t frame_bytes(const struct frame_shape *shape, unsigned fields)
{
    uint64_t bytes = 0;
#define ADD(type, name, length, condition)                                                         \
    bytes += fields & (condition) ? sizeof(type) * (uint64_t)(length) : 0;
    FRAME_ARRAYS(ADD)
#undef ADD
    return bytes;
}

void frame_read_nodes(const struct frame *frame, uint64_t first, uint64_t count, double *positions,
                      double *velocities)
{
    if (frame->reader) {
        frame->reader(frame->reader_context, first, count, positions, velocities);
        return;
    }
    const size_t bytes = 3 * (size_t)count * sizeof *positions;
    if (positions)
        memcpy(positions, frame->positions + 3 * first, bytes);
    if (velocities)
        memcpy(velocities, frame->velocities + 3 * first, bytes);
}

void frame_read_list(const struct frame *frame, size_t body, bool triangles, uint64_t first,
                     uint64_t count, uint32_t *nodes)
{
    const struct frame_body *it = &frame->bodies[body];
    const uint32_t *list = triangles ? it->faces : (const uint32_t *)it->springs;
    const uint64_t corners = triangles ? 3 : 2;
    if (frame->list_reader)
        frame->list_reader(frame->reader_context, body, triangles, first, count, nodes);
    else
        memcpy(nodes, list + corners * first, (size_t)(corners * count) * sizeof *nodes);
}

void frame_copy(const struct frame *from, struct frame *to)
{
    const struct frame_shape *shape = &to->shape;
    struct frame copy = *from;
    const unsigned constant = FRAME_BODIES | FRAME_LISTS;
    copy.shape = to->shape;
    copy.allocated = to->allocated;
    copy.reader = to->reader;
    copy.list_reader = to->list_reader;
    copy.reader_context = to->reader_context;
    copy.piece = to->piece;
    copy.fields = (from->fields & to->allocated & ~constant) | (to->fields & constant);
#define COPY(type, name, length, condition)                                                        \
    copy.name = to->name;                                                                          \
    if (copy.fields & ~constant & (condition) && (length) > 0)                                     \
        memcpy(to->name, from->name, (size_t)(length) * sizeof(type));
    FRAME_ARRAYS(COPY)
#undef COPY
    *to = copy;
}

void frame_select_drawn_springs(struct frame *frame)
{
    const struct frame_shape *shape = &frame->shape;
    const unsigned all = frame->fields;
    for (uint64_t i = 0; i < shape->drawn_count && all & FRAME_SPRINGS; i++) {
        uint64_t number = shape->drawn_numbers ? shape->drawn_numbers[i] : i;
        if (frame->drawn_strains && all & FRAME_STRAINS)
            frame->drawn_strains[i] = (float)frame->strains[number];
        if (frame->drawn_broken && all & FRAME_BROKEN)
            frame->drawn_broken[i] = frame->broken[number];
    }
    frame->fields &= ~(unsigned)FRAME_DRAWN_SPRINGS;
    frame->fields |= all & FRAME_STRAINS ? frame->allocated & FRAME_DRAWN_STRAINS : 0;
    frame->fields |= all & FRAME_BROKEN ? frame->allocated & FRAME_DRAWN_BROKEN : 0;
}

void frame_set_wind(struct frame *frame, const struct scene_wind *wind)
{
    vec3 now = scene_wind_at(wind, frame->time);
    frame->wind[0] = (float)now.x;
    frame->wind[1] = (float)now.y;
    frame->wind[2] = (float)now.z;
}
