// A network as a mesh file might have it: the nodes and springs of a lattice as plain lists.
#ifndef TAUT_CLI_BENCH_NETWORK_H
#define TAUT_CLI_BENCH_NETWORK_H

#include "scene/scene.h"

// Replaces the lists of a network (whose first material all springs get) by those of a lattice of
// side^3 nodes with 26 neighbours. `shuffled`: nodes are renumbered and springs reordered at
// random, always in the same way. `holes`: one spring of ten is left out at random. False, with the
// lists whole, without memory.
bool bench_network_fill(struct scene_network *network, uint64_t side, bool shuffled, bool holes);

#endif
