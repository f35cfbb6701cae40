#include "scene/build/surface.h"

#include "base/memory.h"

// A vertex that stands for "none yet" and "nobody's".
#define NO_VERTEX UINT32_MAX

static bool add_ordered(struct pair_list *list, uint32_t a, uint32_t b)
{
    return a < b ? pair_list_add(list, a, b) : pair_list_add(list, b, a);
}

bool surface_edges(const uint32_t *triangles, uint64_t triangle_count, uint64_t vertex_count,
                   struct pair_table *edges)
{
    *edges = (struct pair_table){0};
    struct pair_list list = {0};
    bool done = true;
    for (uint64_t t = 0; done && t < triangle_count; t++) {
        const uint32_t *v = &triangles[3 * t];
        done = add_ordered(&list, v[0], v[1]) && add_ordered(&list, v[1], v[2]) &&
               add_ordered(&list, v[2], v[0]);
    }
    done = done && pair_table_make(&list, vertex_count, edges);
    pair_list_free(&list);
    return done;
}

// Notes the triangle's vertex opposite to each of its edges; where an edge has met a triangle
// before, the two far vertices are a pair.
static bool add_bends_of(const uint32_t *v, const struct pair_table *edges, uint32_t *far_vertices,
                         struct pair_list *list)
{
    for (int side = 0; side < 3; side++) {
        uint32_t a = v[side], b = v[(side + 1) % 3], far_vertex = v[(side + 2) % 3];
        uint64_t edge, across;
        if (!pair_table_find(edges, a < b ? a : b, a < b ? b : a, &edge))
            continue;
        uint32_t other = far_vertices[edge];
        far_vertices[edge] = far_vertex;
        if (other == NO_VERTEX || other == far_vertex)
            continue;
        uint32_t low = other < far_vertex ? other : far_vertex;
        uint32_t high = other < far_vertex ? far_vertex : other;
        if (!pair_table_find(edges, low, high, &across) && !pair_list_add(list, low, high))
            return false;
    }
    return true;
}

bool surface_bends(const uint32_t *triangles, uint64_t triangle_count,
                   const struct pair_table *edges, struct pair_table *bends)
{
    *bends = (struct pair_table){0};
    struct pair_list list = {0};
    uint32_t *far_vertices = memory_allocate(NULL, edges->pair_count, sizeof *far_vertices);
    bool done = far_vertices != NULL;
    for (uint64_t edge = 0; done && edge < edges->pair_count; edge++)
        far_vertices[edge] = NO_VERTEX;
    for (uint64_t t = 0; done && t < triangle_count; t++)
        done = add_bends_of(&triangles[3 * t], edges, far_vertices, &list);
    done = done && pair_table_make(&list, edges->row_count, bends);
    memory_release(NULL, far_vertices, edges->pair_count, sizeof *far_vertices);
    pair_list_free(&list);
    return done;
}

// Both directions of every pair, so that a row holds all neighbours of its vertex.
static bool make_symmetric(const struct pair_table *half, struct pair_table *whole)
{
    struct pair_list list = {0};
    bool done = true;
    for (uint64_t a = 0; done && a < half->row_count; a++)
        for (uint64_t i = half->starts[a]; done && i < half->starts[a + 1]; i++)
            done = pair_list_add(&list, (uint32_t)a, half->seconds[i]) &&
                   pair_list_add(&list, half->seconds[i], (uint32_t)a);
    done = done && pair_table_make(&list, half->row_count, whole);
    pair_list_free(&list);
    return done;
}

// marks[b] == a says that b is not, or no longer, to be paired with a.
static void mark_row(const struct pair_table *table, uint64_t a, uint32_t *marks)
{
    for (uint64_t i = table->starts[a]; i < table->starts[a + 1]; i++)
        marks[table->seconds[i]] = (uint32_t)a;
}

static bool add_seconds_of(const struct pair_table *neighbours, uint64_t a, uint32_t *marks,
                           struct pair_list *list)
{
    for (uint64_t i = neighbours->starts[a]; i < neighbours->starts[a + 1]; i++) {
        uint32_t between = neighbours->seconds[i];
        for (uint64_t j = neighbours->starts[between]; j < neighbours->starts[between + 1]; j++) {
            uint32_t b = neighbours->seconds[j];
            if (b <= a || marks[b] == a)
                continue;
            marks[b] = (uint32_t)a;
            if (!pair_list_add(list, (uint32_t)a, b))
                return false;
        }
    }
    return true;
}

bool surface_seconds(const struct pair_table *edges, const struct pair_table *except,
                     struct pair_table *seconds)
{
    *seconds = (struct pair_table){0};
    uint64_t count = edges->row_count;
    struct pair_table neighbours = {0};
    struct pair_list list = {0};
    uint32_t *marks = memory_allocate(NULL, count, sizeof *marks);
    bool done = marks && make_symmetric(edges, &neighbours);
    for (uint64_t b = 0; done && b < count; b++)
        marks[b] = NO_VERTEX;
    for (uint64_t a = 0; done && a < count; a++) {
        mark_row(&neighbours, a, marks);
        if (except)
            mark_row(except, a, marks);
        done = add_seconds_of(&neighbours, a, marks, &list);
    }
    done = done && pair_table_make(&list, count, seconds);
    pair_table_free(&neighbours);
    pair_list_free(&list);
    memory_release(NULL, marks, count, sizeof *marks);
    return done;
}
