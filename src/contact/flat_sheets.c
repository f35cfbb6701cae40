// See flat_sheets.h.
//
// A sheet of equal rectangles, built in a plane, is deformed by a map f that is linear on each
// triangle. Let the vectors along both sides of all cells in a convex part of it, divided by the
// lengths of the sides, be no farther than e1 and e2 from q1 and q2, which are at right angles and
// of length 1, and let Q be the isometry with these columns. Then |Df - Q| <= e = sqrt(e1^2 + e2^2)
// on every triangle, and along the line from x to y, f(x) - f(y) differs from Q (x - y) by at most
// e |x - y|: |f(x) - f(y)| >= (1 - e) |x - y|. Parts without a common node are at least an altitude
// h of the triangles apart as built: a line from a node to what is not around it passes a side
// opposite to it. So nothing is within reach r while (1 - e) h > r, however the sheet has moved and
// turned; nor did anything pass through within a step, if vectors before and after it are in the
// same boxes, as those in between then are too.
#include "contact/flat_sheets.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"

enum { LANES = 8 };

// Lists rely on a window from this part of its limit on; they are made again at 0.96 of it.
static const double USE_AT_FIRST = 0.6;

#define ALLOCATE(array, count) ((array) = memory_allocate(allocator, (count), sizeof *(array)))
#define RELEASE(array, count)  memory_release(allocator, (array), (count), sizeof *(array))

static void built_difference(const struct topology *topology, size_t from, size_t to, double d[3])
{
    for (int axis = 0; axis < 3; axis++)
        d[axis] = topology->built[to][axis] - topology->built[from][axis];
}

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

// Whether all cells of a tile are rectangles with the same sides, but for rounding.
static bool is_regular(const struct topology *topology, const struct node_rows *nodes,
                       double lengths[2])
{
    const size_t steps[2] = {1, nodes->stride};
    double sides[2][3];
    if (nodes->count < 2 || nodes->rows < 2)
        return false;
    for (int k = 0; k < 2; k++) {
        built_difference(topology, nodes->first, nodes->first + steps[k], sides[k]);
        lengths[k] = sqrt(dot(sides[k], sides[k]));
    }
    if (!(lengths[0] > 0 && lengths[1] > 0) ||
        !(fabs(dot(sides[0], sides[1])) <= 1e-6 * lengths[0] * lengths[1]))
        return false;
    for (size_t row = 0; row < nodes->rows; row++)
        for (size_t i = 0; i < nodes->count; i++)
            for (int k = 0; k < 2; k++) {
                const size_t node = nodes->first + row * nodes->stride + i;
                double side[3], square = 0;
                if (k == 0 ? i + 1 == nodes->count : row + 1 == nodes->rows)
                    continue;
                built_difference(topology, node, node + steps[k], side);
                for (int axis = 0; axis < 3; axis++)
                    square += (side[axis] - sides[k][axis]) * (side[axis] - sides[k][axis]);
                if (!(square <= 1e-12 * lengths[k] * lengths[k]))
                    return false;
            }
    return true;
}

// No part of a sheet of rectangles is nearer to one without a common node than this, m: the least
// altitude of its triangles.
static double least_altitude(const double lengths[2])
{
    return lengths[0] * lengths[1] / hypot(lengths[0], lengths[1]);
}

// Windows of the tiles of a body from `first` on, `across` x `up`.
static void add_windows(struct surface_contact *it, size_t first, size_t across, size_t up)
{
    struct flat_sheets *flat = it->flat;
    const double thickness = thickness_between(it, it->tile_bodies[first], it->tile_bodies[first]);
    for (size_t y = 0; y < up - (up > 1); y++)
        for (size_t x = 0; x < across - (across > 1); x++) {
            struct flat_window window = {.count = 0};
            bool regular = true;
            for (size_t k = 0; k < 4; k++) {
                const size_t column = x + k % 2, row = y + k / 2;
                if (column >= across || row >= up)
                    continue;
                const size_t tile = first + row * across + column;
                regular &= flat->tiles[tile].regular;
                window.tiles[window.count++] = tile;
            }
            const struct flat_tile *tile = &flat->tiles[first];
            for (int k = 0; k < window.count; k++)
                for (int side = 0; side < 2; side++)
                    regular &= fabs(flat->tiles[window.tiles[k]].lengths[side] -
                                    tile->lengths[side]) <= 1e-6 * tile->lengths[side];
            if (!regular)
                continue;
            window.limit = 0.999 - 1.002 * 1.5 * thickness / least_altitude(tile->lengths);
            if (window.limit > 0.05)
                flat->windows[flat->window_count++] = window;
        }
}

