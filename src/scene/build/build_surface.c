// Builds bodies whose springs follow from a surface of triangles (surface.h): the sphere and the
// mesh from a file.
#include "scene/build/build.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "scene/build/surface.h"
#include "scene/mesh/mesh.h"

// Before a body has the arrays that build_allocate would allocate otherwise.
static void set_surface_counts(struct body *body, uint64_t vertices, uint64_t triangles)
{
    body->node_count = vertices;
    body->face_count = triangles;
    body->face_arity = 3;
}

// ---- Sphere: an icosphere

// An icosahedron whose triangles are repeatedly split in four, with every new node projected onto
// the sphere. Nodes 0 to 11 are the corners of the icosahedron; each subdivision adds the midpoints
// of the present edges, in the order of their lower and then their higher node.

enum { EDGES, BEND, SECOND }; // kinds of springs; a mesh has the first two
enum { CORNER_COUNT = 12, ICOSAHEDRON_FACES = 20, SUBDIVISIONS_MAX = 10 };

#define GOLDEN 1.6180339887498949

static const vec3 corners[CORNER_COUNT] = {{-1, GOLDEN, 0},  {1, GOLDEN, 0},   {-1, -GOLDEN, 0},
                                           {1, -GOLDEN, 0},  {0, -1, GOLDEN},  {0, 1, GOLDEN},
                                           {0, -1, -GOLDEN}, {0, 1, -GOLDEN},  {GOLDEN, 0, -1},
                                           {GOLDEN, 0, 1},   {-GOLDEN, 0, -1}, {-GOLDEN, 0, 1}};

// Counter-clockwise seen from outside.
static const uint32_t icosahedron[3 * ICOSAHEDRON_FACES] = {
    0, 11, 5,  0, 5,  1, 0, 1, 7, 0, 7,  10, 0, 10, 11, 1, 5, 9, 5, 11,
    4, 11, 10, 2, 10, 7, 6, 7, 1, 8, 3,  9,  4, 3,  4,  2, 3, 2, 6, 3,
    6, 8,  3,  8, 9,  4, 9, 5, 2, 4, 11, 6,  2, 10, 8,  6, 7, 9, 8, 1};

// A unit sphere during subdivision. The arrays have the size of the last subdivision.
struct icosphere {
    uint64_t vertex_count, triangle_count;
    double *vertices;    // 3 coordinates each
    uint32_t *triangles; // 3 vertices each
};

static vec3 on_sphere(vec3 p)
{
    return vec3_scale(1.0 / vec3_length(p), p);
}

static vec3 vertex(const struct icosphere *sphere, uint64_t number)
{
    const double *p = &sphere->vertices[3 * number];
    return vec3_make(p[0], p[1], p[2]);
}

static void start_icosphere(struct icosphere *sphere)
{
    sphere->vertex_count = CORNER_COUNT;
    sphere->triangle_count = ICOSAHEDRON_FACES;
    for (uint64_t i = 0; i < CORNER_COUNT; i++)
        vec3_store(sphere->vertices, i, on_sphere(corners[i]));
    memcpy(sphere->triangles, icosahedron, sizeof icosahedron);
}

static uint32_t midpoint(const struct icosphere *sphere, const struct pair_table *edges, uint32_t a,
                         uint32_t b)
{
    uint64_t edge = 0;
    bool found = pair_table_find(edges, a < b ? a : b, a < b ? b : a, &edge);
    assert(found);
    (void)found;
    return (uint32_t)(sphere->vertex_count + edge);
}

// Splits every triangle in four: three at its corners, which are appended, and the middle one,
// which replaces the triangle.
static void cut_triangles(struct icosphere *sphere, const struct pair_table *edges)
{
    uint64_t next = sphere->triangle_count;
    for (uint64_t t = 0; t < sphere->triangle_count; t++) {
        uint32_t *own = &sphere->triangles[3 * t];
        uint32_t a = own[0], b = own[1], c = own[2];
        uint32_t ab = midpoint(sphere, edges, a, b), bc = midpoint(sphere, edges, b, c);
        uint32_t ca = midpoint(sphere, edges, c, a);
        const uint32_t cut[9] = {a, ab, ca, b, bc, ab, c, ca, bc};
        memcpy(&sphere->triangles[3 * next], cut, sizeof cut);
        own[0] = ab, own[1] = bc, own[2] = ca;
        next += 3;
    }
    sphere->triangle_count = next;
}

