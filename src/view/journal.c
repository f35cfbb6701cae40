#include "view/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"
#include "view/view.h"

static void note(void *context, const char *name, struct gui_box box)
{
    struct journal *journal = context;
    if (journal->widget_count == WIDGETS_MAX)
        return;
    struct widget *widget = &journal->widgets[journal->widget_count++];
    snprintf(widget->name, sizeof widget->name, "%s", name);
    widget->box = box;
}

taut_status journal_open(struct journal *journal, const char *path, taut_error *error)
{
    journal->path = text_format("%s", path);
    if (!journal->path)
        return fail_memory(error, "the report");
    // Lines are read while they are written, so it has its name from the start; a file or a link
    // that is there already is somebody else's.
    struct stat there;
    bool stream = stat(path, &there) == 0 && !S_ISREG(there.st_mode);
    int made = O_CREAT | O_EXCL | O_NOFOLLOW;
    int descriptor = open(path, O_WRONLY | O_CLOEXEC | (stream ? 0 : made), (mode_t)0666);
    journal->out = descriptor < 0 ? NULL : fdopen(descriptor, "w");
    if (!journal->out && descriptor >= 0)
        (void)close(descriptor);
    if (!journal->out)
        return fail(error, TAUT_ERROR_IO, "cannot write '%s': %s", path, strerror(errno));
    gui_watch(note, journal);
    return TAUT_OK;
}

void journal_frame(struct journal *journal)
{
    journal->widget_count = 0;
}

double journal_due(const struct journal *journal)
{
    return journal->out ? journal->next : INFINITY;
}

static void print_text(FILE *out, const char *text)
{
    fputc('"', out);
    for (const char *at = text; *at; at++)
        if (*at == '"' || *at == '\\')
            fprintf(out, "\\%c", *at);
        else if ((unsigned char)*at < ' ')
            fputs("\\n", out);
        else
            fputc(*at, out);
    fputc('"', out);
}

// Infinity has no place in JSON, nor has what a run that diverged leaves.
static void print_value(FILE *out, double value)
{
    if (isfinite(value))
        fprintf(out, "%.9g", value);
    else
        fputs("null", out);
}

static void print_number(FILE *out, const char *name, double value)
{
    fprintf(out, "\"%s\":", name);
    print_value(out, value);
    fputc(',', out);
}

static void print_three(FILE *out, const char *name, vec3 value)
{
    fprintf(out, "\"%s\":[", name);
    print_value(out, value.x);
    fputc(',', out);
    print_value(out, value.y);
    fputc(',', out);
    print_value(out, value.z);
    fputs("],", out);
}

static void print_status(FILE *out, const struct player_status *status)
{
    fprintf(out, "\"playing\":%s,\"failed\":%s,\"step\":%llu,\"pending\":%llu,\"threads\":%d,",
            status->playing ? "true" : "false", status->failed ? "true" : "false",
            (unsigned long long)status->step, (unsigned long long)status->pending, status->threads);
    print_number(out, "time", status->time);
    print_number(out, "dt", status->dt);
    print_number(out, "critical_dt", status->critical_dt);
    print_number(out, "speed", status->speed);
    print_number(out, "budget_since", status->budget.kept ? status->budget.since : NAN);
    print_number(out, "unexplained", status->budget.kept ? status->budget.unexplained : NAN);
    print_number(out, "springs_per_second", status->spring_updates_per_second);
    const struct player_building *building = &status->building;
    fprintf(out, "\"building\":%s,\"asks\":%s,", building->active ? "true" : "false",
            building->asks ? "true" : "false");
    fputs("\"message\":", out);
    print_text(out, status->message);
    fputc(',', out);
}

static void print_changes(FILE *out, const struct player *player)
{
    size_t count;
    const char *const *changes = player_changes(player, &count);
    fputs("\"changes\":[", out);
    for (size_t i = 0; i < count; i++) {
        fputs(i > 0 ? "," : "", out);
        print_text(out, changes[i]);
    }
    fputs("],", out);
}

static void print_scene(FILE *out, const taut_scene *scene)
{
    print_three(out, "gravity", scene->environment.gravity);
    print_three(out, "wind", scene->environment.wind.velocity);
    fputs("\"scene\":", out);
    print_text(out, scene->file);
    fputc(',', out);
}

