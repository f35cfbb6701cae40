// Removes springs and faces from bodies. Nodes and their numbers do not change.
#ifndef TAUT_TOPOLOGY_CUT_H
#define TAUT_TOPOLOGY_CUT_H

#include "scene/bodies.h"

// `springs` and `faces` are 1 for those to remove, by the builders' numbers over all bodies. A body
// that loses any lists the rest, in their order, with the rest lengths as built; a closed body that
// loses a face becomes open and loses its gas. False without memory: then the bodies can only be
// freed.
bool bodies_cut(struct bodies *bodies, const uint8_t *springs, const uint8_t *faces);

#endif
