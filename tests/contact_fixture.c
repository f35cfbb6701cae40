// The triangles of a scene, crossings and momentum (contact_fixture.h).
#include "contact_fixture.h"

#include <math.h>

#include <stdlib.h>

#include "intersections/intersections.h"
#include "topology/topology.h"

static bool has_edge(const struct everything *all, uint32_t a, uint32_t b)
{
    for (size_t e = 0; e < all->edge_count; e++)
        if ((all->edges[e][0] == a && all->edges[e][1] == b) ||
            (all->edges[e][0] == b && all->edges[e][1] == a))
            return true;
    return false;
}

struct everything everything_of(const taut_solver *solver)
{
    const struct topology *topology = solver_topology(solver);
    struct everything all = {.nodes = topology->node_count};
    all.triangles = calloc(topology->face_count, sizeof *all.triangles);
    all.edges = calloc(3 * topology->face_count, sizeof *all.edges);
    all.bodies = calloc(topology->node_count, sizeof *all.bodies);
    assert_true(all.triangles && all.edges && all.bodies);
    for (uint64_t i = 0; i < topology->node_count; i++)
        all.bodies[i] =
            (uint32_t)topology_body_of_node(topology, topology_internal_node(topology, i));
    for (uint64_t f = 0; f < topology->face_count; f++) {
        const struct face face = topology_face(topology, f);
        for (int i = 0; i < 3; i++)
            all.triangles[f][i] = (uint32_t)topology_builder_node(topology, face.nodes[i]);
        for (int i = 0; i < 3; i++) {
            const uint32_t a = all.triangles[f][i], b = all.triangles[f][(i + 1) % 3];
            if (!has_edge(&all, a, b)) {
                all.edges[all.edge_count][0] = a;
                all.edges[all.edge_count++][1] = b;
            }
        }
    }
    all.triangle_count = (size_t)topology->face_count;
    return all;
}

void free_everything(struct everything *all)
{
    free(all->triangles);
    free(all->edges);
    free(all->bodies);
}

vec3 nearest_on_side(vec3 p, vec3 a, vec3 b)
{
    const vec3 along = vec3_subtract(b, a);
    const double t = vec3_dot(vec3_subtract(p, a), along) / vec3_dot(along, along);
    return vec3_add(a, vec3_scale(fmin(1, fmax(0, t)), along));
}

// m: the foot of the perpendicular, if it is on the same side of each edge as the corner opposite,
// and otherwise the sides.
static double distance_from_triangle(vec3 p, const vec3 t[3])
{
    const vec3 normal = vec3_cross(vec3_subtract(t[1], t[0]), vec3_subtract(t[2], t[0]));
    const double height = vec3_dot(vec3_subtract(p, t[0]), normal) / vec3_length(normal);
    const vec3 foot = vec3_subtract(p, vec3_scale(height / vec3_length(normal), normal));
    double distance = fabs(height);
    bool inside = true;
    for (int i = 0; i < 3; i++) {
        const vec3 side = vec3_subtract(t[(i + 1) % 3], t[i]);
        inside &= vec3_dot(vec3_cross(side, vec3_subtract(foot, t[i])), normal) >= 0;
    }
    for (int i = 0; !inside && i < 3; i++) {
        const vec3 near = nearest_on_side(p, t[i], t[(i + 1) % 3]);
        const double at = vec3_length(vec3_subtract(p, near));
        distance = i == 0 ? at : fmin(distance, at);
    }
    return distance;
}

// The least distance of any triangle from a point.
double triangle_distance(const taut_solver *solver, const struct everything *all, vec3 p)
{
    double nearest = INFINITY;
    for (size_t f = 0; f < all->triangle_count; f++) {
        vec3 t[3];
        for (int i = 0; i < 3; i++)
            t[i] = position_of(solver, all->triangles[f][i]);
        nearest = fmin(nearest, distance_from_triangle(p, t));
    }
    return nearest;
}

vec3 momentum_of(taut_solver *solver, vec3 *angular)
{
    const struct topology *topology = solver_topology(solver);
    vec3 sum = {0, 0, 0};
    *angular = sum;
    for (uint64_t i = 0; i < topology->node_count; i++) {
        const double mass = topology_mass(topology, topology_internal_node(topology, i));
        const vec3 p = vec3_scale(mass, velocity_of(solver, i));
        sum = vec3_add(sum, p);
        *angular = vec3_add(*angular, vec3_cross(position_of(solver, i), p));
    }
    return sum;
}

uint64_t crossings_of(taut_solver *solver, const struct everything *all)
{
    double *positions = all_positions(solver);
    uint32_t *bodies = malloc(all->triangle_count * sizeof *bodies);
    assert_non_null(bodies);
    for (size_t t = 0; t < all->triangle_count; t++)
        bodies[t] = all->bodies[all->triangles[t][0]];
    const struct intersection_surface surface = {.positions = positions,
                                                 .node_count = all->nodes,
                                                 .triangles = (const uint32_t(*)[3])all->triangles,
                                                 .bodies = bodies,
                                                 .triangle_count = all->triangle_count};
    const struct intersection_options options = {.threads = 1};
    struct intersections found;
    assert_int_equal(intersections_find(&surface, &options, &found, NULL), TAUT_OK);
    const uint64_t count = found.counts[INTERSECTION_CROSSING] +
                           found.counts[INTERSECTION_OVERLAPPING] +
                           found.counts[INTERSECTION_TOUCHING];
    intersections_free(&found);
    free(positions);
    free(bodies);
    return count;
}

uint64_t crossings_in_run(taut_solver *solver, int frames, uint64_t apart)
{
    struct everything all = everything_of(solver);
    uint64_t crossings = 0;
    for (int i = 0; i < frames; i++) {
        advance(solver, apart);
        crossings += crossings_of(solver, &all);
    }
    free_everything(&all);
    taut_solver_destroy(solver);
    return crossings;
}
