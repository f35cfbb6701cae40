// Elements as a list: which nodes each has, its energy, and passes over all of them. Forces are in
// forces.c, derivatives in tangent.c.
#include "elements/elements.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/sort.h"
#include "springs/exchange.h"
#include "springs/part_sums.h"
#include "springs/springs.h"
#include "state/reading.h"

// ---- Cuts
//
// Elements end where springs do, since they would join parts that springs no longer join. A line of
// three nodes is whole if both of its springs are there, a cell if all of its edges are, and one
// diagonal at least of each of its faces.

// The springs of a grid from which some were cut: for each node those to the later nodes around it,
// as bits.
struct grid_springs {
    const int64_t *grid;
    uint16_t *bits; // NULL: none were cut
};

static int64_t number_of(const int64_t *grid, const int64_t at[3])
{
    return (at[2] * grid[1] + at[1]) * grid[0] + at[0];
}

// The bit of a spring to the node `steps` further on, which is a later one.
static unsigned bit_of(const int64_t steps[3])
{
    const int64_t position = steps[0] + 3 * steps[1] + 9 * steps[2];
    assert(position > 0 && position <= 16);
    return 1U << (position - 1);
}

static bool find_springs(const struct topology *topology, const struct topology_body *body,
                         struct grid_springs *springs)
{
    const int64_t *grid = springs->grid;
    if (!body->is_cut_grid)
        return true;
    springs->bits = memory_allocate(NULL, (size_t)body->node_count, sizeof *springs->bits);
    for (uint64_t i = 0; springs->bits && i < body->spring_count; i++) {
        const uint32_t *ends = topology->springs[body->first_listed + i];
        const int64_t a = (int64_t)(ends[0] < ends[1] ? ends[0] : ends[1]);
        const int64_t b = (int64_t)(ends[0] < ends[1] ? ends[1] : ends[0]);
        const int64_t low = a - (int64_t)body->first_node, high = b - (int64_t)body->first_node;
        const int64_t steps[3] = {high % grid[0] - low % grid[0],
                                  high / grid[0] % grid[1] - low / grid[0] % grid[1],
                                  high / (grid[0] * grid[1]) - low / (grid[0] * grid[1])};
        if (llabs(steps[0]) <= 1 && llabs(steps[1]) <= 1 && steps[2] <= 1) // others join no cell
            springs->bits[low] |= (uint16_t)bit_of(steps);
    }
    return springs->bits;
}

// Whether a spring joins a node and the one `steps` further on, which may be an earlier one.
static bool joins(const struct grid_springs *springs, const int64_t at[3], const int64_t steps[3])
{
    int64_t other[3], back[3];
    for (int axis = 0; axis < 3; axis++) {
        other[axis] = at[axis] + steps[axis];
        back[axis] = -steps[axis];
    }
    const int64_t node = number_of(springs->grid, at), partner = number_of(springs->grid, other);
    return partner > node ? springs->bits[node] & bit_of(steps)
                          : springs->bits[partner] & bit_of(back);
}

// The face of a cell that starts at a node, along two axes.
static bool face_is_whole(const struct grid_springs *springs, const int64_t at[3], int a, int b)
{
    int64_t along_a[3] = {0}, along_b[3] = {0}, up[3] = {0}, down[3] = {0};
    along_a[a] = along_b[b] = up[a] = up[b] = down[b] = 1;
    down[a] = -1;
    int64_t next_a[3] = {at[0], at[1], at[2]}, next_b[3] = {at[0], at[1], at[2]};
    next_a[a]++;
    next_b[b]++;
    return joins(springs, at, along_a) && joins(springs, next_b, along_a) &&
           joins(springs, at, along_b) && joins(springs, next_a, along_b) &&
           (joins(springs, at, up) || joins(springs, next_a, down));
}

static bool cell_is_whole(const struct grid_springs *springs, const int64_t at[3])
{
    const int axes = springs->grid[2] > 1 ? 3 : 2;
    for (int axis = 0; axis < axes; axis++)
        if (at[axis] + 1 >= springs->grid[axis])
            return false;
    if (axes == 2)
        return face_is_whole(springs, at, 0, 1);
    for (int across = 0; across < 3; across++)
        for (int64_t side = 0; side < 2; side++) {
            int64_t from[3] = {at[0], at[1], at[2]};
            from[across] += side;
            if (!face_is_whole(springs, from, (across + 1) % 3, (across + 2) % 3))
                return false;
        }
    return true;
}

static bool make_cells(const struct system *system, const struct grid_springs *springs,
                       struct elements_body *body)
{
    const int64_t *grid = body->grid;
    if (!springs->bits)
        return true;
    body->cells = memory_allocate(system->allocator, (size_t)(grid[0] * grid[1] * grid[2]),
                                  sizeof *body->cells);
    for (int64_t node = 0; body->cells && node < grid[0] * grid[1] * grid[2]; node++) {
        const int64_t at[3] = {node % grid[0], node / grid[0] % grid[1],
                               node / (grid[0] * grid[1])};
        body->cells[node] = cell_is_whole(springs, at);
    }
    return body->cells;
}

