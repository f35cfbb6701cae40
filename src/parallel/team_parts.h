// What a team is made of; only the files of the team see it.
#ifndef TAUT_PARALLEL_TEAM_PARTS_H
#define TAUT_PARALLEL_TEAM_PARTS_H

#include <pthread.h>
#include <stdatomic.h>

#include "parallel/team.h"

// What is kept of one worker, on cache lines of its own.
struct member {
    // How much of this worker's share of a loop has been handed out, to itself or to others. Two
    // counters serve the phases between barriers in turn: while one is used, the other is set to 0
    // for the next phase, when nobody looks at it.
    _Alignas(64) atomic_size_t taken[2];

    struct team *team;
    struct worker worker; // its part in the present group; index -1: it has none
    pthread_t thread;     // of all but the first
    atomic_bool ready;    // to be called; false from when it is given rest until it waits
    atomic_bool called;   // to the group: its part has been written
    unsigned called_in;   // the phase in which that was done; its part begins with the next
    bool asleep;          // until it is called; with the mutex
    pthread_cond_t wake;

    // Attendance (attendance.c). Written by the worker, or by the last at a barrier while the
    // others wait there.
    int next_index;             // in the group that is being formed, or -1
    bool judged;                // by `loss`, since the group was last looked at
    double loss;                // the part of the last window that was taken away
    double rest;                // s, how long it rested last; 0: all have done well since
    double until;               // s on the clock, when its rest ends
    double wall, cpu;           // s on the clocks when it was last looked at
    double slept;               // s asleep at barriers since then
    double watched, taken_away; // s of this window
};

// NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding): what all write to has lines of its own
struct team {
    int workers;
    int spins; // before somebody who waits goes to sleep
    struct member *members;
    const struct places *places;
    place_function enter; // NULL: nobody is held anywhere
    team_function function;
    void *context;
    atomic_bool over;    // this region
    atomic_bool leaving; // the threads are to end

    int group;          // workers that do not rest
    atomic_int judged;  // members of it that have been
    double next_return; // s on the clock, when the next rest ends

    _Alignas(64) atomic_uint arrived;
    _Alignas(64) atomic_uint phase; // counts the barriers passed
    atomic_int sleepers;
    _Atomic double opened; // s on the clock, when the last barrier was at which somebody slept
    pthread_mutex_t mutex;
    pthread_cond_t turned; // the phase has
};

// A worker's part in the work begins and ends.
void attendance_begin(struct member *member);
void attendance_end(struct member *member);

// Before a barrier at which the team regroups: how much does this worker lose?
void attendance_watch(struct team *team, struct member *member);

// Before the region: forms the group that begins it.
void attendance_first_group(struct team *team);

// At a barrier, by whoever comes last: forms the next group; true if it is another one.
bool attendance_next_group(struct team *team);

#endif
