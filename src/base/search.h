// Finding a number by halves: the part that it lies in, where parts follow each other and each
// tells its first; its place in an ascending list.
#ifndef TAUT_BASE_SEARCH_H
#define TAUT_BASE_SEARCH_H

#include <stddef.h>
#include <stdint.h>

// The last of `count` parts whose first is <= number, or part 0. `firsts` is that of part 0; those
// of the others, which never descend, follow at a distance of `stride` bytes: members of an array
// of structs.
static inline size_t part_of(const uint64_t *firsts, size_t stride, size_t count, uint64_t number)
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

// The place of the first of `count` ascending values that is not below this one; `count` if all
// are.
static inline size_t first_not_below(const uint32_t *values, size_t count, uint64_t value)
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

#endif
