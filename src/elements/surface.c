// Implements surface.h.
#include "elements/surface.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/sort.h"

// The cosine of the dihedral angle at which an edge still counts as flat: 1e-3 rad.
static const double FLAT_COSINE = 1 - 5e-7;

// ---- Edges, sorted

// An edge among those with the same lower node.
struct higher {
    uint32_t node, edge;
};

static int compare_higher(const void *first, const void *second)
{
    const struct higher *a = first, *b = second;
    if (a->node != b->node)
        return a->node < b->node ? -1 : 1;
    return (a->edge > b->edge) - (a->edge < b->edge);
}

// The edges of some triangles with their lower nodes in a range.
struct edges {
    struct range nodes;
    uint64_t *starts;     // of each of these nodes where its edges begin
    struct higher *items; // by their lower nodes, then as compare_higher
    size_t count;         // and space
};

// Calls `take` for each edge of the listed triangles that has its lower node in the range.
typedef void (*edge_take)(struct edges *edges, uint32_t lower, uint32_t higher, uint32_t edge);

static void take_edges(const struct bending_surface *surface, struct edges *edges, edge_take take)
{
    const struct topology *topology = surface->topology;
    const struct topology_body *body = NULL;
    for (size_t index = 0; index < surface->count; index++) {
        const uint32_t number = surface_number(surface, index);
        if (!body || number - body->first_triangle >= body->face_count)
            body = topology_body_of_triangle(topology, number);
        const uint32_t *nodes = topology_triangle(topology, body, number);
        for (uint32_t i = 0; i < 3; i++) {
            const uint32_t a = nodes[(i + 1) % 3], b = nodes[(i + 2) % 3];
            const uint32_t lower = a < b ? a : b;
            if (range_has(edges->nodes, lower))
                take(edges, lower - (uint32_t)edges->nodes.first, a < b ? b : a,
                     3 * (uint32_t)index + i);
        }
    }
}

static void count_edge(struct edges *edges, uint32_t lower, uint32_t higher, uint32_t edge)
{
    (void)higher, (void)edge;
    edges->starts[lower + 1]++;
    edges->count++;
}

static void put_edge(struct edges *edges, uint32_t lower, uint32_t higher, uint32_t edge)
{
    edges->items[edges->starts[lower + 1]++] = (struct higher){higher, edge};
}

static void edges_free(struct edges *edges)
{
    memory_release(NULL, edges->starts, edges->nodes.end - edges->nodes.first + 1,
                   sizeof *edges->starts);
    memory_release(NULL, edges->items, edges->count, sizeof *edges->items);
}

static bool edges_make(const struct bending_surface *surface, struct range nodes,
                       struct edges *edges)
{
    const size_t node_count = nodes.end - nodes.first;
    *edges = (struct edges){.nodes = nodes,
                            .starts = memory_allocate(NULL, node_count + 1, sizeof *edges->starts)};
    if (!edges->starts)
        return false;
    take_edges(surface, edges, count_edge);
    edges->items = memory_allocate(NULL, edges->count, sizeof *edges->items);
    if (!edges->items)
        return false;
    counting_sort_starts(edges->starts, node_count);
    take_edges(surface, edges, put_edge);
    for (size_t node = 0; node < node_count; node++) {
        const size_t count = (size_t)(edges->starts[node + 1] - edges->starts[node]);
        if (count > 1)
            qsort(edges->items + edges->starts[node], count, sizeof *edges->items, compare_higher);
    }
    return true;
}

// ---- Pairs

// Visits the pairs of listed triangles, by their indices, with their lower nodes in a range.
static bool visit_window(const struct bending_surface *surface, struct range nodes,
                         edge_pair_visit visit, void *context)
{
    struct edges edges;
    const bool made = edges_make(surface, nodes, &edges);
    for (size_t node = nodes.first; made && node < nodes.end; node++) {
        const struct higher *items = edges.items + edges.starts[node - nodes.first];
        const size_t count =
            (size_t)(edges.starts[node - nodes.first + 1] - edges.starts[node - nodes.first]);
        for (size_t first = 0, end; first < count; first = end) {
            for (end = first + 1; end < count && items[end].node == items[first].node;)
                end++;
            if (end - first == 2)
                visit(context, &(struct edge_pair){(uint32_t)node,
                                                   {items[first].edge, items[first + 1].edge}});
        }
    }
    edges_free(&edges);
    return made;
}

bool visit_edge_pairs(const struct topology *topology, size_t windows, edge_pair_visit visit,
                      void *context)
{
    const struct bending_surface all = {.topology = topology,
                                        .count = (size_t)topology->triangle_count};
    const size_t nodes = (size_t)topology->node_count, length = nodes / windows + 1;
    bool visited = true;
    for (size_t first = 0; visited && first < nodes; first += length)
        visited = visit_window(&all, (struct range){first, (size_t)min_u64(first + length, nodes)},
                               visit, context);
    return visited;
}

// ---- Curvature

struct curving {
    struct bending_surface all;
    uint8_t *curved;
};

// Whether two triangles lie in one plane, on both sides of their edge.
static bool is_flat(const struct bending_surface *surface, uint32_t a, uint32_t b)
{
    const struct triangle_rest first = topology_triangle_rest(surface->topology, a / 3),
                               second = topology_triangle_rest(surface->topology, b / 3);
    const double cosine = vec3_dot(first.normal, second.normal);
    const bool turned = surface_corners(surface, a / 3)[(a + 1) % 3] ==
                        surface_corners(surface, b / 3)[(b + 1) % 3];
    return (turned ? -cosine : cosine) > FLAT_COSINE;
}

