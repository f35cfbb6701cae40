// Nodes on a line, 0 at `from` and the last at `to`.
#include "scene/build/build.h"

enum { CHAIN, SKIP, ALL };

// Which springs there are: those that have a material and that `links` asks for.
static void link(const struct scene_body *given, struct grid *grid)
{
    if (given->kinds[CHAIN].present)
        grid_link(grid, CHAIN, (const int[3]){1, 0, 0});
    if (given->kinds[SKIP].present)
        grid_link(grid, SKIP, (const int[3]){2, 0, 0});
}

bool rope_count(const struct scene_body *given, struct grid *grid, struct build_counts *counts)
{
    uint64_t nodes = given->shape.rope.nodes;
    *counts = (struct build_counts){.nodes = nodes};
    *grid = (struct grid){.nodes = {nodes, 1, 1}};
    if (nodes < 2 || nodes > BODY_NODES_MAX)
        return false;
    link(given, grid);
    grid_count(grid, counts);
    if (given->kinds[ALL].present)
        counts->springs[ALL] = all_springs(nodes);
    return true;
}

taut_status build_rope(struct build *build)
{
    const struct scene_body *given = build->given;
    const struct scene_rope *rope = &given->shape.rope;
    struct body *body = build->body;
    vec3 along = vec3_subtract(rope->to, rope->from);
    if (rope->nodes < 2)
        return build_refuse(build, given->at, "rope '%s' needs at least 2 nodes", given->name);
    if (vec3_length(along) == 0.0)
        return build_refuse(build, given->at,
                            "rope '%s' has no length: 'from' and 'to' are the same point",
                            given->name);
    taut_status status = check_link_all(build, rope->nodes, ALL);
    if (status != TAUT_OK)
        return status;

    struct build_counts counts;
    struct grid grid;
    (void)rope_count(given, &grid, &counts); // too many nodes: build_allocate refuses them
    status = build_allocate(build, &counts);
    if (status != TAUT_OK)
        return status;
    for (uint64_t i = 0; i < rope->nodes; i++) {
        double part = (double)i / (double)(rope->nodes - 1);
        vec3_store(body->positions, i, vec3_add(rope->from, vec3_scale(part, along)));
    }
    grid_springs(&grid, body);
    springs_all(body, ALL);
    return TAUT_OK;
}
