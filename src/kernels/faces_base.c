#define TAUT_WIDE_ISA     0
#define FACE_GRID_KERNEL  REAL_NAME(face_grid_base)
#define FACE_CARRY_KERNEL REAL_NAME(face_carry_base)
#define RING_TILE_KERNEL  REAL_NAME(ring_tile_base)
#define RING_PUSH_KERNEL  REAL_NAME(ring_push_base)
#include "kernels/face_grid_body.h"
#include "kernels/rings_body.h"
