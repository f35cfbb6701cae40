// Signals that request the end of a run, and signals that must not end it.
#ifndef TAUT_CLI_SIGNALS_H
#define TAUT_CLI_SIGNALS_H

// Makes writing to a closed pipe or beyond the file size limit an error of that write (EPIPE,
// EFBIG) instead of the end of the process. Called at the start of the program.
void signals_ignore_writes(void);

// Until signals_watch is called, SIGINT, SIGTERM and SIGHUP end the process at once, as one that
// has failed, with a message: there is nothing yet to complete.
void signals_end_setup(void);

// From now on SIGINT, SIGTERM and SIGHUP are only recorded.
void signals_watch(void);

// The last signal received, or 0.
int signals_caught(void);

// The number of signals received.
int signals_count(void);

// "SIGINT", ...
const char *signals_name(int signal_number);

#endif
