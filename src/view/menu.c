#include "view/view.h"

#include <stdio.h>

static void draw_file(struct view *view)
{
    if (!gui_menu("File"))
        return;
    if (gui_menu_item("Open...", "Ctrl+O", false, true))
        open_dialogue(view, DIALOGUE_OPEN);
    if (gui_menu_item("Save scene as...", "Ctrl+S", false, true))
        open_dialogue(view, DIALOGUE_SAVE_SCENE);
    if (gui_menu_item("Save picture...", "F12", false, true))
        open_dialogue(view, DIALOGUE_SAVE_PICTURE);
    gui_separator();
    if (gui_menu_item("Exit", "Ctrl+Q", false, true))
        view->leaving = true;
    gui_menu_end();
}

static void draw_simulation(struct view *view)
{
    if (!gui_menu("Simulation"))
        return;
    bool playing = view->status.playing;
    if (gui_menu_item(playing ? "Pause##play" : "Play##play", "Space", false, true))
        player_play(view->player, !playing);
    if (gui_menu_item("Step", "S", false, !playing))
        player_step(view->player, 1);
    if (gui_menu_item("Reset", "R", false, true))
        player_reset(view->player);
    gui_menu_end();
}

static void draw_windows(struct view *view)
{
    if (!gui_menu("Windows"))
        return;
    if (gui_menu_item("Options", "Tab", view->layout.options, true))
        view->layout.options = !view->layout.options;
    if (gui_menu_item("Playback", NULL, view->layout.playback, true))
        view->layout.playback = !view->layout.playback;
    if (gui_menu_item("Energy and volume", "P", view->layout.plots, true))
        view->layout.plots = !view->layout.plots;
    gui_separator();
    for (int i = 0; i < COLOURING_COUNT; i++) {
        char key[2] = {(char)('1' + i), '\0'}, title[64];
        snprintf(title, sizeof title, "Colouring: %s", colouring_name((enum colouring)i));
        if (gui_menu_item(title, key, view->looks.colouring == (enum colouring)i, true)) {
            view->looks.colouring = (enum colouring)i;
            view->scene_stale = true;
        }
    }
    gui_menu_end();
}

static void draw_help(struct view *view)
{
    if (!gui_menu("Help"))
        return;
    if (gui_menu_item("Controls", "H", view->layout.controls, true))
        view->layout.controls = !view->layout.controls;
    if (gui_menu_item("About", NULL, view->layout.about, true))
        view->layout.about = !view->layout.about;
    gui_menu_end();
}

void panel_menu(struct view *view, float *height)
{
    *height = 0;
    if (!gui_menu_bar(height))
        return;
    gui_push("menu");
    draw_file(view);
    draw_simulation(view);
    draw_windows(view);
    draw_help(view);
    gui_pop();
    gui_menu_bar_end();
}
