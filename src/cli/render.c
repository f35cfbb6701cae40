// taut render: draws pictures of a scene, or of a finished run, without a window. render_plan.c
// determines which frames are drawn, frame_source.c reads or simulates them, and src/picture/ draws
// them.
//
// There are two passes over the frames: the first finds the box that the camera must show and the
// range of the colour scale; the second draws the frames, from the cache, or by simulating again if
// they did not all fit into it.
#include "cli/command.h"

#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "base/os.h"
#include "base/text.h"
#include "cli/frame_source.h"
#include "cli/render_plan.h"
#include "cli/signals.h"
#include "cli/terminal.h"
#include "output/file.h"
#include "output/folder.h"
#include "picture/canvas.h"
#include "picture/contacts.h"
#include "picture/film.h"
#include "picture/subject.h"
#include "picture/renderer.h"
#include "picture/image.h"
#include "picture/values.h"

struct render {
    const struct options *options;
    const struct render_request *request;
    char *path; // of the picture file
    struct frame_source source;
    struct render_plan plan;
    struct frame_cache cache;
    double *times;         // s, actual times of the frames
    vec3 low, high;        // the box that contains all bodies at all times
    double least, most;    // range of the colour scale over all frames
    double full_force;     // N, of the longest needles of contacts in any of them; 0: none
    struct canvas *canvas; // NULL: nothing has been drawn
    int width, height;     // of the whole picture
};

static const uint64_t CACHE_BYTES = (uint64_t)1 << 30;
static const double FIELD_OF_VIEW = 30; // degrees

// ---- The first pass: the box and the colour scale

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

