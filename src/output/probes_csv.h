// probes.csv: where chosen nodes are and how fast they move, every so many steps.
#ifndef TAUT_OUTPUT_PROBES_CSV_H
#define TAUT_OUTPUT_PROBES_CSV_H

#include "output/file.h"
#include "output/node_columns.h"
#include "output/recording.h"

// How every probes.csv of ours begins.
#define PROBES_CSV_OPENING "step,time," NODE_COLUMNS

struct probes_csv {
    struct file file;
    struct recording_probe *probes;
    size_t probe_count;
};

// Writes the header row; the list of probes is copied.
taut_status probes_csv_open(struct probes_csv *table, const char *path,
                            const struct recording_probe *probes, size_t probe_count,
                            taut_error *error);

// True if some probe is due at this step; step 0 is due for all.
bool probes_csv_wants(const struct probes_csv *table, uint64_t step);

// Adds a row for each probe that is due. Rows wait in memory, since there may be one every step:
// call probes_csv_keep now and then.
taut_status probes_csv_add(struct probes_csv *table, const struct snapshot *now, taut_error *error);

// Hands all waiting rows to the system, whole; cuts off those that do not fit.
taut_status probes_csv_keep(struct probes_csv *table, taut_error *error);

taut_status probes_csv_close(struct probes_csv *table, taut_error *error);

#endif
