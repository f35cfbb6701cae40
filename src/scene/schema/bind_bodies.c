// Binds the list of bodies: what all types have in common, the shape of each type, masses, pins and
// drives. Springs and the lists of networks are bound in bind_springs.c.
#include "scene/schema/binder.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "scene/mesh/mesh.h"

// ---- Files

static char *join_path(const char *folder, const char *path)
{
    size_t before = path[0] == '/' ? 0 : strlen(folder), length = strlen(path);
    char *joined = malloc(before + length + 1);
    if (!joined)
        return NULL;
    memcpy(joined, folder, before);
    memcpy(joined + before, path, length + 1);
    return joined;
}

char *bind_file(struct binder *binder, const struct dom_value *value, const char *key)
{
    const char *text = value_text(binder, value, key);
    char *path = text ? join_path(binder->folder, text) : NULL;
    if (!text)
        return NULL;
    if (!path) {
        bind_report_memory(binder);
        return NULL;
    }
    struct stat status;
    const char *reason = NULL;
    if (stat(path, &status) != 0 || access(path, R_OK) != 0)
        reason = strerror(errno);
    else if (S_ISDIR(status.st_mode))
        reason = "it is a folder";
    else if (!S_ISREG(status.st_mode))
        reason = "it is not a regular file";
    if (!reason)
        return path;
    bind_report(binder, value->at, NULL, "cannot read '%s': %s", show_text(text).text, reason);
    free(path);
    return NULL;
}

// ---- Shapes: number of nodes

// The product, or 2^32 (more than NODES_MAX) if it is larger.
static uint64_t product(uint64_t a, uint64_t b, uint64_t c)
{
    const uint64_t many = UINT64_C(1) << 32;
    if (a == 0 || b == 0 || c == 0)
        return 0;
    if (a >= many || b > many / a || c > many / (a * b))
        return many;
    return a * b * c;
}

// The number of nodes that the body will have; 0 if its files must be read to know it.
static uint64_t body_nodes(const struct scene_body *body)
{
    switch (body->type) {
    case BODY_ROPE:
        return body->shape.rope.nodes;
    case BODY_CLOTH:
        return product(body->shape.cloth.nodes_u, body->shape.cloth.nodes_v, 1);
    case BODY_RING:
        return body->shape.ring.nodes;
    case BODY_QUAD:
        return 4;
    case BODY_SPHERE:
        if (body->shape.sphere.subdivisions < 0)
            return 0;
        return (UINT64_C(10) << (2 * body->shape.sphere.subdivisions)) + 2;
    case BODY_LATTICE:
        return product(body->shape.lattice.nodes_x, body->shape.lattice.nodes_y,
                       body->shape.lattice.nodes_z);
    case BODY_NETWORK:
        return body->shape.network.node_count;
    case BODY_OSCILLATOR:
    case BODY_PENDULUM:
        return 2;
    case BODY_MESH:
    case BODY_TYPE_COUNT:
        break;
    }
    return 0;
}

static void check_node_count(struct binder *binder, const struct bound *bound,
                             const struct scene_body *body)
{
    const struct dom_pair *nodes = bound_find(bound, "nodes");
    if (nodes && bound_is_valid(bound, "nodes") && (double)body_nodes(body) > NODES_MAX)
        bind_report(binder, nodes->value.at, NULL,
                    "the product of 'nodes' exceeds the %.0f nodes that a body may have",
                    NODES_MAX);
}

// ---- Shapes: each type

static bool is_zero(vec3 v)
{
    return v.x == 0 && v.y == 0 && v.z == 0;
}

static void check_edges(struct binder *binder, const struct bound *bound, vec3 u, vec3 v)
{
    const struct dom_pair *pair = bound_find(bound, "v");
    if (pair && bound_find(bound, "u") && bound_is_valid(bound, "u") &&
        bound_is_valid(bound, "v") && is_zero(vec3_cross(u, v)))
        bind_report(binder, pair->value.at, NULL,
                    "'u' and 'v' span no area: they are parallel, or one of them is zero");
}

static void check_rope(struct binder *binder, const struct bound *bound,
                       const struct scene_rope *rope)
{
    const struct dom_pair *to = bound_find(bound, "to");
    if (to && bound_find(bound, "from") && bound_is_valid(bound, "from") &&
        bound_is_valid(bound, "to") && is_zero(vec3_subtract(rope->to, rope->from)))
        bind_report(binder, to->value.at, NULL, "'from' and 'to' are the same position");
}

