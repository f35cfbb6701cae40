// Finds the largest stable step by bisection on actual runs: by their energies, and by the growth
// of small perturbations (growth.c).
#include <stdlib.h>

#include "study/setup.h"

static const double LARGEST = 1000, SMALLEST = 1e-3; // in units
static const double WANTED = 1.0005;                 // final ratio of unstable to stable step
// Final ratios of the ends of the undecided range to the stable and the unstable step, and the
// ratio of unstable to stable within which an undecided range still counts as found.
static const double WANTED_GRAY = 1.004, FOUND_GRAY = 1.02;
static const double GRAY_DEPTH = 8; // a stable step is searched down to this fraction of the
                                    // undecided range

struct search {
    struct setup *setup;
    struct study_limit *limit;
    struct trace *trace;
    bool small; // judge by perturbations instead of energies
    struct path_baseline baseline;
    enum study_verdict verdict; // of the last step tried
    double gray[2];             // s, the smallest and largest undecided step, or NAN
};

// Runs with long steps have fewer of them, since instabilities show at once.
static uint64_t steps_at(const struct setup *setup, double dt)
{
    double units = dt / setup->study->unit, steps = (double)setup->limit_steps;
    if (units > 4)
        steps = fmax(64, steps / 4);
    else if (units < 1)
        steps = fmin(steps / units, 4 * steps);
    return (uint64_t)ceil(steps);
}

static taut_status try_energies(struct search *search, double dt, taut_error *error)
{
    struct trace *trace = search->trace;
    enum { SAMPLES = 64 };
    struct variant variant = variant_of(search->limit->integrator, dt);
    variant.kick = search->setup->kick;
    trace->steps = steps_at(search->setup, dt);
    trace->samples = SAMPLES;
    trace->scale = &search->setup->scale;
    taut_status status = trace_variant(search->setup, &variant, trace, error);
    search->limit->steps += trace->done;
    search->verdict = trace->verdict;
    return status;
}

// A step at which energies grow needs no other evidence.
static taut_status decide_by_energies(struct search *search, double dt, taut_error *error)
{
    taut_status status = try_energies(search, dt, error);
    if (status == TAUT_OK && search->verdict == STUDY_STABLE)
        search->verdict = STUDY_UNDECIDED;
    return status;
}

static taut_status try_step(struct search *search, double dt, taut_error *error)
{
    struct study_limit *limit = search->limit;
    taut_status status =
        search->small ? growth_classify(search->setup, limit->integrator, dt, &search->baseline,
                                        &search->verdict, &limit->steps, error)
                      : try_energies(search, dt, error);
    limit->runs++;
    if (status == TAUT_OK && search->verdict == STUDY_UNDECIDED)
        status = decide_by_energies(search, dt, error);
    if (status != TAUT_OK)
        return status;
    if (search->verdict == STUDY_UNDECIDED) {
        search->gray[0] = fmin(dt, search->gray[0]); // fmin of NAN and a number is the number
        search->gray[1] = fmax(dt, search->gray[1]);
    }
    if (search->verdict == STUDY_STABLE && !(dt < limit->stable))
        limit->stable = dt;
    if (search->verdict == STUDY_UNSTABLE && !(dt > limit->unstable))
        limit->unstable = dt;
    return status;
}

static bool is_decidable(const struct search *search, taut_status status)
{
    return status == TAUT_OK && search->verdict != STUDY_UNKNOWN;
}

// Searches outwards from a step near the limit until a stable and an unstable step are known, or
// the range is exhausted.
static taut_status bracket(struct search *search, double near, taut_error *error)
{
    struct study_limit *limit = search->limit;
    double unit = search->setup->study->unit, dt = near * 1.1;
    taut_status status = try_step(search, dt, error);
    double by = 1.25;
    while (is_decidable(search, status) && isnan(limit->unstable)) {
        if (dt >= LARGEST * unit)
            return status;
        dt = fmin(dt * by, LARGEST * unit);
        by = 2;
        status = try_step(search, dt, error);
    }
    by = 0.9 / 1.1;
    while (is_decidable(search, status) && isnan(limit->stable)) {
        if (dt <= SMALLEST * unit)
            return status;
        dt *= by;
        by = 0.5;
        status = try_step(search, dt, error);
    }
    return status;
}

// Whether there are undecided steps between the largest stable and the smallest unstable one.
static bool is_gray(const struct search *search)
{
    const struct study_limit *limit = search->limit;
    return !isnan(search->gray[0]) && !(search->gray[1] <= limit->stable) &&
           !(search->gray[0] >= limit->unstable);
}

// The next step to try; 0: none.
static double middle_of(const struct search *search)
{
    const struct study_limit *limit = search->limit;
    const double stable = limit->stable, unstable = limit->unstable;
    if (!is_gray(search))
        return unstable > WANTED * stable ? sqrt(stable * unstable) : 0;
    double below = isnan(stable) ? 1 : fmax(search->gray[0], stable) / stable;
    double above = unstable / fmin(search->gray[1], unstable);
    if (below <= WANTED_GRAY && above <= WANTED_GRAY)
        return 0;
    return below > above ? stable * sqrt(below) : unstable / sqrt(above);
}

static taut_status bisect(struct search *search, taut_error *error)
{
    taut_status status = TAUT_OK;
    double dt = middle_of(search);
    while (is_decidable(search, status) && dt > 0) {
        status = try_step(search, dt, error);
        dt = middle_of(search);
    }
    return status;
}

