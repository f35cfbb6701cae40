// Mesh colliders: surfaces whose motion is prescribed. They are blocks of surfaces as those of
// bodies (surfaces.h), whose nodes lie behind those of bodies in the arrays of the state
// (state/state.h), with an inverse mass of 0; so lists, forces and the cutting of steps treat them
// as driven nodes. Here are their poses, the work that they do, and whether something is inside one
// at the start.
#include "contact/surface_shares.h"
#include "contact/surface_tangent.h"

#include <stdlib.h>

#include "base/memory.h"
#include "scene/collider_pose.h"
#include "state/reading.h"

// ---- Poses

static const struct scene_collider *scene_collider_of(const struct topology *topology,
                                                      const struct topology_collider *mesh)
{
    return &topology->colliders[mesh->collider];
}

// By its motion in the scene, or between steps (mesh_collider_move).
static bool moves(const struct system *system, const struct topology_collider *mesh)
{
    const struct state *s = system->state;
    return collider_moves(scene_collider_of(system->topology, mesh)) ||
           vec3_length(s->collider_velocity[mesh->collider]) > 0 ||
           s->collider_since[mesh->collider] > 0;
}

// From where the scene has it, m.
static vec3 displacement_at(const struct state *s, size_t collider, double time)
{
    return vec3_add(s->collider_centre[collider],
                    vec3_scale(time - s->collider_since[collider], s->collider_velocity[collider]));
}

static struct collider_pose pose_at(const struct system *system,
                                    const struct topology_collider *mesh, double time)
{
    const size_t collider = mesh->collider;
    struct collider_pose pose = collider_pose_at(scene_collider_of(system->topology, mesh), time,
                                                 1e-9 * system->settings.dt);
    pose.origin = vec3_add(pose.origin, displacement_at(system->state, collider, time));
    pose.velocity = vec3_add(pose.velocity, system->state->collider_velocity[collider]);
    return pose;
}

static vec3 built_point(const struct topology *topology, size_t node)
{
    const double *p = topology->collider_points[node - (size_t)topology->node_count];
    return vec3_make(p[0], p[1], p[2]);
}

struct point REAL_NAME(mesh_collider_start)(const struct system *system, size_t node, double time)
{
    const struct topology *topology = system->topology;
    const struct topology_collider *mesh =
        &topology->mesh_colliders[surface_body_of(topology, node) - topology->body_count];
    if (!moves(system, mesh))
        return state_point(system->state, node);
    const struct collider_pose pose = pose_at(system, mesh, time);
    const vec3 at =
        vec3_subtract(collider_point(&pose, built_point(topology, node)), system->state->origin);
    return (struct point){(real)at.x, (real)at.y, (real)at.z};
}

static void pose_nodes(struct system *system, const struct topology_collider *mesh, double time,
                       struct range share)
{
    const struct topology *topology = system->topology;
    const struct collider_pose pose = pose_at(system, mesh, time);
    for (size_t i = share.first; i < share.end; i++) {
        const size_t node = (size_t)mesh->first_node + i;
        const vec3 point = built_point(topology, node);
        state_put(system->state, node, collider_point(&pose, point));
        state_put_velocity(system->state, node, collider_point_velocity(&pose, point));
    }
}

// Those of midpoint and rk4 exchange the arrays of positions with those of the start of the step.
static void copy_to_start(struct state *s)
{
    const size_t first = (size_t)s->nodes, end = first + (size_t)s->collider_nodes;
    for (size_t i = first; s->x0 && i < end; i++) {
        s->x0[i] = s->x[i];
        s->y0[i] = s->y[i];
        s->z0[i] = s->z[i];
    }
}

void REAL_NAME(mesh_colliders_pose)(struct system *system, double time, const struct worker *worker)
{
    struct surface_contact *it = system->surface_contact;
    const struct topology *topology = system->topology;
    if (!it || !it->colliders_move || (it->posed_time == time && it->posed == system->state->x))
        return;
    worker_barrier(worker); // all have compared the time, and finished with the nodes
    for (size_t m = 0; m < topology->mesh_collider_count; m++) {
        const struct topology_collider *mesh = &topology->mesh_colliders[m];
        if (moves(system, mesh))
            pose_nodes(system, mesh, time, worker_share(worker, (size_t)mesh->node_count, 16));
    }
    if (worker->index == 0) {
        it->posed_time = time;
        it->posed = system->state->x;
    }
    worker_barrier(worker);
}

bool REAL_NAME(mesh_colliders_move)(const struct system *system)
{
    const struct surface_contact *it = system->surface_contact;
    return it && it->colliders_move;
}

