// What the builders share. A builder fills the nodes, springs and faces of one body as its type
// says; bodies.c goes on with what all bodies have in common: place, masses, velocities, materials,
// pins, drives and the checks of a surface.
#ifndef TAUT_SCENE_BUILD_H
#define TAUT_SCENE_BUILD_H

#include "base/status.h"
#include "scene/bodies.h"

// The most nodes of one body: their numbers are 32 bits wide, and UINT32_MAX stands for "none".
#define BODY_NODES_MAX (UINT64_C(0xffffffff) - 1)

// Links `all` grow with the square of the nodes: 200 million springs at this many.
enum { LINK_ALL_NODES_MAX = 20000 };

// Directions of a lattice of two shells.
enum { GRID_LINKS_MAX = 26 };

// What holds a node while its body is built (body.fixed becomes 0 or 1 at the end).
enum hold { HOLD_FREE, HOLD_PINNED, HOLD_MOVED };

struct rotation {
    double rows[3][3];
};

// One body on its way: what the scene says and what has been made of it.
struct build {
    const taut_scene *scene;
    const struct scene_body *given;
    struct body *body;
    struct rotation rotation;
    struct diagnostics *diagnostics;
    taut_error *error;
    bool placed;         // the builder has applied translate and rotate itself
    bool has_masses;     // the builder has set the masses
    bool has_velocities; // the builder has set the velocities
};

// How many springs of each kind, and how many faces.
struct build_counts {
    uint64_t nodes;
    uint64_t springs[SPRING_KINDS_MAX];
    size_t directions; // of a grid; 0: springs are listed
    uint64_t faces;
    int face_arity;
    bool is_sheet; // the faces need no list
};

// A grid and the directions in which it has springs.
struct grid {
    uint64_t nodes[3];
    struct {
        size_t kind;
        struct grid_direction to;
    } links[GRID_LINKS_MAX];
    size_t link_count;
};

// What the bodies of a type will have, from the scene alone: the builders count by it, and so does
// body_size_find before anything is built. False for what the builder refuses.
bool rope_count(const struct scene_body *given, struct grid *grid, struct build_counts *counts);
bool cloth_count(const struct scene_body *given, struct grid *grid, struct build_counts *counts);
bool ring_count(const struct scene_body *given, struct build_counts *counts);
bool lattice_count(const struct scene_body *given, struct grid *grid, struct build_counts *counts);
// Nodes and faces; which springs there are only the surface tells.
bool sphere_count(const struct scene_body *given, struct build_counts *counts);

// Bytes of the arrays that build_allocate makes for a body.
double build_bytes(const struct scene_body *given, const struct build_counts *counts);

// One builder for each type.
taut_status build_rope(struct build *build);
taut_status build_cloth(struct build *build);
taut_status build_ring(struct build *build);
taut_status build_quad(struct build *build);
taut_status build_sphere(struct build *build);
taut_status build_lattice(struct build *build);
taut_status build_mesh(struct build *build);
taut_status build_network(struct build *build);
taut_status build_oscillator(struct build *build);
taut_status build_pendulum(struct build *build);

// Puts an error at a place of the scene file and returns TAUT_ERROR_SCENE.
taut_status build_refuse(struct build *build, mark at, const char *format, ...) PRINTF_FORMAT(3, 4);

// Puts a warning at a place of the scene file: the body is built all the same.
void build_warn(struct build *build, mark at, const char *format, ...) PRINTF_FORMAT(3, 4);

// Fails for want of memory, naming the body.
taut_status build_no_memory(struct build *build);

// Of a body whose file could not be read, which is in `diagnostics`: TAUT_ERROR_MEMORY, or else
// TAUT_ERROR_SCENE, whatever is wrong with the file.
taut_status build_file_status(struct build *build);

// a * b * c nodes into *product; false if that is more than a body may have.
bool node_product(uint64_t a, uint64_t b, uint64_t c, uint64_t *product);

// Gives the body its arrays, zeroed, and its table of kinds. Refuses more nodes than a body may
// have, and arrays that take more memory than is left (better than to be killed while filling
// them): most scenes are refused before they are built (solver_memory.h), but how much a file holds
// is only known when it has been read.
taut_status build_allocate(struct build *build, const struct build_counts *counts);

// Writes springs one after the other, in the order of their kinds.
struct spring_writer {
    uint32_t (*springs)[2];
    uint64_t count;
};

static inline void spring_write(struct spring_writer *writer, uint64_t a, uint64_t b)
{
    writer->springs[writer->count][0] = (uint32_t)a;
    writer->springs[writer->count][1] = (uint32_t)b;
    writer->count++;
}

static inline void face_write(struct body *body, uint64_t face, uint64_t a, uint64_t b, uint64_t c)
{
    body->faces[3 * face] = (uint32_t)a;
    body->faces[3 * face + 1] = (uint32_t)b;
    body->faces[3 * face + 2] = (uint32_t)c;
}

static inline vec3 body_position(const struct body *body, uint64_t node)
{
    const double *p = &body->positions[3 * node];
    return vec3_make(p[0], p[1], p[2]);
}

static inline void vec3_store(double *values, uint64_t node, vec3 v)
{
    values[3 * node] = v.x;
    values[3 * node + 1] = v.y;
    values[3 * node + 2] = v.z;
}

// Adds a direction; nothing where no node has a partner there. Kinds must come in their order.
void grid_link(struct grid *grid, size_t kind, const int steps[3]);

// Adds the springs of all directions to the counts.
void grid_count(const struct grid *grid, struct build_counts *counts);

// Gives the body, which has been allocated by these counts, its grid and its directions.
void grid_springs(const struct grid *grid, struct body *body);

// Each with each where the body has springs of this kind (and then no others): n (n - 1) / 2, in
// the order of the lower node.
void springs_all(struct body *body, size_t all_kind);

// So many.
static inline uint64_t all_springs(uint64_t nodes)
{
    return nodes * (nodes - 1) / 2; // of two numbers of 32 bits
}

// Refuses `all` beside other kinds and for too many nodes.
taut_status check_link_all(struct build *build, uint64_t nodes, size_t all_kind);

// placement.c: the rotation Rz Ry Rx (exact for multiples of 90 degrees), and where the body's own
// translate and rotate put a point.
struct rotation rotation_make(vec3 degrees);
vec3 rotate(const struct rotation *rotation, vec3 v);
vec3 build_place(const struct build *build, vec3 point);

// holds.c: pins, then drives.
taut_status hold_nodes(struct build *build);

// selectors.c: whether a group selector (a name or a box) takes a node; and its name in messages.
bool selector_names_group(const struct body *body, enum selector_type type);
bool selector_takes(const struct body *body, const struct selector *selector, uint64_t node);
const char *selector_name(enum selector_type type);

// enclosure.c: faces of plane bodies, whether pressure has a closed surface with a volume.
taut_status check_enclosure(struct build *build);

// Warns of a body between whose nodes the smallest sphere of the scene passes, since
// contacts act at nodes alone.
void warn_of_wide_cells(struct build *build);

// The volume that the faces enclose (in a plane, the area), about the first node.
double body_volume(const struct body *body);

// Reads the scene's `initial` file into the velocities of built bodies and body->initial
// (initial.c).
taut_status initial_read(const taut_scene *scene, struct bodies *bodies,
                         struct diagnostics *diagnostics, taut_error *error);

#endif
