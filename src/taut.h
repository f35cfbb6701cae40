// taut: a multithreaded solver for mass-spring systems.
//
// Conventions, before anything else:
//  - SI units: metres, kilograms, seconds, newtons. Angles of the scene file are in degrees.
//  - Counts are 64-bit. Nodes are numbered as the body's builder numbers them (docs/scene.md); no
//    internal reordering ever shows.
//  - A function that can fail returns a taut_status. What the user can cause is a status, with a
//  sentence
//    in the taut_error that was passed (or NULL); what only a bug of the caller can cause is an
//    assert.
//  - Handles are opaque, made by a ..._create, ..._load or ..._parse function and released by
//  ..._destroy
//    (NULL is allowed). Nothing is global: two solvers may run at once in two threads; one solver
//    may be used by one thread at a time.
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
    TAUT_ERROR_ARGUMENT,    // a value handed to the library is out of its range
    TAUT_ERROR_SCENE,       // the scene file, or a file that it names, has errors
    TAUT_ERROR_MEMORY,      // an allocation failed
    TAUT_ERROR_IO,          // a file could not be read or written
    TAUT_ERROR_DIVERGED,    // a value is not finite, or energy grew as only instability explains
    TAUT_ERROR_COLLAPSED,   // the volume of a pressurised body is zero or negative
    TAUT_ERROR_UNSUPPORTED, // this build or machine cannot do what was asked
} taut_status;

// A short English name of the status; never NULL.
TAUT_API const char *taut_status_text(taut_status status);

// Where a failing function puts its sentence. Zero it before the first use.
typedef struct taut_error {
    taut_status code;
    char text[1024];
} taut_error;

// Memory for the solver's arrays. `allocate` returns a block of at least `bytes` bytes aligned to
// `alignment` (a power of two), or NULL; `release` gets the size it was asked for.
typedef struct taut_allocator {
    void *(*allocate)(void *context, size_t bytes, size_t alignment);
    void (*release)(void *context, void *block, size_t bytes);
    void *context;
} taut_allocator;

// "0.1.0", the version of the library that is linked.
TAUT_API const char *taut_version(void);

// ---- Scenes
// ---------------------------------------------------------------------------------------

typedef struct taut_scene taut_scene;

// Receives each finding about a scene, rendered as FILE:LINE:COLUMN: error: TEXT with the source
// line and a caret. Several lines, ending in a newline.
typedef void (*taut_message_function)(void *context, const char *message);

typedef struct taut_scene_options {
    const char *const *overrides; // "PATH=VALUE", as the command line's --set; may be NULL
    size_t override_count;
    taut_message_function on_message; // may be NULL
    void *message_context;
} taut_scene_options;

// Fills `options` with the defaults: no overrides, no message function.
TAUT_API void taut_scene_options_default(taut_scene_options *options);

// Reads and validates a scene file and every file that it names. On failure *scene is NULL, every
// error has been given to on_message, and `error` says why: TAUT_ERROR_IO with the system's reason
// if the scene file itself cannot be read, TAUT_ERROR_SCENE with the number of errors if anything
// in it or in a file that it names is wrong (or that file cannot be read), TAUT_ERROR_MEMORY.
// `options` may be NULL.
TAUT_API taut_status taut_scene_load(const char *path, const taut_scene_options *options,
                                     taut_scene **scene, taut_error *error);

// The same from `length` bytes of text. `name` is what messages call it, and its folder is what
// relative paths are relative to.
TAUT_API taut_status taut_scene_parse(const char *text, size_t length, const char *name,
                                      const taut_scene_options *options, taut_scene **scene,
                                      taut_error *error);

TAUT_API void taut_scene_destroy(taut_scene *scene);

// ---- Solver
// ---------------------------------------------------------------------------------------

typedef struct taut_solver taut_solver;

typedef enum taut_kernel {
    TAUT_KERNEL_AUTO,      // grid and packed kernels of the widest instruction set, on all threads
    TAUT_KERNEL_REFERENCE, // the plain serial loops: oracle and baseline
} taut_kernel;

typedef enum taut_isa {
    TAUT_ISA_AUTO, // the environment variable TAUT_ISA (base, v3, v4), else the widest there is
    TAUT_ISA_BASE, // what every machine of the architecture has: SSE2 or NEON
    TAUT_ISA_V3,   // x86-64-v3: AVX2
    TAUT_ISA_V4,   // x86-64-v4: AVX-512
} taut_isa;

