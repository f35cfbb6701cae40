// Lanczos' recurrence (Golub and Van Loan, Matrix Computations, 4th ed., 10.1) for K u = lambda M
// u: M-orthonormal vectors, of which only the last two are kept. Loss of orthogonality makes copies
// of eigenvalues that were found, and does not affect the largest one.
#include "stability/lanczos.h"

#include <assert.h>
#include <float.h>

#include "base/hash.h"
#include "base/memory.h"
#include "state/reading.h"

enum { ITERATIONS_MAX = 300, ITERATIONS_FEW = 48, CHECK_EVERY = 8 };

// The largest Ritz value counts as converged when it grows by less than this fraction in
// CHECK_EVERY steps.
static const double GROWTH_MIN = 2e-6;

// For many nodes it also counts as converged when less than LANCZOS_REMAINS is left, but not in
// fewer steps than show an eigenvalue that few of the nodes have: its part of the start vector, (n
// / N)^1/2 where n of N nodes move, grows as exp(2 j g^1/2) in j steps if it exceeds the others by
// the fraction g, which 64 steps show for n / N = 1e-5 from g = 0.002 on.
enum { STEPS_OF_MANY = 64 };

struct lanczos {
    struct system *system;
    struct tangent *tangent;
    struct node_vectors now, before, image; // u_j, u_(j-1) and then w; the image of u_j
    struct node_vectors vector;             // an eigenvector
    real *numbers;                          // of all twelve arrays
    int products;                           // with the tangent so far; counted by worker 0
};

static size_t number_count(const struct system *system)
{
    return 12 * (size_t)system->state->nodes;
}

taut_status REAL_NAME(lanczos_make)(struct system *system, struct lanczos **result,
                                    taut_error *error)
{
    *result = NULL;
    struct lanczos *lanczos = memory_allocate(system->allocator, 1, sizeof *lanczos);
    if (!lanczos)
        return fail_memory(error, "the computed critical step");
    lanczos->system = system;
    size_t nodes = (size_t)system->state->nodes;
    lanczos->numbers =
        memory_allocate(system->allocator, number_count(system), sizeof *lanczos->numbers);
    real *next = lanczos->numbers;
    lanczos->now = (struct node_vectors){next, next + nodes, next + 2 * nodes};
    lanczos->before = (struct node_vectors){next + 3 * nodes, next + 4 * nodes, next + 5 * nodes};
    lanczos->image = (struct node_vectors){next + 6 * nodes, next + 7 * nodes, next + 8 * nodes};
    lanczos->vector = (struct node_vectors){next + 9 * nodes, next + 10 * nodes, next + 11 * nodes};
    taut_status status = next ? REAL_NAME(tangent_make)(system, &lanczos->tangent, error)
                              : fail_memory(error, "the computed critical step");
    if (status == TAUT_OK)
        *result = lanczos;
    else
        REAL_NAME(lanczos_free)(lanczos);
    return status;
}

void REAL_NAME(lanczos_free)(struct lanczos *lanczos)
{
    if (!lanczos)
        return;
    const taut_allocator *allocator = lanczos->system->allocator;
    REAL_NAME(tangent_free)(lanczos->tangent);
    memory_release(allocator, lanczos->numbers, number_count(lanczos->system),
                   sizeof *lanczos->numbers);
    memory_release(allocator, lanczos, 1, sizeof *lanczos);
}

uint64_t REAL_NAME(lanczos_bytes)(const struct lanczos *lanczos)
{
    return sizeof *lanczos + number_count(lanczos->system) * sizeof *lanczos->numbers +
           REAL_NAME(tangent_bytes)(lanczos->tangent);
}

struct tangent *REAL_NAME(lanczos_tangent)(const struct lanczos *lanczos)
{
    return lanczos->tangent;
}

int REAL_NAME(lanczos_products)(const struct lanczos *lanczos)
{
    return lanczos->products;
}

void REAL_NAME(lanczos_update)(struct lanczos *lanczos, struct evaluation evaluation,
                               const struct worker *worker)
{
    REAL_NAME(tangent_update)(lanczos->tangent, TANGENT_EXACT, evaluation, worker);
}

