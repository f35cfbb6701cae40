// Products with the tangent of a grid's springs (kernels/tangent.h). Nodes are taken as one line,
// a register at a time, whatever row they are in: where a spring would lead out of a row, its 1 / L
// is 0, and so is all that it gives. The body of a kernel that is compiled for each instruction
// set; tangent_base.c and the others define TAUT_WIDE_ISA and TANGENT_NAME.
#include "kernels/kernels.h"
#include "kernels/tangent_row.h"

// A direction's numbers as one product wants them.
struct tangent_weights {
    real elastic, along, across, rest_length;
};

// The springs that begin at `spring`, to the nodes at `other`.
WIDE_INLINE void add_direction(struct tangent_row *row, const struct tangent_sources *s,
                               const struct tangent_direction *to,
                               const struct tangent_weights *weights, real floor, int64_t spring,
                               int64_t other, bool inside)
{
    struct tangent_ends o = tangent_ends_at(s, other, inside);
    struct tangent_ends d = tangent_apart(row, &o);
    wide inverse = tangent_load(to->inverse, spring, s->nodes, inside);
    wide ratio = to->ratio ? tangent_load(to->ratio, spring, s->nodes, inside)
                           : wide_multiply(wide_set(weights->rest_length), inverse);
    struct tangent_coefficients c =
        tangent_coefficients(inverse, ratio, wide_set(weights->elastic), wide_set(weights->along),
                             wide_set(weights->across), floor);
    c.across = wide_keep(wide_positive(inverse), c.across);
    tangent_add(row, &d, &c);
}

WIDE_INLINE void multiply_register(const struct tangent_grid *grid, const struct tangent_sources *s,
                                   const struct tangent_weights *weights, real floor, int64_t i,
                                   long left, bool inside)
{
    struct tangent_row row = tangent_row_at(s, i, inside);
    for (int d = 0; d < grid->count; d++) {
        const struct tangent_direction *to = &grid->to[d];
        int64_t back = i - to->offset, ahead = i + to->offset;
        if (inside || ahead < s->nodes)
            add_direction(&row, s, to, &weights[d], floor, i, ahead, inside);
        if (inside || back + WIDE_LANES > 0)
            add_direction(&row, s, to, &weights[d], floor, back, back, inside);
    }
    tangent_row_store(s, i, &row, left);
}

void TANGENT_NAME(tangent_grid)(const struct tangent_grid *grid,
                                const struct tangent_product *product, struct range nodes)
{
    const struct tangent_sources s = tangent_sources(product, grid->first_node, grid->nodes);
    const int64_t end = (int64_t)nodes.end;
    struct tangent_weights weights[DIRECTIONS_MAX];
    for (int d = 0; d < grid->count; d++) {
        const struct tangent_direction *to = &grid->to[d];
        real elastic = product->stiffness * to->stiffness;
        weights[d] = (struct tangent_weights){elastic, elastic + product->damping * to->along,
                                              product->damping * to->across, to->rest_length};
    }
    for (int64_t i = (int64_t)nodes.first; i < end; i += WIDE_LANES) {
        bool inside = i >= grid->reach && i + grid->reach + WIDE_LANES <= s.nodes;
        if (inside)
            multiply_register(grid, &s, weights, product->floor, i, (long)(end - i), true);
        else
            multiply_register(grid, &s, weights, product->floor, i, (long)(end - i), false);
    }
}
