// Allocation through the caller's allocator or the default one, which maps large blocks in huge
// pages.
#define _DEFAULT_SOURCE // NOLINT(bugprone-reserved-identifier): MAP_ANONYMOUS, madvise
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

#if defined(__GLIBC__)
#    include <malloc.h>
#endif

#include "base/task.h"

// ---- Large blocks
//
// Large blocks are mapped from the operating system, which clears a page when it is first touched,
// so that the page lies on the NUMA node of the worker that touches it first. They begin at a huge
// page, and huge pages are requested where the system grants them: a loop over a dozen arrays of
// many megabytes in small pages misses the TLB all the time. Sanitizer builds use malloc, because
// sanitizers detect accesses beyond a malloc'ed block but not beyond a mapping.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#    define MAPS_LARGE 0
#elif defined(__has_feature)
#    if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#        define MAPS_LARGE 0
#    endif
#endif
#if !defined(MAPS_LARGE)
#    if defined(__linux__)
#        define MAPS_LARGE 1
#    else
#        define MAPS_LARGE 0
#    endif
#endif

#if MAPS_LARGE
#    include <sys/mman.h>
#    include <unistd.h>

// PAGE is the largest base page size of any supported machine; with a larger one munmap would fail.
#    if defined(TAUT_GUARD_LISTS)
enum { HUGE_PAGE = 1 << 21, PAGE = 1 << 16, LARGE = PAGE }; // so that small scenes test it
#    else
enum { HUGE_PAGE = 1 << 21, PAGE = 1 << 16, LARGE = 2 * HUGE_PAGE };
#    endif

// Offset of the block within its mapping, a multiple of two base pages. If all blocks in huge pages
// began at the same offset, they would compete for the same eighth of the second-level cache.
static size_t offset_in(uintptr_t mapping)
{
    uint32_t hash = (uint32_t)(mapping / HUGE_PAGE) * UINT32_C(0x9E3779B1);
    return (size_t)(hash >> 28) * 8192;
}

static size_t mapped_bytes(uintptr_t mapping, size_t bytes)
{
    return (offset_in(mapping) + bytes + PAGE - 1) / PAGE * PAGE;
}

static void *map_large(size_t bytes)
{
    // Space for the offset, for whole pages, and for alignment to a huge page; the rest is
    // unmapped.
    if (bytes > SIZE_MAX - 3 * (size_t)HUGE_PAGE)
        return NULL;
    size_t reserved = (bytes / PAGE + 1) * PAGE + 2 * (size_t)HUGE_PAGE;
    char *begin = mmap(NULL, reserved, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (begin == MAP_FAILED)
        return NULL;
    size_t before = (HUGE_PAGE - (uintptr_t)begin % HUGE_PAGE) % HUGE_PAGE;
    char *mapping = begin + before;
    size_t mapped = mapped_bytes((uintptr_t)mapping, bytes);
    if (before > 0)
        munmap(begin, before);
    munmap(mapping + mapped, reserved - before - mapped);
#    if defined(MADV_HUGEPAGE)
    madvise(mapping, mapped, MADV_HUGEPAGE); // failure costs only speed
#    endif
    return mapping + offset_in((uintptr_t)mapping);
}

static void unmap_large(void *block, size_t bytes)
{
    uintptr_t mapping = (uintptr_t)block / HUGE_PAGE * HUGE_PAGE;
    munmap((char *)block - offset_in(mapping), mapped_bytes(mapping, bytes));
}

static bool is_large(size_t bytes)
{
    return bytes >= LARGE;
}

static void forbid_huge_pages(char *begin, char *end)
{
#    if defined(MADV_NOHUGEPAGE)
    const size_t before = (PAGE - (uintptr_t)begin % PAGE) % PAGE;
    const size_t bytes = (size_t)(end - begin);
    if (bytes > before + PAGE)
        madvise(begin + before, (bytes - before) / PAGE * PAGE, MADV_NOHUGEPAGE);
#    endif
}

// The pages that lie within [begin, end).
static void change_pages(char *begin, char *end, bool forget)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    char *const first = begin + (page - (uintptr_t)begin % page) % page;
    char *const last = end - (uintptr_t)end % page;
    if (first >= last)
        return;
#    if defined(TAUT_GUARD_LISTS)
    mprotect(first, (size_t)(last - first), forget ? PROT_NONE : PROT_READ | PROT_WRITE);
#    else
    if (forget)
        madvise(first, (size_t)(last - first), MADV_DONTNEED); // failure costs only memory
#    endif
}
#else
static void *map_large(size_t bytes)
{
    (void)bytes;
    return NULL;
}

static void unmap_large(void *block, size_t bytes)
{
    (void)block;
    (void)bytes;
}

static bool is_large(size_t bytes)
{
    (void)bytes;
    return false;
}

static void forbid_huge_pages(char *begin, char *end)
{
    (void)begin;
    (void)end;
}

static void change_pages(char *begin, char *end, bool forget)
{
    (void)begin;
    (void)end;
    (void)forget;
}
#endif

// ---- Blocks

// Blocks of this size and larger begin at a page boundary, so that callers with several arrays can
// determine their relative alignment in the first-level cache.
enum { PAGED = 1 << 16, SMALL_PAGE = 4096 };

static void *allocate_aligned(void *context, size_t bytes, size_t alignment)
{
    (void)context;
    if (is_large(bytes)) // aligned more strictly than any caller asks
        return map_large(bytes);
    if (bytes >= PAGED && alignment < SMALL_PAGE)
        alignment = SMALL_PAGE;
    size_t rounded = (bytes + alignment - 1) / alignment * alignment;
    return rounded < bytes ? NULL : aligned_alloc(alignment, rounded);
}

static void release_aligned(void *context, void *block, size_t bytes)
{
    (void)context;
    if (is_large(bytes))
        unmap_large(block, bytes);
    else
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

// The result is never zero, so that NULL always means failure.
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
    if (task_is_cancelled() || !size_multiply(count, size, &bytes))
        return NULL;
    bytes = block_bytes(count, size);
    void *block = allocator->allocate(allocator->context, bytes, MEMORY_ALIGNMENT);
    bool clear = allocator->allocate == allocate_aligned && is_large(bytes); // already zeroed by
                                                                             // the system
    if (block && !clear)
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

void memory_sparse(void *block, size_t bytes, size_t first, size_t end)
{
    if (is_large(bytes) && first < end)
        forbid_huge_pages((char *)block + first, (char *)block + end);
}

static bool is_own_mapping(const taut_allocator *allocator, size_t bytes)
{
    return (!allocator || allocator->allocate == allocate_aligned) && is_large(bytes);
}

void memory_forget(const taut_allocator *allocator, void *block, size_t bytes, size_t first,
                   size_t end)
{
    if (is_own_mapping(allocator, bytes) && first < end)
        change_pages((char *)block + first, (char *)block + end, true);
}

void memory_recall(const taut_allocator *allocator, void *block, size_t bytes, size_t first,
                   size_t end)
{
    if (is_own_mapping(allocator, bytes) && first < end)
        change_pages((char *)block + first, (char *)block + end, false);
}

void memory_release(const taut_allocator *allocator, void *block, size_t count, size_t size)
{
    if (!block)
        return;
    if (!allocator)
        allocator = &memory_default_allocator;
    allocator->release(allocator->context, block, block_bytes(count, size));
}

void memory_trim(void)
{
#if defined(__GLIBC__)
    malloc_trim(0);
#endif
}

bool array_reserve(void **array, size_t *capacity, size_t needed, size_t size)
{
    if (needed <= *capacity)
        return true;
    if (task_is_cancelled())
        return false;
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
