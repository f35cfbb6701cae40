// The QR algorithm with Francis' double shift (Golub and Van Loan, Matrix Computations, 4th ed.,
// 7.5; Martin, Peters and Wilkinson, Numer. Math. 14 (1970), whose tests for small elements and
// exceptional shifts are used). Eigenvectors are not accumulated: only the active block is
// transformed.
#include "stability/hessenberg.h"

#include <float.h>
#include <math.h>
#include <string.h>

// If many eigenvalues are 0 up to round-off, as across a flat cloth, it takes some hundred rounds
// until the first of them is found.
enum { ROUNDS_MAX = 300, EXCEPTIONAL_EVERY = 10 };

// The active block [first, last], and the total shift subtracted from the diagonal so far.
struct active {
    double *matrix;
    int stride;
    int first, last;
    double shifted;
};

static double *element(const struct active *h, int row, int column)
{
    return &h->matrix[(long)row * h->stride + column];
}

#define H(row, column) (*element(h, row, column))

// The first row of the block that ends at `last`: where a subdiagonal element is negligible
// compared with its neighbours on the diagonal, or with the average of the rows. Neighbours alone
// would never suffice if many eigenvalues are 0 up to round-off, as for bodies without pins.
static int find_first(const struct active *h, double average)
{
    int row = h->last;
    for (; row > 0; row--) {
        double around = fabs(H(row - 1, row - 1)) + fabs(H(row, row));
        if (fabs(H(row, row - 1)) <= DBL_EPSILON * fmax(around, average)) {
            H(row, row - 1) = 0;
            break;
        }
    }
    return row;
}

// Both eigenvalues of the last 2 x 2 block.
static void solve_pair(const struct active *h, double *real, double *imaginary)
{
    int j = h->last;
    double d = H(j, j) + h->shifted, half = (H(j - 1, j - 1) - H(j, j)) / 2;
    double product = H(j, j - 1) * H(j - 1, j), square = half * half + product;
    double root = sqrt(fabs(square));
    if (square >= 0) {
        double far = half + copysign(root, half); // without cancellation
        real[j - 1] = d + far;
        real[j] = far != 0 ? d - product / far : d;
        imaginary[j - 1] = imaginary[j] = 0;
    } else {
        real[j - 1] = real[j] = d + half;
        imaginary[j - 1] = root;
        imaginary[j] = -root;
    }
}

// The shifts: trace and determinant of the last 2 x 2 block, stored as two diagonal elements and
// the product of the others. Every tenth round uses exceptional ones, because the normal ones may
// cycle.
struct shifts {
    double x, y, product;
};

static struct shifts choose_shifts(struct active *h, int round)
{
    int j = h->last;
    if (round == 0 || round % EXCEPTIONAL_EVERY != 0)
        return (struct shifts){H(j, j), H(j - 1, j - 1), H(j, j - 1) * H(j - 1, j)};
    double by = H(j, j);
    h->shifted += by;
    for (int i = 0; i <= j; i++)
        H(i, i) -= by;
    double size = fabs(H(j, j - 1)) + fabs(H(j - 1, j - 2));
    return (struct shifts){0.75 * size, 0.75 * size, -0.4375 * size * size};
}

// The first row of the step: two small consecutive subdiagonal elements suffice. Writes the first
// column of (H - shift 1)(H - shift 2) to `column`.
static int find_start(const struct active *h, const struct shifts *by, double column[3])
{
    int m = h->last - 2;
    for (;; m--) {
        double diagonal = H(m, m), r = by->x - diagonal, s = by->y - diagonal;
        column[0] = (r * s - by->product) / H(m + 1, m) + H(m, m + 1);
        column[1] = H(m + 1, m + 1) - diagonal - r - s;
        column[2] = H(m + 2, m + 1);
        double size = fabs(column[0]) + fabs(column[1]) + fabs(column[2]);
        for (int i = 0; i < 3 && size > 0; i++)
            column[i] /= size;
        if (m == h->first)
            return m;
        double before = fabs(H(m, m - 1)) * (fabs(column[1]) + fabs(column[2]));
        double around = fabs(H(m - 1, m - 1)) + fabs(diagonal) + fabs(H(m + 1, m + 1));
        if (before <= DBL_EPSILON * fabs(column[0]) * around)
            return m;
    }
}

// Applies I - u w' with u = (1, u1, u2), w = (w0, w1, w2) to rows k, k + 1 (and k + 2) from the
// left and I - w u' to the columns from the right: a Householder reflection in both cases.
static void reflect(const struct active *h, int k, const double u[3], const double w[3])
{
    bool three = k < h->last - 1;
    double *a = element(h, k, 0), *b = element(h, k + 1, 0), *c = three ? element(h, k + 2, 0) : b;
    for (int j = k; j <= h->last; j++) {
        double sum = a[j] + u[1] * b[j] + (three ? u[2] * c[j] : 0);
        a[j] -= sum * w[0];
        b[j] -= sum * w[1];
        if (three)
            c[j] -= sum * w[2];
    }
    int end = k + 3 < h->last ? k + 3 : h->last;
    for (int i = h->first; i <= end; i++) {
        double *row = element(h, i, k);
        double sum = w[0] * row[0] + w[1] * row[1] + (three ? w[2] * row[2] : 0);
        row[0] -= sum;
        row[1] -= sum * u[1];
        if (three)
            row[2] -= sum * u[2];
    }
}

