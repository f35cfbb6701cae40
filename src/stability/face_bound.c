// What gas and wind add to the blocks of nodes (face_bound.h). Gas needs the volume that all faces
// of a body enclose, and a sum over all of its nodes, wind the faces at a node. Where ranks hold
// only their parts, each has what is added to the nodes of its chunks, and, for bodies on no grid,
// to those whose weights it finds (exchange_bounds_nodes).
#include "stability/face_bound.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/sort.h"
#include "faces/faces.h"
#include "integrate/integrate.h"
#include "ranks/ranks.h"
#include "springs/exchange.h"
#include "state/reading.h"

// For each node: the contribution to K and -K (blocks) and C (N/m, N s/m), and A n / 3 summed over
// its faces, which is the gradient of the volume of a closed body.
struct node_part {
    double stiffness[BLOCK_WIDTH], negative[BLOCK_WIDTH], damping;
    vec3 gradient;
};

// Which of 64 nodes have a part, and how many nodes before them have one.
struct node_marks {
    uint64_t nodes;
    size_t before;
};

struct face_bound {
    struct system *system;
    struct bound_weights weights; // at present
    struct range acting;          // from the first node of a body on which they act to the last
    struct node_marks *marks;     // of these; the last one is an end marker
    size_t mark_count;
    struct node_part *parts; // of nodes with a face, so that the inside of lattices takes none
    size_t count;
    bool windy;
};

static bool has_part(const struct face_bound *bound, size_t node)
{
    const size_t i = node - bound->acting.first;
    return bound->marks[i / 64].nodes >> (i % 64) & 1;
}

// The first part from a node on.
static struct node_part *parts_from(const struct face_bound *bound, size_t node)
{
    const size_t i = node - bound->acting.first;
    const struct node_marks *marks = &bound->marks[i / 64];
    const uint64_t lower = marks->nodes & ((UINT64_C(1) << (i % 64)) - 1);
    return bound->parts + marks->before + __builtin_popcountll(lower);
}

// The part of a node with a face.
static struct node_part *part_of_node(const struct face_bound *bound, size_t node)
{
    return parts_from(bound, node);
}

static bool faces_act(const struct topology_body *body, bool windy)
{
    return body->pressure.present || (windy && body->face_count > 0);
}

static struct range find_acting(const struct topology *topology, bool windy)
{
    struct range acting = {0, 0};
    for (size_t b = 0; b < topology->body_count; b++) {
        const struct topology_body *body = &topology->bodies[b];
        if (!faces_act(body, windy))
            continue;
        if (acting.end == 0)
            acting.first = (size_t)body->first_node;
        acting.end = (size_t)(body->first_node + body->node_count);
    }
    return acting;
}

void REAL_NAME(face_bound_free)(struct face_bound *bound)
{
    if (!bound)
        return;
    const taut_allocator *allocator = bound->system->allocator;
    memory_release(allocator, bound->parts, bound->count, sizeof *bound->parts);
    memory_release(allocator, bound->marks, bound->mark_count, sizeof *bound->marks);
    memory_release(allocator, bound, 1, sizeof *bound);
}

static void mark_node(struct face_bound *bound, size_t node)
{
    const size_t i = node - bound->acting.first;
    bound->marks[i / 64].nodes |= UINT64_C(1) << (i % 64);
}

// Wind of law `node` acts on all nodes of a body with faces.
static void mark_all(struct face_bound *bound)
{
    const struct topology *topology = bound->system->topology;
    const bool all = bound->windy && topology->environment.wind.law == WIND_NODE;
    for (size_t b = 0; b < topology->body_count; b++) {
        const struct topology_body *body = &topology->bodies[b];
        const size_t first = (size_t)body->first_node, end = first + (size_t)body->node_count;
        if (!faces_act(body, bound->windy))
            continue;
        for (size_t node = first; all && node < end; node++)
            mark_node(bound, node);
        for (uint64_t f = 0; !all && f < body->face_count; f++) {
            const struct face face = topology_body_face(topology, body, f);
            for (int corner = 0; corner < 3; corner++)
                if (face.nodes[corner] != FACE_EDGE)
                    mark_node(bound, face.nodes[corner]);
        }
    }
    for (size_t m = 0; m < bound->mark_count; m++) {
        bound->marks[m].before = bound->count;
        bound->count += (size_t)__builtin_popcountll(bound->marks[m].nodes);
    }
}

