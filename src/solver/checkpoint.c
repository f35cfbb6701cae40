// Copies state and history of a run from a system into a checkpoint, and from a checkpoint into a
// system (checkpoint.h). Numeric.
#include "solver/checkpoint.h"

#include <stddef.h>
#include <string.h>

#include "base/sort.h"

#include "integrate/mouse_spring.h"
#include "integrate/implicit.h"
#include "integrate/integrate.h"
#include "stability/critical_step.h"
#include "stability/divergence.h"
#include "springs/exchange.h"
#include "springs/part_springs.h"
#include "springs/springs.h"
#include "state/reading.h"

// ---- Nodes

static void save_nodes(const struct system *system, real *const from[3], double *to)
{
    for (uint64_t node = 0; to && node < system->state->nodes; node++) {
        uint64_t inside = topology_internal_node(system->topology, node);
        for (int axis = 0; axis < 3; axis++)
            to[3 * node + (uint64_t)axis] = (double)from[axis][inside];
    }
}

static void save_positions(const struct system *system, double *to)
{
    for (uint64_t node = 0; to && node < system->state->nodes; node++) {
        const uint64_t inside = topology_internal_node(system->topology, node);
        const vec3 position = node_position(system->state, inside);
        memcpy(to + 3 * node, (double[3]){position.x, position.y, position.z}, 3 * sizeof *to);
    }
}

static void save_velocities(const struct system *system, double *to)
{
    for (uint64_t node = 0; to && node < system->state->nodes; node++) {
        const uint64_t inside = topology_internal_node(system->topology, node);
        const vec3 velocity = node_velocity(system->state, inside);
        memcpy(to + 3 * node, (double[3]){velocity.x, velocity.y, velocity.z}, 3 * sizeof *to);
    }
}

static void restore_positions_and_velocities(struct system *system,
                                             const struct checkpoint *checkpoint)
{
    const bool has_nodes = checkpoint->frame.positions; // otherwise they have been put there
    for (uint64_t node = 0; has_nodes && node < system->state->nodes; node++) {
        const uint64_t inside = topology_internal_node(system->topology, node);
        const double *x = checkpoint->frame.positions + 3 * node;
        const double *v = checkpoint->frame.velocities + 3 * node;
        state_put(system->state, inside, vec3_make(x[0], x[1], x[2]));
        state_put_velocity(system->state, inside, vec3_make(v[0], v[1], v[2]));
    }
}

static void restore_nodes(const struct system *system, const double *from, real *const to[3])
{
    for (uint64_t node = 0; from && node < system->state->nodes; node++) {
        uint64_t inside = topology_internal_node(system->topology, node);
        for (int axis = 0; axis < 3; axis++)
            to[axis][inside] = (real)from[3 * node + (uint64_t)axis];
    }
}

