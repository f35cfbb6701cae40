// Runs the Python tools that come with the program (tools/), which draw what it has measured.
//
// A tool is given no names to write to but descriptors of files that its caller has begun
// (output/file.h), so that a tool that fails leaves no file. What it draws, and what its arguments
// mean, is up to the caller.
#ifndef TAUT_CLI_PYTHON_TOOL_H
#define TAUT_CLI_PYTHON_TOOL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

// A tool ends with 0 where it has done all it was asked for, with this where a package that it
// imports is missing, else with another code after a line on standard error that says why.
enum { PYTHON_TOOL_PACKAGE_MISSING = 3 };

struct python_tool {
    const char *script;           // path; python_tool_find
    const char *package;          // Debian's name of what it imports, "python3-matplotlib"
    const char *const *arguments; // of the script; NULL ends them
    const int *descriptors;       // that stay open in it, under the same numbers
    size_t descriptor_count;
    double seconds_most; // wall time after which it is ended
    double bytes_least;  // memory without which it is not begun
    // Asked now and then, and after each signal: whether to end it. May be NULL.
    bool (*stop)(void *context);
    void *context;
};

// The path of a tool: in the folder that it was installed to, relative to the program, or in the
// build folder beside the program. NULL after writing `error`; the caller frees it.
char *python_tool_find(const char *name, taut_error *error);

// Runs it to its end, with nothing to read and its messages kept. The interpreter is that of the
// environment variable TAUT_PYTHON; without it `python3` of PATH, or the system's where that one
// does not exist or lacks the package.
taut_status python_tool_run(const struct python_tool *tool, taut_error *error);

#endif
