// What output sees of a run: one frame of every body, in double and in builder order.
#ifndef TAUT_OUTPUT_SNAPSHOT_H
#define TAUT_OUTPUT_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct snapshot_body {
    const char *name;
    uint64_t node_count;
    const double *positions;  // 3 a node, m
    const double *velocities; // 3 a node, m/s
    const double *forces;     // 3 a node, N: all forces of docs/numerics.md at this time
    uint64_t spring_count;
    const uint32_t (*springs)[2]; // body's node numbers, builder order
    const double *strains; // a spring: (L - L0) / L0 of the present rest length; 0 where L0 is 0
    const uint8_t *broken; // a spring; NULL: none can break
    bool springs_change;   // some of its springs can break or yield
    uint64_t sheet[2];     // of a cloth: nodes along u and v; zeros: it is none
    uint64_t face_count;
    int face_arity; // 3, 2 or 0
    const uint32_t *faces;
    double volume; // m3 (m2 in a plane); 0 unless the body is closed
};

// Work done so far, in joules: what was taken out of the mechanical energy by each cause (positive:
// taken away), and what wind and drives put in (positive: put in).
struct snapshot_work {
    double damping, drag,
        friction;      // taken by spring damping, air drag, colliders' friction, absorption
    double keep;       // taken by keep_velocity
    double projection; // taken by colliders that project, but for their friction
    double breaking;   // elastic energy that broke or yielded away
    double wind, drives, inflation; // put in
};

struct snapshot {
    double time; // s
    uint64_t step;
    bool single; // the run's precision, for how many digits are worth writing
    double kinetic, elastic, gravity, gas, contact, total; // J
    bool has_work;
    struct snapshot_work work;
    const struct snapshot_body *bodies;
    size_t body_count;
};

#endif
