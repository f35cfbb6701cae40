// Finds which triangles meet at which edge, and from this: holes, non-manifold edges and vertices,
// and a consistent orientation for each component, outwards, or into a cavity where a closed one
// lies within an odd number of others (nesting.h).
//
// Half-edge h = 3 t + i goes from corner i of triangle t to the next one. Half-edges are sorted
// into buckets by their lower vertex and within a bucket by their higher one, so that those of the
// same edge are adjacent; if there are two, they are each other's twins. Those of an edge are
// sorted by the third vertex of their triangles, which shows triangles that occur twice. In large
// meshes this is done for a part of the vertices at a time, since buckets would take most of the
// memory.
#include "scene/mesh/mesh.h"

#include "base/memory.h"
#include "base/sort.h"
#include "base/vec3.h"
#include "scene/mesh/nesting.h"

#include <assert.h>
#include <stdlib.h>

#define NO_TWIN UINT32_MAX

// The parts of the vertices of a mesh with so many half-edges or more.
enum { PARTS = 4, HALF_EDGES_MANY = 1 << 17 };

// A closed component encloses nothing if its volume is below this fraction of (its area)^1.5. A
// ball has 0.094; a square plate of thickness t, 0.35 t.
static const double THINNEST = 1e-9;

struct bucket_entry {
    uint32_t half_edge;
    uint32_t higher; // the other vertex
    uint32_t third;  // of the triangle
};

struct surface_check {
    struct mesh *mesh;
    struct mesh_report *report;
    uint32_t half_edge_count;
    uint32_t *twins;      // per half-edge; NO_TWIN unless the edge has exactly two faces
    uint32_t *fans;       // per corner: union-find over the corners of a vertex
    uint8_t *on_bad_edge; // per vertex: an edge with three or more faces ends there
    uint8_t *turned;      // per triangle: to be reversed
    uint8_t *reached;     // per triangle
    uint32_t *queue;      // of triangles; the current component is [first, last)
    uint64_t first, last;
    struct mesh_shell *shells; // closed components that enclose something; by malloc
    size_t shell_count, shell_capacity;
};

static uint32_t next_of(uint32_t half_edge)
{
    return half_edge % 3 == 2 ? half_edge - 2 : half_edge + 1;
}

static uint32_t vertex_of(const struct surface_check *check, uint32_t half_edge)
{
    return check->mesh->triangles[half_edge];
}

static uint32_t lower_of(const struct surface_check *check, uint32_t half_edge)
{
    uint32_t a = vertex_of(check, half_edge), b = vertex_of(check, next_of(half_edge));
    return a < b ? a : b;
}

static uint32_t higher_of(const struct surface_check *check, uint32_t half_edge)
{
    uint32_t a = vertex_of(check, half_edge), b = vertex_of(check, next_of(half_edge));
    return a < b ? b : a;
}

// ---- Edges

static int compare_entries(const void *a, const void *b)
{
    const struct bucket_entry *one = a, *two = b;
    if (one->higher != two->higher)
        return one->higher < two->higher ? -1 : 1;
    if (one->third != two->third)
        return one->third < two->third ? -1 : 1;
    return one->half_edge < two->half_edge ? -1 : one->half_edge > two->half_edge;
}

// Half-edges by their lower vertices, of which a part has buckets.
struct buckets {
    uint64_t first, end; // the vertices
    uint64_t *starts;    // per vertex, and one more
    struct bucket_entry *entries;
};

static bool is_in(const struct buckets *buckets, uint32_t vertex)
{
    return vertex >= buckets->first && vertex < buckets->end;
}

static bool buckets_make(const struct surface_check *check, struct buckets *buckets)
{
    const uint64_t count = buckets->end - buckets->first;
    buckets->entries = NULL;
    buckets->starts = memory_allocate(NULL, count + 1, sizeof *buckets->starts);
    if (!buckets->starts)
        return false;
    uint64_t *starts = buckets->starts, entries = 0;
    for (uint32_t h = 0; h < check->half_edge_count; ++h) {
        const uint32_t lower = lower_of(check, h);
        if (is_in(buckets, lower)) {
            ++starts[lower - buckets->first + 1];
            ++entries;
        }
    }
    counting_sort_starts(starts, count);
    buckets->entries = malloc((entries + 1) * sizeof *buckets->entries);
    if (!buckets->entries)
        return false;
    for (uint32_t h = 0; h < check->half_edge_count; ++h) {
        const uint32_t lower = lower_of(check, h);
        if (is_in(buckets, lower))
            buckets->entries[starts[lower - buckets->first + 1]++] = (struct bucket_entry){
                h, higher_of(check, h), vertex_of(check, next_of(next_of(h)))};
    }
    for (uint64_t v = 0; v < count; ++v)
        if (starts[v + 1] - starts[v] > 1)
            qsort(buckets->entries + starts[v], starts[v + 1] - starts[v], sizeof *buckets->entries,
                  compare_entries);
    return true;
}

