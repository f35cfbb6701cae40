// Finds cloths whose faces kernels can compute by rows.
#include "plan/plan.h"

// Rows shorter than this are left to blocks, as in grid.c.
enum { ROW_MIN = 4 };

bool face_grid_find(const struct topology *topology, size_t index, struct plan_face_grid *grid)
{
    const struct topology_body *body = &topology->bodies[index];
    *grid = (struct plan_face_grid){index, body->first_node, body->grid[0], body->grid[1]};
    return body->is_sheet && body->grid[0] >= ROW_MIN;
}

const struct plan_face_grid *plan_face_grid_of_body(const struct plan *plan, size_t body)
{
    size_t low = 0, high = plan->face_grid_count; // they stand in the order of their bodies
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (plan->face_grids[middle].body < body)
            low = middle + 1;
        else
            high = middle;
    }
    return low < plan->face_grid_count && plan->face_grids[low].body == body
               ? &plan->face_grids[low]
               : NULL;
}
