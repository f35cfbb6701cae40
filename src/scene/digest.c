// A fingerprint of what a step computes with: the bodies as built, and everything in the scene but
// names, output and how long the run is. Two scenes with the same fingerprint continue the same
// state in the same way, so a checkpoint of one may be restored in the other. It adds field by
// field: structs have padding, and nothing guarantees their layout.
#include "scene/bodies.h"

#include "base/hash.h"

#define ADD(hash, value) hash_add(hash, &(value), sizeof(value))

// An array that may be absent; its length counts too.
static void add_array(struct hash *hash, const void *items, uint64_t count, size_t size)
{
    const uint64_t present = items ? count : 0;
    ADD(hash, present);
    hash_add(hash, items, (size_t)present * size);
}

static void add_flag(struct hash *hash, bool flag)
{
    const uint8_t value = flag;
    ADD(hash, value);
}

static void add_choice(struct hash *hash, int choice)
{
    const int32_t value = choice;
    ADD(hash, value);
}

static void add_simulation(struct hash *hash, const taut_scene *scene)
{
    const struct scene_simulation *simulation = &scene->simulation;
    const double dt = simulation->dt_auto ? 0 : simulation->dt;
    const double safety = simulation->dt_auto ? simulation->safety : 0;
    add_choice(hash, (int)scene->precision);
    add_choice(hash, (int)simulation->integrator);
    ADD(hash, dt);
    ADD(hash, safety);
    ADD(hash, simulation->position_step);
    ADD(hash, simulation->keep_velocity);
    ADD(hash, simulation->implicit.tolerance);
    ADD(hash, simulation->implicit.iterations);
    ADD(hash, simulation->implicit.newton);
    add_flag(hash, simulation->implicit.line_search);
    ADD(hash, simulation->substeps);
    ADD(hash, simulation->iterations);
}

static void add_environment(struct hash *hash, const struct scene_environment *environment)
{
    const struct scene_wind *wind = &environment->wind;
    ADD(hash, environment->gravity);
    ADD(hash, environment->air_drag);
    add_flag(hash, wind->present);
    if (!wind->present)
        return;
    ADD(hash, wind->velocity);
    add_choice(hash, (int)wind->law);
    ADD(hash, wind->coefficient);
    ADD(hash, wind->density);
    ADD(hash, wind->drag);
    add_flag(hash, wind->relative);
    for (size_t i = 0; i < wind->gust_count; i++) {
        ADD(hash, wind->gusts[i].amplitude);
        ADD(hash, wind->gusts[i].period);
        ADD(hash, wind->gusts[i].phase);
    }
}

static void add_collider(struct hash *hash, const struct scene_collider *collider)
{
    add_choice(hash, (int)collider->type);
    add_choice(hash, (int)collider->response);
    ADD(hash, collider->point);
    ADD(hash, collider->normal);
    ADD(hash, collider->centre);
    ADD(hash, collider->velocity);
    ADD(hash, collider->radius);
    ADD(hash, collider->min);
    ADD(hash, collider->max);
    ADD(hash, collider->stiffness);
    ADD(hash, collider->friction);
    ADD(hash, collider->absorption);
    ADD(hash, collider->restitution);
    ADD(hash, collider->keep);
    add_flag(hash, collider->blocks_drives);
    if (collider->response == RESPONSE_CONTACT && collider->type != COLLIDER_MESH)
        add_flag(hash, collider->surface_friction.present);
    if (!collider->coulomb.present)
        return;
    ADD(hash, collider->coulomb.static_coefficient);
    ADD(hash, collider->coulomb.kinetic_coefficient);
}

static void add_mesh_collider(struct hash *hash, const struct scene_collider *collider,
                              const struct collider_mesh *mesh)
{
    const struct scene_collider_motion *motion = &collider->motion;
    ADD(hash, collider->translate);
    add_choice(hash, (int)collider->sides);
    ADD(hash, motion->velocity);
    ADD(hash, motion->angular_velocity);
    for (size_t i = 0; i < motion->keyframe_count; i++) {
        ADD(hash, motion->keyframes[i].time);
        ADD(hash, motion->keyframes[i].position);
        ADD(hash, motion->keyframes[i].angles);
    }
    ADD(hash, collider->surface_friction.static_coefficient);
    ADD(hash, collider->surface_friction.kinetic_coefficient);
    hash_add(hash, mesh->points, (size_t)mesh->node_count * 3 * sizeof *mesh->points);
    hash_add(hash, mesh->faces, (size_t)mesh->face_count * 3 * sizeof *mesh->faces);
}

