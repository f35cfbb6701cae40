#include "base/clock.h"
#include "study/lab.h"

// Near its limit a stable run may well turn a small part of its energy into a large one and back:
// symplectic Euler multiplies an oscillator's by up to 1 / (1 - y / 2). That shows in the first
// steps already; what has grown after them, and stays, is unstable. It need not grow without end:
// ropes and cloths that buzz have softer modes than those at rest.
static const double GROWTH_AT_ONCE = 1e4, GROWTH_LATE = 2, GROWTH_SINCE_EARLY = 3;
static const double EARLY_MOST = 400; // more than that has grown, not swung, within so few steps
// At no regular distance, so that no oscillation hides between them.
static const uint64_t EARLY[] = {1, 2, 3, 5, 8, 13, 21, 32};
enum { EARLY_COUNT = sizeof EARLY / sizeof EARLY[0] };

// Energy gained, in what is available by then.
static double excess(const struct yardstick *yardstick, double gained, double time)
{
    double longer = fmax(1, time / yardstick->time);
    return gained / (yardstick->available * longer * longer);
}

static enum study_verdict judge(const struct trace *trace, double dt)
{
    if (!trace->yardstick)
        return STUDY_STABLE;
    size_t late = trace->samples * 3 / 4;
    double sum = 0;
    for (size_t i = late; i <= trace->samples; i++) {
        double time = dt * (double)trace->steps * (double)i / (double)trace->samples;
        sum += excess(trace->yardstick, trace->energies[i] - trace->energies[0], time);
    }
    double mean = sum / (double)(trace->samples + 1 - late);
    bool grown = mean > fmax(GROWTH_LATE, GROWTH_SINCE_EARLY * fmin(trace->early, EARLY_MOST));
    return grown ? STUDY_UNSTABLE : STUDY_STABLE;
}

// False if the run is seen to be unstable.
static bool look(taut_solver *solver, struct trace *trace, double *energy)
{
    taut_energy now = {0};
    solver_look(solver, false, &now);
    if (!isfinite(now.total) || !isfinite(now.kinetic))
        return false;
    *energy = now.total;
    trace->kinetic_max = fmax(trace->kinetic_max, now.kinetic);
    if (!trace->yardstick || trace->done == 0)
        return true;
    double gained =
        excess(trace->yardstick, now.total - trace->energies[0], taut_solver_time(solver));
    if (trace->done <= EARLY[EARLY_COUNT - 1])
        trace->early = fmax(trace->early, gained);
    return gained < GROWTH_AT_ONCE;
}

static taut_status advance_to(taut_solver *solver, struct trace *trace, uint64_t until,
                              taut_error *error)
{
    taut_status status = TAUT_OK;
    double unused;
    for (int i = 0; i < EARLY_COUNT && status == TAUT_OK && trace->yardstick; i++) {
        if (EARLY[i] <= trace->done || EARLY[i] >= until)
            continue;
        status = solver_advance(solver, EARLY[i] - trace->done, true, error);
        trace->done = taut_solver_step_count(solver);
        if (status == TAUT_OK)
            (void)look(solver, trace, &unused);
    }
    if (status == TAUT_OK)
        status = solver_advance(solver, until - trace->done, true, error);
    trace->done = taut_solver_step_count(solver);
    return status;
}

taut_status trace_run(struct lab *lab, taut_solver *solver, struct trace *trace, taut_error *error)
{
    trace->verdict = STUDY_UNKNOWN;
    trace->count = 0;
    trace->done = 0;
    trace->kinetic_max = trace->early = 0;
    taut_status status = TAUT_OK;
    bool sound = look(solver, trace, &trace->energies[0]);
    trace->count = 1;
    for (size_t i = 1; i <= trace->samples && sound; i++) {
        if (lab_ends(lab))
            return TAUT_OK;
        uint64_t until = (uint64_t)round((double)trace->steps * (double)i / (double)trace->samples);
        status = advance_to(solver, trace, until, error);
        trace->energies[i] = NAN;
        sound = status == TAUT_OK && look(solver, trace, &trace->energies[i]);
        trace->count += isfinite(trace->energies[i]);
    }
    trace->seconds = solver->step_seconds;
    // Gas without room is what an unstable surface comes to.
    if (status == TAUT_ERROR_DIVERGED || status == TAUT_ERROR_COLLAPSED)
        status = TAUT_OK;
    trace->verdict = sound ? judge(trace, taut_solver_dt(solver)) : STUDY_UNSTABLE;
    return status;
}

taut_status trace_variant(struct lab *lab, const struct variant *variant, struct trace *trace,
                          taut_error *error)
{
    taut_solver *solver;
    trace->verdict = STUDY_UNKNOWN;
    taut_status status = variant_open(lab, variant, &solver, error);
    // The scene as it is has been built: it is this integrator that cannot run it.
    if (status == TAUT_ERROR_SCENE || status == TAUT_ERROR_UNSUPPORTED)
        return TAUT_OK;
    if (status == TAUT_OK)
        status = trace_run(lab, solver, trace, error);
    taut_solver_destroy(solver);
    return status;
}

// On one core of some years ago. Integrators beyond the explicit ones solve equations in a step.
double reckon_run(const struct lab *lab, enum integrator integrator, double steps, double looks)
{
    const struct study *study = lab->study;
    double springs = (double)study->springs, others = (double)(study->nodes + study->faces);
    double evaluations = integrator == INTEGRATOR_RK4        ? 4
                         : integrator == INTEGRATOR_MIDPOINT ? 2
                         : integrator > INTEGRATOR_RK4       ? 10
                                                             : 1;
    double step = 2e-6 + evaluations * (3e-9 * springs + 6e-9 * others);
    double look = 2e-6 + 1e-8 * (springs + others), opening = 1e-4 + 1e-7 * (springs + others);
    return opening + steps * step + looks * look;
}
