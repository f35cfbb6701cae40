// Arnoldi's method (Golub and Van Loan, Matrix Computations, 4th ed., 10.5; Tisseur and Meerbergen,
// The quadratic eigenvalue problem, SIAM Review 43 (2001), 3 and 6) for
//
//     A = [ 0              I
//           -M^-1 K / s^2  -M^-1 C / s ]  and vectors (s x, v),
//
// whose eigenvalues are lambda / s. Vectors are M-orthonormal, stored with a factor of M^1/2, and
// all of them are kept. Each is orthogonalised twice, so that round-off does not produce copies of
// eigenvalues. Once they span the invariant space of the start vector, they have all of its
// eigenvalues, multiple ones once.
//
// A step is limited by the eigenvalue that leaves the integrator's region first. For rk4 it is one
// of the largest, at the edge of the spectrum, where Arnoldi's method converges first. Explicit
// Euler and midpoint are limited by the least damped one, which can be anywhere: all eigenvalues
// must be found for them, as dense.c does for few nodes.
#include "stability/quadratic.h"

#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/sort.h"
#include "contact/tangent.h"
#include "integrate/integrate.h"
#include "springs/springs.h"
#include "stability/hessenberg.h"
#include "state/reading.h"

enum { FIRST_CHECK = 24, VECTORS_MIN = 32 };

// A vector of 6 numbers per node: M^1/2 s x, and M^1/2 v.
struct pair {
    struct node_vectors x, v;
};

struct quadratic {
    struct system *system;
    struct tangent *tangent;
    // Used during a search; written by worker 0.
    int capacity;       // number of vectors, without the one being computed
    real *numbers;      // of all vectors, and of an image
    double *hessenberg; // capacity + 1 rows of `capacity` numbers
    double *scratch;    // a copy, which the eigenvalue iteration destroys
    double *re, *im;    // eigenvalues in units of s
    bool solved;        // the eigenvalues were found
    struct dense dense; // while it is in use
    uint32_t *free;     // its free nodes
};

taut_status REAL_NAME(quadratic_make)(struct system *system, struct tangent *tangent,
                                      struct quadratic **result, taut_error *error)
{
    *result = memory_allocate(system->allocator, 1, sizeof **result);
    if (!*result)
        return fail_memory(error, "the computed critical step");
    **result = (struct quadratic){.system = system, .tangent = tangent};
    return TAUT_OK;
}

static size_t number_count(const struct quadratic *it)
{
    return (6 * ((size_t)it->capacity + 1) + 3) * (size_t)it->system->state->nodes;
}

// The sizes of the matrix, its copy, and the eigenvalues.
static size_t dense_count(const struct quadratic *it)
{
    size_t size = (size_t)it->capacity;
    return (2 * size + 3) * size;
}

static void release(struct quadratic *it)
{
    const taut_allocator *allocator = it->system->allocator;
    memory_release(allocator, it->numbers, number_count(it), sizeof *it->numbers);
    memory_release(allocator, it->hessenberg, dense_count(it), sizeof *it->hessenberg);
    it->numbers = NULL;
    it->hessenberg = NULL;
}

void REAL_NAME(quadratic_free)(struct quadratic *quadratic)
{
    if (!quadratic)
        return;
    memory_release(quadratic->system->allocator, quadratic, 1, sizeof *quadratic);
}

// Called by worker 0; false without memory.
static bool allocate(struct quadratic *it, int capacity)
{
    const taut_allocator *allocator = it->system->allocator;
    it->capacity = capacity;
    it->numbers = memory_allocate(allocator, number_count(it), sizeof *it->numbers);
    it->hessenberg = memory_allocate(allocator, dense_count(it), sizeof *it->hessenberg);
    if (!it->numbers || !it->hessenberg) {
        release(it);
        return false;
    }
    size_t size = (size_t)capacity;
    it->scratch = it->hessenberg + (size + 1) * size;
    it->re = it->scratch + size * size;
    it->im = it->re + size;
    return true;
}