// u_0, not yet normalised, into `before`, where every w is stored before normalisation.
static void begin(struct lanczos *lanczos, const struct worker *worker)
{
    const struct system *system = lanczos->system;
    struct range share = node_share(system, worker);
    for (size_t i = share.first; i < share.end; i++) {
        bool is_free = system->constants->inverse_mass[i] != 0;
        lanczos->before.x[i] = is_free ? (real)random_at(3 * i) : 0;
        lanczos->before.y[i] = is_free ? (real)random_at(3 * i + 1) : 0;
        lanczos->before.z[i] = is_free ? (real)random_at(3 * i + 2) : 0;
        lanczos->now.x[i] = lanczos->now.y[i] = lanczos->now.z[i] = 0;
    }
    worker_barrier(worker);
}

// w . M w
static void sum_length(const struct system *system, const void *argument, struct range range,
                       double sums[SUM_WIDTH])
{
    const struct node_vectors *w = &((const struct lanczos *)argument)->before;
    for (size_t i = range.first; i < range.end; i++) {
        double inverse = (double)system->constants->inverse_mass[i];
        double x = (double)w->x[i], y = (double)w->y[i], z = (double)w->z[i];
        if (inverse != 0)
            sums[0] += (x * x + y * y + z * z) / inverse;
    }
}

// u . K u
static void sum_product(const struct system *system, const void *argument, struct range range,
                        double sums[SUM_WIDTH])
{
    (void)system;
    const struct lanczos *it = argument;
    for (size_t i = range.first; i < range.end; i++)
        sums[0] += (double)it->now.x[i] * (double)it->image.x[i] +
                   (double)it->now.y[i] * (double)it->image.y[i] +
                   (double)it->now.z[i] * (double)it->image.z[i];
}

// w = M^-1 (image) - alpha u_j - beta u_(j-1), replacing u_(j-1).
static void subtract(struct lanczos *lanczos, double alpha, double beta,
                     const struct worker *worker)
{
    const struct system *system = lanczos->system;
    real a = (real)alpha, b = (real)beta;
    struct node_vectors u = lanczos->now, w = lanczos->before, image = lanczos->image;
    struct range share = node_share(system, worker);
    for (size_t i = share.first; i < share.end; i++) {
        real inverse = system->constants->inverse_mass[i];
        w.x[i] = inverse * image.x[i] - a * u.x[i] - b * w.x[i];
        w.y[i] = inverse * image.y[i] - a * u.y[i] - b * w.y[i];
        w.z[i] = inverse * image.z[i] - a * u.z[i] - b * w.z[i];
    }
    worker_barrier(worker);
}

// w / length becomes u_(j+1), and u_j the previous vector. `here` is a copy, the same on all
// workers.
static void advance_vectors(struct lanczos *here, double length, const struct worker *worker)
{
    struct node_vectors next = here->before;
    here->before = here->now;
    here->now = next;
    real scale = (real)(1 / length);
    struct range share = node_share(here->system, worker);
    for (size_t i = share.first; i < share.end; i++) {
        next.x[i] *= scale;
        next.y[i] *= scale;
        next.z[i] *= scale;
    }
    worker_barrier(worker);
}

// The symmetric tridiagonal matrix T: alpha on the diagonal, beta[j] between j - 1 and j.
struct tridiagonal {
    int size;
    double alpha[ITERATIONS_MAX], beta[ITERATIONS_MAX];
};

// Whether some eigenvalue is larger than x: a pivot of x I - T is not positive (Sturm).
static bool any_larger(const struct tridiagonal *t, double x)
{
    double pivot = x - t->alpha[0];
    for (int j = 1; j < t->size && pivot > 0; j++)
        pivot = x - t->alpha[j] - t->beta[j] * t->beta[j] / pivot;
    return !(pivot > 0);
}

