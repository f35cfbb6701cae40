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

// At most, so that 32 bits have the number of a block and of one of its nodes.
enum { NODE_BITS = 5, SURFACE_BLOCKS = (1 << (32 - NODE_BITS)) - 1 };

// The triangles and edges of a block, by corner: numbers among its nodes, and 0 beyond the last
// ones. Triangles are counter-clockwise seen from outside. Blocks of one sheet share few of these.
struct block_corners {
    uint8_t triangles[3][SURFACE_TRIANGLES], edges[2][SURFACE_EDGES];
};

struct surface_block {
    uint32_t body;       // index in topology->bodies; from body_count on, that of a mesh collider
    uint32_t first_node; // into surfaces->nodes: own nodes, then others that it needs
    uint32_t corners;    // into surfaces->corners
    uint8_t own_nodes, nodes, edges, triangles;
};

struct surfaces {
    struct surface_block *blocks;
    size_t block_count;
    uint32_t *nodes; // internal numbers, over all bodies
    size_t node_entries;
    struct block_corners *corners;
    size_t corner_count;
    size_t edge_count, triangle_count;
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

static inline const struct block_corners *corners_of(const struct surfaces *surfaces,
                                                     const struct surface_block *block)
{
    return &surfaces->corners[block->corners];
}

// The internal number of an end of an edge of a block, or of a corner of a triangle.
static inline uint32_t edge_node(const struct surfaces *surfaces, const struct surface_block *block,
                                 size_t edge, int end)
{
    return surfaces->nodes[block->first_node + corners_of(surfaces, block)->edges[end][edge]];
}

static inline uint32_t triangle_node(const struct surfaces *surfaces,
                                     const struct surface_block *block, size_t triangle, int corner)
{
    return surfaces
        ->nodes[block->first_node + corners_of(surfaces, block)->triangles[corner][triangle]];
}

// Bytes allocated.
uint64_t surfaces_bytes(const struct surfaces *surfaces);

#endif
