// From a scene to bodies: nodes, springs and faces as lists, in the numbering that users see.
// Builders work in double precision and do not depend on plans, precision or threads.
#ifndef TAUT_SCENE_BODIES_H
#define TAUT_SCENE_BODIES_H

#include "scene/direction.h"
#include "scene/rotation.h"
#include "scene/scene.h"

// The prescribed motion of a kinematic node.
enum motion_type {
    MOTION_DRIVE,       // piecewise velocity and angular velocity
    MOTION_OSCILLATOR,  // the closed form of the damped oscillator
    MOTION_PENDULUM,    // theta'' = -(g/r) sin(theta), integrated
    MOTION_SMALL_ANGLE, // theta = theta0 cos(sqrt(g/r) t)
};

struct motion {
    enum motion_type type;
    uint32_t node;                    // within its body
    const struct drive_piece *pieces; // MOTION_DRIVE; owned by the body
    size_t piece_count;
    bool turns; // a drive that does, about `origin` at t = 0, which is `length` away from the node
    // For the other types: position(t) = origin + s(t) axis; for a pendulum origin + length
    // (cos(theta) down + sin(theta) axis). axis and down are perpendicular unit vectors.
    vec3 origin, axis, down;
    double amplitude, phase; // m or rad; rad
    double omega, decay;     // rad/s undamped natural frequency; 1/s, c / 2m
    double length;           // m
};

// m/s, the highest speed of a drive.
static inline double motion_drive_speed(const struct motion *motion)
{
    const double radians = 3.14159265358979323846 / 180;
    double fastest = 0;
    for (size_t p = 0; p < motion->piece_count; p++) {
        const struct drive_piece *piece = &motion->pieces[p];
        const double turns = radians * vec3_length(piece->angular_velocity) * motion->length;
        const double speed = vec3_length(piece->velocity) + turns;
        fastest = speed > fastest ? speed : fastest;
    }
    return fastest;
}

// A kind of elements of a body, with the energy k/2 |c|^2 of a sum c of positions with fixed
// weights (bending, twist), or k/2 (M - M0)^2 of an area or a volume M. Its damping is proportional
// to its stiffness: the force of a velocity is `time` |k| times that of the same displacement.
struct element_constants {
    double stiffness; // k: N/m of bending and twist, N/m3 of areas, N/m5 of volumes; 0: none
    double time;      // s, >= 0
    double rest;      // M0: m2, m3
};

// The membrane of the triangles of a body, isotropic in plane stress.
struct element_membrane {
    double stretch;       // N/m, E t / (1 - nu^2); 0: none
    double shear;         // N/m, E t / 2 (1 + nu)
    double bending;       // N m, E t^3 / 12 (1 - nu^2)
    double areal_density; // kg/m2
    double damping_ratio; // of the critical damping of each triangle
    double damping_time;  // s, damping over stiffness; 0: see damping_ratio
};

// The elements of a body on a grid, or of triangles (elements/elements.h has their nodes and
// signs).
struct body_elements {
    bool present;
    struct element_constants bend[2]; // of three nodes along x, along y
    struct element_constants twist;   // of the four nodes of a cell
    struct element_constants area;    // of a cell of a cloth
    struct element_constants volume;  // of a cell of a lattice
    struct element_membrane membrane; // of the faces of a body without a grid
};

// Those of a body of the scene, as the reader has checked it.
struct body_elements body_elements_of(const struct scene_body *given);

// The material of springs of a kind on one side of a body whose springs on the boundary have
// smaller constants than those inside; that of springs on an edge, where two sides meet, follows
// it.
size_t body_boundary_material(const struct scene_body *given, size_t kind);

static inline bool elements_are_membrane(const struct body_elements *elements)
{
    return elements->membrane.stretch > 0;
}

// Where the nodes of a rope, a cloth or a lattice are: a formula instead of a list.
struct body_formula {
    uint64_t nodes[3]; // along the body's axes
    vec3 origin, u,
        v; // m: of a rope its first node and the vector to the last one; of a cloth its sides
    double spacing; // m, of a lattice
    struct rotation rotation;
    vec3 translate; // m, after the rotation
};

