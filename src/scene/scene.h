// The content of a scene file as plain structs: the result of the reader (reader.h) and the input
// of the builders (bodies.h). All numbers are doubles in SI units; angles are in degrees as
// written. Every item that a builder may still reject has a mark, its position in the file.
#ifndef TAUT_SCENE_SCENE_H
#define TAUT_SCENE_SCENE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diagnostics.h"
#include "base/vec3.h"
#include "taut.h"

// In mixed precision forces are single, and positions and velocities have low parts.
enum precision { PRECISION_SINGLE, PRECISION_DOUBLE, PRECISION_MIXED };

enum integrator {
    INTEGRATOR_EXPLICIT_EULER,
    INTEGRATOR_SYMPLECTIC_EULER,
    INTEGRATOR_VERLET,
    INTEGRATOR_VELOCITY_VERLET,
    INTEGRATOR_MIDPOINT,
    INTEGRATOR_RK4,
    INTEGRATOR_IMPLICIT_EULER,
    INTEGRATOR_IMPLICIT_MIDPOINT,
    INTEGRATOR_BDF2,
    INTEGRATOR_XPBD,
    INTEGRATOR_COUNT
};

// How implicit integrators solve the equations of a step.
struct scene_implicit {
    double tolerance;    // relative residual at which a solve ends, > 0
    uint64_t iterations; // of conjugate gradients, maximum, >= 1
    uint64_t newton;     // linear systems per step, maximum, >= 1
    bool line_search;    // in Newton's method, if `newton` is above 1
};

struct scene_simulation {
    enum integrator integrator;
    double dt;       // s; valid unless dt_auto
    bool dt_auto;    // dt: auto
    double safety;   // factor of the critical step for dt: auto; default 0.8
    double duration; // s; valid if has_duration
    uint64_t steps;  // valid unless has_duration
    bool has_duration;
    double keep_velocity; // in (0, 1]
    double position_step; // s; 0: the same as dt
    struct scene_implicit implicit;
    uint64_t substeps;   // of xpbd; default 10
    uint64_t iterations; // of xpbd, per substep; default 1
    mark at, dt_at;
};

enum wind_law { WIND_NODE, WIND_FACE, WIND_QUADRATIC };

struct scene_gust {
    vec3 amplitude; // m/s
    double period;  // s, > 0
    double phase;   // degrees
};

struct scene_wind {
    bool present;
    vec3 velocity; // m/s
    enum wind_law law;
    double coefficient;   // for laws node (kg/s) and face (kg/(m2 s)); default 1
    double density, drag; // for law quadratic: kg/m3 (default 1.225) and C_d (default 1)
    bool relative;        // default true
    struct scene_gust *gusts;
    size_t gust_count;
};

struct scene_environment {
    vec3 gravity;    // m/s2
    double air_drag; // kg/s per node
    struct scene_wind wind;
};

enum spring_law { LAW_LINEAR, LAW_TENSION_ONLY, LAW_COMPRESSION_ONLY, LAW_RIGID };
enum damping_law { DAMPING_AXIAL, DAMPING_FULL };

// A complete spring material: the reader has applied the body's common keys as defaults.
struct material {
    double stiffness; // N/m, >= 0; 0 if the law is rigid
    double damping;   // N s/m, >= 0
    enum damping_law damping_law;
    enum spring_law law;
    bool has_rest_length;
    double rest_length; // m, >= 0; valid if has_rest_length, otherwise the distance as built is
                        // used
    double break_at;    // stretch L / L0 beyond which the spring breaks; INFINITY: never
    double yield_at;    // elastic strain beyond which it yields; INFINITY: never
};

// The key of a limit of this material, `break_at` or `yield_at`, that would be exceeded at once
// where the rest length is 0, since limits are relative to it; NULL: none. The message has the key
// twice.
const char *material_limit_of_nothing(const struct material *material, double rest_length);
#define MATERIAL_LIMIT_MESSAGE                                                                     \
    "'%s' is relative to the rest length: with 'rest_length: 0' it is exceeded at once; leave "    \
    "out "                                                                                         \
    "'%s', or give a 'rest_length' above 0"

enum body_type {
    BODY_ROPE,
    BODY_CLOTH,
    BODY_RING,
    BODY_QUAD,
    BODY_SPHERE,
    BODY_LATTICE,
    BODY_MESH,
    BODY_NETWORK,
    BODY_OSCILLATOR,
    BODY_PENDULUM,
    BODY_TYPE_COUNT
};

