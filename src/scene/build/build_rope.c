// Nodes on a line, 0 at `from` and the last at `to`.
#include <assert.h>

#include "scene/build/build.h"

enum { CHAIN, SKIP, ALL };

// Which springs there are: those that have a material and that `links` asks for.
static void count_springs(const struct scene_body *given, uint64_t nodes,
                          struct build_counts *counts)
{
    if (given->kinds[CHAIN].present)
        counts->springs[CHAIN] = nodes - 1;
    if (given->kinds[SKIP].present && nodes > 2)
        counts->springs[SKIP] = nodes - 2;
    if (given->kinds[ALL].present)
        counts->springs[ALL] = nodes * (nodes - 1) / 2;
}

static void link(const struct scene_body *given, const struct grid *grid, struct body *body)
{
    struct spring_writer writer = {body->springs, 0};
    if (given->kinds[CHAIN].present)
        grid_springs(grid, (struct grid_offset){{1, 0, 0}}, &writer);
    if (given->kinds[SKIP].present)
        grid_springs(grid, (struct grid_offset){{2, 0, 0}}, &writer);
    if (given->kinds[ALL].present)
        springs_all(grid->nodes[0], &writer);
    assert(writer.count == body->spring_count);
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

    struct build_counts counts = {.nodes = rope->nodes};
    count_springs(given, rope->nodes, &counts);
    status = build_allocate(build, &counts);
    if (status != TAUT_OK)
        return status;
    for (uint64_t i = 0; i < rope->nodes; i++) {
        double part = (double)i / (double)(rope->nodes - 1);
        vec3_store(body->positions, i, vec3_add(rope->from, vec3_scale(part, along)));
    }
    struct grid grid = {{rope->nodes, 1, 1}};
    link(given, &grid, body);
    return TAUT_OK;
}
