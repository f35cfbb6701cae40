// The plan of springs on no grid, in sliced ELLPACK (SELL-C-sigma). PACKED_LANES consecutive nodes
// form a chunk: lane l of all its columns belongs to its node l, and a column holds at most one
// spring of each node. Every spring is stored twice, once for each end; each node sums the forces
// of its own springs in the order of the columns, and no worker writes to another's nodes. So
// neither colours nor barriers are needed, and the width of a register affects no bit. Storing each
// spring once and scattering the reactions was a third slower, because of stores to nodes whose
// previous store is still pending.
//
// In a body with gas and vertex rings (faces/plan.h), the first columns of a chunk follow the rings
// of its nodes, position by position, with or without a spring: the neighbours that the kernel
// loads for the springs serve the gas as well. The chunks and tiles of such a body contain no nodes
// of other bodies.
//
// A column whose springs all have one step (the other end is node + step in every lane) reads the
// other ends directly from the state. Other columns gather them from records, which hold position
// and velocity of a node side by side: records of all nodes of the tile and of those around it that
// are read (its halo), or, if few columns gather, only of the nodes that are read.
//
// The forces are in packed/force_body.h; the storage format of a body is decided in springs/plan.c.
#ifndef TAUT_SPRINGS_PACKED_PLAN_H
#define TAUT_SPRINGS_PACKED_PLAN_H

#include "topology/topology.h"

enum {
    PACKED_LANES = 16,        // of a chunk, for any width of register; determines order of sums
    PACKED_LOCAL_MAX = 4096,  // nodes of a tile and its halo: their records stay in the L2 cache
    PACKED_TILE_NODES = 2048, // nodes of a tile at most
    PACKED_RING_MAX = 32,     // columns of a ring; bodies with longer rings have a pass for them
    PACKED_SCALE = 4,         // factor in `ends`: the offset of a record is a multiple of 4 reals
};

// The material of a column whose springs have several.
#define PACKED_MIXED UINT32_MAX

// The spring of a lane without one.
#define PACKED_NONE UINT32_MAX

struct packed_column {
    int32_t step;      // 0: the other ends are those in ends[group]
    uint32_t group;    // index into ends (step 0) or alternatives (alternative_count > 0)
    uint32_t material; // index into materials, or PACKED_MIXED: lane_materials[mixed]
    uint32_t mixed;
    uint16_t lanes;             // a bit for each lane that has a spring
    uint16_t alternative_count; // steps of other lanes, in alternatives[group]
};

// In a column that follows rings, lanes at the end of a row of nodes have another step than those
// before them, and those of the next row a third one.
enum { PACKED_ALTERNATIVES_MAX = 2 };

struct packed_alternatives {
    int32_t step[PACKED_ALTERNATIVES_MAX];
    uint32_t lanes[PACKED_ALTERNATIVES_MAX]; // bits
};

// A spring in no column, of a node with far more springs than the others of its chunk.
struct packed_overflow {
    uint32_t node, other, material;
};

struct packed_tile {
    uint64_t first_node;
    uint32_t node_count;
    uint32_t own_records; // node_count: all nodes of the tile have records, before the halo's;
                          // 0: the halo also has those nodes of the tile whose records are read
    uint32_t halo_count;
    uint64_t first_chunk; // has nodes first_node .. first_node + PACKED_LANES - 1
    uint64_t sell_chunk_count;
    uint64_t first_halo;
    uint64_t first_overflow, overflow_count;
    uint32_t ring_body; // 1 + the body whose rings the columns follow; 0: they follow none
    bool damped;        // some spring is damped, so records hold velocities
};

// A rank that holds only its part keeps the columns of the tiles with nodes of its own; other tiles
// have nodes but no chunks.
//
// Slots number the rest lengths of packed springs: one for each lane of each column, then one for
// each overflow spring.
struct plan_packed {
    struct packed_tile *tiles;
    uint64_t tile_count;
    uint64_t first_kept, end_kept; // tiles with columns: all, or those of a rank
    uint64_t *chunk_columns;       // chunk s has columns [chunk_columns[s], chunk_columns[s + 1])
    uint8_t *chunk_rings;          // how many of these follow rings; an even number
    uint64_t sell_chunk_count;
    struct packed_column *columns;
    uint64_t column_count;
    uint16_t (*ends)[PACKED_LANES]; // PACKED_SCALE times the number of a record
    uint64_t group_count;
    struct packed_alternatives *alternatives;
    uint64_t alternatives_count;
    uint32_t (*lane_materials)[PACKED_LANES];
    uint64_t mixed_count;
    uint32_t *halo; // nodes
    uint64_t halo_count;
    struct packed_overflow *overflow;
    uint64_t overflow_count;
    uint32_t *slot_springs; // indices into the plan's springs; freed when constants are made
    uint64_t slot_count;
};

struct plan;
struct plan_nodes;

// Which tiles are kept: those with any of these nodes (NULL: all); and the functions that load
// absent lists and report how far they have been read (plan_options).
struct packed_choice {
    const struct plan_nodes *kept;
    taut_status (*load)(void *context, size_t body, taut_error *error);
    void (*packed)(void *context, uint64_t node);
    void *context;
};

// Packs plan->springs, which are in the topology's order. After a failure plan->packed owns
// whatever was allocated.
taut_status packed_make(const struct topology *topology, const struct packed_choice *choice,
                        struct plan *plan, taut_error *error);

// Frees slot_springs, which only the construction of the constants reads.
void packed_release_slot_springs(const taut_allocator *allocator, struct plan_packed *packed);

// Updates which tiles have damped springs, after the damping of materials has changed.
void packed_find_damped(const struct topology *topology, struct plan_packed *packed);

void packed_free(const taut_allocator *allocator, struct plan_packed *packed);
uint64_t packed_bytes(const struct plan_packed *packed);

// The tile of a node, or NULL.
const struct packed_tile *packed_tile_of_node(const struct plan_packed *packed, uint64_t node);

// The first of the consecutive tiles whose columns follow the rings of a body, or NULL.
const struct packed_tile *packed_ring_tiles(const struct plan_packed *packed,
                                            const struct topology *topology, size_t body);

// Checks that every spring is packed once for each end, with its material, and that columns follow
// the rings.
taut_status packed_check(const struct topology *topology, const struct plan *plan,
                         taut_error *error);

#endif