static void buckets_free(struct buckets *buckets)
{
    memory_release(NULL, buckets->starts, buckets->end - buckets->first + 1,
                   sizeof *buckets->starts);
    free(buckets->entries);
}

// Notes two entries of the same triangle, the second of which comes later in the file.
static void note_repeated(struct mesh_report *report, const struct bucket_entry *before,
                          const struct bucket_entry *entry)
{
    const uint64_t triangle = entry->half_edge / 3;
    if (report->repeated_triangles++ == 0 || triangle < report->repeated_first[1]) {
        report->repeated_first[0] = before->half_edge / 3;
        report->repeated_first[1] = triangle;
    }
}

// Records the half-edges of one edge. A triangle is counted as repeated at the edge of its two
// lowest vertices.
static void note_edge(struct surface_check *check, const struct bucket_entry *entries,
                      uint64_t count)
{
    for (uint64_t i = 1; i < count; i++)
        if (entries[i].third > entries[i].higher && entries[i].third == entries[i - 1].third)
            note_repeated(check->report, &entries[i - 1], &entries[i]);
    if (count == 1) {
        ++check->report->open_edges;
    } else if (count == 2) {
        check->twins[entries[0].half_edge] = entries[1].half_edge;
        check->twins[entries[1].half_edge] = entries[0].half_edge;
    } else {
        ++check->report->non_manifold_edges;
        check->on_bad_edge[lower_of(check, entries[0].half_edge)] = 1;
        check->on_bad_edge[entries[0].higher] = 1;
    }
}

// False if memory runs out.
static bool find_twins(struct surface_check *check)
{
    const uint64_t vertices = check->mesh->vertex_count;
    const uint64_t parts = check->half_edge_count < HALF_EDGES_MANY ? 1 : PARTS;
    for (uint32_t h = 0; h < check->half_edge_count; ++h)
        check->twins[h] = NO_TWIN;
    bool sound = true;
    for (uint64_t part = 0; sound && part < parts; part++) {
        struct buckets buckets = {.first = vertices * part / parts,
                                  .end = vertices * (part + 1) / parts};
        sound = buckets_make(check, &buckets);
        const uint64_t end = sound ? buckets.starts[buckets.end - buckets.first] : 0;
        // Those of one edge are in the bucket of one vertex.
        for (uint64_t i = 0, next, v = 0; i < end; i = next) {
            while (buckets.starts[v + 1] <= i)
                v++;
            next = i + 1;
            while (next < buckets.starts[v + 1] &&
                   buckets.entries[next].higher == buckets.entries[i].higher)
                ++next;
            note_edge(check, buckets.entries + i, next - i);
        }
        buckets_free(&buckets);
    }
    return sound;
}

// ---- Vertices

static uint32_t fan_of(struct surface_check *check, uint32_t corner)
{
    while (check->fans[corner] != corner) {
        check->fans[corner] = check->fans[check->fans[corner]];
        corner = check->fans[corner];
    }
    return corner;
}

static void join_fans(struct surface_check *check, uint32_t a, uint32_t b)
{
    a = fan_of(check, a);
    b = fan_of(check, b);
    if (a < b)
        check->fans[b] = a;
    else
        check->fans[a] = b;
}

