#include "cli/run.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cli/human.h"

enum { FILES_SHOWN = 6, BODIES_SHOWN = 12, TEXT_COLUMN = 13, TABLE_WIDTH = 80 };

// Prints an item of a list that is broken into lines; `column` is where the last one ended.
static void print_item(int *column, const char *format, ...) PRINTF_FORMAT(2, 3);

static void print_item(int *column, const char *format, ...)
{
    char text[120];
    va_list arguments;
    va_start(arguments, format);
    // NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): clang-tidy 14, of many files at once
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (*column + 1 + length > TABLE_WIDTH)
        *column = printf("\n%*s", TEXT_COLUMN - 1, "") - 1;
    *column += printf(" %s", text);
}

static void print_run(const struct run *run)
{
    const taut_solver *solver = run->solver;
    const taut_scene *scene = run->scene;
    uint64_t steps = taut_solver_step_count(solver);
    printf("%s%s%s\n", scene->name, scene->title ? ": " : "", scene->title ? scene->title : "");
    printf("  system     %s, %s, %s, %s\n",
           human_counted(taut_solver_body_count(solver), "body").text,
           human_counted(taut_solver_node_count(solver), "node").text,
           human_counted(taut_solver_spring_count(solver), "spring").text,
           human_counted(taut_solver_face_count(solver), "face").text);
    printf("  simulated  %.6g s in %s of %g s%s\n", taut_solver_time(solver),
           human_counted(steps, "step").text, solver->dt,
           steps < run->solver->steps_planned ? " (cut short)" : "");
    printf("  computed   %s, %s precision, instruction set %s, %s\n",
           integrator_name(solver->integrator),
           solver->precision == PRECISION_DOUBLE ? "double" : "single", isa_name(solver->isa),
           human_counted((uint64_t)solver->threads, "thread").text);
}

static void print_stages(const struct run *run)
{
    const struct stage_clock *clock = run->solver->functions->clock(run->solver->system);
    double total = run->output_seconds;
    for (int stage = 0; stage < STAGE_COUNT; stage++)
        total += clock->seconds[stage];
    if (!(total > 0))
        return;
    int column = printf("  %-*s", TEXT_COLUMN - 3, "stages");
    for (int stage = 0; stage <= STAGE_COUNT; stage++) {
        bool output = stage == STAGE_COUNT;
        double share = 100 * (output ? run->output_seconds : clock->seconds[stage]) / total;
        if (share >= 0.05)
            print_item(&column, "%s %.1f%%", output ? "output" : stage_name((enum stage)stage),
                       share);
    }
    puts("");
}

static void print_times(const struct run *run)
{
    const taut_solver *solver = run->solver;
    printf("  set-up     %s\n", human_seconds(run->setup_seconds).text);
    printf("  stepping   %s", human_seconds(solver->step_seconds).text);
    if (isfinite(run_spring_rate(run)))
        printf(": %s spring updates/s, %s node updates/s", human_scaled(run_spring_rate(run)).text,
               human_scaled(run_node_rate(run)).text);
    puts("");
    print_stages(run);
    printf("  memory     %s for the system, %s at most in all\n",
           human_bytes((double)solver_bytes(solver)).text,
           human_bytes((double)run_peak_bytes()).text);
}

// A term of the balance that is not zero.
static void print_term(int *column, const char *name, double value, char sign)
{
    if (value != 0)
        print_item(column, "%c %s %.5g", sign, name, value);
}

// What is left of the balance, beside what was exchanged and what the order of the integrator
// leaves.
static void print_closure(const struct balance *balance)
{
    printf("  closure    residual %.3g J", balance->residual);
    if (balance->exchanged > 0)
        printf(", %.2g%% of the %.4g J exchanged",
               100 * fabs(balance->residual) / balance->exchanged, balance->exchanged);
    printf(";\n%*s", TEXT_COLUMN, "");
    switch (balance->verdict) {
    case BALANCE_CLOSES:
        printf("closes: order %d leaves up to %.2g J at this dt", balance->order, balance->allowed);
        break;
    case BALANCE_COARSE:
        printf("too coarse to tell: order %d leaves up to %.2g J at this dt", balance->order,
               balance->allowed);
        break;
    case BALANCE_OPEN:
        printf("does not close: order %d leaves no more than %.2g J at this dt", balance->order,
               balance->allowed);
        break;
    }
    puts("");
    if (balance->cause)
        printf("%*scause: %s\n", TEXT_COLUMN, "", balance->cause);
}

