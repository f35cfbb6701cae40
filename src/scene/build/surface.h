// The springs of a triangulated surface (its edges, the far vertices of adjacent triangles, second
// neighbours) as sets of node pairs. A set has a row for each first node, with ascending second
// nodes, so that a pair is found by searching a short row.
#ifndef TAUT_SCENE_SURFACE_H
#define TAUT_SCENE_SURFACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pair_table {
    uint64_t row_count, pair_count;
    uint64_t *starts;  // row a is seconds[starts[a]] to seconds[starts[a + 1] - 1]
    uint32_t *seconds; // ascending within a row, without duplicates
    uint64_t capacity; // allocated length of `seconds`
};

// A table is filled in two passes over whatever has its pairs, in any order and with duplicates:
//
//     pair_table_begin(&table, row_count)
//     for each pair:  pair_table_count(&table, first);
//     pair_table_allocate(&table)
//     for each pair:  pair_table_add(&table, first, second);
//     pair_table_finish(&table);
//
// All numbers are below `row_count`. Both functions that allocate return false if memory runs out;
// the table is then empty.
bool pair_table_begin(struct pair_table *table, uint64_t row_count);
void pair_table_count(struct pair_table *table, uint32_t first);
bool pair_table_allocate(struct pair_table *table);
void pair_table_add(struct pair_table *table, uint32_t first, uint32_t second);

// Sorts the rows and drops duplicates.
void pair_table_finish(struct pair_table *table);

// Finds the index of the pair in `seconds`; false if it is not in the table.
bool pair_table_find(const struct pair_table *table, uint32_t first, uint32_t second,
                     uint64_t *index);

// Writes all pairs, row by row.
void pair_table_copy(const struct pair_table *table, uint32_t (*pairs)[2]);

void pair_table_free(struct pair_table *table);

// ---- Springs of a surface. Each function returns false if memory runs out; the table is then
// empty.

// Every edge once, as (lower, higher).
bool surface_edges(const uint32_t *triangles, uint64_t triangle_count, uint64_t vertex_count,
                   struct pair_table *edges);

// The far vertices of two triangles that share an edge (for more than two, each with the one listed
// before it), once each, unless an edge already joins them.
bool surface_bends(const uint32_t *triangles, uint64_t triangle_count,
                   const struct pair_table *edges, struct pair_table *bends);

// All pairs at graph distance 2 along the edges, except those of `except` (which may be NULL).
bool surface_seconds(const struct pair_table *edges, const struct pair_table *except,
                     struct pair_table *seconds);

#endif
