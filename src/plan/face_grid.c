// Finds cloths whose faces are two triangles a cell of their grid of nodes. Nothing is taken on
// trust from the builder: every face is looked at.
#include "plan/plan.h"

// Rows shorter than this are left to blocks, as in grid.c.
enum { ROW_MIN = 4 };

static bool is_face(const struct topology *topology, uint64_t face, uint64_t a, uint64_t b,
                    uint64_t c)
{
    const uint32_t *nodes = topology->faces[face];
    return nodes[0] == a && nodes[1] == b && nodes[2] == c;
}

// Cell by cell along rows: (a, b, d) and (a, d, c), b after a in the row and c, d above them.
bool face_grid_find(const struct topology *topology, size_t index, struct plan_face_grid *grid)
{
    const struct topology_body *body = &topology->bodies[index];
    uint64_t nx = body->grid[0], ny = body->grid[1];
    *grid = (struct plan_face_grid){index, body->first_node, nx, ny};
    if (body->grid[2] != 1 || nx < ROW_MIN || ny < 2 || nx * ny != body->node_count ||
        body->face_count != 2 * (nx - 1) * (ny - 1))
        return false;
    uint64_t face = body->first_face;
    for (uint64_t j = 0; j + 1 < ny; j++)
        for (uint64_t i = 0; i + 1 < nx; i++, face += 2) {
            uint64_t a = body->first_node + j * nx + i, c = a + nx;
            if (!is_face(topology, face, a, a + 1, c + 1) ||
                !is_face(topology, face + 1, a, c + 1, c))
                return false;
        }
    return true;
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
