// The compiled scene, const during a step: flat arrays of nodes, springs and faces, one body after
// the other, each in its builder's order or in that of reorder.h. The springs of a grid are not
// stored: they follow from its directions by arithmetic, and topology_run returns them. Plans
// (springs/plan.h) determine the order of work, state/ the precision.
#ifndef TAUT_TOPOLOGY_TOPOLOGY_H
#define TAUT_TOPOLOGY_TOPOLOGY_H

#include "scene/bodies.h"
#include "scene/collider_pose.h"

// The third node of a face of a plane body, which is an edge and has only two.
#define FACE_EDGE UINT32_MAX

// A triangle of a membrane as built (topology_triangle_rest).
struct triangle_rest {
    double squares[3]; // m2, of the lengths of the edges opposite each corner
    vec3 normal;       // unit
    vec3 centre;       // m
};

struct topology_body {
    char *name;
    enum body_type type;
    mark at;
    uint64_t first_node, node_count;
    uint64_t first_spring, spring_count;
    uint64_t kind_start[SPRING_KINDS_MAX + 1]; // within the body
    size_t first_direction, direction_count;   // 0 directions: the springs are listed,
    uint64_t first_listed;                     // from this index
    size_t first_material, material_count;     // one per kind of spring; any number in a network
    uint64_t first_face, face_count;
    bool is_sheet; // a sheet with grid[0] nodes per row, which lists no faces; others list them
    uint64_t first_listed_face; // from this index
    int face_arity;
    bool closed;
    struct scene_pressure pressure;
    uint64_t grid[3]; // nodes along x, y, z; zeros: no grid
    struct body_elements elements;
    struct scene_body *moduli; // of a body with elastic or fabric: what its constants are made of
    uint64_t first_triangle;   // of a membrane: the number of its first face among those of all,
    uint64_t first_membrane_node; // and the index of its first node in membrane_nodes
    bool is_cut_grid;             // its springs are listed: those that cuts have left of a grid
    double mass;                  // kg, of all nodes
    double node_mass;             // kg, of each node; 0: they differ,
    double cell_mass;             // as those of struct body do; 0: masses are listed,
    uint64_t first_mass;          // from this index
    bool has_density; // the masses follow from a density, and are smaller on the boundary
    double mass_drag; // 1/s, drag of a node over its mass
    double mass_set;  // kg, of each node, by taut_solver_set_node_mass; 0: as built
    // Where ranks hold only their parts: another rank has its nodes, and here the lists have no
    // memory (topology_forget_lists).
    bool springs_absent, faces_absent;
};

// The mesh of a collider.
struct topology_collider {
    size_t collider;                 // index in topology->colliders
    uint64_t first_node, node_count; // nodes have numbers after those of all bodies
    uint64_t first_face, face_count; // in collider_faces
    double radius;                   // m, of the points about their own origin
    struct collider_speeds speeds;
};

struct topology {
    const taut_allocator *allocator;
    struct topology_body *bodies;
    size_t body_count;

    uint64_t node_count;
    // Translations between builder and internal numbers of nodes, from the first body that was
    // renumbered to the last one; the others have the same. Everything below uses internal numbers
    // (reorder.h).
    uint64_t first_renumbered, renumbered_count;
    uint32_t *builder_nodes, *internal_nodes;
    // All nodes if there is contact, otherwise 0; those of mesh colliders follow.
    uint64_t built_count;
    double (*built)[3];  // m, positions as built
    uint64_t mass_count; // nodes of bodies that list masses
    double *masses;      // kg
    uint64_t kinematic_count;
    uint32_t *kinematic; // kinematic nodes (pinned, driven or prescribed), ascending

