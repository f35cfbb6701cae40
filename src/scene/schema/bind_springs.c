// Binds springs: the named materials, the kinds of springs that a body is built with, and the lists
// of a network.
#include "scene/schema/binder.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "scene/materials.h"

// ---- Materials

static void bind_named(struct binder *binder, const struct dom_pair *pair)
{
    struct material material = {0};
    struct schema_part part = {&schema_material, &material, false};
    struct bound bound;
    bind_mapping(binder, &pair->value, schema_material.what, &part, 1, false, &bound);
}

static int compare_materials(const void *a, const void *b)
{
    const struct dom_pair *const *first = a, *const *second = b;
    return strcmp((*first)->key, (*second)->key);
}

static int compare_with_name(const void *name, const void *material)
{
    const struct dom_pair *const *pair = material;
    return strcmp(name, (*pair)->key);
}

void bind_materials(struct binder *binder, const struct dom_value *value)
{
    if (!value_mapping(binder, value, "materials"))
        return;
    size_t count = value->node->count;
    binder->materials = value->node;
    binder->sorted_materials = calloc(count + 1, sizeof *binder->sorted_materials);
    if (!binder->sorted_materials) {
        bind_report_memory(binder);
        return;
    }
    for (size_t i = 0; i < count; i++)
        binder->sorted_materials[i] = &value->node->pairs[i];
    qsort(binder->sorted_materials, count, sizeof *binder->sorted_materials, compare_materials);
    for (size_t i = 0; i < value->node->count; i++)
        bind_named(binder, &value->node->pairs[i]);
}

// Finds the mapping of a named material.
static const struct dom_value *find_named(struct binder *binder, const struct dom_value *value)
{
    const char *name = value->node->text;
    const struct dom_pair **pair =
        binder->sorted_materials ? bsearch(name, binder->sorted_materials, binder->materials->count,
                                           sizeof *binder->sorted_materials, compare_with_name)
                                 : NULL;
    if (pair)
        return &(*pair)->value;
    enum { NAMES_MAX = 200 };
    const char *names[NAMES_MAX];
    size_t count = 0;
    for (size_t i = 0; binder->materials && i < binder->materials->count && i < NAMES_MAX; i++)
        names[count++] = binder->materials->pairs[i].key;
    bind_report(binder, value->at, nearest_name(name, names, count),
                "there is no material '%s' in 'materials'", show_text(name).text);
    return NULL;
}

void bind_law(struct binder *binder, const struct bound *bound, const struct material *material)
{
    const struct dom_pair *law = bound_find(bound, "law");
    if (!law || !bound_is_valid(bound, "law") || material->law != LAW_RIGID)
        return;
    if (binder->integrator_known && binder->scene->simulation.integrator != INTEGRATOR_XPBD)
        bind_report(binder, law->value.at, NULL, "'law: rigid' is only for the integrator xpbd");
}

bool bind_common_suffices(const struct bound *bound, const struct scene_body *body)
{
    return bound_find(bound, "stiffness") ||
           (bound_find(bound, "law") && body->common.law == LAW_RIGID);
}

// `at`: where to report it if the keys are not in `bound`.
static bool bind_limits(struct binder *binder, const struct bound *bound, mark at,
                        const struct material *material)
{
    const double rest = material->has_rest_length ? material->rest_length : INFINITY;
    const char *limit = material_limit_of_nothing(material, rest);
    if (!limit)
        return true;
    const struct dom_pair *pair = bound_find(bound, limit);
    pair = pair ? pair : bound_find(bound, "rest_length");
    return bind_report(binder, pair ? pair->value.at : at, NULL, MATERIAL_LIMIT_MESSAGE, limit,
                       limit);
}

bool bind_common_limits(struct binder *binder, const struct bound *bound,
                        const struct scene_body *body)
{
    static const char *const keys[] = {"rest_length", "break_at", "yield_at"};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (bound_find(bound, keys[i]) && !bound_is_valid(bound, keys[i]))
            return true;
    return bind_limits(binder, bound, bound->at, &body->common);
}

