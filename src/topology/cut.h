// Removes springs and faces from bodies. Nodes and their numbers do not change.
#ifndef TAUT_TOPOLOGY_CUT_H
#define TAUT_TOPOLOGY_CUT_H

#include "scene/bodies.h"

// `springs` and `faces` are 1 for those to remove, in builder numbering over all bodies. A body
// that loses any lists the remaining ones in their order, with the rest lengths as built. A closed
// body that loses a face becomes open and loses its gas. Returns false if memory runs out; then the
// bodies can only be freed.
bool bodies_cut(struct bodies *bodies, const uint8_t *springs, const uint8_t *faces);

#endif
