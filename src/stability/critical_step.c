// The largest stable step: guaranteed values from upper bounds (step_bounds.h), computed values
// from eigenvalues by Lanczos (lanczos.h) or of the quadratic problem (quadratic.h).
#include "stability/critical_step.h"

#include <string.h>

#include "base/memory.h"
#include "contact/surface_contact.h"
#include "contact/tangent.h"
#include "elements/elements.h"
#include "integrate/integrate.h"
#include "stability/lanczos.h"
#include "stability/quadratic.h"
#include "stability/step_bounds.h"
#include "springs/exchange.h"
#include "springs/springs.h"
#include "state/reading.h"

struct critical_meter {
    struct spectral_bound *spectral_bound;
    struct lanczos *lanczos; // NULL until it is needed, as is
    struct quadratic *quadratic;
    struct mode_range range; // results of worker 0 for springs:
    double lower_ratio;      // s: as in range, without colliders that touch no node now,
    bool pressed;            // K may be negative somewhere;
    struct dense_steps few;  // and for all eigenvalues of few nodes
    double form_step;        // s, likewise
};

taut_status REAL_NAME(critical_step_prepare)(struct system *system, bool computed,
                                             taut_error *error)
{
    if (!system->meter)
        system->meter = memory_allocate(system->allocator, 1, sizeof *system->meter);
    if (!system->meter)
        return fail_memory(error, "the critical step");
    struct critical_meter *meter = system->meter;
    taut_status status = TAUT_OK;
    if (!meter->spectral_bound)
        status = REAL_NAME(spectral_bound_make)(system, &meter->spectral_bound, error);
    if (status == TAUT_OK && computed && !meter->lanczos)
        status = REAL_NAME(lanczos_make)(system, &meter->lanczos, error);
    if (status == TAUT_OK && computed && !meter->quadratic)
        status = REAL_NAME(quadratic_make)(system, REAL_NAME(lanczos_tangent)(meter->lanczos),
                                           &meter->quadratic, error);
    return status;
}

void REAL_NAME(critical_step_refresh)(struct system *system)
{
    struct critical_meter *meter = system->meter;
    if (!meter)
        return;
    REAL_NAME(lanczos_free)(meter->lanczos);
    meter->lanczos = NULL;
    if (meter->spectral_bound)
        REAL_NAME(spectral_bound_refresh)(meter->spectral_bound);
}

void REAL_NAME(critical_step_release)(struct system *system)
{
    if (!system->meter)
        return;
    REAL_NAME(quadratic_free)(system->meter->quadratic);
    REAL_NAME(lanczos_free)(system->meter->lanczos);
    REAL_NAME(spectral_bound_free)(system->meter->spectral_bound);
    memory_release(system->allocator, system->meter, 1, sizeof *system->meter);
    system->meter = NULL;
}

uint64_t REAL_NAME(critical_step_bytes)(const struct system *system)
{
    const struct critical_meter *meter = system->meter;
    if (!meter)
        return 0;
    return sizeof *meter + REAL_NAME(spectral_bound_bytes)(meter->spectral_bound) +
           (meter->lanczos ? REAL_NAME(lanczos_bytes)(meter->lanczos) : 0);
}

bool REAL_NAME(critical_step_has_weights)(const struct system *system)
{
    return system->meter && REAL_NAME(spectral_bound_has_weights)(system->meter->spectral_bound);
}

void REAL_NAME(critical_step_weights)(const struct system *system, uint64_t first, uint64_t count,
                                      real *weights)
{
    for (uint64_t i = 0; i < count; i++)
        weights[i] = REAL_NAME(spectral_bound_weight)(
            system->meter->spectral_bound,
            (size_t)topology_internal_node(system->topology, first + i));
}

bool REAL_NAME(critical_step_uses_cliques)(const struct system *system)
{
    return REAL_NAME(spectral_bound_uses_cliques)(system->meter->spectral_bound);
}

void REAL_NAME(critical_step_set_weights)(struct system *system, const double *weights,
                                          bool cliques)
{
    struct spectral_bound *bound = system->meter->spectral_bound;
    for (uint64_t node = 0; node < system->state->nodes; node++)
        REAL_NAME(spectral_bound_set_weight)
    (bound, (size_t)topology_internal_node(system->topology, node), (real)weights[node]);
    REAL_NAME(spectral_bound_set_cliques)(bound, cliques);
}

// A step that is known to be stable from the materials alone; 0 if they do not guarantee one.
static double rough_step(const struct spectral_bound *spectral_bound,
                         const struct step_bounds *bounds)
{
    double square, damping, least = INFINITY;
    if (!REAL_NAME(spectral_bound_rough)(spectral_bound, &square, &damping))
        return 0;
    for (int f = 0; f < bounds->count; f++) {
        if (bounds->forms[f].negative) // the compression of springs is not known
            return 0;
        least = fmin(least, step_of_form(&bounds->forms[f], square, damping));
    }
    return least;
}

static struct stepping stepping_of(const struct system *system)
{
    return (struct stepping){system->settings.position_ratio, system->settings.keep_velocity};
}

// The largest friction of a projecting collider, kg/s.
static double greatest_friction(const struct system *system)
{
    const struct topology *topology = system->topology;
    double friction = 0;
    for (size_t c = 0; c < topology->collider_count; c++)
        if (topology->colliders[c].response == RESPONSE_PROJECT)
            friction = fmax(friction, topology->colliders[c].friction);
    return friction;
}

// Friction over the smallest mass of a free node, 1/s. By the masses of the topology: a rank may not have
// the constants of all nodes.
static double fastest_friction(const struct system *system)
{
    const struct topology *topology = system->topology;
    const double friction = greatest_friction(system);
    double least = INFINITY;
    size_t next = 0; // kinematic node
    if (friction == 0)
        return 0;
    for (uint64_t node = 0; node < topology->node_count;) {
        const struct node_masses masses = topology_masses(topology, node, topology->node_count);
        for (; node < masses.end; node++) {
            if (next < topology->kinematic_count && topology->kinematic[next] == node)
                next++;
            else
                least = fmin(least, mass_in(&masses, node));
        }
    }
    return friction * (double)(real)(1 / least);
}

// The factor by which friction on projecting colliders reduces symplectic Euler's largest stable
// step h. After each step, friction multiplies the velocities of nodes in contact by q = exp(-c h /
// m), as keep_velocity does for all nodes: K < 2 + 2 q instead of 4, with q the smallest of them
// (the quotients of modes lie between q and 1). A shorter step has a larger q, so the result is
// never too large.
static double share_with_friction(double rate, double h)
{
    return rate > 0 && isfinite(h) ? sqrt((1 + exp(-rate * h)) / 2) : 1;
}

static struct step_form symplectic_euler_form(const struct system *system)
{
    const struct stepping stepping = stepping_of(system);
    struct step_form forms[INTEGRATOR_FORMS_MAX];
    (void)integrator_forms(INTEGRATOR_SYMPLECTIC_EULER, &stepping, true, forms);
    return forms[0];
}

