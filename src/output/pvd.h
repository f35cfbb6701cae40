// The collection of the .vtp frames of a run (.pvd), which is opened in ParaView: writing, and
// reading what pvd_write wrote.
#ifndef TAUT_OUTPUT_PVD_H
#define TAUT_OUTPUT_PVD_H

#include <stddef.h>

#include "base/status.h"

// Writes an empty collection, which must not exist yet.
taut_status pvd_create(const char *path, const char *name, taut_error *error);

// Replaces the collection, completely or not at all, by one of the frames NAME_000000.vtp,
// NAME_000001.vtp, ... in its own folder, one for each of the times (s).
taut_status pvd_write(const char *path, const char *name, const double *times, size_t count,
                      taut_error *error);

// ---- Reading.

// Reads the times (s, ascending) of the frames NAME_000000.vtp, ... of a collection; free() them.
taut_status pvd_read(const char *path, const char *name, double **times, size_t *count,
                     taut_error *error);

#endif
