// Subjects, made from the topology of a solver, and the cache of their frames.
#include "picture/subject.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/sort.h"
#include "base/task.h"
#include "base/text.h"
#include "scene/collider_pose.h"
#include "solver/solver.h"

// All arrays of a subject and their lengths, listed once.
#define SUBJECT_ARRAYS(X)                                                                          \
    X(bodies, body_count)                                                                          \
    X(springs, spring_count)                                                                       \
    X(spring_numbers, number_count)                                                                \
    X(kinds, spring_count)                                                                         \
    X(rest_lengths, spring_count)                                                                  \
    X(stiffnesses, spring_count)                                                                   \
    X(laws, spring_count)                                                                          \
    X(faces, face_count)                                                                           \
    X(pins, node_count)                                                                            \
    X(colliders, collider_count)                                                                   \
    X(meshes, mesh_count)                                                                          \
    X(corners, corner_count)                                                                       \
    X(keyframes, keyframe_count)

// Whether a spring is one of every n-th. They are scattered by multiples of the golden ratio, since
// every n-th spring of a regular grid would be whole rows of it.
static bool is_sampled(uint64_t number, uint64_t every)
{
    return every == 1 || (uint32_t)(number * 2654435769u) < UINT32_MAX / every - 1;
}

static uint64_t count_sampled(uint64_t first, uint64_t count, uint64_t every)
{
    uint64_t kept = 0;
    for (uint64_t i = 0; i < count; i++)
        kept += is_sampled(first + i, every);
    return kept;
}

static size_t kind_of(const struct topology_body *body, uint64_t spring)
{
    size_t kind = 0;
    while (kind + 1 < SPRING_KINDS_MAX && spring >= body->kind_start[kind + 1])
        kind++;
    return kind;
}

static void number_kept(struct subject *subject)
{
    uint64_t next = 0;
    for (uint64_t number = 0; next < subject->number_count; number++)
        if (is_sampled(number, subject->every))
            subject->spring_numbers[next++] = (uint32_t)number;
}

// The slot of a kept spring: its number, or the position of its number in the list.
static uint64_t slot_of(const struct subject *subject, uint64_t number)
{
    if (subject->number_count == 0)
        return number;
    return lower_bound(subject->spring_numbers, (size_t)subject->number_count, number);
}

static void fill_springs(const struct topology *topology, const struct topology_body *body,
                         struct subject *subject)
{
    uint64_t end = body->first_spring + body->spring_count;
    for (uint64_t spring = body->first_spring; spring < end && !task_is_cancelled();) {
        struct spring_run run = topology_run(topology, spring, end);
        for (uint32_t i = 0; i < run.count; i++) {
            uint64_t number = topology_builder_spring(topology, spring + i);
            if (!is_sampled(number, subject->every))
                continue;
            uint64_t slot = slot_of(subject, number);
            uint32_t *ends = subject->springs[slot];
            ends[0] = (uint32_t)topology_builder_node(topology, run.a + i);
            ends[1] = (uint32_t)topology_builder_node(topology, run.b + i);
            subject->kinds[slot] = (uint8_t)kind_of(body, number - body->first_spring);
            subject->rest_lengths[slot] = (float)run.rest_length;
            subject->stiffnesses[slot] = (float)topology->materials[run.material].stiffness;
            subject->laws[slot] = (uint8_t)topology->materials[run.material].law;
        }
        spring += run.count;
    }
}

static void fill_faces(const struct topology *topology, const struct topology_body *body,
                       struct subject *subject)
{
    for (uint64_t i = 0; i < body->face_count && !task_ends(i); i++) {
        struct face face = topology_body_face(topology, body, i);
        uint32_t *corners = subject->faces[body->first_face + i];
        for (int c = 0; c < 3; c++)
            corners[c] = c < body->face_arity
                             ? (uint32_t)topology_builder_node(topology, face.nodes[c])
                             : corners[1];
    }
}

static void fill_pins(const struct topology *topology, struct subject *subject)
{
    for (uint64_t i = 0; i < topology->kinematic_count; i++)
        subject->pins[topology_builder_node(topology, topology->kinematic[i])] = PIN_FIXED;
    for (size_t m = 0; m < topology->motion_count; m++)
        subject->pins[topology_builder_node(topology, topology->motions[m].node)] = PIN_KINEMATIC;
}

// Determines the up direction, and whether nodes that are built in a plane stay there.
static void orient(const taut_solver *solver, struct subject *subject)
{
    const struct scene_environment *environment = &solver_topology(solver)->environment;
    const vec3 gravity = environment->gravity;
    const double length = vec3_length(gravity);
    const vec3 up = length > 0 ? vec3_scale(-1 / length, gravity) : vec3_make(0, 1, 0);
    subject->up[0] = (float)up.x;
    subject->up[1] = (float)up.y;
    subject->up[2] = (float)up.z;
    bool solid = false;
    for (size_t b = 0; b < subject->body_count; b++)
        solid |= subject->bodies[b].face_arity == 3;
    subject->flat = subject->built_flat && !solid && gravity.z == 0 &&
                    !(environment->wind.present && environment->wind.velocity.z != 0);
}