static void print_energy(const struct run *run)
{
    const struct snapshot *now = &run->view.snapshot;
    printf("  energy     kinetic %.5g, elastic %.5g, gravity %.5g", now->kinetic, now->elastic,
           now->gravity);
    if (now->gas != 0)
        printf(", gas %.5g", now->gas);
    if (now->contact != 0)
        printf(", contact %.5g", now->contact);
    printf(", total %.6g J\n", now->total);
    if (!now->has_work) {
        printf("  balance    changed by %.5g J; the account of work is off (output.work)\n",
               now->total - run->first.total);
        return;
    }
    const struct snapshot_work *work = &now->work;
    const struct balance balance = run_balance(run);
    int column = printf("  balance    changed by %.5g J, accounted for are %.5g J", balance.change,
                        balance.accounted);
    print_term(&column, "wind", work->wind, '+');
    print_term(&column, "drives", work->drives, '+');
    print_term(&column, "inflation", work->inflation, '+');
    print_term(&column, "damping", work->damping, '-');
    print_term(&column, "drag", work->drag, '-');
    print_term(&column, "friction", work->friction, '-');
    print_term(&column, "keep", work->keep, '-');
    print_term(&column, "projection", work->projection, '-');
    print_term(&column, "breaking", work->breaking, '-');
    puts("");
    print_closure(&balance);
}

// How well the equations of implicit steps were solved, and at what cost.
static void print_implicit(const struct run *run)
{
    const struct implicit_account *account = run->solver->functions->implicit(run->solver->system);
    if (!account || account->solves == 0)
        return;
    printf("  implicit   %s, %.3g iterations each, residual %.2g at worst",
           human_counted(account->solves, "linear system").text,
           (double)account->iterations / (double)account->solves, account->worst_residual);
    if (account->unconverged > 0)
        printf("; not converged in %s", human_counted(account->unconverged, "step").text);
    puts("");
}

static void print_bodies(const struct run *run)
{
    uint64_t broken = taut_solver_broken_count(run->solver);
    if (broken > 0)
        printf("  broken     %s of %s\n", human_counted(broken, "spring").text,
               human_count(taut_solver_spring_count(run->solver)).text);
    size_t shown = 0, closed = 0;
    for (size_t b = 0; b < run->view.body_count; b++) {
        if (!run->solver->topology->bodies[b].closed)
            continue;
        if (closed++ >= BODIES_SHOWN)
            continue;
        const struct snapshot_body *body = &run->view.bodies[b];
        printf("  %-9s  %s %.6g %s\n", shown++ == 0 ? "volume" : "", body->name, body->volume,
               body->face_arity == 2 ? "m2" : "m3");
    }
    if (closed > shown)
        printf("             and %s more\n", human_counted(closed - shown, "body").text);
}

static bool ends_with(const char *text, const char *ending)
{
    size_t length = strlen(text), tail = strlen(ending);
    return length >= tail && strcmp(text + length - tail, ending) == 0;
}

static void print_files(const struct run *run)
{
    for (size_t i = 0; i < run->file_count && i < FILES_SHOWN; i++)
        printf("  %-9s  %s\n", i == 0 ? "files" : "", run->files[i]);
    if (run->file_count > FILES_SHOWN)
        printf("             and %s more\n", human_count(run->file_count - FILES_SHOWN).text);
}

// What to open the results with.
static void print_viewers(const struct run *run)
{
    bool caches = false;
    for (size_t i = 0; i < run->file_count; i++) {
        const char *file = run->files[i];
        if (ends_with(file, ".pvd"))
            printf("  ParaView   open %s\n", file);
        if (!ends_with(file, ".pc2") || caches)
            continue;
        caches = true;
        printf("  Blender    import %.*s.obj (axes as they are: Y up), and give it a Mesh Cache\n"
               "             modifier with %s\n",
               (int)(strlen(file) - strlen(".pc2")), file, file);
    }
}

void run_print_table(const struct run *run)
{
    print_run(run);
    print_times(run);
    print_energy(run);
    print_implicit(run);
    print_bodies(run);
    print_files(run);
    print_viewers(run);
}
