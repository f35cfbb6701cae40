// Draws spheres, cylinders and cones, and with them colliders, planes and arrows (solids.h).
// renderer.c decides when each is drawn.
#include "picture/solids.h"

#include "picture/shaders.h"
#include "scene/collider_pose.h"

// ---- Solids of revolution

// A solid of revolution about z: the points of its profile with their normals. A full turn has
// TURNS steps.
enum { TURNS = 64, PROFILE_POINTS = 33 };

struct profile {
    int count;
    float radius[PROFILE_POINTS], height[PROFILE_POINTS];
    float outwards[PROFILE_POINTS], upwards[PROFILE_POINTS];
};

static void profile_add(struct profile *profile, double radius, double height, double outwards,
                        double upwards)
{
    int i = profile->count++;
    profile->radius[i] = (float)radius;
    profile->height[i] = (float)height;
    profile->outwards[i] = (float)outwards;
    profile->upwards[i] = (float)upwards;
}

static const double PI = 3.14159265358979323846;

static struct profile profile_of(enum solid solid)
{
    struct profile profile = {0};
    if (solid == SOLID_SPHERE) {
        for (int i = 0; i < PROFILE_POINTS; i++) {
            double angle = PI * (i / (PROFILE_POINTS - 1.0) - 0.5);
            profile_add(&profile, cos(angle), sin(angle), cos(angle), sin(angle));
        }
        return profile;
    }
    profile_add(&profile, 0, 0, 0, -1); // the disc at the bottom
    profile_add(&profile, 1, 0, 0, -1);
    double top = solid == SOLID_CONE ? 0.0 : 1.0;
    double slope = solid == SOLID_CONE ? sqrt(0.5) : 0.0;
    profile_add(&profile, 1, 0, sqrt(1.0 - slope * slope), slope);
    profile_add(&profile, top, 1, sqrt(1.0 - slope * slope), slope);
    if (solid == SOLID_CYLINDER) {
        profile_add(&profile, 1, 1, 0, 1);
        profile_add(&profile, 0, 1, 0, 1);
    }
    return profile;
}

struct solid_vertex {
    float position[3], normal[3];
};

static struct solid_vertex vertex_of(const struct profile *profile, int i, int turn)
{
    double angle = 2.0 * PI * turn / TURNS;
    float x = (float)cos(angle), y = (float)sin(angle);
    return (struct solid_vertex){
        {profile->radius[i] * x, profile->radius[i] * y, profile->height[i]},
        {profile->outwards[i] * x, profile->outwards[i] * y, profile->upwards[i]}};
}

// Positions and normals in the present buffer, for the present vertex array.
static void describe_vertices(GLsizei stride, size_t normal_offset)
{
    glVertexAttribPointer(0, 3, GL_FLOAT, GL_FALSE, stride, NULL);
    // OpenGL takes an offset in a buffer as a pointer.
    const void *normals = (const void *)normal_offset; // NOLINT(performance-no-int-to-ptr)
    glVertexAttribPointer(1, 3, GL_FLOAT, GL_FALSE, stride, normals);
    glEnableVertexAttribArray(0);
    glEnableVertexAttribArray(1);
}

static void solid_make(struct solids *solids, enum solid solid)
{
    struct profile profile = profile_of(solid);
    struct solid_vertex vertices[6 * TURNS * (PROFILE_POINTS - 1)];
    int count = 0;
    for (int i = 0; i + 1 < profile.count; i++) {
        for (int turn = 0; turn < TURNS; turn++) {
            struct solid_vertex a = vertex_of(&profile, i, turn);
            struct solid_vertex b = vertex_of(&profile, i, turn + 1);
            struct solid_vertex c = vertex_of(&profile, i + 1, turn + 1);
            struct solid_vertex d = vertex_of(&profile, i + 1, turn);
            const struct solid_vertex corners[] = {a, b, c, a, c, d};
            for (int k = 0; k < 6; k++)
                vertices[count++] = corners[k];
        }
    }
    solids->counts[solid] = count;
    glGenVertexArrays(1, &solids->vertices[solid]);
    glGenBuffers(1, &solids->buffers[solid]);
    glBindVertexArray(solids->vertices[solid]);
    glBindBuffer(GL_ARRAY_BUFFER, solids->buffers[solid]);
    glBufferData(GL_ARRAY_BUFFER, (GLsizeiptr)((size_t)count * sizeof vertices[0]), vertices,
                 GL_STATIC_DRAW);
    describe_vertices((GLsizei)sizeof vertices[0], offsetof(struct solid_vertex, normal));
    glBindVertexArray(0);
}

