#include "picture/normals.h"

#include <string.h>

static void cross_of(const float a[3], const float b[3], float product[3])
{
    product[0] = a[1] * b[2] - a[2] * b[1];
    product[1] = a[2] * b[0] - a[0] * b[2];
    product[2] = a[0] * b[1] - a[1] * b[0];
}

static void from_to(const float *positions, uint64_t from, uint64_t to, float difference[3])
{
    for (int axis = 0; axis < 3; axis++)
        difference[axis] = positions[3 * to + axis] - positions[3 * from + axis];
}

void normals_of_faces(const struct subject *subject, const struct subject_body *body,
                      const float *positions, float *normals)
{
    memset(normals + 3 * body->first_node, 0, 3 * (size_t)body->node_count * sizeof *normals);
    for (uint64_t i = 0; i < body->face_count; i++) {
        const uint32_t *face = subject->faces[body->first_face + i];
        float ab[3], ac[3], normal[3];
        from_to(positions, face[0], face[1], ab);
        from_to(positions, face[0], face[2], ac);
        cross_of(ab, ac, normal);
        for (int corner = 0; corner < 3; corner++)
            for (int axis = 0; axis < 3; axis++)
                normals[3 * (size_t)face[corner] + (size_t)axis] += normal[axis];
    }
}

// The neighbours at a stride along one direction, where they are.
static void neighbours(uint64_t at, uint64_t count, uint64_t stride, uint64_t *before,
                       uint64_t *after)
{
    *before = at >= stride ? at - stride : 0;
    *after = at + stride < count ? at + stride : count - 1;
}

void normals_of_grid(const struct subject_body *body, uint64_t stride, const float *positions,
                     float *normals)
{
    uint64_t across = body->grid[0], rows = body->grid[1];
    const float *at = positions + 3 * body->first_node;
    for (uint64_t j = 0;;) {
        uint64_t below, above;
        neighbours(j, rows, stride, &below, &above);
        for (uint64_t i = 0;;) {
            uint64_t left, right;
            neighbours(i, across, stride, &left, &right);
            float along_u[3], along_v[3];
            from_to(at, j * across + left, j * across + right, along_u);
            from_to(at, below * across + i, above * across + i, along_v);
            cross_of(along_u, along_v, normals + 3 * (body->first_node + j * across + i));
            if (i == across - 1)
                break;
            i = i + stride < across ? i + stride : across - 1;
        }
        if (j == rows - 1)
            break;
        j = j + stride < rows ? j + stride : rows - 1;
    }
}
