// Shared by the builders. A builder fills the nodes, springs and faces of one body of its type;
// build.c then does what all bodies have in common: placement, masses, velocities, materials, pins,
// drives and the checks of a surface.
#ifndef TAUT_SCENE_BUILD_H
#define TAUT_SCENE_BUILD_H

#include <math.h>

#include "base/status.h"
#include "scene/bodies.h"
#include "scene/rotation.h"

// The largest number of nodes of one body: node numbers have 32 bits, and UINT32_MAX means "none".
#define BODY_NODES_MAX (UINT64_C(0xffffffff) - 1)

// The number of springs `all` grows with the square of the nodes: 200 million at this many nodes.
enum { ALL_SPRINGS_NODES_MAX = 20000 };

// Directions of a lattice with two shells.
enum { GRID_DIRECTIONS_MAX = 26 };

// How a node moves, in body.kinematic while its body is built (finally it becomes 0 or 1).
enum node_motion { NODE_FREE, NODE_PINNED, NODE_MOVED };

// A body while it is built: its description in the scene and the result so far.
struct build {
    const taut_scene *scene;
    const struct scene_body *given;
    struct body *body;
    struct rotation rotation;
    struct diagnostics *diagnostics;
    taut_error *error;
    bool placed;         // the builder has already applied translate and rotate
    bool has_masses;     // the builder has set the masses
    bool has_velocities; // the builder has set the velocities
};

// The numbers of springs of each kind, and of faces.
struct build_counts {
    uint64_t nodes;
    uint64_t springs[SPRING_KINDS_MAX];
    size_t directions; // of a grid; 0: springs are listed
    uint64_t faces;
    int face_arity;
    bool is_sheet; // the faces need no list
};

// A grid and the directions of its springs.
struct grid {
    uint64_t nodes[3];
    struct direction directions[GRID_DIRECTIONS_MAX]; // material: the kind of spring
    size_t direction_count;
};

// The counts of a body, from the scene alone: used by the builders, and by body_size_find before
// anything is built. False if the builder rejects the scene.
bool rope_count(const struct scene_body *given, struct grid *grid, struct build_counts *counts);
bool cloth_count(const struct scene_body *given, struct grid *grid, struct build_counts *counts);
bool ring_count(const struct scene_body *given, struct build_counts *counts);
bool lattice_count(const struct scene_body *given, struct grid *grid, struct build_counts *counts);
// Nodes and faces only; the springs follow from the surface.
bool sphere_count(const struct scene_body *given, struct build_counts *counts);

// Bytes of the arrays that build_allocate allocates for a body.
double build_bytes(const struct scene_body *given, const struct build_counts *counts);

// Whether springs on the boundary have smaller constants than those inside: of a body with
// `elastic` or `fabric`, unless it is a rope, whose springs have one cell each, or has triangles
// and no springs.
bool build_is_weighted(const struct scene_body *given);

// The constants of the body's elements (build_elements.c); refuses springs that break beside them.
taut_status build_elements(struct build *build);

// Where the scene gives a spring: a spring of a list, otherwise the body.
mark build_spring_mark(const struct build *build, uint64_t spring);

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

// Reports an error at a position of the scene file and returns TAUT_ERROR_SCENE.
taut_status build_refuse(struct build *build, mark at, const char *format, ...) PRINTF_FORMAT(3, 4);

// Reports a warning at a position of the scene file; the body is still built.
void build_warn(struct build *build, mark at, const char *format, ...) PRINTF_FORMAT(3, 4);

// Fails because memory ran out, naming the body.
taut_status build_no_memory(struct build *build);

// The status for a body whose file could not be read, as reported in `diagnostics`:
// TAUT_ERROR_MEMORY, or TAUT_ERROR_SCENE for every error in the file.
taut_status build_file_status(struct build *build);

// a * b * c nodes into *product; false if a body may not have as many.
bool node_product(uint64_t a, uint64_t b, uint64_t c, uint64_t *product);

// Reads the meshes of colliders; ->given and ->body are not used.
taut_status build_colliders(const struct build *build, struct bodies *bodies);
void free_colliders(struct bodies *bodies);

// Allocates the body's arrays, zeroed, and its table of kinds. Positions and faces that the body
// has already, with its counts of nodes and faces, stay. Rejects more nodes than a body may have,
// and arrays that need more memory than is left (otherwise the process would be killed while
// filling them). Most scenes that are too large are rejected before they are built
// (solver/memory_estimate.c), but the content of a file is only known when it has been read.
taut_status build_allocate(struct build *build, const struct build_counts *counts);

// Whether three numbers are 0, and none of them -0: what memory that has not been written has.
static inline bool are_plus_zero(const double values[3])
{
    for (int axis = 0; axis < 3; axis++)
        if (values[axis] != 0 || signbit(values[axis]))
            return false;
    return true;
}

static inline void vec3_store(double *values, uint64_t node, vec3 v)
{
    values[3 * node] = v.x;
    values[3 * node + 1] = v.y;
    values[3 * node + 2] = v.z;
}

// The position of a point after the body's own rotate and translate.
vec3 build_position(const struct build *build, vec3 point);

// Pins, then drives (pins.c).
taut_status pin_and_drive_nodes(struct build *build);

// Orients the faces of plane bodies, and checks that pressure has a closed surface with a volume
// (enclosure.c).
taut_status check_enclosure(struct build *build);

// Warns of a body between whose nodes the smallest sphere of the scene can pass, since contacts act
// at nodes only.
void warn_of_wide_cells(struct build *build);

// The volume that the faces enclose (for a plane body, the area), computed about the first node.
double body_volume(const struct body *body);

// Reads the scene's `initial` file into the velocities of built bodies and body->initial
// (initial.c).
taut_status initial_read(const taut_scene *scene, struct bodies *bodies,
                         struct diagnostics *diagnostics, taut_error *error);

#endif