// Binds a material: a mapping, or the name of one of `materials`. *material initially has the
// body's common keys; `has_stiffness`: a stiffness is among them. `what` names the
// spring.
static bool bind_material(struct binder *binder, const struct dom_value *value, const char *what,
                          bool has_stiffness, struct material *material)
{
    struct schema_part part = {&schema_material, material, true};
    struct bound bound;
    size_t before = binder->diagnostics->error_count;
    const struct dom_value *content = value;
    bool named = value->node->kind == DOM_SCALAR && value->node->count > 0;
    if (named && !(content = find_named(binder, value)))
        return false;
    // A named material that is not a mapping was reported where it is defined.
    if (named && content->node->kind != DOM_MAPPING)
        return false;
    // With the same wording as in bind_named, so that an error in a shared material is reported
    // once.
    if (!bind_mapping(binder, content, schema_material.what, &part, 1, false, &bound))
        return false;
    if (bound_find(&bound, "rest_length"))
        material->has_rest_length = true;
    bind_law(binder, &bound, material);
    if (!has_stiffness && material->law != LAW_RIGID && bound_lacks(&bound, "stiffness"))
        bind_report(binder, value->at, NULL,
                    "'stiffness' is missing in %s, and the body has none in common", what);
    if (binder->diagnostics->error_count == before)
        bind_limits(binder, &bound, value->at, material);
    return binder->diagnostics->error_count == before;
}

// ---- Kinds

struct kinds {
    struct binder *binder;
    const struct bound *bound;
    struct scene_body *body;
    bool required[SPRING_KINDS_MAX]; // built unless `springs` omits them
    bool allowed[SPRING_KINDS_MAX];
    bool has_stiffness; // among the common keys
    bool suffices;      // the common keys suffice for a spring
    bool links_known;
};

static void require_kinds(struct kinds *kinds, size_t first, size_t count)
{
    for (size_t i = first; i < first + count; i++)
        kinds->required[i] = kinds->allowed[i] = true;
}

static void choose_rope(struct kinds *kinds)
{
    enum rope_links links = kinds->body->shape.rope.links;
    kinds->links_known = bound_is_valid(kinds->bound, "links");
    require_kinds(kinds, links == ROPE_ALL ? 2 : 0, links == ROPE_SKIP ? 2 : 1);
}

static void choose_cloth(struct kinds *kinds)
{
    static const char *const link_names[] = {"all", NULL};
    const struct dom_pair *links = bound_find(kinds->bound, "links");
    if (links && value_name(kinds->binder, &links->value, "links", link_names) < 0) {
        kinds->links_known = false;
        return;
    }
    require_kinds(kinds, links ? 3 : 0, links ? 1 : 3);
    kinds->allowed[CLOTH_WEFT] = !links; // only where it differs from `structural`
}

// Chooses the kinds that are built without `springs`, and those that `springs` may name.
static void choose_kinds(struct kinds *kinds)
{
    const struct scene_body *body = kinds->body;
    kinds->links_known = true;
    switch (body->type) {
    case BODY_ROPE:
        choose_rope(kinds);
        break;
    case BODY_CLOTH:
        choose_cloth(kinds);
        break;
    case BODY_LATTICE:
        kinds->links_known = bound_is_valid(kinds->bound, "shells");
        require_kinds(kinds, 0, body->shape.lattice.shells == 2 ? 6 : 3);
        break;
    default:
        require_kinds(kinds, 0, 1);
        for (size_t i = 1; i < SPRING_KINDS_MAX; i++)
            kinds->allowed[i] = spring_kind_name(body->type, i) != NULL;
        break;
    }
}

static bool build_kind(struct kinds *kinds, size_t kind, const struct dom_value *value)
{
    struct scene_spring_kind *target = &kinds->body->kinds[kind];
    char what[60];
    snprintf(what, sizeof what, "the springs '%s'", spring_kind_name(kinds->body->type, kind));
    target->present = true;
    target->material = kinds->body->common;
    if (value)
        return bind_material(kinds->binder, value, what, kinds->has_stiffness, &target->material);
    if (!kinds->suffices && bound_lacks(kinds->bound, "stiffness"))
        bind_report(kinds->binder, kinds->bound->at, NULL, "'stiffness' is missing for %s", what);
    return kinds->suffices && bind_common_limits(kinds->binder, kinds->bound, kinds->body);
}

static void build_required(struct kinds *kinds, const struct dom_value *value)
{
    for (size_t i = 0; i < SPRING_KINDS_MAX; i++)
        if (kinds->required[i] && !build_kind(kinds, i, value))
            return; // one message is enough
}

