// Which triangles meet at which edge, and what follows from it: holes, edges and vertices that are
// no surface, and one orientation for each component.
//
// Half-edge h = 3 t + i goes from corner i of triangle t to the next one. All half-edges are sorted
// into buckets by their lower vertex and inside a bucket by their higher one, so that those of an
// edge stand together; two of them are each other's twins.
#include "scene/mesh/mesh.h"

#include "base/memory.h"
#include "base/vec3.h"

#include <stdlib.h>
#include <string.h>

static const uint64_t NO_TWIN = UINT64_MAX;

// A closed component whose volume is below this share of (its area)^1.5 encloses nothing. A ball
// has 0.094; a square plate of thickness t, 0.35 t.
static const double THINNEST = 1e-9;

struct bucket_entry {
    uint64_t half_edge;
    uint32_t higher; // the other vertex
};

struct inspection {
    struct mesh *mesh;
    struct mesh_report *report;
    uint64_t half_edge_count;
    uint64_t *twins;         // of half-edges; NO_TWIN where the edge has not just two faces
    uint64_t *fans;          // of corners: union-find over the corners of one vertex
    uint8_t *on_bad_edge;    // of vertices: an edge with three faces or more ends there
    uint64_t *bucket_starts; // of vertices, and one more
    struct bucket_entry *buckets;
    uint8_t *turned;  // of triangles: to be turned over
    uint8_t *reached; // of triangles
    uint64_t *queue;  // of triangles; the present component is [first, last)
    uint64_t first, last;
};

static uint64_t next_of(uint64_t half_edge)
{
    return half_edge % 3 == 2 ? half_edge - 2 : half_edge + 1;
}

static uint32_t vertex_of(const struct inspection *look, uint64_t half_edge)
{
    return look->mesh->triangles[half_edge];
}

static uint32_t lower_of(const struct inspection *look, uint64_t half_edge)
{
    uint32_t a = vertex_of(look, half_edge), b = vertex_of(look, next_of(half_edge));
    return a < b ? a : b;
}

static uint32_t higher_of(const struct inspection *look, uint64_t half_edge)
{
    uint32_t a = vertex_of(look, half_edge), b = vertex_of(look, next_of(half_edge));
    return a < b ? b : a;
}

// ---- Edges

static int compare_entries(const void *a, const void *b)
{
    const struct bucket_entry *one = a, *two = b;
    if (one->higher != two->higher)
        return one->higher < two->higher ? -1 : 1;
    return one->half_edge < two->half_edge ? -1 : one->half_edge > two->half_edge;
}

static void fill_buckets(struct inspection *look)
{
    uint64_t vertex_count = look->mesh->vertex_count;
    uint64_t *starts = look->bucket_starts;
    for (uint64_t h = 0; h < look->half_edge_count; ++h)
        ++starts[lower_of(look, h) + 1];
    for (uint64_t v = 0; v < vertex_count; ++v)
        starts[v + 1] += starts[v];
    // Each start moves to its bucket's end, which is the next one's start, and is put back.
    for (uint64_t h = 0; h < look->half_edge_count; ++h)
        look->buckets[starts[lower_of(look, h)]++] = (struct bucket_entry){h, higher_of(look, h)};
    memmove(starts + 1, starts, vertex_count * sizeof *starts);
    starts[0] = 0;
    for (uint64_t v = 0; v < vertex_count; ++v)
        if (starts[v + 1] - starts[v] > 1)
            qsort(look->buckets + starts[v], starts[v + 1] - starts[v], sizeof *look->buckets,
                  compare_entries);
}

// The half-edges of one edge.
static void note_edge(struct inspection *look, const struct bucket_entry *entries, uint64_t count)
{
    if (count == 1) {
        ++look->report->open_edges;
    } else if (count == 2) {
        look->twins[entries[0].half_edge] = entries[1].half_edge;
        look->twins[entries[1].half_edge] = entries[0].half_edge;
    } else {
        ++look->report->non_manifold_edges;
        look->on_bad_edge[lower_of(look, entries[0].half_edge)] = 1;
        look->on_bad_edge[entries[0].higher] = 1;
    }
}