// The kinds of springs of each body type, in the order of their indices. A kind that the scene does
// not name is not built.
//   rope 0 chain, 1 skip, 2 all       cloth 0 structural, 1 shear, 2 bend, 3 all, 4 weft
//   ring 0 edges                      quad 0 sides, 1 diagonals
//   sphere 0 edges, 1 bend, 2 second  lattice 0 k1, 1 k2, 2 k3, 3 kb1, 4 kb2, 5 kb3
//   mesh 0 edges, 1 bend              network 0 springs
//   oscillator 0 spring               pendulum 0 spring
// A cloth's structural springs lie along u and v; those along v are of the kind weft if it is
// present.
enum { SPRING_KINDS_MAX = 6, CLOTH_WEFT = 4 };

struct scene_spring_kind {
    bool present;
    struct material material;
};

// A solid, of which bodies consist instead of masses and spring constants (scene/moduli.h).
struct scene_elastic {
    bool present;
    mark at;
    const char *material; // its name in scene/fabrics.h; NULL: the numbers were given
    double young;         // Pa, > 0
    double poisson;       // -; of lattices and cloths
    double density;       // kg/m3, > 0
    double thickness;     // m, > 0, of a cloth
    double diameter;      // m, > 0, of a rope
};

// A fabric in the plane stress of a sheet: N11 = C11 e11 + C12 e22, N22 = C12 e11 + C22 e22, N12 =
// C66 g12, in N/m; 1 is the warp, along u of a cloth, and 2 the weft, along v.
struct scene_fabric {
    bool present;
    mark at;
    const char *material; // its name in scene/fabrics.h; NULL: the numbers were given
    double areal_density; // kg/m2, > 0
    double warp, weft;    // N/m, C11 and C22, > 0
    double coupling;      // N/m, C12, of either sign
    double shear;         // N/m, C66, > 0
    double bending[2];    // N m, >= 0, of curvature along the warp and along the weft
    double twist;         // N m, >= 0
    double thickness;     // m; 0: not given
};

// Constants of the elements that a body has beside its springs (src/elements/), which the reader
// computes from `elastic` or `fabric`; 0: no such element.
struct scene_elements {
    double bending_u, bending_v; // N m, of a cloth along u and v; rope: bending_u = E I, N m2;
                                 // mesh or sphere: bending_u
    double twist;                // N m, of a cloth
    double area;                 // N/m, gamma of a cloth
    double volume;               // Pa, lambda' of a lattice
    double stretch;              // N/m, E t / (1 - nu^2) of a mesh or a sphere, and
    double shear;                // N/m, its shear modulus E t / 2 (1 + nu)
    double areal_density;        // kg/m2, of a mesh or a sphere
    bool damped;                 // whether damping_ratio is that of the elements, too
};

static inline bool scene_elements_exist(const struct scene_elements *it)
{
    return it->bending_u != 0 || it->bending_v != 0 || it->twist != 0 || it->area != 0 ||
           it->volume != 0 || it->stretch != 0;
}

enum selector_type {
    SELECT_NODE,   // one builder number
    SELECT_FIRST,  // node 0
    SELECT_LAST,   // the last node
    SELECT_LEFT,   // cloth: first along u; lattice: smallest x index
    SELECT_RIGHT,  // cloth: last along u; lattice: largest x index
    SELECT_TOP,    // cloth: first along v; lattice: largest y index
    SELECT_BOTTOM, // cloth: last along v; lattice: smallest y index
    SELECT_FRONT,  // lattice: largest z index
    SELECT_BACK,   // lattice: smallest z index
    SELECT_CORNERS,
    SELECT_EDGES,
    SELECT_BOX // all nodes in [min, max] after translate and rotate
};

struct selector {
    enum selector_type type;
    uint64_t node; // SELECT_NODE
    vec3 min, max; // SELECT_BOX
    mark at;
};

struct drive_piece {
    double start;  // s, ascending; the first piece may start at any time >= 0 (at rest before it)
    vec3 velocity; // m/s, from start until the next piece
    vec3 angular_velocity; // degrees/s, along the axis, likewise
};

struct scene_drive {
    struct selector node; // unless there are `nodes`
    struct drive_piece *pieces;
    size_t piece_count;
    struct selector *nodes;
    size_t node_count;
    bool turns;  // some angular velocity is not 0
    vec3 center; // m, about which it turns; it moves with `velocity`
};

