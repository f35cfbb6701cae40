// Limits as bars: a row for each integrator, stable on the left and unstable on the right.
#include <math.h>
#include <stdio.h>

#include "report/panel.h"
#include "report/pictures.h"

enum { ROW_HEIGHT = 30, BAR_HEIGHT = 18, NAMES_WIDTH = 150, PANEL_RIGHT = 560 };

bool limits_are_there(const struct study *study)
{
    for (size_t i = 0; i < study->integrator_count; i++)
        if (study->limits[i].kind != STUDY_LIMIT_UNKNOWN)
            return true;
    return false;
}

static struct span steps_to_show(const struct study *study)
{
    struct span range = span_of_nothing();
    span_add_positive(&range, study->unit / 3);
    span_add_positive(&range, study->unit * 3);
    span_add_positive(&range, study->scene_dt);
    for (size_t i = 0; i < study->integrator_count; i++) {
        span_add_positive(&range, study->limits[i].predicted);
        span_add_positive(&range, study->limits[i].measured);
    }
    return range;
}

static void draw_bar(struct panel *panel, const struct study_limit *limit, double y)
{
    double edge = panel->left;
    if (limit->kind == STUDY_LIMIT_FOUND)
        edge = axis_place(&panel->across, limit->measured);
    else if (limit->kind == STUDY_LIMIT_BEYOND)
        edge = panel->right;
    double top = y - BAR_HEIGHT / 2.0;
    enum colour rest = limit->kind == STUDY_LIMIT_UNKNOWN ? COLOUR_UNKNOWN : COLOUR_UNSTABLE;
    if (edge > panel->left)
        svg_rectangle(panel->svg, panel->left, top, edge - panel->left, BAR_HEIGHT, COLOUR_LOST,
                      COLOUR_NONE);
    if (edge < panel->right)
        svg_rectangle(panel->svg, edge, top, panel->right - edge, BAR_HEIGHT, rest, COLOUR_NONE);
    if (!isfinite(limit->predicted))
        return;
    double x = axis_place(&panel->across, limit->predicted);
    svg_line(panel->svg, x, y - 13, x, y + 13, COLOUR_PAPER, 5, NULL);
    svg_line(panel->svg, x, y - 13, x, y + 13, COLOUR_INK, 2.5, NULL);
}

static void describe(const struct study_limit *limit, char *text, size_t size)
{
    switch (limit->kind) {
    case STUDY_LIMIT_FOUND:
        if (isfinite(limit->predicted))
            snprintf(text, size, "%s s, %s of predicted", number_text(limit->measured, 4).text,
                     number_text(limit->measured / limit->predicted, 4).text);
        else
            snprintf(text, size, "%s s", number_text(limit->measured, 4).text);
        break;
    case STUDY_LIMIT_GROWS:
        snprintf(text, size, "none: energy always grows");
        break;
    case STUDY_LIMIT_BEYOND:
        snprintf(text, size, "none found up to %s s", number_text(limit->stable, 3).text);
        break;
    default:
        snprintf(text, size, "not measured");
    }
}

static void draw_rows(struct panel *panel, const struct study *study)
{
    const struct lettering name = {
        .size = TEXT_SIZE, .colour = COLOUR_INK, .anchor = ANCHOR_END, .room = NAMES_WIDTH - 20};
    const struct lettering value = {.size = TEXT_SIZE, .colour = COLOUR_INK};
    for (size_t i = 0; i < study->integrator_count; i++) {
        double y = panel->top + ((double)i + 0.5) * ROW_HEIGHT;
        char text[120];
        draw_bar(panel, &study->limits[i], y);
        describe(&study->limits[i], text, sizeof text);
        svg_text(panel->svg, panel->left - 10, y + 4, &name,
                 integrator_name(study->integrators[i]));
        svg_text(panel->svg, panel->right + 12, y + 4, &value, text);
    }
}

static void draw_legend(struct svg *svg, double y)
{
    const struct lettering lettering = {.size = TEXT_SIZE, .colour = COLOUR_INK};
    svg_rectangle(svg, NAMES_WIDTH, y - 7, 22, 14, COLOUR_LOST, COLOUR_NONE);
    svg_text(svg, NAMES_WIDTH + 30, y + 4, &lettering, "stable");
    svg_rectangle(svg, NAMES_WIDTH + 95, y - 7, 22, 14, COLOUR_UNSTABLE, COLOUR_NONE);
    svg_text(svg, NAMES_WIDTH + 125, y + 4, &lettering, "unstable");
    svg_line(svg, NAMES_WIDTH + 210, y - 9, NAMES_WIDTH + 210, y + 9, COLOUR_INK, 2.5, NULL);
    svg_text(svg, NAMES_WIDTH + 220, y + 4, &lettering, "predicted limit");
    svg_line(svg, NAMES_WIDTH + 335, y - 9, NAMES_WIDTH + 335, y + 9, COLOUR_INK, 1.5, "4 3");
    svg_text(svg, NAMES_WIDTH + 345, y + 4, &lettering, "the scene's own dt");
}

void draw_limits(const struct subject *subject, const struct picture *picture, struct file *file,
                 bool in_page)
{
    const struct study *study = subject->study;
    double top = HEADING_HEIGHT + 8;
    double bottom = top + (double)study->integrator_count * ROW_HEIGHT;
    struct svg svg;
    picture_open(&svg, subject, picture, file, bottom + 84, in_page);
    struct panel panel = {
        .svg = &svg, .left = NAMES_WIDTH, .top = top, .right = PANEL_RIGHT, .bottom = bottom};
    panel_axes(&panel, true, steps_to_show(study), 0.05, false, span_of_nothing(), 0);
    panel_grid(&panel, &(struct panel_labels){.across = "time step dt (s)", .rows = true});
    draw_rows(&panel, study);
    if (study->scene_dt > 0) {
        double x = axis_place(&panel.across, study->scene_dt);
        svg_line(&svg, x, top, x, bottom, COLOUR_INK, 1.5, "4 3");
    }
    panel_frame(&panel);
    draw_legend(&svg, bottom + 62);
    svg_close(&svg);
}
