// The folder of a study: tables as CSV, study.json, and the report that a Python tool draws from
// study.json (tools/taut_report). taut itself has only the names of the report's files.
#include "cli/stability.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/text.h"
#include "cli/human.h"
#include "base/json.h"
#include "cli/python_tool.h"
#include "cli/signals.h"
#include "output/file.h"
#include "output/folder.h"
#include "parallel/machine.h"
#include "scene/reader.h"
#include "simd/isa.h"
#include "version_info.h"

// ---- Tables; an unknown number is an empty field

static void put_field(struct file *file, double value)
{
    file_print(file, ",");
    if (isfinite(value))
        file_number(file, value, 17);
    else if (isinf(value))
        file_print(file, "inf");
}

static void limit_rows(struct file *file, const struct study *study)
{
    for (size_t i = 0; i < study->integrator_count; i++) {
        const struct study_limit *it = &study->limits[i];
        file_print(file, "%s,%s", integrator_name(it->integrator), study_limit_name(it->kind));
        const double numbers[] = {it->predicted, it->measured, it->stable, it->unstable,
                                  it->growth};
        for (size_t j = 0; j < sizeof numbers / sizeof numbers[0]; j++)
            put_field(file, numbers[j]);
        file_print(file, ",%d,%" PRIu64 "\n", it->runs, it->steps);
    }
}

static void drift_rows(struct file *file, const struct study *study)
{
    for (size_t i = 0; i < study->drift_count; i++) {
        const struct study_drift *it = &study->drifts[i];
        file_print(file, "%s", integrator_name(it->integrator));
        put_field(file, it->dt);
        file_print(file, ",%" PRIu64 ",%s", it->steps, study_verdict_name(it->verdict));
        put_field(file, it->drift);
        put_field(file, it->deviation);
        file_print(file, "\n");
    }
}

static void order_rows(struct file *file, const struct study *study)
{
    for (size_t i = 0; i < study->integrator_count; i++) {
        const struct study_order *it = &study->orders[i];
        file_print(file, "%s", integrator_name(it->integrator));
        put_field(file, it->order);
        file_print(file, ",%s,%d", study_no_order_name(it->reason), it->points);
        put_field(file, it->points > 0 ? it->from : NAN);
        put_field(file, it->points > 0 ? it->to : NAN);
        put_field(file, it->floor);
        file_print(file, "\n");
    }
}

static void work_precision_rows(struct file *file, const struct study *study)
{
    for (size_t i = 0; i < study->accuracy_count; i++) {
        const struct study_accuracy *it = &study->accuracies[i];
        file_print(file, "%s", integrator_name(it->integrator));
        put_field(file, it->dt);
        file_print(file, ",%" PRIu64 ",%" PRIu64, it->steps, it->evaluations);
        put_field(file, it->seconds);
        put_field(file, it->error);
        file_print(file, "\n");
    }
}

static void frequency_rows(struct file *file, const struct study *study)
{
    for (size_t i = 0; i < study->frequency_count; i++) {
        const struct study_frequency *it = &study->frequencies[i];
        file_print(file, "%s", integrator_name(it->integrator));
        const double numbers[] = {it->dt, it->y, it->ratio, it->factor, it->phase};
        for (size_t j = 0; j < sizeof numbers / sizeof numbers[0]; j++)
            put_field(file, numbers[j]);
        file_print(file, "\n");
    }
}

static void oscillation_rows(struct file *file, const struct study *study)
{
    for (size_t i = 0; i < study->oscillation_count; i++) {
        const struct study_oscillation *it = &study->oscillations[i];
        file_print(file, "%s", integrator_name(it->integrator));
        put_field(file, it->dt);
        put_field(file, it->ratio);
        put_field(file, it->phase);
        file_print(file, "\n");
    }
}

static void energy_rows(struct file *file, const struct study *study)
{
    for (size_t i = 0; i < study->series_count; i++) {
        const struct study_series *it = &study->series[i];
        for (size_t j = 0; j < it->point_count; j++) {
            file_print(file, "%s", it->reference ? "reference" : integrator_name(it->integrator));
            put_field(file, it->points[j].time);
            put_field(file, it->points[j].energy);
            file_print(file, "\n");
        }
    }
}

