// A compiled scene in formats for other programs: nodes of equal mass, some of them pinned, and
// springs of a few kinds.
#ifndef TAUT_BENCH_PEERS_NETWORK_H
#define TAUT_BENCH_PEERS_NETWORK_H

#include <stdbool.h>

#include "solver/solver.h"

// Writes PREFIX.data for LAMMPS: atoms of type 1, pinned ones of type 2, in units in which force is
// mass times acceleration; one bond type per pair of stiffness and rest length.
taut_status network_write_lammps(const taut_solver *solver, const char *prefix, taut_error *error);

// Writes PREFIX.bin: the numbers of nodes and springs (uint64), dt and the mass of a node (double),
// positions (double), pinned flags (one byte each), pairs of nodes (uint32).
taut_status network_write_binary(const taut_solver *solver, const char *prefix, taut_error *error);

#endif
