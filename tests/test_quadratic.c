// Stability limits with damping that is not proportional to stiffness: computed values compared
// with all eigenvalues of lambda^2 M + lambda C + K by LAPACK, from matrices that are assembled
// here.
#include "physics.h"
#include "solver/internals.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stability/hessenberg.h"

// LAPACK's eigenvalues of a general matrix; LAPACK has no C header for it.
void dgeev_(const char *left, const char *right, const int *size, double *matrix, const int *stride,
            double *re, double *im, double *vectors_left, const int *stride_left,
            double *vectors_right, const int *stride_right, double *work, const int *work_size,
            int *info, size_t left_length, size_t right_length);

struct roots {
    int count;
    double *re, *im;
};

// The matrix is stored by columns and destroyed; vectors: size^2 numbers, or NULL.
static struct roots lapack_roots(double *matrix, int size, double *vectors)
{
    struct roots roots = {size, calloc((size_t)size, sizeof(double)),
                          calloc((size_t)size, sizeof(double))};
    int one = 1, work_size = 8 * size, info = 0;
    double nothing = 0, *work = calloc((size_t)work_size, sizeof *work);
    assert_true(roots.re && roots.im && work);
    dgeev_("N", vectors ? "V" : "N", &size, matrix, &size, roots.re, roots.im, &nothing, &one,
           vectors ? vectors : &nothing, vectors ? &size : &one, work, &work_size, &info, 1, 1);
    assert_int_equal(info, 0);
    free(work);
    return roots;
}

static void free_roots(struct roots *roots)
{
    free(roots->re);
    free(roots->im);
}

// ---- Hessenberg matrices

static void assert_same_roots(const double *matrix, int size)
{
    double *columns = calloc((size_t)size * (size_t)size, sizeof(double)), norm = 0;
    double *rows = calloc((size_t)size * (size_t)size, sizeof(double));
    double *found = calloc(4 * (size_t)size, sizeof(double));
    assert_true(columns && rows && found);
    for (int i = 0; i < size; i++)
        for (int j = 0; j < size; j++) {
            rows[i * size + j] = columns[j * size + i] = matrix[i * size + j];
            norm = fmax(norm, fabs(matrix[i * size + j]));
        }
    struct roots expected = lapack_roots(columns, size, NULL);
    assert_true(hessenberg_eigenvalues(rows, size, size, found, found + size));
    for (int i = 0; i < size; i++) {
        double near = INFINITY;
        for (int j = 0; j < size; j++)
            near = fmin(near, hypot(found[j] - expected.re[i], found[size + j] - expected.im[i]));
        assert_true(near <= 1e-7 * norm);
    }
    free_roots(&expected);
    free(columns);
    free(rows);
    free(found);
}

static void test_hessenberg_eigenvalues_are_lapacks(void **state)
{
    (void)state;
    uint64_t seed = 11;
    static const int sizes[] = {1, 2, 3, 4, 7, 20, 63, 120};
    for (int s = 0; s < 8; s++)
        for (int kind = 0; kind < 4; kind++) {
            int n = sizes[s];
            double *matrix = calloc((size_t)n * (size_t)n, sizeof *matrix);
            assert_non_null(matrix);
            for (int i = 0; i < n; i++)
                for (int j = i > 0 ? i - 1 : 0; j < n; j++) {
                    double value = next_random(&seed);
                    if (kind == 1) // skew: all eigenvalues imaginary
                        value = j == i + 1 ? 1 + 0.1 * i : j == i - 1 ? -1 - 0.1 * (i - 1) : 0;
                    if (kind == 2) // elements of very different sizes
                        value *= pow(10, -6.0 * i / n);
                    if (kind == 3) // a cycle, for which simple shifts do not converge
                        value = j == i - 1 || (i == 0 && j == n - 1) ? 1 : 0;
                    matrix[i * n + j] = value;
                }
            assert_same_roots(matrix, n);
            free(matrix);
        }
    double broken[4] = {1, NAN, 0, 1}, re[2], im[2];
    assert_false(hessenberg_eigenvalues(broken, 2, 2, re, im));
}

// ---- Bodies

// K and C of springs and drag by rows, 3 rows per node; fixed nodes have none.
struct matrices {
    int size;
    double *stiffness, *damping; // of M^-1/2 K M^-1/2 and M^-1/2 C M^-1/2
};