// Adds it only where there is any, for the same reason as below.
static void add_surface_friction(struct hash *hash, const struct scene_friction *friction)
{
    if (!friction->present)
        return;
    ADD(hash, friction->static_coefficient);
    ADD(hash, friction->kinetic_coefficient);
}

// Adds it only where there is contact, so that other scenes keep their digests.
static void add_contact(struct hash *hash, const taut_scene *scene)
{
    const struct scene_contact *contact = &scene->contact;
    if (!contact->present)
        return;
    add_flag(hash, contact->self);
    add_flag(hash, contact->between);
    ADD(hash, contact->thickness);
    add_flag(hash, contact->stiffness_auto);
    if (!contact->stiffness_auto)
        ADD(hash, contact->stiffness);
    add_surface_friction(hash, &contact->friction);
    for (size_t i = 0; i < contact->pair_count; i++) {
        const uint64_t bodies[2] = {contact->pairs[i].bodies[0], contact->pairs[i].bodies[1]};
        ADD(hash, bodies);
        add_flag(hash, contact->pairs[i].enabled);
        add_surface_friction(hash, &contact->pairs[i].friction);
    }
    for (size_t b = 0; b < scene->body_count; b++) {
        const struct scene_body_contact *own = &scene->bodies[b].contact;
        ADD(hash, own->thickness);
        add_flag(hash, own->self_given);
        add_flag(hash, own->self);
        add_surface_friction(hash, &own->friction);
    }
}

static void add_motion(struct hash *hash, const struct motion *motion)
{
    add_choice(hash, (int)motion->type);
    ADD(hash, motion->node);
    for (size_t i = 0; motion->type == MOTION_DRIVE && i < motion->piece_count; i++) {
        ADD(hash, motion->pieces[i].start);
        ADD(hash, motion->pieces[i].velocity);
        if (motion->turns)
            ADD(hash, motion->pieces[i].angular_velocity);
    }
    ADD(hash, motion->origin);
    ADD(hash, motion->axis);
    ADD(hash, motion->down);
    ADD(hash, motion->amplitude);
    ADD(hash, motion->phase);
    ADD(hash, motion->omega);
    ADD(hash, motion->decay);
    ADD(hash, motion->length);
}

static void add_direction(struct hash *hash, const struct direction *direction)
{
    add_choice(hash, direction->dx);
    add_choice(hash, direction->dy);
    add_choice(hash, direction->dz);
    ADD(hash, direction->first);
    ADD(hash, direction->count);
    ADD(hash, direction->material);
    if (direction->weighted)
        ADD(hash, direction->boundary_material);
}

static void add_material(struct hash *hash, const struct material *material)
{
    ADD(hash, material->stiffness);
    ADD(hash, material->damping);
    add_choice(hash, (int)material->damping_law);
    add_choice(hash, (int)material->law);
    add_flag(hash, material->has_rest_length);
    if (material->has_rest_length)
        ADD(hash, material->rest_length);
    ADD(hash, material->break_at);
    ADD(hash, material->yield_at);
}

static void add_gas(struct hash *hash, const struct scene_pressure *gas)
{
    add_flag(hash, gas->present);
    if (!gas->present)
        return;
    ADD(hash, gas->amount);
    ADD(hash, gas->atmosphere);
    ADD(hash, gas->gamma);
    ADD(hash, gas->inflate);
    add_choice(hash, (int)gas->volume);
}

static void add_elements(struct hash *hash, const struct body_elements *elements)
{
    const struct element_constants all[] = {elements->bend[0], elements->bend[1], elements->twist,
                                            elements->area, elements->volume};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        ADD(hash, all[i].stiffness);
        ADD(hash, all[i].time);
        ADD(hash, all[i].rest);
    }
}

// Adds positions as one block of numbers, whether the body lists them or not.
static void add_positions(struct hash *hash, const struct body *body)
{
    enum { BATCH = 64 };
    vec3 positions[BATCH];
    for (uint64_t node = 0; node < body->node_count;) {
        size_t count = 0;
        while (count < BATCH && node < body->node_count)
            positions[count++] = body_position(body, node++);
        hash_add(hash, positions, count * sizeof *positions);
    }
}

