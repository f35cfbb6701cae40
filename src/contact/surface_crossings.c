// Surfaces that cross each other, or are too near: contact can keep apart only what is apart. Tests at
// the start of a run, in double; `taut check-intersections` is exact.
#include "contact/surface_lists.h"

#include <stdlib.h>

#include "base/memory.h"

struct block_order {
    double least[3], most[3];
    size_t block;
};

static int compare_by_x(const void *a, const void *b)
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

static void find_boxes(const struct system *system, struct block_order *order)
{
    const struct surfaces *surfaces = &system->surface_contact->surfaces;
    for (size_t b = 0; b < surfaces->block_count; b++) {
        const struct surface_block *block = &surfaces->blocks[b];
        order[b] = (struct block_order){
            {INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}, b};
        for (uint32_t i = 0; i < block->nodes; i++) {
            const vec3 p = node_of(system, surfaces->nodes[block->first_node + i]);
            const double at[3] = {p.x, p.y, p.z};
            for (int axis = 0; axis < 3; axis++) {
                order[b].least[axis] = fmin(order[b].least[axis], at[axis]);
                order[b].most[axis] = fmax(order[b].most[axis], at[axis]);
            }
        }
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
    if (!(fmin(at_p, at_q) < -rounded && fmax(at_p, at_q) > rounded))
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
    double largest = 0, edge = 0;
    const vec3 all[6] = {a[0], a[1], a[2], b[0], b[1], b[2]};
    for (int i = 0; i < 6; i++) {
        largest = fmax(largest, fmax(fabs(all[i].x), fmax(fabs(all[i].y), fabs(all[i].z))));
        edge = fmax(edge, vec3_length(vec3_subtract(all[i], all[0])));
    }
    return 8 * epsilon * largest * edge * edge;
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
    const uint8_t *local = surfaces->triangles[block->first_triangle + (uint32_t)index];
    for (int i = 0; i < 3; i++) {
        nodes[i] = surfaces->nodes[block->first_node + local[i]];
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

static bool overlap(const vec3 a[3], const vec3 b[3])
{
    const double first[3][3] = {
        {a[0].x, a[1].x, a[2].x}, {a[0].y, a[1].y, a[2].y}, {a[0].z, a[1].z, a[2].z}};
    const double second[3][3] = {
        {b[0].x, b[1].x, b[2].x}, {b[0].y, b[1].y, b[2].y}, {b[0].z, b[1].z, b[2].z}};
    for (int axis = 0; axis < 3; axis++) {
        const double *p = first[axis], *q = second[axis];
        if (fmax(p[0], fmax(p[1], p[2])) < fmin(q[0], fmin(q[1], q[2])) ||
            fmax(q[0], fmax(q[1], q[2])) < fmin(p[0], fmin(p[1], p[2])))
            return false;
    }
    return true;
}

static void report(const struct surface_block *a, const struct surface_block *b, int count,
                   const uint32_t first[3], const uint32_t second[3], struct surface_parts *found)
{
    *found = (struct surface_parts){{a->body, b->body}, {count, 3}, {{0}}};
    for (int k = 0; k < 3; k++) {
        found->nodes[0][k] = first[k];
        found->nodes[1][k] = second[k];
    }
}

// An edge that is no side of a triangle, as of a rope.
static bool edge_pierces(const struct system *system, const struct surface_block *a, int edge,
                         const struct surface_block *b, struct surface_parts *found)
{
    const struct surfaces *surfaces = &system->surface_contact->surfaces;
    const uint8_t *local = surfaces->edges[a->first_edge + (uint32_t)edge];
    uint32_t nodes[2][3];
    vec3 corners[2][3];
    for (int i = 0; i < 3; i++) {
        nodes[0][i] = surfaces->nodes[a->first_node + local[i > 0]];
        corners[0][i] = node_of(system, nodes[0][i]);
    }
    for (int j = 0; j < b->triangles; j++) {
        triangle_of(system, b, j, nodes[1], corners[1]);
        const double rounded = rounding_of(corners[0], corners[1], state_epsilon(system->state));
        if (share_a_node(nodes[0], nodes[1]) ||
            !pierces(corners[0][0], corners[0][1], corners[1], rounded))
            continue;
        report(a, b, 2, nodes[0], nodes[1], found);
        return true;
    }
    return false;
}

static bool blocks_cross(const struct system *system, size_t one, size_t other,
                         struct surface_parts *found)
{
    const struct surfaces *surfaces = &system->surface_contact->surfaces;
    const struct surface_block *a = &surfaces->blocks[one], *b = &surfaces->blocks[other];
    for (int e = 0; a->triangles == 0 && e < a->edges; e++)
        if (edge_pierces(system, a, e, b, found))
            return true;
    for (int e = 0; b->triangles == 0 && e < b->edges; e++)
        if (edge_pierces(system, b, e, a, found))
            return true;
    for (int i = 0; i < a->triangles; i++) {
        uint32_t nodes[2][3];
        vec3 corners[2][3];
        triangle_of(system, a, i, nodes[0], corners[0]);
        for (int j = one == other ? i + 1 : 0; j < b->triangles; j++) {
            triangle_of(system, b, j, nodes[1], corners[1]);
            if (share_a_node(nodes[0], nodes[1]) || !overlap(corners[0], corners[1]) ||
                !triangles_cross(corners[0], corners[1], state_epsilon(system->state)))
                continue;
            report(a, b, 3, nodes[0], nodes[1], found);
            return true;
        }
    }
    return false;
}

static bool boxes_overlap(const struct block_order *a, const struct block_order *b)
{
    for (int axis = 0; axis < 3; axis++)
        if (a->most[axis] < b->least[axis] || b->most[axis] < a->least[axis])
            return false;
    return true;
}

bool REAL_NAME(surface_contact_crosses)(struct system *system, struct surface_parts *found,
                                        bool *no_memory)
{
    const struct surface_contact *it = system->surface_contact;
    *no_memory = false;
    if (!it || it->surfaces.block_count == 0)
        return false;
    const size_t count = it->surfaces.block_count;
    struct block_order *order = memory_allocate(NULL, count, sizeof *order);
    *no_memory = !order;
    if (!order)
        return false;
    find_boxes(system, order);
    qsort(order, count, sizeof *order, compare_by_x);
    bool crosses = false;
    for (size_t i = 0; i < count && !crosses; i++)
        for (size_t j = i; j < count && order[j].least[0] <= order[i].most[0] && !crosses; j++) {
            const uint32_t a = it->surfaces.blocks[order[i].block].body,
                           b = it->surfaces.blocks[order[j].block].body;
            crosses = it->enabled[a * it->body_count + b] && boxes_overlap(&order[i], &order[j]) &&
                      blocks_cross(system, order[i].block, order[j].block, found);
        }
    memory_release(NULL, order, count, sizeof *order);
    return crosses;
}

double REAL_NAME(surface_contact_nearest)(const struct system *system, struct surface_parts *found)
{
    const struct surface_contact *it = system->surface_contact;
    double nearest = INFINITY;
    for (size_t i = 0; it && i < it->broad->list_count; i++)
        for (size_t p = 0; p < it->broad->lists[i].pair_count; p++) {
            const struct block_pair *pair = &it->broad->lists[i].pairs[p];
            const struct surface_block *const blocks[2] = {&it->surfaces.blocks[pair->a],
                                                           &it->surfaces.blocks[pair->b]};
            const double thickness = thickness_between(it, blocks[0]->body, blocks[1]->body);
            struct candidate_walk walk = candidates_of(it, &it->broad->lists[i], pair);
            struct candidate candidate;
            while (candidate_next(&walk, &candidate)) {
                uint32_t nodes[4];
                struct point at[4];
                candidate_nodes(&walk, &candidate, nodes);
                for (int k = 0; k < 4; k++)
                    at[k] = state_point(system->state, nodes[k]);
                real parallel;
                const double distance =
                    sqrt((double)closest_of(&candidate, at, &parallel).square) / thickness;
                if (!(distance < nearest))
                    continue;
                nearest = distance;
                const int count = candidate.edges ? 2 : 1;
                *found = (struct surface_parts){
                    {blocks[candidate.side[0]]->body, blocks[candidate.side[3]]->body},
                    {count, 4 - count},
                    {{0}}};
                for (int k = 0; k < 4; k++)
                    found->nodes[k >= count][k >= count ? k - count : k] = nodes[k];
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
            const uint8_t *ends = surfaces->edges[block->first_edge + e];
            const double *p = system->topology->built[surfaces->nodes[block->first_node + ends[0]]],
                         *q = system->topology->built[surfaces->nodes[block->first_node + ends[1]]];
            sum += sqrt((p[0] - q[0]) * (p[0] - q[0]) + (p[1] - q[1]) * (p[1] - q[1]) +
                        (p[2] - q[2]) * (p[2] - q[2]));
            count++;
        }
    }
    return count > 0 ? sum / (double)count : INFINITY;
}
