// A cooked scene as others can read it: nodes of one mass, some of them pinned, and springs of a
// few kinds.
#ifndef TAUT_BENCH_PEERS_NETWORK_H
#define TAUT_BENCH_PEERS_NETWORK_H

#include <stdbool.h>

#include "solver/solver.h"

// Writes PREFIX.data, which LAMMPS reads: atoms of type 1, and of type 2 those that are pinned, in
// units in which force is mass times acceleration; one bond type for each pair of stiffness and
// rest length.
taut_status network_write_lammps(const taut_solver *solver, const char *prefix, taut_error *error);

// Writes PREFIX.bin: the numbers of nodes and springs (uint64), dt and the mass of a node (double),
// positions (double), whether pinned (a byte), pairs of nodes (uint32).
taut_status network_write_binary(const taut_solver *solver, const char *prefix, taut_error *error);

#endif