static size_t vector_length(const struct quadratic *it)
{
    return 6 * (size_t)it->system->state->nodes;
}

static real *vector_at(const struct quadratic *it, int index)
{
    return it->numbers + vector_length(it) * (size_t)index;
}

static struct pair pair_at(const struct quadratic *it, int index)
{
    size_t nodes = (size_t)it->system->state->nodes;
    real *first = vector_at(it, index);
    return (struct pair){{first, first + nodes, first + 2 * nodes},
                         {first + 3 * nodes, first + 4 * nodes, first + 5 * nodes}};
}

static struct node_vectors image_of(const struct quadratic *it)
{
    return pair_at(it, it->capacity + 1).x;
}

static void fill(const struct quadratic *it, struct node_vectors out, uint64_t seed,
                 const struct worker *worker)
{
    const uint64_t offset = seed + 0x50;
    struct range share = node_share(it->system, worker);
    for (size_t i = share.first; i < share.end; i++) {
        bool is_free = it->system->constants->inverse_mass[i] != 0;
        out.x[i] = is_free ? (real)random_at(6 * i + offset) : 0;
        out.y[i] = is_free ? (real)random_at(6 * i + offset + 1) : 0;
        out.z[i] = is_free ? (real)random_at(6 * i + offset + 2) : 0;
    }
}

// ---- Vectors

// Products of vectors first .. first + count - 1 with the vector `with`.
struct products {
    const struct quadratic *it;
    int first, count, with;
};

// Sums products over the numbers of a chunk of that many nodes, whichever array they are in.
static void sum_products(const struct system *system, const void *argument, struct range range,
                         double sums[SUM_WIDTH])
{
    enum { LANES = 8 };
    const struct products *of = argument;
    const real *w = vector_at(of->it, of->with);
    (void)system;
    for (int j = 0; j < of->count; j++) {
        const real *q = vector_at(of->it, of->first + j);
        double parts[LANES] = {0};
        size_t i = 6 * range.first;
        for (; i + LANES <= 6 * range.end; i += LANES)
            for (int lane = 0; lane < LANES; lane++)
                parts[lane] += (double)q[i + (size_t)lane] * (double)w[i + (size_t)lane];
        for (int lane = 0; lane < LANES; lane++)
            sums[j] += parts[lane];
        for (; i < 6 * range.end; i++)
            sums[j] += (double)q[i] * (double)w[i];
    }
}

static void subtract_from(real *restrict w, const real *restrict q, real by, struct range range)
{
    for (size_t i = 6 * range.first; i < 6 * range.end; i++)
        w[i] -= by * q[i];
}

// Orthogonalises vector `last` against the previous ones, twice, and writes the coefficients to
// `column`. Returns the remaining length.
static double make_orthogonal(struct quadratic *it, int last, double *column,
                              const struct worker *worker)
{
    struct system *system = it->system;
    size_t nodes = (size_t)system->state->nodes;
    struct range share = node_share(system, worker);
    double sums[SUM_WIDTH];
    memset(column, 0, (size_t)last * sizeof *column);
    for (int pass = 0; pass < 2; pass++) {
        double parts[QUADRATIC_VECTORS_MAX];
        for (int first = 0; first < last; first += SUM_WIDTH) {
            int count = last - first < SUM_WIDTH ? last - first : SUM_WIDTH;
            const struct products products = {it, first, count, last};
            REAL_NAME(sum_over_chunks)(system, nodes, sum_products, &products, sums, worker);
            memcpy(parts + first, sums, (size_t)count * sizeof *parts);
        }
        for (int j = 0; j < last; j++) {
            column[j] += parts[j];
            subtract_from(vector_at(it, last), vector_at(it, j), (real)parts[j], share);
        }
        worker_barrier(worker);
    }
    const struct products length = {it, last, 1, last};
    REAL_NAME(sum_over_chunks)(system, nodes, sum_products, &length, sums, worker);
    return sqrt(sums[0]);
}

