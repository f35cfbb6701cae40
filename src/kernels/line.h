// Lines of nodes that are solved beside each other (integrate/lines.h): what the kernel is handed.
// Numeric.
#ifndef TAUT_KERNELS_LINE_H
#define TAUT_KERNELS_LINE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/real.h"

enum { LINE_LANES = 8 };

// A node of eight lines: S^-1 (xx, yy, zz, xy, xz, yz), W to the next node (row after row), and
// what a solve leaves there on its way out. 0 in lanes without a line.
struct line_node {
    real inverse[6][LINE_LANES], link[9][LINE_LANES], half[3][LINE_LANES];
};

// Up to eight lines; node p of a line is starts[lane] + p * step.
struct line_bundle {
    struct line_node *nodes;
    size_t starts[LINE_LANES]; // of all lanes one that is there
    size_t count, length, step;
};

// Sets `to` of the lines' nodes to what solves `from`, or adds it.
typedef void (*line_solve)(const struct line_bundle *bundle, const real *const from[3],
                           real *const to[3], bool add);

#endif
