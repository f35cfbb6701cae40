// Reads the initial state of a run, positions and velocities of all nodes, from a table written by
// `taut run --state` or from a checkpoint (base/archive.h). Everything that follows from how bodies
// are built (rest lengths, grids, numbering, pins) is unchanged.
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/archive.h"
#include "base/memory.h"
#include "base/os.h"
#include "base/text.h"
#include "scene/build/build.h"
#include "scene/text/csv.h"

enum { BODY, NODE, X, Y, Z, VX, VY, VZ, FIELDS };

static const struct csv_field fields[FIELDS] = {
    [BODY] = {"body", CSV_REQUIRED}, [NODE] = {"node", CSV_REQUIRED}, [X] = {"x", CSV_REQUIRED},
    [Y] = {"y", CSV_REQUIRED},       [Z] = {"z", CSV_REQUIRED},       [VX] = {"vx", CSV_REQUIRED},
    [VY] = {"vy", CSV_REQUIRED},     [VZ] = {"vz", CSV_REQUIRED}};

// The progress of a body while rows are read.
struct progress {
    uint64_t *seen; // one bit per node
    uint64_t rows;
    uint8_t *motions; // per node: 1 + the type of its motion; NULL: the body has none
};

struct name {
    const char *text;
    size_t body;
};

struct reading {
    const taut_scene *scene;
    struct bodies *bodies;
    struct csv csv;
    struct progress *progress; // one per body
    struct name *names;        // of the bodies, sorted
    size_t present;            // the body of the last row
};

// ---- Finding the body and the node

static int compare_names(const void *a, const void *b)
{
    return strcmp(((const struct name *)a)->text, ((const struct name *)b)->text);
}

static int compare_cell(const struct csv_cell *cell, const char *name)
{
    int order = strncmp(cell->text, name, cell->length);
    return order != 0 ? order : name[cell->length] ? -1 : 0;
}

// The body of the last row is tried first, since rows of a body mostly follow each other.
static bool find_body(struct reading *reading)
{
    const struct csv_cell *cell = &reading->csv.cells[BODY];
    const struct bodies *bodies = reading->bodies;
    if (bodies->count > 0 && compare_cell(cell, bodies->items[reading->present].name) == 0)
        return true;
    size_t low = 0, high = bodies->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = compare_cell(cell, reading->names[middle].text);
        if (order == 0) {
            reading->present = reading->names[middle].body;
            return true;
        }
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return csv_report(&reading->csv, BODY, "the scene has no body '%.*s'",
                      (int)(cell->length < 60 ? cell->length : 60), cell->text);
}

static bool find_node(struct reading *reading, uint64_t *node)
{
    const struct body *body = &reading->bodies->items[reading->present];
    struct progress *progress = &reading->progress[reading->present];
    if (!csv_count(&reading->csv, NODE, node))
        return false;
    if (*node >= body->node_count)
        return csv_report(&reading->csv, NODE,
                          "there is no node %" PRIu64 " in body '%s': its nodes are 0 to %" PRIu64,
                          *node, body->name, body->node_count - 1);
    uint64_t bit = UINT64_C(1) << (*node % 64);
    if (progress->seen[*node / 64] & bit)
        return csv_report(&reading->csv, NODE, "node %" PRIu64 " of body '%s' is there twice",
                          *node, body->name);
    progress->seen[*node / 64] |= bit;
    progress->rows++;
    return true;
}

// ---- Rows

static bool is_at(double value, double built)
{
    // A single-precision state has the position rounded to float.
    return value == built || (float)value == (float)built;
}

// 1 + the type of a node's motion; 0 if it has none.
static int motion_of(const struct reading *reading, uint64_t node)
{
    const struct progress *progress = &reading->progress[reading->present];
    return progress->motions ? progress->motions[node] : 0;
}

// Pinned nodes, and nodes that move by a closed form, stay where the scene puts them. Driven nodes
// continue from their position in the file.
static bool is_placed(const struct reading *reading, uint64_t node)
{
    const struct body *body = &reading->bodies->items[reading->present];
    return !body->kinematic[node] || motion_of(reading, node) == 1 + MOTION_DRIVE;
}

