// Contacts with projecting colliders, as constraints of an implicit step. integrate/constraints.c
// finds and solves them. The projection at the end of the step (projection.c) uses them, and the
// motion that the nodes would have had without them. Numeric.
#ifndef TAUT_CONTACT_CONSTRAINTS_H
#define TAUT_CONTACT_CONSTRAINTS_H

#include "springs/tangent.h"
#include "state/system.h"

// A node cannot be stopped in more directions.
enum { NODE_CONSTRAINTS = 3 };

struct constrained_node {
    vec3 normal[NODE_CONSTRAINTS];
    union {
        double allowed[NODE_CONSTRAINTS]; // m: depth at the start, which is not corrected
        double given[NODE_CONSTRAINTS];   // m/s, so far (xpbd)
    };
    uint32_t collider[NODE_CONSTRAINTS];
    uint8_t wall[NODE_CONSTRAINTS];
    uint8_t count;
    bool saved;      // the inverse is the one without constraints
    real inverse[6]; // of the preconditioner's block
};

struct contact_constraints {
    struct constrained_node *nodes;
    // Positions and velocities at the end of the step without constraints, m and m/s.
    struct split_vectors free_position, free_velocity;
    struct node_vectors impulse; // kg m/s, minus the impulse of the surfaces in the stage
    struct node_vectors removed; // the part of a product that an iteration of the solver removed
    uint8_t *changed;            // for each block: whether its constraints have changed
    bool present;                // some node has a constraint in this step
    double (*work)[2];           // J, of the impulses on a node, and of moving surfaces
};

#endif
