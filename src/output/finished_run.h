// The frames of a finished run, read from its folder: from NAME.pvd and NAME_*.vtp (.pvtp) if they
// exist, else from the BODY.pc2 of all bodies, which have no strains.
#ifndef TAUT_OUTPUT_FINISHED_RUN_H
#define TAUT_OUTPUT_FINISHED_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "state/frame.h"

struct finished_body {
    const char *name;
    uint64_t node_count, spring_count;
};

// The system that frames must match: the one that the folder's scene.yaml describes.
struct finished_system {
    const struct finished_body *bodies;
    size_t body_count;
    uint64_t node_count, spring_count;
    double end; // s, the time of the last frame at most
};

struct finished_run {
    struct finished_system system;
    char *folder;
    char *name;               // of the run; NULL if there are only point caches
    double *times;            // s, ascending
    struct pvd_frame *frames; // with these times; NULL: there are only point caches
    size_t frame_count;
    struct pc2_reader *caches; // one per body; NULL: frames are .vtp files
    float *strains;            // of the springs in the file; NULL: not read yet
};

// Whether the path is a folder.
bool finished_run_is_folder(const char *path);

// The path of a run's scene.yaml; NULL after a failure. The caller frees it.
char *finished_run_scene(const char *folder, taut_error *error);

// Opens the run; call finished_run_close after success. The bodies of `system` must outlive it.
taut_status finished_run_open(const char *folder, const struct finished_system *system,
                              struct finished_run *run, taut_error *error);

// The number of the frame nearest to a time.
size_t finished_run_nearest(const struct finished_run *run, double time);

// Reads a frame: its time, drawn_positions or, with FRAME_POSITIONS among `fields`, the positions
// as they are in the files, which in .pc2 files are floats; and, with FRAME_STRAINS among `fields`
// and if the files have them, strains and broken flags of all springs. If the files have the
// springs of some bodies only, the strains of the others are NaN: they follow from the positions.
// Fields that the files do not have are not among the frame's fields.
taut_status finished_run_read(struct finished_run *run, size_t number, unsigned fields,
                              struct frame *frame, taut_error *error);

void finished_run_close(struct finished_run *run);

#endif
