// The window's loop: takes the newest frame of the player and the user's events, draws panels and
// scene when something has changed, and sleeps otherwise.
#include "view/view.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/os.h"

const struct frame *view_frame(const struct view *view)
{
    const struct scrub *scrub = &view->scrub;
    return scrub->active && scrub->frame ? scrub->frame : player_frame(view->player);
}

void view_notify(struct view *view, bool is_error, const char *format, ...)
{
    const double long_enough = 8, short_enough = 4; // s
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(view->banner.text, sizeof view->banner.text, format, arguments);
    va_end(arguments);
    view->banner.is_error = is_error;
    view->banner.until = clock_seconds() + (is_error ? long_enough : short_enough);
}

// ---- The state of the player

// True if anything that the panels show has changed.
static bool update_status(struct view *view)
{
    struct player_status before = view->status;
    struct player_status *now = &view->status;
    player_status(view->player, now);
    if (now->message_number != view->message_seen) {
        view->message_seen = now->message_number;
        if (now->message[0])
            view_notify(view, true, "%s", now->message);
    }
    if (now->playing)
        view->scrub = (struct scrub){0};
    settings_update(&view->settings, now->pending == 0);
    return before.playing != now->playing || before.failed != now->failed ||
           before.pending != now->pending || before.step != now->step ||
           before.critical_dt != now->critical_dt || before.threads != now->threads ||
           before.message_number != now->message_number;
}

static void update_rows(struct view *view)
{
    view->row_count =
        view->layout.plots ? player_rows(view->player, view->rows, PLOT_ROWS) : view->row_count;
}

// Reads the past frame that the user looks at; the present one if it is no longer stored.
static void update_scrub(struct view *view)
{
    struct scrub *scrub = &view->scrub;
    scrub->frame = scrub->active ? player_history_frame(view->player, (size_t)scrub->index) : NULL;
    scrub->active = scrub->frame != NULL;
}

static void request_strains(struct view *view)
{
    bool wanted = colouring_is_of_springs(view->render.colouring) || view->status.broken > 0;
    if (wanted != view->strains_wanted)
        player_strains(view->player, wanted);
    view->strains_wanted = wanted;
}

// Contacts are listed only while they are shown.
static void request_contacts(struct view *view)
{
    bool wanted = view->render.layers & LAYER_CONTACTS;
    if (wanted != view->contacts_wanted)
        player_contacts(view->player, wanted);
    view->contacts_wanted = wanted;
}

// Energies are evaluated only while they are shown.
static void request_energies(struct view *view)
{
    bool energies = view->layout.plots, budget = energies && view->budget;
    if (energies != view->energies_wanted)
        player_energies(view->player, energies);
    if (budget != view->budget_wanted)
        player_budget(view->player, budget);
    view->energies_wanted = energies;
    view->budget_wanted = budget;
}

// ---- When a frame is drawn: as soon as something changes, at most 60 times a second; with a
// software renderer at most half of the time; never while nothing happens.

struct redraw {
    bool software;
    double began;      // the last frame, s
    double began_work; // the same in processor time of this thread
    double cost;       // of a frame, s of processor time
    bool coarse;       // moving scenes are drawn at a lower resolution
    int frames_left;   // frames until the layout of the panels is final
};

// The processor time of this thread, s: other threads may use the core too.
static double work_seconds(void)
{
    struct timespec time;
    if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) != 0)
        return clock_seconds();
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static struct redraw redraw_make(bool software)
{
    return (struct redraw){.software = software, .frames_left = 3};
}

// The earliest time of the next frame, s. A graphics card waits for the screen by itself.
static double next_frame(const struct redraw *redraw, bool held)
{
    const double period = redraw->software ? 1.0 / 60 : 1.0 / 125;
    double pause = redraw->software && !held ? 2 * redraw->cost : 0;
    return redraw->began + (pause > period ? pause : period);
}

// Sleeps until a frame may be drawn, or until `due`; longer while nothing happens. `held`: the
// mouse holds something, and its movements are followed as fast as possible.
static void redraw_wait(const struct redraw *redraw, struct window *window, bool busy, bool held,
                        double due)
{
    const double idle = 0.25; // s
    double now = clock_seconds();
    double until = next_frame(redraw, held);
    if (!busy && redraw->frames_left == 0) {
        until = now + idle < due ? now + idle : due;
        window_wait(window, until - now);
        until = next_frame(redraw, held);
        now = clock_seconds();
    }
    // Events end a sleep; they stay in their queue until the frame is due.
    while (now < until) {
        window_wait(window, until - now);
        now = clock_seconds();
    }
    window_wait(window, 0);
}

