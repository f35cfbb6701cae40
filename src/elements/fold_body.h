// The kernels of folds (folds.c), compiled for each instruction set by kernels/table.h, some folds
// at once: the data of nodes and other folds is gathered, the loops over the folds are plain, so
// that compilers vectorise them and every number is computed by the same operations on every
// instruction set.
#include "elements/elements.h"
#include "simd/wide.h"

enum { FOLDS_AT_ONCE = 16 };

typedef real fold_lanes[FOLDS_AT_ONCE];

// One vector per fold.
struct fold_vectors {
    _Alignas(64) fold_lanes axis[3];
};

// The positions (or changes) of the corners over that of a: b, c, d. `low`: the low parts of
// positions in mixed precision, or NULLs.
static inline void fold_sides(const real *const from[3], const real *const low[3],
                              const struct fold *folds, int count, struct fold_vectors sides[3])
{
    for (int axis = 0; axis < 3; axis++) {
        const real *x = from[axis], *rest = low[axis];
        for (int lane = 0; lane < FOLDS_AT_ONCE; lane++) {
            const uint32_t *nodes = folds[lane < count ? lane : count - 1].nodes;
            const real a = x[nodes[0]];
            for (int corner = 0; corner < 3; corner++)
                sides[corner].axis[axis][lane] = x[nodes[corner + 1]] - a;
        }
        for (int lane = 0; rest && lane < FOLDS_AT_ONCE; lane++) {
            const uint32_t *nodes = folds[lane < count ? lane : count - 1].nodes;
            const real a = rest[nodes[0]];
            for (int corner = 0; corner < 3; corner++)
                sides[corner].axis[axis][lane] += rest[nodes[corner + 1]] - a;
        }
    }
}

// to := a x b
static inline void fold_cross(const struct fold_vectors *a, const struct fold_vectors *b,
                              struct fold_vectors *to)
{
    for (int axis = 0; axis < 3; axis++) {
        const int y = (axis + 1) % 3, z = (axis + 2) % 3;
        for (int lane = 0; lane < FOLDS_AT_ONCE; lane++)
            to->axis[axis][lane] =
                a->axis[y][lane] * b->axis[z][lane] - a->axis[z][lane] * b->axis[y][lane];
    }
}

// to := a.b
static inline void fold_dots(const struct fold_vectors *a, const struct fold_vectors *b,
                             real *restrict to)
{
    for (int lane = 0; lane < FOLDS_AT_ONCE; lane++)
        to[lane] = a->axis[0][lane] * b->axis[0][lane] + a->axis[1][lane] * b->axis[1][lane] +
                   a->axis[2][lane] * b->axis[2][lane];
}

// The quantities of a fold's present shape that its strain depends on.
struct fold_angles {
    _Alignas(64) fold_lanes square, areas[2]; // of the edge; |n|^2
    _Alignas(64) fold_lanes cosines, beyond;  // n1.n2; n1.(d - a)
    _Alignas(64) fold_lanes along[2];         // of the edge, where a triangle's height is
};

// The strains, their derivatives by theta, and the factors of the normals in u.
static inline void fold_bend(const struct fold_angles *now, const struct fold *folds, int count,
                             real *restrict strains, real *restrict slopes, fold_lanes factors[2])
{
    _Alignas(64) fold_lanes lengths, rest_cosines, rest_sines;
    for (int lane = 0; lane < FOLDS_AT_ONCE; lane++) {
        const struct fold *fold = &folds[lane < count ? lane : count - 1];
        lengths[lane] = fold->length;
        rest_cosines[lane] = fold->cosine;
        rest_sines[lane] = fold->sine;
    }
    for (int lane = 0; lane < FOLDS_AT_ONCE; lane++) {
        const real one = 1, two = 2, half = (real)0.5, none = 0;
        const real first = now->areas[0][lane], second = now->areas[1][lane];
        const bool exists = first > none && second > none;
        const real length = real_sqrt(now->square[lane]);
        const real product = real_sqrt(first) * real_sqrt(second);
        const real inverse = exists ? one / (exists ? product : one) : none;
        const real cosine = now->cosines[lane] * inverse;
        const real sine = -(length * now->beyond[lane]) * inverse;
        const real c = cosine * rest_cosines[lane] + sine * rest_sines[lane];
        const real s = sine * rest_cosines[lane] - cosine * rest_sines[lane];
        const real plus = (one + c) * half, minus = (one - c) * half;
        const real half_cosine = real_sqrt(plus > none ? plus : none);
        const real half_sine = real_sqrt(minus > none ? minus : none);
        const bool sharp = c < none;
        const real folded = s < none ? -(two * half_sine) : two * half_sine;
        const real strain = sharp ? folded : s / (sharp ? one : half_cosine);
        strains[lane] = exists ? lengths[lane] * strain : none;
        slopes[lane] = exists ? lengths[lane] * half_cosine : none;
        factors[0][lane] = exists ? length / (exists ? first : one) : none;
        factors[1][lane] = exists ? length / (exists ? second : one) : none;
    }
}

