// From the tree of a scene (document.h) to structs, according to the tables of schema.h. Every
// function that binds adds an error at its position and continues, so that one reading finds all
// errors; `bound` records which values are valid, so that no error is reported twice.
#ifndef TAUT_SCENE_BINDER_H
#define TAUT_SCENE_BINDER_H

#include "scene/text/document.h"
#include "scene/schema/schema.h"

struct binder {
    taut_scene *scene;
    struct scene_document *document;
    struct diagnostics *diagnostics;
    const struct scene_override *overrides; // scene/reader.h
    size_t override_count;
    char *folder;                     // of the scene file: ends in '/' or is empty
    const struct dom_node *materials; // the mapping of named materials, or NULL
    // Materials and bodies sorted by name, for fast lookup in scenes with very many of them; owned
    // by the binder.
    const struct dom_pair **sorted_materials;
    const struct scene_body **sorted_bodies;
    size_t sorted_body_count;
    bool names_known; // every body has a valid name
    bool precision_known;
    bool gravity_known;
    bool integrator_known;
};

// A table and the struct that it fills. With `inherit` the struct already has the values for
// missing keys; otherwise it is first filled with the table's defaults.
struct schema_part {
    const struct schema_table *table;
    void *target;
    bool inherit;
};

enum { PARTS_MAX = 3 };

// A mapping that has been bound.
struct bound {
    struct dom_node *mapping; // NULL if the value was not a mapping
    mark at;
    const char *what;
    struct schema_part parts[PARTS_MAX];
    size_t part_count;
    uint64_t valid[PARTS_MAX];    // bit k: key k has a valid value or its default
    uint64_t misspelt[PARTS_MAX]; // bit k: an unknown key was probably meant to be key k
};

// Adds an error; returns false, for the caller to return.
bool bind_report(struct binder *binder, mark at, const char *hint, const char *format, ...)
    PRINTF_FORMAT(4, 5);
bool bind_report_memory(struct binder *binder);

// Binds all keys of a mapping that its parts have (VALUE_LATER keys are only checked for presence),
// and reports unknown and missing ones. With `partly` the mapping may have other keys, because its
// type is not known. False if the value is not a mapping.
bool bind_mapping(struct binder *binder, const struct dom_value *value, const char *what,
                  const struct schema_part *parts, size_t part_count, bool partly,
                  struct bound *bound);

// The pair of a key if it was given, or NULL.
const struct dom_pair *bound_find(const struct bound *bound, const char *key);

// Whether a key was not given, and no unknown key is probably a misspelling of it; otherwise the
// message about the unknown key is sufficient.
bool bound_lacks(const struct bound *bound, const char *key);

// Whether the field of that key is valid.
bool bound_is_valid(const struct bound *bound, const char *key);

// The position of the key, or of the override that set its value (the key itself may be in the
// file).
mark given_at(const struct dom_pair *pair);

// Reports an error at that position if `key` was given.
void bound_refuse(struct binder *binder, const struct bound *bound, const char *key,
                  const char *reason);

// Whether a value was set by an override and the other was not (or by an earlier override, if later
// overrides win), so that it replaces an excluded key.
bool bind_replaces(const struct binder *binder, const struct dom_value *value,
                   const struct dom_value *other);

// If both keys are given and an override replaces one of them, removes the other from the scene and
// sets its field to the default. Pairs found earlier may then be invalid.
void bound_resolve(struct binder *binder, const struct bound *bound, const char *first,
                   const char *second);

// Reports an error at the position of `key` if it was given with a value of the key `selector` to
// which it does not belong. If an override set that value and so replaces `key`, removes `key`
// instead.
void bound_refuse_unless(struct binder *binder, const struct bound *bound, const char *key,
                         const char *selector, const char *reason);

// Calls bound_resolve; then reports an error unless exactly one of the two keys was given.
// `optional` allows neither.
void bound_exclusive(struct binder *binder, const struct bound *bound, const char *first,
                     const char *second, bool optional);

// ---- Single values. `name` is the key (or "item 3 of 'nodes'", see item_label), for messages.