// The same factor with the q of each node, of the guaranteed step h of symplectic Euler. At a root z
// of a mode x on the unit circle, (z - Q)(z - 1) M x + h^2 z K x = 0 with Q diagonal; multiplied by
// x* this is the equation of one oscillator whose q is x*QMx / x*Mx, so that h^2 K < 2 M (1 + Q)
// suffices, and so does the same of the blocks that dominate K. With damping its whole size is
// counted, not multiplied by Q; this is not proved, but of 1,500 random networks of 2 to 6 nodes,
// about half of them damped, with friction at all or some nodes, none had a root outside of the
// circle at this step. Light nodes far from those that limit the step do not count then, but
// damping may count more: the larger of the two factors is used.
static double share_by_node(struct system *system, double rate, double h,
                            const struct worker *worker)
{
    const double slack = 0.001, least = share_with_friction(rate, h);
    if (least == 1 || !(h > 0))
        return least;
    struct step_bounds bounds = {.count = 1,
                                 .forms = {symplectic_euler_form(system)},
                                 .dt = {h},
                                 .slack = slack,
                                 .friction = greatest_friction(system),
                                 .friction_step = h};
    REAL_NAME(spectral_bound_update)(system->meter->spectral_bound, worker);
    REAL_NAME(step_bounds_find)(system->meter->spectral_bound, system, &bounds, worker);
    return fmax(least, (1 - slack) * bounds.dt[0] / h);
}

static void add_friction(struct system *system, struct critical_step *result,
                         const struct worker *worker)
{
    const double rate = fastest_friction(system);
    const double least = 0.99; // below this the limit is that of contacts, which is not computed
    const enum integrator euler = INTEGRATOR_SYMPLECTIC_EULER;
    const double share = share_by_node(system, rate, result->dt[euler], worker);
    const double share_of_computed = share_with_friction(rate, result->computed_dt[euler]);
    result->dt[euler] *= share;
    result->computed_dt[euler] = fmax(result->computed_dt[euler] * share_of_computed,
                                      fmin(result->computed_dt[euler], result->dt[euler]));
    result->exact[euler] &= share > least && share_of_computed > least;
    if (system->settings.keep_velocity < 1 && result->damping > 0)
        result->exact[INTEGRATOR_VELOCITY_VERLET] = false; // more is stable than the form allows
    if (system->settings.integrator == euler)
        result->followed *= share_by_node(system, rate, result->followed, worker);
}

// ---- Elements and contact of surfaces in xpbd, which are forces there, evaluated once per substep as
// by symplectic Euler

struct element_blocks {
    size_t first;
    double stiffness[BOUND_NODES][BLOCK_WIDTH], damping[BOUND_NODES][BLOCK_WIDTH];
};

static void add_element_block(void *context, const struct element_bound *bound)
{
    struct element_blocks *blocks = context;
    for (int e = 0; e < BLOCK_WIDTH; e++) {
        blocks->stiffness[bound->node - blocks->first][e] += bound->stiffness[e];
        blocks->damping[bound->node - blocks->first][e] += bound->damping[e];
    }
}

static double largest_of(const double block[BLOCK_WIDTH])
{
    const struct block m = {block[0], block[1], block[2], block[3], block[4], block[5]};
    return block_largest(&m);
}

// Elements of negative stiffness are stable only beside springs, which few iterations of constraints
// make softer than they are: no step is known to be stable.
static bool any_softens(const struct system *system)
{
    for (size_t b = 0; b < system->topology->body_count; b++) {
        const struct body_elements *elements = &system->topology->bodies[b].elements;
        if (elements->area.stiffness < 0 || elements->volume.stiffness < 0)
            return true;
    }
    return false;
}

static void add_surface_contact(const struct system *system, size_t end,
                                struct element_blocks *blocks)
{
    for (size_t i = blocks->first; i < end;) {
        const size_t b = topology_body_of_node(system->topology, i);
        const struct topology_body *body = &system->topology->bodies[b];
        const double stiffness = REAL_NAME(surface_contact_bound)(system, b),
                     damping = REAL_NAME(surface_contact_damping)(system, b);
        const size_t last = (size_t)(body->first_node + body->node_count);
        for (; i < end && i < last; i++)
            for (int e = 0; e < 3; e++) {
                blocks->stiffness[i - blocks->first][e] += stiffness;
                blocks->damping[i - blocks->first][e] += damping;
            }
    }
}

// The substep that a node allows: k, c, those of its elements and contacts, and d, its drag, over its mass.
// Drag is a force of the start of the substep, too, up to h d = 1; the rest divides the velocity (xpbd.c),
// which only damps.
static double explicit_substep(double k, double c, double d)
{
    const struct step_form all = {1, 2, 4, false}, strong = {1, 2, 2, false};
    const double step = step_of_form(&all, k, c + d);
    return step * d > 1 ? step_of_form(&strong, k, c) : step;
}

// The step of xpbd that these alone allow, INFINITY without any: constraints can only damp their
// oscillations; 0 if none is known. Every worker computes it.
static double explicit_part_step(const struct system *system)
{
    if (any_softens(system))
        return 0;
    const size_t count = (size_t)system->state->nodes;
    const bool any = system->elements || system->surface_contact;
    struct node_masses masses = {.end = 0};
    double least = INFINITY;
    for (size_t first = 0; any && first < count; first += BOUND_NODES) {
        struct element_blocks blocks = {.first = first};
        const size_t end = first + BOUND_NODES < count ? first + BOUND_NODES : count;
        if (system->elements)
            REAL_NAME(elements_visit_bounds)
        (system, (struct range){first, end}, add_element_block, &blocks);
        if (system->surface_contact)
            add_surface_contact(system, end, &blocks);
        for (size_t i = first; i < end; i++) {
            const double inverse = (double)system->constants->inverse_mass[i];
            const double k = largest_of(blocks.stiffness[i - first]),
                         c = largest_of(blocks.damping[i - first]);
            if (i == masses.end)
                masses = topology_masses(system->topology, i, count);
            const double drag = drag_in(&masses, system->topology->environment.air_drag, i);
            if (inverse != 0 && k > 0)
                least = fmin(least, explicit_substep(inverse * k, inverse * c, inverse * drag));
        }
    }
    return system->settings.substeps * least;
}

static double step_up_to(struct system *system, double most, const struct worker *worker)
{
    const struct settings *settings = &system->settings;
    const struct spectral_bound *spectral_bound = system->meter->spectral_bound;
    const double slack = 0.002;
    const struct stepping stepping = stepping_of(system);
    struct step_bounds bounds = {.dt = {most, most}, .slack = slack};
    bounds.count = integrator_forms(settings->integrator, &stepping, true, bounds.forms);
    if (settings->integrator == INTEGRATOR_XPBD)
        return fmin(most, explicit_part_step(system));
    if (bounds.count == 0)
        return integrator_limit(settings->integrator) > 0 ? most : 0;
    if (rough_step(spectral_bound, &bounds) >= most)
        return most;
    REAL_NAME(spectral_bound_update)(system->meter->spectral_bound, worker);
    REAL_NAME(step_bounds_find)(spectral_bound, system, &bounds, worker);
    double least = most;
    for (int f = 0; f < bounds.count; f++)
        least = fmin(least, bounds.dt[f]);
    return least < most ? (1 - slack) * least : most;
}

double REAL_NAME(critical_step_up_to)(struct system *system, double most,
                                      const struct worker *worker)
{
    const bool slows = system->settings.integrator == INTEGRATOR_SYMPLECTIC_EULER;
    const double rate = slows ? fastest_friction(system) : 0;
    if (share_with_friction(rate, most) == 1)
        return step_up_to(system, most, worker);
    const double step = step_up_to(system, sqrt(2) * most, worker); // factors are >= 1 / sqrt(2)
    return fmin(most, step * share_by_node(system, rate, step, worker));
}

// The forms of all integrators, each listed once: most integrators share one.
enum { LISTED_FORMS_MAX = 8 };

struct form_list {
    int count;
    struct step_form forms[LISTED_FORMS_MAX];
    uint32_t users[2]
                  [LISTED_FORMS_MAX]; // a bit for each integrator with this form; [1]: with damping
};