static bool check_kinematic(struct reading *reading, uint64_t node, const double position[3])
{
    const struct body *body = &reading->bodies->items[reading->present];
    int motion = motion_of(reading, node);
    if (is_placed(reading, node))
        return true;
    const vec3 at = body_position(body, node);
    const double built[3] = {at.x, at.y, at.z};
    for (int axis = 0; axis < 3; axis++)
        if (!is_at(position[axis], built[axis]))
            return csv_report(&reading->csv, X + (size_t)axis,
                              motion ? "node %" PRIu64 " of body '%s' has a prescribed motion, "
                                       "from %.9g, %.9g, %.9g on, where it must be at the start"
                                     : "node %" PRIu64 " of body '%s' is pinned at %.9g, %.9g, "
                                       "%.9g and cannot be elsewhere",
                              node, body->name, built[0], built[1], built[2]);
    return true;
}

static bool read_numbers(struct reading *reading, double numbers[6])
{
    const enum precision precision = reading->scene->precision;
    struct csv *csv = &reading->csv;
    bool fine = true;
    for (size_t i = 0; i < 6; i++) {
        if (!csv_number(csv, X + i, &numbers[i]))
            fine = false;
        else if (precision_lacks(precision, numbers[i], false))
            fine = csv_report(csv, X + i, "this %s", precision_lacks(precision, numbers[i], false));
    }
    return fine;
}

static void read_row(struct reading *reading)
{
    uint64_t node;
    double numbers[6];
    bool found = find_body(reading) && find_node(reading, &node);
    bool fine = read_numbers(reading, numbers);
    if (!found || !fine || !check_kinematic(reading, node, numbers))
        return;
    struct body *body = &reading->bodies->items[reading->present];
    if (is_placed(reading, node))
        memcpy(body->initial + 3 * node, numbers, 3 * sizeof *numbers);
    else
        vec3_store(body->initial, node, body_position(body, node));
    // Kinematic nodes keep their built velocity.
    if (!body->kinematic[node])
        memcpy(body->velocities + 3 * node, numbers + 3, 3 * sizeof *numbers);
}

// ---- The file

static bool prepare_body(struct body *body, struct progress *progress)
{
    uint64_t nodes = body->node_count;
    progress->seen = memory_allocate(NULL, nodes / 64 + 1, sizeof *progress->seen);
    body->initial = memory_allocate(NULL, 3 * nodes, sizeof *body->initial);
    if (body->motion_count > 0)
        progress->motions = memory_allocate(NULL, nodes, sizeof *progress->motions);
    if (!progress->seen || !body->initial || !body_list_velocities(body) ||
        (body->motion_count > 0 && !progress->motions))
        return false;
    for (size_t i = 0; i < body->motion_count; i++)
        progress->motions[body->motions[i].node] = (uint8_t)(1 + body->motions[i].type);
    return true;
}

static bool prepare(struct reading *reading)
{
    struct bodies *bodies = reading->bodies;
    reading->progress = memory_allocate(NULL, bodies->count, sizeof *reading->progress);
    reading->names = memory_allocate(NULL, bodies->count, sizeof *reading->names);
    if (!reading->progress || !reading->names)
        return false;
    for (size_t b = 0; b < bodies->count; b++) {
        reading->names[b] = (struct name){bodies->items[b].name, b};
        if (!prepare_body(&bodies->items[b], &reading->progress[b]))
            return false;
    }
    qsort(reading->names, bodies->count, sizeof *reading->names, compare_names);
    return true;
}

static void release(struct reading *reading)
{
    struct bodies *bodies = reading->bodies;
    for (size_t b = 0; reading->progress && b < bodies->count; b++) {
        uint64_t nodes = bodies->items[b].node_count;
        memory_release(NULL, reading->progress[b].seen, nodes / 64 + 1, sizeof(uint64_t));
        memory_release(NULL, reading->progress[b].motions, nodes, sizeof(uint8_t));
    }
    memory_release(NULL, reading->progress, bodies->count, sizeof *reading->progress);
    memory_release(NULL, reading->names, bodies->count, sizeof *reading->names);
}

static void report_missing(struct reading *reading, struct diagnostics *diagnostics)
{
    enum { SHOWN = 10 };
    int shown = 0;
    for (size_t b = 0; b < reading->bodies->count && shown < SHOWN; b++) {
        const struct body *body = &reading->bodies->items[b];
        const struct progress *progress = &reading->progress[b];
        uint64_t node = 0;
        if (progress->rows == body->node_count)
            continue;
        while (progress->seen[node / 64] >> (node % 64) & 1)
            node++;
        shown++;
        scene_report(reading->scene, diagnostics, reading->scene->initial_at,
                     "body '%s' has %" PRIu64 " %s, but '%s' has %" PRIu64
                     " of them: number %" PRIu64 " is the first that is missing",
                     body->name, body->node_count, text_noun(body->node_count, "node", "nodes"),
                     reading->scene->initial, progress->rows, node);
    }
}

