// The collection of a run's .vtp frames (.pvd), which is what one opens in ParaView.
#ifndef TAUT_OUTPUT_PVD_H
#define TAUT_OUTPUT_PVD_H

#include <stddef.h>

#include "base/status.h"

// Writes an empty collection, where nothing is yet.
taut_status pvd_create(const char *path, const char *name, taut_error *error);

// Writes in its place, whole or not at all, a collection of the frames NAME_000000.vtp,
// NAME_000001.vtp, ... in the collection's own folder, one for each of the times (s).
taut_status pvd_write(const char *path, const char *name, const double *times, size_t count,
                      taut_error *error);

#endif
