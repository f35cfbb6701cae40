// Choosing nodes of a body: pins, drives, and the node of a probe.
#include "scene/schema/bind.h"

#include <stdlib.h>
#include <string.h>

// The names by enum selector_type, from SELECT_FIRST on.
static const char *const selector_names[] = {
    [SELECT_FIRST] = "first", [SELECT_LAST] = "last", [SELECT_LEFT] = "left",
    [SELECT_RIGHT] = "right", [SELECT_TOP] = "top",   [SELECT_BOTTOM] = "bottom",
    [SELECT_FRONT] = "front", [SELECT_BACK] = "back", [SELECT_CORNERS] = "corners",
    [SELECT_EDGES] = "edges",
};

static bool type_has(enum body_type type, enum selector_type selector)
{
    switch (selector) {
    case SELECT_FIRST:
    case SELECT_LAST:
        return true;
    case SELECT_LEFT:
    case SELECT_RIGHT:
    case SELECT_TOP:
    case SELECT_BOTTOM:
    case SELECT_CORNERS:
    case SELECT_EDGES:
        return type == BODY_CLOTH || type == BODY_LATTICE;
    case SELECT_FRONT:
    case SELECT_BACK:
        return type == BODY_LATTICE;
    case SELECT_NODE:
    case SELECT_BOX:
        break;
    }
    return false;
}

// ---- Numbers

static bool is_number(const struct dom_node *node)
{
    return node->kind == DOM_SCALAR && node->plain && node->count > 0 &&
           strchr("+-.0123456789", node->text[0]);
}

static bool bind_number(struct binder *binder, const struct dom_value *value,
                        const struct scene_body *body, struct selector *selector)
{
    uint64_t nodes = body ? scene_body_nodes(body) : 0;
    *selector = (struct selector){.type = SELECT_NODE, .at = value->at};
    if (!value_count(binder, value, "a node number", NULL, &selector->node))
        return false;
    if (nodes > 0 && selector->node >= nodes)
        return bind_complain(binder, value->at, NULL,
                             "there is no node %llu: the body has %llu nodes, numbered from 0",
                             (unsigned long long)selector->node, (unsigned long long)nodes);
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
        return bind_complain(binder, value->at, nearest_name(value->node->text, names, 2),
                             "'node' must be first, last or a number, not '%s'",
                             show_text(value->node->text).text);
    }
    return bind_complain(binder, value->at, NULL, "'node' must be first, last or a number, not %s",
                         dom_kind_text(value->node));
}

// ---- Pins

static bool bind_box(struct binder *binder, const struct dom_value *value,
                     struct selector *selector)
{
    const struct dom_pair *box = dom_find(value->node, "box");
    if (!box || value->node->count != 1)
        return bind_complain(binder, value->at, NULL,
                             "a selection is a name, a number or {box: [[x, y, z], [x, y, z]]}");
    const struct dom_node *corners = box->value.node;
    if (corners->kind != DOM_LIST || corners->count != 2)
        return bind_complain(binder, box->value.at, NULL,
                             "'box' must be a list of 2 corners, [[x, y, z], [x, y, z]]");
    selector->type = SELECT_BOX;
    bool least = value_vector(binder, &corners->items[0], "box", &selector->min);
    bool greatest = value_vector(binder, &corners->items[1], "box", &selector->max);
    if (!least || !greatest)
        return false;
    if (selector->min.x > selector->max.x || selector->min.y > selector->max.y ||
        selector->min.z > selector->max.z)
        return bind_complain(binder, box->value.at, NULL,
                             "the first corner of 'box' must have the least coordinates");
    return true;
}