typedef struct taut_config {
    // 0: one for each physical core that this process may use. At most four for each logical
    // processor, and 16: taut_solver_threads tells how many there are.
    int threads;
    taut_kernel kernel;
    int no_pin;   // 0: on machines with several memory nodes a team with a thread for each core has
                  // each of them held to its node while it steps; 1: they may run anywhere
    taut_isa isa; // which kernels to use; the results are the same bits
    const taut_allocator *allocator; // NULL: aligned_alloc, and mappings for large blocks
} taut_config;

// Fills `config` with the defaults.
TAUT_API void taut_config_default(taut_config *config);

// Builds the bodies of the scene, cooks them, and stands at time 0. The scene may be destroyed
// afterwards. `config` may be NULL.
TAUT_API taut_status taut_solver_create(const taut_scene *scene, const taut_config *config,
                                        taut_solver **solver, taut_error *error);

TAUT_API void taut_solver_destroy(taut_solver *solver);

// Advances by `steps` steps of the scene's dt. On TAUT_ERROR_DIVERGED and TAUT_ERROR_COLLAPSED the
// state is left as it was when the fault was found, and `error` says where it began.
TAUT_API taut_status taut_solver_step(taut_solver *solver, uint64_t steps, taut_error *error);

typedef struct taut_energy {
    double kinetic, elastic, gravity, gas, contact, total; // J
} taut_energy;

// The energy now, in joules; gravity is measured from the origin of coordinates.
TAUT_API taut_status taut_solver_energy(taut_solver *solver, taut_energy *energy,
                                        taut_error *error);

TAUT_API double taut_solver_time(const taut_solver *solver);            // s
TAUT_API double taut_solver_dt(const taut_solver *solver);              // s
TAUT_API uint64_t taut_solver_step_count(const taut_solver *solver);    // steps done
TAUT_API uint64_t taut_solver_steps_planned(const taut_solver *solver); // steps the scene asks for
TAUT_API uint64_t taut_solver_node_count(const taut_solver *solver);
TAUT_API uint64_t taut_solver_spring_count(const taut_solver *solver);
TAUT_API uint64_t taut_solver_face_count(const taut_solver *solver);
TAUT_API uint64_t taut_solver_broken_count(const taut_solver *solver);
TAUT_API int taut_solver_threads(const taut_solver *solver);
TAUT_API size_t taut_solver_body_count(const taut_solver *solver);

// The index of the body of that name, or -1.
TAUT_API ptrdiff_t taut_solver_find_body(const taut_solver *solver, const char *name);
TAUT_API const char *taut_solver_body_name(const taut_solver *solver, size_t body);
TAUT_API uint64_t taut_solver_body_node_count(const taut_solver *solver, size_t body);

// The volume (in 2D the area) that the faces of a closed body enclose now, in m3 (m2); 0 for
// others.
TAUT_API double taut_solver_body_volume(taut_solver *solver, size_t body);

// Copies 3 doubles a node (x, y, z), in builder order, into `values`, which holds 3 * node_count of
// the body. Velocities of the Verlet integrator are the centred ones of the present state.
TAUT_API void taut_solver_get_positions(const taut_solver *solver, size_t body, double *values);
TAUT_API void taut_solver_get_velocities(const taut_solver *solver, size_t body, double *values);

// The largest stable steps at the present state (docs/numerics.md). Bounds are guaranteed and cost
// a few steps; sharp values come from eigenvalues and cost some hundred.
typedef struct taut_critical_step {
    double bound, sharp;       // s, of an undamped symplectic step; 0 where nothing oscillates
    double dt_bound, dt_sharp; // s, of the scene's integrator, damping included; 0: no step is
                               // stable; INFINITY: every step is
    uint64_t node;             // over all bodies: where the bound is set
} taut_critical_step;

// `sharp` and `dt_sharp` are 0 unless `want_sharp`. The state stays as it is.
TAUT_API taut_status taut_solver_critical_step(taut_solver *solver, int want_sharp,
                                               taut_critical_step *result, taut_error *error);

// Moves a sphere collider (by its place in the scene's list of colliders) and gives it a velocity.
TAUT_API taut_status taut_solver_set_sphere(taut_solver *solver, size_t collider,
                                            const double centre[3], const double velocity[3],
                                            taut_error *error);

// A 64-bit hash of all positions and velocities in builder order.
TAUT_API uint64_t taut_solver_hash(const taut_solver *solver);

#ifdef __cplusplus
}
#endif

#endif
