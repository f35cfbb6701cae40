// Products with the tangent of a grid's springs (springs/tangent.h), and solves of the line
// preconditioner. The nodes of a grid are treated as one line, a register at a time, regardless of
// rows: where a direction would leave its row, 1 / L is 0, and so is the contribution. The kernel
// body is compiled for each instruction set by kernels/table.h.
#include <string.h>

#include "kernels/kernels.h"
#include "springs/tangent_row.h"

// The constants of a direction, scaled for one product.
struct tangent_weights {
    real elastic, along, across, rest_length;
};

// Adds the springs that start at the nodes `spring`, whose ends other than the row's nodes are
// `other`.
WIDE_INLINE void add_direction(struct tangent_row *row, const struct tangent_sources *s,
                               const struct tangent_constants *to,
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
    c.across = wide_masked(wide_positive(inverse), c.across);
    if (to->shares) {
        const wide share = tangent_load(to->shares, spring, s->nodes, inside);
        c.across = wide_multiply(share, c.across);
        c.more = wide_multiply(share, c.more);
    }
    tangent_add(row, &d, &c);
}

WIDE_INLINE void multiply_register(const struct tangent_grid *grid, const struct tangent_sources *s,
                                   const struct tangent_weights *weights, real floor, int64_t i,
                                   long left, bool inside)
{
    struct tangent_row row = tangent_row_at(s, i, inside);
    for (int d = 0; d < grid->grid->direction_count; d++) {
        const struct tangent_constants *to = &grid->constants[d];
        const int64_t offset = grid->grid->directions[d].offset;
        int64_t back = i - offset, ahead = i + offset;
        if (inside || ahead < s->nodes)
            add_direction(&row, s, to, &weights[d], floor, i, ahead, inside);
        if (inside || back + WIDE_LANES > 0)
            add_direction(&row, s, to, &weights[d], floor, back, back, inside);
    }
    tangent_row_store(s, i, &row, left);
}

static void grid_tangent(const struct tangent_grid *grid, const struct tangent_product *product,
                         struct range nodes)
{
    const struct tangent_sources s = tangent_sources(product, grid->first_node, grid->nodes);
    const int64_t end = (int64_t)nodes.end;
    struct tangent_weights weights[DIRECTIONS_MAX];
    for (int d = 0; d < grid->grid->direction_count; d++) {
        const struct tangent_constants *to = &grid->constants[d];
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

// ---- Grid lines of the preconditioner (lines.c)
//
// A bundle of lines is solved at once: forwards with the lower factor and backwards with the upper
// one. These are plain loops over the lanes, which compilers vectorise; nothing is summed across
// lanes, so the bits are the same on every instruction set.

struct line_vectors {
    real v[3][LINE_LANES];
};

static inline struct line_vectors line_gather(const struct line_bundle *bundle,
                                              const real *const from[3], size_t p)
{
    struct line_vectors vectors;
    for (size_t c = 0; c < 3; c++)
        for (size_t i = 0; i < LINE_LANES; i++)
            vectors.v[c][i] = from[c][bundle->starts[i] + p * bundle->step];
    return vectors;
}

static inline void line_scatter(const struct line_bundle *bundle, real *const to[3], size_t p,
                                const struct line_vectors *vectors, bool add)
{
    for (size_t c = 0; c < 3; c++)
        for (size_t i = 0; i < bundle->count; i++) {
            real *at = &to[c][bundle->starts[i] + p * bundle->step];
            *at = (add ? *at : 0) + vectors->v[c][i];
        }
}

// to += a y_0 + b y_1 + c y_2, the product of a row of a 3 x 3 block with y.
static inline void line_add(real to[LINE_LANES], const real a[LINE_LANES], const real b[LINE_LANES],
                            const real c[LINE_LANES], const struct line_vectors *y)
{
    for (size_t i = 0; i < LINE_LANES; i++)
        to[i] += a[i] * y->v[0][i] + b[i] * y->v[1][i] + c[i] * y->v[2][i];
}

// The forward pass: y_p = r_p + W' y_(p-1); S^-1 y_p is stored for the backward pass.
static void line_forward(const struct line_bundle *bundle, const real *const from[3])
{
    struct line_vectors y = {{{0}}};
    for (size_t p = 0; p < bundle->length; p++) {
        struct line_node *node = &bundle->nodes[p];
        struct line_vectors next = line_gather(bundle, from, p), forward = {{{0}}};
        const real(*w)[LINE_LANES] = bundle->nodes[p - (p > 0)].coupling;
        for (size_t c = 0; p > 0 && c < 3; c++)
            line_add(next.v[c], w[c], w[3 + c], w[6 + c], &y);
        y = next;
        const real(*s)[LINE_LANES] = node->inverse;
        line_add(forward.v[0], s[0], s[3], s[4], &y);
        line_add(forward.v[1], s[3], s[1], s[5], &y);
        line_add(forward.v[2], s[4], s[5], s[2], &y);
        memcpy(node->forward, forward.v, sizeof forward.v);
    }
}

// Both passes; the backward one is z_p = S^-1 y_p + W z_(p+1). Stores z, or adds it if `add`.
static void line_solve(const struct line_bundle *bundle, const real *const from[3],
                       real *const to[3], bool add)
{
    line_forward(bundle, from);
    struct line_vectors z = {{{0}}};
    for (size_t p = bundle->length; p-- > 0;) {
        const struct line_node *node = &bundle->nodes[p];
        struct line_vectors next;
        memcpy(next.v, node->forward, sizeof next.v);
        for (size_t c = 0; c < 3; c++)
            line_add(next.v[c], node->coupling[3 * c], node->coupling[3 * c + 1],
                     node->coupling[3 * c + 2], &z);
        line_scatter(bundle, to, p, &next, add);
        z = next;
    }
}