bool REAL_NAME(prescribed_motion_changes)(const struct system *system, double from,
                                          double drives_end, double meshes_end)
{
    const struct topology *topology = system->topology;
    for (size_t p = 0; p < topology->drive_piece_count; p++)
        if (topology->drive_pieces[p].start > from && topology->drive_pieces[p].start < drives_end)
            return true;
    for (size_t m = 0; m < topology->mesh_collider_count; m++)
        if (collider_changes_velocity(&topology->colliders[topology->mesh_colliders[m].collider],
                                      from, meshes_end))
            return true;
    return false;
}

// ---- Moved between steps

vec3 REAL_NAME(mesh_collider_displacement)(const struct system *system, size_t collider)
{
    return displacement_at(system->state, collider, step_time(system, system->state->step));
}

void REAL_NAME(mesh_colliders_set_positions)(struct system *system)
{
    struct surface_contact *it = system->surface_contact;
    const struct topology *topology = system->topology;
    const double time = step_time(system, system->state->step);
    if (!it || topology->mesh_collider_count == 0)
        return;
    it->colliders_move = false;
    for (size_t m = 0; m < topology->mesh_collider_count; m++) {
        const struct topology_collider *mesh = &topology->mesh_colliders[m];
        it->colliders_move |= moves(system, mesh);
        pose_nodes(system, mesh, time, (struct range){0, (size_t)mesh->node_count});
    }
    copy_to_start(system->state);
    it->posed_time = NAN;
}

void REAL_NAME(mesh_collider_move)(struct system *system, size_t collider, vec3 displacement,
                                   vec3 velocity)
{
    struct state *s = system->state;
    s->collider_centre[collider] = displacement;
    s->collider_velocity[collider] = velocity;
    s->collider_since[collider] = step_time(system, s->step);
    REAL_NAME(mesh_colliders_set_positions)(system);
    REAL_NAME(surface_contact_moved)(system);
}

// ---- Making

// The mean length of the edges of each surface as built, m; INFINITY without any.
static bool find_mean_edges(const struct system *system, double *mean)
{
    const struct surface_contact *it = system->surface_contact;
    const struct surfaces *surfaces = &it->surfaces;
    uint64_t *counts = memory_allocate(NULL, it->body_count, sizeof *counts);
    if (!counts)
        return false;
    for (size_t b = 0; b < surfaces->block_count; b++) {
        const struct surface_block *block = &surfaces->blocks[b];
        for (uint32_t e = 0; e < block->edges; e++) {
            const double *p = system->topology->built[edge_node(surfaces, block, e, 0)],
                         *q = system->topology->built[edge_node(surfaces, block, e, 1)];
            mean[block->body] += vec3_length(vec3_make(p[0] - q[0], p[1] - q[1], p[2] - q[2]));
            counts[block->body]++;
        }
    }
    for (size_t b = 0; b < it->body_count; b++)
        mean[b] = counts[b] > 0 ? mean[b] / (double)counts[b] : INFINITY;
    memory_release(NULL, counts, it->body_count, sizeof *counts);
    return true;
}

// Where the triangles of a collider are smaller than those of a body, more of them touch each of
// its nodes: their stiffness is smaller by as much, so that the sum of weights at a node, for which
// the critical step allows, is about that of two surfaces of equal triangles.
static bool find_parts(struct system *system)
{
    struct surface_contact *it = system->surface_contact;
    const size_t bodies = it->body_count, own = system->topology->body_count;
    double *mean = memory_allocate(NULL, bodies, sizeof *mean);
    const bool found = mean && find_mean_edges(system, mean);
    for (size_t i = 0; found && i < bodies * bodies; i++)
        it->parts[i] = 1;
    for (size_t c = own; found && c < bodies; c++)
        for (size_t b = 0; b < own; b++) {
            const double ratio = isfinite(mean[b]) && isfinite(mean[c]) ? mean[c] / mean[b] : 1;
            it->parts[b * bodies + c] = it->parts[c * bodies + b] = fmin(1, ratio * ratio);
        }
    memory_release(NULL, mean, bodies, sizeof *mean);
    return found;
}

taut_status REAL_NAME(mesh_colliders_make)(struct system *system, taut_error *error)
{
    struct surface_contact *it = system->surface_contact;
    const struct topology *topology = system->topology;
    const size_t bodies = it->body_count;
    it->posed_time = NAN;
    if (topology->mesh_collider_count == 0)
        return TAUT_OK;
    it->parts = memory_allocate(system->allocator, bodies * bodies, sizeof *it->parts);
    if (!it->parts || !find_parts(system))
        return fail_memory(error, "mesh colliders");
    REAL_NAME(mesh_colliders_set_positions)(system);
    return TAUT_OK;
}