struct body {
    char *name;
    enum body_type type;
    mark at;
    uint64_t node_count;
    double *positions; // 3 per node, m; NULL: they follow from `formula`
    struct body_formula formula;
    double *initial;    // 3 per node, m: initial state (bodies_apply_initial); NULL: as built
    double *velocities; // 3 per node, m/s; NULL: `velocity`, but of kinematic nodes 0
    vec3 velocity;
    double *masses;   // kg, > 0; NULL: all nodes have node_mass, or, if cell_mass is above 0,
    double cell_mass; // this inside, and on the boundary of the grid its boundary_share
    double node_mass;
    bool has_density;   // the masses follow from a density, and are smaller on the boundary
    double mass_drag;   // 1/s, drag of a node over its mass
    uint8_t *kinematic; // 1 for pinned, driven and prescribed nodes
    struct motion *motions;
    size_t motion_count;
    // Springs, kind by kind: kind k has springs [kind_start[k], kind_start[k + 1]). The springs of
    // a grid are described by directions, one after the other; all others are listed.
    uint64_t spring_count;
    uint32_t (*springs)[2]; // NULL if there are directions
    struct direction *directions;
    size_t direction_count;
    uint64_t kind_start[SPRING_KINDS_MAX + 1];
    uint32_t *spring_materials; // index into materials; NULL: kind k has material k
    double *rest_lengths;       // NULL: the distance as built, or the material's rest_length
    struct material *materials;
    size_t material_count;
    // Faces: 3 nodes each (a triangle, counter-clockwise seen from outside), 2 in a plane body (an
    // edge with the outside to its right), or none.
    uint64_t face_count;
    int face_arity;
    uint32_t *faces; // NULL if is_sheet
    bool is_sheet;   // the faces are those of a sheet with grid[0] nodes per row (direction.h)
    bool closed;     // every edge has two faces, consistently oriented, enclosing a positive volume
    struct scene_pressure pressure;
    // rope: {nodes, 1, 1}; cloth: {nu, nv, 1}; lattice: {nx, ny, nz}; else zeros.
    uint64_t grid[3];
    struct body_elements elements;
    bool is_cut_grid;         // its springs are listed: those that cuts have left of a grid
    uint32_t *node_order;     // builder numbers of the nodes if topology/ renumbered them
    uint32_t *spring_order;   // the same for its springs
    uint64_t unused_vertices; // of a mesh file, dropped
    bool is_shed;             // so have its lists (body_shed)
    bool has_no_nodes; // what it had of nodes has been freed (body_release_nodes); as built they
                       // were in the box
    vec3 least, most;  // m
};

// The mesh of a collider. Points are relative to its own origin (collider_pose.h).
struct collider_mesh {
    size_t collider; // index in scene->colliders
    uint64_t node_count, face_count;
    double *points;  // 3 per node, m
    uint32_t *faces; // 3 nodes each
};

struct bodies {
    struct body *items;
    size_t count;
    struct collider_mesh *colliders; // of mesh colliders, in their order
    size_t collider_count;
};

// Builds every body of the scene: geometry, rest lengths, masses, pins, motions; and reads the
// meshes of colliders. After a failure
// the bodies can be freed. TAUT_ERROR_SCENE with the reasons in `diagnostics` (file errors at
// FILE:LINE of that file), TAUT_ERROR_MEMORY with its message in `error`.
taut_status bodies_build(const taut_scene *scene, struct bodies *bodies,
                         struct diagnostics *diagnostics, taut_error *error);

// The same; `built` is called of each body as soon as it has been built, while no error is known.
typedef void body_built(void *context, size_t index, struct body *body);
taut_status bodies_build_each(const taut_scene *scene, body_built *built, void *context,
                              struct bodies *bodies, struct diagnostics *diagnostics,
                              taut_error *error);

// Builds one body again, as it was built before, without its warnings.
taut_status body_build_again(const taut_scene *scene, size_t index, struct body *body,
                             taut_error *error);

// The size that a body will have when it is built, from the scene alone. Zero nodes if no builder
// accepts the scene or a file cannot be read: building it reports the reason.
struct body_size {
    enum body_type type;
    bool exact; // false: counts are estimated from a file
    double nodes, springs, faces;
    int face_arity;
    bool is_sheet;     // its faces need no list
    bool is_surface;   // springs follow from the edges of triangles
    size_t directions; // of a grid; 0: springs are listed
    bool weighted;     // springs on the boundary have materials of their own
    bool has_density;  // its nodes have masses of their own
    uint64_t grid[3];  // nodes along x, y, z; zeros: no grid
    uint64_t reach[3]; // of the springs of a grid, in nodes along x, y, z
    double bytes;      // of the finished body
    double building;   // peak while it is built, including the body
};

