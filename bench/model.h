// How many bytes a step must move between the memory and the cores if no cache outlasts a sweep
// over the nodes: what taut-bench divides by the time, and compares with the measured bandwidth.
//
// A sweep reads or writes each array that it touches once; what it stores and loads again meanwhile
// (records of a tile, sums of a chunk) stays in the cache. Counted is what the kernels in use
// touch:
//
//   on a grid     positions and velocities read and written, inverse masses; where a tile's rows
//                 wait for those of its neighbours, their sums and the reactions on them stored
//                 and loaded, and the state read again
//   packed        two sweeps: the springs read positions, velocities where some spring is damped,
//                 and the columns, and add to the forces; the motion reads all of it, and leaves
//                 forces of 0. Gas: the gradient of the volume, written and read
//   coloured      the same two sweeps, where a node counts once for each block that touches it;
//                 of springs the rest length, the material and the plan's arrays
//   reference     four sweeps: forces cleared, springs, gravity, motion; the lists
//   faces         wind on cloths: positions, velocities where it is relative, inverse masses, and
//                 forces changed, which the motion then reads and clears; the reference and faces
//                 in blocks read their lists besides
//
// Counted for symplectic Euler without the energy budget, springs that neither break nor yield, and
// no colliders. For other integrators and scenes it is a lower bound: what they move beside that is
// not counted.
#ifndef TAUT_BENCH_MODEL_H
#define TAUT_BENCH_MODEL_H

#include "taut.h"

double bench_model_bytes(const taut_solver *solver);

#endif
