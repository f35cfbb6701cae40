// What is drawn. A subject is what stays the same while a scene keeps its springs: which nodes,
// springs, faces and colliders there are. A frame (state/frame.h) is where they are at one time;
// frames are read from a solver, and kept in memory until they are drawn (frame_cache).
// Numbers of nodes, springs and faces run over all bodies, in builder order. Needs no OpenGL; the
// renderer (renderer.h) knows subjects and frames, and nothing of solvers.
#ifndef TAUT_PICTURE_SUBJECT_H
#define TAUT_PICTURE_SUBJECT_H

#include "scene/scene.h"
#include "state/frame.h"

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

// A frame of a subject (state/frame.h): what pictures show, with room for volumes; `strains`: and
// for the strains and broken flags of springs, if the subject has any. The subject must outlive it.
taut_status subject_make_frame(const struct subject *subject, bool strains, struct frame *frame,
                               taut_error *error);

// ---- The frame cache

// Frames of a subject that are kept until they are drawn: the camera of a strip or film sees where
// the bodies are at all of its times, so all frames are computed before the first is drawn.

struct frame_cache {
    struct frame *frames;
    size_t count, capacity;
    uint64_t bytes, bytes_most;
    bool overflowed; // there was no room for all: none are kept
};

// An empty cache.
struct frame_cache frame_cache_make(uint64_t bytes_most);

// Keeps a copy of what pictures show of a frame; of the first always. Where the cache would grow
// beyond its limit, it drops all frames and keeps none from then on (overflowed).
taut_status frame_cache_add(struct frame_cache *cache, const struct frame *frame,
                            taut_error *error);

void frame_cache_free(struct frame_cache *cache);

#endif