static void check_stiffness(struct binder *binder, const struct bound *bound,
                            const struct scene_body *body)
{
    const struct dom_pair *stiffness = bound_find(bound, "stiffness");
    if (body->common.law == LAW_RIGID && body->type == BODY_PENDULUM)
        return;
    if (bound_lacks(bound, "stiffness"))
        bind_report(binder, bound->at, NULL, "'stiffness' is missing in %s",
                    schema_shapes[body->type].what);
    else if (stiffness && bound_is_valid(bound, "stiffness") && body->common.stiffness == 0)
        bind_report(binder, stiffness->value.at, NULL, "'stiffness' must be > 0 in %s, not %s",
                    schema_shapes[body->type].what, show_text(stiffness->value.node->text).text);
}

// Only the component of `direction` perpendicular to gravity counts; it must not be zero.
static void check_pendulum(struct binder *binder, const struct bound *bound,
                           const struct scene_body *body)
{
    vec3 gravity = binder->scene->environment.gravity, direction = body->shape.pendulum.direction;
    bool simulated = body->shape.pendulum.model == PENDULUM_SPRING;
    if (bound_is_valid(bound, "model") && simulated)
        check_stiffness(binder, bound, body);
    if (!binder->gravity_known)
        return;
    double strength = vec3_length(gravity);
    if (strength == 0) {
        bind_report(binder, bound->at, NULL,
                    "a pendulum needs gravity: set 'gravity' in 'environment'");
        return;
    }
    vec3 across = vec3_cross(vec3_scale(1 / strength, gravity), direction);
    if (bound_is_valid(bound, "direction") && vec3_length(across) < 1e-9) {
        const struct dom_pair *given = bound_find(bound, "direction");
        bind_report(binder, given ? given->value.at : bound->at, NULL,
                    "'direction' must not be along gravity");
    }
}

void bind_mesh(struct binder *binder, const struct bound *bound, struct scene_mesh *mesh)
{
    const struct dom_pair *file = bound_find(bound, "file");
    if (!file)
        return;
    mesh->at = file->value.at;
    mesh->path = bind_file(binder, &file->value, "file");
    if (mesh->path && !mesh_has_known_ending(mesh->path)) {
        bind_report(binder, file->value.at, NULL,
                    "'%s' is not a mesh file: its name must end in .asc, .obj, .ply or .stl",
                    show_text(file->value.node->text).text);
        free(mesh->path);
        mesh->path = NULL;
    }
}

static void bind_pressure(struct binder *binder, const struct bound *bound,
                          struct scene_pressure *pressure)
{
    const struct dom_pair *pair = bound_find(bound, "pressure");
    struct schema_part part = {&schema_pressure, pressure, false};
    struct bound content;
    if (!pair ||
        !bind_mapping(binder, &pair->value, schema_pressure.what, &part, 1, false, &content))
        return;
    pressure->present = true;
    pressure->at = pair->key_at;
}

static void bind_body_contact(struct binder *binder, const struct bound *bound, enum body_type type,
                              struct scene_body_contact *contact)
{
    const struct dom_pair *pair = bound_find(bound, "contact");
    struct schema_part part = {&schema_body_contact, contact, false};
    struct bound content;
    if (pair && pair->value.node->kind == DOM_SCALAR) { // as a switch
        bind_report(
            binder, pair->key_at, NULL,
            "'contact' of a body is a mapping: '{self: false}' ends contact with itself, and "
            "'contact: {pairs: [{bodies: [a, b], enabled: false}]}' of the scene that of a "
            "pair");
        return;
    }
    if (!pair ||
        !bind_mapping(binder, &pair->value, schema_body_contact.what, &part, 1, false, &content))
        return;
    if (!body_type_has_surface(type)) {
        bind_report(
            binder, pair->key_at, NULL,
            "'contact' has no effect: bodies of type %s have springs and nodes only, and no "
            "surface that could touch anything; remove it",
            body_type_name(type));
        return;
    }
    contact->present = true;
    contact->self_given = bound_find(&content, "self") != NULL;
    bind_contact_friction(binder, &content, &contact->friction);
    contact->at = pair->key_at;
}

