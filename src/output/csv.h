// The tables of a run: energy.csv, probes.csv and the final state. The caller determines when a row
// is due.
#ifndef TAUT_OUTPUT_CSV_H
#define TAUT_OUTPUT_CSV_H

#include "output/file.h"
#include "state/frame.h"

// ---- energy.csv: one row per frame with time, energies, work and volumes.

// The first bytes of every energy.csv that taut writes.
#define ENERGY_CSV_HEADER "step,time,kinetic,elastic,gravity,gas,contact,total"

struct energy_csv {
    struct file file;
    bool has_work, has_contact;
    size_t *volume_bodies; // bodies whose volume has a column
    size_t volume_count;
};

// Writes the header row. `first` determines the columns: work columns if it has work, and a volume
// column for every body that has a volume.
taut_status energy_csv_open(struct energy_csv *table, const char *path, const struct frame *first,
                            taut_error *error);

// Continues the table after its first `length` bytes; the columns are those of the volumes of
// `bodies`, as the table began with.
taut_status energy_csv_resume(struct energy_csv *table, const char *path, uint64_t length,
                              const struct frame *present, const uint64_t *bodies, size_t count,
                              taut_error *error);

// Adds a row and writes it. A row that cannot be written entirely is removed.
taut_status energy_csv_add(struct energy_csv *table, const struct frame *now, taut_error *error);

taut_status energy_csv_close(struct energy_csv *table, taut_error *error);

// ---- probes.csv: positions and velocities of selected nodes, every given number of steps.

// The columns common to probes.csv and the final state.
#define NODE_COLUMNS "body,node,x,y,z,vx,vy,vz"

// The first bytes of every probes.csv that taut writes.
#define PROBES_CSV_HEADER "step,time," NODE_COLUMNS

struct recording_probe {
    size_t body;
    uint64_t node;
    uint64_t every_steps;
};

struct probes_csv {
    struct file file;
    struct recording_probe *probes;
    size_t probe_count;
};

// Writes the header row; the list of probes is copied.
taut_status probes_csv_open(struct probes_csv *table, const char *path,
                            const struct recording_probe *probes, size_t probe_count,
                            taut_error *error);

// Continues the table after its first `length` bytes.
taut_status probes_csv_resume(struct probes_csv *table, const char *path,
                              const struct recording_probe *probes, size_t probe_count,
                              uint64_t length, taut_error *error);

// Whether any probe is due at this step; all are due at step 0.
bool probes_csv_wants(const struct probes_csv *table, uint64_t step);

// Adds a row for each probe that is due. Rows are buffered, since there may be one every step: call
// probes_csv_flush from time to time.
taut_status probes_csv_add(struct probes_csv *table, const struct frame *now, taut_error *error);

// Writes all buffered rows; rows that cannot be written entirely are removed.
taut_status probes_csv_flush(struct probes_csv *table, taut_error *error);

taut_status probes_csv_close(struct probes_csv *table, taut_error *error);

// ---- The final state.

// --state: body,node,x,y,z,vx,vy,vz with %.9g (single) or %.17g (double), written completely or not
// at all.
taut_status state_csv_write(const char *path, const struct frame *now, taut_error *error);

#endif