static void scale_vector(const struct quadratic *it, int index, double by,
                         const struct worker *worker)
{
    real *w = vector_at(it, index);
    struct range share = node_share(it->system, worker);
    for (size_t i = 6 * share.first; i < 6 * share.end; i++)
        w[i] *= (real)by;
    worker_barrier(worker);
}

// out = M^(-power / 2) in, for this worker's nodes.
static void divide(const struct quadratic *it, struct node_vectors in, struct node_vectors out,
                   int power, const struct worker *worker)
{
    struct range share = node_share(it->system, worker);
    for (size_t i = share.first; i < share.end; i++) {
        real inverse = it->system->constants->inverse_mass[i];
        real by = power == 1 ? real_sqrt(inverse) : inverse;
        out.x[i] = by * in.x[i];
        out.y[i] = by * in.y[i];
        out.z[i] = by * in.z[i];
    }
}

// Vector j + 1 := A times vector j. The multiplied vector is stored where the x of the result will
// be.
static void apply(const struct quadratic *it, int j, double scale, const struct worker *worker)
{
    struct system *system = it->system;
    struct pair q = pair_at(it, j), w = pair_at(it, j + 1);
    struct node_vectors image = image_of(it);
    struct range share = node_share(system, worker);
    divide(it, q.x, w.x, 1, worker);
    worker_barrier(worker);
    REAL_NAME(tangent_apply)(it->tangent, (real)(1 / (scale * scale)), 0, w.x, w.v, worker);
    divide(it, q.v, w.x, 1, worker);
    worker_barrier(worker);
    REAL_NAME(tangent_apply)(it->tangent, 0, (real)(1 / scale), w.x, image, worker);
    for (size_t i = share.first; i < share.end; i++) {
        w.v.x[i] = -(w.v.x[i] + image.x[i]);
        w.v.y[i] = -(w.v.y[i] + image.y[i]);
        w.v.z[i] = -(w.v.z[i] + image.z[i]);
        w.x.x[i] = q.v.x[i];
        w.x.y[i] = q.v.y[i];
        w.x.z[i] = q.v.z[i];
    }
    divide(it, w.v, w.v, 1, worker);
    worker_barrier(worker);
}

// ---- Eigenvalues

// The state of a search after a number of vectors.
struct search {
    double scale; // 1/s, of A
    unsigned wanted;
    bool complete;
    double before[INTEGRATOR_COUNT]; // steps at the last check
    struct quadratic_steps steps;
};

// A bracket of the smallest step that eigenvalues of the leading block allow. Round-off of products
// shifts them, slower ones more, and may hide light damping.
struct bracket {
    double low, value, high;
};

static struct bracket least_step(const struct quadratic *it, enum integrator integrator,
                                 const struct search *search, int size)
{
    const double still = sizeof(real) == sizeof(float) ? 4.5e-3 : 1e-3;
    const double round_off = 0.25 * (double)REAL_EPSILON;
    struct bracket least = {INFINITY, INFINITY, INFINITY};
    for (int i = 0; i < size; i++) {
        double re = it->re[i], im = it->im[i], modulus = hypot(re, im);
        bool grows = re > fabs(im); // physical growth, if springs are compressed
        if (modulus <= still || grows)
            continue;
        double moved = round_off * fmax(1, 1 / modulus);
        least.low = fmin(least.low, integrator_root_step(integrator, re + moved, im));
        least.value = fmin(least.value, integrator_root_step(integrator, re, im));
        least.high = fmin(least.high, integrator_root_step(integrator, re - moved, im));
    }
    least.low /= search->scale;
    least.value /= search->scale;
    least.high /= search->scale;
    return least;
}

// Called by all; worker 0 solves.
static void solve(struct quadratic *it, int size, const struct worker *worker)
{
    worker_barrier(worker);
    if (worker->index == 0) {
        for (int i = 0; i < size; i++)
            memcpy(it->scratch + i * it->capacity, it->hessenberg + i * it->capacity,
                   (size_t)size * sizeof *it->scratch);
        it->solved = hessenberg_eigenvalues(it->scratch, size, it->capacity, it->re, it->im);
    }
    worker_barrier(worker);
}

