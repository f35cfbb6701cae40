// taut: a multithreaded solver for mass-spring systems.
//
// Conventions:
//  - SI units: metres, kilograms, seconds, newtons. Angles of the scene file are in degrees.
//  - Counts are 64-bit. Nodes are numbered as the body's builder numbers them (docs/scene.md);
//    internal reordering is never visible.
//  - A function that can fail returns a taut_status. Errors that the user can cause are returned,
//    with a message in the taut_error that was passed (may be NULL); errors that only a bug of the
//    caller can cause are asserts.
//  - Handles are opaque, created by a ..._create, ..._load or ..._parse function and released by
//    ..._destroy (NULL is allowed). There is no global state: two solvers may run concurrently in
//    two threads; one solver may be used by one thread at a time.
//  - The same scene gives the same bits for every number of threads.
#ifndef TAUT_H
#define TAUT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TAUT_VERSION_MAJOR  0
#define TAUT_VERSION_MINOR  1
#define TAUT_VERSION_PATCH  0
#define TAUT_VERSION_STRING "0.1.0"

#if defined(__GNUC__)
#    define TAUT_API __attribute__((visibility("default")))
#else
#    define TAUT_API
#endif

typedef enum taut_status {
    TAUT_OK = 0,
    TAUT_ERROR_ARGUMENT,    // a value passed to the library is out of its range
    TAUT_ERROR_SCENE,       // the scene file, or a file that it names, has errors
    TAUT_ERROR_MEMORY,      // an allocation failed
    TAUT_ERROR_IO,          // a file could not be read or written
    TAUT_ERROR_DIVERGED,    // a value is not finite, or energy grew as only instability explains
    TAUT_ERROR_COLLAPSED,   // the volume of a pressurised body is zero or negative
    TAUT_ERROR_UNSUPPORTED, // not supported by this build or machine
} taut_status;

// A short English name of the status; never NULL.
TAUT_API const char *taut_status_text(taut_status status);

// Receives the message of a failing function. Zero it before the first use.
typedef struct taut_error {
    taut_status code;
    char text[1024];
} taut_error;

// Memory for the solver's arrays. `allocate` returns a block of at least `bytes` bytes aligned to
// `alignment` (a power of two), or NULL; `release` receives the size that was requested.
typedef struct taut_allocator {
    void *(*allocate)(void *context, size_t bytes, size_t alignment);
    void (*release)(void *context, void *block, size_t bytes);
    void *context;
} taut_allocator;

// The version of the linked library, for example "0.1.0".
TAUT_API const char *taut_version(void);

// ---- Scenes -------------------------------------------------------------------------------------

typedef struct taut_scene taut_scene;

// Receives each finding about a scene, formatted as FILE:LINE:COLUMN: error: TEXT with the source
// line and a caret: several lines, ending in a newline.
typedef void (*taut_message_function)(void *context, const char *message);

typedef struct taut_scene_options {
    const char *const *overrides; // "PATH=VALUE", as for --set of the command line; may be NULL
    size_t override_count;
    taut_message_function on_message; // may be NULL
    void *message_context;
} taut_scene_options;

// Fills `options` with the defaults: no overrides, no message function.
TAUT_API void taut_scene_options_default(taut_scene_options *options);

// Reads and validates a scene file and every file that it names. On failure *scene is NULL, every
// error has been passed to on_message, and `error` has the reason: TAUT_ERROR_IO with the system's
// message if the scene file itself cannot be read, TAUT_ERROR_SCENE with the number of errors if
// anything in it is wrong or a file that it names is wrong or cannot be read, TAUT_ERROR_MEMORY.
// `options` may be NULL.
TAUT_API taut_status taut_scene_load(const char *path, const taut_scene_options *options,
                                     taut_scene **scene, taut_error *error);

// Reads and validates a scene from `length` bytes of text. `name` is its name in messages, and
// relative paths are relative to the folder of `name`.
TAUT_API taut_status taut_scene_parse(const char *text, size_t length, const char *name,
                                      const taut_scene_options *options, taut_scene **scene,
                                      taut_error *error);

TAUT_API void taut_scene_destroy(taut_scene *scene);

