// Finds the multipliers of a step at a state of rest: the factors by which it multiplies small
// perturbations.
//
// About a state of rest a step is linear. Its Jacobian is found column by column, by central
// differences of actual steps of the integrator, and the largest modulus of its eigenvalues is the
// growth. A run would have to last until the growth shows, which for explicit Euler and midpoint
// with light damping takes millions of steps.
//
// It does not apply to states at which springs become taut or slack, or contacts or friction begin:
// there a step is not linear, which the one-sided differences show. Nor does it apply to large
// scenes, whose matrices are too large.
#include <assert.h>
#include <stdlib.h>

#include "base/memory.h"
#include "stability/hessenberg.h"
#include "study/setup.h"

// The displacement of the nodes, relative to the perturbation of runs. The rounding error of
// positions is at most 1e-9 of it, and the third-order error is far smaller, because nothing is
// extended by more than a millionth of its size.
static const double SIZE = 10;

// The largest relative disagreement of the one-sided differences, summed over all of them.
static const double LINEAR = 1e-3;

// Multipliers this near to 1 belong to motions without a restoring force: those of a free body
// coincide in pairs, which rounding separates by its square root. Real multipliers above 1 are not
// oscillations either: they are physical growth.
static const double AT_REST = 1e-4;

enum { FREE_NODES_MAX = 40 };

struct columns {
    taut_solver *run;
    const struct solver_checkpoint *base;
    size_t nodes, *free_coordinates, count; // indices of coordinates, 3 per node
    double omega;
    double *positions, *velocities;               // scratch
    double *base_positions, *base_velocities;     // of the state of rest
    double *rest_positions, *rest_velocities;     // after a step from it
    double *after_positions, *after_velocities;   // after a step from the positive displacement
    double *before_positions, *before_velocities; // after a step from the negative one
    double *matrix;
};

enum { ARRAYS = 10 };

static taut_status step_from(struct columns *it, size_t coordinate, double dx, double dv,
                             double *positions, double *velocities, taut_error *error)
{
    const size_t size = 3 * it->nodes;
    for (size_t i = 0; i < size; i++) {
        it->positions[i] = it->base_positions[i];
        it->velocities[i] = it->base_velocities[i];
    }
    it->positions[coordinate] += dx;
    it->velocities[coordinate] += dv;
    taut_status status = solver_restore(it->run, it->base, it->positions, it->velocities, error);
    if (status == TAUT_OK)
        status = solver_advance(it->run, 1, error);
    if (status == TAUT_OK)
        solver_read_nodes(it->run, 0, it->nodes, positions, velocities, NULL);
    return status;
}

// Fills the matrix, in terms of (omega x, v), and checks that the one-sided differences agree.
static taut_status fill(struct columns *it, double size, bool *linear, taut_error *error)
{
    const size_t count = it->count, rows = 2 * count;
    double odd = 0, even = 0;
    assert(count > 0); // multipliers_growth has checked that a node is free
    taut_status status = step_from(it, 0, 0, 0, it->rest_positions, it->rest_velocities, error);
    for (size_t column = 0; column < rows && status == TAUT_OK; column++) {
        const bool of_speed = column >= count;
        const size_t coordinate = it->free_coordinates[column % count];
        const double dx = of_speed ? 0 : size, dv = of_speed ? size * it->omega : 0;
        status =
            step_from(it, coordinate, dx, dv, it->after_positions, it->after_velocities, error);
        if (status == TAUT_OK)
            status = step_from(it, coordinate, -dx, -dv, it->before_positions,
                               it->before_velocities, error);
        for (size_t row = 0; row < rows && status == TAUT_OK; row++) {
            const size_t at = it->free_coordinates[row % count];
            const bool is_speed = row >= count;
            const double *after = is_speed ? it->after_velocities : it->after_positions;
            const double *before = is_speed ? it->before_velocities : it->before_positions;
            const double *rest = is_speed ? it->rest_velocities : it->rest_positions;
            const double scale = 1 / (2 * size * (is_speed ? it->omega : 1));
            const double difference = scale * (after[at] - before[at]);
            it->matrix[row * rows + column] = difference;
            odd += fabs(difference);
            even += scale * fabs((after[at] - rest[at]) + (before[at] - rest[at]));
        }
    }
    *linear = isfinite(odd) && even <= LINEAR * odd;
    return status;
}

// The logarithm of the largest modulus; NAN if the iteration fails.
static double largest_growth(double *matrix, size_t rows, double *re, double *im)
{
    hessenberg_reduce(matrix, rows, re, im);
    if (!hessenberg_eigenvalues(matrix, (int)rows, (int)rows, re, im))
        return NAN;
    double most = 0;
    for (size_t i = 0; i < rows; i++)
        if (hypot(re[i] - 1, im[i]) > AT_REST && !(re[i] > 1 && fabs(im[i]) <= AT_REST))
            most = fmax(most, hypot(re[i], im[i]));
    return log(fmax(most, 1e-300));
}

taut_status multipliers_growth(const struct setup *setup, taut_solver *run,
                               const struct solver_checkpoint *base, const double *masses,
                               double *growth, uint64_t *steps, taut_error *error)
{
    struct columns it = {.run = run,
                         .base = base,
                         .nodes = (size_t)taut_solver_node_count(run),
                         .omega = setup->study->omega};
    *growth = NAN;
    const size_t size = 3 * it.nodes;
    for (size_t i = 0; i < it.nodes; i++)
        it.count += masses[i] != 0 ? 3 : 0;
    if (it.count == 0 || it.count > (size_t)3 * FREE_NODES_MAX)
        return TAUT_OK;

    double **const arrays[ARRAYS] = {
        &it.positions,        &it.velocities,       &it.base_positions,  &it.base_velocities,
        &it.rest_positions,   &it.rest_velocities,  &it.after_positions, &it.after_velocities,
        &it.before_positions, &it.before_velocities};
    const size_t rows = 2 * it.count;
    double *numbers = memory_allocate(NULL, ARRAYS * size + rows * rows + 2 * rows, sizeof(double));
    it.free_coordinates = memory_allocate(NULL, it.count, sizeof *it.free_coordinates);
    taut_status status = TAUT_OK;
    if (!numbers || !it.free_coordinates)
        status = fail_memory(error, "the matrix of a step");

    if (status == TAUT_OK) {
        for (size_t i = 0; i < ARRAYS; i++)
            *arrays[i] = numbers + i * size;
        it.matrix = numbers + ARRAYS * size;
        for (size_t i = 0, count = 0; i < size; i++)
            if (masses[i / 3] != 0)
                it.free_coordinates[count++] = i;
        status = solver_restore(run, base, NULL, NULL, error);
    }
    if (status == TAUT_OK) {
        bool linear = false;
        solver_read_nodes(run, 0, it.nodes, it.base_positions, it.base_velocities, NULL);
        status = fill(&it, SIZE * setup->perturbation, &linear, error);
        *steps += 2 * rows + 1;
        if (status == TAUT_OK && linear)
            *growth = largest_growth(it.matrix, rows, it.matrix + rows * rows,
                                     it.matrix + rows * rows + rows);
    }
    // At a step this long a value is not finite, or has diverged: runs decide.
    if (status == TAUT_ERROR_DIVERGED || status == TAUT_ERROR_COLLAPSED)
        status = TAUT_OK;

    memory_release(NULL, numbers, ARRAYS * size + rows * rows + 2 * rows, sizeof(double));
    memory_release(NULL, it.free_coordinates, it.count, sizeof *it.free_coordinates);
    return status;
}