static void list_form(struct form_list *list, struct step_form form, bool damped, int integrator)
{
    int f = 0;
    while (f < list->count &&
           (list->forms[f].stiffness != form.stiffness || list->forms[f].damping != form.damping ||
            list->forms[f].limit != form.limit || list->forms[f].negative != form.negative))
        f++;
    if (f == list->count) {
        list->forms[list->count++] = form;
        list->users[false][f] = list->users[true][f] = 0;
    }
    list->users[damped][f] |= (uint32_t)1 << integrator;
}

static void list_forms(const struct system *system, bool damped, struct form_list *list)
{
    const struct stepping stepping = stepping_of(system);
    for (int i = 0; i < INTEGRATOR_COUNT; i++) {
        struct step_form forms[INTEGRATOR_FORMS_MAX];
        int count = integrator_forms((enum integrator)i, &stepping, damped, forms);
        for (int f = 0; f < count; f++)
            list_form(list, forms[f], damped, i);
    }
}

// The step of each integrator from the steps of its forms. Without a form all steps are stable, or
// none.
static void share_out(const struct form_list *list, bool damped, const double *steps,
                      double *by_integrator)
{
    for (int i = 0; i < INTEGRATOR_COUNT; i++) {
        by_integrator[i] = integrator_limit((enum integrator)i) > 0 ? INFINITY : 0;
        for (int f = 0; f < list->count; f++)
            if (list->users[damped][f] >> i & 1)
                by_integrator[i] = fmin(by_integrator[i], steps[f]);
    }
}

// The step of the form shared by the symplectic integrators.
static double find_common(struct system *system, const struct step_form *form,
                          const struct worker *worker)
{
    struct step_bounds bounds = {.count = 1, .forms = {*form}, .dt = {INFINITY}, .slack = 0.001};
    REAL_NAME(step_bounds_find)(system->meter->spectral_bound, system, &bounds, worker);
    return bounds.dt[0];
}

// Improves the weights at the present state as long as a pass gains enough, if there are any.
static void level(struct system *system, const struct worker *worker)
{
    enum { PASSES = 8 };
    const double worth = 1.005;
    const struct step_form form = {1, 2, 4, false};
    struct spectral_bound *spectral_bound = system->meter->spectral_bound;
    REAL_NAME(spectral_bound_restore_weights)(spectral_bound, true, worker);
    (void)REAL_NAME(spectral_bound_use_cliques)(spectral_bound, false, worker);
    if (!REAL_NAME(spectral_bound_has_weights)(spectral_bound)) // and so no cliques
        return;
    double least = find_common(system, &form, worker);
    if (REAL_NAME(spectral_bound_use_cliques)(spectral_bound, true, worker)) {
        double with_cliques = find_common(system, &form, worker);
        if (!(with_cliques > least))
            (void)REAL_NAME(spectral_bound_use_cliques)(spectral_bound, false, worker);
        least = fmax(least, with_cliques);
    }
    for (int pass = 0; pass < PASSES && isfinite(least); pass++) {
        REAL_NAME(spectral_bound_reweight)(spectral_bound, &form, least, worker);
        double next = find_common(system, &form, worker);
        if (next < least)
            REAL_NAME(spectral_bound_restore_weights)(spectral_bound, false, worker);
        if (next < worth * least)
            return;
        least = next;
    }
}

// The node that sets the bound. Of nodes that are equal up to round-off, which depends on their
// numbers, it is the first in the builder's order.
static uint64_t find_node(struct system *system, double bound, const struct worker *worker)
{
    const double ties = sizeof(real) == sizeof(float) ? 1e-5 : 1e-9;
    struct step_bounds bounds = {.count = 1,
                                 .forms = {{1, 0, 4, false}},
                                 .dt = {bound * (1 + ties)},
                                 .slack = -1e-5,
                                 .names = true};
    if (!isfinite(bound))
        return 0;
    REAL_NAME(step_bounds_find)(system->meter->spectral_bound, system, &bounds, worker);
    return bounds.node;
}

// ---- The ratio of damping to stiffness of springs: lower K + ... <= C <= upper K + ...

struct ratios {
    double lower, upper; // s; INFINITY: no spring so far sets it; for upper: there is no such bound
    bool pressed;        // K may be negative in some direction
};

// Stiffness and damping of a spring in one direction.
static void extend_by_ratio(struct ratios *ratios, double stiffness, double damping)
{
    if (stiffness > 0)
        ratios->lower = fmin(ratios->lower, damping / stiffness);
    if (stiffness > 0 && damping > 0)
        ratios->upper = fmax(ratios->upper, damping / stiffness);
    else if (stiffness < 0 || damping > 0)
        ratios->upper = INFINITY;
    ratios->pressed |= stiffness < 0;
}

// Slack springs count, because they may become taut. A spring at its rest length, up to round-off,
// has no transverse stiffness.
static void extend_by_spring(struct ratios *ratios, const struct spring_constants *material,
                             double length, double rest)
{
    const double round_off = sizeof(real) == sizeof(float) ? 1e-5 : 1e-11;
    double k = (double)material->stiffness, c = (double)material->damping;
    bool directed = length > 0 && isfinite(length);
    double across = directed ? 1 - rest / length : 1;
    if (fabs(across) <= round_off)
        across = 0;
    if (directed)
        extend_by_ratio(ratios, k, c);
    extend_by_ratio(ratios, k * across, material->damping_law == DAMPING_FULL ? c : 0);
}

// Forces other than springs: contacts are not damped while they separate, and gas never is; for
// both, and for wind, no upper bound is known.
static void extend_by_others(const struct system *system, struct ratios *ratios)
{
    const struct topology *topology = system->topology;
    for (size_t c = 0; c < topology->collider_count; c++)
        if (topology->colliders[c].response == RESPONSE_PENALTY)
            *ratios = (struct ratios){
                0, INFINITY, ratios->pressed || topology->colliders[c].type == COLLIDER_SPHERE};
    if (topology_has_gas(topology) || topology->has_contact)
        *ratios = (struct ratios){0, INFINITY, true};
    if (topology->environment.wind.present)
        ratios->upper = INFINITY;
    const struct element_ratios elements = REAL_NAME(elements_ratios)(system);
    ratios->lower = fmin(ratios->lower, elements.lower);
    ratios->upper = fmax(ratios->upper, elements.upper);
    ratios->pressed |= elements.pressed;
}

static bool any_touches(const struct system *system, struct range nodes)
{
    const double time = REAL_NAME(evaluation_now)(system).time;
    for (size_t i = nodes.first; i < nodes.end; i++) {
        double stiffness[3][3] = {{0}}, damping[3][3] = {{0}};
        if (system->constants->inverse_mass[i] == 0)
            continue;
        REAL_NAME(contact_blocks_of)(system, time, i, stiffness, damping);
        if (stiffness[0][0] + stiffness[1][1] + stiffness[2][2] != 0)
            return true;
    }
    return false;
}

// What is found chunk by chunk of nodes, of the springs in rows that begin at these.
enum range_column {
    RANGE_LOWER, // s: the ratios
    RANGE_UPPER,
    RANGE_PRESSED,
    RANGE_DRAG_LEAST, // 1/s, of free nodes
    RANGE_DRAG_MOST,
    RANGE_TOUCHES, // a penalty collider
    RANGE_COLUMNS
};

struct row_ratios {
    const struct system *system;
    struct ratios *ratios;
};

