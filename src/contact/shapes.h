// The geometry of colliders (planes, spheres, rooms): contacts of a point, and the properties of a
// surface near a bounding box that the culling and the vector kernels need. For the files of this
// folder; others use contact.h. Numeric.
#ifndef TAUT_CONTACT_SHAPES_H
#define TAUT_CONTACT_SHAPES_H

#include "contact/contact.h"

// Inline, because fmax would be a call.
static inline double max_of(double a, double b)
{
    return a > b ? a : b;
}

static inline double greatest_component(vec3 v)
{
    return max_of(fabs(v.x), max_of(fabs(v.y), fabs(v.z)));
}

// ---- Contacts of a point: inline, because they are found node by node

// A collider at one time.
struct surface {
    const struct scene_collider *it;
    vec3 centre, velocity; // for a sphere
    double radius;
};

static inline struct surface surface_at(const struct system *system, size_t collider, double time)
{
    const struct state *s = system->state;
    struct surface surface = {.it = &system->topology->colliders[collider]};
    if (surface.it->type == COLLIDER_SPHERE) {
        double elapsed = time - s->collider_since[collider];
        surface.velocity = s->collider_velocity[collider];
        surface.centre =
            vec3_add(s->collider_centre[collider], vec3_scale(elapsed, surface.velocity));
        surface.radius = s->collider_radius[collider];
    }
    return surface;
}

static inline int plane_contact(const struct scene_collider *plane, vec3 position, double slack,
                                struct contact contacts[6])
{
    double depth = -vec3_dot(vec3_subtract(position, plane->point), plane->normal);
    if (!(depth > -slack))
        return 0;
    contacts[0] = (struct contact){plane->normal, depth, {0, 0, 0}, 0};
    return 1;
}

// At the exact centre there is no outward direction, and so no contact.
static inline int sphere_contact(const struct surface *sphere, vec3 position, double slack,
                                 struct contact contacts[6])
{
    vec3 out = vec3_subtract(position, sphere->centre);
    double distance = vec3_length(out);
    double depth = sphere->radius - distance;
    if (!(depth > -slack) || distance == 0)
        return 0;
    contacts[0] = (struct contact){vec3_scale(1 / distance, out), depth, sphere->velocity, 0};
    return 1;
}

static inline int room_contacts(const struct scene_collider *room, vec3 p, double slack,
                                struct contact contacts[6])
{
    const struct contact walls[6] = {
        {{1, 0, 0}, room->min.x - p.x, {0, 0, 0}, 0}, {{-1, 0, 0}, p.x - room->max.x, {0, 0, 0}, 1},
        {{0, 1, 0}, room->min.y - p.y, {0, 0, 0}, 2}, {{0, -1, 0}, p.y - room->max.y, {0, 0, 0}, 3},
        {{0, 0, 1}, room->min.z - p.z, {0, 0, 0}, 4}, {{0, 0, -1}, p.z - room->max.z, {0, 0, 0}, 5},
    };
    int count = 0;
    for (int wall = 0; wall < 6; wall++)
        if (walls[wall].depth > -slack)
            contacts[count++] = walls[wall];
    return count;
}

// The contacts of a point that is deeper than -slack.
static inline int surface_contacts(const struct surface *surface, vec3 position, double slack,
                                   struct contact contacts[6])
{
    switch (surface->it->type) {
    case COLLIDER_PLANE:
        return plane_contact(surface->it, position, slack, contacts);
    case COLLIDER_SPHERE:
        return sphere_contact(surface, position, slack, contacts);
    case COLLIDER_ROOM:
        return room_contacts(surface->it, position, slack, contacts);
    case COLLIDER_MESH: // touches surfaces (surface_contact.h)
        break;
    }
    return 0;
}

// ---- A surface and a box

// False only if no point of the box is deeper than -slack.
bool REAL_NAME(surface_is_near_box)(const struct surface *surface, const struct block_box *box,
                                    double slack);

// Approximately the distance by which each side of a box can be moved outwards until it reaches the
// surface; below 0: not known.
double REAL_NAME(surface_clearance)(const struct surface *surface, const struct block_box *box);

// The shape with which the nodes of a box are tested, in the run's precision, with a margin that
// covers the rounding of the test, from the state's origin.
struct near_shape REAL_NAME(surface_near_shape)(const struct surface *surface,
                                                const struct block_box *box, double slack,
                                                vec3 origin);

// The surfaces of a collider in which a node of the box may be deeper than -slack.
int REAL_NAME(surface_touch_list)(const struct surface *surface, const struct block_box *box,
                                  double slack, struct touch_surface found[6]);

#endif
