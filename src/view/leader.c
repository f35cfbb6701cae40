// The end of a rope that keys lead, as in NeHe lesson 40: the arrows along x and z, Home and End
// along y. Without a rope, the first held node of another body.
#include "view/view.h"

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

#include <math.h>
#include <string.h>

enum { KEYS = 6 };

static const struct {
    int key;
    double direction[3];
} keys[KEYS] = {
    {GLFW_KEY_LEFT, {-1, 0, 0}}, {GLFW_KEY_RIGHT, {1, 0, 0}}, {GLFW_KEY_UP, {0, 0, -1}},
    {GLFW_KEY_DOWN, {0, 0, 1}},  {GLFW_KEY_HOME, {0, 1, 0}},  {GLFW_KEY_END, {0, -1, 0}},
};

// A node of that hold in a body; false where it has none.
static bool find(const struct subject *subject, const struct subject_body *body, enum hold hold,
                 uint64_t *node)
{
    for (uint64_t i = body->first_node; i < body->first_node + body->node_count; i++)
        if (subject->holds[i] == hold) {
            *node = i;
            return true;
        }
    return false;
}

static bool choose(const struct subject *subject, bool ropes, uint64_t *node)
{
    for (size_t i = 0; i < subject->body_count; i++) {
        const struct subject_body *body = &subject->bodies[i];
        // These move by a formula, or hang from where they hang.
        if (body->type == BODY_OSCILLATOR || body->type == BODY_PENDULUM)
            continue;
        if ((body->type == BODY_ROPE) != ropes)
            continue;
        if (find(subject, body, HOLD_MOVED, node) || find(subject, body, HOLD_PINNED, node))
            return true;
    }
    return false;
}

void leader_choose(struct view *view)
{
    const struct subject *subject = player_subject(view->player);
    struct leader *leader = &view->leader;
    *leader = (struct leader){0};
    leader->present = choose(subject, true, &leader->node) || choose(subject, false, &leader->node);
    // Lesson 40: 3 m/s for a rope of 4 m.
    double square = 0;
    for (int axis = 0; axis < 3; axis++) {
        double side = (double)subject->high[axis] - (double)subject->low[axis];
        square += side * side;
    }
    leader->speed = fmax(0.75 * sqrt(square), 0.01);
}

static void send(struct view *view)
{
    struct leader *leader = &view->leader;
    double velocity[3] = {0};
    for (int i = 0; i < KEYS; i++)
        for (int axis = 0; axis < 3 && leader->down[i]; axis++)
            velocity[axis] += leader->speed * keys[i].direction[axis];
    const double *before = leader->velocity;
    if (velocity[0] == before[0] && velocity[1] == before[1] && velocity[2] == before[2])
        return;
    memcpy(leader->velocity, velocity, sizeof velocity);
    player_lead(view->player, leader->node, velocity);
}

bool leader_key(struct view *view, int key, bool down)
{
    for (int i = 0; i < KEYS; i++)
        if (keys[i].key == key) {
            if (view->leader.present) {
                view->leader.down[i] = down;
                send(view);
            }
            return true;
        }
    return false;
}

void leader_stop(struct view *view)
{
    memset(view->leader.down, 0, sizeof view->leader.down);
    if (view->leader.present)
        send(view);
}
