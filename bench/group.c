// Ranks of taut-bench (group.h). Rank 0 tells the others which subject's solver to make; its destruction
// ends their part in it, and they wait for the next.
#include "bench/group.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "bench/options.h"
#include "ranks/ranks.h"

enum { EXIT_FAILED = 1, TEXT_MOST = 2000 };

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

// The lowest rank with another code than 0, whose code this becomes; the number of ranks if there is none.
static int first_failed(uint64_t *code)
{
    const int count = ranks_count();
    uint64_t *const codes = calloc((size_t)count, sizeof *codes);
    if (!codes)
        ranks_abort(EXIT_FAILED, "out of memory for the results of all ranks");
    ranks_share(*code, codes);
    int first = 0;
    while (first < count && codes[first] == 0)
        first++;
    *code = first < count ? codes[first] : 0;
    free(codes);
    return first;
}

int group_agree(int exit_code)
{
    if (ranks_count() == 1)
        return exit_code;
    uint64_t code = (uint64_t)exit_code;
    const int first = first_failed(&code);
    if (first == ranks_count() || first == 0)
        return (int)code; // rank 0 has printed its message
    char text[TEXT_MOST] = "";
    if (ranks_number() == first)
        ranks_kept_text(text, sizeof text);
    ranks_forward(first, text, sizeof text);
    static const char prefix[] = "taut-bench: ";
    const bool named = strncmp(text, prefix, sizeof prefix - 1) == 0;
    size_t length = strlen(text);
    while (length > 0 && text[length - 1] == '\n')
        text[--length] = '\0';
    if (ranks_number() == 0)
        complain("rank %d of %d: %s", first, ranks_count(),
                 length > 0 ? text + (named ? sizeof prefix - 1 : 0) : "it failed");
    return (int)code;
}

// The same on all ranks: the error of the lowest that has one, with its text on rank 0.
static taut_status agree(taut_status status, taut_error *error)
{
    uint64_t code = (uint64_t)status;
    const int first = first_failed(&code);
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
