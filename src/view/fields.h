// Sliders, boxes and lists for keys of the scene, made from the tables of the scene reader
// (scene/schema/schema.h): each shows its value, changes it through the player, and explains it in
// a tooltip. panels_physics.cc decides which keys a panel shows.
#ifndef TAUT_VIEW_FIELDS_H
#define TAUT_VIEW_FIELDS_H

#include "view/panels.h"

extern "C" {
#include "scene/schema/schema.h"
}

enum field_flags {
    FIELD_ON_RELEASE = 1, // sent once, on release: for values that are slow to change
    FIELD_LOGARITHMIC = 2,
    FIELD_SENDS_NOTHING = 4 // the caller sends the value
};

enum { FIELD_PATH_SIZE = 256 };

// Formats a path like printf; empty if it does not fit, and then no widget is drawn.
void field_path(char path[FIELD_PATH_SIZE], const char *format, ...) PRINTF_FORMAT(2, 3);

struct field {
    const char *path = nullptr;    // as --set takes it; it also names the widget
    const char *label = nullptr;   // NULL: the last part of the path
    const char *meaning = nullptr; // the tooltip; may be NULL
    const char *unit = nullptr;    // may be NULL
    double least = 0, most = 0;    // the range of values; both 0: unlimited
    int flags = 0;
};

// One to three numbers; true if they were changed, and then `values` has the new ones. They are
// sent to the player as VALUE or [VALUE, ...], unless FIELD_SENDS_NOTHING is set.
bool field_numbers(struct view *view, const struct field &field, double *values, int count);

// A choice from a list of names that ends with NULL, and a check box; both are sent at once.
bool field_name(struct view *view, const struct field &field, const char *const *names, int *index);
bool field_boolean(struct view *view, const struct field &field, bool *on);

// Draws every key of a table that is a number, a pair, a count, a name, a boolean or a vector.
// `record` is the struct that the table describes, `prefix` the path before its keys. Keys in
// `left_out` (ended by NULL; may be NULL itself) are skipped.
void fields_of_table(struct view *view, const struct schema_table *table, const void *record,
                     const char *prefix, const char *const *left_out, int flags);

// The key of a table with that name, or NULL.
const struct schema_key *fields_key(const struct schema_table *table, const char *name);

// Formats the value of a path like printf, and sends it to the player.
void field_send(struct view *view, const char *path, const char *format, ...) PRINTF_FORMAT(3, 4);

#endif
