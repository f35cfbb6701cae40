// Signs of determinants in three stages (predicates.h). A filter evaluates the determinant in
// double precision and returns its sign where it exceeds a bound of all rounding errors
// (semi-static filters, Devillers and Pion, "Efficient exact geometric predicates for Delaunay
// triangulations", 2003). The signs that it does not decide are computed with whole numbers: every
// double is a multiple of a power of two, so that after scaling each axis by one of them the
// determinant is a whole number. 128 bits suffice for most positions in single precision.
// Expansions (Shewchuk 1997) would be faster for the others, but fail where products of coordinates
// overflow or underflow.
#include "intersections/predicates.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

// ---- Whole numbers

// Finite doubles are multiples of 2^-1074 below 2^1024: 2098 bits, 2099 for a difference, 6300 for
// the sum of six products of three of them.
enum { LIMBS_MAX = 200 };

struct whole {
    int sign;  // -1, 0, 1
    int count; // limbs, the last one not 0
    uint32_t limbs[LIMBS_MAX];
};

// Drops leading zeros.
static void whole_trim(struct whole *a)
{
    while (a->count > 0 && a->limbs[a->count - 1] == 0)
        a->count--;
    if (a->count == 0)
        a->sign = 0;
}

// A finite double is sign * digits * 2^exponent, with odd digits, or 0.
struct number {
    int sign, exponent;
    uint64_t digits;
};

static struct number decode(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    const int biased = (int)(bits >> 52 & 2047);
    struct number number = {.sign = bits >> 63 ? -1 : 1,
                            .exponent = (biased > 0 ? biased : 1) - 1075,
                            .digits = bits & ((UINT64_C(1) << 52) - 1)};
    assert(biased < 2047);
    if (biased > 0)
        number.digits |= UINT64_C(1) << 52;
    if (number.digits == 0)
        return (struct number){0};
    for (int shift = 32; shift > 0; shift /= 2)
        if ((number.digits & ((UINT64_C(1) << shift) - 1)) == 0) {
            number.digits >>= shift;
            number.exponent += shift;
        }
    return number;
}

// A number * 2^-lowest, which must be whole.
static void whole_set(const struct number *number, int lowest, struct whole *a)
{
    a->sign = number->sign;
    a->count = 0;
    if (a->sign == 0)
        return;
    const unsigned shift = (unsigned)(number->exponent - lowest), bits = shift % 32;
    const int first = (int)(shift / 32);
    assert(number->exponent >= lowest && first + 3 <= LIMBS_MAX);
    memset(a->limbs, 0, (size_t)first * sizeof *a->limbs);
    const uint64_t low = number->digits << bits;
    const uint64_t high = bits ? number->digits >> (64 - bits) : 0;
    a->count = first + 3;
    a->limbs[first] = (uint32_t)low;
    a->limbs[first + 1] = (uint32_t)(low >> 32);
    a->limbs[first + 2] = (uint32_t)high;
    whole_trim(a);
}

static int compare_sizes(const struct whole *a, const struct whole *b)
{
    if (a->count != b->count)
        return a->count < b->count ? -1 : 1;
    for (int i = a->count - 1; i >= 0; i--)
        if (a->limbs[i] != b->limbs[i])
            return a->limbs[i] < b->limbs[i] ? -1 : 1;
    return 0;
}

// |a| + |b|, which has the sign of a.
static void add_sizes(const struct whole *a, const struct whole *b, struct whole *sum)
{
    const int longest = a->count > b->count ? a->count : b->count;
    uint64_t carry = 0;
    assert(longest < LIMBS_MAX);
    sum->sign = a->sign;
    sum->count = longest + 1;
    for (int i = 0; i < longest; i++) {
        carry +=
            (i < a->count ? (uint64_t)a->limbs[i] : 0) + (i < b->count ? (uint64_t)b->limbs[i] : 0);
        sum->limbs[i] = (uint32_t)carry;
        carry >>= 32;
    }
    sum->limbs[longest] = (uint32_t)carry;
    whole_trim(sum);
}

// |a| - |b|, of which the first is larger, with the given sign.
static void subtract_sizes(const struct whole *a, const struct whole *b, int sign,
                           struct whole *difference)
{
    int64_t borrow = 0;
    difference->sign = sign;
    difference->count = a->count;
    for (int i = 0; i < a->count; i++) {
        borrow += (int64_t)a->limbs[i] - (i < b->count ? (int64_t)b->limbs[i] : 0);
        difference->limbs[i] = (uint32_t)borrow;
        borrow = borrow < 0 ? -1 : 0;
    }
    whole_trim(difference);
}