// One double step: chases the bulge from row `start` to the end of the block.
static void sweep(const struct active *h, int start, double column[3])
{
    for (int i = start + 2; i <= h->last; i++) {
        H(i, i - 2) = 0;
        if (i > start + 2)
            H(i, i - 3) = 0;
    }
    for (int k = start; k < h->last; k++) {
        double size = 0;
        if (k > start) {
            column[0] = H(k, k - 1);
            column[1] = H(k + 1, k - 1);
            column[2] = k < h->last - 1 ? H(k + 2, k - 1) : 0;
            size = fabs(column[0]) + fabs(column[1]) + fabs(column[2]);
            if (size == 0)
                continue;
            for (int i = 0; i < 3; i++)
                column[i] /= size;
        }
        double length = copysign(
            sqrt(column[0] * column[0] + column[1] * column[1] + column[2] * column[2]), column[0]);
        if (length == 0)
            continue;
        if (k > start)
            H(k, k - 1) = -length * size;
        else if (h->first < start)
            H(k, k - 1) = -H(k, k - 1);
        double head = column[0] + length;
        const double u[3] = {1, column[1] / head, column[2] / head};
        const double w[3] = {head / length, column[1] / length, column[2] / length};
        reflect(h, k, u, w);
    }
}

bool hessenberg_eigenvalues(double *matrix, int size, int stride, double *real, double *imaginary)
{
    struct active active = {matrix, stride, 0, size - 1, 0}, *h = &active;
    double norm = 0;
    for (int i = 0; i < size; i++)
        for (int j = i > 0 ? i - 1 : 0; j < size; j++)
            norm += fabs(H(i, j));
    if (!isfinite(norm))
        return false;
    for (int round = 0; h->last >= 0;) {
        h->first = find_first(h, norm / size);
        if (h->last - h->first <= 1) {
            bool pair = h->last > h->first;
            if (pair)
                solve_pair(h, real, imaginary);
            else {
                real[h->last] = H(h->last, h->last) + h->shifted;
                imaginary[h->last] = 0;
            }
            h->last -= pair ? 2 : 1;
            round = 0;
            continue;
        }
        if (round == ROUNDS_MAX)
            return false;
        struct shifts shifts = choose_shifts(h, round++);
        double column[3];
        int start = find_start(h, &shifts, column);
        sweep(h, start, column);
    }
    return true;
}

double quadratic_vectors(double nodes, double number_bytes)
{
    const double work = 1e8, bytes = 64 << 20;
    double most = fmin(QUADRATIC_VECTORS_MAX, sqrt(work / fmax(nodes, 1)));
    return floor(fmin(most, bytes / (6 * number_bytes * fmax(nodes, 1))));
}

double quadratic_bytes(double nodes, double number_bytes)
{
    double vectors = quadratic_vectors(nodes, number_bytes) + 1;
    return 6 * number_bytes * nodes * vectors + sizeof(double) * vectors * (2 * vectors + 2);
}

void hessenberg_reduce(double *matrix, size_t n, double *restrict v, double *restrict w)
{
    for (size_t k = 0; k + 2 < n; k++) {
        double largest = 0, square = 0, below = 0;
        for (size_t i = k + 1; i < n; i++)
            largest = fmax(largest, fabs(matrix[i * n + k]));
        for (size_t i = k + 1; i < n; i++) { // scaled: squares of tiny numbers underflow
            v[i] = largest > 0 ? matrix[i * n + k] / largest : 0;
            square += v[i] * v[i];
            below += i > k + 1 ? v[i] * v[i] : 0;
        }
        if (below == 0)
            continue;
        v[k + 1] += copysign(sqrt(square), v[k + 1]);
        double factor = 2 / (below + v[k + 1] * v[k + 1]);
        memset(w + k, 0, (n - k) * sizeof *w);
        for (size_t i = k + 1; i < n; i++) {
            const double *restrict row = matrix + i * n;
            for (size_t j = k; j < n; j++)
                w[j] += v[i] * row[j];
        }
        for (size_t i = k + 1; i < n; i++) {
            double *restrict row = matrix + i * n, by = factor * v[i];
            for (size_t j = k; j < n; j++)
                row[j] -= by * w[j];
        }
        for (size_t i = 0; i < n; i++) {
            double *restrict row = matrix + i * n, sum = 0;
            for (size_t j = k + 1; j < n; j++)
                sum += row[j] * v[j];
            sum *= factor;
            for (size_t j = k + 1; j < n; j++)
                row[j] -= sum * v[j];
        }
    }
}
