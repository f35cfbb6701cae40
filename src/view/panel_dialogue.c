// Open..., Save scene as..., Save picture...: a path, and for opening the scenes of its folder.
#include "view/folder_list.h"
#include "view/view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct folder_list list;
static char asked[PATH_SIZE]; // the file of which it was said that it is there
static bool appears;          // the dialogue has just been opened

static void take_folder(struct view *view)
{
    char folder[PATH_SIZE];
    snprintf(folder, sizeof folder, "%s", view->path);
    char *slash = strrchr(folder, '/');
    if (slash)
        slash[slash == folder] = '\0';
    folder_list_read(&list, slash ? folder : ".", ".yaml");
}

void open_dialogue(struct view *view, enum dialogue dialogue)
{
    const taut_scene *scene = player_scene(view->player);
    view->dialogue = dialogue;
    asked[0] = '\0';
    appears = true;
    if (dialogue == DIALOGUE_OPEN) {
        snprintf(view->path, sizeof view->path, "%s", scene->file);
        take_folder(view);
    } else {
        snprintf(view->path, sizeof view->path, "%s%s", scene->name,
                 dialogue == DIALOGUE_SAVE_SCENE ? "-changed.yaml" : ".png");
    }
}

static void save_scene(struct view *view)
{
    taut_error error = {0};
    if (player_save_scene(view->player, view->path, &error) == TAUT_OK)
        view_say(view, false,
                 "saved as %s; cuts, led nodes and where the nodes are now are no part "
                 "of it",
                 view->path);
    else
        view_say(view, true, "%s", error.text);
}

// A file that is there is replaced when that is asked for twice.
static bool may_be_written(struct view *view)
{
    if (access(view->path, F_OK) != 0 || strcmp(asked, view->path) == 0)
        return true;
    snprintf(asked, sizeof asked, "%s", view->path);
    view_say(view, false, "%s is there already; save again to replace it", view->path);
    return false;
}

static void act(struct view *view)
{
    if (view->path[0] == '\0')
        return;
    if (view->dialogue == DIALOGUE_OPEN) {
        player_open(view->player, view->path);
    } else if (!may_be_written(view)) {
        return;
    } else if (view->dialogue == DIALOGUE_SAVE_SCENE) {
        save_scene(view);
    } else {
        snprintf(view->picture_path, sizeof view->picture_path, "%s", view->path);
    }
    view->dialogue = DIALOGUE_NONE;
}

static void draw_list(struct view *view, float height)
{
    if (!gui_list("##scenes", height))
        return;
    for (size_t i = 0; i < list.count; i++) {
        const char *slash = strrchr(list.paths[i], '/');
        if (gui_entry(slash ? slash + 1 : list.paths[i], strcmp(list.paths[i], view->path) == 0))
            snprintf(view->path, sizeof view->path, "%s", list.paths[i]);
    }
    gui_list_end();
}

void panel_dialogue(struct view *view)
{
    static const char *const titles[] = {"", "Open a scene", "Save the scene", "Save a picture"};
    if (view->dialogue == DIALOGUE_NONE) {
        folder_list_free(&list);
        return;
    }
    bool open = true, opening = view->dialogue == DIALOGUE_OPEN, done = false;
    double scale = window_scale(view->window);
    struct gui_box scene = view->layout.scene;
    struct gui_box box = {.x = scene.x + (float)(40 * scale),
                          .y = scene.y + (float)(40 * scale),
                          .width = (float)(460 * scale),
                          .height = (float)((opening ? 400 : 110) * scale)};
    if (gui_window(titles[view->dialogue], box, &open)) {
        gui_push("dialogue");
        if (opening)
            draw_list(view, (float)(280 * scale));
        gui_width(-1);
        if (appears)
            gui_begin_to_type();
        appears = false;
        done = gui_line("##path", view->path, sizeof view->path);
        done |= gui_button(opening ? "Open##do" : "Save##do");
        gui_same_line();
        if (gui_button("Cancel"))
            open = false;
        gui_pop();
    }
    gui_window_end();
    if (done)
        act(view);
    else if (!open)
        view->dialogue = DIALOGUE_NONE;
}