// ---- Weights of bending
//
// Most rows of nodes have the same weights, which are stored once.

enum { LINE_X, LINE_Y };
enum { WEIGHT_GUARD = 32 };

static bool is_pinned(const struct system *system, const struct elements_body *body, int64_t node)
{
    return topology_is_kinematic(system->topology, (uint64_t)(body->first + node));
}

// The weight of the line through node (i, j), along x or y, that has this node as its centre.
static real weight_of(const struct system *system, const struct elements_body *body,
                      const struct grid_springs *springs, int line, int64_t i, int64_t j)
{
    const int64_t nx = body->grid[0], ny = body->grid[1];
    const int64_t at = line == LINE_X ? i : j, length = line == LINE_X ? nx : ny;
    const int64_t beside = line == LINE_X ? j : i, width = line == LINE_X ? ny : nx;
    const int64_t step = line == LINE_X ? 1 : nx, node = j * nx + i;
    if (at == 0 || at == length - 1)
        return 0;
    const int64_t forth[3] = {line == LINE_X, line == LINE_Y, 0},
                  back[3] = {-forth[0], -forth[1], 0};
    if (springs->bits && !(joins(springs, (int64_t[3]){i, j, 0}, forth) &&
                           joins(springs, (int64_t[3]){i, j, 0}, back)))
        return 0;
    const real side = width > 1 && (beside == 0 || beside == width - 1) ? (real)0.5 : 1;
    const bool clamped = is_pinned(system, body, node) && is_pinned(system, body, node - step) !=
                                                              is_pinned(system, body, node + step);
    return clamped ? 2 * side : side;
}

// Appends a row of weights unless one of the last rows is the same; finds where it begins.
static bool add_row(const struct system *system, struct elements_body *body, size_t *capacity,
                    const real *row, size_t *start)
{
    enum { LAST_ROWS = 8 };
    const size_t length = (size_t)body->grid[0];
    const size_t rows = body->weight_count / length;
    for (size_t back = 1; back <= LAST_ROWS && back <= rows; back++) {
        const size_t at = (rows - back) * length;
        if (memcmp(body->weights + at, row, length * sizeof *row) == 0) {
            *start = at;
            return true;
        }
    }
    if (body->weight_count + length > *capacity) {
        const size_t grown = 2 * *capacity + 4 * length;
        real *weights = memory_allocate(system->allocator, grown, sizeof *weights);
        if (!weights)
            return false;
        if (body->weight_count > 0)
            memcpy(weights, body->weights, body->weight_count * sizeof *weights);
        memory_release(system->allocator, body->weights, *capacity, sizeof *weights);
        body->weights = weights;
        *capacity = grown;
    }
    memcpy(body->weights + body->weight_count, row, length * sizeof *row);
    *start = body->weight_count;
    body->weight_count += length;
    return true;
}

// The longest run of columns with weight 1.
static struct even_columns find_even(const real *row, int64_t count)
{
    struct even_columns best = {0, 0};
    for (int64_t from = 0, i = 0; i <= count; i++)
        if (i == count || row[i] != 1) {
            if (i - from > best.to - best.from)
                best = (struct even_columns){from, i};
            from = i + 1;
        }
    return best;
}

// Releases the memory that has not been used, except for the guard.
static bool trim(const struct system *system, struct elements_body *body, size_t capacity)
{
    real *weights =
        memory_allocate(system->allocator, body->weight_count + WEIGHT_GUARD, sizeof *weights);
    if (weights)
        memcpy(weights, body->weights, body->weight_count * sizeof *weights);
    memory_release(system->allocator, body->weights, capacity, sizeof *weights);
    body->weights = weights;
    return weights;
}

static bool make_weights(const struct system *system, const struct grid_springs *springs,
                         struct elements_body *body)
{
    const int64_t nx = body->grid[0], ny = body->grid[1];
    size_t capacity = 0;
    real *row = memory_allocate(system->allocator, (size_t)nx, sizeof *row);
    bool done = row;
    for (int line = LINE_X; line <= LINE_Y; line++) {
        body->rows[line] = memory_allocate(system->allocator, (size_t)ny, sizeof *body->rows[line]);
        body->even[line] = memory_allocate(system->allocator, (size_t)ny, sizeof *body->even[line]);
        done = done && body->rows[line] && body->even[line];
        for (int64_t j = 0; done && j < ny; j++) {
            for (int64_t i = 0; i < nx; i++)
                row[i] = weight_of(system, body, springs, line, i, j);
            body->even[line][j] = find_even(row, nx);
            done = add_row(system, body, &capacity, row, &body->rows[line][j]);
        }
    }
    memory_release(system->allocator, row, (size_t)nx, sizeof *row);
    if (body->weights && !trim(system, body, capacity))
        done = false;
    return done;
}

