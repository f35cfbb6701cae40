// One contact of surfaces with friction: its frame and its forces, and where records have it; for
// the files surface_friction*.c. surface_friction.c derives the coordinates. Numeric.
#ifndef TAUT_CONTACT_SURFACE_FRICTION_CONTACT_H
#define TAUT_CONTACT_SURFACE_FRICTION_CONTACT_H

#include "contact/barrier.h"
#include "contact/friction.h"
#include "contact/surface_lists.h"
#include "state/reading.h"

// ---- One contact

// Between two blocks.
struct friction_law {
    struct barrier barrier;
    double stiffness, damping; // N/m, N s/m
    double normal_square;      // of the damper along the normal at most; of implicit ones none
    double curvature;          // 1/m: of the barrier over its stiffness, at a depth of 1 m
    double static_coefficient, kinetic_coefficient;
};

struct friction_contact {
    bool edges;
    bool bare;  // edges without triangles
    bool rigid; // the second side is of a mesh collider
    uint32_t nodes[4];
    struct point at[4], velocity[4];
    struct point normal; // unit, from the second side to the first
    real distance, normal_force;
    real weight;     // of the force, as in struct touching_candidate
    real closest[2]; // parts, likewise

    struct point from;        // the origin of the second side to that of the first
    struct point bases[2];    // axes of the frame
    struct point dual[2], up; // what is 1 along one of the axes and 0 along the others; m
    real height;              // along m
    real sine;                // its square, of the angle of both axes; 0: there is no frame
    real parts[2];            // where the first side is above the frame

    struct point along; // unit: without a frame, friction acts along the edges that have shares
    real shares[2];     // of the two edges in it: 1 and 0, halves, or none
};

static inline struct point point_sum(struct point a, struct point b)
{
    return (struct point){a.x + b.x, a.y + b.y, a.z + b.z};
}

static inline struct point point_scale(real s, struct point a)
{
    return (struct point){s * a.x, s * a.y, s * a.z};
}

static inline struct point along_surface(struct point v, struct point normal)
{
    return point_along(v, -point_dot(v, normal), normal);
}

// The axes of the frame from the positions of the four nodes; from their velocities, the rates of
// the axes.
static inline void find_axes_between(bool edges, const struct point of[4], struct point axes[2])
{
    axes[0] = edges ? point_difference(of[1], of[0]) : point_difference(of[2], of[1]);
    axes[1] = point_difference(of[3], edges ? of[2] : of[1]);
}

static inline void find_frame(struct friction_contact *it)
{
    const struct point *p = it->at, *b = it->bases;
    it->from = point_difference(p[0], it->edges ? p[2] : p[1]);
    find_axes_between(it->edges, p, it->bases);
    const struct point cross = point_cross(b[0], b[1]);
    const real square = point_dot(cross, cross),
               product = point_dot(b[0], b[0]) * point_dot(b[1], b[1]);
    it->sine = product > 0 ? square / product : 0;
    if (!(it->sine > 0))
        return;
    it->up = point_scale(1 / real_sqrt(square), cross);
    it->dual[0] = point_scale(1 / square, point_cross(b[1], cross));
    it->dual[1] = point_scale(1 / square, point_cross(cross, b[0]));
    it->height = point_dot(it->up, it->from);
    it->parts[0] = (it->edges ? -1 : 1) * point_dot(it->dual[0], it->from);
    it->parts[1] = point_dot(it->dual[1], it->from);
}

// Contacts of edges without a frame: of those of which one end is near the other edge, friction
// along that edge; of edges side by side, along both, and so of all contacts of nearly parallel
// edges without triangles, which are several in one (barrier.h). As flags of a record, which keeps
// them until its anchor is set again: where they change, another stretch would be measured from it.
static inline uint32_t present_directions(const struct friction_contact *it)
{
    uint32_t found = 0;
    for (int i = 0; i < 2; i++) {
        const bool inside = it->closest[i] > 0 && it->closest[i] < 1;
        const bool beside = it->bare && it->sine < EDGES_PARALLEL;
        if (it->edges && (inside || beside) && point_dot(it->bases[i], it->bases[i]) > 0)
            found |= i == 0 ? RECORD_ALONG_FIRST : RECORD_ALONG_SECOND;
    }
    return found;
}

