// Planes, spheres and rooms with `response: contact`: the barrier of contact between surfaces
// (distance.h), with distances from the shape itself. Planes and rooms act on nodes, since the part
// of a triangle or an edge that is nearest to a plane is always a node; spheres act on whole
// triangles, and on edges of surfaces without triangles, and on the nodes of bodies without a
// surface. For the files of this folder; others use surface_contact.h. Functions with a worker
// argument are called by all workers together. Numeric.
#ifndef TAUT_CONTACT_SHAPE_CONTACT_H
#define TAUT_CONTACT_SHAPE_CONTACT_H

#include "contact/contact.h"
#include "contact/friction.h"
#include "contact/shapes.h"
#include "contact/surface_lists.h"

struct row_list;

// At stages of implicit steps chunks and blocks are shared out among so many lists of rows.
enum { SHAPE_LISTS = 64 };

// Nodes of one body, of whose box shapes may be far.
struct shape_chunk {
    size_t body;
    struct range nodes;
};

// A block of surfaces that a sphere may touch in the present evaluation, with the forces on its
// nodes.
struct shape_slot {
    uint32_t sphere, block;
    double energy; // J
    double forces[SURFACE_NODES][3];
};

// A contact of a node with a shape.
struct shape_touch {
    size_t collider, body, node;
    int wall;
    vec3 normal, surface_velocity;
    vec3 point; // of the node, from the centre of a sphere
    double normal_force;
    bool of_node; // the node itself touches, at that distance, m; otherwise parts around it
    double distance;
};

typedef void touch_visitor(struct system *system, const struct shape_touch *touch, void *context);

// Its friction.
struct shape_friction {
    double stiffness, damping; // N/m, N s/m
    struct scene_friction law;
    size_t at; // in the arrays of the memory
    uint8_t flags;
    vec3 stretch, sliding; // m, m/s
    double approach;       // m/s, below 0 if the node approaches
};

// The same in the last stage of an implicit step (shape_friction_stage.c): the force of spring and
// damper, N, and its stiffness and damping.
struct shape_assumed {
    size_t at;
    uint32_t node, collider;
    vec3 normal, force;
    double stiffness, damping, coefficient;
};

struct shape_assumed_list {
    struct shape_assumed *items;
    size_t count, capacity;
};

struct shape_contact {
    size_t count, sphere_count;
    size_t *colliders, *spheres; // their numbers; the spheres among them
    double half_thickness;       // m
    struct shape_chunk *chunks;
    size_t chunk_count;
    size_t *first_chunk; // by body, and the end

    // By body: whether it has no surface, so that spheres act on its nodes; an upper bound of the
    // contacts at a node, and of the springs of friction; the least mass of a free node, kg; the
    // coefficients of its own.
    bool *bare;
    double *weights, *springs, *least_mass;
    struct scene_friction *own;
    bool has_friction;

    // At the start of the step.
    double start_time;  // s
    real *start[3];     // by axis and node, as in the state
    real *start_low[3]; // in precision mixed
    struct block_box *start_boxes;

    // In the present evaluation.
    double time; // s
    bool pushes;
    struct block_box *boxes; // by chunk
    uint8_t *near;           // by chunk: whether one of its nodes may touch
    uint8_t *body_near;      // by sphere and body: whether a block of it may touch
    uint8_t *block_near;     // by sphere and block: whether it has a slot
    uint32_t *slot_of;       // by sphere and block: the number of the slot, from 1; 0: none
    struct shape_slot *slots;
    size_t slot_count, slot_capacity;
    uint8_t *receives; // by block: whether slots have forces for nodes of its own
    double (*sums)[2]; // scratch, by chunk, then by block

    // In the step that has just been made.
    double end_time, fraction; // s; of it, that may be left (shape_limit.c)
    atomic_bool passes;
    uint8_t *chunk_passes, *node_passes; // planes, walls, and spheres of bodies without a surface
    uint64_t *part_passes;               // by sphere and block: bits of triangles or edges
    struct friction_step step;

