// The actions of mouse and keys. The mouse in the scene works as in the program of the jelly's
// authors (Rociek and Rusztowicz, section 3.4), with grabbing of nodes and cutting added. The keys
// drive the end of a rope, as in NeHe lesson 40, and do what the Help window (panels.cc) lists.
// Events on panels are handled by ImGui (gui.h).
#include "view/view.h"

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LEFT, RIGHT, MIDDLE };
enum { SHIFT = 1, CONTROL = 2, ALT = 4 }; // as GLFW numbers them

// The position that the player moves: the centre of a sphere, the `translate` of a mesh.
static vec3 position_of_collider(const struct frame_collider *collider)
{
    if (!(collider->radius > 0))
        return vec3_make(collider->translate[0], collider->translate[1], collider->translate[2]);
    return vec3_make((double)collider->centre[0], (double)collider->centre[1],
                     (double)collider->centre[2]);
}

static vec3 position_of(const struct view *view, uint64_t node)
{
    const float *p = player_frame(view->player)->drawn_positions + 3 * node;
    return vec3_make(p[0], p[1], p[2]);
}

// ---- The mouse: actions that a press starts

static enum mouse_action on_empty(int button, int modifiers)
{
    if (button == RIGHT)
        return MOUSE_ZOOMS;
    if (button == MIDDLE || modifiers & SHIFT)
        return MOUSE_PANS;
    return MOUSE_ORBITS;
}

// Meshes keep their size.
static enum mouse_action on_collider(const struct mouse *mouse, int button, int modifiers)
{
    if (button == LEFT)
        return modifiers & SHIFT ? MOUSE_MOVES_COLLIDER_SCREEN : MOUSE_MOVES_COLLIDER_XY;
    return modifiers & SHIFT && mouse->radius > 0 ? MOUSE_SCALES_SPHERE : MOUSE_MOVES_COLLIDER_Z;
}

static void grab_collider(struct mouse *mouse, const struct frame_collider *collider)
{
    mouse->collider_position = position_of_collider(collider);
    mouse->radius = (double)collider->radius;
    mouse->grab_offset = vec3_subtract(mouse->collider_position, mouse->pick.point);
}

static void send_target(struct view *view)
{
    const double target[3] = {view->mouse.target.x, view->mouse.target.y, view->mouse.target.z};
    player_grab(view->player, view->mouse.pick.node, target);
}

static enum mouse_action on_node(struct view *view)
{
    struct mouse *mouse = &view->mouse;
    mouse->target = mouse->pick.point;
    if (player_subject(view->player)->pins[mouse->pick.node] != PIN_NONE)
        return MOUSE_DRIVES;
    send_target(view);
    return MOUSE_GRABS;
}

static enum mouse_action begin_cut(struct view *view)
{
    struct mouse *mouse = &view->mouse;
    taut_error error = {0};
    if (stroke_begin(&mouse->stroke, player_subject(view->player), mouse->x, mouse->y, &error) ==
        TAUT_OK)
        return MOUSE_CUTS;
    view_notify(view, true, "%s", error.text);
    return MOUSE_IDLE;
}

static enum mouse_action begin_action(struct view *view, int button, int modifiers)
{
    enum { REACH = 12 }; // pixels of a screen of scale 1
    struct mouse *mouse = &view->mouse;
    if (button > MIDDLE)
        return MOUSE_IDLE;
    if (view->scrub.active || button == MIDDLE || modifiers & ALT)
        return on_empty(button, modifiers & ~ALT);
    if (button == LEFT && (modifiers & CONTROL || mouse->cut_key))
        return begin_cut(view);
    mouse->driven_at = player_frame(view->player)->time;
    mouse->pick = pick_at(player_subject(view->player), player_frame(view->player), &view->camera,
                          mouse->x, mouse->y, REACH * window_scale(view->window));
    if (mouse->pick.kind == PICK_COLLIDER) {
        grab_collider(mouse, &player_frame(view->player)->colliders[mouse->pick.collider]);
        return on_collider(mouse, button, modifiers);
    }
    if (mouse->pick.kind == PICK_NODE && button == LEFT && !(modifiers & SHIFT))
        return on_node(view);
    return on_empty(button, modifiers);
}

// ---- The mouse: dragging

static vec3 forward_of(const struct camera *camera)
{
    vec3 right, up, forward;
    camera_axes(camera, &right, &up, &forward);
    return forward;
}

// The pointer's movement since the press, in the plane of the screen at the depth of the picked
// point.
static vec3 on_screen(const struct view *view)
{
    vec3 right, up, forward;
    camera_axes(&view->camera, &right, &up, &forward);
    double size = camera_pixel_size(&view->camera, view->mouse.pick.depth);
    return vec3_add(vec3_scale(size * (view->mouse.x - view->mouse.from_x), right),
                    vec3_scale(size * (view->mouse.from_y - view->mouse.y), up));
}