static void extend_by_row(void *context, const struct spring_row *row)
{
    const struct row_ratios *target = context;
    const struct state *s = target->system->state;
    if (row->apart < 0) // from the other ends
        return;
    for (size_t i = 0; i < row->count; i++) {
        const size_t node = row->first + i, other = node + (size_t)row->apart;
        const vec3 d = vec3_subtract(node_position(s, node), node_position(s, other));
        if (!row->broken || !row->broken[i])
            extend_by_spring(target->ratios, row->material, vec3_length(d),
                             (double)(row->rest_length ? row->rest_length[i] : row->built));
    }
}

static void find_range_of_nodes(const struct system *system, const void *unused, struct range nodes,
                                double found[SUM_WIDTH])
{
    _Static_assert((int)RANGE_COLUMNS <= (int)SUM_WIDTH, "the columns of a chunk");
    (void)unused;
    struct ratios ratios = {INFINITY, 0, false};
    REAL_NAME(springs_visit_rows)
    (system, nodes, extend_by_row, &(struct row_ratios){system, &ratios});
    double least = INFINITY, most = 0;
    struct node_masses masses = {.end = nodes.first};
    for (size_t i = nodes.first; i < nodes.end; i++) {
        const double inverse = (double)system->constants->inverse_mass[i];
        if (i == masses.end)
            masses = topology_masses(system->topology, i, nodes.end);
        if (inverse != 0) {
            const double rate = system->topology->environment.air_drag * inverse + masses.mass_drag;
            least = fmin(least, rate);
            most = fmax(most, rate);
        }
    }
    found[RANGE_LOWER] = ratios.lower;
    found[RANGE_UPPER] = ratios.upper;
    found[RANGE_PRESSED] = ratios.pressed;
    found[RANGE_DRAG_LEAST] = least;
    found[RANGE_DRAG_MOST] = most;
    found[RANGE_TOUCHES] = system->settings.penalises && any_touches(system, nodes);
}

// Of all springs, and the range of drag; *touches: whether any node touches a penalty collider. From the
// chunks of all nodes, and one by one of springs in no rows.
static struct ratios gather_ratios(const struct system *system, struct mode_range *drag,
                                   bool *touches)
{
    struct ratios ratios = {INFINITY, 0, false};
    double least = INFINITY, most = 0;
    *touches = false;
    for (size_t chunk = 0; chunk < chunk_count((size_t)system->state->nodes); chunk++) {
        const double *found = system->chunk_sums[chunk];
        ratios.lower = fmin(ratios.lower, found[RANGE_LOWER]);
        ratios.upper = fmax(ratios.upper, found[RANGE_UPPER]);
        ratios.pressed |= found[RANGE_PRESSED] != 0;
        least = fmin(least, found[RANGE_DRAG_LEAST]);
        most = fmax(most, found[RANGE_DRAG_MOST]);
        *touches |= found[RANGE_TOUCHES] != 0;
    }
    *drag = (struct mode_range){.lower = isfinite(least) ? least : 0, .upper = most};
    struct spring_walk walk = {system, 0, system->constants->springs};
    struct spring_view view;
    while (springs_next(&walk, &view)) {
        const vec3 d = vec3_subtract(node_position(system->state, view.a),
                                     node_position(system->state, view.b));
        if (!view_is_broken(&view, 0))
            extend_by_spring(&ratios, view.material, vec3_length(d),
                             (double)view_rest_length(&view, 0));
    }
    return ratios;
}

// The smallest ratio of damping to stiffness in the present state; `springs` is that of springs.
static double find_present_ratio(const struct system *system, double springs, bool touches)
{
    const struct topology *topology = system->topology;
    if (topology_has_gas(topology) || topology->has_contact)
        return 0;
    springs = fmin(springs, REAL_NAME(elements_ratios)(system).lower);
    return !isfinite(springs) || touches ? 0 : springs;
}

// All workers together.
static void update_range(struct system *system, const struct worker *worker)
{
    struct critical_meter *meter = system->meter;
    worker_barrier(worker); // all have read the last one
    REAL_NAME(exchange_chunk_sums)(system, find_range_of_nodes, NULL, worker);
    if (worker->index == 0) {
        bool touches;
        struct ratios ratios = gather_ratios(system, &meter->range, &touches);
        meter->lower_ratio = find_present_ratio(system, ratios.lower, touches);
        extend_by_others(system, &ratios);
        meter->pressed = ratios.pressed;
        meter->range.lower_ratio = isfinite(ratios.lower) ? ratios.lower : 0;
        meter->range.upper_ratio = ratios.upper;
    }
    worker_barrier(worker);
}

// The Runge-Kutta methods have a larger limit, or any limit at all, if damping is proportional to
// stiffness. `negative_part`: a bound on how far K is below 0, 1/s2.
static void add_ranges(struct system *system, double negative_part, struct critical_step *result,
                       const struct worker *worker)
{
    static const enum integrator integrators[] = {INTEGRATOR_EXPLICIT_EULER, INTEGRATOR_MIDPOINT,
                                                  INTEGRATOR_RK4};
    const struct stepping stepping = stepping_of(system);
    update_range(system, worker);
    struct mode_range range = system->meter->range;
    range.square_max = result->omega * result->omega;
    range.damping_max = result->damping;
    range.square_negative = negative_part;
    range.form_step = result->dt[INTEGRATOR_VELOCITY_VERLET];
    for (int i = 0; i < 3; i++)
        result->dt[integrators[i]] = fmax(result->dt[integrators[i]],
                                          integrator_range_step(integrators[i], &stepping, &range));
}

// The steps of any number of forms, as many at once as possible: the blocks of nodes take longer than they do.
static void find_all(struct system *system, const struct step_form *forms, int count, double *steps,
                     const struct worker *worker)
{
    for (int first = 0; first < count; first += STEP_FORMS_MAX) {
        struct step_bounds bounds = {.slack = -1e-5};
        for (; bounds.count < STEP_FORMS_MAX && first + bounds.count < count; bounds.count++) {
            bounds.forms[bounds.count] = forms[first + bounds.count];
            bounds.dt[bounds.count] = INFINITY;
        }
        REAL_NAME(step_bounds_find)(system->meter->spectral_bound, system, &bounds, worker);
        for (int f = 0; f < bounds.count; f++)
            steps[first + f] = bounds.dt[f];
    }
}

// Computes the bounds of omega, of c, and of the forms, and then those of ranges. Returns a bound on how far
// K is below 0, 1/s2, which the contact of surfaces does not count in.
static double find_bounds(struct system *system, struct critical_step *result,
                          const struct worker *worker)
{
    enum { STIFFNESS, DAMPING, NEGATIVE, FORMS };
    struct step_form forms[FORMS + LISTED_FORMS_MAX] = {
        {1, 0, 4, false}, {0, 1, 1, false}, {1, 0, 1, true}};
    double steps[FORMS + LISTED_FORMS_MAX];
    struct form_list list = {.count = 0};
    list_forms(system, false, &list);
    list_forms(system, true, &list);
    for (int f = 0; f < list.count; f++)
        forms[FORMS + f] = list.forms[f];
    level(system, worker);
    find_all(system, forms, FORMS + list.count, steps, worker);
    result->bound = steps[STIFFNESS];
    result->omega = 2 / steps[STIFFNESS];
    result->damping = 1 / steps[DAMPING];
    share_out(&list, result->damping > 0, steps + FORMS, result->dt);
    result->dt[INTEGRATOR_XPBD] = explicit_part_step(system);
    result->followed = result->dt[system->settings.integrator];
    result->node = find_node(system, steps[STIFFNESS], worker);
    const double slowest = steps[NEGATIVE];
    const double negative_part = isfinite(slowest) ? 1 / (slowest * slowest) : 0;
    if (result->damping > 0)
        add_ranges(system, negative_part, result, worker);
    return negative_part;
}

