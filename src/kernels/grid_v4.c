#if defined(__x86_64__)
#    define TAUT_WIDE_ISA     4
#    define GRID_KERNEL       REAL_NAME(grid_v4)
#    define GRID_POWER_KERNEL REAL_NAME(grid_power_v4)
#    include "kernels/grid_body.h"
#else
typedef int no_such_instruction_set; // a file must not be empty
#endif