// Where the state and a checkpoint have their pointers to each array of numbers of every node.
static const struct node_array {
    size_t in_state, in_checkpoint;
} node_arrays[CHECKPOINT_FIELDS] = {
#define LIST_nodes(name)                                                                           \
    [CHECKPOINT_##name] = {offsetof(struct state, name), offsetof(struct checkpoint, name)},
#define LIST_springs(name)
#define LIST_touches(name)
#define LIST_frictions(name)
#define LIST_multipliers(name)
#define LIST_slots(name)
#define LIST_bodies(name)
#define LIST_motions(name)
#define LIST_colliders(name)
#define LIST_contact_blocks(name)
#define LIST(type, name, length, condition, kept) LIST_##length(name)
    STATE_ARRAYS(LIST)
#undef LIST
};

static real *state_array(const struct state *state, unsigned field)
{
    return *(real *const *)((const char *)state + node_arrays[field].in_state);
}

static double *checkpoint_array(const struct checkpoint *checkpoint, unsigned field)
{
    return *(double *const *)((const char *)checkpoint + node_arrays[field].in_checkpoint);
}

// Copies between an array of the state and one of a checkpoint, if both exist.
static void save_array(const struct system *system, struct checkpoint *checkpoint, unsigned field)
{
    const real *from = state_array(system->state, field);
    double *to = checkpoint_array(checkpoint, field);
    for (uint64_t node = 0; from && to && node < system->state->nodes; node++)
        to[node] = (double)from[topology_internal_node(system->topology, node)];
}

static void restore_array(const struct system *system, const struct checkpoint *checkpoint,
                          unsigned field)
{
    const double *from = checkpoint_array(checkpoint, field);
    real *to = state_array(system->state, field);
    for (uint64_t node = 0; from && to && node < system->state->nodes; node++)
        to[topology_internal_node(system->topology, node)] = (real)from[node];
}

// The same for x, y and z of a vector, which follow each other in the list of arrays: its name is
// that of x.
#define SAVE_VECTOR(name)    save_vector(system, checkpoint, CHECKPOINT_##name)
#define RESTORE_VECTOR(name) restore_vector(system, checkpoint, CHECKPOINT_##name)
#define IS_VECTOR(x, y, z)                                                                         \
    _Static_assert(CHECKPOINT_##y == CHECKPOINT_##x + 1 && CHECKPOINT_##z == CHECKPOINT_##x + 2,   \
                   "these arrays follow each other")
IS_VECTOR(x, y, z);
IS_VECTOR(vx, vy, vz);
IS_VECTOR(fx, fy, fz);
IS_VECTOR(x0, y0, z0);
IS_VECTOR(vx0, vy0, vz0);
IS_VECTOR(x_low, y_low, z_low);
IS_VECTOR(vx_low, vy_low, vz_low);
IS_VECTOR(x0_low, y0_low, z0_low);
IS_VECTOR(vx0_low, vy0_low, vz0_low);

static void save_vector(const struct system *system, struct checkpoint *checkpoint, unsigned first)
{
    for (unsigned axis = 0; axis < 3; axis++)
        save_array(system, checkpoint, first + axis);
}

static void restore_vector(const struct system *system, const struct checkpoint *checkpoint,
                           unsigned first)
{
    for (unsigned axis = 0; axis < 3; axis++)
        restore_array(system, checkpoint, first + axis);
}

static bool same_vector(vec3 a, vec3 b)
{
    return a.x == b.x && a.y == b.y && a.z == b.z;
}

// Whether both have numbers of the same parts, from the same origin.
static bool has_same_parts(const struct system *system, const struct checkpoint *checkpoint)
{
    const struct state *s = system->state;
    return !s->x_low == !checkpoint->x_low && same_vector(s->origin, checkpoint->origin);
}

// Both parts of the numbers of precision mixed, to the bit.
static void restore_parts(struct system *system, const struct checkpoint *checkpoint)
{
    if (!has_same_parts(system, checkpoint))
        return;
    if (checkpoint->x) {
        RESTORE_VECTOR(x);
        RESTORE_VECTOR(x_low);
    }
    if (checkpoint->vx && system->state->vx_low) {
        RESTORE_VECTOR(vx);
        RESTORE_VECTOR(vx_low);
    }
}

// The three arrays of a vector field of the state.
#define FIELD(s, x, y, z) ((real *const[3]){(s)->x, (s)->y, (s)->z})

// ---- Springs that break or yield

// A spring's index in the state's arrays, its number in the uncut scene, and its rest length as
// built.
struct stored_spring {
    uint64_t state_index, number;
    real built;
};

typedef void spring_visitor(struct state *state, struct checkpoint *checkpoint,
                            const struct stored_spring *spring);

static uint64_t uncut_number(const struct system *system, uint64_t spring, const uint32_t *numbers)
{
    uint64_t outside = topology_builder_spring(system->topology, spring);
    return numbers ? numbers[outside] : outside;
}

// Visits the springs for which the state stores a broken flag or a rest length.
static void visit_springs(struct system *system, struct checkpoint *checkpoint,
                          const uint32_t *numbers, spring_visitor *visit)
{
    struct spring_walk walk = springs_walk(system);
    struct spring_view view;
    if (!system->state->rest_length && !system->state->broken)
        return;
    while (springs_next(&walk, &view))
        for (uint64_t i = 0; (view.broken || view.rest_length) && i < view.count; i++)
            visit(system->state, checkpoint,
                  &(struct stored_spring){view.state_index + i,
                                          uncut_number(system, view.number + i, numbers),
                                          view.built});
}

// The rest length that a checkpoint stores: 0 for a spring that has not yielded, -1 for one that
// has yielded to 0.
static real stored_rest(real rest, real built)
{
    return rest == built ? 0 : rest == 0 ? -1 : rest;
}

static real rest_of_stored(real stored, real built)
{
    return stored == 0 ? built : stored < 0 ? 0 : stored;
}

static void save_spring(struct state *s, struct checkpoint *checkpoint,
                        const struct stored_spring *spring)
{
    if (s->broken)
        checkpoint->broken[spring->number] = s->broken[spring->state_index];
    if (s->rest_length) {
        real rest = s->rest_length[spring->state_index];
        checkpoint->rest_length[spring->number] = (double)stored_rest(rest, spring->built);
        if (checkpoint->rest_built)
            checkpoint->rest_built[spring->number] = (double)spring->built;
    }
}

// The rest length of a yielded spring. If the spring is built longer now, its yielding is scaled in
// proportion.
static real rest_length_now(const struct checkpoint *checkpoint, const struct stored_spring *spring)
{
    double rest = checkpoint->rest_length ? checkpoint->rest_length[spring->number] : 0;
    if (rest <= 0 || !checkpoint->rest_built)
        return rest_of_stored((real)rest, spring->built);
    double built = checkpoint->rest_built[spring->number];
    if (built == (double)spring->built || built == 0)
        return (real)rest;
    return (real)(rest / built * (double)spring->built);
}

static void restore_spring(struct state *s, struct checkpoint *checkpoint,
                           const struct stored_spring *spring)
{
    if (s->broken)
        s->broken[spring->state_index] =
            checkpoint->broken ? checkpoint->broken[spring->number] : 0;
    if (s->rest_length)
        s->rest_length[spring->state_index] = rest_length_now(checkpoint, spring);
}

static size_t loss_chunks(const struct system *system)
{
    return chunk_count((size_t)plan_fragile_total(system->plan));
}

// Another plan may have other chunks: their sum is what counts.
static void restore_losses(struct system *system, const struct checkpoint *checkpoint)
{
    const size_t chunks = loss_chunks(system);
    const bool same = chunks == (size_t)checkpoint->loss_count;
    double lost = 0;
    for (size_t i = 0; i < (size_t)checkpoint->loss_count; i++)
        lost += checkpoint->fragile_losses[i];
    for (size_t i = 0; i < chunks; i++)
        system->fragile_losses[i] = same ? checkpoint->fragile_losses[i] : i == 0 ? lost : 0;
}

static void restore_springs(struct system *system, struct checkpoint *checkpoint)
{
    if (!checkpoint->in_parts) // otherwise they have been put there
        visit_springs(system, checkpoint, checkpoint->to_springs, restore_spring);
    REAL_NAME(springs_refresh)(system);
    restore_losses(system, checkpoint);
}

// ---- Moved nodes

static const struct motion *motion_of(const struct checkpoint *checkpoint, uint64_t node,
                                      size_t *index)
{
    const struct topology *topology = checkpoint->topology;
    for (size_t m = 0; m < topology->motion_count; m++) {
        if (topology_builder_node(topology, topology->motions[m].node) != node)
            continue;
        *index = m;
        return &topology->motions[m];
    }
    return NULL;
}

// A motion of the same kind continues; any other starts at the present position of the node.
static void restore_motions(struct system *system, const struct checkpoint *checkpoint)
{
    const struct topology *topology = system->topology;
    struct state *s = system->state;
    for (size_t m = 0; m < topology->motion_count; m++) {
        const struct motion *motion = &topology->motions[m];
        size_t old = 0;
        const struct motion *before =
            motion_of(checkpoint, topology_builder_node(topology, motion->node), &old);
        s->motion_position[m] = node_position(s, motion->node);
        if (!before || before->type != motion->type)
            continue;
        s->motion_position[m] = checkpoint->motion_position[old];
        s->motion_angle[m] = checkpoint->motion_angle[old];
        s->motion_rate[m] = checkpoint->motion_rate[old];
    }
}

// Nodes that become kinematic stop. If they have a motion, it sets their velocity in the next step.
static void stop_kinematic_nodes(struct system *system, const struct checkpoint *checkpoint)
{
    const struct topology *topology = system->topology;
    struct state *s = system->state;
    for (uint64_t i = 0; i < topology->kinematic_count; i++) {
        uint32_t node = topology->kinematic[i];
        uint64_t outside = topology_builder_node(topology, node);
        if (!topology_is_kinematic(checkpoint->topology,
                                   topology_internal_node(checkpoint->topology, outside)))
            s->vx[node] = s->vy[node] = s->vz[node] = 0;
    }
}

static void save_targets(const struct system *system, struct checkpoint *checkpoint)
{
    const struct kinematic_targets *targets = &system->kinematic_targets;
    checkpoint->target_count = targets->count;
    for (size_t i = 0; i < targets->count; i++) {
        const struct kinematic_target *target = &targets->items[i];
        checkpoint->target_nodes[i] = topology_builder_node(system->topology, target->node);
        checkpoint->target_positions[i] = target->position;
        checkpoint->target_velocities[i] = target->velocity;
    }
}

// Restores the targets of nodes that are still kinematic, with their positions to the last bit.
static void restore_targets(struct system *system, struct checkpoint *checkpoint)
{
    struct kinematic_targets *targets = &system->kinematic_targets;
    targets->count = 0;
    for (size_t i = 0; i < (size_t)checkpoint->target_count; i++) {
        uint64_t node = topology_internal_node(system->topology, checkpoint->target_nodes[i]);
        if (system->constants->inverse_mass[node] != 0)
            continue;
        const vec3 velocity = node_velocity(system->state, node);
        if (!REAL_NAME(kinematic_set_target)(system, (uint32_t)node,
                                             checkpoint->target_velocities[i])) {
            checkpoint->no_memory = true;
            return;
        }
        if (checkpoint->exact)
            state_put_velocity(system->state, node, velocity);
        targets->items[targets->count - 1].position = checkpoint->target_positions[i];
    }
}

static void save_mouse_spring(const struct system *system, struct checkpoint *checkpoint)
{
    checkpoint->mouse_spring = system->mouse_spring;
    checkpoint->mouse_spring.node =
        (uint32_t)topology_builder_node(system->topology, system->mouse_spring.node);
}

static void restore_mouse_spring(struct system *system, const struct checkpoint *checkpoint)
{
    struct mouse_spring *mouse_spring = &system->mouse_spring;
    *mouse_spring = checkpoint->mouse_spring;
    mouse_spring->node =
        (uint32_t)topology_internal_node(system->topology, checkpoint->mouse_spring.node);
    mouse_spring->pulls &= system->constants->inverse_mass[mouse_spring->node] != 0;
    if (mouse_spring->pulls && mouse_spring->chosen && !checkpoint->exact)
        REAL_NAME(mouse_spring_set_stiffness)(system, mouse_spring);
}

// ---- Spheres and meshes

// A sphere continues from its present position; keys that have changed in the scene apply from now
// on. `center` is its position at time 0: if it has changed, the sphere is moved to where the scene
// has it now, so that a continued run and a new one have it at the same position.
static void restore_sphere(struct system *system, const struct checkpoint *checkpoint, size_t c,
                           double now)
{
    const struct scene_collider *wanted = &system->topology->colliders[c];
    const struct scene_collider *before = &checkpoint->topology->colliders[c];
    struct state *s = system->state;
    bool stays = same_vector(wanted->centre, before->centre);
    bool speeds = !same_vector(wanted->velocity, before->velocity);
    if (wanted->type != COLLIDER_SPHERE || before->type != COLLIDER_SPHERE)
        return;
    s->collider_centre[c] = checkpoint->collider_centre[c];
    s->collider_velocity[c] = checkpoint->collider_velocity[c];
    s->collider_since[c] = checkpoint->collider_since[c];
    s->collider_radius[c] =
        wanted->radius == before->radius ? checkpoint->collider_radius[c] : wanted->radius;
    if (stays && !speeds)
        return;
    vec3 moved = vec3_scale(now - s->collider_since[c], s->collider_velocity[c]);
    s->collider_centre[c] = stays ? vec3_add(s->collider_centre[c], moved)
                                  : vec3_add(wanted->centre, vec3_scale(now, wanted->velocity));
    if (speeds)
        s->collider_velocity[c] = wanted->velocity;
    s->collider_since[c] = now;
}

// A mesh likewise: what it has been moved by counts from where its scene had it.
static void restore_mesh(struct system *system, const struct checkpoint *checkpoint, size_t c,
                         double now)
{
    const struct scene_collider *wanted = &system->topology->colliders[c];
    const struct scene_collider *before = &checkpoint->topology->colliders[c];
    struct state *s = system->state;
    const bool stays = same_vector(wanted->translate, before->translate);
    if (wanted->type != COLLIDER_MESH || before->type != COLLIDER_MESH)
        return;
    s->collider_centre[c] = stays ? checkpoint->collider_centre[c] : vec3_make(0, 0, 0);
    s->collider_velocity[c] = checkpoint->collider_velocity[c];
    s->collider_since[c] = stays ? checkpoint->collider_since[c] : now;
}

// ---- The complete state

static void save_forces(struct system *system, struct checkpoint *checkpoint,
                        const struct worker *worker)
{
    struct state *s = system->state;
    real *const forces[3] = {s->fx, s->fy, s->fz};
    if (!checkpoint->fx || !s->forces_current)
        return;
    if (worker->index == 0)
        SAVE_VECTOR(fx);
    if (!checkpoint->compares)
        return;
    worker_barrier(worker);
    REAL_NAME(forces_evaluate_without_breaking)(system, REAL_NAME(evaluation_now)(system), worker);
    worker_barrier(worker);
    if (worker->index == 0) {
        save_nodes(system, forces, checkpoint->forces_compared);
        RESTORE_VECTOR(fx);
    }
    worker_barrier(worker);
}

// ---- Touching flags of nodes

// The flags of nodes that touch a collider, in the state; NULL if the collider does not project.
static uint8_t *touching_of(const struct system *system, size_t collider)
{
    const struct scene_collider *colliders = system->topology->colliders;
    uint8_t *touching = system->state->touching;
    if (colliders[collider].response != RESPONSE_PROJECT)
        return NULL;
    for (size_t c = 0; c < collider; c++)
        if (colliders[c].response == RESPONSE_PROJECT)
            touching += system->state->nodes;
    return touching;
}

static void save_touching(const struct system *system, struct checkpoint *checkpoint)
{
    const uint64_t nodes = system->state->nodes;
    for (size_t c = 0; checkpoint->touching && c < system->topology->collider_count; c++) {
        const uint8_t *touching = touching_of(system, c);
        for (uint64_t node = 0; touching && node < nodes; node++)
            checkpoint->touching[c * nodes + node] =
                touching[topology_internal_node(system->topology, node)];
    }
}

// Whether this rank computes the contacts of a node, given by its internal number. Where ranks hold
// only their parts, each computes those of some nodes.
static bool is_touched(const struct system *system, uint64_t node)
{
    if (!REAL_NAME(exchange_has_part)(system))
        return true;
    const struct plan_part *part = REAL_NAME(exchange_part)(system->exchange);
    return node >= part->first_touched && node < part->end_touched;
}

// For colliders that are new or have another shape, the flags found by colliders_start stay.
static void restore_touching(struct system *system, const struct checkpoint *checkpoint)
{
    const uint64_t nodes = system->state->nodes;
    const struct topology *topology = system->topology, *before = checkpoint->topology;
    for (size_t c = 0; c < topology->collider_count && c < (size_t)checkpoint->colliders; c++) {
        uint8_t *touching = touching_of(system, c);
        if (!touching || before->colliders[c].response != RESPONSE_PROJECT ||
            before->colliders[c].type != topology->colliders[c].type)
            continue;
        for (uint64_t node = 0; node < nodes; node++) {
            const uint64_t inside = topology_internal_node(topology, node);
            if (is_touched(system, inside))
                touching[inside] = checkpoint->touching[c * nodes + node];
        }
    }
}

// ---- The memory of friction

static void save_friction(const struct system *system, struct checkpoint *checkpoint)
{
    const struct state *s = system->state;
    for (uint64_t at = 0; checkpoint->friction_flags && at < checkpoint->frictions; at++) {
        const uint64_t first = at - at % s->nodes;
        const uint64_t from = first + topology_internal_node(system->topology, at - first);
        checkpoint->friction_anchor[at] = s->friction_anchor[from];
        checkpoint->friction_stretch[at] = s->friction_stretch[from];
        checkpoint->friction_flags[at] = s->friction_flags[from];
    }
}

// For colliders that are new or have another shape, what friction_start has found stays.
static void restore_friction(struct system *system, const struct checkpoint *checkpoint)
{
    const struct state *s = system->state;
    const struct topology *topology = system->topology, *before = checkpoint->topology;
    for (size_t c = 0; c < topology->collider_count && c < (size_t)checkpoint->colliders; c++) {
        const struct scene_collider *to = &topology->colliders[c], *from = &before->colliders[c];
        if (!to->coulomb.present || !from->coulomb.present || from->type != to->type ||
            from->response != to->response)
            continue;
        for (uint64_t i = 0; i < collider_friction_slots(to) * s->nodes; i++) {
            const uint64_t inside = topology_internal_node(topology, i % s->nodes);
            if (!is_touched(system, inside))
                continue;
            const uint64_t saved = from->coulomb.first_slot * s->nodes + i;
            const uint64_t at = to->coulomb.first_slot * s->nodes + i - i % s->nodes + inside;
            s->friction_anchor[at] = checkpoint->friction_anchor[saved];
            s->friction_stretch[at] = checkpoint->friction_stretch[saved];
            s->friction_flags[at] = checkpoint->friction_flags[saved];
        }
    }
    for (uint64_t block = 0; s->block_friction && block < s->contact_blocks; block++)
        s->block_friction[block] = 1; // at worst its flags are looked through once
}

void REAL_NAME(checkpoint_save)(struct system *system, struct checkpoint *checkpoint,
                                const struct worker *worker)
{
    struct state *s = system->state;
    save_forces(system, checkpoint, worker);
    if (worker->index != 0)
        return;
    save_positions(system, checkpoint->frame.positions);
    save_velocities(system, checkpoint->frame.velocities);
    checkpoint->origin = s->origin;
    for (size_t b = 0; b < (size_t)checkpoint->bodies; b++)
        checkpoint->body_nodes[b] = system->topology->bodies[b].node_count;
    checkpoint->frame.fields = FRAME_NODES;
    checkpoint->frame.step = s->step;

    // One macro for each kind of length of an array. Springs, touches and friction are saved below.
#define SAVE_nodes(name)     save_array(system, checkpoint, CHECKPOINT_##name);
#define SAVE_motions(name)   SAVE_ITEMS(name, s->motions)
#define SAVE_colliders(name) SAVE_ITEMS(name, s->colliders)
#define SAVE_springs(name)
#define SAVE_touches(name)
#define SAVE_frictions(name)
#define SAVE_multipliers(name)
#define SAVE_slots(name)
#define SAVE_bodies(name) SAVE_ITEMS(name, s->bodies)
#define SAVE_contact_blocks(name)
#define SAVE_ITEMS(name, count)                                                                    \
    for (size_t i = 0; checkpoint->name && i < (size_t)(count); i++)                               \
        checkpoint->name[i] = s->name[i];
#define SAVE(type, name, length, condition, kept) SAVE_##length(name)
    STATE_ARRAYS(SAVE)
#undef SAVE
    if (system->implicit)
        save_nodes(system, FIELD(&system->implicit->solver.solution, x, y, z),
                   checkpoint->correction);

    if (!checkpoint->in_parts)
        visit_springs(system, checkpoint, checkpoint->from_springs, save_spring);

    save_targets(system, checkpoint);
    save_mouse_spring(system, checkpoint);
    save_touching(system, checkpoint);
    save_friction(system, checkpoint);
    REAL_NAME(surface_friction_save)(system, &checkpoint->surface_friction);

    checkpoint->previous_state_from = s->previous_state_from;
    checkpoint->forces_current = s->forces_current;
    checkpoint->loss_count = loss_chunks(system);
    for (size_t i = 0; i < loss_chunks(system); i++)
        checkpoint->fragile_losses[i] = system->fragile_losses[i];
    checkpoint->divergence = (struct checkpoint_divergence){
        .energy_start = system->energy_start,
        .gravity_start = system->gravity_start,
        .explained_peak = system->explained_peak,
        .fastest_outside = system->fastest_outside,
    };
    checkpoint->end.known = s->energy_current && system->implicit;
    if (checkpoint->end.known) {
        const struct energy_sample *end = &system->implicit->end;
        checkpoint->end.energy = end->energy;
        checkpoint->end.power = end->external.power;
        checkpoint->end.moved_kinetic = end->external.moved_kinetic;
    }
    checkpoint->has_budget = system->settings.keep_energy_budget;
    checkpoint->work = system->work;
    checkpoint->implicit_statistics = system->implicit_statistics;
    checkpoint->surface_cuts = REAL_NAME(surface_contact_cuts)(system);
    checkpoint->mesh_power = s->forces_current ? REAL_NAME(mesh_colliders_power)(system) : 0;
}

// ---- Numbers of nodes, as they are written

static void gather_numbers(const struct topology *topology, const real *from, uint64_t first,
                           uint64_t count, real *to)
{
    if (topology->renumbered_count == 0) {
        memcpy(to, from + first, count * sizeof *to);
        return;
    }
    for (uint64_t i = 0; i < count; i++)
        to[i] = from[topology_internal_node(topology, first + i)];
}

static void gather_triples(const struct topology *topology, real *const from[3], uint64_t first,
                           uint64_t count, real *to)
{
    const real *x = from[0], *y = from[1], *z = from[2];
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t inside = topology_internal_node(topology, first + i);
        to[3 * i] = x[inside];
        to[3 * i + 1] = y[inside];
        to[3 * i + 2] = z[inside];
    }
}

