// The queue of requests to a player, in order. Any thread may add requests; the player's own thread
// takes them. Only the last of successive requests of one kind for the same thing is stored, so
// that a slider or a mouse that is faster than the solver does not fill the queue.
#ifndef TAUT_PLAY_REQUESTS_H
#define TAUT_PLAY_REQUESTS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum request_type {
    REQUEST_PLAY,
    REQUEST_STEP,
    REQUEST_SPEED,
    REQUEST_RESET,
    REQUEST_OPEN,
    REQUEST_STRAINS,
    REQUEST_CONTACTS,
    REQUEST_ENERGIES,
    REQUEST_BUDGET,
    REQUEST_SET,
    REQUEST_THREADS,
    REQUEST_GRAB, // or release
    REQUEST_COLLIDER,
    REQUEST_SCALE,  // a sphere
    REQUEST_RECORD, // updates the scene with all changes
    REQUEST_DRIVE_NODE,
    REQUEST_CUT
};

struct request {
    enum request_type type;
    bool wanted;     // PLAY, STRAINS, ENERGIES, BUDGET; GRAB: pulls; COLLIDER: is held
    uint64_t number; // STEP: number of steps; THREADS; COLLIDER, SCALE: the collider; GRAB,
                     // DRIVE_NODE: the node; CUT: the origin of its setting
    double value;    // SPEED; SCALE: the radius
    double position[3], velocity[3];
    char *text; // SET: PATH=VALUE; OPEN: the path; owned
    // CUT: numbers in the uncut scene; owned.
    uint32_t *springs, *faces;
    size_t spring_count, face_count;
};

struct requests {
    pthread_mutex_t lock;
    pthread_cond_t come, done; // a request has arrived; all have been executed
    struct request *items;
    size_t count, capacity;
    size_t dequeued; // number of requests being executed
    bool ended;      // no more requests are executed
};

// False if the system provides no locks.
bool requests_make(struct requests *requests);
void requests_free(struct requests *requests);

// Adds a request and takes ownership of what it owns. False if memory is short.
bool requests_add(struct requests *requests, struct request *request);

// Takes all queued requests. The caller frees each (request_free) and the list, and then calls
// requests_finish.
struct request *requests_dequeue(struct requests *requests, size_t *count);
void requests_finish(struct requests *requests);
void request_free(struct request *request);

// Sleeps until a request arrives, at most that many seconds (INFINITY: without limit).
void requests_wait(struct requests *requests, double seconds);

// Sleeps until all queued requests have been executed.
void requests_wait_until_done(struct requests *requests);

// Whether the queue is not empty and all requests are changes of parameters.
bool requests_are_sets(struct requests *requests);

uint64_t requests_pending(struct requests *requests);

// Wakes all waiting threads; later waits return at once.
void requests_end(struct requests *requests);
bool requests_ended(struct requests *requests);

#endif
