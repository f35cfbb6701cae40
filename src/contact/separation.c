// See separation.h. Directions are normal to either block, and between their middles; any direction
// gives a bound, so that a bad one costs time alone.
#include "contact/separation.h"

#include <math.h>

enum { LANES = 8 };

static struct point node_at(const real (*x)[SURFACE_NODES], int node)
{
    return (struct point){x[0][node], x[1][node], x[2][node]};
}

static struct point point_scale(real s, struct point p)
{
    return (struct point){s * p.x, s * p.y, s * p.z};
}

static int farthest_from(const real (*x)[SURFACE_NODES], int node)
{
    const struct point from = node_at(x, node);
    real most = 0;
    int found = node;
    for (int i = 0; i < SURFACE_NODES; i++) {
        const struct point to = point_difference(node_at(x, i), from);
        if (point_dot(to, to) > most) {
            most = point_dot(to, to);
            found = i;
        }
    }
    return found;
}

struct block_span REAL_NAME(block_span_of)(const real (*x)[SURFACE_NODES])
{
    const int first = farthest_from(x, 0), second = farthest_from(x, first);
    const struct point from = node_at(x, first);
    const struct point along = point_difference(node_at(x, second), from);
    struct point beside = {0, 0, 0}; // normal to the line and the node that is farthest from it
    int one = first, other = first;
    for (int i = 0; i < SURFACE_NODES; i++) {
        const struct point to = point_cross(along, point_difference(node_at(x, i), from));
        if (point_dot(to, to) > point_dot(beside, beside)) {
            beside = to;
            one = i;
        }
    }
    real most = 0;
    for (int i = 0; i < SURFACE_NODES; i++) {
        const struct point to = point_cross(along, point_difference(node_at(x, i), from));
        if (-point_dot(to, beside) > most) {
            most = -point_dot(to, beside);
            other = i;
        }
    }
    return (struct block_span){{(uint8_t)first, (uint8_t)one, (uint8_t)second, (uint8_t)other}};
}

// The least and the most of a block along a direction, from a point.
static void find_extent(const real (*x)[SURFACE_NODES], struct point from, struct point along,
                        real extent[2])
{
    real least[LANES], most[LANES];
    for (int lane = 0; lane < LANES; lane++)
        least[lane] = most[lane] = along.x * (x[0][lane] - from.x) +
                                   along.y * (x[1][lane] - from.y) +
                                   along.z * (x[2][lane] - from.z);
    for (int i = LANES; i < SURFACE_NODES; i += LANES)
        for (int lane = 0; lane < LANES; lane++) {
            const real at = along.x * (x[0][i + lane] - from.x) +
                            along.y * (x[1][i + lane] - from.y) +
                            along.z * (x[2][i + lane] - from.z);
            least[lane] = at < least[lane] ? at : least[lane];
            most[lane] = at > most[lane] ? at : most[lane];
        }
    for (int half = LANES / 2; half > 0; half /= 2)
        for (int lane = 0; lane < half; lane++) {
            least[lane] = least[lane + half] < least[lane] ? least[lane + half] : least[lane];
            most[lane] = most[lane + half] > most[lane] ? most[lane + half] : most[lane];
        }
    extent[0] = least[0];
    extent[1] = most[0];
}

static struct point diagonal(const struct placed_block *block, int from)
{
    return point_difference(node_at(block->x, block->span.nodes[from + 2]),
                            node_at(block->x, block->span.nodes[from]));
}

// The sum of the four nodes of the span.
static struct point four_nodes(const struct placed_block *block)
{
    struct point sum = {0, 0, 0};
    for (int i = 0; i < 4; i++)
        sum = point_along(sum, 1, node_at(block->x, block->span.nodes[i]));
    return sum;
}