// Both parts of the numbers of precision mixed make one in double.
static void gather_sums(const struct system *system, unsigned field, uint64_t first, uint64_t count,
                        double *to)
{
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t inside = topology_internal_node(system->topology, first + i);
        const vec3 sum = field == CHECKPOINT_positions ? node_position(system->state, inside)
                                                       : node_velocity(system->state, inside);
        memcpy(to + 3 * i, (double[3]){sum.x, sum.y, sum.z}, 3 * sizeof *to);
    }
}

// Gathers the numbers of contacts. The flags of a collider that does not project are 0.
static void gather_contacts(const struct system *system, unsigned field, uint64_t first,
                            uint64_t count, void *to)
{
    const struct state *s = system->state;
    for (uint64_t at = first, end; at < first + count; at = end) {
        const uint64_t layer = at / s->nodes, start = layer * s->nodes;
        end = min_u64(start + s->nodes, first + count);
        const uint8_t *touching =
            field == CHECKPOINT_touching ? touching_of(system, (size_t)layer) : NULL;
        for (uint64_t i = at; i < end; i++) {
            const uint64_t node = topology_internal_node(system->topology, i - start);
            const uint64_t from = start + node;
            if (field == CHECKPOINT_friction_anchor)
                ((vec3 *)to)[i - first] = s->friction_anchor[from];
            else if (field == CHECKPOINT_friction_stretch)
                ((double *)to)[i - first] = s->friction_stretch[from];
            else if (field == CHECKPOINT_friction_flags)
                ((uint8_t *)to)[i - first] = s->friction_flags[from];
            else
                ((uint8_t *)to)[i - first] = touching ? touching[node] : 0;
        }
    }
}

