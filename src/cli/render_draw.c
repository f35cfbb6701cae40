// Draws the frames of a plan. They are gone through twice: first for the box that the camera must
// see and the ends of the colour scale, then to be drawn, from the reel that kept them, or where
// there was no room for all of them, by simulating again.
#include "cli/render.h"

#include <float.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "cli/terminal.h"
#include "picture/film.h"
#include "picture/renderer.h"
#include "picture/strip.h"
#include "picture/values.h"

static const uint64_t REEL_BYTES = (uint64_t)1 << 30;
static const double FIELD_OF_VIEW = 30; // degrees

// ---- The first time.

static void grow(struct render *render, vec3 point)
{
    render->low = vec3_make(fmin(render->low.x, point.x), fmin(render->low.y, point.y),
                            fmin(render->low.z, point.z));
    render->high = vec3_make(fmax(render->high.x, point.x), fmax(render->high.y, point.y),
                             fmax(render->high.z, point.z));
}

static void grow_by_nodes(struct render *render, const float *positions, uint64_t count)
{
    float low[3] = {FLT_MAX, FLT_MAX, FLT_MAX}, high[3] = {-FLT_MAX, -FLT_MAX, -FLT_MAX};
    for (uint64_t i = 0; i < 3 * count; i += 3)
        for (int axis = 0; axis < 3; axis++) {
            float at = positions[i + (uint64_t)axis];
            low[axis] = at < low[axis] ? at : low[axis];
            high[axis] = at > high[axis] ? at : high[axis];
        }
    if (count == 0)
        return;
    grow(render, vec3_make((double)low[0], (double)low[1], (double)low[2]));
    grow(render, vec3_make((double)high[0], (double)high[1], (double)high[2]));
}

// Spheres that stand where bodies move are part of what is to be seen; those that pass, or are as
// large as a landscape, are not.
static void grow_by_spheres(struct render *render)
{
    const struct subject *subject = &render->footage.subject;
    double size = vec3_length(vec3_subtract(render->high, render->low));
    vec3 centre = vec3_scale(0.5, vec3_add(render->low, render->high));
    for (size_t c = 0; c < subject->collider_count; c++) {
        const struct scene_collider *sphere = &subject->colliders[c];
        if (sphere->type != COLLIDER_SPHERE || vec3_length(sphere->velocity) > 0 ||
            sphere->radius > size || vec3_length(vec3_subtract(sphere->centre, centre)) > size)
            continue;
        vec3 reach = vec3_make(sphere->radius, sphere->radius, sphere->radius);
        grow(render, vec3_subtract(sphere->centre, reach));
        grow(render, vec3_add(sphere->centre, reach));
    }
}

// The ends of the scale that all frames share.
static void grow_scale(struct render *render, struct values *values,
                       const struct render_options *look)
{
    const struct subject *subject = &render->footage.subject;
    unsigned layers = look->layers ? look->layers : renderer_layers_for(subject, look);
    values_take(values, subject, &render->footage.store.moment, look, layers & LAYER_FACES,
                layers & LAYER_SPRINGS, 1);
    render->least = fmin(render->least, values->least);
    render->most = fmax(render->most, values->most);
}

static taut_status look_through(struct render *render, const struct render_options *look,
                                taut_error *error)
{
    const struct render_plan *plan = &render->plan;
    struct footage *footage = &render->footage;
    bool scaled = (look->colouring == COLOURING_STRAIN || look->colouring == COLOURING_TENSION) &&
                  plan->count > 1 && !(look->least < look->most);
    struct values values = {0};
    taut_status status = scaled ? values_make(&footage->subject, &values, error) : TAUT_OK;
    render->low = vec3_make(INFINITY, INFINITY, INFINITY);
    render->high = vec3_make(-INFINITY, -INFINITY, -INFINITY);
    for (size_t i = 0; i < plan->count && status == TAUT_OK; i++) {
        status = footage_take(footage, plan->times[i], error);
        if (status != TAUT_OK)
            break;
        render->times[i] = footage->store.moment.time;
        grow_by_nodes(render, footage->store.positions, footage->subject.node_count);
        if (scaled)
            grow_scale(render, &values, look);
        status = reel_add(&render->reel, &footage->store.moment, error);
    }
    values_free(&values);
    if (footage->subject.node_count == 0)
        render->low = vec3_make(-1, -1, -1), render->high = vec3_make(1, 1, 1);
    grow_by_spheres(render);
    return status;
}

// ---- How it looks.

static struct render_options look_of(const struct render *render)
{
    const struct render_wish *wish = render->wish;
    struct render_options look;
    render_options_default(&look);
    look.colouring = wish->colouring;
    double unit = wish->colouring == COLOURING_STRAIN ? 0.01 : 1; // strains are given in percent
    look.least = wish->least * unit;
    look.most = wish->most * unit;
    look.dark = wish->dark;
    unsigned layers = renderer_layers_for(&render->footage.subject, &look);
    // With more than one time in it, which is which must be said.
    if (render->plan.count > 1)
        layers |= RENDER_CAPTION;
    layers = (layers | wish->shown) & ~wish->hidden;
    look.caption = layers & RENDER_CAPTION;
    look.layers = layers & LAYER_ALL;
    return look;
}

static vec3 farther(vec3 a, vec3 b, vec3 from)
{
    return vec3_make(fmax(fabs(a.x - from.x), fabs(b.x - from.x)),
                     fmax(fabs(a.y - from.y), fabs(b.y - from.y)),
                     fmax(fabs(a.z - from.z), fabs(b.z - from.z)));
}

