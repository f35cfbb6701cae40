// Draws the scene into its picture (screen.h), fits the camera to it, and saves pictures to files.
#include "view/view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "picture/gl.h"

// ---- The picture of the scene

enum { SAMPLES = 4 };

taut_status screen_resize(struct screen *screen, int width, int height, taut_error *error)
{
    if (screen->width == width && screen->height == height)
        return TAUT_OK;
    screen_free(screen);
    GLint most = 0;
    glGetIntegerv(GL_MAX_SAMPLES, &most);
    int samples = most < SAMPLES ? most : SAMPLES;
    glGenFramebuffers(1, &screen->framebuffer);
    glBindFramebuffer(GL_FRAMEBUFFER, screen->framebuffer);
    screen->colour = gl_renderbuffer_make(GL_RGBA8, GL_COLOR_ATTACHMENT0, samples, width, height);
    screen->depth =
        gl_renderbuffer_make(GL_DEPTH_COMPONENT24, GL_DEPTH_ATTACHMENT, samples, width, height);
    bool whole = glCheckFramebufferStatus(GL_FRAMEBUFFER) == GL_FRAMEBUFFER_COMPLETE;
    glGenFramebuffers(1, &screen->plain);
    glBindFramebuffer(GL_FRAMEBUFFER, screen->plain);
    screen->plain_colour = gl_renderbuffer_make(GL_RGBA8, GL_COLOR_ATTACHMENT0, 0, width, height);
    whole = whole && glCheckFramebufferStatus(GL_FRAMEBUFFER) == GL_FRAMEBUFFER_COMPLETE;
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
    screen->width = width;
    screen->height = height;
    if (whole)
        return TAUT_OK;
    screen_free(screen);
    return fail(error, TAUT_ERROR_UNSUPPORTED,
                "OpenGL gives no picture of %d x %d pixels with %d samples each", width, height,
                samples);
}

void screen_resolve(const struct screen *screen)
{
    glBindFramebuffer(GL_READ_FRAMEBUFFER, screen->framebuffer);
    glBindFramebuffer(GL_DRAW_FRAMEBUFFER, screen->plain);
    glDisable(GL_SCISSOR_TEST);
    glBlitFramebuffer(0, 0, screen->width, screen->height, 0, 0, screen->width, screen->height,
                      GL_COLOR_BUFFER_BIT, GL_NEAREST);
}

void screen_show(const struct screen *screen, int x, int y, int width, int height,
                 int window_height)
{
    int bottom = window_height - y - height;
    bool same = width == screen->width && height == screen->height;
    glBindFramebuffer(GL_READ_FRAMEBUFFER, screen->plain);
    glBindFramebuffer(GL_DRAW_FRAMEBUFFER, 0);
    glDisable(GL_SCISSOR_TEST);
    glBlitFramebuffer(0, 0, screen->width, screen->height, x, bottom, x + width, bottom + height,
                      GL_COLOR_BUFFER_BIT, same ? GL_NEAREST : GL_LINEAR);
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
}

static taut_status read_framebuffer(unsigned framebuffer, int width, int height,
                                    struct image *image, taut_error *error)
{
    taut_status status = image_make(width, height, image, error);
    if (status != TAUT_OK)
        return status;
    glBindFramebuffer(GL_READ_FRAMEBUFFER, framebuffer);
    glPixelStorei(GL_PACK_ALIGNMENT, 1);
    // OpenGL's first row is the lowest.
    for (int row = 0; row < height; row++)
        glReadPixels(0, height - 1 - row, width, 1, GL_RGB, GL_UNSIGNED_BYTE,
                     image->pixels + (size_t)row * (size_t)width * 3);
    glBindFramebuffer(GL_READ_FRAMEBUFFER, 0);
    return TAUT_OK;
}

taut_status screen_read(const struct screen *screen, struct image *image, taut_error *error)
{
    return read_framebuffer(screen->plain, screen->width, screen->height, image, error);
}

taut_status screen_read_window(int width, int height, struct image *image, taut_error *error)
{
    return read_framebuffer(0, width, height, image, error);
}

void screen_free(struct screen *screen)
{
    glDeleteFramebuffers(1, &screen->framebuffer);
    glDeleteFramebuffers(1, &screen->plain);
    glDeleteRenderbuffers(1, &screen->colour);
    glDeleteRenderbuffers(1, &screen->depth);
    glDeleteRenderbuffers(1, &screen->plain_colour);
    *screen = (struct screen){0};
}

// ---- The camera and the scene

static vec3 corner(const float p[3])
{
    return vec3_make(p[0], p[1], p[2]);
}

static void include(vec3 at_least, vec3 at_most, vec3 *low, vec3 *high)
{
    *low = vec3_make(fmin(low->x, at_least.x), fmin(low->y, at_least.y), fmin(low->z, at_least.z));
    *high = vec3_make(fmax(high->x, at_most.x), fmax(high->y, at_most.y), fmax(high->z, at_most.z));
}