// ---- Solver -------------------------------------------------------------------------------------

typedef struct taut_solver taut_solver;

// How springs are stored and computed. All but the reference use the widest instruction set and all
// threads, and each returns the same bits for every number of threads and instruction set.
// Different kernels sum forces in different orders, so their results differ by rounding. Gravity,
// drag, wind, gas and contacts are computed in the same way by all of them.
typedef enum taut_kernel {
    // The fastest: springs of bodies on a grid as stencils, all others packed. With the integrator
    // xpbd, which solves springs one after another, all others in coloured blocks.
    TAUT_KERNEL_AUTO,
    TAUT_KERNEL_REFERENCE, // plain serial loops in the order of the scene: test oracle and baseline
    // Sliced ELLPACK: each node sums its own springs, so each spring is computed twice and nothing
    // is scattered. TAUT_ERROR_ARGUMENT with the integrator xpbd.
    TAUT_KERNEL_PACKED,
    // As auto, but TAUT_ERROR_ARGUMENT if no body with springs is on a grid.
    TAUT_KERNEL_GRID,
    // Graph colouring: each spring is computed once and scattered to both ends. Blocks of one
    // colour share no node and run concurrently; inside a block, groups of springs that share no
    // node fill vector registers.
    TAUT_KERNEL_COLOURED,
} taut_kernel;

typedef enum taut_isa {
    TAUT_ISA_AUTO, // the environment variable TAUT_ISA (base, v3, v4), else the widest
    TAUT_ISA_BASE, // supported by every machine of the architecture: SSE2 or NEON
    TAUT_ISA_V3,   // x86-64-v3: AVX2
    TAUT_ISA_V4,   // x86-64-v4: AVX-512
} taut_isa;

typedef struct taut_config {
    // 0: as many as OMP_NUM_THREADS or omp_set_num_threads sets; if neither is used, one per
    // physical core that this process may use, and fewer for small scenes. At most four per logical
    // processor (or 16, if that is more); taut_solver_threads returns the actual number.
    int threads;
    taut_kernel kernel;
    // 0: on machines with several NUMA nodes, a team with one thread per core binds each thread to
    // its node while it steps, unless OMP_PROC_BIND or OMP_PLACES binds them; 1: never.
    int no_pin;
    taut_isa isa; // the instruction set of the kernels; the results are the same bits
    const taut_allocator *allocator; // NULL: aligned_alloc, and mappings for large blocks
} taut_config;

// Fills `config` with the defaults.
TAUT_API void taut_config_default(taut_config *config);

// Builds and compiles the bodies of the scene and sets the solver to time 0. The scene may be
// destroyed afterwards. `config` may be NULL.
TAUT_API taut_status taut_solver_create(const taut_scene *scene, const taut_config *config,
                                        taut_solver **solver, taut_error *error);

TAUT_API void taut_solver_destroy(taut_solver *solver);

// ---- Checkpoints
//
// A checkpoint has everything that a run remembers, so that it continues to the bit, with any
// number of threads and any instruction set: time (s) and step, positions (m) and velocities (m/s),
// what the integrator keeps of earlier steps, springs that broke or yielded, prescribed motions,
// spheres, contacts, gas, the energy budget (J), dt (s) and what dt: auto follows, and constants
// that were changed during the run (taut_solver_set_stiffness and the like).
// docs/checkpoints.md describes its bytes.

// Writes a checkpoint to a file, which gets its name when all of it is on the disk; a file of that
// name is replaced then. TAUT_ERROR_IO with the reason where it cannot be written.
TAUT_API taut_status taut_solver_save(taut_solver *solver, const char *path, taut_error *error);

// The same into memory, which taut_bytes_release releases.
TAUT_API taut_status taut_solver_save_memory(taut_solver *solver, void **bytes, size_t *count,
                                             taut_error *error);
TAUT_API void taut_bytes_release(void *bytes); // NULL is allowed

