// How many bytes a step must move between the memory and the cores if no cache outlasts a sweep
// over the nodes: what `taut bench` divides by the time, and sets beside the measured bandwidth.
//
// A sweep reads or writes each array that it touches once; what it puts down and takes up again
// meanwhile (records of a tile, sums of a chunk) stays near. Counted is what the kernels in use
// touch:
//
//   on a grid     positions and velocities read and written, inverse masses; where a tile's rows
//                 wait for those of its neighbours, their sums and the reactions on them put down
//                 and taken up, and the state read again
//   packed        two sweeps: the springs read positions, velocities where some spring is damped,
//                 and the columns, and add to the forces; the motion reads all of it, and leaves
//                 forces of 0. Gas: the gradient of the volume, written and read
//   plain loops   four sweeps: forces cleared, springs, gravity, motion; the lists
//   faces         wind on cloths: positions, velocities where it is relative, inverse masses, and
//                 forces changed, which the motion then reads and clears; the plain loops and faces
//                 in blocks read their lists besides
//
// For the scenes of benchmarks: symplectic Euler without an account of work, and springs that
// neither break nor yield.
#ifndef TAUT_CLI_BENCH_MODEL_H
#define TAUT_CLI_BENCH_MODEL_H

#include "taut.h"

double bench_model_bytes(const taut_solver *solver);

#endif
