#define TAUT_WIDE_ISA    0
#define FACE_GRID_KERNEL REAL_NAME(face_grid_base)
#include "kernels/face_grid_body.h"