// Checks a shape for what the tables cannot express: parallel edges, too many nodes, missing files.
static void bind_shape(struct binder *binder, const struct bound *bound, struct scene_body *body)
{
    check_node_count(binder, bound, body);
    // For types without pressure the key has been reported as unknown.
    if (bound_is_valid(bound, "pressure"))
        bind_pressure(binder, bound, &body->pressure);
    switch (body->type) {
    case BODY_ROPE:
        check_rope(binder, bound, &body->shape.rope);
        break;
    case BODY_CLOTH:
        check_edges(binder, bound, body->shape.cloth.u, body->shape.cloth.v);
        break;
    case BODY_QUAD:
        check_edges(binder, bound, body->shape.quad.u, body->shape.quad.v);
        break;
    case BODY_MESH:
        bind_mesh(binder, bound, &body->shape.mesh);
        break;
    case BODY_OSCILLATOR:
        check_stiffness(binder, bound, body);
        break;
    case BODY_PENDULUM:
        check_pendulum(binder, bound, body);
        break;
    default:
        break;
    }
}

// ---- Masses

static const struct value_range positive = RANGE_POSITIVE;

// Binds one mass for each node of a network.
static void bind_node_masses(struct binder *binder, const struct dom_value *value,
                             struct scene_network *network)
{
    const struct dom_node *list = value->node;
    if (network->node_count == 0)
        return;
    if (list->count != network->node_count) {
        bind_report(
            binder, value->at, NULL,
            "'node_mass' lists %zu %s, but the network has %llu %s; give one for each node, "
            "or one number for all",
            list->count, text_noun(list->count, "mass", "masses"),
            (unsigned long long)network->node_count,
            text_noun(network->node_count, "node", "nodes"));
        return;
    }
    for (size_t i = 0; i < list->count; i++)
        value_number(binder, &list->items[i], "node_mass", &positive, &network->masses[i]);
}

static void fill_masses(struct scene_network *network, double mass)
{
    for (uint64_t i = 0; i < network->node_count; i++)
        network->masses[i] = mass;
}

static void bind_network_mass(struct binder *binder, const struct bound *bound,
                              struct scene_body *body)
{
    struct scene_network *network = &body->shape.network;
    if (bound_find(bound, "nodes_file")) {
        bound_refuse_unless(binder, bound, "mass", "nodes_file",
                            "is given by the column 'mass' of 'nodes_file'");
        bound_refuse_unless(binder, bound, "node_mass", "nodes_file",
                            "is given by the column 'mass' of 'nodes_file'");
        return;
    }
    bound_exclusive(binder, bound, "mass", "node_mass", false);
    const struct dom_pair *node_mass = bound_find(bound, "node_mass");
    if (network->node_count > 0)
        network->masses = calloc(network->node_count, sizeof *network->masses);
    if (network->node_count > 0 && !network->masses) {
        bind_report_memory(binder);
        return;
    }
    if (node_mass && node_mass->value.node->kind == DOM_LIST) {
        bind_node_masses(binder, &node_mass->value, network);
    } else if (node_mass) {
        body->mass_per_node = true;
        if (value_number(binder, &node_mass->value, "node_mass", &positive, &body->node_mass))
            fill_masses(network, body->node_mass);
    } else if (network->node_count > 0) {
        fill_masses(network, body->mass / (double)network->node_count);
    }
}

// Binds `mass` and `node_mass`.
static void bind_mass(struct binder *binder, const struct bound *bound, struct scene_body *body)
{
    if (body->type == BODY_NETWORK) {
        bind_network_mass(binder, bound, body);
        return;
    }
    if (body->type == BODY_OSCILLATOR || body->type == BODY_PENDULUM) {
        bound_refuse(binder, bound, "node_mass", "is not for one mass; give 'mass'");
        if (!bound_find(bound, "node_mass") && bound_lacks(bound, "mass"))
            bind_report(binder, bound->at, NULL, "'mass' is missing in %s", bound->what);
        return;
    }
    bound_exclusive(binder, bound, "mass", "node_mass", false);
    const struct dom_pair *node_mass = bound_find(bound, "node_mass");
    body->mass_per_node = node_mass != NULL;
    if (node_mass)
        value_number(binder, &node_mass->value, "node_mass", &positive, &body->node_mass);
}

