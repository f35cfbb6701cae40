// The solution of a bundle of lines (kernels/line.h), out by the factors' lower part and back by
// the upper. Plain loops over the lanes, which compilers make registers of: they add nothing up
// across lanes, so that the bits are those of every instruction set. The body of a kernel that is
// compiled for each of these; tangent_base.c and the others define TANGENT_NAME.
#include <string.h>

#include "kernels/kernels.h"

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

// to += the product of a row of three numbers with y.
static inline void line_add(real to[LINE_LANES], const real a[LINE_LANES], const real b[LINE_LANES],
                            const real c[LINE_LANES], const struct line_vectors *y)
{
    for (size_t i = 0; i < LINE_LANES; i++)
        to[i] += a[i] * y->v[0][i] + b[i] * y->v[1][i] + c[i] * y->v[2][i];
}

// y_p = r_p + W' y_(p-1), and S^-1 y_p is kept.
static void line_out(const struct line_bundle *bundle, const real *const from[3])
{
    struct line_vectors y = {{{0}}};
    for (size_t p = 0; p < bundle->length; p++) {
        struct line_node *node = &bundle->nodes[p];
        struct line_vectors next = line_gather(bundle, from, p), half = {{{0}}};
        const real(*w)[LINE_LANES] = bundle->nodes[p - (p > 0)].link;
        for (size_t c = 0; p > 0 && c < 3; c++)
            line_add(next.v[c], w[c], w[3 + c], w[6 + c], &y);
        y = next;
        const real(*s)[LINE_LANES] = node->inverse;
        line_add(half.v[0], s[0], s[3], s[4], &y);
        line_add(half.v[1], s[3], s[1], s[5], &y);
        line_add(half.v[2], s[4], s[5], s[2], &y);
        memcpy(node->half, half.v, sizeof half.v);
    }
}

// z_p = S^-1 y_p + W z_(p+1)
void TANGENT_NAME(line_solve)(const struct line_bundle *bundle, const real *const from[3],
                              real *const to[3], bool add)
{
    line_out(bundle, from);
    struct line_vectors z = {{{0}}};
    for (size_t p = bundle->length; p-- > 0;) {
        const struct line_node *node = &bundle->nodes[p];
        struct line_vectors next;
        memcpy(next.v, node->half, sizeof next.v);
        for (size_t c = 0; c < 3; c++)
            line_add(next.v[c], node->link[3 * c], node->link[3 * c + 1], node->link[3 * c + 2],
                     &z);
        line_scatter(bundle, to, p, &next, add);
        z = next;
    }
}