// a + factor b, where the factor is 1 or -1. The result is another number than a and b.
static void whole_add(const struct whole *a, const struct whole *b, int factor, struct whole *sum)
{
    const int sign = factor * b->sign;
    if (a->sign == 0 || sign == 0) {
        const struct whole *other = a->sign == 0 ? b : a;
        sum->sign = a->sign == 0 ? sign : a->sign;
        sum->count = other->count;
        memcpy(sum->limbs, other->limbs, (size_t)other->count * sizeof *other->limbs);
    } else if (a->sign == sign) {
        add_sizes(a, b, sum);
    } else {
        const int order = compare_sizes(a, b);
        if (order == 0)
            sum->sign = sum->count = 0;
        else if (order > 0)
            subtract_sizes(a, b, a->sign, sum);
        else
            subtract_sizes(b, a, sign, sum);
    }
}

// a b, another number than both.
static void whole_multiply(const struct whole *a, const struct whole *b, struct whole *product)
{
    product->sign = a->sign * b->sign;
    product->count = product->sign == 0 ? 0 : a->count + b->count;
    assert(product->count <= LIMBS_MAX);
    memset(product->limbs, 0, (size_t)product->count * sizeof *product->limbs);
    for (int i = 0; product->sign != 0 && i < a->count; i++) {
        uint64_t carry = 0;
        for (int j = 0; j < b->count; j++) {
            carry += (uint64_t)a->limbs[i] * b->limbs[j] + product->limbs[i + j];
            product->limbs[i + j] = (uint32_t)carry;
            carry >>= 32;
        }
        product->limbs[i + b->count] = (uint32_t)carry;
    }
    whole_trim(product);
}

// The differences of `count` points from the last one, points[count], along an axis, scaled by a
// common power of two.
static void subtract_last(const double *const *points, int count, int axis,
                          struct whole *differences)
{
    struct number numbers[4];
    struct whole last, point;
    int lowest = INT32_MAX;
    assert(count < 4);
    for (int i = 0; i <= count; i++) {
        numbers[i] = decode(points[i][axis]);
        if (numbers[i].sign != 0 && numbers[i].exponent < lowest)
            lowest = numbers[i].exponent;
    }
    whole_set(&numbers[count], lowest, &last);
    for (int i = 0; i < count; i++) {
        whole_set(&numbers[i], lowest, &point);
        whole_add(&point, &last, -1, &differences[i]);
    }
}

// p q - r s
static void minor_of(const struct whole *p, const struct whole *q, const struct whole *r,
                     const struct whole *s, struct whole *minor)
{
    struct whole first, second;
    whole_multiply(p, q, &first);
    whole_multiply(r, s, &second);
    whole_add(&first, &second, -1, minor);
}

int orientation_3d_exact(const double a[3], const double b[3], const double c[3], const double d[3])
{
    const double *const points[] = {a, b, c, d};
    struct whole x[3], y[3], z[3], minor, term, sum[2];
    sum[0].sign = sum[0].count = sum[1].sign = 0;
    subtract_last(points, 3, 0, x);
    subtract_last(points, 3, 1, y);
    subtract_last(points, 3, 2, z);
    for (int i = 0; i < 3; i++) { // along the third axis
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        minor_of(&x[j], &y[k], &x[k], &y[j], &minor);
        whole_multiply(&minor, &z[i], &term);
        whole_add(&sum[i % 2], &term, 1, &sum[(i + 1) % 2]);
    }
    return sum[1].sign; // after three additions
}

int orientation_2d_exact(const double a[3], const double b[3], const double c[3], int u, int v)
{
    const double *const points[] = {a, b, c};
    struct whole along_u[2], along_v[2], minor;
    subtract_last(points, 2, u, along_u);
    subtract_last(points, 2, v, along_v);
    minor_of(&along_u[0], &along_v[1], &along_u[1], &along_v[0], &minor);
    return minor.sign;
}

// ---- Whole numbers of 128 bits

#ifdef __SIZEOF_INT128__
__extension__ typedef __int128 wide;

// Scales differences along an axis by a power of two to whole numbers, whose bits are counted;
// false if they have more than 62.
static bool scale_axis(const double differences[3], int *bits, int64_t scaled[3])
{
    struct number numbers[3];
    int lowest = INT32_MAX;
    uint64_t all = 0;
    for (int i = 0; i < 3; i++) {
        numbers[i] = decode(differences[i]);
        if (numbers[i].sign != 0 && numbers[i].exponent < lowest)
            lowest = numbers[i].exponent;
    }
    for (int i = 0; i < 3; i++) {
        scaled[i] = 0;
        if (numbers[i].sign == 0)
            continue;
        const int shift = numbers[i].exponent - lowest;
        if (shift >= 62 || numbers[i].digits >> (62 - shift) != 0)
            return false;
        const uint64_t size = numbers[i].digits << shift;
        scaled[i] = numbers[i].sign * (int64_t)size;
        all |= size;
    }
    int used = 0;
    for (int step = 32; step > 0; step /= 2)
        if (all >> step != 0) {
            all >>= step;
            used += step;
        }
    *bits = used + 1;
    return true;
}

