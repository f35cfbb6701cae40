// Reads the scene, prints its findings, and creates the solver, as every command that simulates
// does first.
#include "cli/session.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/os.h"
#include "base/text.h"
#include "cli/human.h"
#include "cli/terminal.h"
#include "parallel/machine.h"
#include "scene/reader.h"

static void show_reading(const struct options *options)
{
    char *text = options->quiet ? NULL : text_format("reading %s ...", options->scene);
    if (text)
        live_line(text);
    free(text);
}

// The scene that `taut run` has resolved has another name than its file.
static bool rename_scene(taut_scene *scene, const char *name)
{
    char *copy = text_format("%s", name);
    if (!copy)
        return false;
    free(scene->name);
    scene->name = copy;
    return true;
}

static taut_scene *read_scene(const struct options *options, struct diagnostics *findings)
{
    size_t count = options->override_count;
    struct scene_override *overrides = calloc(count + 1, sizeof *overrides);
    if (!overrides) {
        diagnostics_fail(findings, TAUT_ERROR_MEMORY, options->scene, "out of memory");
        return NULL;
    }
    for (size_t i = 0; i < count; i++)
        overrides[i].text = options->overrides[i];
    // The state is the checkpoint's, and the file may be gone or be another one now.
    if (options->checkpoint)
        overrides[count++] = (struct scene_override){.text = "initial", .ignores = true};
    taut_scene *scene = scene_read_file(options->scene, overrides, count, findings);
    free(overrides);
    if (scene && options->name && !rename_scene(scene, options->name))
        diagnostics_fail(findings, TAUT_ERROR_MEMORY, options->scene, "out of memory");
    return scene;
}

void print_findings(const struct diagnostics *findings, bool quiet)
{
    live_line_clear();
    for (size_t i = 0; i < findings->count; i++) {
        const struct diagnostic *item = &findings->items[i];
        if (quiet && item->level != DIAGNOSTIC_ERROR)
            continue;
        char *text = diagnostic_render(item);
        fputs(text ? text : item->text, stderr);
        if (!text)
            fputc('\n', stderr);
        free(text);
    }
    if (findings->dropped > 0)
        complain("and %s more", human_counted(findings->dropped, "finding").text);
}

uint64_t probe_node(const taut_solver *solver, const struct scene_probe *probe)
{
    if (probe->node.type == SELECT_NODE)
        return probe->node.node;
    return probe->node.type == SELECT_LAST ? taut_solver_body_node_count(solver, probe->body) - 1
                                           : 0;
}

taut_status session_threads(const struct options *options, int *threads, taut_error *error)
{
    struct machine machine;
    taut_status status = machine_detect(&machine, error);
    if (status != TAUT_OK)
        return status;
    const int most = machine_threads_max(&machine);
    *threads = options->threads == 0     ? machine_default_threads(&machine)
               : options->threads < most ? options->threads
                                         : most;
    return TAUT_OK;
}

// Checked here because the numbers of nodes are known only now.
static taut_status check_probes(struct session *session)
{
    const struct scene_output *output = &session->scene->output;
    taut_status status = TAUT_OK;
    for (size_t i = 0; i < output->probe_count; i++) {
        const struct scene_probe *probe = &output->probes[i];
        uint64_t count = taut_solver_body_node_count(session->solver, probe->body);
        if (probe_node(session->solver, probe) < count)
            continue;
        scene_report(session->scene, &session->findings, probe->node.at,
                     "body '%s' has no node %llu; its last is %llu",
                     taut_solver_body_name(session->solver, probe->body),
                     (unsigned long long)probe->node.node, (unsigned long long)count - 1);
        status = TAUT_ERROR_SCENE;
    }
    return status;
}

// --strict: turns warnings into errors.
static taut_status refuse_warnings(struct session *session)
{
    struct diagnostics *findings = &session->findings;
    for (size_t i = 0; i < findings->count; i++)
        if (findings->items[i].level == DIAGNOSTIC_WARNING) {
            findings->items[i].level = DIAGNOSTIC_ERROR;
            findings->error_count++;
        }
    return findings->error_count > 0 ? TAUT_ERROR_SCENE : TAUT_OK;
}