// ---- A checkpoint

// Whether the file is a checkpoint. A file that cannot be read twice, as a pipe, is a table.
static bool is_checkpoint(const char *path)
{
    const char *reason;
    FILE *file = open_to_read(path, &reason);
    if (!file)
        return false; // the reader of tables reports why
    unsigned char magic[ARCHIVE_MAGIC_BYTES];
    // A table does not begin with the first byte; the reader of checkpoints reports one that is cut
    // off.
    const size_t got = fseek(file, 0, SEEK_SET) == 0 ? fread(magic, 1, sizeof magic, file) : 0;
    const bool found = got > 0 && memcmp(magic, archive_magic, got) == 0;
    fclose(file);
    return found;
}

static bool refuse(const struct reading *reading, struct diagnostics *diagnostics, const char *text)
{
    scene_report(reading->scene, diagnostics, reading->scene->initial_at, "%s", text);
    return false;
}

// The bodies of both must be of the same sizes, in the same order; their names may differ.
static bool compare_bodies(const struct reading *reading, const struct archive_chunk *chunk,
                           struct diagnostics *diagnostics)
{
    const struct bodies *bodies = reading->bodies;
    const uint64_t *counts = chunk->numbers;
    bool same =
        chunk->type == ARCHIVE_U64 && chunk->total == bodies->count && chunk->count == chunk->total;
    for (size_t b = 0; same && b < bodies->count; b++) {
        same = counts[b] == bodies->items[b].node_count;
        if (!same)
            scene_report(
                reading->scene, diagnostics, reading->scene->initial_at,
                "body %zu has %" PRIu64 " %s in the checkpoint '%s', but '%s' has %" PRIu64, b,
                counts[b], text_noun(counts[b], "node", "nodes"), reading->scene->initial,
                bodies->items[b].name, bodies->items[b].node_count);
    }
    if (chunk->total != bodies->count)
        scene_report(reading->scene, diagnostics, reading->scene->initial_at,
                     "the checkpoint '%s' has %" PRIu64 " %s, but the scene has %zu",
                     reading->scene->initial, chunk->total,
                     text_noun(chunk->total, "body", "bodies"), bodies->count);
    return same;
}

// Where in the bodies the numbers of a chunk go, which are 3 a node.
struct cursor {
    size_t body;
    uint64_t at; // number within the body
};

// Positions, or velocities of the nodes that are not kinematic: those keep what they are built
// with.
static bool read_chunk(const struct reading *reading, const struct archive_chunk *chunk,
                       bool is_velocity, struct cursor *cursor)
{
    for (uint64_t i = 0; i < chunk->count; i++) {
        struct body *body = &reading->bodies->items[cursor->body];
        const double number = chunk->type == ARCHIVE_F32
                                  ? (double)((const float *)chunk->numbers)[i]
                                  : ((const double *)chunk->numbers)[i];
        if (precision_lacks(reading->scene->precision, number, false))
            return false;
        if (!is_velocity)
            body->initial[cursor->at] = number;
        else if (!body->kinematic[cursor->at / 3])
            body->velocities[cursor->at] = number;
        cursor->at++;
        while (cursor->body + 1 < reading->bodies->count &&
               cursor->at == 3 * reading->bodies->items[cursor->body].node_count)
            *cursor = (struct cursor){cursor->body + 1, 0};
    }
    return true;
}

static bool read_chunks(const struct reading *reading, struct archive_reader *archive,
                        struct diagnostics *diagnostics)
{
    struct archive_chunk chunk;
    struct cursor cursors[2] = {{0, 0}, {0, 0}};
    uint64_t nodes = 0, received[2] = {0, 0};
    bool compared = false;
    taut_error error = {0};
    for (size_t b = 0; b < reading->bodies->count; b++)
        nodes += reading->bodies->items[b].node_count;
    for (;;) {
        if (archive_next(archive, &chunk, &error) != TAUT_OK)
            return refuse(reading, diagnostics, error.text);
        if (!chunk.name[0])
            break;
        const bool is_velocity = strcmp(chunk.name, "velocities") == 0;
        if (strcmp(chunk.name, "body_nodes") == 0)
            compared = compare_bodies(reading, &chunk, diagnostics);
        if (!is_velocity && strcmp(chunk.name, "positions") != 0)
            continue;
        if (!compared || chunk.total != 3 * nodes || chunk.first != received[is_velocity] ||
            (chunk.type != ARCHIVE_F32 && chunk.type != ARCHIVE_F64))
            return compared ? refuse(reading, diagnostics,
                                     "the checkpoint has another number of "
                                     "nodes than its bodies")
                            : false;
        if (!read_chunk(reading, &chunk, is_velocity, &cursors[is_velocity]))
            return refuse(reading, diagnostics,
                          "the checkpoint has a number that exceeds the precision of the scene");
        received[is_velocity] += chunk.count;
    }
    if (received[0] != 3 * nodes || received[1] != 3 * nodes)
        return refuse(reading, diagnostics, "the checkpoint has no positions and velocities");
    return true;
}