bool REAL_NAME(flat_sheets_make)(struct system *system)
{
    struct surface_contact *it = system->surface_contact;
    const struct topology *topology = system->topology;
    const taut_allocator *allocator = system->allocator;
    if (!topology->built)
        return true;
    struct flat_sheets *flat = it->flat = memory_allocate(allocator, 1, sizeof *flat);
    if (!flat)
        return false;
    flat->tile_count = it->tile_count;
    flat->window_capacity = it->tile_count;
    if (!ALLOCATE(flat->tiles, flat->tile_count) ||
        !ALLOCATE(flat->windows, flat->window_capacity) ||
        !ALLOCATE(flat->free, flat->tile_count * flat->tile_count))
        return false;
    for (size_t p = 0; p < it->tile_part_count;) {
        const struct tile_part *part = &it->tile_parts[p];
        const uint32_t body = it->tile_bodies[part->tile];
        size_t end = p, across = 0;
        while (end < it->tile_part_count && it->tile_bodies[it->tile_parts[end].tile] == body)
            end++;
        if (body < topology->body_count && topology->bodies[body].is_sheet &&
            it->tile_parts[end - 1].tile - part->tile + 1 == end - p) {
            for (size_t i = p; i < end; i++) {
                struct flat_tile *tile = &flat->tiles[it->tile_parts[i].tile];
                tile->regular = is_regular(topology, &it->tile_parts[i].nodes, tile->lengths);
                across += it->tile_parts[i].nodes.first - part->nodes.first <
                          topology->bodies[body].grid[0];
            }
            assert(across > 0); // the first tile is one of the first row
            add_windows(it, part->tile, across, (end - p) / across);
        }
        p = end;
    }
    if (flat->window_count == 0)
        REAL_NAME(flat_sheets_free)(system);
    return true;
}

void REAL_NAME(flat_sheets_free)(struct system *system)
{
    struct flat_sheets *flat = system->surface_contact->flat;
    const taut_allocator *allocator = system->allocator;
    if (!flat)
        return;
    RELEASE(flat->tiles, flat->tile_count);
    RELEASE(flat->windows, flat->window_capacity);
    RELEASE(flat->free, flat->tile_count * flat->tile_count);
    RELEASE(flat, 1);
    system->surface_contact->flat = NULL;
}

uint64_t REAL_NAME(flat_sheets_bytes)(const struct surface_contact *it)
{
    const struct flat_sheets *flat = it->flat;
    return flat ? sizeof *flat + flat->tile_count * sizeof *flat->tiles +
                      flat->window_capacity * sizeof *flat->windows +
                      flat->tile_count * flat->tile_count * sizeof *flat->free
                : 0;
}

// ---- Boxes of vectors

// Two neighbouring rows of numbers by node, of positions and of velocities, along one axis.
struct neighbours {
    const real *from, *to, *from_speed, *to_speed;
    size_t count;
};

// The least and the most of each lane.
struct lane_extents {
    real least[LANES], most[LANES];
};

// Includes `lanes` of the differences a time dt before, in which they have changed by velocities.
static inline void include_lanes(const struct neighbours *rows, size_t first, size_t lanes, real dt,
                                 struct lane_extents *extents)
{
    for (size_t lane = 0; lane < lanes; lane++) {
        const size_t i = first + lane;
        const real d = rows->to[i] - rows->from[i] - dt * (rows->to_speed[i] - rows->from_speed[i]);
        extents->least[lane] = d < extents->least[lane] ? d : extents->least[lane];
        extents->most[lane] = d > extents->most[lane] ? d : extents->most[lane];
    }
}

