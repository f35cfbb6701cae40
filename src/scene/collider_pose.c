// Poses of mesh colliders (collider_pose.h).
#include "scene/collider_pose.h"

static const double RADIANS = 3.14159265358979323846 / 180; // per degree

// The angular velocity of Rz Ry Rx whose angles change at these rates, rad/s: about z, about the y
// axis that Rz has turned, and about the x axis that both have turned.
static vec3 rate_of(vec3 angles, vec3 rates)
{
    const struct rotation z = rotation_make(vec3_make(0, 0, angles.z)),
                          zy = rotation_make(vec3_make(0, angles.y, angles.z));
    const vec3 about_y = rotate(&z, vec3_make(0, rates.y, 0)),
               about_x = rotate(&zy, vec3_make(rates.x, 0, 0));
    return vec3_add(vec3_make(0, 0, rates.z), vec3_add(about_y, about_x));
}

static vec3 between(vec3 a, vec3 b, double part)
{
    return vec3_add(a, vec3_scale(part, vec3_subtract(b, a)));
}

static struct collider_pose pose_by_keyframes(const struct scene_collider *collider, double time,
                                              double tolerance)
{
    const struct scene_collider_motion *motion = &collider->motion;
    const struct scene_keyframe *frames = motion->keyframes;
    size_t next = 0;
    while (next < motion->keyframe_count && frames[next].time <= time + tolerance)
        next++;
    struct collider_pose pose = {.velocity = {0, 0, 0}, .rate = {0, 0, 0}};
    vec3 moved, angles;
    if (next == 0 || next == motion->keyframe_count) {
        const struct scene_keyframe *frame = &frames[next == 0 ? 0 : next - 1];
        moved = frame->position;
        angles = frame->angles;
    } else {
        const struct scene_keyframe *a = &frames[next - 1], *b = &frames[next];
        const double length = b->time - a->time;
        const double part = fmax(0, (time - a->time) / length);
        moved = between(a->position, b->position, part);
        angles = between(a->angles, b->angles, part);
        pose.velocity = vec3_scale(1 / length, vec3_subtract(b->position, a->position));
        pose.rate =
            rate_of(angles, vec3_scale(RADIANS / length, vec3_subtract(b->angles, a->angles)));
    }
    pose.origin = vec3_add(collider->translate, moved);
    pose.rotation = rotation_make(angles);
    return pose;
}

struct collider_pose collider_pose_at(const struct scene_collider *collider, double time,
                                      double tolerance)
{
    const struct scene_collider_motion *motion = &collider->motion;
    if (motion->keyframe_count > 0)
        return pose_by_keyframes(collider, time, tolerance);
    return (struct collider_pose){
        .rotation =
            rotation_about(motion->angular_velocity, vec3_length(motion->angular_velocity) * time),
        .origin = vec3_add(collider->translate, vec3_scale(time, motion->velocity)),
        .velocity = motion->velocity,
        .rate = vec3_scale(RADIANS, motion->angular_velocity),
    };
}

bool collider_changes_velocity(const struct scene_collider *collider, double from, double to)
{
    const struct scene_collider_motion *motion = &collider->motion;
    for (size_t i = 0; i < motion->keyframe_count; i++)
        if (motion->keyframes[i].time > from && motion->keyframes[i].time <= to)
            return true;
    return false;
}

// Of a motion without keyframes, m/s.
static double steady_speed(const struct scene_collider_motion *motion, double radius)
{
    return vec3_length(motion->velocity) + RADIANS * vec3_length(motion->angular_velocity) * radius;
}

// Up to a keyframe from the one before it, m/s.
static double speed_up_to(const struct scene_keyframe *frame, double radius)
{
    const struct scene_keyframe *before = frame - 1;
    const vec3 turned = vec3_subtract(frame->angles, before->angles);
    const double way = vec3_length(vec3_subtract(frame->position, before->position)) +
                       RADIANS * (fabs(turned.x) + fabs(turned.y) + fabs(turned.z)) * radius;
    return way / (frame->time - before->time);
}

double collider_fastest_by(const struct scene_collider *collider, double radius, double time)
{
    const struct scene_collider_motion *motion = &collider->motion;
    double fastest = steady_speed(motion, radius);
    for (size_t i = 1; i < motion->keyframe_count && motion->keyframes[i - 1].time <= time; i++)
        fastest = fmax(fastest, speed_up_to(&motion->keyframes[i], radius));
    return fastest;
}

double collider_longest_step(const struct scene_collider *collider, double radius, double time,
                             double steps, double way)
{
    const struct scene_collider_motion *motion = &collider->motion;
    const double steady = steady_speed(motion, radius);
    double longest = steady > 0 ? way / steady : INFINITY;
    for (size_t i = 1; i < motion->keyframe_count; i++) {
        const struct scene_keyframe *frame = &motion->keyframes[i];
        const double speed = speed_up_to(frame, radius), until = (frame - 1)->time - time;
        if (longest * steps <= until)
            break;
        if (frame->time > time && speed > 0)
            longest = fmin(longest, fmax(way / speed, until / steps));
    }
    return longest;
}
