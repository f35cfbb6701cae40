// Shared by the tests of surfaces and of the broad phase: topologies with surfaces of every kind.
#ifndef TAUT_TESTS_SURFACE_SAMPLES_H
#define TAUT_TESTS_SURFACE_SAMPLES_H

#include "physics.h"
#include "topology/topology.h"

// A topology with one body, a mesh of the given triangles: what surfaces read, and no more. The
// faces are used where they are.
struct mesh_topology {
    struct topology topology;
    struct topology_body body;
};
void mesh_topology_make(struct mesh_topology *made, uint64_t nodes, uint32_t (*triangles)[3],
                        uint64_t triangle_count);

// A fan of triangles around node 0, whose rim is nodes 1 to `triangles` + 1; the caller frees it.
uint32_t (*fan_triangles(uint64_t triangles))[3];

// Built positions by internal number; the caller frees them.
double (*built_positions(const taut_solver *solver, const struct topology *topology))[3];

#endif
