// Writes .obj files (obj.h).
#include "output/obj.h"

#include <inttypes.h>

#include "base/memory.h"
#include "output/file.h"

enum { AT_ONCE = 4096 }; // nodes, springs or faces that are read at once

static uint64_t batch_of(uint64_t left)
{
    return left < AT_ONCE ? left : AT_ONCE;
}

static void write_vertices(struct file *file, const struct frame *frame,
                           const struct frame_body *body)
{
    double positions[3 * AT_ONCE];
    for (uint64_t i = 0; i < body->node_count; i++) {
        if (i % AT_ONCE == 0)
            frame_read_nodes(frame, body->first_node + i, batch_of(body->node_count - i), positions,
                             NULL);
        file_print(file, "v");
        for (uint64_t axis = 0; axis < 3; axis++) {
            file_print(file, " ");
            file_number(file, positions[3 * (i % AT_ONCE) + axis], 9);
        }
        file_print(file, "\n");
    }
}

static void write_line(struct file *file, const uint32_t spring[2])
{
    file_print(file, "l %" PRIu64 " %" PRIu64 "\n", (uint64_t)spring[0] + 1,
               (uint64_t)spring[1] + 1);
}

static void write_faces(struct file *file, const struct frame *frame, size_t number, bool *drawn)
{
    const uint64_t count = frame->bodies[number].face_count;
    uint32_t faces[AT_ONCE][3];
    for (uint64_t i = 0; i < count; i++) {
        if (i % AT_ONCE == 0)
            frame_read_list(frame, number, true, i, batch_of(count - i), faces[0]);
        const uint32_t *face = faces[i % AT_ONCE];
        file_print(file, "f %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", (uint64_t)face[0] + 1,
                   (uint64_t)face[1] + 1, (uint64_t)face[2] + 1);
        for (int corner = 0; corner < 3; corner++)
            drawn[face[corner]] = true;
    }
}

// Writes all springs or, if there are faces, those with a node that nothing refers to yet.
static void write_springs(struct file *file, const struct frame *frame, size_t number, bool all,
                          bool *drawn)
{
    const uint64_t count = frame->bodies[number].spring_count;
    uint32_t springs[AT_ONCE][2];
    for (uint64_t i = 0; i < count; i++) {
        if (i % AT_ONCE == 0)
            frame_read_list(frame, number, false, i, batch_of(count - i), springs[0]);
        const uint32_t *spring = springs[i % AT_ONCE];
        if (!all && drawn[spring[0]] && drawn[spring[1]])
            continue;
        write_line(file, spring);
        drawn[spring[0]] = true;
        drawn[spring[1]] = true;
    }
}

taut_status obj_write(const char *path, const struct frame *frame, size_t number, taut_error *error)
{
    const struct frame_body *body = &frame->bodies[number];
    bool *drawn = memory_allocate(NULL, body->node_count, sizeof *drawn);
    if (!drawn)
        return fail_memory(error, "a rest mesh");
    struct file file;
    taut_status status = file_create_new(&file, path, error);
    if (status == TAUT_OK) {
        bool faces = body->face_arity == 3 && body->face_count > 0;
        file_print(&file, OBJ_HEADER "%s\no %s\n", body->name, body->name);
        write_vertices(&file, frame, body);
        if (faces)
            write_faces(&file, frame, number, drawn);
        write_springs(&file, frame, number, !faces, drawn);
        for (uint64_t i = 0; i < body->node_count && (faces || body->spring_count > 0); i++)
            if (!drawn[i])
                file_print(&file, "p %" PRIu64 "\n", i + 1);
        status = file_commit(&file, error);
    }
    memory_release(NULL, drawn, body->node_count, sizeof *drawn);
    return status;
}
