// Surfaces that cross each other, or are too near: contact can keep apart only what is apart. Tests
// at the start of a run, in double; `taut check-intersections` is exact.
#include "contact/surface_lists.h"

#include <assert.h>
#include <stdlib.h>

#include "base/memory.h"

struct block_order {
    double least[3], most[3];
    size_t block;
};

// By the first coordinate of their boxes, which find_boxes has made that of the longest axis.
static int compare_first(const void *a, const void *b)
{
    const struct block_order *one = a, *other = b;
    if (one->least[0] != other->least[0])
        return one->least[0] < other->least[0] ? -1 : 1;
    return one->block < other->block ? -1 : one->block > other->block;
}

static vec3 node_of(const struct system *system, uint32_t node)
{
    return state_position(system->state, node);
}

// Coordinates are finite: unlike fmin and fmax, these are a single instruction.
static double lesser(double a, double b)
{
    return a < b ? a : b;
}

static double greater(double a, double b)
{
    return a > b ? a : b;
}

static double extent(const struct block_order *order, size_t count, int axis)
{
    double least = INFINITY, most = -INFINITY;
    for (size_t b = 0; b < count; b++) {
        least = lesser(least, order[b].least[axis]);
        most = greater(most, order[b].most[axis]);
    }
    return most - least;
}

static void exchange(double *a, double *b)
{
    const double first = *a;
    *a = *b;
    *b = first;
}

// The boxes of all blocks, along whose longest axis few overlap: it is put first.
static void find_boxes(const struct system *system, struct block_order *order)
{
    const struct surfaces *surfaces = &system->surface_contact->surfaces;
    const size_t count = surfaces->block_count;
    for (size_t b = 0; b < count; b++) {
        const struct surface_block *block = &surfaces->blocks[b];
        order[b] = (struct block_order){
            {INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}, b};
        for (uint32_t i = 0; i < block->nodes; i++) {
            const vec3 p = node_of(system, surfaces->nodes[block->first_node + i]);
            const double at[3] = {p.x, p.y, p.z};
            for (int axis = 0; axis < 3; axis++) {
                order[b].least[axis] = lesser(order[b].least[axis], at[axis]);
                order[b].most[axis] = greater(order[b].most[axis], at[axis]);
            }
        }
    }
    int longest = 0;
    for (int axis = 1; axis < 3; axis++)
        if (extent(order, count, axis) > extent(order, count, longest))
            longest = axis;
    for (size_t b = 0; b < count; b++) {
        exchange(&order[b].least[0], &order[b].least[longest]);
        exchange(&order[b].most[0], &order[b].most[longest]);
    }
}

// Six times the signed volume of a tetrahedron.
static double side_of(vec3 a, vec3 b, vec3 c, vec3 p)
{
    const vec3 u = vec3_subtract(b, a), v = vec3_subtract(c, a), w = vec3_subtract(p, a);
    return vec3_dot(vec3_cross(u, v), w);
}

// Whether the line from p to q passes through the inside of the triangle. Volumes below `rounded`
// are rounding errors: triangles of a flat surface are in one plane only up to those.
static bool pierces(vec3 p, vec3 q, const vec3 t[3], double rounded)
{
    const double at_p = side_of(t[0], t[1], t[2], p), at_q = side_of(t[0], t[1], t[2], q);
    if (!(lesser(at_p, at_q) < -rounded && greater(at_p, at_q) > rounded))
        return false;
    const double ab = side_of(p, q, t[0], t[1]), bc = side_of(p, q, t[1], t[2]),
                 ca = side_of(p, q, t[2], t[0]);
    return (ab > rounded && bc > rounded && ca > rounded) ||
           (ab < -rounded && bc < -rounded && ca < -rounded);
}

