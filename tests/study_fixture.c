// Studies of scenes given as text (study_fixture.h).
#include "study_fixture.h"

#include <math.h>

static bool never(void *context)
{
    (void)context;
    return false;
}

struct study_options options_of(const enum integrator *integrators, size_t count)
{
    return (struct study_options){.integrators = integrators,
                                  .integrator_count = count,
                                  .budget = 30,
                                  .threads = 2,
                                  .stop = never};
}

struct study *study_of(char *text, struct study_options options)
{
    taut_scene *scene = scene_of_text(text);
    struct study *study = NULL;
    taut_error error = {0};
    options.time_limit = 1000;
    if (study_make(scene, &options, &study, &error) != TAUT_OK)
        fail_msg("%s", error.text);
    taut_scene_destroy(scene);
    assert_true(study->complete);
    return study;
}

const struct study_limit *limit_of(const struct study *study, enum integrator integrator)
{
    for (size_t i = 0; i < study->integrator_count; i++)
        if (study->limits[i].integrator == integrator)
            return &study->limits[i];
    fail_msg("%s was not studied", integrator_name(integrator));
    return NULL;
}

void assert_found(const struct study *study, enum integrator integrator, double expected,
                  double tolerance)
{
    const struct study_limit *limit = limit_of(study, integrator);
    assert_int_equal(limit->kind, STUDY_LIMIT_FOUND);
    assert_true(limit->stable < limit->unstable && limit->runs > 3);
    assert_near(limit->measured / expected, 1, tolerance);
}
