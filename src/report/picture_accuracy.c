// Errors of positions: against the step, and against what the run cost.
#include <math.h>
#include <stdio.h>

#include "report/panel.h"
#include "report/pictures.h"

enum { LEFT = 82, LEGEND = 618, HEIGHT = 350, POINTS_MOST = 64 };

bool accuracies_are_there(const struct study *study)
{
    for (size_t i = 0; i < study->accuracy_count; i++)
        if (study->accuracies[i].error > 0)
            return true;
    return false;
}

enum cost { COST_STEP, COST_EVALUATIONS, COST_SECONDS };

static double cost_of(const struct study_accuracy *it, enum cost cost)
{
    return cost == COST_STEP          ? it->dt
           : cost == COST_EVALUATIONS ? (double)it->evaluations
                                      : it->seconds;
}

static size_t make_points(const struct study *study, enum integrator integrator, enum cost cost,
                          struct panel_point points[POINTS_MOST])
{
    size_t count = 0;
    for (size_t i = 0; i < study->accuracy_count && count < POINTS_MOST; i++) {
        const struct study_accuracy *it = &study->accuracies[i];
        if (it->integrator == integrator)
            points[count++] = (struct panel_point){cost_of(it, cost), it->error};
    }
    return count;
}

// Errors of some lengths of the motion tell no more than that all is lost.
static const double ERROR_MOST = 10;

static void make_axes(struct panel *panel, const struct study *study, enum cost cost)
{
    struct span costs = span_of_nothing(), errors = span_of_nothing();
    for (size_t i = 0; i < study->accuracy_count; i++) {
        const struct study_accuracy *it = &study->accuracies[i];
        if (!(it->error > 0))
            continue;
        span_add_positive(&costs, cost_of(it, cost));
        span_add_positive(&errors, fmin(it->error, ERROR_MOST));
    }
    panel_axes(panel, true, costs, 0.05, true, errors, 0.05);
}

static void draw_lines(struct panel *panel, const struct study *study, enum cost cost)
{
    struct panel_point points[POINTS_MOST];
    for (size_t i = 0; i < study->integrator_count; i++) {
        struct stroke stroke = stroke_of(study->integrators[i]);
        size_t count = make_points(study, study->integrators[i], cost, points);
        panel_line(panel, points, count, &stroke);
        panel_marks(panel, points, count, &stroke);
    }
}

static bool has_points(const struct study *study, enum integrator integrator)
{
    for (size_t i = 0; i < study->accuracy_count; i++)
        if (study->accuracies[i].integrator == integrator && study->accuracies[i].error > 0)
            return true;
    return false;
}

static void draw_legend(struct svg *svg, const struct study *study, double y, bool orders)
{
    for (size_t i = 0; i < study->integrator_count; i++) {
        struct stroke stroke = stroke_of(study->integrators[i]);
        double order = study->orders[i].order;
        char text[80];
        if (!has_points(study, study->integrators[i]))
            continue;
        if (orders && isfinite(order))
            snprintf(text, sizeof text, "%s: %s", integrator_name(study->integrators[i]),
                     fixed_text(order, 2).text);
        else if (orders)
            snprintf(text, sizeof text, "%s: no signal", integrator_name(study->integrators[i]));
        else
            snprintf(text, sizeof text, "%s", integrator_name(study->integrators[i]));
        legend_stroke(svg, LEGEND, y, PICTURE_WIDTH - LEGEND - 4, &stroke, true, text);
        y += LEGEND_STEP;
    }
    const struct lettering note = {.size = TEXT_SIZE, .colour = COLOUR_SOFT};
    char text[80];
    snprintf(text, sizeof text, "after %s s, against", number_text(study->accuracy_time, 3).text);
    svg_text(svg, LEGEND, y + 8, &note, text);
    svg_text(svg, LEGEND, y + 26, &note,
             study->closed_form ? "the closed form" : "an rk4 run of small steps");
}

static const char *const ERROR_NAME = "error of positions / how far they moved";

void draw_convergence(const struct subject *subject, const struct picture *picture,
                      struct file *file, bool in_page)
{
    double top = HEADING_HEIGHT + 10, bottom = top + HEIGHT;
    struct svg svg;
    picture_open(&svg, subject, picture, file, bottom + 54, in_page);
    struct panel panel = {.svg = &svg, .left = LEFT, .top = top, .right = 590, .bottom = bottom};
    make_axes(&panel, subject->study, COST_STEP);
    panel_grid(&panel, &(struct panel_labels){.across = "time step dt (s)", .up = ERROR_NAME});
    draw_lines(&panel, subject->study, COST_STEP);
    panel_frame(&panel);
    const struct lettering lettering = {.size = TEXT_SIZE, .colour = COLOUR_INK, .bold = true};
    svg_text(&svg, LEGEND, top + 8, &lettering, "observed order");
    draw_legend(&svg, subject->study, top + 28, true);
    svg_close(&svg);
}

void draw_work_precision(const struct subject *subject, const struct picture *picture,
                         struct file *file, bool in_page)
{
    double top = HEADING_HEIGHT + 10, bottom = top + HEIGHT;
    struct svg svg;
    picture_open(&svg, subject, picture, file, bottom + 54, in_page);
    struct panel panel = {.svg = &svg, .left = LEFT, .top = top, .right = 328, .bottom = bottom};
    make_axes(&panel, subject->study, COST_EVALUATIONS);
    panel_grid(&panel, &(struct panel_labels){.across = "evaluations of forces", .up = ERROR_NAME});
    draw_lines(&panel, subject->study, COST_EVALUATIONS);
    panel_frame(&panel);
    panel.left = 350;
    panel.right = 596;
    make_axes(&panel, subject->study, COST_SECONDS);
    panel_grid(&panel, &(struct panel_labels){.across = "wall time (s)", .no_numbers_up = true});
    draw_lines(&panel, subject->study, COST_SECONDS);
    panel_frame(&panel);
    draw_legend(&svg, subject->study, top + 8, false);
    svg_close(&svg);
}
