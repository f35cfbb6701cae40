// Runs a study from its options to its results: the parts in order, each with its share of the
// time. The measurements are in files of their own.
#include "study/study.h"

#include <stdlib.h>

#include "base/os.h"
#include "base/memory.h"
#include "study/setup.h"

const char *study_map_name(enum study_map_kind kind)
{
    static const char *const names[STUDY_MAP_KINDS] = {"none", "stiffness", "damping"};
    return names[kind];
}

const char *study_verdict_name(enum study_verdict verdict)
{
    static const char *const names[STUDY_VERDICTS] = {"unknown", "stable", "unstable", "undecided"};
    return names[verdict];
}

const char *study_no_order_name(enum study_no_order reason)
{
    static const char *const names[STUDY_NO_ORDERS] = {"", "runs", "rounding", "solver",
                                                       "irregular"};
    return names[reason];
}

const char *study_no_order_text(enum study_no_order reason)
{
    static const char *const texts[STUDY_NO_ORDERS] = {
        "", "too few stable runs", "errors are of rounding", "errors are of the implicit solver",
        "errors fall at no steady rate"};
    return texts[reason];
}

const char *study_limit_name(enum study_limit_kind kind)
{
    static const char *const names[STUDY_LIMIT_KINDS] = {"unknown", "found", "grows", "beyond",
                                                         "undecided"};
    return names[kind];
}

static taut_status make_lists(struct setup *setup, taut_error *error)
{
    struct study *study = setup->study;
    const struct study_options *options = setup->options;
    size_t count = options->integrators ? options->integrator_count : INTEGRATOR_COUNT;
    study->integrator_count = count;
    study->drift_count = count * STUDY_DRIFT_STEPS;
    study->series_count = count + 1;
    study->integrators = memory_allocate(NULL, count, sizeof *study->integrators);
    study->limits = memory_allocate(NULL, count, sizeof *study->limits);
    study->drifts = memory_allocate(NULL, study->drift_count, sizeof *study->drifts);
    study->series = memory_allocate(NULL, study->series_count, sizeof *study->series);
    study->orders = memory_allocate(NULL, count, sizeof *study->orders);
    setup->reference = memory_allocate(NULL, STUDY_SAMPLES + 1, sizeof *setup->reference);
    if (!study->integrators || !study->limits || !study->drifts || !study->series ||
        !study->orders || !setup->reference)
        return fail_memory(error, "the results");
    for (size_t i = 0; i < count; i++)
        study->integrators[i] = options->integrators ? options->integrators[i] : (enum integrator)i;
    return TAUT_OK;
}

// Initialises all results as not measured.
static void clear_lists(struct study *study)
{
    for (size_t i = 0; i < study->integrator_count; i++) {
        enum integrator integrator = study->integrators[i];
        study->limits[i] = (struct study_limit){.integrator = integrator,
                                                .predicted = NAN,
                                                .measured = NAN,
                                                .stable = NAN,
                                                .unstable = NAN,
                                                .growth = NAN};
        study->orders[i] = (struct study_order){
            .integrator = integrator, .reason = STUDY_ORDER_RUNS, .order = NAN, .floor = NAN};
        study->series[i].integrator = integrator;
    }
    study->series[study->integrator_count].reference = true;
    for (size_t i = 0; i < study->drift_count; i++)
        study->drifts[i] =
            (struct study_drift){.integrator = study->integrators[i / STUDY_DRIFT_STEPS],
                                 .drift = NAN,
                                 .deviation = NAN};
}

// The parts, and the time by which each must end, as fractions of the budget. Estimated times are
// those of a slow core, so that all parts together usually take less than one budget; on a busy
// machine every part is shortened, instead of omitting the last ones.
static const struct {
    const char *name;
    taut_status (*measure)(struct setup *setup, taut_error *error);
    double until;
} PARTS[] = {
    {"the reference run", study_reference, 0.15},
    {"limits", study_limits, 0.5},
    {"drift", study_drifts, 0.68},
    {"accuracy", study_accuracies, 0.82},
    {"frequencies", study_frequencies, 0.86},
    {"the scene's oscillation", study_oscillations, 0.9},
    {"the map", study_maps, 1},
};

