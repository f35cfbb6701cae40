#include "output/energy_csv.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

// Enough that a double read back is the same double.
enum { DIGITS = 17 };

static taut_status write_header(struct energy_csv *table, const struct snapshot *first,
                                taut_error *error)
{
    struct file *file = &table->file;
    file_print(file, ENERGY_CSV_OPENING);
    if (table->has_work)
        file_print(file, ",work_damping,work_drag,work_friction,work_keep,work_projection,"
                         "work_breaking,work_wind,work_drives,work_inflation");
    for (size_t i = 0; i < table->volume_count; i++)
        file_print(file, ",volume_%s", first->bodies[table->volume_bodies[i]].name);
    file_print(file, "\n");
    return file_keep(file, error);
}

taut_status energy_csv_open(struct energy_csv *table, const char *path,
                            const struct snapshot *first, taut_error *error)
{
    memset(table, 0, sizeof *table);
    table->has_work = first->has_work;
    table->volume_bodies = calloc(first->body_count + 1, sizeof *table->volume_bodies);
    if (!table->volume_bodies)
        return fail_memory(error, "the energy table");
    for (size_t b = 0; b < first->body_count; b++)
        if (first->bodies[b].volume != 0)
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

static void add_numbers(struct file *file, const double *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        file_print(file, ",");
        file_number(file, values[i], DIGITS);
    }
}

taut_status energy_csv_add(struct energy_csv *table, const struct snapshot *now, taut_error *error)
{
    struct file *file = &table->file;
    const double energies[] = {now->time, now->kinetic, now->elastic, now->gravity,
                               now->gas,  now->contact, now->total};
    file_print(file, "%" PRIu64, now->step);
    add_numbers(file, energies, sizeof energies / sizeof energies[0]);
    if (table->has_work) {
        const struct snapshot_work *work = &now->work;
        const double works[] = {work->damping, work->drag,       work->friction,
                                work->keep,    work->projection, work->breaking,
                                work->wind,    work->drives,     work->inflation};
        add_numbers(file, works, sizeof works / sizeof works[0]);
    }
    for (size_t i = 0; i < table->volume_count; i++)
        add_numbers(file, &now->bodies[table->volume_bodies[i]].volume, 1);
    file_print(file, "\n");
    return file_keep(file, error);
}

taut_status energy_csv_close(struct energy_csv *table, taut_error *error)
{
    free(table->volume_bodies);
    table->volume_bodies = NULL;
    return file_close(&table->file, error);
}