// ---- Computed values

// Ends of the spectra of M^-1 K and M^-1 C.
struct spectra {
    struct lanczos_mode stiffest, softest, most_damped; // softest: of -K
    double square, negative_part, damping;              // their values; negative_part 0: K >= 0
};

// The step at which the largest eigenvalue of s h^2 K + d h C reaches the limit: the least step of
// the form over all modes. Every mode found allows a step, and the most restrictive one is
// recomputed at that step, so that the steps decrease to the least one, starting from a guess. K is
// not negative.
static double computed_step(struct system *system, const struct step_form *form, double guess,
                            const struct worker *worker)
{
    enum { TRIES = 8 };
    const double near = 1e-3;
    double h = guess, least = INFINITY;
    for (int i = 0; i < TRIES && isfinite(h) && h > 0; i++) {
        struct lanczos_mode mode = REAL_NAME(lanczos_mode)(
            system->meter->lanczos, form->stiffness * h * h, form->damping * h, 0, worker);
        double next = step_of_form(form, fmax(0, mode.square), fmax(0, mode.damping));
        bool same = fabs(next - h) <= near * h; // and the error is of the order of its square
        least = fmin(least, next);
        h = next;
        if (same)
            break;
    }
    return least;
}

// The same of many nodes, where vectors take as long again, from values alone: at the step that the largest
// stiffness and the largest damping allow together, where the eigenvalue is the limit if one mode has both,
// and otherwise at longer ones that are no longer than the limit. The eigenvalue v(h) grows at least as h
// and at most as h^2, and log v is convex in log h, as that of each mode: both enclose the limit.
static double computed_step_of_many(struct system *system, const struct step_form *form,
                                    const struct spectra *ends, const struct worker *worker)
{
    enum { TRIES = 8 };
    const double near = 1e-3;
    double h = step_of_form(form, ends->square, ends->damping), before = 0, missing_before = 0;
    for (int i = 0; i < TRIES && isfinite(h) && h > 0; i++) {
        const double value = REAL_NAME(lanczos_largest)(
            system->meter->lanczos, form->stiffness * h * h, form->damping * h, worker);
        const double missing = log(form->limit / value); // of log v
        if (!(value > 0) || !(missing > 0))
            return h;
        const double slope = i > 0 ? (missing_before - missing) / log(h / before) : 1;
        before = h;
        missing_before = missing;
        h *= exp(missing / 2);
        if (missing / fmax(1, slope) - missing / 2 <= near)
            return h;
    }
    return h;
}

// The set of (x'Kx / x'Mx, x'Cx / x'Mx) over all complex x is convex (Toeplitz and Hausdorff), and
// contains the mode of every eigenvector. It is enclosed from two sides: eigenvectors of s K + d C
// are points of its boundary, and their eigenvalues s square + d damping are tangents. If K and C
// have common eigenvectors, its corners are modes, and the smallest step in it is exact; otherwise
// no mode has a smaller one. In units of the largest square and of the largest damping.
struct tangent_line {
    double normal[2], limit;
    double point[2], error[2]; // error: the maximum distance of an eigenvalue of K and C
};

enum { LINES_MAX = 24 };

struct enclosure {
    double scale[2]; // the largest square, of either sign, and damping
    int count;
    struct tangent_line lines[LINES_MAX]; // by the angle of the normal, counter-clockwise
};

// The tangent with a given normal. If it misses a known point only by round-off, it is moved to
// that point.
static struct tangent_line find_tangent(struct system *system, const struct enclosure *set,
                                        double square, double damping,
                                        const struct tangent_line *known,
                                        const struct worker *worker)
{
    const double near = sizeof(real) == sizeof(float) ? 1e-5 : 3e-6, fine = 0.1;
    double size = hypot(square, damping), s = square / size, d = damping / size;
    struct lanczos_mode mode =
        REAL_NAME(lanczos_mode)(system->meter->lanczos, s / set->scale[0], d / set->scale[1],
                                fine * (fabs(s) + fabs(d)), worker);
    struct tangent_line line = {
        .normal = {s, d},
        .limit = mode.value,
        .point = {mode.square / set->scale[0], mode.damping / set->scale[1]},
        .error = {mode.square_error / set->scale[0], mode.damping_error / set->scale[1]}};
    line.limit = fmax(line.limit, s * line.point[0] + d * line.point[1]);
    double through = s * known->point[0] + d * known->point[1];
    if (line.limit <= through + near) {
        line.limit = through;
        memcpy(line.point, known->point, sizeof line.point);
        memcpy(line.error, known->error, sizeof line.error);
    }
    return line;
}

// The intersection of two neighbouring tangents.
static void find_corner(const struct enclosure *set, int i, double corner[2])
{
    const struct tangent_line *p = &set->lines[i], *q = &set->lines[i + 1];
    double determinant = p->normal[0] * q->normal[1] - p->normal[1] * q->normal[0];
    corner[0] = (p->limit * q->normal[1] - q->limit * p->normal[1]) / determinant;
    corner[1] = (p->normal[0] * q->limit - q->normal[0] * p->limit) / determinant;
}

// Squares above this fraction of the largest one are more than round-off.
static double stationary_square(const struct enclosure *set)
{
    return (sizeof(real) == sizeof(float) ? 2e-5 : 1e-6) * set->scale[0];
}

// The step allowed by modes that count as stationary. Some of them may oscillate slowly, and only
// the ratio of their damping to stiffness is known.
static double step_of_stationary(const struct system *system, const struct enclosure *set,
                                 enum integrator integrator, const struct stepping *stepping)
{
    struct mode_range range = system->meter->range;
    range.square_max = stationary_square(set);
    range.square_negative = 0; // growth and decay are equally slow
    range.lower_ratio = system->meter->lower_ratio;
    range.damping_max = set->scale[1];
    range.form_step = INFINITY;
    return integrator_range_step(integrator, stepping, &range);
}

// Modes so slow that round-off made them count as stationary.
static void put_mode(const struct enclosure *set, const double point[2], double mode[2])
{
    const double still = stationary_square(set) / set->scale[0];
    mode[0] = fabs(point[0]) <= still ? 0 : point[0] * set->scale[0];
    mode[1] = point[1] <= still && point[0] <= still ? 0 : fmax(0, point[1] * set->scale[1]);
}

// The error of the tangents at a corner: a fast mode whose damping is a small fraction of that of
// others may be damped even less. For slow modes this does not reduce the step.
static void subtract_error(const struct enclosure *set, double mode[2])
{
    const double error = 2e-4, slow = 1e-3;
    if (mode[0] > slow * set->scale[0])
        mode[1] = fmax(0, mode[1] - error * set->scale[1]);
}

// The largest step of a mode within the errors of the point. The point itself may be a mixture of
// modes on the same tangent.
static double step_near(const struct enclosure *set, const struct tangent_line *line,
                        enum integrator integrator, const struct stepping *stepping)
{
    double most = 0;
    for (int corner = 0; corner < 4; corner++) {
        double mode[2];
        const double point[2] = {line->point[0] + (corner & 1 ? line->error[0] : -line->error[0]),
                                 line->point[1] + (corner & 2 ? line->error[1] : -line->error[1])};
        put_mode(set, point, mode);
        most = fmax(most, integrator_mode_step(integrator, stepping, mode[0], mode[1]));
    }
    return most;
}

// The smallest step on the polygon of tangents, with the nearest corner, and the smallest step of
// the known modes.
struct least_step {
    double outside, inside;
    int corner;
};