static void add_spring(const taut_solver *solver, const struct spring_run *spring,
                       struct matrices *matrices)
{
    const struct topology *topology = solver_topology(solver);
    const struct material *material = &topology->materials[spring->material];
    const uint64_t nodes[2] = {spring->a, spring->b};
    vec3 d = vec3_subtract(position_of(solver, topology_builder_node(topology, spring->a)),
                           position_of(solver, topology_builder_node(topology, spring->b)));
    double length = vec3_length(d), across = 1 - spring->rest_length / length;
    double n[3] = {d.x / length, d.y / length, d.z / length};
    for (int e = 0; e < 4; e++) {
        uint64_t p = nodes[e / 2], q = nodes[e % 2];
        if (topology_is_kinematic(topology, p) || topology_is_kinematic(topology, q))
            continue;
        double scale = 1 / sqrt(topology_mass(topology, p) * topology_mass(topology, q));
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) {
                size_t at = (3 * p + (size_t)i) * (size_t)matrices->size + 3 * q + (size_t)j;
                double k = (1 - across) * n[i] * n[j] + (i == j ? across : 0);
                double c = material->damping_law == DAMPING_FULL ? i == j : n[i] * n[j];
                double sign = p == q ? scale : -scale;
                matrices->stiffness[at] += sign * material->stiffness * k;
                matrices->damping[at] += sign * material->damping * c;
            }
    }
}

static struct matrices matrices_of(const taut_solver *solver, double drag)
{
    const struct topology *topology = solver_topology(solver);
    struct matrices matrices = {.size = 3 * (int)topology->node_count};
    size_t size = (size_t)matrices.size;
    matrices.stiffness = calloc(size * size, sizeof(double));
    matrices.damping = calloc(size * size, sizeof(double));
    assert_true(matrices.stiffness && matrices.damping);
    for (uint64_t s = 0; s < topology->spring_count; s++) {
        struct spring_run spring = topology_spring(topology, s);
        add_spring(solver, &spring, &matrices);
    }
    for (uint64_t n = 0; n < topology->node_count; n++)
        for (size_t i = 0; i < 3 && !topology_is_kinematic(topology, n); i++)
            matrices.damping[(3 * n + i) * size + 3 * n + i] += drag / topology_mass(topology, n);
    return matrices;
}

// |R(h lambda)|^2 - 1, without cancellation for the lower orders.
static double excess(enum integrator integrator, double h, double re, double im)
{
    double real = h * re, square = h * h * (re * re + im * im), x = 1, y = 0;
    if (integrator == INTEGRATOR_EXPLICIT_EULER)
        return 2 * real + square;
    if (integrator == INTEGRATOR_MIDPOINT)
        return 2 * real + 2 * real * real + real * square + square * square / 4;
    for (int i = 4; i >= 1; i--) {
        double next = 1 + h * (re * x - im * y) / i;
        y = h * (re * y + im * x) / i;
        x = next;
    }
    return x * x + y * y - 1;
}

// The least h at which some root leaves the stability region, if all roots had `moved` (1/s) more
// damping. Roots that are 0 relative to the largest one do not count; refined roots are compared
// with omega instead.
static double limit_of_roots(enum integrator integrator, const struct roots *roots, double omega,
                             bool refined, double moved)
{
    double least = INFINITY, largest = 0;
    for (int i = 0; i < roots->count; i++)
        largest = fmax(largest, hypot(roots->re[i], roots->im[i]));
    for (int i = 0; i < roots->count; i++) {
        double im = roots->im[i], size = hypot(roots->re[i], im);
        // Two roots that coincide and grow physically need not be real to the last digit.
        if (size < 1e-5 * (refined ? omega : largest) ||
            (refined ? roots->re[i] > fabs(im) : im == 0 && roots->re[i] > 0))
            continue;
        double re = roots->re[i] - (im != 0 ? moved * fmax(1, omega / size) : 0);
        double low = 0, high = 3 / size; // outside of every region
        if (integrator == INTEGRATOR_EXPLICIT_EULER)
            low = high = fmax(0, -2 * re / (size * size));
        for (int k = 0; k < 200 && high - low > 1e-9 * high; k++) {
            double middle = (low + high) / 2;
            if (excess(integrator, middle, re, im) > 0)
                high = middle;
            else
                low = middle;
        }
        least = fmin(least, integrator != INTEGRATOR_RK4 && re >= 0 ? 0 : high);
    }
    return least;
}

