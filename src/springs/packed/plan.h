// Springs that are on no grid, packed for vectors. Nodes are taken PACKED_LANES at a time, a chunk:
// lane l of all its columns belongs to its node l, and a column holds at most one spring of each.
// So every spring is stored twice, once for either end, each node adds up the forces of its own
// springs in the order of the columns, and nobody writes to another's node: no colours, no
// barriers, and the number of lanes that a register has changes nothing. Springs once each, with
// the reactions scattered, measured slower by a third: stores to nodes that were just stored to
// wait for them.
//
// Of a body with gas and rings (faces/plan.h), the first columns of a chunk go round the rings of
// its nodes, position by position, whether or not there is a spring as well: what the kernel
// fetches for the springs serves the gas too. Its chunks and tiles have nodes of no other body.
//
// A column whose springs all go by one step (the other end is node + step in every lane) reads the
// other ends as they lie. The other columns gather them from records, which hold what nodes have in
// the state, side by side: all nodes of the tile and those around it that are wanted (its halo), or
// where few columns gather, only what is wanted.
#ifndef TAUT_SPRINGS_PACKED_PLAN_H
#define TAUT_SPRINGS_PACKED_PLAN_H

#include "topology/topology.h"

enum {
    PACKED_LANES = 16,        // of a chunk, whatever a register has; part of the order of sums
    PACKED_LOCAL_MAX = 4096,  // nodes of a tile and its halo: their records stay in the L2 cache
    PACKED_TILE_NODES = 2048, // nodes of a tile, at most
    PACKED_RING_MAX = 32,     // columns of a ring; bodies with longer ones keep rings apart
    PACKED_SCALE = 4,         // of the numbers in `ends`: a record's address is a multiple of them
};

// The material of a column whose lanes have several.
#define PACKED_MIXED UINT32_MAX

// No spring in that lane.
#define PACKED_NONE UINT32_MAX

struct packed_column {
    int32_t step;      // 0: the other ends are those in ends[group]
    uint32_t group;    // of columns gathered or with turns
    uint32_t material; // index into materials, or PACKED_MIXED: lane_materials[mixed]
    uint32_t mixed;
    uint16_t lanes;             // a bit for each lane that has a spring
    uint16_t alternative_count; // where some lanes go by other steps: those of turns[group]
};

// Round a ring, lanes at a row's end go another way than those before them, and those of the next
// row yet another.
enum { PACKED_ALTERNATIVES_MAX = 2 };

struct packed_alternatives {
    int32_t step[PACKED_ALTERNATIVES_MAX];
    uint32_t lanes[PACKED_ALTERNATIVES_MAX]; // bits
};

// A spring that found no column: of a node with far more springs than those beside it.
struct packed_overflow {
    uint32_t node, other, material;
};

struct packed_tile {
    uint64_t first_node;
    uint32_t node_count;
    uint32_t own_records; // node_count: all of its nodes have records, before those of the halo;
                          // 0: the halo has those of its nodes, too, whose records are read
    uint32_t halo_count;
    uint64_t first_chunk; // its nodes first_node .. + PACKED_LANES - 1, and so on
    uint64_t sell_chunk_count;
    uint64_t first_halo;
    uint64_t first_overflow, overflow_count;
    uint32_t ring_body; // 1 + the body whose rings the chunks have; 0: they have none
    bool damped;        // some spring is: records hold velocities
};

// Slots, one for each lane of each column and behind them one for each overflow spring, count what
// springs have beyond their ends: their rest lengths.
struct plan_packed {
    struct packed_tile *tiles;
    uint64_t tile_count;
    uint64_t *chunk_columns; // chunk s has columns [chunk_columns[s], chunk_columns[s + 1])
    uint8_t *chunk_rings;    // how many of them, even, go round rings
    uint64_t sell_chunk_count;
    struct packed_column *columns;
    uint64_t column_count;
    uint16_t (*ends)[PACKED_LANES]; // PACKED_SCALE times the number of a record
    uint64_t group_count;
    struct packed_alternatives *turns;
    uint64_t alternatives_count;
    uint32_t (*lane_materials)[PACKED_LANES];
    uint64_t mixed_count;
    uint32_t *halo; // nodes
    uint64_t halo_count;
    struct packed_overflow *overflow;
    uint64_t overflow_count;
    uint32_t *slot_springs; // indices into the plan's springs; until the constants are made
    uint64_t slot_count;
};

struct plan;

// Packs plan->springs, whose order is the topology's. What it allocated stays in plan->packed after
// a failure, too.
taut_status packed_make(const struct topology *topology, struct plan *plan, taut_error *error);

// slot_springs is wanted by those who make constants; afterwards it can go.
void packed_forget_slots(const taut_allocator *allocator, struct plan_packed *packed);

// Finds again which tiles have damped springs, after the damping of materials has changed.
void packed_find_damped(const struct topology *topology, struct plan_packed *packed);

void packed_free(const taut_allocator *allocator, struct plan_packed *packed);
uint64_t packed_bytes(const struct plan_packed *packed);

// The tile that has a node, or NULL.
const struct packed_tile *packed_tile_of_node(const struct plan_packed *packed, uint64_t node);

// The first of the tiles that go round the rings of a body, which are consecutive; NULL where none
// do.
const struct packed_tile *packed_ring_tiles(const struct plan_packed *packed,
                                            const struct topology *topology, size_t body);

// Proves that every spring is packed once for either end, with its material, and that
// columns go round rings.
taut_status packed_check(const struct topology *topology, const struct plan *plan,
                         taut_error *error);

#endif
