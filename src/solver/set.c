// The setters of taut.h: each checks a value, writes it into the compiled scene, and refreshes
// everything derived from it (change.h). Values that also depend on the state (forces from which
// integrators continue, contacts, energies) are updated once, before the next step or evaluation,
// however many constants have changed by then.
#include "solver/private.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "scene/moduli.h"
#include "scene/schema/schema.h"

// ---- Before and after

struct change_task {
    taut_solver *solver;
    struct change *change;
};

static void save(void *context, const struct worker *worker)
{
    const struct change_task *it = context;
    it->solver->functions->change_save(it->solver->system, it->change, worker);
}

// Called before a value is written.
static taut_status begin_change(taut_solver *solver, taut_error *error)
{
    struct change *change = NULL;
    if (solver->change)
        return TAUT_OK;
    taut_status status = solver->functions->change_begin(solver->system, &change, error);
    if (status != TAUT_OK) {
        solver->functions->change_free(solver->system, change);
        return status;
    }
    solver_work(solver, save, &(struct change_task){solver, change});
    solver->change = change;
    return TAUT_OK;
}

// Called after a value has been written.
static taut_status refresh(taut_solver *solver, bool stiffnesses, taut_error *error)
{
    plan_find_damped(solver->topology, solver->plan);
    dt_plan_checks(solver);
    solver->exceeded_by = 0;
    if (solver->dt_rule.automatic)
        solver->dt_rule.built = NAN; // a solver created with these constants has another one
    return solver->functions->change_refresh(solver->system, stiffnesses, error);
}

// Writes `size` bytes of a value and refreshes what is derived from it. If there is not enough
// memory, the value is restored.
static taut_status write_value(taut_solver *solver, void *at, const void *value, size_t size,
                               taut_error *error)
{
    unsigned char before[sizeof(struct scene_collider)];
    if (size > sizeof before)
        return fail(error, TAUT_ERROR_UNSUPPORTED, "a constant of %zu bytes", size);
    taut_status status = begin_change(solver, error);
    if (status != TAUT_OK)
        return status;
    memcpy(before, at, size);
    memcpy(at, value, size);
    status = refresh(solver, true, error);
    if (status != TAUT_OK) {
        memcpy(at, before, size);
        (void)refresh(solver, false, NULL); // the line preconditioner is unchanged
    }
    return status;
}

static void finish_change(void *context, const struct worker *worker)
{
    const struct change_task *it = context;
    it->solver->functions->change_finish(it->solver->system, it->change, worker);
    if (it->solver->dt_rule.automatic)
        dt_adapt(it->solver, dt_load_now(it->solver, worker), worker);
}

void apply_changes(taut_solver *solver)
{
    struct change *change = solver->change;
    if (!change)
        return;
    solver->change = NULL;
    solver_work(solver, finish_change, &(struct change_task){solver, change});
    solver->functions->change_free(solver->system, change);
}

// ---- Arguments

static taut_status find_body(const taut_solver *solver, size_t body, taut_error *error)
{
    if (body < solver->topology->body_count)
        return TAUT_OK;
    return fail(error, TAUT_ERROR_ARGUMENT,
                "there is no body %zu; the scene has %zu, numbered from 0", body,
                solver->topology->body_count);
}

// Whether a node of `body`, or of any body (SIZE_MAX), moves by a formula of this type.
static bool moves_by(const struct topology *topology, enum motion_type type, size_t body)
{
    for (size_t m = 0; m < topology->motion_count; m++)
        if (topology->motions[m].type == type &&
            (body == SIZE_MAX ||
             topology_body_of_node(topology, topology->motions[m].node) == body))
            return true;
    return false;
}

static taut_status refuse_formula(const char *what, taut_error *error)
{
    return fail(error, TAUT_ERROR_UNSUPPORTED,
                "%s changes the motion of a body that moves by a formula: create another solver",
                what);
}

static bool has_formula(const struct topology *topology, size_t body)
{
    return moves_by(topology, MOTION_OSCILLATOR, body) ||
           moves_by(topology, MOTION_PENDULUM, body) ||
           moves_by(topology, MOTION_SMALL_ANGLE, body);
}

static bool is_at_least(double value, double least)
{
    return isfinite(value) && value >= least;
}

// A member of a struct of taut.h, and what it may be: finite, at least `min` (above it if `open`)
// and at most `max`, unless that is INFINITY.
struct member {
    const char *name;
    double value, min, max;
    bool open;
};

