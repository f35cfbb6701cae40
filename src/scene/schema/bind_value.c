// Single values: a scalar, or a short list of numbers.
#include "scene/schema/binder.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scene/text/number.h"

struct label item_label(size_t index, const char *list)
{
    struct label label;
    snprintf(label.text, sizeof label.text, "item %zu of '%s'", index, list);
    return label;
}

// The names of keys come bare and are quoted; labels of items come as they are.
static struct label quote(const char *name)
{
    struct label label;
    bool bare = name[0] != '\'' && !strchr(name, ' ');
    snprintf(label.text, sizeof label.text, bare ? "'%s'" : "%s", name);
    return label;
}

static bool complain_type(struct binder *binder, const struct dom_value *value, const char *name,
                          const char *wanted)
{
    const struct dom_node *node = value->node;
    if (node->kind == DOM_SCALAR && node->plain && node->count == 0)
        return bind_complain(binder, value->at, NULL, "%s has no value; it must be %s",
                             quote(name).text, wanted);
    if (node->kind == DOM_SCALAR && node->plain)
        return bind_complain(binder, value->at, NULL, "%s must be %s, not '%s'", quote(name).text,
                             wanted, show_text(node->text).text);
    return bind_complain(binder, value->at, NULL, "%s must be %s, not %s", quote(name).text, wanted,
                         dom_kind_text(node));
}

// ---- Numbers

static bool in_range(const struct range *range, double number)
{
    if (!range->limited)
        return true;
    return (range->open ? number > range->min : number >= range->min) && number <= range->max;
}

const char *range_text(const struct range *range, char buffer[RANGE_TEXT])
{
    if (isinf(range->max))
        snprintf(buffer, RANGE_TEXT, "%s %.15g", range->open ? ">" : ">=", range->min);
    else if (range->open)
        snprintf(buffer, RANGE_TEXT, "in (%.15g, %.15g]", range->min, range->max);
    else
        snprintf(buffer, RANGE_TEXT, "from %.15g to %.15g", range->min, range->max);
    return buffer;
}

static bool check_range(struct binder *binder, const struct dom_value *value, const char *name,
                        const struct range *range, double number)
{
    char buffer[RANGE_TEXT];
    if (!range || in_range(range, number))
        return true;
    return bind_complain(binder, value->at, NULL, "%s must be %s, not %s", quote(name).text,
                         range_text(range, buffer), show_text(value->node->text).text);
}

// Says why a plain scalar is not the number that is wanted.
static bool complain_number(struct binder *binder, const struct dom_value *value, const char *name,
                            const char *wanted, enum number_fault fault)
{
    if (fault == NUMBER_EMPTY)
        return complain_type(binder, value, name, wanted);
    return bind_complain(binder, value->at, NULL, "%s must be %s, but '%s' %s", quote(name).text,
                         wanted, show_text(value->node->text).text, number_fault_text(fault));
}

bool value_number(struct binder *binder, const struct dom_value *value, const char *name,
                  const struct range *range, double *number)
{
    const struct dom_node *node = value->node;
    double parsed;
    if (node->kind != DOM_SCALAR || !node->plain)
        return complain_type(binder, value, name, "a number");
    enum number_fault fault = number_parse(node->text, node->count, &parsed);
    if (fault != NUMBER_OK)
        return complain_number(binder, value, name, "a number", fault);
    if (!check_range(binder, value, name, range, parsed))
        return false;
    *number = parsed;
    return true;
}

bool value_count(struct binder *binder, const struct dom_value *value, const char *name,
                 const struct range *range, uint64_t *count)
{
    const struct dom_node *node = value->node;
    uint64_t parsed;
    if (node->kind != DOM_SCALAR || !node->plain)
        return complain_type(binder, value, name, "a whole number");
    enum number_fault fault = number_parse_count(node->text, node->count, &parsed);
    if (fault == NUMBER_NEGATIVE && range && range->limited)
        return check_range(binder, value, name, range, -1);
    if (fault != NUMBER_OK)
        return complain_number(binder, value, name, "a whole number", fault);
    if (!check_range(binder, value, name, range, (double)parsed))
        return false;
    *count = parsed;
    return true;
}

static bool value_counts(struct binder *binder, const struct dom_value *value, const char *name,
                         const struct range *range, uint64_t *counts, size_t count)
{
    const struct dom_node *node = value->node;
    const char *wanted = count == 2 ? "a list of 2 whole numbers" : "a list of 3 whole numbers";
    if (node->kind != DOM_LIST)
        return complain_type(binder, value, name, wanted);
    if (node->count != count)
        return bind_complain(binder, value->at, NULL, "%s must be %s, not of %zu", quote(name).text,
                             wanted, node->count);
    bool sound = true;
    for (size_t i = 0; i < count; i++)
        sound = value_count(binder, &node->items[i], name, range, &counts[i]) && sound;
    return sound;
}

