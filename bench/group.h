// taut-bench on several ranks (mpirun -n R taut-bench): rank 0 runs Google Benchmark, and the
// others make the solvers that it makes and take part in their steps.
#ifndef TAUT_BENCH_GROUP_H
#define TAUT_BENCH_GROUP_H

#include "bench/subject.h"

// Joins the ranks that mpirun has started; does nothing if there is one. False after an error,
// which is printed.
bool group_begin(void);
void group_end(void);

// The exit code of the lowest rank with another one than 0, whose message rank 0 prints; 0 if there
// is none.
int group_agree(int exit_code);

// On ranks other than 0: takes part in the work of rank 0 with the solvers of these subjects, until
// it calls group_dismiss.
void group_follow(struct subject *const *subjects);
void group_dismiss(void);

// On rank 0: has the others make the solver of a subject too, and divides it. Only one such solver
// at a time; destroying it releases the others.
taut_status group_build(const struct subject *subject, const taut_scene *scene,
                        taut_solver **solver, taut_error *error);

#endif
