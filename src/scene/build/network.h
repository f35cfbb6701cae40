// Nodes and springs as listed, in the scene (build_network.c) or in two CSV files (network_csv.c).
#ifndef TAUT_SCENE_NETWORK_H
#define TAUT_SCENE_NETWORK_H

#include "scene/build/build.h"

// Fills the body from the two files.
taut_status network_read_files(struct build *build);

// Told of a spring that joins the same two nodes as an earlier one.
typedef void (*twin_function)(void *context, uint64_t spring, uint64_t earlier);

// Tells of the body's springs that are listed twice, at most NETWORK_TWINS_MAX of them:
// TAUT_ERROR_SCENE if there are any.
enum { NETWORK_TWINS_MAX = 20 };
taut_status network_find_twins(struct build *build, twin_function tell, void *context);

#endif
