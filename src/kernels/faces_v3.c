#if defined(__x86_64__)
#    define TAUT_WIDE_ISA    3
#    define FACE_GRID_KERNEL REAL_NAME(face_grid_v3)
#    include "kernels/face_grid_body.h"
#else
typedef int no_such_instruction_set; // a file must not be empty
#endif