static bool is_marginal(int integrator)
{
    return integrator == INTEGRATOR_RK4;
}

// A step of rk4 counts as found when all eigenvalues are found, or when a quarter more vectors
// change it by less than 0.05%; and when round-off leaves it within 1%, or no significant step. For
// integrators that are not found, the caller compares with a bound.
static void check(struct quadratic *it, struct search *search, int size,
                  const struct worker *worker)
{
    const double same = 5e-4, certain = 0.99;
    const double none = (sizeof(real) == sizeof(float) ? 1e-4 : 1e-6) / search->scale;
    struct quadratic_steps *steps = &search->steps;
    solve(it, size, worker);
    bool undamped = false; // some mode, up to round-off, whose cube root limits midpoint
    if (search->complete && it->solved) {
        struct bracket least = least_step(it, INTEGRATOR_EXPLICIT_EULER, search, size);
        undamped = least.low == 0 && least.high < none;
    }
    for (int i = 0; i < INTEGRATOR_COUNT && it->solved; i++) {
        if (!(search->wanted >> i & 1) || steps->found[i])
            continue;
        struct bracket least = least_step(it, (enum integrator)i, search, size);
        bool nothing = (undamped && !is_marginal(i)) || least.high < none;
        bool known = nothing || least.low >= certain * least.high;
        double change = fabs(least.value - search->before[i]);
        bool stays = change <= same * least.value;
        search->before[i] = least.value;
        // The remaining error decreases as the square of the number of vectors: 1.8 times the
        // change.
        steps->step[i] = nothing ? 0 : least.value - (search->complete ? 0 : 2 * change);
        steps->found[i] = known && is_marginal(i) && (search->complete || stays);
        steps->stays[i] = known && stays;
    }
}

static bool is_done(const struct search *search)
{
    for (int i = 0; i < INTEGRATOR_COUNT; i++)
        if (search->wanted >> i & 1 && !search->steps.found[i] && is_marginal(i))
            return false;
    return true;
}

static void run(struct quadratic *it, struct search *search, const struct worker *worker)
{
    // The remainder of a vector in an invariant space is round-off, amplified by its growth.
    const double nothing = sizeof(real) == sizeof(float) ? 2e-6 : 1e-11;
    double column[QUADRATIC_VECTORS_MAX + 1];
    int next = FIRST_CHECK;
    struct pair start = pair_at(it, 0);
    fill(it, start.x, 0, worker);
    fill(it, start.v, 3, worker);
    worker_barrier(worker);
    double length = make_orthogonal(it, 0, column, worker);
    if (!(length > 0) || !isfinite(length))
        return;
    scale_vector(it, 0, 1 / length, worker);
    for (int size = 1; size <= it->capacity; size++) {
        apply(it, size - 1, search->scale, worker);
        length = make_orthogonal(it, size, column, worker);
        if (!isfinite(length))
            return;
        if (worker->index == 0)
            for (int i = 0; i <= size && i <= it->capacity; i++)
                it->hessenberg[i * it->capacity + size - 1] = i < size ? column[i] : length;
        search->complete = length <= nothing; // the space of the start vector is complete
        bool last = search->complete || size == it->capacity;
        if (last || size == next)
            check(it, search, size, worker);
        if (size == next)
            next += next / 4;
        if (last || is_done(search))
            return;
        scale_vector(it, size, 1 / length, worker);
    }
}

// Every free node has six eigenvalues.
static int dimension(const struct system *system)
{
    double count = 0;
    for (size_t i = 0; i < (size_t)system->state->nodes; i++)
        count += system->constants->inverse_mass[i] != 0 ? 6 : 0;
    return (int)fmin(count, 1 << 30);
}

