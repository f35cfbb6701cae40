// The geometry of colliders (shapes.h). Numeric.
#include "contact/shapes.h"

// ---- Contacts of a point

int REAL_NAME(collider_contacts_within)(const struct system *system, size_t collider, double time,
                                        vec3 position, double slack, struct contact contacts[6])
{
    struct surface surface = surface_at(system, collider, time);
    return surface_contacts(&surface, position, slack, contacts);
}

int REAL_NAME(collider_contacts)(const struct system *system, size_t collider, double time,
                                 vec3 position, struct contact contacts[6])
{
    return REAL_NAME(collider_contacts_within)(system, collider, time, position, 0, contacts);
}

// ---- A surface and a box

// m, height of the lowest corner above a plane.
static double box_height(const struct scene_collider *plane, const struct block_box *box)
{
    const double n[3] = {plane->normal.x, plane->normal.y, plane->normal.z};
    double height = -vec3_dot(plane->point, plane->normal);
    for (int axis = 0; axis < 3; axis++)
        height += n[axis] > 0 ? n[axis] * box->least[axis] : n[axis] * box->most[axis];
    return height;
}

// m2, squared distance of a point from the box; 0 inside.
static double square_distance(const struct block_box *box, vec3 point)
{
    const double p[3] = {point.x, point.y, point.z};
    double square = 0;
    for (int axis = 0; axis < 3; axis++) {
        const double away =
            max_of(0, max_of(box->least[axis] - p[axis], p[axis] - box->most[axis]));
        square += away * away;
    }
    return square;
}

bool REAL_NAME(surface_is_near_box)(const struct surface *surface, const struct block_box *box,
                                    double slack)
{
    const double *most = box->most, *least = box->least;
    const struct scene_collider *it = surface->it;
    const double rounding = 1e-12;
    double margin = slack + rounding * box->reach;
    if (it->type == COLLIDER_PLANE)
        return !(box_height(it, box) > margin + rounding * greatest_component(it->point));
    if (it->type == COLLIDER_SPHERE) {
        double reach = surface->radius + margin + rounding * greatest_component(surface->centre);
        return !(square_distance(box, surface->centre) > reach * reach);
    }
    const double min[3] = {it->min.x, it->min.y, it->min.z};
    const double max[3] = {it->max.x, it->max.y, it->max.z};
    for (int axis = 0; axis < 3; axis++)
        if (!(least[axis] > min[axis] + margin) || !(most[axis] < max[axis] - margin))
            return true;
    return false;
}

double REAL_NAME(surface_clearance)(const struct surface *surface, const struct block_box *box)
{
    const double *most = box->most, *least = box->least;
    const struct scene_collider *it = surface->it;
    if (it->type == COLLIDER_PLANE)
        return box_height(it, box) / (fabs(it->normal.x) + fabs(it->normal.y) + fabs(it->normal.z));
    if (it->type == COLLIDER_SPHERE)
        return (sqrt(square_distance(box, surface->centre)) - surface->radius) / sqrt(3);
    const double min[3] = {it->min.x, it->min.y, it->min.z};
    const double max[3] = {it->max.x, it->max.y, it->max.z};
    double clearance = HUGE_VAL;
    for (int axis = 0; axis < 3; axis++)
        clearance = fmin(clearance, fmin(least[axis] - min[axis], max[axis] - most[axis]));
    return clearance;
}

struct near_shape REAL_NAME(surface_near_shape)(const struct surface *surface,
                                                const struct block_box *box, double slack,
                                                vec3 origin)
{
    const struct scene_collider *it = surface->it;
    struct near_shape shape = {.type = it->type};
    vec3 a = it->normal, b = {0, 0, 0};
    double digits = 16 * (double)REAL_EPSILON, reach = box->reach;
    if (it->type == COLLIDER_PLANE) {
        double margin = slack + digits * (reach + greatest_component(it->point));
        shape.limit = (real)(vec3_dot(vec3_subtract(it->point, origin), it->normal) + margin);
    } else if (it->type == COLLIDER_SPHERE) {
        double radius = surface->radius + slack +
                        digits * (reach + greatest_component(surface->centre) + surface->radius);
        a = vec3_subtract(surface->centre, origin);
        shape.limit = (real)(radius * radius * (1 + digits));
    } else {
        double size = max_of(greatest_component(it->min), greatest_component(it->max));
        a = vec3_subtract(it->min, origin);
        b = vec3_subtract(it->max, origin);
        shape.limit = (real)(slack + digits * (reach + size));
    }
    shape.a[0] = (real)a.x, shape.a[1] = (real)a.y, shape.a[2] = (real)a.z;
    shape.b[0] = (real)b.x, shape.b[1] = (real)b.y, shape.b[2] = (real)b.z;
    return shape;
}

int REAL_NAME(surface_touch_list)(const struct surface *surface, const struct block_box *box,
                                  double slack, struct touch_surface found[6])
{
    const struct scene_collider *it = surface->it;
    const struct touch_surface all = {
        .curved = it->type == COLLIDER_SPHERE,
        .at = it->type == COLLIDER_SPHERE ? surface->centre : it->point,
        .normal = it->normal,
        .radius = surface->radius,
        .velocity = surface->velocity,
        .stiffness = it->stiffness,
        .friction = it->friction,
        .absorption = it->absorption,
        .bit = 1,
    };
    if (it->type != COLLIDER_ROOM) {
        found[0] = all;
        return 1;
    }
    const double margin = slack + 1e-12 * box->reach;
    const double gap[6] = {box->least[0] - it->min.x, it->max.x - box->most[0],
                           box->least[1] - it->min.y, it->max.y - box->most[1],
                           box->least[2] - it->min.z, it->max.z - box->most[2]};
    int count = 0;
    for (int wall = 0; wall < 6; wall++) {
        if (gap[wall] > margin)
            continue;
        const double side = wall % 2 ? -1 : 1;
        struct touch_surface *one = &found[count++];
        *one = all;
        one->at = wall % 2 ? it->max : it->min;
        one->normal =
            vec3_make(wall / 2 == 0 ? side : 0, wall / 2 == 1 ? side : 0, wall / 2 == 2 ? side : 0);
        one->bit = (uint8_t)(1u << wall);
    }
    return count;
}
