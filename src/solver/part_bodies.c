// Bodies while a solver of several ranks is made of them. Each rank may hold only its part.
//
// Springs on no grid depend on the whole scene: on its digest, the order of the nodes of each body,
// and where the tiles of packed springs begin, which depends on the springs before. Every rank
// finds all of it, but one body after another. When a body has been built that another rank is
// expected to have, a rank keeps only its counts (body_shed). The plan has such a body built again,
// for a short time, when its rings are looked for and when its springs are packed. Only then is it
// certain which rank has which nodes: lists that are needed stay, others are forgotten, and neither
// changes a result.
#include "solver/private.h"

#include "base/hash.h"
#include "base/memory.h"
#include "base/sort.h"
#include "parallel/team.h"
#include "ranks/ranks.h"
#include "springs/plan_parts.h"
#include "topology/reorder.h"

struct part_bodies {
    const taut_scene *scene;
    struct bodies *bodies;
    struct topology *topology;
    const struct plan *plan;
    bool sheds;                // bodies may be shed
    bool lacks;                // some have been
    uint64_t first, end, node; // nodes that this rank is expected to read; those of bodies so far
    uint64_t bytes;            // shed since memory was given back
    struct hash digest, start;
    uint8_t *forgotten; // 1 for each body of which this rank needs no lists; NULL: not known yet
    size_t next;        // the first body that may have lists which are not needed
};

taut_status part_bodies_make(const taut_scene *scene, const struct solver_options *options,
                             struct part_bodies **result, taut_error *error)
{
    struct memory_estimate estimate;
    struct part_bodies *parts = memory_allocate(NULL, 1, sizeof *parts);
    *result = parts;
    if (!parts)
        return fail_memory(error, "the bodies");
    memory_estimate_of_rank(scene, options, ranks_count(), ranks_number(), &estimate);
    parts->scene = scene;
    parts->sheds = estimate.sheds;
    parts->first = estimate.first_node - min_u64(estimate.first_node, SUM_CHUNK);
    parts->end = estimate.end_node + SUM_CHUNK;
    if (estimate.first_node == estimate.end_node)
        parts->end = parts->first;
    bodies_digest_begin(scene, &parts->digest);
    bodies_start_begin(scene, &parts->start);
    return TAUT_OK;
}

void part_bodies_free(struct part_bodies *parts)
{
    if (!parts)
        return;
    memory_release(NULL, parts->forgotten, parts->scene->body_count, sizeof *parts->forgotten);
    memory_release(NULL, parts, 1, sizeof *parts);
}

// Whether a body can be shed: as plan_part_forgets, before there is a plan.
static bool can_be_shed(const struct body *body)
{
    const bool is_list = body->type == BODY_SPHERE || body->type == BODY_MESH;
    bool plain = is_list && body->spring_count > 0 && body->direction_count == 0 &&
                 !body->spring_materials && !body->masses && body->motion_count == 0 &&
                 !body->elements.present && !body->velocities && !body->is_cut_grid &&
                 !joins_most_pairs((double)body->node_count, (double)body->spring_count);
    for (size_t i = 0; plain && i < body->material_count; i++)
        plain = !isfinite(body->materials[i].break_at) && !isfinite(body->materials[i].yield_at);
    for (uint64_t i = 0; plain && i < body->node_count; i++)
        plain = !body->kinematic[i];
    return plain;
}

static void give_back(struct part_bodies *parts, uint64_t bytes)
{
    enum { BYTES_KEPT = 1 << 22 };
    parts->bytes += bytes;
    if (parts->bytes > BYTES_KEPT) {
        memory_trim();
        parts->bytes = 0;
    }
}

void part_bodies_built(void *context, size_t index, struct body *body)
{
    struct part_bodies *parts = context;
    (void)index;
    if (!parts->sheds)
        return;
    bodies_digest_add(&parts->digest, body);
    bodies_start_add(&parts->start, body);
    const bool is_other =
        parts->node >= parts->end || parts->node + body->node_count <= parts->first;
    parts->node += body->node_count;
    if (is_other && can_be_shed(body)) {
        parts->lacks = true;
        give_back(parts, body_shed(body));
    }
}

bool part_bodies_have_digests(const struct part_bodies *parts)
{
    return parts->sheds;
}

