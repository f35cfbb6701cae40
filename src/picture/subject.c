#include "picture/subject.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/search.h"
#include "base/task.h"
#include "base/text.h"
#include "solver.h"

// All arrays of a subject with their lengths, listed once.
#define SUBJECT_ARRAYS(X)                                                                          \
    X(bodies, body_count)                                                                          \
    X(springs, spring_count)                                                                       \
    X(spring_numbers, number_count)                                                                \
    X(kinds, spring_count)                                                                         \
    X(rest_lengths, spring_count)                                                                  \
    X(stiffnesses, spring_count)                                                                   \
    X(laws, spring_count)                                                                          \
    X(faces, face_count)                                                                           \
    X(holds, node_count)                                                                           \
    X(colliders, collider_count)

// Whether a spring is among every n-th. Scattered by multiples of the golden ratio, since every
// n-th of a regular grid would be whole rows of it.
static bool is_kept(uint64_t number, uint64_t every)
{
    return every == 1 || (uint32_t)(number * 2654435769u) < UINT32_MAX / every - 1;
}

static uint64_t count_kept(uint64_t first, uint64_t count, uint64_t every)
{
    uint64_t kept = 0;
    for (uint64_t i = 0; i < count; i++)
        kept += is_kept(first + i, every);
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
        if (is_kept(number, subject->every))
            subject->spring_numbers[next++] = (uint32_t)number;
}

// The place of a kept spring: its number, or where that stands in the list of numbers.
static uint64_t place_of(const struct subject *subject, uint64_t number)
{
    if (subject->number_count == 0)
        return number;
    return first_not_below(subject->spring_numbers, (size_t)subject->number_count, number);
}

static void fill_springs(const struct topology *topology, const struct topology_body *body,
                         struct subject *subject)
{
    uint64_t end = body->first_spring + body->spring_count;
    for (uint64_t spring = body->first_spring; spring < end && !task_is_cancelled();) {
        struct spring_run run = topology_run(topology, spring, end);
        for (uint32_t i = 0; i < run.count; i++) {
            uint64_t number = topology_spring_outside(topology, spring + i);
            if (!is_kept(number, subject->every))
                continue;
            uint64_t place = place_of(subject, number);
            uint32_t *ends = subject->springs[place];
            ends[0] = (uint32_t)topology_node_outside(topology, run.a + i);
            ends[1] = (uint32_t)topology_node_outside(topology, run.b + i);
            subject->kinds[place] = (uint8_t)kind_of(body, number - body->first_spring);
            subject->rest_lengths[place] = (float)run.rest_length;
            subject->stiffnesses[place] = (float)topology->materials[run.material].stiffness;
            subject->laws[place] = (uint8_t)topology->materials[run.material].law;
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
                             ? (uint32_t)topology_node_outside(topology, face.nodes[c])
                             : corners[1];
    }
}

static void fill_holds(const struct topology *topology, struct subject *subject)
{
    for (uint64_t i = 0; i < topology->fixed_count; i++)
        subject->holds[topology_node_outside(topology, topology->fixed[i])] = HOLD_PINNED;
    for (size_t m = 0; m < topology->motion_count; m++)
        subject->holds[topology_node_outside(topology, topology->motions[m].node)] = HOLD_MOVED;
}

static void fill_space(const struct taut_solver *solver, struct subject *subject)
{
    vec3 gravity = solver->topology->environment.gravity;
    double length = vec3_length(gravity);
    vec3 up = length > 0 ? vec3_scale(-1 / length, gravity) : vec3_make(0, 1, 0);
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (uint64_t node = 0; node < subject->node_count && !task_ends(node); node++) {
        double at[3];
        solver->functions->read_nodes(solver->system, node, 1, at, NULL, NULL);
        for (int axis = 0; axis < 3; axis++) {
            low[axis] = fmin(low[axis], at[axis]);
            high[axis] = fmax(high[axis], at[axis]);
        }
    }
    const double upwards[3] = {up.x, up.y, up.z};
    for (int axis = 0; axis < 3; axis++) {
        subject->up[axis] = (float)upwards[axis];
        subject->low[axis] = (float)low[axis];
        subject->high[axis] = (float)high[axis];
    }
    bool solid = false;
    for (size_t b = 0; b < subject->body_count; b++)
        solid |= subject->bodies[b].face_arity == 3;
    const struct scene_wind *wind = &solver->topology->environment.wind;
    subject->flat = high[2] - low[2] <= 0 && !solid && gravity.z == 0 &&
                    !(wind->present && wind->velocity.z != 0);
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
        .spring_count = count_kept(body->first_spring, body->spring_count, every),
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

static void fill(const taut_solver *solver, struct subject *subject)
{
    const struct topology *topology = solver->topology;
    number_kept(subject);
    for (size_t b = 0; b < topology->body_count; b++) {
        if (subject->bodies[b].spring_count > 0)
            fill_springs(topology, &topology->bodies[b], subject);
        fill_faces(topology, &topology->bodies[b], subject);
    }
    fill_holds(topology, subject);
    for (size_t c = 0; c < topology->collider_count; c++)
        subject->colliders[c] = topology->colliders[c];
    fill_space(solver, subject);
}

taut_status subject_make(const taut_solver *solver, const struct subject_options *options,
                         struct subject *subject, taut_error *error)
{
    const struct topology *topology = solver->topology;
    uint64_t most = options->springs_max;
    *subject = (struct subject){
        .node_count = topology->node_count,
        .face_count = topology->face_count,
        .springs_in_all = topology->spring_count,
        .collider_count = topology->collider_count,
        .every = most > 0 ? (topology->spring_count + most - 1) / most : UINT32_MAX,
    };
    if (subject->every == 0)
        subject->every = 1;
    taut_status status = list_bodies(topology, subject, error);
    if (status == TAUT_OK && !allocate(subject))
        status = fail_memory(error, "what a picture shows");
    if (status == TAUT_OK)
        fill(solver, subject);
    if (status == TAUT_OK && task_is_cancelled())
        status = fail_memory(error, "a picture that is given up");
    if (status != TAUT_OK)
        subject_free(subject);
    return status;
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