    // Implicit steps with friction, by list; and changes (friction.h). NULL: others.
    struct shape_assumed_list *assumed;
    double (*changes)[FRICTION_SUMS];
};

// The barrier between a body and any of the shapes.
static inline struct barrier shape_barrier(const struct system *system, size_t body)
{
    const struct surface_contact *it = system->surface_contact;
    const double thickness = it->half_thickness[body] + it->shapes->half_thickness;
    return (struct barrier){(real)(1.5 * thickness), (real)(0.5 * thickness),
                            (real)stiffness_of(system, body)};
}

// m, how far a shape keeps a body away.
static inline double shape_thickness(const struct system *system, size_t body)
{
    const struct surface_contact *it = system->surface_contact;
    return it->half_thickness[body] + it->shapes->half_thickness;
}

// The point of a triangle, or of an edge, that is nearest to a point: the weights of its nodes.
// Returns the offset of it from the point.
vec3 REAL_NAME(nearest_of_triangle)(vec3 point, const vec3 p[3], double weights[3]);
vec3 REAL_NAME(nearest_of_edge)(vec3 point, const vec3 ends[2], double weights[2]);

// The position of a node at the start of the step.
static inline vec3 shape_start(const struct system *system, size_t node)
{
    const struct shape_contact *shapes = system->surface_contact->shapes;
    const struct state *s = system->state;
    const double x = (double)shapes->start[0][node], y = (double)shapes->start[1][node],
                 z = (double)shapes->start[2][node];
    if (!state_is_mixed(s))
        return vec3_make(x, y, z);
    return vec3_make(s->origin.x + (x + (double)shapes->start_low[0][node]),
                     s->origin.y + (y + (double)shapes->start_low[1][node]),
                     s->origin.z + (z + (double)shapes->start_low[2][node]));
}

// The parts of a block on which spheres act: its triangles, or its edges if it has none.
static inline size_t block_parts(const struct surface_block *block)
{
    return block->triangles > 0 ? block->triangles : block->edges;
}

// The nodes of a part, by number in its block; returns how many.
static inline int part_nodes(const struct surfaces *surfaces, const struct surface_block *block,
                             size_t part, int nodes[3])
{
    const int count = block->triangles > 0 ? 3 : 2;
    for (int i = 0; i < count; i++)
        nodes[i] = count == 3 ? corners_of(surfaces, block)->triangles[i][part]
                              : corners_of(surfaces, block)->edges[i][part];
    return count;
}

static inline vec3 nearest_of_part(vec3 point, const vec3 at[3], int count, double weights[3])
{
    return count == 3 ? REAL_NAME(nearest_of_triangle)(point, at, weights)
                      : REAL_NAME(nearest_of_edge)(point, at, weights);
}

static inline struct block_box no_box(void)
{
    return (struct block_box){{HUGE_VAL, HUGE_VAL, HUGE_VAL}, {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL}, 0};
}

static inline void box_include(struct block_box *box, vec3 p)
{
    const double at[3] = {p.x, p.y, p.z};
    for (int axis = 0; axis < 3; axis++) {
        box->least[axis] = at[axis] < box->least[axis] ? at[axis] : box->least[axis];
        box->most[axis] = max_of(at[axis], box->most[axis]);
        box->reach = max_of(box->reach, fabs(at[axis]));
    }
}

// Makes system->surface_contact->shapes if the scene has such colliders; the rest of the contact
// has been made.
taut_status REAL_NAME(shape_contact_make)(struct system *system, const taut_scene *scene,
                                          taut_error *error);
void REAL_NAME(shape_contact_free)(struct system *system);
uint64_t REAL_NAME(shape_contact_bytes)(const struct system *system);

// Masses may have changed.
void REAL_NAME(shape_contact_masses)(struct system *system);

// Finds what touches at a time, and the forces of spheres on surfaces. Begins and ends with a
// barrier. at_start: a step begins here.
void REAL_NAME(shape_contact_find)(struct system *system, double time, bool at_start,
                                   const struct worker *worker);

