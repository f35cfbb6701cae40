#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

static void *allocate_aligned(void *context, size_t bytes, size_t alignment)
{
    (void)context;
    size_t rounded = (bytes + alignment - 1) / alignment * alignment;
    return rounded < bytes ? NULL : aligned_alloc(alignment, rounded);
}

static void release_aligned(void *context, void *block, size_t bytes)
{
    (void)context;
    (void)bytes;
    free(block);
}

const taut_allocator memory_default_allocator = {allocate_aligned, release_aligned, NULL};

bool size_multiply(size_t a, size_t b, size_t *product)
{
    if (b != 0 && a > SIZE_MAX / b)
        return false;
    *product = a * b;
    return true;
}

// Never zero, so that NULL always means failure.
static size_t block_bytes(size_t count, size_t size)
{
    size_t bytes = count * size;
    return bytes ? bytes : 1;
}

void *memory_allocate(const taut_allocator *allocator, size_t count, size_t size)
{
    if (!allocator)
        allocator = &memory_default_allocator;
    size_t bytes;
    if (!size_multiply(count, size, &bytes))
        return NULL;
    bytes = block_bytes(count, size);
    void *block = allocator->allocate(allocator->context, bytes, MEMORY_ALIGNMENT);
    if (block)
        memset(block, 0, bytes);
    return block;
}

void *memory_copy(const taut_allocator *allocator, const void *from, size_t count, size_t size)
{
    void *block = memory_allocate(allocator, count, size);
    if (block && count > 0)
        memcpy(block, from, count * size);
    return block;
}

void memory_release(const taut_allocator *allocator, void *block, size_t count, size_t size)
{
    if (!block)
        return;
    if (!allocator)
        allocator = &memory_default_allocator;
    allocator->release(allocator->context, block, block_bytes(count, size));
}

bool array_reserve(void **array, size_t *capacity, size_t needed, size_t size)
{
    if (needed <= *capacity)
        return true;
    size_t grown = *capacity < 16 ? 16 : *capacity;
    while (grown < needed) {
        if (grown > SIZE_MAX / 2)
            return false;
        grown *= 2;
    }
    size_t bytes;
    if (!size_multiply(grown, size, &bytes))
        return false;
    void *moved = realloc(*array, bytes);
    if (!moved)
        return false;
    *array = moved;
    *capacity = grown;
    return true;
}
