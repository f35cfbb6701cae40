// Kernels of the instruction set that every machine of the architecture has, the table of plain
// loops, and the choice of the table for an instruction set.
#define TAUT_WIDE_ISA 0
#define KERNELS_TABLE REAL_NAME(kernels_base)
#include "kernels/table.h"

#include "springs/listed/reference.h"

const struct kernels REAL_NAME(kernels_reference) = {
    .name = "reference",
    .grid_finish = REAL_NAME(reference_finish),
    .node_sums = node_sums,
    .node_box = node_box,
    .nodes_near = nodes_near,
};

#if defined(__x86_64__)
extern const struct kernels REAL_NAME(kernels_v3), REAL_NAME(kernels_v4);
#endif

const struct kernels *REAL_NAME(kernels_for)(enum isa isa)
{
    static const struct kernels *const tables[ISA_COUNT] = {
        [ISA_BASE] = &REAL_NAME(kernels_base),
#if defined(__x86_64__)
        [ISA_V3] = &REAL_NAME(kernels_v3),
        [ISA_V4] = &REAL_NAME(kernels_v4),
#endif
    };
    return tables[isa];
}
