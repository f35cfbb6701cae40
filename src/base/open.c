#include "base/open.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool was_given_open(const char *path)
{
    static const char *const beginnings[] = {"/dev/stdin", "/dev/fd/", "/proc/self/fd/"};
    for (size_t i = 0; i < sizeof beginnings / sizeof beginnings[0]; i++)
        if (strncmp(path, beginnings[i], strlen(beginnings[i])) == 0)
            return true;
    return false;
}

// Why a file of that sort is not read; NULL: it is.
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
    // Without O_NONBLOCK opening a pipe would wait; reading from one that was given open may.
    int file = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    *reason = NULL;
    if (file < 0 && errno == ENXIO && stat(path, &status) == 0) // sockets, devices without a driver
        *reason = refusal(path, status.st_mode);
    else if (file < 0 || fstat(file, &status) != 0)
        *reason = strerror(errno);
    else
        *reason = refusal(path, status.st_mode);
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
