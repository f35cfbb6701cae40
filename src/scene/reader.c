// Reads a scene: the file, its document with overrides, and the sections in the order that binding
// requires. Keys are defined in schema/, YAML is read in text/.
#include "scene/reader.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/os.h"
#include "base/text.h"
#include "scene/schema/binder.h"
#include "scene/text/document.h"

// ---- Release

static void free_body(struct scene_body *body)
{
    free(body->name);
    free(body->pins);
    for (size_t i = 0; i < body->drive_count; i++) {
        free(body->drives[i].pieces);
        free(body->drives[i].nodes);
    }
    free(body->drives);
    if (body->type == BODY_MESH)
        free(body->shape.mesh.path);
    if (body->type != BODY_NETWORK)
        return;
    struct scene_network *network = &body->shape.network;
    free(network->positions);
    free(network->velocities);
    free(network->masses);
    free(network->springs);
    free(network->spring_materials);
    free(network->spring_marks);
    free(network->materials);
    free(network->nodes_path);
    free(network->springs_path);
}

void scene_free(taut_scene *scene)
{
    if (!scene)
        return;
    for (size_t i = 0; i < scene->body_count; i++)
        free_body(&scene->bodies[i]);
    free(scene->bodies);
    for (size_t c = 0; c < scene->collider_count; c++) {
        free(scene->colliders[c].mesh.path);
        free(scene->colliders[c].motion.keyframes);
    }
    free(scene->colliders);
    free(scene->contact.pairs);
    free(scene->environment.wind.gusts);
    free(scene->output.probes);
    free(scene->title);
    free(scene->initial);
    free(scene->name);
    free(scene->file);
    document_free(scene->document);
    free(scene);
}

// ---- Names

// The file's name without folder and suffix, in UTF-8, because it is used in file names, XML and
// JSON.
static char *name_from_path(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *start = slash ? slash + 1 : path;
    size_t length = strlen(start);
    static const char *const endings[] = {".yaml", ".yml"};
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        if (text_ends_with(start, endings[i])) {
            length -= strlen(endings[i]);
            break;
        }
    }
    // It becomes the name of a folder, so that "." and ".." (from "..yaml") are not allowed.
    bool is_name = length > 0 && !(length <= 2 && strspn(start, ".") >= length);
    char *bytes = is_name ? strndup(start, length) : strdup("scene");
    char *name = bytes ? text_as_utf8(bytes) : NULL;
    free(bytes);
    return name;
}

// "" or the folder with its last '/'.
static char *folder_from_path(const char *path)
{
    const char *slash = strrchr(path, '/');
    return strndup(path, slash ? (size_t)(slash + 1 - path) : 0);
}

// ---- Binding

// An override requires this; the key stays in the document, and thus in the resolved scene.
static bool is_ignored(const struct binder *binder, const char *key)
{
    for (size_t i = 0; i < binder->override_count; i++)
        if (binder->overrides[i].ignores && strcmp(binder->overrides[i].text, key) == 0)
            return true;
    return false;
}

static void bind_section(struct binder *binder, const struct bound *bound, const char *key,
                         void (*bind)(struct binder *, const struct dom_value *))
{
    const struct dom_pair *pair = bound_find(bound, key);
    if (pair && !is_ignored(binder, key))
        bind(binder, &pair->value);
}

// The contact of a body changes that of the scene, which must exist.
static void check_body_contact(struct binder *binder)
{
    const taut_scene *scene = binder->scene;
    for (size_t b = 0; b < scene->body_count && !scene->contact.present; b++)
        if (scene->bodies[b].contact.present)
            bind_report(binder, scene->bodies[b].contact.at, NULL,
                        "'contact' of a body needs the section 'contact' of the scene");
}

// Some types of bodies have no surface; their nodes touch colliders with `response: contact` only.
static void warn_without_surfaces(struct binder *binder)
{
    const taut_scene *scene = binder->scene;
    for (size_t b = 0; b < scene->body_count; b++)
        if (body_type_has_surface(scene->bodies[b].type))
            return;
    for (size_t c = 0; c < scene->collider_count; c++)
        if (scene->colliders[c].type != COLLIDER_MESH &&
            scene->colliders[c].response == RESPONSE_CONTACT)
            return;
    if (scene->body_count > 0)
        scene_warn(scene, binder->diagnostics, scene->contact.at,
                   "'contact' has no effect: no body has a surface that could touch anything, as "
                   "networks, oscillators and pendulums have springs and nodes only; use a mesh, "
                   "a cloth, a lattice or a rope, or planes, spheres and rooms as colliders, "
                   "which act on nodes");
}

