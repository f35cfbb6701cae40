// The three standard streams: results go to standard output, everything else to standard error.
#ifndef TAUT_CLI_TERMINAL_H
#define TAUT_CLI_TERMINAL_H

#include <stdbool.h>

#include "base/status.h"

// Exit codes, as documented in docs/cli.md.
enum exit_code {
    EXIT_CODE_DONE = 0,
    EXIT_CODE_FAILED = 1,   // the run failed; what and where has been printed
    EXIT_CODE_WRONG = 2,    // wrong usage or scene
    EXIT_CODE_CROSSING = 3, // taut check-intersections: there are crossing pairs
};

// Opens standard streams that the caller closed (taut >&-), so that no file of ours takes their
// descriptors; writing to them then fails, as it should.
void terminal_open_missing_streams(void);

// Prints "taut: TEXT" and a newline on standard error, after clearing a live line.
void complain(const char *format, ...) PRINTF_FORMAT(1, 2);

// A line on standard error that the next one replaces, cut to the width of the terminal. No effect
// if standard error is not a terminal.
void live_line(const char *text);
void live_line_clear(void);
bool live_line_possible(void);

// Ends the results. Returns EXIT_CODE_FAILED, after a complaint, if standard output did not take
// all of them; otherwise `code`.
int output_finish(int code);

// The exit code for a failure of the library.
int exit_code_of(taut_status status);

#endif