static double largest_of(const struct tridiagonal *t)
{
    double low = t->alpha[0], high = t->alpha[0];
    for (int j = 0; j < t->size; j++) { // Gershgorin
        double around = (j > 0 ? t->beta[j] : 0) + (j + 1 < t->size ? t->beta[j + 1] : 0);
        low = fmax(low, t->alpha[j]);
        high = fmax(high, t->alpha[j] + around);
    }
    while (high - low > 1e-12 * fabs(high)) {
        double middle = low + (high - low) / 2;
        if (middle <= low || middle >= high)
            break;
        if (any_larger(t, middle))
            low = middle;
        else
            high = middle;
    }
    return high;
}

static double least_of(const struct tridiagonal *t)
{
    struct tridiagonal negative = *t; // signs off the diagonal do not count
    for (int j = 0; j < t->size; j++)
        negative.alpha[j] = -t->alpha[j];
    return -largest_of(&negative);
}

// What to compute, with a maximum number of products; may stop as soon as the eigenvalue is known
// to exceed a given value.
struct task {
    double stiffness, damping;
    double scale; // of eigenvalues, because the largest may be near 0
    double enough;
    int products;
    double least_matters; // the least eigenvalue is found, too, if the largest is below this
};

// Computes u_(j+1) from w, and its image. False if the vectors span an invariant subspace, so that
// w is round-off. *alpha and *length are the next elements of T.
static bool advance(struct lanczos *here, const struct task *task, int done, double found,
                    double *alpha, double *length, const struct worker *worker)
{
    struct system *system = here->system;
    size_t nodes = (size_t)system->state->nodes;
    double sums[SUM_WIDTH], size = done > 0 ? fmax(fabs(found), task->scale) : 0;
    REAL_NAME(sum_over_chunks)(system, nodes, sum_length, here, sums, worker);
    *length = sqrt(sums[0]);
    if (!isfinite(*length) || *length <= 16 * (double)REAL_EPSILON * size || *length == 0)
        return false;
    advance_vectors(here, *length, worker);
    REAL_NAME(tangent_apply)
    (here->tangent, (real)task->stiffness, (real)task->damping, here->now, here->image, worker);
    REAL_NAME(sum_over_chunks)(system, nodes, sum_product, here, sums, worker);
    *alpha = sums[0];
    return true;
}

// What the largest Ritz value will still grow by, estimated from its growth in the last CHECK_EVERY
// steps. Where eigenvalues are dense below the largest, as those of large bodies are, it is A / j^2
// after j steps (Kaniel and Paige: Golub and Van Loan, 10.1.5); elsewhere it is less.
static double growth_left(int steps, double growth)
{
    const double now = steps, before = steps - CHECK_EVERY;
    return growth * before * before / (now * now - before * before);
}

// `growth`: of a Ritz value in the last CHECK_EVERY steps, of the size of `found` or of the scale.
static bool has_converged(const struct lanczos *lanczos, const struct task *task, int steps,
                          double growth, double found)
{
    const double size = fmax(fabs(found), task->scale);
    if (steps <= CHECK_EVERY)
        return false;
    return fabs(growth) <= GROWTH_MIN * size ||
           (lanczos->system->state->nodes > LANCZOS_MANY_NODES && steps >= STEPS_OF_MANY &&
            growth_left(steps, growth) <= LANCZOS_REMAINS * size);
}

// Builds the matrix T, and returns its largest eigenvalue; NAN if values are not finite.
static double find_largest(struct lanczos *lanczos, const struct task *task, struct tridiagonal *t,
                           const struct worker *worker)
{
    struct lanczos here = *lanczos; // every worker advances its own copy
    double found = 0, least = 0, alpha, length = 0;
    t->size = 0;
    begin(&here, worker);
    while (t->size < task->products && found <= task->enough &&
           advance(&here, task, t->size, found, &alpha, &length, worker)) {
        t->alpha[t->size] = alpha;
        t->beta[t->size] = length;
        t->size++;
        if (t->size == 1 || t->size % CHECK_EVERY == 0) {
            const double before = found, least_before = least;
            found = largest_of(t);
            const bool both = found < task->least_matters;
            least = both ? least_of(t) : 0;
            if (has_converged(lanczos, task, t->size, found - before, found) &&
                (!both || has_converged(lanczos, task, t->size, least_before - least, found)))
                break;
        }
        subtract(&here, alpha, t->size == 1 ? 0 : length, worker);
    }
    if (worker->index == 0)
        lanczos->products += t->size;
    if (!isfinite(length))
        return NAN;
    return t->size > 0 ? largest_of(t) : 0;
}

