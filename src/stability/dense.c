// Householder's reduction to Hessenberg form (Golub and Van Loan, Matrix Computations, 4th ed.,
// 7.4), the QR algorithm (hessenberg.h), and Cholesky's factorisation (4.2) as a test of
// definiteness.
//
// The linear form [0 I; -K / s^2, -C / s] has s = sqrt(|K|), not |C|: with strong damping its norm
// is |C| / s then, and round-off changes K by that times the last digit, instead of its square.
#include "stability/dense.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "stability/hessenberg.h"

size_t dense_scratch(int size)
{
    size_t rows = 2 * (size_t)size;
    return rows * rows + 3 * rows; // the linear form; its eigenvalues, a reflection's vector
}

// Whether limit I - d C - s K is positive definite.
static bool is_definite(const struct dense *dense, double limit, double d, double s)
{
    const size_t n = (size_t)dense->size;
    double *restrict l = dense->scratch;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++) {
            double sum = -d * dense->damping[i * n + j] - s * dense->stiffness[i * n + j];
            if (i == j)
                sum += limit;
            for (size_t k = 0; k < j; k++)
                sum -= l[i * n + k] * l[j * n + k];
            if (i == j && !(sum > 0))
                return false;
            l[i * n + j] = i == j ? sqrt(sum) : sum / l[j * n + j];
        }
    return true;
}

// With u = 1 / h it is the largest u at which F(u) = limit u^2 M - damping u C - stiffness K is
// singular. From u = damping |C| / (2 limit) on F grows with u, so that its root there is the only
// one; below, where K has to be indefinite, u falls in small steps.
double dense_form_step(const struct dense *dense, const struct step_form *form, double damping)
{
    const double ratio = 1.01;
    enum { DOWNWARDS = 1000, HALVINGS = 48 };
    double scale = 0;
    for (size_t i = 0; i < (size_t)dense->size; i++) {
        double row = 0;
        for (size_t j = 0; j < (size_t)dense->size; j++)
            row += fabs(dense->stiffness[i * (size_t)dense->size + j]);
        scale = fmax(scale, form->stiffness * row);
    }
    // No root is beyond this.
    double above = 1.01 / form->limit * (form->damping * damping + sqrt(form->limit * scale));
    double below = above;
    if (!(above > 0))
        return INFINITY;
    bool definite = true;
    for (int i = 0; i < DOWNWARDS && definite; i++) {
        above = below;
        below /= ratio;
        definite =
            is_definite(dense, form->limit * below * below, form->damping * below, form->stiffness);
    }
    if (definite)
        return INFINITY;
    for (int i = 0; i < HALVINGS && above - below > 1e-12 * above; i++) {
        double middle = below + (above - below) / 2;
        if (is_definite(dense, form->limit * middle * middle, form->damping * middle,
                        form->stiffness))
            above = middle;
        else
            below = middle;
    }
    return 1 / above;
}

// Roots of the quadratic problem in parts of s, and by how much they may be off: round-off in
// double, and what the matrices' elements are off besides.
struct roots {
    const double *re, *im;
    int count;
    double still;   // of modulus: those up to it count as at rest
    double nothing; // a step below it counts as none
    double round_off, error;
};

// Between which steps the least one is that the roots allow, in parts of 1 / s.
struct bracket {
    double low, value, high;
};

// Whether root i counts, and how far it may be off: the more the slower it is.
static bool counts(const struct roots *roots, int i, double *moved)
{
    const double re = roots->re[i], im = roots->im[i], modulus = hypot(re, im);
    // By itself, where springs are pressed; and two that coincide need not be real to the digit.
    const bool grows = re > fabs(im);
    *moved = fmax(1, 1 / modulus);
    return modulus > roots->still && !grows;
}

static struct bracket least_step(enum integrator integrator, const struct roots *roots)
{
    struct bracket least = {INFINITY, INFINITY, INFINITY};
    for (int i = 0; i < roots->count; i++) {
        const double re = roots->re[i], im = roots->im[i];
        double moved;
        if (!counts(roots, i, &moved))
            continue;
        moved *= roots->round_off + roots->error;
        least.low = fmin(least.low, integrator_root_step(integrator, re + moved, im));
        least.value = fmin(least.value, integrator_root_step(integrator, re, im));
        least.high = fmin(least.high, integrator_root_step(integrator, re - moved, im));
    }
    return least;
}

// Whether some mode oscillates without damping, but for round-off in double: then no step is stable
// with explicit Euler and midpoint. Of the latter's limit round-off alone would leave its cube root.
static bool is_any_undamped(const struct roots *roots)
{
    for (int i = 0; i < roots->count; i++) {
        const double re = roots->re[i], im = roots->im[i];
        double moved;
        if (!counts(roots, i, &moved))
            continue;
        moved *= roots->round_off;
        if (integrator_root_step(INTEGRATOR_EXPLICIT_EULER, re + moved, im) == 0 &&
            integrator_root_step(INTEGRATOR_EXPLICIT_EULER, re - moved, im) < roots->nothing)
            return true;
    }
    return false;
}

struct dense_steps dense_find(const struct dense *dense, double square, double damping)
{
    static const enum integrator integrators[] = {INTEGRATOR_EXPLICIT_EULER, INTEGRATOR_MIDPOINT,
                                                  INTEGRATOR_RK4};
    const double certain = 0.995, none = 1e-6;
    const size_t n = (size_t)dense->size, rows = 2 * n;
    double *matrix = dense->scratch, *re = matrix + rows * rows, *im = re + rows, *work = im + rows;
    struct dense_steps steps = {.found = false};
    double scale = fmax(sqrt(square), 1e-6 * damping);
    if (!(scale > 0) || !isfinite(scale))
        return steps;

    memset(matrix, 0, rows * rows * sizeof *matrix);
    for (size_t i = 0; i < n; i++) {
        matrix[i * rows + n + i] = 1;
        for (size_t j = 0; j < n; j++) {
            matrix[(n + i) * rows + j] = -dense->stiffness[i * n + j] / (scale * scale);
            matrix[(n + i) * rows + n + j] = -dense->damping[i * n + j] / scale;
        }
    }
    hessenberg_reduce(matrix, rows, re, work);
    if (!hessenberg_eigenvalues(matrix, (int)rows, (int)rows, re, im))
        return steps;

    // Two roots that coincide at rest are moved by the root of the round-off.
    const double norm = 1 + damping / scale, omega = sqrt(square) / scale;
    const struct roots roots = {.re = re,
                                .im = im,
                                .count = (int)rows,
                                .still = omega * fmax(dense->still, 64 * sqrt(DBL_EPSILON * norm)),
                                .nothing = none / fmax(omega, damping / scale / 2),
                                .round_off = 4 * DBL_EPSILON * norm,
                                .error = dense->damping_error / scale +
                                         dense->stiffness_error / (scale * scale)};
    const bool undamped = is_any_undamped(&roots);
    for (int i = 0; i < 3; i++) {
        enum integrator integrator = integrators[i];
        struct bracket least = least_step(integrator, &roots);
        bool is_none = (undamped && integrator != INTEGRATOR_RK4) || least.high < roots.nothing;
        bool known = is_none || least.low >= certain * least.high;
        steps.exact[integrator] = known;
        steps.step[integrator] = is_none ? 0 : (known ? least.value : least.low) / scale;
    }
    steps.found = true;
    return steps;
}
