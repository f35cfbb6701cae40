// The number of bytes that a step must move between memory and cores if no cache holds data from
// one sweep over the nodes to the next. taut-bench divides it by the time, and compares the result
// with the measured bandwidth.
//
// A sweep reads or writes each array once; data that it stores and loads again within the sweep
// (records of a tile, sums of a chunk) stays in the cache. The model counts the following accesses:
//
//   on a grid     positions and velocities read and written, inverse masses; where rows of a tile
//                 wait for those of its neighbours, their sums and the reactions on them stored
//                 and loaded, and the state read again
//   packed        two sweeps: the springs read positions, velocities if a spring is damped, and
//                 the columns, and add to the forces; the motion reads everything, and sets the
//                 forces to 0. Gas: the gradient of the volume, written and read
//   coloured      the same two sweeps, where a node counts once for each block that it is in; per
//                 spring the rest length, the material and the plan's arrays
//   reference     four sweeps: forces cleared, springs, gravity, motion; the lists
//   faces         wind on cloths: positions, velocities if it is relative, inverse masses, and
//                 forces changed, which the motion then reads and clears; the reference and faces
//                 in blocks also read their lists
//
// It counts symplectic Euler without the energy budget, springs that neither break nor yield, and
// no colliders. For other integrators and scenes it is a lower bound: their additional traffic is
// not counted.
#ifndef TAUT_BENCH_MODEL_H
#define TAUT_BENCH_MODEL_H

#include "taut.h"

double bench_model_bytes(const taut_solver *solver);

#endif
