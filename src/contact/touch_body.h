// Contacts of nodes that touch a collider, one word of 64 nodes at a time: penalty forces, and the
// projection of nodes that touched the same surfaces before. These are plain loops in double over
// all nodes of the word, without branches, which a compiler vectorises at any width; results that
// do not apply to a node are discarded. The arithmetic is that of a single node (contact_action in
// contact.h, collide_with_surface in projection.c), operation by operation, so the bits are the
// same. Cases that need decisions (impacts, contacts of an implicit step) are not handled here.
// kernels/table.h compiles these loops for each instruction set. Flags are 1 and 0 of the type that
// they select, because not every instruction set compares integers of that size.
#include <math.h>

#include "kernels/kernels.h"

// A value for each node of a word; 0 beyond its last node.
typedef double word_values[TOUCH_NODES];

static inline void read_values(const real *from, int count, word_values values)
{
    for (int i = 0; i < TOUCH_NODES; i++)
        values[i] = 0;
    for (int i = 0; i < count; i++)
        values[i] = (double)from[i];
}

struct word_vectors {
    word_values x, y, z;
};

static inline void read_vectors(const real *x, const real *y, const real *z, int count,
                                struct word_vectors *to)
{
    read_values(x, count, to->x);
    read_values(y, count, to->y);
    read_values(z, count, to->z);
}

struct word_contacts {
    struct word_vectors normal;
    word_values depth;
    word_values away; // a flag: 0 at the centre of a sphere (no outward direction)
};

static inline void find_contacts(const struct touch_surface *surface,
                                 const struct word_vectors *position, struct word_contacts *found)
{
    const double ax = surface->at.x, ay = surface->at.y, az = surface->at.z;
    const double nx = surface->normal.x, ny = surface->normal.y, nz = surface->normal.z;
    const double radius = surface->radius;
    if (surface->curved) {
        for (int i = 0; i < TOUCH_NODES; i++) {
            const double x = position->x[i] - ax, y = position->y[i] - ay, z = position->z[i] - az;
            const double distance = sqrt(x * x + y * y + z * z), scale = 1 / distance;
            found->depth[i] = radius - distance;
            found->normal.x[i] = scale * x;
            found->normal.y[i] = scale * y;
            found->normal.z[i] = scale * z;
            found->away[i] = distance != 0 ? 1 : 0;
        }
        return;
    }
    for (int i = 0; i < TOUCH_NODES; i++) {
        const double x = position->x[i] - ax, y = position->y[i] - ay, z = position->z[i] - az;
        found->depth[i] = -(x * nx + y * ny + z * nz);
        found->normal.x[i] = nx;
        found->normal.y[i] = ny;
        found->normal.z[i] = nz;
        found->away[i] = 1;
    }
}

static inline void round_values(const word_values values, real rounded[TOUCH_NODES])
{
    for (int i = 0; i < TOUCH_NODES; i++)
        rounded[i] = (real)values[i];
}

// Merges in local memory first: otherwise a compiler would generate conditional stores, which few
// instruction sets have.
static inline void write_where(const real where[TOUCH_NODES], const real values[TOUCH_NODES],
                               int count, real *to)
{
    real merged[TOUCH_NODES];
    real before[TOUCH_NODES] = {0};
    memcpy(before, to, (size_t)count * sizeof *to);
    for (int i = 0; i < TOUCH_NODES; i++)
        merged[i] = where[i] > 0 ? values[i] : before[i];
    memcpy(to, merged, (size_t)count * sizeof *to);
}

static inline void add_where(const real where[TOUCH_NODES], const word_values values, int count,
                             real *to)
{
    real sums[TOUCH_NODES];
    round_values(values, sums);
    for (int i = 0; i < count; i++)
        sums[i] = to[i] + sums[i];
    write_where(where, sums, count, to);
}

static void touch_forces(struct state *s, size_t first, int count,
                         const struct touch_surface *surface)
{
    const vec3 moves = surface->velocity;
    const double stiffness = surface->stiffness, absorption = surface->absorption;
    const double friction = surface->friction;
    struct word_vectors position, velocity, force;
    struct word_contacts contacts;
    word_values inside;
    real flags[TOUCH_NODES];
    read_vectors(s->x + first, s->y + first, s->z + first, count, &position);
    read_vectors(s->vx + first, s->vy + first, s->vz + first, count, &velocity);
    find_contacts(surface, &position, &contacts);
    for (int i = 0; i < TOUCH_NODES; i++) {
        const double nx = contacts.normal.x[i], ny = contacts.normal.y[i];
        const double nz = contacts.normal.z[i], depth = contacts.depth[i];
        const double x = velocity.x[i] - moves.x, y = velocity.y[i] - moves.y;
        const double z = velocity.z[i] - moves.z;
        const double approach = x * nx + y * ny + z * nz;
        const double normal_force = stiffness * depth - absorption * (approach < 0 ? approach : 0);
        force.x[i] = normal_force * nx - friction * (x - approach * nx);
        force.y[i] = normal_force * ny - friction * (y - approach * ny);
        force.z[i] = normal_force * nz - friction * (z - approach * nz);
        inside[i] = depth > 0 ? contacts.away[i] : 0;
    }
    round_values(inside, flags);
    add_where(flags, force.x, count, s->fx + first);
    add_where(flags, force.y, count, s->fy + first);
    add_where(flags, force.z, count, s->fz + first);
}

