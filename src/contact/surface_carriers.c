// What carries nodes along (surface_carriers.h).
#include "contact/surface_carriers.h"
#include "contact/surface_rollback.h"

#include <string.h>

#include "base/memory.h"

bool REAL_NAME(carriers_begin)(struct system *system)
{
    struct surface_contact *it = system->surface_contact;
    const struct topology *topology = system->topology;
    struct carriers *carriers = it->carriers;
    if (!carriers) {
        carriers = memory_allocate(system->allocator, 1, sizeof *carriers);
        if (!carriers)
            return false;
        it->carriers = carriers;
        carriers->count =
            CARRIERS_BEFORE_MESHES + topology->mesh_collider_count + topology->collider_count;
        carriers->nodes = (size_t)topology->node_count;
        carriers->items =
            memory_allocate(system->allocator, carriers->count, sizeof *carriers->items);
        carriers->of = memory_allocate(system->allocator, carriers->nodes, sizeof *carriers->of);
    }
    if (!carriers->items || !carriers->of)
        return false;
    memset(carriers->items, 0, carriers->count * sizeof *carriers->items);
    for (size_t i = 0; i < carriers->nodes; i++)
        carriers->of[i] = NOT_CARRIED;
    return true;
}

void REAL_NAME(carriers_free)(struct system *system)
{
    struct carriers *carriers = system->surface_contact->carriers;
    const taut_allocator *allocator = system->allocator;
    if (!carriers)
        return;
    memory_release(allocator, carriers->items, carriers->count, sizeof *carriers->items);
    memory_release(allocator, carriers->of, carriers->nodes, sizeof *carriers->of);
    memory_release(allocator, carriers, 1, sizeof *carriers);
    system->surface_contact->carriers = NULL;
}

uint64_t REAL_NAME(carriers_bytes)(const struct surface_contact *it)
{
    const struct carriers *carriers = it->carriers;
    return carriers ? sizeof *carriers + carriers->count * sizeof *carriers->items +
                          carriers->nodes * sizeof *carriers->of
                    : 0;
}

// ---- Meshes

// A node of a block: where it was, and how it has moved.
struct carried_point {
    vec3 start, moved, velocity;
};

static struct carried_point point_of(const struct system *system, size_t block, int local)
{
    const uint32_t node = block_node(system->surface_contact, block, local);
    const struct point start = REAL_NAME(surface_step_start)(system, node);
    return (struct carried_point){
        .start = vec3_of_point(start),
        .moved = vec3_of_point(point_difference(state_point(system->state, node), start)),
        .velocity = step_velocity(system->state, node),
    };
}

// The part of a vector at right angles to another one.
static vec3 across(vec3 a, vec3 along)
{
    return vec3_subtract(a, vec3_scale(vec3_dot(a, along) / vec3_dot(along, along), along));
}

static vec3 direction_of(vec3 a)
{
    return vec3_scale(1 / vec3_length(a), a);
}

// The node of a block that is farthest from a point, or, if `along` is not 0, from the line through
// it.
static struct carried_point farthest_of(const struct system *system, size_t block, vec3 from,
                                        vec3 along)
{
    const bool line = vec3_dot(along, along) > 0;
    struct carried_point farthest = point_of(system, block, 0);
    double most = -1;
    for (int i = 0; i < (int)system->surface_contact->surfaces.blocks[block].nodes; i++) {
        const struct carried_point point = point_of(system, block, i);
        const vec3 to = vec3_subtract(point.start, from), apart = line ? across(to, along) : to;
        if (vec3_dot(apart, apart) > most) {
            most = vec3_dot(apart, apart);
            farthest = point;
        }
    }
    return farthest;
}

