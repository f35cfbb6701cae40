// Boxes of the velocities of parts of the nodes, found while a step moves them, where their
// velocities are in the cache. With dt they bound how far the nodes of a part have moved since they
// were measured, so that contact need not read all positions in every step
// (contact/surface_motion.c).
//
// Only for steps in which every node moves once, by its velocity afterwards: those of symplectic
// Euler and velocity Verlet. Code that moves nodes reports which; whether these were all of them is
// counted, so that code that moves nodes without reporting them leaves the boxes unknown instead of
// wrong. Numeric.
#ifndef TAUT_SPRINGS_MOTION_H
#define TAUT_SPRINGS_MOTION_H

#include "kernels/kernels.h"
#include "state/system.h"

// A part of a tile: rows of consecutive nodes.
struct tile_part {
    size_t tile;
    struct node_rows nodes;
};

// The nodes of one of its rows that are in a range.
static inline struct node_rows row_within(const struct node_rows *part, size_t row,
                                          struct range nodes)
{
    const size_t at = part->first + row * part->stride, end = at + part->count;
    const size_t first = at > nodes.first ? at : nodes.first,
                 last = end < nodes.end ? end : nodes.end;
    return (struct node_rows){first, 1, last > first ? last - first : 0, part->stride};
}

// Its nodes that are in a range, whole rows at once. Returns how many items `found` has.
static inline int rows_within(const struct node_rows *part, struct range nodes,
                              struct node_rows found[3])
{
    const size_t first = part->first, stride = part->stride;
    const size_t end = first + (part->rows - 1) * stride + part->count;
    int count = 0;
    if (nodes.end <= first || end <= nodes.first)
        return 0;
    size_t row = nodes.first > first ? (nodes.first - first) / stride : 0;
    size_t last = nodes.end < end ? (nodes.end - first + stride - 1) / stride : part->rows;
    last = last < part->rows ? last : part->rows;
    if (first + row * stride < nodes.first) // which begins within or after this row
        found[count++] = row_within(part, row++, nodes);
    if (last > row && first + (last - 1) * stride + part->count > nodes.end)
        found[count++] = row_within(part, --last, nodes);
    if (last > row)
        found[count++] = (struct node_rows){first + row * stride, last - row, part->count, stride};
    return count;
}

struct motion_boxes {
    bool wanted;                   // in this step; set between barriers
    const struct tile_part *parts; // in the order of their first nodes
    size_t part_count;
    int workers;            // for how many there is space
    struct node_box *boxes; // m/s, by worker and part
    size_t *moved;          // nodes, by worker, MOTION_APART numbers apart
};

// Each worker's number is in a cache line of its own.
enum { MOTION_APART = 8 };

// Space for more workers. False without memory: then the boxes are not known.
bool REAL_NAME(motion_reserve)(struct motion_boxes *motion, int workers,
                               const taut_allocator *allocator);
void REAL_NAME(motion_free)(struct motion_boxes *motion, const taut_allocator *allocator);
uint64_t REAL_NAME(motion_bytes)(const struct motion_boxes *motion);

static inline bool motion_is_wanted(const struct system *system)
{
    return system->motion && system->motion->wanted;
}

// Notes that a worker has moved `count` nodes from `first` on by their velocities.
void REAL_NAME(motion_note)(const struct system *system, size_t first, size_t count, int worker);

// Returns the box of each part and forgets it; false if not all nodes have been noted. Called by
// one worker after a barrier.
bool REAL_NAME(motion_take)(const struct system *system, struct node_box *boxes);

#endif
