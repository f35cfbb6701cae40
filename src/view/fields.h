// Sliders, boxes and lists for keys of the scene, made from the tables that the reader of scenes
// works with (scene/schema/schema.h): each shows its value, changes it through the player, and
// explains it in a tooltip. Which keys a panel shows is decided by panels_physics.cc.
#ifndef TAUT_VIEW_FIELDS_H
#define TAUT_VIEW_FIELDS_H

#include "view/panels.h"

extern "C" {
#include "scene/schema/schema.h"
}

enum field_flags {
    FIELD_ON_RELEASE = 1, // changed once, when it is released: for values that are slow to change
    FIELD_LOGARITHMIC = 2,
    FIELD_SENDS_NOTHING = 4 // the caller sends the value
};

enum { FIELD_PATH_SIZE = 256 };

// printf into a path; empty where it does not fit, and then no widget is drawn.
void field_path(char path[FIELD_PATH_SIZE], const char *format, ...) PRINTF_FORMAT(2, 3);

struct field {
    const char *path = nullptr;    // as --set has it; it names the widget too
    const char *label = nullptr;   // NULL: the last part of the path
    const char *meaning = nullptr; // the tooltip; may be NULL
    const char *unit = nullptr;    // may be NULL
    double least = 0, most = 0;    // the range of values; both 0: unlimited
    int flags = 0;
};

// One to three numbers; true when they were changed, `values` then has the new ones. Without
// FIELD_SENDS_NOTHING they are sent to the player as VALUE or [VALUE, ...].
bool field_numbers(struct view *view, const struct field &field, double *values, int count);

// A choice among names that end with NULL, and yes or no; both act at once.
bool field_name(struct view *view, const struct field &field, const char *const *names, int *index);
bool field_boolean(struct view *view, const struct field &field, bool *on);

// Every key of a table that is a number, a count, a name, yes or no, or a vector. `record` is the
// struct that the table describes, `prefix` the path before its keys. Keys among `left_out` (ended
// by NULL; may be NULL itself) are left out.
void fields_of_table(struct view *view, const struct schema_table *table, const void *record,
                     const char *prefix, const char *const *left_out, int flags);

// Key of a table by its name, or NULL.
const struct schema_key *fields_key(const struct schema_table *table, const char *name);

// printf into the value of a path, and on to the player.
void field_send(struct view *view, const char *path, const char *format, ...) PRINTF_FORMAT(3, 4);

#endif
