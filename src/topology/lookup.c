// Finding things in the topology: a node's body, a spring's ends.
#include "topology/topology.h"

#include "base/search.h"

size_t topology_body_of_node(const struct topology *topology, uint64_t node)
{
    return part_of(&topology->bodies->first_node, sizeof *topology->bodies, topology->body_count,
                   node);
}

bool topology_is_fixed(const struct topology *topology, uint64_t node)
{
    size_t count = (size_t)topology->fixed_count;
    size_t place = first_not_below(topology->fixed, count, node);
    return place < count && topology->fixed[place] == node;
}

struct node_masses topology_masses(const struct topology *topology, uint64_t node, uint64_t end)
{
    const struct topology_body *body = &topology->bodies[topology_body_of_node(topology, node)];
    uint64_t body_end = body->first_node + body->node_count;
    return (struct node_masses){
        .first = node,
        .end = end < body_end ? end : body_end,
        .listed = body->node_mass > 0
                      ? NULL
                      : topology->masses + body->first_mass + (node - body->first_node),
        .each = body->node_mass,
    };
}

size_t topology_body_of_spring(const struct topology *topology, uint64_t spring)
{
    return part_of(&topology->bodies->first_spring, sizeof *topology->bodies, topology->body_count,
                   spring);
}

size_t topology_body_of_face(const struct topology *topology, uint64_t face)
{
    return part_of(&topology->bodies->first_face, sizeof *topology->bodies, topology->body_count,
                   face);
}

struct face topology_body_face(const struct topology *topology, const struct topology_body *body,
                               uint64_t face)
{
    struct face result;
    if (body->is_sheet) {
        struct sheet_face of_body = sheet_face(body->grid[0], face);
        for (int corner = 0; corner < 3; corner++)
            result.nodes[corner] = (uint32_t)(body->first_node + of_body.nodes[corner]);
    } else {
        const uint32_t *listed = topology->faces[body->first_listed_face + face];
        for (int corner = 0; corner < 3; corner++)
            result.nodes[corner] = listed[corner];
    }
    return result;
}

struct face topology_face(const struct topology *topology, uint64_t face)
{
    const struct topology_body *body = &topology->bodies[topology_body_of_face(topology, face)];
    return topology_body_face(topology, body, face - body->first_face);
}

uint64_t topology_spring_outside(const struct topology *topology, uint64_t spring)
{
    if (topology->sorted_count == 0)
        return spring;
    const struct topology_body *body = &topology->bodies[topology_body_of_spring(topology, spring)];
    if (body->direction_count)
        return spring;
    uint64_t own = spring - body->first_spring;
    return body->first_spring + topology->spring_outside[body->first_listed + own];
}

// The direction of a body that has this spring.
static const struct topology_direction *
direction_of(const struct topology *topology, const struct topology_body *body, uint64_t spring)
{
    const struct topology_direction *direction = &topology->directions[body->first_direction];
    const struct topology_direction *last = direction + body->direction_count - 1;
    while (direction < last && direction[1].first_spring <= spring)
        direction++;
    return direction;
}

static struct spring_run listed_spring(const struct topology *topology,
                                       const struct topology_body *body, uint64_t spring)
{
    uint64_t s = body->first_listed + (spring - body->first_spring);
    return (struct spring_run){.first = spring,
                               .count = 1,
                               .a = topology->springs[s][0],
                               .b = topology->springs[s][1],
                               .material = topology_listed_material(topology, s),
                               .rest_length = topology_listed_rest(topology, s)};
}

struct spring_run topology_run(const struct topology *topology, uint64_t spring, uint64_t end)
{
    const struct topology_body *body = &topology->bodies[topology_body_of_spring(topology, spring)];
    if (body->direction_count == 0)
        return listed_spring(topology, body, spring);
    const struct topology_direction *direction = direction_of(topology, body, spring);
    uint64_t left;
    uint64_t lower = direction_lower(&direction->to, spring - direction->first_spring, &left);
    uint64_t a = body->first_node + lower;
    return (struct spring_run){.first = spring,
                               .count = left < end - spring ? left : end - spring,
                               .a = (uint32_t)a,
                               .b = (uint32_t)(a + direction->to.apart),
                               .material = direction->material,
                               .rest_length = direction->rest_length};
}

struct spring_run topology_spring_near(const struct topology *topology, uint64_t spring,
                                       struct spring_run *near)
{
    if (spring < near->first || spring >= near->first + near->count)
        *near = topology_run(topology, spring, topology->spring_count);
    struct spring_run one = *near;
    uint32_t along = (uint32_t)(spring - near->first);
    one.first = spring;
    one.count = 1;
    one.a += along;
    one.b += along;
    return one;
}