taut_status solids_make(struct solids *solids, taut_error *error)
{
    *solids = (struct solids){0};
    for (int solid = 0; solid < SOLID_COUNT; solid++)
        solid_make(solids, (enum solid)solid);
    return gl_program_make("solids", "", shader_solids, &solids->program, error);
}

void solids_free(struct solids *solids)
{
    glDeleteProgram(solids->program);
    glDeleteVertexArrays(SOLID_COUNT, solids->vertices);
    glDeleteBuffers(SOLID_COUNT, solids->buffers);
    *solids = (struct solids){0};
}

void solids_paint(const struct solids *solids, struct colour colour, double gloss)
{
    glUseProgram(solids->program);
    gl_set_colour(solids->program, "paint", colour);
    gl_set_float(solids->program, "gloss", gloss);
    gl_set_int(solids->program, "shadowed", true);
    gl_set_int(solids->program, "two_sided", false);
}

static void place(const struct solids *solids, vec3 origin, const vec3 axes[3])
{
    gl_set_vector(solids->program, "origin", origin);
    gl_set_vector(solids->program, "axis_x", axes[0]);
    gl_set_vector(solids->program, "axis_y", axes[1]);
    gl_set_vector(solids->program, "axis_z", axes[2]);
}

static void draw_solid(const struct solids *solids, enum solid solid, vec3 origin,
                       const vec3 axes[3])
{
    place(solids, origin, axes);
    glBindVertexArray(solids->vertices[solid]);
    glDrawArrays(GL_TRIANGLES, 0, solids->counts[solid]);
}

void solids_sphere(const struct solids *solids, vec3 centre, double radius, double behind)
{
    gl_set_float(solids->program, "behind", behind);
    const vec3 axes[3] = {{radius, 0, 0}, {0, radius, 0}, {0, 0, radius}};
    draw_solid(solids, SOLID_SPHERE, centre, axes);
}

void solids_arrow(const struct solids *solids, vec3 tail, vec3 tip, double radius, bool head)
{
    vec3 along = vec3_subtract(tip, tail);
    double length = vec3_length(along);
    if (!(length > 0.0))
        return;
    gl_set_float(solids->program, "behind", 0.0);
    vec3 unit = vec3_scale(1.0 / length, along);
    vec3 other = fabs(unit.x) < 0.7 ? vec3_make(1, 0, 0) : vec3_make(0, 1, 0);
    vec3 side = vec3_cross(other, unit);
    side = vec3_scale(1.0 / vec3_length(side), side);
    vec3 third = vec3_cross(unit, side);
    double head_length = head ? fmin(6.0 * radius, 0.6 * length) : 0.0;
    vec3 neck = vec3_subtract(tip, vec3_scale(head_length, unit));
    const vec3 shaft[3] = {vec3_scale(radius, side), vec3_scale(radius, third),
                           vec3_subtract(neck, tail)};
    draw_solid(solids, SOLID_CYLINDER, tail, shaft);
    if (!head)
        return;
    const vec3 cone[3] = {vec3_scale(2.6 * radius, side), vec3_scale(2.6 * radius, third),
                          vec3_scale(head_length, unit)};
    draw_solid(solids, SOLID_CONE, neck, cone);
}

// ---- Sphere colliders, planes and rooms

