#include "forces/tangent_parts.h"

#include <string.h>

#include "base/memory.h"

taut_status REAL_NAME(tangent_make)(struct system *system, struct tangent **result,
                                    taut_error *error)
{
    *result = NULL;
    struct tangent *tangent = memory_allocate(system->allocator, 1, sizeof *tangent);
    if (!tangent)
        return fail_memory(error, "the tangent");
    tangent->system = system;
    tangent->nodes = (size_t)system->state->nodes;
    taut_status status = REAL_NAME(tangent_springs_make)(tangent, error);
    if (status == TAUT_OK)
        status = REAL_NAME(tangent_contacts_make)(tangent, error);
    if (status == TAUT_OK)
        status = REAL_NAME(tangent_faces_make)(tangent, error);
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
    REAL_NAME(tangent_faces_free)(tangent);
    REAL_NAME(tangent_contacts_free)(tangent);
    REAL_NAME(tangent_springs_free)(tangent);
    memory_release(tangent->system->allocator, tangent, 1, sizeof *tangent);
}

uint64_t REAL_NAME(tangent_bytes)(const struct tangent *tangent)
{
    uint64_t bytes = sizeof *tangent + REAL_NAME(tangent_faces_bytes)(tangent);
    bytes += (tangent->nodes + 1) * sizeof *tangent->springs.first +
             tangent->springs.count * sizeof *tangent->springs.ends;
    if (tangent->contacts)
        bytes += tangent->nodes * (sizeof *tangent->contacts + sizeof *tangent->touching);
    return bytes;
}

void REAL_NAME(tangent_update)(struct tangent *tangent, enum tangent_kind kind,
                               struct moment moment, const struct worker *worker)
{
    worker_barrier(worker); // all have done with what the last update left
    if (worker->index == 0)
        tangent->kind = kind;
    worker_barrier(worker);
    REAL_NAME(tangent_contacts_update)
    (tangent, moment.time, node_share(tangent->system, worker));
    REAL_NAME(tangent_faces_update)(tangent, moment, worker);
    worker_barrier(worker);
}

static void add_drag(const struct tangent *tangent, real damping, struct node_vectors in,
                     struct node_vectors out, struct range nodes)
{
    const real drag = damping * (real)tangent->system->topology->environment.air_drag;
    if (drag == 0)
        return;
    for (size_t node = nodes.first; node < nodes.end; node++) {
        out.x[node] += drag * in.x[node];
        out.y[node] += drag * in.y[node];
        out.z[node] += drag * in.z[node];
    }
}

static void clear_fixed(const struct tangent *tangent, struct node_vectors out, struct range nodes)
{
    const real *free_node = tangent->system->constants->inverse_mass;
    for (size_t node = nodes.first; node < nodes.end; node++)
        if (free_node[node] == 0)
            out.x[node] = out.y[node] = out.z[node] = 0;
}

void REAL_NAME(tangent_apply)(struct tangent *tangent, real stiffness, real damping,
                              struct node_vectors in, struct node_vectors out,
                              const struct worker *worker)
{
    struct range nodes = node_share(tangent->system, worker);
    REAL_NAME(tangent_faces_push)(tangent, stiffness, damping, in, worker);
    REAL_NAME(tangent_springs_apply)(tangent, stiffness, damping, in, out, nodes);
    REAL_NAME(tangent_contacts_apply)(tangent, stiffness, damping, in, out, nodes);
    REAL_NAME(tangent_faces_apply)(tangent, out, nodes);
    REAL_NAME(tangent_gas_apply)(tangent, stiffness, in, out, worker);
    add_drag(tangent, damping, in, out, nodes);
    clear_fixed(tangent, out, nodes);
    worker_barrier(worker);
}

void REAL_NAME(tangent_blocks)(struct tangent *tangent, real stiffness, real damping,
                               real (*blocks)[6], const struct worker *worker)
{
    struct range nodes = node_share(tangent->system, worker);
    const real drag = damping * (real)tangent->system->topology->environment.air_drag;
    for (size_t node = nodes.first; node < nodes.end; node++) {
        memset(blocks[node], 0, sizeof blocks[node]);
        block_add(blocks[node], 0, 0, 0, drag, drag);
    }
    REAL_NAME(tangent_springs_blocks)(tangent, stiffness, damping, blocks, nodes);
    REAL_NAME(tangent_contacts_blocks)(tangent, stiffness, damping, blocks, nodes);
    REAL_NAME(tangent_faces_blocks)(tangent, stiffness, damping, blocks, nodes);
    const real *free_node = tangent->system->constants->inverse_mass;
    for (size_t node = nodes.first; node < nodes.end; node++)
        if (free_node[node] == 0)
            memset(blocks[node], 0, sizeof blocks[node]);
    worker_barrier(worker);
}
