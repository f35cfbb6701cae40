// Energies and volume over the recent past.
#include "view/view.h"

#include <float.h>
#include <stdio.h>

enum plot { PLOT_TOTAL, PLOT_KINETIC, PLOT_ELASTIC, PLOT_GRAVITY, PLOT_GAS, PLOT_VOLUME, PLOTS };

static double value_of(const struct player_row *row, enum plot plot)
{
    switch (plot) {
    case PLOT_TOTAL:
        return row->energy.total;
    case PLOT_KINETIC:
        return row->energy.kinetic;
    case PLOT_ELASTIC:
        return row->energy.elastic;
    case PLOT_GRAVITY:
        return row->energy.gravity;
    case PLOT_GAS:
        return row->energy.gas;
    default:
        return row->volume;
    }
}

static void draw_plot(struct view *view, enum plot plot, float height)
{
    static const char *const titles[] = {"energy",  "kinetic", "elastic",
                                         "gravity", "gas",     "volume"};
    float values[PLOT_ROWS];
    double least = DBL_MAX, most = -DBL_MAX;
    for (size_t i = 0; i < view->row_count; i++) {
        double value = value_of(&view->rows[i], plot);
        values[i] = (float)value;
        least = value < least ? value : least;
        most = value > most ? value : most;
    }
    // What is nothing all the time needs no room.
    if (least == 0 && most == 0 && plot != PLOT_TOTAL)
        return;
    char text[128];
    snprintf(text, sizeof text, "%s %.4g %s  (%.3g to %.3g)", titles[plot],
             value_of(&view->rows[view->row_count - 1], plot), plot == PLOT_VOLUME ? "m³" : "J",
             least, most);
    gui_text(text);
    gui_plot(titles[plot], values, (int)view->row_count, "", height);
}

static void draw_term(const char *name, double value)
{
    char text[96];
    snprintf(text, sizeof text, "%-12s %+.5g J", name, value);
    gui_text(text);
}

static void draw_budget(struct view *view)
{
    static const char *const names[WORK_CAUSES] = {
        [WORK_DAMPING] = "damping",      [WORK_DRAG] = "drag",
        [WORK_FRICTION] = "friction",    [WORK_WIND] = "wind",
        [WORK_DRIVES] = "drives",        [WORK_KEEP] = "keep",
        [WORK_BREAKING] = "breaking",    [WORK_INFLATION] = "gas pumped in",
        [WORK_PROJECTION] = "projection"};
    const struct player_budget *budget = &view->status.budget;
    char text[96];
    gui_check("energy budget##budget", &view->budget);
    gui_tooltip("Where energy comes from and goes. It takes a pass over all springs in every step, "
                "so that steps take some times as long.");
    if (!view->budget || !budget->kept)
        return;
    snprintf(text, sizeof text, "since t = %.4g s:", budget->since);
    gui_text(text);
    draw_term("change", budget->change);
    for (int cause = 0; cause < WORK_CAUSES; cause++)
        if (budget->work[cause] != 0 && names[cause])
            draw_term(names[cause], budget->work[cause]);
    draw_term("not explained", budget->unexplained);
    gui_tooltip("The error of the integrator, and what the mouse does to bodies.");
}

void panel_plots(struct view *view)
{
    double scale = window_scale(view->window);
    int width, height;
    window_size(view->window, &width, &height);
    struct gui_box box = {.width = (float)(290 * scale), .height = (float)(362 * scale)};
    box.x = (float)width - box.width - (float)(10 * scale);
    box.y = view->layout.scene.y + (float)(10 * scale);
    if (gui_window("Energy and volume", box, &view->layout.plots)) {
        gui_push("plots");
        if (view->row_count < 2)
            gui_text("nothing yet: press play");
        else
            for (int plot = 0; plot < PLOTS; plot++)
                draw_plot(view, (enum plot)plot, (float)(42 * scale));
        draw_budget(view);
        gui_pop();
    }
    gui_window_end();
}
