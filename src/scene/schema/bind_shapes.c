// What the tables cannot say of a body's shape.
#include "scene/schema/bind.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// ---- Files

static char *join_path(const char *folder, const char *path)
{
    size_t before = path[0] == '/' ? 0 : strlen(folder), length = strlen(path);
    char *joined = malloc(before + length + 1);
    if (!joined)
        return NULL;
    memcpy(joined, folder, before);
    memcpy(joined + before, path, length + 1);
    return joined;
}

char *bind_file(struct binder *binder, const struct dom_value *value, const char *key)
{
    const char *text = value_text(binder, value, key);
    char *path = text ? join_path(binder->folder, text) : NULL;
    if (!text)
        return NULL;
    if (!path) {
        bind_complain_memory(binder);
        return NULL;
    }
    struct stat status;
    const char *reason = NULL;
    if (stat(path, &status) != 0 || access(path, R_OK) != 0)
        reason = strerror(errno);
    else if (S_ISDIR(status.st_mode))
        reason = "it is a folder";
    else if (!S_ISREG(status.st_mode))
        reason = "it is not a regular file";
    if (!reason)
        return path;
    bind_complain(binder, value->at, NULL, "cannot read '%s': %s", show_text(text).text, reason);
    free(path);
    return NULL;
}

// ---- How many nodes

// The product, or more than NODES_MAX if it is more.
static uint64_t product(uint64_t a, uint64_t b, uint64_t c)
{
    const uint64_t many = UINT64_C(1) << 32;
    if (a == 0 || b == 0 || c == 0)
        return 0;
    if (a >= many || b > many / a || c > many / (a * b))
        return many;
    return a * b * c;
}

uint64_t scene_body_nodes(const struct scene_body *body)
{
    switch (body->type) {
    case BODY_ROPE:
        return body->shape.rope.nodes;
    case BODY_CLOTH:
        return product(body->shape.cloth.nodes_u, body->shape.cloth.nodes_v, 1);
    case BODY_RING:
        return body->shape.ring.nodes;
    case BODY_QUAD:
        return 4;
    case BODY_SPHERE:
        if (body->shape.sphere.subdivisions < 0)
            return 0;
        return (UINT64_C(10) << (2 * body->shape.sphere.subdivisions)) + 2;
    case BODY_LATTICE:
        return product(body->shape.lattice.nodes_x, body->shape.lattice.nodes_y,
                       body->shape.lattice.nodes_z);
    case BODY_NETWORK:
        return body->shape.network.node_count;
    case BODY_OSCILLATOR:
    case BODY_PENDULUM:
        return 2;
    case BODY_MESH:
    case BODY_TYPE_COUNT:
        break;
    }
    return 0;
}

static void check_node_count(struct binder *binder, const struct bound *bound,
                             const struct scene_body *body)
{
    const struct dom_pair *nodes = bound_find(bound, "nodes");
    if (nodes && bound_sound(bound, "nodes") && (double)scene_body_nodes(body) > NODES_MAX)
        bind_complain(binder, nodes->value.at, NULL,
                      "these are more than the %.0f nodes that a body may have", NODES_MAX);
}

// ---- Each type

static bool is_zero(vec3 v)
{
    return v.x == 0 && v.y == 0 && v.z == 0;
}

static void check_edges(struct binder *binder, const struct bound *bound, vec3 u, vec3 v)
{
    const struct dom_pair *pair = bound_find(bound, "v");
    if (pair && bound_find(bound, "u") && bound_sound(bound, "u") && bound_sound(bound, "v") &&
        is_zero(vec3_cross(u, v)))
        bind_complain(binder, pair->value.at, NULL,
                      "'u' and 'v' span no area: they are parallel, or one of them is zero");
}

static void check_rope(struct binder *binder, const struct bound *bound,
                       const struct scene_rope *rope)
{
    const struct dom_pair *to = bound_find(bound, "to");
    if (to && bound_find(bound, "from") && bound_sound(bound, "from") && bound_sound(bound, "to") &&
        is_zero(vec3_subtract(rope->to, rope->from)))
        bind_complain(binder, to->value.at, NULL, "'from' and 'to' are the same place");
}

static void check_stiffness(struct binder *binder, const struct bound *bound,
                            const struct scene_body *body)
{
    const struct dom_pair *stiffness = bound_find(bound, "stiffness");
    if (body->common.law == LAW_RIGID && body->type == BODY_PENDULUM)
        return;
    if (bound_lacks(bound, "stiffness"))
        bind_complain(binder, bound->at, NULL, "'stiffness' is missing in %s",
                      schema_shapes[body->type].what);
    else if (stiffness && bound_sound(bound, "stiffness") && body->common.stiffness == 0)
        bind_complain(binder, stiffness->value.at, NULL, "'stiffness' must be > 0 in %s",
                      schema_shapes[body->type].what);
}

// Only the part of `direction` across gravity counts; nothing is left of one along it.
static void check_pendulum(struct binder *binder, const struct bound *bound,
                           const struct scene_body *body)
{
    vec3 gravity = binder->scene->environment.gravity, direction = body->shape.pendulum.direction;
    bool simulated = body->shape.pendulum.model == PENDULUM_SPRING;
    if (bound_sound(bound, "model") && simulated)
        check_stiffness(binder, bound, body);
    if (!binder->gravity_known)
        return;
    double strength = vec3_length(gravity);
    if (strength == 0) {
        bind_complain(binder, bound->at, NULL,
                      "a pendulum needs gravity: set 'gravity' in 'environment'");
        return;
    }
    vec3 across = vec3_cross(vec3_scale(1 / strength, gravity), direction);
    if (bound_sound(bound, "direction") && vec3_length(across) < 1e-9) {
        const struct dom_pair *given = bound_find(bound, "direction");
        bind_complain(binder, given ? given->value.at : bound->at, NULL,
                      "'direction' must not be along gravity");
    }
}

static void bind_mesh(struct binder *binder, const struct bound *bound, struct scene_mesh *mesh)
{
    const struct dom_pair *file = bound_find(bound, "file");
    if (!file)
        return;
    mesh->at = file->value.at;
    mesh->path = bind_file(binder, &file->value, "file");
}

static void bind_pressure(struct binder *binder, const struct bound *bound,
                          struct scene_pressure *pressure)
{
    const struct dom_pair *pair = bound_find(bound, "pressure");
    struct schema_part part = {&schema_pressure, pressure, false};
    struct bound content;
    if (!pair ||
        !bind_mapping(binder, &pair->value, schema_pressure.what, &part, 1, false, &content))
        return;
    pressure->present = true;
    pressure->at = pair->key_at;
}

void bind_shape(struct binder *binder, const struct bound *bound, struct scene_body *body)
{
    check_node_count(binder, bound, body);
    // Types that take no pressure have refused it as an unknown key.
    if (bound_sound(bound, "pressure"))
        bind_pressure(binder, bound, &body->pressure);
    switch (body->type) {
    case BODY_ROPE:
        check_rope(binder, bound, &body->shape.rope);
        break;
    case BODY_CLOTH:
        check_edges(binder, bound, body->shape.cloth.u, body->shape.cloth.v);
        break;
    case BODY_QUAD:
        check_edges(binder, bound, body->shape.quad.u, body->shape.quad.v);
        break;
    case BODY_MESH:
        bind_mesh(binder, bound, &body->shape.mesh);
        break;
    case BODY_OSCILLATOR:
        check_stiffness(binder, bound, body);
        break;
    case BODY_PENDULUM:
        check_pendulum(binder, bound, body);
        break;
    default:
        break;
    }
}
