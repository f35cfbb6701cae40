// A frame: the data of a run at one time, in the builders' numbering over all bodies. The writers
// of output files, pictures, the window with its history, films and checkpoints all use this
// struct, each with the fields that it needs. solver_read_frame (solver/solver.h) fills it from a
// solver, finished_run_read (output/finished_run.h) from the files of a run. A frame does not
// depend on solvers, nor on how its values are written or drawn.
#ifndef TAUT_STATE_FRAME_H
#define TAUT_STATE_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "state/records.h"

struct scene_wind; // scene/scene.h

// The optional fields of a frame; each is a bit of a mask.
enum frame_field {
    FRAME_POSITIONS = 1 << 0,
    FRAME_VELOCITIES = 1 << 1,
    FRAME_FORCES = 1 << 2,
    FRAME_STRAINS = 1 << 3,
    FRAME_BROKEN = 1 << 4,
    FRAME_ENERGY = 1 << 5,  // energies, the energy budget and volumes
    FRAME_VOLUMES = 1 << 6, // those of the last evaluation of energies
    FRAME_BODIES = 1 << 7,  // names and counts of the bodies, which are constant
    FRAME_LISTS = 1 << 8,   // their springs and faces as node numbers, which are constant
    // Values for pictures, in single precision: half as many bytes.
    FRAME_DRAWN_POSITIONS = 1 << 9,
    FRAME_DRAWN_STRAINS = 1 << 10,
    FRAME_DRAWN_BROKEN = 1 << 11,
    FRAME_COLLIDERS = 1 << 12,
    FRAME_CONTACTS = 1 << 13, // what touches

    FRAME_NODES = FRAME_POSITIONS | FRAME_VELOCITIES,
    FRAME_SPRINGS = FRAME_STRAINS | FRAME_BROKEN,
    FRAME_DRAWN_SPRINGS = FRAME_DRAWN_STRAINS | FRAME_DRAWN_BROKEN,
};

// A body of a frame. Its lists have node numbers within the body.
struct frame_body {
    const char *name; // belongs to the topology
    uint64_t first_node, node_count;
    uint64_t first_spring, spring_count;
    const uint32_t (*springs)[2];
    bool springs_change; // some of its springs can break or yield
    uint64_t sheet[2];   // for a cloth: nodes along u and v; otherwise zeros
    uint64_t face_count;
    int face_arity; // 3, 2 (edges of a plane body) or 0
    const uint32_t *faces;
};

typedef uint32_t frame_spring[2]; // the nodes of a spring, numbered within its body

// An end of a spring of a piece that is no node of the piece.
#define FRAME_OUTSIDE UINT32_MAX

// A frame that is a piece of another one, the whole; one of several ranks has it. Its bodies have
// only some of their nodes, in the order of the whole: first the body's own nodes, which no other
// piece has as its own, then copies of others, to which its cells reach. A spring or face belongs
// to the piece with its lowest node. The frame also has the other springs at all its nodes.
struct frame_piece {
    const struct frame_body *whole; // the bodies of the whole
    size_t body_count;
    // Numbers in the whole, over all bodies, of each node, and of each run of springs the first.
    uint64_t *nodes;
    uint64_t node_count;
    struct frame_run {
        uint64_t first, count;
    } * runs;
    size_t run_count, run_capacity;
    // For each body, and for one more: the first of its lines and of its faces; and its own nodes.
    struct frame_piece_body {
        uint64_t first_line, first_face, own_nodes;
    } * bodies;
    // Its springs among the springs of the frame, of bodies of which it lists them
    // (solver_make_piece), each with its number among the springs of its body in the whole.
    struct frame_line_number {
        uint64_t spring, number;
    } * lines;
    uint64_t line_count;
    uint64_t *faces; // of each face, its number among the faces of its body in the whole
    uint64_t face_count;
    uint64_t first_own, end_own; // of the nodes of the whole
    uint64_t end;                // and the end of those that it has
};

struct frame_collider {
    float centre[3], radius; // m; radius 0: it is not a sphere
    double translate[3];     // m, of a mesh, which may have been moved since the scene was read
};

// A point at which surfaces touch each other or a collider (taut_contact_point).
struct frame_contact {
    float point[3], normal[3]; // m; unit
    float force;               // N
    uint32_t friction;         // taut_contact_friction
};

struct frame_line {
    float from[3], to[3]; // m
};

// The lengths of the arrays of a frame.
struct frame_shape {
    uint64_t node_count, spring_count, face_count;
    size_t body_count;
    size_t collider_count;
    size_t contact_capacity; // of contacts there may be more, of which it has one of so many
    // The springs that a picture shows, and their numbers among all springs (NULL: the first ones).
    // The numbers must live as long as the frame.
    uint64_t drawn_count;
    const uint32_t *drawn_numbers;
};

