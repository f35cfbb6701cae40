// `mass` and `node_mass`.
#include "scene/schema/bind.h"

#include <math.h>
#include <stdlib.h>

static const struct range positive = RANGE_POSITIVE;

// One mass for each node of a network.
static void bind_list(struct binder *binder, const struct dom_value *value,
                      struct scene_network *network)
{
    const struct dom_node *list = value->node;
    if (network->node_count == 0)
        return;
    if (list->count != network->node_count) {
        bind_complain(binder, value->at, NULL, "'node_mass' has %zu masses for %llu nodes",
                      list->count, (unsigned long long)network->node_count);
        return;
    }
    for (size_t i = 0; i < list->count; i++)
        value_number(binder, &list->items[i], "node_mass", &positive, &network->masses[i]);
}

static void fill(struct scene_network *network, double mass)
{
    for (uint64_t i = 0; i < network->node_count; i++)
        network->masses[i] = mass;
}

static void bind_network_mass(struct binder *binder, const struct bound *bound,
                              struct scene_body *body)
{
    struct scene_network *network = &body->shape.network;
    if (bound_find(bound, "nodes_file")) {
        bound_belongs_not(binder, bound, "mass", "nodes_file",
                          "is given by the column 'mass' of 'nodes_file'");
        bound_belongs_not(binder, bound, "node_mass", "nodes_file",
                          "is given by the column 'mass' of 'nodes_file'");
        return;
    }
    bound_exclusive(binder, bound, "mass", "node_mass", false);
    const struct dom_pair *node_mass = bound_find(bound, "node_mass");
    if (network->node_count > 0)
        network->masses = calloc(network->node_count, sizeof *network->masses);
    if (network->node_count > 0 && !network->masses) {
        bind_complain_memory(binder);
        return;
    }
    if (node_mass && node_mass->value.node->kind == DOM_LIST) {
        bind_list(binder, &node_mass->value, network);
    } else if (node_mass) {
        body->mass_per_node = true;
        if (value_number(binder, &node_mass->value, "node_mass", &positive, &body->node_mass))
            fill(network, body->node_mass);
    } else if (network->node_count > 0) {
        fill(network, body->mass / (double)network->node_count);
    }
}

void bind_mass(struct binder *binder, const struct bound *bound, struct scene_body *body)
{
    if (body->type == BODY_NETWORK) {
        bind_network_mass(binder, bound, body);
        return;
    }
    if (body->type == BODY_OSCILLATOR || body->type == BODY_PENDULUM) {
        bound_refuse(binder, bound, "node_mass", "is not for one mass; give 'mass'");
        if (!bound_find(bound, "node_mass") && bound_lacks(bound, "mass"))
            bind_complain(binder, bound->at, NULL, "'mass' is missing in %s", bound->what);
        return;
    }
    bound_exclusive(binder, bound, "mass", "node_mass", false);
    const struct dom_pair *node_mass = bound_find(bound, "node_mass");
    body->mass_per_node = node_mass != NULL;
    if (node_mass)
        value_number(binder, &node_mass->value, "node_mass", &positive, &body->node_mass);
}
