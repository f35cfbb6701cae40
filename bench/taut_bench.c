// taut-bench: registers the benchmarks that the options select with Google Benchmark, and runs
// them.
//
// Names are KIND/SCENE/INTEGRATOR/PRECISION/KERNEL/threads:N, where KERNEL is reference or an
// instruction set; springs:N follows if --springs set the size, and energy_budget if it is kept.
// Bandwidths are bandwidth/KIND/threads:N, peaks peak/ISA/threads:N. Google Benchmark adds
// /manual_time to each. Steps on several ranks have /ranks:N at the end.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diagnostics.h"
#include "base/os.h"
#include "base/text.h"
#include "bench/benchmarks.h"
#include "bench/group.h"
#include "bench/options.h"
#include "bench/subject.h"
#include "cli/signals.h"
#include "parallel/machine.h"
#include "ranks/ranks.h"
#include "version_info.h"

enum { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_WRONG = 2 };

// ---- Registration

// All subjects; benchmarks store pointers to them, so each is allocated separately.
struct registry {
    const struct bench_options *options;
    struct machine machine;
    struct subject **subjects;
    size_t count, capacity;
    int thread_counts[BENCH_LIST_MAX];
    int thread_count;
};

static bool registry_add(struct registry *registry, char *name, bench_function function,
                         const struct subject *subject)
{
    if (registry->count == registry->capacity) {
        size_t capacity = 2 * registry->capacity + 64;
        struct subject **grown = realloc(registry->subjects, capacity * sizeof *grown);
        if (!grown) {
            free(name);
            return false;
        }
        registry->subjects = grown;
        registry->capacity = capacity;
    }
    struct subject *kept = malloc(sizeof *kept);
    if (kept && name) {
        *kept = *subject;
        kept->number = registry->count;
        registry->subjects[registry->count++] = kept;
        bench_register(name, function, kept);
    } else {
        free(kept);
        kept = NULL;
    }
    free(name);
    return kept != NULL;
}

// `size`: the number of springs is part of the name.
static bool add(struct registry *registry, const char *kind, bench_function function,
                const struct subject *subject, bool size)
{
    const bool serial = subject->kernel == TAUT_KERNEL_REFERENCE;
    char kernel[40]; // reference, v4, coloured-v4
    snprintf(kernel, sizeof kernel, "%s%s%s",
             subject->kernel == TAUT_KERNEL_AUTO ? "" : kernel_choice_name((int)subject->kernel),
             subject->kernel == TAUT_KERNEL_AUTO || serial ? "" : "-",
             serial ? "" : isa_name(subject->isa));
    char springs[40] = "";
    if (size)
        snprintf(springs, sizeof springs, "/springs:%llu", (unsigned long long)subject->springs);
    char ranks[40] = "";
    if (ranks_count() > 1)
        snprintf(ranks, sizeof ranks, "/ranks:%d", ranks_count());
    char *name = text_format("%s/%s/%s/%s/%s/threads:%d%s%s%s", kind, subject->name,
                             subject->integrator, subject->precision, kernel, subject->threads,
                             springs, subject->energy_budget ? "/energy_budget" : "", ranks);
    return registry_add(registry, name, function, subject);
}

// Adds a benchmark on all requested kernels, instruction sets and numbers of threads. The reference
// kernel is serial.
static bool add_kernels(struct registry *registry, const char *kind, bench_function function,
                        struct subject subject, bool size)
{
    static const taut_kernel both[] = {TAUT_KERNEL_REFERENCE, TAUT_KERNEL_AUTO};
    const struct bench_options *options = registry->options;
    const taut_kernel *kernels = options->kernel_count > 0 ? options->kernels : both;
    int kernel_count = options->kernel_count > 0 ? options->kernel_count : 2;
    bool unwanted = ranks_count() > 1 || (subject.scene && subject.scene->traits & BENCH_NO_PLAIN);
    for (int k = 0; k < kernel_count; k++) {
        subject.kernel = kernels[k];
        if (subject.kernel == TAUT_KERNEL_REFERENCE) {
            if (unwanted && options->kernel_count == 0)
                continue;
            subject.isa = ISA_BASE;
            subject.threads = 1;
            if (!add(registry, kind, function, &subject, size))
                return false;
            continue;
        }
        for (int isa = 0; isa < ISA_COUNT; isa++)
            for (int t = 0; options->isas[isa] && t < registry->thread_count; t++) {
                subject.isa = (enum isa)isa;
                subject.threads = registry->thread_counts[t];
                if (!add(registry, kind, function, &subject, size))
                    return false;
            }
    }
    return true;
}