    uint64_t spring_count; // of all bodies
    struct direction *directions;
    size_t direction_count;
    uint64_t listed_count;     // springs that are listed:
    uint32_t (*springs)[2];    // node numbers over all bodies
    uint64_t mixed_count;      // listed_count, or 0 if all have material one_material
    uint32_t *spring_material; // index into materials
    uint32_t one_material;
    // Rest lengths as built, m, in the precision of the run: one of these counts is 0.
    uint64_t double_count, single_count;
    double *rest_double;
    float *rest_single;
    bool rest_lengths_set; // some listed ones are no longer as built
                           // (taut_solver_scale_rest_lengths)

    uint64_t sorted_count;     // listed_count, or 0 if springs are in the builders' order
    uint32_t *builder_springs; // builder numbers of listed springs, within their bodies

    uint64_t face_count;        // of all bodies
    uint64_t listed_face_count; // faces of bodies that are not sheets
    uint32_t (*faces)[3];       // node numbers over all bodies; the third is FACE_EDGE in a plane
                                // body

    uint64_t triangle_count; // faces of bodies with a membrane, by the order of the bodies
    uint64_t membrane_node_count;
    double (*membrane_nodes)[3]; // m, positions as built of the nodes of these bodies

    // Bodies with elastic or fabric as in the scene, without names, paths and lists.
    struct scene_body *moduli;
    size_t moduli_count;

    struct material *materials;
    size_t material_count;
    bool any_breaks, any_yields;
    bool any_mass_drag; // of bodies
    bool has_contact;   // of surfaces (contact/surface_contact.h)

    struct motion *motions; // their nodes are numbered over all bodies
    size_t motion_count;
    struct drive_piece *drive_pieces; // of all drives
    size_t drive_piece_count;

    struct scene_collider *colliders; // without paths
    size_t collider_count;
    // Mesh colliders. Their nodes are numbered from node_count on; only contact of surfaces knows
    // them (state/state.h).
    struct topology_collider *mesh_colliders;
    size_t mesh_collider_count;
    uint64_t collider_node_count;
    double (*collider_points)[3]; // m, relative to the mesh's own origin (scene/collider_pose.h)
    uint64_t collider_face_count;
    uint32_t (*collider_faces)[3];
    struct scene_keyframe *keyframes; // of all of them
    double *keyframe_speeds;          // m/s, of all of them
    size_t keyframe_count;
    struct scene_environment environment;
    struct scene_gust *gusts;
};

// Compiles the bodies. Everything needed is copied: `scene` and `bodies` may be freed afterwards.
// The lists of each body (body_release_lists) are freed as soon as the topology has them.
taut_status topology_cook(const taut_scene *scene, struct bodies *bodies,
                          const taut_allocator *allocator, struct topology **result,
                          taut_error *error);

// Fills the absent lists of a body, and the numbers of its nodes. The body had been shed when the
// topology was made, and is built and renumbered now.
void topology_cook_lists(struct topology *topology, size_t body, const struct body *built);

void topology_free(struct topology *topology);

// Gives back the memory of the lists of a body whose nodes another rank has: that of its springs
// and, with `faces`, that of its faces. Its springs and faces then seem to be at its first node,
// and keep their materials, so that loops over all bodies find none of their own nodes in them;
// their rest lengths are not known. Without effect on a body of a grid.
//
// A kind of springs has one material; so not of a body whose springs have their own.
void topology_forget_lists(struct topology *topology, size_t body, bool faces);

// The part of each list that belongs to a body, one list after another, and the lists themselves.
// topology_recall_lists precedes filling those of a body that had none; then they are there.
enum { TOPOLOGY_LISTS = 6 };

struct topology_list {
    void *items; // of the body; NULL: there is none
    size_t bytes;
};

struct topology_list topology_list_of(const struct topology *topology, size_t body, int list);
void topology_recall_lists(struct topology *topology, size_t body);

// ---- Positions as built of membranes (membrane_nodes) where ranks hold only their parts: each
// keeps those of the nodes around its own when elements have been made of them, and rank 0 gets the
// others where it makes all elements.

// How many nodes of membranes there are before a node: its index in membrane_nodes, if it is one.
uint64_t topology_membrane_index(const struct topology *topology, uint64_t node);

