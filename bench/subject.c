// Scenes and solvers of the benchmarks (subject.h).
#include "bench/subject.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "base/text.h"
#include "bench/group.h"
#include "cli/signals.h"
#include "parallel/quota.h"
#include "ranks/ranks.h"

// ---- Building

taut_scene *subject_scene(const struct subject *subject, struct diagnostics *findings,
                          taut_error *error)
{
    // First the overrides of --set, then those that options stand for, which take precedence.
    size_t count = subject->override_count;
    struct scene_override *overrides = calloc(count + 2, sizeof *overrides);
    char *precision = subject->precision ? text_format("precision=%s", subject->precision) : NULL;
    char *integrator =
        subject->integrator ? text_format("simulation.integrator=%s", subject->integrator) : NULL;
    if (!overrides || (subject->precision && !precision) || (subject->integrator && !integrator)) {
        free(overrides);
        free(precision);
        free(integrator);
        fail_memory(error, "the scene");
        return NULL;
    }
    for (size_t i = 0; i < count; i++)
        overrides[i].text = subject->overrides[i];
    if (precision)
        overrides[count++] = (struct scene_override){.text = precision, .wins = true};
    if (integrator)
        overrides[count++] = (struct scene_override){.text = integrator, .wins = true};

    taut_scene *scene =
        subject->scene ? bench_scene_make(subject->scene, subject->springs, overrides, count, error)
                       : scene_read_file(subject->path, overrides, count, findings);
    if (!scene && !subject->scene)
        fail(error, diagnostics_status(findings), "scene '%s': %s", subject->path,
             findings->count > 0 ? findings->items[0].text : "it is not valid");
    if (scene && subject->wind)
        scene->environment.wind = (struct scene_wind){
            .present = true,
            .velocity = {0.5, 0.3, 0.2},
            .law = subject->wind_law,
            .coefficient = 1e-4,
            .relative = true,
        };
    free(overrides);
    free(precision);
    free(integrator);
    return scene;
}

struct solver_options subject_options(const struct subject *subject)
{
    return (struct solver_options){
        .config = {.threads = subject->threads,
                   .kernel = subject->kernel,
                   .no_pin = subject->no_pin,
                   .isa = (taut_isa)(TAUT_ISA_BASE + subject->isa)},
        .budget = subject->energy_budget ? BUDGET_ON : BUDGET_OFF,
        .shares = ranks_count() > 1,
    };
}

taut_status subject_build(const struct subject *subject, const taut_scene *scene,
                          taut_solver **solver, taut_error *error)
{
    const struct solver_options options = subject_options(subject);
    return solver_create(scene, &options, solver, error);
}

// ---- The store: a cache of solvers, which destroys the least recently used one first

enum { STORE_CAPACITY = 96 };

struct stored {
    struct subject subject;
    taut_solver *solver;
    double bytes;
    uint64_t used; // counter value of the last request
};

static struct {
    struct stored items[STORE_CAPACITY];
    int count;
    uint64_t now;
    double bytes, budget; // budget 0: not known yet
} store;

// Solvers may use half of the memory that is free when the first one is built.
static double store_budget(void)
{
    if (store.budget == 0) {
        double left = memory_left_to_this_process().bytes;
        store.budget = isfinite(left) ? left / 2 : INFINITY;
    }
    return store.budget;
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

// Whether one solver serves both subjects: the stage may differ, and the number of threads, which
// is that of the other ranks too.
static bool same_solver(const struct subject *a, const struct subject *b)
{
    return a->scene == b->scene && same_text(a->path, b->path) && a->springs == b->springs &&
           a->overrides == b->overrides && same_text(a->integrator, b->integrator) &&
           same_text(a->precision, b->precision) && a->kernel == b->kernel && a->isa == b->isa &&
           a->energy_budget == b->energy_budget && a->wind == b->wind &&
           a->wind_law == b->wind_law && (ranks_count() == 1 || a->threads == b->threads);
}

static void store_remove(int index)
{
    taut_solver_destroy(store.items[index].solver);
    store.bytes -= store.items[index].bytes;
    store.items[index] = store.items[--store.count];
}

// Destroys the least recently used solvers until the store is within `budget` and has a free slot;
// never the newest, which the caller may still use.
static void store_shrink(double budget)
{
    while (store.count > 1 && (store.bytes > budget || store.count == STORE_CAPACITY)) {
        int oldest = 0;
        for (int i = 1; i < store.count; i++)
            if (store.items[i].used < store.items[oldest].used)
                oldest = i;
        store_remove(oldest);
    }
}

// The other ranks have one solver at a time.
static taut_status build_for_ranks(const struct subject *subject, const taut_scene *scene,
                                   taut_solver **solver, taut_error *error)
{
    subject_release_all();
    return group_build(subject, scene, solver, error);
}

static taut_status store_add(const struct subject *subject, taut_error *error)
{
    struct diagnostics findings = {0};
    taut_scene *scene = subject_scene(subject, &findings, error);
    diagnostics_free(&findings);
    if (!scene)
        return error->code;

    store_shrink(store_budget());
    taut_solver *solver = NULL;
    taut_status status = ranks_count() > 1 ? build_for_ranks(subject, scene, &solver, error)
                                           : subject_build(subject, scene, &solver, error);
    if (status == TAUT_ERROR_MEMORY && store.count > 1) {
        store_shrink(0);
        status = subject_build(subject, scene, &solver, error);
    }
    scene_free(scene);
    if (status != TAUT_OK)
        return status;
    double bytes = (double)solver_bytes(solver);
    store.items[store.count++] =
        (struct stored){.subject = *subject, .solver = solver, .bytes = bytes};
    store.bytes += bytes;
    return TAUT_OK;
}

taut_solver *subject_solver(const struct subject *subject, taut_error *error)
{
    // After a signal nothing is built or stepped.
    if (signals_caught() != 0) {
        fail(error, TAUT_ERROR_ARGUMENT, "interrupted");
        return NULL;
    }
    int found = 0;
    while (found < store.count && !same_solver(&store.items[found].subject, subject))
        found++;
    if (found == store.count) {
        if (store_add(subject, error) != TAUT_OK)
            return NULL;
        found = store.count - 1;
    }
    store.items[found].used = ++store.now;
    taut_solver *solver = store.items[found].solver;
    if (ranks_count() > 1)
        return solver;
    return solver_set_threads(solver, subject->threads, error) == TAUT_OK ? solver : NULL;
}

void subject_release_all(void)
{
    while (store.count > 0)
        store_remove(store.count - 1);
}
