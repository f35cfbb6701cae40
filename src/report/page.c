// report.html: everything in one file that needs no network and no script. It is XML as well, so
// that whatever reads either can check it.
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/axis.h"
#include "report/report.h"
#include "report/svg.h"
#include "scene/reader.h"

static const char STYLE[] =
    "body { font: 15px/1.5 Helvetica, Arial, sans-serif; max-width: 56rem; margin: 2rem auto;\n"
    "  padding: 0 1rem; color: #1a1a1a; background: #ffffff }\n"
    "h1 { font-size: 1.6rem; margin-bottom: 0 }\n"
    "h2 { font-size: 1.2rem; margin-top: 2.5rem; border-bottom: 1px solid #dedede }\n"
    "figure { margin: 1rem 0 } svg { max-width: 100%; height: auto }\n"
    ".soft { color: #5c5c5c } .wide { overflow-x: auto }\n"
    ".bad { color: #b84a00 }\n"
    "table { border-collapse: collapse; font-size: 0.85rem; margin: 0.5rem 0 }\n"
    "th, td { padding: 0.15rem 0.7rem; text-align: right; white-space: nowrap;\n"
    "  border-bottom: 1px solid #dedede }\n"
    "tbody th, table.facts td { text-align: left; font-weight: normal }\n"
    "table.facts td { white-space: normal }\n"
    "pre { overflow-x: auto; padding: 0.8rem; background: #f4f4f4; font-size: 0.8rem }\n"
    "@media screen and (prefers-color-scheme: dark) {\n"
    "  body { color: #ececec; background: #17191c } .soft { color: #a8adb3 }\n"
    "  .bad { color: #f07f2c } pre { background: #24282d }\n"
    "  h2, th, td { border-color: #34393f }\n"
    "}\n";

static void open_page(const struct report *report, struct file *file)
{
    const taut_scene *scene = report->subject.scene;
    file_print(file, REPORT_HTML_OPENING "the report of taut stability. -->\n"
                                         "<html xmlns=\"http://www.w3.org/1999/xhtml\" "
                                         "lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
                                         "<meta name=\"viewport\" content=\"width=device-width\"/>"
                                         "\n<meta name=\"color-scheme\" content=\"light dark\"/>\n"
                                         "<title>");
    xml_text(file, scene->name);
    file_print(file, ": stability</title>\n<style>\n%s", STYLE);
    svg_put_style(file);
    file_print(file, "</style>\n</head>\n<body>\n<h1>");
    xml_text(file, scene->title ? scene->title : scene->name);
    file_print(file, "</h1>\n<p class=\"soft\">How integrators fare on ");
    xml_text(file, report->scene_file);
    file_print(file, "</p>\n");
}

// ---- The verdict

static const struct study_limit *limit_of(const struct study *study, enum integrator integrator)
{
    for (size_t i = 0; i < study->integrator_count; i++)
        if (study->limits[i].integrator == integrator)
            return &study->limits[i];
    return NULL;
}

static void put_verdict(const struct study *study, struct file *file)
{
    const char *name = integrator_name(study->scene_integrator);
    const struct study_limit *limit = limit_of(study, study->scene_integrator);
    file_print(file, "<p>The scene takes steps of <strong>%s s</strong> with %s",
               number_text(study->scene_dt, 4).text, name);
    if (!limit || limit->kind == STUDY_LIMIT_UNKNOWN)
        file_print(file, ", whose limit has not been measured.");
    else if (limit->kind == STUDY_LIMIT_GROWS)
        file_print(file, ", under which <strong class=\"bad\">the energy grows at every "
                         "step</strong>, the smaller the slower.");
    else if (limit->kind == STUDY_LIMIT_BEYOND)
        file_print(file, ", of which no step was found to be unstable.");
    else if (study->scene_dt < limit->measured)
        file_print(file, ", which is <strong>stable</strong>: the limit is %s s, %s times as much.",
                   number_text(limit->measured, 4).text,
                   number_text(limit->measured / study->scene_dt, 3).text);
    else
        file_print(file, ", which is <strong class=\"bad\">unstable</strong>: the limit is %s s.",
                   number_text(limit->measured, 4).text);
    file_print(file, "</p>\n");
    if (!study->complete)
        file_print(file, "<p class=\"bad\">The study ended early: what is missing was not "
                         "measured.</p>\n");
}

