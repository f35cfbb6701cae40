// The kernels for AVX2 (x86-64-v3); CMake compiles this file with the options of that set.
#if defined(__x86_64__)
#    define TAUT_WIDE_ISA 3
#    define KERNELS_TABLE REAL_NAME(kernels_v3)
#    include "kernels/table.h"
#else
typedef int no_such_instruction_set; // a file must not be empty
#endif
