// Sets of node pairs, a row for each first node, ascending inside a row. Edges, far vertices and
// second neighbours of a surface are such sets: looking for a duplicate is looking into a short
// row.
#ifndef TAUT_SCENE_PAIRS_H
#define TAUT_SCENE_PAIRS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// A growing list of pairs, in any order and with duplicates.
struct pair_list {
    uint32_t (*items)[2];
    size_t count, capacity;
};

// False without memory.
bool pair_list_add(struct pair_list *list, uint32_t first, uint32_t second);
void pair_list_free(struct pair_list *list);

struct pair_table {
    uint64_t row_count, pair_count;
    uint64_t *starts;  // row a is seconds[starts[a]] to seconds[starts[a + 1]], exclusive
    uint32_t *seconds; // ascending within a row, none twice
    uint64_t capacity; // allocated seconds
};

// The table of the listed pairs, duplicates dropped; all numbers are below `row_count`. False
// without memory.
bool pair_table_make(const struct pair_list *list, uint64_t row_count, struct pair_table *table);

// Where the pair stands in `seconds`; false if it is not in the table.
bool pair_table_find(const struct pair_table *table, uint32_t first, uint32_t second,
                     uint64_t *index);

// Writes all pairs, row by row.
void pair_table_copy(const struct pair_table *table, uint32_t (*pairs)[2]);

void pair_table_free(struct pair_table *table);

#endif
