// The collection of the .vtp frames of a run (.pvd), which is opened in ParaView: writing, and
// reading what pvd_write wrote.
#ifndef TAUT_OUTPUT_PVD_H
#define TAUT_OUTPUT_PVD_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

struct pvd_frame {
    double time;    // s
    bool in_pieces; // .pvtp instead of .vtp
};

// The ending of its file.
const char *pvd_frame_ending(const struct pvd_frame *frame);

// Writes an empty collection, which must not exist yet.
taut_status pvd_create(const char *path, const char *name, taut_error *error);

// Replaces the collection, completely or not at all, by one of the frames NAME_000000.vtp,
// NAME_000001.vtp, ... in its own folder.
taut_status pvd_write(const char *path, const char *name, const struct pvd_frame *frames,
                      size_t count, taut_error *error);

// ---- Reading.

// Reads the frames NAME_000000.vtp, ... of a collection, whose times ascend; free() them.
taut_status pvd_read(const char *path, const char *name, struct pvd_frame **frames, size_t *count,
                     taut_error *error);

#endif