static void map_rows(struct file *file, const struct study *study)
{
    const struct study_map *map = &study->map;
    for (size_t i = 0; i < study->integrator_count; i++)
        for (size_t j = 0; j < map->row_count; j++)
            for (size_t k = 0; k < map->column_count; k++) {
                size_t row = i * map->row_count + j;
                const struct study_cell *cell = &map->cells[row * map->column_count + k];
                file_print(file, "%s", integrator_name(study->integrators[i]));
                put_field(file, map->factors[j]);
                put_field(file, map->steps[k]);
                file_print(file, ",%s", study_verdict_name(cell->verdict));
                put_field(file, cell->drift);
                put_field(file, map->predicted[row]);
                file_print(file, "\n");
            }
}

static const struct {
    const char *name, *heading;
    void (*rows)(struct file *file, const struct study *study);
} tables[] = {
    {"limits.csv", "integrator,kind,predicted,measured,stable,unstable,growth,runs,steps\n",
     limit_rows},
    {"drift.csv", "integrator,dt,steps,verdict,drift,deviation\n", drift_rows},
    {"order.csv", "integrator,order,reason,points,from,to,floor\n", order_rows},
    {"work_precision.csv", "integrator,dt,steps,evaluations,seconds,error\n", work_precision_rows},
    {"frequency.csv", "integrator,dt,y,ratio,factor,phase\n", frequency_rows},
    {"oscillation.csv", "integrator,dt,ratio,phase\n", oscillation_rows},
    {"energy.csv", "integrator,time,energy\n", energy_rows},
    {"map.csv", "integrator,factor,dt,verdict,drift,predicted\n", map_rows},
};

enum { TABLE_COUNT = sizeof tables / sizeof tables[0] };

static bool is_wanted(const struct stability *stability, int table)
{
    if (tables[table].rows == oscillation_rows)
        return stability->study->oscillates;
    return tables[table].rows != map_rows || stability->options->map != STUDY_MAP_NONE;
}

// ---- JSON

static void put_limits(struct json *json, const struct study *study)
{
    json_open_array(json, "limits");
    for (size_t i = 0; i < study->integrator_count; i++) {
        const struct study_limit *it = &study->limits[i];
        json_open_object(json, NULL);
        json_string(json, "integrator", integrator_name(it->integrator));
        json_string(json, "kind", study_limit_name(it->kind));
        json_number(json, "predicted", it->predicted);
        json_bool(json, "unconditional", isinf(it->predicted));
        json_number(json, "measured", it->measured);
        json_number(json, "stable", it->stable);
        json_number(json, "unstable", it->unstable);
        json_number(json, "growth", it->growth);
        json_count(json, "runs", (uint64_t)it->runs);
        json_count(json, "steps", it->steps);
        json_close_object(json);
    }
    json_close_array(json);
}

static void put_drifts(struct json *json, const struct study *study)
{
    json_open_array(json, "drift");
    for (size_t i = 0; i < study->drift_count; i++) {
        const struct study_drift *it = &study->drifts[i];
        json_open_object(json, NULL);
        json_string(json, "integrator", integrator_name(it->integrator));
        json_number(json, "dt", it->dt);
        json_count(json, "steps", it->steps);
        json_string(json, "verdict", study_verdict_name(it->verdict));
        json_number(json, "drift", it->drift);
        json_number(json, "deviation", it->deviation);
        json_close_object(json);
    }
    json_close_array(json);
}

static void put_accuracies(struct json *json, const struct study *study)
{
    json_open_array(json, "order");
    for (size_t i = 0; i < study->integrator_count; i++) {
        const struct study_order *it = &study->orders[i];
        json_open_object(json, NULL);
        json_string(json, "integrator", integrator_name(it->integrator));
        json_number(json, "order", it->order);
        if (it->reason == STUDY_ORDER_FITTED)
            json_null(json, "reason");
        else
            json_string(json, "reason", study_no_order_name(it->reason));
        json_count(json, "points", (uint64_t)it->points);
        json_number(json, "from", it->points > 0 ? it->from : NAN);
        json_number(json, "to", it->points > 0 ? it->to : NAN);
        json_number(json, "floor", it->floor);
        json_close_object(json);
    }
    json_close_array(json);
    json_open_array(json, "work_precision");
    for (size_t i = 0; i < study->accuracy_count; i++) {
        const struct study_accuracy *it = &study->accuracies[i];
        json_open_object(json, NULL);
        json_string(json, "integrator", integrator_name(it->integrator));
        json_number(json, "dt", it->dt);
        json_count(json, "steps", it->steps);
        json_count(json, "evaluations", it->evaluations);
        json_number(json, "seconds", it->seconds);
        json_number(json, "error", it->error);
        json_close_object(json);
    }
    json_close_array(json);
}