taut_status colliders_make(struct colliders *colliders, taut_error *error)
{
    *colliders = (struct colliders){0};
    glGenVertexArrays(1, &colliders->vertices);
    glGenVertexArrays(1, &colliders->mesh_vertices);
    glGenBuffers(1, &colliders->mesh_corners);
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
    glDeleteVertexArrays(1, &colliders->mesh_vertices);
    glDeleteBuffers(1, &colliders->mesh_corners);
    *colliders = (struct colliders){0};
}

// Faces whose nodes lie on a sphere dip into it; they are drawn over the sphere down to this
// fraction of the radius below its surface.
static const double SINK_DEPTH = 0.06;

void colliders_draw_spheres(const struct solids *solids, const struct render_context *context)
{
    static const struct colour stone = {0.74f, 0.71f, 0.66f};
    if (!context->frame->colliders)
        return;
    solids_paint(solids, stone, 0.25);
    for (size_t i = 0; i < context->subject->collider_count; i++) {
        const struct frame_collider *sphere = &context->frame->colliders[i];
        if (context->subject->colliders[i].type == COLLIDER_SPHERE && sphere->radius > 0.0f)
            solids_sphere(solids,
                          vec3_make(sphere->centre[0], sphere->centre[1], sphere->centre[2]),
                          sphere->radius, SINK_DEPTH * sphere->radius);
    }
}

// The unit vector along x, y or z.
static vec3 unit_along(int axis)
{
    axis %= 3;
    return vec3_make(axis == 0, axis == 1, axis == 2);
}

// Meshes

void colliders_set(struct colliders *colliders, const struct subject *subject)
{
    glBindVertexArray(colliders->mesh_vertices);
    glBindBuffer(GL_ARRAY_BUFFER, colliders->mesh_corners);
    glBufferData(GL_ARRAY_BUFFER,
                 (GLsizeiptr)((size_t)subject->corner_count * sizeof *subject->corners),
                 subject->corners, GL_STATIC_DRAW);
    describe_vertices((GLsizei)sizeof *subject->corners, offsetof(struct subject_corner, normal));
    glBindVertexArray(0);
}

void colliders_draw_meshes(const struct colliders *colliders, const struct solids *solids,
                           const struct render_context *context)
{
    static const struct colour stone = {0.74f, 0.71f, 0.66f};
    const struct subject *subject = context->subject;
    if (subject->mesh_count == 0)
        return;
    solids_paint(solids, stone, 0.12);
    gl_set_float(solids->program, "behind", 0.0);
    gl_set_int(solids->program, "two_sided", true);
    for (size_t m = 0; m < subject->mesh_count; m++) {
        const struct subject_mesh *mesh = &subject->meshes[m];
        const struct collider_pose pose = subject_mesh_pose(subject, m, context->frame);
        vec3 axes[3];
        for (int axis = 0; axis < 3; axis++)
            axes[axis] = rotate(&pose.rotation, unit_along(axis));
        place(solids, pose.origin, axes);
        glBindVertexArray(colliders->mesh_vertices);
        glDrawArrays(GL_TRIANGLES, (GLint)mesh->first_corner, (GLsizei)mesh->corner_count);
    }
}

// Planes

enum fading { FADING_NONE, FADING_TO_EDGES, FADING_BELOW };

struct plane {
    vec3 centre, unit_u, unit_v;
    double half_u, half_v, spacing, strength;
    enum fading fading;
    bool shadowed;
};

static void set_plane_paint(GLuint program, bool dark)
{
    static const struct colour light_plane = {0.90f, 0.91f, 0.92f};
    static const struct colour light_line = {0.62f, 0.66f, 0.70f};
    static const struct colour dark_plane = {0.20f, 0.22f, 0.245f};
    static const struct colour dark_line = {0.36f, 0.39f, 0.43f};
    gl_set_colour(program, "paint", dark ? dark_plane : light_plane);
    gl_set_colour(program, "line_paint", dark ? dark_line : light_line);
}

