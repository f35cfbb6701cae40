#define TAUT_WIDE_ISA     0
#define GRID_KERNEL       REAL_NAME(grid_base)
#define GRID_POWER_KERNEL REAL_NAME(grid_power_base)
#include "kernels/grid_body.h"