static taut_status create_solver(const struct options *options, const struct solver_options *wanted,
                                 struct session *session, taut_error *error)
{
    const char *path = options->checkpoint, *reason;
    if (!path)
        return solver_create(session->scene, wanted, &session->solver, error);
    FILE *file = open_to_read(path, &reason);
    if (!file)
        return fail(error, TAUT_ERROR_IO, "cannot read '%.400s': %s", path, reason);
    taut_status status = solver_create_from_checkpoint(session->scene, wanted, archive_file_source,
                                                       file, path, &session->solver, error);
    if (status == TAUT_OK && solver_waits(session->solver))
        session->checkpoint = file; // the rest is read when the ranks start together
    else
        fclose(file);
    return status;
}

// Ends the making of a session: prints the findings, and what has failed.
static int report(const struct options *options, struct session *session, taut_status status,
                  const taut_error *error)
{
    print_findings(&session->findings, options->quiet);
    if (status == TAUT_OK)
        return EXIT_CODE_DONE;
    if (session->findings.error_count == 0)
        complain("%s: %s", options->scene, error->text);
    else if (session->findings.failure == TAUT_OK)
        complain("%s: %s", options->scene,
                 human_counted(session->findings.error_count, "error").text);

    // A scene that cannot be read is wrong usage.
    return session->findings.failure == TAUT_ERROR_IO ? EXIT_CODE_WRONG : exit_code_of(status);
}

static int open_session(const struct options *options, extra_memory_function extra, bool shares,
                        struct session *session)
{
    *session = (struct session){0};
    show_reading(options);

    double begin = clock_seconds();
    taut_error error = {0};
    session->scene = read_scene(options, &session->findings);
    taut_status status = diagnostics_status(&session->findings);

    if (session->scene) {
        struct solver_options *wanted = &session->wanted;
        wanted->diagnostics = &session->findings;
        wanted->shares = shares;
        wanted->config.threads = options->threads;
        wanted->config.kernel = options->kernel;
        wanted->config.isa = options->isa;
        wanted->config.no_pin = options->no_pin;
        wanted->extra_bytes = extra ? extra(options, session->scene) : 0;
        status = create_solver(options, wanted, session, &error);
        if (status == TAUT_OK)
            status = check_probes(session);
        if (status == TAUT_OK && !options->quiet &&
            wanted->config.kernel != TAUT_KERNEL_REFERENCE &&
            taut_solver_threads(session->solver) < options->threads) {
            live_line_clear();
            complain("%d threads are more than this machine's processors can keep busy; continuing "
                     "with %d, with the same results",
                     options->threads, taut_solver_threads(session->solver));
        }
    }

    // A solver that waits for the other ranks has findings only when it has been started.
    const bool waits = status == TAUT_OK && solver_waits(session->solver);
    if (status == TAUT_OK && options->strict && !waits)
        status = refuse_warnings(session);
    session->seconds = clock_seconds() - begin;
    return waits ? EXIT_CODE_DONE : report(options, session, status, &error);
}

int session_open(const struct options *options, extra_memory_function extra,
                 struct session *session)
{
    return open_session(options, extra, false, session);
}

int session_open_shared(const struct options *options, extra_memory_function extra,
                        struct session *session)
{
    return open_session(options, extra, true, session);
}

int session_share(const struct options *options, struct session *session, bool *shared)
{
    const double begin = clock_seconds();
    const bool waits = solver_waits(session->solver);
    taut_error error = {0};
    taut_status status = solver_share(session->solver, session->scene, &session->wanted, &error);
    *shared = solver_is_shared(session->solver);
    session->seconds += clock_seconds() - begin;
    if (!waits && status != TAUT_OK)
        complain("%s: %s", options->scene, error.text);
    if (!waits)
        return exit_code_of(status);
    if (status == TAUT_OK && options->strict)
        status = refuse_warnings(session);
    return report(options, session, status, &error);
}

void session_close(struct session *session)
{
    taut_solver_destroy(session->solver);
    if (session->checkpoint)
        fclose(session->checkpoint);
    scene_free(session->scene);
    diagnostics_free(&session->findings);
    *session = (struct session){0};
}
