#include "scene/mesh/mesh_draft.h"

#include "base/memory.h"
#include "scene/mesh/mesh_polygon.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- Growing

bool draft_vertex(struct mesh_draft *draft, struct mesh_text *text, const double position[3])
{
    if (draft->vertex_count >= MESH_VERTICES_MAX)
        return text_complain(text, NULL, "the mesh has more than %" PRIu32 " vertices",
                             MESH_VERTICES_MAX);
    if (!array_reserve((void **)&draft->vertices, &draft->vertex_capacity, draft->vertex_count + 1,
                       3 * sizeof *draft->vertices))
        return text_no_memory(text);
    memcpy(draft->vertices + 3 * draft->vertex_count++, position, 3 * sizeof *position);
    return true;
}

bool draft_corner(struct mesh_draft *draft, struct mesh_text *text, uint64_t vertex, const char *at)
{
    if (!array_reserve((void **)&draft->corners, &draft->corner_capacity, draft->corner_count + 1,
                       sizeof *draft->corners))
        return text_no_memory(text);
    draft->corners[draft->corner_count++] = (struct corner){vertex, at};
    return true;
}

bool draft_polygon(struct mesh_draft *draft, struct mesh_text *text)
{
    if (!array_reserve((void **)&draft->polygon_ends, &draft->polygon_capacity,
                       draft->polygon_count + 1, sizeof *draft->polygon_ends))
        return text_no_memory(text);
    draft->polygon_ends[draft->polygon_count++] = draft->corner_count;
    return true;
}

void draft_abandon(struct mesh_draft *draft)
{
    draft->corner_count = draft->polygon_count ? draft->polygon_ends[draft->polygon_count - 1] : 0;
}

void draft_free(struct mesh_draft *draft)
{
    free(draft->vertices);
    free(draft->corners);
    free(draft->polygon_ends);
    *draft = (struct mesh_draft){0};
}

// ---- Checking

static bool corners_in_range(const struct mesh_draft *draft, struct mesh_text *text,
                             const struct corner *corners, size_t count, size_t polygon)
{
    for (size_t i = 0; i < count; ++i) {
        if (corners[i].vertex < draft->vertex_count)
            continue;
        uint64_t number = corners[i].vertex + draft->first_number;
        uint64_t last = draft->vertex_count + draft->first_number - 1;
        if (draft->vertex_count == 0)
            return text_complain(text, corners[i].at, "the file has faces but no vertices");
        if (corners[i].at)
            return text_complain(text, corners[i].at,
                                 "there is no vertex %" PRIu64 ": the last one is %" PRIu64, number,
                                 last);
        return text_complain(text, NULL,
                             "face %zu uses vertex %" PRIu64 ", but the last one is %" PRIu64,
                             polygon, number, last);
    }
    return true;
}

static int compare_corners(const void *a, const void *b)
{
    const struct corner *one = a, *two = b;
    if (one->vertex != two->vertex)
        return one->vertex < two->vertex ? -1 : 1;
    return one->at < two->at ? -1 : one->at > two->at;
}

static bool complain_repeated(struct mesh_text *text, const struct corner *corner, uint64_t number,
                              size_t polygon)
{
    if (corner->at)
        return text_complain(text, corner->at, "this face uses the same vertex twice");
    return text_complain(text, NULL, "face %zu uses vertex %" PRIu64 " twice", polygon, number);
}

// Few corners are compared each with each; a polygon of thousands would take too long so.
static bool corners_differ(const struct mesh_draft *draft, struct mesh_text *text,
                           const struct corner *corners, size_t count, size_t polygon)
{
    enum { FEW = 16 };
    if (count <= FEW) {
        for (size_t i = 1; i < count; ++i)
            for (size_t j = 0; j < i; ++j)
                if (corners[i].vertex == corners[j].vertex)
                    return complain_repeated(text, &corners[i],
                                             corners[i].vertex + draft->first_number, polygon);
        return true;
    }
    struct corner *sorted = malloc(count * sizeof *sorted);
    if (!sorted)
        return text_no_memory(text);
    memcpy(sorted, corners, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, compare_corners);
    bool differ = true;
    for (size_t i = 1; i < count && differ; ++i)
        if (sorted[i].vertex == sorted[i - 1].vertex)
            differ = complain_repeated(text, &sorted[i], sorted[i].vertex + draft->first_number,
                                       polygon);
    free(sorted);
    return differ;
}

