#include <math.h>

#include "cli/json.h"
#include "cli/signals.h"
#include "cli/stability.h"

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

static void put_numbers(struct json *json, const char *key, const double *values, size_t count)
{
    json_open_array(json, key);
    for (size_t i = 0; i < count; i++)
        json_number(json, NULL, values[i]);
    json_close_array(json);
}

// Of each integrator the rows, one a factor: the verdicts and the drifts of its steps.
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

static void put_facts(struct json *json, const struct stability *stability)
{
    const struct study *study = stability->study;
    json_string(json, "scene", stability->options->scene);
    json_count(json, "nodes", study->nodes);
    json_count(json, "springs", study->springs);
    json_count(json, "faces", study->faces);
    json_number(json, "dt", study->scene_dt);
    json_string(json, "integrator", integrator_name(study->scene_integrator));
    json_number(json, "duration", study->duration);
    json_number(json, "omega", study->omega);
    json_bool(json, "sharp", study->sharp);
    json_number(json, "damping", study->critical.damping);
    json_number(json, "unit", study->unit);
    json_number(json, "window", study->window);
    json_bool(json, "shortened", study->shortened);
    json_bool(json, "at_rest", study->at_rest);
    json_number(json, "available", study->available);
    json_number(json, "accuracy_time", study->accuracy_time);
    json_bool(json, "closed_form", study->closed_form);
    json_number(json, "reference_dt", study->reference_dt);
    json_number(json, "energy_dt", study->energy_dt);
}

void stability_print_json(const struct stability *stability)
{
    struct json json = {.out = stdout};
    const struct study *study = stability->study;
    json_open_object(&json, NULL);
    put_facts(&json, stability);
    put_limits(&json, study);
    put_drifts(&json, study);
    put_accuracies(&json, study);
    put_frequencies(&json, study);
    put_oscillations(&json, study);
    put_map(&json, study);
    json_open_array(&json, "output");
    for (int i = 0; i < stability->file_count; i++)
        json_string(&json, NULL, stability->files[i]);
    json_close_array(&json);
    json_bool(&json, "complete", study->complete);
    json_number(&json, "seconds", study->seconds);
    json_string(&json, "interrupted",
                stability->signal_number ? signals_name(stability->signal_number) : NULL);
    json_close_object(&json);
}
