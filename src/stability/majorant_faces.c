#include "stability/majorant_faces.h"

#include <string.h>

#include "base/memory.h"
#include "forces/forces.h"
#include "integrate/integrate.h"
#include "state/reading.h"

// Of each node: what is added to K (a block) and C (N/m, N s/m), and A n / 3 summed over its faces,
// which is the gradient of the volume of a closed body.
struct node_part {
    double stiffness[BLOCK_WIDTH], damping;
    vec3 gradient;
};

struct face_majorants {
    struct system *system;
    const struct listed_majorants *listed; // has the amplitudes
    struct node_part *nodes;
    size_t count;
    bool windy;
};

static bool wind_damps(const struct topology *topology)
{
    const struct scene_wind *wind = &topology->environment.wind;
    return wind->present && wind->relative && topology->face_count > 0;
}

taut_status REAL_NAME(face_majorants_make)(struct system *system,
                                           const struct listed_majorants *listed,
                                           struct face_majorants **result, taut_error *error)
{
    *result = NULL;
    const struct topology *topology = system->topology;
    bool gas = false;
    for (size_t b = 0; b < topology->body_count; b++)
        gas |= topology->bodies[b].pressure.present;
    bool windy = wind_damps(topology);
    if (!gas && !windy)
        return TAUT_OK;
    struct face_majorants *majorants = memory_allocate(system->allocator, 1, sizeof *majorants);
    if (!majorants)
        return fail_memory(error, "the critical step");
    majorants->system = system;
    majorants->listed = listed;
    majorants->windy = windy;
    majorants->count = (size_t)topology->node_count;
    majorants->nodes =
        memory_allocate(system->allocator, majorants->count, sizeof *majorants->nodes);
    if (!majorants->nodes) {
        REAL_NAME(face_majorants_free)(majorants);
        return fail_memory(error, "the critical step");
    }
    *result = majorants;
    return TAUT_OK;
}

void REAL_NAME(face_majorants_free)(struct face_majorants *majorants)
{
    if (!majorants)
        return;
    const taut_allocator *allocator = majorants->system->allocator;
    memory_release(allocator, majorants->nodes, majorants->count, sizeof *majorants->nodes);
    memory_release(allocator, majorants, 1, sizeof *majorants);
}

uint64_t REAL_NAME(face_majorants_bytes)(const struct face_majorants *majorants)
{
    return majorants ? sizeof *majorants + majorants->count * sizeof *majorants->nodes : 0;
}

// A face's corners and A n; of an edge of a plane body two corners and l n.
struct surface {
    int corners;
    uint32_t nodes[3];
    vec3 at[3], area;
};

static struct surface surface_of(const struct system *system, const struct topology_body *body,
                                 uint64_t index)
{
    struct face face = topology_body_face(system->topology, body, index);
    struct surface it = {.corners = face.nodes[2] == FACE_EDGE ? 2 : 3};
    for (int corner = 0; corner < it.corners; corner++) {
        it.nodes[corner] = face.nodes[corner];
        it.at[corner] = node_position(system->state, face.nodes[corner]);
    }
    vec3 side = vec3_subtract(it.at[1], it.at[0]);
    if (it.corners == 2)
        it.area = vec3_make(side.y, -side.x, 0);
    else
        it.area = vec3_scale(0.5, vec3_cross(side, vec3_subtract(it.at[2], it.at[0])));
    return it;
}

// ---- Gas

// block += along u u' + across (I - u u') with u = w / |w|; where w is 0 it has to be across alone.
static void add_part(struct node_part *node, vec3 w, double along, double across)
{
    double square = vec3_dot(w, w), more = square > 0 ? (along - across) / square : 0;
    node->stiffness[0] += across + more * w.x * w.x;
    node->stiffness[1] += across + more * w.y * w.y;
    node->stiffness[2] += across + more * w.z * w.z;
    node->stiffness[3] += more * w.x * w.y;
    node->stiffness[4] += more * w.x * w.z;
    node->stiffness[5] += more * w.y * w.z;
}

// Both ends of a block of P times the derivative of the gradient, w as in majorant.h.
static void add_pair(struct face_majorants *majorants, uint32_t a, uint32_t b, vec3 w,
                     double strength)
{
    const uint32_t ends[2] = {a, b};
    for (int end = 0; end < 2; end++) {
        real part = REAL_NAME(listed_majorants_part)(majorants->listed, ends[end], ends[1 - end]);
        add_part(&majorants->nodes[ends[end]], w, 0, strength * ((double)part - 1));
    }
}

static void add_curvature(struct face_majorants *majorants, const struct surface *it,
                          double pressure)
{
    const vec3 plane = {0, 0, 1};
    if (it->corners == 2) {
        add_pair(majorants, it->nodes[0], it->nodes[1], plane, pressure / 2);
        return;
    }
    for (int corner = 0; corner < 3; corner++) {
        int next = (corner + 1) % 3, last = (corner + 2) % 3;
        vec3 middle = vec3_scale(0.5, vec3_add(it->at[next], it->at[last]));
        vec3 median = vec3_subtract(it->at[corner], middle);
        add_pair(majorants, it->nodes[next], it->nodes[last], median,
                 pressure / 6 * vec3_length(median));
    }
}