// Searches downwards from a step at which perturbations grow or may grow. If the motion has not
// changed since the start, the limit is the predicted one.
static taut_status bracket_below(struct search *search, taut_error *error)
{
    static const double AROUND = 0.004;
    struct study_limit *limit = search->limit;
    const double predicted = limit->predicted;
    taut_status status = TAUT_OK;
    if (predicted * (1 + AROUND) < limit->unstable)
        status = try_step(search, predicted * (1 + AROUND), error);
    if (is_decidable(search, status) && isnan(limit->stable) &&
        predicted * (1 - AROUND) < limit->unstable)
        status = try_step(search, predicted * (1 - AROUND), error);
    double by = 0.95;
    while (is_decidable(search, status) && isnan(limit->stable)) {
        double least = SMALLEST * search->setup->study->unit, from = limit->unstable;
        if (is_gray(search)) {
            from = fmin(from, search->gray[0]);
            least = fmin(predicted, search->gray[1]) / GRAY_DEPTH;
        }
        if (from <= least)
            break;
        status = try_step(search, from * fmax(by, 0.5), error);
        by *= by;
    }
    return status;
}

// Tests whether perturbations stay small at the largest step that energies show as stable. If not,
// finds the largest step at which they do, starting from `small`, where they do, or NAN.
static taut_status bisect_small(struct search *search, double *small, taut_error *error)
{
    struct study_limit *limit = search->limit;
    double stable = limit->stable, unstable = limit->unstable;
    search->small = true;
    limit->stable = *small;
    limit->unstable = NAN;
    search->gray[0] = search->gray[1] = NAN;
    taut_status status =
        stable > *small || isnan(*small) ? try_step(search, stable, error) : TAUT_OK;
    if (isnan(limit->unstable))
        limit->unstable = unstable;
    if (limit->unstable == unstable && isnan(search->gray[0])) {
        *small = limit->stable;
    } else {
        if (isnan(limit->stable))
            status = is_decidable(search, status) ? bracket_below(search, error) : status;
        if ((!isnan(limit->stable) || is_gray(search)) && is_decidable(search, status))
            status = bisect(search, error);
    }
    search->small = false;
    return status;
}

// Bisects by energies first, at large steps, which cost less. If time runs out, the bracket found
// by then is reported, and study.complete shows that it may be wider than usual.
static taut_status refine(struct search *search, taut_error *error)
{
    struct study_limit *limit = search->limit;
    const bool explicit = limit->integrator <= INTEGRATOR_RK4;
    double small = NAN, unstable = limit->unstable;
    taut_status status = TAUT_OK;
    if (explicit)
        status = bisect_small(search, &small, error);
    if (is_decidable(search, status) && !isnan(limit->unstable) &&
        (!explicit || (limit->unstable == unstable && !is_gray(search)))) {
        status = bisect(search, error);
        if (explicit && is_decidable(search, status))
            status = bisect_small(search, &small, error);
    }
    // In scenes that conserve energy, energies decide between steps this close together.
    if (is_decidable(search, status) && is_gray(search) &&
        integrator_limit(limit->integrator) > 0 && search->setup->conservative &&
        limit->unstable <= FOUND_GRAY * limit->stable) {
        limit->stable = search->gray[1];
        status = bisect(search, error);
    }
    if (status != TAUT_OK)
        return status;
    const bool gray = is_gray(search);
    if (gray && !(limit->unstable <= FOUND_GRAY * limit->stable)) {
        limit->kind = STUDY_LIMIT_UNDECIDED;
    } else if (isnan(limit->stable)) {
        if (search->verdict != STUDY_UNKNOWN)
            limit->kind = STUDY_LIMIT_GROWS;
    } else if (isnan(limit->unstable)) {
        limit->kind = STUDY_LIMIT_BEYOND;
    } else {
        limit->measured = sqrt(limit->stable * limit->unstable);
        limit->kind = STUDY_LIMIT_FOUND;
    }
    return status;
}

// Whether energy also grows at a small step, as theory predicts for methods without a stable step.
static taut_status try_growth(struct search *search, bool *grows, taut_error *error)
{
    struct study_limit *limit = search->limit;
    struct trace *trace = search->trace;
    double dt = 0.1 * search->setup->study->unit;
    taut_status status = try_step(search, dt, error);
    *grows = false;
    if (!is_decidable(search, status) || trace->count < 2)
        return status;
    size_t last = trace->count - 1;
    double time = dt * (double)trace->steps * (double)last / (double)trace->samples;
    double gained = (trace->energies[last] - trace->energies[0]) / search->setup->study->available;
    *grows = gained > 1e-6;
    limit->stable = limit->unstable = NAN;
    if (*grows) {
        limit->growth = log1p(gained) / time;
        limit->unstable = dt;
        limit->kind = STUDY_LIMIT_GROWS;
    }
    return status;
}

static taut_status find_limit(struct setup *setup, void *context, size_t index, taut_error *error)
{
    (void)context;
    struct search search = {.setup = setup,
                            .limit = &setup->study->limits[index],
                            .trace = calloc(1, sizeof(struct trace)),
                            .gray = {NAN, NAN}};
    struct study_limit *limit = search.limit;
    if (!search.trace)
        return fail_memory(error, "a run");
    taut_status status = TAUT_OK;
    bool grows = false;
    if (setup->study->critical.damping == 0 && integrator_limit(limit->integrator) == 0 &&
        limit->integrator <= INTEGRATOR_RK4)
        status = try_growth(&search, &grows, error);
    if (status == TAUT_OK && !grows) {
        status = bracket(&search,
                         isfinite(limit->predicted) ? limit->predicted : setup->study->unit, error);
        if (is_decidable(&search, status) && isnan(limit->stable))
            limit->kind = STUDY_LIMIT_GROWS;
        else if (is_decidable(&search, status))
            status = refine(&search, error);
    }
    free(search.trace);
    return status;
}

taut_status study_limits(struct setup *setup, taut_error *error)
{
    struct study *study = setup->study;
    return run_cases(setup, study->integrator_count, find_limit, NULL, error);
}
