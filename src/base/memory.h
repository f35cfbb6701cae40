// Every allocation of the library goes through here: sizes are checked for overflow, blocks are
// aligned for the widest SIMD register and zeroed, and the caller's own allocator is used where one
// was given. Without one, blocks of several megabytes lie in huge pages where the system has them,
// and near the worker that first touches them: large arrays are filled by the workers.
#ifndef TAUT_BASE_MEMORY_H
#define TAUT_BASE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "taut.h"

enum { MEMORY_ALIGNMENT = 64 };

// The allocator used where the caller gave none (aligned_alloc, and mappings for large blocks).
extern const taut_allocator memory_default_allocator;

// `count` zeroed elements of `size` bytes, or NULL if that overflows or there is no memory.
// Nothing is given to the thread of a task that was cancelled (task.h).
// A count of 0 gives a block that may be released but not read. `allocator` NULL means the default.
void *memory_allocate(const taut_allocator *allocator, size_t count, size_t size);

// The same with a copy of `from` in it, which may be NULL if count is 0.
void *memory_copy(const taut_allocator *allocator, const void *from, size_t count, size_t size);

// Releases a block of memory_allocate with the same count and size; NULL is ignored.
void memory_release(const taut_allocator *allocator, void *block, size_t count, size_t size);

// a * b into *product; false on overflow.
bool size_multiply(size_t a, size_t b, size_t *product);

// Grows a malloc'ed array so that it has space for at least `needed` elements, doubling; false (and
// the old array untouched) when there is no memory. For readers that do not know their counts
// beforehand.
bool array_reserve(void **array, size_t *capacity, size_t needed, size_t size);

#endif
