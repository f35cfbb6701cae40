// Moments of a solver, as they are drawn: in single precision, taken by all of its threads.
#include "picture/subject.h"

#include <string.h>

#include "base/memory.h"
#include "solver.h"

// All arrays of a store with their lengths, listed once.
#define STORE_ARRAYS(X)                                                                            \
    X(positions, node_count * 3)                                                                   \
    X(strains, spring_count)                                                                       \
    X(broken, spring_count)                                                                        \
    X(all_strains, all_count)                                                                      \
    X(all_broken, all_count)                                                                       \
    X(spheres, sphere_count)

taut_status subject_store_make(const struct subject *subject, bool strains,
                               struct subject_store *store, taut_error *error)
{
    *store = (struct subject_store){
        .node_count = subject->node_count,
        .spring_count = strains ? subject->spring_count : 0,
        .all_count = strains ? subject->springs_in_all : 0,
        .sphere_count = subject->collider_count,
    };
#define ALLOCATE(name, length)                                                                     \
    store->name = memory_allocate(NULL, (size_t)(store->length), sizeof *store->name);             \
    if (!store->name) {                                                                            \
        subject_store_free(store);                                                                 \
        return fail_memory(error, "a moment of a picture");                                        \
    }
    STORE_ARRAYS(ALLOCATE)
#undef ALLOCATE
    store->moment.positions = store->positions;
    store->moment.spheres = store->spheres;
    return TAUT_OK;
}

void subject_store_free(struct subject_store *store)
{
#define RELEASE(name, length)                                                                      \
    memory_release(NULL, store->name, (size_t)(store->length), sizeof *store->name);
    STORE_ARRAYS(RELEASE)
#undef RELEASE
    *store = (struct subject_store){0};
}

struct taking {
    const taut_solver *solver;
    struct subject_store *store;
};

static void take_nodes(void *context, const struct worker *worker)
{
    const struct taking *taking = context;
    enum { BATCH = 512 };
    double batch[3 * BATCH];
    struct range share = worker_share(worker, (size_t)taking->store->node_count, 16);
    for (size_t first = share.first; first < share.end; first += BATCH) {
        size_t count = share.end - first < BATCH ? share.end - first : BATCH;
        taking->solver->functions->read_nodes(taking->solver->system, first, count, batch, NULL,
                                              NULL);
        for (size_t i = 0; i < 3 * count; i++)
            taking->store->positions[3 * first + i] = (float)batch[i];
    }
}

static void take_springs(const taut_solver *solver, const struct subject *subject,
                         struct subject_store *store)
{
    bool breaks = solver->topology->any_breaks;
    solver->functions->read_springs(solver->system, store->all_strains,
                                    breaks ? store->all_broken : NULL);
    for (uint64_t i = 0; i < store->spring_count; i++) {
        uint64_t number = subject->number_count > 0 ? subject->spring_numbers[i] : i;
        store->strains[i] = (float)store->all_strains[number];
        store->broken[i] = breaks && store->all_broken[number];
    }
}

static void take_spheres(const taut_solver *solver, struct subject_store *store)
{
    for (size_t c = 0; c < store->sphere_count; c++) {
        const struct scene_collider *collider = &solver->topology->colliders[c];
        store->spheres[c] = (struct subject_sphere){0};
        if (collider->type != COLLIDER_SPHERE)
            continue;
        struct sphere_now sphere = solver->functions->sphere(solver->system, c);
        store->spheres[c] = (struct subject_sphere){
            {(float)sphere.centre.x, (float)sphere.centre.y, (float)sphere.centre.z},
            (float)sphere.radius};
    }
}

void subject_store_take(taut_solver *solver, const struct subject *subject, bool strains,
                        struct subject_store *store)
{
    struct subject_moment *moment = &store->moment;
    moment->time = taut_solver_time(solver);
    moment->step = taut_solver_step_count(solver);
    struct taking taking = {solver, store};
    solver_work(solver, take_nodes, &taking);
    strains &= store->spring_count > 0;
    if (strains)
        take_springs(solver, subject, store);
    moment->strains = strains ? store->strains : NULL;
    moment->broken = strains && solver->topology->any_breaks ? store->broken : NULL;
    take_spheres(solver, store);
    const struct scene_wind *wind = &solver->topology->environment.wind;
    vec3 now = scene_wind_at(wind, moment->time);
    moment->wind[0] = (float)now.x;
    moment->wind[1] = (float)now.y;
    moment->wind[2] = (float)now.z;
}