static bool subdivide(struct icosphere *sphere)
{
    struct pair_table edges;
    if (!surface_edges(sphere->triangles, sphere->triangle_count, sphere->vertex_count, &edges))
        return false;
    for (uint32_t a = 0; a < edges.row_count; a++)
        for (uint64_t i = edges.starts[a]; i < edges.starts[a + 1]; i++) {
            vec3 sum = vec3_add(vertex(sphere, a), vertex(sphere, edges.seconds[i]));
            vec3_store(sphere->vertices, sphere->vertex_count + i, on_sphere(sum));
        }
    cut_triangles(sphere, &edges);
    sphere->vertex_count += edges.pair_count;
    pair_table_free(&edges);
    return true;
}

// The height of a triangle over its longest edge, as a fraction of it, from which on it is a part
// of a membrane.
static const double HEIGHT_MIN = 1e-5;

// The nodes of a membrane have a third of the mass of each of their triangles.
static taut_status set_membrane_masses(struct build *build)
{
    const struct scene_body *given = build->given;
    const struct body *body = build->body;
    if (!body_is_membrane(given))
        return TAUT_OK;
    for (uint64_t face = 0; face < body->face_count; face++) {
        const uint32_t *nodes = body->faces + 3 * face;
        const vec3 a = body_position(body, nodes[0]), b = body_position(body, nodes[1]);
        const vec3 u = vec3_subtract(b, a), v = vec3_subtract(body_position(body, nodes[2]), a);
        const vec3 w = vec3_subtract(u, v);
        const double twice = vec3_length(vec3_cross(u, v));
        if (!(twice > HEIGHT_MIN * fmax(vec3_dot(u, u), fmax(vec3_dot(v, v), vec3_dot(w, w)))))
            return build_refuse(build, given->elastic.at,
                                "face %" PRIu64 " of body '%s', at (%g, %g, %g), has no area, so "
                                "that it is no part of an elastic surface; remove it from the mesh",
                                face, given->name, a.x, a.y, a.z);
        for (int corner = 0; corner < 3; corner++)
            body->masses[nodes[corner]] += given->elements.areal_density * twice / 6;
    }
    build->has_masses = true;
    return TAUT_OK;
}

// The springs that the scene requests. If the far vertices of adjacent triangles have their own
// springs (bend), second neighbours exclude them.
struct sphere_springs {
    struct pair_table kinds[3];
};

static bool find_sphere_springs(const struct scene_body *given, const struct icosphere *sphere,
                                struct sphere_springs *springs)
{
    struct pair_table *edges = &springs->kinds[EDGES];
    if (!surface_edges(sphere->triangles, sphere->triangle_count, sphere->vertex_count, edges))
        return false;
    const struct pair_table *bend = NULL;
    if (given->kinds[BEND].present) {
        bend = &springs->kinds[BEND];
        if (!surface_bends(sphere->triangles, sphere->triangle_count, edges, &springs->kinds[BEND]))
            return false;
    }
    return !given->kinds[SECOND].present || surface_seconds(edges, bend, &springs->kinds[SECOND]);
}

// The body takes over the arrays of the sphere.
static taut_status fill_sphere(struct build *build, struct icosphere *sphere,
                               const struct sphere_springs *springs)
{
    const struct scene_body *given = build->given;
    struct build_counts counts = {
        .nodes = sphere->vertex_count, .faces = sphere->triangle_count, .face_arity = 3};
    for (size_t kind = EDGES; kind <= SECOND; kind++)
        if (given->kinds[kind].present)
            counts.springs[kind] = springs->kinds[kind].pair_count;
    struct body *body = build->body;
    set_surface_counts(body, sphere->vertex_count, sphere->triangle_count);
    body->positions = sphere->vertices;
    body->faces = sphere->triangles;
    sphere->vertices = NULL;
    sphere->triangles = NULL;
    taut_status status = build_allocate(build, &counts);
    if (status != TAUT_OK)
        return status;
    for (uint64_t i = 0; i < counts.nodes; i++) {
        vec3 out = vec3_scale(given->shape.sphere.radius, body_position(body, i));
        vec3_store(body->positions, i, vec3_add(given->shape.sphere.centre, out));
    }
    for (size_t kind = EDGES; kind <= SECOND; kind++)
        if (given->kinds[kind].present)
            pair_table_copy(&springs->kinds[kind], &body->springs[body->kind_start[kind]]);
    body->closed = true;
    return set_membrane_masses(build);
}

