// The benchmarks in detail: whole steps, stages of a step, the volume, products with the
// tangent, plan and set-up, over sizes,
// threads and instruction sets. Names are KIND/SCENE/KERNEL/threads:N/SPRINGS/manual_time; choose
// with --benchmark_filter, e.g. --benchmark_filter='step/cloth/v4'.
//
// Sizes are 10^3 (stages; in the first cache) or 10^4 to 10^6 springs; with TAUT_BENCH_LARGE set in
// the environment 10^7 as well.
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/text.h"
#include "cli/bench.h"
#include "cli/bench_model.h"
#include "forces/forces.h"
#include "forces/tangent.h"
#include "parallel/machine.h"
#include "scene/reader.h"
#include "shim.h"
#include "subject.h"

static void finish_counters(struct bench_state *state, const taut_solver *solver, double steps)
{
    double springs = (double)taut_solver_spring_count(solver);
    bench_value(state, "springs", springs);
    bench_count(state, "springs/s", springs * steps);
    bench_count(state, "nodes/s", (double)taut_solver_node_count(solver) * steps);
    bench_value(state, "bytes/spring", (double)solver_bytes(solver) / springs);
}

// Steps a turn: small scenes take several, so that entering the team is no part of what is
// measured.
static uint64_t steps_a_turn(const taut_solver *solver)
{
    const uint64_t enough = 1000000; // spring updates
    return 1 + enough / taut_solver_spring_count(solver);
}

static void bench_step(struct bench_state *state, const void *context)
{
    taut_error error = {0};
    taut_solver *solver = subject_solver(context, &error);
    if (!solver || solver_advance(solver, 2, false, &error) != TAUT_OK) {
        bench_fail(state, error.text);
        return;
    }
    uint64_t steps = steps_a_turn(solver);
    while (bench_next(state)) {
        double before = solver->step_seconds;
        if (solver_advance(solver, steps, false, &error) != TAUT_OK) {
            bench_fail(state, error.text);
            return;
        }
        bench_seconds(state, solver->step_seconds - before);
    }
    finish_counters(state, solver, (double)steps);
    bench_count(state, "model_bytes/s", bench_model_bytes(solver) * (double)steps);
}

// The triad over arrays larger than the caches, in which a second turn is another allocation.
static void bench_triad(struct bench_state *state, const void *context)
{
    const double unit = 1e9; // bytes; a turn is told as the time of so many
    const struct subject *subject = context;
    struct machine machine;
    taut_error error = {0};
    taut_status status = machine_detect(&machine, &error);
    while (status == TAUT_OK && bench_next(state)) {
        struct bench_limit limit = {.threads = subject->threads};
        status = bench_bandwidth_measure(&machine, &limit, &error);
        if (status == TAUT_OK)
            bench_seconds(state, unit / bench_best(&limit.triad));
    }
    if (status == TAUT_OK)
        bench_count(state, "bytes/s", unit);
    else
        bench_fail(state, error.text);
}

// The time that worker 0 spends in one stage, its barriers included, of whole steps.
static void bench_stage(struct bench_state *state, const void *context)
{
    const struct subject *subject = context;
    taut_error error = {0};
    taut_solver *solver = subject_solver(subject, &error);
    if (!solver || solver_advance(solver, 2, false, &error) != TAUT_OK) {
        bench_fail(state, error.text);
        return;
    }
    uint64_t steps = steps_a_turn(solver);
    const struct stage_clock *clock = solver->functions->clock(solver->system);
    while (bench_next(state)) {
        double before = clock->seconds[subject->stage];
        if (solver_advance(solver, steps, false, &error) != TAUT_OK) {
            bench_fail(state, error.text);
            return;
        }
        bench_seconds(state, clock->seconds[subject->stage] - before);
    }
    finish_counters(state, solver, (double)steps);
    if (taut_solver_face_count(solver) > 0)
        bench_count(state, "faces/s", (double)taut_solver_face_count(solver) * (double)steps);
}

static void measure_volume(void *context, const struct worker *worker)
{
    taut_solver *solver = context;
    REAL_NAME(volumes_measure)(solver->system, 0, false, worker);
}

