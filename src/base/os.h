// What the operating system does for us: the time that things take, and files that a user names.
#ifndef TAUT_BASE_OS_H
#define TAUT_BASE_OS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

// Seconds since a fixed but unknown time. Monotonic: setting the machine's clock does not move
// it, so that differences are durations. Resolution of nanoseconds.
double clock_seconds(void);

// Opens a file to read it to its end. Ordinary files alone: a named pipe waits for a writer who may
// never come, a terminal for somebody to type, and a device may never end. An exception are pipes
// that this process was given open: /dev/stdin and /dev/fd/N, as the shell's <(...) calls them.
// NULL with the reason in *reason, a text that stays until the next call to strerror.
FILE *open_to_read(const char *path, const char **reason);

// Reads a stream to its end into a malloc'ed text that ends in NUL. False with errno: EFBIG if
// there are more than `limit` bytes, ENOMEM, or why the stream cannot be read.
bool read_to_end(FILE *stream, size_t limit, char **text, size_t *length);

#endif