static struct critical_step critical_step_of(const char *text, const char *precision, int threads,
                                             struct matrices *matrices, double drag)
{
    struct solver_options options = {.config = {.threads = threads}};
    struct critical_step critical;
    taut_error error = {0};
    taut_solver *solver =
        solver_from(scene_of("precision: %s\nsimulation: {integrator: rk4, dt: 1e-6, steps: 1}\n"
                             "environment: {air_drag: " NUM "}\n%s",
                             precision, drag, text),
                    &options);
    if (solver_computed_steps(solver, &critical, &error) != TAUT_OK)
        fail_msg("%s", error.text);
    if (matrices)
        *matrices = matrices_of(solver, drag);
    taut_solver_destroy(solver);
    return critical;
}

// x* A x of the symmetric A and a complex vector, summed in extended precision.
static double form_of(const double *matrix, size_t n, const double *re, const double *im)
{
    long double sum = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            sum += (long double)matrix[i * n + j] *
                   ((long double)re[i] * re[j] + (long double)im[i] * im[j]);
    return (double)sum;
}

// Recomputes nearly undamped roots beside far stronger damping of other modes, whose round-off
// hides their damping in LAPACK's values: as roots of lambda^2 + lambda x* C x + x* K x, which are
// off by the square of the error of LAPACK's vectors x.
static void refine(struct roots *roots, const struct matrices *matrices, const double *vectors)
{
    const size_t n = (size_t)matrices->size, size = 2 * n;
    for (int i = 0; i + 1 < roots->count; i++) {
        if (roots->im[i] <= 0 || fabs(roots->re[i]) > 1e-3 * roots->im[i])
            continue;
        const double *re = vectors + (size_t)i * size, *im = re + size;
        double norm = 0;
        for (size_t j = 0; j < n; j++)
            norm += re[j] * re[j] + im[j] * im[j];
        double c = form_of(matrices->damping, n, re, im) / norm;
        double k = form_of(matrices->stiffness, n, re, im) / norm;
        if (!(k > c * c / 4))
            continue;
        roots->re[i] = roots->re[i + 1] = -fmax(c, 0) / 2;
        roots->im[i] = sqrt(k - c * c / 4);
        roots->im[i + 1] = -roots->im[i];
    }
}

// [0 I; -K -C] in column order
static struct roots roots_of(const struct matrices *matrices, bool refined)
{
    size_t n = (size_t)matrices->size, size = 2 * n;
    double *companion = calloc(size * size, sizeof(double));
    assert_non_null(companion);
    for (size_t i = 0; i < n; i++) {
        companion[(n + i) * size + i] = 1;
        for (size_t j = 0; j < n; j++) {
            companion[j * size + n + i] = -matrices->stiffness[i * n + j];
            companion[(n + j) * size + n + i] = -matrices->damping[i * n + j];
        }
    }
    double *vectors = refined ? calloc(size * size, sizeof *vectors) : NULL;
    assert_true(vectors || !refined);
    struct roots roots = lapack_roots(companion, (int)size, vectors);
    if (refined)
        refine(&roots, matrices, vectors);
    free(vectors);
    free(companion);
    return roots;
}

// The least h at which 4 M - 2 h C - h^2 K is singular, for symplectic Euler and both Verlet
// methods: the largest real root u = 1 / h.
static double limit_of_symplectic(const struct matrices *matrices)
{
    size_t count = (size_t)matrices->size * (size_t)matrices->size;
    struct matrices scaled = {matrices->size, calloc(count, sizeof(double)),
                              calloc(count, sizeof(double))};
    assert_true(scaled.stiffness && scaled.damping);
    for (size_t i = 0; i < count; i++) {
        scaled.stiffness[i] = -matrices->stiffness[i] / 4;
        scaled.damping[i] = -matrices->damping[i] / 2;
    }
    struct roots roots = roots_of(&scaled, false);
    double largest = 0;
    for (int i = 0; i < roots.count; i++)
        if (fabs(roots.im[i]) <= 1e-7 * fabs(roots.re[i]))
            largest = fmax(largest, roots.re[i]);
    free_roots(&roots);
    free(scaled.stiffness);
    free(scaled.damping);
    return largest > 0 ? 1 / largest : INFINITY;
}