static void fill_space(const struct taut_solver *solver, struct subject *subject)
{
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (uint64_t node = 0; node < subject->node_count && !task_ends(node); node++) {
        double at[3];
        solver_read_nodes(solver, node, 1, at, NULL, NULL);
        for (int axis = 0; axis < 3; axis++) {
            low[axis] = fmin(low[axis], at[axis]);
            high[axis] = fmax(high[axis], at[axis]);
        }
    }
    for (int axis = 0; axis < 3; axis++) {
        subject->low[axis] = (float)low[axis];
        subject->high[axis] = (float)high[axis];
    }
    subject->built_flat = high[2] - low[2] <= 0;
    orient(solver, subject);
}

static taut_status fill_body(const struct topology_body *body, uint64_t every, uint64_t kept_before,
                             struct subject_body *to, taut_error *error)
{
    *to = (struct subject_body){
        .name = text_format("%s", body->name),
        .type = body->type,
        .first_node = body->first_node,
        .node_count = body->node_count,
        .first_spring = kept_before,
        .spring_count = count_sampled(body->first_spring, body->spring_count, every),
        .first_face = body->first_face,
        .face_count = body->face_count,
        .face_arity = body->face_arity,
        .closed = body->closed,
        .grid = {body->grid[0], body->grid[1], body->grid[2]},
    };
    return to->name ? TAUT_OK : fail_memory(error, "the name of a body");
}

static taut_status list_bodies(const struct topology *topology, struct subject *subject,
                               taut_error *error)
{
    subject->body_count = topology->body_count;
    subject->bodies = memory_allocate(NULL, topology->body_count, sizeof *subject->bodies);
    if (!subject->bodies)
        return fail_memory(error, "the bodies of a picture");
    taut_status status = TAUT_OK;
    for (size_t b = 0; b < topology->body_count && status == TAUT_OK; b++) {
        struct subject_body *body = &subject->bodies[b];
        status =
            fill_body(&topology->bodies[b], subject->every, subject->spring_count, body, error);
        subject->spring_count += body->spring_count;
    }
    return status;
}

static bool allocate(struct subject *subject)
{
    subject->number_count = subject->every > 1 ? subject->spring_count : 0;
#define ALLOCATE(name, length)                                                                     \
    if (!subject->name &&                                                                          \
        !(subject->name = memory_allocate(NULL, (size_t)subject->length, sizeof *subject->name)))  \
        return false;
    SUBJECT_ARRAYS(ALLOCATE)
#undef ALLOCATE
    return true;
}

// ---- Mesh colliders

// Lets the colliders point to the subject's own copies of their keyframes.
static void link_keyframes(struct subject *subject)
{
    size_t first = 0;
    for (size_t c = 0; c < subject->collider_count; c++) {
        struct scene_collider_motion *motion = &subject->colliders[c].motion;
        motion->keyframes = motion->keyframe_count > 0 ? subject->keyframes + first : NULL;
        first += motion->keyframe_count;
    }
}

static vec3 collider_corner(const struct topology *topology, const uint32_t *face, int corner)
{
    const double *p = topology->collider_points[face[corner] - topology->node_count];
    return vec3_make(p[0], p[1], p[2]);
}

// Twice the area of a face, along its normal.
static vec3 collider_face_normal(const struct topology *topology, const uint32_t *face)
{
    const vec3 a = collider_corner(topology, face, 0);
    return vec3_cross(vec3_subtract(collider_corner(topology, face, 1), a),
                      vec3_subtract(collider_corner(topology, face, 2), a));
}

static void store_three(float to[3], vec3 from)
{
    to[0] = (float)from.x;
    to[1] = (float)from.y;
    to[2] = (float)from.z;
}

static vec3 unit_of(vec3 v)
{
    const double length = vec3_length(v);
    return length > 0 ? vec3_scale(1 / length, v) : vec3_make(0, 1, 0);
}

// The normal of a corner: the mean of those of the faces around its node, or that of its own face
// at a sharp edge.
static void fill_corner(const struct topology *topology, const uint32_t *face, int corner,
                        const vec3 *node_normals, struct subject_corner *to)
{
    const double sharp = 0.7; // cosine
    const vec3 own = unit_of(collider_face_normal(topology, face)),
               mean = unit_of(node_normals[face[corner] - topology->node_count]);
    store_three(to->position, collider_corner(topology, face, corner));
    store_three(to->normal, vec3_dot(own, mean) > sharp ? mean : own);
}