static taut_status check_members(const char *of, const struct member *members, size_t count,
                                 taut_error *error)
{
    for (size_t i = 0; i < count; i++) {
        const struct member *it = &members[i];
        if (isfinite(it->value) && it->value <= it->max &&
            (it->open ? it->value > it->min : it->value >= it->min))
            continue;
        char allowed[80];
        if (isinf(it->min))
            snprintf(allowed, sizeof allowed, "finite");
        else if (isinf(it->max))
            snprintf(allowed, sizeof allowed, "finite and %s %g", it->open ? "above" : "at least",
                     it->min);
        else if (it->open)
            snprintf(allowed, sizeof allowed, "above %g and at most %g", it->min, it->max);
        else
            snprintf(allowed, sizeof allowed, "from %g to %g", it->min, it->max);
        return fail(error, TAUT_ERROR_ARGUMENT, "'%s' of %s must be %s, not %g", it->name, of,
                    allowed, it->value);
    }
    return TAUT_OK;
}

taut_status check_precision(const taut_solver *solver, const double *values, size_t count,
                            bool sizes, taut_error *error)
{
    for (size_t i = 0; i < count; i++) {
        const char *reason = precision_lacks(solver->precision, values[i], sizes);
        if (reason)
            return fail(error, TAUT_ERROR_ARGUMENT, "%g %s", values[i], reason);
    }
    return TAUT_OK;
}

// ---- Materials

// Whether the constants of springs on the boundary of a body are fractions of those inside.
static bool is_weighted(const struct topology *topology, const struct topology_body *body)
{
    return body->direction_count > 0 && topology->directions[body->first_direction].weighted;
}

// The number of materials without those of springs on the boundary, which follow from the others.
static size_t own_material_count(const struct topology *topology, const struct topology_body *body)
{
    return is_weighted(topology, body) ? spring_kind_count(body->type) : body->material_count;
}

size_t taut_solver_material_count(const taut_solver *solver, size_t body)
{
    const struct topology *topology = solver->topology;
    return body < topology->body_count ? own_material_count(topology, &topology->bodies[body]) : 0;
}

static bool any_spring_of(const struct topology *topology, const struct topology_body *body,
                          size_t material)
{
    const uint64_t end = body->first_spring + body->spring_count;
    for (uint64_t spring = body->first_spring; spring < end;) {
        const struct spring_run run = topology_run(topology, spring, end);
        if (run.material == body->first_material + material)
            return true;
        spring += run.count;
    }
    return false;
}

ptrdiff_t taut_solver_find_material(const taut_solver *solver, size_t body, const char *kind)
{
    if (body >= solver->topology->body_count)
        return -1;
    const struct topology_body *it = &solver->topology->bodies[body];
    for (size_t i = 0; it->type != BODY_NETWORK && i < it->material_count; i++) {
        const char *name = spring_kind_name(it->type, i);
        if (name && strcmp(name, kind) == 0)
            return any_spring_of(solver->topology, it, i) ? (ptrdiff_t)i : -1;
    }
    return -1;
}

static taut_status find_material(taut_solver *solver, size_t body, size_t material,
                                 struct material **found, taut_error *error)
{
    taut_status status = find_body(solver, body, error);
    if (status != TAUT_OK)
        return status;
    const struct topology_body *it = &solver->topology->bodies[body];
    const size_t count = own_material_count(solver->topology, it);
    if (material >= count)
        return fail(error, TAUT_ERROR_ARGUMENT,
                    "there is no material %zu; body '%s' has %zu, numbered from 0", material,
                    it->name, count);
    *found = &solver->topology->materials[it->first_material + material];
    return TAUT_OK;
}

// The materials of springs on the boundary that follow from this one, or NULL.
static struct material *boundary_materials(const struct topology *topology, size_t body,
                                           const struct material *material)
{
    const struct topology_body *it = &topology->bodies[body];
    for (size_t d = 0; is_weighted(topology, it) && d < it->direction_count; d++) {
        const struct direction *direction = &topology->directions[it->first_direction + d];
        if (&topology->materials[direction->material] == material)
            return &topology->materials[direction->boundary_material];
    }
    return NULL;
}

// A body's constants are given one by one or follow from moduli, in a solver as in a scene.
static taut_status refuse_moduli(const struct topology_body *body, taut_error *error)
{
    const char *const key = body->moduli->fabric.present ? "fabric" : "elastic";
    return fail(error, TAUT_ERROR_UNSUPPORTED,
                "the springs of body '%s' follow from its '%s': use taut_solver_set_%s", body->name,
                key, key);
}