static bool bind_name(struct binder *binder, const struct dom_value *value,
                      const struct scene_body *body, struct selector *selector)
{
    enum { COUNT = sizeof selector_names / sizeof selector_names[0] };
    const char *names[COUNT];
    size_t count = 0;
    const char *text = value->node->text;
    for (int type = SELECT_FIRST; type < COUNT; type++) {
        if (!type_has(body->type, (enum selector_type)type))
            continue;
        names[count++] = selector_names[type];
        if (strcmp(selector_names[type], text) == 0) {
            selector->type = (enum selector_type)type;
            return true;
        }
    }
    for (int type = SELECT_FIRST; type < COUNT; type++)
        if (strcmp(selector_names[type], text) == 0)
            return bind_complain(binder, value->at, NULL, "%s has no nodes called '%s'",
                                 schema_shapes[body->type].what, text);
    return bind_complain(binder, value->at, nearest_name(text, names, count),
                         "unknown selection '%s' of nodes", show_text(text).text);
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

void bind_pins(struct binder *binder, const struct dom_value *value, struct scene_body *body)
{
    size_t count;
    if (!value_list(binder, value, "pins", "selections, such as [first, 3]", &count) || count == 0)
        return;
    body->pins = calloc(count, sizeof *body->pins);
    if (!body->pins) {
        bind_complain_memory(binder);
        return;
    }
    body->pin_count = count;
    for (size_t i = 0; i < count; i++)
        bind_selector(binder, &value->node->items[i], body, &body->pins[i]);
}

// ---- Drives

static bool bind_piece(struct binder *binder, const struct dom_value *value,
                       struct drive_piece *piece)
{
    static const struct range not_negative = RANGE_NOT_NEGATIVE;
    const struct dom_node *node = value->node;
    if (node->kind != DOM_LIST || node->count != 2)
        return bind_complain(binder, value->at, NULL,
                             "a piece of 'velocity' is a time and a vector, [t, [x, y, z]]");
    bool start =
        value_number(binder, &node->items[0], "the time of a piece", &not_negative, &piece->start);
    return value_vector(binder, &node->items[1], "velocity", &piece->velocity) && start;
}

static bool is_vector(const struct dom_node *list)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->items[i].node->kind != DOM_SCALAR)
            return false;
    return list->count > 0;
}

static void bind_pieces(struct binder *binder, const struct dom_value *value,
                        struct scene_drive *drive)
{
    size_t count;
    if (!value_list(binder, value, "velocity", "[t, [x, y, z]]", &count))
        return;
    bool constant = is_vector(value->node);
    if (count == 0) {
        bind_complain(binder, value->at, NULL, "'velocity' of a drive is empty");
        return;
    }
    drive->piece_count = constant ? 1 : count;
    drive->pieces = calloc(drive->piece_count, sizeof *drive->pieces);
    if (!drive->pieces) {
        drive->piece_count = 0;
        bind_complain_memory(binder);
        return;
    }
    if (constant) {
        value_vector(binder, value, "velocity", &drive->pieces[0].velocity);
        return;
    }
    bool sound = true;
    for (size_t i = 0; i < count; i++) {
        const struct dom_value *item = &value->node->items[i];
        sound = bind_piece(binder, item, &drive->pieces[i]) && sound;
        if (sound && i > 0 && drive->pieces[i].start <= drive->pieces[i - 1].start)
            sound = bind_complain(binder, item->node->items[0].at, NULL,
                                  "the times of a drive must grow from piece to piece");
    }
}

void bind_drives(struct binder *binder, const struct dom_value *value, struct scene_body *body)
{
    size_t count;
    if (!value_list(binder, value, "drives", "drives", &count) || count == 0)
        return;
    body->drives = calloc(count, sizeof *body->drives);
    if (!body->drives) {
        bind_complain_memory(binder);
        return;
    }
    body->drive_count = count;
    for (size_t i = 0; i < count; i++) {
        struct scene_drive *drive = &body->drives[i];
        struct schema_part part = {&schema_drive, drive, false};
        struct bound bound;
        if (!bind_mapping(binder, &value->node->items[i], schema_drive.what, &part, 1, false,
                          &bound))
            continue;
        const struct dom_pair *node = bound_find(&bound, "node");
        const struct dom_pair *velocity = bound_find(&bound, "velocity");
        if (node)
            bind_node(binder, &node->value, body, &drive->node);
        if (velocity)
            bind_pieces(binder, &velocity->value, drive);
    }
}
