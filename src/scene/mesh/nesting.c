// Finds which shells of a mesh lie within which (nesting.h): a point is inside a closed surface if
// the half line upwards from it passes the surface an odd number of times.
//
// Whether a triangle is above or below a point is decided from its edges: the edges that the line
// y = const to the left of the point meets, in the projection along z. Each edge is decided alone,
// from its two ends in the order of their numbers, so that both triangles of an edge agree about it
// whatever the rounding, and no line slips through between them or is counted twice.
#include "scene/mesh/nesting.h"

#include "base/memory.h"
#include "base/sort.h"
#include "base/vec3.h"

#include <float.h>
#include <stdlib.h>

struct box {
    double low[3], high[3];
};

enum { INSIDE = 1, TOUCHES = 2 }; // of a vertex; INSIDE changes with each surface above it

struct nesting {
    const struct mesh *mesh;
    const uint32_t *triangles;
    struct mesh_shell *shells;
    uint64_t count;
    struct box *boxes;      // of the shells
    uint64_t *order;        // shells by the low end of their boxes along `axis`
    int axis;               // along which boxes overlap the least
    uint64_t *shell_of;     // per vertex; `count` if of none
    uint8_t *state;         // per vertex
    uint8_t *is_within_box; // per shell: its box is in that of the shell looked at
    // Vertices by columns along z.
    double low[2], per_length[2];
    uint64_t columns[2];
    uint64_t *starts; // per column, and one more
    uint32_t *points;
};

static const double *at(const struct nesting *it, uint32_t vertex)
{
    return it->mesh->vertices + 3 * (size_t)vertex;
}

static const uint32_t *corners_of(const struct nesting *it, uint64_t entry)
{
    return it->mesh->triangles + 3 * it->triangles[entry];
}

// ---- Boxes

static void find_boxes(struct nesting *it)
{
    for (uint64_t v = 0; v < it->mesh->vertex_count; v++)
        it->shell_of[v] = it->count;
    for (uint64_t s = 0; s < it->count; s++) {
        struct box *box = &it->boxes[s];
        *box = (struct box){{DBL_MAX, DBL_MAX, DBL_MAX}, {-DBL_MAX, -DBL_MAX, -DBL_MAX}};
        for (uint64_t i = it->shells[s].first; i < it->shells[s].end; i++)
            for (int corner = 0; corner < 3; corner++) {
                const uint32_t vertex = corners_of(it, i)[corner];
                it->shell_of[vertex] = s;
                for (int axis = 0; axis < 3; axis++) {
                    box->low[axis] = fmin(box->low[axis], at(it, vertex)[axis]);
                    box->high[axis] = fmax(box->high[axis], at(it, vertex)[axis]);
                }
            }
    }
}

static struct box whole_box(const struct nesting *it)
{
    struct box whole = it->boxes[0];
    for (uint64_t s = 1; s < it->count; s++)
        for (int axis = 0; axis < 3; axis++) {
            whole.low[axis] = fmin(whole.low[axis], it->boxes[s].low[axis]);
            whole.high[axis] = fmax(whole.high[axis], it->boxes[s].high[axis]);
        }
    return whole;
}

// Chooses the axis on which the boxes are the shortest in relation to the whole: along it the
// fewest pairs are checked.
static void choose_axis(struct nesting *it, const struct box *whole)
{
    double least = DBL_MAX;
    for (int axis = 0; axis < 3; axis++) {
        const double extent = whole->high[axis] - whole->low[axis];
        double sum = 0;
        for (uint64_t s = 0; s < it->count; s++)
            sum += (it->boxes[s].high[axis] - it->boxes[s].low[axis]) / extent;
        if (sum < least) {
            least = sum;
            it->axis = axis;
        }
    }
}

struct low_end {
    double low;
    uint64_t shell;
};

static int compare_low_ends(const void *a, const void *b)
{
    const struct low_end *one = a, *two = b;
    if (one->low != two->low)
        return one->low < two->low ? -1 : 1;
    return one->shell < two->shell ? -1 : one->shell > two->shell;
}

static bool sort_shells(struct nesting *it)
{
    struct low_end *ends = memory_allocate(NULL, it->count, sizeof *ends);
    if (!ends)
        return false;
    for (uint64_t s = 0; s < it->count; s++)
        ends[s] = (struct low_end){it->boxes[s].low[it->axis], s};
    qsort(ends, it->count, sizeof *ends, compare_low_ends);
    for (uint64_t s = 0; s < it->count; s++)
        it->order[s] = ends[s].shell;
    memory_release(NULL, ends, it->count, sizeof *ends);
    return true;
}