// ---- Slabs
//
// Elements belong to the slab of their first node: a layer of a lattice, a row of a cloth, a node
// of a rope. They reach two slabs further. Slabs are grouped for passes over all elements.

static size_t node_count(const struct elements_body *body)
{
    return (size_t)(body->grid[0] * body->grid[1] * body->grid[2]);
}

static int64_t slab_nodes(const struct elements_body *body)
{
    return body->grid[2] > 1   ? body->grid[0] * body->grid[1]
           : body->grid[1] > 1 ? body->grid[0]
                               : 1;
}

static size_t slab_count(const struct elements_body *body)
{
    return node_count(body) / (size_t)slab_nodes(body);
}

static size_t group_slabs(const struct elements_body *body)
{
    enum { GROUP_NODES = 1024, GROUP_LEAST = 4 };
    return GROUP_LEAST + GROUP_NODES / (size_t)slab_nodes(body);
}

// ---- Creation

// Blocks of nodes, a whole number along each axis, and groups of slabs.
static void set_blocks(struct element_set *elements, struct elements_body *body)
{
    const int64_t sheet[3] = {ELEMENT_SHEET_NODES, ELEMENT_SHEET_ROWS, 1};
    const int64_t solid[3] = {ELEMENT_SOLID_NODES, ELEMENT_SOLID_ROWS, ELEMENT_SOLID_LAYERS};
    const int64_t *size = elements_are_solid(body) ? solid : sheet;
    body->first_block = elements->block_count;
    size_t count = 1;
    for (int axis = 0; axis < 3; axis++) {
        body->blocks[axis] = (body->grid[axis] + size[axis] - 1) / size[axis];
        count *= (size_t)body->blocks[axis];
    }
    elements->block_count += count;
    body->first_part = elements->part_count;
    elements->part_count += element_parts_of(body);
    body->first_group = elements->group_count;
    elements->group_count += (slab_count(body) + group_slabs(body) - 1) / group_slabs(body);
}

// Leaves the elements of a cloth to the sweep over its springs, or sets their constants there
// again.
static bool set_swept(const struct system *system, const struct elements_body *body)
{
    const struct element_constants *area = &body->constants[ELEMENT_AREA];
    struct sweep_elements sweep = {
        .damped = body->damped,
        .areas = area->stiffness != 0,
        .area_stiffness = (real)area->stiffness,
        .area_damping = (real)(area->time * fabs(area->stiffness)),
        .area_rest = (real)area->rest,
        .area_limit = area->stiffness < 0 ? (real)(ELEMENT_LINEAR_FROM * area->rest) : REAL_HUGE,
        .weights = body->weights,
        .rows = {body->rows[LINE_X], body->rows[LINE_Y]}};
    for (int kind = 0; kind < ELEMENT_AREA; kind++) {
        const struct element_constants *constants = &body->constants[kind];
        sweep.stiffness[kind] = (real)constants->stiffness;
        sweep.damping[kind] = (real)(constants->time * constants->stiffness);
    }
    return springs_set_elements(system, body->body, &sweep);
}

static void set_constants(const struct system *system, struct elements_body *body)
{
    const struct body_elements *from = &system->topology->bodies[body->body].elements;
    const struct element_constants constants[ELEMENT_KINDS] = {[ELEMENT_BEND_X] = from->bend[0],
                                                               [ELEMENT_BEND_Y] = from->bend[1],
                                                               [ELEMENT_TWIST] = from->twist,
                                                               [ELEMENT_AREA] = from->area,
                                                               [ELEMENT_VOLUME] = from->volume};
    memcpy(body->constants, constants, sizeof constants);
    body->damped = false;
    for (int kind = 0; kind < ELEMENT_KINDS; kind++)
        body->damped |= constants[kind].time > 0;
}

static bool make_body(const struct system *system, size_t index, struct element_set *elements)
{
    const struct topology_body *from = &system->topology->bodies[index];
    struct elements_body *body = &elements->bodies[elements->body_count++];
    *body = (struct elements_body){
        .body = index,
        .first = (int64_t)from->first_node,
        .grid = {(int64_t)from->grid[0], (int64_t)from->grid[1], (int64_t)from->grid[2]}};
    set_constants(system, body);
    set_blocks(elements, body);
    body->swept = springs_sweep_elements(system, index);
    elements->all_swept &= body->swept;

    struct grid_springs springs = {.grid = body->grid};
    const bool made = find_springs(system->topology, from, &springs) &&
                      make_cells(system, &springs, body) &&
                      (elements_are_solid(body) || make_weights(system, &springs, body));
    memory_release(NULL, springs.bits, (size_t)from->node_count, sizeof *springs.bits);
    return made && (!body->swept || set_swept(system, body));
}

