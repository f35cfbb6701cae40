// The list of constants that setters change, with what each of them may be
// (checkpoint_constants.h).
#include "solver/checkpoint_constants.h"

#include "base/memory.h"
#include "scene/moduli.h"

static double *component(vec3 *vector, uint64_t axis)
{
    return axis == 0 ? &vector->x : axis == 1 ? &vector->y : &vector->z;
}

// X(name, count, address, possible): the i-th value is at `address`; a setter accepts only `value`s
// that are `possible`. A mass of 0: as built; a body without gas has any gamma and inflate.
#define SET_CONSTANTS(X)                                                                           \
    X(stiffness, topology->material_count, &topology->materials[i].stiffness, value >= 0)          \
    X(damping, topology->material_count, &topology->materials[i].damping, value >= 0)              \
    X(material_rest, topology->material_count, &topology->materials[i].rest_length, value >= 0)    \
    X(direction_rest, topology->direction_count, &topology->directions[i].rest_length, value >= 0) \
    X(young, topology->moduli_count, &MODULI.elastic.young, value > 0 || MODULI.fabric.present)    \
    X(poisson, topology->moduli_count, &MODULI.elastic.poisson, value >= 0 && value <= 0.5)        \
    X(warp, topology->moduli_count, &MODULI.fabric.warp, value > 0 || MODULI.elastic.present)      \
    X(weft, topology->moduli_count, &MODULI.fabric.weft, value > 0 || MODULI.elastic.present)      \
    X(coupling, topology->moduli_count, &MODULI.fabric.coupling, true)                             \
    X(shear, topology->moduli_count, &MODULI.fabric.shear, value > 0 || MODULI.elastic.present)    \
    X(bending_warp, topology->moduli_count, &MODULI.fabric.bending[0], value >= 0)                 \
    X(bending_weft, topology->moduli_count, &MODULI.fabric.bending[1], value >= 0)                 \
    X(twist, topology->moduli_count, &MODULI.fabric.twist, value >= 0)                             \
    X(damping_ratio, topology->moduli_count, &MODULI.damping_ratio, value >= 0)                    \
    X(damping_stiffness, topology->moduli_count, &MODULI.rayleigh_stiffness, value >= 0)           \
    X(damping_constant, topology->moduli_count, &MODULI.common.damping, value >= 0)                \
    X(node_mass, topology->body_count, &topology->bodies[i].mass_set, value >= 0)                  \
    X(gas_amount, topology->body_count, &GAS.amount, value >= 0)                                   \
    X(gas_atmosphere, topology->body_count, &GAS.atmosphere, value >= 0)                           \
    X(gas_gamma, topology->body_count, &GAS.gamma, value >= 1 || !GAS.present)                     \
    X(gas_inflate, topology->body_count, &GAS.inflate, (value > 0 && value <= 1) || !GAS.present)  \
    X(contact_stiffness, topology->collider_count, &topology->colliders[i].stiffness, value >= 0)  \
    X(contact_friction, topology->collider_count, &topology->colliders[i].friction, value >= 0)    \
    X(contact_absorption, topology->collider_count, &topology->colliders[i].absorption,            \
      value >= 0)                                                                                  \
    X(contact_static, FRICTIONS, &topology->colliders[i].coulomb.static_coefficient, value >= 0)   \
    X(contact_kinetic, FRICTIONS, &topology->colliders[i].coulomb.kinetic_coefficient, value >= 0) \
    X(contact_restitution, topology->collider_count, &topology->colliders[i].restitution,          \
      value >= 0 && value <= 1)                                                                    \
    X(contact_keep, topology->collider_count, &topology->colliders[i].keep,                        \
      value >= 0 && value <= 1)                                                                    \
    X(gravity, 3, component(&topology->environment.gravity, i), true)                              \
    X(air_drag, 1, &topology->environment.air_drag, value >= 0)                                    \
    X(wind_velocity, 3, component(&WIND.velocity, i), true)                                        \
    X(wind_coefficient, 1, &WIND.coefficient, value >= 0)                                          \
    X(wind_density, 1, &WIND.density, value >= 0)                                                  \
    X(wind_drag, 1, &WIND.drag, value >= 0)
#define GAS    topology->bodies[i].pressure
#define WIND   topology->environment.wind
#define MODULI topology->moduli[i]
// Scenes without friction_coefficient have none of these items.
#define FRICTIONS                                                                                  \
    (friction_slots(topology->colliders, topology->collider_count) > 0 ? topology->collider_count  \
                                                                       : 0)

enum constant {
#define ENUMERATE(name, count, address, possible) CONSTANT_##name,
    SET_CONSTANTS(ENUMERATE)
#undef ENUMERATE
        CONSTANTS
};

static const char *const constant_names[CONSTANTS] = {
#define NAME(name, count, address, possible) CONSTANTS_PREFIX #name,
    SET_CONSTANTS(NAME)
#undef NAME
};

static uint64_t constant_count(const struct topology *topology, unsigned constant)
{
#define COUNT(name, count, address, possible) [CONSTANT_##name] = (count),
    const uint64_t counts[CONSTANTS] = {SET_CONSTANTS(COUNT)};
#undef COUNT
    return counts[constant];
}

static double *constant_at(struct topology *topology, unsigned constant, uint64_t i)
{
    switch (constant) {
#define ADDRESS(name, count, address, possible)                                                    \
    case CONSTANT_##name:                                                                          \
        return address;
        SET_CONSTANTS(ADDRESS)
#undef ADDRESS
    }
    return NULL;
}

