// Picking by lines of sight, and cuts on the screen (pick.h).
#include "view/pick.h"

#include <stdlib.h>

#include "base/memory.h"

// ---- Picking

static vec3 node_at(const struct frame *frame, uint64_t node)
{
    const float *p = frame->drawn_positions + 3 * node;
    return vec3_make(p[0], p[1], p[2]);
}

// The distance along the ray to a sphere; false if it misses, or if the sphere is behind the eye.
static bool ray_meets_sphere(const struct camera_ray *ray, const struct frame_collider *sphere,
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

// If nothing else is nearer.
static void set_collider(size_t collider, const struct camera *camera, const struct camera_ray *ray,
                         double along, struct pick *pick)
{
    const vec3 point = vec3_add(ray->origin, vec3_scale(along, ray->direction));
    const double depth = depth_of(camera, point);
    if (pick->kind == PICK_NOTHING || depth < pick->depth)
        *pick = (struct pick){
            .kind = PICK_COLLIDER, .collider = collider, .point = point, .depth = depth};
}

static void pick_sphere(const struct subject *subject, const struct frame *frame,
                        const struct camera *camera, const struct camera_ray *ray,
                        struct pick *pick)
{
    for (size_t i = 0; i < subject->collider_count && frame->colliders; i++) {
        const struct frame_collider *sphere = &frame->colliders[i];
        double along;
        if (!(sphere->radius > 0) || !ray_meets_sphere(ray, sphere, &along))
            continue;
        set_collider(i, camera, ray, along, pick);
    }
}

// The distance along the ray to a mesh collider; false if it misses.
static bool ray_meets_mesh(const struct camera_ray *ray, const struct subject *subject, size_t mesh,
                           const struct frame *frame, double *along)
{
    const struct subject_mesh *it = &subject->meshes[mesh];
    const struct collider_pose pose = subject_mesh_pose(subject, mesh, frame);
    const struct subject_corner *corners = subject->corners + it->first_corner;
    *along = INFINITY;
    for (uint64_t i = 0; i < it->corner_count; i += 3) {
        vec3 at[3];
        double here;
        for (int c = 0; c < 3; c++) {
            const float *p = corners[i + (uint64_t)c].position;
            at[c] = collider_point(&pose, vec3_make((double)p[0], (double)p[1], (double)p[2]));
        }
        if (ray_meets_triangle(ray, at[0], at[1], at[2], &here))
            *along = fmin(*along, here);
    }
    return *along < INFINITY;
}

static void pick_mesh(const struct subject *subject, const struct frame *frame,
                      const struct camera *camera, const struct camera_ray *ray, struct pick *pick)
{
    double along;
    for (size_t m = 0; m < subject->mesh_count; m++)
        if (ray_meets_mesh(ray, subject, m, frame, &along))
            set_collider(subject->meshes[m].collider, camera, ray, along, pick);
}

// The square of the distance on the screen between a node and a pixel; infinite behind the eye.
static double distance_on_screen(const struct frame *frame, const struct camera *camera,
                                 uint64_t node, double x, double y, double *depth)
{
    double node_x, node_y;
    if (!camera_project(camera, node_at(frame, node), &node_x, &node_y, depth))
        return INFINITY;
    return (node_x - x) * (node_x - x) + (node_y - y) * (node_y - y);
}

static void set_node(const struct frame *frame, uint64_t node, double depth, struct pick *pick)
{
    *pick = (struct pick){
        .kind = PICK_NODE, .node = node, .point = node_at(frame, node), .depth = depth};
}

static uint64_t nearest_corner(const uint32_t face[3], const struct frame *frame,
                               const struct camera *camera, double x, double y)
{
    uint64_t nearest = face[0];
    double least = INFINITY, depth;
    for (int corner = 0; corner < 3; corner++) {
        double square = distance_on_screen(frame, camera, face[corner], x, y, &depth);
        if (square < least) {
            least = square;
            nearest = face[corner];
        }
    }
    return nearest;
}

// The nearest face on the line of sight; false if there is none in front of the present pick.
static bool pick_face(const struct subject *subject, const struct frame *frame,
                      const struct camera *camera, const struct camera_ray *ray, double x, double y,
                      struct pick *pick)
{
    double nearest = INFINITY;
    uint64_t found = 0;
    for (uint64_t i = 0; i < subject->face_count; i++) {
        const uint32_t *face = subject->faces[i];
        double along;
        if (face[1] != face[2] &&
            ray_meets_triangle(ray, node_at(frame, face[0]), node_at(frame, face[1]),
                               node_at(frame, face[2]), &along) &&
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
    uint64_t node = nearest_corner(subject->faces[found], frame, camera, x, y);
    set_node(frame, node, depth_of(camera, node_at(frame, node)), pick);
    return true;
}

static void pick_node(const struct subject *subject, const struct frame *frame,
                      const struct camera *camera, double x, double y, double reach,
                      struct pick *pick)
{
    double least = reach * reach;
    struct pick collider = *pick;
    for (uint64_t i = 0; i < subject->node_count; i++) {
        double depth;
        double square = distance_on_screen(frame, camera, i, x, y, &depth);
        if (square >= least || (collider.kind == PICK_COLLIDER && depth > collider.depth))
            continue;
        least = square;
        set_node(frame, i, depth, pick);
    }
}

struct pick pick_at(const struct subject *subject, const struct frame *frame,
                    const struct camera *camera, double x, double y, double reach)
{
    struct camera_ray ray = camera_ray_at(camera, x, y);
    struct pick pick = {.kind = PICK_NOTHING};
    pick_sphere(subject, frame, camera, &ray, &pick);
    pick_mesh(subject, frame, camera, &ray, &pick);
    if (!pick_face(subject, frame, camera, &ray, x, y, &pick))
        pick_node(subject, frame, camera, x, y, reach, &pick);
    return pick;
}

enum { FLAT = 12 }; // a plane or line counts as edge on below a slope of 1 / FLAT

bool pick_on_plane(const struct camera *camera, double x, double y, vec3 point, vec3 normal,
                   vec3 *position)
{
    struct camera_ray ray = camera_ray_at(camera, x, y);
    double slope = vec3_dot(ray.direction, normal);
    if (fabs(slope) * FLAT < 1)
        return false;
    double along = vec3_dot(vec3_subtract(point, ray.origin), normal) / slope;
    if (!(along > 0) && camera->field > 0)
        return false;
    *position = vec3_add(ray.origin, vec3_scale(along, ray.direction));
    return true;
}

bool pick_on_line(const struct camera *camera, double x, double y, vec3 point, vec3 direction,
                  vec3 *position)
{
    struct camera_ray ray = camera_ray_at(camera, x, y);
    // The foot on the line of the common normal of line and ray.
    double cosine = vec3_dot(ray.direction, direction);
    double across = 1 - cosine * cosine;
    if (across * FLAT * FLAT < 1)
        return false;
    vec3 apart = vec3_subtract(ray.origin, point);
    double along = (vec3_dot(apart, direction) - cosine * vec3_dot(apart, ray.direction)) / across;
    *position = vec3_add(point, vec3_scale(along, direction));
    return true;
}

// ---- Cuts

static bool add_position(struct stroke *stroke, double x, double y)
{
    if (!array_reserve((void **)&stroke->path, &stroke->path_capacity, stroke->path_count + 1,
                       2 * sizeof *stroke->path))
        return false;
    stroke->path[2 * stroke->path_count] = x;
    stroke->path[2 * stroke->path_count + 1] = y;
    stroke->path_count++;
    return true;
}

taut_status stroke_begin(struct stroke *stroke, const struct subject *subject, double x, double y,
                         taut_error *error)
{
    *stroke = (struct stroke){
        .spring_count = subject->spring_count,
        .face_count = subject->face_count,
        .node_count = subject->node_count,
        .springs = calloc(subject->spring_count + 1, 1),
        .faces = calloc(subject->face_count + 1, 1),
        .seen = calloc(subject->node_count + 1, 2 * sizeof *stroke->seen),
    };
    if (stroke->springs && stroke->faces && stroke->seen && add_position(stroke, x, y))
        return TAUT_OK;
    stroke_end(stroke);
    return fail_memory(error, "a cut");
}

// The side of the line through a and b that a position is on: positive on one, negative on the
// other.
static double side(const double a[2], const double b[2], const double position[2])
{
    return (b[0] - a[0]) * (position[1] - a[1]) - (b[1] - a[1]) * (position[0] - a[0]);
}

static bool cross(const double a[2], const double b[2], const double c[2], const double d[2])
{
    return side(a, b, c) * side(a, b, d) < 0 && side(c, d, a) * side(c, d, b) < 0;
}

static bool inside(const double position[2], const double corners[3][2])
{
    double first = side(corners[0], corners[1], position);
    double second = side(corners[1], corners[2], position);
    double third = side(corners[2], corners[0], position);
    return (first > 0 && second > 0 && third > 0) || (first < 0 && second < 0 && third < 0);
}

static void project_nodes(struct stroke *stroke, const struct frame *frame,
                          const struct camera *camera)
{
    for (uint64_t i = 0; i < stroke->node_count; i++) {
        const float *p = frame->drawn_positions + 3 * i;
        double x, y, depth;
        bool before = camera_project(camera, vec3_make(p[0], p[1], p[2]), &x, &y, &depth);
        stroke->seen[2 * i] = before ? (float)x : NAN;
        stroke->seen[2 * i + 1] = before ? (float)y : NAN;
    }
}

// NAN compares false with everything, so nothing behind the eye is crossed.
static void screen_position(const struct stroke *stroke, uint32_t node, double position[2])
{
    position[0] = stroke->seen[2 * (size_t)node];
    position[1] = stroke->seen[2 * (size_t)node + 1];
}

static void mark_springs(struct stroke *stroke, const struct subject *subject, const double from[2],
                         const double to[2])
{
    for (uint64_t i = 0; i < stroke->spring_count; i++) {
        double a[2], b[2];
        screen_position(stroke, subject->springs[i][0], a);
        screen_position(stroke, subject->springs[i][1], b);
        if (cross(from, to, a, b))
            stroke->springs[i] = 1;
    }
}

static void mark_faces(struct stroke *stroke, const struct subject *subject, const double from[2],
                       const double to[2])
{
    for (uint64_t i = 0; i < stroke->face_count; i++) {
        double corners[3][2];
        for (int corner = 0; corner < 3; corner++)
            screen_position(stroke, subject->faces[i][corner], corners[corner]);
        if (cross(from, to, corners[0], corners[1]) || cross(from, to, corners[1], corners[2]) ||
            cross(from, to, corners[2], corners[0]) || inside(to, corners))
            stroke->faces[i] = 1;
    }
}

bool stroke_to(struct stroke *stroke, const struct subject *subject, const struct frame *frame,
               const struct camera *camera, double x, double y)
{
    // The subject may have been replaced since; a stroke belongs to the subject that it began with.
    if (subject->spring_count != stroke->spring_count ||
        subject->face_count != stroke->face_count || subject->node_count != stroke->node_count)
        return false;
    const double *last = stroke->path + 2 * (stroke->path_count - 1);
    double from[2] = {last[0], last[1]}, to[2] = {x, y};
    if (from[0] == x && from[1] == y)
        return true;
    if (!add_position(stroke, x, y))
        return false;
    project_nodes(stroke, frame, camera);
    mark_springs(stroke, subject, from, to);
    mark_faces(stroke, subject, from, to);
    return true;
}

uint32_t *stroke_marked(const uint8_t *marks, uint64_t mark_count, size_t *count)
{
    *count = 0;
    for (uint64_t i = 0; i < mark_count; i++)
        *count += marks[i];
    uint32_t *numbers = *count > 0 ? malloc(*count * sizeof *numbers) : NULL;
    *count = numbers ? *count : 0;
    for (uint64_t i = 0, next = 0; i < mark_count && next < *count; i++)
        if (marks[i])
            numbers[next++] = (uint32_t)i;
    return numbers;
}

void stroke_end(struct stroke *stroke)
{
    free(stroke->springs);
    free(stroke->faces);
    free(stroke->seen);
    free(stroke->path);
    *stroke = (struct stroke){0};
}