taut_status REAL_NAME(face_bound_make)(struct system *system, struct face_bound **result,
                                       taut_error *error)
{
    *result = NULL;
    const struct topology *topology = system->topology;
    const bool gas = topology_has_gas(topology);
    bool windy = topology_wind_damps(topology);
    if (!gas && !windy)
        return TAUT_OK;
    struct face_bound *bound = memory_allocate(system->allocator, 1, sizeof *bound);
    if (!bound)
        return fail_memory(error, "the critical step");
    bound->system = system;
    bound->windy = windy;
    bound->acting = find_acting(topology, windy);
    bound->mark_count = (bound->acting.end - bound->acting.first) / 64 + 1;
    bound->marks = memory_allocate(system->allocator, bound->mark_count, sizeof *bound->marks);
    if (bound->marks) {
        mark_all(bound);
        bound->parts = memory_allocate(system->allocator, bound->count, sizeof *bound->parts);
    }
    if (!bound->parts) {
        REAL_NAME(face_bound_free)(bound);
        return fail_memory(error, "the critical step");
    }
    *result = bound;
    return TAUT_OK;
}

uint64_t REAL_NAME(face_bound_bytes)(const struct face_bound *bound)
{
    return bound ? sizeof *bound + bound->count * sizeof *bound->parts +
                       bound->mark_count * sizeof *bound->marks
                 : 0;
}

// The corners and A n of a face; for an edge of a plane body, two corners and l n.
struct surface {
    int corners;
    uint32_t nodes[3];
    vec3 at[3], area;
};

static struct surface surface_of(const struct system *system, const struct face *face)
{
    struct surface it = {.corners = face->nodes[2] == FACE_EDGE ? 2 : 3};
    for (int corner = 0; corner < it.corners; corner++) {
        it.nodes[corner] = face->nodes[corner];
        it.at[corner] = node_position(system->state, face->nodes[corner]);
    }
    vec3 side = vec3_subtract(it.at[1], it.at[0]);
    if (it.corners == 2)
        it.area = vec3_make(side.y, -side.x, 0);
    else
        it.area = vec3_scale(0.5, vec3_cross(side, vec3_subtract(it.at[2], it.at[0])));
    return it;
}

static bool touches(const struct face *face, struct range nodes)
{
    return range_has(nodes, face->nodes[0]) || range_has(nodes, face->nodes[1]) ||
           range_has(nodes, face->nodes[2]);
}

// ---- Gas

// block += along u u' + across (I - u u') with u = w / |w|; if w is 0, `across` only.
static void add_part(double block[BLOCK_WIDTH], vec3 w, double along, double across)
{
    double square = vec3_dot(w, w), more = square > 0 ? (along - across) / square : 0;
    block[0] += across + more * w.x * w.x;
    block[1] += across + more * w.y * w.y;
    block[2] += across + more * w.z * w.z;
    block[3] += more * w.x * w.y;
    block[4] += more * w.x * w.z;
    block[5] += more * w.y * w.z;
}

// Adds both ends of a block of P times the derivative of the gradient, w as in spectral_bound.h, as
// far as they are of these nodes.
static void add_pair(struct face_bound *bound, struct range nodes, uint32_t a, uint32_t b, vec3 w,
                     double strength)
{
    const uint32_t ends[2] = {a, b};
    for (int end = 0; end < 2; end++) {
        if (!range_has(nodes, ends[end]))
            continue;
        real part = bound_share(&bound->weights, ends[end], ends[1 - end]);
        double across = strength * ((double)part - 1);
        add_part(part_of_node(bound, ends[end])->stiffness, w, 0, across);
        add_part(part_of_node(bound, ends[end])->negative, w, 0, across);
    }
}

static void add_curvature(struct face_bound *bound, struct range nodes, const struct surface *it,
                          double pressure)
{
    const vec3 plane = {0, 0, 1};
    if (it->corners == 2) {
        add_pair(bound, nodes, it->nodes[0], it->nodes[1], plane, pressure / 2);
        return;
    }
    for (int corner = 0; corner < 3; corner++) {
        int next = (corner + 1) % 3, last = (corner + 2) % 3;
        vec3 middle = vec3_scale(0.5, vec3_add(it->at[next], it->at[last]));
        vec3 median = vec3_subtract(it->at[corner], middle);
        add_pair(bound, nodes, it->nodes[next], it->nodes[last], median,
                 pressure / 6 * vec3_length(median));
    }
}

