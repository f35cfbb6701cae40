// The functions that Google Benchmark calls: what each measures of a subject. The context of each
// is a struct subject. Times are wall times that the functions take themselves, so that building a
// scene and changing the number of threads are no part of them.
//
// A scene's counters: springs, nodes, spring_updates/s (forces of single springs evaluated),
// node_updates/s, bytes/spring, and of steps setup_s, GB/s by the model (model.h) and
// share_of_triad.
#ifndef TAUT_BENCH_BENCHMARKS_H
#define TAUT_BENCH_BENCHMARKS_H

#include "bench/shim.h"

// Whole steps: forces, integration and everything between, without output.
void benchmark_step(struct bench_state *state, const void *subject);

// Steps on one thread and on the subject's threads, in turns: speedup, and efficiency = speedup /
// threads. The time is that of all threads. Strong: the same scene. Weak: one thread has
// subject->springs springs, N threads have N times as many.
void benchmark_strong(struct bench_state *state, const void *subject);
void benchmark_weak(struct bench_state *state, const void *subject);

// The share of one stage of whole steps, as thread 0 sees it, waiting at its end included.
void benchmark_stage(struct bench_state *state, const void *subject);

// The volume of the first body, in single precision.
void benchmark_volume(struct bench_state *state, const void *subject);

// Products with the tangent of the forces, in single precision.
void benchmark_tangent(struct bench_state *state, const void *subject);

// The plan of a topology; and a solver from a scene that has been read.
void benchmark_plan(struct bench_state *state, const void *subject);
void benchmark_setup(struct bench_state *state, const void *subject);

// The machine: subject->bandwidth, and the arithmetic peak of subject->isa, on subject->threads.
void benchmark_bandwidth(struct bench_state *state, const void *subject);
void benchmark_peak(struct bench_state *state, const void *subject);

#endif
