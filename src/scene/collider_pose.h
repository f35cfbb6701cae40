// Where a mesh collider is at a time, and how it moves: a function of the scene and the time alone,
// so that neither runs nor checkpoints store it. Its points are those of the file, scaled and
// rotated by `rotate`, relative to its own origin, which is at `translate` at first.
//
// Between two keyframes position and angles change linearly; before the first and after the last
// the mesh is at rest.
#ifndef TAUT_SCENE_COLLIDER_POSE_H
#define TAUT_SCENE_COLLIDER_POSE_H

#include "scene/rotation.h"
#include "scene/scene.h"

struct collider_pose {
    struct rotation rotation;
    vec3 origin;   // m
    vec3 velocity; // m/s, of the origin
    vec3 rate;     // rad/s, the angular velocity
};

// A keyframe that is reached within `tolerance` (s) counts as reached: times of steps are rounded.
struct collider_pose collider_pose_at(const struct scene_collider *collider, double time,
                                      double tolerance);

static inline vec3 collider_point(const struct collider_pose *pose, vec3 point)
{
    return vec3_add(pose->origin, rotate(&pose->rotation, point));
}

static inline vec3 collider_point_velocity(const struct collider_pose *pose, vec3 point)
{
    return vec3_add(pose->velocity, vec3_cross(pose->rate, rotate(&pose->rotation, point)));
}

// Whether its velocity changes after `from` and at `to` at the latest, where keyframes lie.
bool collider_changes_velocity(const struct scene_collider *collider, double from, double to);

// Bounds of the speeds of all points of a mesh, m/s.
struct collider_speeds {
    double steady;     // without keyframes
    double *keyframes; // up to each from the one before it; 0 for the first
};

// Sets them for `count` points of 3 coordinates (m, relative to its own origin). They are exact
// where the mesh only moves along, or turns about one axis. Room for all keyframes is given.
void collider_find_speeds(const struct scene_collider *collider, const double *points,
                          uint64_t count, struct collider_speeds *speeds);

// The highest of these speeds up to a time.
double collider_fastest_by(const struct scene_collider *collider,
                           const struct collider_speeds *speeds, double time);

// The longest step, s, that from `time` on moves no point by more than `distance` (m); INFINITY if
// they are at rest. It may be so short that it ends where a faster motion begins.
double collider_longest_step(const struct scene_collider *collider,
                             const struct collider_speeds *speeds, double time, double distance);

#endif