static void report_kind(struct kinds *kinds, const struct dom_pair *pair)
{
    enum body_type type = kinds->body->type;
    const char *names[SPRING_KINDS_MAX];
    size_t count = 0;
    struct shown key = show_text(pair->key);
    for (size_t i = 0; i < SPRING_KINDS_MAX && spring_kind_name(type, i); i++) {
        if (kinds->allowed[i])
            names[count++] = spring_kind_name(type, i);
        if (strcmp(spring_kind_name(type, i), pair->key) != 0)
            continue;
        if (kinds->links_known)
            bind_report(kinds->binder, given_at(pair), NULL,
                        type == BODY_LATTICE ? "the springs '%s' need 'shells: 2'"
                                             : "the springs '%s' are not built with these 'links'",
                        key.text);
        return;
    }
    if (kinds->links_known)
        bind_report(kinds->binder, pair->key_at, nearest_name(pair->key, names, count),
                    "%s has no springs '%s'; they are called %s", schema_shapes[type].what,
                    key.text, list_names(names, count).text);
}

// Whether the body's type has this kind, but not with the present `links` or `shells`, which an
// override set in place of the file's.
static bool is_replaced(const struct kinds *kinds, const struct dom_pair *pair)
{
    const struct scene_body *body = kinds->body;
    const char *selector = body->type == BODY_LATTICE ? "shells" : "links";
    const struct dom_pair *cause = bound_find(kinds->bound, selector);
    for (size_t i = 0; i < SPRING_KINDS_MAX && spring_kind_name(body->type, i); i++)
        if (strcmp(spring_kind_name(body->type, i), pair->key) == 0)
            return cause && kinds->links_known && !kinds->allowed[i] &&
                   bind_replaces(kinds->binder, &cause->value, &pair->value);
    return false;
}

// Removes replaced kinds from `springs`. Other bodies may share the mapping by an alias, so it is
// copied first.
static bool remove_replaced(struct kinds *kinds, struct dom_value *value, bool *any)
{
    struct scene_document *document = kinds->binder->document;
    bool copied = false;
    for (size_t p = 0; p < value->node->count;) {
        const struct dom_pair *pair = &value->node->pairs[p];
        if (!is_replaced(kinds, pair)) {
            p++;
            continue;
        }
        value->shared = value->shared || !copied;
        copied = *any = true;
        if (!document_own(document, value) || !document_remove(document, value->node, pair->key))
            return bind_report_memory(kinds->binder);
    }
    return true;
}

// Called if an override of `links` or `shells` left none of the kinds in `springs`: builds the
// requested kinds from the common keys, or reports at the override what is missing.
static void bind_all_replaced(struct kinds *kinds)
{
    const char *selector = kinds->body->type == BODY_LATTICE ? "shells" : "links";
    size_t kind = 0;
    if (kinds->suffices) {
        build_required(kinds, NULL);
        return;
    }
    while (kind + 1 < SPRING_KINDS_MAX && !kinds->required[kind])
        kind++;
    bind_report(kinds->binder, bound_find(kinds->bound, selector)->value.at, NULL,
                "with these '%s' none of the kinds in 'springs' is built: the springs '%s' need "
                "'spring', or 'springs.%s'",
                selector, spring_kind_name(kinds->body->type, kind),
                spring_kind_name(kinds->body->type, kind));
}

static void bind_kinds(struct kinds *kinds, struct dom_value *value)
{
    bool replaced = false;
    if (!value_mapping(kinds->binder, value, "springs") ||
        !remove_replaced(kinds, value, &replaced))
        return;
    const struct dom_node *mapping = value->node;
    if (mapping->count == 0 && replaced) {
        bind_all_replaced(kinds);
        return;
    }
    if (mapping->count == 0)
        bind_report(kinds->binder, value->at, NULL,
                    "'springs' is empty; name at least one kind of springs");
    for (size_t p = 0; p < mapping->count; p++) {
        size_t kind = 0;
        while (kind < SPRING_KINDS_MAX &&
               !(kinds->allowed[kind] &&
                 strcmp(spring_kind_name(kinds->body->type, kind), mapping->pairs[p].key) == 0))
            kind++;
        if (kind < SPRING_KINDS_MAX)
            build_kind(kinds, kind, &mapping->pairs[p].value);
        else
            report_kind(kinds, &mapping->pairs[p]);
    }
    // `links` of a rope requests its kinds by name: they are built even if `springs` does not name
    // them, from the common keys.
    for (size_t i = 0; kinds->body->type == BODY_ROPE && i < SPRING_KINDS_MAX; i++)
        if (kinds->required[i] && !kinds->body->kinds[i].present && kinds->links_known &&
            !build_kind(kinds, i, NULL))
            return;
}

