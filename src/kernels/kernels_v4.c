// The kernels for AVX-512 (x86-64-v4); CMake compiles this file with the options of that set.
#if defined(__x86_64__)
#    define TAUT_WIDE_ISA 4
#    define KERNELS_TABLE REAL_NAME(kernels_v4)
#    include "kernels/table.h"
#else
typedef int no_such_instruction_set; // a file must not be empty
#endif
