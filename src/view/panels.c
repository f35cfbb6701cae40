// The panels together: how they part the window with the scene.
#include "view/view.h"

#include <math.h>
#include <stdio.h>

#include "base/clock.h"

enum { OPTIONS_WIDTH = 340, PLAYBACK_HEIGHT = 66 }; // pixels of a common screen

static void lay_out(struct view *view, float menu_height)
{
    int width, height;
    window_size(view->window, &width, &height);
    float scale = (float)window_scale(view->window);
    float left = view->layout.options ? OPTIONS_WIDTH * scale : 0;
    float below = view->layout.playback ? PLAYBACK_HEIGHT * scale : 0;
    // A window may be smaller than its panels.
    float least = 16;
    struct gui_box scene = {.x = left,
                            .y = menu_height,
                            .width = (float)width - left,
                            .height = (float)height - menu_height - below};
    scene.width = scene.width > least ? scene.width : least;
    scene.height = scene.height > least ? scene.height : least;
    view->layout.options_box =
        (struct gui_box){.y = menu_height, .width = left, .height = (float)height - menu_height};
    view->layout.playback_box = (struct gui_box){
        .x = left, .y = (float)height - below, .width = scene.width, .height = below};
    view->layout.scene = scene;
}

static void draw_tab(struct view *view, const char *title, void (*draw)(struct view *view))
{
    if (!gui_tab(title))
        return;
    draw(view);
    gui_tab_end();
}

static void draw_options(struct view *view)
{
    if (gui_panel("Options", view->layout.options_box) && gui_tabs("tabs")) {
        draw_tab(view, "Physics", panel_physics);
        draw_tab(view, "Body", panel_body);
        draw_tab(view, "Solver", panel_solver);
        draw_tab(view, "Look", panel_looks);
        gui_tabs_end();
    }
    gui_panel_end();
}

static void draw_banner(struct view *view)
{
    static const struct gui_colour red = {0.80F, 0.15F, 0.10F, 1};
    if (view->banner.text[0] == '\0')
        return;
    if (clock_seconds() > view->banner.until) {
        view->banner.text[0] = '\0';
        return;
    }
    float scale = (float)window_scale(view->window);
    struct gui_box scene = view->layout.scene;
    float height = 58 * scale;
    struct gui_box box = {scene.x, scene.y + scene.height - height, scene.width, height};
    if (gui_panel("Message", box)) {
        if (view->banner.is_error)
            gui_text_coloured(red, view->banner.text);
        else
            gui_text_wrapped(view->banner.text);
    }
    gui_panel_end();
}

// A size as people say it.
static void print_bytes(char *text, size_t size, double bytes)
{
    if (bytes >= 1e9)
        snprintf(text, size, "%.3g GB", bytes / 1e9);
    else
        snprintf(text, size, "%.0f MB", fmax(bytes / 1e6, 1));
}

// What is being built beside the scene that is shown, and how to stop that.
static void draw_building(struct view *view)
{
    const struct player_building *building = &view->status.building;
    if (!building->active)
        return;
    float scale = (float)window_scale(view->window);
    struct gui_box scene = view->layout.scene;
    struct gui_box box = {scene.x + 10 * scale, scene.y + 10 * scale, 430 * scale, 122 * scale};
    box.width = fminf(box.width, scene.width - 20 * scale);
    char text[320], bytes[32] = "", left[32] = "";
    print_bytes(bytes, sizeof bytes, building->bytes);
    print_bytes(left, sizeof left, building->left);
    if (gui_panel("Building", box)) {
        gui_push("building");
        snprintf(text, sizeof text, "%s %s", building->asks ? "Build" : "Building", building->what);
        gui_text_wrapped(text);
        if (building->bytes > 0) {
            snprintf(text, sizeof text, "%.4g nodes, %.4g springs: about %s", building->nodes,
                     building->springs, bytes);
            gui_text_wrapped(text);
        }
        if (building->cancelled)
            snprintf(text, sizeof text, "giving up ...");
        else if (building->asks)
            snprintf(text, sizeof text, "of the %s that are left. Is it wanted?", left);
        else
            snprintf(text, sizeof text, "%.1f s: %s; the present scene goes on.", building->seconds,
                     building->stage);
        gui_text_wrapped(text);
        gui_disable(building->cancelled);
        if (building->asks && gui_button("Build"))
            player_build(view->player, true);
        if (building->asks)
            gui_same_line();
        if (gui_button("Cancel"))
            player_build(view->player, false);
        gui_enable();
        gui_pop();
    }
    gui_panel_end();
}

void panels_draw(struct view *view)
{
    float menu_height = 0;
    panel_menu(view, &menu_height);
    lay_out(view, menu_height);
    panel_hand(view);
    if (view->layout.options)
        draw_options(view);
    if (view->layout.playback) {
        if (gui_panel("Playback", view->layout.playback_box))
            panel_playback(view);
        gui_panel_end();
    }
    if (view->layout.plots)
        panel_plots(view);
    panel_help(view);
    panel_dialogue(view);
    draw_building(view);
    draw_banner(view);
}
