// The lists of a network: nodes, velocities, springs; or the two files that hold them.
#include "scene/schema/bind.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

// ---- Lists of vectors

static vec3 *bind_vectors(struct binder *binder, const struct dom_value *value, const char *name,
                          size_t *count)
{
    *count = 0;
    size_t given;
    if (!value_list(binder, value, name, "[x, y, z]", &given))
        return NULL;
    if (given == 0) {
        bind_complain(binder, value->at, NULL, "'%s' is empty", name);
        return NULL;
    }
    vec3 *vectors = calloc(given, sizeof *vectors);
    if (!vectors) {
        bind_complain_memory(binder);
        return NULL;
    }
    for (size_t i = 0; i < given; i++)
        value_vector(binder, &value->node->items[i], item_label(i, name).text, &vectors[i]);
    *count = given;
    return vectors;
}

static void bind_velocities(struct binder *binder, const struct bound *bound,
                            struct scene_network *network)
{
    bound_settle(binder, bound, "velocity", "velocities");
    const struct dom_pair *pair = bound_find(bound, "velocities");
    size_t count;
    if (!pair)
        return;
    bound_refuse(binder, bound, "velocity", "is the same for all nodes; 'velocities' is given too");
    network->velocities = bind_vectors(binder, &pair->value, "velocities", &count);
    if (network->velocities && network->node_count > 0 && count != network->node_count)
        bind_complain(binder, pair->value.at, NULL, "'velocities' has %zu for %llu nodes", count,
                      (unsigned long long)network->node_count);
}

// ---- Materials, each kept once

struct pool {
    struct scene_network *network;
    size_t capacity;
    uint32_t *slots; // open addressing over materials: index + 1, 0 where empty
    size_t slot_count;
    const struct dom_node *last; // the node bound last, and its material: most springs share one
    uint32_t last_index;
};

static bool same_material(const struct material *a, const struct material *b)
{
    return a->stiffness == b->stiffness && a->damping == b->damping &&
           a->damping_law == b->damping_law && a->law == b->law &&
           a->has_rest_length == b->has_rest_length && a->rest_length == b->rest_length &&
           a->break_at == b->break_at && a->yield_at == b->yield_at;
}

static size_t hash_material(const struct material *m)
{
    const double numbers[] = {m->stiffness, m->damping, m->rest_length, m->break_at, m->yield_at};
    uint64_t hash = (uint64_t)m->damping_law * 3 + (uint64_t)m->law * 7 + m->has_rest_length;
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        uint64_t bits;
        double number = numbers[i] + 0.0; // so that -0 and 0, which are equal, hash alike
        memcpy(&bits, &number, sizeof bits);
        hash = (hash ^ bits) * 0x9E3779B97F4A7C15u;
        hash ^= hash >> 29;
    }
    return (size_t)hash;
}

static uint32_t *find_slot(const struct pool *pool, const struct material *material)
{
    size_t at = hash_material(material) & (pool->slot_count - 1);
    while (pool->slots[at] &&
           !same_material(&pool->network->materials[pool->slots[at] - 1], material))
        at = (at + 1) & (pool->slot_count - 1);
    return &pool->slots[at];
}

static bool grow_slots(struct pool *pool)
{
    size_t count = pool->slot_count ? 2 * pool->slot_count : 64;
    uint32_t *slots = calloc(count, sizeof *slots);
    if (!slots)
        return false;
    free(pool->slots);
    pool->slots = slots;
    pool->slot_count = count;
    for (size_t i = 0; i < pool->network->material_count; i++)
        *find_slot(pool, &pool->network->materials[i]) = (uint32_t)i + 1;
    return true;
}

static bool intern(struct pool *pool, const struct material *material, uint32_t *index)
{
    struct scene_network *network = pool->network;
    if (2 * (network->material_count + 1) > pool->slot_count && !grow_slots(pool))
        return false;
    uint32_t *slot = find_slot(pool, material);
    if (*slot == 0) {
        void *materials = network->materials;
        bool grown = array_reserve(&materials, &pool->capacity, network->material_count + 1,
                                   sizeof *material);
        network->materials = materials;
        if (!grown)
            return false;
        network->materials[network->material_count++] = *material;
        *slot = (uint32_t)network->material_count;
    }
    *index = *slot - 1;
    return true;
}

// ---- Springs

static bool bind_end(struct binder *binder, const struct dom_value *value,
                     const struct scene_network *network, uint32_t *end)
{
    uint64_t node;
    if (!value_count(binder, value, "a node of a spring", NULL, &node))
        return false;
    if (network->node_count > 0 && node >= network->node_count)
        return bind_complain(binder, value->at, NULL,
                             "there is no node %llu: the body has %llu nodes, numbered from 0",
                             (unsigned long long)node, (unsigned long long)network->node_count);
    *end = (uint32_t)node;
    return true;
}

