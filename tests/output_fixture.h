// A run made in code for the tests of output/: four small bodies of every sort, whose values follow
// formulas that a test can repeat, and what those tests do with folders and files.
#ifndef TAUT_TESTS_OUTPUT_FIXTURE_H
#define TAUT_TESTS_OUTPUT_FIXTURE_H

#include <stdbool.h>
#include <stddef.h>

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
    // Of each body.
    double *positions[FIXTURE_BODY_COUNT];
    double *velocities[FIXTURE_BODY_COUNT];
    double *forces[FIXTURE_BODY_COUNT];
    double *strains[FIXTURE_BODY_COUNT];
    uint8_t *broken[FIXTURE_BODY_COUNT];
};

// Fills the fixture as it is at frame `frame` (step 10 * frame, time 0.25 * frame).
void fixture_fill(struct fixture *fixture, unsigned frame, bool single);

// TAUT_TEST_OUT/name, empty and freshly made; removed first if it is there. Asserts.
const char *fixture_folder(const char *name);

// Removes a folder and all that is in it; nothing happens if it is not there. Asserts.
void fixture_remove(const char *path);

// A whole file as a malloc'ed text with a 0 behind it. Asserts that it is there.
char *fixture_read(const char *path, size_t *length);
void fixture_write(const char *path, const char *text);

// FOLDER/name in a static buffer that the fourth call after writes over.
const char *fixture_path(const char *folder, const char *name);

bool fixture_exists(const char *path);

// The files of a folder.
size_t fixture_count(const char *folder);

// True if a name in the folder ends with .tmp.
bool fixture_has_temporary(const char *folder);

// What a command prints, as a malloc'ed text, and its exit code.
char *fixture_run(const char *command, int *exit_code);

#endif
