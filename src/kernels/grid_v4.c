#if defined(__x86_64__)
#    define TAUT_WIDE_ISA   4
#    define GRID_NAME(name) REAL_NAME(name##_v4)
#    include "kernels/grid_body.h"
#    include "kernels/grid_finish_body.h"
#    include "kernels/grid_cloth_body.h"
#    include "kernels/grid_power_body.h"
#    include "kernels/node_sums_body.h"
#    include "kernels/contacts_body.h"
#    include "kernels/grid_strain_body.h"
#    include "kernels/links_body.h"
#else
typedef int no_such_instruction_set; // a file must not be empty
#endif