struct quadratic_steps REAL_NAME(quadratic_find)(struct quadratic *quadratic, double square,
                                                 double damping, unsigned wanted,
                                                 const struct worker *worker)
{
    const struct system *system = quadratic->system;
    struct search search = {.scale = fmax(sqrt(square), damping / 2), .wanted = wanted};
    int most = (int)quadratic_vectors((double)system->state->nodes, sizeof(real));
    int capacity = (int)fmin(most, dimension(system));
    for (int i = 0; i < INTEGRATOR_COUNT; i++)
        search.before[i] = -1;
    if (!(search.scale > 0) || is_done(&search) || most < VECTORS_MIN)
        return search.steps;
    worker_barrier(worker);
    if (worker->index == 0)
        (void)allocate(quadratic, capacity); // without memory no limit is found
    worker_barrier(worker);
    if (quadratic->numbers) {
        run(quadratic, &search, worker);
        worker_barrier(worker);
        if (worker->index == 0)
            release(quadratic);
        worker_barrier(worker);
    }
    return search.steps;
}

// ---- Matrices of small systems

static size_t dense_numbers(int size)
{
    return 2 * (size_t)size * (size_t)size + dense_scratch(size);
}

static void release_dense(struct quadratic *it)
{
    const taut_allocator *allocator = it->system->allocator;
    struct dense *dense = &it->dense;
    memory_release(allocator, dense->stiffness, dense_numbers(dense->size), sizeof(double));
    memory_release(allocator, it->free, (size_t)dense->size / 3, sizeof *it->free);
    *dense = (struct dense){.size = 0};
    it->free = NULL;
    release(it);
}

// The row of a node's x; -1: none.
static long row_of(const struct quadratic *it, size_t node)
{
    if (it->system->constants->inverse_mass[node] == 0)
        return -1;
    return 3 * (long)lower_bound(it->free, (size_t)it->dense.size / 3, node);
}

// Sets the direction of a spring and returns its length, or -1 if it is slack.
static double direct_spring(const struct quadratic *it, const struct spring_constants *material,
                            size_t a, size_t b, real rest, double u[3])
{
    const struct state *s = it->system->state;
    const real dx = s->x[a] - s->x[b], dy = s->y[a] - s->y[b], dz = s->z[a] - s->z[b];
    if (spring_is_slack(material, (double)real_sqrt(dx * dx + dy * dy + dz * dz), (double)rest))
        return -1;
    vec3 d = vec3_subtract(node_position(s, a), node_position(s, b));
    const double length = vec3_length(d);
    u[0] = length > 0 ? d.x / length : 0;
    u[1] = length > 0 ? d.y / length : 0;
    u[2] = length > 0 ? d.z / length : 0;
    return length;
}

// v' B v of the contacts of a node, with v = M^-1/2 x.
static double contact_damping(const struct quadratic *it, size_t node, const double v[3])
{
    const double none = 1e-14;
    double stiffness[3][3] = {{0}}, damping[3][3] = {{0}}, sum = 0, square = 0;
    REAL_NAME(contact_blocks_of)
    (it->system, REAL_NAME(evaluation_now)(it->system).time, node, stiffness, damping);
    for (size_t i = 0; i < 3; i++)
        for (size_t j = 0; j < 3; j++)
            sum += v[i] * damping[i][j] * v[j];
    for (size_t i = 0; i < 3; i++)
        square += v[i] * v[i];
    const double trace = damping[0][0] + damping[1][1] + damping[2][2];
    return sum > none * trace * square ? sum : 0; // else round-off: no friction in this direction
}

static double drag_of(const struct system *system, uint32_t node)
{
    const struct node_masses masses = topology_masses(system->topology, node, node + 1);
    return drag_in(&masses, system->topology->environment.air_drag, node);
}

