// The three standard streams: results on standard output, all else on standard error.
#ifndef TAUT_CLI_TERMINAL_H
#define TAUT_CLI_TERMINAL_H

#include <stdbool.h>

#include "base/status.h"

// Exit codes, as docs/cli.md promises them.
enum exit_code {
    EXIT_CODE_DONE = 0,
    EXIT_CODE_FAILED = 1, // the run failed: what and where has been printed
    EXIT_CODE_WRONG = 2,  // wrong usage or scene
};

// Opens what the caller closed (taut >&-), so that no file of ours can take the place of a standard
// stream; writing there fails, as it should.
void terminal_hold_streams(void);

// "taut: TEXT" and a newline on standard error, which a live line is cleared away for.
void complain(const char *format, ...) PRINTF_FORMAT(1, 2);

// A line on standard error that the next one replaces: cut to the width of the terminal. Nothing
// happens where standard error is no terminal.
void live_line(const char *text);
void live_line_clear(void);
bool live_line_possible(void);

// Ends the results: EXIT_CODE_FAILED, with a complaint, where standard output did not take all of
// it; else `code`.
int output_finish(int code);

// The exit code that a failure of the library means.
int exit_code_of(taut_status status);

#endif
