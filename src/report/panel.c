#include "report/panel.h"

#include <math.h>

void panel_axes(struct panel *panel, bool log_across, struct span across, double margin_across,
                bool log_up, struct span up, double margin_up)
{
    panel->across = axis_make(log_across, across, margin_across, panel->left, panel->right);
    panel->up = axis_make(log_up, up, margin_up, panel->bottom, panel->top);
}

enum { NUMBER_SIZE = 11 };

// Room for a number and the space to its neighbour.
static const double NUMBER_ACROSS = 56, NUMBER_UP = 34;

static int most_ticks(double length, double each)
{
    return (int)fmax(2, floor(length / each));
}

static void grid_across(struct panel *panel)
{
    const struct lettering lettering = {
        .size = NUMBER_SIZE, .colour = COLOUR_SOFT, .anchor = ANCHOR_MIDDLE};
    struct ticks ticks =
        axis_ticks(&panel->across, most_ticks(panel->right - panel->left, NUMBER_ACROSS));
    for (int i = 0; i < ticks.count; i++) {
        double x = axis_place(&panel->across, ticks.values[i]);
        svg_line(panel->svg, x, panel->top, x, panel->bottom,
                 ticks.named[i] ? COLOUR_GRID : COLOUR_FAINT, 1, NULL);
        if (ticks.named[i])
            svg_text(panel->svg, x, panel->bottom + 16, &lettering,
                     tick_text(&ticks, ticks.values[i]).text);
    }
}

static void grid_up(struct panel *panel, bool numbers)
{
    const struct lettering lettering = {
        .size = NUMBER_SIZE, .colour = COLOUR_SOFT, .anchor = ANCHOR_END};
    struct ticks ticks = axis_ticks(&panel->up, most_ticks(panel->bottom - panel->top, NUMBER_UP));
    for (int i = 0; i < ticks.count; i++) {
        double y = axis_place(&panel->up, ticks.values[i]);
        svg_line(panel->svg, panel->left, y, panel->right, y,
                 ticks.named[i] ? COLOUR_GRID : COLOUR_FAINT, 1, NULL);
        if (ticks.named[i] && numbers)
            svg_text(panel->svg, panel->left - 7, y + 4, &lettering,
                     tick_text(&ticks, ticks.values[i]).text);
    }
}

void panel_grid(struct panel *panel, const struct panel_labels *labels)
{
    grid_across(panel);
    if (!labels->rows)
        grid_up(panel, !labels->no_numbers_up);
    struct lettering lettering = {.size = TEXT_SIZE, .colour = COLOUR_INK, .anchor = ANCHOR_MIDDLE};
    double middle = (panel->left + panel->right) / 2;
    if (labels->across)
        svg_text(panel->svg, middle, panel->bottom + 36, &lettering, labels->across);
    if (labels->title) {
        lettering.bold = true;
        svg_text(panel->svg, middle, panel->top - 8, &lettering, labels->title);
        lettering.bold = false;
    }
    lettering.upwards = true;
    if (labels->up)
        svg_text(panel->svg, panel->left - 52, (panel->top + panel->bottom) / 2, &lettering,
                 labels->up);
}

void panel_frame(struct panel *panel)
{
    svg_rectangle(panel->svg, panel->left, panel->top, panel->right - panel->left,
                  panel->bottom - panel->top, COLOUR_NONE, COLOUR_FRAME);
}

// ---- Lines

// False: it has no place.
static bool place(const struct panel *panel, struct panel_point point, struct panel_point *result)
{
    if (!isfinite(point.x) || !isfinite(point.y) || (panel->across.logarithmic && point.x <= 0) ||
        (panel->up.logarithmic && point.y <= 0))
        return false;
    *result =
        (struct panel_point){axis_place(&panel->across, point.x), axis_place(&panel->up, point.y)};
    return true;
}

