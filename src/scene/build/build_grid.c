// Springs of rows, grids and lattices: runs of nodes that are a constant offset apart.
#include <assert.h>
#include <stdlib.h>

#include "scene/build/build.h"

// The nodes along one axis from which a step of `step` stays inside: [*first, *first + count).
static uint64_t run_of_starts(uint64_t nodes, int step, uint64_t *first)
{
    uint64_t reach = (uint64_t)abs(step);
    *first = step < 0 ? reach : 0;
    return nodes > reach ? nodes - reach : 0;
}

uint64_t grid_spring_count(const struct grid *grid, struct grid_offset offset)
{
    uint64_t count = 1, first;
    for (int axis = 0; axis < 3; axis++)
        count *= run_of_starts(grid->nodes[axis], offset.steps[axis], &first);
    return count;
}

void grid_springs(const struct grid *grid, struct grid_offset offset, struct spring_writer *writer)
{
    uint64_t nx = grid->nodes[0], ny = grid->nodes[1];
    uint64_t first[3], count[3];
    for (int axis = 0; axis < 3; axis++)
        count[axis] = run_of_starts(grid->nodes[axis], offset.steps[axis], &first[axis]);
    if (count[0] == 0 || count[1] == 0 || count[2] == 0)
        return;
    int64_t apart =
        offset.steps[0] + (int64_t)nx * (offset.steps[1] + (int64_t)ny * offset.steps[2]);
    assert(apart > 0);
    for (uint64_t k = first[2]; k < first[2] + count[2]; k++)
        for (uint64_t j = first[1]; j < first[1] + count[1]; j++) {
            uint64_t row = (k * ny + j) * nx;
            for (uint64_t i = first[0]; i < first[0] + count[0]; i++)
                spring_write(writer, row + i, row + i + (uint64_t)apart);
        }
}

void springs_all(uint64_t nodes, struct spring_writer *writer)
{
    for (uint64_t a = 0; a < nodes; a++)
        for (uint64_t b = a + 1; b < nodes; b++)
            spring_write(writer, a, b);
}

taut_status check_link_all(struct build *build, uint64_t nodes, size_t all_kind)
{
    const struct scene_body *given = build->given;
    if (!given->kinds[all_kind].present)
        return TAUT_OK;
    for (size_t kind = 0; kind < SPRING_KINDS_MAX; kind++)
        if (kind != all_kind && given->kinds[kind].present)
            return build_refuse(build, given->at,
                                "springs 'all' of body '%s' join each node with each already: "
                                "leave out '%s'",
                                given->name, spring_kind_name(given->type, kind));
    if (nodes > LINK_ALL_NODES_MAX)
        return build_refuse(build, given->at,
                            "springs 'all' join each node with each: body '%s' of %llu nodes is "
                            "more than the %d that this is allowed for",
                            given->name, (unsigned long long)nodes, (int)LINK_ALL_NODES_MAX);
    return TAUT_OK;
}