// Adds scaling on the widest requested instruction set, over the numbers of threads.
static bool add_scaling(struct registry *registry, struct subject subject, bool size)
{
    for (int isa = 0; isa < ISA_COUNT; isa++)
        if (registry->options->isas[isa])
            subject.isa = (enum isa)isa;
    subject.kernel = TAUT_KERNEL_AUTO;
    for (int t = 0; t < registry->thread_count; t++) {
        subject.threads = registry->thread_counts[t];
        if (!add(registry, "strong", benchmark_strong, &subject, size))
            return false;
        // The size of a scene file cannot change.
        if (subject.scene && !add(registry, "weak", benchmark_weak, &subject, size))
            return false;
    }
    return true;
}

static bool add_stages(struct registry *registry, struct subject subject, bool size)
{
    bool single = strcmp(subject.precision, "single") == 0;
    bool cloth = subject.scene && subject.scene->shape == BENCH_CLOTH;
    bool ball = subject.scene && subject.scene->shape == BENCH_BALL;
    bool gas = ball && !(subject.scene->traits & BENCH_AIRLESS);
    subject.stage = STAGE_SPRINGS;
    bool added = add_kernels(registry, "springs", benchmark_stage, subject, size);
    if (single)
        added = added && add_kernels(registry, "tangent", benchmark_tangent, subject, size);
    if (gas) {
        subject.stage = STAGE_PRESSURE;
        added = added && add_kernels(registry, "pressure", benchmark_stage, subject, size);
        if (single)
            added = added && add_kernels(registry, "volume", benchmark_volume, subject, size);
    }
    if (single && subject.scene && subject.scene->traits & BENCH_CONTACT) {
        added = added &&
                add_kernels(registry, "contact_lists", benchmark_contact_lists, subject, size) &&
                add_kernels(registry, "contact_forces", benchmark_contact_forces, subject, size);
    }
    if (cloth || ball) {
        struct subject windy = subject;
        windy.stage = STAGE_WIND;
        windy.wind = true;
        windy.wind_law = WIND_FACE;
        added = added && add_kernels(registry, "wind_face", benchmark_stage, windy, size);
        windy.wind_law = WIND_NODE; // needs normals at nodes
        added = added && add_kernels(registry, "wind_node", benchmark_stage, windy, size);
    }
    subject.kernel = TAUT_KERNEL_AUTO;
    subject.threads = 1;
    for (int isa = 0; isa < ISA_COUNT; isa++)
        if (registry->options->isas[isa])
            subject.isa = (enum isa)isa;
    added = added && add(registry, "plan", benchmark_plan, &subject, size);
    return added && add(registry, "setup", benchmark_setup, &subject, size);
}

static bool add_limits(struct registry *registry)
{
    for (int t = 0; t < registry->thread_count; t++) {
        struct subject subject = {.threads = registry->thread_counts[t]};
        for (int kind = 0; kind < BANDWIDTH_COUNT; kind++) {
            subject.bandwidth = (enum bandwidth)kind;
            char *name = text_format("bandwidth/%s/threads:%d",
                                     bandwidth_name((enum bandwidth)kind), subject.threads);
            if (!registry_add(registry, name, benchmark_bandwidth, &subject))
                return false;
        }
        for (int isa = 0; isa < ISA_COUNT; isa++) {
            subject.isa = (enum isa)isa;
            char *name = text_format("peak/%s/threads:%d", isa_name(subject.isa), subject.threads);
            if (!registry->options->isas[isa])
                free(name);
            else if (!registry_add(registry, name, benchmark_peak, &subject))
                return false;
        }
    }
    return true;
}

