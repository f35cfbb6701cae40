#include "stability/majorant_faces.h"

#include <string.h>

#include "base/memory.h"
#include "forces/forces.h"
#include "state/reading.h"

// Of each node: what is added to K and C (N/m, N s/m), and A n / 3 summed over its faces, which is
// the gradient of the volume of a closed body.
struct node_part {
    double stiffness, damping;
    vec3 gradient;
};

struct face_majorants {
    struct system *system;
    struct node_part *nodes;
    size_t count;
    bool windy;
};

static bool wind_damps(const struct topology *topology)
{
    const struct scene_wind *wind = &topology->environment.wind;
    return wind->present && wind->relative && topology->face_count > 0;
}

taut_status REAL_NAME(face_majorants_make)(struct system *system, struct face_majorants **result,
                                           taut_error *error)
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

// How far a corner is from the middle of the other two.
static double median(const struct surface *it, int corner)
{
    vec3 middle = vec3_scale(0.5, vec3_add(it->at[(corner + 1) % 3], it->at[(corner + 2) % 3]));
    return vec3_length(vec3_subtract(it->at[corner], middle));
}

// P times the derivative of the gradient: of corner a the blocks with b and with c.
static void add_curvature(struct face_majorants *majorants, const struct surface *it,
                          double pressure)
{
    if (it->corners == 2) {
        for (int corner = 0; corner < 2; corner++)
            majorants->nodes[it->nodes[corner]].stiffness += pressure / 2;
        return;
    }
    double medians[3] = {median(it, 0), median(it, 1), median(it, 2)};
    double all = medians[0] + medians[1] + medians[2];
    for (int corner = 0; corner < 3; corner++)
        majorants->nodes[it->nodes[corner]].stiffness += pressure / 6 * (all - medians[corner]);
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
    double inside = REAL_NAME(gas_pressure)(gas, gas->amount, volume, built) + gas->atmosphere;
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
        majorants->nodes[i].stiffness += rate * topology_mass(system->topology, i);
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
        for (int element = 0; element < 3; element++) {
            blocks->stiffness[element][i] += (real)node->stiffness;
            blocks->damping[element][i] += (real)node->damping;
        }
    }
}
