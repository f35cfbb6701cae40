#include "cli/info.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/human.h"

static void print_heading(const struct info *info)
{
    const taut_solver *solver = info->solver;
    const taut_scene *scene = info->scene;
    printf("%s%s%s (%s)\n\n", scene->name, scene->title ? ": " : "",
           scene->title ? scene->title : "", info->options->scene);
    printf("  counts     %s, %s, %s, %s\n",
           human_counted(taut_solver_body_count(solver), "body").text,
           human_counted(taut_solver_node_count(solver), "node").text,
           human_counted(taut_solver_spring_count(solver), "spring").text,
           human_counted(taut_solver_face_count(solver), "face").text);
    printf("  run        %g s in %s of %g s\n", solver_planned_time(solver),
           human_counted(solver->steps_planned, "step").text, solver->dt);
    printf("  computed   %s, %s precision, instruction set %s, %s\n",
           integrator_name(solver->integrator),
           solver->precision == PRECISION_DOUBLE ? "double" : "single", isa_name(solver->isa),
           human_counted((uint64_t)solver->threads, "thread").text);
    uint64_t springs = taut_solver_spring_count(solver);
    printf("  memory     %s", human_bytes((double)info->bytes).text);
    if (springs > 0)
        printf(", %.3g bytes a spring", (double)info->bytes / (double)springs);
    puts("");
}

static int longest_name(const struct topology *topology)
{
    size_t longest = strlen("body");
    for (size_t b = 0; b < topology->body_count; b++)
        if (strlen(topology->bodies[b].name) > longest)
            longest = strlen(topology->bodies[b].name);
    return longest < 30 ? (int)longest : 30;
}

static void print_kinds(const struct topology_body *body)
{
    const char *separator = "  ";
    for (size_t kind = 0; spring_kind_name(body->type, kind); kind++) {
        uint64_t count = body->kind_start[kind + 1] - body->kind_start[kind];
        if (count == 0)
            continue;
        printf("%s%s %s", separator, spring_kind_name(body->type, kind), human_count(count).text);
        separator = ", ";
    }
    puts("");
}

// Columns as wide as the largest number in them.
static int count_width(uint64_t largest, const char *heading)
{
    int needed = (int)strlen(human_count(largest).text), least = (int)strlen(heading);
    return needed > least ? needed : least;
}

static void print_bodies(const struct info *info)
{
    const struct topology *topology = info->solver->topology;
    int width = longest_name(topology);
    int nodes = count_width(topology->node_count, "nodes");
    int springs = count_width(topology->spring_count, "springs");
    int faces = count_width(topology->face_count, "faces");
    printf("\n  %-*s  %-10s  %*s  %*s  %*s  %10s  kernel     colours  tiles  springs by kind\n",
           width, "body", "type", nodes, "nodes", springs, "springs", faces, "faces", "mass");
    for (size_t b = 0; b < topology->body_count; b++) {
        const struct topology_body *body = &topology->bodies[b];
        const struct body_plan *plan = &info->plans[b];
        printf("  %-*s  %-10s  %*s  %*s  %*s  %7.4g kg  %-9s  %7d  %5" PRIu64, width, body->name,
               body_type_name(body->type), nodes, human_count(body->node_count).text, springs,
               human_count(body->spring_count).text, faces, human_count(body->face_count).text,
               body->mass, solver_body_kernel(info->solver, b), plan->colours, plan->tiles);
        print_kinds(body);
        if (plan->late > 0)
            printf("  %*s  %s of springs found no lane and are computed one by one\n", width, "",
                   human_counted(plan->late, "end").text);
    }
}

static void print_integrator(const struct info *info, enum integrator integrator)
{
    const taut_solver *solver = info->solver;
    double guaranteed = info->critical.dt[integrator];
    double computed = info->critical.sharp_dt[integrator];
    printf("  %c %-18s", integrator == solver->integrator ? '*' : ' ', integrator_name(integrator));
    if (guaranteed > 0 && isinf(guaranteed)) {
        printf("%12s  %12s     %s\n", "no limit", "no limit",
               info_has_explicit_forces(info, integrator)
                   ? "from springs; wind and gas are explicit"
                   : "stable at every dt");
        return;
    }
    if (guaranteed > 0)
        printf("%10.4g s", guaranteed);
    else
        printf("%12s", "none");
    if (computed > 0)
        printf("  %10.4g s   dt is %.3g of it%s\n", computed, solver->dt / computed,
               solver->dt <= guaranteed ? ""
               : solver->dt <= computed ? ", beyond what is guaranteed"
                                        : ": not stable");
    else
        printf("  %12s     %s\n", "none",
               info->critical.damping > 0 ? "what is not damped grows at every step"
                                          : "grows at every step without damping");
}

static void print_critical(const struct info *info)
{
    const struct critical_step *critical = &info->critical;
    if (!(critical->omega > 0) && !(critical->damping > 0)) {
        puts(
            "\n  Nothing oscillates: no elastic spring is at a free node, and every dt is stable.");
        return;
    }
    printf("\n  The largest stable steps (* is in use, dt = %g s):\n\n  %-20s%12s  %12s\n",
           info->solver->dt, "", "guaranteed", "computed");
    for (int i = 0; i < INTEGRATOR_COUNT; i++)
        print_integrator(info, (enum integrator)i);
    if (!(critical->omega > 0)) {
        puts("\n  Nothing oscillates: they are those of drag and damping alone.");
        return;
    }
    const struct topology_body *body = &info->solver->topology->bodies[info->critical_body];
    printf("\n  They are set at node %" PRIu64 " of body '%s'", critical->node - body->first_node,
           body->name);
    if (critical->known)
        printf(", whose stiffest spring is number %" PRIu64, critical->spring - body->first_spring);
    puts(".");
}

void info_print_table(const struct info *info)
{
    print_heading(info);
    print_bodies(info);
    print_critical(info);
}
