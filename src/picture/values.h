// The values by which springs and nodes are coloured: strain or tension of each spring, and their
// mean at each node, for faces; the curvature of faces at each node; and the scale from values to
// colours. Computed on the processor, without OpenGL; the colours of the scale are in colours.h.
#ifndef TAUT_PICTURE_VALUES_H
#define TAUT_PICTURE_VALUES_H

#include "picture/colours.h"
#include "picture/renderer.h"

// The value of a broken spring (shaders/springs.glsl).
static const float VALUE_BROKEN = 2e30f;

struct values {
    float *springs, *nodes, *weights;
    float *spread[3]; // of nodes and weights, during smoothing; normals, for curvatures
    uint8_t *seen;    // per node: whether it is a corner of a face
    uint64_t spring_count, node_count;
    double least, most; // ends of the scale
    enum colour_map map;
    bool of_springs, of_nodes; // which values the last frame has
};

taut_status values_make(const struct subject *subject, struct values *values, taut_error *error);
void values_free(struct values *values);

// Computes the values of a colouring for a frame, on faces, on every `every`-th spring or on both,
// and the scale. A plain colouring only distinguishes broken springs.
void values_compute(struct values *values, const struct subject *subject, const struct frame *frame,
                    const struct render_options *options, bool faces, bool springs, uint64_t every);

// Rounds a positive value up to 1, 2, 3 or 5 times a power of ten.
double values_round_up(double value);

#endif
