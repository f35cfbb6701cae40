#include "output/probes_csv.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "output/node_columns.h"

// Rows are handed over when this many bytes wait, well before the buffer would cut one in two.
enum { WAITING_MAX = 16 * 1024 };

taut_status probes_csv_open(struct probes_csv *table, const char *path,
                            const struct recording_probe *probes, size_t probe_count,
                            taut_error *error)
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
    taut_status status = file_grow(&table->file, path, error);
    if (status == TAUT_OK) {
        file_print(&table->file, PROBES_CSV_OPENING "\n");
        status = file_keep(&table->file, error);
    }
    if (status != TAUT_OK) {
        file_abandon(&table->file);
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

taut_status probes_csv_add(struct probes_csv *table, const struct snapshot *now, taut_error *error)
{
    struct file *file = &table->file;
    for (size_t i = 0; i < table->probe_count; i++) {
        const struct recording_probe *probe = &table->probes[i];
        if (now->step % probe->every_steps != 0)
            continue;
        assert(probe->body < now->body_count);
        const struct snapshot_body *body = &now->bodies[probe->body];
        assert(probe->node < body->node_count);
        file_print(file, "%" PRIu64 ",", now->step);
        file_number(file, now->time, 17);
        file_print(file, ",");
        node_columns_put(file, now, body, probe->node);
        file_print(file, "\n");
        if (file->failure || file_length(file) - file->kept > WAITING_MAX) {
            taut_status status = file_keep(file, error);
            if (status != TAUT_OK)
                return status;
        }
    }
    return TAUT_OK;
}

taut_status probes_csv_keep(struct probes_csv *table, taut_error *error)
{
    return table->file.open ? file_keep(&table->file, error) : TAUT_OK;
}

taut_status probes_csv_close(struct probes_csv *table, taut_error *error)
{
    free(table->probes);
    table->probes = NULL;
    table->probe_count = 0;
    return file_close(&table->file, error);
}
