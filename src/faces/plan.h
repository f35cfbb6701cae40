// The plan of faces that are not listed: cloths, whose faces follow from their grid of nodes, and
// closed surfaces with gas, whose faces are replaced by the vertex rings of their nodes.
//
// A vertex ring is the ring of neighbours of a node. With the neighbours p_0 .. p_{k-1} of a node
// at p, in the order of the faces (p, p_i, p_{i+1}) around it,
//
//     dV/dp = 1/6 sum (p_i - p) x (p_{i+1} - p),
//
// which is a third of the area vectors of the node's faces. A gas needs nothing else: its force on
// the node is P dV/dp (docs/numerics.md), and since V is linear in the x of all nodes together, the
// volume is V = sum x dV/dx. One pass over the nodes, each of which reads its neighbours and writes
// only to itself, therefore replaces two passes over the faces, and needs no colours.
//
// Nodes are divided into tiles of consecutive ones. A kernel copies their positions into a small
// buffer together with those of the neighbours outside, the halo. A ring is a list of 16-bit
// offsets into that buffer. The rings of 16 nodes, a group, are padded to one length and stored
// side by side, so that they fill the lanes of the widest registers.
#ifndef TAUT_FACES_PLAN_H
#define TAUT_FACES_PLAN_H

#include "topology/topology.h"

// The faces of a cloth: cell by cell along its rows of nx nodes, (a, b, d) and (a, d, c), with b
// after a in the row and c, d above them.
struct plan_face_grid {
    size_t body;
    uint64_t first_node, nx, ny;
};

// Whether the faces of a body are those of a cloth with sufficiently long rows.
bool face_grid_find(const struct topology *topology, size_t index, struct plan_face_grid *grid);

// Nodes per group, nodes per tile, and nodes per tile including the halo: a buffer of 4 reals each
// must fit the caches.
enum { RING_GROUP = 16, RING_TILE = 1024, RING_BUFFER = 4096 };

// Nodes [first_node, first_node + node_count), whole groups except at the end of the body; the
// buffer holds them and then the halo.
struct ring_tile {
    uint64_t first_node;
    uint64_t first_halo, first_group, first_entry;
    uint32_t node_count, halo_count;
};

struct plan_rings {
    size_t body;
    bool found; // the body has rings
    // No tiles if the rings have become columns of packed springs (springs/packed/plan.h).
    struct ring_tile *tiles;
    uint64_t tile_count;
    uint32_t *halo; // node numbers
    uint64_t halo_count;
    uint8_t *lengths; // of each group, even
    uint64_t group_count;
    // For each group, for each position in its rings, RING_GROUP entries: 4 times the slot in the
    // buffer. Shorter rings are padded with their first neighbour, whose product with itself is 0.
    uint16_t *entries;
    uint64_t entry_count;
};

// The number of groups of a tile.
static inline uint32_t ring_tile_groups(const struct ring_tile *tile)
{
    return (tile->node_count + RING_GROUP - 1) / RING_GROUP;
}

// Makes the rings of body `index`. They are empty and not `found` if the body has none: its faces
// are not a closed surface of triangles, most of its nodes are not on it, or a node has too many
// neighbours.
taut_status rings_make(const struct topology *topology, size_t index,
                       const taut_allocator *allocator, struct plan_rings *rings,
                       taut_error *error);

// Frees the rings, but remembers that the body has them.
void rings_clear(const taut_allocator *allocator, struct plan_rings *rings);

void rings_free(const taut_allocator *allocator, struct plan_rings *rings);

uint64_t rings_bytes(const struct plan_rings *rings);

// Iterates over the rings of a body, one group of nodes at a time, as node numbers. Start with
// tile, group and entry 0.
struct ring_walk {
    const struct plan_rings *rings;
    uint64_t tile, entry;
    uint32_t group; // of the tile
};

// The length of the next group's rings, or 0 at the end. Position p of lane l is nodes[p *
// RING_GROUP + l]. Lanes beyond the body's last node contain any node of the body.
int ring_walk_next(struct ring_walk *walk, uint32_t *nodes);

// The length of the longest ring.
int rings_longest(const struct plan_rings *rings);

// Proves that the rings contain every corner of every face exactly once, and nothing else.
taut_status rings_check(const struct topology *topology, const struct plan_rings *rings,
                        taut_error *error);

#endif