// Six times the volume by which coordinates rounded to `epsilon` of the largest one change a
// tetrahedron of four of the corners.
static double rounding_of(const vec3 a[3], const vec3 b[3], double epsilon)
{
    double largest = 0, edge_square = 0;
    const vec3 all[6] = {a[0], a[1], a[2], b[0], b[1], b[2]};
    for (int i = 0; i < 6; i++) {
        largest =
            greater(largest, greater(fabs(all[i].x), greater(fabs(all[i].y), fabs(all[i].z))));
        const vec3 along = vec3_subtract(all[i], all[0]);
        edge_square = greater(edge_square, vec3_dot(along, along));
    }
    return 8 * epsilon * largest * edge_square;
}

static bool triangles_cross(const vec3 a[3], const vec3 b[3], double epsilon)
{
    const double rounded = rounding_of(a, b, epsilon);
    for (int i = 0; i < 3; i++)
        if (pierces(a[i], a[(i + 1) % 3], b, rounded) || pierces(b[i], b[(i + 1) % 3], a, rounded))
            return true;
    return false;
}

static void triangle_of(const struct system *system, const struct surface_block *block, int index,
                        uint32_t nodes[3], vec3 corners[3])
{
    const struct surfaces *surfaces = &system->surface_contact->surfaces;
    for (int i = 0; i < 3; i++) {
        nodes[i] = triangle_node(surfaces, block, (size_t)index, i);
        corners[i] = node_of(system, nodes[i]);
    }
}

static bool share_a_node(const uint32_t a[3], const uint32_t b[3])
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            if (a[i] == b[j])
                return true;
    return false;
}

// The triangles of a block, with their boxes in rows, and the box of all: least x, y, z, most x, y,
// z.
struct block_triangles {
    int count;
    uint32_t nodes[SURFACE_TRIANGLES][3];
    vec3 corners[SURFACE_TRIANGLES][3];
    double boxes[6][SURFACE_TRIANGLES], box[6];
};

static void triangles_of(const struct system *system, const struct surface_block *block,
                         struct block_triangles *result)
{
    result->count = block->triangles;
    for (int row = 0; row < 6; row++)
        result->box[row] = row < 3 ? INFINITY : -INFINITY;
    for (int t = 0; t < result->count; t++) {
        triangle_of(system, block, t, result->nodes[t], result->corners[t]);
        const vec3 *c = result->corners[t];
        const double by_axis[3][3] = {
            {c[0].x, c[1].x, c[2].x}, {c[0].y, c[1].y, c[2].y}, {c[0].z, c[1].z, c[2].z}};
        for (int axis = 0; axis < 3; axis++) {
            const double *at = by_axis[axis];
            result->boxes[axis][t] = lesser(at[0], lesser(at[1], at[2]));
            result->boxes[axis + 3][t] = greater(at[0], greater(at[1], at[2]));
            result->box[axis] = lesser(result->box[axis], result->boxes[axis][t]);
            result->box[axis + 3] = greater(result->box[axis + 3], result->boxes[axis + 3][t]);
        }
    }
}

// overlaps[j]: whether the box of triangle i of `a` and that of triangle j of `b` have a point in
// common. Returns false if none has.
static bool find_overlaps(const struct block_triangles *a, int i, const struct block_triangles *b,
                          uint8_t overlaps[SURFACE_TRIANGLES])
{
    double box[6];
    for (int row = 0; row < 6; row++)
        box[row] = a->boxes[row][i];
    for (int axis = 0; axis < 3; axis++)
        if (b->box[axis] > box[axis + 3] || box[axis] > b->box[axis + 3])
            return false;
    for (int j = 0; j < b->count; j++)
        overlaps[j] = (uint8_t)((b->boxes[0][j] <= box[3]) & (b->boxes[1][j] <= box[4]) &
                                (b->boxes[2][j] <= box[5]) & (box[0] <= b->boxes[3][j]) &
                                (box[1] <= b->boxes[4][j]) & (box[2] <= b->boxes[5][j]));
    return true;
}

// Whom each crossing is reported to.
struct report {
    crossing_visitor *visit;
    void *context;
};

// False to end the search.
static bool report_parts(const struct report *report, const struct surface_block *a,
                         const struct surface_block *b, int count, const uint32_t first[3],
                         const uint32_t second[3])
{
    struct surface_parts found = {{a->body, b->body}, {count, 3}, {{0}}};
    for (int k = 0; k < 3; k++) {
        found.nodes[0][k] = first[k];
        found.nodes[1][k] = second[k];
    }
    return report->visit(report->context, &found);
}

