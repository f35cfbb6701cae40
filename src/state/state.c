// Allocates, initialises, measures and hashes the arrays of a run, all from the list in arrays.h,
// first touches each on the worker that steps it, and forms sums over elements (reading.h).
// Velocities before the first step, forces and limits are left to integrate/ and solver/; saving
// and restoring uses the same list in solver/checkpoint.c. Numeric.
#include "state/state.h"

#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/sort.h"
#include "ranks/ranks.h"
#include "state/reading.h"

#define state_make REAL_NAME(state_make)
#define state_free REAL_NAME(state_free)

// The slot of each array in the list.
#define OFFSET(type, name, length, condition, kept) OFFSET_##name,
enum { STATE_ARRAYS(OFFSET) };
#undef OFFSET

#define ARRAY_START(type, name) STATE_OFFSET(OFFSET_##name, type)

_Static_assert((int)OFFSET_fx == (int)STATE_OFFSET_FORCES,
               "the rolling reaction buffer lies where forces do");

// Elements of arrays by their length in the list.
#define ELEMENTS_nodes(state)          ((state)->nodes + (state)->collider_nodes)
#define ELEMENTS_springs(state)        (state)->springs
#define ELEMENTS_multipliers(state)    (state)->multipliers
#define ELEMENTS_slots(state)          (state)->slots
#define ELEMENTS_bodies(state)         (state)->bodies
#define ELEMENTS_motions(state)        (state)->motions
#define ELEMENTS_colliders(state)      (state)->colliders
#define ELEMENTS_touches(state)        (state)->touches
#define ELEMENTS_frictions(state)      (state)->frictions
#define ELEMENTS_contact_blocks(state) (state)->contact_blocks
#define ELEMENTS(state, length)        ELEMENTS_##length(state)

static size_t guarded(uint64_t length, size_t start)
{
    return start + (size_t)length + STATE_GUARD;
}

// Allocates the arrays that are needed and do not exist yet.
static bool allocate_arrays(struct state *state, const struct topology *topology,
                            struct state_needs needs)
{
#define ALLOCATE(type, name, length, condition, kept)                                              \
    if ((condition) && !state->name) {                                                             \
        type *block = memory_allocate(state->allocator,                                            \
                                      guarded(ELEMENTS(state, length), ARRAY_START(type, name)),   \
                                      sizeof(type));                                               \
        if (!block)                                                                                \
            return false;                                                                          \
        state->name = block + ARRAY_START(type, name);                                             \
    }
    STATE_ARRAYS(ALLOCATE)
#undef ALLOCATE
    return true;
}

bool REAL_NAME(state_add_restitution)(struct state *state, const struct topology *topology)
{
    return allocate_arrays(state, topology, (struct state_needs){.restitution = true});
}

static void start_body(struct state *state, const struct body *body, uint64_t first_node,
                       struct range share)
{
    uint64_t first = share.first > first_node ? share.first - first_node : 0;
    uint64_t end = share.end > first_node ? share.end - first_node : 0;
    end = end < body->node_count ? end : body->node_count;
    for (uint64_t i = first; i < end; i++)
        state_put(state, first_node + i, body_position(body, i));
    const bool moves = body->velocities || vec3_length(body->velocity) > 0;
    for (uint64_t i = first; moves && i < end; i++)
        state_put_velocity(state, first_node + i, body_velocity(body, i));
}

// A coordinate as the state has it; `from` is its origin.
static double rounded(const struct state *state, double coordinate, double from)
{
    real high, low;
    real_split(&high, state_is_mixed(state) ? &low : NULL, 0, coordinate - from);
    return state_is_mixed(state) ? from + ((double)high + (double)low) : (double)high;
}

// The position as built, as the state has it, also of a node that is not known.
static vec3 built_position(const struct state *state, const struct topology *topology,
                           const struct bodies *bodies, uint64_t node)
{
    const size_t b = topology_body_of_node(topology, node);
    const vec3 position = body_position(&bodies->items[b], node - topology->bodies[b].first_node);
    const vec3 origin = state->origin;
    return vec3_make(rounded(state, position.x, origin.x), rounded(state, position.y, origin.y),
                     rounded(state, position.z, origin.z));
}