// Meshes, and other colliders with `response: contact`, need a thickness, which has no default.
static void check_colliders_in_contact(struct binder *binder)
{
    const taut_scene *scene = binder->scene;
    for (size_t c = 0; c < scene->collider_count; c++)
        if (scene->colliders[c].type == COLLIDER_MESH)
            bind_report(binder, scene->colliders[c].at, NULL,
                        "a mesh collider acts by contact of surfaces, which the scene does not "
                        "have: add 'contact: {thickness: 0.001}', the distance in m that surfaces "
                        "keep");
        else if (scene->colliders[c].response == RESPONSE_CONTACT)
            bind_report(binder, scene->colliders[c].at, NULL,
                        "'response: contact' of a collider acts by contact of surfaces, which the "
                        "scene does not have: add 'contact: {thickness: 0.001}', the distance in m "
                        "that surfaces keep");
}

// The order matters: bodies use gravity and materials, probes use bodies.
static void bind_scene(struct binder *binder)
{
    taut_scene *scene = binder->scene;
    struct schema_part part = {&schema_scene, scene, false};
    struct bound bound;
    bind_defaults(&schema_simulation, &scene->simulation);
    bind_defaults(&schema_environment, &scene->environment);
    bind_defaults(&schema_output, &scene->output);
    binder->gravity_known = true;
    if (!bind_mapping(binder, &binder->document->root, schema_scene.what, &part, 1, false, &bound))
        return;
    binder->precision_known = bound_is_valid(&bound, "precision");
    bind_section(binder, &bound, "simulation", bind_simulation);
    bind_section(binder, &bound, "environment", bind_environment);
    bind_section(binder, &bound, "materials", bind_materials);
    bind_section(binder, &bound, "bodies", bind_bodies);
    bind_section(binder, &bound, "colliders", bind_colliders);
    bind_section(binder, &bound, "contact", bind_contact);
    check_body_contact(binder);
    if (!bound_find(&bound, "contact"))
        check_colliders_in_contact(binder);
    else
        warn_without_surfaces(binder);
    bind_friction_slots(binder->scene);
    bind_section(binder, &bound, "initial", bind_initial);
    bind_section(binder, &bound, "output", bind_output);
}

static bool load_and_apply(struct binder *binder, const struct scene_override *overrides,
                           size_t count)
{
    struct scene_document *document = binder->document;
    bool sound = document_load(document, binder->diagnostics);
    for (size_t i = 0; i < count && sound; i++)
        override_apply(document, i, &overrides[i], binder->diagnostics);
    return sound;
}

taut_scene *scene_read_text(const char *text, size_t length, const char *name,
                            const struct scene_override *overrides, size_t count,
                            struct diagnostics *diagnostics)
{
    size_t first = diagnostics->count, errors = diagnostics->error_count;
    taut_scene *scene = calloc(1, sizeof *scene);
    if (!scene) {
        diagnostics_fail(diagnostics, TAUT_ERROR_MEMORY, name, "out of memory");
        return NULL;
    }
    struct binder binder = {.scene = scene,
                            .diagnostics = diagnostics,
                            .overrides = overrides,
                            .override_count = count};
    scene->file = strdup(name);
    scene->name = name_from_path(name);
    scene->document = binder.document = document_create(text, length, name, count);
    binder.folder = folder_from_path(name);
    if (!scene->file || !scene->name || !scene->document || !binder.folder)
        diagnostics_fail(diagnostics, TAUT_ERROR_MEMORY, name, "out of memory");
    else if (load_and_apply(&binder, overrides, count))
        bind_scene(&binder);
    free(binder.folder);
    free(binder.sorted_materials);
    free(binder.sorted_bodies);
    if (diagnostics->error_count == errors)
        return scene;
    scene_free(scene);
    diagnostics_sort(diagnostics, first);
    return NULL;
}

// ---- Files

static void fail_to_read(struct diagnostics *diagnostics, const char *path, const char *reason)
{
    diagnostics_fail(diagnostics, TAUT_ERROR_IO, path, "cannot read the scene: %s", reason);
}

taut_scene *scene_read_file(const char *path, const struct scene_override *overrides, size_t count,
                            struct diagnostics *diagnostics)
{
    const char *reason;
    FILE *file = open_to_read(path, &reason);
    if (!file) {
        fail_to_read(diagnostics, path, reason);
        return NULL;
    }
    char *text = NULL;
    size_t length = 0;
    bool sound = read_to_end(file, DOCUMENT_BYTES_MAX, &text, &length);
    int fault = errno;
    fclose(file);
    if (!sound && fault == EFBIG)
        diagnostics_add(diagnostics, DIAGNOSTIC_ERROR, path, (mark){0, 0}, NULL, NULL,
                        "cannot read the scene: the file is larger than 64 MiB");
    else if (!sound && fault == ENOMEM)
        diagnostics_fail(diagnostics, TAUT_ERROR_MEMORY, path, "out of memory");
    else if (!sound)
        fail_to_read(diagnostics, path, strerror(fault));
    if (!sound)
        return NULL;

    taut_scene *scene = scene_read_text(text, length, path, overrides, count, diagnostics);
    free(text);
    return scene;
}
