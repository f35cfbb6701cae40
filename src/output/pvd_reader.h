// Reads collections that pvd_write wrote, and nothing else.
#ifndef TAUT_OUTPUT_PVD_READER_H
#define TAUT_OUTPUT_PVD_READER_H

#include <stddef.h>

#include "base/status.h"

// The times (s, ascending) of the frames NAME_000000.vtp, ... of a collection; free() them.
taut_status pvd_read(const char *path, const char *name, double **times, size_t *count,
                     taut_error *error);

#endif
