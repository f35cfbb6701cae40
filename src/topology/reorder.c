// Renumbers nodes (reorder.h): along the rows of a lattice, whatever its listed order and rotation,
// by reverse Cuthill-McKee for other graphs, or not at all if neither is better. Also sorts listed
// springs.
#include "topology/reorder.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/sort.h"

// ---- Neighbours and permutations

// Pairs of neighbours: the ends of springs, or of the edges of each face if a surface has elements
// instead of springs.
static size_t pair_count(const struct body *body)
{
    return (size_t)(body->spring_count > 0 ? body->spring_count : 3 * body->face_count);
}

// The edges of faces, twice where two faces meet.
static void fill_from_faces(const struct body *body, struct neighbours *n)
{
    for (uint64_t i = 0; i < 3 * body->face_count; i++)
        n->start[body->faces[i] + 1] += 2;
    counting_sort_starts(n->start, body->node_count);
    for (uint64_t i = 0; i < 3 * body->face_count; i++)
        for (uint64_t step = 1; step < 3; step++)
            n->items[n->start[body->faces[i] + 1]++] = body->faces[i / 3 * 3 + (i + step) % 3];
}

static bool neighbours_make(const struct body *body, struct neighbours *n)
{
    size_t nodes = (size_t)body->node_count;
    n->start = memory_allocate(NULL, nodes + 1, sizeof *n->start);
    n->items = memory_allocate(NULL, 2 * pair_count(body), sizeof *n->items);
    if (!n->start || !n->items)
        return false;
    if (body->spring_count == 0) {
        fill_from_faces(body, n);
        return true;
    }
    for (uint64_t s = 0; s < body->spring_count; s++)
        for (int end = 0; end < 2; end++)
            n->start[body->springs[s][end] + 1]++;
    counting_sort_starts(n->start, nodes);
    for (uint64_t s = 0; s < body->spring_count; s++)
        for (int end = 0; end < 2; end++)
            n->items[n->start[body->springs[s][end] + 1]++] = body->springs[s][1 - end];
    return true;
}

static void neighbours_free(const struct body *body, struct neighbours *n)
{
    memory_release(NULL, n->start, (size_t)body->node_count + 1, sizeof *n->start);
    memory_release(NULL, n->items, 2 * pair_count(body), sizeof *n->items);
}

// Replaces *array by an array whose element i is the old element order[i]; elements have `size`
// bytes. *array may be NULL. Returns false, with *array unchanged, if memory runs out.
static bool array_permute(void **array, size_t size, const uint32_t *order, uint64_t count)
{
    if (!*array)
        return true; // all elements are equal and not stored
    char *from = *array, *to = memory_allocate(NULL, (size_t)count, size);
    if (!to)
        return false;
    for (uint64_t i = 0; i < count; i++)
        memcpy(to + i * size, from + (size_t)order[i] * size, size);
    memory_release(NULL, from, (size_t)count, size);
    *array = to;
    return true;
}

// ---- Lattices: nodes at lattice points, listed in any order and with any rotation

// The springs sampled for directions of the lattice, the most directions distinguished, and how far
// a node may be from its lattice point, as a fraction of the spacing.
enum { SAMPLES = 4096, SPRING_DIRECTIONS_MAX = 64 };
static const double OFF_MAX = 0.25;

// Springs in one direction or its opposite.
struct spring_direction {
    vec3 along;
    double length;
    uint64_t count;
};

// Reverses a vector if necessary so that opposite directions become equal: the first component, in
// the order z, y, x, that is not nearly 0 is positive.
static vec3 without_sign(vec3 v)
{
    double small = 1e-6 * vec3_length(v);
    bool turn = v.z < -small || (v.z <= small && (v.y < -small || (v.y <= small && v.x < 0)));
    return turn ? vec3_scale(-1, v) : v;
}