// The nodes of a word during their projection.
struct word_projection {
    struct word_vectors start, velocity;
    struct word_vectors position,
        relative; // present values; the velocity is relative to the surface
    word_values slack, taken;
    word_values movable, changed; // flags
    word_values touches;          // sums of the surfaces' bits
};

static inline void leave_surface(const struct touch_word *word, const struct touch_surface *surface,
                                 struct word_projection *it)
{
    struct word_contacts contacts;
    const struct word_vectors *position = &it->position, *relative = &it->relative;
    struct word_vectors lifted, stopped, slowed; // separate arrays, for the reason above
    const double bit = surface->bit, rests = word->rests ? 1 : 0, slides = word->slows ? 1 : 0;
    word_values touching;
    find_contacts(surface, &it->start, &contacts);
    for (int i = 0; i < TOUCH_NODES; i++) {
        const double nx = contacts.normal.x[i], ny = contacts.normal.y[i];
        const double nz = contacts.normal.z[i], depth = contacts.depth[i];
        const double vx = relative->x[i], vy = relative->y[i], vz = relative->z[i];
        const double speed = -(vx * nx + vy * ny + vz * nz);
        const double may = contacts.away[i] * it->movable[i];
        const double touches = depth > -it->slack[i] ? may : 0;
        const double inside = depth > 0 ? touches : 0, stops = speed > 0 ? touches : 0;
        const double rested = rests * touches, settles = slides * stops; // projection.c
        const double other = rested > settles ? rested : settles;
        const double lifts = inside > other ? inside : other;
        const double lift = depth > 0 || settles > 0 ? depth : 0;
        const double changes = inside > stops ? inside : stops;
        const double x = position->x[i] + lift * nx, y = position->y[i] + lift * ny;
        const double z = position->z[i] + lift * nz;
        const double ux = vx + speed * nx, uy = vy + speed * ny, uz = vz + speed * nz;
        lifted.x[i] = lifts > 0 ? x : position->x[i];
        lifted.y[i] = lifts > 0 ? y : position->y[i];
        lifted.z[i] = lifts > 0 ? z : position->z[i];
        stopped.x[i] = stops > 0 ? ux : vx;
        stopped.y[i] = stops > 0 ? uy : vy;
        stopped.z[i] = stops > 0 ? uz : vz;
        touching[i] = touches;
        it->touches[i] += touches * bit;
        it->changed[i] = changes > it->changed[i] ? changes : it->changed[i];
    }
    it->position = lifted;
    it->relative = stopped;
    if (!word->slows)
        return;
    for (int i = 0; i < TOUCH_NODES; i++) {
        const double nx = contacts.normal.x[i], ny = contacts.normal.y[i];
        const double nz = contacts.normal.z[i];
        const double vx = stopped.x[i], vy = stopped.y[i], vz = stopped.z[i];
        const double along = vx * nx + vy * ny + vz * nz;
        const double ax = along * nx, ay = along * ny, az = along * nz;
        const double factor = word->slows[i], half = 0.5 * word->mass[i];
        const double ux = ax + factor * (vx - ax), uy = ay + factor * (vy - ay);
        const double uz = az + factor * (vz - az);
        const double loss =
            half * (vx * vx + vy * vy + vz * vz) - half * (ux * ux + uy * uy + uz * uz);
        slowed.x[i] = touching[i] > 0 ? ux : vx;
        slowed.y[i] = touching[i] > 0 ? uy : vy;
        slowed.z[i] = touching[i] > 0 ? uz : vz;
        it->taken[i] += touching[i] > 0 ? loss : 0;
    }
    it->relative = slowed;
}

static void start_projection(const struct state *s, const struct touch_word *word,
                             const real *inverse_mass, struct word_projection *it)
{
    const size_t first = word->first;
    const int count = word->count;
    const vec3 moves = word->surfaces[0].velocity;
    read_vectors(s->x + first, s->y + first, s->z + first, count, &it->start);
    read_vectors(s->vx + first, s->vy + first, s->vz + first, count, &it->velocity);
    it->position = it->start;
    for (int i = 0; i < TOUCH_NODES; i++) {
        const double size = fabs(it->start.x[i]) + fabs(it->start.y[i]) + fabs(it->start.z[i]);
        it->relative.x[i] = it->velocity.x[i] - moves.x;
        it->relative.y[i] = it->velocity.y[i] - moves.y;
        it->relative.z[i] = it->velocity.z[i] - moves.z;
        it->slack[i] = 4 * (double)REAL_EPSILON * size + (double)REAL_TINY;
        it->movable[i] = it->touches[i] = it->changed[i] = 0;
        it->taken[i] = 0;
    }
    for (int i = 0; i < count; i++)
        it->movable[i] = inverse_mass[first + (size_t)i] != 0 ? 1 : 0;
}

