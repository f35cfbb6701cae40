#include "picture/arrows.h"

// Pixels of a picture of 720 rows.
static const double ARROW_LENGTH = 64.0, CORNER_X = 78.0, CORNER_Y = 52.0, LABEL_Y = 104.0;

static double scale_of(const struct frame *frame)
{
    return fmax(fmin(frame->camera->height, 0.75 * frame->camera->width) / 720.0, 0.45);
}

static vec3 wind_of(const struct frame *frame)
{
    const float *wind = frame->moment->wind;
    return vec3_make(wind[0], wind[1], wind[2]);
}

bool arrows_have_wind(const struct frame *frame)
{
    return frame->layers & LAYER_WIND && vec3_length(wind_of(frame)) > 0.0;
}

void arrows_wind_label(const struct frame *frame, double *x, double *y)
{
    *x = frame->camera->width - CORNER_X * scale_of(frame);
    *y = LABEL_Y * scale_of(frame);
}

void arrows_draw_wind(const struct solids *solids, const struct frame *frame)
{
    static const struct colour sky = {0.25f, 0.53f, 0.74f};
    const struct camera *camera = frame->camera;
    double scale = scale_of(frame);
    vec3 right, top, forward;
    camera_axes(camera, &right, &top, &forward);
    struct camera_ray ray =
        camera_ray_at(camera, camera->width - CORNER_X * scale, CORNER_Y * scale);
    double depth = camera->distance / vec3_dot(ray.direction, forward);
    vec3 middle = vec3_add(ray.origin, vec3_scale(depth, ray.direction));
    double pixel = camera_pixel_size(camera, camera->distance) * scale;
    vec3 wind = wind_of(frame);
    vec3 along = vec3_scale(ARROW_LENGTH * pixel / vec3_length(wind), wind);
    // Beside each other as far as one sees.
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

// Metres that so many pixels cover where a point is.
static double pixels_at(const struct frame *frame, vec3 point, double pixels)
{
    vec3 right, top, forward;
    camera_axes(frame->camera, &right, &top, &forward);
    double depth = vec3_dot(vec3_subtract(point, camera_eye(frame->camera)), forward);
    return pixels * scale_of(frame) * camera_pixel_size(frame->camera, depth);
}

void arrows_draw_threads(const struct solids *solids, const struct frame *frame)
{
    for (size_t b = 0; b < frame->subject->body_count; b++) {
        const struct subject_body *body = &frame->subject->bodies[b];
        bool hangs = body->type == BODY_PENDULUM || body->type == BODY_OSCILLATOR;
        if (!hangs || body->spring_count > 0 || body->node_count != 2)
            continue;
        const float *at = frame->moment->positions + 3 * body->first_node;
        vec3 from = vec3_make(at[0], at[1], at[2]), to = vec3_make(at[3], at[4], at[5]);
        solids_paint(solids, colour_mix(colour_of_body(b), colour_pale(colour_of_body(b)), 0.4),
                     0.0);
        solids_arrow(solids, from, to, pixels_at(frame, to, 1.2), false);
    }
}

void arrows_draw_pulls(const struct solids *solids, const struct frame *frame)
{
    static const struct colour vermilion = {0.835f, 0.369f, 0.0f};
    for (size_t i = 0; i < frame->moment->pull_count; i++) {
        const struct subject_line *line = &frame->moment->pulls[i];
        vec3 node = vec3_make(line->from[0], line->from[1], line->from[2]);
        vec3 hand = vec3_make(line->to[0], line->to[1], line->to[2]);
        solids_paint(solids, vermilion, 0.3);
        solids_arrow(solids, node, hand, pixels_at(frame, hand, 1.6), false);
        solids_sphere(solids, hand, pixels_at(frame, hand, 6.0), 0.0);
    }
}
