// Removes springs and faces from the lists of bodies (cut.h).
#include "topology/cut.h"

#include <string.h>

#include "base/memory.h"

static uint64_t count_left(const uint8_t *cut, uint64_t count)
{
    uint64_t left = 0;
    for (uint64_t i = 0; i < count; i++)
        left += !cut[i];
    return left;
}

// ---- Springs

// The lists of a body after the cut.
struct spring_lists {
    uint64_t count;
    uint32_t (*springs)[2];
    uint32_t *materials;
    double *rest_lengths;
};

// Whether the springs of a kind have several materials.
static bool has_materials(const struct body *body)
{
    return body->spring_materials || (body->direction_count > 0 && body->directions[0].weighted);
}

static bool lists_make(const struct body *body, uint64_t count, struct spring_lists *lists)
{
    lists->count = count;
    lists->springs = memory_allocate(NULL, (size_t)count, sizeof *lists->springs);
    if (has_materials(body))
        lists->materials = memory_allocate(NULL, (size_t)count, sizeof *lists->materials);
    if (body->rest_lengths || body->directions)
        lists->rest_lengths = memory_allocate(NULL, (size_t)count, sizeof *lists->rest_lengths);
    return lists->springs && !lists->materials == !has_materials(body) &&
           !lists->rest_lengths == !(body->rest_lengths || body->directions);
}

static void lists_free(struct spring_lists *lists)
{
    memory_release(NULL, lists->springs, (size_t)lists->count, sizeof *lists->springs);
    memory_release(NULL, lists->materials, (size_t)lists->count, sizeof *lists->materials);
    memory_release(NULL, lists->rest_lengths, (size_t)lists->count, sizeof *lists->rest_lengths);
}

static uint32_t material_of(const struct body *body, uint64_t spring)
{
    if (body->spring_materials)
        return body->spring_materials[spring];
    const struct direction *direction =
        direction_of_spring(body->directions, body->direction_count, spring);
    uint64_t left = 1;
    return direction_material(direction, spring - direction->first_spring, &left);
}

// The rest length as topology.c determines it: all springs of a direction have that of its first
// spring.
static double rest_length_of(const struct body *body, size_t kind, uint64_t spring)
{
    if (body->rest_lengths)
        return body->rest_lengths[spring];
    const struct material *material = &body->materials[kind];
    if (material->has_rest_length)
        return material->rest_length;
    return body_spring_length(
        body, direction_of_spring(body->directions, body->direction_count, spring)->first_spring);
}

static void fill_lists(const struct body *body, const uint8_t *cut, struct spring_lists *lists,
                       uint64_t kind_start[SPRING_KINDS_MAX + 1])
{
    uint64_t at = 0;
    for (size_t kind = 0; kind < SPRING_KINDS_MAX; kind++) {
        kind_start[kind] = at;
        for (uint64_t s = body->kind_start[kind]; s < body->kind_start[kind + 1]; s++) {
            if (cut[s])
                continue;
            struct spring_ends ends = body_spring(body, s);
            lists->springs[at][0] = ends.a;
            lists->springs[at][1] = ends.b;
            if (lists->materials)
                lists->materials[at] = material_of(body, s);
            if (lists->rest_lengths)
                lists->rest_lengths[at] = rest_length_of(body, kind, s);
            at++;
        }
    }
    kind_start[SPRING_KINDS_MAX] = at;
}

static bool cut_springs(struct body *body, const uint8_t *cut)
{
    struct spring_lists lists = {.count = 0};
    uint64_t kind_start[SPRING_KINDS_MAX + 1];
    if (!lists_make(body, count_left(cut, body->spring_count), &lists)) {
        lists_free(&lists);
        return false;
    }
    fill_lists(body, cut, &lists, kind_start);
    lists_free(&(struct spring_lists){body->spring_count, body->springs, body->spring_materials,
                                      body->rest_lengths});
    memory_release(NULL, body->directions, body->direction_count, sizeof *body->directions);
    body->is_cut_grid |= body->direction_count > 0;
    body->directions = NULL;
    body->direction_count = 0;
    body->spring_count = lists.count;
    body->springs = lists.springs;
    body->spring_materials = lists.materials;
    body->rest_lengths = lists.rest_lengths;
    memcpy(body->kind_start, kind_start, sizeof kind_start);
    return true;
}

// ---- Faces

static bool cut_faces(struct body *body, const uint8_t *cut)
{
    const uint64_t left = count_left(cut, body->face_count), arity = (uint64_t)body->face_arity;
    uint32_t *faces = memory_allocate(NULL, (size_t)(left * arity), sizeof *faces);
    if (!faces)
        return false;
    uint64_t at = 0;
    for (uint64_t f = 0; f < body->face_count; f++) {
        struct body_face face = body_face(body, f);
        for (uint64_t corner = 0; !cut[f] && corner < arity; corner++)
            faces[at++] = face.nodes[corner];
    }
    memory_release(NULL, body->faces, (size_t)(body->face_count * arity), sizeof *body->faces);
    if (left < body->face_count) {
        body->closed = false;
        body->pressure.present = false;
    }
    body->faces = faces;
    body->face_count = left;
    body->is_sheet = false;
    return true;
}

// A body whose springs were described by directions remains a grid, with gaps: its nodes are not
// renumbered, so a sheet that loses springs alone still needs no list of faces.
bool bodies_cut(struct bodies *bodies, const uint8_t *springs, const uint8_t *faces)
{
    for (size_t b = 0; b < bodies->count; b++) {
        struct body *body = &bodies->items[b];
        const uint64_t spring_count = body->spring_count, face_count = body->face_count;
        const bool loses_springs = count_left(springs, spring_count) < spring_count;
        const bool loses_faces = count_left(faces, face_count) < face_count;
        if (loses_springs && !cut_springs(body, springs))
            return false;
        if ((loses_faces || (loses_springs && body->is_sheet && !body->is_cut_grid)) &&
            !cut_faces(body, faces))
            return false;
        if (loses_springs && !body->is_cut_grid)
            memset(body->grid, 0, sizeof body->grid);
        springs += spring_count;
        faces += face_count;
    }
    return true;
}