static void put_frequencies(struct json *json, const struct study *study)
{
    json_open_array(json, "frequency");
    for (size_t i = 0; i < study->frequency_count; i++) {
        const struct study_frequency *it = &study->frequencies[i];
        json_open_object(json, NULL);
        json_string(json, "integrator", integrator_name(it->integrator));
        json_number(json, "dt", it->dt);
        json_number(json, "y", it->y);
        json_number(json, "ratio", it->ratio);
        json_number(json, "factor", it->factor);
        json_number(json, "phase", it->phase);
        json_close_object(json);
    }
    json_close_array(json);
}

static void put_oscillations(struct json *json, const struct study *study)
{
    if (!study->oscillates) {
        json_null(json, "oscillation");
        return;
    }
    json_open_object(json, "oscillation");
    json_count(json, "node", study->oscillating_node);
    json_string(json, "axis", (const char *[]){"x", "y", "z"}[study->oscillating_axis]);
    json_number(json, "omega", study->oscillation_omega);
    json_open_array(json, "runs");
    for (size_t i = 0; i < study->oscillation_count; i++) {
        const struct study_oscillation *it = &study->oscillations[i];
        json_open_object(json, NULL);
        json_string(json, "integrator", integrator_name(it->integrator));
        json_number(json, "dt", it->dt);
        json_number(json, "ratio", it->ratio);
        json_number(json, "phase", it->phase);
        json_close_object(json);
    }
    json_close_array(json);
    json_close_object(json);
}

static void put_energies(struct json *json, const struct study *study)
{
    json_open_array(json, "energy");
    for (size_t i = 0; i < study->series_count; i++) {
        const struct study_series *it = &study->series[i];
        json_open_object(json, NULL);
        json_string(json, "integrator", it->reference ? NULL : integrator_name(it->integrator));
        json_number(json, "dt", it->dt);
        json_open_array(json, "time");
        for (size_t k = 0; k < it->point_count; k++)
            json_number(json, NULL, it->points[k].time);
        json_close_array(json);
        json_open_array(json, "energy");
        for (size_t k = 0; k < it->point_count; k++)
            json_number(json, NULL, it->points[k].energy);
        json_close_array(json);
        json_close_object(json);
    }
    json_close_array(json);
}

static void put_numbers(struct json *json, const char *key, const double *values, size_t count)
{
    json_open_array(json, key);
    for (size_t i = 0; i < count; i++)
        json_number(json, NULL, values[i]);
    json_close_array(json);
}

// Writes for each integrator one row per factor: the verdicts and the drifts of its steps.
static void put_map(struct json *json, const struct study *study)
{
    const struct study_map *map = &study->map;
    if (map->row_count == 0) {
        json_null(json, "map");
        return;
    }
    json_open_object(json, "map");
    json_string(json, "kind", study_map_name(map->kind));
    json_string(json, "factor_of", map->of_critical ? "critical" : "scene");
    json_number(json, "window", study->map_window);
    put_numbers(json, "factors", map->factors, map->row_count);
    put_numbers(json, "steps", map->steps, map->column_count);
    json_open_array(json, "integrators");
    for (size_t i = 0; i < study->integrator_count; i++) {
        json_open_object(json, NULL);
        json_string(json, "integrator", integrator_name(study->integrators[i]));
        put_numbers(json, "predicted", map->predicted + i * map->row_count, map->row_count);
        const struct study_cell *cells = map->cells + i * map->row_count * map->column_count;
        json_open_array(json, "verdicts");
        for (size_t j = 0; j < map->row_count * map->column_count; j++)
            json_string(json, NULL, study_verdict_name(cells[j].verdict));
        json_close_array(json);
        json_open_array(json, "drifts");
        for (size_t j = 0; j < map->row_count * map->column_count; j++)
            json_number(json, NULL, cells[j].drift);
        json_close_array(json);
        json_close_object(json);
    }
    json_close_array(json);
    json_close_object(json);
}

