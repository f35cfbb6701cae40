// Householder's reduction to Hessenberg form (Golub and Van Loan, Matrix Computations, 4th ed.,
// 7.4), the QR algorithm (hessenberg.h), and Cholesky's factorisation (4.2) as a test of
// definiteness.
//
// The linearisation [0 I; -K / s^2, -C / s] uses s = sqrt(|K|), not |C|: with strong damping its
// norm is then |C| / s, and the relative round-off of K is that times the last digit, instead of
// its square.
//
// Explicit Euler is limited by 2 z / omega of a mode with the damping ratio z, midpoint by the cube
// root of z, and eigenvalues have an error of the last digit times |C| / s. If that hides z, the
// mode's vector x is found by inverse iteration (7.6.1): its error is its residual divided by the
// distance to other eigenvalues, and x' C x, a sum of squares, has an error of the square of that.
#include "stability/dense.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "stability/hessenberg.h"

size_t dense_scratch(int size)
{
    size_t rows = 2 * (size_t)size;
    return rows * rows + 5 * rows; // the linearised matrix; its eigenvalues with their brackets
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

// With u = 1 / h this is the largest u at which F(u) = limit u^2 M - damping u C - stiffness K is
// singular. For u > damping |C| / (2 limit), F grows with u, so a root there is the only one; below
// that, where K must be indefinite, u decreases in small steps.
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
    // No root is larger than this.
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

// Roots of the quadratic problem in units of s. In a pair, the one with im > 0 counts.
struct roots {
    int count;
    double *re, *im;
    double *low, *high; // for damped oscillations, a bracket of the damping -re
    double stationary;  // modulus up to which roots count as stationary
    double error;       // error of re for a root of modulus 1; slower roots have larger errors
};

// A bracket of the smallest step that the roots allow, in units of 1 / s.
struct bracket {
    double low, value, high;
};

// Whether root i limits a step.
static bool counts(const struct roots *roots, int i)
{
    const double re = roots->re[i], im = roots->im[i];
    // Physical growth, if springs are compressed. Two coinciding roots may have a small imaginary
    // part.
    const bool grows = re > fabs(im);
    return im >= 0 && hypot(re, im) > roots->stationary && !grows;
}

static struct bracket step_of_root(enum integrator integrator, const struct roots *roots, int i)
{
    const double least = integrator_root_step(integrator, -roots->low[i], roots->im[i]),
                 value = integrator_root_step(integrator, roots->re[i], roots->im[i]),
                 most = integrator_root_step(integrator, -roots->high[i], roots->im[i]);
    return (struct bracket){fmin(value, fmin(least, most)), value, fmax(value, fmax(least, most))};
}

static struct bracket least_step(enum integrator integrator, const struct roots *roots)
{
    struct bracket least = {INFINITY, INFINITY, INFINITY};
    for (int i = 0; i < roots->count; i++) {
        if (!counts(roots, i))
            continue;
        const struct bracket step = step_of_root(integrator, roots, i);
        least.low = fmin(least.low, step.low);
        least.value = fmin(least.value, step.value);
        least.high = fmin(least.high, step.high);
    }
    return least;
}

// Steps within this relative difference count as equal.
static const double CERTAIN = 0.995;

static bool is_known(const struct bracket *step)
{
    return step->low >= CERTAIN * step->high;
}

// ---- The damping of oscillations whose roots do not resolve it

// The vectors of nearly equal roots are mixtures of their eigenvectors, so up to this many are
// found together; with more the damping is not refined.
enum { CLUSTER_MAX = 6 };

// K / s^2 + z C / s + z^2 at z, row after row, each element a real and an imaginary part.
static void fill_quadratic(const struct dense *dense, double scale, double re, double im,
                           double *restrict matrix)
{
    const size_t n = (size_t)dense->size;
    for (size_t i = 0; i < n * n; i++) {
        const double k = dense->stiffness[i] / (scale * scale), c = dense->damping[i] / scale;
        matrix[2 * i] = k + re * c;
        matrix[2 * i + 1] = im * c;
    }
    for (size_t i = 0; i < n; i++) {
        matrix[2 * (i * n + i)] += re * re - im * im;
        matrix[2 * (i * n + i) + 1] += 2 * re * im;
    }
}

// Gaussian elimination with pivots in the column. A pivot that is 0 becomes `tiny`, as it should be
// next to an eigenvalue.
static void factorise(double *restrict a, size_t n, double tiny, size_t *restrict pivots)
{
    for (size_t k = 0; k < n; k++) {
        size_t pivot = k;
        for (size_t i = k + 1; i < n; i++)
            if (hypot(a[2 * (i * n + k)], a[2 * (i * n + k) + 1]) >
                hypot(a[2 * (pivot * n + k)], a[2 * (pivot * n + k) + 1]))
                pivot = i;
        pivots[k] = pivot;
        for (size_t j = 0; j < 2 * n && pivot != k; j++) {
            const double swapped = a[2 * k * n + j];
            a[2 * k * n + j] = a[2 * pivot * n + j];
            a[2 * pivot * n + j] = swapped;
        }
        double *head = a + 2 * (k * n + k);
        if (hypot(head[0], head[1]) < tiny)
            head[0] = tiny;
        const double square = head[0] * head[0] + head[1] * head[1];
        const double re = head[0] / square, im = -head[1] / square;
        for (size_t i = k + 1; i < n; i++) {
            double *restrict row = a + 2 * i * n;
            const double *restrict top = a + 2 * k * n;
            const double x = row[2 * k] * re - row[2 * k + 1] * im,
                         y = row[2 * k] * im + row[2 * k + 1] * re;
            row[2 * k] = x;
            row[2 * k + 1] = y;
            for (size_t j = 2 * k + 2; j < 2 * n; j += 2) {
                row[j] -= x * top[j] - y * top[j + 1];
                row[j + 1] -= x * top[j + 1] + y * top[j];
            }
        }
    }
}

// x: n real parts, then n imaginary ones.
static void solve_factorised(const double *restrict a, size_t n, const size_t *restrict pivots,
                             double *restrict x)
{
    double *restrict y = x + n;
    for (size_t k = 0; k < n; k++) {
        const double re = x[pivots[k]], im = y[pivots[k]];
        x[pivots[k]] = x[k];
        y[pivots[k]] = y[k];
        x[k] = re;
        y[k] = im;
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++) {
            const double re = a[2 * (i * n + j)], im = a[2 * (i * n + j) + 1];
            x[i] -= re * x[j] - im * y[j];
            y[i] -= re * y[j] + im * x[j];
        }
    for (size_t i = n; i-- > 0;) {
        for (size_t j = i + 1; j < n; j++) {
            const double re = a[2 * (i * n + j)], im = a[2 * (i * n + j) + 1];
            x[i] -= re * x[j] - im * y[j];
            y[i] -= re * y[j] + im * x[j];
        }
        const double re = a[2 * (i * n + i)], im = a[2 * (i * n + i) + 1];
        const double square = re * re + im * im, above = x[i];
        x[i] = (x[i] * re + y[i] * im) / square;
        y[i] = (y[i] * re - above * im) / square;
    }
}

// Makes x orthogonal to q, whose length is 1.
static void subtract_projection(const double *restrict q, double *restrict x, size_t n)
{
    double re = 0, im = 0;
    for (size_t i = 0; i < n; i++) {
        re += q[i] * x[i] + q[n + i] * x[n + i];
        im += q[i] * x[n + i] - q[n + i] * x[i];
    }
    for (size_t i = 0; i < n; i++) {
        x[i] -= re * q[i] - im * q[n + i];
        x[n + i] -= re * q[n + i] + im * q[i];
    }
}

// Makes vector `last` orthogonal to the previous ones, in two passes, and normalises it.
static void make_orthonormal(double *vectors, size_t n, size_t last)
{
    double *x = vectors + 2 * n * last;
    for (int pass = 0; pass < 2; pass++) {
        for (size_t v = 0; v < last; v++)
            subtract_projection(vectors + 2 * n * v, x, n);
        double largest = 0, square = 0;
        for (size_t i = 0; i < 2 * n; i++)
            largest = fmax(largest, fabs(x[i]));
        for (size_t i = 0; i < 2 * n; i++)
            square += (x[i] / largest) * (x[i] / largest);
        for (size_t i = 0; i < 2 * n; i++)
            x[i] /= largest * sqrt(square);
    }
}

// The data of a problem that finding the vectors of its roots needs.
struct vectors {
    const struct dense *dense;
    double scale;    // 1/s
    double damping;  // the largest eigenvalue of C, in units of s
    double *scratch; // 4 size^2 numbers
};

// How far a vector is from solving the problem at root i: its residual orthogonal to all `count`
// vectors, and the amount that round-off may leave.
static double find_residual(const struct vectors *problem, const struct roots *roots, int i,
                            size_t count, size_t which, double *rest)
{
    const struct dense *dense = problem->dense;
    const size_t n = (size_t)dense->size;
    const double *all = problem->scratch + 2 * n * n, *x = all + 2 * n * which, *y = x + n;
    const double s = problem->scale, re = roots->re[i], im = roots->im[i];
    double square = 0, sizes = 0;
    for (size_t row = 0; row < n; row++) {
        const double *k = dense->stiffness + row * n, *c = dense->damping + row * n;
        const double a = re * re - im * im, b = 2 * re * im;
        double real = a * x[row] - b * y[row], imaginary = a * y[row] + b * x[row],
               size = fabs(real) + fabs(imaginary);
        for (size_t j = 0; j < n; j++) {
            const double kx = k[j] * x[j] / (s * s), ky = k[j] * y[j] / (s * s);
            const double cx = c[j] * x[j] / s, cy = c[j] * y[j] / s;
            real += kx + re * cx - im * cy;
            imaginary += ky + re * cy + im * cx;
            size += fabs(kx) + fabs(ky) + (fabs(re) + im) * (fabs(cx) + fabs(cy));
        }
        rest[row] = real;
        rest[n + row] = imaginary;
        sizes += size * size;
    }
    for (size_t v = 0; v < count; v++)
        subtract_projection(all + 2 * n * v, rest, n);
    for (size_t j = 0; j < 2 * n; j++)
        square += rest[j] * rest[j];
    return sqrt(square) + DBL_EPSILON * sqrt(sizes);
}

// The trace of C in the space of the vectors of root i and of its `count` - 1 nearest neighbours,
// and the largest of their residuals.
static double find_damping(const struct vectors *problem, const struct roots *roots, int i,
                           size_t count, double *residual)
{
    enum { ROUNDS = 3 };
    const struct dense *dense = problem->dense;
    const size_t n = (size_t)dense->size;
    size_t pivots[QUADRATIC_VECTORS_MAX / 2];
    double *matrix = problem->scratch, *vectors = matrix + 2 * n * n, sum = 0;
    fill_quadratic(dense, problem->scale, roots->re[i], roots->im[i], matrix);
    factorise(matrix, n, DBL_EPSILON * DBL_EPSILON, pivots);
    uint64_t random = 1;
    for (size_t j = 0; j < 2 * n * count; j++) {
        random = random * 6364136223846793005u + 1442695040888963407u; // Knuth's MMIX
        vectors[j] = (double)(random >> 11) * 0x1p-52 - 1;
    }
    for (int round = 0; round < ROUNDS; round++)
        for (size_t v = 0; v < count; v++) {
            if (round > 0)
                solve_factorised(matrix, n, pivots, vectors + 2 * n * v);
            make_orthonormal(vectors, n, v);
        }
    *residual = 0;
    for (size_t v = 0; v < count; v++) // the factors are no longer needed
        *residual = fmax(*residual, find_residual(problem, roots, i, count, v, matrix));
    for (size_t v = 0; v < 2 * count; v++) // real and imaginary parts
        sum += dense->damping_of(dense->context, vectors + n * v);
    return sum / problem->scale;
}

// The distances to the roots nearest to root i, in ascending order. Returns their number.
static size_t find_nearest(const struct roots *roots, int i, double nearest[CLUSTER_MAX])
{
    size_t count = 0;
    for (int j = 0; j < roots->count; j++) {
        double distance = hypot(roots->re[j] - roots->re[i], roots->im[j] - roots->im[i]);
        if (j == i || (count == CLUSTER_MAX && distance >= nearest[count - 1]))
            continue;
        size_t at = count < CLUSTER_MAX ? count++ : CLUSTER_MAX - 1;
        for (; at > 0 && nearest[at - 1] > distance; at--)
            nearest[at] = nearest[at - 1];
        nearest[at] = distance;
    }
    return count;
}

// Brackets the damping of root i in low and high. False: the damping of an oscillation there is
// only the error of its vector, and of the last digit of directions. The component of a vector that
// belongs to another pair of roots l, l' is that of the residual divided by |z - l| |z - l'|, of
// which the former is at least the distance to the next root and the latter about |z| or more.
static bool refine(const struct vectors *problem, struct roots *roots, int i)
{
    const double fine = 1e-9, coarse = 1e-3, digit = 4 * DBL_EPSILON, safety = 16;
    const double modulus = hypot(roots->re[i], roots->im[i]), apart = 1e-3 * modulus;
    double nearest[CLUSTER_MAX], residual;
    size_t most = find_nearest(roots, i, nearest), cluster = 1;
    while (cluster < most && nearest[cluster - 1] < apart)
        cluster++;
    for (size_t count = 1;; count = cluster) {
        if (count > (size_t)problem->dense->size)
            return true;
        const double sum = find_damping(problem, roots, i, count, &residual);
        const double off = safety * residual / (modulus * nearest[count - 1]);
        const double lost = problem->damping * (off * off + digit * digit);
        const bool finite = isfinite(sum) && off < coarse;
        if (finite && off <= fine && sum <= 16 * lost)
            return false;
        if (finite && count == 1 && sum > 400 * lost) {
            roots->low[i] = (sum - lost) / 2;
            roots->high[i] = (sum + lost) / 2;
            roots->re[i] = -sum / 2;
            return true;
        }
        if (finite) // none has a larger one
            roots->high[i] = fmin(roots->high[i], (sum + lost) / 2);
        if (count == cluster)
            return true;
    }
}

// The oscillation whose damping limits explicit Euler, as far as is known, but is hidden by
// round-off; -1: there is none.
static int find_hidden(const struct roots *roots, const bool *refined)
{
    const struct bracket least = least_step(INTEGRATOR_EXPLICIT_EULER, roots);
    double lowest = INFINITY, value = INFINITY;
    int found = -1;
    for (int i = 0; i < roots->count; i++) {
        if (!counts(roots, i) || roots->im[i] == 0 || refined[i])
            continue;
        const struct bracket step = step_of_root(INTEGRATOR_EXPLICIT_EULER, roots, i);
        if (is_known(&step) || step.low > least.high ||
            !(step.low < lowest || (step.low == lowest && step.value < value)))
            continue;
        lowest = step.low;
        value = step.value;
        found = i;
    }
    return found;
}

// Refines roots until the smallest step of explicit Euler is known, as far as possible; midpoint's
// step is set by equally light damping. True: some mode oscillates without damping, so no step of
// these is stable.
static bool refine_roots(const struct vectors *problem, struct roots *roots)
{
    enum { TRIES = 24 };
    bool refined[QUADRATIC_VECTORS_MAX] = {false};
    for (int i = 0; i < TRIES; i++) {
        const struct bracket euler = least_step(INTEGRATOR_EXPLICIT_EULER, roots);
        const int root = is_known(&euler) ? -1 : find_hidden(roots, refined);
        if (root < 0)
            return false;
        refined[root] = true;
        if (!refine(problem, roots, root))
            return true;
    }
    return false;
}

struct dense_steps dense_find(const struct dense *dense, double square, double damping)
{
    static const enum integrator integrators[] = {INTEGRATOR_EXPLICIT_EULER, INTEGRATOR_MIDPOINT,
                                                  INTEGRATOR_RK4};
    const size_t n = (size_t)dense->size, rows = 2 * n;
    double *matrix = dense->scratch, *re = matrix + rows * rows, *im = re + rows, *low = im + rows,
           *high = low + rows;
    struct dense_steps steps = {.found = false};
    double scale = fmax(sqrt(square), 1e-6 * damping);
    if (!(scale > 0) || !isfinite(scale) || rows > QUADRATIC_VECTORS_MAX)
        return steps;

    memset(matrix, 0, rows * rows * sizeof *matrix);
    for (size_t i = 0; i < n; i++) {
        matrix[i * rows + n + i] = 1;
        for (size_t j = 0; j < n; j++) {
            matrix[(n + i) * rows + j] = -dense->stiffness[i * n + j] / (scale * scale);
            matrix[(n + i) * rows + n + j] = -dense->damping[i * n + j] / scale;
        }
    }
    hessenberg_reduce(matrix, rows, low, high);
    if (!hessenberg_eigenvalues(matrix, (int)rows, (int)rows, re, im))
        return steps;

    // Two coinciding roots at 0 are moved by the square root of the error.
    const double norm = 1 + damping / scale, omega = sqrt(square) / scale,
                 round_off = 4 * DBL_EPSILON * norm,
                 off = dense->damping_error / scale + dense->stiffness_error / (scale * scale);
    struct roots roots = {.count = (int)rows,
                          .re = re,
                          .im = im,
                          .low = low,
                          .high = high,
                          .stationary = fmax(32 * omega * sqrt(round_off), 16 * sqrt(off)),
                          .error = round_off + off};
    for (size_t i = 0; i < rows; i++) {
        const double moved = roots.error * fmax(1, 1 / hypot(re[i], im[i]));
        low[i] = -re[i] - moved;
        high[i] = -re[i] + moved;
    }
    const struct vectors problem = {dense, scale, damping / scale, matrix};
    const bool undamped = !(off > 0) && refine_roots(&problem, &roots);
    for (int i = 0; i < 3; i++) {
        enum integrator integrator = integrators[i];
        struct bracket least = least_step(integrator, &roots);
        bool is_none = undamped && integrator != INTEGRATOR_RK4;
        bool known = is_none || is_known(&least);
        steps.exact[integrator] = known;
        steps.step[integrator] = is_none ? 0 : (known ? least.value : least.low) / scale;
    }
    steps.found = true;
    return steps;
}
