// The constants of the scene: air and gravity, motion, springs, gas, obstacles.
#include "view/fields.h"
#include "view/materials.h"
#include "view/view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

static void draw_environment(struct view *view, const taut_scene *scene)
{
    if (gui_section("Gravity and air", true))
        fields_of_table(view, &schema_environment, &scene->environment, "environment", NULL, 0);
}

// The gusts of a wind in the words of a scene, with what goes before them; empty without gusts.
static char *gusts_text(const struct scene_wind *wind)
{
    char *all = text_format("%s", wind->gust_count > 0 ? ", gusts: [" : "");
    for (size_t i = 0; all && i < wind->gust_count; i++) {
        const struct scene_gust *gust = &wind->gusts[i];
        char *longer =
            text_format("%s%s{amplitude: [%.9g, %.9g, %.9g], period: %.9g, phase: %.9g}%s", all,
                        i > 0 ? ", " : "", gust->amplitude.x, gust->amplitude.y, gust->amplitude.z,
                        gust->period, gust->phase, i + 1 == wind->gust_count ? "]" : "");
        free(all);
        all = longer;
    }
    return all;
}

// The laws take different keys, so the wind is told as a whole.
static void send_wind(struct view *view, const struct scene_wind *wind)
{
    char factors[128];
    if (wind->law == WIND_QUADRATIC)
        snprintf(factors, sizeof factors, "density: %.9g, drag: %.9g", wind->density, wind->drag);
    else
        snprintf(factors, sizeof factors, "coefficient: %.9g", wind->coefficient);
    char *gusts = gusts_text(wind);
    if (gusts)
        field_send(view, "environment.wind",
                   "{velocity: [%.9g, %.9g, %.9g], law: %s, %s, relative: %s%s}", wind->velocity.x,
                   wind->velocity.y, wind->velocity.z,
                   fields_key(&schema_wind, "law")->names[wind->law], factors,
                   wind->relative ? "true" : "false", gusts);
    free(gusts);
}

static bool draw_wind_number(struct view *view, const char *name, double *value)
{
    const struct schema_key *key = fields_key(&schema_wind, name);
    char path[FIELD_PATH_SIZE];
    field_path(path, "environment.wind.%s", name);
    return field_numbers(view,
                         &(struct field){.path = path,
                                         .meaning = key->meaning,
                                         .unit = key->unit,
                                         .most = INFINITY,
                                         .flags = FIELD_SENDS_NOTHING},
                         value, 1);
}

static bool draw_wind_law(struct view *view, struct scene_wind *wind)
{
    const struct schema_key *law = fields_key(&schema_wind, "law");
    const struct schema_key *relative = fields_key(&schema_wind, "relative");
    int index = (int)wind->law;
    bool changed = field_name(view,
                              &(struct field){.path = "environment.wind.law",
                                              .meaning = law->meaning,
                                              .flags = FIELD_SENDS_NOTHING},
                              law->names, &index);
    wind->law = (enum wind_law)index;
    changed |= field_boolean(view,
                             &(struct field){.path = "environment.wind.relative",
                                             .meaning = relative->meaning,
                                             .flags = FIELD_SENDS_NOTHING},
                             &wind->relative);
    return changed;
}

static void draw_wind(struct view *view, const taut_scene *scene)
{
    if (!gui_section("Wind", true))
        return;
    struct scene_wind wind = scene->environment.wind;
    if (!wind.present)
        wind = (struct scene_wind){
            .law = WIND_FACE, .coefficient = 1, .density = 1.225, .drag = 1, .relative = true};
    double velocity[3] = {wind.velocity.x, wind.velocity.y, wind.velocity.z};
    bool changed = field_numbers(view,
                                 &(struct field){.path = "environment.wind.velocity",
                                                 .meaning = "The velocity of the air: x, y and z.",
                                                 .unit = "m/s",
                                                 .flags = FIELD_SENDS_NOTHING},
                                 velocity, 3);
    wind.velocity = vec3_make(velocity[0], velocity[1], velocity[2]);
    changed |= draw_wind_law(view, &wind);
    if (wind.law == WIND_QUADRATIC) {
        changed |= draw_wind_number(view, "density", &wind.density);
        changed |= draw_wind_number(view, "drag", &wind.drag);
    } else {
        changed |= draw_wind_number(view, "coefficient", &wind.coefficient);
    }
    if (changed)
        send_wind(view, &wind);
}