// Iterates over those of a body's springs on no grid that have the builder's numbers [first, first
// + count): its lists may have another order.
struct listed_walk {
    const struct system *system;
    const struct topology_body *body;
    uint64_t first, count;
    uint64_t next; // of the body's springs
    struct spring_run near;
    uint64_t at, index; // of the present one: first + at is its number; in the state's arrays
    real built;
};

static struct listed_walk listed_walk(const struct system *system, uint64_t first, uint64_t count)
{
    const struct topology *topology = system->topology;
    return (struct listed_walk){.system = system,
                                .body = &topology->bodies[topology_body_of_spring(topology, first)],
                                .first = first,
                                .count = count};
}

static bool next_listed(struct listed_walk *walk)
{
    const struct topology *topology = walk->system->topology;
    while (walk->next < walk->body->spring_count) {
        const uint64_t spring = walk->body->first_spring + walk->next++;
        const uint64_t number = topology_builder_spring(topology, spring);
        if (number < walk->first || number >= walk->first + walk->count)
            continue;
        walk->at = number - walk->first;
        walk->index = plan_off_grid_index(walk->system->plan, spring);
        walk->built = (real)topology_spring_near(topology, spring, &walk->near).rest_length;
        return true;
    }
    return false;
}

// `part`: those that it does not count are left out; NULL: all.
static void gather_listed(const struct system *system, const struct plan_part *part, unsigned field,
                          uint64_t first, uint64_t count, void *to)
{
    const struct state *s = system->state;
    uint8_t *flags = to;
    real *lengths = to;
    for (struct listed_walk it = listed_walk(system, first, count); next_listed(&it);)
        if (part && !REAL_NAME(part_springs_counts)(system, part, it.index))
            continue;
        else if (field == CHECKPOINT_broken)
            flags[it.at] = s->broken[it.index];
        else
            lengths[it.at] = stored_rest(s->rest_length[it.index], it.built);
}