// Adds the suites of a scene with one integrator, in one precision, at one size.
static bool add_suites(struct registry *registry, const struct subject *subject, unsigned suites,
                       bool size)
{
    for (int budget = 0; budget < 2; budget++) {
        struct subject kept = *subject;
        kept.energy_budget = budget;
        bool wanted = registry->options->energy_budgets[budget] ||
                      (!budget && !registry->options->energy_budgets[1]);
        if (wanted && suites & SUITE_STEPS &&
            !add_kernels(registry, "step", benchmark_step, kept, size))
            return false;
    }
    if (suites & SUITE_SCALING && !add_scaling(registry, *subject, size))
        return false;
    return !(suites & SUITE_STAGES) || add_stages(registry, *subject, size);
}

static bool add_variants(struct registry *registry, struct subject subject, bool size)
{
    static const char *const both[] = {"symplectic_euler", "velocity_verlet"};
    static const char *const single[] = {"single"};
    const struct bench_options *options = registry->options;
    const char *const *integrators = both, *const *precisions = single;
    int integrator_count = 2, precision_count = 1;
    if (subject.integrator) {
        integrators = &subject.integrator;
        integrator_count = 1;
    } else if (options->integrator_count > 0) {
        integrators = options->integrators;
        integrator_count = options->integrator_count;
    }
    if (subject.precision) {
        precisions = &subject.precision;
    } else if (options->precision_count > 0) {
        precisions = options->precisions;
        precision_count = options->precision_count;
    }
    unsigned suites = options->suites ? options->suites : SUITE_STEPS;
    for (int i = 0; i < integrator_count; i++) {
        for (int p = 0; p < precision_count; p++) {
            struct subject variant = subject;
            variant.integrator = integrators[i];
            variant.precision = precisions[p];
            if (!add_suites(registry, &variant, suites, size))
                return false;
        }
        suites &= ~(unsigned)SUITE_STAGES; // stages do not depend on the integrator
    }
    return true;
}

static int refuse_memory(void)
{
    complain("out of memory for the benchmarks");
    return EXIT_FAILED;
}

// The name of a scene file without folder and extension; NULL if memory is short. The caller frees
// it.
static char *stem(const char *path)
{
    const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    return text_format("%.*s", (int)strcspn(name, "."), name);
}

// Reads the scene before anything is measured, to report its errors and to find its own integrator
// and precision for the name.
static int check_scene(const struct subject *subject, const char **integrator,
                       const char **precision)
{
    struct diagnostics findings = {0};
    taut_error error = {0};
    taut_scene *scene = subject_scene(subject, &findings, &error);
    if (!scene) {
        for (size_t i = 0; i < findings.count; i++) {
            char *text = diagnostic_render(&findings.items[i]);
            fputs(text ? text : "out of memory\n", stderr);
            free(text);
        }
        complain("%s", error.text);
        int code = error.code == TAUT_ERROR_MEMORY ? EXIT_FAILED : EXIT_WRONG;
        diagnostics_free(&findings);
        return code;
    }
    diagnostics_free(&findings);
    *integrator = integrator_name(scene->simulation.integrator);
    *precision = precision_name(scene->precision);
    scene_free(scene);
    return EXIT_DONE;
}

static int add_built_in(struct registry *registry, const struct bench_scene *scene)
{
    static const uint64_t of_stages[] = {1000, 10000, 100000, 1000000};
    const struct bench_options *options = registry->options;
    struct subject subject = {.name = scene->name, .scene = scene, .springs = scene->springs};
    const uint64_t *sizes = options->springs;
    int count = options->springs_count;
    if (count == 0 && options->suites == SUITE_STAGES) {
        sizes = of_stages;
        count = 4;
    }
    subject.overrides = options->overrides;
    subject.override_count = options->override_count;
    subject.no_pin = options->no_pin;
    if (options->override_count > 0) {
        // An override that is wrong is wrong at every size.
        struct subject small = subject;
        small.springs = 1000;
        const char *integrator, *precision;
        int code = check_scene(&small, &integrator, &precision);
        if (code != EXIT_DONE)
            return code;
    }
    bool added = count > 0 || add_variants(registry, subject, false);
    for (int s = 0; s < count && added; s++) {
        subject.springs = sizes[s];
        added = add_variants(registry, subject, true);
    }
    return added ? EXIT_DONE : refuse_memory();
}