void bind_springs(struct binder *binder, const struct bound *bound, struct scene_body *body)
{
    struct kinds kinds = {.binder = binder, .bound = bound, .body = body};
    bound_resolve(binder, bound, "spring", "springs");
    const struct dom_pair *spring = bound_find(bound, "spring");
    struct dom_pair *springs = (struct dom_pair *)bound_find(bound, "springs");
    kinds.has_stiffness = bound_find(bound, "stiffness") != NULL;
    kinds.suffices = bind_common_suffices(bound, body);
    choose_kinds(&kinds);
    if (spring && springs) {
        bound_exclusive(binder, bound, "spring", "springs", true);
        return;
    }
    if (springs)
        bind_kinds(&kinds, &springs->value);
    else if (spring)
        build_required(&kinds, &spring->value);
    else if (kinds.suffices)
        build_required(&kinds, NULL);
    else if (bound_lacks(bound, "spring") && bound_lacks(bound, "springs") &&
             bound_lacks(bound, "stiffness"))
        bind_report(binder, bound->at, NULL, "'spring', 'springs' or 'stiffness' is missing in %s",
                    schema_shapes[body->type].what);
}

// ---- Networks: lists of vectors

static vec3 *bind_vectors(struct binder *binder, const struct dom_value *value, const char *name,
                          size_t *count)
{
    *count = 0;
    size_t given;
    if (!value_list(binder, value, name, "[x, y, z]", &given))
        return NULL;
    if (given == 0) {
        bind_report(binder, value->at, NULL, "'%s' is empty", name);
        return NULL;
    }
    vec3 *vectors = calloc(given, sizeof *vectors);
    if (!vectors) {
        bind_report_memory(binder);
        return NULL;
    }
    for (size_t i = 0; i < given; i++)
        value_vector(binder, &value->node->items[i], item_label(i, name).text, &vectors[i]);
    *count = given;
    return vectors;
}

static void bind_velocities(struct binder *binder, const struct bound *bound,
                            struct scene_network *network)
{
    bound_resolve(binder, bound, "velocity", "velocities");
    const struct dom_pair *pair = bound_find(bound, "velocities");
    size_t count;
    if (!pair)
        return;
    bound_refuse(binder, bound, "velocity", "is the same for all nodes; 'velocities' is given too");
    network->velocities = bind_vectors(binder, &pair->value, "velocities", &count);
    if (network->velocities && network->node_count > 0 && count != network->node_count)
        bind_report(
            binder, pair->value.at, NULL,
            "'velocities' lists %zu, but the network has %llu %s; give one for each node, or "
            "one 'velocity' for all",
            count, (unsigned long long)network->node_count,
            text_noun(network->node_count, "node", "nodes"));
}

// ---- Networks: springs

// State for binding the springs of a network. Most of them share one material, so the mapping bound
// last is cached.
struct network_springs {
    struct material_set materials;
    const struct dom_node *last;
    uint32_t last_index;
};

static bool bind_end(struct binder *binder, const struct dom_value *value,
                     const struct scene_network *network, uint32_t *end)
{
    uint64_t node;
    if (!value_count(binder, value, "a node of a spring", NULL, &node))
        return false;
    if (network->node_count > 0 && node >= network->node_count)
        return bind_report(binder, value->at, NULL,
                           "there is no node %llu: the nodes of the body are 0 to %llu",
                           (unsigned long long)node, (unsigned long long)network->node_count - 1);
    *end = (uint32_t)node;
    return true;
}

// Binds the material of a spring: its own keys over the body's common keys.
static bool bind_spring_material(struct binder *binder, const struct dom_value *item,
                                 const struct scene_body *body, bool has_stiffness,
                                 struct network_springs *shared, uint32_t *index)
{
    struct material material = body->common;
    const struct dom_node *list = item->node;
    const struct dom_value *own = list->count == 3 ? &list->items[2] : NULL;
    if (own && own->node == shared->last) {
        *index = shared->last_index;
        return true;
    }
    if (own && !bind_material(binder, own, "a spring", has_stiffness, &material))
        return false;
    if (!own && !has_stiffness && material.law != LAW_RIGID)
        return bind_report(binder, item->at, NULL,
                           "'stiffness' is missing in this spring, and the body has none in "
                           "common");
    if (!material_set_add(&shared->materials, &material, index))
        return bind_report_memory(binder);
    if (own) {
        shared->last = own->node;
        shared->last_index = *index;
    }
    return true;
}

