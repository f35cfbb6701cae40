// The kernel of membranes of triangles, compiled for each instruction set by kernels/table.h. The
// triangles of a block are computed some at once: positions are gathered, the loops over the
// triangles are plain, so that compilers vectorise them and every number is computed by the same
// operations on every instruction set, and the forces are added one triangle after the other.
#include "elements/elements.h"
#include "simd/wide.h"

enum { TRIANGLES_AT_ONCE = 16 };

typedef real triangle_lanes[TRIANGLES_AT_ONCE];

// One vector per triangle.
struct triangle_vectors {
    _Alignas(64) triangle_lanes axis[3];
};

// The nodes at each corner of the triangles of a batch; those beyond its end repeat the last one.
struct triangle_nodes {
    _Alignas(64) uint32_t corner[3][TRIANGLES_AT_ONCE];
    int count;
};

static inline void triangle_find_nodes(const uint32_t (*nodes)[3], size_t left,
                                       struct triangle_nodes *to)
{
    to->count = left < TRIANGLES_AT_ONCE ? (int)left : TRIANGLES_AT_ONCE;
    for (int lane = 0; lane < TRIANGLES_AT_ONCE; lane++)
        for (int corner = 0; corner < 3; corner++)
            to->corner[corner][lane] = nodes[lane < to->count ? lane : to->count - 1][corner];
}

// Differences of the present edges: edge i goes from corner i + 1 to corner i + 2. `low`: the low
// parts of positions in mixed precision, or NULLs.
static inline void triangle_edges(const real *const from[3], const real *const low[3],
                                  const struct triangle_nodes *nodes,
                                  struct triangle_vectors edges[3])
{
    for (int axis = 0; axis < 3; axis++) {
        const real *x = from[axis], *rest = low[axis];
        for (int lane = 0; lane < TRIANGLES_AT_ONCE; lane++) {
            const real a = x[nodes->corner[0][lane]], b = x[nodes->corner[1][lane]],
                       c = x[nodes->corner[2][lane]];
            edges[0].axis[axis][lane] = c - b;
            edges[1].axis[axis][lane] = a - c;
            edges[2].axis[axis][lane] = b - a;
        }
        for (int lane = 0; rest && lane < TRIANGLES_AT_ONCE; lane++) {
            const real a = rest[nodes->corner[0][lane]], b = rest[nodes->corner[1][lane]],
                       c = rest[nodes->corner[2][lane]];
            edges[0].axis[axis][lane] += c - b;
            edges[1].axis[axis][lane] += a - c;
            edges[2].axis[axis][lane] += b - a;
        }
    }
}

// to := a.b
static inline void triangle_dots(const struct triangle_vectors *a, const struct triangle_vectors *b,
                                 real *restrict to)
{
    for (int lane = 0; lane < TRIANGLES_AT_ONCE; lane++)
        to[lane] = a->axis[0][lane] * b->axis[0][lane] + a->axis[1][lane] * b->axis[1][lane] +
                   a->axis[2][lane] * b->axis[2][lane];
}

// The constants of the triangles of a batch.
struct triangle_batch {
    _Alignas(64) triangle_lanes square[3];
    _Alignas(64) triangle_lanes weight[3];
    _Alignas(64) triangle_lanes shear;
    _Alignas(64) triangle_lanes time;
};

static inline void triangle_constants(const struct element_triangles *triangles, size_t first,
                                      int count, struct triangle_batch *batch)
{
    triangle_lanes *const to[TRIANGLE_COLUMNS] = {
        &batch->square[0], &batch->square[1], &batch->square[2], &batch->weight[0],
        &batch->weight[1], &batch->weight[2], &batch->shear,     &batch->time};
    for (int column = 0; column < TRIANGLE_COLUMNS; column++) {
        const real *numbers = triangles->numbers + (size_t)column * triangles->count + first;
        for (int lane = 0; lane < TRIANGLES_AT_ONCE; lane++)
            (*to[column])[lane] = numbers[lane < count ? lane : count - 1];
    }
}

// tensions := dE/dd for the excesses d (triangle_tensions of elements.h).
static inline void triangle_stresses(const struct triangle_batch *batch, triangle_lanes d[3],
                                     triangle_lanes tensions[3])
{
    for (int lane = 0; lane < TRIANGLES_AT_ONCE; lane++) {
        const real d0 = d[0][lane], d1 = d[1][lane], d2 = d[2][lane];
        const real trace =
            batch->weight[0][lane] * d0 + batch->weight[1][lane] * d1 + batch->weight[2][lane] * d2;
        const real sum = d0 + d1 + d2, shear = batch->shear[lane];
        tensions[0][lane] = batch->weight[0][lane] * trace - shear * (sum - 2 * d0);
        tensions[1][lane] = batch->weight[1][lane] * trace - shear * (sum - 2 * d1);
        tensions[2][lane] = batch->weight[2][lane] * trace - shear * (sum - 2 * d2);
    }
}

