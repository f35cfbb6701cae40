// What is drawn. A subject is what stays the same while a scene keeps its springs: which nodes,
// springs, faces and colliders there are. A subject_frame is where they are at one time, in single
// precision; frames are taken from a solver, and kept in memory until they are drawn (frame_cache).
// Numbers of nodes, springs and faces run over all bodies, in builder order. Needs no OpenGL; the
// renderer (renderer.h) knows subjects and frames, and nothing of solvers.
#ifndef TAUT_PICTURE_SUBJECT_H
#define TAUT_PICTURE_SUBJECT_H

#include "scene/scene.h"

enum pin { PIN_NONE, PIN_FIXED, PIN_KINEMATIC }; // kinematic: driven, or by a closed form

struct subject_body {
    char *name;
    enum body_type type;
    uint64_t first_node, node_count;
    uint64_t first_spring, spring_count; // of those that the subject has
    uint64_t first_face, face_count;
    int face_arity; // 3, 2 (edges of a plane body) or 0
    bool closed;
    uint64_t grid[3]; // rope: {n, 1, 1}; cloth: {nu, nv, 1}; lattice: {nx, ny, nz}; else zeros
};

struct subject {
    struct subject_body *bodies;
    size_t body_count;
    uint64_t node_count, spring_count, face_count;
    uint32_t (*springs)[2];
    uint32_t *spring_numbers; // of each spring, among all of the scene; NULL: all of them are here
    uint64_t number_count;    // of that list, or 0
    uint64_t springs_in_all;
    uint64_t every;       // one spring of `every` is here
    uint8_t *kinds;       // a spring: index of its kind in its body's type (spring_kind_name)
    float *rest_lengths;  // a spring, m, as built
    float *stiffnesses;   // a spring, N/m
    uint8_t *laws;        // a spring: enum spring_law
    uint32_t (*faces)[3]; // outside is where their nodes are seen counter-clockwise; the third is
                          // the second again where the body's arity is 2
    uint8_t *pins;        // a node: enum pin
    struct scene_collider *colliders;
    size_t collider_count;
    float up[3];           // unit: against gravity; y where there is none
    float low[3], high[3]; // the box of the nodes as built
    bool built_flat;       // all nodes have one z as built,
    bool flat;             // and so will stay: a scene in a plane
};

struct subject_sphere {
    float centre[3], radius; // m
};

struct subject_line {
    float from[3], to[3];
};

// Positions and what else changes from step to step, at one time. The arrays belong to others
// (frame_storage, or the history of a player).
struct subject_frame {
    double time; // s
    uint64_t step;
    const float *positions;               // 3 a node, m
    const float *strains;                 // a spring of the subject: (L - L0) / L0; NULL: not read
    const uint8_t *broken;                // a spring of the subject; NULL: none
    const struct subject_sphere *spheres; // a collider of the subject; radius 0 of other types
    float wind[3];                        // m/s, at this time; 0 without wind
    const struct subject_line *mouse_springs; // from the node that is grabbed to the pointer
    size_t mouse_spring_count;
};

struct subject_options {
    uint64_t springs_max; // at most this many springs, every n-th; 0: none
};

// `subject` is empty after a failure.
taut_status subject_make(const taut_solver *solver, const struct subject_options *options,
                         struct subject *subject, taut_error *error);

// The same subject with the present constants of its solver: stiffnesses, and which way is up.
taut_status subject_update(const taut_solver *solver, const struct subject *before,
                           struct subject *subject, taut_error *error);

void subject_free(struct subject *subject);

// A frame with arrays of its own, for a subject.
struct frame_storage {
    struct subject_frame frame; // points into the arrays
    float *positions, *strains;
    uint8_t *broken;
    struct subject_sphere *spheres;
    uint64_t node_count, spring_count;
    size_t sphere_count;
    double *all_strains; // of all springs of the solver, while they are read
    uint8_t *all_broken;
    uint64_t all_count;
};

// `strains`: with room for strains and broken flags.
taut_status frame_storage_make(const struct subject *subject, bool strains,
                               struct frame_storage *storage, taut_error *error);

// Fills the storage from the solver's present state, with the solver's own threads; strains and
// broken flags where they are wanted and there is room. The state does not change.
void frame_storage_read(taut_solver *solver, const struct subject *subject, bool strains,
                        struct frame_storage *storage);

void frame_storage_free(struct frame_storage *storage);

// ---- The frame cache

// Frames of a subject that are kept until they are drawn: the camera of a strip or film sees where
// the bodies are at all of its times, so all frames are computed before the first is drawn.

struct frame_cache {
    const struct subject *subject;
    struct frame_storage *frames;
    size_t count, capacity;
    uint64_t bytes, bytes_most;
    bool overflowed; // there was no room for all: none are kept
};

// An empty cache. The subject must outlive it.
struct frame_cache frame_cache_make(const struct subject *subject, uint64_t bytes_most);

// Keeps a copy of a frame; the first always. Where the cache would grow beyond its limit, it drops
// all frames and keeps none from then on (overflowed).
taut_status frame_cache_add(struct frame_cache *cache, const struct subject_frame *frame,
                            taut_error *error);

void frame_cache_free(struct frame_cache *cache);

#endif