// A solver of a scene that continues from a checkpoint; `config` may be NULL. The scene must be the
// one that the checkpoint is of, but for names, output and how long it runs.
// TAUT_ERROR_ARGUMENT: it is of another scene, precision or integrator.
// TAUT_ERROR_IO: it cannot be read, is none, was cut off or altered; the error names the position.
// TAUT_ERROR_UNSUPPORTED: a newer version of taut has written it.
// And as taut_solver_create. After a failure *solver is NULL.
TAUT_API taut_status taut_solver_restore(const taut_scene *scene, const char *path,
                                         const taut_config *config, taut_solver **solver,
                                         taut_error *error);
TAUT_API taut_status taut_solver_restore_memory(const taut_scene *scene, const void *bytes,
                                                size_t count, const taut_config *config,
                                                taut_solver **solver, taut_error *error);

// ---- Steps and the present state

// Advances by `steps` steps of the scene's dt. On TAUT_ERROR_DIVERGED and TAUT_ERROR_COLLAPSED the
// state is left as it was when the fault was detected, and `error` names the node or body where it
// began. After TAUT_ERROR_MEMORY (contact, whose lists grow) it is that of no step: steps and
// checkpoints are refused from then on, and the run is continued from an older one by another
// solver. Divergence is checked after every 16th step of the run and after the last planned one,
// however steps are divided among calls; if values are not finite at the end of a call, or the
// kinetic energy is a hundred times what a check allows, it continues to the next of these steps,
// which reports that. A collapse ends the run at the first step whose state leaves gas no volume,
// or with the step within which forces find none, and does not depend on the division either.
TAUT_API taut_status taut_solver_step(taut_solver *solver, uint64_t steps, taut_error *error);

typedef struct taut_energy {
    double kinetic, elastic, gravity, gas, contact, total; // J
} taut_energy;

// The energy of the present state, J. Gravitational energy is relative to the origin of
// coordinates.
TAUT_API taut_status taut_solver_energy(taut_solver *solver, taut_energy *energy,
                                        taut_error *error);

TAUT_API double taut_solver_time(const taut_solver *solver);            // s
TAUT_API double taut_solver_dt(const taut_solver *solver);              // s
TAUT_API uint64_t taut_solver_step_count(const taut_solver *solver);    // steps completed
TAUT_API uint64_t taut_solver_steps_planned(const taut_solver *solver); // steps of the scene
TAUT_API uint64_t taut_solver_node_count(const taut_solver *solver);
TAUT_API uint64_t taut_solver_spring_count(const taut_solver *solver);
TAUT_API uint64_t taut_solver_face_count(const taut_solver *solver);
TAUT_API uint64_t taut_solver_broken_count(const taut_solver *solver);
TAUT_API int taut_solver_threads(const taut_solver *solver);
TAUT_API size_t taut_solver_body_count(const taut_solver *solver);

// The index of the body with this name, or -1.
TAUT_API ptrdiff_t taut_solver_find_body(const taut_solver *solver, const char *name);

// Of a body by its index; NULL or 0 if there is no such body.
TAUT_API const char *taut_solver_body_name(const taut_solver *solver, size_t body);
TAUT_API uint64_t taut_solver_body_node_count(const taut_solver *solver, size_t body);

// The present volume (in 2D the area) enclosed by the faces of a closed body, m3 (m2); 0 for other
// bodies.
TAUT_API double taut_solver_body_volume(taut_solver *solver, size_t body);

// Copies 3 doubles per node (x, y, z), in builder order, into `values`, an array of 3 * node_count
// of the body, m and m/s; nothing if there is no such body. Velocities of the Verlet integrator are
// the centred ones of the present state.
TAUT_API void taut_solver_get_positions(const taut_solver *solver, size_t body, double *values);
TAUT_API void taut_solver_get_velocities(const taut_solver *solver, size_t body, double *values);

// ---- Contacts

// Whether friction holds a contact, or the surfaces slide; frictionless: they have no friction with
// memory (`friction_coefficient`).
typedef enum taut_contact_friction {
    TAUT_CONTACT_FRICTIONLESS,
    TAUT_CONTACT_STICKS,
    TAUT_CONTACT_SLIDES,
} taut_contact_friction;

