// Writes the scene as one YAML text that can be run from any folder: the document after --set, with
// aliases expanded and absolute file paths.
#include "scene/reader.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <yaml.h>

#include "base/memory.h"
#include "scene/text/document.h"

struct emission {
    yaml_emitter_t emitter;
    char *folder; // absolute, ending in '/'
    char *text;
    size_t length, capacity;
};

static int append(void *data, unsigned char *bytes, size_t count)
{
    struct emission *emission = data;
    void *text = emission->text;
    bool grown = array_reserve(&text, &emission->capacity, emission->length + count + 1, 1);
    emission->text = text;
    if (!grown)
        return 0;
    memcpy(emission->text + emission->length, bytes, count);
    emission->length += count;
    emission->text[emission->length] = '\0';
    return 1;
}

// ---- Events

// Numbers and plain names, which have the same meaning in every context. All other text is quoted,
// because whether libyaml would write it plain depends on the context.
static bool is_simple(const char *text)
{
    bool word = false;
    for (const char *c = text; *c; c++) {
        bool letter =
            (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9');
        if (!letter && !strchr("+-._", *c))
            return false;
        word = word || letter; // "-" and "..." are not words
    }
    return word;
}

static bool emit_scalar(struct emission *emission, const char *text, bool plain)
{
    yaml_event_t event;
    plain = plain && is_simple(text);
    yaml_scalar_style_t style = plain ? YAML_PLAIN_SCALAR_STYLE : YAML_DOUBLE_QUOTED_SCALAR_STYLE;
    return yaml_scalar_event_initialize(&event, NULL, NULL, (const yaml_char_t *)text,
                                        (int)strlen(text), plain, 1, style) &&
           yaml_emitter_emit(&emission->emitter, &event);
}

// Emits an absolute path. It is quoted because it may contain any character.
static bool emit_path(struct emission *emission, const char *path)
{
    if (path[0] == '/')
        return emit_scalar(emission, path, false);
    size_t before = strlen(emission->folder), length = strlen(path);
    char *absolute = malloc(before + length + 1);
    if (!absolute)
        return false;
    memcpy(absolute, emission->folder, before);
    memcpy(absolute + before, path, length + 1);
    bool emitted = emit_scalar(emission, absolute, false);
    free(absolute);
    return emitted;
}

static bool emit_node(struct emission *emission, const struct dom_node *node, bool body);

static bool is_path_key(const char *key)
{
    return strcmp(key, "file") == 0 || strcmp(key, "nodes_file") == 0 ||
           strcmp(key, "springs_file") == 0;
}

// `bodies`: the items of the list are bodies or colliders, whose files are paths.
static bool emit_list(struct emission *emission, const struct dom_node *node, bool bodies)
{
    yaml_event_t event;
    yaml_sequence_style_t style = node->flow ? YAML_FLOW_SEQUENCE_STYLE : YAML_BLOCK_SEQUENCE_STYLE;
    if (!yaml_sequence_start_event_initialize(&event, NULL, NULL, 1, style) ||
        !yaml_emitter_emit(&emission->emitter, &event))
        return false;
    for (size_t i = 0; i < node->count; i++)
        if (!emit_node(emission, node->items[i].node, bodies))
            return false;
    return yaml_sequence_end_event_initialize(&event) &&
           yaml_emitter_emit(&emission->emitter, &event);
}

static bool emit_mapping(struct emission *emission, const struct dom_node *node, bool body)
{
    yaml_event_t event;
    yaml_mapping_style_t style = node->flow ? YAML_FLOW_MAPPING_STYLE : YAML_BLOCK_MAPPING_STYLE;
    if (!yaml_mapping_start_event_initialize(&event, NULL, NULL, 1, style) ||
        !yaml_emitter_emit(&emission->emitter, &event))
        return false;
    for (size_t i = 0; i < node->count; i++) {
        const struct dom_node *value = node->pairs[i].value.node;
        bool path = body && is_path_key(node->pairs[i].key) && value->kind == DOM_SCALAR;
        if (!emit_scalar(emission, node->pairs[i].key, true))
            return false;
        if (!(path ? emit_path(emission, value->text) : emit_node(emission, value, false)))
            return false;
    }
    return yaml_mapping_end_event_initialize(&event) &&
           yaml_emitter_emit(&emission->emitter, &event);
}

static bool emit_node(struct emission *emission, const struct dom_node *node, bool body)
{
    switch (node->kind) {
    case DOM_SCALAR:
        return emit_scalar(emission, node->text, node->plain);
    case DOM_LIST:
        return emit_list(emission, node, false);
    case DOM_MAPPING:
        break;
    }
    return emit_mapping(emission, node, body);
}

// The root has its own function, because only its `bodies` and `colliders` have files.
static bool emit_root(struct emission *emission, const struct dom_node *root)
{
    yaml_event_t event;
    if (!yaml_mapping_start_event_initialize(&event, NULL, NULL, 1, YAML_BLOCK_MAPPING_STYLE) ||
        !yaml_emitter_emit(&emission->emitter, &event))
        return false;
    for (size_t i = 0; i < root->count; i++) {
        const struct dom_node *value = root->pairs[i].value.node;
        const char *key = root->pairs[i].key;
        bool bodies = (strcmp(key, "bodies") == 0 || strcmp(key, "colliders") == 0) &&
                      value->kind == DOM_LIST;
        if (!emit_scalar(emission, root->pairs[i].key, true))
            return false;
        bool path = strcmp(root->pairs[i].key, "initial") == 0 && value->kind == DOM_SCALAR;
        if (!(bodies ? emit_list(emission, value, true)
              : path ? emit_path(emission, value->text)
                     : emit_node(emission, value, false)))
            return false;
    }
    return yaml_mapping_end_event_initialize(&event) &&
           yaml_emitter_emit(&emission->emitter, &event);
}

// `whole`: the root is that of a scene.
static bool emit_document(struct emission *emission, const struct dom_node *root, bool whole)
{
    yaml_event_t event;
    yaml_emitter_t *emitter = &emission->emitter;
    return yaml_stream_start_event_initialize(&event, YAML_UTF8_ENCODING) &&
           yaml_emitter_emit(emitter, &event) &&
           yaml_document_start_event_initialize(&event, NULL, NULL, NULL, 1) &&
           yaml_emitter_emit(emitter, &event) &&
           (whole ? emit_root(emission, root) : emit_node(emission, root, false)) &&
           yaml_document_end_event_initialize(&event, 1) && yaml_emitter_emit(emitter, &event) &&
           yaml_stream_end_event_initialize(&event) && yaml_emitter_emit(emitter, &event);
}

// ---- The document

// The absolute folder of the scene file, ending in '/'. The folder need not exist: a scene from
// memory may have any name.
static char *absolute_folder(const char *file)
{
    const char *slash = strrchr(file, '/');
    size_t length = slash ? (size_t)(slash + 1 - file) : 0;
    char here[PATH_MAX] = "";
    if (file[0] != '/' && !getcwd(here, sizeof here))
        return NULL;
    size_t before = strlen(here);
    char *folder = malloc(before + length + 2);
    if (!folder)
        return NULL;
    memcpy(folder, here, before);
    if (file[0] != '/' && (before == 0 || here[before - 1] != '/'))
        folder[before++] = '/';
    memcpy(folder + before, file, length);
    folder[before + length] = '\0';
    return folder;
}

// Emits the document and ends the emission; `width` -1: lines of any length.
static char *emit_text(struct emission *emission, const struct dom_node *root, bool whole,
                       int width)
{
    yaml_emitter_set_output(&emission->emitter, append, emission);
    yaml_emitter_set_unicode(&emission->emitter, 1);
    yaml_emitter_set_width(&emission->emitter, width);
    bool emitted = emit_document(emission, root, whole);
    yaml_emitter_delete(&emission->emitter);
    free(emission->folder);
    if (emitted)
        return emission->text;
    free(emission->text);
    return NULL;
}

// Appends a line of a comment. False if memory runs out.
PRINTF_FORMAT(2, 3) static bool append_line(struct emission *emission, const char *format, ...)
{
    char line[512];
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    return length < 0 || append(emission, (unsigned char *)line, strlen(line));
}

// The springs and elements of a body with `elastic` or `fabric`.
static bool append_body(const struct scene_body *body, struct emission *emission)
{
    const struct scene_elements *elements = &body->elements;
    if (body_is_membrane(body))
        return append_line(emission,
                           "# '%s', from 'elastic': %.9g kg/m2; E t / (1 - nu^2) = %.9g N/m, shear "
                           "modulus %.9g N/m, bending %.9g N m\n",
                           body->name, elements->areal_density, elements->stretch, elements->shear,
                           elements->bending_u);
    bool appended =
        append_line(emission, "# '%s', from '%s': mass %.9g kg; springs inside:", body->name,
                    body->fabric.present ? "fabric" : "elastic", body->mass);
    const char *between = "";
    for (size_t kind = 0; kind < SPRING_KINDS_MAX; kind++) {
        const struct material *spring = &body->kinds[kind].material;
        if (!body->kinds[kind].present)
            continue;
        appended = appended && append_line(emission, "%s %s %.9g N/m, damping %.9g N s/m", between,
                                           spring_kind_name(body->type, kind), spring->stiffness,
                                           spring->damping);
        between = ";";
    }
    appended = appended && append_line(emission, "\n");
    if (body->type == BODY_ROPE)
        return appended && append_line(emission, "# elements of '%s': bending %.9g N m2\n",
                                       body->name, elements->bending_u);
    if (body->type == BODY_CLOTH)
        return appended &&
               append_line(emission,
                           "# elements of '%s': bending %.9g N m along u, %.9g along v; "
                           "twist %.9g N m; area %.9g N/m\n",
                           body->name, elements->bending_u, elements->bending_v, elements->twist,
                           elements->area);
    if (elements->volume != 0)
        return appended && append_line(emission, "# elements of '%s': volume %.9g Pa\n", body->name,
                                       elements->volume);
    return appended;
}

// Appends comments with the constants that the reader made from `elastic` and `fabric`. False if
// memory runs out.
static bool append_constants(const taut_scene *scene, struct emission *emission)
{
    bool appended = true;
    for (size_t b = 0; b < scene->body_count && appended; b++)
        if (body_has_moduli(&scene->bodies[b]))
            appended = append_body(&scene->bodies[b], emission);
    return appended;
}

char *scene_resolved_yaml(const taut_scene *scene)
{
    struct emission emission = {.folder = absolute_folder(scene->file)};
    if (!emission.folder || !yaml_emitter_initialize(&emission.emitter)) {
        free(emission.folder);
        return NULL;
    }
    char *text = emit_text(&emission, scene->document->root.node, true, 100);
    if (text && !append_constants(scene, &emission)) {
        free(emission.text);
        return NULL;
    }
    return text ? emission.text : NULL;
}

char *scene_value_yaml(const struct dom_node *value)
{
    struct emission emission = {0};
    if (!yaml_emitter_initialize(&emission.emitter))
        return NULL;
    struct dom_node in_line = *value;
    in_line.flow = true; // and therefore everything in it
    char *text = emit_text(&emission, &in_line, false, -1);
    if (text)
        text[strcspn(text, "\n")] = '\0';
    return text;
}