enum volume_rule { VOLUME_DIVERGENCE, VOLUME_BOX, VOLUME_SPHERE, VOLUME_ELLIPSOID };

struct scene_pressure {
    bool present;
    double amount;     // nRT, J
    double atmosphere; // Pa
    double gamma;      // 1: isothermal
    double inflate;    // fraction of amount added per step, in (0, 1]
    enum volume_rule volume;
    mark at;
};

enum rope_links { ROPE_CHAIN, ROPE_SKIP, ROPE_ALL };

struct scene_rope {
    vec3 from, to;
    uint64_t nodes;
    enum rope_links links;
};

struct scene_cloth {
    vec3 origin, u, v;
    uint64_t nodes_u, nodes_v;
};

struct scene_ring {
    vec3 centre;
    double radius;
    uint64_t nodes;
};

struct scene_quad {
    vec3 origin, u, v;
};

struct scene_sphere {
    vec3 centre;
    double radius;
    int subdivisions;
};

struct scene_lattice {
    vec3 origin;
    uint64_t nodes_x, nodes_y, nodes_z;
    double spacing;
    int shells; // 1 or 2
};

struct scene_mesh {
    char *path; // relative to the working directory or absolute
    double scale;
    mark at; // of the file name
};

// The lists of a network, in the scene itself or in two CSV files (the lists are then empty until
// it is built).
struct scene_network {
    vec3 *positions, *velocities; // velocities may be NULL
    double *masses;
    uint64_t node_count;
    uint32_t (*springs)[2];
    uint32_t *spring_materials; // index into materials
    mark *spring_marks;
    uint64_t spring_count;
    struct material *materials;
    size_t material_count;
    char *nodes_path, *springs_path; // both or neither; relative to the working directory or
                                     // absolute
    mark nodes_at, springs_at;
};

enum oscillator_model { OSCILLATOR_SPRING, OSCILLATOR_CLOSED_FORM };

// A mass on a spring along `axis` from `anchor`: displacement from equilibrium A cos(phase) at t =
// 0, with the corresponding velocity. Node 0 is the pinned anchor, node 1 the mass.
struct scene_oscillator {
    enum oscillator_model model;
    vec3 anchor, axis;
    double amplitude, phase; // m, degrees
};

enum pendulum_model { PENDULUM_SPRING, PENDULUM_EQUATION, PENDULUM_SMALL_ANGLE };

// Node 0 is the pinned pivot, node 1 the mass. `angle` (degrees) is measured from the direction of
// gravity towards the component of `direction` perpendicular to gravity.
struct scene_pendulum {
    enum pendulum_model model;
    vec3 pivot, direction;
    double length, angle;
};

// Coulomb friction with memory, of penalty colliders (contact/friction.h) and of surfaces
// (contact/surface_friction.h).
struct scene_friction {
    bool present; // the other members are 0 if not
    double static_coefficient, kinetic_coefficient;
    size_t first_slot; // of the memory of contacts with a collider, among those of all of them
};

// The keys of contact that a body has instead of the scene's.
struct scene_body_contact {
    bool present;
    double thickness; // m; 0: that of the scene
    bool self_given, self;
    struct scene_friction friction; // not present: that of the scene
    mark at;
};

struct scene_body {
    char *name;
    enum body_type type;
    mark at; // of the body's name
    union {
        struct scene_rope rope;
        struct scene_cloth cloth;
        struct scene_ring ring;
        struct scene_quad quad;
        struct scene_sphere sphere;
        struct scene_lattice lattice;
        struct scene_mesh mesh;
        struct scene_network network;
        struct scene_oscillator oscillator;
        struct scene_pendulum pendulum;
    } shape;
    double mass; // kg, of the whole body; valid unless mass_per_node
    bool mass_per_node;
    double node_mass; // kg, of each node (a network's own masses take precedence)
    struct scene_spring_kind kinds[SPRING_KINDS_MAX];
    struct material common; // the body's common keys, the defaults of a network's springs
    // If one of them is present, `kinds` has the constants of springs inside, `mass` is that of the
    // whole body, and springs and nodes on the boundary have the constants and masses of fewer
    // cells.
    struct scene_elastic elastic;
    struct scene_fabric fabric;
    double damping_ratio; // of the springs of `elastic` or `fabric`; 0: see rayleigh_stiffness
    struct scene_elements elements;
    double rayleigh_stiffness; // s, damping over stiffness of springs; 0: the common damping
    double rayleigh_mass;      // 1/s, drag over mass of nodes
    struct selector *pins;
    size_t pin_count;
    struct scene_drive *drives;
    size_t drive_count;
    vec3 velocity;          // m/s, of all nodes at t = 0
    vec3 translate, rotate; // p' = Rz Ry Rx p + translate, about the origin
    struct scene_pressure pressure;
    struct scene_body_contact contact;
};