static int find_directions(const struct body *body,
                           struct spring_direction directions[SPRING_DIRECTIONS_MAX])
{
    uint64_t stride = body->spring_count / SAMPLES + 1;
    int count = 0;
    for (uint64_t s = 0; s < body->spring_count; s += stride) {
        vec3 d = without_sign(vec3_subtract(body_position(body, body->springs[s][0]),
                                            body_position(body, body->springs[s][1])));
        double length = vec3_length(d);
        int w = 0;
        while (w < count && vec3_length(vec3_subtract(d, directions[w].along)) >
                                OFF_MAX / 2 * directions[w].length)
            w++;
        if (w == SPRING_DIRECTIONS_MAX || !(length > 0))
            return 0;
        if (w == count)
            directions[count++] = (struct spring_direction){d, length, 0};
        vec3 off = vec3_subtract(d, directions[w].along);
        directions[w].count++;
        directions[w].along =
            vec3_add(directions[w].along, vec3_scale(1 / (double)directions[w].count, off));
    }
    return count;
}

// The shortest of the frequent directions that leaves the plane (or line) of the axes chosen so
// far.
static bool choose_direction(const struct spring_direction *directions, int count, uint64_t common,
                             vec3 axis[3], int chosen)
{
    const struct spring_direction *best = NULL;
    for (int w = 0; w < count; w++) {
        double free = 1; // distance from the chosen axes, as a fraction of the length
        vec3 unit = vec3_scale(1 / directions[w].length, directions[w].along);
        if (chosen == 1)
            free = vec3_length(vec3_cross(unit, axis[0])) / vec3_length(axis[0]);
        if (chosen == 2) {
            vec3 normal = vec3_cross(axis[0], axis[1]);
            free = fabs(vec3_dot(unit, normal)) / vec3_length(normal);
        }
        if (directions[w].count >= common && free > 0.3 &&
            (!best || directions[w].length < best->length * (1 - 1e-3)))
            best = &directions[w];
    }
    if (best)
        axis[chosen] = best->along;
    return best != NULL;
}

// Finds three axes. A planar body gets a third one perpendicular to the others. False for a line.
static bool find_axes(const struct body *body, vec3 axis[3])
{
    struct spring_direction directions[SPRING_DIRECTIONS_MAX];
    int count = find_directions(body, directions), chosen = 0;
    uint64_t most = 0;
    for (int w = 0; w < count; w++)
        most = directions[w].count > most ? directions[w].count : most;
    while (chosen < 3 && choose_direction(directions, count, most / 4 + 1, axis, chosen))
        chosen++;
    if (chosen < 2)
        return false; // a line, for which reverse Cuthill-McKee does as well
    if (chosen == 2) {
        vec3 normal = vec3_cross(axis[0], axis[1]);
        axis[2] = vec3_scale(vec3_length(axis[0]) / vec3_length(normal), normal);
    }
    return true;
}

struct lattice {
    vec3 origin;
    vec3 inverse[3]; // rows: from (position - origin) to coordinates along the axes
    int64_t low[3], count[3];
    int order[3]; // axes by length of row, longest first
};

static bool invert_axes(const vec3 axis[3], vec3 inverse[3])
{
    double volume = vec3_dot(axis[0], vec3_cross(axis[1], axis[2]));
    if (!(fabs(volume) > 0))
        return false;
    for (int a = 0; a < 3; a++)
        inverse[a] = vec3_scale(1 / volume, vec3_cross(axis[(a + 1) % 3], axis[(a + 2) % 3]));
    return true;
}

static bool lattice_index(const struct lattice *lattice, vec3 position, int64_t number[3])
{
    vec3 from = vec3_subtract(position, lattice->origin);
    for (int a = 0; a < 3; a++) {
        double exact = vec3_dot(lattice->inverse[a], from);
        if (!(fabs(exact) < 1e6) || fabs(exact - round(exact)) > OFF_MAX)
            return false;
        number[a] = (int64_t)round(exact);
    }
    return true;
}