// The nodes of a body that this rank updates (face_bound_update), and those among them that no
// other rank sums over: where ranks have only their parts, others may have the rest (`shared`).
struct body_part {
    const struct topology_body *body;
    size_t index;
    struct range nodes, summed;
    bool shared;
};

// sum |g|^2 / m over the free nodes of a body, one after another: from rank to rank.
static double gradient_square(struct face_bound *bound, const struct body_part *part)
{
    const struct system *system = bound->system;
    const int rank = ranks_number(), count = part->shared ? ranks_count() : 1;
    double sum = 0;
    for (int r = 0; r < count; r++) {
        const bool mine = r == rank || !part->shared;
        for (size_t i = part->summed.first; mine && i < part->summed.end; i++) {
            if (!has_part(bound, i))
                continue;
            vec3 g = part_of_node(bound, i)->gradient;
            if (system->constants->inverse_mass[i] != 0)
                sum += vec3_dot(g, g) / topology_mass(system->topology, i);
        }
        if (part->shared)
            ranks_pass(&sum, sizeof sum, r, r + 1 < count ? r + 1 : 0);
    }
    if (part->shared)
        ranks_broadcast(&sum, sizeof sum);
    return sum;
}

static double volume_of_face(const struct system *system, const struct face *face, vec3 origin)
{
    const struct surface it = surface_of(system, face);
    return vec3_dot(it.area, vec3_subtract(it.at[0], origin)) / it.corners;
}

// Gives all ranks the origin from the one that has it.
static vec3 shared_origin(const struct system *system, const struct body_part *part)
{
    double at[3] = {0};
    if (range_has(part->summed, part->body->first_node)) {
        const vec3 origin = node_position(system->state, (size_t)part->body->first_node);
        at[0] = origin.x, at[1] = origin.y, at[2] = origin.z;
    }
    ranks_add(at, 3);
    return vec3_make(at[0], at[1], at[2]);
}

// Each face is computed by the rank with its lowest node, and all ranks add all of them.
static double shared_volume(const struct system *system, const struct body_part *part)
{
    enum { FACES_AT_ONCE = 4096 };
    double values[FACES_AT_ONCE], volume = 0;
    const vec3 origin = shared_origin(system, part);
    const uint64_t faces = part->body->face_count;
    for (uint64_t first = 0; first < faces; first += FACES_AT_ONCE) {
        const size_t count = (size_t)min_u64(faces - first, FACES_AT_ONCE);
        for (size_t i = 0; i < count; i++) {
            const struct face face = topology_body_face(system->topology, part->body, first + i);
            const bool mine = range_has(part->summed, face_lowest_node(&face));
            values[i] = mine ? volume_of_face(system, &face, origin) : 0;
        }
        ranks_add(values, count);
        for (size_t i = 0; i < count; i++)
            volume += values[i];
    }
    return volume;
}

// The volume enclosed by the faces now. Estimated volumes (box and so on) are larger, with a lower
// pressure.
static double enclosed(const struct system *system, const struct body_part *part)
{
    const struct topology_body *body = part->body;
    if (part->shared)
        return shared_volume(system, part);
    vec3 origin = node_position(system->state, (size_t)body->first_node);
    double volume = 0;
    for (uint64_t f = 0; f < body->face_count; f++) {
        const struct face face = topology_body_face(system->topology, body, f);
        volume += volume_of_face(system, &face, origin);
    }
    return volume;
}

// The amount of gas at the next check of dt; the final amount if there is none.
static double amount_to_come(const struct system *system, size_t body)
{
    const uint64_t ahead = system->settings.dt_interval;
    const uint64_t now = REAL_NAME(evaluation_now)(system).gas_step;
    const double to_come = ahead > 0 ? REAL_NAME(gas_amount)(system, body, now + ahead)
                                     : system->topology->bodies[body].pressure.amount;
    return fmax(to_come, REAL_NAME(gas_amount)(system, body, now)); // which may be let out
}