static void bench_volume(struct bench_state *state, const void *context)
{
    taut_error error = {0};
    taut_solver *solver = subject_solver(context, &error);
    if (!solver) {
        bench_fail(state, error.text);
        return;
    }
    while (bench_next(state)) {
        double begin = clock_seconds();
        team_run(solver->threads, measure_volume, solver);
        bench_seconds(state, clock_seconds() - begin);
    }
    double faces = (double)taut_solver_face_count(solver);
    double nodes = (double)taut_solver_node_count(solver);
    bench_value(state, "springs", (double)taut_solver_spring_count(solver));
    bench_count(state, "faces/s", faces);
    // Three node numbers a face, a position a node.
    bench_count(state, "model_bytes/s", 12 * faces + 12 * nodes);
}

// Products with the tangent of the forces.
struct products {
    taut_solver *solver;
    struct tangent *tangent;
    struct node_vectors in, out;
    uint64_t count; // a turn; 0: an update
};

static void multiply(void *context, const struct worker *worker)
{
    const struct products *it = context;
    if (it->count == 0)
        REAL_NAME(tangent_update)(it->tangent, TANGENT_DEFINITE, (struct moment){0}, worker);
    for (uint64_t i = 0; i < it->count; i++)
        REAL_NAME(tangent_apply)(it->tangent, 1, 1, it->in, it->out, worker);
}

static struct node_vectors vectors_in(real *room, uint64_t nodes)
{
    return (struct node_vectors){room, room + nodes, room + 2 * nodes};
}

static void bench_tangent(struct bench_state *state, const void *context)
{
    taut_error error = {0};
    struct products it = {.solver = subject_solver(context, &error)};
    if (!it.solver || REAL_NAME(tangent_make)(it.solver->system, &it.tangent, &error) != TAUT_OK) {
        bench_fail(state, error.text);
        return;
    }
    uint64_t nodes = taut_solver_node_count(it.solver);
    real *room = memory_allocate(NULL, (size_t)nodes, 6 * sizeof *room);
    if (room) {
        it.in = vectors_in(room, nodes);
        it.out = vectors_in(room + 3 * nodes, nodes);
        for (uint64_t i = 0; i < 3 * nodes; i++)
            room[i] = (real)(i % 7) - 3;
        solver_work(it.solver, multiply, &it);
        it.count = steps_a_turn(it.solver);
        while (bench_next(state)) {
            double begin = clock_seconds();
            solver_work(it.solver, multiply, &it);
            bench_seconds(state, clock_seconds() - begin);
        }
        finish_counters(state, it.solver, (double)it.count);
    } else {
        bench_fail(state, "out of memory");
    }
    memory_release(NULL, room, (size_t)nodes, 6 * sizeof *room);
    REAL_NAME(tangent_free)(it.tangent);
}

static void bench_plan(struct bench_state *state, const void *context)
{
    taut_error error = {0};
    taut_solver *solver = subject_solver(context, &error);
    if (!solver) {
        bench_fail(state, error.text);
        return;
    }
    while (bench_next(state)) {
        struct plan_options options = {0};
        struct plan *plan;
        double begin = clock_seconds();
        if (plan_make(solver->topology, &options, NULL, &plan, &error) != TAUT_OK) {
            bench_fail(state, error.text);
            return;
        }
        bench_seconds(state, clock_seconds() - begin);
        plan_free(plan);
    }
    bench_count(state, "springs/s", (double)taut_solver_spring_count(solver));
}

// From a scene that has been read to a solver at time 0.
static void bench_setup(struct bench_state *state, const void *context)
{
    taut_error error = {0};
    taut_scene *scene = subject_scene(context, &error);
    uint64_t springs = 0;
    while (scene && error.code == TAUT_OK && bench_next(state)) {
        taut_solver *solver;
        if (subject_make(context, scene, &solver, &error) != TAUT_OK)
            break;
        bench_seconds(state, solver->setup_seconds);
        springs = taut_solver_spring_count(solver);
        taut_solver_destroy(solver);
    }
    if (error.code != TAUT_OK)
        bench_fail(state, error.text);
    else
        bench_count(state, "springs/s", (double)springs);
    scene_free(scene);
}

// ---- Registration

struct registry {
    struct subject *subjects; // all there are, made at once: benchmarks keep pointers to them
    size_t count, capacity;
    int cores;
    bool large, failed;
};

