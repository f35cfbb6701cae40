// Contact between surfaces at the stages of implicit steps (surface_tangent.c): what touches there,
// the forces, and their tangent. Numeric.
#ifndef TAUT_CONTACT_SURFACE_TANGENT_H
#define TAUT_CONTACT_SURFACE_TANGENT_H

#include "contact/surface_lists.h"

// Four nodes that a contact pushes along one direction: with the weights w of the nodes and the
// direction d, their arms are a = w d, the forces `force` a, and the tangents `stiffness` a a' and
// `damping` a a'. Friction also has the couple of its height above a surface: a = w d + u e.
struct surface_row {
    uint32_t nodes[4];
    real weights[4];
    struct point direction;
    real force;     // N
    real stiffness; // N/m, not negative
    real damping;   // N s/m, not negative
    bool crossed;   // of parts that have passed through each other
    bool coupled;   // there are u and e
    bool rubs;      // of the friction of a shape
    real couple_weights[4];
    struct point couple_direction;
};

// a' v of vectors v of a node that is one of the four.
static inline real row_part(const struct surface_row *row, int i, struct point v)
{
    const real part = row->weights[i] * point_dot(row->direction, v);
    return row->coupled ? part + row->couple_weights[i] * point_dot(row->couple_direction, v)
                        : part;
}

// The second derivative of the barrier's energy, N/m.
static inline real barrier_curvature(const struct barrier *barrier, real distance)
{
    const real s = barrier->reach - distance;
    return 4 * barrier->stiffness * (s < barrier->depth ? s / barrier->depth : 1);
}

// A plane, sphere or room in a row: behind all nodes, and as those of mesh colliders without a
// motion that is to be found.
static inline uint32_t row_node_of_shape(const struct system *system, size_t collider)
{
    return (uint32_t)(all_surface_nodes(system->topology) + collider);
}

// Those of a list of candidates, or of a part of the nodes and blocks that shapes may push.
struct row_list {
    struct surface_row *rows;
    size_t count, capacity;
    size_t entries; // at most, of all of its nodes
};

// A row as a node has it; numbers from the number of rows on are those of couples.
struct row_entry {
    uint32_t row;
    real weight;
};

// The rows of the last stage that was evaluated, list after list, and for each node its rows in
// that order, so that sums do not depend on threads.
struct surface_rows {
    struct row_list *lists; // of candidates, then of shapes
    size_t list_count;
    struct surface_row *rows;
    // By row: what it exerts on a node of weight 1, in the present product; then the same of
    // couples.
    struct point *pulls;
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

// False without memory.
bool REAL_NAME(surface_row_add)(struct row_list *list, const struct surface_row *row);

// ---- Friction: the walk through the candidates of a list (surface_friction_stage.c)

struct stage_friction {
    const struct system *system;
    const struct friction_list *memory;
    const struct assumed_list *old;
    struct assumed_list *made;
    size_t pair, record, record_end;         // in the memory
    size_t old_pair, old_item, old_item_end; // in what was assumed
    uint32_t blocks[2];
    bool failed; // no memory
};

void REAL_NAME(surface_stage_begin)(struct stage_friction *friction, const struct system *system,
                                    size_t list);
// Pairs in their order; false: the two bodies have no friction.
bool REAL_NAME(surface_stage_pair)(struct stage_friction *friction, uint32_t a, uint32_t b);
// Candidates of a pair in the order of their keys: the rows of their friction; `row`: the number of
// the first of the `barriers` rows of the barrier in the list. Returns how many there are.
int REAL_NAME(surface_stage_rows)(struct stage_friction *friction, const struct candidate *found,
                                  const uint32_t nodes[4], const struct point now[4],
                                  const struct touching_candidate *touching, size_t row,
                                  int barriers, struct surface_row rows[2]);
void REAL_NAME(surface_stage_end)(const struct stage_friction *friction, size_t list);

// a' d of a row and a solution d.
static inline real along_row(const struct system *system, const struct surface_row *row,
                             const struct node_vectors *d)
{
    const size_t nodes = (size_t)system->state->nodes;
    real sum = 0;
    for (int i = 0; i < 4; i++) {
        const size_t node = row->nodes[i];
        if (node < nodes) // not of a mesh collider or a shape, whose motion is given
            sum += row_part(row, i, (struct point){d->x[node], d->y[node], d->z[node]});
    }
    return sum;
}

// Finds the rows for the positions in contact->now. False without memory: the same on every worker,
// and there are no rows. Ends with a barrier.
bool REAL_NAME(surface_rows_find)(struct system *system, const struct worker *worker);

// Adds their forces to those of the nodes. Ends with a barrier.
void REAL_NAME(surface_rows_add)(struct system *system, const struct worker *worker);

// The power of what moves mesh colliders and spheres, W: against the forces of the rows on them.
double REAL_NAME(surface_rows_collider_power)(const struct system *system);

#endif
