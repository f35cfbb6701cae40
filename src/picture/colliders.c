#include "picture/colliders.h"

#include "picture/shaders.h"

taut_status colliders_make(struct colliders *colliders, taut_error *error)
{
    *colliders = (struct colliders){0};
    glGenVertexArrays(1, &colliders->vertices);
    taut_status status = gl_program_make("planes", "", shader_planes, &colliders->plain, error);
    if (status == TAUT_OK)
        status = gl_program_make("planes", "#define GRID\n", shader_planes, &colliders->with_grid,
                                 error);
    return status;
}

void colliders_free(struct colliders *colliders)
{
    glDeleteProgram(colliders->plain);
    glDeleteProgram(colliders->with_grid);
    glDeleteVertexArrays(1, &colliders->vertices);
    *colliders = (struct colliders){0};
}

// Faces whose nodes lie on a sphere dip into it; so much of the radius is seen through.
static const double SUNK = 0.06;

void colliders_draw_spheres(const struct solids *solids, const struct frame *frame)
{
    static const struct colour stone = {0.74f, 0.71f, 0.66f};
    if (!frame->moment->spheres)
        return;
    solids_paint(solids, stone, 0.25);
    for (size_t i = 0; i < frame->subject->collider_count; i++) {
        const struct subject_sphere *sphere = &frame->moment->spheres[i];
        if (frame->subject->colliders[i].type == COLLIDER_SPHERE && sphere->radius > 0.0f)
            solids_sphere(solids,
                          vec3_make(sphere->centre[0], sphere->centre[1], sphere->centre[2]),
                          sphere->radius, SUNK * sphere->radius);
    }
}

// ---- Planes.

enum fading { FADING_NONE, FADING_TO_EDGES, FADING_BELOW };

struct plane {
    vec3 centre, unit_u, unit_v;
    double half_u, half_v, spacing, strength;
    enum fading fading;
    bool shadowed;
};

static void set_paint(GLuint program, bool dark)
{
    static const struct colour light_plane = {0.90f, 0.91f, 0.92f};
    static const struct colour light_line = {0.62f, 0.66f, 0.70f};
    static const struct colour dark_plane = {0.20f, 0.22f, 0.245f};
    static const struct colour dark_line = {0.36f, 0.39f, 0.43f};
    gl_set_colour(program, "paint", dark ? dark_plane : light_plane);
    gl_set_colour(program, "line_paint", dark ? dark_line : light_line);
}

static void draw(const struct colliders *colliders, const struct frame *frame,
                 const struct plane *plane)
{
    GLuint program = plane->spacing > 0.0 ? colliders->with_grid : colliders->plain;
    glUseProgram(program);
    set_paint(program, frame->options->dark);
    gl_set_vector(program, "centre", plane->centre);
    gl_set_vector(program, "unit_u", plane->unit_u);
    gl_set_vector(program, "unit_v", plane->unit_v);
    gl_set_vector(program, "along_u", vec3_scale(plane->half_u, plane->unit_u));
    gl_set_vector(program, "along_v", vec3_scale(plane->half_v, plane->unit_v));
    gl_set_float(program, "spacing", plane->spacing);
    gl_set_float(program, "fading", plane->fading);
    gl_set_float(program, "strength", plane->strength);
    gl_set_int(program, "shadowed", plane->shadowed);
    glBindVertexArray(colliders->vertices);
    glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
}

static vec3 up_of(const struct frame *frame)
{
    const float *up = frame->subject->up;
    return vec3_make(up[0], up[1], up[2]);
}

// Two directions in a plane, one of them level where the plane is not.
static void span(vec3 normal, vec3 up, vec3 *u, vec3 *v)
{
    vec3 other = fabs(vec3_dot(normal, up)) < 0.9 ? up : vec3_make(1, 0, 0);
    if (fabs(vec3_dot(normal, other)) > 0.9)
        other = vec3_make(0, 0, 1);
    *u = vec3_cross(other, normal);
    *u = vec3_scale(1.0 / vec3_length(*u), *u);
    *v = vec3_cross(normal, *u);
}

// A round distance between lines: of 1, 2 or 5 times a power of ten metres.
static double spacing_for(double size)
{
    double power = pow(10.0, floor(log10(size / 4.0)));
    double digits = size / 4.0 / power;
    return power * (digits < 2.0 ? 1.0 : digits < 5.0 ? 2.0 : 5.0);
}

// Whether the eye is on the side of a plane where bodies are.
static bool seen_from_inside(const struct frame *frame, vec3 point, vec3 normal)
{
    return vec3_dot(vec3_subtract(camera_eye(frame->camera), point), normal) > 0.0;
}

// Endless, as far as the camera goes: what it shows follows from the camera and not from where
// bodies are, so that it stands still while they move.
static struct plane plane_of(const struct frame *frame, vec3 point, vec3 normal)
{
    vec3 centre = frame->camera->target;
    double above = vec3_dot(vec3_subtract(centre, point), normal);
    struct plane plane = {.centre = vec3_subtract(centre, vec3_scale(above, normal)),
                          .half_u = 3.0 * frame->reach,
                          .half_v = 3.0 * frame->reach,
                          .spacing = spacing_for(frame->reach),
                          .strength = 1.0,
                          .fading = FADING_TO_EDGES,
                          .shadowed = true};
    span(normal, up_of(frame), &plane.unit_u, &plane.unit_v);
    return plane;
}