static bool measure_lattice(const struct body *body, struct lattice *lattice)
{
    for (uint64_t node = 0; node < body->node_count; node++) {
        int64_t number[3];
        if (!lattice_index(lattice, body_position(body, node), number))
            return false;
        for (int a = 0; a < 3; a++) {
            int64_t end = lattice->low[a] + lattice->count[a];
            int64_t low = node == 0 || number[a] < lattice->low[a] ? number[a] : lattice->low[a];
            end = node == 0 || number[a] >= end ? number[a] + 1 : end;
            lattice->low[a] = low;
            lattice->count[a] = end - low;
        }
    }
    for (int i = 0; i < 3; i++)
        lattice->order[i] = i;
    for (int i = 0; i < 2; i++)
        for (int j = i + 1; j < 3; j++)
            if (lattice->count[lattice->order[j]] > lattice->count[lattice->order[i]]) {
                int swapped = lattice->order[i];
                lattice->order[i] = lattice->order[j];
                lattice->order[j] = swapped;
            }
    double points =
        (double)lattice->count[0] * (double)lattice->count[1] * (double)lattice->count[2];
    return points <= 4.0 * (double)body->node_count; // not mostly empty
}

// The row-by-row index of the lattice point at a position.
static uint64_t point_number(const struct lattice *lattice, vec3 position)
{
    int64_t number[3];
    (void)lattice_index(lattice, position, number);
    uint64_t at = 0;
    for (int i = 2; i >= 0; i--) {
        int a = lattice->order[i];
        at = at * (uint64_t)lattice->count[a] + (uint64_t)(number[a] - lattice->low[a]);
    }
    return at;
}

// Sorts nodes by their lattice points; false if two nodes share one.
static bool sort_by_point(const struct body *body, const struct lattice *lattice,
                          uint32_t *at_point, uint64_t points, uint32_t *order)
{
    for (uint64_t node = 0; node < body->node_count; node++) {
        uint32_t *slot = &at_point[point_number(lattice, body_position(body, node))];
        if (*slot != 0)
            return false;
        *slot = (uint32_t)node + 1;
    }
    uint64_t count = 0;
    for (uint64_t i = 0; i < points; i++)
        if (at_point[i] != 0)
            order[count++] = at_point[i] - 1;
    return true;
}

// Numbers the nodes along a lattice, into order[]. grid[] gets the nodes per row, rows and layers
// if every lattice point has a node, else zeros. False, with order[] unchanged, if there is no
// lattice.
static bool lattice_order(const struct body *body, uint32_t *order, uint64_t grid[3],
                          bool *no_memory)
{
    vec3 axis[3];
    struct lattice lattice = {.origin = body_position(body, 0)};
    if (!find_axes(body, axis) || !invert_axes(axis, lattice.inverse) ||
        !measure_lattice(body, &lattice))
        return false;
    uint64_t points =
        (uint64_t)lattice.count[0] * (uint64_t)lattice.count[1] * (uint64_t)lattice.count[2];
    uint32_t *at_point = memory_allocate(NULL, (size_t)points, sizeof *at_point);
    *no_memory = !at_point;
    bool found = at_point && sort_by_point(body, &lattice, at_point, points, order);
    memory_release(NULL, at_point, (size_t)points, sizeof *at_point);
    for (int i = 0; i < 3; i++)
        grid[i] =
            found && points == body->node_count ? (uint64_t)lattice.count[lattice.order[i]] : 0;
    return found;
}

// ---- Graphs: reverse Cuthill-McKee

static uint64_t degree_of(const struct neighbours *n, uint32_t node)
{
    return n->start[node + 1] - n->start[node];
}