// An edge that is no side of a triangle, as of a rope, and the triangles of block b. These
// functions return false to end the search.
static bool visit_edge(const struct system *system, const struct surface_block *a, int edge,
                       const struct surface_block *b, const struct report *report)
{
    const struct surfaces *surfaces = &system->surface_contact->surfaces;
    uint32_t nodes[2][3];
    vec3 corners[2][3];
    for (int i = 0; i < 3; i++) {
        nodes[0][i] = edge_node(surfaces, a, (size_t)edge, i > 0);
        corners[0][i] = node_of(system, nodes[0][i]);
    }
    for (int j = 0; j < b->triangles; j++) {
        triangle_of(system, b, j, nodes[1], corners[1]);
        const double rounded = rounding_of(corners[0], corners[1], state_epsilon(system->state));
        if (share_a_node(nodes[0], nodes[1]) ||
            !pierces(corners[0][0], corners[0][1], corners[1], rounded))
            continue;
        if (!report_parts(report, a, b, 2, nodes[0], nodes[1]))
            return false;
    }
    return true;
}

static bool visit_triangles(const struct system *system, size_t one,
                            const struct block_triangles *first, size_t other,
                            const struct report *report)
{
    const struct surface_block *blocks = system->surface_contact->surfaces.blocks;
    struct block_triangles of_other;
    const struct block_triangles *second = first;
    if (other != one) {
        triangles_of(system, &blocks[other], &of_other);
        second = &of_other;
    }
    const double epsilon = state_epsilon(system->state);
    for (int i = 0; i < first->count; i++) {
        uint8_t overlaps[SURFACE_TRIANGLES];
        if (!find_overlaps(first, i, second, overlaps))
            continue;
        for (int j = one == other ? i + 1 : 0; j < second->count; j++) {
            if (!overlaps[j] || share_a_node(first->nodes[i], second->nodes[j]) ||
                !triangles_cross(first->corners[i], second->corners[j], epsilon))
                continue;
            if (!report_parts(report, &blocks[one], &blocks[other], 3, first->nodes[i],
                              second->nodes[j]))
                return false;
        }
    }
    return true;
}

// `first`: the triangles of block `one`.
static bool visit_blocks(const struct system *system, size_t one,
                         const struct block_triangles *first, size_t other,
                         const struct report *report)
{
    const struct surface_block *blocks = system->surface_contact->surfaces.blocks;
    const struct surface_block *a = &blocks[one], *b = &blocks[other];
    for (int e = 0; a->triangles == 0 && e < a->edges; e++)
        if (!visit_edge(system, a, e, b, report))
            return false;
    for (int e = 0; b->triangles == 0 && e < b->edges; e++)
        if (!visit_edge(system, b, e, a, report))
            return false;
    return a->triangles == 0 || b->triangles == 0 ||
           visit_triangles(system, one, first, other, report);
}

static bool boxes_overlap(const struct block_order *a, const struct block_order *b)
{
    for (int axis = 0; axis < 3; axis++)
        if (a->most[axis] < b->least[axis] || b->most[axis] < a->least[axis])
            return false;
    return true;
}

bool REAL_NAME(surface_crossings_visit)(const struct system *system, crossing_visitor *visit,
                                        void *context)
{
    const struct surface_contact *it = system->surface_contact;
    if (!it || it->surfaces.block_count == 0)
        return true;
    const size_t count = it->surfaces.block_count;
    const struct report report = {visit, context};
    struct block_order *order = memory_allocate(NULL, count, sizeof *order);
    if (!order)
        return false;
    find_boxes(system, order);
    qsort(order, count, sizeof *order, compare_first);
    bool more = true;
    for (size_t i = 0; i < count && more; i++) {
        struct block_triangles triangles;
        triangles_of(system, &it->surfaces.blocks[order[i].block], &triangles);
        for (size_t j = i; j < count && order[j].least[0] <= order[i].most[0] && more; j++) {
            const uint32_t a = it->surfaces.blocks[order[i].block].body,
                           b = it->surfaces.blocks[order[j].block].body;
            if (it->enabled[a * it->body_count + b] && boxes_overlap(&order[i], &order[j]))
                more = visit_blocks(system, order[i].block, &triangles, order[j].block, &report);
        }
    }
    memory_release(NULL, order, count, sizeof *order);
    return true;
}