// ---- Selections of nodes: numbers

static bool is_number(const struct dom_node *node)
{
    return node->kind == DOM_SCALAR && node->plain && node->count > 0 &&
           strchr("+-.0123456789", node->text[0]);
}

static bool bind_number(struct binder *binder, const struct dom_value *value,
                        const struct scene_body *body, struct selector *selector)
{
    uint64_t nodes = body ? body_nodes(body) : 0;
    *selector = (struct selector){.type = SELECT_NODE, .at = value->at};
    if (!value_count(binder, value, "a node number", NULL, &selector->node))
        return false;
    if (nodes > 0 && selector->node >= nodes)
        return bind_report(binder, value->at, NULL,
                           "there is no node %llu: the nodes of the body are 0 to %llu",
                           (unsigned long long)selector->node, (unsigned long long)nodes - 1);
    return true;
}

bool bind_node(struct binder *binder, const struct dom_value *value, const struct scene_body *body,
               struct selector *selector)
{
    static const char *const names[] = {"first", "last", NULL};
    if (is_number(value->node))
        return bind_number(binder, value, body, selector);
    *selector = (struct selector){.at = value->at};
    if (value->node->kind == DOM_SCALAR && value->node->count > 0) {
        for (int i = 0; names[i]; i++)
            if (strcmp(names[i], value->node->text) == 0) {
                selector->type = i == 0 ? SELECT_FIRST : SELECT_LAST;
                return true;
            }
        return bind_report(binder, value->at, nearest_name(value->node->text, names, 2),
                           "'node' must be first, last or a number, not '%s'",
                           show_text(value->node->text).text);
    }
    return bind_report(binder, value->at, NULL, "'node' must be first, last or a number, not %s",
                       dom_kind_text(value->node));
}

// ---- Pins

static bool bind_box(struct binder *binder, const struct dom_value *value,
                     struct selector *selector)
{
    const struct dom_pair *box = dom_find(value->node, "box");
    if (!box || value->node->count != 1)
        return bind_report(binder, value->at, NULL,
                           "a selection is a name, a number or {box: [[x, y, z], [x, y, z]]}");
    const struct dom_node *corners = box->value.node;
    size_t count = 0;
    if (!value_list(binder, &box->value, "box", "2 corners, [[x, y, z], [x, y, z]]", &count))
        return false;
    if (count != 2)
        return bind_report(binder, box->value.at, NULL,
                           "'box' must be a list of 2 corners, [[x, y, z], [x, y, z]], not of %zu",
                           count);
    selector->type = SELECT_BOX;
    bool least = value_vector_double(binder, &corners->items[0], "box", &selector->min);
    bool greatest = value_vector_double(binder, &corners->items[1], "box", &selector->max);
    if (!least || !greatest)
        return false;
    const double min[] = {selector->min.x, selector->min.y, selector->min.z};
    const double max[] = {selector->max.x, selector->max.y, selector->max.z};
    for (int axis = 0; axis < 3; axis++)
        if (min[axis] > max[axis])
            return bind_report(binder, box->value.at, NULL,
                               "the first corner of 'box' must have the least coordinates, but in "
                               "%c they are %g and %g",
                               "xyz"[axis], min[axis], max[axis]);
    return true;
}

static bool bind_name(struct binder *binder, const struct dom_value *value,
                      const struct scene_body *body, struct selector *selector)
{
    const char *names[SELECT_EDGES + 1];
    size_t count = 0;
    const char *text = value->node->text;
    for (int type = SELECT_FIRST; type <= SELECT_EDGES; type++) {
        if (!body_type_has_selector(body->type, (enum selector_type)type))
            continue;
        names[count++] = selector_name((enum selector_type)type);
        if (strcmp(selector_name((enum selector_type)type), text) == 0) {
            selector->type = (enum selector_type)type;
            return true;
        }
    }
    for (int type = SELECT_FIRST; type <= SELECT_EDGES; type++)
        if (strcmp(selector_name((enum selector_type)type), text) == 0)
            return bind_report(binder, value->at, NULL, "%s has no nodes called '%s'; select %s",
                               schema_shapes[body->type].what, text, list_names(names, count).text);
    return bind_report(binder, value->at, nearest_name(text, names, count),
                       "unknown selection '%s' of nodes; select %s", show_text(text).text,
                       list_names(names, count).text);
}