// Adds the forces to nodes by chunks, and to those that a block owns. The first ends with a
// barrier.
void REAL_NAME(shape_contact_add_chunks)(struct system *system, const struct worker *worker);
void REAL_NAME(shape_contact_add_block)(struct system *system, size_t block);

// Visits the contacts of the last evaluation: of the nodes of chunks, and of those that blocks own.
void REAL_NAME(shape_touches_visit)(struct system *system, struct range chunks, struct range blocks,
                                    touch_visitor *visit, void *context);
// The coefficients between a collider and a body; 0 without friction.
struct scene_friction REAL_NAME(shape_friction_law)(const struct system *system, size_t collider,
                                                    size_t body);
struct shape_friction REAL_NAME(shape_friction_of)(const struct system *system,
                                                   const struct shape_touch *touch);
// Its force along the surface on the node, N; 0 without friction. And of that on a corner of a
// triangle the part that is due to a sphere pressing on it with that force, N, by its number among
// those that touch surfaces.
vec3 REAL_NAME(shape_friction_force)(const struct system *system, const struct shape_touch *touch);
vec3 REAL_NAME(shape_corner_friction)(const struct system *system, size_t sphere, size_t node,
                                      double force);

// shape_tangent.c. At a stage of an implicit step instead of that: what its rows need; and the rows
// of one of the lists, which any worker finds, false without memory. The first begins and ends with
// a barrier.
void REAL_NAME(shape_stage_begin)(struct system *system, double time, const struct worker *worker);
bool REAL_NAME(shape_rows_find)(struct system *system, size_t part, struct row_list *rows);

// shape_friction_stage.c: the rows of friction of one of the lists, false without memory; and what
// friction_predict and friction_revise do for shapes (tangent.h).
bool REAL_NAME(shape_friction_rows)(struct system *system, size_t part, struct range chunks,
                                    struct range blocks, struct row_list *rows);
void REAL_NAME(shape_friction_predict)(struct system *system, const struct worker *worker);
void REAL_NAME(shape_friction_revise)(struct system *system, double g, struct node_vectors solution,
                                      double sums[FRICTION_SUMS], const struct worker *worker);

// At the end of a step: changes the memory of friction, and counts the heat.
void REAL_NAME(shape_friction_update)(struct system *system, struct friction_step step,
                                      const struct worker *worker);
void REAL_NAME(shape_friction_start)(struct system *system, double time,
                                     const struct worker *worker);

// shape_limit.c. Whether nodes or triangles pass a shape up to that time, s, of its end, or come
// too near to it; the same on every worker. Ends with a barrier.
bool REAL_NAME(shape_contact_passes)(struct system *system, double end,
                                     const struct worker *worker);

// Looks again for what passes, for that end, after nodes have been moved: at blocks of which a node
// has been moved in the round before (surface_limit.c), or at all. Ends with a barrier.
void REAL_NAME(shape_contact_look)(struct system *system, bool all, const struct worker *worker);

// Cuts what has been found to pass, once: along normals, or in every direction towards where the
// step would bring nodes that rest on the shape. By one worker. Returns whether anything was cut.
// *stuck: as in surface_limit.c.
bool REAL_NAME(shape_contact_cut)(struct system *system, bool along_normals, bool *stuck);

// The fraction of a step that leaves every node on its side of all shapes that do not move, of
// those that passes has found; 1: all of it. By one worker.
double REAL_NAME(shape_contact_fraction)(struct system *system);

// By one worker, once `boxes` are known: which bodies may have come within reach of which spheres
// in the motion up to a time, s (`body_near`). Returns whether any may have.
bool REAL_NAME(shape_bodies_find)(struct system *system, double end);

// Visits every node, triangle and edge that a shape acts on, however far away; the normal, from the
// shape, is 0 at the centre of a sphere. By one worker.
typedef void shape_visitor(void *context, const struct shape_nearest *part, vec3 normal);
void REAL_NAME(shape_contact_visit)(const struct system *system, shape_visitor *visit,
                                    void *context);

#endif