static bool fill_meshes(const struct topology *topology, struct subject *subject)
{
    const size_t nodes = (size_t)topology->collider_node_count;
    vec3 *normals = memory_allocate(NULL, nodes, sizeof *normals);
    if (!normals)
        return false;
    for (uint64_t f = 0; f < topology->collider_face_count; f++) {
        const uint32_t *face = topology->collider_faces[f];
        const vec3 normal = collider_face_normal(topology, face);
        for (int corner = 0; corner < 3; corner++) {
            vec3 *sum = &normals[face[corner] - topology->node_count];
            *sum = vec3_add(*sum, normal);
        }
    }
    for (size_t m = 0; m < topology->mesh_collider_count; m++) {
        const struct topology_collider *mesh = &topology->mesh_colliders[m];
        struct subject_mesh *to = &subject->meshes[m];
        *to = (struct subject_mesh){.collider = mesh->collider,
                                    .first_corner = 3 * mesh->first_face,
                                    .corner_count = 3 * mesh->face_count,
                                    .low = {INFINITY, INFINITY, INFINITY},
                                    .high = {-INFINITY, -INFINITY, -INFINITY}};
        for (uint64_t i = 0; i < to->corner_count && !task_ends(i); i++) {
            struct subject_corner *it = &subject->corners[to->first_corner + i];
            fill_corner(topology, topology->collider_faces[mesh->first_face + i / 3], (int)(i % 3),
                        normals, it);
            for (int axis = 0; axis < 3; axis++) {
                to->low[axis] = fminf(to->low[axis], it->position[axis]);
                to->high[axis] = fmaxf(to->high[axis], it->position[axis]);
            }
        }
    }
    memory_release(NULL, normals, nodes, sizeof *normals);
    return true;
}

struct collider_pose subject_mesh_pose(const struct subject *subject, size_t mesh,
                                       const struct frame *frame)
{
    const size_t number = subject->meshes[mesh].collider;
    struct scene_collider collider = subject->colliders[number];
    if (frame->colliders) {
        const double *translate = frame->colliders[number].translate;
        collider.translate = vec3_make(translate[0], translate[1], translate[2]);
    }
    return collider_pose_at(&collider, frame->time, 0);
}

void subject_mesh_box(const struct subject *subject, size_t mesh, const struct collider_pose *pose,
                      vec3 *low, vec3 *high)
{
    const struct subject_mesh *it = &subject->meshes[mesh];
    *low = vec3_make(INFINITY, INFINITY, INFINITY);
    *high = vec3_make(-INFINITY, -INFINITY, -INFINITY);
    for (unsigned i = 0; i < 8; i++) {
        const vec3 p = collider_point(pose, vec3_make((double)(i & 1 ? it->high[0] : it->low[0]),
                                                      (double)(i & 2 ? it->high[1] : it->low[1]),
                                                      (double)(i & 4 ? it->high[2] : it->low[2])));
        *low = vec3_make(fmin(low->x, p.x), fmin(low->y, p.y), fmin(low->z, p.z));
        *high = vec3_make(fmax(high->x, p.x), fmax(high->y, p.y), fmax(high->z, p.z));
    }
}

static bool fill(const taut_solver *solver, struct subject *subject)
{
    const struct topology *topology = solver_topology(solver);
    number_kept(subject);
    for (size_t b = 0; b < topology->body_count; b++) {
        if (subject->bodies[b].spring_count > 0)
            fill_springs(topology, &topology->bodies[b], subject);
        fill_faces(topology, &topology->bodies[b], subject);
    }
    fill_pins(topology, subject);
    for (size_t c = 0; c < topology->collider_count; c++)
        subject->colliders[c] = topology->colliders[c];
    for (size_t i = 0; i < topology->keyframe_count; i++)
        subject->keyframes[i] = topology->keyframes[i];
    link_keyframes(subject);
    fill_space(solver, subject);
    return fill_meshes(topology, subject);
}

taut_status subject_make(const taut_solver *solver, const struct subject_options *options,
                         struct subject *subject, taut_error *error)
{
    const struct topology *topology = solver_topology(solver);
    uint64_t most = options->springs_max;
    *subject = (struct subject){
        .node_count = topology->node_count,
        .face_count = topology->face_count,
        .springs_in_all = topology->spring_count,
        .collider_count = topology->collider_count,
        .mesh_count = topology->mesh_collider_count,
        .corner_count = 3 * topology->collider_face_count,
        .keyframe_count = topology->keyframe_count,
        .every = most > 0 ? (topology->spring_count + most - 1) / most : UINT32_MAX,
    };
    if (subject->every == 0)
        subject->every = 1;
    taut_status status = list_bodies(topology, subject, error);
    if (status == TAUT_OK && !allocate(subject))
        status = fail_memory(error, "what a picture shows");
    if (status == TAUT_OK && !fill(solver, subject))
        status = fail_memory(error, "what a picture shows");
    if (status == TAUT_OK && task_is_cancelled())
        status = fail_memory(error, "a cancelled picture");
    if (status != TAUT_OK)
        subject_free(subject);
    return status;
}

