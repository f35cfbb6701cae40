// The collection of the .vtp frames of a run (.pvd), which is what one opens in ParaView: written,
// and read back. Only what pvd_write writes is read.
#ifndef TAUT_OUTPUT_PVD_H
#define TAUT_OUTPUT_PVD_H

#include <stddef.h>

#include "base/status.h"

// Writes an empty collection, where nothing is yet.
taut_status pvd_create(const char *path, const char *name, taut_error *error);

// Replaces it, whole or not at all, by a collection of the frames NAME_000000.vtp,
// NAME_000001.vtp, ... in the collection's own folder, one for each of the times (s).
taut_status pvd_write(const char *path, const char *name, const double *times, size_t count,
                      taut_error *error);

// ---- Reading.

// The times (s, ascending) of the frames NAME_000000.vtp, ... of a collection; free() them.
taut_status pvd_read(const char *path, const char *name, double **times, size_t *count,
                     taut_error *error);

#endif
