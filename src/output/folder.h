// The folder of a run before the run: created, and cleared of an earlier run where that is wished.
//
// Files that taut did not write are never removed and never written over: each file of ours is
// known by its name and by how its text begins.
#ifndef TAUT_OUTPUT_FOLDER_H
#define TAUT_OUTPUT_FOLDER_H

#include "output/recording.h"

// How every scene.yaml of ours begins.
#define SCENE_YAML_OPENING "# taut: the scene of this run, resolved.\n"

// Creates the folder with its parents and makes room for the files that recording_open and
// recording_frame are going to write there. An earlier run is an error without options->force, and
// is removed with it.
taut_status folder_prepare(const struct recording_options *options, const struct snapshot *first,
                           taut_error *error);

// Creates a folder with its parents, unless it is there.
taut_status folder_make(const char *path, taut_error *error);

// Fails where there is a file of that path that does not begin as ours do.
taut_status folder_file_ours(const char *path, const char *opening, taut_error *error);

#endif
