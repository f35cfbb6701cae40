// Writes the tables of a run (csv.h): headers and rows, buffered in file.h.
#include "output/csv.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

// ---- energy.csv

// 17 digits identify a double.
enum { DIGITS = 17 };

static taut_status write_header(struct energy_csv *table, const struct frame *first,
                                taut_error *error)
{
    struct file *file = &table->file;
    file_print(file, ENERGY_CSV_HEADER);
    if (table->has_work)
        file_print(file, ",work_damping,work_drag,work_friction,work_keep,work_projection,"
                         "work_breaking,work_wind,work_drives,work_inflation");
    if (table->has_work && table->has_contact)
        file_print(file, ",work_truncation");
    for (size_t i = 0; i < table->volume_count; i++)
        file_print(file, ",volume_%s", first->bodies[table->volume_bodies[i]].name);
    file_print(file, "\n");
    return file_end_record(file, error);
}

taut_status energy_csv_open(struct energy_csv *table, const char *path, const struct frame *first,
                            taut_error *error)
{
    memset(table, 0, sizeof *table);
    table->has_work = first->has_work;
    table->has_contact = first->has_contact;
    table->volume_bodies = calloc(first->shape.body_count + 1, sizeof *table->volume_bodies);
    if (!table->volume_bodies)
        return fail_memory(error, "the energy table");
    for (size_t b = 0; b < first->shape.body_count; b++)
        if (first->volumes[b] != 0)
            table->volume_bodies[table->volume_count++] = b;
    taut_status status = file_grow(&table->file, path, error);
    if (status == TAUT_OK)
        status = write_header(table, first, error);
    if (status != TAUT_OK) {
        file_abandon(&table->file);
        free(table->volume_bodies);
        memset(table, 0, sizeof *table);
    }
    return status;
}

taut_status energy_csv_resume(struct energy_csv *table, const char *path, uint64_t length,
                              const struct frame *present, const uint64_t *bodies, size_t count,
                              taut_error *error)
{
    memset(table, 0, sizeof *table);
    table->has_work = present->has_work;
    table->has_contact = present->has_contact;
    table->volume_bodies = calloc(count + 1, sizeof *table->volume_bodies);
    if (!table->volume_bodies)
        return fail_memory(error, "the energy table");
    for (size_t i = 0; i < count; i++)
        table->volume_bodies[table->volume_count++] = (size_t)bodies[i];
    taut_status status = file_resume(&table->file, path, length, error);
    if (status != TAUT_OK) {
        free(table->volume_bodies);
        memset(table, 0, sizeof *table);
    }
    return status;
}

static void add_numbers(struct file *file, const double *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        file_print(file, ",");
        file_number(file, values[i], DIGITS);
    }
}

taut_status energy_csv_add(struct energy_csv *table, const struct frame *now, taut_error *error)
{
    struct file *file = &table->file;
    const taut_energy *energy = &now->energy;
    const double energies[] = {now->time,   energy->kinetic, energy->elastic, energy->gravity,
                               energy->gas, energy->contact, energy->total};
    file_print(file, "%" PRIu64, now->step);
    add_numbers(file, energies, sizeof energies / sizeof energies[0]);
    if (table->has_work) {
        static const enum work_cause columns[] = {WORK_DAMPING, WORK_DRAG,       WORK_FRICTION,
                                                  WORK_KEEP,    WORK_PROJECTION, WORK_BREAKING,
                                                  WORK_WIND,    WORK_DRIVES,     WORK_INFLATION};
        for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++)
            add_numbers(file, &now->work[columns[i]], 1);
        if (table->has_contact)
            add_numbers(file, &now->work[WORK_TRUNCATION], 1);
    }
    for (size_t i = 0; i < table->volume_count; i++)
        add_numbers(file, &now->volumes[table->volume_bodies[i]], 1);
    file_print(file, "\n");
    return file_end_record(file, error);
}

taut_status energy_csv_close(struct energy_csv *table, taut_error *error)
{
    free(table->volume_bodies);
    table->volume_bodies = NULL;
    return file_close(&table->file, error);
}

// ---- probes.csv and the final state.

// Writes the NODE_COLUMNS of a node without a newline, with the digits that the precision of the
// run needs: 9 identify a float, 17 a double.
static void write_node(struct file *file, const struct frame *now, const struct frame_body *body,
                       uint64_t node, const double position[3], const double velocity[3])
{
    const double *const vectors[] = {position, velocity};
    file_print(file, "%s,%" PRIu64, body->name, node);
    for (int i = 0; i < 6; i++) {
        file_print(file, ",");
        file_number(file, vectors[i / 3][i % 3], now->single ? 9 : 17);
    }
}