static void include_before(const struct neighbours *rows, real dt, real *least, real *most)
{
    struct lane_extents extents;
    for (int lane = 0; lane < LANES; lane++) {
        extents.least[lane] = *least;
        extents.most[lane] = *most;
    }
    size_t i = 0;
    for (; i + LANES <= rows->count; i += LANES)
        include_lanes(rows, i, LANES, dt, &extents);
    include_lanes(rows, i, rows->count - i, dt, &extents);
    for (int lane = 0; lane < LANES; lane++) {
        *least = extents.least[lane] < *least ? extents.least[lane] : *least;
        *most = extents.most[lane] > *most ? extents.most[lane] : *most;
    }
}

static double greatest_coordinate(const struct broad_phase *broad, const real *const x[3],
                                  const struct node_rows *nodes)
{
    const struct displacements box = displacements_of(broad, x, NULL, nodes);
    real most = 0;
    for (int axis = 0; axis < 3; axis++) {
        most = real_abs(box.least[axis]) > most ? real_abs(box.least[axis]) : most;
        most = real_abs(box.most[axis]) > most ? real_abs(box.most[axis]) : most;
    }
    return (double)most;
}

// Coordinates have been rounded in the step, and may have low parts beside them.
static void widen(struct displacements *box, double slack)
{
    for (int axis = 0; axis < 3; axis++) {
        box->least[axis] = (real)((double)box->least[axis] - slack);
        box->most[axis] = (real)((double)box->most[axis] + slack);
    }
}

void REAL_NAME(flat_sheets_measure)(struct system *system, double dt, const struct worker *worker)
{
    struct surface_contact *it = system->surface_contact;
    const struct state *s = system->state;
    const real *const x[3] = {s->x, s->y, s->z}, *const v[3] = {s->vx, s->vy, s->vz};
    const struct range share = worker_share(worker, it->tile_part_count, 1);
    for (size_t p = share.first; p < share.end; p++) {
        struct flat_tile *tile = &it->flat->tiles[it->tile_parts[p].tile];
        const struct node_rows *nodes = &it->tile_parts[p].nodes;
        if (!tile->regular)
            continue;
        const double slack = 4 * (double)REAL_EPSILON * greatest_coordinate(it->broad, x, nodes);
        for (int side = 0; side < 2; side++) {
            const size_t step = side ? nodes->stride : 1;
            const real *const to[3] = {x[0] + step, x[1] + step, x[2] + step};
            const struct node_rows firsts = {nodes->first, nodes->rows - (side == 1),
                                             nodes->count - (side == 0), nodes->stride};
            struct displacements *box = &tile->edges[side];
            *box = displacements_of(it->broad, to, x, &firsts); // of second nodes from first ones
            for (size_t row = 0; row < firsts.rows && dt != 0; row++)
                for (int axis = 0; axis < 3; axis++) {
                    const size_t node = firsts.first + row * firsts.stride;
                    const struct neighbours rows = {x[axis] + node, to[axis] + node, v[axis] + node,
                                                    v[axis] + node + step, firsts.count};
                    include_before(&rows, (real)dt, &box->least[axis], &box->most[axis]);
                }
            widen(box, slack);
        }
    }
}

double REAL_NAME(flat_sheets_extend)(struct surface_contact *it, const struct displacements *speeds,
                                     double dt)
{
    // The greatest square of what a box grows by, over the length of the side; and the sum of all,
    // which is not a number if one of them is not.
    double most[2] = {0, 0}, sum = 0;
    for (size_t t = 0; t < it->flat->tile_count; t++)
        for (int side = 0; side < 2 && it->flat->tiles[t].regular; side++) {
            const double length = it->flat->tiles[t].lengths[side];
            double square = 0;
            for (int axis = 0; axis < 3; axis++) {
                struct displacements *box = &it->flat->tiles[t].edges[side];
                const double moved = fmax(fabs((double)it->bounds[t].least[axis]),
                                          fabs((double)it->bounds[t].most[axis]));
                const double slack = 4 * (double)REAL_EPSILON * (it->farthest + moved);
                const double grows =
                    dt * ((double)speeds[t].most[axis] - (double)speeds[t].least[axis]) + slack;
                box->least[axis] = (real)((double)box->least[axis] - grows);
                box->most[axis] = (real)((double)box->most[axis] + grows);
                square += grows * grows;
            }
            most[side] = max_of(most[side], square / (length * length));
            sum += square;
        }
    // The directions of the middles from which vectors have been that far serve as well as new
    // ones.
    return isfinite(sum) ? 1.00001 * sqrt(most[0] + most[1]) / it->flat->least_limit : INFINITY;
}

