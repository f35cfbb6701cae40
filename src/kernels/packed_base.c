#define TAUT_WIDE_ISA        0
#define PACKED_KERNEL        REAL_NAME(packed_base)
#define PACKED_VOLUME_KERNEL REAL_NAME(packed_volume_base)
#include "kernels/packed_body.h"

#include "kernels/packed_volume_body.h"