static void add_gas(struct face_bound *bound, const struct body_part *part)
{
    const struct system *system = bound->system;
    const struct topology_body *body = part->body;
    const struct scene_pressure *gas = &body->pressure;
    double volume = enclosed(system, part), built = system->state->volume_built[part->index];
    if (!(volume > 0))
        return;     // collapsed: the run ends
    if (built == 0) // at the start
        built = volume;
    double inside =
        REAL_NAME(gas_pressure)(gas, amount_to_come(system, part->index), volume, built) +
        gas->atmosphere;
    double slope = gas->gamma * fabs(inside) / volume;
    double pressure = fmax(fabs(inside - gas->atmosphere), fabs(gas->atmosphere));
    for (uint64_t f = 0; f < body->face_count; f++) {
        const struct face face = topology_body_face(system->topology, body, f);
        if (!touches(&face, part->nodes))
            continue;
        const struct surface it = surface_of(system, &face);
        add_curvature(bound, part->nodes, &it, pressure);
        for (int corner = 0; corner < it.corners; corner++) {
            if (!range_has(part->nodes, it.nodes[corner]))
                continue;
            struct node_part *node = part_of_node(bound, it.nodes[corner]);
            node->gradient = vec3_add(node->gradient, vec3_scale(1.0 / it.corners, it.area));
        }
    }
    double rate = slope * gradient_square(bound, part);
    for (size_t i = part->nodes.first; i < part->nodes.end; i++) {
        if (!has_part(bound, i))
            continue;
        struct node_part *node = part_of_node(bound, i);
        double along = rate * topology_mass(system->topology, i);
        add_part(inside < 0 ? node->negative : node->stiffness, node->gradient, along, 0);
    }
}

// ---- Wind

// The largest possible derivative of the wind's force per unit of area at present, N s/m per m2.
static double wind_damping(const struct system *system, const struct surface *it)
{
    const struct scene_wind *wind = &system->topology->environment.wind;
    if (wind->law != WIND_QUADRATIC)
        return wind->coefficient;
    double speed = topology_wind_speed(system->topology);
    for (int corner = 0; corner < it->corners; corner++)
        speed += vec3_length(node_velocity(system->state, it->nodes[corner])) / it->corners;
    return wind->density * wind->drag * speed;
}

// The faces of a body among which are those with a node of `nodes`, some of which are the body's.
// The faces of a sheet come row of cells by row of cells.
static struct range faces_around(const struct topology_body *body, struct range nodes)
{
    const uint64_t begin = body->first_node, end = begin + body->node_count;
    if (!body->is_sheet)
        return (struct range){0, (size_t)body->face_count};
    const uint64_t columns = body->grid[0], faces = 2 * (columns - 1);
    const uint64_t first = (max_u64(nodes.first, begin) - begin) / columns;
    const uint64_t last = (min_u64(nodes.end, end) - 1 - begin) / columns;
    return (struct range){(size_t)(faces * (first > 0 ? first - 1 : 0)),
                          (size_t)min_u64(faces * (last + 1), body->face_count)};
}

static void add_wind(struct face_bound *bound, const struct body_part *part)
{
    const struct system *system = bound->system;
    const struct topology_body *body = part->body;
    const struct range nodes = part->nodes;
    if (nodes.first >= nodes.end)
        return;
    if (system->topology->environment.wind.law == WIND_NODE) {
        for (size_t i = nodes.first; i < nodes.end; i++)
            part_of_node(bound, i)->damping += system->topology->environment.wind.coefficient;
        return;
    }
    const struct range faces = faces_around(body, nodes);
    for (size_t f = faces.first; f < faces.end; f++) {
        const struct face face = topology_body_face(system->topology, body, f);
        if (!touches(&face, nodes))
            continue;
        const struct surface it = surface_of(system, &face);
        const double c = wind_damping(system, &it) * vec3_length(it.area) / it.corners;
        for (int corner = 0; corner < it.corners; corner++)
            if (range_has(nodes, it.nodes[corner]))
                part_of_node(bound, it.nodes[corner])->damping += c;
    }
}