// Corners of a vertex are in the same fan if a path over edges with two faces connects them. A
// manifold vertex has exactly one fan. `fan_counts`, zeroed, counts those of a vertex up to two.
static void count_bad_vertices(struct surface_check *check, uint8_t *fan_counts)
{
    for (uint32_t c = 0; c < check->half_edge_count; ++c)
        check->fans[c] = c;
    for (uint32_t h = 0; h < check->half_edge_count; ++h) {
        uint32_t twin = check->twins[h];
        if (twin == NO_TWIN || twin < h)
            continue;
        bool same_direction = vertex_of(check, h) == vertex_of(check, twin);
        join_fans(check, h, same_direction ? twin : next_of(twin));
        join_fans(check, next_of(h), same_direction ? next_of(twin) : twin);
    }
    for (uint32_t c = 0; c < check->half_edge_count; ++c)
        if (check->fans[c] == c && fan_counts[vertex_of(check, c)] < 2)
            fan_counts[vertex_of(check, c)]++;
    for (uint64_t v = 0; v < check->mesh->vertex_count; ++v)
        check->report->non_manifold_vertices += fan_counts[v] > 1 || check->on_bad_edge[v];
}

// ---- Orientation

// Visits the component of `seed`, marking triangles to be reversed so that all agree with it; false
// if that is impossible.
static bool flood(struct surface_check *check, uint64_t seed)
{
    bool orientable = true;
    check->first = check->last;
    check->queue[check->last++] = (uint32_t)seed;
    check->reached[seed] = 1;
    for (uint64_t i = check->first; i < check->last; ++i) {
        for (uint32_t h = 3 * check->queue[i]; h < 3 * check->queue[i] + 3; ++h) {
            uint32_t twin = check->twins[h];
            if (twin == NO_TWIN)
                continue;
            // Consistent neighbours traverse their common edge in opposite directions.
            bool same_direction = vertex_of(check, h) == vertex_of(check, twin);
            uint8_t turned = check->turned[h / 3] ^ same_direction;
            uint32_t other = twin / 3;
            if (!check->reached[other]) {
                check->reached[other] = 1;
                check->turned[other] = turned;
                check->queue[check->last++] = other;
            } else if (check->turned[other] != turned) {
                orientable = false;
            }
        }
    }
    return orientable;
}

static vec3 position_of(const struct surface_check *check, uint32_t corner)
{
    const double *p = check->mesh->vertices + 3 * (size_t)vertex_of(check, corner);
    return vec3_make(p[0], p[1], p[2]);
}

// The volume that the component encloses once oriented, computed about one of its own vertices; 0
// if it is only round-off.
static double component_volume(const struct surface_check *check)
{
    vec3 origin = position_of(check, 3 * check->queue[check->first]);
    double volume = 0, area = 0;
    for (uint64_t i = check->first; i < check->last; ++i) {
        uint32_t t = check->queue[i];
        vec3 a = vec3_subtract(position_of(check, 3 * t), origin);
        vec3 b = vec3_subtract(position_of(check, 3 * t + 1), origin);
        vec3 c = vec3_subtract(position_of(check, 3 * t + 2), origin);
        double part = vec3_dot(a, vec3_cross(b, c)) / 6;
        volume += check->turned[t] ? -part : part;
        area += vec3_length(vec3_cross(vec3_subtract(b, a), vec3_subtract(c, a))) / 2;
    }
    return fabs(volume) > THINNEST * area * sqrt(area) ? volume : 0;
}

static bool component_is_open(const struct surface_check *check)
{
    for (uint64_t i = check->first; i < check->last; ++i)
        for (uint32_t h = 3 * check->queue[i]; h < 3 * check->queue[i] + 3; ++h)
            if (check->twins[h] == NO_TWIN)
                return true;
    return false;
}

static void invert(struct surface_check *check, uint64_t first, uint64_t end)
{
    for (uint64_t i = first; i < end; ++i)
        check->turned[check->queue[i]] ^= 1;
}

static bool add_shell(struct surface_check *check, double volume)
{
    void *shells = check->shells;
    if (!array_reserve(&shells, &check->shell_capacity, check->shell_count + 1,
                       sizeof *check->shells))
        return false;
    check->shells = shells;
    check->shells[check->shell_count++] =
        (struct mesh_shell){.first = check->first, .end = check->last, .volume = volume};
    return true;
}