static const enum integrator runge_kutta[] = {INTEGRATOR_EXPLICIT_EULER, INTEGRATOR_MIDPOINT,
                                              INTEGRATOR_RK4};

// For all Runge-Kutta methods the computed step is within 1% of the limit if it is reported as
// exact, and never more than 1% above it; returns the number of exact ones. refined: as above.
static int check_limits(const char *name, const char *text, double drag, bool refined)
{
    struct matrices matrices;
    struct critical_step critical = critical_step_of(text, "double", 1, &matrices, drag);
    struct critical_step in_single = critical_step_of(text, "single", 1, NULL, drag);
    struct roots roots = roots_of(&matrices, refined);
    int exact = 0;
    for (int i = 0; i < 3; i++) {
        enum integrator integrator = runge_kutta[i];
        // The limits for roots shifted by the round-off in either direction.
        const double digit = 4 * DBL_EPSILON * (critical.computed_omega + critical.damping);
        double limit = limit_of_roots(integrator, &roots, critical.computed_omega, refined, digit);
        double least = limit_of_roots(integrator, &roots, critical.computed_omega, refined, -digit);
        double h = critical.computed_dt[integrator], single = in_single.computed_dt[integrator];
        if (h > 1.01 * limit || (critical.exact[integrator] && h < 0.99 * least))
            fail_msg("%s of %s: %.8g computed%s, the limit is %.8g to %.8g",
                     integrator_name(integrator), name, h,
                     critical.exact[integrator] ? "" : " as a bound", least, limit);
        // In single precision positions differ slightly, and so does the damping of modes.
        double fastest = fmax(critical.computed_omega, critical.damping / 2);
        bool decided = limit * critical.computed_omega > 1e-3 || limit * fastest > 0.1;
        double most = fmax(1.01 * limit, decided ? 0 : 1e-4 / fastest);
        if ((decided || limit * fastest < 1e-6) &&
            (single > most || (in_single.exact[integrator] && single < 0.99 * least)))
            fail_msg("%s of %s in single precision: %.8g computed%s, the limit is %.8g",
                     integrator_name(integrator), name, single,
                     in_single.exact[integrator] ? "" : " as a bound", limit);
        assert_true(critical.dt[integrator] <= limit * (1 + 1e-6));
        exact += critical.exact[integrator];
        if (getenv("SHOW"))
            printf("%-34s %-15s limit %.6g double %.6g%s single %.6g%s\n", name,
                   integrator_name(integrator), limit, h, critical.exact[integrator] ? "" : "?",
                   single, in_single.exact[integrator] ? "" : "?");
    }
    double symplectic = limit_of_symplectic(&matrices);
    double h = critical.computed_dt[INTEGRATOR_SYMPLECTIC_EULER];
    bool is_exact = critical.exact[INTEGRATOR_SYMPLECTIC_EULER];
    if (h > 1.01 * symplectic || (is_exact && h < 0.99 * symplectic))
        fail_msg("symplectic Euler of %s: %.8g computed%s, the limit is %.8g", name, h,
                 is_exact ? "" : " as a bound", symplectic);
    assert_true(critical.dt[INTEGRATOR_SYMPLECTIC_EULER] <= symplectic * (1 + 1e-6));
    free_roots(&roots);
    free(matrices.stiffness);
    free(matrices.damping);
    return exact;
}

// Bodies of springs of 300 N/m between nodes of 0.1 kg, some of which have the damping c. For
// networks, made of parts of 12 nodes in a row: a damper between two nodes; two materials; drag on
// half of the nodes, represented by springs to a fixed node.
enum { SHAPES = 6 };

static const char *const shape_names[SHAPES] = {
    "chain with a damper", "chain of two materials",    "chain, drag on half of it",
    "cloth, damped shear", "cloth under tension, full", "jelly"};

