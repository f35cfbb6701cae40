// Contacts with colliders that project, as constraints of an implicit step. integrate/constraints.c
// finds and solves them; the projection at the end of the step (colliders.c) reads which they were,
// and what the nodes would have done without. Numeric.
#ifndef TAUT_CONTACT_CONSTRAINTS_H
#define TAUT_CONTACT_CONSTRAINTS_H

#include "springs/tangent.h"
#include "state/system.h"

// More directions a node cannot be stopped in.
enum { NODE_CONSTRAINTS = 3 };

struct constrained_node {
    vec3 normal[NODE_CONSTRAINTS];
    union {
        double allowed[NODE_CONSTRAINTS]; // m: how deep it was at the start, which gives no speed
        double given[NODE_CONSTRAINTS];   // m/s, by now (xpbd)
    };
    uint32_t collider[NODE_CONSTRAINTS];
    uint8_t wall[NODE_CONSTRAINTS];
    uint8_t count;
    bool saved;      // the inverse is the one without constraints
    real inverse[6]; // of the block of the preconditioner
};

struct contact_constraints {
    struct constrained_node *nodes;
    // At the end of the step without constraints, m and m/s.
    struct node_vectors free_place, free_velocity;
    struct node_vectors impulse; // minus what the surfaces give in the stage, kg m/s
    struct node_vectors taken;   // what an iteration of the solver took out of a product
    uint8_t *changed;            // of each block: whether its constraints have changed
    bool present;                // whether any node has a constraint in this step
    double (*work)[2];           // J, of the impulses on a node; and what moving surfaces put in
};

#endif