static void fill_stiffnesses(const struct topology *topology, struct subject *subject)
{
    for (uint64_t spring = 0; spring < topology->spring_count;) {
        struct spring_run run = topology_run(topology, spring, topology->spring_count);
        for (uint32_t i = 0; i < run.count; i++) {
            uint64_t number = topology_builder_spring(topology, spring + i);
            if (is_sampled(number, subject->every))
                subject->stiffnesses[slot_of(subject, number)] =
                    (float)topology->materials[run.material].stiffness;
        }
        spring += run.count;
    }
}

static bool copy_arrays(const struct subject *before, struct subject *subject)
{
    bool copied = true;
#define COPY(name, length)                                                                         \
    subject->name =                                                                                \
        memory_copy(NULL, before->name, (size_t)before->length, sizeof *subject->name);            \
    copied &= subject->name != NULL;
    SUBJECT_ARRAYS(COPY)
#undef COPY
    for (size_t b = 0; subject->bodies && b < subject->body_count; b++) {
        subject->bodies[b].name = text_format("%s", before->bodies[b].name);
        copied &= subject->bodies[b].name != NULL;
    }
    return copied;
}

taut_status subject_update(const taut_solver *solver, const struct subject *before,
                           struct subject *subject, taut_error *error)
{
    *subject = *before;
    if (!copy_arrays(before, subject)) {
        subject_free(subject);
        return fail_memory(error, "what a picture shows");
    }
    link_keyframes(subject);
    fill_stiffnesses(solver_topology(solver), subject);
    orient(solver, subject);
    return TAUT_OK;
}

void subject_free(struct subject *subject)
{
    for (size_t b = 0; subject->bodies && b < subject->body_count; b++)
        free(subject->bodies[b].name);
#define RELEASE(name, length)                                                                      \
    memory_release(NULL, subject->name, (size_t)subject->length, sizeof *subject->name);
    SUBJECT_ARRAYS(RELEASE)
#undef RELEASE
    *subject = (struct subject){0};
}

// ---- Frames

// More contacts than this cannot be distinguished in any picture.
enum { CONTACTS_MOST = 16384 };

taut_status subject_make_frame(const struct subject *subject, unsigned wanted, struct frame *frame,
                               taut_error *error)
{
    const struct frame_shape shape = {
        .node_count = subject->node_count,
        .spring_count = subject->springs_in_all,
        .body_count = subject->body_count,
        .collider_count = subject->collider_count,
        .contact_capacity = CONTACTS_MOST,
        .drawn_count = subject->spring_count,
        .drawn_numbers = subject->number_count > 0 ? subject->spring_numbers : NULL,
    };
    unsigned fields = FRAME_DRAWN_POSITIONS | FRAME_COLLIDERS | FRAME_VOLUMES;
    if (wanted & SUBJECT_STRAINS && subject->spring_count > 0)
        fields |= FRAME_SPRINGS | FRAME_DRAWN_SPRINGS;
    if (wanted & SUBJECT_CONTACTS)
        fields |= FRAME_CONTACTS;
    return frame_make(&shape, fields, frame, error);
}

// ---- The frame cache

struct frame_cache frame_cache_make(uint64_t bytes_max)
{
    return (struct frame_cache){.bytes_max = bytes_max};
}

static void release_frames(struct frame_cache *cache)
{
    for (size_t i = 0; i < cache->count; i++)
        frame_free(&cache->frames[i]);
    cache->count = 0;
}

taut_status frame_cache_add(struct frame_cache *cache, const struct frame *frame, taut_error *error)
{
    const unsigned drawn = frame->fields & (FRAME_DRAWN_POSITIONS | FRAME_DRAWN_SPRINGS |
                                            FRAME_COLLIDERS | FRAME_CONTACTS);
    cache->bytes += frame_bytes(&frame->shape, drawn);
    cache->overflowed |= cache->count > 0 && cache->bytes > cache->bytes_max;
    if (cache->overflowed) {
        release_frames(cache);
        return TAUT_OK;
    }
    if (!array_reserve((void **)&cache->frames, &cache->capacity, cache->count + 1,
                       sizeof *cache->frames))
        return fail_memory(error, "the frames of a picture");
    struct frame *kept = &cache->frames[cache->count];
    taut_status status = frame_make(&frame->shape, drawn, kept, error);
    if (status != TAUT_OK)
        return status;
    frame_copy(frame, kept);
    cache->count++;
    return TAUT_OK;
}

void frame_cache_free(struct frame_cache *cache)
{
    release_frames(cache);
    free(cache->frames);
    *cache = (struct frame_cache){0};
}
