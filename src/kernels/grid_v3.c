#if defined(__x86_64__)
#    define TAUT_WIDE_ISA     3
#    define GRID_KERNEL       REAL_NAME(grid_v3)
#    define GRID_POWER_KERNEL REAL_NAME(grid_power_v3)
#    include "kernels/grid_body.h"
#else
typedef int no_such_instruction_set; // a file must not be empty
#endif
