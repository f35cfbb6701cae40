#if defined(__x86_64__)
#    define TAUT_WIDE_ISA     3
#    define FACE_GRID_KERNEL  REAL_NAME(face_grid_v3)
#    define FACE_CARRY_KERNEL REAL_NAME(face_carry_v3)
#    define RING_TILE_KERNEL  REAL_NAME(ring_tile_v3)
#    define RING_PUSH_KERNEL  REAL_NAME(ring_push_v3)
#    include "kernels/face_grid_body.h"
#    include "kernels/rings_body.h"
#else
typedef int no_such_instruction_set; // a file must not be empty
#endif
