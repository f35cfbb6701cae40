// Plane bodies, their faces the edges of their outline: a ring of nodes and a quadrilateral.
#include <assert.h>

#include "scene/build/build.h"

// The edges of the polygon 0, 1, ..., n - 1 as faces. Those of a body that does not lie in a plane
// z = const are taken away again when it has been placed (enclosure.c).
static void outline(struct body *body)
{
    for (uint64_t i = 0; i < body->node_count; i++) {
        body->faces[2 * i] = (uint32_t)i;
        body->faces[2 * i + 1] = (uint32_t)((i + 1) % body->node_count);
    }
}

// A spring to each next node; the one that closes the ring comes last.
static void chain_around(uint64_t nodes, struct spring_writer *writer)
{
    for (uint64_t i = 0; i + 1 < nodes; i++)
        spring_write(writer, i, i + 1);
    spring_write(writer, 0, nodes - 1);
}

bool ring_count(const struct scene_body *given, struct build_counts *counts)
{
    uint64_t nodes = given->shape.ring.nodes;
    *counts = (struct build_counts){
        .nodes = nodes,
        .springs = {given->kinds[0].present ? nodes : 0},
        .faces = nodes,
        .face_arity = 2,
    };
    return nodes >= 3 && nodes <= BODY_NODES_MAX;
}

taut_status build_ring(struct build *build)
{
    const struct scene_body *given = build->given;
    const struct scene_ring *ring = &given->shape.ring;
    struct body *body = build->body;
    if (ring->nodes < 3)
        return build_refuse(build, given->at, "ring '%s' needs at least 3 nodes", given->name);
    if (!(ring->radius > 0.0))
        return build_refuse(build, given->at, "ring '%s' needs a radius above 0", given->name);
    struct build_counts counts;
    (void)ring_count(given, &counts); // too many nodes: build_allocate refuses them
    taut_status status = build_allocate(build, &counts);
    if (status != TAUT_OK)
        return status;
    for (uint64_t i = 0; i < ring->nodes; i++) {
        double angle = 2.0 * 3.14159265358979323846 * (double)i / (double)ring->nodes;
        vec3 out = {ring->radius * cos(angle), ring->radius * sin(angle), 0.0};
        vec3_store(body->positions, i, vec3_add(ring->centre, out));
    }
    struct spring_writer writer = {body->springs, 0};
    if (body->spring_count > 0)
        chain_around(ring->nodes, &writer);
    assert(writer.count == body->spring_count);
    outline(body);
    return TAUT_OK;
}

taut_status build_quad(struct build *build)
{
    enum { SIDES, DIAGONALS };
    const struct scene_body *given = build->given;
    const struct scene_quad *quad = &given->shape.quad;
    struct body *body = build->body;
    if (!(vec3_length(vec3_cross(quad->u, quad->v)) > 0.0))
        return build_refuse(build, given->at,
                            "quad '%s' has no area: 'u' and 'v' are parallel or zero", given->name);
    bool sides = given->kinds[SIDES].present, diagonals = given->kinds[DIAGONALS].present;
    struct build_counts counts = {
        .nodes = 4, .springs = {sides ? 4 : 0, diagonals ? 2 : 0}, .faces = 4, .face_arity = 2};
    taut_status status = build_allocate(build, &counts);
    if (status != TAUT_OK)
        return status;
    vec3 far_u = vec3_add(quad->origin, quad->u);
    vec3_store(body->positions, 0, quad->origin);
    vec3_store(body->positions, 1, far_u);
    vec3_store(body->positions, 2, vec3_add(far_u, quad->v));
    vec3_store(body->positions, 3, vec3_add(quad->origin, quad->v));
    struct spring_writer writer = {body->springs, 0};
    if (sides)
        chain_around(4, &writer);
    if (diagonals) {
        spring_write(&writer, 0, 2);
        spring_write(&writer, 1, 3);
    }
    assert(writer.count == body->spring_count);
    outline(body);
    return TAUT_OK;
}