// ---- Whether windows are flat

// The farthest that a vector in a box, over a length, is from a direction; its square.
static double farthest_from(const struct displacements *box, double length,
                            const double direction[3])
{
    double square = 0;
    for (int axis = 0; axis < 3; axis++) {
        const double one = fabs((double)box->least[axis] / length - direction[axis]),
                     other = fabs((double)box->most[axis] / length - direction[axis]);
        square += (one > other ? one : other) * (one > other ? one : other);
    }
    return square;
}

static void middle_of(const struct displacements *box, double middle[3])
{
    for (int axis = 0; axis < 3; axis++)
        middle[axis] = ((double)box->least[axis] + (double)box->most[axis]) / 2;
}

// False: it has no direction.
static bool normalise(double v[3])
{
    const double length = sqrt(dot(v, v));
    for (int axis = 0; axis < 3; axis++)
        v[axis] /= length;
    return length != 0;
}

// The use of a window that is not flat enough.
static const double BEYOND = 2;

// How far the deformation of the tiles is from one isometry of the plane, over what it may be.
static double use_of(const struct flat_sheets *flat, const struct flat_window *window)
{
    const double *lengths = flat->tiles[window->tiles[0]].lengths;
    struct displacements boxes[2] = {no_displacements(), no_displacements()};
    for (int k = 0; k < window->count; k++)
        for (int side = 0; side < 2; side++) {
            const struct displacements *box = &flat->tiles[window->tiles[k]].edges[side];
            displacements_include(&boxes[side], box->least);
            displacements_include(&boxes[side], box->most);
        }
    double along[2][3];
    middle_of(&boxes[0], along[0]);
    middle_of(&boxes[1], along[1]);
    if (!normalise(along[0]))
        return BEYOND;
    const double off = dot(along[0], along[1]);
    for (int axis = 0; axis < 3; axis++)
        along[1][axis] -= off * along[0][axis];
    if (!normalise(along[1]))
        return BEYOND;
    const double square = farthest_from(&boxes[0], lengths[0], along[0]) +
                          farthest_from(&boxes[1], lengths[1], along[1]);
    return isfinite(square) ? sqrt(square) / window->limit : INFINITY;
}

void REAL_NAME(flat_sheets_choose)(struct surface_contact *it)
{
    struct flat_sheets *flat = it->flat;
    flat->any = false;
    flat->least_limit = 1;
    memset(flat->free, 0, flat->tile_count * flat->tile_count);
    for (size_t w = 0; w < flat->window_count; w++) {
        struct flat_window *window = &flat->windows[w];
        window->holds = use_of(flat, window) < USE_AT_FIRST;
        flat->any |= window->holds;
        if (window->holds)
            flat->least_limit = fmin(flat->least_limit, window->limit);
        for (int i = 0; i < window->count && window->holds; i++)
            for (int k = 0; k < window->count; k++) {
                it->tightness[window->tiles[i] * it->tile_stride + window->tiles[k]] = 0;
                flat->free[window->tiles[i] * flat->tile_count + window->tiles[k]] = true;
            }
    }
    flat->used = flat->known = REAL_NAME(flat_sheets_use)(it);
}

double REAL_NAME(flat_sheets_use)(const struct surface_contact *it)
{
    const struct flat_sheets *flat = it->flat;
    double most = 0;
    for (size_t w = 0; w < flat->window_count; w++)
        if (flat->windows[w].holds)
            most = max_of(most, use_of(flat, &flat->windows[w]));
    return most;
}
