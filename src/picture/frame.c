#include "picture/frame.h"

#include <float.h>
#include <string.h>

static void grow(struct frame *frame, vec3 low, vec3 high)
{
    frame->low =
        vec3_make(fmin(frame->low.x, low.x), fmin(frame->low.y, low.y), fmin(frame->low.z, low.z));
    frame->high = vec3_make(fmax(frame->high.x, high.x), fmax(frame->high.y, high.y),
                            fmax(frame->high.z, high.z));
}

static void grow_by_nodes(struct frame *frame)
{
    const float *at = frame->moment->positions;
    float low[3] = {FLT_MAX, FLT_MAX, FLT_MAX}, high[3] = {-FLT_MAX, -FLT_MAX, -FLT_MAX};
    for (uint64_t node = 0; node < frame->subject->node_count; node++, at += 3) {
        for (int axis = 0; axis < 3; axis++) {
            low[axis] = at[axis] < low[axis] ? at[axis] : low[axis];
            high[axis] = at[axis] > high[axis] ? at[axis] : high[axis];
        }
    }
    grow(frame, vec3_make(low[0], low[1], low[2]), vec3_make(high[0], high[1], high[2]));
}

static void grow_by_spheres(struct frame *frame)
{
    for (size_t i = 0; frame->moment->spheres && i < frame->subject->collider_count; i++) {
        const struct subject_sphere *sphere = &frame->moment->spheres[i];
        if (!(sphere->radius > 0.0f))
            continue;
        vec3 centre = vec3_make(sphere->centre[0], sphere->centre[1], sphere->centre[2]);
        vec3 radius = vec3_make(sphere->radius, sphere->radius, sphere->radius);
        grow(frame, vec3_subtract(centre, radius), vec3_add(centre, radius));
    }
}

static void grow_by_rooms(struct frame *frame)
{
    for (size_t i = 0; i < frame->subject->collider_count; i++) {
        const struct scene_collider *collider = &frame->subject->colliders[i];
        if (collider->type == COLLIDER_ROOM)
            grow(frame, collider->min, collider->max);
    }
}

static void store(float to[4], vec3 from, double last)
{
    to[0] = (float)from.x;
    to[1] = (float)from.y;
    to[2] = (float)from.z;
    to[3] = (float)last;
}

static void multiply(const float a[16], const float b[16], float product[16])
{
    for (int column = 0; column < 4; column++)
        for (int row = 0; row < 4; row++) {
            float sum = 0.0f;
            for (int i = 0; i < 4; i++)
                sum += a[4 * i + row] * b[4 * column + i];
            product[4 * column + row] = sum;
        }
}

static void fill_background(struct frame *frame)
{
    static const float light_sky[4] = {0.965f, 0.973f, 0.980f, 1.0f};
    static const float light_floor[4] = {0.855f, 0.878f, 0.902f, 1.0f};
    static const float dark_sky[4] = {0.150f, 0.165f, 0.185f, 1.0f};
    static const float dark_floor[4] = {0.075f, 0.083f, 0.095f, 1.0f};
    bool dark = frame->options->dark;
    memcpy(frame->block.sky, dark ? dark_sky : light_sky, sizeof light_sky);
    memcpy(frame->block.floor_tint, dark ? dark_floor : light_floor, sizeof light_floor);
}

static void fill_camera(struct frame *frame)
{
    const struct camera *camera = frame->camera;
    struct frame_block *block = &frame->block;
    vec3 right, top, forward;
    camera_axes(camera, &right, &top, &forward);
    store(block->eye, camera_eye(camera), camera->field > 0.0 ? 1.0 : 0.0);
    store(block->forward, forward, 0.0);
    store(block->right, right, 0.0);
    store(block->top, top, 0.0);
    block->viewport[0] = (float)camera->width;
    block->viewport[1] = (float)camera->height;
    block->viewport[2] = 1.0f / (float)camera->width;
    block->viewport[3] = 1.0f / (float)camera->height;
    block->pixel[0] = (float)(camera_pixel_size(camera, camera->distance) /
                              (camera->field > 0.0 ? camera->distance : 1.0));
    float view[16], projection[16];
    vec3 margin = vec3_scale(1.5, vec3_make(frame->size, frame->size, frame->size));
    camera_matrices(camera, vec3_subtract(frame->low, margin), vec3_add(frame->high, margin), view,
                    projection);
    multiply(projection, view, block->world_to_clip);

    // From above, a little from the left and from where one looks: shadows fall beside what casts
    // them, and what faces the camera is lit.
    vec3 up = vec3_make(frame->subject->up[0], frame->subject->up[1], frame->subject->up[2]);
    vec3 light = vec3_add(vec3_scale(frame->subject->flat ? 0.5 : 0.95, up),
                          vec3_add(vec3_scale(-0.50, right), vec3_scale(-0.65, forward)));
    store(block->light, vec3_scale(1.0 / vec3_length(light), light), 0.0);
    store(block->up, up, 0.0);
}

void frame_begin(struct frame *frame, const struct subject *subject,
                 const struct subject_moment *moment, const struct camera *camera,
                 const struct render_options *options, unsigned framebuffer)
{
    *frame = (struct frame){.subject = subject,
                            .moment = moment,
                            .camera = camera,
                            .options = options,
                            .layers = options->layers ? options->layers
                                                      : renderer_layers_for(subject, options),
                            .framebuffer = framebuffer,
                            .low = {INFINITY, INFINITY, INFINITY},
                            .high = {-INFINITY, -INFINITY, -INFINITY}};
    grow_by_nodes(frame);
    grow_by_spheres(frame);
    frame->casters_low = frame->low;
    frame->casters_high = frame->high;
    grow_by_rooms(frame);
    frame->size = vec3_length(vec3_subtract(frame->high, frame->low));
    if (!(frame->size > 0.0))
        frame->size = 1.0;
    frame->reach = camera_pixel_size(camera, camera->distance) * camera->height;
    store(frame->block.scene, vec3_scale(0.5, vec3_add(frame->low, frame->high)), frame->size);
    fill_background(frame);
    fill_camera(frame);
}