static const char *isa_text(taut_isa isa)
{
    return isa == TAUT_ISA_AUTO ? "auto" : isa_name((enum isa)(isa - TAUT_ISA_BASE));
}

// The options of the study, and the machine on which it ran.
static void put_settings(struct json *json, const struct stability *stability)
{
    const struct options *options = stability->options;
    json_open_object(json, "settings");
    json_string(json, "integrators", options->integrators ? options->integrators : "all");
    json_string(json, "map", study_map_name(options->map));
    json_number(json, "budget", options->budget);
    json_count(json, "threads", (uint64_t)stability->threads);
    json_string(json, "kernel", kernel_choice_name((int)options->kernel));
    json_string(json, "isa", isa_text(options->isa));
    json_close_object(json);
    struct machine machine;
    if (machine_detect(&machine, NULL) == TAUT_OK) {
        char text[160];
        snprintf(text, sizeof text, "%s, %s for this process", machine.name,
                 human_counted((uint64_t)machine.cores, "core").text);
        json_string(json, "machine", text);
    } else {
        json_null(json, "machine");
    }
    char version[200];
    snprintf(version, sizeof version, "%s, commit %s, %s", taut_version(), TAUT_BUILD_COMMIT,
             TAUT_BUILD_COMPILER);
    json_string(json, "version", version);
}

static void put_facts(struct json *json, const struct stability *stability)
{
    const struct study *study = stability->study;
    json_string(json, "scene", stability->options->scene);
    json_string(json, "name", stability->scene->name);
    json_string(json, "title", stability->scene->title);
    json_count(json, "nodes", study->nodes);
    json_count(json, "springs", study->springs);
    json_count(json, "faces", study->faces);
    json_number(json, "dt", study->scene_dt);
    json_string(json, "integrator", integrator_name(study->scene_integrator));
    json_number(json, "duration", study->duration);
    json_number(json, "omega", study->omega);
    json_bool(json, "sharp", study->omega_computed);
    json_number(json, "damping", study->critical.damping);
    json_number(json, "unit", study->unit);
    json_number(json, "window", study->window);
    json_bool(json, "shortened", study->shortened);
    json_count(json, "broken", study->broken);
    json_bool(json, "at_rest", study->at_rest);
    json_number(json, "available", study->available);
    json_number(json, "accuracy_time", study->accuracy_time);
    json_bool(json, "closed_form", study->closed_form);
    json_number(json, "reference_dt", study->reference_dt);
    json_number(json, "energy_dt", study->energy_dt);
    put_settings(json, stability);
}

// The members that study.json and --json share.
static void put_study(struct json *json, const struct stability *stability)
{
    const struct study *study = stability->study;
    put_facts(json, stability);
    put_limits(json, study);
    put_drifts(json, study);
    put_accuracies(json, study);
    put_frequencies(json, study);
    put_oscillations(json, study);
    put_energies(json, study);
    put_map(json, study);
    json_bool(json, "complete", study->complete);
    json_number(json, "seconds", study->seconds);
    json_string(json, "interrupted",
                stability->signal_number ? signals_name(stability->signal_number) : NULL);
}

void stability_print_json(const struct stability *stability)
{
    struct json json = {.out = stdout};
    json_open_object(&json, NULL);
    put_study(&json, stability);
    json_open_array(&json, "output");
    for (int i = 0; i < stability->file_count; i++)
        json_string(&json, NULL, stability->files[i]);
    json_close_array(&json);
    json_string(&json, "error", stability->report_failed ? stability->report_error.text : NULL);
    json_close_object(&json);
}

