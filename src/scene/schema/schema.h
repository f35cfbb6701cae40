// The keys of a scene with their types, ranges, defaults and meanings, as tables. Both the binder
// (binder.h) and the tables of docs/scene.md (schema_docs.c) follow them, so that the two cannot
// differ.
#ifndef TAUT_SCENE_SCHEMA_H
#define TAUT_SCENE_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "scene/scene.h"

enum value_type {
    VALUE_LATER,     // bound by separate code after the table; `shown` describes its values
    VALUE_NUMBER,    // double
    VALUE_COUNT,     // uint64_t
    VALUE_SMALL,     // int
    VALUE_BOOLEAN,   // bool
    VALUE_TEXT,      // char *, owned by the scene
    VALUE_NAME,      // an enum: the index in `names`
    VALUE_VECTOR,    // vec3
    VALUE_DIRECTION, // vec3, normalised to unit length; never zero
    VALUE_COUNTS_2,  // uint64_t[2]
    VALUE_COUNTS_3,  // uint64_t[3]
    VALUE_PAIR,      // double[2]; one number counts for both
};

// For a number, or for each number of a list. A zeroed struct is no limit.
struct value_range {
    bool limited;
    bool open; // min itself is excluded
    double min, max;
};

struct schema_key {
    const char *name;
    enum value_type type;
    bool required;
    size_t offset;       // of the field in the struct that the table fills
    const char *initial; // the default as a scene would write it; NULL: none, or described by
                         // `absent`
    bool in_double;      // the run computes with it in double, whatever its precision
    struct value_range range;
    const char *const *names; // of the value: NULL-terminated, in the order of the enum
    const char *unit;
    double kes;          // of a number: the unit of Kawabata's evaluation system in `unit`; with it
                         // the number may be given as {kes: NUMBER}. 0: it has none
    const char *shown;   // description of the value, for the documentation
    const char *absent;  // effect of a missing key, for the documentation
    const char *meaning; // one sentence, for the documentation
};

struct schema_table {
    const char *name; // of the table in docs/scene.md
    const char *what; // "a rope", for messages: unknown key 'x' in WHAT
    const struct schema_key *keys;
    size_t count; // at most 64
};

#define RANGE_POSITIVE                                                                             \
    {                                                                                              \
        .limited = true, .open = true, .min = 0, .max = INFINITY                                   \
    }
#define RANGE_NOT_NEGATIVE                                                                         \
    {                                                                                              \
        .limited = true, .min = 0, .max = INFINITY                                                 \
    }
#define RANGE_ABOVE(bound)                                                                         \
    {                                                                                              \
        .limited = true, .open = true, .min = (bound), .max = INFINITY                             \
    }
#define RANGE_FRACTION                                                                             \
    {                                                                                              \
        .limited = true, .open = true, .min = 0, .max = 1                                          \
    }
#define RANGE_UP_TO(a, b)                                                                          \
    {                                                                                              \
        .limited = true, .min = (a), .max = (b)                                                    \
    }
#define FRICTION_MAX 1e6          // of coefficients: more is no more than holding
#define NODES_MAX    4294967294.0 // 2^32 - 2: node numbers have 32 bits
#define STEPS_MAX    1e15

// Why mappings of a table do not have a key, though others of its kind do, and what to write
// instead, as the end of a message; NULL: nothing is known.
const char *schema_instead(const struct schema_table *table, const char *key);

#define SCHEMA_TABLE(variable, title, noun, list)                                                  \
    const struct schema_table variable = {title, noun, list, sizeof list / sizeof list[0]}

extern const struct schema_table schema_scene;
extern const struct schema_table schema_simulation;
extern const struct schema_table schema_environment;
extern const struct schema_table schema_implicit;
extern const struct schema_table schema_wind;
extern const struct schema_table schema_gust;
extern const struct schema_table schema_output;
extern const struct schema_table schema_vtp;        // struct scene_output
extern const struct schema_table schema_checkpoint; // struct scene_output
extern const struct schema_table schema_probe;
extern const struct schema_table schema_material;                // struct material
extern const struct schema_table schema_body;                    // struct scene_body, every type
extern const struct schema_table schema_shapes[BODY_TYPE_COUNT]; // struct scene_body, one type
extern const struct schema_table schema_elastic;                 // struct scene_elastic
extern const struct schema_table schema_fabric;                  // struct scene_fabric
extern const struct schema_table schema_rayleigh;                // struct scene_body
extern const struct schema_table schema_pressure;
extern const struct schema_table schema_drive;
extern const struct schema_table schema_contact;
extern const struct schema_table schema_contact_pair;
extern const struct schema_table schema_body_contact;
extern const struct schema_table schema_collider;        // struct scene_collider, every type
extern const struct schema_table schema_response;        // struct scene_collider, all but meshes
extern const struct schema_table schema_friction;        // struct scene_friction
extern const struct schema_table schema_collider_motion; // struct scene_collider_motion
enum { COLLIDER_TYPE_COUNT = 4 };
extern const struct schema_table schema_collider_shapes[COLLIDER_TYPE_COUNT];

// NULL-terminated lists of names, in the order of their enums.
extern const char *const body_type_names[];
extern const char *const collider_type_names[];
extern const char *const integrator_names[];
extern const char *const precision_names[];

// A range in words: "> 0", "above 0 and at most 1", "from 2 to 8". `buffer` has RANGE_TEXT bytes.
enum { RANGE_TEXT = 64 };
const char *range_text(const struct value_range *range, char buffer[RANGE_TEXT]);

// Every table of keys; NULL after the last one.
const struct schema_table *schema_table_at(size_t index);

// The names of the tables in docs/scene.md; NULL after the last one.
const char *schema_table_name(size_t index);

// Writes the table with this name as Markdown; false if there is none or a write failed.
bool schema_markdown(FILE *out, const char *name);

#endif
