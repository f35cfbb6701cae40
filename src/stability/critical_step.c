#include "stability/critical_step.h"

#include "base/memory.h"
#include "integrate/integrate.h"
#include "stability/lanczos.h"
#include "stability/step_bounds.h"

struct critical_meter {
    struct majorants *majorants;
    struct lanczos *lanczos; // NULL until it is wanted
};

taut_status REAL_NAME(critical_step_prepare)(struct system *system, bool sharp, taut_error *error)
{
    if (!system->meter)
        system->meter = memory_allocate(system->allocator, 1, sizeof *system->meter);
    if (!system->meter)
        return fail_memory(error, "the critical step");
    struct critical_meter *meter = system->meter;
    taut_status status = TAUT_OK;
    if (!meter->majorants)
        status = REAL_NAME(majorants_make)(system, &meter->majorants, error);
    if (status == TAUT_OK && sharp && !meter->lanczos)
        status = REAL_NAME(lanczos_make)(system, &meter->lanczos, error);
    return status;
}

void REAL_NAME(critical_step_forget)(struct system *system)
{
    if (!system->meter)
        return;
    REAL_NAME(lanczos_free)(system->meter->lanczos);
    REAL_NAME(majorants_free)(system->meter->majorants);
    memory_release(system->allocator, system->meter, 1, sizeof *system->meter);
    system->meter = NULL;
}

uint64_t REAL_NAME(critical_step_bytes)(const struct system *system)
{
    const struct critical_meter *meter = system->meter;
    if (!meter)
        return 0;
    return sizeof *meter + REAL_NAME(majorants_bytes)(meter->majorants) +
           (meter->lanczos ? REAL_NAME(lanczos_bytes)(meter->lanczos) : 0);
}

// How far materials alone are known to allow steps; 0 where they do not tell.
static double rough_step(const struct majorants *majorants, const struct step_bounds *bounds)
{
    double square, damping, least = INFINITY;
    if (!REAL_NAME(majorants_rough)(majorants, &square, &damping))
        return 0;
    for (int f = 0; f < bounds->count; f++)
        least = fmin(least, step_of_form(&bounds->forms[f], square, damping));
    return least;
}

double REAL_NAME(critical_step_up_to)(struct system *system, double most,
                                      const struct worker *worker)
{
    const struct settings *settings = &system->settings;
    const struct majorants *majorants = system->meter->majorants;
    const double slack = 0.002;
    struct step_bounds bounds = {.dt = {most, most}, .slack = slack};
    bounds.count =
        integrator_forms(settings->integrator, settings->position_ratio, true, bounds.forms);
    if (bounds.count == 0)
        return integrator_limit(settings->integrator) > 0 ? most : 0;
    if (rough_step(majorants, &bounds) >= most)
        return most;
    REAL_NAME(majorants_update)(system->meter->majorants, worker);
    REAL_NAME(step_bounds_find)(majorants, system, &bounds, worker);
    double least = most;
    for (int f = 0; f < bounds.count; f++)
        least = fmin(least, bounds.dt[f]);
    return least < most ? (1 - slack) * least : most;
}

// The forms of all integrators, each once: most have the same.
struct form_list {
    int count;
    struct step_form forms[STEP_FORMS_MAX];
    uint32_t users[STEP_FORMS_MAX]; // a bit for each integrator that has it
};

static void list_form(struct form_list *list, struct step_form form, int integrator)
{
    int f = 0;
    while (f < list->count &&
           (list->forms[f].stiffness != form.stiffness || list->forms[f].damping != form.damping ||
            list->forms[f].limit != form.limit))
        f++;
    if (f == list->count) {
        list->forms[list->count++] = form;
        list->users[f] = 0;
    }
    list->users[f] |= (uint32_t)1 << integrator;
}

static struct form_list list_forms(const struct system *system, bool damped)
{
    struct form_list list = {.count = 0};
    for (int i = 0; i < INTEGRATOR_COUNT; i++) {
        struct step_form forms[INTEGRATOR_FORMS_MAX];
        int count =
            integrator_forms((enum integrator)i, system->settings.position_ratio, damped, forms);
        for (int f = 0; f < count; f++)
            list_form(&list, forms[f], i);
    }
    return list;
}

// Each integrator's step from those of its forms; without one all steps are stable, or none is.
static void share_out(const struct form_list *list, const double *steps, double *by_integrator)
{
    for (int i = 0; i < INTEGRATOR_COUNT; i++) {
        by_integrator[i] = integrator_limit((enum integrator)i) > 0 ? INFINITY : 0;
        for (int f = 0; f < list->count; f++)
            if (list->users[f] >> i & 1)
                by_integrator[i] = fmin(by_integrator[i], steps[f]);
    }
}

// The step that the symplectic ones are allowed, which most have in common.
static double find_common(struct system *system, const struct step_form *form,
                          const struct worker *worker)
{
    struct step_bounds bounds = {.count = 1, .forms = {*form}, .dt = {INFINITY}, .slack = 0.001};
    REAL_NAME(step_bounds_find)(system->meter->majorants, system, &bounds, worker);
    return bounds.dt[0];
}

