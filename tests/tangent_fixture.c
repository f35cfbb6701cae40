// Vectors and comparisons for tests of tangents (tangent_fixture.h).
#include "tangent_fixture.h"

#include <math.h>
#include <stdlib.h>

double *random_vector(taut_solver *solver, bool flat, uint64_t seed)
{
    uint64_t count = taut_solver_node_count(solver);
    double *p = calloc((size_t)count * 3, sizeof *p);
    assert_non_null(p);
    for (uint64_t i = 0; i < count; i++)
        for (int axis = 0; axis < 3; axis++) {
            double r = next_random(&seed);
            bool still = topology_is_kinematic(solver_topology(solver), i) || (flat && axis == 2);
            p[3 * i + (uint64_t)axis] = still ? 0 : r;
        }
    return p;
}

double *product_of(taut_solver *solver, struct product wanted, const double *in)
{
    uint64_t count = taut_solver_node_count(solver);
    double *out = calloc((size_t)count * (in ? 3 : 6), sizeof *out);
    assert_non_null(out);
    tangent_product_f64(solver, wanted, in, out);
    return out;
}

double greatest_of(const double *values, uint64_t count)
{
    double greatest = 0;
    for (uint64_t i = 0; i < count; i++)
        greatest = fmax(greatest, fabs(values[i]));
    return greatest;
}

void assert_vectors_near(const char *name, const double *a, const double *b, uint64_t count,
                         double tolerance)
{
    double greatest = greatest_of(b, count);
    for (uint64_t i = 0; i < count; i++)
        if (!(fabs(a[i] - b[i]) <= tolerance * (greatest > 0 ? greatest : 1)))
            fail_msg("%s: component %d is %.17g, not %.17g", name, (int)i, a[i], b[i]);
}
