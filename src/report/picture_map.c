// The stability map: a panel for each integrator, a cell for each run.
#include <math.h>
#include <stdio.h>

#include "base/memory.h"
#include "report/panel.h"
#include "report/pictures.h"

enum { LEFT = 78, GAP_ACROSS = 26, GAP_UP = 62, PANEL_HEIGHT = 190, COLUMNS_MOST = 3 };

bool map_is_there(const struct study *study)
{
    const struct study_map *map = &study->map;
    for (size_t i = 0; i < study->integrator_count * map->row_count * map->column_count; i++)
        if (map->cells[i].verdict != STUDY_UNKNOWN)
            return true;
    return false;
}

// What a run may lose or gain within the map's time, in what is available, and still be called
// unchanged; and what is much.
static const double KEPT = 0.01, MUCH = 0.5;

static enum colour colour_of(const struct study *study, const struct study_cell *cell)
{
    if (cell->verdict != STUDY_STABLE)
        return cell->verdict == STUDY_UNSTABLE ? COLOUR_UNSTABLE : COLOUR_UNKNOWN;
    double change = cell->drift * study->map_window;
    if (!(fabs(change) > KEPT))
        return COLOUR_KEPT;
    if (change < 0)
        return change < -MUCH ? COLOUR_LOST_MUCH : COLOUR_LOST;
    return change > MUCH ? COLOUR_GAINED_MUCH : COLOUR_GAINED;
}

// Where a cell ends towards the next one: halfway, on the logarithmic axis.
static double edge(const double *values, size_t count, size_t index)
{
    if (index == 0)
        return values[0] * sqrt(values[0] / values[1]);
    if (index == count)
        return values[count - 1] * sqrt(values[count - 1] / values[count - 2]);
    return sqrt(values[index - 1] * values[index]);
}

// The cells of a row, those of one colour in one piece.
static void draw_row(struct panel *panel, const struct study *study, size_t integrator, size_t row)
{
    const struct study_map *map = &study->map;
    const struct study_cell *cells =
        map->cells + (integrator * map->row_count + row) * map->column_count;
    double top = axis_place(&panel->up, edge(map->factors, map->row_count, row + 1));
    double bottom = axis_place(&panel->up, edge(map->factors, map->row_count, row));
    for (size_t begin = 0, end; begin < map->column_count; begin = end) {
        enum colour colour = colour_of(study, &cells[begin]);
        for (end = begin + 1; end < map->column_count; end++)
            if (colour_of(study, &cells[end]) != colour)
                break;
        double left = axis_place(&panel->across, edge(map->steps, map->column_count, begin));
        double right = axis_place(&panel->across, edge(map->steps, map->column_count, end));
        svg_rectangle(panel->svg, left, top, right - left, bottom - top, colour, COLOUR_NONE);
    }
}

static void draw_predicted(struct panel *panel, const struct study *study, size_t integrator)
{
    enum { ROWS_MOST = 64 };
    const struct study_map *map = &study->map;
    struct panel_point points[ROWS_MOST];
    size_t count = map->row_count < ROWS_MOST ? map->row_count : ROWS_MOST;
    for (size_t j = 0; j < count; j++)
        points[j] =
            (struct panel_point){map->predicted[integrator * map->row_count + j], map->factors[j]};
    const struct stroke halo = {.colour = COLOUR_PAPER, .width = 5};
    const struct stroke line = {.colour = COLOUR_INK, .width = 2};
    panel_line(panel, points, count, &halo);
    panel_line(panel, points, count, &line);
}

static const struct stroke scene_mark = {
    .colour = COLOUR_INK, .shape = SHAPE_DIAMOND, .filled = true};

// Whether the scene itself lies in the map.
static bool shows_scene(const struct study *study)
{
    const struct study_map *map = &study->map;
    return !map->of_critical && study->scene_dt >= edge(map->steps, map->column_count, 0) &&
           study->scene_dt <= edge(map->steps, map->column_count, map->column_count);
}

static void draw_panel(struct panel *panel, const struct study *study, size_t integrator,
                       const struct panel_labels *labels)
{
    const struct study_map *map = &study->map;
    struct span across = {edge(map->steps, map->column_count, 0),
                          edge(map->steps, map->column_count, map->column_count)};
    struct span up = {edge(map->factors, map->row_count, 0),
                      edge(map->factors, map->row_count, map->row_count)};
    panel_axes(panel, true, across, 0, true, up, 0);
    panel_grid(panel, labels);
    for (size_t row = 0; row < map->row_count; row++)
        draw_row(panel, study, integrator, row);
    draw_predicted(panel, study, integrator);
    if (shows_scene(study))
        panel_marks(panel, &(struct panel_point){study->scene_dt, 1}, 1, &scene_mark);
    panel_frame(panel);
}