// Gives back the memory of membrane_nodes outside [first, end). Until topology_recall_membranes,
// and until all are there again, triangles with such nodes may not be read.
void topology_forget_membranes(struct topology *topology, uint64_t first, uint64_t end);
void topology_recall_membranes(struct topology *topology);

// Whether more than half of all pairs of so many nodes are joined by a spring.
static inline bool joins_most_pairs(double nodes, double springs)
{
    return springs > nodes * (nodes - 1) / 4;
}

// The material of a spring of a kind of a body whose lists are absent; that kind, from the number
// of the spring within the body.
uint32_t topology_absent_material(const struct topology_body *body, uint64_t spring);

// Bytes allocated, but for absent lists.
uint64_t topology_bytes(const struct topology *topology);

// The body of a node, a spring or a face.
size_t topology_body_of_node(const struct topology *topology, uint64_t node);
size_t topology_body_of_spring(const struct topology *topology, uint64_t spring);
size_t topology_body_of_face(const struct topology *topology, uint64_t face);

// Whether a node is kinematic, that is, not integrated.
bool topology_is_kinematic(const struct topology *topology, uint64_t node);

// The nodes of a face, over all bodies; the third is FACE_EDGE in a plane body.
struct face {
    uint32_t nodes[3];
};

// The node by which faces are shared among ranks; FACE_EDGE is greater than all.
static inline uint32_t face_lowest_node(const struct face *face)
{
    const uint32_t *nodes = face->nodes, lower = nodes[0] < nodes[1] ? nodes[0] : nodes[1];
    return lower < nodes[2] ? lower : nodes[2];
}

// Face number `face` of one body, and number `face` over all bodies.
struct face topology_body_face(const struct topology *topology, const struct topology_body *body,
                               uint64_t face);
struct face topology_face(const struct topology *topology, uint64_t face);

// The body of a triangle of a membrane, by its number among those of all membranes, and its nodes.
const struct topology_body *topology_body_of_triangle(const struct topology *topology,
                                                      uint64_t triangle);
static inline const uint32_t *topology_triangle(const struct topology *topology,
                                                const struct topology_body *body, uint64_t triangle)
{
    return topology->faces[body->first_listed_face + (triangle - body->first_triangle)];
}

// A triangle of a membrane as built, and the squared lengths alone. Found anew, since a body has
// twice as many triangles as nodes, and what is known of one takes three times the memory.
struct triangle_rest topology_triangle_rest(const struct topology *topology, uint64_t triangle);
void topology_triangle_squares(const struct topology *topology, uint64_t triangle,
                               double squares[3]);

// Masses of nodes first .. end - 1 of one body.
struct node_masses {
    uint64_t first, end;
    const double *listed; // listed[0] is that of node `first`; NULL: every node has `each`,
    uint64_t ends[2];     // but these, the first and the last of a row, `side`
    double each, side;
    double mass_drag; // 1/s, of the body
};

// The masses of nodes from `node` up to `end` or the end of the node's body, or of its row if they
// are smaller on the boundary of a grid.
struct node_masses topology_masses(const struct topology *topology, uint64_t node, uint64_t end);

static inline double mass_in(const struct node_masses *masses, uint64_t node)
{
    if (masses->listed)
        return masses->listed[node - masses->first];
    return node == masses->ends[0] || node == masses->ends[1] ? masses->side : masses->each;
}

// The drag coefficient of a node, kg/s, where the air's is `air_drag`.
static inline double drag_in(const struct node_masses *masses, double air_drag, uint64_t node)
{
    return masses->mass_drag > 0 ? air_drag + masses->mass_drag * mass_in(masses, node) : air_drag;
}

// Gives every node of the body this mass, kg, whether masses differ or not.
void topology_set_node_mass(struct topology *topology, size_t body, double mass);

// Gives a body with elastic or fabric the constants of springs and elements of another material,
// for which body_set_constants has succeeded. A body that has elements keeps them, if with a
// stiffness of 0; one that has none gets none.
void topology_set_moduli(struct topology *topology, size_t body, const struct scene_body *moduli);

