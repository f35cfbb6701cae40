// The clock, opening and reading files, and waiting for child processes (os.h).
#include "base/os.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#if defined(__GLIBC__)
#    include <malloc.h>
#endif

#include "base/memory.h"

double clock_seconds(void)
{
    // POSIX lets this fail only for a clock that does not exist or a bad pointer.
    struct timespec now = {0};
    int failed = clock_gettime(CLOCK_MONOTONIC, &now);
    assert(!failed);
    (void)failed;
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

// ---- Files named by the user

static bool was_given_open(const char *path)
{
    static const char *const beginnings[] = {"/dev/stdin", "/dev/fd/", "/proc/self/fd/"};
    for (size_t i = 0; i < sizeof beginnings / sizeof beginnings[0]; i++)
        if (strncmp(path, beginnings[i], strlen(beginnings[i])) == 0)
            return true;
    return false;
}

// Why a file of this kind is not read; NULL if it is.
static const char *refusal(const char *path, mode_t mode)
{
    if (S_ISREG(mode) || (S_ISFIFO(mode) && was_given_open(path)))
        return NULL;
    return S_ISDIR(mode)    ? strerror(EISDIR)
           : S_ISFIFO(mode) ? "it is a named pipe, not an ordinary file"
           : S_ISSOCK(mode) ? "it is a socket, not an ordinary file"
                            : "it is a device, not an ordinary file";
}

FILE *open_to_read(const char *path, const char **reason)
{
    struct stat status;
    // Without O_NONBLOCK, opening a named pipe would wait for a writer. Reading from a pipe that
    // was inherited open may wait.
    int file = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    // ENXIO: sockets, and devices without a driver.
    bool known = file >= 0 ? fstat(file, &status) == 0 : errno == ENXIO && stat(path, &status) == 0;
    *reason = known ? refusal(path, status.st_mode) : strerror(errno);
    if (!*reason) {
        int flags = fcntl(file, F_GETFL);
        FILE *stream = NULL;
        if (flags >= 0 && fcntl(file, F_SETFL, flags & ~O_NONBLOCK) == 0)
            stream = fdopen(file, "rb");
        if (stream)
            return stream;
        *reason = strerror(errno);
    }
    if (file >= 0)
        (void)close(file);
    return NULL;
}

bool read_to_end(FILE *stream, size_t limit, char **text, size_t *length)
{
    enum { CHUNK = 1 << 16 };
    void *bytes = NULL;
    size_t capacity = 0, filled = 0, got;
    int reason = 0;
    do {
        if (!array_reserve(&bytes, &capacity, filled + CHUNK + 1, 1)) {
            reason = ENOMEM;
            break;
        }
        got = fread((char *)bytes + filled, 1, CHUNK, stream);
        filled += got;
        if (ferror(stream))
            reason = errno;
        else if (filled > limit)
            reason = EFBIG;
    } while (reason == 0 && got == CHUNK);

    if (reason != 0) {
        free(bytes);
        errno = reason;
        return false;
    }
    ((char *)bytes)[filled] = '\0';
    *text = bytes;
    *length = filled;
    return true;
}

// ---- This process

void process_keep_little_memory(void)
{
#if defined(__GLIBC__)
    mallopt(M_MMAP_THRESHOLD, 1 << 20);
#endif
}

// ---- Child processes

int process_wait(pid_t child)
{
    int result = 0;
    while (waitpid(child, &result, 0) < 0)
        if (errno != EINTR)
            return -1;
    return result;
}
