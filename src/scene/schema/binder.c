// Binding by tables: mappings with their unknown, missing and excluded keys, defaults, single
// values. bind_simulation.c, bind_bodies.c and bind_springs.c bind what the tables cannot express.
#include "scene/schema/binder.h"

#include <ctype.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scene/text/number.h"

bool bind_report(struct binder *binder, mark at, const char *hint, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    document_report_va(binder->document, binder->diagnostics, at, hint, format, arguments);
    va_end(arguments);
    return false;
}

bool bind_report_memory(struct binder *binder)
{
    binder->diagnostics->failure = TAUT_ERROR_MEMORY;
    return bind_report(binder, (mark){0, 0}, NULL, "out of memory while reading the scene");
}

// ---- Single values

struct label item_label(size_t index, const char *list)
{
    struct label label;
    snprintf(label.text, sizeof label.text, "item %zu of '%s'", index, list);
    return label;
}

// Quotes the name of a key; labels of items are printed unchanged.
static struct label quote(const char *name)
{
    struct label label;
    bool bare = name[0] != '\'' && !strchr(name, ' ');
    snprintf(label.text, sizeof label.text, bare ? "'%s'" : "%s", name);
    return label;
}

static bool report_type(struct binder *binder, const struct dom_value *value, const char *name,
                        const char *wanted)
{
    const struct dom_node *node = value->node;
    if (node->kind == DOM_SCALAR && node->plain && node->count == 0)
        return bind_report(binder, value->at, NULL, "%s has no value; it must be %s",
                           quote(name).text, wanted);
    if (node->kind == DOM_SCALAR && node->plain)
        return bind_report(binder, value->at, NULL, "%s must be %s, not '%s'", quote(name).text,
                           wanted, show_text(node->text).text);
    return bind_report(binder, value->at, NULL, "%s must be %s, not %s", quote(name).text, wanted,
                       dom_kind_text(node));
}

// ---- Numbers

static bool in_range(const struct value_range *range, double number)
{
    if (!range->limited)
        return true;
    return (range->open ? number > range->min : number >= range->min) && number <= range->max;
}

const char *range_text(const struct value_range *range, char buffer[RANGE_TEXT])
{
    if (isinf(range->max))
        snprintf(buffer, RANGE_TEXT, "%s %.15g", range->open ? ">" : ">=", range->min);
    else if (range->open)
        snprintf(buffer, RANGE_TEXT, "above %.15g and at most %.15g", range->min, range->max);
    else
        snprintf(buffer, RANGE_TEXT, "from %.15g to %.15g", range->min, range->max);
    return buffer;
}

static bool check_range(struct binder *binder, const struct dom_value *value, const char *name,
                        const struct value_range *range, double number)
{
    char buffer[RANGE_TEXT];
    if (!range || in_range(range, number))
        return true;
    return bind_report(binder, value->at, NULL, "%s must be %s, not %s", quote(name).text,
                       range_text(range, buffer), show_text(value->node->text).text);
}

// Reports why a plain scalar is not the expected number.
static bool report_number(struct binder *binder, const struct dom_value *value, const char *name,
                          const char *wanted, enum number_fault fault)
{
    if (fault == NUMBER_EMPTY || fault == NUMBER_NOT_WHOLE)
        return report_type(binder, value, name, wanted);
    if (fault == NUMBER_JUNK) {
        double number;
        const char *text = value->node->text;
        const size_t digits = strspn(text, "+-.0123456789");
        const bool has_unit = number_parse(text, digits, &number) == NUMBER_OK &&
                              strspn(text + digits, " ") + digits < value->node->count &&
                              isalpha((unsigned char)text[digits + strspn(text + digits, " ")]);
        return bind_report(binder, value->at, NULL, "%s must be %s, not '%s'%s", quote(name).text,
                           wanted, show_text(text).text,
                           has_unit ? "; numbers are in SI units and have no unit" : "");
    }
    return bind_report(binder, value->at, NULL, "%s must be %s, but '%s' %s", quote(name).text,
                       wanted, show_text(value->node->text).text, number_fault_text(fault));
}

