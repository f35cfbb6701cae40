// The frames that taut render draws, simulated now or read from a finished run. Drawing them is
// left to render.c.
#ifndef TAUT_CLI_FRAME_SOURCE_H
#define TAUT_CLI_FRAME_SOURCE_H

#include "cli/frame_reader.h"
#include "cli/render_plan.h"
#include "picture/subject.h"

struct frame_source {
    struct frame_reader reader;
    struct subject subject;
    struct frame frame; // the frame read last
    unsigned fields;    // the fields of it that are read
    char *name;         // of the scene
};

// Reads the scene, or the run. Returns an exit code, after printing what is wrong. Call
// frame_source_close in either case.
int frame_source_open(const struct options *options, struct frame_source *source);

struct render_span frame_source_span(const struct frame_source *source);

// Reads the frame nearest to a time into source->frame. Times must not descend, except after
// frame_source_rewind.
taut_status frame_source_read(struct frame_source *source, double time, taut_error *error);

// Returns to the beginning.
taut_status frame_source_rewind(struct frame_source *source, taut_error *error);

void frame_source_close(struct frame_source *source);

// Fails if a signal has requested the end.
taut_status frame_source_interrupted(taut_error *error);

#endif