static bool bind_selector(struct binder *binder, const struct dom_value *value,
                          const struct scene_body *body, struct selector *selector)
{
    *selector = (struct selector){.at = value->at};
    if (is_number(value->node))
        return bind_number(binder, value, body, selector);
    if (value->node->kind == DOM_SCALAR && value->node->count > 0)
        return bind_name(binder, value, body, selector);
    return bind_box(binder, value, selector);
}

// A list of selections; NULL without any.
static struct selector *bind_selectors(struct binder *binder, const struct dom_value *value,
                                       const char *key, const struct scene_body *body,
                                       size_t *count)
{
    size_t wanted;
    *count = 0;
    if (!value_list(binder, value, key, "selections, such as [first, 3]", &wanted) || wanted == 0)
        return NULL;
    struct selector *selectors = calloc(wanted, sizeof *selectors);
    if (!selectors) {
        bind_report_memory(binder);
        return NULL;
    }
    *count = wanted;
    for (size_t i = 0; i < wanted; i++)
        bind_selector(binder, &value->node->items[i], body, &selectors[i]);
    return selectors;
}

// ---- Drives

// `key` is velocity or angular_velocity; both are read as velocities here.
static bool bind_piece(struct binder *binder, const struct dom_value *value, const char *key,
                       struct drive_piece *piece)
{
    static const struct value_range not_negative = RANGE_NOT_NEGATIVE;
    const struct dom_node *node = value->node;
    if (node->kind != DOM_LIST || node->count != 2)
        return bind_report(binder, value->at, NULL,
                           "a piece of '%s' is a time and a vector, [t, [x, y, z]]", key);
    bool start =
        value_double(binder, &node->items[0], "the time of a piece", &not_negative, &piece->start);
    return value_vector(binder, &node->items[1], key, &piece->velocity) && start;
}

static bool is_vector(const struct dom_node *list)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->items[i].node->kind != DOM_SCALAR)
            return false;
    return list->count > 0;
}

// NULL after a report.
static struct drive_piece *bind_pieces(struct binder *binder, const struct dom_value *value,
                                       const char *key, size_t *piece_count)
{
    size_t count;
    *piece_count = 0;
    if (!value_list(binder, value, key, "[t, [x, y, z]], or [x, y, z]", &count))
        return NULL;
    bool constant = is_vector(value->node);
    if (count == 0) {
        bind_report(binder, value->at, NULL, "'%s' of a drive is empty", key);
        return NULL;
    }

    struct drive_piece *pieces = calloc(constant ? 1 : count, sizeof *pieces);
    if (!pieces) {
        bind_report_memory(binder);
        return NULL;
    }
    *piece_count = constant ? 1 : count;

    if (constant) {
        value_vector(binder, value, key, &pieces[0].velocity);
        return pieces;
    }
    bool sound = true;
    for (size_t i = 0; i < count; i++) {
        const struct dom_value *item = &value->node->items[i];
        sound = bind_piece(binder, item, key, &pieces[i]) && sound;
        if (sound && i > 0 && pieces[i].start <= pieces[i - 1].start)
            sound = bind_report(binder, item->node->items[0].at, NULL,
                                "each piece of a drive must start later than the one before it, "
                                "not at %g s after %g s",
                                pieces[i].start, pieces[i - 1].start);
    }
    return pieces;
}

// Adds the turns to a drive: at each time at which either changes there is a piece with both.
static void add_turns(struct binder *binder, const struct drive_piece *turns, size_t count,
                      struct scene_drive *drive)
{
    const struct drive_piece *moves = drive->pieces;
    const size_t move_count = drive->piece_count;
    struct drive_piece *both = calloc(move_count + count, sizeof *both);
    if (!both) {
        bind_report_memory(binder);
        return;
    }
    size_t made = 0;
    for (size_t m = 0, t = 0; m < move_count || t < count; made++) {
        const double move_start = m < move_count ? moves[m].start : INFINITY,
                     turn_start = t < count ? turns[t].start : INFINITY;
        both[made].start = fmin(move_start, turn_start);
        m += move_start <= turn_start;
        t += turn_start <= move_start;
        if (m > 0)
            both[made].velocity = moves[m - 1].velocity;
        if (t > 0)
            both[made].angular_velocity = turns[t - 1].velocity;
        drive->turns |= vec3_length(both[made].angular_velocity) > 0;
    }
    free(drive->pieces);
    drive->pieces = both;
    drive->piece_count = made;
}

