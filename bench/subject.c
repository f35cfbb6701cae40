#include "subject.h"

#include "scene/reader.h"

static const struct subject *kept;
static taut_solver *kept_solver;

taut_scene *subject_scene(const struct subject *subject, taut_error *error)
{
    taut_scene *scene = bench_scene_make(subject->scene, subject->springs, PRECISION_SINGLE, error);
    if (scene && subject->wind)
        scene->environment.wind = (struct scene_wind){
            .present = true,
            .velocity = {0.5, 0.3, 0.2},
            .law = subject->wind_law,
            .coefficient = 1e-4,
            .relative = true,
        };
    return scene;
}

taut_status subject_make(const struct subject *subject, const taut_scene *scene,
                         taut_solver **solver, taut_error *error)
{
    struct solver_options options = {.config = {.threads = subject->threads,
                                                .kernel = subject->kernel,
                                                .isa = (taut_isa)(TAUT_ISA_BASE + subject->isa)}};
    return solver_create(scene, &options, solver, error);
}

taut_solver *subject_solver(const struct subject *subject, taut_error *error)
{
    if (kept == subject)
        return kept_solver;
    subject_forget();
    taut_scene *scene = subject_scene(subject, error);
    if (scene && subject_make(subject, scene, &kept_solver, error) == TAUT_OK)
        kept = subject;
    scene_free(scene);
    return kept ? kept_solver : NULL;
}

void subject_forget(void)
{
    taut_solver_destroy(kept_solver);
    kept = NULL;
    kept_solver = NULL;
}
