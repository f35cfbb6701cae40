#include "cli/run.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "cli/json.h"
#include "cli/signals.h"

static void print_energy(struct json *json, const struct snapshot *now)
{
    json_open_object(json, "energy");
    json_number(json, "kinetic", now->kinetic);
    json_number(json, "elastic", now->elastic);
    json_number(json, "gravity", now->gravity);
    json_number(json, "gas", now->gas);
    json_number(json, "contact", now->contact);
    json_number(json, "total", now->total);
    json_close_object(json);
}

static void print_bodies(struct json *json, const struct run *run)
{
    json_open_array(json, "bodies");
    for (size_t b = 0; b < run->view.body_count; b++) {
        const struct snapshot_body *body = &run->view.bodies[b];
        json_open_object(json, NULL);
        json_string(json, "name", body->name);
        json_count(json, "nodes", body->node_count);
        json_count(json, "springs", body->spring_count);
        json_count(json, "faces", body->face_count);
        json_string(json, "kernel", solver_body_kernel(run->solver, b));
        json_number(json, "volume", run->solver->topology->bodies[b].closed ? body->volume : NAN);
        json_close_object(json);
    }
    json_close_array(json);
}

static void print_stages(struct json *json, const struct run *run)
{
    const struct stage_clock *clock = run->solver->functions->clock(run->solver->system);
    json_open_object(json, "stages");
    for (int stage = 0; stage < STAGE_COUNT; stage++)
        json_number(json, stage_name((enum stage)stage), clock->seconds[stage]);
    json_number(json, "output", run->output_seconds);
    json_close_object(json);
}

static void print_output(struct json *json, const struct run *run)
{
    json_open_array(json, "output");
    for (size_t i = 0; i < run->file_count; i++)
        json_string(json, NULL, run->files[i]);
    json_close_array(json);
}

static void print_work(struct json *json, const struct run *run)
{
    const struct snapshot *now = &run->view.snapshot;
    if (!now->has_work) {
        json_null(json, "work");
        return;
    }
    const struct snapshot_work *work = &now->work;
    json_open_object(json, "work");
    json_number(json, "damping", work->damping);
    json_number(json, "drag", work->drag);
    json_number(json, "friction", work->friction);
    json_number(json, "keep", work->keep);
    json_number(json, "projection", work->projection);
    json_number(json, "breaking", work->breaking);
    json_number(json, "wind", work->wind);
    json_number(json, "drives", work->drives);
    json_number(json, "inflation", work->inflation);
    json_close_object(json);
}

static void print_balance(struct json *json, const struct run *run)
{
    if (!run->view.snapshot.has_work) {
        json_null(json, "balance");
        return;
    }
    const struct balance balance = run_balance(run);
    json_open_object(json, "balance");
    json_number(json, "change", balance.change);
    json_number(json, "accounted", balance.accounted);
    json_number(json, "residual", balance.residual);
    json_number(json, "exchanged", balance.exchanged);
    json_number(json, "allowed", balance.allowed);
    json_count(json, "order", (uint64_t)balance.order);
    json_string(json, "verdict", balance_verdict_name(balance.verdict));
    json_string(json, "cause", balance.cause);
    json_close_object(json);
}

static void print_implicit(struct json *json, const struct run *run)
{
    const struct implicit_account *account = run->solver->functions->implicit(run->solver->system);
    if (!account) {
        json_null(json, "implicit");
        return;
    }
    json_open_object(json, "implicit");
    json_count(json, "solves", account->solves);
    json_count(json, "iterations", account->iterations);
    json_number(json, "worst_residual", account->worst_residual);
    json_count(json, "unconverged", account->unconverged);
    json_close_object(json);
}

static void print_counts(struct json *json, const struct run *run)
{
    const taut_solver *solver = run->solver;
    json_string(json, "scene", run->options->scene);
    json_count(json, "nodes", taut_solver_node_count(solver));
    json_count(json, "springs", taut_solver_spring_count(solver));
    json_count(json, "faces", taut_solver_face_count(solver));
    json_count(json, "steps", taut_solver_step_count(solver));
    json_number(json, "time", taut_solver_time(solver));
    json_number(json, "dt", solver->dt);
    json_count(json, "threads", (uint64_t)solver->threads);
    json_string(json, "isa", isa_name(run->solver->isa));
    json_string(json, "precision", solver->precision == PRECISION_DOUBLE ? "double" : "single");
    json_string(json, "integrator", integrator_name(solver->integrator));
    json_number(json, "setup_seconds", run->setup_seconds);
    json_number(json, "step_seconds", solver->step_seconds);
    json_number(json, "spring_updates_per_second", run_spring_rate(run));
    json_count(json, "bytes", solver_bytes(solver));
    json_count(json, "peak_rss_bytes", run_peak_bytes());
    json_count(json, "broken_springs", taut_solver_broken_count(solver));
}

void run_print_json(const struct run *run)
{
    char hash[20];
    snprintf(hash, sizeof hash, "%016" PRIx64, taut_solver_hash(run->solver));
    struct json json = {.out = stdout};
    json_open_object(&json, NULL);
    print_counts(&json, run);
    json_string(&json, "hash", hash);
    print_energy(&json, &run->view.snapshot);
    print_bodies(&json, run);
    print_stages(&json, run);
    print_output(&json, run);
    json_string(&json, "kernel", run->solver->plan->reference ? "reference" : "auto");
    json_number(&json, "node_updates_per_second", run_node_rate(run));
    json_number(&json, "energy_at_start", run->first.total);
    print_work(&json, run);
    print_balance(&json, run);
    print_implicit(&json, run);
    json_count(&json, "steps_planned", run->solver->steps_planned);
    json_string(&json, "interrupted",
                run->signal_number != 0 ? signals_name(run->signal_number) : NULL);
    json_string(&json, "error", run->status == TAUT_OK ? NULL : run->error.text);
    json_close_object(&json);
}