void REAL_NAME(checkpoint_gather_counted)(const struct system *system,
                                          const struct exchange *exchange, unsigned field,
                                          uint64_t first, uint64_t count, void *to)
{
    gather_listed(system, REAL_NAME(exchange_part)(exchange), field, first, count, to);
}

static void scatter_listed(const struct system *system, unsigned field, uint64_t first,
                           uint64_t count, const void *from)
{
    const struct state *s = system->state;
    const uint8_t *flags = from;
    const real *lengths = from;
    for (struct listed_walk it = listed_walk(system, first, count); next_listed(&it);)
        if (field == CHECKPOINT_broken)
            s->broken[it.index] = flags[it.at];
        else
            s->rest_length[it.index] = rest_of_stored(lengths[it.at], it.built);
}

// Springs of one body: which are broken, or the rest lengths of those that have yielded, and else
// 0.
static void gather_springs(const struct system *system, unsigned field, uint64_t first,
                           uint64_t count, void *to)
{
    const struct topology *topology = system->topology;
    const struct state *s = system->state;
    const size_t body = topology_body_of_spring(topology, first);
    const struct plan_grid *grid = plan_grid_of_body(system->plan, body);
    if (!grid) {
        gather_listed(system, NULL, field, first, count, to);
        return;
    }
    const uint64_t index = grid->first_state_index + (first - topology->bodies[body].first_spring);
    if (field == CHECKPOINT_broken) {
        memcpy(to, s->broken + index, (size_t)count);
        return;
    }
    struct spring_run near = {0};
    real *numbers = to;
    for (uint64_t i = 0; i < count; i++) {
        const real built = (real)topology_spring_near(topology, first + i, &near).rest_length;
        numbers[i] = stored_rest(s->rest_length[index + i], built);
    }
}