// In a scene in a plane one looks along its ground: a band below the line where they meet.
static struct plane band_of(const struct frame *frame, vec3 point, vec3 normal)
{
    struct plane plane = plane_of(frame, point, normal);
    plane.unit_v = normal;
    plane.unit_u = vec3_cross(normal, vec3_make(0, 0, 1));
    plane.half_v = 0.05 * frame->reach;
    plane.half_u = 2.0 * frame->reach * frame->camera->width / frame->camera->height;
    plane.centre = vec3_subtract(plane.centre, vec3_scale(plane.half_v, normal));
    plane.fading = FADING_BELOW;
    return plane;
}

static bool is_edge_on(const struct frame *frame, vec3 normal)
{
    return frame->subject->flat && fabs(normal.z) < 0.1;
}

// The x, y or z axis.
static vec3 unit_along(int axis)
{
    axis %= 3;
    return vec3_make(axis == 0, axis == 1, axis == 2);
}

// Of a room one sees the walls that are seen from inside: those behind.
static void draw_room(const struct colliders *colliders, const struct frame *frame,
                      const struct scene_collider *room)
{
    vec3 half = vec3_scale(0.5, vec3_subtract(room->max, room->min));
    vec3 middle = vec3_add(room->min, half);
    for (int wall = 0; wall < 6; wall++) {
        int axis = wall / 2;
        vec3 outwards = vec3_scale(wall % 2 == 0 ? -1.0 : 1.0, unit_along(axis));
        double away = fabs(vec3_dot(half, outwards));
        struct plane plane = {.centre = vec3_add(middle, vec3_scale(away, outwards)),
                              .unit_u = unit_along(axis + 1),
                              .unit_v = unit_along(axis + 2),
                              .half_u = vec3_dot(half, unit_along(axis + 1)),
                              .half_v = vec3_dot(half, unit_along(axis + 2)),
                              .spacing = spacing_for(vec3_length(half)),
                              .strength = 0.85,
                              .shadowed = vec3_dot(outwards, up_of(frame)) < -0.5};
        if (seen_from_inside(frame, plane.centre, vec3_scale(-1.0, outwards)))
            draw(colliders, frame, &plane);
    }
}

// The plane just below a scene that nothing bounds below.
static void draw_ground(const struct colliders *colliders, const struct frame *frame)
{
    vec3 up = up_of(frame), point = frame->camera->target;
    double lowest = INFINITY, built = INFINITY;
    const float *low = frame->subject->low, *high = frame->subject->high;
    for (unsigned i = 0; i < 8; i++) {
        vec3 now =
            vec3_make(i & 1 ? frame->high.x : frame->low.x, i & 2 ? frame->high.y : frame->low.y,
                      i & 4 ? frame->high.z : frame->low.z);
        vec3 then =
            vec3_make(i & 1 ? high[0] : low[0], i & 2 ? high[1] : low[1], i & 4 ? high[2] : low[2]);
        lowest = fmin(lowest, vec3_dot(now, up));
        built = fmin(built, vec3_dot(then, up));
    }
    double height = fmin(lowest - 0.02 * frame->size, built - 0.08 * frame->size);
    point = vec3_add(point, vec3_scale(height - vec3_dot(point, up), up));
    if (!seen_from_inside(frame, point, up))
        return;
    struct plane plane = plane_of(frame, point, up);
    plane.spacing = 0.0;
    plane.strength = 0.0;
    draw(colliders, frame, &plane);
}

static bool lies_below(const struct frame *frame, const struct scene_collider *collider)
{
    return collider->type == COLLIDER_ROOM ||
           (collider->type == COLLIDER_PLANE && vec3_dot(collider->normal, up_of(frame)) > 0.5);
}

void colliders_draw_planes(const struct colliders *colliders, const struct frame *frame)
{
    bool below = false;
    glEnable(GL_BLEND);
    glBlendFunc(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA);
    glDepthMask(GL_FALSE);
    for (size_t i = 0; i < frame->subject->collider_count; i++) {
        const struct scene_collider *collider = &frame->subject->colliders[i];
        below |= lies_below(frame, collider);
        if (!(frame->layers & LAYER_COLLIDERS))
            continue;
        if (collider->type == COLLIDER_ROOM) {
            draw_room(colliders, frame, collider);
        } else if (collider->type == COLLIDER_PLANE && is_edge_on(frame, collider->normal)) {
            struct plane band = band_of(frame, collider->point, collider->normal);
            draw(colliders, frame, &band);
        } else if (collider->type == COLLIDER_PLANE &&
                   seen_from_inside(frame, collider->point, collider->normal)) {
            struct plane plane = plane_of(frame, collider->point, collider->normal);
            draw(colliders, frame, &plane);
        }
    }
    if (!(below && frame->layers & LAYER_COLLIDERS) && frame->layers & LAYER_GROUND &&
        !frame->subject->flat)
        draw_ground(colliders, frame);
    glDepthMask(GL_TRUE);
    glDisable(GL_BLEND);
}

void colliders_draw_veils(const struct colliders *colliders, const struct frame *frame)
{
    if (!(frame->layers & LAYER_COLLIDERS))
        return;
    glEnable(GL_BLEND);
    glBlendFunc(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA);
    glDepthMask(GL_FALSE);
    for (size_t i = 0; i < frame->subject->collider_count; i++) {
        const struct scene_collider *collider = &frame->subject->colliders[i];
        if (collider->type != COLLIDER_PLANE || is_edge_on(frame, collider->normal) ||
            seen_from_inside(frame, collider->point, collider->normal))
            continue;
        struct plane plane = plane_of(frame, collider->point, collider->normal);
        plane.strength = 0.35;
        plane.shadowed = false;
        draw(colliders, frame, &plane);
    }
    glDepthMask(GL_TRUE);
    glDisable(GL_BLEND);
}
