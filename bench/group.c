// Ranks of taut-bench (group.h). Rank 0 tells the others which subject's solver to make; its
// destruction ends their part in it, and they wait for the next.
#include "bench/group.h"

#include <stdio.h>

#include "base/status.h"
#include "bench/options.h"
#include "ranks/ranks.h"

enum { TEXT_MOST = 8000 };

bool group_begin(void)
{
    taut_error error = {0};
    if (ranks_launched() > 1 && ranks_launched_number() > 0)
        ranks_silence();
    const bool begun = ranks_begin(&error) == TAUT_OK;
    if (!begun)
        complain("%s", error.text);
    return begun;
}

void group_end(void)
{
    ranks_end();
}

int group_agree(int exit_code)
{
    uint64_t agreed = (uint64_t)exit_code;
    const int first = ranks_first_failed(&agreed);
    if (first == ranks_count() || first == 0)
        return (int)agreed; // rank 0 has printed its message
    char text[TEXT_MOST];
    const char *const message = ranks_message_of(first, "taut-bench: ", text, sizeof text);
    if (ranks_number() == 0)
        complain("rank %d of %d: %s", first, ranks_count(), message);
    return (int)agreed;
}

// Returns the same status on all ranks: the error of the lowest rank that has one, with its text on
// rank 0.
static taut_status agree(taut_status status, taut_error *error)
{
    uint64_t code = (uint64_t)status;
    const int first = ranks_first_failed(&code);
    if (first == ranks_count() || first == 0)
        return (taut_status)code;
    char text[TEXT_MOST] = "";
    if (ranks_number() == first)
        snprintf(text, sizeof text, "%s", error->text);
    ranks_forward(first, text, sizeof text);
    return fail(error, (taut_status)code, "rank %d: %s", first, text);
}

static taut_status build(const struct subject *subject, const taut_scene *scene,
                         taut_solver **solver, taut_error *error)
{
    const struct solver_options options = subject_options(subject);
    *solver = NULL;
    taut_status status = TAUT_OK;
    if (scene)
        status = solver_create(scene, &options, solver, error);
    else
        status = error->code;
    status = agree(status, error);
    if (status == TAUT_OK)
        status = solver_share(*solver, scene, &options, error);
    if (status == TAUT_OK)
        return TAUT_OK;
    taut_solver_destroy(*solver);
    *solver = NULL;
    return status;
}

// ---- Orders of rank 0

static const uint64_t no_subject = UINT64_MAX;

void group_follow(struct subject *const *subjects)
{
    for (;;) {
        uint64_t number = no_subject;
        ranks_broadcast(&number, sizeof number);
        if (number == no_subject)
            return;
        const struct subject *const subject = subjects[number];
        struct diagnostics findings = {0};
        taut_error error = {0};
        taut_solver *solver;
        taut_scene *const scene = subject_scene(subject, &findings, &error);
        diagnostics_free(&findings);
        if (build(subject, scene, &solver, &error) == TAUT_OK)
            solver_serve(solver, NULL, NULL);
        taut_solver_destroy(solver);
        scene_free(scene);
    }
}

void group_dismiss(void)
{
    if (ranks_count() == 1)
        return;
    uint64_t number = no_subject;
    ranks_broadcast(&number, sizeof number);
}

taut_status group_build(const struct subject *subject, const taut_scene *scene,
                        taut_solver **solver, taut_error *error)
{
    uint64_t number = subject->number;
    ranks_broadcast(&number, sizeof number);
    return build(subject, scene, solver, error);
}