static uint64_t flag_bits(const word_values flags, int count)
{
    const uint64_t all = count < TOUCH_NODES ? (UINT64_C(1) << count) - 1 : ~UINT64_C(0);
    uint64_t bits = 0;
    uint8_t bytes[TOUCH_NODES];
    int set = 0;
    for (int i = 0; i < TOUCH_NODES; i++)
        bytes[i] = (uint8_t)flags[i];
    for (int i = 0; i < TOUCH_NODES; i++)
        set += bytes[i];
    if (set == 0 || set == TOUCH_NODES)
        return set == 0 ? 0 : all;
    for (int i = 0; i < count; i++)
        bits |= (uint64_t)bytes[i] << i;
    return bits;
}

// Flags of the nodes that touch only surfaces that they touched before.
static void find_done(const struct touch_word *word, const struct word_projection *it,
                      word_values done)
{
    const uint8_t *touched = word->touching + word->first;
    uint8_t touches[TOUCH_NODES];
    for (int i = 0; i < TOUCH_NODES; i++)
        touches[i] = (uint8_t)it->touches[i];
    for (int i = 0; i < word->count; i++)
        touches[i] &= (uint8_t)~touched[i];
    for (int i = 0; i < TOUCH_NODES; i++) {
        // Nodes with non-finite coordinates are left to the other path.
        const double all = it->start.x[i] + it->start.y[i] + it->start.z[i];
        const double number = all - all == 0 ? 1 : 0, more = (double)touches[i];
        done[i] = more > 0 ? 0 : number;
    }
    for (int i = 0; word->except != 0 && i < TOUCH_NODES; i++)
        done[i] = word->except >> i & 1 ? 0 : done[i];
}

// Computes the new velocities, the flags of nodes that the surfaces have changed, and the work.
static void end_projection(const struct touch_word *word, const word_values done,
                           struct word_projection *it, word_values moved)
{
    const vec3 moves = word->surfaces[0].velocity;
    word_values driven;
    for (int i = 0; i < TOUCH_NODES; i++) {
        const double vx = it->velocity.x[i], vy = it->velocity.y[i], vz = it->velocity.z[i];
        const double kick_x = it->relative.x[i] - (vx - moves.x);
        const double kick_y = it->relative.y[i] - (vy - moves.y);
        const double kick_z = it->relative.z[i] - (vz - moves.z);
        const double ux = vx + kick_x, uy = vy + kick_y, uz = vz + kick_z;
        double differs = ux != vx ? 1 : 0;
        differs = uy != vy ? 1 : differs;
        differs = uz != vz ? 1 : differs;
        differs = it->position.x[i] != it->start.x[i] ? 1 : differs;
        differs = it->position.y[i] != it->start.y[i] ? 1 : differs;
        differs = it->position.z[i] != it->start.z[i] ? 1 : differs;
        moved[i] = done[i] * differs;
        it->velocity.x[i] = ux;
        it->velocity.y[i] = uy;
        it->velocity.z[i] = uz;
        driven[i] = word->mass[i] * (kick_x * moves.x + kick_y * moves.y + kick_z * moves.z);
    }
    for (int i = 0; word->rests && i < TOUCH_NODES; i++)
        moved[i] = done[i] * it->changed[i];
    for (int i = 0; i < TOUCH_NODES; i++) {
        word->taken[i] = done[i] > 0 ? it->taken[i] : 0;
        word->driven[i] = done[i] > 0 ? driven[i] : 0;
    }
}

static struct touch_result touch_project(struct state *s, const real *inverse_mass,
                                         const struct touch_word *word)
{
    struct word_projection it;
    word_values done, moved;
    real flags[TOUCH_NODES], rounded[TOUCH_NODES];
    const size_t first = word->first;
    const int count = word->count;
    uint8_t *touching = word->touching + first, touches[TOUCH_NODES], known[TOUCH_NODES];
    start_projection(s, word, inverse_mass, &it);
    for (int surface = 0; surface < word->surface_count; surface++)
        leave_surface(word, &word->surfaces[surface], &it);
    find_done(word, &it, done);
    end_projection(word, done, &it, moved);

    const double *const from[6] = {it.position.x, it.position.y, it.position.z,
                                   it.velocity.x, it.velocity.y, it.velocity.z};
    real *const to[6] = {s->x, s->y, s->z, s->vx, s->vy, s->vz};
    round_values(moved, flags);
    for (int array = 0; array < 6; array++) {
        round_values(from[array], rounded);
        write_where(flags, rounded, count, to[array] + first);
    }
    for (int i = 0; i < TOUCH_NODES; i++) {
        touches[i] = (uint8_t)it.touches[i];
        known[i] = (uint8_t)done[i];
    }
    for (int i = 0; i < count; i++)
        touching[i] = known[i] ? touches[i] : touching[i];
    return (struct touch_result){flag_bits(done, count), flag_bits(moved, count)};
}
