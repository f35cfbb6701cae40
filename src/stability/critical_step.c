// The largest stable step: guaranteed values from upper bounds (step_bounds.h), and with
// eigenvalues computed ones (computed_steps.h).
#include "stability/critical_step.h"

#include "base/memory.h"
#include "contact/surface_contact.h"
#include "elements/elements.h"
#include "integrate/integrate.h"
#include "ranks/ranks.h"
#include "stability/computed_steps.h"
#include "stability/face_bound.h"
#include "stability/step_bounds.h"
#include "springs/exchange.h"
#include "springs/springs.h"
#include "state/reading.h"

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
    REAL_NAME(quadratic_free)(meter->quadratic); // before the tangent that it uses
    REAL_NAME(lanczos_free)(meter->lanczos);
    meter->quadratic = NULL;
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

void REAL_NAME(critical_step_collect_weights)(struct system *system, const uint64_t *cuts)
{
    if (ranks_all(REAL_NAME(critical_step_has_weights)(system)))
        REAL_NAME(spectral_bound_collect_weights)(system->meter->spectral_bound, cuts);
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

// Friction over the smallest mass of a free node, 1/s. Uses the masses of the topology: a rank may
// not have the constants of all nodes.
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

// The same factor with the q of each node, of the guaranteed step h of symplectic Euler. At a root
// z of a mode x on the unit circle, (z - Q)(z - 1) M x + h^2 z K x = 0 with Q diagonal; multiplied
// by x* this is the equation of one oscillator whose q is x*QMx / x*Mx, so that h^2 K < 2 M (1 + Q)
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

// ---- Elements and contact of surfaces in xpbd, which are forces there, evaluated once per substep
// as by symplectic Euler

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

// Elements of negative stiffness are stable only beside springs, which few iterations of
// constraints make softer than they are: no step is known to be stable.
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

// The substep that a node allows: k, c, those of its elements and contacts, and d, its drag, over
// its mass. Drag is a force of the start of the substep, too, up to h d = 1; the rest divides the
// velocity (xpbd.c), which only damps.
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

bool REAL_NAME(critical_step_may_fall)(struct system *system, double dt,
                                       const struct worker *worker)
{
    const double part = 0.25, limit = 2; // of h lambda, where symplectic Euler is unstable
    if (!topology_wind_damps_faces(system->topology))
        return false;
    const bool paused =
        !REAL_NAME(exchange_has_part)(system) && REAL_NAME(exchange_pause)(system, worker);
    REAL_NAME(spectral_bound_reach)(system->meter->spectral_bound, worker);
    const bool any = REAL_NAME(wind_may_damp)(system, part * limit / dt, worker);
    REAL_NAME(exchange_resume)(system, paused, worker);
    return REAL_NAME(exchange_any)(system, any, worker);
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

// The node that sets the bound. Among nodes that are equal up to round-off, which depends on their
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

// The Runge-Kutta methods have a larger limit, or any limit at all, if damping is proportional to
// stiffness. `negative_part`: a bound on how far K is below 0, 1/s2.
static void add_ranges(struct system *system, double negative_part, struct critical_step *result,
                       const struct worker *worker)
{
    static const enum integrator integrators[] = {INTEGRATOR_EXPLICIT_EULER, INTEGRATOR_MIDPOINT,
                                                  INTEGRATOR_RK4};
    const struct stepping stepping = stepping_of(system);
    REAL_NAME(damping_range_find)(system, &system->meter->range, worker);
    struct mode_range range = system->meter->range.modes;
    range.square_max = result->omega * result->omega;
    range.damping_max = result->damping;
    range.square_negative = negative_part;
    range.form_step = result->dt[INTEGRATOR_VELOCITY_VERLET];
    for (int i = 0; i < 3; i++)
        result->dt[integrators[i]] = fmax(result->dt[integrators[i]],
                                          integrator_range_step(integrators[i], &stepping, &range));
}

// The steps of any number of forms, as many at once as possible: the blocks of nodes take longer
// than they do.
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

// Computes the bounds of omega, of c, and of the forms, and then those of ranges. Returns a bound
// on how far K is below 0, 1/s2, which the contact of surfaces does not count in.
static double find_bounds(struct system *system, struct critical_step *result,
                          const struct worker *worker)
{
    enum { STIFFNESS, DAMPING, NEGATIVE, FORMS };
    struct step_form forms[FORMS + LISTED_FORMS_MAX] = {
        {1, 0, 4, false}, {0, 1, 1, false}, {1, 0, 1, true}};
    double steps[FORMS + LISTED_FORMS_MAX] = {0};
    struct form_list list = {.count = 0};
    const struct stepping stepping = stepping_of(system);
    form_list_add(&list, &stepping, false);
    form_list_add(&list, &stepping, true);
    for (int f = 0; f < list.count; f++)
        forms[FORMS + f] = list.forms[f];
    level(system, worker);
    find_all(system, forms, FORMS + list.count, steps, worker);
    result->bound = steps[STIFFNESS];
    result->omega = 2 / steps[STIFFNESS];
    result->damping = 1 / steps[DAMPING];
    form_list_steps(&list, result->damping > 0, steps + FORMS, result->dt);
    // Ranks that hold only their parts have no elements of others, and do no steps of xpbd.
    result->dt[INTEGRATOR_XPBD] =
        REAL_NAME(exchange_has_part)(system) ? 0 : explicit_part_step(system);
    result->followed = result->dt[system->settings.integrator];
    result->node = find_node(system, steps[STIFFNESS], worker);
    const double slowest = steps[NEGATIVE];
    const double negative_part = isfinite(slowest) ? 1 / (slowest * slowest) : 0;
    if (result->damping > 0)
        add_ranges(system, negative_part, result, worker);
    return negative_part;
}

// ---- The stiffest spring at a node, for messages

struct stiffest {
    const struct topology *topology;
    double stiffness; // N/m, of the stiffest so far; -1: none
    uint64_t spring;
};

// Keeps the stiffest spring; among equally stiff ones, the first in the builder's order.
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

// The stiffest spring by its builder's number. Where ranks hold only their parts, the one with the
// node finds it, and all get the result.
static bool stiffest_of_ranks(const struct system *system, uint64_t node, uint64_t *spring)
{
    const bool shared = REAL_NAME(exchange_has_part)(system);
    bool found = (!shared || exchange_owns(system, (size_t)node)) &&
                 REAL_NAME(stiffest_spring)(system, node, spring);
    if (found)
        *spring = topology_builder_spring(system->topology, *spring);
    if (!shared)
        return found;
    double values[2] = {found ? 1 : 0, found ? (double)*spring : 0}; // exact
    ranks_add(values, 2);
    found = values[0] > 0;
    *spring = found ? (uint64_t)values[1] : *spring;
    return found;
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
        REAL_NAME(computed_steps_find)
    (system, wanted, negative_bound, &found, worker);
    if (wanted != CRITICAL_WANT_BOUNDS && topology_wind_damps_nodes(system->topology))
        fall_back_to_bounds(&found);
    add_friction(system, &found, worker);
    if (wanted != CRITICAL_WANT_BOUNDS)
        found.products = REAL_NAME(lanczos_products)(system->meter->lanczos);
    if (worker->index == 0) {
        *result = found;
        const bool has_spring = stiffest_of_ranks(system, found.node, &result->spring);
        result->known = isfinite(found.bound) && (has_spring || system->elements);
        result->node = topology_builder_node(system->topology, found.node);
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

// ---- Contacts of surfaces

// The forms of steps of the integrator in use that contacts of surfaces shorten; returns their
// number. Those of xpbd are substeps, for which explicit_part_step allows.
static int contact_forms(const struct system *system, struct step_form forms[INTEGRATOR_FORMS_MAX])
{
    const struct stepping stepping = stepping_of(system);
    const enum integrator integrator = system->settings.integrator;
    if (!system->surface_contact || integrator == INTEGRATOR_XPBD)
        return 0;
    return integrator_forms(integrator, &stepping, true, forms);
}

double REAL_NAME(critical_step_load)(struct system *system, const struct worker *worker)
{
    struct step_form forms[INTEGRATOR_FORMS_MAX];
    if (contact_forms(system, forms) == 0)
        return 0;
    if (system->exchange)
        REAL_NAME(exchange_wanted_nodes)(system, worker);
    const double load = REAL_NAME(surface_loads_greatest)(system, worker);
    if (worker->index == 0)
        REAL_NAME(exchange_all_known)(system, false); // Verlet steps begin by moving nodes
    worker_barrier(worker);
    return load;
}

void REAL_NAME(critical_step_count_loads)(struct system *system, double factor,
                                          const struct worker *worker)
{
    worker_barrier(worker);
    if (worker->index == 0)
        REAL_NAME(surface_loads_count)(system, factor);
    worker_barrier(worker);
}

// What a form needs to find the share of a step in its limit at a node: the stiffness and damping
// of the node without contacts, and those of contacts along any direction.
struct loaded_node {
    struct block stiffness, damping;
    struct node_load load;
};

static double form_share(const struct step_form *form, double h, const struct loaded_node *node,
                         bool loaded, double limit)
{
    const struct block *k = &node->stiffness, *c = &node->damping;
    const double s = form->stiffness * h * h, d = form->damping * h;
    const struct block all = {s * k->xx + d * c->xx, s * k->yy + d * c->yy, s * k->zz + d * c->zz,
                              s * k->xy + d * c->xy, s * k->xz + d * c->xz, s * k->yz + d * c->yz};
    const double more = s * node->load.stiffness + d * node->load.damping;
    return (block_largest(&all) + (loaded ? more : 0)) / limit;
}

static void load_node(const struct system *system, const struct step_form *form,
                      const struct loaded_node *node, double inverse, uint64_t number,
                      struct contact_load *worst)
{
    const double dt = system->settings.dt, limit = form->limit / inverse;
    if (form_share(form, dt, node, true, limit) <= 1)
        return;
    // Bisects to 1/4000, as the stiffest directions of K and C differ.
    double stable = dt, least = dt / 64;
    while (stable - least > least / 4000) {
        const double middle = (stable + least) / 2;
        *(form_share(form, middle, node, true, limit) <= 1 ? &least : &stable) = middle;
    }
    if (!(least < worst->stable || (least == worst->stable && number < worst->node)))
        return;
    const double beside = form_share(form, dt, node, false, limit);
    worst->stable = least;
    worst->node = number;
    worst->times = (form_share(form, dt, node, true, limit) - beside) / (1 - beside);
}

static struct block less_along_all(struct block m, double by)
{
    return (struct block){m.xx - by, m.yy - by, m.zz - by, m.xy, m.xz, m.yz};
}

static void load_nodes(const struct system *system, const struct step_form *form,
                       struct contact_load *worst)
{
    const size_t count = (size_t)system->state->nodes;
    for (size_t first = 0; first < count; first += BOUND_NODES) {
        struct bound_blocks blocks;
        REAL_NAME(spectral_bound_blocks)
        (system->meter->spectral_bound, first,
         count - first < BOUND_NODES ? count - first : BOUND_NODES, false, &blocks);
        for (size_t i = 0; i < blocks.count; i++) {
            const double inverse = (double)system->constants->inverse_mass[first + i];
            const struct node_load load = REAL_NAME(surface_load)(system, first + i);
            if (inverse == 0 || !(load.stiffness > 0))
                continue;
            double stiffness, damping;
            REAL_NAME(surface_contact_allowed)
            (system, topology_body_of_node(system->topology, first + i), &stiffness, &damping);
            const struct loaded_node node = {
                less_along_all(block_at(blocks.stiffness, i), stiffness),
                less_along_all(block_at(blocks.damping, i), damping), load};
            load_node(system, form, &node, inverse,
                      topology_builder_node(system->topology, first + i), worst);
        }
    }
}

void REAL_NAME(critical_step_of_contacts)(struct system *system, struct contact_load *result,
                                          const struct worker *worker)
{
    struct step_form forms[INTEGRATOR_FORMS_MAX];
    const int count = contact_forms(system, forms);
    if (worker->index == 0)
        *result = (struct contact_load){.stable = INFINITY};
    worker_barrier(worker);
    if (count == 0)
        return;
    const bool found = REAL_NAME(surface_loads_find)(system, worker);
    if (found)
        REAL_NAME(spectral_bound_update)(system->meter->spectral_bound, worker);
    worker_barrier(worker);
    if (worker->index == 0)
        result->no_memory = !found;
    for (int f = 0; worker->index == 0 && found && f < count; f++)
        if (!forms[f].negative)
            load_nodes(system, &forms[f], result);
    worker_barrier(worker);
}

// ---- Motion that grows

// A fraction of dt: if a step this long is not stable, dt certainly is not, and the fastest mode
// grows by 1.9 in a step of dt.
static const double BEYOND_LIMIT = 0.95;
// The quotient of velocities from which on they are mostly in unstable modes, as a fraction of the
// greatest stable eigenvalue. Unstable runs that contact holds had 0.33 to 1.2, with all
// integrators; stable ones at most 0.1, at least with steps below 0.95 of the critical one.
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