static char *chain_text(int shape, double c)
{
    enum { NODES = 12 };
    char *text = text_format("bodies: [{name: b, type: network, pins: [0], nodes: [[0,0,0]");
    for (int i = 1; i < NODES; i++) {
        char *longer = text_format("%s,[%g,0,0]", text, 0.1 * i);
        free(text);
        text = longer;
    }
    char *springs = text_format(" ");
    for (int i = 0; i + 1 < NODES; i++) {
        bool damped = shape == 0 ? i == 7 : shape == 1 ? i < 5 : false;
        char *longer = text_format("%s%s[%d,%d,{stiffness: " NUM ", damping: " NUM "}]", springs,
                                   i > 0 ? "," : "", i, i + 1, shape == 1 && i >= 5 ? 100. : 300.,
                                   damped       ? c
                                   : shape == 1 ? 0.1 * c
                                                : 0.0);
        free(springs);
        springs = longer;
    }
    for (int i = NODES / 2; shape == 2 && i < NODES; i++) {
        char *longer = text_format("%s,[0,%d,{stiffness: 0.01, damping: " NUM "}]", springs, i, c);
        free(springs);
        springs = longer;
    }
    char *whole = text_format("%s],\n node_mass: 0.1, springs: [%s]}]\n", text, springs);
    free(text);
    free(springs);
    return whole;
}

static char *text_of(int shape, double c)
{
    char *text = NULL;
    if (shape < 3)
        text = chain_text(shape, c);
    else if (shape == 3)
        text = text_format("bodies: [{name: b, type: cloth, u: [1,0,0], v: [0,0,1], nodes: [5,5],\n"
                           " node_mass: 0.1, pins: [left], springs: {structural: {stiffness: 300,\n"
                           " damping: " NUM "}, shear: {stiffness: 200, damping: " NUM "}}}]\n",
                           0.2 * c, c);
    else if (shape == 4)
        text = text_format("bodies: [{name: b, type: cloth, u: [1,0,0], v: [0,0,1], nodes: [5,4],\n"
                           " node_mass: 0.1, pins: [corners], springs: {structural:\n"
                           " {stiffness: 300, rest_length: 0.15, damping: " NUM
                           ", damping_law: full},\n shear: {stiffness: 200, damping: " NUM "}}}]\n",
                           c, 0.1 * c);
    else
        text = text_format("bodies: [{name: b, type: lattice, nodes: [3,3,3], spacing: 0.5,\n"
                           " node_mass: 0.1, springs: {k1: {stiffness: 300, damping: " NUM "},\n"
                           " k2: {stiffness: 300, damping: " NUM "},\n"
                           " k3: {stiffness: 300, damping: " NUM "}}}]\n",
                           c, 0.1 * c, 0.5 * c);
    assert_non_null(text);
    return text;
}

// Damping from none to four times critical for the fastest oscillation.
static void test_limits_of_uneven_damping(void **state)
{
    (void)state;
    static const double ratios[] = {0, 0.03, 0.1, 0.3, 0.5, 0.8, 1, 1.3, 2, 4};
    for (int shape = 0; shape < SHAPES; shape++) {
        char *plain = text_of(shape, 0);
        double omega = critical_step_of(plain, "double", 1, NULL, 0).computed_omega;
        free(plain);
        for (int r = 0; r < 10; r++) {
            char *text = text_of(shape, 2 * ratios[r] * 300 / omega), name[80];
            snprintf(name, sizeof name, "%s, %g critical", shape_names[shape], ratios[r]);
            assert_int_equal(check_limits(name, text, r % 3 == 2 ? 0.3 : 0, false), 3);
            free(text);
        }
    }
}

// A network of random springs, masses and dampers; rest lengths are up to `pressed` times the
// distance of the nodes, and damping is up to `damping`, N s/m. All nodes have the same mass, or
// random ones.
struct network_kind {
    double pressed, damping;
    bool even;
};

static char *network_text(const struct network_kind *kind, uint64_t *seed)
{
    enum { NODES = 8 };
    double nodes[NODES][3];
    char *text = text_format("bodies: [{name: b, type: network, pins: [0], nodes: [");
    for (int i = 0; i < NODES; i++) {
        for (int j = 0; j < 3; j++)
            nodes[i][j] = next_random(seed);
        char *more = text_format("%s%s[" NUM "," NUM "," NUM "]", text, i ? "," : "", nodes[i][0],
                                 nodes[i][1], nodes[i][2]);
        free(text);
        text = more;
    }
    char *masses = text_format("%s],\n node_mass: [", text);
    free(text);
    text = masses;
    for (int i = 0; i < NODES; i++) {
        char *more = text_format("%s%s%g", text, i ? "," : "",
                                 kind->even ? 0.1 : pow(10, next_random(seed)));
        free(text);
        text = more;
    }
    char *springs = text_format("%s],\n springs: [", text);
    free(text);
    text = springs;
    for (int i = 0, first = 1; i < NODES; i++)
        for (int j = i + 1; j < NODES; j++) {
            double length = 0;
            for (int axis = 0; axis < 3; axis++)
                length += pow(nodes[i][axis] - nodes[j][axis], 2);
            double k = 100 * pow(10, next_random(seed));
            double c = kind->damping * fmax(0, next_random(seed));
            double rest = sqrt(length) * (1 + (kind->pressed - 1) * fabs(next_random(seed)));
            if (next_random(seed) < 0.2)
                continue;
            char *more =
                text_format("%s%s[%d,%d,{stiffness: %g, damping: %g, rest_length: " NUM "}]", text,
                            first ? "" : ",", i, j, k, c, rest);
            first = 0;
            free(text);
            text = more;
        }
    char *whole = text_format("%s]}]\n", text);
    free(text);
    return whole;
}