// Improves the amplitudes at the present state for as long as it pays.
static void level(struct system *system, const struct worker *worker)
{
    enum { PASSES = 8 };
    const double worth = 1.005;
    const struct step_form form = {1, 2, 4};
    struct majorants *majorants = system->meter->majorants;
    REAL_NAME(majorants_forget)(majorants, true, worker);
    (void)REAL_NAME(majorants_use_crowds)(majorants, false, worker);
    double least = find_common(system, &form, worker);
    if (REAL_NAME(majorants_use_crowds)(majorants, true, worker)) {
        double crowded = find_common(system, &form, worker);
        if (!(crowded > least))
            (void)REAL_NAME(majorants_use_crowds)(majorants, false, worker);
        least = fmax(least, crowded);
    }
    for (int pass = 0; pass < PASSES && isfinite(least); pass++) {
        REAL_NAME(majorants_level)(majorants, &form, least, worker);
        double next = find_common(system, &form, worker);
        if (next < least)
            REAL_NAME(majorants_forget)(majorants, false, worker);
        if (next < worth * least)
            return;
        least = next;
    }
}

// Where the bound is set: of nodes that allow as much but for round-off, which depends on their
// numbers, the first that the user has.
static uint64_t find_node(struct system *system, double bound, const struct worker *worker)
{
    const double ties = sizeof(real) == sizeof(float) ? 1e-5 : 1e-9;
    struct step_bounds bounds = {.count = 1,
                                 .forms = {{1, 0, 4}},
                                 .dt = {bound * (1 + ties)},
                                 .slack = -1e-5,
                                 .names = true};
    if (!isfinite(bound))
        return 0;
    REAL_NAME(step_bounds_find)(system->meter->majorants, system, &bounds, worker);
    return bounds.node;
}

// Bounds: of omega, of c, and then of the forms.
static void find_bounds(struct system *system, struct critical_step *result,
                        const struct worker *worker)
{
    const struct majorants *majorants = system->meter->majorants;
    struct step_bounds bounds = {
        .count = 2, .forms = {{1, 0, 4}, {0, 1, 1}}, .dt = {INFINITY, INFINITY}, .slack = -1e-5};
    level(system, worker);
    REAL_NAME(step_bounds_find)(majorants, system, &bounds, worker);
    result->bound = bounds.dt[0];
    result->omega = 2 / bounds.dt[0];
    result->damping = 1 / bounds.dt[1];
    result->node = find_node(system, bounds.dt[0], worker);
    struct form_list list = list_forms(system, result->damping > 0);
    bounds.count = list.count;
    for (int f = 0; f < list.count; f++) {
        bounds.forms[f] = list.forms[f];
        bounds.dt[f] = INFINITY;
    }
    REAL_NAME(step_bounds_find)(majorants, system, &bounds, worker);
    share_out(&list, bounds.dt, result->dt);
}

// Where the largest eigenvalue of s h^2 K + d h C reaches the limit. The damping that the largest
// one sees is reckoned from each h that was tried: at once right where K and C share the mode.
static double sharp_step(struct system *system, const struct step_form *form, double square,
                         bool damped, const struct worker *worker)
{
    enum { TRIES = 8 };
    struct lanczos *lanczos = system->meter->lanczos;
    if (form->stiffness == 0)
        return step_of_form(form, 0, REAL_NAME(lanczos_largest)(lanczos, 0, 1, worker));
    double h = step_of_form(form, square, 0);
    for (int i = 0; damped && form->damping > 0 && i < TRIES; i++) {
        double stiffness = form->stiffness * h * h, linear = form->damping * h;
        double found = REAL_NAME(lanczos_largest)(lanczos, stiffness, linear, worker);
        double damping = fmax(0, (found - stiffness * square) / linear);
        double next = step_of_form(form, square, damping);
        bool same = fabs(next - h) <= 1e-5 * h;
        h = next;
        if (same)
            break;
    }
    return h;
}

static void find_sharp(struct system *system, struct critical_step *result,
                       const struct worker *worker)
{
    struct lanczos *lanczos = system->meter->lanczos;
    REAL_NAME(lanczos_update)(lanczos, REAL_NAME(moment_now)(system), worker);
    double square = fmax(0, REAL_NAME(lanczos_largest)(lanczos, 1, 0, worker));
    result->sharp_omega = sqrt(square);
    result->sharp = square > 0 ? 2 / result->sharp_omega : 0;
    bool damped = result->damping > 0;
    struct form_list list = list_forms(system, damped);
    double steps[STEP_FORMS_MAX] = {0};
    for (int f = 0; f < list.count; f++)
        steps[f] = sharp_step(system, &list.forms[f], square, damped, worker);
    share_out(&list, steps, result->sharp_dt);
}

void REAL_NAME(critical_step_measure)(struct system *system, bool sharp,
                                      struct critical_step *result, const struct worker *worker)
{
    struct critical_step found = {0};
    find_bounds(system, &found, worker);
    if (sharp)
        find_sharp(system, &found, worker);
    if (worker->index == 0) {
        *result = found;
        result->known = isfinite(found.bound) &&
                        REAL_NAME(stiffest_spring)(system, found.node, &result->spring);
        result->node = topology_node_outside(system->topology, found.node);
        result->spring = topology_spring_outside(system->topology, result->spring);
        if (!isfinite(found.bound))
            result->bound = result->omega = 0;
    }
    worker_barrier(worker);
}

bool REAL_NAME(critical_step_exceeded)(struct system *system, double dt,
                                       const struct worker *worker)
{
    const struct settings *settings = &system->settings;
    struct lanczos *lanczos = system->meter->lanczos;
    struct step_form forms[INTEGRATOR_FORMS_MAX];
    int count = integrator_forms(settings->integrator, settings->position_ratio, true, forms);
    REAL_NAME(lanczos_update)(lanczos, REAL_NAME(moment_now)(system), worker);
    bool exceeded = false;
    for (int f = 0; f < count && !exceeded; f++)
        exceeded = REAL_NAME(lanczos_exceeds)(lanczos, forms[f].stiffness * dt * dt,
                                              forms[f].damping * dt, forms[f].limit, worker);
    return exceeded;
}
