// How springs are packed (packed.h): what the parts of the packer share while they work.
#ifndef TAUT_PLAN_PACKING_H
#define TAUT_PLAN_PACKING_H

#include "plan/plan.h"

// A spring as one of its ends sees it.
struct half {
    uint32_t material, other;
    uint32_t place; // in the plan's springs
};

// Halves of all nodes, node after node, each node's by material and then by the other end.
struct halves {
    uint64_t *start; // node_count + 1
    struct half *items;
    uint64_t node_count, count;
};

taut_status halves_make(const struct topology *topology, const struct plan *plan,
                        struct halves *halves, taut_error *error);
void halves_free(struct halves *halves);

// Where a slice begins.
struct slice_start {
    uint64_t first_node;
    uint32_t node_count;
    size_t column, group, late;
    uint32_t ring_body; // as in struct packed_tile
    uint8_t ring;       // columns that go round rings
};

// What grows while slices are packed. The ends are node numbers until tiles are cut.
struct packing {
    struct halves *halves; // used up as slices are packed
    struct packed_column *columns;
    size_t column_count, column_capacity;
    uint32_t (*slot_springs)[PACKED_LANES];
    size_t slot_capacity;
    uint32_t (*ends)[PACKED_LANES];
    size_t group_count, group_capacity;
    struct packed_turns *turns;
    size_t turns_count, turns_capacity;
    uint32_t (*lane_materials)[PACKED_LANES];
    size_t mixed_count, mixed_capacity;
    struct packed_late *late;
    uint32_t *late_springs;
    size_t late_count, late_capacity, late_spring_capacity;
    struct ring_walk walk;      // of the body that is being packed
    uint32_t ring_body;         // 1 + that body, or 0: it has no rings to go round
    struct slice_start *slices; // one more when all are packed
    size_t slice_count, slice_capacity;
};

// Adds the columns of nodes first .. first + count - 1, count <= PACKED_LANES, of the slice
// slices[slice_count]. False without memory.
bool pack_slice(struct packing *packing, uint64_t first, uint32_t count);

void packing_free(struct packing *packing);

// Cuts the slices into tiles of at most tile_nodes nodes, and the ends of gathered columns become
// numbers in their tiles.
taut_status cut_tiles(const struct topology *topology, const struct packing *packing,
                      uint32_t tile_nodes, const taut_allocator *allocator,
                      struct plan_packed *packed, taut_error *error);

#endif
