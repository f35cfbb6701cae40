// Formats the message of a failure (status.h).
#include "base/status.h"

#include <stdarg.h>
#include <stdio.h>

taut_status(fail)(taut_error *error, taut_status code, const char *format, ...)
{
    if (error) {
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(error->text, sizeof error->text, format, arguments);
        va_end(arguments);
        error->code = code;
    }
    return code;
}

taut_status(fail_memory)(taut_error *error, const char *what)
{
    return fail(error, TAUT_ERROR_MEMORY, "out of memory for %s", what);
}

const char *taut_status_text(taut_status status)
{
    switch (status) {
    case TAUT_OK:
        return "ok";
    case TAUT_ERROR_ARGUMENT:
        return "wrong argument";
    case TAUT_ERROR_SCENE:
        return "the scene is not valid";
    case TAUT_ERROR_MEMORY:
        return "out of memory";
    case TAUT_ERROR_IO:
        return "input or output failed";
    case TAUT_ERROR_DIVERGED:
        return "the simulation diverged";
    case TAUT_ERROR_COLLAPSED:
        return "a pressurised body collapsed";
    case TAUT_ERROR_UNSUPPORTED:
        return "not supported on this machine";
    }
    return "unknown status";
}