static void bind_motion_of_drive(struct binder *binder, const struct bound *bound, mark at,
                                 struct scene_drive *drive)
{
    const struct dom_pair *velocity = bound_find(bound, "velocity");
    const struct dom_pair *angular = bound_find(bound, "angular_velocity");
    const struct dom_pair *center = bound_find(bound, "center");
    if (!velocity && !angular)
        bind_report(binder, at, NULL, "a drive must have 'velocity' or 'angular_velocity'");
    if (center && !angular)
        bind_report(binder, center->key_at, NULL,
                    "'center' is only for drives with 'angular_velocity'");
    if (velocity)
        drive->pieces = bind_pieces(binder, &velocity->value, "velocity", &drive->piece_count);
    size_t count = 0;
    struct drive_piece *turns =
        angular ? bind_pieces(binder, &angular->value, "angular_velocity", &count) : NULL;
    if (turns)
        add_turns(binder, turns, count, drive);
    free(turns);
}

static void bind_drives(struct binder *binder, const struct dom_value *value,
                        struct scene_body *body)
{
    size_t count;
    if (!value_list(binder, value, "drives", "drives", &count) || count == 0)
        return;
    body->drives = calloc(count, sizeof *body->drives);
    if (!body->drives) {
        bind_report_memory(binder);
        return;
    }
    body->drive_count = count;
    for (size_t i = 0; i < count; i++) {
        struct scene_drive *drive = &body->drives[i];
        struct schema_part part = {&schema_drive, drive, false};
        struct bound bound;
        const struct dom_value *item = &value->node->items[i];
        if (!bind_mapping(binder, item, schema_drive.what, &part, 1, false, &bound))
            continue;
        const struct dom_pair *node = bound_find(&bound, "node");
        const struct dom_pair *nodes = bound_find(&bound, "nodes");
        if (!node == !nodes)
            bind_report(binder, item->at, NULL, "a drive must have %s 'node' and 'nodes'",
                        node ? "only one of" : "one of");
        if (node)
            bind_node(binder, &node->value, body, &drive->node);
        if (nodes)
            drive->nodes = bind_selectors(binder, &nodes->value, "nodes", body, &drive->node_count);
        bind_motion_of_drive(binder, &bound, item->at, drive);
    }
}

// ---- Bodies

enum { LONGEST_NAME = 100 }; // names become file names

static bool is_name(const char *text)
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    return text[strspn(text, letters)] == '\0' && strlen(text) <= LONGEST_NAME;
}

static void bind_body_name(struct binder *binder, const struct dom_value *value,
                           struct scene_body *body)
{
    const char *text = value_text(binder, value, "name");
    body->at = value->at;
    if (!text)
        return;
    if (!is_name(text)) {
        bind_report(binder, value->at, NULL,
                    "'name' must be up to %d letters, digits, '_' and '-', not '%s'", LONGEST_NAME,
                    show_text(text).text);
        return;
    }
    body->name = strdup(text);
    if (!body->name)
        bind_report_memory(binder);
}

// The type, or BODY_TYPE_COUNT after an error.
static enum body_type bind_type(struct binder *binder, const struct dom_value *value)
{
    const struct dom_pair *type = dom_find(value->node, "type");
    if (!type)
        return BODY_TYPE_COUNT; // reported when the keys are bound
    int index = value_name(binder, &type->value, "type", body_type_names);
    return index < 0 ? BODY_TYPE_COUNT : (enum body_type)index;
}

// Binds the springs of every type except network, whose lists have them.
static void bind_kinds(struct binder *binder, const struct bound *bound, struct scene_body *body)
{
    if (body->type == BODY_OSCILLATOR || body->type == BODY_PENDULUM) {
        const bool has_spring =
            body->type == BODY_OSCILLATOR && body->shape.oscillator.model == OSCILLATOR_SPRING;
        body->kinds[0].present = bind_common_suffices(bound, body) &&
                                 (!has_spring || bind_common_limits(binder, bound, body));
        body->kinds[0].material = body->common;
    } else if (body->type != BODY_NETWORK) {
        bind_springs(binder, bound, body);
    }
}

