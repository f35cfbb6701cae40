// What contact between surfaces reports, independent of the precision.
#ifndef TAUT_CONTACT_SURFACE_REPORT_H
#define TAUT_CONTACT_SURFACE_REPORT_H

#include <stddef.h>
#include <stdint.h>

// Two triangles that cross, in the present state, by the bodies' numbers of faces.
struct surface_crossing {
    size_t bodies[2];
    uint32_t nodes[2][3]; // internal numbers
};

// Steps of which the motion was cut, and those in which nodes with a prescribed motion left no way
// to keep surfaces apart.
struct surface_cuts {
    uint64_t steps, unresolved;
};

#endif