bool value_double(struct binder *binder, const struct dom_value *value, const char *name,
                  const struct value_range *range, double *number)
{
    const struct dom_node *node = value->node;
    double parsed;
    if (node->kind != DOM_SCALAR || !node->plain)
        return report_type(binder, value, name, "a number");
    enum number_fault fault = number_parse(node->text, node->count, &parsed);
    if (fault != NUMBER_OK)
        return report_number(binder, value, name, "a number", fault);
    if (!check_range(binder, value, name, range, parsed))
        return false;
    *number = parsed;
    return true;
}

bool value_number(struct binder *binder, const struct dom_value *value, const char *name,
                  const struct value_range *range, double *number)
{
    double given = 0;
    if (!value_double(binder, value, name, range, &given))
        return false;
    const char *reason = precision_lacks(binder->scene->precision, given, range != NULL);
    if (reason && binder->precision_known)
        return bind_report(binder, value->at, NULL, "%s is %s, which %s", quote(name).text,
                           show_text(value->node->text).text, reason);
    *number = given;
    return true;
}

bool value_count(struct binder *binder, const struct dom_value *value, const char *name,
                 const struct value_range *range, uint64_t *count)
{
    const struct dom_node *node = value->node;
    uint64_t parsed;
    if (node->kind != DOM_SCALAR || !node->plain)
        return report_type(binder, value, name, "a whole number");
    enum number_fault fault = number_parse_count(node->text, node->count, &parsed);
    if (fault == NUMBER_NEGATIVE && range && range->limited)
        return check_range(binder, value, name, range, -1);
    if (fault == NUMBER_TOO_LARGE && range && range->limited && isfinite(range->max))
        return check_range(binder, value, name, range, INFINITY);
    if (fault != NUMBER_OK)
        return report_number(binder, value, name, "a whole number", fault);
    if (!check_range(binder, value, name, range, (double)parsed))
        return false;
    *count = parsed;
    return true;
}

static bool value_counts(struct binder *binder, const struct dom_value *value, const char *name,
                         const struct value_range *range, uint64_t *counts, size_t count)
{
    const struct dom_node *node = value->node;
    const char *wanted = count == 2 ? "a list of 2 whole numbers" : "a list of 3 whole numbers";
    if (node->kind != DOM_LIST)
        return report_type(binder, value, name, wanted);
    if (node->count != count)
        return bind_report(binder, value->at, NULL, "%s must be %s, not of %zu", quote(name).text,
                           wanted, node->count);
    bool valid = true;
    for (size_t i = 0; i < count; i++)
        valid = value_count(binder, &node->items[i], name, range, &counts[i]) && valid;
    return valid;
}

typedef bool bind_component(struct binder *binder, const struct dom_value *value, const char *name,
                            const struct value_range *range, double *number);

// Whether items of a list are what follows a decimal comma: [0, -9,81, 0] has 4 items, of which
// "81" is all digits and follows a whole number.
static bool has_decimal_commas(const struct dom_node *list, size_t wanted)
{
    size_t decimals = 0;
    bool whole = false; // the item before may be the part before a comma
    if (list->count <= wanted || list->count > 2 * wanted)
        return false;
    for (size_t i = 0; i < list->count; i++) {
        const struct dom_node *item = list->items[i].node;
        if (item->kind != DOM_SCALAR || !item->plain || item->count == 0)
            return false;
        const char *digits = item->text + (item->text[0] == '-' || item->text[0] == '+');
        const bool all_digits = digits[strspn(digits, "0123456789")] == '\0' && *digits != '\0';
        const bool follows = whole && all_digits && digits == item->text;
        decimals += follows;
        whole = all_digits && !follows;
    }
    return list->count - decimals <= wanted;
}

