// Ordering: max and min, binary searches, and the counting sort.
#ifndef TAUT_BASE_SORT_H
#define TAUT_BASE_SORT_H

#include <stddef.h>
#include <stdint.h>

static inline uint64_t max_u64(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static inline uint64_t min_u64(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

// The index of the first of `count` ascending values that is >= `value`; `count` if there is none.
static inline size_t lower_bound(const uint32_t *values, size_t count, uint64_t value)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (values[middle] < value)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// The interval that contains `number`: the last of `count` consecutive intervals whose first number
// is <= number, or interval 0. `firsts` points to the first number of interval 0; those of the
// others follow at a distance of `stride` bytes (a member of an array of structs) and never
// descend.
static inline size_t find_interval(const uint64_t *firsts, size_t stride, size_t count,
                                   uint64_t number)
{
    size_t low = 0, high = count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        const void *first = (const char *)firsts + middle * stride;
        if (*(const uint64_t *)first <= number)
            low = middle;
        else
            high = middle;
    }
    return low;
}

// A stable counting sort of items whose keys are below `key_count`. `starts` has key_count + 1
// elements, zeroed at first:
//
//     for each item:  starts[key + 1]++;
//     counting_sort_starts(starts, key_count);
//     for each item:  sorted[starts[key + 1]++] = item;
//
// During the last loop starts[key + 1] is the position of the key's next item. At the end the items
// of a key are sorted[starts[key]] to sorted[starts[key + 1] - 1].
static inline void counting_sort_starts(uint64_t *starts, uint64_t key_count)
{
    uint64_t before = 0;
    for (uint64_t key = 0; key < key_count; key++) {
        uint64_t count = starts[key + 1];
        starts[key + 1] = before;
        before += count;
    }
}

#endif
