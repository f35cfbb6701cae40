// The scene into its picture, and pictures into files.
#include "view/view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

static vec3 corner(const float p[3])
{
    return vec3_make(p[0], p[1], p[2]);
}

// The box of the nodes as built, and of the spheres; other colliders may have no end.
static void box_of(const struct view *view, vec3 *low, vec3 *high)
{
    const struct subject *subject = player_subject(view->player);
    const struct subject_moment *moment = &player_moment(view->player)->moment;
    *low = corner(subject->low);
    *high = corner(subject->high);
    for (size_t i = 0; i < subject->collider_count && moment->spheres; i++) {
        const struct subject_sphere *sphere = &moment->spheres[i];
        if (!(sphere->radius > 0))
            continue;
        double r = (double)sphere->radius;
        vec3 c = corner(sphere->centre);
        *low = vec3_make(fmin(low->x, c.x - r), fmin(low->y, c.y - r), fmin(low->z, c.z - r));
        *high = vec3_make(fmax(high->x, c.x + r), fmax(high->y, c.y + r), fmax(high->z, c.z + r));
    }
}

// The box of the nodes where they are now, so that what has fallen far is seen too.
static void stretch_to_nodes(const struct view *view, vec3 *low, vec3 *high)
{
    const struct subject *subject = player_subject(view->player);
    const float *p = view_moment(view)->moment.positions;
    for (uint64_t i = 0; i < subject->node_count; i++, p += 3) {
        if (!isfinite(p[0]) || !isfinite(p[1]) || !isfinite(p[2]))
            continue;
        vec3 at = corner(p);
        *low = vec3_make(fmin(low->x, at.x), fmin(low->y, at.y), fmin(low->z, at.z));
        *high = vec3_make(fmax(high->x, at.x), fmax(high->y, at.y), fmax(high->z, at.z));
    }
}

void view_fit_camera(struct view *view)
{
    const struct subject *subject = player_subject(view->player);
    double azimuth, elevation;
    vec3 low, high;
    camera_angles_for(subject, &azimuth, &elevation);
    box_of(view, &low, &high);
    stretch_to_nodes(view, &low, &high);
    struct gui_box scene = view->layout.scene;
    view->camera = camera_fit(low, high, corner(subject->up), azimuth, elevation,
                              view->camera.field, (int)scene.width, (int)scene.height);
    view->fit_wanted = false;
    view->scene_stale = true;
}

// After a scene was opened, or its springs were made anew.
static taut_status take_subject(struct view *view, taut_error *error)
{
    const struct subject *subject = player_subject(view->player);
    uint64_t generation = player_moment(view->player)->generation;
    if (generation == view->generation && subject == view->subject)
        return TAUT_OK;
    // Of the same generation it is the same in another place.
    bool same = generation == view->generation;
    view->generation = generation;
    view->subject = subject;
    if (same)
        return renderer_set_subject(view->renderer, subject, error);
    view->scrub.active = false;
    mouse_drop_sphere(view);
    stroke_end(&view->hand.stroke);
    view->hand.does = HAND_NOTHING;
    const taut_scene *scene = player_scene(view->player);
    if (!view->scene_file || strcmp(view->scene_file, scene->file) != 0) {
        free(view->scene_file);
        view->scene_file = text_format("%s", scene->file);
        settings_clear(&view->settings);
        leader_choose(view);
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
    taut_status status = take_subject(view, error);
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
        status = renderer_draw(view->renderer, &view_moment(view)->moment, &camera, &view->looks,
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
        view_say(view, false, "saved as %s", path);
    else
        view_say(view, true, "%s", error.text);
    image_free(&image);
}
