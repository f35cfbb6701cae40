// Studies of scenes given as text, for the tests of src/study.
#ifndef TAUT_TESTS_STUDY_FIXTURE_H
#define TAUT_TESTS_STUDY_FIXTURE_H

#include "physics.h"

#include "study/study.h"

// Options with these integrators (none: all), a budget of 30 s, and two threads.
struct study_options options_of(const enum integrator *integrators, size_t count);

// A study of that text in which nothing is left out for lack of time: a slow machine must not fail.
struct study *study_of(char *text, struct study_options options);

const struct study_limit *limit_of(const struct study *study, enum integrator integrator);

// Asserts that a limit was found, and its value.
void assert_found(const struct study *study, enum integrator integrator, double expected,
                  double tolerance);

#endif
