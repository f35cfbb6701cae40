// Compiles all kernels for one instruction set. The file that includes this (kernels_base.c,
// kernels_v3.c, kernels_v4.c) defines TAUT_WIDE_ISA and KERNELS_TABLE, the name of the table.
#include "kernels/kernels.h"

#include "springs/grid/force_body.h"
#include "faces/wind_body.h"
#include "springs/grid/elements_body.h"
#include "springs/grid/cloth_body.h"
#include "springs/grid/constraint_body.h"
#include "springs/grid/tangent_body.h"
#include "springs/packed/force_body.h"
#include "springs/packed/tangent_body.h"
#include "springs/listed/coloured_body.h"
#include "faces/gas_body.h"
#include "elements/sheet_body.h"
#include "elements/solid_body.h"
#include "elements/triangle_body.h"
#include "elements/fold_body.h"
#include "contact/near_body.h"
#include "contact/touch_body.h"
#include "contact/candidates_body.h"
#include "contact/barrier_body.h" // uses that
#include "forces/node_sums_body.h"

extern const struct kernels KERNELS_TABLE;

const struct kernels KERNELS_TABLE = {
    .name = "packed",
    .grid_pass = grid_pass,
    .grid_elements = grid_elements,
    .grid_finish = grid_finish,
    .grid_cloth = grid_cloth,
    .grid_power = grid_power,
    .grid_overstrained = grid_overstrained,
    .grid_constraints = grid_constraints,
    .grid_tangent = grid_tangent,
    .line_solve = line_solve,
    .packed_forces = packed_forces,
    .packed_volume = packed_volume,
    .packed_tangent = packed_tangent,
    .coloured_forces = coloured_forces,
    .wind_grid = wind_grid,
    .wind_row_above = wind_row_above,
    .ring_volume = ring_volume,
    .gas_force = gas_force,
    .element_sheet = element_sheet,
    .element_solid = element_solid,
    .element_triangles = element_triangles,
    .fold_strains = fold_strains,
    .fold_forces = fold_forces,
    .node_sums = node_sums,
    .node_box = node_box,
    .displacement_box = displacement_box,
    .nodes_near = nodes_near,
    .touch_forces = touch_forces,
    .touch_project = touch_project,
    .touch_rests = TAUT_WIDE_ISA >= 3,
    .surface_box = surface_box,
    .candidate_boxes = candidate_boxes,
    .boxes_meeting = boxes_meeting,
    .candidates = candidates_find,
    .barrier_forces = barrier_forces,
};