static vec3 moved_place(const struct view *view)
{
    const struct mouse *mouse = &view->mouse;
    const vec3 z = {0, 0, 1};
    vec3 position, target = mouse->collider_position;
    switch (mouse->action) {
    case MOUSE_MOVES_COLLIDER_XY:
        if (!pick_on_plane(&view->camera, mouse->x, mouse->y, mouse->pick.point, z, &position))
            position = vec3_add(mouse->pick.point, on_screen(view));
        target.x = position.x + mouse->grab_offset.x;
        target.y = position.y + mouse->grab_offset.y;
        return target;
    case MOUSE_MOVES_COLLIDER_Z:
        if (pick_on_line(&view->camera, mouse->x, mouse->y, mouse->pick.point, z, &position))
            target.z = position.z + mouse->grab_offset.z;
        else // seen end on: downwards moves it nearer
            target.z +=
                camera_pixel_size(&view->camera, mouse->pick.depth) * (mouse->y - mouse->from_y);
        return target;
    case MOUSE_MOVES_COLLIDER_SCREEN:
        return vec3_add(target, on_screen(view));
    default:
        return target;
    }
}

static void scale_sphere(struct view *view)
{
    const struct mouse *mouse = &view->mouse;
    const double factor_a_pixel = 0.006;
    double pixels = mouse->x - mouse->from_x - mouse->y + mouse->from_y;
    player_scale_sphere(view->player, mouse->pick.collider,
                        mouse->radius * exp(factor_a_pixel * pixels));
}

static bool moves_collider(const struct mouse *mouse)
{
    return mouse->action >= MOUSE_MOVES_COLLIDER_XY && mouse->action <= MOUSE_MOVES_COLLIDER_SCREEN;
}

static void move_collider(struct view *view, bool held)
{
    struct mouse *mouse = &view->mouse;
    vec3 target = moved_place(view);
    player_move_collider(view->player, mouse->pick.collider,
                         (const double[3]){target.x, target.y, target.z}, held);
    mouse->grabs_collider = held;
}

// Sets the target to the pointer's position in the plane of the screen that the node was in.
static void set_target(struct view *view)
{
    struct mouse *mouse = &view->mouse;
    vec3 position;
    if (pick_on_plane(&view->camera, mouse->x, mouse->y, mouse->pick.point,
                      forward_of(&view->camera), &position))
        mouse->target = position;
}

// Drives the node towards the pointer, so that it arrives after a delay. The delay is long compared
// with the simulated time between two calls; otherwise the node would overshoot, and each time
// farther.
static void drive(struct view *view)
{
    const double least = 0.1; // s
    double now = player_frame(view->player)->time;
    if (now == view->mouse.driven_at)
        return; // no step since the last call
    double delay = fmax(least, 4 * (now - view->mouse.driven_at));
    view->mouse.driven_at = now;
    vec3 separation = vec3_subtract(view->mouse.target, position_of(view, view->mouse.pick.node));
    const double velocity[3] = {separation.x / delay, separation.y / delay, separation.z / delay};
    player_drive_node(view->player, view->mouse.pick.node, velocity);
}

void mouse_follow(struct view *view)
{
    struct mouse *mouse = &view->mouse;
    if (mouse->action == MOUSE_DRIVES)
        drive(view);
    if (!mouse->moved)
        return;
    mouse->moved = false;
    if (mouse->action == MOUSE_GRABS)
        send_target(view);
    else if (mouse->action == MOUSE_SCALES_SPHERE)
        scale_sphere(view);
    else if (moves_collider(mouse))
        move_collider(view, true);
}

static void drag(struct view *view, double right, double down)
{
    const double factor_a_pixel = 0.008;
    struct mouse *mouse = &view->mouse;
    mouse->moved = true;
    if (mouse->action == MOUSE_ORBITS)
        camera_turn(&view->camera, right, down);
    else if (mouse->action == MOUSE_PANS)
        camera_pan(&view->camera, right, down);
    else if (mouse->action == MOUSE_ZOOMS)
        camera_zoom(&view->camera, exp(factor_a_pixel * down));
    else if (mouse->action == MOUSE_GRABS || mouse->action == MOUSE_DRIVES)
        set_target(view);
    else if (mouse->action == MOUSE_CUTS)
        stroke_to(&mouse->stroke, player_subject(view->player), player_frame(view->player),
                  &view->camera, mouse->x, mouse->y);
    view->scene_stale = view->scene_stale || mouse->action <= MOUSE_ZOOMS;
}

// ---- The mouse: release