bool sphere_count(const struct scene_body *given, struct build_counts *counts)
{
    int subdivisions = given->shape.sphere.subdivisions;
    *counts = (struct build_counts){.face_arity = 3};
    if (subdivisions < 0 || subdivisions > SUBDIVISIONS_MAX)
        return false;
    // A subdivision multiplies the triangles by four. By Euler's formula, a closed surface of genus
    // 0 has half as many vertices as triangles, plus two.
    counts->faces = (uint64_t)ICOSAHEDRON_FACES << (2 * subdivisions);
    counts->nodes = counts->faces / 2 + 2;
    return true;
}

taut_status build_sphere(struct build *build)
{
    const struct scene_body *given = build->given;
    int subdivisions = given->shape.sphere.subdivisions;
    if (!(given->shape.sphere.radius > 0.0))
        return build_refuse(build, given->at, "sphere '%s' needs a radius above 0", given->name);
    struct build_counts counts;
    if (!sphere_count(given, &counts))
        return build_refuse(build, given->at, "sphere '%s' can be subdivided 0 to %d times",
                            given->name, (int)SUBDIVISIONS_MAX);

    uint64_t triangles = counts.faces, vertices = counts.nodes;
    struct icosphere sphere = {0};
    struct sphere_springs springs = {0};
    sphere.vertices = memory_allocate(NULL, 3 * vertices, sizeof *sphere.vertices);
    sphere.triangles = memory_allocate(NULL, 3 * triangles, sizeof *sphere.triangles);

    bool done = sphere.vertices && sphere.triangles;
    if (done)
        start_icosphere(&sphere);
    for (int i = 0; done && i < subdivisions; i++)
        done = subdivide(&sphere);
    taut_status status = done && find_sphere_springs(given, &sphere, &springs)
                             ? fill_sphere(build, &sphere, &springs)
                             : build_no_memory(build);

    for (size_t kind = EDGES; kind <= SECOND; kind++)
        pair_table_free(&springs.kinds[kind]);
    memory_release(NULL, sphere.vertices, 3 * vertices, sizeof *sphere.vertices);
    memory_release(NULL, sphere.triangles, 3 * triangles, sizeof *sphere.triangles);
    return status;
}

// ---- Mesh: nodes are the file's vertices in their order, without unused ones

static const char *plural(uint64_t count, const char *one, const char *many)
{
    return count == 1 ? one : many;
}

static void warn_about_file(struct build *build, const struct mesh *mesh,
                            const struct mesh_report *report)
{
    const struct scene_mesh *given = &build->given->shape.mesh;
    uint64_t unused = mesh->unused_vertices, flipped = report->flipped_triangles;
    const uint64_t repeated = report->repeated_triangles;
    if (unused > 0)
        build_warn(build, given->at, "'%s': %" PRIu64 " %s used by no face and %s left out",
                   given->path, unused, plural(unused, "vertex is", "vertices are"),
                   plural(unused, "is", "are"));
    if (flipped > 0)
        build_warn(build, given->at,
                   "'%s': %" PRIu64 " %s turned round so that neighbours agree and normals point "
                   "outwards%s",
                   given->path, flipped, plural(flipped, "triangle was", "triangles were"),
                   report->cavities == 0  ? ""
                   : report->cavities > 1 ? ", of the inner shells into the cavities"
                                          : ", of the inner shell into the cavity");
    if (repeated > 0 && !body_is_membrane(build->given)) // which refuse them
        build_warn(build, given->at,
                   "'%s': %" PRIu64 " %s the same vertices as another one: wind and mass count %s "
                   "again; remove %s",
                   given->path, repeated, plural(repeated, "face has", "faces have"),
                   plural(repeated, "it", "them"), plural(repeated, "it", "them"));
    if (!report->orientable)
        build_warn(build, given->at,
                   "'%s': the surface has only one side, so that wind on it has no direction",
                   given->path);
}

