// The parts of a tangent (tangent.h), each with its own file: springs node by node, contacts, and
// what acts through faces. Numeric.
#ifndef TAUT_FORCES_TANGENT_PARTS_H
#define TAUT_FORCES_TANGENT_PARTS_H

#include "forces/block.h"
#include "forces/forces.h"
#include "forces/tangent.h"
#include "kernels/tangent.h"

// A spring as seen from one of its ends; `place` is where the state has it.
struct spring_end {
    uint32_t other, material;
    uint64_t place;
    real rest_length;
};

// Springs at each node: ends[first[node]] .. ends[first[node + 1] - 1].
struct spring_rows {
    uint64_t *first; // length nodes + 1
    struct spring_end *ends;
    uint64_t count;
};

// Faces that wind or gas acts on, and those at each node: at[first[node]] and so on.
struct face_rows {
    uint64_t count, places;
    uint32_t (*nodes)[3];
    uint32_t *body;
    uint64_t *first; // length nodes + 1
    uint32_t *at;
    real *drag;      // of the wind on each face, to be multiplied by S (S . sum of v), S = A n
    real (*push)[3]; // what a product gives to each of a face's corners
};

// Gas of a body: its pressure, -dP/dV, and g . in of the present product.
struct tangent_gas {
    bool present;
    real pressure, slope, squeeze;
};

// Of a node that touches colliders: blocks of K and C.
struct contact_blocks {
    real stiffness[6], damping[6];
};

// Nodes whose rows are computed together: of a grid, of a tile of packed springs, or, without
// either, one by one.
struct tangent_item {
    const struct tangent_grid *grid;
    const struct packed_tile *tile;
    struct range nodes;
};

struct tangent {
    struct system *system;
    size_t nodes;
    enum tangent_kind kind;
    bool any_gas, any_wind;     // any_wind: it gives a damping
    struct spring_rows springs; // of those that stand in blocks
    struct tangent_grid *grids; // of each grid of the plan
    struct tangent_item *items; // what is handed out to the workers
    size_t item_count;
    struct face_rows faces;
    struct contact_blocks *contacts; // NULL: no penalty colliders
    uint8_t *touching;
    struct tangent_gas *gas;      // of each body
    struct node_vectors gradient; // of the volume of a node's body; where any_gas
};

// A spring's part of the matrix: along u u' + across (I - u u').
struct spring_part {
    real ux, uy, uz, along, across;
};

// Of a spring that is whole; false where it is slack.
static inline bool spring_part_of(const struct tangent *tangent, size_t a, size_t b,
                                  const struct spring_constants *material, real rest,
                                  real stiffness, real damping, struct spring_part *part)
{
    const struct state *s = tangent->system->state;
    real dx = s->x[a] - s->x[b], dy = s->y[a] - s->y[b], dz = s->z[a] - s->z[b];
    real square = dx * dx + dy * dy + dz * dz, length = real_sqrt(square);
    if ((material->law == LAW_TENSION_ONLY && length <= rest) ||
        (material->law == LAW_COMPRESSION_ONLY && length >= rest))
        return false;
    real inverse = square > REAL_TINY ? 1 / length : 0;
    real sideways = 1 - rest * inverse;
    if (tangent->kind == TANGENT_DEFINITE && !(sideways > 0))
        sideways = 0;
    real elastic = stiffness * material->stiffness, c = damping * material->damping;
    bool full = material->damping_law == DAMPING_FULL;
    *part = (struct spring_part){dx * inverse, dy * inverse, dz * inverse, elastic + c,
                                 elastic * sideways + (full ? c : 0)};
    return true;
}

taut_status REAL_NAME(tangent_springs_make)(struct tangent *tangent, taut_error *error);
void REAL_NAME(tangent_springs_free)(struct tangent *tangent);
// out := of the springs, for a run of nodes.
void REAL_NAME(tangent_springs_apply)(const struct tangent *tangent, real stiffness, real damping,
                                      struct node_vectors in, struct node_vectors out,
                                      struct range nodes);
void REAL_NAME(tangent_springs_blocks)(const struct tangent *tangent, real stiffness, real damping,
                                       real (*blocks)[6], struct range nodes);

taut_status REAL_NAME(tangent_grids_make)(struct tangent *tangent, taut_error *error);
void REAL_NAME(tangent_grids_free)(struct tangent *tangent);
uint64_t REAL_NAME(tangent_grids_bytes)(const struct tangent *tangent);
void REAL_NAME(tangent_grids_update)(struct tangent *tangent, const struct worker *worker);
// Adds the spring of a direction from the grid's node of number `spring` on: what it has in the
// block of either end, and with the other sign between the two.
void REAL_NAME(tangent_grid_spring)(const struct tangent *tangent, const struct tangent_grid *grid,
                                    int d, int64_t spring, real stiffness, real damping,
                                    real block[6]);
void REAL_NAME(tangent_grid_blocks)(const struct tangent *tangent, const struct tangent_grid *grid,
                                    real stiffness, real damping, real (*blocks)[6],
                                    struct range nodes);

void REAL_NAME(tangent_packed_blocks)(const struct tangent *tangent, const struct packed_tile *tile,
                                      real stiffness, real damping, real (*blocks)[6]);

taut_status REAL_NAME(tangent_contacts_make)(struct tangent *tangent, taut_error *error);
void REAL_NAME(tangent_contacts_free)(struct tangent *tangent);
void REAL_NAME(tangent_contacts_update)(struct tangent *tangent, double time, struct range nodes);
void REAL_NAME(tangent_contacts_apply)(const struct tangent *tangent, real stiffness, real damping,
                                       struct node_vectors in, struct node_vectors out,
                                       struct range nodes);
void REAL_NAME(tangent_contacts_blocks)(const struct tangent *tangent, real stiffness, real damping,
                                        real (*blocks)[6], struct range nodes);

taut_status REAL_NAME(tangent_faces_make)(struct tangent *tangent, taut_error *error);
void REAL_NAME(tangent_faces_free)(struct tangent *tangent);
// Ends with a barrier where there are faces.
void REAL_NAME(tangent_faces_update)(struct tangent *tangent, struct moment moment,
                                     const struct worker *worker);
// Of faces_update: pressures, and gradients of a share of the nodes.
void REAL_NAME(tangent_gas_update)(struct tangent *tangent, struct moment moment,
                                   const struct worker *worker);
// What acts through faces, of each face, and how much a product squeezes each body with gas; both
// end with a barrier where there is something. Then they are added to the rows of nodes.
void REAL_NAME(tangent_faces_push)(struct tangent *tangent, real stiffness, real damping,
                                   struct node_vectors in, const struct worker *worker);
void REAL_NAME(tangent_gas_squeeze)(struct tangent *tangent, struct node_vectors in,
                                    const struct worker *worker);
void REAL_NAME(tangent_faces_apply)(const struct tangent *tangent, struct node_vectors out,
                                    struct range nodes);
void REAL_NAME(tangent_gas_apply)(const struct tangent *tangent, real stiffness,
                                  struct node_vectors out, struct range nodes);
void REAL_NAME(tangent_faces_blocks)(const struct tangent *tangent, real stiffness, real damping,
                                     real (*blocks)[6], struct range nodes);
uint64_t REAL_NAME(tangent_faces_bytes)(const struct tangent *tangent);

#endif
