// Opening a file that a user names, to read it to its end.
#ifndef TAUT_BASE_OPEN_H
#define TAUT_BASE_OPEN_H

#include <stdio.h>

// Ordinary files alone: a named pipe waits for a writer who may never come, a terminal for somebody
// to type, and a device may never end. An exception are pipes that this process was given open:
// /dev/stdin and /dev/fd/N, as the shell's <(...) calls them. NULL with the reason in *reason, a
// text that stays until the next call to strerror.
FILE *open_to_read(const char *path, const char **reason);

#endif
