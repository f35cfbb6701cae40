// Drift of the energy against the step.
#include <math.h>

#include "report/panel.h"
#include "report/pictures.h"

enum { LEFT = 82, RIGHT = 600, LEGEND = 618, HEIGHT = 330, POINTS_MOST = 64 };

bool drifts_are_there(const struct study *study)
{
    for (size_t i = 0; i < study->drift_count; i++)
        if (study->drifts[i].verdict == STUDY_STABLE && study->drifts[i].drift != 0)
            return true;
    return false;
}

// Drifts of one integrator: all of them (sign 0), or those that gain or lose energy.
static size_t make_points(const struct study *study, enum integrator integrator, int sign,
                          struct panel_point points[POINTS_MOST])
{
    size_t count = 0;
    for (size_t i = 0; i < study->drift_count && count < POINTS_MOST; i++) {
        const struct study_drift *it = &study->drifts[i];
        if (it->integrator != integrator || (sign > 0 && !(it->drift > 0)) ||
            (sign < 0 && !(it->drift < 0)))
            continue;
        points[count++] = (struct panel_point){it->dt, fabs(it->drift)};
    }
    return count;
}

static void draw_lines(struct panel *panel, const struct study *study)
{
    struct panel_point points[POINTS_MOST];
    for (size_t i = 0; i < study->integrator_count; i++) {
        struct stroke stroke = stroke_of(study->integrators[i]);
        panel_line(panel, points, make_points(study, study->integrators[i], 0, points), &stroke);
        for (int sign = -1; sign <= 1; sign += 2) {
            stroke.filled = sign > 0;
            panel_marks(panel, points, make_points(study, study->integrators[i], sign, points),
                        &stroke);
        }
    }
}

static void draw_legend(struct svg *svg, const struct study *study, double y)
{
    for (size_t i = 0; i < study->integrator_count; i++) {
        struct panel_point points[POINTS_MOST];
        struct stroke stroke = stroke_of(study->integrators[i]);
        size_t count = make_points(study, study->integrators[i], 0, points);
        bool any = false;
        for (size_t j = 0; j < count; j++)
            any = any || points[j].y > 0;
        if (!any)
            continue;
        legend_stroke(svg, LEGEND, y, PICTURE_WIDTH - LEGEND - 4, &stroke, true,
                      integrator_name(study->integrators[i]));
        y += LEGEND_STEP;
    }
    const struct lettering note = {.size = TEXT_SIZE, .colour = COLOUR_SOFT};
    svg_text(svg, LEGEND, y + 8, &note, "filled marks: gains energy");
    svg_text(svg, LEGEND, y + 26, &note, "hollow marks: loses energy");
}

void draw_drifts(const struct subject *subject, const struct picture *picture, struct file *file,
                 bool in_page)
{
    const struct study *study = subject->study;
    struct span steps = span_of_nothing(), drifts = span_of_nothing();
    for (size_t i = 0; i < study->drift_count; i++) {
        span_add_positive(&steps, study->drifts[i].dt);
        span_add_positive(&drifts, fabs(study->drifts[i].drift));
    }
    double top = HEADING_HEIGHT + 10, bottom = top + HEIGHT;
    struct svg svg;
    picture_open(&svg, subject, picture, file, bottom + 54, in_page);
    struct panel panel = {.svg = &svg, .left = LEFT, .top = top, .right = RIGHT, .bottom = bottom};
    panel_axes(&panel, true, steps, 0.06, true, drifts, 0.06);
    panel_grid(&panel, &(struct panel_labels){.across = "time step dt (s)",
                                              .up = "drift / what is available (1/s)"});
    draw_lines(&panel, study);
    panel_frame(&panel);
    draw_legend(&svg, study, top + 8);
    svg_close(&svg);
}
