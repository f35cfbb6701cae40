// The derivatives of elements: products with the tangent, its diagonal blocks, and upper bounds on
// it (elements.h). Products of cloths and lattices are in products.c, those of folds in folds.c.
#include "elements/elements.h"

#include <stdlib.h>

#include "springs/exchange.h"
#include "springs/part_sums.h"
#include "state/reading.h"

// The derivative of the force of a cell by its measure: k, or 0 beyond the range of a negative k.
static double cell_stiffness(const struct element *element, const struct cell *cell,
                             enum tangent_kind kind, double *force)
{
    bool linear;
    *force = cell_force(element, cell->measure, &linear);
    const double stiffness = linear ? 0 : element->stiffness;
    return kind == TANGENT_EXACT || stiffness > 0 ? stiffness : 0;
}

// ---- Products: of ropes and triangles

struct product {
    enum tangent_kind kind;
    double stiffness, damping;
    struct node_vectors in, out;
};

static void add_vector(struct node_vectors vectors, uint32_t node, vec3 more)
{
    vectors.x[node] += (real)more.x;
    vectors.y[node] += (real)more.y;
    vectors.z[node] += (real)more.z;
}

static void multiply_linear(const struct product *it, const struct element *element)
{
    const signed char *weights = REAL_NAME(element_weights)(element->kind);
    const double k = element->stiffness * (it->stiffness + it->damping * element->time);
    vec3 sum = {0, 0, 0};
    for (int i = 0; i < element->count; i++)
        sum = vec3_add(sum, vec3_scale(weights[i], node_vector(it->in, element->nodes[i])));
    for (int i = 0; i < element->count; i++)
        add_vector(it->out, element->nodes[i], vec3_scale(weights[i] * k, sum));
}

// ---- Triangles: K = 4 sum H_ij (B_i' e_i) (B_j' e_j)' + 2 sum s_i B_i' B_i, with H the
// derivatives of the tensions s by the excesses, and B_i the difference of the ends of edge i.

// The tensions of the tangent: all of them (exact), or those that make it positive semidefinite.
static void tensions_in(enum tangent_kind kind, const struct triangle *triangle, double tensions[3])
{
    triangle_tensions(triangle, triangle->excess, tensions);
    const double sum = tensions[0] + tensions[1] + tensions[2];
    const double products =
        tensions[0] * tensions[1] + tensions[1] * tensions[2] + tensions[2] * tensions[0];
    if (kind == TANGENT_EXACT || (sum >= 0 && products >= 0))
        return;
    for (int i = 0; i < 3; i++)
        tensions[i] = fmax(tensions[i], 0);
}

static void multiply_triangle(const struct system *system, const struct product *it,
                              const struct element *element)
{
    const struct triangle triangle = REAL_NAME(element_triangle)(system, element, false);
    const double factor = it->stiffness + it->damping * triangle.time;
    vec3 p[3], differences[3];
    double tensions[3], changes[3], along[3];
    for (int i = 0; i < 3; i++)
        p[i] = node_vector(it->in, element->nodes[i]);
    for (int i = 0; i < 3; i++) {
        differences[i] = vec3_subtract(p[(i + 2) % 3], p[(i + 1) % 3]);
        along[i] = 2 * factor * vec3_dot(triangle.edges[i], differences[i]);
    }
    triangle_tensions(&triangle, along, changes);
    tensions_in(it->kind, &triangle, tensions);
    for (int i = 0; i < 3; i++)
        tensions[i] *= it->stiffness;
    for (int i = 0; i < 3; i++) {
        const vec3 sum = vec3_add(triangle_corner(i, changes, triangle.edges),
                                  triangle_corner(i, tensions, differences));
        add_vector(it->out, element->nodes[i], vec3_scale(2, sum));
    }
}

static void multiply(const struct system *system, void *context, const struct element *element)
{
    const struct product *it = context;
    if (element->kind == ELEMENT_TRIANGLE)
        multiply_triangle(system, it, element);
    else
        multiply_linear(it, element);
}

// Whether none of these nodes are rows.
static bool is_apart(struct range nodes, struct range rows)
{
    return nodes.end <= rows.first || nodes.first >= rows.end;
}