taut_status REAL_NAME(elements_make)(struct system *system, struct element_nodes held,
                                     taut_error *error)
{
    const struct topology *topology = system->topology;
    if (!topology_has_elements(topology))
        return TAUT_OK;
    struct element_set *elements = memory_allocate(system->allocator, 1, sizeof *elements);
    if (!elements)
        return fail_memory(error, "the elements");
    system->elements = elements;
    elements->held = held;
    elements->bodies =
        memory_allocate(system->allocator, topology->body_count, sizeof *elements->bodies);
    elements->all_swept = true;
    bool done = elements->bodies;
    for (size_t b = 0; done && b < topology->body_count; b++)
        if (topology->bodies[b].elements.present &&
            !elements_are_membrane(&topology->bodies[b].elements))
            done = make_body(system, b, elements);
    taut_status status =
        done ? REAL_NAME(triangles_make)(system, held, &elements->triangles, error) : TAUT_OK;
    if (done && status == TAUT_OK)
        status = REAL_NAME(bending_make)(system, held, &elements->bending, error);
    if (status != TAUT_OK)
        return status; // the caller frees the system
    elements->all_swept &= elements->triangles.count == 0;
    if (done) {
        elements->powers = memory_allocate(system->allocator, element_power_count(elements),
                                           sizeof *elements->powers);
        done = elements->powers;
    }
    return done ? TAUT_OK : fail_memory(error, "the elements");
}

taut_status REAL_NAME(elements_complete)(struct system *system, taut_error *error)
{
    struct element_set *elements = system->elements;
    const struct range nodes = {0, (size_t)system->topology->node_count};
    const struct element_nodes all = {nodes, nodes};
    struct element_bending bending = {.nodes = 0};
    struct element_triangles triangles = {.count = 0};
    if (!elements || elements_held_are_all(elements->held, system->topology))
        return TAUT_OK;
    taut_status status = REAL_NAME(bending_make)(system, all, &bending, error);
    if (status == TAUT_OK)
        status = REAL_NAME(triangles_make)(system, all, &triangles, error);
    if (status != TAUT_OK) {
        REAL_NAME(bending_free)(system, &bending);
        REAL_NAME(triangles_free)(system, &triangles);
        return status;
    }
    REAL_NAME(bending_free)(system, &elements->bending);
    REAL_NAME(triangles_free)(system, &elements->triangles);
    elements->bending = bending;
    elements->triangles = triangles;
    elements->held = all;
    return TAUT_OK;
}

void REAL_NAME(elements_join)(const struct system *system)
{
    if (system->elements)
        REAL_NAME(bending_join)(system->topology, &system->elements->bending);
}

void REAL_NAME(elements_refresh)(struct system *system)
{
    struct element_set *elements = system->elements;
    for (size_t b = 0; elements && b < elements->body_count; b++) {
        struct elements_body *body = &elements->bodies[b];
        set_constants(system, body);
        if (body->swept)
            (void)set_swept(system, body); // which fails only the first time
    }
    if (elements) {
        REAL_NAME(triangles_refresh)(system->topology, elements->held, &elements->triangles);
        REAL_NAME(bending_refresh)(system->topology, elements->held, &elements->bending);
    }
}

void REAL_NAME(elements_free)(struct system *system)
{
    struct element_set *elements = system->elements;
    if (!elements)
        return;
    for (size_t b = 0; elements->bodies && b < elements->body_count; b++) {
        struct elements_body *body = &elements->bodies[b];
        memory_release(system->allocator, body->weights, body->weight_count + WEIGHT_GUARD,
                       sizeof(real));
        memory_release(system->allocator, body->cells, node_count(body), sizeof *body->cells);
        for (int line = LINE_X; line <= LINE_Y; line++) {
            memory_release(system->allocator, body->rows[line], (size_t)body->grid[1],
                           sizeof *body->rows[line]);
            memory_release(system->allocator, body->even[line], (size_t)body->grid[1],
                           sizeof *body->even[line]);
        }
    }
    memory_release(system->allocator, elements->powers, element_power_count(elements),
                   sizeof *elements->powers);
    REAL_NAME(triangles_free)(system, &elements->triangles);
    REAL_NAME(bending_free)(system, &elements->bending);
    memory_release(system->allocator, elements->bodies, system->topology->body_count,
                   sizeof *elements->bodies);
    memory_release(system->allocator, elements, 1, sizeof *elements);
    system->elements = NULL;
}

uint64_t REAL_NAME(elements_bytes)(const struct system *system)
{
    const struct element_set *elements = system->elements;
    if (!elements)
        return 0;
    uint64_t bytes = sizeof *elements + system->topology->body_count * sizeof *elements->bodies +
                     element_power_count(elements) * sizeof *elements->powers +
                     REAL_NAME(triangles_bytes)(&elements->triangles) +
                     REAL_NAME(bending_bytes)(&elements->bending) +
                     REAL_NAME(folds_bytes)(system, &elements->bending.folds);
    for (size_t b = 0; b < elements->body_count; b++) {
        const struct elements_body *body = &elements->bodies[b];
        bytes += (body->weight_count + WEIGHT_GUARD) * sizeof(real) +
                 (body->cells ? node_count(body) * sizeof *body->cells : 0);
        if (body->weights)
            bytes += 2 * (uint64_t)body->grid[1] * (sizeof *body->rows[0] + sizeof *body->even[0]);
    }
    return bytes;
}