// sum |g|^2 / m over the free nodes of a body.
static double weigh_gradient(struct face_majorants *majorants, const struct topology_body *body)
{
    const struct system *system = majorants->system;
    double sum = 0;
    for (uint64_t i = body->first_node; i < body->first_node + body->node_count; i++) {
        vec3 g = majorants->nodes[i].gradient;
        if (system->constants->inverse_mass[i] != 0)
            sum += vec3_dot(g, g) / topology_mass(system->topology, i);
    }
    return sum;
}

// What the faces enclose now: by estimates (box and so on) it is more, and the pressure less.
static double enclosed(const struct system *system, const struct topology_body *body)
{
    vec3 origin = node_position(system->state, (size_t)body->first_node);
    double volume = 0;
    for (uint64_t f = 0; f < body->face_count; f++) {
        struct surface it = surface_of(system, body, f);
        volume += vec3_dot(it.area, vec3_subtract(it.at[0], origin)) / it.corners;
    }
    return volume;
}

// What will have been pumped in when dt is looked at next; all of it, if that will not be.
static double amount_to_come(const struct system *system, const struct scene_pressure *gas)
{
    uint64_t ahead = system->settings.looks_every;
    if (ahead == 0)
        return gas->amount;
    return REAL_NAME(gas_amount)(gas, REAL_NAME(moment_now)(system).gas_step + ahead);
}

static void add_gas(struct face_majorants *majorants, const struct topology_body *body,
                    size_t index)
{
    const struct system *system = majorants->system;
    const struct scene_pressure *gas = &body->pressure;
    double volume = enclosed(system, body), built = system->state->volume_built[index];
    if (!(volume > 0))
        return;     // collapsed, which ends the run
    if (built == 0) // at the start
        built = volume;
    double inside =
        REAL_NAME(gas_pressure)(gas, amount_to_come(system, gas), volume, built) + gas->atmosphere;
    double slope = gas->gamma * fabs(inside) / volume;
    double pressure = fmax(fabs(inside - gas->atmosphere), fabs(gas->atmosphere));
    for (uint64_t f = 0; f < body->face_count; f++) {
        struct surface it = surface_of(system, body, f);
        add_curvature(majorants, &it, pressure);
        for (int corner = 0; corner < it.corners; corner++) {
            struct node_part *node = &majorants->nodes[it.nodes[corner]];
            node->gradient = vec3_add(node->gradient, vec3_scale(1.0 / it.corners, it.area));
        }
    }
    double rate = slope * weigh_gradient(majorants, body);
    for (uint64_t i = body->first_node; i < body->first_node + body->node_count; i++)
        add_part(&majorants->nodes[i], majorants->nodes[i].gradient,
                 rate * topology_mass(system->topology, i), 0);
}

// ---- Wind

// The largest that the derivative of the wind's force on a unit of area can be now, N s/m per m2.
static double wind_damping(const struct system *system, const struct surface *it)
{
    const struct scene_wind *wind = &system->topology->environment.wind;
    if (wind->law != WIND_QUADRATIC)
        return wind->coefficient;
    double speed = vec3_length(wind->velocity);
    for (size_t i = 0; i < wind->gust_count; i++)
        speed += vec3_length(wind->gusts[i].amplitude);
    for (int corner = 0; corner < it->corners; corner++)
        speed += vec3_length(node_velocity(system->state, it->nodes[corner])) / it->corners;
    return wind->density * wind->drag * speed;
}

static void add_wind(struct face_majorants *majorants, const struct topology_body *body)
{
    const struct system *system = majorants->system;
    if (system->topology->environment.wind.law == WIND_NODE) {
        for (uint64_t i = body->first_node; i < body->first_node + body->node_count; i++)
            majorants->nodes[i].damping += system->topology->environment.wind.coefficient;
        return;
    }
    for (uint64_t f = 0; f < body->face_count; f++) {
        struct surface it = surface_of(system, body, f);
        double c = wind_damping(system, &it) * vec3_length(it.area) / it.corners;
        for (int corner = 0; corner < it.corners; corner++)
            majorants->nodes[it.nodes[corner]].damping += c;
    }
}

// ----

void REAL_NAME(face_majorants_update)(struct face_majorants *majorants)
{
    const struct topology *topology = majorants->system->topology;
    memset(majorants->nodes, 0, majorants->count * sizeof *majorants->nodes);
    for (size_t b = 0; b < topology->body_count; b++) {
        const struct topology_body *body = &topology->bodies[b];
        if (body->pressure.present)
            add_gas(majorants, body, b);
        if (majorants->windy && body->face_count > 0)
            add_wind(majorants, body);
    }
}

void REAL_NAME(face_majorants_add)(const struct face_majorants *majorants, struct majorant *blocks)
{
    for (size_t i = 0; i < blocks->count; i++) {
        const struct node_part *node = &majorants->nodes[blocks->first + i];
        for (int element = 0; element < BLOCK_WIDTH; element++)
            blocks->stiffness[element][i] += (real)node->stiffness[element];
        for (int element = 0; element < 3; element++)
            blocks->damping[element][i] += (real)node->damping;
    }
}