static void find_twins(struct inspection *look)
{
    for (uint64_t h = 0; h < look->half_edge_count; ++h)
        look->twins[h] = NO_TWIN;
    fill_buckets(look);
    for (uint64_t v = 0; v < look->mesh->vertex_count; ++v) {
        uint64_t end = look->bucket_starts[v + 1];
        for (uint64_t i = look->bucket_starts[v], next; i < end; i = next) {
            next = i + 1;
            while (next < end && look->buckets[next].higher == look->buckets[i].higher)
                ++next;
            note_edge(look, look->buckets + i, next - i);
        }
    }
}

// ---- Vertices

static uint64_t fan_of(struct inspection *look, uint64_t corner)
{
    while (look->fans[corner] != corner) {
        look->fans[corner] = look->fans[look->fans[corner]];
        corner = look->fans[corner];
    }
    return corner;
}

static void join_fans(struct inspection *look, uint64_t a, uint64_t b)
{
    a = fan_of(look, a);
    b = fan_of(look, b);
    if (a < b)
        look->fans[b] = a;
    else
        look->fans[a] = b;
}

// Corners of one vertex are in one fan if a walk over edges with two faces leads from one to the
// other. A vertex of a surface has just one.
static void count_bad_vertices(struct inspection *look, uint64_t *fan_counts)
{
    for (uint64_t c = 0; c < look->half_edge_count; ++c)
        look->fans[c] = c;
    for (uint64_t h = 0; h < look->half_edge_count; ++h) {
        uint64_t twin = look->twins[h];
        if (twin == NO_TWIN || twin < h)
            continue;
        bool same_way = vertex_of(look, h) == vertex_of(look, twin);
        join_fans(look, h, same_way ? twin : next_of(twin));
        join_fans(look, next_of(h), same_way ? next_of(twin) : twin);
    }
    memset(fan_counts, 0, look->mesh->vertex_count * sizeof *fan_counts);
    for (uint64_t c = 0; c < look->half_edge_count; ++c)
        fan_counts[vertex_of(look, c)] += look->fans[c] == c;
    for (uint64_t v = 0; v < look->mesh->vertex_count; ++v)
        look->report->non_manifold_vertices += fan_counts[v] > 1 || look->on_bad_edge[v];
}

// ---- Orientation

// Visits the component of `seed`, turning triangles so that they agree with it; false if that
// cannot be done.
static bool flood(struct inspection *look, uint64_t seed)
{
    bool orientable = true;
    look->first = look->last;
    look->queue[look->last++] = seed;
    look->reached[seed] = 1;
    for (uint64_t i = look->first; i < look->last; ++i) {
        for (uint64_t h = 3 * look->queue[i]; h < 3 * look->queue[i] + 3; ++h) {
            uint64_t twin = look->twins[h];
            if (twin == NO_TWIN)
                continue;
            // Neighbours that agree run along their common edge in opposite ways.
            bool same_way = vertex_of(look, h) == vertex_of(look, twin);
            uint8_t turned = look->turned[h / 3] ^ same_way;
            uint64_t other = twin / 3;
            if (!look->reached[other]) {
                look->reached[other] = 1;
                look->turned[other] = turned;
                look->queue[look->last++] = other;
            } else if (look->turned[other] != turned) {
                orientable = false;
            }
        }
    }
    return orientable;
}

static vec3 position_of(const struct inspection *look, uint64_t corner)
{
    const double *p = look->mesh->vertices + 3 * (size_t)vertex_of(look, corner);
    return vec3_make(p[0], p[1], p[2]);
}

// The volume that the component encloses, as it would be oriented, about one of its own vertices;
// 0 where that is no more than round-off.
static double component_volume(const struct inspection *look)
{
    vec3 origin = position_of(look, 3 * look->queue[look->first]);
    double volume = 0, area = 0;
    for (uint64_t i = look->first; i < look->last; ++i) {
        uint64_t t = look->queue[i];
        vec3 a = vec3_subtract(position_of(look, 3 * t), origin);
        vec3 b = vec3_subtract(position_of(look, 3 * t + 1), origin);
        vec3 c = vec3_subtract(position_of(look, 3 * t + 2), origin);
        double part = vec3_dot(a, vec3_cross(b, c)) / 6;
        volume += look->turned[t] ? -part : part;
        area += vec3_length(vec3_cross(vec3_subtract(b, a), vec3_subtract(c, a))) / 2;
    }
    return fabs(volume) > THINNEST * area * sqrt(area) ? volume : 0;
}