static bool bind_spring(struct binder *binder, const struct dom_value *item, size_t index,
                        struct scene_body *body, bool has_stiffness, struct network_springs *shared)
{
    struct scene_network *network = &body->shape.network;
    const struct dom_node *list = item->node;
    uint32_t *ends = network->springs[index];
    network->spring_marks[index] = item->at;
    if (list->kind != DOM_LIST || (list->count != 2 && list->count != 3))
        return bind_report(
            binder, item->at, NULL,
            "a spring is [a, b] or [a, b, material], two node numbers and an optional "
            "material");
    bool first = bind_end(binder, &list->items[0], network, &ends[0]);
    bool second = bind_end(binder, &list->items[1], network, &ends[1]);
    if (first && second && ends[0] == ends[1])
        bind_report(binder, item->at, NULL, "a spring joins two different nodes, not %u with %u",
                    (unsigned)ends[0], (unsigned)ends[1]);
    return bind_spring_material(binder, item, body, has_stiffness, shared,
                                &network->spring_materials[index]);
}

static void bind_spring_list(struct binder *binder, const struct bound *bound,
                             const struct dom_value *value, bool has_stiffness,
                             struct scene_body *body)
{
    struct scene_network *network = &body->shape.network;
    struct network_springs shared = {.last = NULL};
    size_t count;
    if (!value_list(binder, value, "springs", "[a, b, material]", &count) || count == 0)
        return;
    network->springs = calloc(count, sizeof *network->springs);
    network->spring_materials = calloc(count, sizeof *network->spring_materials);
    network->spring_marks = calloc(count, sizeof *network->spring_marks);
    if (!network->springs || !network->spring_materials || !network->spring_marks) {
        bind_report_memory(binder);
        return;
    }
    network->spring_count = count;
    size_t missing = 0, common = 0; // springs without a stiffness, and without keys of their own
    bool suffices = has_stiffness || body->common.law == LAW_RIGID;
    for (size_t i = 0; i < count; i++) {
        const struct dom_value *item = &value->node->items[i];
        bool bare = item->node->kind == DOM_LIST && item->node->count == 2 && !suffices;
        // A missing stiffness of bare springs is one error of the body, not one of each spring.
        bind_spring(binder, item, i, body, has_stiffness || (bare && missing > 0), &shared);
        missing += bare;
        common += item->node->kind == DOM_LIST && item->node->count == 2;
    }
    if (common > 0)
        bind_common_limits(binder, bound, body);
    network->materials = material_set_detach(&shared.materials, &network->material_count);
}

// ---- Networks: lists or files

static void bind_files(struct binder *binder, const struct bound *bound,
                       struct scene_network *network)
{
    static const char *const rest[] = {"nodes", "springs", "velocities"};
    bound_resolve(binder, bound, "velocities", "nodes_file");
    const struct dom_pair *nodes = bound_find(bound, "nodes_file");
    const struct dom_pair *springs = bound_find(bound, "springs_file");
    for (size_t i = 0; i < sizeof rest / sizeof rest[0]; i++)
        bound_refuse(binder, bound, rest[i],
                     "cannot be combined with 'nodes_file' and 'springs_file'");
    bound_refuse_unless(binder, bound, "stiffness", "springs_file",
                        "is given by the column 'stiffness' of 'springs_file'");
    if (!nodes || !springs)
        bind_report(binder, bound->at, NULL, "'%s' is missing; '%s' is given",
                    nodes ? "springs_file" : "nodes_file", nodes ? "nodes_file" : "springs_file");
    if (nodes) {
        network->nodes_at = nodes->value.at;
        network->nodes_path = bind_file(binder, &nodes->value, "nodes_file");
    }
    if (springs) {
        network->springs_at = springs->value.at;
        network->springs_path = bind_file(binder, &springs->value, "springs_file");
    }
}

void bind_network(struct binder *binder, const struct bound *bound, struct scene_body *body)
{
    struct scene_network *network = &body->shape.network;
    bound_resolve(binder, bound, "nodes", "nodes_file");
    bound_resolve(binder, bound, "springs", "springs_file");
    const struct dom_pair *nodes = bound_find(bound, "nodes");
    const struct dom_pair *springs = bound_find(bound, "springs");
    bool has_stiffness = bound_find(bound, "stiffness") != NULL;
    if (bound_find(bound, "nodes_file") || bound_find(bound, "springs_file")) {
        bind_files(binder, bound, network);
        return;
    }
    if (nodes) {
        size_t count;
        network->positions = bind_vectors(binder, &nodes->value, "nodes", &count);
        network->node_count = count;
    } else if (bound_lacks(bound, "nodes") && bound_lacks(bound, "nodes_file")) {
        bind_report(binder, bound->at, NULL, "'nodes' or 'nodes_file' is missing in a network");
    }
    bind_velocities(binder, bound, network);
    if (springs)
        bind_spring_list(binder, bound, &springs->value, has_stiffness, body);
}
