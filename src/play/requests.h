// What people asked a player for and it has not done yet, in their order. Whatever thread asks, the
// player's own takes. Of many requests of one kind for one thing in a row only the last stays, so
// that a slider or a mouse that is faster than the solver leaves no queue behind.
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
    REQUEST_ENERGIES,
    REQUEST_BUDGET,
    REQUEST_SET,
    REQUEST_THREADS,
    REQUEST_GRAB, // pulls, or lets go
    REQUEST_SPHERE,
    REQUEST_SCALE,  // a sphere
    REQUEST_RECORD, // the scene says all that was changed
    REQUEST_DRIVE_NODE,
    REQUEST_CUT
};

struct request {
    enum request_type type;
    bool wanted;     // PLAY, STRAINS, ENERGIES, BUDGET; HAND: pulls; SPHERE: is held
    uint64_t number; // STEP: how many; THREADS; SPHERE, SCALE: the collider; HAND, LEAD: the node;
                     // CUT: the origin of its setting
    double value;    // SPEED; SCALE: the radius
    double place[3], velocity[3];
    char *text; // SET: PATH=VALUE; OPEN: the path; owned
    // CUT: by their numbers in the uncut scene; owned.
    uint32_t *springs, *faces;
    size_t spring_count, face_count;
};

struct requests {
    pthread_mutex_t lock;
    pthread_cond_t come, done; // a request has come; all have been done
    struct request *items;
    size_t count, capacity;
    size_t taken; // those that are being done
    bool ended;   // no more will be done
};

// False where the system gives no locks.
bool requests_make(struct requests *requests);
void requests_free(struct requests *requests);

// Adds one and takes over what it owns. False without memory.
bool requests_add(struct requests *requests, struct request *request);

// Takes all that have come. The caller frees each (request_free), and the list, and then says so
// (requests_finish).
struct request *requests_take(struct requests *requests, size_t *count);
void requests_finish(struct requests *requests);
void request_free(struct request *request);

// Sleeps until a request has come or so many seconds have passed (INFINITY: none do).
void requests_wait(struct requests *requests, double seconds);

// Sleeps until all that have come are done.
void requests_settle(struct requests *requests);

// Whether some have come, and all are changes of parameters.
bool requests_are_sets(struct requests *requests);

uint64_t requests_pending(struct requests *requests);

// Ends whoever waits, now and later.
void requests_end(struct requests *requests);
bool requests_ended(struct requests *requests);

#endif