struct first_crossing {
    struct surface_parts *found;
    bool any;
};

static bool keep_first(void *context, const struct surface_parts *parts)
{
    struct first_crossing *first = context;
    *first->found = *parts;
    first->any = true;
    return false;
}

bool REAL_NAME(surface_contact_crosses)(struct system *system, struct surface_parts *found,
                                        bool *no_memory)
{
    struct first_crossing first = {found, false};
    *no_memory = !REAL_NAME(surface_crossings_visit)(system, keep_first, &first);
    return first.any;
}

// J, of the barriers of a candidate; *square becomes that of its least distance, m2.
static double energy_of_candidate(const struct candidate *found, const struct point at[4],
                                  const struct barrier *barrier, real *square)
{
    if (found->bare) {
        const struct edge_contacts contacts = find_edge_contacts(at);
        double energy = 0;
        for (int i = 0; i < contacts.count; i++)
            if (edges_touch(&contacts.closest[i], barrier))
                energy += (double)(contacts.weights[i] *
                                   barrier_energy(barrier, real_sqrt(contacts.closest[i].square)));
        *square = contacts.least;
        return energy;
    }
    real parallel, slope;
    *square = closest_of(found, at, &parallel).square;
    if (!(*square < barrier->reach * barrier->reach))
        return 0;
    return (double)(parallel < EDGES_PARALLEL ? edges_weight(parallel, &slope) : 1) *
           (double)barrier_energy(barrier, real_sqrt(*square));
}

struct surface_nearest REAL_NAME(surface_contact_nearest)(const struct system *system)
{
    struct surface_contact *it = system->surface_contact;
    struct pair_finder finder;
    struct surface_nearest nearest = {.part = INFINITY};
    if (!it || !it->start_known)
        return nearest;
    assert(!it->partial); // it is asked for before steps, and between those of one process
    REAL_NAME(pair_finder_begin)(&finder, it->broad, &it->rules);
    REAL_NAME(surface_steps_find)(system, (struct range){0, it->surfaces.block_count});
    for (size_t i = 0; i < it->broad->list_count; i++)
        for (size_t p = 0; p < it->lists[i].pair_count && !it->lists[i].sleeps; p++) {
            const struct block_pair *pair = &it->lists[i].pairs[p].pair;
            const struct surface_block *const blocks[2] = {&it->surfaces.blocks[pair->a],
                                                           &it->surfaces.blocks[pair->b]};
            const double thickness = thickness_between(it, blocks[0]->body, blocks[1]->body);
            const struct barrier barrier =
                barrier_between(system, blocks[0]->body, blocks[1]->body);
            if (!REAL_NAME(surface_pair_list)(it, &finder, i, p,
                                              1.75 * thickness + pair_displacement(it, pair)))
                atomic_store(&it->failed, true); // no memory: the run ends
            struct candidate_walk walk =
                candidates_of(it, pair, listed_codes(&it->lists[i], &it->lists[i].pairs[p]));
            struct candidate candidate;
            while (candidate_next(&walk, &candidate)) {
                uint32_t nodes[4];
                struct point at[4];
                candidate_nodes(&walk, &candidate, nodes);
                for (int k = 0; k < 4; k++)
                    at[k] = state_point(system->state, nodes[k]);
                real square;
                nearest.energy += energy_of_candidate(&candidate, at, &barrier, &square);
                const double distance = sqrt((double)square) / thickness;
                nearest.pressed += distance <= SURFACES_PRESSED;
                if (!(distance < nearest.part))
                    continue;
                nearest.part = distance;
                const int count = candidate.edges ? 2 : 1;
                nearest.parts = (struct surface_parts){
                    {blocks[candidate.side[0]]->body, blocks[candidate.side[3]]->body},
                    {count, 4 - count},
                    {{0}}};
                for (int k = 0; k < 4; k++)
                    nearest.parts.nodes[k >= count][k >= count ? k - count : k] = nodes[k];
            }
        }
    return nearest;
}