// With compressed springs some modes grow physically, and the decaying roots of these modes limit
// the step; drag alone, damping of a few springs and of most, and damping of some hundred times
// critical.
static void test_limits_of_pressed_networks(void **state)
{
    (void)state;
    static const struct network_kind kinds[] = {
        {1.5, 0, true}, {3, 0, true}, {2, 2, false}, {1.2, 300, false}, {1.5, 1e5, true}};
    uint64_t seed = 17;
    for (int k = 0; k < 5; k++)
        for (int round = 0; round < 20; round++) {
            char *text = network_text(&kinds[k], &seed), name[60];
            snprintf(name, sizeof name, "pressed network %d of kind %d", round, k);
            int exact = check_limits(name, text, k < 2 ? 0.3 * (round + 1) : 0, true);
            assert_true(exact == 3 || (k > 1 && exact > 0)); // round-off may hide light damping
            free(text);
        }
}

// 80 free nodes, for which all eigenvalues are computed, and 81, for which some are bounds.
static void test_limits_at_the_border(void **state)
{
    (void)state;
    for (int nodes = 81; nodes <= 82; nodes++) {
        char *text = text_format(
            "bodies: [{name: b, type: rope, from: [0,0,0], to: [1,0.4,0], nodes: %d,\n"
            " node_mass: 0.1, pins: [first], spring: {stiffness: 300, rest_length: 0.016,\n"
            " damping: 2}}]\n",
            nodes);
        int exact = check_limits("rope", text, 0.2, true);
        assert_true(exact == 3 || (nodes == 82 && exact > 0));
        free(text);
    }
}

// A collider that touches no node has no damping yet: rk4 has the limit of undamped motion.
static void test_colliders_far_away(void **state)
{
    (void)state;
    static const char *const colliders[] = {
        "{type: plane, point: [0,-9,0], normal: [0,1,0], stiffness: 10, friction: 2}",
        "{type: sphere, center: [0,-9,0], radius: 1, stiffness: 10, absorption: 2}"};
    for (int i = 0; i < 2; i++) {
        char *text = text_format("colliders: [%s]\n"
                                 "bodies: [{name: b, type: cloth, u: [1,0,0], v: [0,0,1],\n"
                                 " nodes: [4,4], node_mass: 0.1,\n"
                                 " springs: {structural: {stiffness: 300}}}]\n",
                                 colliders[i]);
        struct critical_step critical = critical_step_of(text, i ? "single" : "double", 1, NULL, 0);
        double expected = 2 * sqrt(2) / critical.computed_omega;
        assert_true(critical.exact[INTEGRATOR_RK4]);
        assert_near(critical.computed_dt[INTEGRATOR_RK4], expected, 1e-6 * expected);
        assert_true(critical.exact[INTEGRATOR_MIDPOINT]);
        assert_true(critical.computed_dt[INTEGRATOR_MIDPOINT] == 0);
        free(text);
    }
}