// Liang and Barsky: which part of a to b, of 0 to 1, lies between two edges.
static bool cut(double from, double change, double low, double high, double *begin, double *end)
{
    if (change == 0)
        return from >= low && from <= high;
    double first = (low - from) / change, last = (high - from) / change;
    *begin = fmax(*begin, fmin(first, last));
    *end = fmin(*end, fmax(first, last));
    return *begin <= *end;
}

// Adds a segment as far as it lies in the panel; `joined`: the path ends where it begins.
static bool add_segment(struct panel *panel, struct panel_point a, struct panel_point b,
                        bool joined)
{
    double begin = 0, end = 1, x = b.x - a.x, y = b.y - a.y;
    if (!cut(a.x, x, panel->left, panel->right, &begin, &end) ||
        !cut(a.y, y, panel->top, panel->bottom, &begin, &end))
        return false;
    if (!joined || begin > 0)
        svg_path_point(panel->svg, a.x + begin * x, a.y + begin * y, true);
    svg_path_point(panel->svg, a.x + end * x, a.y + end * y, false);
    return end == 1;
}

void panel_line(struct panel *panel, const struct panel_point *points, size_t count,
                const struct stroke *stroke)
{
    struct panel_point last = {0}, next;
    bool begun = false, joined = false;
    svg_path_begin(panel->svg);
    for (size_t i = 0; i < count; i++) {
        bool placed = place(panel, points[i], &next);
        joined = placed && begun && add_segment(panel, last, next, joined);
        begun = placed;
        if (placed)
            last = next;
    }
    svg_path_end(panel->svg, stroke->colour, stroke->width, stroke->dash);
}

void panel_marks(struct panel *panel, const struct panel_point *points, size_t count,
                 const struct stroke *stroke)
{
    struct panel_point at;
    for (size_t i = 0; i < count; i++)
        if (place(panel, points[i], &at) && at.x >= panel->left - 0.5 &&
            at.x <= panel->right + 0.5 && at.y >= panel->top - 0.5 && at.y <= panel->bottom + 0.5)
            svg_mark(panel->svg, at.x, at.y, stroke);
}

// ---- Styles

struct stroke stroke_of(enum integrator integrator)
{
    static const char *const dashes[] = {NULL, "7 3", "2.5 2.5", "9 3 2.5 3"};
    // The colours' order serves the first six; dashes keep apart what is often the same.
    static const int dash_of[SERIES_COLOURS] = {0, 0, 1, 2, 0, 0, 0};
    int index = (int)integrator, round = index / SERIES_COLOURS;
    return (struct stroke){
        .colour = (enum colour)(COLOUR_SERIES + index % SERIES_COLOURS),
        .width = 2,
        .dash = dashes[(dash_of[index % SERIES_COLOURS] + 3 * round) % 4],
        .shape = (enum shape)(index % SHAPE_COUNT),
        .filled = round % 2 == 1,
    };
}

struct stroke stroke_of_reference(void)
{
    return (struct stroke){.colour = COLOUR_FRAME, .width = 5};
}

void legend_stroke(struct svg *svg, double x, double y, double room, const struct stroke *stroke,
                   bool marked, const char *text)
{
    enum { PIECE = 30 };
    svg_line(svg, x, y, x + PIECE, y, stroke->colour, stroke->width, stroke->dash);
    if (marked)
        svg_mark(svg, x + PIECE / 2.0, y, stroke);
    const struct lettering lettering = {
        .size = TEXT_SIZE, .colour = COLOUR_INK, .room = room - PIECE - 8};
    svg_text(svg, x + PIECE + 8, y + 4, &lettering, text);
}

void picture_heading(struct svg *svg, const char *title, const char *subtitle)
{
    const struct lettering heading = {
        .size = 17, .colour = COLOUR_INK, .bold = true, .room = svg->width - 40};
    const struct lettering below = {
        .size = TEXT_SIZE, .colour = COLOUR_SOFT, .room = svg->width - 40};
    svg_text(svg, 20, 26, &heading, title);
    svg_text(svg, 20, 45, &below, subtitle);
}
