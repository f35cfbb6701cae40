// Measures energy drift: at several steps, relative to the reference run at the same times.
#include <stdlib.h>

#include "base/memory.h"
#include "study/setup.h"

static const double DRIFT_STEPS[STUDY_DRIFT_STEPS] = {0.8, 0.4, 0.2, 0.1}; // units
enum { SERIES_STEP = 1 };                                                  // index in DRIFT_STEPS

// The largest step of at most `units` at which the window has STUDY_SAMPLES equal parts.
static double step_near(const struct study *study, double units)
{
    double exact = study->window / (units * study->unit);
    return study->window / (STUDY_SAMPLES * ceil(exact / STUDY_SAMPLES - 1e-9));
}

// The slope of the differences over time, by least squares.
static double slope(const struct setup *setup, const struct trace *trace)
{
    double step = setup->study->window / STUDY_SAMPLES, middle = STUDY_SAMPLES / 2.0;
    double products = 0, squares = 0;
    for (size_t i = 0; i < trace->count; i++) {
        double time = step * ((double)i - middle);
        double gained = trace->energies[i] - trace->energies[0];
        products += time * (gained - (setup->reference[i] - setup->reference[0]));
        squares += time * time;
    }
    return products / squares / setup->scale.available;
}

static double deviation(const struct setup *setup, const struct trace *trace)
{
    double largest = 0;
    for (size_t i = 0; i < trace->count; i++) {
        double gained = trace->energies[i] - trace->energies[0];
        largest = fmax(largest, fabs(gained - (setup->reference[i] - setup->reference[0])));
    }
    return largest / setup->scale.available;
}

static taut_status make_series(const struct setup *setup, const double *energies, size_t count,
                               struct study_series *series, taut_error *error)
{
    series->points = memory_allocate(NULL, STUDY_SAMPLES + 1, sizeof *series->points);
    if (!series->points)
        return fail_memory(error, "the energies of a run");
    series->point_count = count;
    for (size_t i = 0; i < count; i++)
        series->points[i] =
            (struct study_point){setup->study->window * (double)i / STUDY_SAMPLES,
                                 (energies[i] - energies[0]) / setup->scale.available};
    return TAUT_OK;
}

static taut_status measure_drift(struct setup *setup, void *context, size_t index,
                                 taut_error *error)
{
    (void)context;
    struct study *study = setup->study;
    struct study_drift *drift = &study->drifts[index];
    struct trace *trace = calloc(1, sizeof *trace);
    if (!trace)
        return fail_memory(error, "a run");
    struct variant variant = variant_of(drift->integrator, drift->dt);
    variant.kick = study->at_rest ? setup->kick : 0;
    trace->steps = drift->steps;
    trace->samples = STUDY_SAMPLES;
    trace->scale = &setup->scale;
    taut_status status = trace_variant(setup, &variant, trace, error);
    drift->verdict = trace->verdict;
    if (status == TAUT_OK && drift->verdict == STUDY_STABLE) {
        drift->drift = slope(setup, trace);
        drift->deviation = deviation(setup, trace);
    }
    size_t integrator = index / STUDY_DRIFT_STEPS;
    if (status == TAUT_OK && index % STUDY_DRIFT_STEPS == SERIES_STEP)
        status =
            make_series(setup, trace->energies, trace->count, &study->series[integrator], error);
    free(trace);
    return status;
}

taut_status study_drifts(struct setup *setup, taut_error *error)
{
    struct study *study = setup->study;
    for (size_t i = 0; i < study->drift_count; i++) {
        struct study_drift *drift = &study->drifts[i];
        drift->dt = step_near(study, DRIFT_STEPS[i % STUDY_DRIFT_STEPS]);
        drift->steps = (uint64_t)round(study->window / drift->dt);
    }
    study->energy_dt = step_near(study, DRIFT_STEPS[SERIES_STEP]);
    for (size_t i = 0; i < study->integrator_count; i++)
        study->series[i].dt = study->energy_dt;
    taut_status status = run_cases(setup, study->drift_count, measure_drift, NULL, error);
    if (status == TAUT_OK)
        status = make_series(setup, setup->reference, STUDY_SAMPLES + 1,
                             &study->series[study->integrator_count], error);
    return status;
}
