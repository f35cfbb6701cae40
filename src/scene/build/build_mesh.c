// A triangle mesh from a file: springs along its edges and, where asked, between the far vertices
// of adjacent triangles. Nodes are the file's vertices in their order, without unused ones.
#include <inttypes.h>
#include <string.h>

#include "base/memory.h"
#include "scene/build/build.h"
#include "scene/mesh/mesh.h"
#include "scene/build/surface.h"

enum { EDGES, BEND };

static const char *plural(uint64_t count, const char *one, const char *many)
{
    return count == 1 ? one : many;
}

static void warn_about_file(struct build *build, const struct mesh *mesh,
                            const struct mesh_report *report)
{
    const struct scene_mesh *given = &build->given->shape.mesh;
    uint64_t unused = mesh->unused_vertices, flipped = report->flipped_triangles;
    if (unused > 0)
        build_warn(build, given->at, "'%s': %" PRIu64 " %s used by no face and %s left out",
                   given->path, unused, plural(unused, "vertex is", "vertices are"),
                   plural(unused, "is", "are"));
    if (flipped > 0)
        build_warn(build, given->at,
                   "'%s': %" PRIu64 " %s turned round so that neighbours agree and normals point "
                   "outwards",
                   given->path, flipped, plural(flipped, "triangle was", "triangles were"));
    if (!report->orientable)
        build_warn(build, given->at,
                   "'%s': the surface has only one side, so that wind on it has no direction",
                   given->path);
}

// Pressure acts on what is enclosed: says, with counts, why this surface encloses nothing.
static taut_status refuse_pressure(struct build *build, const struct mesh_report *report)
{
    const struct scene_body *given = build->given;
    mark at = given->pressure.at;
    const char *path = given->shape.mesh.path;
    if (report->open_edges > 0)
        build_refuse(build, at,
                     "pressure needs a closed surface: '%s' has %" PRIu64
                     " %s with only one face; close its holes or leave out 'pressure'",
                     path, report->open_edges, plural(report->open_edges, "edge", "edges"));
    if (report->non_manifold_edges > 0)
        build_refuse(build, at,
                     "pressure needs a surface with an inside: '%s' has %" PRIu64
                     " %s with three or more faces; take out inner walls and doubled faces",
                     path, report->non_manifold_edges,
                     plural(report->non_manifold_edges, "edge", "edges"));
    // Where edges are wrong, their ends are too: one cause, one message.
    if (report->open_edges || report->non_manifold_edges)
        return TAUT_ERROR_SCENE;
    if (report->non_manifold_vertices > 0)
        return build_refuse(build, at,
                            "pressure needs a surface with an inside: at %" PRIu64
                            " %s of '%s' several parts touch; give each part a vertex of its own",
                            report->non_manifold_vertices,
                            plural(report->non_manifold_vertices, "vertex", "vertices"), path);
    if (!report->orientable)
        return build_refuse(
            build, at, "pressure needs a surface with an inside: '%s' has only one side", path);
    return build_refuse(build, at, "pressure needs a volume: '%s' encloses none", path);
}

static bool find_springs(const struct scene_body *given, const struct mesh *mesh,
                         struct pair_table tables[2])
{
    if (!surface_edges(mesh->triangles, mesh->triangle_count, mesh->vertex_count, &tables[EDGES]))
        return false;
    return !given->kinds[BEND].present ||
           surface_bends(mesh->triangles, mesh->triangle_count, &tables[EDGES], &tables[BEND]);
}

static taut_status fill(struct build *build, const struct mesh *mesh,
                        const struct pair_table tables[2])
{
    const struct scene_body *given = build->given;
    struct body *body = build->body;
    struct build_counts counts = {
        .nodes = mesh->vertex_count, .faces = mesh->triangle_count, .face_arity = 3};
    for (size_t kind = EDGES; kind <= BEND; kind++)
        if (given->kinds[kind].present)
            counts.springs[kind] = tables[kind].pair_count;
    taut_status status = build_allocate(build, &counts);
    if (status != TAUT_OK)
        return status;
    memcpy(body->positions, mesh->vertices, 3 * mesh->vertex_count * sizeof *body->positions);
    memcpy(body->faces, mesh->triangles, 3 * mesh->triangle_count * sizeof *body->faces);
    for (size_t kind = EDGES; kind <= BEND; kind++)
        if (given->kinds[kind].present)
            pair_table_copy(&tables[kind], &body->springs[body->kind_start[kind]]);
    body->unused_vertices = mesh->unused_vertices;
    return TAUT_OK;
}

static taut_status build_from(struct build *build, struct mesh *mesh)
{
    const struct scene_body *given = build->given;
    struct mesh_report report;
    // Scaled first: a negative scale mirrors the mesh, and its faces must then be turned.
    for (uint64_t i = 0; i < 3 * mesh->vertex_count; i++)
        mesh->vertices[i] *= given->shape.mesh.scale;
    if (!mesh_inspect_and_orient(mesh, &report))
        return build_no_memory(build);
    warn_about_file(build, mesh, &report);
    if (given->pressure.present && !report.closed)
        return refuse_pressure(build, &report);

    struct pair_table tables[2] = {{0}};
    taut_status status =
        find_springs(given, mesh, tables) ? fill(build, mesh, tables) : build_no_memory(build);
    build->body->closed = report.closed;
    pair_table_free(&tables[EDGES]);
    pair_table_free(&tables[BEND]);
    return status;
}

taut_status build_mesh(struct build *build)
{
    struct mesh mesh = {0};
    if (!mesh_read(build->given->shape.mesh.path, &mesh, build->diagnostics))
        return build_file_status(build);
    taut_status status = build_from(build, &mesh);
    mesh_free(&mesh);
    return status;
}