// Writes the constants and refreshes what is derived from them, as write_value does.
static taut_status write_material(taut_solver *solver, struct material *material, double stiffness,
                                  double damping, taut_error *error)
{
    struct material value = *material;
    value.stiffness = stiffness;
    value.damping = damping;
    taut_status status = check_precision(solver, (double[]){stiffness, damping}, 2, true, error);
    return status == TAUT_OK ? write_value(solver, material, &value, sizeof value, error) : status;
}

taut_status taut_solver_set_stiffness(taut_solver *solver, size_t body, size_t material,
                                      double stiffness, taut_error *error)
{
    struct material *it = NULL;
    taut_status status = find_material(solver, body, material, &it, error);
    if (status != TAUT_OK)
        return status;
    if (solver->topology->bodies[body].moduli)
        return refuse_moduli(&solver->topology->bodies[body], error);
    const enum body_type type = solver->topology->bodies[body].type;
    const bool needs_some = type == BODY_OSCILLATOR || type == BODY_PENDULUM;
    if (it->law == LAW_RIGID)
        return fail(error, TAUT_ERROR_ARGUMENT, "a rigid spring has no stiffness");
    if (!is_at_least(stiffness, 0) || (needs_some && stiffness == 0))
        return fail(error, TAUT_ERROR_ARGUMENT, "a stiffness is %s, not %g N/m",
                    needs_some ? "above 0 here" : "finite and at least 0", stiffness);
    if (has_formula(solver->topology, body))
        return refuse_formula("the stiffness", error);
    return write_material(solver, it, stiffness, it->damping, error);
}

taut_status taut_solver_set_damping(taut_solver *solver, size_t body, size_t material,
                                    double damping, taut_error *error)
{
    struct material *it = NULL;
    taut_status status = find_material(solver, body, material, &it, error);
    if (status != TAUT_OK)
        return status;
    if (solver->topology->bodies[body].moduli)
        return refuse_moduli(&solver->topology->bodies[body], error);
    if (!is_at_least(damping, 0))
        return fail(error, TAUT_ERROR_ARGUMENT, "a damping is finite and at least 0, not %g N s/m",
                    damping);
    if (has_formula(solver->topology, body))
        return refuse_formula("the damping", error);
    return write_material(solver, it, it->stiffness, damping, error);
}

// Checks the rest lengths that scale_lists will write.
static taut_status check_scaled(const taut_solver *solver, size_t body, uint32_t material,
                                double factor, taut_error *error)
{
    const struct topology *topology = solver->topology;
    const struct topology_body *it = &topology->bodies[body];
    const double own[] = {factor, topology->materials[material].rest_length * factor};
    taut_status status = check_precision(solver, own, 2, true, error);
    for (size_t d = 0; status == TAUT_OK && d < it->direction_count; d++) {
        const struct direction *direction = &topology->directions[it->first_direction + d];
        const double scaled = direction->rest_length * factor;
        if (direction->material == material)
            status = check_precision(solver, &scaled, 1, true, error);
    }
    for (uint64_t i = 0; status == TAUT_OK && it->direction_count == 0 && i < it->spring_count;
         i++) {
        const uint64_t listed = it->first_listed + i;
        const double rest = topology->single_count ? (double)topology->rest_single[listed]
                                                   : topology->rest_double[listed];
        const double scaled = rest * factor;
        if (topology_listed_material(topology, listed) == material)
            status = check_precision(solver, &scaled, 1, true, error);
    }
    return status;
}

// Scales the rest lengths of the compiled scene; those of listed springs have the precision of
// their arrays.
static void scale_lists(taut_solver *solver, size_t body, uint32_t material, double factor)
{
    struct topology *topology = solver->topology;
    const struct topology_body *it = &topology->bodies[body];
    for (size_t d = 0; d < it->direction_count; d++) {
        struct direction *direction = &topology->directions[it->first_direction + d];
        if (direction->material == material)
            direction->rest_length *= factor;
    }
    for (uint64_t i = 0; it->direction_count == 0 && i < it->spring_count; i++) {
        const uint64_t listed = it->first_listed + i;
        if (topology_listed_material(topology, listed) != material)
            continue;
        if (topology->single_count)
            topology->rest_single[listed] = (float)(topology->rest_single[listed] * factor);
        else
            topology->rest_double[listed] *= factor;
        topology->rest_lengths_set = true;
    }
}