static void add(struct registry *registry, const char *kind, bench_function function,
                struct subject subject)
{
    const char *kernel =
        subject.kernel == TAUT_KERNEL_REFERENCE ? "reference" : isa_name(subject.isa);
    char *name = text_format("%s/%s/%s/threads:%d/%llu", kind, subject.scene->name, kernel,
                             subject.threads, (unsigned long long)subject.springs);
    if (!name || registry->count == registry->capacity) {
        registry->failed = true;
    } else {
        registry->subjects[registry->count] = subject;
        bench_register(name, function, &registry->subjects[registry->count++]);
    }
    free(name);
}

// The reference on one thread, and every instruction set on one and on all cores.
static void add_kernels(struct registry *registry, const char *kind, bench_function function,
                        struct subject subject)
{
    subject.kernel = TAUT_KERNEL_REFERENCE;
    subject.threads = 1;
    add(registry, kind, function, subject);
    subject.kernel = TAUT_KERNEL_AUTO;
    for (int isa = 0; isa < ISA_COUNT; isa++) {
        if (!isa_available((enum isa)isa))
            continue;
        subject.isa = (enum isa)isa;
        subject.threads = 1;
        add(registry, kind, function, subject);
        subject.threads = registry->cores;
        if (registry->cores > 1)
            add(registry, kind, function, subject);
    }
}

static void add_scene(struct registry *registry, const struct bench_scene *scene)
{
    bool faces = scene->shape == BENCH_CLOTH || scene->shape == BENCH_BALL;
    uint64_t most = registry->large ? 10000000 : 1000000;
    if (scene->shape == BENCH_BALL && most > 1000000)
        most = 1000000; // 8 subdivisions, the most that there are, have 2 million springs
    for (uint64_t springs = 1000; springs <= most; springs *= 10) {
        struct subject subject = {.scene = scene, .springs = springs, .threads = 1};
        subject.stage = STAGE_SPRINGS;
        add_kernels(registry, "springs", bench_stage, subject);
        add_kernels(registry, "tangent", bench_tangent, subject);
        if (scene->shape == BENCH_BALL) {
            subject.stage = STAGE_PRESSURE;
            add_kernels(registry, "pressure", bench_stage, subject);
            add_kernels(registry, "volume", bench_volume, subject);
        }
        if (faces) {
            subject.stage = STAGE_WIND;
            subject.wind = true;
            subject.wind_law = WIND_FACE;
            add_kernels(registry, "wind_face", bench_stage, subject);
            subject.wind_law = WIND_NODE; // normals of nodes
            add_kernels(registry, "wind_node", bench_stage, subject);
            subject.wind = false;
        }
        if (springs < 10000)
            continue;
        add_kernels(registry, "step", bench_step, subject);
        add(registry, "plan", bench_plan, subject);
        add(registry, "setup", bench_setup, subject);
    }
}

static void add_bandwidth(struct registry *registry)
{
    static const struct bench_scene none = {.name = "triad"};
    struct subject subject = {.scene = &none, .threads = 1};
    add(registry, "bandwidth", bench_triad, subject);
    subject.threads = registry->cores;
    if (registry->cores > 1)
        add(registry, "bandwidth", bench_triad, subject);
}

int main(int argc, char **argv)
{
    enum { SUBJECTS_MAX = BENCH_SCENES * 5 * 7 * (1 + 2 * ISA_COUNT) };
    struct registry registry = {.capacity = SUBJECTS_MAX, .large = getenv("TAUT_BENCH_LARGE")};
    struct machine machine;
    taut_error error = {0};
    registry.subjects = calloc(SUBJECTS_MAX, sizeof *registry.subjects);
    if (!registry.subjects || machine_detect(&machine, &error) != TAUT_OK) {
        fprintf(stderr, "taut_benchmarks: %s\n", error.text[0] ? error.text : "out of memory");
        free(registry.subjects);
        return 1;
    }
    registry.cores = machine.cores;
    for (int s = 0; s < BENCH_SCENES; s++)
        if (!(bench_scenes[s].traits & BENCH_EXTRA)) // variations, and sizes that are made here
            add_scene(&registry, &bench_scenes[s]);
    add_bandwidth(&registry);
    int code = 1;
    if (registry.failed)
        fprintf(stderr, "taut_benchmarks: the benchmarks could not be registered\n");
    else
        code = bench_run(argc, argv);
    subject_forget();
    free(registry.subjects);
    return code;
}
