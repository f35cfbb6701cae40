#include "view/fields.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

void field_send(struct view *view, const char *path, const char *format, ...)
{
    char short_value[256];
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int length = vsnprintf(short_value, sizeof short_value, format, arguments);
    va_end(arguments);
    char *value = length < (int)sizeof short_value ? short_value : malloc((size_t)length + 1);
    if (length >= 0 && value && value != short_value)
        vsnprintf(value, (size_t)length + 1, format, again);
    va_end(again);
    if (length >= 0 && value)
        player_set(view->player, path, value);
    else
        view_say(view, true, "out of memory for the value of %s", path);
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
    return NULL;
}

// How far a slider goes: four times what the scene had at first, or where that is nothing, what
// suits the unit.
static double reach_of(const struct setting *setting, int count, const char *unit)
{
    static const struct {
        const char *unit;
        double reach;
    } usual[] = {{"m/s²", 20}, {"m/s", 20},  {"N/m", 1000}, {"N s/m", 2},     {"kg/s", 1},
                 {"J", 100},   {"Pa", 1000}, {"m", 2},      {"degrees", 180}, {"s", 0.01}};
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

static struct ends slider_ends(const struct setting *setting, const struct field *field, int count)
{
    double reach = reach_of(setting, count, field->unit);
    struct ends ends = {-reach, reach};
    if (count > 1)
        ends = (struct ends){-reach / 2, reach / 2};
    if (field->least != 0 || field->most != 0) {
        ends.least = fmax(ends.least, field->least);
        ends.most = fmin(ends.most, field->most);
    }
    if (field->flags & FIELD_LOGARITHMIC && setting->first[0] > 0) {
        ends.least = fmax(field->least, setting->first[0] / 20);
        ends.most = setting->first[0] * 20;
        if (field->most != 0)
            ends.most = fmin(ends.most, field->most);
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

struct label {
    char text[FIELD_PATH_SIZE];
};

// What the widget is called: its path. What precedes the last dot goes into the toolkit's stack of
// names, what is shown may be something else.
static struct label begin_widget(const struct field *field)
{
    char folder[FIELD_PATH_SIZE];
    struct label label = {""};
    const char *dot = strrchr(field->path, '.');
    const char *last = dot ? dot + 1 : field->path;
    field_path(folder, "%.*s", dot ? (int)(dot - field->path) : 0, field->path);
    gui_push(folder);
    field_path(label.text, "%s##%s", field->label ? field->label : last, last);
    for (char *c = label.text; !field->label && *c != '#'; c++)
        *c = *c == '_' ? ' ' : *c;
    return label;
}

static void end_widget(const struct field *field)
{
    char words[512];
    if (field->meaning) {
        snprintf(words, sizeof words, "%s%s%s%s\n%s", field->meaning, field->unit ? " [" : "",
                 field->unit ? field->unit : "", field->unit ? "]" : "", field->path);
        gui_tooltip(words);
    }
    gui_pop();
}

enum { LABEL_WIDTH = 118 }; // at the right of sliders, in pixels of a common screen

// What a pointer points at is no more exact than that; what is typed is taken as it is.
static double rounded(double value)
{
    const int digits = 4;
    if (value == 0 || !isfinite(value) || gui_wants_keys())
        return value;
    double unit = pow(10, floor(log10(fabs(value))) + 1 - digits);
    return round(value / unit) * unit;
}

bool field_numbers(struct view *view, const struct field *field, double *values, int count)
{
    struct setting *setting =
        field->path[0] ? settings_find(&view->settings, field->path, values, count) : NULL;
    if (!setting)
        return false;
    if (setting->held || setting->waiting)
        memcpy(values, setting->wanted, (size_t)count * sizeof *values);
    struct ends ends = slider_ends(setting, field, count);
    struct label label = begin_widget(field);
    gui_width((float)(-LABEL_WIDTH * window_scale(view->window)));
    bool changed = gui_slider(label.text, values, count, ends.least, ends.most,
                              count > 1 ? "%.3g" : "%.4g", (field->flags & FIELD_LOGARITHMIC) != 0);
    bool let_go = gui_is_let_go();
    setting->held = gui_is_held();
    end_widget(field);
    for (int i = 0; changed && i < count; i++)
        setting->wanted[i] = rounded(values[i]);
    if (field->flags & FIELD_ON_RELEASE)
        changed = let_go;
    // A value that was typed may lie beyond the slider, but not beyond what the scene takes; the
    // player says so then.
    if (changed) {
        setting->waiting = 1;
        memcpy(values, setting->wanted, (size_t)count * sizeof *values);
        if (!(field->flags & FIELD_SENDS_NOTHING))
            send_numbers(view, field->path, values, count);
    }
    return changed;
}

bool field_name(struct view *view, const struct field *field, const char *const *names, int *index)
{
    int count = 0;
    while (names[count])
        count++;
    struct label label = begin_widget(field);
    gui_width((float)(-LABEL_WIDTH * window_scale(view->window)));
    bool changed = gui_choice(label.text, index, names, count);
    end_widget(field);
    if (changed && !(field->flags & FIELD_SENDS_NOTHING))
        field_send(view, field->path, "%s", names[*index]);
    return changed;
}

bool field_boolean(struct view *view, const struct field *field, bool *on)
{
    struct label label = begin_widget(field);
    bool changed = gui_check(label.text, on);
    end_widget(field);
    if (changed && !(field->flags & FIELD_SENDS_NOTHING))
        field_send(view, field->path, "%s", *on ? "true" : "false");
    return changed;
}

static void count_field(struct view *view, const struct field *field, const uint64_t *counts,
                        int count)
{
    struct setting *setting;
    double values[SETTING_VALUES] = {0};
    int wanted[SETTING_VALUES] = {0};
    for (int i = 0; i < count; i++)
        values[i] = (double)counts[i];
    setting = settings_find(&view->settings, field->path, values, count);
    if (!setting)
        return;
    const double *shown = setting->held || setting->waiting ? setting->wanted : values;
    for (int i = 0; i < count; i++)
        wanted[i] = (int)fmin(shown[i], 2e9);
    struct label label = begin_widget(field);
    gui_width((float)(-LABEL_WIDTH * window_scale(view->window)));
    bool changed = gui_count(label.text, wanted, count);
    bool let_go = gui_is_let_go();
    setting->held = gui_is_held() || (setting->held && !let_go);
    end_widget(field);
    for (int i = 0; changed && i < count; i++)
        setting->wanted[i] = wanted[i];
    if (!let_go)
        return;
    setting->held = false;
    setting->waiting = 1;
    send_numbers(view, field->path, setting->wanted, count);
}

static void vector_field(struct view *view, const struct field *field, const vec3 *vector)
{
    double values[3] = {vector->x, vector->y, vector->z};
    field_numbers(view, field, values, 3);
}

// One key, by the type of its value; what code of its own binds is left to code of its own.
static void field_of_key(struct view *view, const struct schema_key *key, const void *at,
                         struct field *field)
{
    switch (key->type) {
    case VALUE_NUMBER: {
        double value = *(const double *)at;
        field_numbers(view, field, &value, 1);
        break;
    }
    case VALUE_VECTOR:
    case VALUE_DIRECTION:
        vector_field(view, field, at);
        break;
    case VALUE_COUNT:
        count_field(view, field, at, 1);
        break;
    case VALUE_COUNTS_2:
        count_field(view, field, at, 2);
        break;
    case VALUE_COUNTS_3:
        count_field(view, field, at, 3);
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
        struct field field = {.path = path,
                              .meaning = key->meaning,
                              .unit = key->unit,
                              .least = key->range.limited ? key->range.min : 0,
                              .most = key->range.limited ? key->range.max : 0,
                              .flags = flags};
        if (path[0])
            field_of_key(view, key, (const char *)record + key->offset, &field);
    }
}
