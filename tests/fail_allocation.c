// Preloaded into a program (LD_PRELOAD): lets one allocation fail, or all from one on, and counts
// them. The test judges the behaviour of the program (test_allocations.py).
//
// FAIL_AT=N: the N-th fails, counted over all threads from 1; 0: none. FAIL_ON=1: those after it
// too. FAIL_COUNT=PATH: the number of allocations is written there at the end.
//
// It stands before the allocator of glibc, whose own names it calls: finding them by dlsym() would
// allocate.
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void *__libc_malloc(size_t size);                     // NOLINT(bugprone-reserved-identifier)
void *__libc_calloc(size_t count, size_t size);       // NOLINT(bugprone-reserved-identifier)
void *__libc_realloc(void *block, size_t size);       // NOLINT(bugprone-reserved-identifier)
void *__libc_memalign(size_t alignment, size_t size); // NOLINT(bugprone-reserved-identifier)

static atomic_ulong count;
static unsigned long at;
static bool on;

// Before main() and after the dynamic linker's own allocations.
__attribute__((constructor)) static void begin(void)
{
    const char *text = getenv("FAIL_AT");
    at = text ? strtoul(text, NULL, 10) : 0;
    on = getenv("FAIL_ON") != NULL;
    atomic_store(&count, 0);
}

__attribute__((destructor)) static void end(void)
{
    char text[32];
    const char *path = getenv("FAIL_COUNT");
    const int length = snprintf(text, sizeof text, "%lu\n", atomic_load(&count));
    const int file = path ? open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666) : -1;
    if (file >= 0 && write(file, text, (size_t)length) != length)
        (void)unlink(path);
    if (file >= 0)
        (void)close(file);
}

static bool fails(void)
{
    const unsigned long number = atomic_fetch_add(&count, 1) + 1;
    if (at == 0 || (on ? number < at : number != at))
        return false;
    errno = ENOMEM;
    return true;
}

void *malloc(size_t size)
{
    return fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t number, size_t size)
{
    return fails() ? NULL : __libc_calloc(number, size);
}

void *realloc(void *block, size_t size)
{
    return fails() ? NULL : __libc_realloc(block, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return fails() ? NULL : __libc_memalign(alignment, size);
}

int posix_memalign(void **block, size_t alignment, size_t size)
{
    if (fails())
        return ENOMEM;
    *block = __libc_memalign(alignment, size);
    return *block ? 0 : ENOMEM;
}