static bool check_polygons(const struct mesh_draft *draft, struct mesh_text *text)
{
    size_t errors_before = text->error_count;
    for (size_t p = 0, start = 0; p < draft->polygon_count && !text_hopeless(text); ++p) {
        const struct corner *corners = draft->corners + start;
        size_t count = draft->polygon_ends[p] - start;
        if (corners_in_range(draft, text, corners, count, p))
            corners_differ(draft, text, corners, count, p);
        start = draft->polygon_ends[p];
    }
    return text->error_count == errors_before;
}

// ---- Finishing

static bool cut_polygon(const struct mesh_draft *draft, struct mesh_text *text, size_t start,
                        size_t count, uint32_t (*triangles)[3])
{
    static const char *const reasons[] = {
        [POLYGON_FLAT] = "this polygon has no area, so it cannot be cut into triangles",
        [POLYGON_CROSSED] = "this polygon crosses or touches itself, so it cannot be cut into "
                            "triangles",
        [POLYGON_TOO_LARGE] = "this polygon is not convex and has more corners than can be cut "
                              "into triangles (1000)",
    };
    struct polygon_corner *corners = malloc(count * sizeof *corners);
    if (!corners)
        return text_no_memory(text);
    for (size_t i = 0; i < count; ++i) {
        uint32_t vertex = (uint32_t)draft->corners[start + i].vertex;
        const double *position = draft->vertices + 3 * (size_t)vertex;
        corners[i] =
            (struct polygon_corner){vertex, vec3_make(position[0], position[1], position[2]), 0, 0};
    }
    enum polygon_result result = polygon_cut(corners, count, triangles);
    free(corners);
    return result == POLYGON_CUT ||
           text_complain(text, draft->corners[start].at, "%s", reasons[result]);
}

static bool cut_polygons(const struct mesh_draft *draft, struct mesh_text *text, struct mesh *mesh)
{
    // Each polygon of n corners gives n - 2 triangles.
    size_t triangle_count = draft->corner_count - 2 * draft->polygon_count;
    mesh->triangles = calloc(triangle_count, 3 * sizeof *mesh->triangles);
    if (!mesh->triangles)
        return text_no_memory(text);
    size_t errors_before = text->error_count;
    uint32_t(*triangles)[3] = (uint32_t(*)[3])mesh->triangles;
    for (size_t p = 0, start = 0; p < draft->polygon_count && !text_hopeless(text); ++p) {
        size_t count = draft->polygon_ends[p] - start;
        if (count == 3) {
            for (size_t i = 0; i < 3; ++i)
                (*triangles)[i] = (uint32_t)draft->corners[start + i].vertex;
        } else {
            cut_polygon(draft, text, start, count, triangles);
        }
        triangles += count - 2;
        start = draft->polygon_ends[p];
    }
    mesh->triangle_count = triangle_count;
    return text->error_count == errors_before;
}

static bool keep_used_vertices(const struct mesh_draft *draft, struct mesh_text *text,
                               struct mesh *mesh)
{
    uint32_t *number = calloc(draft->vertex_count, sizeof *number); // 1: used; then the new number
    mesh->vertices = malloc(3 * draft->vertex_count * sizeof *mesh->vertices);
    if (!number || !mesh->vertices) {
        free(number);
        return text_no_memory(text);
    }
    for (uint64_t i = 0; i < 3 * mesh->triangle_count; ++i)
        number[mesh->triangles[i]] = 1;
    for (size_t v = 0; v < draft->vertex_count; ++v) {
        if (!number[v])
            continue;
        number[v] = (uint32_t)mesh->vertex_count;
        memcpy(mesh->vertices + 3 * mesh->vertex_count++, draft->vertices + 3 * v,
               3 * sizeof *mesh->vertices);
    }
    for (uint64_t i = 0; i < 3 * mesh->triangle_count; ++i)
        mesh->triangles[i] = number[mesh->triangles[i]];
    free(number);
    mesh->unused_vertices = draft->vertex_count - mesh->vertex_count;
    mesh->merged_vertices = draft->merged_vertices;
    return true;
}

bool draft_finish(const struct mesh_draft *draft, struct mesh_text *text, struct mesh *mesh)
{
    if (!check_polygons(draft, text) || text->error_count)
        return false;
    if (draft->polygon_count == 0)
        return text_complain(text, NULL, "the file has no faces");
    return cut_polygons(draft, text, mesh) && keep_used_vertices(draft, text, mesh);
}
