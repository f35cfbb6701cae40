// What the picture shows, and how.
#include "view/view.h"

#include <stdio.h>

static void draw_colouring(struct view *view)
{
    const char *names[COLOURING_COUNT];
    for (int i = 0; i < COLOURING_COUNT; i++)
        names[i] = colouring_name((enum colouring)i);
    int index = (int)view->looks.colouring;
    gui_width((float)(120 * window_scale(view->window)));
    if (gui_choice("colouring", &index, names, COLOURING_COUNT)) {
        view->looks.colouring = (enum colouring)index;
        view->scene_stale = true;
    }
    gui_tooltip("Bodies in colours of their own, springs by their kind, by how far they are "
                "stretched, or by their force. Keys 1 to 4.");
}

static void draw_layers(struct view *view)
{
    unsigned shown = view->looks.layers
                         ? view->looks.layers
                         : renderer_layers_for(player_subject(view->player), &view->looks);
    unsigned wanted = shown;
    for (int i = 0; layer_name(i); i++) {
        bool on = (shown >> i & 1) != 0;
        if (gui_check(layer_name(i), &on))
            wanted ^= 1U << i;
    }
    bool suits = view->looks.layers == 0;
    if (gui_check("what suits the scene##automatic", &suits))
        wanted = suits ? 0 : shown;
    else if (wanted == shown)
        return;
    view->looks.layers = wanted;
    view->scene_stale = true;
}

static void draw_scale(struct view *view)
{
    if (view->looks.colouring != COLOURING_STRAIN && view->looks.colouring != COLOURING_TENSION)
        return;
    bool fixed = view->looks.least != 0 || view->looks.most != 0;
    if (gui_check("keep the scale as it is##fixed_scale", &fixed)) {
        view->looks.least = view->looks.most = 0;
        if (fixed)
            renderer_scale(view->renderer, &view->looks.least, &view->looks.most);
        view->scene_stale = true;
    }
    gui_tooltip("Otherwise the colours run from the least to the greatest value of each picture.");
}

static void draw_eye(struct view *view)
{
    if (gui_button("Fit the camera"))
        view->fit_wanted = true;
    bool parallel = view->camera.field == 0;
    if (gui_check("parallel projection##parallel", &parallel)) {
        view->camera.field = parallel ? 0 : 35;
        view->scene_stale = true;
    }
    if (gui_check("dark", &view->looks.dark)) {
        gui_look(view->looks.dark);
        view->scene_stale = true;
    }
    if (gui_check("caption", &view->looks.caption))
        view->scene_stale = true;
    if (gui_check("flat faces##flat_normals", &view->looks.flat_normals))
        view->scene_stale = true;
}

void panel_looks(struct view *view)
{
    gui_push("looks");
    draw_colouring(view);
    draw_scale(view);
    gui_separator();
    draw_layers(view);
    gui_separator();
    draw_eye(view);
    gui_separator();
    if (view->leader.present) {
        double speed = view->leader.speed;
        gui_width((float)(120 * window_scale(view->window)));
        if (gui_slider("led by keys at, m/s##lead_speed", &speed, 1, 0.01, 30, "%.3g", true))
            view->leader.speed = speed;
        gui_tooltip("How fast the arrow keys, Home and End lead the rope's end.");
    }
    gui_pop();
}