// study.json as a text, which the caller frees; NULL if memory runs out.
static char *make_study_json(const struct stability *stability)
{
    char *scene = scene_resolved_yaml(stability->scene);
    char *text = NULL;
    size_t length;
    FILE *out = scene ? open_memstream(&text, &length) : NULL;
    if (out) {
        struct json json = {.out = out};
        json_open_object(&json, NULL);
        json_count(&json, "taut_study", 1);
        put_study(&json, stability);
        json_string(&json, "resolved_scene", scene);
        json_close_object(&json);
        bool failed = ferror(out) != 0;
        if (fclose(out) != 0 || failed) {
            free(text);
            text = NULL;
        }
    }
    free(scene);
    return text;
}

// ---- The folder

#define STUDY_JSON  "study.json"
#define REPORT_PAGE "report.html"

// The figures of the report, in the order of the page. The tool omits those without results.
static const char *const figures[] = {"limits",         "map",         "energy",   "drift",
                                      "work_precision", "convergence", "frequency"};

enum { FIGURE_COUNT = sizeof figures / sizeof figures[0], REPORT_FILES = 2 * FIGURE_COUNT + 1 };

// The name of the report's file number `index`: NAME.svg and NAME.png of each figure, then the
// page.
static void report_name(int index, char *name, size_t size)
{
    if (index == REPORT_FILES - 1)
        snprintf(name, size, REPORT_PAGE);
    else
        snprintf(name, size, "%s.%s", figures[index / 2], index % 2 == 0 ? "svg" : "png");
}

static bool writes(const void *context, const char *name)
{
    (void)context;
    for (int i = 0; i < TABLE_COUNT; i++)
        if (strcmp(name, tables[i].name) == 0)
            return true;
    for (int i = 0; i < REPORT_FILES; i++) {
        char known[64];
        report_name(i, known, sizeof known);
        if (strcmp(name, known) == 0)
            return true;
    }
    return strcmp(name, STUDY_JSON) == 0;
}

static taut_status claim(const struct stability *stability,
                         taut_status (*act)(const struct folder_claim *claim, taut_error *error),
                         taut_error *error)
{
    size_t count;
    const char **inputs = scene_inputs(stability->scene, &count);
    if (!inputs)
        return fail_memory(error, "the list of conflicting files");
    const struct folder_claim claim = {.folder = stability->folder,
                                       .kind = "study",
                                       .force = true,
                                       .inputs = inputs,
                                       .input_count = count,
                                       .writes = writes};
    taut_status status = act(&claim, error);
    free(inputs);
    return status;
}

taut_status stability_check_folder(const struct stability *stability, taut_error *error)
{
    return claim(stability, folder_check, error);
}

taut_status stability_open_folder(struct stability *stability, taut_error *error)
{
    taut_status status = claim(stability, folder_clear, error);
    return status == TAUT_OK ? manifest_begin(stability->folder, "study", stability->scene->name,
                                              NULL, NULL, &stability->manifest, error)
                             : status;
}

static taut_status write_table(const struct stability *stability, int table, const char *path,
                               taut_error *error)
{
    struct file file;
    taut_status status = file_create_new(&file, path, error);
    if (status != TAUT_OK)
        return status;
    file_print(&file, "%s", tables[table].heading);
    tables[table].rows(&file, stability->study);
    return file_commit(&file, error);
}

static taut_status write_study_json(const struct stability *stability, const char *path,
                                    taut_error *error)
{
    char *text = make_study_json(stability);
    if (!text)
        return fail_memory(error, STUDY_JSON);
    struct file file;
    taut_status status = file_create_new(&file, path, error);
    if (status == TAUT_OK) {
        file_write(&file, text, strlen(text));
        status = file_commit(&file, error);
    }
    free(text);
    return status;
}

// study.json is written last.
taut_status stability_write_files(struct stability *stability, taut_error *error)
{
    taut_status status = TAUT_OK;
    for (int i = 0; i <= TABLE_COUNT && status == TAUT_OK; i++) {
        bool is_table = i < TABLE_COUNT;
        if (is_table && !is_wanted(stability, i))
            continue;
        char *path =
            text_format("%s/%s", stability->folder, is_table ? tables[i].name : STUDY_JSON);
        if (!path)
            return fail_memory(error, "the name of a file");
        status = manifest_announce(&stability->manifest, path, error);
        if (status == TAUT_OK)
            status = is_table ? write_table(stability, i, path, error)
                              : write_study_json(stability, path, error);
        if (status == TAUT_OK)
            stability->files[stability->file_count++] = path;
        else
            free(path);
    }
    return status;
}