// Whether a - b is a double, and the one given (Knuth, TwoSum).
static bool is_exact(double a, double b, double difference)
{
    const double part = a - difference;
    return a - (difference + part) == 0 && part - b == 0;
}

// The orientation of points whose differences are doubles of few bits; false if it is not found.
static bool orientation_3d_wide(const double *const points[4], int *sign)
{
    int64_t d[3][3];
    int sum = 0;
    for (int axis = 0; axis < 3; axis++) {
        double differences[3];
        int bits = 0;
        for (int i = 0; i < 3; i++) {
            differences[i] = points[i][axis] - points[3][axis];
            if (!is_exact(points[i][axis], points[3][axis], differences[i]))
                return false;
        }
        if (!scale_axis(differences, &bits, d[axis]))
            return false;
        sum += bits;
    }
    if (sum > 124) // six products of three numbers
        return false;
    wide determinant = 0;
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        determinant += ((wide)d[0][j] * d[1][k] - (wide)d[0][k] * d[1][j]) * d[2][i];
    }
    *sign = (determinant > 0) - (determinant < 0);
    return true;
}
#else
static bool orientation_3d_wide(const double *const points[4], int *sign)
{
    (void)points;
    *sign = 0;
    return false;
}
#endif

// ---- The filter

// Between these sizes no product of three overflows, and the error of a product by underflow is far
// below the bound: at most some 5e-324 times a difference, against 8e-15 * (1e-97)^3.
static const double SMALLEST = 1e-97, LARGEST = 1e102;

static double max_of(double a, double b)
{
    return a > b ? a : b;
}

static double max_size(double a, double b, double c)
{
    return max_of(max_of(fabs(a), fabs(b)), fabs(c));
}

// With differences of at most X, Y and Z along the axes as computed, each with a relative error of
// u = 2^-53, a term of the determinant has three of them, two products, a subtraction and up to two
// additions: 8 u X Y Z to first order. There are six terms: 48 u X Y Z = 5.4e-15 X Y Z.
static const double BOUND_3D = 8e-15;

int orientation_3d(const double a[3], const double b[3], const double c[3], const double d[3])
{
    const double ax = a[0] - d[0], bx = b[0] - d[0], cx = c[0] - d[0];
    const double ay = a[1] - d[1], by = b[1] - d[1], cy = c[1] - d[1];
    const double az = a[2] - d[2], bz = b[2] - d[2], cz = c[2] - d[2];
    const double x = max_size(ax, bx, cx), y = max_size(ay, by, cy), z = max_size(az, bz, cz);

    // A difference of doubles is 0 only if they are equal.
    if (x == 0 || y == 0 || z == 0)
        return 0;
    if (x > SMALLEST && y > SMALLEST && z > SMALLEST && x < LARGEST && y < LARGEST && z < LARGEST) {
        const double determinant =
            (bx * cy - cx * by) * az + (cx * ay - ax * cy) * bz + (ax * by - bx * ay) * cz;
        const double bound = BOUND_3D * (x * y * z);
        if (determinant > bound || determinant < -bound)
            return determinant > 0 ? 1 : -1;
    }
    const double *const points[] = {a, b, c, d};
    int sign;
    return orientation_3d_wide(points, &sign) ? sign : orientation_3d_exact(a, b, c, d);
}

// Two differences, a product and a subtraction: 4 u in each of two terms, 8.9e-16.
static const double BOUND_2D = 2e-15;

int orientation_2d(const double a[3], const double b[3], const double c[3], int u, int v)
{
    const double au = a[u] - c[u], bu = b[u] - c[u], av = a[v] - c[v], bv = b[v] - c[v];
    const double along_u = max_of(fabs(au), fabs(bu)), along_v = max_of(fabs(av), fabs(bv));
    if (along_u == 0 || along_v == 0)
        return 0;
    if (along_u > SMALLEST && along_v > SMALLEST && along_u < LARGEST && along_v < LARGEST) {
        const double determinant = au * bv - bu * av, bound = BOUND_2D * (along_u * along_v);
        if (determinant > bound || determinant < -bound)
            return determinant > 0 ? 1 : -1;
    }
    return orientation_2d_exact(a, b, c, u, v);
}