// ---- Single elements

const signed char *REAL_NAME(element_weights)(enum element_kind kind)
{
    static const signed char bend[ELEMENT_NODES_MAX] = {1, -2, 1};
    static const signed char twist[ELEMENT_NODES_MAX] = {1, -1, -1, 1};
    return kind == ELEMENT_TWIST ? twist : bend;
}

static struct element element_of(const struct elements_body *body, enum element_kind kind,
                                 int64_t node, const int64_t steps[3], int count)
{
    const struct element_constants *constants = &body->constants[kind];
    struct element element = {.kind = kind,
                              .count = count,
                              .stiffness = constants->stiffness,
                              .time = constants->time,
                              .rest = constants->rest};
    for (int corner = 0; corner < count; corner++)
        element.nodes[corner] = (uint32_t)(body->first + node + (corner & 1) * steps[0] +
                                           (corner >> 1 & 1) * steps[1] + (corner >> 2) * steps[2]);
    return element;
}

// Three nodes along a line; its weight may be 0.
static struct element line_element(const struct elements_body *body, int line, int64_t node,
                                   int64_t step, real weight)
{
    const struct element_constants *constants = &body->constants[line];
    struct element element = {.kind = line == LINE_X ? ELEMENT_BEND_X : ELEMENT_BEND_Y,
                              .count = 3,
                              .stiffness = (double)weight * constants->stiffness,
                              .time = constants->time};
    for (int i = 0; i < 3; i++)
        element.nodes[i] = (uint32_t)(body->first + node + i * step);
    return element;
}

int REAL_NAME(elements_at)(const struct elements_body *body, int64_t node,
                           struct element elements[ELEMENT_KINDS])
{
    const int64_t nx = body->grid[0], ny = body->grid[1], nz = body->grid[2];
    const int64_t i = node % nx, j = node / nx % ny, k = node / (nx * ny);
    const int64_t steps[3] = {1, nx, nx * ny};
    int count = 0;
    if (body->constants[ELEMENT_BEND_X].stiffness != 0 && i + 2 < nx)
        elements[count++] = line_element(body, LINE_X, node, 1,
                                         body->weights[body->rows[LINE_X][j] + (size_t)i + 1]);
    if (body->constants[ELEMENT_BEND_Y].stiffness != 0 && j + 2 < ny)
        elements[count++] = line_element(body, LINE_Y, node, nx,
                                         body->weights[body->rows[LINE_Y][j + 1] + (size_t)i]);
    if (i + 1 >= nx || j + 1 >= ny || !element_cell_is_whole(body, node))
        return count;
    if (body->constants[ELEMENT_TWIST].stiffness != 0)
        elements[count++] = element_of(body, ELEMENT_TWIST, node, steps, 4);
    if (body->constants[ELEMENT_AREA].stiffness != 0)
        elements[count++] = element_of(body, ELEMENT_AREA, node, steps, 4);
    if (body->constants[ELEMENT_VOLUME].stiffness != 0 && k + 1 < nz)
        elements[count++] = element_of(body, ELEMENT_VOLUME, node, steps, 8);
    return count;
}

static void find_edges(const struct state *state, const struct element *element, vec3 edges[3])
{
    vec3 x[ELEMENT_NODES_MAX];
    for (int corner = 0; corner < element->count; corner++)
        x[corner] = node_position(state, element->nodes[corner]);
    for (int axis = 0; axis < cell_axes(element); axis++)
        edges[axis] = cell_mean_edge(x, element->count, axis);
}

struct cell REAL_NAME(element_cell)(const struct state *state, const struct element *element)
{
    const bool solid = element->kind == ELEMENT_VOLUME;
    vec3 by_edge[3];
    struct cell cell = {0};
    find_edges(state, element, cell.edges);

    // The measure and its derivatives by the edges.
    vec3 normal = vec3_cross(cell.edges[0], cell.edges[1]);
    if (solid) {
        by_edge[0] = vec3_cross(cell.edges[1], cell.edges[2]);
        by_edge[1] = vec3_cross(cell.edges[2], cell.edges[0]);
        by_edge[2] = normal;
        cell.measure = vec3_dot(cell.edges[0], by_edge[0]);
    } else {
        cell.measure = vec3_length(normal);
        if (cell.measure > 0)
            normal = vec3_scale(1 / cell.measure, normal);
        by_edge[0] = vec3_cross(cell.edges[1], normal);
        by_edge[1] = vec3_cross(normal, cell.edges[0]);
    }