// What wind_may_damp compares: (|S|^2 / m^2) (speed^2 + |v|^2) with `limit`, where S is the area
// vector of a face times its number of corners, m the mass of its nodes, v the velocity of one of
// them, and `speed`^2 that of the wind, m2/s2, or 1 where only this counts. It takes no roots and
// has the precision of the state, since a sheet of few thousand nodes is checked within a step.
struct wind_trial {
    const struct state *state;
    real speed, velocities; // m2/s2; 1 or 0: whether those of nodes count
    double limit;           // m4 m2/s2 per kg2
};

static struct wind_trial wind_trial_of(const struct system *system, double most)
{
    enum { FACES_OF_NODE = 8 };
    const struct scene_wind *wind = &system->topology->environment.wind;
    const bool quadratic = wind->law == WIND_QUADRATIC;
    const double speed = topology_wind_speed(system->topology);
    // (a + b)^2 <= 2 (a^2 + b^2)
    const double factor = quadratic ? sqrt(2) * wind->density * wind->drag : wind->coefficient;
    const double ratio = most / (FACES_OF_NODE * factor);
    return (struct wind_trial){
        .state = system->state,
        .speed = quadratic ? (real)(speed * speed) : 1,
        .velocities = quadratic,
        .limit = ratio * ratio,
    };
}

static inline real square_speed(const struct wind_trial *it, size_t node)
{
    const struct state *s = it->state;
    return it->speed + it->velocities * (s->vx[node] * s->vx[node] + s->vy[node] * s->vy[node] +
                                         s->vz[node] * s->vz[node]);
}

// |u x v|^2 of the sides from node a to b and to c: four times the square of the area.
static inline real square_cross(const struct state *s, size_t a, size_t b, size_t c)
{
    const real ux = s->x[b] - s->x[a], uy = s->y[b] - s->y[a], uz = s->z[b] - s->z[a];
    const real vx = s->x[c] - s->x[a], vy = s->y[c] - s->y[a], vz = s->z[c] - s->z[a];
    const real x = uy * vz - uz * vy, y = uz * vx - ux * vz, z = ux * vy - uy * vx;
    return x * x + y * y + z * z;
}

// Both triangles of each cell between the rows of nodes that begin at a and b.
static bool row_damps_more(const struct wind_trial *it, size_t a, size_t b, size_t cells,
                           double mass)
{
    const real most = (real)(it->limit * mass * mass * (4.0 / 9));
    int more = 0;
    for (size_t i = 0; i < cells; i++) {
        const real near = square_cross(it->state, a + i, a + i + 1, b + i);
        const real far = square_cross(it->state, b + i + 1, b + i, a + i + 1);
        more |= near * square_speed(it, a + i) > most;
        more |= far * square_speed(it, b + i + 1) > most;
    }
    return more;
}

static bool face_damps_more(const struct wind_trial *it, const struct topology *topology,
                            const struct topology_body *body, const struct face *face)
{
    const struct state *s = it->state;
    const size_t a = face->nodes[0], b = face->nodes[1], c = face->nodes[2];
    const real x = s->x[b] - s->x[a], y = s->y[b] - s->y[a];
    const double square =
        c == FACE_EDGE ? (double)(x * x + y * y) / 4 : (double)square_cross(s, a, b, c) / 36;
    double mass = body->node_mass;
    for (int corner = 0; !(body->node_mass > 0) && corner < (c == FACE_EDGE ? 2 : 3); corner++)
        mass = corner == 0 ? topology_mass(topology, a)
                           : fmin(mass, topology_mass(topology, face->nodes[corner]));
    return square * (double)square_speed(it, a) > it->limit * mass * mass;
}

static bool sheet_damps_more(const struct system *system, const struct wind_trial *trial,
                             const struct topology_body *body, struct range nodes,
                             const struct worker *worker)
{
    const size_t columns = (size_t)body->grid[0], first = (size_t)body->first_node;
    const struct range faces = faces_around(body, nodes);
    const size_t row = faces.first / (2 * (columns - 1)), end = faces.end / (2 * (columns - 1));
    const struct range share = worker_share(worker, end - row, 1);
    bool more = false;
    for (size_t j = row + share.first; j < row + share.end && !more; j++) {
        const size_t a = first + j * columns, b = a + columns;
        const double mass =
            fmin(topology_mass(system->topology, a), topology_mass(system->topology, b));
        more = row_damps_more(trial, a, b, columns - 1, mass);
    }
    return more;
}

