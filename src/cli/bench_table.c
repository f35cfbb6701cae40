#include <math.h>
#include <stdio.h>

#include "cli/bench.h"
#include "cli/human.h"
#include "version_info.h"

static void print_head(const struct bench_report *report)
{
    printf("taut %s (%s), %s, %s\n", taut_version(), TAUT_BUILD_COMMIT, TAUT_BUILD_COMPILER,
           TAUT_BUILD_BUILD);
    printf("%s, %s; %s precision\n", report->machine.name,
           human_counted((uint64_t)report->machine.cores, "core").text,
           report->precision == PRECISION_DOUBLE ? "double" : "single");
}

static void print_limits(const struct bench_report *report)
{
    for (int t = 0; t < report->thread_count; t++) {
        const struct bench_limit *limit = &report->limits[t];
        printf("%s: triad %sB/s, update %sB/s, read %sB/s;\n    multiply and add, single "
               "precision:",
               human_counted((uint64_t)limit->threads, "thread").text,
               human_scaled(bench_best(&limit->triad)).text,
               human_scaled(bench_best(&limit->update)).text,
               human_scaled(bench_best(&limit->read)).text);
        const char *comma = "";
        for (int isa = 0; isa < ISA_COUNT; isa++) {
            if (!report->isas[isa])
                continue;
            printf("%s %s %sflop/s", comma, isa_name((enum isa)isa),
                   human_scaled(bench_best(&limit->peak[isa])).text);
            comma = ",";
        }
        printf("\n");
    }
}

static void print_scene(const struct bench_result *result)
{
    printf("\n%s: %s, %s, %.3g bytes a spring held; set-up %s\n", result->scene->name,
           human_counted(result->nodes, "node").text, human_counted(result->springs, "spring").text,
           result->bytes / (double)result->springs, human_seconds(result->setup_seconds).text);
    printf("  %-10s %-5s %7s %11s %11s %11s %8s %8s %10s\n", "kernel", "isa", "threads",
           "springs/s", "median", "nodes/s", "GB/s", "of triad", "reference");
}

static void print_result(const struct bench_report *report, const struct bench_result *result)
{
    bool reference = result->kernel == TAUT_KERNEL_REFERENCE;
    double best = bench_best(&result->steps), springs = (double)result->springs;
    const struct bench_limit *limit = bench_limit_of(report, result->threads);
    bool other = result->precision != report->precision;
    printf("  %-10s %-5s %7d %11s %11s %11s %8.2f", result->body_kernel,
           reference ? "" : isa_name(result->isa), result->threads,
           human_scaled(springs * best).text,
           human_scaled(springs * bench_median(&result->steps)).text,
           human_scaled((double)result->nodes * best).text, 1e-9 * result->model_bytes * best);
    if (limit)
        printf(" %7.0f%%", 100 * result->model_bytes * best / bench_best(&limit->triad));
    else
        printf(" %8s", "-");
    double ratio = bench_median(&result->per_reference);
    if (isfinite(ratio))
        printf(" %9.2fx\n", ratio);
    else
        printf(" %10s\n", other ? "in double" : "-");
}

void bench_print_table(const struct bench_report *report)
{
    print_head(report);
    print_limits(report);
    for (int i = 0; i < report->result_count; i++) {
        const struct bench_result *result = &report->results[i];
        if (result->steps.count == 0)
            continue; // interrupted before its first turn
        // The reference's row is the first of its scene; what a solver holds is that of the second.
        bool first = i == 0 || result->scene != report->results[i - 1].scene;
        bool alone = i + 1 == report->result_count || result->scene != result[1].scene;
        if (first)
            print_scene(alone ? result : result + 1);
        print_result(report, result);
    }
    printf("\nspring updates a second, best and median of %d turns; GB/s of what a step must move "
           "at the\nleast; reference: how many times the plain serial loops, the median of paired "
           "turns.\n",
           BENCH_ROUNDS);
}