void REAL_NAME(elements_tangent_add)(const struct system *system, struct range rows,
                                     enum tangent_kind kind, real stiffness, real damping,
                                     struct node_vectors in, struct node_vectors out,
                                     const struct worker *worker)
{
    if (!system->elements)
        return;
    struct product product = {kind, (double)stiffness, (double)damping, in, out};
    REAL_NAME(elements_scatter)(system, rows, true, multiply, &product, worker);
    REAL_NAME(element_products_add)
    (system, rows, kind, product.stiffness, product.damping, in, out, worker);

    const struct element_bending *bending = &system->elements->bending;
    struct range range;
    if (bending->nodes == 0)
        return;
    if (bending->folds.count > 0) {
        REAL_NAME(folds_measure)(system, &in, worker);
        REAL_NAME(folds_multiply)
        (system, rows, kind, product.stiffness, product.damping, in, worker);
    }
    while (worker_claim(worker, bending_chunks(bending), 1, &range)) {
        const struct range nodes = bending_chunk(bending, range.first);
        if (is_apart(nodes, rows))
            continue;
        for (size_t node = nodes.first; node < nodes.end; node++) {
            const double factor =
                product.stiffness + product.damping * (double)bending->times[node];
            vec3 sum = vec3_scale(factor, REAL_NAME(bending_row)(bending, node, in));
            if (bending->folds.count > 0)
                sum = vec3_add(sum, REAL_NAME(folds_force)(&bending->folds, node));
            add_vector(out, (uint32_t)node, sum);
        }
    }
    worker_barrier(worker);
}

// ---- Diagonal blocks

struct diagonal {
    enum tangent_kind kind;
    double stiffness, damping;
    real (*blocks)[6];
};

// block += factor times the block of a corner, without the tensions.
static void add_corner(double block[6], const struct triangle *triangle, int corner, double factor)
{
    const int i = (corner + 1) % 3, j = (corner + 2) % 3;
    const double *w = triangle->weights;
    block_add_square(block, triangle->edges[i], 4 * factor * (w[i] * w[i] + triangle->shear));
    block_add_square(block, triangle->edges[j], 4 * factor * (w[j] * w[j] + triangle->shear));
    block_add_symmetric(block, triangle->edges[i], triangle->edges[j],
                        -4 * factor * (w[i] * w[j] - triangle->shear));
}

static void add_triangle_blocks(const struct system *system, const struct diagonal *it,
                                const struct element *element)
{
    const struct triangle triangle = REAL_NAME(element_triangle)(system, element, false);
    double tensions[3];
    tensions_in(it->kind, &triangle, tensions);
    for (int corner = 0; corner < 3; corner++) {
        double block[6] = {0};
        add_corner(block, &triangle, corner, it->stiffness + it->damping * triangle.time);
        const double around = tensions[(corner + 1) % 3] + tensions[(corner + 2) % 3];
        block_add_around(block, 2 * it->stiffness * fmax(around, 0));
        for (int e = 0; e < 6; e++)
            it->blocks[element->nodes[corner]][e] += (real)block[e];
    }
}

static void add_blocks(const struct system *system, void *context, const struct element *element)
{
    const struct diagonal *it = context;
    if (element->kind == ELEMENT_TRIANGLE) {
        add_triangle_blocks(system, it, element);
        return;
    }
    struct cell cell = {0};
    double factor;
    if (element_is_linear(element)) {
        factor = element->stiffness * (it->stiffness + it->damping * element->time);
    } else {
        double force;
        cell = REAL_NAME(element_cell)(system->state, element);
        factor = it->stiffness * cell_stiffness(element, &cell, it->kind, &force) +
                 it->damping * element->time * fabs(element->stiffness);
    }
    for (int i = 0; i < element->count; i++) {
        double block[6] = {0};
        if (element_is_linear(element)) {
            const double weight = REAL_NAME(element_weights)(element->kind)[i];
            block_add_around(block, factor * weight * weight);
        } else {
            block_add_square(block, cell.gradient[i], factor);
        }
        for (int e = 0; e < 6; e++)
            it->blocks[element->nodes[i]][e] += (real)block[e];
    }
}

