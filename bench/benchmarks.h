// The functions that Google Benchmark calls, one for each kind of measurement. The context of each
// is a struct subject. They measure wall time themselves, so that building a scene and changing the
// number of threads are not measured.
//
// Counters of a scene: springs, nodes, spring_updates/s (evaluations of single spring forces),
// node_updates/s, bytes/spring; for steps also setup_s, GB/s by the model (model.h) and
// share_of_triad.
#ifndef TAUT_BENCH_BENCHMARKS_H
#define TAUT_BENCH_BENCHMARKS_H

#include "bench/shim.h"

// Whole steps: forces, integration and everything between, without output.
void benchmark_step(struct bench_state *state, const void *subject);

// Steps on one thread and on the subject's threads, alternating: speedup, and efficiency = speedup
// / threads. The time is that of all threads. Strong: the same scene. Weak: one thread has
// subject->springs springs, N threads have N times as many.
void benchmark_strong(struct bench_state *state, const void *subject);
void benchmark_weak(struct bench_state *state, const void *subject);

// The time of one stage of whole steps, measured on thread 0, including the wait at its end. For
// pressure that is computed in the pass over the springs, it is the time of that pass.
void benchmark_stage(struct bench_state *state, const void *subject);

// The volume of the first body, in single precision.
void benchmark_volume(struct bench_state *state, const void *subject);

// Products with the tangent of the forces, in single precision.
void benchmark_tangent(struct bench_state *state, const void *subject);

// Contact of surfaces, in single precision: making the lists of candidates, and the contacts and
// forces of an evaluation. Counters: triangles, candidates/s (of lists; of forces with touching/s).
void benchmark_contact_lists(struct bench_state *state, const void *subject);
void benchmark_contact_forces(struct bench_state *state, const void *subject);

// Making the plan of a topology; and creating a solver from a scene that has been read.
void benchmark_plan(struct bench_state *state, const void *subject);
void benchmark_setup(struct bench_state *state, const void *subject);

// The machine: subject->bandwidth, and the arithmetic peak of subject->isa, on subject->threads.
void benchmark_bandwidth(struct bench_state *state, const void *subject);
void benchmark_peak(struct bench_state *state, const void *subject);

#endif
