// The objects that are drawn. A subject has the data that stay the same while a scene keeps its
// springs: nodes, springs, faces and colliders. A frame (state/frame.h) has their positions at one
// time; frames are read from a solver, and stored until they are drawn (frame_cache). Numbers of
// nodes, springs and faces run over all bodies, in builder order. Needs no OpenGL; the renderer
// (renderer.h) reads subjects and frames, and does not depend on solvers.
#ifndef TAUT_PICTURE_SUBJECT_H
#define TAUT_PICTURE_SUBJECT_H

#include "scene/scene.h"
#include "scene/collider_pose.h"
#include "state/frame.h"

enum pin { PIN_NONE, PIN_FIXED, PIN_KINEMATIC }; // kinematic: driven, or moved by a closed form

struct subject_body {
    char *name;
    enum body_type type;
    uint64_t first_node, node_count;
    uint64_t first_spring, spring_count; // of the springs that the subject has
    uint64_t first_face, face_count;
    int face_arity; // 3, 2 (edges of a plane body) or 0
    bool closed;
    uint64_t grid[3]; // rope: {n, 1, 1}; cloth: {nu, nv, 1}; lattice: {nx, ny, nz}; else zeros
};

// A corner of a triangle of a mesh collider, relative to the mesh's own origin (collider_pose.h),
// as the renderer draws it.
struct subject_corner {
    float position[3], normal[3];
};

struct subject_mesh {
    size_t collider; // index in colliders
    uint64_t first_corner, corner_count;
    float low[3], high[3]; // their box, relative to the origin
};

struct subject {
    struct subject_body *bodies;
    size_t body_count;
    uint64_t node_count, spring_count, face_count;
    uint32_t (*springs)[2];
    uint32_t *spring_numbers; // of each spring in the scene; NULL: the subject has all springs
    uint64_t number_count;    // of that list, or 0
    uint64_t springs_in_all;
    uint64_t every;       // the subject has one spring of `every`
    uint8_t *kinds;       // per spring: index of its kind in its body's type (spring_kind_name)
    float *rest_lengths;  // per spring, m, as built
    float *stiffnesses;   // per spring, N/m
    uint8_t *laws;        // per spring: enum spring_law
    uint32_t (*faces)[3]; // counter-clockwise seen from outside; if the body's arity is 2, the
                          // third node repeats the second
    uint8_t *pins;        // per node: enum pin
    struct scene_collider *colliders;
    size_t collider_count;
    struct subject_mesh *meshes; // mesh colliders
    size_t mesh_count;
    struct subject_corner *corners; // of all of them
    uint64_t corner_count;
    struct scene_keyframe *keyframes; // of all colliders, which point to them
    size_t keyframe_count;
    float up[3];           // unit: against gravity; y without gravity
    float low[3], high[3]; // the box of the nodes as built
    bool built_flat;       // all nodes have the same z as built,
    bool flat;             // and keep it: a scene in a plane
};

struct subject_options {
    uint64_t springs_max; // at most this many springs, every n-th; 0: none
};

// `subject` is empty after a failure.
taut_status subject_make(const taut_solver *solver, const struct subject_options *options,
                         struct subject *subject, taut_error *error);

// The same subject with the present constants of its solver: stiffnesses, and the up direction.
taut_status subject_update(const taut_solver *solver, const struct subject *before,
                           struct subject *subject, taut_error *error);

void subject_free(struct subject *subject);

// Where a mesh collider is in a frame.
struct collider_pose subject_mesh_pose(const struct subject *subject, size_t mesh,
                                       const struct frame *frame);

// The box of a mesh collider in such a pose, m: that of its box's corners.
void subject_mesh_box(const struct subject *subject, size_t mesh, const struct collider_pose *pose,
                      vec3 *low, vec3 *high);

// Optional data of a picture's frame: strains and broken flags of springs, if the subject has any;
// and contacts.
enum { SUBJECT_STRAINS = 1, SUBJECT_CONTACTS = 2 };

// A frame of a subject (state/frame.h): the fields that pictures show, with arrays for volumes and
// for the `wanted` data. The subject must outlive it.
taut_status subject_make_frame(const struct subject *subject, unsigned wanted, struct frame *frame,
                               taut_error *error);

// ---- The frame cache

// Frames of a subject, stored until they are drawn: the camera of a strip or film is fitted to the
// bodies at all of its times, so all frames are computed before the first is drawn.

struct frame_cache {
    struct frame *frames;
    size_t count, capacity;
    uint64_t bytes, bytes_max;
    bool overflowed; // the limit was reached: no frames are stored
};

// An empty cache.
struct frame_cache frame_cache_make(uint64_t bytes_max);

// Stores a copy of the fields that pictures show; the first frame is always stored. If the cache
// would grow beyond its limit, it drops all frames and stores none from then on (overflowed).
taut_status frame_cache_add(struct frame_cache *cache, const struct frame *frame,
                            taut_error *error);

void frame_cache_free(struct frame_cache *cache);

#endif