// X(type, name, length, field): all arrays of a frame, listed once. An array exists if the frame
// was made for one of its fields, otherwise it is NULL.
#define FRAME_ARRAYS(X)                                                                            \
    /* m, m/s, N (all forces of docs/numerics.md): 3 per node */                                   \
    X(double, positions, 3 * shape->node_count, FRAME_POSITIONS)                                   \
    X(double, velocities, 3 * shape->node_count, FRAME_VELOCITIES)                                 \
    X(double, forces, 3 * shape->node_count, FRAME_FORCES)                                         \
    /* per spring: (L - L0) / L0 with the present rest length, 0 if L0 is 0; 1 if it broke */      \
    X(double, strains, shape->spring_count, FRAME_STRAINS)                                         \
    X(uint8_t, broken, shape->spring_count, FRAME_BROKEN)                                          \
    /* per body: m3 (m2 in a plane); 0 unless it is closed */                                      \
    X(double, volumes, shape->body_count, FRAME_ENERGY | FRAME_VOLUMES)                            \
    X(struct frame_body, bodies, shape->body_count, FRAME_BODIES)                                  \
    X(frame_spring, springs, shape->spring_count, FRAME_LISTS)                                     \
    X(uint32_t, faces, 3 * shape->face_count, FRAME_LISTS)                                         \
    /* the same in single precision: m, 3 per node; for each spring that a picture shows */        \
    X(float, drawn_positions, 3 * shape->node_count, FRAME_DRAWN_POSITIONS)                        \
    X(float, drawn_strains, shape->drawn_count, FRAME_DRAWN_STRAINS)                               \
    X(uint8_t, drawn_broken, shape->drawn_count, FRAME_DRAWN_BROKEN)                               \
    /* per collider; radius 0 unless it is a sphere */                                             \
    X(struct frame_collider, colliders, shape->collider_count, FRAME_COLLIDERS)                    \
    /* the first contact_count of them */                                                          \
    X(struct frame_contact, contacts, shape->contact_capacity, FRAME_CONTACTS)

// Reads positions and velocities of `count` nodes, 3 doubles each; each array may be NULL.
typedef void frame_reader(void *context, uint64_t first, uint64_t count, double *positions,
                          double *velocities);

// Reads the nodes, numbered within the body, of `count` springs of a body, 2 each, or of its
// triangles, 3 each.
typedef void frame_list_reader(void *context, size_t body, bool triangles, uint64_t first,
                               uint64_t count, uint32_t *nodes);

struct frame {
    struct frame_shape shape;
    unsigned allocated; // the fields for which there are arrays
    unsigned fields;    // the fields that are valid at the time below; others have older values
    double time;        // s
    uint64_t step;
    bool single;              // the run's precision: how many digits to write
    taut_energy energy;       // J
    bool has_contact;         // of surfaces
    bool has_work;            // the energy budget is kept:
    double work[WORK_CAUSES]; // J so far, by cause; wind, drives and inflation add it, others
                              // remove it
    size_t contact_count;     // in `contacts`
    uint64_t all_contacts;    // and at all
    float wind[3];            // m/s, at this time; 0 without wind
    bool has_mouse_spring;
    struct frame_line mouse_spring; // from the grabbed node to the pointer
    uint64_t generation;            // of the subject with which it is drawn (play/setting.h)
    struct frame_piece *piece;      // NULL: it is a whole frame
    // For nodes and lists of which a frame has no arrays, at the time at which they are asked for;
    // or NULL.
    frame_reader *reader;
    frame_list_reader *list_reader;
    void *reader_context;
#define DECLARE(type, name, length, condition) type *name;
    FRAME_ARRAYS(DECLARE)
#undef DECLARE
};

// Allocates the arrays of `fields`, filled with zeros. After a failure the frame is empty.
taut_status frame_make(const struct frame_shape *shape, unsigned fields, struct frame *frame,
                       taut_error *error);

void frame_free(struct frame *frame);

// Bytes of the arrays of a frame.
uint64_t frame_bytes(const struct frame_shape *shape, unsigned fields);

// Positions and velocities of `count` nodes: copies of the frame's arrays, or those of its reader;
// each may be NULL.
void frame_read_nodes(const struct frame *frame, uint64_t first, uint64_t count, double *positions,
                      double *velocities);

// The same of springs or triangles of a body (frame_list_reader).
void frame_read_list(const struct frame *frame, size_t body, bool triangles, uint64_t first,
                     uint64_t count, uint32_t *nodes);

// Copies the scalars, and those valid fields of `from` that `to` has arrays for. Both frames must
// have the same shape. Bodies and lists, which point into their own frame, are not copied.
void frame_copy(const struct frame *from, struct frame *to);

// Copies strains and broken flags of the springs that a picture shows from those of all springs.
void frame_select_drawn_springs(struct frame *frame);

// Sets the scene's wind at the time of the frame.
void frame_set_wind(struct frame *frame, const struct scene_wind *wind);

// Whether all of `fields` are valid at the frame's time.
static inline bool frame_has(const struct frame *frame, unsigned fields)
{
    return (frame->fields & fields) == fields;
}

#endif
