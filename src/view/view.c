#include "view/view.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "view/redraw.h"

const struct player_moment *view_moment(const struct view *view)
{
    return view->scrub.active ? &view->scrub.moment : player_moment(view->player);
}

void view_say(struct view *view, bool is_error, const char *format, ...)
{
    const double long_enough = 8, short_enough = 4; // s
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(view->banner.text, sizeof view->banner.text, format, arguments);
    va_end(arguments);
    view->banner.is_error = is_error;
    view->banner.until = clock_seconds() + (is_error ? long_enough : short_enough);
}

// ---- What the player has to say

// True if anything that panels show is different from before.
static bool take_status(struct view *view)
{
    struct player_status before = view->status;
    struct player_status *now = &view->status;
    player_status(view->player, now);
    if (now->message_number != view->message_seen) {
        view->message_seen = now->message_number;
        if (now->message[0])
            view_say(view, true, "%s", now->message);
    }
    if (now->playing)
        view->scrub.active = false;
    settings_settle(&view->settings, now->pending == 0);
    return before.playing != now->playing || before.failed != now->failed ||
           before.pending != now->pending || before.step != now->step ||
           before.critical_dt != now->critical_dt || before.threads != now->threads ||
           before.message_number != now->message_number;
}

static void take_rows(struct view *view)
{
    view->row_count =
        view->layout.plots ? player_rows(view->player, view->rows, PLOT_ROWS) : view->row_count;
}

// The past moment that the user looks at; the present one where it has been forgotten.
static void look_back(struct view *view)
{
    if (view->scrub.active &&
        !player_history_moment(view->player, (size_t)view->scrub.index, &view->scrub.moment))
        view->scrub.active = false;
}

static void want_strains(struct view *view)
{
    bool wanted = view->looks.colouring == COLOURING_STRAIN ||
                  view->looks.colouring == COLOURING_TENSION || view->status.broken > 0;
    if (wanted != view->strains_wanted)
        player_strains(view->player, wanted);
    view->strains_wanted = wanted;
}

// Nothing is evaluated that nothing shows.
static void want_energies(struct view *view)
{
    bool energies = view->layout.plots, budget = energies && view->budget;
    if (energies != view->energies_wanted)
        player_energies(view->player, energies);
    if (budget != view->budget_wanted)
        player_budget(view->player, budget);
    view->energies_wanted = energies;
    view->budget_wanted = budget;
}

// ---- A frame

// Whether one event is the press that ends by the other. Letters that are typed are told apart by
// events of their own.
static bool is_press_of(const struct event *press, const struct event *release)
{
    enum { CONTROL = 2, FIRST_WITHOUT_LETTER = 256 }; // as GLFW numbers them
    return press->kind == release->kind && press->code == release->code && press->down &&
           (press->kind == EVENT_BUTTON || press->code >= FIRST_WITHOUT_LETTER ||
            press->modifiers & CONTROL);
}

// How many of the events that wait belong into this frame, which the panels are told of. A button
// or key that went down and up since the last one goes up in the next: the panels look at what is
// down, once a frame.
static int begin_panels(struct view *view)
{
    struct event event, before, button = {0};
    int count = 0;
    bool pressed = false, over = false;
    for (; !over && window_see_event(view->window, count, &event); count++) {
        bool goes_up = !event.down && (event.kind == EVENT_BUTTON || event.kind == EVENT_KEY);
        for (int i = 0; goes_up && !over && i < count; i++)
            over = window_see_event(view->window, i, &before) && is_press_of(&before, &event);
        if (over)
            break;
        gui_event(window_handle(view->window), &event);
        if (event.kind == EVENT_BUTTON && !pressed) {
            button = event;
            pressed = true;
        }
    }
    gui_frame(pressed, (float)button.x, (float)button.y);
    return count;
}

static taut_status draw_frame(struct view *view, taut_error *error)
{
    int width, height;
    window_size(view->window, &width, &height);
    journal_frame(&view->journal);
    struct event event;
    for (int count = begin_panels(view); count > 0; count--)
        if (window_next_event(view->window, &event))
            view_take_event(view, &event);
    mouse_follow(view);
    panels_draw(view);
    look_back(view);
    taut_status status = view_draw_scene(view, error);
    struct gui_box scene = view->layout.scene;
    screen_show(&view->screen, (int)scene.x, (int)scene.y, (int)scene.width, (int)scene.height,
                height);
    gui_draw();
    view->frames++;
    journal_write(view, false);
    return status;
}

static void save_if_wanted(struct view *view)
{
    if (view->picture_path[0])
        view_save_picture(view, view->picture_path);
    view->picture_path[0] = '\0';
}

// Of the whole window; while its framebuffer still has the frame.
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

// After so many frames, or when the user wants to.
static bool is_over(const struct view *view, const struct view_options *options, int frames)
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
        bool held = view->hand.does != HAND_NOTHING;
        redraw_wait(&redraw, view->window, busy, held, journal_due(&view->journal));
        bool fresh = player_refresh(view->player);
        view->scene_stale = view->scene_stale || (fresh && !view->scrub.active);
        bool news = take_status(view);
        want_strains(view);
        want_energies(view);
        bool last = is_over(view, options, view->frames + 1);
        bool said = view->banner.text[0] != '\0';
        struct event waiting;
        bool left = window_see_event(view->window, 0, &waiting);
        bool changed =
            left || fresh || news || held || said || view->scene_stale || options->frames > 0;
        bool due = last || clock_seconds() >= journal_due(&view->journal);
        if (!redraw_draws(&redraw, view->window, changed) && !due)
            continue;
        take_rows(view);
        // Whoever looks at what stands still sees it as it is, and so do pictures.
        view->coarse = redraw.coarse && (view->status.playing || held) && !last &&
                       !view->picture_path[0] && !view->scrub.active;
        redraw_begin(&redraw);
        status = draw_frame(view, error);
        save_if_wanted(view);
        if (last || is_over(view, options, view->frames)) {
            if (status == TAUT_OK && options->screenshot)
                status = save_screenshot(view, options->screenshot, error);
            journal_write(view, true);
            break;
        }
        window_show(view->window);
        redraw_end(&redraw, view->coarse);
    }
    return status;
}

// ---- Beginning and end

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
    gui_look(options->dark);
    if (options->report)
        status = journal_open(&view->journal, options->report, error);
    view->rows = calloc(PLOT_ROWS, sizeof *view->rows);
    if (status == TAUT_OK && !view->rows)
        status = fail_memory(error, "the plots");
    return status == TAUT_OK ? renderer_make(&view->renderer, error) : status;
}

static void begin(struct view *view, const struct view_options *options)
{
    render_options_default(&view->looks);
    view->looks.colouring = options->colouring;
    view->looks.dark = options->dark;
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
        stroke_end(&view->hand.stroke);
        renderer_free(view->renderer);
        screen_free(&view->screen);
        gui_stop();
        window_close(view->window);
    }
    journal_close(&view->journal);
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
    of_player.on_moment = window_wake;
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