// x' M^-1/2 C M^-1/2 x for springs, contacts and drag.
static double damping_of(const void *context, const double *x)
{
    const struct quadratic *it = context;
    const struct system *system = it->system;
    double sum = 0;
    struct spring_walk walk = springs_walk(system);
    struct spring_view view;
    while (springs_next(&walk, &view)) {
        const double c = (double)view.material->damping;
        for (size_t i = 0; i < (size_t)view.count && c > 0; i++) {
            const size_t ends[2] = {view.a + i, view.b + i};
            double u[3] = {0}, w[3] = {0}, along = 0, square = 0;
            if (view_is_broken(&view, i) || direct_spring(it, view.material, ends[0], ends[1],
                                                          view_rest_length(&view, i), u) < 0)
                continue;
            for (int end = 0; end < 2; end++) {
                const long row = row_of(it, ends[end]);
                const double by = sqrt((double)system->constants->inverse_mass[ends[end]]);
                for (int axis = 0; axis < 3 && row >= 0; axis++)
                    w[axis] += (end ? -by : by) * x[row + axis];
            }
            for (int axis = 0; axis < 3; axis++) {
                along += u[axis] * w[axis];
                square += w[axis] * w[axis];
            }
            sum += c * (view.material->damping_law == DAMPING_FULL ? square : along * along);
        }
    }
    for (size_t i = 0; i < (size_t)it->dense.size / 3; i++) {
        const double drag = drag_of(system, it->free[i]);
        const double by = sqrt((double)system->constants->inverse_mass[it->free[i]]);
        const double v[3] = {by * x[3 * i], by * x[3 * i + 1], by * x[3 * i + 2]};
        sum += drag * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
        sum += contact_damping(it, it->free[i], v);
    }
    return sum;
}

// Called by worker 0; false without memory.
static bool allocate_dense(struct quadratic *it, int size)
{
    const struct system *system = it->system;
    struct dense *dense = &it->dense;
    *dense = (struct dense){.size = size, .damping_of = damping_of, .context = it};
    dense->stiffness = memory_allocate(system->allocator, dense_numbers(size), sizeof(double));
    it->free = memory_allocate(system->allocator, (size_t)size / 3, sizeof *it->free);
    if (!dense->stiffness || !it->free || !allocate(it, 1)) {
        release_dense(it);
        return false;
    }
    size_t count = 0;
    for (size_t i = 0; i < (size_t)system->state->nodes; i++)
        if (system->constants->inverse_mass[i] != 0)
            it->free[count++] = (uint32_t)i;
    dense->damping = dense->stiffness + (size_t)size * (size_t)size;
    dense->scratch = dense->damping + (size_t)size * (size_t)size;
    return true;
}

// The fraction of its stiffness that a spring has across its direction. It is 0 if the spring has
// its rest length up to round-off of that and of the coordinates: otherwise the round-off would
// hide the difference between motions that no spring resists and slow ones.
static double stiffness_across(const struct quadratic *it, size_t a, size_t b, double length,
                               double rest)
{
    if (!(length > 0))
        return 1;
    const vec3 p = node_position(it->system->state, a), q = node_position(it->system->state, b);
    const double round_off = 2 * (double)REAL_EPSILON * (vec3_length(p) + vec3_length(q) + length);
    return fabs(length - rest) <= round_off ? 0 : 1 - rest / length;
}

static void add_dense_spring(struct quadratic *it, const struct spring_constants *material,
                             size_t a, size_t b, real rest)
{
    const size_t n = (size_t)it->dense.size;
    double u[3] = {0};
    const double length = direct_spring(it, material, a, b, rest, u);
    if (length < 0)
        return;
    const double k = (double)material->stiffness, c = (double)material->damping;
    const double across = stiffness_across(it, a, b, length, (double)rest);
    const bool full = material->damping_law == DAMPING_FULL;
    const size_t ends[2] = {a, b};
    for (int e = 0; e < 4; e++) {
        const size_t p = ends[e / 2], q = ends[e % 2];
        const long row = row_of(it, p), column = row_of(it, q);
        if (row < 0 || column < 0)
            continue;
        double by = sqrt((double)it->system->constants->inverse_mass[p] *
                         (double)it->system->constants->inverse_mass[q]);
        by = p == q ? by : -by;
        for (size_t i = 0; i < 3; i++)
            for (size_t j = 0; j < 3; j++) {
                const size_t at = ((size_t)row + i) * n + (size_t)column + j;
                const double along = u[i] * u[j], same = i == j ? 1 : 0;
                it->dense.stiffness[at] += by * k * (along + across * (same - along));
                it->dense.damping[at] += by * c * (full ? same : along);
            }
    }
}

