#include "picture/reel.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

struct reel reel_make(const struct subject *subject, uint64_t bytes_most)
{
    return (struct reel){.subject = subject, .bytes_most = bytes_most};
}

static void forget(struct reel *reel)
{
    for (size_t i = 0; i < reel->count; i++)
        subject_store_free(&reel->stores[i]);
    reel->count = 0;
}

// What there is of springs in this moment; a store has room for either all of it or nothing.
static bool has_springs(const struct subject_moment *moment)
{
    return moment->strains || moment->broken;
}

static uint64_t bytes_of(const struct subject *subject, const struct subject_moment *moment)
{
    return subject->node_count * 3 * sizeof(float) +
           (has_springs(moment) ? subject->spring_count * (sizeof(float) + 1) : 0);
}

static void copy(const struct subject *subject, const struct subject_moment *moment,
                 struct subject_store *store)
{
    store->moment = *moment;
    memcpy(store->positions, moment->positions, 3 * subject->node_count * sizeof(float));
    store->moment.positions = store->positions;
    if (moment->strains) {
        memcpy(store->strains, moment->strains, subject->spring_count * sizeof(float));
        store->moment.strains = store->strains;
    }
    if (moment->broken) {
        memcpy(store->broken, moment->broken, subject->spring_count);
        store->moment.broken = store->broken;
    }
    if (moment->spheres) {
        memcpy(store->spheres, moment->spheres, subject->collider_count * sizeof *store->spheres);
        store->moment.spheres = store->spheres;
    }
}

taut_status reel_add(struct reel *reel, const struct subject_moment *moment, taut_error *error)
{
    reel->bytes += bytes_of(reel->subject, moment);
    reel->overflown |= reel->count > 0 && reel->bytes > reel->bytes_most;
    if (reel->overflown) {
        forget(reel);
        return TAUT_OK;
    }
    if (!array_reserve((void **)&reel->stores, &reel->capacity, reel->count + 1,
                       sizeof *reel->stores))
        return fail_memory(error, "the frames of a picture");
    struct subject_store *store = &reel->stores[reel->count];
    taut_status status = subject_store_make(reel->subject, has_springs(moment), store, error);
    if (status != TAUT_OK)
        return status;
    copy(reel->subject, moment, store);
    reel->count++;
    return TAUT_OK;
}

void reel_free(struct reel *reel)
{
    forget(reel);
    free(reel->stores);
    *reel = (struct reel){0};
}
