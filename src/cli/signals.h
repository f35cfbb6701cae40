// Signals that ask a run to end, and those that must not end it.
#ifndef TAUT_CLI_SIGNALS_H
#define TAUT_CLI_SIGNALS_H

// Writing to a closed pipe or beyond the limit of file sizes becomes an error of that write (EPIPE,
// EFBIG) instead of the end of the process. For the start of the program.
void signals_ignore_writes(void);

// From now on SIGINT, SIGTERM and SIGHUP are only remembered.
void signals_watch(void);

// The signal that came, the last of several, or 0.
int signals_caught(void);

// How many came.
int signals_count(void);

// "SIGINT", ...
const char *signals_name(int signal_number);

#endif
