// What carries nodes along, where cutting the motion of a step has not come to an end
// (surface_limit.c): a mesh, a sphere or a driven node whose prescribed motion pushes them,
// themselves or through others. Numeric.
//
// In the frame of what moves them the start of the step keeps all surfaces apart, and so does
// whatever is left of the motion of nodes relative to that frame.
#ifndef TAUT_CONTACT_SURFACE_CARRIERS_H
#define TAUT_CONTACT_SURFACE_CARRIERS_H

#include "contact/surface_lists.h"

// Its motion in the step as an affine map of positions, x -> x + moved + sum of change[k]
// dual[k].(x - origin), and that of its velocities at the end, likewise. The duals are at right
// angles.
struct carrier {
    bool known;
    vec3 origin, moved, velocity;
    int directions; // 0 to 3
    vec3 change[3], faster[3], dual[3];
    double size; // at least the norm of the matrix
};

// Numbers of carriers: driven nodes of bodies, all of which count as moving as the one that moves
// farthest; then meshes, and all colliders for planes, spheres and rooms.
enum { CARRIER_OF_NODES, CARRIERS_BEFORE_MESHES };

struct carriers {
    struct carrier *items;
    size_t count;
    uint32_t *of; // by node of a body: the number of its carrier, NOT_CARRIED
    size_t nodes;
};

#define NOT_CARRIED UINT32_MAX

// From now on in this cut nodes may be carried; none is. By the first worker; false without memory.
bool REAL_NAME(carriers_begin)(struct system *system);

void REAL_NAME(carriers_free)(struct system *system);
uint64_t REAL_NAME(carriers_bytes)(const struct surface_contact *it);

// That of a mesh, by the nodes that a block has of it; NULL: it is at rest, or turns too far in
// the step. By the first worker.
const struct carrier *REAL_NAME(carrier_of_mesh)(struct system *system, size_t mesh, size_t block);

// The number of the carrier of a plane, sphere or room that moves as a whole, in the step and at
// its end.
size_t REAL_NAME(carrier_of_shape)(struct system *system, size_t collider, vec3 moved,
                                   vec3 velocity);

// The same of driven nodes of bodies: the greater motion counts.
size_t REAL_NAME(carrier_of_nodes)(struct system *system, vec3 moved, vec3 velocity);

// For the cut of a step in which nodes have been moved out of spheres that project and move
// (surface_lift.c). The first function marks these nodes as carried from the beginning. The second
// one, if `holds`, leaves each node that a cut has moved back into a sphere only the part of its
// motion relative to the sphere that ends outside, and returns whether there are such nodes. Called
// by the first worker.
void REAL_NAME(surface_lift_carry)(struct system *system);
bool REAL_NAME(surface_lift_hold)(struct system *system);

#endif
