// Planes, spheres and rooms (physics.md, 6): where a node is inside, the penalty force, the
// projection.
#include "forces/forces.h"
#include "state/reading.h"

static int plane_contact(const struct scene_collider *plane, vec3 position,
                         struct contact contacts[6])
{
    double height = vec3_dot(vec3_subtract(position, plane->point), plane->normal);
    if (!(height < 0))
        return 0;
    contacts[0] = (struct contact){plane->normal, -height, {0, 0, 0}};
    return 1;
}

// At the very centre there is no direction out: no contact, rather than a made-up one.
static int sphere_contact(const struct system *system, size_t collider, double time, vec3 position,
                          struct contact contacts[6])
{
    const struct state *s = system->state;
    double elapsed = time - s->collider_since[collider];
    vec3 velocity = s->collider_velocity[collider];
    vec3 centre = vec3_add(s->collider_centre[collider], vec3_scale(elapsed, velocity));
    vec3 out = vec3_subtract(position, centre);
    double distance = vec3_length(out);
    double depth = s->collider_radius[collider] - distance;
    if (!(depth > 0) || distance == 0)
        return 0;
    contacts[0] = (struct contact){vec3_scale(1 / distance, out), depth, velocity};
    return 1;
}

static int room_contacts(const struct scene_collider *room, vec3 p, struct contact contacts[6])
{
    const struct contact walls[6] = {
        {{1, 0, 0}, room->min.x - p.x, {0, 0, 0}}, {{-1, 0, 0}, p.x - room->max.x, {0, 0, 0}},
        {{0, 1, 0}, room->min.y - p.y, {0, 0, 0}}, {{0, -1, 0}, p.y - room->max.y, {0, 0, 0}},
        {{0, 0, 1}, room->min.z - p.z, {0, 0, 0}}, {{0, 0, -1}, p.z - room->max.z, {0, 0, 0}},
    };
    int count = 0;
    for (int wall = 0; wall < 6; wall++)
        if (walls[wall].depth > 0)
            contacts[count++] = walls[wall];
    return count;
}

int REAL_NAME(collider_contacts)(const struct system *system, size_t collider, double time,
                                 vec3 position, struct contact contacts[6])
{
    const struct scene_collider *it = &system->topology->colliders[collider];
    switch (it->type) {
    case COLLIDER_PLANE:
        return plane_contact(it, position, contacts);
    case COLLIDER_SPHERE:
        return sphere_contact(system, collider, time, position, contacts);
    case COLLIDER_ROOM:
        return room_contacts(it, position, contacts);
    }
    return 0;
}

static void add_to_nodes(struct system *system, size_t collider, double time, struct range share)
{
    struct state *s = system->state;
    const struct scene_collider *it = &system->topology->colliders[collider];
    struct contact contacts[6];
    for (size_t i = share.first; i < share.end; i++) {
        vec3 position = node_position(s, i);
        int count = REAL_NAME(collider_contacts)(system, collider, time, position, contacts);
        for (int c = 0; c < count; c++) {
            vec3 force = contact_action(it, &contacts[c], node_velocity(s, i)).force;
            s->fx[i] += (real)force.x;
            s->fy[i] += (real)force.y;
            s->fz[i] += (real)force.z;
        }
    }
}

void REAL_NAME(colliders_add)(struct system *system, double time, const struct worker *worker)
{
    bool any = false;
    for (size_t c = 0; c < system->topology->collider_count; c++) {
        if (system->topology->colliders[c].response != RESPONSE_PENALTY)
            continue;
        any = true;
        add_to_nodes(system, c, time, node_share(system, worker));
    }
    if (any)
        stage_end(&system->clock, STAGE_COLLIDERS, worker);
}

// bdf2's memory of the last step jumps as the node does, so that what it tells of the acceleration
// stays; the place before also as the velocity changed.
static void shift_memory(struct system *system, size_t i, vec3 place, vec3 velocity)
{
    struct state *s = system->state;
    real h = (real)system->settings.dt;
    vec3 jump = vec3_subtract(node_position(s, i), place);
    vec3 kick = vec3_subtract(node_velocity(s, i), velocity);
    s->x0[i] += (real)jump.x - h * (real)kick.x;
    s->y0[i] += (real)jump.y - h * (real)kick.y;
    s->z0[i] += (real)jump.z - h * (real)kick.z;
    s->vx0[i] += (real)kick.x;
    s->vy0[i] += (real)kick.y;
    s->vz0[i] += (real)kick.z;
}

// Puts a node on the surface; verlet's earlier position follows, as at its start: x - h v + h^2 a /
// 2, with the force of the moment before.
static void project_node(struct system *system, size_t collider, double time, size_t i)
{
    struct state *s = system->state;
    struct contact contacts[6];
    vec3 position = node_position(s, i), place = position, velocity = node_velocity(s, i);
    int count = REAL_NAME(collider_contacts)(system, collider, time, position, contacts);
    if (count == 0)
        return;
    for (int c = 0; c < count; c++)
        position = vec3_add(position, vec3_scale(contacts[c].depth, contacts[c].normal));
    real keep = (real)system->topology->colliders[collider].keep;
    s->x[i] = (real)position.x;
    s->y[i] = (real)position.y;
    s->z[i] = (real)position.z;
    s->vx[i] *= keep;
    s->vy[i] *= keep;
    s->vz[i] *= keep;
    if (system->settings.integrator == INTEGRATOR_VERLET) {
        real h = (real)system->settings.dt;
        real half = h * h * system->constants->inverse_mass[i] / 2;
        s->x0[i] = s->x[i] - h * s->vx[i] + half * s->fx[i];
        s->y0[i] = s->y[i] - h * s->vy[i] + half * s->fy[i];
        s->z0[i] = s->z[i] - h * s->vz[i] + half * s->fz[i];
    }
    if (system->settings.integrator == INTEGRATOR_BDF2)
        shift_memory(system, i, place, velocity);
}

void REAL_NAME(colliders_project)(struct system *system, double time, const struct worker *worker)
{
    struct range share = node_share(system, worker);
    for (size_t c = 0; c < system->topology->collider_count; c++)
        if (system->topology->colliders[c].response == RESPONSE_PROJECT)
            for (size_t i = share.first; i < share.end; i++)
                if (system->constants->inverse_mass[i] != 0)
                    project_node(system, c, time, i);
}