static void add_to_box(vec3 position, double least[3], double most[3])
{
    const double at[3] = {position.x, position.y, position.z};
    for (int axis = 0; axis < 3; axis++) {
        least[axis] = at[axis] < least[axis] ? at[axis] : least[axis];
        most[axis] = at[axis] > most[axis] ? at[axis] : most[axis];
    }
}

// The middle of the scene as built, rounded to a multiple of a power of 2 of its size: a scene that
// contains the origin keeps it, and differences from it are exact for many numbers.
static vec3 find_origin(const struct bodies *bodies)
{
    double least[3] = {INFINITY, INFINITY, INFINITY}, most[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (size_t b = 0; b < bodies->count; b++) {
        const struct body *body = &bodies->items[b];
        const uint64_t corners = min_u64(body->node_count, 2);
        for (uint64_t i = 0; body->has_no_nodes && i < corners; i++)
            add_to_box(i == 0 ? body->least : body->most, least, most);
        for (uint64_t i = 0; !body->has_no_nodes && i < body->node_count; i++)
            add_to_box(body_position(body, i), least, most);
    }
    double size = 0, middle[3];
    for (int axis = 0; axis < 3; axis++)
        size = fmax(size, most[axis] - least[axis]);
    const double unit = size > 0 && isfinite(size) ? exp2(ceil(log2(size))) : 1;
    for (int axis = 0; axis < 3; axis++)
        middle[axis] = unit * trunc((least[axis] / 2 + most[axis] / 2) / unit);
    if (!isfinite(middle[0] + middle[1] + middle[2])) // no nodes
        return vec3_make(0, 0, 0);
    return vec3_make(middle[0], middle[1], middle[2]);
}

struct starting {
    struct state *state;
    const struct topology *topology;
    const struct bodies *bodies;
    struct state_share share;
};

// Whether this process knows only some nodes.
static bool has_part(const struct state *state, const struct state_share *share)
{
    return share->known.end - share->known.first < state->nodes;
}

// Whether an array of that length belongs to springs: each of several ranks that know only some
// nodes has states of springs from all over a grid, one direction after another.
#define HAS_SPRINGS_nodes          false
#define HAS_SPRINGS_springs        true
#define HAS_SPRINGS_multipliers    false
#define HAS_SPRINGS_slots          false
#define HAS_SPRINGS_bodies         false
#define HAS_SPRINGS_motions        false
#define HAS_SPRINGS_colliders      false
#define HAS_SPRINGS_touches        false
#define HAS_SPRINGS_frictions      false
#define HAS_SPRINGS_contact_blocks false

// The elements of an array of `count` that belong to nodes that this process steps, if those of
// nodes begin with element `start`; all of any other array.
static struct range own_elements(const struct state *state, struct range own, size_t start,
                                 size_t count)
{
    struct range part = {0, count};
    if (count < start + state->nodes)
        return part;
    if (own.end < state->nodes)
        part.end = start + own.end;
    if (own.first > 0)
        part.first = start + own.first;
    return part;
}

// For a process that knows only its own nodes: puts those of others in small pages.
static void spare(const struct state *state, struct range own, void *block, size_t start,
                  size_t count, size_t size)
{
    const struct range part = own_elements(state, own, start, count);
    memory_sparse(block, count * size, 0, part.first * size);
    memory_sparse(block, count * size, part.end * size, count * size);
}

static void spare_arrays(struct state *state, struct range own)
{
    const struct range none = {0, 0};
#define SPARE(type, name, length, condition, kept)                                                 \
    if (state->name)                                                                               \
        spare(state, HAS_SPRINGS_##length ? none : own, state->name - ARRAY_START(type, name),     \
              ARRAY_START(type, name), guarded(ELEMENTS(state, length), ARRAY_START(type, name)),  \
              sizeof(type));
    STATE_ARRAYS(SPARE)
#undef SPARE
}

// Writes 0 to a share of a large array that is already 0: the system then assigns memory near the
// worker now, and not in the first steps. What belongs to nodes of other ranks takes none as long
// as nothing reads or writes it.
static void touch(const struct starting *it, const struct worker *worker, void *block, size_t start,
                  size_t count, size_t size)
{
    const struct range part = own_elements(it->state, it->share.own, start, count);
    const struct range share = worker_share(worker, part.end - part.first, 64);
    memset((char *)block + (part.first + share.first) * size, 0, (share.end - share.first) * size);
}

static void start_nodes(void *context, const struct worker *worker)
{
    const struct starting *it = context;
    struct state *state = it->state;
    const bool only_part = has_part(state, &it->share);
#define TOUCH(type, name, length, condition, kept)                                                 \
    if (state->name && !(only_part && HAS_SPRINGS_##length))                                       \
        touch(it, worker, state->name - ARRAY_START(type, name), ARRAY_START(type, name),          \
              guarded(ELEMENTS(state, length), ARRAY_START(type, name)), sizeof(type));
    STATE_ARRAYS(TOUCH)
#undef TOUCH
    worker_barrier(worker); // other loops divide nodes into different shares
    const struct range known = it->share.known;
    struct range share = worker_share(worker, known.end - known.first, 16);
    share.first += known.first;
    share.end += known.first;
    for (size_t b = 0; b < it->bodies->count; b++)
        start_body(state, &it->bodies->items[b], it->topology->bodies[b].first_node, share);
}

static void start_motions(struct state *state, const struct topology *topology,
                          const struct bodies *bodies)
{
    for (size_t m = 0; m < topology->motion_count; m++) {
        const struct motion *motion = &topology->motions[m];
        state->motion_position[m] = built_position(state, topology, bodies, motion->node);
        state->motion_angle[m] = motion->amplitude;
    }
}

static void start_colliders(struct state *state, const struct topology *topology)
{
    for (size_t c = 0; c < topology->collider_count; c++) {
        state->collider_centre[c] = topology->colliders[c].centre;
        state->collider_velocity[c] = topology->colliders[c].velocity;
        state->collider_radius[c] = topology->colliders[c].radius;
    }
}

void REAL_NAME(state_start_rest_lengths)(struct state *state, const struct topology *topology,
                                         const struct plan *plan, struct range springs)
{
    struct spring_run near = {0};
    for (uint64_t at = springs.first; state->rest_length && at < springs.end;) {
        const struct plan_state_run run = plan_state_run(topology, plan, at);
        for (uint64_t i = 0; i < run.count && at < springs.end; i++, at++)
            state->rest_length[at] =
                (real)topology_spring_near(topology, run.first_spring + i, &near).rest_length;
    }
}

static void start_slots(struct state *state, const struct topology *topology,
                        const struct plan *plan)
{
    struct spring_run near = {0};
    for (uint64_t i = 0; state->slot_rest && i < state->slots; i++) {
        uint32_t index = plan_slot_spring(plan, i);
        state->slot_rest[i] = -1;
        if (index != PACKED_NONE)
            state->slot_rest[i] =
                (real)topology_spring_near(topology, plan_off_grid_spring(plan, index), &near)
                    .rest_length;
    }
}

bool REAL_NAME(state_repack)(struct state *state, const struct topology *topology,
                             const struct plan *plan)
{
    const uint64_t slots = plan_counts(topology, plan).slots;
    const size_t start = ARRAY_START(real, slot_rest);
    if (state->slot_rest) {
        real *block = memory_allocate(state->allocator, guarded(slots, start), sizeof *block);
        if (!block)
            return false;
        memory_release(state->allocator, state->slot_rest - start, guarded(state->slots, start),
                       sizeof *block);
        state->slot_rest = block + start;
    }
    state->slots = slots;
    start_slots(state, topology, plan);
    return true;
}

static void start_springs(struct state *state, const struct topology *topology,
                          const struct plan *plan, const struct state_share *share)
{
    const uint64_t known = has_part(state, share) ? plan_off_grid_springs(plan) : state->springs;
    REAL_NAME(state_start_rest_lengths)(state, topology, plan, (struct range){0, (size_t)known});
    start_slots(state, topology, plan);
}

static void set_lengths(struct state *state, const struct topology *topology,
                        const struct plan_counts *counts, struct state_needs needs)
{
    state->nodes = topology->node_count;
    state->collider_nodes = topology->collider_node_count;
    state->springs = counts->state_springs;
    state->multipliers = topology->spring_count;
    state->slots = counts->slots;
    state->bodies = topology->body_count;
    state->motions = topology->motion_count;
    state->colliders = topology->collider_count;
    state->touches = topology->node_count * needs.projections;
    state->frictions = topology->node_count * needs.frictions;
    state->contact_blocks = (topology->node_count + CONTACT_BLOCK - 1) / CONTACT_BLOCK;
}

uint64_t REAL_NAME(state_bytes_of)(const struct topology *topology,
                                   const struct plan_counts *counts, struct state_needs needs)
{
    struct state lengths = {0};
    const struct state *state = &lengths;
    set_lengths(&lengths, topology, counts, needs);
    uint64_t bytes = sizeof *state;
#define ADD_BYTES(type, name, length, condition, kept)                                             \
    if (condition)                                                                                 \
        bytes += guarded(ELEMENTS(state, length), ARRAY_START(type, name)) * sizeof(type);
    STATE_ARRAYS(ADD_BYTES)
#undef ADD_BYTES
    return bytes;
}

taut_status state_make(const struct topology *topology, const struct plan *plan,
                       const struct bodies *bodies, struct state_needs needs,
                       struct state_share share, struct team *team, const taut_allocator *allocator,
                       struct state **result, taut_error *error)
{
    *result = NULL;
    struct state *state = memory_allocate(allocator, 1, sizeof *state);
    if (!state)
        return fail_memory(error, "the state");
    state->allocator = allocator;
    const struct plan_counts counts = plan_counts(topology, plan);
    set_lengths(state, topology, &counts, needs);
    if (!allocate_arrays(state, topology, needs)) {
        state_free(state);
        return fail_memory(error, "the state");
    }
    if (has_part(state, &share))
        spare_arrays(state, share.own);
    if (needs.low_positions)
        state->origin = find_origin(bodies);
    struct starting starting = {state, topology, bodies, share};
    team_work(team, start_nodes, &starting);
    start_motions(state, topology, bodies);
    start_colliders(state, topology);
    start_springs(state, topology, plan, &share);
    *result = state;
    return TAUT_OK;
}

void state_free(struct state *state)
{
    if (!state)
        return;
#define RELEASE(type, name, length, condition, kept)                                               \
    if (state->name)                                                                               \
        memory_release(state->allocator, state->name - ARRAY_START(type, name),                    \
                       guarded(ELEMENTS(state, length), ARRAY_START(type, name)), sizeof(type));
    STATE_ARRAYS(RELEASE)
#undef RELEASE
    memory_release(state->allocator, state, 1, sizeof *state);
}

uint64_t REAL_NAME(state_bytes)(const struct state *state)
{
    uint64_t bytes = sizeof *state;
#define ADD_BYTES(type, name, length, condition, kept)                                             \
    if (state->name)                                                                               \
        bytes += guarded(ELEMENTS(state, length), ARRAY_START(type, name)) * sizeof(type);
    STATE_ARRAYS(ADD_BYTES)
#undef ADD_BYTES
    return bytes;
}

void REAL_NAME(state_hash_begin)(const struct state *state, struct hash *hash)
{
    const vec3 origin = state->origin;
    hash_begin(hash);
    if (origin.x != 0 || origin.y != 0 || origin.z != 0)
        hash_add(hash, &origin, sizeof origin);
}

size_t REAL_NAME(state_hash_bytes)(const struct state *state)
{
    return (state->x_low ? 12 : 6) * sizeof(real);
}

void REAL_NAME(state_hash_read)(const struct state *state, const struct topology *topology,
                                uint64_t first, uint64_t count, void *to)
{
    real *out = to;
    for (uint64_t node = first; node < first + count; node++) {
        const uint64_t i = topology_internal_node(topology, node);
        *out++ = state->x[i];
        *out++ = state->y[i];
        *out++ = state->z[i];
        *out++ = state->vx[i];
        *out++ = state->vy[i];
        *out++ = state->vz[i];
        if (!state->x_low)
            continue;
        *out++ = state->x_low[i];
        *out++ = state->y_low[i];
        *out++ = state->z_low[i];
        *out++ = real_low(state->vx_low, i);
        *out++ = real_low(state->vy_low, i);
        *out++ = real_low(state->vz_low, i);
    }
}

void REAL_NAME(state_hash_add)(const struct state *state, const struct topology *topology,
                               uint64_t first, uint64_t count, struct hash *hash)
{
    for (uint64_t node = first; node < first + count; node++) {
        real values[12];
        REAL_NAME(state_hash_read)(state, topology, node, 1, values);
        hash_add(hash, values, REAL_NAME(state_hash_bytes)(state));
    }
}

uint64_t REAL_NAME(state_hash)(const struct state *state, const struct topology *topology)
{
    struct hash hash;
    REAL_NAME(state_hash_begin)(state, &hash);
    REAL_NAME(state_hash_add)(state, topology, 0, state->nodes, &hash);
    return hash_end(&hash);
}

// ---- Sums: fixed chunks, each summed by one worker, then added in order

void REAL_NAME(sum_chunks)(struct system *system, struct range chunks, size_t count, chunk_sum sum,
                           const void *argument, const struct worker *worker)
{
    const struct range share = worker_share(worker, chunks.end - chunks.first, 1);
    for (size_t i = share.first; i < share.end; i++) {
        const size_t chunk = chunks.first + i;
        memset(system->chunk_sums[chunk], 0, sizeof system->chunk_sums[chunk]);
        sum(system, argument, chunk_range(chunk, count), system->chunk_sums[chunk]);
    }
    worker_barrier(worker);
}

void REAL_NAME(sum_all_chunks)(struct system *system, size_t count, chunk_sum sum,
                               const void *argument, const struct worker *worker)
{
    const size_t chunks = chunk_count(count);
    struct range own = {0, chunks};
    const bool shared = system->paused || (system->shares && !system->exchange);
    if (shared) { // ranks share the chunks
        const size_t rank = (size_t)ranks_number(), ranks = (size_t)ranks_count();
        own = (struct range){chunks * rank / ranks, chunks * (rank + 1) / ranks};
    }
    REAL_NAME(sum_chunks)(system, own, count, sum, argument, worker);
    if (shared && worker->index == 0) {
        memset(system->chunk_sums, 0, own.first * sizeof *system->chunk_sums);
        memset(system->chunk_sums + own.end, 0, (chunks - own.end) * sizeof *system->chunk_sums);
        ranks_add(system->chunk_sums[0], chunks * SUM_WIDTH);
    }
    if (shared)
        worker_barrier(worker);
}

void REAL_NAME(add_chunk_sums)(const struct system *system, size_t chunks, double total[SUM_WIDTH],
                               const struct worker *worker)
{
    add_in_groups(system->chunk_sums[0], SUM_WIDTH, chunks, sum_group(system, chunks), total);
    worker_barrier(worker); // all have read before the next sum writes
}

void REAL_NAME(sum_over_chunks)(struct system *system, size_t count, chunk_sum sum,
                                const void *argument, double total[SUM_WIDTH],
                                const struct worker *worker)
{
    REAL_NAME(sum_all_chunks)(system, count, sum, argument, worker);
    REAL_NAME(add_chunk_sums)(system, chunk_count(count), total, worker);
}