static void bind_content(struct binder *binder, const struct bound *bound, struct scene_body *body)
{
    const struct dom_pair *pins = bound_find(bound, "pins"), *drives = bound_find(bound, "drives");
    body->common.has_rest_length = bound_find(bound, "rest_length") != NULL;
    bind_law(binder, bound, &body->common);
    bind_body_contact(binder, bound, body->type, &body->contact);
    if (body->type == BODY_NETWORK)
        bind_network(binder, bound, body);
    bind_shape(binder, bound, body);
    if (!bind_elastic(binder, bound, body)) {
        bind_mass(binder, bound, body);
        bind_kinds(binder, bound, body);
    }
    if (pins)
        body->pins = bind_selectors(binder, &pins->value, "pins", body, &body->pin_count);
    if (drives)
        bind_drives(binder, &drives->value, body);
}

static void bind_body(struct binder *binder, const struct dom_value *value, size_t index,
                      struct scene_body *body)
{
    struct schema_part parts[] = {
        {&schema_body, body, false}, {&schema_material, &body->common, false}, {NULL, body, false}};
    struct bound bound;
    struct label what = item_label(index, "bodies");
    body->at = value->at;
    body->common.break_at = body->common.yield_at = INFINITY;
    if (!value_mapping(binder, value, what.text))
        return;
    const struct dom_pair *name = dom_find(value->node, "name");
    if (name)
        bind_body_name(binder, &name->value, body);
    body->type = bind_type(binder, value);
    if (body->type == BODY_TYPE_COUNT) {
        // Without a type only the keys of all bodies can be checked.
        bind_mapping(binder, value, "a body", parts, 2, true, &bound);
        return;
    }
    if (body->type == BODY_SPHERE)
        body->shape.sphere.subdivisions = -1; // unknown until it is bound
    parts[2].table = &schema_shapes[body->type];
    bind_mapping(binder, value, schema_shapes[body->type].what, parts, 3, false, &bound);
    bind_content(binder, &bound, body);
}

// ---- Names are unique

static int compare_names(const void *a, const void *b)
{
    const struct scene_body *const *first = a, *const *second = b;
    int order = strcmp((*first)->name, (*second)->name);
    return order ? order : *first < *second ? -1 : *first > *second;
}

static void check_unique(struct binder *binder)
{
    taut_scene *scene = binder->scene;
    const struct scene_body **sorted = malloc(scene->body_count * sizeof *sorted);
    size_t count = 0;
    if (!sorted) {
        bind_report_memory(binder);
        return;
    }
    for (size_t i = 0; i < scene->body_count; i++)
        if (scene->bodies[i].name)
            sorted[count++] = &scene->bodies[i];
    binder->names_known = count == scene->body_count;
    qsort(sorted, count, sizeof *sorted, compare_names);
    for (size_t i = 1; i < count; i++)
        if (strcmp(sorted[i - 1]->name, sorted[i]->name) == 0)
            bind_report(binder, sorted[i]->at, NULL, "there are two bodies '%s'",
                        show_text(sorted[i]->name).text);
    binder->sorted_bodies = sorted;
    binder->sorted_body_count = count;
}

static int compare_with_body_name(const void *name, const void *body)
{
    const struct scene_body *const *it = body;
    return strcmp(name, (*it)->name);
}

const struct scene_body *bound_body(const struct binder *binder, const char *name)
{
    if (!binder->sorted_bodies)
        return NULL;
    const struct scene_body **found =
        bsearch(name, binder->sorted_bodies, binder->sorted_body_count,
                sizeof *binder->sorted_bodies, compare_with_body_name);
    return found ? *found : NULL;
}

void bind_bodies(struct binder *binder, const struct dom_value *value)
{
    taut_scene *scene = binder->scene;
    size_t count;
    if (!value_list(binder, value, "bodies", "bodies", &count))
        return;
    if (count == 0) {
        bind_report(binder, value->at, NULL, "'bodies' is empty; a scene has at least one body");
        return;
    }
    scene->bodies = calloc(count, sizeof *scene->bodies);
    if (!scene->bodies) {
        bind_report_memory(binder);
        return;
    }
    scene->body_count = count;
    for (size_t i = 0; i < count; i++)
        bind_body(binder, &value->node->items[i], i, &scene->bodies[i]);
    check_unique(binder);
}