static struct least_step find_least(const struct enclosure *set, enum integrator integrator,
                                    const struct stepping *stepping)
{
    struct least_step least = {INFINITY, INFINITY, -1};
    double before[2] = {0}, at = INFINITY;
    for (int i = 0; i + 1 < set->count; i++) {
        double corner[2], mode[2];
        find_corner(set, i, corner);
        put_mode(set, corner, mode);
        subtract_error(set, mode);
        double own = integrator_mode_step(integrator, stepping, mode[0], mode[1]);
        if (own < at) {
            at = own;
            least.corner = i;
        }
        if (i > 0)
            own = fmin(own, integrator_segment_step(integrator, stepping, before, mode));
        least.outside = fmin(least.outside, own);
        before[0] = mode[0];
        before[1] = mode[1];
    }
    for (int i = 0; i < set->count; i++)
        least.inside = fmin(least.inside, step_near(set, &set->lines[i], integrator, stepping));
    return least;
}

// Adds a tangent between two neighbours, parallel to the chord of their points.
static bool refine(struct system *system, struct enclosure *set, int corner,
                   const struct worker *worker)
{
    const struct tangent_line *p = &set->lines[corner], *q = &set->lines[corner + 1];
    double along[2] = {q->point[0] - p->point[0], q->point[1] - p->point[1]};
    double s = along[1], d = -along[0];
    bool same_point = hypot(s, d) < 1e-9;
    if (same_point) {
        s = p->normal[0] + q->normal[0];
        d = p->normal[1] + q->normal[1];
    }
    // If the chord lies on one of the two tangents, no point of the set is beyond it.
    double length = hypot(s, d);
    if (s * p->normal[0] + d * p->normal[1] > (1 - 1e-10) * length ||
        s * q->normal[0] + d * q->normal[1] > (1 - 1e-10) * length)
        return false;
    struct tangent_line line = find_tangent(system, set, s, d, p, worker);
    for (int i = set->count; i > corner + 1; i--)
        set->lines[i] = set->lines[i - 1];
    set->lines[corner + 1] = line;
    set->count++;
    return true;
}

static bool is_runge_kutta(enum integrator integrator)
{
    return integrator == INTEGRATOR_EXPLICIT_EULER || integrator == INTEGRATOR_MIDPOINT ||
           integrator == INTEGRATOR_RK4;
}

static struct tangent_line line_through(const struct enclosure *set, double s, double d,
                                        double limit, const struct lanczos_mode *mode)
{
    return (struct tangent_line){
        .normal = {s, d},
        .limit = limit,
        .point = {mode->square / set->scale[0], mode->damping / set->scale[1]},
        .error = {mode->square_error / set->scale[0], mode->damping_error / set->scale[1]}};
}

// C is positive semidefinite and includes drag. K is indefinite only where springs are compressed
// or gas and spheres push.
static struct enclosure enclose(const struct mode_range *range, const struct spectra *ends)
{
    const struct lanczos_mode drag_alone = {.damping = range->lower}, still = {.value = 0};
    struct enclosure set = {.scale = {fmax(ends->square, ends->negative_part), ends->damping},
                            .count = 4};
    const double a = set.scale[0], b = set.scale[1];
    set.lines[0] = line_through(&set, 0, -1, -range->lower / b, &drag_alone);
    set.lines[1] = line_through(&set, 1, 0, ends->square / a, &ends->stiffest);
    set.lines[2] = line_through(&set, 0, 1, 1, &ends->most_damped);
    set.lines[3] = line_through(&set, -1, 0, ends->negative_part / a,
                                ends->negative_part > 0 ? &ends->softest : &still);
    return set;
}

// For many nodes only the largest eigenvalues and the ratio of damping to stiffness are used.
static double step_of_many(struct system *system, const struct critical_step *result,
                           enum integrator integrator, const struct spectra *ends)
{
    const struct stepping stepping = stepping_of(system);
    struct mode_range range = system->meter->range;
    range.square_max = ends->square;
    range.square_negative = ends->negative_part;
    range.damping_max = ends->damping;
    range.form_step = result->computed_dt[INTEGRATOR_VELOCITY_VERLET] > 0
                          ? result->computed_dt[INTEGRATOR_VELOCITY_VERLET]
                          : INFINITY;
    return integrator_range_step(integrator, &stepping, &range);
}

// The Runge-Kutta methods whose computed values are wanted, a bit for each.
static unsigned wanted_runge_kutta(const struct system *system, enum critical_wanted wanted)
{
    unsigned bits = 0;
    for (int i = 0; i < INTEGRATOR_COUNT; i++) {
        bool own = i == (int)system->settings.integrator;
        if (is_runge_kutta((enum integrator)i) && (wanted == CRITICAL_WANT_ALL || own))
            bits |= 1u << i;
    }
    return bits;
}

// The steps of the integrators in `wanted`, from the enclosure. A step is the limit if K and C have
// common eigenvectors, or if some eigenvalue allows no more.
static void compute_by_quotients(struct system *system, unsigned wanted, bool common,
                                 const struct quadratic_steps *steps, const struct spectra *ends,
                                 struct critical_step *result, struct enclosure *set,
                                 const struct worker *worker)
{
    const double enough = 2e-3, certain = 0.99;
    const double none = sizeof(real) == sizeof(float) ? 1e-4 : 1e-6; // round-off of the enclosure
    const struct stepping stepping = stepping_of(system);
    const double fastest = fmax(sqrt(set->scale[0]), set->scale[1] / 2);
    bool many = system->state->nodes > LANCZOS_MANY_NODES;
    for (int i = 0; i < INTEGRATOR_COUNT; i++) {
        enum integrator integrator = (enum integrator)i;
        if (!(wanted >> i & 1))
            continue;
        struct least_step least = find_least(set, integrator, &stepping);
        while (!many && least.outside < (1 - enough) * least.inside && set->count < LINES_MAX &&
               refine(system, set, least.corner, worker))
            least = find_least(set, integrator, &stepping);
        double step =
            many ? step_of_many(system, result, integrator, ends)
                 : fmin(least.outside, step_of_stationary(system, set, integrator, &stepping));
        const double guaranteed = result->dt[i];
        bool none_at_all = common && !(guaranteed > 0) && least.inside * fastest < none;
        if (none_at_all || step * fastest < none)
            step = 0;
        step = fmax(step, guaranteed);
        result->computed_dt[i] = step;
        double seen = steps->stays[i] ? steps->step[i] : 0; // less than `step` if not converged
        bool met = seen > 0 && step >= certain * seen && seen >= certain * step;
        result->exact[i] =
            none_at_all || met || (common && !many && step >= certain * least.inside);
    }
}

// Without damping every oscillation grows with explicit Euler and midpoint. Modes that do not
// oscillate grow and decay at the same rate, and the decaying root limits all three methods.
static void compute_undamped(const struct system *system, const struct spectra *ends,
                             unsigned wanted, struct critical_step *result)
{
    const struct stepping stepping = stepping_of(system);
    for (int i = 0; i < INTEGRATOR_COUNT; i++) {
        enum integrator integrator = (enum integrator)i;
        if (!(wanted >> i & 1))
            continue;
        double oscillating = ends->square > 0
                                 ? integrator_mode_step(integrator, &stepping, ends->square, 0)
                                 : INFINITY;
        double decaying = integrator_mode_step(integrator, &stepping, -ends->negative_part, 0);
        result->computed_dt[i] = fmin(oscillating, decaying);
        result->exact[i] = true;
    }
}

