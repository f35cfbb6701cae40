// The surfaces of bodies for contact with each other: nodes, edges and triangles, cut into blocks
// that fit into a few registers. Bodies with faces have the faces of the topology: cloths, meshes,
// spheres, the hull of a lattice, and the outline of a plane body, which has edges but no
// triangles. A lattice with one layer is a sheet, as a cloth is. Ropes, lattices that are a line,
// and rings and quads that have no faces, have edges between consecutive nodes; where one is cut,
// only those that still are springs. Networks and single masses have no surface. Mesh colliders
// have their triangles; they count as bodies after those of the scene, and their nodes have numbers
// after those of all bodies.
//
// Every node with a surface, every edge and every triangle belongs to exactly one block, which also
// lists the nodes of other blocks that its edges and triangles need. Consecutive blocks lie near
// each other, and so do 16 and 256 of them, aligned: boxes of boxes by number make a tree
// (broad_phase.h). Blocks depend on the topology alone.
#ifndef TAUT_CONTACT_SURFACES_H
#define TAUT_CONTACT_SURFACES_H

#include "base/status.h"
#include "topology/topology.h"

// At most, per block.
enum { SURFACE_TRIANGLES = 32, SURFACE_NODES = 32, SURFACE_EDGES = 64 };

struct surface_block {
    uint32_t body; // index in topology->bodies; from body_count on, that of a mesh collider
    uint32_t
        first_node; // into surfaces->nodes: own nodes, then nodes of other blocks that it needs
    uint32_t first_edge, first_triangle; // into surfaces->edges, ->triangles
    uint8_t own_nodes, nodes, edges, triangles;
};

struct surfaces {
    struct surface_block *blocks;
    size_t block_count;
    uint32_t *nodes; // internal numbers, over all bodies
    size_t node_entries;
    uint8_t (*edges)[2]; // numbers among the block's nodes
    size_t edge_count;
    uint8_t (*triangles)[3]; // the same; counter-clockwise seen from outside
    size_t triangle_count;
    uint64_t own_node_count; // nodes with a surface
    const taut_allocator *allocator;
};

// The surfaces of the bodies that are `wanted`, one bool each, and of mesh colliders.
// TAUT_ERROR_MEMORY, or
// TAUT_ERROR_UNSUPPORTED if there are more edges than can be numbered; the result is then empty.
taut_status surfaces_make(const struct topology *topology, const bool *wanted,
                          const taut_allocator *allocator, struct surfaces *result,
                          taut_error *error);

void surfaces_free(struct surfaces *surfaces);

// Bytes allocated.
uint64_t surfaces_bytes(const struct surfaces *surfaces);

#endif
