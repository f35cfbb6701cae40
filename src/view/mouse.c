// What the mouse does on the scene, as in the application of the jelly's authors (Rociek and
// Rusztowicz, section 3.4), and beyond it: pulling nodes and cutting.
#include "view/view.h"

#include <math.h>
#include <stdlib.h>

enum { LEFT, RIGHT, MIDDLE };
enum { SHIFT = 1, CONTROL = 2, ALT = 4 }; // as GLFW numbers them

static vec3 centre_of(const struct subject_sphere *sphere)
{
    return vec3_make(sphere->centre[0], sphere->centre[1], sphere->centre[2]);
}

static vec3 place_of(const struct view *view, uint64_t node)
{
    const float *p = player_moment(view->player)->moment.positions + 3 * node;
    return vec3_make(p[0], p[1], p[2]);
}

// ---- What a press begins

static enum hand_does on_empty(int button, int modifiers)
{
    if (button == RIGHT)
        return HAND_ZOOMS;
    if (button == MIDDLE || modifiers & SHIFT)
        return HAND_PANS;
    return HAND_TURNS;
}

static enum hand_does on_sphere(int button, int modifiers)
{
    if (button == LEFT)
        return modifiers & SHIFT ? HAND_MOVES_SPHERE_SCREEN : HAND_MOVES_SPHERE_XY;
    return modifiers & SHIFT ? HAND_SCALES_SPHERE : HAND_MOVES_SPHERE_Z;
}

static void grip_sphere(struct hand *hand, const struct subject_sphere *sphere)
{
    hand->centre = centre_of(sphere);
    hand->radius = (double)sphere->radius;
    hand->grip = vec3_subtract(hand->centre, hand->pick.point);
}

static void send_target(struct view *view)
{
    const double target[3] = {view->hand.target.x, view->hand.target.y, view->hand.target.z};
    player_pull(view->player, view->hand.pick.node, target);
}

static enum hand_does on_node(struct view *view)
{
    struct hand *hand = &view->hand;
    hand->target = hand->pick.point;
    if (player_subject(view->player)->holds[hand->pick.node] != HOLD_FREE)
        return HAND_LEADS;
    send_target(view);
    return HAND_PULLS;
}

static enum hand_does begin_cut(struct view *view)
{
    struct hand *hand = &view->hand;
    taut_error error = {0};
    if (stroke_begin(&hand->stroke, player_subject(view->player), hand->x, hand->y, &error) ==
        TAUT_OK)
        return HAND_CUTS;
    view_say(view, true, "%s", error.text);
    return HAND_NOTHING;
}

static enum hand_does begin(struct view *view, int button, int modifiers)
{
    enum { REACH = 12 }; // pixels of a common screen
    struct hand *hand = &view->hand;
    if (button > MIDDLE)
        return HAND_NOTHING;
    if (view->scrub.active || button == MIDDLE || modifiers & ALT)
        return on_empty(button, modifiers & ~ALT);
    if (button == LEFT && (modifiers & CONTROL || hand->cut_key))
        return begin_cut(view);
    hand->led_at = player_moment(view->player)->moment.time;
    hand->pick = pick_at(player_subject(view->player), &player_moment(view->player)->moment,
                         &view->camera, hand->x, hand->y, REACH * window_scale(view->window));
    if (hand->pick.kind == PICK_SPHERE) {
        grip_sphere(hand, &player_moment(view->player)->moment.spheres[hand->pick.sphere]);
        return on_sphere(button, modifiers);
    }
    if (hand->pick.kind == PICK_NODE && button == LEFT && !(modifiers & SHIFT))
        return on_node(view);
    return on_empty(button, modifiers);
}

// ---- What holding it does

static vec3 forward_of(const struct camera *camera)
{
    vec3 right, up, forward;
    camera_axes(camera, &right, &up, &forward);
    return forward;
}