// Opens the body's files and reads samples of them; allocates nothing.
void body_size_find(const taut_scene *scene, size_t index, struct body_size *size);

// The same of the mesh of a collider, estimated from its file.
struct collider_size {
    double nodes, faces;
    double bytes, building;
};

void collider_size_find(const struct scene_collider *collider, struct collider_size *size);

// Moves the nodes from their built positions to the initial state of the run, if there is one.
// Called when everything that follows from the built positions has been computed.
void bodies_apply_initial(struct bodies *bodies);

// Lists the positions or the velocities of a body that are not, so that they can be changed node by
// node; false without memory.
bool body_list_positions(struct body *body);
bool body_list_velocities(struct body *body);

struct spring_ends {
    uint32_t a, b;
};

// The nodes that a spring joins.
struct spring_ends body_spring(const struct body *body, uint64_t spring);

// The distance between them as built, m.
double body_spring_length(const struct body *body, uint64_t spring);

// The position of a node of a body without a list of them.
vec3 body_formula_position(const struct body *body, uint64_t node);

// The position of a node as built.
static inline vec3 body_position(const struct body *body, uint64_t node)
{
    const double *p = body->positions ? &body->positions[3 * node] : NULL;
    return p ? vec3_make(p[0], p[1], p[2]) : body_formula_position(body, node);
}

// kg, of a node.
static inline double body_mass(const struct body *body, uint64_t node)
{
    if (body->masses)
        return body->masses[node];
    return body->cell_mass > 0 ? body->cell_mass * boundary_share(sides_of_node(body->grid, node))
                               : body->node_mass;
}

// m/s at the start of the run.
static inline vec3 body_velocity(const struct body *body, uint64_t node)
{
    const double *v = body->velocities ? &body->velocities[3 * node] : NULL;
    if (v)
        return vec3_make(v[0], v[1], v[2]);
    return body->kinematic[node] ? vec3_make(0, 0, 0) : body->velocity;
}

// The nodes of a face; the third is 0 in a plane body.
struct body_face {
    uint32_t nodes[3];
};

struct body_face body_face(const struct body *body, uint64_t face);

// The builder number of the node for a selector of one node (node, first, last); false if out of
// range.
bool body_select_node(const struct body *body, const struct selector *selector, uint64_t *node);

// A fingerprint of the bodies as built, in the builders' order, and of all keys of the scene that
// decide how a state continues: all but names, output and duration.
uint64_t bodies_digest(const taut_scene *scene, const struct bodies *bodies);

// The same body by body, in their order.
struct hash;
void bodies_digest_begin(const taut_scene *scene, struct hash *hash);
void bodies_digest_add(struct hash *hash, const struct body *body);
uint64_t bodies_digest_end(const taut_scene *scene, const struct bodies *bodies, struct hash *hash);

// A fingerprint of what the digest leaves out and a run begins with: velocities, the initial state,
// which must not have been applied yet, and what contact does with surfaces that cross.
uint64_t bodies_start_digest(const taut_scene *scene, const struct bodies *bodies);
void bodies_start_begin(const taut_scene *scene, struct hash *hash);
void bodies_start_add(struct hash *hash, const struct body *body);

void bodies_free(struct bodies *bodies);

// Frees the lists of springs and faces of a body, and the orders of its nodes and springs: all that
// only the topology is made of. Returns how many bytes these were.
uint64_t body_release_lists(struct body *body);

// Frees positions, velocities and masses of the nodes of a body, from which only the state is made,
// where another process has these nodes. Returns how many bytes these were.
uint64_t body_release_nodes(struct body *body);

// Frees both of a body that another process has, of which this one builds it again for a short time
// where it needs it (body_build_again): with springs in a list, one material for each kind, and no
// masses, pins, drives and elements. Returns how many bytes these were.
uint64_t body_shed(struct body *body);

// Frees a body that body_build_again has built.
void body_free(struct body *body);

#endif