// Friction on a node that its springs push sideways along the floor: K is negative where C is
// largest. One node of mass 1 between two springs compressed to half of their length.
static void test_friction_of_pressed_nodes(void **state)
{
    (void)state;
    static const char *const precisions[] = {"single", "double"};
    const double k = 100, c = 40, m = 1, stiff = 300;
    for (int i = 0; i < 2; i++) {
        char *text = text_format(
            "colliders: [{type: plane, point: [0,0.01,0], normal: [0,1,0], stiffness: " NUM
            ", friction: " NUM "}]\n"
            "bodies: [{name: b, type: network, pins: [0,2], node_mass: " NUM ",\n"
            " nodes: [[-1,0,0],[0,0,0],[1,0,0]], springs: [\n"
            " [0,1,{stiffness: " NUM ", rest_length: 2}],[1,2,{stiffness: " NUM
            ", rest_length: 2}]]}]\n",
            stiff, c, m, k, k);
        struct critical_step critical = critical_step_of(text, precisions[i], 1, NULL, 0);
        free(text);
        // Along x: 2 k and c; up: stiff - 2 k, not damped; sideways: -2 k and c.
        const struct stepping plain = {1, 1};
        const double modes[3][2] = {
            {2 * k / m, c / m}, {(stiff - 2 * k) / m, 0}, {-2 * k / m, c / m}};
        for (int j = 0; j < INTEGRATOR_COUNT; j++) {
            double expected = INFINITY;
            for (int mode = 0; mode < 3; mode++)
                expected = fmin(expected, integrator_mode_step((enum integrator)j, &plain,
                                                               modes[mode][0], modes[mode][1]));
            if (isinf(expected))
                continue;
            assert_true(critical.exact[j]);
            assert_near(critical.computed_dt[j], expected, 1e-4 * expected);
            assert_true(critical.dt[j] <= expected * (1 + 1e-5));
        }
    }
}

// Networks of random springs, masses and dampers.
static void test_limits_of_random_networks(void **state)
{
    (void)state;
    uint64_t seed = 3;
    for (int round = 0; round < 40; round++) {
        enum { NODES = 8 };
        char *nodes = text_format(" "), *masses = text_format(" "), *springs = text_format(" ");
        for (int i = 0; i < NODES; i++) {
            char *more = text_format("%s%s[%g,%g,%g]", nodes, i ? "," : "", next_random(&seed),
                                     next_random(&seed), next_random(&seed));
            char *heavier =
                text_format("%s%s%g", masses, i ? "," : "", pow(10, next_random(&seed)));
            free(nodes);
            free(masses);
            nodes = more;
            masses = heavier;
        }
        for (int i = 0, first = 1; i < NODES; i++)
            for (int j = i + 1; j < NODES; j++) {
                double k = 100 * pow(10, next_random(&seed));
                double c = fmax(0, next_random(&seed)) * (round % 4 ? 2 : 40);
                if (next_random(&seed) < 0.2)
                    continue;
                char *more = text_format("%s%s[%d,%d,{stiffness: %g, damping: %g}]", springs,
                                         first ? "" : ",", i, j, k, c);
                first = 0;
                free(springs);
                springs = more;
            }
        char *text = text_format("bodies: [{name: b, type: network, node_mass: [%s],\n"
                                 " nodes: [%s], springs: [%s]}]\n",
                                 masses, nodes, springs),
             name[40];
        snprintf(name, sizeof name, "network %d", round);
        assert_int_equal(check_limits(name, text, 0, false), 3);
        free(text);
        free(nodes);
        free(masses);
        free(springs);
    }
}

// Modes of one node each along x, with k = 100 N/m, 1 kg and damping c, which stiffer or far more
// strongly damped nodes beside them hide from eigenvalues to the last digit; no other mode
// oscillates more slowly.
static char *hidden_text(const char *springs, double c)
{
    return text_format("bodies: [{name: b, type: network, pins: [0], node_mass: 1,\n"
                       " nodes: [[0,0,0],[1,0,0],[0,1,0],[0,0.6,0.8]], springs: [\n"
                       " [0,1,{stiffness: 100, damping: " NUM "}], %s]}]\n",
                       c, springs);
}

