// Operating system services: a clock, files named by the user, and child processes.
#ifndef TAUT_BASE_OS_H
#define TAUT_BASE_OS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

// Seconds since a fixed but unknown time. Monotonic: setting the system time does not change it, so
// differences are durations. The resolution is nanoseconds.
double clock_seconds(void);

// Opens a file for reading to its end. Only ordinary files are opened: a named pipe waits for a
// writer that may never come, a terminal waits for input, and a device may never end. Pipes that
// this process inherited open are accepted: /dev/stdin and /dev/fd/N, as the shell's <(...) calls
// them. Returns NULL on failure, with the reason in *reason, which is valid until the next call of
// strerror.
FILE *open_to_read(const char *path, const char **reason);

// Reads a stream to its end into a malloc'ed, NUL-terminated text. Returns false with errno set:
// EFBIG if there are more than `limit` bytes, ENOMEM, or the error of the stream.
bool read_to_end(FILE *stream, size_t limit, char **text, size_t *length);

// Called by programs at their start: from now on malloc gives blocks of a megabyte and more back to
// the system when they are released. As it is, it keeps them once one has been released, and arrays
// that grow leave holes behind; peaks of memory are a tenth higher then.
void process_keep_little_memory(void);

// Waits until a child process ends, whatever signals this one receives. Returns its status as
// waitpid does; -1 if there is no such child.
int process_wait(pid_t child);

#endif
