// Springs of rows, grids and lattices: directions, and not a spring of them listed. And each with
// each.
#include <assert.h>

#include "scene/build/build.h"

void grid_link(struct grid *grid, size_t kind, const int steps[3])
{
    struct grid_direction to = direction_make(grid->nodes, steps);
    if (direction_springs(&to) == 0)
        return;
    assert(grid->link_count < GRID_LINKS_MAX);
    assert(grid->link_count == 0 || grid->links[grid->link_count - 1].kind <= kind);
    grid->links[grid->link_count].kind = kind;
    grid->links[grid->link_count++].to = to;
}

void grid_count(const struct grid *grid, struct build_counts *counts)
{
    for (size_t i = 0; i < grid->link_count; i++)
        counts->springs[grid->links[i].kind] += direction_springs(&grid->links[i].to);
    counts->directions = grid->link_count;
}

void grid_springs(const struct grid *grid, struct body *body)
{
    uint64_t first = 0;
    for (int axis = 0; axis < 3; axis++)
        body->grid[axis] = grid->nodes[axis];
    for (size_t i = 0; i < body->direction_count; i++) {
        body->directions[i] = (struct body_direction){
            .to = grid->links[i].to, .first_spring = first, .kind = grid->links[i].kind};
        first += direction_springs(&grid->links[i].to);
    }
    assert(body->direction_count == 0 || first == body->spring_count);
}

void springs_all(struct body *body, size_t all_kind)
{
    if (body->kind_start[all_kind] == body->kind_start[all_kind + 1])
        return;
    struct spring_writer writer = {body->springs, 0};
    for (uint64_t a = 0; a < body->node_count; a++)
        for (uint64_t b = a + 1; b < body->node_count; b++)
            spring_write(&writer, a, b);
    assert(writer.count == body->spring_count);
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