// Mesh colliders near the bodies, unless they are as large as a landscape.
static void include_meshes(const struct view *view, vec3 *low, vec3 *high)
{
    const struct subject *subject = player_subject(view->player);
    const double size = vec3_length(vec3_subtract(*high, *low));
    const vec3 centre = vec3_scale(0.5, vec3_add(*low, *high));
    for (size_t m = 0; m < subject->mesh_count; m++) {
        const struct collider_pose pose = subject_mesh_pose(subject, m, player_frame(view->player));
        vec3 least, most;
        subject_mesh_box(subject, m, &pose, &least, &most);
        const vec3 middle = vec3_scale(0.5, vec3_add(least, most));
        if (vec3_length(vec3_subtract(most, least)) <= 4 * size &&
            vec3_length(vec3_subtract(middle, centre)) <= 2 * size)
            include(least, most, low, high);
    }
}

// The box of the nodes as built, of spheres and of meshes; other colliders may be infinite.
static void box_of(const struct view *view, vec3 *low, vec3 *high)
{
    const struct subject *subject = player_subject(view->player);
    const struct frame *frame = player_frame(view->player);
    *low = corner(subject->low);
    *high = corner(subject->high);
    include_meshes(view, low, high);
    for (size_t i = 0; i < subject->collider_count && frame->colliders; i++) {
        const struct frame_collider *sphere = &frame->colliders[i];
        if (!(sphere->radius > 0))
            continue;
        const double r = (double)sphere->radius;
        const vec3 c = corner(sphere->centre), reach = vec3_make(r, r, r);
        include(vec3_subtract(c, reach), vec3_add(c, reach), low, high);
    }
}

// Extends a box to the present positions of the nodes, so that parts that have fallen far are
// visible too.
static void extend_to_nodes(const struct view *view, vec3 *low, vec3 *high)
{
    const struct subject *subject = player_subject(view->player);
    const float *p = view_frame(view)->drawn_positions;
    for (uint64_t i = 0; i < subject->node_count; i++, p += 3) {
        if (!isfinite(p[0]) || !isfinite(p[1]) || !isfinite(p[2]))
            continue;
        include(corner(p), corner(p), low, high);
    }
}

void view_fit_camera(struct view *view)
{
    const struct subject *subject = player_subject(view->player);
    double azimuth, elevation;
    vec3 low, high;
    camera_angles_for(subject, &azimuth, &elevation);
    box_of(view, &low, &high);
    extend_to_nodes(view, &low, &high);
    struct gui_box scene = view->layout.scene;
    view->camera = camera_fit(low, high, corner(subject->up), azimuth, elevation,
                              view->camera.field, (int)scene.width, (int)scene.height);
    view->fit_wanted = false;
    view->scene_stale = true;
}

// Gives the renderer a new subject, after a scene was opened or its springs were replaced.
static taut_status update_subject(struct view *view, taut_error *error)
{
    const struct subject *subject = player_subject(view->player);
    uint64_t generation = player_frame(view->player)->generation;
    if (generation == view->generation && subject == view->subject)
        return TAUT_OK;
    // A subject of the same generation is a copy at another address.
    bool same = generation == view->generation;
    view->generation = generation;
    view->subject = subject;
    if (same)
        return renderer_set_subject(view->renderer, subject, error);
    view->scrub = (struct scrub){0};
    mouse_release_collider(view);
    stroke_end(&view->mouse.stroke);
    view->mouse.action = MOUSE_IDLE;
    const taut_scene *scene = player_scene(view->player);
    if (!view->scene_file || strcmp(view->scene_file, scene->file) != 0) {
        free(view->scene_file);
        view->scene_file = text_format("%s", scene->file);
        settings_clear(&view->settings);
        driven_node_choose(view);
        view->fit_wanted = true;
        char *title = text_format("taut: %s", scene->title ? scene->title : scene->name);
        window_title(view->window, title ? title : "taut");
        free(title);
    }
    view->scene_stale = true;
    return renderer_set_subject(view->renderer, subject, error);
}

taut_status view_draw_scene(struct view *view, taut_error *error)
{
    struct gui_box scene = view->layout.scene;
    int coarseness = view->coarse ? 2 : 1;
    taut_status status = update_subject(view, error);
    if (view->fit_wanted)
        view_fit_camera(view);
    view->camera.width = (int)scene.width;
    view->camera.height = (int)scene.height;
    struct camera camera = view->camera;
    camera.width /= coarseness;
    camera.height /= coarseness;
    bool resized = view->screen.width != camera.width || view->screen.height != camera.height;
    if (status != TAUT_OK || (!view->scene_stale && !resized))
        return status;
    status = screen_resize(&view->screen, camera.width, camera.height, error);
    if (status == TAUT_OK)
        status = renderer_draw(view->renderer, view_frame(view), &camera, &view->render,
                               view->screen.framebuffer, error);
    if (status == TAUT_OK)
        screen_resolve(&view->screen);
    view->scene_stale = false;
    return status;
}

void view_save_picture(struct view *view, const char *path)
{
    struct image image = {0};
    taut_error error = {0};
    taut_status status = screen_read(&view->screen, &image, &error);
    if (status == TAUT_OK)
        status = image_write_png(&image, path, &error);
    if (status == TAUT_OK)
        view_notify(view, false, "saved as %s", path);
    else
        view_notify(view, true, "%s", error.text);
    image_free(&image);
}
