// taut run: simulates a scene.
#include "cli/run.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "cli/signals.h"
#include "cli/terminal.h"

bool run_is_sound(const struct run *run)
{
    return run->status == TAUT_OK;
}

double run_spring_rate(const struct run *run)
{
    double seconds = run->solver->step_seconds;
    return seconds > 0 ? solver_spring_updates(run->solver) / seconds : NAN;
}

double run_node_rate(const struct run *run)
{
    double seconds = run->solver->step_seconds;
    double steps = (double)taut_solver_step_count(run->solver);
    return seconds > 0 ? (double)taut_solver_node_count(run->solver) * steps / seconds : NAN;
}

uint64_t run_peak_bytes(void)
{
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) == 0 ? (uint64_t)usage.ru_maxrss * 1024 : 0;
}

static void simulate(struct run *run)
{
    signals_watch();
    progress_begin(&run->progress, run->solver, run->options->quiet);
    if (run_state_try(run) == TAUT_OK && run_output_open(run) == TAUT_OK) {
        run_steps(run);
        progress_end(&run->progress);
    }
    (void)run_output_close(run);
    (void)run_state_write(run);
}

static void say_how_it_ended(const struct run *run)
{
    const struct options *options = run->options;
    if (run->signal_number != 0)
        complain("interrupted by %s at t = %g s, step %" PRIu64 " of %" PRIu64 "%s",
                 signals_name(run->signal_number), taut_solver_time(run->solver),
                 taut_solver_step_count(run->solver), run->solver->steps_planned,
                 options->no_output ? "" : "; what was written is whole");
    if (run->status == TAUT_OK)
        return;
    complain("%s", run->error.text);
    if (run->file_count > 0 && taut_solver_step_count(run->solver) > 0)
        complain("what was written to '%s' until then is whole", run->folder);
}

static void print_results(struct run *run)
{
    if (run->options->json)
        run_print_json(run);
    else if (!run->options->quiet && run_is_sound(run))
        run_print_table(run);
    if (run->options->hash && !run->options->json && run_is_sound(run))
        printf("%016" PRIx64 "\n", taut_solver_hash(run->solver));
}

static int run_scene(const struct options *options)
{
    struct session session;
    int code = session_open(options, run_output_memory, &session);
    if (code != EXIT_CODE_DONE) {
        session_close(&session);
        return code;
    }
    struct run run = {
        .options = options,
        .scene = session.scene,
        .solver = session.solver,
        .schedule = schedule_make(session.scene, session.solver),
        .setup_seconds = session.seconds,
    };
    simulate(&run);
    say_how_it_ended(&run);
    // Of a run that never began there is nothing to tell.
    if (run.view.bodies && (run.status == TAUT_OK || taut_solver_step_count(run.solver) > 0))
        print_results(&run);
    code = run.signal_number != 0 ? EXIT_CODE_FAILED : exit_code_of(run.status);
    run_free(&run);
    session_close(&session);
    return output_finish(code);
}

const struct command run_command = {
    .name = "run",
    .does = "Simulates a scene, and writes what its output section asks for",
    .operand = "SCENE",
    .kind = COMMAND_SIMULATES,
    .run = run_scene,
};
