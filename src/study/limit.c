// The largest stable step, by bisection on real runs.
#include <stdlib.h>

#include "study/lab.h"

static const double LARGEST = 1000, SMALLEST = 1e-3; // units to try
static const double WANTED = 1.0005;                 // the ratio of unstable to stable, in the end

struct search {
    struct lab *lab;
    struct study_limit *limit;
    struct trace *trace;
};

// Long steps are fewer: whatever grows at them does so at once.
static uint64_t steps_at(const struct lab *lab, double dt)
{
    double units = dt / lab->study->unit, steps = (double)lab->limit_steps;
    if (units > 4)
        steps = fmax(64, steps / 4);
    else if (units < 1)
        steps = fmin(steps / units, 4 * steps);
    return (uint64_t)ceil(steps);
}

static taut_status try_step(struct search *search, double dt, taut_error *error)
{
    struct study_limit *limit = search->limit;
    struct trace *trace = search->trace;
    enum { LOOKS = 64 };
    struct variant variant = variant_of(limit->integrator, dt);
    variant.kick = search->lab->kick;
    trace->steps = steps_at(search->lab, dt);
    trace->samples = LOOKS;
    trace->yardstick = &search->lab->yardstick;
    taut_status status = trace_variant(search->lab, &variant, trace, error);
    limit->runs++;
    limit->steps += trace->done;
    if (status != TAUT_OK)
        return status;
    if (trace->verdict == STUDY_STABLE && !(dt < limit->stable))
        limit->stable = dt;
    if (trace->verdict == STUDY_UNSTABLE && !(dt > limit->unstable))
        limit->unstable = dt;
    return status;
}

static bool goes_on(const struct search *search, taut_status status)
{
    return status == TAUT_OK && search->trace->verdict != STUDY_UNKNOWN;
}

// From a step near to the limit outwards until there is a stable and an unstable one, or no more to
// try.
static taut_status bracket(struct search *search, double near, taut_error *error)
{
    struct study_limit *limit = search->limit;
    double unit = search->lab->study->unit, dt = near * 1.1;
    taut_status status = try_step(search, dt, error);
    for (double by = 1.25; goes_on(search, status) && isnan(limit->unstable); by = 2) {
        if (dt >= LARGEST * unit)
            return status;
        dt = fmin(dt * by, LARGEST * unit);
        status = try_step(search, dt, error);
    }
    for (double by = 0.9 / 1.1; goes_on(search, status) && isnan(limit->stable); by = 0.5) {
        if (dt <= SMALLEST * unit)
            return status;
        dt *= by;
        status = try_step(search, dt, error);
    }
    return status;
}

// Where time is over before it is done, what has been found by then is told: study.complete says
// that it may be more exact.
static taut_status bisect(struct search *search, taut_error *error)
{
    struct study_limit *limit = search->limit;
    taut_status status = TAUT_OK;
    while (goes_on(search, status) && limit->unstable > WANTED * limit->stable)
        status = try_step(search, sqrt(limit->stable * limit->unstable), error);
    if (status != TAUT_OK)
        return status;
    limit->measured = sqrt(limit->stable * limit->unstable);
    limit->kind = STUDY_LIMIT_FOUND;
    return status;
}

// Whether energy grows at a small step too, as theory says of integrators without a limit.
static taut_status try_growth(struct search *search, bool *grows, taut_error *error)
{
    struct study_limit *limit = search->limit;
    struct trace *trace = search->trace;
    double dt = 0.1 * search->lab->study->unit;
    taut_status status = try_step(search, dt, error);
    *grows = false;
    if (!goes_on(search, status) || trace->count < 2)
        return status;
    size_t last = trace->count - 1;
    double time = dt * (double)trace->steps * (double)last / (double)trace->samples;
    double gained = (trace->energies[last] - trace->energies[0]) / search->lab->study->available;
    *grows = gained > 1e-6;
    limit->stable = limit->unstable = NAN;
    if (*grows) {
        limit->growth = log1p(gained) / time;
        limit->unstable = dt;
        limit->kind = STUDY_LIMIT_GROWS;
    }
    return status;
}

static taut_status find_limit(struct lab *lab, void *context, size_t index, taut_error *error)
{
    (void)context;
    struct search search = {lab, &lab->study->limits[index], calloc(1, sizeof(struct trace))};
    struct study_limit *limit = search.limit;
    if (!search.trace)
        return fail_memory(error, "a run");
    taut_status status = TAUT_OK;
    bool grows = false;
    if (lab->study->critical.damping == 0 && integrator_limit(limit->integrator) == 0 &&
        limit->integrator <= INTEGRATOR_RK4)
        status = try_growth(&search, &grows, error);
    if (status == TAUT_OK && !grows) {
        status = bracket(&search, isfinite(limit->predicted) ? limit->predicted : lab->study->unit,
                         error);
        if (goes_on(&search, status) && isnan(limit->unstable))
            limit->kind = STUDY_LIMIT_BEYOND;
        else if (goes_on(&search, status) && isnan(limit->stable))
            limit->kind = STUDY_LIMIT_GROWS;
        else if (goes_on(&search, status))
            status = bisect(&search, error);
    }
    free(search.trace);
    return status;
}

taut_status study_limits(struct lab *lab, taut_error *error)
{
    struct study *study = lab->study;
    return lab_cases(lab, study->integrator_count, find_limit, NULL, error);
}