// A rigid motion follows from three points: it takes the vectors e and f between them along, and
// the normal of their plane. f is taken at right angles to e, so that the duals are, and the sum of
// squares is the square of the matrix' Frobenius norm.
static void find_rotation(struct carrier *carrier, const struct carried_point *a,
                          const struct carried_point *b, const struct carried_point *c)
{
    const vec3 e = vec3_subtract(b->start, a->start), to = vec3_subtract(c->start, a->start);
    const vec3 f = across(to, e), normal = vec3_cross(e, f);
    const double part = vec3_dot(to, e) / vec3_dot(e, e);
    carrier->change[0] = vec3_subtract(b->moved, a->moved);
    carrier->faster[0] = vec3_subtract(b->velocity, a->velocity);
    carrier->change[1] =
        vec3_subtract(vec3_subtract(c->moved, a->moved), vec3_scale(part, carrier->change[0]));
    carrier->faster[1] = vec3_subtract(vec3_subtract(c->velocity, a->velocity),
                                       vec3_scale(part, carrier->faster[0]));
    const vec3 e_end = vec3_add(e, carrier->change[0]), f_end = vec3_add(f, carrier->change[1]);
    const vec3 normal_end = vec3_cross(e_end, f_end);
    const vec3 turning =
        vec3_add(vec3_cross(carrier->faster[0], f_end), vec3_cross(e_end, carrier->faster[1]));
    carrier->change[2] = vec3_subtract(direction_of(normal_end), direction_of(normal));
    carrier->faster[2] = vec3_scale(1 / vec3_length(normal_end), across(turning, normal_end));
    carrier->dual[0] = vec3_scale(1 / vec3_dot(e, e), e);
    carrier->dual[1] = vec3_scale(1 / vec3_dot(f, f), f);
    carrier->dual[2] = direction_of(normal);
    carrier->directions = 3;
    double square = 0;
    for (int k = 0; k < 3; k++)
        square += vec3_dot(carrier->change[k], carrier->change[k]) *
                  vec3_dot(carrier->dual[k], carrier->dual[k]);
    carrier->size = sqrt(square);
}

const struct carrier *REAL_NAME(carrier_of_mesh)(struct system *system, size_t mesh, size_t block)
{
    struct carrier *carrier =
        &system->surface_contact->carriers->items[CARRIERS_BEFORE_MESHES + mesh];
    if (!carrier->known) {
        const vec3 none = {0, 0, 0};
        const struct carried_point a = point_of(system, block, 0),
                                   b = farthest_of(system, block, a.start, none);
        const vec3 along = vec3_subtract(b.start, a.start);
        *carrier = (struct carrier){
            .known = true, .origin = a.start, .moved = a.moved, .velocity = a.velocity};
        if (vec3_dot(along, along) > 0) {
            const struct carried_point c = farthest_of(system, block, a.start, along);
            const vec3 apart = across(vec3_subtract(c.start, a.start), along);
            if (vec3_dot(apart, apart) > 1e-6 * vec3_dot(along, along))
                find_rotation(carrier, &a, &b, &c);
        }
    }
    const bool moves = vec3_dot(carrier->moved, carrier->moved) > 0 || carrier->size > 0;
    return moves && carrier->size < 0.5 ? carrier : NULL;
}

// ---- What moves as a whole

size_t REAL_NAME(carrier_of_shape)(struct system *system, size_t collider, vec3 moved,
                                   vec3 velocity)
{
    struct carriers *carriers = system->surface_contact->carriers;
    const size_t number = CARRIERS_BEFORE_MESHES + system->topology->mesh_collider_count + collider;
    carriers->items[number] = (struct carrier){.known = true, .moved = moved, .velocity = velocity};
    return number;
}

size_t REAL_NAME(carrier_of_nodes)(struct system *system, vec3 moved, vec3 velocity)
{
    struct carrier *carrier = &system->surface_contact->carriers->items[CARRIER_OF_NODES];
    if (!carrier->known || vec3_dot(moved, moved) > vec3_dot(carrier->moved, carrier->moved))
        *carrier = (struct carrier){.known = true, .moved = moved, .velocity = velocity};
    return CARRIER_OF_NODES;
}