// The material of a spring: its own over the body's common keys.
static bool bind_spring_material(struct binder *binder, const struct dom_value *item,
                                 const struct scene_body *body, bool has_stiffness,
                                 struct pool *pool, uint32_t *index)
{
    struct material material = body->common;
    const struct dom_node *list = item->node;
    const struct dom_value *own = list->count == 3 ? &list->items[2] : NULL;
    if (own && own->node == pool->last) {
        *index = pool->last_index;
        return true;
    }
    if (own && !bind_material(binder, own, "a spring", has_stiffness, &material))
        return false;
    if (!own && !has_stiffness && material.law != LAW_RIGID)
        return bind_complain(binder, item->at, NULL,
                             "'stiffness' is missing in this spring, and the body has none in "
                             "common");
    if (!intern(pool, &material, index))
        return bind_complain_memory(binder);
    if (own) {
        pool->last = own->node;
        pool->last_index = *index;
    }
    return true;
}

static bool bind_spring(struct binder *binder, const struct dom_value *item, size_t index,
                        struct scene_body *body, bool has_stiffness, struct pool *pool)
{
    struct scene_network *network = &body->shape.network;
    const struct dom_node *list = item->node;
    uint32_t *ends = network->springs[index];
    network->spring_marks[index] = item->at;
    if (list->kind != DOM_LIST || (list->count != 2 && list->count != 3))
        return bind_complain(binder, item->at, NULL,
                             "a spring is [a, b] or [a, b, material], two node numbers and what it "
                             "has of its own");
    bool first = bind_end(binder, &list->items[0], network, &ends[0]);
    bool second = bind_end(binder, &list->items[1], network, &ends[1]);
    if (first && second && ends[0] == ends[1])
        bind_complain(binder, item->at, NULL, "a spring joins two different nodes, not %u with %u",
                      (unsigned)ends[0], (unsigned)ends[1]);
    return bind_spring_material(binder, item, body, has_stiffness, pool,
                                &network->spring_materials[index]);
}

static void bind_spring_list(struct binder *binder, const struct dom_value *value,
                             bool has_stiffness, struct scene_body *body)
{
    struct scene_network *network = &body->shape.network;
    struct pool pool = {.network = network};
    size_t count;
    if (!value_list(binder, value, "springs", "[a, b, material]", &count) || count == 0)
        return;
    network->springs = calloc(count, sizeof *network->springs);
    network->spring_materials = calloc(count, sizeof *network->spring_materials);
    network->spring_marks = calloc(count, sizeof *network->spring_marks);
    if (!network->springs || !network->spring_materials || !network->spring_marks) {
        bind_complain_memory(binder);
        return;
    }
    network->spring_count = count;
    size_t missing = 0;
    bool serves = has_stiffness || body->common.law == LAW_RIGID;
    for (size_t i = 0; i < count; i++) {
        const struct dom_value *item = &value->node->items[i];
        bool bare = item->node->kind == DOM_LIST && item->node->count == 2 && !serves;
        // That bare springs have no stiffness is one mistake, of the body.
        bind_spring(binder, item, i, body, has_stiffness || (bare && missing > 0), &pool);
        missing += bare;
    }
    free(pool.slots);
}

// ---- The whole

static void bind_files(struct binder *binder, const struct bound *bound,
                       struct scene_network *network)
{
    static const char *const rest[] = {"nodes", "springs", "velocities"};
    bound_settle(binder, bound, "velocities", "nodes_file");
    const struct dom_pair *nodes = bound_find(bound, "nodes_file");
    const struct dom_pair *springs = bound_find(bound, "springs_file");
    for (size_t i = 0; i < sizeof rest / sizeof rest[0]; i++)
        bound_refuse(binder, bound, rest[i], "cannot stand beside 'nodes_file' and 'springs_file'");
    if (!nodes || !springs)
        bind_complain(binder, bound->at, NULL, "'%s' is missing; '%s' is given",
                      nodes ? "springs_file" : "nodes_file", nodes ? "nodes_file" : "springs_file");
    if (nodes) {
        network->nodes_at = nodes->value.at;
        network->nodes_path = bind_file(binder, &nodes->value, "nodes_file");
    }
    if (springs) {
        network->springs_at = springs->value.at;
        network->springs_path = bind_file(binder, &springs->value, "springs_file");
    }
}

void bind_network(struct binder *binder, const struct bound *bound, struct scene_body *body)
{
    struct scene_network *network = &body->shape.network;
    bound_settle(binder, bound, "nodes", "nodes_file");
    bound_settle(binder, bound, "springs", "springs_file");
    const struct dom_pair *nodes = bound_find(bound, "nodes");
    const struct dom_pair *springs = bound_find(bound, "springs");
    bool has_stiffness = bound_find(bound, "stiffness") != NULL;
    if (bound_find(bound, "nodes_file") || bound_find(bound, "springs_file")) {
        bind_files(binder, bound, network);
        return;
    }
    if (nodes) {
        size_t count;
        network->positions = bind_vectors(binder, &nodes->value, "nodes", &count);
        network->node_count = count;
    } else if (bound_lacks(bound, "nodes") && bound_lacks(bound, "nodes_file")) {
        bind_complain(binder, bound->at, NULL, "'nodes' or 'nodes_file' is missing in a network");
    }
    bind_velocities(binder, bound, network);
    if (springs)
        bind_spring_list(binder, &springs->value, has_stiffness, body);
}
