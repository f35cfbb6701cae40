// The tangent of all forces: springs, faces and contacts each have their part (springs/tangent.h,
// faces/tangent.h, contact/tangent.h, elements/elements.h); drag and kinematic nodes are added
// here.
#include "forces/tangent.h"

#include <string.h>

#include "base/memory.h"
#include "base/sort.h"
#include "contact/tangent.h"
#include "elements/elements.h"
#include "faces/tangent.h"

struct tangent {
    struct system *system;
    struct tangent_rows rows;
    struct spring_tangent springs;
    struct face_tangent faces;
    struct contact_tangent contacts;
};

taut_status REAL_NAME(tangent_make)(struct system *system, struct tangent **result,
                                    taut_error *error)
{
    *result = NULL;
    struct tangent *tangent = memory_allocate(system->allocator, 1, sizeof *tangent);
    if (!tangent)
        return fail_memory(error, "the tangent");
    const struct range all = {0, (size_t)system->state->nodes};
    tangent->system = system;
    tangent->rows = (struct tangent_rows){all, all};
    taut_status status = REAL_NAME(spring_tangent_make)(system, &tangent->springs, error);
    if (status == TAUT_OK)
        status = REAL_NAME(contact_tangent_make)(system, &tangent->contacts, error);
    if (status == TAUT_OK)
        status = REAL_NAME(face_tangent_make)(system, &tangent->faces, error);
    if (status != TAUT_OK) {
        REAL_NAME(tangent_free)(tangent);
        return status;
    }
    *result = tangent;
    return TAUT_OK;
}

void REAL_NAME(tangent_free)(struct tangent *tangent)
{
    if (!tangent)
        return;
    REAL_NAME(face_tangent_free)(&tangent->faces);
    REAL_NAME(contact_tangent_free)(&tangent->contacts);
    REAL_NAME(spring_tangent_free)(&tangent->springs);
    memory_release(tangent->system->allocator, tangent, 1, sizeof *tangent);
}

void REAL_NAME(tangent_refresh)(struct tangent *tangent)
{
    REAL_NAME(spring_tangent_refresh)(&tangent->springs);
}

uint64_t REAL_NAME(tangent_bytes)(const struct tangent *tangent)
{
    return sizeof *tangent + REAL_NAME(spring_tangent_bytes)(&tangent->springs) +
           REAL_NAME(face_tangent_bytes)(&tangent->faces) +
           REAL_NAME(contact_tangent_bytes)(&tangent->contacts);
}

const struct spring_tangent *REAL_NAME(tangent_springs)(const struct tangent *tangent)
{
    return &tangent->springs;
}

void REAL_NAME(tangent_set_rows)(struct tangent *tangent, struct tangent_rows rows)
{
    tangent->rows = rows;
    tangent->faces.rows = rows.products;
}

static struct range share_of(struct range rows, const struct worker *worker)
{
    const struct range share = worker_share(worker, rows.end - rows.first, 16);
    return (struct range){rows.first + share.first, rows.first + share.end};
}

void REAL_NAME(tangent_update)(struct tangent *tangent, enum tangent_kind kind,
                               struct evaluation evaluation, const struct worker *worker)
{
    worker_barrier(worker); // no worker uses the last update any longer
    if (worker->index == 0)
        tangent->springs.kind = tangent->faces.kind = tangent->contacts.kind = kind;
    worker_barrier(worker);
    const struct range rows = tangent->rows.blocks;
    REAL_NAME(spring_tangent_update)(&tangent->springs, rows, worker);
    REAL_NAME(contact_tangent_update)
    (&tangent->contacts, evaluation.time, share_of(rows, worker));
    REAL_NAME(face_tangent_update)(&tangent->faces, evaluation, worker);
    worker_barrier(worker);
}

static void add_drag(const struct tangent *tangent, real damping, struct node_vectors in,
                     struct node_vectors out, struct range nodes)
{
    const struct topology *topology = tangent->system->topology;
    for (size_t node = nodes.first; node < nodes.end;) {
        const struct node_masses masses = topology_masses(topology, node, nodes.end);
        const bool any = topology->environment.air_drag > 0 || masses.mass_drag > 0;
        for (; any && node < masses.end; node++) {
            const real drag =
                damping * (real)drag_in(&masses, topology->environment.air_drag, node);
            out.x[node] += drag * in.x[node];
            out.y[node] += drag * in.y[node];
            out.z[node] += drag * in.z[node];
        }
        node = (size_t)masses.end;
    }
}

// The index of the first kinematic node not below this one in their list.
static size_t first_kinematic(const struct topology *topology, size_t node)
{
    return lower_bound(topology->kinematic, (size_t)topology->kinematic_count, node);
}

static void clear_kinematic(const struct tangent *tangent, struct node_vectors out,
                            struct range nodes)
{
    const struct topology *topology = tangent->system->topology;
    for (size_t i = first_kinematic(topology, nodes.first);
         i < (size_t)topology->kinematic_count && topology->kinematic[i] < nodes.end; i++)
        out.x[topology->kinematic[i]] = out.y[topology->kinematic[i]] =
            out.z[topology->kinematic[i]] = 0;
}

// After a barrier: elements add to nodes of any item. They also add to kinematic nodes.
static void add_elements(const struct tangent *tangent, real stiffness, real damping,
                         struct node_vectors in, struct node_vectors out,
                         const struct worker *worker)
{
    const struct system *system = tangent->system;
    if (!system->elements)
        return;
    REAL_NAME(elements_tangent_add)
    (system, tangent->rows.products, tangent->springs.kind, stiffness, damping, in, out, worker);
    clear_kinematic(tangent, out, share_of(tangent->rows.products, worker));
    worker_barrier(worker);
}