taut_status taut_solver_scale_rest_lengths(taut_solver *solver, size_t body, size_t material,
                                           double factor, taut_error *error)
{
    struct material *it = NULL;
    taut_status status = find_material(solver, body, material, &it, error);
    if (status != TAUT_OK)
        return status;
    if (!isfinite(factor) || !(factor > 0))
        return fail(error, TAUT_ERROR_ARGUMENT,
                    "a factor of rest lengths must be finite and above 0, not %g", factor);
    if (has_formula(solver->topology, body))
        return refuse_formula("the rest length", error);
    const uint32_t number = (uint32_t)(it - solver->topology->materials);
    status = check_scaled(solver, body, number, factor, error);
    if (status == TAUT_OK)
        status = begin_change(solver, error);
    if (status != TAUT_OK)
        return status;
    solver->functions->scale_rest_lengths(solver->system, number, factor);
    const struct material *boundary = boundary_materials(solver->topology, body, it);
    for (uint32_t i = 0; boundary && i < BOUNDARY_MATERIALS; i++)
        solver->functions->scale_rest_lengths(
            solver->system, (uint32_t)(boundary - solver->topology->materials) + i, factor);
    scale_lists(solver, body, number, factor);
    plan_find_rest_lengths(solver->topology, solver->plan, body);
    it->rest_length *= factor;
    return refresh(solver, false, error);
}

// ---- Moduli

// The material that a body consists of: `elastic`, or `fabric`.
static taut_status find_moduli(const taut_solver *solver, size_t body, bool fabric,
                               struct scene_body **moduli, taut_error *error)
{
    taut_status status = find_body(solver, body, error);
    if (status != TAUT_OK)
        return status;
    const struct topology_body *it = &solver->topology->bodies[body];
    *moduli = it->moduli;
    if (it->moduli && it->moduli->fabric.present == fabric)
        return TAUT_OK;
    return fail(error, TAUT_ERROR_UNSUPPORTED, "body '%s' has no '%s'", it->name,
                fabric ? "fabric" : "elastic");
}

static taut_material_damping get_damping(const struct scene_body *moduli)
{
    return (taut_material_damping){moduli->damping_ratio, moduli->rayleigh_stiffness,
                                   moduli->common.damping};
}

static taut_status set_damping(struct scene_body *moduli, const char *of,
                               const taut_material_damping *damping, taut_error *error)
{
    const struct member members[] = {
        {"damping.ratio", damping->ratio, 0, INFINITY, false},
        {"damping.stiffness", damping->stiffness, 0, INFINITY, false},
        {"damping.constant", damping->constant, 0, INFINITY, false},
    };
    taut_status status = check_members(of, members, sizeof members / sizeof members[0], error);
    if (status != TAUT_OK)
        return status;
    if ((damping->ratio > 0) + (damping->stiffness > 0) + (damping->constant > 0) > 1)
        return fail(error, TAUT_ERROR_ARGUMENT,
                    "%s has one damping: ratio (%g), stiffness (%g s) or constant (%g N s/m)", of,
                    damping->ratio, damping->stiffness, damping->constant);
    if (damping->constant > 0 && body_is_membrane(moduli))
        return fail(error, TAUT_ERROR_ARGUMENT,
                    "'damping.constant' is for springs; a body with 'elastic' and triangles has "
                    "none: leave it 0, or give 'damping.ratio'");
    moduli->damping_ratio = damping->ratio;
    moduli->rayleigh_stiffness = damping->stiffness;
    moduli->common.damping = damping->constant;
    return TAUT_OK;
}

// Gives a body another material, and refreshes what is derived from it.
static taut_status write_moduli(taut_solver *solver, size_t body, struct scene_body *moduli,
                                taut_error *error)
{
    struct topology_body *it = &solver->topology->bodies[body];
    const struct scene_body before = *it->moduli;
    struct moduli_problem problem;
    if (!body_set_constants(moduli, moduli->fabric.present, &solver->precision, &problem))
        return fail(error, TAUT_ERROR_ARGUMENT, "body '%s': %s", it->name, problem.reason);
    if (body_elements_of(moduli).present && !it->elements.present)
        return fail(error, TAUT_ERROR_UNSUPPORTED,
                    "body '%s' was created without bending, areas and volumes, which this "
                    "material needs: create another solver",
                    it->name);
    taut_status status = begin_change(solver, error);
    if (status != TAUT_OK)
        return status;
    topology_set_moduli(solver->topology, body, moduli);
    solver->functions->elements_refresh(solver->system);
    status = refresh(solver, true, error);
    if (status != TAUT_OK) {
        topology_set_moduli(solver->topology, body, &before);
        solver->functions->elements_refresh(solver->system);
        (void)refresh(solver, false, NULL); // the line preconditioner is unchanged
    }
    return status;
}

