#include "mesh_collider_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "intersections/intersections.h"
#include "scene/collider_pose.h"
#include "topology/topology.h"

const char *square(void)
{
    static char quoted[1024];
    snprintf(quoted, sizeof quoted, "'%s'",
             physics_file("square.obj", "v -1 0 -1\nv 1 0 -1\nv 1 0 1\nv -1 0 1\n"
                                        "f 1 3 2\nf 1 4 3\n"));
    return quoted;
}

const char *fine_square(int n)
{
    static char quoted[1024];
    char *text = text_format("# n = %d\n", n);
    for (int k = 0; k < (n + 1) * (n + 1); k++) {
        const int column = k % (n + 1), row = k / (n + 1);
        char *longer =
            text_format("%sv %.9g 0 %.9g\n", text, 0.4 * column / n - 0.2, 0.4 * row / n - 0.2);
        free(text);
        text = longer;
    }
    for (int k = 0; k < n * n; k++) {
        const int a = k % n + k / n * (n + 1) + 1, b = a + n + 1;
        char *longer =
            text_format("%sf %d %d %d\nf %d %d %d\n", text, a, b, b + 1, a, b + 1, a + 1);
        free(text);
        text = longer;
    }
    snprintf(quoted, sizeof quoted, "'%s'", physics_file("fine_square.obj", text));
    free(text);
    return quoted;
}

uint64_t crossings_with_meshes(taut_solver *solver)
{
    const struct topology *topology = solver_topology(solver);
    const size_t nodes = (size_t)(topology->node_count + topology->collider_node_count);
    const size_t count = (size_t)(topology->face_count + topology->collider_face_count);
    double *bodies_at = all_positions(solver), *positions = calloc(3 * nodes, sizeof *positions);
    uint32_t(*triangles)[3] = calloc(count, sizeof *triangles);
    uint32_t *bodies = calloc(count, sizeof *bodies);
    if (!positions || !triangles || !bodies)
        abort();
    memcpy(positions, bodies_at, 3 * (size_t)topology->node_count * sizeof *positions);
    free(bodies_at);
    size_t t = 0;
    for (; t < topology->face_count; t++) {
        const struct face face = topology_face(topology, t);
        bodies[t] = (uint32_t)topology_body_of_face(topology, t);
        for (int i = 0; i < 3; i++)
            triangles[t][i] = (uint32_t)topology_builder_node(topology, face.nodes[i]);
    }
    for (size_t m = 0; m < topology->mesh_collider_count; m++) {
        const struct topology_collider *mesh = &topology->mesh_colliders[m];
        struct scene_collider collider = topology->colliders[mesh->collider];
        collider.translate = solver_mesh_translate(solver, mesh->collider);
        const struct collider_pose pose = collider_pose_at(&collider, taut_solver_time(solver), 0);
        for (uint64_t i = mesh->first_node; i < mesh->first_node + mesh->node_count; i++) {
            const double *p = topology->collider_points[i - topology->node_count];
            const vec3 at = collider_point(&pose, vec3_make(p[0], p[1], p[2]));
            positions[3 * i] = at.x;
            positions[3 * i + 1] = at.y;
            positions[3 * i + 2] = at.z;
        }
        for (uint64_t f = 0; f < mesh->face_count; f++, t++) {
            memcpy(triangles[t], topology->collider_faces[mesh->first_face + f],
                   sizeof triangles[t]);
            bodies[t] = (uint32_t)(topology->body_count + m);
        }
    }
    const struct intersection_surface surface = {.positions = positions,
                                                 .node_count = nodes,
                                                 .triangles = (const uint32_t(*)[3])triangles,
                                                 .bodies = bodies,
                                                 .triangle_count = count};
    const struct intersection_options options = {.threads = 1};
    struct intersections found;
    assert_int_equal(intersections_find(&surface, &options, &found, NULL), TAUT_OK);
    const uint64_t crossing =
        found.counts[INTERSECTION_CROSSING] + found.counts[INTERSECTION_OVERLAPPING];
    intersections_free(&found);
    free(positions);
    free(triangles);
    free(bodies);
    return crossing;
}

taut_solver *swept_of(const char *precision, const char *integrator, double speed, double dt,
                      const char *more, const struct solver_options *options)
{
    return solver_from(
        scene_of("precision: %s\nsimulation: {integrator: %s, dt: " NUM ", steps: 1}\n"
                 "environment: {gravity: [0, -9.81, 0]}\ncontact: {thickness: 0.004}\n"
                 "bodies:\n"
                 "- {name: sheet, type: cloth, origin: [-0.2, 0.02, 0.2], u: [0.4, 0, 0],\n"
                 "   v: [0, 0.03, -0.4], nodes: [11, 11], mass: 0.1, damping: 0.02,\n"
                 "   springs: {structural: {stiffness: 300}, shear: {stiffness: 200}}}\n"
                 "colliders:\n"
                 "- {type: mesh, file: %s, scale: 1,\n"
                 "   motion: {velocity: [0, " NUM ", 0], angular_velocity: [0, 0, 40]}}\n"
                 "%s",
                 precision, integrator, dt, fine_square(6), speed, more),
        options);
}
