// Bodies without some of their springs and faces. The nodes stay, and so do their numbers.
#ifndef TAUT_TOPOLOGY_CUT_H
#define TAUT_TOPOLOGY_CUT_H

#include "scene/bodies.h"

// `springs` and `faces` are 1 where one goes, by the builders' numbers over all bodies. A body that
// loses any lists the others from now on, in their order, with the rest lengths as built; a closed
// one that loses a face is open, and its gas is gone. False without memory: then the bodies can
// only be freed.
bool bodies_cut(struct bodies *bodies, const uint8_t *springs, const uint8_t *faces);

#endif