    for (int corner = 0; corner < element->count; corner++) {
        for (int axis = 0; axis < 2 + solid; axis++) {
            const double sign = (corner >> axis & 1 ? 2.0 : -2.0) / element->count;
            cell.gradient[corner] =
                vec3_add(cell.gradient[corner], vec3_scale(sign, by_edge[axis]));
        }
        cell.rate += vec3_dot(cell.gradient[corner], node_velocity(state, element->nodes[corner]));
    }
    return cell;
}

// ---- Sums
//
// Energies, or the powers of the damping, for which velocities and other derivatives are read.

struct wanted {
    const struct elements_body *body; // on a grid
    bool power;
};

// The mean edges of a cell, and its measure, without gradients.
static double measure_of(const struct state *s, const struct element *element)
{
    vec3 edges[3];
    find_edges(s, element, edges);
    const vec3 normal = vec3_cross(edges[0], edges[1]);
    return element->kind == ELEMENT_VOLUME ? vec3_dot(edges[2], normal) : vec3_length(normal);
}

static double cell_power(const struct state *s, const struct element *element)
{
    if (element->time == 0)
        return 0;
    const double rate = REAL_NAME(element_cell)(s, element).rate;
    return element->time * fabs(element->stiffness) * rate * rate;
}

static double cell_energy(const struct state *s, const struct element *element)
{
    const double measure = measure_of(s, element), excess = measure - element->rest;
    bool linear;
    const double force = cell_force(element, measure, &linear);
    const double limit = linear ? copysign(ELEMENT_LINEAR_FROM * element->rest, excess) : excess;
    return force * (limit / 2 + (excess - limit));
}

static double linear_sum(const struct state *s, const struct element *element, bool power)
{
    const signed char *weights = REAL_NAME(element_weights)(element->kind);
    vec3 c = {0, 0, 0};
    for (int i = 0; i < element->count; i++) {
        const uint32_t node = element->nodes[i];
        const vec3 of = power ? node_velocity(s, node) : node_position(s, node);
        c = vec3_add(c, vec3_scale(weights[i], of));
    }
    return (power ? element->time : 0.5) * element->stiffness * vec3_dot(c, c);
}

// The sum of w |c|^2 over lines or cells whose first nodes are consecutive. `d` has the offsets of
// the other nodes: c = x - 2 x1 + x2, or x - x1 - x2 + x3 if there is a third.
static double sum_squares(const real *const from[3], const int64_t d[3], const real *weights,
                          int64_t count)
{
    enum { AT_ONCE = 256 };
    double square[AT_ONCE], sum = 0;
    for (int64_t first = 0; first < count; first += AT_ONCE) {
        const int64_t left = count - first, part = left < AT_ONCE ? left : AT_ONCE;
        for (int64_t i = 0; i < part; i++)
            square[i] = 0;
        for (int axis = 0; axis < 3; axis++) {
            const real *x = from[axis] + first;
            for (int64_t i = 0; i < part; i++) {
                const double base = (double)x[i + d[0]];
                const double c =
                    d[2] == 0 ? ((double)x[i] - base) + ((double)x[i + d[1]] - base)
                              : ((double)x[i] - base) - ((double)x[i + d[1]] - (double)x[i + d[2]]);
                square[i] += c * c;
            }
        }
        for (int64_t i = 0; i < part; i++)
            sum += (weights ? (double)weights[first + i] : 1) * square[i];
    }
    return sum;
}

// Linear elements whose first nodes are (i, j) to (i + count - 1, j).
static double row_sum(const struct state *s, const struct wanted *wanted, int64_t i, int64_t j,
                      int64_t count)
{
    const struct elements_body *body = wanted->body;
    const int64_t nx = body->grid[0], ny = body->grid[1], node = body->first + j * nx + i;
    const int64_t steps[3][3] = {{1, 2, 0}, {nx, 2 * nx, 0}, {1, nx, nx + 1}};
    const real *const x[3] = {s->x + node, s->y + node, s->z + node};
    const real *const v[3] = {s->vx + node, s->vy + node, s->vz + node};
    double sum = 0;
    for (int kind = ELEMENT_BEND_X; kind <= ELEMENT_TWIST; kind++) {
        const struct element_constants *it = &body->constants[kind];
        const int64_t shorter = kind == ELEMENT_BEND_X ? 2 : kind == ELEMENT_TWIST ? 1 : 0;
        const int64_t lower = kind == ELEMENT_BEND_Y ? 2 : kind == ELEMENT_TWIST ? 1 : 0;
        const int64_t part = i + count < nx - shorter ? count : nx - shorter - i;
        if (it->stiffness == 0 || j >= ny - lower || part <= 0)
            continue;
        const real *weights = kind == ELEMENT_BEND_X ? body->weights + body->rows[LINE_X][j] + i + 1
                              : kind == ELEMENT_BEND_Y
                                  ? body->weights + body->rows[LINE_Y][j + 1] + i
                              : body->cells ? body->cells + j * nx + i
                                            : NULL;
        const double factor = wanted->power ? it->time : 0.5;
        if (factor > 0)
            sum += factor * it->stiffness *
                   sum_squares(wanted->power ? v : x, steps[kind], weights, part);
    }
    return sum;
}