taut_status taut_solver_get_elastic(const taut_solver *solver, size_t body, taut_elastic *elastic,
                                    taut_error *error)
{
    struct scene_body *it = NULL;
    taut_status status = find_moduli(solver, body, false, &it, error);
    if (status == TAUT_OK)
        *elastic = (taut_elastic){it->elastic.young, it->elastic.poisson, get_damping(it)};
    return status;
}

taut_status taut_solver_set_elastic(taut_solver *solver, size_t body, const taut_elastic *elastic,
                                    taut_error *error)
{
    struct scene_body *it = NULL;
    taut_status status = find_moduli(solver, body, false, &it, error);
    if (status != TAUT_OK)
        return status;
    const struct member members[] = {
        {"young", elastic->young, 0, INFINITY, true},
        {"poisson", elastic->poisson, 0, 0.5, false},
    };
    struct scene_body value = *it;
    status = check_members("an elastic", members, sizeof members / sizeof members[0], error);
    if (status == TAUT_OK)
        status = set_damping(&value, "an elastic", &elastic->damping, error);
    if (status != TAUT_OK)
        return status;
    value.elastic.young = elastic->young;
    value.elastic.poisson = elastic->poisson;
    return write_moduli(solver, body, &value, error);
}

taut_status taut_solver_get_fabric(const taut_solver *solver, size_t body, taut_fabric *fabric,
                                   taut_error *error)
{
    struct scene_body *it = NULL;
    taut_status status = find_moduli(solver, body, true, &it, error);
    if (status != TAUT_OK)
        return status;
    const struct scene_fabric *of = &it->fabric;
    *fabric = (taut_fabric){.warp = of->warp,
                            .weft = of->weft,
                            .coupling = of->coupling,
                            .shear = of->shear,
                            .bending = {of->bending[0], of->bending[1]},
                            .twist = of->twist,
                            .damping = get_damping(it)};
    return TAUT_OK;
}

taut_status taut_solver_set_fabric(taut_solver *solver, size_t body, const taut_fabric *fabric,
                                   taut_error *error)
{
    struct scene_body *it = NULL;
    taut_status status = find_moduli(solver, body, true, &it, error);
    if (status != TAUT_OK)
        return status;
    const struct member members[] = {
        {"warp", fabric->warp, 0, INFINITY, true},
        {"weft", fabric->weft, 0, INFINITY, true},
        {"coupling", fabric->coupling, -INFINITY, INFINITY, false},
        {"shear", fabric->shear, 0, INFINITY, true},
        {"bending[0]", fabric->bending[0], 0, INFINITY, false},
        {"bending[1]", fabric->bending[1], 0, INFINITY, false},
        {"twist", fabric->twist, 0, INFINITY, false},
    };
    struct scene_body value = *it;
    status = check_members("a fabric", members, sizeof members / sizeof members[0], error);
    if (status == TAUT_OK)
        status = set_damping(&value, "a fabric", &fabric->damping, error);
    if (status != TAUT_OK)
        return status;
    value.fabric.warp = fabric->warp;
    value.fabric.weft = fabric->weft;
    value.fabric.coupling = fabric->coupling;
    value.fabric.shear = fabric->shear;
    value.fabric.bending[0] = fabric->bending[0];
    value.fabric.bending[1] = fabric->bending[1];
    value.fabric.twist = fabric->twist;
    return write_moduli(solver, body, &value, error);
}

// ---- Masses

taut_status taut_solver_set_node_mass(taut_solver *solver, size_t body, double mass,
                                      taut_error *error)
{
    struct topology *topology = solver->topology;
    taut_status status = find_body(solver, body, error);
    if (status != TAUT_OK)
        return status;
    if (!isfinite(mass) || !(mass > 0))
        return fail(error, TAUT_ERROR_ARGUMENT,
                    "the mass of a node is finite and above 0, not %g kg", mass);
    if (has_formula(topology, body))
        return refuse_formula("the mass", error);
    if (topology->bodies[body].has_density)
        return fail(error, TAUT_ERROR_UNSUPPORTED,
                    "the masses of body '%s' follow from its density ('elastic' or 'fabric'): "
                    "create another solver",
                    topology->bodies[body].name);
    status = check_precision(solver, &mass, 1, true, error);
    if (status == TAUT_OK)
        status = begin_change(solver, error);
    if (status != TAUT_OK)
        return status;
    topology_set_node_mass(topology, body, mass);
    return refresh(solver, false, error);
}

