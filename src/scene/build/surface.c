// Finds the springs of a triangulated surface, with sets of node pairs (surface.h).
#include "scene/build/surface.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/sort.h"

// ---- Sets of pairs

// Rows have a few numbers, except at the centre of a fan.
enum { ROW_FOR_INSERTION = 24 };

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

bool pair_table_begin(struct pair_table *table, uint64_t row_count)
{
    *table = (struct pair_table){.row_count = row_count};
    table->starts = memory_allocate(NULL, row_count + 1, sizeof *table->starts);
    return table->starts != NULL;
}

void pair_table_count(struct pair_table *table, uint32_t first)
{
    table->starts[first + 1]++;
    table->capacity++;
}

bool pair_table_allocate(struct pair_table *table)
{
    counting_sort_starts(table->starts, table->row_count);
    table->seconds = memory_allocate(NULL, table->capacity, sizeof *table->seconds);
    if (!table->seconds)
        pair_table_free(table);
    return table->seconds != NULL;
}

void pair_table_add(struct pair_table *table, uint32_t first, uint32_t second)
{
    table->seconds[table->starts[first + 1]++] = second;
}

void pair_table_finish(struct pair_table *table)
{
    sort_and_pack(table);
    const size_t size = sizeof *table->seconds;
    memory_forget(NULL, table->seconds, table->capacity * size, table->pair_count * size,
                  table->capacity * size);
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

static uint32_t lower_of(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static uint32_t higher_of(uint32_t a, uint32_t b)
{
    return a < b ? b : a;
}

bool surface_edges(const uint32_t *triangles, uint64_t triangle_count, uint64_t vertex_count,
                   struct pair_table *edges)
{
    if (!pair_table_begin(edges, vertex_count))
        return false;
    for (int pass = 0; pass < 2; pass++) {
        for (uint64_t t = 0; t < triangle_count; t++)
            for (int side = 0; side < 3; side++) {
                uint32_t a = triangles[3 * t + (uint64_t)side];
                uint32_t b = triangles[3 * t + (uint64_t)(side + 1) % 3];
                if (pass == 0)
                    pair_table_count(edges, lower_of(a, b));
                else
                    pair_table_add(edges, lower_of(a, b), higher_of(a, b));
            }
        if (pass == 0 && !pair_table_allocate(edges))
            return false;
    }
    pair_table_finish(edges);
    return true;
}

// Finds the pairs of far vertices, and counts them in `bends`, or adds them. `far_vertices` has for
// each edge the vertex opposite it of the last triangle there.
static void find_bends(const uint32_t *triangles, uint64_t triangle_count,
                       const struct pair_table *edges, uint32_t *far_vertices, bool counts,
                       struct pair_table *bends)
{
    for (uint64_t edge = 0; edge < edges->pair_count; edge++)
        far_vertices[edge] = NO_VERTEX;
    for (uint64_t i = 0; i < 3 * triangle_count; i++) {
        const uint32_t *v = &triangles[i / 3 * 3];
        uint32_t a = v[i % 3], b = v[(i + 1) % 3], far_vertex = v[(i + 2) % 3];
        uint64_t edge, across;
        if (!pair_table_find(edges, lower_of(a, b), higher_of(a, b), &edge))
            continue;
        uint32_t other = far_vertices[edge];
        far_vertices[edge] = far_vertex;
        if (other == NO_VERTEX || other == far_vertex)
            continue;
        uint32_t low = lower_of(other, far_vertex), high = higher_of(other, far_vertex);
        if (pair_table_find(edges, low, high, &across))
            continue;
        if (counts)
            pair_table_count(bends, low);
        else
            pair_table_add(bends, low, high);
    }
}

bool surface_bends(const uint32_t *triangles, uint64_t triangle_count,
                   const struct pair_table *edges, struct pair_table *bends)
{
    uint32_t *far_vertices = memory_allocate(NULL, edges->pair_count, sizeof *far_vertices);
    bool done = pair_table_begin(bends, edges->row_count) && far_vertices;
    if (done)
        find_bends(triangles, triangle_count, edges, far_vertices, true, bends);
    done = done && pair_table_allocate(bends);
    if (done) {
        find_bends(triangles, triangle_count, edges, far_vertices, false, bends);
        pair_table_finish(bends);
    }
    memory_release(NULL, far_vertices, edges->pair_count, sizeof *far_vertices);
    if (!done)
        pair_table_free(bends);
    return done;
}

// Adds both directions of every pair, so that a row has all neighbours of its vertex.
static bool make_symmetric(const struct pair_table *half, struct pair_table *whole)
{
    if (!pair_table_begin(whole, half->row_count))
        return false;
    for (int pass = 0; pass < 2; pass++) {
        for (uint64_t a = 0; a < half->row_count; a++)
            for (uint64_t i = half->starts[a]; i < half->starts[a + 1]; i++) {
                const uint32_t ends[2] = {(uint32_t)a, half->seconds[i]};
                for (int end = 0; end < 2; end++)
                    if (pass == 0)
                        pair_table_count(whole, ends[end]);
                    else
                        pair_table_add(whole, ends[end], ends[1 - end]);
            }
        if (pass == 0 && !pair_table_allocate(whole))
            return false;
    }
    pair_table_finish(whole);
    return true;
}

// marks[b] == a: do not pair b with a, or not again.
static void mark_row(const struct pair_table *table, uint64_t a, uint32_t *marks)
{
    for (uint64_t i = table->starts[a]; i < table->starts[a + 1]; i++)
        marks[table->seconds[i]] = (uint32_t)a;
}

// Counts the pairs of vertex `a` and its second neighbours above it in `seconds`, or adds them.
static void find_seconds_of(const struct pair_table *neighbours, uint64_t a, uint32_t *marks,
                            bool counts, struct pair_table *seconds)
{
    for (uint64_t i = neighbours->starts[a]; i < neighbours->starts[a + 1]; i++) {
        uint32_t between = neighbours->seconds[i];
        for (uint64_t j = neighbours->starts[between]; j < neighbours->starts[between + 1]; j++) {
            uint32_t b = neighbours->seconds[j];
            if (b <= a || marks[b] == a)
                continue;
            marks[b] = (uint32_t)a;
            if (counts)
                pair_table_count(seconds, (uint32_t)a);
            else
                pair_table_add(seconds, (uint32_t)a, b);
        }
    }
}

bool surface_seconds(const struct pair_table *edges, const struct pair_table *except,
                     struct pair_table *seconds)
{
    uint64_t count = edges->row_count;
    struct pair_table neighbours = {0};
    uint32_t *marks = memory_allocate(NULL, count, sizeof *marks);
    bool done = pair_table_begin(seconds, count) && marks && make_symmetric(edges, &neighbours);
    for (int pass = 0; done && pass < 2; pass++) {
        for (uint64_t b = 0; b < count; b++)
            marks[b] = NO_VERTEX;
        for (uint64_t a = 0; a < count; a++) {
            mark_row(&neighbours, a, marks);
            if (except)
                mark_row(except, a, marks);
            find_seconds_of(&neighbours, a, marks, pass == 0, seconds);
        }
        if (pass == 0)
            done = pair_table_allocate(seconds);
    }
    if (done)
        pair_table_finish(seconds);
    else
        pair_table_free(seconds);
    pair_table_free(&neighbours);
    memory_release(NULL, marks, count, sizeof *marks);
    return done;
}
