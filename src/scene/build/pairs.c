#include "scene/build/pairs.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

// Rows are a handful of numbers, except at the centre of a fan.
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

// Sorts every row and closes the gaps that dropped duplicates leave.
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
    // Counting sort by row: starts[a + 1] counts row a, then says where its next pair goes.
    uint64_t *starts = table->starts;
    for (size_t i = 0; i < list->count; i++)
        starts[list->items[i][0] + 1]++;
    uint64_t before = 0;
    for (uint64_t row = 0; row < row_count; row++) {
        uint64_t own = starts[row + 1];
        starts[row + 1] = before;
        before += own;
    }
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
