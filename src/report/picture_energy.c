// Energy over time: what each run gained, and how far that is from the reference run.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/panel.h"
#include "report/pictures.h"

enum { LEFT = 78, RIGHT = 600, LEGEND = 618, HEIGHT = 230, GAP = 50, POINTS_MOST = 1024 };

bool energies_are_there(const struct study *study)
{
    for (size_t i = 0; i < study->series_count; i++)
        if (study->series[i].point_count > 1)
            return true;
    return false;
}

static const struct study_series *find_reference(const struct study *study)
{
    for (size_t i = 0; i < study->series_count; i++)
        if (study->series[i].reference && study->series[i].point_count > 1)
            return &study->series[i];
    return NULL;
}

static enum study_verdict verdict_of(const struct study *study, const struct study_series *series)
{
    if (series->reference)
        return STUDY_STABLE;
    for (size_t i = 0; i < study->drift_count; i++)
        if (study->drifts[i].integrator == series->integrator && study->drifts[i].dt == series->dt)
            return study->drifts[i].verdict;
    return STUDY_UNKNOWN;
}

// The points of a line: the energies, or how far they are from the reference's.
static size_t make_points(const struct study_series *series, const struct study_series *reference,
                          struct panel_point points[POINTS_MOST])
{
    size_t count = series->point_count < POINTS_MOST ? series->point_count : POINTS_MOST;
    if (reference && reference->point_count < count)
        count = reference->point_count;
    for (size_t i = 0; i < count; i++) {
        double energy = series->points[i].energy;
        points[i].x = series->points[i].time;
        points[i].y = reference ? fabs(energy - reference->points[i].energy) : energy;
    }
    return count;
}

// What stable runs fill, and room for the others to leave it.
static struct span energies_to_show(const struct study *study, const struct study_series *reference)
{
    struct span span = span_of_nothing();
    struct panel_point points[POINTS_MOST];
    bool leaving = false;
    for (size_t i = 0; i < study->series_count; i++) {
        const struct study_series *series = &study->series[i];
        bool stable = verdict_of(study, series) == STUDY_STABLE;
        leaving = leaving || (!stable && series->point_count > 1);
        size_t count = stable ? make_points(series, reference, points) : 0;
        for (size_t j = 0; j < count; j++)
            if (reference)
                span_add_positive(&span, points[j].y);
            else
                span_add(&span, points[j].y);
    }
    // Below this, differences of energies are of rounding.
    if (reference && !span_is_empty(span))
        span.low = fmax(span.low, span.high * 1e-9);
    if (leaving && span_is_empty(span))
        span = reference ? (struct span){1e-4, 10} : (struct span){0, 2};
    else if (leaving)
        span.high = reference ? span.high * 10 : span.high + 0.4 * fmax(span.high - span.low, 0.05);
    return span;
}

static void draw_lines(struct panel *panel, const struct study *study,
                       const struct study_series *reference)
{
    struct panel_point points[POINTS_MOST];
    for (int pass = 0; pass < 2; pass++) // the reference first, below the others
        for (size_t i = 0; i < study->series_count; i++) {
            const struct study_series *series = &study->series[i];
            if (series->reference != (pass == 0) || (series->reference && reference))
                continue;
            struct stroke stroke =
                series->reference ? stroke_of_reference() : stroke_of(series->integrator);
            stroke.width = series->reference ? stroke.width : 1.6;
            panel_line(panel, points, make_points(series, reference, points), &stroke);
        }
}

static void draw_legend(struct svg *svg, const struct study *study, double y)
{
    for (size_t i = 0; i < study->series_count; i++) {
        const struct study_series *series = &study->series[i];
        if (series->point_count == 0)
            continue;
        struct stroke stroke =
            series->reference ? stroke_of_reference() : stroke_of(series->integrator);
        char text[80];
        bool unstable = verdict_of(study, series) == STUDY_UNSTABLE;
        snprintf(text, sizeof text, "%s%s",
                 series->reference ? "reference" : integrator_name(series->integrator),
                 unstable ? ", unstable" : "");
        legend_stroke(svg, LEGEND, y, PICTURE_WIDTH - LEGEND - 4, &stroke, false, text);
        y += LEGEND_STEP;
    }
    const struct lettering note = {.size = TEXT_SIZE, .colour = COLOUR_SOFT};
    char text[80];
    snprintf(text, sizeof text, "at dt = %s s", number_text(study->energy_dt, 3).text);
    svg_text(svg, LEGEND, y + 8, &note, text);
}

void draw_energies(const struct subject *subject, const struct picture *picture, struct file *file,
                   bool in_page)
{
    const struct study *study = subject->study;
    const struct study_series *reference = find_reference(study);
    double top = HEADING_HEIGHT + 24, bottom = top + HEIGHT;
    struct svg svg;
    picture_open(&svg, subject, picture, file, bottom + 54 + (reference ? HEIGHT + GAP - 10 : 0),
                 in_page);
    struct span times = {0, study->window};
    struct panel panel = {.svg = &svg, .left = LEFT, .top = top, .right = RIGHT, .bottom = bottom};
    panel_axes(&panel, false, times, 0, false, energies_to_show(study, NULL), 0.05);
    panel_grid(&panel, &(struct panel_labels){.title = "energy gained / what is available",
                                              .across = reference ? NULL : "time (s)"});
    draw_lines(&panel, study, NULL);
    panel_frame(&panel);
    draw_legend(&svg, study, top + 8);
    if (reference) {
        panel.top = bottom + GAP;
        panel.bottom = panel.top + HEIGHT;
        panel_axes(&panel, false, times, 0, true, energies_to_show(study, reference), 0.05);
        panel_grid(&panel, &(struct panel_labels){
                               .title = "distance from the reference / what is available",
                               .across = "time (s)"});
        draw_lines(&panel, study, reference);
        panel_frame(&panel);
    }
    svg_close(&svg);
}
