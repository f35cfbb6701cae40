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

static vec3 point_at(const double *points, uint64_t index)
{
    return vec3_make(points[3 * index], points[3 * index + 1], points[3 * index + 2]);
}

// The speed of a motion without keyframes. How far points are from its axis counts; the axis turns
// with them.
static double steady_speed(const struct scene_collider_motion *motion, const double *points,
                           uint64_t count)
{
    double fastest = 0;
    for (uint64_t i = 0; i < count; i++) {
        const vec3 turning = vec3_cross(motion->angular_velocity, point_at(points, i));
        fastest = fmax(fastest, vec3_length(turning));
    }
    return vec3_length(motion->velocity) + RADIANS * fastest;
}

// The speed up to a keyframe from the one before it. Each angle turns points about an axis that the
// angles after it turn, at a distance that only the angles before it change.
static double speed_up_to(const struct scene_keyframe *frame, const double *points, uint64_t count)
{
    const struct scene_keyframe *before = frame - 1;
    const vec3 turned = vec3_subtract(frame->angles, before->angles), angles = frame->angles;
    const bool x_stays = turned.x == 0, xy_stay = x_stays && turned.y == 0;
    const struct rotation x = rotation_make(vec3_make(angles.x, 0, 0)),
                          xy = rotation_make(vec3_make(angles.x, angles.y, 0));
    double farthest = 0; // in degrees times m
    for (uint64_t i = 0; i < count; i++) {
        const vec3 p = point_at(points, i), by_x = rotate(&x, p), by_xy = rotate(&xy, p);
        const double length = vec3_length(p), from_x = hypot(p.y, p.z),
                     from_y = x_stays ? hypot(by_x.x, by_x.z) : length,
                     from_z = xy_stay ? hypot(by_xy.x, by_xy.y) : length;
        farthest = fmax(farthest, fabs(turned.x) * from_x + fabs(turned.y) * from_y +
                                      fabs(turned.z) * from_z);
    }
    const double distance = vec3_length(vec3_subtract(frame->position, before->position));
    return (distance + RADIANS * farthest) / (frame->time - before->time);
}

void collider_find_speeds(const struct scene_collider *collider, const double *points,
                          uint64_t count, struct collider_speeds *speeds)
{
    const struct scene_collider_motion *motion = &collider->motion;
    speeds->steady = steady_speed(motion, points, count);
    for (size_t i = 0; i < motion->keyframe_count; i++)
        speeds->keyframes[i] = i > 0 ? speed_up_to(&motion->keyframes[i], points, count) : 0;
}

double collider_fastest_by(const struct scene_collider *collider,
                           const struct collider_speeds *speeds, double time)
{
    const struct scene_collider_motion *motion = &collider->motion;
    double fastest = speeds->steady;
    for (size_t i = 1; i < motion->keyframe_count && motion->keyframes[i - 1].time <= time; i++)
        fastest = fmax(fastest, speeds->keyframes[i]);
    return fastest;
}

// The number of keyframes up to a time.
static size_t keyframes_by(const struct scene_collider_motion *motion, double time)
{
    size_t first = 0, end = motion->keyframe_count;
    while (first < end) {
        const size_t middle = first + (end - first) / 2;
        if (motion->keyframes[middle].time <= time)
            first = middle + 1;
        else
            end = middle;
    }
    return first;
}

double collider_longest_step(const struct scene_collider *collider,
                             const struct collider_speeds *speeds, double time, double distance)
{
    const struct scene_collider_motion *motion = &collider->motion;
    double longest = speeds->steady > 0 ? distance / speeds->steady : INFINITY;
    const size_t next = keyframes_by(motion, time);
    for (size_t i = next > 0 ? next : 1; i < motion->keyframe_count; i++) {
        const double until = motion->keyframes[i - 1].time - time;
        if (longest <= until)
            break;
        if (speeds->keyframes[i] > 0)
            longest = fmin(longest, fmax(distance / speeds->keyframes[i], until));
    }
    return longest;
}