// kg, of all nodes, kinematic ones included.
double topology_total_mass(const struct topology *topology);

// The least mass of nodes first .. end - 1, kg, kinematic ones included; INFINITY without any.
double topology_least_mass(const struct topology *topology, uint64_t first, uint64_t end);

static inline double topology_mass(const struct topology *topology, uint64_t node)
{
    struct node_masses one = topology_masses(topology, node, node + 1);
    return mass_in(&one, node);
}

// The builder's number of a node, and the node with a given builder's number.
static inline uint64_t topology_builder_node(const struct topology *topology, uint64_t node)
{
    const uint64_t inside = node - topology->first_renumbered; // huge before
    return inside < topology->renumbered_count ? topology->builder_nodes[inside] : node;
}

static inline uint64_t topology_internal_node(const struct topology *topology, uint64_t node)
{
    const uint64_t inside = node - topology->first_renumbered;
    return inside < topology->renumbered_count ? topology->internal_nodes[inside] : node;
}

// Material and rest length of a listed spring.
static inline uint32_t topology_listed_material(const struct topology *topology, uint64_t listed)
{
    return topology->mixed_count ? topology->spring_material[listed] : topology->one_material;
}

static inline double topology_listed_rest(const struct topology *topology, uint64_t listed)
{
    return topology->single_count ? (double)topology->rest_single[listed]
                                  : topology->rest_double[listed];
}

// Springs first .. first + count - 1. Spring first + i joins nodes a + i and b + i (over all
// bodies). All have the same material and rest length.
struct spring_run {
    uint64_t first, count;
    uint32_t a, b;
    uint32_t material;
    double rest_length;
};

// The builder's number of a spring, over all bodies. Springs have internal numbers, as nodes do.
uint64_t topology_builder_spring(const struct topology *topology, uint64_t spring);

// The longest run that begins with this spring and ends before spring `end` (at most the end of its
// body).
struct spring_run topology_run(const struct topology *topology, uint64_t spring, uint64_t end);

// The sum of the stiffnesses of springs first .. end - 1, N/m.
double topology_stiffness(const struct topology *topology, uint64_t first, uint64_t end);

// This spring as a run of one. `near` (zeroed at first) caches the run of the last lookup, so that
// neighbouring springs are found without a search.
struct spring_run topology_spring_near(const struct topology *topology, uint64_t spring,
                                       struct spring_run *near);

static inline struct spring_run topology_spring(const struct topology *topology, uint64_t spring)
{
    return topology_run(topology, spring, spring + 1);
}

// Whether any body contains gas.
static inline bool topology_has_gas(const struct topology *topology)
{
    for (size_t b = 0; b < topology->body_count; b++)
        if (topology->bodies[b].pressure.present)
            return true;
    return false;
}

// Whether any body has elements beside its springs.
static inline bool topology_has_elements(const struct topology *topology)
{
    for (size_t b = 0; b < topology->body_count; b++)
        if (topology->bodies[b].elements.present)
            return true;
    return false;
}

// The greatest speed of the wind that gusts may add up to, m/s.
double topology_wind_speed(const struct topology *topology);

// Whether there is a wind that depends on velocities.
static inline bool topology_wind_damps(const struct topology *topology)
{
    const struct scene_wind *wind = &topology->environment.wind;
    return wind->present && wind->relative && topology->face_count > 0;
}

// Whether there is a wind that depends on the velocities of single nodes (law node). Tangents omit
// it: implicit integrators treat it explicitly, and eigenvalues do not include its damping.
static inline bool topology_wind_damps_nodes(const struct topology *topology)
{
    return topology_wind_damps(topology) && topology->environment.wind.law == WIND_NODE;
}

// Whether there is one that depends on those of faces, whose damping tangents include.
static inline bool topology_wind_damps_faces(const struct topology *topology)
{
    return topology_wind_damps(topology) && !topology_wind_damps_nodes(topology);
}

#endif