// A number that the run's precision must hold (precision_lacks); with a range, it is a size.
bool value_number(struct binder *binder, const struct dom_value *value, const char *name,
                  const struct value_range *range, double *number);
// The same for one that stays in double.
bool value_double(struct binder *binder, const struct dom_value *value, const char *name,
                  const struct value_range *range, double *number);
bool value_count(struct binder *binder, const struct dom_value *value, const char *name,
                 const struct value_range *range, uint64_t *count);
bool value_vector(struct binder *binder, const struct dom_value *value, const char *name,
                  vec3 *vector);
bool value_vector_double(struct binder *binder, const struct dom_value *value, const char *name,
                         vec3 *vector);
bool value_boolean(struct binder *binder, const struct dom_value *value, const char *name,
                   const char *wanted, bool *boolean);
// The scalar's text, or NULL after an error.
const char *value_text(struct binder *binder, const struct dom_value *value, const char *name);
// The index in `names`, which is NULL-terminated; -1 after an error.
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

// Names in words: "a, b or c".
struct name_list {
    char text[400];
};

struct name_list list_names(const char *const *names, size_t count);

// ---- The sections of a scene

void bind_simulation(struct binder *binder, const struct dom_value *value);
void bind_environment(struct binder *binder, const struct dom_value *value);
void bind_materials(struct binder *binder, const struct dom_value *value);
void bind_bodies(struct binder *binder, const struct dom_value *value);
void bind_colliders(struct binder *binder, const struct dom_value *value);
void bind_friction_slots(taut_scene *scene); // after colliders, bodies and contact
void bind_contact(struct binder *binder, const struct dom_value *value);

// Whether bodies of the type have surfaces, which may touch (contact/surfaces.h).
static inline bool body_type_has_surface(enum body_type type)
{
    return type != BODY_NETWORK && type != BODY_OSCILLATOR && type != BODY_PENDULUM;
}

// 'friction_coefficient': a number, or a mapping of both coefficients; false if it is not valid.
// That of surfaces, if it is given.
bool bind_coefficients(struct binder *binder, const struct dom_value *value,
                       struct scene_friction *friction);
void bind_contact_friction(struct binder *binder, const struct bound *bound,
                           struct scene_friction *friction);
void bind_initial(struct binder *binder, const struct dom_value *value);
void bind_output(struct binder *binder, const struct dom_value *value);

// ---- Bodies (bind_bodies.c)

// The body with this name, or NULL; valid after the bodies have been bound.
const struct scene_body *bound_body(const struct binder *binder, const char *name);

// Binds the file of a mesh, of a body or a collider.
void bind_mesh(struct binder *binder, const struct bound *bound, struct scene_mesh *mesh);

// Binds a selector of a single node: first, last or a number.
bool bind_node(struct binder *binder, const struct dom_value *value, const struct scene_body *body,
               struct selector *selector);

// The path of a file that the scene names, relative to the working directory or absolute,
// malloc'ed; NULL after an error. The file must exist and be readable.
char *bind_file(struct binder *binder, const struct dom_value *value, const char *key);

// ---- Springs (bind_springs.c)

// Reports `law: rigid` in a mapping if the integrator does not support it.
void bind_law(struct binder *binder, const struct bound *bound, const struct material *material);

// Whether the body's common keys suffice for a spring without its own keys.
bool bind_common_suffices(const struct bound *bound, const struct scene_body *body);

// Reports a limit among the body's common keys that is relative to a rest length of 0; false then.
bool bind_common_limits(struct binder *binder, const struct bound *bound,
                        const struct scene_body *body);

// Binds `spring`, `springs` and `links` of every type except network into body->kinds.
void bind_springs(struct binder *binder, const struct bound *bound, struct scene_body *body);

// ---- Materials in SI units (bind_elastic.c)

// Binds `elastic` and `damping_ratio`: the masses and spring constants of a body that has
// `elastic`. False if the body has none, so that masses and springs are bound from their own keys.
bool bind_elastic(struct binder *binder, const struct bound *bound, struct scene_body *body);

// ---- Networks (bind_springs.c)

// Binds the lists of a network.
void bind_network(struct binder *binder, const struct bound *bound, struct scene_body *body);

#endif