enum collider_type { COLLIDER_PLANE, COLLIDER_SPHERE, COLLIDER_ROOM, COLLIDER_MESH };

// Meshes have the last: with it colliders act as surfaces of bodies do (contact/surface_contact.h).
enum collider_response { RESPONSE_PENALTY, RESPONSE_PROJECT, RESPONSE_CONTACT };

// Where a mesh collider has moved at a time, relative to where it was placed
// (scene/collider_pose.h).
struct scene_keyframe {
    double time;   // s
    vec3 position; // m
    vec3 angles;   // degrees, as `rotate`
};

// With keyframes the velocities are 0.
struct scene_collider_motion {
    vec3 velocity;                    // m/s
    vec3 angular_velocity;            // degrees/s, about the mesh's own origin
    struct scene_keyframe *keyframes; // times rise
    size_t keyframe_count;
};

enum collider_sides { SIDES_BOTH, SIDES_OUTSIDE };

struct scene_collider {
    enum collider_type type;
    enum collider_response response; // default penalty
    vec3 point, normal;              // plane; normal has unit length after reading
    vec3 centre, velocity;           // sphere
    double radius;
    vec3 min, max;     // room
    double stiffness;  // N/m
    double friction;   // c_t, N s/m; for either response
    double absorption; // c_n, N s/m
    struct scene_friction coulomb;
    double restitution; // project: fraction of the approach speed that is returned; default 0
    double keep;        // project: factor of the tangential velocity at an impact; default 1
    bool blocks_drives; // planes
    // mesh
    struct scene_mesh mesh;
    vec3 translate, rotate; // p' = Rz Ry Rx p + translate, about the mesh's own origin
    enum collider_sides sides;
    struct scene_collider_motion motion;
    struct scene_friction surface_friction; // of contact with the surfaces of bodies
    mark at;
};

static inline bool collider_moves(const struct scene_collider *collider)
{
    const struct scene_collider_motion *motion = &collider->motion;
    return motion->keyframe_count > 1 || vec3_length(motion->velocity) > 0 ||
           vec3_length(motion->angular_velocity) > 0;
}

// Contact between the surfaces of bodies (contact/surface_contact.h).
struct scene_contact_pair {
    size_t bodies[2]; // the same twice: a body with itself
    bool enabled;
    struct scene_friction friction; // not present: that of the bodies
};

enum contact_existing { EXISTING_REFUSE, EXISTING_RELAX };

struct scene_contact {
    bool present;
    bool self, between;  // bodies with themselves, and with each other
    double thickness;    // m: how far apart surfaces are kept
    bool stiffness_auto; // stiffness: auto
    double stiffness;    // N/m; valid unless stiffness_auto
    struct scene_friction friction;
    struct scene_contact_pair *pairs; // exceptions, once for each pair
    size_t pair_count;
    enum contact_existing existing; // surfaces that cross at the start
    mark at;
};

// The friction between the surfaces of two bodies, or of one with itself: that of the pair; else a
// body's own, or the geometric mean where both bodies have their own; else the scene's. Mesh
// colliders have the numbers after the bodies, in their order.
struct scene_friction scene_friction_between(const taut_scene *scene, size_t a, size_t b);

// Whether any two surfaces have friction.
bool scene_has_surface_friction(const taut_scene *scene);

// The slots of the memory of friction that each node has for a collider: a node touches at most
// that many surfaces of it at once. In a room these are one wall of each pair.
static inline size_t collider_friction_slots(const struct scene_collider *collider)
{
    return !collider->coulomb.present ? 0 : collider->type == COLLIDER_ROOM ? 3 : 1;
}

static inline size_t friction_slots(const struct scene_collider *colliders, size_t count)
{
    size_t slots = 0;
    for (size_t c = 0; c < count; c++)
        slots += collider_friction_slots(&colliders[c]);
    return slots;
}