// A place at which two surfaces touch: a node and a triangle or two edges, of bodies or of a mesh
// collider (key `contact` of a scene); or a surface and a plane, sphere or room with `response:
// contact`; or a node and a collider with `response: penalty`. Colliders with `response: project`
// exert no forces and have none.
typedef struct taut_contact_point {
    double point[3];    // m: halfway between the two nearest points
    double normal[3];   // unit, towards `body` (that of the node, or of one of the edges)
    double distance;    // m, of these points; below 0 inside a penalty collider
    double force;       // N, along the normal, at least 0; of contacts of surfaces with friction
                        // without their damper along it, as friction depends on it
    size_t body;        // an index as of taut_solver_find_body
    ptrdiff_t other;    // the body that it touches, which may be the same; -1: a collider
    ptrdiff_t collider; // its index in the scene's list; -1: none
    taut_contact_friction friction;
    // N, of friction on `body`, along the surface: by the springs of its memory and the velocities
    // of the present state, with which the next step of an explicit integrator begins (implicit
    // ones and xpbd act by the end of their steps). 0 without friction, and as long as a contact
    // between surfaces has no memory, in the state in which it begins. On the parts of a triangle
    // that touches a sphere it acts at the corners, in proportion to what the triangle presses on
    // them.
    double friction_force[3];
} taut_contact_point;

// Lists what touches in the present state, which does not change. *count is the number of all
// contact points; the first of them, at most `capacity`, are written to `points` (NULL if that is
// 0). Their order, like everything else, does not depend on the number of threads. Costs about as
// much as two steps' contact. TAUT_ERROR_MEMORY.
TAUT_API taut_status taut_solver_get_contact_points(taut_solver *solver, size_t capacity,
                                                    taut_contact_point *points, uint64_t *count,
                                                    taut_error *error);

// The largest stable steps at the present state (docs/numerics.md). Bounds are guaranteed and cost
// as much as a few steps; computed values are the limits themselves, from eigenvalues, and cost as
// much as some hundred.
typedef struct taut_critical_step {
    double bound, computed;       // s, of an undamped symplectic step; 0 if nothing oscillates
    double dt_bound, dt_computed; // s, of the scene's integrator, damping included; 0: no step is
                                  // stable; INFINITY: every step is
    uint64_t node;                // numbered over all bodies: where the bound is set
} taut_critical_step;

// `computed` and `dt_computed` are 0 if `with_computed` is 0. The state does not change.
TAUT_API taut_status taut_solver_critical_step(taut_solver *solver, int with_computed,
                                               taut_critical_step *result, taut_error *error);

// Moves a sphere collider (by its index in the scene's list of colliders) and sets its velocity; m
// and m/s. With `response: contact` a place in a body, or nearer to one than a twentieth of the
// thickness of contact, is refused (TAUT_ERROR_ARGUMENT).
TAUT_API taut_status taut_solver_set_sphere(taut_solver *solver, size_t collider,
                                            const double centre[3], const double velocity[3],
                                            taut_error *error);

// Gives a sphere collider the velocity with which it reaches `target` in `duration` (s, above 0)
// from its present position. It continues with that velocity until it is given another one.
// Friction, impacts and the energy budget account for this motion of its surface; they do not where
// taut_solver_set_sphere places a sphere elsewhere.
TAUT_API taut_status taut_solver_set_sphere_target(taut_solver *solver, size_t collider,
                                                   const double target[3], double duration,
                                                   taut_error *error);

// Places a mesh collider (by its index in the scene's list of colliders): `translate` is that of
// the scene (m), and the velocity (m/s) adds to that of its motion there. Refused
// (TAUT_ERROR_ARGUMENT) where it would cross or, with `sides: outside`, enclose the surface of a
// body, or come nearer to one than a twentieth of the thickness of contact. The energy budget does
// not account for such a change of place.
TAUT_API taut_status taut_solver_set_mesh(taut_solver *solver, size_t collider,
                                          const double translate[3], const double velocity[3],
                                          taut_error *error);

// Gives a mesh collider the velocity, beside that of the scene, with which its `translate` becomes
// `target` in `duration` (s, above 0). It pushes what is in its way, and its work is in the energy
// budget. It continues with that velocity until it is given another one.
TAUT_API taut_status taut_solver_set_mesh_target(taut_solver *solver, size_t collider,
                                                 const double target[3], double duration,
                                                 taut_error *error);

