// Every allocation of the library goes through this file: sizes are checked for overflow, blocks
// are aligned for the widest SIMD register and zeroed, and the caller's allocator is used if there
// is one. The default allocator maps blocks of several megabytes in huge pages where the system has
// them. A page lies near the worker that first touches it, so large arrays are filled by the
// workers.
#ifndef TAUT_BASE_MEMORY_H
#define TAUT_BASE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "taut.h"

enum { MEMORY_ALIGNMENT = 64 };

// The default allocator (aligned_alloc, and mappings for large blocks).
extern const taut_allocator memory_default_allocator;

// `count` zeroed elements of `size` bytes; NULL on overflow, if memory runs out, or if the calling
// thread's task was cancelled (task.h). With a count of 0 the block may be released but not read.
// `allocator` NULL means the default.
void *memory_allocate(const taut_allocator *allocator, size_t count, size_t size);

// The same, filled with a copy of `from`, which may be NULL if count is 0.
void *memory_copy(const taut_allocator *allocator, const void *from, size_t count, size_t size);

// Releases a block of memory_allocate, called with the same count and size; NULL is ignored.
void memory_release(const taut_allocator *allocator, void *block, size_t count, size_t size);

// Bytes [first, end) of a block of so many will be touched at few addresses: from now on the system
// gives them no huge pages, each of which would take 2 MiB for one number. Called before they are
// touched.
void memory_sparse(void *block, size_t bytes, size_t first, size_t end);

// Gives the pages within bytes [first, end) of a block of so many back to the system: nothing reads
// them any more, unless memory_recall precedes what writes them again. No effect on blocks of a few
// megabytes or less, and on those of the caller's allocator. Reading such a page finds zeros; with
// TAUT_GUARD_LISTS it ends the process, in blocks of any size above 64 KiB.
void memory_forget(const taut_allocator *allocator, void *block, size_t bytes, size_t first,
                   size_t end);
void memory_recall(const taut_allocator *allocator, void *block, size_t bytes, size_t first,
                   size_t end);

// Gives back to the system the memory of released blocks of the default allocator: small ones,
// which it would keep for others of their size. For callers that have released many megabytes of
// them.
void memory_trim(void);

// a * b into *product; false on overflow.
bool size_multiply(size_t a, size_t b, size_t *product);

// Grows a malloc'ed array by doubling until it has space for `needed` elements; false if memory
// runs out, and then the old array is unchanged. For readers whose counts are found while
// reading.
bool array_reserve(void **array, size_t *capacity, size_t needed, size_t size);

#endif