static bool box_is_within(const struct box *inner, const struct box *outer)
{
    for (int axis = 0; axis < 3; axis++)
        if (inner->low[axis] < outer->low[axis] || inner->high[axis] > outer->high[axis])
            return false;
    return true;
}

// The index in the order of the first shell whose box begins at `low` or after it.
static uint64_t first_at(const struct nesting *it, double low)
{
    uint64_t first = 0, end = it->count;
    while (first < end) {
        const uint64_t middle = first + (end - first) / 2;
        if (it->boxes[it->order[middle]].low[it->axis] < low)
            first = middle + 1;
        else
            end = middle;
    }
    return first;
}

// Marks the shells that may lie within `outer`, all of which are in [*first, *end) of the order.
// False if there is none.
static bool mark_candidates(struct nesting *it, uint64_t outer, uint64_t *first, uint64_t *end)
{
    const struct box *box = &it->boxes[outer];
    bool any = false;
    *first = *end = first_at(it, box->low[it->axis]);
    while (*end < it->count && it->boxes[it->order[*end]].low[it->axis] <= box->high[it->axis]) {
        const uint64_t s = it->order[(*end)++];
        it->is_within_box[s] = s != outer && it->shells[s].volume < it->shells[outer].volume &&
                               box_is_within(&it->boxes[s], box);
        any |= it->is_within_box[s];
    }
    return any;
}

// ---- Columns

static uint64_t column_along(const struct nesting *it, int axis, double coordinate)
{
    const double column = (coordinate - it->low[axis]) * it->per_length[axis];
    if (!(column > 0))
        return 0;
    return column < (double)it->columns[axis] ? (uint64_t)column : it->columns[axis] - 1;
}

static uint64_t column_of(const struct nesting *it, const double point[3])
{
    return column_along(it, 1, point[1]) * it->columns[0] + column_along(it, 0, point[0]);
}

// About one vertex per column.
static void choose_columns(struct nesting *it, const struct box *whole)
{
    const double side = sqrt((double)it->mesh->vertex_count);
    for (int axis = 0; axis < 2; axis++) {
        const double extent = whole->high[axis] - whole->low[axis];
        it->columns[axis] = (uint64_t)side + 1;
        it->low[axis] = whole->low[axis];
        it->per_length[axis] = (double)it->columns[axis] / extent;
    }
}

static bool fill_columns(struct nesting *it)
{
    const uint64_t count = it->columns[0] * it->columns[1];
    it->starts = memory_allocate(NULL, count + 1, sizeof *it->starts);
    it->points = memory_allocate(NULL, it->mesh->vertex_count, sizeof *it->points);
    if (!it->starts || !it->points)
        return false;
    for (uint64_t v = 0; v < it->mesh->vertex_count; v++)
        if (it->shell_of[v] < it->count)
            it->starts[column_of(it, at(it, (uint32_t)v)) + 1]++;
    counting_sort_starts(it->starts, count);
    for (uint64_t v = 0; v < it->mesh->vertex_count; v++)
        if (it->shell_of[v] < it->count)
            it->points[it->starts[column_of(it, at(it, (uint32_t)v)) + 1]++] = (uint32_t)v;
    return true;
}

// ---- Points in a shell

// Whether the line y = const through the point meets the edge from a to b at its left.
static bool edge_is_left(const struct nesting *it, uint32_t a, uint32_t b, const double point[3])
{
    const double *p = at(it, a < b ? a : b), *q = at(it, a < b ? b : a);
    if ((p[1] <= point[1]) == (q[1] <= point[1]))
        return false;
    const double turn = (q[0] - p[0]) * (point[1] - p[1]) - (point[0] - p[0]) * (q[1] - p[1]);
    return q[1] > p[1] ? turn < 0 : turn > 0;
}

// Counts the triangle as above the point, below it, or touching it.
static void pass_triangle(struct nesting *it, const uint32_t corners[3], uint32_t vertex)
{
    const double *point = at(it, vertex);
    bool passes = false;
    for (int i = 0; i < 3; i++)
        passes ^= edge_is_left(it, corners[i], corners[(i + 1) % 3], point);
    if (!passes)
        return;
    vec3 from[3];
    double size = 0;
    for (int i = 0; i < 3; i++) {
        const double *p = at(it, corners[i]);
        from[i] = vec3_make(p[0] - point[0], p[1] - point[1], p[2] - point[2]);
        size = fmax(size, vec3_length(from[i]));
    }
    const vec3 normal =
        vec3_cross(vec3_subtract(from[1], from[0]), vec3_subtract(from[2], from[0]));
    const double height = vec3_dot(normal, from[0]);
    // The rounding of differences and products, and more: what is so near touches.
    if (fabs(height) <= 64 * DBL_EPSILON * vec3_length(normal) * size)
        it->state[vertex] |= TOUCHES;
    else if ((height > 0) == (normal.z > 0))
        it->state[vertex] ^= INSIDE;
}