bool value_vector(struct binder *binder, const struct dom_value *value, const char *name,
                  vec3 *vector)
{
    const struct dom_node *node = value->node;
    const char *wanted = "a list of 3 numbers";
    if (node->kind != DOM_LIST)
        return complain_type(binder, value, name, wanted);
    if (node->count != 3)
        return bind_complain(binder, value->at, NULL, "%s must be %s, not of %zu", quote(name).text,
                             wanted, node->count);
    double numbers[3] = {0, 0, 0};
    bool sound = true;
    for (size_t i = 0; i < 3; i++)
        sound = value_number(binder, &node->items[i], name, NULL, &numbers[i]) && sound;
    if (sound)
        *vector = vec3_make(numbers[0], numbers[1], numbers[2]);
    return sound;
}

// Scaled first, so that no square overflows or vanishes.
static bool value_direction(struct binder *binder, const struct dom_value *value, const char *name,
                            vec3 *direction)
{
    vec3 given = {0, 0, 0};
    if (!value_vector(binder, value, name, &given))
        return false;
    double largest = fmax(fabs(given.x), fmax(fabs(given.y), fabs(given.z)));
    if (largest == 0)
        return bind_complain(binder, value->at, NULL,
                             "%s is a direction; it cannot be zero in all three components",
                             quote(name).text);
    vec3 scaled = vec3_make(given.x / largest, given.y / largest, given.z / largest);
    double length = vec3_length(scaled);
    *direction = vec3_make(scaled.x / length, scaled.y / length, scaled.z / length);
    return true;
}

// ---- Words

bool value_boolean(struct binder *binder, const struct dom_value *value, const char *name,
                   bool *boolean)
{
    const struct dom_node *node = value->node;
    bool word = node->kind == DOM_SCALAR && node->plain;
    bool yes = word && strcmp(node->text, "true") == 0;
    if (!yes && !(word && strcmp(node->text, "false") == 0))
        return complain_type(binder, value, name, "true or false");
    *boolean = yes;
    return true;
}

const char *value_text(struct binder *binder, const struct dom_value *value, const char *name)
{
    const struct dom_node *node = value->node;
    if (node->kind == DOM_SCALAR && node->count > 0)
        return node->text;
    if (node->kind == DOM_SCALAR)
        bind_complain(binder, value->at, NULL, "%s has no text", quote(name).text);
    else
        complain_type(binder, value, name, "text");
    return NULL;
}

static void list_names(const char *const *names, size_t count, char *buffer, size_t size)
{
    size_t used = 0;
    for (size_t i = 0; i < count && used < size; i++) {
        const char *between = i == 0 ? "" : i + 1 == count ? " or " : ", ";
        int written = snprintf(buffer + used, size - used, "%s%s", between, names[i]);
        used += written > 0 ? (size_t)written : 0;
    }
}

int value_name(struct binder *binder, const struct dom_value *value, const char *name,
               const char *const *names)
{
    const struct dom_node *node = value->node;
    size_t count = 0;
    for (; names[count]; count++)
        if (node->kind == DOM_SCALAR && strcmp(names[count], node->text) == 0)
            return (int)count;
    char wanted[400];
    list_names(names, count, wanted, sizeof wanted);
    if (node->kind != DOM_SCALAR || node->count == 0)
        complain_type(binder, value, name, wanted);
    else
        bind_complain(binder, value->at, nearest_name(node->text, names, count),
                      "%s must be %s, not '%s'", quote(name).text, wanted,
                      show_text(node->text).text);
    return -1;
}

// ---- Containers

bool value_list(struct binder *binder, const struct dom_value *value, const char *name,
                const char *of, size_t *count)
{
    char wanted[100];
    snprintf(wanted, sizeof wanted, "a list of %s", of);
    *count = 0;
    if (value->node->kind != DOM_LIST)
        return complain_type(binder, value, name, wanted);
    *count = value->node->count;
    return true;
}

bool value_mapping(struct binder *binder, const struct dom_value *value, const char *name)
{
    if (value->node->kind != DOM_MAPPING)
        return complain_type(binder, value, name, "a mapping of keys");
    return true;
}

// ---- By the schema

bool bind_value(struct binder *binder, const struct schema_key *key, const struct dom_value *value,
                void *field)
{
    const struct range *range = key->range.limited ? &key->range : NULL;
    uint64_t count = 0;
    const char *text;
    char **copy = field;
    switch (key->type) {
    case VALUE_NUMBER:
        return value_number(binder, value, key->name, range, field);
    case VALUE_COUNT:
        return value_count(binder, value, key->name, range, field);
    case VALUE_SMALL:
        if (!value_count(binder, value, key->name, range, &count) || count > INT_MAX)
            return false;
        *(int *)field = (int)count;
        return true;
    case VALUE_BOOLEAN:
        return value_boolean(binder, value, key->name, field);
    case VALUE_TEXT:
        text = value_text(binder, value, key->name);
        *copy = text ? strdup(text) : NULL;
        return *copy || (text && bind_complain_memory(binder));
    case VALUE_NAME: {
        int index = value_name(binder, value, key->name, key->names);
        if (index >= 0)
            memcpy(field, &index, sizeof index);
        return index >= 0;
    }
    case VALUE_VECTOR:
        return value_vector(binder, value, key->name, field);
    case VALUE_DIRECTION:
        return value_direction(binder, value, key->name, field);
    case VALUE_COUNTS_2:
        return value_counts(binder, value, key->name, range, field, 2);
    case VALUE_COUNTS_3:
        return value_counts(binder, value, key->name, range, field, 3);
    case VALUE_LATER:
        break;
    }
    return true;
}
