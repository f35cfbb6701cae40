// The frames of a scene, which is simulated as far as they are needed, or of a finished run, which
// are read from its folder: for the commands that read frames.
#ifndef TAUT_CLI_FRAME_READER_H
#define TAUT_CLI_FRAME_READER_H

#include "cli/schedule.h"
#include "cli/session.h"
#include "output/finished_run.h"

struct frame_reader {
    struct options options; // of the session; their strings belong to the command
    struct session session;
    struct batch batch;
    double shown; // wall time of the last progress message
    // For a finished run:
    bool is_run;
    char *scene_path;
    struct finished_body *bodies;
    struct finished_run run;
};

// Reads the scene, or the run. `extra` is that of session_open. Returns an exit code, after
// printing what is wrong. Call frame_reader_close in either case.
int frame_reader_open(const struct options *options, const char *command,
                      extra_memory_function extra, struct frame_reader *reader);

// Reads `fields` of the frame nearest to a time. Times must not descend, except after
// frame_reader_rewind.
taut_status frame_reader_read(struct frame_reader *reader, double time, unsigned fields,
                              struct frame *frame, taut_error *error);

// Returns to the beginning.
taut_status frame_reader_rewind(struct frame_reader *reader, taut_error *error);

void frame_reader_close(struct frame_reader *reader);

// Fails if a signal has requested the end.
taut_status frame_reader_interrupted(taut_error *error);

#endif