static void send_cut(struct view *view)
{
    struct stroke *stroke = &view->mouse.stroke;
    size_t spring_count, face_count;
    uint32_t *springs = stroke_marked(stroke->springs, stroke->spring_count, &spring_count);
    uint32_t *faces = stroke_marked(stroke->faces, stroke->face_count, &face_count);
    if (spring_count + face_count > 0)
        player_cut(view->player, springs, spring_count, faces, face_count);
    free(springs);
    free(faces);
    stroke_end(stroke);
}

// A collider that was only clicked has not been held.
void mouse_release_collider(struct view *view)
{
    const struct subject *subject = player_subject(view->player);
    struct mouse *mouse = &view->mouse;
    size_t collider = mouse->pick.collider;
    if (mouse->grabs_collider && moves_collider(mouse) && collider < subject->collider_count &&
        (subject->colliders[collider].type == COLLIDER_SPHERE ||
         subject->colliders[collider].type == COLLIDER_MESH))
        move_collider(view, false);
    mouse->grabs_collider = false;
}

static void mouse_release(struct view *view)
{
    struct mouse *mouse = &view->mouse;
    mouse_follow(view);
    mouse_release_collider(view);
    if (mouse->action == MOUSE_GRABS)
        player_release(view->player);
    if (mouse->action == MOUSE_DRIVES)
        player_drive_node(view->player, mouse->pick.node, (const double[3]){0});
    if (mouse->action == MOUSE_CUTS)
        send_cut(view);
    mouse->action = MOUSE_IDLE;
}

static void mouse_event(struct view *view, const struct event *event)
{
    struct mouse *mouse = &view->mouse;
    double x = event->x - (double)view->layout.scene.x;
    double y = event->y - (double)view->layout.scene.y;
    double right = x - mouse->x, down = y - mouse->y;
    mouse->x = x;
    mouse->y = y;
    if (event->kind == EVENT_MOVE) {
        if (mouse->action != MOUSE_IDLE)
            drag(view, right, down);
    } else if (event->kind == EVENT_WHEEL) {
        if (!gui_wants_mouse()) {
            camera_zoom(&view->camera, pow(0.9, event->amount));
            view->scene_stale = true;
        }
    } else if (event->down && mouse->action == MOUSE_IDLE && !gui_wants_mouse()) {
        mouse->from_x = x;
        mouse->from_y = y;
        mouse->button = event->code;
        mouse->moved = false;
        mouse->action = begin_action(view, event->code, event->modifiers);
    } else if (!event->down && event->code == mouse->button) {
        if (right != 0 || down != 0)
            drag(view, right, down);
        mouse_release(view);
    }
}

// ---- The driven node: the end of a rope, which the arrow keys move along x and z, Home and End
// along y. If there is no rope, it is the first pinned node of another body.

enum { DRIVE_KEYS = 6 };

static const struct {
    int key;
    double direction[3];
} drive_keys[DRIVE_KEYS] = {
    {GLFW_KEY_LEFT, {-1, 0, 0}}, {GLFW_KEY_RIGHT, {1, 0, 0}}, {GLFW_KEY_UP, {0, 0, -1}},
    {GLFW_KEY_DOWN, {0, 0, 1}},  {GLFW_KEY_HOME, {0, 1, 0}},  {GLFW_KEY_END, {0, -1, 0}},
};

// The first node of a body with that kind of pin; false if there is none.
static bool find_node(const struct subject *subject, const struct subject_body *body, enum pin pin,
                      uint64_t *node)
{
    for (uint64_t i = body->first_node; i < body->first_node + body->node_count; i++)
        if (subject->pins[i] == pin) {
            *node = i;
            return true;
        }
    return false;
}

static bool choose_node(const struct subject *subject, bool ropes, uint64_t *node)
{
    for (size_t i = 0; i < subject->body_count; i++) {
        const struct subject_body *body = &subject->bodies[i];
        // These follow a closed form, or hang from a fixed anchor.
        if (body->type == BODY_OSCILLATOR || body->type == BODY_PENDULUM)
            continue;
        if ((body->type == BODY_ROPE) != ropes)
            continue;
        if (find_node(subject, body, PIN_KINEMATIC, node) ||
            find_node(subject, body, PIN_FIXED, node))
            return true;
    }
    return false;
}

void driven_node_choose(struct view *view)
{
    const struct subject *subject = player_subject(view->player);
    struct driven_node *driven = &view->driven;
    *driven = (struct driven_node){0};
    driven->present =
        choose_node(subject, true, &driven->node) || choose_node(subject, false, &driven->node);
    // Lesson 40: 3 m/s for a rope of 4 m.
    double square = 0;
    for (int axis = 0; axis < 3; axis++) {
        double side = (double)subject->high[axis] - (double)subject->low[axis];
        square += side * side;
    }
    driven->speed = fmax(0.75 * sqrt(square), 0.01);
}

