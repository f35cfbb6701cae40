// The panels together: how they part the window with the scene.
#include "view/view.h"

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
    draw_banner(view);
}