static void draw_plane(const struct colliders *colliders, const struct render_context *context,
                       const struct plane *plane)
{
    GLuint program = plane->spacing > 0.0 ? colliders->with_grid : colliders->plain;
    glUseProgram(program);
    set_plane_paint(program, context->options->dark);
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

static vec3 up_of(const struct render_context *context)
{
    const float *up = context->subject->up;
    return vec3_make(up[0], up[1], up[2]);
}

// Two unit vectors that span a plane; one of them is horizontal if the plane is not.
static void span(vec3 normal, vec3 up, vec3 *u, vec3 *v)
{
    vec3 other = fabs(vec3_dot(normal, up)) < 0.9 ? up : vec3_make(1, 0, 0);
    if (fabs(vec3_dot(normal, other)) > 0.9)
        other = vec3_make(0, 0, 1);
    *u = vec3_cross(other, normal);
    *u = vec3_scale(1.0 / vec3_length(*u), *u);
    *v = vec3_cross(normal, *u);
}

// A round distance between grid lines: 1, 2 or 5 times a power of ten metres.
static double spacing_for(double size)
{
    double power = pow(10.0, floor(log10(size / 4.0)));
    double digits = size / 4.0 / power;
    return power * (digits < 2.0 ? 1.0 : digits < 5.0 ? 2.0 : 5.0);
}

// Whether the eye is on the same side of a plane as the bodies.
static bool seen_from_inside(const struct render_context *context, vec3 point, vec3 normal)
{
    return vec3_dot(vec3_subtract(camera_eye(context->camera), point), normal) > 0.0;
}

// An infinite plane, as far as the camera sees: its extent follows from the camera and not from the
// positions of bodies, so it does not move with them.
static struct plane plane_of(const struct render_context *context, vec3 point, vec3 normal)
{
    vec3 centre = context->camera->target;
    double above = vec3_dot(vec3_subtract(centre, point), normal);
    struct plane plane = {.centre = vec3_subtract(centre, vec3_scale(above, normal)),
                          .half_u = 3.0 * context->reach,
                          .half_v = 3.0 * context->reach,
                          .spacing = spacing_for(context->reach),
                          .strength = 1.0,
                          .fading = FADING_TO_EDGES,
                          .shadowed = true};
    span(normal, up_of(context), &plane.unit_u, &plane.unit_v);
    return plane;
}

// A scene in a plane is seen along its ground, which appears as a band below the contact line.
static struct plane band_of(const struct render_context *context, vec3 point, vec3 normal)
{
    struct plane plane = plane_of(context, point, normal);
    plane.unit_v = normal;
    plane.unit_u = vec3_cross(normal, vec3_make(0, 0, 1));
    plane.half_v = 0.05 * context->reach;
    plane.half_u = 2.0 * context->reach * context->camera->width / context->camera->height;
    plane.centre = vec3_subtract(plane.centre, vec3_scale(plane.half_v, normal));
    plane.fading = FADING_BELOW;
    return plane;
}

static bool is_edge_on(const struct render_context *context, vec3 normal)
{
    return context->subject->flat && fabs(normal.z) < 0.1;
}

// Draws the walls of a room that are seen from inside: the far ones.
static void draw_room(const struct colliders *colliders, const struct render_context *context,
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
                              .shadowed = vec3_dot(outwards, up_of(context)) < -0.5};
        if (seen_from_inside(context, plane.centre, vec3_scale(-1.0, outwards)))
            draw_plane(colliders, context, &plane);
    }
}