static int add_file(struct registry *registry, char *path, char **name)
{
    const struct bench_options *options = registry->options;
    *name = stem(path);
    struct subject subject = {
        .name = *name && **name ? *name : "scene",
        .path = path,
        .overrides = options->overrides,
        .override_count = options->override_count,
        .no_pin = options->no_pin,
    };
    // Every variant that the options select, or the scene's own.
    int integrators = options->integrator_count, precisions = options->precision_count;
    for (int i = 0; i < (integrators > 0 ? integrators : 1); i++)
        for (int p = 0; p < (precisions > 0 ? precisions : 1); p++) {
            subject.integrator = integrators > 0 ? options->integrators[i] : NULL;
            subject.precision = precisions > 0 ? options->precisions[p] : NULL;
            int code = check_scene(&subject, &subject.integrator, &subject.precision);
            if (code != EXIT_DONE)
                return code;
            if (!add_variants(registry, subject, false))
                return refuse_memory();
        }
    return EXIT_DONE;
}

static int refuse_scene(const char *word)
{
    const char *names[BENCH_SCENES];
    for (int s = 0; s < BENCH_SCENES; s++)
        names[s] = bench_scenes[s].name;
    complain("there is no scene '%s', neither built in nor a file", word);
    const char *nearest = nearest_name(word, names, BENCH_SCENES);
    if (nearest)
        fprintf(stderr, "    did you mean '%s'?\n", nearest);
    fputs("Try 'taut-bench --help' for the built-in scenes.\n", stderr);
    return EXIT_WRONG;
}

static bool looks_like_path(const char *word)
{
    FILE *file = strpbrk(word, "./") ? NULL : fopen(word, "rb");
    if (file)
        fclose(file);
    return file || strpbrk(word, "./");
}

// Registers all benchmarks; `names` receives the names of scene files, one per operand.
static int add_all(struct registry *registry, char **names)
{
    const struct bench_options *options = registry->options;
    int code = EXIT_DONE;
    for (int s = 0; s < options->scene_count && code == EXIT_DONE; s++) {
        const struct bench_scene *scene = bench_scene_find(options->scenes[s]);
        if (scene)
            code = add_built_in(registry, scene);
        else if (looks_like_path(options->scenes[s]))
            code = add_file(registry, options->scenes[s], &names[s]);
        else
            code = refuse_scene(options->scenes[s]);
    }
    bool all_scenes = options->scene_count == 0 && options->suites != SUITE_LIMITS;
    for (int s = 0; s < BENCH_SCENES && all_scenes && code == EXIT_DONE; s++)
        if (options->full || !(bench_scenes[s].traits & BENCH_EXTRA))
            code = add_built_in(registry, &bench_scenes[s]);
    bool limits = options->suites & SUITE_LIMITS ||
                  (options->suites == 0 && options->scene_count == 0 && ranks_count() == 1);
    if (code == EXIT_DONE && limits && !add_limits(registry))
        code = refuse_memory();
    return code;
}

// ---- The context of the result

static void add_count_context(const char *key, uint64_t value)
{
    char text[32];
    snprintf(text, sizeof text, "%llu", (unsigned long long)value);
    bench_context(key, text);
}

static void add_context(const struct machine *machine)
{
    bench_context("taut_version", taut_version());
    bench_context("taut_commit", TAUT_BUILD_COMMIT);
    bench_context("taut_compiler", TAUT_BUILD_COMPILER);
    bench_context("taut_build", TAUT_BUILD_BUILD);
    bench_context("taut_flags", TAUT_BUILD_FLAGS);
    bench_context("machine", machine->name);
    add_count_context("machine_cores", (uint64_t)machine->cores);
    add_count_context("machine_logical_processors", (uint64_t)machine->logical);
    add_count_context("machine_packages", (uint64_t)machine->packages);
    add_count_context("machine_memory_nodes", (uint64_t)machine->numa_nodes);
    add_count_context("machine_l1_bytes", machine->l1);
    add_count_context("machine_l2_bytes", machine->l2);
    add_count_context("machine_l3_bytes", machine->l3);
    if (ranks_count() > 1) {
        bench_context("mpi", ranks_library());
        add_count_context("ranks", (uint64_t)ranks_count());
        add_count_context("hosts", (uint64_t)ranks_hosts());
    }
}

