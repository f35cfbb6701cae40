// The results of `taut stability` and their output: a table or JSON on standard output, tables and
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
    int threads; // of the study
    char *folder;
    struct manifest manifest;
    char *files[STABILITY_FILES_MAX]; // paths of written files
    int file_count;
    int signal_number;       // the signal that ended it early; 0: none
    bool report_failed;      // everything else is written
    taut_error report_error; // the reason
};

// Creates the folder. Fails if it has other files, or if files of an earlier study have changed.
taut_status stability_check_folder(const struct stability *stability, taut_error *error);

// The same, then removes the earlier study and begins the manifest.
taut_status stability_open_folder(struct stability *stability, taut_error *error);

// Writes all tables and study.json, each completely or not at all.
taut_status stability_write_files(struct stability *stability, taut_error *error);

// Runs the tool that draws the figures and the page from study.json; either all of them appear or
// none. `stop` is called from time to time: whether to give up.
taut_status stability_write_report(struct stability *stability, bool (*stop)(void *context),
                                   void *context, taut_error *error);

void stability_print_json(const struct stability *stability);

#endif