static void fold_strains(const struct system *system, struct range range, bool rates)
{
    const struct element_folds *folds = &system->elements->bending.folds;
    const struct state *s = system->state;
    const real *const x[3] = {s->x, s->y, s->z}, *const v[3] = {s->vx, s->vy, s->vz};
    const real *const low[3] = {s->x_low, s->y_low, s->z_low}, *const no_low[3] = {NULL, NULL,
                                                                                   NULL};
    for (size_t first = range.first; first < range.end; first += FOLDS_AT_ONCE) {
        const struct fold *items = folds->items + first;
        const int count =
            range.end - first < FOLDS_AT_ONCE ? (int)(range.end - first) : FOLDS_AT_ONCE;
        struct fold_vectors sides[3], normals[2]; // edge, c - a, d - a
        struct fold_angles now;
        _Alignas(64) fold_lanes strains, slopes, factors[2], changes = {0};
        fold_sides(x, low, items, count, sides);
        fold_cross(&sides[0], &sides[1], &normals[0]);
        fold_cross(&sides[2], &sides[0], &normals[1]);
        fold_dots(&sides[0], &sides[0], now.square);
        fold_dots(&normals[0], &normals[0], now.areas[0]);
        fold_dots(&normals[1], &normals[1], now.areas[1]);
        fold_dots(&normals[0], &normals[1], now.cosines);
        fold_dots(&normals[0], &sides[2], now.beyond);
        fold_dots(&sides[1], &sides[0], now.along[0]);
        fold_dots(&sides[2], &sides[0], now.along[1]);
        fold_bend(&now, items, count, strains, slopes, factors);
        for (int side = 0; side < 2; side++)
            for (int lane = 0; lane < FOLDS_AT_ONCE; lane++) {
                const bool exists = slopes[lane] > 0;
                const real factor = slopes[lane] * factors[side][lane];
                for (int axis = 0; axis < 3; axis++)
                    normals[side].axis[axis][lane] *= factor;
                now.along[side][lane] =
                    exists ? now.along[side][lane] / (exists ? now.square[lane] : 1) : 0;
            }
        if (rates) {
            struct fold_vectors moving[3];
            fold_sides(v, no_low, items, count, moving);
            for (int side = 0; side < 2; side++) {
                _Alignas(64) fold_lanes beyond, edge;
                fold_dots(&normals[side], &moving[1 + side], beyond);
                fold_dots(&normals[side], &moving[0], edge);
                for (int lane = 0; lane < FOLDS_AT_ONCE; lane++)
                    changes[lane] -= beyond[lane] - now.along[side][lane] * edge[lane];
            }
        }
        for (int lane = 0; lane < count; lane++) {
            real *vectors = folds->vectors[first + (size_t)lane];
            folds->strains[first + (size_t)lane] = strains[lane];
            folds->rates[first + (size_t)lane] = changes[lane];
            for (int side = 0; side < 2; side++) {
                for (int axis = 0; axis < 3; axis++)
                    vectors[3 * side + axis] = normals[side].axis[axis][lane];
                vectors[6 + side] = now.along[side][lane];
            }
        }
    }
}

// to := the rows of Q times `values`.
static inline void fold_couple(const struct fold *folds, const real *values, const real *own,
                               int count, real *restrict to)
{
    for (int lane = 0; lane < FOLDS_AT_ONCE; lane++) {
        const int at = lane < count ? lane : count - 1;
        const struct fold *fold = &folds[at];
        to[lane] = fold->own * own[at] + (fold->couplings[0] * values[fold->others[0]] +
                                          fold->couplings[1] * values[fold->others[1]] +
                                          (fold->couplings[2] * values[fold->others[2]] +
                                           fold->couplings[3] * values[fold->others[3]]));
    }
}

static double fold_forces(const struct system *system, struct range range, bool power)
{
    const struct element_bending *bending = &system->elements->bending;
    const struct element_folds *folds = &bending->folds;
    double sum = 0;
    for (size_t first = range.first; first < range.end; first += FOLDS_AT_ONCE) {
        const struct fold *items = folds->items + first;
        const int count =
            range.end - first < FOLDS_AT_ONCE ? (int)(range.end - first) : FOLDS_AT_ONCE;
        _Alignas(64) fold_lanes moments, rates;
        fold_couple(items, folds->strains, folds->strains + first, count, moments);
        if (bending->damped) {
            fold_couple(items, folds->rates, folds->rates + first, count, rates);
            for (int lane = 0; lane < count; lane++)
                rates[lane] *= bending->times[items[lane].nodes[0]];
            for (int lane = 0; lane < count; lane++)
                moments[lane] += rates[lane];
            for (int lane = 0; power && lane < count; lane++)
                sum += (double)(bending->stiffness[items[lane].nodes[0]] * rates[lane] *
                                folds->rates[first + (size_t)lane]);
        }
        for (int lane = 0; lane < count; lane++) {
            const real moment = moments[lane] * bending->stiffness[items[lane].nodes[0]];
            real *vectors = folds->vectors[first + (size_t)lane];
            const real left_along = vectors[6], right_along = vectors[7];
            for (int axis = 0; axis < 3; axis++) {
                const real left = moment * vectors[axis], right = moment * vectors[3 + axis];
                vectors[axis] = -(left_along * left + right_along * right);
                vectors[3 + axis] = left;
                vectors[6 + axis] = right;
            }
        }
    }
    return sum;
}