// How far the pointer has come since the press, in the plane of the screen at the depth of what it
// holds.
static vec3 on_screen(const struct view *view)
{
    vec3 right, up, forward;
    camera_axes(&view->camera, &right, &up, &forward);
    double size = camera_pixel_size(&view->camera, view->hand.pick.depth);
    return vec3_add(vec3_scale(size * (view->hand.x - view->hand.from_x), right),
                    vec3_scale(size * (view->hand.from_y - view->hand.y), up));
}

static vec3 moved_centre(const struct view *view)
{
    const struct hand *hand = &view->hand;
    const vec3 z = {0, 0, 1};
    vec3 place, centre = hand->centre;
    switch (hand->does) {
    case HAND_MOVES_SPHERE_XY:
        if (!pick_on_plane(&view->camera, hand->x, hand->y, hand->pick.point, z, &place))
            place = vec3_add(hand->pick.point, on_screen(view));
        centre.x = place.x + hand->grip.x;
        centre.y = place.y + hand->grip.y;
        return centre;
    case HAND_MOVES_SPHERE_Z:
        if (pick_on_line(&view->camera, hand->x, hand->y, hand->pick.point, z, &place))
            centre.z = place.z + hand->grip.z;
        else // seen end on: downwards is nearer
            centre.z +=
                camera_pixel_size(&view->camera, hand->pick.depth) * (hand->y - hand->from_y);
        return centre;
    case HAND_MOVES_SPHERE_SCREEN:
        return vec3_add(centre, on_screen(view));
    default:
        return centre;
    }
}

static void scale_sphere(struct view *view)
{
    const struct hand *hand = &view->hand;
    const double factor_a_pixel = 0.006;
    double pixels = hand->x - hand->from_x - hand->y + hand->from_y;
    player_scale_sphere(view->player, hand->pick.sphere,
                        hand->radius * exp(factor_a_pixel * pixels));
}

static bool moves_sphere(const struct hand *hand)
{
    return hand->does >= HAND_MOVES_SPHERE_XY && hand->does <= HAND_MOVES_SPHERE_SCREEN;
}

static void move_sphere(struct view *view, bool held)
{
    struct hand *hand = &view->hand;
    vec3 centre = moved_centre(view);
    player_move_sphere(view->player, hand->pick.sphere,
                       (const double[3]){centre.x, centre.y, centre.z}, held);
    hand->holds_sphere = held;
}

// Where the pointer is, in the plane of the screen that the node was in.
static void aim(struct view *view)
{
    struct hand *hand = &view->hand;
    vec3 place;
    if (pick_on_plane(&view->camera, hand->x, hand->y, hand->pick.point, forward_of(&view->camera),
                      &place))
        hand->target = place;
}

// Towards the pointer, so that it would be there in a moment: one that is long beside the simulated
// time between two looks, or the node would go too far, and back still farther.
static void lead(struct view *view)
{
    const double least = 0.1; // s
    double now = player_moment(view->player)->moment.time;
    if (now == view->hand.led_at)
        return; // nothing has moved since
    double moment = fmax(least, 4 * (now - view->hand.led_at));
    view->hand.led_at = now;
    vec3 way = vec3_subtract(view->hand.target, place_of(view, view->hand.pick.node));
    const double velocity[3] = {way.x / moment, way.y / moment, way.z / moment};
    player_lead(view->player, view->hand.pick.node, velocity);
}

void mouse_follow(struct view *view)
{
    struct hand *hand = &view->hand;
    if (hand->does == HAND_LEADS)
        lead(view);
    if (!hand->moved)
        return;
    hand->moved = false;
    if (hand->does == HAND_PULLS)
        send_target(view);
    else if (hand->does == HAND_SCALES_SPHERE)
        scale_sphere(view);
    else if (moves_sphere(hand))
        move_sphere(view, true);
}