static double largest(struct lanczos *lanczos, double stiffness, double damping, double enough,
                      int products, const struct worker *worker)
{
    const struct task task = {stiffness, damping, 0, enough, products, 0};
    struct tridiagonal t;
    return find_largest(lanczos, &task, &t, worker);
}

// The eigenvector of T, by inverse iteration from slightly above the eigenvalue, where x I - T is
// positive definite.
static void find_vector_of(const struct tridiagonal *t, double value, double scale,
                           double vector[ITERATIONS_MAX])
{
    assert(t->size > 0); // at least one iteration
    double pivots[ITERATIONS_MAX], x = value + 1e-11 * fmax(fabs(value), scale);
    pivots[0] = x - t->alpha[0];
    for (int j = 1; j < t->size; j++) {
        if (!(pivots[j - 1] > 0))
            pivots[j - 1] = 1e-12 * scale;
        pivots[j] = x - t->alpha[j] - t->beta[j] * t->beta[j] / pivots[j - 1];
    }
    if (!(pivots[t->size - 1] > 0))
        pivots[t->size - 1] = 1e-12 * scale;
    for (int j = 0; j < t->size; j++)
        vector[j] = 1;
    for (int round = 0; round < 3; round++) {
        double square = 0;
        for (int j = 1; j < t->size; j++)
            vector[j] += t->beta[j] / pivots[j - 1] * vector[j - 1];
        for (int j = t->size - 1; j >= 0; j--) {
            double next = j + 1 < t->size ? t->beta[j + 1] * vector[j + 1] : 0;
            vector[j] = (vector[j] + next) / pivots[j];
        }
        for (int j = 0; j < t->size; j++)
            square += vector[j] * vector[j];
        for (int j = 0; j < t->size; j++)
            vector[j] /= sqrt(square);
    }
}

// vector += weight u_j
static void add_to_vector(struct lanczos *here, double weight, bool first,
                          const struct worker *worker)
{
    const real by = (real)weight;
    struct node_vectors u = here->now, sum = here->vector;
    struct range share = node_share(here->system, worker);
    for (size_t i = share.first; i < share.end; i++) {
        sum.x[i] = (first ? 0 : sum.x[i]) + by * u.x[i];
        sum.y[i] = (first ? 0 : sum.y[i]) + by * u.y[i];
        sum.z[i] = (first ? 0 : sum.z[i]) + by * u.z[i];
    }
}

// u . K u, and K u . M^-1 K u
static void sum_quotient(const struct system *system, const void *argument, struct range range,
                         double sums[SUM_WIDTH])
{
    const struct node_vectors *w = &((const struct lanczos *)argument)->image;
    sum_product(system, argument, range, sums);
    for (size_t i = range.first; i < range.end; i++) {
        double x = (double)w->x[i], y = (double)w->y[i], z = (double)w->z[i];
        sums[1] += (double)system->constants->inverse_mass[i] * (x * x + y * y + z * z);
    }
}

// The quotient of the eigenvector with K or C, and its distance from an eigenvector of that matrix.
static double quotient(struct lanczos *lanczos, double stiffness, double damping, double *error,
                       const struct worker *worker)
{
    struct lanczos here = *lanczos;
    struct system *system = here.system;
    size_t nodes = (size_t)system->state->nodes;
    double sums[SUM_WIDTH];
    here.now = here.before = here.vector;
    REAL_NAME(sum_over_chunks)(system, nodes, sum_length, &here, sums, worker);
    double square = sums[0];
    REAL_NAME(tangent_apply)
    (here.tangent, (real)stiffness, (real)damping, here.now, here.image, worker);
    REAL_NAME(sum_over_chunks)(system, nodes, sum_quotient, &here, sums, worker);
    worker_barrier(worker); // all have read the image
    double value = sums[0] / square;
    *error = sqrt(fmax(0, sums[1] / square - value * value));
    return value;
}

