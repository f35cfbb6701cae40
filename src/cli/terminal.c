// Standard streams: messages, the live line, and checking that standard output took all results.
#include "cli/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static bool line_shown;

void terminal_open_missing_streams(void)
{
    for (int stream = 0; stream <= 2; stream++)
        if (fcntl(stream, F_GETFD) == -1 && errno == EBADF)
            (void)open("/dev/null", stream == 0 ? O_WRONLY : O_RDONLY); // gets the lowest free
                                                                        // number, which is `stream`
}

void complain(const char *format, ...)
{
    live_line_clear();
    va_list arguments;
    va_start(arguments, format);
    fputs("taut: ", stderr);
    // NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): clang-tidy 14, of many files at once
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
}

bool live_line_possible(void)
{
    const char *term = getenv("TERM");
    return isatty(STDERR_FILENO) && !(term && strcmp(term, "dumb") == 0);
}

static size_t terminal_width(void)
{
    struct winsize size;
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1)
        return size.ws_col;
    return 80;
}

void live_line(const char *text)
{
    if (!live_line_possible())
        return;
    // The last column stays free: writing into it makes some terminals wrap.
    fprintf(stderr, "\r%.*s\033[K", (int)terminal_width() - 1, text);
    fflush(stderr);
    line_shown = true;
}

void live_line_clear(void)
{
    if (!line_shown)
        return;
    fputs("\r\033[K", stderr);
    fflush(stderr);
    line_shown = false;
}

int output_finish(int code)
{
    bool failed = ferror(stdout) != 0;
    errno = 0;
    if (fflush(stdout) != 0)
        failed = true;
    if (!failed)
        return code;
    complain("cannot write to standard output%s%s", errno ? ": " : "",
             errno ? strerror(errno) : "");
    return code == EXIT_CODE_DONE ? EXIT_CODE_FAILED : code;
}

int exit_code_of(taut_status status)
{
    switch (status) {
    case TAUT_OK:
        return EXIT_CODE_DONE;
    case TAUT_ERROR_ARGUMENT:
    case TAUT_ERROR_SCENE:
    case TAUT_ERROR_UNSUPPORTED:
        return EXIT_CODE_WRONG;
    default:
        return EXIT_CODE_FAILED;
    }
}
