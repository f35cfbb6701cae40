// Finds the springs of a triangulated surface, with sets of node pairs (surface.h).
#include "scene/build/surface.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/sort.h"

// ---- Sets of pairs

// Rows have a few numbers, except at the centre of a fan.
enum { ROW_FOR_INSERTION = 24 };

bool pair_list_add(struct pair_list *list, uint32_t first, uint32_t second)
{
    void *items = list->items;
    if (!array_reserve(&items, &list->capacity, list->count + 1, sizeof *list->items))
        return false;
    list->items = items;
    list->items[list->count][0] = first;
    list->items[list->count][1] = second;
    list->count++;
    return true;
}

void pair_list_free(struct pair_list *list)
{
    free(list->items);
    *list = (struct pair_list){0};
}

static int compare_numbers(const void *a, const void *b)
{
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    return (left > right) - (left < right);
}

static void sort_row(uint32_t *row, uint64_t count)
{
    if (count > ROW_FOR_INSERTION) {
        qsort(row, count, sizeof *row, compare_numbers);
        return;
    }
    for (uint64_t i = 1; i < count; i++) {
        uint32_t moving = row[i];
        uint64_t hole = i;
        for (; hole > 0 && row[hole - 1] > moving; hole--)
            row[hole] = row[hole - 1];
        row[hole] = moving;
    }
}

// Sorts every row, drops duplicates and closes the gaps.
static void sort_and_pack(struct pair_table *table)
{
    uint64_t kept = 0, begin = 0;
    for (uint64_t row = 0; row < table->row_count; row++) {
        uint64_t end = table->starts[row + 1];
        uint64_t first = kept;
        sort_row(&table->seconds[begin], end - begin);
        for (uint64_t i = begin; i < end; i++)
            if (kept == first || table->seconds[kept - 1] != table->seconds[i])
                table->seconds[kept++] = table->seconds[i];
        table->starts[row + 1] = kept;
        begin = end;
    }
    table->pair_count = kept;
}

bool pair_table_make(const struct pair_list *list, uint64_t row_count, struct pair_table *table)
{
    *table = (struct pair_table){.row_count = row_count, .capacity = list->count};
    table->starts = memory_allocate(NULL, row_count + 1, sizeof *table->starts);
    table->seconds = memory_allocate(NULL, list->count, sizeof *table->seconds);
    if (!table->starts || !table->seconds) {
        pair_table_free(table);
        return false;
    }
    uint64_t *starts = table->starts;
    for (size_t i = 0; i < list->count; i++)
        starts[list->items[i][0] + 1]++;
    counting_sort_starts(starts, row_count);
    for (size_t i = 0; i < list->count; i++)
        table->seconds[starts[list->items[i][0] + 1]++] = list->items[i][1];
    sort_and_pack(table);
    return true;
}

bool pair_table_find(const struct pair_table *table, uint32_t first, uint32_t second,
                     uint64_t *index)
{
    uint64_t low = table->starts[first], high = table->starts[first + 1];
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (table->seconds[middle] < second)
            low = middle + 1;
        else
            high = middle;
    }
    *index = low;
    return low < table->starts[first + 1] && table->seconds[low] == second;
}

void pair_table_copy(const struct pair_table *table, uint32_t (*pairs)[2])
{
    for (uint64_t row = 0; row < table->row_count; row++)
        for (uint64_t i = table->starts[row]; i < table->starts[row + 1]; i++) {
            pairs[i][0] = (uint32_t)row;
            pairs[i][1] = table->seconds[i];
        }
}

void pair_table_free(struct pair_table *table)
{
    memory_release(NULL, table->starts, table->row_count + 1, sizeof *table->starts);
    memory_release(NULL, table->seconds, table->capacity, sizeof *table->seconds);
    *table = (struct pair_table){0};
}

// ---- Springs of a surface

// The value of a far vertex or a mark that has not been set.
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

// Records the triangle's vertex opposite to each of its edges. If an edge already has one from
// another triangle, the two far vertices are a pair.
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

// Adds both directions of every pair, so that a row has all neighbours of its vertex.
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

// marks[b] == a: do not pair b with a, or not again.
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
