// The positions as built of membranes (topology.h) where ranks hold only their parts: each keeps
// those of the nodes around its own when elements have been made of them, and rank 0 gets the
// others where it makes all elements.
#ifndef TAUT_TOPOLOGY_MEMBRANES_H
#define TAUT_TOPOLOGY_MEMBRANES_H

#include "topology/topology.h"

// How many nodes of membranes there are before a node: its index in membrane_nodes, if it is one.
uint64_t membrane_index(const struct topology *topology, uint64_t node);

// Gives back what membrane_nodes take of nodes outside [first, end). Until membranes_recall, and
// until all are there again, triangles with such nodes may not be looked at.
void membranes_forget(struct topology *topology, uint64_t first, uint64_t end);
void membranes_recall(struct topology *topology);

#endif