// The sum of the edges along which friction acts, each of length 1; the normal is at right angles
// to it.
static inline void find_direction(struct friction_contact *it, uint32_t directions)
{
    const bool both = (directions & RECORD_ALONG) == RECORD_ALONG;
    const real sign = point_dot(it->bases[0], it->bases[1]) < 0 ? -1 : 1;
    it->along = (struct point){0, 0, 0};
    for (int i = 0; i < 2; i++) {
        const real square = point_dot(it->bases[i], it->bases[i]);
        const bool has = directions & (i == 0 ? RECORD_ALONG_FIRST : RECORD_ALONG_SECOND);
        it->shares[i] = has && square > 0 ? both ? (real)0.5 : 1 : 0;
        if (it->shares[i] > 0)
            it->along = point_along(it->along,
                                    (both && i == 1 ? sign : 1) * it->shares[i] / real_sqrt(square),
                                    it->bases[i]);
    }
    const real length = real_sqrt(point_dot(it->along, it->along));
    it->along = point_scale(length > 0 ? 1 / length : 0, it->along);
}

// `at` and `velocity` are known. Without the direction, which what has a frame does not need.
static inline void find_framed_contact(struct friction_contact *it,
                                       const struct touching_candidate *touching,
                                       const struct barrier *barrier)
{
    it->distance = real_sqrt(touching->square);
    it->normal = point_scale(1 / it->distance, touching->apart);
    it->weight = touching->weight;
    it->normal_force = touching->weight * barrier_force(barrier, it->distance);
    it->closest[0] = touching->parts[0];
    it->closest[1] = touching->parts[1];
    find_frame(it);
    it->along = (struct point){0, 0, 0};
    it->shares[0] = it->shares[1] = 0;
}

// `record`: NULL if it has none yet.
static inline void find_contact(struct friction_contact *it,
                                const struct touching_candidate *touching,
                                const struct barrier *barrier, const struct friction_record *record)
{
    find_framed_contact(it, touching, barrier);
    find_direction(it, record ? record->key : present_directions(it));
}

static inline bool is_within(real part, real far)
{
    return part >= -far && part <= 1 + far;
}

// Whether the frame is well-conditioned, and the first side not far outside of it; less so if a
// record has it already. Far outside the weights of the corners are large, and so would be the
// forces on them; those of a mesh collider do not move by forces, so that its long and narrow
// triangles, beside which a node is many times their width away, have a frame all the same.
static inline bool has_frame(const struct friction_contact *it, bool already)
{
    const real flat = it->rigid && !it->edges ? (real)1e-6 : EDGES_PARALLEL;
    const real least = already ? flat / 4 : flat;
    const real far = already ? 2 : 1, beside = it->rigid ? 64 * far : far;
    return it->sine >= least && is_within(it->parts[0], it->edges ? far : beside) &&
           is_within(it->parts[1], beside);
}

// The weights of the four nodes in the offset of the first side from the second.
static inline void find_weights(const struct friction_contact *it, const real parts[2],
                                real weights[4])
{
    weights[0] = it->edges ? 1 - parts[0] : 1;
    weights[1] = it->edges ? parts[0] : parts[0] + parts[1] - 1;
    weights[2] = it->edges ? parts[1] - 1 : -parts[0];
    weights[3] = -parts[1];
}

// Where a force of the record acts.
static inline const real *acting_parts(const struct friction_contact *it,
                                       const struct friction_record *of)
{
    return of->key & RECORD_FRAMED ? it->parts : it->closest;
}

static inline vec3 vector_between(struct point from, struct point to)
{
    return vec3_subtract(vec3_of_point(to), vec3_of_point(from));
}

