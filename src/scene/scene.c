// Names of the types of a scene, the wind, messages at positions of the scene, and its input files.
#include "scene/scene.h"

#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "scene/text/document.h"
#include "scene/schema/schema.h"

const char *body_type_name(enum body_type type)
{
    return body_type_names[type];
}

const char *integrator_name(enum integrator integrator)
{
    return integrator_names[integrator];
}

bool integrator_is_implicit(enum integrator integrator)
{
    return integrator == INTEGRATOR_IMPLICIT_EULER || integrator == INTEGRATOR_IMPLICIT_MIDPOINT ||
           integrator == INTEGRATOR_BDF2;
}

bool integrator_velocities_lag(enum integrator integrator)
{
    return integrator == INTEGRATOR_SYMPLECTIC_EULER || integrator == INTEGRATOR_VERLET ||
           integrator == INTEGRATOR_VELOCITY_VERLET;
}

const char *material_limit_of_nothing(const struct material *material, double rest_length)
{
    if (rest_length != 0 || material->law == LAW_COMPRESSION_ONLY) // which is slack at any length
        return NULL;
    return isfinite(material->break_at)   ? "break_at"
           : isfinite(material->yield_at) ? "yield_at"
                                          : NULL;
}

// The coefficients of its own that a surface has.
static const struct scene_friction *own_friction(const taut_scene *scene, size_t surface)
{
    static const struct scene_friction none = {.present = false};
    if (surface < scene->body_count)
        return &scene->bodies[surface].contact.friction;
    size_t mesh = scene->body_count;
    for (size_t c = 0; c < scene->collider_count; c++)
        if (scene->colliders[c].type == COLLIDER_MESH && mesh++ == surface)
            return &scene->colliders[c].surface_friction;
    return &none;
}

struct scene_friction scene_friction_between(const taut_scene *scene, size_t a, size_t b)
{
    const struct scene_contact *contact = &scene->contact;
    const struct scene_friction *own_a = own_friction(scene, a), *own_b = own_friction(scene, b);
    struct scene_friction found = contact->friction;
    if (own_a->present || own_b->present)
        found = own_a->present ? *own_a : *own_b;
    if (a != b && own_a->present && own_b->present) {
        found.static_coefficient = sqrt(own_a->static_coefficient * own_b->static_coefficient);
        found.kinetic_coefficient = sqrt(own_a->kinetic_coefficient * own_b->kinetic_coefficient);
    }
    for (size_t i = 0; i < contact->pair_count; i++) {
        const struct scene_contact_pair *pair = &contact->pairs[i];
        const bool same = (pair->bodies[0] == a && pair->bodies[1] == b) ||
                          (pair->bodies[0] == b && pair->bodies[1] == a);
        if (same && pair->friction.present)
            found = pair->friction;
    }
    return found;
}

bool scene_has_surface_friction(const taut_scene *scene)
{
    const struct scene_contact *contact = &scene->contact;
    bool any = contact->friction.static_coefficient > 0;
    for (size_t c = 0; c < scene->collider_count; c++)
        any |= scene->colliders[c].type == COLLIDER_MESH &&
               scene->colliders[c].surface_friction.static_coefficient > 0;
    for (size_t b = 0; b < scene->body_count; b++)
        any |= scene->bodies[b].contact.friction.static_coefficient > 0;
    for (size_t i = 0; i < contact->pair_count; i++)
        any |= contact->pairs[i].friction.static_coefficient > 0;
    return contact->present && any;
}

const char *precision_name(enum precision precision)
{
    return precision_names[precision];
}

const char *precision_lacks(enum precision precision, double number, bool size)
{
    const bool single = precision != PRECISION_DOUBLE;
    if (!isfinite(number))
        return "is not finite";
    if (size && number > 0 && number < DBL_MIN)
        return "is below the range of double precision (from 2.3e-308 on)";
    if (single && fabs(number) > (double)FLT_MAX)
        return "exceeds the range of single precision (up to 3.4e38); use 'precision: double'";
    if (single && size && number > 0 && number < (double)FLT_MIN)
        return "is below the range of single precision (from 1.2e-38 on); use 'precision: double'";
    return NULL;
}

const char *spring_kind_name(enum body_type type, size_t kind)
{
    static const char *const names[BODY_TYPE_COUNT][SPRING_KINDS_MAX] = {
        [BODY_ROPE] = {"chain", "skip", "all"},
        [BODY_CLOTH] = {"structural", "shear", "bend", "all", "weft"},
        [BODY_RING] = {"edges"},
        [BODY_QUAD] = {"sides", "diagonals"},
        [BODY_SPHERE] = {"edges", "bend", "second"},
        [BODY_LATTICE] = {"k1", "k2", "k3", "kb1", "kb2", "kb3"},
        [BODY_MESH] = {"edges", "bend"},
        [BODY_NETWORK] = {"springs"},
        [BODY_OSCILLATOR] = {"spring"},
        [BODY_PENDULUM] = {"spring"},
    };
    return kind < SPRING_KINDS_MAX ? names[type][kind] : NULL;
}

