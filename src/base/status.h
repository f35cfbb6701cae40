// How a function reports failure: a status code for the program and a message for the user.
#ifndef TAUT_BASE_STATUS_H
#define TAUT_BASE_STATUS_H

#include "taut.h"

#if defined(__GNUC__)
#    define PRINTF_FORMAT(text, first) __attribute__((__format__(__printf__, text, first)))
#else
#    define PRINTF_FORMAT(text, first)
#endif

// Writes the message into `error` (which may be NULL) and returns `code`, so that a failing
// function ends in one line: `return fail(error, TAUT_ERROR_IO, "cannot write '%s': %s", path,
// reason);`.
taut_status fail(taut_error *error, taut_status code, const char *format, ...) PRINTF_FORMAT(3, 4);

// Out of memory, the only failure with a fixed message; `what` names what the memory was for.
taut_status fail_memory(taut_error *error, const char *what);

// Clang's analyser reads one file at a time and would assume that both may return TAUT_OK.
#ifdef __clang_analyzer__
#    define fail(error, code, ...)   ((void)fail(error, code, __VA_ARGS__), (code))
#    define fail_memory(error, what) ((void)fail_memory(error, what), TAUT_ERROR_MEMORY)
#endif

#endif
