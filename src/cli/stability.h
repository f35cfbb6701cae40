// What `taut stability` measured: printed as a table or as JSON, written as CSV, as pictures and as
// a page.
#ifndef TAUT_CLI_STABILITY_H
#define TAUT_CLI_STABILITY_H

#include "cli/session.h"
#include "output/manifest.h"

enum { STABILITY_FILES_MAX = 32 };

struct stability {
    const struct options *options;
    const taut_scene *scene;
    struct study *study;
    char *folder;
    struct manifest manifest;
    char *files[STABILITY_FILES_MAX]; // written
    int file_count;
    int signal_number; // that ended it early; 0: none
};

// Creates the folder, and fails where files of others are in the way, or where those of an earlier
// study have changed.
taut_status stability_check_folder(const struct stability *stability, taut_error *error);

// The same, then removes the earlier study and begins the manifest.
taut_status stability_open_folder(struct stability *stability, taut_error *error);

// Writes all tables; each is whole or not there.
taut_status stability_write_files(struct stability *stability, taut_error *error);

// Writes the pictures and the page; says so where there are no PNGs. `threads` is what the study
// ran on.
taut_status stability_write_report(struct stability *stability, int threads, taut_error *error);

void stability_print_table(const struct stability *stability);
void stability_print_json(const struct stability *stability);

#endif
