// Fields: widgets for keys of the scene, and the values that they show while they change
// (settings).
#include "view/fields.h"

extern "C" {
#include "base/memory.h"
#include "base/text.h"
}

#include <cstdarg>

using namespace widgets;

// ---- Settings: the values of the scene, or the user's values while they are being changed

// Finds the setting of a path, or adds one with these values. NULL if memory is short.
static struct setting *settings_find(struct settings *settings, const char *path,
                                     const double *values, int count)
{
    size_t low = 0, high = settings->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(settings->items[middle].path, path);
        if (order == 0)
            return &settings->items[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    char *copy = text_format("%s", path);
    if (!copy || !array_reserve((void **)&settings->items, &settings->capacity, settings->count + 1,
                                sizeof *settings->items)) {
        free(copy);
        return nullptr;
    }
    struct setting *item = settings->items + low;
    memmove(item + 1, item, (settings->count - low) * sizeof *item);
    settings->count++;
    *item = {};
    item->path = copy;
    for (int i = 0; i < count; i++)
        item->first[i] = item->wanted[i] = values[i];
    return item;
}

void settings_update(struct settings *settings, bool player_is_done)
{
    // The player may not have counted the requests of the last frames yet.
    enum { COUNTED_BY = 3 };
    for (size_t i = 0; i < settings->count; i++) {
        struct setting *item = &settings->items[i];
        if (item->waiting > 0 && ++item->waiting > COUNTED_BY && player_is_done)
            item->waiting = 0;
    }
}

void settings_clear(struct settings *settings)
{
    for (size_t i = 0; i < settings->count; i++)
        free(settings->items[i].path);
    free(settings->items);
    *settings = {};
}

// ---- Values sent to the player

void field_send(struct view *view, const char *path, const char *format, ...)
{
    char short_value[256];
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int length = vsnprintf(short_value, sizeof short_value, format, arguments);
    va_end(arguments);
    char *value =
        length < (int)sizeof short_value ? short_value : (char *)malloc((size_t)length + 1);
    if (length >= 0 && value && value != short_value)
        vsnprintf(value, (size_t)length + 1, format, again);
    va_end(again);
    if (length >= 0 && value)
        player_set(view->player, path, value);
    else
        view_notify(view, true, "out of memory for the value of %s", path);
    if (value != short_value)
        free(value);
}

void field_path(char path[FIELD_PATH_SIZE], const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(path, FIELD_PATH_SIZE, format, arguments);
    va_end(arguments);
    if (length < 0 || length >= FIELD_PATH_SIZE)
        path[0] = '\0';
}

const struct schema_key *fields_key(const struct schema_table *table, const char *name)
{
    for (size_t i = 0; i < table->count; i++)
        if (strcmp(table->keys[i].name, name) == 0)
            return &table->keys[i];
    return nullptr;
}

// The range of a slider: four times the first value of the scene, or the usual range of the unit if
// that is 0.
static double slider_range(const struct setting *setting, int count, const char *unit)
{
    static const struct {
        const char *unit;
        double reach;
    } usual[] = {{"m/s²", 20},     {"m/s", 20}, {"N/m", 1000}, {"N s/m", 2},
                 {"kg/s", 1},      {"J", 100},  {"Pa", 1000},  {"m", 2},
                 {"degrees", 180}, {"s", 0.01}, {"N m", 1e-3}};
    double most = 0;
    for (int i = 0; i < count; i++)
        if (isfinite(setting->first[i]) && fabs(setting->first[i]) > most)
            most = fabs(setting->first[i]);
    double reach = 1;
    for (size_t i = 0; i < sizeof usual / sizeof usual[0]; i++)
        if (unit && strcmp(usual[i].unit, unit) == 0)
            reach = usual[i].reach;
    return most > 0 ? 4 * most : reach;
}

struct ends {
    double least, most;
};

static struct ends slider_ends(const struct setting *setting, const struct field &field, int count)
{
    double reach = slider_range(setting, count, field.unit);
    struct ends ends = {-reach, reach};
    if (count > 1)
        ends = {-reach / 2, reach / 2};
    if (field.least != 0 || field.most != 0) {
        ends.least = fmax(ends.least, field.least);
        ends.most = fmin(ends.most, field.most);
    }
    if (field.flags & FIELD_LOGARITHMIC && setting->first[0] > 0) {
        ends.least = fmax(field.least, setting->first[0] / 20);
        ends.most = setting->first[0] * 20;
        if (field.most != 0)
            ends.most = fmin(ends.most, field.most);
    }
    return ends;
}

static void send_numbers(struct view *view, const char *path, const double *values, int count)
{
    if (count == 1)
        field_send(view, path, "%.9g", values[0]);
    else if (count == 2)
        field_send(view, path, "[%.9g, %.9g]", values[0], values[1]);
    else
        field_send(view, path, "[%.9g, %.9g, %.9g]", values[0], values[1], values[2]);
}

// ---- Widgets

// The displayed label of a widget, and the scope of its name.
struct names {
    char scope[FIELD_PATH_SIZE]; // the path before its last dot
    char label[FIELD_PATH_SIZE];
};

static struct names names_of(const struct field &field)
{
    struct names names = {};
    const char *dot = strrchr(field.path, '.');
    const char *last = dot ? dot + 1 : field.path;
    field_path(names.scope, "%.*s", dot ? (int)(dot - field.path) : 0, field.path);
    field_path(names.label, "%s##%s", field.label ? field.label : last, last);
    for (char *c = names.label; !field.label && *c != '#'; c++)
        *c = *c == '_' ? ' ' : *c;
    return names;
}

// The tooltip of the previous widget: meaning, unit and path.

static void explain(const struct field &field)
{
    char words[512];
    if (!field.meaning)
        return;
    snprintf(words, sizeof words, "%s%s%s%s\n%s", field.meaning, field.unit ? " [" : "",
             field.unit ? field.unit : "", field.unit ? "]" : "", field.path);
    tooltip(words);
}

enum { LABEL_WIDTH = 118 }; // right of sliders, in pixels of a screen of scale 1

// Rounds a dragged value to four digits; a typed value is used unchanged.
static double rounded(double value)
{
    const int digits = 4;
    if (value == 0 || !isfinite(value) || gui_wants_keys())
        return value;
    double unit = pow(10, floor(log10(fabs(value))) + 1 - digits);
    return round(value / unit) * unit;
}

bool field_numbers(struct view *view, const struct field &field, double *values, int count)
{
    struct setting *setting =
        field.path[0] ? settings_find(&view->settings, field.path, values, count) : nullptr;
    if (!setting)
        return false;
    if (setting->held || setting->waiting)
        memcpy(values, setting->wanted, (size_t)count * sizeof *values);
    struct ends ends = slider_ends(setting, field, count);
    struct names names = names_of(field);
    Scope scope(names.scope);
    ImGui::SetNextItemWidth(scaled(view, -LABEL_WIDTH));
    bool changed = slider(names.label, values, count, ends.least, ends.most,
                          count > 1 ? "%.3g" : "%.4g", (field.flags & FIELD_LOGARITHMIC) != 0);
    bool released = ImGui::IsItemDeactivatedAfterEdit();
    setting->held = ImGui::IsItemActive();
    explain(field);
    for (int i = 0; changed && i < count; i++)
        setting->wanted[i] = rounded(values[i]);
    if (field.flags & FIELD_ON_RELEASE)
        changed = released;
    // A typed value may lie beyond the slider's range, but not beyond what the scene accepts; the
    // player reports that.
    if (changed) {
        setting->waiting = 1;
        memcpy(values, setting->wanted, (size_t)count * sizeof *values);
        if (!(field.flags & FIELD_SENDS_NOTHING))
            send_numbers(view, field.path, values, count);
    }
    return changed;
}

bool field_name(struct view *view, const struct field &field, const char *const *choices,
                int *index)
{
    int count = 0;
    while (choices[count])
        count++;
    struct names names = names_of(field);
    Scope scope(names.scope);
    ImGui::SetNextItemWidth(scaled(view, -LABEL_WIDTH));
    bool changed = choice(names.label, index, choices, count);
    explain(field);
    if (changed && !(field.flags & FIELD_SENDS_NOTHING))
        field_send(view, field.path, "%s", choices[*index]);
    return changed;
}

bool field_boolean(struct view *view, const struct field &field, bool *on)
{
    struct names names = names_of(field);
    Scope scope(names.scope);
    bool changed = checkbox(names.label, on);
    explain(field);
    if (changed && !(field.flags & FIELD_SENDS_NOTHING))
        field_send(view, field.path, "%s", *on ? "true" : "false");
    return changed;
}

static void count_field(struct view *view, const struct field &field, const uint64_t *counts,
                        int count)
{
    struct setting *setting;
    double values[SETTING_VALUES] = {0};
    int wanted[SETTING_VALUES] = {0};
    for (int i = 0; i < count; i++)
        values[i] = (double)counts[i];
    setting = settings_find(&view->settings, field.path, values, count);
    if (!setting)
        return;
    const double *shown = setting->held || setting->waiting ? setting->wanted : values;
    for (int i = 0; i < count; i++)
        wanted[i] = (int)fmin(shown[i], 2e9);
    struct names names = names_of(field);
    Scope scope(names.scope);
    ImGui::SetNextItemWidth(scaled(view, -LABEL_WIDTH));
    bool changed = integers(names.label, wanted, count);
    bool released = ImGui::IsItemDeactivatedAfterEdit();
    setting->held = ImGui::IsItemActive() || (setting->held && !released);
    explain(field);
    for (int i = 0; changed && i < count; i++)
        setting->wanted[i] = wanted[i];
    if (!released)
        return;
    setting->held = false;
    setting->waiting = 1;
    send_numbers(view, field.path, setting->wanted, count);
}

static void vector_field(struct view *view, const struct field &field, const vec3 *vector)
{
    double values[3] = {vector->x, vector->y, vector->z};
    field_numbers(view, field, values, 3);
}

// Draws one key, by the type of its value. Types that are bound by code of their own have no widget
// here.
static void field_of_key(struct view *view, const struct schema_key *key, const void *at,
                         const struct field &field)
{
    switch (key->type) {
    case VALUE_NUMBER: {
        double value = *(const double *)at;
        field_numbers(view, field, &value, 1);
        break;
    }
    case VALUE_PAIR: {
        double values[2] = {((const double *)at)[0], ((const double *)at)[1]};
        field_numbers(view, field, values, 2);
        break;
    }
    case VALUE_VECTOR:
    case VALUE_DIRECTION:
        vector_field(view, field, (const vec3 *)at);
        break;
    case VALUE_COUNT:
        count_field(view, field, (const uint64_t *)at, 1);
        break;
    case VALUE_COUNTS_2:
        count_field(view, field, (const uint64_t *)at, 2);
        break;
    case VALUE_COUNTS_3:
        count_field(view, field, (const uint64_t *)at, 3);
        break;
    case VALUE_SMALL: {
        uint64_t count = (uint64_t) * (const int *)at;
        count_field(view, field, &count, 1);
        break;
    }
    case VALUE_BOOLEAN: {
        bool on = *(const bool *)at;
        field_boolean(view, field, &on);
        break;
    }
    case VALUE_NAME: {
        int index = *(const int *)at;
        field_name(view, field, key->names, &index);
        break;
    }
    default:
        break;
    }
}

static bool is_among(const char *name, const char *const *names)
{
    for (; names && *names; names++)
        if (strcmp(*names, name) == 0)
            return true;
    return false;
}

void fields_of_table(struct view *view, const struct schema_table *table, const void *record,
                     const char *prefix, const char *const *left_out, int flags)
{
    for (size_t i = 0; i < table->count; i++) {
        const struct schema_key *key = &table->keys[i];
        char path[FIELD_PATH_SIZE];
        if (is_among(key->name, left_out))
            continue;
        field_path(path, "%s.%s", prefix, key->name);
        const struct field field = {.path = path,
                                    .label = nullptr,
                                    .meaning = key->meaning,
                                    .unit = key->unit,
                                    .least = key->range.limited ? key->range.min : 0,
                                    .most = key->range.limited ? key->range.max : 0,
                                    .flags = flags};
        if (path[0])
            field_of_key(view, key, (const char *)record + key->offset, field);
    }
}