// ---- The report

// An unnamed file of the report.
struct draft {
    char *path, *argument; // "limits.svg=7": the tool may write limits.svg to descriptor 7
    struct file file;
};

static taut_status open_draft(const struct stability *stability, int index, struct draft *draft,
                              taut_error *error)
{
    char name[64];
    report_name(index, name, sizeof name);
    draft->path = text_format("%s/%s", stability->folder, name);
    if (!draft->path)
        return fail_memory(error, "the name of a file");
    taut_status status = file_create_new(&draft->file, draft->path, error);
    if (status != TAUT_OK)
        return status;
    draft->argument = text_format("%s=%d", name, draft->file.descriptor);
    return draft->argument ? TAUT_OK : fail_memory(error, "the name of a file");
}

static taut_status run_tool(const struct stability *stability, const struct draft *drafts,
                            bool (*stop)(void *context), void *context, taut_error *error)
{
    // Usually some seconds, but matplotlib's first run caches all fonts of the machine.
    static const double SECONDS_MAX = 180;
    // Address space: with 256 MB a map of ten integrators is drawn (141 MB of it are touched), with
    // 205 MB the tool hangs.
    static const double BYTES_MIN = 300e6;
    int descriptors[REPORT_FILES];
    const char *arguments[REPORT_FILES + 2] = {NULL};
    char *script = python_tool_find("taut_report", error);
    char *study = text_format("%s/" STUDY_JSON, stability->folder);
    taut_status status = script ? TAUT_OK : TAUT_ERROR_IO;
    if (script && !study)
        status = fail_memory(error, "the name of a file");
    if (status == TAUT_OK) {
        arguments[0] = study;
        for (int i = 0; i < REPORT_FILES; i++) {
            arguments[i + 1] = drafts[i].argument;
            descriptors[i] = drafts[i].file.descriptor;
        }
        const struct python_tool tool = {.script = script,
                                         .package = "python3-matplotlib",
                                         .arguments = arguments,
                                         .descriptors = descriptors,
                                         .descriptor_count = REPORT_FILES,
                                         .seconds_max = SECONDS_MAX,
                                         .bytes_min = BYTES_MIN,
                                         .stop = stop,
                                         .context = context};
        status = python_tool_run(&tool, error);
    }
    free(script);
    free(study);
    return status;
}

// Names a draft, unless it is empty because the figure was omitted. Takes ownership of its path.
static taut_status commit_draft(struct stability *stability, struct draft *draft, taut_error *error)
{
    struct stat written;
    if (fstat(draft->file.descriptor, &written) != 0)
        return fail(error, TAUT_ERROR_IO, "cannot read '%s': %s", draft->path, strerror(errno));
    if (written.st_size == 0) {
        file_abandon(&draft->file);
        return TAUT_OK;
    }
    taut_status status = manifest_announce(&stability->manifest, draft->path, error);
    if (status == TAUT_OK)
        status = file_commit(&draft->file, error);
    if (status == TAUT_OK) {
        stability->files[stability->file_count++] = draft->path;
        draft->path = NULL;
    }
    return status;
}

taut_status stability_write_report(struct stability *stability, bool (*stop)(void *context),
                                   void *context, taut_error *error)
{
    struct draft drafts[REPORT_FILES] = {0};
    taut_status status = TAUT_OK;
    for (int i = 0; i < REPORT_FILES && status == TAUT_OK; i++)
        status = open_draft(stability, i, &drafts[i], error);
    if (status == TAUT_OK)
        status = run_tool(stability, drafts, stop, context, error);

    struct stat page;
    if (status == TAUT_OK &&
        (fstat(drafts[REPORT_FILES - 1].file.descriptor, &page) != 0 || page.st_size == 0))
        status = fail(error, TAUT_ERROR_IO, "the tool wrote no " REPORT_PAGE);
    for (int i = 0; i < REPORT_FILES && status == TAUT_OK; i++)
        status = commit_draft(stability, &drafts[i], error);

    for (int i = 0; i < REPORT_FILES; i++) {
        file_abandon(&drafts[i].file);
        free(drafts[i].path);
        free(drafts[i].argument);
    }
    return status;
}