// What the jelly's authors call energy loss and the two steps.
static void draw_motion(struct view *view, const struct scene_simulation *simulation)
{
    if (!gui_section("Losses and steps", true))
        return;
    struct field field = {.path = "simulation.keep_velocity",
                          .label = "energy loss",
                          .meaning = "The part of every velocity that is lost with each step.",
                          .most = 0.1,
                          .flags = FIELD_SENDS_NOTHING};
    double loss = 1 - simulation->keep_velocity;
    if (field_numbers(view, &field, &loss, 1))
        field_send(view, field.path, "%.9g", 1 - loss);
    field = (struct field){.path = "simulation.dt",
                           .label = "accel. step (dt)",
                           .meaning = "The step by which accelerations change velocities.",
                           .unit = "s",
                           .flags = FIELD_LOGARITHMIC};
    double dt = simulation->dt_auto ? view->status.dt : simulation->dt;
    if (!simulation->dt_auto)
        field_numbers(view, &field, &dt, 1);
    if (simulation->integrator != INTEGRATOR_SYMPLECTIC_EULER)
        return;
    field.path = "simulation.position_step";
    field.label = "velocity step";
    field.meaning = "The step by which velocities change positions; where it is not dt, the motion "
                    "is slowed or hastened.";
    double step = simulation->position_step > 0 ? simulation->position_step : dt;
    if (!simulation->dt_auto || simulation->position_step > 0)
        field_numbers(view, &field, &step, 1);
}

static void draw_mass(struct view *view, const taut_scene *scene, size_t number)
{
    const struct scene_body *body = &scene->bodies[number];
    const char *key = body->mass_per_node ? "node_mass" : "mass";
    if (!body_scalar(scene, number, key))
        return; // a list, or a column of a file
    char path[FIELD_PATH_SIZE];
    field_path(path, "bodies.%s.%s", body->name, key);
    double mass = body->mass_per_node ? body->node_mass : body->mass;
    struct field field = {.path = path,
                          .meaning = body->mass_per_node ? "The mass of each node."
                                                         : "The mass of the whole body.",
                          .unit = "kg",
                          .flags = FIELD_LOGARITHMIC};
    field_numbers(view, &field, &mass, 1);
}

static void draw_body(struct view *view, const taut_scene *scene, size_t number, bool open)
{
    const struct scene_body *body = &scene->bodies[number];
    char title[FIELD_PATH_SIZE];
    field_path(title, "%s (%s)###physics.%s", body->name, body_type_name(body->type), body->name);
    if (!gui_section(title, open))
        return;
    draw_mass(view, scene, number);
    materials_draw(view, number);
    if (body->pressure.present) {
        char path[FIELD_PATH_SIZE];
        field_path(path, "bodies.%s.pressure", body->name);
        fields_of_table(view, &schema_pressure, &body->pressure, path, NULL, 0);
    }
}

static void draw_collider(struct view *view, const struct scene_collider *collider, size_t number)
{
    static const char *const of_projection[] = {"response", "stiffness", "absorption", "keep",
                                                NULL};
    static const char *const of_penalty[] = {"response", "restitution", "keep", NULL};
    char path[FIELD_PATH_SIZE];
    bool projects = collider->response == RESPONSE_PROJECT;
    field_path(path, "colliders.%zu", number);
    fields_of_table(view, &schema_collider, collider, path, projects ? of_projection : of_penalty,
                    0);
    if (!projects)
        return;
    char key[FIELD_PATH_SIZE];
    field_path(key, "%s.keep", path);
    double loss = 1 - collider->keep;
    struct field field = {.path = key,
                          .label = "energy loss",
                          .meaning = "Collision energy loss: the part of its velocity along the "
                                     "surface that a node loses at an impact.",
                          .most = 1,
                          .flags = FIELD_SENDS_NOTHING};
    if (field_numbers(view, &field, &loss, 1))
        field_send(view, key, "%.9g", 1 - loss);
}

static void draw_colliders(struct view *view, const taut_scene *scene)
{
    if (scene->collider_count == 0 || !gui_section("Collisions", true))
        return;
    for (size_t i = 0; i < scene->collider_count; i++) {
        char title[FIELD_PATH_SIZE];
        field_path(title, "%s###colliders.%zu", collider_type_names[scene->colliders[i].type], i);
        if (gui_branch(title)) {
            draw_collider(view, &scene->colliders[i], i);
            gui_branch_end();
        }
    }
}

void panel_physics(struct view *view)
{
    enum { BODIES_OPEN = 2 };
    const taut_scene *scene = player_scene(view->player);
    draw_environment(view, scene);
    draw_wind(view, scene);
    for (size_t i = 0; i < scene->body_count; i++)
        draw_body(view, scene, i, i < BODIES_OPEN);
    draw_motion(view, &scene->simulation);
    draw_colliders(view, scene);
}
