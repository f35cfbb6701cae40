#if defined(__x86_64__)
#    define TAUT_WIDE_ISA        3
#    define PACKED_KERNEL        REAL_NAME(packed_v3)
#    define PACKED_VOLUME_KERNEL REAL_NAME(packed_volume_v3)
#    include "kernels/packed_body.h"

#    include "kernels/packed_volume_body.h"
#else
typedef int no_such_instruction_set; // a file must not be empty
#endif