// Reports, with counts, why this surface encloses no volume on which pressure could act.
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
                     " %s with three or more faces; remove inner walls and duplicate faces",
                     path, report->non_manifold_edges,
                     plural(report->non_manifold_edges, "edge", "edges"));
    // Wrong edges also have wrong vertices: one cause, one message.
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

// An elastic surface bends at an edge of two triangles by the corners that they have opposite it,
// and those of a triangle that occurs twice are the same node.
static taut_status refuse_repeated(struct build *build, const struct mesh *mesh,
                                   const struct mesh_report *report)
{
    const struct scene_body *given = build->given;
    const uint64_t *faces = report->repeated_first, repeated = report->repeated_triangles;
    const double *a = mesh->vertices + 3 * (size_t)mesh->triangles[3 * faces[1]];
    return build_refuse(build, given->elastic.at,
                        "faces %" PRIu64 " and %" PRIu64 " of body '%s', at (%g, %g, %g), have the "
                        "same vertices, so that the angle between them is none by which an elastic "
                        "surface bends; remove one of them from '%s' (%" PRIu64 " %s another one)",
                        faces[0], faces[1], given->name, a[0], a[1], a[2], given->shape.mesh.path,
                        repeated, plural(repeated, "face repeats", "faces repeat"));
}

static bool find_mesh_springs(const struct scene_body *given, const struct mesh *mesh,
                              struct pair_table tables[2])
{
    if (!surface_edges(mesh->triangles, mesh->triangle_count, mesh->vertex_count, &tables[EDGES]))
        return false;
    return !given->kinds[BEND].present ||
           surface_bends(mesh->triangles, mesh->triangle_count, &tables[EDGES], &tables[BEND]);
}

// Copies the arrays of the mesh, and frees each before the next one is copied.
static bool take_mesh(struct body *body, struct mesh *mesh)
{
    set_surface_counts(body, mesh->vertex_count, mesh->triangle_count);
    body->faces = memory_copy(NULL, mesh->triangles, 3 * mesh->triangle_count, sizeof *body->faces);
    free(mesh->triangles);
    mesh->triangles = NULL;
    if (!body->faces)
        return false;
    body->positions =
        memory_copy(NULL, mesh->vertices, 3 * mesh->vertex_count, sizeof *body->positions);
    free(mesh->vertices);
    mesh->vertices = NULL;
    return body->positions != NULL;
}

static taut_status fill_mesh(struct build *build, struct mesh *mesh,
                             const struct pair_table tables[2])
{
    const struct scene_body *given = build->given;
    struct body *body = build->body;
    struct build_counts counts = {
        .nodes = mesh->vertex_count, .faces = mesh->triangle_count, .face_arity = 3};
    for (size_t kind = EDGES; kind <= BEND; kind++)
        if (given->kinds[kind].present)
            counts.springs[kind] = tables[kind].pair_count;
    if (!take_mesh(body, mesh))
        return build_no_memory(build);
    taut_status status = build_allocate(build, &counts);
    if (status != TAUT_OK)
        return status;
    for (size_t kind = EDGES; kind <= BEND; kind++)
        if (given->kinds[kind].present)
            pair_table_copy(&tables[kind], &body->springs[body->kind_start[kind]]);
    body->unused_vertices = mesh->unused_vertices;
    return set_membrane_masses(build);
}

static taut_status build_from_mesh(struct build *build, struct mesh *mesh)
{
    const struct scene_body *given = build->given;
    struct mesh_report report;
    // Scaled first: a negative scale mirrors the mesh, so that its faces must be reversed.
    for (uint64_t i = 0; i < 3 * mesh->vertex_count; i++)
        mesh->vertices[i] *= given->shape.mesh.scale;
    if (!mesh_inspect_and_orient(mesh, &report))
        return build_no_memory(build);
    warn_about_file(build, mesh, &report);
    if (given->pressure.present && !report.closed)
        return refuse_pressure(build, &report);
    if (body_is_membrane(given) && report.repeated_triangles > 0)
        return refuse_repeated(build, mesh, &report);

    struct pair_table tables[2] = {{0}};
    taut_status status = find_mesh_springs(given, mesh, tables) ? fill_mesh(build, mesh, tables)
                                                                : build_no_memory(build);
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
    taut_status status = build_from_mesh(build, &mesh);
    mesh_free(&mesh);
    return status;
}