static bool component_is_open(const struct inspection *look)
{
    for (uint64_t i = look->first; i < look->last; ++i)
        for (uint64_t h = 3 * look->queue[i]; h < 3 * look->queue[i] + 3; ++h)
            if (look->twins[h] == NO_TWIN)
                return true;
    return false;
}

// An open component keeps the way that most of its triangles have; a closed one gets its normals
// outward. False if it is closed and encloses nothing.
static bool settle_component(struct inspection *look)
{
    uint64_t turned = 0, count = look->last - look->first;
    for (uint64_t i = look->first; i < look->last; ++i)
        turned += look->turned[look->queue[i]];
    bool invert = 2 * turned > count, encloses = true;
    if (!component_is_open(look)) {
        double volume = component_volume(look);
        encloses = volume != 0;
        if (encloses)
            invert = volume < 0;
    }
    for (uint64_t i = look->first; i < look->last && invert; ++i)
        look->turned[look->queue[i]] ^= 1;
    return encloses;
}

static void turn_triangles(struct inspection *look)
{
    for (uint64_t t = 0; t < look->mesh->triangle_count; ++t) {
        if (!look->turned[t])
            continue;
        uint32_t *triangle = look->mesh->triangles + 3 * t;
        uint32_t second = triangle[1];
        triangle[1] = triangle[2];
        triangle[2] = second;
        ++look->report->flipped_triangles;
    }
}

static void orient(struct inspection *look)
{
    struct mesh_report *report = look->report;
    bool encloses = look->mesh->triangle_count > 0;
    report->orientable = true;
    for (uint64_t seed = 0; seed < look->mesh->triangle_count; ++seed) {
        if (look->reached[seed])
            continue;
        ++report->components;
        if (flood(look, seed)) {
            encloses &= settle_component(look);
        } else {
            report->orientable = false;
            for (uint64_t i = look->first; i < look->last; ++i)
                look->turned[look->queue[i]] = 0;
        }
    }
    report->closed = encloses && report->orientable && report->open_edges == 0 &&
                     report->non_manifold_edges == 0 && report->non_manifold_vertices == 0;
    turn_triangles(look);
}

bool mesh_inspect_and_orient(struct mesh *mesh, struct mesh_report *report)
{
    *report = (struct mesh_report){0};
    uint64_t triangles = mesh->triangle_count, corners = 3 * triangles;
    uint64_t vertices = mesh->vertex_count;
    struct inspection look = {.mesh = mesh, .report = report, .half_edge_count = corners};
    look.twins = memory_allocate(NULL, corners, sizeof *look.twins);
    look.fans = memory_allocate(NULL, corners, sizeof *look.fans);
    look.on_bad_edge = memory_allocate(NULL, vertices, sizeof *look.on_bad_edge);
    look.bucket_starts = memory_allocate(NULL, vertices + 1, sizeof *look.bucket_starts);
    look.buckets = memory_allocate(NULL, corners, sizeof *look.buckets);
    look.turned = memory_allocate(NULL, triangles, sizeof *look.turned);
    look.reached = memory_allocate(NULL, triangles, sizeof *look.reached);
    look.queue = memory_allocate(NULL, triangles, sizeof *look.queue);
    bool sound = look.twins && look.fans && look.on_bad_edge && look.bucket_starts &&
                 look.buckets && look.turned && look.reached && look.queue;
    if (sound) {
        find_twins(&look);
        count_bad_vertices(&look, look.bucket_starts); // which is not needed any more
        orient(&look);
    }
    memory_release(NULL, look.twins, corners, sizeof *look.twins);
    memory_release(NULL, look.fans, corners, sizeof *look.fans);
    memory_release(NULL, look.on_bad_edge, vertices, sizeof *look.on_bad_edge);
    memory_release(NULL, look.bucket_starts, vertices + 1, sizeof *look.bucket_starts);
    memory_release(NULL, look.buckets, corners, sizeof *look.buckets);
    memory_release(NULL, look.turned, triangles, sizeof *look.turned);
    memory_release(NULL, look.reached, triangles, sizeof *look.reached);
    memory_release(NULL, look.queue, triangles, sizeof *look.queue);
    return sound;
}
