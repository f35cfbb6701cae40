// The broad phase of contact for positions that a test gives, in single or double precision, with
// a team of its own.
#ifndef TAUT_TESTS_BROAD_PHASE_FIXTURE_H
#define TAUT_TESTS_BROAD_PHASE_FIXTURE_H

#include "test.h"

#include "contact/surfaces.h"
#include "parallel/team.h"
#include "simd/isa.h"

enum candidate_kind { POINT_TRIANGLE, EDGE_EDGE };

// A node by its number over all bodies and a triangle by its index in the surfaces, or two edges by
// their indices, the lower one first.
struct candidate {
    enum candidate_kind kind;
    uint32_t a, b;
};

// The rules of the broad phase, and how it runs.
struct search {
    const struct surfaces *surfaces;
    uint64_t nodes;
    size_t bodies;
    const double (*positions)[3], (*built)[3];
    const double *radius, *apart;
    const bool *enabled;
    bool mixed; // with low parts, as in precision mixed
    int threads;
    enum isa isa;
    const taut_allocator *allocator;
};

struct search_result {
    bool found;              // false: no memory
    struct candidate *items; // sorted; the caller frees them
    size_t count;
    uint64_t hash;  // of the lists, with their order
    uint64_t bytes; // of the broad phase
    size_t between; // pairs with edges that are nearer than the points that are found for them
};

// Asserts that the lists are in the order that broad_phase.h describes, and that kernels choose the
// nearer ones of their candidates. Searches twice, the first
// time for other positions.
struct search_result search_f32(const struct search *search);
struct search_result search_f64(const struct search *search);

// Lower bounds of the distance of two flat blocks of cells of 7 mm, one above the other, which lie
// at an angle to the axes, shifted by 3 cells against each other: from their nodes, and from their
// frames.
struct separations {
    double by_nodes, by_frames;
};

struct separations separations_f32(double distance);
struct separations separations_f64(double distance);

// Counts for each node how often a rank that has `own` finds it in the rows of a part of a tile, of
// `count` nodes each, `stride` apart (springs/motion.h).
void count_rows_f32(size_t first, size_t rows, size_t count, size_t stride, struct range own,
                    uint8_t *counts);
void count_rows_f64(size_t first, size_t rows, size_t count, size_t stride, struct range own,
                    uint8_t *counts);

#endif