enum { PART_COUNT = sizeof PARTS / sizeof PARTS[0] };

static const double TIME_LIMIT = 1.5; // budgets
static const double SHARE_MIN =
    0.5; // of its own time, which a part gets even if others took longer

static void predict(struct setup *setup)
{
    struct study *study = setup->study;
    for (size_t i = 0; i < study->integrator_count; i++)
        study->limits[i].predicted = predicted_step(study->integrators[i], &study->critical);
}

static taut_status measure_parts(struct setup *setup, double begin, taut_error *error)
{
    const struct study_options *options = setup->options;
    double time_limit =
        options->budget * (options->time_limit > 0 ? options->time_limit : TIME_LIMIT);
    taut_status status = TAUT_OK;
    setup->study->complete = true;
    for (int part = 0; part < PART_COUNT && status == TAUT_OK; part++) {
        if (options->progress)
            options->progress(options->context, PARTS[part].name, part, PART_COUNT);
        atomic_store(&setup->late, false);
        double until = PARTS[part].until, share = part > 0 ? until - PARTS[part - 1].until : until;
        double least = clock_seconds() + SHARE_MIN * share * time_limit;
        setup->deadline = begin + fmin(time_limit, fmax(until * time_limit, least - begin));
        status = PARTS[part].measure(setup, error);
        if (part == 0 && status == TAUT_OK)
            predict(setup);
        if (atomic_load(&setup->late) || atomic_load(&setup->stopped))
            setup->study->complete = false;
        // Without a reference run, or after a stop, nothing more can be measured.
        if (isnan(setup->study->available) || atomic_load(&setup->stopped))
            break;
    }
    return status;
}

taut_status study_make(const taut_scene *scene, const struct study_options *options,
                       struct study **result, taut_error *error)
{
    double begin = clock_seconds();
    struct study *study = *result = memory_allocate(NULL, 1, sizeof *study);
    if (!study)
        return fail_memory(error, "the results");
    struct setup setup = {.scene = scene, .options = options, .study = study};
    taut_status status = make_lists(&setup, error);
    if (status == TAUT_OK) {
        clear_lists(study);
        status = measure_parts(&setup, begin, error);
    }
    bases_free(&setup.bases);
    memory_release(NULL, setup.reference, STUDY_SAMPLES + 1, sizeof *setup.reference);
    study->seconds = clock_seconds() - begin;
    return status;
}

void study_free(struct study *study)
{
    if (!study)
        return;
    size_t count = study->integrator_count;
    struct study_map *map = &study->map;
    memory_release(NULL, study->integrators, count, sizeof *study->integrators);
    memory_release(NULL, study->limits, count, sizeof *study->limits);
    memory_release(NULL, study->drifts, study->drift_count, sizeof *study->drifts);
    for (size_t i = 0; study->series && i < study->series_count; i++)
        memory_release(NULL, study->series[i].points, STUDY_SAMPLES + 1,
                       sizeof *study->series[i].points);
    memory_release(NULL, study->series, study->series_count, sizeof *study->series);
    memory_release(NULL, study->accuracies, study->accuracy_count, sizeof *study->accuracies);
    memory_release(NULL, study->orders, count, sizeof *study->orders);
    memory_release(NULL, study->frequencies, study->frequency_count, sizeof *study->frequencies);
    memory_release(NULL, study->oscillations, study->oscillation_count,
                   sizeof *study->oscillations);
    memory_release(NULL, map->factors, map->row_count, sizeof *map->factors);
    memory_release(NULL, map->steps, map->column_count, sizeof *map->steps);
    memory_release(NULL, map->predicted, count * map->row_count, sizeof *map->predicted);
    memory_release(NULL, map->cells, count * map->row_count * map->column_count,
                   sizeof *map->cells);
    memory_release(NULL, study, 1, sizeof *study);
}

const struct study_accuracy *study_cheapest(const struct study *study, enum integrator integrator,
                                            double error)
{
    const struct study_accuracy *best = NULL;
    for (size_t i = 0; i < study->accuracy_count; i++) {
        const struct study_accuracy *it = &study->accuracies[i];
        if (it->integrator == integrator && it->error <= error &&
            (!best || it->evaluations < best->evaluations))
            best = it;
    }
    return best;
}
