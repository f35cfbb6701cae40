#define TAUT_WIDE_ISA 0
#define PACKED_KERNEL REAL_NAME(packed_base)
#include "kernels/packed_body.h"