static void mark_curved(void *context, const struct edge_pair *pair)
{
    const struct curving *it = context;
    if (!is_flat(&it->all, pair->edges[0], pair->edges[1]))
        it->curved[pair->edges[0] / 3] = it->curved[pair->edges[1] / 3] = 1;
}

bool bending_surface_find_curved(const struct topology *topology, size_t windows, uint8_t *curved)
{
    struct curving it = {{.topology = topology, .count = (size_t)topology->triangle_count}, curved};
    return visit_edge_pairs(topology, windows, mark_curved, &it);
}

// ---- The triangles around some nodes

enum { RINGS = 2, FAR_AWAY };

// How many triangles each node is away from those in the range, up to RINGS; FAR_AWAY: more.
static uint8_t *find_rings(const struct topology *topology, struct range around)
{
    const size_t nodes = (size_t)topology->node_count;
    const struct bending_surface all = {.topology = topology};
    uint8_t *rings = memory_allocate(NULL, nodes, sizeof *rings);
    if (!rings)
        return NULL;
    for (size_t node = 0; node < nodes; node++)
        rings[node] = range_has(around, node) ? 0 : FAR_AWAY;
    for (int ring = 1; ring <= RINGS; ring++)
        for (size_t t = 0; t < topology->triangle_count; t++) {
            const uint32_t *at = surface_corners(&all, t);
            if (rings[at[0]] < ring || rings[at[1]] < ring || rings[at[2]] < ring)
                for (int corner = 0; corner < 3; corner++)
                    rings[at[corner]] = (uint8_t)min_u64(rings[at[corner]], (uint64_t)ring);
        }
    return rings;
}

// Lists the triangles with a node that is not far away; *nodes: the span of theirs.
static bool list_triangles(const uint8_t *rings, struct bending_surface *surface,
                           struct range *nodes)
{
    const size_t all = (size_t)surface->topology->triangle_count;
    const struct bending_surface whole = {.topology = surface->topology};
    *nodes = (struct range){SIZE_MAX, 0};
    for (int pass = 0; pass < 2; pass++) {
        size_t count = 0;
        for (size_t t = 0; t < all; t++) {
            const uint32_t *at = surface_corners(&whole, t);
            if (rings[at[0]] == FAR_AWAY && rings[at[1]] == FAR_AWAY && rings[at[2]] == FAR_AWAY)
                continue;
            for (int corner = 0; corner < 3; corner++) {
                nodes->first = (size_t)min_u64(nodes->first, at[corner]);
                nodes->end = (size_t)max_u64(nodes->end, (uint64_t)at[corner] + 1);
            }
            if (pass == 1)
                surface->triangles[count] = (uint32_t)t;
            count++;
        }
        if (pass == 0)
            surface->triangles = memory_allocate(NULL, count, sizeof *surface->triangles);
        if (!surface->triangles)
            return false;
        surface->count = count;
    }
    return true;
}

// The state of the loop over the pairs of the listed triangles.
struct pairing {
    struct bending_surface *surface;
    const uint32_t *starts;
    uint32_t node, next; // the last lower node of a fold, and the number of the next one
};

static void put_pair(void *context, const struct edge_pair *pair)
{
    struct pairing *it = context;
    struct bending_surface *surface = it->surface;
    const uint32_t a = pair->edges[0], b = pair->edges[1];
    surface->others[a / 3][a % 3] = b / 3;
    surface->others[b / 3][b % 3] = a / 3;
    const bool curved[2] = {surface_is_curved(surface, a / 3), surface_is_curved(surface, b / 3)};
    surface->bends |= !(curved[0] && curved[1]);
    if (!curved[0] && !curved[1])
        return;
    surface->fold_count++;
    if (it->starts && it->node != pair->node)
        it->next = it->starts[pair->node];
    it->node = pair->node;
    surface->numbers[a / 3][a % 3] = surface->numbers[b / 3][b % 3] = it->next++;
}

// An array for the three edges of each triangle, without anything there yet.
static uint32_t (*edge_array(size_t count))[3]
{
    uint32_t(*array)[3] = memory_allocate(NULL, count, sizeof *array);
    if (array)
        memset(array, 0xFF, count * sizeof *array); // NO_TRIANGLE, NO_FOLD
    return array;
}

bool bending_surface_make(const struct topology *topology, const uint8_t *curved,
                          struct range around, const uint32_t *starts,
                          struct bending_surface *surface)
{
    const size_t count = (size_t)topology->triangle_count;
    struct range nodes = {0, (size_t)topology->node_count};
    *surface = (struct bending_surface){.topology = topology, .curved = curved, .count = count};
    if (around.first > 0 || around.end < nodes.end) {
        uint8_t *rings = find_rings(topology, around);
        const bool listed = rings && list_triangles(rings, surface, &nodes);
        memory_release(NULL, rings, (size_t)topology->node_count, sizeof *rings);
        if (!listed)
            return false;
    }
    surface->others = edge_array(surface->count);
    if (memchr(curved, 1, count))
        surface->numbers = edge_array(surface->count);
    if (!surface->others || (memchr(curved, 1, count) && !surface->numbers))
        return false;
    struct pairing pairing = {surface, starts, UINT32_MAX, 0};
    return surface->count == 0 || visit_window(surface, nodes, put_pair, &pairing);
}

void bending_surface_free(struct bending_surface *surface)
{
    memory_release(NULL, surface->triangles, surface->count, sizeof *surface->triangles);
    memory_release(NULL, surface->others, surface->count, sizeof *surface->others);
    memory_release(NULL, surface->numbers, surface->count, sizeof *surface->numbers);
}