// For few free nodes, from all eigenvalues, which worker 0 computes.
static unsigned compute_few(struct system *system, const struct spectra *ends, unsigned wanted,
                            struct critical_step *result, const struct worker *worker)
{
    struct quadratic *quadratic = system->meter->quadratic;
    const struct dense *dense = REAL_NAME(quadratic_dense)(quadratic, worker);
    if (!dense)
        return wanted;
    if (worker->index == 0)
        system->meter->few =
            dense_find(dense, fmax(ends->square, ends->negative_part), ends->damping);
    REAL_NAME(quadratic_dense_release)(quadratic, worker);
    const struct dense_steps steps = system->meter->few;
    worker_barrier(worker); // all have read it
    for (int i = 0; i < INTEGRATOR_COUNT && steps.found; i++)
        if (wanted >> i & 1) {
            result->computed_dt[i] = fmax(steps.step[i], result->dt[i]);
            result->exact[i] = steps.exact[i] && (steps.step[i] > 0 || !(result->dt[i] > 0));
        }
    return steps.found ? 0 : wanted;
}

// For more nodes. If K and C have common eigenvectors, which a product shows, quotients suffice.
// Otherwise, and if the enclosure is not tight, the fastest eigenvalues of the quadratic problem
// are computed, with bounds by quotients for the limits that these do not determine.
static void compute_damped(struct system *system, const struct spectra *ends, unsigned wanted,
                           struct critical_step *result, const struct worker *worker)
{
    struct quadratic *quadratic = system->meter->quadratic;
    unsigned left = compute_few(system, ends, wanted, result, worker);
    if (!left)
        return;
    struct enclosure set = enclose(&system->meter->range, ends);
    const double square = set.scale[0], damping = set.scale[1];
    bool many = system->state->nodes > LANCZOS_MANY_NODES, common = false;
    struct quadratic_steps steps = {.found = {false}};
    if (square == 0) { // only drag and damping
        const struct stepping stepping = stepping_of(system);
        for (int i = 0; i < INTEGRATOR_COUNT; i++)
            if (left >> i & 1) {
                result->computed_dt[i] =
                    integrator_mode_step((enum integrator)i, &stepping, 0, damping);
                result->exact[i] = true;
            }
        return;
    }
    if (!many)
        common = REAL_NAME(quadratic_commutes)(quadratic, square, damping, worker);
    if (common) {
        compute_by_quotients(system, left, true, &steps, ends, result, &set, worker);
        for (int i = 0; i < INTEGRATOR_COUNT; i++)
            if (result->exact[i])
                left &= ~(1u << i);
    }
    if (left && !many)
        steps = REAL_NAME(quadratic_find)(quadratic, square, damping, left, worker);
    for (int i = 0; i < INTEGRATOR_COUNT; i++)
        if (steps.found[i]) {
            result->computed_dt[i] = steps.step[i];
            result->exact[i] = true;
            left &= ~(1u << i);
        }
    if (!common)
        compute_by_quotients(system, left, false, &steps, ends, result, &set, worker);
}

// The guaranteed step of the integrators with this form. For the symplectic integrators it is the
// only limit.
static double guaranteed_step(const struct form_list *list, bool damped, int form,
                              const struct critical_step *result)
{
    int integrator = 0;
    while (!(list->users[damped][form] >> integrator & 1))
        integrator++;
    return result->dt[integrator];
}

// Whether limit M - d h C - s h^2 K is definite. Divided by h^2 it grows monotonically as h falls
// from twice the h at which damping alone reaches the limit, whatever K is: if it is definite at
// one of these h, it is at all smaller ones.
static bool is_form_definite(struct system *system, const struct step_form *form, double h,
                             const struct worker *worker)
{
    double largest = REAL_NAME(lanczos_largest)(system->meter->lanczos, form->stiffness * h * h,
                                                form->damping * h, worker);
    return largest < form->limit;
}

// The same for an indefinite K. Its negative modes do not limit the step by themselves, but reduce
// the stiffness of combinations with other modes. *exact: whether the result is the limit.
static double computed_pressed_step(struct system *system, const struct step_form *form,
                                    double guess, const struct spectra *ends, bool *exact,
                                    const struct worker *worker)
{
    enum { HALVINGS = 12 };
    const double certain = 0.999;
    struct quadratic *quadratic = system->meter->quadratic;
    const struct dense *dense = REAL_NAME(quadratic_dense)(quadratic, worker);
    *exact = true;
    if (dense) {
        if (worker->index == 0)
            system->meter->form_step = dense_form_step(dense, form, ends->damping);
        REAL_NAME(quadratic_dense_release)(quadratic, worker);
        double step = system->meter->form_step;
        worker_barrier(worker); // all have read it
        return step;
    }
    double high = 2 * form->limit / (form->damping * ends->damping), low = fmin(guess, high);
    if (is_form_definite(system, form, high, worker)) {
        // A larger step is possible only if damping and negative stiffness belong to the same
        // modes.
        *exact = false;
        return fmax(high, guess);
    }
    for (int i = 0; i < HALVINGS && low < certain * high; i++) {
        double middle = sqrt(low * high);
        if (is_form_definite(system, form, middle, worker))
            low = middle;
        else
            high = middle;
    }
    *exact = low >= 0.99 * high;
    return low;
}

// The ends of the spectra. How far K is below 0 is not looked for where its bound shows that this is
// round-off. Of many nodes vectors are not found, which take as many products again, and the least of K
// takes none of its own.
static struct spectra find_ends(struct system *system, bool damped, double negative_bound,
                                const struct worker *worker)
{
    const double round_off = sizeof(real) == sizeof(float) ? 2e-5 : 1e-9;
    struct lanczos *lanczos = system->meter->lanczos;
    const bool many = system->state->nodes > LANCZOS_MANY_NODES;
    // Below this largest square the least one counts.
    const double matters = !system->meter->pressed         ? 0
                           : system->topology->has_contact ? INFINITY
                                                           : negative_bound / round_off;
    struct spectra ends = {.square = 0};
    if (damped && !many) {
        ends.stiffest = REAL_NAME(lanczos_mode)(lanczos, 1, 0, 0, worker);
        ends.most_damped = REAL_NAME(lanczos_mode)(lanczos, 0, 1, 0, worker);
    } else {
        double least;
        ends.stiffest.value = REAL_NAME(lanczos_ends)(lanczos, many ? matters : 0, &least, worker);
        ends.softest.value = -least;
        if (damped)
            ends.most_damped.value = REAL_NAME(lanczos_largest)(lanczos, 0, 1, worker);
    }
    ends.square = fmax(0, ends.stiffest.value);
    ends.damping = fmax(0, ends.most_damped.value);
    if (ends.square < matters) {
        if (!many)
            ends.softest = REAL_NAME(lanczos_mode)(lanczos, -1, 0, ends.square, worker);
        if (ends.softest.value > round_off * ends.square)
            ends.negative_part = ends.softest.value;
    }
    return ends;
}

static void compute_steps(struct system *system, enum critical_wanted wanted, double negative_bound,
                          struct critical_step *result, const struct worker *worker)
{
    REAL_NAME(lanczos_update)(system->meter->lanczos, REAL_NAME(evaluation_now)(system), worker);
    const bool may_be_damped = result->damping > 0;
    if (!may_be_damped) // otherwise it is known from the bounds
        update_range(system, worker);
    const struct spectra ends = find_ends(system, may_be_damped, negative_bound, worker);
    const bool damped = ends.damping > 0; // colliders that touch no node do not count
    result->computed_omega = sqrt(ends.square);
    result->computed = ends.square > 0 ? 2 / result->computed_omega : 0;