// From the anchor to the first side, m: from positions, of which differences as `real` have the
// resolution of an edge, however near the anchor is.
static inline struct point from_anchor(const struct friction_contact *it,
                                       const struct friction_record *of)
{
    const struct point *p = it->at, origin = p[it->edges ? 2 : 1];
    const vec3 base = it->edges ? vector_between(p[0], p[1]) : vector_between(p[1], p[2]);
    const double first = it->edges ? of->anchor[0] : -of->anchor[0];
    vec3 offset = vector_between(origin, p[0]);
    offset = vec3_add(offset, vec3_scale(first, base));
    offset = vec3_add(offset, vec3_scale(-of->anchor[1], vector_between(origin, p[3])));
    if (of->key & RECORD_FRAMED)
        offset = vec3_add(offset, vec3_scale(-of->anchor[2], vec3_of_point(it->up)));
    return (struct point){(real)offset.x, (real)offset.y, (real)offset.z};
}

// Without a frame: the forces along the normal at the ends of an edge, the first one negative, that
// take its share of the couple of a force and the distance. Both shares together take all of it: of
// two edges, what is at right angles to their mean direction cancels.
static inline real couple_of_edge(const struct friction_contact *it, int i, struct point force)
{
    return it->shares[i] * it->distance * point_dot(force, it->along) /
           point_dot(it->bases[i], it->along);
}

// The stretch of a record's spring, m.
static inline struct point stretch_of(const struct friction_contact *it,
                                      const struct friction_record *of)
{
    const struct point offset = from_anchor(it, of);
    return of->key & RECORD_FRAMED ? along_surface(offset, it->normal)
                                   : point_scale(point_dot(offset, it->along), it->along);
}

// The velocity of the first side along the surface, relative to the second one: the rate of the
// stretch, for which the frame, or the edges, turn about the height between the sides.
static inline struct point sliding_velocity(const struct friction_contact *it,
                                            const struct friction_record *record)
{
    const struct point *v = it->velocity;
    struct point rates[2];
    find_axes_between(it->edges, v, rates);
    real weights[4];
    find_weights(it, acting_parts(it, record), weights);
    struct point sum = point_scale(weights[0], v[0]);
    for (int i = 1; i < 4; i++)
        sum = point_along(sum, weights[i], v[i]);
    if (record->key & RECORD_FRAMED) {
        for (int i = 0; i < 2; i++)
            sum = point_along(sum, it->height * point_dot(it->up, rates[i]), it->dual[i]);
        return along_surface(sum, it->normal);
    }
    real speed = point_dot(sum, it->along);
    for (int i = 0; i < 2; i++)
        if (it->shares[i] > 0)
            speed += couple_of_edge(it, i, it->along) * point_dot(it->normal, rates[i]);
    return point_scale(speed, it->along);
}

// surface_friction.c: the force on the first side by a record in the present state, N; nodes, `at`
// and velocities of the contact are known.
vec3 REAL_NAME(surface_friction_of)(const struct friction_record *record,
                                    const struct friction_law *law,
                                    const struct touching_candidate *touching,
                                    struct friction_contact *contact);

// ---- The law between two blocks

static inline const struct scene_friction *rule_of(const struct system *system, uint32_t a,
                                                   uint32_t b)
{
    const struct surface_contact *it = system->surface_contact;
    const struct surface_block *blocks = it->surfaces.blocks;
    return &it->friction->rules[blocks[a].body * it->friction->bodies + blocks[b].body];
}

static inline struct friction_law law_between(const struct system *system, uint32_t a, uint32_t b)
{
    const struct surface_contact *it = system->surface_contact;
    const struct surface_block *blocks = it->surfaces.blocks;
    const struct scene_friction *rule = rule_of(system, a, b);
    const double *masses = it->friction->least_mass;
    const double mass = fmin(masses[blocks[a].body], masses[blocks[b].body]);
    struct friction_law law = {
        .barrier = barrier_between(system, blocks[a].body, blocks[b].body),
        .static_coefficient = rule->static_coefficient,
        .kinetic_coefficient = rule->kinetic_coefficient,
    };
    law.stiffness = SURFACE_FRICTION_STIFFNESS * (double)law.barrier.stiffness;
    law.damping = surface_tangential_damping((double)law.barrier.stiffness, mass);
    if (!integrator_is_implicit(system->settings.integrator))
        law.normal_square = surface_normal_damping_square((double)law.barrier.stiffness, mass);
    law.curvature = 4 / (double)law.barrier.depth;
    return law;
}

