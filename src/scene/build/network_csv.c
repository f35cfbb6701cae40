// A network from two CSV files, nodes and springs (columns: scene.md).
#include <inttypes.h>
#include <string.h>

#include "base/memory.h"
#include "scene/text/csv.h"
#include "scene/build/materials.h"
#include "scene/build/network.h"

enum { X, Y, Z, MASS, VX, VY, VZ, PINNED, NODE_FIELDS };
enum { A, B, STIFFNESS, DAMPING, REST_LENGTH, SPRING_FIELDS };

static const struct csv_field node_fields[NODE_FIELDS] = {
    [X] = {"x", CSV_REQUIRED},   [Y] = {"y", CSV_REQUIRED},
    [Z] = {"z", CSV_REQUIRED},   [MASS] = {"mass", CSV_REQUIRED},
    [VX] = {"vx", CSV_OPTIONAL}, [VY] = {"vy", CSV_OPTIONAL},
    [VZ] = {"vz", CSV_OPTIONAL}, [PINNED] = {"pinned", CSV_OPTIONAL}};

static const struct csv_field spring_fields[SPRING_FIELDS] = {
    [A] = {"a", CSV_REQUIRED},
    [B] = {"b", CSV_REQUIRED},
    [STIFFNESS] = {"stiffness", CSV_REQUIRED},
    [DAMPING] = {"damping", CSV_DEFAULTED},
    [REST_LENGTH] = {"rest_length", CSV_DEFAULTED}};

// ---- Nodes

static bool read_node(struct csv *nodes, struct body *body, uint64_t node)
{
    double *position = &body->positions[3 * node], *velocity = &body->velocities[3 * node];
    uint64_t pinned = 0;
    bool fine = true;
    for (size_t axis = 0; axis < 3; axis++) {
        fine = csv_number(nodes, X + axis, &position[axis]) && fine;
        fine = csv_number(nodes, VX + axis, &velocity[axis]) && fine;
    }
    if (!csv_number(nodes, MASS, &body->masses[node]))
        fine = false;
    else if (!(body->masses[node] > 0.0))
        fine = csv_complain(nodes, MASS, "a mass must be above 0");
    if (!csv_count(nodes, PINNED, &pinned))
        fine = false;
    else if (pinned > 1)
        fine = csv_complain(nodes, PINNED, "'pinned' is 0 or 1");
    body->fixed[node] = pinned ? HOLD_PINNED : HOLD_FREE;
    return fine;
}

static taut_status read_nodes(struct build *build, struct csv *nodes)
{
    uint64_t node = 0;
    while (node < build->body->node_count && csv_next(nodes))
        read_node(nodes, build->body, node++);
    build->has_masses = true;
    build->has_velocities = csv_has(nodes, VX);
    return nodes->error_count > 0 ? TAUT_ERROR_SCENE : TAUT_OK;
}

// ---- Springs

static bool read_end(struct csv *springs, size_t field, uint64_t node_count, uint32_t *end)
{
    uint64_t node = 0;
    if (!csv_count(springs, field, &node))
        return false;
    if (node >= node_count)
        return csv_complain(springs, field,
                            "there is no node %" PRIu64 ": the %" PRIu64 " nodes are 0 to %" PRIu64,
                            node, node_count, node_count - 1);
    *end = (uint32_t)node;
    return true;
}

static bool read_at_least_zero(struct csv *springs, size_t field, double *value)
{
    if (!csv_number(springs, field, value))
        return false;
    return *value >= 0.0 ||
           csv_complain(springs, field, "'%s' must not be negative", spring_fields[field].name);
}

// One row: the ends, and the rest length where the table has that column. What the row leaves out
// comes from the body's common keys.
static bool read_spring(struct csv *springs, const struct scene_body *given, struct body *body,
                        uint64_t spring, struct material *material)
{
    uint32_t *ends = body->springs[spring];
    double rest_length = -1.0;
    *material = given->common;
    bool a = read_end(springs, A, body->node_count, &ends[0]);
    bool b = read_end(springs, B, body->node_count, &ends[1]);
    bool fine = a && b;
    if (fine && ends[0] == ends[1])
        fine = csv_complain(
            springs, B, "a spring joins two different nodes, not %" PRIu32 " with itself", ends[0]);
    fine = read_at_least_zero(springs, STIFFNESS, &material->stiffness) && fine;
    fine = read_at_least_zero(springs, DAMPING, &material->damping) && fine;
    if (!csv_has(springs, REST_LENGTH))
        return fine;
    const struct csv_cell *cell = &springs->cells[REST_LENGTH];
    if (cell->length > 0)
        fine = read_at_least_zero(springs, REST_LENGTH, &rest_length) && fine;
    else if (given->common.has_rest_length)
        rest_length = given->common.rest_length;
    // Not given at all: the built distance, when the body stands where it belongs (bodies.c).
    body->rest_lengths[spring] = rest_length < 0.0 ? NAN : rest_length;
    return fine;
}

