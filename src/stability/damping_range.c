// The ratios of damping to stiffness of springs, elements and colliders, and the range of drag: the
// springs in rows chunk by chunk of nodes, which ranks share; all others one by one.
#include "stability/damping_range.h"

#include "contact/tangent.h"
#include "elements/elements.h"
#include "integrate/integrate.h"
#include "springs/exchange.h"
#include "springs/springs.h"
#include "state/reading.h"

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

// Springs of other ranks that are not listed here, and whose lengths are not known either.
static void extend_by_absent(const struct system *system, struct ratios *ratios)
{
    const struct topology *topology = system->topology;
    for (size_t b = 0; b < topology->body_count; b++) {
        const struct topology_body *body = &topology->bodies[b];
        for (size_t kind = 0; body->springs_absent && kind < SPRING_KINDS_MAX; kind++)
            if (body->kind_start[kind] < body->kind_start[kind + 1]) {
                const uint32_t material = topology_absent_material(body, body->kind_start[kind]);
                extend_by_spring(ratios, &system->constants->material[material], 0, 0);
            }
    }
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

// The results for each chunk of nodes, from the springs in rows that begin at these nodes.
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

// Gathers the ratios of all springs and the range of drag, from the chunks of all nodes, and one by
// one from springs in no rows. *touches: whether any node touches a penalty collider.
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
    struct plan_nodes run = {0, 0};
    while (plan_next_listed(system->topology, system->plan, &run)) {
        struct spring_walk walk = {system, run.first, run.first + run.count};
        struct spring_view view;
        while (springs_next(&walk, &view)) {
            const vec3 d = vec3_subtract(node_position(system->state, view.a),
                                         node_position(system->state, view.b));
            if (!view_is_broken(&view, 0))
                extend_by_spring(&ratios, view.material, vec3_length(d),
                                 (double)view_rest_length(&view, 0));
        }
    }
    extend_by_absent(system, &ratios);
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

void REAL_NAME(damping_range_find)(struct system *system, struct damping_range *result,
                                   const struct worker *worker)
{
    worker_barrier(worker); // all have read the last one
    REAL_NAME(exchange_chunk_sums)(system, find_range_of_nodes, NULL, worker);
    if (worker->index == 0) {
        bool touches;
        struct ratios ratios = gather_ratios(system, &result->modes, &touches);
        result->lower_ratio = find_present_ratio(system, ratios.lower, touches);
        extend_by_others(system, &ratios);
        result->pressed = ratios.pressed;
        result->modes.lower_ratio = isfinite(ratios.lower) ? ratios.lower : 0;
        result->modes.upper_ratio = ratios.upper;
    }
    worker_barrier(worker);
}