// Includes spheres near the bodies in the box, except those that move or are as large as a
// landscape.
static void grow_by_spheres(struct render *render)
{
    const struct subject *subject = &render->source.subject;
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

// The same for mesh colliders.
static void grow_by_meshes(struct render *render)
{
    const struct subject *subject = &render->source.subject;
    const double size = vec3_length(vec3_subtract(render->high, render->low));
    const vec3 centre = vec3_scale(0.5, vec3_add(render->low, render->high));
    for (size_t m = 0; m < subject->mesh_count; m++) {
        const struct scene_collider *collider = &subject->colliders[subject->meshes[m].collider];
        const struct collider_pose start = collider_pose_at(collider, 0, 0);
        vec3 low, high;
        subject_mesh_box(subject, m, &start, &low, &high);
        if (collider_moves(collider) || vec3_length(vec3_subtract(high, low)) > 2 * size ||
            vec3_length(vec3_subtract(vec3_scale(0.5, vec3_add(low, high)), centre)) > size)
            continue;
        grow(render, low);
        grow(render, high);
    }
}

// Extends the colour scale that all frames share.
static void grow_scale(struct render *render, struct values *values,
                       const struct render_options *appearance)
{
    const struct subject *subject = &render->source.subject;
    unsigned layers =
        appearance->layers ? appearance->layers : renderer_layers_for(subject, appearance);
    values_compute(values, subject, &render->source.frame, appearance, layers & LAYER_FACES,
                   layers & LAYER_SPRINGS, 1);
    render->least = fmin(render->least, values->least);
    render->most = fmax(render->most, values->most);
}

static taut_status measure_frames(struct render *render, const struct render_options *appearance,
                                  taut_error *error)
{
    const struct render_plan *plan = &render->plan;
    struct frame_source *source = &render->source;
    bool scaled = colouring_has_scale(appearance->colouring) && plan->count > 1 &&
                  !(appearance->least < appearance->most);
    struct values values = {0};
    taut_status status = scaled ? values_make(&source->subject, &values, error) : TAUT_OK;
    render->low = vec3_make(INFINITY, INFINITY, INFINITY);
    render->high = vec3_make(-INFINITY, -INFINITY, -INFINITY);
    for (size_t i = 0; i < plan->count && status == TAUT_OK; i++) {
        status = frame_source_read(source, plan->times[i], error);
        if (status != TAUT_OK)
            break;
        render->times[i] = source->frame.time;
        grow_by_nodes(render, source->frame.drawn_positions, source->subject.node_count);
        if (scaled)
            grow_scale(render, &values, appearance);
        render->full_force =
            fmax(render->full_force, contacts_full_force(appearance, &source->frame));
        status = frame_cache_add(&render->cache, &source->frame, error);
    }
    values_free(&values);
    if (source->subject.node_count == 0)
        render->low = vec3_make(-1, -1, -1), render->high = vec3_make(1, 1, 1);
    grow_by_spheres(render);
    grow_by_meshes(render);
    return status;
}

// ---- Appearance and camera

static struct render_options appearance_of(const struct render *render)
{
    const struct render_request *request = render->request;
    struct render_options appearance;
    render_options_default(&appearance);
    appearance.colouring = request->colouring;
    double unit = request->colouring == COLOURING_STRAIN ? 0.01 : 1; // strains are given in percent
    appearance.least = request->least * unit;
    appearance.most = request->most * unit;
    appearance.dark = request->dark;
    unsigned layers = renderer_layers_for(&render->source.subject, &appearance);
    // With several frames, each is labelled.
    if (render->plan.count > 1)
        layers |= RENDER_CAPTION;
    layers = (layers | request->shown) & ~request->hidden;
    appearance.caption = layers & RENDER_CAPTION;
    appearance.layers = layers & LAYER_ALL;
    return appearance;
}

static vec3 farther(vec3 a, vec3 b, vec3 from)
{
    return vec3_make(fmax(fabs(a.x - from.x), fabs(b.x - from.x)),
                     fmax(fabs(a.y - from.y), fabs(b.y - from.y)),
                     fmax(fabs(a.z - from.z), fabs(b.z - from.z)));
}

static struct camera aim_camera(const struct render *render)
{
    const struct render_request *request = render->request;
    const struct subject *subject = &render->source.subject;
    double azimuth = request->azimuth, elevation = request->elevation;
    if (!request->has_angles)
        camera_angles_for(subject, &azimuth, &elevation);
    vec3 low = render->low, high = render->high;
    vec3 target = vec3_make(request->target[0], request->target[1], request->target[2]);
    if (request->has_target) {
        vec3 reach = farther(low, high, target);
        low = vec3_subtract(target, reach);
        high = vec3_add(target, reach);
    }
    vec3 up = vec3_make((double)subject->up[0], (double)subject->up[1], (double)subject->up[2]);
    struct camera camera =
        camera_fit(low, high, up, azimuth, elevation, subject->flat ? 0 : FIELD_OF_VIEW,
                   render->plan.width, render->plan.height);
    if (request->has_target)
        camera.target = target;
    if (request->distance > 0)
        camera.distance = request->distance;
    camera_zoom(&camera, 1 / request->zoom);
    return camera;
}

// ---- The second pass: drawing

// The destination of the frames.
struct target {
    struct renderer *renderer;
    struct camera camera;
    struct render_options appearance;
    struct image image; // the frame drawn last
    struct strip strip;
    struct film *film;
};

static void show_drawing(struct render *render, size_t frame)
{
    double now = clock_seconds();
    if (render->options->quiet || !live_line_possible() || now - render->source.reader.shown < 0.1)
        return;
    render->source.reader.shown = now;
    char text[64];
    snprintf(text, sizeof text, "drawing  frame %zu/%zu", frame + 1, render->plan.count);
    live_line(text);
}

// Returns a frame from the cache, or simulates it again.
static taut_status frame_at(struct render *render, size_t number, const struct frame **frame,
                            taut_error *error)
{
    if (!render->cache.overflowed) {
        *frame = &render->cache.frames[number];
        return frame_source_interrupted(error);
    }
    *frame = &render->source.frame;
    return frame_source_read(&render->source, render->plan.times[number], error);
}

static taut_status draw_frame(struct render *render, struct target *target, size_t number,
                              taut_error *error)
{
    const struct render_plan *plan = &render->plan;
    const struct frame *frame;
    show_drawing(render, number);
    taut_status status = frame_at(render, number, &frame, error);
    struct render_options appearance = target->appearance;
    if (plan->kind == RENDER_STRIP && number + 1 < plan->count)
        appearance.layers &= ~(unsigned)LAYER_LEGEND; // one legend is enough
    if (status == TAUT_OK)
        status = renderer_draw(target->renderer, frame, &target->camera, &appearance,
                               canvas_framebuffer(render->canvas), error);
    if (status == TAUT_OK)
        status = canvas_read(render->canvas, &target->image, error);
    if (status != TAUT_OK)
        return status;
    if (target->film)
        return film_add(target->film, &target->image, error);
    if (plan->kind == RENDER_STRIP)
        strip_put(&target->strip, (int)number, &target->image);
    return TAUT_OK;
}

static taut_status prepare_target(struct render *render, struct target *target, taut_error *error)
{
    const struct render_plan *plan = &render->plan;
    taut_status status = renderer_make(&target->renderer, error);
    if (status == TAUT_OK)
        status = renderer_set_subject(target->renderer, &render->source.subject, error);
    if (status == TAUT_OK && plan->kind == RENDER_STRIP)
        status = strip_make((int)plan->count, plan->columns, plan->width, plan->height,
                            target->appearance.dark ? 0 : 255, &target->strip, error);
    if (status == TAUT_OK && render_is_film(plan->kind)) {
        const struct film_options film = {
            .path = render->path,
            .format = plan->kind == RENDER_GIF ? FILM_GIF : FILM_MP4,
            .width = plan->width,
            .height = plan->height,
            .frames_per_second = plan->fps,
        };
        status = film_open(&film, &target->film, error);
    }
    return status;
}

static taut_status draw_all(struct render *render, struct target *target, taut_error *error)
{
    taut_status status = prepare_target(render, target, error);
    if (status == TAUT_OK && render->cache.overflowed)
        status = frame_source_rewind(&render->source, error);
    for (size_t i = 0; i < render->plan.count && status == TAUT_OK; i++)
        status = draw_frame(render, target, i, error);
    if (status != TAUT_OK) {
        film_abandon(target->film);
        return status;
    }
    if (target->film)
        return film_close(target->film, error);
    const struct image *image =
        render->plan.kind == RENDER_STRIP ? &target->strip.image : &target->image;
    render->width = image->width;
    render->height = image->height;
    return image_write_png(image, render->path, error);
}

static taut_status draw_frames(struct render *render, taut_error *error)
{
    const struct render_plan *plan = &render->plan;
    struct target target = {.appearance = appearance_of(render)};
    render->width = plan->width;
    render->height = plan->height;
    render->least = INFINITY;
    render->most = -INFINITY;
    render->cache = frame_cache_make(CACHE_BYTES);
    render->times = calloc(plan->count + 1, sizeof *render->times);
    if (!render->times)
        return fail_memory(error, "the times of a picture");

    // Checked first, so that nobody waits for a simulation that cannot be drawn.
    taut_status status = render_is_film(plan->kind) ? film_possible(error) : TAUT_OK;
    if (status == TAUT_OK)
        status = canvas_make(plan->width, plan->height, &render->canvas, error);

    if (status == TAUT_OK)
        status = measure_frames(render, &target.appearance, error);
    if (status == TAUT_OK) {
        if (render->least < render->most) {
            target.appearance.least = render->least;
            target.appearance.most = render->most;
        }
        target.appearance.full_force = render->full_force;
        target.camera = aim_camera(render);
        status = draw_all(render, &target, error);
    }

    live_line_clear();
    renderer_free(target.renderer);
    image_free(&target.image);
    strip_free(&target.strip);
    return status;
}

// ---- Printed results

static void print_line(const struct render *render)
{
    const struct render_plan *plan = &render->plan;
    printf("%s: %d x %d pixels, ", render->path, render->width, render->height);
    if (render_is_film(plan->kind))
        printf("%zu %s, %.4g a second, t = %.4g to %.4g s (%.4g simulated seconds a second)\n",
               plan->count, text_noun(plan->count, "frame", "frames"), plan->fps, render->times[0],
               render->times[plan->count - 1], plan->speed);
    else if (plan->kind == RENDER_STRIP)
        printf("%zu %s, t = %.4g to %.4g s\n", plan->count,
               text_noun(plan->count, "frame", "frames"), render->times[0],
               render->times[plan->count - 1]);
    else
        printf("t = %.4g s\n", render->times[0]);
}

static void print_json(const struct render *render)
{
    struct json json = {.out = stdout};
    json_open_object(&json, NULL);
    json_string(&json, "scene", render->source.name);
    json_open_array(&json, "files");
    json_string(&json, NULL, render->path);
    json_close_array(&json);
    json_count(&json, "frames", render->plan.count);
    json_open_array(&json, "times");
    for (size_t i = 0; i < render->plan.count; i++)
        json_number(&json, NULL, render->times[i]);
    json_close_array(&json);
    json_count(&json, "width", (uint64_t)render->width);
    json_count(&json, "height", (uint64_t)render->height);
    json_string(&json, "device", canvas_device(render->canvas));
    json_close_object(&json);
}

// ---- The command

// The first bytes of files of these kinds, after `skipped` bytes.
static const struct {
    const char *signature;
    size_t skipped;
} signatures[] = {
    [RENDER_PICTURE] = {"\x89PNG", 0},
    [RENDER_STRIP] = {"\x89PNG", 0},
    [RENDER_MP4] = {"ftyp", 4},
    [RENDER_GIF] = {"GIF8", 0},
};

// A picture may replace an older one, but no other file.
static taut_status check_output(const char *path, enum render_kind kind, bool force,
                                taut_error *error)
{
    if (finished_run_is_folder(path))
        return fail(error, TAUT_ERROR_IO, "cannot write '%s': there is a folder of that name",
                    path);
    if (force || access(path, F_OK) != 0)
        return TAUT_OK;
    const char *reason = NULL;
    FILE *file = open_to_read(path, &reason);
    if (!file)
        return fail(error, TAUT_ERROR_IO, "cannot replace '%s': %s", path, reason);
    char begins[8] = {0};
    size_t count = fread(begins, 1, sizeof begins, file);
    (void)fclose(file);
    if (count == 0 || memcmp(begins + signatures[kind].skipped, signatures[kind].signature, 4) == 0)
        return TAUT_OK;
    return fail(error, TAUT_ERROR_IO,
                "'%s' exists and is no such picture: replace it with --force, or choose "
                "another name with --output",
                path);
}

// Files that the scene is read from are not replaced, with --force neither.
static taut_status refuse_inputs(const struct render *render, taut_error *error)
{
    size_t count;
    const char **inputs = scene_inputs(render->source.reader.session.scene, &count);
    taut_status status = inputs ? TAUT_OK : fail_memory(error, "the names of files");
    for (size_t i = 0; i < count && status == TAUT_OK; i++)
        if (file_is_same(render->path, inputs[i]))
            status = fail(error, TAUT_ERROR_IO,
                          "cannot write '%s': it is one of the files that the scene is made of",
                          render->path);
    free(inputs);
    return status;
}

static taut_status plan_and_draw(struct render *render, taut_error *error)
{
    const struct render_span span = frame_source_span(&render->source);
    render->path = render->options->output ? text_format("%s", render->options->output)
                                           : text_format("out/%s.png", render->source.name);
    if (!render->path)
        return fail_memory(error, "the name of a picture");
    taut_status status =
        render_plan_make(render->request, render->path, &span, &render->plan, error);
    if (status == TAUT_OK)
        status = refuse_inputs(render, error);
    if (status == TAUT_OK)
        status = check_output(render->path, render->plan.kind, render->options->force, error);
    if (status == TAUT_OK)
        status = folder_make_parent(render->path, error);
    return status == TAUT_OK ? draw_frames(render, error) : status;
}

// A feature that this machine lacks is not an error of the user.
static int exit_code(taut_status status)
{
    return status == TAUT_ERROR_UNSUPPORTED ? EXIT_CODE_FAILED : exit_code_of(status);
}

// Errors in the options are reported before the scene is read.
static int check_options(const struct options *options)
{
    taut_error error = {0};
    enum render_kind kind;
    taut_status status = render_kind_of(
        &options->render, options->output ? options->output : "default.png", &kind, &error);
    if (status != TAUT_OK)
        complain("render: %s", error.text);
    return exit_code(status);
}

int render_command_run(const struct options *options)
{
    int code = check_options(options);
    if (code != EXIT_CODE_DONE)
        return code;

    signals_watch();
    struct render render = {.options = options, .request = &options->render};
    code = frame_source_open(options, &render.source);
    if (code == EXIT_CODE_DONE) {
        taut_error error = {0};
        taut_status status = plan_and_draw(&render, &error);
        code = exit_code(status);
        if (status != TAUT_OK)
            complain("render: %s", error.text);
        else if (options->json)
            print_json(&render);
        else if (!options->quiet)
            print_line(&render);
    }

    frame_cache_free(&render.cache);
    canvas_free(render.canvas);
    render_plan_free(&render.plan);
    frame_source_close(&render.source);
    free(render.times);
    free(render.path);
    return output_finish(code);
}
