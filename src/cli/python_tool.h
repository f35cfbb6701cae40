// Runs the Python tools that are installed with the program (tools/) and draw its measurements.
//
// A tool gets no file names to write to, but descriptors of files that its caller has opened
// (output/file.h), so that a tool that fails leaves no file. What it draws and what its arguments
// mean is left to the caller.
#ifndef TAUT_CLI_PYTHON_TOOL_H
#define TAUT_CLI_PYTHON_TOOL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

// Exit codes of a tool: 0 if it has done everything; this one if a package that it imports is
// missing; otherwise another one, after a line on standard error with the reason.
enum { PYTHON_TOOL_PACKAGE_MISSING = 3 };

struct python_tool {
    const char *script;           // path; python_tool_find
    const char *package;          // Debian package that it needs, "python3-matplotlib"
    const char *const *arguments; // of the script; NULL-terminated
    const int *descriptors;       // which stay open in it, with the same numbers
    size_t descriptor_count;
    double seconds_max; // wall time after which it is killed
    double bytes_min;   // memory required to start it
    // Called from time to time and after each signal: whether to end it. May be NULL.
    bool (*stop)(void *context);
    void *context;
};

// The path of a tool: in the folder that it was installed to, relative to the program, or in the
// build folder beside the program. NULL after writing `error`; the caller frees it.
char *python_tool_find(const char *name, taut_error *error);

// Runs the tool to its end, without standard input and with its messages captured. The interpreter
// is the environment variable TAUT_PYTHON, otherwise `python3` of PATH, or the system's if that one
// does not exist or lacks the package.
taut_status python_tool_run(const struct python_tool *tool, taut_error *error);

#endif
