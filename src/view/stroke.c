#include "view/stroke.h"

#include <stdlib.h>

#include "base/memory.h"

static bool add_place(struct stroke *stroke, double x, double y)
{
    if (!array_reserve((void **)&stroke->path, &stroke->path_capacity, stroke->path_count + 1,
                       2 * sizeof *stroke->path))
        return false;
    stroke->path[2 * stroke->path_count] = x;
    stroke->path[2 * stroke->path_count + 1] = y;
    stroke->path_count++;
    return true;
}

taut_status stroke_begin(struct stroke *stroke, const struct subject *subject, double x, double y,
                         taut_error *error)
{
    *stroke = (struct stroke){
        .spring_count = subject->spring_count,
        .face_count = subject->face_count,
        .node_count = subject->node_count,
        .springs = calloc(subject->spring_count + 1, 1),
        .faces = calloc(subject->face_count + 1, 1),
        .seen = calloc(subject->node_count + 1, 2 * sizeof *stroke->seen),
    };
    if (stroke->springs && stroke->faces && stroke->seen && add_place(stroke, x, y))
        return TAUT_OK;
    stroke_end(stroke);
    return fail_memory(error, "a cut");
}

// On which side of the line through a and b a place is: above 0 on one, below 0 on the other.
static double side(const double a[2], const double b[2], const double place[2])
{
    return (b[0] - a[0]) * (place[1] - a[1]) - (b[1] - a[1]) * (place[0] - a[0]);
}

static bool cross(const double a[2], const double b[2], const double c[2], const double d[2])
{
    return side(a, b, c) * side(a, b, d) < 0 && side(c, d, a) * side(c, d, b) < 0;
}

static bool inside(const double place[2], const double corners[3][2])
{
    double first = side(corners[0], corners[1], place);
    double second = side(corners[1], corners[2], place);
    double third = side(corners[2], corners[0], place);
    return (first > 0 && second > 0 && third > 0) || (first < 0 && second < 0 && third < 0);
}

static void project_nodes(struct stroke *stroke, const struct subject_moment *moment,
                          const struct camera *camera)
{
    for (uint64_t i = 0; i < stroke->node_count; i++) {
        const float *p = moment->positions + 3 * i;
        double x, y, depth;
        bool before = camera_project(camera, vec3_make(p[0], p[1], p[2]), &x, &y, &depth);
        stroke->seen[2 * i] = before ? (float)x : NAN;
        stroke->seen[2 * i + 1] = before ? (float)y : NAN;
    }
}

// NAN compares false with everything, so what is behind the eye is never crossed.
static void place_of(const struct stroke *stroke, uint32_t node, double place[2])
{
    place[0] = stroke->seen[2 * (size_t)node];
    place[1] = stroke->seen[2 * (size_t)node + 1];
}

static void mark_springs(struct stroke *stroke, const struct subject *subject, const double from[2],
                         const double to[2])
{
    for (uint64_t i = 0; i < stroke->spring_count; i++) {
        double a[2], b[2];
        place_of(stroke, subject->springs[i][0], a);
        place_of(stroke, subject->springs[i][1], b);
        if (cross(from, to, a, b))
            stroke->springs[i] = 1;
    }
}

static void mark_faces(struct stroke *stroke, const struct subject *subject, const double from[2],
                       const double to[2])
{
    for (uint64_t i = 0; i < stroke->face_count; i++) {
        double corners[3][2];
        for (int corner = 0; corner < 3; corner++)
            place_of(stroke, subject->faces[i][corner], corners[corner]);
        if (cross(from, to, corners[0], corners[1]) || cross(from, to, corners[1], corners[2]) ||
            cross(from, to, corners[2], corners[0]) || inside(to, corners))
            stroke->faces[i] = 1;
    }
}

bool stroke_to(struct stroke *stroke, const struct subject *subject,
               const struct subject_moment *moment, const struct camera *camera, double x, double y)
{
    // The subject may have been made anew meanwhile; a stroke belongs to the one it began with.
    if (subject->spring_count != stroke->spring_count ||
        subject->face_count != stroke->face_count || subject->node_count != stroke->node_count)
        return false;
    const double *last = stroke->path + 2 * (stroke->path_count - 1);
    double from[2] = {last[0], last[1]}, to[2] = {x, y};
    if (from[0] == x && from[1] == y)
        return true;
    if (!add_place(stroke, x, y))
        return false;
    project_nodes(stroke, moment, camera);
    mark_springs(stroke, subject, from, to);
    mark_faces(stroke, subject, from, to);
    return true;
}

uint32_t *stroke_marked(const uint8_t *marks, uint64_t mark_count, size_t *count)
{
    *count = 0;
    for (uint64_t i = 0; i < mark_count; i++)
        *count += marks[i];
    uint32_t *numbers = *count > 0 ? malloc(*count * sizeof *numbers) : NULL;
    *count = numbers ? *count : 0;
    for (uint64_t i = 0, next = 0; i < mark_count && next < *count; i++)
        if (marks[i])
            numbers[next++] = (uint32_t)i;
    return numbers;
}

void stroke_end(struct stroke *stroke)
{
    free(stroke->springs);
    free(stroke->faces);
    free(stroke->seen);
    free(stroke->path);
    *stroke = (struct stroke){0};
}