// Draws a plane just below a scene that has no collider below.
static void draw_ground(const struct colliders *colliders, const struct render_context *context)
{
    vec3 up = up_of(context), point = context->camera->target;
    double lowest = INFINITY, built = INFINITY;
    const float *low = context->subject->low, *high = context->subject->high;
    for (unsigned i = 0; i < 8; i++) {
        vec3 now = vec3_make(i & 1 ? context->high.x : context->low.x,
                             i & 2 ? context->high.y : context->low.y,
                             i & 4 ? context->high.z : context->low.z);
        vec3 then =
            vec3_make(i & 1 ? high[0] : low[0], i & 2 ? high[1] : low[1], i & 4 ? high[2] : low[2]);
        lowest = fmin(lowest, vec3_dot(now, up));
        built = fmin(built, vec3_dot(then, up));
    }
    double height = fmin(lowest - 0.02 * context->size, built - 0.08 * context->size);
    point = vec3_add(point, vec3_scale(height - vec3_dot(point, up), up));
    if (!seen_from_inside(context, point, up))
        return;
    struct plane plane = plane_of(context, point, up);
    plane.spacing = 0.0;
    plane.strength = 0.0;
    draw_plane(colliders, context, &plane);
}

static bool lies_below(const struct render_context *context, const struct scene_collider *collider)
{
    return collider->type == COLLIDER_ROOM ||
           (collider->type == COLLIDER_PLANE && vec3_dot(collider->normal, up_of(context)) > 0.5);
}

void colliders_draw_planes(const struct colliders *colliders, const struct render_context *context)
{
    bool below = false;
    glEnable(GL_BLEND);
    glBlendFunc(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA);
    glDepthMask(GL_FALSE);
    for (size_t i = 0; i < context->subject->collider_count; i++) {
        const struct scene_collider *collider = &context->subject->colliders[i];
        below |= lies_below(context, collider);
        if (!(context->layers & LAYER_COLLIDERS))
            continue;
        if (collider->type == COLLIDER_ROOM) {
            draw_room(colliders, context, collider);
        } else if (collider->type == COLLIDER_PLANE && is_edge_on(context, collider->normal)) {
            struct plane band = band_of(context, collider->point, collider->normal);
            draw_plane(colliders, context, &band);
        } else if (collider->type == COLLIDER_PLANE &&
                   seen_from_inside(context, collider->point, collider->normal)) {
            struct plane plane = plane_of(context, collider->point, collider->normal);
            draw_plane(colliders, context, &plane);
        }
    }
    if (!(below && context->layers & LAYER_COLLIDERS) && context->layers & LAYER_GROUND &&
        !context->subject->flat)
        draw_ground(colliders, context);
    glDepthMask(GL_TRUE);
    glDisable(GL_BLEND);
}

void colliders_draw_veils(const struct colliders *colliders, const struct render_context *context)
{
    if (!(context->layers & LAYER_COLLIDERS))
        return;
    glEnable(GL_BLEND);
    glBlendFunc(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA);
    glDepthMask(GL_FALSE);
    for (size_t i = 0; i < context->subject->collider_count; i++) {
        const struct scene_collider *collider = &context->subject->colliders[i];
        if (collider->type != COLLIDER_PLANE || is_edge_on(context, collider->normal) ||
            seen_from_inside(context, collider->point, collider->normal))
            continue;
        struct plane plane = plane_of(context, collider->point, collider->normal);
        plane.strength = 0.35;
        plane.shadowed = false;
        draw_plane(colliders, context, &plane);
    }
    glDepthMask(GL_TRUE);
    glDisable(GL_BLEND);
}

// ---- Arrows

// Pixels of a picture of 720 rows.
static const double ARROW_LENGTH = 64.0, CORNER_X = 78.0, CORNER_Y = 52.0, LABEL_Y = 104.0;

static double scale_of(const struct render_context *context)
{
    return fmax(fmin(context->camera->height, 0.75 * context->camera->width) / 720.0, 0.45);
}

static vec3 wind_of(const struct render_context *context)
{
    const float *wind = context->frame->wind;
    return vec3_make(wind[0], wind[1], wind[2]);
}

bool arrows_have_wind(const struct render_context *context)
{
    return context->layers & LAYER_WIND && vec3_length(wind_of(context)) > 0.0;
}