// Breadth-first search from `first`, level by level, through nodes not seen yet; order[] gets the
// nodes from index `count` on. Returns the number of nodes in order[] afterwards; *last_level is
// the index at which the last level begins.
static uint64_t visit(const struct neighbours *n, uint32_t first, uint64_t count, uint8_t *seen,
                      uint32_t *order, uint64_t *last_level)
{
    uint64_t next = count, level_end = count + 1;
    *last_level = count;
    order[count++] = first;
    seen[first] = 1;
    while (next < count) {
        if (next == level_end) {
            *last_level = next;
            level_end = count;
        }
        uint32_t node = order[next++];
        for (uint64_t i = n->start[node]; i < n->start[node + 1]; i++) {
            uint32_t neighbour = n->items[i];
            if (!seen[neighbour]) {
                seen[neighbour] = 1;
                order[count++] = neighbour;
            }
        }
    }
    return count;
}

// A peripheral node of the component of `first`: the node of lowest degree in the last level,
// searched for twice (George and Liu 1979).
static uint32_t find_rim(const struct neighbours *n, uint32_t first, uint64_t count, uint8_t *seen,
                         uint32_t *order)
{
    for (int round = 0; round < 2; round++) {
        uint64_t last_level, end = visit(n, first, count, seen, order, &last_level);
        first = order[last_level];
        for (uint64_t i = last_level; i < end; i++)
            if (degree_of(n, order[i]) < degree_of(n, first))
                first = order[i];
        for (uint64_t i = count; i < end; i++)
            seen[order[i]] = 0;
    }
    return first;
}

bool graph_order(const struct neighbours *n, uint64_t node_count, uint32_t *order)
{
    uint8_t *seen = memory_allocate(NULL, (size_t)node_count, 1);
    if (!seen)
        return false;
    uint64_t count = 0, last_level;
    for (uint32_t node = 0; node < node_count; node++)
        if (!seen[node])
            count =
                visit(n, find_rim(n, node, count, seen, order), count, seen, order, &last_level);
    memory_release(NULL, seen, (size_t)node_count, 1);
    for (uint64_t i = 0; i < node_count / 2; i++) {
        uint32_t swapped = order[i];
        order[i] = order[node_count - 1 - i];
        order[node_count - 1 - i] = swapped;
    }
    return true;
}

// ---- Sorting listed springs by their nodes

// The fraction of springs with a lower end below that of the spring before, from which on sorting
// pays.
static const double BACK_MAX = 1.0 / 16;

static uint32_t lower_end(const struct body *body, uint64_t spring)
{
    const uint32_t *ends = body->springs[spring];
    return ends[0] < ends[1] ? ends[0] : ends[1];
}

static bool are_in_order(const struct body *body)
{
    uint64_t back = 0;
    for (uint64_t s = 1; s < body->spring_count; s++)
        back += lower_end(body, s) < lower_end(body, s - 1);
    return (double)back <= BACK_MAX * (double)body->spring_count;
}

// Sorts the springs of one kind by their lower ends; those of the same node keep the builder's
// order.
static void sort_kind(const struct body *body, uint64_t first, uint64_t end, uint64_t *start,
                      uint32_t *order)
{
    memset(start, 0, ((size_t)body->node_count + 1) * sizeof *start);
    for (uint64_t s = first; s < end; s++)
        start[lower_end(body, s) + 1]++;
    counting_sort_starts(start, body->node_count);
    for (uint64_t s = first; s < end; s++)
        order[first + start[lower_end(body, s) + 1]++] = (uint32_t)s;
}

