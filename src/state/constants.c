// Copies the topology's constants into the arrays that kernels read, in the order of the plan and
// first touched by the worker that uses them, and copies materials and masses again after a setter
// has changed them. Constants that the passes of a grid derive from them are left to
// springs/grid/sweep.c. Numeric.
#include "state/constants.h"

#include <string.h>

#include "base/memory.h"
#include "base/sort.h"

#define constants_free REAL_NAME(constants_free)

#define CONSTANT_ARRAYS(X)                                                                         \
    X(mass, massed)                                                                                \
    X(inverse_mass, all_nodes)                                                                     \
    X(nodes_copy, copies)                                                                          \
    X(material_copy, copies)                                                                       \
    X(rest_length, rests)                                                                          \
    X(face_nodes, faces)                                                                           \
    X(face_body, faces)                                                                            \
    X(slot_rest, slots)                                                                            \
    X(material, materials)

static bool allocate_arrays(struct constants *constants)
{
#define ALLOCATE(name, length)                                                                     \
    constants->name =                                                                              \
        memory_allocate(constants->allocator, (size_t)constants->length, sizeof *constants->name); \
    if (!constants->name)                                                                          \
        return false;
    CONSTANT_ARRAYS(ALLOCATE)
#undef ALLOCATE
    return true;
}

static bool lists_masses(const struct topology *topology)
{
    bool lists = false;
    for (size_t b = 0; b < topology->body_count; b++)
        lists |= topology->bodies[b].node_mass == 0;
    return lists;
}

struct filling {
    struct constants *constants;
    const struct topology *topology;
    const struct plan *plan;
    struct range known; // nodes
};

void REAL_NAME(constants_fill_nodes)(struct constants *constants, const struct topology *topology,
                                     struct range nodes)
{
    for (uint64_t i = nodes.first; i < nodes.end;) {
        struct node_masses masses = topology_masses(topology, i, nodes.end);
        for (; i < masses.end; i++) {
            double mass = mass_in(&masses, i);
            if (constants->massed > 0)
                constants->mass[i] = (real)mass;
            constants->inverse_mass[i] = (real)(1.0 / mass);
        }
    }
    const size_t count = (size_t)topology->kinematic_count;
    for (size_t i = lower_bound(topology->kinematic, count, nodes.first);
         i < count && topology->kinematic[i] < nodes.end; i++)
        constants->inverse_mass[topology->kinematic[i]] = 0;
}

static void fill_springs(const struct filling *it, struct range share)
{
    struct constants *constants = it->constants;
    struct spring_run near = {0};
    if (constants->rests == 0 && constants->copies == 0)
        return; // the lists of the topology suffice
    struct plan_nodes run = {0, 0};
    for (uint64_t i = share.first; i < share.end; i++) {
        while (i >= run.first + run.count && plan_next_listed(it->topology, it->plan, &run))
            ;
        i = max_u64(i, run.first);
        if (i >= share.end || run.count == 0)
            break;
        struct spring_run spring =
            topology_spring_near(it->topology, plan_off_grid_spring(it->plan, i), &near);
        if (constants->rests > 0)
            constants->rest_length[i] = (real)spring.rest_length;
        if (constants->copies == 0)
            continue;
        constants->nodes_copy[i][0] = spring.a;
        constants->nodes_copy[i][1] = spring.b;
        constants->material_copy[i] = spring.material;
    }
}

// Slots are copied from springs that other workers have filled.
static void fill_slots(const struct filling *it, struct range share)
{
    struct constants *constants = it->constants;
    for (uint64_t i = share.first; i < share.end; i++) {
        uint32_t index = plan_slot_spring(it->plan, i);
        constants->slot_rest[i] = index == PACKED_NONE ? -1 : built_rest_length(constants, index);
    }
}

static void fill_faces(const struct filling *it, struct range share)
{
    struct constants *constants = it->constants;
    for (uint64_t i = share.first; i < share.end; i++) {
        struct face face = topology_face(it->topology, plan_block_face(it->plan, i));
        memcpy(constants->face_nodes[i], face.nodes, sizeof constants->face_nodes[i]);
        constants->face_body[i] = (uint32_t)topology_body_of_node(it->topology, face.nodes[0]);
    }
}

static void fill(void *context, const struct worker *worker)
{
    const struct filling *it = context;
    struct constants *constants = it->constants;
    struct range share = worker_share(worker, it->known.end - it->known.first, 16);
    share.first += it->known.first;
    share.end += it->known.first;
    REAL_NAME(constants_fill_nodes)(constants, it->topology, share);
    fill_springs(it, worker_share(worker, (size_t)constants->springs, 16));
    fill_faces(it, worker_share(worker, (size_t)constants->faces, 16));
    worker_barrier(worker);
    fill_slots(it, worker_share(worker, (size_t)constants->slots, 16));
}

