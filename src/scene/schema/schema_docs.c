// Writes the tables of docs/scene.md from the tables that the reader uses.
#include "scene/schema/schema.h"

#include <math.h>
#include <string.h>

static const struct schema_table *const listed[] = {
    &schema_scene,
    &schema_simulation,
    &schema_implicit,
    &schema_environment,
    &schema_wind,
    &schema_gust,
    &schema_material,
    &schema_body,
    &schema_drive,
    &schema_pressure,
    &schema_elastic,
    &schema_fabric,
    &schema_rayleigh,
    &schema_shapes[BODY_ROPE],
    &schema_shapes[BODY_CLOTH],
    &schema_shapes[BODY_RING],
    &schema_shapes[BODY_QUAD],
    &schema_shapes[BODY_SPHERE],
    &schema_shapes[BODY_LATTICE],
    &schema_shapes[BODY_MESH],
    &schema_shapes[BODY_NETWORK],
    &schema_shapes[BODY_OSCILLATOR],
    &schema_shapes[BODY_PENDULUM],
    &schema_contact,
    &schema_contact_pair,
    &schema_body_contact,
    &schema_collider,
    &schema_response,
    &schema_friction,
    &schema_collider_shapes[COLLIDER_PLANE],
    &schema_collider_shapes[COLLIDER_SPHERE],
    &schema_collider_shapes[COLLIDER_ROOM],
    &schema_collider_shapes[COLLIDER_MESH],
    &schema_collider_motion,
    &schema_output,
    &schema_vtp,
    &schema_probe,
    &schema_checkpoint,
};

enum { LISTED_COUNT = sizeof listed / sizeof listed[0] };

// Besides the tables of keys there is one of the kinds of springs of each type.
static const char kinds_name[] = "kinds";

const struct schema_table *schema_table_at(size_t index)
{
    return index < LISTED_COUNT ? listed[index] : NULL;
}

const char *schema_table_name(size_t index)
{
    if (index < LISTED_COUNT)
        return listed[index]->name;
    return index == LISTED_COUNT ? kinds_name : NULL;
}

static void write_names(FILE *out, const char *const *names)
{
    for (size_t i = 0; names[i]; i++)
        fprintf(out, "%s`%s`", i == 0 ? "" : names[i + 1] ? ", " : " or ", names[i]);
}

static void write_type(FILE *out, const struct schema_key *key)
{
    static const char *const words[] = {
        [VALUE_LATER] = "",
        [VALUE_NUMBER] = "number",
        [VALUE_COUNT] = "whole number",
        [VALUE_SMALL] = "whole number",
        [VALUE_BOOLEAN] = "`true` or `false`",
        [VALUE_TEXT] = "text",
        [VALUE_NAME] = "",
        [VALUE_VECTOR] = "`[x, y, z]`",
        [VALUE_DIRECTION] = "`[x, y, z]`, not zero",
        [VALUE_COUNTS_2] = "`[nu, nv]`",
        [VALUE_COUNTS_3] = "`[nx, ny, nz]`",
        [VALUE_PAIR] = "number or `[a, b]`",
    };
    char buffer[RANGE_TEXT];
    if (key->type == VALUE_NAME)
        write_names(out, key->names);
    else
        fputs(key->shown ? key->shown : words[key->type], out);
    if (key->range.limited)
        fprintf(out, ", %s", range_text(&key->range, buffer));
    if (key->unit)
        fprintf(out, ", %s", key->unit);
    if (key->kes > 0)
        fputs(", or `{kes: number}`", out);
}

// A cell must not contain a bare '|'.
static void write_cell(FILE *out, const char *text)
{
    for (; *text; text++)
        fprintf(out, *text == '|' ? "\\%c" : "%c", *text);
}

static void write_key(FILE *out, const struct schema_key *key)
{
    fprintf(out, "| `%s` | ", key->name);
    write_type(out, key);
    if (key->required)
        fputs(" | required | ", out);
    else if (key->initial)
        fprintf(out, " | `%s` | ", key->initial);
    else
        fprintf(out, " | %s | ", key->absent);
    write_cell(out, key->meaning);
    fputs(" |\n", out);
}

static void write_kinds(FILE *out)
{
    fputs("| type | kinds of springs |\n|---|---|\n", out);
    for (int type = 0; type < BODY_TYPE_COUNT; type++) {
        fprintf(out, "| `%s` | ", body_type_name((enum body_type)type));
        for (size_t kind = 0; spring_kind_name((enum body_type)type, kind); kind++)
            fprintf(out, "%s`%s`", kind ? ", " : "", spring_kind_name((enum body_type)type, kind));
        fputs(" |\n", out);
    }
}

bool schema_markdown(FILE *out, const char *name)
{
    if (strcmp(name, kinds_name) == 0) {
        write_kinds(out);
        return !ferror(out);
    }
    for (size_t i = 0; i < LISTED_COUNT; i++) {
        if (strcmp(listed[i]->name, name) != 0)
            continue;
        fputs("| key | value | default | meaning |\n|---|---|---|---|\n", out);
        for (size_t k = 0; k < listed[i]->count; k++)
            write_key(out, &listed[i]->keys[k]);
        return !ferror(out);
    }
    return false;
}