// ---- Constants that change during a run
//
// These functions change a constant of the scene, and everything derived from it, in place between
// two steps: nothing is rebuilt, and positions, velocities and time stay. The next step, evaluation
// or critical step is the first with the new value. The run continues bit by bit as that of a
// solver that was created with the value and took over the state.
//
// The critical step changes with stiffness, damping, mass, drag, wind, gas and contacts. A given dt
// stays as it is, and taut_solver_critical_step evaluates the new limit; dt: auto follows.
// Energies change at once, without work, and the energy budget does not account for that change.
//
// All of them return TAUT_ERROR_ARGUMENT for a value out of range or an invalid index; out of range
// are also values that the run's precision cannot hold: in single precision from 3.4e38 on, and
// masses, constants and dt above 0 and below 1.2e-38 (in double below 2.3e-308). They return
// TAUT_ERROR_UNSUPPORTED if the change needs another solver (see each function), and
// TAUT_ERROR_MEMORY; in each of these cases nothing has changed.

// Every spring has a material. Most bodies have one material for each kind of spring that the scene
// may name (structural, shear, ...), even if no spring is of that kind; a network has any number,
// in the order in which its springs first use them; 0 if there is no such body.
TAUT_API size_t taut_solver_material_count(const taut_solver *solver, size_t body);

// The index of the material of a kind of spring, by its name in scene files; -1 if the body has no
// spring of that kind, for networks, and if there is no such body.
TAUT_API ptrdiff_t taut_solver_find_material(const taut_solver *solver, size_t body,
                                             const char *kind);

// N/m, at least 0, and above 0 for oscillators and pendulums; not for law rigid. Unsupported if a
// body moves by a formula (model: closed_form and the like), or has `elastic` or `fabric`, from
// which all its constants follow: set these.
TAUT_API taut_status taut_solver_set_stiffness(taut_solver *solver, size_t body, size_t material,
                                               double stiffness, taut_error *error);

// N s/m, at least 0; has no effect on springs of law rigid. Unsupported in the same cases as the
// stiffness.
TAUT_API taut_status taut_solver_set_damping(taut_solver *solver, size_t body, size_t material,
                                             double damping, taut_error *error);

// How a body with `elastic` or `fabric` is damped (docs/materials.md): by one of these at most, all
// at least 0.
typedef struct taut_material_damping {
    double ratio;     // of the critical damping of each spring and element
    double stiffness; // s, Rayleigh's: damping over stiffness of each spring and element
    double constant;  // N s/m, of springs inside; elements then have none. 0 for meshes and spheres
} taut_material_damping;

// The solid that a body with `elastic` consists of. Density, thickness and diameter, from which the
// masses follow, stay as in the scene.
typedef struct taut_elastic {
    double young;   // Pa, above 0
    double poisson; // 0 to 0.5, of lattices to 0.45; without effect for ropes
    taut_material_damping damping;
} taut_elastic;

// The fabric of a cloth with `fabric`. The areal density stays as in the scene.
typedef struct taut_fabric {
    double warp, weft; // N/m, C11 and C22, above 0
    double coupling;   // N/m, C12
    double shear;      // N/m, C66, above 0
    double bending[2]; // N m, at least 0, of curvature along the warp and along the weft
    double twist;      // N m, at least 0
    taut_material_damping damping;
} taut_fabric;

// Springs, with smaller constants on the boundary, areas, volumes, bending and damping follow.
// TAUT_ERROR_ARGUMENT also for what the network of the body cannot represent, with the reason, as
// for a scene. Unsupported if the body has no `elastic` (`fabric`), and if it was created without
// any elements and needs some now: a lattice with a Poisson's ratio of 1/4, or a fabric without
// bending, twist and area.
TAUT_API taut_status taut_solver_get_elastic(const taut_solver *solver, size_t body,
                                             taut_elastic *elastic, taut_error *error);
TAUT_API taut_status taut_solver_set_elastic(taut_solver *solver, size_t body,
                                             const taut_elastic *elastic, taut_error *error);