// Elements by their first nodes; linear ones by rows, unless positions have low parts.
static void sum_nodes(const struct system *system, const void *argument, struct range range,
                      double sums[SUM_WIDTH])
{
    const struct wanted *wanted = argument;
    const struct elements_body *body = wanted->body;
    const struct state *s = system->state;
    const int64_t nx = body->grid[0];
    const bool by_rows = !state_is_mixed(s) && body->weights;
    const bool cells = body->constants[ELEMENT_AREA].stiffness != 0 ||
                       body->constants[ELEMENT_VOLUME].stiffness != 0;
    for (int64_t node = (int64_t)range.first; by_rows && node < (int64_t)range.end;) {
        const int64_t i = node % nx, left = (int64_t)range.end - node;
        const int64_t count = nx - i < left ? nx - i : left;
        sums[0] += row_sum(s, wanted, i, node / nx, count);
        node += count;
    }
    struct element elements[ELEMENT_KINDS];
    for (size_t node = range.first; (cells || !by_rows) && node < range.end; node++) {
        const int count = REAL_NAME(elements_at)(body, (int64_t)node, elements);
        for (int e = 0; e < count; e++)
            if (!element_is_linear(&elements[e]))
                sums[0] +=
                    wanted->power ? cell_power(s, &elements[e]) : cell_energy(s, &elements[e]);
            else if (!by_rows)
                sums[0] += linear_sum(s, &elements[e], wanted->power);
    }
}

static void sum_triangles(const struct system *system, const void *argument, struct range range,
                          double sums[SUM_WIDTH])
{
    const struct wanted *wanted = argument;
    for (size_t i = range.first; i < range.end; i++) {
        const struct element element = REAL_NAME(triangle_element)(&system->elements->triangles, i);
        const struct triangle triangle =
            REAL_NAME(element_triangle)(system, &element, wanted->power);
        const double *d = wanted->power ? triangle.rates : triangle.excess;
        const double factor = wanted->power ? triangle.time : 0.5;
        double tensions[3];
        triangle_tensions(&triangle, d, tensions);
        for (int edge = 0; edge < 3; edge++)
            sums[0] += factor * tensions[edge] * d[edge];
    }
}

// Computed from differences, so that the distance from the origin does not matter: x'Qx is the sum
// of -Q_ij |x_j - x_i|^2 / 2 over all i and j.
static void sum_bending(const struct system *system, const void *argument, struct range range,
                        double sums[SUM_WIDTH])
{
    const struct wanted *wanted = argument;
    const struct element_bending *bending = &system->elements->bending;
    const struct state *s = system->state;
    for (size_t node = range.first; node < range.end; node++) {
        const vec3 own = wanted->power ? node_velocity(s, node) : node_position(s, node);
        const double stiffness = (double)bending->stiffness[node];
        const double factor = stiffness * (wanted->power ? (double)bending->times[node] / 2 : 0.25);
        for (size_t i = bending->starts[node]; i < bending->starts[node + 1]; i++) {
            const uint32_t other = bending->columns[i];
            const vec3 apart = vec3_subtract(
                wanted->power ? node_velocity(s, other) : node_position(s, other), own);
            sums[0] -= factor * (double)bending->values[i] * vec3_dot(apart, apart);
        }
    }
}

static void sum_folds(const struct system *system, const void *argument, struct range range,
                      double sums[SUM_WIDTH])
{
    const struct wanted *wanted = argument;
    const struct element_bending *bending = &system->elements->bending;
    for (size_t f = range.first; f < range.end; f++) {
        const uint32_t node = bending->folds.items[f].nodes[0];
        const double factor = wanted->power ? (double)bending->times[node] : 0.5;
        sums[0] += factor * (double)bending->stiffness[node] *
                   REAL_NAME(fold_square)(&bending->folds, f, wanted->power);
    }
}

// Ranks that hold only their parts sum elements together: `node` is the first one of an element.
static double sum_of(struct system *system, size_t count, element_node node, chunk_sum sum,
                     const struct wanted *wanted, const struct worker *worker)
{
    double total[SUM_WIDTH];
    if (count == 0)
        return 0;
    if (REAL_NAME(exchange_has_part)(system))
        return REAL_NAME(sum_chunks_of_parts)(system, count, node, sum, wanted, worker);
    REAL_NAME(sum_over_chunks)(system, count, sum, wanted, total, worker);
    return total[0];
}

static size_t node_of_body(const struct system *system, const void *argument, size_t node)
{
    (void)system;
    return (size_t)((const struct wanted *)argument)->body->first + node;
}