// ---- Gravity, drag, wind

taut_status taut_solver_set_gravity(taut_solver *solver, const double gravity[3], taut_error *error)
{
    const struct topology *topology = solver->topology;
    const vec3 value = vec3_make(gravity[0], gravity[1], gravity[2]);
    if (!isfinite(gravity[0]) || !isfinite(gravity[1]) || !isfinite(gravity[2]))
        return fail(error, TAUT_ERROR_ARGUMENT, "gravity is finite");
    if (has_formula(topology, SIZE_MAX))
        return refuse_formula("gravity", error);
    taut_status status = check_precision(solver, gravity, 3, false, error);
    if (status != TAUT_OK)
        return status;
    return write_value(solver, &solver->topology->environment.gravity, &value, sizeof value, error);
}

taut_status taut_solver_set_air_drag(taut_solver *solver, double drag, taut_error *error)
{
    if (!is_at_least(drag, 0))
        return fail(error, TAUT_ERROR_ARGUMENT, "air drag is finite and at least 0, not %g kg/s",
                    drag);
    if (moves_by(solver->topology, MOTION_OSCILLATOR, SIZE_MAX))
        return refuse_formula("air drag", error);
    taut_status status = check_precision(solver, &drag, 1, true, error);
    if (status != TAUT_OK)
        return status;
    return write_value(solver, &solver->topology->environment.air_drag, &drag, sizeof drag, error);
}

static taut_status find_wind(const taut_solver *solver, struct scene_wind **wind, taut_error *error)
{
    *wind = &solver->topology->environment.wind;
    if ((*wind)->present)
        return TAUT_OK;
    return fail(error, TAUT_ERROR_UNSUPPORTED,
                "the scene has no wind, and a solver of it no faces for one: give the scene a "
                "wind, whose velocity may be 0");
}

taut_status taut_solver_get_wind(const taut_solver *solver, taut_wind *wind, taut_error *error)
{
    struct scene_wind *it;
    taut_status status = find_wind(solver, &it, error);
    if (status == TAUT_OK)
        *wind = (taut_wind){.velocity = {it->velocity.x, it->velocity.y, it->velocity.z},
                            .coefficient = it->coefficient,
                            .density = it->density,
                            .drag = it->drag};
    return status;
}

taut_status taut_solver_set_wind(taut_solver *solver, const taut_wind *wind, taut_error *error)
{
    struct scene_wind *it;
    taut_status status = find_wind(solver, &it, error);
    if (status != TAUT_OK)
        return status;
    const double *velocity = wind->velocity;
    if (!isfinite(velocity[0]) || !isfinite(velocity[1]) || !isfinite(velocity[2]))
        return fail(error, TAUT_ERROR_ARGUMENT,
                    "the velocity of a wind must be finite, not (%g, %g, %g) m/s", velocity[0],
                    velocity[1], velocity[2]);
    const struct member members[] = {
        {"coefficient", wind->coefficient, 0, INFINITY, false},
        {"density", wind->density, 0, INFINITY, false},
        {"drag", wind->drag, 0, INFINITY, false},
    };
    status = check_members("a wind", members, sizeof members / sizeof members[0], error);
    if (status != TAUT_OK)
        return status;
    const double factors[] = {wind->coefficient, wind->density, wind->drag};
    status = check_precision(solver, velocity, 3, false, error);
    if (status == TAUT_OK)
        status = check_precision(solver, factors, 3, true, error);
    if (status != TAUT_OK)
        return status;
    struct scene_wind value = *it;
    value.velocity = vec3_make(velocity[0], velocity[1], velocity[2]);
    value.coefficient = wind->coefficient;
    value.density = wind->density;
    value.drag = wind->drag;
    return write_value(solver, it, &value, sizeof value, error);
}

// ---- Gas

static taut_status find_gas(const taut_solver *solver, size_t body, struct scene_pressure **gas,
                            taut_error *error)
{
    taut_status status = find_body(solver, body, error);
    if (status != TAUT_OK)
        return status;
    *gas = &solver->topology->bodies[body].pressure;
    if ((*gas)->present)
        return TAUT_OK;
    return fail(error, TAUT_ERROR_UNSUPPORTED, "body '%s' has no gas",
                solver->topology->bodies[body].name);
}

taut_status taut_solver_get_gas(const taut_solver *solver, size_t body, taut_gas *gas,
                                taut_error *error)
{
    struct scene_pressure *it = NULL;
    taut_status status = find_gas(solver, body, &it, error);
    if (status == TAUT_OK)
        *gas = (taut_gas){it->amount, it->atmosphere, it->gamma, it->inflate};
    return status;
}