static taut_status read_springs(struct build *build, struct csv *springs, struct material_set *set)
{
    struct body *body = build->body;
    struct material material;
    for (uint64_t s = 0; s < body->spring_count && csv_next(springs); s++)
        if (read_spring(springs, build->given, body, s, &material) &&
            !material_set_add(set, &material, &body->spring_materials[s]))
            return build_no_memory(build);
    return springs->error_count > 0 ? TAUT_ERROR_SCENE : TAUT_OK;
}

static taut_status keep_materials(struct build *build, const struct material_set *set)
{
    struct body *body = build->body;
    if (set->count == 0)
        return TAUT_OK;
    body->materials = memory_allocate(NULL, set->count, sizeof *body->materials);
    if (!body->materials)
        return build_no_memory(build);
    body->material_count = set->count;
    memcpy(body->materials, set->items, set->count * sizeof *set->items);
    return TAUT_OK;
}

struct twin_places {
    struct csv *springs;
    const struct body *body;
};

static void complain_of_twin(void *context, uint64_t spring, uint64_t earlier)
{
    struct twin_places *places = context;
    const uint32_t *ends = places->body->springs[spring];
    csv_seek(places->springs, spring);
    csv_complain(places->springs, A,
                 "nodes %" PRIu32 " and %" PRIu32 " have a spring already, in line %" PRIu64,
                 ends[0], ends[1], earlier + 2);
}

// ---- Both

static taut_status allocate(struct build *build, const struct csv *nodes, const struct csv *springs)
{
    struct body *body = build->body;
    struct build_counts counts = {.nodes = csv_row_count(nodes),
                                  .springs = {csv_row_count(springs)}};
    if (counts.nodes == 0)
        return build_refuse(build, build->given->shape.network.nodes_at,
                            "'%s' has a header but no nodes", nodes->path);
    taut_status status = build_allocate(build, &counts);
    if (status != TAUT_OK)
        return status;
    body->spring_materials =
        memory_allocate(NULL, body->spring_count, sizeof *body->spring_materials);
    if (csv_has(springs, REST_LENGTH))
        body->rest_lengths = memory_allocate(NULL, body->spring_count, sizeof *body->rest_lengths);
    bool whole = body->spring_materials && (body->rest_lengths || !csv_has(springs, REST_LENGTH));
    return whole ? TAUT_OK : build_no_memory(build);
}

static bool check_velocity_columns(struct csv *nodes)
{
    bool x = csv_has(nodes, VX), y = csv_has(nodes, VY), z = csv_has(nodes, VZ);
    if (x == y && y == z)
        return true;
    return csv_complain(nodes, x ? VX : y ? VY : VZ, "a velocity is the three columns vx, vy, vz");
}

static taut_status read_tables(struct build *build, struct csv *nodes, struct csv *springs)
{
    struct material_set set = {0};
    struct twin_places places = {springs, build->body};
    taut_status status = allocate(build, nodes, springs);
    if (status != TAUT_OK)
        return status;
    // Both files to their end, so that the faults of both are found in one go.
    taut_status node_status = read_nodes(build, nodes);
    status = read_springs(build, springs, &set);
    if (status == TAUT_OK)
        status = keep_materials(build, &set);
    if (status == TAUT_OK)
        status = network_find_twins(build, complain_of_twin, &places);
    material_set_free(&set);
    return status != TAUT_OK ? status : node_status;
}

taut_status network_read_files(struct build *build)
{
    const struct scene_network *network = &build->given->shape.network;
    struct csv nodes, springs;
    bool nodes_open =
        csv_open(&nodes, network->nodes_path, node_fields, NODE_FIELDS, build->diagnostics) &&
        check_velocity_columns(&nodes);
    bool springs_open =
        csv_open(&springs, network->springs_path, spring_fields, SPRING_FIELDS, build->diagnostics);
    taut_status status = nodes_open && springs_open ? read_tables(build, &nodes, &springs)
                                                    : build_file_status(build);
    csv_close(&nodes);
    csv_close(&springs);
    return status;
}
