// The compiled scene, const during a step: the bodies in flat arrays of nodes, springs and faces,
// one body after the other, each in its builder's order or in that of reorder.h. The springs of a
// grid are in no array: they follow from its directions by arithmetic, and topology_run returns
// them. The order of work is left to plans (springs/plan.h), precision to state/.
#ifndef TAUT_TOPOLOGY_TOPOLOGY_H
#define TAUT_TOPOLOGY_TOPOLOGY_H

#include "scene/bodies.h"

// The third node of an edge of a plane body, which has only two.
#define FACE_EDGE UINT32_MAX

struct topology_body {
    char *name;
    enum body_type type;
    mark at;
    uint64_t first_node, node_count;
    uint64_t first_spring, spring_count;
    uint64_t kind_start[SPRING_KINDS_MAX + 1]; // within the body
    size_t first_direction, direction_count;   // 0 directions: the springs are listed,
    uint64_t first_listed;                     // from here on
    size_t first_material, material_count;     // of its kinds of springs, of a network any number
    uint64_t first_face, face_count;
    bool is_sheet; // the faces are those of a sheet of grid[0] nodes a row; others are listed,
    uint64_t first_listed_face; // from here on
    int face_arity;
    bool closed;
    struct scene_pressure pressure;
    uint64_t grid[3];    // nodes along x, y, z; zeros: no grid
    double mass;         // kg, all nodes
    double node_mass;    // kg, each node; 0: their masses are listed,
    uint64_t first_mass; // from here on
};

struct topology {
    const taut_allocator *allocator;
    struct topology_body *bodies;
    size_t body_count;

    uint64_t node_count;
    // Builder numbers of nodes and internal ones of the builder's, over all bodies; empty where
    // they are the same. Everything from here on uses internal numbers (reorder.h).
    uint64_t renumbered_count;
    uint32_t *builder_nodes, *internal_nodes;
    uint64_t mass_count; // of bodies whose nodes do not all have the same mass
    double *masses;      // kg
    uint64_t kinematic_count;
    uint32_t *kinematic; // nodes that are pinned, driven or prescribed, ascending: not integrated

    uint64_t spring_count; // of all bodies
    struct direction *directions;
    size_t direction_count;
    uint64_t listed_count;     // springs that are listed:
    uint32_t (*springs)[2];    // node numbers over all bodies
    uint64_t mixed_count;      // the same, or 0: all of them are of one material
    uint32_t *spring_material; // index into materials
    uint32_t one_material;
    // Rest lengths as built, m, in the precision of the run: one of these counts is 0.
    uint64_t double_count, single_count;
    double *rest_double;
    float *rest_single;

    uint64_t sorted_count;     // the same, or 0 where springs are in the builders' order
    uint32_t *builder_springs; // builder's numbers of listed springs, each in its body

    uint64_t face_count;        // of all bodies
    uint64_t listed_face_count; // of those that are no sheets:
    uint32_t (*faces)[3];       // node numbers over all bodies; third is FACE_EDGE in a plane body

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

// Compiles the bodies. Everything needed is copied: `scene` and `bodies` may be freed afterwards.
taut_status topology_cook(const taut_scene *scene, const struct bodies *bodies,
                          const taut_allocator *allocator, struct topology **result,
                          taut_error *error);

void topology_free(struct topology *topology);

// Bytes allocated.
uint64_t topology_bytes(const struct topology *topology);

// The body that a node, a spring, a face belongs to.
size_t topology_body_of_node(const struct topology *topology, uint64_t node);
size_t topology_body_of_spring(const struct topology *topology, uint64_t spring);
size_t topology_body_of_face(const struct topology *topology, uint64_t face);

// Whether a node takes no part in integration.
bool topology_is_kinematic(const struct topology *topology, uint64_t node);

// The nodes of a face, over all bodies; the third is FACE_EDGE in a plane body.
struct face {
    uint32_t nodes[3];
};

// The face of this number of one body, and of this number over all bodies.
struct face topology_body_face(const struct topology *topology, const struct topology_body *body,
                               uint64_t face);
struct face topology_face(const struct topology *topology, uint64_t face);

// Masses of nodes first .. end - 1, of one body.
struct node_masses {
    uint64_t first, end;
    const double *listed; // from node `first` on; NULL: each node has `each`
    double each;
};

// The masses of nodes from `node` on, up to `end` or the end of the node's body.
struct node_masses topology_masses(const struct topology *topology, uint64_t node, uint64_t end);

static inline double mass_in(const struct node_masses *masses, uint64_t node)
{
    return masses->listed ? masses->listed[node - masses->first] : masses->each;
}

static inline double topology_mass(const struct topology *topology, uint64_t node)
{
    struct node_masses one = topology_masses(topology, node, node + 1);
    return mass_in(&one, node);
}

// The builder's number of a node, and the node that has a builder's number.
static inline uint64_t topology_builder_node(const struct topology *topology, uint64_t node)
{
    return topology->renumbered_count ? topology->builder_nodes[node] : node;
}

static inline uint64_t topology_internal_node(const struct topology *topology, uint64_t node)
{
    return topology->renumbered_count ? topology->internal_nodes[node] : node;
}

// Of listed springs.
static inline uint32_t topology_listed_material(const struct topology *topology, uint64_t listed)
{
    return topology->mixed_count ? topology->spring_material[listed] : topology->one_material;
}

static inline double topology_listed_rest(const struct topology *topology, uint64_t listed)
{
    return topology->single_count ? (double)topology->rest_single[listed]
                                  : topology->rest_double[listed];
}

// Springs first .. first + count - 1, of which spring first + i joins nodes a + i and b + i (over
// all bodies). Material and rest length are the same for all of them.
struct spring_run {
    uint64_t first, count;
    uint32_t a, b;
    uint32_t material;
    double rest_length;
};

// The builder's number of a spring, over all bodies. Like nodes, springs have internal numbers
// from here on.
uint64_t topology_builder_spring(const struct topology *topology, uint64_t spring);

// The longest run that starts with this spring, of springs below `end` (at most its body's end).
struct spring_run topology_run(const struct topology *topology, uint64_t spring, uint64_t end);

// The run of this one spring. `near` (zeroed at first) remembers the run that the last one was
// found in, so that its neighbours are found without a search.
struct spring_run topology_spring_near(const struct topology *topology, uint64_t spring,
                                       struct spring_run *near);

static inline struct spring_run topology_spring(const struct topology *topology, uint64_t spring)
{
    return topology_run(topology, spring, spring + 1);
}

// Whether there is gas in any body.
static inline bool topology_has_gas(const struct topology *topology)
{
    for (size_t b = 0; b < topology->body_count; b++)
        if (topology->bodies[b].pressure.present)
            return true;
    return false;
}

// Whether there is a wind that depends on velocities.
static inline bool topology_wind_damps(const struct topology *topology)
{
    const struct scene_wind *wind = &topology->environment.wind;
    return wind->present && wind->relative && topology->face_count > 0;
}

// Whether it depends on those of nodes one by one (law node). Tangents leave such a wind out:
// implicit integrators take it explicitly, and eigenvalues do not see how it damps.
static inline bool topology_wind_damps_nodes(const struct topology *topology)
{
    return topology_wind_damps(topology) && topology->environment.wind.law == WIND_NODE;
}

#endif