// Nodes that cannot be elsewhere than where the scene has them.
static void check_positions(struct reading *reading, struct diagnostics *diagnostics)
{
    for (size_t b = 0; b < reading->bodies->count; b++) {
        struct body *body = &reading->bodies->items[b];
        reading->present = b;
        for (uint64_t node = 0; node < body->node_count; node++) {
            const vec3 built = body_position(body, node);
            const double *initial = body->initial + 3 * node;
            if (is_placed(reading, node))
                continue;
            if (!is_at(initial[0], built.x) || !is_at(initial[1], built.y) ||
                !is_at(initial[2], built.z)) {
                scene_report(reading->scene, diagnostics, reading->scene->initial_at,
                             "node %" PRIu64 " of body '%s' is pinned, or its prescribed motion "
                             "begins, at %.9g, %.9g, %.9g, but the checkpoint '%s' has it at "
                             "%.9g, %.9g, %.9g",
                             node, body->name, built.x, built.y, built.z, reading->scene->initial,
                             initial[0], initial[1], initial[2]);
                return; // mostly all of them are
            }
            vec3_store(body->initial, node, built);
        }
    }
}

static void read_checkpoint(struct reading *reading, struct diagnostics *diagnostics)
{
    const char *path = reading->scene->initial, *reason;
    struct archive_reader archive;
    taut_error error = {0};
    FILE *file = open_to_read(path, &reason);
    if (!file) {
        refuse(reading, diagnostics, reason);
        return;
    }
    const taut_status status = archive_open(&archive, archive_file_source, file, path, &error);
    if (status == TAUT_ERROR_MEMORY)
        diagnostics_fail(diagnostics, status, path, "out of memory");
    else if (status != TAUT_OK)
        refuse(reading, diagnostics, error.text);
    else if (read_chunks(reading, &archive, diagnostics))
        check_positions(reading, diagnostics);
    archive_close(&archive);
    fclose(file);
}

// ---- Either

static void read_table(struct reading *reading, struct diagnostics *diagnostics)
{
    const size_t errors = diagnostics->error_count;
    if (csv_open(&reading->csv, reading->scene->initial, fields, FIELDS, diagnostics))
        while (csv_next(&reading->csv))
            read_row(reading);
    // It is not known what is missing in a file with errors.
    if (diagnostics->error_count == errors)
        report_missing(reading, diagnostics);
    csv_close(&reading->csv);
}

taut_status initial_read(const taut_scene *scene, struct bodies *bodies,
                         struct diagnostics *diagnostics, taut_error *error)
{
    struct reading reading = {.scene = scene, .bodies = bodies};
    size_t errors = diagnostics->error_count;
    if (!prepare(&reading)) {
        release(&reading);
        return fail_memory(error, "the initial state");
    }
    if (is_checkpoint(scene->initial))
        read_checkpoint(&reading, diagnostics);
    else
        read_table(&reading, diagnostics);
    release(&reading);
    if (diagnostics->failure == TAUT_ERROR_MEMORY)
        return fail_memory(error, "the initial state");
    if (diagnostics->error_count == errors)
        return TAUT_OK;
    return fail(error, TAUT_ERROR_SCENE, "%s: %zu %s", scene->initial,
                diagnostics->error_count - errors,
                diagnostics->error_count - errors == 1 ? "error" : "errors");
}

void bodies_apply_initial(struct bodies *bodies)
{
    for (size_t b = 0; b < bodies->count; b++) {
        struct body *body = &bodies->items[b];
        if (!body->initial)
            continue;
        memory_release(NULL, body->positions, 3 * body->node_count, sizeof *body->positions);
        body->positions = body->initial;
        body->initial = NULL;
    }
}