void REAL_NAME(checkpoint_gather)(const struct system *system, unsigned field, uint64_t first,
                                  uint64_t count, void *to)
{
    const struct topology *topology = system->topology;
    const struct state *s = system->state;
    if (checkpoint_field_is_of_springs(field))
        gather_springs(system, field, first, count, to);
    else if (checkpoint_field_is_of_contacts(field))
        gather_contacts(system, field, first, count, to);
    else if (field == CHECKPOINT_correction)
        gather_triples(topology, FIELD(&system->implicit->solver.solution, x, y, z), first, count,
                       to);
    else if (field == CHECKPOINT_bound_weights)
        REAL_NAME(critical_step_weights)(system, first, count, to);
    else if (field > CHECKPOINT_bound_weights)
        gather_numbers(topology, state_array(s, field), first, count, to);
    else if (s->x_low)
        gather_sums(system, field, first, count, to);
    else if (field == CHECKPOINT_positions)
        gather_triples(topology, FIELD(s, x, y, z), first, count, to);
    else
        gather_triples(topology, FIELD(s, vx, vy, vz), first, count, to);
}

// Iterates over the nodes of `own` among those of the builder's numbers [first, first + count).
struct own_walk {
    const struct topology *topology;
    struct range own;
    uint64_t first, count;
    uint64_t next;
    uint64_t at, inside; // of the present one: first + at is the builder's number
};

static bool next_own(struct own_walk *walk)
{
    while (walk->next < walk->count) {
        walk->at = walk->next++;
        walk->inside = topology_internal_node(walk->topology, walk->first + walk->at);
        if (range_has(walk->own, (size_t)walk->inside))
            return true;
    }
    return false;
}

static void scatter_triples(struct own_walk walk, const real *from, real *const to[3])
{
    while (next_own(&walk))
        for (uint64_t axis = 0; axis < 3; axis++)
            to[axis][walk.inside] = from[3 * walk.at + axis];
}

static void scatter_sums(struct system *system, unsigned field, const double *from,
                         struct own_walk walk)
{
    while (next_own(&walk)) {
        const double *numbers = from + 3 * walk.at;
        const vec3 sum = vec3_make(numbers[0], numbers[1], numbers[2]);
        if (field == CHECKPOINT_positions)
            state_put(system->state, walk.inside, sum);
        else
            state_put_velocity(system->state, walk.inside, sum);
    }
}

// How many of springs [first, end), from the first on, are alike: this rank evaluates them, and has
// their states from `index` on, or does not; or they are on no grid, and every rank has their
// states.
struct known_springs {
    uint64_t count, index;
    bool known, listed;
};

static struct known_springs next_springs(const struct system *system, uint64_t first, uint64_t end)
{
    const size_t b = topology_body_of_spring(system->topology, first);
    const struct topology_body *body = &system->topology->bodies[b];
    const struct plan_grid *grid = plan_grid_of_body(system->plan, b);
    const uint64_t count = min_u64(end, body->first_spring + body->spring_count) - first;
    if (!grid) {
        const bool changes = plan_fragile_off_grid(system->plan) > 0;
        return (struct known_springs){.count = count, .known = changes, .listed = changes};
    }
    if (!grid->stateful)
        return (struct known_springs){.count = count};
    const uint64_t index = grid->first_state_index + (first - body->first_spring);
    const uint64_t rest = SUM_CHUNK - plan_fragile_number(system->plan, index) % SUM_CHUNK;
    const struct plan_part *part = REAL_NAME(exchange_part)(system->exchange);
    return (struct known_springs){.count = min_u64(count, rest),
                                  .index = index,
                                  .known = REAL_NAME(part_springs_knows)(system, part, index)};
}

