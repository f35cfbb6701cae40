// What keys do; the Help window (panel_help.c) lists them.
#include "view/view.h"

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

#include <stdio.h>
#include <unistd.h>

// The first name that no file has.
static void name_picture(struct view *view)
{
    const taut_scene *scene = player_scene(view->player);
    for (int i = 1; i < 10000; i++) {
        snprintf(view->picture_path, sizeof view->picture_path, "%s-%d.png", scene->name, i);
        if (access(view->picture_path, F_OK) != 0)
            break;
    }
}

static void set_speed(struct view *view, double factor)
{
    view->speed *= factor;
    view->fast = false;
    player_speed(view->player, view->speed);
}

static void with_control(struct view *view, int key)
{
    if (key == GLFW_KEY_O)
        open_dialogue(view, DIALOGUE_OPEN);
    else if (key == GLFW_KEY_S)
        open_dialogue(view, DIALOGUE_SAVE_SCENE);
    else if (key == GLFW_KEY_Q)
        view->leaving = true;
}

// Esc ends what is being done, and closes what lies over the scene; it leaves nothing else.
static void escape(struct view *view)
{
    if (view->hand.does != HAND_NOTHING) {
        stroke_end(&view->hand.stroke);
        mouse_let_go(view);
    }
    view->dialogue = DIALOGUE_NONE;
    view->layout.controls = view->layout.about = false;
    view->banner.text[0] = '\0';
}

static void open_or_close(struct view *view, int key)
{
    if (key == GLFW_KEY_H)
        view->layout.controls = !view->layout.controls;
    else if (key == GLFW_KEY_TAB)
        view->layout.options = !view->layout.options;
    else if (key == GLFW_KEY_P)
        view->layout.plots = !view->layout.plots;
    else if (key == GLFW_KEY_F)
        view->fit_wanted = true;
    else if (key == GLFW_KEY_F12)
        name_picture(view);
    else if (key == GLFW_KEY_ESCAPE)
        escape(view);
}

static void press(struct view *view, int key)
{
    const double faster = 1.25;
    if (key == GLFW_KEY_SPACE)
        player_play(view->player, !view->status.playing);
    else if (key == GLFW_KEY_S || key == GLFW_KEY_N)
        player_step(view->player, 1);
    else if (key == GLFW_KEY_R)
        player_reset(view->player);
    else if (key == GLFW_KEY_KP_ADD || key == GLFW_KEY_EQUAL)
        set_speed(view, faster);
    else if (key == GLFW_KEY_KP_SUBTRACT || key == GLFW_KEY_MINUS)
        set_speed(view, 1 / faster);
    else if (key >= GLFW_KEY_1 && key < GLFW_KEY_1 + COLOURING_COUNT)
        view->looks.colouring = (enum colouring)(key - GLFW_KEY_1);
    else
        open_or_close(view, key);
    view->scene_stale = true;
}

void key_event(struct view *view, const struct event *event)
{
    // A key that goes up is heard even while a text is typed, so that none stays down for ever.
    if (event->code == GLFW_KEY_C)
        view->hand.cut_key = event->down && !gui_wants_keys();
    if (event->repeated && event->code != GLFW_KEY_N && event->code != GLFW_KEY_S)
        return;
    if (gui_wants_keys() && event->down) {
        if (event->code == GLFW_KEY_ESCAPE)
            view->dialogue = DIALOGUE_NONE;
        return;
    }
    if (leader_key(view, event->code, event->down) || !event->down)
        return;
    if (event->modifiers & GLFW_MOD_CONTROL)
        with_control(view, event->code);
    else
        press(view, event->code);
}

void view_take_event(struct view *view, const struct event *event)
{
    if (event->kind == EVENT_KEY)
        key_event(view, event);
    else if (event->kind == EVENT_BUTTON || event->kind == EVENT_MOVE || event->kind == EVENT_WHEEL)
        mouse_event(view, event);
}
