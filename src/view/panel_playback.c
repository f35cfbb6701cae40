// The bar below: play, pause, step, reset, how fast; and while paused the recent past.
#include "view/view.h"

#include <math.h>
#include <stdio.h>

static void draw_buttons(struct view *view)
{
    if (gui_button(view->status.playing ? "Pause##play" : "Play ##play"))
        player_play(view->player, !view->status.playing);
    gui_same_line();
    gui_disable(view->status.playing);
    if (gui_button("Step"))
        player_step(view->player, 1);
    gui_enable();
    gui_same_line();
    if (gui_button("Reset"))
        player_reset(view->player);
}

static void draw_speed(struct view *view)
{
    gui_same_line();
    gui_disable(view->fast);
    gui_width((float)(130 * window_scale(view->window)));
    if (gui_slider("##speed", &view->speed, 1, 0.01, 10, "speed %.3g", true))
        player_speed(view->player, view->speed);
    gui_tooltip("Simulated seconds in a second.");
    gui_enable();
    gui_same_line();
    if (gui_check("as fast as it goes##fast", &view->fast))
        player_speed(view->player, view->fast ? INFINITY : view->speed);
}

static void draw_time(const struct view *view)
{
    char text[160];
    double time = view_moment(view)->moment.time;
    if (view->status.playing)
        snprintf(text, sizeof text, "t = %.3f s   %.3g x real time", time, view->status.speed);
    else
        snprintf(text, sizeof text, "t = %.3f s   %s", time,
                 view->status.failed ? "stopped" : "paused");
    gui_same_line();
    gui_text(text);
}

static void draw_past(struct view *view)
{
    size_t count = player_history_count(view->player);
    if (view->status.playing || count < 2)
        return;
    char shown[64];
    double last = (double)(count - 1);
    double at = view->scrub.active ? fmin((double)view->scrub.index, last) : last;
    snprintf(shown, sizeof shown, "%.3f s", player_history_time(view->player, (size_t)at));
    // The format shows the time, not the index.
    gui_width(-1);
    if (gui_slider("##past", &at, 1, 0, last, shown, false)) {
        view->scrub.index = (int)(at + 0.5);
        view->scrub.active = view->scrub.index < (int)last;
        view->scene_stale = true;
    }
    gui_tooltip("Looks back; playing goes on from the present.");
}

void panel_playback(struct view *view)
{
    gui_push("playback");
    draw_buttons(view);
    draw_speed(view);
    draw_time(view);
    draw_past(view);
    gui_pop();
}
