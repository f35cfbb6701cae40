// The queue of requests between any thread and the player's own: one lock, two conditions, and the
// rules by which a later request replaces an earlier one or may pass it. Executing requests is left
// to player_actions.c.
#include "play/requests.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/memory.h"

bool requests_make(struct requests *requests)
{
    *requests = (struct requests){0};
    pthread_condattr_t steady; // a clock that is never set
    if (pthread_condattr_init(&steady) != 0)
        return false;
    pthread_condattr_setclock(&steady, CLOCK_MONOTONIC);
    bool made = pthread_mutex_init(&requests->lock, NULL) == 0;
    if (made && pthread_cond_init(&requests->come, &steady) != 0) {
        pthread_mutex_destroy(&requests->lock);
        made = false;
    }
    if (made && pthread_cond_init(&requests->done, &steady) != 0) {
        pthread_cond_destroy(&requests->come);
        pthread_mutex_destroy(&requests->lock);
        made = false;
    }
    pthread_condattr_destroy(&steady);
    return made;
}

void request_free(struct request *request)
{
    free(request->text);
    free(request->springs);
    free(request->faces);
    *request = (struct request){0};
}

void requests_free(struct requests *requests)
{
    for (size_t i = 0; i < requests->count; i++)
        request_free(&requests->items[i]);
    free(requests->items);
    pthread_cond_destroy(&requests->done);
    pthread_cond_destroy(&requests->come);
    pthread_mutex_destroy(&requests->lock);
}

static bool same_path(const char *a, const char *b)
{
    size_t length = strcspn(a, "=");
    return strncmp(a, b, length + 1) == 0;
}

// Whether the later request makes the earlier one redundant.
static bool replaces(const struct request *later, const struct request *earlier)
{
    if (later->type != earlier->type)
        return false;
    switch (later->type) {
    case REQUEST_SPEED:
    case REQUEST_STRAINS:
    case REQUEST_ENERGIES:
    case REQUEST_BUDGET:
    case REQUEST_THREADS:
    case REQUEST_GRAB:
        return true;
    case REQUEST_SET:
        return same_path(later->text, earlier->text);
    case REQUEST_COLLIDER:
    case REQUEST_SCALE:
    case REQUEST_DRIVE_NODE:
        return later->number == earlier->number;
    default:
        return false;
    }
}

// Whether a later request may be executed before the earlier one: requests of these kinds commute,
// except changes of the scene, since one may set a part of what another one sets.
static bool may_be_passed(const struct request *earlier, const struct request *later)
{
    switch (earlier->type) {
    case REQUEST_SPEED:
    case REQUEST_STRAINS:
    case REQUEST_ENERGIES:
    case REQUEST_BUDGET:
    case REQUEST_THREADS:
    case REQUEST_GRAB:
    case REQUEST_COLLIDER:
    case REQUEST_SCALE:
    case REQUEST_DRIVE_NODE:
        return true;
    case REQUEST_SET:
        return later->type != REQUEST_SET;
    default:
        return false;
    }
}

// The request that this one replaces, or NULL.
static struct request *find_replaced(struct requests *requests, const struct request *request)
{
    for (size_t i = requests->count; i-- > 0;) {
        struct request *earlier = &requests->items[i];
        if (replaces(request, earlier))
            return earlier;
        if (!may_be_passed(earlier, request))
            return NULL;
    }
    return NULL;
}

bool requests_add(struct requests *requests, struct request *request)
{
    pthread_mutex_lock(&requests->lock);
    struct request *slot = find_replaced(requests, request);
    void *items = requests->items;
    bool reserved = slot || array_reserve(&items, &requests->capacity, requests->count + 1,
                                          sizeof *requests->items);
    requests->items = items;
    if (slot)
        request_free(slot);
    else if (reserved)
        slot = &requests->items[requests->count++];
    if (slot)
        *slot = *request;
    else
        request_free(request);
    pthread_cond_signal(&requests->come);
    pthread_mutex_unlock(&requests->lock);
    return reserved;
}

struct request *requests_dequeue(struct requests *requests, size_t *count)
{
    pthread_mutex_lock(&requests->lock);
    struct request *items = requests->items;
    *count = requests->dequeued = requests->count;
    requests->items = NULL;
    requests->count = requests->capacity = 0;
    pthread_mutex_unlock(&requests->lock);
    return items;
}

void requests_finish(struct requests *requests)
{
    pthread_mutex_lock(&requests->lock);
    requests->dequeued = 0;
    pthread_cond_broadcast(&requests->done);
    pthread_mutex_unlock(&requests->lock);
}

static struct timespec seconds_from_now(double seconds)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    double whole = floor(seconds);
    time.tv_sec += (time_t)whole;
    time.tv_nsec += (long)(1e9 * (seconds - whole));
    if (time.tv_nsec >= 1000000000L) {
        time.tv_nsec -= 1000000000L;
        time.tv_sec++;
    }
    return time;
}

void requests_wait(struct requests *requests, double seconds)
{
    if (seconds <= 0)
        return;
    bool late = false, limited = seconds < 1e6;
    struct timespec end = seconds_from_now(limited ? seconds : 0);
    pthread_mutex_lock(&requests->lock);
    while (requests->count == 0 && !requests->ended && !late) {
        if (limited)
            late = pthread_cond_timedwait(&requests->come, &requests->lock, &end) != 0;
        else
            pthread_cond_wait(&requests->come, &requests->lock);
    }
    pthread_mutex_unlock(&requests->lock);
}

void requests_wait_until_done(struct requests *requests)
{
    pthread_mutex_lock(&requests->lock);
    while (requests->count + requests->dequeued > 0 && !requests->ended)
        pthread_cond_wait(&requests->done, &requests->lock);
    pthread_mutex_unlock(&requests->lock);
}

bool requests_are_sets(struct requests *requests)
{
    pthread_mutex_lock(&requests->lock);
    bool sets = requests->count > 0;
    for (size_t i = 0; i < requests->count && sets; i++)
        sets = requests->items[i].type == REQUEST_SET;
    pthread_mutex_unlock(&requests->lock);
    return sets;
}

uint64_t requests_pending(struct requests *requests)
{
    pthread_mutex_lock(&requests->lock);
    uint64_t pending = requests->count + requests->dequeued;
    pthread_mutex_unlock(&requests->lock);
    return pending;
}

void requests_end(struct requests *requests)
{
    pthread_mutex_lock(&requests->lock);
    requests->ended = true;
    pthread_cond_broadcast(&requests->come);
    pthread_cond_broadcast(&requests->done);
    pthread_mutex_unlock(&requests->lock);
}

bool requests_ended(struct requests *requests)
{
    pthread_mutex_lock(&requests->lock);
    bool ended = requests->ended;
    pthread_mutex_unlock(&requests->lock);
    return ended;
}
