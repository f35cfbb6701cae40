// What contact between surfaces reports, independent of the precision.
#ifndef TAUT_CONTACT_SURFACE_REPORT_H
#define TAUT_CONTACT_SURFACE_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "taut.h"

// The sum of the weights of a node in all its contacts (distance.h) that the critical step allows
// for, and for which `stiffness: auto` chooses the stiffness. A node of a cloth that lies on
// another one has 2 to 8.
enum { SURFACE_WEIGHTS = 16 };

// Loads of at most this part of what it allows for are in no bound of the step, also if they count
// twice (surface_load_excess).
#define LOAD_THAT_COUNTS 0.5

// How near surfaces may be at the start, as a fraction of the thickness. Below this the cutting of
// steps (numerics.md) has no space to let them slide.
static const double SURFACES_LEAST_APART = 0.05;

// In an initial state, which a run may have written: what cuts leave at least, with a margin for
// rounding.
static const double SURFACES_LEFT_APART = 0.005;

// How near surfaces are, of the thickness, that the barrier pushes apart as hard as if they had
// been built to touch, but for rounding.
static const double SURFACES_PRESSED = 1.001;

// Two parts of surfaces, with their nodes: triangles, edges (two nodes) or single nodes.
struct surface_parts {
    size_t bodies[2];
    int counts[2];        // of nodes
    uint32_t nodes[2][3]; // internal numbers
};

// Triangles of the surface of a body as built, and how many of them are lower than some height, or
// have an edge at one corner that is nearer than that to the side opposite.
struct surface_triangles {
    uint64_t all, lower;
};

// The candidate that is nearest over its thickness, and how many are pressed.
struct surface_nearest {
    struct surface_parts parts;
    double part;      // the distance over the thickness; INFINITY: none are near
    uint64_t pressed; // candidates at most SURFACES_PRESSED thicknesses apart
    double energy;    // J, of the barriers of all
};

// How far one body has to move to be beyond another one and its contact, and in which direction, of
// those in which that is least as found by trying: m, at most 0 if a plane lies between their
// nodes; NAN: not known.
struct surface_overlap {
    double distance, axis[3];
};

// The node, edge or triangle of a body that is nearest to a plane, sphere or room.
struct shape_nearest {
    uint64_t pressed;      // parts at most SURFACES_PRESSED thicknesses away, of all bodies
    double energy;         // J, of the barriers of all
    double part, distance; // over the thickness; m, below 0 inside
    size_t collider, body;
    int count;         // of nodes
    uint32_t nodes[3]; // internal numbers
};

// What cuts have taken of the kinetic energy, J, from a step on, from 1 on (0: none); the energy
// before the first of them, and what was explained then (stability/divergence.c).
struct taken_count {
    uint64_t first;
    double energy, explained, taken;
};

// Steps of which the motion was cut, and those in which nodes with a prescribed motion left no
// solution to keep surfaces apart.
struct surface_cuts {
    uint64_t steps, unresolved;
    uint64_t cuts; // of which a step may have several: of substeps, and of stages that are repeated
    uint64_t last; // the step, from 1 on; 0: none
    // Steps in which nodes were cut in every direction, at planes at rest, and the last of these.
    // Where no prescribed motion takes part, that changes momentum: N s, the sums of what it took
    // of candidates, and of the lengths of these vectors.
    uint64_t stopped, last_stopped;
    double lost[3], lost_lengths;
    struct taken_count taken;
};

// What `existing: relax` has done: the pairs that crossed, and how far a node has moved at most.
struct surface_relaxed {
    uint64_t crossings, rounds;
    double farthest; // m
    bool no_memory;
    bool ends; // used while it works
};

// Sizes of contact: candidates in the present lists, and those of them that touch now.
// The stiffness of the barrier of a body, N/m, 0 for one without surfaces; and the force with which
// one of its contacts resists before motion has to be cut, N.
struct surface_stiffness {
    double stiffness, carries;
};

struct surface_counts {
    uint64_t blocks, triangles, candidates, touching;
};

// The points at which surfaces and colliders touch at present, in an order that does not depend on
// threads.
struct contact_points {
    taut_contact_point *items;
    uint64_t capacity;
    bool spread;    // if there is no space for all: one of `every` instead of the first ones
    uint64_t count; // of all
    uint64_t every; // items has one of so many
    bool no_memory;
    uint64_t *scratch; // used while they are listed
};

// The node at which contacts of surfaces leave the shortest step, with what they have in the
// present state instead of what the guaranteed step allows for (SURFACE_WEIGHTS).
struct contact_load {
    double stable; // s, that step; INFINITY: nothing touches, or there is no such limit
    double times;  // what contacts add there, over what the present dt leaves beside the springs
    uint64_t node; // its builders' number
    bool no_memory;
};

// The memory of friction between surfaces (contact/surface_friction.h), contact by contact, by the
// builders' numbers: a node and the corners of a triangle, or the ends of two edges.
enum {
    FRICTION_EDGES = 1,
    FRICTION_FRAMED = 2,
    FRICTION_SLIDING = 4,
    FRICTION_FIRST = 8, // along the first edge
    FRICTION_SECOND = 16,
    FRICTION_ALL = 31,
};
struct friction_contacts {
    uint64_t count;
    // Made by array_reserve, for `reserved` elements each.
    uint32_t *nodes;   // 4 each
    uint8_t *flags;    // FRICTION_EDGES and so on
    double *anchors;   // 3 each
    double *stretches; // m
    size_t reserved[4];
};

#endif