// Bytes of the memory of friction of each node.
static inline double friction_bytes(const struct scene_collider *colliders, size_t count)
{
    return (double)(sizeof(vec3) + sizeof(double) + 1) * (double)friction_slots(colliders, count);
}

struct scene_probe {
    size_t body;
    struct selector node; // SELECT_NODE, SELECT_FIRST or SELECT_LAST
    uint64_t every_steps; // default 1
};

struct scene_output {
    bool has_every; // if not set: about a hundred rows of energies over the run
    double every;   // s; valid if has_every and every_steps is 0
    uint64_t every_steps;
    bool vtp, pc2;
    bool vtp_springs, vtp_forces; // springs of all bodies; forces on nodes
    bool work; // account for the work of dissipation, wind and drives every step; default true
    struct scene_probe *probes;
    size_t probe_count;
    double checkpoint_every; // s, simulated; 0: not in the scene
};

struct scene_document; // the YAML tree as read, overrides applied (document.h)

struct taut_scene {
    char *name;    // the file's name without folder and .yaml
    char *file;    // as it was given
    char *title;   // may be NULL
    char *initial; // path of the initial state, relative to the working directory or absolute;
                   // NULL: as built
    mark initial_at;
    enum precision precision;
    struct scene_simulation simulation;
    struct scene_environment environment;
    struct scene_body *bodies;
    size_t body_count;
    struct scene_collider *colliders;
    size_t collider_count;
    struct scene_contact contact;
    struct scene_output output;
    struct scene_document *document; // for the resolved scene.yaml and for source lines of messages
};

// Whether a body is a surface of triangles with a material in SI units: it has no springs.
static inline bool body_is_membrane(const struct scene_body *body)
{
    return body->elastic.present && (body->type == BODY_MESH || body->type == BODY_SPHERE);
}

// "rope", "cloth", ...
const char *body_type_name(enum body_type type);

// Whether masses and spring constants follow from a material, `elastic` or `fabric`.
static inline bool body_has_moduli(const struct scene_body *body)
{
    return body->elastic.present || body->fabric.present;
}

// The name of kind `kind` of a body type's springs; NULL after the last one.
const char *spring_kind_name(enum body_type type, size_t kind);

// The number of kinds of a body type.
size_t spring_kind_count(enum body_type type);

// The number of kinds of a body that have a material: a cloth without `weft` has none for it.
size_t body_kind_count(const struct scene_body *body);

// "first", "left", ..., "node", "box".
const char *selector_name(enum selector_type type);

// Whether bodies of the type have the nodes that the selector names. Every type has nodes selected
// by a number or a box.
bool body_type_has_selector(enum body_type type, enum selector_type selector);

// "symplectic_euler", ...
const char *integrator_name(enum integrator integrator);

// Whether its steps solve a system of equations. Implicit integrators are stable at every dt.
bool integrator_is_implicit(enum integrator integrator);

// Whether velocities at the end of a step belong to the middle of it (Verlet's: before they are
// completed).
bool integrator_velocities_lag(enum integrator integrator);

// "single", ...
const char *precision_name(enum precision precision);

// Why a run in this precision cannot compute with a number, as the end of a sentence that begins
// with the number, with the remedy; NULL if it can. A `size` is a mass, a constant, dt: above 0
// it is at least the least normal number, so that it does not become 0 and its inverse does not
// overflow. Other numbers, such as coordinates, may be rounded to 0.
const char *precision_lacks(enum precision precision, double number, bool size);

// The wind at a time (s), gusts included, m/s; 0 if there is none.
vec3 scene_wind_at(const struct scene_wind *wind, double time);

// The thickness of contact, m: a body's own, or that of the scene, which colliders have too; these
// come after the bodies.
double scene_thickness(const taut_scene *scene, size_t body);

// Adds an error at a position of the scene file, with its source line; for builders.
void scene_report(const taut_scene *scene, struct diagnostics *diagnostics, mark at,
                  const char *format, ...) PRINTF_FORMAT(4, 5);

// The same as a warning.
void scene_warn(const taut_scene *scene, struct diagnostics *diagnostics, mark at,
                const char *format, ...) PRINTF_FORMAT(4, 5);

// The input files of a scene: its own, the initial state, meshes, tables of networks. A malloc'ed
// array of paths that belong to the scene; NULL if memory runs out.
const char **scene_inputs(const taut_scene *scene, size_t *count);

#endif