// Adds the blocks of the contacts of a node.
static void add_dense_contacts(struct quadratic *it, size_t index)
{
    const struct system *system = it->system;
    const size_t node = it->free[index], n = (size_t)it->dense.size;
    const double inverse = (double)system->constants->inverse_mass[node],
                 time = REAL_NAME(evaluation_now)(system).time;
    double stiffness[3][3] = {{0}}, damping[3][3] = {{0}};
    REAL_NAME(contact_blocks_of)(system, time, node, stiffness, damping);
    for (size_t i = 0; i < 3; i++)
        for (size_t j = 0; j < 3; j++) {
            const size_t at = (3 * index + i) * n + 3 * index + j;
            it->dense.stiffness[at] += inverse * stiffness[i][j];
            it->dense.damping[at] += inverse * damping[i][j];
        }
}

// Adds springs, contacts and drag; worker 0 only.
static void fill_dense(struct quadratic *it)
{
    const struct system *system = it->system;
    const size_t n = (size_t)it->dense.size;
    struct spring_walk walk = springs_walk(system);
    struct spring_view view;
    while (springs_next(&walk, &view))
        for (size_t i = 0; i < (size_t)view.count; i++)
            if (!view_is_broken(&view, i))
                add_dense_spring(it, view.material, view.a + i, view.b + i,
                                 view_rest_length(&view, i));
    for (size_t i = 0; i < n / 3; i++)
        add_dense_contacts(it, i);
    for (size_t i = 0; i < n; i++) {
        const uint32_t node = it->free[i / 3];
        it->dense.damping[i * n + i] +=
            drag_of(system, node) * (double)system->constants->inverse_mass[node];
    }
}

static real *component_of(struct node_vectors vectors, size_t axis)
{
    return axis == 0 ? vectors.x : axis == 1 ? vectors.y : vectors.z;
}

// Adds a column of gas, wind and elements: half of it to the column, and half to the row of the
// transpose.
static void add_dense_column(struct quadratic *it, struct node_vectors product, size_t column,
                             double *matrix, double *largest)
{
    const real *inverse = it->system->constants->inverse_mass;
    const size_t n = (size_t)it->dense.size;
    for (size_t row = 0; row < n; row++) {
        const uint32_t node = it->free[row / 3];
        double by = sqrt((double)inverse[node] * (double)inverse[it->free[column / 3]]);
        double value = by * (double)component_of(product, row % 3)[node];
        matrix[row * n + column] += value / 2;
        matrix[column * n + row] += value / 2;
        *largest = fmax(*largest, fabs(value));
    }
}

static void add_others(struct quadratic *it, const struct worker *worker)
{
    struct pair first = pair_at(it, 0), second = pair_at(it, 1);
    struct node_vectors unit = first.x, stiffness = second.x, damping = second.v;
    struct range share = node_share(it->system, worker);
    double k_largest = 0, c_largest = 0;
    for (size_t i = share.first; i < share.end; i++)
        unit.x[i] = unit.y[i] = unit.z[i] = 0;
    worker_barrier(worker);
    for (size_t column = 0; column < (size_t)it->dense.size; column++) {
        real *element = &component_of(unit, column % 3)[it->free[column / 3]];
        if (worker->index == 0)
            *element = 1;
        worker_barrier(worker);
        REAL_NAME(tangent_apply_others)(it->tangent, 1, 0, unit, stiffness, worker);
        REAL_NAME(tangent_apply_others)(it->tangent, 0, 1, unit, damping, worker);
        if (worker->index == 0) {
            add_dense_column(it, stiffness, column, it->dense.stiffness, &k_largest);
            add_dense_column(it, damping, column, it->dense.damping, &c_largest);
            *element = 0;
        }
        worker_barrier(worker);
    }
    if (worker->index == 0) {
        it->dense.stiffness_error = (double)REAL_EPSILON * k_largest;
        it->dense.damping_error = (double)REAL_EPSILON * c_largest;
    }
}