bool REAL_NAME(checkpoint_wants_springs)(const struct system *system, uint64_t first,
                                         uint64_t count)
{
    bool wants = false;
    for (uint64_t spring = first; spring < first + count && !wants;) {
        const struct known_springs piece = next_springs(system, spring, first + count);
        wants = piece.known;
        spring += piece.count;
    }
    return wants;
}

static void scatter_springs(const struct system *system, unsigned field, uint64_t first,
                            uint64_t count, const void *from)
{
    const struct state *s = system->state;
    const uint8_t *flags = from;
    const real *lengths = from;
    struct spring_run near = {0};
    for (uint64_t done = 0; done < count;) {
        const struct known_springs piece = next_springs(system, first + done, first + count);
        const bool is_broken = field == CHECKPOINT_broken;
        if (piece.listed) {
            const void *numbers =
                is_broken ? (const void *)(flags + done) : (const void *)(lengths + done);
            scatter_listed(system, field, first + done, piece.count, numbers);
            done += piece.count;
            continue;
        }
        if (piece.known && is_broken)
            memcpy(s->broken + piece.index, flags + done, (size_t)piece.count);
        for (uint64_t i = 0; piece.known && !is_broken && i < piece.count; i++) {
            const uint64_t spring = first + done + i;
            const double built = topology_spring_near(system->topology, spring, &near).rest_length;
            s->rest_length[piece.index + i] = rest_of_stored(lengths[done + i], (real)built);
        }
        done += piece.count;
    }
}

void REAL_NAME(checkpoint_scatter)(struct system *system, unsigned field, struct range own,
                                   uint64_t first, uint64_t count, const void *from)
{
    const struct topology *topology = system->topology;
    const struct state *s = system->state;
    if (checkpoint_field_is_of_springs(field)) {
        scatter_springs(system, field, first, count, from);
        return;
    }
    struct own_walk walk = {.topology = topology, .own = own, .first = first, .count = count};
    const real *numbers = from;
    if (field == CHECKPOINT_correction) {
        scatter_triples(walk, numbers, FIELD(&system->implicit->solver.solution, x, y, z));
    } else if (field > CHECKPOINT_bound_weights) {
        real *to = state_array(s, field);
        while (next_own(&walk))
            to[walk.inside] = numbers[walk.at];
    } else if (s->x_low) {
        scatter_sums(system, field, from, walk);
    } else if (field == CHECKPOINT_positions) {
        scatter_triples(walk, numbers, FIELD(s, x, y, z));
    } else {
        scatter_triples(walk, numbers, FIELD(s, vx, vy, vz));
    }
}

// Restores what any solver of these nodes takes over.
static void restore_common(struct system *system, struct checkpoint *checkpoint)
{
    struct state *s = system->state;
    s->step = checkpoint->frame.step;
    s->previous_state_from = checkpoint->frame.step;
    s->forces_current = s->forces_zero = s->grid_forces_zero = s->energy_current = false;
    system->settings.dt_time = checkpoint->dt.since_time;
    system->settings.dt_step = checkpoint->dt.since_step;
    restore_targets(system, checkpoint); // before the velocities: these may be stopped by a plane
    restore_positions_and_velocities(system, checkpoint);
    if (system->implicit)
        restore_nodes(system, checkpoint->correction,
                      FIELD(&system->implicit->solver.solution, x, y, z));
    restore_springs(system, checkpoint);
    restore_mouse_spring(system, checkpoint);
    system->fastest_outside = checkpoint->divergence.fastest_outside;
    system->work = checkpoint->work;
    system->work_shown_step = UINT64_MAX;
    system->implicit_statistics = checkpoint->implicit_statistics;
    REAL_NAME(surface_contact_put_cuts)(system, &checkpoint->surface_cuts);
    system->fault = (struct fault){.code = TAUT_OK};
}

// Restores what changed constants, motions or colliders may affect.
static void restore_changed(struct system *system, struct checkpoint *checkpoint)
{
    const struct state *s = system->state;
    restore_motions(system, checkpoint);
    stop_kinematic_nodes(system, checkpoint);
    for (size_t c = 0; c < (size_t)s->colliders && c < (size_t)checkpoint->colliders; c++) {
        restore_sphere(system, checkpoint, c, step_time(system, s->step));
        restore_mesh(system, checkpoint, c, step_time(system, s->step));
    }
    for (size_t b = 0; b < system->topology->body_count; b++) {
        REAL_NAME(gas_continue)
        (system, b, &checkpoint->topology->bodies[b].pressure, checkpoint->gas_start[b],
         checkpoint->gas_since[b]);
        s->volume_sampled[b] = checkpoint->volume_sampled[b];
    }
}

// Every array that the list keeps, as it is; springs, touches and friction are
// restored elsewhere.
static void restore_arrays(struct system *system, const struct checkpoint *checkpoint)
{
    struct state *s = system->state;
#define RESTORE_nodes(name)     restore_array(system, checkpoint, CHECKPOINT_##name);
#define RESTORE_motions(name)   RESTORE_ITEMS(name, s->motions)
#define RESTORE_colliders(name) RESTORE_ITEMS(name, s->colliders)
#define RESTORE_bodies(name)    RESTORE_ITEMS(name, s->bodies)
#define RESTORE_springs(name)
#define RESTORE_touches(name)
#define RESTORE_frictions(name)
#define RESTORE_multipliers(name)
#define RESTORE_slots(name)
#define RESTORE_contact_blocks(name)
#define RESTORE_ITEMS(name, count)                                                                 \
    for (size_t i = 0; checkpoint->name && i < (size_t)(count); i++)                               \
        s->name[i] = checkpoint->name[i];
#define RESTORE(type, name, length, condition, kept) RESTORE_##length(name)
    STATE_ARRAYS(RESTORE)
#undef RESTORE
    s->previous_state_from = checkpoint->previous_state_from;
}

