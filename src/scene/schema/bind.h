// The parts of a scene, each bound by a function of its own.
#ifndef TAUT_SCENE_BIND_H
#define TAUT_SCENE_BIND_H

#include "scene/schema/binder.h"

void bind_simulation(struct binder *binder, const struct dom_value *value);
void bind_environment(struct binder *binder, const struct dom_value *value);
void bind_materials(struct binder *binder, const struct dom_value *value);
void bind_bodies(struct binder *binder, const struct dom_value *value);

// The body of that name, or NULL; once the bodies are bound.
const struct scene_body *bound_body(const struct binder *binder, const char *name);
void bind_colliders(struct binder *binder, const struct dom_value *value);
void bind_initial(struct binder *binder, const struct dom_value *value);
void bind_output(struct binder *binder, const struct dom_value *value);

// ---- Springs (bind_springs.c)

// Binds a material: a mapping, or the name of one of `materials`. *material holds the body's common
// keys before, `has_stiffness` says whether a stiffness is among them. `what` names the spring.
bool bind_material(struct binder *binder, const struct dom_value *value, const char *what,
                   bool has_stiffness, struct material *material);

// Complains where a mapping says `law: rigid` to an integrator that knows none.
void bind_law(struct binder *binder, const struct bound *bound, const struct material *material);

// Whether the body's common keys make a spring without keys of its own.
bool bind_common_serves(const struct bound *bound, const struct scene_body *body);

// Binds `spring`, `springs` and `links` of every type but network into body->kinds.
void bind_springs(struct binder *binder, const struct bound *bound, struct scene_body *body);

// ---- Bodies

// What the tables cannot say of a shape: parallel edges, too many nodes, files that are not there
// (bind_shapes.c).
void bind_shape(struct binder *binder, const struct bound *bound, struct scene_body *body);

// `mass` and `node_mass` (bind_mass.c).
void bind_mass(struct binder *binder, const struct bound *bound, struct scene_body *body);

// The lists of a network (bind_network.c).
void bind_network(struct binder *binder, const struct bound *bound, struct scene_body *body);

// How many nodes the body will have; 0 if the files that it names must be read to know
// (bind_shapes.c).
uint64_t scene_body_nodes(const struct scene_body *body);

// The path of a file that the scene names, as it can be opened from here, malloc'ed; NULL after an
// error. The file must be there and be readable (bind_shapes.c).
char *bind_file(struct binder *binder, const struct dom_value *value, const char *key);

// `pins` and `drives` (bind_nodes.c).
void bind_pins(struct binder *binder, const struct dom_value *value, struct scene_body *body);
void bind_drives(struct binder *binder, const struct dom_value *value, struct scene_body *body);

// A node chosen alone: first, last or a number.
bool bind_node(struct binder *binder, const struct dom_value *value, const struct scene_body *body,
               struct selector *selector);

#endif
