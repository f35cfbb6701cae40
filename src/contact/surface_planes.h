// The plane between the two sides of a candidate of contact in a step, and the frames in which it
// is at rest (surface_limit.c cuts motion there). Numeric.
#ifndef TAUT_CONTACT_SURFACE_PLANES_H
#define TAUT_CONTACT_SURFACE_PLANES_H

#include "contact/surface_carriers.h"

// The distance, m, below which the sides of a pair are not brought.
static inline double least_distance(const struct surface_contact *it, const struct block_pair *pair)
{
    return CUT_LEAST * thickness_between(it, it->surfaces.blocks[pair->a].body,
                                         it->surfaces.blocks[pair->b].body);
}

// A candidate during the step: its nodes, where they were and how far they have moved.
struct crossing {
    uint32_t nodes[4];
    int split; // how many of them are on the first side
    vec3 start[4], moved[4], velocity[4];
    vec3 normal;
    double height[4]; // m, at the start, above the plane, each on its side
    double keep;      // m, the height that has to be left
    double least;     // m, the distance below which the sides are not brought
    bool tight;       // the sides are so near that nothing more is allowed
    double rounding;  // m, what rounding of positions changes of the distance along the normal
    double digits;    // m, the same of what a step that is taken back wholly leaves
};

// The frame in which a candidate is cut, as displacements and velocities at its nodes: a common
// factor of what the nodes have relative to it is taken. It moves with the centre of mass of the
// nodes, so that this keeps momentum and takes energy; or with the nodes of prescribed motion,
// which nothing cuts; or, if candidates are not cut together, it is that of all of them: at rest,
// or moving evenly.
//
// Where such nodes would pass the plane, as those of a mesh collider that turns, and are one side,
// the frame turns and stretches with them: by an affine map x -> x + A x, A = sum of change[k]
// dual[k]T, which takes that side along, and of two edges also the turning of the other one. As
// affine maps keep planes and sides, a plane at rest in the frame keeps the sides apart.
struct frame {
    vec3 moved[4], velocity[4];
    vec3 carried[4]; // the velocities there that follow from the prescribed motion alone
    bool driven;     // there are nodes with a prescribed motion, or it is that of one
    bool common;     // of all candidates that are not cut together and have no such nodes
    int directions;  // of A, 0 to 3
    vec3 change[3], dual[3];
    double size; // at least the norm of A
};

// Where everything was at the start of the step, and what has become of it.
void REAL_NAME(crossing_find)(const struct system *system, const struct block_pair *pair,
                              const struct candidate *found, struct crossing *it);

// The frame of a candidate's own nodes. `together`: without a prescribed motion that of their
// centre of mass; otherwise it is at rest then.
struct frame REAL_NAME(frame_of_cut)(const struct system *system, const struct crossing *it,
                                     bool together);

// A frame that moves as a carrier does.
struct frame REAL_NAME(frame_carried)(const struct system *system, const struct crossing *it,
                                      const struct carrier *carrier);

// A frame that takes along what has a prescribed motion, and also those carried nodes that would
// pass the plane then, if they moved with what carries them; false if there are none.
bool REAL_NAME(frame_bent)(const struct system *system, const struct crossing *it,
                           struct frame *frame);

// How far node i comes nearer to the plane in the frame, m; and how much more at most, as the frame
// turns.
double REAL_NAME(frame_approach)(const struct frame *with, const struct crossing *it, int i);
double REAL_NAME(frame_turned)(const struct frame *with, const struct crossing *it, int i);

// Whether the sides of a candidate that is tight come nearer along the normal, which in steps
// without end would lead through each other, however little it is.
bool REAL_NAME(crossing_narrows)(const struct crossing *it);

// Whether a node that comes so much nearer passes the plane, or leaves less than half of `keep`.
bool REAL_NAME(crossing_passes)(const struct crossing *it, int i, double approach);

// Whether straight paths from the start keep the sides apart all the time, by at least half of
// `least`, and by all of it at the end, so that no plane is needed. False where that takes too long
// to find out.
bool REAL_NAME(crossing_stays_apart)(const struct crossing *it);

#endif