struct lanczos_mode REAL_NAME(lanczos_mode)(struct lanczos *lanczos, double stiffness,
                                            double damping, double scale,
                                            const struct worker *worker)
{
    const struct task task = {stiffness, damping, scale, INFINITY, ITERATIONS_MAX, 0};
    struct tridiagonal t;
    double value = find_largest(lanczos, &task, &t, worker), vector[ITERATIONS_MAX];
    if (t.size == 0 || !isfinite(value))
        return (struct lanczos_mode){.value = value};
    find_vector_of(&t, value, scale, vector);
    struct lanczos here = *lanczos;
    double alpha, length;
    begin(&here, worker);
    for (int j = 0; j < t.size && advance(&here, &task, j, value, &alpha, &length, worker); j++) {
        add_to_vector(&here, vector[j], j == 0, worker);
        subtract(&here, alpha, j == 0 ? 0 : length, worker);
    }
    worker_barrier(worker);
    if (worker->index == 0)
        lanczos->products += t.size + 2;
    struct lanczos_mode mode = {.value = value};
    mode.square = quotient(lanczos, 1, 0, &mode.square_error, worker);
    mode.damping = quotient(lanczos, 0, 1, &mode.damping_error, worker);
    return mode;
}

double REAL_NAME(lanczos_largest)(struct lanczos *lanczos, double stiffness, double damping,
                                  const struct worker *worker)
{
    return largest(lanczos, stiffness, damping, INFINITY, ITERATIONS_MAX, worker);
}

double REAL_NAME(lanczos_ends)(struct lanczos *lanczos, double matters, double *least,
                               const struct worker *worker)
{
    const struct task task = {1, 0, 0, INFINITY, ITERATIONS_MAX, matters};
    struct tridiagonal t;
    const double value = find_largest(lanczos, &task, &t, worker);
    *least = isfinite(value) && t.size > 0 ? least_of(&t) : value;
    return value;
}

bool REAL_NAME(lanczos_exceeds)(struct lanczos *lanczos, double stiffness, double damping,
                                double limit, int products, const struct worker *worker)
{
    int most = products < ITERATIONS_FEW ? products : ITERATIONS_FEW;
    return largest(lanczos, stiffness, damping, limit, most, worker) > limit;
}

// The velocities of the nodes of a body that are integrated, less their mean; those of others are
// 0.
static void put_velocities(struct lanczos *lanczos, const struct topology_body *body)
{
    const struct system *system = lanczos->system;
    const size_t first = (size_t)body->first_node, end = first + (size_t)body->node_count;
    const real *inverse = system->constants->inverse_mass;
    vec3 momentum = {0, 0, 0};
    double mass = 0;
    for (size_t i = first; i < end; i++) {
        if (inverse[i] == 0)
            continue;
        momentum =
            vec3_add(momentum, vec3_scale(1 / (double)inverse[i], node_velocity(system->state, i)));
        mass += 1 / (double)inverse[i];
    }
    const vec3 mean = mass > 0 ? vec3_scale(1 / mass, momentum) : momentum;
    for (size_t i = first; i < end; i++) {
        vec3 velocity = {0, 0, 0};
        if (inverse[i] != 0)
            velocity = vec3_subtract(node_velocity(system->state, i), mean);
        lanczos->vector.x[i] = (real)velocity.x;
        lanczos->vector.y[i] = (real)velocity.y;
        lanczos->vector.z[i] = (real)velocity.z;
    }
}

double REAL_NAME(lanczos_of_velocities)(struct lanczos *lanczos, double stiffness, double damping,
                                        const struct worker *worker)
{
    const struct topology *topology = lanczos->system->topology;
    double error;
    for (size_t b = 0; b < topology->body_count && worker->index == 0; b++)
        put_velocities(lanczos, &topology->bodies[b]);
    worker_barrier(worker);
    const double value = quotient(lanczos, stiffness, damping, &error, worker);
    return isfinite(value) ? value : 0;
}