taut_status taut_solver_set_gas(taut_solver *solver, size_t body, const taut_gas *gas,
                                taut_error *error)
{
    struct scene_pressure *it = NULL;
    taut_status status = find_gas(solver, body, &it, error);
    if (status != TAUT_OK)
        return status;
    const struct member members[] = {
        {"amount", gas->amount, 0, INFINITY, false},
        {"atmosphere", gas->atmosphere, 0, INFINITY, false},
        {"gamma", gas->gamma, 1, INFINITY, false},
        {"inflate", gas->inflate, 0, 1, true},
    };
    status = check_members("a gas", members, sizeof members / sizeof members[0], error);
    if (status != TAUT_OK)
        return status;
    const double values[] = {gas->amount, gas->atmosphere, gas->gamma, gas->inflate};
    status = check_precision(solver, values, 4, true, error);
    if (status != TAUT_OK)
        return status;
    struct scene_pressure value = *it;
    value.amount = gas->amount;
    value.atmosphere = gas->atmosphere;
    value.gamma = gas->gamma;
    value.inflate = gas->inflate;
    const struct scene_pressure before = *it;
    status = write_value(solver, it, &value, sizeof value, error);
    if (status != TAUT_OK)
        return status;
    solver->functions->continue_gas(solver->system, body, &before);
    dt_plan_checks(solver);
    return TAUT_OK;
}

// ---- Contacts

static taut_status find_collider(const taut_solver *solver, size_t collider, taut_error *error)
{
    if (collider < solver->topology->collider_count)
        return TAUT_OK;
    return fail(error, TAUT_ERROR_ARGUMENT,
                "there is no collider %zu; the scene has %zu, numbered from 0", collider,
                solver->topology->collider_count);
}

taut_status taut_solver_get_contact(const taut_solver *solver, size_t collider,
                                    taut_contact *contact, taut_error *error)
{
    taut_status status = find_collider(solver, collider, error);
    if (status != TAUT_OK)
        return status;
    const struct scene_collider *it = &solver->topology->colliders[collider];
    const struct scene_friction *coulomb =
        it->type == COLLIDER_MESH ? &it->surface_friction : &it->coulomb;
    *contact = (taut_contact){it->stiffness,
                              it->friction,
                              it->absorption,
                              it->restitution,
                              it->keep,
                              coulomb->static_coefficient,
                              coulomb->kinetic_coefficient};
    return TAUT_OK;
}

// For planes, spheres and rooms with `response: contact` only their own coefficients can change:
// the rest are those of the scene and of bodies.
static taut_status check_surface_response(const struct scene_collider *it, size_t collider,
                                          const taut_contact *contact, taut_error *error)
{
    if (it->response != RESPONSE_CONTACT)
        return TAUT_OK;
    if (contact->stiffness != it->stiffness || contact->friction != it->friction ||
        contact->absorption != it->absorption || contact->restitution != it->restitution ||
        contact->keep != it->keep)
        return fail(error, TAUT_ERROR_ARGUMENT,
                    "collider %zu has 'response: contact': only its coefficients of friction can "
                    "be changed",
                    collider);
    if (!it->surface_friction.present &&
        (contact->friction_static != it->coulomb.static_coefficient ||
         contact->friction_kinetic != it->coulomb.kinetic_coefficient))
        return fail(error, TAUT_ERROR_ARGUMENT,
                    "collider %zu has no 'friction_coefficient' in the scene: its coefficients "
                    "stay those of the scene",
                    collider);
    return TAUT_OK;
}

// Members that a collider's response does not have stay as they are, as a scene may not give them.
static taut_status check_members_of_response(const struct scene_collider *it, size_t collider,
                                             const taut_contact *contact, taut_error *error)
{
    const bool penalty = it->response == RESPONSE_PENALTY;
    const struct {
        const char *name;
        double before, now;
        bool of_penalty;
    } members[] = {
        {"stiffness", it->stiffness, contact->stiffness, true},
        {"absorption", it->absorption, contact->absorption, true},
        {"restitution", it->restitution, contact->restitution, false},
        {"keep", it->keep, contact->keep, false},
    };
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++)
        if (it->response != RESPONSE_CONTACT && members[i].of_penalty != penalty &&
            members[i].now != members[i].before)
            return fail(error, TAUT_ERROR_ARGUMENT,
                        "collider %zu has 'response: %s', which has no '%s': it stays %g, as "
                        "taut_solver_get_contact has it",
                        collider, penalty ? "penalty" : "project", members[i].name,
                        members[i].before);
    return TAUT_OK;
}