void REAL_NAME(elements_tangent_blocks)(const struct system *system, enum tangent_kind kind,
                                        real stiffness, real damping, real (*blocks)[6],
                                        const struct worker *worker)
{
    if (!system->elements)
        return;
    struct diagonal diagonal = {kind, (double)stiffness, (double)damping, blocks};
    const struct range all = {0, (size_t)system->state->nodes};
    REAL_NAME(elements_scatter)(system, all, false, add_blocks, &diagonal, worker);

    const struct element_bending *bending = &system->elements->bending;
    struct range range;
    if (bending->nodes == 0)
        return;
    if (bending->folds.count > 0)
        REAL_NAME(folds_measure)(system, NULL, worker);
    while (worker_claim(worker, bending_chunks(bending), 1, &range)) {
        const struct range nodes = bending_chunk(bending, range.first);
        for (size_t node = nodes.first; node < nodes.end; node++) {
            const double factor =
                diagonal.stiffness + diagonal.damping * (double)bending->times[node];
            const double q = REAL_NAME(bending_row_sums)(bending, node).diagonal;
            for (int axis = 0; axis < 3; axis++)
                blocks[node][axis] += (real)(factor * q);
            if (bending->folds.count == 0)
                continue;
            double block[6] = {0};
            REAL_NAME(folds_block)(&bending->folds, node, block);
            for (int e = 0; e < 6; e++)
                blocks[node][e] += (real)(factor * (double)bending->stiffness[node] * block[e]);
        }
    }
    worker_barrier(worker);
}

// ---- The trace

static void trace_grid(const struct system *system, const void *argument, struct range range,
                       double sums[SUM_WIDTH])
{
    const struct elements_body *body = argument;
    struct element elements[ELEMENT_KINDS];
    for (size_t node = range.first; node < range.end; node++) {
        const int number = REAL_NAME(elements_at)(body, (int64_t)node, elements);
        for (int e = 0; e < number; e++) {
            const struct element *it = &elements[e];
            double squares = 0;
            if (element_is_linear(it)) {
                const signed char *weights = REAL_NAME(element_weights)(it->kind);
                for (int i = 0; i < it->count; i++)
                    squares += 3 * weights[i] * weights[i];
            } else if (it->stiffness > 0) {
                const struct cell cell = REAL_NAME(element_cell)(system->state, it);
                for (int i = 0; i < it->count; i++)
                    squares += vec3_dot(cell.gradient[i], cell.gradient[i]);
            }
            sums[0] += it->stiffness * squares;
        }
    }
}

static void trace_triangles(const struct system *system, const void *unused, struct range range,
                            double sums[SUM_WIDTH])
{
    (void)unused;
    for (size_t i = range.first; i < range.end; i++) {
        const struct element element = REAL_NAME(triangle_element)(&system->elements->triangles, i);
        const struct triangle triangle = REAL_NAME(element_triangle)(system, &element, false);
        double block[6] = {0};
        for (int corner = 0; corner < 3; corner++)
            add_corner(block, &triangle, corner, 1);
        sums[0] += block[0] + block[1] + block[2];
    }
}

static void trace_bending(const struct system *system, const void *unused, struct range range,
                          double sums[SUM_WIDTH])
{
    (void)unused;
    const struct element_bending *bending = &system->elements->bending;
    for (size_t node = range.first; node < range.end; node++) {
        sums[0] += 3 * REAL_NAME(bending_row_sums)(bending, node).diagonal;
        if (bending->folds.count > 0)
            sums[0] += (double)bending->stiffness[node] * bending->folds.diagonals[node];
    }
}

static double trace_of(struct system *system, size_t count, element_node node, chunk_sum sum,
                       const void *argument, const struct worker *worker)
{
    double total[SUM_WIDTH];
    if (count == 0)
        return 0;
    if (REAL_NAME(exchange_has_part)(system))
        return REAL_NAME(sum_chunks_of_parts)(system, count, node, sum, argument, worker);
    REAL_NAME(sum_over_chunks)(system, count, sum, argument, total, worker);
    return total[0];
}

static size_t node_of_body(const struct system *system, const void *argument, size_t node)
{
    (void)system;
    return (size_t)((const struct elements_body *)argument)->first + node;
}

double REAL_NAME(elements_trace)(struct system *system, const struct worker *worker)
{
    const struct element_set *elements = system->elements;
    double sum = 0;
    if (!elements)
        return 0;
    if (REAL_NAME(exchange_has_part)(system))
        REAL_NAME(exchange_ends)(system, false, worker);
    for (size_t b = 0; b < elements->body_count; b++) {
        const struct elements_body *body = &elements->bodies[b];
        const size_t count = (size_t)(body->grid[0] * body->grid[1] * body->grid[2]);
        sum += trace_of(system, count, node_of_body, trace_grid, body, worker);
    }
    sum += trace_of(system, elements->triangles.count, REAL_NAME(element_node_of_triangle),
                    trace_triangles, NULL, worker);
    sum += trace_of(system, elements->bending.nodes, REAL_NAME(element_node_itself), trace_bending,
                    NULL, worker);
    return sum;
}

