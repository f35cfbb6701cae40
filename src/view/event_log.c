// Writes the event log (event_log.h), which tests and scripts read.
#include "view/event_log.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json.h"
#include "base/os.h"
#include "base/text.h"
#include "view/view.h"

static void note(void *context, const char *name, struct gui_box box)
{
    struct event_log *log = context;
    if (log->widget_count == WIDGETS_MAX)
        return;
    struct widget *widget = &log->widgets[log->widget_count++];
    snprintf(widget->name, sizeof widget->name, "%s", name);
    widget->box = box;
}

taut_status event_log_open(struct event_log *log, const char *path, taut_error *error)
{
    log->path = text_format("%s", path);
    if (!log->path)
        return fail_memory(error, "the report");
    // Lines are read while they are written, so the file has its final name from the start; a file
    // or link that exists already belongs to somebody else.
    struct stat there;
    bool stream = stat(path, &there) == 0 && !S_ISREG(there.st_mode);
    int made = O_CREAT | O_EXCL | O_NOFOLLOW;
    int descriptor = open(path, O_WRONLY | O_CLOEXEC | (stream ? 0 : made), (mode_t)0666);
    log->out = descriptor < 0 ? NULL : fdopen(descriptor, "w");
    if (!log->out && descriptor >= 0)
        (void)close(descriptor);
    if (!log->out)
        return fail(error, TAUT_ERROR_IO, "cannot write '%s': %s", path, strerror(errno));
    gui_watch(note, log);
    return TAUT_OK;
}

void event_log_frame(struct event_log *log)
{
    log->widget_count = 0;
}

double event_log_due(const struct event_log *log)
{
    return log->out ? log->next : INFINITY;
}

// Hundredths of a pixel are precise enough.
static void write_pixels(struct json *json, const char *key, const double *values, size_t count)
{
    json_open_array(json, key);
    for (size_t i = 0; i < count; i++)
        json_number(json, NULL, round(100 * values[i]) / 100);
    json_close_array(json);
}

static void write_box(struct json *json, const char *key, struct gui_box box)
{
    const double values[] = {(double)box.x, (double)box.y, (double)box.width, (double)box.height};
    write_pixels(json, key, values, 4);
}

static void write_vector(struct json *json, const char *key, vec3 value)
{
    const double values[] = {value.x, value.y, value.z};
    json_numbers(json, key, values, 3);
}

static void write_status(struct json *json, const struct player_status *status)
{
    json_bool(json, "playing", status->playing);
    json_bool(json, "failed", status->failed);
    json_count(json, "step", status->step);
    json_count(json, "pending", status->pending);
    json_count(json, "threads", (uint64_t)status->threads);
    json_number(json, "time", status->time);
    json_number(json, "dt", status->dt);
    json_number(json, "critical_dt", status->critical_dt);
    json_number(json, "speed", status->speed);
    json_number(json, "budget_since", status->budget.kept ? status->budget.since : NAN);
    json_number(json, "unexplained", status->budget.kept ? status->budget.unexplained : NAN);
    json_number(json, "springs_per_second", status->spring_updates_per_second);
    json_bool(json, "building", status->building.active);
    json_bool(json, "asks", status->building.needs_confirmation);
    json_string(json, "message", status->message);
}

static void write_changes(struct json *json, const struct player *player)
{
    size_t count;
    const char *const *changes = player_changes(player, &count);
    json_open_array(json, "changes");
    for (size_t i = 0; i < count; i++)
        json_string(json, NULL, changes[i]);
    json_close_array(json);
}

// Writes the members of a point: its position in the scene, and its position in pixels of the
// window; null behind the camera.
static void write_point(struct json *json, const struct view *view, vec3 position)
{
    double x = 0, y = 0, depth;
    bool seen = camera_project(&view->camera, position, &x, &y, &depth);
    write_vector(json, "at", position);
    if (seen && isfinite(x) && isfinite(y)) {
        const double pixels[] = {x + (double)view->layout.scene.x,
                                 y + (double)view->layout.scene.y};
        write_pixels(json, "seen", pixels, 2);
    } else {
        json_null(json, "seen");
    }
}

static void write_node(struct json *json, const struct view *view, const char *key, uint64_t node)
{
    const float *p = view_frame(view)->drawn_positions + 3 * node;
    json_open_object(json, key);
    write_point(json, view, vec3_make((double)p[0], (double)p[1], (double)p[2]));
    json_close_object(json);
}

