// What a run computes with and never changes: the bodies of the scene cooked into flat arrays over
// all bodies, nodes, springs and faces one body after the other, each in its builder's order.
// Precision, threads and order of work are the business of plan/ and state/.
#ifndef TAUT_TOPOLOGY_TOPOLOGY_H
#define TAUT_TOPOLOGY_TOPOLOGY_H

#include "scene/bodies.h"

// In the third place of an edge of a plane body, which has only two nodes.
#define FACE_EDGE UINT32_MAX

struct topology_body {
    char *name;
    enum body_type type;
    mark at;
    uint64_t first_node, node_count;
    uint64_t first_spring, spring_count;
    uint64_t kind_start[SPRING_KINDS_MAX + 1]; // within the body
    uint64_t first_face, face_count;
    int face_arity;
    bool closed;
    struct scene_pressure pressure;
    uint64_t grid[3];
    double mass; // kg, all nodes
};

struct topology {
    const taut_allocator *allocator;
    struct topology_body *bodies;
    size_t body_count;

    uint64_t node_count;
    double *mass;   // kg
    uint8_t *fixed; // pinned, driven or prescribed: takes no part in integration

    uint64_t spring_count;
    uint32_t (*springs)[2];    // node numbers over all bodies
    uint32_t *spring_material; // index into materials
    double *rest_length;       // m, as built

    uint64_t face_count;
    uint32_t (*faces)[3]; // third is FACE_EDGE in a plane body

    struct material *materials;
    size_t material_count;
    bool any_breaks, any_yields;

    struct motion *motions; // their node counts over all bodies
    size_t motion_count;
    struct drive_piece *drive_pieces; // of all drives
    size_t drive_piece_count;

    struct scene_collider *colliders;
    size_t collider_count;
    struct scene_environment environment;
    struct scene_gust *gusts;
};

// Cooks the bodies. Everything needed is copied: `scene` and `bodies` may go afterwards.
taut_status topology_cook(const taut_scene *scene, const struct bodies *bodies,
                          const taut_allocator *allocator, struct topology **result,
                          taut_error *error);

void topology_free(struct topology *topology);

// Bytes held.
uint64_t topology_bytes(const struct topology *topology);

// The body that a node belongs to.
size_t topology_body_of_node(const struct topology *topology, uint64_t node);

#endif
