#include <math.h>

#include "cli/bench.h"
#include "cli/json.h"
#include "cli/signals.h"
#include "version_info.h"

static void put_summary(struct json *json, const char *key, const struct bench_rates *rates,
                        double scale)
{
    json_open_object(json, key);
    json_number(json, "best", scale * bench_best(rates));
    json_number(json, "median", scale * bench_median(rates));
    json_close_object(json);
}

static void put_rates(struct json *json, const char *key, const struct bench_rates *rates,
                      double scale)
{
    json_open_object(json, key);
    json_number(json, "best", scale * bench_best(rates));
    json_number(json, "median", scale * bench_median(rates));
    json_open_array(json, "repetitions");
    for (int i = 0; i < rates->count; i++)
        json_number(json, NULL, scale * rates->values[i]);
    json_close_array(json);
    json_close_object(json);
}

static const char *precision_name(enum precision precision)
{
    return precision == PRECISION_DOUBLE ? "double" : "single";
}

static void put_machine(struct json *json, const struct machine *machine)
{
    json_open_object(json, "machine");
    json_string(json, "name", machine->name);
    json_count(json, "cores", (uint64_t)machine->cores);
    json_count(json, "logical", (uint64_t)machine->logical);
    json_count(json, "packages", (uint64_t)machine->packages);
    json_count(json, "memory_nodes", (uint64_t)machine->numa_nodes);
    json_count(json, "l1", machine->l1);
    json_count(json, "l2", machine->l2);
    json_count(json, "l3", machine->l3);
    json_close_object(json);
}

static void put_limits(struct json *json, const struct bench_report *report)
{
    json_open_array(json, "limits");
    for (int t = 0; t < report->thread_count; t++) {
        const struct bench_limit *limit = &report->limits[t];
        json_open_object(json, NULL);
        json_count(json, "threads", (uint64_t)limit->threads);
        put_rates(json, "triad_bytes_per_second", &limit->triad, 1);
        put_rates(json, "update_bytes_per_second", &limit->update, 1);
        put_rates(json, "read_bytes_per_second", &limit->read, 1);
        json_open_object(json, "single_multiply_add_operations_per_second");
        for (int isa = 0; isa < ISA_COUNT; isa++)
            if (report->isas[isa])
                put_rates(json, isa_name((enum isa)isa), &limit->peak[isa], 1);
        json_close_object(json);
        json_close_object(json);
    }
    json_close_array(json);
}

static void put_result(struct json *json, const struct bench_report *report,
                       const struct bench_result *result)
{
    bool reference = result->kernel == TAUT_KERNEL_REFERENCE;
    double springs = (double)result->springs;
    const struct bench_limit *limit = bench_limit_of(report, result->threads);
    json_open_object(json, NULL);
    json_string(json, "scene", result->scene->name);
    json_string(json, "kernel", result->body_kernel);
    json_string(json, "isa", reference ? NULL : isa_name(result->isa));
    json_string(json, "precision", precision_name(result->precision));
    json_count(json, "threads", (uint64_t)result->threads);
    json_count(json, "nodes", result->nodes);
    json_count(json, "springs", result->springs);
    json_number(json, "bytes", result->bytes);
    json_number(json, "bytes_per_spring", result->bytes / springs);
    json_number(json, "setup_seconds", result->setup_seconds);
    put_rates(json, "spring_updates_per_second", &result->steps, springs);
    put_summary(json, "node_updates_per_second", &result->steps, (double)result->nodes);
    put_summary(json, "model_bytes_per_second", &result->steps, result->model_bytes);
    json_number(json, "share_of_triad",
                limit ? result->model_bytes * bench_best(&result->steps) / bench_best(&limit->triad)
                      : NAN);
    put_rates(json, "ratio_to_reference", &result->per_reference, 1);
    json_close_object(json);
}

void bench_print_json(const struct bench_report *report)
{
    struct json json = {.out = stdout};
    json_open_object(&json, NULL);
    json_string(&json, "benchmark", "taut bench");
    json_string(&json, "version", taut_version());
    json_string(&json, "commit", TAUT_BUILD_COMMIT);
    json_string(&json, "compiler", TAUT_BUILD_COMPILER);
    json_string(&json, "build", TAUT_BUILD_BUILD);
    json_string(&json, "flags", TAUT_BUILD_FLAGS);
    put_machine(&json, &report->machine);
    json_string(&json, "precision", precision_name(report->precision));
    json_number(&json, "seconds_per_row", report->row_seconds);
    put_limits(&json, report);
    json_open_array(&json, "results");
    for (int i = 0; i < report->result_count; i++)
        put_result(&json, report, &report->results[i]);
    json_close_array(&json);
    json_string(&json, "interrupted",
                report->signal_number ? signals_name(report->signal_number) : NULL);
    json_close_object(&json);
}