size_t REAL_NAME(element_node_of_triangle)(const struct system *system, const void *unused,
                                           size_t triangle)
{
    (void)unused;
    return triangles_first_node(&system->elements->triangles, triangle);
}

size_t REAL_NAME(element_node_itself)(const struct system *system, const void *unused, size_t node)
{
    (void)system, (void)unused;
    return node;
}

static size_t node_of_fold(const struct system *system, const void *argument, size_t fold)
{
    (void)argument;
    return folds_first_node(&system->elements->bending.folds, fold);
}

static double sum_all(struct system *system, bool power, const struct worker *worker)
{
    const struct element_set *elements = system->elements;
    struct wanted wanted = {.power = power};
    double sum = 0;
    if (!elements)
        return 0;
    if (REAL_NAME(exchange_has_part)(system))
        REAL_NAME(exchange_ends)(system, power, worker);
    for (size_t b = 0; b < elements->body_count; b++) {
        wanted.body = &elements->bodies[b];
        if (!power || wanted.body->damped)
            sum +=
                sum_of(system, node_count(wanted.body), node_of_body, sum_nodes, &wanted, worker);
    }
    if (!power || elements->triangles.damped)
        sum += sum_of(system, elements->triangles.count, REAL_NAME(element_node_of_triangle),
                      sum_triangles, &wanted, worker);
    if (!power || elements->bending.damped)
        sum += sum_of(system, elements->bending.nodes, REAL_NAME(element_node_itself), sum_bending,
                      &wanted, worker);
    if (elements->bending.folds.count > 0 && (!power || elements->bending.damped)) {
        const struct node_vectors v = {system->state->vx, system->state->vy, system->state->vz};
        REAL_NAME(folds_measure)(system, power ? &v : NULL, worker);
        sum +=
            sum_of(system, elements->bending.folds.count, node_of_fold, sum_folds, &wanted, worker);
    }
    return sum;
}

double REAL_NAME(elements_energy)(struct system *system, const struct worker *worker)
{
    return sum_all(system, false, worker);
}

double REAL_NAME(elements_power)(struct system *system, const struct worker *worker)
{
    return sum_all(system, true, worker);
}

// ---- Passes
//
// Elements whose nodes are all in a group of slabs are visited first, those of its last two slabs
// in a second pass, in which groups of at least four slabs do not meet.

static void visit_slabs(const struct system *system, const struct elements_body *body,
                        struct range slabs, element_callback visit, void *context)
{
    const int64_t nodes = slab_nodes(body);
    struct element elements[ELEMENT_KINDS];
    for (int64_t node = (int64_t)slabs.first * nodes; node < (int64_t)slabs.end * nodes; node++) {
        const int count = REAL_NAME(elements_at)(body, node, elements);
        for (int e = 0; e < count; e++)
            visit(system, context, &elements[e]);
    }
}

struct visit {
    struct range rows;
    bool ropes;
    element_callback visit;
    void *context;
};

static void visit_block(const struct system *system, const void *argument, struct plan_block block)
{
    const struct visit *it = argument;
    const struct element_triangles *triangles = &system->elements->triangles;
    const struct range span = triangles->spans[block.number];
    if (span.end <= it->rows.first || span.first >= it->rows.end)
        return;
    for (uint64_t i = block.first; i < block.first + block.count; i++) {
        const struct element element = REAL_NAME(triangle_element)(triangles, (size_t)i);
        it->visit(system, it->context, &element);
    }
}

// The first or the second part of a group.
static void visit_group(const struct system *system, size_t number, bool last,
                        const struct visit *it)
{
    enum { REACH = 2 };
    const struct element_set *elements = system->elements;
    const struct elements_body *body = &elements->bodies[find_interval(
        &elements->bodies->first_group, sizeof *elements->bodies, elements->body_count, number)];
    if (it->ropes && !elements_are_rope(body))
        return;
    const size_t slabs = slab_count(body), group = group_slabs(body);
    const size_t first = (number - (size_t)body->first_group) * group, end = first + group;
    struct range part =
        last ? (struct range){end - REACH, end} : (struct range){first, end - REACH};
    part.end = part.end < slabs ? part.end : slabs;
    if (part.first < part.end)
        visit_slabs(system, body, part, it->visit, it->context);
}

void REAL_NAME(elements_scatter)(const struct system *system, struct range rows, bool ropes,
                                 element_callback visit, void *context, const struct worker *worker)
{
    const struct element_set *elements = system->elements;
    const struct visit all = {rows, ropes, visit, context};
    for (int last = 0; last < 2 && elements->group_count > 0; last++) {
        struct range range;
        while (worker_claim(worker, elements->group_count, 1, &range))
            visit_group(system, range.first, last, &all);
        worker_barrier(worker);
    }
    REAL_NAME(run_coloured)(system, &elements->triangles.set, visit_block, &all, worker);
}