struct entry {
    enum colour colour;
    const char *text;
};

static const struct entry entries[] = {
    {COLOUR_LOST_MUCH, "more than half lost"}, {COLOUR_LOST, "1 to 50% lost"},
    {COLOUR_KEPT, "kept within 1%"},           {COLOUR_GAINED, "1 to 50% gained"},
    {COLOUR_GAINED_MUCH, "more gained"},       {COLOUR_UNSTABLE, "unstable"},
    {COLOUR_UNKNOWN, "not measured"},
};

enum { ENTRY_COUNT = sizeof entries / sizeof entries[0] };

static bool occurs(const struct study *study, enum colour colour)
{
    const struct study_map *map = &study->map;
    for (size_t i = 0; i < study->integrator_count * map->row_count * map->column_count; i++)
        if (colour_of(study, &map->cells[i]) == colour)
            return true;
    return false;
}

// The entry at *x, *y, which move on; a new line begins where it would not fit.
static void draw_entry(struct svg *svg, const struct entry *entry, double *x, double *y)
{
    const struct lettering lettering = {.size = TEXT_SIZE, .colour = COLOUR_INK};
    double length = 27 + svg_text_length(entry->text, TEXT_SIZE) + 14;
    if (*x + length > svg->width) {
        *x = LEFT;
        *y += LEGEND_STEP;
    }
    svg_rectangle(svg, *x, *y - 11, 20, 14, entry->colour, COLOUR_FRAME);
    svg_text(svg, *x + 27, *y, &lettering, entry->text);
    *x += length;
}

enum { LEGEND_HEIGHT = 5 * LEGEND_STEP };

static void draw_legend(struct svg *svg, const struct study *study, double y)
{
    const struct lettering lettering = {.size = TEXT_SIZE, .colour = COLOUR_INK};
    svg_line(svg, LEFT, y - 4, LEFT + 20, y - 4, COLOUR_INK, 2, NULL);
    svg_text(svg, LEFT + 27, y, &lettering, "predicted limit");
    if (shows_scene(study)) {
        svg_mark(svg, LEFT + 150, y - 4, &scene_mark);
        svg_text(svg, LEFT + 162, y, &lettering, "the scene as it is");
    }
    char text[160];
    snprintf(text, sizeof text,
             "Energy of stable runs, after %s s, in parts of what the scene turns over:",
             number_text(study->map_window, 3).text);
    y += LEGEND_STEP + 4;
    svg_text(svg, LEFT, y, &lettering, text);
    double x = LEFT;
    y += LEGEND_STEP;
    for (int i = 0; i < ENTRY_COUNT; i++)
        if (occurs(study, entries[i].colour))
            draw_entry(svg, &entries[i], &x, &y);
}

static const char *name_up(const struct study_map *map)
{
    if (map->kind == STUDY_MAP_STIFFNESS)
        return "stiffness / the scene's";
    return map->of_critical ? "damping / critical damping" : "damping / the scene's";
}

void draw_map(const struct subject *subject, const struct picture *picture, struct file *file,
              bool in_page)
{
    const struct study *study = subject->study;
    size_t count = study->integrator_count;
    size_t columns = count < COLUMNS_MOST ? count : COLUMNS_MOST;
    size_t rows = (count + columns - 1) / columns;
    double top = HEADING_HEIGHT + 26, bottom = top + (double)rows * (PANEL_HEIGHT + GAP_UP);
    double width =
        (PICTURE_WIDTH - LEFT - 20.0 - GAP_ACROSS * ((double)columns - 1)) / (double)columns;
    width = fmin(width, 400);
    struct svg svg;
    picture_open(&svg, subject, picture, file, bottom + LEGEND_HEIGHT, in_page);
    for (size_t i = 0; i < count; i++) {
        double left = LEFT + (double)(i % columns) * (width + GAP_ACROSS);
        double above = top + (double)(i / columns) * (PANEL_HEIGHT + GAP_UP);
        struct panel panel = {.svg = &svg,
                              .left = left,
                              .top = above,
                              .right = left + width,
                              .bottom = above + PANEL_HEIGHT};
        struct panel_labels labels = {
            .title = integrator_name(study->integrators[i]),
            .across = i + columns >= count ? "time step dt (s)" : NULL,
            .up = i % columns == 0 ? name_up(&study->map) : NULL,
            .no_numbers_up = i % columns != 0,
        };
        draw_panel(&panel, study, i, &labels);
    }
    draw_legend(&svg, study, bottom + 8);
    svg_close(&svg);
}