static bool bind_vector(struct binder *binder, const struct dom_value *value, const char *name,
                        bind_component *bind, vec3 *vector)
{
    const struct dom_node *node = value->node;
    const char *wanted = "a list of 3 numbers";
    if (node->kind != DOM_LIST)
        return report_type(binder, value, name, wanted);
    if (node->count != 3)
        return bind_report(binder, value->at, NULL, "%s must be %s, not of %zu%s", quote(name).text,
                           wanted, node->count,
                           has_decimal_commas(node, 3)
                               ? "; a comma separates numbers, the decimal separator is a point"
                               : "");
    double numbers[3] = {0, 0, 0};
    bool valid = true;
    char component[100];
    snprintf(component, sizeof component, "a component of %s", quote(name).text);
    for (size_t i = 0; i < 3; i++)
        valid = bind(binder, &node->items[i], component, NULL, &numbers[i]) && valid;
    if (valid)
        *vector = vec3_make(numbers[0], numbers[1], numbers[2]);
    return valid;
}

bool value_vector(struct binder *binder, const struct dom_value *value, const char *name,
                  vec3 *vector)
{
    return bind_vector(binder, value, name, value_number, vector);
}

bool value_vector_double(struct binder *binder, const struct dom_value *value, const char *name,
                         vec3 *vector)
{
    return bind_vector(binder, value, name, value_double, vector);
}

// Scaled first, so that no square overflows or underflows.
static bool value_direction(struct binder *binder, const struct dom_value *value, const char *name,
                            vec3 *direction)
{
    vec3 given = {0, 0, 0};
    if (!value_vector_double(binder, value, name, &given))
        return false;
    double largest = fmax(fabs(given.x), fmax(fabs(given.y), fabs(given.z)));
    if (largest == 0)
        return bind_report(binder, value->at, NULL,
                           "%s is a direction; it cannot be zero in all three components",
                           quote(name).text);
    vec3 scaled = vec3_make(given.x / largest, given.y / largest, given.z / largest);
    double length = vec3_length(scaled);
    *direction = vec3_make(scaled.x / length, scaled.y / length, scaled.z / length);
    return true;
}

// ---- Words

bool value_boolean(struct binder *binder, const struct dom_value *value, const char *name,
                   const char *wanted, bool *boolean)
{
    const struct dom_node *node = value->node;
    bool word = node->kind == DOM_SCALAR && node->plain;
    bool yes = word && strcmp(node->text, "true") == 0;
    if (!yes && !(word && strcmp(node->text, "false") == 0)) {
        static const char *const words[] = {"true", "false"};
        const char *nearest = word ? nearest_name(node->text, words, 2) : NULL;
        return nearest ? bind_report(binder, value->at, nearest, "%s must be %s, not '%s'",
                                     quote(name).text, wanted, show_text(node->text).text)
                       : report_type(binder, value, name, wanted);
    }
    *boolean = yes;
    return true;
}

const char *value_text(struct binder *binder, const struct dom_value *value, const char *name)
{
    const struct dom_node *node = value->node;
    if (node->kind == DOM_SCALAR && node->count > 0)
        return node->text;
    if (node->kind == DOM_SCALAR)
        bind_report(binder, value->at, NULL, "%s has no text", quote(name).text);
    else
        report_type(binder, value, name, "text");
    return NULL;
}

struct name_list list_names(const char *const *names, size_t count)
{
    struct name_list list = {""};
    const size_t size = sizeof list.text;
    size_t used = 0;
    for (size_t i = 0; i < count && used < size; i++) {
        const char *between = i == 0 ? "" : i + 1 == count ? " or " : ", ";
        int written = snprintf(list.text + used, size - used, "%s%s", between, names[i]);
        used += written > 0 ? (size_t)written : 0;
    }
    return list;
}

