// Moments of a subject that are kept until they are drawn: the camera of a strip or film sees where
// the bodies are at all of its times, so these are gone through before the first is drawn.
#ifndef TAUT_PICTURE_REEL_H
#define TAUT_PICTURE_REEL_H

#include "picture/subject.h"

struct reel {
    const struct subject *subject;
    struct subject_store *stores;
    size_t count, capacity;
    uint64_t bytes, bytes_most;
    bool overflown; // there was no room for all: none are kept
};

// The subject must live as long.
struct reel reel_make(const struct subject *subject, uint64_t bytes_most);

// Keeps a copy of a moment; the first always.
taut_status reel_add(struct reel *reel, const struct subject_moment *moment, taut_error *error);

void reel_free(struct reel *reel);

#endif