// The items with these rows, and with others: whole items are computed.
static struct range items_of(const struct spring_tangent *springs, struct range rows)
{
    struct range items = {0, springs->item_count};
    while (items.first < items.end && springs->items[items.first].nodes.end <= rows.first)
        items.first++;
    while (items.end > items.first && springs->items[items.end - 1].nodes.first >= rows.end)
        items.end--;
    return items;
}

void REAL_NAME(tangent_apply)(struct tangent *tangent, real stiffness, real damping,
                              struct node_vectors in, struct node_vectors out,
                              const struct worker *worker)
{
    const struct spring_tangent *springs = &tangent->springs;
    const bool surfaces = springs->kind == TANGENT_DEFINITE;
    REAL_NAME(face_tangent_prepare)(&tangent->faces, stiffness, damping, in, worker);
    if (surfaces)
        REAL_NAME(surface_tangent_prepare)(tangent->system, stiffness, damping, in, worker);
    const struct range items = items_of(springs, tangent->rows.products);
    struct range range;
    while (worker_claim(worker, items.end - items.first, 1, &range)) {
        const struct tangent_item *item = &springs->items[items.first + range.first];
        REAL_NAME(spring_tangent_apply)(springs, item, stiffness, damping, in, out);
        REAL_NAME(contact_tangent_apply)
        (&tangent->contacts, stiffness, damping, in, out, item->nodes);
        if (surfaces)
            REAL_NAME(surface_tangent_apply)(tangent->system, out, item->nodes);
        REAL_NAME(face_tangent_apply)(&tangent->faces, stiffness, out, item->nodes);
        add_drag(tangent, damping, in, out, item->nodes);
        clear_kinematic(tangent, out, item->nodes);
    }
    worker_barrier(worker);
    add_elements(tangent, stiffness, damping, in, out, worker);
}

bool REAL_NAME(tangent_has_others)(const struct tangent *tangent)
{
    return tangent->faces.any_gas || tangent->faces.any_wind || tangent->system->elements;
}

void REAL_NAME(tangent_apply_others)(struct tangent *tangent, real stiffness, real damping,
                                     struct node_vectors in, struct node_vectors out,
                                     const struct worker *worker)
{
    const struct spring_tangent *springs = &tangent->springs;
    REAL_NAME(face_tangent_prepare)(&tangent->faces, stiffness, damping, in, worker);
    const struct range items = items_of(springs, tangent->rows.products);
    struct range range;
    while (worker_claim(worker, items.end - items.first, 1, &range)) {
        const struct range nodes = springs->items[items.first + range.first].nodes;
        for (size_t node = nodes.first; node < nodes.end; node++)
            out.x[node] = out.y[node] = out.z[node] = 0;
        REAL_NAME(face_tangent_apply)(&tangent->faces, stiffness, out, nodes);
        clear_kinematic(tangent, out, nodes);
    }
    worker_barrier(worker);
    add_elements(tangent, stiffness, damping, in, out, worker);
}

static void fill_blocks(const struct tangent *tangent, real stiffness, real damping,
                        real (*blocks)[6], const struct tangent_item *item)
{
    const struct topology *topology = tangent->system->topology;
    const struct range nodes = item->nodes;
    struct node_masses masses = {.end = nodes.first};
    for (size_t node = nodes.first; node < nodes.end; node++) {
        if (node == masses.end)
            masses = topology_masses(topology, node, nodes.end);
        const real drag = damping * (real)drag_in(&masses, topology->environment.air_drag, node);
        memset(blocks[node], 0, sizeof blocks[node]);
        block_add(blocks[node], 0, 0, 0, drag, drag);
    }
    REAL_NAME(spring_tangent_blocks)(&tangent->springs, item, stiffness, damping, blocks);
    REAL_NAME(contact_tangent_blocks)(&tangent->contacts, stiffness, damping, blocks, nodes);
    if (tangent->springs.kind == TANGENT_DEFINITE)
        REAL_NAME(surface_tangent_blocks)(tangent->system, stiffness, damping, blocks, nodes);
    REAL_NAME(face_tangent_blocks)(&tangent->faces, stiffness, damping, blocks, nodes);
}

static void clear_kinematic_blocks(const struct tangent *tangent, real (*blocks)[6],
                                   struct range nodes)
{
    const real *free_node = tangent->system->constants->inverse_mass;
    for (size_t node = nodes.first; node < nodes.end; node++)
        if (free_node[node] == 0)
            memset(blocks[node], 0, sizeof blocks[node]);
}

void REAL_NAME(tangent_blocks)(struct tangent *tangent, real stiffness, real damping,
                               real (*blocks)[6], const struct worker *worker)
{
    const struct range rows = tangent->rows.blocks;
    const struct range items = items_of(&tangent->springs, rows);
    struct range range;
    while (worker_claim(worker, items.end - items.first, 1, &range))
        fill_blocks(tangent, stiffness, damping, blocks,
                    &tangent->springs.items[items.first + range.first]);
    worker_barrier(worker);
    REAL_NAME(elements_tangent_blocks)
    (tangent->system, tangent->springs.kind, stiffness, damping, blocks, worker);
    clear_kinematic_blocks(tangent, blocks, share_of(rows, worker));
    worker_barrier(worker);
}