static void write_nodes(struct json *json, const struct view *view)
{
    const struct subject *subject = player_subject(view->player);
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    const float *p = view_frame(view)->drawn_positions;
    for (uint64_t i = 0; i < 3 * subject->node_count; i++) {
        const double value = (double)p[i];
        low[i % 3] = value < low[i % 3] ? value : low[i % 3];
        high[i % 3] = value > high[i % 3] ? value : high[i % 3];
    }
    json_count(json, "nodes", subject->node_count);
    json_count(json, "springs", subject->springs_in_all);
    json_count(json, "faces", subject->face_count);
    json_numbers(json, "low", low, 3);
    json_numbers(json, "high", high, 3);
    write_node(json, view, "first", 0);
    write_node(json, view, "middle", subject->node_count / 2);
    write_node(json, view, "last", subject->node_count - 1);
    if (view->driven.present)
        write_node(json, view, "driven", view->driven.node);
}

static void write_spheres(struct json *json, const struct view *view)
{
    const struct subject *subject = player_subject(view->player);
    const struct frame *frame = view_frame(view);
    json_open_array(json, "spheres");
    for (size_t i = 0; i < subject->collider_count && frame->colliders; i++) {
        const struct frame_collider *sphere = &frame->colliders[i];
        if (!(sphere->radius > 0))
            continue;
        const float *centre = sphere->centre;
        json_open_object(json, NULL);
        json_count(json, "collider", i);
        json_number(json, "radius", (double)sphere->radius);
        json_open_object(json, "centre");
        write_point(json, view, vec3_make((double)centre[0], (double)centre[1], (double)centre[2]));
        json_close_object(json);
        json_close_object(json);
    }
    json_close_array(json);
}

// Writes the meshes, with a point of each, on its first triangle.
static void write_meshes(struct json *json, const struct view *view)
{
    const struct subject *subject = player_subject(view->player);
    const struct frame *frame = view_frame(view);
    json_open_array(json, "meshes");
    for (size_t m = 0; m < subject->mesh_count; m++) {
        const struct collider_pose pose = subject_mesh_pose(subject, m, frame);
        const struct subject_corner *corners = subject->corners + subject->meshes[m].first_corner;
        vec3 middle = {0, 0, 0};
        for (int c = 0; c < 3; c++) {
            const float *p = corners[c].position;
            const vec3 at = vec3_make((double)p[0], (double)p[1], (double)p[2]);
            middle = vec3_add(middle, vec3_scale(1.0 / 3, collider_point(&pose, at)));
        }
        json_open_object(json, NULL);
        json_count(json, "collider", subject->meshes[m].collider);
        json_open_object(json, "point");
        write_point(json, view, middle);
        json_close_object(json);
        json_close_object(json);
    }
    json_close_array(json);
}

static void write_widgets(struct json *json, const struct event_log *log)
{
    json_open_object(json, "widgets");
    for (size_t i = 0; i < log->widget_count; i++)
        write_box(json, log->widgets[i].name, log->widgets[i].box);
    json_close_object(json);
}

void event_log_write(struct view *view, bool now)
{
    const double every = 0.25; // s
    struct event_log *log = &view->event_log;
    double time = clock_seconds();
    if (!log->out || (!now && time < log->next))
        return;
    log->next = time + every;

    const taut_scene *scene = player_scene(view->player);
    struct json json = {.out = log->out, .digits = JSON_DIGITS_SINGLE, .compact = true};
    json_open_object(&json, NULL);
    json_count(&json, "frames", (uint64_t)view->frames);
    json_string(&json, "device", window_device(view->window));
    write_box(&json, "picture", view->layout.scene);
    write_status(&json, &view->status);
    write_vector(&json, "gravity", scene->environment.gravity);
    write_vector(&json, "wind", scene->environment.wind.velocity);
    json_string(&json, "scene", scene->file);
    json_string(&json, "notice", view->banner.text);
    write_changes(&json, view->player);
    write_nodes(&json, view);
    write_spheres(&json, view);
    write_meshes(&json, view);
    write_widgets(&json, log);
    json_close_object(&json);

    if (fflush(log->out) == 0 && !ferror(log->out))
        return;
    view_notify(view, true, "cannot write '%s': %s", log->path, strerror(errno));
    event_log_close(log);
}

void event_log_close(struct event_log *log)
{
    if (log->out)
        fclose(log->out);
    free(log->path);
    log->out = NULL;
    log->path = NULL;
}