static bool turns(const struct scene_collider *collider)
{
    const struct scene_collider_motion *motion = &collider->motion;
    bool any = vec3_length(motion->angular_velocity) > 0;
    for (size_t i = 0; i < motion->keyframe_count; i++)
        any |= vec3_length(
                   vec3_subtract(motion->keyframes[i].angles, motion->keyframes[0].angles)) > 0;
    return any;
}

// The box of the points about their own origin.
static void find_extent(const struct system *system, const struct topology_collider *mesh,
                        double time, double least[3], double most[3])
{
    const bool any_direction = turns(scene_collider_of(system->topology, mesh));
    const struct collider_pose pose = pose_at(system, mesh, time);
    for (int axis = 0; axis < 3; axis++) {
        least[axis] = any_direction ? -mesh->radius : INFINITY;
        most[axis] = any_direction ? mesh->radius : -INFINITY;
    }
    for (uint64_t i = 0; i < mesh->node_count && !any_direction; i++) {
        const vec3 built = built_point(system->topology, (size_t)(mesh->first_node + i));
        const vec3 p = rotate(&pose.rotation, built);
        const double at[3] = {p.x, p.y, p.z};
        for (int axis = 0; axis < 3; axis++) {
            least[axis] = fmin(least[axis], at[axis]);
            most[axis] = fmax(most[axis], at[axis]);
        }
    }
}

double REAL_NAME(mesh_collider_reach)(const struct system *system, size_t m, double end)
{
    const struct topology_collider *mesh = &system->topology->mesh_colliders[m];
    const struct scene_collider_motion *motion = &scene_collider_of(system->topology, mesh)->motion;
    const double begin = step_time(system, system->state->step);
    double least[3], most[3], reach = 0;
    find_extent(system, mesh, begin, least, most);
    for (size_t i = 0; i < motion->keyframe_count + 2; i++) { // origins move straight between them
        const double time = i == 0   ? begin
                            : i == 1 ? fmax(begin, end)
                                     : motion->keyframes[i - 2].time;
        if (time < begin || time > fmax(begin, end))
            continue;
        const vec3 p = vec3_subtract(pose_at(system, mesh, time).origin, system->state->origin);
        const double at[3] = {p.x, p.y, p.z};
        for (int axis = 0; axis < 3; axis++)
            reach = fmax(reach, fmax(fabs(at[axis] + least[axis]), fabs(at[axis] + most[axis])));
    }
    return reach;
}

void REAL_NAME(mesh_colliders_free)(struct system *system)
{
    struct surface_contact *it = system->surface_contact;
    memory_release(system->allocator, it->parts, it->body_count * it->body_count,
                   sizeof *it->parts);
}

uint64_t REAL_NAME(mesh_colliders_bytes)(const struct surface_contact *it)
{
    return it->parts ? it->body_count * it->body_count * sizeof *it->parts : 0;
}

// ---- Work

double REAL_NAME(mesh_collider_block_power)(const struct system *system, size_t b)
{
    const struct surface_contact *it = system->surface_contact;
    const struct surface_block *block = &it->surfaces.blocks[b];
    double power = 0;
    for (uint32_t i = 0; i < block->nodes; i++) {
        const vec3 v = node_velocity(system->state, it->surfaces.nodes[block->first_node + i]);
        const real *force = it->own[block->first_node + i];
        power -= (double)force[0] * v.x + (double)force[1] * v.y + (double)force[2] * v.z;
    }
    return power;
}

double REAL_NAME(mesh_colliders_power)(const struct system *system)
{
    const struct surface_contact *it = system->surface_contact;
    double power = 0;
    if (it && it->keeps_power)
        return it->kept_power;
    if (!it || (!it->colliders_move && !it->shapes) || !it->pushes)
        return 0;
    if (it->rows && it->rows->present)
        return REAL_NAME(surface_rows_collider_power)(system);
    if (!it->colliders_move)
        return 0;
    if (it->shares && it->shares->power_known) // also in an evaluation by all ranks after it
        return it->shares->collider_power;
    for (size_t b = 0; b < it->surfaces.block_count; b++)
        if (it->touched[b] && is_of_collider(system->topology, &it->surfaces.blocks[b]))
            power += REAL_NAME(mesh_collider_block_power)(system, b);
    return power;
}