static void drag(struct view *view, double right, double down)
{
    const double factor_a_pixel = 0.008;
    struct hand *hand = &view->hand;
    hand->moved = true;
    if (hand->does == HAND_TURNS)
        camera_turn(&view->camera, right, down);
    else if (hand->does == HAND_PANS)
        camera_pan(&view->camera, right, down);
    else if (hand->does == HAND_ZOOMS)
        camera_zoom(&view->camera, exp(factor_a_pixel * down));
    else if (hand->does == HAND_PULLS || hand->does == HAND_LEADS)
        aim(view);
    else if (hand->does == HAND_CUTS)
        stroke_to(&hand->stroke, player_subject(view->player), &player_moment(view->player)->moment,
                  &view->camera, hand->x, hand->y);
    view->scene_stale = view->scene_stale || hand->does <= HAND_ZOOMS;
}

// ---- What its release does

static void cut(struct view *view)
{
    struct stroke *stroke = &view->hand.stroke;
    size_t spring_count, face_count;
    uint32_t *springs = stroke_marked(stroke->springs, stroke->spring_count, &spring_count);
    uint32_t *faces = stroke_marked(stroke->faces, stroke->face_count, &face_count);
    if (spring_count + face_count > 0)
        player_cut(view->player, springs, spring_count, faces, face_count);
    free(springs);
    free(faces);
    stroke_end(stroke);
}

// A sphere that was only clicked at was never held.
void mouse_drop_sphere(struct view *view)
{
    const struct subject *subject = player_subject(view->player);
    struct hand *hand = &view->hand;
    size_t sphere = hand->pick.sphere;
    if (hand->holds_sphere && moves_sphere(hand) && sphere < subject->collider_count &&
        subject->colliders[sphere].type == COLLIDER_SPHERE)
        move_sphere(view, false);
    hand->holds_sphere = false;
}

void mouse_let_go(struct view *view)
{
    struct hand *hand = &view->hand;
    mouse_follow(view);
    mouse_drop_sphere(view);
    if (hand->does == HAND_PULLS)
        player_let_go(view->player);
    if (hand->does == HAND_LEADS)
        player_lead(view->player, hand->pick.node, (const double[3]){0});
    if (hand->does == HAND_CUTS)
        cut(view);
    hand->does = HAND_NOTHING;
}

void mouse_event(struct view *view, const struct event *event)
{
    struct hand *hand = &view->hand;
    double x = event->x - (double)view->layout.scene.x;
    double y = event->y - (double)view->layout.scene.y;
    double right = x - hand->x, down = y - hand->y;
    hand->x = x;
    hand->y = y;
    if (event->kind == EVENT_MOVE) {
        if (hand->does != HAND_NOTHING)
            drag(view, right, down);
    } else if (event->kind == EVENT_WHEEL) {
        if (!gui_wants_mouse()) {
            camera_zoom(&view->camera, pow(0.9, event->amount));
            view->scene_stale = true;
        }
    } else if (event->down && hand->does == HAND_NOTHING && !gui_wants_mouse()) {
        hand->from_x = x;
        hand->from_y = y;
        hand->button = event->code;
        hand->moved = false;
        hand->does = begin(view, event->code, event->modifiers);
    } else if (!event->down && event->code == hand->button) {
        if (right != 0 || down != 0)
            drag(view, right, down);
        mouse_let_go(view);
    }
}

// ---- Seen on the scene

void panel_hand(struct view *view)
{
    static const struct gui_colour colour = {0.84F, 0.37F, 0.0F, 1};
    const struct hand *hand = &view->hand;
    float scale = (float)window_scale(view->window);
    struct gui_box scene = view->layout.scene;
    const double *path = hand->stroke.path;
    for (size_t i = 1; i < hand->stroke.path_count; i++)
        gui_stroke(scene.x + (float)path[2 * i - 2], scene.y + (float)path[2 * i - 1],
                   scene.x + (float)path[2 * i], scene.y + (float)path[2 * i + 1], colour,
                   2 * scale);
    if (hand->does == HAND_PULLS || hand->does == HAND_LEADS)
        gui_ring(scene.x + (float)hand->x, scene.y + (float)hand->y, 7 * scale, colour, 2 * scale);
}