void part_bodies_digests(struct part_bodies *parts, const struct bodies *bodies, uint64_t *digest,
                         uint64_t *start)
{
    *digest = bodies_digest_end(parts->scene, bodies, &parts->digest);
    *start = hash_end(&parts->start);
}

// ---- Planning

// Builds a body again, and lists it. If it is one of which this rank has nodes, it stays built.
static taut_status load(void *context, size_t index, taut_error *error)
{
    struct part_bodies *parts = context;
    struct body *body = &parts->bodies->items[index], built;
    taut_status status = body_build_again(parts->scene, index, &built, error);
    if (status == TAUT_OK &&
        (built.node_count != body->node_count || built.spring_count != body->spring_count ||
         built.face_count != body->face_count))
        status = fail(error, TAUT_ERROR_SCENE,
                      "body '%s' is not what it was before: its files have changed", body->name);
    if (status == TAUT_OK && !body_renumber(&built))
        status = fail_memory(error, "the order of the nodes");
    if (status == TAUT_OK) {
        topology_cook_lists(parts->topology, index, &built);
        uint64_t bytes = body_release_lists(&built);
        if (parts->forgotten && !parts->forgotten[index]) {
            body_free(body);
            *body = built;
            built = (struct body){.node_count = 0};
        } else {
            bytes += body_release_nodes(&built);
        }
        give_back(parts, bytes);
    }
    body_free(&built);
    return status;
}

static void unload(void *context, size_t index)
{
    struct part_bodies *parts = context;
    topology_forget_lists(parts->topology, index, true);
}

// The packed springs that this rank keeps. It also forgets the nodes of bodies of which it has
// none, before the plan and the state take more; not where drives or a file have moved them.
static taut_status find_kept(void *context, const struct topology *topology,
                             const struct plan *plan, struct plan_nodes *kept, taut_error *error)
{
    struct part_bodies *parts = context;
    taut_status status = ranks_find_kept(parts->scene, topology, plan, kept, error);
    if (status != TAUT_OK)
        return status;
    parts->plan = plan;
    parts->forgotten = memory_allocate(NULL, topology->body_count, sizeof *parts->forgotten);
    if (!parts->forgotten)
        return fail_memory(error, "the plan");
    if (kept->count == topology->node_count)
        return TAUT_OK;
    status = ranks_find_forgotten(topology, plan, parts->forgotten, error);
    if (status != TAUT_OK || parts->scene->initial)
        return status;
    uint64_t bytes = 0;
    for (size_t b = 0; b < topology->body_count; b++) {
        const struct topology_body *body = &topology->bodies[b];
        struct body *built = &parts->bodies->items[b];
        const bool is_other = body->first_node + body->node_count <= kept->first ||
                              body->first_node >= kept->first + kept->count;
        if (is_other && built->motion_count == 0 && !built->has_no_nodes)
            bytes += body_release_nodes(built);
    }
    if (bytes > 0)
        memory_trim();
    return TAUT_OK;
}

// Forgets the lists of the bodies before a node.
static void forget_lists(void *context, uint64_t node)
{
    struct part_bodies *parts = context;
    for (; parts->forgotten && parts->next < parts->topology->body_count; parts->next++) {
        const struct topology_body *body = &parts->topology->bodies[parts->next];
        if (body->first_node + body->node_count > node)
            break;
        if (parts->forgotten[parts->next])
            topology_forget_lists(parts->topology, parts->next, plan_forgets_faces(parts->plan));
    }
}

void part_bodies_plan(struct part_bodies *parts, struct bodies *bodies,
                      struct plan_options *options)
{
    parts->bodies = bodies;
    options->find_kept = find_kept;
    options->find_kept_context = parts;
    if (parts->lacks) {
        options->load = load;
        options->unload = unload;
    }
#ifdef NDEBUG // otherwise plan_check reads all lists, unless some are absent
    options->packed = forget_lists;
#else
    if (parts->lacks)
        options->packed = forget_lists;
#endif
}

void part_bodies_know_topology(struct part_bodies *parts, struct topology *topology)
{
    parts->topology = topology;
}

void part_bodies_planned(struct part_bodies *parts)
{
    forget_lists(parts, parts->topology->node_count);
}

bool part_bodies_lack_lists(const struct part_bodies *parts)
{
    return parts && parts->lacks;
}
