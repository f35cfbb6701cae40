// Reads the meshes of colliders: triangles, and points scaled and rotated by `rotate`, relative to
// the mesh's own origin. Orientation does not matter to contact, so it is neither reported nor
// changed; `sides: outside` needs an inside.
#include "scene/build/build.h"

#include <inttypes.h>
#include <string.h>

#include "base/memory.h"
#include "base/task.h"
#include "scene/mesh/mesh.h"

static taut_status refuse_open(const struct build *build, const struct scene_collider *given,
                               const struct mesh_report *report)
{
    const uint64_t open = report->open_edges, several = report->non_manifold_edges;
    const char *path = given->mesh.path;
    if (open > 0)
        scene_report(build->scene, build->diagnostics, given->at,
                     "'sides: outside' needs a closed surface: '%s' has %" PRIu64
                     " %s with only one face; close its holes, or use 'sides: both'",
                     path, open, open == 1 ? "edge" : "edges");
    else if (several > 0)
        scene_report(build->scene, build->diagnostics, given->at,
                     "'sides: outside' needs a surface with an inside: '%s' has %" PRIu64
                     " %s with three or more faces; remove inner walls and duplicate faces, or use "
                     "'sides: both'",
                     path, several, several == 1 ? "edge" : "edges");
    else
        scene_report(build->scene, build->diagnostics, given->at,
                     "'sides: outside' needs a surface with an inside, which '%s' does not have; "
                     "use 'sides: both'",
                     path);
    return TAUT_ERROR_SCENE;
}

// Products of valid numbers may still overflow.
static taut_status place_points(const struct build *build, const struct scene_collider *given,
                                struct collider_mesh *made)
{
    const struct rotation rotation = rotation_make(given->rotate);
    for (uint64_t i = 0; i < made->node_count; i++) {
        double *at = made->points + 3 * i;
        const vec3 p =
            rotate(&rotation, vec3_scale(given->mesh.scale, vec3_make(at[0], at[1], at[2])));
        const double coordinates[3] = {p.x, p.y, p.z};
        if (task_ends(i))
            return fail_memory(build->error, "a mesh collider");
        for (int axis = 0; axis < 3; axis++) {
            const char *reason = precision_lacks(build->scene->precision, coordinates[axis], false);
            if (reason) {
                scene_report(build->scene, build->diagnostics, given->at,
                             "node %" PRIu64 " of mesh collider '%s' has a coordinate of %g, "
                             "which %s",
                             i, given->mesh.path, coordinates[axis], reason);
                return TAUT_ERROR_SCENE;
            }
            at[axis] = coordinates[axis];
        }
    }
    return TAUT_OK;
}

// The height of a triangle over its longest side is at most a billionth of it.
static bool has_no_area(const struct collider_mesh *made, uint64_t face)
{
    vec3 at[3];
    double longest;
    for (int i = 0; i < 3; i++) {
        const double *point = made->points + 3 * (size_t)made->faces[3 * face + (uint64_t)i];
        at[i] = vec3_make(point[0], point[1], point[2]);
    }
    return !(triangle_height(at, &longest) > 1e-9 * longest);
}

// Warns of triangles without area. Only their edges touch anything, as if the faces beside them had
// a gap of no width.
static void warn_of_areas(const struct build *build, const struct scene_collider *given,
                          const struct collider_mesh *made)
{
    uint64_t count = 0, first = 0;
    for (uint64_t f = 0; f < made->face_count && !task_ends(f); f++)
        if (has_no_area(made, f) && count++ == 0)
            first = f;
    if (count == 0)
        return;
    const uint32_t *corners = made->faces + 3 * first;
    const double *at = made->points + 3 * (size_t)corners[0];
    scene_warn(build->scene, build->diagnostics, given->at,
               "'%s': %" PRIu64
               " %s no area, as the corners lie on a line or at one point, so that "
               "only %s edges touch anything; the first one is that of nodes %" PRIu32 ", %" PRIu32
               " and %" PRIu32 ", near (%g, %g, %g) as placed at the mesh's own origin: remove %s",
               given->mesh.path, count, count == 1 ? "triangle has" : "triangles have",
               count == 1 ? "its" : "their", corners[0], corners[1], corners[2], at[0], at[1],
               at[2], count == 1 ? "it" : "them");
}

static taut_status take_mesh(const struct build *build, const struct scene_collider *given,
                             struct mesh *mesh, struct collider_mesh *made)
{
    struct mesh_report report;
    if (!mesh_inspect_and_orient(mesh, &report))
        return fail_memory(build->error, "a mesh collider");
    if (given->sides == SIDES_OUTSIDE && !report.closed)
        return refuse_open(build, given, &report);
    made->node_count = mesh->vertex_count;
    made->face_count = mesh->triangle_count;
    made->points = memory_copy(NULL, mesh->vertices, 3 * mesh->vertex_count, sizeof(double));
    made->faces = memory_copy(NULL, mesh->triangles, 3 * mesh->triangle_count, sizeof(uint32_t));
    if (!made->points || !made->faces)
        return fail_memory(build->error, "a mesh collider");
    const taut_status status = place_points(build, given, made);
    if (status == TAUT_OK)
        warn_of_areas(build, given, made);
    return status;
}

static taut_status build_collider(const struct build *build, const struct scene_collider *given,
                                  struct collider_mesh *made)
{
    struct mesh mesh = {0};
    if (!mesh_read(given->mesh.path, &mesh, build->diagnostics))
        return build->diagnostics->failure == TAUT_ERROR_MEMORY
                   ? fail_memory(build->error, "a mesh collider")
                   : TAUT_ERROR_SCENE;
    const taut_status status = take_mesh(build, given, &mesh, made);
    mesh_free(&mesh);
    return status;
}

taut_status build_colliders(const struct build *build, struct bodies *bodies)
{
    const taut_scene *scene = build->scene;
    size_t count = 0;
    for (size_t c = 0; c < scene->collider_count; c++)
        count += scene->colliders[c].type == COLLIDER_MESH;
    if (count == 0)
        return TAUT_OK;
    bodies->colliders = memory_allocate(NULL, count, sizeof *bodies->colliders);
    if (!bodies->colliders)
        return fail_memory(build->error, "mesh colliders");
    bodies->collider_count = count;
    taut_status status = TAUT_OK;
    size_t next = 0;
    for (size_t c = 0; c < scene->collider_count && status != TAUT_ERROR_MEMORY; c++) {
        if (scene->colliders[c].type != COLLIDER_MESH)
            continue;
        struct collider_mesh *made = &bodies->colliders[next++];
        made->collider = c;
        const taut_status own = build_collider(build, &scene->colliders[c], made);
        status = own != TAUT_OK ? own : status;
    }
    return status;
}

void free_colliders(struct bodies *bodies)
{
    for (size_t i = 0; i < bodies->collider_count; i++) {
        struct collider_mesh *it = &bodies->colliders[i];
        memory_release(NULL, it->points, 3 * it->node_count, sizeof *it->points);
        memory_release(NULL, it->faces, 3 * it->face_count, sizeof *it->faces);
    }
    memory_release(NULL, bodies->colliders, bodies->collider_count, sizeof *bodies->colliders);
}