    struct form_list list = {.count = 0};
    list_forms(system, damped, &list);
    const uint32_t *const users = list.users[damped];
    double steps[LISTED_FORMS_MAX] = {0};
    bool exact[LISTED_FORMS_MAX];
    for (int f = 0; f < list.count; f++) {
        const struct step_form *form = &list.forms[f];
        exact[f] = true;
        double guess = guaranteed_step(&list, damped, f, result);
        if (form->negative || users[f] >> INTEGRATOR_RK4 & 1)
            steps[f] = guess; // the own limits of the Runge-Kutta methods follow
        else if (damped && ends.negative_part > 0)
            steps[f] = computed_pressed_step(system, form, guess, &ends, &exact[f], worker);
        else if (damped && ends.square > 0)
            steps[f] = system->state->nodes > LANCZOS_MANY_NODES
                           ? computed_step_of_many(system, form, &ends, worker)
                           : computed_step(system, form, guess, worker);
        else
            steps[f] =
                fmin(step_of_form(form, ends.square, 0), step_of_form(form, 0, ends.damping));
    }
    share_out(&list, damped, steps, result->computed_dt);
    result->computed_dt[INTEGRATOR_XPBD] = result->dt[INTEGRATOR_XPBD];
    for (int i = 0; i < INTEGRATOR_COUNT; i++) {
        bool runge_kutta = is_runge_kutta((enum integrator)i);
        result->exact[i] = !runge_kutta;
        if (runge_kutta)
            result->computed_dt[i] = result->dt[i];
        for (int f = 0; f < list.count && !runge_kutta; f++)
            if (users[f] >> i & 1)
                result->exact[i] = exact[f];
    }
    result->exact[INTEGRATOR_XPBD] = !system->elements && !system->surface_contact;
    unsigned left = wanted_runge_kutta(system, wanted);
    if (left && !damped)
        compute_undamped(system, &ends, left, result);
    else if (left)
        compute_damped(system, &ends, left, result, worker);
}

// ---- The stiffest spring at a node, for messages

struct stiffest {
    const struct topology *topology;
    double stiffness; // N/m, of the stiffest so far; -1: none
    uint64_t spring;
};

// Of equally stiff springs, the first in the builder's order.
static void replace_if_stiffer(void *context, uint64_t spring,
                               const struct spring_constants *material)
{
    struct stiffest *best = context;
    double k = (double)material->stiffness;
    if (k > best->stiffness ||
        (k == best->stiffness && topology_builder_spring(best->topology, spring) <
                                     topology_builder_spring(best->topology, best->spring))) {
        best->stiffness = k;
        best->spring = spring;
    }
}

bool REAL_NAME(stiffest_spring)(const struct system *system, uint64_t node, uint64_t *spring)
{
    struct stiffest best = {system->topology, -1, *spring};
    REAL_NAME(springs_visit_node)(system, node, replace_if_stiffer, &best);
    *spring = best.spring;
    return best.stiffness >= 0;
}

// Forces that the eigenvalues omit can only reduce the limit, so only the guaranteed step is known.
static void fall_back_to_bounds(struct critical_step *result)
{
    for (int i = 0; i < INTEGRATOR_COUNT; i++) {
        result->computed_dt[i] = result->dt[i];
        result->exact[i] = false;
    }
}

void REAL_NAME(critical_step_measure)(struct system *system, enum critical_wanted wanted,
                                      struct critical_step *result, const struct worker *worker)
{
    struct critical_step found = {0};
    const double negative_bound = find_bounds(system, &found, worker);
    if (wanted != CRITICAL_WANT_BOUNDS)
        compute_steps(system, wanted, negative_bound, &found, worker);
    if (wanted != CRITICAL_WANT_BOUNDS && topology_wind_damps_nodes(system->topology))
        fall_back_to_bounds(&found);
    add_friction(system, &found, worker);
    if (wanted != CRITICAL_WANT_BOUNDS)
        found.products = REAL_NAME(lanczos_products)(system->meter->lanczos);
    if (worker->index == 0) {
        *result = found;
        const bool has_spring = REAL_NAME(stiffest_spring)(system, found.node, &result->spring);
        result->known = isfinite(found.bound) && (has_spring || system->elements);
        result->node = topology_builder_node(system->topology, found.node);
        result->spring = topology_builder_spring(system->topology, result->spring);
        if (!isfinite(found.bound))
            result->bound = result->omega = 0;
    }
    worker_barrier(worker);
}

bool REAL_NAME(critical_step_exceeded)(struct system *system, double dt, int products,
                                       const struct worker *worker)
{
    const struct settings *settings = &system->settings;
    struct lanczos *lanczos = system->meter->lanczos;
    const struct stepping stepping = stepping_of(system);
    struct step_form forms[INTEGRATOR_FORMS_MAX];
    int count = integrator_forms(settings->integrator, &stepping, true, forms);
    REAL_NAME(lanczos_update)(lanczos, REAL_NAME(evaluation_now)(system), worker);
    bool exceeded = false;
    for (int f = 0; f < count && !exceeded; f++) {
        double square = (forms[f].negative ? -1 : 1) * forms[f].stiffness * dt * dt;
        exceeded = REAL_NAME(lanczos_exceeds)(lanczos, square, forms[f].damping * dt,
                                              forms[f].limit, products, worker);
    }
    return exceeded;
}

// ---- Motion that grows

// Of dt: what is certainly not stable, where the fastest mode grows by 1.9 in a step of dt.
static const double BEYOND_LIMIT = 0.95;
// Of the greatest eigenvalue that is stable: the quotient of velocities from which on they are mostly in
// modes that are not. Unstable runs that contact holds had 0.33 to 1.2, with all integrators; stable ones
// at most 0.1, at least with steps below 0.95 of the critical one.
static const double FAST_PART = 0.25;

static bool motion_is_fast(struct system *system, const struct worker *worker)
{
    const double dt = system->settings.dt;
    const struct stepping stepping = stepping_of(system);
    struct step_form forms[INTEGRATOR_FORMS_MAX];
    const int count = integrator_forms(system->settings.integrator, &stepping, true, forms);
    bool fast = false;
    for (int f = 0; f < count && !fast; f++)
        fast = !forms[f].negative &&
               REAL_NAME(lanczos_of_velocities)(system->meter->lanczos,
                                                forms[f].stiffness * dt * dt, forms[f].damping * dt,
                                                worker) > FAST_PART * forms[f].limit;
    return fast;
}

bool REAL_NAME(critical_step_grows)(struct system *system, const struct worker *worker)
{
    enum { PRODUCTS = 48 };
    const double dt = system->settings.dt;
    const double limit = integrator_limit(system->settings.integrator);
    const bool prepared = system->meter != NULL;
    bool grows = false;
    taut_error error;
    if (prepared || !(limit > 0) || isinf(limit))
        return false;
    for (int computed = 0; computed < 2; computed++) {
        worker_barrier(worker); // all have read what is prepared now
        if (worker->index == 0 &&
            REAL_NAME(critical_step_prepare)(system, computed != 0, &error) != TAUT_OK)
            REAL_NAME(critical_step_release)(system);
        worker_barrier(worker);
        if (!system->meter)
            return false;
        if (computed == 0 && !(REAL_NAME(critical_step_up_to)(system, dt, worker) < dt))
            break;
        grows = computed != 0 &&
                REAL_NAME(critical_step_exceeded)(system, BEYOND_LIMIT * dt, PRODUCTS, worker) &&
                motion_is_fast(system, worker);
    }
    worker_barrier(worker);
    if (worker->index == 0)
        REAL_NAME(critical_step_release)(system);
    worker_barrier(worker);
    return grows;
}
