// Signals that ask a run to end, and those that must not end it.
#ifndef TAUT_CLI_SIGNALS_H
#define TAUT_CLI_SIGNALS_H

// Writing to a closed pipe or beyond the limit of file sizes becomes an error of that write (EPIPE,
// EFBIG) instead of the end of the process. For the start of the program.
void signals_ignore_writes(void);

// From now on SIGINT, SIGTERM and SIGHUP are only remembered.
void signals_watch(void);

// The signal that came, or 0.
int signals_caught(void);

// "SIGINT", ...
const char *signals_name(int signal_number);

#endif
