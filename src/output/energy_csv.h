// energy.csv: a row a frame of time, energies, work done and volumes.
#ifndef TAUT_OUTPUT_ENERGY_CSV_H
#define TAUT_OUTPUT_ENERGY_CSV_H

#include "output/file.h"
#include "output/snapshot.h"

// How every energy.csv of ours begins.
#define ENERGY_CSV_OPENING "step,time,kinetic,elastic,gravity,gas,contact,total"

struct energy_csv {
    struct file file;
    bool has_work;
    size_t *volume_bodies; // those whose volume has a column
    size_t volume_count;
};

// Writes the header row. `first` settles the columns: the work columns are there if it has work,
// and a volume column for every body that has a volume.
taut_status energy_csv_open(struct energy_csv *table, const char *path,
                            const struct snapshot *first, taut_error *error);

// Adds a row and hands it to the system; what cannot be written whole leaves no trace.
taut_status energy_csv_add(struct energy_csv *table, const struct snapshot *now, taut_error *error);

taut_status energy_csv_close(struct energy_csv *table, taut_error *error);

#endif