// ---- The program

static int choose_threads(struct registry *registry)
{
    const struct bench_options *options = registry->options;
    int most = machine_threads_max(&registry->machine);
    for (int t = 0; t < options->thread_count; t++) {
        if (options->threads[t] > most) {
            complain("--threads: %d are too many for this machine, which takes %d",
                     options->threads[t], most);
            return EXIT_WRONG;
        }
        registry->thread_counts[registry->thread_count++] = options->threads[t];
    }
    if (registry->thread_count == 0) {
        registry->thread_counts[registry->thread_count++] = 1;
        int cores = registry->machine.cores;
        ranks_broadcast(&cores, sizeof cores); // all ranks register the same
        if (cores > 1)
            registry->thread_counts[registry->thread_count++] = cores;
    }
    return EXIT_DONE;
}

// Rejects the suites that several ranks do not measure.
static int check_suites(const struct bench_options *options)
{
    if (ranks_count() == 1 || (options->suites & ~(unsigned)SUITE_STEPS) == 0)
        return EXIT_DONE;
    complain("several ranks measure steps only (--suite steps); start the others without mpirun");
    return EXIT_WRONG;
}

// Chooses and registers the benchmarks, the same on all ranks.
static int prepare(struct registry *registry, char **names)
{
    taut_error error = {0};
    int code = check_suites(registry->options);
    if (code == EXIT_DONE && machine_detect(&registry->machine, &error) != TAUT_OK) {
        complain("%s", error.text);
        code = EXIT_FAILED;
    }
    code = group_agree(code);
    if (code == EXIT_DONE)
        code = choose_threads(registry);
    code = group_agree(code);
    if (code == EXIT_DONE)
        code = add_all(registry, names);
    return group_agree(code);
}

static int run(struct registry *registry)
{
    const struct bench_options *options = registry->options;
    signals_watch();
    if (ranks_number() > 0) {
        group_follow(registry->subjects);
        return EXIT_DONE;
    }
    add_context(&registry->machine);
    int matched = bench_run(options->flag_count, options->flags, options->medians_only);
    subject_release_all();
    group_dismiss();
    if (matched < 0)
        return EXIT_WRONG;
    if (signals_caught() != 0) {
        complain("interrupted by %s", signals_name(signals_caught()));
        return EXIT_FAILED;
    }
    // A filter that matches nothing; Google Benchmark has reported it.
    if (matched == 0 && !options->lists_only)
        return EXIT_WRONG;
    if (fflush(stdout) != 0 || ferror(stdout)) {
        complain("cannot write to standard output");
        return EXIT_FAILED;
    }
    return bench_any_failed() ? EXIT_FAILED : EXIT_DONE;
}

static int measure(const struct bench_options *options)
{
    struct registry registry = {.options = options};
    char **names = calloc((size_t)options->scene_count + 1, sizeof *names);
    int code = names ? EXIT_DONE : refuse_memory();
    code = group_agree(code);
    if (code == EXIT_DONE)
        code = prepare(&registry, names);
    if (code == EXIT_DONE)
        code = run(&registry);

    subject_release_all();
    for (size_t i = 0; i < registry.count; i++)
        free(registry.subjects[i]);
    free(registry.subjects);
    for (int s = 0; names && s < options->scene_count; s++)
        free(names[s]);
    free(names);
    return code;
}

int main(int argc, char **argv)
{
    process_keep_little_memory();
    signals_ignore_writes();
    // If /sys is not mounted, hwloc would print errors; machine.c works without it.
    (void)setenv("HWLOC_HIDE_ERRORS", "2", 0);
    struct bench_options options = {0};
    int code = EXIT_DONE;
    if (!group_begin())
        return EXIT_WRONG;
    const bool sound = options_read(argc, argv, &options, &code);
    const int agreed = group_agree(sound ? EXIT_DONE : code);
    if (agreed != EXIT_DONE)
        code = agreed;
    else if (sound)
        code = measure(&options);
    options_free(&options);
    group_end();
    return code;
}