const struct dense *REAL_NAME(quadratic_dense)(struct quadratic *quadratic,
                                               const struct worker *worker)
{
    int size = dimension(quadratic->system) / 2;
    if (size == 0 || 2 * size > QUADRATIC_VECTORS_MAX)
        return NULL;
    worker_barrier(worker);
    if (worker->index == 0 && allocate_dense(quadratic, size))
        fill_dense(quadratic);
    worker_barrier(worker);
    if (!quadratic->dense.stiffness)
        return NULL;
    if (REAL_NAME(tangent_has_others)(quadratic->tangent))
        add_others(quadratic, worker);
    worker_barrier(worker);
    return &quadratic->dense;
}

void REAL_NAME(quadratic_dense_release)(struct quadratic *quadratic, const struct worker *worker)
{
    worker_barrier(worker);
    if (worker->index == 0)
        release_dense(quadratic);
    worker_barrier(worker);
}

// ---- Whether stiffness and damping have common eigenvectors

struct commutator {
    struct node_vectors a, b; // K M^-1 C r and C M^-1 K r
};

static double square_of(const struct node_vectors *a, size_t i)
{
    double x = (double)a->x[i], y = (double)a->y[i], z = (double)a->z[i];
    return x * x + y * y + z * z;
}

// Squares, weighted with M^-1, of the difference and of both products.
static void sum_commutator(const struct system *system, const void *argument, struct range range,
                           double sums[SUM_WIDTH])
{
    const struct commutator *of = argument;
    const struct node_vectors *a = &of->a, *b = &of->b;
    for (size_t i = range.first; i < range.end; i++) {
        double inverse = (double)system->constants->inverse_mass[i];
        double x = (double)a->x[i] - (double)b->x[i], y = (double)a->y[i] - (double)b->y[i],
               z = (double)a->z[i] - (double)b->z[i];
        sums[0] += inverse * (x * x + y * y + z * z);
        sums[1] += inverse * (square_of(a, i) + square_of(b, i));
    }
}

static bool commutes(struct quadratic *it, double square, double damping,
                     const struct worker *worker)
{
    const double round_off = sizeof(real) == sizeof(float) ? 1e-5 : 1e-9;
    const real k = (real)(1 / square), c = (real)(1 / damping);
    struct pair r = pair_at(it, 0), products = pair_at(it, 1);
    struct node_vectors image = image_of(it);
    fill(it, r.x, 0, worker);
    worker_barrier(worker);
    REAL_NAME(tangent_apply)(it->tangent, k, 0, r.x, r.v, worker);
    divide(it, r.v, image, 2, worker);
    worker_barrier(worker);
    REAL_NAME(tangent_apply)(it->tangent, 0, c, image, products.x, worker);
    REAL_NAME(tangent_apply)(it->tangent, 0, c, r.x, r.v, worker);
    divide(it, r.v, image, 2, worker);
    worker_barrier(worker);
    REAL_NAME(tangent_apply)(it->tangent, k, 0, image, products.v, worker);
    const struct commutator both = {products.x, products.v};
    double sums[SUM_WIDTH];
    REAL_NAME(sum_over_chunks)
    (it->system, (size_t)it->system->state->nodes, sum_commutator, &both, sums, worker);
    return sums[0] <= round_off * round_off * sums[1];
}

bool REAL_NAME(quadratic_commutes)(struct quadratic *quadratic, double square, double damping,
                                   const struct worker *worker)
{
    worker_barrier(worker);
    if (worker->index == 0)
        (void)allocate(quadratic, 1);
    worker_barrier(worker);
    if (!quadratic->numbers)
        return false;
    bool same = commutes(quadratic, square, damping, worker);
    worker_barrier(worker);
    if (worker->index == 0)
        release(quadratic);
    worker_barrier(worker);
    return same;
}