size_t spring_kind_count(enum body_type type)
{
    size_t kinds = 0;
    while (spring_kind_name(type, kinds))
        kinds++;
    return kinds;
}

size_t body_kind_count(const struct scene_body *body)
{
    const bool without_weft = body->type == BODY_CLOTH && !body->kinds[CLOTH_WEFT].present;
    return without_weft ? CLOTH_WEFT : spring_kind_count(body->type);
}

const char *selector_name(enum selector_type type)
{
    static const char *const names[] = {
        [SELECT_NODE] = "node",       [SELECT_FIRST] = "first", [SELECT_LAST] = "last",
        [SELECT_LEFT] = "left",       [SELECT_RIGHT] = "right", [SELECT_TOP] = "top",
        [SELECT_BOTTOM] = "bottom",   [SELECT_FRONT] = "front", [SELECT_BACK] = "back",
        [SELECT_CORNERS] = "corners", [SELECT_EDGES] = "edges", [SELECT_BOX] = "box"};
    return names[type];
}

bool body_type_has_selector(enum body_type type, enum selector_type selector)
{
    switch (selector) {
    case SELECT_NODE:
    case SELECT_FIRST:
    case SELECT_LAST:
    case SELECT_BOX:
        return true;
    case SELECT_LEFT:
    case SELECT_RIGHT:
    case SELECT_TOP:
    case SELECT_BOTTOM:
    case SELECT_CORNERS:
    case SELECT_EDGES:
        return type == BODY_CLOTH || type == BODY_LATTICE;
    case SELECT_FRONT:
    case SELECT_BACK:
        return type == BODY_LATTICE;
    }
    return false;
}

void scene_report(const taut_scene *scene, struct diagnostics *diagnostics, mark at,
                  const char *format, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (scene->document)
        document_report(scene->document, diagnostics, at, NULL, "%s", text);
    else // not read from a text: it may have positions, but no source lines
        diagnostics_add(diagnostics, DIAGNOSTIC_ERROR, scene->file ? scene->file : "scene", at,
                        NULL, NULL, "%s", text);
}

void scene_warn(const taut_scene *scene, struct diagnostics *diagnostics, mark at,
                const char *format, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    // Reported like an error, with its source line; only the level differs.
    size_t count = diagnostics->count, errors = diagnostics->error_count;
    scene_report(scene, diagnostics, at, "%s", text);
    diagnostics->error_count = errors;
    if (diagnostics->count > count)
        diagnostics->items[count].level = DIAGNOSTIC_WARNING;
}

double scene_thickness(const taut_scene *scene, size_t body)
{
    const double own = body < scene->body_count ? scene->bodies[body].contact.thickness : 0;
    return own > 0 ? own : scene->contact.thickness;
}

vec3 scene_wind_at(const struct scene_wind *wind, double time)
{
    static const double pi = 3.14159265358979323846;
    vec3 w = wind->velocity; // 0 if there is no wind
    for (size_t i = 0; i < wind->gust_count; i++) {
        const struct scene_gust *gust = &wind->gusts[i];
        double angle = 2 * pi * time / gust->period + gust->phase * pi / 180;
        w = vec3_add(w, vec3_scale(sin(angle), gust->amplitude));
    }
    return w;
}

const char **scene_inputs(const taut_scene *scene, size_t *count)
{
    const char **paths = calloc(2 + 2 * scene->body_count + scene->collider_count, sizeof *paths);
    *count = 0;
    if (!paths)
        return NULL;
    if (scene->file)
        paths[(*count)++] = scene->file;
    if (scene->initial)
        paths[(*count)++] = scene->initial;
    for (size_t b = 0; b < scene->body_count; b++) {
        const struct scene_body *body = &scene->bodies[b];
        if (body->type == BODY_MESH && body->shape.mesh.path)
            paths[(*count)++] = body->shape.mesh.path;
        if (body->type != BODY_NETWORK || !body->shape.network.nodes_path)
            continue;
        paths[(*count)++] = body->shape.network.nodes_path;
        paths[(*count)++] = body->shape.network.springs_path;
    }
    for (size_t c = 0; c < scene->collider_count; c++)
        if (scene->colliders[c].mesh.path)
            paths[(*count)++] = scene->colliders[c].mesh.path;
    return paths;
}
