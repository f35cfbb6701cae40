// What `taut stability` measured, and where it goes: a table or JSON on standard output, tables and
// study.json in a folder, and the report that a Python tool draws from study.json.
#ifndef TAUT_CLI_STABILITY_H
#define TAUT_CLI_STABILITY_H

#include "cli/session.h"
#include "output/manifest.h"

enum { STABILITY_FILES_MAX = 32 };

struct stability {
    const struct options *options;
    const taut_scene *scene;
    struct study *study;
    int threads; // that the study ran on
    char *folder;
    struct manifest manifest;
    char *files[STABILITY_FILES_MAX]; // written
    int file_count;
    int signal_number;       // that ended it early; 0: none
    bool report_failed;      // all else is written
    taut_error report_error; // why
};

// Creates the folder, and fails where files of others are in the way, or where those of an earlier
// study have changed.
taut_status stability_check_folder(const struct stability *stability, taut_error *error);

// The same, then removes the earlier study and begins the manifest.
taut_status stability_open_folder(struct stability *stability, taut_error *error);

// Writes all tables and study.json; each is whole or not there.
taut_status stability_write_files(struct stability *stability, taut_error *error);

// Has the figures and the page drawn from study.json; all of them appear, or none. `stop` is asked
// now and then whether to give it up.
taut_status stability_write_report(struct stability *stability, bool (*stop)(void *context),
                                   void *context, taut_error *error);

void stability_print_json(const struct stability *stability);

#endif