// The rates of the excesses; adds `time` times them to d. Adds the power of the damping to the
// sums of the lanes.
static inline void triangle_damp(const struct state *s, const struct triangle_batch *batch,
                                 const struct triangle_vectors edges[3],
                                 const struct triangle_nodes *nodes, triangle_lanes d[3],
                                 double *powers)
{
    const real *const v[3] = {s->vx, s->vy, s->vz}, *const none[3] = {NULL, NULL, NULL};
    struct triangle_vectors moving[3];
    _Alignas(64) triangle_lanes rates[3];
    triangle_edges(v, none, nodes, moving);
    for (int i = 0; i < 3; i++) {
        triangle_dots(&edges[i], &moving[i], rates[i]);
        for (int lane = 0; lane < TRIANGLES_AT_ONCE; lane++)
            rates[i][lane] *= 2;
        for (int lane = 0; lane < TRIANGLES_AT_ONCE; lane++)
            d[i][lane] += batch->time[lane] * rates[i][lane];
    }
    if (!powers)
        return;
    _Alignas(64) triangle_lanes tensions[3];
    triangle_stresses(batch, rates, tensions);
    for (int i = 0; i < 3; i++)
        for (int lane = 0; lane < nodes->count; lane++)
            powers[lane] += (double)(batch->time[lane] * tensions[i][lane] * rates[i][lane]);
}

// Corner j is the end of edge j + 1 and the start of edge j + 2.
static inline void triangle_scatter(real *force, const struct triangle_vectors edges[3],
                                    triangle_lanes tensions[3], int axis,
                                    const struct triangle_nodes *nodes)
{
    _Alignas(64) triangle_lanes pull[3], corner[3];
    for (int i = 0; i < 3; i++)
        for (int lane = 0; lane < TRIANGLES_AT_ONCE; lane++)
            pull[i][lane] = 2 * (tensions[i][lane] * edges[i].axis[axis][lane]);
    for (int i = 0; i < 3; i++)
        for (int lane = 0; lane < TRIANGLES_AT_ONCE; lane++)
            corner[i][lane] = pull[(i + 2) % 3][lane] - pull[(i + 1) % 3][lane];
    for (int lane = 0; lane < nodes->count; lane++)
        for (int i = 0; i < 3; i++)
            force[nodes->corner[i][lane]] += corner[i][lane];
}

static double element_triangles(const struct system *system, struct range range, bool power)
{
    const struct element_triangles *triangles = &system->elements->triangles;
    const struct state *s = system->state;
    const real *const x[3] = {s->x, s->y, s->z};
    const real *const low[3] = {s->x_low, s->y_low, s->z_low};
    double powers[TRIANGLES_AT_ONCE] = {0}, sum = 0;
    for (size_t first = range.first; first < range.end; first += TRIANGLES_AT_ONCE) {
        struct triangle_nodes nodes;
        struct triangle_batch batch;
        struct triangle_vectors edges[3];
        _Alignas(64) triangle_lanes excess[3], tensions[3];
        triangle_find_nodes((const uint32_t(*)[3])(triangles->nodes + first), range.end - first,
                            &nodes);
        triangle_constants(triangles, first, nodes.count, &batch);
        triangle_edges(x, low, &nodes, edges);
        for (int i = 0; i < 3; i++) {
            triangle_dots(&edges[i], &edges[i], excess[i]);
            for (int lane = 0; lane < TRIANGLES_AT_ONCE; lane++)
                excess[i][lane] -= batch.square[i][lane];
        }
        if (triangles->damped)
            triangle_damp(s, &batch, edges, &nodes, excess, power ? powers : NULL);
        triangle_stresses(&batch, excess, tensions);
        triangle_scatter(s->fx, edges, tensions, 0, &nodes);
        triangle_scatter(s->fy, edges, tensions, 1, &nodes);
        triangle_scatter(s->fz, edges, tensions, 2, &nodes);
    }
    for (int lane = 0; lane < TRIANGLES_AT_ONCE; lane++)
        sum += powers[lane];
    return sum;
}