void REAL_NAME(mesh_colliders_keep_power)(struct system *system, double power)
{
    struct surface_contact *it = system->surface_contact;
    if (!it)
        return;
    it->keeps_power = true;
    it->kept_power = power;
}

// ---- Nodes inside

// A node of a body, and how often the ray from it along x leaves the mesh rather than enters it.
struct tested_node {
    vec3 at;
    uint32_t node;
    int winding;
    size_t body;
};

static int compare_y(const void *a, const void *b)
{
    const struct tested_node *one = a, *other = b;
    if (one->at.y != other->at.y)
        return one->at.y < other->at.y ? -1 : 1;
    return one->node < other->node ? -1 : one->node > other->node;
}

// The nodes of the surfaces of bodies, by y; NULL without memory. *count: how many.
static struct tested_node *list_nodes(const struct system *system, size_t *count)
{
    const struct surface_contact *it = system->surface_contact;
    struct tested_node *list =
        memory_allocate(NULL, (size_t)it->surfaces.own_node_count, sizeof *list);
    *count = 0;
    for (size_t b = 0; list && b < it->surfaces.block_count; b++) {
        const struct surface_block *block = &it->surfaces.blocks[b];
        for (uint32_t i = 0; block->body < system->topology->body_count && i < block->own_nodes;
             i++) {
            const uint32_t node = it->surfaces.nodes[block->first_node + i];
            list[(*count)++] =
                (struct tested_node){state_position(system->state, node), node, 0, block->body};
        }
    }
    if (list)
        qsort(list, *count, sizeof *list, compare_y);
    return list;
}

static size_t first_from(const struct tested_node *list, size_t count, double y)
{
    size_t low = 0, high = count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (list[middle].at.y < y)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// Whether the side from a to b is passed by a line from p in the direction of y, in the plane of y
// and z; the same for the side from b to a, so that a line passes exactly one of two triangles.
static bool passes_side(vec3 p, vec3 a, vec3 b)
{
    if ((a.z > p.z) == (b.z > p.z))
        return false;
    const vec3 low = a.z < b.z ? a : b, high = a.z < b.z ? b : a;
    return p.y < low.y + (p.z - low.z) / (high.z - low.z) * (high.y - low.y);
}

static void count_passages(const vec3 t[3], struct tested_node *list, size_t count)
{
    const double least = fmin(t[0].y, fmin(t[1].y, t[2].y)),
                 most = fmax(t[0].y, fmax(t[1].y, t[2].y));
    const vec3 normal = vec3_cross(vec3_subtract(t[1], t[0]), vec3_subtract(t[2], t[0]));
    for (size_t i = first_from(list, count, least); i < count && list[i].at.y <= most; i++) {
        const vec3 p = list[i].at;
        const bool within =
            passes_side(p, t[0], t[1]) ^ passes_side(p, t[1], t[2]) ^ passes_side(p, t[2], t[0]);
        const double height = vec3_dot(normal, vec3_subtract(p, t[0]));
        if (within && height * normal.x < 0)
            list[i].winding += normal.x > 0 ? 1 : -1;
    }
}

bool REAL_NAME(mesh_colliders_enclose)(const struct system *system, struct surface_parts *found,
                                       bool *no_memory)
{
    const struct surface_contact *it = system->surface_contact;
    const struct topology *topology = system->topology;
    struct tested_node *list = NULL;
    size_t count = 0;
    bool inside = false;
    *no_memory = false;
    for (size_t m = 0; it && m < topology->mesh_collider_count && !inside; m++) {
        const struct topology_collider *mesh = &topology->mesh_colliders[m];
        if (scene_collider_of(topology, mesh)->sides != SIDES_OUTSIDE)
            continue;
        if (!list)
            list = list_nodes(system, &count);
        if (!list) {
            *no_memory = true;
            return false;
        }
        for (size_t i = 0; i < count; i++)
            list[i].winding = 0;
        for (uint64_t f = 0; f < mesh->face_count; f++) {
            const uint32_t *face = topology->collider_faces[mesh->first_face + f];
            vec3 corners[3];
            for (int c = 0; c < 3; c++)
                corners[c] = state_position(system->state, face[c]);
            count_passages(corners, list, count);
        }
        for (size_t i = 0; i < count && !inside; i++) {
            inside = list[i].winding != 0;
            if (inside)
                *found = (struct surface_parts){
                    {list[i].body, topology->body_count + m}, {1, 0}, {{list[i].node}}};
        }
    }
    memory_release(NULL, list, it ? (size_t)it->surfaces.own_node_count : 0, sizeof *list);
    return inside;
}
