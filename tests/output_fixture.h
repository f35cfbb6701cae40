// A run made in code for the tests of output/: four small bodies of different types, whose values
// follow formulas that a test can repeat; and functions for folders and files.
#ifndef TAUT_TESTS_OUTPUT_FIXTURE_H
#define TAUT_TESTS_OUTPUT_FIXTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/resource.h>

#include "state/frame.h"

enum {
    FIXTURE_TETRAHEDRON, // 4 nodes and an inner one, 7 springs, 4 triangles, a volume
    FIXTURE_ROPE,        // 3 nodes, 2 springs, the second broken
    FIXTURE_RING,        // 4 nodes, 4 springs, 4 edges as faces, an area
    FIXTURE_BOB,         // 2 nodes, nothing else
    FIXTURE_BODY_COUNT,
    FIXTURE_NODE_COUNT = 5 + 3 + 4 + 2,
    FIXTURE_SPRING_COUNT = 7 + 2 + 4
};

struct fixture {
    struct frame frame; // its arrays are the following ones
    struct frame_body bodies[FIXTURE_BODY_COUNT];
    double all_positions[3 * FIXTURE_NODE_COUNT];
    double all_velocities[3 * FIXTURE_NODE_COUNT];
    double all_forces[3 * FIXTURE_NODE_COUNT];
    double all_strains[FIXTURE_SPRING_COUNT];
    uint8_t all_broken[FIXTURE_SPRING_COUNT];
    double volumes[FIXTURE_BODY_COUNT];
    // Per body.
    double *positions[FIXTURE_BODY_COUNT];
    double *velocities[FIXTURE_BODY_COUNT];
    double *forces[FIXTURE_BODY_COUNT];
    double *strains[FIXTURE_BODY_COUNT];
    uint8_t *broken[FIXTURE_BODY_COUNT];
};

// Fills the fixture with the values of frame `frame` (step 10 * frame, time 0.25 * frame).
void fixture_fill(struct fixture *fixture, unsigned frame, bool single);

// Creates TAUT_TEST_OUT/name as an empty folder, and removes an old one first. Asserts.
const char *fixture_folder(const char *name);

// Removes a folder and everything in it, if it exists. Asserts.
void fixture_remove(const char *path);

// A whole file as a null-terminated text, allocated by malloc. Asserts that the file exists.
char *fixture_read(const char *path, size_t *length);
void fixture_write(const char *path, const char *text);

// Asserts that the file contains this text.
void fixture_assert_text(const char *path, const char *expected);

// The largest size to which files grow from now on; RLIM_INFINITY: no limit.
void fixture_limit_file_size(rlim_t bytes);

// FOLDER/name in a static buffer, which the fourth following call overwrites.
const char *fixture_path(const char *folder, const char *name);

bool fixture_exists(const char *path);

// The number of files in a folder.
size_t fixture_count(const char *folder);

// True if a name in the folder ends with .tmp.
bool fixture_has_temporary(const char *folder);

// The output of a command, as text allocated by malloc, and its exit code.
char *fixture_run(const char *command, int *exit_code);

#endif
