#include "view/pick.h"

static vec3 node_at(const struct subject_moment *moment, uint64_t node)
{
    const float *p = moment->positions + 3 * node;
    return vec3_make(p[0], p[1], p[2]);
}

// How far along the ray a sphere is met; false if not, or behind the eye.
static bool ray_meets_sphere(const struct camera_ray *ray, const struct subject_sphere *sphere,
                             double *along)
{
    vec3 centre = vec3_make(sphere->centre[0], sphere->centre[1], sphere->centre[2]);
    vec3 to_centre = vec3_subtract(centre, ray->origin);
    double middle = vec3_dot(to_centre, ray->direction);
    double beside = vec3_dot(to_centre, to_centre) - middle * middle;
    double inside = (double)sphere->radius * sphere->radius - beside;
    if (inside < 0)
        return false;
    *along = middle - sqrt(inside);
    return *along > 0;
}

// Moeller and Trumbore, "Fast, Minimum Storage Ray/Triangle Intersection" (1997); both sides.
static bool ray_meets_triangle(const struct camera_ray *ray, vec3 a, vec3 b, vec3 c, double *along)
{
    vec3 ab = vec3_subtract(b, a), ac = vec3_subtract(c, a);
    vec3 across = vec3_cross(ray->direction, ac);
    double determinant = vec3_dot(ab, across);
    if (determinant == 0)
        return false;
    vec3 from_a = vec3_subtract(ray->origin, a);
    double u = vec3_dot(from_a, across) / determinant;
    if (u < 0 || u > 1)
        return false;
    vec3 q = vec3_cross(from_a, ab);
    double v = vec3_dot(ray->direction, q) / determinant;
    if (v < 0 || u + v > 1)
        return false;
    *along = vec3_dot(ac, q) / determinant;
    return *along > 0;
}

static double depth_of(const struct camera *camera, vec3 point)
{
    vec3 right, up, forward;
    camera_axes(camera, &right, &up, &forward);
    return vec3_dot(vec3_subtract(point, camera_eye(camera)), forward);
}

static void pick_sphere(const struct subject *subject, const struct subject_moment *moment,
                        const struct camera *camera, const struct camera_ray *ray,
                        struct pick *pick)
{
    for (size_t i = 0; i < subject->collider_count && moment->spheres; i++) {
        const struct subject_sphere *sphere = &moment->spheres[i];
        double along;
        if (!(sphere->radius > 0) || !ray_meets_sphere(ray, sphere, &along))
            continue;
        vec3 point = vec3_add(ray->origin, vec3_scale(along, ray->direction));
        double depth = depth_of(camera, point);
        if (pick->kind != PICK_NOTHING && depth >= pick->depth)
            continue;
        *pick = (struct pick){.kind = PICK_SPHERE, .sphere = i, .point = point, .depth = depth};
    }
}

// The square of the distance, on the screen, of a node from a pixel; infinite behind the eye.
static double distance_on_screen(const struct subject_moment *moment, const struct camera *camera,
                                 uint64_t node, double x, double y, double *depth)
{
    double node_x, node_y;
    if (!camera_project(camera, node_at(moment, node), &node_x, &node_y, depth))
        return INFINITY;
    return (node_x - x) * (node_x - x) + (node_y - y) * (node_y - y);
}

static void take_node(const struct subject_moment *moment, uint64_t node, double depth,
                      struct pick *pick)
{
    *pick = (struct pick){
        .kind = PICK_NODE, .node = node, .point = node_at(moment, node), .depth = depth};
}

static uint64_t nearest_corner(const uint32_t face[3], const struct subject_moment *moment,
                               const struct camera *camera, double x, double y)
{
    uint64_t nearest = face[0];
    double least = INFINITY, depth;
    for (int corner = 0; corner < 3; corner++) {
        double square = distance_on_screen(moment, camera, face[corner], x, y, &depth);
        if (square < least) {
            least = square;
            nearest = face[corner];
        }
    }
    return nearest;
}

// Of the faces that the line of sight meets, the nearest; false where it meets none before what was
// picked so far.
static bool pick_face(const struct subject *subject, const struct subject_moment *moment,
                      const struct camera *camera, const struct camera_ray *ray, double x, double y,
                      struct pick *pick)
{
    double nearest = INFINITY;
    uint64_t found = 0;
    for (uint64_t i = 0; i < subject->face_count; i++) {
        const uint32_t *face = subject->faces[i];
        double along;
        if (face[1] != face[2] &&
            ray_meets_triangle(ray, node_at(moment, face[0]), node_at(moment, face[1]),
                               node_at(moment, face[2]), &along) &&
            along < nearest) {
            nearest = along;
            found = i;
        }
    }
    if (nearest == INFINITY)
        return false;
    vec3 point = vec3_add(ray->origin, vec3_scale(nearest, ray->direction));
    if (pick->kind != PICK_NOTHING && depth_of(camera, point) >= pick->depth)
        return false;
    uint64_t node = nearest_corner(subject->faces[found], moment, camera, x, y);
    take_node(moment, node, depth_of(camera, node_at(moment, node)), pick);
    return true;
}

static void pick_node(const struct subject *subject, const struct subject_moment *moment,
                      const struct camera *camera, double x, double y, double reach,
                      struct pick *pick)
{
    double least = reach * reach;
    struct pick sphere = *pick;
    for (uint64_t i = 0; i < subject->node_count; i++) {
        double depth;
        double square = distance_on_screen(moment, camera, i, x, y, &depth);
        if (square >= least || (sphere.kind == PICK_SPHERE && depth > sphere.depth))
            continue;
        least = square;
        take_node(moment, i, depth, pick);
    }
}

struct pick pick_at(const struct subject *subject, const struct subject_moment *moment,
                    const struct camera *camera, double x, double y, double reach)
{
    struct camera_ray ray = camera_ray_at(camera, x, y);
    struct pick pick = {.kind = PICK_NOTHING};
    pick_sphere(subject, moment, camera, &ray, &pick);
    if (!pick_face(subject, moment, camera, &ray, x, y, &pick))
        pick_node(subject, moment, camera, x, y, reach, &pick);
    return pick;
}

enum { FLAT = 12 }; // a plane or line is seen edge on below one part in so many

bool pick_on_plane(const struct camera *camera, double x, double y, vec3 point, vec3 normal,
                   vec3 *place)
{
    struct camera_ray ray = camera_ray_at(camera, x, y);
    double slope = vec3_dot(ray.direction, normal);
    if (fabs(slope) * FLAT < 1)
        return false;
    double along = vec3_dot(vec3_subtract(point, ray.origin), normal) / slope;
    if (!(along > 0) && camera->field > 0)
        return false;
    *place = vec3_add(ray.origin, vec3_scale(along, ray.direction));
    return true;
}

bool pick_on_line(const struct camera *camera, double x, double y, vec3 point, vec3 direction,
                  vec3 *place)
{
    struct camera_ray ray = camera_ray_at(camera, x, y);
    // The foot, on the line, of the common normal of the line and the ray.
    double cosine = vec3_dot(ray.direction, direction);
    double across = 1 - cosine * cosine;
    if (across * FLAT * FLAT < 1)
        return false;
    vec3 apart = vec3_subtract(ray.origin, point);
    double along = (vec3_dot(apart, direction) - cosine * vec3_dot(apart, ray.direction)) / across;
    *place = vec3_add(point, vec3_scale(along, direction));
    return true;
}