// ---- Facts

static void put_fact(struct file *file, const char *name, const char *value)
{
    file_print(file, "<tr><th>");
    xml_text(file, name);
    file_print(file, "</th><td>");
    xml_text(file, value);
    file_print(file, "</td></tr>\n");
}

static void put_number_fact(struct file *file, const char *name, double value, const char *unit)
{
    file_print(file, "<tr><th>%s</th><td>%s %s</td></tr>\n", name, number_text(value, 6).text,
               unit);
}

static void put_facts(const struct report *report, struct file *file)
{
    const struct study *study = report->subject.study;
    file_print(file, "<h2>Settings</h2>\n<table class=\"facts\"><tbody>\n");
    file_print(file,
               "<tr><th>system</th><td>nodes: %" PRIu64 ", springs: %" PRIu64 ", faces: %" PRIu64
               "</td></tr>\n",
               study->nodes, study->springs, study->faces);
    put_number_fact(file, study->sharp ? "fastest oscillation" : "fastest oscillation, at the most",
                    study->omega, "rad/s");
    put_number_fact(file, "symplectic Euler is predicted to be stable up to", study->unit, "s");
    put_number_fact(file, "the scene's own duration", study->duration, "s");
    put_number_fact(file, study->shortened ? "runs, shortened to keep to the budget" : "runs",
                    study->window, "s");
    put_fact(file, "they start from",
             study->at_rest ? "small random velocities, since nothing moves by itself"
                            : "the scene's own start");
    put_number_fact(file, "energies are in parts of", study->available, "J");
    for (size_t i = 0; i < report->setting_count; i++)
        put_fact(file, report->settings[i].name, report->settings[i].value);
    put_number_fact(file, "it took", study->seconds, "s");
    put_fact(file, "machine", report->machine);
    put_fact(file, "taut", report->version);
    file_print(file, "</tbody></table>\n");
}

static void put_scene(const struct report *report, struct file *file)
{
    char *text = scene_resolved_yaml(report->subject.scene);
    if (!text && !file->failure)
        file->failure = ENOMEM;
    if (!text)
        return;
    file_print(file, "<h2>Scene</h2>\n<p class=\"soft\">With everything that was set on the "
                     "command line.</p>\n<pre>");
    xml_text(file, text);
    file_print(file, "</pre>\n");
    free(text);
}

// ---- Sections

static const struct {
    const char *picture;
    void (*put)(const struct study *study, struct file *file);
} tables[] = {
    {"limits", put_limits_table},
    {"drift", put_drift_table},
    {"work_precision", put_accuracy_table},
    {"frequency", put_frequency_table},
};

static void put_section(const struct report *report, const struct picture *picture,
                        struct file *file)
{
    if (!picture->is_there(report->subject.study))
        return;
    file_print(file, "<h2>%s</h2>\n<p class=\"soft\">%s</p>\n<figure>\n", picture->title,
               picture->tells);
    picture->draw(&report->subject, picture, file, true);
    file_print(file, "</figure>\n");
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++)
        if (strcmp(tables[i].picture, picture->name) == 0)
            tables[i].put(report->subject.study, file);
}

void report_put_page(const struct report *report, struct file *file)
{
    open_page(report, file);
    put_verdict(report->subject.study, file);
    for (int i = 0; i < PICTURE_COUNT; i++)
        put_section(report, &pictures[i], file);
    put_facts(report, file);
    put_scene(report, file);
    file_print(file, "</body>\n</html>\n");
}
