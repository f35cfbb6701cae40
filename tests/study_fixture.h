// Studies of scenes given as text. For files that test src/study.
#ifndef TAUT_TESTS_STUDY_FIXTURE_H
#define TAUT_TESTS_STUDY_FIXTURE_H

#include "physics.h"

#include "study/study.h"

// No integrators: all. 30 s of budget, two threads.
struct study_options options_of(const enum integrator *integrators, size_t count);

// A study of that text, with nothing left out for want of time: a slow machine must not fail.
struct study *study_of(char *text, struct study_options options);

const struct study_limit *limit_of(const struct study *study, enum integrator integrator);

// That a limit was found, and is that one.
void assert_found(const struct study *study, enum integrator integrator, double expected,
                  double tolerance);

#endif