// A place in the scene and where it is seen, in pixels of the window.
static void print_place(const struct view *view, const char *name, vec3 place)
{
    FILE *out = view->journal.out;
    double x = 0, y = 0, depth;
    bool seen = camera_project(&view->camera, place, &x, &y, &depth);
    fprintf(out, "\"%s\":{", name);
    print_three(out, "at", place);
    fputs("\"seen\":", out);
    if (seen && isfinite(x) && isfinite(y))
        fprintf(out, "[%.2f,%.2f]", x + (double)view->layout.scene.x,
                y + (double)view->layout.scene.y);
    else
        fputs("null", out);
    fputs("},", out);
}

static vec3 node_at(const struct view *view, uint64_t node)
{
    const float *p = view_moment(view)->moment.positions + 3 * node;
    return vec3_make(p[0], p[1], p[2]);
}

static void print_nodes(const struct view *view)
{
    const struct subject *subject = player_subject(view->player);
    FILE *out = view->journal.out;
    float low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    const float *p = view_moment(view)->moment.positions;
    for (uint64_t i = 0; i < 3 * subject->node_count; i++) {
        low[i % 3] = p[i] < low[i % 3] ? p[i] : low[i % 3];
        high[i % 3] = p[i] > high[i % 3] ? p[i] : high[i % 3];
    }
    fprintf(out, "\"nodes\":%llu,\"springs\":%llu,\"faces\":%llu,",
            (unsigned long long)subject->node_count, (unsigned long long)subject->springs_in_all,
            (unsigned long long)subject->face_count);
    print_three(out, "low", vec3_make((double)low[0], (double)low[1], (double)low[2]));
    print_three(out, "high", vec3_make((double)high[0], (double)high[1], (double)high[2]));
    print_place(view, "first", node_at(view, 0));
    print_place(view, "middle", node_at(view, subject->node_count / 2));
    print_place(view, "last", node_at(view, subject->node_count - 1));
    if (view->leader.present)
        print_place(view, "leader", node_at(view, view->leader.node));
}

static void print_spheres(const struct view *view)
{
    const struct subject *subject = player_subject(view->player);
    const struct subject_moment *moment = &view_moment(view)->moment;
    FILE *out = view->journal.out;
    const char *comma = "";
    fputs("\"spheres\":[", out);
    for (size_t i = 0; i < subject->collider_count && moment->spheres; i++) {
        const struct subject_sphere *s = &moment->spheres[i];
        if (!(s->radius > 0))
            continue;
        fprintf(out, "%s{\"collider\":%zu,\"radius\":%.9g,", comma, i, (double)s->radius);
        print_place(view, "centre", vec3_make(s->centre[0], s->centre[1], s->centre[2]));
        fputs("\"end\":0}", out);
        comma = ",";
    }
    fputs("],", out);
}

static void print_widgets(const struct journal *journal)
{
    fputs("\"widgets\":{", journal->out);
    for (size_t i = 0; i < journal->widget_count; i++) {
        const struct widget *widget = &journal->widgets[i];
        fputs(i > 0 ? "," : "", journal->out);
        print_text(journal->out, widget->name);
        fprintf(journal->out, ":[%g,%g,%g,%g]", (double)widget->box.x, (double)widget->box.y,
                (double)widget->box.width, (double)widget->box.height);
    }
    fputs("}}\n", journal->out);
}

void journal_write(struct view *view, bool now)
{
    const double every = 0.25; // s
    struct journal *journal = &view->journal;
    double time = clock_seconds();
    if (!journal->out || (!now && time < journal->next))
        return;
    journal->next = time + every;
    struct gui_box scene = view->layout.scene;
    fprintf(journal->out, "{\"frames\":%d,\"device\":", view->frames);
    print_text(journal->out, window_device(view->window));
    fprintf(journal->out, ",\"picture\":[%g,%g,%g,%g],", (double)scene.x, (double)scene.y,
            (double)scene.width, (double)scene.height);
    print_status(journal->out, &view->status);
    print_scene(journal->out, player_scene(view->player));
    fputs("\"notice\":", journal->out);
    print_text(journal->out, view->banner.text);
    fputc(',', journal->out);
    print_changes(journal->out, view->player);
    print_nodes(view);
    print_spheres(view);
    print_widgets(journal);
    if (fflush(journal->out) == 0)
        return;
    view_say(view, true, "cannot write '%s': %s", journal->path, strerror(errno));
    journal_close(journal);
}

void journal_close(struct journal *journal)
{
    if (journal->out)
        fclose(journal->out);
    free(journal->path);
    journal->out = NULL;
    journal->path = NULL;
}
