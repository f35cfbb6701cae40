// Writes .obj files (obj.h).
#include "output/obj.h"

#include <inttypes.h>

#include "base/memory.h"
#include "output/file.h"

static void write_vertices(struct file *file, const struct frame_body *body,
                           const double *positions)
{
    for (uint64_t i = 0; i < body->node_count; i++) {
        file_print(file, "v");
        for (int axis = 0; axis < 3; axis++) {
            file_print(file, " ");
            file_number(file, positions[3 * i + (uint64_t)axis], 9);
        }
        file_print(file, "\n");
    }
}

static void write_line(struct file *file, const uint32_t spring[2])
{
    file_print(file, "l %" PRIu64 " %" PRIu64 "\n", (uint64_t)spring[0] + 1,
               (uint64_t)spring[1] + 1);
}

static void write_faces(struct file *file, const struct frame_body *body, bool *drawn)
{
    for (uint64_t i = 0; i < body->face_count; i++) {
        const uint32_t *face = &body->faces[3 * i];
        file_print(file, "f %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", (uint64_t)face[0] + 1,
                   (uint64_t)face[1] + 1, (uint64_t)face[2] + 1);
        for (int corner = 0; corner < 3; corner++)
            drawn[face[corner]] = true;
    }
}

// Writes all springs or, if there are faces, those with a node that nothing refers to yet.
static void write_springs(struct file *file, const struct frame_body *body, bool all, bool *drawn)
{
    for (uint64_t i = 0; i < body->spring_count; i++) {
        const uint32_t *spring = body->springs[i];
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
        write_vertices(&file, body, frame->positions + 3 * body->first_node);
        if (faces)
            write_faces(&file, body, drawn);
        write_springs(&file, body, !faces, drawn);
        for (uint64_t i = 0; i < body->node_count && (faces || body->spring_count > 0); i++)
            if (!drawn[i])
                file_print(&file, "p %" PRIu64 "\n", i + 1);
        status = file_commit(&file, error);
    }
    memory_release(NULL, drawn, body->node_count, sizeof *drawn);
    return status;
}
