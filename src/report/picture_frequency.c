// What an integrator makes of one oscillator: its frequency, and its amplitude after a period.
#include <math.h>

#include "report/panel.h"
#include "report/pictures.h"

enum { LEFT = 82, LEGEND = 640, HEIGHT = 300, POINTS_MOST = 64 };

bool frequencies_are_there(const struct study *study)
{
    for (size_t i = 0; i < study->frequency_count; i++)
        if (isfinite(study->frequencies[i].ratio))
            return true;
    return false;
}

static double frequency_error(const struct study_frequency *it)
{
    return 100 * fabs(it->ratio - 1);
}

static double amplitude_left(const struct study_frequency *it)
{
    return pow(it->factor, 2 * 3.14159265358979323846 / it->y);
}

typedef double (*measure)(const struct study_frequency *it);

static size_t make_points(const struct study *study, enum integrator integrator, measure measured,
                          struct panel_point points[POINTS_MOST])
{
    size_t count = 0;
    for (size_t i = 0; i < study->frequency_count && count < POINTS_MOST; i++) {
        const struct study_frequency *it = &study->frequencies[i];
        if (it->integrator == integrator)
            points[count++] = (struct panel_point){it->y, measured(it)};
    }
    return count;
}

static void draw_panel(struct panel *panel, const struct study *study, measure measured,
                       const char *title)
{
    struct span steps = span_of_nothing(), values = span_of_nothing();
    for (size_t i = 0; i < study->frequency_count; i++) {
        span_add_positive(&steps, study->frequencies[i].y);
        span_add_positive(&values, measured(&study->frequencies[i]));
    }
    panel_axes(panel, true, steps, 0.06, true, values, 0.06);
    panel_grid(panel, &(struct panel_labels){.title = title, .across = "ω dt"});
    struct panel_point points[POINTS_MOST];
    for (size_t i = 0; i < study->integrator_count; i++) {
        struct stroke stroke = stroke_of(study->integrators[i]);
        size_t count = make_points(study, study->integrators[i], measured, points);
        panel_line(panel, points, count, &stroke);
        panel_marks(panel, points, count, &stroke);
    }
    panel_frame(panel);
}

static bool has_points(const struct study *study, enum integrator integrator)
{
    for (size_t i = 0; i < study->frequency_count; i++)
        if (study->frequencies[i].integrator == integrator && isfinite(study->frequencies[i].ratio))
            return true;
    return false;
}

static void draw_legend(struct svg *svg, const struct study *study, double y)
{
    for (size_t i = 0; i < study->integrator_count; i++) {
        struct stroke stroke = stroke_of(study->integrators[i]);
        if (!has_points(study, study->integrators[i]))
            continue;
        legend_stroke(svg, LEGEND, y, PICTURE_WIDTH - LEGEND - 4, &stroke, true,
                      integrator_name(study->integrators[i]));
        y += LEGEND_STEP;
    }
}

void draw_frequencies(const struct subject *subject, const struct picture *picture,
                      struct file *file, bool in_page)
{
    const struct study *study = subject->study;
    double top = HEADING_HEIGHT + 24, bottom = top + HEIGHT;
    struct svg svg;
    picture_open(&svg, subject, picture, file, bottom + 54, in_page);
    struct panel panel = {.svg = &svg, .left = LEFT, .top = top, .right = 328, .bottom = bottom};
    draw_panel(&panel, study, frequency_error, "frequency error (%)");
    panel.left = 378;
    panel.right = 624;
    draw_panel(&panel, study, amplitude_left, "amplitude left after a period");
    draw_legend(&svg, study, top + 8);
    svg_close(&svg);
}
