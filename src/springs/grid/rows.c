// Visits the springs of grids by node, as rows (springs/springs.h, "Visits by node"), for the
// bounds of the critical step.
#include "springs/springs.h"

// The nodes along one axis of `size` nodes that have a partner `step` nodes away.
static struct range with_partner(uint64_t size, int step)
{
    uint64_t away = (uint64_t)(step < 0 ? -step : step);
    if (away >= size)
        return (struct range){0, 0};
    return (struct range){step < 0 ? (size_t)away : 0, (size_t)(step > 0 ? size - away : size)};
}

// The number of sides of the box on which a node lies.
static int sides_at(const struct plan_grid *grid, uint64_t i, uint64_t j, uint64_t k)
{
    return is_on_side(i, grid->nx) + is_on_side(j, grid->ny) + is_on_side(k, grid->nz);
}

// Visits springs of a direction at nodes [nodes.first, nodes.end) of row (j, k): those that start
// at these nodes (`forwards`), or those that end there.
static void visit_direction(const struct system *system, const struct plan_grid *grid,
                            const struct direction *direction, bool forwards, const uint64_t row[2],
                            struct range nodes, row_callback visit, void *context)
{
    int sign = forwards ? 1 : -1;
    struct range across_x = with_partner(grid->nx, sign * direction->dx);
    if (!range_has(with_partner(grid->ny, sign * direction->dy), row[0]) ||
        !range_has(with_partner(grid->nz, sign * direction->dz), row[1]))
        return;
    size_t first = nodes.first > across_x.first ? nodes.first : across_x.first;
    size_t end = nodes.end < across_x.end ? nodes.end : across_x.end;
    if (first >= end)
        return;

    uint64_t own = (row[1] * grid->ny + row[0]) * grid->nx + first, index = 0;
    uint64_t lower = own - (forwards ? 0 : (uint64_t)direction->offset);
    const bool numbered = grid->missing || grid->stateful || grid->weighted;
    if (numbered && !direction_find(direction, lower, &index))
        return; // there is one, since the ends are within the grid

    // The first and the last spring of a row may have another material than the others, and join
    // nodes on sides of the box.
    for (uint64_t left = 0; first < end; first += left, own += left, index += left) {
        left = end - first;
        if (grid->weighted && first == across_x.first)
            left = 1;
        else if (grid->weighted && first + 1 < across_x.end && end == across_x.end)
            left = end - 1 - first;
        const uint32_t material = direction_material(direction, index, &left);
        struct spring_row springs = {.first = (size_t)(grid->first_node + own),
                                     .count = (size_t)left,
                                     .apart = sign * direction->offset,
                                     .material = &system->constants->material[material],
                                     .built = (real)direction->rest_length};
        if (grid->weighted)
            springs.outward = sides_at(grid, first, row[0], row[1]) -
                              sides_at(grid, first + (uint64_t)(sign * direction->dx),
                                       row[0] + (uint64_t)(sign * direction->dy),
                                       row[1] + (uint64_t)(sign * direction->dz));
        if (grid->missing) {
            springs.broken = grid_missing(grid, direction) + index;
        } else if (grid->stateful) {
            const uint64_t slot = grid->first_state_index + direction->first_spring + index;
            const struct state *s = system->state;
            springs.broken = s->broken ? s->broken + slot : NULL;
            springs.rest_length = s->rest_length ? s->rest_length + slot : NULL;
        }
        visit(context, &springs);
    }
}

// Visits the springs at nodes first .. end - 1 of one grid.
static void visit_grid(const struct system *system, const struct plan_grid *grid, size_t first,
                       size_t end, row_callback visit, void *context)
{
    for (size_t node = first; node < end;) {
        uint64_t own = node - grid->first_node, i = own % grid->nx;
        uint64_t row[2] = {own / grid->nx % grid->ny, own / grid->nx / grid->ny};
        size_t left = (size_t)(grid->nx - i);
        size_t count = end - node < left ? end - node : left;
        struct range nodes = {(size_t)i, (size_t)i + count};
        for (int d = 0; d < grid->direction_count; d++)
            for (int forwards = 0; forwards < 2; forwards++)
                visit_direction(system, grid, &grid->directions[d], forwards, row, nodes, visit,
                                context);
        node += count;
    }
}

void REAL_NAME(springs_visit_rows)(const struct system *system, struct range nodes,
                                   row_callback visit, void *context)
{
    const struct topology *topology = system->topology;
    for (size_t node = nodes.first; node < nodes.end;) {
        size_t index = topology_body_of_node(topology, node);
        const struct topology_body *body = &topology->bodies[index];
        size_t body_end = (size_t)(body->first_node + body->node_count);
        size_t end = body_end < nodes.end ? body_end : nodes.end;
        const struct plan_grid *grid = plan_grid_of_body(system->plan, index);
        if (grid)
            visit_grid(system, grid, node, end, visit, context);
        node = end;
    }
}

const struct spring_constants *REAL_NAME(springs_row_material)(const struct system *system,
                                                               size_t body, int direction)
{
    const struct plan_grid *grid = plan_grid_of_body(system->plan, body);
    if (!grid || direction >= grid->direction_count)
        return NULL;
    return &system->constants->material[grid->directions[direction].material];
}
