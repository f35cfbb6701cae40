#if defined(__x86_64__)
#    define TAUT_WIDE_ISA      4
#    define TANGENT_NAME(name) REAL_NAME(name##_v4)
#    include "kernels/line_body.h"
#    include "kernels/tangent_grid_body.h"
#    include "kernels/tangent_packed_body.h"
#else
typedef int no_such_instruction_set; // a file must not be empty
#endif
