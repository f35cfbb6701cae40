#include "scene/build/network.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "scene/build/pairs.h"

// The table of the springs as (lower, higher) node.
static bool make_table(const struct body *body, struct pair_table *table)
{
    struct pair_list list = {0};
    bool done = true;
    for (uint64_t s = 0; done && s < body->spring_count; s++) {
        uint32_t a = body->springs[s][0], b = body->springs[s][1];
        done = a < b ? pair_list_add(&list, a, b) : pair_list_add(&list, b, a);
    }
    done = done && pair_table_make(&list, body->node_count, table);
    pair_list_free(&list);
    return done;
}

// Goes through the springs in their order; firsts[pair] is the first spring of that pair, plus one.
static void tell_twins(const struct body *body, const struct pair_table *table, uint64_t *firsts,
                       twin_function tell, void *context)
{
    int told = 0;
    for (uint64_t s = 0; s < body->spring_count && told < NETWORK_TWINS_MAX; s++) {
        uint32_t a = body->springs[s][0], b = body->springs[s][1];
        uint64_t pair = 0;
        if (!pair_table_find(table, a < b ? a : b, a < b ? b : a, &pair))
            continue;
        if (firsts[pair] == 0) {
            firsts[pair] = s + 1;
            continue;
        }
        tell(context, s, firsts[pair] - 1);
        told++;
    }
}

taut_status network_find_twins(struct build *build, twin_function tell, void *context)
{
    const struct body *body = build->body;
    struct pair_table table;
    if (!make_table(body, &table))
        return build_no_memory(build);
    if (table.pair_count == body->spring_count) {
        pair_table_free(&table);
        return TAUT_OK;
    }
    uint64_t pair_count = table.pair_count;
    uint64_t *firsts = memory_allocate(NULL, pair_count, sizeof *firsts);
    if (firsts)
        tell_twins(body, &table, firsts, tell, context);
    memory_release(NULL, firsts, pair_count, sizeof *firsts);
    pair_table_free(&table);
    return firsts ? TAUT_ERROR_SCENE : build_no_memory(build);
}

// ---- Listed in the scene

static mark place_of(const struct build *build, uint64_t spring)
{
    const struct scene_network *network = &build->given->shape.network;
    return network->spring_marks ? network->spring_marks[spring] : build->given->at;
}

// Both ends exist and are not the same.
static taut_status check_ends(struct build *build)
{
    const struct scene_network *network = &build->given->shape.network;
    taut_status status = TAUT_OK;
    for (uint64_t s = 0; s < network->spring_count; s++) {
        const uint32_t *ends = network->springs[s];
        uint32_t worse = ends[0] > ends[1] ? ends[0] : ends[1];
        if (worse >= network->node_count)
            status = build_refuse(build, place_of(build, s),
                                  "there is no node %" PRIu32 ": the %" PRIu64
                                  " nodes are 0 to %" PRIu64,
                                  worse, network->node_count, network->node_count - 1);
        else if (ends[0] == ends[1])
            status = build_refuse(build, place_of(build, s),
                                  "a spring joins two different nodes, not %" PRIu32 " with itself",
                                  ends[0]);
    }
    return status;
}

static void complain_of_twin(void *context, uint64_t spring, uint64_t earlier)
{
    struct build *build = context;
    const uint32_t *ends = build->body->springs[spring];
    mark at = place_of(build, earlier);
    char where[32] = "";
    if (at.line > 0) // else it is a line of a --set
        snprintf(where, sizeof where, ", in line %d", at.line);
    build_refuse(build, place_of(build, spring),
                 "nodes %" PRIu32 " and %" PRIu32 " have a spring already%s", ends[0], ends[1],
                 where);
}

// A list copied into memory of the body's own; *copied becomes NULL only without memory.
static void *copy_list(const void *list, uint64_t count, size_t size)
{
    void *copied = memory_allocate(NULL, count, size);
    if (copied && count > 0)
        memcpy(copied, list, count * size);
    return copied;
}

static taut_status copy_materials(struct build *build)
{
    const struct scene_network *network = &build->given->shape.network;
    struct body *body = build->body;
    if (network->material_count == 0)
        return TAUT_OK;
    body->materials =
        copy_list(network->materials, network->material_count, sizeof *body->materials);
    if (!body->materials)
        return build_no_memory(build);
    body->material_count = network->material_count;
    if (network->material_count == 1)
        return TAUT_OK;
    body->spring_materials =
        copy_list(network->spring_materials, network->spring_count, sizeof *body->spring_materials);
    return body->spring_materials ? TAUT_OK : build_no_memory(build);
}

static void copy_nodes(struct build *build)
{
    const struct scene_network *network = &build->given->shape.network;
    struct body *body = build->body;
    for (uint64_t i = 0; i < network->node_count; i++) {
        vec3_store(body->positions, i, network->positions[i]);
        if (network->velocities)
            vec3_store(body->velocities, i, network->velocities[i]);
        if (network->masses)
            body->masses[i] = network->masses[i];
    }
    build->has_velocities = network->velocities != NULL;
    build->has_masses = network->masses != NULL;
}

static taut_status copy_lists(struct build *build)
{
    const struct scene_network *network = &build->given->shape.network;
    struct build_counts counts = {.nodes = network->node_count, .springs = {network->spring_count}};
    if (network->node_count == 0)
        return build_refuse(build, build->given->at, "network '%s' has no nodes",
                            build->given->name);
    taut_status status = check_ends(build);
    if (status == TAUT_OK)
        status = build_allocate(build, &counts);
    if (status == TAUT_OK)
        status = copy_materials(build);
    if (status != TAUT_OK)
        return status;
    copy_nodes(build);
    if (network->spring_count > 0)
        memcpy(build->body->springs, network->springs,
               network->spring_count * sizeof *network->springs);
    return network_find_twins(build, complain_of_twin, build);
}

taut_status build_network(struct build *build)
{
    const struct scene_network *network = &build->given->shape.network;
    return network->nodes_path ? network_read_files(build) : copy_lists(build);
}
