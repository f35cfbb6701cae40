// Sequences of calls of taut.h, read from bytes: a program may call its functions in any order,
// with any values. Used by test_calls.c, with random bytes, and by fuzz_calls.c.
#ifndef TAUT_TESTS_CALLS_FIXTURE_H
#define TAUT_TESTS_CALLS_FIXTURE_H

#include <stddef.h>
#include <stdint.h>

// The number of scenes that the first byte chooses from.
extern const size_t calls_scene_count;

// Makes the calls on two solvers with one and with three threads, and from the first checkpoint on
// on a third one that was restored from it. All must return the same, and have the same state,
// energies and steps. NULL, or what differed: static text.
const char *calls_make(const uint8_t *bytes, size_t size);

#endif