// Buffered rows are written from this many bytes on, before the buffer is full, since a full buffer
// would be written in the middle of a row.
enum { WAITING_MAX = 16 * 1024 };

static taut_status list_probes(struct probes_csv *table, const struct recording_probe *probes,
                               size_t probe_count, taut_error *error)
{
    memset(table, 0, sizeof *table);
    table->probes = calloc(probe_count + 1, sizeof *table->probes);
    if (!table->probes)
        return fail_memory(error, "the probes");
    for (size_t i = 0; i < probe_count; i++) {
        table->probes[i] = probes[i];
        if (probes[i].every_steps == 0)
            table->probes[i].every_steps = 1;
    }
    table->probe_count = probe_count;
    return TAUT_OK;
}

taut_status probes_csv_open(struct probes_csv *table, const char *path,
                            const struct recording_probe *probes, size_t probe_count,
                            taut_error *error)
{
    taut_status status = list_probes(table, probes, probe_count, error);
    if (status == TAUT_OK)
        status = file_grow(&table->file, path, error);
    if (status == TAUT_OK) {
        file_print(&table->file, PROBES_CSV_HEADER "\n");
        status = file_end_record(&table->file, error);
    }
    if (status != TAUT_OK) {
        file_abandon(&table->file);
        free(table->probes);
        memset(table, 0, sizeof *table);
    }
    return status;
}

taut_status probes_csv_resume(struct probes_csv *table, const char *path,
                              const struct recording_probe *probes, size_t probe_count,
                              uint64_t length, taut_error *error)
{
    taut_status status = list_probes(table, probes, probe_count, error);
    if (status == TAUT_OK)
        status = file_resume(&table->file, path, length, error);
    if (status != TAUT_OK) {
        free(table->probes);
        memset(table, 0, sizeof *table);
    }
    return status;
}

bool probes_csv_wants(const struct probes_csv *table, uint64_t step)
{
    for (size_t i = 0; i < table->probe_count; i++)
        if (step % table->probes[i].every_steps == 0)
            return true;
    return false;
}

taut_status probes_csv_add(struct probes_csv *table, const struct frame *now, taut_error *error)
{
    struct file *file = &table->file;
    for (size_t i = 0; i < table->probe_count; i++) {
        const struct recording_probe *probe = &table->probes[i];
        if (now->step % probe->every_steps != 0)
            continue;
        assert(probe->body < now->shape.body_count);
        const struct frame_body *body = &now->bodies[probe->body];
        assert(probe->node < body->node_count);
        file_print(file, "%" PRIu64 ",", now->step);
        file_number(file, now->time, DIGITS);
        file_print(file, ",");
        double position[3], velocity[3];
        frame_read_nodes(now, body->first_node + probe->node, 1, position, velocity);
        write_node(file, now, body, probe->node, position, velocity);
        file_print(file, "\n");
        if (file->failure || file_length(file) - file->record_end > WAITING_MAX) {
            taut_status status = file_end_record(file, error);
            if (status != TAUT_OK)
                return status;
        }
    }
    return TAUT_OK;
}

taut_status probes_csv_flush(struct probes_csv *table, taut_error *error)
{
    return table->file.open ? file_end_record(&table->file, error) : TAUT_OK;
}

taut_status probes_csv_close(struct probes_csv *table, taut_error *error)
{
    free(table->probes);
    table->probes = NULL;
    table->probe_count = 0;
    return file_close(&table->file, error);
}

static void write_body(struct file *file, const struct frame *now, const struct frame_body *body)
{
    enum { BATCH = 512 };
    double positions[3 * BATCH], velocities[3 * BATCH];
    for (uint64_t first = 0; first < body->node_count && !file->failure; first += BATCH) {
        const uint64_t left = body->node_count - first, count = left < BATCH ? left : BATCH;
        frame_read_nodes(now, body->first_node + first, count, positions, velocities);
        for (uint64_t i = 0; i < count && !file->failure; i++) {
            write_node(file, now, body, first + i, positions + 3 * i, velocities + 3 * i);
            file_print(file, "\n");
        }
    }
}

taut_status state_csv_write(const char *path, const struct frame *now, taut_error *error)
{
    struct file file;
    taut_status status = file_create(&file, path, error);
    if (status != TAUT_OK)
        return status;
    file_print(&file, NODE_COLUMNS "\n");
    for (size_t b = 0; b < now->shape.body_count; b++)
        write_body(&file, now, &now->bodies[b]);
    return file_commit(&file, error);
}