TAUT_API taut_status taut_solver_get_fabric(const taut_solver *solver, size_t body,
                                            taut_fabric *fabric, taut_error *error);
TAUT_API taut_status taut_solver_set_fabric(taut_solver *solver, size_t body,
                                            const taut_fabric *fabric, taut_error *error);

// Multiplies the present rest lengths of a material's springs by `factor`, above 0: muscles,
// growth, shrinkage. Springs that have yielded keep their proportion. The factors of several calls
// multiply.
TAUT_API taut_status taut_solver_scale_rest_lengths(taut_solver *solver, size_t body,
                                                    size_t material, double factor,
                                                    taut_error *error);

// kg, above 0: the mass of every node of the body from now on. Unsupported if a body moves by a
// formula.
TAUT_API taut_status taut_solver_set_node_mass(taut_solver *solver, size_t body, double mass,
                                               taut_error *error);

// m/s2. Unsupported if an oscillator or a pendulum moves by a formula.
TAUT_API taut_status taut_solver_set_gravity(taut_solver *solver, const double gravity[3],
                                             taut_error *error);

// kg/s per node, at least 0. Unsupported if an oscillator moves by a formula.
TAUT_API taut_status taut_solver_set_air_drag(taut_solver *solver, double drag, taut_error *error);

typedef struct taut_wind {
    double velocity[3];   // m/s, without gusts
    double coefficient;   // for laws node (kg/s) and face (kg/(m2 s)), at least 0
    double density, drag; // for law quadratic: kg/m3 and C_d, at least 0
} taut_wind;

// Unsupported if the scene has no wind. Law, `relative` and gusts stay as in the scene.
TAUT_API taut_status taut_solver_get_wind(const taut_solver *solver, taut_wind *wind,
                                          taut_error *error);
TAUT_API taut_status taut_solver_set_wind(taut_solver *solver, const taut_wind *wind,
                                          taut_error *error);

// While gas is pumped, a change of `amount` or `inflate` leaves the gas that is there: it is pumped
// on to the new amount, `inflate` of it in each step. Where there is more than the new amount, each
// step lets out `inflate` of what was there. `atmosphere` and `gamma` change the pressure at once.
typedef struct taut_gas {
    double amount;     // nRT, J, at least 0
    double atmosphere; // Pa, at least 0
    double gamma;      // at least 1; 1: isothermal
    double inflate;    // the fraction of the amount that is added per step, in (0, 1]
} taut_gas;

// Unsupported if the body has no gas.
TAUT_API taut_status taut_solver_get_gas(const taut_solver *solver, size_t body, taut_gas *gas,
                                         taut_error *error);
TAUT_API taut_status taut_solver_set_gas(taut_solver *solver, size_t body, const taut_gas *gas,
                                         taut_error *error);

typedef struct taut_contact {
    double stiffness;   // N/m, at least 0; for response penalty
    double friction;    // N s/m, at least 0
    double absorption;  // N s/m, at least 0; for response penalty
    double restitution; // in [0, 1]; for response project
    double keep;        // in [0, 1]; for response project
    // At least 0, static not less than kinetic; 0 for colliders without friction_coefficient.
    double friction_static, friction_kinetic;
} taut_contact;

// For a collider, by its index in the scene's list. Only members of its response can change, with
// `response: contact` coefficients of its own (TAUT_ERROR_ARGUMENT); a mesh's stay (_UNSUPPORTED).
TAUT_API taut_status taut_solver_get_contact(const taut_solver *solver, size_t collider,
                                             taut_contact *contact, taut_error *error);
TAUT_API taut_status taut_solver_set_contact(taut_solver *solver, size_t collider,
                                             const taut_contact *contact, taut_error *error);

// s, above 0. Turns dt: auto off. A duration given by the scene stays as it is, so the number of
// planned steps changes. Integrators that remember the previous step (verlet, bdf2) start again
// from the velocities, because that step had another dt.
TAUT_API taut_status taut_solver_set_dt(taut_solver *solver, double dt, taut_error *error);

// A 64-bit hash of all positions and velocities in builder order.
TAUT_API uint64_t taut_solver_hash(const taut_solver *solver);

#ifdef __cplusplus
}
#endif

#endif
