// Networks: nodes and springs as listed in the scene, or in two CSV files (columns: docs/scene.md).
#include "scene/build/build.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "scene/build/surface.h"
#include "scene/materials.h"
#include "scene/text/csv.h"

// ---- Duplicate springs

// Called for a spring that joins the same two nodes as an earlier one.
typedef void (*duplicate_function)(void *context, uint64_t spring, uint64_t earlier);

enum { DUPLICATES_MAX = 20 };

// The table of all springs as (lower, higher) node.
static bool make_pair_table(const struct body *body, struct pair_table *table)
{
    if (!pair_table_begin(table, body->node_count))
        return false;
    for (int pass = 0; pass < 2; pass++) {
        for (uint64_t s = 0; s < body->spring_count; s++) {
            uint32_t a = body->springs[s][0], b = body->springs[s][1];
            if (pass == 0)
                pair_table_count(table, a < b ? a : b);
            else
                pair_table_add(table, a < b ? a : b, a < b ? b : a);
        }
        if (pass == 0 && !pair_table_allocate(table))
            return false;
    }
    pair_table_finish(table);
    return true;
}

// Visits the springs in their order; firsts[pair] is the first spring of that pair, plus one.
static void report_duplicates(const struct body *body, const struct pair_table *table,
                              uint64_t *firsts, duplicate_function report, void *context)
{
    int reported = 0;
    for (uint64_t s = 0; s < body->spring_count && reported < DUPLICATES_MAX; s++) {
        uint32_t a = body->springs[s][0], b = body->springs[s][1];
        uint64_t pair = 0;
        if (!pair_table_find(table, a < b ? a : b, a < b ? b : a, &pair))
            continue;
        if (firsts[pair] == 0) {
            firsts[pair] = s + 1;
            continue;
        }
        report(context, s, firsts[pair] - 1);
        reported++;
    }
}

// Reports duplicate springs of the body, at most DUPLICATES_MAX; TAUT_ERROR_SCENE if there are any.
static taut_status find_duplicates(struct build *build, duplicate_function report, void *context)
{
    const struct body *body = build->body;
    struct pair_table table;
    if (!make_pair_table(body, &table))
        return build_no_memory(build);
    if (table.pair_count == body->spring_count) {
        pair_table_free(&table);
        return TAUT_OK;
    }
    uint64_t pair_count = table.pair_count;
    uint64_t *firsts = memory_allocate(NULL, pair_count, sizeof *firsts);
    if (firsts)
        report_duplicates(body, &table, firsts, report, context);
    memory_release(NULL, firsts, pair_count, sizeof *firsts);
    pair_table_free(&table);
    return firsts ? TAUT_ERROR_SCENE : build_no_memory(build);
}

// ---- Lists in the scene

mark build_spring_mark(const struct build *build, uint64_t spring)
{
    const struct scene_body *given = build->given;
    return given->type == BODY_NETWORK && given->shape.network.spring_marks
               ? given->shape.network.spring_marks[spring]
               : given->at;
}

// Checks that both ends exist and differ.
static taut_status check_listed_ends(struct build *build)
{
    const struct scene_network *network = &build->given->shape.network;
    taut_status status = TAUT_OK;
    for (uint64_t s = 0; s < network->spring_count; s++) {
        const uint32_t *ends = network->springs[s];
        uint32_t worse = ends[0] > ends[1] ? ends[0] : ends[1];
        if (worse >= network->node_count)
            status = build_refuse(build, build_spring_mark(build, s),
                                  "there is no node %" PRIu32 ": the nodes are 0 to %" PRIu64,
                                  worse, network->node_count - 1);
        else if (ends[0] == ends[1])
            status = build_refuse(build, build_spring_mark(build, s),
                                  "a spring joins two different nodes, not %" PRIu32 " with itself",
                                  ends[0]);
    }
    return status;
}

static void report_listed_duplicate(void *context, uint64_t spring, uint64_t earlier)
{
    struct build *build = context;
    const uint32_t *ends = build->body->springs[spring];
    mark at = build_spring_mark(build, earlier);
    char where[32] = "";
    if (at.line > 0) // otherwise it is in a --set
        snprintf(where, sizeof where, ", in line %d", at.line);
    build_refuse(build, build_spring_mark(build, spring),
                 "nodes %" PRIu32 " and %" PRIu32 " have a spring already%s", ends[0], ends[1],
                 where);
}

static taut_status copy_materials(struct build *build)
{
    const struct scene_network *network = &build->given->shape.network;
    struct body *body = build->body;
    if (network->material_count == 0)
        return TAUT_OK;
    body->materials =
        memory_copy(NULL, network->materials, network->material_count, sizeof *body->materials);
    if (!body->materials)
        return build_no_memory(build);
    body->material_count = network->material_count;
    if (network->material_count == 1)
        return TAUT_OK;
    body->spring_materials = memory_copy(NULL, network->spring_materials, network->spring_count,
                                         sizeof *body->spring_materials);
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
    taut_status status = check_listed_ends(build);
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
    return find_duplicates(build, report_listed_duplicate, build);
}

// ---- Two CSV files: columns

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

// ---- Two CSV files: numbers

// Reads a number that the run's precision must hold; see precision_lacks for `size`.
static bool read_number(struct csv *csv, size_t field, enum precision precision, bool size,
                        double *value)
{
    if (!csv_number(csv, field, value))
        return false;
    const char *reason = precision_lacks(precision, *value, size);
    return !reason || csv_report(csv, field, "this %s", reason);
}

// ---- Two CSV files: nodes