// Sorts listed springs by the lower of their nodes, each kind separately, so that successive
// springs have neighbouring nodes. body->spring_order[i] is then the builder's number of spring i;
// it is NULL if the springs are sorted already. Returns false if memory runs out; then the body is
// unusable.
static bool body_sort_springs(struct body *body)
{
    if (!body->springs || body->spring_count > UINT32_MAX || are_in_order(body))
        return true;
    size_t springs = (size_t)body->spring_count, nodes = (size_t)body->node_count;
    uint32_t *order = memory_allocate(NULL, springs, sizeof *order);
    uint64_t *start = memory_allocate(NULL, nodes + 1, sizeof *start);
    bool done = order && start;
    for (size_t kind = 0; done && kind < SPRING_KINDS_MAX; kind++)
        if (body->kind_start[kind] < body->kind_start[kind + 1])
            sort_kind(body, body->kind_start[kind], body->kind_start[kind + 1], start, order);
    memory_release(NULL, start, nodes + 1, sizeof *start);
    done = done && array_permute((void **)&body->springs, sizeof *body->springs, order, springs) &&
           array_permute((void **)&body->spring_materials, sizeof *body->spring_materials, order,
                         springs) &&
           array_permute((void **)&body->rest_lengths, sizeof *body->rest_lengths, order, springs);
    body->spring_order = order;
    return done;
}

// Smaller bodies fit into the first-level cache in any order.
enum { NODES_MIN = 256 };

// ---- The quality of a numbering
//
// It is what the packed kernel (packed/plan.h) pays for an end of a spring, in units of one end
// that is gathered from within its tile. It is estimated from every SAMPLE_STRIDE-th node and at
// most SAMPLE_NEIGHBOURS of its neighbours: two hubs with consecutive numbers would otherwise take
// time proportional to the product of their degrees.
enum { SAMPLE_STRIDE = 8, SAMPLE_NEIGHBOURS = 64, FAR = 2048 };
static const double COST_STEP = 0.45, COST_FAR_STEP = 0.05, COST_FAR = 1;

// A numbering of at most this cost is kept without trying another, which must cost less by the
// factor GAIN.
static const double GOOD = 0.8, GAIN = 0.9;

static uint64_t sample_end(const struct neighbours *n, uint32_t node)
{
    uint64_t end = n->start[node + 1], most = n->start[node] + SAMPLE_NEIGHBOURS;
    return end < most ? end : most;
}

static bool has_neighbour_at(const struct neighbours *n, uint32_t node, int64_t at, int64_t step,
                             const uint32_t *number)
{
    for (uint64_t i = n->start[node], end = sample_end(n, node); i < end; i++)
        if ((int64_t)number[n->items[i]] - at == step)
            return true;
    return false;
}

// order[i] is the builder's number of node i, number[] its inverse.
static double cost_of(const struct neighbours *n, uint64_t node_count, const uint32_t *order,
                      const uint32_t *number)
{
    double cost = 0, ends = 0;
    for (uint64_t i = 1; i < node_count; i += SAMPLE_STRIDE)
        for (uint64_t k = n->start[order[i]], end = sample_end(n, order[i]); k < end; k++) {
            int64_t step = (int64_t)number[n->items[k]] - (int64_t)i;
            bool far = step > FAR || step < -FAR;
            if (has_neighbour_at(n, order[i - 1], (int64_t)i - 1, step, number))
                cost += COST_STEP + (far ? COST_FAR_STEP : 0);
            else
                cost += 1 + (far ? COST_FAR : 0);
            ends++;
        }
    return ends > 0 ? cost / ends : 0;
}

// ---- Grids whose nodes are in order

// The nodes along x, y and z, guessed from where springs to the next node and to the next row are
// first missing; zeros if they fit no grid. The guess is cheap, and grid/plan.c checks every
// spring.
static void guess_grid(const struct neighbours *n, uint64_t node_count, const uint32_t *order,
                       const uint32_t *number, uint64_t grid[3])
{
    uint64_t nx = 1, ny = 1;
    while (nx < node_count && has_neighbour_at(n, order[nx - 1], (int64_t)nx - 1, 1, number))
        nx++;
    while (ny * nx < node_count &&
           has_neighbour_at(n, order[(ny - 1) * nx], (int64_t)((ny - 1) * nx), (int64_t)nx, number))
        ny++;
    if (nx > 1 && node_count % (nx * ny) == 0) {
        grid[0] = nx;
        grid[1] = ny;
        grid[2] = node_count / (nx * ny);
    }
}

