// taut check: checks a scene. Builds everything that a run would build, so that a scene that passes
// here also starts there.
#include <stdio.h>
#include <stdlib.h>

#include "cli/human.h"
#include "base/json.h"
#include "cli/session.h"
#include "cli/terminal.h"

static void print_json(const struct options *options, const struct session *session, bool sound)
{
    struct json json = {.out = stdout};
    json_open_object(&json, NULL);
    json_string(&json, "scene", options->scene);
    json_bool(&json, "sound", sound);
    json_count(&json, "errors", session->findings.error_count);
    json_open_array(&json, "messages");
    for (size_t i = 0; i < session->findings.count; i++) {
        char *text = diagnostic_render(&session->findings.items[i]);
        json_string(&json, NULL, text ? text : session->findings.items[i].text);
        free(text);
    }
    json_close_array(&json);
    if (sound) {
        json_count(&json, "bodies", taut_solver_body_count(session->solver));
        json_count(&json, "nodes", taut_solver_node_count(session->solver));
        json_count(&json, "springs", taut_solver_spring_count(session->solver));
        json_count(&json, "faces", taut_solver_face_count(session->solver));
        json_count(&json, "steps", taut_solver_steps_planned(session->solver));
    }
    json_close_object(&json);
}

static void print_line(const struct options *options, const taut_solver *solver)
{
    printf("%s: sound; %s, %s, %s, %s, %s\n", options->scene,
           human_counted(taut_solver_body_count(solver), "body").text,
           human_counted(taut_solver_node_count(solver), "node").text,
           human_counted(taut_solver_spring_count(solver), "spring").text,
           human_counted(taut_solver_face_count(solver), "face").text,
           human_counted(taut_solver_steps_planned(solver), "step").text);
}

static int check(const struct options *options)
{
    struct session session;
    int code = session_open(options, NULL, &session);
    if (options->json && code != EXIT_CODE_FAILED)
        print_json(options, &session, code == EXIT_CODE_DONE);
    else if (code == EXIT_CODE_DONE && !options->quiet)
        print_line(options, session.solver);
    session_close(&session);
    return output_finish(code);
}

const struct command check_command = {
    .name = "check",
    .does = "Reads and validates a scene",
    .operand = "SCENE",
    .kind = COMMAND_READS,
    .run = check,
};