int value_name(struct binder *binder, const struct dom_value *value, const char *name,
               const char *const *names)
{
    const struct dom_node *node = value->node;
    size_t count = 0;
    for (; names[count]; count++)
        if (node->kind == DOM_SCALAR && strcmp(names[count], node->text) == 0)
            return (int)count;
    const struct name_list wanted = list_names(names, count);
    if (node->kind != DOM_SCALAR || node->count == 0)
        report_type(binder, value, name, wanted.text);
    else
        bind_report(binder, value->at, nearest_name(node->text, names, count),
                    "%s must be %s, not '%s'", quote(name).text, wanted.text,
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
        return report_type(binder, value, name, wanted);
    *count = value->node->count;
    return true;
}

bool value_mapping(struct binder *binder, const struct dom_value *value, const char *name)
{
    if (value->node->kind != DOM_MAPPING)
        return report_type(binder, value, name, "a mapping of keys");
    return true;
}

// ---- By the schema tables

// A number, or {kes: NUMBER} in the unit that the key has in Kawabata's evaluation system.
static bool bind_number(struct binder *binder, const struct schema_key *key,
                        const struct dom_value *value, double *number)
{
    const struct value_range *range = key->range.limited ? &key->range : NULL;
    if (key->kes == 0 || value->node->kind != DOM_MAPPING)
        return (key->in_double ? value_double : value_number)(binder, value, key->name, range,
                                                              number);
    const struct dom_pair *kes = dom_find(value->node, "kes");
    if (!kes || value->node->count != 1)
        return bind_report(binder, value->at, NULL,
                           "'%s' is a number in %s, or {kes: NUMBER} in the unit of Kawabata's "
                           "evaluation system",
                           key->name, key->unit);
    double given = 0;
    if (!value_double(binder, &kes->value, "kes", range, &given))
        return false;
    *number = given * key->kes;
    return true;
}

// A list of two numbers, or one for both.
static bool bind_numbers(struct binder *binder, const struct schema_key *key,
                         const struct dom_value *value, double *numbers)
{
    const struct dom_node *node = value->node;
    if (node->kind != DOM_LIST) {
        const bool valid = bind_number(binder, key, value, &numbers[0]);
        numbers[1] = numbers[0];
        return valid;
    }
    if (node->count != 2)
        return bind_report(binder, value->at, NULL,
                           "'%s' must be a number or a list of 2 numbers, not of %zu", key->name,
                           node->count);
    const bool first = bind_number(binder, key, &node->items[0], &numbers[0]);
    return bind_number(binder, key, &node->items[1], &numbers[1]) && first;
}

// Binds a key's value into the struct field at `field`.
static bool bind_value(struct binder *binder, const struct schema_key *key,
                       const struct dom_value *value, void *field)
{
    const struct value_range *range = key->range.limited ? &key->range : NULL;
    uint64_t count = 0;
    const char *text;
    char **copy = field;
    switch (key->type) {
    case VALUE_NUMBER:
        return bind_number(binder, key, value, field);
    case VALUE_PAIR:
        return bind_numbers(binder, key, value, field);
    case VALUE_COUNT:
        return value_count(binder, value, key->name, range, field);
    case VALUE_SMALL:
        if (!value_count(binder, value, key->name, range, &count) || count > INT_MAX)
            return false;
        *(int *)field = (int)count;
        return true;
    case VALUE_BOOLEAN:
        return value_boolean(binder, value, key->name, "true or false", field);
    case VALUE_TEXT:
        text = value_text(binder, value, key->name);
        *copy = text ? strdup(text) : NULL;
        return *copy || (text && bind_report_memory(binder));
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

// ---- Defaults

// Parses the numbers of a default, a number or a list in brackets. The tables are part of the
// program, so an error would be a bug; the tests of the tables detect it.
static void default_numbers(const char *text, double *numbers, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        text += strspn(text, "[ ,");
        size_t length = strcspn(text, ",]");
        number_parse(text, length, &numbers[i]);
        text += length;
    }
}

static void write_default(const struct schema_key *key, void *field)
{
    double numbers[3] = {0, 0, 0};
    switch (key->type) {
    case VALUE_NUMBER:
        default_numbers(key->initial, field, 1);
        break;
    case VALUE_PAIR:
        default_numbers(key->initial, numbers, 1);
        ((double *)field)[0] = ((double *)field)[1] = numbers[0];
        break;
    case VALUE_COUNT:
        default_numbers(key->initial, numbers, 1);
        *(uint64_t *)field = (uint64_t)numbers[0];
        break;
    case VALUE_SMALL:
        default_numbers(key->initial, numbers, 1);
        *(int *)field = (int)numbers[0];
        break;
    case VALUE_BOOLEAN:
        *(bool *)field = strcmp(key->initial, "true") == 0;
        break;
    case VALUE_VECTOR:
    case VALUE_DIRECTION:
        default_numbers(key->initial, numbers, 3);
        *(vec3 *)field = vec3_make(numbers[0], numbers[1], numbers[2]);
        break;
    case VALUE_NAME:
        for (int i = 0; key->names[i]; i++)
            if (strcmp(key->names[i], key->initial) == 0)
                memcpy(field, &i, sizeof i);
        break;
    case VALUE_TEXT:
    case VALUE_COUNTS_2:
    case VALUE_COUNTS_3:
    case VALUE_LATER:
        break;
    }
}

void bind_defaults(const struct schema_table *table, void *target)
{
    for (size_t i = 0; i < table->count; i++)
        if (table->keys[i].initial)
            write_default(&table->keys[i], (char *)target + table->keys[i].offset);
}

// ---- Unknown keys

static const struct schema_key *find_key(const struct schema_table *table, const char *name,
                                         size_t *index)
{
    for (size_t i = 0; i < table->count; i++)
        if (strcmp(table->keys[i].name, name) == 0) {
            *index = i;
            return &table->keys[i];
        }
    return NULL;
}

// The table of `tables` that has a key, provided that another one of them is part of the mapping:
// "pressure" in a rope is not a typing error.
static const char *find_owner_in(const struct bound *bound, const struct schema_table *tables,
                                 size_t count, const char *key)
{
    const char *owner = NULL;
    bool concerned = false;
    size_t index;
    for (size_t i = 0; i < count; i++) {
        for (size_t p = 0; p < bound->part_count; p++)
            concerned = concerned || bound->parts[p].table == &tables[i];
        if (!owner && find_key(&tables[i], key, &index))
            owner = tables[i].what;
    }
    return concerned ? owner : NULL;
}

// The section of a scene that has a key, which was given in another one: "precision" in
// `simulation`.
static const char *find_section(const struct bound *bound, const char *key)
{
    static const struct schema_table *const sections[] = {&schema_scene,    &schema_simulation,
                                                          &schema_implicit, &schema_environment,
                                                          &schema_wind,     &schema_output};
    enum { SECTION_COUNT = sizeof sections / sizeof sections[0] };
    const char *owner = NULL;
    bool concerned = false;
    size_t index;
    for (size_t i = 0; i < SECTION_COUNT; i++) {
        concerned |= bound->parts[0].table == sections[i];
        if (!owner && find_key(sections[i], key, &index))
            owner = sections[i]->what;
    }
    return concerned ? owner : NULL;
}

static const char *find_owner(const struct bound *bound, const char *key)
{
    const char *owner = find_owner_in(bound, schema_shapes, BODY_TYPE_COUNT, key);
    if (!owner)
        owner = find_owner_in(bound, schema_collider_shapes, COLLIDER_TYPE_COUNT, key);
    return owner ? owner : find_section(bound, key);
}

// Records that an unknown key was probably meant to be the key `name`.
static void mark_as_misspelt(struct bound *bound, const char *name)
{
    size_t index;
    for (size_t p = 0; name && p < bound->part_count; p++)
        if (find_key(bound->parts[p].table, name, &index))
            bound->misspelt[p] |= UINT64_C(1) << index;
}

// Whether a key is what follows the decimal comma in {dt: 0,001}.
static bool is_decimals(const struct dom_pair *pair)
{
    const struct dom_node *node = pair->value.node;
    return pair->key[strspn(pair->key, "0123456789")] == '\0' && node->kind == DOM_SCALAR &&
           node->plain && node->count == 0;
}

static void report_unknown(struct binder *binder, struct bound *bound, const struct dom_pair *pair)
{
    enum { CANDIDATES_MAX = 64 };
    const char *candidates[CANDIDATES_MAX];
    size_t count = 0;
    if (binder->diagnostics->count >= DIAGNOSTICS_MAX) {
        bind_report(binder, pair->key_at, NULL, "unknown key");
        return;
    }
    for (size_t p = 0; p < bound->part_count; p++)
        for (size_t i = 0; i < bound->parts[p].table->count && count < CANDIDATES_MAX; i++)
            candidates[count++] = bound->parts[p].table->keys[i].name;
    const char *owner = find_owner(bound, pair->key);
    const char *instead = NULL;
    for (size_t p = 0; p < bound->part_count && !instead; p++)
        instead = schema_instead(bound->parts[p].table, pair->key);
    struct shown key = show_text(pair->key);
    const char *hint = owner || instead ? NULL : nearest_name(pair->key, candidates, count);
    if (instead)
        bind_report(binder, pair->key_at, NULL, "%s takes no '%s': %s", bound->what, key.text,
                    instead);
    else if (owner)
        bind_report(binder, pair->key_at, NULL, "%s takes no '%s'; %s does", bound->what, key.text,
                    owner);
    else if (is_decimals(pair))
        bind_report(
            binder, pair->key_at, NULL,
            "unknown key '%s' in %s; a comma ends a value, the decimal separator is a point",
            key.text, bound->what);
    else
        bind_report(binder, pair->key_at, hint, "unknown key '%s' in %s", key.text, bound->what);
    mark_as_misspelt(bound, hint);
}

// ---- Mappings

static void bind_pair(struct binder *binder, struct bound *bound, const struct dom_pair *pair,
                      bool partly)
{
    size_t index;
    for (size_t p = 0; p < bound->part_count; p++) {
        const struct schema_part *part = &bound->parts[p];
        const struct schema_key *key = find_key(part->table, pair->key, &index);
        if (!key)
            continue;
        bool valid = key->type == VALUE_LATER ||
                     bind_value(binder, key, &pair->value, (char *)part->target + key->offset);
        uint64_t bit = UINT64_C(1) << index;
        bound->valid[p] = valid ? bound->valid[p] | bit : bound->valid[p] & ~bit;
        return;
    }
    if (!partly)
        report_unknown(binder, bound, pair);
}

// A key that takes one of some names is reported with them.
static void report_missing(struct binder *binder, const struct dom_value *value, const char *what,
                           const struct schema_key *key)
{
    size_t count = 0;
    while (key->names && key->names[count])
        count++;
    const struct name_list names = list_names(key->names, count);
    bind_report(binder, value->at, NULL, "'%s' is missing in %s%s%s", key->name, what,
                count > 0 ? "; it must be " : "", names.text);
}

bool bind_mapping(struct binder *binder, const struct dom_value *value, const char *what,
                  const struct schema_part *parts, size_t part_count, bool partly,
                  struct bound *bound)
{
    *bound = (struct bound){.at = value->at, .what = what, .part_count = part_count};
    for (size_t p = 0; p < part_count; p++) {
        const struct schema_table *table = parts[p].table;
        bound->parts[p] = parts[p];
        if (!parts[p].inherit)
            bind_defaults(table, parts[p].target);
        for (size_t i = 0; i < table->count; i++)
            if (table->keys[i].initial || parts[p].inherit)
                bound->valid[p] |= UINT64_C(1) << i;
    }
    if (!value_mapping(binder, value, what))
        return false;
    bound->mapping = value->node;
    for (size_t i = 0; i < value->node->count; i++)
        bind_pair(binder, bound, &value->node->pairs[i], partly);
    for (size_t p = 0; p < part_count; p++)
        for (size_t i = 0; i < parts[p].table->count; i++) {
            const struct schema_key *key = &parts[p].table->keys[i];
            if (key->required && !parts[p].inherit && bound_lacks(bound, key->name))
                report_missing(binder, value, what, key);
        }
    return true;
}

const struct dom_pair *bound_find(const struct bound *bound, const char *key)
{
    return bound->mapping ? dom_find(bound->mapping, key) : NULL;
}

bool bound_lacks(const struct bound *bound, const char *key)
{
    size_t index;
    if (bound_find(bound, key))
        return false;
    for (size_t p = 0; p < bound->part_count; p++)
        if (find_key(bound->parts[p].table, key, &index))
            return !(bound->misspelt[p] >> index & 1);
    return true;
}

bool bound_is_valid(const struct bound *bound, const char *key)
{
    size_t index;
    for (size_t p = 0; p < bound->part_count; p++)
        if (find_key(bound->parts[p].table, key, &index))
            return bound->valid[p] >> index & 1;
    return false;
}

mark given_at(const struct dom_pair *pair)
{
    bool replaced = pair->key_at.line >= 0 && pair->value.at.line < 0;
    return replaced ? pair->value.at : pair->key_at;
}

void bound_refuse(struct binder *binder, const struct bound *bound, const char *key,
                  const char *reason)
{
    const struct dom_pair *pair = bound_find(bound, key);
    if (pair)
        bind_report(binder, given_at(pair), NULL, "'%s' %s", key, reason);
}

// ---- Keys that exclude each other

bool bind_replaces(const struct binder *binder, const struct dom_value *value,
                   const struct dom_value *other)
{
    int given = dom_override(value), others = dom_override(other);
    return given > 0 && (others == 0 || (binder->document->later_override_wins && given > others));
}

static void clear_field(const struct schema_key *key, void *field)
{
    static const size_t sizes[] = {
        [VALUE_LATER] = 0,
        [VALUE_NUMBER] = sizeof(double),
        [VALUE_COUNT] = sizeof(uint64_t),
        [VALUE_SMALL] = sizeof(int),
        [VALUE_BOOLEAN] = sizeof(bool),
        [VALUE_TEXT] = sizeof(char *),
        [VALUE_NAME] = sizeof(int),
        [VALUE_VECTOR] = sizeof(vec3),
        [VALUE_DIRECTION] = sizeof(vec3),
        [VALUE_COUNTS_2] = 2 * sizeof(uint64_t),
        [VALUE_COUNTS_3] = 3 * sizeof(uint64_t),
        [VALUE_PAIR] = 2 * sizeof(double),
    };
    if (key->type == VALUE_TEXT)
        free(*(char **)field);
    memset(field, 0, sizes[key->type]);
    if (key->initial)
        write_default(key, field);
}

// Removes a key from the mapping, as if it had not been given. If another one takes its place
// (`by`, may be NULL), that has its position too, so that the resolved scene does not depend on
// which of them the scene had before.
static void remove_key(struct binder *binder, const struct bound *bound, const char *name,
                       const char *by)
{
    size_t index;
    if (by ? !document_replace(binder->document, bound->mapping, name, by)
           : !document_remove(binder->document, bound->mapping, name)) {
        bind_report_memory(binder);
        return;
    }
    for (size_t p = 0; p < bound->part_count; p++) {
        const struct schema_key *key = find_key(bound->parts[p].table, name, &index);
        if (key)
            clear_field(key, (char *)bound->parts[p].target + key->offset);
    }
}

void bound_resolve(struct binder *binder, const struct bound *bound, const char *first,
                   const char *second)
{
    const struct dom_pair *one = bound_find(bound, first), *other = bound_find(bound, second);
    if (one && other && bind_replaces(binder, &one->value, &other->value))
        remove_key(binder, bound, second, first);
    else if (one && other && bind_replaces(binder, &other->value, &one->value))
        remove_key(binder, bound, first, second);
}

void bound_refuse_unless(struct binder *binder, const struct bound *bound, const char *key,
                         const char *selector, const char *reason)
{
    const struct dom_pair *pair = bound_find(bound, key), *cause = bound_find(bound, selector);
    if (pair && cause && bind_replaces(binder, &cause->value, &pair->value))
        remove_key(binder, bound, key, NULL);
    else
        bound_refuse(binder, bound, key, reason);
}

void bound_exclusive(struct binder *binder, const struct bound *bound, const char *first,
                     const char *second, bool optional)
{
    bound_resolve(binder, bound, first, second);
    const struct dom_pair *one = bound_find(bound, first), *other = bound_find(bound, second);
    if (one && other) {
        int one_override = dom_override(&one->value), other_override = dom_override(&other->value);
        bool one_is_later =
            one_override != other_override ? one_override > other_override : one > other;
        const struct dom_pair *later = one_is_later ? one : other;
        bind_report(binder, one_override + other_override > 0 ? later->value.at : later->key_at,
                    NULL, "'%s' and '%s' are both given; only one of them is allowed", first,
                    second);
    } else if (!optional && bound_lacks(bound, first) && bound_lacks(bound, second))
        bind_report(binder, bound->at, NULL, "'%s' or '%s' is missing in %s", first, second,
                    bound->what);
}