// ---- Upper bounds

struct bounds {
    struct range nodes;
    element_bound_callback visit;
    void *context;
};

static void bound_linear(const struct bounds *it, const struct element *element)
{
    const signed char *weights = REAL_NAME(element_weights)(element->kind);
    double total = 0;
    for (int i = 0; i < element->count; i++)
        total += abs(weights[i]);
    for (int i = 0; i < element->count; i++) {
        struct element_bound bound = {.node = element->nodes[i]};
        const double k = element->stiffness * total * abs(weights[i]);
        block_add_around(bound.stiffness, k);
        block_add_around(bound.damping, element->time * k);
        if (range_has(it->nodes, bound.node))
            it->visit(it->context, &bound);
    }
}

// How much the measure of a cell may change in the second order, per square of the change of any of
// its corners: within the plane or the volume, and by the rotation of an area, which only adds.
static void second_order(const struct element *element, const struct cell *cell, double *within,
                         double *rotation)
{
    const double share = 4.0 / element->count; // |d edge|^2 <= share * sum |d corner|^2
    double lengths[3] = {0, 0, 0};
    for (int axis = 0; axis < 3; axis++)
        lengths[axis] = vec3_length(cell->edges[axis]);
    if (element->kind == ELEMENT_VOLUME) {
        // 2 (|x||dy||dz| + ...) <= |x| (dy^2 + dz^2) + ...
        *within = 2 * share * (lengths[0] + lengths[1] + lengths[2]);
        *rotation = 0;
        return;
    }
    *within = 2 * share;
    const double reach = lengths[0] + lengths[1];
    *rotation = cell->measure > 0 ? share * reach * reach / cell->measure : 0;
}

static void bound_cell(const struct system *system, const struct bounds *it,
                       const struct element *element)
{
    const struct cell cell = REAL_NAME(element_cell)(system->state, element);
    double force, within, rotation, total = 0;
    const double k = cell_stiffness(element, &cell, TANGENT_EXACT, &force);
    const double c = element->time * fabs(element->stiffness);
    second_order(element, &cell, &within, &rotation);
    for (int i = 0; i < element->count; i++)
        total += vec3_length(cell.gradient[i]);
    for (int i = 0; i < element->count; i++) {
        struct element_bound bound = {.node = element->nodes[i]};
        if (!range_has(it->nodes, bound.node))
            continue;
        const double length = vec3_length(cell.gradient[i]);
        const double weight = length > 0 ? total / length : 0;
        block_add_square(k > 0 ? bound.stiffness : bound.negative, cell.gradient[i],
                         fabs(k) * weight);
        block_add_square(bound.damping, cell.gradient[i], c * weight);
        block_add_around(bound.stiffness, fabs(force) * within + fmax(force, 0) * rotation);
        block_add_around(bound.negative, fabs(force) * within + fmax(-force, 0) * rotation);
        it->visit(it->context, &bound);
    }
}

static void bound_triangle(const struct system *system, const struct bounds *it,
                           const struct element *element)
{
    const struct triangle triangle = REAL_NAME(element_triangle)(system, element, false);
    double tensions[3], lengths = 0;
    triangle_tensions(&triangle, triangle.excess, tensions);
    for (int i = 0; i < 3; i++)
        lengths += sqrt(triangle.square[i]);
    for (int corner = 0; corner < 3; corner++) {
        struct element_bound bound = {.node = element->nodes[corner]};
        if (!range_has(it->nodes, bound.node))
            continue;
        const double weight = lengths / sqrt(triangle.square[corner]);
        add_corner(bound.stiffness, &triangle, corner, weight);
        add_corner(bound.damping, &triangle, corner, weight * triangle.time);
        for (int next = 1; next < 3; next++) { // |p - q|^2 <= 2 |p|^2 + 2 |q|^2
            const double tension = tensions[(corner + next) % 3];
            block_add_around(tension > 0 ? bound.stiffness : bound.negative, 4 * fabs(tension));
        }
        it->visit(it->context, &bound);
    }
}

