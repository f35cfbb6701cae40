#define TAUT_WIDE_ISA   0
#define GRID_NAME(name) REAL_NAME(name##_base)
#include "kernels/grid_body.h"
#include "kernels/grid_finish_body.h"
#include "kernels/grid_cloth_body.h"
#include "kernels/grid_power_body.h"
#include "kernels/node_sums_body.h"
#include "kernels/contacts_body.h"
#include "kernels/grid_strain_body.h"
#include "kernels/links_body.h"
