// What mouse and keys do, and what this program is.
#include "view/view.h"

#include <stdio.h>

static const char *const controls[] = {
    "MOUSE, on what is not a body or a sphere",
    "  left: turn      right: nearer or farther",
    "  shift + left, or middle: pan      wheel: nearer or farther",
    "  alt + left: turn, also on a body",
    "",
    "MOUSE, on a sphere",
    "  left: move in x and y      right: along z",
    "  shift + left: in the plane of the screen",
    "  shift + right: larger or smaller",
    "",
    "MOUSE, on a body",
    "  left: pull the nearest node; a pinned node of a rope is led",
    "  ctrl + left, or C held: cut what the stroke crosses",
    "",
    "KEYS",
    "  left, right: lead the rope's end along x",
    "  up, down: along z      Home, End: up and down along y",
    "  Space: play, pause      S or N: one step      R: reset",
    "  +, -: faster, slower",
    "  F: see all      1 2 3 4: colouring      H: this window",
    "  Tab: panels      P: plots      F12: save a picture",
    "  Ctrl+O: open      Ctrl+S: save the scene      Ctrl+Q: leave",
    "",
    "SLIDERS",
    "  ctrl + click: type a value, also beyond the slider's ends",
};

static struct gui_box middle(const struct view *view, double width, double height)
{
    double scale = window_scale(view->window);
    struct gui_box scene = view->layout.scene;
    struct gui_box box = {.width = (float)(width * scale), .height = (float)(height * scale)};
    box.x = scene.x + (scene.width - box.width) / 2;
    box.y = scene.y + (scene.height - box.height) / 3;
    box.x = box.x > 0 ? box.x : 0;
    box.y = box.y > 0 ? box.y : 0;
    return box;
}

static void draw_about(struct view *view)
{
    char text[512];
    snprintf(text, sizeof text,
             "taut %s\nA multithreaded solver of masses and springs.\n\n"
             "Drawn by OpenGL on %s.\n"
             "Panels by Dear ImGui %s, copyright Omar Cornut, under the MIT licence; the window by "
             "GLFW, copyright Marcus Geelnard and Camilla Löwy, under the zlib licence.",
             taut_version(), window_device(view->window), gui_version());
    gui_text_wrapped(text);
}

void panel_help(struct view *view)
{
    if (view->layout.controls) {
        if (gui_window("Controls", middle(view, 500, 560), &view->layout.controls))
            for (size_t i = 0; i < sizeof controls / sizeof controls[0]; i++)
                gui_text(controls[i]);
        gui_window_end();
    }
    if (view->layout.about) {
        if (gui_window("About", middle(view, 440, 220), &view->layout.about))
            draw_about(view);
        gui_window_end();
    }
}
