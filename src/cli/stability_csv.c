// The tables of a study. A number that is not known is an empty field.
#include "cli/stability.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "output/file.h"
#include "output/folder.h"
#include "report/report.h"

static void put_number(struct file *file, double value)
{
    file_print(file, ",");
    if (isfinite(value))
        file_number(file, value, 17);
    else if (isinf(value))
        file_print(file, "inf");
}

static void put_limits(struct file *file, const struct study *study)
{
    for (size_t i = 0; i < study->integrator_count; i++) {
        const struct study_limit *it = &study->limits[i];
        file_print(file, "%s,%s", integrator_name(it->integrator), study_limit_name(it->kind));
        const double numbers[] = {it->predicted, it->measured, it->stable, it->unstable,
                                  it->growth};
        for (size_t j = 0; j < sizeof numbers / sizeof numbers[0]; j++)
            put_number(file, numbers[j]);
        file_print(file, ",%d,%" PRIu64 "\n", it->runs, it->steps);
    }
}

static void put_drifts(struct file *file, const struct study *study)
{
    for (size_t i = 0; i < study->drift_count; i++) {
        const struct study_drift *it = &study->drifts[i];
        file_print(file, "%s", integrator_name(it->integrator));
        put_number(file, it->dt);
        file_print(file, ",%" PRIu64 ",%s", it->steps, study_verdict_name(it->verdict));
        put_number(file, it->drift);
        put_number(file, it->deviation);
        file_print(file, "\n");
    }
}

static void put_orders(struct file *file, const struct study *study)
{
    for (size_t i = 0; i < study->integrator_count; i++) {
        const struct study_order *it = &study->orders[i];
        file_print(file, "%s", integrator_name(it->integrator));
        put_number(file, it->order);
        file_print(file, ",%s,%d", study_no_order_name(it->reason), it->points);
        put_number(file, it->points > 0 ? it->from : NAN);
        put_number(file, it->points > 0 ? it->to : NAN);
        put_number(file, it->floor);
        file_print(file, "\n");
    }
}

static void put_work_precision(struct file *file, const struct study *study)
{
    for (size_t i = 0; i < study->accuracy_count; i++) {
        const struct study_accuracy *it = &study->accuracies[i];
        file_print(file, "%s", integrator_name(it->integrator));
        put_number(file, it->dt);
        file_print(file, ",%" PRIu64 ",%" PRIu64, it->steps, it->evaluations);
        put_number(file, it->seconds);
        put_number(file, it->error);
        file_print(file, "\n");
    }
}

static void put_frequencies(struct file *file, const struct study *study)
{
    for (size_t i = 0; i < study->frequency_count; i++) {
        const struct study_frequency *it = &study->frequencies[i];
        file_print(file, "%s", integrator_name(it->integrator));
        const double numbers[] = {it->dt, it->y, it->ratio, it->factor, it->phase};
        for (size_t j = 0; j < sizeof numbers / sizeof numbers[0]; j++)
            put_number(file, numbers[j]);
        file_print(file, "\n");
    }
}

static void put_oscillations(struct file *file, const struct study *study)
{
    for (size_t i = 0; i < study->oscillation_count; i++) {
        const struct study_oscillation *it = &study->oscillations[i];
        file_print(file, "%s", integrator_name(it->integrator));
        put_number(file, it->dt);
        put_number(file, it->ratio);
        put_number(file, it->phase);
        file_print(file, "\n");
    }
}

static void put_energies(struct file *file, const struct study *study)
{
    for (size_t i = 0; i < study->series_count; i++) {
        const struct study_series *it = &study->series[i];
        for (size_t j = 0; j < it->point_count; j++) {
            file_print(file, "%s", it->reference ? "reference" : integrator_name(it->integrator));
            put_number(file, it->points[j].time);
            put_number(file, it->points[j].energy);
            file_print(file, "\n");
        }
    }
}

static void put_map(struct file *file, const struct study *study)
{
    const struct study_map *map = &study->map;
    for (size_t i = 0; i < study->integrator_count; i++)
        for (size_t j = 0; j < map->row_count; j++)
            for (size_t k = 0; k < map->column_count; k++) {
                size_t row = i * map->row_count + j;
                const struct study_cell *cell = &map->cells[row * map->column_count + k];
                file_print(file, "%s", integrator_name(study->integrators[i]));
                put_number(file, map->factors[j]);
                put_number(file, map->steps[k]);
                file_print(file, ",%s", study_verdict_name(cell->verdict));
                put_number(file, cell->drift);
                put_number(file, map->predicted[row]);
                file_print(file, "\n");
            }
}

static const struct {
    const char *name, *opening;
    void (*put)(struct file *file, const struct study *study);
} tables[] = {
    {"limits.csv", "integrator,kind,predicted,measured,stable,unstable,growth,runs,steps\n",
     put_limits},
    {"drift.csv", "integrator,dt,steps,verdict,drift,deviation\n", put_drifts},
    {"order.csv", "integrator,order,reason,points,from,to,floor\n", put_orders},
    {"work_precision.csv", "integrator,dt,steps,evaluations,seconds,error\n", put_work_precision},
    {"frequency.csv", "integrator,dt,y,ratio,factor,phase\n", put_frequencies},
    {"oscillation.csv", "integrator,dt,ratio,phase\n", put_oscillations},
    {"energy.csv", "integrator,time,energy\n", put_energies},
    {"map.csv", "integrator,factor,dt,verdict,drift,predicted\n", put_map},
};

enum { TABLE_COUNT = sizeof tables / sizeof tables[0] };

static bool is_wanted(const struct stability *stability, int table)
{
    if (tables[table].put == put_oscillations)
        return stability->study->oscillates;
    return tables[table].put != put_map || stability->options->map != STUDY_MAP_NONE;
}

// Of a study, tables and what report.h writes.
static bool writes(const void *context, const char *name)
{
    (void)context;
    for (int i = 0; i < TABLE_COUNT; i++)
        if (strcmp(name, tables[i].name) == 0)
            return true;
    return report_writes(name);
}

static taut_status claim(const struct stability *stability,
                         taut_status (*act)(const struct folder_claim *claim, taut_error *error),
                         taut_error *error)
{
    size_t count;
    const char **inputs = scene_inputs(stability->scene, &count);
    if (!inputs)
        return fail_memory(error, "the list of files in the way");
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
                                              &stability->manifest, error)
                             : status;
}

static taut_status write_table(const struct stability *stability, int table, const char *path,
                               taut_error *error)
{
    struct file file;
    taut_status status = file_create_new(&file, path, error);
    if (status != TAUT_OK)
        return status;
    file_print(&file, "%s", tables[table].opening);
    tables[table].put(&file, stability->study);
    return file_commit(&file, error);
}

taut_status stability_write_files(struct stability *stability, taut_error *error)
{
    taut_status status = TAUT_OK;
    for (int i = 0; i < TABLE_COUNT && status == TAUT_OK; i++) {
        if (!is_wanted(stability, i))
            continue;
        char *path = text_format("%s/%s", stability->folder, tables[i].name);
        if (!path)
            return fail_memory(error, "the name of a file");
        status = manifest_announce(&stability->manifest, path, error);
        if (status == TAUT_OK)
            status = write_table(stability, i, path, error);
        stability->files[stability->file_count++] = path;
    }
    return status;
}