// Whether a frame is to be drawn now: something has changed, or an event came a short while ago.
static bool redraw_draws(struct redraw *redraw, struct window *window, bool changed)
{
    enum { REDRAWS_AFTER = 3 };
    if (window_is_touched(window) || changed)
        redraw->frames_left = REDRAWS_AFTER;
    if (redraw->frames_left == 0)
        return false;
    redraw->frames_left--;
    return true;
}

static void redraw_begin(struct redraw *redraw)
{
    redraw->began = clock_seconds();
    redraw->began_work = work_seconds();
}

static void redraw_end(struct redraw *redraw, bool was_coarse)
{
    // Between the two limits nothing changes: a quarter of the pixels costs more than a quarter of
    // the time.
    const double too_slow = 0.06, quick = 0.012; // s
    double cost = work_seconds() - redraw->began_work;
    // A single slow frame (a scene being opened) must not affect the frames after it for long.
    redraw->cost = cost < redraw->cost ? cost : redraw->cost + (cost - redraw->cost) / 2;
    if (!redraw->software)
        return;
    if (!was_coarse && redraw->cost > too_slow)
        redraw->coarse = true;
    else if (was_coarse && redraw->cost < quick)
        redraw->coarse = false;
}

// ---- A frame

// Control, shift, alt and super, left and right.
static bool is_modifier(const struct event *event)
{
    enum { FIRST = 340, LAST = 347 }; // as GLFW numbers them
    return event->kind == EVENT_KEY && event->code >= FIRST && event->code <= LAST;
}

// Whether panels would miss an earlier event if they saw a later one in the same frame: a press and
// its release, or a release and the next press (typed letters have events of their own); and a
// modifier that changes after a press, which would then have the modifiers of later.
static bool is_undone_by(const struct event *earlier, const struct event *later)
{
    enum { CONTROL = 2, FIRST_WITHOUT_LETTER = 256 }; // as GLFW numbers them
    if (is_modifier(later) && !is_modifier(earlier) && earlier->down &&
        (earlier->kind == EVENT_KEY || earlier->kind == EVENT_BUTTON))
        return true;
    if (earlier->kind != later->kind || earlier->code != later->code ||
        earlier->down == later->down)
        return false;
    return earlier->kind == EVENT_BUTTON ||
           (earlier->kind == EVENT_KEY && (earlier->code >= FIRST_WITHOUT_LETTER ||
                                           (earlier->modifiers | later->modifiers) & CONTROL));
}

// Passes the queued events that belong to this frame to the panels, and returns their number. An
// event that undoes one of this frame is left to the next frame, with all that follow, because
// panels check the state of buttons and keys once per frame. While events are left, the pointer
// stays where the last event passed on had it: its present position belongs to an event that the
// panels have not seen.
static int begin_panels(struct view *view)
{
    struct event event, before, pointer = {0};
    int count = 0;
    bool placed = false, left = false;
    for (; window_see_event(view->window, count, &event); count++) {
        for (int i = 0; !left && i < count; i++)
            left = window_see_event(view->window, i, &before) && is_undone_by(&before, &event);
        if (left)
            break;
        gui_event(window_handle(view->window), &event);
        if (event.kind == EVENT_BUTTON && !placed) {
            pointer = event;
            placed = true;
        }
    }
    if (left && !placed)
        placed = window_see_event(view->window, count - 1, &pointer);
    gui_frame(placed, (float)pointer.x, (float)pointer.y);
    return count;
}

static taut_status draw_frame(struct view *view, taut_error *error)
{
    int width, height;
    window_size(view->window, &width, &height);
    event_log_frame(&view->event_log);
    struct event event;
    for (int count = begin_panels(view); count > 0; count--)
        if (window_next_event(view->window, &event))
            interaction_event(view, &event);
    mouse_follow(view);
    panels_draw(view);
    update_scrub(view);
    taut_status status = view_draw_scene(view, error);
    struct gui_box scene = view->layout.scene;
    screen_show(&view->screen, (int)scene.x, (int)scene.y, (int)scene.width, (int)scene.height,
                height);
    gui_draw();
    view->frames++;
    event_log_write(view, false);
    return status;
}

static void save_if_requested(struct view *view)
{
    if (view->picture_path[0])
        view_save_picture(view, view->picture_path);
    view->picture_path[0] = '\0';
}

// Saves the whole window, while its framebuffer still has the frame.
static taut_status save_screenshot(struct view *view, const char *path, taut_error *error)
{
    int width, height;
    struct image image = {0};
    window_size(view->window, &width, &height);
    taut_status status = screen_read_window(width, height, &image, error);
    if (status == TAUT_OK)
        status = image_write_png(&image, path, error);
    image_free(&image);
    return status;
}

