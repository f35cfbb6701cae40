// A study as pictures and as one page that holds all of it.
#ifndef TAUT_REPORT_REPORT_H
#define TAUT_REPORT_REPORT_H

#include "output/manifest.h"
#include "report/pictures.h"

struct report_fact {
    const char *name, *value;
};

struct report {
    struct subject subject;
    const char *scene_file;             // as it was given
    const char *machine;                // a line each
    const char *version;                // of taut
    const struct report_fact *settings; // of the study
    size_t setting_count;
};

enum { REPORT_FILES_MAX = 2 * PICTURE_COUNT + 1 };

struct report_files {
    char *paths[REPORT_FILES_MAX]; // written
    int count;
    bool unconverted;               // no PNG, for want of a program that makes them
    const char *unconverted_reason; // or for this reason; NULL: there is no such program
};

// Whether a file of that name may be one of a report's.
bool report_writes(const char *name);

// Writes the pictures (NAME.svg and, where the machine has a program for it, NAME.png) and the page
// (report.html) into the manifest's folder, where there is nothing of these names; each is whole or
// not there. report_files_free after success and failure.
taut_status report_write(const struct report *report, struct manifest *manifest,
                         struct report_files *files, taut_error *error);

void report_files_free(struct report_files *files);

// How the page begins.
#define REPORT_HTML_OPENING "<!DOCTYPE html>\n<!-- taut: "

// The page itself (page.c).
void report_put_page(const struct report *report, struct file *file);

// Its tables (page_tables.c).
void put_limits_table(const struct study *study, struct file *file);
void put_drift_table(const struct study *study, struct file *file);
void put_accuracy_table(const struct study *study, struct file *file);
void put_frequency_table(const struct study *study, struct file *file);

#endif