// Last, since evaluating the energy and looking for contacts write to some of it.
static void restore_remembered(struct system *system, const struct checkpoint *checkpoint)
{
    struct state *s = system->state;
    system->energy_start = checkpoint->divergence.energy_start;
    system->gravity_start = checkpoint->divergence.gravity_start;
    system->explained_peak = checkpoint->divergence.explained_peak;
    s->forces_current = checkpoint->forces_current;
    if (s->forces_current)
        REAL_NAME(mesh_colliders_keep_power)(system, checkpoint->mesh_power);
    s->energy_current = system->implicit && checkpoint->end.known;
    if (s->energy_current)
        system->implicit->end = (struct energy_sample){
            .energy = checkpoint->end.energy,
            .external = {checkpoint->end.power, checkpoint->end.moved_kinetic}};
}

// Whether the present forces are to the bit those that the other solver found here.
static bool forces_match(const struct system *system, const struct checkpoint *checkpoint)
{
    const struct state *s = system->state;
    for (uint64_t node = 0; node < s->nodes; node++) {
        uint64_t i = topology_internal_node(system->topology, node);
        const double *seen = checkpoint->forces_compared + 3 * node;
        if ((double)s->fx[i] != seen[0] || (double)s->fy[i] != seen[1] ||
            (double)s->fz[i] != seen[2])
            return false;
    }
    return true;
}

// The previous state stored by verlet and bdf2 is valid only for steps of the same length.
static void restore_memory(struct system *system, const struct checkpoint *checkpoint)
{
    struct state *s = system->state;
    bool same = system->settings.integrator == checkpoint->integrator &&
                system->settings.dt == checkpoint->dt.dt && has_same_parts(system, checkpoint);
    if (!same)
        return;
    RESTORE_VECTOR(x0);
    RESTORE_VECTOR(x0_low);
    RESTORE_VECTOR(vx0);
    RESTORE_VECTOR(vx0_low);
    s->previous_state_from = checkpoint->previous_state_from;
}

// Velocity Verlet and verlet end a step with the forces with which the next one begins, evaluated
// at other velocities than those at the end. If the forces at the present state have not changed,
// the stored ones are kept, so that the run continues bit by bit; otherwise they are evaluated
// again, and verlet starts as at t = 0, from the velocities.
static void continue_forces(struct system *system, const struct checkpoint *checkpoint,
                            const struct worker *worker)
{
    struct state *s = system->state;
    const bool verlet = system->settings.integrator == INTEGRATOR_VERLET;
    const bool like_before = system->settings.integrator == checkpoint->integrator &&
                             (!verlet || (system->settings.dt == checkpoint->dt.dt &&
                                          has_same_parts(system, checkpoint)));
    const bool wanted = checkpoint->fx && checkpoint->forces_current && like_before;
    if (wanted)
        REAL_NAME(forces_evaluate_without_breaking)
    (system, REAL_NAME(evaluation_now)(system), worker);
    worker_barrier(worker);
    const bool same = wanted && forces_match(system, checkpoint);
    worker_barrier(worker); // all have read the forces
    if (worker->index == 0 && same) {
        RESTORE_VECTOR(fx);
        s->forces_current = true;
    }
    worker_barrier(worker);
    if (verlet && !same && (!like_before || checkpoint->forces_current))
        REAL_NAME(verlet_start)(system, worker);
}

void REAL_NAME(checkpoint_restore)(struct system *system, struct checkpoint *checkpoint,
                                   const struct worker *worker)
{
    const bool exact = checkpoint->exact;
    stage_clock_start(&system->clock, worker);
    if (worker->index == 0) {
        restore_common(system, checkpoint);
        if (exact) {
            restore_arrays(system, checkpoint);
        } else {
            restore_parts(system, checkpoint);
            restore_changed(system, checkpoint);
            restore_memory(system, checkpoint);
        }
    }
    if (worker->index == 0) {
        REAL_NAME(mesh_colliders_set_positions)(system);
        REAL_NAME(surface_contact_moved)(system);
    }
    REAL_NAME(exchange_rest)(system, worker);
    worker_barrier(worker);
    REAL_NAME(colliders_start)(system, step_time(system, system->state->step), worker);
    REAL_NAME(friction_start)(system, step_time(system, system->state->step), worker);
    if (worker->index == 0) {
        restore_touching(system, checkpoint);
        restore_friction(system, checkpoint);
        checkpoint->no_memory |=
            exact ? !REAL_NAME(surface_friction_put_back)(system, &checkpoint->surface_friction)
                  : !REAL_NAME(surface_friction_restore)(system, &checkpoint->surface_friction);
    }
    worker_barrier(worker);
    // A step that starts with known forces needs this.
    REAL_NAME(surface_contact_find)(system, REAL_NAME(evaluation_now)(system), worker);
    if (!exact)
        continue_forces(system, checkpoint, worker);
    taut_energy energy = {0};
    REAL_NAME(energy_measure)(system, REAL_NAME(evaluation_now)(system), &energy, worker);
    if (worker->index == 0) {
        if (exact)
            restore_remembered(system, checkpoint);
        else
            REAL_NAME(divergence_start)(system, &energy);
        checkpoint->no_memory |= system->fault.code == TAUT_ERROR_MEMORY;
        system->fault = (struct fault){.code = TAUT_OK};
    }
    worker_barrier(worker);
}