static void bound_triangles(const struct system *system, const struct bounds *it)
{
    const struct element_triangles *triangles = &system->elements->triangles;
    for (uint32_t b = 0; b < triangles->set.block_count; b++) {
        const struct plan_block block = triangles->set.blocks[b];
        if (triangles->spans[b].end <= it->nodes.first ||
            triangles->spans[b].first >= it->nodes.end)
            continue;
        for (uint64_t i = block.first; i < block.first + block.count; i++) {
            const uint32_t *nodes = triangles->nodes[i];
            if (!range_has(it->nodes, nodes[0]) && !range_has(it->nodes, nodes[1]) &&
                !range_has(it->nodes, nodes[2]))
                continue;
            const struct element element = REAL_NAME(triangle_element)(triangles, (size_t)i);
            bound_triangle(system, it, &element);
        }
    }
}

// |x'Qx| is at most the sum of x_i^2 times that of the row's |Q_ij| (Gershgorin).
static void bound_bending(const struct element_bending *bending, const struct bounds *it)
{
    const size_t end = it->nodes.end < bending->nodes ? it->nodes.end : bending->nodes;
    for (size_t node = it->nodes.first; node < end; node++) {
        struct element_bound bound = {.node = (uint32_t)node};
        const double sum = REAL_NAME(bending_row_sums)(bending, node).absolute;
        if (sum == 0)
            continue;
        block_add_around(bound.stiffness, sum);
        block_add_around(bound.damping, sum * (double)bending->times[node]);
        it->visit(it->context, &bound);
    }
}

static void bound_elements_at(const struct system *system, const struct bounds *it,
                              const struct elements_body *body, int64_t node)
{
    struct element elements[ELEMENT_KINDS];
    const int number = REAL_NAME(elements_at)(body, node, elements);
    for (int e = 0; e < number; e++) {
        if (element_is_linear(&elements[e]))
            bound_linear(it, &elements[e]);
        else
            bound_cell(system, it, &elements[e]);
    }
}

// The elements of a body with a node of the range, in the order of their first nodes: those whose
// rows of nodes begin as far before a node of the range as they reach.
static void bound_body(const struct system *system, const struct bounds *it,
                       const struct elements_body *body)
{
    enum { RUNS = 4 };
    const int64_t nx = body->grid[0], layer = nx * body->grid[1], count = layer * body->grid[2];
    const int64_t solid[RUNS][2] = {
        {layer + nx + 1, layer + nx}, {layer + 1, layer}, {nx + 1, nx}, {1, 0}};
    const int64_t sheet[RUNS][2] = {{2 * nx, 2 * nx}, {nx + 1, nx}, {2, 0}};
    const int64_t rope[RUNS][2] = {{2, 0}};
    const int64_t(*before)[2] = elements_are_solid(body) ? solid : body->grid[1] > 1 ? sheet : rope;
    const int64_t first = (int64_t)it->nodes.first - body->first,
                  end = (int64_t)it->nodes.end - body->first;
    int64_t node = 0; // none twice
    for (int run = 0; run < RUNS; run++) {
        const int64_t run_first = first - before[run][0], run_end = end - before[run][1];
        node = node > run_first ? node : run_first;
        for (; node < (run_end < count ? run_end : count); node++)
            bound_elements_at(system, it, body, node);
    }
}

void REAL_NAME(elements_visit_bounds)(const struct system *system, struct range nodes,
                                      element_bound_callback visit, void *context)
{
    const struct bounds bounds = {nodes, visit, context};
    for (size_t b = 0; system->elements && b < system->elements->body_count; b++)
        bound_body(system, &bounds, &system->elements->bodies[b]);
    if (system->elements) {
        bound_triangles(system, &bounds);
        bound_bending(&system->elements->bending, &bounds);
        REAL_NAME(folds_visit_bounds)(system, nodes, visit, context);
    }
}

struct element_ratios REAL_NAME(elements_ratios)(const struct system *system)
{
    struct element_ratios ratios = {INFINITY, 0, false};
    if (system->elements && system->elements->triangles.count > 0)
        ratios = (struct element_ratios){0, INFINITY, true};
    for (size_t b = 0; system->elements && b < system->elements->body_count; b++)
        for (int kind = 0; kind < ELEMENT_KINDS; kind++) {
            const struct element_constants *it = &system->elements->bodies[b].constants[kind];
            if (it->stiffness == 0)
                continue;
            const bool cell = kind == ELEMENT_AREA || kind == ELEMENT_VOLUME;
            ratios.lower = fmin(ratios.lower, cell ? 0 : it->time);
            ratios.upper = cell ? INFINITY : fmax(ratios.upper, it->time);
            ratios.pressed |= cell;
        }
    return ratios;
}
