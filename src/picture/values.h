// What springs and nodes are coloured by: strain or tension of each spring, and the mean of them at
// each node, for faces.
#ifndef TAUT_PICTURE_VALUES_H
#define TAUT_PICTURE_VALUES_H

#include "picture/colours.h"
#include "picture/renderer.h"

// In place of the value of a spring that is broken (shaders/springs.glsl).
static const float VALUE_BROKEN = 2e30f;

struct values {
    float *springs, *nodes, *weights;
    float *spread[2]; // nodes and weights while they are smoothed
    uint8_t *seen;    // a node: whether it is a corner of a face
    uint64_t spring_count, node_count;
    double least, most; // ends of the scale
    enum colour_map map;
    bool of_springs, of_nodes; // what is there of the moment that was taken last
};

taut_status values_make(const struct subject *subject, struct values *values, taut_error *error);
void values_free(struct values *values);

// Finds what a colouring shows of a moment, on faces, on every `every`-th spring or on both, and
// its scale. With a plain colouring only which springs are broken.
void values_take(struct values *values, const struct subject *subject,
                 const struct subject_moment *moment, const struct render_options *options,
                 bool faces, bool springs, uint64_t every);

#endif