static void send_velocity(struct view *view)
{
    struct driven_node *driven = &view->driven;
    double velocity[3] = {0};
    for (int i = 0; i < DRIVE_KEYS; i++)
        for (int axis = 0; axis < 3 && driven->down[i]; axis++)
            velocity[axis] += driven->speed * drive_keys[i].direction[axis];
    const double *before = driven->velocity;
    if (velocity[0] == before[0] && velocity[1] == before[1] && velocity[2] == before[2])
        return;
    memcpy(driven->velocity, velocity, sizeof velocity);
    player_drive_node(view->player, driven->node, velocity);
}

static bool driven_node_key(struct view *view, int key, bool down)
{
    for (int i = 0; i < DRIVE_KEYS; i++)
        if (drive_keys[i].key == key) {
            if (view->driven.present) {
                view->driven.down[i] = down;
                send_velocity(view);
            }
            return true;
        }
    return false;
}

// ---- Keys

// Finds the first name of a picture that does not exist yet.
static void name_picture(struct view *view)
{
    const taut_scene *scene = player_scene(view->player);
    for (int i = 1; i < 10000; i++) {
        snprintf(view->picture_path, sizeof view->picture_path, "%s-%d.png", scene->name, i);
        if (access(view->picture_path, F_OK) != 0)
            break;
    }
}

static void set_speed(struct view *view, double factor)
{
    view->speed *= factor;
    view->fast = false;
    player_speed(view->player, view->speed);
}

static void press_with_control(struct view *view, int key)
{
    if (key == GLFW_KEY_O)
        open_dialogue(view, DIALOGUE_OPEN);
    else if (key == GLFW_KEY_S)
        open_dialogue(view, DIALOGUE_SAVE_SCENE);
    else if (key == GLFW_KEY_Q)
        view->leaving = true;
}

// Esc ends the action of the mouse, and closes dialogues and windows over the scene.
static void escape(struct view *view)
{
    if (view->mouse.action != MOUSE_IDLE) {
        stroke_end(&view->mouse.stroke);
        mouse_release(view);
    }
    view->dialogue = DIALOGUE_NONE;
    view->layout.controls = view->layout.about = false;
    view->banner.text[0] = '\0';
}

static void press_window_key(struct view *view, int key)
{
    if (key == GLFW_KEY_H)
        view->layout.controls = !view->layout.controls;
    else if (key == GLFW_KEY_TAB)
        view->layout.options = !view->layout.options;
    else if (key == GLFW_KEY_P)
        view->layout.plots = !view->layout.plots;
    else if (key == GLFW_KEY_F)
        view->fit_wanted = true;
    else if (key == GLFW_KEY_F12)
        name_picture(view);
    else if (key == GLFW_KEY_ESCAPE)
        escape(view);
}

static void press_key(struct view *view, int key)
{
    const double faster = 1.25;
    if (key == GLFW_KEY_SPACE)
        player_play(view->player, !view->status.playing);
    else if (key == GLFW_KEY_S || key == GLFW_KEY_N)
        player_step(view->player, 1);
    else if (key == GLFW_KEY_R)
        player_reset(view->player);
    else if (key == GLFW_KEY_KP_ADD || key == GLFW_KEY_EQUAL)
        set_speed(view, faster);
    else if (key == GLFW_KEY_KP_SUBTRACT || key == GLFW_KEY_MINUS)
        set_speed(view, 1 / faster);
    else if (key >= GLFW_KEY_1 && key < GLFW_KEY_1 + COLOURING_COUNT)
        view->render.colouring = (enum colouring)(key - GLFW_KEY_1);
    else
        press_window_key(view, key);
    view->scene_stale = true;
}

static void key_event(struct view *view, const struct event *event)
{
    // A release counts even while a text is typed, so that no key stays down.
    if (event->code == GLFW_KEY_C)
        view->mouse.cut_key = event->down && !gui_wants_keys();
    if (event->repeated && event->code != GLFW_KEY_N && event->code != GLFW_KEY_S)
        return;
    if (gui_wants_keys() && event->down) {
        if (event->code == GLFW_KEY_ESCAPE)
            view->dialogue = DIALOGUE_NONE;
        return;
    }
    if (driven_node_key(view, event->code, event->down) || !event->down)
        return;
    if (event->modifiers & GLFW_MOD_CONTROL)
        press_with_control(view, event->code);
    else
        press_key(view, event->code);
}

void interaction_event(struct view *view, const struct event *event)
{
    if (event->kind == EVENT_KEY)
        key_event(view, event);
    else if (event->kind == EVENT_BUTTON || event->kind == EVENT_MOVE || event->kind == EVENT_WHEEL)
        mouse_event(view, event);
}