void arrows_wind_label(const struct render_context *context, double *x, double *y)
{
    *x = context->camera->width - CORNER_X * scale_of(context);
    *y = LABEL_Y * scale_of(context);
}

void arrows_draw_wind(const struct solids *solids, const struct render_context *context)
{
    static const struct colour sky = {0.25f, 0.53f, 0.74f};
    const struct camera *camera = context->camera;
    double scale = scale_of(context);
    vec3 right, top, forward;
    camera_axes(camera, &right, &top, &forward);
    struct camera_ray ray =
        camera_ray_at(camera, camera->width - CORNER_X * scale, CORNER_Y * scale);
    double depth = camera->distance / vec3_dot(ray.direction, forward);
    vec3 middle = vec3_add(ray.origin, vec3_scale(depth, ray.direction));
    double pixel = camera_pixel_size(camera, camera->distance) * scale;
    vec3 wind = wind_of(context);
    vec3 along = vec3_scale(ARROW_LENGTH * pixel / vec3_length(wind), wind);
    // The shafts are offset in the plane of the picture, if the wind does not blow along the line
    // of sight.
    vec3 aside = vec3_cross(forward, along);
    double length = vec3_length(aside);
    aside = length > 0.1 * vec3_length(along) ? vec3_scale(1.0 / length, aside) : right;

    glClear(GL_DEPTH_BUFFER_BIT);
    solids_paint(solids, sky, 0.2);
    gl_set_int(solids->program, "shadowed", false);
    for (int i = -1; i <= 1; i++) {
        vec3 at = vec3_add(middle, vec3_scale(i * 19.0 * pixel, aside));
        at = vec3_add(at, vec3_scale(i == 0 ? 0.08 : -0.08, along));
        double part = i == 0 ? 0.5 : 0.38;
        solids_arrow(solids, vec3_subtract(at, vec3_scale(part, along)),
                     vec3_add(at, vec3_scale(part, along)), 2.4 * pixel, true);
    }
}

// The length, m, of a number of pixels at the depth of a point.
static double pixels_at(const struct render_context *context, vec3 point, double pixels)
{
    vec3 right, top, forward;
    camera_axes(context->camera, &right, &top, &forward);
    double depth = vec3_dot(vec3_subtract(point, camera_eye(context->camera)), forward);
    return pixels * scale_of(context) * camera_pixel_size(context->camera, depth);
}

void arrows_draw_strings(const struct solids *solids, const struct render_context *context)
{
    for (size_t b = 0; b < context->subject->body_count; b++) {
        const struct subject_body *body = &context->subject->bodies[b];
        bool hangs = body->type == BODY_PENDULUM || body->type == BODY_OSCILLATOR;
        if (!hangs || body->spring_count > 0 || body->node_count != 2)
            continue;
        const float *at = context->frame->drawn_positions + 3 * body->first_node;
        vec3 from = vec3_make(at[0], at[1], at[2]), to = vec3_make(at[3], at[4], at[5]);
        solids_paint(solids, colour_mix(colour_of_body(b), colour_pale(colour_of_body(b)), 0.4),
                     0.0);
        solids_arrow(solids, from, to, pixels_at(context, to, 1.2), false);
    }
}

void arrows_draw_mouse_spring(const struct solids *solids, const struct render_context *context)
{
    static const struct colour vermilion = {0.835f, 0.369f, 0.0f};
    if (!context->frame->has_mouse_spring)
        return;
    const struct frame_line *line = &context->frame->mouse_spring;
    vec3 node = vec3_make(line->from[0], line->from[1], line->from[2]);
    vec3 pointer = vec3_make(line->to[0], line->to[1], line->to[2]);
    solids_paint(solids, vermilion, 0.3);
    solids_arrow(solids, node, pointer, pixels_at(context, pointer, 1.6), false);
    solids_sphere(solids, pointer, pixels_at(context, pointer, 6.0), 0.0);
}
