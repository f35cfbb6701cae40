#define TAUT_WIDE_ISA      0
#define TANGENT_NAME(name) REAL_NAME(name##_base)
#include "kernels/tangent_grid_body.h"
#include "kernels/tangent_packed_body.h"
#include "kernels/line_body.h"
