// Coulomb friction with memory between surfaces (Cundall and Strack 1979; docs/numerics.md,
// "Friction between surfaces"). Every candidate that touches has a record with the anchor of a
// tangential spring, as contacts with colliders have (friction.h): forces read it, and it changes
// once, at the end of a step. Functions with a worker argument are called by all workers together.
// Numeric.
#ifndef TAUT_CONTACT_SURFACE_FRICTION_H
#define TAUT_CONTACT_SURFACE_FRICTION_H

#include "contact/candidates.h"
#include "contact/contact.h"
#include "contact/distance.h"
#include "contact/friction.h"
#include "contact/surface_report.h"
#include "kernels/kernels.h"
#include "scene/scene.h"
#include "springs/tangent.h"

// Flags of a record, beside the key of its candidate (touching_key).
enum {
    RECORD_KEY = (1 << 18) - 1,
    RECORD_FRAMED = 1 << 24, // the anchor is in the frame of the triangle, or of both edges
    RECORD_SLIDES = 1 << 25,
    // Without a frame: the edges along which friction acts; neither: there is none.
    RECORD_ALONG_FIRST = 1 << 26,
    RECORD_ALONG_SECOND = 1 << 27,
    RECORD_ALONG = RECORD_ALONG_FIRST | RECORD_ALONG_SECOND,
};

struct friction_record {
    uint32_t key; // and flags
    real stretch; // m, at the end of the last step
    // Where the first side would be without stretch: v, w and the height above a triangle, or s, t
    // and the distance of two edges. As `real`, which has 2^-24 of an edge, they would resolve
    // stretches of micrometres to a percent; and of those that slide, anchors that are rounded too
    // far take some of the limit, while what is rounded too little does not exceed it.
    double anchor[3];
};

// The records of a pair of blocks; they rise by key.
struct friction_pair {
    uint32_t a, b; // blocks
    size_t first, count;
};

// Those of a list of candidates; pairs rise by a, then b.
struct friction_list {
    struct friction_pair *pairs;
    size_t pair_count, pair_capacity;
    struct friction_record *records;
    size_t count, capacity;
};

// What the systems of an implicit step assume of a contact (friction.h), and the two rows of its
// friction in the last stage (surface_tangent.h), of which the first is along t if it slides.
struct surface_assumption {
    uint32_t key; // without flags
    uint8_t status, rows;
    uint8_t barriers; // how many rows of the barrier there are
    size_t row;       // the first of them in the list; those of friction follow
    real limit, turns, normal_force;
    struct point along;                   // t, not reduced to the present tangent plane
    struct point axes[2];                 // directions of the rows
    real trial[2];                        // N, of spring and damper along them
    struct friction_action_of_step acted; // against the slip of the first side
    real stiffness, damping;              // of these
};

struct assumed_list {
    struct friction_pair *pairs;
    size_t pair_count, pair_capacity;
    struct surface_assumption *items;
    size_t count, capacity;
};

// A position in a list; both only go on.
struct friction_cursor {
    const struct friction_list *list;
    size_t pair, record;
};

struct surface_friction {
    struct scene_friction *rules; // by pair of bodies: their coefficients
    double *least_mass; // kg, by body or mesh collider, of free nodes; INFINITY if there are none
    size_t bodies;
    struct friction_list *lists;
    double *heat;   // J, by list: of the last step
    double *powers; // W, by list: what dampers have taken in the last evaluation of the forces
    bool powers_known;
    size_t list_count;
    // Implicit steps, by list: what is assumed, what is being made, and changes (friction.h).
    struct assumed_list *assumed, *making;
    double (*changes)[FRICTION_SUMS];
    double slip_time; // s (friction.h)
};

// Makes system->surface_contact->friction if any surfaces have friction; the rest of the contact
// has been made. False without memory.
bool REAL_NAME(surface_friction_make)(struct system *system, const taut_scene *scene);
void REAL_NAME(surface_friction_free)(struct system *system);
uint64_t REAL_NAME(surface_friction_bytes)(const struct system *system);

// Masses may have changed.
void REAL_NAME(surface_friction_masses)(struct system *system);

// The friction of the candidates of a pair, for the kernel of its forces, which it hands out.
struct friction_forces {
    struct touching_candidates touching;
    const struct system *system;
    struct friction_cursor cursor; // goes along the list
    uint32_t blocks[2];
    real (*on[2])[SURFACE_NODES];
    double dissipated; // W, of all pairs so far
};

// `found` has system and cursor; true if the two bodies have friction.
bool REAL_NAME(surface_friction_forces)(struct friction_forces *found, uint32_t a, uint32_t b,
                                        real (*on_a)[SURFACE_NODES], real (*on_b)[SURFACE_NODES]);

// An upper bound of the dampers of a contact with a body along any direction, N s/m.
double REAL_NAME(surface_friction_damping)(const struct system *system, size_t body);

// At the end of a step or substep: changes the memory, and counts the heat.
void REAL_NAME(surface_friction_update)(struct system *system, struct friction_step step,
                                        const struct worker *worker);

// Implicit steps, as in tangent.h.
void REAL_NAME(surface_friction_predict)(struct system *system, double slip_time,
                                         const struct worker *worker);
void REAL_NAME(surface_friction_stage)(struct system *system, double slip_time,
                                       const struct worker *worker);
void REAL_NAME(surface_friction_revise)(struct system *system, double g, double applied,
                                        struct node_vectors solution, double sums[FRICTION_SUMS],
                                        const struct worker *worker);

// The memory of the present state of contacts without any: nothing is stretched. `time`: s, of the
// state.
void REAL_NAME(surface_friction_start)(struct system *system, double time,
                                       const struct worker *worker);

// The energy of the springs in the present state, J; the same on every worker. `changed`: only of
// pairs that the cutting of the step has changed.
double REAL_NAME(surface_friction_energy)(struct system *system, bool changed,
                                          const struct worker *worker);

#endif
