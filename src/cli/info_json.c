#include "cli/info.h"

#include <math.h>

#include "cli/json.h"

static const char *precision_name(const taut_solver *solver)
{
    return solver->precision == PRECISION_DOUBLE ? "double" : "single";
}

static void print_kinds(struct json *json, const struct topology_body *body)
{
    json_open_object(json, "springs_by_kind");
    for (size_t kind = 0; spring_kind_name(body->type, kind); kind++) {
        uint64_t count = body->kind_start[kind + 1] - body->kind_start[kind];
        if (count > 0)
            json_count(json, spring_kind_name(body->type, kind), count);
    }
    json_close_object(json);
}

// The nodes of a grid along x, y and z; null where there is none.
static void print_lattice(struct json *json, const struct plan_grid *grid)
{
    if (!grid) {
        json_null(json, "lattice");
        return;
    }
    json_open_array(json, "lattice");
    json_count(json, NULL, grid->nx);
    json_count(json, NULL, grid->ny);
    json_count(json, NULL, grid->nz);
    json_close_array(json);
}

static void print_body(struct json *json, const struct info *info, size_t index)
{
    const struct topology_body *body = &info->solver->topology->bodies[index];
    const struct body_plan *plan = &info->plans[index];
    json_open_object(json, NULL);
    json_string(json, "name", body->name);
    json_string(json, "type", body_type_name(body->type));
    json_count(json, "nodes", body->node_count);
    json_count(json, "springs", body->spring_count);
    print_kinds(json, body);
    json_count(json, "faces", body->face_count);
    json_number(json, "mass", body->mass);
    json_string(json, "kernel", solver_body_kernel(info->solver, index));
    print_lattice(json, plan_grid_of_body(info->solver->plan, index));
    json_count(json, "colours", (uint64_t)plan->colours);
    json_count(json, "tiles", plan->tiles);
    if (plan->lanes > 0)
        json_number(json, "lanes_filled", (double)plan->filled / (double)plan->lanes);
    json_count(json, "late_springs", plan->late);
    json_close_object(json);
}

// Null: no step is known to be stable, or all are, or nothing oscillates and nothing is damped.
static void print_by_integrator(struct json *json, const char *name, const double *steps,
                                bool limited)
{
    json_open_object(json, name);
    for (int i = 0; i < INTEGRATOR_COUNT; i++)
        json_number(json, integrator_name((enum integrator)i),
                    limited && steps[i] > 0 ? steps[i] : NAN);
    json_close_object(json);
}

static void print_critical(struct json *json, const struct info *info)
{
    const struct critical_step *critical = &info->critical;
    bool oscillates = critical->omega > 0;
    json_open_object(json, "critical_step");
    if (oscillates) {
        const struct topology_body *body = &info->solver->topology->bodies[info->critical_body];
        json_number(json, "bound", critical->bound);
        json_number(json, "sharp", critical->sharp);
        json_count(json, "node", critical->node - body->first_node);
        if (critical->known)
            json_count(json, "spring", critical->spring - body->first_spring);
        else
            json_null(json, "spring");
        json_string(json, "body", body->name);
    } else {
        json_null(json, "bound");
        json_null(json, "sharp");
        json_null(json, "node");
        json_null(json, "spring");
        json_null(json, "body");
    }
    json_close_object(json);
    bool limited = oscillates || critical->damping > 0;
    print_by_integrator(json, "by_integrator", critical->dt, limited);
    print_by_integrator(json, "by_integrator_sharp", critical->sharp_dt, limited);
    json_open_array(json, "unconditionally_stable");
    for (int i = 0; i < INTEGRATOR_COUNT; i++)
        if (isinf(integrator_limit((enum integrator)i)) &&
            !info_has_explicit_forces(info, (enum integrator)i))
            json_string(json, NULL, integrator_name((enum integrator)i));
    json_close_array(json);
}

void info_print_json(const struct info *info)
{
    const taut_solver *solver = info->solver;
    uint64_t springs = taut_solver_spring_count(solver);
    struct json json = {.out = stdout};
    json_open_object(&json, NULL);
    json_string(&json, "scene", info->options->scene);
    json_count(&json, "nodes", taut_solver_node_count(solver));
    json_count(&json, "springs", springs);
    json_count(&json, "faces", taut_solver_face_count(solver));
    json_count(&json, "bytes", info->bytes);
    if (springs > 0)
        json_number(&json, "bytes_per_spring", (double)info->bytes / (double)springs);
    else
        json_null(&json, "bytes_per_spring");
    json_open_array(&json, "bodies");
    for (size_t b = 0; b < taut_solver_body_count(solver); b++)
        print_body(&json, info, b);
    json_close_array(&json);
    print_critical(&json, info);
    json_string(&json, "integrator", integrator_name(solver->integrator));
    json_string(&json, "precision", precision_name(solver));
    json_number(&json, "dt", solver->dt);
    json_count(&json, "steps", solver->steps_planned);
    json_count(&json, "threads", (uint64_t)solver->threads);
    json_close_object(&json);
}