static bool read_node(struct csv *nodes, enum precision precision, struct body *body, uint64_t node)
{
    double *position = &body->positions[3 * node], *velocity = &body->velocities[3 * node];
    uint64_t pinned = 0;
    bool fine = true;
    for (size_t axis = 0; axis < 3; axis++) {
        fine = read_number(nodes, X + axis, precision, false, &position[axis]) && fine;
        fine = read_number(nodes, VX + axis, precision, false, &velocity[axis]) && fine;
    }
    if (!read_number(nodes, MASS, precision, true, &body->masses[node]))
        fine = false;
    else if (!(body->masses[node] > 0.0))
        fine = csv_report(nodes, MASS, "a mass must be above 0");
    if (!csv_count(nodes, PINNED, &pinned))
        fine = false;
    else if (pinned > 1)
        fine = csv_report(nodes, PINNED, "'pinned' is 0 or 1");
    body->kinematic[node] = pinned ? NODE_PINNED : NODE_FREE;
    return fine;
}

static taut_status read_nodes(struct build *build, struct csv *nodes)
{
    uint64_t node = 0;
    while (node < build->body->node_count && csv_next(nodes))
        read_node(nodes, build->scene->precision, build->body, node++);
    build->has_masses = true;
    build->has_velocities = csv_has(nodes, VX);
    return nodes->error_count > 0 ? TAUT_ERROR_SCENE : TAUT_OK;
}

// ---- Two CSV files: springs

static bool read_end(struct csv *springs, size_t field, uint64_t node_count, uint32_t *end)
{
    uint64_t node = 0;
    if (!csv_count(springs, field, &node))
        return false;
    if (node >= node_count)
        return csv_report(springs, field,
                          "there is no node %" PRIu64 ": the nodes are 0 to %" PRIu64, node,
                          node_count - 1);
    *end = (uint32_t)node;
    return true;
}

static bool read_at_least_zero(struct csv *springs, size_t field, enum precision precision,
                               double *value)
{
    if (!read_number(springs, field, precision, true, value))
        return false;
    return *value >= 0.0 ||
           csv_report(springs, field, "'%s' must not be negative", spring_fields[field].name);
}

// Reads a row: the ends, and the rest length if the table has that column. Values that the row
// leaves empty are taken from the body's common keys.
static bool read_spring(const struct build *build, struct csv *springs, uint64_t spring,
                        struct material *material)
{
    const enum precision precision = build->scene->precision;
    const struct scene_body *given = build->given;
    struct body *body = build->body;
    uint32_t *ends = body->springs[spring];
    double rest_length = -1.0;
    *material = given->common;
    bool a = read_end(springs, A, body->node_count, &ends[0]);
    bool b = read_end(springs, B, body->node_count, &ends[1]);
    bool fine = a && b;
    if (fine && ends[0] == ends[1])
        fine = csv_report(
            springs, B, "a spring joins two different nodes, not %" PRIu32 " with itself", ends[0]);
    fine = read_at_least_zero(springs, STIFFNESS, precision, &material->stiffness) && fine;
    fine = read_at_least_zero(springs, DAMPING, precision, &material->damping) && fine;
    const bool has_rest = csv_has(springs, REST_LENGTH);
    if (has_rest && springs->cells[REST_LENGTH].length > 0)
        fine = read_at_least_zero(springs, REST_LENGTH, precision, &rest_length) && fine;
    else if (given->common.has_rest_length)
        rest_length = given->common.rest_length;
    const char *limit = fine ? material_limit_of_nothing(material, rest_length) : NULL;
    if (limit)
        fine =
            csv_report(springs, has_rest ? REST_LENGTH : A, MATERIAL_LIMIT_MESSAGE, limit, limit);
    if (!has_rest)
        return fine;
    // Neither given: the distance as built, set once the body has been placed (build.c).
    body->rest_lengths[spring] = rest_length < 0.0 ? NAN : rest_length;
    return fine;
}

static taut_status read_springs(struct build *build, struct csv *springs, struct material_set *set)
{
    struct body *body = build->body;
    struct material material;
    for (uint64_t s = 0; s < body->spring_count && csv_next(springs); s++)
        if (read_spring(build, springs, s, &material) &&
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

struct duplicate_rows {
    struct csv *springs;
    const struct body *body;
};

static void report_row_duplicate(void *context, uint64_t spring, uint64_t earlier)
{
    struct duplicate_rows *rows = context;
    const uint32_t *ends = rows->body->springs[spring];
    csv_seek(rows->springs, spring);
    csv_report(rows->springs, A,
               "nodes %" PRIu32 " and %" PRIu32 " have a spring already, in line %" PRIu64, ends[0],
               ends[1], earlier + 2);
}

// ---- Two CSV files: both

static taut_status allocate_network(struct build *build, const struct csv *nodes,
                                    const struct csv *springs)
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
    return csv_report(nodes, x ? VX : y ? VY : VZ, "a velocity is the three columns vx, vy, vz");
}

static taut_status read_tables(struct build *build, struct csv *nodes, struct csv *springs)
{
    struct material_set set = {0};
    struct duplicate_rows rows = {springs, build->body};
    taut_status status = allocate_network(build, nodes, springs);
    if (status != TAUT_OK)
        return status;
    // Both files are read to their ends, so that the errors of both are reported.
    taut_status node_status = read_nodes(build, nodes);
    status = read_springs(build, springs, &set);
    if (status == TAUT_OK)
        status = keep_materials(build, &set);
    if (status == TAUT_OK)
        status = find_duplicates(build, report_row_duplicate, &rows);
    material_set_free(&set);
    return status != TAUT_OK ? status : node_status;
}

static taut_status network_read_files(struct build *build)
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

taut_status build_network(struct build *build)
{
    const struct scene_network *network = &build->given->shape.network;
    return network->nodes_path ? network_read_files(build) : copy_lists(build);
}