// Whether a collider has Coulomb friction is part of the scene: its contacts have memory.
static taut_status check_friction(const struct scene_collider *it, size_t collider,
                                  const taut_contact *contact, taut_error *error)
{
    if (!it->coulomb.present && contact->friction_static + contact->friction_kinetic > 0)
        return fail(error, TAUT_ERROR_ARGUMENT,
                    "collider %zu has no 'friction_coefficient' in the scene: its coefficients "
                    "stay 0",
                    collider);
    if (it->coulomb.present && contact->friction > 0)
        return fail(error, TAUT_ERROR_ARGUMENT,
                    "collider %zu has 'friction_coefficient': its viscous friction stays 0",
                    collider);
    if (contact->friction_static < contact->friction_kinetic)
        return fail(error, TAUT_ERROR_ARGUMENT,
                    "friction_kinetic must be at most friction_static, but it is %g and "
                    "friction_static is %g",
                    contact->friction_kinetic, contact->friction_static);
    return TAUT_OK;
}

taut_status taut_solver_set_contact(taut_solver *solver, size_t collider,
                                    const taut_contact *contact, taut_error *error)
{
    taut_status status = find_collider(solver, collider, error);
    if (status != TAUT_OK)
        return status;
    if (solver->topology->colliders[collider].type == COLLIDER_MESH)
        return fail(error, TAUT_ERROR_UNSUPPORTED,
                    "collider %zu is a mesh, whose contact cannot be changed", collider);
    const struct member members[] = {
        {"stiffness", contact->stiffness, 0, INFINITY, false},
        {"friction", contact->friction, 0, INFINITY, false},
        {"absorption", contact->absorption, 0, INFINITY, false},
        {"restitution", contact->restitution, 0, 1, false},
        {"keep", contact->keep, 0, 1, false},
        {"friction_static", contact->friction_static, 0, FRICTION_MAX, false},
        {"friction_kinetic", contact->friction_kinetic, 0, FRICTION_MAX, false},
    };
    status = check_members("a collider", members, sizeof members / sizeof members[0], error);
    if (status != TAUT_OK)
        return status;
    const double values[] = {contact->stiffness,       contact->friction, contact->absorption,
                             contact->restitution,     contact->keep,     contact->friction_static,
                             contact->friction_kinetic};
    struct scene_collider *it = &solver->topology->colliders[collider];
    status = check_precision(solver, values, 7, true, error);
    if (status == TAUT_OK)
        status = check_surface_response(it, collider, contact, error);
    if (status == TAUT_OK)
        status = check_members_of_response(it, collider, contact, error);
    if (status == TAUT_OK)
        status = check_friction(it, collider, contact, error);
    if (status != TAUT_OK)
        return status;
    struct scene_collider value = *it;
    value.stiffness = contact->stiffness;
    value.friction = contact->friction;
    value.absorption = contact->absorption;
    value.restitution = contact->restitution;
    value.keep = contact->keep;
    value.coulomb.static_coefficient = contact->friction_static;
    value.coulomb.kinetic_coefficient = contact->friction_kinetic;
    return write_value(solver, it, &value, sizeof value, error);
}

// ---- dt

taut_status taut_solver_set_dt(taut_solver *solver, double dt, taut_error *error)
{
    struct dt_rule *rule = &solver->dt_rule;
    if (!isfinite(dt) || !(dt > 0))
        return fail(error, TAUT_ERROR_ARGUMENT, "dt is finite and above 0, not %g s", dt);
    taut_status status = check_precision(solver, &dt, 1, true, error);
    if (status != TAUT_OK)
        return status;
    if (!rule->automatic && dt == solver->dt)
        return TAUT_OK;
    status = begin_change(solver, error);
    if (status != TAUT_OK)
        return status;
    const uint64_t step = taut_solver_step_count(solver);
    solver->position_ratio = solver->position_step > 0 ? solver->position_step / dt : 1;
    solver->functions->set_dt_now(solver->system, dt, solver->position_ratio);
    rule->since_time = solver_time_of(solver, step);
    rule->since_step = step;
    rule->built = dt;
    rule->automatic = false;
    solver->dt = dt;
    solver->functions->release_critical(solver->system);
    dt_plan_checks(solver);
    dt_plan_steps(solver);
    return TAUT_OK;
}