// Likewise.
static void add_masses(struct hash *hash, const struct body *body)
{
    enum { BATCH = 64 };
    double masses[BATCH];
    for (uint64_t node = 0; node < body->node_count;) {
        size_t count = 0;
        while (count < BATCH && node < body->node_count)
            masses[count++] = body_mass(body, node++);
        hash_add(hash, masses, count * sizeof *masses);
    }
}

static void add_body(struct hash *hash, const struct body *body)
{
    const uint64_t nodes = body->node_count;
    ADD(hash, nodes);
    add_positions(hash, body);
    if (body->masses || body->cell_mass > 0)
        add_masses(hash, body);
    else
        ADD(hash, body->node_mass);
    add_array(hash, body->kinematic, nodes, sizeof *body->kinematic);
    for (size_t i = 0; i < body->motion_count; i++)
        add_motion(hash, &body->motions[i]);
    ADD(hash, body->spring_count);
    ADD(hash, body->kind_start);
    add_array(hash, body->springs, body->spring_count, sizeof *body->springs);
    for (size_t i = 0; i < body->direction_count; i++)
        add_direction(hash, &body->directions[i]);
    add_array(hash, body->spring_materials, body->spring_count, sizeof *body->spring_materials);
    add_array(hash, body->rest_lengths, body->spring_count, sizeof *body->rest_lengths);
    for (size_t i = 0; i < body->material_count; i++)
        add_material(hash, &body->materials[i]);
    ADD(hash, body->face_count);
    add_array(hash, body->faces, body->face_count * (uint64_t)body->face_arity,
              sizeof *body->faces);
    if (body->elements.present)
        add_elements(hash, &body->elements);
    add_flag(hash, body->is_sheet);
    add_flag(hash, body->closed);
    add_gas(hash, &body->pressure);
    if (elements_are_membrane(&body->elements))
        ADD(hash, body->elements.membrane);
    if (body->mass_drag > 0)
        ADD(hash, body->mass_drag);
}

void bodies_digest_begin(const taut_scene *scene, struct hash *hash)
{
    hash_begin(hash);
    add_simulation(hash, scene);
    add_environment(hash, &scene->environment);
    for (size_t c = 0; c < scene->collider_count; c++)
        add_collider(hash, &scene->colliders[c]);
    add_contact(hash, scene);
}

void bodies_digest_add(struct hash *hash, const struct body *body)
{
    add_body(hash, body);
}

uint64_t bodies_digest_end(const taut_scene *scene, const struct bodies *bodies, struct hash *hash)
{
    for (size_t i = 0; i < bodies->collider_count; i++)
        add_mesh_collider(hash, &scene->colliders[bodies->colliders[i].collider],
                          &bodies->colliders[i]);
    return hash_end(hash);
}

uint64_t bodies_digest(const taut_scene *scene, const struct bodies *bodies)
{
    struct hash hash;
    bodies_digest_begin(scene, &hash);
    for (size_t b = 0; b < bodies->count; b++)
        add_body(&hash, &bodies->items[b]);
    return bodies_digest_end(scene, bodies, &hash);
}

// Velocities that drives give are part of the digest. A list that only they need is not read here,
// where it may take no memory (set_velocities of build.c).
void bodies_start_add(struct hash *hash, const struct body *body)
{
    const bool own =
        body->type == BODY_NETWORK || body->type == BODY_OSCILLATOR || body->type == BODY_PENDULUM;
    const double *velocities = own || body->initial ? body->velocities : NULL;
    ADD(hash, body->velocity);
    add_array(hash, velocities, 3 * body->node_count, sizeof *velocities);
    add_array(hash, body->initial, 3 * body->node_count, sizeof *body->initial);
}

void bodies_start_begin(const taut_scene *scene, struct hash *hash)
{
    hash_begin(hash);
    if (scene->contact.present)
        add_choice(hash, (int)scene->contact.existing);
}

uint64_t bodies_start_digest(const taut_scene *scene, const struct bodies *bodies)
{
    struct hash hash;
    bodies_start_begin(scene, &hash);
    for (size_t b = 0; b < bodies->count; b++)
        bodies_start_add(&hash, &bodies->items[b]);
    return hash_end(&hash);
}