// ---- Renumbering

// If memory runs out, some arrays may be permuted and others not: the body is then unusable.
static bool apply(struct body *body, const uint32_t *order, const uint32_t *number)
{
    uint64_t nodes = body->node_count;
    if (!array_permute((void **)&body->positions, 3 * sizeof *body->positions, order, nodes) ||
        !array_permute((void **)&body->initial, 3 * sizeof *body->initial, order, nodes) ||
        !array_permute((void **)&body->velocities, 3 * sizeof *body->velocities, order, nodes) ||
        !array_permute((void **)&body->masses, sizeof *body->masses, order, nodes) ||
        !array_permute((void **)&body->kinematic, sizeof *body->kinematic, order, nodes))
        return false;
    for (uint64_t s = 0; s < body->spring_count; s++)
        for (int end = 0; end < 2; end++)
            body->springs[s][end] = number[body->springs[s][end]];
    for (uint64_t i = 0; i < body->face_count * (uint64_t)body->face_arity; i++)
        body->faces[i] = number[body->faces[i]];
    for (size_t m = 0; m < body->motion_count; m++)
        body->motions[m].node = number[body->motions[m].node];
    return true;
}

static void invert(const uint32_t *order, uint64_t count, uint32_t *number)
{
    for (uint64_t i = 0; i < count; i++)
        number[order[i]] = (uint32_t)i;
}

// Finds a better numbering: order[] and its inverse number[]. False if there is none.
static bool find_order(struct body *body, const struct neighbours *n, uint32_t *order,
                       uint32_t *number, bool *no_memory)
{
    for (uint64_t i = 0; i < body->node_count; i++)
        order[i] = number[i] = (uint32_t)i;
    double present = cost_of(n, body->node_count, order, number);
    if (present <= GOOD) {
        if (body->type == BODY_NETWORK)
            guess_grid(n, body->node_count, order, number, body->grid);
        return false;
    }
    uint64_t grid[3] = {0, 0, 0};
    if (!lattice_order(body, order, grid, no_memory)) {
        *no_memory |= !graph_order(n, body->node_count, order);
        if (*no_memory)
            return false;
    }
    invert(order, body->node_count, number);
    if (cost_of(n, body->node_count, order, number) > GAIN * present)
        return false;
    if (body->type == BODY_NETWORK)
        memcpy(body->grid, grid, sizeof grid);
    return true;
}

static bool renumber(struct body *body)
{
    size_t nodes = (size_t)body->node_count;
    struct neighbours neighbours = {NULL, NULL};
    uint32_t *order = memory_allocate(NULL, nodes, sizeof *order);
    uint32_t *number = memory_allocate(NULL, nodes, sizeof *number);
    bool done = order && number && neighbours_make(body, &neighbours), no_memory = false;
    const bool found = done && find_order(body, &neighbours, order, number, &no_memory);
    neighbours_free(body, &neighbours); // before the copies that `apply` makes
    if (found) {
        done = apply(body, order, number);
        body->node_order = order;
        order = NULL;
    }
    memory_release(NULL, order, nodes, sizeof *order);
    memory_release(NULL, number, nodes, sizeof *number);
    return done && !no_memory;
}

bool body_renumber(struct body *body)
{
    const bool joined = body->springs && body->spring_count > 0;
    const bool is_membrane = body->spring_count == 0 && elements_are_membrane(&body->elements);
    return !(joined || is_membrane) || body->node_count < NODES_MIN || body->node_order ||
           ((body->is_cut_grid || renumber(body)) && body_sort_springs(body));
}

// Renumbers all bodies; those that have been shed have nothing to renumber.
bool bodies_renumber(struct bodies *bodies)
{
    for (size_t b = 0; b < bodies->count; b++)
        if (!body_renumber(&bodies->items[b]))
            return false;
    return true;
}
