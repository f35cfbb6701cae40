// From the tree of a scene (document.h) to structs, as the tables of schema.h say. Every function
// that binds adds an error at the position of what is wrong and continues, so that one reading
// finds all mistakes; `bound` remembers what is sound, so that no mistake is reported twice.
#ifndef TAUT_SCENE_BINDER_H
#define TAUT_SCENE_BINDER_H

#include "scene/text/document.h"
#include "scene/schema/schema.h"

struct binder {
    taut_scene *scene;
    struct scene_document *document;
    struct diagnostics *diagnostics;
    char *folder;                     // of the scene file, ending in '/', or empty
    const struct dom_node *materials; // the mapping of named materials, or NULL
    // Materials and bodies by their names, ascending, so that a million uses of thousands of names
    // are found; owned by the binder.
    const struct dom_pair **sorted_materials;
    const struct scene_body **sorted_bodies;
    size_t sorted_body_count;
    bool names_known; // every body has a sound name
    bool gravity_known;
    bool integrator_known;
};

// A table and the struct that it fills. With `inherit` the struct already has the values for
// missing keys; without, it gets the table's defaults first.
struct schema_part {
    const struct schema_table *table;
    void *target;
    bool inherit;
};

enum { PARTS_MAX = 3 };

// A mapping that has been bound.
struct bound {
    struct dom_node *mapping; // NULL if the value was none
    mark at;
    const char *what;
    struct schema_part parts[PARTS_MAX];
    size_t part_count;
    uint64_t sound[PARTS_MAX];   // bit k: key k was given well, or has its default
    uint64_t excused[PARTS_MAX]; // bit k: an unknown key was probably meant to be key k
};

// Adds an error; returns false, so that a failing function can end in it.
bool bind_report(struct binder *binder, mark at, const char *hint, const char *format, ...)
    PRINTF_FORMAT(4, 5);
bool bind_report_memory(struct binder *binder);

// Binds all keys of a mapping that its parts know (VALUE_LATER ones are only checked for being
// there), and reports unknown and missing ones. With `partly` the parts are not all that the
// mapping may hold (its type is not known), and other keys pass. False if the value is no mapping.
bool bind_mapping(struct binder *binder, const struct dom_value *value, const char *what,
                  const struct schema_part *parts, size_t part_count, bool partly,
                  struct bound *bound);

// The pair of a key if it was given, or NULL.
const struct dom_pair *bound_find(const struct bound *bound, const char *key);

// Whether a key was not given, and no unknown key is likely to be a misspelling of it: of that the
// message about the unknown key is enough.
bool bound_lacks(const struct bound *bound, const char *key);

// Whether the field of that key can be relied on.
bool bound_sound(const struct bound *bound, const char *key);

// The key's position, or that of an override that set its value: the key itself may be the file's.
mark given_at(const struct dom_pair *pair);

// Reports an error, at that position, if `key` was given.
void bound_refuse(struct binder *binder, const struct bound *bound, const char *key,
                  const char *reason);

// Whether a value was set by an override over one that the file (or, where later overrides win, an
// earlier override) has, and so takes the place of what it excludes.
bool bind_replaces(const struct binder *binder, const struct dom_value *value,
                   const struct dom_value *other);

// Where both keys are given, and an override set one of them over the other, takes the other out of
// the scene, and its field gets the default. Pairs that were found before may be gone then.
void bound_settle(struct binder *binder, const struct bound *bound, const char *first,
                  const char *second);

// Reports an error, at the position of `key`, if it was given beside a value of the key `selector`
// that it does not belong to. Where an override set that value over `key`, `key` is taken out
// instead.
void bound_belongs_not(struct binder *binder, const struct bound *bound, const char *key,
                       const char *selector, const char *reason);

// Settles them as bound_settle does; then reports an error unless exactly one of the two keys was
// given; `optional` allows neither.
void bound_exclusive(struct binder *binder, const struct bound *bound, const char *first,
                     const char *second, bool optional);

// ---- Single values. `name` is the key (or "item 3 of 'nodes'", see item_label) for messages.

bool value_number(struct binder *binder, const struct dom_value *value, const char *name,
                  const struct value_range *range, double *number);
bool value_count(struct binder *binder, const struct dom_value *value, const char *name,
                 const struct value_range *range, uint64_t *count);
bool value_vector(struct binder *binder, const struct dom_value *value, const char *name,
                  vec3 *vector);
bool value_boolean(struct binder *binder, const struct dom_value *value, const char *name,
                   bool *boolean);
// The scalar's text, or NULL after an error.
const char *value_text(struct binder *binder, const struct dom_value *value, const char *name);
// The index in `names`, which NULL ends; -1 after an error.
int value_name(struct binder *binder, const struct dom_value *value, const char *name,
               const char *const *names);
// Reports an error unless the value is a list; *count gets its length.
bool value_list(struct binder *binder, const struct dom_value *value, const char *name,
                const char *of, size_t *count);
bool value_mapping(struct binder *binder, const struct dom_value *value, const char *name);

// Writes the table's defaults into the struct.
void bind_defaults(const struct schema_table *table, void *target);

// "item 3 of 'nodes'", for messages.
struct label {
    char text[80];
};
struct label item_label(size_t index, const char *list);

// ---- The sections of a scene, each bound by a function of its own

void bind_simulation(struct binder *binder, const struct dom_value *value);
void bind_environment(struct binder *binder, const struct dom_value *value);
void bind_materials(struct binder *binder, const struct dom_value *value);
void bind_bodies(struct binder *binder, const struct dom_value *value);
void bind_colliders(struct binder *binder, const struct dom_value *value);
void bind_initial(struct binder *binder, const struct dom_value *value);
void bind_output(struct binder *binder, const struct dom_value *value);

// ---- Bodies (bind_bodies.c)

// The body of that name, or NULL; once the bodies are bound.
const struct scene_body *bound_body(const struct binder *binder, const char *name);

// A node chosen alone: first, last or a number.
bool bind_node(struct binder *binder, const struct dom_value *value, const struct scene_body *body,
               struct selector *selector);

// The path of a file that the scene names, as it can be opened from here, malloc'ed; NULL after an
// error. The file must be there and be readable.
char *bind_file(struct binder *binder, const struct dom_value *value, const char *key);

// ---- Springs (bind_springs.c)

// Reports `law: rigid` in a mapping where the integrator does not support it.
void bind_law(struct binder *binder, const struct bound *bound, const struct material *material);

// Whether the body's common keys are enough for a spring without keys of its own.
bool bind_common_suffices(const struct bound *bound, const struct scene_body *body);

// Binds `spring`, `springs` and `links` of every type but network into body->kinds.
void bind_springs(struct binder *binder, const struct bound *bound, struct scene_body *body);

// The lists of a network.
void bind_network(struct binder *binder, const struct bound *bound, struct scene_body *body);

#endif
