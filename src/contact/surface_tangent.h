// Contact between surfaces at the stages of implicit steps (surface_tangent.c): what touches there,
// the forces, and their tangent. Numeric.
#ifndef TAUT_CONTACT_SURFACE_TANGENT_H
#define TAUT_CONTACT_SURFACE_TANGENT_H

#include "contact/surface_lists.h"

// Four nodes that a contact pushes along one direction: with the weights w and positions x of the
// nodes, the forces are w `force` d, and the tangent is `stiffness` (w d) (w d)'.
struct surface_row {
    uint32_t nodes[4];
    real weights[4];
    struct point direction;
    real force;     // N
    real stiffness; // N/m, not negative
    bool crossed;   // of parts that have passed through each other
};

// Those of a list of candidates.
struct row_list {
    struct surface_row *rows;
    size_t count, capacity;
};

// A row as a node has it.
struct row_entry {
    uint32_t row;
    real weight;
};

// The rows of the last stage that was evaluated, list after list, and for each node its rows in that
// order, so that sums do not depend on threads.
struct surface_rows {
    struct row_list *lists;
    struct surface_row *rows;
    struct point *pulls; // by row: what it exerts on a node of weight 1, in the present product
    size_t count, capacity;
    struct row_entry *entries;
    size_t entry_capacity;
    uint32_t *first, *counts; // by node: its entries
    size_t *totals;           // by worker: entries of its nodes
    size_t total_capacity;
    bool present; // the forces of the present evaluation are those of rows
};

bool REAL_NAME(surface_rows_make)(struct surface_contact *contact, size_t nodes,
                                  const taut_allocator *allocator);
void REAL_NAME(surface_rows_free)(struct surface_contact *contact, size_t nodes,
                                  const taut_allocator *allocator);
uint64_t REAL_NAME(surface_rows_bytes)(const struct surface_contact *contact, size_t nodes);

// Finds the rows for the positions in contact->now. False without memory: the same on every worker,
// and there are no rows. Ends with a barrier.
bool REAL_NAME(surface_rows_find)(struct system *system, const struct worker *worker);

// Adds their forces to those of the nodes. Ends with a barrier.
void REAL_NAME(surface_rows_add)(struct system *system, const struct worker *worker);

// The power of what moves mesh colliders, W: against the forces of the rows on their nodes.
double REAL_NAME(surface_rows_collider_power)(const struct system *system);

#endif