double REAL_NAME(surface_contact_edge)(const struct system *system, size_t body)
{
    const struct surfaces *surfaces = &system->surface_contact->surfaces;
    double sum = 0;
    uint64_t count = 0;
    for (size_t b = 0; b < surfaces->block_count; b++) {
        const struct surface_block *block = &surfaces->blocks[b];
        if (block->body != body)
            continue;
        for (uint32_t e = 0; e < block->edges; e++) {
            const double *p = system->topology->built[edge_node(surfaces, block, e, 0)],
                         *q = system->topology->built[edge_node(surfaces, block, e, 1)];
            sum += sqrt((p[0] - q[0]) * (p[0] - q[0]) + (p[1] - q[1]) * (p[1] - q[1]) +
                        (p[2] - q[2]) * (p[2] - q[2]));
            count++;
        }
    }
    return count > 0 ? sum / (double)count : INFINITY;
}

static struct point built_from(const struct system *system, uint32_t node, const vec3 *from)
{
    const double *p = system->topology->built[node];
    return (struct point){(real)(p[0] - from->x), (real)(p[1] - from->y), (real)(p[2] - from->z)};
}

// Whether an edge at one corner of a triangle comes nearer as built to the side opposite than the
// corner itself does, and than `distance`: the diagonals of two faces of a cube beside each other
// are nearer than the height of half a face. Only edges of the same block are looked at.
static bool has_edge_across(const struct system *system, const struct surface_block *block,
                            uint32_t triangle, double distance)
{
    const struct surfaces *surfaces = &system->surface_contact->surfaces;
    uint32_t corners[3];
    for (int i = 0; i < 3; i++)
        corners[i] = triangle_node(surfaces, block, triangle, i);
    const double *first = system->topology->built[corners[0]];
    const vec3 from = {first[0], first[1], first[2]};
    for (uint32_t e = 0; e < block->edges; e++) {
        const uint32_t ends[2] = {edge_node(surfaces, block, e, 0),
                                  edge_node(surfaces, block, e, 1)};
        for (int i = 0; i < 3; i++) {
            const uint32_t a = corners[(i + 1) % 3], b = corners[(i + 2) % 3];
            const uint32_t other = ends[ends[0] == corners[i]];
            if ((ends[0] != corners[i] && ends[1] != corners[i]) || other == a || other == b)
                continue;
            real parallel;
            const struct closest found = closest_on_edges(
                built_from(system, ends[0], &from), built_from(system, ends[1], &from),
                built_from(system, a, &from), built_from(system, b, &from), &parallel);
            if ((double)found.square < distance * distance)
                return true;
        }
    }
    return false;
}

struct surface_triangles REAL_NAME(surface_contact_triangles)(const struct system *system,
                                                              size_t body, double height)
{
    const struct surface_contact *it = system->surface_contact;
    const struct surfaces *surfaces = &it->surfaces;
    struct surface_triangles found = {0, 0};
    const bool is_flat = system->topology->bodies[body].is_sheet; // as built
    if (!it->enabled[body * it->body_count + body])
        return found;
    for (size_t b = 0; b < surfaces->block_count; b++) {
        const struct surface_block *block = &surfaces->blocks[b];
        for (uint32_t t = 0; block->body == body && t < block->triangles; t++) {
            vec3 at[3];
            double longest;
            for (int i = 0; i < 3; i++) {
                const double *p = system->topology->built[triangle_node(surfaces, block, t, i)];
                at[i] = vec3_make(p[0], p[1], p[2]);
            }
            found.all++;
            found.lower += triangle_height(at, &longest) < height ||
                           (!is_flat && has_edge_across(system, block, t, height));
        }
    }
    return found;
}