static void fill_materials(struct constants *constants, const struct topology *topology)
{
    for (uint64_t i = 0; i < constants->materials; i++) {
        const struct material *from = &topology->materials[i];
        constants->material[i] = (struct spring_constants){
            .stiffness = (real)from->stiffness,
            .damping = (real)from->damping,
            .law = from->law,
            .damping_law = from->damping_law,
            .break_at = (real)from->break_at,
            .yield_at = (real)from->yield_at,
        };
    }
}

// Constants that are not filled by shares.
static void fill_rest(struct constants *constants, const struct topology *topology)
{
    fill_materials(constants, topology);
    bool own = constants->copies > 0;
    constants->spring_nodes =
        (const uint32_t(*)[2])(own ? constants->nodes_copy : topology->springs);
    constants->one_material = topology->one_material;
    constants->spring_material = own                     ? constants->material_copy
                                 : topology->mixed_count ? topology->spring_material
                                                         : NULL;
}

taut_status REAL_NAME(constants_make)(const struct topology *topology, const struct plan *plan,
                                      struct range known, struct team *team,
                                      const taut_allocator *allocator, struct constants **result,
                                      taut_error *error)
{
    *result = NULL;
    struct constants *constants = memory_allocate(allocator, 1, sizeof *constants);
    if (!constants)
        return fail_memory(error, "the constants");
    const struct plan_counts counts = plan_counts(topology, plan);
    constants->allocator = allocator;
    constants->nodes = topology->node_count;
    constants->all_nodes = topology->node_count + topology->collider_node_count;
    constants->massed = lists_masses(topology) ? constants->nodes : 0;
    constants->springs = counts.off_grid_springs;
    constants->faces = counts.block_faces;
    constants->materials = topology->material_count;
    constants->slots = counts.slots;
    constants->copies = plan_has_order_of_lists(topology, plan) ? 0 : constants->springs;
    bool own_rests = constants->copies > 0 || plan_reads_rest_lengths(plan);
    constants->rests = own_rests ? constants->springs : 0;
    if (!allocate_arrays(constants)) {
        constants_free(constants);
        return fail_memory(error, "the constants");
    }
    const size_t first = known.first * sizeof(real), end = known.end * sizeof(real);
    const size_t bytes = (size_t)constants->all_nodes * sizeof(real);
    if (known.end - known.first < constants->nodes) {
        memory_sparse(constants->inverse_mass, bytes, 0, first);
        memory_sparse(constants->inverse_mass, bytes, end, bytes);
    }
    constants->listed = topology;
    struct filling filling = {constants, topology, plan, known};
    team_work(team, fill, &filling);
    fill_rest(constants, topology);
    *result = constants;
    return TAUT_OK;
}

void REAL_NAME(constants_refresh)(struct constants *constants, const struct topology *topology)
{
    fill_materials(constants, topology);
    REAL_NAME(constants_fill_nodes)
    (constants, topology, (struct range){0, (size_t)constants->nodes});
}

void REAL_NAME(constants_copy_springs)(struct constants *constants, const struct topology *topology,
                                       const struct plan *plan)
{
    const struct filling filling = {constants, topology, plan, {0, 0}};
    fill_springs(&filling, (struct range){0, (size_t)constants->springs});
}

bool REAL_NAME(constants_repack)(struct constants *constants, const struct topology *topology,
                                 const struct plan *plan)
{
    const uint64_t slots = plan_counts(topology, plan).slots;
    real *made = memory_allocate(constants->allocator, (size_t)slots, sizeof *made);
    if (!made)
        return false;
    memory_release(constants->allocator, constants->slot_rest, (size_t)constants->slots,
                   sizeof *constants->slot_rest);
    constants->slot_rest = made;
    constants->slots = slots;
    const struct filling filling = {constants, topology, plan, {0, 0}};
    fill_slots(&filling, (struct range){0, (size_t)slots});
    return true;
}

void constants_free(struct constants *constants)
{
    if (!constants)
        return;
#define RELEASE(name, length)                                                                      \
    memory_release(constants->allocator, constants->name, (size_t)constants->length,               \
                   sizeof *constants->name);
    CONSTANT_ARRAYS(RELEASE)
#undef RELEASE
    memory_release(constants->allocator, constants, 1, sizeof *constants);
}

uint64_t REAL_NAME(constants_bytes)(const struct constants *constants)
{
    uint64_t bytes = sizeof *constants;
#define ADD_BYTES(name, length) bytes += constants->length * sizeof *constants->name;
    CONSTANT_ARRAYS(ADD_BYTES)
#undef ADD_BYTES
    return bytes;
}