static inline real coefficient_of(const struct friction_law *law,
                                  const struct friction_record *memory)
{
    return (real)(memory && memory->key & RECORD_SLIDES ? law->kinetic_coefficient
                                                        : law->static_coefficient);
}

// ---- Records

static inline bool pair_before(uint32_t a, uint32_t b, uint32_t other_a, uint32_t other_b)
{
    return a < other_a || (a == other_a && b < other_b);
}

// The pair of two blocks, NULL: none. Pairs are asked for in their order.
static inline const struct friction_pair *pair_at(const struct friction_pair *pairs, size_t count,
                                                  size_t *at, uint32_t a, uint32_t b)
{
    while (*at < count && pair_before(pairs[*at].a, pairs[*at].b, a, b))
        ++*at;
    return *at < count && pairs[*at].a == a && pairs[*at].b == b ? &pairs[*at] : NULL;
}

static inline const struct surface_block *block_of(const struct surface_contact *it, uint32_t block)
{
    return &it->surfaces.blocks[block];
}

static inline struct candidate candidate_of_key(const struct surface_contact *it, uint32_t a,
                                                uint32_t b, uint32_t key)
{
    const struct surface_block *const blocks[2] = {block_of(it, a), block_of(it, b)};
    return candidate_of_code(&it->surfaces, blocks, (int)((key & RECORD_KEY) >> 16),
                             (int)(key & UINT16_MAX));
}

static inline void find_nodes(const struct surface_contact *it, const uint32_t blocks[2],
                              const struct candidate *candidate, uint32_t nodes[4])
{
    for (int i = 0; i < 4; i++)
        nodes[i] = it->surfaces.nodes[block_of(it, blocks[candidate->side[i]])->first_node +
                                      (uint32_t)candidate->local[i]];
}

static inline void find_velocities(const struct state *s, struct friction_contact *contact)
{
    for (int i = 0; i < 4; i++) {
        const uint32_t node = contact->nodes[i];
        contact->velocity[i] = (struct point){s->vx[node], s->vy[node], s->vz[node]};
    }
}

// Two edges without triangles as one contact; of weight 0 where they do not touch.
static inline struct touching_candidate touching_edges(const struct edge_contacts *contacts,
                                                       const struct barrier *barrier, uint32_t key)
{
    const struct edges_together it = edges_in_one(contacts, barrier);
    return (struct touching_candidate){.key = key,
                                       .parts = {it.parts[0], it.parts[1]},
                                       .apart = it.apart,
                                       .square = it.square,
                                       .weight = it.weight,
                                       .energy = it.energy};
}

// A record in the present state; false if it does not touch any more.
static inline bool present_contact(const struct system *system, const struct friction_pair *pair,
                                   const struct friction_record *record,
                                   const struct friction_law *law, struct friction_contact *contact)
{
    const struct surface_contact *it = system->surface_contact;
    const struct candidate candidate = candidate_of_key(it, pair->a, pair->b, record->key);
    const real reach = law->barrier.reach;
    contact->edges = candidate.edges;
    contact->bare = candidate.bare;
    find_nodes(it, (const uint32_t[2]){pair->a, pair->b}, &candidate, contact->nodes);
    for (int i = 0; i < 4; i++)
        contact->at[i] = state_point(system->state, contact->nodes[i]);
    contact->rigid = contact->nodes[3] >= system->topology->node_count;
    struct touching_candidate touching;
    if (candidate.bare) {
        const struct edge_contacts contacts = find_edge_contacts(contact->at);
        touching = touching_edges(&contacts, &law->barrier, 0);
        if (!(touching.weight > 0))
            return false;
    } else {
        real parallel, slope;
        const struct closest closest = closest_of(&candidate, contact->at, &parallel);
        if (!(closest.square < reach * reach) || closest.square == 0)
            return false;
        touching = (struct touching_candidate){
            .parts = {candidate.edges ? closest.weights[1] : -closest.weights[2],
                      -closest.weights[3]},
            .apart = closest.apart,
            .square = closest.square,
            .weight = parallel < EDGES_PARALLEL ? edges_weight(parallel, &slope) : 1,
        };
    }
    find_velocities(system->state, contact);
    find_contact(contact, &touching, &law->barrier, record);
    return true;
}

#endif
