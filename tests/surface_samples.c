// Topologies with surfaces (surface_samples.h).
#include "surface_samples.h"

#include <stdlib.h>

void mesh_topology_make(struct mesh_topology *made, uint64_t nodes, uint32_t (*triangles)[3],
                        uint64_t triangle_count)
{
    static char name[] = "mesh";
    *made = (struct mesh_topology){
        .body = {.name = name,
                 .type = BODY_MESH,
                 .node_count = nodes,
                 .face_count = triangle_count,
                 .face_arity = 3},
        .topology = {.body_count = 1,
                     .node_count = nodes,
                     .face_count = triangle_count,
                     .listed_face_count = triangle_count,
                     .faces = triangles},
    };
    made->topology.bodies = &made->body;
}

uint32_t (*fan_triangles(uint64_t triangles))[3]
{
    uint32_t(*faces)[3] = calloc((size_t)triangles, sizeof *faces);
    assert_non_null(faces);
    for (uint32_t t = 0; t < triangles; t++) {
        faces[t][0] = 0;
        faces[t][1] = t + 1;
        faces[t][2] = t + 2;
    }
    return faces;
}

double (*built_positions(const taut_solver *solver, const struct topology *topology))[3]
{
    double *by_builder = all_positions(solver);
    double(*built)[3] = calloc((size_t)topology->node_count, sizeof *built);
    assert_non_null(built);
    for (uint64_t i = 0; i < topology->node_count; i++)
        memcpy(built[i], by_builder + 3 * topology_builder_node(topology, i), sizeof *built);
    free(by_builder);
    return built;
}