// ---- All faces

// The part of a body that this rank updates: the nodes of its chunks; for a body on no grid, those
// of which it finds bounds; without other ranks, all.
static struct body_part part_of_body(const struct system *system, size_t index)
{
    const struct topology_body *body = &system->topology->bodies[index];
    const size_t first = (size_t)body->first_node, end = first + (size_t)body->node_count;
    const bool on_grid = plan_grid_of_body(system->plan, index);
    struct body_part part = {
        .body = body, .index = index, .nodes = {first, end}, .summed = {first, end}};
    if (!REAL_NAME(exchange_has_part)(system))
        return part;
    part.shared = on_grid || REAL_NAME(exchange_divides)(system, index);
    if (part.shared) {
        const struct range chunks = REAL_NAME(exchange_chunk_nodes)(system);
        part.summed.first = min_u64(end, max_u64(first, chunks.first));
        part.summed.end = max_u64(part.summed.first, min_u64(end, chunks.end));
    }
    part.nodes = on_grid ? part.summed : REAL_NAME(exchange_bounds_nodes)(system, index);
    return part;
}

static bool any_damps_more(const struct system *system, double most, const struct worker *worker)
{
    const struct topology *topology = system->topology;
    const struct wind_trial trial = wind_trial_of(system, most);
    bool more = false;
    for (size_t b = 0; b < topology->body_count && !more; b++) {
        const struct topology_body *body = &topology->bodies[b];
        const struct range nodes = part_of_body(system, b).nodes;
        if (body->face_count == 0 || nodes.first >= nodes.end)
            continue;
        if (body->is_sheet) {
            more = sheet_damps_more(system, &trial, body, nodes, worker);
            continue;
        }
        const struct range share = worker_share(worker, (size_t)body->face_count, 16);
        for (size_t f = share.first; f < share.end && !more; f++) {
            const struct face face = topology_body_face(topology, body, f);
            more = touches(&face, nodes) && face_damps_more(&trial, topology, body, &face);
        }
    }
    return more;
}

bool REAL_NAME(wind_may_damp)(struct system *system, double most, const struct worker *worker)
{
    if (worker->index == 0)
        atomic_store_explicit(&system->wind_damps, false, memory_order_relaxed);
    worker_barrier(worker); // nodes have been moved, and the last result has been read
    if (any_damps_more(system, most, worker))
        atomic_store_explicit(&system->wind_damps, true, memory_order_relaxed);
    worker_barrier(worker);
    return atomic_load_explicit(&system->wind_damps, memory_order_relaxed);
}

void REAL_NAME(face_bound_update)(struct face_bound *bound, struct bound_weights weights)
{
    bound->weights = weights;
    for (size_t b = 0; b < bound->system->topology->body_count; b++) {
        const struct body_part part = part_of_body(bound->system, b);
        const bool any = part.nodes.first < part.nodes.end;
        if (!faces_act(part.body, bound->windy) || (!any && !part.shared))
            continue;
        if (any) {
            struct node_part *first = parts_from(bound, part.nodes.first);
            memset(first, 0, (size_t)(parts_from(bound, part.nodes.end) - first) * sizeof *first);
        }
        if (part.body->pressure.present)
            add_gas(bound, &part);
        if (bound->windy && part.body->face_count > 0)
            add_wind(bound, &part);
    }
}

void REAL_NAME(face_bound_add)(const struct face_bound *bound, bool negative,
                               struct bound_blocks *blocks)
{
    const size_t first = max_u64(blocks->first, bound->acting.first);
    const size_t end = min_u64(blocks->first + blocks->count, bound->acting.end);
    for (size_t i = first - blocks->first; i + blocks->first < end; i++) {
        if (!has_part(bound, blocks->first + i))
            continue;
        const struct node_part *node = part_of_node(bound, blocks->first + i);
        for (int element = 0; element < BLOCK_WIDTH; element++)
            blocks->stiffness[element][i] += (real)node->stiffness[element];
        for (int element = 0; negative && element < BLOCK_WIDTH; element++)
            blocks->negative[element][i] += (real)node->negative[element];
        for (int element = 0; element < 3; element++)
            blocks->damping[element][i] += (real)node->damping;
    }
}