double REAL_NAME(block_separation)(const struct placed_block *a, const struct placed_block *b,
                                   double enough)
{
    const struct point from = node_at(a->x, 0);
    double size = 0, found = 0; // m: of the box of both, the sum of its sides
    for (int axis = 0; axis < 3; axis++) {
        const real least = a->box[axis] < b->box[axis] ? a->box[axis] : b->box[axis];
        const real most = a->box[axis + 3] > b->box[axis + 3] ? a->box[axis + 3] : b->box[axis + 3];
        size += (double)most - (double)least;
    }
    // What rounding may add to a gap: differences of coordinates are wrong by half an epsilon of
    // themselves, and each of the two sums of three products by two and a half more.
    const double slack = 8 * (double)REAL_EPSILON * size;
    for (int direction = 0; direction < 3 && !(found > enough); direction++) {
        const struct placed_block *of = direction == 0 ? b : a;
        struct point along = direction < 2 ? point_cross(diagonal(of, 0), diagonal(of, 1))
                                           : point_difference(four_nodes(b), four_nodes(a));
        const real square = point_dot(along, along);
        real extents[2][2];
        if (!(square > 0 && square < REAL_HUGE))
            continue;
        along = point_scale(1 / real_sqrt(square), along);
        find_extent(a->x, from, along, extents[0]);
        find_extent(b->x, from, along, extents[1]);
        const double first = (double)extents[1][0] - (double)extents[0][1],
                     second = (double)extents[0][0] - (double)extents[1][1];
        const double gap = ((first > second ? first : second) - slack) * (1 - 1e-6);
        found = gap > found ? gap : found;
    }
    return found;
}

struct block_frame REAL_NAME(block_frame_of)(const struct placed_block *block)
{
    const struct point from = node_at(block->x, 0), along = diagonal(block, 0);
    const struct point normal = point_cross(along, diagonal(block, 1));
    const real length = real_sqrt(point_dot(along, along)),
               area = real_sqrt(point_dot(normal, normal));
    struct block_frame frame = {.centre = from, .axes = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
    double size = 0; // m
    if (length > 0 && area > 0 && length < REAL_HUGE && area < REAL_HUGE) {
        const struct point first = point_scale(1 / length, along);
        struct point up = point_scale(1 / area, normal);
        // A vector product of nearly parallel diagonals is not at right angles to them.
        const real off = point_dot(up, first);
        up = point_along(up, -off, first);
        if (real_abs(off) < (real)0.01) {
            frame.axes[0] = point_scale(1 / real_sqrt(point_dot(up, up)), up);
            frame.axes[1] = first;
            frame.axes[2] = point_cross(frame.axes[0], frame.axes[1]);
        }
    }
    for (int axis = 0; axis < 3; axis++) {
        const double least = (double)block->box[axis], most = (double)block->box[axis + 3];
        size += (fabs(least) > fabs(most) ? fabs(least) : fabs(most)) + most - least;
    }
    for (int axis = 0; axis < 3; axis++) {
        real extent[2];
        find_extent(block->x, from, frame.axes[axis], extent);
        // The rounding of the centre, and of what is relative to it.
        frame.half[axis] =
            (real)(((double)extent[1] - (double)extent[0]) / 2 + 8 * (double)REAL_EPSILON * size);
        frame.centre = point_along(frame.centre, (extent[0] + extent[1]) / 2, frame.axes[axis]);
    }
    return frame;
}

double REAL_NAME(frame_separation)(const struct block_frame *a, const struct block_frame *b)
{
    const struct point between = point_difference(b->centre, a->centre);
    const real size = real_abs(between.x) + real_abs(between.y) + real_abs(between.z) + a->half[0] +
                      a->half[1] + a->half[2] + b->half[0] + b->half[1] + b->half[2];
    real found = 0;
    for (int which = 0; which < 2; which++) {
        const struct block_frame *of = which == 0 ? a : b, *other = which == 0 ? b : a;
        real gap = real_abs(point_dot(of->axes[0], between)) - of->half[0];
        for (int axis = 0; axis < 3; axis++)
            gap -= other->half[axis] * real_abs(point_dot(of->axes[0], other->axes[axis]));
        found = gap > found ? gap : found;
    }
    // Beside the rounding of these sums that of directions, which are not quite at right angles.
    return fmax(0, ((double)found - 64 * (double)REAL_EPSILON * (double)size) * (1 - 1e-6));
}