static void test_hidden_damping(void **state)
{
    (void)state;
    static const char *const precisions[] = {"single", "double"};
    static const char *const others[] = {
        "[0,2,{stiffness: 1, damping: 1e5}]", // beside strong damping
        "[0,2,{stiffness: 1, damping: 1e5}], [2,3,{stiffness: 1e6, damping: 1e7}]",
        "[0,2,{stiffness: 1e8, damping: 1e4}]", // beside stiff springs
    };
    static const double dampings[] = {0, 1e-12, 1e-9, 1e-6, 1e-3};
    for (int p = 0; p < 2; p++)
        for (int o = 0; o < 3; o++)
            for (int d = 0; d < 5; d++) {
                const double c = (double)(float)dampings[d], k = 100;
                char *text = hidden_text(others[o], c);
                const struct critical_step critical =
                    critical_step_of(text, precisions[p], 1, NULL, 0);
                free(text);
                const double euler = critical.computed_dt[INTEGRATOR_EXPLICIT_EULER],
                             midpoint = critical.computed_dt[INTEGRATOR_MIDPOINT],
                             real = 2 / fmax(critical.damping, 1e-300),
                             expected = fmin(cbrt(4 * c / (k * k)), real);
                assert_true(critical.exact[INTEGRATOR_EXPLICIT_EULER]);
                assert_true(critical.exact[INTEGRATOR_MIDPOINT]);
                assert_near(euler, fmin(c / k, real), 0.005 * c / k);
                assert_near(midpoint, expected, 0.01 * expected);
                assert_true(critical.dt[INTEGRATOR_EXPLICIT_EULER] <= euler * (1 + 1e-6));
            }
}

// Too many nodes for all eigenvalues, and one node that moves freely, but so slowly that products
// do not show it: no step is certain to be stable.
static void test_slow_motion_beside_many_nodes(void **state)
{
    (void)state;
    static const char *const precisions[] = {"single", "double"};
    for (int p = 0; p < 2; p++)
        for (int together = 0; together < 2; together++) {
            char *text = text_format(
                "bodies: [{name: a, type: rope, from: [0,0,0], to: [1,0.4,0], nodes: 100,\n"
                " node_mass: 0.1, pins: [first], spring: {stiffness: 1e6, damping: 10,\n"
                " damping_law: %s}}, {name: b, type: rope, from: [0,0,1], to: [1,0.4,1], nodes: "
                "3,\n"
                " node_mass: 0.1, pins: [first], spring: {stiffness: 0.01}}]\n",
                together ? "full" : "axial");
            const struct critical_step critical = critical_step_of(text, precisions[p], 1, NULL, 0);
            free(text);
            for (int i = 0; i < 2; i++)
                assert_true(critical.computed_dt[runge_kutta[i]] == 0);
        }
}

// Too many nodes for all eigenvalues: rk4's limit is found, the others are bounds and reported as
// such.
static void test_limits_of_larger_bodies(void **state)
{
    (void)state;
    static const char *const cloth =
        "bodies: [{name: b, type: cloth, u: [1,0,0], v: [0,0,1], nodes: [13,9],\n"
        " node_mass: 0.1, pins: [left], springs: {structural: {stiffness: 300, damping: %g},\n"
        " shear: {stiffness: 200, damping: %g}, bend: {stiffness: 50, damping: 0.1}}}]\n";
    for (int i = 0; i < 2; i++) {
        char *text = i ? text_format(cloth, 0.1, 4.) : text_format(cloth, 9., 0.5);
        assert_int_equal(check_limits("large cloth", text, 0, false), 1);
        free(text);
    }
}

// The same bits for every number of threads.
static void test_threads_change_nothing(void **state)
{
    (void)state;
    for (int shape = 0; shape < SHAPES; shape++) {
        char *text = text_of(shape, 3);
        struct critical_step one = critical_step_of(text, "single", 1, NULL, 0);
        for (int threads = 2; threads <= 3; threads++) {
            struct critical_step more = critical_step_of(text, "single", threads, NULL, 0);
            assert_memory_equal(one.computed_dt, more.computed_dt, sizeof one.computed_dt);
            assert_memory_equal(one.exact, more.exact, sizeof one.exact);
        }
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hessenberg_eigenvalues_are_lapacks),
        cmocka_unit_test(test_limits_of_uneven_damping),
        cmocka_unit_test(test_limits_of_random_networks),
        cmocka_unit_test(test_limits_of_pressed_networks),
        cmocka_unit_test(test_limits_at_the_border),
        cmocka_unit_test(test_colliders_far_away),
        cmocka_unit_test(test_friction_of_pressed_nodes),
        cmocka_unit_test(test_hidden_damping),
        cmocka_unit_test(test_slow_motion_beside_many_nodes),
        cmocka_unit_test(test_limits_of_larger_bodies),
        cmocka_unit_test(test_threads_change_nothing),
    };
    return cmocka_run_group_tests_name("quadratic", tests, NULL, NULL);
}