static struct camera aim(const struct render *render)
{
    const struct render_wish *wish = render->wish;
    const struct subject *subject = &render->footage.subject;
    double azimuth = wish->azimuth, elevation = wish->elevation;
    if (!wish->has_angles)
        camera_angles_for(subject, &azimuth, &elevation);
    vec3 low = render->low, high = render->high;
    vec3 target = vec3_make(wish->target[0], wish->target[1], wish->target[2]);
    if (wish->has_target) {
        vec3 reach = farther(low, high, target);
        low = vec3_subtract(target, reach);
        high = vec3_add(target, reach);
    }
    vec3 up = vec3_make((double)subject->up[0], (double)subject->up[1], (double)subject->up[2]);
    struct camera camera =
        camera_fit(low, high, up, azimuth, elevation, subject->flat ? 0 : FIELD_OF_VIEW,
                   render->plan.width, render->plan.height);
    if (wish->has_target)
        camera.target = target;
    if (wish->distance > 0)
        camera.distance = wish->distance;
    camera_zoom(&camera, 1 / wish->zoom);
    return camera;
}

// ---- The second time.

// Where frames go.
struct easel {
    struct renderer *renderer;
    struct camera camera;
    struct render_options look;
    struct image image; // the frame drawn last
    struct strip strip;
    struct film *film;
};

static void show_drawing(struct render *render, size_t frame)
{
    double now = clock_seconds();
    if (render->options->quiet || !live_line_possible() || now - render->footage.shown < 0.1)
        return;
    render->footage.shown = now;
    char text[64];
    snprintf(text, sizeof text, "drawing  frame %zu/%zu", frame + 1, render->plan.count);
    live_line(text);
}

// The moment of a frame: kept, or made again.
static taut_status moment_of(struct render *render, size_t frame,
                             const struct subject_moment **moment, taut_error *error)
{
    if (!render->reel.overflown) {
        *moment = &render->reel.stores[frame].moment;
        return render_check_signals(error);
    }
    *moment = &render->footage.store.moment;
    return footage_take(&render->footage, render->plan.times[frame], error);
}

static taut_status draw_frame(struct render *render, struct easel *easel, size_t frame,
                              taut_error *error)
{
    const struct render_plan *plan = &render->plan;
    const struct subject_moment *moment;
    show_drawing(render, frame);
    taut_status status = moment_of(render, frame, &moment, error);
    struct render_options look = easel->look;
    if (plan->sort == RENDER_STRIP && frame + 1 < plan->count)
        look.layers &= ~(unsigned)LAYER_LEGEND; // one is enough
    if (status == TAUT_OK)
        status = renderer_draw(easel->renderer, moment, &easel->camera, &look,
                               canvas_framebuffer(render->canvas), error);
    if (status == TAUT_OK)
        status = canvas_read(render->canvas, &easel->image, error);
    if (status != TAUT_OK)
        return status;
    if (easel->film)
        return film_add(easel->film, &easel->image, error);
    if (plan->sort == RENDER_STRIP)
        strip_put(&easel->strip, (int)frame, &easel->image);
    return TAUT_OK;
}

static taut_status prepare_easel(struct render *render, struct easel *easel, taut_error *error)
{
    const struct render_plan *plan = &render->plan;
    taut_status status = renderer_make(&easel->renderer, error);
    if (status == TAUT_OK)
        status = renderer_set_subject(easel->renderer, &render->footage.subject, error);
    if (status == TAUT_OK && plan->sort == RENDER_STRIP)
        status = strip_make((int)plan->count, plan->columns, plan->width, plan->height,
                            easel->look.dark ? 0 : 255, &easel->strip, error);
    if (status == TAUT_OK && render_is_film(plan->sort)) {
        const struct film_options film = {
            .path = render->path,
            .format = plan->sort == RENDER_GIF ? FILM_GIF : FILM_MP4,
            .width = plan->width,
            .height = plan->height,
            .frames_per_second = plan->fps,
        };
        status = film_open(&film, &easel->film, error);
    }
    return status;
}

static taut_status draw_all(struct render *render, struct easel *easel, taut_error *error)
{
    taut_status status = prepare_easel(render, easel, error);
    if (status == TAUT_OK && render->reel.overflown)
        status = footage_rewind(&render->footage, error);
    for (size_t i = 0; i < render->plan.count && status == TAUT_OK; i++)
        status = draw_frame(render, easel, i, error);
    if (status != TAUT_OK) {
        film_abandon(easel->film);
        return status;
    }
    if (easel->film)
        return film_close(easel->film, error);
    const struct image *image =
        render->plan.sort == RENDER_STRIP ? &easel->strip.image : &easel->image;
    render->width = image->width;
    render->height = image->height;
    return image_write_png(image, render->path, error);
}

taut_status render_draw(struct render *render, taut_error *error)
{
    const struct render_plan *plan = &render->plan;
    struct easel easel = {.look = look_of(render)};
    render->width = plan->width;
    render->height = plan->height;
    render->least = INFINITY;
    render->most = -INFINITY;
    render->reel = reel_make(&render->footage.subject, REEL_BYTES);
    render->times = calloc(plan->count + 1, sizeof *render->times);
    if (!render->times)
        return fail_memory(error, "the times of a picture");
    // First, so that nobody waits for a simulation that cannot be drawn.
    taut_status status = render_is_film(plan->sort) ? film_possible(error) : TAUT_OK;
    if (status == TAUT_OK)
        status = canvas_make(plan->width, plan->height, &render->canvas, error);
    if (status == TAUT_OK)
        status = look_through(render, &easel.look, error);
    if (status == TAUT_OK) {
        if (render->least < render->most) {
            easel.look.least = render->least;
            easel.look.most = render->most;
        }
        easel.camera = aim(render);
        status = draw_all(render, &easel, error);
    }
    live_line_clear();
    renderer_free(easel.renderer);
    image_free(&easel.image);
    strip_free(&easel.strip);
    return status;
}