// NOLINTBEGIN(bugprone-branch-clone): a case for each constant
static bool constant_is_possible(const struct topology *topology, unsigned constant, uint64_t i,
                                 double value)
{
    switch (constant) {
#define POSSIBLE(name, count, address, possible)                                                   \
    case CONSTANT_##name:                                                                          \
        return possible;
        SET_CONSTANTS(POSSIBLE)
#undef POSSIBLE
    }
    return false;
}
// NOLINTEND(bugprone-branch-clone)

_Static_assert((int)CONSTANTS == (int)SAVED_CONSTANTS, "the length of its arrays");

const char *saved_constants_name(unsigned constant)
{
    return constant_names[constant];
}

void saved_constants_free(struct saved_constants *constants)
{
    for (unsigned c = 0; c < SAVED_CONSTANTS; c++)
        memory_release(NULL, constants->values[c], (size_t)constants->counts[c], sizeof(double));
    memory_release(NULL, constants->listed_rest, (size_t)constants->listed, sizeof(double));
    *constants = (struct saved_constants){.listed = 0};
}

// Makes zeros, without rest lengths of listed springs; constants_free also accepts incomplete
// constants.
bool saved_constants_make(const struct topology *topology, struct saved_constants *constants)
{
    *constants = (struct saved_constants){.listed = topology->listed_count};
    for (unsigned c = 0; c < SAVED_CONSTANTS; c++) {
        constants->counts[c] = constant_count(topology, c);
        constants->values[c] = memory_allocate(NULL, (size_t)constants->counts[c], sizeof(double));
        if (!constants->values[c])
            return false;
    }
    return true;
}

bool saved_constants_add_listed(struct saved_constants *constants)
{
    if (!constants->listed_rest)
        constants->listed_rest = memory_allocate(NULL, (size_t)constants->listed, sizeof(double));
    return constants->listed_rest;
}

// The number of a listed spring by the builders' order, among the listed springs of all bodies.
static uint64_t listed_number(const struct topology *topology, const struct topology_body *body,
                              uint64_t i)
{
    return body->first_listed - body->first_spring +
           topology_builder_spring(topology, body->first_spring + i);
}

bool saved_constants_take(struct topology *topology, struct saved_constants *constants)
{
    if (!saved_constants_make(topology, constants))
        return false;
    for (unsigned c = 0; c < SAVED_CONSTANTS; c++)
        for (uint64_t i = 0; i < constants->counts[c]; i++)
            constants->values[c][i] = *constant_at(topology, c, i);
    if (!topology->rest_lengths_set)
        return true;
    if (!saved_constants_add_listed(constants))
        return false;
    for (size_t b = 0; b < topology->body_count; b++) {
        const struct topology_body *body = &topology->bodies[b];
        for (uint64_t i = 0; body->direction_count == 0 && i < body->spring_count; i++)
            constants->listed_rest[listed_number(topology, body, i)] =
                topology_listed_rest(topology, body->first_listed + i);
    }
    return true;
}

static void put_listed_rest(struct topology *topology, const struct topology_body *body,
                            const double *rest)
{
    for (uint64_t i = 0; body->direction_count == 0 && i < body->spring_count; i++) {
        const double length = rest[listed_number(topology, body, i)];
        if (topology->single_count)
            topology->rest_single[body->first_listed + i] = (float)length;
        else
            topology->rest_double[body->first_listed + i] = length;
    }
    topology->rest_lengths_set = true;
}

// The constants of springs and elements that follow from moduli; false if a body cannot have them.
static bool put_moduli(struct topology *topology, size_t body, enum precision precision)
{
    const struct topology_body *it = &topology->bodies[body];
    struct moduli_problem problem;
    if (!it->moduli)
        return true;
    struct scene_body moduli = *it->moduli;
    if (!body_set_constants(&moduli, moduli.fabric.present, &precision, &problem) ||
        (body_elements_of(&moduli).present && !it->elements.present))
        return false;
    topology_set_moduli(topology, body, &moduli);
    return true;
}

bool saved_constants_put(const struct saved_constants *constants, struct topology *topology,
                         struct plan *plan, enum precision precision)
{
    bool possible = true;
    for (unsigned c = 0; c < SAVED_CONSTANTS; c++)
        for (uint64_t i = 0; i < constants->counts[c]; i++)
            *constant_at(topology, c, i) = constants->values[c][i];
    for (size_t b = 0; b < topology->body_count; b++) {
        possible = put_moduli(topology, b, precision) && possible;
        if (topology->bodies[b].mass_set > 0)
            topology_set_node_mass(topology, b, topology->bodies[b].mass_set);
        if (constants->listed_rest)
            put_listed_rest(topology, &topology->bodies[b], constants->listed_rest);
        plan_find_rest_lengths(topology, plan, b);
    }
    plan_find_damped(topology, plan);
    return possible;
}

const char *saved_constants_find_impossible(const struct saved_constants *constants,
                                            const struct topology *topology)
{
    for (unsigned c = 0; c < SAVED_CONSTANTS; c++)
        for (uint64_t i = 0; i < constants->counts[c]; i++)
            if (!constant_is_possible(topology, c, i, constants->values[c][i]))
                return constant_names[c];
    return NULL;
}
