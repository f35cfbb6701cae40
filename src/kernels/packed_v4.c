#if defined(__x86_64__)
#    define TAUT_WIDE_ISA        4
#    define PACKED_KERNEL        REAL_NAME(packed_v4)
#    define PACKED_VOLUME_KERNEL REAL_NAME(packed_volume_v4)
#    include "kernels/packed_body.h"

#    include "kernels/packed_volume_body.h"
#else
typedef int no_such_instruction_set; // a file must not be empty
#endif