// An open component keeps the orientation of most of its triangles; a closed one gets outward
// normals. `encloses` becomes false if it is closed and encloses nothing. False if memory runs out.
static bool orient_component(struct surface_check *check, bool *encloses)
{
    uint64_t turned = 0, count = check->last - check->first;
    for (uint64_t i = check->first; i < check->last; ++i)
        turned += check->turned[check->queue[i]];
    bool against = 2 * turned > count;
    if (!component_is_open(check)) {
        double volume = component_volume(check);
        if (volume == 0)
            *encloses = false;
        else if (!add_shell(check, fabs(volume)))
            return false;
        else
            against = volume < 0;
    }
    if (against)
        invert(check, check->first, check->last);
    return true;
}

// The normals of a shell within an odd number of others point into its cavity.
static bool orient_cavities(struct surface_check *check)
{
    if (!mesh_shells_nest(check->mesh, check->queue, check->shells, check->shell_count))
        return false;
    for (size_t s = 0; s < check->shell_count; s++)
        if (check->shells[s].depth % 2 == 1) {
            ++check->report->cavities;
            invert(check, check->shells[s].first, check->shells[s].end);
        }
    return true;
}

static void turn_triangles(struct surface_check *check)
{
    for (uint64_t t = 0; t < check->mesh->triangle_count; ++t) {
        if (!check->turned[t])
            continue;
        uint32_t *triangle = check->mesh->triangles + 3 * t;
        uint32_t second = triangle[1];
        triangle[1] = triangle[2];
        triangle[2] = second;
        ++check->report->flipped_triangles;
    }
}

static bool orient(struct surface_check *check)
{
    struct mesh_report *report = check->report;
    bool encloses = check->mesh->triangle_count > 0;
    report->orientable = true;
    for (uint64_t seed = 0; seed < check->mesh->triangle_count; ++seed) {
        if (check->reached[seed])
            continue;
        ++report->components;
        if (flood(check, seed)) {
            if (!orient_component(check, &encloses))
                return false;
        } else {
            report->orientable = false;
            for (uint64_t i = check->first; i < check->last; ++i)
                check->turned[check->queue[i]] = 0;
        }
    }
    if (!orient_cavities(check))
        return false;
    report->closed = encloses && report->orientable && report->open_edges == 0 &&
                     report->non_manifold_edges == 0 && report->non_manifold_vertices == 0;
    turn_triangles(check);
    return true;
}

// Finds twins, and which vertices are bad. False if memory runs out.
static bool inspect(struct surface_check *check)
{
    const uint64_t vertices = check->mesh->vertex_count, corners = check->half_edge_count;
    check->on_bad_edge = memory_allocate(NULL, vertices, sizeof *check->on_bad_edge);
    uint8_t *fan_counts = memory_allocate(NULL, vertices, sizeof *fan_counts);
    bool sound = check->on_bad_edge && fan_counts && find_twins(check);
    check->fans = sound ? memory_allocate(NULL, corners, sizeof *check->fans) : NULL;
    if (check->fans)
        count_bad_vertices(check, fan_counts);
    sound = check->fans != NULL;
    memory_release(NULL, check->fans, corners, sizeof *check->fans);
    memory_release(NULL, fan_counts, vertices, sizeof *fan_counts);
    memory_release(NULL, check->on_bad_edge, vertices, sizeof *check->on_bad_edge);
    return sound;
}

bool mesh_inspect_and_orient(struct mesh *mesh, struct mesh_report *report)
{
    *report = (struct mesh_report){0};
    const uint64_t triangles = mesh->triangle_count, corners = 3 * triangles;
    struct surface_check check = {
        .mesh = mesh, .report = report, .half_edge_count = (uint32_t)corners};
    assert(triangles <= MESH_TRIANGLES_MAX);
    check.twins = memory_allocate(NULL, corners, sizeof *check.twins);
    bool sound = check.twins && inspect(&check);
    if (sound) {
        check.turned = memory_allocate(NULL, triangles, sizeof *check.turned);
        check.reached = memory_allocate(NULL, triangles, sizeof *check.reached);
        check.queue = memory_allocate(NULL, triangles, sizeof *check.queue);
        sound = check.turned && check.reached && check.queue && orient(&check);
    }
    free(check.shells);
    memory_release(NULL, check.twins, corners, sizeof *check.twins);
    memory_release(NULL, check.turned, triangles, sizeof *check.turned);
    memory_release(NULL, check.reached, triangles, sizeof *check.reached);
    memory_release(NULL, check.queue, triangles, sizeof *check.queue);
    return sound;
}