static void pass_points(struct nesting *it, const uint32_t corners[3])
{
    double low[2] = {DBL_MAX, DBL_MAX}, high[2] = {-DBL_MAX, -DBL_MAX};
    for (int i = 0; i < 3; i++)
        for (int axis = 0; axis < 2; axis++) {
            low[axis] = fmin(low[axis], at(it, corners[i])[axis]);
            high[axis] = fmax(high[axis], at(it, corners[i])[axis]);
        }
    const uint64_t end_x = column_along(it, 0, high[0]), end_y = column_along(it, 1, high[1]);
    for (uint64_t y = column_along(it, 1, low[1]); y <= end_y; y++)
        for (uint64_t x = column_along(it, 0, low[0]); x <= end_x; x++) {
            const uint64_t column = y * it->columns[0] + x;
            for (uint64_t i = it->starts[column]; i < it->starts[column + 1]; i++)
                if (it->is_within_box[it->shell_of[it->points[i]]])
                    pass_triangle(it, corners, it->points[i]);
        }
}

// Deepens a candidate that lies within the shell, and forgets what its vertices were.
static void close_candidate(struct nesting *it, uint64_t s)
{
    bool any_inside = false, any_outside = false;
    for (uint64_t i = it->shells[s].first; i < it->shells[s].end; i++)
        for (int corner = 0; corner < 3; corner++) {
            const uint8_t state = it->state[corners_of(it, i)[corner]];
            any_inside |= state == INSIDE;
            any_outside |= state == 0;
        }
    it->shells[s].depth += any_inside && !any_outside;
    for (uint64_t i = it->shells[s].first; i < it->shells[s].end; i++)
        for (int corner = 0; corner < 3; corner++)
            it->state[corners_of(it, i)[corner]] = 0;
}

static void find_depths(struct nesting *it)
{
    for (uint64_t outer = 0; outer < it->count; outer++) {
        uint64_t first, end;
        const bool any = mark_candidates(it, outer, &first, &end);
        for (uint64_t i = it->shells[outer].first; any && i < it->shells[outer].end; i++)
            pass_points(it, corners_of(it, i));
        for (uint64_t i = first; i < end; i++) {
            if (it->is_within_box[it->order[i]])
                close_candidate(it, it->order[i]);
            it->is_within_box[it->order[i]] = 0;
        }
    }
}

bool mesh_shells_nest(const struct mesh *mesh, const uint32_t *triangles, struct mesh_shell *shells,
                      uint64_t count)
{
    for (uint64_t s = 0; s < count; s++)
        shells[s].depth = 0;
    if (count < 2)
        return true;
    struct nesting it = {.mesh = mesh, .triangles = triangles, .shells = shells, .count = count};
    const uint64_t vertices = mesh->vertex_count;
    it.boxes = memory_allocate(NULL, count, sizeof *it.boxes);
    it.order = memory_allocate(NULL, count, sizeof *it.order);
    it.is_within_box = memory_allocate(NULL, count + 1, sizeof *it.is_within_box);
    it.shell_of = memory_allocate(NULL, vertices, sizeof *it.shell_of);
    it.state = memory_allocate(NULL, vertices, sizeof *it.state);
    bool sound = it.boxes && it.order && it.is_within_box && it.shell_of && it.state;
    if (sound) {
        find_boxes(&it);
        const struct box whole = whole_box(&it);
        choose_axis(&it, &whole);
        choose_columns(&it, &whole);
        sound = sort_shells(&it) && fill_columns(&it);
    }
    if (sound)
        find_depths(&it);
    memory_release(NULL, it.boxes, count, sizeof *it.boxes);
    memory_release(NULL, it.order, count, sizeof *it.order);
    memory_release(NULL, it.is_within_box, count + 1, sizeof *it.is_within_box);
    memory_release(NULL, it.shell_of, vertices, sizeof *it.shell_of);
    memory_release(NULL, it.state, vertices, sizeof *it.state);
    memory_release(NULL, it.starts, it.columns[0] * it.columns[1] + 1, sizeof *it.starts);
    memory_release(NULL, it.points, vertices, sizeof *it.points);
    return sound;
}
