// The tables of the page.
#include <inttypes.h>
#include <math.h>

#include "report/axis.h"
#include "report/report.h"
#include "report/svg.h"

static void open_table(struct file *file, const char *const *headings)
{
    file_print(file, "<div class=\"wide\"><table>\n<thead><tr>");
    for (int i = 0; headings[i]; i++)
        file_print(file, "<th>%s</th>", headings[i]);
    file_print(file, "</tr></thead>\n<tbody>\n");
}

static void close_table(struct file *file)
{
    file_print(file, "</tbody></table></div>\n");
}

static void open_row(struct file *file, enum integrator integrator)
{
    file_print(file, "<tr><th>%s</th>", integrator_name(integrator));
}

static void put_cell(struct file *file, double value, int digits, const char *unit)
{
    if (isfinite(value))
        file_print(file, "<td>%s%s</td>", number_text(value, digits).text, unit);
    else
        file_print(file, "<td>–</td>");
}

static const char *kind_text(enum study_limit_kind kind)
{
    static const char *const texts[STUDY_LIMIT_KINDS] = {"not measured", "found",
                                                         "energy always grows", "none found"};
    return texts[kind];
}

void put_limits_table(const struct study *study, struct file *file)
{
    static const char *const headings[] = {"",       "predicted", "measured", "ratio",
                                           "growth", "verdict",   "runs",     NULL};
    open_table(file, headings);
    for (size_t i = 0; i < study->integrator_count; i++) {
        const struct study_limit *it = &study->limits[i];
        open_row(file, it->integrator);
        if (isinf(it->predicted))
            file_print(file, "<td>every step</td>");
        else
            put_cell(file, it->predicted, 5, " s");
        put_cell(file, it->measured, 5, " s");
        put_cell(file, isinf(it->predicted) ? NAN : it->measured / it->predicted, 4, "");
        put_cell(file, it->growth, 3, " /s");
        file_print(file, "<td>%s</td><td>%d</td></tr>\n", kind_text(it->kind), it->runs);
    }
    close_table(file);
}

void put_drift_table(const struct study *study, struct file *file)
{
    size_t each = study->integrator_count ? study->drift_count / study->integrator_count : 0;
    file_print(file, "<div class=\"wide\"><table>\n<thead><tr><th>drift, 1/s</th>");
    for (size_t j = 0; j < each; j++)
        file_print(file, "<th>%s s</th>", number_text(study->drifts[j].dt, 3).text);
    file_print(file, "</tr></thead>\n<tbody>\n");
    for (size_t i = 0; i < study->integrator_count; i++) {
        open_row(file, study->integrators[i]);
        for (size_t j = 0; j < each; j++) {
            const struct study_drift *it = &study->drifts[i * each + j];
            if (it->verdict == STUDY_UNSTABLE)
                file_print(file, "<td class=\"bad\">unstable</td>");
            else
                put_cell(file, it->drift, 3, "");
        }
        file_print(file, "</tr>\n");
    }
    close_table(file);
}

void put_accuracy_table(const struct study *study, struct file *file)
{
    static const double errors[] = {1e-2, 1e-4, 1e-6};
    static const char *const headings[] = {
        "", "order", "evaluations for 10⁻²", "time", "for 10⁻⁴", "time", "for 10⁻⁶", "time", NULL};
    open_table(file, headings);
    for (size_t i = 0; i < study->integrator_count; i++) {
        open_row(file, study->integrators[i]);
        if (study->orders[i].reason == STUDY_ORDER_FITTED)
            put_cell(file, study->orders[i].order, 3, "");
        else
            file_print(file, "<td>no signal: %s</td>",
                       study_no_order_text(study->orders[i].reason));
        for (size_t j = 0; j < sizeof errors / sizeof errors[0]; j++) {
            const struct study_accuracy *it =
                study_cheapest(study, study->integrators[i], errors[j]);
            if (it)
                file_print(file, "<td>%" PRIu64 "</td><td>%s s</td>", it->evaluations,
                           number_text(it->seconds, 3).text);
            else
                file_print(file, "<td>–</td><td>–</td>");
        }
        file_print(file, "</tr>\n");
    }
    close_table(file);
}

void put_frequency_table(const struct study *study, struct file *file)
{
    size_t each = study->integrator_count ? study->frequency_count / study->integrator_count : 0;
    file_print(file, "<div class=\"wide\"><table>\n<thead><tr><th>ω dt</th>");
    for (size_t j = 0; j < each; j++)
        file_print(file, "<th>%s</th>", number_text(study->frequencies[j].y, 3).text);
    file_print(file, "</tr></thead>\n<tbody>\n");
    for (size_t i = 0; i < study->integrator_count; i++) {
        open_row(file, study->integrators[i]);
        for (size_t j = 0; j < each; j++)
            put_cell(file, 100 * (study->frequencies[i * each + j].ratio - 1), 3, "%");
        file_print(file, "</tr>\n");
    }
    close_table(file);
}