// True after the given number of frames, or when the user leaves.
static bool is_last(const struct view *view, const struct view_options *options, int frames)
{
    return view->leaving || window_is_leaving(view->window) ||
           (options->frames > 0 && frames >= options->frames);
}

static taut_status run(struct view *view, const struct view_options *options, taut_error *error)
{
    struct redraw redraw = redraw_make(window_draws_in_software(view->window));
    taut_status status = TAUT_OK;
    while (status == TAUT_OK) {
        bool busy = view->status.playing || view->status.pending > 0;
        bool held = view->mouse.action != MOUSE_IDLE;
        redraw_wait(&redraw, view->window, busy, held, event_log_due(&view->event_log));
        bool fresh = player_refresh(view->player);
        view->scene_stale = view->scene_stale || (fresh && !view->scrub.active);
        bool status_changed = update_status(view);
        request_strains(view);
        request_contacts(view);
        request_energies(view);
        bool last = is_last(view, options, view->frames + 1);
        bool notified = view->banner.text[0] != '\0';
        struct event waiting;
        bool left = window_see_event(view->window, 0, &waiting);
        bool changed = left || fresh || status_changed || held || notified || view->scene_stale ||
                       options->frames > 0;
        bool due = last || clock_seconds() >= event_log_due(&view->event_log);
        if (!redraw_draws(&redraw, view->window, changed) && !due)
            continue;
        update_rows(view);
        // Still scenes are drawn at full resolution, and so are pictures that are saved.
        view->coarse = redraw.coarse && (view->status.playing || held) && !last &&
                       !view->picture_path[0] && !view->scrub.active;
        redraw_begin(&redraw);
        status = draw_frame(view, error);
        save_if_requested(view);
        if (last || is_last(view, options, view->frames)) {
            if (status == TAUT_OK && options->screenshot)
                status = save_screenshot(view, options->screenshot, error);
            event_log_write(view, true);
            break;
        }
        window_show(view->window);
        redraw_end(&redraw, view->coarse);
    }
    return status;
}

// ---- Start and end

static const char *find_font(void)
{
    static const char *const paths[] = {
        "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf",
        "/usr/share/fonts/dejavu-sans-fonts/DejaVuSans.ttf",
        "/usr/share/fonts/TTF/DejaVuSans.ttf",
    };
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++)
        if (access(paths[i], R_OK) == 0)
            return paths[i];
    return NULL;
}

static taut_status open_parts(struct view *view, const struct view_options *options,
                              taut_error *error)
{
    taut_status status = window_open(options->width, options->height, "taut", &view->window, error);
    if (status != TAUT_OK)
        return status;
    if (!gui_start(window_handle(view->window), find_font(),
                   (float)(15 * window_scale(view->window))))
        return fail(error, TAUT_ERROR_UNSUPPORTED, "the panels could not be drawn by %s",
                    window_device(view->window));
    gui_theme(options->dark);
    if (options->report)
        status = event_log_open(&view->event_log, options->report, error);
    view->rows = calloc(PLOT_ROWS, sizeof *view->rows);
    if (status == TAUT_OK && !view->rows)
        status = fail_memory(error, "the plots");
    return status == TAUT_OK ? renderer_make(&view->renderer, error) : status;
}

static void begin(struct view *view, const struct view_options *options)
{
    render_options_default(&view->render);
    view->render.colouring = options->colouring;
    view->render.dark = options->dark;
    view->camera.field = 35;
    view->speed = options->speed;
    view->fast = options->fast;
    view->layout.options = view->layout.playback = view->layout.plots = true;
    view->fit_wanted = true;
    player_refresh(view->player);
    player_speed(view->player, options->fast ? INFINITY : view->speed);
    player_play(view->player, !options->paused);
}

static void close_parts(struct view *view)
{
    view->dialogue = DIALOGUE_NONE;
    if (view->window) {
        stroke_end(&view->mouse.stroke);
        renderer_free(view->renderer);
        screen_free(&view->screen);
        gui_stop();
        window_close(view->window);
    }
    event_log_close(&view->event_log);
    settings_clear(&view->settings);
    free(view->rows);
    free(view->scene_file);
}

taut_status view_run(const struct view_options *options, struct diagnostics *diagnostics,
                     taut_error *error)
{
    struct view *view = calloc(1, sizeof *view);
    if (!view)
        return fail_memory(error, "the window");
    struct player_options of_player = options->player;
    of_player.on_frame = window_wake;
    taut_status status = player_make(options->scene, &of_player, diagnostics, &view->player, error);
    if (status == TAUT_OK) {
        status = open_parts(view, options, error);
        if (status == TAUT_OK) {
            begin(view, options);
            status = run(view, options, error);
        }
        player_free(view->player);
        close_parts(view);
    }
    free(view);
    return status;
}
